// Runs of closed-form systems: positions on a grid of times, and what a run looks like as a whole.

#ifndef RIGID_H
#define RIGID_H

#include "sim/sim.h"

enum { RIGID_SETS = 12, RIGID_TEXT = 160 };

// A run in the making.
typedef struct rigid_run {
    pcs_context *ctx;
    pcs_sim *sim;
} rigid_run;

// Loads cases/<name> with assignments, separated by ';', and starts it; any failure fails the test with its message.
rigid_run rigid_open(const char *name, const char *assignments);
void rigid_step(rigid_run *run);
void rigid_close(rigid_run *run);

// Of a whole run.
typedef struct rigid_trace {
    int n;               // coordinates
    long count;          // rows: the start and every `every`-th step
    double *t, *q, *v;   // [count], [count * n], [count * n]
    double *impulse;     // [count] of the first contact since the start, N s
    double largest_gap;  // in size, of all bilateral rows, m
    double largest_rate; // in size, of all bilateral rows at the true directions, m/s
    long impacts;        // steps with an impact
} rigid_trace;

rigid_trace rigid_run_all(const char *name, const char *assignments, long every);
void rigid_free(rigid_trace *trace);

// Largest singular value of the differences of the first `columns` coordinates: rows of `a` against every
// (b.count - 1)/(a.count - 1)-th row of `b`.
double rigid_spectral_distance(const rigid_trace *a, const rigid_trace *b, int columns);
// Largest difference of a coordinate over the same rows, of positions or of velocities.
double rigid_largest_distance(const rigid_trace *a, const rigid_trace *b, int columns, bool of_velocities);

// Slope of log(error) against log(step) by least squares.
double rigid_slope(int count, const double *step, const double *error);

#endif
