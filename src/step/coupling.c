#include "step/coupling.h"

#include "core/matrix.h"

#include <math.h>
#include <string.h>

enum { NEAR = 12 };               // equations that there is room for, per entry of a row
enum { MANY = 16 };               // contacts, from which on the rest of the bodies may follow
enum { UNKNOWN = -1, SEEN = -2 }; // in place of the place of an equation
static const double small = 0.05; // off the diagonal, against the diagonals
static const double heavy = 0.35; // what free equations resist, against masses
static const double lost = 1e-12; // a pivot, against the diagonal
static const double firm = 1e6;   // what holds a row, against what it touches

static pcs_status coupling_take(pcs_context *ctx, pcs_coupling *self)
{
    double **vectors[] = { &self->u[0], &self->u[1], &self->s[0], &self->s[1], &self->y[0], &self->y[1],
                           &self->e,    &self->load, &self->v,    &self->rest, &self->D,    &self->x };
    double **entries[] = { &self->whole, &self->hold, &self->L, &self->mass, &self->more, &self->damp };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(ctx, *vectors[i], self->room, "the preconditioner");
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        PCS_TAKE(ctx, *entries[i], self->most, "the preconditioner");
    PCS_TAKE(ctx, self->place, self->system->nv, "the preconditioner");
    PCS_TAKE(ctx, self->equation, self->room, "the preconditioner");
    PCS_TAKE(ctx, self->contact, self->room, "the preconditioner");
    PCS_TAKE(ctx, self->head, self->room + 1, "the preconditioner");
    PCS_TAKE(ctx, self->row, self->most, "the preconditioner");
    PCS_TAKE(ctx, self->first, self->room + 1, "the preconditioner");
    PCS_TAKE(ctx, self->line, self->most, "the preconditioner");
    PCS_TAKE(ctx, self->below, self->room + 1, "the preconditioner");
    PCS_TAKE(ctx, self->left, self->most, "the preconditioner");
    PCS_TAKE(ctx, self->held, self->most, "the preconditioner");
    PCS_TAKE(ctx, self->held_column, self->most, "the preconditioner");
    if (self->G->halo == NULL) return PCS_OK;
    for (int k = 0; k < 3; k++) PCS_TAKE(ctx, self->beyond[k], self->G->halo->ncopy, "the preconditioner");
    return PCS_OK;
}

// Returns true if the contacts are so many that it pays to let untouched equations follow. Few contacts take as many
// products without that, and joints change in every iteration.
static bool coupling_is_large(const pcs_system *system)
{
    int count = 0;
    for (int j = 0; j < system->nrow; j++) count += !system->rows[j].is_bilateral;
    return count >= MANY;
}

pcs_status pcs_coupling_create(pcs_context *ctx, const pcs_system *system, const pcs_rows *G, const pcs_rows *T,
                               bool is_local, pcs_coupling **out)
{
    pcs_coupling *self;
    PCS_TAKE(ctx, self, 1, "the preconditioner");
    self->system = system;
    self->G = G;
    self->T = T;
    self->is_local = is_local;
    const pcs_pattern *pattern = system->M->pattern;
    long terms = G->start[G->nrow] + (T == NULL ? 0 : T->start[T->nrow]);
    self->may_follow = system->layout == NULL && coupling_is_large(system);
    self->is_chain = pattern->chain_block > 0;
    long room = self->may_follow ? NEAR * terms : terms;
    self->room = room < system->nv ? (int)room : system->nv;
    int widest = 0;
    for (int k = 0; k < pattern->n; k++) {
        int width = pattern->start[k + 1] - pattern->start[k];
        widest = width > widest ? width : widest;
    }
    long most = (long)self->room * widest;
    self->most = most < pattern->nnz ? (int)most : pattern->nnz;
    PCS_TRY(coupling_take(ctx, self));
    for (int k = 0; k < system->nv; k++) self->place[k] = UNKNOWN;
    *out = self;
    return PCS_OK;
}

// Returns the value of a matrix A at entry p, column j, of the pattern of M; 0 outside the pattern of A.
static double coupling_entry(const pcs_pattern *pattern, const pcs_matrix *A, int p, int j)
{
    int at = A->pattern == pattern ? p : pcs_pattern_find(A->pattern, pattern->row[p], j);
    return at < 0 ? 0.0 : A->value[at];
}

// Returns the largest entry of column j to other equations that rows touch, over the geometric mean of the diagonals.
static double coupling_reach(const pcs_coupling *self, int j, const pcs_matrix *A)
{
    const pcs_pattern *pattern = self->system->M->pattern;
    int own = pcs_system_nown(self->system);
    double largest = 0.0;
    for (int p = pattern->start[j]; p < pattern->start[j + 1] && j < own; p++) {
        int i = pattern->row[p];
        if (i == j || i >= own || self->place[i] < 0) continue;
        double size = sqrt(fabs(pcs_matrix_diagonal(A, i) * pcs_matrix_diagonal(A, j)));
        if (size > 0.0) largest = pcs_larger(largest, fabs(coupling_entry(pattern, A, p, j)) / size);
    }
    return largest;
}

// Returns the coupling of two contacts a and b through an equation i that no row touches, if it followed, relative to
// their masses: largest Ss_ia Ss_ib / Ss_ii / sqrt(M_aa M_bb).
static double coupling_bridge(const pcs_coupling *self, int i, const pcs_matrix *M, const pcs_matrix *S, double c)
{
    const pcs_pattern *pattern = M->pattern;
    double most = 0.0, next = 0.0, size = c * pcs_matrix_diagonal(S, i);
    int contact = -1;
    for (int p = pattern->start[i]; p < pattern->start[i + 1]; p++) {
        int j = pattern->row[p], at = self->place[j];
        double entry = at < 0 ? 0.0 : coupling_entry(pattern, S, p, i);
        if (entry == 0.0) continue;
        entry = fabs(entry) / sqrt(fabs(pcs_matrix_diagonal(M, j)));
        if (self->contact[at] == contact) most = pcs_larger(most, entry);
        else if (entry > most) {
            next = most;
            most = entry;
            contact = self->contact[at];
        } else next = pcs_larger(next, entry);
    }
    return size > 0.0 ? most * next / size : 0.0;
}

// Returns the largest coupling through an equation that no row touches; visits every such equation once.
static double coupling_resist(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S, double c)
{
    const pcs_pattern *pattern = M->pattern;
    double largest = 0.0;
    for (int is_seen = 0; is_seen < 2; is_seen++)
        for (int at = 0; at < self->count; at++)
            for (int p = pattern->start[self->equation[at]]; p < pattern->start[self->equation[at] + 1]; p++) {
                int i = pattern->row[p];
                if (self->place[i] != (is_seen ? SEEN : UNKNOWN)) continue;
                self->place[i] = is_seen ? UNKNOWN : SEEN;
                if (!is_seen) largest = pcs_larger(largest, coupling_bridge(self, i, M, S, c));
            }
    return largest;
}

// Adds an equation to the list unless it is in it, or the list is full.
static void coupling_note(pcs_coupling *self, int k, int contact)
{
    if (self->place[k] >= 0 || self->count == self->room) return;
    self->place[k] = self->count;
    self->contact[self->count] = contact;
    self->equation[self->count++] = k;
}

// Adds the equations of `count` rows from `first` on to the list.
static void coupling_touch(pcs_coupling *self, const pcs_rows *rows, int first, int count, int contact)
{
    for (int p = rows->start[first]; p < rows->start[first + count]; p++)
        if (rows->value[p] != 0.0) coupling_note(self, rows->column[p], contact);
}

// Adds the equations of all rows to the list, with their contacts if equations may follow.
static void coupling_touch_all(pcs_coupling *self)
{
    if (!self->may_follow) {
        coupling_touch(self, self->G, 0, self->G->nrow, 0);
        if (self->T != NULL) coupling_touch(self, self->T, 0, self->T->nrow, 0);
        return;
    }
    for (int j = 0; j < self->G->nrow; j++) {
        const pcs_row *row = &self->system->rows[j];
        coupling_touch(self, self->G, j, 1, j);
        if (row->ntangent > 0) coupling_touch(self, self->T, row->first_tangent, row->ntangent, j);
    }
}

// Returns true if entry p of column j is so strong that equation i moves with j; used if nothing follows.
static bool coupling_takes(const pcs_pattern *pattern, const pcs_matrix *S, int p, int j)
{
    int i = pattern->row[p];
    double size = pcs_matrix_diagonal(S, i) * pcs_matrix_diagonal(S, j);
    return size > 0.0 && -coupling_entry(pattern, S, p, j) >= PCS_COUPLING_STRONG * sqrt(size);
}

// Adds neighbouring equations, ring by ring, then sorts all. If nothing follows, only those that move alike are added.
static void coupling_widen(pcs_coupling *self, const pcs_pattern *pattern, const pcs_matrix *S)
{
    bool has_patches = self->may_follow && self->T != NULL && S != NULL;
    for (int at = 0; at < self->count; at++) {
        int j = self->equation[at];
        if (!(self->follows || has_patches) || self->count == self->room) break;
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            if (self->follows || (self->place[pattern->row[p]] < 0 && coupling_takes(pattern, S, p, j)))
                coupling_note(self, pattern->row[p], 0);
    }
    int count = 0;
    for (int k = 0; k < self->system->nv; k++) {
        if (self->place[k] < 0) continue;
        self->place[k] = count;
        self->equation[count++] = k;
    }
}

// Fills column `at` of an equation that another rank owns: only its diagonal is known, coupling beyond it is neglected.
static void coupling_read_beyond(pcs_coupling *self, int at, const pcs_step_form *form, bool has_stiffness)
{
    int k = self->equation[at] - pcs_system_nown(self->system), filled = self->first[at];
    double mass = self->beyond[0][k], whole = has_stiffness ? self->beyond[1][k] / form->c : mass;
    self->row[self->head[at]] = self->line[filled] = at;
    self->whole[self->head[at]] = whole;
    self->mass[filled] = mass;
    self->more[filled] = whole - mass;
    self->damp[filled] = has_stiffness ? form->h * self->beyond[2][k] / form->c : 0.0;
}

// Reads all entries of Ss, and lists the nonzero ones of M, Ss - M and Cs: a third of all for straight beams.
static void coupling_read(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S, const pcs_step_form *form)
{
    const pcs_pattern *pattern = M->pattern;
    const pcs_matrix *C = self->system->C;
    int own = pcs_system_nown(self->system), count = 0, filled = 0;
    for (int at = 0; at < self->count; at++) {
        int j = self->equation[at];
        self->head[at] = count;
        self->first[at] = filled;
        if (j >= own && self->G->halo != NULL) {
            coupling_read_beyond(self, at, form, S != NULL);
            count++;
            filled++;
            continue;
        }
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
            int i = pattern->row[p];
            if (i >= own || self->place[i] < 0) continue;
            double mass = M->value[p], whole = S == NULL ? mass : coupling_entry(pattern, S, p, j) / form->c;
            double damp = S == NULL || C == NULL ? 0.0 : form->h * coupling_entry(pattern, C, p, j) / form->c;
            self->row[count] = self->place[i];
            self->whole[count++] = whole;
            if (mass == 0.0 && whole == 0.0 && damp == 0.0) continue;
            self->line[filled] = self->place[i];
            self->mass[filled] = mass;
            self->more[filled] = whole - mass;
            self->damp[filled++] = damp;
        }
    }
    self->head[self->count] = count;
    self->first[self->count] = filled;
}

static void coupling_ask(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S)
{
    const pcs_halo *halo = self->G->halo;
    const pcs_matrix *of[3] = { M, S, S == NULL ? NULL : self->system->C };
    if (halo == NULL) return;
    for (int k = 0; k < 3; k++)
        if (of[k] != NULL) pcs_halo_diagonal(halo, of[k], self->beyond[k]);
}

void pcs_coupling_fill(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S, const pcs_step_form *form)
{
    double reach = 0.0;
    for (int at = 0; at < self->count; at++) self->place[self->equation[at]] = UNKNOWN;
    self->count = 0;
    self->is_factored = false;
    coupling_ask(self, M, S);
    coupling_touch_all(self);
    for (int at = 0; at < self->count; at++)
        reach = pcs_larger(reach, coupling_reach(self, self->equation[at], S == NULL ? M : S));
    self->follows = self->may_follow && S != NULL && coupling_resist(self, M, S, form->c) > heavy;
    self->joins = self->follows || pcs_system_max(self->system, reach) > small;
    if (!self->joins) return;
    coupling_widen(self, M->pattern, S);
    coupling_read(self, M, S, form);
}

void pcs_coupling_release(pcs_coupling *self)
{
    self->is_factored = false;
    memset(self->hold, 0, (size_t)self->head[self->count] * sizeof *self->hold);
}

// Returns the place of entry (i, j), or -1 if absent.
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

// Returns how many entries of a row, from the first one on, are coupled with one another by the same body.
static int coupling_group(const pcs_coupling *self, int count, const int *at)
{
    for (int a = 1; a < count; a++)
        for (int b = 0; b < a; b++)
            if (coupling_find(self, at[a], at[b]) < 0 || coupling_find(self, at[b], at[a]) < 0) return a;
    return count;
}

// Adds the row to H body by body: a body does not feel the entries of the others.
void pcs_coupling_hold(pcs_coupling *self, int count, const int *at, const double *value, double slack)
{
    for (int first = 0, size; first < count; first += size) {
        double give = 0.0;
        size = coupling_group(self, count - first, at + first);
        for (int a = first; a < first + size; a++)
            give += value[a] * value[a] / fabs(self->whole[coupling_find(self, at[a], at[a])]);
        if (!(give > 0.0)) continue;
        for (int a = first; a < first + size; a++)
            for (int b = first; b < first + size; b++)
                self->hold[coupling_find(self, at[a], at[b])] += value[a] * value[b] / (give / firm + 0.5 * slack);
    }
}

// Lists the nonzero entries of H.
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

// Factors Ss + H = L D L^T, row by row within the pattern, skipping entries that are zero.
void pcs_coupling_factor(pcs_coupling *self)
{
    int count = 0;
    self->is_factored = true;
    coupling_list(self);
    memset(self->x, 0, (size_t)self->count * sizeof *self->x);
    for (int i = 0; i < self->count; i++) {
        double diagonal = 0.0, pivot = 0.0;
        int p = self->head[i];
        self->below[i] = count;
        for (; self->row[p] < i; p++) {
            int j = self->row[p];
            double sum = self->whole[p] + self->hold[p];
            for (int f = self->below[j]; f < self->below[j + 1]; f++) sum -= self->L[f] * self->x[self->left[f]];
            if (sum == 0.0) continue;
            self->x[j] = sum;
            self->left[count] = j;
            self->L[count] = sum / self->D[j];
            pivot -= sum * self->L[count++];
        }
        self->below[i + 1] = count;
        diagonal = self->whole[p] + self->hold[p];
        pivot += diagonal;
        for (int e = self->below[i]; e < count; e++) self->x[self->left[e]] = 0.0;
        self->D[i] = pivot > lost * diagonal ? pivot : fabs(diagonal);
    }
}

// Solves x = -(Ss + H)^-1 x.
static void coupling_solve(const pcs_coupling *self, double *x)
{
    for (int i = 0; i < self->count; i++) {
        double sum = x[i];
        for (int e = self->below[i]; e < self->below[i + 1]; e++) sum -= self->L[e] * x[self->left[e]];
        x[i] = sum;
    }
    for (int i = 0; i < self->count; i++) x[i] /= -self->D[i];
    for (int i = self->count - 1; i >= 0; i--)
        for (int e = self->below[i]; e < self->below[i + 1]; e++) x[self->left[e]] -= self->L[e] * x[i];
}

// Solves for v and updates e. For a chain this takes no product: v balances all forces but H v.
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

// Replaces the forces in `rest` by the residual of an inexact v, and adds it to e, which assumed an exact one.
static void coupling_leave(pcs_coupling *self)
{
    for (int k = 0; k < self->nheld; k++)
        self->rest[self->row[self->held[k]]] += self->hold[self->held[k]] * self->v[self->held_column[k]];
    for (int j = 0; j < self->count; j++)
        for (int p = self->first[j]; p < self->first[j + 1]; p++)
            self->rest[self->line[p]] += (self->mass[p] + self->more[p]) * self->v[j];
    for (int i = 0; i < self->count; i++) self->e[i] += self->rest[i];
}

void pcs_coupling_multiply(const pcs_coupling *self)
{
    memset(self->y[0], 0, (size_t)self->count * sizeof(double));
    memset(self->y[1], 0, (size_t)self->count * sizeof(double));
    for (int j = 0; j < self->count; j++)
        for (int p = self->first[j]; p < self->first[j + 1]; p++) {
            self->y[0][self->line[p]] += self->mass[p] * self->u[0][j];
            self->y[1][self->line[p]] += self->more[p] * self->u[1][j];
        }
}

void pcs_coupling_apply(pcs_coupling *self)
{
    size_t bytes = (size_t)self->count * sizeof(double);
    memset(self->y[0], 0, bytes);
    memset(self->y[1], 0, bytes);
    memset(self->e, 0, bytes);
    for (int j = 0; j < self->count; j++) self->rest[j] = -self->load[j];
    for (int j = 0; j < self->count; j++) {
        double uq = self->u[0][j], uv = self->u[1][j], sq = self->s[0][j], sv = self->s[1][j];
        if (uq == 0.0 && uv == 0.0) continue;
        for (int p = self->first[j]; p < self->first[j + 1]; p++) {
            int i = self->line[p];
            double force = self->more[p] * sq + self->damp[p] * (sv - sq);
            self->y[0][i] += self->mass[p] * uq;
            self->y[1][i] += self->mass[p] * uv;
            self->e[i] += force;
            self->rest[i] += force + self->mass[p] * sv;
        }
    }
    coupling_follow(self);
    if (self->is_chain) return;
    double *first = self->x;
    coupling_leave(self);
    memcpy(first, self->v, bytes);
    coupling_follow(self);
    coupling_leave(self);
    for (int j = 0; j < self->count; j++) self->v[j] += first[j];
}
