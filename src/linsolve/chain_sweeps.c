// Two sweeps over a block tridiagonal matrix that meet in the middle (twisted factorization).
//
// The upper blocks are eliminated downwards, the lower ones upwards; the two recurrences are independent, so that the
// processor works on both at once. Each block S, reduced by what was eliminated before it, is split into L D L' with
// unit lower triangular L, and couples to the next block of its sweep through W = C L^-T D^-1, where C is the block of
// A below (above) it:
//
//   forward   L y_k = x_k - W_{k-1} y_{k-1}          backward   L' x_k = D^-1 y_k - W_k' x_{k+1}
//
// The forward sweep leaves D^-1 y, so that each recurrence is one multiplication with addition from step to step.
//
// This is the banded L D L' factorization of A in another numbering: backward stable for every positive definite A.
// Short blocks are filled up with the identity. When only the last one is short the right-hand side is swept in place;
// that block is not the only one then, because b is the smallest that fits.

#include "linsolve/chain.h"
#include "linsolve/pivot.h"

#include <string.h>

enum { BLOCK_MAX = PCS_CHAIN_MAX };

// Under the instruments of the fuzzers a compiler would take hours for what is inlined and unrolled.
#ifdef PERCUSS_FUZZ
#define SWEEPS_INLINE static inline
#define SWEEPS_UNROLL
#else
#define SWEEPS_INLINE static inline __attribute__((always_inline))
#define SWEEPS_UNROLL _Pragma("GCC unroll 6")
#endif

// Two steps of a sweep that does nothing.
static const double sweeps_zeros[2 * (BLOCK_MAX * BLOCK_MAX + BLOCK_MAX * (BLOCK_MAX - 1) / 2)];

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

// Block (I, J) of A by columns, filled up.
static void sweeps_get(const pcs_chain *c, const pcs_matrix *A, int I, int J, double *block)
{
    double copy[BLOCK_MAX * BLOCK_MAX];
    pcs_chain_block from = pcs_chain_get(c, A, I, J, copy);
    for (int k = 0; k < c->b; k++) memcpy(block + k * c->b, from.at + k * from.stride, (size_t)c->b * sizeof *block);
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
    sweeps_get(c, A, I, I, block);
    for (int k = 0; k < b; k++) diagonal[k] = block[k * b + k];
    for (int k = 0; k < b * b; k++) block[k] += reduction[k];
    int bad = sweeps_split(b, block, diagonal, step + b * b, c->inverse + (size_t)I * (size_t)b);
    return bad < 0 ? -1 : c->first[I] + bad;
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
        sweeps_get(c, A, I + direction, I, C);
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

// Where one sweep stands: the next step of its factor, the block it works on, and the result of the last one.
typedef struct sweeps_side {
    const double *step, *inverse;
    double *x;
    double y[BLOCK_MAX];
} sweeps_side;

SWEEPS_INLINE void sweeps_move(int b, int steps, int blocks, sweeps_side *side)
{
    side->step += (ptrdiff_t)steps * sweeps_stride(b);
    side->inverse += (ptrdiff_t)blocks * b;
    side->x += (ptrdiff_t)blocks * b;
}

// A block of each forward sweep: x = D^-1 y. The statements alternate between the sweeps, because the processor looks
// only a few hundred operations ahead.
SWEEPS_INLINE void sweeps_forward(int b, sweeps_side *p, sweeps_side *q)
{
    const double *restrict f = p->step, *restrict g = q->step;
    const double *restrict f_inverse = p->inverse, *restrict g_inverse = q->inverse;
    double *restrict x = p->x, *restrict u = q->x;
    double z[BLOCK_MAX], w[BLOCK_MAX];
    SWEEPS_UNROLL
    for (int i = 0; i < b; i++) z[i] = x[i], w[i] = u[i];
    SWEEPS_UNROLL
    for (int k = 0; k < b; k++) {
        SWEEPS_UNROLL
        for (int i = 0; i < b; i++, f++, g++) z[i] -= *f * p->y[k], w[i] -= *g * q->y[k];
    }
    SWEEPS_UNROLL
    for (int k = 0; k < b; k++) {
        SWEEPS_UNROLL
        for (int i = k + 1; i < b; i++, f++, g++) z[i] -= *f * z[k], w[i] -= *g * w[k];
    }
    SWEEPS_UNROLL
    for (int i = 0; i < b; i++) {
        x[i] = f_inverse[i] * (p->y[i] = z[i]);
        u[i] = g_inverse[i] * (q->y[i] = w[i]);
    }
}

// A block of each backward sweep; last terms first: they were known first.
SWEEPS_INLINE void sweeps_backward(int b, sweeps_side *p, sweeps_side *q)
{
    const double *restrict F = p->step + sweeps_stride(b), *restrict G = q->step + sweeps_stride(b);
    const double *restrict f = F, *restrict g = G;
    double *restrict x = p->x, *restrict u = q->x;
    double z[BLOCK_MAX], w[BLOCK_MAX];
    SWEEPS_UNROLL
    for (int i = 0; i < b; i++) z[i] = x[i], w[i] = u[i];
    SWEEPS_UNROLL
    for (int i = b - 1; i >= 0; i--) {
        SWEEPS_UNROLL
        for (int k = b - 1; k >= 0; k--) z[k] -= F[k * b + i] * p->y[i], w[k] -= G[k * b + i] * q->y[i];
    }
    SWEEPS_UNROLL
    for (int k = b - 1; k >= 0; k--) {
        SWEEPS_UNROLL
        for (int i = b - 1; i > k; i--) z[k] -= *--f * z[i], w[k] -= *--g * w[i];
    }
    SWEEPS_UNROLL
    for (int i = 0; i < b; i++) {
        x[i] = p->y[i] = z[i];
        u[i] = q->y[i] = w[i];
    }
}

// The middle block: reduces it by the last steps of both sweeps and solves it; both go on from its solution.
SWEEPS_INLINE void sweeps_meet(int b, double *restrict x, const double *inverse, sweeps_side *upper, sweeps_side *lower)
{
    const double *L = upper->step + b * b;
    for (int k = 0; k < b; k++)
        for (int i = 0; i < b; i++) x[i] -= upper->step[k * b + i] * upper->y[k] + lower->step[k * b + i] * lower->y[k];
    for (int k = 0; k < b; k++)
        for (int i = k + 1; i < b; i++) x[i] -= *L++ * x[k];
    for (int i = 0; i < b; i++) x[i] *= inverse[i];
    for (int k = b - 1; k >= 0; k--)
        for (int i = b - 1; i > k; i--) x[k] -= *--L * x[i];
    for (int i = 0; i < b; i++) upper->y[i] = lower->y[i] = x[i];
}

// The lower sweep has as many steps before the middle as the upper one, or one more. Its first step goes alone, because
// the last block may be filled up and lie elsewhere; with as many, the last step of the upper sweep goes alone, too.
SWEEPS_INLINE void sweeps_solve(const pcs_chain *c, int b, double *x)
{
    const int middle = sweeps_middle(c), count = c->nblock - 1 - middle;
    const ptrdiff_t end = (ptrdiff_t)(c->nblock - 1) * b, center = (ptrdiff_t)middle * b;
    const int filled = c->is_even ? c->n - (int)end : b;
    double padded[BLOCK_MAX] = { 0 }, dummy[BLOCK_MAX] = { 0 };
    sweeps_side upper = { .step = sweeps_upper(c), .inverse = c->inverse, .x = x };
    sweeps_side lower = { .step = sweeps_lower(c), .inverse = c->inverse + end, .x = x + end };
    sweeps_side nothing = { .step = sweeps_zeros, .inverse = sweeps_zeros, .x = dummy };
    if (filled < b) {
        for (int i = 0; i < filled; i++) padded[i] = x[end + i];
        lower.x = padded;
    }

    if (count > 0) sweeps_forward(b, &lower, &nothing);
    lower.x = x + end;
    for (int k = 1; k < count; k++) {
        sweeps_move(b, 1, -1, &lower);
        sweeps_forward(b, &upper, &lower);
        sweeps_move(b, 1, 1, &upper);
    }
    if (count > 0) sweeps_move(b, 1, 0, &lower);
    const bool is_one_more = middle > 0 && middle == count;
    if (is_one_more) {
        sweeps_forward(b, &upper, &nothing);
        sweeps_move(b, 1, 1, &upper);
    }

    sweeps_meet(b, x + center, c->inverse + center, &upper, &lower);

    if (is_one_more) {
        sweeps_move(b, -1, -1, &upper);
        sweeps_backward(b, &upper, &nothing);
    }
    if (count > 0) sweeps_move(b, -1, 0, &lower);
    for (int k = 1; k < count; k++) {
        sweeps_move(b, -1, -1, &upper);
        sweeps_backward(b, &upper, &lower);
        sweeps_move(b, -1, 1, &lower);
    }
    if (filled < b) lower.x = padded;
    if (count > 0) sweeps_backward(b, &lower, &nothing);
    if (filled < b)
        for (int i = 0; i < filled; i++) x[end + i] = padded[i];
}

static void sweeps_solve_sized(const pcs_chain *c, double *x)
{
    switch (c->b) { // constant block sizes unroll the loops over a block
    case 2: sweeps_solve(c, 2, x); break;
    case 3: sweeps_solve(c, 3, x); break;
    case 4: sweeps_solve(c, 4, x); break;
    case 5: sweeps_solve(c, 5, x); break;
    default: sweeps_solve(c, 6, x); break;
    }
}

void pcs_chain_sweeps_solve(const pcs_chain *c, double *x)
{
    if (c->n == 0) return;
    if (c->is_even) {
        sweeps_solve_sized(c, x);
        return;
    }
    pcs_chain_spread(c, x, c->work);
    sweeps_solve_sized(c, c->work);
    pcs_chain_gather(c, c->work, x);
}
