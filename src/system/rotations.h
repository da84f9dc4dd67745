// Finite rotations of nodes in space: updates positions by an increment x, R(q) = R(q0) exp(x), and rotates vectors,
// matrices and rows with it. Without such nodes all of this is a sum, or nothing at all.

#ifndef PCS_SYSTEM_ROTATIONS_H
#define PCS_SYSTEM_ROTATIONS_H

#include "core/matrix.h"
#include "system/slopes.h"

typedef struct pcs_rotations {
    int nq;
    int count;           // number of nodes here with finite rotations in space
    const int *equation; // [count] first of the three consecutive equations of a node, ascending
    const bool *begins;  // [nq] true for these equations; NULL if there are none here
    bool are_somewhere;  // in this process or another one: positions do not add up
} pcs_rotations;

// Moves q0 by x; q may be x or q0.
void pcs_retract(const pcs_rotations *r, const double *q0, const double *x, double *q);
// Finds the x that moves q0 to q1, at most half a turn; x may be q1.
void pcs_difference(const pcs_rotations *r, const double *q0, const double *q1, double *x);
// Multiplies by the tangent operator: y := T(x) y and A := A T(x); T(x) dx is the material spin of a change dx.
void pcs_rotate_vector(const pcs_rotations *r, const double *x, double *y);
void pcs_rotate_columns(const pcs_rotations *r, const double *x, pcs_matrix *A);
// Multiplies moments R^T m in rows by (part exp(-x) + 1 - part)^-1: an impulse rotates its body by a `part` of x.
void pcs_rotate_rows(const pcs_rotations *r, const double *x, double part, pcs_rows *rows);
// Converts derivatives of rows by spins to those by increments at x; and to those of rows that pcs_rotate_rows has
// rotated, with G as it was before.
void pcs_rotate_slopes(const pcs_rotations *r, const double *x, const pcs_slopes *s);
void pcs_rotate_slopes_of_rows(const pcs_rotations *r, const double *x, double part, const pcs_rows *G,
                               const pcs_slopes *s);

#endif
