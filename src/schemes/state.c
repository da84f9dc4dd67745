#include "schemes/state.h"

#include "schemes/scheme.h"
#include "step/projection.h"

#include <math.h>
#include <stdio.h>

enum { PLACE_Q = 4, PLACE_V = 5, PLACE_LOADED = 6, PLACE_RECENT = 7, PLACE_IMPULSE = 8, SINGLE = 10 };
enum { OWN = SINGLE + PCS_MAX_HISTORY + PCS_MAX_ROW_HISTORY };
static const long MOST_STEPS = 1L << 53; // all of them exact as numbers of type double
_Static_assert(OWN == 16, "each has a name in a checkpoint");

// Lists all members of a state except the memory of others.
static void state_list(pcs_state *x, pcs_memory own[OWN])
{
    size_t vector = (size_t)x->nv * sizeof(double), row_vector = (size_t)x->nrow * sizeof(double);
    const pcs_memory single[SINGLE] = {
        { .bytes = &x->t, .size = sizeof x->t },
        { .bytes = &x->step, .size = sizeof x->step },
        { .bytes = &x->next_h, .size = sizeof x->next_h },
        { .bytes = &x->largest_rate, .size = sizeof x->largest_rate },
        [PLACE_Q] = { .bytes = x->q, .size = (size_t)x->nq * sizeof(double) },
        [PLACE_V] = { .bytes = x->v, .size = vector },
        [PLACE_LOADED] = { .bytes = x->was_loaded, .size = (size_t)x->nrow },
        [PLACE_RECENT] = { .bytes = x->recent, .size = row_vector },
        [PLACE_IMPULSE] = { .bytes = x->impulse, .size = row_vector },
        { .bytes = x->memory, .size = x->memory_size },
    };
    memset(own, 0, OWN * sizeof *own);
    memcpy(own, single, sizeof single);
    for (int i = 0; i < x->nhistory; i++) own[SINGLE + i] = (pcs_memory){ .bytes = x->history[i], .size = vector };
    for (int i = 0; i < x->nrow_history; i++)
        own[SINGLE + PCS_MAX_HISTORY + i] = (pcs_memory){ .bytes = x->row_history[i], .size = row_vector };
}

// Allocates the arrays of x; those of `solver_memory` only if they are absent.
static pcs_status state_take(pcs_context *ctx, pcs_state *x)
{
    if (x->q == NULL) PCS_TAKE(ctx, x->q, x->nq, "a state");
    if (x->v == NULL) PCS_TAKE(ctx, x->v, x->nv, "a state");
    PCS_TAKE(ctx, x->was_loaded, x->nrow, "a state");
    PCS_TAKE_EACH(ctx, x->nrow, "a state", double, &x->recent, &x->impulse);
    for (int i = 0; i < x->nhistory; i++) PCS_TAKE(ctx, x->history[i], x->nv, "a state");
    for (int i = 0; i < x->nrow_history; i++) PCS_TAKE(ctx, x->row_history[i], x->nrow, "a state");
    x->memory = pcs_take(ctx, 1, x->memory_size, "a state");
    if (x->memory == NULL) return PCS_NO_MEMORY;
    for (int i = 0; i < x->nsolver_memory; i++) {
        pcs_memory *piece = &x->solver_memory[i];
        if (piece->bytes == NULL) piece->bytes = pcs_take(ctx, 1, piece->size, "a state");
        if (piece->bytes == NULL) return PCS_NO_MEMORY;
    }
    return PCS_OK;
}

pcs_status pcs_state_create(const pcs_scheme *scheme, pcs_state *x)
{
    const pcs_system *system = scheme->system;
    const pcs_scheme_ops *ops = scheme->ops;
    *x = (pcs_state){ .nq = system->nq,
                      .nv = system->nv,
                      .nrow = system->nrow,
                      .q = x->q,
                      .v = x->v,
                      .nhistory = ops->nhistory,
                      .nrow_history = ops->nrow_history,
                      .v_is_of_middle = ops->rule.kind == PCS_RULE_WAVE,
                      .memory_size = ops->memory_size,
                      .nsolver_memory = PCS_SOLVER_MEMORY + system->nmemory };
    PCS_TAKE(scheme->ctx, x->solver_memory, x->nsolver_memory, "a state");
    for (int i = 0; i < PCS_SOLVER_MEMORY; i++) {
        x->solver_memory[i] = scheme->solver->memory[i];
        x->solver_memory[i].bytes = NULL; // a copy is made after each accepted step
    }
    for (int i = 0; i < system->nmemory; i++) x->solver_memory[PCS_SOLVER_MEMORY + i] = system->memory[i];
    return state_take(scheme->ctx, x);
}

pcs_status pcs_state_clone(pcs_context *ctx, const pcs_state *x, pcs_state *out)
{
    *out = *x;
    out->q = out->v = NULL;
    PCS_TAKE(ctx, out->solver_memory, x->nsolver_memory, "a state");
    for (int i = 0; i < x->nsolver_memory; i++) out->solver_memory[i].size = x->solver_memory[i].size;
    PCS_TRY(state_take(ctx, out));
    pcs_state_copy(x, out);
    return PCS_OK;
}

void pcs_state_copy(const pcs_state *from, pcs_state *to)
{
    pcs_state source = *from;
    pcs_memory here[OWN], there[OWN];
    state_list(&source, here);
    state_list(to, there);
    pcs_memory_copy(OWN, here, there);
    pcs_memory_copy(from->nsolver_memory, from->solver_memory, to->solver_memory);
}

double pcs_state_probe(const pcs_state *x, const pcs_system *system, const pcs_probe *probe)
{
    bool is_body = probe->weights != NULL;
    return system->ops->probe(system, probe, pcs_at(x->t, x->q, is_body && x->v_is_of_middle ? x->history[0] : x->v));
}

static unsigned long long state_mix(unsigned long long hash, int count, const pcs_memory *list)
{
    for (int i = 0; i < count; i++) hash = pcs_hash(hash, list[i].bytes, list[i].size);
    return hash;
}

unsigned long long pcs_state_hash(const pcs_state *x)
{
    pcs_state copy = *x;
    pcs_memory own[OWN];
    state_list(&copy, own);
    return state_mix(state_mix(PCS_HASH_START, OWN, own), x->nsolver_memory, x->solver_memory);
}

void pcs_state_serialize(pcs_state *x, pcs_archive *c)
{
    static const char *const names[OWN] = { "t",        "step",     "next_h",  "largest_rate", "q",        "v",
                                            "loaded",   "recent",   "impulse", "memory",       "history0", "history1",
                                            "history2", "history3", "rows0",   "rows1" };
    pcs_memory own[OWN];
    char name[32];
    state_list(x, own);
    pcs_archive_part(c, "state");
    for (int i = 0; i < OWN; i++) {
        const char *piece = i == SINGLE && x->v_is_of_middle ? "end_velocity" : names[i];
        bool is_vector = i == PLACE_Q || i == PLACE_V || (i >= SINGLE && i < SINGLE + x->nhistory);
        pcs_archive_table rows = { own[i].bytes, (size_t)x->nrow, 1, 1, false };
        if (i == PLACE_RECENT || i == PLACE_IMPULSE || i >= SINGLE + PCS_MAX_HISTORY)
            rows.stride = rows.size = sizeof(double);
        int history = i - SINGLE - PCS_MAX_HISTORY;
        bool is_of_rows = (i >= PLACE_LOADED && i <= PLACE_IMPULSE) || (history >= 0 && history < x->nrow_history);
        if (is_of_rows) pcs_archive_rows(c, piece, &rows);
        else if (is_vector) pcs_archive_vector(c, piece, own[i].bytes, (int)(own[i].size / sizeof(double)));
        else pcs_archive_bytes(c, piece, own[i].bytes, own[i].size);
    }
    for (int i = 0; i < x->nsolver_memory; i++) {
        snprintf(name, sizeof name, "carried%d", i);
        pcs_archive_memory(c, name, &x->solver_memory[i]);
    }
    if (!pcs_archive_reads(c)) return;
    if (x->step < 0 || x->step > MOST_STEPS) pcs_archive_refuse(c, "step", "is no number of steps");
    if (!isfinite(x->t)) pcs_archive_refuse(c, "t", "is no time");
}

void pcs_state_complete(const pcs_scheme *scheme, const pcs_state *x)
{
    scheme->solver->t = x->t;
    pcs_memory_copy(scheme->solver->nmemory, x->solver_memory, scheme->solver->memory); // and damping forces
    (void)pcs_projection_renew(scheme->solver, x->q); // if the mass cannot be factored, the next step reports it
}

void pcs_state_restore(const pcs_scheme *scheme, const pcs_state *kept, pcs_state *x)
{
    pcs_state_copy(kept, x);
    pcs_state_complete(scheme, x);
}
