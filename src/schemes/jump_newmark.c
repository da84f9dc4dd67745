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

#include <math.h>

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

static const char *jump_refuses(const pcs_system *system, const void *params)
{
    (void)params;
    if (system->row_set.ndriven == 0) return NULL;
    return "its energy balance lacks the work of a prescribed motion; newmark, alpha_velocity and moreau_jean follow "
           "such motions";
}

static pcs_status jump_setup(pcs_scheme *self)
{
    const jump_params *p = self->params;
    self->rule.w = isnan(p->gamma) ? pcs_weights_of_radius(p->rho_inf) : pcs_weights_of_newmark(p->gamma, p->beta);
    return pcs_implicit_setup(self);
}

const pcs_scheme_ops pcs_scheme_jump_newmark = {
    .name = "jump_newmark",
    .summary = "Newmark or generalized-alpha, impacts solved separately at velocity level; stiff bodies at large steps",
    .options = jump_options,
    .params_size = sizeof(jump_params),
    .data_size = sizeof(pcs_implicit),
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
    .start = pcs_implicit_start,
    .step = pcs_implicit_step,
};
