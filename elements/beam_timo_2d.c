// Linear Timoshenko beam in the x-y plane: two nodes with x, y and the rotation about z; small displacements.
//
// Locking-free: one element is exact for end loads, also where its section varies. Axial part as the rod, but by its
// flexibility; bending as elements/beam.h.
// Section forces at the ends are those of equilibrium, B^T D e - f with the forces f of loads along the cell.
// Deformations e = (u2 - u1, t1 - psi, t2 - psi), psi = (w2 - w1)/L, with u along and w across the beam.

#include "elements/beam.h"

typedef pcs_beam_params beam_params;

enum { NDOF = 6, NMODE = 3 };

static pcs_status beam_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    return pcs_beam_plane_dofs(ctx, batch, cell, out);
}

// Computes the mass in local dofs (u1, w1, t1, u2, w2, t2).
static void beam_local_mass(const pcs_batch *batch, int cell, double length, double m[NDOF * NDOF])
{
    const beam_params *p = batch->params;
    pcs_timoshenko bending = pcs_beam_bending(batch, cell, length, 0);
    pcs_beam_shares axial = pcs_beam_find_shares(batch, cell, PCS_BEAM_AREA);
    double weight = bending.line_mass * length, M[16];
    for (int i = 0; i < NDOF * NDOF; i++) m[i] = 0.0;
    m[0] = weight * axial.first;
    m[3 * NDOF + 3] = weight * axial.last;
    m[3] = m[3 * NDOF] = weight * axial.cross;
    if (p->mass == PCS_BEAM_LUMPED) {
        pcs_beam_shares turn = pcs_beam_find_shares(batch, cell, PCS_BEAM_IZ);
        m[1 * NDOF + 1] = weight * axial.first;
        m[4 * NDOF + 4] = weight * axial.last;
        m[2 * NDOF + 2] = bending.line_inertia * length * turn.first;
        m[5 * NDOF + 5] = bending.line_inertia * length * turn.last;
        return;
    }
    static const int place[4] = { 1, 2, 4, 5 };
    pcs_timoshenko_mass(&bending, M);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) m[place[i] * NDOF + place[j]] = M[i * 4 + j];
}

static void beam_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    const beam_params *p = batch->params;
    double axis[2], L = pcs_beam_plane_axis(batch, cell, axis), m[NDOF * NDOF], D[4];
    double area = pcs_taper_section(batch, cell)->area;
    // Rows of R give local from global components at one node.
    const double R[3][3] = { { axis[0], axis[1], 0.0 }, { -axis[1], axis[0], 0.0 }, { 0.0, 0.0, 1.0 } };
    pcs_timoshenko bending = pcs_beam_bending(batch, cell, L, 0);
    pcs_timoshenko_stiffness(&bending, D);
    kind->D[0] = p->E * (bending.taper == NULL || bending.has_one_point ? area : bending.taper->axial) / L;
    kind->D[4] = D[0];
    kind->D[5] = D[1];
    kind->D[7] = D[2];
    kind->D[8] = D[3];
    const double local_B[NMODE][NDOF] = { { -1.0, 0.0, 0.0, 1.0, 0.0, 0.0 },
                                          { 0.0, 1.0 / L, 1.0, 0.0, -1.0 / L, 0.0 },
                                          { 0.0, 1.0 / L, 0.0, 0.0, -1.0 / L, 1.0 } };
    beam_local_mass(batch, cell, L, m);
    pcs_beam_turn(NDOF, NMODE, R, &local_B[0][0], m, kind);
}

static pcs_status beam_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_modal_setup(ctx, batch, NMODE, 2, beam_make);
}

static const char *const beam_end_fields[] = { "axial_start",  "axial_end",  "shear_start", "shear_end",
                                               "stress_start", "stress_end", NULL };

// Resolves the nodal forces of loads along the cell in local dofs (u1, w1, t1, u2, w2, t2).
static void beam_local_load(const double *line_load, const double axis[2], double f[NDOF])
{
    for (int i = 0; i < NDOF; i++) f[i] = line_load == NULL ? 0.0 : line_load[i];
    for (int end = 0; end < 2; end++) {
        double *local = f + 3 * end, x = local[0], y = local[1];
        local[0] = axis[0] * x + axis[1] * y;
        local[1] = axis[0] * y - axis[1] * x;
    }
}

// Evaluates section forces: moments that bend towards +w are positive at both ends; the shear force is the cell's mean.
static void beam_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                             double field[PCS_MAX_CELL_FIELDS])
{
    const pcs_modal *modal = batch->data;
    const double *D = modal->kinds[modal->kind[cell]].D;
    double e[PCS_MAX_MODES], f[NDOF], axis[2], L = pcs_beam_plane_axis(batch, cell, axis);
    pcs_modal_deform(batch, cell, at->q, e);
    beam_local_load(at->line_load, axis, f);
    double N = D[0] * e[0], M1 = D[4] * e[1] + D[5] * e[2], M2 = D[7] * e[1] + D[8] * e[2];
    double end[2] = { M1 - f[2], M2 - f[5] };
    field[0] = N;
    field[1] = -(end[0] + end[1]) / L;
    field[2] = -end[0];
    field[3] = end[1];
    field[4] = N / pcs_taper_section(batch, cell)->area;
    field[5] = pcs_taper_stress(batch, batch->cells[cell], end, NULL);
    field[6] = 0.5 * (N * e[0] + M1 * e[1] + M2 * e[2]);
    field[7] = N + f[0];
    field[8] = N - f[3];
    field[9] = -(M1 + M2) / L + f[1];
    field[10] = -(M1 + M2) / L - f[4];
    for (int k = 0; k < 2; k++) field[11 + k] = field[7 + k] / pcs_taper_end(batch, cell, k)->area;
}

static double beam_travel_time(const pcs_batch *batch, int cell, bool is_transverse)
{
    double axis[2];
    return pcs_beam_travel_time(batch, cell, pcs_beam_plane_axis(batch, cell, axis), is_transverse);
}

static const pcs_option beam_options[] = {
    PCS_BEAM_MATERIAL,
    PCS_BEAM_WAVE_MASS,
    { .name = NULL },
};

const pcs_element_ops pcs_element_beam_timo_2d = {
    .name = "beam_timo_2d",
    .summary = "linear Timoshenko beam in the x-y plane; x, y and the rotation about z at each node",
    .options = beam_options,
    PCS_BEAM_SECTION,
    PCS_BEAM_MASS_CHOICE,
    .travel_time = beam_travel_time,
    .nnode = 2,
    .ndof = NDOF,
    .fields = pcs_beam_plane_fields,
    .end_fields = beam_end_fields,
    .node_dofs = beam_node_dofs,
    .setup = beam_setup,
    PCS_MODAL_KERNELS,
    .read_fields = beam_read_fields,
};
