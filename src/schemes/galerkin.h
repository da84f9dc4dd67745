// Time-discontinuous Galerkin schemes D- (tdg_minus) and D+ (tdg_plus) of degree M on Clenshaw-Curtis points,
// contact on acceleration level: the numbers of a scheme; private to this folder.
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
// With M = 1 it is the forecasting trapezoidal rule, half_explicit_acceleration (Schindler, Rezaei, Kursawe, Acary:
// Half-explicit timestepping schemes on velocity level based on time-discontinuous Galerkin methods, CMAME 290 (2015),
// sec. 3):
//   V_1 = v + h A_0,   q' = q + (h/2) (v + V_1),   v' = v + (h/2) (A_0 + A_1) + dp
// D+ on the points 1..M with polynomials l+_k and integrals b+_k:
//   w_lk = b_0 ([k = 0] - l+_k(0)) + b+_k(tau_l),   p_l = (b+_M(tau_l) - l+_M(0) b_0)/b_M
// The velocity of the state is the one before an impulse of the next interval. With M = 1 it is the contemplating
// trapezoidal rule:
//   V_0 = v + (h/2) (A_0 - A_1) - dp,   V_1 = v' = v + (h/2) (A_0 + A_1) + dp,   q' = q + h v + (h^2/2) A_0
//
// Forces la_k act on contacts closed at the start of the step that are closed and not separating at the point, or that
// have a force at the start: the rate of a point is off by the error of a step where G turns. If a contact has closed
// over the step there is an impact on all closed contacts, the forces dropped from v':
//   v- = v + h sum_k b_k M^-1 f_k,   v' = v- + dp,   0 <= G v' + e G v- _|_ p >= 0
// The gap velocity of a lasting contact is not constrained, so it drifts. No friction.

#ifndef PCS_SCHEMES_GALERKIN_H
#define PCS_SCHEMES_GALERKIN_H

#include <stdbool.h>

enum { PCS_MAX_DEGREE = 8, PCS_GALERKIN_POINTS = PCS_MAX_DEGREE + 1 };

typedef struct pcs_galerkin_weights {
    int M;
    bool is_plus;
    double tau[PCS_GALERKIN_POINTS];
    double position[PCS_GALERKIN_POINTS][PCS_GALERKIN_POINTS]; // [l][k] b_kl; the last row is b_k
    double velocity[PCS_GALERKIN_POINTS][PCS_GALERKIN_POINTS]; // [l][k] w_lk
    double impulse[PCS_GALERKIN_POINTS];                       // [l] p_l
} pcs_galerkin_weights;

void pcs_galerkin_fill(int degree, bool is_plus, pcs_galerkin_weights *out);
// Returns the stable step as pcs_scheme_ops.stable_step does.
double pcs_galerkin_stable_step(int degree, bool is_plus, double w, double xi);

#endif
