// Advances implicit rules (pcs_weights in rule.h): Newmark, HHT, generalized-alpha and theta schemes; private to this
// folder. Every function works on self->data, which begins with pcs_implicit, and on the rule of self.
//
// The prediction q~0, v~0 sets vd = 0; then d = v~ - v~0 gives vd = (c/h) d with c = (1 - am)/((1 - af) ga), and
// q~ = q~0 + kb d with kb = h be/ga.

#ifndef PCS_SCHEMES_IMPLICIT_H
#define PCS_SCHEMES_IMPLICIT_H

#include "schemes/common.h"
#include "step/dense_contacts.h"

enum { PCS_IMPLICIT_NHISTORY = 2 }; // histories a and vd; vd alone if nhistory is 1, for rules in which a = vd
// Histories of rows: smooth forces of joints, N, and these forces filtered by the recursion that makes a from vd.
enum { PCS_IMPLICIT_FORCE, PCS_IMPLICIT_FILTERED, PCS_IMPLICIT_NROW_HISTORY };

// Holds resultant forces from step to step; the first member of a scheme's memory.
typedef struct pcs_implicit_memory {
    double resultant[3]; // resultant of M vd at the start of the step, N
    double filtered[3];  // resultant of M a, N
} pcs_implicit_memory;

// One pass over the vectors of a step.
typedef struct pcs_implicit_pass {
    const pcs_scheme *scheme;
    const double *q, *v, *a, *vd;
    double *q_new, *v_new, *a_new, *d;
    double h, from_vd, from_a, v_old, v_fresh, q_old, q_fresh; // weights of the prediction
    double vd_of_d, a_of_vd;                                   // weights of the correction
} pcs_implicit_pass;

// The first member of a scheme's data.
typedef struct pcs_implicit {
    pcs_next next;
    pcs_step_form form;     // of steps as long as the last one
    pcs_implicit_pass pass; // of the present step; weights of steps as long as the last one
    double *mix, *image;    // [nv] work of the energy balance
    const double *lam;      // [nrow] forces of rows within vd, N; NULL if none
    bool goes_on;           // the iteration starts from the accelerations of the step before
    unsigned char *held;    // [nrow] contacts held in the present step; NULL if none ever are
    double *drift;          // [nv] h^2 (be - ga/2) (a* - a_n), displacement of held contacts otherwise, m
    // of PCS_IMPACT_WHEN_CLOSING:
    pcs_dense_contacts *impact;      // solves for an impact by columns; NULL: the step solver does, by products
    unsigned char *was_closed;       // [nrow] contacts closed at the start of the step; NULL for other rules
    double *no_nu;                   // [nrow] zero position multipliers of impacts
    double *correction, *smooth_gap; // [nrow] of PCS_POSITION_CORRECTED: U beyond (h/2) W, kg m; g(qt), m
} pcs_implicit;

// Lists the members of a pcs_scheme_ops that say what the engine keeps from step to step.
#define PCS_IMPLICIT_KEEPS                                                                         \
    .nhistory = PCS_IMPLICIT_NHISTORY, .nrow_history = PCS_IMPLICIT_NROW_HISTORY, .nresultant = 2, \
    .memory_size = sizeof(pcs_implicit_memory)

// Returns the weights of a spectral radius at high frequency: am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1),
// ga = 1/2 + af - am, be = (ga + 1/2)^2/4 (Chung, Hulbert 1993).
pcs_weights pcs_weights_of_radius(double rho);
// Returns the weights of Newmark's scheme; beta may be NAN: (gamma + 1/2)^2/4.
pcs_weights pcs_weights_of_newmark(double gamma, double beta);

// Allocates the memory of a scheme whose rule is stated.
pcs_status pcs_implicit_setup(pcs_scheme *self);
// Starts with accelerations of free contacts, vd_0 = a_0, which keeps the order 2.
pcs_status pcs_implicit_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report);
// Makes a step: laws of rows by gate and position of the rule, all of them at once.
pcs_status pcs_implicit_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report);

#endif
