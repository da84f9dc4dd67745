// Block tridiagonal matrices: bars and beams numbered along their axis.
//
// L U factors from both ends (chain_lu.c), which have positive pivots if the matrix is positive definite; a matrix that
// needs row exchanges gets banded ones (chain_banded.c). Positive definite matrices of bars are solved faster, as their
// values allow: a diagonal one (lumped mass) is a scaling; one whose inverse decays fast (mass matrices, iteration
// matrices of moderate steps) is solved by eight interleaved sweeps in slices (chain_windows.c), others by two sweeps,
// four equations of each at once (chain_pairs.c).

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
    for (int J = 0; J < c->nblock; J++) is_full[J] = chain_is_full(c, pattern, J);
    return PCS_OK;
}

static pcs_status chain_analyze_windows(pcs_linsolve *self)
{
    pcs_chain *c = self->data;
    size_t ntile = (size_t)pcs_chain_windows_tiles(c->n);
    c->pool = pcs_context_pool(self->ctx);
    PCS_TAKE(self->ctx, c->edges, 2 * ntile, "the workspace of a chain");
    PCS_TAKE(self->ctx, c->is_solved, ntile, "the workspace of a chain");
    PCS_TAKE(self->ctx, c->is_uniform, ntile, "the workspace of a chain");
    PCS_TAKE(self->ctx, c->work, pcs_chain_windows_work(c->n), "the workspace of a chain");
    return PCS_OK;
}

static pcs_status chain_analyze(pcs_linsolve *self)
{
    pcs_chain *c = self->data;
    PCS_TRY(chain_find_blocks(self));
    c->is_positive = self->kind == PCS_SPD;
    const bool is_bar = c->is_positive && c->b == 1;
    size_t n = (size_t)c->nblock * (size_t)c->b, lower = is_bar ? pcs_chain_bar_lower(c->n) : pcs_chain_lu_lower(c);
    if (is_bar) PCS_TRY(chain_analyze_windows(self));
    else PCS_TAKE(self->ctx, c->work, n, "the workspace of a chain");
    PCS_TAKE(self->ctx, c->lower, lower, "the factor of a chain");
    PCS_TAKE(self->ctx, c->inverse, n, "the pivots of a chain");
    return c->is_positive ? PCS_OK : pcs_chain_banded_analyze(self->ctx, c);
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

static int chain_factor_values(pcs_chain *c, const pcs_matrix *A)
{
    if (c->is_positive && chain_is_diagonal(A)) {
        c->solve = chain_diagonal_solve;
        return chain_diagonal_factor(c, A);
    }
    if (c->is_positive && c->b == 1) {
        bool fits = false;
        c->solve = pcs_chain_windows_solve;
        int bad = pcs_chain_windows_factor(c, A, &fits);
        if (fits || bad >= 0) return bad;
        c->solve = pcs_chain_pairs_solve;
        return pcs_chain_pairs_factor(c, A);
    }
    c->solve = pcs_chain_lu_solve;
    int bad = pcs_chain_lu_factor(c, A);
    if (bad < 0 || c->is_positive) return bad;
    c->solve = pcs_chain_banded_solve;
    return pcs_chain_banded_factor(c, A);
}

static pcs_status chain_factor(pcs_linsolve *self, bool *is_singular)
{
    self->bad_equation = chain_factor_values(self->data, self->A);
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
