#include "core/rotation.h"

#include <math.h>

// a^2 below which the series of a quotient is exact to round-off and its closed form is not.
static const double small2 = 1e-3;

// Evaluates sin a / a; the next two, (1 - cos a)/a^2 and (a - sin a)/a^3, each as a function of x = a^2.
static double rotation_s(double x)
{
    if (x < small2) return 1.0 - x * (1.0 / 6.0 - x * (1.0 / 120.0 - x * (1.0 / 5040.0 - x * (1.0 / 362880.0))));
    double a = sqrt(x);
    return sin(a) / a;
}

static double rotation_c(double x)
{
    if (x < small2) return 0.5 - x * (1.0 / 24.0 - x * (1.0 / 720.0 - x * (1.0 / 40320.0 - x * (1.0 / 3628800.0))));
    double half = sin(0.5 * sqrt(x));
    return 2.0 * half * half / x;
}

static double rotation_d(double x)
{
    if (x < 1e-1) {
        double rest = 1.0 / 39916800.0 - x * (1.0 / 6227020800.0 - x * (1.0 / 1307674368000.0));
        return 1.0 / 6.0 - x * (1.0 / 120.0 - x * (1.0 / 5040.0 - x * (1.0 / 362880.0 - x * rest)));
    }
    double a = sqrt(x);
    return (a - sin(a)) / (a * x);
}

// Sets A = I + x p^ + y p^p^.
static void rotation_series(const double p[3], double x, double y, double A[9])
{
    double a2 = pcs_dot3(p, p);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A[3 * i + j] = y * p[i] * p[j];
    for (int i = 0; i < 3; i++) A[4 * i] += 1.0 - y * a2;
    A[1] -= x * p[2];
    A[2] += x * p[1];
    A[3] += x * p[2];
    A[5] -= x * p[0];
    A[6] -= x * p[1];
    A[7] += x * p[0];
}

void pcs_rotation_exp(const double p[3], double R[9])
{
    double a2 = pcs_dot3(p, p);
    rotation_series(p, rotation_s(a2), rotation_c(a2), R);
}

void pcs_rotation_tangent(const double p[3], double T[9])
{
    double a2 = pcs_dot3(p, p);
    rotation_series(p, -rotation_c(a2), rotation_d(a2), T);
}

// Computes the rotation vector of the unit quaternion (w, u), at most pi long.
static void rotation_of_quaternion(double w, const double u[3], double p[3])
{
    double sine = sqrt(pcs_dot3(u, u)), sign = w < 0.0 ? -1.0 : 1.0;
    // 2 atan2(s, |w|) / s, which tends to 2 / |w|
    double factor = sine < 1e-8 ? 2.0 / fabs(w) : 2.0 * atan2(sine, fabs(w)) / sine;
    for (int i = 0; i < 3; i++) p[i] = sign * factor * u[i];
}

void pcs_rotation_compose(const double a[3], const double b[3], double p[3])
{
    double A[4], B[4], u[3];
    pcs_rotation_quaternion(a, A);
    pcs_rotation_quaternion(b, B);
    pcs_cross(A + 1, B + 1, u);
    for (int i = 0; i < 3; i++) u[i] += A[0] * B[1 + i] + B[0] * A[1 + i];
    rotation_of_quaternion(A[0] * B[0] - pcs_dot3(A + 1, B + 1), u, p);
}

// Divides by the largest entry first, so that no square overflows or vanishes.
bool pcs_normalize3(const double raw[3], double unit[3])
{
    double largest = fabs(raw[0]);
    for (int k = 1; k < 3; k++) largest = fabs(raw[k]) > largest ? fabs(raw[k]) : largest;
    for (int k = 0; k < 3; k++) unit[k] = raw[k] / largest;
    double length = pcs_norm3(unit);
    for (int k = 0; k < 3; k++) unit[k] /= length;
    return isfinite(length) && length > 0.0;
}
