// Reactions of supports: what holds a model, and the momentum that it takes.

#include "support/check.h"
#include "support/text_case.h"

#include <math.h>

static const double gravity = 9.81;

#define GGL "scheme: { type: alpha_ggl, rho_inf: 0.8 }\n"
#define MOREAU "scheme: { type: moreau_jean, theta: 0.5 }\n"
#define TIME(step, end) "time: { step: " step ", end: " end " }\n"
#define DOWN "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"

// A beam on two supports that falls on a stop: supports, contact and weight are all that changes its momentum.
TEST(supports_and_contacts_balance_the_momentum)
{
    text_case c = text_case_open(
        "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 8 } }\n"
        "sets: { inside: { nodes: beam, box: [[0.1, -1, -1], [0.9, 1, 1]] } }\n"
        "elements: { beam: { type: beam_timo_2d, mesh: beam, E: 2.1e+9, nu: 0.3, rho: 7800, damping: { mass: 2.0 },\n"
        "                    section: { type: rectangle, width: 0.02, height: 0.03 } } }\n"
        "supports: { left: { set: beam.start, fix: [x, y], reactions: true },\n"
        "            right: { set: beam.end, fix: [y], reactions: true } }\n"
        "contacts: { stop: { type: node_plane, nodes: inside, point: [0, -0.004, 0], normal: [0, 1, 0], restitution: "
        "0.3 "
        "} }\n",
        DOWN, MOREAU, TIME("1.0e-3", "0.2"), NULL);
    const double h = 1e-3, mass = 7800.0 * 0.02 * 0.03;
    double before = 0.0, pushed = 0.0, uneven = 0.0;
    int left = text_case_reaction(&c, "left"), right = text_case_reaction(&c, "right");
    while (!pcs_sim_is_done(c.sim)) {
        text_case_step(&c);
        double contact = 0.0, momentum = c.sim->report.measure.momentum[1];
        for (int j = 0; j < c.sim->system->nrow; j++) contact += c.sim->report.rows[j].step_impulse;
        double supports = c.sim->reactions[left].force[1] + c.sim->reactions[right].force[1];
        // Damping by mass acts against the ground.
        double drag = 2.0 * 0.5 * (before + momentum) * h;
        CHECK_NEAR(momentum - before, supports * h + contact - mass * gravity * h - drag, 1e-11);
        before = momentum;
        pushed += contact;
        uneven = fmax(uneven, fabs(c.sim->reactions[left].force[1] - c.sim->reactions[right].force[1]));
        CHECK_NEAR(c.sim->reactions[left].force[0], 0.0, 1e-9);
    }
    CHECK(pushed > 0.1);  // it did fall on the stop
    CHECK(uneven < 1e-7); // and all of it is symmetric
    text_case_close(&c);
}

// A run that starts in equilibrium stays there, on any scheme: the support carries the weight and its moment, or shares
// both with a stop under the end.
TEST(supports_carry_the_weight)
{
    static const char stop[] = "contacts: { stop: { type: node_plane, nodes: beam.end, point: [0, -0.003, 0],\n"
                               "                    normal: [0, 1, 0], restitution: 0 } }\n";
    const char *const schemes[] = { GGL, MOREAU, "scheme: { type: hht, alpha: 0.1 }\n",
                                    "scheme: { type: alpha_velocity, rho_inf: 0.8 }\n" };
    for (int s = 0; s < 8; s++) {
        text_case c =
            text_case_open("start: statics\n"
                           "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 5 } }\n"
                           "elements: { beam: { type: beam_exact_2d, mesh: beam, E: 2.1e+9, nu: 0.3, rho: 7800,\n"
                           "                    section: { type: rectangle, width: 0.02, height: 0.03 } } }\n"
                           "supports: { wall: { set: beam.start, fix: [x, y, rz], reactions: true } }\n",
                           DOWN, schemes[s / 2], TIME("1.0e-3", "0.02"), s % 2 ? stop : "", NULL);
        const double weight = 7800.0 * 0.02 * 0.03 * gravity;
        double x[3], v[3], reference[3], first = 0.0;
        while (!pcs_sim_is_done(c.sim)) {
            text_case_step(&c);
            double carried = s % 2 ? c.sim->report.rows[0].force : 0.0;
            if (first == 0.0) first = carried;
            CHECK(c.sim->ledger.now.kinetic < 1e-20 * c.sim->ledger.now.strain);
            CHECK(s % 2 == 0 || (carried > 0.1 * weight && fabs(carried - first) < 1e-7 * first));
            CHECK_RELATIVE(c.sim->reactions[0].force[1] + carried, weight, 1e-7);
            CHECK_NEAR(c.sim->reactions[0].force[0], 0.0, 1e-7 * weight);
        }
        text_case_node(&c, "beam.end", x, v, reference);
        // The beam sags, so that its weight comes a little closer.
        double moment = c.sim->reactions[0].moment[2] + (s % 2 ? first * x[0] : 0.0);
        CHECK(moment < 0.5 * weight && moment > 0.5 * weight * (s % 2 ? 1.0 - 1e-4 : x[0]));
        CHECK(s % 2 == 0 || fabs(x[1] + 0.003) < 1e-12);
        text_case_close(&c);
    }
}

// A slope under a body that a support keeps from sliding: what the contact pushes sideways the support takes at once.
TEST(supports_take_what_contacts_push_into_them)
{
    text_case c =
        text_case_open("mesh: { body: { type: point, at: [0, 0, 0] }, tail: { type: point, at: [0, 1, 0] } }\n"
                       "elements: { body: { type: point_mass, mesh: body, mass: 2, in: plane },\n"
                       "            tail: { type: point_mass, mesh: tail, mass: 1, in: plane } }\n"
                       "supports: { rail: { set: body, fix: [x], reactions: true } }\n"
                       "contacts: { slope: { type: node_plane, nodes: body, point: [0, 0, 0], normal: [0.6, 0.8, 0], "
                       "restitution: 0 } }\n",
                       DOWN, MOREAU, TIME("1.0e-2", "0.1"), NULL);
    text_case_run(&c);
    CHECK_NEAR(c.sim->reactions[0].force[0], -2.0 * gravity * 0.6 / 0.8, 1e-11);
    text_case_close(&c);
}
