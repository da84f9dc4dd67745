// What every element promises, looped over the table of elements and over each choice that an element offers.

#include "core/rotation.h"
#include "fe/fe.h"
#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NCELL = 11, NWAY = 3 };

static const double ways[NWAY][2][3] = {
    { { 0, 0, 0 }, { 3, 0, 0 } },  // along the numbering
    { { 3, 0, 0 }, { 0, 0, 0 } },  // against it
    { { 1, 1, 1 }, { 3, -1, 2 } }, // across space
};

typedef struct variant {
    const pcs_element_ops *ops;
    char values[512]; // of its parameters
    int way;
    bool is_held; // some nodes in the middle and at one end
    bool is_damped;
    int taper; // 0: none, 1: linear, 2: in a step
} variant;

// How many directions the nodes move in.
static int dimension_of(const variant *c)
{
    if (strstr(c->values, "in=line") != NULL) return 1;
    return strstr(c->ops->name, "2d") != NULL || strstr(c->values, "in=plane") != NULL ? 2 : 3;
}

// The way of the variant, within the directions it has.
static void ends_of(const variant *c, double ends[2][3])
{
    memcpy(ends, ways[c->way], 6 * sizeof(double));
    for (int k = dimension_of(c); k < 3; k++) ends[0][k] = ends[1][k] = 0.0;
}

// Cells of one node, where the element wants such.
static void shorten_cells(const pcs_element_ops *ops, model *m)
{
    for (int i = 0; i < NCELL && ops->is_one_node; i++) m->mesh->cell[i][1] = m->mesh->cell[i][0];
}

static model *build(const variant *c)
{
    model *m = model_create();
    double ends[2][3];
    ends_of(c, ends);
    model_line(m, "bar", ends[0], ends[1], NCELL);
    shorten_cells(c->ops, m);
    pcs_fe_group *group = model_group(m, c->ops->name, "bar", c->values);
    const double span[3] = { ends[1][0] - ends[0][0], ends[1][1] - ends[0][1], ends[1][2] - ends[0][2] };
    if (c->taper != 0) model_taper(m, group, pcs_norm3(span), c->taper == 2);
    if (c->is_damped) {
        group->damping_mass = 0.4;
        m->definition.damping_stiffness = 0.02;
    }
    if (c->is_held && c->way < 2) {
        CHECK_OK(m->ctx, pcs_mesh_add_node_range(m->mesh, "held", 5, 1));
        model_support(m, "held", "x");
        model_support(m, "bar.start", "x");
    }
    model_build(m);
    return m;
}

static bool has_option(const pcs_element_ops *ops, const char *name)
{
    for (const pcs_option *o = ops->options; o->name != NULL; o++)
        if (strcmp(o->name, name) == 0) return true;
    return false;
}

// Every situation of a choice: lying in every way, free and held, damped and not, with sections that vary; and with
// kernels that other parameters ask for, as points at arms from the nodes.
static void for_every_situation(const variant *choice, void (*check)(const variant *c, model *m))
{
    bool has_section = choice->ops->has_section || choice->ops->area != NULL;
    bool may_have_arms = has_option(choice->ops, "offset_a") && dimension_of(choice) > 1;
    int count = (has_section ? 6 : 4) * NWAY;
    for (int situation = 0; situation < (may_have_arms ? 2 : 1) * count; situation++) {
        variant c = *choice;
        const char *arms = dimension_of(choice) == 2 ? " offset_a=0.04,0.1,0" : " offset_a=0.04,0.1,-0.05";
        const char *more = has_option(choice->ops, "rest") ? " offset_b=-0.06,0.07,0" : ""; // bushings have one point
        if (situation >= count) strcat(strcat(c.values, arms), more);
        c.way = situation % NWAY;
        c.is_held = situation % count / NWAY & 1;
        c.is_damped = situation % count / NWAY & 2;
        c.taper = situation % count < 4 * NWAY ? 0 : situation % count / NWAY - 3;
        if (c.taper > 0) c.is_damped = true;
        model *m = build(&c);
        c.ops = pcs_fe_batch(m->system, 0)->ops;
        check(&c, m);
        model_destroy(&m);
    }
}

// Parameters of all elements and one choice; in the plane without what leaves it.
static void give_values(variant *c, const char *choice)
{
    bool is_flat = strstr(choice, "in=plane") != NULL;
    snprintf(c->values, sizeof c->values,
             "nu=0.3 orientation=0.1,0.9,0.4 offset=%s speed=7 inertia=0.4,0.7,0.7 axis=1,0,0 stiffness=%s damper=%s "
             "yield_stress=1.3 tangent_modulus=0.4 kinematic=0.3 relaxed_modulus=0.5 torsional_stiffness=%s "
             "torsional_damper=%s %s",
             is_flat ? "0.1,0.2,0" : "0.1,0.2,0.3", is_flat ? "3,4,0" : "3,4,5", is_flat ? "0.3,0.4,0" : "0.3,0.4,0.2",
             is_flat ? "0,0,2" : "3,1,2", is_flat ? "0,0,0.1" : "0.2,0.3,0.1", choice);
}

// Calls check for every choice of every element.
static void for_every_variant(void (*check)(const variant *c, model *m))
{
    static const char *const pairs[] = { "in=plane angles=finite", "in=space angles=finite" };
    for (int e = 0; pcs_elements[e] != NULL; e++) {
        variant c = { .ops = pcs_elements[e] };
        for (int i = -1; i < 0 || c.ops->options[i].name != NULL; i++) {
            const pcs_option *option = i < 0 ? NULL : &c.ops->options[i];
            if (option != NULL && option->kind != PCS_OPTION_CHOICE) continue;
            for (int k = 0; option == NULL ? k < 1 : option->choices[k] != NULL; k++) {
                char choice[64];
                snprintf(choice, sizeof choice, "%s=%s", option == NULL ? "none" : option->name,
                         option == NULL ? "none" : option->choices[k]);
                give_values(&c, choice);
                for_every_situation(&c, check);
            }
        }
        for (int i = 0; i < 2 && has_option(c.ops, "angles"); i++) {
            give_values(&c, pairs[i]);
            for_every_situation(&c, check);
        }
    }
}

static const pcs_batch *batch_of(const model *m)
{
    return pcs_fe_batch(m->system, 0);
}

static double largest(int n, const double *x)
{
    double size = 0.0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
    return size;
}

static double quadratic(const pcs_matrix *A, const double *x)
{
    double y[MODEL_MAX_SIZE] = { 0 }, sum = 0.0;
    if (A == NULL) return 0.0;
    pcs_matrix_multiply(A, x, y);
    for (int i = 0; i < A->pattern->n; i++) sum += x[i] * y[i];
    return sum;
}

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
    CHECK(m->system->has_damping == (c->is_damped || c->ops->sees_velocity));
    CHECK(m->system->has_damping == (m->system->C != NULL));
    if (c->ops->is_nonlinear) m->system->ops->update_tangents(m->system, 0.0, zero, zero);
    if (m->system->C != NULL) pcs_matrix_add_multiply(m->system->C, -1.0, v, wanted);
    c->ops->add_force(batch_of(m), q, v, f);
    CHECK_ALL_NEAR(n, f, wanted, noise * (size + pcs_matrix_abs_bound(m->system->K, q)));
}

static void force_is_what_the_matrices_say(void **state)
{
    (void)state;
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
    if (system->has_rotations) system->ops->retract(system, q, x, out);
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
    c->ops->add_force(batch_of(m), q, v, f);
    const double step = 1e-3, noise = c->ops->is_nonlinear ? 1e-9 : 1e-11;
    for (int trial = 0; trial < 5; trial++) {
        double work = 0.0, slope = 0.0, energy = 0.0;
        model_randomize(&seed, n, d);
        for (int i = 0; i < n; i++) work += f[i] * d[i];
        for (int k = -2; k <= 2; k++) {
            pcs_energy sum = { 0 };
            double moved[MODEL_MAX_SIZE];
            move(m, q, k * step, d, moved);
            c->ops->add_energy(batch_of(m), moved, v, &sum);
            if (c->ops->ninternal > 0) sum.strain += c->ops->internal_loss(batch_of(m), moved);
            slope += difference[k + 2] * sum.strain / step;
            energy = sum.strain;
            CHECK(sum.kinetic == 0.0);
        }
        CHECK_NEAR(work, -slope, noise * energy);
    }
}

static void force_is_the_slope_of_the_energy(void **state)
{
    (void)state;
    for_every_variant(check_slope);
}

// What damping takes is what the forces on v do against the motion.
static void check_power(const variant *c, const model *m, const double *q, const double *v, double taken)
{
    double still[MODEL_MAX_SIZE] = { 0 }, moving[MODEL_MAX_SIZE] = { 0 }, zero[MODEL_MAX_SIZE] = { 0 };
    double power = 0.0, size = 1.0;
    c->ops->add_force(batch_of(m), q, zero, still);
    c->ops->add_force(batch_of(m), q, v, moving);
    for (int i = 0; i < m->system->nv; i++) {
        power += (still[i] - moving[i]) * v[i];
        size += fabs(still[i] * v[i]) + fabs(moving[i] * v[i]);
    }
    CHECK_NEAR(taken, power, 1e-13 * size);
    CHECK(taken >= -1e-14 * size);
    if (!c->is_damped && !c->ops->sees_velocity) CHECK(taken == 0.0);
}

// It has one node and a stiffness.
static bool is_mount(const variant *c)
{
    return strcmp(c->ops->name, "mount") == 0;
}

// K and C of the system are -df/dq and -df/dv at a state far from rest; the columns of K by differences.
static void check_tangents(const variant *c, model *m)
{
    if (!c->ops->is_nonlinear) return;
    unsigned long long seed = 16;
    pcs_system *system = m->system;
    int n = system->nv;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE], A[MODEL_MAX_SIZE * MODEL_MAX_SIZE];
    model_randomize(&seed, n, q);
    model_randomize(&seed, n, v);
    system->ops->update_tangents(system, 0.0, q, v);
    for (int which = 0; which < 2; which++) {
        model_dense(which == 0 ? system->K : system->C, n, A);
        double size = largest(n * n, A), step = 2e-4;
        for (int j = 0; j < n; j++) {
            double slope[MODEL_MAX_SIZE] = { 0 }, unit[MODEL_MAX_SIZE] = { 0 };
            unit[j] = 1.0;
            for (int k = -2; k <= 2; k++) {
                double x[MODEL_MAX_SIZE], w[MODEL_MAX_SIZE], f[MODEL_MAX_SIZE] = { 0 };
                move(m, q, which == 0 ? k * step : 0.0, unit, x);
                for (int i = 0; i < n; i++) w[i] = v[i] + (which == 1 ? k * step * unit[i] : 0.0);
                c->ops->add_force(batch_of(m), x, w, f);
                for (int i = 0; i < n; i++) slope[i] -= difference[k + 2] * f[i] / step;
            }
            for (int i = 0; i < n && size > 0.0; i++) CHECK_NEAR(A[i * n + j], slope[i], 1e-8 * size);
        }
        CHECK((size > 0.0) == (which == 0 ? !c->ops->is_one_node || is_mount(c) : system->has_damping));
    }
    double power = quadratic(system->C, v), taken = system->ops->damping_power(system, q, v);
    if (!c->ops->sees_velocity) CHECK_NEAR(taken, power, 1e-12 * (1.0 + power));
    check_power(c, m, q, v, taken);
}

static void tangents_are_the_slope_of_the_force(void **state)
{
    (void)state;
    for_every_variant(check_tangents);
}

// u = t + w x X, and w along a rotation, for each of the six motions of a body.
static void rigid_motion(const model *m, int motion, double *q)
{
    const pcs_dofmap *map = pcs_fe_dofmap(m->system);
    for (int i = 0; i < map->ndof; i++) {
        const pcs_dof *d = &map->dof[i];
        const double *x = m->mesh->x[d->node];
        double t[3] = { 0 }, w[3] = { 0 };
        (motion < 3 ? t : w)[motion % 3] = 1.0;
        double u[3] = { t[0] + w[1] * x[2] - w[2] * x[1], t[1] + w[2] * x[0] - w[0] * x[2],
                        t[2] + w[0] * x[1] - w[1] * x[0] };
        const double *along = d->is_rotation ? w : u;
        if (d->equation < 0) continue;
        q[d->equation] = along[0] * d->direction[0] + along[1] * d->direction[1] + along[2] * d->direction[2];
    }
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

static void check_large_rigid(const variant *c, model *m)
{
    for (int motion = 0; motion < 3; motion++) {
        double q[MODEL_MAX_SIZE] = { 0 }, v[MODEL_MAX_SIZE] = { 0 }, f[MODEL_MAX_SIZE] = { 0 };
        if (!large_motion(c, m, motion, q)) continue;
        c->ops->add_force(batch_of(m), q, v, f);
        double size = pcs_matrix_abs_bound(m->system->K, q);
        CHECK(largest(m->system->nv, f) <= 1e-13 * size);
        pcs_energy sum = { 0 };
        c->ops->add_energy(batch_of(m), q, v, &sum);
        CHECK(sum.strain >= 0.0 && sum.strain <= 1e-26 * size * m->system->nv * largest(m->system->nv, q));
    }
}

static bool turns_little(const model *m)
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
    if ((c->is_held && c->way < 2) || is_mount(c)) return;
    if (c->ops->is_nonlinear && c->ops->ninternal == 0 && !turns_little(m)) {
        check_large_rigid(c, m);
        return;
    }
    // A line that turns in truth on nodes that turn little: free of force but for the squares of the motion.
    bool is_mixed = c->ops->is_nonlinear && c->ops->ninternal == 0;
    double noise = is_mixed ? 1e-6 : 1e-14, small = is_mixed ? 1e-7 : 1.0;
    for (int motion = 0; motion < (is_apart ? 3 : 6); motion++) {
        double q[MODEL_MAX_SIZE] = { 0 }, v[MODEL_MAX_SIZE] = { 0 }, f[MODEL_MAX_SIZE] = { 0 };
        rigid_motion(m, motion, q);
        for (int i = 0; i < m->system->nv; i++) q[i] *= small;
        c->ops->add_force(batch_of(m), q, v, f);
        double size = pcs_matrix_abs_bound(m->system->K, q);
        CHECK(largest(m->system->nv, f) <= noise * size);
        pcs_energy sum = { 0 };
        c->ops->add_energy(batch_of(m), q, v, &sum);
        CHECK(sum.strain >= 0.0 && sum.strain <= noise * noise * size * m->system->nv * largest(m->system->nv, q));
    }
}

static void rigid_motion_is_free_of_force(void **state)
{
    (void)state;
    for_every_variant(check_rigid);
}

// Smallest pivot of a symmetric elimination over the largest diagonal entry: its sign is that of the matrix.
static double smallest_pivot(int n, double *A)
{
    double smallest = INFINITY, size = 0.0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(A[i * n + i]));
    for (int k = 0; k < n; k++) {
        double pivot = A[k * n + k];
        smallest = fmin(smallest, pivot / size);
        if (fabs(pivot) <= 1e-13 * size) continue; // a rigid motion: its row is zero when it comes last
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++) A[i * n + j] -= A[i * n + k] * A[k * n + j] / pivot;
    }
    return smallest;
}

static void check_definite(const variant *c, model *m)
{
    int n = m->system->nv;
    double M[MODEL_MAX_SIZE * MODEL_MAX_SIZE], K[MODEL_MAX_SIZE * MODEL_MAX_SIZE];
    model_dense(m->system->M, n, M);
    model_dense(m->system->K, n, K);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) CHECK(M[i * n + j] == M[j * n + i] && K[i * n + j] == K[j * n + i]);
    // One-point masses do not see a sawtooth.
    double least = strstr(c->values, "mass=one_point") == NULL ? 1e-3 : -1e-13;
    if (m->system->mass > 0.0) CHECK(smallest_pivot(n, M) > least);
    else CHECK(largest(n * n, M) == 0.0); // a spring
    CHECK(smallest_pivot(n, K) > -1e-13);
}

static void matrices_are_symmetric_and_definite(void **state)
{
    (void)state;
    for_every_variant(check_definite);
}

static void check_energy(const variant *c, model *m)
{
    unsigned long long seed = 13;
    const pcs_system *system = m->system;
    int n = system->nv;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE], q1[MODEL_MAX_SIZE], v1[MODEL_MAX_SIZE];
    double dq[MODEL_MAX_SIZE], dv[MODEL_MAX_SIZE];
    model_randomize(&seed, n, q);
    model_randomize(&seed, n, v);
    model_randomize(&seed, n, q1);
    model_randomize(&seed, n, v1);
    pcs_energy sum = { .kinetic = 100.0, .strain = 200.0 }, change = { 0 };
    c->ops->add_energy(batch_of(m), q, v, &sum);
    CHECK_RELATIVE(sum.kinetic - 100.0, 0.5 * quadratic(system->M, v), 1e-12);
    if (c->ops->is_nonlinear) return;
    CHECK_RELATIVE(sum.strain - 200.0, 0.5 * quadratic(system->K, q), 1e-12);
    for (int i = 0; i < n; i++) {
        dq[i] = q1[i] - q[i];
        dv[i] = v1[i] - v[i];
    }
    c->ops->add_change(batch_of(m), q, q1, v, v1, &change);
    CHECK_RELATIVE(change.kinetic, 0.5 * quadratic(system->M, dv), 1e-13);
    CHECK_RELATIVE(change.strain, 0.5 * quadratic(system->K, dq), 1e-13);
    double power = quadratic(system->C, v);
    CHECK_NEAR(system->ops->damping_power(system, q, v), power, 1e-13 * (1.0 + power));
}

static void energies_are_quadratic_forms(void **state)
{
    (void)state;
    for_every_variant(check_energy);
}

// sum over the dofs of x_i d_i
static void by_direction(const model *m, const double *x, double out[3])
{
    const pcs_dofmap *map = pcs_fe_dofmap(m->system);
    out[0] = out[1] = out[2] = 0.0;
    for (int i = 0; i < map->ndof; i++)
        for (int k = 0; k < 3 && map->dof[i].equation >= 0 && !map->dof[i].is_rotation; k++)
            out[k] += x[map->dof[i].equation] * map->dof[i].direction[k];
}

static void check_sums(const variant *c, model *m)
{
    unsigned long long seed = 14;
    int n = m->system->nv;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE], f[MODEL_MAX_SIZE] = { 0 }, p[MODEL_MAX_SIZE], wanted[3];
    double resultant[3] = { 0 };
    model_randomize(&seed, n, q);
    model_randomize(&seed, n, v);
    c->ops->add_force(batch_of(m), q, v, f);
    c->ops->add_resultant(batch_of(m), q, v, resultant);
    by_direction(m, f, wanted);
    double size = pcs_matrix_abs_bound(m->system->K, q) + largest(n, f);
    CHECK_ALL_NEAR(3, resultant, wanted, 1e-14 * size * NCELL);

    pcs_energy sum = { 0 };
    c->ops->add_energy(batch_of(m), q, v, &sum);
    pcs_matrix_multiply(m->system->M, v, p);
    by_direction(m, p, wanted);
    for (int k = 0; k < 3; k++) CHECK_NEAR(sum.momentum[k] - sum.fixed_momentum[k], wanted[k], 1e-14 * m->system->mass);
    if (!c->is_held || c->way == 2)
        for (int k = 0; k < 3; k++) CHECK(sum.fixed_momentum[k] == 0.0);
}

static void resultant_and_momentum_are_sums(void **state)
{
    (void)state;
    for_every_variant(check_sums);
}

static double option_value(const variant *c, const model *m, const char *name)
{
    for (int i = 0; c->ops->options[i].name != NULL; i++)
        if (strcmp(c->ops->options[i].name, name) == 0)
            return *(const double *)((const char *)m->groups[0].params + c->ops->options[i].offset);
    return NAN;
}

// Flying along its own axis at 1 m/s, every bar weighs rho A L, with the mean area.
static void check_mass(const variant *c, model *m)
{
    const double grown[] = { 1.0, 1.25, 1.0 + 0.5 / 3.0 };
    double v[MODEL_MAX_SIZE] = { 0 }, along[3], length = 0.0,
           mass = option_value(c, m, "rho") * option_value(c, m, "area") * grown[c->taper];
    if (isnan(mass) || (c->is_held && c->way < 2)) return;
    double ends[2][3];
    ends_of(c, ends);
    for (int k = 0; k < 3; k++) along[k] = ends[1][k] - ends[0][k];
    for (int k = 0; k < 3; k++) length += along[k] * along[k];
    length = sqrt(length);
    for (int k = 0; k < 3; k++) {
        double part[MODEL_MAX_SIZE] = { 0 };
        rigid_motion(m, k, part);
        for (int i = 0; i < m->system->nv; i++) v[i] += part[i] * along[k] / length;
    }
    pcs_energy sum = { 0 };
    c->ops->add_energy(batch_of(m), v, v, &sum);
    CHECK_RELATIVE(2.0 * sum.kinetic, mass * length, 1e-14);
    for (int k = 0; k < 3; k++) CHECK_NEAR(sum.momentum[k], mass * along[k], 1e-14 * mass * length);
    CHECK_RELATIVE(m->system->mass, mass * length, 1e-14);
}

static void whole_mass_flies(void **state)
{
    (void)state;
    for_every_variant(check_mass);
}

static void check_fields(const variant *c, model *m)
{
    unsigned long long seed = 15;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE];
    int nfield = 0;
    model_randomize(&seed, m->system->nv, q);
    model_randomize(&seed, m->system->nv, v);
    while (c->ops->fields[nfield] != NULL) nfield++;
    CHECK(nfield >= 1 && nfield <= PCS_MAX_CELL_FIELDS);
    m->system->ops->draw(m->system, q, v, m->system->picture);
    CHECK(m->system->picture->nfield == nfield);
    for (int cell = 0; cell < NCELL; cell++) {
        double field[PCS_MAX_CELL_FIELDS];
        for (int k = 0; k < PCS_MAX_CELL_FIELDS; k++) field[k] = k < nfield ? NAN : 77.0;
        c->ops->read_fields(batch_of(m), cell, q, v, field);
        for (int k = 0; k < PCS_MAX_CELL_FIELDS; k++) CHECK(k < nfield ? isfinite(field[k]) : field[k] == 77.0);
        for (int k = 0; k < nfield; k++) {
            assert_string_equal(m->system->picture->field_names[k], c->ops->fields[k]);
            CHECK(m->system->picture->fields[k][cell] == field[k]);
        }
    }
}

static void every_field_is_read_and_drawn(void **state)
{
    (void)state;
    for_every_variant(check_fields);
}

// A cell without length, where it needs one, or with a node that is nowhere.
static void cell_that_cannot_be_is_named(void **state)
{
    (void)state;
    for (int e = 0; pcs_elements[e] != NULL; e++)
        for (int trial = 0; trial < 2; trial++) {
            const pcs_element_ops *ops = pcs_elements[e];
            if (trial == 0 && (ops->is_one_node || strcmp(ops->name, "bushing") == 0)) continue;
            model *m = model_create();
            model_line(m, "bar", ways[0][0], ways[0][1], NCELL);
            shorten_cells(ops, m);
            for (int k = 0; k < 3; k++) m->mesh->x[7][k] = trial == 0 ? m->mesh->x[6][k] : NAN;
            model_group(m, ops->name, "bar", "nu=0.3 orientation=0,1,0 inertia=1,1,1 stiffness=1,1,1");
            CHECK_STATUS(NULL, model_try_build(m), PCS_BAD_INPUT);
            CHECK_TEXT(pcs_message(m->ctx), "'bar'");
            CHECK_TEXT(pcs_message(m->ctx), ops->is_one_node ? "cell 7" : "cell 6");
            CHECK_TEXT(pcs_message(m->ctx), trial == 0 ? "length 0," : "nan");
            assert_string_equal(m->culprit, "elements.bar");
            CHECK(m->system == NULL);
            model_destroy(&m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_is_what_the_matrices_say),      cmocka_unit_test(force_is_the_slope_of_the_energy),
        cmocka_unit_test(tangents_are_the_slope_of_the_force), cmocka_unit_test(rigid_motion_is_free_of_force),
        cmocka_unit_test(matrices_are_symmetric_and_definite), cmocka_unit_test(energies_are_quadratic_forms),
        cmocka_unit_test(resultant_and_momentum_are_sums),     cmocka_unit_test(whole_mass_flies),
        cmocka_unit_test(every_field_is_read_and_drawn),       cmocka_unit_test(cell_that_cannot_be_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
