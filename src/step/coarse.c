#include "step/coarse.h"

#include "step/preconditioner.h"

#include <math.h>
#include <string.h>

enum { PATCHES = 17, FEWEST = 4, WIDTH = 32 }; // patches by the cube root of rows; equations of one; columns of a chain
static const double lost = 1e-12;              // a pivot, against the diagonal

pcs_status pcs_coarse_create(pcs_context *ctx, const pcs_preconditioner *pre, pcs_coarse **out)
{
    pcs_coarse *self;
    int equations = pre->coupling->room;
    PCS_TAKE(ctx, self, 1, "the preconditioner");
    self->room = (int)(PATCHES * cbrt((double)pre->part[0]->nrow));
    if (self->room > equations) self->room = equations;
    self->most = WIDTH * pre->n;
    size_t square = (size_t)self->room * (size_t)self->room;
    PCS_TAKE(ctx, self->patch, equations, "the preconditioner");
    PCS_TAKE(ctx, self->share, equations, "the preconditioner");
    PCS_TAKE(ctx, self->queue, equations, "the preconditioner");
    PCS_TAKE(ctx, self->chain, equations + 1, "the preconditioner");
    PCS_TAKE(ctx, self->A, square, "the preconditioner");
    PCS_TAKE(ctx, self->C, square, "the preconditioner");
    PCS_TAKE(ctx, self->a, self->room, "the preconditioner");
    PCS_TAKE(ctx, self->b, self->room, "the preconditioner");
    PCS_TAKE(ctx, self->local, self->room, "the preconditioner");
    PCS_TAKE(ctx, self->member, self->room, "the preconditioner");
    PCS_TAKE(ctx, self->columns, self->most, "the preconditioner");
    PCS_TAKE(ctx, self->begin, pre->n + 1, "the preconditioner");
    *out = self;
    return PCS_OK;
}

// Equations that tangents touch, or none, are candidates; the others have no patch.
enum { NONE = -1, CANDIDATE = -2 };

static void coarse_mark(pcs_coarse *self, const pcs_preconditioner *pre)
{
    for (int k = 0; k < pre->coupling->count; k++) {
        self->patch[k] = CANDIDATE;
        self->share[k] = 0.0;
    }
    for (int e = 0; e < pre->nterm; e++)
        if (pre->row[e] < pre->part[0]->nrow) self->patch[pre->at[e]] = NONE;
    for (int e = 0; e < pre->nterm; e++) {
        if (pre->row[e] < pre->part[0]->nrow) continue;
        self->patch[pre->at[e]] = CANDIDATE;
        self->share[pre->at[e]] = pre->share[e];
    }
}

// Does entry p of column j join two candidates firmly, so that they move alike? Two diagonal entries are needed.
static bool coarse_is_strong(const pcs_coarse *self, const pcs_coupling *c, const double *diagonal, int p, int j)
{
    int i = c->line[p];
    double entry = c->mass[p] + c->more[p], size = diagonal[i] * diagonal[j];
    return i != j && self->patch[i] == CANDIDATE && size > 0.0 && -entry >= PCS_COUPLING_STRONG * sqrt(size);
}

// Chains of candidates one after another, along their strong entries; gives their number.
static int coarse_chains(pcs_coarse *self, const pcs_coupling *c, const double *diagonal)
{
    int count = 0, nchain = 0;
    // From the ends first, where there are some.
    for (int pass = 0; pass < 2; pass++)
        for (int start = 0; start < c->count; start++) {
            int degree = 0;
            if (self->patch[start] != CANDIDATE) continue;
            for (int p = c->first[start]; p < c->first[start + 1]; p++)
                degree += coarse_is_strong(self, c, diagonal, p, start);
            if (pass == 0 && degree > 1) continue;
            self->chain[nchain++] = count;
            self->queue[count++] = start;
            self->patch[start] = NONE;
            for (int at = count - 1; at < count; at++)
                for (int p = c->first[self->queue[at]]; p < c->first[self->queue[at] + 1]; p++) {
                    if (!coarse_is_strong(self, c, diagonal, p, self->queue[at])) continue;
                    self->queue[count++] = c->line[p];
                    self->patch[c->line[p]] = NONE;
                }
        }
    self->chain[nchain] = count;
    return nchain;
}

// Equations that no row touches move as those of their chain do.
static void coarse_spread(pcs_coarse *self, int nchain)
{
    for (int k = 0; k < nchain; k++) {
        double most = 0.0;
        for (int at = self->chain[k]; at < self->chain[k + 1]; at++) most = fmax(most, self->share[self->queue[at]]);
        for (int at = self->chain[k]; at < self->chain[k + 1]; at++)
            if (self->share[self->queue[at]] == 0.0) self->share[self->queue[at]] = most;
    }
}

// Patches of a chain of `length` equations; one alone has none.
static int coarse_share_out(int length, int size)
{
    return length < 2 ? 0 : (length + size - 1) / size;
}

// Cuts the chains into patches.
static void coarse_cut(pcs_coarse *self, int nchain)
{
    int size = FEWEST, longest = 0;
    for (int k = 0; k < nchain; k++) {
        int length = self->chain[k + 1] - self->chain[k];
        longest = length > longest ? length : longest;
    }
    for (;; size *= 2) {
        self->count = 0;
        for (int k = 0; k < nchain; k++) self->count += coarse_share_out(self->chain[k + 1] - self->chain[k], size);
        if (self->count <= self->room || size >= longest) break;
    }
    if (self->count > self->room) self->count = 0;
    if (self->count == 0) return;
    for (int k = 0, first = 0; k < nchain; k++) {
        int length = self->chain[k + 1] - self->chain[k], parts = coarse_share_out(length, size);
        if (parts == 0) continue;
        for (int i = 0; i < length; i++)
            self->patch[self->queue[self->chain[k] + i]] = first + (int)((long)i * parts / length);
        first += parts;
    }
}

// E^T T E
static void coarse_weigh(pcs_coarse *self, const pcs_coupling *c)
{
    int n = self->count;
    memset(self->A, 0, (size_t)n * (size_t)n * sizeof *self->A);
    for (int j = 0; j < c->count; j++)
        for (int p = c->first[j]; p < c->first[j + 1] && self->patch[j] >= 0; p++) {
            int i = c->line[p];
            if (self->patch[i] < 0) continue;
            double entry = c->mass[p] + self->share[i] * self->share[j] * c->more[p];
            self->A[(size_t)self->patch[i] * (size_t)n + (size_t)self->patch[j]] += 0.5 * entry;
            self->A[(size_t)self->patch[j] * (size_t)n + (size_t)self->patch[i]] += 0.5 * entry;
        }
}

// Rows that the factor of B joins, as intervals of its order.
static void coarse_find_rows(pcs_coarse *self, const pcs_preconditioner *pre)
{
    int least = pre->n, count = 0;
    // From the end on: a chain begins where nothing behind it looks further back.
    for (int i = pre->n - 1; i >= 0; i--) {
        if (pre->below[i] < pre->below[i + 1] && pre->left[pre->below[i]] < least) least = pre->left[pre->below[i]];
        if (least >= i) self->begin[count++] = i;
    }
    for (int k = 0; k < count / 2; k++) {
        int other = self->begin[count - 1 - k];
        self->begin[count - 1 - k] = self->begin[k];
        self->begin[k] = other;
    }
    self->begin[count] = pre->n;
    self->nchain = count;
}

// The patches that the rows lo <= i < hi move; gives their number.
static int coarse_gather(pcs_coarse *self, const pcs_preconditioner *pre, int lo, int hi)
{
    int count = 0;
    for (int i = lo; i < hi; i++)
        for (int e = pre->first[pre->order[i]]; e < pre->first[pre->order[i] + 1]; e++) {
            int patch = self->patch[pre->at[e]];
            if (patch < 0 || (self->local[patch] < count && self->member[self->local[patch]] == patch)) continue;
            self->local[patch] = count;
            self->member[count++] = patch;
        }
    return count;
}

void pcs_coarse_fill(pcs_coarse *self, const pcs_preconditioner *pre)
{
    const pcs_coupling *c = pre->coupling;
    double *diagonal = c->u[0];
    self->count = 0;
    self->is_ready = false;
    if (!c->joins || c->follows || !pre->is_sparse) return;
    for (int j = 0; j < c->count; j++) {
        diagonal[j] = 0.0;
        for (int p = c->first[j]; p < c->first[j + 1]; p++)
            if (c->line[p] == j) diagonal[j] = c->mass[p] + c->more[p];
    }
    coarse_mark(self, pre);
    int nchain = coarse_chains(self, c, diagonal);
    coarse_spread(self, nchain);
    coarse_cut(self, nchain);
    if (self->count == 0) return;
    coarse_find_rows(self, pre);
    memset(self->local, 0, (size_t)self->count * sizeof *self->local);
    for (int k = 0; k < self->nchain; k++) {
        int lo = self->begin[k], hi = self->begin[k + 1];
        if ((long)coarse_gather(self, pre, lo, hi) * (hi - lo) > self->most) {
            self->count = 0;
            return;
        }
    }
    coarse_weigh(self, c);
}

// L^-1 V of the rows lo <= i < hi, column by column.
static void coarse_substitute(pcs_coarse *self, const pcs_preconditioner *pre, int count, int lo, int hi)
{
    int size = hi - lo;
    memset(self->columns, 0, (size_t)count * (size_t)size * sizeof *self->columns);
    for (int i = lo; i < hi; i++) {
        int row = pre->order[i];
        for (int e = pre->first[row]; e < pre->first[row + 1] && pre->is_in[row]; e++)
            if (self->patch[pre->at[e]] >= 0)
                self->columns[self->local[self->patch[pre->at[e]]] * size + i - lo] +=
                    pcs_preconditioner_direction(pre, e);
    }
    for (int k = 0; k < count; k++) {
        double *y = self->columns + (size_t)k * (size_t)size - lo;
        for (int i = lo; i < hi; i++)
            for (int e = pre->below[i]; e < pre->below[i + 1]; e++) y[i] -= pre->L[e] * y[pre->left[e]];
    }
}

// Cholesky's factor in the lower triangle, row by row; false when a pivot is lost.
static bool coarse_factor(pcs_coarse *self)
{
    size_t n = (size_t)self->count;
    for (size_t k = 0; k < n; k++) {
        double *column = self->a, pivot = self->C[k * n + k];
        if (!(pivot > lost * self->A[k * n + k])) return false;
        self->C[k * n + k] = sqrt(pivot);
        for (size_t i = k + 1; i < n; i++) column[i] = self->C[i * n + k] /= self->C[k * n + k];
        for (size_t i = k + 1; i < n; i++) {
            double *row = self->C + i * n, factor = column[i];
            if (factor == 0.0) continue;
            for (size_t j = k + 1; j <= i; j++) row[j] -= factor * column[j];
        }
    }
    return true;
}

void pcs_coarse_factor(pcs_coarse *self, const pcs_preconditioner *pre)
{
    int n = self->count;
    if (n == 0) return;
    memcpy(self->C, self->A, (size_t)n * (size_t)n * sizeof *self->C);
    for (int k = 0; k < self->nchain; k++) {
        int lo = self->begin[k], hi = self->begin[k + 1], count = coarse_gather(self, pre, lo, hi);
        coarse_substitute(self, pre, count, lo, hi);
        for (int a = 0; a < count; a++)
            for (int b = 0; b < count; b++) {
                const double *x = self->columns + (size_t)a * (size_t)(hi - lo),
                             *y = self->columns + (size_t)b * (size_t)(hi - lo);
                double sum = 0.0;
                for (int i = 0; i < hi - lo; i++) sum += x[i] * y[i] / pre->D[lo + i];
                self->C[(size_t)self->member[a] * (size_t)n + (size_t)self->member[b]] += sum;
            }
    }
    self->is_ready = coarse_factor(self);
}

void pcs_coarse_solve(const pcs_coarse *self, const pcs_preconditioner *pre, const double *x, double *a)
{
    int n = self->count;
    for (int e = 0; e < pre->nterm; e++) {
        int patch = self->patch[pre->at[e]];
        if (patch >= 0 && pre->is_in[pre->row[e]]) a[patch] -= pcs_preconditioner_direction(pre, e) * x[pre->row[e]];
    }
    for (int k = 0; k < n; k++) {
        const double *row = self->C + (size_t)k * (size_t)n;
        double sum = a[k];
        for (int j = 0; j < k; j++) sum -= row[j] * a[j];
        a[k] = sum / row[k];
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *row = self->C + (size_t)k * (size_t)n;
        a[k] /= row[k];
        for (int j = 0; j < k; j++) a[j] -= row[j] * a[k];
    }
}

void pcs_coarse_add(const pcs_coarse *self, const pcs_preconditioner *pre, double scale, const double *a, double *x)
{
    for (int e = 0; e < pre->nterm; e++) {
        int patch = self->patch[pre->at[e]];
        if (patch >= 0 && pre->is_in[pre->row[e]])
            x[pre->row[e]] += scale * pcs_preconditioner_direction(pre, e) * a[patch];
    }
}
