// Explicit Runge-Kutta tableaus; private to this folder.

#ifndef PCS_SCHEMES_TABLEAU_H
#define PCS_SCHEMES_TABLEAU_H

#include "core/option.h"

enum { PCS_MAX_STAGES = 8 };

typedef struct pcs_tableau {
    int s; // number of stages
    double a[PCS_MAX_STAGES][PCS_MAX_STAGES], b[PCS_MAX_STAGES], c[PCS_MAX_STAGES];
} pcs_tableau;

// Methods of order 3 to 5 for index 2 (Brasey, Hairer); of order 2 to 5 for ODEs (Heun, Kutta, Runge-Kutta, Fehlberg,
// Dormand and Prince).
extern const pcs_tableau pcs_tableau_hem3, pcs_tableau_hem4, pcs_tableau_hem5, pcs_tableau_herk2, pcs_tableau_kutta3,
    pcs_tableau_rk4, pcs_tableau_fehlberg5, pcs_tableau_dopri5;

// Adds stages: y = x + h sum_j weight_j k_j over `count` stages of n numbers.
typedef struct pcs_stages {
    int n, count;
    const double *weight;
    double *const *k;
} pcs_stages;
void pcs_stages_add(pcs_stages s, double h, const double *x, double *y);

// Returns the factor by which a step y makes the free motion q'' + 2 xi q' + q = 0 grow; INFINITY if the step fails.
typedef double pcs_growth(const void *scheme, double y, double xi);
// Returns the largest y below which nothing grows by more than a factor e in 10^6 radians; 0 if that is below 1e-3.
double pcs_stable_limit(pcs_growth *growth, const void *scheme, double xi);
// Returns the stable step as pcs_scheme_ops.stable_step does.
double pcs_tableau_stable_step(const pcs_tableau *t, double w, double xi);

#endif
