// M and S*/c between the equations that contact rows touch: how neighbouring contacts feel each other through a body.
// The rest of the body is left out, so that a product costs a few operations per touched equation.

#ifndef PCS_STEP_COUPLING_H
#define PCS_STEP_COUPLING_H

#include "step/step.h"

typedef struct pcs_coupling {
    const pcs_system *system;
    const pcs_rows *G, *T; // the rows; T may be NULL
    bool is_local;         // they are those of this rank alone and touch its equations only
    int room, most;        // touched equations and entries that there is room for
    int count;             // touched equations
    int *place;            // [nv] place of an equation among the touched ones, or -1
    int *equation;         // [room]
    int *head, *row;       // [room + 1], [most] entries by columns; rows of this rank's own equations only
    double *mass, *more;   // [most] M and S*/c - M
    double *u[2];          // [room] factors of M and of S*/c - M
    double *y[2];          // [room] products
    bool joins;            // some entry off the diagonal is not small
} pcs_coupling;

// For rows G and T, all of the system, or (is_local) those of this rank, which does not see the others' then.
pcs_status pcs_coupling_create(pcs_context *ctx, const pcs_system *system, const pcs_rows *G, const pcs_rows *T,
                               bool is_local, pcs_coupling **out);
// New rows, or new values of M and of S, which is NULL without dynamics.
void pcs_coupling_fill(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S, double c);
// y[0] = M u[0], y[1] = (S*/c - M) u[1]
void pcs_coupling_multiply(const pcs_coupling *self);

#endif
