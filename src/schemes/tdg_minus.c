// Time-discontinuous Galerkin scheme D- of any degree on Clenshaw-Curtis points: equations in galerkin.h.
//
// The acceleration is a polynomial on the points 0..M-1, impulses act at the end of the step. With M = 1 it is the
// forecasting trapezoidal rule, the same as half_explicit_acceleration:
//   V_1 = v + h A_0,   q' = q + (h/2) (v + V_1),   v' = v + (h/2) (A_0 + A_1) + dp

#include "schemes/galerkin.h"

static pcs_status minus_setup(pcs_scheme *self)
{
    return pcs_galerkin_setup(self, false);
}

static double minus_stable_step(const void *params, double w, double xi)
{
    return pcs_galerkin_stable_step(((const pcs_galerkin_params *)params)->degree, false, w, xi);
}

// Of degree 1 it is half_explicit_acceleration.
static void minus_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    bool is_simple = ((const pcs_galerkin_params *)self->params)->degree == 1;
    *rule = pcs_rule_of(is_simple ? PCS_RULE_HEUN_FORCES : PCS_RULE_NONE);
    rule->rate = PCS_RATE_BEFORE_IMPACT;
}

const pcs_scheme_ops pcs_scheme_tdg_minus = {
    .name = "tdg_minus",
    .summary = "time-discontinuous Galerkin D- of any degree, contact on acceleration level; no friction",
    .options = pcs_galerkin_options,
    .params_size = sizeof(pcs_galerkin_params),
    .data_size = sizeof(pcs_galerkin),
    .memory_size = sizeof(pcs_explicit_memory),
    .is_explicit = true,
    .separates_impacts = true,
    .lets_contacts_sink = true,
    .refuses = pcs_refuse_friction,
    .stable_step = minus_stable_step,
    .state_rule = minus_state_rule,
    .refuses_drives =
        "its joints know the acceleration of a prescribed motion alone: where the velocity jumps it would lose it for "
        "good; half_explicit and half_explicit_rk follow such motions",
    .takes_dealt_rows = true,
    .setup = minus_setup,
    .start = pcs_explicit_start,
    .step = pcs_galerkin_step,
};
