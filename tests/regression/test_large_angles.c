// A crank that has made many turns moves like one that has made none: its angle is rounded to eps times its size, and
// nothing but that may be seen in the motion. Thresholds for angles that were told in units of the model's length, or
// of the velocity, stop such runs or open contacts at rest.

#include "support/check.h"
#include "support/text_case.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct trial {
    const char *scheme;
    double friction, h, rotates;
} trial;

static const double full = 6.283185307179586;

// A slider-crank whose crank starts `turns` further on. After too many of them gap rates are rounded to more than the
// certificate allows, which knows the rounding of gaps alone. Steps of 1 ms, a seventh of a radian, gain more than a
// tenth of the energy here and there, and are not to be cut.
static text_case crank_open(const trial *c, double rotates, double end)
{
    return text_case_print("system: { type: slider_crank, theta1: %.17g, friction: %g }\nscheme: { type: %s }\n"
                           "time: { step: %.17g, end: %.17g }\ncertify: %s\n",
                           full * rotates, c->friction, c->scheme, c->h, end,
                           c->rotates > 1e4 || c->h > 5e-4 ? "warn" : "strict");
}

// Angles, and velocities over the initial one, after 300 steps; rounding grows on the way, and a velocity that is a
// difference of angles over h has more of it.
static void compare(const trial *c)
{
    double rounding = DBL_EPSILON * full * (1.0 + c->rotates), end = 300.0 * c->h;
    text_case a = crank_open(c, 0.0, end), b = crank_open(c, c->rotates, end);
    text_case_run(&a);
    text_case_run(&b);
    for (int i = 0; i < 3; i++) {
        double back = i == 0 ? full * c->rotates : 0.0;
        CHECK_NEAR(b.sim->state.q[i] - back, a.sim->state.q[i], 1000.0 * rounding);
        CHECK_NEAR(b.sim->state.v[i] / 150.0, a.sim->state.v[i] / 150.0, (1000.0 + 0.1 / c->h) * rounding);
    }
    text_case_close(&a);
    text_case_close(&b);
}

TEST(turns_make_no_difference)
{
    static const char *const schemes[] = {
        "alpha_ggl",
        "moreau_jean, theta: 0.5",
        "newmark, gamma: 0.5",
        "hht, alpha: 0.1",
        "alpha_velocity, rho_inf: 0.8",
        "jump_newmark, gamma: 0.5",
        "jump_newmark, rho_inf: 0.8",
        "half_explicit",
        "half_explicit_rk",
        "moreau_jean_explicit",
        "moreau_midpoint",
        "schatzman_paoli",
        "splitting",
        "ggl_midpoint, coupling: unified",
        "ggl_midpoint, coupling: unified, metric: mass",
        "ggl_midpoint, coupling: decoupled",
    };
    static const double rotates[] = { 1.0, 45.0, 1000.0 }, steps[] = { 1e-3, 1e-4, 3e-5 };
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++)
        for (int k = 0; k < 9; k++)
            compare(&(trial){ schemes[s], (int)(s + (size_t)k) % 2 * 0.01, steps[k / 3], rotates[k % 3] });
}

// Schemes whose iterations and events are their own go on for longer.
TEST(many_turns_make_no_difference)
{
    static const trial trials[] = {
        { "ggl_midpoint, coupling: unified", 0.0, 1e-3, 1e5 },
        { "ggl_midpoint, coupling: unified", 0.01, 1e-5, 1e5 },
        { "ggl_midpoint, coupling: decoupled", 0.01, 1e-4, 1e5 },
        { "tdg_minus, degree: 3", 0.0, 1e-4, 1e5 },
        { "tdg_plus, degree: 2", 0.0, 1e-4, 1e5 },
        { "half_explicit_acceleration", 0.0, 1e-4, 1e5 },
        { "mannshardt", 0.0, 1e-4, 1e5 },
    };
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) compare(&trials[i]);
}

// A slider that lies on the lower wall while the crank starts to fall goes on lying there: the gap is rounded off to
// eps times the angle, may be above zero by that much, and the weight would drive it at 1e-3 m/s after a step.
TEST(slider_at_rest_stays)
{
    static const char *const schemes[] = { "moreau_jean, theta: 0.5", "newmark, gamma: 0.5", "jump_newmark, gamma: 0.5",
                                           "jump_newmark, rho_inf: 0.8" };
    double alpha = asin(-1e-3 / 0.153);
    int nopen = 0;
    for (int k = 0; k < 40; k++) {
        text_case c =
            text_case_print("system: { type: slider_crank, theta1: %.17g, omega1: 0, omega2: 0, friction: 0 }\n"
                            "scheme: { type: %s }\ntime: { step: 1.0e-4, end: 2.0e-3 }\n",
                            full * (1e5 + k / 4) + alpha, schemes[k % 4]);
        double gap[4];
        pcs_system_gaps(c.sim->system, pcs_at(c.sim->state.t, c.sim->state.q, NULL), gap);
        nopen += gap[2] > 1e-13;
        while (!pcs_sim_is_done(c.sim)) {
            text_case_step(&c);
            for (int j = 2; j < 4; j++) CHECK_NEAR(c.sim->report.rows[j].rate, 0.0, 1e-8);
        }
        text_case_close(&c);
    }
    CHECK(nopen > 4); // some gaps were above what a model of this length is rounded to
}

// A joint that fits to round-off fits after many turns, too.
TEST(joints_fit_after_many_turns)
{
    for (int k = 1; k < 40; k++) {
        text_case c =
            text_case_print("system: { type: slider_crank_bilateral, theta1: %.17g }\nscheme: { type: alpha_ggl }\n"
                            "time: { step: 1.0e-4, end: 1.0e-3 }\n",
                            full * 1003.0 * k);
        text_case_run(&c);
        text_case_close(&c);
    }
}

// A moment on the end of three cells turns the last of them by half a turn within itself: no step goes on from there.
TEST(a_cell_that_is_bent_by_half_a_turn_is_named)
{
    text_case run = text_case_open(
        "mesh: { beam: { type: line, from: [0, 0, 0], to: [-0.348, 0, 0], elements: 3 } }\n"
        "elements: { beam: { type: beam_exact_3d, mesh: beam, E: 9.44e+7, rho: 220.0, mass: lumped, nu: -0.2,"
        " orientation: [0.36, 0.48, 0.8], section: { type: rectangle, width: 6.37e-3, height: 8.29e-3 } } }\n"
        "loads: { twist: { type: moment, node: beam.end, value: [-1.32, -4.42, 0.284] } }\n"
        "scheme: { type: alpha_ggl }\n"
        "time: { step: 3.0e-6, end: 3.4e-4 }\n",
        NULL);
    pcs_status status = pcs_sim_start(run.sim);
    while (status == PCS_OK && !pcs_sim_is_done(run.sim)) status = pcs_sim_step(run.sim);
    CHECK(status == PCS_FAILED);
    CHECK(strstr(pcs_message(run.ctx), "from node 2 to node 3 of 'beam' have rotated by 3.1") != NULL);
    text_case_close(&run);
}
