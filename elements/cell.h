// Values of a cell's dofs out of and into the vectors of the system; fixed dofs rest at zero.

#ifndef PCS_ELEMENTS_CELL_H
#define PCS_ELEMENTS_CELL_H

#include "elements/element.h"

static inline void pcs_cell_gather(const int *equation, int ndof, const double *x, double *local)
{
    for (int i = 0; i < ndof; i++) local[i] = equation[i] < 0 ? 0.0 : x[equation[i]];
}

static inline void pcs_cell_scatter(const int *equation, int ndof, const double *local, double *x)
{
    for (int i = 0; i < ndof; i++)
        if (equation[i] >= 0) x[equation[i]] += local[i];
}

static inline bool pcs_cell_is_free(const int *equation, int ndof)
{
    for (int i = 0; i < ndof; i++)
        if (equation[i] < 0) return false;
    return true;
}

#endif
