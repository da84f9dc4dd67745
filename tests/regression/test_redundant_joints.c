// Joints that repeat what others hold: the motion is that of the mechanism, the forces are shared, and it is told.

#include "support/check.h"
#include "support/text_case.h"

#include "build/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double gravity = 9.81;

enum { ROOM = 8192 };

static double energy_of(const text_case *c)
{
    const pcs_ledger *l = &c->sim->ledger;
    return l->now.kinetic + l->now.strain + l->now.potential;
}

// Angle and rate of theta'' = -k sin(theta) after t, from rest.
static void swing(double k, double start, double t, double *angle)
{
    enum { STEPS = 20000 };
    double h = t / STEPS, x = start, w = 0.0;
    for (int i = 0; i < STEPS; i++) {
        double k1 = -k * sin(x), k2 = -k * sin(x + 0.5 * h * w), k3 = -k * sin(x + 0.5 * h * w + 0.25 * h * h * k1);
        double k4 = -k * sin(x + h * w + 0.5 * h * h * k2);
        x += h * w + h * h / 6.0 * (k1 + k2 + k3);
        w += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    *angle = x;
}

// A coupler of 4 kg on parallel rockers of 1 kg and length 1 m, hung at `tilt` from the vertical.
static void write_swing(int rockers, bool in_space, double tilt, const char *rest, char text[ROOM])
{
    const char *axis = in_space ? ", axis: [0, 0, 1]" : "";
    const char *body = in_space ? "rigid_body_3d" : "rigid_body_2d", *J = in_space ? "[0.1, 0.1, 0.1]" : "0.1";
    double s = sin(tilt), c = -cos(tilt);
    char *p = text, *end = text + ROOM;
    p += snprintf(p, (size_t)(end - p), "mesh:\n  coupler: { type: point, at: [%.17g, %.17g, 0] }\n", 1.0 + s, c);
    for (int i = 0; i < rockers; i++)
        p += snprintf(p, (size_t)(end - p), "  r%d: { type: point, at: [%.17g, %.17g, 0] }\n", i, i + 0.5 * s, 0.5 * c);
    p += snprintf(p, (size_t)(end - p), "elements:\n  coupler: { type: %s, mesh: coupler, mass: 4, inertia: %s }\n",
                  body, J);
    for (int i = 0; i < rockers; i++)
        p += snprintf(p, (size_t)(end - p), "  r%d: { type: %s, mesh: r%d, mass: 1, inertia: %s }\n", i, body, i, J);
    p += snprintf(p, (size_t)(end - p), "joints:\n");
    for (int i = 0; i < rockers; i++)
        p += snprintf(p, (size_t)(end - p),
                      "  g%d: { type: hinge, node: r%d, at: [%d, 0, 0]%s }\n"
                      "  c%d: { type: hinge, a: r%d, b: coupler, at: [%.17g, %.17g, 0]%s }\n",
                      i, i, i, axis, i, i, i + s, c, axis);
    snprintf(p, (size_t)(end - p), "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n%s", rest);
}

static double swing_error(int rockers, bool in_space, const char *rest, double *force, double *gap)
{
    char text[ROOM];
    double x[3], v[3], reference[3], angle, rate, J = 0.1 + 0.25;
    write_swing(rockers, in_space, 0.6, rest, text);
    text_case c = text_case_open(text, NULL);
    CHECK(c.sim->system->row_set.are_redundant == (rockers > 2 || in_space));
    text_case_run(&c);
    text_case_node(&c, "coupler", x, v, reference);
    text_case_gap_error(&c, gap, &rate);
    swing((rockers * 0.5 + 4.0) * gravity / (rockers * J + 4.0), 0.6, 1.2, &angle);
    // What the pivots carry together is what the motion asks for, however they share it.
    *force = 0.0;
    for (int i = 0; i < rockers; i++) {
        char name[16];
        snprintf(name, sizeof name, "g%d", i);
        *force += c.sim->reactions[text_case_reaction(&c, name)].force[1];
    }
    text_case_close(&c);
    return hypot(x[0] - 1.0 - sin(angle), x[1] + cos(angle));
}

#define TIME(step) "time: { step: " step ", end: 1.2 }\n"

TEST(parallelograms_swing_like_pendulums)
{
    const char *const schemes[] = { "scheme: { type: alpha_ggl, rho_inf: 0.9 }\n" TIME("5.0e-3"),
                                    "scheme: { type: half_explicit }\n" TIME("5.0e-3"),
                                    "scheme: { type: moreau_jean, theta: 0.5 }\n" TIME("5.0e-3"),
                                    "scheme: { type: alpha_velocity, rho_inf: 0.9 }\n" TIME("5.0e-3") };
    for (int s = 0; s < 4; s++)
        for (int space = 0; space < 2; space++) {
            int rockers = space == 1 ? 2 : 3;
            double force, gap, error = swing_error(rockers, space == 1, schemes[s], &force, &gap);
            if (error > (s == 0 ? 2e-4 : 2e-2)) fail_msg("scheme %d, %d rockers: off by %g m", s, rockers, error);
            if (s == 0 && gap > 1e-13) fail_msg("%d rockers: misfit %g m", rockers, gap);
            CHECK(force > 10.0 && force < 150.0);
        }
}

// Solver schur shares the forces as newton does, and settles every step by itself.
TEST(solvers_share_alike)
{
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.9", "alpha_velocity, rho_inf: 0.9",
                                    "moreau_jean, theta: 0.5", "half_explicit" };
    for (int n = 0; n < 8; n++) {
        int rockers = 3 - n / 4; // two in space, three in the plane
        char text[ROOM], rest[256];
        text_case c[2];
        for (int k = 0; k < 2; k++) {
            snprintf(rest, sizeof rest, "scheme: { type: %s }\nsolver: { type: %s }\n" TIME("5.0e-3"), schemes[n % 4],
                     k == 0 ? "newton" : "schur");
            write_swing(rockers, rockers == 2, 0.6, rest, text);
            c[k] = text_case_open(text, NULL);
            text_case_run(&c[k]);
            CHECK(c[k].sim->solver->handovers == 0);
        }
        double worst = 0.0;
        for (int i = 0; i < 2 * rockers; i++)
            for (int k = 0; k < 2; k++)
                worst = fmax(worst, fabs(c[0].sim->reactions[i].force[k] - c[1].sim->reactions[i].force[k]));
        if (worst > 0.02) fail_msg("run %d: forces differ by %g N", n, worst);
        for (int k = 0; k < 2; k++) text_case_close(&c[k]);
    }
}

// Equal rockers beside each other share alike.
TEST(equals_share_alike)
{
    text_case c = text_case_open(
        "mesh: { body: { type: point, at: [0.5, 0, 0] } }\n"
        "elements: { body: { type: rigid_body_2d, mesh: body, mass: 2, inertia: 0.1 } }\n"
        "joints: { one: { type: hinge, node: body, at: [0, 0, 0] }, two: { type: hinge, node: body, at: [0, 0, 0] } }\n"
        "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"
        "scheme: { type: alpha_ggl, rho_inf: 0.8 }\ntime: { step: 1.0e-3, end: 0.5 }\n",
        NULL);
    text_case_run(&c);
    const double *one = c.sim->reactions[0].force, *two = c.sim->reactions[1].force;
    double size = fabs(one[0]) + fabs(one[1]);
    CHECK(size > 1.0);
    for (int k = 0; k < 2; k++) CHECK_NEAR(one[k], two[k], 1e-4 * size);
    text_case_close(&c);
}

// Bricard's linkage: six hinges in a loop of rods along the edges of a cube, none of them free by count, one in fact.
static const char bricard[] = "mesh:\n"
                              "  b1: { type: point, at: [0.5, 0, 0] }\n  b2: { type: point, at: [1, -0.5, 0] }\n"
                              "  b3: { type: point, at: [1, -1, 0.5] }\n  b4: { type: point, at: [0.5, -1, 1] }\n"
                              "  b5: { type: point, at: [0, -0.5, 1] }\n"
                              "elements:\n"
                              "  b1: { type: rigid_body_3d, mesh: b1, mass: 1, inertia: [0.001, 0.0833, 0.0833] }\n"
                              "  b2: { type: rigid_body_3d, mesh: b2, mass: 1, inertia: [0.0833, 0.001, 0.0833] }\n"
                              "  b3: { type: rigid_body_3d, mesh: b3, mass: 1, inertia: [0.0833, 0.0833, 0.001] }\n"
                              "  b4: { type: rigid_body_3d, mesh: b4, mass: 1, inertia: [0.001, 0.0833, 0.0833] }\n"
                              "  b5: { type: rigid_body_3d, mesh: b5, mass: 1, inertia: [0.0833, 0.001, 0.0833] }\n"
                              "joints:\n"
                              "  j0: { type: hinge, node: b1, at: [0, 0, 0], axis: [0, 1, 0] }\n"
                              "  j1: { type: hinge, a: b1, b: b2, at: [1, 0, 0], axis: [0, 0, 1] }\n"
                              "  j2: { type: hinge, a: b2, b: b3, at: [1, -1, 0], axis: [1, 0, 0] }\n"
                              "  j3: { type: hinge, a: b3, b: b4, at: [1, -1, 1], axis: [0, 1, 0] }\n"
                              "  j4: { type: hinge, a: b4, b: b5, at: [0, -1, 1], axis: [0, 0, 1] }\n"
                              "  j5: { type: hinge, node: b5, at: [0, 0, 1], axis: [1, 0, 0] }\n"
                              "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"
                              "scheme: { type: alpha_ggl, rho_inf: 1.0 }\n";

TEST(bricard_moves)
{
    const char *const times[] = { "time: { step: 4.0e-3, end: 0.6 }\n", "time: { step: 2.0e-3, end: 0.6 }\n" };
    double error[2];
    for (int i = 0; i < 2; i++) {
        text_case c = text_case_open(bricard, times[i], NULL);
        double kinetic = 0.0, worst = 0.0, first = 0.0;
        CHECK(c.sim->system->row_set.are_redundant);
        while (!pcs_sim_is_done(c.sim)) {
            double gap, rate;
            text_case_step(&c);
            text_case_gap_error(&c, &gap, &rate);
            worst = fmax(worst, gap);
            kinetic = fmax(kinetic, c.sim->ledger.now.kinetic);
        }
        first = c.sim->ledger.initial;
        error[i] = fabs(energy_of(&c) - first);
        CHECK(kinetic > 1.0);
        CHECK(worst < 1e-13);
        text_case_close(&c);
    }
    CHECK(error[0] < 1e-2);
    CHECK(error[0] > 3.0 * error[1]);
}

// Which joints are redundant is a note of the case.
TEST_WITH_CONTEXT(redundant_joints_are_told)
{
    char text[ROOM];
    pcs_context *ctx = *state;
    pcs_case *input = NULL;
    pcs_sim *sim = NULL;
    write_swing(3, false, 0.6, "scheme: { type: alpha_ggl }\n" TIME("1.0e-3"), text);
    CHECK_OK(ctx, pcs_case_parse(ctx, "f", text, strlen(text), &input));
    CHECK_OK(ctx, pcs_build_sim(ctx, input, &sim));
    CHECK_TEXT(pcs_case_notes(input),
               "joint 'c2' repeats what the joints 'g0', 'c0', 'g1', 'c1', 'g2' hold; their forces are shared");
}
