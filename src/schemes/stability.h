// Stable steps of schemes by their growth on one oscillator; private to this folder.

#ifndef PCS_SCHEMES_STABILITY_H
#define PCS_SCHEMES_STABILITY_H

// Factor by which a step of size y makes the free motion q'' + 2 xi q' + q = 0 grow; INFINITY where the step fails.
typedef double pcs_growth(const void *scheme, double y, double xi);

// Largest y below which nothing grows; 0 when it grows at every step.
double pcs_stable_limit(pcs_growth *growth, const void *scheme, double xi);

#endif
