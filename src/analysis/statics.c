#include "analysis/statics.h"

#include "analysis/statics_free.h"
#include "analysis/statics_message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { USUAL_STEPS = 10, EASY = 6 };

static const double SMALLEST = 1.0 / 65536.0; // load step

static const double JUMP = 10.0; // times the way of the last load step
static const double FAR = 0.01;  // of the model's size

typedef struct ramp {
    pcs_equilibrium e;
    pcs_statics *out;
    double *q, *safe;    // [nq]
    double *lam;         // [nrow] at `safe`
    unsigned char *held; // [nrow]
    bool is_loose;       // nothing but loads and contacts hold the model: there is no way of equilibria to follow
    double stiffness;    // softest, at the start; NaN: not known
    double rate;         // of the way over the load factor, in the last load step
} ramp;

static bool statics_has_contacts(const pcs_system *system)
{
    for (int j = 0; j < system->nrow; j++)
        if (!system->rows[j].is_bilateral) return true;
    return false;
}

// Does anything act on the model: loads, driven joints, prestress?
static bool statics_has_loads(ramp *r)
{
    pcs_equilibrium *e = &r->e;
    pcs_equilibrium_begin(e, 1.0);
    pcs_equilibrium_evaluate(e, r->q);
    return e->weight > 0.0 || !pcs_equilibrium_rows_fit(e);
}

// What is free to move is an error at once, unless contacts or, in a model for large displacements, loads may hold it.
static pcs_status statics_check(ramp *r)
{
    pcs_equilibrium *e = &r->e;
    PCS_TRY(pcs_rigid_find(e->system, &e->rigid));
    r->stiffness = NAN;
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

static void statics_report(ramp *r, double load)
{
    pcs_statics *out = r->out;
    pcs_equilibrium *e = &r->e;
    e->system->load_factor = load;
    out->q = r->q;
    out->factor = load;
    out->iterations = e->iterations;
    out->total = e->total;
    out->nfactor = pcs_bordered_factorizations(e->solver);
    out->residual = e->weight > 0.0 ? e->left / e->weight : 0.0;
    out->round_off = e->weight > 0.0 ? e->round_off / e->weight : 0.0;
    out->correction = e->system->is_linear ? INFINITY : e->correction;
    out->gap = e->gap;
    out->force = e->lam;
    out->held = e->held;
    out->backend = pcs_bordered_backend(e->solver);
}

static void statics_keep(ramp *r)
{
    const pcs_system *system = r->e.system;
    memcpy(r->safe, r->q, (size_t)system->nq * sizeof *r->q);
    memcpy(r->lam, r->e.lam, (size_t)system->nrow * sizeof *r->lam);
    memcpy(r->held, r->e.held, (size_t)system->nrow);
}

static void statics_undo(ramp *r)
{
    pcs_system *system = r->e.system;
    memcpy(r->q, r->safe, (size_t)system->nq * sizeof *r->q);
    memcpy(r->e.lam, r->lam, (size_t)system->nrow * sizeof *r->lam);
    memcpy(r->e.held, r->held, (size_t)system->nrow);
    r->e.is_factored = false;
    if (system->directions_vary) system->ops->update_directions(system, r->q);
    system->ops->gaps(system, r->q, r->e.gap);
}

// The message, with what the last equilibrium tells.
static pcs_status statics_fail(ramp *r, pcs_statics_outcome outcome, double next, double last)
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
    statics_undo(r);
    pcs_equilibrium_begin(e, last > 0.0 ? last : next);
    pcs_equilibrium_evaluate(e, r->q);
    if (!r->is_loose && r->stiffness > 0.0 && last > 0.0)
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

// Lets the model down to an equilibrium, first with loads for which strains are not lost in round-off.
static pcs_status statics_relax(ramp *r, double next, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = &r->e;
    statics_undo(r);
    pcs_equilibrium_begin(e, next);
    pcs_equilibrium_evaluate(e, r->q);
    double over = pcs_equilibrium_overload(e);
    PCS_TRY(pcs_equilibrium_relax(e, next, over, r->q, outcome));
    if (over > 1.0 && *outcome != PCS_STATICS_DONE) {
        statics_undo(r);
        PCS_TRY(pcs_equilibrium_relax(e, next, 1.0, r->q, outcome));
    }
    r->is_loose = e->is_soft = true;
    r->out->nrelaxed++;
    return PCS_OK;
}

// The equilibrium at the next load factor: by Newton's method along a way of equilibria, or from where the model is.
static pcs_status statics_advance(ramp *r, double load, double next, bool is_last_try, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = &r->e;
    pcs_stability stability = PCS_STABLE;
    double stiffness;
    *outcome = PCS_STATICS_SLOW;
    if (!r->is_loose || load > 0.0) PCS_TRY(pcs_equilibrium_find(e, next, r->q, outcome));
    // What nothing but its load makes stiff must not start on its head; round-off may hide that it does.
    if (*outcome == PCS_STATICS_DONE && load == 0.0 && e->is_soft)
        PCS_TRY(pcs_equilibrium_softest(e, r->q, &stiffness, &stability));
    bool may_relax = r->is_loose || (!e->system->is_linear && is_last_try && load == 0.0);
    if (stability != PCS_STABLE || (*outcome != PCS_STATICS_DONE && may_relax)) return statics_relax(r, next, outcome);
    return PCS_OK;
}

// How far the model moved in the last load step, in units of its size.
static double statics_moved(const ramp *r)
{
    const pcs_system *system = r->e.system;
    double *way = r->e.work;
    if (system->has_rotations) system->ops->way(system, r->safe, r->q, way);
    else
        for (int i = 0; i < system->nv; i++) way[i] = r->q[i] - r->safe[i];
    return pcs_equilibrium_stride(&r->e, way);
}

// A way of equilibria that goes on elsewhere: much farther in this load step than the last one would make expect.
static void statics_watch_jumps(ramp *r, double size)
{
    double rate = statics_moved(r) / size;
    bool is_jump = r->rate > 0.0 && !r->is_loose && rate > JUMP * r->rate && rate * size > FAR;
    if (is_jump && r->out->jump == 0.0) r->out->jump = r->out->factor;
    r->rate = rate;
}

static pcs_status statics_ramp(ramp *r, int steps, pcs_statics_watch *watch, void *user)
{
    pcs_statics_outcome outcome;
    double first = 1.0 / steps, size = first, load = 0.0;
    while (load < 1.0) {
        double next = load + size;
        bool is_last_try = size <= SMALLEST;
        if (next > 1.0 - 1e-9) next = 1.0;
        PCS_TRY(statics_advance(r, load, next, is_last_try, &outcome));
        if (outcome != PCS_STATICS_DONE) {
            if (is_last_try || r->is_loose || r->e.system->is_linear || outcome == PCS_STATICS_LOOSE)
                return statics_fail(r, outcome, next, load);
            statics_undo(r);
            r->out->nhalved++;
            size *= 0.5;
            continue;
        }
        if (r->e.iterations <= EASY) size = fmin(first, 1.5 * size);
        statics_watch_jumps(r, next - load);
        load = next;
        r->out->step++;
        statics_keep(r);
        statics_report(r, load);
        if (watch != NULL) PCS_TRY(watch(user, r->out));
    }
    return PCS_OK;
}

static pcs_status statics_start(ramp *r, const pcs_analysis *on, const pcs_statics_options *options)
{
    if (on->system->layout != NULL) return pcs_fail(on->ctx, PCS_UNSUPPORTED, "a static analysis runs on one process");
    if (on->system->has_internal)
        return pcs_fail(on->ctx, PCS_UNSUPPORTED,
                        "a static analysis does not follow materials with internal variables (rod_plastic, "
                        "rod_viscoelastic) and friction of contacts with force laws: their equilibrium depends on the "
                        "way there; load them slowly in time");
    PCS_TAKE(on->ctx, r->safe, on->system->nq, "equilibrium");
    PCS_TAKE(on->ctx, r->lam, on->system->nrow, "equilibrium");
    PCS_TAKE(on->ctx, r->held, on->system->nrow, "equilibrium");
    PCS_TRY(pcs_equilibrium_create(on, options->time, r->q, &r->e));
    PCS_TRY(statics_check(r));
    statics_keep(r);
    statics_report(r, 0.0);
    return PCS_OK;
}

pcs_status pcs_statics_solve(const pcs_analysis *on, const pcs_statics_options *options, double *q,
                             pcs_statics_watch *watch, void *user, pcs_statics *out)
{
    ramp r = { .q = q, .out = out };
    pcs_system *system = on->system;
    *out = (pcs_statics){ .q = q };
    int steps = system->is_linear ? 1 : USUAL_STEPS;
    if (options->steps > 0) steps = options->steps;
    if (!system->takes_load_factor) steps = 1;
    pcs_status status = statics_start(&r, on, options);
    if (status == PCS_OK && watch != NULL) status = watch(user, out);
    if (status == PCS_OK) status = statics_ramp(&r, steps, watch, user);
    system->load_factor = 1.0;
    return status;
}
