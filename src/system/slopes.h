// Holds the derivatives of the directions of joints by positions: dG_j/dx of the rows whose directions vary.

#ifndef PCS_SYSTEM_SLOPES_H
#define PCS_SYSTEM_SLOPES_H

#include "core/matrix.h"

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

#endif
