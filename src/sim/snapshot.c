#include "sim/snapshot.h"

#include "sim/certify_data.h"

enum { SNAPSHOT_PIECES = 32 };

struct pcs_snapshot {
    pcs_state state;
    int past; // which of the pasts is in the pieces
    pcs_memory pieces[SNAPSHOT_PIECES];
};

static void snapshot_add(pcs_memory *list, int *count, void *bytes, size_t size)
{
    if (bytes != NULL) list[(*count)++] = (pcs_memory){ .bytes = bytes, .size = size };
}

static void snapshot_add_past(certify_past *past, size_t bytes, int nhistory, pcs_memory *list, int *count)
{
    snapshot_add(list, count, &past->t, sizeof past->t);
    snapshot_add(list, count, &past->is_known, sizeof past->is_known);
    snapshot_add(list, count, &past->has_force, sizeof past->has_force);
    snapshot_add(list, count, past->q, bytes);
    snapshot_add(list, count, past->v, bytes);
    snapshot_add(list, count, past->f, bytes);
    for (int i = 0; i < nhistory; i++) snapshot_add(list, count, past->history[i], bytes);
}

// All that there is besides the state. The certificate points into itself, which is right in the run it belongs to. Of
// its two pasts only the last one counts between steps.
static int snapshot_list(pcs_sim *sim, pcs_memory list[SNAPSHOT_PIECES])
{
    pcs_certifier *c = sim->certifier;
    const pcs_system *system = sim->system;
    size_t vector = (size_t)system->nv * sizeof(double), rows = (size_t)system->nrow * sizeof(double);
    double *const row_vectors[] = { c->rows.largest_gap, c->rows.largest_rate, c->rows.overlap,
                                    c->rows.drift,       c->rows.gap,          c->rows.rate,
                                    c->rows.impulse,     c->rows.reach,        c->rows.bend };
    int count = 0;
    snapshot_add(list, &count, &sim->ledger, sizeof sim->ledger);
    snapshot_add(list, &count, &sim->number, sizeof sim->number);
    snapshot_add(list, &count, &sim->report, sizeof sim->report);
    snapshot_add(list, &count, sim->report.rows, (size_t)system->nrow * sizeof *sim->report.rows);
    snapshot_add(list, &count, sim->reactions, (size_t)system->nreaction * sizeof *sim->reactions);
    snapshot_add(list, &count, &c->now, sizeof c->now);
    for (int i = 0; i < 9; i++) snapshot_add(list, &count, row_vectors[i], rows);
    snapshot_add_past(&c->past[c->now.past], vector, sim->scheme->ops->nhistory, list, &count);
    return count;
}

pcs_status pcs_snapshot_create(pcs_context *ctx, const pcs_sim *sim, pcs_snapshot **out)
{
    pcs_snapshot *self;
    pcs_memory list[SNAPSHOT_PIECES];
    pcs_sim copy = *sim; // only its pointers are read
    PCS_TAKE(ctx, self, 1, "a kept state");
    PCS_TRY(pcs_state_clone(ctx, &sim->state, &self->state));
    self->past = sim->certifier->now.past;
    int count = snapshot_list(&copy, list);
    for (int i = 0; i < count; i++) {
        self->pieces[i].size = list[i].size;
        self->pieces[i].bytes = pcs_take(ctx, 1, list[i].size, "a kept state");
        if (self->pieces[i].bytes == NULL) return PCS_NO_MEMORY;
    }
    pcs_memory_copy(count, list, self->pieces);
    *out = self;
    return PCS_OK;
}

void pcs_snapshot_restore(const pcs_snapshot *self, pcs_sim *sim)
{
    pcs_memory list[SNAPSHOT_PIECES];
    sim->certifier->marked = -1;
    sim->certifier->now.past = self->past;
    int count = snapshot_list(sim, list);
    pcs_memory_copy(count, self->pieces, list);
    pcs_state_restore(sim->scheme, &self->state, &sim->state);
}

void pcs_sim_renew_forces(pcs_sim *sim)
{
    if (sim->certifier == NULL) return;
    certify_past *past = &sim->certifier->past[sim->certifier->now.past];
    past->has_force = false;
    for (int i = 0; i < sim->state.nhistory; i++)
        memcpy(past->history[i], sim->state.history[i], (size_t)sim->state.nv * sizeof(double));
}
