#include "step/coupling.h"

#include "sparse/matrix.h"

#include <math.h>
#include <string.h>

enum { NEAR = 12 };               // equations that there is room for, per entry of a row
static const double small = 0.05; // off the diagonal, against the diagonals
static const double lost = 1e-12; // a pivot, against the diagonal
static const double firm = 1e6;   // what holds a row, against what it touches

static pcs_status coupling_take(pcs_context *ctx, pcs_coupling *self)
{
    double **vectors[] = { &self->u[0], &self->u[1], &self->s[0], &self->s[1], &self->y[0], &self->y[1],
                           &self->e,    &self->load, &self->v,    &self->rest, &self->D,    &self->x };
    double **entries[] = { &self->mass, &self->stiff, &self->damp, &self->hold, &self->L };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(ctx, *vectors[i], self->room, "the preconditioner");
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        PCS_TAKE(ctx, *entries[i], self->most, "the preconditioner");
    PCS_TAKE(ctx, self->place, self->system->nv, "the preconditioner");
    PCS_TAKE(ctx, self->equation, self->room, "the preconditioner");
    PCS_TAKE(ctx, self->head, self->room + 1, "the preconditioner");
    PCS_TAKE(ctx, self->row, self->most, "the preconditioner");
    PCS_TAKE(ctx, self->held, self->most, "the preconditioner");
    PCS_TAKE(ctx, self->held_column, self->most, "the preconditioner");
    return PCS_OK;
}

pcs_status pcs_coupling_create(pcs_context *ctx, const pcs_system *system, pcs_coupling **out)
{
    pcs_coupling *self;
    PCS_TAKE(ctx, self, 1, "the preconditioner");
    self->system = system;
    const pcs_pattern *pattern = system->M->pattern;
    long terms = system->G->start[system->nrow] + (system->T == NULL ? 0 : system->T->start[system->ntangent]);
    self->follows = pcs_system_nown(system) == system->nv;
    self->is_chain = pattern->chain_block > 0;
    long room = self->follows ? NEAR * terms : terms;
    self->room = room < system->nv ? (int)room : system->nv;
    int widest = 0;
    for (int k = 0; k < pattern->n; k++) {
        int width = pattern->start[k + 1] - pattern->start[k];
        widest = width > widest ? width : widest;
    }
    long most = (long)self->room * widest;
    self->most = most < pattern->nnz ? (int)most : pattern->nnz;
    PCS_TRY(coupling_take(ctx, self));
    for (int k = 0; k < system->nv; k++) self->place[k] = -1;
    *out = self;
    return PCS_OK;
}

// Entry p of the pattern of M, in row i and column j, of a matrix: 0 outside of its pattern.
static double coupling_entry(const pcs_pattern *pattern, const pcs_matrix *A, int p, int j)
{
    int at = A->pattern == pattern ? p : pcs_pattern_find(A->pattern, pattern->row[p], j);
    return at < 0 ? 0.0 : A->value[at];
}

// Largest entry of column j off the diagonal, against the diagonals.
static double coupling_reach(const pcs_coupling *self, int j, const pcs_matrix *M, const pcs_matrix *S)
{
    const pcs_pattern *pattern = M->pattern;
    const pcs_matrix *A = S == NULL ? M : S;
    int own = pcs_system_nown(self->system);
    double largest = 0.0;
    for (int p = pattern->start[j]; p < pattern->start[j + 1] && j < own; p++) {
        int i = pattern->row[p];
        if (i == j || i >= own || (!self->follows && self->place[i] < 0)) continue;
        double size = sqrt(fabs(pcs_matrix_diagonal(A, i) * pcs_matrix_diagonal(A, j)));
        if (size > 0.0) largest = pcs_larger(largest, fabs(coupling_entry(pattern, A, p, j)) / size);
    }
    return largest;
}

// Notes an equation unless it is there, or there is no room.
static void coupling_note(pcs_coupling *self, int k)
{
    if (self->place[k] >= 0 || self->count == self->room) return;
    self->place[k] = self->count;
    self->equation[self->count++] = k;
}

// The equations of the rows.
static void coupling_touch(pcs_coupling *self, const pcs_rows *rows)
{
    for (int p = 0; p < rows->start[rows->nrow]; p++)
        if (rows->value[p] != 0.0) coupling_note(self, rows->column[p]);
}

// Those near them, ring by ring, then all in ascending order.
static void coupling_widen(pcs_coupling *self, const pcs_pattern *pattern)
{
    for (int at = 0; at < self->count; at++) {
        if (!self->follows || self->count == self->room) break;
        for (int p = pattern->start[self->equation[at]]; p < pattern->start[self->equation[at] + 1]; p++)
            coupling_note(self, pattern->row[p]);
    }
    int count = 0;
    for (int k = 0; k < self->system->nv; k++) {
        if (self->place[k] < 0) continue;
        self->place[k] = count;
        self->equation[count++] = k;
    }
}

static void coupling_read(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S, const pcs_step_form *form)
{
    const pcs_pattern *pattern = M->pattern;
    const pcs_matrix *C = self->system->C;
    int own = pcs_system_nown(self->system), count = 0;
    for (int at = 0; at < self->count; at++) {
        int j = self->equation[at];
        self->head[at] = count;
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
            int i = pattern->row[p];
            if (i >= own || self->place[i] < 0) continue;
            double mass = M->value[p], whole = S == NULL ? mass : coupling_entry(pattern, S, p, j) / form->c;
            double damp = S == NULL || C == NULL ? 0.0 : form->h * coupling_entry(pattern, C, p, j) / form->c;
            self->row[count] = self->place[i];
            self->mass[count] = mass;
            self->damp[count] = damp;
            self->stiff[count++] = whole - mass - damp;
        }
    }
    self->head[self->count] = count;
}

void pcs_coupling_fill(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S, const pcs_step_form *form)
{
    double largest = 0.0;
    for (int at = 0; at < self->count; at++) self->place[self->equation[at]] = -1;
    self->count = 0;
    self->is_factored = false;
    coupling_touch(self, self->system->G);
    if (self->system->T != NULL) coupling_touch(self, self->system->T);
    for (int at = 0; at < self->count; at++)
        largest = pcs_larger(largest, coupling_reach(self, self->equation[at], M, S));
    self->joins = pcs_system_max(self->system, largest) > small;
    if (!self->joins) return;
    coupling_widen(self, M->pattern);
    coupling_read(self, M, S, form);
}

void pcs_coupling_release(pcs_coupling *self)
{
    self->is_factored = false;
    memset(self->hold, 0, (size_t)self->head[self->count] * sizeof *self->hold);
}

// Place of entry (i, j), or -1.
static int coupling_find(const pcs_coupling *self, int i, int j)
{
    int low = self->head[j], high = self->head[j + 1];
    while (low < high) {
        int middle = (low + high) / 2;
        if (self->row[middle] < i) low = middle + 1;
        else high = middle;
    }
    return low < self->head[j + 1] && self->row[low] == i ? low : -1;
}

static double coupling_whole(const pcs_coupling *self, int p)
{
    return self->mass[p] + self->stiff[p] + self->damp[p];
}

// The entries of a row that a body joins, from the first one on: how many there are.
static int coupling_group(const pcs_coupling *self, int count, const int *at)
{
    for (int a = 1; a < count; a++)
        for (int b = 0; b < a; b++)
            if (coupling_find(self, at[a], at[b]) < 0 || coupling_find(self, at[b], at[a]) < 0) return a;
    return count;
}

// Body by body: what one of them does is no matter of the others.
void pcs_coupling_hold(pcs_coupling *self, int count, const int *at, const double *value, double slack)
{
    if (!self->follows) return;
    for (int first = 0, size; first < count; first += size) {
        double give = 0.0;
        size = coupling_group(self, count - first, at + first);
        for (int a = first; a < first + size; a++)
            give += value[a] * value[a] / fabs(coupling_whole(self, coupling_find(self, at[a], at[a])));
        if (!(give > 0.0)) continue;
        for (int a = first; a < first + size; a++)
            for (int b = first; b < first + size; b++)
                self->hold[coupling_find(self, at[a], at[b])] += value[a] * value[b] / (give / firm + 0.5 * slack);
    }
}

// Entries of H that are not zero.
static void coupling_list(pcs_coupling *self)
{
    self->nheld = 0;
    for (int j = 0; j < self->count; j++)
        for (int p = self->head[j]; p < self->head[j + 1]; p++) {
            if (self->hold[p] == 0.0) continue;
            self->held[self->nheld] = p;
            self->held_column[self->nheld++] = j;
        }
}

// L D L^T of Ss + H, row by row within the pattern.
void pcs_coupling_factor(pcs_coupling *self)
{
    self->is_factored = true;
    if (!self->follows) return;
    coupling_list(self);
    memset(self->x, 0, (size_t)self->count * sizeof *self->x);
    for (int i = 0; i < self->count; i++) {
        double diagonal = 0.0, pivot = 0.0;
        int p = self->head[i];
        for (; self->row[p] < i; p++) {
            int j = self->row[p];
            double sum = coupling_whole(self, p) + self->hold[p];
            for (int f = self->head[j]; self->row[f] < j; f++) sum -= self->L[f] * self->x[self->row[f]];
            self->x[j] = sum;
            self->L[p] = sum / self->D[j];
            pivot -= sum * self->L[p];
        }
        diagonal = coupling_whole(self, p) + self->hold[p];
        pivot += diagonal;
        for (p = self->head[i]; self->row[p] < i; p++) self->x[self->row[p]] = 0.0;
        self->D[i] = pivot > lost * diagonal ? pivot : fabs(diagonal);
    }
}

// x = -(Ss + H)^-1 x
static void coupling_solve(const pcs_coupling *self, double *x)
{
    for (int i = 0; i < self->count; i++)
        for (int p = self->head[i]; self->row[p] < i; p++) x[i] -= self->L[p] * x[self->row[p]];
    for (int i = 0; i < self->count; i++) x[i] /= -self->D[i];
    for (int i = self->count - 1; i >= 0; i--)
        for (int p = self->head[i]; self->row[p] < i; p++) x[self->row[p]] -= self->L[p] * x[i];
}

// The motion v that follows, and its forces. In a chain these are known without a product: v balances all but H v.
static void coupling_follow(pcs_coupling *self)
{
    memcpy(self->v, self->rest, (size_t)self->count * sizeof *self->v);
    coupling_solve(self, self->v);
    for (int i = 0; i < self->count; i++) self->e[i] -= self->rest[i];
    for (int k = 0; k < self->nheld; k++) {
        int p = self->held[k];
        self->e[self->row[p]] -= self->hold[p] * self->v[self->held_column[k]];
    }
}

// What an inexact v leaves, in place of the forces; e has taken it for balanced.
static void coupling_leave(pcs_coupling *self)
{
    for (int k = 0; k < self->nheld; k++)
        self->rest[self->row[self->held[k]]] += self->hold[self->held[k]] * self->v[self->held_column[k]];
    for (int j = 0; j < self->count; j++)
        for (int p = self->head[j]; p < self->head[j + 1]; p++)
            self->rest[self->row[p]] += coupling_whole(self, p) * self->v[j];
    for (int i = 0; i < self->count; i++) self->e[i] += self->rest[i];
}

void pcs_coupling_multiply(pcs_coupling *self)
{
    size_t bytes = (size_t)self->count * sizeof(double);
    memset(self->y[0], 0, bytes);
    memset(self->y[1], 0, bytes);
    memset(self->e, 0, bytes);
    for (int j = 0; j < self->count; j++) self->rest[j] = -self->load[j];
    for (int j = 0; j < self->count; j++) {
        double uq = self->u[0][j], uv = self->u[1][j], sq = self->s[0][j], sv = self->s[1][j];
        if (uq == 0.0 && uv == 0.0) continue;
        for (int p = self->head[j]; p < self->head[j + 1]; p++) {
            int i = self->row[p];
            double force = self->stiff[p] * sq + self->damp[p] * sv;
            self->y[0][i] += self->mass[p] * uq;
            self->y[1][i] += self->mass[p] * uv;
            self->e[i] += force;
            self->rest[i] += force + self->mass[p] * sv;
        }
    }
    if (!self->follows) return;
    coupling_follow(self);
    if (self->is_chain) return;
    double *first = self->x;
    coupling_leave(self);
    memcpy(first, self->v, bytes);
    coupling_follow(self);
    coupling_leave(self);
    for (int j = 0; j < self->count; j++) self->v[j] += first[j];
}
