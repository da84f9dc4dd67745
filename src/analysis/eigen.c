// Smallest eigenvalues: ARPACK, LAPACK, then both problems. Rows that hold border the matrix that is factored.
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

// Operator on vectors of n entries.
typedef struct pcs_operator {
    int n;
    void *user;
    void (*apply)(void *user, const double *x, double *y); // y = (K - z M)^-1 x, or y = S x for the complete operator S
    void (*mass)(void *user, const double *x, double *y);  // y = M x; NULL for plain problems
} pcs_operator;

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

static void arpack_enter(void)
{
    call_once(&arpack_once, arpack_make_lock);
    (void)mtx_lock(&arpack_lock);
}

static void arpack_leave(void)
{
    (void)mtx_unlock(&arpack_lock);
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
    arpack_enter();
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
    arpack_leave();
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
    // Ascending in w. Round-off beside the largest belongs to no mass or to the rows.
    double least = n * DBL_EPSILON * fmax(fabs(w.w[0]), fabs(w.w[n - 1]));
    int lowest = info == 0 ? 0 : n;
    for (int k = n - 1; k >= lowest && *count < wanted && w.w[k] > least; k--) {
        lapack_vector(op, &w, k, vector + (size_t)*count * (size_t)n);
        theta[(*count)++] = w.w[k];
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

// Sum of K, C and M with a shift, bordered by the rows that hold.
typedef struct shifted {
    const pcs_eigen_problem *p;
    pcs_matrix A;
    pcs_bordered *solver;
    bool has_rows;
    double *rest, *lam;    // [n] and [rows] of a correction
    pcs_matrix *braced;    // A + G_h^T R G_h, NULL until it is asked for
    pcs_linsolve *factors; // Cholesky factors of it
} shifted;

static pcs_status shifted_create(pcs_context *ctx, const pcs_eigen_problem *p, pcs_linsolve_kind kind, shifted *self)
{
    int nrow = p->G == NULL || p->holds == NULL ? 0 : p->G->nrow;
    *self = (shifted){ .p = p, .A = { .pattern = p->K->pattern } };
    for (int j = 0; j < nrow; j++) self->has_rows = self->has_rows || p->holds[j];
    PCS_TAKE(ctx, self->A.value, p->K->pattern->nnz, "the shifted stiffness matrix");
    PCS_TAKE(ctx, self->rest, p->K->pattern->n, "the shifted stiffness matrix");
    PCS_TAKE(ctx, self->lam, nrow, "the shifted stiffness matrix");
    return pcs_bordered_create(ctx, p->linear, &self->A, kind, p->G, &self->solver);
}

static pcs_status shifted_make_braced(pcs_context *ctx, shifted *self)
{
    const pcs_rows *G = self->p->G;
    pcs_pattern_builder *builder;
    pcs_pattern *pattern;
    if (self->braced != NULL) return PCS_OK;
    PCS_TRY(pcs_pattern_begin(ctx, self->A.pattern->n, &builder));
    pcs_status status = pcs_pattern_add_pattern(builder, self->A.pattern);
    for (int j = 0; j < G->nrow && status == PCS_OK; j++)
        if (self->p->holds[j])
            status = pcs_pattern_add_cells(builder, 1, G->start[j + 1] - G->start[j], G->column + G->start[j]);
    pcs_status finish = pcs_pattern_finish(builder, &pattern);
    PCS_TRY(status == PCS_OK ? finish : status);
    PCS_TRY(pcs_matrix_create(ctx, pattern, &self->braced));
    return pcs_linsolve_create(ctx, "auto", self->braced, PCS_SPD, &self->factors);
}

// Adds r g^T g to B for row j, with r as large as the diagonal of A there.
static void shifted_brace(const shifted *self, int j, pcs_matrix *B)
{
    const pcs_rows *G = self->p->G;
    double stiff = 0.0, entry = 0.0;
    for (int p = G->start[j]; p < G->start[j + 1]; p++) {
        stiff = fmax(stiff, fabs(pcs_matrix_diagonal(&self->A, G->column[p])));
        entry = fmax(entry, fabs(G->value[p]));
    }
    double r = entry > 0.0 ? stiff / (entry * entry) : 0.0;
    for (int p = G->start[j]; p < G->start[j + 1]; p++)
        for (int k = G->start[j]; k < G->start[j + 1]; k++)
            B->value[pcs_pattern_place(B->pattern, G->column[p], G->column[k])] += r * G->value[p] * G->value[k];
}

// Finds by Cholesky factors of A + G_h^T R G_h whether A is positive definite on what the rows leave. Where it is, any
// R that is large enough shows it; where it is not, none does.
static pcs_status shifted_is_definite(pcs_context *ctx, shifted *self, bool *is_definite)
{
    bool is_singular = false;
    PCS_TRY(shifted_make_braced(ctx, self));
    pcs_matrix *B = self->braced;
    pcs_matrix_zero(B);
    for (int j = 0; j < self->A.pattern->n; j++)
        for (int p = self->A.pattern->start[j]; p < self->A.pattern->start[j + 1]; p++)
            B->value[pcs_pattern_place(B->pattern, self->A.pattern->row[p], j)] = self->A.value[p];
    for (int j = 0; j < self->p->G->nrow; j++)
        if (self->p->holds[j]) shifted_brace(self, j, B);
    PCS_TRY(pcs_linsolve_factor(self->factors, &is_singular));
    *is_definite = !is_singular;
    return PCS_OK;
}

// Takes out of x what the rows do not let pass.
static void shifted_project(shifted *self, double *x)
{
    const pcs_rows *G = self->p->G;
    if (!self->has_rows) return;
    memset(self->rest, 0, (size_t)self->A.pattern->n * sizeof *x);
    for (int j = 0; j < G->nrow; j++) self->lam[j] = self->p->holds[j] ? -pcs_rows_dot(G, j, x) : 0.0;
    pcs_bordered_solve(self->solver, self->rest, self->lam);
    for (int i = 0; i < self->A.pattern->n; i++) x[i] += self->rest[i];
}

// Replaces x by A^-1 x on what the rows leave. The border lets rows give way a little, which the projection takes out;
// a correction by the residual of A would bring its round-off into soft motions.
static void shifted_solve(shifted *self, double *x)
{
    pcs_bordered_solve(self->solver, x, NULL);
    shifted_project(self, x);
}

// Takes the forces of the rows out of r: A u, with the response u to r, is what the rows do not take. u [n] is work.
static void shifted_take_rows(shifted *self, double *r, double *u)
{
    if (!self->has_rows) return;
    memcpy(u, r, (size_t)self->A.pattern->n * sizeof *r);
    shifted_solve(self, u);
    pcs_matrix_multiply(&self->A, u, r);
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

// Counts the unknowns that the rows leave: the trace of A^-1 A, which takes the part of a vector that they let pass. If
// they leave `enough` even where no row is redundant, it says so without counting.
static pcs_status shifted_count(shifted *self, int enough, double *x, int *left)
{
    const pcs_eigen_problem *p = self->p;
    int n = self->A.pattern->n;
    double top = eigen_top(p), trace = 0.0;
    bool is_singular = false;
    *left = n;
    if (!self->has_rows) return PCS_OK;
    for (int j = 0; j < p->G->nrow; j++) *left -= p->holds[j] != 0;
    if (*left >= enough) return PCS_OK;
    pcs_matrix_combine(&self->A, (const double[3]){ top > 0.0 ? top : 1.0, 0.0, 1.0 }, p->M, NULL, p->K);
    PCS_TRY(pcs_bordered_factor(self->solver, p->holds, &is_singular));
    if (is_singular) return PCS_OK;
    for (int j = 0; j < n; j++) {
        memset(x, 0, (size_t)n * sizeof *x);
        for (int k = self->A.pattern->start[j]; k < self->A.pattern->start[j + 1]; k++)
            x[self->A.pattern->row[k]] = self->A.value[k];
        shifted_solve(self, x);
        trace += x[j];
    }
    *left = (int)lround(trace);
    return PCS_OK;
}

static const double FIRST_SHIFT = 1e-9; // relative to the largest K_ii / M_ii
static const double LEAST_SHIFT = 1e-14;
static const double STABLE_SHIFT = 1e-12; // relative: an eigenvalue above minus this counts as not negative

enum { SMALL = 100, SHIFT_ROUNDS = 12, INVERSE_STEPS = 3, SHIFT_TRIES = 24 };

typedef struct spectrum {
    pcs_context *ctx;
    const pcs_eigen_problem *p;
    int n;
    shifted matrix; // K - z M
    double shift, top;
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
    shifted_solve(&s->matrix, y);
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
    pcs_matrix_combine(&s->matrix.A, (const double[3]){ -shift, 0.0, 1.0 }, s->p->M, NULL, s->p->K);
    PCS_TRY(pcs_bordered_factor(s->matrix.solver, s->p->holds, &is_singular));
    *is_definite = !is_singular;
    return s->matrix.has_rows && !is_singular ? shifted_is_definite(s->ctx, &s->matrix, is_definite) : PCS_OK;
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
    const pcs_matrix *K = problem->K;
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

// Tries 0. As round-off may let a singular K pass for definite, the smallest quotient must exceed round-off.
static pcs_status spectrum_try_zero(spectrum *s, double *x, bool *is_done)
{
    PCS_TRY(spectrum_factor(s, 0.0, is_done));
    if (*is_done) *is_done = spectrum_estimate(s, x, s->work) > spectrum_zero(s, x);
    return PCS_OK;
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
static pcs_status spectrum_near_shift(pcs_context *ctx, spectrum *s, double *x)
{
    bool is_definite = false;
    double shift = s->top > 0.0 ? -FIRST_SHIFT * s->top : -1.0;
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
            status = spectrum_factor(s, -STABLE_SHIFT * s->top, &s->is_free);
            if (status == PCS_OK && !s->is_free) status = spectrum_factor(s, last, &is_definite);
            break;
        }
        double next = -fmax(estimate, LEAST_SHIFT * s->top);
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
    bool is_done = false;
    double *x = pcs_scratch(NULL, (size_t)s->n, sizeof *x);
    if (x == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: a vector of %d equations", s->n);
    pcs_status status = PCS_OK;
    spectrum_start_vector(s, x);
    if (s->p->nknown == 0 && s->top > 0.0) status = spectrum_try_zero(s, x, &is_done);
    if (status == PCS_OK && !is_done) status = spectrum_near_shift(ctx, s, x);
    pcs_scratch_free(x);
    return status;
}

static pcs_status spectrum_create(pcs_context *ctx, const pcs_eigen_problem *p, spectrum *s)
{
    int n = p->K->pattern->n;
    size_t room = ((size_t)p->nknown + (size_t)p->count + 1) * (size_t)n;
    *s = (spectrum){ .ctx = ctx, .p = p, .n = n, .top = eigen_top(p) };
    PCS_TAKE(ctx, s->locked, room, "eigenvectors");
    PCS_TAKE(ctx, s->image, room, "eigenvectors");
    PCS_TAKE(ctx, s->work, n, "eigenvectors");
    for (int k = 0; k < p->nknown; k++) spectrum_lock(s, p->known + (size_t)k * (size_t)n);
    return shifted_create(ctx, p, PCS_SPD, &s->matrix);
}

// Returns the worst entry of K phi - lambda M phi that the rows do not take, relative to the largest sum of the
// magnitudes of the terms of an equation, with those of the shift if rows hold.
static double spectrum_residual(spectrum *s, const double *phi, double lambda, double *r)
{
    double worst = 0.0, bound = pcs_matrix_abs_bound(s->matrix.has_rows ? &s->matrix.A : s->p->K, phi);
    memset(r, 0, (size_t)s->n * sizeof *r);
    pcs_matrix_add_multiply(s->p->K, 1.0, phi, r);
    pcs_matrix_add_multiply(s->p->M, -lambda, phi, r);
    shifted_take_rows(&s->matrix, r, s->locked);
    for (int j = 0; j < s->n; j++) worst = fmax(worst, fabs(r[j]));
    return bound > 0.0 ? worst / bound : worst;
}

// Returns lambda: by the quotient of K and M, more accurate than the shift if it is large beside the smallest one.
static double spectrum_value(spectrum *s, double theta, double largest, double *phi)
{
    shifted_project(&s->matrix, phi);
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
    return PCS_OK;
}

pcs_status pcs_eigen_symmetric(pcs_context *ctx, const pcs_eigen_problem *p, pcs_eigen_result *out)
{
    spectrum s;
    double *theta;
    *out = (pcs_eigen_result){ 0 };
    PCS_TRY(spectrum_create(ctx, p, &s));
    int n = s.n, left, wanted = p->count;
    // The iteration needs room for a basis, and for one value more when it looks again.
    int enough = p->nknown + 2 * wanted + 20;
    PCS_TRY(shifted_count(&s.matrix, n <= SMALL ? n : enough, s.work, &left));
    if (wanted > left - p->nknown) wanted = left - p->nknown;
    bool needs_dense = n <= SMALL || left < enough;
    bool is_dense = p->method == PCS_EIGEN_DENSE || (p->method == PCS_EIGEN_AUTO && needs_dense);
    out->eigen_name = is_dense ? "LAPACK" : "ARPACK";
    PCS_TAKE(ctx, theta, (size_t)p->count + 2, "eigenvalues");
    PCS_TAKE(ctx, out->lambda, (size_t)p->count + 2, "eigenvalues");
    PCS_TAKE(ctx, out->vector, ((size_t)p->count + 2) * (size_t)n, "eigenvectors");
    if (wanted <= 0) return spectrum_finish(ctx, &s, out);
    PCS_TRY(spectrum_choose_shift(ctx, &s));
    if (s.is_free) spectrum_take_free(&s, out);
    else PCS_TRY(spectrum_search(ctx, &s, is_dense, wanted, theta, out));
    bool is_complete = is_dense || s.is_free;
    for (int k = 0; k < wanted && !is_complete; k++) PCS_TRY(spectrum_look_again(ctx, &s, theta, out, &is_complete));
    return spectrum_finish(ctx, &s, out);
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
    shifted matrix;          // K + z C + z^2 M
    double shift, reference; // 1/s
    double *work, *part;     // [n]
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
    shifted_solve(&s->matrix, u);
    memcpy(rest, a, (size_t)s->n * sizeof *a);
    shifted_project(&s->matrix, rest);
    for (int i = 0; i < s->n; i++) rest[i] = (rest[i] + s->shift * u[i]) / s->reference;
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
        pcs_matrix_combine(&s->matrix.A, (const double[3]){ z * z, z, 1.0 }, p->M, p->C, p->K);
        PCS_TRY(pcs_bordered_factor(s->matrix.solver, p->holds, &is_singular));
        if (!is_singular) return PCS_OK;
        if (z > 1e6 * small)
            return pcs_fail(ctx, PCS_FAILED, "the matrix K + z C + z^2 M is singular for all shifts z up to %g 1/s", z);
    }
}

// Returns |(s^2 M + s C + K) phi| relative to K phi, worst entries of both.
static double pencil_residual(pencil *s, double sr, double si, const double *re, const double *im, double *r)
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
        shifted_take_rows(&s->matrix, r, s->part);
        for (int i = 0; i < s->n; i++) worst = fmax(worst, fabs(r[i]));
    }
    return size > 0.0 ? worst / size : worst;
}

// Bounds |s|^2 of a motion without force, 1/s^2, by 50 times its round-off. s = 0 is a double root: |s| is exact only
// to the square root of round-off, relative to the shift.
static double pencil_zero(const pencil *s, const double *re, const double *im)
{
    const pcs_matrix *K = s->p->K;
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
    shifted_project(&s->matrix, out->re + at);
    shifted_project(&s->matrix, out->im + at);
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

pcs_status pcs_eigen_quadratic(pcs_context *ctx, const pcs_eigen_problem *p, pcs_eigen_complex *out)
{
    int n = p->K->pattern->n, left, wanted = 2 * p->count;
    *out = (pcs_eigen_complex){ 0 };
    pencil s = { .p = p, .n = n };
    PCS_TRY(shifted_create(ctx, p, PCS_GENERAL, &s.matrix));
    PCS_TAKE(ctx, s.work, n, "eigenvectors");
    PCS_TAKE(ctx, s.part, n, "eigenvectors");
    PCS_TRY(shifted_count(&s.matrix, n <= SMALL_QUADRATIC ? n : wanted + 10, s.work, &left));
    if (wanted > 2 * left) wanted = 2 * left;
    size_t room = (size_t)wanted + 1;
    bool needs_dense = n <= SMALL_QUADRATIC || left < wanted + 10;
    bool is_dense = p->method == PCS_EIGEN_DENSE || (p->method == PCS_EIGEN_AUTO && needs_dense);
    PCS_TAKE(ctx, out->decay, room, "eigenvalues");
    PCS_TAKE(ctx, out->w, room, "eigenvalues");
    PCS_TAKE(ctx, out->residual, room, "eigenvalues");
    PCS_TAKE(ctx, out->zero, room, "eigenvalues");
    PCS_TAKE(ctx, out->re, room * (size_t)n, "eigenvectors");
    PCS_TAKE(ctx, out->im, room * (size_t)n, "eigenvectors");
    if (wanted <= 0) return PCS_OK;
    PCS_TRY(pencil_factor(ctx, &s));
    return pencil_search(ctx, &s, is_dense, wanted, out);
}
