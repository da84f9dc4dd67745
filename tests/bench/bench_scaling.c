// What it costs ranks to talk: the sum of a measurement, the agreement after a step. Run under mpiexec:
//
//   mpiexec -n 2 build/tests/bench_scaling
//
// The shortest of many tries, because others use the machine, too. bench_scaling.py runs whole cases over ranks.

#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "core/comm.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 200, CALLS = 50 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Shortest mean time of a call, us.
static double best(const pcs_comm *comm, pcs_context *ctx, int count, double *x)
{
    double least = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now();
        for (int call = 0; call < CALLS; call++) {
            if (count > 0) comm->sum(comm, count, x);
            else (void)comm->agree(comm, ctx, PCS_OK, 0);
        }
        least = fmin(least, (now() - begin) / CALLS);
    }
    return 1e6 * least;
}

int main(void)
{
    static double x[10000];
    pcs_context *ctx = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return 1;
    if (!pcs_processes_are_launched()) {
        puts("bench_scaling is for several ranks: mpiexec -n 2 build/tests/bench_scaling");
        return 0;
    }
    if (pcs_processes_start(ctx) != PCS_OK) return fprintf(stderr, "%s\n", pcs_message(ctx)), 1;
    const pcs_comm *comm = pcs_context_comm(ctx);
    double one = best(comm, ctx, 1, x), nine = best(comm, ctx, 9, x), many = best(comm, ctx, 10000, x);
    double agreement = best(comm, ctx, 0, x);
    if (comm->rank == 0)
        printf("%d ranks: sum of 1 number %.2f us, of 9 %.2f us, of 10000 %.1f us; agreement %.2f us\n", comm->size,
               one, nine, many, agreement);
    pcs_context_destroy(&ctx);
    return 0;
}
