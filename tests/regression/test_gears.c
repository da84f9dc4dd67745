// Gears with a pressure angle: the force of the teeth is along the line of action, pushes the shafts apart whichever
// flank carries, and shows in hinges, in mounts that yield, and in planetary trains.

#include "support/check.h"
#include "support/model.h"
#include "support/text_case.h"

#include "core/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// Wheels of 30 and 20 teeth at [0, 0, 0] and [1, 0, 0]: inertias 0.3 and 0.2 kg m^2 about the axes that they turn by.
typedef struct gear_pair {
    const char *kind, *inertia_a, *inertia_b, *axes, *hinge_a, *hinge_b;
    double at[3], across[3]; // where the pitch circles touch; n, into b
} gear_pair;

static const gear_pair gear_pairs[] = {
    { "rigid_body_2d", "0.3", "0.2", "", "", "", { 0.6, 0, 0 }, { 1, 0, 0 } },
    { "rigid_body_3d",
      "[0.1, 0.2, 0.3]",
      "[0.1, 0.1, 0.2]",
      ", axis_a: [0, 0, 1]",
      ", axis: [0, 0, 1]",
      ", axis: [0, 0, 1]",
      { 0.6, 0, 0.3 },
      { 1, 0, 0 } },
    { "rigid_body_3d",
      "[0.1, 0.2, 0.3]",
      "[0.2, 0.1, 0.3]",
      ", axis_a: [0, 0, 1], axis_b: [-1, 0, 0], internal: true",
      ", axis: [0, 0, 1]",
      ", axis: [1, 0, 0]",
      { 0.6, 0, 0.4 },
      { 0.5547001962252291, 0, -0.8320502943378437 } },
};

// A pair in the plane, in space and of bevel gears, driven by a torque on a. An angle of 0 is none; below 0 the point
// where the pitch circles touch is not given either.
static text_case open_pair(int pair, double angle, bool is_back, double torque, const char *scheme)
{
    const gear_pair *w = &gear_pairs[pair];
    char point[96] = "", flank[64] = "";
    if (angle >= 0.0) snprintf(point, sizeof point, ", at: [%.17g, %.17g, %.17g]", w->at[0], w->at[1], w->at[2]);
    if (angle > 0.0)
        snprintf(flank, sizeof flank, ", pressure_angle: %.17g, flank: %s", angle, is_back ? "backward" : "forward");
    return text_case_print("mesh: { a: { type: point, at: [0, 0, 0] }, b: { type: point, at: [1, 0, 0] } }\n"
                           "elements: { a: { type: %s, mesh: a, mass: 2, inertia: %s },\n"
                           "            b: { type: %s, mesh: b, mass: 1, inertia: %s } }\n"
                           "joints: { left: { type: hinge, node: a%s }, right: { type: hinge, node: b%s },\n"
                           "          teeth: { type: gear, a: a, b: b, teeth_a: 30, teeth_b: 20%s%s%s } }\n"
                           "loads: { drive: { type: torque, node: a, value: %.17g, axis: [0, 0, 1] } }\n"
                           "scheme: { type: %s }\ntime: { step: 4.0e-2, end: 4.0 }\n",
                           w->kind, w->inertia_a, w->kind, w->inertia_b, w->hinge_a, w->hinge_b, w->axes, point, flank,
                           torque, scheme);
}

// Hinges `s`, `r`, `c` and `p` of `sun`, `ring`, `arm` and `planet`, and gears `inner` and `outer` of 20, 10 and 40
// teeth, driven by 2 N m on the sun. `inner` and `outer` say more of the gears; the pitch circles touch at 0.2 m and
// 0.4 m, the planet is at 0.3 m. Scheme and time as after `type: ` and `time: `.
static text_case gear_train_open(bool is_in_space, const char *inner, const char *outer, const char *scheme,
                                 const char *time)
{
    static const char *const inertias[][4] = {
        { "0.3", "0.8", "0.5", "0.1" }, { "[0.2, 0.2, 0.3]", "[0.5, 0.5, 0.8]", "[0.3, 0.4, 0.5]", "[0.1, 0.1, 0.1]" }
    };
    const char *const *J = inertias[is_in_space], *kind = is_in_space ? "rigid_body_3d" : "rigid_body_2d";
    const char *hinge = is_in_space ? ", axis: [0, 0, 1]" : "", *gear = is_in_space ? ", axis_a: [0, 0, 1]" : "";
    return text_case_print(
        "mesh: { sun: { type: point, at: [0, 0, 0] }, ring: { type: point, at: [0, 0, 0] },\n"
        "        arm: { type: point, at: [0, 0, 0] }, planet: { type: point, at: [0.3, 0, 0] } }\n"
        "elements: { sun: { type: %s, mesh: sun, mass: 2, inertia: %s },\n"
        "            ring: { type: %s, mesh: ring, mass: 2, inertia: %s },\n"
        "            arm: { type: %s, mesh: arm, mass: 2, inertia: %s },\n"
        "            planet: { type: %s, mesh: planet, mass: 0.7, inertia: %s } }\n"
        "joints: { s: { type: hinge, node: sun%s }, r: { type: hinge, node: ring%s },\n"
        "          c: { type: hinge, node: arm%s }, p: { type: hinge, a: arm, b: planet, at: [0.3, 0, 0]%s },\n"
        "          inner: { type: gear, a: sun, b: planet, carrier: arm, teeth_a: 20, teeth_b: 10%s%s },\n"
        "          outer: { type: gear, a: planet, b: ring, carrier: arm, teeth_a: 10, teeth_b: 40,\n"
        "                   internal: true%s%s } }\n"
        "loads: { drive: { type: torque, node: sun, value: 2.0, axis: [0, 0, 1] } }\n"
        "scheme: { type: %s }\ntime: %s\n",
        kind, J[0], kind, J[1], kind, J[2], kind, J[3], hinge, hinge, hinge, hinge, gear, inner, gear, outer, scheme,
        time);
}

static const pcs_reaction *reaction(const text_case *c, const char *name)
{
    return &c->sim->reactions[text_case_reaction(c, name)];
}

// A torque on a turns both: alpha_a = T/(J_a + r^2 J_b), alpha_b = -r alpha_a, r = 30/20. F = J_b alpha_b/r_b along y
// on b, F tan(angle) along n, and what hinges need to hold both.
TEST(line_of_action_pushes_the_shafts_apart)
{
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.8", "moreau_jean, theta: 0.5", "half_explicit",
                                    "alpha_velocity, rho_inf: 0.9" };
    const double angles[] = { 0.0, 20.0, 25.0 };
    for (int p = 0; p < 3; p++)
        for (int s = 0; s < 4 * 3 * 2 * 2; s++) {
            const gear_pair *w = &gear_pairs[p];
            bool is_back = s / 12 % 2, is_reversed = s / 24;
            if ((s + s / 4 + s / 12 + s / 24 + p) % 2 != 0) continue; // every second of all pairs
            double torque = is_reversed ? -0.7 : 0.7, angle = angles[s / 4 % 3], tangent = tan(angle * pi / 180.0);
            text_case c = open_pair(p, angle, is_back, torque, schemes[s % 4]);
            text_case_run(&c);
            double rate = torque / (0.3 + 2.25 * 0.2), F = rate * 1.5 * 0.2 / 0.4;
            const double *q = c.sim->state.q, a = q[p == 0 ? 2 : 5], b = q[(const int[]){ 5, 11, 9 }[p]];
            CHECK_NEAR(remainder(a - 8.0 * rate, 2.0 * pi), 0.0, 1e-10);
            CHECK_NEAR(remainder(2.0 * b + 3.0 * a, 2.0 * pi), 0.0, 1e-11);
            CHECK_NEAR(c.sim->ledger.now.kinetic, torque * 8.0 * rate, 1e-9);
            // Axis z: b turns backwards when a drives forwards; axis -x with teeth that turn alike: forwards.
            bool pushes = ((F > 0.0) == (p == 2)) != is_back;
            double apart = fabs(F) * tangent * (pushes ? 1.0 : -1.0), force[3], arm_a[3], arm_b[3], about[2][3];
            const pcs_reaction *teeth = reaction(&c, "teeth");
            for (int k = 0; k < 3; k++) {
                force[k] = (k == 1 ? F : 0.0) + apart * w->across[k];
                arm_a[k] = w->at[k];
                arm_b[k] = w->at[k] - (k == 0 ? 1.0 : 0.0);
            }
            pcs_cross(arm_a, force, about[0]);
            pcs_cross(arm_b, force, about[1]);
            if (angle > 0.0) CHECK_NEAR(fabs(teeth->teeth[0]), fabs(F), 1e-11);
            if (angle > 0.0) CHECK_NEAR(teeth->teeth[1], apart, 1e-11);
            for (int k = 0; k < 3; k++) {
                CHECK_NEAR(teeth->force[k], force[k], 1e-11);
                CHECK_NEAR(teeth->moment[k], 0.0, 1e-15);
                CHECK_NEAR(reaction(&c, "left")->force[k], force[k], 1e-11);
                CHECK_NEAR(reaction(&c, "right")->force[k], -force[k], 1e-11);
                if (p > 0 && k != 2) CHECK_NEAR(reaction(&c, "left")->moment[k], about[0][k], 1e-11);
                if (p > 0 && k != (p == 1 ? 2 : 0)) CHECK_NEAR(reaction(&c, "right")->moment[k], -about[1][k], 1e-11);
            }
            text_case_close(&c);
        }
}

// Without the point teeth give no force, but the torque that turns b.
TEST(teeth_without_a_point_turn_b)
{
    const double rate = 0.7 / (0.3 + 2.25 * 0.2);
    for (int p = 0; p < 3; p++) {
        text_case c = open_pair(p, -1.0, false, 0.7, "alpha_ggl, rho_inf: 0.8");
        text_case_run(&c);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(reaction(&c, "teeth")->force[k], 0.0, 1e-15);
            CHECK_NEAR(reaction(&c, "teeth")->moment[k], k == (p == 2 ? 0 : 2) ? -0.2 * 1.5 * rate : 0.0, 1e-11);
        }
        text_case_close(&c);
    }
}

// A wheel on a mount: it settles where the force of the teeth, T/r_a, and what pushes it aside have bent the mount; and
// without dampers energy is kept.
TEST(shafts_yield_to_the_teeth)
{
    for (int n = 0; n < 12; n++) {
        double unit = n % 3 == 0 ? 1e-6 : 1.0, angle = n % 4 < 2 ? 20.0 : 0.0, torque = 0.6 * unit;
        bool is_damped = n % 2;
        text_case c = text_case_print(
            "mesh: { a: { type: point, at: [0, 0, 0] }, b: { type: point, at: [1, 0, 0] },\n"
            "        m: { type: point, nodes: b } }\n"
            "elements: { a: { type: rigid_body_2d, mesh: a, mass: %.17g, inertia: %.17g },\n"
            "            b: { type: rigid_body_2d, mesh: b, mass: %.17g, inertia: %.17g },\n"
            "            m: { type: mount, mesh: m, stiffness: [%.17g, %.17g, 0], damper: [%.17g, %.17g, 0] } }\n"
            "joints: { left: { type: hinge, node: a },\n"
            "          teeth: { type: gear, a: a, b: b, teeth_a: 30, teeth_b: 20, at: [0.6, 0, 0],\n"
            "                   pressure_angle: %.17g%s } }\n"
            "loads: { drive: { type: torque, node: a, value: %.17g, axis: [0, 0, 1] },\n"
            "         load: { type: torque, node: b, value: %.17g, axis: [0, 0, 1] } }\n"
            "scheme: { type: alpha_ggl, rho_inf: 1.0 }\ntime: %s\n",
            2.0 * unit, 0.3 * unit, unit, 0.2 * unit, 50.0 * unit, 80.0 * unit, is_damped ? 8.0 * unit : 0.0,
            is_damped ? 8.0 * unit : 0.0, angle, angle > 0.0 ? ", flank: backward" : "", torque, torque * 20.0 / 30.0,
            is_damped ? "{ step: 2.0e-2, end: 40.0 }" : "{ step: 1.0e-2, end: 10.0 }");
        double least = INFINITY, most = -INFINITY, work = 0.0;
        while (!pcs_sim_is_done(c.sim)) {
            text_case_step(&c);
            const double *q = c.sim->state.q;
            work = torque * (q[2] + 20.0 / 30.0 * q[5]);
            double left = (pcs_measure_energy(&c.sim->ledger.now) - work) / torque;
            least = fmin(least, left);
            most = fmax(most, left);
        }
        double F = torque / 0.6;
        if (is_damped) {
            CHECK_NEAR(c.sim->state.q[3], F * tan(angle * pi / 180.0) / (50.0 * unit), 1e-9);
            CHECK_NEAR(c.sim->state.q[4], F / (80.0 * unit), 1e-9);
            CHECK_NEAR(reaction(&c, "teeth")->teeth[1], F * tan(angle * pi / 180.0), 1e-8 * F);
        } else {
            CHECK(most - least < 1e-10);
        }
        text_case_close(&c);
    }
}

// A train under a constant torque on the sun: constant accelerations of sun and carrier, constant forces of the teeth,
// and a bearing that carries the planet round. Those two say all: w_p = 3 w_c - 2 w_s, w_r = (3 w_c - w_s)/2.
typedef struct train {
    double sun, carrier;          // rad/s^2
    double inner, outer, bearing; // N, after t
} train;

static train train_exact(double t)
{
    const double Js = 0.3, Jr = 0.8, Jp = 0.1, m = 0.7, r = 0.3, Jc = 0.5 + m * r * r, torque = 2.0;
    double ss = Js + 4.0 * Jp + 0.25 * Jr, sc = -6.0 * Jp - 0.75 * Jr, cc = Jc + 9.0 * Jp + 2.25 * Jr;
    train f = { .sun = torque * cc / (ss * cc - sc * sc), .carrier = -torque * sc / (ss * cc - sc * sc) };
    f.inner = (torque - Js * f.sun) / 0.2;
    f.outer = Jr * (1.5 * f.carrier - 0.5 * f.sun) / 0.4;
    f.bearing = hypot(m * r * f.carrier * f.carrier * t * t, m * r * f.carrier - (f.inner - f.outer));
    return f;
}

// Teeth push the planet into itself from both sides, and the ring outwards; away: from the sun to the planet.
static void check_push(const text_case *c, double carrier)
{
    const char *const names[] = { "inner", "outer" };
    for (int k = 0; k < 2; k++) {
        const pcs_reaction *teeth = reaction(c, names[k]);
        CHECK(teeth->teeth[1] > (k == 0 ? 1.0 : 0.1));
        CHECK_NEAR(teeth->force[0] * cos(carrier) + teeth->force[1] * sin(carrier), teeth->teeth[1], 1e-9);
    }
}

// Willis' equation (w_r - w_c)/(w_s - w_c) = -z_s/z_r, also with the points where the pitch circles touch, which the
// carrier takes round, and with pressure angles.
TEST(planets_follow_willis)
{
    static const struct {
        bool is_in_space;
        const char *inner, *outer;
    } trains[] = { { false, "", "" },
                   { true, "", "" },
                   { false, ", at: [0.2, 0, 0]", ", at: [0.4, 0, 0]" },
                   { true, ", at: [0.2, 0, 0]", ", at: [0.4, 0, 0]" },
                   { false, ", at: [0.2, 0, 0], pressure_angle: 20, flank: backward",
                     ", at: [0.4, 0, 0], pressure_angle: 20" } };
    const train exact = train_exact(3.0);
    for (int p = 0; p < 5; p++) {
        double error[2];
        for (int f = 0; f < 2; f++) {
            text_case c =
                gear_train_open(trains[p].is_in_space, trains[p].inner, trains[p].outer, "alpha_ggl, rho_inf: 0.9",
                                f == 0 ? "{ step: 4.0e-2, end: 3.0 }" : "{ step: 2.0e-2, end: 3.0 }");
            double worst = 0.0, turn[3] = { 0 }; // sun, ring, arm
            while (!pcs_sim_is_done(c.sim)) {
                text_case_step(&c);
                for (int k = 0; k < 3; k++) turn[k] = c.sim->state.q[trains[p].is_in_space ? 6 * k + 5 : 3 * k + 2];
                worst = fmax(worst, fabs(remainder(2.0 * turn[1] - 3.0 * turn[2] + turn[0], 2.0 * pi)));
            }
            CHECK(worst < 1e-12);
            error[f] = fabs(remainder(turn[0] - 4.5 * exact.sun, 2.0 * pi));
            error[f] += fabs(remainder(turn[2] - 4.5 * exact.carrier, 2.0 * pi));
            if (p == 4) check_push(&c, turn[2]);
            text_case_close(&c);
        }
        CHECK(error[0] < 4e-2);
        CHECK(error[0] > 3.5 * error[1] || error[0] < 1e-10);
    }
}

// Largest relative error of the three, as means over the last step of h; alpha_ggl and half_explicit_rk tell those of
// its end.
static double train_error(const char *scheme, double h, bool is_mean)
{
    char time[64];
    snprintf(time, sizeof time, "{ step: %.17g, end: 4.0 }", h);
    text_case c = gear_train_open(false, ", at: [0.2, 0, 0]", ", at: [0.4, 0, 0]", scheme, time);
    text_case_run(&c);
    train exact = train_exact(is_mean ? 4.0 - 0.5 * h : 4.0);
    const double *inner = reaction(&c, "inner")->force, *outer = reaction(&c, "outer")->force;
    const double *bearing = reaction(&c, "p")->force;
    double error = fabs(hypot(inner[0], inner[1]) / fabs(exact.inner) - 1.0);
    error = fmax(error, fabs(hypot(outer[0], outer[1]) / fabs(exact.outer) - 1.0));
    error = fmax(error, fabs(hypot(bearing[0], bearing[1]) / exact.bearing - 1.0));
    text_case_close(&c);
    return error;
}

TEST(forces_of_trains_have_the_order_of_the_motion)
{
    static const struct {
        const char *scheme;
        bool is_mean;
        double largest; // error at 4e-3 s
    } rules[] = { { "half_explicit", true, 1.2e-3 },
                  { "half_explicit_rk", false, 4e-4 },
                  { "alpha_ggl, rho_inf: 0.8", false, 4e-4 } };
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        double coarse = train_error(rules[k].scheme, 8e-3, rules[k].is_mean);
        double fine = train_error(rules[k].scheme, 4e-3, rules[k].is_mean);
        CHECK(fine < rules[k].largest);
        CHECK(fine < 0.27 * coarse);
    }
}

// Directions that turn within a step cost velocity-level schemes energy. A model without contacts has no impacts.
TEST(trains_have_no_impacts)
{
    static const char *const schemes[] = { "newmark",
                                           "hht",
                                           "half_explicit",
                                           "moreau_jean, theta: 0.5",
                                           "alpha_velocity, rho_inf: 0.8",
                                           "jump_newmark, rho_inf: 0.8" };
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        text_case c = gear_train_open(false, "", "", schemes[k], "{ step: 2.0e-3, end: 2.0 }");
        text_case_run(&c);
        const pcs_ledger *l = &c.sim->ledger;
        CHECK(l->impact_loss == 0.0);
        CHECK_NEAR(l->numerical_loss, 0.0, 2e-3 * l->external_work);
        text_case_close(&c);
    }
}
