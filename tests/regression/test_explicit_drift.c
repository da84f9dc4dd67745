// Drift of lasting contacts and joints under the explicit and midpoint schemes, with numbers of an independent
// implementation: bilateral slider-crank, and the ball in a box that comes to rest in a corner. Contacts at a gap of 0.

#include "support/check.h"
#include "support/rigid.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>

static rigid_trace run(const char *name, const char *scheme, double step, double end, long every)
{
    char text[400];
    snprintf(text, sizeof text, "scheme={type: %s};time={step: %.17g, end: %.17g}", scheme, step, end);
    return rigid_run_all(name, text, every);
}

// Gap of the joint from the angles.
static double joint_gap(const rigid_trace *trace, long row)
{
    return 0.153 * sin(trace->q[row * 2]) + 0.306 * sin(trace->q[row * 2 + 1]);
}

// Gaps at 0.5, 1, 1.5, 2 s with steps of 1e-4 s: linear on velocity level, 25 times larger on acceleration level.
TEST(joints_drift)
{
    static const struct {
        const char *scheme;
        double gap[4], energy;
    } known[] = {
        { "half_explicit", { -0.8e-5, -2.0e-5, -2.7e-5, -3.6e-5 }, 7.4935 },
        { "half_explicit_acceleration", { -2.7e-4, -5.1e-4, -7.2e-4, -9.1e-4 }, 7.4925 },
        { "half_explicit_rk, method: hem4", { -1.26e-10, -2.30e-10, -3.67e-10, -4.8e-10 }, 7.4955 },
    };
    for (int i = 0; i < 3; i++) {
        rigid_trace trace = run("slider_crank_bilateral", known[i].scheme, 1e-4, 2.0, 5000);
        CHECK(trace.count == 5);
        for (int k = 0; k < 4; k++) CHECK_RELATIVE(fabs(joint_gap(&trace, k + 1)), -known[i].gap[k], 0.03);
        CHECK_NEAR(trace.energy, known[i].energy, 6e-5);
        rigid_free(&trace);
    }
}

// A driven joint may start 1e-9 of the model's size off its way, and is on it after one step.
TEST(driven_joints_make_a_misfit_good)
{
    static const char *const schemes[] = { "half_explicit", "half_explicit_rk" };
    for (int i = 0; i < 2; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "mesh: { a: { type: point, at: [0, 0, 0] }, b: { type: point, at: [1, 0, 0] } }\n"
            "elements: { a: { type: point_mass, mesh: a, mass: 2 }, b: { type: point_mass, mesh: b, mass: 1 } }\n"
            "joints: { drive: { type: prescribed, node: a, along: x, expression: 8e-10 + 0.01 * (1 - cos(9 * t)) } }\n"
            "scheme: { type: %s }\ntime: { step: 1.0e-3, end: 0.1 }\n",
            schemes[i]);
        text_case c = text_case_open(text, NULL);
        while (!pcs_sim_is_done(c.sim)) {
            text_case_step(&c);
            CHECK_NEAR(c.sim->state.q[0], 8e-10 + 0.01 * (1.0 - cos(9.0 * c.sim->state.t)), 1e-14);
        }
        text_case_close(&c);
    }
}

// The midpoint rule and Moreau-Jean swing within 1.2e-3 m; the former loses energy, for it sees the old velocity.
TEST(midpoint_rule_loses_energy)
{
    static const char *const schemes[] = { "moreau_midpoint", "moreau_jean_explicit" };
    for (int i = 0; i < 2; i++) {
        rigid_trace trace = run("slider_crank_bilateral", schemes[i], 1e-4, 2.0, 20000);
        CHECK(trace.largest_gap > 5e-4 && trace.largest_gap < 1.3e-3);
        if (i == 0) CHECK_NEAR(trace.energy, 3.33, 0.01);
        rigid_free(&trace);
    }
}

// Positions and velocities at once: 0.5 s in steps of 1e-4 s.
TEST(unified_midpoint)
{
    rigid_trace exact = run("slider_crank_bilateral", "half_explicit_rk, method: hem4", 2e-5, 0.5, 5);
    rigid_trace trace = run("slider_crank_bilateral", "ggl_midpoint", 1e-4, 0.5, 1);
    CHECK(trace.largest_gap <= 1.2e-15 && trace.largest_rate <= 3.7e-11);
    CHECK_NEAR(trace.energy, 7.49539, 1e-5);
    CHECK_RELATIVE(rigid_largest_distance(&trace, &exact, 2, false), 6.7e-4, 0.03);
    rigid_free(&trace);
    rigid_free(&exact);
}

// After 2 s in steps of 5e-3 s the ball lies in the corner on velocity level and keeps sinking on acceleration level.
TEST(ball_in_a_corner)
{
    rigid_trace velocity = run("ball_in_box", "half_explicit", 5e-3, 2.0, 400);
    rigid_trace acceleration = run("ball_in_box", "half_explicit_acceleration", 5e-3, 2.0, 400);
    CHECK_RELATIVE(1.0 - velocity.q[2], 1.15e-4, 0.01);
    CHECK_RELATIVE(1.0 - velocity.q[3], 2.03e-4, 0.01);
    CHECK_NEAR(fabs(velocity.v[2]) + fabs(velocity.v[3]), 0.0, 1e-15);
    CHECK_RELATIVE(1.0 - acceleration.q[2], 7.7e-3, 0.01);
    CHECK_RELATIVE(1.0 - acceleration.q[3], 7.7e-3, 0.01);
    CHECK_RELATIVE(-acceleration.v[2], 6.5e-3, 0.01);
    CHECK_RELATIVE(-acceleration.v[3], 8.9e-3, 0.01);
    CHECK_NEAR(velocity.energy, 13.4, 0.05);
    CHECK(velocity.largest_rise < 3.1e-4 && acceleration.largest_rise < 5.2e-5);
    rigid_free(&velocity);
    rigid_free(&acceleration);
}

// The steel bar of 50 elements on acceleration level: one impact, then a force of 1271.48 N without sinking any
// further. A gap velocity of round-off must not release the contact: it would sink to 2.4e-7 m under 1263.7 N.
TEST(steel_bar_on_acceleration_level)
{
    static const char *const schemes[] = { "half_explicit_acceleration", "tdg_minus", "tdg_plus" };
    for (int i = 0; i < 3; i++) {
        char text[160];
        snprintf(text, sizeof text, "scheme={type: %s};mesh.bar.elements=50;time={step: 1.0e-7, end: 2.0e-4}",
                 schemes[i]);
        rigid_run run = rigid_open("bar_steel", text);
        double impulse = 0.0, smallest = 0.0;
        long nloaded = 0, nimpact = 0;
        while (run.sim->state.step < run.sim->nstep) {
            rigid_step(&run);
            const pcs_row_report *row = &run.sim->report.rows[0];
            smallest = fmin(smallest, row->gap);
            nimpact += row->is_impact;
            if (row->is_impact) CHECK_RELATIVE(row->impulse, 1.4148e-3, 1e-4);
            if (run.sim->state.t <= 1e-4) continue; // the force builds up over the first elements
            CHECK(row->force > 1270.0 && row->force < 1273.0);
            impulse += row->step_impulse;
            nloaded++;
        }
        CHECK(nimpact == 1);
        CHECK(smallest > -6e-9);
        CHECK_NEAR(impulse / ((double)nloaded * 1e-7), 1271.48, 0.01);
        rigid_close(&run);
    }
}

// Two bars lie against each other at a gap of 0 but for round-off, until they part.
TEST(contacts_at_rest_stay_closed)
{
    for (int n = 30; n <= 400; n += 37) {
        char text[400];
        snprintf(text, sizeof text,
                 "scheme={type: half_explicit};time.step=auto;mesh.left.elements=%d;mesh.right.elements=%d", n, n);
        rigid_run run = rigid_open("bars_two", text);
        int changes = 0;
        for (bool was_closed = true; run.sim->state.step < run.sim->nstep;) {
            rigid_step(&run);
            bool is_closed = run.sim->report.rows[0].is_closed;
            changes += is_closed != was_closed;
            was_closed = is_closed;
        }
        CHECK(changes == 1);
        rigid_close(&run);
    }
}

// A lattice presses on a beam that it slides along: what is left of the rate of a held contact by the error of the step
// is no separation, which would leave it for a whole step and sink for good.
TEST(held_contacts_are_not_left_by_the_error_of_a_step)
{
    text_case c = text_case_open(
        "mesh:\n"
        "  beam: { type: line, from: [6.453, 0, 0], to: [6.453, 0, 1.586], elements: 6 }\n"
        "  block: { type: lattice, cells: [2, 1, 1], size: [0.298], origin: [5.842, 0, 0], diagonals: cross }\n"
        "elements:\n"
        "  beam: { type: beam_timo_3d, mesh: beam, E: 5.165e+10, rho: 0.178, mass: lumped, nu: 0,\n"
        "    orientation: [0.36, 0.48, 0.8], section: { type: circle, diameter: 0.113 } }\n"
        "  block: { type: beam_timo_3d, mesh: block, E: 9.485e+10, rho: 0.158, nu: 0.5,\n"
        "    orientation: [0.36, 0.48, 0.8], section: { type: circle, diameter: 0.1116 } }\n"
        "contacts: { touch: { type: node_segment, nodes: block, segments: beam, radius: 0.0075, node_radius: 0.0075,\n"
        "    restitution: 0 } }\n"
        "joints: { guide: { type: slider, axis: [0, 0, 1], node: beam.end } }\n"
        "loads: { twist: { type: moment, node: beam.start, value: [-2946, 1196, 283] } }\n"
        "initial: [ { set: block, velocity: [66.6, 0, 0] } ]\n"
        "scheme: { type: tdg_plus, degree: 4, gap_tolerance: 5.5e-7 }\n"
        "time: { step: 3.75e-8, end: 1.5e-6 }\n",
        NULL);
    text_case_run(&c);
    for (int j = 0; j < c.sim->system->nrow; j++) CHECK(c.sim->report.rows[j].gap > -1e-12);
    CHECK_NEAR(c.sim->ledger.numerical_loss, 0.0, 1e-5);
    text_case_close(&c);
}
