// Nodes that turn by finite angles in space, as data: how positions move along a change x, R(q) = R(q0) exp(x), and how
// vectors, matrices and rows turn with it. Where there are no such nodes all of this is a sum, or nothing at all.

#ifndef PCS_SYSTEM_ROTATIONS_H
#define PCS_SYSTEM_ROTATIONS_H

#include "sparse/matrix.h"
#include "system/slopes.h"

typedef struct pcs_rotations {
    int nq;
    int count;           // nodes that turn, of this process
    const int *equation; // [count] the first of the three consecutive equations of a node, ascending
    const bool *begins;  // [nq] an equation is one of these; NULL: there are none here
    bool are_somewhere;  // in this process or another one: positions do not add up
} pcs_rotations;

// q = q0 moved by x; q may be x or q0.
void pcs_retract(const pcs_rotations *r, const double *q0, const double *x, double *q);
// x that leads from q0 to q1, the shorter way round; x may be q1.
void pcs_difference(const pcs_rotations *r, const double *q0, const double *q1, double *x);
// y := T(x) y, where T(x) dx is the material spin that goes with a change of x; and A := A T(x).
void pcs_rotate_vector(const pcs_rotations *r, const double *x, double *y);
void pcs_rotate_columns(const pcs_rotations *r, const double *x, pcs_matrix *A);
// Moments R^T m in rows become (part exp(-x) + 1 - part)^-1 R^T m: those of impulses that turn bodies by a `part` of
// what they would in the whole step.
void pcs_rotate_rows(const pcs_rotations *r, const double *x, double part, pcs_rows *rows);
// Derivatives of rows by increments at x in place of those by spins; and those of rows after pcs_rotate_rows, where G
// is as it was before.
void pcs_rotate_slopes(const pcs_rotations *r, const double *x, const pcs_slopes *s);
void pcs_rotate_slopes_of_rows(const pcs_rotations *r, const double *x, double part, const pcs_rows *G,
                               const pcs_slopes *s);

#endif
