// Allocates the next state and fills the report of a step, for all schemes.

#include "schemes/common.h"

#include "core/dense.h"
#include "step/projection.h"

#include <math.h>

pcs_status pcs_next_create(pcs_scheme *self, pcs_next *next)
{
    int n = self->system->nv, m = self->system->nrow;
    PCS_TAKE_EACH(self->ctx, n, "the next state", double, &next->q, &next->v, &next->a, &next->d);
    if (pcs_system_is_damped(self->system) || self->system->is_linear)
        PCS_TAKE(self->ctx, next->mean, n, "the next state");
    PCS_TAKE_EACH(self->ctx, m, "the next contact state", double, &next->target, &next->gap, &next->nu, &next->la,
                  &next->rate_before, &next->lam, &next->speed, &next->speed_before, &next->drive, &next->drive_before,
                  &next->bias);
    pcs_held_rows *joints = &next->joints;
    PCS_TAKE(self->ctx, joints->row, m, "the next contact state");
    for (int j = 0; j < m; j++)
        if (self->system->rows[j].is_bilateral) joints->row[joints->nown++] = j;
    joints->n = joints->nown;
    if (pcs_rows_are_distributed(self->system))
        PCS_TRY(pcs_process_begin(self->ctx, joints->nown, &joints->first, &joints->n));
    PCS_TAKE(self->ctx, joints->A, (size_t)joints->n * (size_t)joints->n, "the next contact state");
    PCS_TAKE(self->ctx, joints->b, joints->n, "the next contact state");
    PCS_TAKE_EACH(self->ctx, self->system->ntangent, "the next contact state", double, &next->target_t, &next->la_t,
                  &next->slip_before);
    PCS_TAKE(self->ctx, next->gate, m, "the next contact state");
    next->pool = pcs_context_pool(self->ctx);
    next->nsum = n / PCS_SHORTEST_SLICE + 1;
    if (self->system->slices != NULL) PCS_TAKE(self->ctx, next->sums, next->nsum, "sums of slices");
    return PCS_OK;
}

pcs_step_problem pcs_next_problem(const pcs_scheme *self, pcs_next *next, const pcs_state *x, double t)
{
    bool adds_up = x == NULL || !self->system->rotations.are_somewhere;
    return (pcs_step_problem){ .t = t,
                               .q = next->q,
                               .v = next->v,
                               .base = adds_up ? NULL : x->q,
                               .q_start = x == NULL ? NULL : x->q,
                               .v_start = x == NULL ? NULL : x->v,
                               .q_before = x == NULL ? NULL : x->q,
                               .was_loaded = x == NULL ? NULL : x->was_loaded,
                               .d = next->d,
                               .target = next->target,
                               .gate = next->gate,
                               .held = next->held,
                               .drift = next->drift,
                               .nu_t = next->nu_t,
                               .nu = next->nu,
                               .la = next->la,
                               .target_t = next->target_t,
                               .la_t = next->la_t,
                               .lam = next->lam,
                               .rate_before = next->rate_before };
}

void pcs_next_retract(const pcs_scheme *self, const pcs_state *x, double *q)
{
    const pcs_system *system = self->system;
    if (!system->rotations.are_somewhere) return;
    for (int i = 0; i < system->nq; i++) q[i] -= x->q[i];
    pcs_retract(&system->rotations, x->q, q, q);
}

const char *pcs_scheme_refuses(const pcs_scheme_ops *ops, const pcs_system *system, const void *params)
{
    if (system->rotations.are_somewhere && !(ops->takes & PCS_TAKES_ROTATIONS))
        return "it cannot advance finite rotations in space; alpha_ggl, alpha_velocity, newmark, hht, moreau_jean, "
               "moreau_jean_explicit and half_explicit can";
    if (system->has_materials && !(ops->takes & PCS_TAKES_MATERIALS))
        return "it does not take materials with internal variables; newmark, hht, alpha_ggl, alpha_velocity, "
               "moreau_jean, moreau_jean_explicit, moreau_midpoint, half_explicit, half_explicit_rk, "
               "half_explicit_acceleration, jump_newmark and schatzman_paoli do";
    return ops->refuses == NULL ? NULL : ops->refuses(system, params);
}

const char *pcs_refuse_accelerations(const pcs_system *system, const void *params)
{
    (void)params;
    if (system->row_set.ndriven > 0)
        return "its joints impose the acceleration of a prescribed motion only, and would miss a jump of its velocity; "
               "half_explicit and half_explicit_rk follow such motions";
    if (pcs_system_ntangent(system) == 0) return NULL;
    return "it states contact on acceleration level, without friction; set friction to 0 or use half_explicit";
}

pcs_status pcs_scheme_weigh(const pcs_scheme_ops *ops, pcs_system *system, double h)
{
    if (ops->rule.kind != PCS_RULE_WAVE || system->K == NULL) return PCS_OK;
    PCS_TRY(pcs_matrix_create(system->ctx, system->M->pattern, &system->inertia));
    pcs_matrix_combine(system->inertia, (const double[3]){ 1.0, 0.0, 0.25 * h * h }, system->M, NULL, system->K);
    return PCS_OK;
}

pcs_status pcs_scheme_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    pcs_system *system = self->system;
    PCS_TRY(self->ops->start(self, x, report));
    if (system->ncompliant == 0) return PCS_OK;
    for (int j = system->nrow; j < pcs_system_npoint(system); j++) report->rows[j] = (pcs_row_report){ 0 };
    pcs_system_press(system, pcs_at(self->solver->t, x->q, x->v), report->rows);
    return PCS_OK;
}

// Adds half a step of the forces at one end of it: the trapezoidal rule.
static void scheme_take_press(const pcs_system *system, double h, pcs_step_report *report)
{
    for (int j = system->nrow; j < pcs_system_npoint(system); j++) {
        pcs_row_report *row = &report->rows[j];
        row->step_impulse += 0.5 * h * row->force;
        for (int t = 0; t < 2; t++) row->tangent[t] += 0.5 * h * row->last_tangent[t];
    }
}

// Completes reports of compliant points: multiplies forces at the end of the step by h, N s, and adds friction losses.
static void scheme_end_press(const pcs_system *system, double h, pcs_step_report *report)
{
    double here = 0.0, *loss = pcs_rows_are_distributed(system) ? &here : &report->friction_loss;
    for (int j = system->nrow; j < pcs_system_npoint(system); j++) {
        pcs_row_report *row = &report->rows[j];
        row->multiplier *= h;
        for (int t = 0; t < 2; t++) row->last_tangent[t] *= h;
        row->is_impact = row->is_impact && row->is_closed;
        *loss += row->friction_loss;
    }
    pcs_rows_sum(system, 1, &here);
    report->friction_loss += here;
}

pcs_status pcs_scheme_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    pcs_system *system = self->system;
    int first = system->nrow, end = pcs_system_npoint(system);
    if (pcs_system_ncompliant(system) == 0) return self->ops->step(self, x, h, report);
    for (int j = first; j < end; j++) report->rows[j] = (pcs_row_report){ 0 };
    pcs_system_press(system, pcs_at(self->solver->t, x->q, x->v), report->rows);
    for (int j = first; j < end; j++) report->rows[j].is_impact = !report->rows[j].is_closed;
    scheme_take_press(system, h, report);
    PCS_TRY(self->ops->step(self, x, h, report));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    pcs_system_press(system, pcs_at(self->solver->t, x->q, x->v), report->rows);
    scheme_take_press(system, h, report);
    scheme_end_press(system, h, report);
    return PCS_OK;
}

static void scheme_swap(double **a, double **b)
{
    double *keep = *a;
    *a = *b;
    *b = keep;
}

void pcs_next_accept(const pcs_scheme *self, pcs_next *next, pcs_state *x, const pcs_step_report *report)
{
    scheme_swap(&x->q, &next->q);
    scheme_swap(&x->v, &next->v);
    for (int j = 0; j < self->system->nrow; j++) {
        const pcs_row_report *row = &report->rows[j];
        x->was_loaded[j] = row->step_impulse > 0.0;
        if (x->was_loaded[j]) x->recent[j] = PCS_RECENT;
        else x->recent[j] = pcs_max(x->recent[j] - 1.0, 0.0);
        x->impulse[j] = row->step_impulse;
        if (!self->system->rows[j].is_bilateral) // a joint may hold an angle, which has another unit
            x->largest_rate = pcs_max(x->largest_rate, pcs_max(fabs(row->rate), fabs(row->rate_before)));
    }
    x->largest_rate = pcs_rows_max(self->system, x->largest_rate);
    pcs_memory_copy(self->solver->nmemory, self->solver->memory, x->solver_memory);
    x->t += report->h;
    x->step++;
}

void pcs_next_await_sums(const pcs_scheme *self, pcs_next *next, const pcs_state *x, bool has_change)
{
    next->ends = (pcs_ends){ 0 };
    next->takes_sums = false;
    if (self->system->slices == NULL || next->sums == NULL) return;
    bool is_short = self->system->nv < PCS_SHORTEST_SLICE; // fits into the cache: nothing to gain from slices
    if (is_short && !has_change) return;
    next->ends = (pcs_ends){ .q = next->q, .v = next->v };
    next->takes_sums = !is_short;
    if (next->takes_sums)
        for (int k = 0; k < next->nsum; k++) next->sums[k].high = 0;
    if (!has_change) return;
    next->ends.q0 = x->q;
    next->ends.v0 = x->v;
}

void pcs_next_sum(const pcs_scheme *self, const pcs_next *next, int slice, int low, int high)
{
    pcs_slice_sums *sums = &next->sums[slice];
    if (!next->takes_sums) return;
    if (sums->high != low || low == 0) *sums = (pcs_slice_sums){ .low = low, .high = low };
    self->system->slices->sum(self->system, &next->ends, high, sums);
}

double pcs_damping_work(const pcs_scheme *self, const pcs_next *next, const pcs_ends *ends, double h, double weight)
{
    const pcs_system *system = self->system;
    double *mean = next->mean;
    if (!pcs_system_is_damped(system) || system->C->is_lossless) return 0.0;
    pcs_difference(&system->rotations, ends->q0, ends->q, mean);
    for (int i = 0; i < system->nv; i++) mean[i] /= h;
    return h * ((1.0 - weight) * pcs_system_damping_power(system, pcs_at(self->solver->t, ends->q0, ends->v0), mean) +
                weight * pcs_system_damping_power(system, pcs_at(self->solver->t, ends->q, ends->v), mean));
}

// Checks energies for NaN, as every entry of the state enters them.
bool pcs_next_measure(const pcs_scheme *self, const pcs_state *x, pcs_next *next, pcs_step_report *report)
{
    const pcs_system *system = self->system;
    pcs_measure *m = &report->measure;
    if (next->ends.q != NULL) {
        pcs_slice_sums whole = { 0 };
        const pcs_slice_sums *sums = next->takes_sums ? next->sums : &whole;
        int count = 1;
        if (!next->takes_sums) system->slices->sum(system, &next->ends, system->nv, &whole);
        while (sums[count - 1].high < system->nv) count++;
        system->slices->measure(system, &next->ends, count, sums, m, &next->change);
    } else {
        system->ops->measure(system, pcs_at(x->t + report->h, next->q, next->v), PCS_ENERGY, m);
    }
    if (isfinite(pcs_measure_energy(m))) return true;
    report->outcome = PCS_NOT_FINITE;
    // Returns the first entry that is not finite; if only the energy overflows, the fastest one.
    for (int i = 0; i < self->system->nv; i++) {
        bool is_finite = isfinite(next->q[i]) && isfinite(next->v[i]);
        if (report->bad_equation < 0 || !is_finite || fabs(next->v[i]) > fabs(next->v[report->bad_equation]))
            report->bad_equation = i;
        if (!is_finite) break;
    }
    return false;
}

static void scheme_clear_report(pcs_step_report *report, double h)
{
    pcs_row_report *rows = report->rows;
    *report = (pcs_step_report){ 0 };
    report->h = h;
    report->bad_equation = -1;
    report->rows = rows;
}

void pcs_begin_step(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    scheme_clear_report(report, h);
    pcs_memory_copy(self->solver->nmemory, x->solver_memory, self->solver->memory);
}

void pcs_join_reports(const pcs_system *system, const pcs_step_report *first, int npoint, const double *q1,
                      const double *q, pcs_step_report *report)
{
    double h = first->h + report->h;
    report->external_work += first->external_work;
    report->damping_loss += first->damping_loss;
    report->material_loss += first->material_loss;
    report->impact_loss += first->impact_loss;
    report->friction_loss += first->friction_loss;
    report->correction_work += first->correction_work;
    report->numerical_loss += first->numerical_loss;
    report->iterations += first->iterations;
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] += first->smooth_impulse[k];
    for (int j = 0; j < npoint; j++) {
        pcs_row_report *row = &report->rows[j];
        const pcs_row_report *before = &first->rows[j];
        double sense = j < system->nrow ? pcs_system_transport(system, j, q1, q, 1.0) : 1.0;
        row->force = (row->force * report->h + sense * before->force * first->h) / h;
        row->step_impulse += sense * before->step_impulse;
        row->impulse += sense * before->impulse;
        row->is_impact = row->is_impact || before->is_impact;
        row->normal_loss += before->normal_loss;
        row->friction_loss += before->friction_loss;
        row->drive_work += before->drive_work;
        for (int t = 0; t < 2; t++) row->tangent[t] += before->tangent[t];
    }
    report->h = h;
    report->is_joined = true;
}

// Adds the last friction of a row to its report with the loss, -Lt . ((1 - theta) T v0 + theta T v), the mean of the
// scheme's balance; T v0 is next->slip_before where v0 is NULL.
static void scheme_report_tangents(const pcs_system *system, int j, const double *v0, const pcs_next *next,
                                   double theta, pcs_step_report *report)
{
    pcs_row_report *row = &report->rows[j];
    for (int t = 0; t < system->rows[j].ntangent; t++) {
        int k = system->rows[j].first_tangent + t;
        double impulse = row->last_tangent[t] = next->la_t[k];
        row->slip[t] = pcs_rows_dot(system->T, k, next->v);
        row->tangent[t] += impulse;
        if (impulse == 0.0) continue;
        double before = v0 == NULL ? next->slip_before[k] : pcs_rows_dot(system->T, k, v0);
        double loss = -impulse * ((1.0 - theta) * before + theta * row->slip[t]);
        row->friction_loss += loss;
        report->friction_loss += loss;
    }
}

void pcs_report_join(const pcs_system *system, pcs_step_report *report)
{
    double joints = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        if (!system->rows[j].is_bilateral) continue;
        joints += report->rows[j].normal_loss;
        report->rows[j].normal_loss = 0.0;
    }
    double losses[] = { report->impact_loss - joints, report->friction_loss, joints };
    pcs_rows_sum(system, 3, losses); // rows distributed over processes have no drives
    report->impact_loss = losses[0];
    report->friction_loss = losses[1];
    report->numerical_loss += losses[2];
}

void pcs_next_report_rows(const pcs_scheme *self, const pcs_state *x, const pcs_next *next, double theta,
                          pcs_step_report *report)
{
    pcs_system *system = self->system;
    self->solver->t = x->t + report->h;
    pcs_system_gaps(system, pcs_at(self->solver->t, next->q, NULL), next->gap);
    report->impact_loss = report->friction_loss = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        pcs_row_report *row = &report->rows[j];
        double la = next->la[j], speed = 0.0;
        if (system->row_set.ndriven > 0) speed = (1.0 - theta) * next->speed_before[j] + theta * next->speed[j];
        pcs_next_report(system, next, j, row);
        row->nu = next->nu[j];
        for (int t = 0; t < (next->held == NULL ? 0 : system->rows[j].ntangent); t++)
            row->nu_t[t] = next->nu_t[system->rows[j].first_tangent + t];
        row->step_impulse = la;
        row->force = la / report->h;
        row->is_impact = la > 0.0 && !x->was_loaded[j] && !system->rows[j].is_bilateral;
        row->impulse = row->is_impact ? la : 0.0;
        row->is_closed = la > 0.0 || row->gap <= 0.0 || row->gap <= pcs_gap_tie(system, j, next->q);
        if (la != 0.0)
            row->normal_loss = -la * ((1.0 - theta) * pcs_system_rate(system, j, x->v) + theta * row->rate + speed);
        row->drive_work = -la * speed;
        report->impact_loss += row->normal_loss;
        report->external_work += row->drive_work;
        scheme_report_tangents(system, j, x->v, next, theta, report);
    }
    pcs_report_join(system, report);
}

// Returns the round-off, m, of a gap that an impulse holds after a step of h: its rate vanishes only to round-off of
// the velocity that the last impulse gave. Without this allowance, round-off opens a lasting contact of a stiff body.
static double scheme_impulse_tie(const pcs_scheme *self, const pcs_state *x, int row, double h)
{
    return PCS_ROUND_LENGTH * h * fabs(x->impulse[row]) / self->solver->effective_mass[row];
}

int pcs_next_find_closed(const pcs_scheme *self, pcs_next *next, const pcs_state *x, double h, const double *q,
                         unsigned char *is_closed)
{
    pcs_system *system = self->system;
    int count = 0;
    pcs_system_gaps(system, pcs_at(self->solver->t, q, NULL), next->gap);
    for (int j = 0; j < system->nrow; j++) {
        double tie = next->gap_tolerance + pcs_gap_tie(system, j, q);
        if (x != NULL) tie += scheme_impulse_tie(self, x, j, h);
        is_closed[j] = system->rows[j].is_bilateral || next->gap[j] <= tie;
        count += is_closed[j];
    }
    return (int)pcs_rows_max(system, count);
}

bool pcs_next_arrive(const pcs_scheme *self, pcs_next *next, const pcs_state *x, double h, const double *q,
                     const unsigned char *was_closed)
{
    bool has_closed = false;
    (void)pcs_next_find_closed(self, next, x, h, q, next->gate);
    for (int j = 0; j < self->system->nrow; j++) has_closed = has_closed || (next->gate[j] && !was_closed[j]);
    return pcs_rows_any(self->system, has_closed);
}

void pcs_next_report_impact(const pcs_scheme *self, const pcs_next *next, const unsigned char *was_closed,
                            pcs_step_report *report)
{
    const pcs_system *system = self->system;
    double smooth = report->friction_loss; // of all processes
    report->friction_loss = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        pcs_row_report *row = &report->rows[j];
        double la = next->la[j], speed = system->rows[j].is_driven ? next->speed[j] : 0.0;
        row->rate = pcs_system_rate(system, j, next->v);
        row->rate_before = next->rate_before[j];
        row->target = next->target[j];
        row->multiplier = row->impulse = la;
        row->step_impulse += la;
        row->is_gated = next->gate[j] != 0;
        row->is_closed = row->is_closed || row->is_gated;
        bool was_open = was_closed == NULL ? la > 0.0 : !was_closed[j];
        row->is_impact = row->is_gated && was_open && !system->rows[j].is_bilateral;
        row->normal_loss = -la * (0.5 * (row->rate_before + row->rate) + speed);
        row->drive_work -= la * speed;
        report->impact_loss += row->normal_loss;
        report->external_work -= la * speed;
        scheme_report_tangents(system, j, NULL, next, 0.5, report);
    }
    pcs_report_join(system, report);
    report->friction_loss += smooth;
}

void pcs_next_targets(const pcs_scheme *self, pcs_next *next, const double *v)
{
    const pcs_system *system = self->system;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row *row = &system->rows[j];
        double rate = pcs_system_rate(system, j, v);
        next->target[j] = pcs_restitution(row, rate) * rate;
        for (int t = row->first_tangent; t < row->first_tangent + row->ntangent; t++)
            next->target_t[t] = row->tangent_restitution * pcs_rows_dot(system->T, t, v);
    }
}

void pcs_next_find_drives(const pcs_scheme *self, pcs_next *next, double t, double h)
{
    pcs_system *system = self->system;
    if (system->row_set.ndriven == 0) return;
    pcs_system_drives(system, t, next->drive_before, next->speed_before);
    pcs_system_drives(system, t + h, next->drive, next->speed);
}

void pcs_next_drive(const pcs_scheme *self, pcs_next *next)
{
    if (self->system->row_set.ndriven == 0) return;
    for (int j = 0; j < self->system->nrow; j++) next->target[j] += next->speed[j];
}

void pcs_next_follow_drives(const pcs_scheme *self, pcs_next *next, const pcs_state *x, double h, double m)
{
    const pcs_system *system = self->system;
    double whole = fmax(h, self->step); // a shortened step corrects only its share of the error
    if (system->row_set.ndriven == 0) return;
    pcs_next_find_drives(self, next, x->t, h);
    for (int j = 0; j < system->nrow; j++) {
        if (!system->rows[j].is_driven) continue;
        double rate = pcs_system_rate(system, j, x->v), gap_error = rate + next->speed_before[j];
        next->speed[j] += 0.25 * (next->gap[j] / whole - m * gap_error);
        next->speed_before[j] = -rate;
    }
}

void pcs_next_foresee(pcs_scheme *self, pcs_next *next, const pcs_state *x, double h, double m)
{
    pcs_system *system = self->system;
    self->solver->t = x->t;
    pcs_projection_rotate(self->solver, x->q);
    pcs_system_gaps(system, pcs_at(self->solver->t, x->q, NULL), next->gap);
    for (int j = 0; j < system->nrow; j++) {
        double gap = next->gap[j] + 0.5 * h * pcs_system_rate(system, j, x->v);
        double tie = pcs_gap_tie_ahead(system, j, x->q, x->v, 0.5 * h) + scheme_impulse_tie(self, x, j, h);
        next->gate[j] = gap <= 0.0 || gap <= tie;
    }
    pcs_next_targets(self, next, x->v);
    if (system->row_set.ndriven == 0) return;
    pcs_next_follow_drives(self, next, x, h, m);
    pcs_next_drive(self, next);
}

void pcs_free_acceleration(pcs_scheme *self, double t, const double *q, const double *v, double *a)
{
    self->system->ops->force(self->system, pcs_at(t, q, v), a);
    pcs_linsolve_solve(self->solver->mass, a);
}

void pcs_scheme_accelerate(pcs_scheme *self, const pcs_state *x, double *a)
{
    pcs_state_complete(self, x);
    pcs_free_acceleration(self, x->t, x->q, x->v, a);
}

// Returns M^-1 G^T of row k of all processes; for a row of another process it is a collective solve.
static const double *scheme_column(const pcs_scheme *self, const pcs_held_rows *rows, int k)
{
    int here = k - rows->first;
    return pcs_projection_column(self->solver, here >= 0 && here < rows->nown ? rows->row[here] : -1);
}

bool pcs_hold_rows(const pcs_scheme *self, const pcs_held_rows *rows, double share, const double *bias, double *x,
                   double *z)
{
    const pcs_system *system = self->system;
    const int *row = rows->row;
    int n = rows->n, first = rows->first, nown = rows->nown;
    memset(rows->A, 0, (size_t)n * (size_t)n * sizeof *rows->A);
    memset(rows->b, 0, (size_t)n * sizeof *rows->b);
    for (int i = 0; i < nown; i++)
        rows->b[first + i] = -pcs_rows_dot(system->G, row[i], x) - (bias == NULL ? 0.0 : bias[row[i]]);
    for (int j = 0; j < n; j++) {
        const double *column = scheme_column(self, rows, j);
        for (int i = 0; i < nown; i++)
            rows->A[(size_t)(first + i) * (size_t)n + (size_t)j] = pcs_rows_dot(system->G, row[i], column);
    }
    for (int i = first; i < first + nown; i++) rows->A[(size_t)i * (size_t)n + (size_t)i] *= 1.0 + share;
    pcs_rows_sum(system, n * n, rows->A);
    pcs_rows_sum(system, n, rows->b);
    if (!pcs_dense_solve(n, rows->A, rows->b)) return false;
    for (int j = 0; j < n; j++) {
        const double *column = scheme_column(self, rows, j);
        for (int i = 0; i < system->nv; i++) x[i] += rows->b[j] * column[i];
    }
    for (int i = 0; i < nown; i++) z[row[i]] += rows->b[first + i];
    return true;
}

// Gives redundant joints the least forces, refined by repetition. A singular matrix is left to the first step.
static void scheme_hold_joints(pcs_scheme *self, pcs_next *next, double *a)
{
    bool are_redundant = self->system->row_set.are_redundant;
    int passes = are_redundant ? 3 : 1;
    for (int j = 0; j < self->system->nrow; j++) next->lam[j] = 0.0;
    for (int pass = 0; pass < passes; pass++)
        (void)pcs_hold_rows(self, &next->joints, are_redundant ? PCS_SHARED_WEIGHT : 0.0, next->bias, a, next->lam);
}

void pcs_joint_acceleration(pcs_scheme *self, pcs_next *next, double t, const double *q, const double *v, double *a)
{
    pcs_system *system = self->system;
    pcs_free_acceleration(self, t, q, v, a);
    for (int j = 0; j < system->nrow; j++) next->lam[j] = next->bias[j] = 0.0;
    if (next->joints.n == 0) return;
    self->solver->t = t;
    if (pcs_system_has_bias(system)) pcs_system_rate_bias(system, pcs_at(self->solver->t, q, v), next->bias);
    scheme_hold_joints(self, next, a);
}

void pcs_add_row_momentum(const pcs_system *system, double scale, const double *z, const double *z_t, double sum[3])
{
    double along[3], all[3] = { 0.0 }, *to = pcs_rows_are_distributed(system) ? all : sum;
    for (int j = 0; j < system->nrow; j++) {
        if (z[j] == 0.0) continue;
        pcs_row_resultant(system, system->G, j, along);
        for (int k = 0; k < 3; k++) to[k] += scale * z[j] * along[k];
    }
    if (z_t != NULL)
        for (int t = 0; t < system->ntangent; t++) {
            if (z_t[t] == 0.0) continue;
            pcs_row_resultant(system, system->T, t, along);
            for (int k = 0; k < 3; k++) to[k] += scale * z_t[t] * along[k];
        }
    pcs_rows_sum(system, 3, all);
    for (int k = 0; k < 3; k++) sum[k] += all[k];
}

void pcs_scheme_change_forces(pcs_scheme *self, pcs_state *x, double *df, const double resultant[3])
{
    pcs_next *next = self->data; // first member of the data of every scheme
    const pcs_system *system = self->system;
    double *kept = x->memory, sum[3] = { resultant[0], resultant[1], resultant[2] };
    if (x->nhistory == 0 || self->rule.kind == PCS_RULE_WAVE || !pcs_projection_move(self->solver, x->q)) return;
    pcs_linsolve_solve(self->solver->mass, df);
    if (self->rule.position != PCS_POSITION_FREE && next->joints.n > 0) { // histories hold the forces of joints
        for (int j = 0; j < system->nrow; j++) next->bias[j] = 0.0;
        scheme_hold_joints(self, next, df);
        pcs_add_smooth_resultant(system, next->lam, sum);
        for (int k = 0; k < x->nrow_history; k++)
            for (int j = 0; j < system->nrow; j++) x->row_history[k][j] += next->lam[j];
    }
    for (int k = 0; k < x->nhistory; k++)
        for (int i = 0; i < system->nv; i++) x->history[k][i] += df[i];
    for (int k = 0; k < 3 * self->ops->nresultant; k++) kept[k] += sum[k % 3];
}

void pcs_start_report(const pcs_scheme *self, const pcs_state *x, pcs_next *next, pcs_step_report *report)
{
    pcs_system *system = self->system;
    pcs_row_report *rows = report->rows;
    scheme_clear_report(report, 0.0);
    self->solver->t = x->t;
    if (system->row_set.ndriven > 0) pcs_system_drives(system, x->t, next->drive, next->speed);
    system->ops->measure(system, pcs_at(self->solver->t, x->q, x->v), PCS_ENERGY, &report->measure);
    pcs_system_gaps(system, pcs_at(self->solver->t, x->q, NULL), next->gap);
    for (int j = 0; j < system->nrow; j++) {
        double rate = pcs_system_rate(system, j, x->v);
        rows[j] = (pcs_row_report){ .gap = next->gap[j], .rate = rate, .rate_before = rate };
        rows[j].is_closed = next->gap[j] <= pcs_gap_tie(system, j, x->q);
        if (system->rows[j].is_bilateral) rows[j].force = next->lam[j];
        rows[j].target = next->speed[j];
        for (int t = 0; t < system->rows[j].ntangent; t++)
            rows[j].slip[t] = pcs_rows_dot(system->T, system->rows[j].first_tangent + t, x->v);
    }
}

// Returns true if a closed contact approaches by more than the round-off of its rate: opposite ones at rest must not.
static bool scheme_is_hit(const pcs_system *system, const pcs_next *next, const double *v)
{
    const pcs_rows *G = system->G;
    bool is_hit = false;
    for (int j = 0; j < system->nrow; j++) {
        int first = G->start[j], count = G->start[j + 1] - first;
        if (!next->gate[j] || system->rows[j].is_bilateral) continue;
        double rounding = 64.0 * pcs_rounding_of_sum(count, G->value + first, G->column + first, v);
        is_hit = is_hit || pcs_system_rate(system, j, v) < -rounding;
    }
    return pcs_rows_any(system, is_hit);
}

pcs_status pcs_next_start(pcs_scheme *self, pcs_next *next, pcs_state *x,
                          bool (*impact)(pcs_scheme *self, pcs_step_report *report), pcs_step_report *report)
{
    const pcs_system *system = self->system;
    size_t bytes = (size_t)system->nv * sizeof *x->v;
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_start_report(self, x, next, report);
    (void)pcs_next_find_closed(self, next, NULL, 0.0, x->q, next->gate);
    if (!scheme_is_hit(system, next, x->v)) return PCS_OK;
    memcpy(next->q, x->q, bytes);
    memcpy(next->v, x->v, bytes);
    pcs_next_targets(self, next, x->v);
    pcs_next_drive(self, next);
    if (!impact(self, report)) return PCS_OK;
    memcpy(x->v, next->v, bytes);
    system->ops->measure(system, pcs_at(x->t, x->q, x->v), PCS_ENERGY, &report->measure);
    pcs_next_report_impact(self, next, NULL, report);
    for (int j = 0; j < system->nrow; j++) x->was_loaded[j] = report->rows[j].is_impact;
    return PCS_OK;
}

double pcs_scheme_present_step(const pcs_scheme_ops *ops, const void *params, const pcs_system *system,
                               const pcs_state *x)
{
    double rotation = ops->largest_rotation > 0.0 ? ops->largest_rotation : INFINITY;
    bool has_a = ops->nhistory > 0 && ops->rule.kind != PCS_RULE_WAVE && x->nhistory > 0;
    const pcs_step_limit limit = {
        .modes = ops->stable_step, .params = params, .rotation = rotation, .a = has_a ? x->history[0] : NULL
    };
    return system->ops->stable_step(system, x->q, x->v, &limit);
}
