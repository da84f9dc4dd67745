// When a pivot of a factorization is no more than round-off.

#ifndef PCS_LINSOLVE_PIVOT_H
#define PCS_LINSOLVE_PIVOT_H

#include "sparse/matrix.h"

#include <float.h>

// A pivot is the diagonal entry less a sum of squares. Its rounding error is about DBL_EPSILON times the entry, so
// that a positive definite matrix cannot be told from a singular one below that. False for a NaN.
static inline bool pcs_pivot_is_positive(double pivot, double diagonal)
{
    return pivot > 2.0 * DBL_EPSILON * diagonal && pivot > 0.0;
}

#endif
