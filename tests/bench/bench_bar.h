// The bar of the benchmarks as plain tridiagonal matrices, and the coefficients of the three schemes.
//
//   M = rho A l / 6 [2 1; 1 2],  K = E A / l [1 -1; -1 1]  per element,   S = c M + h kb K
//
// Coefficients as in schemes/README: generalized-alpha GGL from rho_inf, Moreau-Jean with theta = 1 / (1 + rho_inf);
// the half-explicit scheme solves with M alone.

#ifndef TESTS_BENCH_BAR_H
#define TESTS_BENCH_BAR_H

#include "bench_clock.h"

#include <math.h>
#include <stdbool.h>

enum { BENCH_GGL, BENCH_MOREAU, BENCH_HALF_EXPLICIT, BENCH_NSCHEME };
static const char *const bench_scheme_names[BENCH_NSCHEME] = { "alpha_ggl", "moreau_jean", "half_explicit" };

// The physics of cases/bar_impact: m, kg, s.
static const double bench_young = 900.0, bench_density = 1.0, bench_area = 1.0, bench_length = 10.0;
static const double bench_speed = 10.0, bench_restitution = 0.0, bench_rho_inf = 0.8;

typedef struct bench_tri {
    int n;
    double *diagonal; // [n]
    double *off;      // [n - 1]
} bench_tri;

typedef struct bench_form {
    int scheme;
    double h;
    double am, af, ga, be, theta;
    double c, kb, kw; // S = c M + h kb K, q = qt0 + kb d + kw W
} bench_form;

// The step of the case (wave crosses 1.2 elements) or 0.9 of the explicit limit l / (sqrt(3) c).
static inline double bench_step_size(int scheme, int elements)
{
    double l = bench_length / elements, wave = sqrt(bench_young / bench_density);
    return scheme == BENCH_HALF_EXPLICIT ? 0.9 * l / (sqrt(3.0) * wave) : 1.2 * l / wave;
}

static inline bench_form bench_form_of(int scheme, double h)
{
    double rho = bench_rho_inf;
    bench_form f = { .scheme = scheme, .h = h, .c = 1.0 };
    if (scheme == BENCH_GGL) {
        f.am = (2.0 * rho - 1.0) / (rho + 1.0);
        f.af = rho / (rho + 1.0);
        f.ga = 0.5 + f.af - f.am;
        f.be = 0.25 * (f.ga + 0.5) * (f.ga + 0.5);
        f.c = (1.0 - f.am) / ((1.0 - f.af) * f.ga);
        f.kb = h * f.be / f.ga;
    } else if (scheme == BENCH_MOREAU) {
        f.theta = 1.0 / (1.0 + rho);
        f.c = 1.0 / f.theta;
        f.kb = f.kw = h * f.theta;
    }
    return f;
}

// a M + k K of a bar of n - 1 equal elements.
static inline bench_tri bench_tri_create(int n, double a, double k)
{
    bench_tri A = { n, bench_vector(n), bench_vector(n) };
    double l = bench_length / (n - 1);
    double m = a * bench_density * bench_area * l / 6.0, s = k * bench_young * bench_area / l;
    for (int i = 0; i + 1 < n; ++i) {
        A.diagonal[i] += 2.0 * m + s;
        A.diagonal[i + 1] += 2.0 * m + s;
        A.off[i] = m - s;
    }
    return A;
}

static inline void bench_tri_free(bench_tri *A)
{
    free(A->diagonal);
    free(A->off);
}

// The matrix a scheme solves with.
static inline bench_tri bench_tri_of(const bench_form *f, int n)
{
    return bench_tri_create(n, f->c, f->h * f->kb);
}

#endif
