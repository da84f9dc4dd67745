// Microseconds per step of every scheme on the rigid cases, the pure step without certificate and output, over the cost
// of the bare mechanics in the same run.
//
//   bench_rigid [CASE [SCHEME]]     default: all cases below, all schemes that take them
//
// Every repetition starts anew and runs the case to its end (at most 2000 steps). The yardstick takes turns with it:
// one evaluation of M, f, the gaps and the directions where the run has ended, of the tangents as well for an implicit
// scheme, and one dense solve. A step counts as many of them as it has iterations, or one where the scheme is explicit.
// The best repetition of each counts, in seconds of the processor. Allocations are counted elsewhere; nothing here can
// fail for being slow.

#define _POSIX_C_SOURCE 200809L

#include "bench_clock.h"
#include "build/build.h"
#include "core/dense.h"

enum { REPETITIONS = 40, MOST_STEPS = 2000, MOST_COORDINATES = 16, MOST_ROWS = 64, EVALUATIONS = 500 };

static const char *const rigid_cases[] = { "slider_crank", "slider_crank_bilateral",
                                           "pendulum",     "rocking_block",
                                           "ball",         "puck" };

typedef struct rigid {
    pcs_sim *sim;
    double q[MOST_COORDINATES], v[MOST_COORDINATES]; // where every repetition starts
    long steps, iterations;                          // of a run
    double best, yardstick;                          // s, of a step and of an evaluation
    double sum;                                      // of all solutions, so that none is left out
} rigid;

static void rigid_keep(rigid *r)
{
    memcpy(r->q, r->sim->state.q, (size_t)r->sim->system->nq * sizeof(double));
    memcpy(r->v, r->sim->state.v, (size_t)r->sim->system->nv * sizeof(double));
}

// One run over all steps; false when it does not get through.
static bool rigid_run(rigid *r)
{
    pcs_sim *sim = r->sim;
    memcpy(sim->state.q, r->q, (size_t)sim->system->nq * sizeof(double));
    memcpy(sim->state.v, r->v, (size_t)sim->system->nv * sizeof(double));
    for (int k = 0; k < sim->state.nhistory; k++)
        memset(sim->state.history[k], 0, (size_t)sim->system->nv * sizeof(double));
    sim->state.t = 0.0;
    sim->state.step = 0;
    r->iterations = 0;
    if (sim->scheme->ops->start(sim->scheme, &sim->state, &sim->report) != PCS_OK) return false;
    double begin = bench_seconds();
    for (long i = 0; i < r->steps; i++) {
        pcs_status status = sim->scheme->ops->step(sim->scheme, &sim->state, sim->step_size, &sim->report);
        if (status != PCS_OK || sim->report.outcome != PCS_CONVERGED) return false;
        r->iterations += sim->report.iterations;
    }
    r->best = fmin(r->best, (bench_seconds() - begin) / (double)r->steps);
    return true;
}

static bool rigid_is_implicit(const rigid *r)
{
    return r->sim->scheme->solver->form.has_dynamics != 0;
}

// M, f, gaps, directions, and for implicit schemes the tangents; then a system of equations with them.
static void rigid_evaluate(rigid *r)
{
    pcs_system *system = r->sim->system;
    const double *q = r->sim->state.q, *v = r->sim->state.v;
    double A[MOST_COORDINATES * MOST_COORDINATES], f[MOST_COORDINATES], gap[MOST_ROWS];
    int n = system->nv;
    if (system->mass_varies) system->ops->update(system, pcs_at(0.0, q, NULL), PCS_MASS, NULL);
    if (system->row_set.vary) pcs_system_aim(system, pcs_at(0.0, q, NULL));
    pcs_system_gaps(system, pcs_at(0.0, q, NULL), gap);
    system->ops->force(system, pcs_at(r->sim->state.t, q, v), f);
    memcpy(A, system->M->value, (size_t)(n * n) * sizeof *A);
    if (rigid_is_implicit(r)) {
        if (system->tangents_vary) system->ops->update(system, pcs_at(r->sim->state.t, q, v), PCS_TANGENTS, NULL);
        if (system->mass_varies) system->ops->update(system, pcs_at(0.0, q, NULL), PCS_INERTIA, f);
        for (int k = 0; k < n * n; k++) A[k] += 1e-4 * system->C->value[k] + 1e-8 * system->K->value[k];
    }
    if (pcs_dense_solve(n, A, f)) r->sum += f[0] + (system->nrow > 0 ? gap[0] : 0.0);
}

static void rigid_measure(rigid *r)
{
    double begin = bench_seconds();
    for (int i = 0; i < EVALUATIONS; i++) rigid_evaluate(r);
    r->yardstick = fmin(r->yardstick, (bench_seconds() - begin) / EVALUATIONS);
}

static void rigid_bench(const char *name, const char *scheme)
{
    char path[128], set[128];
    const char *sets[] = { set };
    pcs_context *ctx = NULL;
    rigid r = { .best = INFINITY, .yardstick = INFINITY };
    snprintf(path, sizeof path, "cases/%s", name);
    // The one scheme that asks for a parameter.
    const char *needs = strcmp(scheme, "moreau_jean") == 0 ? ", theta: 0.5" : "";
    snprintf(set, sizeof set, "scheme={type: %s%s}", scheme, needs);
    if (pcs_context_create(&ctx) != PCS_OK || pcs_build_sim_from(ctx, path, 1, sets, &r.sim) != PCS_OK) {
        pcs_context_destroy(&ctx);
        return;
    }
    rigid_keep(&r);
    r.steps = r.sim->nstep < MOST_STEPS ? r.sim->nstep : MOST_STEPS;
    bool is_through = true;
    for (int k = 0; k < REPETITIONS && is_through; k++) {
        is_through = rigid_run(&r);
        if (is_through) rigid_measure(&r);
    }
    double rounds = rigid_is_implicit(&r) ? (double)r.iterations / (double)r.steps : 1.0;
    if (!is_through) printf("%-24s %-28s does not get through\n", name, scheme);
    else
        printf("%-24s %-28s %8.3f us/step over %ld steps; %5.2f times %.3f us of mechanics: ratio %.1f\n", name, scheme,
               1e6 * r.best, r.steps, rounds, 1e6 * r.yardstick, r.best / (rounds * r.yardstick));
    if (!isfinite(r.sum)) printf("the yardstick is not finite\n");
    pcs_context_destroy(&ctx);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof rigid_cases / sizeof *rigid_cases; i++) {
        if (argc > 1 && strcmp(argv[1], rigid_cases[i]) != 0) continue;
        for (int k = 0; pcs_schemes[k] != NULL; k++)
            if (argc <= 2 || strcmp(argv[2], pcs_schemes[k]->name) == 0)
                rigid_bench(rigid_cases[i], pcs_schemes[k]->name);
    }
    return 0;
}
