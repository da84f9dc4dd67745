// Runs a case with assignments through the simulation's own interface and keeps what every step did to
// its first contact; measures a bar against its exact solution.

#ifndef RUN_CASE_H
#define RUN_CASE_H

#include "exact.h"
#include "sim/sim.h"

// After one step (or after the start, at t = 0).
typedef struct case_record {
    double t;
    double energy;       // J, kinetic + strain + potential
    double gap;          // of the first contact point, m
    double force;        // N, smooth part
    double step_impulse; // N s
    int iterations;
} case_record;

typedef struct case_run {
    pcs_context *ctx;
    pcs_sim *sim;
    long count;           // records so far
    case_record *records; // [count]
} case_run;

// Loads the case and starts it; `set` ends with NULL (or is NULL). Any failure fails the test with the message.
case_run case_open(const char *path, const char *const *set);
// One step; fails the test when the simulation cannot go on.
void case_step(case_run *run);
// All steps from open to the end.
case_run case_run_all(const char *path, const char *const *set);
void case_close(case_run *run);

const case_record *case_last(const case_run *run);
// A probe at the present state, by its number.
double case_probe(const case_run *run, int which);

// How a model lies in space: along `axis`, its contact end at `base` in the mesh. Cells beyond the base belong to the
// bar of the exact solution, cells before it to its mirror image.
typedef struct case_place {
    int axis;
    double base;
} case_place;

// Distances from the exact solution, each relative to the exact solution's own norm.
typedef struct case_errors {
    double displacement;      // max over t of L2(0, L)
    double displacement_mean; // L1(0, T; L1(0, L))
    double velocity;          // L2(0, T; L2(0, L))
    double velocity_mean;     // L1(0, T; L1(0, L))
    double force;             // L2(0, T), force = step impulse / step
    double force_mean;        // L1(0, T)
} case_errors;

// Runs to the end and measures; fields are sampled about `samples` times.
case_errors case_measure(const char *path, const char *const *set, const exact_bar *bar, case_place place,
                         long samples);

#endif
