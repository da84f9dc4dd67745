// Linear Timoshenko beam in space: two nodes with x, y, z and three rotations; small displacements.
//
// Local axes: x along the beam, y in the plane of x and `orientation`, z = x cross y. Rod for the axial force and
// for torsion, the plane beam of elements/timoshenko.h on (v, tz) and on (w, -ty).
// Deformations e = (u2 - u1, tx2 - tx1, tz1 - a, tz2 - a, -ty1 - b, -ty2 - b), a = (v2 - v1)/L, b = (w2 - w1)/L.

#include "elements/beam.h"
#include "elements/modal.h"
#include "elements/section.h"
#include "elements/timoshenko.h"

#include <math.h>
#include <string.h>

typedef struct beam_params {
    double E, nu, rho;
    double orientation[3];
    int mass;
    pcs_section section;
} beam_params;

enum { NDOF = 12, NMODE = 6 };

static const pcs_option beam_options[] = {
    PCS_BEAM_OPTIONS(beam_params),
    { .name = "orientation",
      .kind = PCS_OPTION_VECTOR,
      .help = "a vector that spans the local x-y plane with the beam: the way the height of the section points",
      .offset = offsetof(beam_params, orientation),
      .is_required = true,
      .range = PCS_ANY_NUMBER },
    { .name = NULL },
};

static const char *const beam_fields[] = { "axial_force",    "shear_force",   "torque",
                                           "moment_start",   "moment_end",    "stress",
                                           "bending_stress", "strain_energy", NULL };

static const double *beam_orientation(const pcs_batch *batch)
{
    return ((const beam_params *)batch->params)->orientation;
}

static pcs_status beam_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    (void)local_node;
    return pcs_beam_space_dofs(ctx, batch, cell, beam_orientation(batch), out);
}

// Bending in the local x-y plane (about z), or in x-z (about y).
static pcs_timoshenko beam_bending(const beam_params *p, double length, bool is_about_z)
{
    double G = 0.5 * p->E / (1.0 + p->nu), I = is_about_z ? p->section.Iz : p->section.Iy;
    double shear = G * p->section.area * (is_about_z ? p->section.ky : p->section.kz);
    return (pcs_timoshenko){ .EI = p->E * I,
                             .phi = 12.0 * p->E * I / (shear * length * length),
                             .length = length,
                             .line_mass = p->rho * p->section.area,
                             .line_inertia = p->rho * I };
}

// Local places and signs of (w1, t1, w2, t2) of the two planes.
static const int beam_place[2][4] = { { 1, 5, 7, 11 }, { 2, 4, 8, 10 } };
static const double beam_sign[2][4] = { { 1.0, 1.0, 1.0, 1.0 }, { 1.0, -1.0, 1.0, -1.0 } };

static void beam_local_mass(const beam_params *p, double L, double m[NDOF * NDOF])
{
    double weight = p->rho * p->section.area * L, spin = p->rho * (p->section.Iy + p->section.Iz) * L, M[16];
    memset(m, 0, NDOF * NDOF * sizeof *m);
    if (p->mass == PCS_BEAM_LUMPED) {
        const double inertia[3] = { spin, p->rho * p->section.Iy * L, p->rho * p->section.Iz * L };
        for (int i = 0; i < NDOF; i++) m[i * NDOF + i] = 0.5 * (i % 6 < 3 ? weight : inertia[i % 3]);
        return;
    }
    for (int plane = 0; plane < 2; plane++) {
        pcs_timoshenko bending = beam_bending(p, L, plane == 0);
        pcs_timoshenko_mass(&bending, M);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                m[beam_place[plane][i] * NDOF + beam_place[plane][j]] =
                    beam_sign[plane][i] * beam_sign[plane][j] * M[i * 4 + j];
    }
    for (int i = 0; i < 2; i++) { // axial motion, then torsion
        int a = 3 * i, b = 6 + 3 * i;
        double total = i == 0 ? weight : spin;
        m[a * NDOF + a] = m[b * NDOF + b] = total / 3.0;
        m[a * NDOF + b] = m[b * NDOF + a] = total / 6.0;
    }
}

static void beam_local_modes(const beam_params *p, double L, double B[NMODE][NDOF], double *D)
{
    double G = 0.5 * p->E / (1.0 + p->nu), D2[4];
    B[0][0] = B[1][3] = -1.0;
    B[0][6] = B[1][9] = 1.0;
    D[0] = p->E * p->section.area / L;
    D[NMODE + 1] = G * p->section.torsion / L;
    for (int plane = 0; plane < 2; plane++) {
        pcs_timoshenko bending = beam_bending(p, L, plane == 0);
        pcs_timoshenko_stiffness(&bending, D2);
        for (int end = 0; end < 2; end++) {
            int mode = 2 + 2 * plane + end;
            B[mode][beam_place[plane][0]] = 1.0 / L;
            B[mode][beam_place[plane][2]] = -1.0 / L;
            B[mode][beam_place[plane][1 + 2 * end]] = beam_sign[plane][1];
            for (int other = 0; other < 2; other++) D[mode * NMODE + 2 + 2 * plane + other] = D2[2 * end + other];
        }
    }
}

static void beam_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    const beam_params *p = batch->params;
    double R[3][3], sine, L = pcs_beam_space_frame(batch, cell, p->orientation, R, &sine), m[NDOF * NDOF];
    double B[NMODE][NDOF] = { { 0 } };
    beam_local_modes(p, L, B, kind->D);
    beam_local_mass(p, L, m);
    pcs_beam_turn(NDOF, NMODE, (const double(*)[3])R, &B[0][0], m, kind);
}

static pcs_status beam_setup(pcs_context *ctx, pcs_batch *batch)
{
    pcs_modal *modal;
    PCS_TRY(pcs_modal_create(ctx, batch, NDOF, NMODE, beam_make, &modal));
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) modal->direction[6 * i + k][k] = 1.0;
    batch->data = modal;
    return PCS_OK;
}

// Resultants of both planes; the bending stress adds the two at a corner of the section.
static void beam_read_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                             double field[PCS_MAX_CELL_FIELDS])
{
    (void)v;
    const pcs_section *section = &((const beam_params *)batch->params)->section;
    const pcs_modal *modal = batch->data;
    const double *D = modal->kinds[modal->kind[cell]].D;
    double e[PCS_MAX_MODES], s[NMODE], R[3][3], sine, energy = 0.0;
    double L = pcs_beam_space_frame(batch, cell, beam_orientation(batch), R, &sine);
    pcs_modal_deform(batch, cell, q, e);
    for (int a = 0; a < NMODE; a++) {
        s[a] = 0.0;
        for (int b = 0; b < NMODE; b++) s[a] += D[a * NMODE + b] * e[b];
        energy += 0.5 * s[a] * e[a];
    }
    double about_z = fmax(fabs(s[2]), fabs(s[3])), about_y = fmax(fabs(s[4]), fabs(s[5]));
    field[0] = s[0];
    field[1] = hypot(s[2] + s[3], s[4] + s[5]) / L;
    field[2] = s[1];
    field[3] = hypot(s[2], s[4]);
    field[4] = hypot(s[3], s[5]);
    field[5] = s[0] / section->area;
    field[6] = about_z * section->cy / section->Iz + about_y * section->cz / section->Iy;
    field[7] = energy;
}

const pcs_element_ops pcs_element_beam_timo_3d = {
    .name = "beam_timo_3d",
    .summary = "linear Timoshenko beam in space; three displacements and three rotations at each node",
    .options = beam_options,
    .params_size = sizeof(beam_params),
    .has_section = true,
    .section_offset = offsetof(beam_params, section),
    .ndof = NDOF,
    .fields = beam_fields,
    .node_dofs = beam_node_dofs,
    .setup = beam_setup,
    .matrices = pcs_modal_matrices,
    .add_force = pcs_modal_add_force,
    .add_energy = pcs_modal_add_energy,
    .add_change = pcs_modal_add_change,
    .add_resultant = pcs_modal_add_resultant,
    .read_fields = beam_read_fields,
};
