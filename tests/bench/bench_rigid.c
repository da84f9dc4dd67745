// Microseconds per step of every scheme on the rigid cases, the pure step without certificate and output.
//
//   bench_rigid [CASE [SCHEME]]     default: all cases below, all schemes that take them
//
// Every repetition starts anew and runs the case to its end (at most 2000 steps); the best repetition counts. The goal
// is about one microsecond for half_explicit on slider_crank. Allocations are counted elsewhere; nothing here can fail
// for being slow.

#define _POSIX_C_SOURCE 200809L

#include "bench_clock.h"
#include "build/build.h"

enum { REPETITIONS = 40, MOST_STEPS = 2000 };

static const char *const rigid_cases[] = { "slider_crank", "slider_crank_bilateral",
                                           "pendulum",     "rocking_block",
                                           "ball",         "puck" };

typedef struct rigid_start {
    double q[16], v[16];
} rigid_start;

static void rigid_keep(const pcs_sim *sim, rigid_start *start)
{
    memcpy(start->q, sim->state.q, (size_t)sim->system->nq * sizeof(double));
    memcpy(start->v, sim->state.v, (size_t)sim->system->nv * sizeof(double));
}

// Seconds of one run over `steps` steps, negative when it does not get through.
static double rigid_time(pcs_sim *sim, const rigid_start *start, long steps)
{
    memcpy(sim->state.q, start->q, (size_t)sim->system->nq * sizeof(double));
    memcpy(sim->state.v, start->v, (size_t)sim->system->nv * sizeof(double));
    for (int k = 0; k < sim->state.nhistory; k++)
        memset(sim->state.history[k], 0, (size_t)sim->system->nv * sizeof(double));
    sim->state.t = 0.0;
    sim->state.step = 0;
    if (sim->scheme->ops->start(sim->scheme, &sim->state, &sim->report) != PCS_OK) return -1.0;
    double begin = bench_processor_seconds();
    for (long i = 0; i < steps; i++) {
        pcs_status status = sim->scheme->ops->step(sim->scheme, &sim->state, sim->step_size, &sim->report);
        if (status != PCS_OK || sim->report.outcome != PCS_CONVERGED) return -1.0;
    }
    return bench_processor_seconds() - begin;
}

static void rigid_bench(const char *name, const char *scheme)
{
    char path[128], set[128];
    const char *sets[] = { set };
    pcs_context *ctx = NULL;
    pcs_sim *sim = NULL;
    rigid_start start;
    snprintf(path, sizeof path, "cases/%s", name);
    // The one scheme that asks for a parameter.
    const char *needs = strcmp(scheme, "moreau_jean") == 0 ? ", theta: 0.5" : "";
    snprintf(set, sizeof set, "scheme={type: %s%s}", scheme, needs);
    if (pcs_context_create(&ctx) != PCS_OK || pcs_build_sim_from(ctx, path, 1, sets, &sim) != PCS_OK) {
        pcs_context_destroy(&ctx);
        return;
    }
    rigid_keep(sim, &start);
    long steps = sim->nstep < MOST_STEPS ? sim->nstep : MOST_STEPS;
    double best = INFINITY;
    for (int k = 0; k < REPETITIONS && best >= 0.0; k++) {
        double seconds = rigid_time(sim, &start, steps);
        if (seconds < best) best = seconds;
    }
    if (best < 0.0) printf("%-24s %-28s does not get through\n", name, scheme);
    else printf("%-24s %-28s %8.3f us/step over %ld steps\n", name, scheme, 1e6 * best / (double)steps, steps);
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
