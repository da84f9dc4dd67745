#include "step/coarse.h"

#include "step/preconditioner.h"

#include <math.h>
#include <string.h>

enum { FEWEST = 4, WIDTH = 32, TERMS = 32 }; // equations of a patch; columns of a chain, entries of C, for a row
static const double lost = 1e-12;            // a pivot, against the diagonal
static const double reach = 0.75;            // length of a patch, against that over which masses resist stiffness

pcs_status pcs_coarse_create(pcs_context *ctx, const pcs_preconditioner *pre, pcs_coarse **out)
{
    pcs_coarse *self;
    int equations = pre->coupling->room;
    PCS_TAKE(ctx, self, 1, "the preconditioner");
    self->room = equations / 2 + 1;
    self->most = WIDTH * pre->n;
    self->terms = TERMS * pre->n;
    struct {
        int **array;
        int count;
    } integers[] = { { &self->patch, equations },      { &self->queue, equations },     { &self->chain, equations + 1 },
                     { &self->local, self->room },     { &self->member, self->room },   { &self->begin, pre->n + 1 },
                     { &self->group, pre->n + 1 },     { &self->joined, pre->room },    { &self->in, self->room + 2 },
                     { &self->of, pre->room },         { &self->order, self->room },    { &self->rank, self->room },
                     { &self->below, self->room + 1 }, { &self->left, self->terms },    { &self->head, self->room + 1 },
                     { &self->next, 2 * self->terms }, { &self->from, self->room + 1 }, { &self->size, equations },
                     { &self->begins, self->room } };
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        PCS_TAKE(ctx, *integers[i].array, integers[i].count, "the preconditioner");
    struct {
        double **array;
        int count;
    } numbers[] = { { &self->share, equations },     { &self->A, self->terms },     { &self->L, self->terms },
                    { &self->diagonal, self->room }, { &self->D, self->room },      { &self->a, self->room },
                    { &self->x, self->room },        { &self->columns, self->most } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        PCS_TAKE(ctx, *numbers[i].array, numbers[i].count, "the preconditioner");
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

// Returns true if entry p of column j couples two candidates so strongly that they move alike.
static bool coarse_is_strong(const pcs_coarse *self, const pcs_coupling *c, const double *diagonal, int p, int j)
{
    int i = c->line[p];
    double entry = c->mass[p] + c->more[p], size = diagonal[i] * diagonal[j];
    return i != j && self->patch[i] == CANDIDATE && size > 0.0 && -entry >= PCS_COUPLING_STRONG * sqrt(size);
}

// Finds chains of candidates along their strong entries, ends first. Returns their number.
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

// Sets the share of equations that no row touches to the largest of their chain, with which they move.
static void coarse_spread(pcs_coarse *self, int nchain)
{
    for (int k = 0; k < nchain; k++) {
        double most = 0.0;
        for (int at = self->chain[k]; at < self->chain[k + 1]; at++) most = fmax(most, self->share[self->queue[at]]);
        for (int at = self->chain[k]; at < self->chain[k + 1]; at++)
            if (self->share[self->queue[at]] == 0.0) self->share[self->queue[at]] = most;
    }
}

// Finds the number of equations per patch of each chain: the length over which stiffness resists as much as mass does.
static void coarse_measure(pcs_coarse *self, const pcs_coupling *c, int nchain)
{
    for (int k = 0; k < nchain; k++) {
        double mass = 0.0, stiffness = 0.0;
        int first = self->chain[k], last = self->chain[k + 1];
        for (int at = first; at < last; at++)
            for (int p = c->first[self->queue[at]]; p < c->first[self->queue[at] + 1]; p++) {
                if (c->line[p] == self->queue[at]) mass += c->mass[p];
                else if (c->more[p] < 0.0) stiffness -= 0.5 * c->more[p];
            }
        double length = mass > 0.0 ? reach * sqrt(stiffness / mass) : 0.0;
        self->size[k] = length > FEWEST ? (int)fmin(length, last - first) : FEWEST;
        // A chain that no tangent touches is never moved.
        if (self->share[self->queue[first]] == 0.0 || last - first < 2) self->size[k] = 0;
    }
}

// Cuts the chains into patches, `times` longer than usual; `from` gets the first place of a patch in the queue.
static void coarse_cut(pcs_coarse *self, int nchain, int times)
{
    self->count = 0;
    for (int k = 0; k < nchain; k++) {
        long first = self->chain[k], length = self->chain[k + 1] - first, size = (long)times * self->size[k];
        long parts = size == 0 ? 0 : (length + size / 2) / size, last = -1;
        if (size > 0 && parts == 0) parts = 1;
        for (long i = 0; i < length; i++) {
            long part = parts == 0 ? -1 : i * parts / length;
            self->patch[self->queue[first + i]] = part < 0 ? NONE : self->count + (int)part;
            if (part > last) self->from[self->count + part] = (int)(first + i);
            last = part;
        }
        self->count += (int)parts;
    }
    self->from[self->count] = self->chain[nchain];
}

// Finds the chains of rows that the factor of B couples, as intervals of its order.
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

// Collects the patches that rows lo <= i < hi move in `member`. Returns their number.
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

// Finds the patches that each chain of rows couples. Returns false if there is too little memory.
static bool coarse_find_groups(pcs_coarse *self, const pcs_preconditioner *pre)
{
    int total = 0;
    memset(self->local, 0, (size_t)self->count * sizeof *self->local);
    for (int k = 0; k < self->nchain; k++) {
        int lo = self->begin[k], hi = self->begin[k + 1], count = coarse_gather(self, pre, lo, hi);
        if ((long)count * (hi - lo) > self->most) return false;
        self->group[k] = total;
        memcpy(self->joined + total, self->member, (size_t)count * sizeof *self->joined);
        total += count;
    }
    self->group[self->nchain] = total;
    // The groups that a patch is in; filling moves every start one place on, to where it belongs.
    memset(self->in, 0, (size_t)(self->count + 2) * sizeof *self->in);
    for (int p = 0; p < total; p++) self->in[self->joined[p] + 2]++;
    for (int k = 0; k < self->count; k++) self->in[k + 2] += self->in[k + 1];
    for (int k = 0; k < self->nchain; k++)
        for (int p = self->group[k]; p < self->group[k + 1]; p++) self->of[self->in[self->joined[p] + 1]++] = k;
    return true;
}

// Adds patch j to the neighbours of i unless it is there. Returns false if there is too little memory.
static bool coarse_enter(pcs_coarse *self, int i, int j, int *count)
{
    if (j < 0 || self->local[j] == i) return true;
    if (*count == 2 * self->terms) return false;
    self->local[j] = i;
    self->next[(*count)++] = j;
    return true;
}

// Finds the patches that a chain of rows or an entry of T couples. Returns false if there is too little memory.
static bool coarse_find_neighbours(pcs_coarse *self, const pcs_coupling *c)
{
    int count = 0;
    for (int i = 0; i < self->count; i++) self->local[i] = -1;
    for (int i = 0; i < self->count; i++) {
        self->head[i] = count;
        self->local[i] = i;
        for (int p = self->in[i]; p < self->in[i + 1]; p++)
            for (int q = self->group[self->of[p]]; q < self->group[self->of[p] + 1]; q++)
                if (!coarse_enter(self, i, self->joined[q], &count)) return false;
        for (int at = self->from[i]; at < self->from[i + 1] && self->patch[self->queue[at]] == i; at++)
            for (int p = c->first[self->queue[at]]; p < c->first[self->queue[at] + 1]; p++)
                if (!coarse_enter(self, i, self->patch[c->line[p]], &count)) return false;
    }
    self->head[self->count] = count;
    return true;
}

// Orders the patches breadth-first through their neighbours.
static void coarse_order(pcs_coarse *self)
{
    int count = 0;
    for (int i = 0; i < self->count; i++) self->rank[i] = -1;
    for (int i = 0; i < self->count; i++) {
        if (self->rank[i] >= 0) continue;
        self->rank[i] = count;
        self->order[count++] = i;
        for (int at = count - 1; at < count; at++)
            for (int p = self->head[self->order[at]]; p < self->head[self->order[at] + 1]; p++) {
                int j = self->next[p];
                if (self->rank[j] >= 0) continue;
                self->rank[j] = count;
                self->order[count++] = j;
            }
    }
}

// Finds the pattern of C below its diagonal, in the order of the patches. Returns false if there is too little memory.
static bool coarse_find_factor(pcs_coarse *self)
{
    int count = 0;
    for (int i = 0; i < self->count; i++) {
        self->below[i] = count;
        for (int p = self->head[self->order[i]]; p < self->head[self->order[i] + 1]; p++) {
            int place = self->rank[self->next[p]], at = count;
            if (place >= i) continue;
            if (count == self->terms) return false;
            for (; at > self->below[i] && self->left[at - 1] > place; at--) self->left[at] = self->left[at - 1];
            self->left[at] = place;
            count++;
        }
    }
    self->below[self->count] = count;
    return true;
}

// Returns the address of the entry of patches a and b in a triangle with its diagonal.
static double *coarse_entry(const pcs_coarse *self, int a, int b, double *triangle, double *diagonal)
{
    int i = self->rank[a], j = self->rank[b];
    if (i == j) return &diagonal[i];
    if (i < j) {
        int other = i;
        i = j;
        j = other;
    }
    int low = self->below[i], high = self->below[i + 1];
    while (low < high) {
        int middle = (low + high) / 2;
        if (self->left[middle] < j) low = middle + 1;
        else high = middle;
    }
    return &triangle[low];
}

// Sums E^T T E into A and `diagonal`.
static void coarse_weigh(pcs_coarse *self, const pcs_coupling *c)
{
    memset(self->A, 0, (size_t)self->below[self->count] * sizeof *self->A);
    memset(self->diagonal, 0, (size_t)self->count * sizeof *self->diagonal);
    for (int j = 0; j < c->count; j++)
        for (int p = c->first[j]; p < c->first[j + 1] && self->patch[j] >= 0; p++) {
            int i = c->line[p], a = self->patch[i], b = self->patch[j];
            if (a < 0) continue;
            double entry = c->mass[p] + self->share[i] * self->share[j] * c->more[p];
            *coarse_entry(self, a, b, self->A, self->diagonal) += a == b ? entry : 0.5 * entry;
        }
}

// Finds patches, doubling their length until C fits into its memory. Returns false if there are none.
static bool coarse_find_patches(pcs_coarse *self, const pcs_preconditioner *pre, int nchain)
{
    int longest = 0;
    for (int k = 0; k < nchain; k++) {
        int length = self->chain[k + 1] - self->chain[k];
        longest = length > longest ? length : longest;
    }
    for (int times = 1; times < 2 * longest; times *= 2) {
        coarse_cut(self, nchain, times);
        if (self->count == 0) return false;
        if (!coarse_find_groups(self, pre) || !coarse_find_neighbours(self, pre->coupling)) continue;
        coarse_order(self);
        if (coarse_find_factor(self)) return true;
    }
    return false;
}

void pcs_coarse_fill(pcs_coarse *self, const pcs_preconditioner *pre)
{
    const pcs_coupling *c = pre->coupling;
    double *diagonal = c->u[0];
    self->count = 0;
    self->is_ready = false;
    if (!c->joins || !pre->is_sparse) return;
    for (int j = 0; j < c->count; j++) {
        diagonal[j] = 0.0;
        for (int p = c->first[j]; p < c->first[j + 1]; p++)
            if (c->line[p] == j) diagonal[j] = c->mass[p] + c->more[p];
    }
    coarse_mark(self, pre);
    int nchain = coarse_chains(self, c, diagonal);
    coarse_spread(self, nchain);
    coarse_measure(self, c, nchain);
    coarse_find_rows(self, pre);
    if (coarse_find_patches(self, pre, nchain)) coarse_weigh(self, c);
    else self->count = 0;
}

// Computes D^-1/2 L^-1 V of rows lo <= i < hi, column by column; `begins` gets the first row of each column.
static void coarse_substitute(pcs_coarse *self, const pcs_preconditioner *pre, int count, int lo, int hi)
{
    int size = hi - lo;
    memset(self->columns, 0, (size_t)count * (size_t)size * sizeof *self->columns);
    for (int k = 0; k < count; k++) self->begins[k] = hi;
    for (int i = lo; i < hi; i++) {
        int row = pre->order[i];
        for (int e = pre->first[row]; e < pre->first[row + 1] && pre->is_in[row]; e++) {
            if (self->patch[pre->at[e]] < 0) continue;
            int k = self->local[self->patch[pre->at[e]]];
            self->columns[k * size + i - lo] += pcs_preconditioner_direction(pre, e);
            if (i < self->begins[k]) self->begins[k] = i;
        }
    }
    for (int k = 0; k < count; k++) {
        double *y = self->columns + (size_t)k * (size_t)size - lo;
        for (int i = self->begins[k]; i < hi; i++)
            for (int e = pre->below[i]; e < pre->below[i + 1]; e++) y[i] -= pre->L[e] * y[pre->left[e]];
        for (int i = self->begins[k]; i < hi; i++) y[i] /= sqrt(pre->D[i]);
    }
}

// Factors C = L D L^T within its pattern. Returns false if a pivot is lost.
static bool coarse_decompose(pcs_coarse *self)
{
    double *x = self->x; // row i of L D
    memset(x, 0, (size_t)self->count * sizeof *x);
    for (int i = 0; i < self->count; i++) {
        double pivot = self->D[i], whole = pivot;
        for (int e = self->below[i]; e < self->below[i + 1]; e++) {
            int j = self->left[e];
            double sum = self->L[e];
            for (int f = self->below[j]; f < self->below[j + 1]; f++) sum -= self->L[f] * x[self->left[f]];
            x[j] = sum;
            self->L[e] = sum / self->D[j];
            pivot -= sum * self->L[e];
        }
        for (int e = self->below[i]; e < self->below[i + 1]; e++) x[self->left[e]] = 0.0;
        if (!(pivot > lost * whole)) return false;
        self->D[i] = pivot;
    }
    return true;
}

void pcs_coarse_factor(pcs_coarse *self, const pcs_preconditioner *pre)
{
    if (self->count == 0) return;
    memcpy(self->L, self->A, (size_t)self->below[self->count] * sizeof *self->L);
    memcpy(self->D, self->diagonal, (size_t)self->count * sizeof *self->D);
    for (int k = 0; k < self->nchain; k++) {
        int lo = self->begin[k], hi = self->begin[k + 1], count = self->group[k + 1] - self->group[k];
        const int *member = self->joined + self->group[k];
        for (int a = 0; a < count; a++) self->local[member[a]] = a;
        coarse_substitute(self, pre, count, lo, hi);
        for (int a = 0; a < count; a++)
            for (int b = 0; b <= a; b++) {
                const double *x = self->columns + (size_t)a * (size_t)(hi - lo) - lo,
                             *y = self->columns + (size_t)b * (size_t)(hi - lo) - lo;
                double sum = 0.0;
                for (int i = self->begins[self->begins[a] > self->begins[b] ? a : b]; i < hi; i++) sum += x[i] * y[i];
                *coarse_entry(self, member[a], member[b], self->L, self->D) += sum;
            }
    }
    self->is_ready = coarse_decompose(self);
}

void pcs_coarse_solve(const pcs_coarse *self, const pcs_preconditioner *pre, const double *x, double *a)
{
    double *y = self->x;
    for (int e = 0; e < pre->nterm; e++) {
        int patch = self->patch[pre->at[e]];
        if (patch >= 0 && pre->is_in[pre->row[e]]) a[patch] -= pcs_preconditioner_direction(pre, e) * x[pre->row[e]];
    }
    for (int i = 0; i < self->count; i++) {
        double sum = a[self->order[i]];
        for (int e = self->below[i]; e < self->below[i + 1]; e++) sum -= self->L[e] * y[self->left[e]];
        y[i] = sum;
    }
    for (int i = self->count - 1; i >= 0; i--) y[i] /= self->D[i];
    for (int i = self->count - 1; i >= 0; i--) {
        for (int e = self->below[i]; e < self->below[i + 1]; e++) y[self->left[e]] -= self->L[e] * y[i];
        a[self->order[i]] = y[i];
    }
}

void pcs_coarse_add(const pcs_coarse *self, const pcs_preconditioner *pre, const double *a, double *x)
{
    for (int e = 0; e < pre->nterm; e++) {
        int patch = self->patch[pre->at[e]];
        if (patch >= 0 && pre->is_in[pre->row[e]]) x[pre->row[e]] += pcs_preconditioner_direction(pre, e) * a[patch];
    }
}
