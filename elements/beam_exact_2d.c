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
    double length, inverse;                 // L, m, and 1/L
    double c, s;                            // direction of the chord in the reference state
    double D[NSTRAIN];                      // E A, G A ky, E I
    double mass, inertia;                   // rho A L, kg, and rho I L, kg m^2
    pcs_shares mass_shares, inertia_shares; // of the nodes: 1/3, 1/6, 1/3, or 1/2, 0, 1/2 for a constant section
} exact_cell;

static inline const exact_cell *exact_cell_of(const pcs_batch *batch, int cell)
{
    return (const exact_cell *)batch->data + cell;
}

// Holds the strains of a cell and their gradients. The first two depend on u = (x2 - x1, y2 - y1, t1 + t2) alone, the
// third one on t2 - t1, with 1/L. A rotation turns the two gradients into each other: their derivatives by t1 or t2 are
// b2/2 and -b1/2.
typedef struct exact_state {
    double inverse;         // 1/L
    double strain[NSTRAIN]; // G1, G2, k
    double b[2][3];         // of G1 and G2 by u
} exact_state;

static pcs_status exact_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    PCS_TRY(pcs_beam_plane_dofs(ctx, batch, cell, local_node, out));
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

static inline void exact_find_span(const double q[NDOF], double u[3])
{
    u[0] = q[3] - q[0];
    u[1] = q[4] - q[1];
    u[2] = q[2] + q[5];
}

static inline void exact_deform(const exact_cell *cell, const double q[NDOF], exact_state *out)
{
    // cos t - 1 through the half angle: no cancellation for small turns
    double u[3];
    exact_find_span(q, u);
    double quarter = 0.25 * u[2], sh = sin(quarter), ch = cos(quarter);
    double drop = -2.0 * sh * sh, sine = 2.0 * sh * ch, cosine = 1.0 + drop, l = cell->inverse;
    double c = (cell->c * cosine - cell->s * sine) * l, s = (cell->s * cosine + cell->c * sine) * l;
    double G1 = c * u[0] + s * u[1] + drop, G2 = c * u[1] - s * u[0] - sine;
    *out = (exact_state){ .inverse = l,
                          .strain = { G1, G2, (q[5] - q[2]) * l },
                          .b = { { c, s, 0.5 * G2 }, { -s, c, -0.5 * (1.0 + G1) } } };
}

// Evaluates a cell of the batch, and gathers the velocities of its dofs unless w is NULL.
static inline void exact_look(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *w, exact_state *state)
{
    const int *equation = batch->equation + (size_t)cell * NDOF;
    double x[NDOF] = { 0 };
    if (at != NULL && at->q != NULL) pcs_cell_gather(equation, NDOF, at->q, x);
    exact_deform(exact_cell_of(batch, cell), x, state);
    if (w != NULL) pcs_cell_gather(equation, NDOF, at->v, w);
}

static inline void exact_find_rates(const exact_state *state, const double w[NDOF], double rate[NSTRAIN])
{
    double u[3];
    exact_find_span(w, u);
    for (int a = 0; a < 2; a++) rate[a] = pcs_dense_dot(3, state->b[a], u);
    rate[2] = (w[5] - w[2]) * state->inverse;
}

// Computes section forces times L, including damping unless w is NULL.
static inline void exact_section(const pcs_batch *batch, int cell, const exact_state *state, const double *w,
                                 double n[NSTRAIN])
{
    const exact_cell *own = exact_cell_of(batch, cell);
    double rate[NSTRAIN] = { 0 };
    if (w != NULL) exact_find_rates(state, w, rate);
    for (int a = 0; a < NSTRAIN; a++)
        n[a] = own->length * own->D[a] * (state->strain[a] + batch->damping_stiffness * rate[a]);
}

// Computes the forces on the body that section forces n cause.
static inline void exact_spread(const exact_state *state, const double n[NSTRAIN], double f[NDOF])
{
    for (int i = 0; i < 3; i++) f[i] = n[0] * state->b[0][i] + n[1] * state->b[1][i];
    f[3] = -f[0];
    f[4] = -f[1];
    f[5] = -f[2] - n[2] * state->inverse;
    f[2] = -f[2] + n[2] * state->inverse;
}

static inline void exact_momentum(const exact_cell *cell, const double w[NDOF], double p[NDOF])
{
    for (int k = 0; k < 3; k++) {
        const pcs_shares *shares = k < 2 ? &cell->mass_shares : &cell->inertia_shares;
        double whole = k < 2 ? cell->mass : cell->inertia;
        p[k] = whole * (shares->first * w[k] + shares->cross * w[3 + k]);
        p[3 + k] = whole * (shares->cross * w[k] + shares->last * w[3 + k]);
    }
}

// Computes internal and damping force of a cell, as forces on the body.
static inline void exact_force(const pcs_batch *batch, int cell, const pcs_cell_state *at, double f[NDOF])
{
    double v[NDOF], n[NSTRAIN], drag[NDOF];
    double *w = batch->damping_stiffness != 0.0 || batch->damping_mass != 0.0 ? v : NULL;
    exact_state state;
    exact_look(batch, cell, at, w, &state);
    exact_section(batch, cell, &state, w, n);
    exact_spread(&state, n, f);
    if (batch->damping_mass == 0.0) return;
    exact_momentum(exact_cell_of(batch, cell), w, drag);
    for (int i = 0; i < NDOF; i++) f[i] -= batch->damping_mass * drag[i];
}

static void exact_add_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    pcs_cell_add_force(batch, NDOF, exact_force, at, f);
}

// Computes A = factor L sum D b b^T over G1 and G2, by u.
static inline void exact_stiffen(const exact_cell *cell, double factor, const exact_state *state, double A[3][3])
{
    const double *b0 = state->b[0], *b1 = state->b[1], scale = factor * cell->length;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            A[i][j] = A[j][i] = scale * cell->D[0] * b0[i] * b0[j] + scale * cell->D[1] * b1[i] * b1[j];
}

// Adds the second derivatives of G1 and G2 times the section forces n.
static inline void exact_bend(const exact_state *state, const double n[NSTRAIN], double A[3][3])
{
    for (int i = 0; i < 3; i++) {
        double change = 0.5 * (n[0] * state->b[1][i] - n[1] * state->b[0][i]);
        A[i][2] += change;
        if (i < 2) A[2][i] += change;
    }
}

// Adds beta L D b times the derivatives of the strain rates by u.
static void exact_drag(const pcs_batch *batch, const exact_cell *cell, const exact_state *state, const double w[NDOF],
                       double A[3][3])
{
    double u[3], rate[NSTRAIN];
    exact_find_span(w, u);
    exact_find_rates(state, w, rate);
    for (int a = 0; a < 2; a++) {
        const double *other = state->b[1 - a];
        double half = (a == 0 ? 0.5 : -0.5) * batch->damping_stiffness * cell->length * cell->D[a];
        double change[3] = { other[0] * u[2], other[1] * u[2], rate[1 - a] };
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) A[i][j] += half * state->b[a][i] * change[j];
    }
}

// Computes the matrix of a cell from A by u and the stiffness against t2 - t1.
static inline void exact_place(double A[3][3], double bending, double K[NDOF * NDOF])
{
    for (int i = 0; i < NDOF; i++)
        for (int j = 0; j < NDOF; j++) K[i * NDOF + j] = (i < 2) == (j < 2) ? A[i % 3][j % 3] : -A[i % 3][j % 3];
    for (int i = 2; i < NDOF; i += 3)
        for (int j = 2; j < NDOF; j += 3) K[i * NDOF + j] += i == j ? bending : -bending;
}

static void exact_mass(const exact_cell *cell, double factor, double M[NDOF * NDOF])
{
    for (int k = 0; k < 3; k++) {
        const pcs_shares *shares = k < 2 ? &cell->mass_shares : &cell->inertia_shares;
        double whole = factor * (k < 2 ? cell->mass : cell->inertia);
        M[k * NDOF + k] += whole * shares->first;
        M[(3 + k) * NDOF + 3 + k] += whole * shares->last;
        M[k * NDOF + 3 + k] += whole * shares->cross;
        M[(3 + k) * NDOF + k] += whole * shares->cross;
    }
}

static void exact_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C)
{
    const exact_cell *own = exact_cell_of(batch, cell);
    double v[NDOF], n[NSTRAIN], A[3][3], bending = own->length * own->D[2] * own->inverse * own->inverse;
    double *w = batch->damping_stiffness != 0.0 && at != NULL && at->v != NULL ? v : NULL;
    exact_state state;
    if (M != NULL) {
        memset(M, 0, NDOF * NDOF * sizeof *M);
        exact_mass(own, 1.0, M);
    }
    if (K == NULL) return;
    exact_look(batch, cell, at, w, &state);
    exact_section(batch, cell, &state, w, n);
    exact_stiffen(own, 1.0, &state, A);
    exact_bend(&state, n, A);
    if (w != NULL) exact_drag(batch, own, &state, w, A);
    exact_place(A, bending, K);
    if (C == NULL) return;
    exact_stiffen(own, batch->damping_stiffness, &state, A);
    exact_place(A, batch->damping_stiffness * bending, C);
    exact_mass(own, batch->damping_mass, C);
}

static double exact_strain_energy(const exact_cell *cell, const exact_state *state)
{
    double sum = 0.0;
    for (int a = 0; a < NSTRAIN; a++) sum += cell->D[a] * state->strain[a] * state->strain[a];
    return 0.5 * cell->length * sum;
}

static void exact_add_power(const pcs_batch *batch, int cell, const pcs_cell_state *at, const double w[NDOF],
                            const exact_state *state, pcs_cell_sums *sum)
{
    const exact_cell *own = exact_cell_of(batch, cell);
    double along[NDOF], p[NDOF], rate[NSTRAIN], other[NSTRAIN];
    pcs_cell_gather(batch->equation + (size_t)cell * NDOF, NDOF, at->along, along);
    exact_momentum(own, w, p);
    exact_find_rates(state, w, rate);
    exact_find_rates(state, along, other);
    sum->power += batch->damping_mass * pcs_dense_dot(NDOF, along, p);
    for (int a = 0; a < NSTRAIN; a++)
        sum->power += batch->damping_stiffness * own->length * own->D[a] * rate[a] * other[a];
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
        sum->strain += exact_strain_energy(exact_cell_of(batch, i), &state);
        sum->kinetic += 0.5 * pcs_dense_dot(NDOF, w, p);
        pcs_cell_add_momentum(batch, &exact_shape, i, p, sum);
    }
}

// Evaluates elastic section forces along and across the rotated section; end moments are those on the nodes.
static void exact_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                              double field[PCS_MAX_CELL_FIELDS])
{
    double n[NSTRAIN], f[NDOF];
    exact_state state;
    exact_look(batch, cell, at, NULL, &state);
    exact_section(batch, cell, &state, NULL, n);
    exact_spread(&state, n, f);
    const double moment[2] = { f[2], -f[5] };
    field[0] = n[0] * state.inverse;
    field[1] = n[1] * state.inverse;
    field[2] = moment[0];
    field[3] = moment[1];
    field[4] = field[0] / pcs_taper_section(batch, cell)->area;
    field[5] = pcs_taper_stress(batch, batch->cells[cell], moment, NULL);
    field[6] = exact_strain_energy(exact_cell_of(batch, cell), &state);
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
