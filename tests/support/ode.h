// Ordinary differential equations in small steps, as a yardstick.

#ifndef TESTS_SUPPORT_ODE_H
#define TESTS_SUPPORT_ODE_H

// x' at t; p: numbers of the problem.
typedef void ode_rate(const void *p, double t, const double *x, double *rate);

enum { ODE_MOST = 32 };

// Takes x [n <= ODE_MOST] from t = start to end by the classical Runge-Kutta method.
void ode_solve(ode_rate *rate, const void *p, int n, double start, double end, int steps, double *x);

// A pendulum: theta'' = -k cos(theta), x = { theta, theta' }, theta measured from the horizontal.
void ode_swing(double k, double end, double x[2]);

#endif
