// What every joint promises, on bodies that turn in every way: rows are derivatives of gaps, the bias is what is left
// of their second time derivative, directions declared constant stay, a joint between two bodies leaves their common
// motion alone, and a joint knows what it cannot hold.

#include "step/curvature.h"
#include "support/check.h"
#include "support/model.h"
#include "support/slopes.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A kind of body, and how its joint is stated.
typedef struct body {
    const char *element, *params;
    bool is_flat, rotates, is_linear;
} body;

static const body bodies[] = {
    { "rigid_body_2d", "mass=2 inertia=0.3", true, true, false },
    { "rigid_body_3d", "mass=2 inertia=0.3,0.4,0.5", false, true, false },
    { "point_mass", "mass=2 in=space", false, false, true },
    { "beam_timo_2d", "E=100 nu=0.3 rho=2", true, true, true },
    { "beam_timo_3d", "E=100 nu=0.3 rho=2 orientation=0,0,1", false, true, true },
};
enum { NBODY = sizeof bodies / sizeof *bodies };

static const double places[3][3] = { { 0.3, -0.2, 0.0 }, { 1.1, 0.4, 0.0 }, { 0.7, 1.3, 0.0 } };

static void add_body(model *m, const body *b, const char *name, const double x[3])
{
    if (strncmp(b->element, "beam", 4) == 0) {
        double to[3] = { x[0] + 0.5, x[1] + 0.25, x[2] };
        model_line(m, name, x, to, 1);
    } else {
        model_point(m, name, x);
    }
    model_group(m, b->element, name, b->params);
}

// Does this joint need something that the body does not have?
static bool can_hold(const pcs_source_ops *ops, const body *b)
{
    const char *const of_rotations[] = { "hinge", "fixed", "gear" };
    const char *const in_space[] = { "cylindrical", "screw", "universal" };
    for (int i = 0; i < 3; i++) {
        if (strcmp(ops->name, of_rotations[i]) == 0 && !b->rotates) return false;
        if (strcmp(ops->name, in_space[i]) == 0 && (!b->rotates || b->is_flat)) return false;
    }
    return true;
}

// The first node of a body: beams have a set for it.
static const char *node_of(const body *b, const char *name)
{
    static const char *const starts[] = { "one.start", "two.start" };
    return strncmp(b->element, "beam", 4) == 0 ? starts[strcmp(name, "two") == 0] : name;
}

// A gear on a carrier, with its pitch point between axes that are parallel.
static void state_gear(model *m, const body *b)
{
    char text[512];
    const double axis[3] = { b->is_flat ? 0.0 : 0.6, b->is_flat ? 0.0 : -0.48, b->is_flat ? 1.0 : 0.64 };
    double apart[3], at[3], along = 0.0;
    for (int k = 0; k < 3; k++) apart[k] = places[1][k] - places[0][k];
    along = pcs_dot3(apart, axis);
    for (int k = 0; k < 3; k++)
        at[k] = places[0][k] + 0.6 * (apart[k] - along * axis[k]) + (b->is_flat ? 0.0 : 0.2 * axis[k]);
    bool is_beam = strncmp(b->element, "beam", 4) == 0;
    snprintf(text, sizeof text,
             "a=%s b=%s carrier=%s teeth_a=30 teeth_b=20 axis_a=%.17g,%.17g,%.17g at=%.17g,%.17g,%.17g "
             "pressure_angle=20 flank=backward",
             node_of(b, "one"), node_of(b, "two"), is_beam ? "three.start" : "three", axis[0], axis[1], axis[2], at[0],
             at[1], at[2]);
    model_joint(m, "link", "gear", text);
}

static void state_joint(model *m, const pcs_source_ops *ops, const body *b, bool has_two)
{
    char text[512];
    const char *axis = b->is_flat ? "0.6,0.8,0" : "0.6,-0.48,0.64";
    if (strcmp(ops->name, "hinge") == 0 && b->is_flat) axis = "0,0,2";
    const char *at = b->rotates ? " at=0.9,0.1,0" : "", *one = node_of(b, "one"), *two = node_of(b, "two");
    if (strcmp(ops->name, "prescribed") == 0) {
        const char *along = has_two && b->rotates ? "rz" : "y";
        snprintf(text, sizeof text, "node=%s along=%s amplitude=0.7 frequency=0.3 phase=0.4 rise=0.9", one, along);
    } else if (strcmp(ops->name, "rigid_link") == 0) {
        snprintf(text, sizeof text, "a=%s nodes=%s", one, two);
    } else if (strcmp(ops->name, "distance") == 0) {
        if (has_two) snprintf(text, sizeof text, "a=%s b=%s%s", one, two, b->rotates ? " at_a=0.5,0.3,0.0" : "");
        else snprintf(text, sizeof text, "node=%s anchor=-1,2,0%s", one, b->rotates ? " at_b=0.5,0.3,0.0" : "");
    } else if (strcmp(ops->name, "gear") == 0) {
        if (b->is_flat) snprintf(text, sizeof text, "a=%s b=%s teeth_a=30 teeth_b=20", one, two);
        else
            snprintf(text, sizeof text, "a=%s b=%s teeth_a=30 teeth_b=20 axis_a=%s axis_b=0.8,0.6,0 internal=true", one,
                     two, axis);
    } else {
        char ends[64], extra[64] = "";
        if (has_two) snprintf(ends, sizeof ends, "a=%s b=%s", one, two);
        else snprintf(ends, sizeof ends, "node=%s", one);
        if (strcmp(ops->name, "screw") == 0) snprintf(extra, sizeof extra, " pitch=0.7");
        if (strcmp(ops->name, "universal") == 0)
            snprintf(text, sizeof text, "%s axis_a=%s axis_b=0.8,0,-0.75%s", ends, axis, at);
        else snprintf(text, sizeof text, "%s axis=%s%s%s", ends, axis, at, extra);
    }
    model_joint(m, "link", ops->name, text);
}

// NULL where the pair makes no sense.
static model *joined(const pcs_source_ops *ops, const body *b, bool has_two)
{
    if (!can_hold(ops, b)) return NULL;
    bool is_gear = strcmp(ops->name, "gear") == 0;
    if (!has_two && strcmp(ops->name, "rigid_link") == 0) return NULL;
    // Nodes that do not turn have no arms: only what keeps a distance can join two of them apart.
    bool keeps_apart = strcmp(ops->name, "distance") == 0 || strcmp(ops->name, "prescribed") == 0;
    if (has_two && !b->rotates && !keeps_apart) return NULL;
    model *m = model_create();
    add_body(m, b, "one", places[0]);
    add_body(m, b, "two", places[1]);
    if (is_gear && !has_two) {
        add_body(m, b, "three", places[2]);
        state_gear(m, b);
    } else {
        state_joint(m, ops, b, has_two);
    }
    model_build(m);
    return m;
}

static void gaps_at(pcs_system *system, const double *q, double t, double *gap)
{
    pcs_system_gaps(system, pcs_at(t, q, NULL), gap);
}

typedef void each_model(model *m, const pcs_source_ops *ops, const body *b, bool has_two);

static void for_each(each_model *check)
{
    int count = 0;
    for (int j = 0; pcs_joints[j] != NULL; j++)
        for (int k = 0; k < NBODY; k++)
            for (int two = 0; two < 2; two++) {
                model *m = joined(pcs_joints[j], &bodies[k], two == 1);
                if (m == NULL) continue;
                check(m, pcs_joints[j], &bodies[k], two == 1);
                model_destroy(&m);
                count++;
            }
    CHECK(count >= 70);
}

// Every coordinate alone, and all of them.
static void check_rows(model *m, const pcs_source_ops *ops, const body *b, bool has_two)
{
    (void)b, (void)has_two;
    pcs_system *system = m->system;
    unsigned long long seed = 9;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE];
    model_randomize(&seed, system->nv, q);
    model_randomize(&seed, system->nv, v);
    // Angles about an axis have no derivatives where the ends are perpendicular to each other.
    bool has_angle = strcmp(ops->name, "gear") == 0 || strcmp(ops->name, "screw") == 0;
    CHECK((system->row_set.ndriven > 0) == (strcmp(ops->name, "prescribed") == 0));
    for (int i = 0; i < system->nv && (has_angle || system->row_set.ndriven > 0); i++) q[i] *= 0.3;
    for (int i = 0; i < system->nv; i++) {
        double unit[MODEL_MAX_SIZE] = { 0 };
        unit[i] = 1.0;
        slopes_check_gaps(system, pcs_at(0.4, q, unit), 1e-3, 1e-10, 3e-8);
    }
    slopes_check_gaps(system, pcs_at(0.4, q, v), 1e-3, 1e-10, 3e-8);
}

TEST(rows_are_derivatives_of_gaps)
{
    for_each(check_rows);
}

// Directions that are declared constant are; where rotations add up a joint without arms leaves a linear model linear.
static void check_constant(model *m, const pcs_source_ops *ops, const body *b, bool has_two)
{
    (void)has_two;
    pcs_system *system = m->system;
    unsigned long long seed = 7;
    double q[MODEL_MAX_SIZE], before[16 * 32];
    int nnz = system->G->start[system->nrow];
    CHECK(nnz <= 16 * 32);
    memcpy(before, system->G->value, (size_t)nnz * sizeof *before);
    model_randomize(&seed, system->nv, q);
    pcs_system_aim(system, pcs_at(0.3, q, NULL));
    double change = 0.0;
    for (int i = 0; i < nnz; i++) change = fmax(change, fabs(system->G->value[i] - before[i]));
    if (!system->row_set.vary) CHECK(change == 0.0);
    else CHECK(change > 1e-3);
    bool is_distance = strcmp(ops->name, "distance") == 0;
    if (b->is_linear) CHECK(system->is_linear == !is_distance);
}

TEST(constant_directions_stay)
{
    for_each(check_constant);
}

// A common rotation of both bodies by R about the origin, then a shift.
static void move_all(const model *m, const double psi[3], const double shift[3], double *q)
{
    const pcs_dofmap *map = pcs_fe_dofmap(m->system);
    double R[9];
    pcs_rotation_exp(psi, R);
    for (int i = 0; i < map->ndof; i++) {
        const pcs_dof *d = &map->dof[i];
        double rotated[3], u[3];
        pcs_rotation_apply(R, m->mesh->x[d->node], rotated);
        for (int k = 0; k < 3; k++) u[k] = d->is_rotation ? psi[k] : rotated[k] - m->mesh->x[d->node][k] + shift[k];
        q[d->equation] = pcs_dot3(u, d->direction);
    }
}

// The velocity of a common motion: w about the origin and v.
static void velocity_of_all(const model *m, const double *q, const double psi[3], const double w[3], const double v[3],
                            double *out)
{
    const pcs_dofmap *map = pcs_fe_dofmap(m->system);
    double R[9], material[3];
    pcs_rotation_exp(psi, R);
    pcs_rotation_apply_transposed(R, w, material);
    for (int i = 0; i < map->ndof; i++) {
        const pcs_dof *d = &map->dof[i];
        double u[3], x[3], spin[3];
        text_case_vector(m->system, d->node, q, x);
        for (int k = 0; k < 3; k++) x[k] += m->mesh->x[d->node][k];
        pcs_cross(w, x, spin);
        bool is_space = m->system->rotations.are_somewhere;
        for (int k = 0; k < 3; k++) u[k] = !d->is_rotation ? v[k] + spin[k] : is_space ? material[k] : w[k];
        out[d->equation] = pcs_dot3(u, d->direction);
    }
}

static void check_common_motion(model *m, const pcs_source_ops *ops, const body *b, bool has_two)
{
    pcs_system *system = m->system;
    bool is_gear = strcmp(ops->name, "gear") == 0; // of two wheels alone: against the ground
    bool is_grounded = strcmp(ops->name, "prescribed") == 0 || is_gear == has_two;
    if (is_grounded || (b->is_linear && b->rotates)) return;
    double psi[3] = { b->is_flat ? 0.0 : 1.2, b->is_flat ? 0.0 : -0.7, 2.4 }, shift[3] = { 0.3, -2.0, 0.0 };
    double w[3] = { b->is_flat ? 0.0 : 0.4, b->is_flat ? 0.0 : 0.8, -1.4 }, q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE];
    double gap[16];
    move_all(m, psi, shift, q);
    gaps_at(system, q, 0.0, gap);
    if (system->row_set.vary) pcs_system_aim(system, pcs_at(0.0, q, NULL));
    velocity_of_all(m, q, psi, w, shift, v);
    for (int j = 0; j < system->nrow; j++) {
        CHECK_NEAR(gap[j], 0.0, 2e-15);
        CHECK_NEAR(pcs_system_rate(system, j, v), 0.0, 2e-14);
    }
}

TEST(joints_leave_the_common_motion_alone)
{
    for_each(check_common_motion);
}

// Rows at increments x from q0, those of impulses where `part` is not negative: [nrow * nv], dense.
static void rows_along(pcs_system *system, const double *q0, const double *x, double part, double *out)
{
    double q[MODEL_MAX_SIZE];
    pcs_retract(&system->rotations, q0, x, q);
    pcs_system_aim(system, pcs_at(0.0, q, NULL));
    if (part >= 0.0) pcs_rotate_rows(&system->rotations, x, part, system->G);
    memset(out, 0, (size_t)(system->nrow * system->nv) * sizeof *out);
    for (int j = 0; j < system->nrow; j++) pcs_rows_add_transposed(system->G, j, 1.0, out + j * system->nv);
}

// Derivatives of all rows by the increment, as they stand, against differences of the rows.
static void compare_slopes(pcs_system *system, const double *q0, const double *x, double part, double allowed)
{
    enum { MOST = 16 * MODEL_MAX_SIZE };
    const double eps = 1e-5;
    const pcs_slopes *s = system->slopes;
    int n = system->nv;
    static double rows[2][MOST], slope[MOST];
    CHECK(system->nrow <= 16);
    for (int k = 0; k < n; k++) {
        double moved[MODEL_MAX_SIZE];
        memset(slope, 0, sizeof slope);
        for (int i = 0; s != NULL && i < s->count; i++)
            for (int f = 0; f < pcs_slopes_width(s, i); f++)
                for (int e = 0; e < pcs_slopes_size(s, i) && pcs_slopes_equation(s, i, f) == k; e++)
                    slope[s->row[i] * n + pcs_slopes_columns(s, i)[e]] += pcs_slopes_by(s, i, f)[e];
        for (int side = 0; side < 2; side++) {
            memcpy(moved, x, (size_t)n * sizeof *x);
            moved[k] += side == 0 ? eps : -eps;
            rows_along(system, q0, moved, part, rows[side]);
        }
        for (int i = 0; i < system->nrow * n; i++)
            CHECK_NEAR(slope[i], (rows[0][i] - rows[1][i]) / (2.0 * eps), allowed);
    }
}

// At any place; along the increments of a step; and of the rows along which impulses act.
static void check_slopes(model *m, const pcs_source_ops *ops, const body *b, bool has_two)
{
    (void)ops, (void)b, (void)has_two;
    pcs_system *system = m->system;
    unsigned long long seed = 21;
    double q0[MODEL_MAX_SIZE], q[MODEL_MAX_SIZE], x[MODEL_MAX_SIZE] = { 0 };
    if (!system->row_set.vary) return;
    CHECK(system->slopes != NULL);
    model_randomize(&seed, system->nv, q0);
    system->ops->update(system, pcs_at(0.0, q0, NULL), PCS_SLOPES, NULL);
    compare_slopes(system, q0, x, -1.0, 1e-7);
    model_randomize(&seed, system->nv, x);
    for (int i = 0; i < system->nv; i++) x[i] *= 0.01;
    pcs_retract(&system->rotations, q0, x, q);
    for (int trial = 0; trial < 3; trial++) {
        double part = 0.5 * trial - 0.5;
        system->ops->update(system, pcs_at(0.0, q, NULL), PCS_SLOPES, x);
        pcs_system_aim(system, pcs_at(0.0, q, NULL));
        if (part >= 0.0) pcs_rotate_slopes_of_rows(&system->rotations, x, part, system->G, system->slopes);
        compare_slopes(system, q0, x, part, trial == 0 ? 1e-7 : 1e-5);
    }
}

TEST(slopes_are_derivatives_of_rows)
{
    for_each(check_slopes);
}

// What forces of joints add to K, where it has entries: differences of G^T lam.
static void check_stiffness(model *m, const pcs_source_ops *ops, const body *b, bool has_two)
{
    (void)ops, (void)b, (void)has_two;
    pcs_system *system = m->system;
    if (system->slopes == NULL) return;
    unsigned long long seed = 21;
    int n = system->nv;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE] = { 0 }, lam[16] = { 0 };
    static double K[2][MODEL_MAX_SIZE * MODEL_MAX_SIZE];
    model_randomize(&seed, n, q);
    for (int j = 0; j < system->nrow; j++) lam[j] = 3.0 * model_random(&seed);
    for (int pass = 0; pass < 2; pass++) { // the second time over what the first has left
        if (system->tangents_vary) system->ops->update(system, pcs_at(0.0, q, v), PCS_TANGENTS, NULL);
        if (pass == 0) model_dense(system->K, n, K[0]);
        system->ops->update(system, pcs_at(0.0, q, NULL), PCS_JOINTS, lam);
    }
    model_dense(system->K, n, K[1]);
    const pcs_slopes *s = system->slopes;
    for (int i = 0; i < s->count; i++)
        for (int f = 0; f < pcs_slopes_width(s, i); f++)
            for (int e = 0; e < pcs_slopes_size(s, i); e++)
                K[0][pcs_slopes_columns(s, i)[e] * n + pcs_slopes_equation(s, i, f)] -=
                    lam[s->row[i]] * pcs_slopes_by(s, i, f)[e];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            if (pcs_pattern_find(system->K->pattern, k, i) >= 0) CHECK_NEAR(K[1][k * n + i], K[0][k * n + i], 1e-12);
}

TEST(stiffness_is_that_of_the_slopes)
{
    for_each(check_stiffness);
}

// What joints push with at increments x from q0, and how fast their gaps change: smooth multipliers lam act along the
// rows, impulses along those that are carried back. [nv], [nrow]
static void push_and_rate(pcs_system *system, const pcs_step_problem *p, const double *impulse, double part,
                          const double *x, double *push, double *rate)
{
    static double rows[2][16 * MODEL_MAX_SIZE];
    int n = system->nv;
    rows_along(system, p->base, x, -1.0, rows[0]);
    rows_along(system, p->base, x, part, rows[1]);
    memset(push, 0, (size_t)n * sizeof *push);
    for (int j = 0; j < system->nrow; j++) {
        rate[j] = 0.0;
        for (int i = 0; i < n; i++) {
            push[i] += p->lam[j] * rows[0][j * n + i] + impulse[j] * rows[1][j * n + i];
            rate[j] += rows[0][j * n + i] * p->v[i];
        }
    }
}

static int ncurved; // models that have a curvature

// Newton's matrix of every joint: -d(forces)/dx and d(G v)/dx against differences of forces and velocities.
static void check_curvature(model *m, const pcs_source_ops *ops, const body *b, bool has_two)
{
    (void)ops, (void)b, (void)has_two;
    pcs_system *system = m->system;
    pcs_step_solver solver = { .ctx = m->ctx, .system = system };
    pcs_step_form form = { .h = 0.5, .c = 1.2, .kb = 0.3, .kw = 0.2, .has_dynamics = 1, .has_smooth_multipliers = 1 };
    unsigned long long seed = 33;
    const double eps = 1e-5;
    const int n = system->nv, nrow = system->nrow;
    double q0[MODEL_MAX_SIZE], q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE], x[MODEL_MAX_SIZE], lam[16], z[32], impulse[16];
    static double K[MODEL_MAX_SIZE * MODEL_MAX_SIZE];
    pcs_curvature *c;
    CHECK_OK(m->ctx, pcs_curvature_create(&solver, &c));
    if (c == NULL) return;
    ncurved++;
    model_randomize(&seed, n, q0);
    model_randomize(&seed, n, v);
    model_randomize(&seed, n, x);
    model_randomize(&seed, nrow, lam);
    model_randomize(&seed, 2 * nrow, z);
    for (int i = 0; i < n; i++) x[i] *= 0.01;
    for (int j = 0; j < nrow; j++) impulse[j] = form.c / (form.h * form.kb) * form.kw * z[nrow + j];
    pcs_step_problem p = { .q = q, .v = v, .lam = lam, .base = q0 };
    pcs_retract(&system->rotations, q0, x, q);
    pcs_system_aim(system, pcs_at(0.0, q, NULL));
    pcs_curvature_fill(c, &form, &p, system->rotations.are_somewhere ? x : NULL, z);
    model_dense(c->K, n, K);
    for (int k = 0; k < n; k++) {
        double moved[MODEL_MAX_SIZE], push[2][MODEL_MAX_SIZE], rate[2][16], unit[MODEL_MAX_SIZE] = { 0 };
        unit[k] = 1.0;
        for (int side = 0; side < 2; side++) {
            memcpy(moved, x, (size_t)n * sizeof *x);
            moved[k] += side == 0 ? eps : -eps;
            push_and_rate(system, &p, impulse, form.kw / form.h, moved, push[side], rate[side]);
        }
        for (int i = 0; i < n; i++) CHECK_NEAR(K[i * n + k], -(push[0][i] - push[1][i]) / (2.0 * eps), 1e-5);
        for (int j = 0; j < nrow; j++)
            CHECK_NEAR(pcs_rows_dot(c->H, j, unit), (rate[0][j] - rate[1][j]) / (2.0 * eps), 1e-6);
    }
}

TEST(curvature_is_the_derivative_of_forces_and_velocities)
{
    ncurved = 0;
    for_each(check_curvature);
    CHECK(ncurved >= 30);
}

// Both ends held by supports: nothing is left to hold.
TEST(joints_of_held_nodes_are_refused)
{
    for (int j = 0; pcs_joints[j] != NULL; j++) {
        bool is_flat = can_hold(pcs_joints[j], &bodies[3]);
        const body *b = &bodies[is_flat ? 3 : 4];
        model *m = model_create();
        add_body(m, b, "one", places[0]);
        add_body(m, b, "two", places[1]);
        state_joint(m, pcs_joints[j], b, true);
        const char *const held[] = { "one.start", "two.start" };
        for (int e = 0; e < 2; e++) {
            pcs_fe_support *support = model_support(m, held[e], is_flat ? "xy" : "xyz");
            for (int k = is_flat ? 5 : 3; k < 6; k++) support->fixes[k] = true;
        }
        CHECK_STATUS(NULL, model_try_build(m), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(m->ctx), "joint 'link' holds what supports hold already");
        assert_string_equal(m->culprit, "joints.link");
        model_destroy(&m);
    }
}
