// M, S* and C between the equations that contact rows touch and those near them: how contacts feel each other through a
// body. What rows hold moves as told, s, and everything else follows by v (the Dirichlet preconditioner of dual domain
// decomposition, Farhat, Mandel, Roux 1994):
//
//   e = Ks sq + Cs sv + Ss v,   (Ss + H) v = load - Ks sq - (Cs + M) sv
//   Ss = S*/c,   Cs = h C/c,   Ks = Ss - M - Cs
//
// H holds the rows body by body: firmly, or, where a row gives way, by twice the inverse of that, which bounds the rows
// of two bodies from above. The factor of Ss + H stays within its own pattern: exact for chains in the order of their
// equations. Elsewhere v is corrected once, so that the whole stays positive.
//
// Costs more than products of the rows alone, the lumped preconditioner (Farhat, Roux 1991), which is kept where
// equations that no row touches hardly couple contacts, and with several ranks.

#ifndef PCS_STEP_COUPLING_H
#define PCS_STEP_COUPLING_H

#include "step/step.h"

// Smallest ratio of an off-diagonal entry to the diagonals from which on two equations move alike.
#define PCS_COUPLING_STRONG 0.45

typedef struct pcs_coupling {
    const pcs_system *system;
    const pcs_rows *G, *T;      // contact rows; T is NULL without friction
    bool is_local;              // the rows are those of this rank alone
    double *beyond[3];          // [copies of the rows' halo] diagonals of M, S* and C there; NULL if there is no halo
    int room, most;             // allocated numbers of equations and of entries
    int count;                  // number of equations, ascending
    int *place;                 // [nv] place of an equation among them, or -1
    int *equation, *contact;    // [room] equations; contact that touches each, if any
    int *head, *row;            // [room + 1], [most] entries by columns; only rows of this rank's own equations
    double *whole, *hold;       // [most] Ss, H
    int *first, *line;          // [room + 1], [most] nonzero entries by columns, of
    double *mass, *more, *damp; // M, Ss - M, Cs
    int nheld, *held, *held_column; // [most] nonzero entries of H, and their columns
    double *u[2], *s[2];            // [room] input of the products; sq and sv
    double *y[2], *e;               // [room] products, e
    double *load, *v, *rest;        // [room] impulses of compliant rows, motion that follows, work
    int *below, *left;              // [room + 1], [most] nonzero entries of L by rows
    double *L, *D, *x;              // [most], [room], [room] factor of Ss + H
    bool joins;                     // some off-diagonal entry is not small
    bool may_follow;                // there are many contacts, and a single rank
    bool follows;                   // equations that contacts do not hold follow
    bool is_chain;                  // the factor is exact
    bool is_factored;
} pcs_coupling;

// Creates the coupling for rows G and T: all of the system, or (is_local) those of this rank without the others'.
pcs_status pcs_coupling_create(pcs_context *ctx, const pcs_system *system, const pcs_rows *G, const pcs_rows *T,
                               bool is_local, pcs_coupling **out);
// Fills the coupling for new rows, or for new values of M and of S, which is NULL without dynamics.
void pcs_coupling_fill(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S, const pcs_step_form *form);
// Clears H: no row holds any equation.
void pcs_coupling_release(pcs_coupling *self);
// Adds a row of `count` entries at `at` to H: it holds its equations, with compliance `slack`.
void pcs_coupling_hold(pcs_coupling *self, int count, const int *at, const double *value, double slack);
void pcs_coupling_factor(pcs_coupling *self);
// Computes y[0] = M u[0] and y[1] = (Ss - M) u[1], if nothing follows.
void pcs_coupling_multiply(const pcs_coupling *self);
// Computes y = M u for gaps and for velocities, and e from s, if the other equations follow.
void pcs_coupling_apply(pcs_coupling *self);

#endif
