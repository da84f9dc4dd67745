// Supports that hold two rotations of a body in space leave an angle about the third axis; those that hold one leave
// rotations about axes across it.

#include "support/check.h"
#include "support/ode.h"
#include "support/text_case.h"

#include "core/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A body on an axis along z through its node turns by T/J_z, whatever its products of inertia are; its support carries
// the moments of an unbalanced rotor, which turn with it: J_yz w^2 - J_xz w', -J_xz w^2 - J_yz w' in its own axes,
// those of the middle of a step, over which they are means.
TEST(rotors_turn_about_what_is_left)
{
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.9", "moreau_jean, theta: 0.5", "half_explicit" };
    const double Jz = 0.5, yz = 0.04, xz = -0.03, rate = 0.8 / Jz, end = 3.0;
    for (int s = 0; s < 3; s++) {
        text_case c = text_case_print(
            "mesh: { rotor: { type: point, at: [0.3, 0.1, 0] } }\n"
            "elements: { rotor: { type: rigid_body_3d, mesh: rotor, mass: 2, inertia: [0.3, 0.4, 0.5],\n"
            "                     products: [0, 0.04, -0.03] } }\n"
            "supports: { axle: { set: rotor, fix: [x, y, z, rx, ry], reactions: true } }\n"
            "loads: { drive: { type: torque, node: rotor, value: 0.8, axis: [0, 0, 1] } }\n"
            "scheme: { type: %s }\ntime: { step: 1.0e-3, end: 3.0 }\n",
            schemes[s]);
        CHECK(c.sim->system->nv == 1 && !c.sim->system->rotations.are_somewhere);
        text_case_run(&c);
        double angle = 0.5 * rate * end * end, w = rate * (end - 0.5e-3), size = hypot(yz, xz) * w * w;
        CHECK_NEAR(c.sim->state.q[0], angle, s == 0 ? 1e-11 : 1e-2);
        CHECK_NEAR(c.sim->state.v[0], rate * end, 1e-10);
        const double *m = c.sim->reactions[0].moment;
        double own[3], rotated[9], psi[3] = { 0.0, 0.0, c.sim->state.q[0] - 0.5e-3 * w };
        pcs_rotation_exp(psi, rotated);
        pcs_rotation_apply_transposed(rotated, m, own);
        CHECK_NEAR(fabs(own[0]), fabs(yz * w * w - xz * rate), 1e-5 * size);
        CHECK_NEAR(fabs(own[1]), fabs(-xz * w * w - yz * rate), 1e-5 * size);
        CHECK_NEAR(hypot(m[0], m[1]), hypot(yz, xz) * hypot(w * w, rate), 1e-5 * size);
        text_case_close(&c);
    }
}

// A pendulum whose node is held but for an angle about y swings like one on a hinge, to round-off; contacts at points
// of it act through the same angle.
TEST(held_pendulums_swing_like_hinged_ones)
{
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

// A body whose rotation vector psi stays across an axis, under a torque that stands in space.
typedef struct tilting {
    int axis;
    double J[3], torque[3], start[3], spin[3]; // psi and psi' at the start
    const char *steps;                         // options of the time
} tilting;

// The run's own: distance from `exact`, the largest component along the axis, and how far the moment of the support is
// from what changes the angular momentum.
typedef struct tilting_errors {
    double state, off, moment;
} tilting_errors;

static void angular_momentum(const tilting *g, const pcs_state *state, double out[3])
{
    double R[9], material[3];
    for (int k = 0; k < 3; k++) material[k] = g->J[k] * state->v[k];
    pcs_rotation_exp(state->q, R);
    pcs_rotation_apply(R, material, out);
}

static void quaternion_of(const double psi[3], double p[4])
{
    double half = 0.5 * pcs_norm3(psi), scale = half > 0.0 ? 0.5 * sin(half) / half : 0.5;
    p[0] = cos(half);
    for (int k = 0; k < 3; k++) p[1 + k] = scale * psi[k];
}

// By how much the rotation is off the quaternion, of either sign.
static double off_quaternion(const double psi[3], const double exact[4])
{
    double p[4], away[2] = { 0 };
    quaternion_of(psi, p);
    for (int k = 0; k < 4; k++) {
        away[0] = fmax(away[0], fabs(p[k] - exact[k]));
        away[1] = fmax(away[1], fabs(p[k] + exact[k]));
    }
    return 2.0 * fmin(away[0], away[1]);
}

static tilting_errors tilting_run(const tilting *g, const char *scheme, int steps, double end, const double exact[4])
{
    static const char *const names[] = { "rx", "ry", "rz" };
    text_case c = text_case_print(
        "mesh: { body: { type: point, at: [0, 0, 0] } }\n"
        "elements: { body: { type: rigid_body_3d, mesh: body, mass: 1, inertia: [%.17g, %.17g, %.17g] } }\n"
        "supports: { pin: { set: body, fix: [x, y, z, %s], reactions: true } }\n"
        "loads: { push: { type: moment, node: body, value: [%.17g, %.17g, %.17g] } }\n"
        "scheme: { type: %s }\ntime: { step: %.17g, end: %.17g%s }\n",
        g->J[0], g->J[1], g->J[2], names[g->axis], g->torque[0], g->torque[1], g->torque[2], scheme, end / steps, end,
        g->steps == NULL ? "" : g->steps);
    pcs_state *state = &c.sim->state;
    double T[9];
    CHECK(c.sim->system->nv == 3 && c.sim->system->nrow == 1);
    memcpy(state->q, g->start, sizeof g->start);
    pcs_rotation_tangent(g->start, T);
    pcs_rotation_apply(T, g->spin, state->v);
    tilting_errors e = { 0 };
    double size = fabs(g->torque[0]) + fabs(g->torque[1]) + fabs(g->torque[2]);
    while (!pcs_sim_is_done(c.sim)) {
        double before[3], after[3];
        angular_momentum(g, state, before);
        text_case_step(&c);
        angular_momentum(g, state, after);
        e.off = fmax(e.off, fabs(state->q[g->axis]));
        for (int k = 0; k < 3; k++) {
            double change = (after[k] - before[k]) / c.sim->report.h - g->torque[k];
            e.moment = fmax(e.moment, fabs(c.sim->reactions[0].moment[k] - change) / size);
        }
    }
    e.state = off_quaternion(state->q, exact);
    text_case_close(&c);
    return e;
}

// Body n: held about each axis in turn, in two units; torques about that axis and the two others, spins about those.
static tilting make_tilting(int n, const double torque[3], const double spin[2])
{
    double unit = n < 3 ? 1.0 : 1e-9;
    tilting g = { .axis = n % 3 };
    for (int l = 0; l < 3; l++) {
        g.J[l] = (0.3 + 0.1 * l) * unit;
        g.torque[(g.axis + l) % 3] = torque[l] * unit;
        if (l > 0) g.spin[(g.axis + l) % 3] = spin[l - 1];
    }
    return g;
}

// p' and W' of a unit quaternion p whose component i stays zero, by formulas of its own: J W' + W x J W = R^T torque +
// mu a, with a = p_0 e_i - p x e_i in the body's axes and mu from a . W' = 0.
static void spinning_rate(const void *problem, double t, const double *x, double *out)
{
    const tilting *g = problem;
    const double *p = x, *W = x + 4;
    double force[3], spin[3], gyro[3], axis[3] = { 0 }, a[3], psi[3], R[9], along = 0.0, size = 0.0;
    (void)t;
    double sine = pcs_norm3(p + 1), angle = 2.0 * atan2(sine, p[0]);
    for (int k = 0; k < 3; k++) psi[k] = sine > 0.0 ? angle * p[1 + k] / sine : 0.0;
    pcs_rotation_exp(psi, R);
    pcs_rotation_apply_transposed(R, g->torque, force);
    for (int k = 0; k < 3; k++) spin[k] = g->J[k] * W[k];
    pcs_cross(W, spin, gyro);
    axis[g->axis] = 1.0;
    pcs_cross(axis, p + 1, a);
    for (int k = 0; k < 3; k++) {
        a[k] += p[0] * axis[k];
        force[k] -= gyro[k];
        along += a[k] * force[k] / g->J[k];
        size += a[k] * a[k] / g->J[k];
    }
    for (int k = 0; k < 3; k++) out[4 + k] = (force[k] - along / size * a[k]) / g->J[k];
    pcs_cross(p + 1, W, out + 1);
    out[0] = -0.5 * pcs_dot3(p + 1, W);
    for (int k = 0; k < 3; k++) out[1 + k] = 0.5 * (p[0] * W[k] + out[1 + k]);
}

// Bodies turn several times, past half a turn again and again, about an axis that wanders: the state is that of the
// quaternions, and the support's moment what changes the angular momentum.
TEST(bodies_turn_many_times_across_what_is_held)
{
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.9",
                                    "alpha_ggl, rho_inf: 0.5",
                                    "half_explicit",
                                    "alpha_velocity, rho_inf: 0.9",
                                    "moreau_jean, theta: 0.5",
                                    "newmark",
                                    "hht",
                                    "moreau_jean_explicit" };
    for (int n = 0; n < 6; n++) {
        int i = n % 3;
        double x[7] = { 1.0 }, end = 2.0;
        tilting g = make_tilting(n, (double[]){ 0.2, -0.3, 0.25 }, (double[]){ 6.0, -4.0 });
        memcpy(x + 4, g.spin, sizeof g.spin);
        ode_solve(spinning_rate, &g, 7, 0.0, end, 5000, x);
        CHECK_NEAR(x[1 + i], 0.0, 1e-9);
        for (int s = n / 3; s < 8; s += 2) {
            tilting_errors coarse = tilting_run(&g, schemes[s], 1000, end, x);
            tilting_errors fine = tilting_run(&g, schemes[s], 2000, end, x);
            double order = log2(coarse.state / fine.state);
            if (order < (s < 3 ? 1.9 : 0.9) || fine.state > (s < 3 ? 5e-5 : 2e-2) || (s < 2 && fine.off > 1e-14) ||
                fine.moment > 2e-2)
                fail_msg("scheme %d, axis %d: off by %g and %g, order %.2f, along the axis %g, moment %g and %g", s, i,
                         coarse.state, fine.state, order, fine.off, coarse.moment, fine.moment);
        }
    }
}

// Steps in parts, by their error or because the body turns too far in one: forces on both sides of half a turn add up.
TEST(moments_of_joined_steps_keep_their_sense)
{
    const char *const steps[] = { ", control: { type: adaptive, tolerance: 1.0e-5 }", ", follow_turning: true" };
    tilting g = make_tilting(0, (double[]){ 0.2, -0.3, 0.25 }, (double[]){ 6.0, -4.0 });
    double x[7] = { 1.0 }, end = 4.0;
    memcpy(x + 4, g.spin, sizeof g.spin);
    ode_solve(spinning_rate, &g, 7, 0.0, end, 5000, x);
    for (int s = 0; s < 2; s++) {
        g.steps = steps[s];
        tilting_errors e = tilting_run(&g, "half_explicit", 300, end, x);
        CHECK(e.state < 1e-3 && e.moment < 1e-2);
    }
}

// At half a turn, and round-off and more to either side of it, slow bodies stay on their way.
TEST(bodies_linger_at_half_a_turn)
{
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.9", "half_explicit", "moreau_jean, theta: 0.5", "hht" };
    static const double short_of[] = { 0.0, 4e-16, 1e-12, 1e-8, 1e-4, 1e-2 };
    const double pi = 3.14159265358979323846, end = 0.5;
    for (int n = 0; n < 6; n++)
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            double x[7], T[9];
            tilting g = { .axis = i, .J = { 0.3, 0.4, 0.5 } };
            g.torque[i] = 0.4;
            g.torque[j] = -0.3;
            g.torque[k] = 0.5;
            g.start[j] = 0.6 * pi * (1.0 - short_of[n]);
            g.start[k] = -0.8 * pi * (1.0 - short_of[n]);
            g.spin[j] = 0.1;
            g.spin[k] = 0.05;
            quaternion_of(g.start, x);
            pcs_rotation_tangent(g.start, T);
            pcs_rotation_apply(T, g.spin, x + 4);
            ode_solve(spinning_rate, &g, 7, 0.0, end, 5000, x);
            for (int s = 0; s < 4; s++) {
                tilting_errors e = tilting_run(&g, schemes[s], 100, end, x);
                if (e.state > (s < 2 ? 1e-5 : 1e-4) || e.moment > 1e-2)
                    fail_msg("scheme %d, axis %d, %g: off by %g, moment %g", s, i, short_of[n], e.state, e.moment);
            }
        }
}
