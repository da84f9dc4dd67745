// Ordinary differential equations y' = s(t, y) with an adaptive explicit Runge-Kutta method that watches for roots;
// private to this folder. The method is that of Dormand and Prince, of order 5(4), in ARKODE (SUNDIALS).

#ifndef PCS_SCHEMES_ODE_H
#define PCS_SCHEMES_ODE_H

#include "core/context.h"

#include <stdbool.h>

typedef struct pcs_ode_problem {
    void *user;
    int n;     // number of unknowns
    int nroot; // number of functions whose zeros end an advance
    // Evaluates y'. Returns false if it does not exist at this state.
    bool (*slope)(void *user, double t, const double *y, double *dy);
    bool (*roots)(void *user, double t, const double *y, double *root); // [nroot]
    int *direction; // [nroot] +1: only rising zeros count, -1: only falling ones; 0 itself lies beyond the zero
} pcs_ode_problem;

typedef enum pcs_ode_end {
    PCS_ODE_STEP,  // one step of the method's own size, or shorter up to the stop
    PCS_ODE_ROOT,  // y is interpolated at a zero within the step; the next advance goes on from there
    PCS_ODE_FAILED // the tolerance cannot be met
} pcs_ode_end;

typedef struct pcs_ode pcs_ode;

pcs_status pcs_ode_create(pcs_context *ctx, const pcs_ode_problem *problem, pcs_ode **out);

// Bounds the error of a step in y_i by rtol |y_i| + atol_i, in the mean over i. ARKODE only reads its arguments.
bool pcs_ode_set_tolerances(pcs_ode *ode, double rtol, double *atol);

// Restarts at (t, y), first with the given step (0: chosen by the method).
bool pcs_ode_restart(pcs_ode *ode, double t, double *y, double first_step);

// Makes one step, not beyond `stop`; t and y follow.
pcs_ode_end pcs_ode_advance(pcs_ode *ode, double stop, double *t, double *y);

// Returns [nroot] numbers, after a root, that are not 0 for the functions that vanish.
const int *pcs_ode_found(const pcs_ode *ode);

// Returns the step that the method would take next, s.
double pcs_ode_next_step(const pcs_ode *ode);

#endif
