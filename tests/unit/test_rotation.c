// Exponential, logarithm and tangents of rotations to their last digits, also near zero, at the change from series to
// closed forms, and near half a turn.

#include "core/rotation.h"
#include "support/check.h"
#include "support/model.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static double norm(const double p[3])
{
    return sqrt(pcs_dot3(p, p));
}

// Unit vectors of all kinds, axes among them.
static void direction(int i, double d[3])
{
    unsigned long long seed = 31 + (unsigned long long)i;
    model_randomize(&seed, 3, d);
    if (i < 3) d[0] = d[1] = d[2] = 0.0;
    if (i < 3) d[i] = 1.0;
    double size = norm(d);
    for (int k = 0; k < 3; k++) d[k] /= size;
}

// 1 - 1e-3, 1e-3 and the like: both sides of every change of formula.
static const double angles[] = { 0.0,    1e-300, 1e-160, 1e-12, 1e-8,   1e-4,   0.0316,  0.03162278,
                                 0.0317, 0.06,   0.064,  0.31,  0.3163, 0.5,    1.0,     1.5,
                                 2.0,    2.5,    3.0,    3.1,   3.14,   3.1415, 3.141592 };
enum { NANGLE = sizeof angles / sizeof *angles, NDIRECTION = 8 };

static void for_every_vector(void (*check)(const double p[3]))
{
    for (int i = 0; i < NANGLE; i++)
        for (int j = 0; j < NDIRECTION; j++) {
            double p[3];
            direction(j, p);
            for (int k = 0; k < 3; k++) p[k] *= angles[i];
            check(p);
        }
}

// p^ as a matrix times a factor, plus another times p^p^, plus the identity, in long double.
static void reference(const double p[3], long double x, long double y, double A[9])
{
    long double a2 = (long double)p[0] * p[0] + (long double)p[1] * p[1] + (long double)p[2] * p[2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            long double sum = (i == j ? 1.0L - y * a2 : 0.0L) + y * p[i] * p[j];
            if ((i + 1) % 3 == j) sum -= x * p[(j + 1) % 3];
            if ((j + 1) % 3 == i) sum += x * p[(i + 1) % 3];
            A[3 * i + j] = (double)sum;
        }
}

// The closed forms with long double's digits; the series of its own for angles whose closed form would cancel even so.
static void check_closed_forms(const double p[3])
{
    long double a = sqrtl((long double)p[0] * p[0] + (long double)p[1] * p[1] + (long double)p[2] * p[2]), a2 = a * a;
    bool is_small = a < 1e-3L;
    long double s = a == 0.0L ? 1.0L : sinl(a) / a, h = sinl(0.5L * a);
    long double c = is_small ? 0.5L - a2 / 24.0L : 2.0L * h * h / a2;
    long double d = is_small ? 1.0L / 6.0L - a2 / 120.0L : (a - sinl(a)) / (a * a2);
    double R[9], wanted[9];
    reference(p, s, c, wanted);
    pcs_rotation_exp(p, R);
    // Roundings in u = eps/2, to first order: a^2 3, a 2.5, a sine 1.1. With w = 2 sin^2(a/2), n = p/a and a <= pi,
    // R_ii = 1 - w + w n_i^2 is off by w (5.2 + 2.5 a cot(a/2)) + 2 < 16 at n_i = 0, by less at n_i = 1, and R_ij by
    // (2.5 |a cos a - sin a| + 3.1 sin a) n_k + 9.2 w (1 - n_k^2)/2 + 1 < 13. Below, the factors are smaller.
    const double tolerance = 8.0 * DBL_EPSILON;
    CHECK_ALL_NEAR(9, R, wanted, tolerance);
    reference(p, -c, d, wanted);
    pcs_rotation_tangent(p, R);
    CHECK_ALL_NEAR(9, R, wanted, tolerance);
}

TEST(closed_forms_hold_to_the_last_digits)
{
    for_every_vector(check_closed_forms);
}

TEST(product_is_that_of_the_matrices)
{
    unsigned long long seed = 32;
    for (int trial = 0; trial < 200; trial++) {
        double a[3], b[3], p[3], A[9], B[9], AB[9], R[9];
        model_randomize(&seed, 3, a);
        model_randomize(&seed, 3, b);
        double size = trial % 4 == 0 ? 1e-9 : 1.8;
        for (int k = 0; k < 3; k++) {
            a[k] *= 1.8;
            b[k] *= size;
        }
        pcs_rotation_compose(a, b, p);
        pcs_rotation_exp(a, A);
        pcs_rotation_exp(b, B);
        pcs_rotation_multiply(A, B, AB);
        pcs_rotation_exp(p, R);
        CHECK_ALL_NEAR(9, R, AB, 3e-15);
        CHECK(norm(p) <= pi + 1e-15);
    }
    // A thousand small turns, the digits kept: no drift away from the group.
    double p[3] = { 0 }, step[3] = { 0.006, 0.0, 0.0 };
    for (int i = 0; i < 1000; i++) {
        double next[3];
        pcs_rotation_compose(p, step, next);
        memcpy(p, next, sizeof p);
    }
    CHECK_NEAR(p[0], 6.0 - 2.0 * pi, 1e-12);
}
