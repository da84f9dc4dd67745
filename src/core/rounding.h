// What arithmetic resolves.
//
// A double x is known to eps |x|. So a difference of two positions near q is known to eps |q|, however short the way
// between them: an angle after a thousand turns, or a body far from where it started. A velocity that is such a
// difference over h is known to eps |q|/h, a sum to eps times the sizes of its terms, however much of them cancels.
// Thresholds that tell round-off from something real are small multiples of these.

#ifndef PCS_CORE_ROUNDING_H
#define PCS_CORE_ROUNDING_H

#include <float.h>
#include <math.h>

// Of a velocity v that moves a position q in steps of h.
static inline double pcs_rounding_of_velocity(double q, double v, double h)
{
    return DBL_EPSILON * (fabs(v) + fabs(q) / h);
}

// The largest of n velocities.
static inline double pcs_rounding_of_velocities(int n, const double *q, const double *v, double h)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, pcs_rounding_of_velocity(q[i], v[i], h));
    return largest;
}

// Of sum_k factor[k] x[index[k]], such as a row of directions times positions: of a gap, by what they are rounded off.
static inline double pcs_rounding_of_sum(int count, const double *factor, const int *index, const double *x)
{
    double size = 0.0;
    for (int k = 0; k < count; k++) size += fabs(factor[k] * x[index[k]]);
    return DBL_EPSILON * size;
}

#endif
