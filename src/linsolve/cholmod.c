// Sparse Cholesky factors of positive definite matrices (CHOLMOD).
//
// Chains keep their numbering, other patterns are ordered by minimum degree and, where that takes more than 500
// operations per entry (lattices in space), by nested dissection if it is better. A simplicial L D L' factor solves
// faster than a supernodal one, on chains and frames five times, and is as fast to compute up to about a hundred
// operations per entry; above that the factor is supernodal (L L').
//
// `substructures` solves equations that are distributed over ranks. Own equations that couple with one of a lower rank
// form the interface S, all others the interiors I, one for each rank, which do not couple with each other. Each rank
// factors its interior with the part of the interface that it couples with, as it stands in A,
//
//   [A_II A_IS]   [L_II   0 ] [L_II   0 ]^T
//   [A_SI A_SS] = [L_SI L_SS] [L_SI L_SS]   ,  so that its share of the Schur complement is
//   -A_SI A_II^-1 A_IS = L_SS L_SS^T - A_SS.
//
// Forward substitution from (b_I, 0) gives (w_I, w_S) and the share L_SS w_S = -A_SI A_II^-1 b_I of the right side.
// All ranks solve the sum for x_S by dense factors; backward substitution from (w_I, L_SS^T x_S) gives (x_I, x_S). So a
// solve takes one pass over each rank's factor and one sum (Smith, Bjorstad, Gropp: Domain decomposition, 1996, ch. 4).

#include "linsolve/linsolve.h"

#include "core/dense.h"

#include <cholmod.h>
#include <string.h>

typedef struct cholmod_data {
    cholmod_common common;
    cholmod_sparse view; // of the values of A, upper triangle
    cholmod_factor *L;
    cholmod_dense *X, *Y, *E; // kept workspaces of the solve
} cholmod_data;

static const char *cholmod_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    if (kind != PCS_SPD) return "it is for symmetric positive definite matrices";
    return pattern->n == 0 ? "there are no equations" : NULL;
}

static void cholmod_release(void *object)
{
    cholmod_data *d = object;
    cholmod_free_dense(&d->X, &d->common);
    cholmod_free_dense(&d->Y, &d->common);
    cholmod_free_dense(&d->E, &d->common);
    cholmod_free_factor(&d->L, &d->common);
    cholmod_finish(&d->common);
}

static pcs_status cholmod_fault(pcs_linsolve *self, const char *during)
{
    cholmod_data *d = self->data;
    if (d->common.status == CHOLMOD_TOO_LARGE || d->common.status == CHOLMOD_OUT_OF_MEMORY)
        return pcs_fail(self->ctx, PCS_NO_MEMORY,
                        "out of memory during the %s of %d equations; `linear: petsc` with -- -pc_type bjacobi needs "
                        "no factor",
                        during, self->A->pattern->n);
    return pcs_fail(self->ctx, PCS_FAILED, "CHOLMOD status %d during the %s", d->common.status, during);
}

static void cholmod_choose_method(cholmod_common *c, bool is_ordered)
{
    c->print = 0;
    c->error_handler = NULL;
    c->try_catch = 1;
    c->nmethods = is_ordered ? 1 : 0; // 0: AMD, then METIS where AMD's fill is heavy
    if (is_ordered) c->method[0].ordering = CHOLMOD_NATURAL;
    c->postorder = !is_ordered;
    c->supernodal = CHOLMOD_AUTO;
    c->supernodal_switch = 100.0;
    c->final_ll = 0;
    c->quick_return_if_not_posdef = 1;
}

// Describes the upper triangle of a matrix by its pattern, which is only read, and its values.
static void cholmod_describe(cholmod_sparse *view, int n, size_t nnz, const int *start, const int *row, double *value)
{
    *view = (cholmod_sparse){
        .nrow = (size_t)n,
        .ncol = (size_t)n,
        .nzmax = nnz,
        .x = value,
        .stype = 1,
        .itype = CHOLMOD_INT,
        .xtype = value == NULL ? CHOLMOD_PATTERN : CHOLMOD_REAL,
        .dtype = CHOLMOD_DOUBLE,
        .packed = 1,
    };
    memcpy(&view->p, &start, sizeof view->p); // a cholmod_sparse has no const members
    memcpy(&view->i, &row, sizeof view->i);
}

static pcs_status cholmod_begin(pcs_linsolve *self)
{
    cholmod_data *d = self->data;
    if (!cholmod_start(&d->common)) return cholmod_fault(self, "start");
    return pcs_defer(self->ctx, cholmod_release, d);
}

static pcs_status cholmod_analyze_view(pcs_linsolve *self)
{
    cholmod_data *d = self->data;
    d->L = cholmod_analyze(&d->view, &d->common);
    self->entries = d->common.lnz;
    return d->L == NULL ? cholmod_fault(self, "analysis") : PCS_OK;
}

static pcs_status cholmod_analyze_pattern(pcs_linsolve *self)
{
    cholmod_data *d = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    PCS_TRY(cholmod_begin(self));
    cholmod_choose_method(&d->common, pattern->chain_block > 0);
    cholmod_describe(&d->view, pattern->n, (size_t)pattern->nnz, pattern->start, pattern->row, self->A->value);
    d->view.sorted = 1;
    return cholmod_analyze_view(self);
}

// The entries of column j of a factor from its diagonal on: those of a supernode, a dense block of columns, stand in
// the rows that all its columns share.
typedef struct cholmod_column {
    int count;
    const int *row;      // [count]
    const double *value; // [count]
} cholmod_column;

// Returns column j; *supernode is the one that holds it or an earlier one, 0 for the first call.
static cholmod_column cholmod_get_column(const cholmod_factor *L, int j, int *supernode)
{
    if (!L->is_super) {
        int start = ((const int *)L->p)[j];
        return (cholmod_column){ ((const int *)L->nz)[j], (const int *)L->i + start, (const double *)L->x + start };
    }
    const int *super = L->super, *rows = L->pi, *place = L->px;
    while (super[*supernode + 1] <= j) ++*supernode;
    int s = *supernode, k = j - super[s], height = rows[s + 1] - rows[s];
    return (cholmod_column){ height - k, (const int *)L->s + rows[s] + k,
                             (const double *)L->x + place[s] + k * (height + 1) };
}

// Returns the first equation whose pivot is not positive beyond round-off, or -1. `number` are the equations of the
// columns, [count].
static int cholmod_bad_pivot(const pcs_matrix *A, const cholmod_factor *L, int count, const int *number)
{
    for (int j = 0, supernode = 0; j < count; j++) {
        double pivot = cholmod_get_column(L, j, &supernode).value[0]; // D_jj of L D L', else L_jj
        if (L->is_ll) pivot *= pivot;
        if (!pcs_pivot_is_positive(pivot, pcs_matrix_diagonal(A, number[j]))) return number[j];
    }
    return -1;
}

// Solves A x = x, or with one factor L or L', into d->X.
static bool cholmod_solve_into_x(cholmod_data *d, int system, double *x)
{
    // Restores the shape of a workspace: a simplicial solve changes it to that of its last block of right-hand sides,
    // and would allocate a new one next time.
    if (d->Y != NULL && !d->L->is_super) d->Y->nrow = d->Y->d = d->Y->nzmax / d->Y->ncol;
    cholmod_dense rhs = { .nrow = d->view.nrow,
                          .ncol = 1,
                          .nzmax = d->view.nrow,
                          .d = d->view.nrow,
                          .x = x,
                          .xtype = CHOLMOD_REAL,
                          .dtype = CHOLMOD_DOUBLE };
    return cholmod_solve2(system, d->L, &rhs, NULL, &d->X, NULL, &d->Y, &d->E, &d->common);
}

// Allocates the workspaces that all solves reuse, by a first solve.
static pcs_status cholmod_take_workspaces(pcs_linsolve *self)
{
    cholmod_data *d = self->data;
    if (d->X != NULL) return PCS_OK;
    double *zero = pcs_scratch(NULL, d->view.nrow, sizeof *zero);
    if (zero == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory for the workspaces of the solve");
    memset(zero, 0, d->view.nrow * sizeof *zero);
    bool is_done = cholmod_solve_into_x(d, CHOLMOD_A, zero);
    pcs_scratch_free(zero);
    return is_done ? PCS_OK : cholmod_fault(self, "first solve");
}

static pcs_status cholmod_factor_values(pcs_linsolve *self, bool *is_singular)
{
    cholmod_data *d = self->data;
    bool is_done = cholmod_factorize(&d->view, d->L, &d->common);
    if (!is_done || d->common.status < CHOLMOD_OK) return cholmod_fault(self, "factorization");
    if (d->L->minor < d->L->n) self->bad_equation = ((const int *)d->L->Perm)[d->L->minor];
    else self->bad_equation = cholmod_bad_pivot(self->A, d->L, (int)d->L->n, d->L->Perm);
    *is_singular = self->bad_equation >= 0;
    return *is_singular ? PCS_OK : cholmod_take_workspaces(self);
}

static void cholmod_solve_values(pcs_linsolve *self, double *x)
{
    cholmod_data *d = self->data;
    cholmod_solve_into_x(d, CHOLMOD_A, x);
    memcpy(x, d->X->x, d->view.nrow * sizeof *x);
}

void pcs_suitesparse_version(int suite[3], int cholmod[3])
{
    suite[0] = SUITESPARSE_MAIN_VERSION; // version of the build; the linked one comes from a library of its own
    suite[1] = SUITESPARSE_SUB_VERSION;
    suite[2] = SUITESPARSE_SUBSUB_VERSION;
    cholmod_version(cholmod);
}

const pcs_linsolve_ops pcs_linsolve_cholmod = {
    .name = "cholmod",
    .summary = "sparse Cholesky factors for symmetric positive definite matrices (CHOLMOD)",
    .data_size = sizeof(cholmod_data),
    .refuses = cholmod_refuses,
    .analyze = cholmod_analyze_pattern,
    .factor = cholmod_factor_values,
    .solve = cholmod_solve_values,
};

// Equations over ranks, by substructures.

enum { MOST_INTERFACE = 4000 }; // as many as dense factors take

// Computes C = alpha A^T A + beta C column by column (BLAS, Fortran calling convention).
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha, const double *A,
            const int *lda, const double *beta, double *C, const int *ldc, size_t uplo_length, size_t trans_length);

typedef struct substructures_data {
    cholmod_data part;   // factor of the interior and its border
    int ninterior;       // own equations that are no interface
    int nborder;         // equations of the interface that couple with them
    int *equation;       // [ninterior + nborder] in the order of the factor
    int *position;       // [layout n] in `equation`, or -1
    int *number;         // [layout n] of an equation in the interface, -1 for interior ones
    int *start, *row;    // [ninterior + nborder + 1], [entries] pattern of the part
    int *from;           // [entries] place among the values of A, or -1 - place among those of S
    double *value;       // [entries]
    double *x;           // [ninterior + nborder]
    double *border;      // [nborder][nborder] L_SS
    double *product;     // [nborder][nborder] L_SS L_SS^T, lower triangle
    double *share;       // [ninterface] right-hand side of the interface, then its solution
    pcs_matrix *S;       // [ninterface][ninterface] full: A_SS, then the Schur complement; NULL without an interface
    pcs_linsolve *dense; // its factors
    pcs_copies copies;
} substructures_data;

// Returns true if an own equation couples with one of a lower rank.
static bool substructures_is_interface(const pcs_pattern *pattern, int i)
{
    const pcs_layout *layout = pattern->layout;
    for (int p = pattern->start[i]; p < pattern->start[i + 1]; p++)
        if (pattern->row[p] >= layout->nown && layout->global[pattern->row[p]] < layout->global[0]) return true;
    return false;
}

// Refuses interfaces whose dense factors, which every rank has, have more entries than four matrices of a rank. A step
// of lattices in space of 12^3 and 22^3 cells, which have less, takes 0.7 and 0.4 of its time with iterations.
static const char *substructures_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    const pcs_layout *layout = pattern->layout;
    double count[2] = { 0.0, pattern->nnz };
    if (layout == NULL) return "it is for equations that are distributed over ranks";
    if (kind != PCS_SPD) return "it is for symmetric positive definite matrices";
    for (int i = 0; i < layout->nown; i++) count[0] += substructures_is_interface(pattern, i);
    layout->comm->sum(layout->comm, 2, count);
    count[1] /= layout->comm->size;
    bool is_small = count[0] <= MOST_INTERFACE && count[0] * count[0] <= 4.0 * count[1];
    return is_small ? NULL : "the parts of the ranks have too many equations in common";
}

// Numbers the equations of the interface, also the copies of those of other ranks.
static pcs_status substructures_number(pcs_linsolve *self, int *ninterface)
{
    substructures_data *d = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    const pcs_layout *layout = pattern->layout;
    int mine = 0, begin, nown = layout->nown, ncopy = layout->n - nown;
    double *number = d->x; // [layout n], free until the first solve
    for (int i = 0; i < nown; i++) mine += substructures_is_interface(pattern, i);
    PCS_TRY(pcs_process_begin(self->ctx, mine, &begin, ninterface));
    for (int i = 0; i < nown; i++) number[i] = substructures_is_interface(pattern, i) ? begin++ : -1;
    PCS_TRY(pcs_copies_create(self->ctx, layout->nglobal, nown, ncopy, layout->global, &d->copies));
    pcs_copies_take(&d->copies, number, number + nown);
    for (int i = 0; i < layout->n; i++) d->number[i] = (int)number[i];
    return PCS_OK;
}

// Lists the interior, then the equations of the interface that couple with it.
static void substructures_list(pcs_linsolve *self)
{
    substructures_data *d = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    const pcs_layout *layout = pattern->layout;
    for (int i = 0; i < layout->n; i++) d->position[i] = -1;
    for (int i = 0; i < layout->nown; i++)
        if (d->number[i] < 0) d->equation[d->ninterior++] = i;
    for (int k = 0; k < d->ninterior; k++)
        for (int c = d->equation[k], p = pattern->start[c]; p < pattern->start[c + 1]; p++) {
            int i = pattern->row[p];
            if (d->number[i] < 0 || d->position[i] >= 0) continue;
            d->position[i] = d->ninterior + d->nborder;
            d->equation[d->ninterior + d->nborder++] = i;
        }
}

// Fills the upper triangle of the part in the order of `equation`: entries of the border stand in S.
static void substructures_fill(pcs_linsolve *self)
{
    substructures_data *d = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    int count = 0;
    for (int k = 0; k < d->ninterior + d->nborder; k++) {
        int c = d->equation[k], last = k < d->ninterior ? k : d->ninterior - 1;
        d->start[k] = count;
        for (int p = pattern->start[c]; p < pattern->start[c + 1]; p++) {
            int place = d->position[pattern->row[p]];
            if (place < 0 || place > last) continue;
            d->row[count] = place;
            d->from[count++] = p;
        }
        for (int j = d->ninterior; j <= k; j++) {
            d->row[count] = j;
            d->from[count++] = -1 - (d->number[d->equation[j]] + d->S->pattern->n * d->number[c]);
        }
    }
    d->start[d->ninterior + d->nborder] = count;
}

// Orders the interior by itself, so that the border can stay behind it.
static pcs_status substructures_order(pcs_linsolve *self)
{
    substructures_data *d = self->data;
    cholmod_data *part = &d->part;
    int n = d->ninterior, nborder = d->nborder;
    for (int k = 0; k < n; k++) d->position[d->equation[k]] = k;
    if (n == 0) return PCS_OK;
    d->nborder = 0;
    substructures_fill(self);
    d->nborder = nborder;
    cholmod_choose_method(&part->common, false);
    cholmod_describe(&part->view, n, (size_t)d->start[n], d->start, d->row, NULL);
    PCS_TRY(cholmod_analyze_view(self));
    const int *order = part->L->Perm;
    for (int k = 0; k < n; k++) d->row[k] = d->equation[order[k]];
    memcpy(d->equation, d->row, (size_t)n * sizeof *d->equation);
    for (int k = 0; k < n; k++) d->position[d->equation[k]] = k;
    cholmod_free_factor(&part->L, &part->common);
    return PCS_OK;
}

static pcs_status substructures_take(pcs_linsolve *self, int ninterface)
{
    substructures_data *d = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    size_t m = (size_t)d->nborder, most = (size_t)(pattern->nnz + pattern->n) / 2 + m * (m + 1) / 2;
    PCS_TAKE(self->ctx, d->start, d->ninterior + d->nborder + 1, "the factor of a rank");
    PCS_TAKE(self->ctx, d->row, most, "the factor of a rank");
    PCS_TAKE(self->ctx, d->from, most, "the factor of a rank");
    PCS_TAKE(self->ctx, d->value, most, "the factor of a rank");
    PCS_TAKE(self->ctx, d->border, m * m, "the factor of a rank");
    PCS_TAKE(self->ctx, d->product, m * m, "the factor of a rank");
    PCS_TAKE(self->ctx, d->share, ninterface, "the interface between ranks");
    if (ninterface == 0) return PCS_OK;
    int *start, *row;
    pcs_pattern *full;
    PCS_TAKE(self->ctx, full, 1, "the interface between ranks");
    PCS_TAKE(self->ctx, start, ninterface + 1, "the interface between ranks");
    PCS_TAKE(self->ctx, row, (size_t)ninterface * (size_t)ninterface, "the interface between ranks");
    for (int j = 0; j <= ninterface; j++) start[j] = j * ninterface;
    for (int p = 0; p < start[ninterface]; p++) row[p] = p % ninterface;
    *full = (pcs_pattern){ .n = ninterface, .nnz = start[ninterface], .start = start, .row = row };
    PCS_TRY(pcs_matrix_create(self->ctx, full, &d->S));
    return pcs_linsolve_create(self->ctx, "dense", d->S, PCS_SPD, &d->dense);
}

static pcs_status substructures_analyze(pcs_linsolve *self)
{
    substructures_data *d = self->data;
    cholmod_data *part = &d->part;
    size_t n = (size_t)self->A->pattern->layout->n;
    int ninterface;
    PCS_TRY(cholmod_begin(self));
    PCS_TAKE(self->ctx, d->equation, n, "the factor of a rank");
    PCS_TAKE(self->ctx, d->position, n, "the factor of a rank");
    PCS_TAKE(self->ctx, d->number, n, "the factor of a rank");
    PCS_TAKE(self->ctx, d->x, n, "the factor of a rank");
    PCS_TRY(substructures_number(self, &ninterface));
    substructures_list(self);
    PCS_TRY(substructures_take(self, ninterface));
    PCS_TRY(substructures_order(self));
    substructures_fill(self);
    cholmod_choose_method(&part->common, true);
    part->common.final_asis = 0;
    part->common.final_ll = 1;
    int count = d->ninterior + d->nborder;
    cholmod_describe(&part->view, count, (size_t)d->start[count], d->start, d->row, d->value);
    if (count > 0) PCS_TRY(cholmod_analyze_view(self));
    self->entries += ninterface * (double)ninterface;
    return PCS_OK;
}

// Makes A_SS of all ranks known to each.
static void substructures_gather(pcs_linsolve *self)
{
    substructures_data *d = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    const pcs_comm *comm = pattern->layout->comm;
    pcs_matrix_zero(d->S);
    for (int i = 0; i < pattern->layout->nown; i++)
        for (int p = pattern->start[i]; d->number[i] >= 0 && p < pattern->start[i + 1]; p++) {
            int j = d->number[pattern->row[p]];
            if (j >= 0) d->S->value[d->number[i] * d->S->pattern->n + j] = self->A->value[p];
        }
    comm->sum(comm, d->S->pattern->nnz, d->S->value);
}

static pcs_status substructures_factor_part(pcs_linsolve *self, bool *is_singular)
{
    substructures_data *d = self->data;
    cholmod_data *part = &d->part;
    int count = d->ninterior + d->nborder;
    if (count == 0) return PCS_OK;
    for (int p = 0; p < d->start[count]; p++)
        d->value[p] = d->from[p] >= 0 ? self->A->value[d->from[p]] : d->S->value[-1 - d->from[p]];
    bool is_done = cholmod_factorize(&part->view, part->L, &part->common);
    if (!is_done || part->common.status < CHOLMOD_OK) return cholmod_fault(self, "factorization");
    if (part->L->minor < part->L->n) self->bad_equation = d->equation[part->L->minor];
    else self->bad_equation = cholmod_bad_pivot(self->A, part->L, d->ninterior, d->equation);
    *is_singular = self->bad_equation >= 0;
    return *is_singular ? PCS_OK : cholmod_take_workspaces(self);
}

// Fills L_SS, row by row.
static void substructures_get_border(substructures_data *d)
{
    int supernode = 0, first = d->ninterior, m = d->nborder;
    for (int j = 0; j < m; j++) {
        cholmod_column column = cholmod_get_column(d->part.L, first + j, &supernode);
        for (int k = 0; k < column.count; k++) d->border[(column.row[k] - first) * m + j] = column.value[k];
    }
}

// Adds the shares of all ranks to A_SS, which the first one has kept.
static void substructures_complement(pcs_linsolve *self)
{
    substructures_data *d = self->data;
    const pcs_comm *comm = self->A->pattern->layout->comm;
    int n = d->S->pattern->n, m = d->nborder, *border = d->equation + d->ninterior;
    if (comm->rank > 0) pcs_matrix_zero(d->S);
    const double one = 1.0, zero = 0.0;
    if (m > 0) dsyrk_("U", "T", &m, &m, &one, d->border, &m, &zero, d->product, &m, 1, 1);
    for (int a = 0; a < m; a++) {
        const double *kept = d->value + d->start[d->ninterior + a + 1] - (a + 1); // A_SS of the border, row a
        int i = d->number[border[a]];
        for (int b = 0; b <= a; b++) {
            int j = d->number[border[b]];
            double share = d->product[a * m + b] - kept[b];
            d->S->value[i * n + j] += share;
            if (b < a) d->S->value[j * n + i] += share;
        }
    }
    comm->sum(comm, d->S->pattern->nnz, d->S->value);
}

static pcs_status substructures_factor(pcs_linsolve *self, bool *is_singular)
{
    substructures_data *d = self->data;
    const pcs_comm *comm = self->A->pattern->layout->comm;
    if (d->S != NULL) substructures_gather(self);
    pcs_status status = pcs_agree(self->ctx, substructures_factor_part(self, is_singular));
    double is_bad = *is_singular;
    comm->max(comm, 1, &is_bad);
    *is_singular = is_bad > 0.0;
    if (status != PCS_OK || *is_singular || d->S == NULL) return status;
    substructures_get_border(d);
    substructures_complement(self);
    status = pcs_linsolve_factor(d->dense, is_singular);
    for (int i = 0; i < self->A->pattern->layout->n; i++)
        if (*is_singular && d->number[i] == d->dense->bad_equation) self->bad_equation = i;
    return status;
}

// Solves for the interface: adds the share of this rank to the right-hand side.
static void substructures_solve_interface(pcs_linsolve *self, const double *x)
{
    substructures_data *d = self->data;
    const pcs_layout *layout = self->A->pattern->layout;
    int n = d->S->pattern->n, m = d->nborder, *border = d->equation + d->ninterior;
    memset(d->share, 0, (size_t)n * sizeof *d->share);
    for (int i = 0; i < layout->nown; i++)
        if (d->number[i] >= 0) d->share[d->number[i]] = x[i];
    for (int a = 0; a < m; a++)
        d->share[d->number[border[a]]] += pcs_dense_dot(a + 1, d->border + a * m, d->x + d->ninterior);
    layout->comm->sum(layout->comm, n, d->share);
    pcs_linsolve_solve(d->dense, d->share);
    memset(d->x + d->ninterior, 0, (size_t)m * sizeof *d->x);
    for (int a = 0; a < m; a++)
        for (int b = 0; b <= a; b++) d->x[d->ninterior + b] += d->border[a * m + b] * d->share[d->number[border[a]]];
}

static void substructures_solve_own(pcs_linsolve *self, double *x)
{
    substructures_data *d = self->data;
    cholmod_data *part = &d->part;
    size_t count = (size_t)(d->ninterior + d->nborder);
    for (int k = 0; k < d->ninterior; k++) d->x[k] = x[d->equation[k]];
    memset(d->x + d->ninterior, 0, (size_t)d->nborder * sizeof *d->x);
    if (count > 0) cholmod_solve_into_x(part, CHOLMOD_L, d->x);
    if (count > 0) memcpy(d->x, part->X->x, count * sizeof *d->x);
    if (d->S != NULL) substructures_solve_interface(self, x);
    if (count > 0) cholmod_solve_into_x(part, CHOLMOD_Lt, d->x);
    for (int k = 0; k < d->ninterior; k++) x[d->equation[k]] = ((const double *)part->X->x)[k];
    for (int i = 0; i < self->A->pattern->layout->n; i++)
        if (d->number[i] >= 0) x[i] = d->share[d->number[i]];
}

static void substructures_solve(pcs_linsolve *self, double *x)
{
    substructures_data *d = self->data;
    int nown = self->A->pattern->layout->nown;
    substructures_solve_own(self, x);
    pcs_copies_take(&d->copies, x, x + nown);
}

const pcs_linsolve_ops pcs_linsolve_substructures = {
    .name = "substructures",
    .summary = "over ranks: a Cholesky factor of each part, dense factors of the equations between them (CHOLMOD)",
    .data_size = sizeof(substructures_data),
    .refuses = substructures_refuses,
    .analyze = substructures_analyze,
    .factor = substructures_factor,
    .solve = substructures_solve,
    .solve_own = substructures_solve_own,
};
