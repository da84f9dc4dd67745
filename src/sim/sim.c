// The time loop: step, ledger, certificate, observers. A step is accepted in the given size, in smaller parts where it
// fails, or in a size under control.

#define _GNU_SOURCE // syncfs

#include "sim/sim.h"

#include "core/clock.h"
#include "core/comm.h"
#include "core/open.h"
#include "core/rounding.h"
#include "core/text.h"
#include "output/file.h"
#include "sim/certify.h"
#include "step/projection.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Undoes the steps since a state, which was saved when the certificate was marked.
static void accept_restore(pcs_sim *sim, const pcs_state *kept)
{
    pcs_state_restore(sim->scheme, kept, &sim->state);
    pcs_certifier_rewind(sim->certifier);
}

// Makes one step of the scheme and counts it as an attempt; its outcome is in the report.
static pcs_status accept_try(pcs_sim *sim, double h)
{
    sim->view.attempts++;
    PCS_TRY(pcs_scheme_step(sim->scheme, &sim->state, h, &sim->report));
    sim->view.iterations += sim->report.iterations;
    return PCS_OK;
}

// Fails with PCS_FAILED and a message of `what`, step, time and step size.
static pcs_status accept_stop(pcs_sim *sim, double h, const char *what)
{
    return pcs_fail(sim->ctx, PCS_FAILED, "step %ld (t = %.9g s, h = %.6g s): %s", sim->number, sim->state.t, h, what);
}

// Checks the last report against the state, and the one before the step, NULL if unknown. Returns false if a condition
// is violated and the case is strict, or if a work is not finite, which becomes the outcome of the step.
static bool accept_certifies(pcs_sim *sim, const pcs_state *before)
{
    const pcs_step_report *r = &sim->report;
    if (sim->is_timed) sim->certify_begin = pcs_clock();
    if (sim->system->has_materials && r->h > 0.0)
        sim->report.material_loss = pcs_system_material_loss(sim->system, pcs_at(sim->state.t, sim->state.q, NULL));
    // Refuses an infinite work, as a tolerance proportional to it would accept any defect.
    if (!isfinite(pcs_report_change(r))) {
        sim->report.outcome = PCS_NOT_FINITE;
        return false;
    }
    bool holds = pcs_certify(sim->certifier, before, &sim->state, r) || sim->certify_warns;
    // Commits the internal variables of materials; an impact at the start has no displacement.
    if (holds && pcs_system_remembers(sim->system))
        sim->system->ops->commit(sim->system, pcs_at(sim->state.t, sim->state.q, sim->state.v));
    return holds;
}

// Makes a step and judges it. Saves its start in sim->before if the step may be undone or the certificate needs it.
static pcs_status accept_attempt(pcs_sim *sim, double h, bool may_undo, bool *is_good)
{
    const pcs_state *before = may_undo || pcs_certifier_wants_start(sim->certifier) ? &sim->before : NULL;
    if (before != NULL) pcs_state_copy(&sim->state, &sim->before);
    if (may_undo) pcs_certifier_mark(sim->certifier);
    PCS_TRY(accept_try(sim, h));
    *is_good = sim->report.outcome == PCS_CONVERGED && accept_certifies(sim, before);
    return PCS_OK;
}

// Describes the last change of an iteration that did not converge, and the contact or joint that changed most.
static void accept_describe_rest(const pcs_sim *sim, size_t size, char *text)
{
    const pcs_step_solver *solver = sim->solver;
    if (solver->change <= solver->allowed)
        pcs_text_add(text, size, ", where the motion had converged, but the contact status kept changing");
    else
        pcs_text_add(text, size, ", which still changed by %.3g m/s where %.3g m/s is round-off", solver->change,
                     solver->allowed);
    if (solver->bad_row < 0) return;
    const pcs_contact_info *contact = &sim->system->contacts[sim->system->rows[solver->bad_row].contact];
    pcs_text_add(text, size, "; %s '%s', point %d, changed most", contact->is_joint ? "joint" : "contact",
                 contact->name, solver->bad_row - contact->first_row);
}

// Returns true if nearly all energy is numerical gain and the scheme needs equal steps: it cannot cut a failed one.
static bool accept_has_run_away(const pcs_sim *sim)
{
    const pcs_ledger *ledger = &sim->ledger;
    bool is_stuck = sim->report.outcome != PCS_CONVERGED && sim->scheme->ops->needs_equal_steps != NULL;
    return is_stuck && -ledger->numerical_loss > 0.9 * (ledger->now.kinetic + ledger->now.strain);
}

// Describes why a step did not converge, and where the state went wrong.
static void accept_describe_outcome(const pcs_sim *sim, size_t size, char *text)
{
    const char *note = pcs_noted(sim->ctx), *advice = note[0] != '\0' ? note : sim->solver->advice;
    pcs_outcome outcome = sim->report.outcome;
    bool is_solvers = outcome == PCS_SINGULAR || outcome == PCS_NOT_CONVERGED;
    int equation = is_solvers ? sim->solver->bad_equation : sim->report.bad_equation;
    char where[256] = "";
    if (equation >= 0) sim->system->ops->describe(sim->system, equation, NULL, NULL, sizeof where, where);
    pcs_text_add(text, size, "%s%s%s", pcs_outcome_text(outcome), where[0] == '\0' ? "" : " at ", where);
    if (outcome == PCS_NOT_CONVERGED && equation >= 0) accept_describe_rest(sim, size, text);
    if (outcome == PCS_NOT_CONVERGED && advice == NULL && !accept_has_run_away(sim))
        advice = "try a smaller step, or a scheme with more damping";
    if (advice != NULL) pcs_text_add(text, size, "; %s", advice);
}

// Appends why a failed step was not replaced by smaller ones, for a scheme that needs equal steps, and whether smaller
// steps throughout would help: not if nearly all energy is numerical gain.
static void accept_describe_equal_steps(const pcs_sim *sim, double h, size_t size, char *text)
{
    const pcs_scheme_ops *scheme = sim->scheme->ops;
    const pcs_ledger *ledger = &sim->ledger;
    if (scheme->needs_equal_steps == NULL || scheme->ask_waves != NULL) return;
    pcs_text_add(text, size, "; %s cannot cut a step that fails, as %s", scheme->name, scheme->needs_equal_steps);
    if (accept_has_run_away(sim))
        pcs_text_add(
            text, size,
            "; earlier steps have gained %.3g J numerically, where the system has %.3g J, and shorter steps may "
            "not help: try alpha_ggl",
            -ledger->numerical_loss, ledger->now.kinetic + ledger->now.strain);
    else
        pcs_text_add(text, size, ": try time.step %.3g or less",
                     h * pcs_certifier_shorter(sim->certifier, sim->state.t / sim->end_time));
}

// Describes what makes any further step impossible, in the state or in the loads of a step of length h from it.
static void accept_describe_limit(const pcs_sim *sim, double h, size_t size, char *text)
{
    size_t used = strlen(text);
    const double span[] = { sim->state.t, sim->state.t + h };
    if (used < size) sim->system->ops->describe(sim->system, -1, span, sim->state.q, size - used, text + used);
}

// Fails with PCS_FAILED and says why the last step of length h was rejected: no convergence, or a broken certificate.
static pcs_status accept_reject(pcs_sim *sim, double h)
{
    char text[1280] = "";
    if (sim->report.outcome != PCS_CONVERGED) {
        accept_describe_outcome(sim, sizeof text, text);
        accept_describe_equal_steps(sim, h, sizeof text, text);
        accept_describe_limit(sim, h, sizeof text, text);
        return accept_stop(sim, h, text);
    }
    // The state is the end of the step.
    pcs_certifier_describe(sim->certifier, sizeof text, text);
    accept_describe_equal_steps(sim, h, sizeof text, text);
    accept_describe_limit(sim, 0.0, sizeof text, text);
    return pcs_fail(sim->ctx, PCS_FAILED, "step %ld (t = %.9g s): %s", sim->number, sim->state.t, text);
}

// Searches contacts that may touch in the next step, or in each of the smaller ones that cover it. Fails with
// PCS_FAILED if bodies overlap that had no row.
static pcs_status sim_search(pcs_sim *sim)
{
    bool has_changed = false;
    if (!sim->system->row_set.may_change) return PCS_OK;
    if (sim->system->ops->search(sim->system, pcs_at(sim->state.t, sim->state.q, NULL), &has_changed) != PCS_OK)
        return pcs_wrap(sim->ctx, PCS_FAILED, "step %ld (t = %.9g s)", sim->state.step, sim->state.t);
    if (!has_changed) return PCS_OK;
    return pcs_projection_renew(sim->solver, sim->state.q) ? PCS_OK
                                                           : accept_stop(sim, sim->step_size, "the mass is singular");
}

// A step that does not converge, or whose certificate does not hold, is cut: the same time is covered by two steps of
// half the length, each certified on its own and cut again if necessary, down to h / 2^depth. The result is
// reported as one step. So is a step that is too long for bodies that turn fast at its start, without being tried.
//
// A step is cut, as far as that goes, also where it takes more than a quarter of the energy that the run may still
// gain: rules without dissipation gain at steps that do not resolve a nonlinear motion, and once all is spent no
// smaller step can help any more.
//
// After two failures in a row the next step begins with the fewest halvings that did in the last one. One halving less
// is tried after 2 steps; when that fails, after 4, 8, ... 64.

enum { most_halvings = 40, longest_wait = 64 };

typedef struct pcs_retry {
    int depth;              // largest number of halvings
    bool may_undo;          // a step with a broken certificate can be undone
    int finest;             // largest number of halvings so far in this step
    int coarsest;           // smallest number of halvings of an accepted smaller step
    bool has_failed;        // a step, or one of its parts, was rejected
    int count;              // smaller steps done in this step
    pcs_state whole;        // start of a step that is cut
    pcs_step_report joined; // report over the smaller steps so far
} pcs_retry;

pcs_status pcs_retry_create(pcs_sim *sim, int depth, struct pcs_retry **out)
{
    pcs_retry *r;
    PCS_TAKE(sim->ctx, r, 1, "smaller steps");
    *out = r;
    if (sim->scheme->ops->needs_equal_steps != NULL) sim->follows_rotation = false;
    else r->depth = depth;
    if (r->depth == 0 && !sim->follows_rotation) return PCS_OK;
    // Accepts every step of linear systems, which have no false roots, unless friction or several contacts act: an
    // impact in a step of many periods may then gain energy that a smaller step does not.
    r->may_undo = !sim->system->is_linear || pcs_system_ntangent(sim->system) > 0 || pcs_system_nrow(sim->system) > 1;
    PCS_TAKE(sim->ctx, r->joined.rows, pcs_system_npoint(sim->system), "smaller steps");
    return pcs_state_clone(sim->ctx, &sim->state, &r->whole);
}

// Adds the step just done to those before it; the report is that of all.
static void retry_join(pcs_sim *sim, pcs_retry *r)
{
    int npoint = pcs_system_npoint(sim->system);
    if (r->count++ > 0) pcs_join_reports(sim->system, &r->joined, npoint, sim->before.q, sim->state.q, &sim->report);
    pcs_copy_report(&sim->report, npoint, &r->joined);
}

// Returns true if smaller steps can help: also where an iteration overflows, but not an explicit scheme, which is
// unstable then. Not if memory is out or the start is not saved.
static bool retry_may_help(const pcs_sim *sim)
{
    if (pcs_message(sim->ctx)[0] != '\0') return false;
    if (sim->report.outcome == PCS_CONVERGED) return sim->retry->may_undo;
    pcs_outcome outcome = sim->report.outcome;
    const pcs_rule *rule = &sim->scheme->rule;
    if (outcome == PCS_NOT_FINITE) return rule->kind == PCS_RULE_MEAN || !pcs_rule_is_explicit(rule);
    return outcome == PCS_NOT_CONVERGED || outcome == PCS_SINGULAR;
}

// Returns true if h, a step halved so often, is worth a try. Not if the steps before had to be cut further, nor if it
// is too long for bodies that rotate, now or before. Steps once too long for these stay so, as a rule conserves energy
// over an oscillation with equal steps, but not with steps that vary with it.
static bool retry_allows(pcs_sim *sim, double h, int halvings)
{
    if (sim->retry->depth > 0 && halvings < sim->view.kept_halvings) return false;
    if (!sim->follows_rotation) return true;
    bool is_short = h <= pcs_scheme_present_step(sim->scheme->ops, sim->scheme->params, sim->system, &sim->state);
    if (!is_short && halvings >= sim->view.rotation_halvings && halvings < most_halvings)
        sim->view.rotation_halvings = halvings + 1;
    return halvings >= sim->view.rotation_halvings;
}

// Covers `count` steps of h, each of which may be cut again; the whole step is one of no halvings. `failures` counts
// failed tries before.
static pcs_status retry_cover(pcs_sim *sim, double h, int count, int halvings, int failures)
{
    pcs_retry *r = sim->retry;
    bool is_part = halvings > 0, may_undo = is_part || r->may_undo;
    r->finest = halvings > r->finest ? halvings : r->finest;
    for (int k = 0; k < count; k++) {
        bool is_good = false, is_tried = retry_allows(sim, h, halvings);
        if (is_tried) {
            if (is_part) PCS_TRY(sim_search(sim));
            PCS_TRY(accept_attempt(sim, h, may_undo, &is_good));
            // A smaller step may do without the energy that this one gains.
            if (failures < r->depth && !sim->certify_warns && pcs_certifier_is_greedy(sim->certifier)) is_good = false;
            r->has_failed = r->has_failed || !is_good;
            if (is_good && !is_part) return PCS_OK;
            if (is_good) {
                if (r->count == 0 || halvings < r->coarsest) r->coarsest = halvings;
                retry_join(sim, r);
                continue;
            }
            if (failures == r->depth || !retry_may_help(sim)) return accept_reject(sim, h);
            if (may_undo) accept_restore(sim, &sim->before); // else it did not converge and has changed nothing
        }
        if (!is_part) pcs_state_copy(&sim->state, &r->whole);
        bool is_known = halvings < sim->view.kept_halvings; // known to fail
        PCS_TRY(retry_cover(sim, 0.5 * h, 2, halvings + 1, failures + (is_tried || is_known)));
    }
    return PCS_OK;
}

// Records the number of cut steps, the times of the first, last and finest cut, for the summary.
static void retry_note(pcs_sim *sim, const pcs_retry *r)
{
    pcs_view *view = &sim->view;
    if (view->cut_steps++ == 0) view->first_cut = r->whole.t;
    view->last_cut = r->whole.t;
    if (r->finest > view->finest_cut) {
        view->finest_cut = r->finest;
        view->finest_cut_time = r->whole.t;
    }
}

// Sets the halvings with which the next step begins: none after a single failure.
static void retry_learn(pcs_view *view, const pcs_retry *r)
{
    if (r->has_failed) {
        bool again = view->rough_steps > 0;
        view->kept_halvings = again ? r->coarsest : 0;
        view->rough_wait = again && view->rough_wait < longest_wait ? 2 * view->rough_wait : view->rough_wait;
        if (!again) view->rough_wait = 1;
        view->rough_steps = view->rough_wait;
    } else if (view->rough_steps > 0 && --view->rough_steps == 0 && view->kept_halvings > 0) {
        view->kept_halvings--;
        view->rough_steps = 1;
    }
}

// Advances by h. Fails with PCS_FAILED, with the state as before, if even the smallest steps fail.
static pcs_status retry_step(pcs_sim *sim, double h)
{
    pcs_retry *r = sim->retry;
    r->count = r->finest = 0;
    r->has_failed = false;
    pcs_status status = retry_cover(sim, h, 1, 0, 0);
    bool is_cut = r->finest > 0;
    if (is_cut) retry_note(sim, r);
    if (is_cut || status == PCS_OK) retry_learn(&sim->view, r);
    if (!is_cut) return status;
    if (status != PCS_OK) pcs_state_restore(sim->scheme, &r->whole, &sim->state);
    sim->state.step = r->whole.step + (status == PCS_OK);
    return status;
}

// Step-size control for fixed-step schemes works by step doubling or by contacts with force laws.
//
// By doubling, a step of H is taken once as a whole and once as two halves; the halves are kept. With x the positions,
//   order 0:  e = 2 (x_halves - x_whole),            H' = H 0.9 / err
//   order p:  e = (x_halves - x_whole) / (2^p - 1),  H' = H 0.9 / err^(1/(p+1))
// err = max|e| / (tolerance L), L the size of the system. `variable` takes order 2 in smooth steps and order 0 in
// steps with an impact. In steps of explicit schemes without one H times the difference of velocities counts like that
// of positions, which do not see a force that sets in towards the end of the step; implicit ones see it in positions,
// and their velocities have fast modes that need not be followed. The penetration that a step ADDS is bounded, too: a
// bound on the penetration itself would stall once a resting contact lies deeper. (Acary, lecture slides; eq. 128 in
// incremental form.)
//
// By contacts, the given step is taken where no contact with a force law is closed or about to be, T being the shortest
// time that bodies press on such a contact (build/bars.c), g the gap of an open point and g' its rate:
//
//   closed                    h <= T/steps
//   open, g' < 0              h <= max(T/steps, 0.9 g / -g')
//   after a step of h         h' <= 1.02 h, 0.02 of the time since contacts opened
//
// So a touch or release is a kink in a step of T/steps at most, which changes the speed by 1.3/steps^2, and what
// vibrates after it is followed for as long as it vibrates fast. One that was not foreseen undoes the step.

static const char *const control_orders[] = { "0", "1", "2", "variable", NULL };

const pcs_option pcs_control_options[] = {
    PCS_REAL("tolerance", pcs_control_params, tolerance, PCS_REQUIRED, PCS_POSITIVE,
             "largest error of a step: of positions, with explicit schemes also of velocities times the step, over the "
             "size of the system; of angles in rad"),
    PCS_CHOICE("order", pcs_control_params, order, PCS_DEFAULT("variable"), control_orders,
               "order of the error estimate"),
    PCS_REAL("penetration", pcs_control_params, penetration, PCS_OPTIONAL, PCS_POSITIVE,
             "what a step may add to a penetration, in units of the system's size; by default the tolerance"),
    PCS_REAL("smallest", pcs_control_params, smallest, PCS_OPTIONAL, PCS_POSITIVE,
             "smallest step, s; by default 1e-7 of the run, or less where the tolerance is below 1e-4"),
    PCS_REAL("largest", pcs_control_params, largest, PCS_OPTIONAL, PCS_POSITIVE,
             "largest step, s; by default a tenth of the run"),
    { .name = NULL },
};

const pcs_option pcs_control_contact_options[] = {
    PCS_REAL("steps", pcs_control_params, steps, PCS_DEFAULT("30"), PCS_WITHIN(4.0, 1e6),
             "in the shortest time that bodies press on a contact with a force law"),
    { .name = NULL },
};

static const double approach = 0.9; // of the time to a touch at the present speed: the rest is for accelerations
static const double growth = 1.02;  // of steps after contacts have opened

typedef struct pcs_control {
    pcs_control_params params;
    double part;           // s, longest step while contacts with force laws are closed; 0 for step doubling
    double reach;          // s, longest step from the present state that they allow
    double *whole;         // [nq] positions after the whole step
    double *middle;        // [nq] after the first half
    double *whole_v;       // [nv] velocities after the whole step, NULL if not compared
    bool whole_impacts;    // the whole step has an impact
    double *missed_v;      // [nv] velocity that the first half may have missed at its start
    bool has_missed;       // `missed_v` is not zero
    double *force_a[3];    // [nv] M^-1 f at start, middle and end; NULL if the scheme evaluates the ends
    double size;           // m, size of the model, with which penetrations are compared
    double *gap_before;    // [nrow]
    pcs_step_report first; // report of the first half
    pcs_state start;
} pcs_control;

// Computes weights that extrapolate from the earliest stages with b != 0, three at most, to the start of the step.
static void control_fill_past(const pcs_tableau *t, double weight[PCS_MAX_STAGES], double *earliest)
{
    int stage[3], count = 0;
    double last = 0.0;
    for (; count < 3; count++) {
        int next = -1;
        for (int k = 0; k < t->s; k++)
            if (t->b[k] != 0.0 && t->c[k] > last && (next < 0 || t->c[k] < t->c[next])) next = k;
        if (next < 0) break;
        stage[count] = next;
        last = t->c[next];
    }
    memset(weight, 0, PCS_MAX_STAGES * sizeof *weight);
    for (int i = 0; i < count; i++) {
        weight[stage[i]] = 1.0;
        for (int j = 0; j < count; j++)
            if (j != i) weight[stage[i]] *= t->c[stage[j]] / (t->c[stage[j]] - t->c[stage[i]]);
    }
    *earliest = count > 0 ? t->c[stage[0]] : 0.0;
}

// Estimates the velocity missed, m/s, if a force that starts before the earliest stage with b != 0 counts from t_n on.
// Returns false if forces of the start have a weight.
static bool control_find_missed(const pcs_scheme *scheme, double h, double *v)
{
    const pcs_tableau *t = scheme->rule.tableau;
    double *const *a = scheme->stage_accelerations;
    double weight[PCS_MAX_STAGES], earliest;
    if (t->b[0] != 0.0) return false;
    control_fill_past(t, weight, &earliest);
    for (int i = 0; i < scheme->system->nv; i++) {
        double sum = -a[0][i];
        for (int k = 1; k < t->s; k++) sum += weight[k] * a[k][i];
        v[i] = earliest * h * sum;
    }
    return true;
}

// Sets the bounds of steps that are not given.
static pcs_status control_find_bounds(const pcs_sim *sim, pcs_control *c)
{
    pcs_control_params *p = &c->params;
    if (p->steps > 0.0) {
        if (!isfinite(sim->foreseen.press))
            return pcs_fail(sim->ctx, PCS_BAD_INPUT,
                            "it is for contacts with a force law, and this model has none whose duration is known");
        c->part = sim->foreseen.press / p->steps;
        p->largest = sim->step_size;
        p->smallest = 1e-6 * fmin(c->part, p->largest);
    }
    if (isnan(p->penetration)) p->penetration = p->tolerance;
    if (isnan(p->smallest)) p->smallest = fmin(1e-7, 1e-3 * p->tolerance) * sim->end_time;
    if (isnan(p->largest)) p->largest = 0.1 * sim->end_time;
    // Limits an explicit scheme to its stable step whatever the error.
    p->largest = fmin(p->largest, p->stable);
    if (p->smallest <= p->largest) return PCS_OK;
    return pcs_fail(sim->ctx, PCS_BAD_INPUT, "the smallest step, %g s, is above the largest, %g s", p->smallest,
                    p->largest);
}

pcs_status pcs_control_create(pcs_sim *sim, const pcs_control_params *params, struct pcs_control **out)
{
    pcs_control *c;
    const pcs_scheme_ops *scheme = sim->scheme->ops;
    if (scheme->needs_equal_steps != NULL)
        return pcs_fail(sim->ctx, PCS_UNSUPPORTED, "step control does not go with scheme '%s': %s", scheme->name,
                        scheme->needs_equal_steps);
    PCS_TAKE(sim->ctx, c, 1, "step control");
    c->params = *params;
    PCS_TRY(control_find_bounds(sim, c));
    sim->state.next_h = fmin(c->params.largest, fmax(c->params.smallest, sim->step_size));
    sim->view.is_controlled = true;
    PCS_TAKE_EACH(sim->ctx, sim->system->nq, "step control", double, &c->whole, &c->middle);
    if (pcs_rule_is_explicit(&scheme->rule)) PCS_TAKE(sim->ctx, c->whole_v, sim->system->nv, "step control");
    if (sim->scheme->stage_accelerations != NULL) PCS_TAKE(sim->ctx, c->missed_v, sim->system->nv, "step control");
    // A force that starts at the end of a step acts only in the next one.
    pcs_rule_kind kind = sim->scheme->rule.kind;
    int count = kind == PCS_RULE_EULER || kind == PCS_RULE_MIDPOINT || kind == PCS_RULE_MEAN ? 3 : 0;
    for (int k = 0; k < count; k++) PCS_TAKE(sim->ctx, c->force_a[k], sim->system->nv, "step control");
    PCS_TAKE(sim->ctx, c->gap_before, sim->system->nrow, "step control");
    PCS_TAKE(sim->ctx, c->first.rows, pcs_system_npoint(sim->system), "step control");
    c->reach = INFINITY;
    c->size = sim->system->length > 0.0 ? sim->system->length : 1.0; // of a point that nothing is near
    PCS_TRY(pcs_state_clone(sim->ctx, &sim->state, &c->start));
    *out = c;
    return PCS_OK;
}

static bool control_has_impact(const pcs_sim *sim, const pcs_row_report *rows)
{
    bool has_impact = false;
    for (int j = 0; j < sim->system->nrow; j++) has_impact = has_impact || rows[j].is_impact;
    return pcs_rows_any(sim->system, has_impact);
}

// Returns the largest component in units of its size.
static double control_size(const pcs_sim *sim, const double *x)
{
    double size = 0.0;
    for (int i = 0; i < sim->system->nv; i++) size = pcs_larger(size, fabs(x[i]) / sim->system->scale.model[i]);
    return pcs_system_max(sim->system, size);
}

// Returns the largest displacement that errors of the velocity give in a step, in units of size. A force that sets in
// towards the end of the step is missed by positions of explicit schemes, but not by velocities; if these miss it, too,
// the difference of the trapezoidal rule over the step and over its halves shows it.
static double control_drift(const pcs_sim *sim, const pcs_control *c)
{
    double *const *a = c->force_a, h = 2.0 * sim->report.h;
    for (int i = 0; i < sim->system->nv; i++) c->whole_v[i] -= sim->state.v[i];
    double error = control_size(sim, c->whole_v);
    if (c->has_missed) error = pcs_larger(error, control_size(sim, c->missed_v));
    if (a[0] == NULL) return h * error;
    for (int i = 0; i < sim->system->nv; i++) a[2][i] = 0.25 * h * (a[0][i] - 2.0 * a[1][i] + a[2][i]);
    return h * pcs_larger(error, control_size(sim, a[2]));
}

// Returns the error of the pair of half steps in units of the tolerance, and the exponent that belongs to it.
static double control_error(const pcs_sim *sim, const pcs_control *c, double *exponent)
{
    int order = c->params.order;
    bool has_impact = control_has_impact(sim, c->first.rows) || control_has_impact(sim, sim->report.rows);
    if (order == PCS_ORDER_VARIABLE) order = has_impact ? PCS_ORDER_0 : PCS_ORDER_2;
    const double scale_of[] = { [PCS_ORDER_0] = 2.0, [PCS_ORDER_1] = 1.0, [PCS_ORDER_2] = 1.0 / 3.0 };
    double scale = scale_of[order], added = 0.0;
    *exponent = 1.0 / (order + 1);
    // Different rotation vectors may be the same rotation.
    pcs_difference(&sim->system->rotations, sim->state.q, c->whole, c->whole);
    double increment = control_size(sim, c->whole);
    // Skips velocities in an impact: they jump, at different times in the whole step and in its halves.
    if (c->whole_v != NULL && !has_impact && !c->whole_impacts)
        increment = pcs_larger(increment, control_drift(sim, c));
    double error = scale * increment / c->params.tolerance;
    for (int j = 0; j < sim->system->nrow; j++) {
        double before = fmax(0.0, -c->gap_before[j]), after = fmax(0.0, -sim->report.rows[j].gap);
        // A scheme that corrects positions leaves no penetration: takes the one that the correction nu/m_eff removed.
        double undone = fmax(c->first.rows[j].nu, sim->report.rows[j].nu) / sim->solver->effective_mass[j];
        if (!sim->system->rows[j].is_bilateral) added = fmax(added, fmax(after - before, undone));
    }
    added = pcs_rows_max(sim->system, added) / (c->params.penetration * c->size);
    // Reduces the step in proportion, as a penetration shrinks with it.
    if (added > 1.0 && added > error) {
        *exponent = 1.0;
        error = added;
    }
    return error;
}

// Computes accelerations M^-1 f at the start (0), in the middle (1) or at the end (2) of the step, if they are used.
static void control_weigh(pcs_sim *sim, const pcs_control *c, int time)
{
    if (c->force_a[0] != NULL) pcs_scheme_accelerate(sim->scheme, &sim->state, c->force_a[time]);
}

// Makes the whole step, then two certified halves; *error is INFINITY if one fails to converge or its certificate.
static pcs_status control_attempt(pcs_sim *sim, pcs_control *c, double h, double *error, double *exponent)
{
    bool is_good;
    *error = INFINITY;
    *exponent = 1.0;
    PCS_TRY(accept_try(sim, h));
    if (sim->report.outcome != PCS_CONVERGED) return PCS_OK;
    memcpy(c->whole, sim->state.q, (size_t)sim->system->nq * sizeof *c->whole);
    if (c->whole_v != NULL) memcpy(c->whole_v, sim->state.v, (size_t)sim->system->nv * sizeof *c->whole_v);
    c->whole_impacts = control_has_impact(sim, sim->report.rows);
    accept_restore(sim, &c->start);
    PCS_TRY(accept_attempt(sim, 0.5 * h, false, &is_good));
    if (!is_good) return PCS_OK;
    pcs_copy_report(&sim->report, pcs_system_npoint(sim->system), &c->first);
    if (c->missed_v != NULL) c->has_missed = control_find_missed(sim->scheme, 0.5 * h, c->missed_v);
    PCS_TRY(sim_search(sim));
    control_weigh(sim, c, 1);
    memcpy(c->middle, sim->state.q, (size_t)sim->system->nq * sizeof *c->middle);
    PCS_TRY(accept_attempt(sim, 0.5 * h, false, &is_good));
    if (!is_good) return PCS_OK;
    control_weigh(sim, c, 2);
    *error = control_error(sim, c, exponent);
    return PCS_OK;
}

// Fails because even the smallest step does not converge or violates the certificate.
static pcs_status control_give_up(pcs_sim *sim, double h)
{
    char text[1400];
    pcs_status status = accept_reject(sim, h);
    snprintf(text, sizeof text, "%s", pcs_message(sim->ctx));
    return pcs_fail(sim->ctx, status, "%s, even with the smallest step of %g s", text, h);
}

// Makes a pair of half steps. Finds whether it does, and the next step, or the one to try instead.
static pcs_status control_double(pcs_sim *sim, pcs_control *c, double h, bool *is_good, double *next)
{
    double error, exponent;
    PCS_TRY(control_attempt(sim, c, h, &error, &exponent));
    *is_good = error <= 1.0 || (h <= c->params.smallest && isfinite(error));
    double factor = fmin(5.0, fmax(0.2, 0.9 * pow(fmax(error, 1e-12), -exponent)));
    *next = isfinite(error) ? h * factor : 0.2 * h;
    if (!*is_good) return PCS_OK;
    if (error > 1.0) sim->view.inexact++;
    pcs_join_reports(sim->system, &c->first, pcs_system_npoint(sim->system), c->middle, sim->state.q, &sim->report);
    return PCS_OK;
}

// Returns most of the time that is left before bodies touch on a contact with a force law, s; 0 while one is closed.
static double control_find_flight(const pcs_sim *sim, const pcs_row_report *rows)
{
    double flight = INFINITY;
    for (int j = sim->system->nrow; j < pcs_system_npoint(sim->system); j++) {
        if (rows[j].gap < 0.0) flight = 0.0;
        else if (rows[j].rate < 0.0) flight = fmin(flight, approach * rows[j].gap / -rows[j].rate);
    }
    return -pcs_rows_max(sim->system, -flight);
}

// Makes a step of a length that contacts allow at its start. Finds whether they do at its end, too.
static pcs_status control_follow(pcs_sim *sim, const pcs_control *c, double h, bool *is_good, double *next)
{
    const double whole = 1.0 + 1e-9;
    PCS_TRY(accept_attempt(sim, h, false, is_good));
    *next = 0.5 * h;
    if (!*is_good) return PCS_OK;
    *is_good = h <= whole * c->part || control_find_flight(sim, sim->report.rows) > 0.0;
    *next = *is_good ? growth * h : fmax(c->part, 0.5 * h);
    return PCS_OK;
}

// Saves the start of a step and what its judgement needs of it.
static void control_begin(pcs_sim *sim, pcs_control *c)
{
    const pcs_state *x = &sim->state;
    pcs_state_copy(x, &c->start);
    pcs_certifier_mark(sim->certifier);
    if (c->part > 0.0) {
        pcs_system_press(sim->system, pcs_at(x->t, x->q, x->v), c->first.rows);
        c->reach = fmax(c->part, control_find_flight(sim, c->first.rows));
        if (pcs_rule_is_explicit(&sim->scheme->rule))
            c->reach = fmin(c->reach, pcs_scheme_present_step(sim->scheme->ops, sim->scheme->params, sim->system, x));
    } else {
        pcs_system_gaps(sim->system, pcs_at(x->t, x->q, NULL), c->gap_before);
        control_weigh(sim, c, 0);
    }
}

// Advances by one accepted step, or pair of half steps, and leaves a report over all of it. Fails with PCS_FAILED, with
// the state as before, if even the smallest step fails.
static pcs_status control_step(pcs_sim *sim)
{
    pcs_control *c = sim->control;
    pcs_state *x = &sim->state;
    control_begin(sim, c);
    for (;;) {
        double left = sim->end_time - x->t, step = fmin(x->next_h, c->reach), next;
        bool is_good;
        // Ends the last step at the end, and lengthens the one before it if a tiny step would be left.
        double h = step > 0.5 * left ? 0.5 * left : step;
        if (step >= left) h = left;
        PCS_TRY(c->part > 0.0 ? control_follow(sim, c, h, &is_good, &next)
                              : control_double(sim, c, h, &is_good, &next));
        next = fmin(c->params.largest, fmax(c->params.smallest, next));
        if (is_good) {
            x->next_h = next;
            x->step = c->start.step + 1;
            x->t = h == left ? sim->end_time : c->start.t + h;
            return PCS_OK;
        }
        sim->view.rejections++;
        pcs_status status = h <= c->params.smallest ? control_give_up(sim, h) : PCS_OK;
        accept_restore(sim, &c->start);
        PCS_TRY(status);
        PCS_TRY(sim_search(sim));
        x->next_h = next;
    }
}

// Makes a step of fixed size. Times are multiples of the step, not sums; only the last step may be shorter.
static pcs_status accept_fixed_step(pcs_sim *sim)
{
    long step = sim->state.step + 1;
    double t_end = step < sim->nstep ? sim->start_time + (double)step * sim->step_size : sim->end_time;
    double h = sim->step_size;
    if (step == sim->nstep && fabs(t_end - sim->state.t - h) > 1e-6 * h) h = t_end - sim->state.t;
    PCS_TRY(retry_step(sim, h));
    sim->state.t = t_end;
    return PCS_OK;
}

// Fills checkpoints, writes and reads their files, decides when they are due, and resumes or starts runs from them.

// Checkpoint files: two generations, each complete or absent.

static const char *const checkpoint_names[] = { "checkpoint.bin", "checkpoint.old.bin" };
enum { PATH_ROOM = 4200, CHECKSUM = 8, BUFFER = 1 << 18 }; // bytes

static void file_path(const char *directory, const char *name, char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%s/%s", directory, name);
}

static void file_close_folder(void *folder)
{
    int *descriptor = folder;
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
}

// Opens the folder until the context ends. Its descriptor reports all later write errors of its file system. -1 if the
// folder can be written but not read: then nothing is synced.
static pcs_status checkpoint_open_folder(pcs_context *ctx, const char *directory, int *folder)
{
    *folder = pcs_open_folder(directory);
    if (*folder < 0 && errno != EACCES)
        return pcs_fail(ctx, PCS_IO_ERROR, "cannot open the folder %s: %s", directory, strerror(errno));
    return pcs_defer(ctx, file_close_folder, folder);
}

// Removes both checkpoints of a folder, or only the newest.
static void checkpoint_remove(const char *directory, bool only_newest)
{
    char path[PATH_ROOM];
    for (int i = 0; i < (only_newest ? 1 : 2); i++) {
        file_path(directory, checkpoint_names[i], path);
        unlink(path);
    }
}

// Returns true if a sync succeeded, or if the file system cannot sync.
static bool file_is_synced(int answer)
{
    return answer == 0 || errno == EINVAL || errno == EROFS || errno == ENOSYS;
}

static pcs_status file_report(pcs_context *ctx, const char *path, bool is_done)
{
    if (is_done) return PCS_OK;
    return pcs_fail(ctx, PCS_IO_ERROR, "cannot write the checkpoint %s: %s", path, strerror(errno));
}

// Waits until everything that this machine has written to the file system of the folder is on the disk. Does nothing
// for -1. One call for all takes a hundredth of the time of one for each file.
static pcs_status checkpoint_sync(pcs_context *ctx, int folder)
{
    if (folder < 0 || file_is_synced(syncfs(folder))) return PCS_OK;
    return pcs_fail(ctx, PCS_IO_ERROR, "cannot write what a checkpoint counts: %s", strerror(errno));
}

static void file_put(void *file, const void *bytes, size_t size)
{
    pcs_file_bytes(file, bytes, size);
}

// Ends the file with the checksum of all before it.
static pcs_status file_sum_up(pcs_file *f)
{
    PCS_TRY(pcs_file_flush(f));
    uint64_t sum = pcs_digest_value(&f->digest);
    pcs_file_bytes(f, &sum, CHECKSUM);
    return pcs_file_flush(f);
}

void pcs_checkpoint_free(pcs_checkpoint_data *data)
{
    pcs_scratch_free(data->bytes);
    *data = (pcs_checkpoint_data){ .bytes = NULL };
}

// Returns the error in the bytes, NULL if none. *is_damaged is true if an older checkpoint may still be complete.
static const char *file_judge(const pcs_checkpoint_data *d, bool *is_damaged)
{
    pcs_checkpoint_head head;
    uint64_t sum;
    *is_damaged = true;
    if (d->size < sizeof head + CHECKSUM) return "it is cut off";
    memcpy(&head, d->bytes, sizeof head);
    if (head.magic[0] == '\0') return "it begins with zeros"; // a machine that failed had not written it yet
    *is_damaged = false;
    if (memcmp(head.magic, PCS_CHECKPOINT_MAGIC, sizeof head.magic) != 0) return "this is no checkpoint of Percuss";
    if (head.order != PCS_CHECKPOINT_ORDER) return "it comes from a machine with another order of bytes";
    if (head.format != PCS_CHECKPOINT_FORMAT) return "its format is that of another version of the program";
    *is_damaged = true;
    size_t rest = d->size - sizeof head - CHECKSUM;
    if (head.text_size > rest || head.piece_size != rest - head.text_size) return "it is cut off";
    memcpy(&sum, d->bytes + d->size - CHECKSUM, sizeof sum);
    if (sum != pcs_hash(PCS_HASH_START, d->bytes, d->size - CHECKSUM)) return "its checksum is wrong: it was changed";
    *is_damaged = head.nrank < 1 || head.nrank > INT32_MAX || memchr(head.version, '\0', sizeof head.version) == NULL;
    return *is_damaged ? "its head is wrong" : NULL;
}

// Reads d->path. Fails with PCS_BAD_INPUT if it is no checkpoint. *is_damaged if it was one and is damaged.
static pcs_status file_read(pcs_context *ctx, pcs_checkpoint_data *d, bool *is_damaged)
{
    char *bytes = NULL;
    *is_damaged = false;
    PCS_TRY(pcs_text_file(ctx, d->path, "the checkpoint", PCS_TEXT_MOST, &bytes, &d->size));
    d->bytes = (unsigned char *)bytes;
    const char *fault = file_judge(d, is_damaged);
    if (fault != NULL) {
        pcs_scratch_free(d->bytes);
        d->bytes = NULL;
        return pcs_fail(ctx, PCS_BAD_INPUT, "%s: %s", d->path, fault);
    }
    d->head = (const void *)d->bytes;
    d->text = (const char *)d->bytes + sizeof *d->head;
    d->pieces = d->bytes + sizeof *d->head + d->head->text_size;
    return PCS_OK;
}

pcs_status pcs_checkpoint_find(pcs_context *ctx, const char *path, bool is_older, pcs_checkpoint_data *out,
                               bool *is_there, char note[512])
{
    struct stat about;
    bool is_damaged = false;
    *out = (pcs_checkpoint_data){ .bytes = NULL };
    *is_there = false;
    note[0] = '\0';
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        snprintf(out->path, sizeof out->path, "%s", path);
        *is_there = access(path, F_OK) == 0;
        return *is_there ? file_read(ctx, out, &is_damaged) : PCS_OK;
    }
    for (int i = is_older; i < 2; i++) {
        file_path(path, checkpoint_names[i], out->path);
        if (access(out->path, F_OK) != 0) continue;
        *is_there = true;
        pcs_status status = file_read(ctx, out, &is_damaged);
        if (status == PCS_OK || !is_damaged || i == 1) return status;
        snprintf(note, 512, "%.440s; going on from the one before it", pcs_message(ctx));
        pcs_fail(ctx, PCS_OK, "%s", ""); // clears the message, which has been reported
        *is_there = false;
    }
    // The newest checkpoint is damaged, and there is no other.
    return note[0] == '\0' ? PCS_OK : pcs_fail(ctx, PCS_BAD_INPUT, "%s: damaged, and there is none before it", path);
}

enum { ASKING_STEPS = 16, LINE_ROOM = 160 };
// Relies on contiguous numbers and flags in the reports of a step and of its rows, and in the counts of the summary.
enum {
    REPORT_WORDS = (offsetof(pcs_step_report, is_joined) - offsetof(pcs_step_report, h)) / 8,
    ROW_WORDS = offsetof(pcs_row_report, is_gated) / 8,
    ROW_FLAGS = 4,
    EFFORT_WORDS = (offsetof(pcs_view, ncheckpoint) - offsetof(pcs_view, iterations)) / 8
};
_Static_assert(offsetof(pcs_row_report, is_impact) == offsetof(pcs_row_report, is_gated) + ROW_FLAGS - 1,
               "the flags of a row follow one another");
static const double SHORT_RUN = 60.0; // s: several hundred times the time that syncing takes on a busy disk

const pcs_option pcs_checkpoint_options[] = {
    PCS_COUNT("every", pcs_checkpoint_params, every, PCS_OPTIONAL, PCS_WITHIN(1, INFINITY),
              "steps from checkpoint to checkpoint; by default only `minutes` counts"),
    PCS_REAL("minutes", pcs_checkpoint_params, minutes, PCS_DEFAULT("10"), PCS_POSITIVE,
             "of wall time from checkpoint to checkpoint; there is always one at the end"),
    { .name = NULL },
};

typedef struct pcs_checkpoint {
    pcs_checkpoint_head head;
    pcs_checkpoint_case about; // the resolved case and its hash
    pcs_file *file;
    bool is_second; // this run has written one already
    double *work;   // [work_size] for a portion of the numbers of all ranks
    size_t work_size;
    double last; // s, clock at the last checkpoint
    int folder;  // open descriptor, only on ranks that write
} pcs_checkpoint;

pcs_archive pcs_checkpoint_archive(const pcs_sim *sim, pcs_archive_mode mode)
{
    const pcs_layout *layout = sim->system->layout;
    pcs_archive c = { .ctx = sim->ctx, .mode = mode, .source = "checkpoint" };
    c.nequation = c.nown = c.nall = sim->system->nv;
    if (layout == NULL) return c;
    c.comm = layout->comm;
    c.nequation = layout->n;
    c.nown = layout->nown;
    c.nall = layout->nglobal;
    c.serial = layout->serial;
    if (sim->system->row_comm == NULL) return c;
    c.row_number = sim->system->row_number;
    c.nrow_all = sim->system->nrow_all;
    c.npoint_all = c.nrow_all + sim->system->ncompliant_all;
    return c;
}

static pcs_status checkpoint_hash(pcs_sim *sim, bool of_motion, pcs_checkpoint_case *out)
{
    char *text = NULL;
    PCS_TRY(pcs_case_dump(sim->input, of_motion, &text));
    out->size = strlen(text);
    out->hash = pcs_hash(PCS_HASH_START, PERCUSS_VERSION, sizeof PERCUSS_VERSION);
    out->hash = pcs_hash(out->hash, text, out->size);
    out->text = text;
    return pcs_case_hash_files(sim->input, &out->hash);
}

static pcs_status checkpoint_make_head(pcs_sim *sim, pcs_checkpoint_head *head, pcs_checkpoint_case *about)
{
    const pcs_comm *comm = pcs_context_comm(sim->ctx);
    *head = (pcs_checkpoint_head){ .order = PCS_CHECKPOINT_ORDER, .format = PCS_CHECKPOINT_FORMAT };
    memcpy(head->magic, PCS_CHECKPOINT_MAGIC, sizeof head->magic);
    snprintf(head->version, sizeof head->version, "%s", PERCUSS_VERSION);
    head->nrank = comm == NULL ? 1 : (uint64_t)comm->size;
    PCS_TRY(checkpoint_hash(sim, true, about));
    head->motion = about->hash;
    PCS_TRY(checkpoint_hash(sim, false, about));
    head->input = about->hash;
    head->text_size = about->size;
    return PCS_OK;
}

// Archives the step solver. When reading, matrices are factored again, which is not counted as work of this run.
static void checkpoint_serialize_solver(pcs_sim *sim, pcs_archive *c)
{
    pcs_step_solver *solver = sim->solver;
    pcs_step_form form = solver->form;
    bool is_prepared = solver->is_prepared, is_there = pcs_projection_is_at(solver, sim->state.q);
    pcs_outcome outcome;
    int nfactor = solver->nfactor;
    pcs_archive_part(c, "solver");
    pcs_archive_words(c, "form", &form, sizeof form / 8);
    pcs_archive_flags(c, "is_prepared", &is_prepared, 1);
    pcs_archive_flags(c, "is_there", &is_there, 1);
    pcs_archive_int(c, "factorizations", &nfactor);
    pcs_archive_words(c, "handovers", &solver->handovers, 1);
    if (pcs_archive_reads(c) && is_prepared) c->status = pcs_step_solver_prepare(solver, &form, &outcome);
    if (!pcs_archive_reads(c)) return;
    if (!is_there) pcs_projection_leave(solver);
    solver->nfactor = nfactor;
    sim->view.step_backend = solver->iteration_backend;
}

// Serializes the counts of the summary.
static void checkpoint_serialize_view(pcs_view *view, pcs_archive *c)
{
    pcs_archive_part(c, "effort");
    pcs_archive_words(c, "counts", &view->iterations, EFFORT_WORDS);
    pcs_archive_index(c, "finest_cut", &view->finest_cut, 0, 62);
    pcs_archive_index(c, "turning_halvings", &view->rotation_halvings, 0, 62);
    pcs_archive_index(c, "kept_halvings", &view->kept_halvings, 0, 62);
    pcs_archive_int(c, "rough_steps", &view->rough_steps);
    pcs_archive_int(c, "rough_wait", &view->rough_wait);
    pcs_archive_words(c, "checkpoints", &view->ncheckpoint, 1);
}

// Serializes the report of the last step, for observers of the run. The next step does not depend on it.
static void checkpoint_serialize_report(pcs_sim *sim, pcs_archive *c)
{
    pcs_step_report *r = &sim->report;
    const pcs_system *system = sim->system;
    pcs_archive_part(c, "report");
    pcs_archive_int(c, "iterations", &r->iterations);
    pcs_archive_words(c, "sums", &r->h, REPORT_WORDS);
    pcs_archive_flags(c, "is_joined", &r->is_joined, 1);
    pcs_archive_table rows = { .count = (size_t)pcs_system_npoint(system),
                               .stride = sizeof *r->rows,
                               .has_laws = true };
    rows.first = &r->rows->gap;
    rows.size = 8 * ROW_WORDS;
    pcs_archive_rows(c, "rows", &rows);
    rows.first = &r->rows->is_gated;
    rows.size = ROW_FLAGS;
    pcs_archive_rows(c, "row_flags", &rows);
    if (sim->reactions == NULL) return;
    pcs_archive_words(c, "reactions", sim->reactions, (size_t)system->nreaction * sizeof *sim->reactions / 8);
}

// Serializes the simulation. Step control keeps nothing but the state. Retries keep how far the last step was cut.
void pcs_checkpoint_serialize(pcs_sim *sim, pcs_archive *c)
{
    pcs_state_serialize(&sim->state, c);
    pcs_archive_part(c, "run");
    pcs_archive_words(c, "start_time", &sim->start_time, 1);
    pcs_archive_words(c, "steps", &sim->nstep, 1);
    pcs_archive_words(c, "ledger", &sim->ledger, PCS_LEDGER_WORDS);
    pcs_archive_words(c, "wall_time", &sim->timing, sizeof sim->timing / 8);
    if (pcs_archive_reads(c)) pcs_state_complete(sim->scheme, &sim->state);
    checkpoint_serialize_solver(sim, c);
    checkpoint_serialize_view(&sim->view, c);
    pcs_certifier_serialize(sim->certifier, c);
    checkpoint_serialize_report(sim, c);
}

static pcs_status checkpoint_serialize_observers(pcs_sim *sim, pcs_archive *c)
{
    pcs_status status = PCS_OK;
    bool is_alone = pcs_context_comm(sim->ctx) == NULL || pcs_archive_reads(c);
    for (int i = 0; i < sim->nobserver; i++) {
        pcs_observer *o = &sim->observers[i];
        if (o->ops->serialize == NULL || (status != PCS_OK && is_alone)) continue;
        pcs_archive_part(c, o->ops->name);
        pcs_status answer = o->ops->serialize(o, c); // runs after a fault, too, as other ranks may wait for this one
        o->has_failed = answer != PCS_OK;
        if (status == PCS_OK) status = answer;
    }
    return status == PCS_OK ? c->status : status;
}

// Allocates the memory for checkpoints of this run, after the observers are open; nothing if they are switched off.
static pcs_status checkpoint_open(pcs_sim *sim)
{
    pcs_checkpoint *k;
    pcs_archive c = pcs_checkpoint_archive(sim, PCS_ARCHIVE_COUNT);
    if (!sim->has_checkpoints) return PCS_OK;
    PCS_TAKE(sim->ctx, k, 1, "checkpoints");
    PCS_TRY(checkpoint_make_head(sim, &k->head, &k->about));
    pcs_checkpoint_serialize(sim, &c);
    PCS_TRY(checkpoint_serialize_observers(sim, &c));
    k->head.piece_size = c.used;
    k->work_size = c.work_size;
    if (c.comm != NULL) PCS_TAKE(sim->ctx, k->work, k->work_size, "checkpoints");
    k->last = pcs_clock();
    k->folder = -1;
    k->is_second = sim->view.is_resumed;
    PCS_TRY(pcs_file_create(sim->ctx, sim->view.directory, strlen(checkpoint_names[0]), BUFFER, &k->file));
    const pcs_picture *picture = sim->system->picture;
    if (pcs_is_root(sim->ctx) || (picture != NULL && picture->is_piece))
        PCS_TRY(checkpoint_open_folder(sim->ctx, sim->view.directory, &k->folder));
    sim->checkpoint = k;
    return PCS_OK;
}

// Writes everything to the open file on the rank that writes. The other ranks send their part.
static pcs_status checkpoint_fill(pcs_sim *sim, pcs_checkpoint *k, bool is_open)
{
    pcs_archive c = pcs_checkpoint_archive(sim, is_open ? PCS_ARCHIVE_WRITE : PCS_ARCHIVE_COUNT);
    c.work = k->work;
    c.work_size = k->work_size;
    c.put = file_put;
    c.sink = k->file;
    c.size = (size_t)k->head.piece_size;
    if (is_open) file_put(k->file, &k->head, sizeof k->head);
    if (is_open) file_put(k->file, k->about.text, k->about.size);
    pcs_checkpoint_serialize(sim, &c);
    PCS_TRY(checkpoint_serialize_observers(sim, &c));
    if (c.used == c.size) return PCS_OK;
    return pcs_fail(sim->ctx, PCS_FAILED, "a checkpoint has %zu bytes of pieces instead of %zu", c.used, c.size);
}

// Renames the file once all that it refers to is on the disk. Keeps the checkpoint before it if it is of this run, and
// removes those of another run.
static pcs_status checkpoint_end(pcs_sim *sim, pcs_checkpoint *k, int folder)
{
    char older[PATH_ROOM];
    file_path(sim->view.directory, checkpoint_names[1], older);
    PCS_TRY(file_sum_up(k->file));
    PCS_TRY(checkpoint_sync(sim->ctx, folder));
    if (k->is_second && rename(k->file->path, older) != 0 && errno != ENOENT) k->file->error = errno;
    PCS_TRY(pcs_file_commit(k->file));
    if (!k->is_second) unlink(older);
    k->is_second = true;
    return file_report(sim->ctx, k->file->path, folder < 0 || file_is_synced(fsync(folder)));
}

// Writes a checkpoint. Files of other ranks that it refers to must be on the disk, without fault, before it is renamed.
static pcs_status checkpoint_put(pcs_sim *sim, pcs_checkpoint *k, bool is_synced)
{
    const pcs_comm *comm = pcs_context_comm(sim->ctx);
    bool is_first = pcs_is_root(sim->ctx);
    k->head.is_done = pcs_sim_is_done(sim);
    pcs_status status = pcs_file_open(k->file, checkpoint_names[0]);
    bool is_open = is_first && status == PCS_OK;
    if (is_open || (comm != NULL && comm->size > 1)) { // other ranks wait for this one
        pcs_status filled = checkpoint_fill(sim, k, is_open);
        if (status == PCS_OK) status = filled;
    }
    if (status == PCS_OK && is_synced && !is_first) status = checkpoint_sync(sim->ctx, k->folder);
    status = pcs_agree(sim->ctx, status);
    if (!is_open) return status;
    if (status == PCS_OK) status = checkpoint_end(sim, k, is_synced ? k->folder : -1);
    if (status != PCS_OK) pcs_file_leave(k->file, 0);
    if (status != PCS_OK) unlink(k->file->part);
    return status;
}

// Writes a checkpoint.
static pcs_status checkpoint_write(pcs_sim *sim)
{
    pcs_checkpoint *k = sim->checkpoint;
    if (k == NULL) return PCS_OK;
    double begin = pcs_clock();
    const pcs_timing *spent = &sim->timing;
    bool is_synced = !pcs_sim_is_done(sim) || spent->setup + spent->step + spent->output > SHORT_RUN;
    sim->view.ncheckpoint++;
    pcs_status status = checkpoint_put(sim, k, is_synced);
    k->last = pcs_clock();
    sim->timing.checkpoint += k->last - begin;
    return pcs_agree(sim->ctx, status);
}

// Writes a file from an archive in memory, and waits until it is on the disk.
static pcs_status checkpoint_save(pcs_context *ctx, pcs_sim *sim, const pcs_memory *pieces, const char *path)
{
    pcs_checkpoint_head head;
    pcs_checkpoint_case about;
    pcs_file *f;
    char directory[PATH_ROOM] = ".";
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    if (slash != NULL) snprintf(directory, sizeof directory, "%.*s", (int)(slash - path) + (slash == path), path);
    PCS_TRY(checkpoint_make_head(sim, &head, &about));
    head.piece_size = pieces->size;
    PCS_TRY(pcs_file_create(ctx, directory, strlen(name), BUFFER, &f));
    PCS_TRY(pcs_file_open(f, name));
    pcs_file_bytes(f, &head, sizeof head);
    pcs_file_bytes(f, about.text, about.size);
    pcs_file_bytes(f, pieces->bytes, pieces->size);
    if (file_sum_up(f) == PCS_OK && !file_is_synced(fsync(f->descriptor))) f->error = errno;
    PCS_TRY(pcs_file_commit(f));
    int folder = pcs_open_folder(directory);
    bool is_done = folder < 0 ? errno == EACCES : file_is_synced(fsync(folder));
    pcs_status status = file_report(ctx, path, is_done);
    if (folder >= 0) close(folder);
    return status;
}

pcs_status pcs_checkpoint_save(pcs_sim *sim, const pcs_memory *pieces, const char *path)
{
    pcs_context *ctx;
    if (pcs_context_create(&ctx) != PCS_OK) return pcs_fail(sim->ctx, PCS_NO_MEMORY, "out of memory: a checkpoint");
    pcs_status status = checkpoint_save(ctx, sim, pieces, path);
    if (status != PCS_OK && pcs_message(ctx)[0] != '\0') pcs_fail(sim->ctx, status, "%s", pcs_message(ctx));
    pcs_context_destroy(&ctx);
    return status;
}

// Writes a checkpoint if one is due after an accepted step, at this time of the clock, s, of any rank. Ranks compare
// their clocks only every few steps.
static pcs_status checkpoint_step(pcs_sim *sim, double now)
{
    const pcs_comm *comm = pcs_context_comm(sim->ctx);
    int every = sim->checkpoints.every;
    if (sim->checkpoint == NULL || pcs_sim_is_done(sim)) return PCS_OK; // a complete run gets one at its end
    double is_time = now - sim->checkpoint->last >= 60.0 * sim->checkpoints.minutes;
    bool is_due = every > 0 && sim->state.step % every == 0;
    if (comm != NULL && !is_due && sim->state.step % ASKING_STEPS != 0) return PCS_OK;
    if (comm != NULL && !is_due) comm->max(comm, 1, &is_time);
    return is_due || is_time > 0.0 ? checkpoint_write(sim) : PCS_OK;
}

// Copies the line of a text that begins at `from`.
static void checkpoint_line(const char *text, size_t size, size_t from, char line[LINE_ROOM])
{
    size_t end = from;
    while (end < size && text[end] != '\n') end++;
    while (from < end && text[from] == ' ') from++;
    snprintf(line, LINE_ROOM, "%.*s", (int)(end - from < LINE_ROOM ? end - from : LINE_ROOM), text + from);
}

// Fails with a message on the first line in which both cases differ.
static pcs_status checkpoint_blame_case(pcs_sim *sim, const pcs_checkpoint_data *d, const pcs_checkpoint_case *now)
{
    size_t i = 0, begin = 0;
    int number = 2; // after the first line of case.resolved.yaml, a comment
    char was[LINE_ROOM], is[LINE_ROOM];
    for (; i < now->size && i < d->head->text_size && now->text[i] == d->text[i]; i++)
        if (now->text[i] == '\n') {
            begin = i + 1;
            number++;
        }
    checkpoint_line(d->text, d->head->text_size, begin, was);
    checkpoint_line(now->text, now->size, begin, is);
    return pcs_fail(
        sim->ctx, PCS_BAD_INPUT,
        "%s is of another case: line %d of the resolved case was '%s', is '%s'; to go on with another case, "
        "let that one say start: { from: ... }",
        d->path, number, was, is);
}

pcs_status pcs_checkpoint_demand_same(pcs_sim *sim, const pcs_checkpoint_data *d)
{
    pcs_checkpoint_case now;
    if (strcmp(d->head->version, PERCUSS_VERSION) != 0)
        return pcs_fail(sim->ctx, PCS_BAD_INPUT, "%s was written by version %s of Percuss, this is %s", d->path,
                        d->head->version, PERCUSS_VERSION);
    PCS_TRY(checkpoint_hash(sim, false, &now));
    if (now.size != d->head->text_size || memcmp(now.text, d->text, now.size) != 0)
        return checkpoint_blame_case(sim, d, &now);
    if (now.hash == d->head->input) return PCS_OK;
    return pcs_fail(sim->ctx, PCS_BAD_INPUT, "%s is of the same case, but a file that it names has changed since",
                    d->path);
}

pcs_archive pcs_checkpoint_reader(const pcs_sim *sim, const pcs_checkpoint_data *d)
{
    pcs_archive c = pcs_checkpoint_archive(sim, PCS_ARCHIVE_READ);
    c.source = d->path;
    c.bytes = d->pieces;
    c.size = d->head->piece_size;
    return c;
}

// Restores a simulation that has started from a checkpoint. The next function restores its open observers.
static pcs_status checkpoint_restore(pcs_sim *sim, const pcs_checkpoint_data *d, pcs_archive *c)
{
    double setup = sim->timing.setup;
    *c = pcs_checkpoint_reader(sim, d);
    pcs_checkpoint_serialize(sim, c);
    sim->timing.setup += setup;
    sim->view.start_time = sim->start_time;
    sim->view.nstep = sim->nstep;
    sim->view.is_resumed = true;
    return c->status;
}

static pcs_status checkpoint_restore_observers(pcs_sim *sim, pcs_archive *c)
{
    PCS_TRY(checkpoint_serialize_observers(sim, c));
    if (c->used == c->size) return PCS_OK;
    return pcs_fail(sim->ctx, PCS_BAD_INPUT, "%s: there is more in it than this run has", c->source);
}

pcs_status pcs_checkpoint_time(pcs_context *ctx, const pcs_checkpoint_data *d, double *t)
{
    size_t size;
    pcs_archive c = {
        .ctx = ctx, .mode = PCS_ARCHIVE_READ, .source = d->path, .bytes = d->pieces, .size = d->head->piece_size
    };
    pcs_archive_part(&c, "state");
    if (!pcs_archive_seek(&c, "state.t", &size)) pcs_archive_refuse(&c, "t", "is not in it");
    pcs_archive_words(&c, "t", t, 1);
    return c.status;
}

// Reads a vector over the equations by its name. Fails unless it has the size of this model.
static pcs_status checkpoint_take_vector(pcs_archive *c, const char *name, double *x, int count)
{
    char full[32];
    size_t size = 0;
    size_t needed = c->comm == NULL ? (size_t)count : (size_t)c->nall;
    snprintf(full, sizeof full, "state.%s", name);
    if (!pcs_archive_seek(c, full, &size) || size != needed * sizeof *x)
        return pcs_fail(c->ctx, PCS_BAD_INPUT, "%s: its model has %zu coordinates in %s, this one has %zu", c->source,
                        size / sizeof *x, name, needed);
    pcs_archive_part(c, "state");
    pcs_archive_vector(c, name, x, count);
    return c->status;
}

// Sets *is_same if this run moves as that of sim->from: same model, scheme and step.
static pcs_status checkpoint_compare(pcs_sim *sim, bool *is_same)
{
    pcs_checkpoint_case now;
    PCS_TRY(checkpoint_hash(sim, true, &now));
    *is_same = now.hash == sim->from->head->motion;
    return PCS_OK;
}

// Reads the whole state of sim->from.
static pcs_status checkpoint_take_state(pcs_sim *sim)
{
    pcs_archive c = pcs_checkpoint_reader(sim, sim->from);
    pcs_state_serialize(&sim->state, &c);
    return c.status;
}

pcs_status pcs_checkpoint_start(pcs_sim *sim)
{
    pcs_state *x = &sim->state;
    bool has_changed, is_same = false;
    if (sim->from == NULL) return PCS_OK;
    pcs_archive c = pcs_checkpoint_reader(sim, sim->from);
    PCS_TRY(checkpoint_take_vector(&c, "q", x->q, x->nq));
    PCS_TRY(checkpoint_take_vector(&c, "v", x->v, x->nv));
    // Restores internal variables of materials, which belong to the state and to the model.
    if (pcs_system_remembers(sim->system)) {
        PCS_TRY(checkpoint_compare(sim, &is_same));
        if (!is_same)
            return pcs_fail(sim->ctx, PCS_BAD_INPUT,
                            "%s is of another model: what its materials went through is known to a case with the same "
                            "keys only, but for time.end, output, title and certify",
                            c.source);
        PCS_TRY(checkpoint_take_state(sim));
    }
    x->t = sim->start_time;
    if (!sim->system->row_set.may_change) return PCS_OK;
    return sim->system->ops->search(sim->system, pcs_at(x->t, x->q, NULL), &has_changed);
}

// Reads the velocity at the end of the step, from which energy and momentum are computed, into the history of the state
// and points *v to it, if the schemes of both runs have v at the middle of a step. Else leaves *v.
static pcs_status checkpoint_end_velocity(pcs_sim *sim, const double **v)
{
    pcs_state *x = &sim->state;
    size_t size;
    if (sim->from == NULL || !x->v_is_of_middle) return PCS_OK;
    pcs_archive c = pcs_checkpoint_reader(sim, sim->from);
    if (!pcs_archive_seek(&c, "state.end_velocity", &size)) return PCS_OK;
    PCS_TRY(checkpoint_take_vector(&c, "end_velocity", x->history[0], x->nv));
    *v = x->history[0];
    return PCS_OK;
}

// Resets the report to a start without any change.
static void checkpoint_calm_report(pcs_step_report *r, int nrow, const pcs_measure *before)
{
    r->measure = *before;
    r->external_work = r->damping_loss = r->correction_work = r->material_loss = 0.0;
    r->impact_loss = r->friction_loss = r->numerical_loss = 0.0;
    memset(r->smooth_impulse, 0, sizeof r->smooth_impulse);
    for (int j = 0; j < nrow; j++) {
        pcs_row_report *row = &r->rows[j];
        row->nu = row->step_impulse = row->impulse = row->multiplier = 0.0;
        row->normal_loss = row->friction_loss = row->drive_work = 0.0;
        for (int k = 0; k < 2; k++) row->tangent[k] = row->last_tangent[k] = 0.0;
        row->is_gated = row->gate_is_contradictory = row->is_impact = false;
    }
}

// Reads the state after the scheme's start. If both runs have the same model, scheme and step, all of it, with an empty
// report of the start. Else the velocity above, if there is one.
static pcs_status checkpoint_start_state(pcs_sim *sim, const pcs_measure *before)
{
    const double *v = sim->state.v;
    bool is_same;
    if (sim->from == NULL) return PCS_OK;
    PCS_TRY(checkpoint_compare(sim, &is_same));
    if (!is_same) {
        PCS_TRY(checkpoint_end_velocity(sim, &v));
        if (v != sim->state.v) sim->report.measure = *before;
        return PCS_OK;
    }
    PCS_TRY(checkpoint_take_state(sim));
    sim->state.step = 0;
    pcs_state_complete(sim->scheme, &sim->state);
    checkpoint_calm_report(&sim->report, sim->system->nrow, before);
    return PCS_OK;
}

// Reactions of joints and supports after every accepted step, for the observers.

// Allocates the reactions, if the system has any.
static pcs_status sim_prepare_reactions(pcs_sim *sim)
{
    if (sim->system->nreaction == 0) return PCS_OK;
    PCS_TAKE(sim->ctx, sim->reactions, sim->system->nreaction, "reactions");
    sim->view.reactions = sim->reactions;
    if (sim->scheme->rule.rows_at == PCS_ROWS_WITHIN) PCS_TAKE(sim->ctx, sim->middle, sim->system->nq, "reactions");
    return PCS_OK;
}

// Evaluates the reactions of the last report.
static void sim_react(pcs_sim *sim)
{
    pcs_system *system = sim->system;
    if (sim->reactions == NULL) return;
    const double *v = pcs_scheme_velocity(sim->scheme, &sim->state);
    if (sim->middle != NULL) {
        for (int i = 0; i < system->nv; i++) sim->middle[i] = -0.5 * sim->report.h * v[i];
        pcs_retract(&system->rotations, sim->state.q, sim->middle, sim->middle);
    }
    system->ops->reactions(system, pcs_at(sim->state.t, sim->state.q, v), sim->report.h,
                           sim->middle == NULL ? sim->state.q : sim->middle, sim->report.rows, sim->reactions);
}

// Adds the last report to the ledger.
static void sim_book(pcs_sim *sim)
{
    pcs_ledger *l = &sim->ledger;
    const pcs_step_report *r = &sim->report;
    double change = pcs_measure_energy(&r->measure) - pcs_measure_energy(&l->now);
    l->now = r->measure;
    l->external_work += r->external_work;
    l->damping_loss += r->damping_loss;
    l->material_loss += r->material_loss;
    l->impact_loss += r->impact_loss;
    l->friction_loss += r->friction_loss;
    l->correction_work += r->correction_work;
    l->largest_rise = pcs_max(l->largest_rise, change - r->external_work);
    l->numerical_loss += r->numerical_loss;
    if (l->numerical_is_remainder)
        l->numerical_loss = l->initial + l->external_work - l->damping_loss - l->material_loss -
                            (l->impact_loss + l->friction_loss) + l->correction_work - pcs_measure_energy(&l->now);
}

pcs_status pcs_sim_start(pcs_sim *sim)
{
    pcs_measure before;
    const double *v = sim->state.v;
    PCS_TRY(checkpoint_end_velocity(sim, &v));
    sim->system->ops->measure(sim->system, pcs_at(sim->state.t, sim->state.q, v), PCS_ENERGY, &before);
    if (!isfinite(pcs_measure_energy(&before)))
        return pcs_fail(sim->ctx, PCS_BAD_INPUT, "the energy of the initial state is not finite");
    PCS_TRY(sim_prepare_reactions(sim));
    pcs_case *input = sim->has_own_system ? NULL : sim->input;
    PCS_TRY(pcs_certifier_create(sim->ctx, sim->scheme, input, sim->control != NULL, &sim->certifier));
    pcs_certifier_start(sim->certifier, &before);
    PCS_TRY(pcs_state_clone(sim->ctx, &sim->state, &sim->before));
    sim->view.certificate = pcs_certifier_certificate(sim->certifier);
    sim->ledger = (pcs_ledger){ .initial = pcs_measure_energy(&before),
                                .numerical_is_remainder =
                                    !(pcs_rule_has_closed_loss(&sim->scheme->rule) && sim->system->is_linear) };
    PCS_TRY(pcs_scheme_start(sim->scheme, &sim->state, &sim->report));
    if (sim->report.outcome != PCS_CONVERGED) return accept_reject(sim, sim->step_size);
    PCS_TRY(checkpoint_start_state(sim, &before));
    sim->view.step_backend = sim->solver->iteration_backend;
    sim->view.effective_mass = sim->solver->effective_mass;
    sim->view.iterations = sim->report.iterations;
    sim->view.factorizations = sim->solver->nfactor;
    sim->view.memory = pcs_bytes_taken(sim->ctx);
    sim->has_started = true;
    sim_react(sim);
    sim->ledger.now = before;
    sim_book(sim);
    return accept_certifies(sim, NULL) ? PCS_OK : accept_reject(sim, 0.0);
}

// Adds the time of a step. Reading the clock takes a tenth of the step of a small model, so only one of many short
// steps is timed and stands for all. A long one, or a pause of the machine, counts once.
static void sim_note_time(pcs_sim *sim, double begin)
{
    enum { SAMPLE = 16 };      // a power of two
    const double brief = 4e-6; // s
    double end = pcs_clock(), weight = end - begin < 4.0 * brief ? sim->sample : 1;
    sim->timing.step += weight * (sim->certify_begin - begin);
    sim->timing.certify += weight * (end - sim->certify_begin);
    sim->sample = end - begin < brief ? SAMPLE : 1;
}

pcs_status pcs_sim_step(pcs_sim *sim)
{
    sim->is_timed = sim->sample < 2 || (sim->state.step & (sim->sample - 1)) == 0;
    double begin = sim->is_timed ? pcs_clock() : 0.0;
    PCS_TRY(sim_search(sim));
    sim->number = sim->state.step + 1;
    PCS_TRY(sim->control != NULL ? control_step(sim) : accept_fixed_step(sim));
    if (pcs_noted(sim->ctx)[0] != '\0') return accept_stop(sim, sim->step_size, pcs_noted(sim->ctx));
    sim->view.factorizations = sim->solver->nfactor;
    sim->view.handovers = sim->solver->handovers;
    sim->view.step_backend = sim->solver->iteration_backend;
    sim_book(sim);
    sim_react(sim);
    if (sim->is_timed) sim_note_time(sim, begin);
    return PCS_OK;
}

// Calls open or step of the observers. In one process the first fault ends it. Of several processes only one writes and
// may fail, but all take part.
static pcs_status sim_show(pcs_sim *sim, bool is_first, int *nopen)
{
    bool is_alone = !pcs_is_parallel(sim->ctx);
    pcs_status status = PCS_OK;
    for (int i = 0; i < sim->nobserver && (status == PCS_OK || !is_alone); i++) {
        pcs_observer *o = &sim->observers[i];
        if (is_first) *nopen = i + 1;
        if (o->is_idle) continue;
        pcs_status answer = is_first ? o->ops->open(o) : o->ops->step(o);
        o->has_failed = answer != PCS_OK;
        if (status == PCS_OK) status = answer;
    }
    return status;
}

// Returns a hash of gaps, rates and impulses of the contacts in the last step; if processes have contacts of their
// own, of the energies.
static long long sim_mark(const pcs_sim *sim)
{
    unsigned long long mark = PCS_HASH_START;
    if (pcs_rows_are_distributed(sim->system))
        return (long long)(pcs_hash(mark, &sim->ledger, PCS_LEDGER_WORDS * sizeof(double)) >> 2);
    for (int j = 0; j < pcs_system_npoint(sim->system); j++) {
        const pcs_row_report *row = &sim->report.rows[j];
        double facts[] = { row->gap, row->rate, row->step_impulse };
        mark = pcs_hash(mark, facts, sizeof facts);
    }
    return (long long)(mark >> 2);
}

// Makes the status agree in all processes.
static pcs_status sim_agree(pcs_sim *sim, pcs_status status)
{
    return pcs_agree_on(sim->ctx, status, status == PCS_OK && pcs_is_parallel(sim->ctx) ? sim_mark(sim) : 0);
}

static void sim_compare_memory(pcs_sim *sim)
{
    double taken = (double)pcs_bytes_taken(sim->ctx), ends[2] = { -taken, taken };
    if (!pcs_is_parallel(sim->ctx) || sim->view.is_resumed) return;
    pcs_process_max(sim->ctx, 2, ends);
    sim->view.memory_of_ranks[0] = (size_t)pcs_process_count(sim->ctx);
    for (int i = 0; i < 2; i++) sim->view.memory_of_ranks[1 + i] = (size_t)fabs(ends[i]);
}

static pcs_status sim_open(pcs_sim *sim, int *nopen)
{
    pcs_status status = sim_show(sim, true, nopen);
    if (status == PCS_OK) status = checkpoint_open(sim);
    if (!sim->view.is_resumed) sim->view.memory = pcs_bytes_taken(sim->ctx);
    PCS_TRY(sim_agree(sim, status));
    sim_compare_memory(sim);
    return PCS_OK;
}

// Fails if an option of PETSc was not used, once every matrix of the run has been created.
static pcs_status sim_check_options(pcs_sim *sim)
{
    char text[512];
    pcs_unused_options(sim->ctx, sizeof text, text);
    if (text[0] == '\0') return PCS_OK;
    return pcs_fail(sim->ctx, PCS_BAD_INPUT, "nothing in this run takes the options of PETSc %s", text);
}

static pcs_status sim_loop(pcs_sim *sim)
{
    if (sim->horizon != NULL) sim->keep_sample(sim);
    for (bool is_first = true; !pcs_sim_is_done(sim); is_first = false) {
        pcs_status status = pcs_sim_step(sim);
        double begin = pcs_clock();
        if (status == PCS_OK && sim->horizon != NULL) sim->keep_sample(sim);
        if (status == PCS_OK) status = sim_show(sim, false, NULL);
        double now = pcs_clock();
        sim->timing.output += now - begin;
        sim->is_stopped = status == PCS_OK && sim->stop_request != NULL && *sim->stop_request != 0;
        if (sim->is_stopped) status = accept_stop(sim, sim->step_size, "stopped on request");
        if (status == PCS_OK && is_first) status = sim_check_options(sim);
        if (status == PCS_OK && pcs_sim_is_done(sim)) status = sim_search(sim);
        PCS_TRY(sim_agree(sim, status));
        PCS_TRY(checkpoint_step(sim, now));
    }
    if (sim->horizon != NULL) sim->find_horizon(sim);
    return PCS_OK;
}

// Tells all processes whose files are broken after a fault, so that they end alike.
static void sim_share_faults(pcs_sim *sim, pcs_status status)
{
    if (status == PCS_OK) return;
    for (int i = 0; i < sim->nobserver; i++) {
        double has_failed = sim->observers[i].has_failed;
        pcs_process_max(sim->ctx, 1, &has_failed);
        sim->observers[i].has_failed = has_failed > 0.0;
    }
}

// Writes the last checkpoint of a run that is complete or was asked to stop. A run that has failed cannot be resumed.
static pcs_status sim_keep(pcs_sim *sim, pcs_status status)
{
    double is_stopped = sim->is_stopped;
    char reason[1024];
    sim_share_faults(sim, status);
    if (status != PCS_OK) pcs_process_max(sim->ctx, 1, &is_stopped);
    for (int i = 0; i < sim->nobserver; i++)
        if (sim->observers[i].has_failed) is_stopped = 0.0;
    if (status != PCS_OK && !(is_stopped > 0.0)) return status;
    if (status == PCS_OK && sim->ends_for_good) return PCS_OK;
    snprintf(reason, sizeof reason, "%s", pcs_message(sim->ctx));
    pcs_status written = checkpoint_write(sim);
    sim_share_faults(sim, written);
    if (written != PCS_OK) return written;
    return status == PCS_OK ? PCS_OK : pcs_fail(sim->ctx, status, "%s", reason);
}

// Closes everything that was opened in any case. Reports the first failure.
static pcs_status sim_close(pcs_sim *sim, int nopen, pcs_status status)
{
    char reason[1024];
    snprintf(reason, sizeof reason, "%s", status == PCS_OK ? "" : pcs_message(sim->ctx));
    sim->view.ending = status == PCS_OK ? PCS_FINISHED : PCS_STOPPED;
    sim->view.reason = status == PCS_OK ? NULL : reason;
    double begin = pcs_clock();
    for (int i = 0; i < nopen; i++) {
        pcs_observer *o = &sim->observers[i];
        // The process that has broken files closes them. The others have nothing to add.
        if (o->is_idle || (o->has_failed && !pcs_is_root(sim->ctx))) continue;
        pcs_status closing = o->ops->close(o);
        if (closing == PCS_OK) continue;
        if (status == PCS_OK) snprintf(reason, sizeof reason, "%s", pcs_message(sim->ctx));
        if (status == PCS_OK) status = closing;
    }
    sim->timing.output += pcs_clock() - begin;
    sim->view.reason = NULL;
    if (status != PCS_OK) pcs_fail(sim->ctx, status, "%s", reason);
    return pcs_agree(sim->ctx, status);
}

// Creates and locks the folder, so that no other process writes there until this one ends or unlocks it.
static pcs_status sim_take_directory(pcs_sim *sim, const char *directory, int *lock)
{
    if (sim->has_case_file || !pcs_is_root(sim->ctx)) return PCS_OK;
    PCS_TRY(pcs_file_make_folder(sim->ctx, directory));
    return pcs_file_lock_folder(sim->ctx, directory, lock);
}

// Fails if the folder holds an interrupted run, unless asked to overwrite or resume it. Ignores unreadable checkpoints.
static pcs_status sim_spare_other(pcs_sim *sim, const char *directory)
{
    pcs_checkpoint_data data = { .bytes = NULL };
    bool is_there = false;
    char note[512];
    double t = 0.0;
    if (sim->overwrites || sim->resumes) return PCS_OK;
    pcs_status status = pcs_checkpoint_find(sim->ctx, directory, false, &data, &is_there, note);
    if (status == PCS_NO_MEMORY) return status;
    bool is_spared = status == PCS_OK && is_there && data.head->is_done == 0;
    if (is_spared) status = pcs_checkpoint_time(sim->ctx, &data, &t);
    pcs_checkpoint_free(&data);
    if (is_spared && status == PCS_OK)
        return pcs_fail(sim->ctx, PCS_BAD_INPUT,
                        "%s holds a run that was interrupted at t = %.9g s: go on with it by --resume, or start again "
                        "by --overwrite",
                        directory, t);
    return pcs_fail(sim->ctx, PCS_OK, "%s", "");
}

static pcs_status sim_prepare_directory(pcs_sim *sim, const char *directory)
{
    char *text;
    PCS_TRY(sim_spare_other(sim, directory));
    if (sim->has_case_file) return PCS_OK;
    PCS_TRY(pcs_case_dump(sim->input, false, &text));
    return pcs_file_write(sim->ctx, directory, "case.resolved.yaml", text);
}

static void sim_note(const pcs_sim *sim, const char *text)
{
    char line[600];
    snprintf(line, sizeof line, "note: %s\n", text);
    if (sim->view.show != NULL && text[0] != '\0') sim->view.show(sim->view.show_user, line);
}

// Finds the checkpoint from which this run continues, if it is to resume and there is one.
static pcs_status sim_find_checkpoint(pcs_sim *sim, const char *directory, pcs_checkpoint_data *data, bool *is_there)
{
    char note[512];
    PCS_TRY(pcs_checkpoint_find(sim->ctx, directory, false, data, is_there, note));
    bool is_damaged = note[0] != '\0';
    if (!*is_there)
        snprintf(note, sizeof note, "there is no checkpoint in %.400s: starting from the beginning", directory);
    sim_note(sim, note);
    if (!*is_there) return PCS_OK;
    PCS_TRY(pcs_checkpoint_demand_same(sim, data));
    // Keeps the complete one: the new checkpoint must not replace it.
    if (is_damaged && pcs_is_root(sim->ctx)) checkpoint_remove(directory, true);
    return PCS_OK;
}

static pcs_status sim_go(pcs_sim *sim, bool show_progress, const pcs_checkpoint_data *from)
{
    pcs_archive c;
    int nopen = 0;
    for (int i = 0; i < sim->nobserver; i++)
        sim->observers[i].is_idle = !show_progress && strcmp(sim->observers[i].ops->name, "progress") == 0;
    if (!sim->has_started) PCS_TRY(pcs_agree(sim->ctx, pcs_sim_start(sim)));
    if (from != NULL) PCS_TRY(pcs_agree(sim->ctx, checkpoint_restore(sim, from, &c)));
    pcs_status status = sim_open(sim, &nopen);
    // Returns at once if files do not match the checkpoint, since closing them would complete, and so change, them.
    if (from != NULL && status == PCS_OK) PCS_TRY(pcs_agree(sim->ctx, checkpoint_restore_observers(sim, &c)));
    sim->has_files = status == PCS_OK;
    if (status == PCS_OK) status = sim_loop(sim);
    return sim_close(sim, nopen, sim_keep(sim, status));
}

static pcs_status sim_run(pcs_sim *sim, const char *directory, bool show_progress)
{
    pcs_checkpoint_data data = { .bytes = NULL };
    bool is_there = false;
    sim->view.directory = directory;
    pcs_status status = sim->resumes ? sim_find_checkpoint(sim, directory, &data, &is_there) : PCS_OK;
    if (status == PCS_OK && !is_there && pcs_is_root(sim->ctx)) status = sim_prepare_directory(sim, directory);
    status = pcs_agree(sim->ctx, status);
    if (status == PCS_OK) status = sim_go(sim, show_progress, is_there ? &data : NULL);
    // Removes checkpoints of another run: the first one of this run replaces them, and without one they go at the end.
    if (status == PCS_OK && sim->view.ncheckpoint == 0 && pcs_is_root(sim->ctx)) checkpoint_remove(directory, false);
    pcs_checkpoint_free(&data);
    return status;
}

// Fails unless all processes have the same case, files, program and folder.
static pcs_status sim_compare_ranks(pcs_sim *sim, const char *directory)
{
    pcs_checkpoint_case about = { .hash = 0 };
    if (!pcs_is_parallel(sim->ctx)) return PCS_OK;
    pcs_status status = checkpoint_hash(sim, false, &about);
    unsigned long long hash = about.hash;
    char here[PCS_PATH_BYTES] = "";
    if (directory[0] != '/' && getcwd(here, sizeof here) != NULL) hash = pcs_hash(hash, here, strlen(here));
    hash = pcs_hash(hash, directory, strlen(directory));
    return pcs_demand_same(sim->ctx, status, hash, "files of the case, program or folder of results");
}

pcs_status pcs_sim_run(pcs_sim *sim, const char *directory, bool show_progress)
{
    int lock = -1;
    PCS_TRY(sim_compare_ranks(sim, directory));
    pcs_status status = pcs_agree(sim->ctx, sim_take_directory(sim, directory, &lock));
    if (status == PCS_OK) status = sim_run(sim, directory, show_progress);
    pcs_file_unlock_folder(lock);
    return status;
}
