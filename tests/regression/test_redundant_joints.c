// Joints that repeat what others hold: the motion is that of the mechanism, the forces are shared, and it is told.

#include "support/check.h"
#include "support/ode.h"
#include "support/text_case.h"

#include "build/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double gravity = 9.81, pi = 3.14159265358979323846;

enum { ROOM = 8192 };

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

#define TIME(step) "time: { step: " step ", end: 1.2 }\n"

// The motion is that of a pendulum; `schur` shares the forces as `newton` does, and settles every step by itself.
TEST(parallelograms_swing_like_pendulums)
{
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.9", "alpha_velocity, rho_inf: 0.9",
                                    "moreau_jean, theta: 0.5", "half_explicit" };
    for (int n = 0; n < 8; n++) {
        int rockers = 3 - n / 4; // two in space, three in the plane
        double x[3], v[3], reference[3], gap, rate, carried = 0.0, worst = 0.0, J = 0.1 + 0.25;
        double swung[2] = { 0.6 - 0.5 * pi, 0.0 }; // from the horizontal
        text_case c[2];
        ode_swing((rockers * 0.5 + 4.0) * gravity / (rockers * J + 4.0), 1.2, swung);
        for (int k = 0; k < 2; k++) {
            char text[ROOM], rest[256];
            snprintf(rest, sizeof rest, "scheme: { type: %s }\nsolver: { type: %s }\n" TIME("5.0e-3"), schemes[n % 4],
                     k == 0 ? "newton" : "schur");
            write_swing(rockers, rockers == 2, 0.6, rest, text);
            c[k] = text_case_open(text, NULL);
            CHECK(c[k].sim->system->row_set.are_redundant);
            text_case_run(&c[k]);
            CHECK(c[k].sim->solver->handovers == 0);
        }
        text_case_node(&c[0], "coupler", x, v, reference);
        text_case_gap_error(&c[0], &gap, &rate);
        double error = hypot(x[0] - 1.0 - cos(swung[0]), x[1] - sin(swung[0]));
        for (int i = 0; i < 2 * rockers; i++)
            for (int k = 0; k < 3; k++) {
                const double *force = c[0].sim->reactions[i].force;
                worst = fmax(worst, fabs(force[k] - c[1].sim->reactions[i].force[k]));
                if (k == 1 && i % 2 == 0) carried += force[1]; // by the pivots together, however they share it
            }
        if (error > (n % 4 == 0 ? 2e-4 : 2e-2) || worst > 0.02 || (n % 4 == 0 && gap > 1e-13))
            fail_msg("%s, %d rockers: off by %g m and %g N, misfit %g m", schemes[n % 4], rockers, error, worst, gap);
        CHECK(carried > 10.0 && carried < 150.0);
        for (int k = 0; k < 2; k++) text_case_close(&c[k]);
    }
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
    const char *const times[] = { "time: { step: 8.0e-3, end: 0.6 }\n", "time: { step: 4.0e-3, end: 0.6 }\n" };
    double error[2];
    for (int i = 0; i < 2; i++) {
        text_case c = text_case_open(bricard, times[i], NULL);
        double kinetic = 0.0, worst = 0.0;
        CHECK(c.sim->system->row_set.are_redundant);
        while (!pcs_sim_is_done(c.sim)) {
            double gap, rate;
            text_case_step(&c);
            text_case_gap_error(&c, &gap, &rate);
            worst = fmax(worst, gap);
            kinetic = fmax(kinetic, c.sim->ledger.now.kinetic);
        }
        error[i] = fabs(pcs_measure_energy(&c.sim->ledger.now) - c.sim->ledger.initial);
        CHECK(kinetic > 1.0);
        CHECK(worst < 1e-13);
        text_case_close(&c);
    }
    CHECK(error[1] < 1e-2);
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
    CHECK_OK(ctx, pcs_build_sim_of(ctx, &(pcs_source){ .loaded = input }, &sim));
    CHECK_TEXT(pcs_case_notes(input),
               "joint 'c2' repeats what the joints 'g0', 'c0', 'g1', 'c1', 'g2' hold; their forces are shared");
}
