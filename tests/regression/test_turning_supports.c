// Supports that hold two rotations of a body in space leave an angle about the third axis.

#include "support/check.h"
#include "support/text_case.h"

#include "core/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A body on an axis along z through its node turns by T/J_z, whatever its products of inertia are; its support carries
// the moments of an unbalanced rotor, which turn with it: J_yz w^2 - J_xz w', -J_xz w^2 - J_yz w' in its own axes.
static void rotors_turn_about_what_is_left(void **state)
{
    (void)state;
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.9", "moreau_jean, theta: 0.5", "half_explicit" };
    const double Jz = 0.5, yz = 0.04, xz = -0.03, rate = 0.8 / Jz, end = 3.0;
    for (int s = 0; s < 3; s++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "mesh: { rotor: { type: point, at: [0.3, 0.1, 0] } }\n"
                 "elements: { rotor: { type: rigid_body_3d, mesh: rotor, mass: 2, inertia: [0.3, 0.4, 0.5],\n"
                 "                     products: [0, 0.04, -0.03] } }\n"
                 "supports: { axle: { set: rotor, fix: [x, y, z, rx, ry], reactions: true } }\n"
                 "loads: { drive: { type: torque, node: rotor, value: 0.8, axis: [0, 0, 1] } }\n"
                 "scheme: { type: %s }\ntime: { step: 1.0e-3, end: 3.0 }\n",
                 schemes[s]);
        text_case c = text_case_open(text, NULL);
        CHECK(c.sim->system->nv == 1 && !c.sim->system->has_rotations);
        text_case_run(&c);
        double angle = 0.5 * rate * end * end, w = rate * (end - 0.5e-3), size = hypot(yz, xz) * w * w;
        CHECK_NEAR(c.sim->state.q[0], angle, s == 0 ? 1e-11 : 1e-2);
        CHECK_NEAR(c.sim->state.v[0], rate * end, 1e-10);
        const double *m = c.sim->reactions[0].moment;
        double own[3], turned[9], psi[3] = { 0.0, 0.0, c.sim->state.q[0] };
        pcs_rotation_exp(psi, turned);
        pcs_rotation_apply_transposed(turned, m, own);
        CHECK_NEAR(fabs(own[0]), fabs(yz * w * w - xz * rate), 2e-3 * size);
        CHECK_NEAR(fabs(own[1]), fabs(-xz * w * w - yz * rate), 2e-3 * size);
        CHECK_NEAR(hypot(m[0], m[1]), hypot(yz, xz) * hypot(w * w, rate), 2e-3 * size);
        text_case_close(&c);
    }
}

// A pendulum whose node is held but for an angle about y swings like one on a hinge, to round-off; contacts at points
// of it act through the same angle.
static void held_pendulums_swing_like_hinged_ones(void **state)
{
    (void)state;
    static const char rest[] = "loads: { weight: { type: gravity, g: [0, 0, -9.81] },\n"
                               "         turn: { type: torque, node: body, value: 3.0, axis: [0, 1, 0] } }\n"
                               "contacts: { stop: { type: node_plane, nodes: body, offsets: [[0.5, 0.2, 0]],\n"
                               "                    point: [0, 0, -0.4], normal: [0, 0, 1], restitution: 0.5 } }\n"
                               "scheme: { type: alpha_ggl, rho_inf: 0.9 }\ntime: { step: 2.0e-3, end: 1.0 }\n";
    static const char body[] =
        "mesh: { body: { type: point, at: [0, 0, 0] } }\n"
        "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [0.3, 0.4, 0.5] } }\n";
    text_case held = text_case_open(body, "supports: { pin: { set: body, fix: [x, y, z, rx, rz] } }\n", rest, NULL);
    text_case hinged =
        text_case_open(body, "joints: { pin: { type: hinge, node: body, axis: [0, 1, 0] } }\n", rest, NULL);
    text_case_run(&held);
    text_case_run(&hinged);
    CHECK(fabs(held.sim->state.q[0]) > 0.5);
    CHECK_NEAR(held.sim->state.q[0], hinged.sim->state.q[4], 1e-9);
    CHECK_NEAR(held.sim->state.v[0], hinged.sim->state.v[4], 1e-8);
    text_case_close(&held);
    text_case_close(&hinged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotors_turn_about_what_is_left),
        cmocka_unit_test(held_pendulums_swing_like_hinged_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
