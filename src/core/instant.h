// Says where and when a system is evaluated, and under which loads.

#ifndef PCS_CORE_INSTANT_H
#define PCS_CORE_INSTANT_H

#include <stdbool.h>

typedef struct pcs_instant {
    double t;            // s
    const double *q, *v; // positions and velocities, NULL if not needed
    const double *along; // velocities along which the power of damping is taken; NULL for v
    double load_factor;  // factor of gravity and applied loads; 1 except in a static analysis
    bool is_equilibrium; // distributed loads enter the section forces of elements
} pcs_instant;

static inline pcs_instant pcs_at(double t, const double *q, const double *v)
{
    return (pcs_instant){ .t = t, .q = q, .v = v, .load_factor = 1.0 };
}

// Returns an instant of equilibrium under loads times a factor, with v = 0.
static inline pcs_instant pcs_at_rest(double t, const double *q, const double *v, double load_factor)
{
    return (pcs_instant){ .t = t, .q = q, .v = v, .load_factor = load_factor, .is_equilibrium = true };
}

#endif
