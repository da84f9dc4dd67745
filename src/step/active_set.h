// The dense contact problem (contact_problem.h) that is left when joints are eliminated and idle rows are left out:
// contacts that may open, stick and slide.
//
// Semi-smooth Newton on the projection equations (Alart, Curnier 1991; Bruls, Acary, Cardona 2014, eq. 38); in the
// plane (one tangent) slip is linear and the method ends when the sets repeat, in space the direction of slip is
// iterated to round-off. When the sets cycle or contradict each other all cases are tried where they are few; else
// changes of a part of the rows, the method of many contacts (krylov_set.h) and projected Gauss-Seidel sweeps have
// their turn.
//
// Round-off: a value is b_k plus terms P_kj z_j that may cancel, each of them known to some eps of what it was summed
// from, so the value is known to 8 eps (b_size_k + P_size_kj |z_j|).

#ifndef PCS_STEP_ACTIVE_SET_H
#define PCS_STEP_ACTIVE_SET_H

#include "step/krylov_set.h"

typedef struct pcs_active_set {
    pcs_contact_problem p;   // reduced problem: m, nt, n and rows of the contacts that are left
    pcs_row *rows;           // [m] rows that are left, their tangents numbered among themselves
    double *P;               // [n * n] rows: gap, xi, xt
    double *P_size, *b_size; // [n * n], [n] sums of the magnitudes of the terms of each entry
    double *P_gate;          // [m * n]
    bool is_warm;            // z holds the initial guess; otherwise it starts from zero
    double accepted;         // largest violation of a law, relative to the largest velocity
    int iterations;          // number of solves, cases and sweeps of the last solution
    // work
    double weight;                   // proximal weight on the diagonal
    double excused;                  // cap on the round-off allowance, relative to the largest velocity
    double scale;                    // largest velocity, m/s
    double noise[2];                 // round-off of gaps, m, and of velocities, m/s, at z
    double smallest_pivot;           // smallest pivot of J relative to its row; below it rows are redundant
    unsigned char *last_gate;        // [m] gate of the round before
    unsigned draw;                   // state of the random sequence that breaks cycles of the sets
    unsigned char *mode, *last_mode; // [n] state of each unknown
    int *active;                     // [n] unknowns in the equations
    double *J, *x, *F;               // [n * n], [n], [n]
    pcs_krylov_set *contacts;        // the same problem for the Krylov solver
} pcs_active_set;

// Allocates an active set for all rows of a system.
pcs_status pcs_active_set_create(pcs_context *ctx, const pcs_system *system, pcs_active_set **out);
// Solves the problem. Returns false if it does not converge.
bool pcs_active_set_solve(pcs_active_set *s);
// Makes one Newton step from the given z, value and gate_gap, on the sets that follow from them. Returns false if it is
// singular; *is_settled: the sets are the same after it.
bool pcs_active_set_update(pcs_active_set *s, bool *is_settled);

// Shared by its files.

// Computes the masses of redundant rows and the scales; call it first.
void pcs_active_set_begin(pcs_active_set *s);
// Makes one Newton step on the equations of the present modes; *change: largest change over that which counts as none.
bool pcs_active_set_newton(pcs_active_set *s, double *change);
// Returns the effect of a change dz of unknown k on its value, over that which counts as none.
double pcs_active_set_ratio(const pcs_active_set *s, int k, double dz);
// Returns the magnitude up to which the value of unknown k counts as zero: round-off plus `tolerance` times the scale.
double pcs_active_set_allowance(const pcs_active_set *s, int k, double tolerance);
// Returns true if the imposed equations hold.
bool pcs_active_set_is_solved(const pcs_active_set *s, double tolerance);
// Returns true if all laws hold at z, whatever the sets are.
bool pcs_active_set_holds(pcs_active_set *s, double tolerance);
// Iterates semi-smooth Newton steps from z, or from zero, until the sets repeat; if `by_chance`, only a part of the
// rows changes at a time.
bool pcs_active_set_iterate(pcs_active_set *s, bool by_chance);

#endif
