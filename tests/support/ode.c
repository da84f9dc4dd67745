#include "support/ode.h"

#include <math.h>
#include <string.h>

void ode_solve(ode_rate *rate, const void *p, int n, double start, double end, int steps, double *x)
{
    static const double part[4] = { 0.0, 0.5, 0.5, 1.0 }, weight[4] = { 1.0, 2.0, 2.0, 1.0 };
    double h = (end - start) / steps;
    for (int i = 0; i < steps; i++) {
        double y[ODE_MOST], slope[ODE_MOST] = { 0 }, sum[ODE_MOST] = { 0 };
        for (int s = 0; s < 4; s++) {
            for (int k = 0; k < n; k++) y[k] = x[k] + h * part[s] * slope[k];
            rate(p, start + (i + part[s]) * h, y, slope);
            for (int k = 0; k < n; k++) sum[k] += h / 6.0 * weight[s] * slope[k];
        }
        for (int k = 0; k < n; k++) x[k] += sum[k];
    }
}

static void swing(const void *k, double t, const double *x, double *rate)
{
    (void)t;
    rate[0] = x[1];
    rate[1] = -*(const double *)k * cos(x[0]);
}

void ode_swing(double k, double end, double x[2])
{
    ode_solve(swing, &k, 2, 0.0, end, 20000, x);
}
