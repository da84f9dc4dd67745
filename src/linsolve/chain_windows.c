// Eight interleaved sweeps over a tridiagonal matrix whose inverse decays fast.
//
// A = L D L':   forward  y_i = x_i - l_i y_{i-1},   backward  x_i = y_i / d_i - l_{i+1} x_{i+1}.
//
// What lies w equations behind enters either recurrence with the product of w factors l. Where that product has
// fallen below 1e-20 of the natural scale (see windows_reach), a recurrence may start there from zero: the error
// is ten thousand times smaller than the rounding of one operation. So the equations are cut into segments and
// all segments of a tile of eight are swept at once, two in each vector register, each after a warm-up over the
// window before (behind) it. The factor is stored row by row: the k-th equations of the eight segments together.
//
// Large systems are cut into tiles that stay in the cache between the forward and the backward sweep: the
// backward sweep of a tile starts from a look ahead over the window behind it. Less than 16 equations are left over
// at the end and are swept one by one.
//
// Groups of GROUP tiles do not wait for one another: what one takes over from its neighbours, the last y before it and
// the first x behind it, is found from the windows there before any of them is swept. So threads share the groups, and
// the bits are the same with any number of them.
//
// This is the truncated form of the partitioned recurrences known from parallel tridiagonal solvers (SPIKE).

#include "core/double2.h"
#include "linsolve/chain.h"
#include "linsolve/pivot.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define WINDOWS_UNROLL _Pragma("GCC unroll 4")

enum {
    WIDTH = 8,         // segments of a tile
    PAIRS = WIDTH / 2, // vector registers for a row
    SHORTEST = 16,     // segments below this are not worth the warm-up
    USUAL = 3000,      // longest segments in general: the tile stays in the second cache
    LONGEST = 6000,    // longest segments when the window is long
    GROUP = 3          // tiles
};

static const double windows_tolerance = 1.0e-20;

size_t pcs_chain_windows_lower(int n)
{
    // One row more than equations in each tile.
    return (size_t)n + WIDTH * ((size_t)n / (WIDTH * SHORTEST) + 1);
}

size_t pcs_chain_windows_work(int n)
{
    // A tile and a window.
    size_t tile = (size_t)n < WIDTH * (LONGEST + 2) ? (size_t)n : WIDTH * (LONGEST + 2);
    return tile + (tile < LONGEST ? tile : LONGEST);
}

int pcs_chain_windows_groups(int n)
{
    int ntile = n / (WIDTH * USUAL) + 1;
    return (ntile + GROUP - 1) / GROUP;
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

// Two rows of the forward recurrence, from `place` on, in two segments of m equations; x are those of the first.
static inline pcs_double2 windows_forward_rows(int m, int place, const double *restrict lower, const double *restrict x,
                                               pcs_double2 y, double *restrict store)
{
    pcs_double2 a = pcs_double2_load(x), b = pcs_double2_load(x + m);
    y = pcs_double2_firsts(a, b) - pcs_double2_load(lower + place) * y;
    if (store != NULL) pcs_double2_store(store + place, y);
    y = pcs_double2_seconds(a, b) - pcs_double2_load(lower + place + WIDTH) * y;
    if (store != NULL) pcs_double2_store(store + place + WIDTH, y);
    return y;
}

// y of a tile of segments of m equations; `carry` is the y before it.
static void windows_forward(int m, int window, const double *restrict lower, const double *restrict x,
                            double *restrict y, double carry)
{
    pcs_double2 c[PAIRS] = { { 0.0, 0.0 } };
    for (int k = m - window; k < m; k += 2) WINDOWS_UNROLL
    for (int q = 0; q < PAIRS; q++)
        c[q] = windows_forward_rows(m, k * WIDTH + 2 * q, lower, x + 2 * q * m + k, c[q], NULL);
    // The end of each segment is the start of the next one.
    double start[WIDTH + 1] = { carry };
    memcpy(start + 1, c, sizeof c);
    memcpy(c, start, sizeof c);
    for (int k = 0; k < m; k += 2) WINDOWS_UNROLL
    for (int q = 0; q < PAIRS; q++)
        c[q] = windows_forward_rows(m, k * WIDTH + 2 * q, lower, x + 2 * q * m + k, c[q], y);
}

static inline pcs_double2 windows_backward_row(int k, int q, const double *restrict lower,
                                               const double *restrict inverse, const double *restrict y, pcs_double2 x)
{
    int p = k * WIDTH + 2 * q;
    return pcs_double2_load(inverse + p) * pcs_double2_load(y + p) - pcs_double2_load(lower + p + WIDTH) * x;
}

// x of a tile from its y; what stands behind y is the solution behind the tile.
static void windows_backward(int m, int window, const double *restrict lower, const double *restrict inverse,
                             const double *restrict y, double *restrict x)
{
    pcs_double2 c[PAIRS] = { { 0.0, 0.0 } };
    for (int k = window - 1; k >= 0; k--) WINDOWS_UNROLL
    for (int q = 0; q < PAIRS; q++) c[q] = windows_backward_row(k, q, lower, inverse, y, c[q]);
    // The start of each segment is the end of the one before.
    double end[WIDTH + 1];
    memcpy(end, c, sizeof c);
    end[WIDTH] = y[m * WIDTH];
    memcpy(c, end + 1, sizeof c);
    for (int k = m - 2; k >= 0; k -= 2) WINDOWS_UNROLL
    for (int q = 0; q < PAIRS; q++) {
        pcs_double2 second = windows_backward_row(k + 1, q, lower, inverse, y, c[q]);
        c[q] = windows_backward_row(k, q, lower, inverse, y, second);
        pcs_double2_store(x + (2 * q) * m + k, pcs_double2_firsts(c[q], second));
        pcs_double2_store(x + (2 * q + 1) * m + k, pcs_double2_seconds(c[q], second));
    }
}

// `count` equations one by one, as if nothing followed: their solution in y, before which the last y stands. Their
// factors stand `stride` apart.
static void windows_single(int count, int stride, const double *restrict lower, const double *restrict inverse,
                           const double *restrict x, double *restrict y)
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

typedef struct windows_job {
    const pcs_chain *c;
    double *x;
} windows_job;

static void windows_solve_group(void *data, int group)
{
    const windows_job *job = data;
    const pcs_chain *c = job->c;
    const pcs_chain_cut *cut = &c->cut;
    int first = group * GROUP, end = first + GROUP < cut->ntile ? first + GROUP : cut->ntile;
    int start = windows_start(cut, first);
    const double *lower = c->lower + start + WIDTH * first, *inverse = c->inverse + start;
    double carry = group > 0 ? c->edges[2 * group] : 0.0, *x = job->x + start;
    double *work = c->pool == NULL ? c->work : c->work + (size_t)group * c->nwork;
    for (int tile = first; tile < end; tile++) {
        int m = windows_segment(cut, tile), size = m * WIDTH;
        const double *next_lower = lower + size + WIDTH, *next_inverse = inverse + size;
        double *ahead = work + size, *behind = x + size;
        windows_forward(m, cut->window, lower, x, work, carry);
        carry = work[size - 1];

        if (tile + 1 == cut->ntile) {
            int rest = (int)(job->x + c->n - behind);
            ahead[0] = 0.0; // where nothing is left
            windows_single(rest, 1, next_lower, next_inverse, behind, ahead);
            memcpy(behind, ahead, (size_t)rest * sizeof *behind);
        } else if (tile + 1 == end) {
            ahead[0] = c->edges[2 * group + 3];
        } else {
            windows_single(cut->window, WIDTH, next_lower, next_inverse, behind, ahead);
        }
        windows_backward(m, cut->window, lower, inverse, work, x);
        lower = next_lower;
        inverse = next_inverse;
        x = behind;
    }
}

void pcs_chain_windows_solve(const pcs_chain *c, double *x)
{
    windows_job job = { .c = c, .x = x };
    int ngroup = (c->cut.ntile + GROUP - 1) / GROUP;
    for (int group = 1; group < ngroup; group++)
        windows_find_edge(c, group * GROUP, x, c->edges + 2 * (ptrdiff_t)group);
    pcs_pool_run(c->pool, ngroup, windows_solve_group, &job);
}
