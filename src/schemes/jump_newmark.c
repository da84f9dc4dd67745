// Newmark and generalized-alpha with impacts apart: the velocity-level scheme with impulsive correction that Schindler,
// Rezaei, Kursawe, Acary (2015) leave for future work, on an implicit base, so that stiff bodies need no small step.
//
//   M vd = f(q, v-, t) + Gb^T lam,   Gb vt = 0                       joints act smoothly, too, which keeps order 2
//   M W = G^T P,   0 <= G v- _|_ P >= 0 on I0 = { g(q_n) <= tol }    contacts closed since the step before
//   M U = G^T nu,   G U = -(h^2/2) (2 be - ga) G (a - a_n)           on those loaded in one of the last 8 steps
//   q = qt + (h/2) W + U,   v- = vt + W                              qt, vt: rule.h
//   v = v- + M^-1 G^T La,   0 <= G v + e G v- _|_ La >= 0            on I1 = { g(q) <= tol } if one of it was open,
//                                                                    else v = v-
//
// So a node in contact stays exactly where the impact has left it: G dq = h G (v_n + v-)/2 there. Unlike the explicit
// scheme, the forces of contacts that last are kept in a step with an impact. Tangential rows join with friction
// everywhere. Energy of a step of a linear system: pcs_implicit_book up to v-, then La . G (v- + v)/2.

#include "schemes/implicit.h"
#include "step/impact.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

typedef struct jump_params {
    double gamma, beta, rho_inf, gap_tolerance;
} jump_params;

static const pcs_option jump_options[] = {
    PCS_REAL("gamma", jump_params, gamma, PCS_OPTIONAL, PCS_WITHIN(0.5, 1.0),
             "Newmark: weight of the new acceleration in the velocity; give this or rho_inf"),
    PCS_REAL("beta", jump_params, beta, PCS_OPTIONAL, PCS_WITHIN(0.25, 1.0),
             "Newmark: weight of the new acceleration in the position, at least gamma/2; by default (gamma + 1/2)^2/4"),
    PCS_REAL("rho_inf", jump_params, rho_inf, PCS_OPTIONAL, PCS_ZERO_TO_ONE,
             "generalized-alpha: spectral radius at high frequency; give this or gamma"),
    PCS_GAP_TOLERANCE(jump_params),
    { 0 },
};

typedef struct jump_newmark {
    pcs_implicit base;
    pcs_impact *impact;        // solves for an impact by columns; NULL: the step solver does, by products
    double gap_tolerance;      // m, a gap up to this is closed, and what is rounded off besides
    unsigned char *was_closed; // [nrow] I0
    double *smooth, *smooth_t; // [nrow], [ntangent] contact impulses of the smooth motion, N s
    double *slide;             // [ntangent] T v-, m/s
    double *rubbed;            // [ntangent] loss of the friction of the smooth motion, J
    double *no_nu;             // [nrow] position multipliers of impacts: none
    const pcs_state *before;   // the start of the step
    double h;                  // s, its length; 0 at the start of the run
    bool is_impact;            // in this step
    bool sees_velocity;        // f depends on v, so that an impact changes the acceleration
} jump_newmark;

static const char *jump_check(const void *params, const char **option)
{
    const jump_params *p = params;
    *option = "gamma";
    if (isnan(p->gamma) && isnan(p->rho_inf)) return "give gamma or rho_inf";
    if (!isnan(p->gamma) && !isnan(p->rho_inf)) return "gamma and rho_inf choose different bases: give one of them";
    *option = "beta";
    if (!isnan(p->beta) && isnan(p->gamma)) return "beta goes with gamma";
    return p->beta < 0.5 * p->gamma ? "beta must be >= gamma/2: the scheme is stable at any step only there" : NULL;
}

// Returns true if the gap of row j at q, which is in next.gap, counts as closed.
static bool jump_is_shut(const pcs_scheme *self, const jump_newmark *jump, const double *q, int j)
{
    const pcs_next *next = &jump->base.next;
    double tie = pcs_gap_tie(self->system, j, q) + pcs_impulse_tie(self, jump->before, j, jump->h);
    return next->gap[j] <= jump->gap_tolerance + tie;
}

// Marks the closed contacts of q, bilateral rows always, and leaves the gaps in next.gap.
static void jump_find_closed(pcs_scheme *self, const jump_newmark *jump, const double *q, unsigned char *is_closed)
{
    const pcs_next *next = &jump->base.next;
    pcs_system_gaps(self->system, pcs_at(self->solver->t, q, NULL), next->gap);
    for (int j = 0; j < self->system->nrow; j++)
        is_closed[j] = self->system->rows[j].is_bilateral || jump_is_shut(self, jump, q, j);
}

// Solves the impact on the gated rows, v += M^-1 (G^T La + T^T Lt). Returns false if it does not converge.
static bool jump_solve_impact(pcs_scheme *self, jump_newmark *jump, pcs_step_report *report)
{
    pcs_next *next = &jump->base.next;
    pcs_step_problem problem = pcs_next_problem(self, next, NULL, 0.0);
    pcs_step_result result;
    problem.held = NULL;
    problem.nu_t = NULL;
    problem.nu = jump->no_nu;   // positions stay, and so do the multipliers that moved them
    problem.d = jump->base.mix; // the increment is that of the smooth motion
    if (jump->impact != NULL) pcs_impact_solve(jump->impact, &problem, &result);
    else pcs_step_solver_strike(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations += result.iterations;
    return result.outcome == PCS_CONVERGED;
}

// Evaluates the velocities of the rows before the impact, and its targets.
static void jump_meet(pcs_scheme *self, jump_newmark *jump)
{
    pcs_next *next = &jump->base.next;
    for (int j = 0; j < self->system->nrow; j++) next->rate_before[j] = pcs_system_rate(self->system, j, next->v);
    for (int t = 0; t < self->system->ntangent; t++) jump->slide[t] = pcs_rows_dot(self->system->T, t, next->v);
    pcs_next_targets(self, next, next->v);
}

static void jump_clear(pcs_scheme *self, jump_newmark *jump)
{
    pcs_next *next = &jump->base.next;
    jump->is_impact = false;
    for (int j = 0; j < self->system->nrow; j++)
        jump->smooth[j] = next->la[j] = next->nu[j] = next->lam[j] = next->target[j] = 0.0;
    for (int t = 0; t < self->system->ntangent; t++)
        jump->smooth_t[t] = jump->rubbed[t] = next->la_t[t] = next->target_t[t] = 0.0;
}

// Returns true if a contact is closed at x and approaches: its impact is due now.
static bool jump_is_hit(pcs_scheme *self, const jump_newmark *jump, const pcs_state *x)
{
    bool is_hit = false;
    for (int j = 0; j < self->system->nrow; j++)
        if (jump->was_closed[j] && !self->system->rows[j].is_bilateral)
            is_hit = is_hit || pcs_system_rate(self->system, j, x->v) < 0.0;
    return pcs_rows_any(self->system, is_hit);
}

static void jump_report_tangents(const pcs_scheme *self, const jump_newmark *jump, int j, pcs_step_report *report)
{
    const pcs_next *next = &jump->base.next;
    const pcs_row *of = &self->system->rows[j];
    pcs_row_report *row = &report->rows[j];
    for (int t = 0; t < of->ntangent; t++) {
        int k = of->first_tangent + t;
        row->last_tangent[t] = next->la_t[k];
        row->tangent[t] = jump->smooth_t[k];
        row->slip[t] = pcs_rows_dot(self->system->T, k, next->v);
        row->friction_loss += jump->rubbed[k];
        if (!jump->is_impact) continue;
        row->tangent[t] += next->la_t[k];
        row->friction_loss -= 0.5 * next->la_t[k] * (jump->slide[k] + row->slip[t]);
    }
    report->friction_loss += row->friction_loss;
}

static void jump_report_rows(pcs_scheme *self, const jump_newmark *jump, pcs_step_report *report)
{
    const pcs_next *next = &jump->base.next;
    const pcs_system *system = self->system;
    for (int j = 0; j < system->nrow; j++) {
        double impact = jump->is_impact ? next->la[j] : 0.0;
        pcs_row_report *row = &report->rows[j];
        pcs_next_tell(system, next, j, row);
        pcs_next_tell_held(system, next, j, row);
        row->step_impulse = jump->smooth[j] + impact;
        row->force = report->h > 0.0 ? jump->smooth[j] / report->h : 0.0;
        row->impulse = impact;
        row->is_impact = jump->is_impact && row->is_gated && !jump->was_closed[j] && !system->rows[j].is_bilateral;
        row->is_closed = row->step_impulse > 0.0 || jump_is_shut(self, jump, next->q, j);
        if (system->rows[j].is_bilateral) row->force += next->lam[j];
        row->normal_loss = -0.5 * impact * (row->rate_before + row->rate);
        report->impact_loss += row->normal_loss;
        jump_report_tangents(self, jump, j, report);
    }
    pcs_report_join(system, report);
}

// Sets the gate to I0, the contacts closed at q_n, and clears the impulses. Directions are those at q_n.
static void jump_begin(pcs_scheme *self, jump_newmark *jump, const pcs_state *x, double h)
{
    jump->before = x;
    jump->h = h;
    pcs_projection_turn(self->solver, x->q);
    jump_clear(self, jump);
    jump_find_closed(self, jump, x->q, jump->was_closed);
}

// Solves the smooth motion to time t with the prepared form.
static bool jump_move(pcs_scheme *self, jump_newmark *jump, double t, pcs_step_report *report)
{
    pcs_next *next = &jump->base.next;
    for (int j = 0; j < self->system->nrow; j++) next->gate[j] = jump->was_closed[j];
    pcs_step_problem problem = pcs_next_problem(self, next, NULL, t);
    problem.q_before = jump->before->q;
    pcs_step_result result;
    self->solver->t = t;
    self->solver->ops->solve(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations += result.iterations;
    if (result.outcome != PCS_CONVERGED) return false;
    for (int j = 0; j < self->system->nrow; j++) jump->smooth[j] += next->la[j];
    for (int k = 0; k < self->system->ntangent; k++) jump->smooth_t[k] += next->la_t[k];
    return true;
}

// Books the work of the impulses of the smooth motion at the mean velocity: that of normal impulses is a numerical
// loss, that of friction a loss of the contact.
static void jump_book(pcs_scheme *self, jump_newmark *jump, const double *v0, pcs_step_report *report)
{
    const pcs_system *system = self->system;
    const pcs_next *next = &jump->base.next;
    double work = 0.0;
    for (int j = 0; j < system->nrow; j++)
        if (next->la[j] != 0.0)
            work += next->la[j] * (0.5 * pcs_system_rate(system, j, v0) + 0.5 * pcs_system_rate(system, j, next->v));
    pcs_rows_sum(system, 1, &work);
    report->numerical_loss -= work;
    for (int t = 0; t < system->ntangent; t++)
        if (next->la_t[t] != 0.0)
            jump->rubbed[t] -=
                next->la_t[t] * (0.5 * pcs_rows_dot(system->T, t, v0) + 0.5 * pcs_rows_dot(system->T, t, next->v));
}

// Decides whether there is an impact, and solves it; next.v becomes the velocity after it.
static bool jump_strike(pcs_scheme *self, jump_newmark *jump, pcs_step_report *report)
{
    pcs_next *next = &jump->base.next;
    jump_find_closed(self, jump, next->q, next->gate);
    for (int j = 0; j < self->system->nrow; j++)
        jump->is_impact = jump->is_impact || (next->gate[j] && !jump->was_closed[j]);
    jump->is_impact = pcs_rows_any(self->system, jump->is_impact);
    if (!jump->is_impact) {
        for (int j = 0; j < self->system->nrow; j++) next->gate[j] = jump->was_closed[j];
        return true;
    }
    jump_meet(self, jump);
    return jump_solve_impact(self, jump, report);
}

static pcs_status jump_setup(pcs_scheme *self)
{
    jump_newmark *s = self->data;
    const jump_params *p = self->params;
    const pcs_system *system = self->system;
    self->rule.w = isnan(p->gamma) ? pcs_weights_of_radius(p->rho_inf) : pcs_weights_of_newmark(p->gamma, p->beta);
    PCS_TRY(pcs_implicit_setup(self));
    s->gap_tolerance = p->gap_tolerance;
    s->sees_velocity = !system->is_linear || pcs_system_is_damped(system);
    PCS_TAKE(self->ctx, s->was_closed, system->nrow, "the closed contacts");
    PCS_TAKE_EACH(self->ctx, system->nrow, "contact impulses", double, &s->smooth, &s->no_nu);
    PCS_TAKE_EACH(self->ctx, system->ntangent, "contact impulses", double, &s->smooth_t, &s->slide, &s->rubbed);
    return self->solver->projection->has_columns ? pcs_impact_create(self->solver, &s->impact) : PCS_OK;
}

// Moves the projection to the initial state, and solves an impact of closed and approaching contacts at t = 0.
static pcs_status jump_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    jump_newmark *s = self->data;
    pcs_next *next = &s->base.next;
    const pcs_system *system = self->system;
    if (!pcs_projection_move(self->solver, x->q))
        return pcs_fail(self->ctx, PCS_FAILED, "the initial mass is singular");
    pcs_start_report(self, x, next, report);
    jump_begin(self, s, x, 0.0);
    if (jump_is_hit(self, s, x)) {
        memcpy(next->q, x->q, (size_t)system->nv * sizeof *x->q);
        memcpy(next->v, x->v, (size_t)system->nv * sizeof *x->v);
        memset(s->was_closed, 0, (size_t)system->nrow); // what closes at t = 0 has been open before
        if (!jump_strike(self, s, report)) return PCS_OK;
        memcpy(x->v, next->v, (size_t)system->nv * sizeof *x->v);
        system->ops->measure(system, pcs_at(x->t, x->q, x->v), PCS_ENERGY, &report->measure);
        jump_report_rows(self, s, report);
    }
    for (int j = 0; j < system->nrow; j++) x->was_loaded[j] = report->rows[j].step_impulse > 0.0;
    pcs_joint_acceleration(self, next, x->t, x->q, x->v, x->history[1]);
    pcs_implicit_fill_histories(self, x);
    pcs_implicit_start_contacts(self, report, x);
    return PCS_OK;
}

// Updates forces that depend on the velocity after an impact; the filtered acceleration of generalized-alpha is left
// unchanged.
static void jump_refresh(pcs_scheme *self, const pcs_state *x, double h, pcs_implicit_memory *now)
{
    jump_newmark *s = self->data;
    pcs_next *next = &s->base.next;
    if (!s->is_impact || !s->sees_velocity) return;
    pcs_joint_acceleration(self, next, x->t + h, next->q, next->v, next->d);
    pcs_system_resultant(self->system, pcs_at(x->t + h, next->q, next->v), now->resultant);
    pcs_add_smooth_resultant(self->system, next->lam, now->resultant);
    if (self->rule.w.am != 0.0 || self->rule.w.af != 0.0) return;
    for (int i = 0; i < self->system->nv; i++) next->a[i] = next->d[i];
    for (int k = 0; k < 3; k++) now->filtered[k] = now->resultant[k];
}

static pcs_status jump_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    jump_newmark *s = self->data;
    pcs_next *next = &s->base.next;
    pcs_begin_step(self, x, h, report);
    PCS_TRY(pcs_step_solver_prepare(self->solver, pcs_implicit_form(self, h), &report->outcome));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;

    pcs_implicit_predict(self, x, h);
    pcs_implicit_hold(self, x, h);
    jump_begin(self, s, x, h);
    if (!jump_move(self, s, x->t + h, report)) return PCS_OK;
    pcs_implicit_correct(self);
    pcs_implicit_book(self, x, next->v, report);
    jump_book(self, s, x->v, report);
    pcs_implicit_memory now;
    pcs_implicit_balance(self, x, &now, report);

    if (!jump_strike(self, s, report) || !pcs_next_measure(self, x, next, report)) return PCS_OK;
    jump_report_rows(self, s, report);
    jump_refresh(self, x, h, &now);
    pcs_implicit_accept(self, x, &now, report);
    return PCS_OK;
}

const pcs_scheme_ops pcs_scheme_jump_newmark = {
    .name = "jump_newmark",
    .summary = "Newmark or generalized-alpha, impacts solved separately at velocity level; stiff bodies at large steps",
    .options = jump_options,
    .params_size = sizeof(jump_params),
    .data_size = sizeof(jump_newmark),
    .nhistory = PCS_IMPLICIT_NHISTORY,
    .nresultant = 2,
    .memory_size = sizeof(pcs_implicit_memory),
    .rule = { .kind = PCS_RULE_IMPLICIT,
              .move = 0.5,
              .way = 0.5,
              .tangent_way = 0.5,
              .position = PCS_POSITION_HELD,
              .rate = PCS_RATE_BEFORE,
              .impact = PCS_IMPACT_WHEN_CLOSING },
    .takes = PCS_TAKES_MATERIALS | PCS_TAKES_DEALT_ROWS,
    .check = jump_check,
    .refuses_drives = "its energy balance lacks the work of a prescribed motion; newmark, alpha_velocity and "
                      "moreau_jean follow such motions",
    .setup = jump_setup,
    .start = jump_start,
    .step = jump_step,
};
