// What every element promises of its forces, looped over the table of elements and over each choice that an element
// offers: matrices, slopes of energies and forces, rigid motions.

#include "support/slopes.h"
#include "test_element_variants.h"

// A nonlinear element is linear for small displacements, up to their squares.
static void check_force(const variant *c, model *m)
{
    unsigned long long seed = 11;
    int n = m->system->nv;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE], f[MODEL_MAX_SIZE], wanted[MODEL_MAX_SIZE] = { 0 };
    double size = c->ops->is_nonlinear ? 1e-6 : 1.0, noise = c->ops->is_nonlinear ? 1e-5 : 1e-14;
    const double zero[MODEL_MAX_SIZE] = { 0 };
    model_randomize(&seed, n, q);
    model_randomize(&seed, n, v);
    model_randomize(&seed, n, f); // it is added to what is there
    for (int i = 0; i < n; i++) {
        q[i] *= size;
        v[i] *= size;
        f[i] *= size;
    }
    memcpy(wanted, f, sizeof wanted);
    pcs_matrix_add_multiply(m->system->K, -1.0, q, wanted);
    CHECK(pcs_system_is_damped(m->system) == (c->is_damped || c->ops->sees_velocity));
    CHECK(pcs_system_is_damped(m->system) == (m->system->C != NULL));
    if (c->ops->is_nonlinear) m->system->ops->update(m->system, pcs_at(0.0, zero, zero), PCS_TANGENTS, NULL);
    if (m->system->C != NULL) pcs_matrix_add_multiply(m->system->C, -1.0, v, wanted);
    c->ops->force(batch_of(m), &(pcs_cell_state){ .q = q, .v = v }, f);
    CHECK_ALL_NEAR(n, f, wanted, noise * (size + pcs_matrix_abs_bound(m->system->K, q)));
}

TEST(force_is_what_the_matrices_say)
{
    for_every_variant(check_force);
}

// q moved along d by `step`; finite rotations do not add up.
static void move(const model *m, const double *q, double step, const double *d, double *out)
{
    const pcs_system *system = m->system;
    double x[MODEL_MAX_SIZE];
    for (int i = 0; i < system->nv; i++) {
        x[i] = step * d[i];
        out[i] = q[i] + x[i];
    }
    if (system->rotations.are_somewhere) pcs_retract(&system->rotations, q, x, out);
}

// Weights of the derivative from values at -2, -1, 0, 1, 2 steps: exact to fourth order.
static const double difference[5] = { 1.0 / 12.0, -8.0 / 12.0, 0.0, 8.0 / 12.0, -1.0 / 12.0 };

// -f . d is the slope of the energy along d, that which a material loses included; differences are exact for a
// quadratic, up to round-off.
static void check_slope(const variant *c, model *m)
{
    unsigned long long seed = 12;
    int n = m->system->nv;
    double q[MODEL_MAX_SIZE], d[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE] = { 0 }, f[MODEL_MAX_SIZE] = { 0 };
    model_randomize(&seed, n, q);
    c->ops->force(batch_of(m), &(pcs_cell_state){ .q = q, .v = v }, f);
    const double step = 1e-3, noise = c->ops->is_nonlinear ? 1e-9 : 1e-11;
    for (int trial = 0; trial < 5; trial++) {
        double work = 0.0, slope = 0.0, energy = 0.0;
        model_randomize(&seed, n, d);
        for (int i = 0; i < n; i++) work += f[i] * d[i];
        for (int k = -2; k <= 2; k++) {
            pcs_cell_sums sum = { 0 };
            double moved[MODEL_MAX_SIZE];
            move(m, q, k * step, d, moved);
            c->ops->measure(batch_of(m), &(pcs_cell_state){ .q = moved, .v = v }, PCS_CELL_ENERGY | PCS_CELL_LOSS,
                            &sum);
            sum.strain += sum.loss;
            slope += difference[k + 2] * sum.strain / step;
            energy = sum.strain;
            CHECK(sum.kinetic == 0.0);
        }
        CHECK_NEAR(work, -slope, noise * energy);
    }
}

TEST(force_is_the_slope_of_the_energy)
{
    for_every_variant(check_slope);
}

// What damping takes is what the forces on v do against the motion.
static void check_power(const variant *c, const model *m, const double *q, const double *v, double taken)
{
    double still[MODEL_MAX_SIZE] = { 0 }, moving[MODEL_MAX_SIZE] = { 0 }, zero[MODEL_MAX_SIZE] = { 0 };
    double power = 0.0, size = 1.0;
    c->ops->force(batch_of(m), &(pcs_cell_state){ .q = q, .v = zero }, still);
    c->ops->force(batch_of(m), &(pcs_cell_state){ .q = q, .v = v }, moving);
    for (int i = 0; i < m->system->nv; i++) {
        power += (still[i] - moving[i]) * v[i];
        size += fabs(still[i] * v[i]) + fabs(moving[i] * v[i]);
    }
    CHECK_NEAR(taken, power, 1e-13 * size);
    CHECK(taken >= -1e-14 * size);
    if (!c->is_damped && !c->ops->sees_velocity) CHECK(taken == 0.0);
}

// And along any other velocity what those forces that change their sign with v do: gyroscopic ones are quadratic.
static void check_power_along(const variant *c, const model *m, const double *q, const double *v)
{
    unsigned long long seed = 61;
    double back[MODEL_MAX_SIZE], u[MODEL_MAX_SIZE], there[MODEL_MAX_SIZE] = { 0 }, here[MODEL_MAX_SIZE] = { 0 };
    double power = 0.0, size = 1.0;
    if (strstr(c->ops->name, "driven") != NULL) return; // its gyroscopic part is counted
    model_randomize(&seed, m->system->nv, u);
    for (int i = 0; i < m->system->nv; i++) back[i] = -v[i];
    c->ops->force(batch_of(m), &(pcs_cell_state){ .q = q, .v = back }, there);
    c->ops->force(batch_of(m), &(pcs_cell_state){ .q = q, .v = v }, here);
    for (int i = 0; i < m->system->nv; i++) {
        power += 0.5 * (there[i] - here[i]) * u[i];
        size += fabs(there[i] * u[i]) + fabs(here[i] * u[i]);
    }
    CHECK_NEAR(pcs_system_is_damped(m->system) ? pcs_system_damping_power(m->system, pcs_at(0.0, q, v), u) : 0.0, power,
               1e-13 * size);
}

// It has one node and a stiffness.
static bool is_mount(const variant *c)
{
    return strcmp(c->ops->name, "mount") == 0;
}

// K and C of the system are -df/dq and -df/dv at a state of this size.
static void check_tangents_at(const variant *c, model *m, double far)
{
    unsigned long long seed = 16;
    pcs_system *system = m->system;
    int n = system->nv;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE], A[MODEL_MAX_SIZE * MODEL_MAX_SIZE];
    model_randomize(&seed, n, q);
    model_randomize(&seed, n, v);
    for (int i = 0; i < n; i++) q[i] *= far;
    slopes_check(system, pcs_at(0.0, q, v), 2e-4, 1e-8);
    for (int which = 0; which < 2; which++) {
        model_dense(which == 0 ? system->K : system->C, n, A);
        bool is_there = which == 0 ? c->ops->nnode == 2 || is_mount(c) : pcs_system_is_damped(system);
        CHECK((check_largest(n * n, A) > 0.0) == is_there);
    }
    double power = quadratic(system->C, v), taken = pcs_system_damping_power(system, pcs_at(0.0, q, v), v);
    if (!c->ops->sees_velocity) CHECK_NEAR(taken, power, 1e-12 * (1.0 + power));
    check_power(c, m, q, v, taken);
    check_power_along(c, m, q, v);
}

// Functions of rotations change from series to closed forms at angles between 0.05 and 0.5.
static void check_tangents(const variant *c, model *m)
{
    const double sizes[] = { 1.0, 0.2, 0.02, 0.0 };
    bool may_rotate = m->system->rotations.are_somewhere && c->increment == 2 && !c->is_held;
    for (int k = 0; c->ops->is_nonlinear && k < (may_rotate ? 4 : 1); k++) check_tangents_at(c, m, sizes[k]);
}

TEST(tangents_are_the_slope_of_the_force)
{
    for_every_variant(check_tangents);
}

// A large turn about axis `motion` and a shift, with the rotations to match; false where the element lies in a plane
// and the turn leaves it.
static bool large_motion(const variant *c, const model *m, int motion, double *q)
{
    const pcs_dofmap *map = pcs_fe_dofmap(m->system);
    double p[3] = { 0 }, R[9];
    if (dimension_of(c) == 1 || (motion < 2 && dimension_of(c) == 2)) return false;
    p[motion] = 2.5;
    pcs_rotation_exp(p, R);
    for (int i = 0; i < map->ndof; i++) {
        const pcs_dof *d = &map->dof[i];
        const double *x = m->mesh->x[d->node];
        double u[3];
        pcs_rotation_apply(R, x, u);
        for (int k = 0; k < 3; k++) u[k] += 0.3 - x[k];
        q[d->equation] = pcs_dot3(d->is_rotation ? p : u, d->direction);
    }
    return true;
}

static void check_no_force(const variant *c, const model *m, const double *q, double noise)
{
    double v[MODEL_MAX_SIZE] = { 0 }, f[MODEL_MAX_SIZE] = { 0 }, size = pcs_matrix_abs_bound(m->system->K, q);
    const pcs_cell_state at = { .q = q, .v = v };
    pcs_cell_sums sum = { 0 };
    c->ops->force(batch_of(m), &at, f);
    c->ops->measure(batch_of(m), &at, PCS_CELL_ENERGY, &sum);
    CHECK(check_largest(m->system->nv, f) <= noise * size);
    CHECK(sum.strain >= 0.0 && sum.strain <= noise * noise * size * m->system->nv * check_largest(m->system->nv, q));
}

static bool rotates_little(const model *m)
{
    const pcs_dofmap *map = pcs_fe_dofmap(m->system);
    for (int i = 0; i < map->ndof; i++)
        if (map->dof[i].is_rotation && !map->dof[i].is_finite) return true;
    return false;
}

// Springs to the ground hold a body; springs along fixed axes between places apart hold it against turning.
static void check_rigid(const variant *c, model *m)
{
    bool is_apart = strcmp(c->ops->name, "bushing") == 0 && strstr(c->values, "offset_a") == NULL;
    if ((c->is_held && c->increment < 2) || is_mount(c)) return;
    bool is_large = c->ops->is_nonlinear && c->ops->ninternal == 0 && !rotates_little(m);
    for (int motion = 0; is_large && motion < 3; motion++) {
        double q[MODEL_MAX_SIZE] = { 0 };
        if (large_motion(c, m, motion, q)) check_no_force(c, m, q, 1e-13);
    }
    if (is_large) return;
    // A line that turns in truth on nodes that turn little: free of force but for the squares of the motion.
    bool is_mixed = c->ops->is_nonlinear && c->ops->ninternal == 0;
    double noise = is_mixed ? 1e-6 : 1e-14, small = is_mixed ? 1e-7 : 1.0;
    for (int motion = 0; motion < (is_apart ? 3 : 6); motion++) {
        double q[MODEL_MAX_SIZE] = { 0 };
        rigid_motion(m, motion, q);
        for (int i = 0; i < m->system->nv; i++) q[i] *= small;
        check_no_force(c, m, q, noise);
    }
}

TEST(rigid_motion_is_free_of_force)
{
    for_every_variant(check_rigid);
}
