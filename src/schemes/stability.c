#include "schemes/stability.h"

#include <math.h>

// A vibration may grow by a factor e in 10^6 radians: methods whose growth vanishes with a power of the step are fit
// for small steps, forward Euler is not.
static const double weak = 1e-6;
static const double sample = 0.05, farthest = 40.0, nothing = 1e-3;

double pcs_stable_limit(pcs_growth *growth, const void *scheme, double xi)
{
    // In units of the faster eigenvalue, where the motion creeps.
    double unit = xi > 1.0 ? 1.0 / (xi + sqrt(xi * xi - 1.0)) : 1.0, low = 0.0, high = sample * unit;
    while (high < farthest * unit && growth(scheme, high, xi) <= 1.0 + weak * high) {
        low = high;
        high += sample * unit;
    }
    for (int i = 0; i < 40; i++) {
        double middle = 0.5 * (low + high);
        if (growth(scheme, middle, xi) <= 1.0 + weak * middle) low = middle;
        else high = middle;
    }
    return low < nothing * unit ? 0.0 : low;
}
