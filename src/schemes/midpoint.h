// The velocity step of the Moreau midpoint rule, shared by the schemes that are built on it; private to this folder.
//
//   qM = q_n + (h/2) v_n,  I = { g(qM) < tol }
//   v  = v_n + M(qM)^-1 (h f(t_n + h/2, qM, v_n) + G(qM)^T La),   0 <= G(qM) v + e G(qM) v_n _|_ La >= 0 on I

#ifndef PCS_SCHEMES_MIDPOINT_H
#define PCS_SCHEMES_MIDPOINT_H

#include "schemes/explicit.h"

typedef struct pcs_midpoint {
    pcs_explicit base;
    double *middle; // [nv] qM
} pcs_midpoint;

pcs_status pcs_midpoint_setup(pcs_scheme *self, pcs_midpoint *s);

// qM, the gate there and the targets e G v_n; the projection stands at qM then. False when M(qM) is singular.
bool pcs_midpoint_predict(pcs_scheme *self, pcs_midpoint *s, const pcs_state *x, double h);
// base.next.v, its impulses, and q = q_n + (h/2) (v_n + v) in base.next.q.
pcs_outcome pcs_midpoint_velocity(pcs_scheme *self, pcs_midpoint *s, const pcs_state *x, double h,
                                  pcs_step_report *report);
// Rows and balances of such a step.
void pcs_midpoint_report(pcs_scheme *self, pcs_midpoint *s, pcs_state *x, pcs_step_report *report);

#endif
