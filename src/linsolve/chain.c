// Block tridiagonal matrices: bars and beams numbered along their axis.
//
// L U factors from both ends, which have positive pivots if the matrix is positive definite; a matrix that
// needs row exchanges gets banded ones. Positive definite matrices of bars are solved faster, as their
// values allow: a diagonal one (lumped mass) is a scaling; one whose inverse decays fast (mass matrices, iteration
// matrices of moderate steps) is solved by eight interleaved sweeps in slices.

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
// found from the pattern and need not be equal. A block may reach from one equation to another if none before it
// couples with one behind it. The fewest blocks up to each equation follow from those up to the few before it.

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

// Copies a right-hand side into padded blocks, and back.
static void chain_pad(const pcs_chain *c, const double *restrict x, double *restrict padded)
{
    memset(padded, 0, (size_t)c->nblock * (size_t)c->b * sizeof *padded);
    for (int i = 0; i < c->n; i++) padded[c->place[i]] = x[i];
}

static void chain_gather(const pcs_chain *c, const double *restrict padded, double *restrict x)
{
    for (int i = 0; i < c->n; i++) x[i] = padded[c->place[i]];
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

enum { LU_ROWS = PCS_CHAIN_MAX, LU_COLUMNS = 3 * PCS_CHAIN_MAX * PCS_CHAIN_MAX };

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

// Holds the blocks of A that enter a step, with columns 3 b apart.
typedef struct lu_input {
    const double *below, *next, *beside; // C, D, B
} lu_input;

// Holds the Schur complement S of a block, by columns of whole pairs, and the reciprocal diagonal of A there.
typedef struct lu_rest {
    double S[PCS_CHAIN_MAX * LU_ROWS];
    double weight[LU_ROWS];
} lu_rest;

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

// Returns the columns of block J in the rows of the blocks J - 1, J and J + 1: those of A if they have all entries,
// else copies. Short blocks and one behind the last are padded with zeros, and with ones on the diagonal.
LU_INLINE const double *lu_read(const pcs_chain *c, const pcs_matrix *A, int b, int J, double *copy)
{
    const int *start = A->pattern->start, *row = A->pattern->row, *place = c->place;
    const int begin = c->first[J < c->nblock ? J : c->nblock], end = c->first[J < c->nblock ? J + 1 : c->nblock];
    if (start[end] - start[begin] == 3 * b * b) return A->value + start[begin];
    memset(copy, 0, (size_t)(3 * b * b) * sizeof *copy);
    for (int j = begin; j < end; j++) {
        double *column = copy + (j - begin) * 3 * b - (J - 1) * b;
        for (int p = start[j]; p < start[j + 1]; p++) column[place[row[p]]] = A->value[p];
    }
    for (int k = end - begin; k < b; k++) copy[k * 3 * b + b + k] = 1.0;
    return copy;
}

// Computes the reciprocals of the diagonal of D; padding has 1.
LU_INLINE void lu_weigh(int b, const double *D, double *weight)
{
    LU_UNROLL
    for (int i = 0; i < lu_even(b); i += 2) {
        const double second = i + 1 < b ? D[(i + 1) * (3 * b + 1)] : 1.0;
        pcs_double2_store(weight + i, 1.0 / lu_absolute((pcs_double2){ D[i * (3 * b + 1)], second }));
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
LU_INLINE void lu_panel(int b, const lu_rest *rest, const double *C, lu_factors *to)
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
        lu_load(b, C + j * 3 * b, column + h);
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
        lu_load(b, in->beside + (j + m) * 3 * b, column[m]);
        lu_load(b, in->next + (j + m) * 3 * b, column[m] + h);
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
    lu_rest rest[2];          // of blocks with even and with odd numbers: the present one and the next
    const double *columns[2]; // of A, likewise
    double copy[2][LU_COLUMNS];
} lu_sweep;

LU_INLINE void lu_begin(const pcs_chain *c, const pcs_matrix *A, int b, int I, int direction, lu_sweep *sweep)
{
    const double *D = lu_read(c, A, b, I, sweep->copy[I % 2]) + b;
    lu_rest *rest = &sweep->rest[I % 2];
    sweep->block = I;
    sweep->direction = direction;
    sweep->columns[I % 2] = D - b;
    lu_weigh(b, D, rest->weight);
    memset(rest->S, 0, sizeof rest->S);
    for (int j = 0; j < b; j++) memcpy(rest->S + j * lu_even(b), D + j * 3 * b, (size_t)b * sizeof *D);
}

// Eliminates the present block of the sweep and moves on to the next one; the middle leads to none.
LU_INLINE bool lu_step(pcs_chain *c, const pcs_matrix *A, int b, lu_sweep *sweep)
{
    static const double nothing[LU_COLUMNS];
    const int I = sweep->block, own = I % 2, other = 1 - own, shift = sweep->direction * b;
    const bool is_last = I == lu_middle(c);
    const double *next = lu_read(c, A, b, is_last ? c->nblock : I + sweep->direction, sweep->copy[other]) + b;
    const lu_input in = { .below = is_last ? nothing : sweep->columns[own] + b + shift,
                          .next = next,
                          .beside = next - shift };
    sweep->columns[other] = next - b;
    const bool is_good = lu_eliminate(c, b, &in, &sweep->rest[own], &sweep->rest[other], I);
    if (is_good) sweep->block += sweep->direction;
    return is_good;
}

// Runs both sweeps to the middle. Returns the one that breaks down, or NULL.
LU_INLINE const lu_sweep *lu_run(pcs_chain *c, const pcs_matrix *A, int b, lu_sweep *sweep)
{
    const int middle = lu_middle(c);
    lu_begin(c, A, b, 0, 1, &sweep[0]);
    lu_begin(c, A, b, c->nblock - 1, -1, &sweep[1]);
    while (sweep[1].block > middle) {
        if (sweep[0].block < middle && !lu_step(c, A, b, &sweep[0])) return &sweep[0];
        if (!lu_step(c, A, b, &sweep[1])) return &sweep[1];
    }
    double *left = sweep[0].rest[middle % 2].S, *right = sweep[1].rest[middle % 2].S;
    const double *D = sweep[0].columns[middle % 2] + b;
    for (int j = 0; j < b; j++)
        for (int i = 0; i < b; i++) left[j * lu_even(b) + i] += right[j * lu_even(b) + i] - D[j * 3 * b + i];
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
    lu_sweep sweep[2];
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

// Makes a step of a forward sweep: y holds the block, reduced by those before.
LU_INLINE void lu_forward(int b, lu_side *p)
{
    const int even = lu_even(b), h = even / 2;
    pcs_double2 y[LU_ROWS / 2], d[LU_ROWS / 2];
    lu_load(b, p->x + p->next, y);
    LU_UNROLL
    for (int k = 0; k < b; k++) {
        const double *column = p->step + lu_of_L(b, k), factor = p->y[k / 2][k % 2];
        lu_subtract((k + 1) / 2, h, column, factor, p->y);
        lu_subtract(0, h, column + even, factor, y);
    }
    lu_load(b, p->inverse, d);
    LU_UNROLL
    for (int i = 0; i < h; i++) {
        d[i] *= p->y[i];
        p->y[i] = y[i];
    }
    lu_store(b, d, p->x);
    lu_move(b, 1, p);
}

// Makes a step of a backward sweep. y holds the block before. Starts with the last columns, whose x are known first.
LU_INLINE void lu_backward(int b, lu_side *p)
{
    const int h = lu_even(b) / 2;
    pcs_double2 y[LU_ROWS / 2];
    lu_move(b, -1, p);
    lu_load(b, p->x, y);
    LU_UNROLL
    for (int k = b - 1; k >= 0; k--) lu_subtract(0, h, p->step + lu_of_V(b, k), p->y[k / 2][k % 2], y);
    LU_UNROLL
    for (int k = b - 1; k > 0; k--) lu_subtract(0, (k + 1) / 2, p->step + lu_of_U(b, k), y[k / 2][k % 2], y);
    LU_UNROLL
    for (int i = 0; i < h; i++) p->y[i] = y[i];
    lu_store(b, y, p->x);
}

// Solves for the block in the middle, which both sweeps have reduced, by a step that leads to the same block.
LU_INLINE void lu_meet(int b, lu_side *upper, lu_side *lower)
{
    lu_side middle = *upper;
    pcs_double2 x[LU_ROWS / 2];
    lu_load(b, middle.x, x);
    middle.next = 0;
    LU_UNROLL
    for (int i = 0; i < lu_even(b) / 2; i++) middle.y[i] += lower->y[i] - x[i];
    lu_forward(b, &middle);
    lu_backward(b, &middle);
    LU_UNROLL
    for (int i = 0; i < lu_even(b) / 2; i++) upper->y[i] = lower->y[i] = middle.y[i];
}

// Solves with both sweeps, a step of each in turns. The lower one has as many as the upper one, or one more.
LU_INLINE void lu_solve(const pcs_chain *c, int b, double *x)
{
    const int middle = lu_middle(c), last = c->nblock - 1;
    lu_side upper = { .step = c->lower, .inverse = c->inverse, .x = x, .next = b };
    lu_side lower = { .step = lu_step_of(c, b, last),
                      .inverse = c->inverse + (ptrdiff_t)last * b,
                      .x = x + (ptrdiff_t)last * b,
                      .next = -b };
    lu_load(b, upper.x, upper.y);
    lu_load(b, lower.x, lower.y);
    if (last > 2 * middle) lu_forward(b, &lower);
    for (int k = 0; k < middle; k++) {
        lu_forward(b, &upper);
        lu_forward(b, &lower);
    }
    lu_meet(b, &upper, &lower);
    for (int k = 0; k < middle; k++) {
        lu_backward(b, &upper);
        lu_backward(b, &lower);
    }
    if (last > 2 * middle) lu_backward(b, &lower);
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

void pcs_chain_lu_solve(const pcs_chain *c, double *x)
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
    PCS_TAKE(self->ctx, c->place, c->n, "the blocks of a chain");
    for (int I = 0; I < c->nblock; I++)
        for (int i = c->first[I]; i < c->first[I + 1]; i++) c->place[i] = I * c->b + i - c->first[I];
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
    size_t n = (size_t)c->nblock * (size_t)c->b, lower = n * 3 * (size_t)lu_even(c->b); // more than windows need
    if (is_bar) PCS_TRY(chain_analyze_windows(self));
    else PCS_TAKE(self->ctx, c->work, n, "the workspace of a chain");
    c->lower = pcs_take_room(self->ctx, lower * sizeof *c->lower, "the factor of a chain");
    if (c->lower == NULL) return PCS_NO_MEMORY;
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
    }
    c->solve = pcs_chain_lu_solve;
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
