// When a pivot of a factorization is no more than round-off.

#ifndef PCS_LINSOLVE_PIVOT_H
#define PCS_LINSOLVE_PIVOT_H

#include "core/matrix.h"

#include <float.h>

// Returns true if a pivot, the diagonal entry minus a sum of squares, is positive beyond its rounding error of about
// DBL_EPSILON times the entry: below that a positive definite matrix looks like a singular one. False for a NaN.
static inline bool pcs_pivot_is_positive(double pivot, double diagonal)
{
    return pivot > 2.0 * DBL_EPSILON * diagonal && pivot > 0.0;
}

#endif
