// Friction and impacts of flexible bodies: a beam dragged over edges sticks without creep and slides with mu N, crossed
// beams rebound with their momentum kept, points slide in and on circles as closed forms say. Certificates are on.

#include "support/check.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double gravity = 9.81, mass = 7800.0 * 3.14159265358979323846 * 1e-4;

// A round beam of 1 m over two held edges, 0.6 m apart, pulled along.
static const char over_edges[] =
    "mesh:\n"
    "  beam: { type: line, from: [-0.5, 0, 0], to: [0.5, 0, 0], elements: 7 }\n"
    "  near: { type: line, from: [-0.3, -0.1, -0.0125], to: [-0.3, 0.1, -0.0125], elements: 1 }\n"
    "  far: { type: line, from: [0.3, -0.1, -0.0125], to: [0.3, 0.1, -0.0125], elements: 1 }\n"
    "elements:\n"
    "  near: { type: rod_3d, mesh: near, E: 1.0e+10, rho: 7800.0, area: 1.0e-4 }\n"
    "  far: { type: rod_3d, mesh: far, E: 1.0e+10, rho: 7800.0, area: 1.0e-4 }\n"
    "  beam: { mesh: beam, E: 2.1e+10, nu: 0.3, rho: 7800.0, orientation: [0, 0, 1],\n"
    "          section: { type: circle, diameter: 0.02 }, damping: { mass: 20.0, stiffness: 1.0e-3 }, type: ";
static const char edge_rest[] =
    " }\n"
    "supports: { near: { set: near, fix: [x, y, z] }, far: { set: far, fix: [x, y, z] } }\n"
    "contacts:\n"
    "  near: { type: beam_beam, a: near, b: beam, radius: 0.0025, other_radius: 0.01, restitution: 0.0,\n"
    "          friction: 0.3, most: 2 }\n"
    "  far: { type: beam_beam, a: far, b: beam, radius: 0.0025, other_radius: 0.01, restitution: 0.0,\n"
    "         friction: 0.3, most: 2 }\n"
    "loads: { weight: { type: gravity, g: [0, 0, -9.81] }, drag: { type: force, node: beam.end, value: ";

static text_case drag(const char *element, const char *scheme, const char *force)
{
    return text_case_open(over_edges, element, edge_rest, force, " } }\nscheme: { ", scheme,
                          " }\ntime: { step: 5.0e-4, end: 1.0 }\n", NULL);
}

static const char *const beams[] = { "beam_exact_3d", "beam_timo_3d" };
static const char *const schemes[] = { "type: alpha_ggl, rho_inf: 0.8", "type: moreau_jean, theta: 1.0" };

// Force of a row on the beam in the last step.
static void add_push(const text_case *c, int row, double sum[3])
{
    const pcs_system *system = c->sim->system;
    const pcs_row_report *r = &c->sim->report.rows[row];
    double along[3];
    pcs_row_resultant(system, system->G, row, along);
    for (int k = 0; k < 3; k++) sum[k] += r->step_impulse * along[k] / c->sim->step_size;
    for (int t = 0; t < system->rows[row].ntangent; t++) {
        pcs_row_resultant(system, system->T, system->rows[row].first_tangent + t, along);
        for (int k = 0; k < 3; k++) sum[k] += r->tangent[t] * along[k] / c->sim->step_size;
    }
}

// 5 N are less than mu m g = 7.2 N. Once its vibrations have died out the beam stands still to round-off.
TEST(dragged_beam_sticks_without_creep)
{
    for (int e = 0; e < 2; e++) {
        int k = e;
        double start[3], end[3], v[3], reference[3], push[3] = { 0 };
        text_case c = drag(beams[e], schemes[k], "[5.0, 0, 0]");
        while (c.sim->state.step < 1000) text_case_step(&c);
        text_case_node(&c, "beam.end", start, v, reference);
        for (int i = 0; i < 300; i++) text_case_step(&c);
        text_case_node(&c, "beam.end", end, v, reference);
        CHECK_ALL_NEAR(3, end, start, 1e-12);
        CHECK(start[0] > 0.5 && start[0] < 0.5001); // it was pulled out a little, by its own stretch
        const pcs_row_report *rows = c.sim->report.rows;
        for (int j = 0; j < c.sim->system->nrow; j++) {
            CHECK(hypot(rows[j].tangent[0], rows[j].tangent[1]) <= 0.3 * rows[j].step_impulse * (1.0 + 1e-12));
            add_push(&c, j, push);
        }
        CHECK_ALL_NEAR(3, push, ((double[]){ -5.0, 0.0, mass * gravity }), 1e-8);
        text_case_close(&c);
    }
}

// 10 N pull it along: friction is mu N in every step, against the motion, and the weight is carried.
TEST(dragged_beam_slides_with_its_friction)
{
    for (int e = 0; e < 2; e++) {
        int k = 1 - e;
        double x[3], v[3], reference[3], normal = 0.0;
        text_case c = drag(beams[e], schemes[k], "[10.0, 0, 0]");
        long nslide = 0;
        while (c.sim->state.step < 600) {
            text_case_step(&c);
            const pcs_row_report *rows = c.sim->report.rows;
            for (int j = 0; j < c.sim->system->nrow && c.sim->state.step > 50; j++) {
                if (rows[j].step_impulse == 0.0) continue;
                double size = hypot(rows[j].tangent[0], rows[j].tangent[1]);
                CHECK_NEAR(size, 0.3 * rows[j].step_impulse, 1e-11 * rows[j].step_impulse);
                nslide++;
                if (c.sim->state.step > 500) normal += rows[j].step_impulse;
            }
        }
        CHECK(nslide >= 2 * 549); // a gate foreseen may miss a step
        CHECK_NEAR(normal / (100 * c.sim->step_size), mass * gravity, 1e-3 * mass * gravity);
        // The end of it: the pull against friction and the damping by mass, 20/s.
        text_case_node(&c, "beam.end", x, v, reference);
        double speed = (10.0 - 0.3 * mass * gravity) / (20.0 * mass);
        CHECK_NEAR(v[0], speed * (1.0 - exp(-20.0 * 0.3)), 0.01 * speed);
        text_case_close(&c);
    }
}

static const char crossed[] = "mesh:\n"
                              "  low: { type: line, from: [-0.5, 0, 0], to: [0.5, 0, 0], elements: 9 }\n"
                              "  high: { type: line, from: [0.1, -0.4, 0.0213], to: [0.1, 0.6, 0.0213], elements: 8 }\n"
                              "initial: [ { set: high, velocity: [0.5, 0.3, -1.0] } ]\n"
                              "elements:\n"
                              "  low: { mesh: low, E: 2.1e+9, nu: 0.3, rho: 7800.0, orientation: [0, 0, 1],\n"
                              "         section: { type: circle, diameter: 0.02 }, type: ";
static const char crossed_high[] = " }\n"
                                   "  high: { mesh: high, E: 2.1e+9, nu: 0.3, rho: 7800.0, orientation: [0, 0, 1],\n"
                                   "          section: { type: circle, diameter: 0.02 }, type: ";
static const char crossed_touch[] =
    " }\ncontacts: { touch: { type: beam_beam, a: low, b: high, radius: 0.01, most: 4, ";

// Forces between the beams are all there are: what one gets the other loses.
TEST(crossed_beams_keep_their_momentum)
{
    const char *const choices[] = { "type: alpha_ggl, rho_inf: 0.8 }\ntime: { step: 1.0e-4, end: 0.03 }\n",
                                    "type: moreau_jean, theta: 0.5 }\ntime: { step: 1.0e-4, end: 0.03 }\n",
                                    "type: half_explicit }\ntime: { step: auto, end: 0.01 }\n" };
    const char *const laws[] = { "restitution: 0.0 } }\nscheme: { ", "restitution: 0.8, friction: 0.3 } }\nscheme: { ",
                                 "restitution: 0.5, friction: 0.3, tangent_restitution: 0.5 } }\nscheme: { " };
    for (int e = 0; e < 2; e++)
        for (int k = 0; k < 3; k++)
            for (int law = (e + k) % 2; law < 3; law += 2) {
                text_case c = text_case_open(crossed, beams[e], crossed_high, beams[e], crossed_touch, laws[law],
                                             choices[k], NULL);
                double pushed = 0.0, before[3], size = 0.0, energy;
                CHECK_OK(c.ctx, pcs_sim_start(c.sim));
                memcpy(before, c.sim->ledger.now.momentum, sizeof before);
                energy = c.sim->ledger.initial;
                for (int i = 0; i < 3; i++) size = fmax(size, fabs(before[i]));
                while (!pcs_sim_is_done(c.sim)) {
                    text_case_step(&c);
                    for (int j = 0; j < 4; j++) pushed += c.sim->report.rows[j].step_impulse;
                }
                CHECK_ALL_NEAR(3, c.sim->ledger.now.momentum, before, 1e-13 * size);
                CHECK(pushed > 0.1 * size);
                const pcs_measure *now = &c.sim->ledger.now;
                CHECK(now->kinetic + now->strain <= energy * (1.0 + 1e-4));
                text_case_close(&c);
            }
}

static const char ball[] = "mesh: { ball: { type: point, at: [0, -0.9, 0] } }\n"
                           "elements: { ball: { type: point_mass, mesh: ball, mass: 2.0 } }\n"
                           "supports: { plane: { set: ball, fix: [z] } }\n"
                           "initial: [ { set: ball, velocity: [3.0, 0, 0] } ]\n"
                           "contacts: { ring: { type: node_circle, nodes: ball, centre: [0, 0, 0], radius: 1.0,\n"
                           "                    node_radius: 0.1, side: inside, restitution: 0.0, friction: ";

// Friction inside a ring, no weight: v' = -mu v^2/rho, so v = v0/(1 + mu v0 t/rho), angle = log(1 + mu v0 t/rho)/mu.
static double ring_error(const char *friction, double mu, const char *scheme, const char *step)
{
    double x[3], v[3], reference[3];
    text_case c =
        text_case_open(ball, friction, " } }\nscheme: { ", scheme, " }\ntime: { end: 2.0, step: ", step, " }\n", NULL);
    text_case_run(&c);
    text_case_node(&c, "ball", x, v, reference);
    double path = 1.0 + mu * 3.0 * 2.0 / 0.9, angle = mu > 0.0 ? log(path) / mu : 3.0 * 2.0 / 0.9, speed = 3.0 / path;
    double error = hypot(x[0] - 0.9 * sin(angle), x[1] + 0.9 * cos(angle));
    error = fmax(error, fabs(hypot(v[0], v[1]) - speed));
    text_case_close(&c);
    return error;
}

// Forces of contacts are of first order in the implicit schemes, of second in the half-explicit one.
TEST(ball_slides_round_a_ring)
{
    const char *const choices[] = { "type: alpha_ggl, rho_inf: 0.8", "type: moreau_jean, theta: 0.5",
                                    "type: half_explicit" };
    for (int k = 0; k < 3; k++)
        for (int has_friction = 0; has_friction < 2; has_friction++) {
            double coarse = ring_error(has_friction ? "0.2" : "0.0", has_friction ? 0.2 : 0.0, choices[k], "2.0e-3");
            double fine = ring_error(has_friction ? "0.2" : "0.0", has_friction ? 0.2 : 0.0, choices[k], "1.0e-3");
            CHECK(coarse < (k == 2 ? 5e-5 : 0.07) && fine < (k == 2 ? 0.26 : 0.51) * coarse);
        }
}

// The same in a ring, without weight: what it takes to roll does not depend on the force.
TEST(ball_in_a_ring_ends_up_rolling)
{
    const char *const choices[] = { "type: alpha_ggl, rho_inf: 0.8", "type: moreau_jean, theta: 0.5",
                                    "type: half_explicit" };
    for (int k = 0; k < 3; k++) {
        double x[3], v[3], reference[3];
        text_case c =
            text_case_open("mesh: { ball: { type: point, at: [0, -0.875, 0] } }\n"
                           "elements: { ball: { mesh: ball, type: rigid_body_2d, mass: 2.0, inertia: 0.01 } }\n"
                           "initial: [ { set: ball, velocity: [3.0, 0, 0] } ]\n"
                           "contacts: { ring: { type: node_circle, nodes: ball, centre: [0, 0, 0], radius: 1.0,\n"
                           "  node_radius: 0.125, side: inside, restitution: 0.0, friction: 0.3 } }\nscheme: { ",
                           choices[k], " }\ntime: { step: 5.0e-4, end: 1.0 }\n", NULL);
        text_case_run(&c);
        text_case_node(&c, "ball", x, v, reference);
        double rolling = 3.0 / (1.0 + 0.01 / (2.0 * 0.125 * 0.125));
        CHECK_NEAR(hypot(v[0], v[1]), rolling, 0.005 * rolling);
        CHECK_NEAR(c.sim->state.v[2], -rolling / 0.125, 0.005 * rolling / 0.125);
        text_case_close(&c);
    }
}

// A point strikes a free beam, which bends, and slides over its nodes and off its end; the beam has no thickness there.
TEST(point_slides_along_a_beam)
{
    const char *const laws[] = { "restitution: 0.0", "restitution: 0.3, friction: 0.2" };
    const char *const choices[] = { "type: alpha_ggl, rho_inf: 0.8", "type: moreau_jean, theta: 0.5" };
    for (int k = 0; k < 4; k++) {
        text_case c = text_case_open(
            "mesh:\n"
            "  beam: { type: line, from: [-0.5, 0, 0], to: [0.5, 0, 0], elements: 10 }\n"
            "  ball: { type: point, at: [-0.22, 0.0117, 0] }\n"
            "elements:\n"
            "  beam: { type: beam_exact_2d, mesh: beam, E: 2.0e+9, nu: 0.3, rho: 2000.0,\n"
            "          section: { type: rectangle, width: 0.01, height: 0.01 } }\n"
            "  ball: { type: rigid_body_2d, mesh: ball, mass: 0.5, inertia: 1.0e-5 }\n"
            "initial: [ { set: ball, velocity: [4.0, -1.0, 0] } ]\n"
            "time: { end: 0.25, step: 2.0e-4 }\n"
            "contacts: { touch: { type: node_segment, nodes: ball, segments: beam, side: left, node_radius: 0.005, ",
            laws[k / 2], " } }\nscheme: { ", choices[k % 2], " }\n", NULL);
        double before[3], x[3], v[3], reference[3], pushed = 0.0;
        CHECK_OK(c.ctx, pcs_sim_start(c.sim));
        memcpy(before, c.sim->ledger.now.momentum, sizeof before);
        while (!pcs_sim_is_done(c.sim)) {
            text_case_step(&c);
            pushed += c.sim->report.rows[0].step_impulse;
        }
        CHECK_ALL_NEAR(3, c.sim->ledger.now.momentum, before, 1e-12);
        CHECK(pushed > 0.05);
        text_case_node(&c, "ball", x, v, reference);
        CHECK(x[0] > 0.1); // over three nodes at least
        text_case_close(&c);
    }
}

// A bar held across its axis strikes a rough wall: nothing slides or could, so there is no friction.
TEST(nothing_rubs_where_supports_hold)
{
    const char *const solvers[] = { "newton", "schur" };
    const char *const rules[] = { "type: alpha_ggl, rho_inf: 0.8", "type: moreau_jean, theta: 0.5",
                                  "type: half_explicit", "type: ggl_midpoint, metric: mass" };
    for (int i = 0; i < 8; i++) {
        text_case c = text_case_open(
            "mesh: { bar: { type: line, from: [0.01, 0, 0], to: [1.01, 0, 0], elements: 5 } }\n"
            "elements: { bar: { type: rod_3d, mesh: bar, E: 900.0, rho: 1.0, area: 1.0 } }\n"
            "supports: { across: { set: bar, fix: [y, z] } }\n"
            "initial: [ { set: bar, velocity: [-10.0, 0, 0] } ]\n"
            "contacts: { wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0],\n"
            "                    restitution: 0.0, friction: 0.3 } }\n"
            "time: { step: 1.0e-4, end: 2.0e-3 }\nsolver: { type: ",
            solvers[i % 2], " }\nscheme: { ", rules[i / 2], " }\n", NULL);
        double impulse = 0.0;
        pcs_sim_start(c.sim);
        while (!pcs_sim_is_done(c.sim)) {
            text_case_step(&c);
            const pcs_row_report *r = &c.sim->report.rows[0];
            impulse += r->step_impulse;
            CHECK_NEAR(hypot(r->tangent[0], r->tangent[1]), 0.0, 1e-15);
        }
        CHECK(impulse > 0.5);
        text_case_close(&c);
    }
}

// A beam swings round and falls onto another: with one place too few the run ends, and says why.
TEST(pairs_without_a_place_end_the_run)
{
    const char parallel[] =
        "mesh:\n"
        "  low: { type: line, from: [-0.5, 0, 0], to: [0.5, 0, 0], elements: 4 }\n"
        "  high: { type: line, from: [-0.45, 0, 0.0213], to: [0.48, 0, 0.0213], elements: 4 }\n"
        "initial: [ { set: high, velocity: [0, 0, -1.0] } ]\n"
        "time: { end: 0.02, step: 1.0e-4 }\n"
        "scheme: { type: alpha_ggl, rho_inf: 0.8 }\n"
        "elements:\n"
        "  low: { type: beam_timo_3d, mesh: low, E: 2.1e+9, nu: 0.3, rho: 7800.0, orientation: [0, 0, 1],\n"
        "         section: { type: circle, diameter: 0.02 } }\n"
        "  high: { type: beam_timo_3d, mesh: high, E: 2.1e+9, nu: 0.3, rho: 7800.0, orientation: [0, 0, 1],\n"
        "          section: { type: circle, diameter: 0.02 } }\n"
        "contacts: { touch: { type: beam_beam, a: low, b: high, radius: 0.01, restitution: 0.0, ";
    const char *const reported[] = { "contact 'touch': cells", "all 1 points of the contact are in use: raise 'most'" };
    text_case c = text_case_open(parallel, "most: 1 } }\n", NULL);
    pcs_status status = pcs_sim_start(c.sim);
    while (status == PCS_OK && !pcs_sim_is_done(c.sim)) status = pcs_sim_step(c.sim);
    CHECK_STATUS(NULL, status, PCS_FAILED);
    for (int i = 0; i < 2; i++) CHECK_TEXT(pcs_message(c.ctx), reported[i]);
    CHECK(c.sim->state.step > 5); // not before they touch
    text_case_close(&c);
    // A reach that one step jumps over.
    c = text_case_open(parallel, "most: 12, reach: 1.0e-5 } }\n", NULL);
    status = pcs_sim_start(c.sim);
    while (status == PCS_OK && !pcs_sim_is_done(c.sim)) status = pcs_sim_step(c.sim);
    CHECK_STATUS(NULL, status, PCS_FAILED);
    CHECK_TEXT(pcs_message(c.ctx), "before they came within the reach of 1e-05 m: take a smaller step");
    text_case_close(&c);
}
