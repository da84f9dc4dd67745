// The dense contact problem (contact_problem.h) with friction and bilateral rows.
//
// Bilateral unknowns h have equations of their own and are eliminated, z_h = -P_hh^-1 (b_h + P_hu z_u). The matrix
// of the others, P_uu - P_uh P_hh^-1 P_hu, includes the masses that joints bind to a contact.

#ifndef PCS_STEP_DENSE_CONTACTS_H
#define PCS_STEP_DENSE_CONTACTS_H

#include "step/contact_problem.h"
#include "step/step.h"

typedef struct pcs_active_set pcs_active_set;

typedef struct pcs_dense_contacts {
    const pcs_system *system;
    pcs_contact_problem p;
    double *P;             // [n * n] rows: gap, xi, xt
    double *P_gate;        // [m * n]
    bool is_warm;          // z holds the initial guess; otherwise it starts from zero
    unsigned char *is_out; // [m] 1 for contacts whose multipliers stay zero
    // work:
    pcs_active_set *set; // the reduced problem
    int nheld;           // number of bilateral unknowns
    int *held, *place;   // [n] bilateral unknowns, and those of `set`
    int *row;            // [m] rows of `set`
    int *pivot;          // [n]
    double *H, *B;       // [n * n] P_hh, and its factors
    double *Y, *rest;    // [n * (n + 1)] P_hh^-1 (P_hu, b_h), row by row, and its residual
    double *work;        // [2 (n + 1)]
} pcs_dense_contacts;

// Creates the solver, with memory for position multipliers of tangents if rows may be held.
pcs_status pcs_dense_contacts_create(pcs_context *ctx, const pcs_system *system, bool may_hold,
                                     pcs_dense_contacts **out);
// Solves the problem. Returns false if it does not converge. *iterations counts solves.
bool pcs_dense_contacts_solve(pcs_dense_contacts *c, int *iterations);
// Makes one Newton step from the given z, value and gate_gap, on the sets that follow from them. Returns false if it is
// singular; *is_converged: the sets are the same after it.
bool pcs_dense_contacts_update(pcs_dense_contacts *c, bool *is_converged);
// Solves a problem without dynamics by columns, on the projection as the scheme has set it: which impulses on the gated
// and the bilateral rows give admissible velocities?
//
//   v += X La + XT Lt
//   0 <= G v + target _|_ La >= 0 (bilateral: = 0)
//   Lt in the friction disc against T v + target_t
void pcs_dense_contacts_impact(pcs_dense_contacts *c, const pcs_step_solver *solver, pcs_step_problem *problem,
                               pcs_step_result *result);

#endif
