// Joints as a case states them: what is wrong with a joint is told with its place; and the motions that can be given.

#include "support/check.h"
#include "support/text_case.h"

#include "rows/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char head[] =
    "mesh:\n"                                                                                                 // 1
    "  one: { type: point, at: [0, 0, 0] }\n"                                                                 // 2
    "  two: { type: point, at: [1, 0, 0] }\n"                                                                 // 3
    "  ball: { type: point, at: [0, 2, 0] }\n"                                                                // 4
    "  beam: { type: line, from: [3, 0, 0], to: [4, 0, 0], elements: 2 }\n"                                   // 5
    "elements:\n"                                                                                             // 6
    "  one: { type: rigid_body_2d, mesh: one, mass: 1, inertia: 1 }\n"                                        // 7
    "  two: { type: rigid_body_2d, mesh: two, mass: 1, inertia: 1 }\n"                                        // 8
    "  ball: { type: point_mass, mesh: ball, mass: 1, in: plane }\n"                                          // 9
    "  beam: { type: beam_timo_2d, mesh: beam, E: 1, nu: 0.3, rho: 1, section: { type: rectangle, width: 1, " // 10
    "height: 1 } }\n"
    "scheme: { type: alpha_ggl }\n"      // 11
    "time: { step: 1.0e-3, end: 1.0 }\n" // 12
    "joints:\n";                         // 13

// The first joint stands in line 14, its map in column 9.
static const struct {
    const char *joints, *message;
} wrong[] = {
    { "  link: { type: hing, node: one }\n",
      "f:14:17: joints.link.type must be one of ball, cylindrical, distance, fixed, "
      "gear, hinge, prescribed, rigid_link, screw, slider, universal, is 'hing', "
      "did you mean 'hinge'?" },
    { "  link: { type: hinge }\n", "f:14:9: joints.link: missing key 'node', or 'a' and 'b'" },
    { "  link: { type: hinge, node: one, a: two, b: ball }\n",
      "f:14:30: joints.link: 'node' is joined to the ground; it cannot be given with 'a' and 'b'" },
    { "  link: { type: ball, a: one }\n", "joins two nodes, 'a' and 'b', or one, 'node', to the ground" },
    { "  link: { type: hinge, node: oen }\n", "f:14:30: joints.link.node must name a set of nodes, is 'oen'" },
    { "  link: { type: hinge, node: beam }\n",
      "f:14:30: joints.link.node must name a single node, the set 'beam' has 3" },
    { "  link: { type: ball, a: one, b: one }\n", "f:14:9: joints.link: node 0 would be joined to itself" },
    { "  link: { type: hinge, node: one, axis: [0, 0, 0] }\n", "joints.link: the axis has no direction" },
    { "  link: { type: hinge, node: one, axis: [0, 1, 1] }\n",
      "node 0 moves in a plane: a hinge rotates only about its normal [0, 0, 1]" },
    { "  link: { type: ball, node: ball, at: [1, 1, 0] }\n",
      "node 2 at [0, 2, 0] has no rotation, so it cannot carry the point [1, 1, 0] of the joint" },
    { "  link: { type: fixed, node: ball }\n",
      "node 2 has no rotation that could be held; to hold its position use 'ball'" },
    { "  link: { type: slider, node: one }\n", "joints.link: missing key 'axis'" },
    { "  link: { type: slider, node: one, axis: [0, 0, 1] }\n", "node 0 cannot move along the axis [0, 0, 1]" },
    { "  link: { type: distance, node: one }\n", "missing key 'anchor': the point of the ground" },
    { "  link: { type: distance, a: one, b: two, anchor: [1, 0, 0] }\n", "joints.link: 'anchor' belongs to 'node'" },
    { "  link: { type: distance, node: one, anchor: [0, 0, 0] }\n",
      "both ends lie at [0, 0, 0]: a distance of zero has no direction" },
    { "  link: { type: distance, node: one, anchor: [0, 0, 5] }\n", "node 0 cannot move along [0, 0, -1]" },
    { "  link: { type: rigid_link, a: ball, nodes: two }\n", "[0, 2, 0] has no rotation, so it cannot carry" },
    { "  link: { type: rigid_link, a: one, nodes: none }\n", "joints.link.nodes must name a set of nodes, is 'none'" },
    { "  link: { type: cylindrical, node: one, axis: [1, 0, 0] }\n",
      "node 0 moves in a plane or along a line; this joint needs nodes that move and rotate in space" },
    { "  link: { type: cylindrical, node: one, axis: [0, 0, 0] }\n", "joints.link: the axis has no direction" },
    { "  link: { type: screw, node: one, axis: [1, 0, 0] }\n", "joints.link: missing key 'pitch'" },
    { "  link: { type: screw, node: one, axis: [1, 0, 0], pitch: 0 }\n", "a screw without pitch is a 'hinge'" },
    { "  link: { type: universal, node: one, axis_a: [1, 0, 0], axis_b: [1, 0.01, 0] }\n",
      "the axes of a cross are perpendicular" },
    { "  link: { type: universal, node: one, axis_a: [1, 0, 0], axis_b: [0, 0, 0] }\n",
      "joints.link: the axis has no direction" },
    { "  link: { type: gear, a: one, b: ball, teeth_a: 3, teeth_b: 4 }\n",
      "2 has no rotation, so it cannot be a wheel" },
    { "  link: { type: gear, a: one, b: two, teeth_a: 0, teeth_b: 4 }\n", "joints.link.teeth_a" },
    { "  link: { type: gear, a: one, b: two, teeth_a: 3, teeth_b: 4, at: [9, 9, 0] }\n",
      "the teeth do not mesh at [9, 9, 0]" },
    { "  link: { type: gear, a: one, b: two, teeth_a: 3, teeth_b: 4, pressure_angle: 20 }\n",
      "joints.link: 'pressure_angle' needs 'at'" },
    { "  link: { type: gear, a: one, b: two, teeth_a: 3, teeth_b: 4, at: [0.5, 0, 0], pressure_angle: 0.35 }\n",
      "joints.link: 'pressure_angle' is in degrees, 5 at least" },
    { "  link: { type: gear, a: one, b: two, teeth_a: 3, teeth_b: 4, at: [0.5, 0, 0], pressure_angle: 50 }\n",
      "joints.link.pressure_angle" },
    { "  link: { type: gear, a: one, b: two, teeth_a: 3, teeth_b: 4, at: [0.5, 0, 0], flank: backward }\n",
      "joints.link: 'flank' is of teeth with a 'pressure_angle'" },
    { "  link: { type: gear, a: one, b: two, teeth_a: 3, teeth_b: 4, axis_a: [1, 0, 0] }\n",
      "node 0 cannot rotate about [1, 0, 0]" },
    { "  link: { type: gear, a: one, b: two, carrier: two, teeth_a: 3, teeth_b: 4 }\n",
      "node 1 is named twice: the two wheels and their carrier must be three nodes" },
    { "  link: { type: prescribed, node: one, along: x }\n",
      "joints.link: no motion is given: needs 'table', 'amplitude'" },
    { "  link: { type: prescribed, node: one, along: x, speed: 1, distance: 2, rise: 1 }\n",
      "joints.link: only one motion is allowed: 'table'" },
    { "  link: { type: prescribed, node: one, along: x, expression: 1+ }\n",
      "joints.link.expression: in '1+': it ends too early" },
    { "  link: { type: prescribed, node: one, along: x, expression: t, speed: 1 }\n", "only one motion is allowed" },
    { "  link: { type: prescribed, node: one, along: x, csv: none.csv }\n",
      "joints.link: cannot open the table 'none.csv'" },
    { "  link: { type: prescribed, node: one, along: x, amplitude: 1 }\n",
      "joints.link: 'amplitude' needs 'frequency', too" },
    { "  link: { type: prescribed, node: one, along: x, distance: 1 }\n", "joints.link: 'distance' needs 'rise'" },
    { "  link: { type: prescribed, node: one, along: x, table: [[0, 0], [0, 1]] }\n",
      "the times of 'table' must rise from row to row" },
    { "  link: { type: prescribed, node: one, along: x, table: [0, 0, 1] }\n",
      "'table' must be two or more rows [time, position]" },
    { "  link: { type: prescribed, node: one, along: z, speed: 1, rise: 1 }\n", "node 0 cannot move along [0, 0, 1]" },
    { "  link: { type: prescribed, node: ball, along: rz, speed: 1, rise: 1 }\n",
      "node 2 cannot rotate about [0, 0, 1]" },
    { "  link: { type: prescribed, along: x, speed: 1, rise: 1 }\n", "missing key 'node' or 'nodes'" },
    // Ends that are apart, unless the point of the joint is given
    { "  link: { type: hinge, a: one, b: two }\n", "f:14:9: joints.link: its ends are 1 m apart: node 0 at [0, 0, 0] "
                                                   "and node 1 at [1, 0, 0]; where rigid arms reach "
                                                   "from them to one point, give that point as 'at'" },
    { "  link: { type: ball, a: one, b: two }\n", "joints.link: its ends are 1 m apart" },
    { "  link: { type: fixed, a: one, b: two }\n", "joints.link: its ends are 1 m apart" },
    // Joints against the initial state and one another
    { "  link: { type: prescribed, node: one, along: x, speed: 2 }\n",
      "f:14:9: joints.link: the initial velocities do not fit joint 'link': off by 2 m/s (or rad/s); give velocities "
      "that "
      "do under 'initial', or let the motion set in smoothly ('rise')" },
    { "  link: { type: prescribed, node: one, along: x, table: [[0, 0.25], [1, 0.25]] }\n",
      "the initial state does not fit joint 'link': it is off by 0.25 m (or rad)" },
};

TEST(wrong_joints_are_told)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[4096];
        text_case c;
        snprintf(text, sizeof text, "%s%s", head, wrong[i].joints);
        pcs_status status = text_case_try(text, &c);
        if (status != PCS_BAD_INPUT || strstr(pcs_message(c.ctx), wrong[i].message) == NULL)
            fail_msg("%s should say\n%s\nand says (%d)\n%s", wrong[i].joints, wrong[i].message, (int)status,
                     pcs_message(c.ctx));
        CHECK(strchr(pcs_message(c.ctx), '\n') == NULL); // one error
        text_case_close(&c);
    }
}

TEST(joints_between_unlike_nodes_are_told)
{
    static const char model[] =
        "mesh: { one: { type: point, at: [0, 0, 0] }, two: { type: point, at: [1, 0, 0] } }\n"
        "elements: { one: { type: rigid_body_3d, mesh: one, mass: 1, inertia: [1, 1, 1] },\n"
        "            two: { type: %s } }\n"
        "scheme: { type: alpha_ggl }\ntime: { step: 1.0e-3, end: 1.0 }\njoints: { link: { type: %s } }\n";
    static const struct {
        const char *element, *joint, *message;
    } cases[] = {
        { "rigid_body_2d, mesh: two, mass: 1, inertia: 1", "ball, a: one, b: two",
          "node 0 moves along [0, 0, 1], node 1 has no such direction" },
        { "point_mass, mesh: two, mass: 1", "hinge, a: one, b: two",
          "node 1 moves in space, but has no rotation, so a hinge has no axis there: use 'ball'" },
        { "point_mass, mesh: two, mass: 1", "hinge, node: one", "missing key 'axis': node 0 rotates in space" },
        { "point_mass, mesh: two, mass: 1", "cylindrical, a: one, b: two, axis: [1, 0, 0]",
          "node 1 has no rotation; this joint needs nodes that move and rotate in space" },
        { "rigid_body_3d, mesh: two, mass: 1, inertia: [1, 1, 1]", "gear, a: one, b: two, teeth_a: 2, teeth_b: 3",
          "missing key 'axis_a': node 0 rotates in space" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        text_case c;
        snprintf(text, sizeof text, model, cases[i].element, cases[i].joint);
        CHECK_STATUS(NULL, text_case_try(text, &c), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(c.ctx), cases[i].message);
        text_case_close(&c);
    }
}

// A scheme that cannot follow a drive says so; one that can takes it.
TEST(schemes_without_drives_refuse)
{
    static const struct {
        const char *scheme;
        pcs_status status;
    } cases[] = {
        { "half_explicit", PCS_OK },
        { "half_explicit_rk, method: hem5", PCS_OK },
        { "moreau_jean_explicit", PCS_OK },
        { "moreau_midpoint", PCS_OK },
        { "schatzman_paoli", PCS_OK },
        { "alpha_index3", PCS_OK },
        { "event_driven", PCS_BAD_INPUT },
        { "mannshardt", PCS_BAD_INPUT },
        { "splitting, contact_forces: true", PCS_BAD_INPUT },
        { "half_explicit_acceleration", PCS_BAD_INPUT },
        { "tdg_minus", PCS_BAD_INPUT },
        { "tdg_plus", PCS_BAD_INPUT },
        { "ggl_midpoint, metric: mass", PCS_BAD_INPUT },
        { "jump_newmark, gamma: 0.5", PCS_BAD_INPUT },
        { "alpha_ggl", PCS_OK },
        { "moreau_jean, theta: 0.5", PCS_OK },
        { "newmark", PCS_OK },
        { "hht", PCS_OK },
        { "alpha_velocity", PCS_OK },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        text_case c;
        snprintf(text, sizeof text,
                 "mesh: { one: { type: point, at: [1, 0, 0] } }\n"
                 "elements: { one: { type: rigid_body_2d, mesh: one, mass: 1, inertia: 1 } }\n"
                 "joints: { pin: { type: hinge, node: one, at: [0, 0, 0] },\n"
                 "          move: { type: prescribed, node: one, along: rz, speed: 1, rise: 1 } }\n"
                 "scheme: { type: %s }\ntime: { step: 1.0e-3, end: 1.0 }\n",
                 cases[i].scheme);
        CHECK_STATUS(c.ctx, text_case_try(text, &c), cases[i].status);
        if (cases[i].status != PCS_OK) CHECK_TEXT(pcs_message(c.ctx), "prescribed motion");
        text_case_close(&c);
    }
}

static const double table[] = { 0.5, 1.0, 1.0, 2.0, 2.0, -1.0, 2.5, -1.0, 4.0, 3.0 };

static pcs_motion_params motion(int kind)
{
    pcs_motion_params p = { .amplitude = NAN, .frequency = NAN, .distance = NAN, .speed = NAN };
    if (kind < 2) {
        p.table = (pcs_list){ .nrow = 5, .count = 10, .value = table };
        p.interpolation = kind == 0 ? PCS_MOTION_LINEAR : PCS_MOTION_SMOOTH;
    }
    if (kind == 2 || kind == 3) {
        p.amplitude = 0.7;
        p.frequency = 0.6;
        p.phase = 0.3;
    }
    if (kind == 4) p.distance = -1.3;
    if (kind == 5 || kind == 6) p.speed = 2.2;
    if (kind >= 3 && kind != 6) p.rise = 1.7;
    return p;
}

TEST(motions_are_consistent)
{
    const double eps = 1e-5;
    for (int kind = 0; kind <= 6; kind++) {
        pcs_motion_params p = motion(kind);
        const char *option;
        CHECK(pcs_motion_check(&p, &option) == NULL);
        for (double t = -0.337; t < 5.0; t += 0.1731) {
            double s[3], ahead[3], behind[3];
            if (kind >= 2 && t < 0.0) continue; // nothing moves before t = 0 but tables
            pcs_motion_at(&p, t, s);
            pcs_motion_at(&p, t + eps, ahead);
            pcs_motion_at(&p, t - eps, behind);
            CHECK_NEAR(s[1], (ahead[0] - behind[0]) / (2.0 * eps), 1e-8);
            CHECK_NEAR(s[2], (ahead[1] - behind[1]) / (2.0 * eps), 1e-7);
        }
    }
}

TEST(motions_go_where_they_should)
{
    double s[3];
    pcs_motion_params linear = motion(0), smooth = motion(1), harmonic = motion(2), risen = motion(3),
                      increment = motion(4), speed = motion(5), sudden = motion(6);
    for (int i = 0; i < 5; i++) {
        pcs_motion_at(&linear, table[2 * i], s);
        CHECK_NEAR(s[0], table[2 * i + 1], 1e-15);
        pcs_motion_at(&smooth, table[2 * i], s);
        CHECK_NEAR(s[0], table[2 * i + 1], 1e-15);
    }
    // At an entry the velocity is that of the way to it; outside nothing moves.
    pcs_motion_at(&linear, 2.0, s);
    CHECK_NEAR(s[1], -3.0, 1e-15);
    pcs_motion_at(&linear, 0.2, s);
    CHECK(s[0] == 1.0 && s[1] == 0.0);
    pcs_motion_at(&smooth, 9.0, s);
    CHECK(s[0] == 3.0 && s[1] == 0.0);
    pcs_motion_at(&harmonic, 0.0, s);
    CHECK_NEAR(s[0], 0.0, 1e-16);
    CHECK_NEAR(s[1], 0.7 * 2.0 * 3.14159265358979323846 * 0.6 * cos(0.3), 1e-14);
    pcs_motion_params *const starts[] = { &risen, &increment, &speed };
    for (int i = 0; i < 3; i++) {
        pcs_motion_at(starts[i], 0.0, s);
        CHECK(s[0] == 0.0 && s[1] == 0.0 && s[2] == 0.0);
    }
    pcs_motion_at(&increment, 1.7, s);
    CHECK_NEAR(s[0], -1.3, 1e-15);
    CHECK_NEAR(s[1], 0.0, 1e-15);
    pcs_motion_at(&increment, 0.85, s);
    CHECK_NEAR(s[0], -0.65, 1e-15);
    pcs_motion_at(&speed, 3.7, s);
    CHECK_NEAR(s[0], 2.2 * (2.0 + 0.85), 1e-14);
    CHECK_NEAR(s[1], 2.2, 1e-15);
    pcs_motion_at(&sudden, 3.0, s);
    CHECK_NEAR(s[0], 6.6, 1e-15);
    CHECK_NEAR(s[1], 2.2, 1e-15);
}

// A formula and its derivatives are those of the harmonic motion that it states.
TEST(formulas_move_like_closed_forms)
{
    static const char text[] = "0.7*(sin(2*pi*0.6*t + 0.3) - sin(0.3))";
    static const char *const variables[] = { "t", NULL };
    pcs_expression e;
    pcs_expression_fault fault;
    pcs_motion_params harmonic = motion(2), formula = motion(7);
    const char *option;
    CHECK(pcs_expression_compile(text, strlen(text), variables, &e, &fault));
    formula.rise = 0.0;
    formula.expression = &e;
    CHECK(pcs_motion_check(&formula, &option) == NULL);
    for (double t = 0.0; t < 5.0; t += 0.1731) {
        double a[3], b[3];
        pcs_motion_at(&harmonic, t, a);
        pcs_motion_at(&formula, t, b);
        CHECK_ALL_NEAR(3, a, b, 1e-13);
    }
    formula.rise = 1.0;
    CHECK(pcs_motion_check(&formula, &option) != NULL && strcmp(option, "rise") == 0);
}
