// Nonsmooth generalized-alpha scheme with all constraints at velocity level.
// Chen, Acary, Virlez, Bruls: A nonsmooth generalized-alpha scheme for flexible multibody systems with unilateral
// constraints, Int. J. Numer. Meth. Engng 96 (2013). Equations and energy: alpha_family.c.
//
//   am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1), ga = 1/2 + af - am, be = (ga + 1/2)^2/4

#include "schemes/alpha_family.h"

typedef struct alpha_params {
    double rho_inf;
} alpha_params;

static const pcs_option alpha_options[] = {
    PCS_REAL("rho_inf", alpha_params, rho_inf, PCS_DEFAULT("0.8"), PCS_ZERO_TO_ONE,
             "spectral radius at high frequency: 1 keeps, 0 kills"),
    { 0 },
};

static pcs_status alpha_setup(pcs_scheme *self)
{
    pcs_alpha_of_radius(self->data, ((const alpha_params *)self->params)->rho_inf);
    return pcs_velocity_setup(self);
}

static void alpha_state_rule(const pcs_scheme *self, pcs_rule *rule)
{
    *rule = pcs_velocity_rule();
    rule->radius = ((const alpha_params *)self->params)->rho_inf;
}

const pcs_scheme_ops pcs_scheme_alpha_velocity = {
    .name = "alpha_velocity",
    .summary = "nonsmooth generalized-alpha, contact at velocity level; keeps energy well, penetrates by O(h)",
    .options = alpha_options,
    .params_size = sizeof(alpha_params),
    .data_size = sizeof(pcs_alpha),
    .nhistory = PCS_ALPHA_NHISTORY,
    .nresultant = 2,
    .memory_size = sizeof(pcs_alpha_memory),
    .has_closed_loss = true,
    .takes_rotations = true,
    .state_rule = alpha_state_rule,
    .takes_internal = true,
    .takes_dealt_rows = true,
    .setup = alpha_setup,
    .start = pcs_velocity_start,
    .step = pcs_velocity_step,
};
