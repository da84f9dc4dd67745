// Dense reference: Cholesky factors of positive definite matrices, LU factors with row exchanges of all others, by
// LAPACK; up to eight equations of positive definite ones by plain loops, as a library call would cost more.

#include "linsolve/linsolve.h"

#include <math.h>
#include <string.h>

enum { DENSE_MAX = 4000, DENSE_SMALL = 8 };

// Declares LAPACK functions, Fortran calling convention; the lengths of the character arguments come last.
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda, double *b,
             const int *ldb, int *info, size_t uplo_length);
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda, const int *pivot,
             double *b, const int *ldb, int *info, size_t trans_length);

typedef struct dense_data {
    double *factor;              // [n x n] column by column
    int *pivot;                  // [n] row exchanges of LU
    double inverse[DENSE_SMALL]; // of the diagonal of a small factor
} dense_data;

// Factors A = L L^T in the lower triangle, row-major (A symmetric). Returns the first equation with a bad pivot, or -1.
static int dense_small_cholesky(int n, double *A, double *inverse)
{
    for (int j = 0; j < n; j++) {
        double diagonal = A[j * n + j], pivot = diagonal;
        for (int k = 0; k < j; k++) pivot -= A[j * n + k] * A[j * n + k];
        if (!pcs_pivot_is_positive(pivot, diagonal)) return j;
        inverse[j] = 1.0 / sqrt(pivot);
        for (int i = j + 1; i < n; i++) {
            double sum = A[i * n + j];
            for (int k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
            A[i * n + j] = sum * inverse[j];
        }
    }
    return -1;
}

static inline void dense_small_cholesky_solve(int n, const double *L, const double *inverse, double *x)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
        x[i] *= inverse[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= L[k * n + i] * x[k];
        x[i] *= inverse[i];
    }
}

// Returns true if a pivot of L U, an entry minus k products l_i u_i, exceeds their rounding errors; false for a NaN.
// The entries of L are `step` apart.
static bool dense_pivot_is_known(int k, const double *l, int step, const double *u, double pivot)
{
    double sum = 0.0;
    for (int i = 0; i < k; i++) sum += fabs(l[(size_t)i * (size_t)step] * u[i]);
    return fabs(pivot) > 16 * k * DBL_EPSILON * sum;
}

static const char *dense_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
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

// Returns the first equation with a bad pivot, not beyond round-off or not a number, or -1.
static int dense_bad_pivot(const pcs_linsolve *self)
{
    const dense_data *d = self->data;
    size_t n = (size_t)self->A->pattern->n;
    for (size_t j = 0; j < n; j++) {
        double pivot = d->factor[j * n + j];
        bool is_good = self->kind == PCS_SPD
                           ? pcs_pivot_is_positive(pivot * pivot, pcs_matrix_diagonal(self->A, (int)j))
                           : dense_pivot_is_known((int)j, d->factor + j, (int)n, d->factor + j * n, pivot);
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
    if (n <= DENSE_SMALL && self->kind == PCS_SPD) {
        self->bad_equation = dense_small_cholesky(n, d->factor, d->inverse);
    } else {
        if (self->kind == PCS_SPD) dpotrf_("L", &n, d->factor, &n, &info, 1);
        else dgetrf_(&n, &n, d->factor, &n, d->pivot, &info);
        self->bad_equation = info > 0 ? info - 1 : dense_bad_pivot(self);
    }
    *is_singular = self->bad_equation >= 0;
    return PCS_OK;
}

// Solves with the factors; constant sizes let the compiler unroll.
static void dense_small_solve(int n, const dense_data *d, double *x)
{
    switch (n) {
    case 1: dense_small_cholesky_solve(1, d->factor, d->inverse, x); return;
    case 2: dense_small_cholesky_solve(2, d->factor, d->inverse, x); return;
    case 3: dense_small_cholesky_solve(3, d->factor, d->inverse, x); return;
    default: dense_small_cholesky_solve(n, d->factor, d->inverse, x); return;
    }
}

static void dense_solve(pcs_linsolve *self, double *x)
{
    dense_data *d = self->data;
    int n = self->A->pattern->n, one = 1, info = 0;
    if (n == 0) return;
    if (self->kind == PCS_SPD && n <= DENSE_SMALL) dense_small_solve(n, d, x);
    else if (self->kind == PCS_SPD) dpotrs_("L", &n, &one, d->factor, &n, x, &n, &info, 1);
    else dgetrs_("N", &n, &one, d->factor, &n, d->pivot, x, &n, &info, 1);
}

static int dense_sign(const pcs_linsolve *self)
{
    const dense_data *d = self->data;
    int n = self->A->pattern->n, sign = 1;
    if (self->kind == PCS_SPD) return 1;
    for (int k = 0; k < n; k++) {
        if (d->pivot[k] - 1 != k) sign = -sign; // LAPACK counts rows from 1
        if (d->factor[(size_t)k * (size_t)n + (size_t)k] < 0.0) sign = -sign;
    }
    return sign;
}

const pcs_linsolve_ops pcs_linsolve_dense = {
    .name = "dense",
    .summary = "dense Cholesky or LU factors, the reference for small models (LAPACK)",
    .data_size = sizeof(dense_data),
    .refuses = dense_refuses,
    .analyze = dense_analyze,
    .factor = dense_factor,
    .solve = dense_solve,
    .sign = dense_sign,
};
