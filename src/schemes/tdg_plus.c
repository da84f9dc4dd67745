// Time-discontinuous Galerkin scheme D+ of any degree on Clenshaw-Curtis points: equations in galerkin.h.
//
// The acceleration is a polynomial on the points 1..M, the velocity of the state is the one before an impulse of the
// next interval. With M = 1 it is the contemplating trapezoidal rule:
//   V_0 = v + (h/2) (A_0 - A_1) - dp,   V_1 = v' = v + (h/2) (A_0 + A_1) + dp,   q' = q + h v + (h^2/2) A_0

#include "schemes/galerkin.h"

static pcs_status plus_setup(pcs_scheme *self)
{
    return pcs_galerkin_setup(self, true);
}

static double plus_stable_step(const void *params, double w, double xi)
{
    return pcs_galerkin_stable_step(((const pcs_galerkin_params *)params)->degree, true, w, xi);
}

static void plus_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    (void)self;
    *rule = pcs_rule_of(PCS_RULE_NONE);
    rule->rate = PCS_RATE_BEFORE_IMPACT;
}

const pcs_scheme_ops pcs_scheme_tdg_plus = {
    .name = "tdg_plus",
    .summary = "time-discontinuous Galerkin D+ of any degree, contact on acceleration level; no friction",
    .options = pcs_galerkin_options,
    .params_size = sizeof(pcs_galerkin_params),
    .data_size = sizeof(pcs_galerkin),
    .memory_size = sizeof(pcs_explicit_memory),
    .is_explicit = true,
    .separates_impacts = true,
    .lets_contacts_sink = true,
    .refuses = pcs_refuse_friction,
    .stable_step = plus_stable_step,
    .state_rule = plus_state_rule,
    .refuses_drives =
        "its joints know the acceleration of a prescribed motion alone: where the velocity jumps it would lose it for "
        "good; half_explicit and half_explicit_rk follow such motions",
    .takes_dealt_rows = true,
    .setup = plus_setup,
    .start = pcs_explicit_start,
    .step = pcs_galerkin_step,
};
