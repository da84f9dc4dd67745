// Equilibria of large deformation against closed forms and published digits: elastica, roll-up, 45 degree bend;
// and modes about equilibria.

#include "support/check.h"
#include "support/still.h"

#include "cantilever.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// E I = 1e-4: P L^2 / (E I) = 10. Slender, so that shear and stretch do not matter.
static const char elastica[] =
    "elements.beam={type: beam_exact_2d, mesh: beam, E: 1.2e9, nu: 0.0, rho: 1000.0, section: " SQUARE(
        "1.0e-3") "}; "
                  "loads.tip.value=[0, 1.0e-3, 0]; mesh.beam.elements=";

TEST(the_elastica_has_its_digits_and_order)
{
    const double digits[] = { 0.450928, 0.445400, 0.445029 };
    double error[3];
    for (int k = 0; k < 3; k++) {
        double q[MOST] = { 0 };
        still s = still_print(cantilever, "%s%d", elastica, 4 << (2 * k));
        pcs_statics statics = still_statics(&s, 0, q);
        CHECK_NEAR(still_probe(&s, "tip.x", q), digits[k], 6e-7);
        error[k] = hypot(still_probe(&s, "tip.x", q) - 0.4450044, still_probe(&s, "tip.y", q) - 0.8106090);
        CHECK(statics.nhalved == 0 && statics.correction < 1e-7);
        still_close(&s);
    }
    CHECK_NEAR(log2(error[0] / error[1]) / 2.0, 2.0, 0.15);
    CHECK_NEAR(log2(error[1] / error[2]) / 2.0, 2.0, 0.15);
}

static pcs_status watch_steps(void *user, const pcs_statics *now)
{
    CHECK(now->iterations <= 5);
    ++*(int *)user;
    return PCS_OK;
}

// Newton's iteration is quadratic.
TEST(a_short_way_takes_few_iterations)
{
    double q[MOST] = { 0 };
    int count = 0;
    pcs_statics statics;
    pcs_statics_options options = { .steps = 40 };
    still s = still_open(cantilever,
                         "mesh.beam.elements=10; loads.tip.value=[0, 2.0e6, 0]; elements.beam={type: "
                         "beam_exact_2d, mesh: beam, E: 2.1e11, nu: 0.3, rho: 7800.0, section: " SQUARE("0.1") "}");
    CHECK_OK(s.ctx, pcs_statics_solve(&s.on, &options, q, watch_steps, &count, &statics));
    CHECK(count == 41 && statics.step == 40 && statics.nhalved == 0);
    still_close(&s);
}

typedef struct rotated {
    double moment; // at the end
    bool is_history;
    double worst; // of all load steps, relative to it
} rotated;

static pcs_status turned_look(void *user, const pcs_statics *now)
{
    rotated *t = user;
    double error = fabs(now->force[0] - now->factor * t->moment) / fabs(t->moment);
    if (!t->is_history) t->worst = fmax(t->worst, error);
    return PCS_OK;
}

// A tip that is turned in space about the axis of the beam, or across it, by up to two and a half turns either way: the
// moment is stiffness times angle at every load step, however long these are asked for, also where time goes on.
TEST(a_tip_in_space_turns_by_whole_turns)
{
    const double angles[] = { 2.0, 4.0, -10.0, 5.0 * PI };
    const char *const choices[] = {
        "joints.guide={type: cylindrical, node: beam.end, axis: [1, 0, 0]}; joints.turn.along=rx",
        "joints.turn.along=rz"
    };
    for (int i = 0; i < 32; i++) {
        if ((i + i / 2 + i / 4 + i / 8) % 2 != 0) continue;
        bool is_twist = i % 2 == 0;
        double q[MOST] = { 0 }, angle = angles[i / 8];
        still s = still_print(
            cantilever,
            "elements.beam.type=beam_exact_3d; elements.beam.orientation=[0, 1, 0]; supports.clamp.fix=[x, y, z, "
            "rx, ry, rz]; mesh.beam.elements=20; loads={}; elements.beam.section={type: circle, diameter: 0.01}; "
            "joints.turn={type: prescribed, node: beam.end, along: rz, distance: %.17g, rise: 1.0}; %s",
            angle, choices[i % 2]);
        double I = PI * 1e-8 / 64.0, stiffness = is_twist ? 2.0 * I * shear : I * modulus;
        pcs_statics statics;
        pcs_statics_options options = { .steps = i / 2 % 2 == 0 ? 1 : 10, .time = 1.0, .may_be_unstable = true };
        options.path = i / 4 % 2 == 0 ? PCS_PATH_LOAD : PCS_PATH_HISTORY;
        rotated t = { .moment = stiffness * angle };
        t.is_history = options.path == PCS_PATH_HISTORY;
        CHECK_OK(s.ctx, pcs_statics_solve(&s.on, &options, q, turned_look, &t, &statics));
        CHECK_RELATIVE(statics.force[0], t.moment, 1e-9);
        CHECK_RELATIVE(statics.work.joints, 0.5 * t.moment * angle, 1e-9);
        CHECK(t.worst < 1e-9);
        still_close(&s);
    }
}

// A body turns on a hinge beside it by M/k = 1.3 rad, in one load step or many: the hinge does no work.
TEST(joints_that_are_not_driven_do_no_work)
{
    for (int steps = 1; steps < 10; steps += 4) {
        double q[MOST] = { 0 };
        still s = still_open("mesh: { b: { type: point, at: [1, 0.5, 0] }, s: { type: point, nodes: b } }\n"
                             "elements: { b: { type: rigid_body_2d, mesh: b, mass: 1, inertia: 0.1 },\n"
                             "  s: { type: mount, mesh: s, in: plane, angles: finite, stiffness: [0, 0, 0],\n"
                             "       torsional_stiffness: [0, 0, 10] } }\n"
                             "joints: { pin: { type: hinge, node: b, at: [0, 0, 0] } }\n"
                             "loads: { turn: { type: moment, node: b, value: [0, 0, 13] } }\n",
                             NULL);
        pcs_statics statics = still_statics(&s, steps, q);
        CHECK_RELATIVE(statics.work.loads, 0.5 * 13.0 * 1.3, 1e-12);
        CHECK_NEAR(statics.work.joints, 0.0, 1e-12);
        still_close(&s);
    }
}

// A rigid body of which a joint holds all is at rest: the weld carries the weight.
TEST(a_weld_carries_the_weight)
{
    static const char weld[] = "mesh: { body: { type: point, at: [0.3, 0.1, 0.2] } }\n"
                               "elements: { body: { type: rigid_body_3d, mesh: body, mass: 2, inertia: [1, 2, 2] } }\n"
                               "joints: { weld: { type: fixed, node: body } }\n"
                               "loads: { weight: { type: gravity, g: [0, 0, -10] } }\n";
    double q[MOST] = { 0 };
    still s = still_open(weld, "");
    pcs_statics statics = still_statics(&s, 0, q);
    CHECK_RELATIVE(fabs(statics.force[2]), 20.0, 1e-12);
    still_close(&s);
}

// The motor of a slider-crank carries F x', x' the slope of the way of the slider, as it goes round in load steps that
// would turn it by up to half a turn and more.
static pcs_status crank_look(void *user, const pcs_statics *now)
{
    const double r = 0.3, l = 0.8, angle = now->factor * *(const double *)user, c = cos(angle), d = sin(angle);
    double slope = -r * d - r * r * d * c / sqrt(l * l - r * r * d * d);
    CHECK_NEAR(fabs(now->force[0]), fabs(now->factor * 7.0 * slope), 1e-11);
    return PCS_OK;
}

TEST(driven_slider_cranks_go_round)
{
    static const char crank[] =
        "mesh: { c: { type: point, at: [0.15, 0, 0] }, r: { type: point, at: [0.7, 0, 0] }, s: { type: point, at: "
        "[1.1, "
        "0, 0] } }\n"
        "elements: { c: { type: rigid_body_2d, mesh: c, mass: 1, inertia: 0.1 },\n"
        "            r: { type: rigid_body_2d, mesh: r, mass: 1, inertia: 0.1 },\n"
        "            s: { type: rigid_body_2d, mesh: s, mass: 1, inertia: 0.1 } }\n"
        "joints: { motor: { type: prescribed, node: c, along: rz, distance: 1.0, rise: 1.0 },\n"
        "          o: { type: hinge, node: c, at: [0, 0, 0] }, a: { type: hinge, a: c, b: r, at: [0.3, 0, 0] },\n"
        "          b: { type: hinge, a: r, b: s, at: [1.1, 0, 0] }, g: { type: slider, node: s, axis: [1, 0, 0] } }\n"
        "loads: { push: { type: force, node: s, value: [-7, 0, 0] } }\n"
        "output: { probes: { s: { node: s, of: [x] } } }\n";
    const double angles[] = { 1.0, 7.0, -20.0 };
    for (int i = 0; i < 6; i++) {
        double q[MOST] = { 0 }, angle = angles[i % 3];
        still s = still_print(crank, "joints.motor.distance=%g", angle);
        pcs_statics statics;
        pcs_statics_options options = { .steps = 10, .time = 1.0, .path = i < 3 ? PCS_PATH_LOAD : PCS_PATH_HISTORY };
        CHECK_OK(s.ctx, pcs_statics_solve(&s.on, &options, q, i < 3 ? crank_look : NULL, &angle, &statics));
        double place = 0.3 * cos(angle) + sqrt(0.64 - 0.09 * sin(angle) * sin(angle));
        CHECK_NEAR(still_probe(&s, "s.x", q), place, 1e-12);
        still_close(&s);
    }
}

// The same by a moment, in the plane and in space: M = 2 pi E I / L closes the polygon, half of it makes half a circle.
TEST(a_moment_rolls_a_beam_up)
{
    const int elements[] = { 4, 10, 20 };
    const char *const kinds[] = {
        "elements.beam.type=beam_exact_2d",
        "elements.beam.type=beam_exact_3d; elements.beam.orientation=[0, 1, 0]; supports.clamp.fix=[x, y, z, rx, ry, "
        "rz]",
    };
    for (int k = 0; k < 12; k++) {
        int n = elements[k / 4];
        bool is_half = k % 2 == 1;
        double q[MOST] = { 0 }, moment = (is_half ? 1.0 : 2.0) * PI * modulus * 1e-8 / 12.0;
        still s = still_print(
            cantilever, "%s; mesh.beam.elements=%d; loads={tip: {type: moment, node: beam.end, value: [0, 0, %.17g]}}",
            kinds[k / 2 % 2], n, moment);
        still_statics(&s, 8, q);
        CHECK_NEAR(still_probe(&s, "tip.x", q), 0.0, is_half ? 1e-12 : 5e-15);
        double y = is_half ? 1.0 / (n * sin(PI / (2.0 * n))) : 0.0;
        CHECK_NEAR(still_probe(&s, "tip.y", q), y, is_half ? 1e-12 * y : 5e-15);
        still_close(&s);
    }
}

static const char bend[] =
    "mesh: { arc: { type: arc, centre: [0, 100.0, 0], start: [0, 0, 0], angle: 45.0, elements: 8 } }\n"
    "elements: { arc: { type: beam_exact_3d, mesh: arc, E: 1.0e7, nu: 0.0, rho: 1.0, orientation: [0, 0, 1], "
    "curvature: [0, 0, 0.01], section: { type: given, area: 1.0, Iy: 0.08333333333333333, Iz: 0.08333333333333333, "
    "torsion: 0.16666666666666666, ky: 1.0, kz: 1.0, cy: 0.5, cz: 0.5 } } }\n"
    "supports: { clamp: { set: arc.start, fix: [x, y, z, rx, ry, rz] } }\n"
    "loads: { tip: { type: force, node: arc.end, value: [0, 0, 600.0] } }\n"
    "output: { probes: { tip: { node: arc.end, of: [x, y, z] } } }\n";

// Bathe and Bolourchi's bend, eight elements.
TEST(the_45_degree_bend_has_its_digits)
{
    const double digits[2][3] = { { 58.8561, 22.2936, 40.0924 }, { 47.2506, 15.7383, 53.3920 } };
    const char *const names[] = { "tip.x", "tip.y", "tip.z" };
    for (int k = 0; k < 2; k++) {
        double q[MOST] = { 0 };
        still s = still_open(bend, k == 0 ? "loads.tip.value=[0, 0, 300.0]" : NULL);
        pcs_statics statics = still_statics(&s, 0, q);
        for (int i = 0; i < 3; i++) CHECK_NEAR(still_probe(&s, names[i], q), digits[k][i], 6e-5);
        CHECK(statics.nhalved == 0 && statics.total < 75); // finite rotations multiply: adding them up takes longer
        still_close(&s);
    }
}

static const char frame[] =
    "mesh: { legs: { type: frame, points: { a: [0, 0, 0], b: [2, 0, 0], c: [2, 1.5, 0] },\n"
    "  members: [[a, b], [b, c]], elements: 6 } }\n"
    "elements: { legs: { type: beam_exact_3d, mesh: legs, E: 210, nu: 0.25, rho: 7, orientation: [0, 0, 1],\n"
    "  section: { type: given, area: 0.3, Iy: 0.02, Iz: 0.05, torsion: 0.03, ky: 0.8, kz: 0.7, cy: 0.4, cz: 0.2 } } }\n"
    "supports: { clamp: { set: legs.a, fix: [x, y, z, rx, ry, rz] } }\n"
    "loads: { tip: { type: force, node: legs.c, value: [0, 0, 1.0e-5] } }\n"
    "output: { probes: { tip: { node: legs.c, of: [uz] } } }\n";

// A force P across the plane of legs a and c: both bend, the first one twists, both shear; bending with n cells of this
// element is 1 - 1/(4 n^2) of the beam's.
TEST(a_right_angle_frame_bends_and_twists)
{
    const double a = 2.0, c = 1.5, G = 84.0, EI = 210.0 * 0.05, part = 1.0 - 1.0 / (4.0 * 6.0 * 6.0);
    double q[MOST] = { 0 };
    still s = still_open(frame, NULL);
    still_statics(&s, 0, q);
    double wanted = part * (a * a * a + c * c * c) / (3.0 * EI) + c * c * a / (G * 0.03) + (a + c) / (G * 0.3 * 0.8);
    CHECK_RELATIVE(still_probe(&s, "tip.uz", q), 1e-5 * wanted, 1e-8);
    still_close(&s);
}

// Legs of 240, section 30 x 0.6 upright in the plane, E = 71240, nu = 0.31 (Argyris; Simo and Vu-Quoc report 1.09):
// the load in the plane at which it can leave it is 1.088.
TEST(a_right_angle_frame_buckles_sideways)
{
    for (int k = 0; k < 2; k++) {
        double q[MOST] = { 0 };
        still s = still_print(
            frame,
            "mesh.legs.points={a: [0, 0, 0], b: [240, 0, 0], c: [240, 240, 0]}; mesh.legs.elements=10; "
            "elements.legs.E=71240; elements.legs.nu=0.31; elements.legs.section={type: given, area: 18, Iy: 1350, "
            "Iz: 0.54, torsion: 2.16, ky: 0.8333333333333333, kz: 0.8333333333333333}; loads.tip.value=[%g, 0, 0]",
            k == 0 ? 1.086 : 1.090);
        pcs_statics statics = still_statics(&s, 0, q);
        pcs_modes modes;
        pcs_modes_options options = { .count = 2, .q = q, .load_factor = 1.0, .held = statics.held };
        CHECK_OK(s.ctx, pcs_modes_find(&s.on, &options, &modes));
        CHECK(modes.modes[0].kind == (k == 0 ? PCS_MODE_VIBRATION : PCS_MODE_DIVERGENCE));
        CHECK(modes.modes[1].kind == PCS_MODE_VIBRATION);
        still_close(&s);
    }
}

// The Princeton beam, loaded across both axes of its section, bends and twists. Edgewise and flatwise displacement of
// the tip at 0, 15, .., 90 degrees: the equations of the beam integrated elsewhere (Runge-Kutta of order 8, shooting
// for the moments at the clamp).
TEST(the_princeton_beam_has_its_digits)
{
    static const char princeton[] =
        "mesh: { beam: { type: line, from: [0, 0, 0], to: [0.508, 0, 0], elements: 100 } }\n"
        "elements: { beam: { type: beam_exact_3d, mesh: beam, E: 71.7e9, nu: 0.31, rho: 2700.0, orientation: [0, 1, "
        "0],\n"
        "  section: { type: rectangle, width: 3.2024e-3, height: 12.3777e-3 } } }\n"
        "supports: { clamp: { set: beam.start, fix: [x, y, z, rx, ry, rz] } }\n"
        "loads: { tip: { type: force, node: beam.end, value: [0, 0, 0] } }\n"
        "output: { probes: { tip: { node: beam.end, of: [uy, uz] } } }\n";
    const double exact[7][2] = { { 0.010713597117, 0.0 },
                                 { 0.010623975794, 0.042122780901 },
                                 { 0.010145543628, 0.079451687870 },
                                 { 0.008887396229, 0.109035877053 },
                                 { 0.006653287463, 0.129917062361 },
                                 { 0.003568322546, 0.142207586121 },
                                 { 0.0, 0.146253039625 } };
    for (int i = 0; i < 7; i++) {
        double q[MOST] = { 0 }, angle = i * PI / 12.0;
        still s = still_print(princeton, "loads.tip.value=[0, %.17g, %.17g]", 8.896 * cos(angle), 8.896 * sin(angle));
        still_statics(&s, 0, q);
        CHECK_NEAR(still_probe(&s, "tip.uy", q), exact[i][0], 5e-5 * exact[i][0] + 1e-12);
        CHECK_NEAR(still_probe(&s, "tip.uz", q), exact[i][1], 5e-5 * exact[i][1] + 1e-12);
        still_close(&s);
    }
}

// Simply supported and pulled: w^2 = (E I k^4 + T k^2) / (rho A), k = pi / L; compressed beyond E I k^2 it buckles.
TEST(modes_know_the_loads_of_their_state)
{
    const double EI = modulus * 1e-8 / 12.0, critical = EI * PI * PI;
    const double pull[] = { 0.0, 2.0 * critical, -0.5 * critical, -1.5 * critical };
    for (int i = 0; i < 4; i++) {
        double q[MOST] = { 0 };
        still s = still_print(
            cantilever,
            "mesh.beam.elements=64; loads.tip.value=[%.17g, 0, 0]; supports={a: {set: beam.start, fix: [x, y]}, b: "
            "{set: beam.end, fix: [y]}}; elements.beam={type: beam_exact_2d, mesh: beam, E: 2.1e11, nu: 0.3, rho: "
            "7800.0, section: " SQUARE("0.01") "}",
            pull[i]);
        pcs_statics statics = still_statics(&s, 0, q);
        pcs_modes modes;
        pcs_modes_options options = { .count = 2, .q = q, .load_factor = 1.0, .held = statics.held };
        CHECK_OK(s.ctx, pcs_modes_find(&s.on, &options, &modes));
        double square = (EI * pow(PI, 4) + pull[i] * PI * PI) / 0.78;
        CHECK(modes.modes[0].kind == (square > 0.0 ? PCS_MODE_VIBRATION : PCS_MODE_DIVERGENCE));
        CHECK_RELATIVE(modes.modes[0].w, sqrt(fabs(square)), 2e-3);
        CHECK(modes.modes[1].kind == PCS_MODE_VIBRATION);
        still_close(&s);
    }
}

static const char hanging[] =
    "mesh: { mass: { type: point, at: [0, -0.5, 0] }, spring: { type: point, nodes: mass } }\n"
    "elements: { mass: { type: point_mass, mesh: mass, mass: 2.0, in: plane }, spring: { type: mount, "
    "mesh: spring, stiffness: [3.0, 0.0, 0.0] } }\n"
    "joints: { rod: { type: distance, node: mass, anchor: [0, 0, 0] } }\n"
    "loads: { g: { type: gravity, g: [0, -10.0, 0] } }\n"
    "output: { probes: { mass: { node: mass, of: [x, y] } } }\n";

// A mass on a rod of length l, held by a spring k aside: w^2 = k/m + g/l. The second part is what the force of the
// joint adds to the stiffness. Pushed aside by F it rests at an angle a with (F - k x) cos a = m g sin a.
TEST(forces_of_joints_are_stiff)
{
    double q[MOST] = { 0 }, beside[MOST] = { 0 };
    still s = still_open(hanging, NULL);
    pcs_statics statics = still_statics(&s, 1, q);
    CHECK_RELATIVE(fabs(statics.force[0]), 20.0, 1e-12);
    pcs_modes modes;
    pcs_modes_options options = {
        .count = 1, .q = q, .load_factor = 1.0, .held = statics.held, .force = statics.force
    };
    CHECK_OK(s.ctx, pcs_modes_find(&s.on, &options, &modes));
    CHECK_RELATIVE(modes.modes[0].w, sqrt(3.0 / 2.0 + 10.0 / 0.5), 1e-9);
    still_close(&s);

    s = still_open(hanging, "loads.aside={type: force, node: mass, value: [25.0, 0, 0]}");
    statics = still_statics(&s, 10, beside);
    double x = still_probe(&s, "mass.x", beside), y = still_probe(&s, "mass.y", beside);
    CHECK_NEAR((25.0 - 3.0 * x) * -y, 20.0 * x, 1e-10);
    CHECK_NEAR(hypot(x, y), 0.5, 1e-12);
    CHECK(x > 0.2 && statics.nhalved < 5 && statics.total < 150);
    still_close(&s);
}
