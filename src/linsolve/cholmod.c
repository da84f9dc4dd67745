// Sparse Cholesky factors of positive definite matrices (CHOLMOD).
//
// Chains keep their numbering, other patterns are ordered by minimum degree and, where that takes more than 500
// operations per entry (lattices in space), by nested dissection if it is better. A simplicial L D L' factor solves
// faster than a supernodal one, on chains and frames five times, and is as fast to compute up to about a hundred
// operations per entry; above that the factor is supernodal (L L'). A factor of more than 5e11 operations, a minute of
// one core, or too large to be numbered is left to iterations where the caller may do with them.

#include "linsolve/linsolve.h"

#include <cholmod.h>
#include <string.h>

typedef struct cholmod_data {
    cholmod_common common;
    cholmod_sparse view; // of the values of A, upper triangle
    cholmod_factor *L;
    cholmod_dense *X, *Y, *E; // kept workspaces of the solve
} cholmod_data;

// Operations of a factor above which `petsc` with conjugate gradients takes less time and a fifth of the memory
// (docs/scaling.md).
static const double MOST_OPERATIONS = 5e11;

#define CHOLMOD_HINT "`linear: petsc` with -- -pc_type bjacobi needs none"

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
    if (d->common.status == CHOLMOD_TOO_LARGE)
        return pcs_fail(self->ctx, PCS_UNSUPPORTED,
                        "the factor of %d equations is too large to be numbered; " CHOLMOD_HINT, self->A->pattern->n);
    if (d->common.status == CHOLMOD_OUT_OF_MEMORY)
        return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory during the %s", during);
    return pcs_fail(self->ctx, PCS_FAILED, "CHOLMOD status %d during the %s", d->common.status, during);
}

static void cholmod_choose_method(cholmod_common *c, bool is_chain)
{
    c->print = 0;
    c->error_handler = NULL;
    c->try_catch = 1;
    c->nmethods = is_chain ? 1 : 0; // 0: AMD, then METIS where AMD's fill is heavy
    if (is_chain) c->method[0].ordering = CHOLMOD_NATURAL;
    c->postorder = !is_chain;
    c->supernodal = is_chain ? CHOLMOD_SIMPLICIAL : CHOLMOD_AUTO;
    c->supernodal_switch = 100.0;
    c->final_ll = 0;
    c->quick_return_if_not_posdef = 1;
}

static pcs_status cholmod_begin(pcs_linsolve *self)
{
    cholmod_data *d = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    size_t n = (size_t)pattern->n, nnz = (size_t)pattern->nnz;
    if (!cholmod_start(&d->common)) return cholmod_fault(self, "start");
    PCS_TRY(pcs_defer(self->ctx, cholmod_release, d));
    cholmod_choose_method(&d->common, pattern->chain_block > 0);
    d->view = (cholmod_sparse){
        .nrow = n,
        .ncol = n,
        .nzmax = nnz,
        .x = self->A->value,
        .stype = 1,
        .itype = CHOLMOD_INT,
        .xtype = CHOLMOD_REAL,
        .dtype = CHOLMOD_DOUBLE,
        .sorted = 1,
        .packed = 1,
    };
    memcpy(&d->view.p, &pattern->start, sizeof d->view.p); // only read, but a cholmod_sparse has no const members
    memcpy(&d->view.i, &pattern->row, sizeof d->view.i);
    return PCS_OK;
}

static pcs_status cholmod_analyze_pattern(pcs_linsolve *self)
{
    PCS_TRY(cholmod_begin(self));
    cholmod_data *d = self->data;
    d->L = cholmod_analyze(&d->view, &d->common);
    self->entries = d->common.lnz;
    if (d->L != NULL && d->common.fl > MOST_OPERATIONS)
        pcs_note(self->ctx, "a factor of %d equations takes %.0e operations; " CHOLMOD_HINT, self->A->pattern->n,
                 d->common.fl);
    return d->L == NULL ? cholmod_fault(self, "analysis") : PCS_OK;
}

// Returns the pivot of column j of a factor: D_jj of L D L', else L_jj squared.
static double cholmod_simplicial_pivot(const cholmod_factor *L, int j)
{
    double diagonal = ((const double *)L->x)[((const int *)L->p)[j]];
    return L->is_ll ? diagonal * diagonal : diagonal;
}

// Returns the first equation whose pivot is not positive beyond round-off, or -1.
static int cholmod_bad_pivot(const pcs_matrix *A, const cholmod_factor *L)
{
    const int *order = L->Perm;
    if (!L->is_super) {
        for (int j = 0; j < (int)L->n; j++)
            if (!pcs_pivot_is_positive(cholmod_simplicial_pivot(L, j), pcs_matrix_diagonal(A, order[j])))
                return order[j];
        return -1;
    }
    // Supernode s holds columns super[s] .. super[s+1]-1 as a dense block with pi[s+1]-pi[s] rows from px[s] on.
    const int *super = L->super, *rows = L->pi, *place = L->px;
    for (int s = 0; s < (int)L->nsuper; s++) {
        int height = rows[s + 1] - rows[s];
        for (int j = super[s]; j < super[s + 1]; j++) {
            double diagonal = ((const double *)L->x)[place[s] + (j - super[s]) * (height + 1)];
            if (!pcs_pivot_is_positive(diagonal * diagonal, pcs_matrix_diagonal(A, order[j]))) return order[j];
        }
    }
    return -1;
}

static bool cholmod_solve_into_x(cholmod_data *d, double *x)
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
    return cholmod_solve2(CHOLMOD_A, d->L, &rhs, NULL, &d->X, NULL, &d->Y, &d->E, &d->common);
}

// Allocates the workspaces that all solves reuse, by a first solve.
static pcs_status cholmod_take_workspaces(pcs_linsolve *self)
{
    cholmod_data *d = self->data;
    if (d->X != NULL) return PCS_OK;
    double *zero = pcs_scratch(NULL, d->view.nrow, sizeof *zero);
    if (zero == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory for the workspaces of the solve");
    memset(zero, 0, d->view.nrow * sizeof *zero);
    bool is_done = cholmod_solve_into_x(d, zero);
    pcs_scratch_free(zero);
    return is_done ? PCS_OK : cholmod_fault(self, "first solve");
}

static pcs_status cholmod_factor_values(pcs_linsolve *self, bool *is_singular)
{
    cholmod_data *d = self->data;
    bool is_done = cholmod_factorize(&d->view, d->L, &d->common);
    if (!is_done || d->common.status < CHOLMOD_OK) return cholmod_fault(self, "factorization");
    if (d->L->minor < d->L->n) self->bad_equation = ((const int *)d->L->Perm)[d->L->minor];
    else self->bad_equation = cholmod_bad_pivot(self->A, d->L);
    *is_singular = self->bad_equation >= 0;
    return *is_singular ? PCS_OK : cholmod_take_workspaces(self);
}

static void cholmod_solve_values(pcs_linsolve *self, double *x)
{
    cholmod_data *d = self->data;
    cholmod_solve_into_x(d, x);
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
