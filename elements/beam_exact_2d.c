// Geometrically exact Timoshenko beam in the x-y plane: two nodes with x, y and the angle about z, any size of motion.
//
// One integration point, strains of Simo and Reissner. With the chord L at angle a in the reference state,
// u' = (u2 - u1)/L, t = (t1 + t2)/2, c = cos(a + t), s = sin(a + t):
//   G1 = c u'_x + s u'_y + cos t - 1,   G2 = -s u'_x + c u'_y - sin t,   k = (t2 - t1)/L
//   N = E A G1,  V = G A ky G2,  M = E I k,   f = L (N b1 + V b2 + M b3),  b = gradients of the strains
// All strains vanish in the reference state and under any rigid motion. Turns of the nodes count from the reference
// state, so that any initial curvature k0 = (turn of the tangent)/L drops out and a curved beam is a polygon of chords
// whose corners carry no strain; this is of second order in L, as the element itself.
// Stiffness damping acts on the strain rates b v: a rigid motion feels none.
// If the section varies along a cell, E A, G A ky and E I are means over the cell, as the strains are constant in it;
// the mass is the integral of rho A N^T N and rho I N^T N with linear N, lumped by the sums of the rows.

#include "core/dense.h"
#include "elements/beam.h"

#include <math.h>
#include <string.h>

enum { NDOF = 6, NSTRAIN = 3 };

static const pcs_cell_shape exact_shape = { .ndof = NDOF, .node_dofs = 3, .translations = 2 };

// Holds geometry and section of a cell.
typedef struct exact_cell {
    double length, inverse;                      // L, m, and 1/L
    double c, s;                                 // direction of the chord in the reference state
    double D[NSTRAIN];                           // E A, G A ky, E I
    double mass, inertia;                        // rho A L, kg, and rho I L, kg m^2
    pcs_beam_shares mass_shares, inertia_shares; // of the nodes: 1/3, 1/6, 1/3, or 1/2, 0, 1/2 for a constant section
} exact_cell;

static inline const exact_cell *exact_cell_of(const pcs_batch *batch, int cell)
{
    return (const exact_cell *)batch->data + cell;
}

// Holds the strains of a cell and their gradients.
typedef struct exact_state {
    double length, inverse, c, s;
    double strain[NSTRAIN];
    double b[NSTRAIN][NDOF];
} exact_state;

static pcs_status exact_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    PCS_TRY(pcs_beam_plane_dofs(ctx, batch, cell, out));
    out->is_finite = true;
    return PCS_OK;
}

static pcs_status exact_setup(pcs_context *ctx, pcs_batch *batch)
{
    const pcs_beam_params *p = batch->params;
    double G = 0.5 * p->E / (1.0 + p->nu);
    exact_cell *cells;
    PCS_TAKE(ctx, cells, batch->ncell, "beam cells");
    for (int i = 0; i < batch->ncell; i++) {
        const pcs_section *s = pcs_taper_section(batch, i);
        double axis[2], length = pcs_beam_plane_axis(batch, i, axis);
        cells[i] = (exact_cell){ .length = length,
                                 .inverse = 1.0 / length,
                                 .c = axis[0],
                                 .s = axis[1],
                                 .D = { p->E * s->area, G * s->area * s->ky, p->E * s->Iz },
                                 .mass = p->rho * s->area * length,
                                 .inertia = p->rho * s->Iz * length,
                                 .mass_shares = pcs_beam_find_shares(batch, i, PCS_BEAM_AREA),
                                 .inertia_shares = pcs_beam_find_shares(batch, i, PCS_BEAM_IZ) };
    }
    batch->data = cells;
    return PCS_OK;
}

static inline void exact_deform(const exact_cell *cell, const double q[NDOF], exact_state *out)
{
    // cos t - 1 through the half angle: no cancellation for small turns
    double quarter = 0.25 * (q[2] + q[5]), sh = sin(quarter), ch = cos(quarter);
    double drop = -2.0 * sh * sh, sine = 2.0 * sh * ch, cosine = 1.0 + drop, l = cell->inverse;
    double c = cell->c * cosine - cell->s * sine, s = cell->s * cosine + cell->c * sine;
    double ux = (q[3] - q[0]) * l, uy = (q[4] - q[1]) * l;
    double G1 = c * ux + s * uy + drop, G2 = c * uy - s * ux - sine;
    *out = (exact_state){ .length = cell->length,
                          .inverse = l,
                          .c = c,
                          .s = s,
                          .strain = { G1, G2, (q[5] - q[2]) * l },
                          .b = { { -c * l, -s * l, 0.5 * G2, c * l, s * l, 0.5 * G2 },
                                 { s * l, -c * l, -0.5 * (1.0 + G1), -s * l, c * l, -0.5 * (1.0 + G1) },
                                 { 0.0, 0.0, -l, 0.0, 0.0, l } } };
}

// Evaluates a cell of the batch, and gathers the velocities of its dofs.
static inline void exact_look(const pcs_batch *batch, int cell, const pcs_cell_state *at, double w[NDOF],
                              exact_state *state)
{
    double x[NDOF];
    pcs_cell_look(batch, cell, NDOF, at, x, w);
    exact_deform(exact_cell_of(batch, cell), x, state);
}

// Computes section forces times L, including damping unless w is NULL.
static inline void exact_section(const pcs_batch *batch, int cell, const exact_state *state, const double *w,
                                 double n[NSTRAIN])
{
    const double *D = exact_cell_of(batch, cell)->D;
    for (int a = 0; a < NSTRAIN; a++) {
        double strain = state->strain[a];
        if (w != NULL) strain += batch->damping_stiffness * pcs_dense_dot(NDOF, state->b[a], w);
        n[a] = state->length * D[a] * strain;
    }
}

static inline void exact_momentum(const exact_cell *cell, const double w[NDOF], double p[NDOF])
{
    for (int k = 0; k < 3; k++) {
        const pcs_beam_shares *shares = k < 2 ? &cell->mass_shares : &cell->inertia_shares;
        double whole = k < 2 ? cell->mass : cell->inertia;
        p[k] = whole * (shares->first * w[k] + shares->cross * w[3 + k]);
        p[3 + k] = whole * (shares->cross * w[k] + shares->last * w[3 + k]);
    }
}

// Computes internal and damping force of a cell, as forces on the body.
static inline void exact_force(const pcs_batch *batch, int cell, const pcs_cell_state *at, double f[NDOF])
{
    double w[NDOF], n[NSTRAIN], drag[NDOF] = { 0 };
    bool is_damped = batch->damping_stiffness != 0.0;
    exact_state state;
    exact_look(batch, cell, at, w, &state);
    exact_section(batch, cell, &state, is_damped ? w : NULL, n);
    if (batch->damping_mass != 0.0) exact_momentum(exact_cell_of(batch, cell), w, drag);
    for (int i = 0; i < NDOF; i++)
        f[i] = -(n[0] * state.b[0][i] + n[1] * state.b[1][i] + n[2] * state.b[2][i] + batch->damping_mass * drag[i]);
}

static void exact_add_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    pcs_cell_add_force(batch, NDOF, exact_force, at, f);
}

// Adds the second derivatives of strain `a`, times w, to x.
static inline void exact_hessian(const exact_state *state, int a, const double w[NDOF], double x[NDOF])
{
    double c = state->c, s = state->s, l = state->inverse;
    double along = a == 0 ? -s : -c, across = a == 0 ? c : -s,
           factor = a == 0 ? 1.0 + state->strain[0] : state->strain[1];
    double rx = (w[3] - w[0]) * l, ry = (w[4] - w[1]) * l, rt = 0.5 * (w[2] + w[5]);
    double hx = along * rt * l, hy = across * rt * l, ht = 0.5 * (along * rx + across * ry - factor * rt);
    for (int i = 0; i < 2; i++) {
        double sign = i == 0 ? -1.0 : 1.0;
        x[3 * i] += sign * hx;
        x[3 * i + 1] += sign * hy;
        x[3 * i + 2] += ht;
    }
}

// Computes K = L sum D b b^T + n (second derivatives of the strains); only the upper triangle.
static inline void exact_stiffness(const double D[NSTRAIN], const exact_state *state, const double n[NSTRAIN],
                                   double K[NDOF * NDOF])
{
    double l = state->inverse, c = state->c, s = state->s;
    double gx = 0.5 * l * (-n[0] * s - n[1] * c), gy = 0.5 * l * (n[0] * c - n[1] * s);
    double gt = -0.25 * (n[0] * (1.0 + state->strain[0]) + n[1] * state->strain[1]);
    for (int i = 0; i < NDOF; i++) {
        double d[NSTRAIN];
        for (int a = 0; a < NSTRAIN; a++) d[a] = state->length * D[a] * state->b[a][i];
        for (int j = i; j < NDOF; j++)
            K[i * NDOF + j] = d[0] * state->b[0][j] + d[1] * state->b[1][j] + d[2] * state->b[2][j];
    }
    K[0 * NDOF + 2] -= gx;
    K[0 * NDOF + 5] -= gx;
    K[2 * NDOF + 3] += gx;
    K[3 * NDOF + 5] += gx;
    K[1 * NDOF + 2] -= gy;
    K[1 * NDOF + 5] -= gy;
    K[2 * NDOF + 4] += gy;
    K[4 * NDOF + 5] += gy;
    K[2 * NDOF + 2] += gt;
    K[2 * NDOF + 5] += gt;
    K[5 * NDOF + 5] += gt;
}

static inline void exact_mirror(double A[NDOF * NDOF])
{
    for (int i = 1; i < NDOF; i++)
        for (int j = 0; j < i; j++) A[i * NDOF + j] = A[j * NDOF + i];
}

static void exact_mass(const exact_cell *cell, double factor, double M[NDOF * NDOF])
{
    for (int k = 0; k < 3; k++) {
        const pcs_beam_shares *shares = k < 2 ? &cell->mass_shares : &cell->inertia_shares;
        double whole = factor * (k < 2 ? cell->mass : cell->inertia);
        M[k * NDOF + k] += whole * shares->first;
        M[(3 + k) * NDOF + 3 + k] += whole * shares->last;
        M[k * NDOF + 3 + k] += whole * shares->cross;
        M[(3 + k) * NDOF + k] += whole * shares->cross;
    }
}

// Adds stiffness damping: beta L D b b^T to C, and to K the change of the strain rates with q.
static void exact_damping(const pcs_batch *batch, int cell, const exact_state *state, const double w[NDOF],
                          double K[NDOF * NDOF], double *C)
{
    const double *D = exact_cell_of(batch, cell)->D;
    for (int a = 0; a < NSTRAIN; a++) {
        double change[NDOF] = { 0 }, d = batch->damping_stiffness * state->length * D[a];
        if (a < 2) exact_hessian(state, a, w, change);
        for (int i = 0; i < NDOF; i++)
            for (int j = 0; j < NDOF; j++) K[i * NDOF + j] += d * state->b[a][i] * change[j];
        if (C == NULL) continue;
        for (int i = 0; i < NDOF; i++)
            for (int j = 0; j < NDOF; j++) C[i * NDOF + j] += d * state->b[a][i] * state->b[a][j];
    }
}

static void exact_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C)
{
    bool is_damped = batch->damping_stiffness != 0.0;
    double x[NDOF], w[NDOF], n[NSTRAIN];
    exact_state state;
    if (M != NULL) {
        memset(M, 0, NDOF * NDOF * sizeof *M);
        exact_mass(exact_cell_of(batch, cell), 1.0, M);
    }
    if (K == NULL) return;
    pcs_cell_look_or_rest(batch, cell, NDOF, at, x, w);
    exact_deform(exact_cell_of(batch, cell), x, &state);
    exact_section(batch, cell, &state, is_damped ? w : NULL, n);
    exact_stiffness(exact_cell_of(batch, cell)->D, &state, n, K);
    exact_mirror(K);
    if (C != NULL) memset(C, 0, NDOF * NDOF * sizeof *C);
    if (is_damped) exact_damping(batch, cell, &state, w, K, C);
    if (C != NULL) exact_mass(exact_cell_of(batch, cell), batch->damping_mass, C);
}

static double exact_strain_energy(const double D[NSTRAIN], const exact_state *state)
{
    double sum = 0.0;
    for (int a = 0; a < NSTRAIN; a++) sum += D[a] * state->strain[a] * state->strain[a];
    return 0.5 * state->length * sum;
}

static void exact_add_power(const pcs_batch *batch, int cell, const pcs_cell_state *at, const double w[NDOF],
                            const exact_state *state, pcs_cell_sums *sum)
{
    const double *D = exact_cell_of(batch, cell)->D;
    double along[NDOF], p[NDOF];
    pcs_cell_gather(batch->equation + (size_t)cell * NDOF, NDOF, at->along, along);
    exact_momentum(exact_cell_of(batch, cell), w, p);
    sum->power += batch->damping_mass * pcs_dense_dot(NDOF, along, p);
    for (int a = 0; a < NSTRAIN; a++) {
        double rate = pcs_dense_dot(NDOF, state->b[a], w);
        sum->power += batch->damping_stiffness * state->length * D[a] * rate * pcs_dense_dot(NDOF, state->b[a], along);
    }
}

static void exact_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    if (batch->damping_mass == 0.0 && batch->damping_stiffness == 0.0) what &= ~(unsigned)PCS_CELL_POWER;
    if (what & PCS_CELL_RESULTANT) pcs_cell_add_resultant(batch, &exact_shape, exact_force, at, sum);
    for (int i = 0; i < batch->ncell && (what & (PCS_CELL_ENERGY | PCS_CELL_POWER)); i++) {
        double w[NDOF], p[NDOF];
        exact_state state;
        exact_look(batch, i, at, w, &state);
        if (what & PCS_CELL_POWER) exact_add_power(batch, i, at, w, &state, sum);
        if (!(what & PCS_CELL_ENERGY)) continue;
        exact_momentum(exact_cell_of(batch, i), w, p);
        sum->strain += exact_strain_energy(exact_cell_of(batch, i)->D, &state);
        sum->kinetic += 0.5 * pcs_dense_dot(NDOF, w, p);
        pcs_cell_add_momentum(&exact_shape, batch->equation + (size_t)i * NDOF, p, sum);
    }
}

// Evaluates elastic section forces along and across the rotated section; end moments are those on the nodes.
static void exact_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                              double field[PCS_MAX_CELL_FIELDS])
{
    double w[NDOF], n[NSTRAIN], moment[2];
    exact_state state;
    exact_look(batch, cell, at, w, &state);
    exact_section(batch, cell, &state, NULL, n);
    for (int i = 0; i < 2; i++) {
        moment[i] = 0.0;
        for (int a = 0; a < NSTRAIN; a++) moment[i] += (i == 0 ? -1.0 : 1.0) * n[a] * state.b[a][3 * i + 2];
    }
    field[0] = n[0] * state.inverse;
    field[1] = n[1] * state.inverse;
    field[2] = moment[0];
    field[3] = moment[1];
    field[4] = field[0] / pcs_taper_section(batch, cell)->area;
    field[5] = pcs_taper_stress(batch, batch->cells[cell], moment, NULL);
    field[6] = exact_strain_energy(exact_cell_of(batch, cell)->D, &state);
}

const pcs_element_ops pcs_element_beam_exact_2d = {
    .name = "beam_exact_2d",
    .summary = "geometrically exact Timoshenko beam in the x-y plane; x, y and the angle about z at each node",
    .options = pcs_beam_plane_options,
    PCS_BEAM_SECTION,
    .nnode = 2,
    .ndof = NDOF,
    .is_nonlinear = true,
    .fields = pcs_beam_plane_fields,
    .node_dofs = exact_node_dofs,
    .setup = exact_setup,
    .matrices = exact_matrices,
    .force = exact_add_force,
    .measure = exact_measure,
    .read_fields = exact_read_fields,
};
