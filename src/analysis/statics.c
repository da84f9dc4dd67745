// Paths of equilibria by load steps and by arc length, their messages and their files.

#include "analysis/statics.h"

#include "analysis/statics_equilibrium.h"
#include "core/dense.h"
#include "output/file.h"
#include "output/series.h"
#include "output/tally.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static pcs_status ramp_follow(pcs_ramp *r);

// Why there is no equilibrium, in words.

// Writes " at node 17 at (1, 0, 0), direction [0, 1, 0]", or nothing.
static void message_place(const pcs_equilibrium *e, int equation, size_t size, char *text)
{
    text[0] = '\0';
    if (equation < 0 || equation >= e->system->nv) return;
    snprintf(text, size, " at ");
    e->system->ops->describe(e->system, equation, NULL, NULL, size - 4, text + 4);
}

// Returns the row that is farthest from its target in units of round-off, -1 if all are within 16 of them.
static int message_worst_row(const pcs_equilibrium *e)
{
    int worst = -1;
    double most = 16.0;
    for (int j = 0; j < e->system->nrow; j++) {
        double error = e->held[j] ? fabs(e->gap[j] - e->target[j]) : fmax(-e->gap[j], 0.0);
        if (e->system->rows[j].is_bilateral && !e->held[j]) continue;
        if (!(error <= most * e->blur[j])) {
            worst = j;
            most = error / e->blur[j];
        }
    }
    return worst;
}

// Writes the residual of the state evaluated last over its forces, the worst equation and row, and their round-off.
static void statics_describe(const pcs_equilibrium *e, size_t size, char *text)
{
    const pcs_system *s = e->system;
    int worst = 0, row = message_worst_row(e);
    char place[320];
    for (int i = 1; i < s->nv; i++)
        if (!(fabs(e->scale[i] * e->f[i]) <= fabs(e->scale[worst] * e->f[worst]))) worst = i;
    message_place(e, s->nv > 0 ? worst : -1, sizeof place, place);
    double weight = e->weight > 0.0 ? e->weight : 1.0;
    snprintf(text, size,
             "residual %.3g of the loads and internal forces, of which round-off explains %.3g; most, %.3g,%s",
             e->left / weight, e->round_off / weight, s->nv > 0 ? e->f[worst] : 0.0, place);
    if (row < 0) return;
    const pcs_contact_info *contact = &s->contacts[s->rows[row].contact];
    size_t used = strlen(text);
    snprintf(text + used, size - used, "; %s '%s', point %d, is off by %.3g, where round-off explains %.3g",
             contact->is_joint ? "joint" : "contact", contact->name, row - contact->first_row,
             e->held[row] ? e->gap[row] - e->target[row] : e->gap[row], e->blur[row]);
}

// Fails because the model can move; the message names its motions and closes with `ending`.
static pcs_status statics_loose(const pcs_equilibrium *e, const char *ending)
{
    char text[1024];
    pcs_rigid_text(&e->rigid, sizeof text, text);
    return pcs_fail(e->ctx, PCS_BAD_INPUT,
                    "the model is free to move: %s; a static analysis needs supports or joints that prevent this%s",
                    text[0] == '\0' ? "its stiffness matrix is singular" : text, ending);
}

static bool message_is_driven(const pcs_equilibrium *e)
{
    for (int k = 0; k < e->rigid.count; k++)
        if (pcs_equilibrium_loads_push(e, e->rigid.vector + (size_t)k * (size_t)e->system->nv)) return true;
    return false;
}

static pcs_status message_singular(const pcs_equilibrium *e, const char *where)
{
    bool has_small = e->system->is_linear && pcs_system_is_mesh(e->system) && !e->has_friction;
    return pcs_fail(
        e->ctx, PCS_BAD_INPUT, "the stiffness matrix is singular%s: something there moves freely%s%s", where,
        e->has_friction ? ", and friction does not hold it ('statics: { friction: false }' leaves it out)" : "",
        has_small ? "; where tension shall hold it, it takes elements for large displacements, rod_large_2d "
                    "instead of rod_2d, beam_exact_2d instead of beam_timo_2d"
                  : "");
}

static const char *statics_reason(pcs_statics_outcome outcome)
{
    static const char *const reasons[] = { "", "Newton's iteration did not settle",
                                           "the tangent stiffness matrix is singular", "nothing stops a motion",
                                           "the state runs away" };
    return reasons[outcome];
}

// Writes the advice: a path by arc length if the softest motion of the last equilibrium has lost nine tenths of its
// stiffness, else more steps.
static pcs_status message_advise(pcs_ramp *r, double last, size_t size, char *text)
{
    pcs_equilibrium *e = &r->e;
    char place[320];
    double stiffness = 0.0;
    pcs_stability stability = PCS_STABILITY_UNKNOWN;
    if (!r->is_loose && r->stiffness > 0.0 && isfinite(r->stiffness) && last > 0.0)
        PCS_TRY(pcs_equilibrium_softest(e, r->q, &stiffness, &stability));
    if (stability == PCS_STABILITY_UNKNOWN || !(stiffness < 0.1 * r->stiffness)) {
        snprintf(text, size,
                 "; the load may be beyond what the model can carry, or too much at once: try more --steps");
        return PCS_OK;
    }
    int softest = 0;
    for (int i = 1; i < e->system->nv; i++)
        if (fabs(e->dq[i]) > fabs(e->dq[softest])) softest = i;
    message_place(e, softest, sizeof place, place);
    snprintf(text, size,
             "; the softest motion, largest%s, has %.0f %% of its stiffness left: the model buckles or snaps through "
             "there, where a rising load cannot follow it; say 'statics: { path: arc }', or let the model move with "
             "damping",
             place, 100.0 * fmax(stiffness / r->stiffness, 0.0));
    return PCS_OK;
}

// Returns to the last equilibrium.
static void ramp_undo(pcs_ramp *r)
{
    pcs_equilibrium_go_back(&r->e, &r->e.last, r->q);
    r->e.is_factored = false;
    pcs_equilibrium_place(&r->e, r->q);
}

// Returns to the last equilibrium, at `last`, sets the message about `next`, and returns the status.
static pcs_status statics_fail(pcs_ramp *r, pcs_statics_outcome outcome, double next, double last)
{
    pcs_equilibrium *e = &r->e;
    char residual[512], where[320], advice[768];
    r->out->total = e->total;
    r->out->nfactor = pcs_bordered_factorizations(e->solver);
    e->mu = 0.0;
    pcs_equilibrium_evaluate(e, r->q);
    statics_describe(e, sizeof residual, residual);
    message_place(e, e->bad_equation, sizeof where, where);
    if (r->in_time) e->time = last;
    ramp_undo(r);
    if (r->in_time)
        return pcs_fail(e->ctx, PCS_FAILED, "no equilibrium at t = %.9g s, the last one is at %.9g s: %s (%s)", next,
                        last, statics_reason(outcome), residual);
    pcs_equilibrium_begin(e, last > 0.0 ? last : next);
    pcs_equilibrium_evaluate(e, r->q);
    if (outcome == PCS_STATICS_LOOSE) return statics_loose(e, ", and no contact stops it");
    bool is_singular = outcome == PCS_STATICS_SINGULAR, begins = r->is_loose && last == 0.0;
    if (begins && (outcome == PCS_STATICS_DIVERGED ? e->rigid.count > 0 : message_is_driven(e)))
        return statics_loose(e, ": the loads drive it on, and no contact or tension stops it");
    if (is_singular && (e->system->is_linear || e->has_friction || begins)) return message_singular(e, where);
    PCS_TRY(message_advise(r, last, sizeof advice, advice));
    return pcs_fail(e->ctx, PCS_FAILED, "no equilibrium at load factor %.6g, the last one is at %.6g: %s%s (%s)%s",
                    next, last, statics_reason(outcome), where, residual, advice);
}

// Stores, restores and reports points of a path of equilibria, with the work of forces between them:
//
//   dW = 1/2 (F_n + F) . dq       of loads and friction
//   dW = 1/2 (lam_n + lam) dm     of a joint, m = g - (its own motion); 0 of one that is not driven
//
// which is exact where all forces are linear in the displacements: their sum is the change of the strain energy, as the
// model is in equilibrium at both ends. Normal forces of contacts do no work, as they act while the gap is closed.
// The rule yet gives 1/2 (lam_n + lam) dg for a contact that closes or opens within the step, as displacements have a
// kink there. The work of the loads by the rule is wrong by the opposite amount, so this term is added to it.

// Computes the displacement [nv] from the last equilibrium to q.
static void ramp_way(const pcs_ramp *r, double *way)
{
    pcs_difference(&r->e.system->rotations, r->e.last.q, r->q, way);
}

static void ramp_report(pcs_ramp *r, double load)
{
    pcs_statics *out = r->out;
    pcs_equilibrium *e = &r->e;
    e->factor = load;
    out->q = r->q;
    out->factor = load;
    out->time = e->time;
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
    if (!e->has_friction) return;
    out->tangent = e->lam + e->system->nrow;
    out->slip = e->gap + e->system->nrow;
    out->sticks = e->held + e->system->nrow;
}

// Saves q as the last equilibrium.
static void ramp_keep(pcs_ramp *r)
{
    const pcs_equilibrium *e = &r->e;
    const pcs_system *system = e->system;
    size_t bytes = (size_t)system->nv * sizeof *r->loads;
    pcs_equilibrium_keep(e, r->q, &r->e.last);
    memcpy(r->gap, e->gap, (size_t)system->nrow * sizeof *r->gap);
    memcpy(r->drive, r->drive_now, (size_t)system->nrow * sizeof *r->drive);
    memcpy(r->loads, e->loads, bytes);
    memset(r->friction, 0, bytes);
    for (int j = system->nrow; j < e->nall; j++)
        if (e->lam[j] != 0.0) pcs_rows_add_transposed(e->R, j, e->lam[j], r->friction);
}

// Adds the work of joints, by the displacement against which their forces act, and what kinks of contacts change that
// of the loads by. e->dlam is overwritten.
static void ramp_add_row_work(pcs_ramp *r, pcs_statics_work *work)
{
    const pcs_equilibrium *e = &r->e;
    pcs_system *system = e->system;
    if (system->row_set.ndriven > 0) pcs_system_drives(system, e->time, r->drive_now, e->dlam);
    for (int j = 0; j < system->nrow; j++) {
        double *sum = system->rows[j].is_bilateral ? &work->joints : &work->loads;
        *sum += 0.5 * (e->last.lam[j] + e->lam[j]) * (e->gap[j] - r->gap[j] - (r->drive_now[j] - r->drive[j]));
    }
}

// Adds the work of joints, loads and friction since the last equilibrium, J.
static void ramp_add_work(pcs_ramp *r)
{
    const pcs_equilibrium *e = &r->e;
    pcs_statics_work *work = &r->out->work;
    double *way = e->work;
    ramp_add_row_work(r, work);
    ramp_way(r, way);
    for (int i = 0; i < e->system->nv; i++) {
        work->loads += 0.5 * (r->loads[i] + e->loads[i]) * way[i];
        work->friction += 0.5 * r->friction[i] * way[i];
    }
    for (int j = e->system->nrow; j < e->nall; j++) work->friction += 0.5 * e->lam[j] * pcs_rows_dot(e->R, j, way);
}

// Accepts q as an equilibrium of the path: adds its work, reports and saves it.
static pcs_status ramp_accept(pcs_ramp *r, double load)
{
    pcs_system *system = r->e.system;
    ramp_add_work(r);
    if (pcs_system_remembers(system)) {
        r->out->work.materials += pcs_system_material_loss(system, pcs_at(r->e.time, r->q, NULL));
        system->ops->commit(system, pcs_at(r->e.time, r->q, NULL));
    }
    r->out->step++;
    ramp_report(r, load);
    if (r->watch != NULL) PCS_TRY(r->watch(r->user, r->out));
    ramp_keep(r);
    return PCS_OK;
}

// Allocates memory and begins at q without loads.
static pcs_status ramp_begin(pcs_ramp *r)
{
    const pcs_equilibrium *e = &r->e;
    pcs_system *system = e->system;
    PCS_TAKE(e->ctx, r->gap, system->nrow, "equilibrium");
    PCS_TAKE(e->ctx, r->drive, system->nrow, "equilibrium");
    PCS_TAKE(e->ctx, r->drive_now, system->nrow, "equilibrium");
    PCS_TAKE(e->ctx, r->loads, system->nv, "equilibrium");
    PCS_TAKE(e->ctx, r->friction, system->nv, "equilibrium");
    if (system->row_set.ndriven > 0) pcs_system_drives(system, e->time, r->drive_now, e->dlam);
    if (pcs_system_remembers(system)) system->ops->commit(system, pcs_at(e->time, r->q, NULL));
    ramp_keep(r);
    ramp_report(r, 0.0);
    return PCS_OK;
}

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

// Returns true if loads, driven joints or prestress act on the model.
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
        return statics_loose(e, "");
    }
    pcs_stability stability;
    PCS_TRY(pcs_equilibrium_softest(e, r->q, &r->stiffness, &stability));
    e->is_soft = e->rigid.count > 0 || stability == PCS_NEUTRAL || stability == PCS_UNSTABLE;
    if (!e->is_soft) return PCS_OK;
    if (!statics_has_contacts(e->system) && !statics_has_loads(r)) return statics_loose(e, "");
    r->is_loose = stability == PCS_UNSTABLE;
    return r->is_loose ? PCS_OK : pcs_equilibrium_is_driven(e, r->q, &r->is_loose);
}

// Relaxes the model to an equilibrium (statics_relax.c).
static pcs_status statics_relax(pcs_ramp *r, double next, pcs_statics_outcome *outcome)
{
    int total = r->e.total;
    ramp_undo(r);
    r->is_loose = r->e.is_soft = true;
    r->out->nrelaxed++;
    PCS_TRY(pcs_equilibrium_relax(&r->e, next, r->q, outcome));
    r->e.iterations = r->e.total - total;
    return PCS_OK;
}

// Finds the equilibrium at the next load factor or time, by Newton's method along the path, or by relaxation.
static pcs_status statics_advance(pcs_ramp *r, double load, double next, bool is_last_try, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = &r->e;
    pcs_stability stability = PCS_STABLE;
    double stiffness;
    if (r->in_time) {
        e->time = next;
        return pcs_equilibrium_find(e, 1.0, r->q, outcome);
    }
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
    ramp_way(r, r->e.work);
    return pcs_stride(r->e.system, r->e.work);
}

// Records the load factor at which the path jumps: displacements far larger than the last load step lets expect.
static void statics_watch_jumps(pcs_ramp *r, double size)
{
    double rate = statics_moved(r) / size;
    bool is_jump = r->rate > 0.0 && !r->is_loose && rate > JUMP * r->rate && rate * size > FAR;
    if (is_jump && r->out->jump == 0.0) r->out->jump = r->out->factor;
    r->rate = rate;
}

// Returns the fraction of a load step that rotates driven angles by a quarter turn at most; `way` and `end` (NULL for
// 0) are the driven motions at its ends.
static double statics_part(const pcs_system *system, const double *way, const double *end)
{
    double most = 0.0;
    for (int j = 0; j < system->nrow; j++)
        if (system->rows[j].is_driven && system->rows[j].is_angle)
            most = fmax(most, fabs((end != NULL ? end[j] : 0.0) - way[j]));
    return most > QUARTER_TURN && !system->is_linear ? QUARTER_TURN / most : 1.0;
}

static double statics_drive_part(pcs_equilibrium *e, double start, double end)
{
    pcs_system *s = e->system;
    if (s->row_set.ndriven == 0) return 1.0;
    pcs_system_drives(s, start, e->gap, e->dlam);
    pcs_system_drives(s, end, e->target, e->dlam);
    return statics_part(s, e->gap, e->target);
}

// Goes from one equilibrium to the one at load factor or time `end`; steps that fail are halved, easy ones grow.
static pcs_status statics_march(pcs_ramp *r, double start, double end, double longest)
{
    pcs_equilibrium *e = &r->e;
    pcs_statics_outcome outcome;
    double size = longest, at = start;
    while (at < end) {
        if (r->in_time) size *= statics_drive_part(e, at, fmin(at + size, end));
        double next = at + size > end - 1e-9 * (end - start) ? end : at + size;
        bool is_last_try = size <= SMALLEST * (end - start);
        PCS_TRY(statics_advance(r, at, next, is_last_try, &outcome));
        if (outcome != PCS_STATICS_DONE) {
            bool is_final = r->is_loose || (e->system->is_linear && !e->has_friction) || outcome == PCS_STATICS_LOOSE;
            if (is_last_try || (is_final && !r->in_time)) return statics_fail(r, outcome, next, at);
            ramp_undo(r);
            r->out->nhalved++;
            size *= 0.5;
            continue;
        }
        if (e->iterations <= EASY) size = fmin(longest, 1.5 * size);
        if (!r->in_time) statics_watch_jumps(r, next - at);
        at = next;
        PCS_TRY(ramp_accept(r, r->in_time ? 1.0 : at));
    }
    return PCS_OK;
}

// Raises the loads from zero; for a history those of t = 0, without reports, and then follows the time.
static pcs_status statics_raise(pcs_ramp *r, int steps)
{
    pcs_statics_watch *watch = r->watch;
    double first = fmin(1.0 / steps, statics_part(r->e.system, r->e.gap0, NULL)), time = r->options->time;
    bool is_history = r->options->path == PCS_PATH_HISTORY;
    if (is_history) r->watch = NULL;
    PCS_TRY(statics_march(r, 0.0, 1.0, first));
    if (!is_history) return PCS_OK;
    r->watch = watch;
    r->out->step = 0;
    r->in_time = true;
    if (watch != NULL) PCS_TRY(watch(r->user, r->out));
    for (int k = 0; k < steps; k++) PCS_TRY(statics_march(r, time * k / steps, time * (k + 1) / steps, time / steps));
    return PCS_OK;
}

// Fails, with an error at `key` of the part, if the case has this part (NULL if absent): statics cannot follow `what`.
static pcs_status statics_refuse_part(const pcs_analysis *on, const char *part, const char *key, const char *what)
{
    if (part == NULL) return PCS_OK;
    pcs_case_error_at(on->input, pcs_case_find(on->input, part), key, "a static analysis does not follow %s", what);
    return pcs_case_finish(on->input);
}

// Returns true if the options ask for friction and the system has rows with friction.
static bool statics_has_friction(const pcs_system *system, const pcs_statics_options *options)
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
    e->has_friction = statics_has_friction(system, r->options);
    PCS_TRY(statics_refuse(r, on, is_arc, e->has_friction));
    e->holds_touching = is_arc || e->has_friction;
    pcs_analysis model = *on;
    // The one that knows the sign of a determinant.
    if (is_arc && strcmp(on->linear, "auto") == 0 && system->nv > 0) model.linear = "umfpack";
    PCS_TRY(pcs_equilibrium_create(&model, r->options->path == PCS_PATH_HISTORY ? 0.0 : r->options->time, r->q, e));
    PCS_TRY(ramp_begin(r));
    if (!is_arc) PCS_TRY(statics_check(r));
    return PCS_OK;
}

static int statics_steps(const pcs_ramp *r, const pcs_system *system)
{
    if (!pcs_system_is_mesh(system) && r->options->path == PCS_PATH_LOAD) return 1;
    if (r->options->steps > 0) return r->options->steps;
    return system->is_linear && !r->e.has_friction ? 1 : USUAL_STEPS;
}

pcs_status pcs_statics_solve(const pcs_analysis *on, const pcs_statics_options *options, double *q,
                             pcs_statics_watch *watch, void *user, pcs_statics *out)
{
    pcs_ramp r = { .q = q, .out = out, .options = options, .watch = watch, .user = user };
    *out = (pcs_statics){ .q = q, .is_arc = options->path == PCS_PATH_ARC };
    pcs_status status = statics_start(&r, on);
    int steps = statics_steps(&r, on->system);
    if (status == PCS_OK && watch != NULL && options->path != PCS_PATH_HISTORY) status = watch(user, out);
    if (status == PCS_OK) status = r.out->is_arc ? ramp_follow(&r) : statics_raise(&r, steps);
    return status;
}

// A static analysis on disk: statics.csv with a row per load step, frames of the model and of the contacts whose time
// is the load factor, and a summary.

enum { NAME_ROOM = 512, FRAME_OBSERVERS = 3, MOST_POINTS = 20 };

typedef struct record {
    const pcs_analysis *on;
    pcs_view view;
    pcs_state x;
    pcs_instant at; // state that is reported
    pcs_step_report report;
    pcs_row_report *acting;  // [nrow + ncompliant] forces, and their impulses over one second
    pcs_reaction *reactions; // [nreaction]
    int *state;              // [nrow] status of contacts with friction
    pcs_frames_params params;
    pcs_observer frames[FRAME_OBSERVERS]; // observers of model, contacts, and view.json
    int nopen;
    bool has_friction, is_arc, is_history;
    bool is_head; // the line being written is the head of the table
    pcs_file *table, *summary;
} record;

static bool statics_rubs(const record *r, const pcs_contact_info *contact)
{
    return r->has_friction && contact->nrow > 0 && r->on->system->rows[contact->first_row].ntangent > 0;
}

// Adds a cell to a line of the table: the name of its column, or its number; NaN: none.
static void statics_put_cell(const record *r, const char *name, int point, const char *what, double x)
{
    if (r->is_head) pcs_file_column(r->table, name, point, what);
    else pcs_file_text(r->table, ",");
    if (!r->is_head && !isnan(x)) pcs_file_number(r->table, x);
}

// Returns the value with its sign for one direction, the length for two.
static double statics_along(int ntangent, const double *x)
{
    return ntangent == 2 ? hypot(x[0], x[1]) : x[0];
}

// Writes one point of a contact, or with point < 0 all as one: the smallest gap, sums of forces and friction, the
// largest slip, and whether one slides.
static void statics_put_rows(const record *r, const pcs_contact_info *contact, int point)
{
    int first = contact->first_row + (point < 0 ? 0 : point), count = point < 0 ? contact->nrow : 1;
    const pcs_row_report *rows = r->report.rows + first;
    double gap = count > 0 ? rows[0].gap : 0.0, force = 0.0, friction = 0.0, slip = 0.0;
    int state = PCS_ROW_OPEN;
    for (int i = 0; i < count; i++) {
        int ntangent = r->on->system->rows[first + i].ntangent;
        if (rows[i].gap < gap) gap = rows[i].gap;
        force += rows[i].force;
        if (!r->has_friction || ntangent == 0) continue;
        double way = statics_along(ntangent, rows[i].slip);
        friction += statics_along(ntangent, rows[i].tangent);
        if (fabs(way) > fabs(slip)) slip = way;
        if (r->state[first + i] > state) state = r->state[first + i];
    }
    statics_put_cell(r, contact->name, point, "gap", gap);
    statics_put_cell(r, contact->name, point, "force", force);
    if (!statics_rubs(r, contact)) return;
    statics_put_cell(r, contact->name, point, "friction", friction);
    statics_put_cell(r, contact->name, point, "slip", slip);
    statics_put_cell(r, contact->name, point, "state", state);
}

// Returns true for a mesh: a closed-form system has no separate forces, and its start is no equilibrium without loads.
static bool statics_has_work(const record *r)
{
    return pcs_system_is_mesh(r->on->system);
}

static void statics_put_figures(const record *r, const pcs_statics *now)
{
    pcs_system *system = r->on->system;
    const pcs_statics_work *w = &now->work;
    pcs_measure measure = { 0 };
    if (!r->is_head) system->ops->measure(system, r->at, PCS_ENERGY, &measure);
    const struct {
        const char *name;
        double value;
        bool exists, is_known;
    } figures[] = { { "factor", now->factor, true, true },
                    { "iterations", now->iterations, true, true },
                    { "residual", now->residual, true, true },
                    { "correction", now->correction, true, isfinite(now->correction) },
                    { "strain", measure.strain, true, true },
                    { "potential", measure.potential, true, true },
                    { "load_work", w->loads, true, statics_has_work(r) },
                    { "joint_work", w->joints, true, statics_has_work(r) },
                    { "friction_work", w->friction, true, statics_has_work(r) },
                    { "t", now->time, r->is_history, true },
                    { "material_loss", w->materials, pcs_system_remembers(system), true },
                    { "arc", now->arc, r->is_arc, true },
                    { "slope", now->slope, r->is_arc, true },
                    { "determinant", now->determinant, r->is_arc, true } };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i].exists)
            statics_put_cell(r, figures[i].name, -1, NULL, figures[i].is_known ? figures[i].value : NAN);
}

static void statics_put_line(const record *r, const pcs_statics *now)
{
    const pcs_analysis *on = r->on;
    pcs_system *system = on->system;
    if (r->is_head) pcs_file_text(r->table, "step");
    else pcs_file_print(r->table, "%d", now->step);
    statics_put_figures(r, now);
    for (int c = 0; c < system->ncontact; c++) {
        const pcs_contact_info *contact = &system->contacts[c];
        for (int i = -1; !contact->is_joint && i < (contact->writes_points ? contact->nrow : 0); i++)
            statics_put_rows(r, contact, i);
    }
    for (int i = 0; i < system->nreaction; i++)
        for (int k = 0; k < PCS_REACTION_COMPONENTS; k++)
            if (pcs_reaction_has(&system->reactions[i], k))
                statics_put_cell(r, system->reactions[i].name, -1, pcs_reaction_names[k],
                                 pcs_reaction_component(&r->reactions[i], k));
    for (int k = 0; k < on->nprobe; k++)
        statics_put_cell(r, on->probes[k].column, -1, NULL,
                         r->is_head ? 0.0 : system->ops->probe(system, &on->probes[k], r->at));
    pcs_file_text(r->table, "\n");
}

// Evaluates the reactions, which are means over a step: here over one second without motion.
static void statics_react(record *r)
{
    pcs_system *system = r->on->system;
    if (system->nreaction == 0) return;
    for (int j = 0; j < pcs_system_npoint(system); j++) r->acting[j] = r->report.rows[j];
    for (int pass = 0; pass < 2; pass++) system->ops->reactions(system, r->at, pass, r->x.q, r->acting, r->reactions);
}

static void statics_rub(record *r, const pcs_statics *now, int j)
{
    const pcs_row *row = &r->on->system->rows[j];
    r->state[j] = now->held[j] ? PCS_ROW_CLOSED : PCS_ROW_OPEN;
    for (int t = 0; t < row->ntangent; t++) {
        int k = row->first_tangent + t;
        r->report.rows[j].tangent[t] = now->tangent[k];
        r->report.rows[j].slip[t] = now->held[j] ? now->slip[k] : 0.0;
        if (now->held[j] && !now->sticks[k]) r->state[j] = PCS_ROW_SLIDES;
    }
}

static void statics_pose(record *r, const pcs_statics *now)
{
    pcs_step_report *report = &r->report;
    memcpy(r->x.q, now->q, (size_t)r->on->system->nq * sizeof *r->x.q);
    r->x.t = r->is_history ? now->time : now->factor;
    r->x.step = now->step;
    r->at = pcs_at_rest(now->time, r->x.q, r->x.v, now->factor);
    for (int j = 0; j < r->on->system->nrow; j++) {
        report->rows[j] = (pcs_row_report){ .gap = now->gap[j], .force = now->force[j], .is_closed = now->held[j] };
        if (now->tangent != NULL) statics_rub(r, now, j);
    }
    pcs_system_press(r->on->system, r->at, report->rows);
    // Impulses over a second.
    for (int j = 0; j < pcs_system_npoint(r->on->system); j++) report->rows[j].step_impulse = report->rows[j].force;
    statics_react(r);
}

static pcs_status statics_watch(void *user, const pcs_statics *now)
{
    record *r = user;
    statics_pose(r, now);
    statics_put_line(r, now);
    PCS_TRY(pcs_file_flush(r->table));
    for (int i = 0; i < FRAME_OBSERVERS; i++) {
        pcs_observer *o = &r->frames[i];
        bool is_first = now->step == 0;
        if (is_first) r->nopen = i + 1;
        PCS_TRY(is_first ? o->ops->open(o) : o->ops->step(o));
    }
    return PCS_OK;
}

static pcs_status statics_take(record *r)
{
    pcs_context *ctx = r->on->ctx;
    const pcs_system *system = r->on->system;
    PCS_TAKE(ctx, r->x.q, system->nq, "load steps");
    PCS_TAKE(ctx, r->x.v, system->nv, "load steps");
    PCS_TAKE(ctx, r->report.rows, pcs_system_npoint(system), "load steps");
    PCS_TAKE(ctx, r->state, system->nrow, "load steps");
    PCS_TAKE(ctx, r->reactions, system->nreaction, "load steps");
    PCS_TAKE(ctx, r->acting, pcs_system_npoint(system), "load steps");
    return PCS_OK;
}

static pcs_status statics_prepare(record *r, const char *directory)
{
    static const char *const names[FRAME_OBSERVERS] = { "frames", "contact_frames", "view" };
    const pcs_analysis *on = r->on;
    char path[4200], stem[NAME_ROOM];
    snprintf(path, sizeof path, "%s/case.resolved.yaml", directory);
    PCS_TRY(pcs_case_write(on->input, path));
    PCS_TRY(statics_take(r));
    snprintf(stem, sizeof stem, "%s_statics", on->case_name);
    r->params.every = 1;
    r->view = (pcs_view){
        .title = on->title, .directory = directory, .system = on->system, .kind = "statics", .still = &r->at
    };
    r->view.case_name = pcs_take_text(on->ctx, stem);
    if (r->view.case_name == NULL) return PCS_NO_MEMORY;
    r->view.state = &r->x;
    r->view.report = &r->report;
    r->view.observers = r->frames;
    r->view.nobserver = FRAME_OBSERVERS;
    for (int i = 0; i < FRAME_OBSERVERS; i++)
        PCS_TRY(pcs_observer_create(on->ctx, names[i], &r->view, &r->params, &r->frames[i]));
    PCS_TRY(pcs_file_create(on->ctx, directory, sizeof "statics.csv", 1 << 16, &r->table));
    PCS_TRY(pcs_file_create(on->ctx, directory, sizeof "summary.txt", 1 << 12, &r->summary));
    PCS_TRY(pcs_file_open(r->table, "statics.csv"));
    r->is_head = true;
    statics_put_line(r, &(pcs_statics){ 0 });
    r->is_head = false;
    return PCS_OK;
}

static void statics_put_point(const record *r, const pcs_contact_info *contact, int i)
{
    static const char *const states[] = { "open", "sticks", "slides" };
    int j = contact->first_row + i;
    const pcs_row_report *row = &r->report.rows[j];
    bool rubs = statics_rubs(r, contact);
    const char *state = row->is_closed ? "closed" : "open";
    if (rubs) state = states[r->state[j]];
    pcs_file_print(r->summary, "  %s, point %d: %s, gap %.6g m, force %.9g N", contact->name, i, state, row->gap,
                   row->force);
    if (rubs)
        pcs_file_print(r->summary, ", friction %.9g N", statics_along(r->on->system->rows[j].ntangent, row->tangent));
    pcs_file_text(r->summary, "\n");
}

static void statics_put_marks(const record *r, const char *title, const pcs_statics_marks *marks)
{
    if (marks->count == 0) return;
    pcs_file_print(r->summary, "  %-19s", title);
    for (int i = 0; i < marks->count && i < PCS_STATICS_MARKS; i++)
        pcs_file_print(r->summary, "%s %.9g", i > 0 ? "," : "", marks->factor[i]);
    if (marks->count > PCS_STATICS_MARKS) pcs_file_print(r->summary, ", %d more", marks->count - PCS_STATICS_MARKS);
    pcs_file_text(r->summary, "\n");
}

static void statics_put_path(const record *r, const pcs_statics *now)
{
    if (!now->is_arc) return;
    pcs_file_print(r->summary, "  path                arc %.6g, ends at load factor %.9g\n", now->arc, now->factor);
    statics_put_marks(r, "limit points", &now->limits);
    statics_put_marks(r, "other paths near", &now->branches);
}

// Writes the work of loads, joints and friction and the loss in materials, J, to the summary.
static void statics_put_balance(const record *r, const pcs_statics *now)
{
    const pcs_statics_work *w = &now->work;
    if (!statics_has_work(r)) return;
    pcs_file_print(r->summary, "  work                loads %.9g, joints %.9g, friction %.9g J\n", w->loads, w->joints,
                   w->friction);
    if (pcs_system_remembers(r->on->system)) pcs_file_print(r->summary, "  lost in materials   %.9g J\n", w->materials);
}

static void statics_put_contacts(const record *r)
{
    const pcs_system *system = r->on->system;
    bool is_smooth = false;
    if (pcs_contact_rows(system) > 0) pcs_file_text(r->summary, "\nContacts\n");
    for (int c = 0; c < system->ncontact; c++) {
        const pcs_contact_info *contact = &system->contacts[c];
        if (!contact->is_joint)
            for (int i = 0; i < contact->nrow; i++) {
                int j = contact->first_row + i;
                is_smooth = is_smooth || (system->rows[j].friction > 0.0 && !r->has_friction);
                if (i < MOST_POINTS) statics_put_point(r, contact, i);
            }
        if (contact->nrow > MOST_POINTS && !contact->is_joint)
            pcs_file_print(r->summary, "  %s: %d points more\n", contact->name, contact->nrow - MOST_POINTS);
    }
    if (is_smooth) pcs_file_text(r->summary, "  (friction is left out, as the case asks for)\n");
}

static void statics_put_reactions(const record *r)
{
    const pcs_system *system = r->on->system;
    if (system->nreaction > 0) pcs_file_text(r->summary, "\nReactions, N and N m\n");
    for (int i = 0; i < system->nreaction; i++) {
        pcs_file_print(r->summary, "  %s:", system->reactions[i].name);
        for (int k = 0; k < PCS_REACTION_COMPONENTS; k++)
            if (pcs_reaction_has(&system->reactions[i], k))
                pcs_file_print(r->summary, " %s %.9g", pcs_reaction_names[k],
                               pcs_reaction_component(&r->reactions[i], k));
        pcs_file_text(r->summary, "\n");
    }
}

// Writes the probes under the loads of the last equilibrium.
static void statics_put_probes(record *r, const pcs_statics *now)
{
    pcs_system *system = r->on->system;
    if (r->on->nprobe > 0) pcs_file_text(r->summary, "\nProbes\n");
    for (int k = 0; k < r->on->nprobe; k++)
        pcs_file_print(
            r->summary, "  %-19s %.12g\n", r->on->probes[k].column,
            system->ops->probe(system, &r->on->probes[k], pcs_at_rest(now->time, r->x.q, r->x.v, now->factor)));
}

static pcs_status statics_summarise(record *r, const pcs_statics *now, const char *reason)
{
    const pcs_analysis *on = r->on;
    pcs_measure measure;
    PCS_TRY(pcs_file_open(r->summary, "summary.txt"));
    on->system->ops->measure(on->system, r->at, PCS_ENERGY, &measure);
    pcs_file_print(r->summary, "%s\n\n", on->title);
    pcs_file_print(r->summary, "Static analysis %s\n", reason == NULL ? "finished" : "stopped");
    if (reason != NULL) pcs_file_print(r->summary, "  %s\n", reason);
    pcs_file_print(r->summary, "  load factor         %.9g\n", now->factor);
    if (r->is_history) pcs_file_print(r->summary, "  time                %.9g s\n", now->time);
    pcs_file_print(r->summary, "  load steps          %d, %d halved\n", now->step, now->nhalved);
    statics_put_path(r, now);
    pcs_file_print(r->summary, "  Newton iterations   %d, %d factorizations by %s\n", now->total, now->nfactor,
                   now->backend);
    if (now->nrelaxed > 0)
        pcs_file_print(r->summary, "  let down to rest    %d times: what holds the model is its load, or contacts\n",
                       now->nrelaxed);
    if (now->jump > 0.0)
        pcs_file_print(r->summary,
                       "  jump                from load factor %.6g on: the model snapped through or buckled\n",
                       now->jump);
    pcs_file_print(r->summary, "  residual            %.3g of the loads and internal forces, round-off explains %.3g\n",
                   now->residual, now->round_off);
    if (isfinite(now->correction))
        pcs_file_print(r->summary, "  last correction     %.3g of the deformation\n", now->correction);
    pcs_file_print(r->summary, "  strain energy       %.9g J\n", measure.strain);
    statics_put_balance(r, now);
    statics_put_probes(r, now);
    statics_put_contacts(r);
    statics_put_reactions(r);
    return pcs_file_commit(r->summary);
}

static pcs_status statics_run(const pcs_analysis *on, const pcs_statics_options *options, const char *directory,
                              pcs_statics *out)
{
    record *r;
    double *q;
    PCS_TAKE(on->ctx, r, 1, "load steps");
    PCS_TAKE(on->ctx, q, on->system->nq, "load steps");
    r->on = on;
    r->has_friction = statics_has_friction(on->system, options);
    r->is_arc = options->path == PCS_PATH_ARC;
    r->is_history = options->path == PCS_PATH_HISTORY;
    memcpy(q, on->start, (size_t)on->system->nq * sizeof *q);
    PCS_TRY(statics_prepare(r, directory));
    char reason[1024];
    pcs_status status = pcs_statics_solve(on, options, q, statics_watch, r, out), closing = PCS_OK;
    snprintf(reason, sizeof reason, "%s", status == PCS_OK ? "" : pcs_message(on->ctx));
    for (int i = 0; i < r->nopen && closing == PCS_OK; i++) closing = r->frames[i].ops->close(&r->frames[i]);
    if (closing == PCS_OK) closing = pcs_file_commit(r->table);
    if (closing == PCS_OK && r->nopen > 0) closing = statics_summarise(r, out, status == PCS_OK ? NULL : reason);
    return status != PCS_OK ? pcs_fail(on->ctx, status, "%s", reason) : closing;
}

pcs_status pcs_statics_run(const pcs_analysis *on, const pcs_statics_options *options, const char *directory,
                           pcs_statics *out)
{
    int lock = -1;
    PCS_TRY(pcs_file_make_folder(on->ctx, directory));
    PCS_TRY(pcs_file_lock_folder(on->ctx, directory, &lock));
    pcs_status status = statics_run(on, options, directory, out);
    pcs_file_unlock_folder(lock);
    return status;
}

// Equilibrium paths by arc length: the load factor s is an unknown as well.
//
//   f(q; s) + G^T lam = 0,  g = g_s,   <t, q - q_n> + w t_s (s - s_n) = l        (t, t_s): unit tangent at (q_n, s_n)
//   K b = df/ds,  G b = dg_s/ds        t = +-b/size,  t_s = ds/dl = +-1/size,  size^2 = <b, b> + w
//
// with <x, y> the mean over all coordinates of x_i y_i / size_i^2, a displacement by the size of the model, an angle by
// 1 rad: the same in all units and on all meshes. w is one hundredth of <b, b> at the start: load alone makes an arc
// where nothing can move. The plane normal to the tangent is that of Riks and of Keller; s passes its largest and
// smallest values (limit points) and displacements turn back (snap-back) as nothing but l is prescribed. A correction
// is dq = a + ds b, by the factors of K alone; the tangent goes on as the last way went.
//
// Contacts stay as they are within an arc. Where one would pull or overlap at its end, the path is followed to where
// its force or gap is zero, which takes the place of the condition on l; there it changes, and the path goes on to the
// side on which its gap opens or its force grows. So a corner of any angle is passed, as by a pivot of Lemke's method.
//
// Limit points are located by the zero of ds/dl. Where the sign of det K changes and that of ds/dl does not, another
// path crosses this one. (Riks 1979; Keller 1977; Crisfield 1981.)

enum { MOST_CORRECTIONS = 25, USUAL_CORRECTIONS = 7, MOST_FLIPS = 4, LOCATE = 40, MOST_EVENTS = 8 };

static const double SHORTEST = 1.0 / 1048576.0; // of the longest arc
static const double FINE = 1.0 / 128.0;         // of the longest arc: bends are real
static const double STRAIGHT = 0.95;            // cosine between a chord and the tangents at its ends
static const double FLAT = 1e-7;                // ds/dl at a limit point, of the largest
static const double LOAD_SHARE = 0.01;          // of the load in a squared arc at the start
static const double ON_PLANE = 1e-9;            // of the arc

// Names the condition that ends an arc: plane at a given arc, load factor, zero gap or zero force of a row.
typedef enum arc_kind { ARC_PLANE, ARC_LOAD, ARC_GAP, ARC_FORCE } arc_kind;

typedef struct arc_goal {
    arc_kind kind;
    double value; // arc, or load factor
    int row;      // row with zero gap or force
} arc_goal;

// Holds the unit tangent of the path at a point.
typedef struct arc_tangent {
    double *t;   // [nv]
    double rate; // ds/dl
    int sign;    // sign of det K
} arc_tangent;

typedef struct arc {
    pcs_ramp *r;
    pcs_equilibrium *e;
    double *weight;         // [nv] weights of the product
    double load_weight;     // w
    double *p, *b;          // [nv] df/ds, and dq/ds
    double *b_lam;          // [nrow] dlam/ds
    double *way;            // [nv] displacement since the last point
    arc_tangent last, next; // at the last point, and at the new one
    double s;               // load factor of the last point
    double length, longest;
    double steepest; // largest |ds/dl| so far
    bool was_limit;  // the last point is a limit point
    int changed;     // row that changed status at the last point, or -1
    int nchange;     // number of consecutive points at which one did
} arc;

static double arc_product(const arc *a, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < a->e->system->nv; i++) sum += a->weight[i] * x[i] * y[i];
    return sum;
}

// Evaluates df/ds and solves for dq/ds and dlam/ds, at the current state with the current factors.
static void arc_respond(arc *a)
{
    pcs_equilibrium *e = a->e;
    pcs_system *s = e->system;
    s->ops->force(s, pcs_at_rest(e->time, a->r->q, e->zero, 1.0), a->p);
    e->factor = e->load;
    for (int i = 0; i < s->nv; i++) a->b[i] = a->p[i] -= e->idle[i];
    for (int j = 0; j < s->nrow; j++) a->b_lam[j] = e->held[j] ? -e->gap0[j] : 0.0;
    pcs_bordered_solve(e->solver, a->b, a->b_lam);
    for (int j = 0; j < s->nrow; j++) a->b_lam[j] = -a->b_lam[j];
}

// Returns the goal's value less the present one: of arc, load factor, gap (m) or force (N).
static double arc_miss(arc *a, arc_goal goal)
{
    const pcs_equilibrium *e = a->e;
    if (goal.kind == ARC_LOAD) return goal.value - e->load;
    if (goal.kind == ARC_GAP) return -e->gap[goal.row];
    if (goal.kind == ARC_FORCE) return -e->lam[goal.row];
    ramp_way(a->r, a->way);
    return goal.value - arc_product(a, a->last.t, a->way) - a->load_weight * a->last.rate * (e->load - a->s);
}

// Returns the change of that quantity, to first order, by a correction dq, dlam, ds.
static double arc_reach(const arc *a, arc_goal goal, const double *dq, const double *dlam, double ds)
{
    if (goal.kind == ARC_LOAD) return ds;
    if (goal.kind == ARC_GAP) return pcs_rows_dot(a->e->system->G, goal.row, dq);
    if (goal.kind == ARC_FORCE) return dlam[goal.row];
    return arc_product(a, a->last.t, dq) + a->load_weight * a->last.rate * ds;
}

static bool arc_is_there(const arc *a, arc_goal goal, double miss)
{
    const pcs_equilibrium *e = a->e;
    if (goal.kind == ARC_PLANE) return fabs(miss) <= ON_PLANE * goal.value + DBL_EPSILON;
    if (goal.kind == ARC_LOAD) return miss == 0.0;
    if (goal.kind == ARC_GAP) return fabs(miss) <= 16.0 * e->blur[goal.row];
    return fabs(miss) <= 1e-10 * e->weight / pcs_equilibrium_row_size(e, goal.row);
}

// Makes one correction of q, lam and s; *is_singular if the tangent is singular.
static pcs_status arc_step(arc *a, arc_goal goal, double miss, bool *is_singular)
{
    pcs_equilibrium *e = a->e;
    pcs_equilibrium_update_tangent(e, a->r->q);
    PCS_TRY(pcs_equilibrium_factor(e, is_singular));
    if (*is_singular) return PCS_OK;
    pcs_equilibrium_solve(e);
    arc_respond(a);
    double per_load = arc_reach(a, goal, a->b, a->b_lam, 1.0);
    double ds = (miss - arc_reach(a, goal, e->dq, e->dlam, 0.0)) / per_load;
    for (int i = 0; i < e->system->nv; i++) e->dq[i] += ds * a->b[i];
    for (int j = 0; j < e->system->nrow; j++) e->dlam[j] += ds * a->b_lam[j];
    e->load = goal.kind == ARC_LOAD ? goal.value : e->load + ds;
    pcs_equilibrium_judge(e, a->r->q, ds * pcs_dense_dot(e->system->nv, a->p, e->dq));
    pcs_equilibrium_correct(e, a->r->q);
    *is_singular = !isfinite(e->load);
    return PCS_OK;
}

// Solves for the goal by Newton's method from the current q and s.
static pcs_status arc_correct(arc *a, arc_goal goal, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    double before = INFINITY;
    bool is_singular = false;
    for (e->iterations = 0;; e->iterations++, e->total++) {
        pcs_equilibrium_evaluate(e, a->r->q);
        *outcome = PCS_STATICS_DIVERGED;
        if (pcs_equilibrium_has_diverged(e, a->r->q)) return PCS_OK;
        double miss = arc_miss(a, goal);
        *outcome = PCS_STATICS_DONE;
        if (arc_is_there(a, goal, miss) && pcs_equilibrium_is_close(e, before)) return PCS_OK;
        *outcome = PCS_STATICS_SLOW;
        if (e->iterations == MOST_CORRECTIONS) return PCS_OK;
        before = e->left;
        PCS_TRY(arc_step(a, goal, miss, &is_singular));
        *outcome = PCS_STATICS_SINGULAR;
        if (is_singular) {
            e->bad_equation = pcs_bordered_bad_equation(e->solver);
            return PCS_OK;
        }
    }
}

// Steps from the last point along its tangent by `length` and corrects to the goal.
static pcs_status arc_go(arc *a, double length, arc_goal goal, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    ramp_undo(a->r);
    pcs_equilibrium_begin(e, a->s + length * a->last.rate);
    for (int i = 0; i < e->system->nv; i++) e->dq[i] = length * a->last.t[i];
    pcs_retract(&e->system->rotations, a->r->q, e->dq, a->r->q);
    return arc_correct(a, goal, outcome);
}

// Returns the sign of the direction in which the path goes on: as it came, or to the side that a changed row allows.
static double arc_side(arc *a)
{
    double side;
    if (a->changed < 0) {
        ramp_way(a->r, a->way);
        side = arc_product(a, a->b, a->way) + a->load_weight * (a->e->load - a->s);
    } else if (a->e->held[a->changed]) {
        side = a->b_lam[a->changed];
    } else {
        side = pcs_rows_dot(a->e->system->G, a->changed, a->b);
    }
    return side < 0.0 ? -1.0 : 1.0;
}

// Finds the unit tangent of the path at the point found.
static pcs_status arc_find_tangent(arc *a, bool is_first, arc_tangent *out, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    bool is_singular = false;
    pcs_equilibrium_update_tangent(e, a->r->q);
    PCS_TRY(pcs_equilibrium_factor(e, &is_singular));
    *outcome = is_singular ? PCS_STATICS_SINGULAR : PCS_STATICS_DONE;
    e->bad_equation = is_singular ? pcs_bordered_bad_equation(e->solver) : -1;
    if (is_singular) return PCS_OK;
    arc_respond(a);
    double moves = arc_product(a, a->b, a->b), side = is_first ? 1.0 : arc_side(a);
    if (is_first) a->load_weight = LOAD_SHARE * moves;
    double size = sqrt(moves + a->load_weight);
    if (!(size > 0.0) || !isfinite(size))
        return pcs_fail(e->ctx, PCS_BAD_INPUT,
                        "a path by arc length has nothing to follow: no load or driven joint that follows the load "
                        "factor moves this model");
    for (int i = 0; i < e->system->nv; i++) out->t[i] = side / size * a->b[i];
    out->rate = side / size;
    out->sign = pcs_bordered_sign(e->solver);
    return PCS_OK;
}

// Finds the first contact along the arc whose status is wrong at its end, or -1; *part of the arc leads to its change.
static int arc_first_wrong(const arc *a, double *part)
{
    const pcs_equilibrium *e = a->e;
    int first = -1;
    *part = 1.0;
    for (int j = 0; j < e->system->nrow; j++) {
        if (!pcs_equilibrium_row_is_wrong(e, j)) continue;
        double from = fmax(e->held[j] ? e->last.lam[j] : a->r->gap[j], 0.0), to = e->held[j] ? e->lam[j] : e->gap[j];
        double share = from / (from - to);
        if (first < 0 || share < *part) {
            first = j;
            *part = share;
        }
    }
    return first;
}

// Follows the path to the point where the first contact changes status, expected at `part` of the arc, and changes it.
static pcs_status arc_go_to_change(arc *a, double length, int row, double part, pcs_statics_outcome *outcome)
{
    pcs_equilibrium *e = a->e;
    for (int k = 0; k < MOST_FLIPS && row >= 0; k++) {
        arc_goal goal = { e->held[row] ? ARC_FORCE : ARC_GAP, 0.0, row };
        PCS_TRY(arc_go(a, part * length, goal, outcome));
        if (*outcome != PCS_STATICS_DONE) return PCS_OK;
        a->changed = row;
        pcs_equilibrium_find_noise(e);
        row = arc_first_wrong(a, &part);
    }
    *outcome = row < 0 ? PCS_STATICS_DONE : PCS_STATICS_SLOW;
    if (row >= 0) return PCS_OK;
    row = a->changed;
    e->held[row] = !e->held[row];
    e->lam[row] = 0.0;
    e->has_factors = false;
    return PCS_OK;
}

// Locates the limit point within the arc by the zero of ds/dl (regula falsi, Illinois) and leaves the state there.
static pcs_status arc_locate_limit(arc *a, double length, pcs_statics_outcome *outcome)
{
    double low = 0.0, high = length, at_low = a->last.rate, at_high = a->next.rate;
    for (int k = 0; k < LOCATE; k++) {
        double at = (low * at_high - high * at_low) / (at_high - at_low);
        if (!(at > low && at < high)) at = 0.5 * (low + high);
        PCS_TRY(arc_go(a, at, (arc_goal){ ARC_PLANE, at, -1 }, outcome));
        if (*outcome == PCS_STATICS_DONE) PCS_TRY(arc_find_tangent(a, false, &a->next, outcome));
        if (*outcome != PCS_STATICS_DONE) return PCS_OK;
        double rate = a->next.rate;
        if (fabs(rate) <= FLAT * a->steepest || high - low <= 4.0 * DBL_EPSILON * length) return PCS_OK;
        if ((rate > 0.0) == (at_low > 0.0)) {
            low = at;
            at_low = rate;
            at_high *= 0.5;
        } else {
            high = at;
            at_high = rate;
            at_low *= 0.5;
        }
    }
    return PCS_OK;
}

static void arc_mark(pcs_statics_marks *marks, double factor)
{
    if (marks->count < PCS_STATICS_MARKS) marks->factor[marks->count] = factor;
    marks->count++;
}

// Makes the new point the last one, adds its arc length and reports it.
static pcs_status arc_accept(arc *a)
{
    pcs_statics *out = a->r->out;
    arc_tangent swap = a->last;
    double more = a->e->load - a->s;
    ramp_way(a->r, a->way);
    out->arc += sqrt(arc_product(a, a->way, a->way) + a->load_weight * more * more);
    a->last = a->next;
    a->next = swap;
    a->s = a->e->load;
    a->steepest = fmax(a->steepest, fabs(a->last.rate));
    out->slope = a->last.rate;
    out->determinant = a->last.sign;
    return ramp_accept(a->r, a->s);
}

// Returns the cosine between the chord and a tangent, with as much load as displacement at the start.
static double arc_cosine(const arc *a, double chord, const arc_tangent *to)
{
    double w = a->load_weight / LOAD_SHARE, more = a->e->load - a->s;
    double size = sqrt(arc_product(a, to->t, to->t) + w * to->rate * to->rate);
    return (arc_product(a, to->t, a->way) + w * to->rate * more) / (size * chord);
}

// Returns true if the chord is nearly parallel to the tangents at both ends, so that the arc has skipped no bend.
static bool arc_is_near(const arc *a)
{
    double more = a->e->load - a->s;
    if (a->changed >= 0 || a->length <= FINE * a->longest) return true;
    ramp_way(a->r, a->way);
    double chord = sqrt(arc_product(a, a->way, a->way) + a->load_weight / LOAD_SHARE * more * more);
    return arc_cosine(a, chord, &a->last) >= STRAIGHT && arc_cosine(a, chord, &a->next) >= STRAIGHT;
}

// Tries an arc to its end, or to the first contact that changes within it; PCS_STATICS_SLOW if it bends too much.
static pcs_status arc_try(arc *a, pcs_statics_outcome *outcome)
{
    double length = a->length, part;
    int before = a->changed;
    a->changed = -1;
    PCS_TRY(arc_go(a, length, (arc_goal){ ARC_PLANE, length, -1 }, outcome));
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    pcs_equilibrium_find_noise(a->e);
    int row = arc_first_wrong(a, &part);
    if (row >= 0) PCS_TRY(arc_go_to_change(a, length, row, part, outcome));
    if (*outcome == PCS_STATICS_DONE) PCS_TRY(arc_find_tangent(a, false, &a->next, outcome));
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    if (!arc_is_near(a)) *outcome = PCS_STATICS_SLOW;
    a->nchange = a->changed >= 0 && (before >= 0 || a->nchange > 0) ? a->nchange + 1 : 0;
    return PCS_OK;
}

// Returns sign(det K) sign(ds/dl), which is constant along one path: both change together at limit points.
static int arc_orientation(const arc_tangent *at)
{
    return at->rate < 0.0 ? -at->sign : at->sign;
}

// Locates a limit point between the last point and the new one, and moves the new one there.
static pcs_status arc_watch(arc *a, bool *is_limit, pcs_statics_outcome *outcome)
{
    *is_limit = a->last.rate * a->next.rate < 0.0 && !a->was_limit && a->changed < 0;
    if (*is_limit) PCS_TRY(arc_locate_limit(a, a->length, outcome));
    return PCS_OK;
}

static bool arc_is_beyond(const arc *a, double *end)
{
    const pcs_statics_options *o = a->r->options;
    double s = a->e->load, least = isnan(o->least) ? -o->end : o->least;
    *end = s >= o->end ? o->end : least;
    return s >= o->end || s <= least;
}

// Ends the path at the load factor `end`.
static pcs_status arc_finish(arc *a, double end, pcs_statics_outcome *outcome)
{
    double part = (end - a->s) / (a->e->load - a->s);
    a->changed = -1;
    PCS_TRY(arc_go(a, part * a->length, (arc_goal){ ARC_LOAD, end, -1 }, outcome));
    if (*outcome == PCS_STATICS_DONE) PCS_TRY(arc_find_tangent(a, false, &a->next, outcome));
    return PCS_OK;
}

static pcs_status arc_complain(arc *a, pcs_statics_outcome outcome)
{
    if (outcome == PCS_STATICS_SINGULAR && a->r->out->step == 0)
        return pcs_fail(a->e->ctx, PCS_BAD_INPUT,
                        "a path by arc length begins at a stiff model, and the stiffness matrix is singular without "
                        "loads: take 'path: load', which lets a model down to where its loads hold it");
    char residual[512];
    statics_describe(a->e, sizeof residual, residual);
    double load = a->s;
    ramp_undo(a->r);
    return pcs_fail(a->e->ctx, PCS_FAILED,
                    "the path cannot be followed beyond load factor %.9g, arc %.6g: %s on an arc of %.3g (%s)", load,
                    a->r->out->arc,
                    outcome == PCS_STATICS_DONE ? "corners follow one another without end" : statics_reason(outcome),
                    a->length, residual);
}

// Finds the next point of the path; *is_over if it is the last one.
static pcs_status arc_advance(arc *a, bool *is_over, pcs_statics_outcome *outcome)
{
    bool is_limit = false;
    double end;
    PCS_TRY(arc_try(a, outcome));
    int iterations = a->e->iterations;
    if (*outcome == PCS_STATICS_DONE) PCS_TRY(arc_watch(a, &is_limit, outcome));
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    *is_over = arc_is_beyond(a, &end);
    if (*is_over && a->e->load != end) PCS_TRY(arc_finish(a, end, outcome));
    if (*outcome != PCS_STATICS_DONE) return PCS_OK;
    bool turns = a->last.rate * a->next.rate < 0.0 && a->changed >= 0;
    if ((is_limit && !*is_over) || turns) arc_mark(&a->r->out->limits, a->e->load);
    if (a->changed < 0 && arc_orientation(&a->last) * arc_orientation(&a->next) < 0)
        arc_mark(&a->r->out->branches, 0.5 * (a->s + a->e->load));
    a->was_limit = is_limit;
    PCS_TRY(arc_accept(a));
    double growth = sqrt((double)USUAL_CORRECTIONS / (iterations > 0 ? iterations : 1));
    a->length = fmin(a->length * fmin(fmax(growth, 0.5), 1.5), a->longest);
    return PCS_OK;
}

static pcs_status arc_run(arc *a)
{
    pcs_statics_outcome outcome;
    bool is_over = false;
    while (!is_over && a->r->out->step < a->r->options->arcs) {
        int changed = a->changed, nchange = a->nchange;
        PCS_TRY(arc_advance(a, &is_over, &outcome));
        if (outcome == PCS_STATICS_DONE) {
            if (a->nchange > MOST_EVENTS * (a->e->system->nrow + 1)) return arc_complain(a, outcome);
            continue;
        }
        if (a->length <= SHORTEST * a->longest) return arc_complain(a, outcome);
        a->changed = changed;
        a->nchange = nchange;
        is_over = false;
        a->length *= 0.47; // not a half: a singular point is not met twice
        a->r->out->nhalved++;
    }
    return PCS_OK;
}

static pcs_status arc_take(arc *a)
{
    const pcs_system *s = a->e->system;
    double **vectors[] = { &a->weight, &a->p, &a->b, &a->way, &a->last.t, &a->next.t };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        PCS_TAKE(a->e->ctx, *vectors[i], s->nv, "a path of equilibria");
    PCS_TAKE(a->e->ctx, a->b_lam, s->nrow, "a path of equilibria");
    for (int i = 0; i < s->nv; i++)
        a->weight[i] = 1.0 / (s->nv * a->e->system->scale.model[i] * a->e->system->scale.model[i]);
    return PCS_OK;
}

// Follows the path by arc length from the start, which is an equilibrium without loads.
static pcs_status ramp_follow(pcs_ramp *r)
{
    arc a = { .r = r, .e = &r->e, .changed = -1, .length = r->options->arc_length, .longest = r->options->arc_length };
    pcs_statics_outcome outcome;
    PCS_TRY(arc_take(&a));
    PCS_TRY(pcs_equilibrium_find(&r->e, 0.0, r->q, &outcome));
    if (outcome != PCS_STATICS_DONE) return arc_complain(&a, outcome);
    r->e.is_frozen = true;
    pcs_equilibrium_evaluate(&r->e, r->q);
    PCS_TRY(arc_find_tangent(&a, true, &a.last, &outcome));
    if (outcome != PCS_STATICS_DONE) return arc_complain(&a, outcome);
    a.steepest = fabs(a.last.rate);
    ramp_keep(r);
    return arc_run(&a);
}
