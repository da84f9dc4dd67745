// Time-discontinuous Galerkin schemes D- and D+ of degree M on Clenshaw-Curtis points, contact on acceleration level;
// shared by tdg_minus and tdg_plus, private to this folder.
// Schindler, Acary: Timestepping schemes for nonsmooth dynamics based on discontinuous Galerkin methods: definition and
// outlook, Mathematics and Computers in Simulation 95 (2014).
//
// Points tau_l = (1 - cos(l pi/M))/2, l = 0..M; l_k the Lagrange polynomials on all of them, b_kl = int_0^tau_l l_k and
// b_k = b_kM. With the accelerations A_k of the points and the velocity dp = M^-1 G^T p of an impulse,
//   V_l = v + h sum_k w_lk A_k + p_l dp
//   Q_l = q + h sum_k b_kl V_k
//   A_k = M(Q_k)^-1 (f(t + tau_k h, Q_k, V_k) + G^T la_k)
//   q' = Q_M,   v' = v + h sum_k b_k A_k + dp
// D- takes the acceleration as a polynomial on the points 0..M-1 with integrals b-_k:
//   w_lk = b-_k(tau_l) (w_lM = 0),   p_l = 0
// D+ on the points 1..M with polynomials l+_k and integrals b+_k:
//   w_lk = b_0 ([k = 0] - l+_k(0)) + b+_k(tau_l),   p_l = (b+_M(tau_l) - l+_M(0) b_0)/b_M
//
// Forces la_k act on contacts closed at the start of the step that are closed and not separating at the point. If a
// contact has closed over the step there is an impact on all closed contacts, the forces dropped from v':
//   v- = v + h sum_k b_k M^-1 f_k,   v' = v- + dp,   0 <= G v' + e G v- _|_ p >= 0

#ifndef PCS_SCHEMES_GALERKIN_H
#define PCS_SCHEMES_GALERKIN_H

#include "schemes/explicit.h"

enum { PCS_MAX_DEGREE = 8, PCS_GALERKIN_POINTS = PCS_MAX_DEGREE + 1 };

typedef struct pcs_galerkin_params {
    int degree;
    double gap_tolerance;
} pcs_galerkin_params;

extern const pcs_option pcs_galerkin_options[];

// The numbers of a scheme.
typedef struct pcs_galerkin_weights {
    int M;
    bool is_plus;
    double tau[PCS_GALERKIN_POINTS];
    double position[PCS_GALERKIN_POINTS][PCS_GALERKIN_POINTS]; // [l][k] b_kl; the last row is b_k
    double velocity[PCS_GALERKIN_POINTS][PCS_GALERKIN_POINTS]; // [l][k] w_lk
    double impulse[PCS_GALERKIN_POINTS];                       // [l] p_l
} pcs_galerkin_weights;

void pcs_galerkin_fill(int degree, bool is_plus, pcs_galerkin_weights *out);
// As pcs_scheme_ops.stable_step.
double pcs_galerkin_stable_step(int degree, bool is_plus, double w, double xi);

typedef struct pcs_galerkin {
    pcs_explicit base;
    pcs_galerkin_weights w;
    double *Q[PCS_GALERKIN_POINTS], *V[PCS_GALERKIN_POINTS];    // [nv] of the points
    double *free[PCS_GALERKIN_POINTS], *A[PCS_GALERKIN_POINTS]; // [nv] accelerations without and with contact forces
    double *la[PCS_GALERKIN_POINTS];                            // [nrow] contact forces, N
    double *jump, *last;                                        // [nv] dp, and what it was an iteration before
    double *place;                                              // [nv] where the impact is solved
    unsigned char *is_closed;                                   // [nrow] at the end
    unsigned char *is_lasting;                                  // [nrow] closed and not separating at the start
} pcs_galerkin;

pcs_status pcs_galerkin_setup(pcs_scheme *self, bool is_plus);
pcs_status pcs_galerkin_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report);

#endif
