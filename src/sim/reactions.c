// Reactions of joints and supports after every accepted step, for the observers.

#include "sim/reactions.h"

#include <math.h>

pcs_status pcs_sim_prepare_reactions(pcs_sim *sim)
{
    const pcs_system *system = sim->system;
    if (system->nreaction == 0) return PCS_OK;
    PCS_TAKE(sim->ctx, sim->reactions, system->nreaction, "reactions");
    PCS_TAKE(sim->ctx, sim->row_impulses.force, system->nrow, "reactions");
    PCS_TAKE(sim->ctx, sim->row_impulses.impulse, system->nrow, "reactions");
    PCS_TAKE(sim->ctx, sim->row_impulses.tangent, system->ntangent, "reactions");
    sim->view.reactions = sim->reactions;
    return PCS_OK;
}

void pcs_sim_react(pcs_sim *sim)
{
    pcs_system *system = sim->system;
    if (sim->reactions == NULL) return;
    for (int j = 0; j < system->nrow; j++) {
        const pcs_row_report *row = &sim->report.rows[j];
        sim->row_impulses.force[j] = isfinite(row->force) ? row->force : 0.0; // at t = 0 there may be none
        sim->row_impulses.impulse[j] = row->step_impulse;
        for (int t = 0; t < system->rows[j].ntangent; t++)
            sim->row_impulses.tangent[system->rows[j].first_tangent + t] = row->tangent[t];
    }
    system->time = sim->state.t;
    system->ops->reactions(system, sim->report.h, sim->state.q, sim->state.v, &sim->row_impulses, sim->reactions);
}
