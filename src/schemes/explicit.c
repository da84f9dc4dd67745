#include "schemes/explicit.h"

#include "core/loop.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

pcs_status pcs_explicit_setup(pcs_scheme *self)
{
    pcs_explicit *s = self->data;
    const pcs_system *system = self->system;
    PCS_TRY(pcs_next_create(self, &s->next));
    s->problem = pcs_next_problem(self, &s->next, NULL, 0.0);
    PCS_TAKE(self->ctx, s->stage, system->nrow, "the stage impulses");
    PCS_TAKE(self->ctx, s->stage_t, system->ntangent, "the stage impulses");
    PCS_TAKE(self->ctx, s->was_closed, system->nrow, "the stage contacts");
    PCS_TAKE(self->ctx, s->is_pressed, system->nrow, "the stage contacts");
    if (!system->is_linear) PCS_TAKE(self->ctx, s->kick, system->nv, "the stage impulses");
    // Contact problems see M alone; a form with h = 1 serves steps of any size.
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

int pcs_explicit_find_closed(pcs_scheme *self, pcs_explicit *s, const double *q, unsigned char *is_closed)
{
    int count = 0;
    const pcs_system *system = self->system;
    pcs_system_gaps(self->system, pcs_at(self->solver->t, q, NULL), s->next.gap);
    for (int j = 0; j < system->nrow; j++) {
        double closed = s->gap_tolerance + pcs_gap_tie(system, j, q);
        is_closed[j] = system->rows[j].is_bilateral || s->next.gap[j] <= closed;
        count += is_closed[j];
    }
    return (int)pcs_rows_max(system, count);
}

bool pcs_explicit_has_closed(const pcs_scheme *self, const pcs_explicit *s, const unsigned char *now)
{
    bool has_closed = false;
    for (int j = 0; j < self->system->nrow; j++) has_closed = has_closed || (now[j] && !s->was_closed[j]);
    return pcs_rows_any(self->system, has_closed);
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

// Clears the stored impulses if there are forces, too: neither is an initial guess, or a scale of zero, for the other.
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
    for (int j = 0; j < self->system->nrow; j++) {
        next->rate_before[j] = pcs_system_rate(self->system, j, next->v);
        has_gate = has_gate || next->gate[j] || self->system->rows[j].is_bilateral;
    }
    if (!pcs_rows_any(self->system, has_gate)) return PCS_CONVERGED;
    return pcs_explicit_contact(self, s, next->v, next->la, next->la_t, report);
}

void pcs_explicit_leave(pcs_scheme *self, pcs_explicit *s)
{
    for (int j = 0; j < self->system->nrow; j++) {
        s->next.rate_before[j] = pcs_system_rate(self->system, j, s->next.v);
        s->next.gate[j] = 0;
    }
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

pcs_outcome pcs_explicit_acceleration(pcs_scheme *self, pcs_explicit *s, pcs_stage at, pcs_step_report *report)
{
    pcs_system *system = self->system;
    bool has_gate = false;
    memcpy(at.a, at.free, (size_t)system->nv * sizeof *at.a);
    for (int j = 0; j < system->nrow; j++) {
        at.force[j] = s->next.target[j] = 0.0;
        has_gate = has_gate || s->next.gate[j];
    }
    if (!pcs_rows_any(system, has_gate)) return PCS_CONVERGED;
    if (pcs_system_has_bias(system)) pcs_system_rate_bias(system, pcs_at(self->solver->t, at.q, at.v), s->next.target);
    return explicit_solve(self, s, at.a, at.force, s->next.la_t, report);
}

const char *pcs_refuse_friction(const pcs_system *system, const void *params)
{
    (void)params;
    if (pcs_system_ntangent(system) == 0) return NULL;
    return "it states contact on acceleration level, without friction; set friction to 0 or use half_explicit";
}

// Computes the velocity jump of an impact with friction into next.d, which explicit schemes do not use otherwise.
static void explicit_find_jump(pcs_scheme *self, pcs_explicit *s, bool is_impact)
{
    if (!is_impact || pcs_system_ntangent(self->system) == 0) return;
    memset(s->next.d, 0, (size_t)self->system->nv * sizeof *s->next.d);
    pcs_projection_push(self->solver, 1.0, s->next.la, s->next.la_t, s->next.d);
}

// Reports the tangential impulses of a row with their loss: over a smooth step with the mean of T v at both ends, in an
// impact (v_start NULL) with the mean of T v before, which is that after minus the jump, and after.
static void explicit_report_tangents(pcs_scheme *self, pcs_explicit *s, int j, const double *v_start, const double *v,
                                     pcs_step_report *report)
{
    pcs_row_report *row = &report->rows[j];
    const pcs_system *system = self->system;
    const pcs_next *next = &s->next;
    for (int t = 0; t < system->rows[j].ntangent; t++) {
        int k = system->rows[j].first_tangent + t;
        row->last_tangent[t] = next->la_t[k];
        row->tangent[t] = s->stage_t[k] + next->la_t[k];
        row->slip[t] = pcs_rows_dot(system->T, k, v);
        if (row->tangent[t] == 0.0) continue;
        double jump =
            v_start == NULL ? pcs_rows_dot(system->T, k, next->d) : row->slip[t] - pcs_rows_dot(system->T, k, v_start);
        row->friction_loss -= row->tangent[t] * (row->slip[t] - 0.5 * jump);
    }
    report->friction_loss += row->friction_loss;
}

// Books the loss of a row in an impact, with the mean of the rates before and after it, and the work that drives a row.
// In an impact it keeps its speed. Otherwise the part m (r - r_n) of its impulse P, which changes the rate from r_n to
// r, works at their mean, and the rest, which balances forces, along u h: P u - m (r - r_n) (u - (r_n + r)/2).
static void explicit_book(pcs_scheme *self, const pcs_explicit *s, const pcs_state *x, int j, bool is_impact,
                          pcs_step_report *report)
{
    const pcs_system *system = self->system;
    pcs_row_report *row = &report->rows[j];
    const pcs_next *next = &s->next;
    bool is_driven = system->rows[j].is_driven;
    double speed = is_driven ? next->speed[j] : 0.0;
    if (is_impact) row->normal_loss = -row->multiplier * (0.5 * (row->rate_before + row->rate) + speed);
    row->drive_work = -row->step_impulse * speed;
    if (is_driven && !is_impact) {
        double u = (next->way_before[j] - next->way[j]) / report->h, start = pcs_system_rate(system, j, x->v);
        double carried = self->solver->effective_mass[j] * (row->rate - start);
        row->drive_work = row->step_impulse * u - carried * (u - 0.5 * (start + row->rate));
    }
    report->impact_loss += row->normal_loss;
    report->external_work += row->drive_work;
}

static void explicit_report_start_impact(pcs_scheme *self, pcs_explicit *s, pcs_state *x, pcs_step_report *report)
{
    const pcs_system *system = self->system;
    system->ops->measure(system, pcs_at(x->t, x->q, x->v), PCS_ENERGY, &report->measure);
    explicit_find_jump(self, s, true);
    for (int j = 0; j < system->nrow; j++) {
        pcs_row_report *row = &report->rows[j];
        row->rate = pcs_system_rate(system, j, x->v);
        row->target = s->next.target[j];
        row->is_gated = s->next.gate[j] != 0;
        row->multiplier = row->impulse = row->step_impulse = s->next.la[j];
        row->is_impact = row->impulse > 0.0 && !system->rows[j].is_bilateral;
        x->was_loaded[j] = row->is_impact;
        explicit_book(self, s, x, j, true, report);
        explicit_report_tangents(self, s, j, NULL, x->v, report);
    }
    pcs_report_join(system, report);
}

// Returns true if a row approaches by more than the round-off of its rate: opposite contacts at rest must not both do.
static bool explicit_approaches(const pcs_system *system, int row, const double *v, double rate)
{
    const pcs_rows *G = system->G;
    int first = G->start[row], count = G->start[row + 1] - first;
    return rate < -64.0 * pcs_rounding_of_sum(count, G->value + first, G->column + first, v);
}

pcs_status pcs_explicit_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    const pcs_system *system = self->system;
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_start_report(self, x, &s->next, report);
    pcs_explicit_clear(self, s);
    s->leaves_velocity = false;
    pcs_next_targets(self, &s->next, x->v);
    pcs_next_drive(self, &s->next);
    bool has_impact = false;
    (void)pcs_explicit_find_closed(self, s, x->q, s->next.gate);
    for (int j = 0; j < system->nrow; j++)
        if (s->next.gate[j] && !system->rows[j].is_driven)
            has_impact = has_impact || explicit_approaches(system, j, x->v, report->rows[j].rate);
    if (pcs_rows_any(system, has_impact)) {
        for (int i = 0; i < system->nv; i++) s->next.q[i] = x->q[i];
        report->outcome = pcs_explicit_contact(self, s, x->v, s->next.la, s->next.la_t, report);
        if (report->outcome != PCS_CONVERGED) return PCS_OK;
        explicit_report_start_impact(self, s, x, report);
    }
    pcs_memory_copy(self->solver->nmemory, self->solver->memory, x->carried);
    return PCS_OK;
}

pcs_status pcs_explicit_start_plainly(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    PCS_TRY(pcs_explicit_return(self, x));
    pcs_start_report(self, x, &s->next, report);
    return PCS_OK;
}

pcs_status pcs_explicit_return(pcs_scheme *self, const pcs_state *x)
{
    if (pcs_projection_move(self->solver, x->q)) return PCS_OK;
    return pcs_fail(self->ctx, PCS_FAILED, "the mass is singular at t = %.9g s", x->t);
}

void pcs_explicit_report_rows(pcs_scheme *self, pcs_explicit *s, const pcs_state *x, double duration, bool is_impact,
                              pcs_step_report *report)
{
    const pcs_system *system = self->system;
    const pcs_next *next = &s->next;
    explicit_find_jump(self, s, is_impact);
    for (int j = 0; j < system->nrow; j++) {
        double la = next->la[j];
        pcs_row_report *row = &report->rows[j];
        pcs_next_tell(system, next, j, row);
        row->step_impulse = pcs_system_carry(system, j, x->q, next->q, s->stage[j]) + la;
        row->force = is_impact ? 0.0 : la / duration;
        row->impulse = is_impact ? la : 0.0;
        row->is_closed = row->is_gated;
        row->is_impact = is_impact && next->gate[j] && !s->was_closed[j];
        explicit_book(self, s, x, j, is_impact, report);
        explicit_report_tangents(self, s, j, is_impact ? NULL : x->v, next->v, report);
    }
    pcs_report_join(system, report);
}

void pcs_explicit_add_turned_momentum(const pcs_scheme *self, const pcs_explicit *s, double sum[3])
{
    pcs_measure pushed;
    if (!pcs_rows_turn(self->system) || s->kick == NULL) return;
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

void pcs_explicit_report_stage(pcs_scheme *self, const pcs_state *x, pcs_instant at, double duration,
                               pcs_step_report *report)
{
    const pcs_explicit *s = self->data;
    double resultant[3];
    pcs_next_report_rows(self, x, &s->next, 0.5, report);
    pcs_system_resultant(self->system, at, resultant);
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] = duration * resultant[k];
    pcs_explicit_report_work(self, s, x, report);
}

pcs_status pcs_midpoint_setup(pcs_scheme *self)
{
    pcs_explicit *s = self->data;
    s->gap_tolerance = self->rule.gate_tolerance;
    PCS_TAKE(self->ctx, s->middle, self->system->nv, "the middle of the step");
    return pcs_explicit_setup(self);
}

bool pcs_midpoint_predict(pcs_scheme *self, const pcs_state *x, double h)
{
    pcs_explicit *s = self->data;
    pcs_next *next = &s->next;
    pcs_system *system = self->system;
    const double *q = x->q, *v = x->v;
    double *middle = s->middle;
    PCS_INDEPENDENT
    for (int i = 0; i < system->nv; i++) middle[i] = q[i] + 0.5 * h * v[i];
    pcs_explicit_clear(self, s);
    pcs_system_gaps(system, pcs_at(self->solver->t, middle, NULL), next->gap);
    if (!pcs_projection_move(self->solver, middle)) return false;
    for (int j = 0; j < system->nrow; j++) {
        double closed = s->gap_tolerance + pcs_gap_tie(system, j, middle);
        next->gate[j] = system->rows[j].is_bilateral || next->gap[j] <= closed;
    }
    pcs_next_targets(self, next, x->v);
    return true;
}

pcs_outcome pcs_midpoint_velocity(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    pcs_explicit *s = self->data;
    pcs_next *next = &s->next;
    int n = self->system->nv;
    const double *q = x->q, *v = x->v, *a = next->a;
    double *q_new = next->q, *v_new = next->v;
    pcs_free_acceleration(self, x->t + 0.5 * h, s->middle, x->v, next->a);
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) v_new[i] = v[i] + h * a[i];
    pcs_outcome outcome = pcs_explicit_impose(self, s, report);
    if (outcome != PCS_CONVERGED) return outcome;
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) q_new[i] = q[i] + 0.5 * h * (v[i] + v_new[i]);
    return PCS_CONVERGED;
}
