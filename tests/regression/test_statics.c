// Equilibria against closed forms and published digits: linear beams, contacts, large deformation in plane and space,
// prescribed motion, loads that cannot be carried, models that are free to move, modes about an equilibrium.

#include "support/check.h"
#include "support/still.h"

#include "sim/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 4096 };

static const double PI = 3.14159265358979323846;

#define SQUARE(d) "{type: rectangle, width: " d ", height: " d ", shear_factor: 0.8333333333333333}"

static const char cantilever[] =
    "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 1 } }\n"
    "elements: { beam: { type: beam_timo_2d, mesh: beam, E: 2.1e11, nu: 0.3, rho: 7800.0, section: " SQUARE(
        "0.01") " } }\n"
                "supports: { clamp: { set: beam.start, fix: [x, y, rz], reactions: true } }\n"
                "loads: { tip: { type: force, node: beam.end, value: [0, -10.0, 0] } }\n"
                "output: { probes: { tip: { node: beam.end, of: [x, y, z, ux, uy, uz] } } }\n";

static const double modulus = 2.1e11, shear = 2.1e11 / 2.6;

// Compliance of the tip of a cantilever of length 1 and square section d.
static double tip_compliance(double d)
{
    return 1.0 / (3.0 * modulus * d * d * d * d / 12.0) + 1.0 / (shear * d * d * 5.0 / 6.0);
}

// In space along a skew axis, with the load square to it.
static void one_element_bends_exactly_from_stocky_to_slender(void **state)
{
    (void)state;
    const char *const d[] = { "0.5", "0.1", "0.01", "1.0e-3", "1.0e-4" };
    const char *const kinds[] = {
        "elements.beam.type=beam_timo_2d",
        "elements.beam.type=beam_timo_3d; elements.beam.orientation=[0, 0, 1]; mesh.beam.to=[0.8, 0.0, 0.6]; "
        "supports.clamp.fix=[x, y, z, rx, ry, rz]",
    };
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++) {
            char text[512];
            double q[MOST] = { 0 }, width;
            CHECK(sscanf(d[i], "%lf", &width) == 1);
            snprintf(text, sizeof text,
                     "elements.beam.section={type: rectangle, width: %s, height: %s, shear_factor: "
                     "0.8333333333333333}; %s",
                     d[i], d[i], kinds[k]);
            still s = still_open(cantilever, text);
            pcs_statics statics = still_statics(&s, 0, q);
            CHECK_RELATIVE(still_probe(&s, "tip.uy", q), -10.0 * tip_compliance(width), 1e-12);
            CHECK_NEAR(still_probe(&s, "tip.ux", q), 0.0, 1e-12 * tip_compliance(width));
            CHECK(statics.step == 1 && statics.residual < 1e-10);
            still_close(&s);
        }
}

// Midspan of a simply supported beam under its weight: 5 w L^4 / (384 E I) + w L^2 / (8 G A ks), by hinge and roller.
static void weight_bends_a_beam_between_joints(void **state)
{
    (void)state;
    double q[MOST] = { 0 }, w = 7800.0 * 1e-4 * 10.0, EI = modulus * 1e-8 / 12.0, GA = shear * 1e-4 * 5.0 / 6.0;
    still s = still_open(cantilever, "mesh.beam.elements=2; supports={b: {set: beam.end, fix: [y], reactions: true}}; "
                                     "joints.a={type: hinge, node: beam.start}; "
                                     "loads={g: {type: gravity, g: [0, -10.0, 0]}}; "
                                     "output.probes.mid={set: beam, item: 1, of: [uy]}");
    still_statics(&s, 3, q);
    CHECK_RELATIVE(still_probe(&s, "mid.uy", q), -(5.0 * w / (384.0 * EI) + w / (8.0 * GA)), 1e-11);
    still_close(&s);
}

static void a_stop_takes_what_the_beam_does_not(void **state)
{
    (void)state;
    double q[MOST] = { 0 };
    const char *stop = "mesh.beam.elements=4; contacts.stop={type: node_plane, nodes: beam.end, point: [0, -0.002, 0], "
                       "normal: [0, 1, 0], restitution: 0.0}";
    still s = still_open(cantilever, stop);
    pcs_statics statics = still_statics(&s, 3, q);
    CHECK_RELATIVE(statics.force[0], 10.0 - 0.002 / tip_compliance(0.01), 1e-11);
    CHECK_NEAR(statics.gap[0], 0.0, 1e-15);
    CHECK(statics.held[0] && statics.step == 3);
    // Closed contacts stay closed in vibrations about the equilibrium: clamped-pinned instead of clamped-free.
    pcs_modes modes;
    pcs_modes_options options = { .count = 1, .q = q, .held = statics.held };
    CHECK_OK(s.ctx, pcs_modes_find(s.sim, &options, &modes));
    CHECK_RELATIVE(modes.modes[0].w, 15.41821 * sqrt(modulus * 1e-4 / 12.0 / 7800.0), 2e-3);
    still_close(&s);

    double far[MOST] = { 0 };
    still t = still_open(cantilever, "contacts.stop={type: node_plane, nodes: beam.end, point: [0, -0.1, 0], normal: "
                                     "[0, 1, 0], restitution: 0.0}");
    statics = still_statics(&t, 1, far);
    CHECK(!statics.held[0] && statics.force[0] == 0.0 && statics.gap[0] > 0.05);
    still_close(&t);
}

// A beam pulled up at its tip and down by its weight over nine stops: whatever set holds, all conditions must.
static void many_stops_obey_their_conditions(void **state)
{
    (void)state;
    double q[MOST] = { 0 };
    still s =
        still_open(cantilever, "mesh.beam.elements=10; mesh.beam.to=[4, 0, 0]; loads.tip.value=[0, 3.0, 0]; "
                               "loads.g={type: gravity, g: [0, -10.0, 0]}; contacts.stop={type: node_plane, nodes: "
                               "beam.rest, point: [0, -0.01, 0], normal: [0, 1, 0], restitution: 0.0}");
    pcs_statics statics = still_statics(&s, 1, q);
    int closed = 0;
    for (int j = 0; j < s.sim->system->nrow; j++) {
        CHECK(statics.gap[j] > -1e-14 && statics.force[j] >= 0.0);
        CHECK(statics.held[j] ? fabs(statics.gap[j]) < 1e-14 : statics.force[j] == 0.0);
        closed += statics.held[j];
    }
    CHECK(closed >= 2 && closed < 10);
    still_close(&s);
}

// Nothing but the floor holds it: it falls there, and shortens by rho g L^2 / (2 E) under its weight.
static void a_free_bar_comes_to_rest_on_the_floor(void **state)
{
    (void)state;
    static const char bar[] =
        "mesh: { bar: { type: line, from: [0, 5.0, 0], to: [0, 15.0, 0], elements: 20 } }\n"
        "elements: { bar: { type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0 } }\n"
        "loads: { weight: { type: gravity, g: [0, -10.0, 0] } }\n"
        "contacts: { floor: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [0, 1, "
        "0], restitution: 0.0 } }\n"
        "output: { probes: { top: { node: bar.end, of: [y] } } }\n";
    double q[MOST] = { 0 };
    still s = still_open(bar, NULL);
    pcs_statics statics = still_statics(&s, 0, q);
    CHECK_RELATIVE(statics.force[0], 100.0, 1e-11);
    CHECK_RELATIVE(still_probe(&s, "top.y", q), 10.0 - 10.0 * 100.0 / 1800.0, 1e-11);
    still_close(&s);

    double up[MOST] = { 0 };
    still t = still_open(bar, "loads.weight.g=[0, 10.0, 0]");
    pcs_statics_options options = { 0 };
    CHECK_STATUS(t.ctx, pcs_statics_solve(t.sim, &options, up, NULL, NULL, &statics), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(t.ctx), "free to move: translation along y");
    CHECK_TEXT(pcs_message(t.ctx), "no contact stops it");
    still_close(&t);
}

// An exact beam above the floor, guided along x at its middle, comes to lie flat: what it touches bears all its weight.
static void a_free_beam_comes_to_lie_on_the_floor(void **state)
{
    (void)state;
    double q[MOST] = { 0 }, sum = 0.0, moment = 0.0;
    still s =
        still_open("mesh: { beam: { type: line, from: [0, 0.3, 0], to: [2, 0.5, 0], elements: 4 } }\n"
                   "elements: { beam: { type: beam_exact_2d, mesh: beam, E: 1.0e6, nu: 0.3, rho: 1000.0, section: "
                   "{ type: rectangle, width: 0.05, height: 0.05 } } }\n"
                   "supports: { guide: { set: beam.start, fix: [x] } }\n"
                   "loads: { g: { type: gravity, g: [0, -10.0, 0] } }\n"
                   "contacts: { floor: { type: node_plane, nodes: beam, point: [0, 0, 0], normal: [0, 1, 0], "
                   "restitution: 0.0 } }\n"
                   "output: { probes: { tip: { node: beam.end, of: [x, y] } } }\n",
                   NULL);
    pcs_statics statics = still_statics(&s, 1, q);
    double length = sqrt(4.04);
    for (int j = 0; j < 5; j++) {
        CHECK(statics.gap[j] > -1e-12 && statics.force[j] >= 0.0);
        sum += statics.force[j];
        moment += statics.force[j] * j * length / 4.0;
    }
    CHECK_RELATIVE(sum, 1000.0 * 0.0025 * length * 10.0, 1e-9);
    CHECK_RELATIVE(moment, 0.5 * length * sum, 1e-4);
    CHECK_NEAR(still_probe(&s, "tip.y", q), 0.0, 1e-4);
    CHECK_NEAR(still_probe(&s, "tip.x", q), length, 1e-4);
    still_close(&s);
}

// The tip keeps its distance of 1 from the origin and is moved along x from 0.6 on: to 1 it can follow.
static void a_way_that_ends_is_followed_to_its_end(void **state)
{
    (void)state;
    double q[MOST] = { 0 };
    still s =
        still_open("mesh: { beam: { type: line, from: [0.6, -1.0, 0], to: [0.6, 0.8, 0], elements: 6 } }\n"
                   "elements: { beam: { type: beam_exact_2d, mesh: beam, E: 1.0e6, nu: 0.3, rho: 1000.0, section: "
                   "{ type: rectangle, width: 0.1, height: 0.1 } } }\n"
                   "supports: { clamp: { set: beam.start, fix: [x, y, rz] } }\n"
                   "joints: { tie: { type: distance, node: beam.end, anchor: [0, 0, 0] }, pull: { type: prescribed, "
                   "node: beam.end, along: x, table: [[0.0, 0.0], [1.0, 1.0]] } }\n"
                   "output: { probes: { tip: { node: beam.end, of: [x, y] } } }\n",
                   NULL);
    pcs_statics statics;
    pcs_statics_options options = { .time = 1.0 };
    CHECK_STATUS(s.ctx, pcs_statics_solve(s.sim, &options, q, NULL, NULL, &statics), PCS_FAILED);
    CHECK_TEXT(pcs_message(s.ctx), "no equilibrium at load factor 0.4");
    CHECK(statics.factor > 0.39 && statics.factor < 0.4 && statics.nhalved > 5 && statics.nhalved < 20);
    double x = still_probe(&s, "tip.x", q), y = still_probe(&s, "tip.y", q);
    CHECK_NEAR(x, 0.6 + statics.factor, 1e-11);
    CHECK_NEAR(hypot(x, y), 1.0, 1e-11);
    CHECK_NEAR(statics.gap[0], 0.0, 1e-11);
    CHECK(s.sim->system->load_factor == 1.0);

    // Short of the end: all at once is too much, halves and what grows from them do.
    double once[MOST] = { 0 }, ten[MOST] = { 0 };
    options = (pcs_statics_options){ .steps = 1, .time = 0.39 };
    CHECK_OK(s.ctx, pcs_statics_solve(s.sim, &options, once, NULL, NULL, &statics));
    CHECK(statics.nhalved > 0 && statics.nhalved < 5 && statics.step < 5);
    options.steps = 10;
    CHECK_OK(s.ctx, pcs_statics_solve(s.sim, &options, ten, NULL, NULL, &statics));
    CHECK(statics.nhalved == 0);
    CHECK_NEAR(still_probe(&s, "tip.y", ten), still_probe(&s, "tip.y", once), 1e-11);
    still_close(&s);
}

static void models_that_can_move_are_refused_by_name(void **state)
{
    (void)state;
    const struct {
        const char *set, *message;
    } table[] = {
        { "supports={}", "free to move: translation along x; translation along y; rotation about z" },
        { "supports.clamp.fix=[x, y]", "free to move: rotation about z through (0, 0, 0)" },
        { "supports={}; joints.a={type: hinge, node: beam.start}", "rotation about z through (0, 0, 0)" },
    };
    for (int i = 0; i < 3; i++) {
        double q[MOST] = { 0 };
        pcs_statics statics;
        pcs_statics_options options = { 0 };
        still s = still_open(cantilever, table[i].set);
        CHECK_STATUS(s.ctx, pcs_statics_solve(s.sim, &options, q, NULL, NULL, &statics), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(s.ctx), table[i].message);
        CHECK(s.sim->system->load_factor == 1.0);
        still_close(&s);
    }
    double q[MOST] = { 0 };
    pcs_statics statics;
    pcs_statics_options options = { 0 };
    still s = still_open("mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 2 } }\n"
                         "elements: { bar: { type: rod_2d, mesh: bar, E: 1.0, rho: 1.0, area: 1.0 } }\n"
                         "supports: { a: { set: bar.start, fix: [x, y] }, b: { set: bar.end, fix: [x, y] } }\n"
                         "loads: { g: { type: gravity, g: [0, -1.0, 0] } }\n",
                         NULL);
    CHECK_STATUS(s.ctx, pcs_statics_solve(s.sim, &options, q, NULL, NULL, &statics), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(s.ctx), "stiffness matrix is singular at node 1 at (0.5, 0, 0), direction [0, 1, 0]");
    still_close(&s);
}

// E I = 1e-4: P L^2 / (E I) = 10. Slender, so that shear and stretch do not matter.
static const char elastica[] =
    "elements.beam={type: beam_exact_2d, mesh: beam, E: 1.2e9, nu: 0.0, rho: 1000.0, section: " SQUARE(
        "1.0e-3") "}; "
                  "loads.tip.value=[0, 1.0e-3, 0]; mesh.beam.elements=";

static void the_elastica_has_its_digits_and_order(void **state)
{
    (void)state;
    const double digits[] = { 0.450928, 0.445400, 0.445029 };
    double error[3];
    for (int k = 0; k < 3; k++) {
        char text[512];
        double q[MOST] = { 0 };
        snprintf(text, sizeof text, "%s%d", elastica, 4 << (2 * k));
        still s = still_open(cantilever, text);
        pcs_statics statics = still_statics(&s, 0, q);
        CHECK_NEAR(still_probe(&s, "tip.x", q), digits[k], 6e-7);
        error[k] = hypot(still_probe(&s, "tip.x", q) - 0.4450044, still_probe(&s, "tip.y", q) - 0.8106090);
        CHECK(statics.nhalved == 0 && statics.correction < 1e-7);
        still_close(&s);
    }
    CHECK_NEAR(log2(error[0] / error[1]) / 2.0, 2.0, 0.15);
    CHECK_NEAR(log2(error[1] / error[2]) / 2.0, 2.0, 0.15);
}

// The answer depends neither on the number of load steps nor on who solves.
static void load_steps_do_not_matter(void **state)
{
    (void)state;
    const char *const linear[] = { "auto", "umfpack", "dense" };
    double first = 0.0;
    for (int k = 0; k < 3; k++) {
        char text[512];
        double q[MOST] = { 0 };
        snprintf(text, sizeof text, "solver.linear=%s; %s16", linear[k], elastica);
        still s = still_open(cantilever, text);
        still_statics(&s, k == 0 ? 1 : 7 * k, q);
        if (k == 0) first = still_probe(&s, "tip.x", q);
        CHECK_RELATIVE(still_probe(&s, "tip.x", q), first, 1e-9);
        still_close(&s);
    }
}

// Newton's iteration is quadratic: the digits of the last corrections double.
typedef struct history {
    int count;
    double correction[64];
} history;

static pcs_status watch_steps(void *user, const pcs_statics *now)
{
    history *h = user;
    h->correction[h->count++] = now->iterations;
    return PCS_OK;
}

static void a_short_way_takes_few_iterations(void **state)
{
    (void)state;
    double q[MOST] = { 0 };
    history h = { 0 };
    pcs_statics statics;
    pcs_statics_options options = { .steps = 40 };
    still s = still_open(cantilever,
                         "mesh.beam.elements=10; loads.tip.value=[0, 2.0e6, 0]; elements.beam={type: "
                         "beam_exact_2d, mesh: beam, E: 2.1e11, nu: 0.3, rho: 7800.0, section: " SQUARE("0.1") "}");
    CHECK_OK(s.ctx, pcs_statics_solve(s.sim, &options, q, watch_steps, &h, &statics));
    CHECK(h.count == 41 && statics.step == 40 && statics.nhalved == 0);
    for (int k = 1; k < h.count; k++) CHECK(h.correction[k] <= 5);
    still_close(&s);
}

// A tip that is turned by 2 pi bends the beam to a circle, which closes exactly; the moment is 2 pi E I / L.
static void a_beam_rolls_up_to_a_circle(void **state)
{
    (void)state;
    const int elements[] = { 4, 10, 20 };
    for (int k = 0; k < 3; k++) {
        char text[768];
        double q[MOST] = { 0 };
        snprintf(
            text, sizeof text,
            "mesh.beam.elements=%d; loads={}; joints.turn={type: prescribed, node: beam.end, along: rz, table: [[0.0, "
            "0.0], [1.0, 6.283185307179586]]}; elements.beam={type: beam_exact_2d, mesh: beam, E: 2.1e11, nu: 0.3, "
            "rho: 7800.0, section: " SQUARE("0.01") "}",
            elements[k]);
        still s = still_open(cantilever, text);
        pcs_statics statics;
        pcs_statics_options options = { .steps = 8, .time = 1.0 };
        CHECK_OK(s.ctx, pcs_statics_solve(s.sim, &options, q, NULL, NULL, &statics));
        CHECK_NEAR(still_probe(&s, "tip.x", q), 0.0, 2e-14);
        CHECK_NEAR(still_probe(&s, "tip.y", q), 0.0, 2e-14);
        CHECK_RELATIVE(fabs(statics.force[s.sim->system->nrow - 1]), 2.0 * PI * modulus * 1e-8 / 12.0, 1e-11);
        still_close(&s);
    }
}

// The same by a moment, in the plane and in space: M = 2 pi E I / L closes the polygon, half of it makes half a circle.
static void a_moment_rolls_a_beam_up(void **state)
{
    (void)state;
    const int elements[] = { 4, 10, 20 };
    const char *const kinds[] = {
        "elements.beam.type=beam_exact_2d",
        "elements.beam.type=beam_exact_3d; elements.beam.orientation=[0, 1, 0]; supports.clamp.fix=[x, y, z, rx, ry, "
        "rz]",
    };
    for (int k = 0; k < 6; k++) {
        char text[512];
        int n = elements[k / 2];
        double q[MOST] = { 0 }, half[MOST] = { 0 }, moment = 2.0 * PI * modulus * 1e-8 / 12.0;
        snprintf(text, sizeof text,
                 "%s; mesh.beam.elements=%d; loads={tip: {type: moment, node: beam.end, value: [0, 0, "
                 "%.17g]}}",
                 kinds[k % 2], n, moment);
        still s = still_open(cantilever, text);
        still_statics(&s, 8, q);
        CHECK_NEAR(still_probe(&s, "tip.x", q), 0.0, 5e-15);
        CHECK_NEAR(still_probe(&s, "tip.y", q), 0.0, 5e-15);
        still_close(&s);
        snprintf(text, sizeof text,
                 "%s; mesh.beam.elements=%d; loads={tip: {type: moment, node: beam.end, value: [0, 0, "
                 "%.17g]}}",
                 kinds[k % 2], n, 0.5 * moment);
        s = still_open(cantilever, text);
        still_statics(&s, 8, half);
        CHECK_RELATIVE(still_probe(&s, "tip.y", half), 1.0 / (n * sin(PI / (2.0 * n))), 1e-12);
        CHECK_NEAR(still_probe(&s, "tip.x", half), 0.0, 1e-12);
        still_close(&s);
    }
}

// Bathe and Bolourchi's bend, eight elements.
static void the_45_degree_bend_has_its_digits(void **state)
{
    (void)state;
    static const char bend[] =
        "mesh: { arc: { type: arc, centre: [0, 100.0, 0], start: [0, 0, 0], angle: 45.0, elements: 8 } }\n"
        "elements: { arc: { type: beam_exact_3d, mesh: arc, E: 1.0e7, nu: 0.0, rho: 1.0, orientation: [0, 0, 1], "
        "curvature: "
        "[0, 0, 0.01], section: { type: given, area: 1.0, Iy: 0.08333333333333333, Iz: 0.08333333333333333, torsion: "
        "0.16666666666666666, ky: 1.0, kz: 1.0, cy: 0.5, cz: 0.5 } } }\n"
        "supports: { clamp: { set: arc.start, fix: [x, y, z, rx, ry, rz] } }\n"
        "loads: { tip: { type: force, node: arc.end, value: [0, 0, 600.0] } }\n"
        "output: { probes: { tip: { node: arc.end, of: [x, y, z] } } }\n";
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

// Two rods form a flat roof, rise b over half span 1. Vertical force at the ridge y: P(y) with a maximum on the way
// down.
static double roof_force(double y, double b)
{
    double length = sqrt(1.0 + b * b), now = sqrt(1.0 + y * y);
    return 2.0 * 1000.0 * (length - now) / length * y / now;
}

static const char roof[] =
    "mesh: { roof: { type: line, from: [-1, 0, 0], to: [0, 0.2, 0], elements: 1 }, other: { type: line, "
    "from: [0, 0.2, 0], to: [1, 0, 0], elements: 1 } }\n"
    "merge: { ridge: { sets: [roof.end, other.start] } }\n"
    "elements: { roof: { type: rod_large_2d, mesh: roof, E: 1000.0, rho: 1.0, area: 1.0 }, other: { "
    "type: rod_large_2d, mesh: other, E: 1000.0, rho: 1.0, area: 1.0 } }\n"
    "supports: { a: { set: roof.start, fix: [x, y] }, b: { set: other.end, fix: [x, y] } }\n"
    "loads: { ridge: { type: force, node: roof.end, value: [0, -1.0, 0] } }\n"
    "output: { probes: { ridge: { node: roof.end, of: [x, y] } } }\n";

static void a_roof_carries_what_it_can(void **state)
{
    (void)state;
    double limit = 0.0, q[MOST] = { 0 }, down[MOST] = { 0 };
    for (int k = 0; k <= 100000; k++) limit = fmax(limit, roof_force(0.2 * k / 100000.0, 0.2));
    char text[128];
    snprintf(text, sizeof text, "loads.ridge.value=[0, %.17g, 0]", -0.98 * limit);
    still s = still_open(roof, text);
    still_statics(&s, 0, q);
    double y = still_probe(&s, "ridge.y", q);
    CHECK(y > 0.1 && y < 0.2);
    CHECK_RELATIVE(roof_force(y, 0.2), 0.98 * limit, 1e-10);
    CHECK_NEAR(still_probe(&s, "ridge.x", q), 0.0, 1e-13);
    still_close(&s);

    // Beyond the limit it either snaps through to an equilibrium below, or says how far it came.
    pcs_statics statics;
    pcs_statics_options options = { .steps = 40 };
    snprintf(text, sizeof text, "loads.ridge.value=[0, %.17g, 0]", -1.1 * limit);
    still t = still_open(roof, text);
    pcs_status status = pcs_statics_solve(t.sim, &options, down, NULL, NULL, &statics);
    y = still_probe(&t, "ridge.y", down);
    CHECK_RELATIVE(roof_force(y, 0.2), statics.factor * 1.1 * limit, 1e-9);
    if (status == PCS_OK) {
        CHECK(y < -0.2 && statics.factor == 1.0);
    } else {
        CHECK(status == PCS_FAILED && statics.factor > 0.87 && statics.factor <= 1.0 / 1.1);
        CHECK_TEXT(pcs_message(t.ctx), "no equilibrium at load factor 0.9");
    }
    still_close(&t);
}

// Simply supported and pulled: w^2 = (E I k^4 + T k^2) / (rho A), k = pi / L; compressed beyond E I k^2 it buckles.
static void modes_know_the_loads_of_their_state(void **state)
{
    (void)state;
    const double EI = modulus * 1e-8 / 12.0, critical = EI * PI * PI;
    const double pull[] = { 0.0, 2.0 * critical, -0.5 * critical, -1.5 * critical };
    for (int i = 0; i < 4; i++) {
        char text[768];
        double q[MOST] = { 0 };
        snprintf(
            text, sizeof text,
            "mesh.beam.elements=64; loads.tip.value=[%.17g, 0, 0]; supports={a: {set: beam.start, fix: [x, y]}, b: "
            "{set: beam.end, fix: [y]}}; elements.beam={type: beam_exact_2d, mesh: beam, E: 2.1e11, nu: 0.3, rho: "
            "7800.0, section: " SQUARE("0.01") "}",
            pull[i]);
        still s = still_open(cantilever, text);
        pcs_statics statics = still_statics(&s, 0, q);
        pcs_modes modes;
        pcs_modes_options options = { .count = 2, .q = q, .held = statics.held };
        CHECK_OK(s.ctx, pcs_modes_find(s.sim, &options, &modes));
        double square = (EI * pow(PI, 4) + pull[i] * PI * PI) / 0.78;
        CHECK(modes.modes[0].kind == (square > 0.0 ? PCS_MODE_VIBRATION : PCS_MODE_UNSTABLE));
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
static void forces_of_joints_are_stiff(void **state)
{
    (void)state;
    double q[MOST] = { 0 }, aside[MOST] = { 0 };
    still s = still_open(hanging, NULL);
    pcs_statics statics = still_statics(&s, 1, q);
    CHECK_RELATIVE(fabs(statics.force[0]), 20.0, 1e-12);
    pcs_modes modes;
    pcs_modes_options options = { .count = 1, .q = q, .held = statics.held, .force = statics.force };
    CHECK_OK(s.ctx, pcs_modes_find(s.sim, &options, &modes));
    CHECK_RELATIVE(modes.modes[0].w, sqrt(3.0 / 2.0 + 10.0 / 0.5), 1e-9);
    still_close(&s);

    s = still_open(hanging, "loads.aside={type: force, node: mass, value: [25.0, 0, 0]}");
    statics = still_statics(&s, 10, aside);
    double x = still_probe(&s, "mass.x", aside), y = still_probe(&s, "mass.y", aside);
    CHECK_NEAR((25.0 - 3.0 * x) * -y, 20.0 * x, 1e-10);
    CHECK_NEAR(hypot(x, y), 0.5, 1e-12);
    CHECK(x > 0.2 && statics.nhalved < 5 && statics.total < 150);
    still_close(&s);
}

static void a_run_that_starts_in_equilibrium_stays_there(void **state)
{
    (void)state;
    const char *const schemes[] = { "{type: moreau_jean, theta: 0.5}", "{type: alpha_ggl, rho_inf: 0.8}",
                                    "{type: alpha_velocity, rho_inf: 0.8}" };
    for (int k = 0; k < 3; k++) {
        pcs_context *ctx = NULL;
        pcs_case *c = NULL;
        pcs_sim *sim = NULL;
        char text[256];
        CHECK_OK(NULL, pcs_context_create(&ctx));
        CHECK_OK(ctx, pcs_case_parse(ctx, "start", cantilever, strlen(cantilever), &c));
        snprintf(text, sizeof text, "scheme=%s", schemes[k]);
        CHECK_OK(ctx, pcs_case_set(c, text));
        CHECK_OK(ctx, pcs_case_set(c, "mesh.beam.elements=4"));
        CHECK_OK(ctx, pcs_case_set(c, "start=statics"));
        CHECK_OK(ctx, pcs_case_set(c, "loads.g={type: gravity, g: [0, -9.81, 0]}"));
        CHECK_OK(ctx,
                 pcs_case_set(c, "contacts.stop={type: node_plane, nodes: beam.end, point: [0, -0.002, 0], normal: "
                                 "[0, 1, 0], restitution: 0.0}"));
        CHECK_OK(ctx, pcs_case_set(c, "time={step: 1.0e-4, end: 0.02}"));
        CHECK_OK(ctx, pcs_build_sim(ctx, c, &sim));
        CHECK_OK(ctx, pcs_sim_start(sim));
        double strain = sim->ledger.now.strain, force = 0.0;
        CHECK(strain > 0.0);
        while (!pcs_sim_is_done(sim)) {
            CHECK_OK(ctx, pcs_sim_step(sim));
            CHECK(sim->ledger.now.kinetic < 1e-20 * strain);
            if (force == 0.0) force = sim->report.rows[0].force;
            CHECK_RELATIVE(sim->report.rows[0].force, force, 1e-9);
        }
        CHECK_RELATIVE(sim->ledger.now.strain, strain, 1e-10);
        pcs_context_destroy(&ctx);
    }
}

static void statics_are_written(void **state)
{
    (void)state;
    const char *folder = TESTS_OUTPUT_FOLDER "/statics";
    pcs_statics statics;
    pcs_statics_options options = { .steps = 2 };
    still s =
        still_open(cantilever, "contacts.stop={type: node_plane, nodes: beam.end, point: [0, -0.002, 0], normal: [0, "
                               "1, 0], restitution: 0.0}; loads.g={type: gravity, g: [0, -10.0, 0]}");
    CHECK_OK(s.ctx, pcs_statics_run(s.sim, &options, folder, &statics));
    char path[1024], text[4096];
    snprintf(path, sizeof path, "%s/statics.csv", folder);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    CHECK_TEXT(text,
               "step,factor,iterations,residual,correction,strain,potential,stop.gap,stop.force,clamp.fx,clamp.fy,"
               "clamp.mz,tip.x,tip.y,tip.z,tip.ux,tip.uy,tip.uz\n0,0,0,0,,0,0,0.002,0,");
    const char *const lines[] = { "\n1,0.5,", "\n2,1," };
    double factor, gap, force, fy, mz, weight = 7.8;
    for (int k = 0; k < 2; k++) {
        const char *line = strstr(text, lines[k]);
        CHECK(line != NULL &&
              sscanf(line, "\n%*d,%lf,%*d,%*f,,%*f,%*f,%lf,%lf,%*f,%lf,%lf", &factor, &gap, &force, &fy, &mz) == 5);
        CHECK_RELATIVE(fy, factor * (10.0 + weight) - force, 1e-10);
        CHECK_RELATIVE(mz, factor * (10.0 + 0.5 * weight) - force, 1e-10);
    }
    CHECK_RELATIVE(force, statics.force[0], 1e-14);
    snprintf(path, sizeof path, "%s/case_statics_000002.vtk", folder);
    file = fopen(path, "r");
    CHECK(file != NULL);
    fclose(file);
    still_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_element_bends_exactly_from_stocky_to_slender),
        cmocka_unit_test(weight_bends_a_beam_between_joints),
        cmocka_unit_test(a_stop_takes_what_the_beam_does_not),
        cmocka_unit_test(many_stops_obey_their_conditions),
        cmocka_unit_test(a_free_bar_comes_to_rest_on_the_floor),
        cmocka_unit_test(a_free_beam_comes_to_lie_on_the_floor),
        cmocka_unit_test(a_way_that_ends_is_followed_to_its_end),
        cmocka_unit_test(models_that_can_move_are_refused_by_name),
        cmocka_unit_test(the_elastica_has_its_digits_and_order),
        cmocka_unit_test(load_steps_do_not_matter),
        cmocka_unit_test(a_short_way_takes_few_iterations),
        cmocka_unit_test(a_beam_rolls_up_to_a_circle),
        cmocka_unit_test(a_moment_rolls_a_beam_up),
        cmocka_unit_test(the_45_degree_bend_has_its_digits),
        cmocka_unit_test(a_roof_carries_what_it_can),
        cmocka_unit_test(modes_know_the_loads_of_their_state),
        cmocka_unit_test(forces_of_joints_are_stiff),
        cmocka_unit_test(a_run_that_starts_in_equilibrium_stays_there),
        cmocka_unit_test(statics_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
