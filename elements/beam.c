#include "elements/beam.h"

#include "core/rotation.h"

#include <math.h>

const char *const pcs_beam_masses[] = { "consistent", "lumped", NULL };
const char *const pcs_beam_wave_masses[] = { "consistent", "lumped", "one_point", "auto", "translational", NULL };

const pcs_option pcs_beam_plane_options[] = {
    PCS_BEAM_OPTIONS,
    { .name = NULL },
};

const char *const pcs_beam_plane_fields[] = { "axial_force", "shear_force",    "moment_start",  "moment_end",
                                              "stress",      "bending_stress", "strain_energy", NULL };

double pcs_beam_plane_axis(const pcs_batch *batch, int cell, double axis[2])
{
    double span[3];
    pcs_cell_span(batch, cell, span);
    double length = hypot(span[0], span[1]);
    axis[0] = span[0] / length;
    axis[1] = span[1] / length;
    return length;
}

pcs_status pcs_beam_plane_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, pcs_node_dofs *out)
{
    double axis[2], length = pcs_beam_plane_axis(batch, cell, axis);
    const int *node = batch->nodes[batch->cells[cell]];
    *out = (pcs_node_dofs){ .count = 3, .is_rotation = { false, false, true } };
    out->direction[0][0] = out->direction[1][1] = out->direction[2][2] = 1.0;
    if (!(length > 0.0) || !isfinite(length))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': cell %d has length %g, must be > 0 in the x-y plane",
                        batch->name, batch->cells[cell], length);
    if (fabs(batch->x[node[1]][2] - batch->x[node[0]][2]) <= 1e-9 * length) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': cell %d leaves the x-y plane: z goes from %g to %g",
                    batch->name, batch->cells[cell], batch->x[node[0]][2], batch->x[node[1]][2]);
}

double pcs_beam_frame(const double span[3], const double orientation[3], double R[3][3], double *sine)
{
    for (int k = 0; k < 3; k++) R[0][k] = span[k];
    double length = pcs_norm3(R[0]);
    for (int k = 0; k < 3; k++) R[0][k] /= length;
    pcs_cross(R[0], orientation, R[2]);
    double across = pcs_norm3(R[2]);
    *sine = across / pcs_norm3(orientation);
    for (int k = 0; k < 3; k++) R[2][k] /= across;
    pcs_cross(R[2], R[0], R[1]);
    return length;
}

double pcs_beam_space_frame(const pcs_batch *batch, int cell, const double orientation[3], double R[3][3], double *sine)
{
    double span[3];
    pcs_cell_span(batch, cell, span);
    return pcs_beam_frame(span, orientation, R, sine);
}

pcs_status pcs_beam_space_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, const double orientation[3],
                               pcs_node_dofs *out)
{
    double R[3][3], sine, length = pcs_beam_space_frame(batch, cell, orientation, R, &sine);
    pcs_cell_space_dofs(out);
    if (!(length > 0.0) || !isfinite(length))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': cell %d has length %g, must be > 0", batch->name,
                        batch->cells[cell], length);
    if (sine > 1e-6) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': the orientation [%g, %g, %g] is parallel to cell %d",
                    batch->name, orientation[0], orientation[1], orientation[2], batch->cells[cell]);
}

pcs_timoshenko pcs_beam_bending(const pcs_batch *batch, int cell, double length, int plane)
{
    const pcs_beam_params *p = batch->params;
    const pcs_section *s = pcs_taper_section(batch, cell);
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    double G = 0.5 * p->E / (1.0 + p->nu), I = plane == 0 ? s->Iz : s->Iy;
    double shear = G * s->area * (plane == 0 ? s->ky : s->kz);
    return (pcs_timoshenko){ .EI = p->E * I,
                             .phi = 12.0 * p->E * I / (shear * length * length),
                             .length = length,
                             .line_mass = p->rho * s->area,
                             .line_inertia = p->mass == PCS_BEAM_TRANSLATIONAL ? 0.0 : p->rho * I,
                             .has_one_point = p->mass == PCS_BEAM_ONE_POINT,
                             .taper = taper == NULL || taper->is_uniform ? NULL : taper,
                             .line = p->section.line,
                             .plane = plane };
}

double pcs_beam_travel_time(const pcs_batch *batch, int cell, double length, bool is_transverse)
{
    const pcs_beam_params *p = batch->params;
    double G = 0.5 * p->E / (1.0 + p->nu), shear = pcs_taper_section(batch, cell)->ky * G;
    return length * sqrt(p->rho / (is_transverse ? shear : p->E));
}

pcs_beam_shares pcs_beam_find_shares(const pcs_batch *batch, int cell, pcs_beam_quantity of)
{
    const pcs_taper *taper = pcs_taper_of(batch, cell);
    int mass = ((const pcs_beam_params *)batch->params)->mass;
    if (mass == PCS_BEAM_ONE_POINT) return (pcs_beam_shares){ 0.25, 0.25, 0.25 };
    bool is_lumped = mass == PCS_BEAM_LUMPED;
    if (taper == NULL || taper->is_uniform)
        return is_lumped ? (pcs_beam_shares){ 0.5, 0.0, 0.5 } : (pcs_beam_shares){ 1.0 / 3.0, 1.0 / 6.0, 1.0 / 3.0 };
    double x[3], Iy = taper->mean.Iy, Iz = taper->mean.Iz;
    for (int i = 0; i < 3; i++) {
        const double values[] = { taper->area[i], taper->Iy[i], taper->Iz[i],
                                  (Iy * taper->Iy[i] + Iz * taper->Iz[i]) / (Iy + Iz) };
        x[i] = values[of];
    }
    if (is_lumped) return (pcs_beam_shares){ x[0] + x[1], 0.0, x[1] + x[2] };
    return (pcs_beam_shares){ x[0], x[1], x[2] };
}

void pcs_beam_turn_matrix(int ndof, const double R[3][3], const double *local, double *A)
{
    for (int i = 0; i < ndof; i++)
        for (int j = 0; j < ndof; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    A[i * ndof + j] += R[k][i % 3] * local[(3 * (i / 3) + k) * ndof + 3 * (j / 3) + l] * R[l][j % 3];
}

void pcs_beam_turn(int ndof, int nmode, const double R[3][3], const double *local_B, const double *local_M,
                   pcs_modal_kind *kind)
{
    for (int a = 0; a < nmode; a++)
        for (int j = 0; j < ndof; j++)
            for (int k = 0; k < 3; k++) kind->B[a * ndof + j] += local_B[a * ndof + 3 * (j / 3) + k] * R[k][j % 3];
    pcs_beam_turn_matrix(ndof, R, local_M, kind->M);
}
