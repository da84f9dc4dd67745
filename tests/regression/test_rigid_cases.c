// The rigid cases without friction against closed forms and the digits of independent implementations.

#include "check.h"
#include "run_case.h"
#include "sim/certify.h"

#include <math.h>
#include <stdio.h>

#define GGL "scheme={type: alpha_ggl, rho_inf: 0.8}"
#define MOREAU "scheme={type: moreau_jean, rho_inf: 0.8}"

static case_run open_with(const char *path, const char *a, const char *b)
{
    const char *set[] = { a, a == NULL ? NULL : b, NULL };
    return case_open(path, set);
}

// Steps on to time t.
static void run_to(case_run *run, double t)
{
    while (run->sim->state.t < t - 1e-9) case_step(run);
    CHECK_NEAR(run->sim->state.t, t, 1e-9);
}

static double largest_rise(const case_run *run)
{
    double rise = 0.0;
    for (long i = 1; i < run->count; i++) rise = fmax(rise, run->records[i].energy - run->records[i - 1].energy);
    return rise;
}

// Last time with an open first contact.
static double closes_for_good(const case_run *run)
{
    double t = 0.0;
    for (long i = 0; i < run->count; i++)
        if (run->records[i].gap > 1e-12) t = run->records[i].t;
    return t;
}

static double largest_of(const double *x, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    return largest;
}

// The rest force is m g; nothing penetrates or rises.
TEST(ball_accumulates_and_rests)
{
    case_run run = open_with("cases/ball", NULL, NULL);
    run_to(&run, 4.0);
    CHECK_NEAR(closes_for_good(&run), 3.442, 1e-9); // closed from 3.444 s on
    CHECK(case_smallest_gap(&run) >= 0.0);
    CHECK(largest_rise(&run) <= 1e-14);
    for (long i = 0; i < run.count; i++)
        if (run.records[i].t > 3.7) CHECK_NEAR(run.records[i].step_impulse / 2e-3, 10.0, 1e-10);
    case_close(&run);
}

// The accumulation point is t1 (1 + e)/(1 - e) = 3.602249 s; GGL is early by about 80 h, Moreau's rule is on time. The
// last open times of GGL are those of the recurrence in rational arithmetic: many bounces end in ties, which rounding
// would decide (plain doubles close at 3.58125 s with the smallest step).
TEST(ball_closes_near_the_accumulation_point)
{
    const double exact = 9.0 * sqrt(2.0 * 0.801 / 10.0), early[] = { 3.523, 3.558, 3.576 };
    static const char *const steps[] = { "time.step=1.0e-3", "time.step=5.0e-4", "time.step=2.5e-4" };
    CHECK_NEAR(exact, 3.602249297, 1e-9);
    for (int k = 0; k < 3; k++) {
        case_run run = case_run_all("cases/ball", (const char *const[]){ GGL, steps[k], NULL });
        CHECK_NEAR(closes_for_good(&run), early[k], 1e-9);
        CHECK(case_smallest_gap(&run) >= 0.0);
        case_close(&run);
    }
    case_run run = case_run_all("cases/ball", (const char *const[]){ MOREAU, NULL });
    double open = 0.0;
    for (long i = 0; i < run.count; i++)
        if (run.records[i].step_impulse == 0.0) open = run.records[i].t;
    CHECK_NEAR(open, exact, 4e-3);
    CHECK_NEAR(case_smallest_gap(&run), -2.0e-3, 1e-5);
    case_close(&run);
}

// The trapezoidal rule errs by h^2 t / 6 in the integral of t^2, so velocity and impulse are known to round-off.
TEST(growing_force_in_flight_and_at_rest)
{
    case_run run = case_run_all("cases/ball_free", NULL);
    CHECK_NEAR(run.sim->state.v[0], -10.0 / 3.0 - 10.0 * 1e-4 / 6.0, 1e-13);
    CHECK_NEAR(run.sim->state.q[0], 1.0 - 5.0 / 6.0, 2e-4);
    CHECK_NEAR(run.sim->ledger.external_work, case_last(&run)->energy, 15.0 * 1e-4); // second order
    CHECK(case_find_contact(&run).count == 0);
    case_close(&run);
    run = case_run_all("cases/ball_rest", NULL);
    double sum = 0.0;
    for (long i = 0; i < run.count; i++) {
        CHECK_NEAR(run.records[i].gap, 0.0, 0.0);
        CHECK_NEAR(run.records[i].rate, 0.0, 0.0);
        sum += run.records[i].step_impulse;
    }
    CHECK_NEAR(sum, 10.0 / 3.0 + 10.0 * 1e-4 / 6.0, 1e-13);
    case_close(&run);
    // Moreau-Jean with theta = 1 is the right-hand rule: error h t^2 / 2 + h^2 t / 6.
    run = case_run_all("cases/ball_rest", (const char *const[]){ "scheme={type: moreau_jean, theta: 1.0}", NULL });
    sum = 0.0;
    for (long i = 0; i < run.count; i++) sum += run.records[i].step_impulse;
    CHECK_NEAR(sum, 10.0 / 3.0 + 10.0 * 1e-2 / 2.0 + 10.0 * 1e-4 / 6.0, 1e-12);
    case_close(&run);
}

// Reference: impacts at 0.48519 (x), 0.63855 (y), 0.77631 s; the ball rests in the corner, E: 26.8 J to 13.4 J.
TEST(ball_in_box_rests_in_the_corner)
{
    case_run run = open_with("cases/ball_in_box", NULL, NULL);
    double hit[2] = { 0.0, 0.0 }, second = 0.0;
    while (run.sim->state.t < 2.0 - 1e-9) {
        case_step(&run);
        for (int j = 0; j < 2; j++) {
            if (!run.sim->report.rows[j].is_impact) continue;
            if (j == 0 && hit[0] > 0.0 && second == 0.0) second = run.sim->state.t;
            if (hit[j] == 0.0) hit[j] = run.sim->state.t;
        }
    }
    CHECK_NEAR(hit[0], 0.48519, 5e-3);
    CHECK_NEAR(hit[1], 0.63855, 5e-3);
    CHECK_NEAR(second, 0.77631, 1e-2);
    CHECK_NEAR(largest_of(run.sim->state.v, 2), 0.0, 1e-15);
    CHECK(largest_rise(&run) > 0.0 && largest_rise(&run) <= 3.1e-4);
    case_close(&run);
    // Straight down the ball stays in the middle, exactly.
    run = open_with("cases/ball_in_box", "system.gravity_degrees=90.0", NULL);
    run_to(&run, 2.0);
    CHECK_NEAR(run.sim->state.q[0], 2.0, 0.0);
    CHECK_NEAR(run.sim->state.q[1], 1.0, 1e-2);
    case_close(&run);
}

// Digits at 0.4 s; both constraints hold to round-off for GGL; at rest the wall carries 10 N.
TEST(pendulum_stays_on_its_constraints)
{
    case_run run = open_with("cases/pendulum", NULL, NULL);
    double drift = 0.0, rate = 0.0, gap = 0.0, open = 0.0;
    while (run.sim->state.t < 6.0 - 1e-9) {
        case_step(&run);
        const pcs_row_report *row = run.sim->report.rows;
        drift = fmax(drift, fmax(fabs(row[0].gap), fabs(row[1].gap)));
        rate = fmax(rate, fmax(fabs(row[0].rate), fabs(row[1].rate)));
        gap = fmin(gap, row[2].gap);
        if (row[2].gap > 1e-12) open = run.sim->state.t;
    }
    CHECK(drift <= 1e-15);
    CHECK(rate <= 1e-12);
    CHECK(gap >= -1.2e-16);
    CHECK_NEAR(open, 4.932, 1e-9); // closed from 4.933 s on, the exact accumulation is at 5.05398 s
    CHECK_NEAR(run.sim->report.rows[2].step_impulse / 1e-3, 10.0, 1e-10);
    case_close(&run);
}

// No penetration, energy monotone, m g / 2 on each corner at rest; more points than two share it somehow.
TEST(block_rests_on_any_number_of_points)
{
    for (int points = 2; points <= 9; points++) {
        char set[32];
        snprintf(set, sizeof set, "system.points=%d", points);
        case_run run = open_with("cases/rocking_block", set, NULL);
        double gap = 0.0;
        while (run.sim->state.t < 1.5 - 1e-9) {
            case_step(&run);
            for (int j = 0; j < points; j++) gap = fmin(gap, run.sim->report.rows[j].gap);
        }
        CHECK(gap >= -1e-14);
        CHECK(largest_rise(&run) <= 5e-15);
        double sum = 0.0;
        for (int j = 0; j < points; j++) sum += run.sim->report.rows[j].step_impulse / 1e-2;
        CHECK_NEAR(sum, 9.81, 1e-10);
        for (int j = 0; j < points && points == 2; j++)
            CHECK_NEAR(run.sim->report.rows[j].step_impulse / 1e-2, 4.905, 1e-10);
        CHECK_NEAR(largest_of(run.sim->state.v, 3), 0.0, 1e-12);
        CHECK_NEAR(run.sim->state.q[1], 0.75, 1e-14);
        CHECK_NEAR(run.sim->state.q[2], 0.0, 1e-14);
        case_close(&run);
    }
}

// A joint that is torn apart, to either side, or pulled apart, breaks the certificate of a scheme that holds it.
TEST(certificate_sees_a_torn_joint)
{
    for (int k = 0; k < 4; k++) {
        case_run run = open_with("cases/slider_crank_bilateral", GGL, NULL);
        case_step(&run);
        pcs_certifier *certifier = run.sim->certifier;
        CHECK(pcs_certifier_certificate(certifier)->broken == NULL);
        double *x = k < 2 ? run.sim->state.q : run.sim->state.v;
        x[1] += k % 2 == 0 ? 1e-6 : -1e-6;
        char text[512];
        CHECK(!pcs_certify(certifier, &run.sim->state, &run.sim->report, 0.0));
        pcs_certifier_describe(certifier, sizeof text, text);
        CHECK_TEXT(text, k < 2 ? "gap >= 0" : "gap rate + restitution >= 0");
        case_close(&run);
    }
}
