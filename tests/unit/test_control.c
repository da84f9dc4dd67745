// Step-size control: the figures of the source, errors that fall with the tolerance, attempts that leave no trace.

#include "build/build.h"
#include "support/check.h"
#include "support/text_case.h"
#include "support/watch.h"

#include "core/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OSCILLATOR "cases/impacting_oscillator"
#define BALL "cases/ball_f2"
#define MOREAU "scheme={type: moreau_jean, theta: 0.5}"

typedef double (*motion)(double t);

static watch_errors controlled(const char *path, motion exact, const char *scheme, const char *order, double tolerance,
                               const char *more)
{
    char control[128];
    snprintf(control, sizeof control, "time.control={type: adaptive, order: %s, tolerance: %.1e%s}", order, tolerance,
             more);
    return watch_measure(path, (const char *const[]){ scheme, "time.step=1e-3", control, NULL }, exact);
}

// L1 errors and evaluations measured by an independent implementation, order 1 with control of the penetration.
TEST(oscillator_has_the_known_figures)
{
    static const double tolerance[] = { 1e-3, 1e-4, 1e-5 }, l1[] = { 5.8e-3, 1.1e-3, 2.2e-4 },
                        cost[] = { 363.0, 549.0, 822.0 };
    for (int i = 0; i < 3; i++) {
        watch_errors e = controlled(OSCILLATOR, watch_exact_oscillator, MOREAU, "1", tolerance[i], "");
        print_message("tolerance %.0e: L1 %.2e (%.1e), evaluations %ld (%.0f), rejected %ld of %ld\n", tolerance[i],
                      e.l1, l1[i], e.nforce, cost[i], e.rejections, e.nstep);
        CHECK(e.l1 < 1.1 * l1[i] && e.l1 > 0.6 * l1[i]);
        CHECK_RELATIVE((double)e.nforce, cost[i], 0.1);
        CHECK(e.attempts == 3 * (e.nstep + e.rejections));
    }
    watch_errors coarse = watch_measure(OSCILLATOR, (const char *const[]){ MOREAU, "time.step=1.898101898e-3", NULL },
                                        watch_exact_oscillator);
    CHECK(coarse.nstep == 1001);
    CHECK_RELATIVE(coarse.l1, 9.2e-3, 0.02);
}

TEST(errors_fall_with_the_tolerance)
{
    static const char *const orders[] = { "0", "1", "2", "variable" };
    for (int problem = 0; problem < 2; problem++)
        for (int k = 0; k < 4; k++) {
            double last_l1 = INFINITY, last_max = INFINITY;
            for (double tolerance = 1e-2; tolerance > 0.5e-6; tolerance *= 0.1) {
                watch_errors e = controlled(problem == 0 ? BALL : OSCILLATOR,
                                            problem == 0 ? watch_exact_ball : watch_exact_oscillator, MOREAU, orders[k],
                                            tolerance, "");
                CHECK(e.l1 < last_l1 && e.max < last_max);
                last_l1 = e.l1;
                last_max = e.max;
            }
            CHECK(last_l1 < 2e-4);
        }
}

// Schemes that see forces at different times of a step; of the tableau of the midpoint rule, at neither end.
static const char *const observers[] = {
    "moreau_jean_explicit", // takes no spring without damping
    "newmark",
    "half_explicit",
    "half_explicit_acceleration",
    "half_explicit_rk, method: herk2",
    "half_explicit_rk, method: hem3",
    "half_explicit_rk, method: hem4",
    "half_explicit_rk, method: hem5",
    "half_explicit_rk, method: rk4",
    "tdg_minus, degree: 2",
    "tdg_minus, degree: 4",
    "tdg_plus",
    "tdg_plus, degree: 3",
    "moreau_midpoint",
    "ggl_midpoint, coupling: decoupled",
    "ggl_midpoint, coupling: unified",
    "splitting, contact_forces: true",
    "mannshardt",
};

// Error of the velocity after a force has come and gone: 10 N on 1 kg with kinks at t, t + 0.01, t + 0.1688, t + 0.1788
// s, in steps that may be longer than the time between them.
static double kinks_error(const char *scheme, double tolerance, double t)
{
    char text[512];
    snprintf(text, sizeof text,
             "loads: { pull: { type: force, node: b, value: [10, 0, 0],\n"
             "    amplitude: { table: [[%.9g, 0], [%.9g, 1], [%.9g, 1], [%.9g, 0]] } } }\n"
             "scheme: { type: %s }\n"
             "time: { step: 1.0e-3, end: 0.5, control: { type: adaptive, tolerance: %.1e, largest: 0.02 } }\n",
             t, t + 0.01, t + 0.1688, t + 0.1788, scheme, tolerance);
    text_case c = text_case_open("mesh: { b: { type: point, at: [0, 0, 0] } }\n"
                                 "elements: { b: { type: point_mass, mesh: b, mass: 1, in: plane } }\n",
                                 text, NULL);
    text_case_run(&c);
    double error = fabs(c.sim->state.v[0] - 1.688);
    text_case_close(&c);
    return error;
}

// Part of the energy that a bounce on a spring gains or loses.
static double bounce_error(const char *scheme, double tolerance, double t)
{
    char text[512];
    snprintf(text, sizeof text,
             "mesh: { b: { type: point, at: [0, %.9g, 0] } }\n"
             "scheme: { type: %s }\n"
             "time: { step: 2.0e-5, end: 0.04, control: { type: adaptive, tolerance: %.1e } }\n",
             0.01 + t, scheme, tolerance);
    text_case c =
        text_case_open("elements: { b: { type: point_mass, mesh: b, mass: 0.7, in: plane } }\n"
                       "loads: { weight: { type: gravity, g: [0, -30, 0] } }\n"
                       "initial: [ { set: b, velocity: [0, -1, 0] } ]\n"
                       "contacts: { floor: { type: node_plane, nodes: b, point: [0, 0, 0], normal: [0, 1, 0],\n"
                       "    node_radius: 0.01, law: { type: linear, stiffness: 1.0e5 } } }\n",
                       text, NULL);
    text_case_run(&c);
    double energy = 0.5 * 0.7 + 0.7 * 30.0 * (0.01 + t);
    const pcs_measure *now = &c.sim->report.measure;
    double error = fabs(now->kinetic + now->strain + now->potential - energy) / energy;
    text_case_close(&c);
    return error;
}

// A force that sets in within a step changes no position at the end of it in explicit schemes, and where it does so
// just before the end or after the start of one, not even the velocity of some.
TEST(forces_that_set_in_within_a_step_are_seen)
{
    static const double tolerance[] = { 1e-5, 1e-7, 1e-9 }, allowed[] = { 1e-2, 1e-3, 6e-5 };
    for (size_t k = 0; k < sizeof observers / sizeof *observers; k++)
        for (int i = 0; i < 3; i++) {
            double kinks = 0.0, bounce = 0.0;
            for (int part = 0; part < 10; part += 3) {
                kinks = fmax(kinks, kinks_error(observers[k], tolerance[i], 0.12 + 0.00213 * part));
                if (k > 0) bounce = fmax(bounce, bounce_error(observers[k], tolerance[i], 0.0113 + 0.00037 * part));
            }
            print_message("%s, tolerance %.0e: kinks %.1e, bounce %.1e\n", observers[k], tolerance[i], kinks, bounce);
            CHECK(kinks < allowed[i] && bounce < allowed[i]);
        }
}

// A resting contact may lie deeper than the tolerance: only what a step adds counts.
TEST(rest_does_not_stall)
{
    static const char *const orders[] = { "1", "2", "variable" };
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            char control[96];
            snprintf(control, sizeof control, "time.control={type: adaptive, order: %s, tolerance: %.0e}", orders[k],
                     pow(10.0, -4 - i));
            watch *w = watch_open("cases/ball", (const char *const[]){ MOREAU, control, NULL });
            while (!pcs_sim_is_done(w->sim)) CHECK_OK(w->ctx, pcs_sim_step(w->sim));
            CHECK(w->sim->view.inexact == 0 && w->sim->state.step < 5000 && w->sim->state.t == 4.0);
            CHECK(w->sim->report.rows[0].gap > -2.0 * pow(10.0, -4 - i) * w->sim->system->length);
            watch_close(&w);
        }
}

// The accepted halves once more, by the scheme alone: bit for bit the same, whatever was tried in between.
static bool replay(const char *path, const char *scheme, const char *friction, long *rejections)
{
    const char *set[] = { scheme, "time.control={type: adaptive, tolerance: 1e-4}", friction, NULL };
    pcs_context *probe = NULL;
    pcs_sim *sim = NULL;
    CHECK_OK(NULL, pcs_context_create(&probe));
    pcs_status status = pcs_build_sim_from(probe, path, friction == NULL ? 2 : 3, set, &sim);
    pcs_context_destroy(&probe);
    if (status != PCS_OK) return false;
    watch *a = watch_open(path, set), *b = watch_open(path, set);
    size_t bytes = (size_t)a->sim->system->nv * sizeof(double);
    while (!pcs_sim_is_done(a->sim) && a->sim->state.step < 400) {
        CHECK_OK(a->ctx, pcs_sim_step(a->sim));
        double h = a->sim->report.h;
        for (int half = 0; half < 2; half++) {
            CHECK_OK(b->ctx, b->sim->scheme->ops->step(b->sim->scheme, &b->sim->state, 0.5 * h, &b->sim->report));
            CHECK(b->sim->report.outcome == PCS_CONVERGED);
        }
        b->sim->state.t = a->sim->state.t;
        if (memcmp(a->sim->state.q, b->sim->state.q, bytes) != 0)
            fail_msg("%s, %s: step %ld, t = %.17g", path, scheme, a->sim->state.step, a->sim->state.t);
        CHECK(memcmp(a->sim->state.v, b->sim->state.v, bytes) == 0);
        for (int i = 0; i < a->sim->state.nhistory; i++)
            CHECK(memcmp(a->sim->state.history[i], b->sim->state.history[i], bytes) == 0);
    }
    *rejections += a->sim->view.rejections;
    watch_close(&a);
    watch_close(&b);
    return true;
}

// Schemes that leave a choice to the user.
static const char *wanted_options(const char *scheme)
{
    static const char *const known[][2] = { { "alpha_ggl", ", rho_inf: 0.8" },
                                            { "moreau_jean", ", theta: 0.5" },
                                            { "jump_newmark", ", gamma: 0.5" } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i][0], scheme) == 0) return known[i][1];
    return "";
}

TEST(attempts_leave_no_trace)
{
    static const char *const paths[] = { "cases/ball", OSCILLATOR, "cases/slider_crank", "cases/pendulum",
                                         "cases/rocking_block" };
    static const char *const without_friction = "system.friction=0.0";
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        char scheme[96];
        long rejections = 0;
        int count = 0;
        if (pcs_schemes[i]->needs_equal_steps != NULL) continue;
        snprintf(scheme, sizeof scheme, "scheme={type: %s%s}", pcs_schemes[i]->name,
                 wanted_options(pcs_schemes[i]->name));
        for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
            count += replay(paths[k], scheme, NULL, &rejections) ||
                     (k == 2 && replay(paths[k], scheme, without_friction, &rejections));
        print_message("%s: %d cases, %ld rejections\n", pcs_schemes[i]->name, count, rejections);
        // What is as near to exact as can be asked is never rejected, but the whole step is undone all the same.
        CHECK(count >= 3 && (rejections > 10 || strcmp(pcs_schemes[i]->name, "event_driven") == 0));
    }
}

// A step that was tried and undone does not count in the certificate: not even in what it allows.
TEST(certificate_forgets_rejected_steps)
{
    watch *w = watch_open(OSCILLATOR, (const char *const[]){ MOREAU, "time.step=0.1", "time.end=0.3",
                                                             "time.control={type: adaptive, tolerance: 1e-5}", NULL });
    double largest = 0.0;
    while (!pcs_sim_is_done(w->sim)) {
        CHECK_OK(w->ctx, pcs_sim_step(w->sim));
        largest = fmax(largest, 0.5 * w->sim->report.h);
    }
    CHECK(largest < 0.01 && w->sim->view.rejections > 10);
    const pcs_certificate *certificate = w->sim->view.certificate;
    int count = 0;
    for (int i = 0; i < certificate->ncheck; i++) {
        if (strstr(certificate->checks[i].name, "penetration") == NULL) continue;
        count++;
        CHECK(certificate->checks[i].worst_value > 0.0);
        CHECK(certificate->checks[i].tolerance < 2.0 * 6.3 * largest + 1e-9);
    }
    CHECK(count == 1);
    watch_close(&w);
}

// Impulses of the halves are added up: the floor carries the weight, and what the ball brings.
TEST(reports_are_of_the_pair)
{
    watch *w = watch_open("cases/ball",
                          (const char *const[]){ MOREAU, "time.control={type: adaptive, tolerance: 1e-4}", NULL });
    double impulse = 0.0, time = 0.0;
    long nimpact = 0;
    while (!pcs_sim_is_done(w->sim)) {
        CHECK_OK(w->ctx, pcs_sim_step(w->sim));
        const pcs_row_report *row = &w->sim->report.rows[0];
        impulse += row->step_impulse;
        time += w->sim->report.h;
        nimpact += row->is_impact;
        CHECK_NEAR(row->force * w->sim->report.h, row->step_impulse, 1e-12);
    }
    const pcs_ledger *l = &w->sim->ledger;
    CHECK_NEAR(time, 4.0, 1e-12);
    CHECK_NEAR(impulse, 10.0 * 4.0 + w->sim->state.v[0], 1e-11); // of the weight, and what is left of the motion
    CHECK(nimpact > 20);
    CHECK_NEAR(l->initial - l->impact_loss - l->numerical_loss, l->now.kinetic + l->now.potential, 1e-11);
    CHECK(!l->numerical_is_remainder);
    watch_close(&w);
}

// An explicit scheme stays below its stable step, however little is asked of it.
TEST(steps_stay_stable)
{
    watch *w = watch_open("cases/bar_bouncing",
                          (const char *const[]){ "scheme={type: half_explicit}", "time.step=auto", "time.end=1.5",
                                                 "time.control={type: adaptive, tolerance: 0.1}", NULL });
    double largest = 0.0;
    while (!pcs_sim_is_done(w->sim)) {
        CHECK_OK(w->ctx, pcs_sim_step(w->sim));
        largest = fmax(largest, w->sim->report.h);
    }
    CHECK(largest <= w->sim->system->stable_step && largest > 0.9 * w->sim->system->stable_step);
    watch_close(&w);
}

static void give_up(pcs_step_solver *self, pcs_step_problem *problem, pcs_step_result *result)
{
    (void)self;
    (void)problem;
    *result = (pcs_step_result){ .outcome = PCS_NOT_CONVERGED };
}

// A step that never converges ends the run at the smallest size, with the state as it was.
TEST(smallest_step_is_the_end)
{
    watch *w = watch_open(
        "cases/ball",
        (const char *const[]){ MOREAU, "time.control={type: adaptive, tolerance: 1e-3, smallest: 1e-5}", NULL });
    for (int i = 0; i < 5; i++) CHECK_OK(w->ctx, pcs_sim_step(w->sim));
    double t = w->sim->state.t, q = w->sim->state.q[0], v = w->sim->state.v[0];
    pcs_step_solver_ops bad = *w->sim->solver->ops;
    bad.solve = give_up;
    w->sim->solver->ops = &bad;
    CHECK_STATUS(w->ctx, pcs_sim_step(w->sim), PCS_FAILED);
    CHECK_TEXT(pcs_message(w->ctx), "even with the smallest step of 1e-05 s");
    CHECK(w->sim->state.t == t && w->sim->state.q[0] == q && w->sim->state.v[0] == v && w->sim->state.step == 5);
    watch_close(&w);
}

// Steps that cannot be small enough are taken and counted.
TEST(missed_tolerances_are_counted)
{
    watch *w =
        watch_open(OSCILLATOR,
                   (const char *const[]){
                       MOREAU, "time.control={type: adaptive, tolerance: 1e-9, smallest: 0.01, largest: 0.01}", NULL });
    while (!pcs_sim_is_done(w->sim)) CHECK_OK(w->ctx, pcs_sim_step(w->sim));
    CHECK(w->sim->view.inexact > 180 && w->sim->view.inexact <= w->sim->state.step);
    watch_close(&w);
}

static void read_file(const char *path, size_t room, char *text)
{
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    size_t length = fread(text, 1, room - 1, file);
    text[length] = '\0';
    fclose(file);
}

// Nobody planned the number of controlled steps.
TEST(summary_tells_the_effort)
{
    static char text[65536];
    watch *w = watch_open(
        OSCILLATOR, (const char *const[]){ MOREAU, "time.control={type: adaptive, order: 1, tolerance: 1e-4}", NULL });
    CHECK_OK(w->ctx, pcs_sim_run(w->sim, TESTS_OUTPUT_FOLDER "/control", false));
    char expected[128];
    read_file(TESTS_OUTPUT_FOLDER "/control/summary.txt", sizeof text, text);
    snprintf(expected, sizeof expected, "after %ld steps of controlled size\n", w->sim->state.step);
    CHECK_TEXT(text, expected);
    snprintf(expected, sizeof expected, "%ld steps tried, %ld rejected", w->sim->view.attempts,
             w->sim->view.rejections);
    CHECK_TEXT(text, expected);
    read_file(TESTS_OUTPUT_FOLDER "/control/summary.json", sizeof text, text);
    CHECK_TEXT(text, "\"planned\": null");
    snprintf(expected, sizeof expected, "\"rejections\": %ld", w->sim->view.rejections);
    CHECK_TEXT(text, expected);
    watch_close(&w);
}
