#include "schemes/state.h"

#include "schemes/scheme.h"
#include "step/columns.h"

#include <string.h>

enum { SINGLE_PARTS = 9, OWN_PARTS = SINGLE_PARTS + PCS_MAX_HISTORY + PCS_MAX_ROW_HISTORY };

// All that there is of a state, but for the memory of the system.
static void state_list(pcs_state *x, pcs_memory own[OWN_PARTS])
{
    size_t vector = (size_t)x->nv * sizeof(double), row_vector = (size_t)x->nrow * sizeof(double);
    const pcs_memory single[SINGLE_PARTS] = {
        { &x->t, sizeof x->t },
        { &x->step, sizeof x->step },
        { &x->next_h, sizeof x->next_h },
        { &x->largest_rate, sizeof x->largest_rate },
        { x->q, (size_t)x->nq * sizeof(double) },
        { x->v, vector },
        { x->was_loaded, (size_t)x->nrow },
        { x->memory, x->memory_size },
        { x->solver, x->solver_size },
    };
    memcpy(own, single, sizeof single);
    own += SINGLE_PARTS;
    for (int i = 0; i < PCS_MAX_HISTORY; i++)
        *own++ = (pcs_memory){ x->history[i], x->history[i] == NULL ? 0 : vector };
    for (int i = 0; i < PCS_MAX_ROW_HISTORY; i++)
        *own++ = (pcs_memory){ x->row_history[i], x->row_history[i] == NULL ? 0 : row_vector };
}

// Takes all arrays that x has none of yet.
static pcs_status state_take(pcs_context *ctx, int nrow_history, pcs_state *x)
{
    if (x->q == NULL) PCS_TAKE(ctx, x->q, x->nq, "a state");
    if (x->v == NULL) PCS_TAKE(ctx, x->v, x->nv, "a state");
    for (int i = 0; i < x->nhistory; i++) PCS_TAKE(ctx, x->history[i], x->nv, "a state");
    for (int i = 0; i < nrow_history; i++) PCS_TAKE(ctx, x->row_history[i], x->nrow, "a state");
    PCS_TAKE(ctx, x->was_loaded, x->nrow, "a state");
    x->memory = pcs_take(ctx, 1, x->memory_size, "a state");
    x->solver = pcs_take(ctx, 1, x->solver_size, "a state");
    return x->memory == NULL || x->solver == NULL ? PCS_NO_MEMORY : PCS_OK;
}

pcs_status pcs_state_create(const pcs_scheme *scheme, pcs_state *x)
{
    const pcs_system *system = scheme->system;
    *x = (pcs_state){ .q = x->q,
                      .v = x->v,
                      .nq = system->nq,
                      .nv = system->nv,
                      .nrow = system->nrow,
                      .nhistory = scheme->ops->nhistory,
                      .memory_size = scheme->ops->memory_size,
                      .solver_size = pcs_step_solver_memory_size(scheme->solver),
                      .nsystem = system->nmemory,
                      .system = system->memory };
    return state_take(scheme->ctx, scheme->ops->nrow_history, x);
}

pcs_status pcs_state_clone(pcs_context *ctx, const pcs_state *x, pcs_state *out)
{
    pcs_memory *system;
    int nrow_history = 0;
    while (nrow_history < PCS_MAX_ROW_HISTORY && x->row_history[nrow_history] != NULL) nrow_history++;
    *out = *x;
    out->q = out->v = NULL;
    PCS_TRY(state_take(ctx, nrow_history, out));
    PCS_TAKE(ctx, system, x->nsystem, "a state");
    for (int i = 0; i < x->nsystem; i++) {
        system[i] = (pcs_memory){ pcs_take(ctx, 1, x->system[i].size, "a state"), x->system[i].size };
        if (system[i].bytes == NULL) return PCS_NO_MEMORY;
    }
    out->system = system;
    pcs_state_copy(x, out);
    return PCS_OK;
}

// Part i of the state, those of the system last.
static pcs_memory state_part(const pcs_state *x, const pcs_memory own[OWN_PARTS], int i)
{
    return i < OWN_PARTS ? own[i] : x->system[i - OWN_PARTS];
}

void pcs_state_copy(const pcs_state *from, pcs_state *to)
{
    pcs_state source = *from;
    pcs_memory own[OWN_PARTS], own_to[OWN_PARTS];
    state_list(&source, own);
    state_list(to, own_to);
    for (int i = 0; i < OWN_PARTS + from->nsystem; i++) {
        pcs_memory a = state_part(from, own, i), b = state_part(to, own_to, i);
        if (a.size > 0 && a.bytes != b.bytes) memcpy(b.bytes, a.bytes, a.size);
    }
}

bool pcs_state_equal(const pcs_state *a, const pcs_state *b)
{
    pcs_state one = *a, other = *b;
    pcs_memory own[OWN_PARTS], own_b[OWN_PARTS];
    state_list(&one, own);
    state_list(&other, own_b);
    for (int i = 0; i < OWN_PARTS + a->nsystem; i++) {
        pcs_memory x = state_part(a, own, i), y = state_part(b, own_b, i);
        if (x.size != y.size || (x.size > 0 && memcmp(x.bytes, y.bytes, x.size) != 0)) return false;
    }
    return true;
}

// FNV-1a
unsigned long long pcs_state_hash(const pcs_state *x)
{
    pcs_state copy = *x;
    pcs_memory own[OWN_PARTS];
    unsigned long long hash = 14695981039346656037ULL;
    state_list(&copy, own);
    for (int i = 0; i < OWN_PARTS + x->nsystem; i++) {
        pcs_memory part = state_part(x, own, i);
        const unsigned char *bytes = part.bytes;
        for (size_t k = 0; k < part.size; k++) hash = (hash ^ bytes[k]) * 1099511628211ULL;
    }
    return hash;
}

void pcs_state_restore(const pcs_scheme *scheme, const pcs_state *kept, pcs_state *x)
{
    pcs_state_copy(kept, x);
    scheme->system->time = x->t;
    (void)pcs_projection_renew(scheme->solver, x->q); // a mass that cannot be factored shows in the next step
}
