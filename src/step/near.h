// A sparse matrix near the condensed one, to precondition products with it: the diagonals of M and S* in place of the
// whole, over the contact directions R.
//
//   B_ij = sum_k R_ik R_jk (w_ik w_jk)^1/2,   w_ik = (1 - a_i) / M_kk + a_i c / S*_kk
//
// a_i says how far row i feels S* instead of M: 1 for gaps, kw / kb for velocities. Rows are coupled where they touch
// the same equations: a pile of bodies becomes chains of contacts, whose length no longer counts then. Rows that are
// out are decoupled. A proximal weight keeps contacts apart that say the same twice.
//
// B is factored incompletely, L D L^T within its own pattern, contacts ordered along their chains (Cuthill, McKee
// 1969): exact for chains, and nothing is allocated when the sets change.

#ifndef PCS_STEP_NEAR_H
#define PCS_STEP_NEAR_H

#include "step/step.h"

typedef struct pcs_near {
    const pcs_step_solver *solver;
    const pcs_rows *part[2]; // its rows: those of part[0], then those of part[1], which may be NULL
    int n, nterm;            // rows of both, and their entries
    int *first;              // [n + 1] entries of the rows
    int *column;             // [nterm] equations
    double *value;           // [nterm] R_ik w_ik^1/2
    double *mass, *stiff;    // [nterm] M_kk and S*_kk, on all ranks
    int *start, *touching;   // [nv + 2], [nterm] entries that touch each equation, by row
    int *row;                // [nterm] rows of the entries
    int *place;              // [n] work
    pcs_matrix *whole, *B;   // of all rows, and of those that are in
    // The factor, in its own order.
    int *order, *rank;          // [n] row at a place, place of a row
    int *below, *left, *source; // [n + 1], [entries] rows of L: first entries, columns, entries of B
    double *L, *D, *x;          // [entries], [n], [n]
    bool is_factored;
} pcs_near;

// *out is NULL where the directions vary or B would be far from sparse.
pcs_status pcs_near_create(pcs_step_solver *solver, const pcs_rows *first, const pcs_rows *second, pcs_near **out);
// New values of M and S*, which is NULL without dynamics; `share` is a for either part.
void pcs_near_fill(pcs_near *near, const pcs_matrix *S, const double share[2]);
// Rows with is_in[i] != 0 are in.
void pcs_near_choose(pcs_near *near, const unsigned char *is_in);
// B_ij += value, for rows of one contact.
void pcs_near_add(pcs_near *near, int i, int j, double value);
// Makes it ready to solve.
void pcs_near_factor(pcs_near *near);
// x = B^-1 x
void pcs_near_solve(const pcs_near *near, double *x);

#endif
