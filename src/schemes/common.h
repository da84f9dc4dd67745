// Declares the next state of a step and the functions that schemes share; private to this folder.

#ifndef PCS_SCHEMES_COMMON_H
#define PCS_SCHEMES_COMMON_H

#include "core/pool.h"
#include "core/rounding.h"
#include "schemes/scheme.h"
#include "system/slices.h"

// The option of schemes that take a small gap for a closed one.
#define PCS_GAP_TOLERANCE(type)                                                          \
    PCS_REAL("gap_tolerance", type, gap_tolerance, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE, \
             "a gap up to this counts as closed, m")

// The state that a step works towards. It becomes the state by an exchange of pointers when the step is
// accepted, so a rejected step has touched nothing.
typedef struct pcs_next {
    double *q, *v;                                // [nv]
    double *a, *d;                                // [nv] acceleration and increment
    double *mean;                                 // [nv] velocity of the way of a step; NULL without damping
    double *target, *gap, *nu, *la, *rate_before; // [nrow]
    double *target_t, *la_t;                      // [ntangent]
    double *lam;                                  // [nrow] smooth multipliers of bilateral rows
    const unsigned char *held;                    // [nrow] contacts that are held in this step; NULL: none
    const double *drift;                          // [nv] of the step problem, with `held`
    double *nu_t;                                 // [ntangent] of held contacts; NULL: never held
    double *speed, *speed_before;                 // [nrow] of driven rows at the end and the start of the step, m/s
    double *way, *way_before;                     // [nrow] likewise, m
    unsigned char *gate;                          // [nrow]
    int njoint, nown_joint, first_joint;          // bilateral rows of all ranks and of this one, and where these begin
    int *joints;                                  // [nown_joint] which
    double *bias, *A, *x;                         // [nrow], [njoint * njoint], [njoint] work of joint accelerations
    pcs_pool *pool;                               // of threads that share passes over long vectors; NULL: one thread
    pcs_slice_sums *sums;                         // [nsum] of slices of the step under way; NULL: there are none
    int nsum;                                     // at most
    bool takes_sums;                              // in that step
    pcs_ends ends;                                // of it; q is NULL where neither sums nor its change are asked for
    pcs_change change;                            // from the start of the step on, with its measure
} pcs_next;

pcs_status pcs_next_create(pcs_scheme *self, pcs_next *next);
// The step from x on; x may be NULL for a contact problem without dynamics.
pcs_step_problem pcs_next_problem(const pcs_scheme *self, pcs_next *next, const pcs_state *x, double t);
// q, which holds the numbers x->q + increment, becomes the position that the increment leads to.
void pcs_next_retract(const pcs_scheme *self, const pcs_state *x, double *q);

// A step of length h begins: its report is empty, and the step solver starts from what the state says.
void pcs_begin_step(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report);

// Returns |x1 - x0|^2 in the norm of K or M of a linear system, J.
double pcs_norm2_of_change(const pcs_scheme *self, const pcs_next *next, const pcs_matrix *A, const double *x0,
                           const double *x1);
// A step from x on whose last pass takes sums, with or without those of its change.
void pcs_next_await_sums(const pcs_scheme *self, pcs_next *next, const pcs_state *x, bool has_change);
// Sums over a slice of the next state, where such are taken; part by part, in order.
void pcs_next_sum(const pcs_scheme *self, const pcs_next *next, int slice, int low, int high);
// |q - q_n|^2_K and |v - v_n|^2_M of a linear system, after the measure.
pcs_change pcs_next_change(const pcs_scheme *self, const pcs_next *next, const pcs_state *x);

// Energies and momentum of the next state, from sums where they were taken; false, with the outcome set, when it is not
// finite.
bool pcs_next_measure(const pcs_scheme *self, const pcs_state *x, pcs_next *next, pcs_step_report *report);

// Losses of all rows, where each rank has added up those of its own. What joints lose, as directions turn within a step
// or as the law of a driven row makes up for a misfit, is no impact but the scheme's doing.
void pcs_report_join(const pcs_system *system, pcs_step_report *report);
// Fills the report of row j from the next state, at which directions are evaluated, but for impulses, force and losses.
static inline void pcs_next_tell(const pcs_system *system, const pcs_next *next, int j, pcs_row_report *row)
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
// Position multipliers of a row.
static inline void pcs_next_tell_held(const pcs_system *system, const pcs_next *next, int j, pcs_row_report *row)
{
    const pcs_row *of = &system->rows[j];
    row->nu = next->nu[j];
    for (int t = 0; t < (next->held == NULL ? 0 : of->ntangent); t++) row->nu_t[t] = next->nu_t[of->first_tangent + t];
}
// Returns the round-off, m, of a gap that an impulse holds after a step of h: its rate vanishes only to round-off of
// the velocity that the last impulse gave. Without this allowance, round-off opens a lasting contact of a stiff body.
static inline double pcs_impulse_tie(const pcs_scheme *self, const pcs_state *x, int row, double h)
{
    return PCS_ROUND_LENGTH * h * fabs(x->impulse[row]) / self->solver->effective_mass[row];
}
// Rows and impact loss of a scheme with one impulse La per row: force La/h, impact part in the step that closes.
// The impact loss is -La . G ((1 - theta) v_n + theta v): v_n is the velocity before the impulse of the step, so a
// contact that stays closed loses nothing.
void pcs_next_report_rows(const pcs_scheme *self, const pcs_state *x, const pcs_next *next, double theta,
                          pcs_step_report *report);

// Makes the next state the state, with all that does not depend on the scheme.
void pcs_next_accept(const pcs_scheme *self, pcs_next *next, pcs_state *x, const pcs_step_report *report);

// Work that damping takes on the way dq between two states, h apart: dq . ((1 - weight) D(q0, v0) + weight D(q, v)).
// Powers v . D at both would count velocities that alternate, or directions that turn, as motion against the dampers.
double pcs_damping_work(const pcs_scheme *self, const pcs_next *next, const pcs_ends *ends, double h, double weight);

static inline double pcs_load_work(const pcs_system *system, double t, const double *q0, const double *q1)
{
    return system->ops->load_work(system, t, q0, q1);
}

// (x1 - x0) . y in four sums, which the processor adds up side by side.
double pcs_change_dot(const pcs_system *system, const double *x1, const double *x0, const double *y);

// Work of the applied loads by the trapezoidal rule.
static inline double pcs_trapezoidal_load_work(const pcs_system *system, const pcs_state *x, const double *q_new,
                                               double h)
{
    return 0.5 * (pcs_load_work(system, x->t, x->q, q_new) + pcs_load_work(system, x->t + h, x->q, q_new));
}

// a = M^-1 f(t, q, v), without constraint forces; M as it was factored last.
void pcs_free_acceleration(pcs_scheme *self, double t, const double *q, const double *v, double *a);
// The same with the forces of bilateral rows, which next->lam gets, so that G a + (dG/dt) v = 0 on them; the projection
// stands at q.
void pcs_joint_acceleration(pcs_scheme *self, pcs_next *next, double t, const double *q, const double *v, double *a);
// Adds what the forces lam of bilateral rows sum up to over the moving equations; directions as they stand.
void pcs_add_joint_resultant(const pcs_system *system, const double *lam, double sum[3]);

// A rule of this kind with nothing else in it: no numbers of the alpha family, positions moved by no mean velocity.
pcs_rule pcs_rule_of(pcs_rule_kind kind);

// Do directions of rows change, so that impulses of one step may act along several?
bool pcs_rows_turn(const pcs_system *system);
// Adds `scale` times the momentum that impulses z and z_t (NULL: none) of the rows give along directions as they stand.
void pcs_add_row_momentum(const pcs_system *system, double scale, const double *z, const double *z_t, double sum[3]);

// e G v and e_T T v of every row at the present directions.
void pcs_next_targets(const pcs_scheme *self, pcs_next *next, const double *v);
// Places and speeds of driven rows at both ends of the step.
void pcs_next_find_drives(const pcs_scheme *self, pcs_next *next, double t, double h);
// Adds next->speed to the targets of driven rows, so that they have this velocity at the end of the step.
void pcs_next_drive(const pcs_scheme *self, pcs_next *next);
// Speeds that schemes follow whose positions move by h ((1 - m) v_n + m v). To the given velocity comes one that takes
// the misfit e of positions away, which a velocity that jumps leaves: with w the misfit of velocities,
// w = -e/(4 h) + (m/4) w_n makes both halve from step to step. (No misfit at all takes velocities that alternate, for
// m = 1/2 forever: V after 0 is 2 V, 0, 2 V, ...) next->gap holds the gaps of the start. The speeds of the start become
// those of the state.
void pcs_next_follow_drives(const pcs_scheme *self, pcs_next *next, const pcs_state *x, double h, double m);
// The explicit and frozen gate of velocity-level schemes, g(q_n) + (h/2) G v_n <= 0: the gap at mid-step, foreseen from
// the start of the step; and the targets, with m as above. Constraint directions stand at q_n afterwards, also in a
// step tried again.
void pcs_next_foresee(pcs_scheme *self, pcs_next *next, const pcs_state *x, double h, double m);
// Is the smooth acceleration of the step before where the iteration of a scheme of this spectral radius at high
// frequency begins?
bool pcs_goes_on(const pcs_system *system, double radius);

// Report of a start without an impact.
void pcs_start_report(const pcs_scheme *self, const pcs_state *x, pcs_next *next, pcs_step_report *report);

#endif
