// Newmark and generalized-alpha with impacts apart: the velocity-level scheme with impulsive correction that Schindler,
// Rezaei, Kursawe, Acary (2015) leave for future work, on an implicit base. Index sets and impact: jump_family.h.
//
//   M vd = f(q, v-, t) + Gb^T lam,   Gb vt = 0                       joints act smoothly, too, which keeps order 2
//   M W = G^T P,   0 <= G v- _|_ P >= 0 on I0                        contacts closed since the step before
//   M U = G^T nu,   G U = -(h^2/2) (2 be - ga) G (a - a_n)           on those loaded in one of the last 8 steps
//   q = qt + (h/2) W + U,   v- = vt + W                              qt, vt: alpha_family.h
//   v = v- + M^-1 G^T La                                             if a contact has closed, else v = v-
//
// So a node in contact stays exactly where the impact has left it: G dq = h G (v_n + v-)/2 there. Energy of a step of a
// linear system: pcs_alpha_book up to v-, then La . G (v- + v)/2.

#include "schemes/alpha_family.h"
#include "schemes/jump_family.h"

#include <math.h>

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
    pcs_alpha alpha;
    pcs_jump jump;
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

static pcs_status jump_setup(pcs_scheme *self)
{
    jump_newmark *s = self->data;
    const jump_params *p = self->params;
    if (isnan(p->gamma)) pcs_alpha_of_radius(&s->alpha, p->rho_inf);
    else pcs_alpha_of_newmark(&s->alpha, p->gamma, p->beta);
    s->alpha.holds = 2.0 * s->alpha.be > s->alpha.ga;
    PCS_TRY(pcs_alpha_setup(self, &s->alpha));
    if (pcs_system_has_joints(self->system)) s->alpha.lam = s->alpha.next.lam;
    return pcs_jump_create(self, &s->jump, p->gap_tolerance);
}

static pcs_status jump_start(pcs_scheme *self, pcs_state *x, pcs_step_report *report)
{
    jump_newmark *s = self->data;
    PCS_TRY(pcs_jump_start(self, &s->jump, &s->alpha.next, x, x->history[PCS_ALPHA_VD], report));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;
    pcs_alpha_start(self, &s->alpha, x);
    pcs_alpha_start_contacts(self, report, x);
    return PCS_OK;
}

// Forces that see the velocity are others after an impact; the filtered acceleration of generalized-alpha is left
// alone.
static void jump_refresh(pcs_scheme *self, const pcs_state *x, double h, pcs_alpha_memory *now)
{
    jump_newmark *s = self->data;
    pcs_next *next = &s->alpha.next;
    if (!s->jump.is_impact || !s->jump.sees_velocity) return;
    pcs_joint_acceleration(self, next, x->t + h, next->q, next->v, next->d);
    pcs_resultant(self->system, x->t + h, next->q, next->v, now->resultant);
    pcs_add_joint_resultant(self->system, next->lam, now->resultant);
    if (s->alpha.am != 0.0 || s->alpha.af != 0.0) return;
    for (int i = 0; i < self->system->nv; i++) next->a[i] = next->d[i];
    for (int k = 0; k < 3; k++) now->filtered[k] = now->resultant[k];
}

static pcs_status jump_step(pcs_scheme *self, pcs_state *x, double h, pcs_step_report *report)
{
    jump_newmark *s = self->data;
    pcs_next *next = &s->alpha.next;
    pcs_step_form form = pcs_alpha_form(&s->alpha, h);
    form.kw = 0.5 * h;
    pcs_begin_step(self, x, h, report);
    PCS_TRY(pcs_step_solver_prepare(self->solver, &form, &report->outcome));
    if (report->outcome != PCS_CONVERGED) return PCS_OK;

    pcs_alpha_predict(&s->alpha, x, self->system->nv, h);
    pcs_alpha_hold(self, &s->alpha, x, h);
    pcs_jump_begin(self, &s->jump, next, x);
    if (!pcs_jump_stage(self, &s->jump, next, x->t + h, 1.0, report)) return PCS_OK;
    pcs_alpha_correct(&s->alpha, self->system->nv, form.c / h);
    pcs_alpha_book(self, &s->alpha, x, next->v, report);
    pcs_jump_book_stage(self, &s->jump, next, x->v, 0.5, report);
    pcs_alpha_memory now;
    pcs_alpha_balance(self, &s->alpha, x, h, &now, report->smooth_impulse);

    if (!pcs_jump_impact(self, &s->jump, next, report) || !pcs_next_measure(self, next, report)) return PCS_OK;
    pcs_jump_report_rows(self, &s->jump, next, report);
    jump_refresh(self, x, h, &now);
    pcs_alpha_accept(&s->alpha, x, &now);
    pcs_next_accept(self, next, x, report);
    return PCS_OK;
}

static void jump_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    const jump_params *p = self->params;
    *rule = pcs_rule_of(PCS_RULE_ALPHA);
    rule->radius = p->rho_inf;
    rule->gamma = p->gamma;
    rule->beta = p->beta;
    rule->normal_way = rule->tangent_way = 0.5;
    rule->has_smooth_joints = rule->has_correction = rule->holds = true;
    rule->rate = PCS_RATE_BEFORE_IMPACT;
}

const pcs_scheme_ops pcs_scheme_jump_newmark = {
    .name = "jump_newmark",
    .summary = "Newmark or generalized-alpha, impacts solved apart at velocity level; stiff bodies at large steps",
    .options = jump_options,
    .params_size = sizeof(jump_params),
    .data_size = sizeof(jump_newmark),
    .nhistory = PCS_ALPHA_NHISTORY,
    .nresultant = 2,
    .memory_size = sizeof(pcs_alpha_memory),
    .has_closed_loss = true,
    .separates_impacts = true,
    .takes_dealt_rows = true,
    .check = jump_check,
    .state_rule = jump_state_rule,
    .refuses_drives = "its balance of energy has no place for the work of a prescribed motion; newmark, alpha_velocity "
                      "and moreau_jean "
                      "follow such motions",
    .takes_internal = true,
    .setup = jump_setup,
    .start = jump_start,
    .step = jump_step,
};
