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
    double floor[PCS_MAX_ROWS];         // an open contact closes below this gap, m: 0, or that left by an event
    double last_time[PCS_MAX_ROWS];     // time of the row's last impact, s; -INFINITY if none so far
    double last_interval[PCS_MAX_ROWS]; // time between its last two impacts, s; 0 if fewer than two
    int shrinking[PCS_MAX_ROWS];        // successive intervals that were shorter than the one before
    double energy;                      // largest kinetic energy so far, J
    unsigned char slides[PCS_MAX_ROWS],
        is_moving[PCS_MAX_ROWS];  // held rows that slide with friction; that no longer creep
    double slip[PCS_MAX_ROWS][2]; // their directions of slip, unit vectors
} pcs_event_memory;

typedef struct pcs_event_rub pcs_event_rub;

typedef struct pcs_events {
    // Set by the scheme
    double gap_tolerance; // a gap up to this is closed, m
    double stick;         // rebounds slower than this are rest, in units of sqrt(2 E / m_eff)
    double shortest;      // width of the interval that contains an impact, s; short flights are rest
    bool stops;           // stops if impacts accumulate; otherwise the contact comes to rest there
    double reach;         // largest kinetic energy so far, or work that forces could do within the step, J
    unsigned char released[PCS_MAX_ROWS]; // rows that may not be held after the next event
    unsigned char closed[PCS_MAX_ROWS];   // rows that are closed at the next event, whatever the gap

    pcs_event_memory now;
    pcs_event_rub *rub; // NULL without friction
    // Step so far:
    double smooth[PCS_MAX_ROWS];  // impulse of the lasting forces, N s
    double impulse[PCS_MAX_ROWS]; // impulse of impacts, N s
    bool is_impact[PCS_MAX_ROWS];
    double pushed[3];          // momentum of all these impulses along the directions of their time, N s
    double impact_loss;        // loss of all rows, J
    double loss[PCS_MAX_ROWS]; // loss of each row, J
    int iterations, count;
    // Last evaluation of accelerations:
    double force[PCS_MAX_ROWS];        // la, N
    double acceleration[PCS_MAX_ROWS]; // ga, m/s^2
    int bad_equation;                  // equation with a number that is not finite, or -1
    bool is_accumulating;
    double accumulation; // time at which events accumulate, s
    // Work
    double *q, *d, *a; // [nv]
    double gap[PCS_MAX_ROWS], target[PCS_MAX_ROWS], la[PCS_MAX_ROWS], nu[PCS_MAX_ROWS];
    double rate_before[PCS_MAX_ROWS], lam[PCS_MAX_ROWS], drive[PCS_MAX_ROWS]; // drive: magnitude of terms of ga
    unsigned char gate[PCS_MAX_ROWS];
    double A[PCS_MAX_ROWS * PCS_MAX_ROWS], z[PCS_MAX_ROWS];
} pcs_events;

// Returns NULL, or the reason for which such a scheme cannot advance the system.
const char *pcs_event_refuses(const pcs_system *system);

// Allocates the memory and prepares the step solver for contact problems.
pcs_status pcs_event_create(pcs_scheme *self, pcs_events **out);
void pcs_event_forget(pcs_event_memory *memory);
// Begins a step from this memory.
void pcs_event_begin(const pcs_scheme *self, pcs_events *e, const pcs_event_memory *memory);

// Returns PCS_NOT_FINITE, and stores the equation, if an entry of x is not finite.
pcs_outcome pcs_event_check(pcs_events *e, int n, const double *x);

// Computes a with the forces of the held rows, `force` and `acceleration`; the projection moves to q.
pcs_outcome pcs_event_accelerate(pcs_scheme *self, pcs_events *e, double t, const double *q, const double *v,
                                 double *a);
// Returns la/m_eff - ga of a held row, m/s^2, which crosses zero when the contact opens.
double pcs_event_press(const pcs_scheme *self, const pcs_events *e, int row);
// Returns sqrt(2 E / m_eff) of a row, m/s: the scale of its velocities.
static inline double pcs_event_speed(const pcs_scheme *self, const pcs_events *e, int row)
{
    return sqrt(2.0 * e->now.energy / self->solver->effective_mass[row]);
}

// Solves impacts at (t, q) until no closed contact approaches, then finds the new held rows; v follows. Returns
// PCS_ACCUMULATES if impacts accumulate and `stops` is set.
pcs_outcome pcs_event_resolve(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v);

// Updates modes at the start of a step, since friction may be set between steps: moving rows that had none slide from
// now on. Returns PCS_PARADOX if forces are no longer unique.
pcs_outcome pcs_event_renew(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v);

// Resets the floors of gaps that are open by now.
void pcs_event_clear_floors(pcs_scheme *self, pcs_events *e, const double *q);

// Removes the drift of gaps and gap rates of held rows from q and v.
void pcs_event_project_position(pcs_scheme *self, pcs_events *e, double *q);
void pcs_event_project_velocity(pcs_scheme *self, pcs_events *e, double *v);

// Adds the momentum of impulses z, and z_t of friction (may be NULL), along the present directions to `pushed`, N s;
// does nothing if directions are constant.
static inline void pcs_event_push(const pcs_scheme *self, double scale, const double *z, const double *z_t,
                                  double pushed[3])
{
    if (pcs_rows_turn(self->system)) pcs_add_row_momentum(self->system, scale, z, z_t, pushed);
}
// Reports rows and impact loss of the step that leads to the next state, at which the projection is evaluated.
void pcs_event_report(const pcs_scheme *self, pcs_events *e, const double *q, const double *v, pcs_step_report *report);

// Starts a run: an impact at t = 0 and the first held rows. Writes the report.
pcs_status pcs_event_start(pcs_scheme *self, pcs_events *e, pcs_state *x, pcs_next *next, pcs_step_report *report);

#endif
