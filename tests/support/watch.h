// Runs closed-form cases through the simulation's own interface, counts force evaluations, and knows the exact motion
// of two of them.

#ifndef TESTS_SUPPORT_WATCH_H
#define TESTS_SUPPORT_WATCH_H

#include "sim/sim.h"

typedef struct watch {
    pcs_context *ctx;
    pcs_sim *sim;
    long nforce;                      // evaluations by the scheme since the start
    bool is_stepping;                 // the scheme is at work
    pcs_scheme_ops stepping;          // the scheme's functions, with a step that says so
    const pcs_scheme_ops *scheme_ops; // as they were
    pcs_system_ops counting;          // the system's functions, with a force that counts
    const pcs_system_ops *ops;        // as they were
} watch;

// Loads and starts a case; `set` ends with NULL (or is NULL). Any failure fails the test with the message.
watch *watch_open(const char *path, const char *const *set);
void watch_close(watch **w);

// Position of cases/ball_f2: v' = -2, e = 1/2, q(0) = 1; impacts at 1, 2, 2.5, 2.75, ..., rest from t = 3.
double watch_exact_ball(double t);
// Position of cases/impacting_oscillator: cos(2 pi t) up to the first impact at 1/4, then arcs of half a second.
double watch_exact_oscillator(double t);

// Distance of the first coordinate from an exact motion, over a whole run.
typedef struct watch_errors {
    double l1; // integral over time of the distance at the ends of steps
    double max;
    long nstep, attempts, rejections, nforce;
} watch_errors;

// Runs to the end; fails the test when that is not reached.
watch_errors watch_measure(const char *path, const char *const *set, double (*exact)(double t));

#endif
