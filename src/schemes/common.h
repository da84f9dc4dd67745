// Declares the next state of a step and the functions that schemes share; private to this folder.

#ifndef PCS_SCHEMES_COMMON_H
#define PCS_SCHEMES_COMMON_H

#include "core/pool.h"
#include "core/rounding.h"
#include "schemes/scheme.h"
#include "system/slices.h"

// Rows whose rates, or accelerations, vanish: the equations of pcs_hold_rows.
typedef struct pcs_held_rows {
    int n, nown, first; // numbers of rows: in all processes, in this one; index of its first one
    int *row;           // [nown] rows of this process
    double *A, *b;      // [n * n], [n] work
} pcs_held_rows;

// State that a step computes. It replaces the state by an exchange of pointers when the step is accepted, so that a
// rejected step changes nothing.
typedef struct pcs_next {
    double *q, *v;                                // [nv]
    double *a, *d;                                // [nv] acceleration and increment
    double *mean;                                 // [nv] velocity that moves positions in a step; NULL without damping
    double *target, *gap, *nu, *la, *rate_before; // [nrow]
    double *target_t, *la_t, *slip_before;        // [ntangent]
    double *lam;                                  // [nrow] smooth multipliers of bilateral rows
    const unsigned char *held;                    // [nrow] contacts that are held in this step; NULL if none
    const double *drift;                          // [nv] displacement that `held` compensates, m
    double *nu_t;                                 // [ntangent] multipliers of held contacts; NULL if never held
    double *speed, *speed_before;                 // [nrow] of driven rows at the end and the start of the step, m/s
    double *drive, *drive_before;                 // [nrow] their displacements likewise, m
    unsigned char *gate;                          // [nrow]
    double gap_tolerance;                         // a gap up to this is closed, m
    pcs_held_rows joints;                         // bilateral rows
    double *bias;                                 // [nrow] work of joint accelerations
    pcs_pool *pool;                               // threads that share passes over long vectors; NULL if one thread
    pcs_slice_sums *sums;                         // [nsum] sums of slices of the present step; NULL if there are none
    int nsum;                                     // largest number of sums
    bool takes_sums;                              // the present step computes sums
    pcs_ends ends;                                // ends of it; q is NULL if neither sums nor its change are needed
    pcs_change change;                            // change from the start of the step on, with its measure
} pcs_next;

pcs_status pcs_next_create(pcs_scheme *self, pcs_next *next);
// Returns the problem of the step from x on; x may be NULL for a contact problem without dynamics.
pcs_step_problem pcs_next_problem(const pcs_scheme *self, pcs_next *next, const pcs_state *x, double t);
// Replaces the sums x->q + increment in q by the position that the increment leads to.
void pcs_next_retract(const pcs_scheme *self, const pcs_state *x, double *q);

// Returns the reason for which a scheme with contact on acceleration level refuses a system, or NULL.
const char *pcs_refuse_accelerations(const pcs_system *system, const void *params);
// Begins a step of length h: clears its report, and gives the step solver the initial guesses of the state.
void pcs_begin_step(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report);

// Prepares a step from x on whose last pass computes sums, with or without those of its change.
void pcs_next_await_sums(const pcs_scheme *self, pcs_next *next, const pcs_state *x, bool has_change);
// Adds the sums over a slice of the next state if they are computed; slices come in order.
void pcs_next_sum(const pcs_scheme *self, const pcs_next *next, int slice, int low, int high);

// Computes energies and momentum of the next state, from sums if there are any. Returns false, with the outcome set, if
// it is not finite.
bool pcs_next_measure(const pcs_scheme *self, const pcs_state *x, pcs_next *next, pcs_step_report *report);

// Sums the losses of the rows over all processes. Losses of joints, as directions rotate within a step or as the law of
// a driven row corrects a position error, are no impact but numerical.
void pcs_report_join(const pcs_system *system, pcs_step_report *report);
// Fills the report of row j from the next state, at which directions are evaluated, except impulses, force and losses.
static inline void pcs_next_report(const pcs_system *system, const pcs_next *next, int j, pcs_row_report *row)
{
    *row = (pcs_row_report){ 0 };
    row->gap = next->gap[j];
    row->rate = pcs_system_rate(system, j, next->v);
    row->rate_before = next->rate_before[j];
    row->target = next->target[j];
    row->multiplier = next->la[j];
    if (system->rows[j].is_bilateral) row->lam = next->lam[j];
    row->is_gated = next->gate[j] != 0;
}
// Reports rows and impact loss of a scheme with one impulse La per row: force La/h, impact part in the step that
// closes. The impact loss is -La . G ((1 - theta) v_n + theta v): v_n is the velocity before the impulse of the step,
// so a contact that stays closed loses nothing.
void pcs_next_report_rows(const pcs_scheme *self, const pcs_state *x, const pcs_next *next, double theta,
                          pcs_step_report *report);

// Marks the closed rows of q after a step of h from x on, bilateral ones always, and leaves the gaps in next->gap: ties
// within round-off, also of impulses unless x is NULL, along the present directions, are closed. Returns their number.
int pcs_next_find_closed(const pcs_scheme *self, pcs_next *next, const pcs_state *x, double h, const double *q,
                         unsigned char *is_closed);
// Gates the closed rows of q likewise. Returns true if a contact of them was open at the start of the step.
bool pcs_next_arrive(const pcs_scheme *self, pcs_next *next, const pcs_state *x, double h, const double *q,
                     const unsigned char *was_closed);
// Stores the rates of next->v, normal and tangential, from which an impact starts.
static inline void pcs_next_note_rates(const pcs_system *system, pcs_next *next)
{
    for (int j = 0; j < system->nrow; j++) next->rate_before[j] = pcs_system_rate(system, j, next->v);
    for (int t = 0; t < system->ntangent; t++) next->slip_before[t] = pcs_rows_dot(system->T, t, next->v);
}
// Reports the impact that has led from them to next->v on top of what the rows report of the motion before it. Contacts
// that were open close in it; was_closed is NULL at the start of a run, where those close that take an impulse.
void pcs_next_report_impact(const pcs_scheme *self, const pcs_next *next, const unsigned char *was_closed,
                            pcs_step_report *report);

// Starts a run: moves the projection to x, reports it, and solves the impact of closed contacts that approach, by
// `impact`, which imposes the law on the gated rows of next. report->outcome says whether it did.
pcs_status pcs_next_start(pcs_scheme *self, pcs_next *next, pcs_state *x,
                          bool (*impact)(pcs_scheme *self, pcs_step_report *report), pcs_step_report *report);

// Makes the next state the state, with all members that do not depend on the scheme.
void pcs_next_accept(const pcs_scheme *self, pcs_next *next, pcs_state *x, const pcs_step_report *report);

// Returns the work of damping on the increment dq of a step h, J: dq . ((1 - weight) D(q0, v0) + weight D(q, v)).
// Powers v . D at both would count velocities that alternate, or rotating directions, as motion against the dampers.
double pcs_damping_work(const pcs_scheme *self, const pcs_next *next, const pcs_ends *ends, double h, double weight);

static inline double pcs_load_work(const pcs_system *system, double t, const double *q0, const double *q1)
{
    return system->ops->load_work(system, t, q0, q1);
}

// Computes a = M^-1 f(t, q, v), without constraint forces, with the last factors of M.
void pcs_free_acceleration(pcs_scheme *self, double t, const double *q, const double *v, double *a);
// Adds X z to x so that G x + bias = 0 on these rows, whose diagonals are increased by a share, and the multipliers to
// z [nrow]; bias [nrow] may be NULL. By elimination in all processes alike, each of which contributes the lines of its
// own rows. Returns false if the rows are dependent.
bool pcs_hold_rows(const pcs_scheme *self, const pcs_held_rows *rows, double share, const double *bias, double *x,
                   double *z);
// Adds the forces of bilateral rows to a so that G a + (dG/dt) v = 0 on them, and stores them in next->lam, N; the
// projection is evaluated at q.
void pcs_joint_acceleration(pcs_scheme *self, pcs_next *next, double t, const double *q, const double *v, double *a);

// Returns true if directions of rows vary: impulses of one step may then act along several.
static inline bool pcs_rows_rotate(const pcs_system *system)
{
    return system->row_set.vary && pcs_system_is_mesh(system);
}
// Adds `scale` times the momentum of impulses z and z_t (may be NULL) of the rows along the present directions, N s.
void pcs_add_row_momentum(const pcs_system *system, double scale, const double *z, const double *z_t, double sum[3]);
// Adds the resultant, N, of the forces lam of rows on equations that can move, along the present directions.
static inline void pcs_add_smooth_resultant(const pcs_system *system, const double *lam, double sum[3])
{
    if (pcs_system_is_mesh(system)) pcs_add_row_momentum(system, 1.0, lam, NULL, sum);
}

// Computes the targets e G v and e_T T v of every row at the present directions, m/s.
void pcs_next_targets(const pcs_scheme *self, pcs_next *next, const double *v);
// Evaluates positions and speeds of driven rows at both ends of the step.
void pcs_next_find_drives(const pcs_scheme *self, pcs_next *next, double t, double h);
// Adds next->speed to the targets of driven rows, so that they have this velocity at the end of the step.
void pcs_next_drive(const pcs_scheme *self, pcs_next *next);
// Sets the speeds for schemes whose positions move by h ((1 - m) v_n + m v). Adds to the given velocity one that
// removes the error e of positions, which a jump of velocity leaves: with w the error of velocities,
// w = -e/(4 h) + (m/4) w_n makes both halve from step to step. (No error at all takes velocities that alternate, for
// m = 1/2 forever: V after 0 is 2 V, 0, 2 V, ...) next->gap holds the gaps of the start. The speeds of the start become
// those of the state.
void pcs_next_follow_drives(const pcs_scheme *self, pcs_next *next, const pcs_state *x, double h, double m);
// Evaluates the explicit and frozen gate of velocity-level schemes, g(q_n) + (h/2) G v_n <= 0: the predicted gap at
// mid-step; and the targets, with m as above. Constraint directions are evaluated at q_n afterwards, also in a step
// tried again.
void pcs_next_foresee(pcs_scheme *self, pcs_next *next, const pcs_state *x, double h, double m);

// Fills the report of a start without an impact.
void pcs_start_report(const pcs_scheme *self, const pcs_state *x, pcs_next *next, pcs_step_report *report);

#endif
