// Sparse LU factors of general and indefinite matrices (UMFPACK).
//
// The workspaces of the solve are kept and iterative refinement is off, so that a solve costs two sweeps over the
// factors and allocates nothing.

#include "linsolve/linsolve.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <umfpack.h>

typedef struct umfpack_data {
    void *symbolic, *numeric;
    double control[UMFPACK_CONTROL];
    int *column, *order; // [n] workspace of the solve; column order when looking for a bad equation
    double *work, *rhs;  // [n]
} umfpack_data;

static const char *umfpack_refuses(const pcs_pattern *pattern, pcs_linsolve_kind kind)
{
    return pattern->n == 0 ? "there are no equations" : NULL;
}

static void umfpack_release(void *object)
{
    umfpack_data *d = object;
    if (d->numeric != NULL) umfpack_di_free_numeric(&d->numeric);
    if (d->symbolic != NULL) umfpack_di_free_symbolic(&d->symbolic);
}

static pcs_status umfpack_fault(pcs_linsolve *self, int status, const char *during)
{
    if (status == UMFPACK_ERROR_out_of_memory)
        return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory during the %s", during);
    return pcs_fail(self->ctx, PCS_FAILED, "UMFPACK status %d during the %s", status, during);
}

static pcs_status umfpack_analyze(pcs_linsolve *self)
{
    umfpack_data *d = self->data;
    const pcs_pattern *pattern = self->A->pattern;
    int n = pattern->n;
    PCS_TAKE(self->ctx, d->column, n, "the workspace of UMFPACK");
    PCS_TAKE(self->ctx, d->order, n, "the workspace of UMFPACK");
    PCS_TAKE(self->ctx, d->work, n, "the workspace of UMFPACK");
    PCS_TAKE(self->ctx, d->rhs, n, "the workspace of UMFPACK");
    PCS_TRY(pcs_defer(self->ctx, umfpack_release, d));
    umfpack_di_defaults(d->control);
    d->control[UMFPACK_PRL] = 0.0;
    d->control[UMFPACK_IRSTEP] = 0.0;
    // Analyzes without values, which may change while the pattern is fixed.
    int status = umfpack_di_symbolic(n, n, pattern->start, pattern->row, NULL, &d->symbolic, d->control, NULL);
    return status == UMFPACK_OK ? PCS_OK : umfpack_fault(self, status, "analysis");
}

// Finds the column of the smallest pivot: the unknown that the equations do not determine.
static pcs_status umfpack_find_bad(pcs_linsolve *self)
{
    umfpack_data *d = self->data;
    int scales_are_reciprocal;
    int status = umfpack_di_get_numeric(NULL, NULL, NULL, NULL, NULL, NULL, NULL, d->order, d->work,
                                        &scales_are_reciprocal, NULL, d->numeric);
    if (status != UMFPACK_OK) return umfpack_fault(self, status, "search for the singular equation");
    int worst = 0;
    for (int k = 0; k < self->A->pattern->n; k++)
        if (!(fabs(d->work[k]) >= fabs(d->work[worst]))) worst = k;
    self->bad_equation = d->order[worst];
    return PCS_OK;
}

static pcs_status umfpack_factor(pcs_linsolve *self, bool *is_singular)
{
    umfpack_data *d = self->data;
    const pcs_matrix *A = self->A;
    double info[UMFPACK_INFO];
    if (d->numeric != NULL) umfpack_di_free_numeric(&d->numeric);
    int status =
        umfpack_di_numeric(A->pattern->start, A->pattern->row, A->value, d->symbolic, &d->numeric, d->control, info);
    if (status != UMFPACK_OK && status != UMFPACK_WARNING_singular_matrix)
        return umfpack_fault(self, status, "factorization");
    // Rows are scaled to sum 1, so the ratio of the pivots is free of units.
    *is_singular = status != UMFPACK_OK || !(info[UMFPACK_RCOND] > 0.01 * DBL_EPSILON);
    return *is_singular ? umfpack_find_bad(self) : PCS_OK;
}

static void umfpack_solve(pcs_linsolve *self, double *x)
{
    umfpack_data *d = self->data;
    const pcs_matrix *A = self->A;
    memcpy(d->rhs, x, (size_t)A->pattern->n * sizeof *x);
    umfpack_di_wsolve(UMFPACK_A, A->pattern->start, A->pattern->row, A->value, x, d->rhs, d->numeric, d->control, NULL,
                      d->column, d->work);
}

static int umfpack_sign(const pcs_linsolve *self)
{
    const umfpack_data *d = self->data;
    double mantissa, exponent;
    if (umfpack_di_get_determinant(&mantissa, &exponent, d->numeric, NULL) != UMFPACK_OK) return 0;
    return (mantissa > 0.0) - (mantissa < 0.0);
}

const pcs_linsolve_ops pcs_linsolve_umfpack = {
    .name = "umfpack",
    .summary = "sparse LU factors for general and indefinite matrices (UMFPACK)",
    .data_size = sizeof(umfpack_data),
    .refuses = umfpack_refuses,
    .analyze = umfpack_analyze,
    .factor = umfpack_factor,
    .solve = umfpack_solve,
    .sign = umfpack_sign,
};
