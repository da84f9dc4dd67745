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
// Then the coupling of contacts along a body (coupling.h), with B instead of the scaling by multiplicities of dual
// domain decomposition (Farhat, Mandel, Roux 1994):
//
//   B^-1 (N + X) B^-1,   N = R w T w R^T,   T = M + A (S*/c - M) A,   A_kk^2 = (1/w_k - M_kk) / (S*_kk/c - M_kk)
//
// With stiff bodies, equations that no contact holds follow. Where both laws of a contact act then, gap and velocity, T
// is that of both at once:
//
//   f_v = M v + (h K q + h C v)/c,   f_q = M q + kb (h K q + h C v)/c - kw f_v
//
// Exact where R is square: as many contact directions as equations that they touch. A row that slides gives way by X x;
// bodies that move with it take their part of that: X is weighed by `ease` against w, as masses are, not stiffness.

#ifndef PCS_STEP_PRECONDITIONER_H
#define PCS_STEP_PRECONDITIONER_H

#include "step/step.h"

typedef struct pcs_preconditioner pcs_preconditioner;

// Creates the preconditioners of gaps and of velocities for the rows G and T, which may be NULL.
pcs_status pcs_preconditioners_create(pcs_step_solver *solver, const pcs_rows *G, const pcs_rows *T,
                                      pcs_preconditioner *pair[2]);
// Fills both for new values of the rows, of M and of S*, which is NULL without dynamics.
void pcs_preconditioners_fill(pcs_preconditioner *const pair[2], const pcs_matrix *S);
// Returns true if B is factored; and if equations that no contact holds follow. NULL: false.
bool pcs_preconditioner_is_ready(const pcs_preconditioner *self);
bool pcs_preconditioner_follows(const pcs_preconditioner *self);
// Selects the rows with is_in[i] != 0.
void pcs_preconditioner_choose(pcs_preconditioner *self, const unsigned char *is_in);
// Adds `value` to B_ij, for rows of one contact.
void pcs_preconditioner_add(pcs_preconditioner *self, int i, int j, double value);
// Factors B, unless it is far from sparse.
void pcs_preconditioner_factor(pcs_preconditioner *self);
// Returns true if a row slides in space, which makes it compliant.
bool pcs_preconditioner_slides(const pcs_preconditioner *self, int row);
// Clears H: no row holds any equation. Returns false if nothing follows, or if H stands for the rows of this stage.
bool pcs_preconditioner_release(pcs_preconditioner *self, int stage);
// Adds row i to H with compliance `slack`; with its partner, in the direction `turned`, unless that is NULL.
void pcs_preconditioner_hold(pcs_preconditioner *self, int i, const double turned[2], double slack);
// Factors what follows, with H.
void pcs_preconditioner_join(pcs_preconditioner *self);
// Applies x = B^-1 (N + X) B^-1 x.
void pcs_preconditioner_solve(pcs_preconditioner *const pair[2], double *const x[2]);

#endif
