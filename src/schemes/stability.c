#include "schemes/stability.h"

#include <math.h>

// Weak growth of a method that is stable up to round-off must pass, that of one of order 4 or less must not:
// at the first sample it is y^6/100 or more.
static const double tolerance = 1e-11;
static const double sample = 0.05, farthest = 40.0;

double pcs_stable_limit(pcs_growth *growth, const void *scheme, double xi)
{
    // In units of the faster eigenvalue, where the motion creeps.
    double unit = xi > 1.0 ? 1.0 / (xi + sqrt(xi * xi - 1.0)) : 1.0, low = 0.0, high = sample * unit;
    while (high < farthest * unit && growth(scheme, high, xi) <= 1.0 + tolerance) {
        low = high;
        high += sample * unit;
    }
    if (low == 0.0) return 0.0;
    for (int i = 0; i < 40; i++) {
        double middle = 0.5 * (low + high);
        if (growth(scheme, middle, xi) <= 1.0 + tolerance) low = middle;
        else high = middle;
    }
    return low;
}
