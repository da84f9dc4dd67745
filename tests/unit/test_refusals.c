// Models that cannot be: each is told by one error that says what and where, and nothing is built. Errors of the case
// language itself are in test_case_build.c.

#include "build/build.h"
#include "support/check.h"
#include "support/text_case.h"

#include <stdio.h>
#include <string.h>

typedef struct refusal {
    const char *more, *message; // what follows the text that they share, and a part of what is told
} refusal;

// Joints of bodies in the plane
static const char joined[] =
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
static const refusal of_joints[] = {
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

// Contacts of bodies in the plane
static const char touching[] = "mesh: { one: { type: point, at: [0, 0, 0] }, two: { type: point, at: [1, 0, 0] } }\n"
                               "elements: { one: { type: rigid_body_2d, mesh: one, mass: 1, inertia: 1 },\n"
                               "            two: { type: point_mass, mesh: two, mass: 1, in: line } }\n"
                               "scheme: { type: alpha_ggl }\ntime: { step: 1.0e-3, end: 1.0 }\n"
                               "contacts: { rub: { type: journal, nodes: one, restitution: 0, ";

static const refusal of_journals[] = {
    { "housing: one, axis: [0, 0, 1], radius: 2, node_radius: 1 } }\n",
      "contacts.rub: node 0 is both journal and housing" },
    { "housing: two, axis: [0, 0, 1], radius: 2, node_radius: 1 } }\n", "a bearing is round" },
    { "housing: two, axis: [0, 0, 0], radius: 2, node_radius: 1 } }\n", "no direction" },
    { "housing: two, axis: [0, 0, 1], radius: 1, node_radius: 1 } }\n", "does not fit" },
};

// Contacts, loads, supports and initial values of rods: two on x, the second numbered backwards, one on y and one whose
// end is held.
static const char rods[] = "mesh:\n"
                           "  left: { type: line, from: [0, 0, 0], to: [4, 0, 0], elements: 2 }\n"
                           "  right: { type: line, from: [9, 0, 0], to: [7, 0, 0], elements: 2 }\n"
                           "  up: { type: line, from: [0, -4, 5], to: [0, 0, 5], elements: 2 }\n"
                           "  fixed: { type: line, from: [20, 0, 0], to: [22, 0, 0], elements: 2 }\n"
                           "elements:\n"
                           "  left: { type: rod, mesh: left, E: 100, rho: 1, area: 1 }\n"
                           "  right: { type: rod, mesh: right, E: 100, rho: 1, area: 1 }\n"
                           "  up: { type: rod, mesh: up, E: 100, rho: 1, area: 1 }\n"
                           "  fixed: { type: rod, mesh: fixed, E: 100, rho: 1, area: 1 }\n"
                           "supports:\n"
                           "  end: { set: fixed.end, fix: [x] }\n"
                           "  start: { set: fixed.start, fix: [x] }\n"
                           "scheme: { type: alpha_ggl }\ntime: { step: 1.0e-3, end: 1.0 }\n";

#define WALL "contacts: { wall: { restitution: 0, "
static const refusal of_rods[] = {
    { WALL "type: node_plane, nodes: left.end, point: [9, 0, 0], normal: [1, 0, 0.01] } }\n",
      "contacts.wall: node 2 cannot move along the normal [0.99995, 0, 0.0099995]: its elements give it no such "
      "direction" },
    { WALL "type: node_plane, nodes: fixed.end, point: [9, 0, 0], normal: [1, 0, 0] } }\n",
      "contacts.wall: node 11 is held by a support along the normal, so its gap cannot change" },
    { WALL "type: node_node, a: fixed.start, b: fixed.end, normal: [1, 0, 0] } }\n",
      "is held by a support along the normal, so its gap cannot change" },
    { WALL "type: node_node, a: left.end, b: right, normal: [1, 0, 0] } }\n",
      "contacts.wall: set 'left.end' has 1 nodes and set 'right' has 3; they must pair up" },
    { WALL "type: node_node, a: left.end, b: left.end, normal: [1, 0, 0] } }\n",
      "contacts.wall: node 2 would touch itself: sets 'left.end' and 'left.end' overlap" },
    { WALL "type: node_node, a: left.end, b: right.end, normal: [0, 0, 1] } }\n",
      "cannot move along the normal [0, 0, 1]" },
    { WALL "type: node_node, a: left.end, b: right.end, normal: [0, 0, 0] } }\n", "the normal has no direction" },
    { WALL "type: node_node, a: up.end, b: right.end, normal: [1, 0, 0] } }\n",
      "node 8 cannot move along the normal [1, 0, 0]" },
    { WALL "type: node_plane, nodes: left.end, point: [9, 0, 0], normal: [-1, 0, 0], friction: 0.1 } }\n",
      "node 2 cannot move across the normal, so there can be no friction" },
    { WALL "type: node_circle, nodes: left.end, centre: [0, 0, 0], radius: 20, side: inside } }\n",
      "node 2 cannot move across the axis [0, 0, 1] in two directions: a circle is round" },
    { WALL "type: beam_beam, a: left, b: right, radius: 0.1 } }\n", "node 0 cannot move in a plane or in space" },
    { WALL "type: beam_beam, a: left, b: left, radius: 0.1, exclude: 5 } }\n",
      "no cell of 'left' can touch one of 'left': all of them are neighbours, up to 5 cells apart" },
    { WALL "type: node_segment, nodes: left.end, segments: right, radius: 0.1 } }\n",
      "cannot move in a plane or in space" },
    { "loads: { push: { type: force, node: fixed.end, value: [1, 0, 0] } }\n",
      "loads.push: node 11 is held by a support along the force [1, 0, 0]" },
    { "loads: { push: { type: force, node: left.end, value: [0, 2, 0] } }\n",
      "loads.push: node 2 cannot move along the force [0, 2, 0]" },
    { "loads: { weight: { type: gravity, g: [0, 0, -9.81] } }\n",
      "loads.weight: node 0 of 'left' cannot move along g = [0, 0, -9.81]" },
    { "initial: [ { set: fixed, displacement: [1, 0, 0] } ]\n",
      "initial[0]: node 9 is held by a support and cannot have the initial displacement [1, 0, 0]" },
    { "initial: [ { set: left, velocity: [0, 2, 0] } ]\n",
      "initial[0]: node 0 cannot have the initial velocity [0, 2, 0]: its elements give it no such direction" },
    { "initial: [ { set: left, velocity: [1, 0, 0] }, { set: left.end, velocity: [2, 0, 0] } ]\n",
      "initial[1]: the initial velocity of node 2 is given twice, as 1 and 2" },
    { "initial: [ { set: left, displacement: [1, 0, 0] }, { set: left.end, displacement: [2, 0, 0] } ]\n",
      "initial[1]: the initial displacement of node 2 is given twice, as 1 and 2" },
    { "output: { probes: { p: { node: left.end, of: [vxx] } } }\n", "x, y, z, ux, uy, uz, vx, vy, vz" },
    { "output: { probes: { p: { body: left, of: [rx] } } }\n",
      "the centre of a body has no component 'rx'; it has x, y, z, ux" },
    { "output: { probes: { p: { element: left, of: [strain] } } }\n",
      "the elements of set 'left' have no field 'strain'; they have axial_force, stress, strain_energy" },
    { "sets: { both: { cells: [left, right] } }\noutput: { probes: { p: { element: both, of: [stress] } } }\n",
      "set 'both' are not of one element group" },
};

// Elements on a line along x, one that leaves the plane, a point, and two lines with a knee
static const char alone[] = "scheme: { type: newmark }\ntime: { step: 1.0e-3, end: 1.0 }\nmesh: { p: ";

#define ALONG "{ type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 1 } }\nelements: { p: { mesh: p, "
#define ASKEW "{ type: line, from: [0, 0, 0], to: [1, 1, 1], elements: 1 } }\nelements: { p: { mesh: p, "
#define POINT "{ type: point, at: [0, 0, 0] } }\nelements: { p: { mesh: p, "
#define ROD "type: rod, E: 1, rho: 1, area: 1 }"
#define KNEE                                                             \
    "{ type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 1 }, "      \
    "q: { type: line, from: [1, 0, 0], to: [2, 1, 0], elements: 1 } }\n" \
    "merge: { knee: { sets: [p.end, q.start] } }\nelements: { p: { mesh: p, " ROD ", q: { mesh: q, "
static const refusal of_elements[] = {
    { KNEE ROD " }\n", "elements.q: node 1: its elements move it along [1, 0, 0] and along [0.707107, 0.707107, 0]" },
    { KNEE "type: bushing, stiffness: [1, 0, 0] } }\n", "the mass matrix is singular at node 2 at (2, 1, 0)" },
    { ALONG "type: rod, E: 1.0e+300, rho: 1, area: 1.0e+30 } }\n", "too large to be represented" },
    { ALONG ROD " }\nsupports: { hold: { set: p, fix: [x] } }\n", "the model cannot move" },
    { ALONG ROD " }\nsupports: { hold: { set: p.end, fix: [y] } }\n",
      "supports.hold: node 1 cannot be fixed along y: its elements give it no such direction" },
    { POINT "type: mount } }\n", "all its stiffnesses and dampings are zero" },
    { ASKEW "type: rod_2d, E: 1, rho: 1, area: 1 } }\n", "leaves the x-y plane" },
    { ASKEW "type: rod_large_2d, E: 1, rho: 1, area: 1 } }\n", "leaves the x-y plane" },
    { ASKEW "type: spring_damper, stiffness: 1, in: plane } }\n", "leaves the x-y plane" },
    { ASKEW "type: spring_damper, stiffness: 1, in: line } }\n", "leaves the line along x" },
    { POINT "type: disc, mass: 1, inertia: [1, 2, 3], speed: 5 } }\n", "element group 'p': what spins must be round" },
    { POINT "type: disc_driven, mass: 1, inertia: [1, 2, 3] } }\n", "what spins must be round" },
    { POINT "type: disc, mass: 1, inertia: [1, 2, 3] } }\n", "" }, // at rest it may have any shape
    { POINT "type: disc, mass: 1, inertia: [1, 1, 1], axis: [0, 0, 0] } }\n", "the axis must not be zero" },
    { POINT "type: disc, mass: 1, inertia: [1, 1, 1], products: [2, 0, 0] } }\n", "not positive definite" },
    { POINT "type: rigid_body_3d, mass: 1, inertia: [1, 1, 1], products: [0, 1, 0] } }\n", "not positive definite" },
    { ALONG "type: rotor_beam, E: 1, nu: 0.3, rho: 1, orientation: [0, 1, 0], speed: 5, "
            "section: { type: rectangle, width: 1, height: 2 } } }\n",
      "what spins must be round: Iy = " },
};

// Joints between a body in space and another node
static const char unlike[] =
    "mesh: { one: { type: point, at: [0, 0, 0] }, two: { type: point, at: [1, 0, 0] } }\n"
    "scheme: { type: alpha_ggl }\ntime: { step: 1.0e-3, end: 1.0 }\n"
    "elements: { one: { type: rigid_body_3d, mesh: one, mass: 1, inertia: [1, 1, 1] }, two: { ";

static const refusal of_unlike_nodes[] = {
    { "type: rigid_body_2d, mesh: two, mass: 1, inertia: 1 } }\njoints: { link: { type: ball, a: one, b: two } }\n",
      "node 0 moves along [0, 0, 1], node 1 has no such direction" },
    { "type: point_mass, mesh: two, mass: 1 } }\njoints: { link: { type: hinge, a: one, b: two } }\n",
      "node 1 moves in space, but has no rotation, so a hinge has no axis there: use 'ball'" },
    { "type: point_mass, mesh: two, mass: 1 } }\njoints: { link: { type: hinge, node: one } }\n",
      "missing key 'axis': node 0 rotates in space" },
    { "type: point_mass, mesh: two, mass: 1 } }\njoints: { link: { type: cylindrical, a: one, b: two, axis: [1, 0, 0] "
      "} }\n",
      "node 1 has no rotation; this joint needs nodes that move and rotate in space" },
    { "type: rigid_body_3d, mesh: two, mass: 1, inertia: [1, 1, 1] } }\n"
      "joints: { link: { type: gear, a: one, b: two, teeth_a: 2, teeth_b: 3 } }\n",
      "missing key 'axis_a': node 0 rotates in space" },
};

// Schemes under a prescribed motion; "" where it goes
static const char led[] = "mesh: { one: { type: point, at: [1, 0, 0] } }\n"
                          "elements: { one: { type: rigid_body_2d, mesh: one, mass: 1, inertia: 1 } }\n"
                          "joints: { pin: { type: hinge, node: one, at: [0, 0, 0] },\n"
                          "          move: { type: prescribed, node: one, along: rz, speed: 1, rise: 1 } }\n"
                          "time: { step: 1.0e-3, end: 1.0 }\nscheme: { type: ";

static const refusal of_drives[] = {
    { "half_explicit }\n", "" },
    { "half_explicit_rk, method: hem5 }\n", "" },
    { "moreau_jean_explicit }\n", "" },
    { "moreau_midpoint }\n", "" },
    { "schatzman_paoli }\n", "" },
    { "alpha_index3 }\n", "" },
    { "event_driven }\n", "prescribed motion" },
    { "mannshardt }\n", "prescribed motion" },
    { "splitting, contact_forces: true }\n", "prescribed motion" },
    { "half_explicit_acceleration }\n", "prescribed motion" },
    { "tdg_minus }\n", "prescribed motion" },
    { "tdg_plus }\n", "prescribed motion" },
    { "ggl_midpoint, metric: mass }\n", "prescribed motion" },
    { "jump_newmark, gamma: 0.5 }\n", "prescribed motion" },
    { "alpha_ggl }\n", "" },
    { "moreau_jean, theta: 0.5 }\n", "" },
    { "newmark }\n", "" },
    { "hht }\n", "" },
    { "alpha_velocity }\n", "" },
};

static const struct {
    const char *text;
    const refusal *refusals;
    size_t count;
} tables[] = {
#define TABLE(text, refusals)                                 \
    {                                                         \
        text, refusals, sizeof(refusals) / sizeof *(refusals) \
    }
    TABLE(joined, of_joints),  TABLE(touching, of_journals),   TABLE(rods, of_rods),
    TABLE(alone, of_elements), TABLE(unlike, of_unlike_nodes), TABLE(led, of_drives),
};

TEST(wrong_models_are_told)
{
    int nwrong = 0;
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        for (size_t i = 0; i < tables[k].count; i++) {
            const refusal *r = &tables[k].refusals[i];
            char text[4096];
            text_case c;
            snprintf(text, sizeof text, "%s%s", tables[k].text, r->more);
            pcs_status status = text_case_try(text, &c), wanted = r->message[0] == '\0' ? PCS_OK : PCS_BAD_INPUT;
            const char *message = pcs_message(c.ctx);
            bool is_right = status == wanted && strstr(message, r->message) != NULL && strchr(message, '\n') == NULL;
            if (!is_right) print_message("%swanted: %s\ntold (%d): %s\n", r->more, r->message, (int)status, message);
            nwrong += !is_right;
            text_case_close(&c);
        }
    CHECK(nwrong == 0);
}

// Cases with changes, each told
static const struct {
    const char *path, *set[2], *message;
} cases[] = {
    { "cases/slider_crank", { "system.friction=-0.1" }, "system.friction must be >= 0, is -0.1" },
    { "cases/slider_crank", { "system.restitution=1.1" }, "system.restitution must be in [0, 1], is 1.1" },
    { "cases/slider_crank", { "system.tangent_restitution=-1.0" }, "must be in [0, 1], is -1.0" },
    { "cases/slider_crank", { "system.clearance=-1.0e-3" }, "system.clearance must be >= 0, is -1.0e-3" },
    { "cases/slider_crank", { "system.slider_mass=-0.1" }, "system.slider_mass must be > 0, is -0.1" },
    { "cases/slider_crank", { "system.slider_mass=0.0" }, "system.slider_mass must be > 0, is 0.0" },
    { "cases/slider_crank",
      { "system.theta3=0.1" },
      "of upper_right is -0.00386677 m at t = 0, must be >= 0" }, // the slider starts in the wall
    { "cases/ball", { "system.restitution=-0.1" }, "system.restitution must be in [0, 1], is -0.1" },
    { "cases/ball", { "system.mass=0.0" }, "system.mass must be > 0, is 0.0" },
    { "cases/ball", { "system.height=0.1" }, "the gap of point 0" },
    { "cases/ball", { "system.heigth=0.1" }, "did you mean 'height'" },
    { "cases/ball", { "system.type=bal" }, "did you mean 'ball'" },
    { "cases/ball_in_box", { "system.radius=2.1" }, "the ball does not fit into the box" },
    { "cases/rocking_block", { "system.points=2.5" }, "points must be a whole number" },
    { "cases/rocking_block", { "system.points=10" }, "system.points must be in [2, 9], is 10" },
    { "cases/rocking_block", { "system.points=1" }, "system.points must be in [2, 9], is 1" },
    { "cases/oscillator", { "system.stiffness=-1.0" }, "system.stiffness must be >= 0, is -1.0" },
    { "cases/pendulum", { "system.angle=2.0" }, "must be >= 0" }, // the tip starts behind the wall
    { "cases/slider_crank_bilateral", { "system.theta1=0.1" }, "must be = 0" },
    { "cases/incline", { "system.slope_degrees=91.0" }, "system.slope_degrees must be in [-90, 90], is 91.0" },
    { "cases/puck", { "system.friction=.nan" }, "system.friction" },
    { "cases/oscillator", { "scheme={type: half_explicit}", "time.step=0.02" }, "above the stable step 0.0141421" },
    { "cases/ball", { "scheme={type: tdg_minus, degree: 9}" }, "degree must be in [1, 8], is 9" },
    { "cases/bar_impact",
      { "scheme={type: half_explicit_rk, method: hem3}", "time.step=8.6e-4" },
      "above the stable step 0.000833" },
    { "cases/bar_impact", { "scheme={type: newmark, gamma: 0.9, beta: 0.44}" }, "gamma/2" },
    { "cases/bar_impact", { "scheme={type: jump_newmark}" }, "give gamma or rho_inf" },
    { "cases/bar_impact", { "scheme={type: jump_newmark, gamma: 0.5, rho_inf: 1}" }, "give one" },
    { "cases/bar_impact", { "scheme={type: jump_newmark, rho_inf: 1, beta: 0.3}" }, "goes with gamma" },
    { "cases/bar_impact", { "scheme={type: jump_newmark, gamma: 0.9, beta: 0.3}" }, "gamma/2" },
#define MOREAU "scheme={type: moreau_jean, theta: 0.5}"
#define CONTROL "time.control={type: adaptive, "
    { "cases/ball", { MOREAU, CONTROL "tolerance: 0}" }, "time.control.tolerance must be > 0, is 0" },
    { "cases/ball", { MOREAU, CONTROL "order: 1}" }, "missing key 'tolerance'" },
    { "cases/ball", { MOREAU, CONTROL "tolerance: 1e-3, order: 3}" }, "order must be one of 0, 1, 2, variable" },
    { "cases/ball",
      { MOREAU, CONTROL "tolerance: 1e-3, smallest: 0.1, largest: 0.01}" },
      "time.control: the smallest step, 0.1 s, is above the largest, 0.01 s" },
    { "cases/ball", { MOREAU, CONTROL "tolerance: 1e-3, penetration: 0}" }, "time.control.penetration must be > 0" },
    { "cases/ball", { MOREAU, "time.control={type: adaptiv, tolerance: 1e-3}" }, "adaptive" },
    { "cases/ball",
      { "scheme={type: schatzman_paoli}", CONTROL "tolerance: 1e-3}" },
      "step control does not go with scheme 'schatzman_paoli': a shorter step would push out" },
};

TEST(wrong_values_are_told)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pcs_context *ctx = NULL;
        pcs_sim *sim = NULL;
        CHECK_OK(NULL, pcs_context_create(&ctx));
        CHECK(pcs_build_sim_from(ctx, cases[i].path, 1 + (cases[i].set[1] != NULL), cases[i].set, &sim) != PCS_OK);
        CHECK_TEXT(pcs_message(ctx), cases[i].message);
        pcs_context_destroy(&ctx);
    }
}
