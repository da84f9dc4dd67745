// Event-driven integration against closed forms and known accumulations. Impact times and energies of shipped cases are
// claims of theirs.

#include "build/build.h"
#include "support/check.h"
#include "support/watch.h"

#include "core/context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DRIVEN "scheme={type: event_driven}"

// The ball of cases/ball: impacts at t1, t1 + 2 e t1, ..., t1 = sqrt(2 gap / g); they accumulate at t1 (1 + e)/(1 - e).
static double ball_height(double t)
{
    const double g = 10.0, e = 0.8;
    double start = sqrt(2.0 * 0.801 / g), speed = e * g * start;
    if (t < start) return 0.801 - 0.5 * g * t * t;
    if (t >= start * (1.0 + e) / (1.0 - e)) return 0.0;
    for (; t >= start + 2.0 * speed / g; speed *= e) start += 2.0 * speed / g;
    return (t - start) * (speed - 0.5 * g * (t - start));
}

TEST(ball_is_exact_up_to_rest)
{
    static const char *const steps[] = { "time.step=2e-3", "time.step=0.37", "time.step=1.1" };
    for (int i = 0; i < 3; i++) {
        watch *w = watch_open("cases/ball", (const char *const[]){ DRIVEN, steps[i], NULL });
        double error = 0.0;
        while (!pcs_sim_is_done(w->sim)) {
            CHECK_OK(w->ctx, pcs_sim_step(w->sim));
            error = fmax(error, fabs(w->sim->report.rows[0].gap - ball_height(w->sim->state.t)));
            CHECK(w->sim->ledger.numerical_loss < 1e-12 && w->sim->ledger.numerical_loss > -1e-12);
            CHECK(w->sim->report.rows[0].is_gated == (w->sim->state.t > 3.6022493));
        }
        CHECK(error < 1e-13);
        watch_close(&w);
    }
}

// The tolerance is what is met.
TEST(errors_follow_the_tolerance)
{
    double last = INFINITY;
    for (int k = 4; k <= 12; k += 2) {
        char scheme[96];
        snprintf(scheme, sizeof scheme, "scheme={type: event_driven, rtol: 1e-%d, atol: 1e-%d}", k, k);
        watch_errors e = watch_measure("cases/impacting_oscillator",
                                       (const char *const[]){ scheme, "time.step=0.19", NULL }, watch_exact_oscillator);
        CHECK(e.max < 30.0 * pow(10.0, -k) && e.max < last);
        last = e.max;
    }
}

// Known to 5 digits from an independent implementation: rest begins in the last step, from `time` minus to plus the
// tolerance. The first impacts are claims of the cases.
TEST(accumulations_are_where_they_should_be)
{
    static const struct {
        const char *path, *more;
        double time, tolerance;
    } known[] = { { "cases/slider_crank", "system.friction=0.0", 9.1304e-3, 5e-8 },
                  { "cases/ball_in_box", NULL, 0.90107, 5e-6 } };
    for (int i = 0; i < 2; i++) {
        char step[64], end[64];
        snprintf(step, sizeof step, "time.step=%.17g", (known[i].time - known[i].tolerance) / 100.0);
        snprintf(end, sizeof end, "time.end=%.17g", known[i].time + known[i].tolerance);
        watch *w = watch_open(known[i].path, (const char *const[]){ "scheme={type: event_driven, v_stick: 1e-8}", step,
                                                                    end, known[i].more, NULL });
        double force[2] = { 0.0 }; // N, of lasting contacts, the mean over a step
        for (int k = 1; k <= 101; k++) {
            CHECK_OK(w->ctx, pcs_sim_step(w->sim));
            for (int j = 0; j < w->sim->system->nrow && k >= 100; j++) force[k - 100] += w->sim->report.rows[j].force;
        }
        CHECK(pcs_sim_is_done(w->sim) && force[1] > 1e3 * force[0]);
        watch_close(&w);
    }
}

static void refused(const char *path, const char *const *set, int nset, const char *part)
{
    pcs_context *ctx = NULL;
    pcs_sim *sim = NULL;
    CHECK_OK(NULL, pcs_context_create(&ctx));
    pcs_status status = pcs_build_sim_from(ctx, path, nset, set, &sim);
    CHECK(status == PCS_BAD_INPUT || status == PCS_UNSUPPORTED);
    CHECK_TEXT(pcs_message(ctx), part);
    pcs_context_destroy(&ctx);
}

TEST(what_does_not_apply_is_refused)
{
    refused("cases/bar_impact", (const char *const[]){ DRIVEN }, 1, "more than 100 unknowns");
    refused("cases/ball", (const char *const[]){ "scheme={type: event_driven, rtol: 0}" }, 1, "scheme.rtol must be");
    refused("cases/ball", (const char *const[]){ "scheme={type: event_driven, events: 0}" }, 1,
            "scheme.events must be");
    refused("cases/ball", (const char *const[]){ "scheme={type: mannshardt, method: rk9}" }, 1,
            "scheme.method must be");
    refused("cases/bar_bouncing", (const char *const[]){ "scheme={type: mannshardt, method: herk2}" }, 1,
            "is above the stable step");
}

// A stop that the oscillator reaches for 14 ms of each second only: no step may pass over it.
TEST(short_contacts_are_not_missed)
{
    static const char *const schemes[] = { "scheme={type: event_driven, rtol: 1e-11}",
                                           "scheme={type: event_driven, rtol: 1e-4}",
                                           "scheme={type: event_driven, rtol: 1e-4, atol: 1e-4}",
                                           "scheme={type: mannshardt, method: rk4}",
                                           "scheme={type: mannshardt, method: fehlberg5}" };
    static const char *const steps[] = { "time.step=0.01", "time.step=0.9", "time.step=0.9", "time.step=0.047",
                                         "time.step=0.037" };
    double end = 0.0;
    for (int i = 0; i < 5; i++) {
        watch *w = watch_open("cases/impacting_oscillator", (const char *const[]){ schemes[i], steps[i], "time.end=0.9",
                                                                                   "system.stop=-0.999", NULL });
        long nimpact = 0;
        while (!pcs_sim_is_done(w->sim)) {
            CHECK_OK(w->ctx, pcs_sim_step(w->sim));
            nimpact += w->sim->report.rows[0].is_impact;
        }
        CHECK(nimpact == 1);
        if (i == 0) end = w->sim->state.q[0];
        CHECK_NEAR(w->sim->state.q[0], end, 2e-3);
        watch_close(&w);
    }
}

// A free block turns without error in any leap, but its corners reach the floor: one impact, whatever the step.
TEST(impacts_of_spinning_bodies_are_not_missed)
{
    static const char *const steps[] = { "time.step=0.02", "time.step=0.5", "time.step=2.0" };
    for (int i = 0; i < 3; i++) {
        watch *w = watch_open("cases/rocking_block",
                              (const char *const[]){ "scheme={type: event_driven}", steps[i], "time.end=8.0",
                                                     "system={type: rocking_block, gravity: 0, y: 1.2, angle: 0.2, "
                                                     "rate: 20, vy: -0.05, restitution: 1.0}",
                                                     NULL });
        while (!pcs_sim_is_done(w->sim)) CHECK_OK(w->ctx, pcs_sim_step(w->sim));
        CHECK_NEAR(w->sim->state.v[1], 1.473489542, 1e-8);
        watch_close(&w);
    }
}

// Touching and at rest, without a force at first; then 10 t^2 lifts it off: q = 10 t^4 / 12. Neither the first instant
// nor the force tells when the contact opens.
TEST(contact_opens_from_nothing)
{
    static const char *const schemes[] = { DRIVEN, "scheme={type: mannshardt}" };
    static const char *const steps[] = { "time.step=0.01", "time.step=0.3" };
    for (int i = 0; i < 4; i++) {
        watch *w = watch_open("cases/ball_rest",
                              (const char *const[]){ schemes[i % 2], steps[i / 2], "system.ramp=-10.0", NULL });
        while (!pcs_sim_is_done(w->sim)) {
            CHECK_OK(w->ctx, pcs_sim_step(w->sim));
            CHECK_NEAR(w->sim->state.q[0], 10.0 * pow(w->sim->state.t, 4.0) / 12.0, i == 3 ? 1e-2 : 1e-5);
            CHECK(w->sim->report.rows[0].step_impulse >= 0.0 && w->sim->report.rows[0].step_impulse < 1e-6);
        }
        CHECK(!w->sim->report.rows[0].is_closed);
        watch_close(&w);
    }
}

// A limit on events keeps steps from being endless.
TEST(events_are_limited)
{
    watch *w = watch_open("cases/ball",
                          (const char *const[]){ "scheme={type: event_driven, events: 10}", "time.step=4", NULL });
    CHECK_STATUS(w->ctx, pcs_sim_step(w->sim), PCS_FAILED);
    CHECK_TEXT(pcs_message(w->ctx), "events accumulate");
    CHECK(w->sim->state.t == 0.0 && w->sim->state.step == 0);
    watch_close(&w);
}
