// Motions of a model in a static analysis that meet little stiffness or none; private to this folder.

#ifndef PCS_ANALYSIS_STATICS_FREE_H
#define PCS_ANALYSIS_STATICS_FREE_H

#include "analysis/statics_newton.h"

// Smallest mu, 1/s^2, for which K + mu D is regular in double precision where K is not; 0 where there is no K.
double pcs_equilibrium_least_mu(const pcs_equilibrium *e);

// True if the held rows of a linear model leave a rigid motion free.
bool pcs_equilibrium_is_free(const pcs_equilibrium *e);

// Do the loads at q, or what joints ask for, set free motions going? There are such motions, and K alone bears the
// rest.
pcs_status pcs_equilibrium_is_driven(pcs_equilibrium *e, const double *q, bool *is_driven);

typedef enum pcs_stability {
    PCS_STABLE,
    PCS_NEUTRAL, // a motion without force
    PCS_UNSTABLE,
    PCS_STABILITY_UNKNOWN
} pcs_stability;

// The softest motion at q, of all that the rows in `held` allow: dq gets it, with a largest entry of one size of its
// coordinate, and *stiffness its Rayleigh quotient, 1/s^2.
pcs_status pcs_equilibrium_softest(pcs_equilibrium *e, const double *q, double *stiffness, pcs_stability *stability);

#endif
