// Smallest eigenvalues: reduction by rows that hold, ARPACK, LAPACK, then both problems.
//
// K phi = lambda M phi by shift and invert.
//
// The shift is 0 where K is positive definite and nothing is known to be free. Else it is negative and about as large
// as the smallest eigenvalue: found by inverse iteration from a shift that is small beside K_ii / M_ii, so that K - z M
// is both definite and well conditioned. A factorization without pivoting that finds it positive definite also proves
// that no eigenvalue lies below the shift. After the iteration a second one, on the complement of what was found, makes
// sure that no copy of a multiple eigenvalue was missed.

#include "analysis/eigen.h"

#include "core/dense.h"
#include "core/matrix.h"
#include "linsolve/bordered.h"

#include <arpack.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <threads.h>

// All x with G_h x = 0 as x = Z y: elimination of one unknown of x per row that holds and is independent of the rows
// before it. What is left of x is y, so that Z is as sparse as the rows are local.

typedef struct pcs_null_space {
    int n, nfree;  // sizes of x and of y; n - nfree rows of G_h are independent
    int *start;    // [n + 1] first entries of the rows of Z
    int *column;   // columns of the entries of Z
    double *value; // values of the entries of Z
    int *kept;     // [nfree] places of y in x
    bool is_full;  // Z has too many entries to be of use: it is not stored, and y may have more unknowns than nfree
} pcs_null_space;

// Problem with rows that hold, reduced to one without rows in fewer unknowns.
typedef struct pcs_reduced {
    pcs_eigen_problem problem; // problem to be solved
    int nfree;                 // number of unknowns that the rows leave, which is the largest number of eigenvalues
    bool is_less;              // the problem is reduced; otherwise it is the given one, as rows or sparsity are lacking
    pcs_null_space Z;
} pcs_reduced;

// Operator on vectors of n entries.
typedef struct pcs_operator {
    int n;
    void *user;
    void (*apply)(void *user, const double *x, double *y); // y = (K - z M)^-1 x, or y = S x for the complete operator S
    void (*mass)(void *user, const double *x, double *y);  // y = M x; NULL for plain problems
} pcs_operator;

static pcs_status null_space_create(pcs_context *ctx, int n, const pcs_rows *G, const unsigned char *holds,
                                    const double *size, pcs_null_space *out);
static void null_space_expand(const pcs_null_space *self, const double *y, double *x);

// K phi = lambda M phi with G_h phi = 0 as a problem without rows: phi = Z y, Z^T K Z y = lambda Z^T M Z y.

enum { FILL = 20, LEAST_ROOM = 20000000 }; // limits of products of entries: relative to the entries of K, and at least

static bool reduced_has_rows(const pcs_eigen_problem *p)
{
    if (p->G == NULL || p->holds == NULL) return false;
    for (int j = 0; j < p->G->nrow; j++)
        if (p->holds[j]) return true;
    return false;
}

static int reduced_width(const pcs_null_space *Z, int i)
{
    return Z->start[i + 1] - Z->start[i];
}

static bool reduced_is_dense(const pcs_null_space *Z, const pcs_pattern *pattern)
{
    double products = 0.0;
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            products += (double)reduced_width(Z, pattern->row[p]) * reduced_width(Z, j);
    return products > LEAST_ROOM + FILL * (double)pattern->nnz;
}

// Adds the couplings of all unknowns of two equations that K couples; those of one equation couple on the diagonal.
static pcs_status reduced_add_pairs(const pcs_null_space *Z, const pcs_pattern *from, pcs_pattern_builder *builder,
                                    int *cell)
{
    for (int j = 0; j < from->n; j++)
        for (int p = from->start[j]; p < from->start[j + 1]; p++) {
            int i = from->row[p], ni = reduced_width(Z, i), nj = reduced_width(Z, j);
            if (i > j) continue;
            memcpy(cell, Z->column + Z->start[i], (size_t)ni * sizeof *cell);
            memcpy(cell + ni, Z->column + Z->start[j], (size_t)nj * sizeof *cell);
            PCS_TRY(pcs_pattern_add_cells(builder, 1, i == j ? ni : ni + nj, cell));
        }
    return PCS_OK;
}

static pcs_status reduced_make_pattern(pcs_context *ctx, const pcs_null_space *Z, const pcs_pattern *from,
                                       pcs_pattern **out)
{
    pcs_pattern_builder *builder;
    int *cell;
    PCS_TAKE(ctx, cell, 2 * (size_t)Z->nfree, "rows of joints");
    PCS_TRY(pcs_pattern_begin(ctx, Z->nfree, &builder));
    pcs_status status = reduced_add_pairs(Z, from, builder, cell);
    pcs_status finish = pcs_pattern_finish(builder, out);
    return status == PCS_OK ? finish : status;
}

// Computes Z^T A Z; with is_size the sum of the magnitudes of its terms.
static pcs_status reduced_multiply(pcs_context *ctx, const pcs_null_space *Z, const pcs_matrix *A, bool is_size,
                                   const pcs_pattern *pattern, const pcs_matrix **out)
{
    pcs_matrix *R;
    PCS_TRY(pcs_matrix_create(ctx, pattern, &R));
    for (int j = 0; j < A->pattern->n; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++) {
            int i = A->pattern->row[p];
            if (A->value[p] == 0.0) continue;
            for (int a = Z->start[i]; a < Z->start[i + 1]; a++)
                for (int b = Z->start[j]; b < Z->start[j + 1]; b++) {
                    double term = Z->value[a] * A->value[p] * Z->value[b];
                    R->value[pcs_pattern_place(pattern, Z->column[a], Z->column[b])] += is_size ? fabs(term) : term;
                }
        }
    *out = R;
    return PCS_OK;
}

// Computes y of the known vectors, which satisfy the rows.
static pcs_status reduced_take_known(pcs_context *ctx, const pcs_null_space *Z, pcs_eigen_problem *p)
{
    double *known;
    size_t n = (size_t)Z->nfree;
    if (p->known == NULL) return PCS_OK;
    PCS_TAKE(ctx, known, (size_t)p->nknown * n, "eigenvectors");
    for (size_t k = 0; k < (size_t)p->nknown; k++)
        for (size_t i = 0; i < n; i++) known[k * n + i] = p->known[k * (size_t)Z->n + (size_t)Z->kept[i]];
    p->known = known;
    return PCS_OK;
}

static pcs_status reduced_make_matrices(pcs_context *ctx, const pcs_null_space *Z, pcs_eigen_problem *p)
{
    pcs_pattern *pattern;
    const pcs_matrix *K = p->K;
    PCS_TRY(reduced_make_pattern(ctx, Z, K->pattern, &pattern));
    PCS_TRY(reduced_multiply(ctx, Z, K, false, pattern, &p->K));
    PCS_TRY(reduced_multiply(ctx, Z, K, true, pattern, &p->K_terms));
    PCS_TRY(reduced_multiply(ctx, Z, p->M, false, pattern, &p->M));
    if (p->C != NULL) PCS_TRY(reduced_multiply(ctx, Z, p->C, false, pattern, &p->C));
    p->G = NULL;
    p->holds = NULL;
    return reduced_take_known(ctx, Z, p);
}

static pcs_status eigen_reduce(pcs_context *ctx, const pcs_eigen_problem *full, pcs_reduced *out)
{
    int n = full->K->pattern->n;
    *out = (pcs_reduced){ .problem = *full, .nfree = n };
    if (!reduced_has_rows(full)) return PCS_OK;
    PCS_TRY(null_space_create(ctx, n, full->G, full->holds, full->size, &out->Z));
    out->nfree = out->Z.nfree;
    out->is_less = out->nfree > 0 && !out->Z.is_full && !reduced_is_dense(&out->Z, full->K->pattern);
    return out->is_less ? reduced_make_matrices(ctx, &out->Z, &out->problem) : PCS_OK;
}

// Replaces the vectors of the reduced problem by those of the given one.
static pcs_status eigen_expand(pcs_context *ctx, const pcs_reduced *reduced, int count, double **vector)
{
    double *full;
    if (!reduced->is_less) return PCS_OK;
    PCS_TAKE(ctx, full, (size_t)count * (size_t)reduced->Z.n, "eigenvectors");
    for (int k = 0; k < count; k++)
        null_space_expand(&reduced->Z, *vector + (size_t)k * (size_t)reduced->nfree,
                          full + (size_t)k * (size_t)reduced->Z.n);
    *vector = full;
    return PCS_OK;
}

// Implicitly restarted Lanczos and Arnoldi iterations (ARPACK), driven by reverse communication.
//
// The start vector is given and always the same, so that a result can be repeated. ARPACK keeps the state of its
// iteration in variables of its own: only one thread at a time may use it.

enum { MAX_RESTARTS = 3000, LEAST_BASIS = 20 };

typedef struct arpack_work {
    int ncv, lworkl;
    double *resid, *V, *workd, *workl, *workev; // one scratch buffer, which begins with the first
    int *select;
    int iparam[11], ipntr[14];
} arpack_work;

static once_flag arpack_once = ONCE_FLAG_INIT;
static mtx_t arpack_lock;

static void arpack_make_lock(void)
{
    (void)mtx_init(&arpack_lock, mtx_plain);
}

static pcs_status arpack_take(pcs_context *ctx, int n, int nev, int lworkl_of_basis, arpack_work *w)
{
    *w = (arpack_work){ .ncv = 2 * nev + 1 > LEAST_BASIS ? 2 * nev + 1 : LEAST_BASIS };
    if (w->ncv > n) w->ncv = n;
    w->lworkl = w->ncv * (lworkl_of_basis * w->ncv + 8);
    size_t rows = (size_t)n, columns = (size_t)w->ncv;
    w->resid = pcs_scratch(NULL, rows * (columns + 4) + (size_t)w->lworkl + 4 * columns, sizeof *w->resid);
    if (w->resid == NULL)
        return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %d vectors of %d equations for ARPACK", w->ncv, n);
    w->V = w->resid + rows;
    w->workd = w->V + rows * columns;
    w->workl = w->workd + 3 * rows;
    w->workev = w->workl + w->lworkl;
    w->select = (int *)(w->workev + 3 * columns);
    memset(w->select, 0, columns * sizeof *w->select); // ARPACK reads it, though it selects nothing
    // Uses numbers without a pattern, so that symmetry hides no eigenvector.
    unsigned long long seed = 88172645463325252ULL;
    for (int i = 0; i < n; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        w->resid[i] = (double)(seed >> 11) / 9007199254740992.0 - 0.5;
    }
    w->iparam[0] = 1;
    w->iparam[2] = MAX_RESTARTS;
    w->iparam[3] = 1;
    return PCS_OK;
}

static pcs_status arpack_fault(pcs_context *ctx, int info, int nconverged, int wanted)
{
    if (info == 1 || info == 0)
        return pcs_fail(ctx, PCS_FAILED, "the eigenvalues did not converge: %d of %d after %d restarts of ARPACK",
                        nconverged, wanted, MAX_RESTARTS);
    return pcs_fail(ctx, PCS_FAILED, "ARPACK could not find the eigenvalues: status %d", info);
}

// Serves one request: y = S x, or with a mass in shift-and-invert mode y = S M x or M x. Returns false at the end.
static bool arpack_serve(const pcs_operator *op, int ido, arpack_work *w)
{
    double *x = w->workd + w->ipntr[0] - 1, *y = w->workd + w->ipntr[1] - 1;
    if (ido != -1 && ido != 1 && ido != 2) return false;
    if (op->mass == NULL) {
        op->apply(op->user, x, y);
    } else if (ido == 2) {
        op->mass(op->user, x, y);
    } else if (ido == 1) {
        op->apply(op->user, w->workd + w->ipntr[2] - 1, y); // M x is stored there already
    } else {
        op->mass(op->user, x, y);
        memcpy(x, y, (size_t)op->n * sizeof *x);
        op->apply(op->user, x, y);
    }
    return true;
}

// Applies the operator once to a vector and scales it to mass 1. This removes components without mass, which no product
// with M sees and which therefore grow from step to step.
static void arpack_purify(const pcs_operator *op, double *x, double *image)
{
    double square = 0.0;
    op->mass(op->user, x, image);
    op->apply(op->user, image, x);
    op->mass(op->user, x, image);
    for (int i = 0; i < op->n; i++) square += x[i] * image[i];
    for (int i = 0; i < op->n; i++) x[i] /= sqrt(square);
}

// Fetches the converged values and vectors. Returns the error code of ARPACK, 0 if none.
static int arpack_fetch(const pcs_operator *op, arpack_work *w, int nev, double *re, double *im, double *vector)
{
    int n = op->n, info = 0;
    if (op->mass == NULL) {
        dneupd_c(1, "A", w->select, re, im, vector, n, 0.0, 0.0, w->workev, "I", n, "LM", nev, 0.0, w->resid, w->ncv,
                 w->V, n, w->iparam, w->ipntr, w->workd, w->workl, w->lworkl, &info);
        return info;
    }
    // With a shift of 0 it gives 1/theta in ascending order.
    dseupd_c(1, "A", w->select, re, vector, n, 0.0, "G", n, "LM", nev, 0.0, w->resid, w->ncv, w->V, n, w->iparam,
             w->ipntr, w->workd, w->workl, w->lworkl, &info);
    if (info != 0) return info;
    for (int i = 0; i < nev; i++) {
        re[i] = 1.0 / re[i];
        arpack_purify(op, vector + (size_t)i * (size_t)n, w->workd);
    }
    return 0;
}

// With a mass: computes the `count` largest eigenvalues re of apply(M .), in descending order, with M-orthonormal
// vectors [count x n]; ARPACK takes count < n. Without: the `count` eigenvalues of `apply` of largest magnitude, pairs
// together (one more then), as re + i im; a pair is stored as two columns: real part, then imaginary part of the vector
// of the eigenvalue with im > 0. The arrays have space for count + 1; count < n - 1. *count gets their number.
static pcs_status arpack_solve(pcs_context *ctx, const pcs_operator *op, int *count, double *re, double *im,
                               double *vector)
{
    arpack_work w;
    int n = op->n, nev = *count, ido = 0, info = 1;
    *count = 0;
    PCS_TRY(arpack_take(ctx, n, nev, op->mass == NULL ? 3 : 1, &w));
    w.iparam[6] = op->mass == NULL ? 1 : 3;
    call_once(&arpack_once, arpack_make_lock);
    (void)mtx_lock(&arpack_lock);
    do {
        if (op->mass == NULL)
            dnaupd_c(&ido, "I", n, "LM", nev, 0.0, w.resid, w.ncv, w.V, n, w.iparam, w.ipntr, w.workd, w.workl,
                     w.lworkl, &info);
        else
            dsaupd_c(&ido, "G", n, "LM", nev, 0.0, w.resid, w.ncv, w.V, n, w.iparam, w.ipntr, w.workd, w.workl,
                     w.lworkl, &info);
    } while (arpack_serve(op, ido, &w));
    int nconverged = w.iparam[4];
    bool is_fine = info == 0 && nconverged >= nev;
    if (is_fine) info = arpack_fetch(op, &w, nev, re, im, vector);
    is_fine = is_fine && info == 0;
    if (is_fine) *count = op->mass == NULL && w.iparam[4] > nev ? nev + 1 : nev;
    (void)mtx_unlock(&arpack_lock);
    pcs_scratch_free(w.resid);
    return is_fine ? PCS_OK : arpack_fault(ctx, info, nconverged, nev);
}

// Dense eigenvalues by LAPACK, for problems that are too small for an iteration.
//
// With S = (K - z M)^-1 (on the rows' null space) and M = L L^T, L from the eigenvalues of M so that M may be singular:
//   L^T S L y = theta y,   phi = S L y / sqrt(theta) ... scaled to phi^T M phi = 1.

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

// Computes L with L L^T = M. Returns the error code of LAPACK, 0 if none.
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

// Computes A = L^T S L, with S L kept in Z, and replaces A by its eigenvectors.
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

// Computes phi = Z y_k, scaled to mass 1.
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

static pcs_status lapack_symmetric(pcs_context *ctx, const pcs_operator *op, int *count, double *theta, double *none,
                                   double *vector)
{
    lapack_work w;
    int n = op->n, wanted = *count;
    *count = 0;
    PCS_TRY(lapack_take(ctx, n, &w));
    int info = lapack_solve_symmetric(op, &w);
    // Ascending in w. Values that are round-off relative to the largest belong to no mass or to the rows.
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

// Copies the columns of the largest eigenvalues first; a pair of columns stays together.
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

static pcs_status lapack_general(pcs_context *ctx, const pcs_operator *op, int *count, double *re, double *im,
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

static const double FIRST_SHIFT = 1e-9; // relative to the largest K_ii / M_ii
static const double LEAST_SHIFT = 1e-14;
static const double STABLE_SHIFT = 1e-12; // relative: an eigenvalue above minus this counts as not negative

enum { SMALL = 100, SHIFT_ROUNDS = 12, INVERSE_STEPS = 3, SHIFT_TRIES = 24 };

typedef struct spectrum {
    const pcs_eigen_problem *p;
    int n;
    pcs_matrix A; // K - z M
    pcs_bordered *solver;
    double shift;
    int nlocked;            // M-orthonormal vectors that are projected away: the known ones and those found so far
    double *locked, *image; // [capacity x n] them, and M times them
    double *work;           // [n]
    bool is_free;           // at least as many motions without force as wanted vectors are locked
} spectrum;

static void spectrum_mass(void *user, const double *x, double *y)
{
    const spectrum *s = user;
    pcs_matrix_multiply(s->p->M, x, y);
}

// Subtracts sum phi (phi^T M x) from x, twice because of round-off.
static void spectrum_project(const spectrum *s, double *x)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < s->nlocked; k++) {
            const double *phi = s->locked + (size_t)k * (size_t)s->n, *image = s->image + (size_t)k * (size_t)s->n;
            double part = pcs_dense_dot(s->n, image, x);
            for (int i = 0; i < s->n; i++) x[i] -= part * phi[i];
        }
}

static void spectrum_apply(void *user, const double *x, double *y)
{
    spectrum *s = user;
    // The adjoint projection of the load keeps the operator symmetric.
    memcpy(y, x, (size_t)s->n * sizeof *y);
    for (int k = 0; k < s->nlocked; k++) {
        const double *phi = s->locked + (size_t)k * (size_t)s->n, *image = s->image + (size_t)k * (size_t)s->n;
        double part = pcs_dense_dot(s->n, phi, x);
        for (int i = 0; i < s->n; i++) y[i] -= part * image[i];
    }
    pcs_bordered_solve(s->solver, y, NULL);
    spectrum_project(s, y);
}

static void spectrum_lock(spectrum *s, const double *phi)
{
    double *to = s->locked + (size_t)s->nlocked * (size_t)s->n, *image = s->image + (size_t)s->nlocked * (size_t)s->n;
    memcpy(to, phi, (size_t)s->n * sizeof *to);
    pcs_matrix_multiply(s->p->M, to, image);
    s->nlocked++;
}

// Factors K - z M; *is_definite is false when it is singular or has eigenvalues below z.
static pcs_status spectrum_factor(spectrum *s, double shift, bool *is_definite)
{
    bool is_singular = false;
    s->shift = shift;
    pcs_matrix_combine(&s->A, (const double[3]){ -shift, 0.0, 1.0 }, s->p->M, NULL, s->p->K);
    PCS_TRY(pcs_bordered_factor(s->solver, s->p->holds, &is_singular));
    *is_definite = !is_singular;
    return PCS_OK;
}

// Returns the largest K_ii / M_ii: an estimate of the largest eigenvalue.
static double eigen_top(const pcs_eigen_problem *p)
{
    double top = 0.0;
    for (int j = 0; j < p->K->pattern->n; j++) {
        double mass = pcs_matrix_diagonal(p->M, j);
        if (mass > 0.0) top = fmax(top, fabs(pcs_matrix_diagonal(p->K, j)) / mass);
    }
    return top;
}

// Zeroes the entries of r at rows of G that hold, whose multipliers are unknown.
static void eigen_clear_held(const pcs_eigen_problem *p, double *r)
{
    if (p->G == NULL || p->holds == NULL) return;
    for (int j = 0; j < p->G->nrow; j++) {
        if (!p->holds[j]) continue;
        for (int k = p->G->start[j]; k < p->G->start[j + 1]; k++) r[p->G->column[k]] = 0.0;
    }
}

// Returns the Rayleigh quotient after a few inverse iterations orthogonal to the known vectors.
static double spectrum_estimate(spectrum *s, double *x, double *y)
{
    double quotient = 0.0;
    for (int k = 0; k < INVERSE_STEPS; k++) {
        pcs_matrix_multiply(s->p->M, x, y);
        spectrum_apply(s, y, x);
        pcs_matrix_multiply(s->p->M, x, y);
        double mass = pcs_dense_dot(s->n, x, y);
        if (!(mass > 0.0)) return 0.0;
        pcs_matrix_multiply(s->p->K, x, y);
        quotient = pcs_dense_dot(s->n, x, y) / mass;
        for (int i = 0; i < s->n; i++) x[i] /= sqrt(mass);
    }
    return quotient;
}

// Returns |phi|^T |K| |phi| eps, the round-off in the quotient of a null vector.
static double spectrum_rounding(const pcs_eigen_problem *problem, const double *x)
{
    const pcs_matrix *K = problem->K_terms != NULL ? problem->K_terms : problem->K;
    double sum = 0.0;
    for (int j = 0; j < K->pattern->n; j++)
        for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++)
            sum += fabs(K->value[p] * x[K->pattern->row[p]] * x[j]);
    return DBL_EPSILON * sum;
}

// Returns the quotient up to which it is indistinguishable from 0: round-off of K and of the shift, and other errors.
static double spectrum_zero(const spectrum *s, const double *x)
{
    return 50.0 * (spectrum_rounding(s->p, x) + DBL_EPSILON * fabs(s->shift)) + s->p->blur;
}

// Fills x with numbers without symmetry, so that no eigenvector is missed; different ones after every locked vector,
// since one start vector meets a single combination of the eigenvectors of a multiple eigenvalue.
static void spectrum_start_vector(const spectrum *s, double *x)
{
    for (int i = 0; i < s->n; i++) x[i] = 1.0 + 0.5 * sin(1.0 + (2.3 + 0.61 * s->nlocked) * i);
    spectrum_project(s, x);
}

// Returns the smallest nonzero eigenvalue by magnitude. Vectors with eigenvalue zero are locked on the way.
static double spectrum_first(spectrum *s, double *x)
{
    double estimate = spectrum_estimate(s, x, s->work);
    int room = s->p->nknown + s->p->count;
    while (estimate <= spectrum_zero(s, x) && s->nlocked < room) {
        spectrum_lock(s, x);
        spectrum_start_vector(s, x);
        estimate = spectrum_estimate(s, x, s->work);
    }
    return estimate;
}

// Moves the shift from one that makes K - z M definite towards the magnitude of the smallest wanted eigenvalue.
static pcs_status spectrum_near_shift(pcs_context *ctx, spectrum *s, double top, double *x)
{
    bool is_definite = false;
    double shift = top > 0.0 ? -FIRST_SHIFT * top : -1.0;
    for (int k = 0; k < SHIFT_TRIES; k++, shift *= 10.0) {
        PCS_TRY(spectrum_factor(s, shift, &is_definite));
        if (is_definite) break;
    }
    if (!is_definite)
        return pcs_fail(ctx, PCS_FAILED, "no shift down to %g makes the stiffness matrix positive definite", s->shift);
    int nlocked = s->nlocked;
    pcs_status status = PCS_OK;
    for (int k = 0; k < SHIFT_ROUNDS; k++) {
        double estimate = spectrum_first(s, x), last = s->shift;
        if (s->nlocked == s->p->nknown + s->p->count) {
            status = spectrum_factor(s, -STABLE_SHIFT * top, &s->is_free);
            if (status == PCS_OK && !s->is_free) status = spectrum_factor(s, last, &is_definite);
            break;
        }
        double next = -fmax(estimate, LEAST_SHIFT * top);
        bool is_far = next > 0.25 * last || (next < 4.0 * last && estimate > 0.0);
        if (!isfinite(next) || !is_far || next == last) break;
        status = spectrum_factor(s, next, &is_definite);
        if (status == PCS_OK && is_definite) continue;
        if (status == PCS_OK) status = spectrum_factor(s, last, &is_definite);
        break;
    }
    s->nlocked = nlocked;
    return status;
}

// Factors K - z M for a z below all eigenvalues and not far from the first wanted one.
static pcs_status spectrum_choose_shift(pcs_context *ctx, spectrum *s)
{
    double top = eigen_top(s->p);
    bool is_done = false;
    double *x = pcs_scratch(NULL, (size_t)s->n, sizeof *x);
    if (x == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: a vector of %d equations", s->n);
    pcs_status status = PCS_OK;
    spectrum_start_vector(s, x);
    // Tries 0. As round-off may let a singular K pass for definite, the smallest quotient must exceed round-off.
    if (s->p->nknown == 0 && top > 0.0) status = spectrum_factor(s, 0.0, &is_done);
    if (is_done) is_done = spectrum_estimate(s, x, s->work) > spectrum_zero(s, x);
    if (status == PCS_OK && !is_done) status = spectrum_near_shift(ctx, s, top, x);
    pcs_scratch_free(x);
    return status;
}

static pcs_status spectrum_create(pcs_context *ctx, const pcs_eigen_problem *p, spectrum *s)
{
    int n = p->K->pattern->n;
    size_t room = ((size_t)p->nknown + (size_t)p->count + 1) * (size_t)n;
    *s = (spectrum){ .p = p, .n = n, .A = { .pattern = p->K->pattern } };
    PCS_TAKE(ctx, s->A.value, p->K->pattern->nnz, "the shifted stiffness matrix");
    PCS_TAKE(ctx, s->locked, room, "eigenvectors");
    PCS_TAKE(ctx, s->image, room, "eigenvectors");
    PCS_TAKE(ctx, s->work, n, "eigenvectors");
    for (int k = 0; k < p->nknown; k++) spectrum_lock(s, p->known + (size_t)k * (size_t)n);
    return pcs_bordered_create(ctx, p->linear, &s->A, PCS_SPD, p->G, &s->solver);
}

// Returns the worst entry of K phi - lambda M phi relative to the sum of the magnitudes of its terms; equations under
// rows are left out, their multipliers are not known here.
static double spectrum_residual(const spectrum *s, const double *phi, double lambda, double *r)
{
    const pcs_pattern *pattern = s->p->K->pattern;
    double worst = 0.0, bound = 0.0;
    memset(r, 0, (size_t)s->n * sizeof *r);
    pcs_matrix_add_multiply(s->p->K, 1.0, phi, r);
    pcs_matrix_add_multiply(s->p->M, -lambda, phi, r);
    eigen_clear_held(s->p, r);
    for (int j = 0; j < s->n; j++) {
        double size = 0.0;
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            size += fabs(s->p->K->value[p] * phi[pattern->row[p]]);
        bound = fmax(bound, size);
        worst = fmax(worst, fabs(r[j]));
    }
    return bound > 0.0 ? worst / bound : worst;
}

// Returns lambda: by the quotient of K and M, more accurate than the shift if it is large beside the smallest one.
static double spectrum_value(const spectrum *s, double theta, double largest, const double *phi)
{
    if (largest / fabs(theta) < 1e3) return s->shift + 1.0 / theta;
    pcs_matrix_multiply(s->p->K, phi, s->work);
    return pcs_dense_dot(s->n, phi, s->work);
}

static void eigen_swap(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double keep = a[i];
        a[i] = b[i];
        b[i] = keep;
    }
}

static void spectrum_sort(pcs_eigen_result *r, int n)
{
    for (int i = 1; i < r->count; i++)
        for (int k = i; k > 0 && r->lambda[k] < r->lambda[k - 1]; k--) {
            double *phi = r->vector + (size_t)k * (size_t)n;
            eigen_swap(&r->lambda[k], &r->lambda[k - 1], 1);
            eigen_swap(phi, phi - n, (size_t)n);
        }
}

static pcs_status spectrum_search(pcs_context *ctx, spectrum *s, bool is_dense, int wanted, double *theta,
                                  pcs_eigen_result *out)
{
    const pcs_operator op = { .n = s->n, .user = s, .apply = spectrum_apply, .mass = spectrum_mass };
    double *vector = out->vector + (size_t)out->count * (size_t)s->n;
    int count = wanted;
    PCS_TRY((is_dense ? lapack_symmetric : arpack_solve)(ctx, &op, &count, theta, NULL, vector));
    double largest = 0.0;
    for (int k = 0; k < count; k++) largest = fmax(largest, fabs(theta[k]));
    for (int k = 0; k < count; k++)
        out->lambda[out->count + k] = spectrum_value(s, theta[k], largest, vector + (size_t)k * (size_t)s->n);
    out->count += count;
    return PCS_OK;
}

// Returns the motions without force as they were found: an iteration cannot distinguish them.
static void spectrum_take_free(spectrum *s, pcs_eigen_result *out)
{
    size_t n = (size_t)s->n;
    out->count = s->p->count;
    memcpy(out->vector, s->locked + (size_t)s->p->nknown * n, (size_t)out->count * n * sizeof *out->vector);
    for (int k = 0; k < out->count; k++) {
        const double *phi = out->vector + (size_t)k * n;
        pcs_matrix_multiply(s->p->K, phi, s->work);
        out->lambda[k] = pcs_dense_dot(s->n, phi, s->work);
    }
}

// Searches the complement of the vectors found for a value that should have been among them; *is_complete if none.
static pcs_status spectrum_look_again(pcs_context *ctx, spectrum *s, double *theta, pcs_eigen_result *out,
                                      bool *is_complete)
{
    int found = out->count, nlocked = s->nlocked;
    double last = -INFINITY;
    for (int k = 0; k < found; k++) last = fmax(last, out->lambda[k]);
    for (int k = 0; k < found; k++) spectrum_lock(s, out->vector + (size_t)k * (size_t)s->n);
    pcs_status status = spectrum_search(ctx, s, false, 1, theta, out);
    s->nlocked = nlocked;
    if (status != PCS_OK) return status;
    *is_complete = out->lambda[found] >= last - 1e-9 * fabs(last);
    spectrum_sort(out, s->n);
    out->count = found;
    return PCS_OK;
}

static pcs_status spectrum_finish(pcs_context *ctx, spectrum *s, pcs_eigen_result *out)
{
    PCS_TAKE(ctx, out->residual, out->count, "eigenvalues");
    PCS_TAKE(ctx, out->zero, out->count, "eigenvalues");
    spectrum_sort(out, s->n);
    for (int k = 0; k < out->count; k++) {
        const double *phi = out->vector + (size_t)k * (size_t)s->n;
        out->residual[k] = spectrum_residual(s, phi, out->lambda[k], s->work);
        out->zero[k] = spectrum_zero(s, phi);
    }
    out->shift = s->shift;
    out->nfactor = pcs_bordered_factorizations(s->solver);
    return PCS_OK;
}

// Computes the eigenvalues; `most`: number of those that the rows leave, including the known vectors.
static pcs_status spectrum_find(pcs_context *ctx, const pcs_eigen_problem *p, int most, pcs_eigen_result *out)
{
    spectrum s;
    double *theta;
    int n = p->K->pattern->n, wanted = p->count;
    if (wanted > most - p->nknown) wanted = most - p->nknown;
    // The iteration needs room for a basis, and for one value more when it looks again.
    bool needs_dense = n <= SMALL || most - p->nknown < 2 * wanted + 20;
    bool is_dense = p->method == PCS_EIGEN_DENSE || (p->method == PCS_EIGEN_AUTO && needs_dense);
    out->eigen_name = is_dense ? "LAPACK" : "ARPACK";
    PCS_TRY(spectrum_create(ctx, p, &s));
    PCS_TAKE(ctx, theta, (size_t)p->count + 2, "eigenvalues");
    PCS_TAKE(ctx, out->lambda, (size_t)p->count + 2, "eigenvalues");
    PCS_TAKE(ctx, out->vector, ((size_t)p->count + 2) * (size_t)n, "eigenvectors");
    if (wanted <= 0) return spectrum_finish(ctx, &s, out);
    PCS_TRY(spectrum_choose_shift(ctx, &s));
    if (s.is_free) {
        spectrum_take_free(&s, out);
        return spectrum_finish(ctx, &s, out);
    }
    PCS_TRY(spectrum_search(ctx, &s, is_dense, wanted, theta, out));
    bool is_complete = is_dense;
    for (int k = 0; k < wanted; k++) {
        if (is_complete) break;
        PCS_TRY(spectrum_look_again(ctx, &s, theta, out, &is_complete));
    }
    return spectrum_finish(ctx, &s, out);
}

pcs_status pcs_eigen_symmetric(pcs_context *ctx, const pcs_eigen_problem *p, pcs_eigen_result *out)
{
    pcs_reduced reduced;
    *out = (pcs_eigen_result){ 0 };
    PCS_TRY(eigen_reduce(ctx, p, &reduced));
    PCS_TRY(spectrum_find(ctx, &reduced.problem, reduced.nfree, out));
    return eigen_expand(ctx, &reduced, out->count, &out->vector);
}

// The null space of rows: elimination forward, then back.

// Largest entry of an eliminated row (1 before) that counts as 0. Directions at an equilibrium have errors of 1e-10.
static const double DEPENDENT = 1e-9;
static const double ROUND_OFF = 4.0 * DBL_EPSILON;
static const double PIVOT = 0.5; // least pivot, relative to the largest entry: leaves a choice of columns

enum { NULL_FILL = 20, NULL_ROOM = 2000000 }; // limits of the entries of Z: relative to those of G, and at least

// Rows x_pivot = -sum value x_column.
typedef struct solved_rows {
    size_t *start; // [rows + 1]
    int *pivot;    // [rows]
    int *column;
    double *value;
    size_t capacity;
    int count;
} solved_rows;

typedef struct elimination {
    pcs_context *ctx;
    const pcs_rows *G;
    const double *size;
    int n;
    size_t room;          // number of entries that rows may have in total
    int *meets;           // [n] number of rows in a column
    int *solved;          // [n] row whose pivot this is, or -1
    double *w;            // [n] the present row
    int *touched;         // [n] its columns
    unsigned char *is_in; // [n] 1 for these columns
    int ntouched;
    solved_rows forward; // free of the pivots of earlier rows, not of later ones
    solved_rows final;   // free of all pivots, from the last row to the first
} elimination;

static pcs_status rows_take(pcs_context *ctx, int nrow, solved_rows *rows)
{
    PCS_TAKE(ctx, rows->start, (size_t)nrow + 1, "rows of joints");
    PCS_TAKE(ctx, rows->pivot, nrow, "rows of joints");
    return PCS_OK;
}

static void rows_release(solved_rows *rows)
{
    pcs_scratch_free(rows->column);
    pcs_scratch_free(rows->value);
}

static pcs_status rows_grow(pcs_context *ctx, solved_rows *rows, size_t needed)
{
    if (needed <= rows->capacity) return PCS_OK;
    size_t capacity = 2 * needed + 64;
    int *column = pcs_scratch(rows->column, capacity, sizeof *column);
    if (column != NULL) rows->column = column;
    double *value = pcs_scratch(rows->value, capacity, sizeof *value);
    if (value != NULL) rows->value = value;
    if (column == NULL || value == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: rows of joints");
    rows->capacity = capacity;
    return PCS_OK;
}

static void elimination_add(elimination *e, int column, double value)
{
    if (!e->is_in[column]) e->touched[e->ntouched++] = column;
    e->is_in[column] = 1;
    e->w[column] += value;
}

static void elimination_clear(elimination *e)
{
    for (int t = 0; t < e->ntouched; t++) {
        e->w[e->touched[t]] = 0.0;
        e->is_in[e->touched[t]] = 0;
    }
    e->ntouched = 0;
}

// Substitutes solved row k for its pivot in the present row.
static void elimination_replace(elimination *e, const solved_rows *rows, int k)
{
    double factor = e->w[rows->pivot[k]];
    e->w[rows->pivot[k]] = 0.0;
    for (size_t p = rows->start[k]; p < rows->start[k + 1]; p++)
        elimination_add(e, rows->column[p], -factor * rows->value[p]);
}

// Loads row j in natural units, scaled to a largest entry of 1. Returns false if it has none.
static bool elimination_load(elimination *e, int j)
{
    double most = 0.0;
    for (int p = e->G->start[j]; p < e->G->start[j + 1]; p++) {
        int i = e->G->column[p];
        elimination_add(e, i, e->G->value[p] * (e->size == NULL ? 1.0 : e->size[i]));
    }
    for (int t = 0; t < e->ntouched; t++) most = fmax(most, fabs(e->w[e->touched[t]]));
    if (!(most > 0.0)) return false;
    for (int t = 0; t < e->ntouched; t++) e->w[e->touched[t]] /= most;
    return true;
}

// Eliminates solved unknowns, the first pivot first, as a row may add pivots of later rows but not of earlier ones.
static void elimination_reduce(elimination *e)
{
    for (;;) {
        int first = INT_MAX;
        for (int t = 0; t < e->ntouched; t++) {
            int k = e->solved[e->touched[t]];
            if (k >= 0 && k < first && e->w[e->touched[t]] != 0.0) first = k;
        }
        if (first == INT_MAX) return;
        elimination_replace(e, &e->forward, first);
    }
}

// Returns the column that fewest rows touch among those with a large entry. -1 if only round-off is left.
static int elimination_pivot(const elimination *e)
{
    double most = 0.0;
    int best = -1;
    for (int t = 0; t < e->ntouched; t++) most = fmax(most, fabs(e->w[e->touched[t]]));
    if (!(most > DEPENDENT)) return -1;
    for (int t = 0; t < e->ntouched; t++) {
        int i = e->touched[t];
        if (fabs(e->w[i]) >= PIVOT * most && (best < 0 || e->meets[i] < e->meets[best])) best = i;
    }
    return best;
}

// Stores the present row, divided by its entry at the pivot.
static pcs_status elimination_keep(elimination *e, solved_rows *rows, int pivot, double entry)
{
    size_t used = rows->start[rows->count];
    PCS_TRY(rows_grow(e->ctx, rows, used + (size_t)e->ntouched));
    for (int t = 0; t < e->ntouched; t++) {
        int i = e->touched[t];
        if (i == pivot || !(fabs(e->w[i]) > ROUND_OFF)) continue;
        rows->column[used] = i;
        rows->value[used++] = e->w[i] / entry;
    }
    rows->pivot[rows->count++] = pivot;
    rows->start[rows->count] = used;
    return PCS_OK;
}

// Eliminates forward; *nrest: number of rows that hold but were skipped because there are too many entries.
static pcs_status elimination_forward(elimination *e, const unsigned char *holds, int *nrest)
{
    for (int j = 0; j < e->G->nrow; j++)
        for (int p = e->G->start[j]; p < e->G->start[j + 1]; p++) e->meets[e->G->column[p]] += holds[j] != 0;
    for (int j = 0; j < e->G->nrow; j++) {
        int pivot = -1;
        bool is_full = e->forward.start[e->forward.count] > e->room;
        if (holds[j] && is_full) ++*nrest;
        if (holds[j] && !is_full && elimination_load(e, j)) {
            elimination_reduce(e);
            pivot = elimination_pivot(e);
        }
        if (pivot >= 0) {
            e->solved[pivot] = e->forward.count;
            PCS_TRY(elimination_keep(e, &e->forward, pivot, e->w[pivot]));
        }
        elimination_clear(e);
    }
    return PCS_OK;
}

// Substitutes back from the last row to the first; *is_full if there would be too many entries.
static pcs_status elimination_back(elimination *e, bool *is_full)
{
    const solved_rows *from = &e->forward;
    solved_rows *to = &e->final;
    for (int k = from->count - 1; k >= 0; k--) {
        for (size_t p = from->start[k]; p < from->start[k + 1]; p++)
            elimination_add(e, from->column[p], from->value[p]);
        int nown = e->ntouched; // final rows add no pivots
        for (int t = 0; t < nown; t++) {
            int later = e->solved[e->touched[t]];
            if (later >= 0) elimination_replace(e, to, from->count - 1 - later);
        }
        PCS_TRY(elimination_keep(e, to, from->pivot[k], 1.0));
        elimination_clear(e);
        *is_full = to->start[to->count] > e->room;
        if (*is_full) return PCS_OK;
    }
    return PCS_OK;
}

static pcs_status elimination_finish(const elimination *e, pcs_null_space *out)
{
    const solved_rows *rows = &e->final;
    int *number;
    size_t nentry = rows->start[rows->count] + (size_t)out->nfree;
    PCS_TAKE(e->ctx, number, e->n, "rows of joints");
    PCS_TAKE(e->ctx, out->start, (size_t)e->n + 1, "rows of joints");
    PCS_TAKE(e->ctx, out->kept, out->nfree, "rows of joints");
    PCS_TAKE(e->ctx, out->column, nentry, "rows of joints");
    PCS_TAKE(e->ctx, out->value, nentry, "rows of joints");
    for (int i = 0, count = 0; i < e->n; i++)
        if (e->solved[i] < 0) {
            out->kept[count] = i;
            number[i] = count++;
        }
    for (int i = 0, used = 0; i < e->n; i++) {
        int k = e->solved[i] < 0 ? -1 : rows->count - 1 - e->solved[i];
        if (k < 0) {
            out->column[used] = number[i];
            out->value[used++] = 1.0;
        } else {
            for (size_t p = rows->start[k]; p < rows->start[k + 1]; p++) {
                int c = rows->column[p];
                out->column[used] = number[c];
                out->value[used++] = -rows->value[p] * (e->size == NULL ? 1.0 : e->size[i] / e->size[c]);
            }
        }
        out->start[i + 1] = used;
    }
    return PCS_OK;
}

static pcs_status elimination_run(elimination *e, const unsigned char *holds, pcs_null_space *out)
{
    int nrest = 0;
    PCS_TRY(elimination_forward(e, holds, &nrest));
    out->nfree = e->n - e->forward.count - nrest;
    out->is_full = nrest > 0;
    if (!out->is_full) PCS_TRY(elimination_back(e, &out->is_full));
    return out->is_full ? PCS_OK : elimination_finish(e, out);
}

// Finds Z for the rows with holds[j] != 0. size [n] (NULL: all 1) are natural sizes of x, to find independent rows.
static pcs_status null_space_create(pcs_context *ctx, int n, const pcs_rows *G, const unsigned char *holds,
                                    const double *size, pcs_null_space *out)
{
    elimination e = { .ctx = ctx, .G = G, .size = size, .n = n };
    *out = (pcs_null_space){ .n = n };
    e.room = NULL_ROOM + NULL_FILL * (size_t)G->start[G->nrow];
    PCS_TAKE(ctx, e.meets, e.n, "rows of joints");
    PCS_TAKE(ctx, e.solved, e.n, "rows of joints");
    PCS_TAKE(ctx, e.w, e.n, "rows of joints");
    PCS_TAKE(ctx, e.touched, e.n, "rows of joints");
    PCS_TAKE(ctx, e.is_in, e.n, "rows of joints");
    PCS_TRY(rows_take(ctx, G->nrow, &e.forward));
    PCS_TRY(rows_take(ctx, G->nrow, &e.final));
    for (int i = 0; i < e.n; i++) e.solved[i] = -1;
    pcs_status status = elimination_run(&e, holds, out);
    rows_release(&e.forward);
    rows_release(&e.final);
    return status;
}

// Computes x = Z y.
static void null_space_expand(const pcs_null_space *self, const double *y, double *x)
{
    for (int i = 0; i < self->n; i++) {
        double sum = 0.0;
        for (int p = self->start[i]; p < self->start[i + 1]; p++) sum += self->value[p] * y[self->column[p]];
        x[i] = sum;
    }
}

// (s^2 M + s C + K) phi = 0 by shift and invert of its first-order form.
//
//   x = (phi, s phi),   (A - z B)^-1 B (a, b) = (u, a + z u),   (K + z C + z^2 M) u = -(M (b + z a) + C a)
//
// has the eigenvalues 1/(s - z). The shift z is 0 where K is regular, else real, positive and small. The second half of
// x is divided by a reference frequency, so that both halves are of one size.

enum { SMALL_QUADRATIC = 120 };

static const double SMALL_SHIFT = 1e-9; // squared, relative to the largest K_ii / M_ii

static const double DOUBLE_ROOT = 1e-5; // relative to the shift: error of a double root, with a margin

static const double EQUAL = 1e-9; // relative difference of |s| that counts as round-off

typedef struct pencil {
    const pcs_eigen_problem *p;
    int n;
    pcs_matrix Q; // K + z C + z^2 M
    pcs_bordered *solver;
    double shift, reference; // 1/s
    double *work;            // [n]
} pencil;

static void pencil_apply(void *user, const double *x, double *y)
{
    pencil *s = user;
    const double *a = x, *b = x + s->n;
    double *u = y, *rest = y + s->n;
    for (int i = 0; i < s->n; i++) s->work[i] = s->reference * b[i] + s->shift * a[i];
    pcs_matrix_multiply(s->p->M, s->work, u);
    if (s->p->C != NULL) pcs_matrix_add_multiply(s->p->C, 1.0, a, u);
    for (int i = 0; i < s->n; i++) u[i] = -u[i];
    pcs_bordered_solve(s->solver, u, NULL);
    for (int i = 0; i < s->n; i++) rest[i] = (a[i] + s->shift * u[i]) / s->reference;
}

static pcs_status pencil_factor(pcs_context *ctx, pencil *s)
{
    const pcs_eigen_problem *p = s->p;
    bool is_singular = false;
    double small = sqrt(SMALL_SHIFT * eigen_top(p));
    if (!(small > 0.0)) small = 1.0;
    s->reference = small;
    for (double z = p->nknown > 0 ? small : 0.0;; z = z > 0.0 ? 10.0 * z : small) {
        s->shift = z;
        pcs_matrix_combine(&s->Q, (const double[3]){ z * z, z, 1.0 }, p->M, p->C, p->K);
        PCS_TRY(pcs_bordered_factor(s->solver, p->holds, &is_singular));
        if (!is_singular) return PCS_OK;
        if (z > 1e6 * small)
            return pcs_fail(ctx, PCS_FAILED, "the matrix K + z C + z^2 M is singular for all shifts z up to %g 1/s", z);
    }
}

// Returns |(s^2 M + s C + K) phi| relative to K phi, worst entries of both.
static double pencil_residual(const pencil *s, double sr, double si, const double *re, const double *im, double *r)
{
    const pcs_eigen_problem *p = s->p;
    double worst = 0.0, size = 0.0;
    double s2r = sr * sr - si * si, s2i = 2.0 * sr * si;
    for (int part = 0; part < 2; part++) {
        const double *a = part == 0 ? re : im, *b = part == 0 ? im : re;
        double sign = part == 0 ? -1.0 : 1.0;
        pcs_matrix_multiply(p->K, a, r);
        size = fmax(size, pcs_matrix_abs_bound(p->K, a));
        pcs_matrix_add_multiply(p->M, s2r, a, r);
        pcs_matrix_add_multiply(p->M, sign * s2i, b, r);
        if (p->C != NULL) {
            pcs_matrix_add_multiply(p->C, sr, a, r);
            pcs_matrix_add_multiply(p->C, sign * si, b, r);
        }
        eigen_clear_held(p, r);
        for (int i = 0; i < s->n; i++) worst = fmax(worst, fabs(r[i]));
    }
    return size > 0.0 ? worst / size : worst;
}

// Bounds |s|^2 of a motion without force, 1/s^2, by 50 times its round-off. s = 0 is a double root: |s| is exact only
// to the square root of round-off, relative to the shift.
static double pencil_zero(const pencil *s, const double *re, const double *im)
{
    const pcs_matrix *K = s->p->K_terms != NULL ? s->p->K_terms : s->p->K;
    double sum = 0.0, mass = 0.0;
    for (int j = 0; j < s->n; j++)
        for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++)
            sum += fabs(K->value[p]) * hypot(re[K->pattern->row[p]], im[K->pattern->row[p]]) * hypot(re[j], im[j]);
    pcs_matrix_multiply(s->p->M, re, s->work);
    mass += pcs_dense_dot(s->n, re, s->work);
    pcs_matrix_multiply(s->p->M, im, s->work);
    mass += pcs_dense_dot(s->n, im, s->work);
    double double_root = DOUBLE_ROOT * s->shift;
    return (mass > 0.0 ? 50.0 * DBL_EPSILON * sum / mass : 0.0) + double_root * double_root + s->p->blur;
}

// Divides by the largest entry, which becomes 1.
static void pencil_normalise(int n, double *re, double *im)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (hypot(re[i], im[i]) > hypot(re[best], im[best])) best = i;
    double a = re[best], b = im[best], square = a * a + b * b;
    if (!(square > 0.0)) return;
    for (int i = 0; i < n; i++) {
        double x = re[i], y = im[i];
        re[i] = (a * x + b * y) / square;
        im[i] = (a * y - b * x) / square;
    }
}

static void pencil_keep(pencil *s, double thr, double thi, const double *vr, const double *vi, pcs_eigen_complex *out)
{
    size_t n = (size_t)s->n, at = (size_t)out->count * n;
    double square = thr * thr + thi * thi, sr = s->shift + thr / square, si = -thi / square;
    memcpy(out->re + at, vr, n * sizeof *vr);
    if (vi != NULL) memcpy(out->im + at, vi, n * sizeof *vi);
    else memset(out->im + at, 0, n * sizeof *out->im);
    if (si < 0.0) {
        si = -si;
        for (size_t i = 0; i < n; i++) out->im[at + i] = -out->im[at + i];
    }
    pencil_normalise(s->n, out->re + at, out->im + at);
    out->decay[out->count] = -sr;
    out->w[out->count] = si == 0.0 ? 0.0 : si; // avoids -0
    out->residual[out->count] = pencil_residual(s, sr, si, out->re + at, out->im + at, s->work);
    out->zero[out->count] = pencil_zero(s, out->re + at, out->im + at);
    out->count++;
}

// Returns true if a precedes b: smaller |s| first; of two that differ by round-off only, the growing one.
static bool pencil_precedes(const pcs_eigen_complex *r, int a, int b)
{
    double sa = hypot(r->decay[a], r->w[a]), sb = hypot(r->decay[b], r->w[b]);
    return fabs(sa - sb) <= EQUAL * sb ? r->decay[a] < r->decay[b] - EQUAL * sb : sa < sb;
}

static void pencil_sort(pcs_eigen_complex *r, int n)
{
    size_t size = (size_t)n;
    for (int i = 1; i < r->count; i++)
        for (int k = i; k > 0 && pencil_precedes(r, k, k - 1); k--) {
            eigen_swap(&r->decay[k], &r->decay[k - 1], 1);
            eigen_swap(&r->w[k], &r->w[k - 1], 1);
            eigen_swap(&r->residual[k], &r->residual[k - 1], 1);
            eigen_swap(&r->zero[k], &r->zero[k - 1], 1);
            eigen_swap(r->re + (size_t)k * size, r->re + (size_t)(k - 1) * size, size);
            eigen_swap(r->im + (size_t)k * size, r->im + (size_t)(k - 1) * size, size);
        }
}

static pcs_status pencil_search(pcs_context *ctx, pencil *s, bool is_dense, int wanted, pcs_eigen_complex *out)
{
    const pcs_operator op = { .n = 2 * s->n, .user = s, .apply = pencil_apply };
    size_t room = (size_t)wanted + 1, size = (size_t)op.n;
    double *re, *im, *vector;
    int count = wanted;
    PCS_TAKE(ctx, re, room, "eigenvalues");
    PCS_TAKE(ctx, im, room, "eigenvalues");
    PCS_TAKE(ctx, vector, room * size, "eigenvectors");
    PCS_TRY((is_dense ? lapack_general : arpack_solve)(ctx, &op, &count, re, im, vector));
    double largest = 0.0;
    for (int k = 0; k < count; k++) largest = fmax(largest, hypot(re[k], im[k]));
    for (int k = 0; k < count; k++) {
        if (hypot(re[k], im[k]) <= op.n * DBL_EPSILON * largest) continue;
        bool is_pair = im[k] != 0.0 && k + 1 < count;
        pencil_keep(s, re[k], im[k], vector + (size_t)k * size, is_pair ? vector + (size_t)(k + 1) * size : NULL, out);
        if (is_pair) k++;
    }
    pencil_sort(out, s->n);
    return PCS_OK;
}

// Computes the eigenvalues; `most`: number of unknowns that the rows leave, with two eigenvalues each.
static pcs_status pencil_find(pcs_context *ctx, const pcs_eigen_problem *p, int most, pcs_eigen_complex *out)
{
    int n = p->K->pattern->n, wanted = p->count < most ? 2 * p->count : 2 * most;
    size_t room = (size_t)wanted + 1;
    pencil s = { .p = p, .n = n, .Q = { .pattern = p->K->pattern } };
    bool is_dense = p->method == PCS_EIGEN_DENSE ||
                    (p->method == PCS_EIGEN_AUTO && (n <= SMALL_QUADRATIC || 2 * most < 2 * wanted + 20));
    PCS_TAKE(ctx, s.Q.value, p->K->pattern->nnz, "the shifted matrix");
    PCS_TAKE(ctx, s.work, n, "eigenvectors");
    PCS_TAKE(ctx, out->decay, room, "eigenvalues");
    PCS_TAKE(ctx, out->w, room, "eigenvalues");
    PCS_TAKE(ctx, out->residual, room, "eigenvalues");
    PCS_TAKE(ctx, out->zero, room, "eigenvalues");
    PCS_TAKE(ctx, out->re, room * (size_t)n, "eigenvectors");
    PCS_TAKE(ctx, out->im, room * (size_t)n, "eigenvectors");
    PCS_TRY(pcs_bordered_create(ctx, p->linear, &s.Q, PCS_GENERAL, p->G, &s.solver));
    if (wanted <= 0) return PCS_OK;
    PCS_TRY(pencil_factor(ctx, &s));
    return pencil_search(ctx, &s, is_dense, wanted, out);
}

pcs_status pcs_eigen_quadratic(pcs_context *ctx, const pcs_eigen_problem *p, pcs_eigen_complex *out)
{
    pcs_reduced reduced;
    *out = (pcs_eigen_complex){ 0 };
    PCS_TRY(eigen_reduce(ctx, p, &reduced));
    PCS_TRY(pencil_find(ctx, &reduced.problem, reduced.nfree, out));
    PCS_TRY(eigen_expand(ctx, &reduced, out->count, &out->re));
    return eigen_expand(ctx, &reduced, out->count, &out->im);
}
