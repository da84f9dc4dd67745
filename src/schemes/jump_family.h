// What schemes share that solve impacts apart from an implicit smooth motion; private to this folder.
//
// This is what Schindler, Rezaei, Kursawe, Acary (2015) leave for future work: their velocity-level scheme with
// impulsive correction, on an implicit base, so that stiff bodies need no small step.
//
//   smooth     the base scheme from (q_n, v_n) to (q, v-); contacts closed at its start, I0 = { g(q_n) <= tol },
//              push at velocity level in every stage:  0 <= G v _|_ P >= 0 on I0, P = 0 elsewhere
//   decision   I1 = { g(q) <= tol };  no contact has closed (I1 within I0): v = v-
//   impact     else, on all of I1, positions unchanged:
//              v = v- + M^-1 G^T La,   0 <= G v + e G v- _|_ La >= 0
//
// Unlike the explicit scheme, the forces of contacts that last are kept in a step with an impact. Tangential rows join
// with friction everywhere. The impact sees M alone and costs the energy of a body of the effective mass, no more; a
// lasting contact has G v = 0 at both ends of a step and does no work.

#ifndef PCS_SCHEMES_JUMP_FAMILY_H
#define PCS_SCHEMES_JUMP_FAMILY_H

#include "schemes/common.h"
#include "step/impact.h"

typedef struct pcs_jump {
    pcs_impact *impact;        // solves for an impact by columns; NULL: the step solver does, by products
    double gap_tolerance;      // m, a gap up to this is closed, and what is rounded off besides
    unsigned char *was_closed; // [nrow] I0
    double *smooth, *smooth_t; // [nrow], [ntangent] contact impulses of the smooth motion, N s
    double *slide;             // [ntangent] T v-, m/s
    double *rubbed;            // [ntangent] loss of the friction of the smooth motion, J
    double *work;              // [nv]
    double *no_nu;             // [nrow] position multipliers of impacts: none
    const pcs_state *before;   // the start of the step
    bool is_impact;            // in this step
    bool sees_velocity;        // f depends on v, so that an impact changes the acceleration
    bool has_joints;           // bilateral rows
} pcs_jump;

pcs_status pcs_jump_create(pcs_scheme *self, pcs_jump *jump, double gap_tolerance);
// The projection at the initial state, and an impact of what is closed and approaching at t = 0. `acceleration` gets
// M^-1 (f + joint forces).
pcs_status pcs_jump_start(pcs_scheme *self, pcs_jump *jump, pcs_next *next, pcs_state *x, double *acceleration,
                          pcs_step_report *report);

// I0 becomes the gate; no impulses yet. Constraint directions stand at q_n.
void pcs_jump_begin(pcs_scheme *self, pcs_jump *jump, pcs_next *next, const pcs_state *x);
// One smooth stage of the prepared form at time t; those of the stages before count `weight` times over the step.
bool pcs_jump_stage(pcs_scheme *self, pcs_jump *jump, pcs_next *next, double t, double weight, pcs_step_report *report);
// Work of the impulses of the last stage on the velocity (1 - theta) v0 + theta v: that of normal impulses is the
// scheme's doing, that of friction a loss of the contact, which counts as often as the impulse over the step.
void pcs_jump_book_stage(pcs_scheme *self, pcs_jump *jump, const pcs_next *next, const double *v0, double theta,
                         pcs_step_report *report);
// The decision, and the impact if there is one; next.v becomes the velocity after it.
bool pcs_jump_impact(pcs_scheme *self, pcs_jump *jump, pcs_next *next, pcs_step_report *report);
// Rows and the loss of the impact.
void pcs_jump_report_rows(pcs_scheme *self, const pcs_jump *jump, const pcs_next *next, pcs_step_report *report);

#endif
