// Factors with row exchanges of a block tridiagonal matrix that needs them: LAPACK's for banded matrices.
//
// Rows are compared with weights that do not depend on the units of rows and columns: with them, and with the columns
// divided by their sizes, the largest entries of all rows and columns of A are close to 1. A pivot that is no more than
// round-off of that is none. Neither is the smallest one of a matrix that only round-off keeps from being singular.

#include "linsolve/chain.h"

#include <float.h>
#include <math.h>
#include <string.h>

void dgbtrf_(const int *m, const int *n, const int *kl, const int *ku, double *ab, const int *ldab, int *pivot,
             int *info);
void dgbtrs_(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs, const double *ab,
             const int *ldab, const int *pivot, double *b, const int *ldb, int *info, size_t trans_length);

void dgbcon_(const char *norm, const int *n, const int *kl, const int *ku, const double *ab, const int *ldab,
             const int *pivot, const double *anorm, double *rcond, double *work, int *iwork, int *info,
             size_t norm_length);

static const double banded_round_off = 10.0 * DBL_EPSILON;

pcs_status pcs_chain_banded_analyze(pcs_context *ctx, pcs_chain *c)
{
    pcs_chain_banded *d = &c->banded;
    d->width = 2 * c->b - 1;
    PCS_TAKE(ctx, d->factor, (size_t)c->n * (size_t)(3 * d->width + 1), "the banded factor of a chain");
    PCS_TAKE(ctx, d->pivot, 2 * c->n, "the row exchanges of a chain");
    PCS_TAKE(ctx, d->work, 3 * c->n, "the workspace of a chain");
    PCS_TAKE(ctx, d->weight, c->n, "the sizes of the rows of a chain");
    PCS_TAKE(ctx, d->size, c->n, "the sizes of the columns of a chain");
    return PCS_OK;
}

// Divides rows and columns by the roots of their largest entries, weights and sizes applied.
static void banded_balance(const pcs_chain *c, const pcs_matrix *A)
{
    const int *start = A->pattern->start, *row = A->pattern->row;
    double *weight = c->banded.weight, *size = c->banded.size, *largest = c->work;
    memset(largest, 0, (size_t)c->n * sizeof *largest);
    for (int j = 0; j < c->n; j++) {
        double most = 0.0, scale = 1.0 / size[j];
        for (int p = start[j]; p < start[j + 1]; p++) {
            double entry = weight[row[p]] * fabs(A->value[p]) * scale;
            most = fmax(most, entry);
            largest[row[p]] = fmax(largest[row[p]], entry);
        }
        if (most > 0.0) size[j] *= sqrt(most);
    }
    for (int i = 0; i < c->n; i++)
        if (largest[i] > 0.0) weight[i] /= sqrt(largest[i]);
}

// Fills the band with the scaled matrix; answers the largest sum of a column. After four passes all largest entries are
// close to 1, and of all such scalings it is one in the middle, not one that favours rows or columns.
static double banded_fill(const pcs_chain *c, const pcs_matrix *A)
{
    const pcs_chain_banded *d = &c->banded;
    const int rows = 3 * d->width + 1, *start = A->pattern->start, *row = A->pattern->row;
    double norm = 0.0;
    for (int i = 0; i < c->n; i++) d->weight[i] = d->size[i] = 1.0;
    for (int pass = 0; pass < 4; pass++) banded_balance(c, A);
    memset(d->factor, 0, (size_t)c->n * (size_t)rows * sizeof *d->factor);
    for (int j = 0; j < c->n; j++) {
        double *column = d->factor + (ptrdiff_t)j * rows + 2 * d->width - j, sum = 0.0;
        for (int p = start[j]; p < start[j + 1]; p++) {
            column[row[p]] = d->weight[row[p]] * A->value[p] / d->size[j];
            sum += fabs(column[row[p]]);
        }
        norm = fmax(norm, sum);
    }
    return norm;
}

int pcs_chain_banded_factor(pcs_chain *c, const pcs_matrix *A)
{
    const pcs_chain_banded *d = &c->banded;
    const int width = d->width, rows = 3 * width + 1;
    const double norm = banded_fill(c, A), *diagonal = d->factor + 2 * width;
    double rcond = 0.0;
    int info, worst = 0;
    dgbtrf_(&c->n, &c->n, &width, &width, d->factor, &rows, d->pivot, &info);
    for (int j = 0; j < c->n; j++) {
        const double pivot = fabs(diagonal[(ptrdiff_t)j * rows]);
        if (!(pivot > banded_round_off && pivot <= DBL_MAX)) return j;
        if (pivot < fabs(diagonal[(ptrdiff_t)worst * rows])) worst = j;
    }
    dgbcon_("1", &c->n, &width, &width, d->factor, &rows, d->pivot, &norm, &rcond, d->work, d->pivot + c->n, &info, 1);
    return rcond > DBL_EPSILON ? -1 : worst;
}

void pcs_chain_banded_solve(const pcs_chain *c, double *x)
{
    const pcs_chain_banded *d = &c->banded;
    const int width = d->width, rows = 3 * width + 1, one = 1;
    int info;
    for (int i = 0; i < c->n; i++) x[i] *= d->weight[i];
    dgbtrs_("N", &c->n, &width, &width, &one, d->factor, &rows, d->pivot, x, &c->n, &info, 1);
    for (int i = 0; i < c->n; i++) x[i] /= d->size[i];
}
