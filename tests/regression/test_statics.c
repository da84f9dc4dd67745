// Equilibria of linear models, contacts and joints against closed forms; models that are free to move; a way that ends.

#include "support/check.h"
#include "support/still.h"

#include "cantilever.h"

#include <math.h>
#include <stdio.h>

// Compliance of the tip of a cantilever of length 1 and square section d.
static double tip_compliance(double d)
{
    return 1.0 / (3.0 * modulus * d * d * d * d / 12.0) + 1.0 / (shear * d * d * 5.0 / 6.0);
}

// In space along a skew axis, with the load square to it.
TEST(one_element_bends_exactly_from_stocky_to_slender)
{
    const char *const d[] = { "0.5", "0.1", "0.01", "1.0e-3", "1.0e-4" };
    const char *const kinds[] = {
        "elements.beam.type=beam_timo_2d",
        "elements.beam.type=beam_timo_3d; elements.beam.orientation=[0, 0, 1]; mesh.beam.to=[0.8, 0.0, 0.6]; "
        "supports.clamp.fix=[x, y, z, rx, ry, rz]",
    };
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++) {
            double q[MOST] = { 0 }, width;
            CHECK(sscanf(d[i], "%lf", &width) == 1);
            still s = still_print(cantilever,
                                  "elements.beam.section={type: rectangle, width: %s, height: %s, shear_factor: "
                                  "0.8333333333333333}; %s",
                                  d[i], d[i], kinds[k]);
            pcs_statics statics = still_statics(&s, 0, q);
            CHECK_RELATIVE(still_probe(&s, "tip.uy", q), -10.0 * tip_compliance(width), 1e-12);
            CHECK_NEAR(still_probe(&s, "tip.ux", q), 0.0, 1e-12 * tip_compliance(width));
            CHECK(statics.step == 1 && statics.residual < 1e-10);
            still_close(&s);
        }
}

// A flat section bends as it should about both axes, along any line: local y is the orientation, square to the beam.
TEST(flat_sections_bend_in_both_planes)
{
    const double choices[3][3] = { { 3.0 / 7.0, -6.0 / 7.0, 2.0 / 7.0 },
                                   { 6.0 / 7.0, 2.0 / 7.0, -3.0 / 7.0 },
                                   { 2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0 } };
    const double w = 0.02, h = 0.05, across = 1.0 / (shear * w * h * 5.0 / 6.0);
    const double wanted[3] = { 4.0 / (modulus * w * h * h * h) + across, 4.0 / (modulus * h * w * w * w) + across,
                               1.0 / (modulus * w * h) };
    for (int k = 0; k < 3; k++) {
        double q[MOST] = { 0 };
        still s = still_print(
            cantilever,
            "elements.beam.type=beam_timo_3d; elements.beam.orientation=[3, -6, 2]; mesh.beam.to=[%.17g, %.17g, "
            "%.17g]; supports.clamp.fix=[x, y, z, rx, ry, rz]; loads.tip.value=[%.17g, %.17g, %.17g]; "
            "elements.beam.section={type: rectangle, width: 0.02, height: 0.05, shear_factor: 0.8333333333333333}",
            choices[2][0], choices[2][1], choices[2][2], choices[k][0], choices[k][1], choices[k][2]);
        still_statics(&s, 0, q);
        double moved = choices[k][0] * still_probe(&s, "tip.ux", q) + choices[k][1] * still_probe(&s, "tip.uy", q) +
                       choices[k][2] * still_probe(&s, "tip.uz", q);
        CHECK_RELATIVE(moved, wanted[k], k < 2 ? 1e-12 : 1e-9);
        still_close(&s);
    }
}

// Midspan of a simply supported beam under its weight: 5 w L^4 / (384 E I) + w L^2 / (8 G A ks), by hinge and roller.
TEST(weight_bends_a_beam_between_joints)
{
    double q[MOST] = { 0 }, w = 7800.0 * 1e-4 * 10.0, EI = modulus * 1e-8 / 12.0, GA = shear * 1e-4 * 5.0 / 6.0;
    still s = still_open(cantilever, "mesh.beam.elements=2; supports={b: {set: beam.end, fix: [y], reactions: true}}; "
                                     "joints.a={type: hinge, node: beam.start}; "
                                     "loads={g: {type: gravity, g: [0, -10.0, 0]}}; "
                                     "output.probes.mid={set: beam, item: 1, of: [uy]}");
    still_statics(&s, 3, q);
    CHECK_RELATIVE(still_probe(&s, "mid.uy", q), -(5.0 * w / (384.0 * EI) + w / (8.0 * GA)), 1e-11);
    still_close(&s);
}

TEST(a_stop_takes_what_the_beam_does_not)
{
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
    pcs_modes_options options = { .count = 1, .q = q, .load_factor = 1.0, .held = statics.held };
    CHECK_OK(s.ctx, pcs_modes_find(&s.on, &options, &modes));
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
TEST(many_stops_obey_their_conditions)
{
    double q[MOST] = { 0 };
    still s =
        still_open(cantilever, "mesh.beam.elements=10; mesh.beam.to=[4, 0, 0]; loads.tip.value=[0, 3.0, 0]; "
                               "loads.g={type: gravity, g: [0, -10.0, 0]}; contacts.stop={type: node_plane, nodes: "
                               "beam.rest, point: [0, -0.01, 0], normal: [0, 1, 0], restitution: 0.0}");
    pcs_statics statics = still_statics(&s, 1, q);
    int closed = 0;
    for (int j = 0; j < s.on.system->nrow; j++) {
        CHECK(statics.gap[j] > -1e-14 && statics.force[j] >= 0.0);
        CHECK(statics.held[j] ? fabs(statics.gap[j]) < 1e-14 : statics.force[j] == 0.0);
        closed += statics.held[j];
    }
    CHECK(closed >= 2 && closed < 10);
    still_close(&s);
}

// Nothing but the floor holds it: it falls there, and shortens by rho g L^2 / (2 E) under its weight.
TEST(a_free_bar_comes_to_rest_on_the_floor)
{
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
    CHECK_STATUS(t.ctx, pcs_statics_solve(&t.on, &options, up, NULL, NULL, &statics), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(t.ctx), "free to move: translation along y");
    CHECK_TEXT(pcs_message(t.ctx), "no contact stops it");
    still_close(&t);
}

// An exact beam above the floor, guided along x at its middle, comes to lie flat: what it touches bears all its weight.
TEST(a_free_beam_comes_to_lie_on_the_floor)
{
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

// The upper one, from 0 to 1, lies on a held one that ends at 0.6: of one cell it is borne at 0 and 0.6 like a lever.
TEST(a_beam_lies_along_another)
{
    const char *const cells[] = { NULL, "mesh.low.elements=4; mesh.high.elements=5" };
    const double weight = 7800.0 * 3.14159265358979323846 * 1e-4 * 10.0;
    for (int i = 0; i < 2; i++) {
        double q[MOST] = { 0 }, sum = 0.0;
        still s = still_open(
            "mesh: { low: { type: line, from: [-0.5, 0, 0], to: [0.6, 0, 0], elements: 1 },\n"
            "        high: { type: line, from: [0, 0, 0.02], to: [1, 0, 0.02], elements: 1 } }\n"
            "elements: { low: { type: rod_3d, mesh: low, E: 2.1e11, rho: 7800.0, area: 1.0e-4 },\n"
            "  high: { type: beam_timo_3d, mesh: high, E: 2.1e11, nu: 0.3, rho: 7800.0, orientation: [0, 0, 1],\n"
            "          section: { type: circle, diameter: 0.02 } } }\n"
            "supports: { low: { set: low, fix: [x, y, z] }, high: { set: high, fix: [y, rx, rz] },\n"
            "            guide: { set: high.start, fix: [x] } }\n"
            "loads: { g: { type: gravity, g: [0, 0, -10.0] } }\n"
            "contacts: { touch: { type: beam_beam, a: low, b: high, radius: 0.01, restitution: 0.0 } }\n",
            cells[i]);
        pcs_statics statics = still_statics(&s, 1, q);
        for (int j = 0; j < s.on.system->nrow; j++) {
            CHECK(statics.gap[j] > -1e-12 && statics.force[j] >= 0.0);
            sum += statics.force[j];
        }
        CHECK_RELATIVE(sum, weight, 1e-11);
        if (i == 0) CHECK_RELATIVE(fmax(statics.force[0], statics.force[1]), 5.0 / 6.0 * weight, 1e-11);
        still_close(&s);
    }
}

// The tip keeps its distance of 1 from the origin and is moved along x from 0.6 on: to 1 it can follow.
TEST(a_way_that_ends_is_followed_to_its_end)
{
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
    CHECK_STATUS(s.ctx, pcs_statics_solve(&s.on, &options, q, NULL, NULL, &statics), PCS_FAILED);
    CHECK_TEXT(pcs_message(s.ctx), "no equilibrium at load factor 0.4");
    CHECK(statics.factor > 0.39 && statics.factor < 0.4 && statics.nhalved > 5 && statics.nhalved < 20);
    double x = still_probe(&s, "tip.x", q), y = still_probe(&s, "tip.y", q);
    CHECK_NEAR(x, 0.6 + statics.factor, 1e-11);
    CHECK_NEAR(hypot(x, y), 1.0, 1e-11);
    CHECK_NEAR(statics.gap[0], 0.0, 1e-11);

    // Short of the end: all at once is too much, halves and what grows from them do.
    double once[MOST] = { 0 }, ten[MOST] = { 0 };
    options = (pcs_statics_options){ .steps = 1, .time = 0.39, .may_be_unstable = true };
    CHECK_OK(s.ctx, pcs_statics_solve(&s.on, &options, once, NULL, NULL, &statics));
    CHECK(statics.nhalved > 0 && statics.nhalved < 5 && statics.step < 5);
    options.steps = 10;
    CHECK_OK(s.ctx, pcs_statics_solve(&s.on, &options, ten, NULL, NULL, &statics));
    CHECK(statics.nhalved == 0);
    CHECK_NEAR(still_probe(&s, "tip.y", ten), still_probe(&s, "tip.y", once), 1e-11);
    still_close(&s);
}

TEST(models_that_can_move_are_refused_by_name)
{
    const struct {
        const char *set, *message;
    } table[] = {
        { "supports={}", "free to move: translation along x; translation along y; rotation about z" },
        { "supports.clamp.fix=[x, y]", "free to move: rotation about z through (0, 0, 0)" },
        { "supports={}; joints.a={type: hinge, node: beam.start}", "rotation about z through (0, 0, 0)" },
        // The stiffness of a load that turns holds nothing.
        { "supports.clamp.fix=[x, y]; elements.beam.type=beam_exact_2d; loads.tip={type: force, node: beam.end, value: "
          "[0, "
          "-10.0, 0], follower: true}",
          "free to move: rotation about z through (0, 0, 0)" },
    };
    for (int i = 0; i < 4; i++) {
        double q[MOST] = { 0 };
        pcs_statics statics;
        pcs_statics_options options = { 0 };
        still s = still_open(cantilever, table[i].set);
        CHECK_STATUS(s.ctx, pcs_statics_solve(&s.on, &options, q, NULL, NULL, &statics), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(s.ctx), table[i].message);
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
    CHECK_STATUS(s.ctx, pcs_statics_solve(&s.on, &options, q, NULL, NULL, &statics), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(s.ctx), "stiffness matrix is singular at node 1 at (0.5, 0, 0), direction [0, 1, 0]");
    still_close(&s);
}
