#include "sim/retry.h"

#include "sim/accept.h"
#include "sim/certify.h"

#include <math.h>
#include <string.h>

enum { most_halvings = 40, longest_wait = 64 };

typedef struct pcs_retry {
    int depth;              // largest number of halvings
    bool is_kept;           // the start of every step is saved, so that a step with a broken certificate can be undone
    int finest;             // largest number of halvings so far in this step
    int coarsest;           // smallest number of halvings of an accepted smaller step
    bool has_failed;        // a step, or one of its parts, was rejected
    int count;              // smaller steps done in this step
    double energy;          // J, energy at the start of the next one
    pcs_state whole;        // start of the step
    pcs_state part;         // start of the current smaller step
    pcs_step_report joined; // report over the smaller steps so far
} pcs_retry;

pcs_status pcs_retry_create(pcs_sim *sim, int depth, struct pcs_retry **out)
{
    pcs_retry *r;
    PCS_TAKE(sim->ctx, r, 1, "smaller steps");
    r->depth = depth;
    // Accepts every step of linear systems, which have no false roots, unless friction or several contacts act: an
    // impact in a step of many periods may then gain energy that a smaller step does not.
    r->is_kept = !sim->system->is_linear || pcs_system_ntangent(sim->system) > 0 || pcs_system_nrow(sim->system) > 1;
    PCS_TAKE(sim->ctx, r->joined.rows, pcs_system_npoint(sim->system), "smaller steps");
    PCS_TRY(pcs_state_clone(sim->ctx, &sim->state, &r->whole));
    PCS_TRY(pcs_state_clone(sim->ctx, &sim->state, &r->part));
    *out = r;
    return PCS_OK;
}

// Makes one step of the scheme; *is_good unless it did not converge, its certificate is broken, or it gains energy that
// a smaller one may not.
static pcs_status retry_try(pcs_sim *sim, double h, bool may_cut, bool *is_good)
{
    PCS_TRY(pcs_accept_try(sim, h));
    *is_good = sim->report.outcome == PCS_CONVERGED && pcs_accept_certifies(sim, sim->retry->energy);
    if (may_cut && !sim->certify_warns && pcs_certifier_is_greedy(sim->certifier)) *is_good = false;
    sim->retry->has_failed = sim->retry->has_failed || !*is_good;
    return PCS_OK;
}

// Adds the step just done to those before it; the report is that of all.
static void retry_join(pcs_sim *sim, pcs_retry *r)
{
    int npoint = pcs_system_npoint(sim->system);
    if (r->count++ > 0) pcs_join_reports(sim->system, &r->joined, npoint, r->part.q, sim->state.q, &sim->report);
    pcs_copy_report(&sim->report, npoint, &r->joined);
    r->energy = pcs_measure_energy(&sim->report.measure);
}

// Returns true if smaller steps can help. Not if memory is out, the state has overflowed, or the start is not saved.
static bool retry_may_help(const pcs_sim *sim)
{
    if (pcs_message(sim->ctx)[0] != '\0') return false;
    if (sim->report.outcome == PCS_CONVERGED) return sim->retry->is_kept;
    return sim->report.outcome == PCS_NOT_CONVERGED || sim->report.outcome == PCS_SINGULAR;
}

// Returns true if h, a step halved so often, is worth a try. Not if the steps before had to be cut further, nor if it
// is too long for bodies that rotate, now or before. Steps once too long for these stay so, as a rule conserves energy
// over an oscillation with equal steps, but not with steps that vary with it.
static bool retry_allows(pcs_sim *sim, double h, int halvings)
{
    if (halvings < sim->view.kept_halvings) return false;
    if (!sim->follows_turning) return true;
    bool is_short = h <= pcs_scheme_present_step(sim->scheme->ops, sim->scheme->params, sim->system, &sim->state);
    if (!is_short && halvings >= sim->view.turning_halvings && halvings < most_halvings)
        sim->view.turning_halvings = halvings + 1;
    return halvings >= sim->view.turning_halvings;
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
            pcs_accept_save(sim, &r->part);
            PCS_TRY(retry_try(sim, h, failures < r->depth, &is_good));
            if (is_good) {
                if (r->count == 0 || halvings < r->coarsest) r->coarsest = halvings;
                retry_join(sim, r);
                continue;
            }
            if (failures == r->depth || !retry_may_help(sim)) return pcs_accept_reject(sim, h);
            pcs_accept_restore(sim, &r->part);
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

pcs_status pcs_retry_step(pcs_sim *sim, double h)
{
    pcs_retry *r = sim->retry;
    bool is_good = false;
    r->count = r->finest = 0;
    r->has_failed = false;
    r->energy = pcs_measure_energy(&sim->ledger.now);
    // Undoes the step only if its certificate is broken. A step that did not converge has changed nothing.
    bool is_tried = retry_allows(sim, h, 0);
    if (r->is_kept || !is_tried) pcs_accept_save(sim, &r->whole);
    if (is_tried) {
        PCS_TRY(retry_try(sim, h, r->depth > 0, &is_good));
        if (is_good) {
            retry_learn(&sim->view, r);
            return PCS_OK;
        }
        if (r->depth == 0 || !retry_may_help(sim)) return pcs_accept_reject(sim, h);
        if (r->is_kept) pcs_accept_restore(sim, &r->whole);
        else pcs_accept_save(sim, &r->whole);
    }
    pcs_status status = retry_cover(sim, 0.5 * h, 1, is_tried || sim->view.kept_halvings > 0);
    retry_note(sim, r);
    retry_learn(&sim->view, r);
    if (status != PCS_OK) pcs_state_restore(sim->scheme, &r->whole, &sim->state);
    sim->state.step = r->whole.step + (status == PCS_OK);
    return status;
}
