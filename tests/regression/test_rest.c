// Contacts that should rest: a ball that hops, beams on beams, and two bars that press on each other far
// from where they started, so that their gap is zero to round-off only.

#include "support/check.h"
#include "support/rigid.h"

#include <math.h>
#include <stdio.h>

// Largest speed, and steps without an impulse, of the last 50 steps of a ball that falls by 10 mm.
static void watch_ball(const char *scheme, double e, double h, double *speed, int *hops)
{
    char text[512];
    double flight = sqrt(2.0 * 0.01 / 10.0), end = 3.0 * flight * (1.0 + e) / (1.0 - e) + 200.0 * h;
    snprintf(text, sizeof text,
             "scheme={type: %s};system.restitution=%.17g;system.height=0.21;time={step: %.17g, end: %.17g}", scheme, e,
             h, ceil(end / h) * h);
    rigid_run run = rigid_open("ball", text);
    *speed = 0.0;
    *hops = 0;
    while (run.sim->state.step < run.sim->nstep) {
        rigid_step(&run);
        if (run.sim->state.step + 50 <= run.sim->nstep) continue;
        *speed = fmax(*speed, fabs(run.sim->state.v[0]));
        *hops += !(run.sim->report.rows[0].step_impulse > 0.0);
    }
    rigid_close(&run);
}

// As the paper has it, flights are rounded up to whole steps: e = 1/2 ends in hops at g h e/(1 + e).
TEST(balls_hop_with_the_gate_of_the_paper)
{
    double speed;
    int hops;
    watch_ball("ggl_midpoint, contacts_at: middle", 0.5, 2e-3, &speed, &hops);
    assert_int_equal(hops, 25);
    CHECK_NEAR(speed, 10.0 * 2e-3 / 1.5, 1e-12);
}

// A pile comes to rest: of its kinetic energy less than this share is left. Gives the number of steps that were cut.
static long rest_pile(const char *changes, double share)
{
    rigid_run run = rigid_open("beam_pile", changes);
    double first = run.sim->report.measure.kinetic, last;
    while (run.sim->state.step < run.sim->nstep) rigid_step(&run);
    last = run.sim->report.measure.kinetic;
    CHECK(first > 1.0 && last < share * first);
    long ncut = run.sim->view.cut_steps;
    rigid_close(&run);
    return ncut;
}

// Equal weights on each other fall alike without contact, so that only the law of the gaps tells that they press.
TEST(beams_on_beams_come_to_rest)
{
    for (int n = 1; n <= 2; n++) {
        char text[512];
        snprintf(text, sizeof text, "scheme={type: alpha_ggl};parameters.n=%d;time.end=0.4;output={}", n);
        CHECK(rest_pile(text, 1e-12) == 0);
    }
}

// Steps of many periods, rough contacts, and a scheme that kills fast modes: where an impact with friction gains
// energy, smaller steps take its place, and every pile comes to rest.
TEST(rough_piles_come_to_rest_at_long_steps)
{
    long ncut = 0;
    for (int n = 1; n <= 2; n++)
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 2; k++) {
                char text[512];
                snprintf(text, sizeof text,
                         "scheme={type: alpha_ggl, rho_inf: %g};parameters.n=%d;parameters.mu=%g;time={step: 4.0e-3, "
                         "end: 0.4};output={}",
                         0.5 * r, n, k == 0 ? 0.3 : 1.0);
                ncut += rest_pile(text, 1e-6);
            }
    CHECK(ncut >= 1);
}

// Impulse of the joint until the bars part, and its steps without any, of bars that fly together at a speed.
static void watch_bars(const char *scheme, double speed, double *impulse, int *gaps)
{
    char text[700];
    snprintf(text, sizeof text,
             "scheme={type: %s};time={step: 2.0e-2, end: 19.0};elements.left.mass=lumped;elements.right.mass=lumped;"
             "initial=[{set: left, velocity: [%.17g, 0, 0]}, {set: right, velocity: [%.17g, 0, 0]}];output={}",
             scheme, speed + 0.1, speed - 0.1);
    rigid_run run = rigid_open("bars_two", text);
    *impulse = 0.0;
    *gaps = 0;
    while (run.sim->state.step < run.sim->nstep) {
        rigid_step(&run);
        *impulse += run.sim->report.rows[0].step_impulse;
        *gaps += !(run.sim->report.rows[0].step_impulse > 0.0);
    }
    rigid_close(&run);
}

TEST(round_off_opens_no_contact)
{
    static const char *const schemes[] = { "half_explicit",
                                           "half_explicit_rk",
                                           "half_explicit_rk, method: hem5",
                                           "half_explicit_acceleration",
                                           "tdg_minus",
                                           "moreau_midpoint",
                                           "ggl_midpoint, metric: mass",
                                           "ggl_midpoint, metric: mass, coupling: decoupled",
                                           "alpha_ggl" };
    for (size_t c = 0; c < sizeof schemes / sizeof *schemes; c++) {
        double still, moving;
        int gaps;
        watch_bars(schemes[c], 0.0, &still, &gaps);
        assert_int_equal(gaps, 0);
        for (double speed = 10.0; speed < 2e4; speed *= 10.0) {
            watch_bars(schemes[c], speed, &moving, &gaps);
            if (gaps > 0 || !(fabs(moving - still) <= 1e-6 * still))
                fail_msg("%s at %g m/s: %d steps without an impulse, %.9g of %.9g N s", schemes[c], speed, gaps, moving,
                         still);
        }
    }
}
