// What every element promises of its mass, energies, momenta and fields, looped over the table of elements and over
// each choice that an element offers; and of cells that cannot be.

#include "test_element_variants.h"

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
    // One-point masses do not see a sawtooth; translational ones resist rotations of nodes by the square of the length
    // of a cell alone.
    double least = 1e-3;
    if (strstr(c->values, "mass=one_point") != NULL) least = -1e-13;
    if (strstr(c->values, "mass=translational") != NULL) least = 1e-9;
    if (m->system->mass > 0.0) CHECK(smallest_pivot(n, M) > least);
    else CHECK(check_largest(n * n, M) == 0.0); // a spring
    CHECK(smallest_pivot(n, K) > -1e-13);
}

TEST(matrices_are_symmetric_and_definite)
{
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
    pcs_cell_sums sum = { .kinetic = 100.0, .strain = 200.0 };
    c->ops->measure(batch_of(m), &(pcs_cell_state){ .q = q, .v = v }, PCS_CELL_ENERGY, &sum);
    CHECK_RELATIVE(sum.kinetic - 100.0, 0.5 * quadratic(system->M, v), 1e-12);
    if (c->ops->is_nonlinear) return;
    CHECK_RELATIVE(sum.strain - 200.0, 0.5 * quadratic(system->K, q), 1e-12);
    for (int i = 0; i < n; i++) {
        dq[i] = q1[i] - q[i];
        dv[i] = v1[i] - v[i];
    }
    const pcs_cell_state ends = { .q = q1, .v = v1, .q0 = q, .v0 = v };
    c->ops->measure(batch_of(m), &ends, PCS_CELL_CHANGE, &sum);
    CHECK_RELATIVE(sum.change_in_kinetic, 0.5 * quadratic(system->M, dv), 1e-13);
    CHECK_RELATIVE(sum.change_in_strain, 0.5 * quadratic(system->K, dq), 1e-13);
    double power = quadratic(system->C, v);
    CHECK_NEAR(pcs_system_damping_power(system, pcs_at(0.0, q, v), v), power, 1e-13 * (1.0 + power));
}

TEST(energies_are_quadratic_forms)
{
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
    pcs_cell_sums sum = { 0 };
    model_randomize(&seed, n, q);
    model_randomize(&seed, n, v);
    c->ops->force(batch_of(m), &(pcs_cell_state){ .q = q, .v = v }, f);
    c->ops->measure(batch_of(m), &(pcs_cell_state){ .q = q, .v = v }, PCS_CELL_RESULTANT | PCS_CELL_ENERGY, &sum);
    by_direction(m, f, wanted);
    double size = pcs_matrix_abs_bound(m->system->K, q) + check_largest(n, f);
    CHECK_ALL_NEAR(3, sum.resultant, wanted, 1e-14 * size * NCELL);

    pcs_matrix_multiply(m->system->M, v, p);
    by_direction(m, p, wanted);
    for (int k = 0; k < 3; k++) CHECK_NEAR(sum.momentum[k] - sum.fixed_momentum[k], wanted[k], 1e-14 * m->system->mass);
    if (!c->is_held || c->increment == 2)
        for (int k = 0; k < 3; k++) CHECK(sum.fixed_momentum[k] == 0.0);
}

TEST(resultant_and_momentum_are_sums)
{
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
    if (isnan(mass) || (c->is_held && c->increment < 2)) return;
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
    pcs_cell_sums sum = { 0 };
    c->ops->measure(batch_of(m), &(pcs_cell_state){ .q = v, .v = v }, PCS_CELL_ENERGY, &sum);
    CHECK_RELATIVE(2.0 * sum.kinetic, mass * length, 1e-14);
    for (int k = 0; k < 3; k++) CHECK_NEAR(sum.momentum[k], mass * along[k], 1e-14 * mass * length);
    CHECK_RELATIVE(m->system->mass, mass * length, 1e-14);
}

TEST(whole_mass_flies)
{
    for_every_variant(check_mass);
}

// A bar that is stretched by 1e-6 of its length along its axis is in tension by E A 1e-6, and stores half of that way.
static void check_stretch(const variant *c, model *m)
{
    const double grown[] = { 1.0, 1.25, 1.0 + 0.5 / 3.0 }, strain = 1e-6;
    double q[MODEL_MAX_SIZE] = { 0 }, ends[2][3], along[3], length = 0.0, work = 0.0;
    double force = strain * option_value(c, m, "E") * option_value(c, m, "area");
    if (isnan(force) || (c->is_held && c->increment < 2)) return;
    ends_of(c, ends);
    for (int k = 0; k < 3; k++) along[k] = ends[1][k] - ends[0][k];
    length = pcs_norm3(along);
    const pcs_dofmap *map = pcs_fe_dofmap(m->system);
    for (int i = 0; i < map->ndof; i++) {
        double way = pcs_dot3(m->mesh->x[map->dof[i].node], along) / length;
        q[map->dof[i].equation] = strain * way * pcs_dot3(map->dof[i].direction, along) / length;
    }
    const pcs_cell_state at = { .q = q, .v = (double[MODEL_MAX_SIZE]){ 0 } };
    pcs_cell_sums sum = { 0 };
    double f[MODEL_MAX_SIZE] = { 0 }, noise = c->ops->is_nonlinear ? 1e-5 : 1e-10;
    c->ops->measure(batch_of(m), &at, PCS_CELL_ENERGY, &sum);
    c->ops->force(batch_of(m), &at, f);
    for (int i = 0; i < m->system->nv; i++) work -= 0.5 * f[i] * q[i];
    CHECK_RELATIVE(sum.strain, 0.5 * force * grown[c->taper] * strain * length, noise);
    CHECK_RELATIVE(work, 0.5 * force * grown[c->taper] * strain * length, noise);
    for (int cell = 0; cell < NCELL && c->taper == 0; cell++) {
        double field[PCS_MAX_CELL_FIELDS];
        c->ops->read_fields(batch_of(m), cell, &at, field);
        assert_string_equal(c->ops->fields[0], "axial_force");
        CHECK_RELATIVE(field[0], force, noise);
    }
}

TEST(tension_is_positive)
{
    for_every_variant(check_stretch);
}

static void check_fields(const variant *c, model *m)
{
    unsigned long long seed = 15;
    double q[MODEL_MAX_SIZE], v[MODEL_MAX_SIZE];
    int nfield = 0, nend = 0;
    model_randomize(&seed, m->system->nv, q);
    model_randomize(&seed, m->system->nv, v);
    while (c->ops->fields[nfield] != NULL) nfield++;
    while (c->ops->end_fields != NULL && c->ops->end_fields[nend] != NULL) nend++;
    CHECK(nfield >= 1 && nfield + nend <= PCS_MAX_CELL_FIELDS && nend % 2 == 0);
    m->system->ops->draw(m->system, pcs_at(0.0, q, v), m->system->picture);
    CHECK(m->system->picture->nfield == nfield);
    for (int cell = 0; cell < NCELL; cell++) {
        double field[PCS_MAX_CELL_FIELDS];
        for (int k = 0; k < PCS_MAX_CELL_FIELDS; k++) field[k] = k < nfield + nend ? NAN : 77.0;
        c->ops->read_fields(batch_of(m), cell, &(pcs_cell_state){ .q = q, .v = v }, field);
        for (int k = 0; k < PCS_MAX_CELL_FIELDS; k++) CHECK(k < nfield + nend ? isfinite(field[k]) : field[k] == 77.0);
        for (int k = 0; k < nfield; k++) {
            assert_string_equal(m->system->picture->field_names[k], c->ops->fields[k]);
            CHECK(m->system->picture->fields[k][cell] == field[k]);
        }
    }
}

TEST(every_field_is_read_and_drawn)
{
    for_every_variant(check_fields);
}

// A cell without length, where it needs one, or with a node that is nowhere.
TEST(cell_that_cannot_be_is_named)
{
    for (int e = 0; pcs_elements[e] != NULL; e++)
        for (int trial = 0; trial < 2; trial++) {
            const pcs_element_ops *ops = pcs_elements[e];
            if (trial == 0 && (ops->nnode == 1 || strcmp(ops->name, "bushing") == 0)) continue;
            model *m = model_create();
            model_line(m, "bar", choices[0][0], choices[0][1], NCELL);
            shorten_cells(ops, m);
            for (int k = 0; k < 3; k++) m->mesh->x[7][k] = trial == 0 ? m->mesh->x[6][k] : NAN;
            model_group(m, ops->name, "bar", "nu=0.3 orientation=0,1,0 inertia=1,1,1 stiffness=1,1,1");
            CHECK_STATUS(NULL, model_try_build(m), PCS_BAD_INPUT);
            CHECK_TEXT(pcs_message(m->ctx), "'bar'");
            CHECK_TEXT(pcs_message(m->ctx), ops->nnode == 1 ? "cell 7" : "cell 6");
            CHECK_TEXT(pcs_message(m->ctx), trial == 0 ? "length 0," : "nan");
            assert_string_equal(m->culprit, "elements.bar");
            CHECK(m->system == NULL);
            model_destroy(&m);
        }
}
