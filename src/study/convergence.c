// Observed order, extrapolated limit and bound of a sequence.

#include "study/convergence.h"

#include <math.h>
#include <string.h>

pcs_convergence pcs_converge(int count, const double *values, double factor, double grain)
{
    pcs_convergence c = { .value = values[count - 1], .order = NAN, .limit = NAN, .bound = NAN, .kind = "unknown" };
    if (count < 3) return c;
    const double *f = values + count - 3;
    double coarse = f[1] - f[0], fine = f[2] - f[1], round_off = 1e-12 * fabs(f[2]);
    if (!isfinite(coarse) || !isfinite(fine)) return c;
    if (grain > 0.0 && fabs(fine) <= (1.0 + 1e-9) * grain) { // nothing finer can be seen
        c.kind = "steps";
        c.bound = fabs(fine) + grain;
        return c;
    }
    if (fabs(fine) <= round_off) { // sums over many steps have no more digits
        c.kind = "exact";
        c.limit = f[2];
        c.bound = fabs(fine);
        return c;
    }
    c.kind = "diverges";
    if (fabs(fine) >= fabs(coarse)) return c;
    c.order = log(fabs(coarse / fine)) / log(factor);
    c.kind = "oscillates";
    c.bound = 3.0 * fabs(fine) + grain;
    if (fine * coarse < 0.0) return c;
    c.kind = "converges";
    c.limit = f[2] + fine / (pow(factor, c.order) - 1.0);
    c.bound = 1.25 * fabs(fine) / (pow(factor, fmin(fmax(c.order, 0.5), 2.0)) - 1.0) + grain;
    return c;
}

pcs_convergence pcs_converge_both(const pcs_convergence *a, const pcs_convergence *b)
{
    static const char *const from_worst[] = { "unknown", "diverges", "oscillates", "steps", "converges", "exact" };
    int k = 0;
    while (strcmp(a->kind, from_worst[k]) != 0 && strcmp(b->kind, from_worst[k]) != 0) k++;
    return (pcs_convergence){ .value = a->value,
                              .order = NAN,
                              .limit = a->limit + (b->limit - b->value),
                              .bound = a->bound + b->bound,
                              .kind = from_worst[k] };
}
