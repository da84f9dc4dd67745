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

typedef struct exact_cell {
    double length, inverse; // L and 1/L
    double c, s;            // direction of the chord in the reference state
} exact_cell;

// Holds stiffnesses and inertias of the section of a cell.
typedef struct exact_profile {
    double D[NSTRAIN];             // E A, G A ky, E I
    double line_mass;              // rho A
    double line_inertia;           // rho I
    pcs_beam_shares mass, inertia; // of the nodes: 1/3, 1/6, 1/3, or 1/2, 0, 1/2 in a section that does not vary
} exact_profile;

typedef struct exact_data {
    const exact_cell *cells;       // [ncell]
    const exact_profile *profiles; // [ncell], or one for all
    int stride;                    // 1, or 0 when one is for all
} exact_data;

static inline const exact_profile *exact_profile_of(const exact_data *data, int cell)
{
    return &data->profiles[cell * data->stride];
}

// Strains of a cell and their gradients.
typedef struct exact_state {
    double length, inverse, c, s;
    double strain[NSTRAIN];
    double b[NSTRAIN][NDOF];
} exact_state;

static pcs_status exact_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    (void)local_node;
    PCS_TRY(pcs_beam_plane_dofs(ctx, batch, cell, out));
    out->is_finite = true;
    return PCS_OK;
}

static exact_profile exact_make_profile(const pcs_batch *batch, int cell)
{
    const pcs_beam_params *p = batch->params;
    const pcs_section *s = pcs_taper_section(batch, cell);
    double G = 0.5 * p->E / (1.0 + p->nu);
    return (exact_profile){ .D = { p->E * s->area, G * s->area * s->ky, p->E * s->Iz },
                            .line_mass = p->rho * s->area,
                            .line_inertia = p->rho * s->Iz,
                            .mass = pcs_beam_find_shares(batch, cell, PCS_BEAM_AREA),
                            .inertia = pcs_beam_find_shares(batch, cell, PCS_BEAM_IZ) };
}

static pcs_status exact_setup(pcs_context *ctx, pcs_batch *batch)
{
    exact_data *data;
    exact_cell *cells;
    exact_profile *profiles;
    int nprofile = batch->tapers == NULL && batch->ncell > 0 ? 1 : batch->ncell;
    PCS_TAKE(ctx, data, 1, "beam cells");
    PCS_TAKE(ctx, cells, batch->ncell, "beam cells");
    PCS_TAKE(ctx, profiles, nprofile, "sections of beam cells");
    for (int i = 0; i < nprofile; i++) profiles[i] = exact_make_profile(batch, i);
    for (int i = 0; i < batch->ncell; i++) {
        double axis[2], length = pcs_beam_plane_axis(batch, i, axis);
        cells[i] = (exact_cell){ .length = length, .inverse = 1.0 / length, .c = axis[0], .s = axis[1] };
    }
    *data = (exact_data){ .cells = cells, .profiles = profiles, .stride = batch->tapers == NULL ? 0 : 1 };
    batch->data = data;
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

// State of a cell of the batch and velocities of its dofs.
static inline void exact_look(const pcs_batch *batch, int cell, const double *q, const double *v, double w[NDOF],
                              exact_state *state)
{
    const int *equation = batch->equation + (size_t)cell * NDOF;
    double x[NDOF];
    pcs_cell_gather(equation, NDOF, q, x);
    pcs_cell_gather(equation, NDOF, v, w);
    exact_deform(&((const exact_data *)batch->data)->cells[cell], x, state);
}

// Section forces times L, those of the damping included when w is not NULL.
static inline void exact_section(const pcs_batch *batch, int cell, const exact_state *state, const double *w,
                                 double n[NSTRAIN])
{
    const double *D = exact_profile_of(batch->data, cell)->D;
    for (int a = 0; a < NSTRAIN; a++) {
        double strain = state->strain[a];
        if (w != NULL) strain += batch->damping_stiffness * pcs_dense_dot(NDOF, state->b[a], w);
        n[a] = state->length * D[a] * strain;
    }
}

static inline void exact_momentum(const exact_data *data, int cell, const double w[NDOF], double p[NDOF])
{
    const exact_profile *profile = exact_profile_of(data, cell);
    double mass = profile->line_mass * data->cells[cell].length;
    double inertia = profile->line_inertia * data->cells[cell].length;
    for (int k = 0; k < 3; k++) {
        const pcs_beam_shares *shares = k < 2 ? &profile->mass : &profile->inertia;
        double whole = k < 2 ? mass : inertia;
        p[k] = whole * (shares->first * w[k] + shares->cross * w[3 + k]);
        p[3 + k] = whole * (shares->cross * w[k] + shares->last * w[3 + k]);
    }
}

// Internal and damping force of a cell, as forces on the body.
static inline void exact_force(const pcs_batch *batch, int cell, const double *q, const double *v, double f[NDOF])
{
    const exact_data *data = batch->data;
    double w[NDOF], n[NSTRAIN], drag[NDOF] = { 0 };
    bool is_damped = batch->damping_stiffness != 0.0;
    exact_state state;
    exact_look(batch, cell, q, v, w, &state);
    exact_section(batch, cell, &state, is_damped ? w : NULL, n);
    if (batch->damping_mass != 0.0) exact_momentum(data, cell, w, drag);
    for (int i = 0; i < NDOF; i++)
        f[i] = -(n[0] * state.b[0][i] + n[1] * state.b[1][i] + n[2] * state.b[2][i] + batch->damping_mass * drag[i]);
}

static void exact_add_force(const pcs_batch *batch, const double *q, const double *v, double *f)
{
    pcs_cell_add_force(batch, NDOF, exact_force, q, v, f);
}

// x += the second derivatives of strain `a` times w.
static inline void exact_hessian(const exact_state *state, int a, const double w[NDOF], double x[NDOF])
{
    double c = state->c, s = state->s, l = state->inverse;
    double along = a == 0 ? -s : -c, across = a == 0 ? c : -s,
           turn = a == 0 ? 1.0 + state->strain[0] : state->strain[1];
    double rx = (w[3] - w[0]) * l, ry = (w[4] - w[1]) * l, rt = 0.5 * (w[2] + w[5]);
    double hx = along * rt * l, hy = across * rt * l, ht = 0.5 * (along * rx + across * ry - turn * rt);
    for (int i = 0; i < 2; i++) {
        double sign = i == 0 ? -1.0 : 1.0;
        x[3 * i] += sign * hx;
        x[3 * i + 1] += sign * hy;
        x[3 * i + 2] += ht;
    }
}

// K = L sum D b b^T + n (second derivatives of the strains); only the upper triangle.
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

static void exact_mass(const exact_data *data, int cell, double factor, double M[NDOF * NDOF])
{
    const exact_profile *profile = exact_profile_of(data, cell);
    for (int k = 0; k < 3; k++) {
        const pcs_beam_shares *shares = k < 2 ? &profile->mass : &profile->inertia;
        double whole = factor * data->cells[cell].length * (k < 2 ? profile->line_mass : profile->line_inertia);
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
    const double *D = exact_profile_of(batch->data, cell)->D;
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

static void exact_tangents(const pcs_batch *batch, int cell, const double *q, const double *v, double *K, double *C)
{
    const exact_data *data = batch->data;
    bool is_damped = batch->damping_stiffness != 0.0;
    double w[NDOF], n[NSTRAIN];
    exact_state state;
    exact_look(batch, cell, q, v, w, &state);
    exact_section(batch, cell, &state, is_damped ? w : NULL, n);
    exact_stiffness(exact_profile_of(data, cell)->D, &state, n, K);
    exact_mirror(K);
    if (C != NULL) memset(C, 0, NDOF * NDOF * sizeof *C);
    if (is_damped) exact_damping(batch, cell, &state, w, K, C);
    if (C != NULL) exact_mass(data, cell, batch->damping_mass, C);
}

static void exact_matrices(const pcs_batch *batch, int cell, double *M, double *K)
{
    const exact_data *data = batch->data;
    const double rest[NDOF] = { 0 }, none[NSTRAIN] = { 0 };
    exact_state state;
    memset(M, 0, NDOF * NDOF * sizeof *M);
    exact_mass(data, cell, 1.0, M);
    exact_deform(&data->cells[cell], rest, &state);
    exact_stiffness(exact_profile_of(data, cell)->D, &state, none, K);
    exact_mirror(K);
}

static double exact_dissipation(const pcs_batch *batch, const double *q, const double *v, const double *u)
{
    const exact_data *data = batch->data;
    double power = 0.0;
    if (batch->damping_mass == 0.0 && batch->damping_stiffness == 0.0) return 0.0;
    for (int i = 0; i < batch->ncell; i++) {
        const double *D = exact_profile_of(data, i)->D;
        double w[NDOF], along[NDOF], p[NDOF];
        exact_state state;
        exact_look(batch, i, q, v, w, &state);
        pcs_cell_gather(batch->equation + (size_t)i * NDOF, NDOF, u, along);
        exact_momentum(data, i, w, p);
        power += batch->damping_mass * pcs_dense_dot(NDOF, along, p);
        for (int a = 0; a < NSTRAIN; a++) {
            double rate = pcs_dense_dot(NDOF, state.b[a], w);
            power += batch->damping_stiffness * state.length * D[a] * rate * pcs_dense_dot(NDOF, state.b[a], along);
        }
    }
    return power;
}

static double exact_strain_energy(const double D[NSTRAIN], const exact_state *state)
{
    double sum = 0.0;
    for (int a = 0; a < NSTRAIN; a++) sum += D[a] * state->strain[a] * state->strain[a];
    return 0.5 * state->length * sum;
}

static void exact_add_energy(const pcs_batch *batch, const double *q, const double *v, pcs_energy *sum)
{
    const exact_data *data = batch->data;
    for (int i = 0; i < batch->ncell; i++) {
        double w[NDOF], p[NDOF];
        exact_state state;
        exact_look(batch, i, q, v, w, &state);
        exact_momentum(data, i, w, p);
        sum->strain += exact_strain_energy(exact_profile_of(data, i)->D, &state);
        sum->kinetic += 0.5 * pcs_dense_dot(NDOF, w, p);
        pcs_cell_add_momentum(&exact_shape, batch->equation + (size_t)i * NDOF, p, sum);
    }
}

static void exact_add_resultant(const pcs_batch *batch, const double *q, const double *v, double sum[3])
{
    pcs_cell_add_resultant(batch, &exact_shape, exact_force, q, v, sum);
}

// Elastic section forces along and across the turned section; the moments at the ends are those on the nodes.
static void exact_read_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                              double field[PCS_MAX_CELL_FIELDS])
{
    (void)v;
    const exact_data *data = batch->data;
    double x[NDOF], n[NSTRAIN], moment[2];
    exact_state state;
    pcs_cell_gather(batch->equation + (size_t)cell * NDOF, NDOF, q, x);
    exact_deform(&data->cells[cell], x, &state);
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
    field[6] = exact_strain_energy(exact_profile_of(data, cell)->D, &state);
}

const pcs_element_ops pcs_element_beam_exact_2d = {
    .name = "beam_exact_2d",
    .summary = "geometrically exact Timoshenko beam in the x-y plane; x, y and the angle about z at each node",
    .options = pcs_beam_plane_options,
    PCS_BEAM_SECTION,
    .ndof = NDOF,
    .is_nonlinear = true,
    .fields = pcs_beam_plane_fields,
    .node_dofs = exact_node_dofs,
    .setup = exact_setup,
    .matrices = exact_matrices,
    .add_force = exact_add_force,
    .tangents = exact_tangents,
    .dissipation = exact_dissipation,
    .add_energy = exact_add_energy,
    .add_resultant = exact_add_resultant,
    .read_fields = exact_read_fields,
};
