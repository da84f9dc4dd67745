// Geometrically exact Timoshenko beam in space: two nodes with a position and a finite rotation, any size of motion.
//
// One integration point, kinematics of elements/exact_3d.h: the strains vanish in the reference state and under any
// rigid motion, and the path to a state does not matter. q holds the rotation vector of a node's turn from the
// reference state, v its material angular velocity, both in axes that are the global ones in the reference state; nodes
// are shared by beams of any orientation. Section axes: x along the chord, y in the plane of x and `orientation`.
//   f = L (n . dGam) + m . dpsi,   n = diag(E A, G A ky, G A kz) Gam,   m = diag(G J, E Iy, E Iz) (psi - psi0)/L
// A curved beam is a polygon of chords whose corners carry no strain. With `curvature` the sections at the ends of a
// cell stand square to the arc through its nodes, which bends about k by psi0, 2 sin(psi0/2) = |k| L; either is of
// second order in L, and the arc has the smaller error. psi stays below pi in an element.
//
// Mass: consistent or lumped in the displacements; rotary inertia rho L/2 diag(Iy + Iz, Iy, Iz) at each node, with the
// gyroscopic force -Om x J Om. Stiffness damping acts on the strain rates: a rigid motion feels none. Where the section
// varies along a cell, stiffnesses are means over it, and masses integrals with linear velocities; those of rotary
// inertia are lumped by the sums of their rows.

#include "core/dense.h"
#include "elements/beam.h"
#include "elements/exact_3d.h"

#include <math.h>
#include <string.h>

enum { NDOF = PCS_EXACT_NDOF };

static const pcs_cell_shape exact_shape = { .ndof = NDOF, .node_dofs = 6, .translations = 3 };

typedef struct exact_data {
    const pcs_exact_cell *cells; // [ncell]
    const pcs_exact_arc *arcs;   // [ncell], NULL if all are straight
} exact_data;

static const pcs_option exact_options[] = {
    PCS_BEAM_SPACE_OPTIONS,
    PCS_VECTOR(
        "curvature", pcs_beam_params, curvature, PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,
        "of arcs between the nodes before any load, 1/m: a vector square to the plane of the arc, about which it "
        "turns from the first node to the second"),
    { .name = NULL },
};

static const char *const exact_fields[] = { "axial_force", "shear_force", "torque",         "moment_start",
                                            "moment_end",  "stress",      "bending_stress", "strain_energy",
                                            "shear_y",     "shear_z",     "moment_y",       "moment_z",
                                            NULL };

static const char *const exact_end_fields[] = { "moment_y_start", "moment_y_end", "moment_z_start", "moment_z_end",
                                                NULL };

static double exact_frame(const pcs_batch *batch, int cell, double axes[3][3])
{
    double sine;
    return pcs_beam_space_frame(batch, cell, ((const pcs_beam_params *)batch->params)->orientation, axes, &sine);
}

static pcs_status exact_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    (void)local_node;
    const pcs_beam_params *p = batch->params;
    const double *k = p->curvature;
    double axes[3][3];
    PCS_TRY(pcs_beam_space_dofs(ctx, batch, cell, p->orientation, out));
    out->is_finite = true;
    double chord = exact_frame(batch, cell, axes);
    if (fabs(pcs_dot3(k, axes[0])) > 1e-6 * pcs_norm3(k))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': the curvature [%g, %g, %g] is not square to cell %d",
                        batch->name, k[0], k[1], k[2], batch->cells[cell]);
    if (pcs_norm3(k) * chord < 2.0) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': cell %d of length %g cannot be an arc of curvature %g, must be below %g",
                    batch->name, batch->cells[cell], chord, pcs_norm3(k), 2.0 / chord);
}

// Computes rho (Iy + Iz), rho Iy, rho Iz, times twice the share of a node.
static void exact_line_inertia(const pcs_batch *batch, int cell, double out[2][3])
{
    static const pcs_beam_quantity quantities[3] = { PCS_BEAM_POLAR, PCS_BEAM_IY, PCS_BEAM_IZ };
    const pcs_section *s = pcs_taper_section(batch, cell);
    double rho = ((const pcs_beam_params *)batch->params)->rho;
    const double inertia[3] = { rho * (s->Iy + s->Iz), rho * s->Iy, rho * s->Iz };
    for (int k = 0; k < 3; k++) {
        pcs_beam_shares shares = pcs_beam_find_shares(batch, cell, quantities[k]);
        double skew = (shares.first + shares.cross) - (shares.last + shares.cross); // zero in a uniform cell
        out[0][k] = inertia[k] * (1.0 + skew);
        out[1][k] = inertia[k] * (1.0 - skew);
    }
}

static pcs_exact_cell exact_cell(const pcs_batch *batch, int cell)
{
    const pcs_beam_params *p = batch->params;
    const pcs_section *s = pcs_taper_section(batch, cell);
    double axes[3][3], line_inertia[2][3], G = 0.5 * p->E / (1.0 + p->nu);
    const double force[3] = { p->E * s->area, G * s->area * s->ky, G * s->area * s->kz };
    const double moment[3] = { G * s->torsion, p->E * s->Iy, p->E * s->Iz };
    pcs_exact_cell out;
    out.length = exact_frame(batch, cell, axes);
    out.inverse = 1.0 / out.length;
    out.mass = p->rho * s->area * out.length;
    out.shares = pcs_beam_find_shares(batch, cell, PCS_BEAM_AREA);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) out.E[3 * k + i] = axes[i][k];
    exact_line_inertia(batch, cell, line_inertia);
    pcs_exact_material(out.E, force, 1.0, out.Dn);
    pcs_exact_material(out.E, moment, out.inverse, out.Dm);
    for (int node = 0; node < 2; node++) pcs_exact_material(out.E, line_inertia[node], 0.5 * out.length, out.J[node]);
    return out;
}

// Computes the arc with psi0 by the kernel itself, so that the reference state has exactly zero strain.
static pcs_exact_arc exact_arc(const pcs_exact_cell *cell, const double curvature[3])
{
    const double rest[NDOF] = { 0 };
    double half[3], size = pcs_norm3(curvature);
    pcs_exact_arc out = { 0 };
    pcs_exact_state state;
    for (int k = 0; k < 3; k++) half[k] = asin(0.5 * size * cell->length) * curvature[k] / size;
    pcs_exact_quaternion(half, out.Q);
    pcs_exact_matrix(out.Q, out.B);
    pcs_exact_deform(cell, &out, rest, &state);
    memcpy(out.psi0, state.psi, sizeof out.psi0);
    return out;
}

static pcs_status exact_setup(pcs_context *ctx, pcs_batch *batch)
{
    const pcs_beam_params *p = batch->params;
    bool is_curved = pcs_norm3(p->curvature) > 0.0;
    exact_data *data;
    pcs_exact_cell *cells;
    pcs_exact_arc *arcs = NULL;
    PCS_TAKE(ctx, data, 1, "beam cells");
    PCS_TAKE(ctx, cells, batch->ncell, "beam cells");
    if (is_curved) PCS_TAKE(ctx, arcs, batch->ncell, "curved beam cells");
    for (int i = 0; i < batch->ncell; i++) {
        cells[i] = exact_cell(batch, i);
        if (is_curved) arcs[i] = exact_arc(&cells[i], p->curvature);
    }
    *data = (exact_data){ .cells = cells, .arcs = arcs };
    batch->data = data;
    batch->is_gyroscopic = batch->damping_mass == 0.0 && batch->damping_stiffness == 0.0;
    return PCS_OK;
}

static inline const pcs_exact_arc *exact_arc_of(const exact_data *data, int cell)
{
    return data->arcs == NULL ? NULL : &data->arcs[cell];
}

// Evaluates a cell of the batch, and gathers the velocities of its dofs.
static inline void exact_look(const pcs_batch *batch, int index, const pcs_cell_state *at, double w[NDOF],
                              pcs_exact_state *state)
{
    const exact_data *data = batch->data;
    double x[NDOF];
    pcs_cell_look(batch, index, NDOF, at, x, w);
    pcs_exact_deform(&data->cells[index], exact_arc_of(data, index), x, state);
}

// Computes p = M w; its rotational part is the angular momentum in material axes.
static inline void exact_momentum(const exact_data *data, int index, const double w[NDOF], double p[NDOF])
{
    const pcs_exact_cell *cell = &data->cells[index];
    const pcs_beam_shares *shares = &cell->shares;
    double mass = cell->mass;
    for (int k = 0; k < 3; k++) {
        p[k] = mass * (shares->first * w[k] + shares->cross * w[6 + k]);
        p[6 + k] = mass * (shares->cross * w[k] + shares->last * w[6 + k]);
    }
    pcs_rotation_apply(cell->J[0], w + 3, p + 3);
    pcs_rotation_apply(cell->J[1], w + 9, p + 9);
}

// Computes section forces in material axes; rates are NULL without stiffness damping.
static inline void exact_section(const pcs_batch *batch, const pcs_exact_state *state, const pcs_exact_rates *rates,
                                 pcs_exact_forces *out)
{
    double Gam[3], psi[3];
    for (int k = 0; k < 3; k++) {
        Gam[k] = state->Gam[k] + (rates == NULL ? 0.0 : batch->damping_stiffness * rates->Gam[k]);
        psi[k] = state->bend[k] + (rates == NULL ? 0.0 : batch->damping_stiffness * rates->psi[k]);
    }
    pcs_rotation_apply(state->cell->Dn, Gam, out->n);
    pcs_rotation_apply(state->cell->Dm, psi, out->m);
}

// Computes f, the external forces and moments on the nodes that balance the section forces.
static inline void exact_hold(const pcs_exact_state *state, const pcs_exact_forces *forces, double f[NDOF])
{
    const double *n = forces->n, *m = forces->m;
    double N[3], y[3], a[3], b[3], c[3], d[3];
    pcs_rotation_apply(state->Rm, n, N);
    pcs_cross(n, state->g, y);
    for (int k = 0; k < 3; k++) y[k] *= state->cell->length;
    pcs_cross(m, state->psi, a);
    pcs_cross(a, state->psi, b); // psi x (psi x m)
    pcs_cross(y, state->psi, c);
    for (int k = 0; k < 3; k++) {
        a[k] = 0.5 * (y[k] + a[k]);
        d[k] = m[k] + state->e * b[k] + 0.5 * state->t * c[k];
        f[k] = -N[k];
        f[6 + k] = N[k];
        f[3 + k] = a[k] - d[k];
        f[9 + k] = a[k] + d[k];
    }
}

// Transforms moments from the ends of the arc to the nodes.
static inline void exact_leave_arc(const pcs_exact_arc *arc, double f[NDOF])
{
    double a[3], b[3];
    pcs_rotation_apply_transposed(arc->B, f + 3, a);
    pcs_rotation_apply(arc->B, f + 9, b);
    for (int k = 0; k < 3; k++) {
        f[3 + k] = a[k];
        f[9 + k] = b[k];
    }
}

// Computes internal, damping and gyroscopic force of a cell, as forces on the body.
static inline __attribute__((always_inline)) void exact_force(const pcs_batch *batch, int index,
                                                              const pcs_cell_state *at, double f[NDOF])
{
    const exact_data *data = batch->data;
    bool is_damped = batch->damping_stiffness != 0.0;
    double w[NDOF], p[NDOF], gyro[3];
    pcs_exact_state state;
    pcs_exact_rates rates;
    pcs_exact_forces forces;
    exact_look(batch, index, at, w, &state);
    if (is_damped) pcs_exact_rate(&state, w, &rates);
    exact_section(batch, &state, is_damped ? &rates : NULL, &forces);
    exact_hold(&state, &forces, f);
    if (state.arc != NULL) exact_leave_arc(state.arc, f);
    exact_momentum(data, index, w, p);
    for (int i = 0; i < NDOF; i++) f[i] = -f[i] - batch->damping_mass * p[i];
    for (int i = 3; i < NDOF; i += 6) {
        pcs_cross(w + i, p + i, gyro);
        for (int k = 0; k < 3; k++) f[i + k] -= gyro[k];
    }
}

static void exact_add_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    pcs_cell_add_force(batch, NDOF, exact_force, at, f);
}

// Adds factor M to A.
static void exact_mass(const exact_data *data, int index, double factor, double A[NDOF * NDOF])
{
    const pcs_exact_cell *cell = &data->cells[index];
    double mass = factor * cell->mass;
    for (int k = 0; k < 3; k++) {
        A[k * NDOF + k] += mass * cell->shares.first;
        A[(6 + k) * NDOF + 6 + k] += mass * cell->shares.last;
        A[k * NDOF + 6 + k] += mass * cell->shares.cross;
        A[(6 + k) * NDOF + k] += mass * cell->shares.cross;
        for (int j = 0; j < 3; j++) {
            A[(3 + k) * NDOF + 3 + j] += factor * cell->J[0][3 * k + j];
            A[(9 + k) * NDOF + 9 + j] += factor * cell->J[1][3 * k + j];
        }
    }
}

// Adds Om^ J - (J Om)^ of both nodes to C: the derivative of Om x J Om.
static inline void exact_gyroscopic(const pcs_exact_cell *cell, const double w[NDOF], double C[NDOF * NDOF])
{
    for (int i = 3; i < NDOF; i += 6) {
        const double *J = cell->J[i / 6], *Om = w + i;
        double p[3], *at = C + i * NDOF + i;
        pcs_rotation_apply(J, Om, p);
        for (int j = 0; j < 3; j++) {
            at[j] += Om[1] * J[6 + j] - Om[2] * J[3 + j];
            at[NDOF + j] += Om[2] * J[j] - Om[0] * J[6 + j];
            at[2 * NDOF + j] += Om[0] * J[3 + j] - Om[1] * J[j];
        }
        at[1] += p[2];
        at[2] -= p[1];
        at[NDOF] -= p[2];
        at[NDOF + 2] += p[0];
        at[2 * NDOF] += p[1];
        at[2 * NDOF + 1] -= p[0];
    }
}

static void exact_matrices(const pcs_batch *batch, int index, const pcs_cell_state *at, double *M, double *K, double *C)
{
    const exact_data *data = batch->data;
    double beta = batch->damping_stiffness, x[NDOF], w[NDOF];
    pcs_exact_state state;
    pcs_exact_rates rates, *damping = beta != 0.0 ? &rates : NULL;
    pcs_exact_forces forces;
    if (M != NULL) {
        memset(M, 0, NDOF * NDOF * sizeof *M);
        exact_mass(data, index, 1.0, M);
    }
    if (K == NULL) return;
    pcs_cell_look_or_rest(batch, index, NDOF, at, x, w);
    pcs_exact_deform(&data->cells[index], exact_arc_of(data, index), x, &state);
    if (damping != NULL) pcs_exact_rate(&state, w, &rates);
    exact_section(batch, &state, damping, &forces);
    pcs_exact_tangent(&state, &forces, beta, damping, K);
    if (at == NULL) // products leave round-off
        for (int i = 1; i < NDOF; i++)
            for (int j = 0; j < i; j++) K[i * NDOF + j] = K[j * NDOF + i];
    if (C == NULL) return;
    if (damping == NULL) memset(C, 0, NDOF * NDOF * sizeof *C);
    else pcs_exact_viscosity(&state, beta, C);
    if (batch->damping_mass != 0.0) exact_mass(data, index, batch->damping_mass, C);
    exact_gyroscopic(&data->cells[index], w, C);
}

// Returns L x . Dn Gam + y . Dm psi; Dm contains 1/L.
static double exact_form(const exact_data *data, int index, const double Gam[3], const double psi[3], const double x[3],
                         const double y[3])
{
    const pcs_exact_cell *cell = &data->cells[index];
    double n[3], m[3];
    pcs_rotation_apply(cell->Dn, Gam, n);
    pcs_rotation_apply(cell->Dm, psi, m);
    return cell->length * pcs_dot3(x, n) + pcs_dot3(y, m);
}

// Adds the dissipated power, W; gyroscopic forces do no work.
static void exact_add_power(const pcs_batch *batch, int index, const pcs_cell_state *at, const double w[NDOF],
                            const pcs_exact_state *state, pcs_cell_sums *sum)
{
    double along[NDOF], p[NDOF];
    pcs_exact_rates rates, x;
    pcs_cell_gather(batch->equation + (size_t)index * NDOF, NDOF, at->along, along);
    pcs_exact_rate(state, w, &rates);
    pcs_exact_rate(state, along, &x);
    exact_momentum(batch->data, index, w, p);
    sum->power += batch->damping_mass * pcs_dense_dot(NDOF, along, p);
    sum->power += batch->damping_stiffness * exact_form(batch->data, index, rates.Gam, rates.psi, x.Gam, x.psi);
}

static void exact_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    const exact_data *data = batch->data;
    if (batch->damping_mass == 0.0 && batch->damping_stiffness == 0.0) what &= ~(unsigned)PCS_CELL_POWER;
    if (what & PCS_CELL_RESULTANT) pcs_cell_add_resultant(batch, &exact_shape, exact_force, at, sum);
    for (int i = 0; i < batch->ncell && (what & (PCS_CELL_ENERGY | PCS_CELL_POWER)); i++) {
        double w[NDOF], p[NDOF];
        pcs_exact_state state;
        exact_look(batch, i, at, w, &state);
        if (what & PCS_CELL_POWER) exact_add_power(batch, i, at, w, &state, sum);
        if (!(what & PCS_CELL_ENERGY)) continue;
        exact_momentum(data, i, w, p);
        sum->strain += 0.5 * exact_form(data, i, state.Gam, state.bend, state.Gam, state.bend);
        sum->kinetic += 0.5 * pcs_dense_dot(NDOF, w, p);
        pcs_cell_add_momentum(&exact_shape, batch->equation + (size_t)i * NDOF, p, sum);
    }
}

// Evaluates elastic section forces in the axes of the rotated section; end moments are those on the nodes.
static void exact_read_fields(const pcs_batch *batch, int index, const pcs_cell_state *at,
                              double field[PCS_MAX_CELL_FIELDS])
{
    const exact_data *data = batch->data;
    const pcs_exact_cell *cell = &data->cells[index];
    double w[NDOF], f[NDOF], force[3], moment[3], start[3], end[3];
    pcs_exact_state state;
    pcs_exact_forces forces;
    exact_look(batch, index, at, w, &state);
    exact_section(batch, &state, NULL, &forces);
    exact_hold(&state, &forces, f);
    pcs_rotation_apply_transposed(cell->E, forces.n, force);
    pcs_rotation_apply_transposed(cell->E, forces.m, moment);
    pcs_rotation_apply_transposed(cell->E, f + 3, start);
    pcs_rotation_apply_transposed(cell->E, f + 9, end);
    field[0] = force[0];
    field[1] = hypot(force[1], force[2]);
    field[2] = moment[0];
    field[3] = hypot(start[1], start[2]);
    field[4] = hypot(end[1], end[2]);
    field[5] = force[0] / pcs_taper_section(batch, index)->area;
    field[6] = pcs_taper_stress(batch, batch->cells[index], (const double[2]){ start[2], end[2] },
                                (const double[2]){ start[1], end[1] });
    field[7] = 0.5 * exact_form(data, index, state.Gam, state.bend, state.Gam, state.bend);
    field[8] = force[1];
    field[9] = force[2];
    field[10] = moment[1];
    field[11] = moment[2];
    for (int k = 0; k < 2; k++) {
        field[12 + 2 * k] = -start[1 + k]; // as in the middle
        field[13 + 2 * k] = end[1 + k];
    }
}

const pcs_element_ops pcs_element_beam_exact_3d = {
    .name = "beam_exact_3d",
    .summary = "geometrically exact Timoshenko beam in space; three displacements and a finite rotation at each node",
    .options = exact_options,
    PCS_BEAM_SPACE_SECTION,
    .nnode = 2,
    .ndof = NDOF,
    .is_nonlinear = true,
    .sees_velocity = true,
    .fields = exact_fields,
    .end_fields = exact_end_fields,
    .node_dofs = exact_node_dofs,
    .setup = exact_setup,
    .matrices = exact_matrices,
    .force = exact_add_force,
    .measure = exact_measure,
    .read_fields = exact_read_fields,
};
