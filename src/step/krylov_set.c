#include "step/krylov_set.h"

#include "core/archive.h"
#include "core/matrix.h"
#include "core/rounding.h"
#include "step/sums.h"

#include <math.h>
#include <string.h>

// Computes sums and maxima over the rows of all processes.

static double all_total(const pcs_krylov_set *c, double here)
{
    pcs_rows_sum(c->system, 1, &here);
    return here;
}

static double all_norm(const pcs_krylov_set *c, int n, const double *x)
{
    return sqrt(all_total(c, pcs_sum_dot(n, x, x)));
}

static long all_count(const pcs_krylov_set *c, long here)
{
    return (long)all_total(c, (double)here);
}

static double all_largest(const pcs_krylov_set *c, int n, const double *x)
{
    return pcs_rows_max(c->system, pcs_sum_largest(n, x));
}

// Returns the sum of the hashes of sets of all processes, modulo 2^64: as four parts of 16 bits each, whose sums are
// exact as floating-point numbers.
static unsigned long long all_marks(const pcs_krylov_set *c, unsigned long long here)
{
    double part[4];
    unsigned long long sum = 0;
    for (int k = 0; k < 4; k++) part[k] = (double)(here >> 16 * k & 0xffff);
    pcs_rows_sum(c->system, 4, part);
    for (int k = 0; k < 4; k++) sum += (unsigned long long)part[k] << 16 * k;
    return sum;
}

// An approximate inverse of the condensed contact matrix, to precondition products with it.
//
// First a sparse matrix near it, with the diagonals of M, C and S* only, over the contact directions R.
//
//   B_ij = sum_k R_ik R_jk (w_ik w_jk)^1/2,   w_ik = (S*_kk - h C_kk - a_i (S*_kk - h C_kk - c M_kk)) / (S*_kk M_kk)
//
// a_i says how far row i feels S* instead of M: 1 for gaps, kw / kb for velocities. Rows are coupled where they touch
// the same equations: a pile of bodies becomes chains of contacts, whose length no longer counts then. Rows that are
// out are decoupled. A proximal weight regularizes redundant contacts, and X is the compliance that slip adds.
// B is factored incompletely, L D L^T within its own pattern, contacts ordered along their chains (Cuthill, McKee
// 1969): exact for chains. Rows may touch other equations from one filling to the next, and nothing is allocated.
//
// Then the coupling of contacts along a body: the lumped preconditioner of dual domain decomposition (Farhat, Roux
// 1991), with B in place of the scaling by multiplicities.
//
//   B^-1 (N + X) B^-1,   N = R w T w R^T,   T = M + A (S*/c - M) A,   A_kk^2 = (1/w_k - M_kk) / (S*_kk/c - M_kk)
// In steps of a pile of 10 240 contacts B saves half of the time, and the coupling a third of the rest.

// The lower triangle of a sparse symmetric matrix and its factor L D L^T within that pattern, exact for chains:
// points with their neighbours, numbered breadth-first (Cuthill, McKee 1969).
typedef struct triangle {
    int n, room;                // points; allocated number of neighbours
    int *head, *next;           // [n + 1], [room] neighbours of each point
    int *place;                 // [n] position of a neighbour in the present row
    int *order, *seat;          // [n] point at a position, position of a point
    int *below, *left, *source; // [n + 1], [room] rows: first entries, columns, which of the neighbours
    double *L, *D, *x;          // [room], [n], [n] the matrix, then its factor; work
} triangle;

// M and Ss = S*/c between the equations that contact rows touch: how contacts feel each other through a body.
typedef struct pcs_coupling {
    const pcs_system *system;
    const pcs_rows *G, *T; // contact rows; T is NULL without friction
    bool is_local;         // the rows are those of this process alone
    double *beyond[3];     // [copies of the rows' halo] diagonals of M, S* and C there; NULL if there is no halo
    int room;              // allocated number of equations
    int count;             // number of equations, ascending
    int *place;            // [nv] place of an equation among them, or -1
    int *equation;         // [room] equations
    int *first, *line;     // [room + 1], [entries] nonzero entries by columns, of
    double *mass, *more;   // M, Ss - M
    double *u[2], *y[2];   // [room] input of the products, and products
    bool joins;            // some off-diagonal entries are not small
} pcs_coupling;

struct pcs_preconditioner {
    const pcs_step_solver *solver;
    const pcs_rows *part[2];  // rows: those of part[0], then those of part[1], which may be NULL
    int n, room;              // number of rows of both, and allocated number of entries
    int nterm;                // number of entries of the rows
    int *partner;             // [n] other tangent of the same contact, else the row itself
    int *first;               // [n + 1] first entries of the rows
    int *column, *row, *from; // [room] equations and rows of the nonzero entries, their indices in the part
    int *at;                  // [room] places of the equations in the coupling
    double *value;            // [room] R_ik w_ik^1/2
    double *pull, *share;     // [room] R_ik w_ik, and the part of S*
    double *mass, *stiff;     // [room] M_kk and S*_kk, sums over all processes
    double *damping;          // [room] C_kk
    int *start, *touching;    // [nv + 2], [room] entries that touch each equation, by row
    triangle B;
    double *whole, *entries; // entries of B with all rows in, and of B for the present rows
    // the coupling of contacts through bodies:
    pcs_coupling *coupling;
    double *y;            // [n] work
    double *own, *paired; // [n] X: additions to the diagonal and to the partner
    unsigned char *is_in; // [n] 1 if the row is in
    bool is_sparse;       // the entries of B fit into the memory
    bool is_factored;
};

// Returns entry e of the rows as given.
static double direction_of(const pcs_preconditioner *self, int e)
{
    return self->part[self->row[e] < self->part[0]->nrow ? 0 : 1]->value[self->from[e]];
}

// Proximal weight over the diagonal, sqrt(eps): the error that it makes equals the round-off of a solve with redundant
// rows. It must stay below the eigenvalues of a chain of l contacts, down to (pi / 2 l)^2.
static const double proximal = 1e-8;
static const double small = 0.05; // smallest entry between touched equations, over their diagonals, that is coupling

static pcs_status triangle_take(pcs_context *ctx, int n, int room, triangle *t)
{
    t->n = n;
    t->room = room;
    PCS_TAKE_EACH(ctx, n + 1, "the preconditioner", int, &t->head, &t->place, &t->order, &t->seat, &t->below);
    PCS_TAKE_EACH(ctx, room, "the preconditioner", int, &t->next, &t->source, &t->left);
    PCS_TAKE(ctx, t->L, room, "the preconditioner");
    PCS_TAKE_EACH(ctx, n, "the preconditioner", double, &t->D, &t->x);
    return PCS_OK;
}

// Adds j to the neighbours of i unless it is there. Returns false if there is too little memory.
static bool triangle_enter(triangle *t, int i, int j, int *count)
{
    if (t->place[j] == i) return true;
    if (*count == t->room) return false;
    t->place[j] = i;
    t->next[(*count)++] = j;
    return true;
}

// Orders the points breadth-first through their neighbours, chain after chain. Chains that start at a point with at
// most one neighbour come first, then those with two, up to six.
static void triangle_order(triangle *t)
{
    int count = 0, head = 0, least = 1;
    for (int i = 0; i < t->n; i++) t->seat[i] = -1;
    for (; count < t->n; least = least < 6 ? least + 1 : t->n)
        for (int i = 0; i < t->n; i++) {
            if (t->seat[i] >= 0 || t->head[i + 1] - t->head[i] > least) continue;
            t->seat[i] = count;
            t->order[count++] = i;
            for (; head < count; head++) {
                int at = t->order[head];
                for (int p = t->head[at]; p < t->head[at + 1]; p++) {
                    if (t->seat[t->next[p]] >= 0) continue;
                    t->seat[t->next[p]] = count;
                    t->order[count++] = t->next[p];
                }
            }
        }
}

// Finds the pattern: for each point its neighbours that precede it, ascending.
static void triangle_find(triangle *t)
{
    int count = 0;
    triangle_order(t);
    for (int i = 0; i < t->n; i++) {
        t->below[i] = count;
        for (int p = t->head[t->order[i]]; p < t->head[t->order[i] + 1]; p++) {
            int place = t->seat[t->next[p]], at = count;
            if (place >= i) continue;
            count++;
            for (; at > t->below[i] && t->left[at - 1] > place; at--) {
                t->left[at] = t->left[at - 1];
                t->source[at] = t->source[at - 1];
            }
            t->left[at] = place;
            t->source[at] = p;
        }
    }
    t->below[t->n] = count;
}

// Factors the matrix in place. Replaces a pivot that dropped entries have spoilt by the diagonal.
static void triangle_factor(triangle *t)
{
    memset(t->x, 0, (size_t)t->n * sizeof *t->x); // row i of L D
    for (int i = 0; i < t->n; i++) {
        double diagonal = t->D[i], pivot = diagonal;
        for (int e = t->below[i]; e < t->below[i + 1]; e++) {
            int j = t->left[e];
            double sum = t->L[e];
            for (int f = t->below[j]; f < t->below[j + 1]; f++) sum -= t->L[f] * t->x[t->left[f]];
            t->x[j] = sum;
            t->L[e] = sum / t->D[j];
            pivot -= sum * t->L[e];
        }
        for (int e = t->below[i]; e < t->below[i + 1]; e++) t->x[t->left[e]] = 0.0;
        t->D[i] = pivot > proximal * diagonal ? pivot : diagonal;
    }
}

// Solves x = (L D L^T)^-1 x.
static void triangle_solve(const triangle *t, double *x)
{
    double *y = t->x;
    for (int i = 0; i < t->n; i++) {
        y[i] = x[t->order[i]];
        for (int e = t->below[i]; e < t->below[i + 1]; e++) y[i] -= t->L[e] * y[t->left[e]];
    }
    for (int i = 0; i < t->n; i++) y[i] /= t->D[i];
    for (int i = t->n - 1; i >= 0; i--) {
        for (int e = t->below[i]; e < t->below[i + 1]; e++) y[t->left[e]] -= t->L[e] * y[i];
        x[t->order[i]] = y[i];
    }
}

static pcs_status coupling_create(pcs_context *ctx, const pcs_system *system, const pcs_rows *G, const pcs_rows *T,
                                  pcs_coupling **out)
{
    pcs_coupling *self;
    const pcs_pattern *pattern = system->M->pattern;
    long terms = G->start[G->nrow] + (T == NULL ? 0 : T->start[T->nrow]);
    int widest = 0, ncopy = G->halo == NULL ? 0 : G->halo->ncopy;
    for (int k = 0; k < pattern->n; k++) {
        int width = pattern->start[k + 1] - pattern->start[k];
        widest = width > widest ? width : widest;
    }
    PCS_TAKE(ctx, self, 1, "the preconditioner");
    *self = (pcs_coupling){ .system = system, .G = G, .T = T, .is_local = pcs_rows_are_distributed(system) };
    self->room = terms < system->nv ? (int)terms : system->nv;
    long most = (long)self->room * widest;
    most = most < pattern->nnz ? most : pattern->nnz;
    PCS_TAKE_EACH(ctx, self->room, "the preconditioner", double, &self->u[0], &self->u[1], &self->y[0], &self->y[1]);
    PCS_TAKE_EACH(ctx, most, "the preconditioner", double, &self->mass, &self->more);
    PCS_TAKE_EACH(ctx, self->room + 1, "the preconditioner", int, &self->equation, &self->first);
    PCS_TAKE(ctx, self->line, most, "the preconditioner");
    PCS_TAKE(ctx, self->place, system->nv, "the preconditioner");
    for (int k = 0; k < (ncopy > 0 ? 3 : 0); k++) PCS_TAKE(ctx, self->beyond[k], ncopy, "the preconditioner");
    for (int k = 0; k < system->nv; k++) self->place[k] = -1;
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

// Adds an equation to the list unless it is there or the list is full.
static void coupling_note(pcs_coupling *self, int k)
{
    if (self->place[k] >= 0 || self->count == self->room) return;
    self->place[k] = self->count;
    self->equation[self->count++] = k;
}

// Adds the equations that rows touch to the list.
static void coupling_touch(pcs_coupling *self, const pcs_rows *rows)
{
    for (int p = 0; p < (rows == NULL ? 0 : rows->start[rows->nrow]); p++)
        if (rows->value[p] != 0.0) coupling_note(self, rows->column[p]);
}

// Sorts the list.
static void coupling_sort(pcs_coupling *self)
{
    int count = 0;
    for (int k = 0; k < self->system->nv; k++) {
        if (self->place[k] < 0) continue;
        self->place[k] = count;
        self->equation[count++] = k;
    }
}

static void coupling_add(pcs_coupling *self, int line, double mass, double whole, int *count)
{
    if (mass == 0.0 && whole == 0.0) return;
    self->line[*count] = line;
    self->mass[*count] = mass;
    self->more[(*count)++] = whole - mass;
}

// Lists the nonzero entries of M and Ss - M. Of an equation of another process only the diagonal is known.
static void coupling_read(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S, double c)
{
    const pcs_pattern *pattern = M->pattern;
    int own = pcs_system_nown(self->system), count = 0;
    for (int at = 0; at < self->count; at++) {
        int j = self->equation[at];
        self->first[at] = count;
        if (j >= own && self->G->halo != NULL) {
            double mass = self->beyond[0][j - own];
            coupling_add(self, at, mass, S != NULL ? self->beyond[1][j - own] / c : mass, &count);
            continue;
        }
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
            int i = pattern->row[p];
            if (i >= own || self->place[i] < 0) continue;
            double whole = S == NULL ? M->value[p] : coupling_entry(pattern, S, p, j) / c;
            coupling_add(self, self->place[i], M->value[p], whole, &count);
        }
    }
    self->first[self->count] = count;
}

// Fills the coupling for new rows, or for new values of M and of S, which is NULL without dynamics.
static void coupling_fill(pcs_coupling *self, const pcs_matrix *M, const pcs_matrix *S, const pcs_step_form *form)
{
    const pcs_matrix *of[3] = { M, S, S == NULL ? NULL : self->system->C };
    double reach = 0.0;
    for (int at = 0; at < self->count; at++) self->place[self->equation[at]] = -1;
    self->count = 0;
    for (int k = 0; k < (self->G->halo == NULL ? 0 : 3); k++)
        if (of[k] != NULL) pcs_halo_diagonal(self->G->halo, of[k], self->beyond[k]);
    coupling_touch(self, self->G);
    coupling_touch(self, self->T);
    for (int at = 0; at < self->count; at++)
        reach = pcs_larger(reach, coupling_reach(self, self->equation[at], S == NULL ? M : S));
    self->joins = pcs_system_max(self->system, reach) > small;
    if (!self->joins) return;
    coupling_sort(self);
    coupling_read(self, M, S, form->c);
}

// Computes y[0] = M u[0] and y[1] = (Ss - M) u[1].
static void coupling_multiply(const pcs_coupling *self)
{
    memset(self->y[0], 0, (size_t)self->count * sizeof(double));
    memset(self->y[1], 0, (size_t)self->count * sizeof(double));
    for (int j = 0; j < self->count; j++)
        for (int p = self->first[j]; p < self->first[j + 1]; p++) {
            self->y[0][self->line[p]] += self->mass[p] * self->u[0][j];
            self->y[1][self->line[p]] += self->more[p] * self->u[1][j];
        }
}

enum { MOST_PER_ROW = 40 }; // entries of a row of B, on average

static pcs_status preconditioner_take(pcs_context *ctx, pcs_preconditioner *self, int nv)
{
    int n = self->n, most = n < MOST_PER_ROW ? n * n : MOST_PER_ROW * n;
    PCS_TAKE_EACH(ctx, n + 1, "the preconditioner", int, &self->partner, &self->first);
    PCS_TAKE_EACH(ctx, self->room, "the preconditioner", int, &self->column, &self->row, &self->touching, &self->from,
                  &self->at);
    PCS_TAKE_EACH(ctx, self->room, "the preconditioner", double, &self->value, &self->mass, &self->stiff, &self->pull,
                  &self->share, &self->damping);
    PCS_TAKE_EACH(ctx, n, "the preconditioner", double, &self->y, &self->own, &self->paired);
    PCS_TAKE_EACH(ctx, most, "the preconditioner", double, &self->whole, &self->entries);
    PCS_TAKE(ctx, self->start, nv + 2, "the preconditioner");
    PCS_TAKE(ctx, self->is_in, n, "the preconditioner");
    return triangle_take(ctx, n, most, &self->B);
}

static pcs_status preconditioner_create(pcs_step_solver *solver, bool with_tangents, pcs_coupling *coupling,
                                        pcs_preconditioner **out)
{
    pcs_preconditioner *self;
    const pcs_system *system = solver->system;
    PCS_TAKE(solver->ctx, self, 1, "the preconditioner");
    self->solver = solver;
    self->coupling = coupling;
    self->part[0] = coupling->G;
    self->part[1] = with_tangents ? coupling->T : NULL;
    for (int k = 0; k < 2 && self->part[k] != NULL; k++) {
        self->n += self->part[k]->nrow;
        self->room += self->part[k]->start[self->part[k]->nrow];
    }
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
    return PCS_OK;
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
    // Undoes the shift by one entry that filling leaves in every start.
    for (int e = 0; e < self->nterm; e++) self->touching[self->start[self->column[e] + 1]++] = e;
}

// Finds the columns of B. A tangent brings the other one of its contact: the direction of slip couples them, and the
// fill of a chain needs the entry. Returns false if there are too many.
static bool preconditioner_find_neighbours(pcs_preconditioner *self)
{
    int count = 0;
    for (int i = 0; i < self->n; i++) self->B.place[i] = -1;
    for (int i = 0; i < self->n; i++) {
        self->B.head[i] = count;
        if (!triangle_enter(&self->B, i, i, &count) || !triangle_enter(&self->B, i, self->partner[i], &count))
            return false;
        for (int side = 0; side < (self->partner[i] == i ? 1 : 2); side++) {
            int from = side == 0 ? i : self->partner[i];
            for (int e = self->first[from]; e < self->first[from + 1]; e++)
                for (int t = self->start[self->column[e]]; t < self->start[self->column[e] + 1]; t++) {
                    int j = self->row[self->touching[t]];
                    if (!triangle_enter(&self->B, i, j, &count) ||
                        !triangle_enter(&self->B, i, self->partner[j], &count))
                        return false;
                }
        }
    }
    self->B.head[self->n] = count;
    return true;
}

// Reads the diagonal entries of A at the equations of all entries: of this process, and of others if received.
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

// Sets the response w to an impulse at the equation of entry e, and `share`, the root of the part of S* in it. Without
// damping M and S* have the weights 1 - a and a, and damping adds to S* alone.
static void preconditioner_weigh_entry(pcs_preconditioner *self, int e, double a)
{
    const pcs_step_form *form = &self->solver->form;
    double M = self->mass[e], S = self->stiff[e] / form->c, stiff = S - M - form->h * self->damping[e] / form->c;
    double w = (M + (1.0 - a) * stiff) / (S * M);
    if (!(w > 0.0)) w = 1.0 / M; // a body near buckling
    double part = S > M ? (1.0 / w - M) / (S - M) : 0.0;
    double R = direction_of(self, e);
    self->share[e] = sqrt(fmin(fmax(part, 0.0), 1.0));
    self->value[e] = R * sqrt(w);
    self->pull[e] = R * w;
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
    for (int e = 0; e < self->nterm; e++) self->at[e] = self->coupling->place[self->column[e]];
}

// Fills the preconditioner for new values of rows, M and S*. `share` is a_i of gaps and velocities (see header).
static void preconditioner_fill(pcs_preconditioner *self, const pcs_matrix *S, const double share[2])
{
    self->is_factored = false;
    if (preconditioner_read_rows(self)) {
        preconditioner_sort(self, self->solver->system->nv);
        self->is_sparse = preconditioner_find_neighbours(self);
        if (self->is_sparse) triangle_find(&self->B);
    }
    if (!self->is_sparse) return;
    preconditioner_weigh(self, S, share);
    memset(self->whole, 0, (size_t)self->B.head[self->n] * sizeof *self->whole);
    // Adds along the entries of a row, in the same order in every process.
    for (int i = 0; i < self->n; i++) {
        for (int p = self->B.head[i]; p < self->B.head[i + 1]; p++) self->B.place[self->B.next[p]] = p;
        for (int e = self->first[i]; e < self->first[i + 1]; e++)
            for (int t = self->start[self->column[e]]; t < self->start[self->column[e] + 1]; t++) {
                int other = self->touching[t];
                self->whole[self->B.place[self->row[other]]] += self->value[e] * self->value[other];
            }
        self->whole[self->B.place[i]] *= 1.0 + proximal;
    }
}

// Selects the rows with is_in[i] != 0.
static void precondition_choose(pcs_preconditioner *self, const unsigned char *is_in)
{
    memcpy(self->is_in, is_in, (size_t)self->n);
    memset(self->own, 0, (size_t)self->n * sizeof *self->own);
    memset(self->paired, 0, (size_t)self->n * sizeof *self->paired);
    if (self->is_sparse)
        for (int i = 0; i < self->n; i++)
            for (int p = self->B.head[i]; p < self->B.head[i + 1]; p++) {
                int j = self->B.next[p];
                self->entries[p] = i == j || (is_in[i] && is_in[j]) ? self->whole[p] : 0.0;
            }
}

// Adds `value` to B_ij, for rows of one contact.
static void precondition_add(pcs_preconditioner *self, int i, int j, double value)
{
    if (!self->is_sparse) return;
    int p = self->B.head[i];
    while (self->B.next[p] != j) p++;
    self->entries[p] += value;
    *(i == j ? &self->own[i] : &self->paired[i]) += value;
}

// Factors B, unless it is far from sparse.
static void precondition_factor(pcs_preconditioner *self)
{
    triangle *t = &self->B;
    if (!self->is_sparse) return;
    for (int e = 0; e < t->below[t->n]; e++) t->L[e] = self->entries[t->source[e]];
    for (int i = 0; i < t->n; i++) t->D[i] = self->entries[t->head[t->order[i]]]; // the diagonal comes first
    triangle_factor(t);
    self->is_factored = true;
}

// Computes y = (N + X) x.
static void preconditioner_couple(const pcs_preconditioner *self, const double *x)
{
    const pcs_coupling *c = self->coupling;
    double *y = self->y;
    memset(c->u[0], 0, (size_t)c->count * sizeof(double));
    memset(c->u[1], 0, (size_t)c->count * sizeof(double));
    for (int e = 0; e < self->nterm; e++) {
        double pull = self->pull[e] * x[self->row[e]];
        c->u[0][self->at[e]] += pull;
        c->u[1][self->at[e]] += self->share[e] * pull;
    }
    coupling_multiply(c);
    for (int i = 0; i < self->n; i++) {
        y[i] = 0.0;
        for (int e = self->first[i]; e < self->first[i + 1] && self->is_in[i]; e++)
            y[i] += self->pull[e] * (c->y[0][self->at[e]] + self->share[e] * c->y[1][self->at[e]]);
    }
    if (!c->is_local) pcs_system_sum(c->system, self->n, y);
    for (int i = 0; i < self->n; i++) y[i] += self->own[i] * x[i] + self->paired[i] * x[self->partner[i]];
}

// Applies x = B^-1 (N + X) B^-1 x.
static void precondition_solve(pcs_preconditioner *self, double *x)
{
    triangle_solve(&self->B, x);
    if (!self->coupling->joins) return;
    preconditioner_couple(self, x);
    memcpy(x, self->y, (size_t)self->n * sizeof *x);
    triangle_solve(&self->B, x);
}

pcs_status pcs_preconditioners_create(pcs_step_solver *solver, const pcs_rows *G, const pcs_rows *T,
                                      pcs_preconditioner *pair[2])
{
    pcs_coupling *coupling;
    PCS_TRY(coupling_create(solver->ctx, solver->system, G, T, &coupling));
    PCS_TRY(preconditioner_create(solver, false, coupling, &pair[0]));
    return preconditioner_create(solver, true, coupling, &pair[1]);
}

// Gaps depend on S*, velocities on S* as far as W moves positions.
void pcs_preconditioners_fill(pcs_preconditioner *const pair[2], const pcs_matrix *S)
{
    const pcs_step_solver *solver = pair[1]->solver;
    const pcs_step_form *form = &solver->form;
    double weight = form->kb > 0.0 ? 1.0 / form->kb : 0.0, friction_weight = form->has_position ? 0.5 * form->h : 0.0;
    coupling_fill(pair[1]->coupling, solver->mass->A, S, form);
    if (form->has_position) preconditioner_fill(pair[0], S, (const double[2]){ 1.0, 1.0 });
    preconditioner_fill(
        pair[1], S,
        (const double[2]){ fmin(1.0, form->kw * weight), fmin(1.0, (form->kw + friction_weight) * weight) });
}

// Returns true if B is factored (false for NULL).
static bool precondition_is_ready(const pcs_preconditioner *self)
{
    return self != NULL && self->is_factored;
}

enum {
    FREEZE_GATE_AFTER = 8,
    ROUNDS = 200,
    HASTY_ROUNDS = 20,
    IDLE_ROUNDS = 20,
    REFINEMENTS = 2, // for contradictions left by multipliers that redundant joints share
    MANY_ROWS = 16,
    KRYLOV_RESTART = 120,
    KRYLOV_LIMIT = 3000,
    SWEEPS = 20000
};

// Relative tolerances of velocities and gaps: required (tight), zero (slack), after a stall (acceptable tight).
static const double solved_rate = 1e-14, slack_rate = 1e-13, solved_gap = 1e-15, slack_gap = 4e-15, acceptable = 50.0;
// Tolerances of linear systems, relative to the residual: loose while the sets of many rows improve, else firm, as few
// rows have cheap products and would need another round. A live gate may have several consistent states: the choice
// must not depend on the residual: firm. While only friction changes, looser, but within that of the first round.
static const double inexact_rtol = 1e-2, decided_rtol = 1e-3;
static const double spread = 20.0; // least root of the number of unknowns that share a residual

// Returns the first unknown of the stage, and the end of its range.
static int set_first(const pcs_krylov_set *c)
{
    return c->stage & PCS_STAGE_GAP ? 0 : c->p.m;
}
static int set_last(const pcs_krylov_set *c)
{
    return c->stage & PCS_STAGE_RATE ? c->p.n : c->p.m;
}

// Computes image = P x of the stage.
static void set_multiply(pcs_krylov_set *c, const double *x)
{
    c->product(c->owner, c->stage, c->stage, x, c->image, NULL);
    c->products++;
}

// Applies the preconditioners to a residual: to gaps, to velocities, and to slip across its direction. Updates them for
// the present sets before.

// Limits the compliance along the direction of slip, in units of 1/r, and the rotation factor below which slip is free.
static const double stiff = 1e3, slow_rotation = 1e-2;

// Finds the factored preconditioners of this stage, for gaps and for velocities; NULL if absent.
static void precondition_find_ready(const pcs_krylov_set *c, pcs_preconditioner *pair[2])
{
    bool is_meant[2] = { c->stage & PCS_STAGE_GAP && c->p.held == NULL, // held rows depend almost on M alone
                         c->stage & PCS_STAGE_RATE };
    for (int law = 0; law < 2; law++) {
        pcs_preconditioner *pre = c->preconditioner[law];
        pair[law] = is_meant[law] && precondition_is_ready(pre) ? pre : NULL;
    }
}

// Adds the compliance of a contact that slides in space, by the equation of slip, (1 - s)/(s r) Lt + xt across with its
// direction, s = `rotation`: the slower the stiffer. Along it the normal impulse determines friction.
static void precondition_hold_across(pcs_krylov_set *c, pcs_preconditioner *pre, int row)
{
    const double *n = &c->slip[2 * row], rotation = c->rotation[row];
    int k = pcs_contact_tangent(&c->p, row, 0), i = k - c->p.m;
    double across = (1.0 - rotation) / (rotation * c->p.r[k]), along = stiff / c->p.r[k];
    precondition_add(pre, i, i, across * n[1] * n[1] + along * n[0] * n[0]);
    precondition_add(pre, i + 1, i + 1, across * n[0] * n[0] + along * n[1] * n[1]);
    precondition_add(pre, i, i + 1, (along - across) * n[0] * n[1]);
    precondition_add(pre, i + 1, i, (along - across) * n[0] * n[1]);
}

// Returns true if the preconditioners include unknown k.
static bool precondition_is_near(const pcs_krylov_set *c, int row, int k)
{
    return c->mode[k] == PCS_MODE_HELD || (c->mode[k] == PCS_MODE_SLIDING && c->rotation[row] > slow_rotation);
}

// Returns true if a row slides in space and the preconditioners include it.
static bool precondition_directions(const pcs_krylov_set *c, int row)
{
    int k = pcs_contact_tangent(&c->p, row, 0);
    return c->p.rows[row].ntangent == 2 && c->mode[k] == PCS_MODE_SLIDING && c->is_in[k];
}

// Raises the diagonals of bilateral rows in the preconditioner as in the system.
static void precondition_raise(const pcs_krylov_set *c, pcs_preconditioner *pre, int first)
{
    if (c->shared == 0.0) return;
    for (int j = 0; j < c->p.m; j++)
        if (c->p.rows[j].is_bilateral && c->is_in[first + j])
            precondition_add(pre, j, j, c->shared / c->p.r[first + j]);
}

// Prepares the preconditioner of gaps (0) or of velocities (1) for the present sets and directions of slip.
static void precondition_choose_rows(pcs_krylov_set *c, int law)
{
    pcs_preconditioner *pre = c->preconditioner[law];
    bool is_same = true, rotates = false;
    for (int j = 0; j < c->p.m; j++)
        for (int t = -1; t < (law == 0 ? 0 : c->p.rows[j].ntangent); t++) {
            int k = t < 0 ? law * c->p.m + j : pcs_contact_tangent(&c->p, j, t);
            bool is_in = precondition_is_near(c, j, k);
            is_same = is_same && c->is_in[k] == is_in;
            rotates = rotates || (is_in && c->mode[k] == PCS_MODE_SLIDING);
            c->is_in[k] = is_in;
        }
    // A factor that knows directions of slip is not that of the same sets without.
    if (is_same && !rotates && !(law == 1 && c->has_rotations) && precondition_is_ready(pre)) return;
    if (law == 1) c->has_rotations = rotates;
    precondition_choose(pre, c->is_in + law * c->p.m);
    precondition_raise(c, pre, law * c->p.m);
    for (int j = 0; j < (rotates ? c->p.m : 0); j++)
        if (precondition_directions(c, j)) precondition_hold_across(c, pre, j);
    precondition_factor(pre);
}

// Prepares the preconditioners for the present sets.
static void precondition_prepare(pcs_krylov_set *c)
{
    if (c->stage & PCS_STAGE_GAP && c->preconditioner[0] != NULL && c->p.held == NULL) precondition_choose_rows(c, 0);
    if (c->stage & PCS_STAGE_RATE && c->preconditioner[1] != NULL) precondition_choose_rows(c, 1);
}

// Sets x for a sliding row: the solution y of the preconditioner across the direction of slip, masses along it.
static void precondition_slip(const pcs_krylov_set *c, int row, const double *r, const double *y, double *x)
{
    const double *n = &c->slip[2 * row];
    double part[2] = { 0 }, along = 0.0;
    int count = c->p.rows[row].ntangent, k = pcs_contact_tangent(&c->p, row, 0);
    for (int t = 0; t < count; t++) along += r[k + t] * n[t];
    if (y != NULL && c->is_in[k])
        for (int t = 0; t < count; t++) part[t] = y[t];
    double across = part[0] * -n[1] + part[1] * n[0];
    for (int t = 0; t < count; t++) {
        double rest = c->p.r[k] * (r[k + t] - along * n[t]);
        if (c->is_in[k] && y != NULL) rest = across * (t == 0 ? -n[1] : n[0]);
        x[k + t] = rest + n[t] * (c->p.r[k] * along + c->p.rows[row].friction * x[c->p.m + row]);
    }
}

// Fills the right-hand side of a sliding row: its equation across the direction of slip, divided by `rotation`.
static void precondition_aim_slip(const pcs_krylov_set *c, int row, const double *r, double *y)
{
    const double *n = &c->slip[2 * row];
    int k = pcs_contact_tangent(&c->p, row, 0);
    double across = (r[k + 1] * n[0] - r[k] * n[1]) / c->rotation[row];
    y[0] = -n[1] * across;
    y[1] = n[0] * across;
}

// Applies x = D r: the preconditioners on held rows, masses elsewhere; friction of sliding rows follows the normal.
static void precondition_apply(pcs_krylov_set *c, const double *r, double *x)
{
    bool has_rates = c->stage & PCS_STAGE_RATE;
    pcs_preconditioner *pair[2];
    precondition_find_ready(c, pair);
    const pcs_preconditioner *gaps = pair[0], *rates = pair[1];
    int m = c->p.m, known = 2 * m + c->p.nt;
    for (int k = 0; k < c->p.n; k++) x[k] = c->aim[k] = 0.0;
    for (int k = set_first(c); k < set_last(c); k++) {
        bool is_near = k < known && c->is_in[k] && (k < m ? gaps : rates) != NULL;
        if (c->mode[k] != PCS_MODE_HELD) continue;
        if (is_near) c->aim[k] = r[k];
        else x[k] = c->p.r[k] * r[k];
    }
    for (int j = 0; j < (rates != NULL ? m : 0); j++)
        if (precondition_directions(c, j)) precondition_aim_slip(c, j, r, &c->aim[pcs_contact_tangent(&c->p, j, 0)]);
    for (int law = 0; law < 2; law++)
        if (pair[law] != NULL) precondition_solve(pair[law], c->aim + law * m);
    for (int k = set_first(c); k < set_last(c) && k < known; k++)
        if (c->mode[k] == PCS_MODE_HELD && c->is_in[k] && (k < m ? gaps : rates) != NULL) x[k] = c->aim[k];
    if (has_rates)
        for (int j = 0; j < m; j++) {
            int k = pcs_contact_tangent(&c->p, j, 0);
            if (c->p.rows[j].ntangent > 0 && c->mode[k] >= PCS_MODE_SLIDING)
                precondition_slip(c, j, r, rates == NULL ? NULL : &c->aim[k], x);
        }
}

// Accelerated projections for contact problems of many rows, the fallback when the sets of Newton's method fail.
//
// z solves the laws exactly where z = Proj(z - s r (value + correction)) with the correction friction |xt| on the
// normal velocity of a row with friction (de Saxce, Feng 1998); Proj goes onto z >= 0 or the cone |Lt| <= friction La.
// Nesterov's extrapolation with a restart whenever it points uphill (O'Donoghue, Candes 2015); s = 1 / largest
// eigenvalue of r P.

enum { POWER_STEPS = 12, PATIENCE = 100 };

static const double still = 1.0001; // ratio of largest to smallest defect of recent sweeps that make no progress

// Returns one mass for all directions of a row, kg, so that its cone stays circular.
static double gradient_mass(const pcs_krylov_set *c, int row)
{
    double mass = c->p.r[c->p.m + row];
    for (int t = 0; t < c->p.rows[row].ntangent; t++) mass = fmin(mass, c->p.r[pcs_contact_tangent(&c->p, row, t)]);
    return mass;
}

// Returns true if the velocity law of a row applies: its gate is closed, or it is bilateral.
static bool gradient_is_on(const pcs_krylov_set *c, int row)
{
    return c->p.gate[row] || c->p.rows[row].is_bilateral;
}

// Computes z = Proj(aim - s r (aim_value + correction)) for La and Lt of one row.
static void gradient_cone(pcs_krylov_set *c, int row, double s)
{
    const pcs_row *r = &c->p.rows[row];
    int la = c->p.m + row;
    double mass = s * gradient_mass(c, row), slip2 = 0.0, y2 = 0.0;
    for (int t = 0; t < r->ntangent; t++) {
        int k = pcs_contact_tangent(&c->p, row, t);
        slip2 += c->aim_value[k] * c->aim_value[k];
        c->p.z[k] = gradient_is_on(c, row) && r->friction > 0.0 ? c->aim[k] - mass * c->aim_value[k] : 0.0;
        y2 += c->p.z[k] * c->p.z[k];
    }
    double normal = c->aim[la] - mass * (c->aim_value[la] + r->friction * sqrt(slip2)), y = sqrt(y2);
    if (!gradient_is_on(c, row)) normal = 0.0;
    double scale = 1.0;
    if (!r->is_bilateral && y > r->friction * normal) {
        double on_edge = fmax(0.0, (normal + r->friction * y) / (1.0 + r->friction * r->friction));
        scale = y > 0.0 ? r->friction * on_edge / y : 0.0;
        normal = on_edge;
    }
    c->p.z[la] = r->is_bilateral ? normal : fmax(normal, 0.0);
    for (int t = 0; t < r->ntangent; t++) c->p.z[pcs_contact_tangent(&c->p, row, t)] *= scale;
}

static void gradient_all(pcs_krylov_set *c, double s)
{
    for (int j = 0; j < c->p.m; j++) {
        if (c->stage & PCS_STAGE_GAP) {
            double nu = c->aim[j] - s * c->p.r[j] * c->aim_value[j];
            c->p.z[j] = c->p.rows[j].is_bilateral ? nu : fmax(nu, 0.0);
            if (c->p.held != NULL) c->p.z[j] = pcs_contact_holds(&c->p, j) ? nu : 0.0;
        }
        if (c->stage & PCS_STAGE_RATE) gradient_cone(c, j, s);
    }
    for (int k = 2 * c->p.m + c->p.nt; k < set_last(c); k++)
        if (c->mode[k] == PCS_MODE_HELD) c->p.z[k] = c->aim[k] - s * c->p.r[k] * c->aim_value[k];
}

// Returns the largest eigenvalue of r P on the rows that take part, by the power method.
static double gradient_lipschitz(pcs_krylov_set *c)
{
    double size = 1.0;
    int first = set_first(c), last = set_last(c);
    if (c->lipschitz[c->stage] > 0.0) return c->lipschitz[c->stage];
    for (int k = first; k < last; k++) c->x[k] = c->p.r[k] * (1.0 + 0.5 * sin(1.7 * k));
    for (int step = 0; step < POWER_STEPS; step++) {
        set_multiply(c, c->x);
        size = all_largest(c, last - first, c->image + first);
        if (size > 0.0)
            for (int k = first; k < last; k++) c->x[k] = c->p.r[k] * c->image[k] / size;
    }
    // The largest entry has been brought to 1 before every product, so `size` tends to the eigenvalue.
    c->lipschitz[c->stage] = 1.2 * pcs_larger(1e-300, size);
    return c->lipschitz[c->stage];
}

// Returns the fixed-point residual, the largest |z - aim| over all processes as a velocity, m/s: zero at a solution.
static double gradient_defect(const pcs_krylov_set *c, double s)
{
    double worst = 0.0;
    for (int k = set_first(c); k < set_last(c); k++) {
        double defect = fabs(c->p.z[k] - c->aim[k]) / (s * c->p.r[k] * pcs_contact_unit(&c->p, k));
        worst = pcs_larger(worst, defect);
    }
    return pcs_rows_max(c->system, worst);
}

// Returns true if the last move was against the direction of descent.
static bool gradient_is_uphill(const pcs_krylov_set *c)
{
    double sum = 0.0;
    for (int k = set_first(c); k < set_last(c); k++)
        sum += (c->aim[k] - c->p.z[k]) * (c->p.z[k] - c->z_last[k]) / c->p.r[k];
    return all_total(c, sum) > 0.0;
}

// Extrapolates from z and value: aim = z + weight (z - z_last), its values alike.
static void gradient_extrapolate(pcs_krylov_set *c, double weight)
{
    for (int k = set_first(c); k < set_last(c); k++) {
        double step = weight * (c->p.z[k] - c->z_last[k]);
        c->aim[k] = c->p.z[k] + step;
        c->F[k] = weight * (c->p.value[k] - c->F[k]); // F: values at z_last
        c->aim_value[k] = c->p.value[k] + c->F[k];
        c->z_last[k] = c->p.z[k];
        c->F[k] = c->p.value[k];
    }
}

// Repeats the step from the same point with the values found at its end: an extragradient step (Korpelevich 1976), for
// monotone maps that are not symmetric, on which the plain step may cycle.
static void gradient_correct(pcs_krylov_set *c, double s)
{
    for (int k = set_first(c); k < set_last(c); k++) {
        c->x[k] = c->p.z[k];
        c->aim_value[k] = c->p.value[k];
    }
    gradient_all(c, s);
    for (int k = set_first(c); k < set_last(c); k++) c->x[k] = c->p.z[k] - c->x[k];
    set_multiply(c, c->x);
    for (int k = set_first(c); k < set_last(c); k++) c->p.value[k] += c->image[k];
}

// Projects z repeatedly until no law is violated by more than `target` m/s. Gates and values are not updated.
static void gradient_solve(pcs_krylov_set *c, double target, int limit)
{
    int first = set_first(c), last = set_last(c);
    double s = 1.0 / gradient_lipschitz(c), momentum = 1.0, best = INFINITY, low = INFINITY, high = 0.0;
    bool is_accelerated = c->is_symmetric && c->stage != PCS_STAGE_BOTH;
    for (int k = first; k < last; k++) {
        c->z_last[k] = c->aim[k] = c->p.z[k];
        c->F[k] = c->aim_value[k] = c->p.value[k];
    }
    for (int sweep = 0; sweep < limit; sweep++, c->projections++) {
        gradient_all(c, s);
        double defect = gradient_defect(c, s);
        if (defect <= target || !isfinite(defect)) break;
        if (defect > 100.0 * best) s *= 0.5; // the step was too long
        best = fmin(best, defect);
        if (sweep % PATIENCE == 0) {
            if (high <= still * low && sweep > 0) break;
            low = high = defect;
        }
        low = fmin(low, defect);
        high = fmax(high, defect);
        // Computes the values at z as those at `aim` plus the effect of the change from there.
        for (int k = first; k < last; k++) c->x[k] = c->p.z[k] - c->aim[k];
        set_multiply(c, c->x);
        for (int k = first; k < last; k++) c->p.value[k] = c->aim_value[k] + c->image[k];
        if (!is_accelerated) gradient_correct(c, s);
        bool restarts = !is_accelerated || gradient_is_uphill(c) || defect > 100.0 * best;
        double next = restarts ? 1.0 : 0.5 * (1.0 + sqrt(1.0 + 4.0 * momentum * momentum));
        gradient_extrapolate(c, restarts ? 0.0 : (momentum - 1.0) / next);
        momentum = next;
    }
}

// Live gates: the velocity law is imposed where the gate is closed, and the gate follows the z that results. A gate
// that opens when its law is imposed and closes when it is not would alternate for ever. It counts as closed, as in the
// dense solvers, and the iteration of the gap law converges with it.
enum { GATE_OPENED = 1, GATE_CONTRADICTED };

static bool gate_is_closed(const pcs_krylov_set *c, int row)
{
    return c->gate_history[row] == GATE_CONTRADICTED || pcs_contact_is_gated(&c->p, row);
}

static void gate_follow(pcs_krylov_set *c, int row)
{
    bool is_closed = gate_is_closed(c, row);
    if (c->p.gate[row] && !is_closed) c->gate_history[row] = GATE_OPENED;
    c->p.gate[row] = is_closed;
}

static void gate_close(pcs_krylov_set *c)
{
    for (int j = 0; j < c->p.m; j++)
        if (c->gate_history[j] == GATE_OPENED && !c->p.gate[j] && gate_is_closed(c, j))
            c->gate_history[j] = GATE_CONTRADICTED;
}

// Evaluates the values at z.
static void set_evaluate(pcs_krylov_set *c)
{
    int in = c->stage == PCS_STAGE_RATE && c->p.has_position ? PCS_STAGE_BOTH : c->stage;
    int first = in & PCS_STAGE_GAP ? 0 : c->p.m, last = set_last(c);
    bool wants_gate = c->p.gate_is_live && c->stage & PCS_STAGE_RATE;
    bool is_moved = false;
    for (int k = first; k < last; k++) is_moved = is_moved || c->p.z[k] != 0.0;
    is_moved = pcs_rows_any(c->system, is_moved);
    if (is_moved) c->product(c->owner, in, c->stage, c->p.z, c->image, wants_gate ? c->gate_image : NULL);
    c->products += is_moved;
    for (int k = set_first(c); k < last; k++) c->p.value[k] = c->p.b[k] + (is_moved ? c->image[k] : 0.0);
    if (wants_gate)
        for (int j = 0; j < c->p.m; j++) c->p.gate_gap[j] = c->p.b_gate[j] + (is_moved ? c->gate_image[j] : 0.0);
}

// Returns true if the residuals are within the round-off of velocities, and of gaps over h. A light node on a heavy
// body, or redundant rows, keep any method from going below.
static bool set_is_rounded_off(const pcs_krylov_set *c)
{
    double rate = PCS_ROUND_VELOCITY * c->size, gap = PCS_ROUND_LENGTH * (c->length + c->reach) / c->p.h + rate,
           worst = 0.0;
    for (int k = set_first(c); k < set_last(c); k++) worst = fmax(worst, fabs(c->F[k]) / (k < c->p.m ? gap : rate));
    return pcs_rows_max(c->system, worst) <= 1.0;
}

void pcs_krylov_set_take(pcs_krylov_set *c, int nsmooth, const unsigned char *held)
{
    c->nb = nsmooth;
    c->p.held = held;
    c->p.nheld_t = held == NULL ? 0 : c->p.nt;
    c->p.n = 2 * c->p.m + c->p.nt + nsmooth + c->p.nheld_t;
    for (int k = c->p.n - c->p.nheld_t; k < c->p.n; k++) c->p.z[k] = 0.0; // no initial guess for later steps
}

static pcs_status krylov_create(pcs_context *ctx, int n, int restart, pcs_krylov_set *c)
{
    c->restart = restart;
    PCS_TAKE(ctx, c->basis, restart + 1, "the Krylov basis");
    for (int i = 0; i <= restart; i++) PCS_TAKE(ctx, c->basis[i], n, "the Krylov basis");
    PCS_TAKE(ctx, c->H, (size_t)(restart + 1) * (size_t)restart, "the Krylov method");
    PCS_TAKE_EACH(ctx, restart + 1, "the Krylov method", double, &c->cosine, &c->sine, &c->g, &c->dots);
    PCS_TAKE_EACH(ctx, n, "the Krylov method", double, &c->direction, &c->rest, &c->preconditioned);
    return PCS_OK;
}

pcs_status pcs_krylov_set_create(pcs_context *ctx, const pcs_system *system, int nsmooth, pcs_krylov_set **out)
{
    pcs_krylov_set *c;
    int m = system->nrow, nt = system->ntangent;
    int n = 2 * (m + nt) + nsmooth, nall = 2 * (pcs_system_nrow(system) + pcs_system_ntangent(system)) + nsmooth;
    PCS_TAKE(ctx, c, 1, "the contact problem");
    PCS_TRY(pcs_contact_problem_create(ctx, system->rows, m, nt, n, &c->p));
    c->system = system;
    c->nb = nsmooth;
    c->length = system->length;
    PCS_TAKE_EACH(ctx, n, "the contact problem", double, &c->F, &c->x, &c->z_last, &c->aim, &c->aim_value);
    PCS_TAKE_EACH(ctx, n, "the contact problem", unsigned char, &c->mode, &c->is_in);
    PCS_TAKE(ctx, c->image, n + m, "the contact problem");
    c->gate_image = c->image + n;
    PCS_TAKE(ctx, c->slip, 2 * m, "the contact problem");
    PCS_TAKE(ctx, c->rotation, m, "the contact problem");
    PCS_TAKE(ctx, c->gate_history, m, "the contact problem");
    *out = c;
    int restart = nall < KRYLOV_RESTART ? nall + 1 : KRYLOV_RESTART;
    pcs_krylov_set_take(c, nsmooth, NULL);
    return krylov_create(ctx, n, restart, c);
}

void pcs_krylov_set_reset(pcs_krylov_set *c)
{
    memset(c->lipschitz, 0, sizeof c->lipschitz);
}

static int set_set(pcs_krylov_set *c, int k, unsigned char mode)
{
    int changed = c->mode[k] != mode;
    c->mode[k] = mode;
    return changed;
}

// Returns PCS_MODE_HELD if the gap of a row is an equation, else PCS_MODE_OUT.
static unsigned char set_gap_mode(const pcs_krylov_set *c, int row)
{
    if (c->p.held != NULL) return pcs_contact_holds(&c->p, row) ? PCS_MODE_HELD : PCS_MODE_OUT;
    return c->p.rows[row].is_bilateral ? PCS_MODE_HELD : pcs_contact_side(&c->p, c->mode, row, c->slack[0] * c->p.h);
}

// Sets the modes of smooth multipliers and of the tangents of held rows. Returns the number of changes.
static long set_find_more(pcs_krylov_set *c)
{
    long changed = 0;
    int more = c->p.n - c->p.nheld_t;
    for (int k = 2 * c->p.m + c->p.nt; k < more; k++) changed += set_set(c, k, PCS_MODE_HELD);
    for (int j = 0; j < (c->p.nheld_t > 0 ? c->p.m : 0); j++)
        for (int t = 0; t < c->p.rows[j].ntangent; t++)
            changed += set_set(c, more + c->p.rows[j].first_tangent + t,
                               pcs_contact_holds_tangents(&c->p, j) ? PCS_MODE_HELD : PCS_MODE_OUT);
    return changed;
}

// Updates modes and live gates of the stage from the present z; returns the number of changes in all processes.
static long set_find_modes(pcs_krylov_set *c, bool gate_is_frozen)
{
    long changed = 0, slips = 0;
    bool has_live_gate = c->p.gate_is_live && c->stage == PCS_STAGE_BOTH && !gate_is_frozen;
    for (int j = 0; j < c->p.m; j++) {
        bool is_bilateral = c->p.rows[j].is_bilateral;
        if (c->stage & PCS_STAGE_GAP) changed += set_set(c, j, set_gap_mode(c, j));
        if (!(c->stage & PCS_STAGE_RATE)) continue;
        if (has_live_gate) gate_follow(c, j);
        int la = c->p.m + j;
        unsigned char side = PCS_MODE_OUT;
        if (c->p.gate[j]) side = pcs_contact_side(&c->p, c->mode, la, c->slack[1]);
        if (is_bilateral) side = PCS_MODE_HELD;
        int rotated = set_set(c, la, side);
        int slip = pcs_contact_set_tangents(&c->p, c->mode, j, side == PCS_MODE_HELD, c->slack[1]);
        changed += rotated + slip;
        slips += rotated ? 0 : slip;
    }
    if (c->stage & PCS_STAGE_RATE) changed += set_find_more(c);
    c->closures = c->p.gate_is_live ? all_count(c, changed - slips) : 0;
    return all_count(c, changed);
}

// Sets multipliers that are out to zero and updates the values. Returns false if all of them were zero.
static bool set_clear_out(pcs_krylov_set *c)
{
    long count = 0;
    for (int k = set_first(c); k < set_last(c); k++) {
        bool is_left = c->mode[k] == PCS_MODE_OUT && c->p.z[k] != 0.0;
        if (is_left) c->p.z[k] = 0.0;
        count += is_left;
    }
    if (all_count(c, count) == 0) return false;
    set_evaluate(c);
    return true;
}

// Fills F with minus the residuals of the active equations, m/s. Returns their norm.
static double set_residual(pcs_krylov_set *c)
{
    double worst = 0.0;
    for (int k = set_first(c); k < set_last(c); k++)
        c->F[k] = c->mode[k] == PCS_MODE_HELD ? -c->p.value[k] / pcs_contact_unit(&c->p, k) : 0.0;
    for (int j = 0; j < c->p.m && c->stage & PCS_STAGE_RATE; j++) {
        if (c->p.rows[j].ntangent == 0 || c->mode[pcs_contact_tangent(&c->p, j, 0)] < PCS_MODE_SLIDING) continue;
        c->rotation[j] = pcs_contact_slip(&c->p, c->mode, j, &c->slip[2 * j]);
        for (int t = 0; t < c->p.rows[j].ntangent; t++) {
            int k = pcs_contact_tangent(&c->p, j, t);
            c->F[k] = (c->p.rows[j].friction * c->p.z[c->p.m + j] * c->slip[2 * j + t] - c->p.z[k]) / c->p.r[k];
        }
    }
    for (int k = set_first(c); k < set_last(c); k++) {
        double ratio = fabs(c->F[k]) / c->solved_tol[k < c->p.m ? 0 : 1];
        if (c->F[k] != 0.0) worst = pcs_larger(worst, ratio);
    }
    c->ratio = pcs_rows_max(c->system, worst);
    int first = set_first(c), count = set_last(c) - first;
    return all_norm(c, count, c->F + first);
}

// Returns true if a contact slides in space.
static bool set_slides(const pcs_krylov_set *c)
{
    long count = 0;
    if (c->stage & PCS_STAGE_RATE)
        for (int k = 2 * c->p.m; k < 2 * c->p.m + c->p.nt; k++) count += c->mode[k] == PCS_MODE_SLIDING;
    return all_count(c, count) > 0;
}

// Returns true if unknown k belongs to a bilateral row.
static bool set_is_joint(const pcs_krylov_set *c, int k)
{
    if (k < 2 * c->p.m) return c->p.rows[k % c->p.m].is_bilateral;
    return k >= 2 * c->p.m + c->p.nt && k < c->p.n - c->p.nheld_t;
}

// Computes y = J x of the active equations, x in units of impulses. Raises the diagonals of redundant joints: each
// round then takes the least multipliers, and contradictions between rows do not become forces.
static void set_linearised(pcs_krylov_set *c, const double *x, double *y)
{
    int first = set_first(c), last = set_last(c);
    for (int k = first; k < last; k++) c->aim[k] = c->mode[k] == PCS_MODE_OUT ? 0.0 : x[k] * pcs_contact_unit(&c->p, k);
    c->product(c->owner, c->stage, c->stage, c->aim, c->image, NULL);
    c->products++;
    for (int k = 0; k < c->p.n; k++) y[k] = 0.0;
    for (int k = first; k < last; k++)
        if (c->mode[k] == PCS_MODE_HELD) y[k] = c->image[k] / pcs_contact_unit(&c->p, k);
    for (int k = c->shared > 0.0 ? first : last; k < last; k++)
        if (set_is_joint(c, k)) y[k] += c->shared * x[k] / c->p.r[k];
    for (int j = 0; j < c->p.m && c->stage & PCS_STAGE_RATE; j++) {
        double rotated[2] = { 0 }, along = 0.0;
        if (c->p.rows[j].ntangent == 0 || c->mode[pcs_contact_tangent(&c->p, j, 0)] < PCS_MODE_SLIDING) continue;
        const double *n = &c->slip[2 * j];
        double rotation = c->rotation[j], la = c->p.rows[j].friction * c->aim[c->p.m + j];
        for (int t = 0; t < c->p.rows[j].ntangent; t++) {
            int k = pcs_contact_tangent(&c->p, j, t);
            rotated[t] = rotation * (c->aim[k] - c->p.r[k] * c->image[k]);
            along += rotated[t] * n[t];
        }
        for (int t = 0; t < c->p.rows[j].ntangent; t++) {
            int k = pcs_contact_tangent(&c->p, j, t);
            double part = rotation > 0.0 ? rotated[t] - along * n[t] : 0.0;
            y[k] = (c->aim[k] - la * n[t] - part) / c->p.r[k];
        }
    }
}

// GMRES for J x = F from x = 0, with restarts and preconditioned from the right, by D ~ J^-1 (Saad, Schultz 1986). A
// subset of equations needs no numbering of its own: entries of x vanish where those of F, J x and D F do.

static const double regular = 0.05; // smallest pivot of a regular triangle, relative to the largest

// Orthogonalises basis[j + 1] against the others twice (once is not enough near convergence) and fills column j of H.
static void krylov_orthogonalise(pcs_krylov_set *c, int j)
{
    int n = c->p.n;
    double *w = c->basis[j + 1], *h = &c->H[(size_t)j * (size_t)(c->restart + 1)];
    memset(h, 0, (size_t)(j + 2) * sizeof *h);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i <= j; i++) c->dots[i] = pcs_sum_dot(n, c->basis[i], w);
        pcs_rows_sum(c->system, j + 1, c->dots);
        for (int i = 0; i <= j; i++) {
            h[i] += c->dots[i];
            for (int l = 0; l < n; l++) w[l] -= c->dots[i] * c->basis[i][l];
        }
    }
    h[j + 1] = all_norm(c, n, w);
    if (h[j + 1] > 0.0)
        for (int l = 0; l < n; l++) w[l] /= h[j + 1];
}

// Rotates column j of H to upper triangular form. Returns the residual of the least-squares problem so far, NAN if a
// product was not finite.
static double krylov_rotate(pcs_krylov_set *c, int j)
{
    double *h = &c->H[(size_t)j * (size_t)(c->restart + 1)];
    for (int i = 0; i < j; i++) {
        double a = h[i], b = h[i + 1];
        h[i] = c->cosine[i] * a + c->sine[i] * b;
        h[i + 1] = c->cosine[i] * b - c->sine[i] * a;
    }
    double length = hypot(h[j], h[j + 1]);
    if (!isfinite(length)) return NAN;
    c->cosine[j] = length > 0.0 ? h[j] / length : 1.0;
    c->sine[j] = length > 0.0 ? h[j + 1] / length : 0.0;
    h[j] = length;
    c->g[j + 1] = -c->sine[j] * c->g[j];
    c->g[j] *= c->cosine[j];
    return fabs(c->g[j + 1]);
}

// Adds D V y to x, where y solves the triangular system H y = g of `count` columns.
static void krylov_combine(pcs_krylov_set *c, int count)
{
    double *x = c->x;
    int n = c->p.n;
    for (int i = count - 1; i >= 0; i--) {
        const double *H = c->H;
        size_t lead = (size_t)(c->restart + 1);
        double sum = c->g[i];
        for (int j = i + 1; j < count; j++) sum -= H[(size_t)j * lead + (size_t)i] * c->dots[j];
        double pivot = H[(size_t)i * lead + (size_t)i];
        c->dots[i] = pivot != 0.0 ? sum / pivot : 0.0;
    }
    memset(c->preconditioned, 0, (size_t)n * sizeof(double));
    for (int j = 0; j < count; j++)
        for (int l = 0; l < n; l++) c->preconditioned[l] += c->dots[j] * c->basis[j][l];
    precondition_apply(c, c->preconditioned, c->direction);
    for (int l = 0; l < n; l++) x[l] += c->direction[l];
}

// Returns true if the pivots of all columns are of similar size: the rotations then give the residual without another
// product. Redundant contacts violate this.
static bool krylov_is_regular(const pcs_krylov_set *c, int count)
{
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < count; i++) {
        double pivot = fabs(c->H[(size_t)i * (size_t)(c->restart + 2)]);
        least = fmin(least, pivot);
        most = fmax(most, pivot);
    }
    return least > regular * most;
}

// Solves J x = F and returns |F - J x|; stops when it is below `tolerance`, after KRYLOV_LIMIT products, or at a stall.
static double krylov_minimal(pcs_krylov_set *c, double tolerance)
{
    double *x = c->x;
    int n = c->p.n, used = 0;
    memset(x, 0, (size_t)n * sizeof *x);
    memcpy(c->rest, c->F, (size_t)n * sizeof *x);
    double size = all_norm(c, n, c->F), last = INFINITY;
    while (size > tolerance && used < KRYLOV_LIMIT && size < 0.9 * last) {
        last = size;
        for (int l = 0; l < n; l++) c->basis[0][l] = c->rest[l] / size;
        c->g[0] = size;
        int j = 0;
        for (double rest = size; j < c->restart && used < KRYLOV_LIMIT && rest > tolerance; j++, used++) {
            precondition_apply(c, c->basis[j], c->direction);
            set_linearised(c, c->direction, c->basis[j + 1]);
            krylov_orthogonalise(c, j);
            bool is_whole = c->H[(size_t)j * (size_t)(c->restart + 1) + (size_t)(j + 1)] <= 1e-16 * fabs(c->H[0]);
            rest = krylov_rotate(c, j);
            if (!isfinite(rest)) return NAN;
            if (is_whole) rest = 0.0; // the space is exhausted
        }
        krylov_combine(c, j);
        if (fabs(c->g[j]) <= tolerance && krylov_is_regular(c, j)) return fabs(c->g[j]);
        set_linearised(c, x, c->direction);
        used++;
        for (int l = 0; l < n; l++) c->rest[l] = c->F[l] - c->direction[l];
        size = all_norm(c, n, c->rest);
    }
    return size;
}

// Makes one Newton step to `tolerance`. Returns false if the linear system cannot be solved.
static bool set_newton(pcs_krylov_set *c, double norm, double tolerance)
{
    precondition_prepare(c);
    for (int i = 0; i < c->p.n; i++)
        if (i < set_first(c) || i >= set_last(c)) c->F[i] = 0.0;
    double rest = krylov_minimal(c, tolerance);
    c->rounds++;
    if (!(rest <= fmax(0.5 * norm, tolerance))) return false;
    for (int i = set_first(c); i < set_last(c); i++) c->p.z[i] += c->x[i] * pcs_contact_unit(&c->p, i);
    set_evaluate(c);
    return true;
}

// Returns true if these sets have been solved for before; otherwise stores their hash.
static bool set_is_seen(pcs_krylov_set *c)
{
    int process = pcs_rows_are_distributed(c->system) ? pcs_process_number(c->system->ctx) : 0;
    unsigned long long sum = 0, here = (unsigned long long)process << 40;
    for (int k = set_first(c); k < set_last(c); k++)
        sum += pcs_mix(here + (unsigned long long)k * 8 + c->mode[k] + PCS_MIX_STEP);
    sum = all_marks(c, sum);
    for (int i = 0; i < c->nseen && i < PCS_SEEN_SETS; i++)
        if (c->seen[i] == sum) return true;
    c->seen[c->nseen++ % PCS_SEEN_SETS] = sum;
    return false;
}

// Sets `tight` and `slack` from the sizes of the terms of the values. Ignores velocities of rows that open by
// themselves: with a law on positions they are gaps / h, and grow with the distance.
static void set_find_scales(pcs_krylov_set *c)
{
    double size = 0.0;
    for (int k = c->p.has_position ? 0 : c->p.m; k < c->p.n; k++) {
        bool opens = k < 2 * c->p.m && !c->p.rows[k % c->p.m].is_bilateral && c->p.b[k] > 0.0 && c->p.z[k] == 0.0;
        bool is_smooth = k >= 2 * c->p.m + c->p.nt; // acts on d, which is stiff: its size is not that of a velocity
        double speed = is_smooth ? 0.0 : fabs(c->p.z[k]) / (c->p.r[k] * pcs_contact_unit(&c->p, k));
        if (k >= c->p.m && !opens) speed = fmax(speed, fabs(c->p.b[k]));
        if (speed > size) size = speed;
    }
    size = pcs_rows_max(c->system, size);
    if (c->size == 0.0) c->least_size = size;
    size = fmax(size, c->least_size);
    // Adds no allowance for multipliers that were far larger before, although their round-off is left in the values.
    bool has_shrunk = size < 0.1 * c->size;
    if (has_shrunk) set_evaluate(c);
    c->size = has_shrunk ? size : fmax(c->size, size);
    c->solved_tol[1] = solved_rate * c->size;
    c->slack[1] = slack_rate * c->size;
    // Adds the round-off of a gap, which is a difference of positions that have been as far apart as it was large.
    if (c->stage & PCS_STAGE_GAP && c->p.held == NULL) c->reach = fmax(c->reach, all_largest(c, c->p.m, c->p.b));
    c->solved_tol[0] = solved_gap * (c->length + c->reach) / c->p.h + c->solved_tol[1];
    c->slack[0] = slack_gap * (c->length + c->reach) / c->p.h + c->slack[1];
}

// State of the iteration on one stage.
typedef struct krylov_round {
    long changed, fewest, unknowns; // numbers over all processes
    int idle, repeats, rescues;
    int thawed;                // rounds since the gate may change
    double norm, last, before; // residuals: present, last with these sets, of the round before
    double first;              // residual of the first round, 0 if none yet
    bool has_many;             // rows
    bool is_rounded_off;       // the equations hold up to round-off
} krylov_round;

// Replaces Newton's method, which has failed, by projections from coarse to fine. Returns false after enough attempts.
static bool set_rescue(pcs_krylov_set *c, krylov_round *s)
{
    if (c->p.is_hasty || s->rescues++ == 6) return false;
    gradient_solve(c, c->size * pow(10.0, -2.0 * s->rescues), SWEEPS);
    set_evaluate(c);
    c->nseen = 0;
    s->idle = s->repeats = 0;
    s->fewest = s->unknowns;
    s->last = INFINITY;
    return true;
}

// Checks whether the iteration has stalled at round-off, which ends it; otherwise calls the projections.
static bool set_recover(pcs_krylov_set *c, krylov_round *s)
{
    s->is_rounded_off = s->changed == 0 && set_is_rounded_off(c);
    return s->is_rounded_off || set_rescue(c, s);
}

// Returns the residual norm that ends the iteration, m/s; it grows with the number of unknowns that share the residual.
static double set_floor(const pcs_krylov_set *c, const krylov_round *s)
{
    double floor = 0.5 * fmin(c->solved_tol[1], c->stage & PCS_STAGE_GAP ? c->solved_tol[0] : INFINITY);
    double wide = floor * fmax(1.0, sqrt((double)s->unknowns) / spread);
    return s->norm > 10.0 * wide ? wide : floor;
}

// Returns the relative tolerance of the next linear system.
static double set_share(const pcs_krylov_set *c, krylov_round *s)
{
    bool may_be_inexact = s->idle == 0 && s->has_many;
    if (!c->p.gate_is_live) return may_be_inexact ? inexact_rtol : decided_rtol;
    if (s->first == 0.0) s->first = s->norm;
    return may_be_inexact && c->closures == 0
               ? fmax(decided_rtol, fmin(inexact_rtol, decided_rtol * s->first / s->norm))
               : decided_rtol;
}

// Makes one round: a Newton step, or projections if Newton's method cycles or stalls.
static bool set_round(pcs_krylov_set *c, krylov_round *s)
{
    bool is_seen = s->changed > 0 && set_is_seen(c);
    s->idle = s->changed < s->fewest ? 0 : s->idle + 1;
    s->fewest = s->changed < s->fewest ? s->changed : s->fewest;
    c->revisits += is_seen;
    s->repeats += is_seen;
    bool is_stuck = s->changed == 0 && s->norm > 0.5 * s->last;
    if (s->repeats > 1 || s->idle > IDLE_ROUNDS || is_stuck) return set_recover(c, s);
    double floor = set_floor(c, s), share = set_share(c, s);
    bool is_converged = s->changed == 0 && !set_slides(c);
    if (s->changed == 0 && s->norm < s->before) share = fmin(share, pow(s->norm / s->before, 2));
    s->before = s->norm;
    double tolerance = s->repeats > 0 || is_converged ? floor : fmax(floor, share * s->norm);
    s->last = s->changed == 0 ? s->norm : INFINITY;
    return set_newton(c, s->norm, tolerance) || set_recover(c, s);
}

static bool set_iterate(pcs_krylov_set *c, int stage)
{
    krylov_round s = { .last = INFINITY, .unknowns = all_count(c, c->p.n) };
    s.has_many = all_count(c, c->p.m) >= MANY_ROWS;
    s.fewest = s.unknowns;
    c->stage = stage;
    c->nseen = 0;
    // Starts with ties active: in a pile at rest only the lowest contacts feel the ground at first.
    memset(c->mode + set_first(c), PCS_MODE_HELD, (size_t)(set_last(c) - set_first(c)));
    set_evaluate(c);
    if (stage == PCS_STAGE_RATE && c->p.gate_is_live)
        for (int j = 0; j < c->p.m; j++) c->p.gate[j] = gate_is_closed(c, j);
    set_find_scales(c);
    s.changed = set_find_modes(c, false);
    if (stage == PCS_STAGE_BOTH)
        memset(c->gate_history, 0, (size_t)c->p.m); // the stored gates belong to another problem
    for (int round = 0; round < (c->p.is_hasty ? HASTY_ROUNDS : ROUNDS); round++, s.thawed++) {
        bool is_moved = set_clear_out(c);
        s.norm = set_residual(c);
        if (!isfinite(s.norm)) return false;
        bool is_stalled = s.changed == 0 && s.norm > 0.5 * s.last, is_frozen = s.thawed > FREEZE_GATE_AFTER;
        // Accepts round-off only if the active sets belong to the present z.
        s.is_rounded_off = s.is_rounded_off && s.changed == 0 && !is_moved;
        bool is_contradicted = c->shared > 0.0 && is_stalled && !is_moved && round >= REFINEMENTS;
        bool is_enough = (is_stalled && c->ratio <= acceptable) || s.is_rounded_off || is_contradicted;
        if ((!is_moved && c->ratio <= 1.0) || is_enough) {
            if (!is_frozen) return true;
            // Lets the gate change once the problem is solved for a fixed gate.
            s.thawed = 0;
            gate_close(c);
            s.changed = set_find_modes(c, false);
            if (s.changed == 0) return true;
            s.last = INFINITY;
            continue;
        }
        if (!set_round(c, &s)) return false;
        set_find_scales(c);
        s.changed = set_find_modes(c, is_frozen);
    }
    return false;
}

// Clears negative position multipliers, which are round-off. Returns true if there was one: the velocity law then has
// to be solved again, since the round-off of a gap is large for a velocity.
static bool set_clear_gaps(pcs_krylov_set *c)
{
    long count = 0;
    for (int j = 0; j < c->p.m; j++) {
        if (c->p.rows[j].is_bilateral || c->p.z[j] >= 0.0) continue;
        c->p.z[j] = 0.0;
        count++;
    }
    return all_count(c, count) > 0;
}

// Clears negative normal impulses and projects friction onto its discs.
static void set_clear_rates(pcs_krylov_set *c)
{
    for (int j = 0; j < c->p.m; j++)
        if (!c->p.rows[j].is_bilateral) c->p.z[c->p.m + j] = fmax(c->p.z[c->p.m + j], 0.0);
    pcs_contact_put_on_discs(&c->p);
}

bool pcs_krylov_set_solve(pcs_krylov_set *c)
{
    pcs_contact_even_out(&c->p);
    memset(c->gate_history, 0, (size_t)c->p.m);
    c->rounds = c->products = c->revisits = c->projections = 0;
    c->size = 0.0;
    if (c->p.held != NULL) {
        if (!set_iterate(c, PCS_STAGE_BOTH)) return false;
    } else if (!c->p.has_position) {
        memset(c->p.z, 0, (size_t)c->p.m * sizeof *c->p.z);
        if (!set_iterate(c, PCS_STAGE_RATE)) return false;
    } else {
        if (!set_iterate(c, c->is_one_sided ? PCS_STAGE_GAP : PCS_STAGE_BOTH)) return false;
        bool is_cleared = set_clear_gaps(c);
        if ((c->is_one_sided || is_cleared) && !set_iterate(c, PCS_STAGE_RATE)) return false;
    }
    set_clear_rates(c);
    return true;
}
