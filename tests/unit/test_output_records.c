// What rows and contacts are recorded as: open, closed, sticking, sliding; largest forces, filtered and not; verdicts.

#include "support/check.h"

#include "output/summary.h"
#include "output/tally.h"

#include <math.h>

static int state_of(pcs_row_report row)
{
    static const double mass = 2.0;
    static const pcs_row rough = { .contact = 0, .ntangent = 2, .friction = 0.5 };
    pcs_system system = { .nrow = 1, .rows = &rough };
    pcs_state state = { .largest_rate = 1.0 };
    pcs_step_report report = { .rows = &row };
    pcs_view view = { .system = &system, .state = &state, .report = &report, .effective_mass = &mass };
    return pcs_row_state(&view, 0, 3.0);
}

TEST(states_follow_cone_and_velocity)
{
    pcs_row_report row = { .gap = 0.0, .step_impulse = 1.0, .multiplier = 1.0, .is_closed = true };
    row.last_tangent[0] = 0.3;
    row.last_tangent[1] = 0.4;              // on the border of the cone
    CHECK(state_of(row) == PCS_ROW_CLOSED); // and at rest: about to slide
    row.slip[1] = 1e-3;
    CHECK(state_of(row) == PCS_ROW_SLIDES);
    row.slip[1] = 1e-12; // round-off of 3 m/s
    CHECK(state_of(row) == PCS_ROW_CLOSED);
    row.slip[1] = 1.0;
    row.last_tangent[1] = 0.39; // inside: a tangential restitution lets it go, it does not slide
    CHECK(state_of(row) == PCS_ROW_CLOSED);
    // Without a law at the end of the step all of it counts.
    row.multiplier = 0.0;
    row.tangent[0] = 0.5;
    CHECK(state_of(row) == PCS_ROW_SLIDES);
    row.tangent[0] = 0.49;
    CHECK(state_of(row) == PCS_ROW_CLOSED);
    row.is_closed = false;
    CHECK(state_of(row) == PCS_ROW_OPEN);
}

TEST(an_impulse_of_round_off_closes_nothing)
{
    pcs_row_report row = { .gap = 1e-3, .step_impulse = 1e-246, .multiplier = 1e-246, .is_closed = true };
    CHECK(state_of(row) == PCS_ROW_OPEN);
    row.step_impulse = row.multiplier = 1e-11; // 1e-11 of 2 kg at 1 m/s is the bound
    CHECK(state_of(row) == PCS_ROW_OPEN);
    row.step_impulse = row.multiplier = 3e-11;
    CHECK(state_of(row) != PCS_ROW_OPEN);
    row.step_impulse = row.multiplier = 1e-246;
    row.gap = 0.0; // it touches
    CHECK(state_of(row) != PCS_ROW_OPEN);
}

// Steps that are far smaller than the window are told by few points, and an interval that begins again starts anew.
TEST(the_window_holds_any_number_of_steps)
{
    pcs_contact_record c = { .open_time = 0.0, .window_time = 1.0, .peak_force = -INFINITY, .smooth_peak = NAN };
    double t = 0.0, h = 1e-4;
    for (long step = 1; step <= 30000; step++, t += h) {
        double force = t < 1.5 ? t : 3.0 - t; // a triangle: the largest mean over 1 s is that about its top
        pcs_contact_step now = { t, t + h, h, force, force * h, 0.0, force * h, force > 0.0, step, 0 };
        pcs_contact_record_add(&c, &now);
    }
    CHECK(c.window.count <= PCS_WINDOW_POINTS);
    CHECK_NEAR(c.smooth_peak, 1.25, 2e-3);
    CHECK_NEAR(c.smooth_time, 2.0, 2e-2);
}

// Round-off decides no time of a plateau; what grows slowly is followed.
TEST(the_peak_is_when_it_is_first_reached)
{
    pcs_contact_record c = { .open_time = 0.0, .window_time = 0.5, .peak_force = -INFINITY, .smooth_peak = NAN };
    double h = 0.1;
    for (long step = 1; step <= 40; step++) {
        double t = (double)(step - 1) * h,
               force = 5.0 + 1e-14 * (double)step + (step > 30 ? 4e-9 * (double)(step - 30) : 0.0);
        pcs_contact_step now = { t, t + h, h, force, force * h, 0.0, force * h, true, step, 0 };
        pcs_contact_record_add(&c, &now);
        if (step > 30) continue;
        CHECK(c.peak_force == force && c.last.peak_force == force);
        CHECK_NEAR(c.peak_time, 0.1, 1e-12);
        CHECK_NEAR(c.last.peak_time, 0.1, 1e-12);
        if (step >= 5) CHECK_NEAR(c.smooth_time, 0.5, 1e-12);
    }
    CHECK_NEAR(c.peak_force, 5.0 + 4e-8, 1e-12);
    CHECK(c.peak_time > 3.8 && c.smooth_time > 3.5);
}

TEST(verdicts_follow_ratios_and_marks)
{
    pcs_check c = { .name = "momentum", .tolerance = 1e-12, .worst_ratio = 17.0 };
    assert_string_equal(pcs_check_verdict(&c), "broken");
    c.worst_ratio = NAN;
    assert_string_equal(pcs_check_verdict(&c), "broken");
    c.worst_ratio = 1.0;
    assert_string_equal(pcs_check_verdict(&c), "held");
    c.mark = 0.01;
    assert_string_equal(pcs_check_verdict(&c), "marked");
    c.worst_ratio = 0.01;
    assert_string_equal(pcs_check_verdict(&c), "held");
    c = (pcs_check){ .name = "penetration", .worst_ratio = 40.0, .is_reported_only = true };
    assert_string_equal(pcs_check_verdict(&c), "reported");
}
