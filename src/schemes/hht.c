// Nonsmooth HHT scheme (Hilber, Hughes, Taylor 1977), all constraints at velocity level.
// Acary: lecture slides on numerical methods for nonsmooth mechanical systems; Chen, Acary, Virlez, Bruls (2013).
// Equations and energy: alpha_family.c.
//
//   M a = (1 - al) f(q, v, t) + al f_n,   ga = 1/2 + al,   be = (1 + al)^2/4
//
// Its dissipation in terms of a stored energy, with w = (q - q_n)/2 and without loads (slides, eqs. 103 and 104; q_n-1
// enters through w_n):
//   H = E + (h^2/4) (2 be - ga) a . M a + 2 al (1 - ga) w . K w
//   dH = La . G (v_n + v)/2 - (h^2/2) al (2 be - ga) |da|^2_M - al (1 - 2 al) |dw|^2_K

#include "schemes/alpha_family.h"

typedef struct hht_params {
    double alpha;
} hht_params;

static const pcs_option hht_options[] = {
    PCS_REAL("alpha", hht_params, alpha, PCS_DEFAULT("0.1"), PCS_WITHIN(0.0, 1.0 / 3.0),
             "weight of the old forces: 0 dissipates nothing, 1/3 most"),
    { 0 },
};

static pcs_status hht_setup(pcs_scheme *self)
{
    pcs_alpha *s = self->data;
    double alpha = ((const hht_params *)self->params)->alpha;
    s->am = 0.0;
    s->af = alpha;
    s->ga = 0.5 + alpha;
    s->be = 0.25 * (1.0 + alpha) * (1.0 + alpha);
    return pcs_velocity_setup(self);
}

static void hht_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    *rule = pcs_velocity_rule();
    rule->lag = ((const hht_params *)self->params)->alpha;
}

const pcs_scheme_ops pcs_scheme_hht = {
    .name = "hht",
    .summary = "nonsmooth HHT, contact at velocity level; order 2 with dissipation, penetrates by O(h)",
    .options = hht_options,
    .params_size = sizeof(hht_params),
    .data_size = sizeof(pcs_alpha),
    .nhistory = PCS_ALPHA_NHISTORY,
    .nresultant = 2,
    .memory_size = sizeof(pcs_alpha_memory),
    .has_closed_loss = true,
    .takes_rotations = true,
    .state_rule = hht_state_rule,
    .takes_internal = true,
    .takes_dealt_rows = true,
    .setup = hht_setup,
    .start = pcs_velocity_start,
    .step = pcs_velocity_step,
};
