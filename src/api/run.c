// Steps, runs, kept states, and what a caller changes between two steps.

#include "api/handle.h"

#include "core/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Forces that a caller adds to those of the system, constant from one call of the scheme to the next: of a controller,
// of another model.
//
//   f := f + p,   work := work + p . (displacement from q0 to q1),   resultant := resultant + sum_i p_i d_i
//
// A system without such forces has no overhead: its operations are replaced when the forces are asked for.

struct pcs_push {
    const pcs_system_ops *own; // operations of the system
    pcs_system_ops ops;        // the same with the forces added
    double *p, *way;           // [nv] forces, and increment of q
};

static void push_force(const pcs_system *self, pcs_instant at, double *f)
{
    const pcs_push *push = self->push;
    push->own->force(self, at, f);
    for (int i = 0; i < self->nv; i++) f[i] += push->p[i];
}

static double push_load_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    const pcs_push *push = self->push;
    double work = push->own->load_work(self, t, q0, q1);
    pcs_difference(&self->rotations, q0, q1, push->way);
    for (int i = 0; i < self->nv; i++) work += push->p[i] * push->way[i];
    return work;
}

static void push_measure(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out)
{
    const pcs_push *push = self->push;
    push->own->measure(self, at, what, out);
    if (what & PCS_LOAD_POWER)
        for (int i = 0; i < self->nv; i++) out->load_power += push->p[i] * at.v[i];
    if ((what & PCS_RESULTANT) && self->direction != NULL)
        for (int i = 0; i < self->nv; i++)
            for (int k = 0; k < 3; k++) out->resultant[k] += push->p[i] * self->direction[i][k];
}

// Allocates forces p [nv], zeroed, and adds them to those of the system. Further calls return the same forces.
static pcs_status push_create(pcs_system *self, double **out)
{
    pcs_push *push = self->push;
    if (push == NULL) {
        PCS_TAKE(self->ctx, push, 1, "applied forces");
        PCS_TAKE(self->ctx, push->p, self->nv, "applied forces");
        PCS_TAKE(self->ctx, push->way, self->nv, "applied forces");
        push->own = self->ops;
        push->ops = *self->ops;
        push->ops.force = push_force;
        push->ops.load_work = push_load_work;
        push->ops.measure = push_measure;
        self->push = push;
        self->ops = &push->ops;
        self->slices = NULL;
    }
    *out = push->p;
    return PCS_OK;
}

static pcs_status drive_prepare(percuss *p)
{
    if (p->jump == NULL) PCS_TAKE(p->ctx, p->jump, p->system->nv, "applied forces");
    return PCS_OK;
}

double *percuss_applied_force(percuss *p)
{
    if (p == NULL || p->sim == NULL || p->is_stepping) return NULL;
    if (p->applied != NULL) return p->applied;
    double *applied;
    if (drive_prepare(p) != PCS_OK) return NULL;
    if (push_create(p->system, &applied) != PCS_OK) return NULL;
    p->acting = pcs_take(p->ctx, (size_t)p->system->nv, sizeof *p->acting, "applied forces");
    return p->applied = p->acting == NULL ? NULL : applied;
}

// Applies a jump df [nv] of the smooth forces, which is overwritten, to the memory of scheme and certificate.
static void drive_jump(percuss *p, double *df)
{
    double sum[3] = { 0.0 };
    if (p->system->direction != NULL)
        for (int i = 0; i < p->system->nv; i++)
            for (int k = 0; k < 3; k++) sum[k] += df[i] * p->system->direction[i][k];
    pcs_scheme_change_forces(p->sim->scheme, &p->sim->state, df, sum);
    pcs_certifier_renew(p->sim->certifier, &p->sim->state);
}

static void drive_note(percuss *p)
{
    if (p->applied == NULL) return;
    bool has_changed = false;
    for (int i = 0; i < p->system->nv; i++) {
        p->jump[i] = p->applied[i] - p->acting[i];
        p->acting[i] = p->applied[i];
        has_changed = has_changed || p->jump[i] != 0.0;
    }
    if (has_changed) drive_jump(p, p->jump);
}

static void drive_clear(percuss *p)
{
    if (p->applied != NULL) memset(p->applied, 0, (size_t)p->system->nv * sizeof *p->applied);
}

// Allocates the forces of a state that is read, and zeroes them if it has none.
static void drive_make_room(percuss *p, bool is_driven, pcs_carrier *c)
{
    if (!pcs_carry_reads(c)) return;
    drive_clear(p);
    if (p->acting != NULL) memset(p->acting, 0, (size_t)p->system->nv * sizeof *p->acting);
    if (is_driven && percuss_applied_force(p) == NULL) c->status = PCS_NO_MEMORY;
}

// Serializes the drive. A checkpoint of a run has none; load factors and friction then stay unchanged.
static void drive_carry(percuss *p, pcs_carrier *c)
{
    size_t nload = (size_t)percuss_loads(p);
    bool is_driven = p->acting != NULL;
    pcs_carry_part(c, "drive");
    if (pcs_carry_reads(c) && !pcs_carry_is_next(c, "is_driven")) {
        drive_make_room(p, false, c);
        return;
    }
    pcs_carry_flags(c, "is_driven", &is_driven, 1);
    drive_make_room(p, is_driven, c);
    if (c->status == PCS_OK && is_driven) pcs_carry_vector(c, "acting", p->acting, p->system->nv);
    if (nload > 0) pcs_carry_words(c, "load_factors", pcs_fe_load_factors(p->system), nload);
    int npoint = pcs_system_npoint(p->system);
    for (int j = 0; j < npoint; j++) pcs_carry_words(c, "friction", &p->system->laws[j].friction, 1);
}

int percuss_apply(percuss *p, int node, const double force[3])
{
    int dof[PCS_MAX_NODE_DOFS];
    double coefficient[PCS_MAX_NODE_DOFS], *applied = percuss_applied_force(p);
    if (p == NULL || p->sim == NULL || p->is_stepping) return 2;
    if (applied == NULL) return 1;
    if (p->map == NULL) return pcs_api_refuse(p, "a system in closed form has no nodes: use its applied forces");
    if (node < 0 || node >= p->map->mesh->nnode)
        return pcs_api_refuse(p, "there is no node %d, nodes are 0 to %d", node, p->map->mesh->nnode - 1);
    if (!isfinite(force[0]) || !isfinite(force[1]) || !isfinite(force[2]))
        return pcs_api_refuse(p, "the force [%g, %g, %g] on node %d is not finite", force[0], force[1], force[2], node);
    int count = pcs_dofmap_resolve(p->map, false, node, force, dof, coefficient);
    for (int i = 0; i < count; i++)
        if (p->map->dof[dof[i]].equation < 0 && coefficient[i] != 0.0) count = -1;
    if (count < 0)
        return pcs_api_refuse(p, "node %d cannot move along the force [%g, %g, %g]", node, force[0], force[1],
                              force[2]);
    for (int i = 0; i < count; i++)
        if (coefficient[i] != 0.0) applied[p->map->dof[dof[i]].equation] += coefficient[i];
    return 0;
}

static int drive_loads(const percuss *p, const pcs_fe_load **loads)
{
    return p == NULL || p->map == NULL ? 0 : pcs_fe_loads(p->system, loads);
}

int percuss_loads(const percuss *p)
{
    const pcs_fe_load *loads;
    return drive_loads(p, &loads);
}

const char *percuss_load_name(const percuss *p, int i)
{
    const pcs_fe_load *loads = NULL;
    int count = drive_loads(p, &loads);
    return i < 0 || i >= count ? NULL : loads[i].name;
}

// Sets a load factor and applies the jump, the difference of the forces before and after.
static int drive_set_factor(percuss *p, int load, double factor)
{
    const pcs_state *x = &p->sim->state;
    double *before = pcs_scratch(NULL, (size_t)p->system->nv, sizeof *before);
    if (before == NULL || drive_prepare(p) != PCS_OK) {
        pcs_scratch_free(before);
        return 1;
    }
    p->system->ops->force(p->system, pcs_at(x->t, x->q, x->v), before);
    pcs_fe_load_factors(p->system)[load] = factor;
    p->system->ops->force(p->system, pcs_at(x->t, x->q, x->v), p->jump);
    for (int i = 0; i < p->system->nv; i++) p->jump[i] -= before[i];
    pcs_scratch_free(before);
    drive_jump(p, p->jump);
    return 0;
}

int percuss_set_load_factor(percuss *p, const char *name, double factor)
{
    const pcs_fe_load *loads = NULL;
    int count = drive_loads(p, &loads);
    if (p == NULL || p->sim == NULL || p->is_stepping) return 2;
    if (name == NULL || !isfinite(factor))
        return pcs_api_refuse(p, "the factor of a load must be finite, is %g", factor);
    for (int i = 0; i < count; i++) {
        if (strcmp(loads[i].name, name) != 0) continue;
        if (loads[i].is_gravity) return pcs_api_refuse(p, "load '%s' is gravity and cannot be changed", name);
        return drive_set_factor(p, i, factor);
    }
    return pcs_api_refuse(p, "there is no load '%s'", name);
}

int percuss_set_friction(percuss *p, const char *name, double friction)
{
    if (p == NULL || p->sim == NULL || p->is_stepping) return 2;
    percuss_group group = percuss_group_named(p, name);
    if (group.name == NULL || group.is_joint)
        return pcs_api_refuse(p, "there is no contact '%s'", name == NULL ? "" : name);
    if (!(friction >= 0.0) || isinf(friction))
        return pcs_api_refuse(p, "friction of contact '%s' must be >= 0, is %g", name, friction);
    for (int j = group.first; j < group.first + group.count; j++)
        if (p->system->rows[j].ntangent == 0)
            return pcs_api_refuse(p, "contact '%s' has no friction in the case, which makes no room for it", name);
    for (int j = group.first; j < group.first + group.count; j++) p->system->laws[j].friction = friction;
    return 0;
}

// Steps, runs, and kept states.

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
    if (p->is_running) return 2; // the message belongs to the call in progress
    if (p->sim == NULL) return p->system == NULL ? 2 : pcs_api_refuse(p, "a model in equilibrium makes no steps");
    return p->is_stopped ? 1 : 0;
}

static int run_step(percuss *p)
{
    drive_note(p);
    p->is_stepping = true;
    pcs_status status = pcs_sim_step(p->sim);
    p->is_stepping = false;
    if (status == PCS_OK) drive_clear(p);
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

// Calls the watcher if its interval has passed.
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
    drive_clear(w->p);
    pcs_api_mirror(w->p);
    run_look(w);
    drive_note(w->p);
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
    drive_note(p);
    p->is_stepping = true;
    p->sim->overwrites = true; // checkpoints of an interrupted run stay until the first one of this run
    status = pcs_sim_run(p->sim, directory, false);
    p->is_stepping = false;
    pcs_api_mirror(p);
    int answer = pcs_api_run_answer(p, status);
    if (p->watcher->stop != 0) p->is_stopped = false; // a watcher has ended the run: steps may go on
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
    drive_carry(p, c);
}

static bool run_may_keep(const percuss *p)
{
    return p != NULL && p->sim != NULL && p->sim->has_started && !p->is_stepping;
}

static pcs_status run_keep(pcs_context *ctx, const percuss *of, percuss_state **out)
{
    percuss copy = *of, *p = &copy; // archiving does not change the state
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
    PCS_TRY(pcs_checkpoint_demand_same(p->sim, data));
    pcs_carrier c = pcs_checkpoint_reader(p->sim, data);
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
