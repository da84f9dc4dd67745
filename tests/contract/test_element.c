// What every element promises, looped over the table of elements and over each choice that an element offers.

#include "support/check.h"
#include "support/model.h"
#include "system/fe_data.h"

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
    char values[256]; // of its parameters
    int way;
    bool is_held; // some nodes in the middle and at one end
    bool is_damped;
} variant;

static model *build(const variant *c)
{
    model *m = model_create();
    double ends[2][3];
    memcpy(ends, ways[c->way], sizeof ends);
    if (strstr(c->ops->name, "2d") != NULL) ends[0][2] = ends[1][2] = 0.0;
    model_line(m, "bar", ends[0], ends[1], NCELL);
    pcs_fe_group *group = model_group(m, c->ops->name, "bar", c->values);
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

// Calls check for every choice of every element, lying in every way, free and held, damped and not.
static void for_every_variant(void (*check)(const variant *c, model *m))
{
    for (int e = 0; pcs_elements[e] != NULL; e++) {
        variant c = { .ops = pcs_elements[e] };
        for (int i = -1; i < 0 || c.ops->options[i].name != NULL; i++) {
            const pcs_option *option = i < 0 ? NULL : &c.ops->options[i];
            if (option != NULL && option->kind != PCS_OPTION_CHOICE) continue;
            for (int k = 0; option == NULL ? k < 1 : option->choices[k] != NULL; k++) {
                snprintf(c.values, sizeof c.values, "nu=0.3 orientation=0.1,0.9,0.4 %s=%s",
                         option == NULL ? "none" : option->name, option == NULL ? "none" : option->choices[k]);
                for (int situation = 0; situation < 4 * NWAY; situation++) {
                    c.way = situation / 4;
                    c.is_held = situation & 1;
                    c.is_damped = situation & 2;
                    model *m = build(&c);
                    check(&c, m);
                    model_destroy(&m);
                }
            }
        }
    }
}

static const pcs_batch *batch_of(const model *m)
{
    return &((const fe_data *)m->system->data)->batches[0];
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

static void check_force(const variant *c, model *m)
{
    unsigned long long seed = 11;
    int n = m->system->nv;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE], f[MODEL_MAX_SIZE], wanted[MODEL_MAX_SIZE] = { 0 };
    model_randomize(&seed, n, q);
    model_randomize(&seed, n, v);
    model_randomize(&seed, n, f); // it is added to what is there
    memcpy(wanted, f, sizeof wanted);
    pcs_matrix_add_multiply(m->system->K, -1.0, q, wanted);
    if (c->is_damped) pcs_matrix_add_multiply(m->system->C, -1.0, v, wanted);
    else CHECK(m->system->C == NULL && !m->system->has_damping);
    c->ops->add_force(batch_of(m), q, v, f);
    CHECK_ALL_NEAR(n, f, wanted, 1e-14 * (1.0 + pcs_matrix_abs_bound(m->system->K, q)));
}

static void force_is_what_the_matrices_say(void **state)
{
    (void)state;
    for_every_variant(check_force);
}

// -f . d is the slope of the energy along d; central differences are exact for a quadratic, up to round-off.
static void check_slope(const variant *c, model *m)
{
    unsigned long long seed = 12;
    int n = m->system->nv;
    double q[MODEL_MAX_SIZE], d[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE] = { 0 }, f[MODEL_MAX_SIZE] = { 0 };
    model_randomize(&seed, n, q);
    c->ops->add_force(batch_of(m), q, v, f);
    const double step = 1e-3;
    for (int trial = 0; trial < 5; trial++) {
        pcs_energy up = { 0 }, down = { 0 };
        double ahead[MODEL_MAX_SIZE], behind[MODEL_MAX_SIZE], work = 0.0;
        model_randomize(&seed, n, d);
        for (int i = 0; i < n; i++) {
            ahead[i] = q[i] + step * d[i];
            behind[i] = q[i] - step * d[i];
            work += f[i] * d[i];
        }
        c->ops->add_energy(batch_of(m), ahead, v, &up);
        c->ops->add_energy(batch_of(m), behind, v, &down);
        CHECK_NEAR(work, -(up.strain - down.strain) / (2.0 * step), 1e-11 * up.strain);
        CHECK(up.kinetic == 0.0);
    }
}

static void force_is_the_slope_of_the_energy(void **state)
{
    (void)state;
    for_every_variant(check_slope);
}

// u = t + w x X, and w along a rotation, for each of the six motions of a body.
static void rigid_motion(const model *m, int motion, double *q)
{
    const pcs_dofmap *map = &((const fe_data *)m->system->data)->map;
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

static void check_rigid(const variant *c, model *m)
{
    if (c->is_held && c->way < 2) return;
    for (int motion = 0; motion < 6; motion++) {
        double q[MODEL_MAX_SIZE] = { 0 }, v[MODEL_MAX_SIZE] = { 0 }, f[MODEL_MAX_SIZE] = { 0 };
        rigid_motion(m, motion, q);
        c->ops->add_force(batch_of(m), q, v, f);
        double size = pcs_matrix_abs_bound(m->system->K, q);
        CHECK(largest(m->system->nv, f) <= 1e-14 * size);
        pcs_energy sum = { 0 };
        c->ops->add_energy(batch_of(m), q, v, &sum);
        CHECK(sum.strain >= 0.0 && sum.strain <= 1e-28 * size * m->system->nv * largest(m->system->nv, q));
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
    (void)c;
    model_dense(m->system->M, n, M);
    model_dense(m->system->K, n, K);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) CHECK(M[i * n + j] == M[j * n + i] && K[i * n + j] == K[j * n + i]);
    CHECK(smallest_pivot(n, M) > 1e-3);
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
    CHECK_RELATIVE(sum.strain - 200.0, 0.5 * quadratic(system->K, q), 1e-12);
    for (int i = 0; i < n; i++) {
        dq[i] = q1[i] - q[i];
        dv[i] = v1[i] - v[i];
    }
    c->ops->add_change(batch_of(m), q, q1, v, v1, &change);
    CHECK_RELATIVE(change.kinetic, 0.5 * quadratic(system->M, dv), 1e-13);
    CHECK_RELATIVE(change.strain, 0.5 * quadratic(system->K, dq), 1e-13);
    CHECK_NEAR(system->ops->damping_power(system, q, v), quadratic(system->C, v), 1e-13 * (1.0 + quadratic(system->C, v)));
}

static void energies_are_quadratic_forms(void **state)
{
    (void)state;
    for_every_variant(check_energy);
}

// sum over the dofs of x_i d_i
static void by_direction(const model *m, const double *x, double out[3])
{
    const pcs_dofmap *map = &((const fe_data *)m->system->data)->map;
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
    CHECK_ALL_NEAR(3, resultant, wanted, 1e-14 * pcs_matrix_abs_bound(m->system->K, q) * NCELL);

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

// Flying along its own axis at 1 m/s, every bar weighs rho A L.
static void check_mass(const variant *c, model *m)
{
    double v[MODEL_MAX_SIZE] = { 0 }, along[3], length = 0.0,
           mass = option_value(c, m, "rho") * option_value(c, m, "area");
    if (isnan(mass) || (c->is_held && c->way < 2)) return;
    for (int k = 0; k < 3; k++) along[k] = ways[c->way][1][k] - ways[c->way][0][k];
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

static void cell_that_cannot_be_is_named(void **state)
{
    (void)state;
    for (int e = 0; pcs_elements[e] != NULL; e++)
        for (int trial = 0; trial < 2; trial++) {
            model *m = model_create();
            model_line(m, "bar", ways[0][0], ways[0][1], NCELL);
            for (int k = 0; k < 3; k++) m->mesh->x[7][k] = trial == 0 ? m->mesh->x[6][k] : NAN;
            model_group(m, pcs_elements[e]->name, "bar", "nu=0.3 orientation=0,1,0");
            CHECK_STATUS(NULL, model_try_build(m), PCS_BAD_INPUT);
            CHECK_TEXT(pcs_message(m->ctx), "'bar'");
            CHECK_TEXT(pcs_message(m->ctx), "cell 6");
            CHECK_TEXT(pcs_message(m->ctx), trial == 0 ? "length 0," : "nan");
            assert_string_equal(m->culprit, "elements.bar");
            CHECK(m->system == NULL);
            model_destroy(&m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_is_what_the_matrices_say),
        cmocka_unit_test(force_is_the_slope_of_the_energy),
        cmocka_unit_test(rigid_motion_is_free_of_force),
        cmocka_unit_test(matrices_are_symmetric_and_definite),
        cmocka_unit_test(energies_are_quadratic_forms),
        cmocka_unit_test(resultant_and_momentum_are_sums),
        cmocka_unit_test(whole_mass_flies),
        cmocka_unit_test(every_field_is_read_and_drawn),
        cmocka_unit_test(cell_that_cannot_be_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
