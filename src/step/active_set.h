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
    pcs_contact_problem p;   // only what is left of m, nt, n and the rows
    pcs_row *rows;           // [m] their tangents are numbered among themselves
    double *P;               // [n * n] rows: gap, xi, xt
    double *P_size, *b_size; // [n * n], [n] what the entries were summed from, by size
    double *P_gate;          // [m * n]
    bool is_warm;            // z holds where to start; otherwise from zero
    double accepted;         // of the largest velocity: laws are broken by more
    int iterations;          // solves, cases and sweeps of the last solution
    // work
    double weight;                   // proximal, on the diagonal
    double excused;                  // of the largest velocity: round-off that laws may be broken by besides
    double scale;                    // m/s, of the velocities
    double noise[2];                 // m and m/s, what round-off leaves undecided of gaps and velocities at z
    double smallest_pivot;           // of J, in units of its row: below it rows say the same twice
    unsigned char *last_gate;        // [m]
    unsigned draw;                   // state of the sequence that breaks cycles of the sets
    unsigned char *mode, *last_mode; // [n] state of each unknown
    int *active;                     // [n] unknowns in the equations
    double *J, *x, *F;               // [n * n], [n], [n]
    pcs_krylov_set *contacts;        // the same problem for the method of many contacts
} pcs_active_set;

// Room for all rows of a system.
pcs_status pcs_active_set_create(pcs_context *ctx, const pcs_system *system, pcs_active_set **out);
// False when it does not settle.
bool pcs_active_set_solve(pcs_active_set *s);
// One Newton step from the z, value and gate_gap given, on the sets that these ask for. False when it is singular;
// *is_settled says whether the sets are still the same after it.
bool pcs_active_set_update(pcs_active_set *s, bool *is_settled);

// Shared by its files.

// Multiplier zero; equation imposed; on the edge of the friction disc, in space or either way in the plane.
enum { PCS_MODE_OUT, PCS_MODE_HELD, PCS_MODE_SLIDING, PCS_MODE_SLIDING_UP, PCS_MODE_SLIDING_DOWN };

// Masses of redundant rows and sizes, before anything else.
void pcs_active_set_begin(pcs_active_set *s);
// One Newton step on the equations of the present modes; *change is the largest one over what counts as none.
bool pcs_active_set_newton(pcs_active_set *s, double *change);
// A change dz of unknown k, by what it does to its value, over what counts as none.
double pcs_active_set_ratio(const pcs_active_set *s, int k, double dz);
// Up to where the value of unknown k counts as zero: round-off, and a tolerance in units of the largest velocity.
double pcs_active_set_allowance(const pcs_active_set *s, int k, double tolerance);
// Do the equations imposed hold?
bool pcs_active_set_is_solved(const pcs_active_set *s, double tolerance);
// Do all laws hold at z, whatever the sets are?
bool pcs_active_set_holds(pcs_active_set *s, double tolerance);
// Semi-smooth Newton from z, or from zero, until the sets repeat; `by_chance` only a part of the rows changes at a
// time.
bool pcs_active_set_iterate(pcs_active_set *s, bool by_chance);

#endif
