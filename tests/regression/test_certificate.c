// What the certificate makes of whole runs: right ones are left alone where masses go round a ring and where stiff
// members carry next to nothing, and where steps are many periods; wrong ones never pass as held, nor does friction
// beyond its cone or along the slip.

#include "sim/certify.h"

#include "output/summary.h"
#include "support/check.h"
#include "support/every_scheme.h"
#include "support/run_case.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A ball that falls into a ring and slides in it: impulses act along directions of several places in one step.
TEST(balances_hold_in_a_ring)
{
    int count = 0;
    for (int k = 0; every_scheme[k] != NULL; k++) {
        double x[3], v[3], reference[3];
        char text[1024];
        text_case c;
        snprintf(text, sizeof text,
                 "mesh: { ball: { type: point, at: [0, -0.5, 0] } }\n"
                 "elements: { ball: { type: point_mass, mesh: ball, mass: 2.0 } }\n"
                 "supports: { plane: { set: ball, fix: [z] } }\n"
                 "initial: [ { set: ball, velocity: [3.0, 0, 0] } ]\n"
                 "loads: { weight: { type: gravity, g: [0, -9.81, 0] } }\n"
                 "contacts: { ring: { type: node_circle, nodes: ball, centre: [0, 0, 0], radius: 1.0,\n"
                 "            node_radius: 0.1, side: inside, restitution: 0.0 } }\n"
                 "time: { end: 0.4, step: 1.0e-3 }\nscheme: { %s }\n",
                 every_scheme[k]);
        if (text_case_try(text, &c) == PCS_OK && strstr(text, "index3") == NULL) {
            text_case_run(&c);
            text_case_node(&c, "ball", x, v, reference);
            CHECK_NEAR(hypot(x[0], x[1]), 0.9, 5e-3);
            count++;
        }
        text_case_close(&c);
    }
    CHECK(count >= 20);
}

// EA of 1e6 N beside loads of 1e-6 N: forces inside cancel to far more digits than the loads have, and steps of many
// periods leave little of the velocities that the loads alone would give.
TEST(small_loads_on_stiff_members_pass)
{
    static const char *const members[] = {
        "rod, mesh: bar, E: 1.0e+6, rho: 1.0, area: 1.0 } }\nsupports: { wall: { set: bar.start, fix: [x] } }\n",
        "rod_large_2d, mesh: bar, E: 1.0e+6, rho: 1.0, area: 1.0 } }\n"
        "supports: { wall: { set: bar.start, fix: [x, y] } }\n",
        "beam_exact_2d, mesh: bar, E: 1.0e+8, nu: 0.3, rho: 100.0,\n"
        "  section: { type: rectangle, width: 0.1, height: 0.1 } } }\n"
        "supports: { wall: { set: bar.start, fix: [x, y, rz] } }\n",
        "beam_exact_3d, mesh: bar, E: 1.0e+8, nu: 0.3, rho: 100.0, orientation: [0, 1, 0],\n"
        "  section: { type: rectangle, width: 0.1, height: 0.1 } } }\n"
        "supports: { wall: { set: bar.start, fix: [x, y, z, rx, ry, rz] } }\n",
    };
    static const char *const schemes[] = { "alpha_ggl", "moreau_jean, theta: 0.5", "newmark" };
    static const char *const steps[] = { "1.0e-4", "1.0e-2", "1.0e-1" };
    for (int k = 0; k < 4 * 3 * 3; k++) {
        text_case c = text_case_open("mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 20 } }\n"
                                     "loads: { push: { type: force, set: bar.end, value: [1.0e-6, 0, 0] } }\n"
                                     "elements: { bar: { type: ",
                                     members[k / 9], "time: { end: 3.0, step: ", steps[k % 3],
                                     " }\nscheme: { type: ", schemes[k / 3 % 3], " }\n", NULL);
        for (int i = 0; i < 30; i++) text_case_step(&c);
        text_case_close(&c);
    }
}

// A clamped rod pulled by F = 1/2 N and let go: E_0 = 1/8 J, and all force is at the free end, whose mass is 1/(2 n),
// so that a_0 . M a_0 = 2 n F^2. What does not grow is E + (h^2/4) (2 be - ga) a . M a and a part of filters, which is
// 0 at first. Where steps are so long that it is a gain of more than a tenth, the run ends or is marked.
TEST(energy_that_a_scheme_holds_is_no_gain)
{
    static const struct {
        const char *scheme;
        double gamma, beta;
    } choices[] = {
        { "newmark, gamma: 0.6, beta: 0.31", 0.6, 0.31 },     { "newmark, gamma: 0.6, beta: 0.5", 0.6, 0.5 },
        { "newmark, gamma: 0.5, beta: 0.3", 0.5, 0.3 },       { "hht, alpha: 0.1", 0.6, 0.3025 },
        { "alpha_velocity, rho_inf: 0.9", 21.0 / 38.0, NAN }, { "alpha_velocity, rho_inf: 0.5", 5.0 / 6.0, NAN },
        { "alpha_velocity, rho_inf: 0.0", 1.5, NAN },         { "alpha_ggl, rho_inf: 0.5", 5.0 / 6.0, NAN },
    };
    enum { NWAY = sizeof choices / sizeof *choices };
    for (int k = 0; k < NWAY * 6; k++) {
        int i = k / 6, n = k % 2 == 0 ? 20 : 500;
        double h = (double[]){ 1e-3, 0.5, 400.0 }[k % 6 / 2], gamma = choices[i].gamma, largest = 0.0;
        double beta = isnan(choices[i].beta) ? 0.25 * (gamma + 0.5) * (gamma + 0.5) : choices[i].beta;
        char numbers[160];
        snprintf(numbers, sizeof numbers, "%d } }\ntime: { step: %g, end: %g }\nscheme: { type: %s }\n", n, h, 100 * h,
                 choices[i].scheme);
        text_case c =
            text_case_open("elements: { bar: { type: rod, mesh: bar, E: 1.0, rho: 1.0, area: 1.0, mass: lumped } }\n"
                           "supports: { clamp: { set: bar.end, fix: [x] } }\n"
                           "initial: [ { set: bar, displacement: { from: [0.5, 0, 0], to: [0, 0, 0] } } ]\n"
                           "mesh: { bar: { type: line, from: [0, 0, 0], to: [1.0, 0, 0], elements: ",
                           numbers, NULL);
        pcs_status status = pcs_sim_start(c.sim);
        for (int step = 0; step < 60 && status == PCS_OK; step++) {
            status = pcs_sim_step(c.sim);
            largest = fmax(largest, pcs_measure_energy(&c.sim->ledger.now));
        }
        CHECK(largest <= 0.125 + 0.25 * h * h * (2.0 * beta - gamma) * 0.5 * n);
        CHECK(h < 100.0 ? h > 0.1 || status == PCS_OK : largest > 2.0 * 0.125 || status != PCS_OK);
        if (status != PCS_OK) CHECK_TEXT(pcs_message(c.ctx), "certificate violated: energy gained");
        else if (largest > 1.2 * 0.125)
            CHECK_TEXT(pcs_certificate_verdict(pcs_certifier_certificate(c.sim->certifier)), "marked");
        text_case_close(&c);
    }
}

// The pendulum held by a support, undamped: a false root of its discrete equations has 32 567 J more than it should.
TEST(no_jump_of_energy_is_certified)
{
    static const char *const schemes[] = { "moreau_jean, theta: 0.5", "newmark", "alpha_velocity, rho_inf: 1.0",
                                           "jump_newmark, gamma: 0.5", "jump_newmark, rho_inf: 0.8" };
    static const char *const retries[] = { "time.retry=0", "time.retry=10" };
    for (int k = 0; k < 10; k++) {
        char text[96];
        const char *const set[] = { text, retries[k % 2], "joints={}",
                                    "supports={pivot: {set: beam.start, fix: [x, y]}}", NULL };
        snprintf(text, sizeof text, "scheme={type: %s}", schemes[k / 2]);
        case_run run = case_open("cases/beam_pendulum", set);
        while (pcs_sim_step(run.sim) == PCS_OK && !pcs_sim_is_done(run.sim)) {
            const pcs_measure *m = &run.sim->ledger.now;
            CHECK(m->kinetic + m->strain < 10.0);
            CHECK(run.sim->ledger.largest_rise < 2.0);
        }
        case_close(&run);
    }
}

// Rules without dissipation gain energy at steps that do not resolve a nonlinear motion. They find their way by smaller
// steps before all that the run may gain is spent, and do not try in every step again what has failed in those before.
TEST(unresolved_steps_find_their_way)
{
    static const char *const schemes[] = { "moreau_jean, theta: 0.5", "hht, alpha: 0", "alpha_ggl, rho_inf: 0.8",
                                           "ggl_midpoint, coupling: unified, metric: mass" };
    static const char *const steps[] = { "time.step=1.0e-2", "time.step=3.0e-3", "time.step=1.0e-3" };
    static const char *const stops[] = { "contacts.wall.point=[0, 2, 0]",
                                         "contacts.wall={type: node_plane, nodes: beam.end, point: [0, -0.9, 0], "
                                         "normal: [0, 1, 0], restitution: 0.5}" };
    enum { NSTEP = 3, NSTOP = 2, COUNT = sizeof schemes / sizeof *schemes * NSTEP * NSTOP };
    for (int k = 0; k < COUNT; k++) {
        if ((k + k / NSTOP + k / NSTOP / NSTEP) % 2 != 0) continue;
        char text[96];
        const char *const set[] = { text, steps[k / NSTOP % NSTEP], stops[k % NSTOP], "time.end=0.4", NULL };
        snprintf(text, sizeof text, "scheme={type: %s}", schemes[k / NSTOP / NSTEP]);
        case_run run = case_open("tests/study/settling/spun_beam.yaml", set);
        double first = run.sim->ledger.initial, most = 0.0;
        while (!pcs_sim_is_done(run.sim)) {
            case_step(&run);
            most = fmax(most, case_last(&run)->energy);
        }
        double iterations = (double)run.sim->view.iterations / (double)run.sim->state.step;
        CHECK(most < 1.6 * first);
        CHECK(iterations < 700.0);
        case_close(&run);
    }
}

// In a step of many periods the correction of positions bends stiff beams: such an impact is cut, also of linear
// systems.
TEST(impacts_of_stiff_piles_are_cut)
{
    static const char *const steps[] = { "time.step=1.0e-2", "time.step=3.0e-3", "time.step=1.0e-3" };
    for (int k = 0; k < 6; k++) {
        const char *const set[] = { "parameters.n=3",
                                    "parameters.mu=0",
                                    "scheme={type: alpha_ggl, rho_inf: 0.8}",
                                    "elements.beams.E=1.0e+12",
                                    steps[k % 3],
                                    "time.end=0.05",
                                    k < 3 ? "solver.type=schur" : "solver.type=condensed",
                                    NULL };
        case_run run = case_open("cases/beam_pile/case.yaml", set);
        while (!pcs_sim_is_done(run.sim)) case_step(&run);
        CHECK(run.sim->view.cut_steps > 0);
        case_close(&run);
    }
}

static const char *const friction[] = { "alpha_ggl",
                                        "moreau_jean, theta: 0.6",
                                        "newmark",
                                        "hht",
                                        "alpha_velocity",
                                        "jump_newmark, rho_inf: 0.8",
                                        "half_explicit",
                                        "half_explicit_rk",
                                        "splitting",
                                        "moreau_jean_explicit",
                                        "moreau_midpoint",
                                        "schatzman_paoli",
                                        "ggl_midpoint, coupling: decoupled",
                                        "ggl_midpoint" };
enum { NRUBBING = sizeof friction / sizeof *friction };

static case_run open_friction(const char *path, int scheme, const char *one, const char *two, int nstep)
{
    char text[96];
    snprintf(text, sizeof text, "scheme={type: %s}", friction[scheme]);
    case_run run = case_open(path, (const char *const[]){ text, one, two, NULL });
    for (int i = 0; i < nstep; i++) case_step(&run);
    return run;
}

// Judges the last step once more, as it stands now.
static void check_is_refused(case_run *run)
{
    const pcs_certificate *certificate = pcs_certifier_certificate(run->sim->certifier);
    CHECK(!pcs_certify(run->sim->certifier, NULL, &run->sim->state, &run->sim->report));
    assert_string_equal(certificate->broken->name, "friction against the slip, none of it below the limit");
    case_close(run);
}

// A puck slides: friction of the right size that is off its direction by 1e-8, or drives, is seen.
// One that is held moves by 1e-9 m/s, and that is seen.
TEST(friction_is_against_the_slip)
{
    for (int k = 0; k < NRUBBING; k++) {
        for (int i = 0; i < 2; i++) {
            case_run run = open_friction("cases/puck", k, "system.vx=-1.0", NULL, 10);
            pcs_row_report *row = &run.sim->report.rows[0];
            double rotation = i == 0 ? 1e-8 : acos(-1.0), x = row->last_tangent[0], y = row->last_tangent[1];
            row->last_tangent[0] = cos(rotation) * x - sin(rotation) * y;
            row->last_tangent[1] = sin(rotation) * x + cos(rotation) * y;
            check_is_refused(&run);
        }
        case_run run = open_friction("cases/puck", k, "system.friction=2.0", NULL, 40);
        CHECK(hypot(run.sim->state.v[0], run.sim->state.v[1]) < 1e-12);
        run.sim->state.v[1] += 1e-9;
        run.sim->report.rows[0].slip[1] += 1e-9;
        check_is_refused(&run);
    }
}

// Corners of a thousandth of the box share its weight, so that round-off of its motion is much of the friction of one;
// nine points of a base rebound with a slip that is none but for one of them. All of it keeps Coulomb's law.
TEST(redundant_contacts_keep_the_law)
{
    static const char *const runs[][7] = {
        { "tests/study/settling/box.yaml", "scheme={type: half_explicit}", "time={step: 2.0e-4, end: 0.32}",
          "contacts.floor.friction=0.3", "contacts.floor.restitution=0.5", "solver.type=newton" },
        { "tests/study/settling/box.yaml", "scheme={type: alpha_ggl, rho_inf: 0.8}", "time={step: 1.0e-2, end: 0.6}",
          "contacts.floor.friction=0.8" },
        { "cases/rocking_block", "scheme={type: schatzman_paoli}", "time={step: 2.0e-3, end: 1.0}",
          "system.friction=0.3", "system.restitution=0.5", "system.points=9" },
        { "cases/rocking_block", "scheme={type: moreau_jean, theta: 0.6}", "time={step: 2.0e-3, end: 1.0}",
          "system.friction=0.3", "system.restitution=0.5", "system.points=9" },
    };
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        case_run run = case_run_all(runs[k][0], runs[k] + 1);
        const pcs_certificate *certificate = pcs_certifier_certificate(run.sim->certifier);
        for (int i = 0; i < certificate->ncheck; i++)
            if (strncmp(certificate->checks[i].name, "friction", 8) == 0)
                CHECK(certificate->checks[i].worst_ratio < 0.2);
        case_close(&run);
    }
}

// A frame of two linear beams with a weld, and a rod that is pressed on a wall: both come to rest under their loads.
static const char WELDED[] =
    "mesh:\n  a: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 }\n"
    "  b: { type: line, from: [1, 0, 0], to: [1, 1, 0], elements: 4 }\n"
    "elements:\n  a: { type: beam_timo_2d, mesh: a, E: 2.1e+11, nu: 0.3, rho: 7850.0, section: { type: rectangle,"
    " width: 0.01, height: 0.01 } }\n"
    "  b: { type: beam_timo_2d, mesh: b, E: 2.1e+11, nu: 0.3, rho: 7850.0, section: { type: rectangle, width: 0.01,"
    " height: 0.01 } }\n"
    "supports:\n  foot: { set: a.start, fix: [x, y, rz] }\njoints:\n  weld: { type: fixed, a: a.end, b: b.start }\n"
    "loads:\n  push: { type: force, node: b.end, value: [10, -10, 0] }\n";
static const char PRESSED[] =
    "mesh:\n  bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 8 }\n"
    "elements:\n  bar: { type: rod, mesh: bar, E: 2.1e+11, rho: 7850.0, area: 1.0e-4 }\n"
    "contacts:\n  wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0 }\n"
    "loads:\n  push: { type: force, node: bar.end, value: [-2500, 0, 0] }\n";

// Moves what lies beyond the joint or the wall, strains unchanged, by a share of the largest displacement after 20
// steps; gives the verdict two steps later, "broken" where the run has ended for that.
static const char *verdict_after_push(const char *model, const char *scheme, bool is_welded, double share)
{
    text_case c = text_case_open(model, "damping: { mass: 2000 }\nscheme: { type: ", scheme,
                                 " }\ntime: { step: 1.0e-3, end: 0.1, retry: 0 }\n", NULL);
    for (int i = 0; i < 20; i++) text_case_step(&c);
    const pcs_system *system = c.sim->system;
    double largest = 0.0, *q = c.sim->state.q;
    for (int i = 0; i < system->nv; i++) largest = fmax(largest, fabs(q[i]));
    int first = is_welded ? system->nv - 15 : 0, stride = is_welded ? 3 : 1; // x of the second beam, or of all
    for (int i = first; i < system->nv; i += stride) q[i] -= share * largest;
    pcs_status status = PCS_OK;
    for (int i = 0; i < 2 && status == PCS_OK; i++) status = pcs_sim_step(c.sim);
    const char *verdict = pcs_certificate_verdict(c.sim->view.certificate);
    if (status != PCS_OK) CHECK_TEXT(pcs_message(c.ctx), "errors of joints and held contacts");
    text_case_close(&c);
    return verdict;
}

// A joint that has opened, or a contact that has sunk, by a hundredth of the deformation is named, by a third ends the
// run; by a ten thousandth it is neither.
TEST(misfits_are_judged_by_the_deformation)
{
    static const char *const schemes[] = { "newmark", "moreau_jean, theta: 0.5" };
    for (int k = 0; k < 4; k++) {
        bool is_welded = k % 2 == 0;
        const char *model = is_welded ? WELDED : PRESSED, *scheme = schemes[k / 2];
        assert_string_equal(verdict_after_push(model, scheme, is_welded, 1e-4), "held");
        assert_string_equal(verdict_after_push(model, scheme, is_welded, 1e-2), "marked");
        assert_string_equal(verdict_after_push(model, scheme, is_welded, 0.3), "broken");
    }
}

// Dampers far faster than the step book many times the 0.18 J that a turning bar has, and the scheme gains as much.
TEST(damping_takes_no_more_than_there_is)
{
    static const char *const dampings[] = { "40", "4000" }, *const schemes[] = { "alpha_ggl", "hht" };
    for (int k = 0; k < 4; k++) {
        text_case c = text_case_open(
            "mesh: { b: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 4 } }\n"
            "elements: { b: { type: rod_large_3d, mesh: b, E: 3.4e6, rho: 1239, area: 2.6e-4, damping: { mass: ",
            dampings[k % 2], " } } }\ninitial: [{ set: b, velocity: [1, 0.3, 0] }]\nscheme: { type: ", schemes[k / 2],
            " }\ntime: { step: 0.1, end: 3.0, retry: 0 }\n", NULL);
        pcs_status status = pcs_sim_start(c.sim);
        while (status == PCS_OK && !pcs_sim_is_done(c.sim)) status = pcs_sim_step(c.sim);
        CHECK(status == PCS_FAILED);
        CHECK_TEXT(pcs_message(c.ctx), "damping loss <= all energy there has been");
        text_case_close(&c);
    }
}

// Four steps for a bar that waves cross four times gain a fifth of its energy, with corrections of thousands of joules
// that cancel; a hundred times as many do neither.
TEST(numerical_gains_are_marked)
{
    static const char *const steps[] = { "1.0e-4", "5.0e-7" };
    for (int k = 0; k < 2; k++) {
        text_case c =
            text_case_open("mesh:\n  bar: { type: line, from: [1.0e-4, 0, 0], to: [0.5001, 0, 0], elements: 200 }\n"
                           "elements:\n  bar: { type: rod, mesh: bar, E: 2.1e+11, rho: 7850.0, area: 1.0e-4 }\n"
                           "initial:\n  - { set: bar, velocity: [-3.0, 0, 0] }\n"
                           "contacts:\n  wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0],"
                           " normal: [1, 0, 0], restitution: 0.0 }\n"
                           "scheme: { type: alpha_ggl, rho_inf: 0.8 }\ntime: { end: 4.0e-4, step: ",
                           steps[k], " }\n", NULL);
        text_case_run(&c);
        const pcs_certificate *certificate = c.sim->view.certificate;
        const pcs_ledger *l = &c.sim->ledger;
        for (int i = 0; i < certificate->ncheck; i++) {
            const pcs_check *check = &certificate->checks[i];
            bool is_gain = strstr(check->name, "numerical gain") != NULL;
            if (!is_gain && strstr(check->name, "corrections in sum") == NULL) continue;
            CHECK_NEAR(check->tolerance, (is_gain ? 0.1 : 1.0) * l->initial, 1e-3 * l->initial);
            double last = is_gain ? l->correction_work - l->numerical_loss : fabs(l->correction_work);
            CHECK(check->worst_value >= last - 1e-9 * l->initial); // sums may be rounded to one side
            assert_string_equal(pcs_check_verdict(check), k == 0 ? "marked" : "reported");
        }
        assert_string_equal(pcs_certificate_verdict(certificate), k == 0 ? "marked" : "held");
        text_case_close(&c);
    }
}
