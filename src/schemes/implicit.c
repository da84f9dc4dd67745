// Equations in rule.h and implicit.h. Energy as in Acary's lecture slides on nonsmooth mechanical systems, there for
// Newmark, HHT and theta schemes.
//
// Derivation of the energy balance: the rule gives dq = h ((1 - m) v_n + m v) + h^2 (be - m ga) da + U; with
// M dv = h M a_ga + G^T La and M vd = F + Gb^T lam - K q - C v at both ends,
// dE = (v_n + v)/2 . M dv + (q_n + q)/2 . K dq. On held contacts G dq = (h/2) G (v_n + v): U takes the rest away.

#include "schemes/implicit.h"

#include "core/loop.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

pcs_weights pcs_weights_of_radius(double rho)
{
    double am = (2.0 * rho - 1.0) / (rho + 1.0), af = rho / (rho + 1.0), ga = 0.5 + af - am;
    return (pcs_weights){ .am = am, .af = af, .ga = ga, .be = 0.25 * (ga + 0.5) * (ga + 0.5) };
}

pcs_weights pcs_weights_of_newmark(double gamma, double beta)
{
    return (pcs_weights){ .ga = gamma, .be = isnan(beta) ? 0.25 * (gamma + 0.5) * (gamma + 0.5) : beta };
}

// Returns the spectral radius of a rule at high frequency: the amplitudes of q, which the forces hold at
// q = -af/(1 - af) q_n, and of a, which follows from q by Newmark's formulas; of v, if q follows its mean.
static double implicit_radius(const pcs_scheme *self)
{
    const pcs_weights *w = &self->rule.w;
    double half = 0.5 + w->ga, square = half * half - 4.0 * w->be, held = w->af / (1.0 - w->af);
    if (self->ops->nhistory == 1) return fmax(held, (1.0 - w->ga) / w->ga);
    if (square <= 0.0) return fmax(held, sqrt((0.5 - w->ga + w->be) / w->be));
    return fmax(held, (fabs(half - 2.0 * w->be) + sqrt(square)) / (2.0 * w->be));
}

// Spectral radius above which accelerations of the fast modes of a mesh, which change sign from step to step, hardly
// decay: those of the step before are then no better a guess than zero. Forces of joints make it worse.
static const double steady_radius = 0.85;

static bool implicit_goes_on(const pcs_system *system, double radius)
{
    if (system->is_linear) return false;
    return !pcs_system_is_mesh(system) || (system->tangents_vary && radius <= steady_radius) ||
           pcs_system_has_joints(system);
}

pcs_status pcs_implicit_setup(pcs_scheme *self)
{
    pcs_implicit *s = self->data;
    const pcs_rule *rule = &self->rule;
    const pcs_system *system = self->system;
    s->goes_on = rule->position != PCS_POSITION_FORCE && implicit_goes_on(system, implicit_radius(self));
    if (pcs_rule_has_closed_loss(rule)) {
        PCS_TAKE_EACH(self->ctx, system->nv, "the energy balance", double, &s->mix, &s->image);
    }
    if (rule->position == PCS_POSITION_HELD && pcs_rule_acceleration_gap(rule) > 0.0) {
        PCS_TAKE(self->ctx, s->held, system->nrow, "the contacts that are held");
        PCS_TAKE(self->ctx, s->drift, system->nv, "the contacts that are held");
        PCS_TAKE(self->ctx, s->next.nu_t, system->ntangent, "the contacts that are held");
    }
    if (rule->position == PCS_POSITION_CORRECTED) {
        PCS_TAKE_EACH(self->ctx, system->nrow, "position corrections", double, &s->correction, &s->smooth_gap);
    }
    PCS_TRY(pcs_next_create(self, &s->next));
    bool has_forces = rule->position == PCS_POSITION_FORCE;
    if (has_forces || (pcs_rule_has_smooth_joints(rule) && pcs_system_has_joints(system))) s->lam = s->next.lam;
    if (rule->impact != PCS_IMPACT_WHEN_CLOSING) return PCS_OK;
    PCS_TAKE(self->ctx, s->was_closed, system->nrow, "the closed contacts");
    PCS_TAKE(self->ctx, s->no_nu, system->nrow, "contact impulses");
    return self->solver->projection->has_columns ? pcs_dense_contacts_create(self->ctx, system, false, &s->impact)
                                                 : PCS_OK;
}

// Returns the form of a step of h by the rule.
static const pcs_step_form *implicit_form(const pcs_scheme *self, double h)
{
    pcs_implicit *s = self->data;
    const pcs_rule *rule = &self->rule;
    const pcs_weights *w = &rule->w;
    if (s->form.h == h) return &s->form;
    double kb = pcs_rule_acceleration_gap(rule) == 0.0 ? h * rule->move : h * w->be / w->ga;
    bool corrects = rule->position == PCS_POSITION_CORRECTED, has_forces = rule->position == PCS_POSITION_FORCE;
    s->form = (pcs_step_form){ .h = h,
                               .c = (1.0 - w->am) / ((1.0 - w->af) * w->ga),
                               .kb = kb,
                               .kw = has_forces ? kb : h * rule->impulse_weight,
                               .kh = s->held != NULL ? h * pcs_rule_acceleration_gap(rule) / w->ga : 0.0,
                               .has_dynamics = true,
                               .has_position = corrects,
                               .gate_is_live = corrects,
                               .has_smooth_multipliers = s->lam != NULL && !has_forces,
                               .law_is_gap = has_forces };
    return &s->form;
}

// Fills histories and resultants of the start; the caller has filled vd.
static void implicit_fill_histories(pcs_scheme *self, pcs_state *x)
{
    const pcs_implicit *s = self->data;
    pcs_implicit_memory *memory = x->memory;
    const double *vd = x->history[x->nhistory - 1];
    if (x->nhistory == PCS_IMPLICIT_NHISTORY)
        for (int i = 0; i < self->system->nv; i++) x->history[0][i] = vd[i];
    for (int k = 0; k < x->nrow_history; k++)
        for (int j = 0; j < self->system->nrow; j++) x->row_history[k][j] = s->lam == NULL ? 0.0 : s->lam[j];
    pcs_system_resultant(self->system, pcs_at(x->t, x->q, x->v), memory->resultant);
    if (s->lam != NULL) pcs_add_smooth_resultant(self->system, s->lam, memory->resultant);
    for (int k = 0; k < 3; k++) memory->filtered[k] = memory->resultant[k];
}

// Marks contacts that are closed and at rest in the report of the start, or have had an impact, as lasting ones.
static void implicit_start_contacts(const pcs_scheme *self, const pcs_step_report *report, pcs_state *x)
{
    const pcs_rows *G = self->system->G;
    for (int j = 0; j < self->system->nrow; j++) {
        const pcs_row_report *row = &report->rows[j];
        int first = G->start[j], count = G->start[j + 1] - first;
        double rounding = 64.0 * pcs_rounding_of_sum(count, G->value + first, G->column + first, x->v);
        bool lasts = row->is_closed && (row->step_impulse > 0.0 || fabs(row->rate) <= rounding);
        if (lasts && !self->system->rows[j].is_bilateral) x->recent[j] = PCS_RECENT;
        x->impulse[j] = row->step_impulse;
    }
}

PCS_WIDE static void implicit_predict_range(void *data, int range, int low, int high)
{
    const pcs_implicit_pass p = *(const pcs_implicit_pass *)data;
    (void)range;
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) {
        double star = p.from_vd * p.vd[i] - p.from_a * p.a[i];
        p.a_new[i] = star;
        p.v_new[i] = p.v[i] + (p.v_old * p.a[i] + p.v_fresh * star);
        p.q_new[i] = p.q[i] + (p.h * p.v[i] + (p.q_old * p.a[i] + p.q_fresh * star));
    }
}

// Predicts v~0 = v_n + h (1 - ga) vd_n and q~0 = q_n + h ((1 - m) v_n + m v~0), for rules with vd alone.
PCS_WIDE static void implicit_predict_mean_range(void *data, int range, int low, int high)
{
    const pcs_implicit_pass p = *(const pcs_implicit_pass *)data;
    (void)range;
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) {
        double prediction = p.v[i] + p.v_old * p.vd[i];
        p.v_new[i] = prediction;
        p.q_new[i] = p.q[i] + (p.q_old * p.v[i] + p.q_fresh * prediction);
    }
}

// Computes the weights of steps of length h.
static void implicit_weigh(const pcs_scheme *self, double h)
{
    pcs_implicit *s = self->data;
    const pcs_weights *w = &self->rule.w;
    bool has_a = self->ops->nhistory == PCS_IMPLICIT_NHISTORY;
    double move = self->rule.move;
    s->pass = (pcs_implicit_pass){ .scheme = self,
                                   .h = h,
                                   .from_vd = w->af / (1.0 - w->am),
                                   .from_a = w->am / (1.0 - w->am),
                                   .v_old = h * (1.0 - w->ga),
                                   .v_fresh = h * w->ga,
                                   .q_old = has_a ? h * h * (move - w->be) : h * (1.0 - move),
                                   .q_fresh = has_a ? h * h * w->be : h * move,
                                   .a_of_vd = (1.0 - w->af) / (1.0 - w->am),
                                   .vd_of_d = implicit_form(self, h)->c / h };
}

// Sets the vectors of the pass, which change places from step to step, and its weights if h has changed.
static void implicit_set_pass(const pcs_scheme *self, const pcs_state *x, double h)
{
    pcs_implicit *s = self->data;
    pcs_implicit_pass *p = &s->pass;
    if (p->h != h) implicit_weigh(self, h);
    p->q = x->q;
    p->v = x->v;
    p->a = x->history[0];
    p->vd = x->history[x->nhistory - 1];
    p->q_new = s->next.q;
    p->v_new = s->next.v;
    p->a_new = s->next.a;
    p->d = s->next.d;
}

static void implicit_hold(pcs_scheme *self, const pcs_state *x, double h)
{
    pcs_implicit *s = self->data;
    const pcs_system *system = self->system;
    bool is_any = false;
    s->next.held = NULL;
    if (s->held == NULL) return;
    for (int j = 0; j < system->nrow; j++) {
        s->held[j] = x->recent[j] > 0.0 && !system->rows[j].is_bilateral;
        is_any = is_any || s->held[j];
    }
    if (!pcs_rows_any(system, is_any)) return;
    implicit_set_pass(self, x, h);
    const pcs_implicit_pass *p = &s->pass;
    double increment = h * h * pcs_rule_acceleration_gap(&self->rule);
    for (int i = 0; i < system->nv; i++)
        s->drift[i] = increment * (p->from_vd * p->vd[i] - p->from_a * p->a[i] - p->a[i]);
    s->next.held = s->held;
    s->next.drift = s->drift;
}

PCS_WIDE static void implicit_correct_range(void *data, int range, int low, int high)
{
    const pcs_implicit_pass p = *(const pcs_implicit_pass *)data;
    (void)range;
    PCS_INDEPENDENT
    for (int i = low; i < high; i++) {
        p.d[i] *= p.vd_of_d;
        p.a_new[i] += p.a_of_vd * p.d[i];
    }
}

static void implicit_finish_slice(void *data, int slice, int low, int high)
{
    const pcs_implicit_pass *p = data;
    pcs_next_sum(p->scheme, &((const pcs_implicit *)p->scheme->data)->next, slice, low, high);
}

// Sets prediction and correction as passes of the problem, the last with the sums from which the measure is computed.
static void implicit_set_passes(const pcs_scheme *self, const pcs_state *x, double h, pcs_step_problem *problem)
{
    pcs_implicit *s = self->data;
    const pcs_rule *rule = &self->rule;
    bool has_a = x->nhistory == PCS_IMPLICIT_NHISTORY;
    implicit_set_pass(self, x, h);
    pcs_next_await_sums(self, &s->next, x, pcs_rule_has_closed_loss(rule) && (rule->w.ga != 0.5 || rule->move != 0.5));
    problem->predict = has_a ? implicit_predict_range : implicit_predict_mean_range;
    problem->finish = s->next.takes_sums ? implicit_finish_slice : NULL;
    problem->passes = &s->pass;
    problem->a = has_a ? s->next.a : NULL;
    problem->vd_of_d = s->pass.vd_of_d;
    problem->a_of_vd = s->pass.a_of_vd;
}

// Filters a force as the rule filters accelerations: vd, which becomes that at the end of the step, gives a. Returns
// the mean that velocities get, (1 - ga) a_n + ga a.
static double implicit_filter(const pcs_weights *w, double end, double *vd, double *a)
{
    double start = *a;
    *a = ((1.0 - w->af) * end + w->af * *vd - w->am * start) / (1.0 - w->am);
    *vd = end;
    return (1.0 - w->ga) * start + w->ga * *a;
}

// Computes the impulse of the smooth forces as the scheme sums it, N s: the filter acts on the resultants, too.
static void implicit_balance(pcs_scheme *self, const pcs_state *x, pcs_implicit_memory *now, pcs_step_report *report)
{
    const pcs_implicit *s = self->data;
    double end[3], h = report->h;
    pcs_system_resultant(self->system, pcs_at(x->t + h, s->next.q, s->next.v), end);
    if (s->lam != NULL) pcs_add_smooth_resultant(self->system, s->lam, end);
    *now = *(const pcs_implicit_memory *)x->memory;
    for (int k = 0; k < 3; k++)
        report->smooth_impulse[k] = h * implicit_filter(&self->rule.w, end[k], &now->resultant[k], &now->filtered[k]);
}

// Makes the next state the state, with its histories and resultants.
static void implicit_accept(pcs_scheme *self, pcs_state *x, const pcs_implicit_memory *now,
                            const pcs_step_report *report)
{
    pcs_implicit *s = self->data;
    double **history = x->history, *a = history[0], *vd = history[x->nhistory - 1];
    *(pcs_implicit_memory *)x->memory = *now;
    if (x->nhistory == PCS_IMPLICIT_NHISTORY) {
        history[0] = s->next.a;
        s->next.a = a;
    }
    history[x->nhistory - 1] = s->next.d;
    s->next.d = vd;
    pcs_next_accept(self, &s->next, x, report);
}

// Returns (x1 - x0) . y in four sums, which the processor adds in parallel.
static double implicit_change_dot(const pcs_system *system, const double *x1, const double *x0, const double *y)
{
    double sum[4] = { 0.0 };
    int i = 0, n = pcs_system_nown(system);
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += (x1[i + k] - x0[i + k]) * y[i + k];
    for (; i < n; i++) sum[0] += (x1[i] - x0[i]) * y[i];
    double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    pcs_system_sum(system, 1, &total);
    return total;
}

// Returns (x1 - x0) . A mix, with A mix in `image`.
static double implicit_product(const pcs_system *system, const pcs_matrix *A, const pcs_implicit *s, const double *x1,
                               const double *x0)
{
    pcs_matrix_multiply(A, s->mix, s->image);
    return implicit_change_dot(system, x1, x0, s->image);
}

// Books damping_loss = h v_ga . C v_ga, J. Returns by how much dq . C v_ga exceeds it, a numerical loss.
static double implicit_damping(pcs_scheme *self, const pcs_state *x, const double *v, pcs_step_report *report)
{
    pcs_implicit *s = self->data;
    int n = self->system->nv;
    double loss = 0.0, ga = self->rule.w.ga;
    if (!pcs_system_is_damped(self->system)) return 0.0;
    PCS_INDEPENDENT
    for (int i = 0; i < n; i++) s->mix[i] = (1.0 - ga) * x->v[i] + ga * v[i];
    double along = implicit_product(self->system, self->system->C, s, s->next.q, x->q);
    for (int i = 0; i < pcs_system_nown(self->system); i++) loss += s->mix[i] * s->image[i];
    pcs_system_sum(self->system, 1, &loss);
    report->damping_loss = report->h * loss;
    bool is_same = self->rule.move == ga && self->rule.w.be == ga * ga; // dq = h v_ga up to round-off
    return is_same ? 0.0 : along - report->damping_loss;
}

// Computes mean forces of joints over the step by their filter, for the reports of their rows, and the work of driven
// ones; the histories of rows become those of the end. Returns by how much the balance, with lam_ga . Gb dq for the
// work, exceeds the booked work, J.
static double implicit_book_joints(const pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    const pcs_implicit *s = self->data;
    const pcs_system *system = self->system;
    const pcs_rows *G = system->G;
    double ga = self->rule.w.ga, rest = 0.0;
    double *force = x->row_history[PCS_IMPLICIT_FORCE], *filtered = x->row_history[PCS_IMPLICIT_FILTERED];
    if (s->lam == NULL || x->nrow_history == 0) return 0.0;
    for (int j = 0; j < system->nrow; j++) {
        pcs_row_report *row = &report->rows[j];
        if (!system->rows[j].is_bilateral) continue;
        double increment = 0.0, lam_ga = (1.0 - ga) * force[j] + ga * s->lam[j];
        double mean = implicit_filter(&self->rule.w, s->lam[j], &force[j], &filtered[j]);
        for (int k = G->start[j]; k < G->start[j + 1]; k++)
            increment += G->value[k] * (s->next.q[G->column[k]] - x->q[G->column[k]]);
        double speed = system->rows[j].is_driven ? s->next.speed_before[j] + s->next.speed[j] : 0.0;
        double work = -0.5 * report->h * mean * speed;
        row->force +=
            system->rotations.are_somewhere ? s->lam[j] : mean; // rows of rotations in space turn round and scale
        row->drive_work += work;
        report->external_work += work;
        rest += lam_ga * increment - work;
    }
    pcs_rows_sum(system, 1, &rest);
    return rest;
}

// Returns U . M x = nu . G x + nu_t . T x.
static double implicit_held_product(const pcs_system *system, const pcs_next *next, const double *x)
{
    double sum = 0.0;
    for (int j = 0; j < system->nrow; j++)
        if (next->nu[j] != 0.0) sum += next->nu[j] * pcs_rows_dot(system->G, j, x);
    for (int t = 0; t < system->ntangent; t++)
        if (next->nu_t[t] != 0.0) sum += next->nu_t[t] * pcs_rows_dot(system->T, t, x);
    pcs_rows_sum(system, 1, &sum);
    return sum;
}

// Returns |x1 - x0|^2 in the norm of K or M of a linear system, J.
static double implicit_norm2(const pcs_scheme *self, const pcs_matrix *A, const double *x0, const double *x1)
{
    const pcs_system *system = self->system;
    pcs_measure m;
    double *x = ((const pcs_implicit *)self->data)->next.mean, norm2 = 0.0;
    for (int i = 0; i < system->nv; i++) x[i] = x1[i] - x0[i];
    if (pcs_system_is_mesh(system)) { // by cells: a motion without strain has no strain energy, however large
        system->ops->measure(system, pcs_at(0.0, x, x), PCS_ENERGY, &m);
        return 2.0 * (A == system->K ? m.strain : m.kinetic);
    }
    for (int j = 0; j < system->nv; j++)
        for (int k = A->pattern->start[j]; k < A->pattern->start[j + 1]; k++)
            norm2 += x[A->pattern->row[k]] * A->value[k] * x[j];
    return norm2;
}

// Returns the loss of implicit_book without that of damping, J.
static double implicit_loss(pcs_scheme *self, const pcs_state *x, double h)
{
    pcs_implicit *s = self->data;
    const pcs_system *system = self->system;
    const pcs_weights *w = &self->rule.w;
    const double *a0 = x->history[0], *vd0 = x->history[x->nhistory - 1], *a = s->next.a, *vd = s->next.d;
    double ga = w->ga, stiff = ga - 0.5, heavy = self->rule.move - 0.5, gap = pcs_rule_acceleration_gap(&self->rule);
    int n = system->nv;
    pcs_change change = s->next.change;
    if (s->next.ends.q0 == NULL) {
        change.stiffness_norm2 = stiff == 0.0 ? 0.0 : implicit_norm2(self, system->K, x->q, s->next.q);
        change.mass_norm2 = heavy == 0.0 ? 0.0 : implicit_norm2(self, system->M, x->v, s->next.v);
    }
    double loss = stiff * change.stiffness_norm2 + heavy * change.mass_norm2;
    if (gap != 0.0) {
        PCS_INDEPENDENT
        for (int i = 0; i < n; i++) s->mix[i] = (1.0 - ga) * a0[i] + ga * a[i];
        loss += h * h * gap * implicit_product(system, system->M, s, a, a0);
        if (s->next.held != NULL) loss += implicit_held_product(system, &s->next, s->mix);
    }
    if (w->am != 0.0 || w->af != 0.0) {
        PCS_INDEPENDENT
        for (int i = 0; i < n; i++) s->mix[i] = (1.0 - ga) * (vd0[i] - a0[i]) + ga * (vd[i] - a[i]);
        loss += implicit_product(system, system->M, s, s->next.q, x->q);
    }
    return loss;
}

// Books work of loads, damping loss and numerical loss of a step to the velocity v; exact for linear systems:
//   dE = dq . F_ga - dq . C v_ga + La . G ((1 - m) v_n + m v) + lam_ga . Gb dq - loss
//   loss = (ga - 1/2) |dq|^2_K + (m - 1/2) |dv|^2_M + (h^2 (be - m ga) da + U) . M a_ga + dq . M (vd_ga - a_ga)
// With F_ga = (1 - ga) F_n + ga F and so on. damping_loss is h v_ga . C v_ga, numerical_loss gets the rest of the
// damping. Rules with a law of gaps have no such formula: their loss is the remainder.
static void implicit_book(pcs_scheme *self, const pcs_state *x, const double *v, pcs_step_report *report)
{
    const pcs_implicit *s = self->data;
    const pcs_system *system = self->system;
    const pcs_weights *w = &self->rule.w;
    bool is_closed = pcs_rule_has_closed_loss(&self->rule);
    double h = report->h, last = is_closed ? w->ga : 0.5;
    report->external_work += (1.0 - last) * pcs_load_work(system, x->t, x->q, s->next.q) +
                             last * pcs_load_work(system, x->t + h, x->q, s->next.q);
    if (is_closed && system->is_linear) {
        report->numerical_loss += implicit_loss(self, x, h) + implicit_damping(self, x, v, report);
        return;
    }
    // The filter delays forces by af - am: both ends have equal weights unless Newmark's ga differs from 1/2.
    const pcs_ends ends = { .q = s->next.q, .v = v, .q0 = x->q, .v0 = x->v };
    report->damping_loss = pcs_damping_work(self, &s->next, &ends, h, w->ga - (w->af - w->am));
}

// Returns the work of strain and gravity along U - (h/2) W, J: an impulse moves positions by (h/2) W on its own
// account, as in every velocity-level scheme; only what the position law asks beyond that is a correction.
static double implicit_correction_work(pcs_scheme *self, double h)
{
    pcs_implicit *s = self->data;
    const pcs_next *next = &s->next;
    if (!self->system->is_linear) return 0.0; // counted in the remainder
    for (int j = 0; j < self->system->nrow; j++)
        s->correction[j] = next->nu[j] + (self->rule.impulse_weight - 0.5) * h * next->la[j];
    return pcs_displacement_work(self->solver, s->correction, next->q);
}

// Returns true if the smooth gap or the gap law contradicts the gate by more than a tie: imposing the velocity law
// opens the gap and leaving it out closes it, so that the solver had to choose.
static bool implicit_is_contradictory(const pcs_scheme *self, int j)
{
    const pcs_implicit *s = self->data;
    double gap = s->smooth_gap[j], tie = 1e-13 * self->system->length;
    if (self->system->rows[j].is_bilateral) return false;
    if (s->next.gate[j]) return gap > tie && !(s->next.nu[j] > 0.0);
    return gap < -tie || s->next.nu[j] > self->solver->effective_mass[j] * tie;
}

// Completes the report of PCS_POSITION_CORRECTED.
static void implicit_report_corrections(pcs_scheme *self, pcs_step_report *report)
{
    const pcs_implicit *s = self->data;
    double h = report->h;
    for (int j = 0; j < self->system->nrow; j++) {
        pcs_row_report *row = &report->rows[j];
        if (self->system->rows[j].is_bilateral) row->force = s->next.la[j] / h + s->next.lam[j];
        row->gate_is_contradictory = implicit_is_contradictory(self, j);
    }
    report->correction_work = implicit_correction_work(self, h);
}

// Fills the targets of the velocity law that g(qt) gates, m: restitution and drives, and the largest tie of all rows.
static void implicit_aim(pcs_scheme *self, const pcs_state *x, double h, pcs_step_problem *problem)
{
    pcs_implicit *s = self->data;
    pcs_next_targets(self, &s->next, x->v);
    pcs_next_find_drives(self, &s->next, x->t, h);
    pcs_next_drive(self, &s->next);
    problem->smooth_gap = s->smooth_gap;
    for (int j = 0; j < self->system->nrow; j++)
        problem->gate_tolerance = pcs_max(problem->gate_tolerance, pcs_gap_tie(self->system, j, x->q));
    problem->gate_tolerance = pcs_rows_max(self->system, problem->gate_tolerance);
}

// Rules whose rows act in vd (PCS_POSITION_FORCE).

// Predicts the motion, closes the gate of every row and sets its target so that kb (G v + target) is the gap at the
// end, linearised.
static void force_state_law(pcs_scheme *self, const pcs_state *x, double h)
{
    pcs_implicit *s = self->data;
    pcs_next *next = &s->next;
    double kb = implicit_form(self, h)->kb;
    implicit_set_pass(self, x, h);
    pcs_pool_cover(next->pool, self->system->nv, implicit_predict_range, &s->pass);
    self->solver->t = x->t + h;
    pcs_system_gaps(self->system, pcs_at(self->solver->t, next->q, NULL), next->gap);
    for (int j = 0; j < self->system->nrow; j++) {
        next->target[j] = next->gap[j] / kb - pcs_system_rate(self->system, j, next->v);
        next->gate[j] = 1;
    }
    for (int k = 0; k < self->system->ntangent; k++) next->target_t[k] = 0.0;
}

// Adds W to d: d + W = v - vt0, so that vd and a have the forces of rows. Reports the rows; forces at the end of the
// step take the place of those at its start.
static void force_report_rows(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    pcs_implicit *s = self->data;
    pcs_system *system = self->system;
    const pcs_next *next = &s->next;
    double *last = x->row_history[PCS_IMPLICIT_FORCE], *filtered = x->row_history[PCS_IMPLICIT_FILTERED];
    double h = report->h, kb = s->form.kb, force_of_la = s->form.c / h;
    pcs_projection_push(self->solver, 1.0, next->la, NULL, next->d);
    pcs_pool_cover(next->pool, system->nv, implicit_correct_range, &s->pass);
    self->solver->t = x->t + h;
    pcs_system_gaps(system, pcs_at(self->solver->t, next->q, NULL), next->gap);
    for (int j = 0; j < system->nrow; j++) {
        double force = next->lam[j] = force_of_la * next->la[j], rate = pcs_system_rate(system, j, next->v);
        pcs_row_report *row = &report->rows[j];
        bool is_impact = force > 0.0 && last[j] == 0.0 && !system->rows[j].is_bilateral;
        double impulse = h * implicit_filter(&self->rule.w, force, &last[j], &filtered[j]);
        *row = (pcs_row_report){ .gap = next->gap[j],
                                 .rate = rate,
                                 .rate_before = rate,
                                 .nu = kb * next->la[j],
                                 .force = force,
                                 .step_impulse = impulse,
                                 .impulse = is_impact ? impulse : 0.0,
                                 .is_impact = is_impact,
                                 .is_closed = force > 0.0 || next->gap[j] <= 0.0 };
        if (!system->rows[j].is_driven) continue;
        row->drive_work = 0.5 * impulse * (pcs_system_rate(system, j, x->v) + rate);
        report->external_work += row->drive_work;
    }
}

// Removes from the impulse of the step the part that the report assigns to the rows: along the directions of the end,
// as the filter spreads forces over several steps.
static void force_leave_rows(const pcs_scheme *self, pcs_step_report *report)
{
    double *impulse = ((const pcs_implicit *)self->data)->next.rate_before;
    if (!pcs_system_is_mesh(self->system)) return;
    for (int j = 0; j < self->system->nrow; j++) impulse[j] = report->rows[j].step_impulse;
    pcs_add_row_momentum(self->system, -1.0, impulse, NULL, report->smooth_impulse);
}

// Begins a step: clears the report, and makes the solver ready.
static pcs_status implicit_begin(pcs_scheme *self, const pcs_state *x, double h, pcs_step_report *report)
{
    pcs_begin_step(self, x, h, report);
    return pcs_step_solver_prepare(self->solver, implicit_form(self, h), &report->outcome);
}

// Computes the next state by the gates and targets given, and reports it with all its rows and losses; resultants go
// into `now`. Returns false, with the outcome set, if there is none.
static bool implicit_move(pcs_scheme *self, pcs_state *x, pcs_implicit_memory *now, pcs_step_report *report)
{
    pcs_implicit *s = self->data;
    pcs_position position = self->rule.position;
    bool corrects = position == PCS_POSITION_CORRECTED, has_forces = position == PCS_POSITION_FORCE;
    double h = report->h;
    pcs_step_result result;
    implicit_hold(self, x, h);
    pcs_step_problem problem = pcs_next_problem(self, &s->next, x, x->t + h);
    if (corrects) implicit_aim(self, x, h, &problem);
    if (has_forces) force_state_law(self, x, h);
    else implicit_set_passes(self, x, h, &problem);
    if (s->goes_on) problem.acceleration = x->history[x->nhistory - 1];
    pcs_step_solve(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations = result.iterations;
    if (result.outcome != PCS_CONVERGED || !pcs_next_measure(self, x, &s->next, report)) return false;

    if (has_forces) force_report_rows(self, x, report);
    else pcs_next_report_rows(self, x, &s->next, self->rule.move, report);
    implicit_book(self, x, s->next.v, report);
    double rest = has_forces ? 0.0 : implicit_book_joints(self, x, report);
    if (corrects) implicit_report_corrections(self, report);
    else report->numerical_loss -= rest;
    implicit_balance(self, x, now, report);
    if (has_forces) force_leave_rows(self, report);
    return true;
}

// Rules with impacts apart from forces (PCS_IMPACT_WHEN_CLOSING).

// Solves the impact on the gated rows, v += M^-1 (G^T La + T^T Lt). Returns false if it does not converge.
static bool apart_impact(pcs_scheme *self, pcs_step_report *report)
{
    pcs_implicit *s = self->data;
    pcs_next *next = &s->next;
    pcs_next_note_rates(self->system, next);
    pcs_next_targets(self, next, next->v);
    pcs_step_problem problem = pcs_next_problem(self, next, NULL, 0.0);
    pcs_step_result result;
    problem.held = NULL;
    problem.nu_t = NULL;
    problem.nu = s->no_nu; // positions stay, and so do the multipliers that moved them
    problem.d = s->mix;    // the increment is that of the smooth motion
    if (s->impact != NULL) pcs_dense_contacts_impact(s->impact, self->solver, &problem, &result);
    else pcs_step_solver_impact(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations += result.iterations;
    return result.outcome == PCS_CONVERGED;
}

// Books the work of normal impulses of the smooth motion as numerical loss, as none of them is an impact. The gates are
// those of its end.
static void apart_report_motion(const pcs_scheme *self, pcs_step_report *report)
{
    const pcs_next *next = &((const pcs_implicit *)self->data)->next;
    report->numerical_loss += report->impact_loss;
    report->impact_loss = 0.0;
    for (int j = 0; j < self->system->nrow; j++) {
        pcs_row_report *row = &report->rows[j];
        row->normal_loss = row->impulse = 0.0;
        row->is_impact = false;
        row->is_closed = row->step_impulse > 0.0 || next->gate[j];
        if (self->system->rows[j].is_bilateral) row->force += next->lam[j];
    }
}

// Updates forces that depend on the velocity after an impact. The filtered acceleration stays unchanged.
static void apart_refresh(pcs_scheme *self, const pcs_state *x, double h, pcs_implicit_memory *now)
{
    pcs_next *next = &((pcs_implicit *)self->data)->next;
    if (self->system->is_linear && !pcs_system_is_damped(self->system)) return;
    pcs_joint_acceleration(self, next, x->t + h, next->q, next->v, next->d);
    pcs_system_resultant(self->system, pcs_at(x->t + h, next->q, next->v), now->resultant);
    pcs_add_smooth_resultant(self->system, next->lam, now->resultant);
    if (self->rule.w.am != 0.0 || self->rule.w.af != 0.0) return;
    for (int i = 0; i < self->system->nv; i++) next->a[i] = next->d[i];
    for (int k = 0; k < 3; k++) now->filtered[k] = now->resultant[k];
}

// Gates the contacts that are closed at the start.
static void apart_aim(pcs_scheme *self, const pcs_state *x, double h)
{
    pcs_implicit *s = self->data;
    pcs_next *next = &s->next;
    const pcs_system *system = self->system;
    self->solver->t = x->t;
    pcs_projection_rotate(self->solver, x->q);
    (void)pcs_next_find_closed(self, next, x, h, x->q, s->was_closed);
    memcpy(next->gate, s->was_closed, (size_t)system->nrow);
    memset(next->target, 0, (size_t)system->nrow * sizeof *next->target);
    memset(next->target_t, 0, (size_t)system->ntangent * sizeof *next->target_t);
}

// Solves the impact of contacts that have closed. Returns false, with the outcome set, if there is no next state.
static bool apart_end(pcs_scheme *self, const pcs_state *x, pcs_implicit_memory *now, pcs_step_report *report)
{
    pcs_implicit *s = self->data;
    pcs_next *next = &s->next;
    bool is_impact = pcs_next_arrive(self, next, x, report->h, next->q, s->was_closed);
    apart_report_motion(self, report);
    if (!is_impact) return true;
    next->ends.q = NULL; // ends describe the motion before the impact
    if (!apart_impact(self, report) || !pcs_next_measure(self, x, next, report)) return false;
    pcs_next_report_impact(self, next, s->was_closed, report);
    apart_refresh(self, x, report->h, now);
    return true;
}

pcs_status pcs_implicit_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    pcs_implicit *s = self->data;
    double *vd = x->history[x->nhistory - 1];
    if (s->was_closed != NULL) {
        PCS_TRY(pcs_next_start(self, &s->next, x, apart_impact, report));
        if (report->outcome != PCS_CONVERGED) return PCS_OK;
    } else if (!pcs_projection_move(self->solver, x->q)) {
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    }
    if (s->lam == NULL) pcs_free_acceleration(self, x->t, x->q, x->v, vd);
    else pcs_joint_acceleration(self, &s->next, x->t, x->q, x->v, vd);
    implicit_fill_histories(self, x);
    if (s->was_closed == NULL) pcs_start_report(self, x, &s->next, report);
    implicit_start_contacts(self, report, x);
    return PCS_OK;
}

pcs_status pcs_implicit_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    pcs_implicit *s = self->data;
    pcs_implicit_memory now;
    bool corrects = self->rule.position == PCS_POSITION_CORRECTED;
    // a failed attempt has changed mass and directions
    bool moves = corrects && !self->system->is_linear, is_there = !moves || pcs_projection_move(self->solver, x->q);
    PCS_TRY(implicit_begin(self, x, h, report));
    if (!is_there) report->outcome = PCS_SINGULAR;
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    if (self->rule.gate == PCS_GATE_FORESEEN) pcs_next_foresee(self, &s->next, x, h, self->rule.move);
    if (s->was_closed != NULL) apart_aim(self, x, h);
    if (!implicit_move(self, x, &now, report)) return PCS_OK;
    if (s->was_closed == NULL || apart_end(self, x, &now, report)) implicit_accept(self, x, &now, report);
    return PCS_OK;
}
