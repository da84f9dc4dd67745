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

// Computes D from the flexibility; `scale` is that of D for the means.
static void timoshenko_tapered_stiffness(const pcs_timoshenko *beam, double D[4])
{
    const pcs_section *mean = &beam->taper->mean;
    const double *bend = beam->taper->bend[beam->plane];
    double I = beam->plane == 0 ? mean->Iz : mean->Iy;
    double carrying = mean->area * (beam->plane == 0 ? mean->ky : mean->kz);
    double shear = beam->phi / 12.0 * carrying * beam->taper->shear[beam->plane];
    double first = I * bend[0] + shear, cross = shear - I * bend[1], last = I * bend[2] + shear;
    double scale = beam->EI / (beam->length * (first * last - cross * cross));
    D[0] = scale * last;
    D[1] = D[2] = -scale * cross;
    D[3] = scale * first;
}

void pcs_timoshenko_stiffness(const pcs_timoshenko *beam, double D[4])
{
    if (beam->has_one_point) {
        double bending = beam->EI / beam->length, shear = 3.0 * bending / beam->phi;
        D[0] = D[3] = shear + bending;
        D[1] = D[2] = shear - bending;
        return;
    }
    if (beam->taper != NULL) {
        timoshenko_tapered_stiffness(beam, D);
        return;
    }
    double scale = beam->EI / ((1.0 + beam->phi) * beam->length);
    D[0] = D[3] = scale * (4.0 + beam->phi);
    D[1] = D[2] = scale * (2.0 - beam->phi);
}

// Adds scale times the pattern that both parts of the mass share: [a b c d; b e -d f; c -d a -b; d f -b e].
static void timoshenko_add(double scale, const double part[6], double M[16])
{
    double a = part[0], b = part[1], c = part[2], d = part[3], e = part[4], f = part[5];
    const double entries[16] = { a, b, c, d, b, e, -d, f, c, -d, a, -b, d, f, -b, e };
    for (int i = 0; i < 16; i++) M[i] += scale * entries[i];
}

static void timoshenko_one_point(const pcs_timoshenko *beam, double M[16])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double line = i % 2 == 0 ? beam->line_mass : beam->line_inertia;
            M[4 * i + j] = i % 2 == j % 2 ? 0.25 * line * beam->length : 0.0;
        }
}

// Holds integrals along a cell, piece by piece.
typedef struct timoshenko_sum {
    const pcs_timoshenko *beam;
    double D[4];
    double turn[2], deflection[2]; // at the start of the piece, for unit deformations, relative to the chord
    double *M;
} timoshenko_sum;

enum { POINTS = PCS_TAPER_POINTS };

// Computes rotation and deflection relative to the chord at the points of a piece, for the deformation e_c = 1.
static void timoshenko_run(timoshenko_sum *sum, const pcs_taper_piece *piece, int c, double turn[POINTS],
                           double deflection[POINTS])
{
    const pcs_timoshenko *beam = sum->beam;
    const pcs_section *mean = &beam->taper->mean;
    bool is_about_z = beam->plane == 0;
    double I = is_about_z ? mean->Iz : mean->Iy, carrying = mean->area * (is_about_z ? mean->ky : mean->kz);
    double L = beam->length, bending = L * I / beam->EI, shear = L * beam->phi / (12.0 * beam->EI) * carrying;
    double bend[POINTS], slope[POINTS], S1 = sum->D[c], S2 = sum->D[2 + c];
    for (int i = 0; i < POINTS; i++) {
        const pcs_section *s = &piece->section[i];
        bend[i] = bending * (S2 * piece->xi[i] - S1 * (1.0 - piece->xi[i])) / (is_about_z ? s->Iz : s->Iy);
    }
    double turned = pcs_taper_run(piece, bend, turn);
    for (int i = 0; i < POINTS; i++) {
        const pcs_section *s = &piece->section[i];
        turn[i] += sum->turn[c];
        slope[i] = L * (turn[i] - shear * (S1 + S2) / (s->area * (is_about_z ? s->ky : s->kz)));
    }
    double deflected = pcs_taper_run(piece, slope, deflection);
    for (int i = 0; i < POINTS; i++) deflection[i] += sum->deflection[c];
    sum->turn[c] += turned;
    sum->deflection[c] += deflected;
}

static void timoshenko_add_piece(void *user, const pcs_taper_piece *piece)
{
    timoshenko_sum *sum = user;
    const pcs_timoshenko *beam = sum->beam;
    const pcs_section *mean = &beam->taper->mean;
    double L = beam->length, turn[2][POINTS], deflection[2][POINTS];
    // Holds the deformations for unit (w1, t1, w2, t2).
    const double B[2][4] = { { 1.0 / L, 1.0, -1.0 / L, 0.0 }, { 1.0 / L, 0.0, -1.0 / L, 1.0 } };
    for (int c = 0; c < 2; c++) timoshenko_run(sum, piece, c, turn[c], deflection[c]);
    for (int k = 0; k < POINTS; k++) {
        const pcs_section *s = &piece->section[k];
        double N[4] = { 1.0 - piece->xi[k], 0.0, piece->xi[k], 0.0 }, Nt[4] = { -1.0 / L, 0.0, 1.0 / L, 0.0 };
        double mass = piece->weight[k] * L * beam->line_mass * s->area / mean->area;
        double share = beam->plane == 0 ? s->Iz / mean->Iz : s->Iy / mean->Iy;
        double inertia = piece->weight[k] * L * beam->line_inertia * share;
        for (int j = 0; j < 8; j++) {
            N[j % 4] += deflection[j / 4][k] * B[j / 4][j % 4];
            Nt[j % 4] += turn[j / 4][k] * B[j / 4][j % 4];
        }
        for (int j = 0; j < 16; j++) sum->M[j] += mass * N[j / 4] * N[j % 4] + inertia * Nt[j / 4] * Nt[j % 4];
    }
}

static void timoshenko_tapered_mass(const pcs_timoshenko *beam, double M[16])
{
    timoshenko_sum sum = { .beam = beam, .turn = { 1.0, 0.0 }, .M = M };
    timoshenko_tapered_stiffness(beam, sum.D);
    for (int i = 0; i < 16; i++) M[i] = 0.0;
    pcs_taper_walk(beam->line, beam->taper, timoshenko_add_piece, &sum);
}

void pcs_timoshenko_mass(const pcs_timoshenko *beam, double M[16])
{
    if (beam->has_one_point) {
        timoshenko_one_point(beam, M);
        return;
    }
    if (beam->taper != NULL) {
        timoshenko_tapered_mass(beam, M);
        return;
    }
    double p = beam->phi, p2 = p * p, L = beam->length, L2 = L * L, shear = (1.0 + p) * (1.0 + p);
    const double translation[6] = {
        13.0 / 35.0 + 7.0 * p / 10.0 + p2 / 3.0,    (11.0 / 210.0 + 11.0 * p / 120.0 + p2 / 24.0) * L,
        9.0 / 70.0 + 3.0 * p / 10.0 + p2 / 6.0,     -(13.0 / 420.0 + 3.0 * p / 40.0 + p2 / 24.0) * L,
        (1.0 / 105.0 + p / 60.0 + p2 / 120.0) * L2, -(1.0 / 140.0 + p / 60.0 + p2 / 120.0) * L2
    };
    const double rotation[6] = { 6.0 / 5.0,
                                 (1.0 / 10.0 - p / 2.0) * L,
                                 -6.0 / 5.0,
                                 (1.0 / 10.0 - p / 2.0) * L,
                                 (2.0 / 15.0 + p / 6.0 + p2 / 3.0) * L2,
                                 (-1.0 / 30.0 - p / 6.0 + p2 / 6.0) * L2 };
    for (int i = 0; i < 16; i++) M[i] = 0.0;
    timoshenko_add(beam->line_mass * L / shear, translation, M);
    timoshenko_add(beam->line_inertia / (L * shear), rotation, M);
}
