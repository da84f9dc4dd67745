// Smallest eigenvalues: Arnoldi's iteration, a matrix with rows that hold, then both problems.
//
// K phi = lambda M phi by shift and invert.
//
// The shift is 0 where K is positive definite and nothing is known to be free. Else it is negative and about as large
// as the smallest eigenvalue: found by inverse iteration from a shift that is small beside K_ii / M_ii, so that K - z M
// is both definite and well conditioned. A factorization without pivoting that finds it positive definite also proves
// that no eigenvalue lies below the shift; where rows hold, it is that of K - z M with the rows as stiff springs. After
// the iteration a second one, on the complement of what was found, makes sure that no copy of a multiple eigenvalue was
// missed.

#include "analysis/eigen.h"

#include "core/dense.h"
#include "core/matrix.h"
#include "linsolve/bordered.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Eigenvalues of largest magnitude of an operator S by Arnoldi's iteration:
//
//   S V_m = V_m H_m + h v_m+1 e_m^T,   H_m y = theta y,   |S x - theta x| = |h y_m| for x = V_m y
//
// It is not restarted, and every vector is made orthogonal to all others. Where h is round-off the basis goes on with a
// new vector of the range of S. If the basis holds that, too, it is complete: all eigenvalues are there, with copies.
// Vectors of the range, since no product with M sees the components without mass.

enum { LEAST_BASIS = 20 };

static const double SPENT = 1e-14; // relative: what is left of a vector is round-off

void dsyev_(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
            const int *lwork, int *info, size_t job_length, size_t uplo_length);
void dgeev_(const char *left, const char *right, const int *n, double *a, const int *lda, double *wr, double *wi,
            double *vl, const int *ldvl, double *vr, const int *ldvr, double *work, const int *lwork, int *info,
            size_t left_length, size_t right_length);

typedef struct krylov {
    pcs_context *ctx;
    int n;
    void *user;
    void (*apply)(void *user, const double *x, double *y); // y = S x
    const pcs_matrix *M;     // S is symmetric in the product x . M y; NULL for x . y and any S
    int m;                   // size of the basis
    bool is_complete;        // the basis spans the range of S
    double top;              // largest entry of H
    unsigned long long seed; // of new vectors
    double *V;               // [m + 1][n] basis, and the next vector
    double *H, *h;           // columns of the upper triangle of H, and the entries below its diagonal
    double *work, *image;    // [n]
    double *Y, *re, *im;     // [m][m] eigenvectors of H, and eigenvalues; one scratch buffer, which begins with Y
    int *order;              // [m] the largest first, pairs together
    int count;               // number of those found that are more than round-off
} krylov;

static void krylov_release(krylov *k)
{
    double *buffers[] = { k->V, k->H, k->h, k->work, k->Y };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) pcs_scratch_free(buffers[i]);
    pcs_scratch_free(k->order);
}

// Makes room for `most` vectors.
static pcs_status krylov_reserve(krylov *k, int most)
{
    size_t n = (size_t)k->n, m = (size_t)most;
    const struct {
        double **buffer;
        size_t count;
    } all[] = { { &k->V, (m + 1) * n },
                { &k->H, m * (m + 1) / 2 },
                { &k->h, m },
                { &k->work, 2 * n },
                { &k->Y, 2 * m * m + 36 * m } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double *grown = pcs_scratch(*all[i].buffer, all[i].count, sizeof *grown);
        if (grown == NULL)
            return pcs_fail(k->ctx, PCS_NO_MEMORY, "out of memory: %d vectors of %d equations", most, k->n);
        *all[i].buffer = grown;
    }
    int *order = pcs_scratch(k->order, m, sizeof *order);
    if (order == NULL) return pcs_fail(k->ctx, PCS_NO_MEMORY, "out of memory: %d eigenvalues", most);
    k->order = order;
    k->image = k->work + n;
    return PCS_OK;
}

static const double *krylov_image(const krylov *k, const double *x)
{
    if (k->M == NULL) return x;
    pcs_matrix_multiply(k->M, x, k->image);
    return k->image;
}

static double krylov_norm(const krylov *k, const double *x)
{
    return sqrt(fmax(pcs_dense_dot(k->n, x, krylov_image(k, x)), 0.0));
}

// Subtracts from w its parts along the basis, twice because of round-off, and adds them to `part` (NULL for none).
// Returns the norm of the rest.
static double krylov_clear(const krylov *k, double *w, double *part)
{
    for (int pass = 0; pass < 2; pass++) {
        const double *image = krylov_image(k, w);
        for (int j = 0; j < k->m; j++) {
            const double *v = k->V + (size_t)j * (size_t)k->n;
            double along = pcs_dense_dot(k->n, v, image);
            for (int i = 0; i < k->n; i++) w[i] -= along * v[i];
            if (part != NULL) part[j] += along;
        }
    }
    return krylov_norm(k, w);
}

static void krylov_scale(const krylov *k, double *w, double size)
{
    for (int i = 0; i < k->n; i++) w[i] /= size;
}

// Makes the next vector one of the range of S, from numbers without a pattern, so that symmetry hides no eigenvector.
// Returns false if the basis holds it.
static bool krylov_renew(krylov *k)
{
    double *w = k->V + (size_t)k->m * (size_t)k->n;
    for (int i = 0; i < k->n; i++) {
        k->seed ^= k->seed << 13;
        k->seed ^= k->seed >> 7;
        k->seed ^= k->seed << 17;
        k->work[i] = (double)(k->seed >> 11) / 9007199254740992.0 - 0.5;
    }
    k->apply(k->user, k->work, w);
    double size = krylov_norm(k, w);
    if (!(size > 0.0)) return false;
    krylov_scale(k, w, size);
    double left = krylov_clear(k, w, NULL);
    krylov_scale(k, w, left);
    return left > SPENT;
}

// Takes the next vector into the basis and makes the one after it.
static void krylov_extend(krylov *k)
{
    size_t n = (size_t)k->n, m = (size_t)k->m++;
    double *w = k->V + (m + 1) * n, *column = k->H + m * (m + 1) / 2;
    memset(column, 0, (m + 1) * sizeof *column);
    k->apply(k->user, k->V + m * n, w);
    double left = krylov_clear(k, w, column);
    for (size_t i = 0; i <= m; i++) k->top = fmax(k->top, fabs(column[i]));
    k->top = fmax(k->top, left);
    bool goes_on = left > SPENT * k->top;
    k->h[m] = goes_on ? left : 0.0;
    if (goes_on) krylov_scale(k, w, left);
    k->is_complete = k->m == k->n || !(goes_on || krylov_renew(k));
}

static double krylov_size(const krylov *k, int j)
{
    return hypot(k->re[j], k->im[j]);
}

// Computes the eigenvalues and the eigenvectors of H.
static pcs_status krylov_decompose(krylov *k)
{
    int m = k->m, lwork = 33 * m, info = 0, one = 1;
    size_t size = (size_t)m, square = size * size;
    double *A = k->Y + square, *work = A + square + 2 * size;
    k->re = A + square;
    k->im = k->re + size;
    memset(k->Y, 0, (2 * square + 2 * size) * sizeof *k->Y);
    for (size_t j = 0; j < size; j++) {
        memcpy(A + j * size, k->H + j * (j + 1) / 2, (j + 1) * sizeof *A);
        if (j + 1 < size) A[j * size + j + 1] = k->h[j];
    }
    if (k->M == NULL) {
        dgeev_("N", "V", &m, A, &m, k->re, k->im, NULL, &one, k->Y, &m, work, &lwork, &info, 1, 1);
    } else {
        dsyev_("V", "U", &m, A, &m, k->re, work, &lwork, &info, 1, 1);
        memcpy(k->Y, A, square * sizeof *A);
    }
    for (int i = 0; i < m; i++) {
        int at = i;
        for (; at > 0 && krylov_size(k, k->order[at - 1]) < krylov_size(k, i); at--) k->order[at] = k->order[at - 1];
        k->order[at] = i;
    }
    return info == 0 ? PCS_OK : pcs_fail(k->ctx, PCS_FAILED, "LAPACK could not find the eigenvalues: it says %d", info);
}

// Returns true if the residuals of the largest eigenvalues are round-off.
static bool krylov_has_converged(const krylov *k, int wanted)
{
    int m = k->m;
    double h = k->h[m - 1];
    for (int i = 0; i < wanted; i++) {
        int j = k->order[i];
        if (!(h * fabs(k->Y[(size_t)j * (size_t)m + (size_t)m - 1]) <= DBL_EPSILON * krylov_size(k, j))) return false;
    }
    return h > 0.0;
}

// Finds the `wanted` largest eigenvalues, or all if there are fewer; those of no mass and of rows are round-off.
static pcs_status krylov_find(krylov *k, int wanted)
{
    k->seed = 88172645463325252ULL;
    for (int goal = 2 * wanted + LEAST_BASIS;; goal += goal / 2) {
        if (goal > k->n) goal = k->n;
        PCS_TRY(krylov_reserve(k, goal));
        if (k->m == 0) k->is_complete = !krylov_renew(k);
        while (!k->is_complete && k->m < goal) krylov_extend(k);
        if (k->m > 0) PCS_TRY(krylov_decompose(k));
        if (k->is_complete || krylov_has_converged(k, wanted)) break;
    }
    double least = k->n * DBL_EPSILON; // of 1/lambda, and of 1/s^2
    if (k->M == NULL) least = sqrt(least);
    if (k->m > 0) least *= krylov_size(k, k->order[0]);
    while (k->count < wanted && k->count < k->m && krylov_size(k, k->order[k->count]) > least) k->count++;
    return PCS_OK;
}

// Computes x = V y_j.
static void krylov_vector(const krylov *k, int j, double *x)
{
    memset(x, 0, (size_t)k->n * sizeof *x);
    for (int i = 0; i < k->m; i++) {
        const double *v = k->V + (size_t)i * (size_t)k->n;
        double part = k->Y[(size_t)j * (size_t)k->m + (size_t)i];
        for (int r = 0; r < k->n; r++) x[r] += part * v[r];
    }
}

// A shifted matrix, bordered by the rows that hold.

static const double STILL = 0.01;    // relative: what is left of a motion that rows forbid
static const double NOTHING = 1e-12; // relative: what is left of a motion without those that are locked

typedef struct held {
    const pcs_eigen_problem *p;
    int n;
    bool has_rows;
    pcs_matrix A;
    pcs_bordered *solver;
    double *error, *more; // [rows of G], [n]
    double *size;         // [n] stiffness, of bodies that of their mass at the highest frequency
} held;

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

static pcs_status held_create(pcs_context *ctx, const pcs_eigen_problem *p, pcs_linsolve_kind kind, held *out)
{
    *out = (held){ .p = p, .n = p->K->pattern->n, .A = { .pattern = p->K->pattern } };
    for (int j = 0; p->holds != NULL && p->G != NULL && j < p->G->nrow; j++)
        if (p->holds[j]) out->has_rows = true;
    PCS_TAKE(ctx, out->A.value, p->K->pattern->nnz, "a shifted matrix");
    PCS_TAKE(ctx, out->more, out->n, "a shifted matrix");
    if (out->has_rows) PCS_TAKE(ctx, out->error, p->G->nrow, "a shifted matrix");
    PCS_TAKE(ctx, out->size, out->n, "a shifted matrix");
    double top = eigen_top(p);
    for (int i = 0; i < out->n; i++)
        out->size[i] = fmax(fabs(pcs_matrix_diagonal(p->K, i)), pcs_matrix_diagonal(p->M, i) * top);
    PCS_TRY(pcs_bordered_create(ctx, p->linear, &out->A, kind, p->G, &out->solver));
    pcs_bordered_set_sizes(out->solver, out->size);
    return PCS_OK;
}

// Makes x zero if its square is not above `least`, as it then is round-off.
static void eigen_still(int n, double least, double *x)
{
    if (!(pcs_dense_dot(n, x, x) > least)) memset(x, 0, (size_t)n * sizeof *x);
}

// Solves in place. What a border lets through is taken back; x is zero if nothing else is left.
static void held_solve(held *h, double *x)
{
    pcs_bordered_solve(h->solver, x, NULL);
    if (!h->has_rows) return;
    double before = pcs_dense_dot(h->n, x, x);
    for (int j = 0; j < h->p->G->nrow; j++) h->error[j] = -pcs_rows_dot(h->p->G, j, x);
    memset(h->more, 0, (size_t)h->n * sizeof *h->more);
    pcs_bordered_solve(h->solver, h->more, h->error);
    for (int i = 0; i < h->n; i++) x[i] += h->more[i];
    eigen_still(h->n, STILL * STILL * before, x);
}

static const double FIRST_SHIFT = 1e-9; // relative to the largest K_ii / M_ii
static const double PENALTY = 1e4;      // relative to the stiffness in the columns of a row
static const double LEAST_SHIFT = 1e-14;

enum { SHIFT_ROUNDS = 12, INVERSE_STEPS = 3, SHIFT_TRIES = 24 };

typedef struct spectrum {
    const pcs_eigen_problem *p;
    int n;
    held held;               // K - z M
    pcs_matrix P;            // K - z M + G_h^T c G_h
    pcs_linsolve *penalised; // NULL if no row holds
    double shift;
    int nlocked;            // M-orthonormal vectors that are projected away: the known ones and those found so far
    double *locked, *image; // [capacity x n] them, and M times them
    double *work;           // [n]
} spectrum;

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

// Computes y = (K - z M)^-1 M x without parts along the locked vectors.
static void spectrum_apply(void *user, const double *x, double *y)
{
    spectrum *s = user;
    pcs_matrix_multiply(s->p->M, x, y);
    // The adjoint projection of the load keeps the operator symmetric.
    for (int k = 0; k < s->nlocked; k++) {
        const double *phi = s->locked + (size_t)k * (size_t)s->n, *image = s->image + (size_t)k * (size_t)s->n;
        double part = pcs_dense_dot(s->n, phi, y);
        for (int i = 0; i < s->n; i++) y[i] -= part * image[i];
    }
    held_solve(&s->held, y);
    double before = pcs_dense_dot(s->n, y, y);
    spectrum_project(s, y);
    eigen_still(s->n, NOTHING * NOTHING * before, y);
}

static void spectrum_lock(spectrum *s, const double *phi)
{
    double *to = s->locked + (size_t)s->nlocked * (size_t)s->n, *image = s->image + (size_t)s->nlocked * (size_t)s->n;
    memcpy(to, phi, (size_t)s->n * sizeof *to);
    pcs_matrix_multiply(s->p->M, to, image);
    s->nlocked++;
}

// Adds c G_j^T G_j to P, c so large that motions against the row are stiffer than all else there.
static void spectrum_penalise(spectrum *s, int j)
{
    const pcs_rows *G = s->p->G;
    double stiff = DBL_MIN, entry = 0.0;
    for (int p = G->start[j]; p < G->start[j + 1]; p++) {
        stiff = fmax(stiff, fabs(pcs_matrix_diagonal(&s->held.A, G->column[p])));
        entry = fmax(entry, fabs(G->value[p]));
    }
    double c = entry > 0.0 ? PENALTY * stiff / (entry * entry) : 0.0;
    for (int p = G->start[j]; p < G->start[j + 1]; p++)
        for (int k = G->start[j]; k < G->start[j + 1]; k++)
            s->P.value[pcs_pattern_place(s->P.pattern, G->column[p], G->column[k])] += c * G->value[p] * G->value[k];
}

// Factors K - z M; *is_definite is false when it is singular or has eigenvalues below z. Where rows hold, it has none
// if P is positive definite, as P is K - z M for all that the rows allow.
static pcs_status spectrum_factor(spectrum *s, double shift, bool *is_definite)
{
    bool is_singular = false;
    const pcs_pattern *pattern = s->held.A.pattern;
    s->shift = shift;
    pcs_matrix_combine(&s->held.A, (const double[3]){ -shift, 0.0, 1.0 }, s->p->M, NULL, s->p->K);
    PCS_TRY(pcs_bordered_factor(s->held.solver, s->p->holds, &is_singular));
    *is_definite = !is_singular;
    if (s->penalised == NULL || is_singular) return PCS_OK;
    pcs_matrix_zero(&s->P);
    for (int j = 0; j < s->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            s->P.value[pcs_pattern_place(s->P.pattern, pattern->row[p], j)] = s->held.A.value[p];
    for (int j = 0; j < s->p->G->nrow; j++)
        if (s->p->holds[j]) spectrum_penalise(s, j);
    PCS_TRY(pcs_linsolve_factor(s->penalised, &is_singular));
    *is_definite = !is_singular;
    return PCS_OK;
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
        spectrum_apply(s, x, y);
        memcpy(x, y, (size_t)s->n * sizeof *x);
        pcs_matrix_multiply(s->p->M, x, y);
        double mass = pcs_dense_dot(s->n, x, y);
        if (!(mass > 0.0)) return INFINITY; // nothing else moves
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
        if (s->nlocked == s->p->nknown + s->p->count) break;
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

static pcs_status spectrum_make_penalty(pcs_context *ctx, spectrum *s)
{
    const pcs_rows *G = s->p->G;
    pcs_pattern_builder *builder;
    pcs_pattern *pattern;
    PCS_TRY(pcs_pattern_begin(ctx, s->n, &builder));
    pcs_status status = pcs_pattern_add_pattern(builder, s->held.A.pattern);
    for (int j = 0; j < G->nrow && status == PCS_OK; j++)
        status = pcs_pattern_add_cells(builder, 1, G->start[j + 1] - G->start[j], G->column + G->start[j]);
    pcs_status finish = pcs_pattern_finish(builder, &pattern);
    PCS_TRY(status == PCS_OK ? finish : status);
    s->P.pattern = pattern;
    PCS_TAKE(ctx, s->P.value, pattern->nnz, "the shifted stiffness matrix");
    return pcs_linsolve_create(ctx, s->p->linear, &s->P, PCS_SPD, &s->penalised);
}

static pcs_status spectrum_create(pcs_context *ctx, const pcs_eigen_problem *p, spectrum *s)
{
    int n = p->K->pattern->n;
    size_t room =
        ((size_t)p->nknown + 2 * (size_t)p->count) * (size_t)n; // as many may be found only when it looks again
    *s = (spectrum){ .p = p, .n = n };
    PCS_TRY(held_create(ctx, p, PCS_SPD, &s->held));
    PCS_TAKE(ctx, s->locked, room, "eigenvectors");
    PCS_TAKE(ctx, s->image, room, "eigenvectors");
    PCS_TAKE(ctx, s->work, n, "eigenvectors");
    for (int k = 0; k < p->nknown; k++) spectrum_lock(s, p->known + (size_t)k * (size_t)n);
    return s->held.has_rows ? spectrum_make_penalty(ctx, s) : PCS_OK;
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

// Locks the vector at the next place after the operator is applied once more, which removes components without mass and
// parts of those before it.
static void spectrum_keep(spectrum *s)
{
    size_t at = (size_t)s->nlocked * (size_t)s->n;
    double *phi = s->locked + at, *image = s->image + at;
    spectrum_apply(s, phi, s->work);
    pcs_matrix_multiply(s->p->M, s->work, image);
    double size = sqrt(pcs_dense_dot(s->n, s->work, image));
    for (int i = 0; i < s->n; i++) {
        phi[i] = s->work[i] / size;
        image[i] /= size;
    }
    s->nlocked++;
}

// Adds the eigenvalues nearest to the shift to `out`; *is_complete if there are no others.
static pcs_status spectrum_search(pcs_context *ctx, spectrum *s, int wanted, pcs_eigen_result *out, bool *is_complete)
{
    krylov k = { .ctx = ctx, .n = s->n, .user = s, .apply = spectrum_apply, .M = s->p->M };
    pcs_status status = krylov_find(&k, wanted);
    *is_complete = k.is_complete;
    double largest = k.count > 0 ? krylov_size(&k, k.order[0]) : 0.0;
    for (int i = 0; i < k.count; i++) {
        double theta = k.re[k.order[i]], *phi = s->locked + (size_t)s->nlocked * (size_t)s->n;
        krylov_vector(&k, k.order[i], phi);
        spectrum_keep(s);
        out->lambda[out->count++] = spectrum_value(s, theta, largest, phi);
    }
    krylov_release(&k);
    return status;
}

// Searches the complement of the vectors found for a value that should have been among them; *is_complete if none.
static pcs_status spectrum_look_again(pcs_context *ctx, spectrum *s, pcs_eigen_result *out, bool *is_complete)
{
    int found = out->count;
    double last = -INFINITY;
    for (int k = 0; k < found; k++) last = fmax(last, out->lambda[k]);
    PCS_TRY(spectrum_search(ctx, s, 1, out, is_complete));
    *is_complete = out->count == found || out->lambda[found] >= last - 1e-9 * fabs(last);
    return PCS_OK;
}

static pcs_status spectrum_finish(pcs_context *ctx, spectrum *s, pcs_eigen_result *out)
{
    spectrum_sort(out, s->n);
    if (out->count > s->p->count) out->count = s->p->count;
    PCS_TAKE(ctx, out->residual, out->count, "eigenvalues");
    PCS_TAKE(ctx, out->zero, out->count, "eigenvalues");
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
    bool is_complete;
    *out = (pcs_eigen_result){ 0 };
    PCS_TRY(spectrum_create(ctx, p, &s));
    PCS_TAKE(ctx, out->lambda, 2 * (size_t)p->count, "eigenvalues");
    out->vector = s.locked + (size_t)p->nknown * (size_t)s.n;
    if (p->count <= 0) return PCS_OK;
    PCS_TRY(spectrum_choose_shift(ctx, &s));
    PCS_TRY(spectrum_search(ctx, &s, p->count, out, &is_complete));
    for (int k = 0; k < p->count && !is_complete; k++) PCS_TRY(spectrum_look_again(ctx, &s, out, &is_complete));
    return spectrum_finish(ctx, &s, out);
}

// (s^2 M + s C + K) phi = 0 by shift and invert of its first-order form.
//
//   x = (phi, s phi),   (A - z B)^-1 B (a, b) = (u, a + z u),   (K + z C + z^2 M) u = -(M (b + z a) + C a)
//
// has the eigenvalues 1/(s - z). The shift z is 0 where K is regular, else real, positive and small. The second half of
// x is divided by a reference frequency, so that both halves are of one size, and both are in units of root masses.

static const double SMALL_SHIFT = 1e-9; // squared, relative to the largest K_ii / M_ii

static const double BETWEEN = 1e-6; // squared frequency in the middle of all, relative to the largest K_ii / M_ii

static const double DOUBLE_ROOT = 1e-5; // relative to the shift: error of a double root, with a margin

static const double EQUAL = 1e-9; // relative difference of |s| that counts as round-off

typedef struct pencil {
    const pcs_eigen_problem *p;
    int n;
    held held;               // K + z C + z^2 M
    double shift, reference; // 1/s
    double *scale;           // [n] roots of the diagonal of M
    double *work;            // [n]
} pencil;

static void pencil_apply(void *user, const double *x, double *y)
{
    pencil *s = user;
    double *u = y, *rest = y + s->n;
    for (int i = 0; i < s->n; i++) s->work[i] = (s->reference * x[i + s->n] + s->shift * x[i]) / s->scale[i];
    pcs_matrix_multiply(s->p->M, s->work, u);
    for (int i = 0; i < s->n; i++) s->work[i] = x[i] / s->scale[i];
    if (s->p->C != NULL) pcs_matrix_add_multiply(s->p->C, 1.0, s->work, u);
    for (int i = 0; i < s->n; i++) u[i] = -u[i];
    held_solve(&s->held, u);
    for (int i = 0; i < s->n; i++) {
        u[i] *= s->scale[i];
        rest[i] = (x[i] + s->shift * u[i]) / s->reference;
    }
}

static pcs_status pencil_factor(pcs_context *ctx, pencil *s)
{
    const pcs_eigen_problem *p = s->p;
    bool is_singular = false;
    double top = eigen_top(p), one = top > 0.0 ? top : 1.0, small = sqrt(SMALL_SHIFT * one);
    for (double z = p->nknown > 0 ? small : 0.0;; z = z > 0.0 ? 10.0 * z : small) {
        s->shift = z;
        pcs_matrix_combine(&s->held.A, (const double[3]){ z * z, z, 1.0 }, p->M, p->C, p->K);
        PCS_TRY(pcs_bordered_factor(s->held.solver, p->holds, &is_singular));
        if (!is_singular) break;
        if (z > 1e6 * small)
            return pcs_fail(ctx, PCS_FAILED, "the matrix K + z C + z^2 M is singular for all shifts z up to %g 1/s", z);
    }
    s->reference = sqrt(BETWEEN * one);
    for (int i = 0; i < s->n; i++) {
        double k = fabs(pcs_matrix_diagonal(&s->held.A, i)), m = pcs_matrix_diagonal(p->M, i);
        if (!(m > 0.0)) m = k / one;
        s->scale[i] = m > 0.0 ? sqrt(m) : 1.0;
    }
    return PCS_OK;
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
    double turn = si < 0.0 ? -1.0 : 1.0;
    for (size_t i = 0; i < n; i++) {
        out->re[at + i] = vr[i] / s->scale[i];
        out->im[at + i] = vi == NULL ? 0.0 : turn * vi[i] / s->scale[i];
    }
    si = fabs(si) > EQUAL * fabs(sr) ? fabs(si) : 0.0; // a double root may come as a pair
    pencil_normalise(s->n, out->re + at, out->im + at);
    out->decay[out->count] = -sr;
    out->w[out->count] = si;
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

static pcs_status pencil_search(pcs_context *ctx, pencil *s, int wanted, pcs_eigen_complex *out)
{
    krylov k = { .ctx = ctx, .n = 2 * s->n, .user = s, .apply = pencil_apply };
    double *re, *im;
    PCS_TAKE(ctx, re, k.n, "eigenvectors");
    PCS_TAKE(ctx, im, k.n, "eigenvectors");
    pcs_status status = krylov_find(&k, wanted);
    for (int i = 0; i < k.count; i++) {
        int j = k.order[i];
        bool is_pair = k.im[j] != 0.0;
        krylov_vector(&k, j, re);
        if (is_pair) krylov_vector(&k, j + 1, im);
        pencil_keep(s, k.re[j], k.im[j], re, is_pair ? im : NULL, out);
        i += is_pair;
    }
    krylov_release(&k);
    pencil_sort(out, s->n);
    return status;
}

pcs_status pcs_eigen_quadratic(pcs_context *ctx, const pcs_eigen_problem *p, pcs_eigen_complex *out)
{
    int n = p->K->pattern->n, wanted = 2 * p->count;
    size_t room = (size_t)wanted + 1;
    *out = (pcs_eigen_complex){ 0 };
    pencil s = { .p = p, .n = n };
    PCS_TAKE(ctx, s.work, n, "eigenvectors");
    PCS_TAKE(ctx, s.scale, n, "eigenvectors");
    PCS_TAKE(ctx, out->decay, room, "eigenvalues");
    PCS_TAKE(ctx, out->w, room, "eigenvalues");
    PCS_TAKE(ctx, out->residual, room, "eigenvalues");
    PCS_TAKE(ctx, out->zero, room, "eigenvalues");
    PCS_TAKE(ctx, out->re, room * (size_t)n, "eigenvectors");
    PCS_TAKE(ctx, out->im, room * (size_t)n, "eigenvectors");
    PCS_TRY(held_create(ctx, p, PCS_GENERAL, &s.held));
    if (wanted <= 0) return PCS_OK;
    PCS_TRY(pencil_factor(ctx, &s));
    return pencil_search(ctx, &s, wanted, out);
}
