#include "step/preconditioner.h"

#include "core/matrix.h"

#include <math.h>
#include <string.h>

enum { MOST_PER_ROW = 40 }; // entries of a row of B, on average
// Proximal weight over the diagonal, sqrt(eps): the error that it makes equals the round-off of a solve with redundant
// rows. It must stay below the eigenvalues of a chain of l contacts, down to (pi / 2 l)^2.
static const double proximal = 1e-8;

static pcs_status preconditioner_take(pcs_context *ctx, pcs_preconditioner *self, int nv)
{
    struct {
        int **array;
        int count;
    } integers[] = { { &self->partner, self->n },  { &self->first, self->n + 1 }, { &self->column, self->room },
                     { &self->row, self->room },   { &self->start, nv + 2 },      { &self->touching, self->room },
                     { &self->head, self->n + 1 }, { &self->next, self->most },   { &self->place, self->n },
                     { &self->order, self->n },    { &self->rank, self->n },      { &self->below, self->n + 1 },
                     { &self->left, self->most },  { &self->source, self->most }, { &self->from, self->room },
                     { &self->at, self->room } };
    struct {
        double **array;
        int count;
    } numbers[] = { { &self->value, self->room }, { &self->mass, self->room },  { &self->stiff, self->room },
                    { &self->pull, self->room },  { &self->share, self->room }, { &self->damping, self->room },
                    { &self->y, self->n },        { &self->own, self->n },      { &self->paired, self->n },
                    { &self->whole, self->most }, { &self->B, self->most },     { &self->L, self->most },
                    { &self->D, self->n },        { &self->x, self->n },        { &self->ease, self->n } };
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        PCS_TAKE(ctx, *integers[i].array, integers[i].count, "the preconditioner");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        PCS_TAKE(ctx, *numbers[i].array, numbers[i].count, "the preconditioner");
    PCS_TAKE(ctx, self->is_in, self->n, "the preconditioner");
    return PCS_OK;
}

pcs_status pcs_preconditioner_create(pcs_step_solver *solver, bool with_tangents, pcs_coupling *coupling,
                                     pcs_preconditioner **out)
{
    pcs_preconditioner *self;
    const pcs_system *system = solver->system;
    PCS_TAKE(solver->ctx, self, 1, "the preconditioner");
    self->solver = solver;
    self->coupling = coupling;
    self->is_gap = !with_tangents;
    self->part[0] = coupling->G;
    self->part[1] = with_tangents ? coupling->T : NULL;
    for (int k = 0; k < 2 && self->part[k] != NULL; k++) {
        self->n += self->part[k]->nrow;
        self->room += self->part[k]->start[self->part[k]->nrow];
    }
    int widest = 0;
    for (int k = 0; k < 2 && self->part[k] != NULL; k++)
        for (int j = 0; j < self->part[k]->nrow; j++) {
            int width = self->part[k]->start[j + 1] - self->part[k]->start[j];
            widest = width > widest ? width : widest;
        }
    PCS_TAKE(solver->ctx, self->hold_at, 2 * widest, "the preconditioner");
    PCS_TAKE(solver->ctx, self->hold_value, 2 * widest, "the preconditioner");
    self->most = self->n < MOST_PER_ROW ? self->n * self->n : MOST_PER_ROW * self->n;
    PCS_TRY(preconditioner_take(solver->ctx, self, system->nv));
    for (int i = 0; i < self->n; i++) self->partner[i] = i;
    if (self->part[1] != NULL)
        for (int j = 0; j < system->nrow; j++) {
            int t = system->nrow + system->rows[j].first_tangent;
            if (system->rows[j].ntangent != 2) continue;
            self->partner[t] = t + 1;
            self->partner[t + 1] = t;
        }
    self->nterm = -1; // no rows yet
    *out = self;
    return coupling->may_follow && self->part[1] != NULL ? pcs_coarse_create(solver->ctx, self, &self->coarse) : PCS_OK;
}

// Reads the rows of both parts into one list of entries. Returns true if they touch other equations than before.
static bool preconditioner_read_rows(pcs_preconditioner *self)
{
    bool is_same = self->nterm >= 0;
    int row = 0, term = 0;
    for (int k = 0; k < 2 && self->part[k] != NULL; k++)
        for (int j = 0; j < self->part[k]->nrow; j++, row++) {
            is_same = is_same && self->first[row] == term;
            self->first[row] = term;
            for (int p = self->part[k]->start[j]; p < self->part[k]->start[j + 1]; p++) {
                if (self->part[k]->value[p] == 0.0 || term == self->room) continue;
                is_same = is_same && self->column[term] == self->part[k]->column[p];
                self->column[term] = self->part[k]->column[p];
                self->row[term] = row;
                self->from[term++] = p;
            }
        }
    self->first[self->n] = self->nterm = term;
    return !is_same;
}

// Sorts the entries by equation (counting sort).
static void preconditioner_sort(pcs_preconditioner *self, int nv)
{
    memset(self->start, 0, (size_t)(nv + 2) * sizeof *self->start);
    for (int e = 0; e < self->nterm; e++) self->start[self->column[e] + 2]++;
    for (int k = 0; k < nv; k++) self->start[k + 2] += self->start[k + 1];
    // Filling moves every start one place on, to where it belongs.
    for (int e = 0; e < self->nterm; e++) self->touching[self->start[self->column[e] + 1]++] = e;
}

// Adds column j to the present row of B unless it is there. Returns false if there is too little memory.
static bool preconditioner_enter(pcs_preconditioner *self, int i, int j, int *count)
{
    if (self->place[j] == i) return true;
    if (*count == self->most) return false;
    self->place[j] = i;
    self->next[(*count)++] = j;
    return true;
}

// Finds the columns of B. A tangent brings the other one of its contact: the direction of slip couples them, and the
// fill of a chain has its place. Returns false if there are too many.
static bool preconditioner_find_neighbours(pcs_preconditioner *self)
{
    int count = 0;
    for (int i = 0; i < self->n; i++) self->place[i] = -1;
    for (int i = 0; i < self->n; i++) {
        self->head[i] = count;
        if (!preconditioner_enter(self, i, i, &count) || !preconditioner_enter(self, i, self->partner[i], &count))
            return false;
        for (int side = 0; side < (self->partner[i] == i ? 1 : 2); side++) {
            int from = side == 0 ? i : self->partner[i];
            for (int e = self->first[from]; e < self->first[from + 1]; e++)
                for (int t = self->start[self->column[e]]; t < self->start[self->column[e] + 1]; t++) {
                    int j = self->row[self->touching[t]];
                    if (!preconditioner_enter(self, i, j, &count) ||
                        !preconditioner_enter(self, i, self->partner[j], &count))
                        return false;
                }
        }
    }
    self->head[self->n] = count;
    return true;
}

// Orders the rows breadth-first through their neighbours, chain after chain, from the ends of open chains.
static void preconditioner_order(pcs_preconditioner *self)
{
    int count = 0, head = 0;
    for (int i = 0; i < self->n; i++) self->rank[i] = -1;
    for (int least = 1; count < self->n; least = least < 6 ? least + 1 : self->n)
        for (int i = 0; i < self->n; i++) {
            if (self->rank[i] >= 0 || self->head[i + 1] - self->head[i] > least) continue;
            self->rank[i] = count;
            self->order[count++] = i;
            for (; head < count; head++) {
                int at = self->order[head];
                for (int p = self->head[at]; p < self->head[at + 1]; p++) {
                    if (self->rank[self->next[p]] >= 0) continue;
                    self->rank[self->next[p]] = count;
                    self->order[count++] = self->next[p];
                }
            }
        }
}

// Finds the pattern of L: for each row its neighbours that precede it in the order, ascending.
static void preconditioner_find_factor(pcs_preconditioner *self)
{
    int count = 0;
    preconditioner_order(self);
    for (int i = 0; i < self->n; i++) {
        self->below[i] = count;
        int row = self->order[i];
        for (int p = self->head[row]; p < self->head[row + 1]; p++) {
            int place = self->rank[self->next[p]], at = count;
            if (place >= i) continue;
            for (; at > self->below[i] && self->left[at - 1] > place; at--) {
                self->left[at] = self->left[at - 1];
                self->source[at] = self->source[at - 1];
            }
            self->left[at] = place;
            self->source[at] = p;
            count++;
        }
    }
    self->below[self->n] = count;
}

// Reads the diagonal entries of A at the equations of all entries: those of the own equations of this rank, and those
// beyond if they have been received.
static void preconditioner_read_diagonal(const pcs_preconditioner *self, const pcs_matrix *A, const double *beyond,
                                         double *out)
{
    const pcs_system *system = self->solver->system;
    int own = pcs_system_nown(system);
    for (int e = 0; e < self->nterm; e++) {
        int i = self->column[e];
        out[e] = 0.0;
        if (i < own) out[e] = pcs_matrix_diagonal(A, i);
        else if (beyond != NULL) out[e] = beyond[i - own];
    }
    if (!self->coupling->is_local) pcs_system_sum(system, self->nterm, out);
}

// Sets the response w to an impulse at the equation of entry e, and the root of the part of S* in it, `share`. Without
// damping M and S* enter with the weights 1 - a and a; damping adds to S* alone.
static void preconditioner_weigh_entry(pcs_preconditioner *self, int e, double a)
{
    const pcs_step_form *form = &self->solver->form;
    double M = self->mass[e], S = self->stiff[e] / form->c, stiff = S - M - form->h * self->damping[e] / form->c;
    double w = (M + (1.0 - a) * stiff) / (S * M);
    if (!(w > 0.0)) w = 1.0 / M; // a body about to buckle
    double part = S > M ? (1.0 / w - M) / (S - M) : 0.0;
    double R = pcs_preconditioner_direction(self, e);
    self->share[e] = sqrt(fmin(fmax(part, 0.0), 1.0));
    self->value[e] = R * sqrt(w);
    self->pull[e] = R * w;
}

// Sets `ease`, the compliance of the equations of a contact's tangents over that of their masses alone, at most 1.
static void preconditioner_ease(pcs_preconditioner *self)
{
    for (int i = 0; i < self->n; i++) {
        double give = 0.0, light = 0.0;
        self->ease[i] = 1.0;
        if (!self->coupling->follows || self->partner[i] == i) continue;
        for (int side = 0; side < 2; side++) {
            int row = side == 0 ? i : self->partner[i];
            for (int e = self->first[row]; e < self->first[row + 1]; e++) {
                give += self->value[e] * self->value[e];
                light += pow(pcs_preconditioner_direction(self, e), 2) / self->mass[e];
            }
        }
        if (give > 0.0 && give < light) self->ease[i] = give / light;
    }
}

// Computes the weights of all entries.
static void preconditioner_weigh(pcs_preconditioner *self, const pcs_matrix *S, const double share[2])
{
    const pcs_matrix *C = self->solver->system->C;
    double *const *beyond = self->coupling->beyond;
    preconditioner_read_diagonal(self, self->solver->mass->A, beyond[0], self->mass);
    for (int e = 0; e < self->nterm; e++) self->stiff[e] = self->solver->form.c * self->mass[e];
    if (S != NULL) preconditioner_read_diagonal(self, S, beyond[1], self->stiff);
    memset(self->damping, 0, (size_t)self->nterm * sizeof *self->damping);
    if (S != NULL && C != NULL) preconditioner_read_diagonal(self, C, beyond[2], self->damping);
    for (int e = 0; e < self->nterm; e++)
        preconditioner_weigh_entry(self, e, share[self->row[e] < self->part[0]->nrow ? 0 : 1]);
    preconditioner_ease(self);
    for (int e = 0; e < self->nterm; e++) self->at[e] = self->coupling->place[self->column[e]];
}

void pcs_preconditioner_fill(pcs_preconditioner *self, const pcs_matrix *S, const double share[2])
{
    self->is_factored = false;
    if (preconditioner_read_rows(self)) {
        preconditioner_sort(self, self->solver->system->nv);
        self->is_sparse = preconditioner_find_neighbours(self);
        if (self->is_sparse) preconditioner_find_factor(self);
    }
    if (!self->is_sparse) return;
    preconditioner_weigh(self, S, share);
    memset(self->whole, 0, (size_t)self->head[self->n] * sizeof *self->whole);
    // Sums go along the entries of a row, in the same order on every rank.
    for (int i = 0; i < self->n; i++) {
        for (int p = self->head[i]; p < self->head[i + 1]; p++) self->place[self->next[p]] = p;
        for (int e = self->first[i]; e < self->first[i + 1]; e++)
            for (int t = self->start[self->column[e]]; t < self->start[self->column[e] + 1]; t++) {
                int other = self->touching[t];
                self->whole[self->place[self->row[other]]] += self->value[e] * self->value[other];
            }
        self->whole[self->place[i]] *= 1.0 + proximal;
    }
    if (self->coarse != NULL) pcs_coarse_fill(self->coarse, self);
}

void pcs_preconditioner_choose(pcs_preconditioner *self, const unsigned char *is_in)
{
    self->coupling->is_factored = false;
    memcpy(self->is_in, is_in, (size_t)self->n);
    memset(self->own, 0, (size_t)self->n * sizeof *self->own);
    memset(self->paired, 0, (size_t)self->n * sizeof *self->paired);
    if (self->is_sparse)
        for (int i = 0; i < self->n; i++)
            for (int p = self->head[i]; p < self->head[i + 1]; p++) {
                int j = self->next[p];
                self->B[p] = i == j || (is_in[i] && is_in[j]) ? self->whole[p] : 0.0;
            }
}

void pcs_preconditioner_add(pcs_preconditioner *self, int i, int j, double value)
{
    if (!self->is_sparse) return;
    value *= self->ease[i];
    int p = self->head[i];
    while (self->next[p] != j) p++;
    self->B[p] += value;
    *(i == j ? &self->own[i] : &self->paired[i]) += value;
}

// Factors B = L D L^T; a pivot lost to dropped entries is replaced by the diagonal.
void pcs_preconditioner_factor(pcs_preconditioner *self)
{
    if (!self->is_sparse) return;
    memset(self->x, 0, (size_t)self->n * sizeof *self->x); // row i of L D
    for (int i = 0; i < self->n; i++) {
        double diagonal = self->B[self->head[self->order[i]]], pivot = diagonal; // comes first in its row
        for (int e = self->below[i]; e < self->below[i + 1]; e++) {
            int j = self->left[e];
            double sum = self->B[self->source[e]];
            for (int f = self->below[j]; f < self->below[j + 1]; f++) sum -= self->L[f] * self->x[self->left[f]];
            self->x[j] = sum;
            self->L[e] = sum / self->D[j];
            pivot -= sum * self->L[e];
        }
        for (int e = self->below[i]; e < self->below[i + 1]; e++) self->x[self->left[e]] = 0.0;
        self->D[i] = pivot > proximal * diagonal ? pivot : diagonal;
    }
    self->is_factored = true;
    if (self->coarse != NULL) pcs_coarse_factor(self->coarse, self);
}

static void preconditioner_substitute(const pcs_preconditioner *self, double *x)
{
    double *y = self->x;
    for (int i = 0; i < self->n; i++) {
        y[i] = x[self->order[i]];
        for (int e = self->below[i]; e < self->below[i + 1]; e++) y[i] -= self->L[e] * y[self->left[e]];
    }
    for (int i = 0; i < self->n; i++) y[i] /= self->D[i];
    for (int i = self->n - 1; i >= 0; i--) {
        for (int e = self->below[i]; e < self->below[i + 1]; e++) y[self->left[e]] -= self->L[e] * y[i];
        x[self->order[i]] = y[i];
    }
}

// Computes y = (N + X) x if nothing follows, including the coarse motions.
static void preconditioner_couple(const pcs_preconditioner *self, const double *x, const pcs_coarse *coarse)
{
    const pcs_coupling *c = self->coupling;
    double *y = self->y;
    for (int k = 0; k < c->count; k++) {
        bool is_moved = coarse != NULL && coarse->patch[k] >= 0;
        c->u[0][k] = is_moved ? coarse->a[coarse->patch[k]] : 0.0;
        c->u[1][k] = is_moved ? coarse->share[k] * coarse->a[coarse->patch[k]] : 0.0;
    }
    for (int e = 0; e < self->nterm; e++) {
        double pull = self->pull[e] * x[self->row[e]];
        c->u[0][self->at[e]] += pull;
        c->u[1][self->at[e]] += self->share[e] * pull;
    }
    pcs_coupling_multiply(c);
    for (int i = 0; i < self->n; i++) {
        y[i] = 0.0;
        for (int e = self->first[i]; e < self->first[i + 1] && self->is_in[i]; e++)
            y[i] += self->pull[e] * (c->y[0][self->at[e]] + self->share[e] * c->y[1][self->at[e]]);
    }
    if (!c->is_local) pcs_system_sum(c->system, self->n, y);
    for (int i = 0; i < self->n; i++) y[i] += self->own[i] * x[i] + self->paired[i] * x[self->partner[i]];
}

// Returns the coarse level, or NULL if it is not ready.
static const pcs_coarse *preconditioner_coarse(const pcs_preconditioner *self)
{
    return self->coarse != NULL && self->coarse->is_ready ? self->coarse : NULL;
}

// Solves x = B'^-1 x, and for the coarse motions a.
static void preconditioner_begin(pcs_preconditioner *self, double *x)
{
    const pcs_coarse *coarse = preconditioner_coarse(self);
    if (coarse != NULL) {
        memcpy(self->y, x, (size_t)self->n * sizeof *x);
        preconditioner_substitute(self, self->y);
        memset(coarse->a, 0, (size_t)coarse->count * sizeof *coarse->a);
        pcs_coarse_solve(coarse, self, self->y, coarse->a); // -a
        pcs_coarse_add(coarse, self, coarse->a, x);
        for (int k = 0; k < coarse->count; k++) coarse->a[k] = -coarse->a[k];
    }
    preconditioner_substitute(self, x);
}

// Solves x = B'^-1 y', where y' is y and the action of the coupling's `mass` and `force` on the coarse motions.
static void preconditioner_end(pcs_preconditioner *self, const double *mass, const double *force, double *x)
{
    const pcs_coarse *coarse = preconditioner_coarse(self);
    memcpy(x, self->y, (size_t)self->n * sizeof *x);
    if (coarse != NULL) {
        memset(coarse->a, 0, (size_t)coarse->count * sizeof *coarse->a);
        for (int k = 0; k < self->coupling->count; k++)
            if (coarse->patch[k] >= 0) coarse->a[coarse->patch[k]] += mass[k] + coarse->share[k] * force[k];
        preconditioner_substitute(self, self->y);
        pcs_coarse_solve(coarse, self, self->y, coarse->a);
        pcs_coarse_add(coarse, self, coarse->a, x);
    }
    preconditioner_substitute(self, x);
}

// Returns true if both laws of a contact are active, that of the gap and that of the velocity: they are coupled then.
static bool preconditioner_is_joint(const pcs_preconditioner *a, const pcs_preconditioner *b, int row)
{
    return b != NULL && row < a->part[0]->nrow && a->is_in[row] && b->is_in[row];
}

bool pcs_preconditioner_slides(const pcs_preconditioner *self, int row)
{
    return self->own[row] > 0.0 && self->partner[row] != row;
}

// Adds the coarse motions to the input of the coupling for the velocity law.
static void preconditioner_pull_common(const pcs_coarse *coarse, const pcs_coupling *c)
{
    for (int k = 0; k < c->count; k++) {
        if (coarse->patch[k] < 0) continue;
        double motion = coarse->a[coarse->patch[k]];
        c->u[1][k] += motion;
        c->s[0][k] += coarse->share[k] * motion;
        c->s[1][k] += coarse->share[k] * motion;
    }
}

// Adds the motion by impulses x of the rows to the input of the coupling; `other` has the rows of the other law.
static void preconditioner_pull(const pcs_preconditioner *self, const pcs_preconditioner *other, const double *x)
{
    const pcs_coupling *c = self->coupling;
    const pcs_step_form *form = &self->solver->form;
    int law = self->is_gap ? 0 : 1;
    double unit = self->is_gap && form->kb > 0.0 ? form->h / form->kb : 1.0;
    for (int e = 0; e < self->nterm; e++) {
        bool is_joint = preconditioner_is_joint(self, other, self->row[e]);
        double pull = self->pull[e] * x[self->row[e]], part = is_joint ? unit * pull : unit * self->share[e] * pull;
        if (!self->is_in[self->row[e]]) continue;
        c->u[law][self->at[e]] += pull;
        c->s[law][self->at[e]] += part;
        if (!is_joint) c->s[1 - law][self->at[e]] += part;
        if (pcs_preconditioner_slides(self, self->row[e]))
            c->load[self->at[e]] += self->ease[self->row[e]] * pcs_preconditioner_direction(self, e) * x[self->row[e]];
    }
}

// Computes the motion by the impulses of both laws, and that of the equations that follow it.
static void preconditioner_move(pcs_preconditioner *const pair[2], double *const x[2])
{
    pcs_coupling *c = (pair[0] != NULL ? pair[0] : pair[1])->coupling;
    for (int k = 0; k < c->count; k++) c->u[0][k] = c->u[1][k] = c->s[0][k] = c->s[1][k] = c->load[k] = 0.0;
    for (int law = 0; law < 2; law++)
        if (pair[law] != NULL) preconditioner_pull(pair[law], pair[1 - law], x[law]);
    const pcs_coarse *coarse = pair[1] == NULL ? NULL : preconditioner_coarse(pair[1]);
    if (coarse != NULL) preconditioner_pull_common(coarse, c);
    pcs_coupling_apply(c);
}

// Computes y = (N + X) x from the forces that the coupling has found for the motion.
static void preconditioner_push(const pcs_preconditioner *self, const pcs_preconditioner *other, const double *x)
{
    const pcs_coupling *c = self->coupling;
    const pcs_step_form *form = &self->solver->form;
    double unit = self->is_gap ? form->kb / form->h : 1.0, way = self->is_gap ? form->kw / form->h : 0.0;
    for (int i = 0; i < self->n; i++) {
        bool is_joint = preconditioner_is_joint(self, other, i);
        self->y[i] = 0.0;
        for (int e = self->first[i]; e < self->first[i + 1] && self->is_in[i]; e++) {
            int k = self->at[e];
            double force = c->y[self->is_gap ? 0 : 1][k] + (is_joint ? unit : unit * self->share[e]) * c->e[k];
            if (is_joint) force -= way * (c->y[1][k] + c->e[k]);
            self->y[i] += self->pull[e] * force;
            if (pcs_preconditioner_slides(self, i))
                self->y[i] -= self->ease[i] * pcs_preconditioner_direction(self, e) * c->v[k];
        }
    }
    for (int i = 0; i < self->n; i++)
        self->y[i] += self->ease[i] * (self->own[i] * x[i] + self->paired[i] * x[self->partner[i]]);
}

void pcs_preconditioner_hold(pcs_preconditioner *self, int i, const double turned[2], double slack)
{
    int count = 0, *at = self->hold_at;
    double *value = self->hold_value;
    for (int side = 0; side < (turned == NULL ? 1 : 2); side++) {
        int row = side == 0 ? i : self->partner[i];
        double factor = turned == NULL ? 1.0 : turned[side];
        for (int e = self->first[row]; e < self->first[row + 1]; e++) {
            int found = 0;
            while (found < count && at[found] != self->at[e]) found++;
            if (found == count) value[count++] = 0.0;
            at[found] = self->at[e];
            value[found] += factor * pcs_preconditioner_direction(self, e);
        }
    }
    pcs_coupling_hold(self->coupling, count, at, value, slack);
}

void pcs_preconditioner_solve(pcs_preconditioner *const pair[2], double *const x[2])
{
    const pcs_preconditioner *any = pair[0] != NULL ? pair[0] : pair[1];
    if (any == NULL) return;
    pcs_coupling *c = any->coupling;
    for (int law = 0; law < 2; law++)
        if (pair[law] != NULL) preconditioner_begin(pair[law], x[law]);
    if (!c->joins) return;
    if (c->follows) preconditioner_move(pair, x);
    for (int law = 0; law < 2; law++) {
        if (pair[law] == NULL) continue;
        if (c->follows) preconditioner_push(pair[law], pair[1 - law], x[law]);
        else preconditioner_couple(pair[law], x[law], preconditioner_coarse(pair[law]));
        preconditioner_end(pair[law], c->y[c->follows ? law : 0], c->follows ? c->e : c->y[1], x[law]);
    }
}
