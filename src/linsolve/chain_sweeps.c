// Two sweeps over a block tridiagonal matrix that meet in the middle (twisted factorization).
//
// The upper blocks are eliminated downwards, the lower ones upwards; the two recurrences are independent, so that the
// processor works on both at once. Each block S, reduced by what was eliminated before it, is split into L D L' with unit
// lower triangular L, and couples to the next block of its sweep through W = C L^-T D^-1, where C is the block
// of A below (above) it:
//
//   forward   L y_k = x_k - W_{k-1} y_{k-1}          backward   L' x_k = D^-1 y_k - W_k' x_{k+1}
//
// This is the banded L D L' factorization of A in another numbering: backward stable for every positive definite A. The
// last block is filled up with the identity when b does not divide n; it is not the only one then, because b is the
// smallest that fits.

#include "linsolve/chain.h"
#include "linsolve/pivot.h"

#include <string.h>

enum { BLOCK_MAX = 6 };

#define SWEEPS_INLINE static inline __attribute__((always_inline))
#define SWEEPS_UNROLL _Pragma("GCC unroll 6")

// Doubles per step of a sweep: W from the block before (by columns), then L below its diagonal (by columns).
SWEEPS_INLINE int sweeps_stride(int b)
{
    return b * b + b * (b - 1) / 2;
}

// Blocks 0 .. middle-1 are swept downwards, nblock-1 .. middle+1 upwards. The step of the middle block stands at the
// end of each sweep.
static int sweeps_middle(const pcs_chain *c)
{
    return (c->nblock - 1) / 2;
}

static double *sweeps_upper(const pcs_chain *c)
{
    return c->lower;
}

static double *sweeps_lower(const pcs_chain *c)
{
    return c->lower + (size_t)(sweeps_middle(c) + 1) * (size_t)sweeps_stride(c->b);
}

size_t pcs_chain_sweeps_lower(const pcs_chain *c)
{
    return (size_t)(c->nblock + 1) * (size_t)sweeps_stride(c->b);
}

// Block (I, J) of A by columns; the diagonal is filled up with ones.
static void sweeps_get(const pcs_matrix *A, int b, int I, int J, double *block)
{
    const pcs_pattern *pattern = A->pattern;
    memset(block, 0, (size_t)(b * b) * sizeof *block);
    for (int k = 0; k < b; k++) {
        int j = J * b + k;
        if (j >= pattern->n) {
            if (I == J) block[k * b + k] = 1.0;
            continue;
        }
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
            int i = pattern->row[p] - I * b;
            if (i >= 0 && i < b) block[k * b + i] = A->value[p];
        }
    }
}

// S -> L D L' in place of `lower` and `inverse`. Answers the row with a pivot that is not positive, or -1.
static int sweeps_split(int b, double *S, const double *diagonal, double *lower, double *inverse)
{
    for (int k = 0; k < b; k++) {
        double pivot = S[k * b + k];
        if (!pcs_pivot_is_positive(pivot, diagonal[k])) return k;
        inverse[k] = 1.0 / pivot;
        for (int i = k + 1; i < b; i++) lower[i - k - 1] = S[k * b + i] * inverse[k];
        for (int j = k + 1; j < b; j++)
            for (int i = j; i < b; i++) S[j * b + i] -= lower[j - k - 1] * S[k * b + i];
        lower += b - k - 1;
    }
    return -1;
}

// W = C L^-T D^-1 and S -= W D W' (lower triangle) for the next block of the sweep.
static void sweeps_couple(int b, double *C, const double *lower, const double *inverse, double *W, double *S)
{
    for (int k = 0; k < b; k++) {
        double *column = C + k * b;
        for (int i = 0; i < b; i++) W[k * b + i] = column[i] * inverse[k];
        for (int m = k + 1; m < b; m++)
            for (int i = 0; i < b; i++) C[m * b + i] -= lower[m - k - 1] * column[i];
        lower += b - k - 1;
    }
    for (int j = 0; j < b; j++)
        for (int i = j; i < b; i++)
            for (int k = 0; k < b; k++) S[j * b + i] -= C[k * b + i] * W[k * b + j];
}

// Factors block I less the reduction by its neighbours. Answers the equation with a bad pivot, or -1.
static int sweeps_eliminate(pcs_chain *c, const pcs_matrix *A, int I, const double *reduction, double *step)
{
    int b = c->b;
    double block[BLOCK_MAX * BLOCK_MAX], diagonal[BLOCK_MAX];
    sweeps_get(A, b, I, I, block);
    for (int k = 0; k < b; k++) diagonal[k] = block[k * b + k];
    for (int k = 0; k < b * b; k++) block[k] += reduction[k];
    int bad = sweeps_split(b, block, diagonal, step + b * b, c->inverse + (size_t)I * (size_t)b);
    return bad < 0 ? -1 : I * b + bad;
}

// One sweep from block `first` to the one before the middle; its effect on the middle block is added to S.
static int sweeps_run(pcs_chain *c, const pcs_matrix *A, int first, int direction, double *step, double *S)
{
    int b = c->b, stride = sweeps_stride(b), middle = sweeps_middle(c);
    double C[BLOCK_MAX * BLOCK_MAX], reduced[BLOCK_MAX * BLOCK_MAX] = { 0 };
    memset(step, 0, (size_t)(b * b) * sizeof *step);
    for (int I = first; I != middle; I += direction, step += stride) {
        int bad = sweeps_eliminate(c, A, I, reduced, step);
        if (bad >= 0) return bad;
        memset(reduced, 0, sizeof reduced);
        sweeps_get(A, b, I + direction, I, C);
        sweeps_couple(b, C, step + b * b, c->inverse + (size_t)I * (size_t)b, step + stride, reduced);
    }
    for (int k = 0; k < b * b; k++) S[k] += reduced[k];
    return -1;
}

int pcs_chain_sweeps_factor(pcs_chain *c, const pcs_matrix *A)
{
    if (c->n == 0) return -1;
    double S[BLOCK_MAX * BLOCK_MAX] = { 0 };
    int middle = sweeps_middle(c);
    int bad = sweeps_run(c, A, 0, 1, sweeps_upper(c), S);
    if (bad < 0) bad = sweeps_run(c, A, c->nblock - 1, -1, sweeps_lower(c), S);
    if (bad < 0)
        bad = sweeps_eliminate(c, A, middle, S, sweeps_upper(c) + (size_t)middle * (size_t)sweeps_stride(c->b));
    return bad;
}

// z -= W y.
SWEEPS_INLINE void sweeps_subtract(int b, const double *restrict W, const double *restrict y, double *restrict z)
{
    SWEEPS_UNROLL
    for (int k = 0; k < b; k++) SWEEPS_UNROLL
    for (int i = 0; i < b; i++) z[i] -= W[k * b + i] * y[k];
}

// z -= W' x.
SWEEPS_INLINE void sweeps_subtract_transposed(int b, const double *restrict W, const double *restrict x,
                                              double *restrict z)
{
    SWEEPS_UNROLL
    for (int k = 0; k < b; k++) SWEEPS_UNROLL
    for (int i = 0; i < b; i++) z[k] -= W[k * b + i] * x[i];
}

// z = L^-1 z.
SWEEPS_INLINE void sweeps_lower_solve(int b, const double *restrict lower, double *restrict z)
{
    SWEEPS_UNROLL
    for (int k = 0; k < b; k++) {
        SWEEPS_UNROLL
        for (int i = k + 1; i < b; i++) z[i] -= lower[i - k - 1] * z[k];
        lower += b - k - 1;
    }
}

// z = L^-T z.
SWEEPS_INLINE void sweeps_upper_solve(int b, const double *restrict lower, double *restrict z)
{
    SWEEPS_UNROLL
    for (int k = b - 1; k >= 0; k--) {
        const double *column = lower + k * (b - 1) - k * (k - 1) / 2;
        SWEEPS_UNROLL
        for (int i = k + 1; i < b; i++) z[k] -= column[i - k - 1] * z[i];
    }
}

// One block of the forward sweep; y holds the block before and then this one.
SWEEPS_INLINE void sweeps_forward(int b, const double *restrict step, double *restrict y, double *restrict x)
{
    double z[BLOCK_MAX];
    SWEEPS_UNROLL
    for (int i = 0; i < b; i++) z[i] = x[i];
    sweeps_subtract(b, step, y, z);
    sweeps_lower_solve(b, step + b * b, z);
    SWEEPS_UNROLL
    for (int i = 0; i < b; i++) x[i] = y[i] = z[i];
}

// One block of the backward sweep; y holds the solution of the block after and then of this one.
SWEEPS_INLINE void sweeps_backward(int b, const double *restrict step, const double *restrict inverse,
                                   double *restrict y, double *restrict x)
{
    double z[BLOCK_MAX];
    SWEEPS_UNROLL
    for (int i = 0; i < b; i++) z[i] = inverse[i] * x[i];
    sweeps_subtract_transposed(b, step + sweeps_stride(b), y, z);
    sweeps_upper_solve(b, step + b * b, z);
    SWEEPS_UNROLL
    for (int i = 0; i < b; i++) x[i] = y[i] = z[i];
}

// The upper sweep has `middle` blocks, the lower one as many or one more; its first block, `last`, may lie elsewhere.
// Pairs of blocks are taken at once. The middle block, `center`, is left reduced by both sweeps.
SWEEPS_INLINE void sweeps_forward_all(const pcs_chain *c, int b, double *x, double *last, double *center)
{
    const int stride = sweeps_stride(b), middle = sweeps_middle(c), count = c->nblock - 1 - middle;
    const double *upper = sweeps_upper(c), *lower = sweeps_lower(c);
    double *down = x, *up = x;
    double y[BLOCK_MAX] = { 0 }, z[BLOCK_MAX] = { 0 };
    if (count > 0) {
        sweeps_forward(b, lower, z, last);
        lower += stride;
        up = x + (ptrdiff_t)(c->nblock - 2) * b;
    }
    for (int k = 1; k < count; k++, upper += stride, lower += stride, down += b, up -= b) {
        sweeps_forward(b, upper, y, down);
        sweeps_forward(b, lower, z, up);
    }
    if (middle > 0 && middle == count) {
        sweeps_forward(b, upper, y, down);
        upper += stride;
    }
    if (middle > 0) sweeps_subtract(b, upper, y, center);
    if (count > 0) sweeps_subtract(b, lower, z, center);
}

SWEEPS_INLINE void sweeps_backward_all(const pcs_chain *c, int b, double *x, double *last, const double *center)
{
    const int stride = sweeps_stride(b), middle = sweeps_middle(c), count = c->nblock - 1 - middle;
    const double *upper = sweeps_upper(c) + (ptrdiff_t)middle * stride;
    const double *lower = sweeps_lower(c) + (ptrdiff_t)count * stride;
    const double *upper_inverse = c->inverse + (ptrdiff_t)middle * b, *lower_inverse = upper_inverse;
    double *up = x + (ptrdiff_t)middle * b, *down = up;
    double y[BLOCK_MAX] = { 0 }, z[BLOCK_MAX] = { 0 };
    for (int i = 0; i < b; i++) y[i] = z[i] = center[i];
    for (int k = 1; k < count; k++) {
        sweeps_backward(b, upper -= stride, upper_inverse -= b, y, up -= b);
        sweeps_backward(b, lower -= stride, lower_inverse += b, z, down += b);
    }
    if (middle > 0 && middle == count) sweeps_backward(b, upper - stride, upper_inverse - b, y, up - b);
    if (count > 0) sweeps_backward(b, lower - stride, lower_inverse + b, z, last);
}

SWEEPS_INLINE void sweeps_solve(const pcs_chain *c, int b, double *x)
{
    const int middle = sweeps_middle(c), filled = c->n - (c->nblock - 1) * b;
    double padded[BLOCK_MAX] = { 0 };
    double *last = x + (ptrdiff_t)(c->nblock - 1) * b, *center = x + (ptrdiff_t)middle * b;
    if (filled < b) {
        for (int i = 0; i < filled; i++) padded[i] = last[i];
        last = padded;
    }

    sweeps_forward_all(c, b, x, last, center);
    const double *lower = sweeps_upper(c) + (ptrdiff_t)middle * sweeps_stride(b) + b * b;
    sweeps_lower_solve(b, lower, center);
    for (int i = 0; i < b; i++) center[i] *= c->inverse[middle * b + i];
    sweeps_upper_solve(b, lower, center);
    sweeps_backward_all(c, b, x, last, center);

    if (filled < b)
        for (int i = 0; i < filled; i++) x[(ptrdiff_t)(c->nblock - 1) * b + i] = padded[i];
}

void pcs_chain_sweeps_solve(const pcs_chain *c, double *x)
{
    if (c->n == 0) return;
    switch (c->b) { // constant block sizes unroll the loops over a block
    case 1: sweeps_solve(c, 1, x); break;
    case 2: sweeps_solve(c, 2, x); break;
    case 3: sweeps_solve(c, 3, x); break;
    case 4: sweeps_solve(c, 4, x); break;
    case 5: sweeps_solve(c, 5, x); break;
    default: sweeps_solve(c, 6, x); break;
    }
}
