// Block tridiagonal matrices: bars and beams numbered along their axis.
//
// Positive definite ones in four ways, chosen at each factorization from the values: a diagonal matrix (lumped mass)
// is a scaling; a tridiagonal matrix whose inverse decays fast (mass matrices, iteration matrices of moderate steps) is
// solved by eight interleaved sweeps; everything else by two sweeps that meet in the middle, four equations of each at
// once where the matrix is tridiagonal. All are L D L' factors with reciprocal pivots: no division in the solve. All
// other matrices are factored by two sweeps of L U factors.

#include "linsolve/chain.h"

#include "linsolve/linsolve.h"
#include "linsolve/pivot.h"

static const char *chain_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    int nblock;
    (void)kind;
    return pcs_chain_partition(pattern, NULL, &nblock) == 0 ? "it is not block tridiagonal with blocks of at most 6"
                                                            : NULL;
}

// Block J has b equations, and their columns entries in all rows of its neighbours and itself.
static bool chain_is_full(const pcs_chain *c, const pcs_pattern *pattern, int J)
{
    int top = c->first[J > 0 ? J - 1 : 0], bottom = c->first[J + 2 < c->nblock ? J + 2 : c->nblock];
    if (c->first[J + 1] - c->first[J] != c->b) return false;
    for (int j = c->first[J]; j < c->first[J + 1]; j++)
        if (pattern->start[j + 1] - pattern->start[j] != bottom - top) return false;
    return true;
}

static pcs_status chain_find_blocks(pcs_linsolve *self)
{
    pcs_chain *c = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    int *first;
    bool *is_full;
    PCS_TAKE(self->ctx, first, pattern->n + 1, "the blocks of a chain");
    c->n = pattern->n;
    c->b = pcs_chain_partition(pattern, first, &c->nblock);
    c->first = first;
    PCS_TAKE(self->ctx, is_full, c->nblock, "the blocks of a chain");
    c->is_full = is_full;
    c->is_even = true;
    for (int J = 0; J < c->nblock; J++) {
        is_full[J] = chain_is_full(c, pattern, J);
        c->is_even = c->is_even && first[J] == J * c->b;
    }
    return PCS_OK;
}

static pcs_status chain_analyze_general(pcs_linsolve *self)
{
    pcs_chain *c = self->data;
    size_t nblock = c->nblock > 2 ? (size_t)c->nblock : 2, b = (size_t)c->b;
    c->lu.middle = (int)(nblock - 2) / 2;
    c->solve = pcs_chain_lu_solve;
    PCS_TAKE(self->ctx, c->lower, pcs_chain_lu_lower(c), "the factor of a chain");
    PCS_TAKE(self->ctx, c->inverse, nblock * b, "the pivots of a chain");
    PCS_TAKE(self->ctx, c->work, nblock * b, "the workspace of a chain");
    PCS_TAKE(self->ctx, c->lu.fill, nblock * b * b, "the factor of a chain");
    PCS_TAKE(self->ctx, c->lu.order, nblock * 2 * b, "the row exchanges of a chain");
    PCS_TAKE(self->ctx, c->lu.weight, c->n, "the sizes of the rows of a chain");
    PCS_TAKE(self->ctx, c->lu.size, c->n, "the sizes of the columns of a chain");
    PCS_TAKE(self->ctx, c->lu.meeting, 4 * b * b, "the factor of a chain");
    return PCS_OK;
}

static pcs_status chain_analyze(pcs_linsolve *self)
{
    pcs_chain *c = self->data;
    PCS_TRY(chain_find_blocks(self));
    if (self->kind != PCS_SPD) return chain_analyze_general(self);
    size_t lower = pcs_chain_sweeps_lower(c), work = c->is_even ? 0 : (size_t)c->nblock * (size_t)c->b;
    if (c->b == 1) {
        size_t windows = pcs_chain_windows_lower(c->n);
        lower = windows > lower ? windows : lower;
        size_t ntile = (size_t)pcs_chain_windows_tiles(c->n);
        work = pcs_chain_windows_work(c->n);
        c->pool = pcs_context_pool(self->ctx);
        PCS_TAKE(self->ctx, c->edges, 2 * ntile, "the workspace of a chain");
        PCS_TAKE(self->ctx, c->is_solved, ntile, "the workspace of a chain");
        PCS_TAKE(self->ctx, c->is_uniform, ntile, "the workspace of a chain");
    }
    PCS_TAKE(self->ctx, c->work, work, "the workspace of a chain");
    PCS_TAKE(self->ctx, c->lower, lower, "the factor of a chain");
    PCS_TAKE(self->ctx, c->inverse, (size_t)c->nblock * (size_t)c->b, "the pivots of a chain");
    return PCS_OK;
}

static bool chain_is_diagonal(const pcs_matrix *A)
{
    const pcs_pattern *pattern = A->pattern;
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            if (pattern->row[p] != j && A->value[p] != 0.0) return false;
    return true;
}

static int chain_diagonal_factor(pcs_chain *c, const pcs_matrix *A)
{
    for (int j = 0; j < c->n; j++) {
        double diagonal = pcs_matrix_diagonal(A, j);
        if (!pcs_pivot_is_positive(diagonal, diagonal)) return j;
        c->inverse[j] = 1.0 / diagonal;
    }
    return -1;
}

static void chain_diagonal_solve(const pcs_chain *c, double *restrict x)
{
    const double *restrict inverse = c->inverse;
    for (int j = 0; j < c->n; j++) x[j] *= inverse[j];
}

static int chain_factor_positive(pcs_chain *c, const pcs_matrix *A)
{
    if (chain_is_diagonal(A)) {
        c->solve = chain_diagonal_solve;
        return chain_diagonal_factor(c, A);
    }
    if (c->b == 1) {
        bool fits = false;
        c->solve = pcs_chain_windows_solve;
        int bad = pcs_chain_windows_factor(c, A, &fits);
        if (fits || bad >= 0) return bad;
        c->solve = pcs_chain_pairs_solve;
        return pcs_chain_pairs_factor(c, A);
    }
    c->solve = pcs_chain_sweeps_solve;
    return pcs_chain_sweeps_factor(c, A);
}

static pcs_status chain_factor(pcs_linsolve *self, bool *is_singular)
{
    self->bad_equation =
        self->kind == PCS_SPD ? chain_factor_positive(self->data, self->A) : pcs_chain_lu_factor(self->data, self->A);
    *is_singular = self->bad_equation >= 0;
    return PCS_OK;
}

static void chain_solve(pcs_linsolve *self, double *x)
{
    const pcs_chain *c = self->data;
    c->solve(c, x);
}

static bool chain_has_slices(const pcs_linsolve *self)
{
    const pcs_chain *c = self->data;
    return c->solve == pcs_chain_windows_solve && c->cut.ntile > 1;
}

static void chain_begin(pcs_linsolve *self, const pcs_slice_solve *job, int count, const int *wanted)
{
    pcs_chain_windows_begin(self->data, job, count, wanted);
}

static void chain_end(pcs_linsolve *self, const pcs_slice_solve *job)
{
    pcs_chain_windows_end(self->data, job);
}

const pcs_linsolve_ops pcs_linsolve_chain = {
    .name = "chain",
    .summary = "interleaved sweeps for block tridiagonal matrices: bars and beams",
    .data_size = sizeof(pcs_chain),
    .refuses = chain_refuses,
    .analyze = chain_analyze,
    .factor = chain_factor,
    .solve = chain_solve,
    .has_slices = chain_has_slices,
    .begin = chain_begin,
    .end = chain_end,
};
