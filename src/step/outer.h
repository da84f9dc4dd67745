// Newton's iteration on the motion of a step, shared by the solvers that linearise it: `newton` and `schur`. Where it
// starts, when it ends, when a prediction is given up.
//
// It starts from the prediction where the motion is smooth, and from the start of the step, a state in balance, where a
// contact is about to change or the prediction leads nowhere. An iteration is judged by the largest change of
// velocities, or of positions over h, that it makes:
//
//   settled    the change, or what its rate says is left after it, is below 1e-14 of the velocities; or it has stopped
//              shrinking at the size of round-off: eps of the positions over h, and of the velocities
//   growing    it no longer halves from one iteration to the next, far above round-off
//
// A settled motion also has to keep the law of every row that acts along the directions where the step ends: they turn
// fast where a distance is short, as in a bearing with little backlash, and were taken from the iterate before.

#ifndef PCS_STEP_OUTER_H
#define PCS_STEP_OUTER_H

#include "step/step.h"

typedef struct pcs_outer {
    // No increment and no multipliers yet, linearised about the prediction or about the start of the step, which is no
    // point of the iteration.
    void (*begin)(pcs_step_solver *self, pcs_step_problem *p, bool is_at_start);
    // Linearises and solves the contact problem, the count-th time from 0; gives the change of the motion. NAN when
    // that fails, with what went wrong in *outcome, which is PCS_NOT_CONVERGED before.
    double (*iterate)(pcs_step_solver *self, pcs_step_problem *p, int count, int *iterations, pcs_outcome *outcome);
    // Is something still missing from a motion that has settled?
    bool (*is_provisional)(pcs_step_solver *self, const pcs_step_problem *p);
    // Mass and directions go to the present place; false when the mass is singular.
    bool (*move)(pcs_step_solver *self, const pcs_step_problem *p);
    const double *v0;     // [nv] velocities as the step was stated
    const double *change; // [nv] of the last iteration
    double *z;            // [2 nrow] nu, La
    double *z_last;       // [2 nrow] those of the iterate before, as far as they are kept; NULL: they are not
    bool *is_hasty;       // the contact problem is given up where it takes long
    double *work;         // [nrow]
} pcs_outer;

// Solves a step with dynamics. Without an answer the solver is told what was left, and where.
pcs_outcome pcs_outer_solve(pcs_step_solver *self, pcs_step_problem *p, const pcs_outer *outer, int *iterations);

// What the law of row j adds to its velocity: a number, or a factor of the row times `velocity`.
static inline double pcs_row_target(const pcs_rows *rows, int j, const double *target, const double *velocity)
{
    return velocity == NULL ? target[j] : target[j] * pcs_rows_dot(rows, j, velocity);
}

#endif
