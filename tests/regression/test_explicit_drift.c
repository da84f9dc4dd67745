// Lasting contacts and joints under the explicit schemes: what a driven joint begins off its way, contacts that slide,
// the stable step of springs at arms. Drift in the shipped cases is in their READMEs.

#include "support/check.h"
#include "support/rigid.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>

// A driven joint may start 1e-9 of the model's size off its way, and is on it after one step.
TEST(driven_joints_make_a_misfit_good)
{
    static const char *const schemes[] = { "half_explicit", "half_explicit_rk" };
    for (int i = 0; i < 2; i++) {
        text_case c = text_case_print(
            "mesh: { a: { type: point, at: [0, 0, 0] }, b: { type: point, at: [1, 0, 0] } }\n"
            "elements: { a: { type: point_mass, mesh: a, mass: 2 }, b: { type: point_mass, mesh: b, mass: 1 } }\n"
            "joints: { drive: { type: prescribed, node: a, along: x, expression: 8e-10 + 0.01 * (1 - cos(9 * t)) } }\n"
            "scheme: { type: %s }\ntime: { step: 1.0e-3, end: 0.1 }\n",
            schemes[i]);
        while (!pcs_sim_is_done(c.sim)) {
            text_case_step(&c);
            CHECK_NEAR(c.sim->state.q[0], 8e-10 + 0.01 * (1.0 - cos(9.0 * c.sim->state.t)), 1e-14);
        }
        text_case_close(&c);
    }
}

// w^2 of the spring of Andrews' mechanism: k (1/m + a^2/J) of the third body where the line lies across its arm a.
TEST(springs_at_arms_set_the_stable_step)
{
    rigid_run run = rigid_open("andrews", "");
    double x = 0.018 - 0.01874, y = 0.02 - 0.01043, arm2 = x * x + y * y;
    double across = sqrt(1.0 / (4530.0 * (1.0 / 0.02373 + arm2 / 5.255e-6)));
    CHECK_NEAR(run.sim->system->stable_step, 2.0 * across, 1e-6 * across);
    rigid_close(&run);
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
