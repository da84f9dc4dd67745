// An approximate inverse of the condensed contact matrix, to precondition products with it.
//
// First a sparse matrix near it: the diagonals of M, C and S* in place of the whole, over the contact directions R.
//
//   B_ij = sum_k R_ik R_jk (w_ik w_jk)^1/2,   w_ik = (S*_kk - h C_kk - a_i (S*_kk - h C_kk - c M_kk)) / (S*_kk M_kk)
//
// a_i says how far row i feels S* instead of M: 1 for gaps, kw / kb for velocities. Rows are coupled where they touch
// the same equations: a pile of bodies becomes chains of contacts, whose length no longer counts then. Rows that are
// out are decoupled. A proximal weight keeps contacts apart that say the same twice, and X is what slip adds.
// B is factored incompletely, L D L^T within its own pattern, contacts ordered along their chains (Cuthill, McKee
// 1969): exact for chains. Rows may touch other equations from one filling to the next, and nothing is allocated.
//
// Then the way contacts feel each other along a body (coupling.h), with B in place of the scaling by multiplicities of
// dual domain decomposition (Farhat, Mandel, Roux 1994):
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

#include "step/coarse.h"
#include "step/coupling.h"
#include "step/step.h"

typedef struct pcs_preconditioner {
    const pcs_step_solver *solver;
    const pcs_rows *part[2];  // rows: those of part[0], then those of part[1], which may be NULL
    int n, room;              // number of rows of both, and allocated number of entries
    int nterm;                // number of entries of the rows
    int *partner;             // [n] other tangent of the contact, or the row itself
    int *first;               // [n + 1] first entries of the rows
    int *column, *row, *from; // [room] equations and rows of the nonzero entries, their places in the part
    int *at;                  // [room] places of the equations in the coupling
    double *value;            // [room] R_ik w_ik^1/2
    double *pull, *share;     // [room] R_ik w_ik and A_kk
    double *mass, *stiff;     // [room] M_kk and S*_kk, on all ranks
    double *damping;          // [room] C_kk
    int *start, *touching;    // [nv + 2], [room] entries that touch each equation, by row
    // B, row by row
    int most;         // allocated number of entries
    int *head, *next; // [n + 1], [most] first entries of the rows, and their columns
    double *whole;    // [most] B with all rows in
    double *B;        // [most]
    int *place;       // [n] work
    // the factor, in its own order
    int *order, *rank;          // [n] row at a place, place of a row
    int *below, *left, *source; // [n + 1], [most] rows of L: first entries, columns, entries of B
    double *L, *D, *x;          // [most], [n], [n]
    // the coupling of contacts through bodies
    pcs_coupling *coupling;
    pcs_coarse *coarse;   // NULL for rows without tangents, and with several ranks
    double *y;            // [n] work
    double *ease;         // [n] compliance of the tangents of a contact, relative to that of their masses alone
    int *hold_at;         // [2 entries of the longest row] work
    double *hold_value;   // the same
    double *own, *paired; // [n] X: additions to the diagonal and to the partner
    unsigned char *is_in; // [n] 1 if the row is in
    bool is_gap;          // rows of gaps, not of velocities
    bool is_sparse;       // the entries of B fit into the memory
    bool is_factored;
} pcs_preconditioner;

// Returns entry e of the rows as given.
static inline double pcs_preconditioner_direction(const pcs_preconditioner *self, int e)
{
    return self->part[self->row[e] < self->part[0]->nrow ? 0 : 1]->value[self->from[e]];
}
// Creates it for the normal rows of the coupling, or with the tangents. Fill the coupling before the preconditioner.
pcs_status pcs_preconditioner_create(pcs_step_solver *solver, bool with_tangents, pcs_coupling *coupling,
                                     pcs_preconditioner **out);
// Fills it for new values of the rows, of M and of S*, which is NULL without dynamics; `share` is a for either part.
void pcs_preconditioner_fill(pcs_preconditioner *self, const pcs_matrix *S, const double share[2]);
// Selects the rows with is_in[i] != 0.
void pcs_preconditioner_choose(pcs_preconditioner *self, const unsigned char *is_in);
// Adds `value` to B_ij, for rows of one contact.
void pcs_preconditioner_add(pcs_preconditioner *self, int i, int j, double value);
// Factors B, unless it is far from sparse.
void pcs_preconditioner_factor(pcs_preconditioner *self);
// Returns true if a row slides in space, which makes it compliant.
bool pcs_preconditioner_slides(const pcs_preconditioner *self, int row);
// Adds row i to H with compliance `slack`; with its partner, in the direction `turned`, unless that is NULL.
void pcs_preconditioner_hold(pcs_preconditioner *self, int i, const double turned[2], double slack);
// Applies x = B^-1 (N + X) B^-1 x.
void pcs_preconditioner_solve(pcs_preconditioner *const pair[2], double *const x[2]);

#endif
