// Dense eigenvalues by LAPACK, for problems that are too small for an iteration.
//
// With S = (K - z M)^-1 (on the rows' null space) and M = L L^T, L from the eigenvalues of M so that M may be singular:
//   L^T S L y = theta y,   phi = S L y / sqrt(theta) ... scaled to phi^T M phi = 1.

#include "eigen/solvers.h"

#include "core/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

void dsyev_(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
            const int *lwork, int *info, size_t job_length, size_t uplo_length);
void dgeev_(const char *left, const char *right, const int *n, double *a, const int *lda, double *wr, double *wi,
            double *vl, const int *ldvl, double *vr, const int *ldvr, double *work, const int *lwork, int *info,
            size_t left_length, size_t right_length);

typedef struct lapack_work {
    int n, lwork;
    double *A, *L, *Z; // [n x n] column by column; all are one scratch buffer, which begins with A
    double *w, *wi;    // [n]
    double *x;         // [n]
    double *work;      // [lwork]
} lapack_work;

static pcs_status lapack_take(pcs_context *ctx, int n, lapack_work *w)
{
    size_t size = (size_t)n;
    *w = (lapack_work){ .n = n, .lwork = 34 * n };
    w->A = pcs_scratch(NULL, 3 * size * size + 3 * size + (size_t)w->lwork, sizeof *w->A);
    if (w->A == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: a dense eigenproblem of %d equations", n);
    w->L = w->A + size * size;
    w->Z = w->L + size * size;
    w->w = w->Z + size * size;
    w->wi = w->w + size;
    w->x = w->wi + size;
    w->work = w->x + size;
    return PCS_OK;
}

// L with L L^T = M.
static int lapack_root_of_mass(const pcs_operator *op, lapack_work *w)
{
    int n = op->n, info = 0;
    size_t size = (size_t)n;
    for (size_t j = 0; j < size; j++) {
        memset(w->x, 0, size * sizeof *w->x);
        w->x[j] = 1.0;
        op->mass(op->user, w->x, w->L + j * size);
    }
    dsyev_("V", "L", &n, w->L, &n, w->w, w->work, &w->lwork, &info, 1, 1);
    if (info != 0) return info;
    for (size_t j = 0; j < size; j++) {
        double root = sqrt(fmax(w->w[j], 0.0));
        for (size_t i = 0; i < size; i++) w->L[j * size + i] *= root;
    }
    return 0;
}

// A = L^T S L, with S L kept in Z; then its eigenvectors in A.
static int lapack_solve_symmetric(const pcs_operator *op, lapack_work *w)
{
    int n = op->n, info = lapack_root_of_mass(op, w);
    size_t size = (size_t)n;
    if (info != 0) return info;
    for (size_t j = 0; j < size; j++) op->apply(op->user, w->L + j * size, w->Z + j * size);
    for (size_t j = 0; j < size; j++)
        for (size_t i = j; i < size; i++)
            w->A[j * size + i] = 0.5 * (pcs_dense_dot(n, w->L + i * size, w->Z + j * size) +
                                        pcs_dense_dot(n, w->L + j * size, w->Z + i * size));
    dsyev_("V", "L", &n, w->A, &n, w->w, w->work, &w->lwork, &info, 1, 1);
    return info;
}

// phi = Z y_k, of mass 1.
static void lapack_vector(const pcs_operator *op, lapack_work *w, int k, double *phi)
{
    size_t n = (size_t)op->n;
    const double *y = w->A + (size_t)k * n;
    memset(phi, 0, n * sizeof *phi);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) phi[i] += w->Z[j * n + i] * y[j];
    op->mass(op->user, phi, w->x);
    double norm = sqrt(pcs_dense_dot(op->n, phi, w->x));
    for (size_t i = 0; i < n; i++) phi[i] /= norm;
}

pcs_status pcs_lapack_symmetric(pcs_context *ctx, const pcs_operator *op, int *count, double *theta, double *vector)
{
    lapack_work w;
    int n = op->n, wanted = *count;
    *count = 0;
    PCS_TRY(lapack_take(ctx, n, &w));
    int info = lapack_solve_symmetric(op, &w);
    // Rising in w; what is round-off beside the largest belongs to no mass or to the rows.
    if (info == 0) {
        double smallest = n * DBL_EPSILON * fmax(fabs(w.w[0]), fabs(w.w[n - 1]));
        for (int k = n - 1; k >= 0; k--) {
            if (*count == wanted || !(w.w[k] > smallest)) break;
            lapack_vector(op, &w, k, vector + (size_t)*count * (size_t)n);
            theta[(*count)++] = w.w[k];
        }
    }
    pcs_scratch_free(w.A);
    return info == 0 ? PCS_OK : pcs_fail(ctx, PCS_FAILED, "LAPACK could not find the eigenvalues: dsyev says %d", info);
}

// Columns of the largest eigenvalues first; a pair of columns stays together.
static void lapack_pick(const lapack_work *w, int wanted, int *count, double *re, double *im, double *vector)
{
    size_t n = (size_t)w->n;
    unsigned char *taken = (unsigned char *)w->work;
    memset(taken, 0, n);
    while (*count < wanted) {
        size_t best = n;
        for (size_t j = 0; j < n; j++)
            if (!taken[j] && w->wi[j] >= 0.0 &&
                (best == n || hypot(w->w[j], w->wi[j]) > hypot(w->w[best], w->wi[best])))
                best = j;
        if (best == n) return;
        size_t width = w->wi[best] > 0.0 ? 2 : 1;
        memset(taken + best, 1, width);
        memcpy(vector + (size_t)*count * n, w->Z + best * n, width * n * sizeof *vector);
        for (size_t k = 0; k < width; k++, (*count)++) {
            re[*count] = w->w[best + k];
            im[*count] = w->wi[best + k];
        }
    }
}

pcs_status pcs_lapack_general(pcs_context *ctx, const pcs_operator *op, int *count, double *re, double *im,
                              double *vector)
{
    lapack_work w;
    int n = op->n, wanted = *count, info = 0, one = 1;
    size_t size = (size_t)n;
    *count = 0;
    PCS_TRY(lapack_take(ctx, n, &w));
    for (size_t j = 0; j < size; j++) {
        memset(w.x, 0, size * sizeof *w.x);
        w.x[j] = 1.0;
        op->apply(op->user, w.x, w.A + j * size);
    }
    dgeev_("N", "V", &n, w.A, &n, w.w, w.wi, w.L, &one, w.Z, &n, w.work, &w.lwork, &info, 1, 1);
    if (info == 0) lapack_pick(&w, wanted, count, re, im, vector);
    pcs_scratch_free(w.A);
    return info == 0 ? PCS_OK : pcs_fail(ctx, PCS_FAILED, "LAPACK could not find the eigenvalues: dgeev says %d", info);
}
