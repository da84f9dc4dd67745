// Contact at points fixed to bodies: against bodies with light nodes at their corners, closed forms, the stable step.

#include "support/check.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CORNERS                                                      \
    "[[-0.2, -0.15, -0.1], [0.2, -0.15, -0.1], [-0.2, 0.15, -0.1], " \
    "[0.2, 0.15, -0.1], [-0.2, -0.15, 0.1], [0.2, -0.15, 0.1],\n"    \
    "  [-0.2, 0.15, 0.1], [0.2, 0.15, 0.1]]"

enum { ROOM = 4096 };

// A box dropped at an angle on a rough floor: with points, or with nodes of a small mass at its corners.
static text_case open_box(double mass, const char *law, const char *scheme, const char *time)
{
    char text[ROOM], floor[512];
    snprintf(floor, sizeof floor, "point: [-0.09, -0.06, -0.3], normal: [0.3, 0.2, 1.0], %s } }\n%s%s", law, scheme,
             time);
    if (mass == 0.0)
        snprintf(text, sizeof text,
                 "mesh: { box: { type: point, at: [0, 0, 0] } }\nsets: { all: { nodes: [box] } }\n"
                 "elements: { box: { type: rigid_body_3d, mesh: box, mass: 4.0, inertia: [0.043, 0.067, 0.083] } }\n"
                 "contacts: { floor: { type: node_plane, nodes: box, offsets: " CORNERS ", %s",
                 floor);
    else
        snprintf(text, sizeof text,
                 "mesh: { box: { type: point, at: [0, 0, 0] }, corners: { type: point, at: " CORNERS " } }\n"
                 "sets: { all: { nodes: [box, corners] } }\n"
                 "elements: { box: { type: rigid_body_3d, mesh: box, mass: 4.0, inertia: [0.043, 0.067, 0.083] },\n"
                 "            corners: { type: point_mass, mesh: corners, mass: %.17g } }\n"
                 "joints: { link: { type: rigid_link, a: box, nodes: corners } }\n"
                 "contacts: { floor: { type: node_plane, nodes: corners, %s",
                 mass, floor);
    return text_case_open(text,
                          "loads: { weight: { type: gravity, g: [-2.7687, -1.8458, -9.229] } }\n"
                          "initial: [ { set: all, velocity: [0.9, -0.2, -0.3], spin: [0.5, 1.0, 0.3],\n"
                          "             about: [0, 0, 0] } ]\n",
                          NULL);
}

static double box_distance(const text_case *a, const text_case *b)
{
    double x[2][3], v[2][3], reference[3], sum = 0.0;
    text_case_node(a, "box", x[0], v[0], reference);
    text_case_node(b, "box", x[1], v[1], reference);
    for (int k = 0; k < 3; k++) sum += fabs(x[0][k] - x[1][k]) + fabs(v[0][k] - v[1][k]);
    return sum;
}

// Runs to the end; gives the number of impacts.
static int run_and_count(text_case *c)
{
    int impacts = 0;
    while (!pcs_sim_is_done(c->sim)) {
        text_case_step(c);
        for (int j = 0; j < c->sim->system->nrow; j++) impacts += c->sim->report.rows[j].is_impact;
    }
    return impacts;
}

// As the nodes get lighter the box with nodes tends to that with points, linearly in their mass.
TEST(light_corners_tend_to_points)
{
    const char *const laws[] = { "restitution: 0.0", "restitution: 0.0, friction: 0.4" };
    const char *const schemes[] = { "scheme: { type: moreau_jean, theta: 1.0 }\n",
                                    "scheme: { type: alpha_ggl, rho_inf: 0.8 }\n" };
    const double masses[] = { 1e-3, 1e-5 };
    for (int l = 0; l < 2; l++) {
        int s = l;
        double error[2];
        text_case points = open_box(0.0, laws[l], schemes[s], "time: { step: 1.0e-3, end: 0.2 }\n");
        CHECK(points.sim->system->nv == 6 && points.sim->system->nrow == 8);
        CHECK(run_and_count(&points) > 0);
        for (int i = 0; i < 2; i++) {
            text_case nodes = open_box(masses[i], laws[l], schemes[s], "time: { step: 1.0e-3, end: 0.2 }\n");
            text_case_run(&nodes);
            error[i] = box_distance(&points, &nodes);
            text_case_close(&nodes);
        }
        CHECK(error[0] < 0.1);
        CHECK(error[1] < 0.02 * error[0] + 1e-9);
        text_case_close(&points);
    }
}

enum { INERTIA = 128 };

// J about z.
static void write_inertia(bool in_space, double J, char text[INERTIA])
{
    if (in_space) snprintf(text, INERTIA, "[%.17g, %.17g, %.17g]", 0.7 * J, 1.2 * J, J);
    else snprintf(text, INERTIA, "%.17g", J);
}

// Two bodies meet at points of both: along n the impulse is (1 + e) m v, 1/m = sum over both of 1/M + (r x n)^2/J, and
// it turns them by r x n over J. In the plane, and in space with the same motion; by all schemes, in any units.
TEST(bodies_collide_at_points)
{
    const char *const schemes[] = { "alpha_ggl, rho_inf: 0.8",
                                    "moreau_jean, theta: 0.5",
                                    "half_explicit",
                                    "alpha_velocity, rho_inf: 0.9",
                                    "newmark",
                                    "event_driven" };
    const double units[][2] = { { 1.0, 1.0 }, { 1e-3, 1e-6 }, { 1e3, 1e4 } }; // m, kg
    for (int s = 0; s < 6; s++)
        for (int n = 0; n < 6; n++) {
            double l = units[n / 2][0], m = units[n / 2][1], J = m * l * l, e = 0.6;
            bool in_space = n % 2 == 1;
            if (in_space && s == 5) continue; // it does not take finite rotations
            char Ja[INERTIA], Jb[INERTIA];
            write_inertia(in_space, 0.2 * J, Ja);
            write_inertia(in_space, 0.4 * J, Jb);
            text_case c = text_case_print(
                "mesh: { a: { type: point, at: [0, 0, 0] }, b: { type: point, at: [%.17g, %.17g, 0] } }\n"
                "elements: { a: { type: rigid_body_%s, mesh: a, mass: %.17g, inertia: %s },\n"
                "            b: { type: rigid_body_%s, mesh: b, mass: %.17g, inertia: %s } }\n"
                "initial: [ { set: a, velocity: [%.17g, 0, 0] }, { set: b, velocity: [%.17g, 0, 0] } ]\n"
                "contacts: { meet: { type: node_node, a: a, b: b, offsets_a: [[%.17g, %.17g, 0]],\n"
                "                    offsets_b: [[%.17g, %.17g, 0]], normal: [1, 0, 0], restitution: 0.6 } }\n"
                "scheme: { type: %s }\ntime: { step: 0.01, end: 0.5 }\n",
                1.1 * l, 0.3 * l, in_space ? "3d" : "2d", 2.0 * m, Ja, in_space ? "3d" : "2d", 3.0 * m, Jb, 1.5 * l,
                -0.5 * l, 0.3 * l, 0.2 * l, -0.3 * l, -0.1 * l, schemes[s]);
            double mass = 1.0 / (1.0 / 2.0 + 0.04 / 0.2 + 1.0 / 3.0 + 0.01 / 0.4), impulse = (1.0 + e) * mass * 2.0;
            // At velocity level directions are those at the end of the step, by which the bodies have turned.
            double allowed = s == 0 || s == 2 || s == 5 ? 1e-12 : 0.05;
            text_case_run(&c);
            const double *v = c.sim->state.v;
            int first = in_space ? 6 : 3, rotation = in_space ? 5 : 2;
            CHECK_NEAR(v[0] / l, 1.5 - impulse / 2.0, allowed);
            CHECK_NEAR(v[first] / l, -0.5 + impulse / 3.0, allowed);
            CHECK_NEAR(v[rotation], 0.2 * impulse / 0.2, allowed);
            CHECK_NEAR(v[first + rotation], 0.1 * impulse / 0.4, allowed);
            text_case_close(&c);
        }
}

// The stable step of a force law at a point counts the arm: w^2 = k (1/M + r^2/J).
TEST(laws_at_arms_set_the_stable_step)
{
    text_case c = text_case_open(
        "mesh: { bar: { type: point, at: [0, 0, 0] } }\n"
        "elements: { bar: { type: rigid_body_2d, mesh: bar, mass: 2.0, inertia: 0.001 } }\n"
        "contacts: { floor: { type: node_plane, nodes: bar, offsets: [[0.5, 0, 0]], point: [0, -0.01, 0],\n"
        "                     normal: [0, 1, 0], law: { type: linear, stiffness: 1000 } } }\n"
        "initial: [ { set: bar, velocity: [0, -1, 0] } ]\n"
        "scheme: { type: half_explicit }\ntime: { step: auto, end: 0.2 }\n",
        NULL);
    CHECK_RELATIVE(c.sim->system->stable_step, 2.0 / sqrt(1000.0 * (1.0 / 2.0 + 0.25 / 0.001)), 1e-12);
    text_case_run(&c);
    CHECK_NEAR(c.sim->ledger.now.kinetic, 1.0, 0.05);
    text_case_close(&c);
}

// Points have no mass: nothing limits the step of explicit schemes.
TEST(points_do_not_limit_the_step)
{
    text_case c =
        open_box(0.0, "restitution: 0.3", "scheme: { type: half_explicit }\n", "time: { step: 1.0e-3, end: 0.2 }\n");
    CHECK(isinf(c.sim->system->stable_step));
    CHECK(run_and_count(&c) > 0);
    text_case_close(&c);
}

TEST(wrong_offsets_are_told)
{
    static const char model[] = "mesh: { one: { type: point, at: [0, 0, 1] }, two: { type: point, at: [1, 0, 1] } }\n"
                                "elements: { one: { type: rigid_body_3d, mesh: one, mass: 1, inertia: [1, 1, 1] },\n"
                                "            two: { type: point_mass, mesh: two, mass: 1 } }\n%s"
                                "contacts: { floor: { type: %s, restitution: 0 } }\n"
                                "scheme: { type: alpha_ggl }\ntime: { step: 1.0e-3, end: 1.0 }\n";
    static const struct {
        const char *rest, *contact, *message;
    } wrong[] = {
        { "", "node_plane, nodes: two, offsets: [[1, 0, 0]], point: [0, 0, 0], normal: [0, 0, 1]",
          "node 1 has no rotation, so it cannot carry points at 'offsets'" },
        { "", "node_plane, nodes: one, offsets: [[1, 0], [0, 1]], point: [0, 0, 0], normal: [0, 0, 1]",
          "contacts.floor: 'offsets' must be rows [x, y, z]" },
        { "", "node_circle, nodes: one, offsets: [1, 0], centre: [0, 0, 0], radius: 1, side: outside",
          "contacts.floor: 'offsets' must be rows [x, y, z]" },
        { "supports: { hold: { set: one, fix: [x, y, z, rx, ry, rz] } }\n",
          "node_plane, nodes: one, offsets: [[1, 0, 0]], point: [0, 0, 0], normal: [0, 0, 1]",
          "node 0 is held by supports, so the gaps of its points cannot change" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[ROOM];
        text_case c;
        snprintf(text, sizeof text, model, wrong[i].rest, wrong[i].contact);
        CHECK_STATUS(NULL, text_case_try(text, &c), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(c.ctx), wrong[i].message);
        text_case_close(&c);
    }
}

// A body held at its node turns like a pendulum until its tip hits a wall: theta at the first contact, and no further.
TEST(held_bodies_hit_with_their_tips)
{
    text_case c = text_case_open(
        "mesh: { arm: { type: point, at: [0, 0, 0] } }\n"
        "elements: { arm: { type: rigid_body_2d, mesh: arm, mass: 1, inertia: 0.5 } }\n"
        "supports: { pin: { set: arm, fix: [x, y] } }\n"
        "loads: { turn: { type: torque, node: arm, value: 1.0, axis: [0, 0, 1] } }\n"
        "contacts: { wall: { type: node_circle, nodes: arm, offsets: [[1, 0, 0]], centre: [0, 1.5, 0], radius: 1.0,\n"
        "                    side: outside, restitution: 0.0 } }\n"
        "scheme: { type: alpha_ggl, rho_inf: 0.8 }\ntime: { step: 1.0e-3, end: 2.0 }\n",
        NULL);
    // The tip is 1 from both centres, which are 1.5 apart.
    double x[3], v[3], reference[3], angle = asin((1.0 + 2.25 - 1.0) / 3.0);
    text_case_run(&c);
    text_case_node(&c, "arm", x, v, reference);
    CHECK_NEAR(c.sim->state.q[0], angle, 1e-13);
    CHECK_NEAR(c.sim->state.v[0], 0.0, 1e-13);
    // Torque over the arm of the normal about the pin.
    double lever = fabs(cos(angle) * (sin(angle) - 1.5) - sin(angle) * cos(angle));
    CHECK_NEAR(c.sim->report.rows[0].force, 1.0 / lever, 1e-9);
    text_case_close(&c);
}
