// An approximate inverse of the condensed contact matrix, to precondition products with it.
//
// First a sparse matrix near it, with the diagonals of M, C and S* only, over the contact directions R.
//
//   B_ij = sum_k R_ik R_jk (w_ik w_jk)^1/2,   w_ik = (S*_kk - h C_kk - a_i (S*_kk - h C_kk - c M_kk)) / (S*_kk M_kk)
//
// a_i says how far row i feels S* instead of M: 1 for gaps, kw / kb for velocities. Rows are coupled where they touch
// the same equations: a pile of bodies becomes chains of contacts, whose length no longer counts then. Rows that are
// out are decoupled. A proximal weight regularizes redundant contacts, and X is the compliance that slip adds.
// B is factored incompletely, L D L^T within its own pattern, contacts ordered along their chains (Cuthill, McKee
// 1969): exact for chains. Rows may touch other equations from one filling to the next, and nothing is allocated.
//
// Then the coupling of contacts along a body: the lumped preconditioner of dual domain decomposition (Farhat, Roux
// 1991), with B in place of the scaling by multiplicities.
//
//   B^-1 (N + X) B^-1,   N = R w T w R^T,   T = M + A (S*/c - M) A,   A_kk^2 = (1/w_k - M_kk) / (S*_kk/c - M_kk)
//
// And motions in common of what a body joins firmly. docs/scaling.md has what both are worth.

#ifndef PCS_STEP_PRECONDITIONER_H
#define PCS_STEP_PRECONDITIONER_H

#include "step/step.h"

typedef struct pcs_preconditioner pcs_preconditioner;

// Creates the preconditioners of gaps and of velocities for the rows G and T, which may be NULL.
pcs_status pcs_preconditioners_create(pcs_step_solver *solver, const pcs_rows *G, const pcs_rows *T,
                                      pcs_preconditioner *pair[2]);
// Fills both for new values of the rows, of M and of S*, which is NULL without dynamics.
void pcs_preconditioners_fill(pcs_preconditioner *const pair[2], const pcs_matrix *S);
// Returns true if B is factored. NULL: false.
bool pcs_preconditioner_is_ready(const pcs_preconditioner *self);
// Selects the rows with is_in[i] != 0.
void pcs_preconditioner_choose(pcs_preconditioner *self, const unsigned char *is_in);
// Adds `value` to B_ij, for rows of one contact.
void pcs_preconditioner_add(pcs_preconditioner *self, int i, int j, double value);
// Factors B, unless it is far from sparse.
void pcs_preconditioner_factor(pcs_preconditioner *self);
// Applies x = B^-1 (N + X) B^-1 x.
void pcs_preconditioner_solve(pcs_preconditioner *self, double *x);

#endif
