#include "step/preconditioner.h"

#include "core/matrix.h"
#include "core/rounding.h"

#include <math.h>
#include <string.h>

// The lower triangle of a sparse symmetric matrix and its factor L D L^T within that pattern, exact for chains:
// points with their neighbours, numbered breadth-first (Cuthill, McKee 1969).
typedef struct triangle {
    int n, room, terms;         // points; allocated numbers of neighbours and of entries
    int *head, *next;           // [n + 1], [room] neighbours of each point
    int *place;                 // [n] work
    int *order, *rank;          // [n] point at a place, place of a point
    int *below, *left, *source; // [n + 1], [terms] rows: first entries, columns, which of the neighbours
    double *L, *D, *x;          // [terms], [n], [n] the matrix, then its factor; work
} triangle;

// M and Ss = S*/c between the equations that contact rows touch and those that move alike with them: how contacts feel
// each other through a body.
typedef struct pcs_coupling {
    const pcs_system *system;
    const pcs_rows *G, *T; // contact rows; T is NULL without friction
    bool is_local;         // the rows are those of this rank alone
    double *beyond[3];     // [copies of the rows' halo] diagonals of M, S* and C there; NULL if there is no halo
    int room;              // allocated number of equations
    int count;             // number of equations, ascending
    int *place;            // [nv] place of an equation among them, or -1
    int *equation;         // [room] equations
    int *first, *line;     // [room + 1], [entries] nonzero entries by columns, of
    double *mass, *more;   // M, Ss - M
    double *u[2], *y[2];   // [room] input of the products, and products
    bool joins;            // some off-diagonal entry is not small
    bool has_patches;      // there are many contacts with friction, and a single rank
} pcs_coupling;

// Motions in common of equations that a body joins firmly, a second level for preconditioner.h. Where contacts slide,
// bodies move beside each other, and a stretch of a body moves as a whole at the price of its mass, while every single
// equation of it resists by its stiffness. With E, patches of such equations that move alike,
//
//   w + E (E^T T E)^-1 E^T   in place of   w,   so that   B' = B + V (E^T T E)^-1 V^T,   V = R E,
//
// and the preconditioner becomes B'^-1 (N' + X) B'^-1 with the same change in N. By the formula of Woodbury all of it
// comes from solves with B and with the smaller matrix  C = E^T T E + V^T B^-1 V  (two-level method of domain
// decomposition with rigid motions, Farhat, Chen, Mandel 1995):
//
//   a = C^-1 V^T B^-1 r,   x = B^-1 (r - V a),   f = T (w R^T x + E a),   y = R w f + X x
//   B^-1 (y + V b),   b = C^-1 (E^T f - V^T B^-1 y)
//
// Patches are found along the strong entries of S* between equations that tangents touch. They are as long as a stretch
// has to be for its mass to resist as much as its stiffness does, and so feel their neighbours only: C joins patches
// that T or a chain of rows joins, and its factor L D L^T stays within that pattern.

typedef struct coarse_level {
    int count;            // number of patches; 0 if there is no second level
    int most;             // allocated size of `columns`
    int *patch;           // [equations of the coupling] patch of an equation, or -1
    double *share;        // [equations of the coupling] A_kk
    int *queue, *chain;   // [equations of the coupling] ordered by chains, [equations + 1] first of a chain
    int *size;            // [equations of the coupling] equations per patch of a chain, 0 if it has no patches
    int *from;            // [room + 1] first place of a patch in `queue`
    int *begin, nchain;   // [rows + 1] first row of each chain of rows, in the order of the factor
    int *group, *joined;  // [rows + 1], [entries of the rows] patches coupled by a chain of rows
    int *in, *of;         // [room + 2], [entries of the rows] chains of rows that contain a patch
    triangle C;           // C.place: local place of a patch in a chain of rows
    double *A, *diagonal; // [entries below the diagonal of C], [room] E^T T E
    double *a;            // [room]
    int *member;          // [room] patches of a chain of rows
    int *begins;          // [room] first rows of the patches of a chain
    double *columns;      // [most] D^-1/2 L^-1 V of a chain
    bool is_ready;        // C is factored
} coarse_level;

struct pcs_preconditioner {
    const pcs_step_solver *solver;
    const pcs_rows *part[2];  // rows: those of part[0], then those of part[1], which may be NULL
    int n, room;              // number of rows of both, and allocated number of entries
    int nterm;                // number of entries of the rows
    int *partner;             // [n] other tangent of the contact, or the row itself
    int *first;               // [n + 1] first entries of the rows
    int *column, *row, *from; // [room] equations and rows of the nonzero entries, their places in the part
    int *at;                  // [room] places of the equations in the coupling
    double *value;            // [room] R_ik w_ik^1/2
    double *pull, *share;     // [room] R_ik w_ik and A_kk
    double *mass, *stiff;     // [room] M_kk and S*_kk, on all ranks
    double *damping;          // [room] C_kk
    int *start, *touching;    // [nv + 2], [room] entries that touch each equation, by row
    triangle B;
    double *whole, *entries; // of B with all rows in, and of B
    // the coupling of contacts through bodies
    pcs_coupling *coupling;
    coarse_level *coarse; // NULL for rows without tangents, and with several ranks
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

enum { NEAR = 12 };               // room for equations that move alike, per entry of a row
enum { MANY = 16 };               // contacts from which on patches pay
static const double small = 0.05; // least entry between touched equations over their diagonals that coupling regards
static const double lost = 1e-12; // least pivot of C over its diagonal: below it nothing but round-off is left
// Smallest ratio of an off-diagonal entry to the diagonals from which on two equations move alike.
static const double strong = 0.45;

static pcs_status triangle_take(pcs_context *ctx, int n, int room, int terms, triangle *t)
{
    t->n = n;
    t->room = room;
    t->terms = terms;
    PCS_TAKE_EACH(ctx, n + 1, "the preconditioner", int, &t->head, &t->place, &t->order, &t->rank, &t->below);
    PCS_TAKE(ctx, t->next, room, "the preconditioner");
    PCS_TAKE_EACH(ctx, terms, "the preconditioner", int, &t->source, &t->left);
    PCS_TAKE(ctx, t->L, terms, "the preconditioner");
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

// Orders the points breadth-first through their neighbours, chain after chain: those first that begin at a point with
// at most `least` neighbours, then with one more, six at last.
static void triangle_order(triangle *t, int least)
{
    int count = 0, head = 0;
    for (int i = 0; i < t->n; i++) t->rank[i] = -1;
    for (; count < t->n; least = least < 6 ? least + 1 : t->n)
        for (int i = 0; i < t->n; i++) {
            if (t->rank[i] >= 0 || t->head[i + 1] - t->head[i] > least) continue;
            t->rank[i] = count;
            t->order[count++] = i;
            for (; head < count; head++) {
                int at = t->order[head];
                for (int p = t->head[at]; p < t->head[at + 1]; p++) {
                    if (t->rank[t->next[p]] >= 0) continue;
                    t->rank[t->next[p]] = count;
                    t->order[count++] = t->next[p];
                }
            }
        }
}

// Finds the pattern: for each point its neighbours that precede it, ascending. Returns false if memory is too small.
static bool triangle_find(triangle *t, int least)
{
    int count = 0;
    triangle_order(t, least);
    for (int i = 0; i < t->n; i++) {
        t->below[i] = count;
        for (int p = t->head[t->order[i]]; p < t->head[t->order[i] + 1]; p++) {
            int place = t->rank[t->next[p]], at = count;
            if (place >= i) continue;
            if (count++ == t->terms) return false;
            for (; at > t->below[i] && t->left[at - 1] > place; at--) {
                t->left[at] = t->left[at - 1];
                t->source[at] = t->source[at - 1];
            }
            t->left[at] = place;
            t->source[at] = p;
        }
    }
    t->below[t->n] = count;
    return true;
}

// Factors the matrix in place. A pivot lost to dropped entries is replaced by the diagonal, or ends it: returns false.
static bool triangle_factor(triangle *t, double least, bool replaces)
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
        if (!(pivot > least * diagonal) && !replaces) return false;
        t->D[i] = pivot > least * diagonal ? pivot : diagonal;
    }
    return true;
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
    int widest = 0, ncontact = 0, ncopy = G->halo == NULL ? 0 : G->halo->ncopy;
    for (int j = 0; j < system->nrow; j++) ncontact += !system->rows[j].is_bilateral;
    for (int k = 0; k < pattern->n; k++) {
        int width = pattern->start[k + 1] - pattern->start[k];
        widest = width > widest ? width : widest;
    }
    PCS_TAKE(ctx, self, 1, "the preconditioner");
    *self = (pcs_coupling){ .system = system, .G = G, .T = T, .is_local = system->row_comm != NULL };
    self->has_patches = system->layout == NULL && ncontact >= MANY && T != NULL;
    long room = self->has_patches ? NEAR * terms : terms;
    self->room = room < system->nv ? (int)room : system->nv;
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

// Adds an equation to the list unless it is in it, or the list is full.
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

// Adds equations that move alike with those in the list, ring by ring, if there are patches; then sorts all.
static void coupling_widen(pcs_coupling *self, const pcs_pattern *pattern, const pcs_matrix *S)
{
    for (int at = 0; at < self->count && self->has_patches && S != NULL; at++) {
        int j = self->equation[at];
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
            double size = pcs_matrix_diagonal(S, pattern->row[p]) * pcs_matrix_diagonal(S, j);
            bool is_alike = size > 0.0 && -coupling_entry(pattern, S, p, j) >= strong * sqrt(size);
            if (is_alike) coupling_note(self, pattern->row[p]);
        }
    }
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

// Lists the nonzero entries of M and Ss - M. Of an equation of another rank only the diagonal is known.
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
    coupling_widen(self, M->pattern, S);
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

enum { FEWEST = 4, WIDTH = 32, TERMS = 32 }; // equations of a patch; columns of a chain, entries of C, for a row
static const double reach = 0.75;            // length of a patch, against that over which masses resist stiffness

static pcs_status coarse_create(pcs_context *ctx, const pcs_preconditioner *pre, coarse_level **out)
{
    coarse_level *self;
    int equations = pre->coupling->room, room = equations / 2 + 1;
    PCS_TAKE(ctx, self, 1, "the preconditioner");
    self->most = WIDTH * pre->n;
    PCS_TAKE_EACH(ctx, equations + 1, "the preconditioner", int, &self->patch, &self->queue, &self->chain, &self->size);
    PCS_TAKE_EACH(ctx, room + 2, "the preconditioner", int, &self->member, &self->in, &self->from, &self->begins);
    PCS_TAKE_EACH(ctx, pre->n + 1, "the preconditioner", int, &self->begin, &self->group);
    PCS_TAKE_EACH(ctx, pre->room, "the preconditioner", int, &self->joined, &self->of);
    PCS_TAKE_EACH(ctx, room, "the preconditioner", double, &self->diagonal, &self->a);
    PCS_TAKE(ctx, self->share, equations, "the preconditioner");
    PCS_TAKE(ctx, self->A, TERMS * pre->n, "the preconditioner");
    PCS_TAKE(ctx, self->columns, self->most, "the preconditioner");
    *out = self;
    return triangle_take(ctx, room, 2 * TERMS * pre->n, TERMS * pre->n, &self->C);
}

// Equations that tangents touch, or none, are candidates; the others have no patch.
enum { NONE = -1, CANDIDATE = -2 };

static void coarse_mark(coarse_level *self, const pcs_preconditioner *pre)
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
static bool coarse_is_strong(const coarse_level *self, const pcs_coupling *c, const double *diagonal, int p, int j)
{
    int i = c->line[p];
    double entry = c->mass[p] + c->more[p], size = diagonal[i] * diagonal[j];
    return i != j && self->patch[i] == CANDIDATE && size > 0.0 && -entry >= strong * sqrt(size);
}

// Finds chains of candidates along their strong entries, ends first. Returns their number.
static int coarse_chains(coarse_level *self, const pcs_coupling *c, const double *diagonal)
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
static void coarse_spread(coarse_level *self, int nchain)
{
    for (int k = 0; k < nchain; k++) {
        double most = 0.0;
        for (int at = self->chain[k]; at < self->chain[k + 1]; at++) most = fmax(most, self->share[self->queue[at]]);
        for (int at = self->chain[k]; at < self->chain[k + 1]; at++)
            if (self->share[self->queue[at]] == 0.0) self->share[self->queue[at]] = most;
    }
}

// Finds the number of equations per patch of each chain: the length over which stiffness resists as much as mass does.
static void coarse_measure(coarse_level *self, const pcs_coupling *c, int nchain)
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
static void coarse_cut(coarse_level *self, int nchain, int times)
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
static void coarse_find_rows(coarse_level *self, const pcs_preconditioner *pre)
{
    int least = pre->n, count = 0;
    // From the end on: a chain begins where nothing behind it looks further back.
    for (int i = pre->n - 1; i >= 0; i--) {
        if (pre->B.below[i] < pre->B.below[i + 1] && pre->B.left[pre->B.below[i]] < least)
            least = pre->B.left[pre->B.below[i]];
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
static int coarse_gather(coarse_level *self, const pcs_preconditioner *pre, int lo, int hi)
{
    int count = 0;
    for (int i = lo; i < hi; i++)
        for (int e = pre->first[pre->B.order[i]]; e < pre->first[pre->B.order[i] + 1]; e++) {
            int patch = self->patch[pre->at[e]];
            if (patch < 0 || (self->C.place[patch] < count && self->member[self->C.place[patch]] == patch)) continue;
            self->C.place[patch] = count;
            self->member[count++] = patch;
        }
    return count;
}

// Finds the patches that each chain of rows couples. Returns false if there is too little memory.
static bool coarse_find_groups(coarse_level *self, const pcs_preconditioner *pre)
{
    int total = 0;
    memset(self->C.place, 0, (size_t)self->count * sizeof *self->C.place);
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

// Finds the patches that a chain of rows or an entry of T couples. Returns false if there is too little memory.
static bool coarse_find_neighbours(coarse_level *self, const pcs_coupling *c)
{
    triangle *t = &self->C;
    int count = 0;
    t->n = self->count;
    for (int i = 0; i < t->n; i++) t->place[i] = -1;
    for (int i = 0; i < t->n; i++) {
        t->head[i] = count;
        t->place[i] = i;
        for (int p = self->in[i]; p < self->in[i + 1]; p++)
            for (int q = self->group[self->of[p]]; q < self->group[self->of[p] + 1]; q++)
                if (!triangle_enter(t, i, self->joined[q], &count)) return false;
        for (int at = self->from[i]; at < self->from[i + 1] && self->patch[self->queue[at]] == i; at++)
            for (int p = c->first[self->queue[at]]; p < c->first[self->queue[at] + 1]; p++) {
                int j = self->patch[c->line[p]];
                if (j >= 0 && !triangle_enter(t, i, j, &count)) return false;
            }
    }
    t->head[t->n] = count;
    return true;
}

// Returns the address of the entry of patches a and b in a triangle with its diagonal.
static double *coarse_entry(const triangle *t, int a, int b, double *entries, double *diagonal)
{
    int i = t->rank[a] > t->rank[b] ? t->rank[a] : t->rank[b], j = t->rank[a] + t->rank[b] - i;
    if (i == j) return &diagonal[i];
    int low = t->below[i], high = t->below[i + 1];
    while (low < high) {
        int middle = (low + high) / 2;
        if (t->left[middle] < j) low = middle + 1;
        else high = middle;
    }
    return &entries[low];
}

// Sums E^T T E into A and `diagonal`.
static void coarse_weigh(coarse_level *self, const pcs_coupling *c)
{
    memset(self->A, 0, (size_t)self->C.below[self->count] * sizeof *self->A);
    memset(self->diagonal, 0, (size_t)self->count * sizeof *self->diagonal);
    for (int j = 0; j < c->count; j++)
        for (int p = c->first[j]; p < c->first[j + 1] && self->patch[j] >= 0; p++) {
            int i = c->line[p], a = self->patch[i], b = self->patch[j];
            if (a < 0) continue;
            double entry = c->mass[p] + self->share[i] * self->share[j] * c->more[p];
            *coarse_entry(&self->C, a, b, self->A, self->diagonal) += a == b ? entry : 0.5 * entry;
        }
}

// Finds patches, doubling their length until C fits into its memory. Returns false if there are none.
static bool coarse_find_patches(coarse_level *self, const pcs_preconditioner *pre, int nchain)
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
        if (triangle_find(&self->C, self->count)) return true;
    }
    return false;
}

// Finds new patches, after the coupling and the rows have been filled.
static void coarse_fill(coarse_level *self, const pcs_preconditioner *pre)
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
static void coarse_substitute(coarse_level *self, const pcs_preconditioner *pre, int count, int lo, int hi)
{
    int size = hi - lo;
    memset(self->columns, 0, (size_t)count * (size_t)size * sizeof *self->columns);
    for (int k = 0; k < count; k++) self->begins[k] = hi;
    for (int i = lo; i < hi; i++) {
        int row = pre->B.order[i];
        for (int e = pre->first[row]; e < pre->first[row + 1] && pre->is_in[row]; e++) {
            if (self->patch[pre->at[e]] < 0) continue;
            int k = self->C.place[self->patch[pre->at[e]]];
            self->columns[k * size + i - lo] += direction_of(pre, e);
            if (i < self->begins[k]) self->begins[k] = i;
        }
    }
    for (int k = 0; k < count; k++) {
        double *y = self->columns + (size_t)k * (size_t)size - lo;
        for (int i = self->begins[k]; i < hi; i++)
            for (int e = pre->B.below[i]; e < pre->B.below[i + 1]; e++) y[i] -= pre->B.L[e] * y[pre->B.left[e]];
        for (int i = self->begins[k]; i < hi; i++) y[i] /= sqrt(pre->B.D[i]);
    }
}

// Factors C for the present rows, once B is factored.
static void coarse_factor(coarse_level *self, const pcs_preconditioner *pre)
{
    if (self->count == 0) return;
    triangle *t = &self->C;
    memcpy(t->L, self->A, (size_t)t->below[t->n] * sizeof *t->L);
    memcpy(t->D, self->diagonal, (size_t)t->n * sizeof *t->D);
    for (int k = 0; k < self->nchain; k++) {
        int lo = self->begin[k], hi = self->begin[k + 1], count = self->group[k + 1] - self->group[k];
        const int *member = self->joined + self->group[k];
        for (int a = 0; a < count; a++) t->place[member[a]] = a;
        coarse_substitute(self, pre, count, lo, hi);
        for (int a = 0; a < count; a++)
            for (int b = 0; b <= a; b++) {
                const double *x = self->columns + (size_t)a * (size_t)(hi - lo) - lo,
                             *y = self->columns + (size_t)b * (size_t)(hi - lo) - lo;
                double sum = 0.0;
                for (int i = self->begins[self->begins[a] > self->begins[b] ? a : b]; i < hi; i++) sum += x[i] * y[i];
                *coarse_entry(t, member[a], member[b], t->L, t->D) += sum;
            }
    }
    self->is_ready = triangle_factor(t, lost, false);
}

// Solves a = C^-1 (a - V^T x).
static void coarse_solve(const coarse_level *self, const pcs_preconditioner *pre, const double *x, double *a)
{
    for (int e = 0; e < pre->nterm; e++) {
        int patch = self->patch[pre->at[e]];
        if (patch >= 0 && pre->is_in[pre->row[e]]) a[patch] -= direction_of(pre, e) * x[pre->row[e]];
    }
    triangle_solve(&self->C, a);
}

// Adds V a to x.
static void coarse_add(const coarse_level *self, const pcs_preconditioner *pre, const double *a, double *x)
{
    for (int e = 0; e < pre->nterm; e++) {
        int patch = self->patch[pre->at[e]];
        if (patch >= 0 && pre->is_in[pre->row[e]]) x[pre->row[e]] += direction_of(pre, e) * a[patch];
    }
}

enum { MOST_PER_ROW = 40 }; // entries of a row of B, on average
// Proximal weight over the diagonal, sqrt(eps): the error that it makes equals the round-off of a solve with redundant
// rows. It must stay below the eigenvalues of a chain of l contacts, down to (pi / 2 l)^2.
static const double proximal = 1e-8;

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
    return triangle_take(ctx, n, most, most, &self->B);
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
    return coupling->has_patches && with_tangents ? coarse_create(solver->ctx, self, &self->coarse) : PCS_OK;
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

// Finds the columns of B. A tangent brings the other one of its contact: the direction of slip couples them, and the
// fill of a chain has its place. Returns false if there are too many.
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
        if (self->is_sparse) (void)triangle_find(&self->B, 1);
    }
    if (!self->is_sparse) return;
    preconditioner_weigh(self, S, share);
    memset(self->whole, 0, (size_t)self->B.head[self->n] * sizeof *self->whole);
    // Sums go along the entries of a row, in the same order on every rank.
    for (int i = 0; i < self->n; i++) {
        for (int p = self->B.head[i]; p < self->B.head[i + 1]; p++) self->B.place[self->B.next[p]] = p;
        for (int e = self->first[i]; e < self->first[i + 1]; e++)
            for (int t = self->start[self->column[e]]; t < self->start[self->column[e] + 1]; t++) {
                int other = self->touching[t];
                self->whole[self->B.place[self->row[other]]] += self->value[e] * self->value[other];
            }
        self->whole[self->B.place[i]] *= 1.0 + proximal;
    }
    if (self->coarse != NULL) coarse_fill(self->coarse, self);
}

void pcs_preconditioner_choose(pcs_preconditioner *self, const unsigned char *is_in)
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

void pcs_preconditioner_add(pcs_preconditioner *self, int i, int j, double value)
{
    if (!self->is_sparse) return;
    int p = self->B.head[i];
    while (self->B.next[p] != j) p++;
    self->entries[p] += value;
    *(i == j ? &self->own[i] : &self->paired[i]) += value;
}

void pcs_preconditioner_factor(pcs_preconditioner *self)
{
    triangle *t = &self->B;
    if (!self->is_sparse) return;
    for (int e = 0; e < t->below[t->n]; e++) t->L[e] = self->entries[t->source[e]];
    for (int i = 0; i < t->n; i++) t->D[i] = self->entries[t->head[t->order[i]]]; // comes first in its row
    (void)triangle_factor(t, proximal, true);
    self->is_factored = true;
    if (self->coarse != NULL) coarse_factor(self->coarse, self);
}

// Computes y = (N + X) x, including the coarse motions.
static void preconditioner_couple(const pcs_preconditioner *self, const double *x, const coarse_level *coarse)
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
    coupling_multiply(c);
    for (int i = 0; i < self->n; i++) {
        y[i] = 0.0;
        for (int e = self->first[i]; e < self->first[i + 1] && self->is_in[i]; e++)
            y[i] += self->pull[e] * (c->y[0][self->at[e]] + self->share[e] * c->y[1][self->at[e]]);
    }
    if (!c->is_local) pcs_system_sum(c->system, self->n, y);
    for (int i = 0; i < self->n; i++) y[i] += self->own[i] * x[i] + self->paired[i] * x[self->partner[i]];
}

// Returns the coarse level, or NULL if it is not ready.
static const coarse_level *preconditioner_coarse(const pcs_preconditioner *self)
{
    return self->coarse != NULL && self->coarse->is_ready ? self->coarse : NULL;
}

// Solves x = B'^-1 x, and for the coarse motions a.
static void preconditioner_begin(pcs_preconditioner *self, double *x)
{
    const coarse_level *coarse = preconditioner_coarse(self);
    if (coarse != NULL) {
        memcpy(self->y, x, (size_t)self->n * sizeof *x);
        triangle_solve(&self->B, self->y);
        memset(coarse->a, 0, (size_t)coarse->count * sizeof *coarse->a);
        coarse_solve(coarse, self, self->y, coarse->a); // -a
        coarse_add(coarse, self, coarse->a, x);
        for (int k = 0; k < coarse->count; k++) coarse->a[k] = -coarse->a[k];
    }
    triangle_solve(&self->B, x);
}

// Solves x = B'^-1 y', where y' is y and the action of the coupling on the coarse motions.
static void preconditioner_end(pcs_preconditioner *self, double *x)
{
    const coarse_level *coarse = preconditioner_coarse(self);
    const pcs_coupling *c = self->coupling;
    memcpy(x, self->y, (size_t)self->n * sizeof *x);
    if (coarse != NULL) {
        memset(coarse->a, 0, (size_t)coarse->count * sizeof *coarse->a);
        for (int k = 0; k < c->count; k++)
            if (coarse->patch[k] >= 0) coarse->a[coarse->patch[k]] += c->y[0][k] + coarse->share[k] * c->y[1][k];
        triangle_solve(&self->B, self->y);
        coarse_solve(coarse, self, self->y, coarse->a);
        coarse_add(coarse, self, coarse->a, x);
    }
    triangle_solve(&self->B, x);
}

void pcs_preconditioner_solve(pcs_preconditioner *self, double *x)
{
    preconditioner_begin(self, x);
    if (!self->coupling->joins) return;
    preconditioner_couple(self, x, preconditioner_coarse(self));
    preconditioner_end(self, x);
}

pcs_status pcs_preconditioners_create(pcs_step_solver *solver, const pcs_rows *G, const pcs_rows *T,
                                      pcs_preconditioner *pair[2])
{
    pcs_coupling *coupling;
    PCS_TRY(coupling_create(solver->ctx, solver->system, G, T, &coupling));
    PCS_TRY(preconditioner_create(solver, false, coupling, &pair[0]));
    return preconditioner_create(solver, true, coupling, &pair[1]);
}

// Gaps depend on S*, velocities as far as W moves positions.
void pcs_preconditioners_fill(pcs_preconditioner *const pair[2], const pcs_matrix *S)
{
    const pcs_step_solver *solver = pair[1]->solver;
    const pcs_step_form *form = &solver->form;
    double way = form->kb > 0.0 ? 1.0 / form->kb : 0.0, rub = form->has_position ? 0.5 * form->h : 0.0;
    coupling_fill(pair[1]->coupling, solver->mass->A, S, form);
    if (form->has_position) preconditioner_fill(pair[0], S, (const double[2]){ 1.0, 1.0 });
    preconditioner_fill(pair[1], S, (const double[2]){ fmin(1.0, form->kw * way), fmin(1.0, (form->kw + rub) * way) });
}

bool pcs_preconditioner_is_ready(const pcs_preconditioner *self)
{
    return self != NULL && self->is_factored;
}
