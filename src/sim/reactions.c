// Reactions of joints and supports after every accepted step, for the observers.

#include "sim/reactions.h"

pcs_status pcs_sim_prepare_reactions(pcs_sim *sim)
{
    const pcs_system *system = sim->system;
    if (system->nreaction == 0) return PCS_OK;
    PCS_TAKE(sim->ctx, sim->reactions, system->nreaction, "reactions");
    sim->view.reactions = sim->reactions;
    if (sim->scheme->ops->acts_midway) PCS_TAKE(sim->ctx, sim->middle, system->nq, "reactions");
    return PCS_OK;
}

void pcs_sim_react(pcs_sim *sim)
{
    pcs_system *system = sim->system;
    if (sim->reactions == NULL) return;
    const double *v = pcs_scheme_velocity(sim->scheme, &sim->state);
    if (sim->middle != NULL) {
        for (int i = 0; i < system->nv; i++) sim->middle[i] = -0.5 * sim->report.h * v[i];
        pcs_retract(&system->rotations, sim->state.q, sim->middle, sim->middle);
    }
    system->ops->reactions(system, pcs_at(sim->state.t, sim->state.q, v), sim->report.h,
                           sim->middle == NULL ? sim->state.q : sim->middle, sim->report.rows, sim->reactions);
}
