// Weights and stable steps of the time-discontinuous Galerkin schemes.

#include "schemes/galerkin.h"
#include "schemes/stability.h"

#include <math.h>

// Coefficients of the Lagrange polynomial of point k among points first..last, ascending powers.
static void galerkin_lagrange(const double *tau, int first, int last, int k, double *c)
{
    int degree = 0;
    c[0] = 1.0;
    for (int j = first; j <= last; j++) {
        if (j == k) continue;
        double scale = 1.0 / (tau[k] - tau[j]);
        c[degree + 1] = 0.0;
        for (int i = ++degree; i >= 0; i--) c[i] = scale * ((i > 0 ? c[i - 1] : 0.0) - tau[j] * c[i]);
    }
}

// Integral from 0 to x of the polynomial of the given degree.
static double galerkin_integral(const double *c, int degree, double x)
{
    double sum = 0.0;
    for (int i = degree; i >= 0; i--) sum = (sum + c[i] / (i + 1)) * x;
    return sum;
}

static void galerkin_fill_minus(pcs_galerkin_weights *w)
{
    double c[PCS_GALERKIN_POINTS + 1];
    for (int k = 0; k < w->M; k++) {
        galerkin_lagrange(w->tau, 0, w->M - 1, k, c);
        for (int l = 0; l <= w->M; l++) w->velocity[l][k] = galerkin_integral(c, w->M - 1, w->tau[l]);
    }
}

static void galerkin_fill_plus(pcs_galerkin_weights *w)
{
    double c[PCS_GALERKIN_POINTS + 1];
    const double *b = w->position[w->M];
    for (int l = 0; l <= w->M; l++) w->velocity[l][0] = b[0];
    for (int k = 1; k <= w->M; k++) {
        galerkin_lagrange(w->tau, 1, w->M, k, c); // c[0] is the value at 0
        for (int l = 0; l <= w->M; l++) {
            double integral = galerkin_integral(c, w->M - 1, w->tau[l]);
            w->velocity[l][k] = integral - b[0] * c[0];
            if (k == w->M) w->impulse[l] = (integral - b[0] * c[0]) / b[k];
        }
    }
}

void pcs_galerkin_fill(int degree, bool is_plus, pcs_galerkin_weights *out)
{
    const double pi = 3.14159265358979323846;
    double c[PCS_GALERKIN_POINTS + 1];
    *out = (pcs_galerkin_weights){ .M = degree, .is_plus = is_plus };
    for (int l = 0; l <= degree; l++) out->tau[l] = 0.5 * (1.0 - cos(l * pi / degree));
    for (int k = 0; k <= degree; k++) {
        galerkin_lagrange(out->tau, 0, degree, k, c);
        for (int l = 0; l <= degree; l++) out->position[l][k] = galerkin_integral(c, degree, out->tau[l]);
    }
    if (is_plus) galerkin_fill_plus(out);
    else galerkin_fill_minus(out);
}

// One step of q'' = -q - 2 xi q' by the iteration of the scheme; false when it does not settle.
static bool galerkin_oscillate(const pcs_galerkin_weights *w, double y, double xi, double x[2])
{
    double A[PCS_GALERKIN_POINTS], V[PCS_GALERKIN_POINTS], change = 1.0;
    for (int k = 0; k <= w->M; k++) A[k] = -x[0] - 2.0 * xi * x[1];
    double Q = x[0];
    for (int round = 0; change > 1e-14; round++) {
        if (round == 200) return false;
        change = 0.0;
        for (int l = 0; l <= w->M; l++) {
            V[l] = x[1];
            for (int k = 0; k <= w->M; k++) V[l] += y * w->velocity[l][k] * A[k];
        }
        for (int l = 0; l <= w->M; l++) {
            Q = x[0];
            for (int k = 0; k <= w->M; k++) Q += y * w->position[l][k] * V[k];
            double a = -Q - 2.0 * xi * V[l];
            change = fmax(change, fabs(a - A[l]) / fmax(1.0, fabs(a)));
            A[l] = a;
        }
    }
    double v = x[1];
    for (int k = 0; k <= w->M; k++) v += y * w->position[w->M][k] * A[k];
    x[0] = Q;
    x[1] = v;
    return true;
}

// Spectral radius of a step.
static double galerkin_growth(const void *scheme, double y, double xi)
{
    double a[2] = { 1.0, 0.0 }, b[2] = { 0.0, 1.0 };
    if (!galerkin_oscillate(scheme, y, xi, a) || !galerkin_oscillate(scheme, y, xi, b)) return INFINITY;
    double half = 0.5 * (a[0] + b[1]), det = a[0] * b[1] - a[1] * b[0], root = half * half - det;
    return root < 0.0 ? sqrt(det) : fabs(half) + sqrt(root);
}

double pcs_galerkin_stable_step(int degree, bool is_plus, double w, double xi)
{
    pcs_galerkin_weights weights;
    pcs_galerkin_fill(degree, is_plus, &weights);
    return pcs_stable_limit(galerkin_growth, &weights, xi) / w;
}
