// What the slider-crank mechanism with clearance and the one without share: crank and rod as a double pendulum that
// carries the slider's mass at its tip; private to this folder.
//
//   M11 = J1 + l1^2 (m1/4 + m2 + m3),   M22 = J2 + l2^2 (m2/4 + m3),   M12 = l1 l2 (m2/2 + m3) cos(th1 - th2)
//   f1 = -l1 l2 (m2/2 + m3) sin(th1 - th2) w2^2 - g l1 cos th1 (m1/2 + m2 + m3)
//   f2 =  l1 l2 (m2/2 + m3) sin(th1 - th2) w1^2 - g l2 cos th2 (m2/2 + m3)
//
// Angles are absolute, from the x axis. Data: Schindler, Rezaei, Kursawe, Acary (2015), Table 1, after Flores et al.

#ifndef PCS_CLOSED_FORM_SLIDER_CRANK_H
#define PCS_CLOSED_FORM_SLIDER_CRANK_H

#include "percuss_system.h"

#include <math.h>

// Every parameter table begins with these.
enum { L1, L2, M1, M2, M3, J1, J2, GRAVITY, THETA1, THETA2, OMEGA1, OMEGA2, CRANK_PARAMETERS };

// clang-format off
#define PCS_CRANK_PARAMETERS                                                                        \
    [L1] = { "crank_length", "m", 0.153, PERCUSS_ABOVE_ZERO, INFINITY },                            \
    [L2] = { "rod_length", "m", 0.306, PERCUSS_ABOVE_ZERO, INFINITY },                              \
    [M1] = { "crank_mass", "kg", 0.038, PERCUSS_ABOVE_ZERO, INFINITY },                             \
    [M2] = { "rod_mass", "kg", 0.038, PERCUSS_ABOVE_ZERO, INFINITY },                               \
    [M3] = { "slider_mass", "kg", 0.076, PERCUSS_ABOVE_ZERO, INFINITY },                            \
    [J1] = { "crank_inertia", "about its centre, kg m^2", 7.4e-5, PERCUSS_ABOVE_ZERO, INFINITY },   \
    [J2] = { "rod_inertia", "about its centre, kg m^2", 5.9e-4, PERCUSS_ABOVE_ZERO, INFINITY },     \
    [GRAVITY] = { "gravity", "m/s^2, along -y", 9.81, -INFINITY, INFINITY },                        \
    [THETA1] = { "theta1", "crank angle at t = 0, rad", 0.0, -INFINITY, INFINITY },                 \
    [THETA2] = { "theta2", "rod angle at t = 0, rad", 0.0, -INFINITY, INFINITY },                   \
    [OMEGA1] = { "omega1", "of the crank at t = 0, rad/s", 150.0, -INFINITY, INFINITY },            \
    [OMEGA2] = { "omega2", "of the rod at t = 0, rad/s", -75.0, -INFINITY, INFINITY }
// clang-format on

static inline double crank_coupling(const double *p)
{
    return p[L1] * p[L2] * (0.5 * p[M2] + p[M3]);
}

static inline void crank_mass(const double *p, const double *q, double *M11, double *M12, double *M22)
{
    *M11 = p[J1] + p[L1] * p[L1] * (0.25 * p[M1] + p[M2] + p[M3]);
    *M12 = crank_coupling(p) * cos(q[0] - q[1]);
    *M22 = p[J2] + p[L2] * p[L2] * (0.25 * p[M2] + p[M3]);
}

static inline void crank_force(const double *p, const double *q, const double *v, double *f)
{
    double s = crank_coupling(p) * sin(q[0] - q[1]);
    f[0] = -s * v[1] * v[1] - p[GRAVITY] * p[L1] * cos(q[0]) * (0.5 * p[M1] + p[M2] + p[M3]);
    f[1] = s * v[0] * v[0] - p[GRAVITY] * p[L2] * cos(q[1]) * (0.5 * p[M2] + p[M3]);
}

static inline double crank_kinetic(const double *p, const double *q, const double *v)
{
    double M11, M12, M22;
    crank_mass(p, q, &M11, &M12, &M22);
    return 0.5 * (M11 * v[0] * v[0] + M22 * v[1] * v[1]) + M12 * v[0] * v[1];
}

static inline double crank_potential(const double *p, const double *q)
{
    return p[GRAVITY] * (p[L1] * sin(q[0]) * (0.5 * p[M1] + p[M2] + p[M3]) + p[L2] * sin(q[1]) * (0.5 * p[M2] + p[M3]));
}

#endif
