// Force laws of contacts that give way: the force of a point from its gap g and gap rate g', in place of g >= 0.
//
//   d = -g,   F = max(0, k d^p (1 + x d') + c d')  where d > 0,   else 0
//
//   linear         F = k d                              kelvin_voigt   F = k d + c d'
//   hertz          F = k d^p                            hunt_crossley  F = k d^p (1 + x d')
//
// The elastic part k d^p has the potential k d^(p+1)/(p+1); the power (F - k d^p) d' is lost, and never negative: where
// F would pull, it is zero and what is left of the potential is lost as the bodies part.
//
// Friction: a spring of the stiffness k_t in a row with a slider that gives way at mu F. On a way on which the bodies
// slide by s over each other, from a state with the force f_0 and the stiffness k_0,
//
//   f* = min(1, k_t/k_0) f_0 - k_m s,   f = f* where |f*| <= mu F, else mu F f*/|f*|,   energy |f|^2/(2 k_t)
//
// with k_m = k_t where it falls, else the mean (k_0 + k_t)/2, or that since the bodies touched, k_t/p, where they did
// not at first.
//
// k_t is a constant, or r p k d^(p-1), r times the slope of the elastic force. A stiffness that falls keeps the
// stretch, one that grows keeps the force: neither gives energy. What is lost is E_0 - E - (f_0 + f)/2 . s, and nothing
// where it sticks with a constant k_t.

#ifndef PCS_CONTACT_FORCE_LAW_H
#define PCS_CONTACT_FORCE_LAW_H

#include "core/option.h"

typedef struct pcs_force_law {
    double stiffness; // k, N/m^p
    double exponent;  // p
    double factor;    // x, s/m
    double damper;    // c, N s/m
    double tangent;   // k_t, N/m; 0: by the ratio
    double ratio;     // r
} pcs_force_law;

// Holds the normal force of one point, its derivatives and energy; all zero if the point is open.
typedef struct pcs_force_state {
    double force;           // F, N
    double by_gap, by_rate; // -dF/dg, N/m, and -dF/dg', N s/m
    double energy;          // J
    double loss;            // W
    double tangent;         // k_t, N/m
    double tangent_by_gap;  // -dk_t/dg, N/m^2
    double tangent_mean;    // of k_t since the bodies touched, N/m
} pcs_force_state;

// Holds the state at the start of a sliding increment: friction force, N, and tangential stiffness, N/m.
typedef struct pcs_grip {
    double force[2], stiffness;
} pcs_grip;

// Friction of one point at the end of a way; all zero but the loss where it is open.
typedef struct pcs_rub {
    double force[2];        // f, N
    double by_trial[2][2];  // df/df*
    double by_normal[2];    // df/dF
    double by_stiffness[2]; // df/dk_t, m
    double stiffness;       // k_m, N/m
    double energy, loss;    // J, stored, and lost on the way
} pcs_rub;

pcs_force_state pcs_force_law_at(const pcs_force_law *law, double gap, double rate);

// With Coulomb's coefficient, and the way s; F and k_t are those of `at`.
pcs_rub pcs_rub_at(const pcs_grip *from, double friction, const pcs_force_state *at, const double s[2]);

// Can it lose energy?
static inline bool pcs_force_law_is_damped(const pcs_force_law *law)
{
    return law->factor > 0.0 || law->damper > 0.0;
}

// The largest -dF/dg and -dF/dg' while no more than `energy` is stored and nothing approaches faster than `speed`.
void pcs_force_law_bounds(const pcs_force_law *law, double energy, double speed, double *by_gap, double *by_rate);
// The largest k_t then.
double pcs_force_law_tangent_bound(const pcs_force_law *law, double energy);

typedef struct pcs_force_law_type {
    const char *name, *summary;
    const pcs_option *options;
    size_t params_size;
    // NULL when the parameters are sound, else what is wrong; *option names the culprit.
    const char *(*check)(const void *params, const char **option);
    pcs_force_law (*make)(const void *params);
    // Names the first key that is given and is about friction; NULL: none.
    const char *(*names_friction)(const void *params);
} pcs_force_law_type;

extern const pcs_force_law_type *const pcs_force_law_types[]; // ends with NULL

#endif
