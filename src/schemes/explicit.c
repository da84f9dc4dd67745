#include "schemes/explicit.h"

#include "core/loop.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

const pcs_option pcs_no_options[] = { { 0 } };

pcs_status pcs_explicit_setup(pcs_scheme *self)
{
    pcs_explicit *s = self->data;
    const pcs_system *system = self->system;
    PCS_TRY(pcs_next_create(self, &s->next));
    s->problem = pcs_next_problem(self, &s->next, NULL, 0.0);
    PCS_TAKE(self->ctx, s->stage, system->nrow, "the stage impulses");
    PCS_TAKE(self->ctx, s->stage_t, system->ntangent, "the stage impulses");
    PCS_TAKE_EACH(self->ctx, system->nrow, "the stage contacts", unsigned char, &s->was_closed, &s->is_closed,
                  &s->is_pressed);
    if (!system->is_linear) PCS_TAKE(self->ctx, s->kick, system->nv, "the stage impulses");
    if (self->rule.gate == PCS_GATE_MIDDLE || self->rule.kind == PCS_RULE_CENTRAL)
        PCS_TAKE(self->ctx, s->middle, system->nv, "the middle of the step");
    // Contact problems need M alone; a form with h = 1 serves steps of any size.
    pcs_step_form form = { .h = 1.0 };
    pcs_outcome outcome;
    return pcs_step_solver_prepare(self->solver, &form, &outcome);
}

void pcs_explicit_clear(pcs_scheme *self, pcs_explicit *s)
{
    pcs_next *next = &s->next;
    for (int j = 0; j < self->system->nrow; j++) {
        s->stage[j] = next->la[j] = next->nu[j] = next->target[j] = 0.0;
        next->gate[j] = 0;
    }
    for (int t = 0; t < self->system->ntangent; t++) s->stage_t[t] = next->la_t[t] = next->target_t[t] = 0.0;
    if (s->kick != NULL) memset(s->kick, 0, (size_t)self->system->nv * sizeof *s->kick);
}

bool pcs_explicit_arrive(pcs_scheme *self, pcs_explicit *s, const double *q)
{
    bool has_closed = pcs_next_arrive(self, &s->next, NULL, 0.0, q, s->was_closed);
    memcpy(s->is_closed, s->next.gate, (size_t)self->system->nrow);
    return has_closed;
}

// Solves the contact problem; x may also be an acceleration, with forces in place of impulses.
static pcs_outcome explicit_solve(pcs_scheme *self, pcs_explicit *s, double *x, double *impulse, double *tangent,
                                  pcs_step_report *report)
{
    pcs_step_problem *problem = &s->problem;
    pcs_step_result result;
    problem->q = s->next.q;
    problem->v = x;
    problem->d = s->next.d;
    problem->la = impulse;
    problem->la_t = tangent;
    problem->leaves_motion = s->leaves_velocity;
    pcs_step_solve(self->solver, problem, &result);
    report->iterations += result.iterations;
    return result.outcome;
}

// Solves for impulses. Clears stored multipliers before and after if others are forces, whose units and sizes differ.
pcs_outcome pcs_explicit_contact(pcs_scheme *self, pcs_explicit *s, double *x, double *impulse, double *tangent,
                                 pcs_step_report *report)
{
    if (s->has_forces) pcs_step_solver_forget(self->solver);
    pcs_outcome outcome = explicit_solve(self, s, x, impulse, tangent, report);
    if (s->has_forces) pcs_step_solver_forget(self->solver);
    return outcome;
}

pcs_outcome pcs_explicit_impose(pcs_scheme *self, pcs_explicit *s, pcs_step_report *report)
{
    pcs_next *next = &s->next;
    bool has_gate = false;
    pcs_next_note_rates(self->system, next);
    for (int j = 0; j < self->system->nrow; j++)
        has_gate = has_gate || next->gate[j] || self->system->rows[j].is_bilateral;
    if (!pcs_rows_any(self->system, has_gate)) return PCS_CONVERGED;
    return pcs_explicit_contact(self, s, next->v, next->la, next->la_t, report);
}

pcs_outcome pcs_explicit_impact(pcs_scheme *self, pcs_explicit *s, pcs_step_report *report)
{
    pcs_next_targets(self, &s->next, s->next.v);
    pcs_next_drive(self, &s->next);
    for (int j = 0; j < self->system->nrow; j++) s->stage[j] = 0.0;
    for (int t = 0; t < self->system->ntangent; t++) s->stage_t[t] = 0.0;
    if (s->kick != NULL) memset(s->kick, 0, (size_t)self->system->nv * sizeof *s->kick);
    return pcs_explicit_impose(self, s, report);
}

void pcs_explicit_release(pcs_scheme *self, pcs_explicit *s, const pcs_state *x, const double *v, const double *a,
                          double h)
{
    const pcs_system *system = self->system;
    double largest = x->largest_rate;
    for (int j = 0; j < system->nrow; j++) {
        if (system->rows[j].is_bilateral) continue; // it may be an angle, which has another unit
        largest = fmax(largest, fmax(fabs(pcs_system_rate(system, j, v)), h * fabs(pcs_system_rate(system, j, a))));
    }
    largest = pcs_rows_max(system, largest);
    for (int j = 0; j < system->nrow; j++) {
        double rate = pcs_system_rate(system, j, v);
        bool opens = rate > 1e-12 * largest && h * rate > pcs_gap_tie(system, j, x->q);
        if (opens && !s->is_pressed[j] && !system->rows[j].is_bilateral) s->next.gate[j] = 0;
    }
}

bool pcs_explicit_free(pcs_scheme *self, pcs_explicit *s, double t, int k)
{
    self->solver->t = t;
    if (!pcs_projection_move(self->solver, s->q[k])) return false;
    pcs_free_acceleration(self, t, s->q[k], s->v[k], s->free[k]);
    return true;
}

pcs_outcome pcs_explicit_accelerate(pcs_scheme *self, pcs_explicit *s, int k, double *force, pcs_step_report *report)
{
    pcs_system *system = self->system;
    bool has_gate = false;
    memcpy(s->full[k], s->free[k], (size_t)system->nv * sizeof *s->full[k]);
    for (int j = 0; j < system->nrow; j++) {
        force[j] = s->next.target[j] = 0.0;
        has_gate = has_gate || s->next.gate[j];
    }
    if (!pcs_rows_any(system, has_gate)) return PCS_CONVERGED;
    if (pcs_system_has_bias(system))
        pcs_system_rate_bias(system, pcs_at(self->solver->t, s->q[k], s->v[k]), s->next.target);
    return explicit_solve(self, s, s->full[k], force, s->next.la_t, report);
}

// Reports a row that acts smoothly, with the loss of friction at the mean of T v at both ends, and the work that drives
// it: the part m (r - r_n) of its impulse P, which changes the rate from r_n to r, works at their mean, and the rest,
// which balances forces, along u h: P u - m (r - r_n) (u - (r_n + r)/2).
static void explicit_report_smooth(pcs_scheme *self, const pcs_explicit *s, const pcs_state *x, int j,
                                   pcs_step_report *report)
{
    const pcs_system *system = self->system;
    const pcs_next *next = &s->next;
    pcs_row_report *row = &report->rows[j];
    row->step_impulse += next->la[j];
    for (int t = 0; t < system->rows[j].ntangent; t++) {
        int k = system->rows[j].first_tangent + t;
        row->last_tangent[t] = next->la_t[k];
        row->tangent[t] = s->stage_t[k] + next->la_t[k];
        row->slip[t] = pcs_rows_dot(system->T, k, next->v);
        if (row->tangent[t] != 0.0)
            row->friction_loss -= 0.5 * row->tangent[t] * (pcs_rows_dot(system->T, k, x->v) + row->slip[t]);
    }
    report->friction_loss += row->friction_loss;
    if (!system->rows[j].is_driven) return;
    double u = (next->drive_before[j] - next->drive[j]) / report->h, start = pcs_system_rate(system, j, x->v);
    double momentum = self->solver->effective_mass[j] * (row->rate - start);
    row->drive_work = row->step_impulse * u - momentum * (u - 0.5 * (start + row->rate));
    report->external_work += row->drive_work;
}

void pcs_explicit_report_rows(pcs_scheme *self, pcs_explicit *s, const pcs_state *x, double duration, bool is_impact,
                              pcs_step_report *report)
{
    const pcs_system *system = self->system;
    const pcs_next *next = &s->next;
    for (int j = 0; j < system->nrow; j++) {
        pcs_row_report *row = &report->rows[j];
        pcs_next_report(system, next, j, row);
        row->step_impulse = pcs_system_transport(system, j, x->q, next->q, s->stage[j]);
        row->force = is_impact ? 0.0 : next->la[j] / duration;
        row->is_closed = s->is_closed[j] != 0;
        if (!is_impact) explicit_report_smooth(self, s, x, j, report);
    }
    if (is_impact) pcs_next_report_impact(self, next, s->was_closed, report);
    else pcs_report_join(system, report);
}

static bool explicit_impact(pcs_scheme *self, pcs_step_report *report)
{
    report->outcome = pcs_explicit_impose(self, self->data, report);
    return report->outcome == PCS_CONVERGED;
}

pcs_status pcs_explicit_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    pcs_explicit_clear(self, s);
    s->leaves_velocity = false;
    PCS_TRY(pcs_next_start(self, &s->next, x, explicit_impact, report));
    if (report->outcome == PCS_CONVERGED)
        pcs_memory_copy(self->solver->nmemory, self->solver->memory, x->solver_memory);
    return PCS_OK;
}

// Moves the projection to the start of a step.
static pcs_status explicit_return(pcs_scheme *self, const pcs_state *x)
{
    if (pcs_projection_move(self->solver, x->q)) return PCS_OK;
    return pcs_fail(self->ctx, PCS_FAILED, "the mass is singular at t = %.9g s", x->t);
}

pcs_status pcs_explicit_start_plainly(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    PCS_TRY(explicit_return(self, x));
    pcs_start_report(self, x, &s->next, report);
    return PCS_OK;
}

pcs_status pcs_explicit_begin(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    pcs_begin_step(self, x, h, report);
    pcs_explicit_clear(self, self->data);
    self->solver->t = x->t;
    return explicit_return(self, x);
}

void pcs_explicit_add_rotated_momentum(const pcs_scheme *self, const pcs_explicit *s, double sum[3])
{
    pcs_measure pushed;
    if (!pcs_rows_rotate(self->system) || s->kick == NULL) return;
    self->system->ops->measure(self->system, pcs_at(self->solver->t, s->next.q, s->kick), PCS_ENERGY, &pushed);
    for (int k = 0; k < 3; k++) sum[k] += pushed.free_momentum[k];
    pcs_add_row_momentum(self->system, -1.0, s->stage, s->stage_t, sum);
}

void pcs_explicit_report_work(pcs_scheme *self, const pcs_explicit *s, const pcs_state *x, pcs_step_report *report)
{
    const pcs_ends ends = { .q = s->next.q, .v = s->next.v, .q0 = x->q, .v0 = x->v };
    report->external_work += 0.5 * (pcs_load_work(self->system, x->t, x->q, s->next.q) +
                                    pcs_load_work(self->system, x->t + report->h, x->q, s->next.q));
    report->damping_loss = pcs_damping_work(self, &s->next, &ends, report->h, 0.5);
}

void pcs_explicit_weigh(pcs_scheme *self, const pcs_state *x, bool has_work, pcs_step_report *report)
{
    const pcs_explicit *s = self->data;
    const pcs_tableau *by = s->method;
    const pcs_system *system = self->system;
    double resultant[3];
    for (int k = 0; k < by->s; k++) {
        double duration = report->h * by->b[k];
        pcs_instant at = pcs_at(x->t + by->c[k] * report->h, s->q[k], s->v[k]);
        if (duration == 0.0) continue;
        pcs_system_resultant(system, at, resultant);
        for (int i = 0; i < 3; i++) report->smooth_impulse[i] += duration * resultant[i];
        if (!has_work) continue;
        report->external_work += duration * pcs_system_load_power(system, at);
        report->damping_loss += duration * pcs_system_damping_power(system, at, NULL);
    }
    pcs_explicit_add_rotated_momentum(self, s, report->smooth_impulse);
    if (!has_work) pcs_explicit_report_work(self, s, x, report);
}

// Rules with one evaluation of forces.

bool pcs_explicit_forecast(pcs_scheme *self, const pcs_state *x, double h)
{
    pcs_explicit *s = self->data;
    pcs_system *system = self->system;
    const double *q = x->q, *v = x->v;
    double *middle = s->middle;
    PCS_INDEPENDENT
    for (int i = 0; i < system->nv; i++) middle[i] = q[i] + 0.5 * h * v[i];
    pcs_explicit_clear(self, s);
    if (!pcs_projection_move(self->solver, middle)) return false;
    (void)pcs_next_find_closed(self, &s->next, NULL, 0.0, middle, s->next.gate);
    pcs_next_targets(self, &s->next, x->v);
    return true;
}

// Sets gates and targets of PCS_RULE_CENTRAL, which closes the gate of every row: with z of the motion without contact,
//   target = (1 + e) g(z)/h - G v,   z = (q + e q_{n-1})/(1 + e),   q_{n-1} = q_n - h (v - h a)
static void once_state_gaps(pcs_scheme *self, const pcs_state *x, double h)
{
    pcs_explicit *s = self->data;
    pcs_system *system = self->system;
    pcs_next *next = &s->next;
    const double *a = next->a, *q = next->q, *v = next->v;
    double last = -1.0;
    self->solver->t = x->t + h;         // for driven rows: all others have no prescribed motion
    pcs_next_targets(self, next, x->v); // for the tangential rows
    for (int j = 0; j < system->nrow; j++) {
        double e = pcs_restitution(&system->rows[j], 0.0);
        if (e != last) { // evaluates gaps once for each value of e
            for (int i = 0; i < system->nv; i++)
                s->middle[i] = (q[i] + e * (x->q[i] - h * (v[i] - h * a[i]))) / (1.0 + e);
            pcs_system_gaps(system, pcs_at(self->solver->t, s->middle, NULL), next->gap);
        }
        last = e;
        next->target[j] = (1.0 + e) * next->gap[j] / h - pcs_system_rate(system, j, v);
        next->gate[j] = 1;
    }
}

// Computes q = q_n + h ((1 - m) v_n + m v); m is 1/2 where a correction of positions follows.
static void once_place(pcs_scheme *self, const pcs_state *x, double h)
{
    const pcs_next *next = &((const pcs_explicit *)self->data)->next;
    const double *q0 = x->q, *v0 = x->v, *v = next->v;
    double *q = next->q, move = isnan(self->rule.move) ? 0.5 : self->rule.move;
    PCS_INDEPENDENT
    for (int i = 0; i < self->system->nv; i++) q[i] = q0[i] + h * ((1.0 - move) * v0[i] + move * v[i]);
    pcs_next_retract(self, x, q);
}

pcs_outcome pcs_explicit_go_once(pcs_scheme *self, const pcs_state *x, pcs_instant at, double duration,
                                 pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    bool is_euler = self->rule.kind == PCS_RULE_EULER, is_central = self->rule.kind == PCS_RULE_CENTRAL;
    const double *v0 = x->v, *a = s->next.a;
    double *v = s->next.v;
    pcs_free_acceleration(self, at.t, at.q, at.v, s->next.a);
    PCS_INDEPENDENT
    for (int i = 0; i < self->system->nv; i++) v[i] = v0[i] + duration * a[i];
    if (is_euler || is_central) once_place(self, x, report->h);
    if (is_euler && !pcs_projection_move(self->solver, s->next.q)) return PCS_SINGULAR;
    if (is_central) once_state_gaps(self, x, report->h);
    pcs_outcome outcome = pcs_explicit_impose(self, s, report);
    if (outcome != PCS_CONVERGED || is_euler) return outcome;
    if (is_central) pcs_projection_push(self->solver, report->h, s->next.la, s->next.la_t, s->next.q);
    else once_place(self, x, report->h);
    return PCS_CONVERGED;
}

// Finds gates and targets that do not depend on forces. Returns false if the mass is singular.
static bool once_aim(pcs_scheme *self, const pcs_state *x, double h)
{
    pcs_next *next = &((pcs_explicit *)self->data)->next;
    if (self->rule.kind == PCS_RULE_CENTRAL) return true;
    if (self->rule.kind == PCS_RULE_EULER) {
        pcs_next_foresee(self, next, x, h, 0.0);
        return true;
    }
    self->solver->t = x->t;
    if (self->system->row_set.ndriven > 0) {
        pcs_projection_rotate(self->solver, x->q);
        pcs_system_gaps(self->system, pcs_at(self->solver->t, x->q, NULL), next->gap);
    }
    pcs_next_follow_drives(self, next, x, h, 0.5);
    if (!pcs_explicit_forecast(self, x, h)) return false;
    pcs_next_drive(self, next);
    return true;
}

// Sets the speeds of driven rows to their mean velocities over the steps, m/s.
static void once_find_speeds(pcs_scheme *self, const pcs_state *x)
{
    pcs_next *next = &((pcs_explicit *)self->data)->next;
    for (int j = 0; j < self->system->nrow; j++) {
        bool is_driven = self->system->rows[j].is_driven;
        next->speed_before[j] = is_driven ? -pcs_system_rate(self->system, j, x->v) : 0.0;
        next->speed[j] = is_driven ? -pcs_system_rate(self->system, j, next->v) : 0.0;
    }
}

// Books the work of driven rows of PCS_RULE_CENTRAL: the part that changes the velocity, m (r^2 - r_n^2)/2; the part
// that balances forces, m G a, which the impulse holds as at the start of the step, with the mean of both ends along
// the increment; and the part that balances impulses of other rows, such as friction on a driven body: the rest of its
// own.
static void once_book_drives(pcs_scheme *self, const pcs_state *x, double duration, pcs_step_report *report)
{
    pcs_next *next = &((pcs_explicit *)self->data)->next;
    const pcs_system *system = self->system;
    if (system->row_set.ndriven == 0) return;
    pcs_free_acceleration(self, x->t + report->h, next->q, next->v, next->d);
    for (int j = 0; j < system->nrow; j++) {
        pcs_row_report *row = &report->rows[j];
        double mass = self->solver->effective_mass[j], start = pcs_system_rate(system, j, x->v), rate = row->rate;
        double pull = pcs_system_rate(system, j, next->a);
        double balance = -0.5 * (pull + pcs_system_rate(system, j, next->d));
        double rest = row->step_impulse - mass * (rate - start - duration * pull);
        if (!system->rows[j].is_driven) continue;
        report->external_work -= row->drive_work;
        row->drive_work = mass * (0.5 * (rate * rate - start * start) + report->h * balance * rate) + rest * rate;
        report->external_work += row->drive_work;
    }
}

void pcs_explicit_report_once(pcs_scheme *self, const pcs_state *x, pcs_instant at, double duration,
                              pcs_step_report *report)
{
    const pcs_explicit *s = self->data;
    double resultant[3];
    pcs_next_report_rows(self, x, &s->next, 0.5, report);
    pcs_system_resultant(self->system, at, resultant);
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] = duration * resultant[k];
    pcs_explicit_report_work(self, s, x, report);
}

pcs_status pcs_explicit_step_once(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    bool is_middle = self->rule.kind == PCS_RULE_MIDPOINT, is_central = self->rule.kind == PCS_RULE_CENTRAL;
    double *last_h = x->memory, duration = is_central ? 0.5 * (*last_h + h) : h;
    if (is_middle) pcs_begin_step(self, x, h, report);
    else PCS_TRY(pcs_explicit_begin(self, x, h, report));
    pcs_instant at = is_middle ? pcs_at(x->t + 0.5 * h, s->middle, x->v) : pcs_at(x->t, x->q, x->v);
    bool is_there = once_aim(self, x, h);
    report->outcome = is_there ? pcs_explicit_go_once(self, x, at, duration, report) : PCS_SINGULAR;
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, x, &s->next, report)) return PCS_OK;
    if (is_central) once_find_speeds(self, x);
    pcs_explicit_report_once(self, x, at, duration, report);
    if (is_central) once_book_drives(self, x, duration, report);
    pcs_next_accept(self, &s->next, x, report);
    if (is_central) *last_h = h;
    return PCS_OK;
}

pcs_status pcs_explicit_take_stages(pcs_scheme *self, const pcs_tableau *method)
{
    pcs_explicit *s = self->data;
    double **stages[] = { s->q, s->v, s->free, s->full };
    int count = method->s;
    s->method = method;
    for (int i = 0; i < 4 * count; i++)
        PCS_TAKE(self->ctx, stages[i / count][i % count], self->system->nv, "the stages");
    PCS_TAKE_EACH(self->ctx, self->system->nrow, "the stage forces", double, &s->force, &s->left);
    PCS_TAKE(self->ctx, s->force_t, self->system->ntangent, "the stage forces");
    return PCS_OK;
}

// Sets the mean velocity left to driven rows, before the first stage; gaps and directions are at the start.
static void stages_drive(pcs_scheme *self, const pcs_state *x, double h)
{
    pcs_explicit *s = self->data;
    const pcs_system *system = self->system;
    pcs_next *next = &s->next;
    if (system->row_set.ndriven == 0) return;
    pcs_next_find_drives(self, next, x->t, h);
    for (int j = 0; j < system->nrow; j++)
        s->left[j] = (next->drive_before[j] - next->drive[j] - next->gap[j]) / h -
                     s->method->b[0] * pcs_system_rate(system, j, x->v);
}

// Sets the targets of driven rows in stage l.
static void stages_aim(pcs_scheme *self, const pcs_state *x, double h, int l)
{
    pcs_explicit *s = self->data;
    pcs_system *system = self->system;
    const pcs_tableau *t = s->method;
    double *speed = s->next.speed_before, *target = s->next.target;
    if (system->row_set.ndriven == 0) return;
    if (l < t->s) pcs_system_drives(system, x->t + t->c[l] * h, s->force, speed); // positions are not used
    for (int j = 0; j < system->nrow; j++) {
        if (!system->rows[j].is_driven) continue;
        target[j] = l < t->s ? speed[j] : s->next.speed[j];
        if (l == t->s - 1) target[j] = -s->left[j] / t->b[l];
        if (l < t->s - 1) s->left[j] += t->b[l] * speed[j];
    }
}

// Solves the rows of stage l, imposed at q_l along the directions of the stage before; adds their forces to the
// acceleration of that, and their share to the step.
static pcs_outcome stages_hold(pcs_scheme *self, double h, int l, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    const pcs_tableau *t = s->method;
    int k = l - 1, nrow = self->system->nrow, ntangent = self->system->ntangent;
    double h_r = h * t->a[l][k], share = t->b[k] / t->a[l][k];
    bool has_gate = false;
    memcpy(s->next.gate, s->was_closed, (size_t)nrow);
    memset(s->force, 0, (size_t)nrow * sizeof(double));
    memset(s->force_t, 0, (size_t)ntangent * sizeof(double));
    for (int j = 0; j < nrow; j++) has_gate = has_gate || s->next.gate[j];
    if (pcs_rows_any(self->system, has_gate)) {
        pcs_projection_rotate(self->solver, s->q[l]);
        pcs_outcome outcome = pcs_explicit_contact(self, s, s->v[l], s->force, s->force_t, report);
        if (outcome != PCS_CONVERGED) return outcome;
    }
    memcpy(s->full[k], s->free[k], (size_t)self->system->nv * sizeof(double));
    pcs_projection_push(self->solver, 1.0 / h_r, s->force, s->force_t, s->full[k]);
    if (s->kick != NULL) pcs_projection_push(self->solver, share, s->force, s->force_t, s->kick);
    for (int j = 0; j < nrow; j++) s->stage[j] += share * s->force[j];
    for (int i = 0; i < ntangent; i++) s->stage_t[i] += share * s->force_t[i];
    return PCS_CONVERGED;
}

void pcs_explicit_add_stage(pcs_scheme *self, pcs_explicit *s, int k, double share, const double *force)
{
    for (int j = 0; j < self->system->nrow; j++) s->stage[j] += share * force[j];
    for (int i = 0; s->kick != NULL && i < self->system->nv; i++) s->kick[i] += share * (s->full[k][i] - s->free[k][i]);
}

// Computes the acceleration of stage k with the forces of contacts that press, and adds their share to the step.
static pcs_outcome stages_press(pcs_scheme *self, const pcs_state *x, double h, int k, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    for (int j = 0; j < self->system->nrow; j++) s->next.gate[j] = s->presses && s->was_closed[j];
    if (s->presses) pcs_explicit_release(self, s, x, s->v[k], s->free[k], h);
    pcs_outcome outcome = pcs_explicit_accelerate(self, s, k, s->force, report);
    for (int j = 0; j < (k == 0 ? self->system->nrow : 0); j++) s->is_pressed[j] = s->force[j] > 0.0;
    pcs_explicit_add_stage(self, s, k, h * s->method->b[k], s->force);
    return outcome;
}

pcs_outcome pcs_explicit_hit(pcs_scheme *self, const pcs_state *x, double h, const double *q, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    const pcs_tableau *t = s->method;
    pcs_stages_add((pcs_stages){ self->system->nv, t->s, t->b, s->free }, h, x->v, s->next.v);
    memcpy(s->next.gate, s->is_closed, (size_t)self->system->nrow);
    return pcs_projection_move(self->solver, q) ? pcs_explicit_impact(self, s, report) : PCS_SINGULAR;
}

pcs_outcome pcs_explicit_end(pcs_scheme *self, const pcs_state *x, double h, bool *is_impact, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    pcs_next *next = &s->next;
    *is_impact = pcs_explicit_arrive(self, s, next->q);
    bool is_apart = self->rule.impact == PCS_IMPACT_ALWAYS;
    if (!is_apart && *is_impact) return pcs_explicit_hit(self, x, h, next->q, report);
    if (!is_apart && self->rule.level == PCS_LEVEL_VELOCITY) {
        if (self->rule.kind != PCS_RULE_HEUN) pcs_projection_rotate(self->solver, next->q); // else it is at q already
        return pcs_explicit_impose(self, s, report);
    }
    if (!is_apart) {
        pcs_next_note_rates(self->system, next);
        memset(next->gate, 0, (size_t)self->system->nrow);
        return PCS_CONVERGED;
    }
    if (!pcs_projection_move(self->solver, next->q)) return PCS_SINGULAR;
    pcs_next_targets(self, next, next->v);
    for (int j = 0; j < self->system->nrow; j++)
        if (s->presses && s->was_closed[j]) next->target[j] = 0.0;
    return pcs_explicit_impose(self, s, report);
}

// Computes the position to which the first `count` stages lead with these weights.
static void stages_place(pcs_scheme *self, const pcs_state *x, double h, int count, const double *weight, double *q)
{
    pcs_explicit *s = self->data;
    pcs_stages_add((pcs_stages){ self->system->nv, count, weight, s->v }, h, x->q, q);
    pcs_next_retract(self, x, q);
}

// Computes stage l from those before it; the last one (l = s) gives the next state.
static pcs_outcome stages_advance(pcs_scheme *self, const pcs_state *x, double h, int l, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    const pcs_tableau *t = s->method;
    int k = l - 1, n = self->system->nv;
    bool is_last = l == t->s, has_forces = self->rule.level == PCS_LEVEL_ACCELERATION;
    const double *r = is_last ? t->b : t->a[l];
    pcs_outcome outcome = PCS_CONVERGED;
    if (k == 0 && x->nhistory > 0) memcpy(s->free[0], x->history[0], (size_t)n * sizeof(double));
    else if (!pcs_explicit_free(self, s, x->t + t->c[k] * h, k)) return PCS_SINGULAR;
    if (has_forces) outcome = stages_press(self, x, h, k, report);
    if (outcome != PCS_CONVERGED) return outcome;
    self->solver->t = x->t + (is_last ? 1.0 : t->c[l]) * h;
    stages_aim(self, x, h, l);
    stages_place(self, x, h, l, r, is_last ? s->next.q : s->q[l]);
    double *keep = s->full[k]; // at velocity level the row takes A_j of earlier stages and a of the last
    if (!has_forces) s->full[k] = s->free[k];
    pcs_stages_add((pcs_stages){ n, l, r, s->full }, h, x->v, is_last ? s->next.v : s->v[l]);
    s->full[k] = keep;
    if (!is_last && !has_forces) outcome = stages_hold(self, h, l, report);
    if (!is_last && t->has_places) stages_place(self, x, h, l + 1, t->p[l], s->q[l]);
    return outcome;
}

static void stages_report(pcs_scheme *self, const pcs_state *x, bool is_impact, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    const pcs_next *next = &s->next;
    const pcs_tableau *t = s->method;
    bool has_forces = self->rule.level == PCS_LEVEL_ACCELERATION;
    pcs_explicit_report_rows(self, s, x, has_forces ? report->h : report->h * t->b[t->s - 1], is_impact, report);
    if (has_forces && !is_impact)
        for (int j = 0; j < self->system->nrow; j++) report->rows[j].force = report->rows[j].step_impulse / report->h;
    if (!has_forces && !is_impact && pcs_rows_rotate(self->system)) { // the last impulses act along the last stage
        pcs_projection_push(self->solver, 1.0, next->la, next->la_t, s->kick);
        pcs_add_row_momentum(self->system, -1.0, next->la, next->la_t, report->smooth_impulse);
    }
    pcs_explicit_weigh(self, x, !has_forces, report);
}

void pcs_explicit_advance(pcs_scheme *self, const pcs_state *x, bool *is_impact, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    size_t bytes = (size_t)self->system->nv * sizeof(double);
    double h = report->h;
    memcpy(s->q[0], x->q, bytes);
    memcpy(s->v[0], x->v, bytes);
    (void)pcs_next_find_closed(self, &s->next, NULL, 0.0, x->q, s->was_closed);
    memset(s->is_pressed, 0, (size_t)self->system->nrow);
    stages_drive(self, x, h);
    for (int l = 1; l <= s->method->s && report->outcome == PCS_CONVERGED; l++)
        report->outcome = stages_advance(self, x, h, l, report);
    if (report->outcome == PCS_CONVERGED) report->outcome = pcs_explicit_end(self, x, h, is_impact, report);
    if (report->outcome == PCS_CONVERGED) (void)pcs_next_measure(self, x, &s->next, report);
}

pcs_status pcs_explicit_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    bool is_impact = false;
    PCS_TRY(pcs_explicit_begin(self, x, h, report));
    pcs_explicit_advance(self, x, &is_impact, report);
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    stages_report(self, x, is_impact, report);
    pcs_next_accept(self, &s->next, x, report);
    return PCS_OK;
}
