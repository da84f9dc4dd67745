// A step of scheme `wave` on a bar with its contact closed, beside the half-explicit scheme and the least traffic of a
// step: q and u read and written, V written.
//
//   bench_wave [ELEMENTS]     default 1000
//
// All take turns and the best time of each counts. Nothing here can fail for being slow.

#define _POSIX_C_SOURCE 200809L

#include "bench_clock.h"
#include "build/build.h"

#include <math.h>

enum { WAVE, EXPLICIT, LUMPED, NRUN, STEPS = 100, ROUNDS = 200, WARM_UP = 20 };

typedef struct contestant {
    const char *name, *set[2];
    pcs_context *ctx;
    pcs_sim *sim;
    double best; // s a step
} contestant;

static void wave_stop(const contestant *c, const char *what)
{
    fprintf(stderr, "error: %s: %s: %s\n", c->name, what, c->ctx == NULL ? "no memory" : pcs_message(c->ctx));
    exit(1);
}

// The bar of cases/bar_impact, moving at 10 m/s, with its end at the wall.
static void wave_open(contestant *c, int elements)
{
    char mesh[128];
    snprintf(mesh, sizeof mesh, "mesh.bar={type: line, from: [0, 0, 0], to: [10, 0, 0], elements: %d}", elements);
    const char *set[] = { mesh, "time.step=auto", "time.end=1.0e+3", c->set[0], c->set[1] };
    bool is_open = pcs_context_create(&c->ctx) == PCS_OK &&
                   pcs_build_sim_from(c->ctx, "cases/bar_impact", 5, set, &c->sim) == PCS_OK;
    if (!is_open || pcs_sim_start(c->sim) != PCS_OK) wave_stop(c, "set-up");
}

static void wave_run(contestant *c, int steps)
{
    pcs_sim *sim = c->sim;
    double start = bench_seconds();
    for (int k = 0; k < steps; k++) {
        pcs_status status = sim->scheme->ops->step(sim->scheme, &sim->state, sim->step_size, &sim->report);
        if (status != PCS_OK || sim->report.outcome != PCS_CONVERGED) wave_stop(c, "step");
    }
    c->best = fmin(c->best, (bench_seconds() - start) / steps);
}

// Anew for every round, so that the contact is closed.
static void wave_measure(contestant *c, int elements)
{
    double best = c->best;
    wave_open(c, elements);
    wave_run(c, WARM_UP);
    c->best = best;
    wave_run(c, STEPS);
    if (!(c->sim->report.rows[0].step_impulse > 0.0)) wave_stop(c, "the contact is open");
    pcs_context_destroy(&c->ctx);
}

// Least traffic: numbers that stay as they are.
static double wave_stream(int n)
{
    double *q = bench_vector(n), *u = bench_vector(n), *v = bench_vector(n), best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double start = bench_seconds();
        for (int k = 0; k < STEPS; k++) {
            double h = 1e-3 / (k + 1);
            for (int i = 0; i < n; i++) {
                v[i] = 0.5 * u[i];
                q[i] += h * v[i];
                u[i] = 2.0 * v[i] - h * q[i];
            }
        }
        best = fmin(best, (bench_seconds() - start) / STEPS);
    }
    free(q);
    free(u);
    free(v);
    return best;
}

int main(int argc, char **argv)
{
    int elements = argc > 1 ? atoi(argv[1]) : 1000;
    contestant runs[NRUN] = {
        [WAVE] = { .name = "wave", .set = { "scheme={type: wave}", "certify=strict" }, .best = INFINITY },
        [EXPLICIT] = { .name = "half_explicit",
                       .set = { "scheme={type: half_explicit}", "elements.bar.mass=consistent" },
                       .best = INFINITY },
        [LUMPED] = { .name = "half_explicit, lumped",
                     .set = { "scheme={type: half_explicit}", "elements.bar.mass=lumped" },
                     .best = INFINITY },
    };
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < NRUN; k++) wave_measure(&runs[k], elements);
    printf("\nA step of a bar of %d elements, contact closed, us\n", elements);
    for (int k = 0; k < NRUN; k++)
        printf("  %-24s %8.3f   %.2f of half_explicit\n", runs[k].name, 1e6 * runs[k].best,
               runs[k].best / runs[EXPLICIT].best);
    double memory = wave_stream(elements + 1);
    printf("  %-24s %8.3f   wave takes %.1f times that\n", "memory limit", 1e6 * memory, runs[WAVE].best / memory);
    printf("  wave below half_explicit: %s\n", runs[WAVE].best < runs[EXPLICIT].best ? "goal met" : "goal missed");
    return 0;
}
