#include "analysis/statics.h"

#include "analysis/statics_free.h"
#include "analysis/statics_message.h"
#include "analysis/statics_ramp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const statics_paths[] = { "load", "arc", "history", NULL };

const pcs_option pcs_statics_keys[] = {
    PCS_CHOICE(
        "path", pcs_statics_options, path, PCS_DEFAULT("load"), statics_paths,
        "load: the load factor rises from 0 to 1; arc: it is an unknown of a path followed by its length, through "
        "limit points and snap-back; history: loads of t = 0 rise from nothing, then go on until `time`"),
    PCS_COUNT("steps", pcs_statics_options, steps, PCS_OPTIONAL, PCS_WITHIN(1.0, 1e9),
              "load steps at least, of paths load and history, there from t = 0 to `time` [1 for linear models without "
              "friction, else 10]"),
    PCS_REAL("time", pcs_statics_options, time, PCS_DEFAULT("0"), PCS_ANY_NUMBER,
             "time at which loads and driven joints stand, s; of path history: at the end"),
    PCS_FLAG("friction", pcs_statics_options, has_friction, PCS_DEFAULT("true"),
             "friction acts against what slides from one load step to the next; false: contacts are smooth"),
    PCS_REAL("arc_length", pcs_statics_options, arc_length, PCS_DEFAULT("0.02"), PCS_ABOVE(0.0, 10.0),
             "longest arc: root mean square of all displacements, in sizes of the model, and rotations, in rad"),
    PCS_REAL("end", pcs_statics_options, end, PCS_DEFAULT("1"), PCS_POSITIVE,
             "load factor at which a path by arc length ends"),
    PCS_REAL("least", pcs_statics_options, least, PCS_OPTIONAL, PCS_NEGATIVE,
             "load factor below zero at which it ends as well [-end]"),
    PCS_COUNT("arcs", pcs_statics_options, arcs, PCS_DEFAULT("1000"), PCS_WITHIN(1.0, 1e9),
              "points of a path by arc length at most; there it ends as well"),
    { .name = NULL },
};

enum { USUAL_STEPS = 10, EASY = 6 };

static const double SMALLEST = 1.0 / 65536.0; // load step

// Limits the rotation of a driven joint per load step, rad: beyond half a turn the opposite rotation is the shorter
// one, and a mechanism is assembled in the wrong configuration.
static const double QUARTER_TURN = 1.570796326794896619;

static const double JUMP = 10.0; // times the way of the last load step
static const double FAR = 0.01;  // of the model's size

static bool statics_has_contacts(const pcs_system *system)
{
    for (int j = 0; j < system->nrow; j++)
        if (!system->rows[j].is_bilateral) return true;
    return false;
}

// True if loads, driven joints or prestress act on the model.
static bool statics_has_loads(pcs_ramp *r)
{
    pcs_equilibrium *e = &r->e;
    pcs_equilibrium_begin(e, 1.0);
    pcs_equilibrium_evaluate(e, r->q);
    return e->weight > 0.0 || !pcs_equilibrium_rows_fit(e);
}

// Fails if the model can move freely, unless contacts or, with large displacements, loads may hold it.
static pcs_status statics_check(pcs_ramp *r)
{
    pcs_equilibrium *e = &r->e;
    PCS_TRY(pcs_rigid_find(e->system, NULL, &e->rigid));
    r->stiffness = NAN;
    // Skips models with friction: whether it holds them follows from the forces of a load step.
    if (e->has_friction) return PCS_OK;
    if (e->system->is_linear) {
        if (e->rigid.count == 0 || statics_has_contacts(e->system)) return PCS_OK;
        return pcs_statics_loose(e, "");
    }
    pcs_stability stability;
    PCS_TRY(pcs_equilibrium_softest(e, r->q, &r->stiffness, &stability));
    e->is_soft = e->rigid.count > 0 || stability == PCS_NEUTRAL || stability == PCS_UNSTABLE;
    if (!e->is_soft) return PCS_OK;
    if (!statics_has_contacts(e->system) && !statics_has_loads(r)) return pcs_statics_loose(e, "");
    r->is_loose = stability == PCS_UNSTABLE;
    return r->is_loose ? PCS_OK : pcs_equilibrium_is_driven(e, r->q, &r->is_loose);
}

// The message, with what the last equilibrium tells.
static pcs_status statics_fail(pcs_ramp *r, pcs_statics_outcome outcome, double next, double last)
{
    pcs_equilibrium *e = &r->e;
    pcs_statics_trouble trouble = { .outcome = outcome, .next = next, .last = last, .softening = NAN, .softest = -1 };
    double stiffness;
    pcs_stability stability = PCS_STABILITY_UNKNOWN;
    trouble.is_loose = r->is_loose;
    r->out->total = e->total;
    r->out->nfactor = pcs_bordered_factorizations(e->solver);
    e->mu = 0.0;
    pcs_equilibrium_evaluate(e, r->q);
    pcs_statics_describe(e, sizeof trouble.residual, trouble.residual);
    int bad_equation = e->bad_equation;
    pcs_ramp_undo(r);
    pcs_equilibrium_begin(e, last > 0.0 ? last : next);
    pcs_equilibrium_evaluate(e, r->q);
    if (!r->is_loose && r->stiffness > 0.0 && isfinite(r->stiffness) && last > 0.0)
        PCS_TRY(pcs_equilibrium_softest(e, r->q, &stiffness, &stability));
    if (stability != PCS_STABILITY_UNKNOWN) {
        trouble.softening = stiffness / r->stiffness;
        trouble.softest = 0;
        for (int i = 1; i < e->system->nv; i++)
            if (fabs(e->dq[i]) > fabs(e->dq[trouble.softest])) trouble.softest = i;
    }
    e->bad_equation = bad_equation;
    return pcs_statics_complain(e, &trouble);
}

// The same on the way of a history.
static pcs_status statics_stop(pcs_ramp *r, pcs_statics_outcome outcome, double next, double last)
{
    char text[512];
    pcs_statics_describe(&r->e, sizeof text, text);
    pcs_ramp_undo(r);
    return pcs_fail(r->e.ctx, PCS_FAILED, "no equilibrium at t = %.9g s, the last one is at %.9g s: %s (%s)", next,
                    last, pcs_statics_reason(outcome), text);
}

// Lets the model down to an equilibrium, first with loads for which strains are not lost in round-off.
static pcs_status statics_relax(pcs_ramp *r, double next, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = &r->e;
    pcs_ramp_undo(r);
    pcs_equilibrium_begin(e, next);
    pcs_equilibrium_evaluate(e, r->q);
    double over = pcs_equilibrium_overload(e);
    PCS_TRY(pcs_equilibrium_relax(e, next, over, r->q, outcome));
    if (over > 1.0 && *outcome != PCS_STATICS_DONE) {
        pcs_ramp_undo(r);
        PCS_TRY(pcs_equilibrium_relax(e, next, 1.0, r->q, outcome));
    }
    r->is_loose = e->is_soft = true;
    r->out->nrelaxed++;
    return PCS_OK;
}

// The equilibrium at the next load factor: by Newton's method along a way of equilibria, or from where the model is.
static pcs_status statics_advance(pcs_ramp *r, double load, double next, bool is_last_try, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = &r->e;
    pcs_stability stability = PCS_STABLE;
    double stiffness;
    *outcome = PCS_STATICS_SLOW;
    if (!r->is_loose || load > 0.0) PCS_TRY(pcs_equilibrium_find(e, next, r->q, outcome));
    // Checks the first equilibrium of a model that only its loads make stiff: round-off may hide that it is unstable.
    if (*outcome == PCS_STATICS_DONE && load == 0.0 && e->is_soft)
        PCS_TRY(pcs_equilibrium_softest(e, r->q, &stiffness, &stability));
    bool may_relax = r->is_loose || (!e->system->is_linear && is_last_try && load == 0.0 && !e->has_friction);
    if (stability != PCS_STABLE || (*outcome != PCS_STATICS_DONE && may_relax)) return statics_relax(r, next, outcome);
    return PCS_OK;
}

// Returns the largest change of a coordinate since the last equilibrium, in units of its size.
static double statics_moved(const pcs_ramp *r)
{
    pcs_ramp_way(r, r->e.work);
    return pcs_equilibrium_stride(&r->e, r->e.work);
}

// A way of equilibria that goes on elsewhere: much farther in this load step than the last one would make expect.
static void statics_watch_jumps(pcs_ramp *r, double size)
{
    double rate = statics_moved(r) / size;
    bool is_jump = r->rate > 0.0 && !r->is_loose && rate > JUMP * r->rate && rate * size > FAR;
    if (is_jump && r->out->jump == 0.0) r->out->jump = r->out->factor;
    r->rate = rate;
}

// The part of a load step that turns driven angles by no more than a quarter; `way` and `end`, NULL: 0, are theirs at
// its ends.
static double statics_part(const pcs_system *system, const double *way, const double *end)
{
    double most = 0.0;
    for (int j = 0; j < system->nrow; j++)
        if (system->rows[j].is_driven && system->rows[j].is_angle)
            most = fmax(most, fabs((end != NULL ? end[j] : 0.0) - way[j]));
    return most > QUARTER_TURN && !system->is_linear ? QUARTER_TURN / most : 1.0;
}

static pcs_status statics_ramp(pcs_ramp *r, int steps)
{
    pcs_statics_outcome outcome;
    double first = fmin(1.0 / steps, statics_part(r->e.system, r->e.gap0, NULL)), size = first, load = 0.0;
    while (load < 1.0) {
        double next = load + size;
        bool is_last_try = size <= SMALLEST;
        if (next > 1.0 - 1e-9) next = 1.0;
        PCS_TRY(statics_advance(r, load, next, is_last_try, &outcome));
        if (outcome != PCS_STATICS_DONE) {
            bool is_final =
                r->is_loose || (r->e.system->is_linear && !r->e.has_friction) || outcome == PCS_STATICS_LOOSE;
            if (is_last_try || is_final) return statics_fail(r, outcome, next, load);
            pcs_ramp_undo(r);
            r->out->nhalved++;
            size *= 0.5;
            continue;
        }
        if (r->e.iterations <= EASY) size = fmin(first, 1.5 * size);
        statics_watch_jumps(r, next - load);
        load = next;
        PCS_TRY(pcs_ramp_accept(r, load));
    }
    return PCS_OK;
}

static double statics_pass_part(pcs_equilibrium *e, double start, double end)
{
    pcs_system *s = e->system;
    if (s->row_set.ndriven == 0) return 1.0;
    pcs_system_drives(s, start, e->gap, e->dlam);
    pcs_system_drives(s, end, e->target, e->dlam);
    return statics_part(s, e->gap, e->target);
}

// From one equilibrium to the one at `end`; steps that fail are halved.
static pcs_status statics_pass(pcs_ramp *r, double start, double end)
{
    pcs_equilibrium *e = &r->e;
    pcs_statics_outcome outcome;
    double size = end - start, t = start;
    while (t < end) {
        size *= statics_pass_part(e, t, fmin(t + size, end));
        double next = t + size > end - 1e-9 * (end - start) ? end : t + size;
        e->time = next;
        PCS_TRY(pcs_equilibrium_find(e, 1.0, r->q, &outcome));
        if (outcome != PCS_STATICS_DONE) {
            e->time = t;
            if (size <= SMALLEST * (end - start)) return statics_stop(r, outcome, next, t);
            pcs_ramp_undo(r);
            r->out->nhalved++;
            size *= 0.5;
            continue;
        }
        if (e->iterations <= EASY) size *= 1.5;
        t = next;
        PCS_TRY(pcs_ramp_accept(r, 1.0));
    }
    return PCS_OK;
}

// Nobody looks before the loads of t = 0 stand.
static pcs_status statics_history(pcs_ramp *r, int steps)
{
    pcs_statics_watch *watch = r->watch;
    r->watch = NULL;
    PCS_TRY(statics_ramp(r, steps));
    r->watch = watch;
    r->out->step = 0;
    if (watch != NULL) PCS_TRY(watch(r->user, r->out));
    // Loads and driven joints go on as they do in time, slowly.
    for (int k = 0; k < steps; k++)
        PCS_TRY(statics_pass(r, r->options->time * k / steps, r->options->time * (k + 1) / steps));
    return PCS_OK;
}

// Fails, with an error at `key` of the part, if the case has this part (NULL if absent): statics cannot follow `what`.
static pcs_status statics_refuse_part(const pcs_analysis *on, const char *part, const char *key, const char *what)
{
    if (part == NULL) return PCS_OK;
    pcs_case_error_at(on->input, pcs_case_find(on->input, part), key, "a static analysis does not follow %s", what);
    return pcs_case_finish(on->input);
}

bool pcs_statics_rubs(const pcs_system *system, const pcs_statics_options *options)
{
    bool rubs = false;
    for (int j = 0; j < system->nrow; j++)
        rubs = rubs || (system->rows[j].friction > 0.0 && system->rows[j].ntangent > 0);
    return rubs && options->has_friction && system->T != NULL;
}

static pcs_status statics_refuse(const pcs_ramp *r, const pcs_analysis *on, bool is_arc, bool has_friction)
{
    pcs_system *system = on->system;
    if (system->layout != NULL) return pcs_fail(on->ctx, PCS_UNSUPPORTED, "a static analysis runs on one process");
    PCS_TRY(statics_refuse_part(on, system->ageing, "type",
                                "materials that age: their equilibrium depends on the time that has gone by; load "
                                "them slowly in time"));
    PCS_TRY(statics_refuse_part(on, system->soft_friction, "friction",
                                "friction of contacts with force laws; leave it or the 'law' out, or load them slowly "
                                "in time"));
    if (is_arc && has_friction) {
        pcs_case_error_at(on->input, pcs_case_find(on->input, "statics"), "path",
                          "a path by arc length takes no friction: say 'friction: false', or 'path: load'");
        return pcs_case_finish(on->input);
    }
    if (r->options->path == PCS_PATH_HISTORY && !(r->options->time > 0.0)) {
        pcs_case_error_at(on->input, pcs_case_find(on->input, "statics"), "time", "a history needs a time > 0, is %g",
                          r->options->time);
        return pcs_case_finish(on->input);
    }
    if (is_arc && !pcs_system_is_mesh(system))
        return pcs_fail(on->ctx, PCS_UNSUPPORTED,
                        "loads of system '%s' follow no load factor, as a path by arc length "
                        "takes it",
                        system->name);
    return PCS_OK;
}

static pcs_status statics_start(pcs_ramp *r, const pcs_analysis *on)
{
    const pcs_system *system = on->system;
    pcs_equilibrium *e = &r->e;
    bool is_arc = r->options->path == PCS_PATH_ARC;
    e->has_friction = pcs_statics_rubs(system, r->options);
    PCS_TRY(statics_refuse(r, on, is_arc, e->has_friction));
    e->holds_touching = is_arc || e->has_friction;
    PCS_TAKE(on->ctx, r->safe, system->nq, "equilibrium");
    memcpy(r->safe, r->q, (size_t)system->nq * sizeof *r->q);
    e->origin = r->safe;
    pcs_analysis model = *on;
    // The one that knows the sign of a determinant.
    if (is_arc && strcmp(on->linear, "auto") == 0 && system->nv > 0) model.linear = "umfpack";
    PCS_TRY(pcs_equilibrium_create(&model, r->options->path == PCS_PATH_HISTORY ? 0.0 : r->options->time, r->q, e));
    PCS_TRY(pcs_ramp_begin(r));
    e->origin_lam = r->lam;
    if (!is_arc) PCS_TRY(statics_check(r));
    return PCS_OK;
}

static int statics_steps(const pcs_ramp *r, const pcs_system *system)
{
    if (!pcs_system_is_mesh(system) && r->options->path == PCS_PATH_LOAD) return 1;
    if (r->options->steps > 0) return r->options->steps;
    return system->is_linear && !r->e.has_friction ? 1 : USUAL_STEPS;
}

static pcs_status statics_follow(pcs_ramp *r, int steps)
{
    if (r->options->path == PCS_PATH_ARC) return pcs_ramp_follow(r);
    return r->options->path == PCS_PATH_HISTORY ? statics_history(r, steps) : statics_ramp(r, steps);
}

pcs_status pcs_statics_solve(const pcs_analysis *on, const pcs_statics_options *options, double *q,
                             pcs_statics_watch *watch, void *user, pcs_statics *out)
{
    pcs_ramp r = { .q = q, .out = out, .options = options, .watch = watch, .user = user };
    *out = (pcs_statics){ .q = q, .is_arc = options->path == PCS_PATH_ARC };
    pcs_status status = statics_start(&r, on);
    int steps = statics_steps(&r, on->system);
    if (status == PCS_OK && watch != NULL && options->path != PCS_PATH_HISTORY) status = watch(user, out);
    if (status == PCS_OK) status = statics_follow(&r, steps);
    return status;
}
