// What a geometrically exact beam costs: its kernels per element, and one Newton iteration taken apart.
//
//   bench_exact [ELEMENTS]     default 1000
//
// A clamped beam falls under its weight (exact_2d.yaml, exact_3d.yaml); after some steps the state is saved and timed:
// `force` and `tangents` call the element's kernels, `assembly` is the tangent of the whole system with its scatter,
// `factor` and `solve` are those of the iteration matrix c M + h C + h kb K by the chain, `step` a whole step of the
// scheme, also over what its kernels alone would take: tangents and factor as often as it factors, force and solve as
// often as it iterates. Time of the processor; the best of many repetitions counts.

#define _POSIX_C_SOURCE 200809L

#include "bench_clock.h"
#include "build/build.h"
#include "fe/fe.h"

#include <math.h>

enum { REPETITIONS = 40, WARM_UP = 30, STEPS = 100 };

typedef struct exact {
    pcs_context *ctx;
    pcs_sim *sim;
    int elements;
    double *f;
    pcs_matrix *A;
    pcs_linsolve *linear;
} exact;

static void exact_fail(const exact *e, const char *what)
{
    fprintf(stderr, "error: %s: %s\n", what, e->ctx != NULL ? pcs_message(e->ctx) : "no memory");
    exit(1);
}

// Nanoseconds per element of the best of many calls.
static double exact_time(exact *e, void (*work)(exact *e), int calls)
{
    double best = INFINITY;
    for (int k = 0; k < REPETITIONS; k++) {
        double begin = bench_seconds();
        for (int i = 0; i < calls; i++) work(e);
        double seconds = (bench_seconds() - begin) / calls;
        if (seconds < best) best = seconds;
    }
    return 1e9 * best / e->elements;
}

static const pcs_batch *exact_batch(const exact *e)
{
    return pcs_fe_batch(e->sim->system, 0);
}

static void exact_force(exact *e)
{
    exact_batch(e)->ops->force(exact_batch(e), &(pcs_cell_state){ .q = e->sim->state.q, .v = e->sim->state.v }, e->f);
}

static void exact_tangents(exact *e)
{
    double K[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], C[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    const pcs_batch *batch = exact_batch(e);
    for (int i = 0; i < batch->ncell; i++)
        batch->ops->matrices(batch, i, &(pcs_cell_state){ .q = e->sim->state.q, .v = e->sim->state.v }, NULL, K,
                             e->sim->system->C == NULL ? NULL : C);
}

static void exact_assembly(exact *e)
{
    pcs_system *system = e->sim->system;
    system->ops->update(system, pcs_at(0.0, e->sim->state.q, e->sim->state.v), PCS_TANGENTS, NULL);
}

static void exact_factor(exact *e)
{
    bool is_singular;
    if (pcs_linsolve_factor(e->linear, &is_singular) != PCS_OK || is_singular) exact_fail(e, "factor");
}

static void exact_solve(exact *e)
{
    pcs_linsolve_solve(e->linear, e->f);
}

static void exact_step(exact *e)
{
    pcs_sim *sim = e->sim;
    if (sim->scheme->ops->step(sim->scheme, &sim->state, sim->step_size, &sim->report) != PCS_OK ||
        sim->report.outcome != PCS_CONVERGED)
        exact_fail(e, "step");
}

static void exact_open(exact *e, const char *path)
{
    char size[64];
    const char *sets[] = { size };
    snprintf(size, sizeof size, "mesh.beam.elements=%d", e->elements);
    if (pcs_context_create(&e->ctx) != PCS_OK || pcs_build_sim_from(e->ctx, path, 1, sets, &e->sim) != PCS_OK ||
        pcs_sim_start(e->sim) != PCS_OK)
        exact_fail(e, path);
    e->f = bench_vector(e->sim->system->nv);
    for (int i = 0; i < WARM_UP; i++) exact_step(e);
}

// Steps are timed one by one along the motion and the best counts; iterations and factors are those of the last.
static double exact_step_time(exact *e, int *iterations, int *factors)
{
    double best = INFINITY;
    for (int i = 0; i < STEPS; i++) {
        *factors = e->sim->scheme->solver->nfactor;
        double begin = bench_seconds();
        exact_step(e);
        double seconds = bench_seconds() - begin;
        if (seconds < best) best = seconds;
    }
    *iterations = e->sim->report.iterations;
    *factors = e->sim->scheme->solver->nfactor - *factors;
    return 1e6 * best;
}

static void exact_bench(const char *path, int elements, const char *goal)
{
    exact e = { .elements = elements };
    exact_open(&e, path);
    pcs_system *system = e.sim->system;
    double h = e.sim->step_size, force = exact_time(&e, exact_force, 5), tangents = exact_time(&e, exact_tangents, 5);
    printf("%s, %d elements, ns per element: force %.0f, tangents %.0f, assembly %.0f\n", exact_batch(&e)->ops->name,
           elements, force, tangents, exact_time(&e, exact_assembly, 5));
    if (pcs_matrix_create(e.ctx, system->M->pattern, &e.A) != PCS_OK) exact_fail(&e, "matrix");
    pcs_matrix_combine(e.A, (const double[3]){ 1.0, 0.5 * h, 0.25 * h * h }, system->M, system->C, system->K);
    if (pcs_linsolve_create(e.ctx, "chain", e.A, PCS_GENERAL, &e.linear) != PCS_OK) exact_fail(&e, "chain");
    double factor = exact_time(&e, exact_factor, 3), solve = exact_time(&e, exact_solve, 3);
    int iterations, factors;
    double step = exact_step_time(&e, &iterations, &factors);
    double kernels = factors * (tangents + factor) + iterations * (force + solve);
    printf("  factor %.0f, solve %.0f; step %.0f us, %d iterations, %d factors, %.2f times its kernels%s\n", factor,
           solve, step, iterations, factors, 1e3 * step / elements / kernels, goal);
    free(e.f);
    pcs_context_destroy(&e.ctx);
}

int main(int argc, char **argv)
{
    int elements = argc > 1 ? atoi(argv[1]) : 1000;
    exact_bench("tests/bench/exact_2d.yaml", elements, "");
    exact_bench("tests/bench/exact_3d.yaml", elements, "; goal 1.5");
    return 0;
}
