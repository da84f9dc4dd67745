// Solves contact laws at acceleration and impact level on index sets, updates these sets at an event, and carries the
// motion between events, for schemes that stop at events; private to this folder.
//
//   I_c = { g <= tolerance },  I_s = { I_c, gap rate 0 }                     (lasting contacts: "held")
//   M a = f + G^T la,   0 <= ga = G a + (dG/dt) v _|_ la >= 0 on I_s          la = 0 elsewhere
//   M (v - v-) = G^T p, 0 <= G v + e G v- _|_ p >= 0          on I_c          p = 0 elsewhere
//
// Acary, lecture slides on numerical methods for nonsmooth mechanical systems. The laws are solved by the step solver;
// with friction those of accelerations by linear equations, as every held row that has it sticks or slides:
//
//   sticks   T a + (dT/dt) v = 0,   |la_t| <= mu la
//   slides   la_t = -mu la d,   d along the slip velocity u = T v
//
// Modes change at events only: mu la - |la_t| of a row that sticks falls through 0, or u . d of one that slides, d its
// direction at the last event or step. Where rows that rest must slide, they do so against the force they would have
// stuck with; in space then along their acceleration, so long as they creep: u/|u| turns at the rate mu la W/|u|
// towards that, W the mobility, too fast to be followed.

#ifndef PCS_SCHEMES_EVENT_H
#define PCS_SCHEMES_EVENT_H

#include "schemes/common.h"

// Carried from step to step; the memory of a scheme.
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
    double pace;                  // of the scheme: what its ODE solver used last, s; largest gap rate at an event, m/s
} pcs_event_memory;

// The first member of a scheme's data.
typedef struct pcs_events {
    pcs_next next;
    // Set by the scheme
    double gap_tolerance; // a gap up to this is closed, m
    bool rounds_gaps;     // that is a few thousand times the round-off of gaps at the start of the step
    double stick;         // rebounds slower than this are rest, in units of sqrt(2 E / m_eff)
    double shortest;      // width of the interval that contains an impact, s; short flights are rest
    bool stops;           // stops if impacts accumulate; otherwise the contact comes to rest there
    double reach;         // largest kinetic energy so far, or work that forces could do within the step, J
    unsigned char released[PCS_MAX_ROWS]; // rows that may not be held after the next event
    unsigned char closed[PCS_MAX_ROWS];   // rows that are closed at the next event, whatever the gap

    pcs_event_memory now;
    bool rubs; // the case has friction
    // The motion within the step: y = (q, v), and integrals over the step from these offsets on: impulses of rows, work
    // of loads, damping loss, impulse of the resultant, with friction impulses of tangents and the loss of every row.
    double *y;
    int impulse, work, damping, resultant, friction, loss, size;
    // Step so far, by impacts and corrections:
    double smooth[PCS_MAX_ROWS];   // impulse of the lasting forces, N s
    double impulses[PCS_MAX_ROWS]; // impulse of impacts, N s
    double *smooth_t, *impulses_t; // [ntangent] likewise
    bool is_impact[PCS_MAX_ROWS];
    double pushed[3];   // momentum of all these impulses along the directions of their time, N s
    double impact_loss; // loss of all rows, J
    double normal_loss[PCS_MAX_ROWS], rub_loss[PCS_MAX_ROWS]; // loss of each row, J
    int iterations, count;
    // Last evaluation of accelerations:
    double force[PCS_MAX_ROWS];        // la, N
    double acceleration[PCS_MAX_ROWS]; // ga, m/s^2
    double drive[PCS_MAX_ROWS];        // magnitude of terms of ga
    double *force_t, *slide;           // [ntangent] la_t, N; T a + (dT/dt) v, m/s^2
    double margin[PCS_MAX_ROWS];       // margin of the mode, m/s^2 or m/s; it ends when this falls below 0
    double aim[PCS_MAX_ROWS][2];       // directions of creeping rows
    int bad_equation;                  // equation with a number that is not finite, or -1
    bool is_accumulating;
    double accumulation; // time at which events accumulate, s
    // Work
    double *q, *d, *a, *there, *free; // [nv]
    double gap[PCS_MAX_ROWS], target[PCS_MAX_ROWS], la[PCS_MAX_ROWS], nu[PCS_MAX_ROWS];
    double rate_before[PCS_MAX_ROWS], lam[PCS_MAX_ROWS];
    unsigned char gate[PCS_MAX_ROWS];
    double *target_t, *la_t, *bias; // [ntangent]
    // Linear equations of held rows: unknown k is la of row index[k], or la_t of tangent index[k] - nrow
    int n, index[3 * PCS_MAX_ROWS];
    double *A, *b, *z, *z_last; // [n n], [n]
    double *columns;            // [n nv] change of a by each unit unknown
} pcs_events;

// Returns NULL, or the reason for which such a scheme cannot advance the system.
const char *pcs_event_refuses(const pcs_system *system, const void *params);

// Allocates the memory and prepares the step solver for contact problems.
pcs_status pcs_event_setup(pcs_scheme *self);
// Starts a run: an impact at t = 0 and the first held rows.
pcs_status pcs_event_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report);
// Makes a step; `run` moves y from x to its end, through all events.
typedef pcs_outcome pcs_event_run(pcs_scheme *self, const pcs_state *x, double h);
pcs_status pcs_event_step(pcs_scheme *self, pcs_state *x, double h, pcs_event_run *run, pcs_step_report *report);

// Returns PCS_NOT_FINITE, and stores the equation, if an entry of x is not finite.
pcs_outcome pcs_event_check(pcs_events *e, int n, const double *x);

// Computes a with the forces of the held rows, `force` and `acceleration`; the projection moves to q.
pcs_outcome pcs_event_accelerate(pcs_scheme *self, pcs_events *e, double t, const double *q, const double *v,
                                 double *a);
// Evaluates y' by that acceleration.
pcs_outcome pcs_event_slope(pcs_scheme *self, pcs_events *e, double t, const double *y, double *dy);
// Returns la/m_eff - ga of a held row, m/s^2, which crosses zero when the contact opens.
double pcs_event_press(const pcs_scheme *self, const pcs_events *e, int row);
// Returns true if the row is held and has friction.
bool pcs_event_rubs(const pcs_system *system, const pcs_events *e, int row);

// Solves impacts at (t, q) until no closed contact approaches, then finds the new held rows; v follows. Returns
// PCS_ACCUMULATES if impacts accumulate and `stops` is set.
pcs_outcome pcs_event_resolve(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v);

// Updates modes at the start of a step, since friction may be set between steps: moving rows that had none slide from
// now on. Returns PCS_PARADOX if forces are no longer unique.
pcs_outcome pcs_event_renew(pcs_scheme *self, pcs_events *e, double t, const double *q, double *v);

// Resets the floors of gaps that are open by now.
void pcs_event_clear_floors(pcs_scheme *self, pcs_events *e, const double *q);
// Updates the directions of sliding from v, after smooth motion. Returns PCS_PARADOX if forces of sliding rows have
// more than one solution: unless G_j M^-1 (G_j - mu d T_j)^T > 0, joints held.
pcs_outcome pcs_event_follow(pcs_scheme *self, pcs_events *e, const double *v);

// Removes the drift of gap rates of held rows, and the slip of those that stick, from v.
void pcs_event_project_velocity(pcs_scheme *self, pcs_events *e, double *v);

#endif
