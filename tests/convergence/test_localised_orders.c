// Orders through impacts: Runge-Kutta methods of order p keep it where impacts are localised.
//
// Each error is the mean over 16 neighbouring step counts of the L1 distance from the exact motion; the order is the
// slope of a least-squares line through 5 levels. On the ball the smooth parts are exact, what is left is the interval
// round each impact, one order higher.

#include "support/check.h"
#include "support/watch.h"

#include <math.h>
#include <stdio.h>

enum { LEVELS = 5, NEIGHBOURS = 16 };

static double mean_error(const char *path, const char *method, double end, int nstep, double (*exact)(double t))
{
    double sum = 0.0;
    for (int i = 0; i < NEIGHBOURS; i++) {
        char scheme[64], step[64], stop[64];
        snprintf(scheme, sizeof scheme, "scheme={type: mannshardt, method: %s}", method);
        snprintf(step, sizeof step, "time.step=%.17g", end / (nstep + i));
        snprintf(stop, sizeof stop, "time.end=%.17g", end);
        sum += watch_measure(path, (const char *const[]){ scheme, step, stop, "time.allow_unstable=true", NULL }, exact)
                   .l1 /
               NEIGHBOURS;
    }
    return sum;
}

static double slope(const double *x, const double *y)
{
    double mx = 0.0, my = 0.0, xy = 0.0, xx = 0.0;
    for (int i = 0; i < LEVELS; i++) {
        mx += log(x[i]) / LEVELS;
        my += log(y[i]) / LEVELS;
    }
    for (int i = 0; i < LEVELS; i++) {
        xy += (log(x[i]) - mx) * (log(y[i]) - my);
        xx += (log(x[i]) - mx) * (log(x[i]) - mx);
    }
    return xy / xx;
}

typedef struct expectation {
    const char *method;
    double order;
    int first; // step count of the coarsest level: the finest must stay above round-off
} expectation;

static void measure(const char *path, double end, double (*exact)(double t), const expectation *wanted,
                    double tolerance)
{
    double h[LEVELS], error[LEVELS];
    for (int i = 0; i < LEVELS; i++) {
        int nstep = (int)lround(wanted->first * pow(2.0, 0.75 * i));
        h[i] = end / (nstep + 0.5 * (NEIGHBOURS - 1));
        error[i] = mean_error(path, wanted->method, end, nstep, exact);
    }
    double order = slope(h, error);
    print_message("%s, %s: L1 error %.2e to %.2e, order %.2f (%.1f)\n", path, wanted->method, error[0],
                  error[LEVELS - 1], order, wanted->order);
    CHECK_NEAR(order, wanted->order, tolerance);
}

TEST(oscillator_keeps_the_order)
{
    static const expectation wanted[] = {
        { "herk2", 2.0, 203 }, { "kutta3", 3.0, 203 }, { "rk4", 4.0, 103 }, { "fehlberg5", 5.0, 53 }
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        measure("cases/impacting_oscillator", 1.9, watch_exact_oscillator, &wanted[i], 0.15);
}

TEST(ball_gains_an_order)
{
    static const expectation wanted[] = {
        { "herk2", 3.0, 83 }, { "kutta3", 4.0, 83 }, { "rk4", 5.0, 83 }, { "fehlberg5", 6.0, 73 }
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        measure("cases/ball_f2", 4.0, watch_exact_ball, &wanted[i], 0.2);
}

// Impacts closer than the intervals they are localised in are rest: the coarser the step, the fewer there are.
TEST(accumulation_is_cheap)
{
    static const char *const methods[] = { "herk2", "kutta3", "rk4", "fehlberg5" };
    for (int k = 0; k < 4; k++)
        for (int n = 11; n < 200; n += 9) {
            char scheme[64], step[64];
            snprintf(scheme, sizeof scheme, "scheme={type: mannshardt, method: %s}", methods[k]);
            snprintf(step, sizeof step, "time.step=%.17g", 4.0 / (n + 0.37));
            watch_errors e =
                watch_measure("cases/ball_f2", (const char *const[]){ scheme, step, NULL }, watch_exact_ball);
            CHECK(e.nforce < 1500 + 20 * n);
        }
}

// So are those that do not rise above the round-off of the gap, however narrow the intervals.
TEST(tiny_rebounds_are_rest)
{
    static const char *const schemes[] = { "scheme={type: mannshardt}", "scheme={type: event_driven}" };
    for (int k = 0; k < 2; k++) {
        watch *w =
            watch_open("cases/ball", (const char *const[]){ schemes[k], "system.height=0.201", "time.end=0.5", NULL });
        while (!pcs_sim_is_done(w->sim)) CHECK_OK(w->ctx, pcs_sim_step(w->sim));
        CHECK(w->sim->state.v[0] == 0.0 && w->nforce < 20000);
        watch_close(&w);
    }
}
