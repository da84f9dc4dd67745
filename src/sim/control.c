// Searches bodies that may touch in a step, and judges the step: the certificate, and why it was rejected.

#include "sim/control.h"

#include "core/clock.h"
#include "core/rounding.h"
#include "core/text.h"
#include "sim/certify.h"
#include "step/projection.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Sums the terms of the last report to the change of energy in its step, J; the numerical loss is left out.
static double accept_reported(const pcs_step_report *r)
{
    return r->external_work - r->damping_loss - r->material_loss - (r->impact_loss + r->friction_loss) +
           r->correction_work;
}

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

// Makes a step and judges it, with the energy at its start. Saves the start in sim->before if the step may be undone or
// the certificate needs it.
static pcs_status accept_attempt(pcs_sim *sim, double h, double energy, bool may_undo, bool *is_good)
{
    const pcs_state *before = may_undo || pcs_certifier_wants_start(sim->certifier) ? &sim->before : NULL;
    if (before != NULL) pcs_state_copy(&sim->state, &sim->before);
    if (may_undo) pcs_certifier_mark(sim->certifier);
    PCS_TRY(accept_try(sim, h));
    *is_good = sim->report.outcome == PCS_CONVERGED && pcs_accept_certifies(sim, before, energy);
    return PCS_OK;
}

pcs_status pcs_accept_stop(pcs_sim *sim, double h, const char *what)
{
    return pcs_fail(sim->ctx, PCS_FAILED, "step %ld (t = %.9g s, h = %.6g s): %s", sim->number, sim->state.t, h, what);
}

// Commits the internal variables of materials at the end of the step; an impact at the start has no displacement.
static void accept_commit(pcs_sim *sim)
{
    if (pcs_system_remembers(sim->system))
        sim->system->ops->commit(sim->system, pcs_at(sim->state.t, sim->state.q, sim->state.v));
}

bool pcs_accept_certifies(pcs_sim *sim, const pcs_state *before, double energy)
{
    const pcs_step_report *r = &sim->report;
    if (sim->is_timed) sim->certify_begin = pcs_clock();
    if (sim->system->has_materials && r->h > 0.0)
        sim->report.material_loss = pcs_system_material_loss(sim->system, pcs_at(sim->state.t, sim->state.q, NULL));
    // Refuses an infinite work, as a tolerance proportional to it would accept any defect.
    if (!isfinite(accept_reported(r))) {
        sim->report.outcome = PCS_NOT_FINITE;
        return false;
    }
    // A ledger that takes the numerical loss as its remainder always closes.
    double change = pcs_measure_energy(&r->measure) - energy;
    double defect = sim->ledger.numerical_is_remainder ? 0.0 : change - (accept_reported(r) - r->numerical_loss);
    bool holds = pcs_certify(sim->certifier, before, &sim->state, r, defect) || sim->certify_warns;
    if (holds) accept_commit(sim);
    return holds;
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

pcs_status pcs_accept_reject(pcs_sim *sim, double h)
{
    char text[1280] = "";
    if (sim->report.outcome != PCS_CONVERGED) {
        accept_describe_outcome(sim, sizeof text, text);
        accept_describe_equal_steps(sim, h, sizeof text, text);
        accept_describe_limit(sim, h, sizeof text, text);
        return pcs_accept_stop(sim, h, text);
    }
    // The state is the end of the step.
    pcs_certifier_describe(sim->certifier, sizeof text, text);
    accept_describe_equal_steps(sim, h, sizeof text, text);
    accept_describe_limit(sim, 0.0, sizeof text, text);
    return pcs_fail(sim->ctx, PCS_FAILED, "step %ld (t = %.9g s): %s", sim->number, sim->state.t, text);
}

pcs_status pcs_sim_search(pcs_sim *sim)
{
    bool has_changed = false;
    if (!sim->system->row_set.may_change) return PCS_OK;
    if (sim->system->ops->search(sim->system, pcs_at(sim->state.t, sim->state.q, NULL), &has_changed) != PCS_OK)
        return pcs_wrap(sim->ctx, PCS_FAILED, "step %ld (t = %.9g s)", sim->state.step, sim->state.t);
    if (!has_changed) return PCS_OK;
    return pcs_projection_renew(sim->solver, sim->state.q)
               ? PCS_OK
               : pcs_accept_stop(sim, sim->step_size, "the mass is singular");
}

enum { most_halvings = 40, longest_wait = 64 };

typedef struct pcs_retry {
    int depth;              // largest number of halvings
    bool may_undo;          // a step with a broken certificate can be undone
    int finest;             // largest number of halvings so far in this step
    int coarsest;           // smallest number of halvings of an accepted smaller step
    bool has_failed;        // a step, or one of its parts, was rejected
    int count;              // smaller steps done in this step
    double energy;          // J, energy at the start of the next one
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

// Makes one step of the scheme; *is_good unless it did not converge, its certificate is broken, or it gains energy that
// a smaller one may not.
static pcs_status retry_try(pcs_sim *sim, double h, bool may_undo, bool may_cut, bool *is_good)
{
    PCS_TRY(accept_attempt(sim, h, sim->retry->energy, may_undo, is_good));
    if (may_cut && !sim->certify_warns && pcs_certifier_is_greedy(sim->certifier)) *is_good = false;
    sim->retry->has_failed = sim->retry->has_failed || !*is_good;
    return PCS_OK;
}

// Adds the step just done to those before it; the report is that of all.
static void retry_join(pcs_sim *sim, pcs_retry *r)
{
    int npoint = pcs_system_npoint(sim->system);
    if (r->count++ > 0) pcs_join_reports(sim->system, &r->joined, npoint, sim->before.q, sim->state.q, &sim->report);
    pcs_copy_report(&sim->report, npoint, &r->joined);
    r->energy = pcs_measure_energy(&sim->report.measure);
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
    if (halvings < sim->view.kept_halvings) return false;
    if (!sim->follows_rotation) return true;
    bool is_short = h <= pcs_scheme_present_step(sim->scheme->ops, sim->scheme->params, sim->system, &sim->state);
    if (!is_short && halvings >= sim->view.rotation_halvings && halvings < most_halvings)
        sim->view.rotation_halvings = halvings + 1;
    return halvings >= sim->view.rotation_halvings;
}

// Covers 2 h by two steps of h, each of which may be cut again. `failures` counts failed tries before.
static pcs_status retry_cover(pcs_sim *sim, double h, int halvings, int failures)
{
    pcs_retry *r = sim->retry;
    r->finest = halvings > r->finest ? halvings : r->finest;
    for (int half = 0; half < 2; half++) {
        bool is_good = false, is_tried = retry_allows(sim, h, halvings);
        if (is_tried) {
            PCS_TRY(pcs_sim_search(sim));
            PCS_TRY(retry_try(sim, h, true, failures < r->depth, &is_good));
            if (is_good) {
                if (r->count == 0 || halvings < r->coarsest) r->coarsest = halvings;
                retry_join(sim, r);
                continue;
            }
            if (failures == r->depth || !retry_may_help(sim)) return pcs_accept_reject(sim, h);
            accept_restore(sim, &sim->before);
        }
        bool is_known = halvings < sim->view.kept_halvings; // known to fail
        PCS_TRY(retry_cover(sim, 0.5 * h, halvings + 1, failures + (is_tried || is_known)));
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
    bool is_good = false;
    r->count = r->finest = 0;
    r->has_failed = false;
    r->energy = pcs_measure_energy(&sim->ledger.now);
    bool is_tried = retry_allows(sim, h, 0);
    if (is_tried) {
        PCS_TRY(retry_try(sim, h, r->may_undo, r->depth > 0, &is_good));
        if (is_good) {
            retry_learn(&sim->view, r);
            return PCS_OK;
        }
        if (r->depth == 0 || !retry_may_help(sim)) return pcs_accept_reject(sim, h);
        // A step that did not converge has changed nothing.
        if (r->may_undo) accept_restore(sim, &sim->before);
    }
    pcs_state_copy(&sim->state, &r->whole);
    pcs_status status = retry_cover(sim, 0.5 * h, 1, is_tried || sim->view.kept_halvings > 0);
    retry_note(sim, r);
    retry_learn(&sim->view, r);
    if (status != PCS_OK) pcs_state_restore(sim->scheme, &r->whole, &sim->state);
    sim->state.step = r->whole.step + (status == PCS_OK);
    return status;
}

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

// Returns true if a force that starts at the end of a step acts only in the next one.
static bool control_misses_end(const pcs_rule *rule)
{
    return rule->kind == PCS_RULE_EULER || rule->kind == PCS_RULE_MIDPOINT || rule->kind == PCS_RULE_MEAN;
}

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
    int count = control_misses_end(&sim->scheme->rule) ? 3 : 0;
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

// Returns the largest difference between positions after two half steps and after the whole step, in units of size.
// Different rotation vectors may be the same rotation. Overwrites c->whole.
static double control_distance(const pcs_sim *sim, const pcs_control *c)
{
    pcs_difference(&sim->system->rotations, sim->state.q, c->whole, c->whole);
    return control_size(sim, c->whole);
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
    double increment = control_distance(sim, c);
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

static double control_factor(double error, double exponent)
{
    return fmin(5.0, fmax(0.2, 0.9 * pow(fmax(error, 1e-12), -exponent)));
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
    PCS_TRY(accept_attempt(sim, 0.5 * h, pcs_measure_energy(&sim->ledger.now), false, &is_good));
    if (!is_good) return PCS_OK;
    pcs_copy_report(&sim->report, pcs_system_npoint(sim->system), &c->first);
    if (c->missed_v != NULL) c->has_missed = control_find_missed(sim->scheme, 0.5 * h, c->missed_v);
    PCS_TRY(pcs_sim_search(sim));
    control_weigh(sim, c, 1);
    memcpy(c->middle, sim->state.q, (size_t)sim->system->nq * sizeof *c->middle);
    PCS_TRY(accept_attempt(sim, 0.5 * h, pcs_measure_energy(&c->first.measure), false, &is_good));
    if (!is_good) return PCS_OK;
    control_weigh(sim, c, 2);
    *error = control_error(sim, c, exponent);
    return PCS_OK;
}

// Fails because even the smallest step does not converge or violates the certificate.
static pcs_status control_give_up(pcs_sim *sim, double h)
{
    char text[1400];
    pcs_status status = pcs_accept_reject(sim, h);
    snprintf(text, sizeof text, "%s", pcs_message(sim->ctx));
    return pcs_fail(sim->ctx, status, "%s, even with the smallest step of %g s", text, h);
}

// Makes a pair of half steps. Finds whether it does, and the next step, or the one to try instead.
static pcs_status control_double(pcs_sim *sim, pcs_control *c, double h, bool *is_good, double *next)
{
    double error, exponent;
    PCS_TRY(control_attempt(sim, c, h, &error, &exponent));
    *is_good = error <= 1.0 || (h <= c->params.smallest && isfinite(error));
    *next = isfinite(error) ? h * control_factor(error, exponent) : 0.2 * h;
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
    PCS_TRY(accept_attempt(sim, h, pcs_measure_energy(&sim->ledger.now), false, is_good));
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
        PCS_TRY(pcs_sim_search(sim));
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

pcs_status pcs_accept_step(pcs_sim *sim)
{
    return sim->control != NULL ? control_step(sim) : accept_fixed_step(sim);
}
