// What may touch in the next step.

#include "sim/search.h"

#include "sim/accept.h"
#include "step/projection.h"

pcs_status pcs_sim_search(pcs_sim *sim)
{
    bool has_changed = false;
    if (!sim->system->has_search) return PCS_OK;
    if (sim->system->ops->search(sim->system, sim->state.q, &has_changed) != PCS_OK)
        return pcs_wrap(sim->ctx, PCS_FAILED, "step %ld (t = %.9g s)", sim->state.step, sim->state.t);
    if (!has_changed) return PCS_OK;
    return pcs_projection_renew(sim->solver, sim->state.q)
               ? PCS_OK
               : pcs_accept_stop(sim, sim->step_size, "the mass is singular");
}
