// Searches bodies that may touch in a step, and judges the step: ledger, certificate, and why it was rejected.

#include "sim/accept.h"

#include "core/clock.h"
#include "core/text.h"
#include "sim/certify.h"
#include "step/projection.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Sums the terms of the last report to the change of energy in its step, J; the numerical loss is left out.
static double accept_told(const pcs_step_report *r)
{
    return r->external_work - r->damping_loss - r->material_loss - (r->impact_loss + r->friction_loss) +
           r->correction_work;
}

void pcs_accept_save(pcs_sim *sim, pcs_state *kept)
{
    pcs_state_copy(&sim->state, kept);
    pcs_certifier_mark(sim->certifier);
}

void pcs_accept_restore(pcs_sim *sim, const pcs_state *kept)
{
    pcs_state_restore(sim->scheme, kept, &sim->state);
    pcs_certifier_rewind(sim->certifier);
}

pcs_status pcs_accept_try(pcs_sim *sim, double h)
{
    sim->view.attempts++;
    PCS_TRY(pcs_scheme_step(sim->scheme, &sim->state, h, &sim->report));
    sim->view.iterations += sim->report.iterations;
    return PCS_OK;
}

void pcs_accept_book(pcs_sim *sim)
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

bool pcs_accept_certifies(pcs_sim *sim, double before)
{
    const pcs_step_report *r = &sim->report;
    if (sim->is_timed) sim->certify_begin = pcs_clock();
    if (sim->system->has_materials && r->h > 0.0)
        sim->report.material_loss = pcs_system_material_loss(sim->system, pcs_at(sim->state.t, sim->state.q, NULL));
    // Refuses an infinite work, as a tolerance proportional to it would accept any defect.
    if (!isfinite(accept_told(r))) {
        sim->report.outcome = PCS_NOT_FINITE;
        return false;
    }
    // A ledger that takes the numerical loss as its remainder always closes.
    double change = pcs_measure_energy(&r->measure) - before;
    double defect = sim->ledger.numerical_is_remainder ? 0.0 : change - (accept_told(r) - r->numerical_loss);
    bool holds = pcs_certify(sim->certifier, &sim->state, r, defect) || sim->certify_warns;
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
    if (outcome == PCS_ACCUMULATES) snprintf(where, sizeof where, "t = %.9g s", sim->report.event_time);
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
