// Solves contact laws at acceleration and impact level on index sets, and updates these sets at an event, for schemes
// that stop at events; private to this folder. Friction: event_friction.h.
//
//   I_c = { g <= tolerance },  I_s = { I_c, gap rate 0 }                     (lasting contacts: "held")
//   M a = f + G^T la,   0 <= ga = G a + (dG/dt) v _|_ la >= 0 on I_s          la = 0 elsewhere
//   M (v - v-) = G^T p, 0 <= G v + e G v- _|_ p >= 0          on I_c          p = 0 elsewhere
//
// Acary, lecture slides on numerical methods for nonsmooth mechanical systems. The laws are solved by the step solver.

#ifndef PCS_SCHEMES_EVENT_H
#define PCS_SCHEMES_EVENT_H

#include "schemes/common.h"

#include <math.h>

// Carried from step to step; the first member of a scheme's memory.
typedef struct pcs_event_memory {
    unsigned char held[PCS_MAX_ROWS];   // lasting contacts
    double floor[PCS_MAX_ROWS];         // m, an open contact closes where its gap falls below: 0, or what an event left
    double last_time[PCS_MAX_ROWS];     // s, of the row's last impact; -INFINITY: none so far
    double last_interval[PCS_MAX_ROWS]; // s, between its last two impacts; 0: fewer than two
    int shrinking[PCS_MAX_ROWS];        // intervals in a row that were shorter than the one before
    double energy;                      // J, largest kinetic energy so far
    unsigned char slides[PCS_MAX_ROWS],
        is_moving[PCS_MAX_ROWS];  // held rows with friction that do not stick; some time ago
    double slip[PCS_MAX_ROWS][2]; // along which they slide, unit vectors
} pcs_event_memory;

typedef struct pcs_event_rub pcs_event_rub;

typedef struct pcs_events {
    // Set by the scheme
    double gap_tolerance; // m, a gap up to this is closed
    double stick;         // rebounds slower than this are rest, in units of sqrt(2 E / m_eff)
    double shortest;      // s, width of the interval that an impact is known to lie in; short flights are rest
    bool stops;           // where impacts accumulate; otherwise the contact comes to rest there
    double reach;         // J, largest kinetic energy so far, or what forces could do within the step
    unsigned char released[PCS_MAX_ROWS]; // may not be held after the next event
    unsigned char closed[PCS_MAX_ROWS];   // are closed at the next event, whatever the gap

    pcs_event_memory now;
    pcs_event_rub *rub; // NULL: there is no friction
    // Step so far:
    double smooth[PCS_MAX_ROWS];  // N s, impulse of the lasting forces
    double impulse[PCS_MAX_ROWS]; // N s, of impacts
    bool is_impact[PCS_MAX_ROWS];
    double pushed[3];          // N s, momentum that all of these gave, along the directions of their time
    double impact_loss;        // J, of all rows
    double loss[PCS_MAX_ROWS]; // J, of each
    int iterations, count;
    // Last evaluation of accelerations:
    double force[PCS_MAX_ROWS];        // N, la
    double acceleration[PCS_MAX_ROWS]; // m/s^2, ga
    int bad_equation;                  // where something was not finite, or -1
    bool is_accumulating;
    double accumulation; // s, where to
    // Work
    double *q, *d, *a; // [nv]
    double gap[PCS_MAX_ROWS], target[PCS_MAX_ROWS], la[PCS_MAX_ROWS], nu[PCS_MAX_ROWS];
    double rate_before[PCS_MAX_ROWS], lam[PCS_MAX_ROWS], drive[PCS_MAX_ROWS]; // drive: m/s^2, what ga is summed from
    unsigned char gate[PCS_MAX_ROWS];
    double A[PCS_MAX_ROWS * PCS_MAX_ROWS], z[PCS_MAX_ROWS];
} pcs_events;

// NULL, or why such a scheme cannot advance the system.
const char *pcs_event_refuses(const pcs_system *system);

// Takes the memory and readies the step solver for contact problems.
pcs_status pcs_event_create(pcs_scheme *self, pcs_events **out);
void pcs_event_forget(pcs_event_memory *memory);
// A step starts from this memory.
void pcs_event_begin(const pcs_scheme *self, pcs_events *e, const pcs_event_memory *memory);

// PCS_NOT_FINITE, with the place noted, when an entry of x is not finite.
pcs_outcome pcs_event_check(pcs_events *e, int n, const double *x);

// a with the forces of the held rows; the projection moves to q. `force` and `acceleration` follow.
pcs_outcome pcs_event_accelerate(pcs_scheme *self, pcs_events *e, double t, const double *q, const double *v,
                                 double *a);
// la/m_eff - ga of a held row: crosses zero where the contact opens.
double pcs_event_press(const pcs_scheme *self, const pcs_events *e, int row);
// sqrt(2 E / m_eff) of a row: the size of its velocities.
static inline double pcs_event_speed(const pcs_scheme *self, const pcs_events *e, int row)
{
    return sqrt(2.0 * e->now.energy / self->solver->effective_mass[row]);
}

// At (t, q): impacts until no closed contact approaches, then the new held rows; v follows. PCS_ACCUMULATES where
// impacts accumulate and `stops` is set.
pcs_outcome pcs_event_resolve(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v);

// At the start of a step, since friction may be set between steps: rows that move and had none before slide from now
// on; PCS_PARADOX where forces are no longer unique.
pcs_outcome pcs_event_renew(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v);

// Forgets what events have left of gaps that are open by now.
void pcs_event_clear_floors(pcs_scheme *self, pcs_events *e, const double *q);

// Takes what integration has left of gaps and gap rates of held rows out of q and v.
void pcs_event_project_position(pcs_scheme *self, pcs_events *e, double *q);
void pcs_event_project_velocity(pcs_scheme *self, pcs_events *e, double *v);

// Adds the momentum that impulses z, and z_t of friction (NULL: none), give along directions as they stand to `pushed`;
// nothing where they never turn.
static inline void pcs_event_push(const pcs_scheme *self, double scale, const double *z, const double *z_t,
                                  double pushed[3])
{
    if (pcs_rows_turn(self->system)) pcs_add_row_momentum(self->system, scale, z, z_t, pushed);
}
// Rows and impact loss of the step that leads to the next state; the projection stands there.
void pcs_event_report(const pcs_scheme *self, pcs_events *e, const double *q, const double *v, pcs_step_report *report);

// Start of a run: an impact at t = 0, the first held rows. Writes the report.
pcs_status pcs_event_start(pcs_scheme *self, pcs_events *e, pcs_state *x, pcs_next *next, pcs_step_report *report);

#endif
