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

#include "core/double2.h"
#include "core/loop.h"
#include "linsolve/chain.h"
#include "linsolve/pivot.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define WINDOWS_UNROLL _Pragma("GCC unroll 4")
#define WINDOWS_INLINE static inline __attribute__((always_inline))

enum {
    WIDTH = 8,         // segments of a tile
    PAIRS = WIDTH / 2, // vector registers for a row
    SHORTEST = 16,     // segments below this are not worth the warm-up
    USUAL = 1500,      // longest segments in general: the tile and what is made of it stay in the second cache
    LONGEST = 6000     // longest segments when the window is long
};

static const double windows_tolerance = 1.0e-20;

size_t pcs_chain_bar_lower(int n)
{
    // One row more than equations in each tile; pairs take one number more than equations, too.
    return (size_t)n + WIDTH * ((size_t)n / (WIDTH * SHORTEST) + 1);
}

size_t pcs_chain_windows_work(int n)
{
    // A window, and the y before it.
    return 1 + (size_t)(n < LONGEST ? n : LONGEST + 2);
}

int pcs_chain_windows_tiles(int n)
{
    return n / (WIDTH * USUAL) + 1;
}

static int windows_segment(const pcs_chain_cut *cut, int tile)
{
    return cut->length + (tile < cut->nlong ? 2 : 0);
}

// Diagonal and subdiagonal entry of column j.
static void windows_column(const pcs_matrix *A, int j, double *diagonal, double *below)
{
    const pcs_pattern *pattern = A->pattern;
    *below = 0.0;
    for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
        if (pattern->row[p] == j) *diagonal = A->value[p];
        if (pattern->row[p] == j + 1) *below = A->value[p];
    }
}

// l[i] and the pivots d[i] in natural order. Answers the equation with a pivot that is not positive, or -1.
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

// A_ii from the factor.
static double windows_diagonal(const double *l, const double *d, int i)
{
    return d[i] + (i == 0 ? 0.0 : l[i] * l[i] * d[i - 1]);
}

// Number of equations, at most `most`, after which equation `from` has no influence towards `step` (+1 or -1).
//
// The product of l over (i, j], i < j, carries y_i to j and x_j to i. Against sqrt(A_jj) and sqrt(A_ii), the sizes that
// the error analysis of a Cholesky factorization compares with, it is scaled by sqrt(A_ii / A_jj), or by the pivots.
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

// The window that all cuts of this partition need, even; above `most` when there is none.
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

// Tiles of the usual size, or larger ones when the window is long. False when no tile is long enough for it.
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

// Are `count` numbers all the same?
static bool windows_are_same(size_t count, const double *x)
{
    for (size_t i = 1; i < count; i++)
        if (x[i] != x[0]) return false;
    return true;
}

// Places l and the reciprocal pivots row by row; the row behind the last one of a tile couples to what follows.
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

int pcs_chain_windows_factor(pcs_chain *c, const pcs_matrix *A, bool *fits)
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

// Two rows of the forward recurrence in two segments of m equations; x are those of the first, and rows of factors
// stand `stride` apart.
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

// Asks memory for rows of the factor before their turn: those of L soon, those of the pivots in the sweep back.
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
    // The end of each segment is the start of the next one.
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

// Two rows of the backward recurrence, likewise.
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
    // The start of each segment is the end of the one before.
    double end[WIDTH + 1];
    memcpy(end, c, sizeof c);
    end[WIDTH] = behind;
    memcpy(c, end + 1, sizeof c);
    for (int k = m - 2; k >= 0; k -= 2) WINDOWS_UNROLL
    for (int q = 0; q < PAIRS; q++)
        c[q] = windows_backward_rows(m, f, k * f->stride + 2 * q, x + 2 * q * m + k, c[q], true);
}

// y of a tile of segments of m equations in place of x; `carry` is the y before it.
PCS_WIDE static void windows_forward(int m, int window, const windows_factor *factor, double *x, double carry)
{
    windows_factor f = *factor;
    if (f.stride == 0) f.stride = 0, windows_sweep_forward(m, window, &f, x, carry);
    else f.stride = WIDTH, windows_sweep_forward(m, window, &f, x, carry);
}

// x of a tile in place of its y; `behind` is the x behind it.
PCS_WIDE static void windows_backward(int m, int window, const windows_factor *factor, double *x, double behind)
{
    windows_factor f = *factor;
    if (f.stride == 0) f.stride = 0, windows_sweep_backward(m, window, &f, x, behind);
    else f.stride = WIDTH, windows_sweep_backward(m, window, &f, x, behind);
}

// `count` equations one by one, as if nothing followed: their solution in y, before which the last y stands; y may be
// x. Their factors stand `stride` apart.
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

// The first equation of a tile.
static int windows_start(const pcs_chain_cut *cut, int tile)
{
    int nlong = tile < cut->nlong ? tile : cut->nlong;
    return WIDTH * (tile * cut->length + 2 * nlong);
}

// One past its last equation; those left over belong to the last one.
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

// The last y before a tile from the window before it, and the first x of the tile from the window at its beginning.
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

// The solution in a tile that is filled.
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

// All of a tile but the windows that are filled already.
static void windows_fill_tile(const pcs_chain *c, int tile, const pcs_slice_solve *job)
{
    int low = windows_start(&c->cut, tile), high = windows_end(c, tile);
    if (tile > 0) low += c->cut.window;
    if (tile + 1 < c->cut.ntile) high -= c->cut.window;
    job->fill(job->data, tile, low, high);
}

void pcs_chain_windows_begin(const pcs_chain *c, const pcs_slice_solve *job, int count, const int *wanted)
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

void pcs_chain_windows_end(const pcs_chain *c, const pcs_slice_solve *job)
{
    windows_pass pass = { .c = c, .job = job };
    pcs_pool_run(c->pool, c->cut.ntile, windows_do_tile, &pass);
}

void pcs_chain_windows_solve(const pcs_chain *c, double *x)
{
    pcs_slice_solve job = { .x = x };
    pcs_chain_windows_begin(c, &job, 0, NULL);
    pcs_chain_windows_end(c, &job);
}
