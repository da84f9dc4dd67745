// Two sweeps over a tridiagonal matrix that meet in the middle, side by side in the halves of a vector.
//
// With l_k the multiplier that takes equation k - 1 of a sweep out of equation k, and d_k the pivots,
//
//   forward   y_k = x_k - l_k y_{k-1}          backward   x_k = y_k / d_k - l_{k+1} x_{k+1}
//
// Each step waits for the one before. Several steps at once wait as long as one, here the second of some:
//
//   y_{k+1} = (x_{k+1} - l_{k+1} x_k) + l_{k+1} l_k y_{k-1}
//
// where the bracket is known beforehand; likewise backward. What a multiplication with y_{k-1} is rounded off by reaches
// y_{k+1} with the factor l_{k+1} l_k either way, so that this is as exact as one step after the other.
//
// Pair k is made of the equations k and n - 1 - k. One equation is left in the middle, or two, of which the second one
// belongs to the sweep from below.

#include "core/double2.h"
#include "core/loop.h"
#include "linsolve/chain.h"
#include "linsolve/pivot.h"

#define PAIRS_INLINE static inline __attribute__((always_inline))
#define PAIRS_UNROLL _Pragma("GCC unroll 4")

enum { GROUP = 4 }; // steps at once

static int pairs_count(const pcs_chain *c)
{
    return (c->n - 1) / 2;
}

static double pairs_entry(const pcs_chain *c, const pcs_matrix *A, int i, int j)
{
    double copy[1];
    return *pcs_chain_get(c, A, i, j, copy).at;
}

// Takes equation `from`, whose reciprocal pivot is given, out of `to`: the multiplier; what the pivot of `to` loses is
// added to *loss.
static double pairs_eliminate(const pcs_chain *c, const pcs_matrix *A, int from, int to, double inverse, double *loss)
{
    double coupling = pairs_entry(c, A, to, from), multiplier = coupling * inverse;
    *loss += multiplier * coupling;
    return multiplier;
}

static bool pairs_invert(double diagonal, double loss, double *inverse)
{
    *inverse = 1.0 / (diagonal - loss);
    return pcs_pivot_is_positive(diagonal - loss, diagonal);
}

// lower: the multipliers of each pair, of those that lead to the middle, and of the second equation there; inverse: the
// reciprocal pivots in the same order, that of the first equation in the middle last.
int pcs_chain_pairs_factor(pcs_chain *c, const pcs_matrix *A)
{
    int n = c->n, count = pairs_count(c), first = count, second = n - 1 - count;
    double *lower = c->lower, *inverse = c->inverse, loss[2] = { 0.0, 0.0 };
    if (n == 0) return -1;
    lower[0] = lower[1] = 0.0;
    for (int k = 0; k < count; k++) {
        for (int side = 0; side < 2; side++) {
            int i = side == 0 ? k : n - 1 - k, next = side == 0 ? i + 1 : i - 1, at = 2 * k + side;
            if (!pairs_invert(pairs_entry(c, A, i, i), loss[side], &inverse[at])) return i;
            loss[side] = 0.0;
            lower[at + 2] = pairs_eliminate(c, A, i, next, inverse[at], &loss[side]);
        }
    }
    if (second > first) {
        if (!pairs_invert(pairs_entry(c, A, second, second), loss[1], &inverse[2 * count])) return second;
        loss[1] = 0.0;
        lower[2 * count + 2] = pairs_eliminate(c, A, second, first, inverse[2 * count], &loss[1]);
    }
    return pairs_invert(pairs_entry(c, A, first, first), loss[0] + loss[1], &inverse[n - 1]) ? -1 : first;
}

// `up` and `down` are where the two equations of a pair stand.
static inline pcs_double2 pairs_get(const double *up, const double *down)
{
    return (pcs_double2){ *up, *down };
}

static inline void pairs_put(double *up, double *down, pcs_double2 x)
{
    *up = x[0];
    *down = x[1];
}

// `count` steps of a sweep at once. Each is what those before it in the group make of x, and its share of the y before
// the group.
PAIRS_INLINE pcs_double2 pairs_forward(int count, const double *lower, const double *inverse, double *up, double *down,
                                       pcs_double2 y)
{
    pcs_double2 own = { 0.0, 0.0 }, factor = own, last = own;
    PAIRS_UNROLL
    for (int i = 0; i < count; i++) {
        pcs_double2 l = pcs_double2_load(lower + 2 * i), x = pairs_get(up + i, down - i);
        own = i == 0 ? x : x - l * own;
        factor = i == 0 ? -l : -(l * factor);
        last = own + factor * y;
        pairs_put(up + i, down - i, last * pcs_double2_load(inverse + 2 * i));
    }
    return last;
}

// Likewise from the last pair of a group to the first; `lower` is where the multipliers of the pair after it stand.
PAIRS_INLINE pcs_double2 pairs_backward(int count, const double *lower, double *up, double *down, pcs_double2 x)
{
    pcs_double2 own = { 0.0, 0.0 }, factor = own, last = own;
    PAIRS_UNROLL
    for (int i = 0; i < count; i++) {
        pcs_double2 l = pcs_double2_load(lower - 2 * i), y = pairs_get(up - i, down + i);
        own = i == 0 ? y : y - l * own;
        factor = i == 0 ? -l : -(l * factor);
        last = own + factor * x;
        pairs_put(up - i, down + i, last);
    }
    return last;
}

// The equations in the middle; gives what the sweeps back start from.
static inline pcs_double2 pairs_meet(const pcs_chain *c, double *first, double *second, pcs_double2 y)
{
    const double *l = c->lower + 2 * pairs_count(c), *inverse = c->inverse + c->n - 1;
    if (second == first) {
        *first = (*first - (l[0] * y[0] + l[1] * y[1])) * *inverse;
    } else {
        double low = *second - l[1] * y[1];
        *first = (*first - (l[0] * y[0] + l[2] * low)) * *inverse;
        *second = low * inverse[-1] - l[2] * *first;
    }
    return pairs_get(first, second);
}

PCS_WIDE void pcs_chain_pairs_solve(const pcs_chain *c, double *x)
{
    int n = c->n, count = pairs_count(c), k = 0;
    const double *lower = c->lower, *inverse = c->inverse;
    double *up = x, *down = x + n - 1;
    pcs_double2 y = { 0.0, 0.0 };
    if (n == 0) return;
    for (; k + GROUP <= count; k += GROUP)
        y = pairs_forward(GROUP, lower + 2 * k, inverse + 2 * k, up + k, down - k, y);
    for (; k < count; k++) y = pairs_forward(1, lower + 2 * k, inverse + 2 * k, up + k, down - k, y);
    y = pairs_meet(c, up + k, down - k, y);
    for (; k % GROUP > 0; k--) y = pairs_backward(1, lower + 2 * k, up + k - 1, down - k + 1, y);
    for (; k > 0; k -= GROUP) y = pairs_backward(GROUP, lower + 2 * k, up + k - 1, down - k + 1, y);
}
