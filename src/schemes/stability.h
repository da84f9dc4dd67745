// Stable steps of schemes by their growth on one oscillator; private to this folder.

#ifndef PCS_SCHEMES_STABILITY_H
#define PCS_SCHEMES_STABILITY_H

// Factor by which a step of size y makes the free motion q'' + 2 xi q' + q = 0 grow; INFINITY where the step fails.
typedef double pcs_growth(const void *scheme, double y, double xi);

// Largest y below which nothing grows by more than a factor e in 10^6 radians; 0 where that is below 1e-3.
double pcs_stable_limit(pcs_growth *growth, const void *scheme, double xi);

#endif
