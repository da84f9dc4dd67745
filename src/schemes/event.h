// Integrates motion that stops at events, where contacts close and open, for schemes that locate them; private to this
// folder. Without friction. I_c and I_s are index sets,
//
//   I_c = { g <= tolerance },  I_s = { I_c, gap rate 0 }                     (lasting contacts: "held")
//   M a = f + G^T la,   0 <= ga = G a + (dG/dt) v _|_ la >= 0 on I_s          la = 0 elsewhere
//   M (v - v-) = G^T p, 0 <= G v + e G v- _|_ p >= 0          on I_c          p = 0 elsewhere
//
//   smooth     Q_i = q + h sum_j a_ij V_j,  V_i = v + h sum_j a_ij A_j,  M A_i = f + G^T la_i at (t + c_i h, Q_i, V_i)
//              with I_s as it is
//   event      an open contact sinks in or a held one pulls within the step: found to lie in [ta, tb], tb - ta <= width
//   [ta, tb]   v = va + (tb - ta) a + M^-1 G^T P,  0 <= G v + e G v- _|_ P >= 0 on I_c,  q = qa + (tb - ta) v
//
// and so on with the rest of the step. Acary, lecture slides on numerical methods for nonsmooth mechanical systems. The
// laws are solved by the step solver.

#ifndef PCS_SCHEMES_EVENT_H
#define PCS_SCHEMES_EVENT_H

#include "schemes/common.h"
#include "schemes/tableau.h"

// Carried from step to step; the memory of a scheme.
typedef struct pcs_event_memory {
    unsigned char held[PCS_MAX_ROWS]; // lasting contacts
    double floor[PCS_MAX_ROWS];       // an open contact closes below this gap, m: 0, or that left by an event
    double energy;                    // largest kinetic energy so far, J
    double speed;                     // largest gap rate at an event so far, m/s
    double pace;                      // length of the next leap of a scheme that chooses it, s
} pcs_event_memory;

// Makes a leap from y at t, in the step from x on, as long as the accuracy of the scheme allows but at most *h, which
// becomes its length. Leaves the slope at its end behind those of the stages.
typedef pcs_outcome pcs_event_advance(pcs_scheme *self, const pcs_state *x, double t, double *h);

// Step so far, by impacts and corrections.
typedef struct pcs_event_sums {
    double smooth[PCS_MAX_ROWS];      // impulse of the lasting forces, N s
    double impulses[PCS_MAX_ROWS];    // impulse of impacts, N s
    double normal_loss[PCS_MAX_ROWS]; // loss of each row, J
    bool is_impact[PCS_MAX_ROWS];
    double pushed[3];            // momentum of all these impulses along the directions at their times, N s
    int iterations, count;       // of the step solver; number of events
    bool released[PCS_MAX_ROWS]; // rows that may not be held after the next event
    bool closed[PCS_MAX_ROWS];   // rows that are closed at the next event, whatever the gap
} pcs_event_sums;

// Base of the data of schemes that locate impacts.
typedef struct pcs_events {
    pcs_next next; // its vectors are work arrays until the end of the step
    // Set by the scheme
    double gap_tolerance;       // a gap up to this is closed, m
    bool rounds_gaps;           // which is a few thousand times the round-off of gaps at the start of the step
    double stick;               // rebounds slower than this are rest, in units of sqrt(2 E / m_eff)
    double shortest;            // width of the interval that contains an impact, s; short flights are rest
    const pcs_tableau *method;  // of the smooth motion
    int order;                  // exponent in the width of events, width_share h (speed h/L)^order
    double width_share;         // 0 if events are located to round-off
    long most;                  // events within a step
    pcs_event_advance *advance; // NULL if leaps end only with the step or at an event

    pcs_event_memory now;
    pcs_event_sums step;
    // The motion within the step: y = (q, v), and integrals over the step from these offsets on: impulses of rows, work
    // of loads, damping loss, impulse of the resultant.
    double *y;
    int impulse, work, damping, resultant, size;
    double *end, *stage;       // [size] y at the end of the last leap, and of a stage
    double *K[PCS_MAX_STAGES]; // [size] y' of the stages
    bool has_slope;            // K[0] is y' at the present y
    int pulled;                // held contact that pulls in a stage of the last leap, or -1
    // Last evaluation of accelerations:
    double force[PCS_MAX_ROWS];        // la, N
    double acceleration[PCS_MAX_ROWS]; // ga, m/s^2
    double drive[PCS_MAX_ROWS];        // magnitude of terms of ga
    int bad_equation;                  // equation with a number that is not finite, or -1
    pcs_held_rows rows;                // rows of held contacts
    double *change;                    // [nv] work
} pcs_events;

// Returns NULL, or the reason for which such a scheme cannot advance the system.
const char *pcs_event_refuses(const pcs_system *system, const void *params);

// Allocates the memory, for `stages` slopes, and prepares the step solver for contact problems.
pcs_status pcs_event_setup(pcs_scheme *self, int stages);
// Starts a run: an impact at t = 0 and the first held rows.
pcs_status pcs_event_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report);
// Makes a step through all events.
pcs_status pcs_event_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report);

// Returns PCS_NOT_FINITE, and stores the equation, if an entry of x is not finite.
pcs_outcome pcs_event_check(pcs_events *e, int n, const double *x);

// Computes a with the forces of the held rows, `force` and `acceleration`; the projection moves to q.
pcs_outcome pcs_event_accelerate(pcs_scheme *self, pcs_events *e, double t, const double *q, const double *v,
                                 double *a);
// Evaluates y' by that acceleration.
pcs_outcome pcs_event_slope(pcs_scheme *self, pcs_events *e, double t, const double *y, double *dy);
// Integrates the smooth motion of length h from y into `end`.
pcs_outcome pcs_event_leap(pcs_scheme *self, double t, double h);

#endif
