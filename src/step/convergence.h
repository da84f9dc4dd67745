// When does Newton's iteration of a step end? Judged by the largest change of velocities, or of positions over h, that
// an iteration makes:
//
//   settled    the change, or what its rate says is left after it, is below 1e-14 of the velocities; or it has stopped
//              shrinking at the size of round-off: eps of the positions over h, and of the velocities
//   diverging  it no longer halves from one iteration to the next, far above round-off

#ifndef PCS_STEP_CONVERGENCE_H
#define PCS_STEP_CONVERGENCE_H

#include "step/step.h"

typedef struct pcs_convergence {
    const pcs_system *system;
    double h;
    double scale;     // m/s, largest velocity met so far
    double last;      // m/s, change of the iteration before
    double rate;      // of the last change to the one before it
    int count;        // iterations
    double noise;     // m/s, what round-off may leave
    bool is_at_noise; // and this is what is left: more iterations change nothing
} pcs_convergence;

typedef enum pcs_verdict { PCS_SETTLED, PCS_SHRINKING, PCS_GROWING } pcs_verdict;

// Will a contact close or open in this step, as far as the gates or the predicted gaps say? Then the prediction is no
// place to start from. `gap` is [nrow] work.
bool pcs_convergence_foresees(const pcs_step_solver *solver, const pcs_step_problem *p, double *gap);

pcs_convergence pcs_convergence_begin(const pcs_step_solver *solver, const double *v);
// Tells the solver what was left when the iteration ended without an answer: the equation that changed most, and by how
// much.
void pcs_convergence_blame(const pcs_convergence *c, pcs_step_solver *solver, int equation);
// After an iteration that has led to p and changed the motion by `change`.
pcs_verdict pcs_convergence_judge(pcs_convergence *c, const pcs_step_problem *p, double change);

#endif
