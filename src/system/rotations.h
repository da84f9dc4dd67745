// Finite rotations of nodes in space: updates positions by an increment x, R(q) = R(q0) exp(x), and rotates vectors,
// matrices and rows with it. Without such nodes all of this is a sum, or nothing at all.

#ifndef PCS_SYSTEM_ROTATIONS_H
#define PCS_SYSTEM_ROTATIONS_H

#include "core/matrix.h"

// Holds the derivatives of the directions of joints by positions: dG_j/dx of the rows whose directions vary.

typedef struct pcs_slopes {
    int count;
    int *row;     // [count] rows of G
    int *start;   // [count + 1] row[i] varies with the coordinates start[i] .. start[i+1]-1
    int *entry;   // [start[count]] index of a coordinate among the entries of its row
    pcs_rows *by; // derivatives of all entries of a row by each of its coordinates
} pcs_slopes;

// Returns the number of coordinates of row[i], and the equation of one of them.
static inline int pcs_slopes_width(const pcs_slopes *s, int i)
{
    return s->start[i + 1] - s->start[i];
}
static inline int pcs_slopes_equation(const pcs_slopes *s, int i, int f)
{
    int c = s->start[i] + f;
    return s->by->column[s->by->start[c] + s->entry[c]];
}
// Returns the number of entries of row[i], 0 if it never varies, and their equations.
static inline int pcs_slopes_size(const pcs_slopes *s, int i)
{
    return pcs_slopes_width(s, i) > 0 ? s->by->start[s->start[i] + 1] - s->by->start[s->start[i]] : 0;
}
static inline const int *pcs_slopes_columns(const pcs_slopes *s, int i)
{
    return s->by->column + s->by->start[s->start[i]];
}
// Returns the derivatives by coordinate f, [size].
static inline double *pcs_slopes_by(const pcs_slopes *s, int i, int f)
{
    return s->by->value + s->by->start[s->start[i] + f];
}

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
// Converts derivatives of rows by spins to those by increments at x. The next function converts to derivatives of rows
// that pcs_rotate_rows has rotated, with G as before.
void pcs_rotate_slopes(const pcs_rotations *r, const double *x, const pcs_slopes *s);
void pcs_rotate_slopes_of_rows(const pcs_rotations *r, const double *x, double part, const pcs_rows *G,
                               const pcs_slopes *s);

#endif
