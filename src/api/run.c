// Steps, runs, and states to go back to.

#include "api/handle.h"
#include "core/clock.h"

#include <stdio.h>
#include <string.h>

struct percuss_state {
    pcs_context *ctx; // owner of it
    const pcs_sim *of;
    pcs_memory pieces; // archive, as in a checkpoint
};

// An external watcher of a run, called as an observer: between two steps the workspace is free.
typedef struct api_watcher {
    percuss *p;
    percuss_watch *watch;
    void *user;
    double interval, last; // s of wall time
    volatile int stop;
} api_watcher;

int percuss_is_done(const percuss *p)
{
    return p == NULL || p->sim == NULL || p->is_stopped || pcs_sim_is_done(p->sim);
}

// Returns 0 if steps can be made, else the answer of the interface.
static int run_refuses(percuss *p)
{
    if (p == NULL) return 2;
    if (p->is_running) return 2; // its message belongs to the call under way
    if (p->sim == NULL) return p->system == NULL ? 2 : pcs_api_refuse(p, "a model in equilibrium makes no steps");
    return p->is_stopped ? 1 : 0;
}

static int run_step(percuss *p)
{
    pcs_api_note_applied(p);
    p->is_stepping = true;
    pcs_status status = pcs_sim_step(p->sim);
    p->is_stepping = false;
    if (status == PCS_OK) pcs_api_clear_applied(p);
    pcs_api_mirror(p);
    return pcs_api_run_answer(p, status);
}

int percuss_step(percuss *p)
{
    int answer = run_refuses(p);
    if (answer != 0 || pcs_sim_is_done(p->sim)) return answer;
    p->is_running = true;
    answer = run_step(p);
    p->is_running = false;
    return answer;
}

// Calls the watcher if its interval is over.
static void run_look(api_watcher *w)
{
    if (w->watch == NULL) return;
    if (w->interval > 0.0) {
        double now = pcs_clock();
        if (now - w->last < w->interval) return;
        w->last = now;
    }
    bool was_stepping = w->p->is_stepping;
    w->p->is_stepping = false;
    if (w->watch(w->user, w->p) != 0) w->stop = 1;
    w->p->is_stepping = was_stepping;
}

// Returns true if the time `end` is not reached yet, with a tolerance for round-off.
static bool run_is_before(const pcs_sim *sim, double end)
{
    return sim->state.t < end - 1e-9 * sim->step_size;
}

static int run_in_memory(percuss *p, double end, api_watcher *w)
{
    int answer = 0;
    while (answer == 0 && w->stop == 0 && !pcs_sim_is_done(p->sim) && run_is_before(p->sim, end)) {
        answer = run_step(p);
        if (answer == 0) run_look(w);
    }
    if (answer != 0 || w->stop == 0) return answer;
    (void)pcs_fail(p->ctx, PCS_FAILED, "step %ld (t = %.9g s): stopped on request", p->sim->state.step,
                   p->sim->state.t);
    return 1;
}

static pcs_status run_watch_open(pcs_observer *self)
{
    return PCS_OK;
}

// Updates the handle after a step has been made and written, as the last observer, and calls the watcher.
static pcs_status run_watch_step(pcs_observer *self)
{
    api_watcher *w = self->data;
    pcs_api_clear_applied(w->p);
    pcs_api_mirror(w->p);
    run_look(w);
    pcs_api_note_applied(w->p);
    return PCS_OK;
}

static const pcs_observer_ops run_watch_ops = {
    .name = "watch",
    .summary = "calls a function of the program that runs the simulation",
    .open = run_watch_open,
    .step = run_watch_step,
    .close = run_watch_open,
};

// Adds the watcher behind the observers of the case, once.
static pcs_status run_add_watcher(percuss *p, api_watcher *w)
{
    pcs_sim *sim = p->sim;
    if (p->watcher == NULL) {
        pcs_observer *observers;
        PCS_TAKE(p->ctx, p->watcher, 1, "the watcher of a run");
        PCS_TAKE(p->ctx, observers, sim->nobserver + 1, "the watcher of a run");
        memcpy(observers, sim->observers, (size_t)sim->nobserver * sizeof *observers);
        observers[sim->nobserver++] =
            (pcs_observer){ .ops = &run_watch_ops, .ctx = p->ctx, .view = &sim->view, .data = p->watcher };
        sim->view.observers = sim->observers = observers;
        sim->view.nobserver = sim->nobserver;
    }
    *p->watcher = *w;
    sim->stop_request = &p->watcher->stop;
    return PCS_OK;
}

static int run_into(percuss *p, const char *directory, api_watcher *w)
{
    pcs_status status = run_add_watcher(p, w);
    if (status != PCS_OK) return pcs_api_answer(status);
    pcs_api_note_applied(p);
    p->is_stepping = true;
    p->sim->overwrites = true; // checkpoints of an interrupted run stay until this one has its own
    status = pcs_sim_run(p->sim, directory, false);
    p->is_stepping = false;
    pcs_api_mirror(p);
    int answer = pcs_api_run_answer(p, status);
    if (p->watcher->stop != 0) p->is_stopped = false; // the state is a good one: steps may go on
    return answer;
}

int percuss_run_with(percuss *p, const percuss_run_options *options)
{
    int answer = run_refuses(p);
    if (answer != 0) return answer;
    api_watcher w = { .p = p, .watch = options->watch, .user = options->user, .interval = options->interval };
    w.last = pcs_clock();
    p->is_running = true;
    answer = options->directory == NULL ? run_in_memory(p, options->end, &w) : run_into(p, options->directory, &w);
    p->is_running = false;
    return answer;
}

int percuss_run_to(percuss *p, double t)
{
    return percuss_run_with(p, &(percuss_run_options){ .end = t });
}

int percuss_run(percuss *p, const char *directory)
{
    if (p != NULL && directory == NULL) return pcs_api_refuse(p, "no folder for the results is given");
    return percuss_run_with(p, &(percuss_run_options){ .directory = directory });
}

static void run_carry(percuss *p, pcs_carrier *c)
{
    pcs_checkpoint_carry(p->sim, c);
    pcs_api_carry_drive(p, c);
}

static bool run_may_keep(const percuss *p)
{
    return p != NULL && p->sim != NULL && p->sim->has_started && !p->is_stepping;
}

static pcs_status run_keep(pcs_context *ctx, const percuss *of, percuss_state **out)
{
    percuss copy = *of, *p = &copy; // writing changes nothing
    percuss_state *state;
    pcs_carrier c = pcs_checkpoint_carrier(p->sim, PCS_CARRY_COUNT);
    PCS_TAKE(ctx, state, 1, "a kept state");
    run_carry(p, &c);
    *state = (percuss_state){ .ctx = ctx, .of = p->sim, .pieces.size = c.used };
    state->pieces.bytes = pcs_take(ctx, 1, c.used, "a kept state");
    if (state->pieces.bytes == NULL) return PCS_NO_MEMORY;
    c = pcs_checkpoint_carrier(p->sim, PCS_CARRY_WRITE);
    c.bytes = state->pieces.bytes;
    c.size = state->pieces.size;
    run_carry(p, &c);
    *out = state;
    return c.status;
}

percuss_state *percuss_keep(const percuss *p)
{
    pcs_context *ctx = NULL;
    percuss_state *state = NULL;
    if (!run_may_keep(p) || pcs_context_create(&ctx) != PCS_OK) return NULL;
    if (run_keep(ctx, p, &state) == PCS_OK) return state;
    pcs_context_destroy(&ctx);
    return NULL;
}

// Copies a new state to the mirror; clears the message and the stop flag.
static void run_settle(percuss *p)
{
    pcs_api_mirror(p);
    (void)pcs_fail(p->ctx, PCS_OK, "%s", "");
    pcs_note(p->ctx, "%s", "");
    p->is_stopped = false;
}

int percuss_restore(percuss *p, const percuss_state *state)
{
    if (p == NULL || p->is_running) return 2;
    if (state == NULL || p->sim == NULL || state->of != p->sim)
        return pcs_api_refuse(p, "the state was not kept of this simulation");
    pcs_carrier c = pcs_checkpoint_carrier(p->sim, PCS_CARRY_READ);
    c.bytes = state->pieces.bytes;
    c.size = state->pieces.size;
    run_carry(p, &c);
    if (c.status != PCS_OK) return pcs_api_run_answer(p, c.status);
    run_settle(p);
    return 0;
}

int percuss_save(percuss *p, const char *path)
{
    if (p == NULL || p->is_running) return 2;
    if (path == NULL || !run_may_keep(p)) return pcs_api_refuse(p, "there is no state to save, or no path");
    percuss_state *state = percuss_keep(p);
    pcs_status status = state == NULL ? pcs_fail(p->ctx, PCS_NO_MEMORY, "out of memory: a kept state")
                                      : pcs_checkpoint_save(p->sim, &state->pieces, path);
    percuss_forget(&state);
    return pcs_api_answer(status);
}

static pcs_status run_read(percuss *p, const pcs_checkpoint_data *data)
{
    pcs_carrier c;
    PCS_TRY(pcs_checkpoint_demand_same(p->sim, data));
    PCS_TRY(pcs_checkpoint_begin_reading(p->sim, data, &c));
    run_carry(p, &c);
    return c.status;
}

// Loads the state of a checkpoint; restores the present state and keeps the message if that fails.
static pcs_status run_load(percuss *p, const pcs_checkpoint_data *data)
{
    char reason[1024];
    percuss_state *before = percuss_keep(p);
    if (before == NULL) return pcs_fail(p->ctx, PCS_NO_MEMORY, "out of memory: a kept state");
    bool was_stopped = p->is_stopped;
    pcs_status status = run_read(p, data);
    if (status == PCS_OK) run_settle(p);
    else {
        snprintf(reason, sizeof reason, "%s", pcs_message(p->ctx));
        (void)percuss_restore(p, before);
        p->is_stopped = was_stopped;
        (void)pcs_fail(p->ctx, status, "%s", reason);
    }
    percuss_forget(&before);
    return status;
}

int percuss_load_state(percuss *p, const char *path)
{
    pcs_checkpoint_data data;
    bool is_there;
    char note[512];
    if (p == NULL || p->is_running) return 2;
    if (path == NULL || !run_may_keep(p)) return pcs_api_refuse(p, "a state needs a simulation and a path");
    pcs_status status = pcs_checkpoint_find(p->ctx, path, false, &data, &is_there, note);
    if (status == PCS_OK && !is_there)
        status = pcs_fail(p->ctx, PCS_BAD_INPUT, "%s: there is no state of a simulation", path);
    if (status == PCS_OK) {
        status = run_load(p, &data);
        pcs_checkpoint_free(&data);
        if (status == PCS_OK && note[0] != '\0') (void)pcs_fail(p->ctx, PCS_OK, "%s", note);
    }
    return pcs_api_answer(status);
}

void percuss_forget(percuss_state **state)
{
    if (state == NULL || *state == NULL) return;
    pcs_context *ctx = (*state)->ctx;
    *state = NULL;
    pcs_context_destroy(&ctx);
}
