// Steps that have to find their way: a ladder that slides from a wall, a light chain, a rope over a drum, a box on its
// corners. The beam pendulum at meshes and steps where its contact problem is hard is in the README of its case.
//
// The ladder (tests/study/settling/ladder.yaml) without friction obeys
//   (M l^2 + J) w^2 / 2 = M g l (s0 - s),   vx = l s w,
// which is largest at s = 2/3 s0: there the wall would have to pull, and vx stays.

#include "support/check.h"
#include "support/run_case.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Height of the centre when the wall (the first contact) has pushed for the last time, speed at the end, and how far
// the ends have come off the ladder.
static void check_slide(const char *scheme, const char *solver, double height_tolerance, double gap_error_tolerance)
{
    const double mass = 10.002, inertia = 10.0 / 3.0 + 0.002, high = sqrt(0.75);
    const char *const set[] = { scheme, solver, "time.step=5.0e-4", NULL };
    double height = 0.0, speed = sqrt(8.0 / 27.0 * mass * 9.81 * high * high * high / (mass + inertia));
    case_run run = case_open("tests/study/settling/ladder.yaml", set);
    const pcs_system *system = run.sim->system;
    while (!pcs_sim_is_done(run.sim)) {
        case_step(&run);
        if (case_last(&run)->step_impulse > 0.0) height = case_probe(&run, 1);
        for (int j = 0; j < system->nrow; j++)
            if (system->rows[j].is_bilateral) CHECK(fabs(run.sim->report.rows[j].gap) < gap_error_tolerance);
    }
    CHECK_NEAR(height, 2.0 / 3.0 * high, height_tolerance);
    CHECK_NEAR(case_probe(&run, 2), speed, 2e-4);
    case_close(&run);
}

// The force of the wall goes to zero there: alpha_ggl, whose smooth motion knows no contact force, lets go early.
TEST(ladder_leaves_the_wall_under_alpha_ggl)
{
    check_slide("scheme={type: alpha_ggl, rho_inf: 0.8}", "solver.type=schur", 0.01, 1e-12);
    check_slide("scheme={type: alpha_ggl, rho_inf: 0.8}", "solver.type=newton", 0.01, 1e-12);
}

// On velocity level the ends drift by O(h^2).
TEST(ladder_leaves_the_wall_under_moreau_jean)
{
    check_slide("scheme={type: moreau_jean, theta: 0.5}", "solver.type=schur", 1e-3, 1e-6);
    check_slide("scheme={type: moreau_jean, theta: 0.5}", "solver.type=auto", 1e-3, 1e-6);
}

static void check_path(const pcs_sim *sim)
{
    CHECK(sim->view.cut_steps == 0);
    CHECK(sim->view.handovers == 0);
}

// Eight beads of 20 mg between an anchor and a weight of 0.3 kg: h^2 T / l is three times the mass of a bead, so the
// iteration settles only when it knows how the links turn.
TEST(light_chain_settles)
{
    static const char *const schemes[] = { "alpha_ggl, rho_inf: 0.8", "alpha_velocity, rho_inf: 0.8",
                                           "moreau_jean, theta: 1.0" };
    static const char *const solvers[] = { "newton", "schur" };
    for (int i = 0; i < 6; i++) {
        char text[4096] = "mesh:\n";
        for (int b = 0; b < 9; b++)
            sprintf(text + strlen(text), "  b%d: { type: point, at: [%.17g, %.17g, 0] }\n", b, 0.03 * (b + 1),
                    -0.04 * (b + 1));
        strcat(text, "elements:\n  weight: { type: point_mass, mesh: b8, mass: 0.3, in: plane }\n");
        for (int b = 0; b < 8; b++)
            sprintf(text + strlen(text), "  m%d: { type: point_mass, mesh: b%d, mass: 2.0e-5, in: plane }\n", b, b);
        strcat(text, "joints:\n  l0: { type: distance, node: b0, anchor: [0, 0, 0] }\n");
        for (int b = 0; b < 8; b++)
            sprintf(text + strlen(text), "  l%d: { type: distance, a: b%d, b: b%d }\n", b + 1, b, b + 1);
        sprintf(text + strlen(text),
                "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"
                "initial: [{ set: b8, velocity: [0.4, 0.3, 0] }]\n"
                "scheme: { type: %s }\ntime: { step: 1.0e-3, end: 0.2 }\nsolver: { type: %s }\n",
                schemes[i / 2], solvers[i % 2]);
        text_case c = text_case_open(text, NULL);
        while (!pcs_sim_is_done(c.sim)) {
            text_case_step(&c);
            check_path(c.sim);
        }
        text_case_close(&c);
    }
}

// 31 contacts that stick: the prediction is far off, and its contacts are not worth more than a few rounds.
TEST(rope_settles)
{
    static const char *const solvers[] = { "solver.type=newton", "solver.type=schur" };
    for (int i = 0; i < 2; i++) {
        const char *const set[] = { "mesh.left.elements=28",
                                    "mesh.over.elements=30",
                                    "mesh.right.elements=48",
                                    "time.step=1.0e-3",
                                    "time.end=0.015",
                                    "scheme={type: moreau_jean, rho_inf: 0.65}",
                                    "contacts.drum.friction=0.8",
                                    solvers[i],
                                    NULL };
        case_run run = case_open("tests/study/settling/capstan.yaml", set);
        while (!pcs_sim_is_done(run.sim)) {
            case_step(&run);
            check_path(run.sim);
        }
        case_close(&run);
    }
}

// Four corners share the weight of a box in many ways, and its friction with it: the iteration must not drift among
// them. Corners are light, which costs digits.
TEST(sliding_box_settles)
{
    static const char *const solvers[] = { "solver.type=newton", "solver.type=schur" };
    for (int i = 0; i < 2; i++) {
        const char *const set[] = { "scheme={type: alpha_ggl, rho_inf: 0.8}",
                                    "time.step=1.0e-3",
                                    "time.end=0.35",
                                    "contacts.floor.friction=0.4",
                                    solvers[i],
                                    NULL };
        case_run run = case_open("tests/study/settling/box.yaml", set);
        while (!pcs_sim_is_done(run.sim)) {
            case_step(&run);
            check_path(run.sim);
        }
        case_close(&run);
    }
}

// A box that rebounds on corners which cannot all stick: the contact problem goes on to another solver, which has to
// find the directions of the step under way, and leave them behind.
TEST(rebounding_box_settles)
{
    static const char *const runs[][3] = {
        { "scheme={type: newmark}", "contacts.floor.friction=0.8", "time.end=0.6" },
        { "scheme={type: half_explicit}", "contacts.floor.friction=0.8", "time.end=0.7" },
    };
    for (int i = 0; i < 2; i++) {
        const char *const set[] = {
            runs[i][0],          runs[i][1], runs[i][2], "time.step=4.0e-3", "contacts.floor.restitution=0.3",
            "solver.type=schur", NULL
        };
        case_run run = case_open("tests/study/settling/box.yaml", set);
        for (int after = 0; after < 3 && !pcs_sim_is_done(run.sim); after += run.sim->solver->handovers > 0)
            case_step(&run);
        CHECK(run.sim->solver->handovers > 0);
        case_close(&run);
    }
}

// Nine points of a flat block: friction holds only where few of them are loaded, and steps may not be cut.
TEST(block_of_many_points_settles)
{
    static const char *const runs[][3] = {
        { "system.friction=0.8", "system.restitution=0.0", "system.tangent_restitution=0.0" },
        { "system.friction=2.0", "system.restitution=0.5", "system.tangent_restitution=0.5" },
        { "system.friction=0.3", "system.restitution=1.0", "system.tangent_restitution=0.0" },
        { "system.friction=0.8", "system.restitution=0.5", "system.tangent_restitution=0.5" },
    };
    for (int i = 0; i < 4; i++) {
        const char *const set[] = { runs[i][0],
                                    runs[i][1],
                                    runs[i][2],
                                    "system.points=9",
                                    "time.step=1.0e-2",
                                    "time.end=1",
                                    "scheme={type: schatzman_paoli}",
                                    NULL };
        case_run run = case_run_all("cases/rocking_block", set);
        case_close(&run);
    }
}

// In a law on positions open contacts have gaps over h for rates; how far away they are is no measure of what closed
// ones may leave.
TEST(far_contacts_excuse_nothing)
{
    static const char *const laws[] = { "radius: 4, centre: [-4, 2.95, 0]", "radius: 40, centre: [-40, 2.95, 0]",
                                        "radius: 4, centre: [-4, 2.95, 0], friction: 0.3",
                                        "radius: 40, centre: [-40, 2.95, 0], friction: 0.3" };
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        text_case c = text_case_open(
            "mesh: { grid: { type: lattice, cells: [1, 59], size: [0.1, 0.1], origin: [5.0e-4, 0, 0],\n"
            "                diagonals: one } }\n"
            "elements: { grid: { type: beam_timo_2d, mesh: grid, E: 1.0e9, nu: 0.3, rho: 1000.0,\n"
            "                    section: { type: rectangle, width: 0.02, height: 0.02 } } }\n"
            "initial: [ { set: grid, velocity: [-5.0, 2.0, 0] } ]\n"
            "contacts: { roll: { type: node_circle, nodes: grid.xmin, side: outside, restitution: 0.2,\n",
            laws[i],
            " } }\nscheme: { type: schatzman_paoli }\nsolver: { type: schur }\n"
            "time: { step: 4.0e-6, end: 4.0e-4 }\n",
            NULL);
        text_case_run(&c);
        text_case_close(&c);
    }
}

// A scheme of equal steps cannot cut one that fails; it says so, and which step to try.
TEST(equal_steps_are_told)
{
    text_case c =
        text_case_open("mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 } }\n"
                       "elements: { beam: { type: beam_exact_2d, mesh: beam, E: 2.1e+11, nu: 0.3, rho: 7800.0,\n"
                       "                    section: { type: rectangle, width: 0.01, height: 0.01 } } }\n"
                       "joints: { pivot: { type: hinge, node: beam.start } }\n"
                       "initial: [ { set: beam, spin: [0, 0, -60], about: [0, 0, 0] } ]\n"
                       "scheme: { type: alpha_index3, rho_inf: 1.0 }\ntime: { step: 1.0e-2, end: 0.4 }\n",
                       NULL);
    pcs_status status = pcs_sim_start(c.sim);
    while (status == PCS_OK && !pcs_sim_is_done(c.sim)) status = pcs_sim_step(c.sim);
    CHECK(status == PCS_FAILED);
    CHECK(strstr(pcs_message(c.ctx), "alpha_index3 cannot cut a step that fails") != NULL);
    CHECK(strstr(pcs_message(c.ctx), "try time.step 0.005 or less") != NULL);
    text_case_close(&c);
}

// Does a system with that scheme and step come to its end? Otherwise the message is copied.
static bool comes_to_end(const char *system, double step, double end, size_t size, char *message)
{
    char time[96];
    snprintf(time, sizeof time, "time: { step: %.17g, end: %.17g }\n", step, end);
    text_case c = text_case_open(system, time, NULL);
    pcs_status status = pcs_sim_start(c.sim);
    while (status == PCS_OK && !pcs_sim_is_done(c.sim)) status = pcs_sim_step(c.sim);
    snprintf(message, size, "%s", status == PCS_OK ? "" : pcs_message(c.ctx));
    text_case_close(&c);
    return status == PCS_OK;
}

// The step to try is one that does: of energy gained it follows from the defect.
TEST(equal_steps_to_try_are_short_enough)
{
    static const char crank[] =
        "system: { type: slider_crank, crank_length: 12.1, rod_length: 30.6, crank_mass: 38, rod_mass: 23.6,\n"
        "  slider_mass: 76, crank_inertia: 740, rod_inertia: 5900, gravity: 12.7, theta1: 0, theta2: 0, omega1: 15,\n"
        "  omega2: -7.5, slider_inertia: 27, slider_half_length: 5, slider_half_height: 2.5, clearance: 0.1,\n"
        "  restitution: 0.4, friction: 3.5e-3 }\nscheme: { type: schatzman_paoli }\n";
    char message[2048];
    double step = 0.07;
    CHECK(!comes_to_end(crank, step, 3.8, sizeof message, message));
    const char *reported = strstr(message, "try time.step ");
    CHECK(reported != NULL && strstr(message, "energy gained in a step") != NULL);
    step = strtod(reported + strlen("try time.step "), NULL);
    CHECK(step > 1e-3 && step < 0.07 / 4.0);
    CHECK(comes_to_end(crank, step, 3.8, sizeof message, message));
}

// Where impacts at index 3 feed the motion, no step is named.
TEST(energy_from_nowhere_is_told)
{
    static const char pendulum[] =
        "system: { type: pendulum, mass: 0.01, inertia: 1.0e-5, length: 0.1, gravity: 1.0e+6, wall: 0.0707106781,\n"
        "  angle: 0.139, rate: 1637.7, restitution: 0.8 }\nscheme: { type: alpha_index3, rho_inf: 0.644 }\n";
    char message[2048];
    int reported = 0;
    for (int i = 0; i < 40 && reported < 3; i++) { // which of them fail, and how soon, round-off decides
        if (comes_to_end(pendulum, 1e-6 * (1.0 + 0.03 * i), 2.9e-3, sizeof message, message)) continue;
        if (strstr(message, "J numerically") == NULL) continue;
        CHECK(strstr(message, "try alpha_ggl") != NULL);
        CHECK(strstr(message, "time.step") == NULL && strstr(message, "smaller step") == NULL);
        reported++;
    }
    CHECK(reported > 0);
}
