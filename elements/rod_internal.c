// Two-node rods whose material has a history: small strains e = (u2 - u1)/L, a stress s(e) that depends on their path.
//
//   force A s,   K = (A/L) ds/de [1 -1; -1 1],   M = m/6 [2 1; 1 2] or m/2 [1 0; 0 1],   m = rho A L
//   C = alpha M + beta (E A/L) [1 -1; -1 1]
//
// rod_plastic, bilinear with hardening: H = E Et/(E - Et), by which the stress rises with plastic strain p, a share c
// of it kinematic, and r = int |dp|:
//
//   s = E (e - p),   |s - c H p| <= Y + (1 - c) H r,   dp only where both are equal, along s - c H p
//
// With f = |E (e - p_n) - c H p_n| - Y - (1 - c) H r_n > 0 the path from commit n adds f/(E + H) to r, and ds/de = Et.
// On a path without reversal that is exact, and so is the plastic work int s dp, whose stress rises linearly. What a
// kinematic hardening stores is part of that work, and may come back.
//
// rod_viscoelastic, a standard linear solid: a spring Eo beside a spring E1 = E - Eo in a row with a dashpot E1 T:
//
//   s = Eo e + E1 y,   y' = e' - y/T
//
// y is the strain of the second spring. A strain that goes on linearly for the time h gives, with x = h/T,
//   y = exp(-x) y_n + g (e - e_n),   g = (1 - exp(-x))/x,   ds/de = Eo + E1 g,   loss int E1 y^2/T dt

#include "elements/rod.h"

#include <math.h>

typedef struct internal_params {
    pcs_rod_params rod; // first member, as its options use offsets from the start
    double yield_stress, tangent_modulus, kinematic;
    double relaxed_modulus, relaxation_time;
} internal_params;

static const char *const internal_masses[] = { "consistent", "lumped", NULL };
#define INTERNAL_MASS \
    PCS_CHOICE("mass", pcs_rod_params, mass, PCS_DEFAULT("consistent"), internal_masses, "mass matrix")

static const pcs_option plastic_options[] = {
    PCS_ROD_MATERIAL,
    INTERNAL_MASS,
    PCS_REAL("yield_stress", internal_params, yield_stress, PCS_REQUIRED, PCS_POSITIVE,
             "stress at which plastic strain sets in, N/m^2"),
    PCS_REAL("tangent_modulus", internal_params, tangent_modulus, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "slope of the stress-strain curve beyond it, less than E, N/m^2; 0: no hardening"),
    PCS_REAL("kinematic", internal_params, kinematic, PCS_DEFAULT("0.0"), PCS_ZERO_TO_ONE,
             "share of the hardening that is kinematic; the rest is isotropic"),
    { 0 },
};

static const pcs_option viscous_options[] = {
    PCS_ROD_MATERIAL,
    INTERNAL_MASS,
    PCS_REAL("relaxed_modulus", internal_params, relaxed_modulus, PCS_REQUIRED, PCS_NOT_NEGATIVE,
             "modulus after a long time, at most E, that at once, N/m^2"),
    PCS_REAL("relaxation_time", internal_params, relaxation_time, PCS_REQUIRED, PCS_POSITIVE,
             "time by which the stress relaxes at constant strain, s"),
    { 0 },
};

typedef struct internal_cell {
    double length, sign, area;
    double axis[3];
    double mass[2], other; // kg, M = [mass[0] other; other mass[1]]
} internal_cell;

enum { NINTERNAL = 3, WORK = 2 }; // number of internal variables; the last one is the energy lost so far, J/m^3
enum { PLASTIC_STRAIN = 0, PLASTIC_PATH = 1 };
enum { VISCOUS_STRAIN = 0, VISCOUS_SPRING = 1 };

// Holds the state at the end of an increment.
typedef struct internal_point {
    double stress, tangent; // N/m^2
    double energy, loss;    // J/m^3, stored, and lost over the increment
    double next[NINTERNAL];
} internal_point;

typedef internal_point internal_law(const internal_params *p, double strain, double elapsed, const double *from);

static internal_point internal_plastic(const internal_params *p, double strain, double elapsed, const double *from)
{
    double E = p->rod.E, H = E * p->tangent_modulus / (E - p->tangent_modulus);
    double plastic = from[PLASTIC_STRAIN], path = from[PLASTIC_PATH];
    double back = p->kinematic * H * plastic, yield = p->yield_stress + (1.0 - p->kinematic) * H * path;
    double trial = E * (strain - plastic) - back, sign = trial < 0.0 ? -1.0 : 1.0;
    double flow = fmax(0.0, (fabs(trial) - yield) / (E + H));
    internal_point x = { .tangent = flow > 0.0 ? p->tangent_modulus : E };
    x.stress = E * (strain - plastic - sign * flow);
    x.next[PLASTIC_STRAIN] = plastic + sign * flow;
    x.next[PLASTIC_PATH] = path + flow;
    x.energy = 0.5 * x.stress * x.stress / E;
    x.loss = 0.5 * (x.stress + (back + sign * yield)) * sign * flow;
    return x;
}

// Returns (1 - exp(-x))/x.
static double internal_mean_decay(double x)
{
    return x > 0.0 ? -expm1(-x) / x : 1.0;
}

// Returns int y^2 dt / T over an increment of length x in units of T, in which the strain rises by `rise`; by Gauss
// points on short increments, as the closed form cancels.
static double internal_square(double y, double rise, double x)
{
    static const double node[3] = { 0.0, 0.53846931010568309104, 0.90617984593866399280 };
    static const double weight[3] = { 0.56888888888888888889, 0.47862867049936646804, 0.23692688505618908751 };
    double sum = 0.0;
    if (x > 0.5) {
        double b = rise / x, d = y - b;
        return b * b * x - 2.0 * b * d * expm1(-x) - 0.5 * d * d * expm1(-2.0 * x);
    }
    for (int i = -2; i <= 2; i++) {
        double part = 0.5 * (1.0 + (i < 0 ? -node[-i] : node[i])), z = part * x;
        double value = exp(-z) * y + rise * part * internal_mean_decay(z);
        sum += 0.5 * weight[i < 0 ? -i : i] * value * value;
    }
    return x * sum;
}

static internal_point internal_viscous(const internal_params *p, double strain, double elapsed, const double *from)
{
    double relaxed = p->relaxed_modulus, other = p->rod.E - relaxed, x = elapsed / p->relaxation_time;
    double rise = strain - from[VISCOUS_STRAIN], decay = internal_mean_decay(x);
    double spring = exp(-x) * from[VISCOUS_SPRING] + decay * rise;
    return (internal_point){ .stress = relaxed * strain + other * spring,
                             .tangent = relaxed + other * decay,
                             .energy = 0.5 * (relaxed * strain * strain + other * spring * spring),
                             .loss = other * internal_square(from[VISCOUS_SPRING], rise, x),
                             .next = { strain, spring } };
}

static bool internal_is_plastic(const pcs_batch *batch)
{
    return batch->ops->options == plastic_options;
}

static internal_law *internal_law_of(const pcs_batch *batch)
{
    return internal_is_plastic(batch) ? internal_plastic : internal_viscous;
}

static const internal_cell *internal_cell_of(const pcs_batch *batch, int cell)
{
    return (const internal_cell *)batch->data + cell;
}

static double *internal_from(const pcs_batch *batch, int cell)
{
    return batch->internal + (size_t)cell * NINTERNAL;
}

static internal_point internal_at(const pcs_batch *batch, int cell, const pcs_cell_state *at)
{
    const internal_cell *c = internal_cell_of(batch, cell);
    double u[2];
    pcs_cell_gather(batch->equation + 2 * (size_t)cell, 2, at->q, u);
    return internal_law_of(batch)(batch->params, c->sign * (u[1] - u[0]) / c->length, at->elapsed,
                                  internal_from(batch, cell));
}

static pcs_status internal_check(pcs_context *ctx, const pcs_batch *batch)
{
    const internal_params *p = batch->params;
    bool is_plastic = internal_is_plastic(batch);
    if (is_plastic && !(p->tangent_modulus < p->rod.E))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': tangent_modulus must be < E = %g, is %g", batch->name,
                        p->rod.E, p->tangent_modulus);
    if (!is_plastic && !(p->relaxed_modulus <= p->rod.E))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': relaxed_modulus must be <= E = %g, is %g", batch->name,
                        p->rod.E, p->relaxed_modulus);
    return PCS_OK;
}

static pcs_status internal_setup(pcs_context *ctx, pcs_batch *batch)
{
    const pcs_rod_params *p = batch->params;
    internal_cell *cells;
    PCS_TRY(internal_check(ctx, batch));
    PCS_TAKE(ctx, cells, batch->ncell, "rods");
    for (int i = 0; i < batch->ncell; i++) {
        internal_cell *c = &cells[i];
        c->length = pcs_axial_axis(batch, i, c->axis, &c->sign);
        pcs_rod_cell rod = pcs_rod_find_cell(batch, i, p->mass == PCS_ROD_LUMPED);
        double m = p->rho * rod.area * c->length;
        c->area = rod.area;
        c->mass[0] = m * rod.self;
        c->mass[1] = m * rod.self_end;
        c->other = m * rod.other;
    }
    batch->data = cells;
    return PCS_OK;
}

// Returns E A/L, N/m.
static double internal_stiffness(const pcs_batch *batch, int cell)
{
    const internal_cell *c = internal_cell_of(batch, cell);
    return ((const pcs_rod_params *)batch->params)->E * c->area / c->length;
}

static void internal_fill(double first, double second, double other, double *A)
{
    A[0] = first;
    A[3] = second;
    A[1] = A[2] = other;
}

static void internal_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K,
                              double *C)
{
    const internal_cell *c = internal_cell_of(batch, cell);
    double elastic = internal_stiffness(batch, cell);
    double k = at == NULL || at->q == NULL ? elastic : internal_at(batch, cell, at).tangent * c->area / c->length;
    double alpha = batch->damping_mass, drag = batch->damping_stiffness * elastic;
    if (M != NULL) internal_fill(c->mass[0], c->mass[1], c->other, M);
    if (K != NULL) internal_fill(k, k, -k, K);
    if (C != NULL) internal_fill(alpha * c->mass[0] + drag, alpha * c->mass[1] + drag, alpha * c->other - drag, C);
}

static void internal_force(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *force)
{
    const internal_cell *c = internal_cell_of(batch, cell);
    double alpha = batch->damping_mass, w[2];
    pcs_cell_gather(batch->equation + 2 * (size_t)cell, 2, at->v, w);
    double tension = c->sign * c->area * internal_at(batch, cell, at).stress;
    tension += batch->damping_stiffness * internal_stiffness(batch, cell) * (w[1] - w[0]);
    force[0] = tension - alpha * (c->mass[0] * w[0] + c->other * w[1]);
    force[1] = -tension - alpha * (c->other * w[0] + c->mass[1] * w[1]);
}

static void internal_add_force(const pcs_batch *batch, const pcs_cell_state *at, double *f)
{
    pcs_cell_add_force(batch, 2, internal_force, at, f);
}

// Adds the power of Rayleigh's damping; the loss of the material is reported separately.
static void internal_add_power(const pcs_batch *batch, int cell, const pcs_cell_state *at, const double w[2],
                               pcs_cell_sums *sum)
{
    const internal_cell *c = internal_cell_of(batch, cell);
    double x[2];
    pcs_cell_gather(batch->equation + 2 * (size_t)cell, 2, at->along, x);
    double products = c->mass[0] * x[0] * w[0] + c->mass[1] * x[1] * w[1];
    sum->power += batch->damping_stiffness * internal_stiffness(batch, cell) * (w[1] - w[0]) * (x[1] - x[0]);
    sum->power += batch->damping_mass * (products + c->other * (x[0] * w[1] + x[1] * w[0]));
}

// Adds the forces of a cell. Without drag those at both ends of a free cell cancel.
static void internal_add_resultant(const pcs_batch *batch, int cell, const pcs_cell_state *at, pcs_cell_sums *sum)
{
    const int *equation = batch->equation + 2 * (size_t)cell;
    double force[2];
    if (batch->damping_mass == 0.0 && pcs_cell_is_free(equation, 2)) return;
    internal_force(batch, cell, at, force);
    for (int j = 0; j < 2; j++)
        if (equation[j] >= 0)
            for (int k = 0; k < 3; k++) sum->resultant[k] += force[j] * internal_cell_of(batch, cell)->axis[k];
}

static void internal_add_energy(const pcs_batch *batch, int cell, double density, const double w[2], pcs_cell_sums *sum)
{
    const internal_cell *c = internal_cell_of(batch, cell);
    const int *equation = batch->equation + 2 * (size_t)cell;
    const double p[2] = { c->mass[0] * w[0] + c->other * w[1], c->other * w[0] + c->mass[1] * w[1] };
    sum->strain += c->area * c->length * density;
    sum->kinetic += 0.5 * (p[0] * w[0] + p[1] * w[1]);
    for (int j = 0; j < 2; j++)
        for (int k = 0; k < 3; k++) {
            sum->momentum[k] += p[j] * c->axis[k];
            if (equation[j] < 0) sum->fixed_momentum[k] += p[j] * c->axis[k];
        }
}

static void internal_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum)
{
    for (int i = 0; i < batch->ncell; i++) {
        const internal_cell *c = internal_cell_of(batch, i);
        internal_point x = internal_at(batch, i, at);
        double w[2] = { 0 };
        if (at->v != NULL) pcs_cell_gather(batch->equation + 2 * (size_t)i, 2, at->v, w);
        if (what & PCS_CELL_ENERGY) internal_add_energy(batch, i, x.energy, w, sum);
        if (what & PCS_CELL_RESULTANT) internal_add_resultant(batch, i, at, sum);
        if (what & PCS_CELL_POWER) internal_add_power(batch, i, at, w, sum);
        if (what & PCS_CELL_LOSS) sum->loss += c->area * c->length * x.loss;
    }
}

static void internal_commit(const pcs_batch *batch, const pcs_cell_state *at)
{
    for (int i = 0; i < batch->ncell; i++) {
        internal_point x = internal_at(batch, i, at);
        double *from = internal_from(batch, i);
        for (int k = 0; k < WORK; k++) from[k] = x.next[k];
        from[WORK] += x.loss;
    }
}

// Evaluates the fields; the damping force is not part of the stress.
static void internal_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                                 double field[PCS_MAX_CELL_FIELDS])
{
    const internal_cell *c = internal_cell_of(batch, cell);
    internal_point x = internal_at(batch, cell, at);
    bool is_plastic = internal_is_plastic(batch);
    field[0] = c->area * x.stress;
    field[1] = x.stress;
    field[2] = c->area * c->length * x.energy;
    field[3] = is_plastic ? x.next[PLASTIC_STRAIN] : x.next[VISCOUS_STRAIN] - x.next[VISCOUS_SPRING];
    field[4] = c->area * c->length * (internal_from(batch, cell)[WORK] + x.loss);
    pcs_rod_read_ends(batch, cell, at->line_load, field[0], &c->sign, field + 5);
}

static double internal_travel_time(const pcs_batch *batch, int cell, bool is_transverse)
{
    const pcs_rod_params *p = batch->params;
    return internal_cell_of(batch, cell)->length * sqrt(p->rho / p->E);
}

static const char *const plastic_fields[] = { "axial_force",    "stress",       "strain_energy",
                                              "plastic_strain", "plastic_work", NULL };
static const char *const viscous_fields[] = { "axial_force",    "stress",       "strain_energy",
                                              "viscous_strain", "viscous_loss", NULL };

#define INTERNAL_COMMON                                                                                         \
    .params_size = sizeof(internal_params), .area = &pcs_rod_area, .nnode = 2, .ndof = 2, .is_nonlinear = true, \
    .end_fields = pcs_rod_end_fields, .ninternal = NINTERNAL, .travel_time = internal_travel_time,              \
    .node_dofs = pcs_axial_line_dofs, .setup = internal_setup, .matrices = internal_matrices,                   \
    .force = internal_add_force, .measure = internal_measure, .read_fields = internal_read_fields,              \
    .commit = internal_commit

const pcs_element_ops pcs_element_rod_plastic = {
    .name = "rod_plastic",
    .summary = "rod of bilinear elastic-plastic material with isotropic and kinematic hardening; small strains",
    .options = plastic_options,
    .fields = plastic_fields,
    INTERNAL_COMMON,
};

const pcs_element_ops pcs_element_rod_viscoelastic = {
    .name = "rod_viscoelastic",
    .summary = "rod of a standard linear solid, whose stress relaxes; small strains",
    .options = viscous_options,
    .fields = viscous_fields,
    .ages = true,
    INTERNAL_COMMON,
};
