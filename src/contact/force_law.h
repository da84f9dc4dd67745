// Force laws of contacts that give way: the force of a point from its gap g and gap rate g', in place of g >= 0.
//
//   d = -g,   F = max(0, k d^p (1 + x d') + c d')  where d > 0,   else 0
//
//   linear         F = k d                              kelvin_voigt   F = k d + c d'
//   hertz          F = k d^p                            hunt_crossley  F = k d^p (1 + x d')
//
// The elastic part k d^p has the potential k d^(p+1)/(p+1); the power (F - k d^p) d' is lost, and never negative: where
// F would pull, it is zero and what is left of the potential is lost as the bodies part.

#ifndef PCS_CONTACT_FORCE_LAW_H
#define PCS_CONTACT_FORCE_LAW_H

#include "core/option.h"

typedef struct pcs_force_law {
    double stiffness; // k, N/m^p
    double exponent;  // p
    double factor;    // x, s/m
    double damper;    // c, N s/m
} pcs_force_law;

// Of one point; all zero where it is open.
typedef struct pcs_force_state {
    double force;           // F, N
    double by_gap, by_rate; // -dF/dg, N/m, and -dF/dg', N s/m
    double energy;          // J
    double loss;            // W
} pcs_force_state;

pcs_force_state pcs_force_law_at(const pcs_force_law *law, double gap, double rate);

// Can it lose energy?
static inline bool pcs_force_law_is_damped(const pcs_force_law *law)
{
    return law->factor > 0.0 || law->damper > 0.0;
}

// The largest -dF/dg and -dF/dg' while no more than `energy` is stored and nothing approaches faster than `speed`.
void pcs_force_law_bounds(const pcs_force_law *law, double energy, double speed, double *by_gap, double *by_rate);

typedef struct pcs_force_law_type {
    const char *name, *summary;
    const pcs_option *options;
    size_t params_size;
    // NULL when the parameters are sound, else what is wrong; *option names the culprit.
    const char *(*check)(const void *params, const char **option);
    pcs_force_law (*make)(const void *params);
} pcs_force_law_type;

extern const pcs_force_law_type *const pcs_force_law_types[]; // ends with NULL

#endif
