// Explicit Runge-Kutta tableaus; private to this folder.

#ifndef PCS_SCHEMES_TABLEAU_H
#define PCS_SCHEMES_TABLEAU_H

#include "core/option.h"

#include <stdbool.h>

enum { PCS_MAX_STAGES = 9 };

typedef struct pcs_tableau {
    int s; // number of stages
    double a[PCS_MAX_STAGES][PCS_MAX_STAGES], b[PCS_MAX_STAGES], c[PCS_MAX_STAGES];
    bool has_places; // velocities have weights p in the positions of stages, else a
    double p[PCS_MAX_STAGES][PCS_MAX_STAGES];
} pcs_tableau;

// Methods of order 3 to 5 for index 2 (Brasey, Hairer); of order 2 to 5 for ODEs (Heun, Kutta, Runge-Kutta, Fehlberg,
// Dormand and Prince).
extern const pcs_tableau pcs_tableau_hem3, pcs_tableau_hem4, pcs_tableau_hem5, pcs_tableau_herk2, pcs_tableau_kutta3,
    pcs_tableau_rk4, pcs_tableau_fehlberg5, pcs_tableau_dopri5;
// Trapezoidal rule with forces at v + h a, and at the position of the end.
extern const pcs_tableau pcs_tableau_trapezoidal;

// Adds stages: y = x + h sum_j weight_j k_j over `count` stages of n numbers.
typedef struct pcs_stages {
    int n, count;
    const double *weight;
    double *const *k;
} pcs_stages;
void pcs_stages_add(pcs_stages s, double h, const double *x, double *y);

// Returns the largest step below which no free motion q'' + 2 d q' + w^2 q = 0, d = xi w + i spin/2, grows by more than
// a factor e in 10^6 radians, s; 0 if there is none.
double pcs_tableau_stable_step(const pcs_tableau *t, double w, double xi, double spin);
// Return the stable steps of pcs_tableau_trapezoidal, and of central differences with forces at the velocity before the
// step.
double pcs_stable_trapezoidal(const void *params, double w, double xi, double spin);
double pcs_stable_lagging(const void *params, double w, double xi, double spin);

#endif
