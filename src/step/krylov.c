#include "step/krylov.h"

#include "step/sums.h"

#include <math.h>
#include <string.h>

enum { SIDES = 24 }; // directions whose sides are kept: with more of them a product for the solution costs little

static const double regular = 0.05; // smallest pivot of a triangle that is trusted, of the largest

static int krylov_room(const pcs_krylov *k)
{
    return k->restart < SIDES ? k->restart : SIDES;
}

pcs_status pcs_krylov_create(pcs_context *ctx, int n, int restart, int nside, const double *side, pcs_krylov **out)
{
    pcs_krylov *k;
    PCS_TAKE(ctx, k, 1, "the Krylov method");
    k->n = n;
    k->restart = restart;
    k->nside = nside;
    k->side = side;
    PCS_TAKE(ctx, k->side_sum, nside, "the Krylov method");
    PCS_TAKE(ctx, k->sides, krylov_room(k), "the Krylov basis");
    for (int i = 0; i < krylov_room(k); i++) PCS_TAKE(ctx, k->sides[i], nside, "the Krylov basis");
    PCS_TAKE(ctx, k->basis, restart + 1, "the Krylov basis");
    for (int i = 0; i <= restart; i++) PCS_TAKE(ctx, k->basis[i], n, "the Krylov basis");
    PCS_TAKE(ctx, k->H, (size_t)(restart + 1) * (size_t)restart, "the Krylov method");
    PCS_TAKE_EACH(ctx, restart + 1, "the Krylov method", double, &k->cosine, &k->sine, &k->g, &k->dots);
    PCS_TAKE_EACH(ctx, n, "the Krylov method", double, &k->direction, &k->image, &k->rest, &k->treated);
    *out = k;
    return PCS_OK;
}

static void krylov_multiply(pcs_krylov *k, const double *x, double *y)
{
    k->product(k->owner, x, y);
    k->count++;
}

// Adds `scale` times `side` to the side results of the solution.
static void krylov_add_side(pcs_krylov *k, double scale, const double *side)
{
    for (int i = 0; i < k->nside; i++) k->side_sum[i] += scale * side[i];
}

static void krylov_begin(pcs_krylov *k, double *x)
{
    memset(x, 0, (size_t)k->n * sizeof *x);
    memset(k->side_sum, 0, (size_t)k->nside * sizeof *k->side_sum);
    k->has_side = true;
}

double pcs_krylov_conjugate(pcs_krylov *k, const double *b, double *x, double tolerance, int limit)
{
    int n = k->n;
    double *p = k->direction, *Ap = k->image, *r = k->rest;
    krylov_begin(k, x);
    memcpy(r, b, (size_t)n * sizeof *r);
    k->treat(k->owner, r, p);
    double *const pair[2] = { p, r }, *const next[2] = { k->treated, r };
    double dots[2];
    pcs_all_dots(k->comm, n, 2, pair, r, dots);
    double rz = dots[0], size = sqrt(dots[1]);
    for (int step = 0; step < limit && size > tolerance; step++) {
        krylov_multiply(k, p, Ap);
        double curvature = pcs_all_dot(k->comm, n, p, Ap);
        if (!(curvature > 0.0)) break; // in the null space, or not finite
        double alpha = rz / curvature, last = rz;
        krylov_add_side(k, alpha, k->side);
        for (int i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * Ap[i];
        }
        k->treat(k->owner, r, k->treated);
        pcs_all_dots(k->comm, n, 2, next, r, dots);
        rz = dots[0];
        size = sqrt(dots[1]);
        for (int i = 0; i < n; i++) p[i] = k->treated[i] + rz / last * p[i];
    }
    return size;
}

// Orthogonalises basis[j + 1] against the others twice (once is not enough near convergence) and fills column j of H.
static void krylov_orthogonalise(pcs_krylov *k, int j)
{
    int n = k->n;
    double *w = k->basis[j + 1], *h = &k->H[(size_t)j * (size_t)(k->restart + 1)];
    memset(h, 0, (size_t)(j + 2) * sizeof *h);
    for (int pass = 0; pass < 2; pass++) {
        pcs_all_dots(k->comm, n, j + 1, k->basis, w, k->dots);
        for (int i = 0; i <= j; i++) {
            h[i] += k->dots[i];
            for (int l = 0; l < n; l++) w[l] -= k->dots[i] * k->basis[i][l];
        }
    }
    h[j + 1] = sqrt(pcs_all_dot(k->comm, n, w, w));
    if (h[j + 1] > 0.0)
        for (int l = 0; l < n; l++) w[l] /= h[j + 1];
}

// Rotates column j of H to upper triangular form. Returns the residual of the least-squares problem so far, NAN if a
// product was not finite.
static double krylov_rotate(pcs_krylov *k, int j)
{
    double *h = &k->H[(size_t)j * (size_t)(k->restart + 1)];
    for (int i = 0; i < j; i++) {
        double a = h[i], b = h[i + 1];
        h[i] = k->cosine[i] * a + k->sine[i] * b;
        h[i + 1] = k->cosine[i] * b - k->sine[i] * a;
    }
    double length = hypot(h[j], h[j + 1]);
    if (!isfinite(length)) return NAN;
    k->cosine[j] = length > 0.0 ? h[j] / length : 1.0;
    k->sine[j] = length > 0.0 ? h[j + 1] / length : 0.0;
    h[j] = length;
    k->g[j + 1] = -k->sine[j] * k->g[j];
    k->g[j] *= k->cosine[j];
    return fabs(k->g[j + 1]);
}

// Adds D V y to x, where y solves the triangular system H y = g of `count` columns.
static void krylov_combine(pcs_krylov *k, int count, double *x)
{
    int n = k->n;
    for (int i = count - 1; i >= 0; i--) {
        const double *H = k->H;
        size_t lead = (size_t)(k->restart + 1);
        double sum = k->g[i];
        for (int j = i + 1; j < count; j++) sum -= H[(size_t)j * lead + (size_t)i] * k->dots[j];
        double pivot = H[(size_t)i * lead + (size_t)i];
        k->dots[i] = pivot != 0.0 ? sum / pivot : 0.0;
    }
    memset(k->treated, 0, (size_t)n * sizeof(double));
    for (int j = 0; j < count; j++)
        for (int l = 0; l < n; l++) k->treated[l] += k->dots[j] * k->basis[j][l];
    k->treat(k->owner, k->treated, k->direction);
    for (int l = 0; l < n; l++) x[l] += k->direction[l];
    k->has_side = k->has_side && count <= krylov_room(k);
    for (int j = 0; j < count && k->has_side; j++) krylov_add_side(k, k->dots[j], k->sides[j]);
}

// Returns true if the pivots of all columns are of similar size: the rotations then give the residual, and a product is
// saved. Redundant contacts violate this.
static bool krylov_is_regular(const pcs_krylov *k, int count)
{
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < count; i++) {
        double pivot = fabs(k->H[(size_t)i * (size_t)(k->restart + 2)]);
        least = fmin(least, pivot);
        most = fmax(most, pivot);
    }
    return least > regular * most;
}

double pcs_krylov_minimal(pcs_krylov *k, const double *b, double *x, double tolerance, int limit)
{
    int n = k->n, used = 0;
    krylov_begin(k, x);
    memcpy(k->rest, b, (size_t)n * sizeof *b);
    double size = sqrt(pcs_all_dot(k->comm, n, b, b)), last = INFINITY;
    while (size > tolerance && used < limit && size < 0.9 * last) {
        last = size;
        for (int l = 0; l < n; l++) k->basis[0][l] = k->rest[l] / size;
        k->g[0] = size;
        int j = 0;
        for (double rest = size; j < k->restart && used < limit && rest > tolerance; j++, used++) {
            k->treat(k->owner, k->basis[j], k->direction);
            krylov_multiply(k, k->direction, k->basis[j + 1]);
            if (j < krylov_room(k)) memcpy(k->sides[j], k->side, (size_t)k->nside * sizeof *k->side);
            krylov_orthogonalise(k, j);
            bool is_whole = k->H[(size_t)j * (size_t)(k->restart + 1) + (size_t)(j + 1)] <= 1e-16 * fabs(k->H[0]);
            rest = krylov_rotate(k, j);
            if (!isfinite(rest)) return NAN;
            if (is_whole) rest = 0.0; // the space is exhausted
        }
        krylov_combine(k, j, x);
        if (fabs(k->g[j]) <= tolerance && krylov_is_regular(k, j)) return fabs(k->g[j]);
        krylov_multiply(k, x, k->image);
        used++;
        for (int l = 0; l < n; l++) k->rest[l] = b[l] - k->image[l];
        size = sqrt(pcs_all_dot(k->comm, n, k->rest, k->rest));
    }
    return size;
}
