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

// Entries off the diagonal, against the diagonals, by which two equations move alike.
#define PCS_COUPLING_STRONG 0.45

typedef struct pcs_coupling {
    const pcs_system *system;
    const pcs_rows *G, *T;      // the rows; T may be NULL
    bool is_local;              // they are those of this rank alone
    double *beyond[3];          // [copies of the rows' halo] diagonals of M, S* and C there; NULL: nothing is beyond
    int room, most;             // equations and entries that there is room for
    int count;                  // equations, ascending
    int *place;                 // [nv] place of an equation among them, or -1
    int *equation, *contact;    // [room], and for those that rows touch the contact that does
    int *head, *row;            // [room + 1], [most] entries by columns; rows of this rank's own equations only
    double *whole, *hold;       // [most] Ss, H
    int *first, *line;          // [room + 1], [most] entries by columns that are not zero, of
    double *mass, *more, *damp; // M, Ss - M, Cs
    int nheld, *held, *held_column; // [most] entries of H that are not zero
    double *u[2], *s[2];            // [room] what is multiplied; sq and sv
    double *y[2], *e;               // [room] products, e
    double *load, *v, *rest;        // [room] impulses of rows that give way, the motion that follows, work
    int *below, *left;              // [room + 1], [most] entries of L by rows that are not zero
    double *L, *D, *x;              // [most], [room], [room] factor of Ss + H
    bool joins;                     // some entry off the diagonal is not small
    bool may_follow;                // there are many contacts and no other ranks
    bool follows;                   // equations that contacts do not hold follow
    bool is_chain;                  // the factor is exact
    bool is_factored;
} pcs_coupling;

// For rows G and T, all of the system, or (is_local) those of this rank, which does not see the others' then.
pcs_status pcs_coupling_create(pcs_context *ctx, const pcs_system *system, const pcs_rows *G, const pcs_rows *T,
                               bool is_local, pcs_coupling **out);
// New rows, or new values of M and of S, which is NULL without dynamics.
void pcs_coupling_fill(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S, const pcs_step_form *form);
// No row holds anything.
void pcs_coupling_release(pcs_coupling *self);
// A row of `count` entries at `at` holds what it touches; it gives way by `slack` times its impulse.
void pcs_coupling_hold(pcs_coupling *self, int count, const int *at, const double *value, double slack);
void pcs_coupling_factor(pcs_coupling *self);
// Sets y[0] = M u[0] and y[1] = (Ss - M) u[1], if nothing follows.
void pcs_coupling_multiply(const pcs_coupling *self);
// Sets y = M u for gaps and for velocities, and e from s, if the other equations follow.
void pcs_coupling_apply(pcs_coupling *self);

#endif
