#include "sim/statics.h"

#include "sim/statics_newton.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { USUAL_STEPS = 10, EASY = 6 };

static const double SMALLEST = 1.0 / 4096.0; // load step, of the first one

typedef struct ramp {
    pcs_equilibrium e;
    pcs_statics *out;
    double *q, *safe;    // [nq]
    double *lam;         // [nrow] at `safe`
    unsigned char *held; // [nrow]
} ramp;

static bool statics_has_contacts(const pcs_system *system)
{
    for (int j = 0; j < system->nrow; j++)
        if (!system->rows[j].is_bilateral) return true;
    return false;
}

static pcs_status statics_loose(pcs_sim *sim, const pcs_rigid *rigid, const char *ending)
{
    char text[1024];
    pcs_rigid_text(rigid, sizeof text, text);
    return pcs_fail(sim->ctx, PCS_BAD_INPUT,
                    "the model is free to move: %s; a static analysis needs supports or joints that prevent this%s",
                    text[0] == '\0' ? "its stiffness matrix is singular" : text, ending);
}

// What is free to move without contacts is an error at once; contacts may still hold it.
static pcs_status statics_check(ramp *r)
{
    pcs_sim *sim = r->e.sim;
    PCS_TRY(pcs_rigid_find(sim->system, &r->e.rigid));
    if (r->e.rigid.count == 0 || statics_has_contacts(sim->system)) return PCS_OK;
    return statics_loose(sim, &r->e.rigid, "");
}

// A stiffness that is singular from the first is a fault of the model, not of its load.
static bool statics_is_loose(const ramp *r, pcs_statics_outcome outcome)
{
    bool is_first = r->out->step == 0 && r->e.iterations == 0;
    return outcome == PCS_STATICS_SINGULAR && (r->e.system->is_linear || is_first);
}

static pcs_status statics_fail(ramp *r, pcs_statics_outcome outcome, double load, double last)
{
    pcs_sim *sim = r->e.sim;
    char where[320] = "";
    static const char *const reasons[] = { "", "Newton's iteration did not settle",
                                           "the tangent stiffness matrix is singular", "", "the state runs away" };
    if (outcome == PCS_STATICS_LOOSE) return statics_loose(sim, &r->e.rigid, ", and no contact stops it");
    int bad = r->e.bad_equation;
    if (bad >= 0 && bad < sim->system->nv) {
        memcpy(where, " at ", 5);
        sim->system->ops->name_equation(sim->system, bad, sizeof where - 4, where + 4);
    }
    if (statics_is_loose(r, outcome))
        return pcs_fail(sim->ctx, PCS_BAD_INPUT, "the stiffness matrix is singular%s: something there moves freely",
                        where);
    return pcs_fail(sim->ctx, PCS_FAILED,
                    "no equilibrium at load factor %.6g, the last one is at %.6g: %s%s (residual %.3g of the loads); "
                    "the load may be beyond what the model can carry",
                    load, last, reasons[outcome], where, r->e.residual);
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
    out->residual = e->residual;
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
    if (system->ops->update_directions != NULL) system->ops->update_directions(system, r->q);
    system->ops->gaps(system, r->q, r->e.gap);
}

static pcs_status statics_ramp(ramp *r, int steps, pcs_statics_watch *watch, void *user)
{
    const pcs_system *system = r->e.system;
    pcs_statics_outcome outcome;
    double first = 1.0 / steps, size = first, load = 0.0;
    while (load < 1.0) {
        double next = load + size;
        if (next > 1.0 - 1e-9) next = 1.0;
        PCS_TRY(pcs_equilibrium_find(&r->e, next, r->q, &outcome));
        if (outcome != PCS_STATICS_DONE) {
            bool is_hopeless = system->is_linear || outcome == PCS_STATICS_LOOSE || statics_is_loose(r, outcome) ||
                               size <= SMALLEST * first;
            pcs_status status = is_hopeless ? statics_fail(r, outcome, next, load) : PCS_OK;
            statics_undo(r);
            if (status != PCS_OK) return status;
            r->out->nhalved++;
            size *= 0.5;
            continue;
        }
        if (r->e.iterations <= EASY) size = fmin(first, 1.5 * size);
        load = next;
        r->out->step++;
        statics_keep(r);
        statics_report(r, load);
        if (watch != NULL) PCS_TRY(watch(user, r->out));
    }
    return PCS_OK;
}

static pcs_status statics_start(ramp *r, const pcs_statics_options *options)
{
    pcs_sim *sim = r->e.sim;
    if (sim->system->layout != NULL)
        return pcs_fail(sim->ctx, PCS_UNSUPPORTED, "a static analysis runs on one process");
    PCS_TAKE(sim->ctx, r->safe, sim->system->nq, "equilibrium");
    PCS_TAKE(sim->ctx, r->lam, sim->system->nrow, "equilibrium");
    PCS_TAKE(sim->ctx, r->held, sim->system->nrow, "equilibrium");
    PCS_TRY(pcs_equilibrium_create(sim, options->time, r->q, &r->e));
    PCS_TRY(statics_check(r));
    statics_keep(r);
    statics_report(r, 0.0);
    return PCS_OK;
}

pcs_status pcs_statics_solve(pcs_sim *sim, const pcs_statics_options *options, double *q, pcs_statics_watch *watch,
                             void *user, pcs_statics *out)
{
    ramp r = { .q = q, .out = out, .e = { .sim = sim } };
    pcs_system *system = sim->system;
    *out = (pcs_statics){ .q = q };
    int steps = options->steps > 0 ? options->steps : system->is_linear ? 1 : USUAL_STEPS;
    // Closed forms do not know the load factor.
    if (system->coordinates != NULL) steps = 1;
    pcs_status status = statics_start(&r, options);
    if (status == PCS_OK && watch != NULL) status = watch(user, out);
    if (status == PCS_OK) status = statics_ramp(&r, steps, watch, user);
    system->load_factor = 1.0;
    return status;
}
