// Bounds the round-off of computed numbers, as the tolerances that stop tests and the certificate are based on.
//
// A double x is known to eps |x|, eps = 2.2e-16. So a difference of two positions near q is known to eps |q|, however
// short the way between them: an angle after a thousand turns, or a body far from where it started. A velocity that is
// such a difference over h is known to eps |q|/h, a sum to eps times the sizes of its terms, however much of them
// cancels, and a number that an iteration leaves over to what its own stop test asks for.
// Each multiple below is of the size of the terms that cancel: of lengths for a gap, of velocities for a rate, of
// forces over the step for an equation of motion.

#ifndef PCS_CORE_ROUNDING_H
#define PCS_CORE_ROUNDING_H

#include <float.h>
#include <math.h>

// A sum of some hundred terms, over the sum of their magnitudes: error of one evaluation.
#define PCS_ROUND_SUM (64.0 * DBL_EPSILON)
// Gaps and positions, over the size of the model: positions are stored to eps of it and take a few hundred operations.
#define PCS_ROUND_LENGTH 1e-13
// Velocities, impulses and momentum, over the largest velocity: computed by an iteration that may end at 1e-12.
#define PCS_ROUND_VELOCITY 1e-11
// Forces inside a model that cancel in the solution, over their magnitudes.
#define PCS_ROUND_FORCE 1e-12
// An equation of motion, over the momentum that velocities and round-off of positions could give to it.
#define PCS_ROUND_MOTION 1e-10
// Energies are squares of velocities.
#define PCS_ROUND_ENERGY 1e-11

// Returns the larger of two sizes, or a NaN, which fmax and comparisons would lose.
static inline double pcs_larger(double largest, double size)
{
    return size > largest || isnan(size) ? size : largest;
}

// Returns fmax (pcs_min: fmin) without a call. For a number and a NaN it returns the number.
static inline double pcs_max(double a, double b)
{
    double most = b > a ? b : a; // one instruction each; returns a if one of them is NaN
    return isnan(most) ? b : most;
}

static inline double pcs_min(double a, double b)
{
    double least = b < a ? b : a;
    return isnan(least) ? b : least;
}

// Returns the round-off of a velocity v that moves a position q in steps of h.
static inline double pcs_rounding_of_velocity(double q, double v, double h)
{
    return DBL_EPSILON * (fabs(v) + fabs(q) / h);
}

// Returns the round-off of sum_k factor[k] x[index[k]], such as a gap: directions of a row times positions.
static inline double pcs_rounding_of_sum(int count, const double *factor, const int *index, const double *x)
{
    double size = 0.0;
    for (int k = 0; k < count; k++) size += fabs(factor[k] * x[index[k]]);
    return DBL_EPSILON * size;
}

#endif
