// Cylindrical, universal and screw joints against closed forms, over schemes, steps and units.

#include "support/check.h"
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
        for (int j = i % 2; j < 4; j += 2) {
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
    const double betas[] = { 0.1, 1.3 };
    for (int i = 0; i < 2; i++) {
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
    const double speeds[] = { 500.0, 1800.0, 3000.0 };
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++)
        for (int k = 0; k < 3; k++) {
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
