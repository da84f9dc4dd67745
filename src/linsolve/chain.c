// Block tridiagonal matrices: bars and beams numbered along their axis.
//
// L U factors from both ends, which have positive pivots if the matrix is positive definite; a matrix that
// needs row exchanges gets banded ones. Positive definite matrices of bars are solved faster, as their
// values allow: a diagonal one (lumped mass) is a scaling; one whose inverse decays fast (mass matrices, iteration
// matrices of moderate steps) is solved by eight interleaved sweeps in slices, others by two sweeps,
// four equations of each at once.

#include "linsolve/chain.h"

#include "core/double2.h"
#include "core/loop.h"
#include "linsolve/linsolve.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

// Factors with row exchanges of a block tridiagonal matrix that needs them: LAPACK's for banded matrices.
//
// Rows are compared with weights that do not depend on the units of rows and columns: with them, and with the columns
// divided by their sizes, the largest entries of all rows and columns of A are close to 1. A pivot of the size of
// their round-off counts as zero, and so does the smallest one of a matrix that is singular but for round-off.

void dgbtrf_(const int *m, const int *n, const int *kl, const int *ku, double *ab, const int *ldab, int *pivot,
             int *info);
void dgbtrs_(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs, const double *ab,
             const int *ldab, const int *pivot, double *b, const int *ldb, int *info, size_t trans_length);

void dgbcon_(const char *norm, const int *n, const int *kl, const int *ku, const double *ab, const int *ldab,
             const int *pivot, const double *anorm, double *rcond, double *work, int *iwork, int *info,
             size_t norm_length);

static const double banded_round_off = 10.0 * DBL_EPSILON;

// Allocates the band for factors with row exchanges.
static pcs_status chain_banded_analyze(pcs_context *ctx, pcs_chain *c)
{
    pcs_chain_banded *d = &c->banded;
    d->width = 2 * c->b - 1;
    PCS_TAKE(ctx, d->factor, (size_t)c->n * (size_t)(3 * d->width + 1), "the banded factor of a chain");
    PCS_TAKE(ctx, d->pivot, 2 * c->n, "the row exchanges of a chain");
    PCS_TAKE(ctx, d->work, 3 * c->n, "the workspace of a chain");
    PCS_TAKE(ctx, d->weight, c->n, "the sizes of the rows of a chain");
    PCS_TAKE(ctx, d->size, c->n, "the sizes of the columns of a chain");
    return PCS_OK;
}

// Divides rows and columns by the roots of their largest entries, weights and sizes applied.
static void banded_balance(const pcs_chain *c, const pcs_matrix *A)
{
    const int *start = A->pattern->start, *row = A->pattern->row;
    double *weight = c->banded.weight, *size = c->banded.size, *largest = c->work;
    memset(largest, 0, (size_t)c->n * sizeof *largest);
    for (int j = 0; j < c->n; j++) {
        double most = 0.0, scale = 1.0 / size[j];
        for (int p = start[j]; p < start[j + 1]; p++) {
            double entry = weight[row[p]] * fabs(A->value[p]) * scale;
            most = fmax(most, entry);
            largest[row[p]] = fmax(largest[row[p]], entry);
        }
        if (most > 0.0) size[j] *= sqrt(most);
    }
    for (int i = 0; i < c->n; i++)
        if (largest[i] > 0.0) weight[i] /= sqrt(largest[i]);
}

// Fills the band with the scaled matrix. Returns the largest sum of a column. After four passes all largest entries are
// close to 1, and of all such scalings it is one in the middle, not one that favours rows or columns.
static double banded_fill(const pcs_chain *c, const pcs_matrix *A)
{
    const pcs_chain_banded *d = &c->banded;
    const int rows = 3 * d->width + 1, *start = A->pattern->start, *row = A->pattern->row;
    double norm = 0.0;
    for (int i = 0; i < c->n; i++) d->weight[i] = d->size[i] = 1.0;
    for (int pass = 0; pass < 4; pass++) banded_balance(c, A);
    memset(d->factor, 0, (size_t)c->n * (size_t)rows * sizeof *d->factor);
    for (int j = 0; j < c->n; j++) {
        double *column = d->factor + (ptrdiff_t)j * rows + 2 * d->width - j, sum = 0.0;
        for (int p = start[j]; p < start[j + 1]; p++) {
            column[row[p]] = d->weight[row[p]] * A->value[p] / d->size[j];
            sum += fabs(column[row[p]]);
        }
        norm = fmax(norm, sum);
    }
    return norm;
}

static int chain_banded_factor(pcs_chain *c, const pcs_matrix *A)
{
    const pcs_chain_banded *d = &c->banded;
    const int width = d->width, rows = 3 * width + 1;
    const double norm = banded_fill(c, A), *diagonal = d->factor + 2 * width;
    double rcond = 0.0;
    int info, worst = 0;
    dgbtrf_(&c->n, &c->n, &width, &width, d->factor, &rows, d->pivot, &info);
    for (int j = 0; j < c->n; j++) {
        const double pivot = fabs(diagonal[(ptrdiff_t)j * rows]);
        if (!(pivot > banded_round_off && pivot <= DBL_MAX)) return j;
        if (pivot < fabs(diagonal[(ptrdiff_t)worst * rows])) worst = j;
    }
    dgbcon_("1", &c->n, &width, &width, d->factor, &rows, d->pivot, &norm, &rcond, d->work, d->pivot + c->n, &info, 1);
    return rcond > DBL_EPSILON ? -1 : worst;
}

void pcs_chain_banded_solve(const pcs_chain *c, double *x)
{
    const pcs_chain_banded *d = &c->banded;
    const int width = d->width, rows = 3 * width + 1, one = 1;
    int info;
    for (int i = 0; i < c->n; i++) x[i] *= d->weight[i];
    dgbtrs_("N", &c->n, &width, &width, &one, d->factor, &rows, d->pivot, x, &c->n, &info, 1);
    for (int i = 0; i < c->n; i++) x[i] /= d->size[i];
}

// Partition of a matrix into blocks that couple to their neighbours only, and access to these blocks.
//
// A beam has as many equations per node as its nodes have freedoms, less where a support takes some: the blocks are
// found from the pattern and need not be equal. A block may reach from one equation to another if none before it couples
// with one behind it. The fewest blocks up to each equation follow from those up to the few before it.

// Finds the fewest blocks of at most b equations. Returns their number, or -1 if there are none. `begin` ([n + 1], may
// be NULL) gets the first equation of the last block before each equation.
static int blocks_find(const pcs_pattern *pattern, int b, int *begin)
{
    enum { RING = PCS_CHAIN_MAX + 1 };
    int count[RING] = { 0 }, reach[RING] = { 0 }, last = 0; // of the blocks before an equation; -1: none end there
    for (int to = 1; to <= pattern->n; to++) {
        int best = -1, before = reach[(to - 1) % RING], coupled = pattern->row[pattern->start[to] - 1] + 1;
        for (int from = to > b ? to - b : 0; from < to; from++) {
            int blocks = count[from % RING];
            if (blocks < 0 || reach[from % RING] > to || (best >= 0 && blocks >= best)) continue;
            best = blocks;
            if (begin != NULL) begin[to] = from;
        }
        if (best >= 0) last = to;
        if (to - last >= b) return -1;
        count[to % RING] = best < 0 ? -1 : best + 1;
        reach[to % RING] = coupled > before ? coupled : before;
    }
    return count[pattern->n % RING];
}

// Returns the size of the largest block of the best partition into blocks that couple to their neighbours only; 0 if
// there is none with blocks of at most PCS_CHAIN_MAX. *nblock gets their number, `begin` as above.
static int chain_partition(const pcs_pattern *pattern, int *begin, int *nblock)
{
    for (int b = 1; b <= PCS_CHAIN_MAX; b++) {
        *nblock = blocks_find(pattern, b, begin);
        if (*nblock >= 0) return b;
    }
    return 0;
}

static pcs_chain_block blocks_fill(const pcs_chain *c, int I, int J, double *copy)
{
    memset(copy, 0, (size_t)(c->b * c->b) * sizeof *copy);
    if (I == J)
        for (int k = 0; k < c->b; k++) copy[k * (c->b + 1)] = 1.0;
    return (pcs_chain_block){ copy, c->b };
}

// Returns block (I, J) of A: in place if the pattern allows, else copied to `copy` [b x b]. Short blocks and those
// outside of the matrix are padded with zeros, and with ones on the diagonal.
static pcs_chain_block chain_get(const pcs_chain *c, const pcs_matrix *A, int I, int J, double *copy)
{
    const int b = c->b, last = c->nblock - 1;
    if (I < 0 || J < 0 || I > last || J > last) return blocks_fill(c, I, J, copy);
    const int *restrict start = A->pattern->start, *restrict row = A->pattern->row;
    const int from = c->first[I], to = c->first[I + 1], begin = c->first[J], end = c->first[J + 1];
    if (c->column[J].stride > 0 && to - from == b) return pcs_chain_get_full(c, A, I, J);
    memset(copy, 0, (size_t)(b * b) * sizeof *copy);
    for (int j = begin; j < end; j++)
        for (int p = start[j]; p < start[j + 1]; p++)
            if (row[p] >= from && row[p] < to) copy[(j - begin) * b + row[p] - from] = A->value[p];
    if (I == J)
        for (int k = end - begin; k < b; k++) copy[k * (b + 1)] = 1.0;
    return (pcs_chain_block){ copy, b };
}

// Copies a right-hand side into padded blocks, and back.
static void chain_pad(const pcs_chain *c, const double *restrict x, double *restrict padded)
{
    for (int I = 0; I < c->nblock; I++, padded += c->b) {
        int count = c->first[I + 1] - c->first[I];
        const double *from = x + c->first[I];
        for (int i = 0; i < c->b; i++) padded[i] = i < count ? from[i] : 0.0;
    }
}

static void chain_gather(const pcs_chain *c, const double *restrict padded, double *restrict x)
{
    for (int I = 0; I < c->nblock; I++, padded += c->b)
        for (int i = c->first[I]; i < c->first[I + 1]; i++) x[i] = padded[i - c->first[I]];
}

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
// where the bracket is known beforehand; likewise backward. What y_{k-1} is rounded off by in a multiplication reaches
// y_{k+1} with the factor l_{k+1} l_k either way, so that this is as exact as one step after the other.
//
// Pair k is made of the equations k and n - 1 - k. One equation is left in the middle, or two, of which the second one
// belongs to the sweep from below.

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
    return *chain_get(c, A, i, j, copy).at;
}

// Eliminates equation `from`, whose reciprocal pivot is given, from `to`. Returns the multiplier and adds the decrease
// of the pivot of `to` to *loss.
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

// Stores in `lower` the multipliers of each pair, of those next to the middle, and of the second equation there; in
// `inverse` the reciprocal pivots in the same order, that of the first equation in the middle last.
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

// Loads the two equations of a pair, at `up` and at `down`.
static inline pcs_double2 pairs_get(const double *up, const double *down)
{
    return (pcs_double2){ *up, *down };
}

static inline void pairs_put(double *up, double *down, pcs_double2 x)
{
    *up = x[0];
    *down = x[1];
}

// Makes `count` steps of a sweep at once. Each is the result of the steps before it in the group, plus its factor times
// the y before the group.
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

// Makes the steps from the last pair of a group to the first; `lower` points to the multipliers of the pair after it.
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

// Solves the equations in the middle. Returns the start values of the backward sweeps.
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

// Eight interleaved sweeps over a tridiagonal matrix whose inverse decays fast.
//
// A = L D L':   forward  y_i = x_i - l_i y_{i-1},   backward  x_i = y_i / d_i - l_{i+1} x_{i+1}.
//
// A value w equations behind enters either recurrence with the product of w factors l. Where that product has fallen
// below 1e-20 of the natural scale (see windows_reach), a recurrence may start there from zero: the error is ten
// thousand times smaller than the rounding of one operation. So the equations are cut into segments and all segments of
// a tile of eight are swept at once, two in each vector register, each after a warm-up over the window before (behind)
// it. The factor is stored row by row: the k-th equations of the eight segments together.
//
// Large systems are cut into tiles that stay in the cache between the forward and the backward sweep. Tiles do not wait
// for one another: what one takes over from its neighbours, the last y before it and the first x behind it, is found
// from the windows there before any of them is swept. So threads share the tiles, and the bits are the same with any
// number of them; and a tile may be filled with its right-hand side, but for the windows at its ends, just before it is
// swept. Less than 16 equations are left over at the end of the last tile and are swept one by one.
//
// This is the truncated form of the partitioned recurrences known from parallel tridiagonal solvers (SPIKE).

#define WINDOWS_UNROLL _Pragma("GCC unroll 4")
#define WINDOWS_INLINE static inline __attribute__((always_inline))

enum {
    WIDTH = 8,         // number of segments of a tile
    PAIRS = WIDTH / 2, // number of vector registers for a row
    SHORTEST = 16,     // shortest segment that is worth the warm-up
    USUAL = 1500,      // longest segment usually: a tile and its results fit into the second cache
    LONGEST = 6000     // longest segment if the window is long
};

static const double windows_tolerance = 1.0e-20;

// Returns the number of doubles of the factor of a bar, for windows and pairs.
static size_t chain_bar_lower(int n)
{
    // Each tile has one row more than equations. Pairs also have one number more than equations.
    return (size_t)n + WIDTH * ((size_t)n / (WIDTH * SHORTEST) + 1);
}

static size_t chain_windows_work(int n)
{
    // The window, and the y before it.
    return 1 + (size_t)(n < LONGEST ? n : LONGEST + 2);
}

// Returns the largest number of tiles.
static int chain_windows_tiles(int n)
{
    return n / (WIDTH * USUAL) + 1;
}

static int windows_segment(const pcs_chain_cut *cut, int tile)
{
    return cut->length + (tile < cut->nlong ? 2 : 0);
}

// Reads the diagonal and subdiagonal entry of column j.
static void windows_column(const pcs_matrix *A, int j, double *diagonal, double *below)
{
    const pcs_pattern *pattern = A->pattern;
    *below = 0.0;
    for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
        if (pattern->row[p] == j) *diagonal = A->value[p];
        if (pattern->row[p] == j + 1) *below = A->value[p];
    }
}

// Factors in natural order: l[i] and the pivots d[i]. Returns the equation with a pivot that is not positive, or -1.
static int windows_factor_plain(const pcs_matrix *A, double *l, double *d)
{
    double diagonal = 0.0, below = 0.0, above = 0.0;
    for (int i = 0; i < A->pattern->n; i++) {
        above = below;
        windows_column(A, i, &diagonal, &below);
        l[i] = i == 0 ? 0.0 : above / d[i - 1];
        d[i] = diagonal - l[i] * above;
        if (!pcs_pivot_is_positive(d[i], diagonal)) return i;
    }
    return -1;
}

// Returns A_ii, computed from the factor.
static double windows_diagonal(const double *l, const double *d, int i)
{
    return d[i] + (i == 0 ? 0.0 : l[i] * l[i] * d[i - 1]);
}

// Returns the number of equations, at most `most`, after which equation `from` has no influence towards `step` (+1 or
// -1). The product of l over (i, j], i < j, carries y_i to j and x_j to i. Against sqrt(A_jj) and sqrt(A_ii), the sizes
// that the error analysis of a Cholesky factorization compares with, it is scaled by sqrt(A_ii / A_jj), or by the
// pivots.
static int windows_reach(const pcs_chain *c, int from, int step, int most)
{
    const double *l = c->lower, *d = c->inverse;
    double product = 1.0;
    for (int w = 1; w <= most; w++) {
        int to = from + step * w;
        if (to < 0 || to >= c->n) return w;
        int i = step > 0 ? from : to, j = step > 0 ? to : from;
        product *= fabs(l[step > 0 ? to : to + 1]);
        double scale = fmax(d[i] / d[j], windows_diagonal(l, d, i) / windows_diagonal(l, d, j));
        if (product * sqrt(scale) <= windows_tolerance) return w;
    }
    return most + 1;
}

// Returns the window that all cuts of this partition need, even; more than `most` if there is none.
static int windows_needed(const pcs_chain *c, const pcs_chain_cut *cut, int most)
{
    int window = 2, place = 0;
    for (int tile = 0; tile < cut->ntile; tile++)
        for (int s = 0; s < WIDTH; s++) {
            place += windows_segment(cut, tile);
            if (place >= c->n || window > most) break;
            int before = windows_reach(c, place - 1, -1, most), behind = windows_reach(c, place, 1, most);
            if (before > window) window = before;
            if (behind > window) window = behind;
        }
    return window + window % 2;
}

static void windows_divide(int n, int ntile, pcs_chain_cut *cut)
{
    cut->ntile = ntile;
    cut->length = n / (WIDTH * ntile) / 2 * 2;
    cut->nlong = (n - cut->length * WIDTH * ntile) / (2 * WIDTH);
}

// Chooses tiles of the usual size, or larger ones if the window is long. Returns false if none is long enough.
static bool windows_plan(pcs_chain *c)
{
    for (int longest = USUAL;; longest = LONGEST) {
        int ntile = (c->n - 1) / (WIDTH * longest) + 1;
        bool is_last = ntile == 1 || longest == LONGEST;
        windows_divide(c->n, ntile, &c->cut);
        c->cut.window = windows_needed(c, &c->cut, c->cut.length);
        if (c->cut.window <= (is_last ? c->cut.length : c->cut.length / 4)) return true;
        if (is_last) return false;
    }
}

// Returns true if `count` numbers are all equal.
static bool windows_are_same(size_t count, const double *x)
{
    for (size_t i = 1; i < count; i++)
        if (x[i] != x[0]) return false;
    return true;
}

// Stores l and the reciprocal pivots row by row; the row behind the last one of a tile couples to the next tile.
static void windows_store(pcs_chain *c, const pcs_matrix *A)
{
    double *lower = c->lower, *inverse = c->inverse;
    double diagonal = 0.0, below = 0.0, pivot = 1.0;
    int i = 0;
    for (int tile = 0; tile < c->cut.ntile; tile++) {
        int m = windows_segment(&c->cut, tile);
        for (int s = 0; s < WIDTH; s++)
            for (int k = 0; k < m; k++, i++) {
                double above = below, l = above / pivot;
                windows_column(A, i, &diagonal, &below);
                pivot = diagonal - l * above;
                lower[k * WIDTH + s] = l;
                if (k == 0 && s > 0) lower[m * WIDTH + s - 1] = l;
                inverse[k * WIDTH + s] = 1.0 / pivot;
            }
        lower[m * WIDTH + WIDTH - 1] = below / pivot;
        c->is_uniform[tile] =
            windows_are_same((size_t)(m + 1) * WIDTH, lower) && windows_are_same((size_t)m * WIDTH, inverse);
        lower += (m + 1) * WIDTH;
        inverse += m * WIDTH;
    }
    for (; i < c->n; i++) {
        double above = below, l = above / pivot;
        windows_column(A, i, &diagonal, &below);
        pivot = diagonal - l * above;
        *lower++ = l;
        *inverse++ = 1.0 / pivot;
    }
}

// Factors for eight interleaved sweeps, for b = 1. *fits is true if the influence decays fast enough. If not, nothing
// is factored.
static int chain_windows_factor(pcs_chain *c, const pcs_matrix *A, bool *fits)
{
    *fits = false;
    if (c->n < WIDTH * SHORTEST) return -1;
    int bad = windows_factor_plain(A, c->lower, c->inverse);
    if (bad >= 0) return bad;
    *fits = windows_plan(c);
    if (*fits) windows_store(c, A);
    return -1;
}

// The factor of a tile, whose rows stand `stride` apart: in the midst of a uniform bar all of them are the same to the
// last bit, and one is enough.
typedef struct windows_factor {
    const double *lower, *inverse;
    int stride;
} windows_factor;

// Computes two rows of the forward recurrence in two segments of m equations; x points to the first segment, and rows
// of factors are `stride` apart.
WINDOWS_INLINE pcs_double2 windows_forward_rows(int m, int stride, const double *restrict lower, double *restrict x,
                                                pcs_double2 y, bool is_stored)
{
    pcs_double2 a = pcs_double2_load(x), b = pcs_double2_load(x + m);
    pcs_double2 first = pcs_double2_firsts(a, b) - pcs_double2_load(lower) * y;
    pcs_double2 second = pcs_double2_seconds(a, b) - pcs_double2_load(lower + stride) * first;
    if (is_stored) {
        pcs_double2_store(x, pcs_double2_firsts(first, second));
        pcs_double2_store(x + m, pcs_double2_seconds(first, second));
    }
    return second;
}

// Prefetches rows of the factor: those of L for this sweep, those of the pivots for the backward sweep.
WINDOWS_INLINE void windows_fetch(int m, const windows_factor *f, int row)
{
    enum { AHEAD = 32 };
    for (int k = row; k < row + 2; k++) {
        __builtin_prefetch(f->lower + (k + AHEAD < m ? k + AHEAD : m) * f->stride);
        __builtin_prefetch(f->inverse + k * f->stride);
    }
}

WINDOWS_INLINE void windows_sweep_forward(int m, int window, const windows_factor *f, double *restrict x, double carry)
{
    pcs_double2 c[PAIRS] = { { 0.0, 0.0 } };
    for (int k = m - window; k < m; k += 2) WINDOWS_UNROLL
    for (int q = 0; q < PAIRS; q++)
        c[q] = windows_forward_rows(m, f->stride, f->lower + k * f->stride + 2 * q, x + 2 * q * m + k, c[q], false);
    // Each segment starts with the end of the one before.
    double start[WIDTH + 1] = { carry };
    memcpy(start + 1, c, sizeof c);
    memcpy(c, start, sizeof c);
    for (int k = 0; k < m; k += 2) {
        if (f->stride > 0) windows_fetch(m, f, k);
        WINDOWS_UNROLL
        for (int q = 0; q < PAIRS; q++)
            c[q] = windows_forward_rows(m, f->stride, f->lower + k * f->stride + 2 * q, x + 2 * q * m + k, c[q], true);
    }
}

// Computes two rows of the backward recurrence, likewise.
WINDOWS_INLINE pcs_double2 windows_backward_rows(int m, const windows_factor *f, int place, double *restrict x,
                                                 pcs_double2 behind, bool is_stored)
{
    const double *lower = f->lower + place, *inverse = f->inverse + place;
    pcs_double2 a = pcs_double2_load(x), b = pcs_double2_load(x + m);
    pcs_double2 second = pcs_double2_load(inverse + f->stride) * pcs_double2_seconds(a, b) -
                         pcs_double2_load(lower + 2 * f->stride) * behind;
    pcs_double2 first =
        pcs_double2_load(inverse) * pcs_double2_firsts(a, b) - pcs_double2_load(lower + f->stride) * second;
    if (is_stored) {
        pcs_double2_store(x, pcs_double2_firsts(first, second));
        pcs_double2_store(x + m, pcs_double2_seconds(first, second));
    }
    return first;
}

WINDOWS_INLINE void windows_sweep_backward(int m, int window, const windows_factor *f, double *restrict x,
                                           double behind)
{
    pcs_double2 c[PAIRS] = { { 0.0, 0.0 } };
    for (int k = window - 2; k >= 0; k -= 2) WINDOWS_UNROLL
    for (int q = 0; q < PAIRS; q++)
        c[q] = windows_backward_rows(m, f, k * f->stride + 2 * q, x + 2 * q * m + k, c[q], false);
    // Each segment ends with the start of the next one.
    double end[WIDTH + 1];
    memcpy(end, c, sizeof c);
    end[WIDTH] = behind;
    memcpy(c, end + 1, sizeof c);
    for (int k = m - 2; k >= 0; k -= 2) WINDOWS_UNROLL
    for (int q = 0; q < PAIRS; q++)
        c[q] = windows_backward_rows(m, f, k * f->stride + 2 * q, x + 2 * q * m + k, c[q], true);
}

// Computes y of a tile of segments of m equations in place of x; `carry` is the y before it.
PCS_WIDE static void windows_forward(int m, int window, const windows_factor *factor, double *x, double carry)
{
    windows_factor f = *factor;
    if (f.stride == 0) f.stride = 0, windows_sweep_forward(m, window, &f, x, carry);
    else f.stride = WIDTH, windows_sweep_forward(m, window, &f, x, carry);
}

// Computes x of a tile in place of its y; `behind` is the x behind it.
PCS_WIDE static void windows_backward(int m, int window, const windows_factor *factor, double *x, double behind)
{
    windows_factor f = *factor;
    if (f.stride == 0) f.stride = 0, windows_sweep_backward(m, window, &f, x, behind);
    else f.stride = WIDTH, windows_sweep_backward(m, window, &f, x, behind);
}

// Solves `count` equations one by one, as if none followed: the solution in y, whose entry -1 is the y before; y may be
// x. Their factors are `stride` apart.
static void windows_single(int count, int stride, const double *lower, const double *inverse, const double *x,
                           double *y)
{
    double carry = y[-1];
    for (int k = 0; k < count; k++) y[k] = carry = x[k] - lower[k * stride] * carry;
    double value = 0.0;
    for (int k = count - 1; k >= 0; k--) {
        double next = k + 1 < count ? lower[(k + 1) * stride] : 0.0;
        y[k] = value = inverse[k * stride] * y[k] - next * value;
    }
}

// Returns the first equation of a tile.
static int windows_start(const pcs_chain_cut *cut, int tile)
{
    int nlong = tile < cut->nlong ? tile : cut->nlong;
    return WIDTH * (tile * cut->length + 2 * nlong);
}

// Returns one past the last equation of a tile; the remainder belongs to the last tile.
static int windows_end(const pcs_chain *c, int tile)
{
    return tile + 1 < c->cut.ntile ? windows_start(&c->cut, tile + 1) : c->n;
}

static int windows_tile_of(const pcs_chain_cut *cut, int equation)
{
    int tile = equation / (WIDTH * (cut->length + 2)); // or one of the next
    while (tile + 1 < cut->ntile && windows_start(cut, tile + 1) <= equation) tile++;
    return tile;
}

// Computes the last y before a tile from the window before it, and the first x of the tile from its first window.
static void windows_find_edge(const pcs_chain *c, int tile, const double *x, double edge[2])
{
    const pcs_chain_cut *cut = &c->cut;
    int start = windows_start(cut, tile), m = windows_segment(cut, tile - 1), before = windows_start(cut, tile - 1);
    const double *lower = c->lower + before + WIDTH * (tile - 1) + WIDTH - 1;
    double y = 0.0;
    for (int k = m - cut->window; k < m; k++) y = x[start - m + k] - lower[k * WIDTH] * y;
    c->work[0] = y;
    windows_single(cut->window, WIDTH, c->lower + start + WIDTH * tile, c->inverse + start, x + start, c->work + 1);
    edge[0] = y;
    edge[1] = c->work[1];
}

// Solves a tile whose right-hand side is filled.
static void windows_solve_tile(const pcs_chain *c, int tile, double *x)
{
    const pcs_chain_cut *cut = &c->cut;
    int start = windows_start(cut, tile), m = windows_segment(cut, tile), size = m * WIDTH, rest = c->n - start - size;
    const double *lower = c->lower + start + WIDTH * tile, *inverse = c->inverse + start;
    const windows_factor factor = { .lower = lower, .inverse = inverse, .stride = c->is_uniform[tile] ? 0 : WIDTH };
    double behind = 0.0;
    windows_forward(m, cut->window, &factor, x + start, tile > 0 ? c->edges[2 * tile] : 0.0);
    if (tile + 1 < cut->ntile) {
        behind = c->edges[2 * tile + 3];
    } else if (rest > 0) {
        double *left = x + start + size;
        windows_single(rest, 1, lower + size + WIDTH, inverse + size, left, left);
        behind = left[0];
    }
    windows_backward(m, cut->window, &factor, x + start, behind);
}

// Fills a tile except the windows that are filled already.
static void windows_fill_tile(const pcs_chain *c, int tile, const pcs_slice_solve *job)
{
    int low = windows_start(&c->cut, tile), high = windows_end(c, tile);
    if (tile > 0) low += c->cut.window;
    if (tile + 1 < c->cut.ntile) high -= c->cut.window;
    job->fill(job->data, tile, low, high);
}

// Begins a solve slice by slice, tiles being the slices.
static void chain_windows_begin(const pcs_chain *c, const pcs_slice_solve *job, int count, const int *wanted)
{
    int window = c->cut.window;
    for (int tile = 1; tile < c->cut.ntile; tile++) {
        int start = windows_start(&c->cut, tile);
        if (job->fill != NULL) job->fill(job->data, tile, start - window, start + window);
        windows_find_edge(c, tile, job->x, c->edges + 2 * (ptrdiff_t)tile);
    }
    memset(c->is_solved, 0, (size_t)c->cut.ntile * sizeof *c->is_solved);
    for (int k = 0; k < count; k++) {
        int tile = windows_tile_of(&c->cut, wanted[k]);
        if (c->is_solved[tile]) continue;
        windows_fill_tile(c, tile, job);
        windows_solve_tile(c, tile, job->x);
        c->is_solved[tile] = true;
    }
}

typedef struct windows_pass {
    const pcs_chain *c;
    const pcs_slice_solve *job;
} windows_pass;

static void windows_do_tile(void *data, int tile)
{
    const windows_pass *pass = data;
    const pcs_slice_solve *job = pass->job;
    if (!pass->c->is_solved[tile]) {
        if (job->fill != NULL) windows_fill_tile(pass->c, tile, job);
        windows_solve_tile(pass->c, tile, job->x);
    }
    if (job->take != NULL) job->take(job->data, tile, windows_start(&pass->c->cut, tile), windows_end(pass->c, tile));
}

static void chain_windows_end(const pcs_chain *c, const pcs_slice_solve *job)
{
    windows_pass pass = { .c = c, .job = job };
    pcs_pool_run(c->pool, c->cut.ntile, windows_do_tile, &pass);
}

void pcs_chain_windows_solve(const pcs_chain *c, double *x)
{
    pcs_slice_solve job = { .x = x };
    chain_windows_begin(c, &job, 0, NULL);
    chain_windows_end(c, &job);
}

// L U factors of a block tridiagonal matrix from both ends to the middle, and solutions with them.
//
// A sweep eliminates block after block. With S for what is left of its diagonal block, C for the block of A below it,
// B for the one beside it and D for the next diagonal block,
//
//   S = L U,   M = C U^-1,   V = L^-1 B,   S_next = D - M V.
//
// The sweeps meet at one block, which both reduce. Rows are not exchanged. With pivots p_k and the diagonal s of A,
//
//   sum_k l_ik^2 |p_k| / s_i     for the rows of L and M,     sum_k u_kj^2 / |p_k| / s_j     for the columns of U and V
//
// bound the terms that are subtracted from A_ij, and so what is lost to rounding, in units of sqrt(s_i s_j). For a
// positive definite matrix none exceeds 1, as a sum of squares is what is taken from its diagonal; the iteration
// matrices of beams are close to that. Where their sum over a block gets large, the factorization ends, and the matrix
// is one for factors with row exchanges.
//
// The right-hand side is overwritten block by block, with P for the pivots:
//
//   forward   L z = x_I,  x_J -= M z,  x_I = P^-1 z          backward   P^-1 U x_I = x_I - P^-1 V x_J
//
// The processor works on both sweeps at once, as they do not depend on each other. A step keeps, in the order in which
// they are read, the columns of L with those of M below them, and the columns of U and those of V; U and V divided by
// their pivots. The rows of a block are kept in pairs, an odd last one with a zero. The diagonal belongs to U in odd
// columns, else to L, and is zero; its reciprocals are kept in `inverse`.

// Turns inlining off for fuzzers, whose instrumentation would make the compiler run for hours.
#ifdef PERCUSS_FUZZ
#define LU_INLINE static inline
#define LU_UNROLL
#else
#define LU_INLINE static inline __attribute__((always_inline))
#define LU_UNROLL _Pragma("GCC unroll 12")
#endif

enum { LU_ROWS = PCS_CHAIN_MAX, LU_BLOCK = PCS_CHAIN_MAX * PCS_CHAIN_MAX };

LU_INLINE int lu_even(int b)
{
    return b + b % 2;
}

// Returns the offset that row 0 of column k of L would have in a step; M has the rows from lu_even(b) on.
LU_INLINE int lu_of_L(int b, int k)
{
    return 2 * (lu_even(b) * k - k * k / 4 - (k + 1) / 2);
}

LU_INLINE int lu_of_U(int b, int k)
{
    return 2 * (lu_even(b) * b - b * b / 4 + k * k / 4);
}

LU_INLINE int lu_of_V(int b, int k)
{
    return lu_even(b) * (2 * b + k);
}

LU_INLINE int lu_stride(int b)
{
    return 3 * b * lu_even(b);
}

// Loads b numbers as pairs, an odd last one with a zero.
LU_INLINE void lu_load(int b, const double *from, pcs_double2 *to)
{
    LU_UNROLL
    for (int i = 0; i < b / 2; i++) to[i] = pcs_double2_load(from + 2 * i);
    if (b % 2 != 0) to[b / 2] = (pcs_double2){ from[b - 1], 0.0 };
}

// Largest sum of the bounds of a block, per equation. At most 4 for a positive definite matrix.
static const double lu_limit = 16.0;

typedef struct lu_input {
    pcs_chain_block below, next, beside; // C, D, B
} lu_input;

// Holds the Schur complement S of a block, by columns of whole pairs, and the reciprocal diagonal of A there.
typedef struct lu_rest {
    double S[PCS_CHAIN_MAX * LU_ROWS];
    double weight[LU_ROWS];
} lu_rest;

static size_t chain_lu_lower(const pcs_chain *c)
{
    return (size_t)c->nblock * (size_t)lu_stride(c->b);
}

static int lu_middle(const pcs_chain *c)
{
    return (c->nblock - 1) / 2;
}

// Returns the address of the factors of block I; those of each sweep are stored in its order.
LU_INLINE double *lu_step_of(const pcs_chain *c, int b, int I)
{
    const int middle = lu_middle(c), place = I > middle ? c->nblock + middle - I : I;
    return c->lower + (ptrdiff_t)place * lu_stride(b);
}

LU_INLINE pcs_double2 lu_absolute(pcs_double2 p)
{
    return (pcs_double2){ fabs(p[0]), fabs(p[1]) };
}

// Computes the reciprocals of the diagonal of D; padding has 1.
LU_INLINE void lu_weigh(int b, pcs_chain_block D, double *weight)
{
    LU_UNROLL
    for (int i = 0; i < lu_even(b); i += 2) {
        const double second = i + 1 < b ? D.at[(i + 1) * (D.stride + 1)] : 1.0;
        pcs_double2_store(weight + i, 1.0 / lu_absolute((pcs_double2){ D.at[i * (D.stride + 1)], second }));
    }
}

// Holds the bounds on the growth of entries in a step, and its smallest pivot.
typedef struct lu_bounds {
    pcs_double2 rows[LU_ROWS]; // sums for the rows of L and M, to be weighted
    pcs_double2 columns;       // of the columns of U and V together
    double least;              // smallest pivot in units of the diagonal
} lu_bounds;

// Holds the factors that a step computes, and their bounds.
typedef struct lu_factors {
    double L[PCS_CHAIN_MAX * 2 * LU_ROWS]; // L and M by columns
    double inverse[LU_ROWS];               // of the pivots
    double *step;                          // memory for the factors
    bool is_positive;                      // pivots must be positive
    lu_bounds bounds;
} lu_factors;

// Factors column j of the first b: its entries of U go to the step, those of L to L and the step, a zero between.
LU_INLINE void lu_column(int b, int j, pcs_double2 *column, double weight, lu_factors *to)
{
    double *L = to->L, *inverse = to->inverse, *step = to->step;
    lu_bounds *bounds = &to->bounds;
    const int nrow = 2 * lu_even(b);
    LU_UNROLL
    for (int k = 0; k < j; k++) {
        const double factor = column[k / 2][k % 2];
        LU_UNROLL
        for (int i = (k + 1) / 2; i < nrow / 2; i++) column[i] -= pcs_double2_load(L + k * nrow + 2 * i) * factor;
    }
    const pcs_double2 own = column[j / 2];
    const double pivot = own[j % 2], reciprocal = 1.0 / pivot;
    inverse[j] = reciprocal;
    const double size = (to->is_positive ? pivot : fabs(pivot)) * weight;
    bounds->least = size < bounds->least ? size : bounds->least; // in one instruction; passes over NaN
    column[j / 2] = own * (j % 2 == 0 ? (pcs_double2){ 0.0, 1.0 } : (pcs_double2){ 1.0, 0.0 });
    LU_UNROLL
    for (int i = 0; i < (j + 1) / 2; i++) {
        const pcs_double2 scaled = column[i] * (pcs_double2){ inverse[2 * i], inverse[2 * i + 1] };
        pcs_double2_store(step + lu_of_U(b, j) + 2 * i, scaled);
        bounds->columns += lu_absolute(scaled * column[i]) * weight;
    }
    LU_UNROLL
    for (int i = (j + 1) / 2; i < nrow / 2; i++) {
        const pcs_double2 multiplier = column[i] * reciprocal;
        pcs_double2_store(L + j * nrow + 2 * i, multiplier);
        pcs_double2_store(step + lu_of_L(b, j) + 2 * i, multiplier);
        bounds->rows[i] += multiplier * multiplier * fabs(pivot);
    }
}

// Factors the first b columns: L and M, U.
LU_INLINE void lu_panel(int b, const lu_rest *rest, pcs_chain_block C, lu_factors *to)
{
    const int h = lu_even(b) / 2;
    double weight[LU_ROWS]; // a copy that the compiler knows nothing else writes to
    LU_UNROLL
    for (int i = 0; i < b; i++) weight[i] = rest->weight[i];
    LU_UNROLL
    for (int j = 0; j < b; j++) {
        pcs_double2 column[LU_ROWS];
        LU_UNROLL
        for (int i = 0; i < h; i++) column[i] = pcs_double2_load(rest->S + (j * h + i) * 2);
        lu_load(b, C.at + j * C.stride, column + h);
        lu_column(b, j, column, weight[j], to);
    }
}

// Updates `count` columns of the next block from j on: V, and the rest of D. Two columns at once share the reads of L.
LU_INLINE pcs_double2 lu_update(int b, int count, int j, const lu_input *in, const lu_factors *f, lu_rest *next)
{
    const double *L = f->L, *inverse = f->inverse;
    double *step = f->step;
    const int even = lu_even(b), h = even / 2;
    pcs_double2 column[2][LU_ROWS], bound = { 0 };
    LU_UNROLL
    for (int m = 0; m < count; m++) {
        lu_load(b, in->beside.at + (j + m) * in->beside.stride, column[m]);
        lu_load(b, in->next.at + (j + m) * in->next.stride, column[m] + h);
    }
    LU_UNROLL
    for (int k = 0; k < b; k++) {
        const double factor[] = { column[0][k / 2][k % 2], count > 1 ? column[1][k / 2][k % 2] : 0.0 };
        LU_UNROLL
        for (int i = (k + 1) / 2; i < even; i++) {
            const pcs_double2 multiplier = pcs_double2_load(L + k * 2 * even + 2 * i);
            LU_UNROLL
            for (int m = 0; m < count; m++) column[m][i] -= multiplier * factor[m];
        }
    }
    LU_UNROLL
    for (int i = 0; i < h; i++) {
        LU_UNROLL
        for (int m = 0; m < count; m++) {
            const pcs_double2 scaled = column[m][i] * (pcs_double2){ inverse[2 * i], inverse[2 * i + 1] };
            pcs_double2_store(step + lu_of_V(b, j + m) + 2 * i, scaled);
            pcs_double2_store(next->S + (j + m) * even + 2 * i, column[m][h + i]);
            bound += lu_absolute(scaled * column[m][i]) * next->weight[j + m];
        }
    }
    return bound;
}

// Eliminates block I; false if a pivot is missing or rows should be exchanged.
LU_INLINE bool lu_eliminate(pcs_chain *c, int b, const lu_input *in, const lu_rest *rest, lu_rest *next, int I)
{
    const int h = lu_even(b) / 2;
    double *inverse = c->inverse + (size_t)I * (size_t)b;
    lu_factors f;
    f.step = lu_step_of(c, b, I);
    f.is_positive = c->is_positive;
    f.bounds = (lu_bounds){ .least = 1.0 };
    for (int i = 0; i < LU_ROWS; i++) f.inverse[i] = 1.0; // of padding, too
    lu_weigh(b, in->next, next->weight);
    lu_panel(b, rest, in->below, &f);
    pcs_double2 sum = f.bounds.columns;
    LU_UNROLL
    for (int i = 0; i < h; i++) {
        sum += f.bounds.rows[i] * pcs_double2_load(rest->weight + 2 * i);
        sum += f.bounds.rows[h + i] * pcs_double2_load(next->weight + 2 * i);
    }
    for (int j = 0; j + 1 < b; j += 2) sum += lu_update(b, 2, j, in, &f, next);
    if (b % 2 != 0) sum += lu_update(b, 1, b - 1, in, &f, next);
    LU_UNROLL
    for (int i = 0; i < b; i++) inverse[i] = f.inverse[i];
    return f.bounds.least > 2.0 * DBL_EPSILON && sum[0] + sum[1] <= lu_limit * b; // false for NaN
}

// Holds the state of a sweep. One goes from block 0 down to the middle, the other from the last block up to it, which
// has as many steps, or one more.
typedef struct lu_sweep {
    int block, direction;
    lu_rest rest[2]; // of blocks with even and with odd numbers: the present one and the next
} lu_sweep;

// Adds `sign` times diagonal block I of A to what elimination has left of it so far.
LU_INLINE void lu_add(const pcs_chain *c, const pcs_matrix *A, int b, int I, double sign, lu_rest *rest)
{
    double copy[LU_BLOCK];
    pcs_chain_block D = chain_get(c, A, I, I, copy);
    lu_weigh(b, D, rest->weight);
    for (int j = 0; j < b; j++)
        for (int i = 0; i < b; i++) rest->S[j * lu_even(b) + i] += sign * D.at[j * D.stride + i];
}

// Returns the blocks of A that enter a step from block I to block J.
LU_INLINE lu_input lu_find(const pcs_chain *c, const pcs_matrix *A, int I, int J, double (*copy)[LU_BLOCK])
{
    if (J < c->nblock && c->column[I].stride > 0 && c->column[J].stride > 0)
        return (lu_input){ .below = pcs_chain_get_full(c, A, J, I),
                           .next = pcs_chain_get_full(c, A, J, J),
                           .beside = pcs_chain_get_full(c, A, I, J) };
    return (lu_input){ .below = chain_get(c, A, J, I, copy[0]),
                       .next = chain_get(c, A, J, J, copy[1]),
                       .beside = chain_get(c, A, I, J, copy[2]) };
}

// Eliminates the present block of the sweep and moves on to the next one; the middle leads to none.
LU_INLINE bool lu_step(pcs_chain *c, const pcs_matrix *A, int b, lu_sweep *sweep)
{
    double copy[3][LU_BLOCK];
    const int I = sweep->block, J = I == lu_middle(c) ? c->nblock : I + sweep->direction;
    const lu_input in = lu_find(c, A, I, J, copy);
    const bool is_good = lu_eliminate(c, b, &in, &sweep->rest[I % 2], &sweep->rest[(I + 1) % 2], I);
    if (is_good) sweep->block += sweep->direction;
    return is_good;
}

// Runs both sweeps to the middle. Returns the one that breaks down, or NULL.
LU_INLINE const lu_sweep *lu_run(pcs_chain *c, const pcs_matrix *A, int b, lu_sweep *sweep)
{
    const int middle = lu_middle(c);
    for (int side = 0; side < 2; side++)
        lu_add(c, A, b, sweep[side].block, 1.0, &sweep[side].rest[sweep[side].block % 2]);
    while (sweep[1].block > middle) {
        if (sweep[0].block < middle && !lu_step(c, A, b, &sweep[0])) return &sweep[0];
        if (!lu_step(c, A, b, &sweep[1])) return &sweep[1];
    }
    lu_rest *left = &sweep[0].rest[middle % 2], *right = &sweep[1].rest[middle % 2];
    for (int k = 0; k < b * lu_even(b); k++) left->S[k] += right->S[k];
    lu_add(c, A, b, middle, -1.0, left);
    return lu_step(c, A, b, &sweep[0]) ? NULL : &sweep[0];
}

PCS_WIDE static const lu_sweep *lu_run_sized(pcs_chain *c, const pcs_matrix *A, lu_sweep *sweep)
{
    switch (c->b) { // constant block sizes let the compiler unroll the loops
    case 1: return lu_run(c, A, 1, sweep);
    case 2: return lu_run(c, A, 2, sweep);
    case 3: return lu_run(c, A, 3, sweep);
    case 4: return lu_run(c, A, 4, sweep);
    case 5: return lu_run(c, A, 5, sweep);
    default: return lu_run(c, A, 6, sweep);
    }
}

// Returns the equation at which the factorization broke down: the first pivot of the block that is round-off or not
// positive, else an equation of the next block that is not finite, else the first of the block.
static int lu_find_bad(const pcs_chain *c, const lu_sweep *sweep)
{
    const int I = sweep->block;
    for (int i = 0; i < c->first[I + 1] - c->first[I]; i++)
        if (!(sweep->rest[I % 2].weight[i] / c->inverse[I * c->b + i] > 2.0 * DBL_EPSILON)) return c->first[I] + i;
    for (int i = 0, J = I + sweep->direction; i < c->b; i++)
        if (!(sweep->rest[J % 2].weight[i] <= DBL_MAX)) return c->first[J] + i;
    return c->first[I];
}

// Factors L U from both ends to the middle. Returns the equation at which that breaks down, or -1: for a positive
// definite matrix one without a positive pivot, else one near which rows should be exchanged.
static int chain_lu_factor(pcs_chain *c, const pcs_matrix *A)
{
    if (c->n == 0) return -1;
    lu_sweep sweep[2] = { { .block = 0, .direction = 1 }, { .block = c->nblock - 1, .direction = -1 } };
    const lu_sweep *bad = lu_run_sized(c, A, sweep);
    return bad == NULL ? -1 : lu_find_bad(c, bad);
}

// Holds the state of one sweep of a solve: its step and the blocks of x.
typedef struct lu_side {
    const double *step, *inverse;
    double *x;
    ptrdiff_t next; // from a block of x to the next one
    pcs_double2 y[LU_ROWS / 2];
} lu_side;

LU_INLINE void lu_move(int b, int steps, lu_side *side)
{
    side->step += (ptrdiff_t)steps * lu_stride(b);
    side->inverse += steps * side->next;
    side->x += steps * side->next;
}

LU_INLINE void lu_store(int b, const pcs_double2 *from, double *to)
{
    LU_UNROLL
    for (int i = 0; i < b / 2; i++) pcs_double2_store(to + 2 * i, from[i]);
    if (b % 2 != 0) to[b - 1] = from[b / 2][0];
}

// Subtracts factor times `column` in the pairs from `begin` to `end`.
LU_INLINE void lu_subtract(int begin, int end, const double *column, double factor, pcs_double2 *to)
{
    LU_UNROLL
    for (int i = begin; i < end; i++) to[i] -= pcs_double2_load(column + 2 * i) * factor;
}

// Makes a step of each forward sweep: y holds the block, reduced by those before. The statements alternate between the
// sweeps, because the processor looks only a few hundred operations ahead.
LU_INLINE void lu_forward(int b, lu_side *p, lu_side *q)
{
    const int even = lu_even(b), h = even / 2;
    pcs_double2 y[LU_ROWS / 2], v[LU_ROWS / 2], d[LU_ROWS / 2], e[LU_ROWS / 2];
    lu_load(b, p->x + p->next, y);
    lu_load(b, q->x + q->next, v);
    LU_UNROLL
    for (int k = 0; k < b; k++) {
        const double *f = p->step + lu_of_L(b, k), *g = q->step + lu_of_L(b, k);
        const double factor = p->y[k / 2][k % 2], other = q->y[k / 2][k % 2];
        lu_subtract((k + 1) / 2, h, f, factor, p->y);
        lu_subtract((k + 1) / 2, h, g, other, q->y);
        lu_subtract(0, h, f + even, factor, y);
        lu_subtract(0, h, g + even, other, v);
    }
    lu_load(b, p->inverse, d);
    lu_load(b, q->inverse, e);
    LU_UNROLL
    for (int i = 0; i < h; i++) d[i] *= p->y[i], e[i] *= q->y[i], p->y[i] = y[i], q->y[i] = v[i];
    lu_store(b, d, p->x);
    lu_store(b, e, q->x);
}

// Makes a step of each backward sweep. y holds the block before. Starts with the last columns, whose x are known first.
LU_INLINE void lu_backward(int b, lu_side *p, lu_side *q)
{
    const int h = lu_even(b) / 2;
    pcs_double2 y[LU_ROWS / 2], v[LU_ROWS / 2];
    lu_load(b, p->x, y);
    lu_load(b, q->x, v);
    LU_UNROLL
    for (int k = b - 1; k >= 0; k--) {
        lu_subtract(0, h, p->step + lu_of_V(b, k), p->y[k / 2][k % 2], y);
        lu_subtract(0, h, q->step + lu_of_V(b, k), q->y[k / 2][k % 2], v);
    }
    LU_UNROLL
    for (int k = b - 1; k > 0; k--) {
        const double factor = y[k / 2][k % 2], other = v[k / 2][k % 2];
        lu_subtract(0, (k + 1) / 2, p->step + lu_of_U(b, k), factor, y);
        lu_subtract(0, (k + 1) / 2, q->step + lu_of_U(b, k), other, v);
    }
    LU_UNROLL
    for (int i = 0; i < h; i++) p->y[i] = y[i], q->y[i] = v[i];
    lu_store(b, y, p->x);
    lu_store(b, v, q->x);
}

// Makes the forward step of block I alone, whose rows couple to the block at I + next (0: to none).
LU_INLINE void lu_forward_alone(const pcs_chain *c, int b, int I, int next, double *x)
{
    const double *step = lu_step_of(c, b, I), *inverse = c->inverse + (ptrdiff_t)I * b;
    double *own = x + (ptrdiff_t)I * b, *other = own + (ptrdiff_t)next * b;
    for (int k = 0; k < b; k++) {
        const double *L = step + lu_of_L(b, k), *M = L + lu_even(b);
        for (int i = k + 1; i < b; i++) own[i] -= L[i] * own[k];
        if (next == 0) continue;
        for (int i = 0; i < b; i++) other[i] -= M[i] * own[k];
    }
    for (int i = 0; i < b; i++) own[i] *= inverse[i];
}

LU_INLINE void lu_backward_alone(const pcs_chain *c, int b, int I, int next, double *x)
{
    const double *step = lu_step_of(c, b, I);
    double *own = x + (ptrdiff_t)I * b, *other = own + (ptrdiff_t)next * b;
    for (int k = b - 1; k >= 0; k--) {
        if (next == 0) break;
        for (int i = 0; i < b; i++) own[i] -= step[lu_of_V(b, k) + i] * other[k];
    }
    for (int k = b - 1; k > 0; k--)
        for (int i = 0; i < k; i++) own[i] -= step[lu_of_U(b, k) + i] * own[k];
}

// Solves with both sweeps side by side up to the last block of the lower one before the middle, then block by block.
LU_INLINE void lu_solve(const pcs_chain *c, int b, double *x)
{
    const int middle = lu_middle(c), last = c->nblock - 1, common = last > middle ? last - middle - 1 : 0;
    lu_side upper = { .step = c->lower, .inverse = c->inverse, .x = x, .next = b };
    lu_side lower = { .step = lu_step_of(c, b, last),
                      .inverse = c->inverse + (ptrdiff_t)last * b,
                      .x = x + (ptrdiff_t)last * b,
                      .next = -b };
    lu_load(b, upper.x, upper.y);
    lu_load(b, lower.x, lower.y);
    for (int k = 0; k < common; k++) {
        lu_forward(b, &upper, &lower);
        lu_move(b, 1, &upper);
        lu_move(b, 1, &lower);
    }
    lu_store(b, upper.y, upper.x);
    lu_store(b, lower.y, lower.x);
    for (int I = common; I < middle; I++) lu_forward_alone(c, b, I, 1, x);
    for (int I = last - common; I > middle; I--) lu_forward_alone(c, b, I, -1, x);
    lu_forward_alone(c, b, middle, 0, x);
    lu_backward_alone(c, b, middle, 0, x);
    for (int I = middle + 1; I <= last - common; I++) lu_backward_alone(c, b, I, -1, x);
    for (int I = middle - 1; I >= common; I--) lu_backward_alone(c, b, I, 1, x);
    lu_load(b, upper.x, upper.y);
    lu_load(b, lower.x, lower.y);
    for (int k = 0; k < common; k++) {
        lu_move(b, -1, &upper);
        lu_move(b, -1, &lower);
        lu_backward(b, &upper, &lower);
    }
}

PCS_WIDE static void lu_solve_sized(const pcs_chain *c, double *x)
{
    switch (c->b) { // constant block sizes let the compiler unroll the loops
    case 1: lu_solve(c, 1, x); break;
    case 2: lu_solve(c, 2, x); break;
    case 3: lu_solve(c, 3, x); break;
    case 4: lu_solve(c, 4, x); break;
    case 5: lu_solve(c, 5, x); break;
    default: lu_solve(c, 6, x); break;
    }
}

static void chain_lu_solve(const pcs_chain *c, double *x)
{
    if (c->n == 0) return;
    if (c->n == c->nblock * c->b) {
        lu_solve_sized(c, x);
        return;
    }
    chain_pad(c, x, c->work);
    lu_solve_sized(c, c->work);
    chain_gather(c, c->work, x);
}

static const char *chain_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    int nblock;
    return chain_partition(pattern, NULL, &nblock) == 0 ? "it is not block tridiagonal with blocks of at most 6" : NULL;
}

// Returns zeros unless block J has b equations whose columns have entries in all rows of its neighbours and itself.
static pcs_chain_column chain_find_column(const pcs_chain *c, const pcs_pattern *pattern, int J)
{
    int top = c->first[J > 0 ? J - 1 : 0], bottom = c->first[J + 2 < c->nblock ? J + 2 : c->nblock];
    if (c->first[J + 1] - c->first[J] != c->b) return (pcs_chain_column){ 0 };
    for (int j = c->first[J]; j < c->first[J + 1]; j++)
        if (pattern->start[j + 1] - pattern->start[j] != bottom - top) return (pcs_chain_column){ 0 };
    return (pcs_chain_column){ pattern->start[c->first[J]] - top, bottom - top };
}

static pcs_status chain_find_blocks(pcs_linsolve *self)
{
    pcs_chain *c = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    int *begin;
    PCS_TAKE(self->ctx, begin, pattern->n + 1, "the blocks of a chain");
    c->n = pattern->n;
    c->b = chain_partition(pattern, begin, &c->nblock);
    PCS_TAKE(self->ctx, c->first, c->nblock + 1, "the blocks of a chain");
    for (int I = c->nblock, end = c->n; I > 0; end = begin[end]) c->first[I--] = end;
    PCS_TAKE(self->ctx, c->column, c->nblock, "the blocks of a chain");
    for (int J = 0; J < c->nblock; J++) c->column[J] = chain_find_column(c, pattern, J);
    return PCS_OK;
}

static pcs_status chain_analyze_windows(pcs_linsolve *self)
{
    pcs_chain *c = self->data;
    size_t ntile = (size_t)chain_windows_tiles(c->n);
    c->pool = pcs_context_pool(self->ctx);
    PCS_TAKE(self->ctx, c->edges, 2 * ntile, "the workspace of a chain");
    PCS_TAKE(self->ctx, c->is_solved, ntile, "the workspace of a chain");
    PCS_TAKE(self->ctx, c->is_uniform, ntile, "the workspace of a chain");
    PCS_TAKE(self->ctx, c->work, chain_windows_work(c->n), "the workspace of a chain");
    return PCS_OK;
}

static pcs_status chain_analyze(pcs_linsolve *self)
{
    pcs_chain *c = self->data;
    PCS_TRY(chain_find_blocks(self));
    c->is_positive = self->kind == PCS_SPD;
    const bool is_bar = c->is_positive && c->b == 1;
    size_t n = (size_t)c->nblock * (size_t)c->b, lower = is_bar ? chain_bar_lower(c->n) : chain_lu_lower(c);
    if (is_bar) PCS_TRY(chain_analyze_windows(self));
    else PCS_TAKE(self->ctx, c->work, n, "the workspace of a chain");
    PCS_TAKE(self->ctx, c->lower, lower, "the factor of a chain");
    PCS_TAKE(self->ctx, c->inverse, n, "the pivots of a chain");
    return c->is_positive ? PCS_OK : chain_banded_analyze(self->ctx, c);
}

static bool chain_is_diagonal(const pcs_matrix *A)
{
    const pcs_pattern *pattern = A->pattern;
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            if (pattern->row[p] != j && A->value[p] != 0.0) return false;
    return true;
}

static int chain_diagonal_factor(pcs_chain *c, const pcs_matrix *A)
{
    for (int j = 0; j < c->n; j++) {
        double diagonal = pcs_matrix_diagonal(A, j);
        if (!pcs_pivot_is_positive(diagonal, diagonal)) return j;
        c->inverse[j] = 1.0 / diagonal;
    }
    return -1;
}

static void chain_diagonal_solve(const pcs_chain *c, double *restrict x)
{
    const double *restrict inverse = c->inverse;
    for (int j = 0; j < c->n; j++) x[j] *= inverse[j];
}

static int chain_factor_values(pcs_chain *c, const pcs_matrix *A)
{
    if (c->is_positive && chain_is_diagonal(A)) {
        c->solve = chain_diagonal_solve;
        return chain_diagonal_factor(c, A);
    }
    if (c->is_positive && c->b == 1) {
        bool fits = false;
        c->solve = pcs_chain_windows_solve;
        int bad = chain_windows_factor(c, A, &fits);
        if (fits || bad >= 0) return bad;
        c->solve = pcs_chain_pairs_solve;
        return pcs_chain_pairs_factor(c, A);
    }
    c->solve = chain_lu_solve;
    int bad = chain_lu_factor(c, A);
    if (bad < 0 || c->is_positive) return bad;
    c->solve = pcs_chain_banded_solve;
    return chain_banded_factor(c, A);
}

static pcs_status chain_factor(pcs_linsolve *self, bool *is_singular)
{
    self->bad_equation = chain_factor_values(self->data, self->A);
    *is_singular = self->bad_equation >= 0;
    return PCS_OK;
}

static void chain_solve(pcs_linsolve *self, double *x)
{
    const pcs_chain *c = self->data;
    c->solve(c, x);
}

static bool chain_has_slices(const pcs_linsolve *self)
{
    const pcs_chain *c = self->data;
    return c->solve == pcs_chain_windows_solve && c->cut.ntile > 1;
}

static void chain_begin(pcs_linsolve *self, const pcs_slice_solve *job, int count, const int *wanted)
{
    chain_windows_begin(self->data, job, count, wanted);
}

static void chain_end(pcs_linsolve *self, const pcs_slice_solve *job)
{
    chain_windows_end(self->data, job);
}

const pcs_linsolve_ops pcs_linsolve_chain = {
    .name = "chain",
    .summary = "interleaved sweeps for block tridiagonal matrices: bars and beams",
    .data_size = sizeof(pcs_chain),
    .refuses = chain_refuses,
    .analyze = chain_analyze,
    .factor = chain_factor,
    .solve = chain_solve,
    .has_slices = chain_has_slices,
    .begin = chain_begin,
    .end = chain_end,
};
