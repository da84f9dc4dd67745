// Gears with a pressure angle: the force of the teeth is along the line of action, pushes the shafts apart whichever
// flank carries, and shows in hinges, in mounts that yield, and in planetary trains.

#include "support/check.h"
#include "support/gears.h"
#include "support/model.h"

#include "core/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static text_case open_pair(int pair, double angle, bool is_back, double torque, const char *scheme)
{
    char rest[64], more[128];
    snprintf(rest, sizeof rest, ", pressure_angle: %.17g, flank: %s", angle, is_back ? "backward" : "forward");
    gear_pair_touch(pair, rest, sizeof more, more);
    return gear_pair_open(pair, more, torque, scheme, "{ step: 2.0e-2, end: 4.0 }");
}

static const pcs_reaction *reaction(const text_case *c, const char *name)
{
    return &c->sim->reactions[text_case_reaction(c, name)];
}

// F = J_b alpha_b/r_b along y on b, F tan(angle) along n, and what hinges need to hold both.
TEST(line_of_action_pushes_the_shafts_apart)
{
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.8", "moreau_jean, theta: 0.5", "half_explicit",
                                    "alpha_velocity, rho_inf: 0.9" };
    const double angles[] = { 14.5, 20.0, 25.0 };
    for (int p = 0; p < 3; p++)
        for (int s = 0; s < 4 * 3 * 2 * 2; s++) {
            const gear_pair *w = &gear_pairs[p];
            bool is_back = s / 12 % 2, is_reversed = s / 24;
            if ((s + s / 4 + s / 12 + s / 24 + p) % 2 != 0) continue; // every second of all pairs
            double torque = is_reversed ? -0.7 : 0.7, angle = angles[s / 4 % 3], tangent = tan(angle * pi / 180.0);
            text_case c = open_pair(p, angle, is_back, torque, schemes[s % 4]);
            text_case_run(&c);
            double F = torque / (0.3 + 2.25 * 0.2) * 1.5 * 0.2 / 0.4;
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
            CHECK_NEAR(fabs(teeth->teeth[0]), fabs(F), 1e-11);
            CHECK_NEAR(teeth->teeth[1], apart, 1e-11);
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

// Rows of bevel teeth are the slopes of their gap wherever the wheels are.
TEST(directions_are_slopes_of_the_gap)
{
    const double weight[5] = { 1.0 / 12.0, -8.0 / 12.0, 0.0, 8.0 / 12.0, -1.0 / 12.0 }, step = 1e-3;
    for (int p = 0; p < 3; p++)
        for (int n = 0; n < 20; n++) {
            text_case c = open_pair(p, 20.0, n % 2 != 0, 0.7, "newmark");
            pcs_system *system = c.sim->system;
            unsigned long long seed = (unsigned long long)(n + 1);
            double q[12], v[12], x[12], increment[12], gap[16], slope = 0.0, rate = 0.0;
            int row = system->nrow - 1;
            model_randomize(&seed, system->nv, q);
            model_randomize(&seed, system->nv, v);
            for (int i = 0; i < system->nv; i++) q[i] *= 0.3;
            for (int s = 0; s < 5; s++) {
                for (int i = 0; i < system->nv; i++) increment[i] = (s - 2) * step * v[i];
                pcs_retract(&system->rotations, q, increment, x);
                pcs_system_gaps(system, pcs_at(0.0, x, NULL), gap);
                slope += weight[s] * gap[row] / step;
            }
            pcs_system_aim(system, pcs_at(0.0, q, NULL));
            rate = pcs_rows_dot(system->G, row, v);
            CHECK_NEAR(slope, rate, 1e-9);
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
        char text[2048];
        snprintf(text, sizeof text,
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
                 is_damped ? 8.0 * unit : 0.0, angle, angle > 0.0 ? ", flank: backward" : "", torque,
                 torque * 20.0 / 30.0, is_damped ? "{ step: 2.0e-2, end: 40.0 }" : "{ step: 1.0e-2, end: 10.0 }");
        text_case c = text_case_open(text, NULL);
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

// In a train on a carrier the motion is that without a pressure angle, teeth push the planet into itself from both
// sides, and the ring outwards.
TEST(trains_turn_alike_at_any_pressure_angle)
{
    double angles[2][2];
    for (int n = 0; n < 2; n++) {
        text_case c = gear_train_open(
            false, n == 0 ? ", at: [0.2, 0, 0]" : ", at: [0.2, 0, 0], pressure_angle: 20, flank: backward",
            n == 0 ? ", at: [0.4, 0, 0]" : ", at: [0.4, 0, 0], pressure_angle: 20", "alpha_ggl, rho_inf: 0.9",
            "{ step: 5.0e-3, end: 3.0 }");
        text_case_run(&c);
        angles[n][0] = c.sim->state.q[2];
        angles[n][1] = c.sim->state.q[8];
        if (n == 1) {
            const double *inner = reaction(&c, "inner")->force, *outer = reaction(&c, "outer")->force;
            double away[2] = { cos(angles[1][1]), sin(angles[1][1]) }; // from the sun to the planet
            CHECK(reaction(&c, "inner")->teeth[1] > 1.0 && reaction(&c, "outer")->teeth[1] > 0.1);
            CHECK_NEAR(inner[0] * away[0] + inner[1] * away[1], reaction(&c, "inner")->teeth[1], 1e-9);
            CHECK_NEAR(outer[0] * away[0] + outer[1] * away[1], reaction(&c, "outer")->teeth[1], 1e-9);
        }
        text_case_close(&c);
    }
    for (int k = 0; k < 2; k++) CHECK_NEAR(angles[0][k], angles[1][k], 1e-10);
}

// A train under a constant torque on the sun: constant accelerations, constant forces of the teeth, and a bearing that
// carries the planet round. Speeds of sun and carrier say all: w_p = 3 w_c - 2 w_s, w_r = (3 w_c - w_s)/2.
typedef struct train_forces {
    double inner, outer, bearing; // N
} train_forces;

static train_forces train_exact(double t)
{
    const double Js = 0.3, Jr = 0.8, Jp = 0.1, m = 0.7, r = 0.3, Jc = 0.5 + m * r * r, torque = 2.0;
    double ss = Js + 4.0 * Jp + 0.25 * Jr, sc = -6.0 * Jp - 0.75 * Jr, cc = Jc + 9.0 * Jp + 2.25 * Jr;
    double a_s = torque * cc / (ss * cc - sc * sc), a_c = -torque * sc / (ss * cc - sc * sc);
    train_forces f = { .inner = (torque - Js * a_s) / 0.2, .outer = Jr * (1.5 * a_c - 0.5 * a_s) / 0.4 };
    f.bearing = hypot(m * r * a_c * a_c * t * t, m * r * a_c - (f.inner - f.outer));
    return f;
}

// Largest relative error of the three, as means over the last step of h; alpha_ggl and half_explicit_rk tell those of
// its end.
static double train_error(const char *scheme, double h, bool is_mean)
{
    char time[64];
    snprintf(time, sizeof time, "{ step: %.17g, end: 4.0 }", h);
    text_case c = gear_train_open(false, ", at: [0.2, 0, 0]", ", at: [0.4, 0, 0]", scheme, time);
    text_case_run(&c);
    train_forces exact = train_exact(is_mean ? 4.0 - 0.5 * h : 4.0);
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
        double largest; // error at 2e-3 s
    } rules[] = { { "half_explicit", true, 3e-4 },
                  { "half_explicit_rk", false, 1e-4 },
                  { "alpha_ggl, rho_inf: 0.8", false, 1e-4 } };
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        double coarse = train_error(rules[k].scheme, 4e-3, rules[k].is_mean);
        double fine = train_error(rules[k].scheme, 2e-3, rules[k].is_mean);
        print_message("%s: %.3e, %.3e\n", rules[k].scheme, coarse, fine);
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
        print_message("%s: impacts %.3g, numerical %.3g of %.6g J\n", schemes[k], l->impact_loss, l->numerical_loss,
                      l->external_work);
        CHECK(l->impact_loss == 0.0);
        CHECK_NEAR(l->numerical_loss, 0.0, 2e-3 * l->external_work);
        text_case_close(&c);
    }
}
