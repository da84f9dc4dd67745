// Says where and when a system is evaluated, and under which loads.

#ifndef PCS_CORE_INSTANT_H
#define PCS_CORE_INSTANT_H

#include <stdbool.h>

typedef struct pcs_instant {
    double t;            // s
    const double *q, *v; // positions and velocities; NULL where they do not matter
    const double *along; // velocities that powers of damping are taken along; NULL: v
    double load_factor;  // of gravity and applied loads: 1 but in a static analysis
    bool is_equilibrium; // loads along elements enter the forces of their sections
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
