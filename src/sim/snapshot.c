#include "sim/snapshot.h"

#include "schemes/common.h"
#include "step/projection.h"

#include <string.h>

pcs_status pcs_snapshot_create(pcs_sim *sim, pcs_snapshot *s)
{
    const pcs_system *system = sim->system;
    PCS_TAKE(sim->ctx, s->q, system->nq, "kept states");
    PCS_TAKE(sim->ctx, s->v, system->nv, "kept states");
    for (int i = 0; i < sim->state.nhistory; i++) PCS_TAKE(sim->ctx, s->history[i], system->nv, "kept states");
    PCS_TAKE(sim->ctx, s->was_loaded, system->nrow, "kept states");
    s->data = pcs_take(sim->ctx, 1, sim->scheme->ops->data_size, "kept states");
    return s->data == NULL ? PCS_NO_MEMORY : PCS_OK;
}

static size_t snapshot_bytes(int count)
{
    return (size_t)count * sizeof(double);
}

void pcs_snapshot_save(const pcs_sim *sim, pcs_snapshot *s)
{
    const pcs_system *system = sim->system;
    s->state = sim->state;
    memcpy(s->q, sim->state.q, snapshot_bytes(system->nq));
    memcpy(s->v, sim->state.v, snapshot_bytes(system->nv));
    for (int i = 0; i < sim->state.nhistory; i++)
        memcpy(s->history[i], sim->state.history[i], snapshot_bytes(system->nv));
    memcpy(s->data, sim->scheme->data, sim->scheme->ops->data_size);
    // The schemes that allow control keep pcs_next as the first member of their data.
    memcpy(s->was_loaded, ((const pcs_next *)sim->scheme->data)->was_loaded, (size_t)system->nrow);
}

void pcs_snapshot_restore(pcs_sim *sim, const pcs_snapshot *s)
{
    const pcs_system *system = sim->system;
    sim->state = s->state;
    memcpy(sim->state.q, s->q, snapshot_bytes(system->nq));
    memcpy(sim->state.v, s->v, snapshot_bytes(system->nv));
    for (int i = 0; i < sim->state.nhistory; i++)
        memcpy(sim->state.history[i], s->history[i], snapshot_bytes(system->nv));
    memcpy(sim->scheme->data, s->data, sim->scheme->ops->data_size);
    memcpy(((const pcs_next *)sim->scheme->data)->was_loaded, s->was_loaded, (size_t)system->nrow);
    // Directions and mass must stand where the restored state is.
    (void)pcs_projection_move(sim->solver, sim->state.q);
}
