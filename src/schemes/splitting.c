// Splitting of smooth motion and impacts: a Runge-Kutta-Fehlberg step of order 5 without contact, then an impact at
// fixed positions. Acary, lecture slides on numerical methods for nonsmooth mechanical systems, eqs. 140-143.
//
//   (q', v-) = Fehlberg step of  q' = v, v' = a(t, q, v)
//   v' = v- + M(q')^-1 G(q')^T La,   0 <= G v' + e G v- _|_ La >= 0 on { g(q') <= tol }, with friction
//
// Without `contact_forces` a = M^-1 f, and a resting contact is held by one small impact per step. With them the smooth
// motion feels contacts that were closed at the start of the step and do not separate, on acceleration level:
//   a = M^-1 (f + G^T la),   0 <= G a + (dG/dt) v _|_ la >= 0
// and restitution is for contacts that close in the step: a lasting one that turns round comes to rest.

#include "schemes/explicit.h"

typedef struct split_params {
    bool contact_forces;
} split_params;

static const pcs_option split_options[] = {
    PCS_FLAG("contact_forces", split_params, contact_forces, PCS_DEFAULT("false"),
             "lasting contacts act on the smooth motion, too (without friction)"),
    { 0 },
};

// Refuses meshes without contact forces: a contact then sinks by (h^2/2) times its free acceleration in every step. For
// the node of a mesh that is the force of the whole body on the mass of one element.
static const char *split_refuses(const pcs_system *system, const void *params)
{
    bool has_forces = ((const split_params *)params)->contact_forces;
    if (has_forces || system->row_set.ndriven > 0) return pcs_refuse_accelerations(system, params);
    return pcs_system_is_mesh(system) && pcs_system_nrow(system) > 0
               ? "contact nodes of a mesh would sink without contact forces: say "
                 "'contact_forces: true'"
               : NULL;
}

static double split_stable_step(const void *params, double w, double xi, double spin)
{
    (void)params;
    return pcs_tableau_stable_step(&pcs_tableau_fehlberg5, w, xi, spin);
}

static pcs_status split_setup(pcs_scheme *self)
{
    pcs_explicit *s = self->data;
    const split_params *p = self->params;
    PCS_TRY(pcs_explicit_setup(self));
    s->has_forces = true;
    s->presses = p->contact_forces;
    if (!p->contact_forces) self->rule.rate = PCS_RATE_BEFORE;
    return pcs_explicit_take_stages(self, self->rule.tableau);
}

const pcs_scheme_ops pcs_scheme_splitting = {
    .name = "splitting",
    .summary = "Runge-Kutta-Fehlberg of order 5 for the smooth motion, then impacts at fixed positions",
    .options = split_options,
    .params_size = sizeof(split_params),
    .data_size = sizeof(pcs_explicit),
    .rule = { .kind = PCS_RULE_RUNGE_KUTTA,
              .move = NAN,
              .tableau = &pcs_tableau_fehlberg5,
              .impact = PCS_IMPACT_ALWAYS,
              .level = PCS_LEVEL_ACCELERATION,
              .rows_at = PCS_ROWS_WITHIN },
    .takes = PCS_TAKES_DISTRIBUTED_ROWS,
    .refuses = split_refuses,
    .stable_step = split_stable_step,
    .setup = split_setup,
    .start = pcs_explicit_start,
    .step = pcs_explicit_step,
};
