// What every scheme promises of its steps, looped over the table: a rejected one leaves no trace, and none allocates.

#include "support/alloc_fault.h"
#include "support/bars.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

// Spoils what it was given, as a solver that gives up may.
static void give_up(pcs_step_solver *self, pcs_step_problem *p, pcs_step_result *result)
{
    for (int i = 0; i < self->system->nv; i++) p->q[i] = p->v[i] = p->d[i] = NAN;
    for (int j = 0; j < self->system->nrow; j++) p->nu[j] = p->la[j] = p->rate_before[j] = NAN;
    *result = (pcs_step_result){ .outcome = PCS_NOT_CONVERGED, .iterations = 7 };
}

static pcs_status refuse(pcs_step_solver *self, pcs_outcome *outcome)
{
    (void)self;
    *outcome = PCS_SINGULAR;
    return PCS_OK;
}

typedef enum rejection { GIVES_UP, SINGULAR, OVERFLOWS, NREJECTION } rejection;

// Tries a step that cannot work; false when this scheme had nothing to be rejected in it.
static bool try_bad_step(model_run *run, rejection how)
{
    const pcs_step_solver_ops *good = run->solver->ops;
    pcs_step_solver_ops bad = *good;
    if (how == GIVES_UP) bad.solve = give_up;
    if (how == SINGULAR) bad.prepare = refuse;
    run->solver->ops = &bad;
    // Another step size: something must be prepared anew. A step into the far future meets an endless force, and one
    // that is only seen from its start goes beyond all numbers.
    double beyond = pcs_rule_is_explicit(&run->scheme->rule) ? 1e200 : 1e3;
    double h = how == OVERFLOWS ? beyond : how == SINGULAR ? 0.5 * bar_step : bar_step;
    CHECK_OK(run->m->ctx, run->scheme->ops->step(run->scheme, &run->x, h, &run->report));
    run->solver->ops = good;
    if (run->report.outcome == PCS_CONVERGED) return false;
    assert_int_equal(run->report.outcome, how == GIVES_UP   ? PCS_NOT_CONVERGED
                                          : how == SINGULAR ? PCS_SINGULAR
                                                            : PCS_NOT_FINITE);
    return true;
}

// A bar against a wall, pushed by a force that is steady for 10 s and then grows beyond all numbers.
static model *doomed_bar(void)
{
    static const double time[] = { 0.0, 10.0, 20.0 }, factor[] = { 1.0, 1.0, 1e308 };
    model *m = bar_create(true);
    bar_throw(m, 0.0, 2.0);
    model_gravity(m, 4, 0, 0);
    model_force(m, "bar.start", 3, 0, 0)->amplitude = (pcs_amplitude){ .count = 3, .time = time, .factor = factor };
    model_contact(m, "wall", "node_plane", "nodes=bar.end point=3.05,0,0 normal=-1,0,0 restitution=0.5");
    model_build(m);
    return m;
}

// After the rejection the state has the same bits, and the run goes on as if nothing had been.
TEST(rejected_step_leaves_no_trace)
{
    for (int k = 0; k < bar_nvariant; k++)
        for (int how = 0; how < NREJECTION; how++) {
            model *calm = doomed_bar(), *shaken = doomed_bar();
            model_run a = model_prepare(calm, bar_variants[k].scheme, bar_variants[k].values, NULL, NULL);
            model_run b = model_prepare(shaken, bar_variants[k].scheme, bar_variants[k].values, NULL, NULL);
            model_start(&a);
            model_start(&b);
            int nrejected = 0;
            pcs_state before;
            CHECK_OK(shaken->ctx, pcs_state_clone(shaken->ctx, &b.x, &before));
            for (int step = 0; step < 60; step++) {
                pcs_state_copy(&b.x, &before);
                if (step % 4 == 3 && try_bad_step(&b, (rejection)how)) nrejected++;
                else if (step % 4 == 3) break; // this scheme steps without what was spoiled
                CHECK(pcs_state_hash(&b.x) == pcs_state_hash(&before));
                model_step(&a, bar_step);
                model_step(&b, bar_step);
                CHECK(pcs_state_hash(&a.x) == pcs_state_hash(&b.x));
                CHECK(memcmp(a.report.rows, b.report.rows, sizeof *a.report.rows) == 0);
                CHECK(memcmp(&a.report.measure, &b.report.measure, sizeof a.report.measure) == 0);
                CHECK(a.report.impact_loss == b.report.impact_loss && a.report.damping_loss == b.report.damping_loss);
                CHECK(a.report.smooth_impulse[0] == b.report.smooth_impulse[0]);
            }
            bool asks_always = !pcs_rule_is_explicit(&a.scheme->rule) &&
                               a.scheme->rule.kind != PCS_RULE_WAVE; // the solver, contact or not
            if (asks_always || how == OVERFLOWS) CHECK(nrejected == 15);
            model_destroy(&calm);
            model_destroy(&shaken);
        }
}

// An explicit scheme asks the solver only while a contact is closed: give up there.
TEST(rejected_contact_leaves_no_trace)
{
    for (int k = 0; k < bar_nvariant; k++) {
        if (bar_variants[k].chatters) continue; // the contact is off in the step that follows
        model *m = bar_bouncing(true);
        model_run run = model_prepare(m, bar_variants[k].scheme, bar_variants[k].values, NULL, NULL);
        model_start(&run);
        int nrejected = 0;
        pcs_state before;
        CHECK_OK(m->ctx, pcs_state_clone(m->ctx, &run.x, &before));
        for (int step = 0; step < 100; step++) {
            model_step(&run, bar_step);
            if (run.report.rows[0].step_impulse <= 0.0) continue;
            pcs_state_copy(&run.x, &before);
            if (!try_bad_step(&run, GIVES_UP)) continue; // the contact had opened again
            CHECK(pcs_state_hash(&run.x) == pcs_state_hash(&before));
            nrejected++;
        }
        CHECK(nrejected > 5);
        model_destroy(&m);
    }
}

// A state that is not finite in the middle of the body is found and named, though no contact sees it.
TEST(state_that_is_not_finite_is_named)
{
    for (int k = 0; k < bar_nvariant; k++) {
        model *m = bar_create(false);
        bar_throw(m, 0.0, 2.0);
        model_build(m);
        model_run run = model_prepare(m, bar_variants[k].scheme, bar_variants[k].values, NULL, NULL);
        model_start(&run);
        run.x.v[4] = NAN;
        if (run.scheme->rule.kind == PCS_RULE_WAVE) run.x.history[0][4] = NAN; // it goes on from there
        CHECK_OK(m->ctx, run.scheme->ops->step(run.scheme, &run.x, bar_step, &run.report));
        assert_int_equal(run.report.outcome, PCS_NOT_FINITE);
        CHECK(run.report.bad_equation >= 0 && run.report.bad_equation <= 4);
        CHECK(run.x.step == 0 && run.x.t == 0.0);
        model_destroy(&m);
    }
}

TEST(steps_do_not_allocate)
{
    if (!alloc_fault_is_active()) skip();
    for (int k = 0; k < bar_nvariant; k++) {
        model *m = bar_bouncing(true);
        model_run run = model_prepare(m, bar_variants[k].scheme, bar_variants[k].values, NULL, NULL);
        model_start(&run);
        model_step(&run, bar_step);
        bar_history s = { 0 };
        alloc_fault_arm(0, false);
        for (int step = 0; step < 200; step++) {
            run.scheme->ops->step(run.scheme, &run.x, bar_step, &run.report);
            bar_watch(&run, &s);
        }
        long requests = alloc_fault_requests();
        if (requests != 0) fail_msg("%s: %ld allocations in 200 steps", bar_variants[k].scheme, requests);
        CHECK(s.nimpact >= 2 && run.x.step == 201);
        model_destroy(&m);
    }
}
