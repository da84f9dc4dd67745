// How many iterations and factorizations smooth steps take, what Newton's matrix contains of a varying mass, and gaps that
// come with the directions of rows.

#include "support/check.h"
#include "support/run_case.h"

#include <math.h>
#include <string.h>

typedef struct effort {
    double iterations, factors; // a step
} effort;

// Of `count` steps after the first ten.
static effort effort_of(const char *path, const char *const *set, int count)
{
    case_run run = case_open(path, set);
    for (int i = 0; i < 10; i++) case_step(&run);
    int before = run.sim->scheme->solver->nfactor;
    double iterations = 0.0;
    for (int i = 0; i < count; i++) {
        case_step(&run);
        iterations += case_last(&run)->iterations;
    }
    effort out = { iterations / count, (double)(run.sim->scheme->solver->nfactor - before) / count };
    case_close(&run);
    return out;
}

// The pendulum falls freely for 650 steps.
static void accelerations_go_on(void **state)
{
    (void)state;
    CHECK(effort_of("cases/beam_pendulum", NULL, 600).iterations < 2.2);
}

// The third iteration has the matrix of the second.
static void matrices_are_kept(void **state)
{
    (void)state;
    const char *const space[] = { "mesh.beam.elements=40", NULL };
    const char *const trapezoidal[] = { "mesh.beam.elements=40", "scheme={type: moreau_jean, theta: 0.5}", NULL };
    const char *const *const sets[] = { space, trapezoidal };
    for (int i = 0; i < 2; i++) {
        effort got = effort_of("tests/bench/exact_3d.yaml", sets[i], 50);
        CHECK(got.iterations > 2.5 && got.iterations <= 3.05);
        CHECK(got.factors < 2.05);
    }
}

static void varying_mass_converges_quadratically(void **state)
{
    (void)state;
    const char *const ggl[] = { "scheme={type: alpha_ggl}", NULL };
    const char *const moreau[] = { "scheme={type: moreau_jean, theta: 0.5}", NULL };
    const char *const hht[] = { "scheme={type: hht}", NULL };
    CHECK(effort_of("cases/slider_crank", ggl, 900).iterations < 2.4);
    CHECK(effort_of("cases/slider_crank", moreau, 900).iterations < 2.5);
    CHECK(effort_of("cases/slider_crank", hht, 900).iterations < 2.5);
}

// K gains d(M a)/dq: central differences of M a, with another step.
static void inertia_has_stiffness(void **state)
{
    (void)state;
    enum { N = 3 };
    case_run run = case_open("cases/slider_crank", NULL);
    pcs_system *system = run.sim->system;
    const double q[N] = { 0.3, -0.2, 0.01 }, v[N] = { 150.0, -75.0, 3.0 }, a[N] = { 2000.0, -700.0, 40.0 }, step = 1e-5;
    double before[N * N], with[N], without[N], x[N];
    system->ops->update_mass(system, q);
    system->ops->update_tangents(system, 0.0, q, v);
    memcpy(before, system->K->value, sizeof before);
    system->ops->add_inertia_stiffness(system, q, a);
    for (int j = 0; j < N; j++) {
        memcpy(x, q, sizeof x);
        x[j] = q[j] + step;
        system->ops->update_mass(system, x);
        pcs_matrix_multiply(system->M, a, with);
        x[j] = q[j] - step;
        system->ops->update_mass(system, x);
        pcs_matrix_multiply(system->M, a, without);
        for (int i = 0; i < N; i++)
            CHECK_NEAR(system->K->value[j * N + i] - before[j * N + i], (with[i] - without[i]) / (2.0 * step), 1e-5);
    }
    case_close(&run);
}

// At the time of the rows, and at another one.
static void check_gaps_here(const char *path, double later)
{
    case_run run = case_open(path, NULL);
    pcs_system *system = run.sim->system;
    for (int i = 0; i < 5; i++) case_step(&run);
    double here[64], gap[64];
    CHECK(system->nrow > 0 && system->nrow <= 64);
    system->ops->update_directions(system, run.sim->state.q);
    for (int i = 0; i < 2; i++) {
        pcs_system_gaps_here(system, run.sim->state.q, here);
        system->ops->gaps(system, run.sim->state.q, gap);
        for (int j = 0; j < system->nrow; j++) CHECK(here[j] == gap[j]);
        system->time += later;
    }
    case_close(&run);
}

static void gaps_come_with_directions(void **state)
{
    (void)state;
    check_gaps_here("cases/beams_crossed", 0.0);
    check_gaps_here("cases/double_pendulum_stop", 0.1);
    check_gaps_here("cases/slider_crank", 0.1);
    check_gaps_here("cases/bar_viscoelastic", 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_go_on),
        cmocka_unit_test(matrices_are_kept),
        cmocka_unit_test(varying_mass_converges_quadratically),
        cmocka_unit_test(inertia_has_stiffness),
        cmocka_unit_test(gaps_come_with_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
