// K phi = lambda M phi by shift and invert.
//
// The shift is 0 where K is positive definite and nothing is known to be free. Else it is negative and about as large
// as the smallest eigenvalue: found by inverse iteration from a shift that is small beside K_ii / M_ii, so that K - z M
// is both definite and well conditioned. A factorization without pivoting that finds it positive definite also proves
// that no eigenvalue lies below the shift. After the iteration a second one, on the complement of what was found, makes
// sure that no copy of a multiple eigenvalue was missed.

#include "core/dense.h"
#include "eigen/eigen.h"
#include "eigen/solvers.h"
#include "linsolve/bordered.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double FIRST_SHIFT = 1e-9; // beside the largest K_ii / M_ii
static const double LEAST_SHIFT = 1e-14;
static const double STABLE_SHIFT = 1e-12; // what is not below it is not below 0

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
    int nsolve;
    bool is_free; // there are at least as many motions without force as vectors wanted, and they are locked
} spectrum;

static void spectrum_mass(void *user, const double *x, double *y)
{
    const spectrum *s = user;
    pcs_matrix_multiply(s->p->M, x, y);
}

// x -= sum phi (phi^T M x), twice for the sake of round-off.
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
    s->nsolve++;
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

double pcs_eigen_top(const pcs_eigen_problem *p)
{
    double top = 0.0;
    for (int j = 0; j < p->K->pattern->n; j++) {
        double mass = pcs_matrix_diagonal(p->M, j);
        if (mass > 0.0) top = fmax(top, fabs(pcs_matrix_diagonal(p->K, j)) / mass);
    }
    return top;
}

void pcs_eigen_clear_held(const pcs_eigen_problem *p, double *r)
{
    if (p->G == NULL || p->holds == NULL) return;
    for (int j = 0; j < p->G->nrow; j++) {
        if (!p->holds[j]) continue;
        for (int k = p->G->start[j]; k < p->G->start[j + 1]; k++) r[p->G->column[k]] = 0.0;
    }
}

// Rayleigh quotient after a few inverse iterations outside of the known vectors.
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

// |phi|^T |K| |phi| eps: what a quotient of a null vector may come to.
static double spectrum_rounding(const pcs_eigen_problem *problem, const double *x)
{
    const pcs_matrix *K = problem->K_terms != NULL ? problem->K_terms : problem->K;
    double sum = 0.0;
    for (int j = 0; j < K->pattern->n; j++)
        for (int p = K->pattern->start[j]; p < K->pattern->start[j + 1]; p++)
            sum += fabs(K->value[p] * x[K->pattern->row[p]] * x[j]);
    return DBL_EPSILON * sum;
}

// Up to this a quotient cannot be told from 0: it is the shift and what was found beside it.
static double spectrum_zero(const spectrum *s, const double *x)
{
    return 50.0 * (spectrum_rounding(s->p, x) + DBL_EPSILON * fabs(s->shift)) + s->p->blur;
}

// Tries 0. Round-off may let a singular K pass for definite: then the smallest quotient is no more than round-off.
static pcs_status spectrum_try_zero(spectrum *s, double *x, bool *is_done)
{
    PCS_TRY(spectrum_factor(s, 0.0, is_done));
    if (*is_done) *is_done = spectrum_estimate(s, x, s->work) > spectrum_zero(s, x);
    return PCS_OK;
}

// A vector without a pattern, so that no eigenvector is missed by symmetry; another one for every vector that is
// locked, since one alone meets a single combination of those that belong to a multiple eigenvalue.
static void spectrum_start_vector(const spectrum *s, double *x)
{
    for (int i = 0; i < s->n; i++) x[i] = 1.0 + 0.5 * sin(1.0 + (2.3 + 0.61 * s->nlocked) * i);
    spectrum_project(s, x);
}

// Smallest eigenvalue that is not zero, by its size. Vectors that turn out to have none are put aside on the way.
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

// From a shift that makes K - z M definite towards the size of the smallest eigenvalue that is wanted.
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

// Leaves K - z M factored for a z below all eigenvalues and not far from the first that is wanted.
static pcs_status spectrum_choose_shift(pcs_context *ctx, spectrum *s)
{
    double top = pcs_eigen_top(s->p);
    bool is_done = false;
    double *x = pcs_scratch(NULL, (size_t)s->n, sizeof *x);
    if (x == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: a vector of %d equations", s->n);
    pcs_status status = PCS_OK;
    spectrum_start_vector(s, x);
    if (s->p->nknown == 0 && top > 0.0) status = spectrum_try_zero(s, x, &is_done);
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

// Worst entry of K phi - lambda M phi against the sum of the sizes of its terms; equations under rows are left out,
// their multipliers are not known here.
static double spectrum_residual(const spectrum *s, const double *phi, double lambda, double *r)
{
    const pcs_pattern *pattern = s->p->K->pattern;
    double worst = 0.0, bound = 0.0;
    memset(r, 0, (size_t)s->n * sizeof *r);
    pcs_matrix_add_multiply(s->p->K, 1.0, phi, r);
    pcs_matrix_add_multiply(s->p->M, -lambda, phi, r);
    pcs_eigen_clear_held(s->p, r);
    for (int j = 0; j < s->n; j++) {
        double size = 0.0;
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            size += fabs(s->p->K->value[p] * phi[pattern->row[p]]);
        bound = fmax(bound, size);
        worst = fmax(worst, fabs(r[j]));
    }
    return bound > 0.0 ? worst / bound : worst;
}

// The quotient of K and M is more accurate than the shift where lambda is large beside the smallest one.
static double spectrum_value(const spectrum *s, double theta, double largest, const double *phi)
{
    if (largest / fabs(theta) < 1e3) return s->shift + 1.0 / theta;
    pcs_matrix_multiply(s->p->K, phi, s->work);
    return pcs_dense_dot(s->n, phi, s->work);
}

static void spectrum_sort(pcs_eigen_result *r, int n, double *spare)
{
    for (int i = 1; i < r->count; i++)
        for (int k = i; k > 0 && r->lambda[k] < r->lambda[k - 1]; k--) {
            double keep = r->lambda[k], *a = r->vector + (size_t)k * (size_t)n, *b = a - n;
            size_t bytes = (size_t)n * sizeof *a;
            r->lambda[k] = r->lambda[k - 1];
            r->lambda[k - 1] = keep;
            memcpy(spare, a, bytes);
            memcpy(a, b, bytes);
            memcpy(b, spare, bytes);
        }
}

static pcs_status spectrum_search(pcs_context *ctx, spectrum *s, bool is_dense, int wanted, double *theta,
                                  pcs_eigen_result *out)
{
    const pcs_operator op = { .n = s->n, .user = s, .apply = spectrum_apply, .mass = spectrum_mass };
    double *vector = out->vector + (size_t)out->count * (size_t)s->n;
    int count = wanted;
    PCS_TRY((is_dense ? pcs_lapack_symmetric : pcs_arpack_symmetric)(ctx, &op, &count, theta, vector));
    double largest = 0.0;
    for (int k = 0; k < count; k++) largest = fmax(largest, fabs(theta[k]));
    for (int k = 0; k < count; k++)
        out->lambda[out->count + k] = spectrum_value(s, theta[k], largest, vector + (size_t)k * (size_t)s->n);
    out->count += count;
    return PCS_OK;
}

// Takes motions without force as they were found: an iteration cannot tell one from another.
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

// Looks on the complement of what was found for a value that should have been found before; *is_complete when not.
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
    spectrum_sort(out, s->n, s->work);
    out->count = found;
    return PCS_OK;
}

static pcs_status spectrum_finish(pcs_context *ctx, spectrum *s, pcs_eigen_result *out)
{
    PCS_TAKE(ctx, out->residual, out->count, "eigenvalues");
    PCS_TAKE(ctx, out->zero, out->count, "eigenvalues");
    spectrum_sort(out, s->n, s->work);
    for (int k = 0; k < out->count; k++) {
        const double *phi = out->vector + (size_t)k * (size_t)s->n;
        out->residual[k] = spectrum_residual(s, phi, out->lambda[k], s->work);
        out->zero[k] = spectrum_zero(s, phi);
    }
    out->shift = s->shift;
    out->backend = pcs_bordered_backend(s->solver);
    out->nfactor = pcs_bordered_factorizations(s->solver);
    out->nsolve = s->nsolve;
    return PCS_OK;
}

// `most`: eigenvalues that the rows leave, those of the known vectors with them.
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
    PCS_TRY(pcs_eigen_reduce(ctx, p, &reduced));
    PCS_TRY(spectrum_find(ctx, &reduced.problem, reduced.nfree, out));
    return pcs_eigen_expand(ctx, &reduced, out->count, &out->vector);
}
