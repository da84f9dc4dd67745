// Nonsmooth Newmark scheme, all constraints at velocity level.
// Acary: lecture slides on numerical methods for nonsmooth mechanical systems; Chen, Acary, Virlez, Bruls (2013).
// Equations and energy: alpha_family.c, with am = af = 0, so that a = vd.
//
//   M a = f(q, v, t)
//   q = q_n + h v_n + h^2 (1/2 - be) a_n + h^2 be a + (h/2) W,    v = v_n + h (1 - ga) a_n + h ga a + W
//
// Its dissipation in terms of a stored energy, without loads (slides, eq. 95, with h^2/2 where they print h/2):
//   S = E + (h^2/4) (2 be - ga) a . M a
//   dS = La . G (v_n + v)/2 - (ga - 1/2) (|dq|^2_K + (h^2/2) (2 be - ga) |da|^2_M)

#include "schemes/alpha_family.h"

#include <math.h>

typedef struct newmark_params {
    double gamma, beta;
} newmark_params;

static const pcs_option newmark_options[] = {
    PCS_REAL("gamma", newmark_params, gamma, PCS_DEFAULT("0.5"), PCS_WITHIN(0.5, 1.0),
             "weight of the new acceleration in the velocity: 0.5 for order 2, more dissipates"),
    PCS_REAL("beta", newmark_params, beta, PCS_OPTIONAL, PCS_WITHIN(0.25, 1.0),
             "weight of the new acceleration in the position, at least gamma/2; by default (gamma + 1/2)^2/4"),
    { 0 },
};

static const char *newmark_check(const void *params, const char **option)
{
    const newmark_params *p = params;
    *option = "beta";
    return p->beta < 0.5 * p->gamma ? "beta must be >= gamma/2: the scheme is stable at any step only there" : NULL;
}

static pcs_status newmark_setup(pcs_scheme *self)
{
    pcs_alpha *s = self->data;
    const newmark_params *p = self->params;
    s->am = s->af = 0.0;
    s->ga = p->gamma;
    s->be = isnan(p->beta) ? 0.25 * (p->gamma + 0.5) * (p->gamma + 0.5) : p->beta;
    return pcs_velocity_setup(self);
}

static void newmark_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    const newmark_params *p = self->params;
    *rule = pcs_velocity_rule();
    rule->gamma = p->gamma;
    rule->beta = p->beta;
}

const pcs_scheme_ops pcs_scheme_newmark = {
    .name = "newmark",
    .summary = "nonsmooth Newmark, contact at velocity level; penetrates by O(h)",
    .options = newmark_options,
    .params_size = sizeof(newmark_params),
    .data_size = sizeof(pcs_alpha),
    .nhistory = PCS_ALPHA_NHISTORY,
    .nresultant = 2,
    .memory_size = sizeof(pcs_alpha_memory),
    .has_closed_loss = true,
    .check = newmark_check,
    .takes_rotations = true,
    .state_rule = newmark_state_rule,
    .takes_internal = true,
    .takes_dealt_rows = true,
    .setup = newmark_setup,
    .start = pcs_velocity_start,
    .step = pcs_velocity_step,
};
