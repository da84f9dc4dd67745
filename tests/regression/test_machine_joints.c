// Cylindrical, universal and screw joints and gears against closed forms, over schemes, steps and units.

#include "support/check.h"
#include "support/gears.h"
#include "support/still.h"
#include "support/text_case.h"

#include "core/rotation.h"
#include "fe/fe.h"
#include "schemes/scheme.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double gravity = 9.81, pi = 3.14159265358979323846;

#define GGL(rho) "scheme: { type: alpha_ggl, rho_inf: " rho " }\n"
#define MOREAU "scheme: { type: moreau_jean, theta: 0.5 }\n"
#define TIME(step, end) "time: { step: " step ", end: " end " }\n"

static void rotation_of(const text_case *c, const char *set, double rotation[3])
{
    const pcs_dofmap *map = pcs_fe_dofmap(c->sim->system);
    int node = pcs_mesh_node_set(map->mesh, set)->items[0];
    rotation[0] = rotation[1] = rotation[2] = 0.0;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        const pcs_dof *d = &map->dof[i];
        if (!d->is_rotation || d->equation < 0) continue;
        for (int k = 0; k < 3; k++) rotation[k] += c->sim->state.q[d->equation] * d->direction[k];
    }
}

// Angle of a body about an axis that it keeps, up to whole turns; `across` is a unit vector square to the axis.
static double angle_about(const text_case *c, const char *set, const double axis[3], const double across[3])
{
    double rotation[3], R[9], now[3], side[3];
    rotation_of(c, set, rotation);
    pcs_rotation_exp(rotation, R);
    pcs_rotation_apply(R, across, now);
    pcs_cross(axis, across, side);
    return atan2(pcs_dot3(now, side), pcs_dot3(now, across));
}

static double apart(double a, double b)
{
    return fabs(remainder(a - b, 2.0 * pi));
}

static const double X[3] = { 1.0, 0.0, 0.0 }, Y[3] = { 0.0, 1.0, 0.0 }, Z[3] = { 0.0, 0.0, 1.0 };

// A nut on a screw, in any units: lengths, masses and times are so many m, kg and s.
typedef struct units {
    double length, mass, time;
} units;

enum { SCREW_ROOM = 2048 };

static void write_screw(double pitch, const units *u, const char *scheme, double step, char text[SCREW_ROOM])
{
    double l = u->length, m = u->mass, t = u->time;
    int n = snprintf(text, SCREW_ROOM,
                     "mesh: { body: { type: point, at: [%.17g, 0, 0] } }\n"
                     "elements: { body: { type: rigid_body_3d, mesh: body, mass: %.17g,\n"
                     "                    inertia: [%.17g, %.17g, %.17g] } }\n"
                     "joints: { nut: { type: screw, node: body, axis: [0, 0, 3], pitch: %.17g } }\n"
                     "loads: { weight: { type: gravity, g: [0, 0, %.17g] } }\n"
                     "%stime: { step: %.17g, end: %.17g }\n",
                     0.3 * l, 2.0 * m, 0.1 * m * l * l, 0.2 * m * l * l, 0.05 * m * l * l, pitch * l,
                     -gravity * l / (t * t), scheme, step * t, 2.0 * t);
    CHECK(n < SCREW_ROOM);
}

// The weight turns the nut as it sinks: z'' = -g m/(m + J k^2), k = 2 pi/P, a parabola through seven turns and more.
static double screw_acceleration(double pitch, double *k)
{
    *k = 2.0 * pi / pitch;
    return -gravity * 2.0 / (2.0 + 0.05 * *k * *k);
}

TEST(screws_fall_by_their_pitch)
{
    const double pitches[] = { 0.4, -0.4, 0.05, 3.0 };
    const units all[] = { { 1.0, 1.0, 1.0 }, { 1e3, 1e3, 1.0 }, { 1e-6, 1e-9, 1e-3 }, { 1e6, 1.0, 1e4 } };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            char text[SCREW_ROOM];
            const units *u = &all[j];
            double k, a = screw_acceleration(pitches[i], &k), x[3], v[3], reference[3], gap, rate;
            double force = u->mass * u->length / (u->time * u->time);
            write_screw(pitches[i], u, GGL("0.8"), 1e-2, text);
            text_case c = text_case_open(text, NULL);
            text_case_run(&c);
            text_case_node(&c, "body", x, v, reference);
            CHECK_RELATIVE(x[2] / u->length, 2.0 * a, 1e-12);
            CHECK(apart(angle_about(&c, "body", Z, X), k * 2.0 * a) < 1e-11 * fabs(k));
            const pcs_reaction *r = &c.sim->reactions[0];
            CHECK_RELATIVE(r->force[2] / force, 2.0 * (a + gravity), 1e-10);
            CHECK_RELATIVE(r->moment[2] / (force * u->length), 0.05 * a * k, 1e-10);
            const pcs_ledger *l = &c.sim->ledger;
            CHECK_NEAR(l->now.kinetic / fabs(l->now.potential - l->initial), 1.0, 1e-11);
            text_case_gap_error(&c, &gap, &rate);
            CHECK(gap <= 4e-15 * u->length * (1.0 + fabs(2.0 * a)));
            text_case_close(&c);
        }
}

// Every scheme that takes bodies in space and joints, at steps that are small and large.
TEST(every_scheme_turns_the_screw)
{
    const double steps[] = { 1e-3, 1e-2, 5e-2 };
    int runs = 0;
    for (int s = 0; pcs_schemes[s] != NULL; s++)
        for (int i = 0; i < 3; i++) {
            const char *name = pcs_schemes[s]->name, *choice = "";
            if (strcmp(name, "moreau_jean") == 0) choice = ", theta: 0.5";
            if (strcmp(name, "jump_newmark") == 0) choice = ", rho_inf: 0.8";
            char text[SCREW_ROOM], scheme[96];
            double k, a = screw_acceleration(0.4, &k), x[3], v[3], reference[3];
            snprintf(scheme, sizeof scheme, "scheme: { type: %s%s }\n", name, choice);
            write_screw(0.4, &(units){ 1.0, 1.0, 1.0 }, scheme, steps[i], text);
            text_case c;
            pcs_status status = text_case_try(text, &c);
            if (status == PCS_OK) {
                runs++;
                text_case_run(&c);
                text_case_node(&c, "body", x, v, reference);
                CHECK_NEAR(x[2], 2.0 * a, 2.0 * fabs(a) * steps[i] + 1e-9);
                CHECK(apart(angle_about(&c, "body", Z, X), k * x[2]) < 1e-6);
            } else {
                CHECK_STATUS(c.ctx, status, PCS_BAD_INPUT);
            }
            text_case_close(&c);
        }
    CHECK(runs >= 21); // of seven schemes
}

// Bolt and nut in free flight: no force but that of the thread, which is none when both turn evenly.
TEST(bolt_and_nut_part_evenly)
{
    const double lead = 0.2 / (2.0 * pi);
    text_case c =
        text_case_open("mesh: { bolt: { type: point, at: [0, 0, 0] }, nut: { type: point, at: [0, 0.5, 0] } }\n"
                       "elements: { bolt: { type: rigid_body_3d, mesh: bolt, mass: 3, inertia: [0.3, 0.1, 0.3] },\n"
                       "            nut: { type: rigid_body_3d, mesh: nut, mass: 1, inertia: [0.02, 0.03, 0.02] } }\n"
                       "joints: { thread: { type: screw, a: bolt, b: nut, axis: [0, 1, 0], pitch: 0.2 } }\n"
                       "initial: [ { set: bolt, velocity: [0, 0.1, 0], spin: [0, -5, 0] },\n"
                       "           { set: nut, velocity: [0, 0.60929581789406506, 0], spin: [0, 11, 0] } ]\n",
                       GGL("1.0"), TIME("1.0e-2", "10.0"), NULL);
    double bolt[3], nut[3], v[3], reference[3];
    text_case_run(&c);
    text_case_node(&c, "bolt", bolt, v, reference);
    text_case_node(&c, "nut", nut, v, reference);
    CHECK_NEAR(bolt[1], 1.0, 1e-11);
    CHECK_NEAR(nut[1], 0.5 + 1.0 + lead * 160.0, 1e-11);
    CHECK(apart(angle_about(&c, "nut", Y, Z), 110.0) < 1e-10);
    for (int k = 0; k < 3; k++) CHECK_NEAR(c.sim->reactions[0].force[k], 0.0, 1e-9);
    text_case_close(&c);
}

// Down an inclined axis at g sin(30) while it turns evenly; the sleeve carries the rest.
TEST(sleeves_slide_and_turn)
{
    const char *const schemes[] = { GGL("0.8"), MOREAU };
    for (int s = 0; s < 2; s++) {
        text_case c = text_case_open(
            "mesh: { body: { type: point, at: [0, 0, 0] } }\n"
            "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [0.1, 0.1, 0.1] } }\n"
            "joints: { sleeve: { type: cylindrical, node: body, axis: [1.7320508075688772, 0, -1] } }\n"
            "loads: { weight: { type: gravity, g: [0, 0, -9.81] } }\n"
            "initial: [ { set: body, spin: [6.0621778264910704, 0, -3.5] } ]\n",
            schemes[s], TIME("1.0e-2", "2.0"), NULL);
        const double axis[3] = { sqrt(0.75), 0.0, -0.5 }, increment = gravity;
        double x[3], v[3], reference[3];
        text_case_run(&c);
        text_case_node(&c, "body", x, v, reference);
        for (int k = 0; k < 3; k++) CHECK_NEAR(x[k], increment * axis[k], 1e-12);
        CHECK(apart(angle_about(&c, "body", axis, Y), 14.0) < 1e-11);
        const double *f = c.sim->reactions[0].force;
        CHECK_NEAR(f[0], 2.0 * gravity * sqrt(0.75) * 0.5, 1e-10);
        CHECK_NEAR(f[2], 2.0 * gravity * 0.75, 1e-10);
        text_case_close(&c);
    }
}

// A shaft along x driven evenly by gamma, and one bent by beta against it: tan(gamma) = cos(beta) tan(alpha). Its far
// end is held across, so nothing is held twice.
static void write_cross(double beta, double step, char text[SCREW_ROOM])
{
    double c = cos(beta), s = sin(beta);
    int n = snprintf(text, SCREW_ROOM,
                     "mesh: { in: { type: point, at: [1, 0, 0] }, out: { type: point, at: [%.17g, %.17g, 0] } }\n"
                     "elements: { in: { type: rigid_body_3d, mesh: in, mass: 2, inertia: [0.3, 0.3, 0.3] },\n"
                     "            out: { type: rigid_body_3d, mesh: out, mass: 1, inertia: [0.2, 0.2, 0.2] } }\n"
                     "supports: { end: { set: in, fix: [y, z] } }\n"
                     "joints: { bearing: { type: hinge, node: out, axis: [%.17g, %.17g, 0], at: [0, 0, 0] },\n"
                     "          cross: { type: universal, a: out, b: in, at: [0, 0, 0], axis_a: [0, 0, 1],\n"
                     "                   axis_b: [0, 1, 0] },\n"
                     "          motor: { type: prescribed, node: in, along: rx, speed: 6.0, rise: 0.5 } }\n" GGL(
                         "0.9") "time: { step: %.17g, end: 2.0 }\n",
                     -c, -s, c, s, step);
    CHECK(n < SCREW_ROOM);
}

// J alpha'' dalpha/dgamma, alpha(gamma) = atan(tan(gamma)/cos(beta)), at an even gamma' = w; the shaft out has its own
// inertia about its axis.
static double cross_torque(double beta, double gamma, double w)
{
    double c = cos(beta), size = c * c * cos(gamma) * cos(gamma) + sin(gamma) * sin(gamma), slope = c / size;
    double bend = -c * (1.0 - c * c) * sin(2.0 * gamma) / (size * size);
    return 0.2 * bend * w * w * slope;
}

TEST(crosses_turn_unevenly)
{
    const double betas[] = { 0.1, 1.0, 1.3 };
    for (int i = 0; i < 3; i++) {
        double beta = betas[i], error[2], axis[3] = { cos(beta), sin(beta), 0.0 };
        for (int f = 0; f < 2; f++) {
            char text[SCREW_ROOM];
            double step = f == 0 ? 4e-3 : 2e-3, worst = 0.0, gamma, gap, rate;
            write_cross(beta, step, text);
            text_case c = text_case_open(text, NULL);
            while (!pcs_sim_is_done(c.sim)) {
                text_case_step(&c);
                gamma = angle_about(&c, "in", X, Y);
                double alpha = angle_about(&c, "out", axis, Z);
                worst = fmax(worst, apart(gamma, atan2(cos(beta) * sin(alpha), cos(alpha))));
            }
            text_case_gap_error(&c, &gap, &rate);
            CHECK(worst < 2e-14 / cos(beta) / cos(beta));
            CHECK(gap < 4e-15);
            double torque = c.sim->reactions[text_case_reaction(&c, "motor")].moment[0];
            error[f] = fabs(torque - cross_torque(beta, 6.0 * 2.0 - 3.0 * 0.5, 6.0));
            text_case_close(&c);
        }
        CHECK(error[0] < 0.1);
        CHECK(error[0] > 3.0 * error[1]);
    }
}

// A torque on a turns both: alpha_a = T/(J_a + r^2 J_b), alpha_b = -r alpha_a, r = 30/20.
TEST(gears_turn_by_their_teeth)
{
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.8", "moreau_jean, theta: 0.5", "newmark, gamma: 0.5",
                                    "alpha_velocity, rho_inf: 0.9" };
    for (int p = 0; p < GEAR_PAIRS; p++)
        for (int s = 0; s < 4; s++) {
            text_case c = gear_pair_open(p, "", 0.7, schemes[s], "{ step: 2.0e-2, end: 9.0 }");
            const double rate = 0.7 / (0.3 + 2.25 * 0.2), angle = 0.5 * rate * 81.0;
            double worst = 0.0;
            while (!pcs_sim_is_done(c.sim)) {
                text_case_step(&c);
                double a = angle_about(&c, "a", Z, X), b = angle_about(&c, "b", p == 2 ? X : Z, Y);
                worst = fmax(worst, apart(2.0 * b + 3.0 * a, 0.0));
            }
            CHECK(worst < 1e-11);
            CHECK(apart(angle_about(&c, "a", Z, X), angle) < 1e-10);
            const pcs_reaction *r = &c.sim->reactions[text_case_reaction(&c, "teeth")];
            CHECK_NEAR(r->moment[p == 2 ? 0 : 2], -0.2 * 1.5 * rate, 1e-11);
            CHECK_NEAR(c.sim->ledger.now.kinetic, 0.7 * angle, 1e-9);
            text_case_close(&c);
        }
}

// The same with the point where the pitch circles touch: hinges carry the force of the teeth, F = J_b alpha_b/r_b, and
// that of the bevel gear also what it does about the other axes.
TEST(teeth_push_on_the_hinges)
{
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.8", "moreau_jean, theta: 0.5", "half_explicit",
                                    "alpha_velocity, rho_inf: 0.9" };
    for (int p = 0; p < GEAR_PAIRS; p++)
        for (int s = 0; s < 4; s++) {
            char more[128];
            gear_pair_touch(p, "", sizeof more, more);
            text_case c = gear_pair_open(p, more, 0.7, schemes[s], "{ step: 2.0e-2, end: 9.0 }");
            const double rate = 0.7 / (0.3 + 2.25 * 0.2), force = 0.2 * 1.5 * rate / 0.4;
            const double about[3][3] = { { 0.0 }, { 0.3 * force, 0.0, 0.0 }, { 0.0, 0.0, 0.4 * force } };
            text_case_run(&c);
            CHECK(apart(angle_about(&c, "a", Z, X), 0.5 * rate * 81.0) < 1e-10);
            const pcs_reaction *teeth = &c.sim->reactions[text_case_reaction(&c, "teeth")];
            const pcs_reaction *left = &c.sim->reactions[text_case_reaction(&c, "left")];
            const pcs_reaction *right = &c.sim->reactions[text_case_reaction(&c, "right")];
            for (int k = 0; k < 3; k++) {
                CHECK_NEAR(teeth->force[k], k == 1 ? force : 0.0, 1e-11);
                CHECK_NEAR(left->force[k], k == 1 ? force : 0.0, 1e-11);
                CHECK_NEAR(right->force[k], k == 1 ? -force : 0.0, 1e-11);
                CHECK_NEAR(teeth->moment[k], 0.0, 1e-15);
                CHECK_NEAR(right->moment[k], about[p][k], 1e-11);
            }
            text_case_close(&c);
        }
}

// The teeth and the hinge move the planet, 0.7 kg at 0.3 m on a carrier with this angle, rate and acceleration.
static void check_planet(const text_case *c, double angle, double rate, double acceleration)
{
    const double *inner = c->sim->reactions[text_case_reaction(c, "inner")].force;
    const double *outer = c->sim->reactions[text_case_reaction(c, "outer")].force; // on the ring
    const double *hinge = c->sim->reactions[text_case_reaction(c, "p")].force;
    double x = -acceleration * sin(angle) - rate * rate * cos(angle);
    double y = acceleration * cos(angle) - rate * rate * sin(angle), size = 0.7 * 0.3 * hypot(x, y);
    CHECK(hypot(inner[0], inner[1]) > 1.0 && size > 0.5);
    CHECK_NEAR(inner[0] - outer[0] + hinge[0], 0.7 * 0.3 * x, 2e-3 * size);
    CHECK_NEAR(inner[1] - outer[1] + hinge[1], 0.7 * 0.3 * y, 2e-3 * size);
}

// Sun, planet, ring and their carrier: Willis' equation (w_r - w_c)/(w_s - w_c) = -z_s/z_r. Also with the points where
// the pitch circles touch, which the carrier takes round.
TEST(planets_follow_willis)
{
    // phi_p = 3 c - 2 s, phi_r = 1.5 c - 0.5 s: masses of the coordinates s and c, and what a torque on s does.
    const double ss = 0.3 + 4.0 * 0.1 + 0.25 * 0.8, cc = 0.5 + 0.7 * 0.09 + 9.0 * 0.1 + 2.25 * 0.8;
    const double sc = -6.0 * 0.1 - 0.75 * 0.8, det = ss * cc - sc * sc, T = 2.0;
    const double as = T * cc / det, ac = -T * sc / det;
    for (int p = 0; p < 4; p++) {
        double error[2];
        for (int f = 0; f < 2; f++) {
            text_case c = gear_train_open(p % 2 != 0, p >= 2 ? ", at: [0.2, 0, 0]" : "",
                                          p >= 2 ? ", at: [0.4, 0, 0]" : "", "alpha_ggl, rho_inf: 0.9",
                                          f == 0 ? "{ step: 2.0e-2, end: 3.0 }" : "{ step: 1.0e-2, end: 3.0 }");
            double worst = 0.0;
            while (!pcs_sim_is_done(c.sim)) {
                text_case_step(&c);
                double s = angle_about(&c, "sun", Z, X), r = angle_about(&c, "ring", Z, X);
                double a = angle_about(&c, "arm", Z, X);
                worst = fmax(worst, apart(2.0 * r - 3.0 * a + s, 0.0));
            }
            CHECK(worst < 1e-12);
            if (p >= 2 && f == 1) check_planet(&c, 4.5 * ac, 3.0 * ac, ac);
            error[f] = apart(angle_about(&c, "sun", Z, X), 4.5 * as) + apart(angle_about(&c, "arm", Z, X), 4.5 * ac);
            text_case_close(&c);
        }
        CHECK(error[0] < 1e-2);
        CHECK(error[0] > 3.5 * error[1] || error[0] < 1e-10);
    }
}

// A spring holds a nut on its screw against a torque: k s = 2 pi T/P - m g along the axis.
TEST(screws_stand_in_equilibrium)
{
    double q[16] = { 0 }, R[9], now[3];
    still s = still_open("mesh: { body: { type: point, at: [0, 0, 0] }, top: { type: point, at: [0, 0, 1] },\n"
                         "        spring: { type: link, a: body, b: top } }\n"
                         "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [0.1, 0.2, 0.3] },\n"
                         "            top: { type: point_mass, mesh: top, mass: 1 },\n"
                         "            spring: { type: spring_damper, mesh: spring, stiffness: 500.0 } }\n"
                         "supports: { wall: { set: top, fix: [x, y, z] } }\n"
                         "joints: { nut: { type: screw, node: body, axis: [0, 0, 1], pitch: 0.02 } }\n"
                         "loads: { weight: { type: gravity, g: [0, 0, -10.0] },\n"
                         "         hand: { type: torque, node: body, value: 0.4, axis: [0, 0, 1] } }\n"
                         "scheme: { type: alpha_ggl }\ntime: { step: 1.0e-3, end: 1.0 }\n"
                         "output: { probes: { p: { set: body, of: [uz] } } }\n",
                         "");
    still_statics(&s, 20, q);
    double increment = (2.0 * pi * 0.4 / 0.02 - 20.0) / 500.0;
    CHECK_RELATIVE(still_probe(&s, "p.uz", q), increment, 1e-10);
    pcs_rotation_exp(q + 3, R);
    pcs_rotation_apply(R, X, now);
    CHECK(apart(atan2(now[1], now[0]), 2.0 * pi * increment / 0.02) < 1e-9);
    still_close(&s);
}

// Steps of 0.5 to 3 rad leave the speed of a driven body what it is told, whatever they do to places: strict runs end
// as those are off by a tenth.
TEST(driven_bodies_keep_their_speed_in_long_steps)
{
    const char *const schemes[] = { GGL("0.8"),
                                    MOREAU,
                                    "scheme: { type: newmark }\n",
                                    "scheme: { type: hht }\n",
                                    "scheme: { type: half_explicit }\n",
                                    "scheme: { type: moreau_jean_explicit }\n" };
    const double speeds[] = { 500.0, 1000.0, 1800.0, 3000.0 };
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++)
        for (int k = 0; k < 4; k++) {
            char joints[512];
            snprintf(joints, sizeof joints,
                     "joints: { pivot: { type: hinge, node: body, at: [0, 0, 0], axis: [0, 0, 1] },\n"
                     "          motor: { type: prescribed, node: body, along: rz, speed: %g } }\n"
                     "initial: [{ set: body, spin: [0, 0, %g], about: [0, 0, 0] }]\n"
                     "output: { probes: { body: { node: body, of: [wz] } } }\ncertify: warn\n",
                     speeds[k], speeds[k]);
            text_case c = text_case_open("mesh: { body: { type: point, at: [0.3, -0.2, 0.4] } }\n"
                                         "elements: { body: { type: rigid_body_3d, mesh: body, mass: 1.5,\n"
                                         "    inertia: [0.2, 0.38, 0.54], products: [0.02, 0.04, -0.01] } }\n",
                                         joints, schemes[s], TIME("1.0e-3", "0.2"), NULL);
            text_case_run(&c);
            CHECK_RELATIVE(text_case_probe(&c, "body.wz"), speeds[k], 1e-11);
            text_case_close(&c);
        }
}
