// Laws of contacts: what a contact does where it is closed. A law is one file and one line of law_list.def; it has
// `restitution`, which makes it an impact law, or `force` and `bound`, which make it a force law.
//
// An impact law gives the coefficient e of G v+ = -e G v-, which may depend on the speed of approach. A force law gives
// the force of a point from its gap g and gap rate g', in place of g >= 0; bodies of such a contact give way.

#ifndef PCS_SYSTEM_LAW_H
#define PCS_SYSTEM_LAW_H

#include "core/option.h"

typedef struct pcs_law_input {
    double gap, rate;  // g, m, and g', m/s
    bool damper_waits; // true while a damper that acts at once on touching is still inactive
} pcs_law_input;

// Holds the normal force of one point, its derivatives and energy; all zero if the point is open.
typedef struct pcs_law_force {
    double force;           // F, N
    double by_gap, by_rate; // -dF/dg, N/m, and -dF/dg', N s/m
    double energy;          // J
    double loss;            // W, never negative
    double tangent;         // k_t, N/m
    double tangent_by_gap;  // -dk_t/dg, N/m^2
    double tangent_mean;    // mean of k_t since the bodies touched, N/m
} pcs_law_force;

// Holds bounds of -dF/dg, N/m, of -dF/dg', N s/m, and of k_t, N/m.
typedef struct pcs_law_bound {
    double by_gap, by_rate, tangent;
    double at_touch; // damper that acts at once on touching, N s/m
} pcs_law_bound;

typedef struct pcs_law_ops {
    const char *name, *summary;
    const pcs_option *options; // names that begin with `tangent_` are about friction
    size_t params_size;
    // Returns NULL if the parameters are valid, else the fault; *option names the key.
    const char *(*check)(const void *params, const char **option);
    // Returns e, from 0 to 1, for a speed of approach >= 0, m/s. Called in every step of a closed contact.
    double (*restitution)(const void *params, double speed);
    // Fills `*out`, which the caller has zeroed.
    void (*force)(const void *params, const pcs_law_input *at, pcs_law_force *out);
    // Finds the largest values while at most `energy`, J, is stored and nothing approaches faster than `speed`, m/s.
    void (*bound)(const void *params, double energy, double speed, pcs_law_bound *out);
} pcs_law_ops;

extern const pcs_law_ops *const pcs_laws[]; // ends with NULL

// Holds a law and its parameters; ops is NULL in a joint, whose rows are always active.
typedef struct pcs_law {
    const pcs_law_ops *ops;
    const void *params;
} pcs_law;

// Holds the parameters of Newton's law.
typedef struct pcs_newton {
    double restitution; // e
} pcs_newton;

extern const pcs_law_ops pcs_law_newton;

static inline bool pcs_law_is_force(const pcs_law *law)
{
    return law->ops != NULL && law->ops->force != NULL;
}

#endif
