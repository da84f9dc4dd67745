// (s^2 M + s C + K) phi = 0 by shift and invert of its first-order form.
//
//   x = (phi, s phi),   (A - z B)^-1 B (a, b) = (u, a + z u),   (K + z C + z^2 M) u = -(M (b + z a) + C a)
//
// has the eigenvalues 1/(s - z). The shift z is 0 where K is regular, else real, positive and small. The second half of
// x is divided by a reference frequency, so that both halves are of one size.

#include "core/dense.h"
#include "eigen/eigen.h"
#include "eigen/solvers.h"
#include "linsolve/bordered.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SMALL = 120 };

static const double SMALL_SHIFT = 1e-9; // squared, beside the largest K_ii / M_ii

static const double DOUBLE_ROOT = 1e-5; // of the shift: its error, with a margin

static const double EQUAL = 1e-9; // relative difference of |s| that counts as round-off

typedef struct pencil {
    const pcs_eigen_problem *p;
    int n;
    pcs_matrix Q; // K + z C + z^2 M
    pcs_bordered *solver;
    double shift, reference; // 1/s
    double *work;            // [n]
    int nsolve;
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
    s->nsolve++;
}

static pcs_status pencil_factor(pcs_context *ctx, pencil *s)
{
    const pcs_eigen_problem *p = s->p;
    bool is_singular = false;
    double small = sqrt(SMALL_SHIFT * pcs_eigen_top(p));
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

// |(s^2 M + s C + K) phi| against the size of K phi, worst entries of both.
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
        pcs_eigen_clear_held(p, r);
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
    out->w[out->count] = si == 0.0 ? 0.0 : si; // not -0
    out->residual[out->count] = pencil_residual(s, sr, si, out->re + at, out->im + at, s->work);
    out->zero[out->count] = pencil_zero(s, out->re + at, out->im + at);
    out->count++;
}

static void pencil_swap(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double keep = a[i];
        a[i] = b[i];
        b[i] = keep;
    }
}

// Smaller |s| first; of two that round-off alone could order, the one that grows.
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
            pencil_swap(&r->decay[k], &r->decay[k - 1], 1);
            pencil_swap(&r->w[k], &r->w[k - 1], 1);
            pencil_swap(&r->residual[k], &r->residual[k - 1], 1);
            pencil_swap(&r->zero[k], &r->zero[k - 1], 1);
            pencil_swap(r->re + (size_t)k * size, r->re + (size_t)(k - 1) * size, size);
            pencil_swap(r->im + (size_t)k * size, r->im + (size_t)(k - 1) * size, size);
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
    PCS_TRY((is_dense ? pcs_lapack_general : pcs_arpack_general)(ctx, &op, &count, re, im, vector));
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

// `most`: unknowns that the rows leave; each has two eigenvalues.
static pcs_status pencil_find(pcs_context *ctx, const pcs_eigen_problem *p, int most, pcs_eigen_complex *out)
{
    int n = p->K->pattern->n, wanted = p->count < most ? 2 * p->count : 2 * most;
    size_t room = (size_t)wanted + 1;
    pencil s = { .p = p, .n = n, .Q = { .pattern = p->K->pattern } };
    bool is_dense =
        p->method == PCS_EIGEN_DENSE || (p->method == PCS_EIGEN_AUTO && (n <= SMALL || 2 * most < 2 * wanted + 20));
    out->eigen_name = is_dense ? "LAPACK" : "ARPACK";
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
    PCS_TRY(pencil_search(ctx, &s, is_dense, wanted, out));
    out->shift = s.shift;
    out->backend = pcs_bordered_backend(s.solver);
    out->nfactor = pcs_bordered_factorizations(s.solver);
    out->nsolve = s.nsolve;
    return PCS_OK;
}

pcs_status pcs_eigen_quadratic(pcs_context *ctx, const pcs_eigen_problem *p, pcs_eigen_complex *out)
{
    pcs_reduced reduced;
    *out = (pcs_eigen_complex){ 0 };
    PCS_TRY(pcs_eigen_reduce(ctx, p, &reduced));
    PCS_TRY(pencil_find(ctx, &reduced.problem, reduced.nfree, out));
    PCS_TRY(pcs_eigen_expand(ctx, &reduced, out->count, &out->re));
    return pcs_eigen_expand(ctx, &reduced, out->count, &out->im);
}
