// Half-explicit trapezoidal scheme with contact on velocity level.
// Schindler, Rezaei, Kursawe, Acary: Half-explicit timestepping schemes on velocity level based on
// time-discontinuous Galerkin methods, CMAME 290 (2015), sec. 4.
//
//   stage 1   a0 = M^-1 f(t, q, v),  I0 = { g(q) <= tol }
//             v1 = v + h a0 + M(q)^-1 G(q)^T P0,   0 <= G(q + h v) v1 _|_ P0 >= 0 on I0
//             q' = q + (h/2) (v + v1),  I1 = { g(q') <= tol },  a1 = M^-1 f(t + h, q', v1)
//   stage 2   no contact has closed (I1 within I0):
//               v' = v + (h/2) (a0 + a1) + M^-1 G^T (P0/2 + P1),   0 <= G v' _|_ P1 >= 0 on I1
//             else an impact on all of I1, the contact forces dropped:
//               v- = v + (h/2) (a0 + a1),  v' = v- + M^-1 G^T La,   0 <= G v' + e G v- _|_ La >= 0
//
// Tangential rows join everywhere, with friction. The order 2 hangs on stage 1 pushing along G(q) and constraining
// along G(q + h v). Where f does not see the velocity, a1 is the next step's a0: one solve per step.

#include "core/loop.h"
#include "schemes/common.h"

#include "step/columns.h"

#include <math.h>

typedef struct half_params {
    double gap_tolerance;
} half_params;

static const pcs_option half_options[] = {
    { .name = "gap_tolerance",
      .kind = PCS_OPTION_REAL,
      .help = "a gap up to this counts as closed, m",
      .offset = offsetof(half_params, gap_tolerance),
      .preset = "0.0",
      .range = PCS_NOT_NEGATIVE },
    { 0 },
};

enum { HISTORY_A };
static const char *const half_history[] = { "a", NULL };

typedef struct half {
    pcs_next next;
    double *v1;                // [nv] velocity after stage 1, when it is needed on its own
    double *first, *first_t;   // [nrow], [ntangent] P0
    double *kick;              // [nv] half of what P0 did to v1; only where M or G vary
    bool reuses_acceleration;  // f does not see the velocity
    unsigned char *was_closed; // [nrow] I0
    double resultant[3];       // N, of f at the start of the step
    double damping_power;      // W, at the start of the step
} half;

static pcs_status half_setup(pcs_scheme *self)
{
    half *s = self->data;
    const pcs_system *system = self->system;
    PCS_TRY(pcs_next_create(self, &s->next));
    PCS_TAKE(self->ctx, s->v1, system->nv, "the stage velocity");
    PCS_TAKE(self->ctx, s->first, system->nrow, "the stage impulses");
    PCS_TAKE(self->ctx, s->first_t, system->ntangent, "the stage impulses");
    s->reuses_acceleration = system->is_linear && !system->has_damping;
    if (!system->is_linear) PCS_TAKE(self->ctx, s->kick, system->nv, "the stage impulses");
    PCS_TAKE(self->ctx, s->was_closed, system->nrow, "the stage contacts");
    // Contact problems see M alone; a form with h = 1 serves steps of any size.
    pcs_step_form form = { .h = 1.0 };
    pcs_outcome outcome;
    return pcs_step_solver_prepare(self->solver, &form, &outcome);
}

// Marks the closed contacts of q; gives their number.
static int half_find_closed(pcs_scheme *self, const double *q, unsigned char *is_closed)
{
    half *s = self->data;
    double tolerance = ((const half_params *)self->params)->gap_tolerance;
    int count = 0;
    self->system->ops->gaps(self->system, q, s->next.gap);
    for (int j = 0; j < self->system->nrow; j++) {
        is_closed[j] = self->system->rows[j].is_bilateral || s->next.gap[j] <= tolerance;
        count += is_closed[j];
    }
    return count;
}

// v += M^-1 G^T P with 0 <= G v + target _|_ P >= 0 on the gated rows.
static pcs_outcome half_contact(pcs_scheme *self, double *v, double *impulse, double *tangent, pcs_step_report *report)
{
    half *s = self->data;
    pcs_step_problem problem = pcs_next_problem(&s->next, 0.0);
    pcs_step_result result;
    problem.v = v;
    problem.la = impulse;
    problem.la_t = tangent;
    self->solver->ops->solve(self->solver, &problem, &result);
    report->iterations += result.iterations;
    return result.outcome;
}

static void half_clear_rows(pcs_scheme *self)
{
    half *s = self->data;
    for (int j = 0; j < self->system->nrow; j++) s->first[j] = s->next.la[j] = s->next.nu[j] = s->next.target[j] = 0.0;
    for (int t = 0; t < self->system->ntangent; t++) s->first_t[t] = s->next.la_t[t] = s->next.target_t[t] = 0.0;
}

// Tangential impulses of a row, and the loss of those of an impact: T v before is that after less the jump.
static void half_report_tangents(pcs_scheme *self, pcs_row_report *row, int j, const double *v, bool is_impact,
                                 pcs_step_report *report)
{
    half *s = self->data;
    const pcs_system *system = self->system;
    for (int t = 0; t < system->rows[j].ntangent; t++) {
        int k = system->rows[j].first_tangent + t;
        row->last_tangent[t] = s->next.la_t[k];
        row->tangent[t] = 0.5 * s->first_t[k] + s->next.la_t[k];
        if (!is_impact || s->next.la_t[k] == 0.0) continue;
        double jump = 0.0;
        for (int i = 0; i < system->nrow; i++)
            jump += s->next.la[i] * pcs_rows_dot(system->T, k, self->solver->projection->X->value[i]);
        for (int i = 0; i < system->ntangent; i++)
            jump += s->next.la_t[i] * pcs_rows_dot(system->T, k, self->solver->projection->XT->value[i]);
        report->impact_loss -= s->next.la_t[k] * (pcs_rows_dot(system->T, k, v) - 0.5 * jump);
    }
}

// A contact that is closed and approaching at t = 0 has its impact before the first step; stage 1 would take it
// for a plastic force otherwise.
static pcs_status half_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    half *s = self->data;
    const pcs_system *system = self->system;
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_start_report(self, x, &s->next, report);
    half_clear_rows(self);
    pcs_next_targets(self, &s->next, x->v);
    bool has_impact = false;
    (void)half_find_closed(self, x->q, s->next.gate);
    for (int j = 0; j < system->nrow; j++) {
        s->next.was_loaded[j] = 0;
        has_impact = has_impact || (s->next.gate[j] && report->rows[j].rate < 0.0);
    }
    if (has_impact) {
        for (int i = 0; i < system->nv; i++) s->next.q[i] = x->q[i];
        report->outcome = half_contact(self, x->v, s->next.la, s->next.la_t, report);
        if (report->outcome != PCS_CONVERGED) return PCS_OK;
        system->ops->measure(system, x->q, x->v, &report->measure);
        for (int j = 0; j < system->nrow; j++) {
            pcs_row_report *row = &report->rows[j];
            row->target = s->next.target[j];
            row->is_gated = s->next.gate[j];
            row->rate = pcs_system_rate(system, j, x->v);
            row->multiplier = row->impulse = row->step_impulse = s->next.la[j];
            row->is_impact = row->impulse > 0.0;
            s->next.was_loaded[j] = row->is_impact;
            report->impact_loss -= 0.5 * row->impulse * (row->rate_before + row->rate);
            half_report_tangents(self, row, j, x->v, true, report);
        }
    }
    pcs_free_acceleration(self, x->t, x->q, x->v, x->history[HISTORY_A]);
    pcs_resultant(system, x->t, x->q, x->v, s->resultant);
    s->damping_power = pcs_damping_power(system, x->v);
    return PCS_OK;
}

// v1 and q' without contact in stage 1.
static void half_free_stage(half *s, const pcs_state *x, int n, double h)
{
    const double *q = x->q, *v = x->v, *a = x->history[HISTORY_A];
    double *q_new = s->next.q, *v1 = s->v1;
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) {
        v1[i] = v[i] + h * a[i];
        q_new[i] = q[i] + 0.5 * h * (v[i] + v1[i]);
    }
}

// x += scale * (effect of P0 on velocities), with the projection where stage 1 has left it.
static void half_add_first(pcs_scheme *self, double scale, double *x)
{
    half *s = self->data;
    const pcs_projection *p = self->solver->projection;
    for (int j = 0; j < self->system->nrow; j++)
        if (s->first[j] != 0.0) pcs_columns_add(p->X, j, scale * s->first[j], x);
    for (int t = 0; t < self->system->ntangent; t++)
        if (s->first_t[t] != 0.0) pcs_columns_add(p->XT, t, scale * s->first_t[t], x);
}

// P0, and its effect on v1 and q'.
static pcs_outcome half_contact_stage(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    half *s = self->data;
    int n = self->system->nv;
    for (int j = 0; j < self->system->nrow; j++) s->next.gate[j] = s->was_closed[j];
    if (!self->system->is_linear) {
        for (int i = 0; i < n; i++) s->kick[i] = x->q[i] + h * x->v[i];
        pcs_projection_turn(self->solver, s->kick);
        for (int i = 0; i < n; i++) s->kick[i] = 0.0;
    }
    pcs_outcome outcome = half_contact(self, s->v1, s->first, s->first_t, report);
    if (outcome != PCS_CONVERGED) return outcome;
    half_add_first(self, 0.5 * h, s->next.q);
    if (!self->system->is_linear) half_add_first(self, 0.5, s->kick);
    return PCS_CONVERGED;
}

// v + (h/2)(a0 + a1), and P0/2 unless an impact drops it.
static void half_free_velocity(pcs_scheme *self, const pcs_state *x, double h, bool is_impact)
{
    half *s = self->data;
    const double *v = x->v, *a0 = x->history[HISTORY_A], *a1 = s->next.a;
    double *v_new = s->next.v;
    PCS_INDEPENDENT
    for (int i = 0; i < self->system->nv; i++) v_new[i] = v[i] + 0.5 * h * (a0[i] + a1[i]);
    if (is_impact) {
        for (int j = 0; j < self->system->nrow; j++) s->first[j] = 0.0;
        for (int t = 0; t < self->system->ntangent; t++) s->first_t[t] = 0.0;
    } else if (s->kick == NULL) {
        half_add_first(self, 0.5, v_new);
    } else {
        for (int i = 0; i < self->system->nv; i++) v_new[i] += s->kick[i];
    }
}

// Has a contact of I1 (the gate) been open at the start of the step?
static bool half_has_closed(const half *s, int nrow)
{
    for (int j = 0; j < nrow; j++)
        if (s->next.gate[j] && !s->was_closed[j]) return true;
    return false;
}

static pcs_outcome half_second_stage(pcs_scheme *self, const pcs_state *x, double h, bool *is_impact,
                                     pcs_step_report *report)
{
    half *s = self->data;
    const pcs_system *system = self->system;
    int nclosed = half_find_closed(self, s->next.q, s->next.gate);
    *is_impact = half_has_closed(s, system->nrow);
    if (!pcs_projection_move(self->solver, s->next.q)) return PCS_SINGULAR;
    pcs_free_acceleration(self, x->t + h, s->next.q, s->v1, s->next.a);
    half_free_velocity(self, x, h, *is_impact);
    if (*is_impact) pcs_next_targets(self, &s->next, s->next.v);
    for (int j = 0; j < system->nrow; j++) {
        s->next.la[j] = s->next.nu[j] = 0.0;
        s->next.rate_before[j] = pcs_system_rate(system, j, s->next.v);
    }
    return nclosed > 0 ? half_contact(self, s->next.v, s->next.la, s->next.la_t, report) : PCS_CONVERGED;
}

static void half_report_rows(pcs_scheme *self, double h, bool is_impact, pcs_step_report *report)
{
    half *s = self->data;
    const pcs_system *system = self->system;
    for (int j = 0; j < system->nrow; j++) {
        double la = s->next.la[j];
        pcs_row_report *row = &report->rows[j];
        *row = (pcs_row_report){
            .gap = s->next.gap[j],
            .rate = pcs_system_rate(system, j, s->next.v),
            .rate_before = s->next.rate_before[j],
            .target = s->next.target[j],
            .multiplier = la,
            .step_impulse = 0.5 * s->first[j] + la,
            .force = is_impact ? 0.0 : 2.0 * la / h,
            .impulse = is_impact ? la : 0.0,
            .is_gated = s->next.gate[j] != 0,
            .is_impact = is_impact && s->next.gate[j] && !s->was_closed[j],
            .is_closed = s->next.gate[j] != 0,
        };
        if (is_impact) report->impact_loss -= 0.5 * la * (row->rate_before + row->rate);
        half_report_tangents(self, row, j, s->next.v, is_impact, report);
    }
}

// The trapezoidal quadratures of resultant force, damping and loads.
static void half_report_work(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    half *s = self->data;
    const pcs_system *system = self->system;
    double end[3], power = pcs_damping_power(system, s->next.v);
    pcs_resultant(system, x->t + h, s->next.q, s->v1, end);
    for (int k = 0; k < 3; k++) report->smooth_impulse[k] = 0.5 * h * (s->resultant[k] + end[k]);
    pcs_resultant(system, x->t + h, s->next.q, s->next.v, s->resultant);
    report->external_work = pcs_trapezoidal_load_work(system, x, s->next.q, h);
    report->damping_loss = 0.5 * h * (s->damping_power + power);
    s->damping_power = power;
}

static void half_accept(pcs_scheme *self, pcs_state *x, const pcs_step_report *report)
{
    half *s = self->data;
    double *a = x->history[HISTORY_A];
    x->history[HISTORY_A] = s->next.a;
    s->next.a = a;
    pcs_next_accept(&s->next, x, report, self->system->nrow);
    if (!s->reuses_acceleration) pcs_free_acceleration(self, x->t, x->q, x->v, x->history[HISTORY_A]);
}

static pcs_status half_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    half *s = self->data;
    pcs_begin_report(report, h);
    half_clear_rows(self);
    if (s->kick != NULL) {
        // After a step the projection stands at its end; a retried step must find it there again.
        if (!pcs_projection_move(self->solver, x->q)) return pcs_fail(self->ctx, PCS_FAILED, "the mass is singular");
        for (int i = 0; i < self->system->nv; i++) s->kick[i] = 0.0;
    }
    half_free_stage(s, x, self->system->nv, h);
    if (half_find_closed(self, x->q, s->was_closed) > 0) report->outcome = half_contact_stage(self, x, h, report);
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    bool is_impact;
    report->outcome = half_second_stage(self, x, h, &is_impact, report);
    if (report->outcome != PCS_CONVERGED || !pcs_next_measure(self, &s->next, report)) return PCS_OK;
    half_report_rows(self, h, is_impact, report);
    half_report_work(self, x, h, report);
    half_accept(self, x, report);
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_half_explicit = {
    .name = "half_explicit",
    .summary =
        "explicit trapezoidal rule, contact implicit at velocity level; impacts with restitution; needs a stable step",
    .options = half_options,
    .params_size = sizeof(half_params),
    .data_size = sizeof(half),
    .nhistory = 1,
    .history_names = half_history,
    .is_explicit = true,
    .separates_impacts = true,
    .allows_control = true,
    .setup = half_setup,
    .start = half_start,
    .step = half_step,
};
