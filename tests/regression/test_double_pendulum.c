// cases/double_pendulum_stop: two flexible beams on hinges that swing into a stop.

#include "build/build.h"
#include "support/check.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>

typedef struct swing {
    double x, y;              // tip at 0.44 s, before the stop
    double energy_before;     // there, J
    double energy_after;      // at 0.8 s, J
    double hit;               // s, first impulse
    double impulse;           // N s, all of it
    double least_gap, misfit; // m, at the stop and in the hinges
} swing;

static swing run(int count, const char *const *set)
{
    pcs_context *ctx = NULL;
    assert_int_equal(pcs_context_create(&ctx), PCS_OK);
    text_case c = { .ctx = ctx };
    pcs_status status = pcs_build_sim_from(ctx, "cases/double_pendulum_stop", count, set, &c.sim);
    if (status != PCS_OK) fail_msg("%s", pcs_message(ctx));
    swing s = { .hit = INFINITY, .least_gap = INFINITY };
    while (!pcs_sim_is_done(c.sim)) {
        text_case_step(&c);
        const pcs_sim *sim = c.sim;
        const pcs_measure *m = &sim->ledger.now;
        double energy = m->kinetic + m->strain + m->potential, v[3], x[3], reference[3], gap, rate;
        if (fabs(sim->state.t - 0.44) < 1e-9) {
            text_case_node(&c, "lower.end", x, v, reference);
            s.x = x[0];
            s.y = x[1];
            s.energy_before = energy;
        }
        s.energy_after = energy;
        if (sim->report.rows[0].step_impulse > 0.0 && isinf(s.hit)) s.hit = sim->state.t;
        s.impulse += sim->report.rows[0].step_impulse;
        s.least_gap = fmin(s.least_gap, sim->report.rows[0].gap);
        text_case_misfit(&c, &gap, &rate);
        s.misfit = fmax(s.misfit, gap);
    }
    text_case_close(&c);
    return s;
}

TEST(strips_swing_and_strike)
{
    const char *const half[] = { "time.step=1.0e-4", "time.end=0.5" };
    swing coarse = run(0, NULL), fine = run(2, half);
    CHECK_NEAR(coarse.x, 0.170565, 4e-6);
    CHECK_NEAR(coarse.y, -0.982415, 1e-6);
    CHECK_NEAR(log2(coarse.energy_before / fine.energy_before), 2.0, 0.03);
    CHECK_NEAR(coarse.hit, 0.4652, 1e-9);
    CHECK_NEAR(fine.hit, 0.4651, 1e-9);
    CHECK(coarse.least_gap >= -1e-15);
    CHECK(coarse.misfit <= 2e-16);
    CHECK_NEAR(coarse.impulse, 0.65, 0.02);
    CHECK_NEAR(fine.impulse, 0.66, 0.02);
    CHECK_NEAR(coarse.energy_after, -0.43, 0.05);
}

TEST(schemes_agree_up_to_the_stop)
{
    const char *const schemes[] = { "scheme={type: alpha_velocity, rho_inf: 0.65}",
                                    "scheme={type: moreau_jean, rho_inf: 0.65}",
                                    "scheme={type: moreau_jean, theta: 1.0}" };
    double energy[3];
    for (int i = 0; i < 3; i++) {
        swing s = run(1, &schemes[i]);
        CHECK_NEAR(s.x, 0.170565, i == 2 ? 7e-4 : 2e-4);
        CHECK_NEAR(s.y, -0.982415, 5e-5);
        CHECK(s.least_gap < -1e-5 && s.least_gap > -2e-3);
        energy[i] = s.energy_after;
    }
    CHECK_NEAR(energy[0], -0.42, 0.05);
    CHECK_NEAR(energy[1], -0.93, 0.08);
    CHECK_NEAR(energy[2], -1.09, 0.08);
}

// Strips a hundred times as stiff swing like rigid bodies of the same mass.
TEST(stiff_strips_are_rigid_bodies)
{
    const char *const stiff[] = { "elements.upper.E=2.1e+13", "elements.lower.E=2.1e+13", "time.end=0.44",
                                  "time.step=1.0e-4" };
    swing s = run(4, stiff);
    // m L^2/12 + m height^2/12
    char bodies[512];
    double m = 7800.0 * 0.01 * 0.005 * 0.5, inertia = m * (0.5 * 0.5 + 0.005 * 0.005) / 12.0;
    snprintf(bodies, sizeof bodies,
             "elements: { one: { type: rigid_body_2d, mesh: one, mass: %.17g, inertia: %.17g },\n"
             "            two: { type: rigid_body_2d, mesh: two, mass: %.17g, inertia: %.17g },\n"
             "            tip: { type: point_mass, mesh: tip, mass: 1.0e-9, in: plane } }\n",
             m, inertia, m, inertia);
    text_case c =
        text_case_open("mesh: { one: { type: point, at: [0.25, 0, 0] }, two: { type: point, at: [0.75, 0, 0] },\n"
                       "        tip: { type: point, at: [1, 0, 0] } }\n",
                       bodies,
                       "joints: { pivot: { type: hinge, node: one, at: [0, 0, 0] }, elbow: { type: hinge, a: one, b: "
                       "two, at: [0.5, 0, 0] },\n"
                       "          marker: { type: rigid_link, a: two, nodes: tip } }\n"
                       "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"
                       "scheme: { type: alpha_ggl, rho_inf: 0.65 }\ntime: { step: 1.0e-4, end: 0.44 }\n",
                       NULL);
    double x[3], v[3], reference[3];
    text_case_run(&c);
    text_case_node(&c, "tip", x, v, reference);
    CHECK_NEAR(x[0], 0.170428, 2e-6);
    CHECK_NEAR(s.x, x[0], 3e-6);
    CHECK_NEAR(s.y, x[1], 3e-6);
    text_case_close(&c);
}

// The same strips in space, on hinges with an axis, stay in the plane and do the same.
TEST(strips_in_space_swing_alike)
{
    const char *const space[] = { "elements.upper.type=beam_exact_3d",
                                  "elements.lower.type=beam_exact_3d",
                                  "elements.upper.orientation=[0, 1, 0]",
                                  "elements.lower.orientation=[0, 1, 0]",
                                  "joints.pivot.axis=[0, 0, 1]",
                                  "joints.elbow.axis=[0, 0, -2]",
                                  "time.end=0.44" };
    const char *const plane[] = { "time.end=0.44" };
    swing in_space = run(7, space), in_plane = run(1, plane);
    CHECK_NEAR(in_space.x, in_plane.x, 3e-8);
    CHECK_NEAR(in_space.y, in_plane.y, 3e-8);
    CHECK(in_space.misfit <= 2e-16);
}
