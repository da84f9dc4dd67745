// Solves the contacts of schemes with explicit forces; private to this folder. Contact problems contain the mass matrix
// alone, and an impact is solved separately from the forces, on all closed contacts.

#ifndef PCS_SCHEMES_EXPLICIT_H
#define PCS_SCHEMES_EXPLICIT_H

#include "schemes/common.h"

// The first member of a scheme's data.
typedef struct pcs_explicit {
    pcs_next next;
    pcs_step_problem problem;  // of contacts, but for what it is about
    double gap_tolerance;      // m, a gap up to this is closed
    unsigned char *was_closed; // [nrow] at the start of the step
    unsigned char *is_pressed; // [nrow] transmits a smooth force at the start of the step; before that is known:
                               // has done so all over the step before
    double *stage, *stage_t;   // [nrow], [ntangent] impulses of the earlier stages as they enter the step, N s
    bool leaves_velocity;      // contact problems give impulses alone
    bool has_forces;           // there are problems of accelerations, too
    double *kick;              // [nv] what those impulses did to v; NULL where M and G are constant
} pcs_explicit;

pcs_status pcs_explicit_setup(pcs_scheme *self, pcs_explicit *s);

// No impulses, no targets, no gates.
void pcs_explicit_clear(pcs_scheme *self, pcs_explicit *s);

// The projection at the initial state, and an impact of what is closed and approaching at t = 0: the first step would
// take it for a plastic force otherwise.
pcs_status pcs_explicit_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report);

// A start without an impact: the first step sees a contact that is closed.
pcs_status pcs_explicit_start_plainly(pcs_scheme *self, pcs_state *x, pcs_step_report *report);

// Brings the projection of a system that varies to the start of a step.
pcs_status pcs_explicit_return(pcs_scheme *self, const pcs_state *x);

// Marks the closed contacts of q, bilateral rows always, and leaves the gaps in next.gap; gives their number. Ties
// within round-off, by directions as they stand, are closed.
int pcs_explicit_find_closed(pcs_scheme *self, pcs_explicit *s, const double *q, unsigned char *is_closed);
// Has a contact of `now` been open at the start of the step?
bool pcs_explicit_has_closed(const pcs_scheme *self, const pcs_explicit *s, const unsigned char *now);

// x += M^-1 G^T P with 0 <= G x + target _|_ P >= 0 on the gated rows, friction included; x is a velocity and P an
// impulse. With leaves_velocity x may stay as it is.
pcs_outcome pcs_explicit_contact(pcs_scheme *self, pcs_explicit *s, double *x, double *impulse, double *tangent,
                                 pcs_step_report *report);
// The same for next.v, next.la and next.la_t; nothing but next.rate_before where no row is gated or bilateral.
pcs_outcome pcs_explicit_impose(pcs_scheme *self, pcs_explicit *s, pcs_step_report *report);
// The velocity law is not imposed: no gates, next.rate_before is the rate.
void pcs_explicit_leave(pcs_scheme *self, pcs_explicit *s);

// The impact on the gated rows: next.v is the velocity before it, and the targets are its restitution.
pcs_outcome pcs_explicit_impact(pcs_scheme *self, pcs_explicit *s, pcs_step_report *report);

// Opens the gate of rows that separate: G v > 1e-12 of the largest gap velocity so far, and h G v more than the
// round-off of the gap. A held contact has a gap velocity of round-off, which must not release it. Where directions
// turn it also has that of the error of a step: a row that is pressed stays, and its force decides. `h` brings
// accelerations to the size of velocities.
void pcs_explicit_release(pcs_scheme *self, pcs_explicit *s, const pcs_state *x, const double *v, const double *a,
                          double h);
// Acceleration with contact forces on the gated rows, the projection standing at q:
//   a = free + M^-1 G^T force,   free = M^-1 f(t, q, v),   0 <= G a + (dG/dt) v _|_ force >= 0
typedef struct pcs_stage {
    const double *q, *v, *free;
    double *a, *force;
} pcs_stage;
pcs_outcome pcs_explicit_acceleration(pcs_scheme *self, pcs_explicit *s, pcs_stage at, pcs_step_report *report);
// Why a scheme with contact on acceleration level refuses a system, or NULL.
const char *pcs_refuse_friction(const pcs_system *system, const void *params);

// Rows of a step whose last contact problem gave next.la: it is a force times `duration`, except in an impact.
// Books the loss of an impact, and that of friction from the start x on.
void pcs_explicit_report_rows(pcs_scheme *self, pcs_explicit *s, const pcs_state *x, double duration, bool is_impact,
                              pcs_step_report *report);
// Impulses of earlier stages pushed along other directions than those of the end, along which they are told: adds the
// difference to an impulse of the step.
void pcs_explicit_add_turned_momentum(const pcs_scheme *self, const pcs_explicit *s, double sum[3]);
// The trapezoidal quadratures of damping and loads.
void pcs_explicit_report_work(pcs_scheme *self, const pcs_explicit *s, const pcs_state *x, pcs_step_report *report);

#endif
