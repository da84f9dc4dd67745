// Half-explicit Runge-Kutta schemes with contact on velocity level in every stage.
// Schindler, Rezaei, Kursawe, Acary: Half-explicit timestepping schemes on velocity level based on
// time-discontinuous Galerkin methods, CMAME 290 (2015), appendix B, after Brasey.
//
// Stages and their rows: pcs_explicit_step. If a contact has closed, all forces of contacts are dropped and an impact
// is solved on all closed contacts:
//   v- = v + h sum_j b_j a_j,   v' = v- + M^-1 G^T La,   0 <= G v' + e G v- _|_ La >= 0
//
// Tangential rows join everywhere, with friction. HEM3 and HEM4 keep their orders 3 and 4 with joints (index 2),
// the classical Runge-Kutta method falls to about 2.

#include "schemes/explicit.h"

typedef struct herk_params {
    int method;
} herk_params;

static const char *const herk_methods[] = { "hem3", "hem4", "hem5", "herk2", "kutta3", "rk4", NULL };
static const pcs_tableau *const herk_tableaus[] = { &pcs_tableau_hem3,  &pcs_tableau_hem4,   &pcs_tableau_hem5,
                                                    &pcs_tableau_herk2, &pcs_tableau_kutta3, &pcs_tableau_rk4 };

static const pcs_option herk_options[] = {
    PCS_CHOICE("method", herk_params, method, PCS_DEFAULT("hem4"), herk_methods,
               "hem3, hem4 and hem5 keep their order with joints"),
    { 0 },
};

static double herk_stable_step(const void *params, double w, double xi, double spin)
{
    return pcs_tableau_stable_step(herk_tableaus[((const herk_params *)params)->method], w, xi, spin);
}

static pcs_status herk_setup(pcs_scheme *self)
{
    const pcs_explicit *s = self->data;
    PCS_TRY(pcs_explicit_setup(self));
    self->rule.tableau = herk_tableaus[((const herk_params *)self->params)->method];
    self->stage_accelerations = s->free;
    return pcs_explicit_take_stages(self, self->rule.tableau);
}

const pcs_scheme_ops pcs_scheme_half_explicit_rk = {
    .name = "half_explicit_rk",
    .summary = "half-explicit Runge-Kutta (HEM3 to HEM5), contact at velocity level; order 3 to 5 with joints",
    .options = herk_options,
    .params_size = sizeof(herk_params),
    .data_size = sizeof(pcs_explicit),
    .rule = { .kind = PCS_RULE_RUNGE_KUTTA, .move = NAN, .rate = PCS_RATE_BEFORE, .impact = PCS_IMPACT_WHEN_CLOSING },
    .takes = PCS_TAKES_MATERIALS | PCS_TAKES_DISTRIBUTED_ROWS,
    .stable_step = herk_stable_step,
    .setup = herk_setup,
    .start = pcs_explicit_start,
    .step = pcs_explicit_step,
};
