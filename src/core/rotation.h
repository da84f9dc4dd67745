// Rotations in space: the exponential of SO(3) and its right tangent.
//
//   exp(p) = I + sin a / a p^ + (1 - cos a)/a^2 p^p^,   a = |p|, p^ x = p x x
//   R(t) = R0 exp(p(t)):  material spin = T(p) p',   T(p) = I - (1 - cos a)/a^2 p^ + (a - sin a)/a^3 p^p^
//
// Matrices are row-major, R[3 * i + j].

#ifndef PCS_CORE_ROTATION_H
#define PCS_CORE_ROTATION_H

#include <math.h>
#include <stdbool.h>

void pcs_rotation_exp(const double p[3], double R[9]);
// Computes the rotation vector of exp(a) exp(b), at most pi long.
void pcs_rotation_compose(const double a[3], const double b[3], double p[3]);
void pcs_rotation_tangent(const double p[3], double T[9]);

// Multiplies small matrices and vectors; the result must not be an argument.
static inline void pcs_rotation_apply(const double R[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

static inline void pcs_rotation_apply_transposed(const double R[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) y[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
}

static inline void pcs_rotation_multiply(const double A[9], const double B[9], double AB[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) AB[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

static inline void pcs_rotation_transpose(const double A[9], double B[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[3 * i + j] = A[3 * j + i];
}

// Computes x^.
static inline void pcs_rotation_hat(const double x[3], double X[9])
{
    X[0] = X[4] = X[8] = 0.0;
    X[1] = -x[2];
    X[2] = x[1];
    X[3] = x[2];
    X[5] = -x[0];
    X[6] = -x[1];
    X[7] = x[0];
}

static inline void pcs_cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double pcs_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double pcs_norm3(const double x[3])
{
    return sqrt(pcs_dot3(x, x));
}

// Computes the unit quaternion (w, u) of exp(p), by series for small angles.
static inline void pcs_rotation_quaternion(const double p[3], double Q[4])
{
    double x = 0.25 * pcs_dot3(p, p), half = sqrt(x), sinc;
    if (x < 1e-3) {
        Q[0] = 1.0 - x * (0.5 - x * (1.0 / 24.0 - x * (1.0 / 720.0 - x * (1.0 / 40320.0))));
        sinc = 1.0 - x * (1.0 / 6.0 - x * (1.0 / 120.0 - x * (1.0 / 5040.0 - x * (1.0 / 362880.0))));
    } else {
        Q[0] = cos(half);
        sinc = sin(half) / half;
    }
    for (int k = 0; k < 3; k++) Q[1 + k] = 0.5 * sinc * p[k];
}

// Computes exp(p) r - r without cancellation at small p; p x r if is_small.
static inline void pcs_rotation_shift(const double p[3], bool is_small, const double r[3], double out[3])
{
    double half = 0.5 * pcs_norm3(p), sinc = half > 0.0 ? sin(half) / half : 1.0, once[3], twice[3];
    pcs_cross(p, r, once);
    pcs_cross(p, once, twice);
    for (int k = 0; k < 3; k++) out[k] = is_small ? once[k] : sinc * (cos(half) * once[k] + 0.5 * sinc * twice[k]);
}

// Returns c = (1 - (a/2) cot(a/2))/a^2 of T^-1(p) = I + p^/2 + c p^p^, and c'(a)/a; for small a by a series of
// Bernoulli numbers, as the closed forms would cancel.
static inline double pcs_rotation_curve(double a2, double half_cotangent)
{
    if (a2 > 0.25) return (1.0 - half_cotangent) / a2;
    double x = a2;
    return 1.0 / 12.0 +
           x * (1.0 / 720.0 +
                x * (1.0 / 30240.0 + x * (1.0 / 1209600.0 +
                                          x * (1.0 / 47900160.0 + x * (691.0 / 1307674368000.0 + x / 74724249600.0)))));
}

static inline double pcs_rotation_curve_slope(double a2, double c, double sine2)
{
    double x = a2;
    if (x > 0.25) return (0.25 / sine2 - (1.0 + c * x) / x) / x; // sine2: of a/2, squared
    return 1.0 / 360.0 +
           x * (1.0 / 7560.0 +
                x * (1.0 / 201600.0 +
                     x * (1.0 / 5987520.0 +
                          x * (691.0 / 130767436800.0 + x * (1.0 / 6227020800.0 + x * (3617.0 / 762187345920000.0))))));
}

// Returns the distance of two points without overflow, for positions as given in a case.
static inline double pcs_distance3(const double a[3], const double b[3])
{
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

// Normalizes a vector. False if it has no direction.
bool pcs_normalize3(const double raw[3], double unit[3]);

#endif
