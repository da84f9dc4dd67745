// Dense reference: Cholesky factors of positive definite matrices, LU factors with row exchanges of all others
// (LAPACK).

#include "linsolve/linsolve.h"
#include "linsolve/pivot.h"

#include <math.h>
#include <string.h>

enum { DENSE_MAX = 4000 };

// LAPACK, Fortran calling convention; the lengths of the character arguments come last.
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda, double *b,
             const int *ldb, int *info, size_t uplo_length);
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda, const int *pivot,
             double *b, const int *ldb, int *info, size_t trans_length);

typedef struct dense_data {
    double *factor; // [n x n] column by column
    int *pivot;     // [n] row exchanges of LU
} dense_data;

static const char *dense_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    (void)kind;
    return pattern->n > DENSE_MAX ? "a dense factor is for at most 4000 equations" : NULL;
}

static pcs_status dense_analyze(pcs_linsolve *self)
{
    dense_data *d = self->data;
    size_t n = (size_t)self->A->pattern->n;
    PCS_TAKE(self->ctx, d->factor, n * n, "a dense factor");
    if (self->kind != PCS_SPD) PCS_TAKE(self->ctx, d->pivot, n, "the row exchanges of a dense factor");
    return PCS_OK;
}

// First equation with a bad pivot, or -1: not beyond round-off of a Cholesky factor, zero or not a number of LU
// factors, for which the size of an entry says little about the size of its pivot.
static int dense_bad_pivot(const pcs_linsolve *self)
{
    const dense_data *d = self->data;
    size_t n = (size_t)self->A->pattern->n;
    for (size_t j = 0; j < n; j++) {
        double pivot = d->factor[j * n + j];
        bool is_good = self->kind == PCS_SPD ? pcs_pivot_is_positive(pivot * pivot, pcs_diagonal_of(self->A, (int)j))
                                             : fabs(pivot) > 0.0;
        if (!is_good) return (int)j;
    }
    return -1;
}

static pcs_status dense_factor(pcs_linsolve *self, bool *is_singular)
{
    dense_data *d = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    int n = pattern->n, info = 0;
    if (n == 0) return PCS_OK;
    memset(d->factor, 0, (size_t)n * (size_t)n * sizeof *d->factor);
    for (int j = 0; j < n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            d->factor[(size_t)j * (size_t)n + (size_t)pattern->row[p]] = self->A->value[p];
    if (self->kind == PCS_SPD) dpotrf_("L", &n, d->factor, &n, &info, 1);
    else dgetrf_(&n, &n, d->factor, &n, d->pivot, &info);
    self->bad_equation = info > 0 ? info - 1 : dense_bad_pivot(self);
    *is_singular = self->bad_equation >= 0;
    return PCS_OK;
}

static void dense_solve(pcs_linsolve *self, double *x)
{
    dense_data *d = self->data;
    int n = self->A->pattern->n, one = 1, info = 0;
    if (n == 0) return;
    if (self->kind == PCS_SPD) dpotrs_("L", &n, &one, d->factor, &n, x, &n, &info, 1);
    else dgetrs_("N", &n, &one, d->factor, &n, d->pivot, x, &n, &info, 1);
}

const pcs_linsolve_ops pcs_linsolve_dense = {
    .name = "dense",
    .summary = "dense Cholesky or LU factors, the reference for small models (LAPACK)",
    .data_size = sizeof(dense_data),
    .refuses = dense_refuses,
    .analyze = dense_analyze,
    .factor = dense_factor,
    .solve = dense_solve,
};
