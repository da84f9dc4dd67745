// Joints in motion: against exact solutions, without drift, and with the reactions that the motion asks for.

#include "support/check.h"
#include "support/ode.h"
#include "support/text_case.h"

#include "core/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double gravity = 9.81, pi = 3.14159265358979323846;

#define GGL(rho) "scheme: { type: alpha_ggl, rho_inf: " rho " }\n"
#define MOREAU "scheme: { type: moreau_jean, theta: 0.5 }\n"
#define TIME(step, end) "time: { step: " step ", end: " end " }\n"
#define DOWN "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"

// Pendulums of 2 kg at 0.5 m from their pivot, by their inertia about it.
static const struct {
    const char *text;
    double J;
} pendulums[] = {
    { "mesh: { body: { type: point, at: [0.5, 0, 0] } }\n"
      "elements: { body: { type: rigid_body_2d, mesh: body, mass: 2, inertia: 0.1 } }\n"
      "joints: { pivot: { type: hinge, node: body, at: [0, 0, 0] } }\n",
      0.6 },
    { "mesh: { body: { type: point, at: [0.5, 0, 0] } }\n"
      "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [0.03, 0.07, 0.1] } }\n"
      "joints: { pivot: { type: hinge, node: body, at: [0, 0, 0], axis: [0, 0, -3] } }\n",
      0.6 },
    // Half a kilogram is two points on a massless rod beside the body, at its middle: 0.1 = 0.08 + 0.02.
    { "mesh: { body: { type: point, at: [0.5, 0, 0] }, extra: { type: point, at: [[0.7, 0, 0], [0.3, 0, 0]] } }\n"
      "elements: { body: { type: rigid_body_2d, mesh: body, mass: 1.5, inertia: 0.08 },\n"
      "            extra: { type: point_mass, mesh: extra, mass: 0.25, in: plane } }\n"
      "joints: { pivot: { type: hinge, node: body, at: [0, 0, 0] }, link: { type: rigid_link, a: body, nodes: extra "
      "} }\n",
      0.6 },
    { "mesh: { body: { type: point, at: [0.5, 0, 0] } }\n"
      "elements: { body: { type: point_mass, mesh: body, mass: 2 } }\n"
      "joints: { pivot: { type: distance, node: body, anchor: [0, 0, 0] } }\n",
      0.5 },
};

// After 0.7 s, of the place of the body and of the force of the pivot.
static double pendulum_error(int body, const char *scheme, const char *time, double *force_error)
{
    const double m = 2.0, d = 0.5, k = m * gravity * d / pendulums[body].J;
    text_case c = text_case_open(pendulums[body].text, DOWN, scheme, time, NULL);
    double x[3], v[3], reference[3], swung[2] = { 0 };
    text_case_run(&c);
    text_case_node(&c, "body", x, v, reference);
    ode_swing(k, 0.7, swung);
    double cosine = cos(swung[0]), sine = sin(swung[0]), error = hypot(x[0] - d * cosine, x[1] - d * sine);
    double along = m * (-d * swung[1] * swung[1]), across = m * d * -k * cosine;
    double fx = along * cosine - across * sine, fy = along * sine + across * cosine + m * gravity;
    const pcs_reaction *r = &c.sim->reactions[text_case_reaction(&c, "pivot")];
    *force_error = hypot(r->force[0] - fx, r->force[1] - fy);
    text_case_close(&c);
    return error;
}

TEST(hinges_swing_like_pendulums)
{
    // alpha_ggl oscillates too slowly, by c (w h)^2 of w, c = B/4 - 1/24, B = 2 be - al^2 - al (af + am), al = af - am,
    // by Taylor series of its difference equation. The largest rate, w^2 = 2 m g d/J, and t give the angle by which it
    // may be late.
    const double am = 1.0 / 3.0, af = 4.0 / 9.0, al = af - am, be = 0.25 * (1.0 + al) * (1.0 + al);
    const double c = 0.25 * (2.0 * be - al * al - al * (af + am)) - 1.0 / 24.0;
    for (int b = 0; b < 4; b++) {
        double w = sqrt(2.0 * 2.0 * gravity * 0.5 / pendulums[b].J), late = w * 0.7 * c * (w * 1e-3) * (w * 1e-3);
        double force[2], coarse = pendulum_error(b, GGL("0.8"), TIME("2.0e-3", "0.7"), &force[0]);
        double fine = pendulum_error(b, GGL("0.8"), TIME("1.0e-3", "0.7"), &force[1]);
        CHECK(fine < 0.5 * late);
        CHECK_NEAR(log2(coarse / fine), 2.0, 0.02);
        CHECK(force[1] < 3.0 * 2.0 * gravity * late); // the pivot carries at most 3 m g, as does its slope by the angle
        CHECK_NEAR(log2(force[0] / force[1]), 2.0, 0.05);
        if (b == 3) continue; // its direction is a mean over the step
        // Constraint forces at velocity level alone are of first order.
        coarse = pendulum_error(b, MOREAU, TIME("2.0e-3", "0.7"), &force[0]);
        fine = pendulum_error(b, MOREAU, TIME("1.0e-3", "0.7"), &force[1]);
        CHECK_NEAR(log2(coarse / fine), 1.0, 0.1);
        CHECK_NEAR(log2(force[0] / force[1]), 1.0, 0.1);
    }
}

// Down a slope of 30 degrees: g/2 along it, m g cos(30) across; positions are parabolas, which the scheme has exactly.
TEST(sliders_slide)
{
    const char *const bodies[] = {
        "elements: { body: { type: rigid_body_2d, mesh: body, mass: 2, inertia: 0.1 } }\n",
        "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [0.1, 0.2, 0.3] } }\n",
        "elements: { body: { type: point_mass, mesh: body, mass: 2 } }\n",
    };
    for (int b = 0; b < 3; b++) {
        bool rotates = b < 2;
        text_case c = text_case_open("mesh: { body: { type: point, at: [0, 0, 0] } }\n", bodies[b],
                                     "joints: { guide: { type: slider, node: body, axis: [1.7320508075688772, -1, 0]",
                                     rotates ? ", at: [0.3, 0.1, 0] } }\n" : " } }\n", DOWN, GGL("0.7"),
                                     TIME("1.0e-2", "1.0"), NULL);
        double x[3], v[3], reference[3], c30 = sqrt(0.75), increment = 0.25 * gravity;
        text_case_run(&c);
        text_case_node(&c, "body", x, v, reference);
        CHECK_NEAR(x[0], c30 * increment, 2e-14);
        CHECK_NEAR(x[1], -0.5 * increment, 2e-14);
        CHECK_NEAR(v[0], c30 * gravity / 2.0, 1e-13);
        const pcs_reaction *r = &c.sim->reactions[0];
        double f = 2.0 * gravity * c30;
        CHECK_NEAR(r->force[0], 0.5 * f, 1e-12);
        CHECK_NEAR(r->force[1], c30 * f, 1e-12);
        // The force acts at `at`, [0.3, 0.1] from the centre, which must not turn.
        if (rotates) CHECK_NEAR(r->moment[2], -(0.3 * c30 * f - 0.1 * 0.5 * f), 1e-12);
        text_case_close(&c);
    }
}

// A symmetric top in steady precession: its centre goes round at a constant rate p that satisfies
// (C - A) p^2 cos(tilt) + C s p = m g l, A and C about the pivot, s the spin about the top's own axis.
TEST(ball_lets_a_top_precess)
{
    const double m = 2.0, l = 0.5, A = 0.3 + 2.0 * 0.25, C = 0.4, sine = 0.6, cosine = 0.8, p = 2.0;
    const double s = (m * gravity * l - (C - A) * p * p * cosine) / (C * p);
    double error[2];
    for (int i = 0; i < 2; i++) {
        text_case c = text_case_open(
            "mesh: { body: { type: point, at: [0, 0.3, 0.4] } }\n"
            // Principal axes: x, across, and along the top; about the node.
            "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [0.3, 0.336, 0.364],\n"
            "                    products: [0, 0.048, 0] } }\n"
            "joints: { pivot: { type: ball, node: body, at: [0, 0, 0] } }\n"
            "loads: { weight: { type: gravity, g: [0, 0, -9.81] } }\n",
            GGL("0.9"), i == 0 ? TIME("2.0e-3", "1.0") : TIME("1.0e-3", "1.0"), NULL);
        const double w[3] = { 0.0, s * sine, p + s * cosine }, r[3] = { 0.0, l * sine, l * cosine };
        double v[3], x[3], u[3], reference[3];
        pcs_cross(w, r, v);
        memcpy(c.sim->state.v, v, sizeof v);
        memcpy(c.sim->state.v + 3, w, sizeof w);
        text_case_run(&c);
        text_case_node(&c, "body", x, u, reference);
        error[i] = hypot(x[0] + l * sine * sin(p), x[1] - l * sine * cos(p)) + fabs(x[2] - l * cosine);
        double gap, rate;
        text_case_gap_error(&c, &gap, &rate);
        CHECK(gap <= 1e-15);
        CHECK(rate <= 1e-12);
        text_case_close(&c);
    }
    CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.1);
}

// Moments of a link are those of its forces at the arm by which they turn its bearer: small rotations leave it as it
// was however far the nodes move, finite ones take it along.
TEST(moments_of_links_have_the_arms_of_the_motion)
{
    for (int is_finite = 0; is_finite < 2; is_finite++) {
        text_case c = text_case_open(
            "mesh: { a: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 },\n"
            "        t: { type: point, at: [1.2, 0.5, 0] } }\n"
            "elements: { a: { mesh: a, E: 2.0e11, nu: 0.3, rho: 7800, section: { type: circle, diameter: 0.02 },\n",
            is_finite ? "type: beam_exact_2d },\n" : "type: beam_timo_2d },\n",
            "            t: { type: point_mass, mesh: t, mass: 1, in: plane } }\n"
            "supports: { w: { set: a.start, fix: [x, y, rz] } }\n"
            "joints: { l: { type: rigid_link, a: a.end, nodes: t } }\n"
            "loads: { f: { type: force, node: t, value: [0, -1000, 0] } }\n",
            GGL("0.8"), TIME("2.0e-3", "0.06"), NULL);
        double arm[3], hub[3], tip[3], v[3], reference[3], force = 0.0, moved = 0.0;
        while (!pcs_sim_is_done(c.sim)) {
            text_case_step(&c);
            text_case_node(&c, "a.end", hub, v, reference);
            text_case_node(&c, "t", tip, v, reference);
            for (int k = 0; k < 3; k++) arm[k] = tip[k] - hub[k];
            const pcs_reaction *link = &c.sim->reactions[0];
            const double *r = is_finite ? arm : (const double[3]){ 0.2, 0.5, 0.0 };
            CHECK_NEAR(link->moment[2], r[0] * link->force[1] - r[1] * link->force[0], 1e-8);
            force = fmax(force, fabs(link->force[1]));
            moved = fmax(moved, fabs(arm[0] - 0.2));
        }
        CHECK(force > 100.0 && moved > 0.01);
        text_case_close(&c);
    }
}

// A mass on a spring whose other end is driven: m x'' + k (x - s) = 0, s = A (cos wt - 1).
TEST(prescribed_motion_shakes_a_mass)
{
    static const char model[] =
        "mesh: { base: { type: point, at: [0, 0, 0] }, mass: { type: point, at: [1, 0, 0] },\n"
        "        spring: { type: link, a: base, b: mass } }\n"
        "elements: { base: { type: point_mass, mesh: base, mass: 0.5 }, mass: { type: point_mass, mesh: mass, mass: 2 "
        "},\n"
        "            spring: { type: spring_damper, mesh: spring, stiffness: 50.0 } }\n"
        "supports: { a: { set: base, fix: [y, z] }, b: { set: mass, fix: [y, z] } }\n"
        "joints: { drive: { type: prescribed, node: base, along: x, amplitude: 0.1, frequency: 0.5,\n"
        "                   phase: 1.5707963267948966 } }\n";
    const char *const schemes[] = { GGL("1.0"), MOREAU, "scheme: { type: newmark, gamma: 0.5 }\n",
                                    "scheme: { type: alpha_velocity, rho_inf: 0.9 }\n" };
    const double A = 0.1, w = pi, w0 = 5.0, t = 2.0, c = A * w0 * w0 / (w0 * w0 - w * w);
    const double exact = c * cos(w * t) - A + (A - c) * cos(w0 * t), push = 50.0 * (0.0 - exact) - 0.5 * A * w * w;
    for (int s = 0; s < 4; s++) {
        double error[2];
        for (int i = 0; i < 2; i++) {
            text_case run =
                text_case_open(model, schemes[s], i == 0 ? TIME("4.0e-3", "2.0") : TIME("2.0e-3", "2.0"), NULL);
            double x[3], v[3], reference[3], gap, rate;
            text_case_run(&run);
            text_case_node(&run, "mass", x, v, reference);
            error[i] = fabs(x[0] - 1.0 - exact);
            text_case_gap_error(&run, &gap, &rate);
            // Velocities follow the motion up to h^2 s'''/12, positions up to 4 h of that.
            double h = i == 0 ? 4e-3 : 2e-3, lag = h * h * A * w * w * w / 12.0;
            CHECK(gap < (s == 0 ? 1e-15 : 4.4 * h * lag));
            CHECK(rate < (s == 0 ? 1e-13 : 1.1 * lag));
            CHECK_NEAR(run.sim->reactions[0].force[0], push, s == 0 ? 1e-3 : 0.02);
            // What the drive puts in is what there is.
            const pcs_ledger *l = &run.sim->ledger;
            CHECK_NEAR(l->external_work, l->now.kinetic + l->now.strain, s == 0 ? 4e-5 : s < 3 ? 1e-13 : 1e-6);
            text_case_close(&run);
        }
        CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.03);
    }
}

// A body that is turned ten times round, by an angle in the plane, and about an axis that a hinge holds in space.
TEST(prescribed_angles_go_round_and_round)
{
    const char *const bodies[] = {
        "elements: { body: { type: rigid_body_2d, mesh: body, mass: 2, inertia: 0.1 } }\n"
        "joints: { pivot: { type: hinge, node: body, at: [0, 0, 0] },\n",
        "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [0.1, 0.1, 0.1] } }\n"
        "joints: { pivot: { type: hinge, node: body, at: [0, 0, 0], axis: [0, 0, 1] },\n",
    };
    for (int b = 0; b < 2; b++) {
        text_case c = text_case_open("mesh: { body: { type: point, at: [0.5, 0, 0] } }\n", bodies[b],
                                     "  motor: { type: prescribed, node: body, along: rz, speed: 7.0, rise: 1.0 } }\n",
                                     GGL("0.8"), TIME("5.0e-3", "9.5"), NULL);
        double x[3], v[3], reference[3], angle = 7.0 * 9.0;
        CHECK(angle > 20.0 * pi);
        text_case_run(&c);
        text_case_node(&c, "body", x, v, reference);
        CHECK_NEAR(x[0], 0.5 * cos(angle), 2e-14);
        CHECK_NEAR(x[1], 0.5 * sin(angle), 2e-14);
        CHECK_NEAR(v[0], -3.5 * sin(angle), 1e-12);
        // At a constant rate the motor has nothing to do and the hinge holds m r w^2.
        CHECK_NEAR(c.sim->reactions[text_case_reaction(&c, "motor")].moment[2], 0.0, 2e-3);
        const double *f = c.sim->reactions[text_case_reaction(&c, "pivot")].force;
        CHECK_RELATIVE(hypot(f[0], f[1]), 2.0 * 0.5 * 49.0, 1e-3);
        text_case_close(&c);
    }
}

// Models with every joint between bodies that tumble.
static const char *const tumblers[] = {
    // hinge and ball, the plane
    "mesh: { one: { type: point, at: [0.5, 0, 0] }, two: { type: point, at: [1.2, 0.3, 0] } }\n"
    "elements: { one: { type: rigid_body_2d, mesh: one, mass: 2, inertia: 0.1 },\n"
    "            two: { type: rigid_body_2d, mesh: two, mass: 1, inertia: 0.05 } }\n"
    "joints: { pivot: { type: hinge, node: one, at: [0, 0, 0] }, elbow: { type: ball, a: one, b: two, at: [0.9, 0, 0] "
    "} }\n",
    // hinge and ball in space
    "mesh: { one: { type: point, at: [0.5, 0, 0] }, two: { type: point, at: [1.2, 0.3, 0.2] } }\n"
    "elements: { one: { type: rigid_body_3d, mesh: one, mass: 2, inertia: [0.1, 0.2, 0.15] },\n"
    "            two: { type: rigid_body_3d, mesh: two, mass: 1, inertia: [0.05, 0.03, 0.04] } }\n"
    "joints: { pivot: { type: ball, node: one, at: [0, 0, 0] },\n"
    "          elbow: { type: hinge, a: one, b: two, at: [0.9, 0, 0], axis: [0.3, 0.2, 1] } }\n",
    // slider on a swinging body, in the plane
    "mesh: { one: { type: point, at: [0.5, 0, 0] }, two: { type: point, at: [0.6, 0, 0] } }\n"
    "elements: { one: { type: rigid_body_2d, mesh: one, mass: 2, inertia: 0.1 },\n"
    "            two: { type: rigid_body_2d, mesh: two, mass: 0.3, inertia: 0.005 } }\n"
    "joints: { pivot: { type: hinge, node: one, at: [0, 0, 0] },\n"
    "          guide: { type: slider, a: one, b: two, axis: [1, 0.5, 0] } }\n",
    // slider and weld in space
    "mesh: { one: { type: point, at: [0.5, 0, 0] }, two: { type: point, at: [0.6, 0, 0.2] },\n"
    "        tip: { type: point, at: [0.7, 0.1, 0.2] } }\n"
    "elements: { one: { type: rigid_body_3d, mesh: one, mass: 2, inertia: [0.1, 0.2, 0.15] },\n"
    "            two: { type: rigid_body_3d, mesh: two, mass: 0.3, inertia: [0.005, 0.003, 0.004] },\n"
    "            tip: { type: rigid_body_3d, mesh: tip, mass: 0.1, inertia: [0.001, 0.001, 0.001] } }\n"
    "joints: { pivot: { type: hinge, node: one, at: [0, 0, 0], axis: [0.1, 0.2, 1] },\n"
    "          guide: { type: slider, a: one, b: two, axis: [1, 0.5, 0] },\n"
    "          weld: { type: fixed, a: two, b: tip, at: [0.7, 0.1, 0.2] } }\n",
    // distances and a rigid link
    "mesh: { one: { type: point, at: [0.5, 0, 0] }, two: { type: point, at: [1.2, 0.3, 0.2] },\n"
    "        rim: { type: point, at: [[0.5, 0.1, 0], [0.5, 0, 0.1]] } }\n"
    "elements: { one: { type: rigid_body_3d, mesh: one, mass: 2, inertia: [0.1, 0.2, 0.15] },\n"
    "            two: { type: point_mass, mesh: two, mass: 1 }, rim: { type: point_mass, mesh: rim, mass: 0.2 } }\n"
    "joints: { rope: { type: distance, node: one, at_b: [0.4, 0.2, 0], anchor: [0, 0, 0] },\n"
    "          rod: { type: distance, a: one, b: two, at_a: [0.6, 0, 0] },\n"
    "          link: { type: rigid_link, a: one, nodes: rim } }\n",
    // cylindrical and universal
    "mesh: { one: { type: point, at: [0.5, 0, 0] }, two: { type: point, at: [0.6, 0, 0.2] },\n"
    "        three: { type: point, at: [1.1, 0.2, 0.3] } }\n"
    "elements: { one: { type: rigid_body_3d, mesh: one, mass: 2, inertia: [0.1, 0.2, 0.15] },\n"
    "            two: { type: rigid_body_3d, mesh: two, mass: 0.3, inertia: [0.005, 0.003, 0.004] },\n"
    "            three: { type: rigid_body_3d, mesh: three, mass: 0.4, inertia: [0.02, 0.03, 0.04] } }\n"
    "joints: { pivot: { type: hinge, node: one, at: [0, 0, 0], axis: [0.1, 0.2, 1] },\n"
    "          sleeve: { type: cylindrical, a: one, b: two, axis: [1, 0.5, 0.2] },\n"
    "          cross: { type: universal, a: one, b: three, at: [0.9, 0, 0.1], axis_a: [0, 1, 2], axis_b: [1, 2, -1] } "
    "}\n",
    // a screw, and gears on a body that swings
    "mesh: { one: { type: point, at: [0.5, 0, 0] }, two: { type: point, at: [0.6, 0, 0.2] },\n"
    "        sun: { type: point, at: [0.7, 0, 0] }, planet: { type: point, at: [0.8, 0.1, 0] } }\n"
    "elements: { one: { type: rigid_body_3d, mesh: one, mass: 2, inertia: [0.1, 0.2, 0.15] },\n"
    "            two: { type: rigid_body_3d, mesh: two, mass: 0.3, inertia: [0.005, 0.003, 0.004] },\n"
    "            sun: { type: rigid_body_3d, mesh: sun, mass: 0.2, inertia: [0.002, 0.001, 0.003] },\n"
    "            planet: { type: rigid_body_3d, mesh: planet, mass: 0.1, inertia: [0.002, 0.003, 0.001] } }\n"
    "joints: { pivot: { type: ball, node: one, at: [0, 0, 0] },\n"
    "          thread: { type: screw, a: one, b: two, axis: [1, 0.5, 0.2], pitch: -0.3 },\n"
    "          shaft: { type: hinge, a: one, b: sun, at: [0.7, 0, 0.1], axis: [1, 0, 0] },\n"
    "          pin: { type: hinge, a: one, b: planet, at: [0.8, 0.1, 0.1], axis: [0, 0.6, 0.8] },\n"
    "          teeth: { type: gear, a: sun, b: planet, carrier: one, axis_a: [1, 0, 0], axis_b: [0, 0.6, 0.8],\n"
    "                   teeth_a: 12, teeth_b: 30 } }\n",
    // a driven double pendulum
    "mesh: { one: { type: point, at: [0.5, 0, 0] }, two: { type: point, at: [1.2, 0.3, 0] } }\n"
    "elements: { one: { type: rigid_body_2d, mesh: one, mass: 2, inertia: 0.1 },\n"
    "            two: { type: rigid_body_2d, mesh: two, mass: 1, inertia: 0.05 } }\n"
    "joints: { pivot: { type: hinge, node: one, at: [0, 0, 0] }, elbow: { type: hinge, a: one, b: two, at: [0.9, 0, 0] "
    "},\n"
    "          motor: { type: prescribed, node: one, along: rz, amplitude: 0.6, frequency: 1.1, rise: 0.3 } }\n",
};
enum { NTUMBLER = sizeof tumblers / sizeof *tumblers };

// No joint drifts under alpha_ggl, none does any work: the energy is kept at second order.
TEST(tumbling_bodies_keep_their_joints_and_energy)
{
    for (int i = 0; i < NTUMBLER; i++) {
        double error[2];
        for (int f = 0; f < 2; f++) {
            text_case c = text_case_open(tumblers[i], DOWN, GGL("1.0"),
                                         f == 0 ? TIME("4.0e-3", "0.6") : TIME("2.0e-3", "0.6"), NULL);
            double worst[2] = { 0.0 }, size = 1.0; // m, or as far as a slider has gone
            while (!pcs_sim_is_done(c.sim)) {
                double gap, rate;
                text_case_step(&c);
                text_case_gap_error(&c, &gap, &rate);
                worst[0] = fmax(worst[0], gap);
                worst[1] = fmax(worst[1], rate);
                size = fmax(size, pcs_system_largest(c.sim->system, c.sim->state.q));
            }
            const pcs_ledger *l = &c.sim->ledger;
            error[f] = fabs(pcs_measure_energy(&l->now) - l->initial - l->external_work);
            CHECK(worst[0] <= 4e-15 * size);
            CHECK(worst[1] <= 2e-12);
            CHECK(l->now.kinetic > 1.0); // it has tumbled
            CHECK(i == NTUMBLER - 1 || l->external_work == 0.0);
            text_case_close(&c);
        }
        if (error[0] < 3.0 * error[1]) fail_msg("tumbler %d: energy off by %g and %g J", i, error[0], error[1]);
    }
}

// Joints drift on velocity level, and it is told. Forces of those to the ground, as means over the step, are all that
// changes the momentum besides gravity.
TEST(reactions_balance_the_momentum)
{
    for (int i = 0; i < NTUMBLER; i++) {
        text_case c = text_case_open(tumblers[i], DOWN, MOREAU, TIME("2.0e-3", "0.6"), NULL);
        double before[3] = { 0.0 }, mass = c.sim->system->mass, gap, rate, worst = 0.0;
        bool is_pivot = strstr(tumblers[i], "rim") == NULL; // a distance to the ground turns within a step
        int pivot = text_case_reaction(&c, is_pivot ? "pivot" : "rope");
        while (!pcs_sim_is_done(c.sim)) {
            text_case_step(&c);
            const double *p = c.sim->report.measure.momentum, *f = c.sim->reactions[pivot].force;
            const double weight[3] = { 0.0, -mass * gravity, 0.0 };
            for (int k = 0; k < 3; k++) {
                if (is_pivot) CHECK_NEAR((p[k] - before[k]) / 2.0e-3, f[k] + weight[k], 2e-10);
                before[k] = p[k];
            }
        }
        for (int j = 0; j < c.sim->system->nrow; j++) worst = fmax(worst, fabs(c.sim->report.rows[j].gap));
        text_case_gap_error(&c, &gap, &rate);
        CHECK(gap > 1e-8 && gap < 0.05);
        CHECK(rate <= (i == NTUMBLER - 1 ? 1e-4 : 1e-12)); // the motor: h^2 s'''/12
        CHECK_NEAR(worst, gap, 1e-15);
        text_case_close(&c);
    }
}
