#include "core/rotation.h"

#include <math.h>

// a^2 below which the series of a quotient is exact to round-off and its closed form is not.
static const double small2 = 1e-3;

// Evaluates sin a / a; the next two, (1 - cos a)/a^2 and (a - sin a)/a^3, each as a function of a^2.
static double rotation_s(double a2)
{
    if (a2 < small2) return 1.0 - a2 / 6.0 * (1.0 - a2 / 20.0 * (1.0 - a2 / 42.0 * (1.0 - a2 / 72.0)));
    double a = sqrt(a2);
    return sin(a) / a;
}

static double rotation_c(double a2)
{
    if (a2 < small2) return 0.5 * (1.0 - a2 / 12.0 * (1.0 - a2 / 30.0 * (1.0 - a2 / 56.0 * (1.0 - a2 / 90.0))));
    double half = sin(0.5 * sqrt(a2));
    return 2.0 * half * half / a2;
}

static double rotation_d(double a2)
{
    if (a2 < 1e-1) {
        double inner = 1.0 - a2 / 72.0 * (1.0 - a2 / 110.0 * (1.0 - a2 / 156.0 * (1.0 - a2 / 210.0)));
        return (1.0 - a2 / 20.0 * (1.0 - a2 / 42.0 * inner)) / 6.0;
    }
    double a = sqrt(a2);
    return (a - sin(a)) / (a * a2);
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

// Computes the quaternion of exp(p).
static void rotation_quaternion(const double p[3], double *w, double u[3])
{
    double square = 0.25 * pcs_dot3(p, p), half = 0.5 * rotation_s(square);
    *w = 1.0 - square * rotation_c(square); // by a series in most steps
    for (int i = 0; i < 3; i++) u[i] = half * p[i];
}

void pcs_rotation_compose(const double a[3], const double b[3], double p[3])
{
    double wa, wb, ua[3], ub[3], u[3];
    rotation_quaternion(a, &wa, ua);
    rotation_quaternion(b, &wb, ub);
    pcs_cross(ua, ub, u);
    for (int i = 0; i < 3; i++) u[i] += wa * ub[i] + wb * ua[i];
    rotation_of_quaternion(wa * wb - pcs_dot3(ua, ub), u, p);
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
