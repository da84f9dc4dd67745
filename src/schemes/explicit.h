// Advances schemes with explicit forces, or parts of their steps; private to this folder. Contact problems contain the
// mass matrix alone, and an impact is solved separately from the forces, on all closed contacts.

#ifndef PCS_SCHEMES_EXPLICIT_H
#define PCS_SCHEMES_EXPLICIT_H

#include "schemes/common.h"

extern const pcs_option pcs_no_options[];

// The first member of a scheme's data.
typedef struct pcs_explicit {
    pcs_next next;
    pcs_step_problem problem;  // contact problem, without the state that it is solved for
    unsigned char *was_closed; // [nrow] rows closed at the start of the step
    unsigned char *is_closed;  // [nrow] at its end
    unsigned char *is_pressed; // [nrow] transmits a smooth force at the start of the step; before that is known:
                               // has done so all over the step before
    double *stage, *stage_t;   // [nrow], [ntangent] impulses of the earlier stages as they enter the step, N s
    bool leaves_velocity;      // contact problems return impulses alone
    bool has_forces;           // accelerations are solved for, too
    bool presses;              // contacts closed at the start of a step have forces in its accelerations
    double *kick;              // [nv] change of v by those impulses, m/s; NULL if M and G are constant
    double *middle;            // [nv] qM of midpoint rules, z of PCS_RULE_CENTRAL; NULL otherwise
    const pcs_tableau *method; // of the stages
    double *q[PCS_MAX_STAGES], *v[PCS_MAX_STAGES];       // [nv] places and velocities of stages
    double *free[PCS_MAX_STAGES], *full[PCS_MAX_STAGES]; // [nv] their accelerations without and with forces of rows
    double *force, *force_t; // [nrow], [ntangent] impulses, or forces, of the rows in the present stage
    double *left;            // [nrow] of the mean velocity of driven rows, m/s
} pcs_explicit;

// Allocates the memory of a scheme whose rule is stated.
pcs_status pcs_explicit_setup(pcs_scheme *self);

// Allocates the stages of a method.
pcs_status pcs_explicit_take_stages(pcs_scheme *self, const pcs_tableau *method);

// Makes a step of half-explicit Runge-Kutta rules, by tableau, level and impact of the rule of self:
//   a_k = M(q_k)^-1 f(t + c_k h, q_k, v_k),   q_l = q + h sum_{j<l} r_j v_j,   r = a_l, or b for the end of the step
// PCS_LEVEL_VELOCITY: k = l - 1, on I0 = { g(q) <= tol }, in the end on those of I0 that are still closed
//   v_l = v + h sum_{j<k} r_j A_j + h r_k a_k + M(q_k)^-1 G(q_k)^T P,   0 <= G(q_l) v_l _|_ P >= 0
//   A_k = a_k + M(q_k)^-1 G(q_k)^T P/(h r_k),        r_k > 0
// PCS_LEVEL_ACCELERATION: v_l = v + h sum_{j<l} r_j A_j,   A_k = a_k, or if contacts press, with those of I0 that do
// not separate, A_k = a_k + M^-1 G^T la,   0 <= G A_k + (dG/dt) v_k _|_ la >= 0
// A driven row has G v_l = s'(t + c_l h), but in the stage before the end the velocity that corrects positions:
// h sum_j b_j G v_j = s(t + h) - s(t) minus the error of positions.
// PCS_RULE_HEUN: q_1 is the end of the step once v_1 is known. Where the scheme keeps a history, it is a_0.
pcs_status pcs_explicit_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report);
// Computes and measures the next state, after pcs_explicit_begin; report->outcome says whether there is one.
void pcs_explicit_advance(pcs_scheme *self, const pcs_state *x, bool *is_impact, pcs_step_report *report);

// Clears impulses, targets and gates.
void pcs_explicit_clear(pcs_scheme *self, pcs_explicit *s);
// Begins a step at x: clears report and rows, and moves the projection there.
pcs_status pcs_explicit_begin(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report);

// Moves the projection to the initial state, and solves an impact of closed and approaching contacts at t = 0: the
// first step would treat it as a plastic force otherwise.
pcs_status pcs_explicit_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report);

// Starts without an impact: the first step handles contacts that are closed.
pcs_status pcs_explicit_start_plainly(pcs_scheme *self, pcs_state *x, pcs_step_report *report);

// Finds the rows that are closed at q, the end of the step; they are gated. Returns true if a contact of them was open
// at the start of the step.
bool pcs_explicit_arrive(pcs_scheme *self, pcs_explicit *s, const double *q);

// Solves x += M^-1 G^T P with 0 <= G x + target _|_ P >= 0 on the gated rows, friction included; x is a velocity and P
// an impulse. With leaves_velocity x may stay as it is.
pcs_outcome pcs_explicit_contact(pcs_scheme *self, pcs_explicit *s, double *x, double *impulse, double *tangent,
                                 pcs_step_report *report);
// Solves the same for next.v, next.la and next.la_t; sets next.rate_before alone if no row is gated or bilateral.
pcs_outcome pcs_explicit_impose(pcs_scheme *self, pcs_explicit *s, pcs_step_report *report);

// Solves the impact on the gated rows: next.v is the velocity before it, and the targets are its restitution.
pcs_outcome pcs_explicit_impact(pcs_scheme *self, pcs_explicit *s, pcs_step_report *report);

// Opens the gate of rows that separate: G v > 1e-12 of the largest gap velocity so far, and h G v above the round-off
// of the gap, so that round-off does not release a held contact. If directions vary, G v also has the error of a step:
// a row that is pressed then stays, and its force decides. `h` scales accelerations to velocities.
void pcs_explicit_release(pcs_scheme *self, pcs_explicit *s, const pcs_state *x, const double *v, const double *a,
                          double h);
// Computes the free acceleration of stage k, and moves the projection there. Returns false if M is singular.
bool pcs_explicit_free(pcs_scheme *self, pcs_explicit *s, double t, int k);
// Computes the acceleration of stage k with contact forces on the gated rows, the projection evaluated there:
//   full = free + M^-1 G^T force,   free = M^-1 f(t, q, v),   0 <= G full + (dG/dt) v _|_ force >= 0
pcs_outcome pcs_explicit_accelerate(pcs_scheme *self, pcs_explicit *s, int k, double *force, pcs_step_report *report);

// Adds to the step the share of stage k, whose rows have these forces.
void pcs_explicit_add_stage(pcs_scheme *self, pcs_explicit *s, int k, double share, const double *force);
// Solves the rows at the end of the step; an impact drops the forces of velocity level.
pcs_outcome pcs_explicit_end(pcs_scheme *self, const pcs_state *x, double h, bool *is_impact, pcs_step_report *report);
// Solves the impact at q after the motion without forces of rows, on the rows that are closed at the end.
pcs_outcome pcs_explicit_hit(pcs_scheme *self, const pcs_state *x, double h, const double *q, pcs_step_report *report);

// Reports rows of a step whose last contact problem gave next.la: it is a force times `duration`, except in an impact.
// Books the loss of an impact, and that of friction from the start x on.
void pcs_explicit_report_rows(pcs_scheme *self, pcs_explicit *s, const pcs_state *x, double duration, bool is_impact,
                              pcs_step_report *report);
// Adds to `sum` the momentum of impulses of earlier stages along their own directions minus that along those of the
// end, along which they are reported, N s.
void pcs_explicit_add_rotated_momentum(const pcs_scheme *self, const pcs_explicit *s, double sum[3]);
// Reports the impulse of smooth forces, that of turned directions, work of loads and damping loss of a step by the
// weights of its stages, or, without has_work, work and loss by the trapezoidal rule.
void pcs_explicit_weigh(pcs_scheme *self, const pcs_state *x, bool has_work, pcs_step_report *report);
// Books damping loss and work of loads by the trapezoidal rule, J.
void pcs_explicit_report_work(pcs_scheme *self, const pcs_explicit *s, const pcs_state *x, pcs_step_report *report);

// Makes a step of rules with one evaluation of forces and one impulse for each row, by kind and gate of the rule:
//   PCS_RULE_EULER     forces at q_n, rows at q
//   PCS_RULE_MIDPOINT  both at qM = q_n + (h/2) v_n
//   PCS_RULE_CENTRAL   both at q_n, over the mean of the last step and this one; the law is one of gaps. The memory of
//                      the scheme is the length of the last step, s; 0: there is none
pcs_status pcs_explicit_step_once(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report);

// Parts of it, for schemes that do something of their own in between.

// Predicts qM, the gate there and the targets e G v_n; moves the projection to qM. Returns false if M(qM) is singular.
bool pcs_explicit_forecast(pcs_scheme *self, const pcs_state *x, double h);
// Computes the next state by the gates and targets given, with the forces of an instant that act over `duration`, s.
pcs_outcome pcs_explicit_go_once(pcs_scheme *self, const pcs_state *x, pcs_instant at, double duration,
                                 pcs_step_report *report);
// Reports rows and balances of the step.
void pcs_explicit_report_once(pcs_scheme *self, const pcs_state *x, pcs_instant at, double duration,
                              pcs_step_report *report);

#endif
