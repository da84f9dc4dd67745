// Block tridiagonal positive definite matrices: bars and beams numbered along their axis.
//
// Three ways, chosen at each factorization from the values: a diagonal matrix (lumped mass) is a scaling; a tridiagonal
// matrix whose inverse decays fast (mass matrices, iteration matrices of moderate steps) is solved by eight interleaved
// sweeps; everything else by two sweeps that meet in the middle. All are L D L' factors with reciprocal pivots: no
// division in the solve.

#include "linsolve/chain.h"

#include "linsolve/linsolve.h"
#include "linsolve/pivot.h"

static const char *chain_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    if (kind != PCS_SPD) return "it is for symmetric positive definite matrices";
    return pattern->chain_block == 0 ? "it is not block tridiagonal with blocks of at most 6" : NULL;
}

static pcs_status chain_analyze(pcs_linsolve *self)
{
    pcs_chain *c = self->data;
    c->n = self->A->pattern->n;
    c->b = self->A->pattern->chain_block;
    c->nblock = c->n / c->b + (c->n % c->b != 0);
    size_t lower = pcs_chain_sweeps_lower(c);
    if (c->b == 1) {
        size_t windows = pcs_chain_windows_lower(c->n);
        lower = windows > lower ? windows : lower;
        PCS_TAKE(self->ctx, c->work, pcs_chain_windows_work(c->n), "the workspace of a chain");
    }
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
        double diagonal = pcs_diagonal_of(A, j);
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
    if (chain_is_diagonal(A)) {
        c->solve = chain_diagonal_solve;
        return chain_diagonal_factor(c, A);
    }
    if (c->b == 1) {
        bool fits = false;
        c->solve = pcs_chain_windows_solve;
        int bad = pcs_chain_windows_factor(c, A, &fits);
        if (fits || bad >= 0) return bad;
    }
    c->solve = pcs_chain_sweeps_solve;
    return pcs_chain_sweeps_factor(c, A);
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

const pcs_linsolve_ops pcs_linsolve_chain = {
    .name = "chain",
    .summary = "interleaved sweeps for block tridiagonal positive definite matrices: bars and beams",
    .data_size = sizeof(pcs_chain),
    .refuses = chain_refuses,
    .analyze = chain_analyze,
    .factor = chain_factor,
    .solve = chain_solve,
};
