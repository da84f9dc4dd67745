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
// So a node in contact stays exactly where the impact left it: G dq = h G (v_n + v-)/2 there. Unlike the explicit
// scheme, the forces of contacts that last are kept in a step with an impact. Tangential rows with friction
// join everywhere. Energy of a step of a linear system: implicit.c up to v-, then La . G (v- + v)/2.

#include "schemes/implicit.h"
#include "step/dense_contacts.h"
#include "step/projection.h"

#include <math.h>
#include <string.h>

typedef struct jump_params {
    double gamma, beta, rho_inf;
} jump_params;

static const pcs_option jump_options[] = {
    PCS_REAL("gamma", jump_params, gamma, PCS_OPTIONAL, PCS_WITHIN(0.5, 1.0),
             "Newmark: weight of the new acceleration in the velocity; give this or rho_inf"),
    PCS_REAL("beta", jump_params, beta, PCS_OPTIONAL, PCS_WITHIN(0.25, 1.0),
             "Newmark: weight of the new acceleration in the position, at least gamma/2; by default (gamma + 1/2)^2/4"),
    PCS_REAL("rho_inf", jump_params, rho_inf, PCS_OPTIONAL, PCS_ZERO_TO_ONE,
             "generalized-alpha: spectral radius at high frequency; give this or gamma"),
    { 0 },
};

typedef struct jump_newmark {
    pcs_implicit base;
    pcs_dense_contacts *impact; // solves for an impact by columns; NULL: the step solver does, by products
    unsigned char *was_closed;  // [nrow] I0
    double *no_nu;              // [nrow] zero position multipliers of impacts
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

// Solves the impact on the gated rows, v += M^-1 (G^T La + T^T Lt). Returns false if it does not converge.
static bool jump_impact(pcs_scheme *self, pcs_step_report *report)
{
    const jump_newmark *jump = self->data;
    pcs_next *next = &((jump_newmark *)self->data)->base.next;
    pcs_next_note_rates(self->system, next);
    pcs_next_targets(self, next, next->v);
    pcs_step_problem problem = pcs_next_problem(self, next, NULL, 0.0);
    pcs_step_result result;
    problem.held = NULL;
    problem.nu_t = NULL;
    problem.nu = jump->no_nu;   // positions stay, and so do the multipliers that moved them
    problem.d = jump->base.mix; // the increment is that of the smooth motion
    if (jump->impact != NULL) pcs_dense_contacts_impact(jump->impact, self->solver, &problem, &result);
    else pcs_step_solver_impact(self->solver, &problem, &result);
    report->outcome = result.outcome;
    report->iterations += result.iterations;
    return result.outcome == PCS_CONVERGED;
}

// Books the work of normal impulses of the smooth motion as numerical loss, as none of them is an impact. The gates are
// those of its end.
static void jump_report_motion(const pcs_scheme *self, pcs_step_report *report)
{
    const pcs_next *next = &((const jump_newmark *)self->data)->base.next;
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

static const char *jump_refuses(const pcs_system *system, const void *params)
{
    (void)params;
    if (system->row_set.ndriven == 0) return NULL;
    return "its energy balance lacks the work of a prescribed motion; newmark, alpha_velocity and moreau_jean follow "
           "such motions";
}

static pcs_status jump_setup(pcs_scheme *self)
{
    jump_newmark *s = self->data;
    const jump_params *p = self->params;
    const pcs_system *system = self->system;
    self->rule.w = isnan(p->gamma) ? pcs_weights_of_radius(p->rho_inf) : pcs_weights_of_newmark(p->gamma, p->beta);
    PCS_TRY(pcs_implicit_setup(self));
    PCS_TAKE(self->ctx, s->was_closed, system->nrow, "the closed contacts");
    PCS_TAKE(self->ctx, s->no_nu, system->nrow, "contact impulses");
    if (!self->solver->projection->has_columns) return PCS_OK;
    return pcs_dense_contacts_create(self->ctx, system, false, &s->impact);
}

static pcs_status jump_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    jump_newmark *s = self->data;
    PCS_TRY(pcs_next_start(self, &s->base.next, x, jump_impact, report));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    pcs_joint_acceleration(self, &s->base.next, x->t, x->q, x->v, x->history[1]);
    pcs_implicit_fill_histories(self, x);
    pcs_implicit_start_contacts(self, report, x);
    return PCS_OK;
}

// Updates forces that depend on the velocity after an impact. The filtered acceleration stays unchanged.
static void jump_refresh(pcs_scheme *self, const pcs_state *x, double h, pcs_implicit_memory *now)
{
    pcs_next *next = &((jump_newmark *)self->data)->base.next;
    if (self->system->is_linear && !pcs_system_is_damped(self->system)) return;
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
    const pcs_system *system = self->system;
    pcs_implicit_memory now;
    PCS_TRY(pcs_implicit_begin(self, x, h, report));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;

    self->solver->t = x->t;
    pcs_projection_rotate(self->solver, x->q);
    (void)pcs_next_find_closed(self, next, x, h, x->q, s->was_closed);
    memcpy(next->gate, s->was_closed, (size_t)system->nrow);
    for (int j = 0; j < system->nrow; j++) next->target[j] = 0.0;
    for (int t = 0; t < system->ntangent; t++) next->target_t[t] = 0.0;
    if (!pcs_implicit_move(self, x, &now, report)) return PCS_OK;
    bool is_impact = pcs_next_arrive(self, next, x, h, next->q, s->was_closed);
    jump_report_motion(self, report);
    if (is_impact) {
        if (!jump_impact(self, report)) return PCS_OK;
        next->ends.q = NULL; // ends describe the motion before the impact
        if (!pcs_next_measure(self, x, next, report)) return PCS_OK;
        pcs_next_report_impact(self, next, s->was_closed, report);
        jump_refresh(self, x, h, &now);
    }
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
              .impulse_weight = 0.5,
              .tangent_impulse_weight = 0.5,
              .position = PCS_POSITION_HELD,
              .rate = PCS_RATE_BEFORE,
              .impact = PCS_IMPACT_WHEN_CLOSING },
    .takes = PCS_TAKES_MATERIALS | PCS_TAKES_DISTRIBUTED_ROWS,
    .check = jump_check,
    .refuses = jump_refuses,
    .setup = jump_setup,
    .start = jump_start,
    .step = jump_step,
};
