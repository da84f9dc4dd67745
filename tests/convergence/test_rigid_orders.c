// Orders of schemes on rigid systems, by refinement over at least four steps.
//
//   index 2           bilateral slider-crank up to 0.031 s against HEM4 with a much smaller step
//   free flight, rest, combined   problems 4.2 to 4.4 of Schindler and Acary (2014)
//   smooth motion     impacting oscillator before its first impact
//   through impacts   ball and oscillator, means over 8 neighbouring numbers of steps that miss the events

#include "support/check.h"
#include "support/rigid.h"

#include <math.h>
#include <stdio.h>

enum { LEVELS = 5, NEIGHBOURS = 8 };

static rigid_trace run(const char *name, const char *scheme, double end, long nstep)
{
    char text[320];
    snprintf(text, sizeof text, "scheme={type: %s};time={step: %.17g, end: %.17g}", scheme, end / (double)nstep, end);
    return rigid_run_all(name, text, 1);
}

// Index 2.

typedef struct joint_case {
    const char *scheme;
    long first;         // smallest number of steps; then doubled
    double order;       // of positions and velocities
    double error;       // largest of an angle at 1600 steps
    double drift, rate; // largest gap and gap velocity at 1600 steps
} joint_case;

// Errors, drifts and rates as an independent implementation found them.
static const joint_case joint_cases[] = {
    { "half_explicit", 100, 2.0, 2.5e-5, 4.0e-8, 0.0 },
    { "half_explicit_acceleration", 100, 2.0, 2.4e-5, 6.8e-7, 3.3e-5 },
    { "moreau_jean_explicit", 100, 1.0, 9.9e-4, 2.2e-4, 0.0 },
    { "half_explicit_rk, method: herk2", 100, 2.0, 2.1e-5, 4.0e-8, 0.0 },
    { "half_explicit_rk, method: hem3", 400, 3.0, 2.3e-9, 6.0e-11, 0.0 },
    { "half_explicit_rk, method: hem4", 100, 4.0, 8.9e-11, 2.4e-14, 0.0 },
    { "half_explicit_rk, method: hem5", 50, 5.0, NAN, NAN, 0.0 }, // down to round-off before 1600 steps
    { "half_explicit_rk, method: kutta3", 800, 3.0, 7.5e-10, 3.8e-11, 0.0 },
    { "ggl_midpoint", 100, 2.0, NAN, 0.0, 0.0 }, // gaps are exact, velocities to what its iteration leaves
};

static const double joint_end = 0.031;

TEST(index_2_orders)
{
    rigid_trace exact = run("slider_crank_bilateral", "half_explicit_rk, method: hem4", joint_end, 12800);
    for (size_t c = 0; c < sizeof joint_cases / sizeof *joint_cases; c++) {
        const joint_case *j = &joint_cases[c];
        double step[LEVELS], q[LEVELS], v[LEVELS];
        for (int k = 0; k < LEVELS; k++) {
            long n = j->first << k;
            rigid_trace trace = run("slider_crank_bilateral", j->scheme, joint_end, n);
            step[k] = joint_end / (double)n;
            q[k] = rigid_largest_distance(&trace, &exact, 2, false);
            v[k] = rigid_largest_distance(&trace, &exact, 2, true);
            if (n == 1600) {
                if (!isnan(j->error)) CHECK_RELATIVE(q[k], j->error, 0.03);
                CHECK_NEAR(trace.largest_gap, j->drift, fmax(0.03 * j->drift, 1e-14));
                CHECK_NEAR(trace.largest_rate, j->rate, fmax(0.03 * j->rate, isnan(j->error) ? 1e-9 : 1e-14));
            }
            rigid_free(&trace);
        }
        double order_q = rigid_slope(LEVELS, step, q), order_v = rigid_slope(LEVELS, step, v);
        print_message("index 2, %s: orders %.3f %.3f\n", j->scheme, order_q, order_v);
        CHECK_NEAR(order_q, j->order, 0.15);
        CHECK_NEAR(order_v, j->order, 0.15);
    }
    rigid_free(&exact);
}

// One degree of freedom with a closed form: position, velocity and impulse of the contact since the start.

typedef void exact_motion(double t, double *q, double *v, double *impulse);

static void free_flight(double t, double *q, double *v, double *impulse)
{
    *q = 1.0 - 10.0 / 12.0 * t * t * t * t;
    *v = -10.0 / 3.0 * t * t * t;
    *impulse = 0.0;
}

static void rest(double t, double *q, double *v, double *impulse)
{
    *q = *v = 0.0;
    *impulse = 10.0 / 3.0 * t * t * t;
}

// v' = -2 from height 1, e = 1/2: impacts at 1, 2, 2.5, ..., rest from t = 3 on.
static void combined(double t, double *q, double *v, double *impulse)
{
    double start = 0.0, speed = 1.0; // of the flight; the first one starts at its top
    *impulse = 0.0;
    if (t < 1.0) {
        *q = 1.0 - t * t;
        *v = -2.0 * t;
        return;
    }
    start = 1.0;
    *impulse = 3.0;
    while (speed > 1e-12 && t >= start + speed) {
        start += speed;
        *impulse += 1.5 * speed;
        speed *= 0.5;
    }
    double s = t - start;
    *q = speed > 1e-12 ? s * (speed - s) : 0.0;
    *v = speed > 1e-12 ? speed - 2.0 * s : 0.0;
    if (t > 3.0) *impulse = 6.0 + 2.0 * (t - 3.0);
}

// Hits the stop at 1/4, 3/4, 5/4, ... s; every arc is half as high as the one before.
static void oscillator(double t, double *q, double *v, double *impulse)
{
    const double w = 6.28318530717958647692;
    double height = 1.0;
    for (double hit = 0.25; hit <= t; hit += 0.5) height *= 0.5;
    *q = height * fabs(cos(w * t));
    *v = -height * w * sin(w * t) * (cos(w * t) >= 0.0 ? 1.0 : -1.0);
    *impulse = 0.0;
}

// Mean distances over the steps.
static void distances(const rigid_trace *trace, exact_motion *exact, double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (long k = 0; k < trace->count; k++) {
        double q, v, impulse;
        exact(trace->t[k], &q, &v, &impulse);
        out[0] += fabs(trace->q[k] - q) / (double)trace->count;
        out[1] += fabs(trace->v[k] - v) / (double)trace->count;
        out[2] += fabs(trace->impulse[k] - impulse) / (double)trace->count;
    }
}

typedef struct ball_case {
    const char *scheme;
    double flight_q, flight_v, rest_impulse; // orders at the ends of the steps; 0: exact
} ball_case;

static const ball_case ball_cases[] = {
    { "moreau_jean_explicit", 1.0, 1.0, 1.0 },
    { "half_explicit", 2.0, 2.0, 2.0 },
    { "half_explicit_acceleration", 2.0, 2.0, 2.0 },
    { "tdg_minus", 2.0, 2.0, 2.0 },
    { "tdg_plus", 2.0, 2.0, 2.0 },
    { "tdg_minus, degree: 2", 0.0, 0.0, 0.0 },
    { "tdg_plus, degree: 2", 0.0, 0.0, 0.0 },
    { "tdg_minus, degree: 3", 0.0, 0.0, 0.0 },
    { "tdg_plus, degree: 3", 0.0, 0.0, 0.0 },
    { "half_explicit_rk, method: hem4", 0.0, 0.0, 0.0 },
};

static void check_order(const char *what, const char *scheme, int count, const double *step, const double *error,
                        double order)
{
    if (order == 0.0) {
        for (int k = 0; k < count; k++) CHECK(error[k] <= 1e-14);
        return;
    }
    print_message("%s, %s: order %.3f\n", what, scheme, rigid_slope(count, step, error));
    CHECK_NEAR(rigid_slope(count, step, error), order, 0.15);
}

TEST(free_flight_and_rest)
{
    for (size_t c = 0; c < sizeof ball_cases / sizeof *ball_cases; c++) {
        const ball_case *b = &ball_cases[c];
        double step[LEVELS], error[2][3][LEVELS];
        for (int k = 0; k < LEVELS; k++) {
            step[k] = 1.0 / (double)(16 << k);
            for (int p = 0; p < 2; p++) {
                double out[3];
                rigid_trace trace = run(p == 0 ? "ball_free" : "ball_rest", b->scheme, 1.0, 16L << k);
                distances(&trace, p == 0 ? free_flight : rest, out);
                for (int i = 0; i < 3; i++) error[p][i][k] = out[i];
                rigid_free(&trace);
            }
        }
        check_order("free flight q", b->scheme, LEVELS, step, error[0][0], b->flight_q);
        check_order("free flight v", b->scheme, LEVELS, step, error[0][1], b->flight_v);
        check_order("rest impulse", b->scheme, LEVELS, step, error[1][2], b->rest_impulse);
    }
}

// Mean over neighbouring odd numbers of steps, which do not divide the times of the events.
static void mean_distances(const char *name, const char *scheme, double end, long nstep, exact_motion *exact,
                           double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (int i = 0; i < NEIGHBOURS; i++) {
        double one[3];
        rigid_trace trace = run(name, scheme, end, nstep + 1 + 2 * i);
        distances(&trace, exact, one);
        for (int k = 0; k < 3; k++) out[k] += one[k] / NEIGHBOURS;
        rigid_free(&trace);
    }
}

static const char *const impact_schemes[] = {
    "alpha_ggl, rho_inf: 0.8",
    "moreau_jean, theta: 0.5",
    "newmark, gamma: 0.5",
    "hht, alpha: 0.1",
    "alpha_velocity, rho_inf: 0.8",
    "jump_newmark, gamma: 0.5",
    "jump_newmark, rho_inf: 0.8",
    "moreau_jean_explicit",
    "moreau_midpoint",
    "schatzman_paoli",
    "half_explicit",
    "half_explicit_acceleration",
    "half_explicit_rk, method: hem4",
    "splitting",
    "splitting, contact_forces: true",
    "tdg_minus",
    "tdg_plus",
    "ggl_midpoint",
    "ggl_midpoint, coupling: decoupled",
};

// Whatever the smooth order, impacts are of order 1.
TEST(impacts_have_order_1)
{
    for (size_t c = 0; c < sizeof impact_schemes / sizeof *impact_schemes; c++)
        for (int p = 0; p < 2; p++) {
            double step[4], error[3][4];
            for (int k = 0; k < 4; k++) {
                double out[3], end = p == 0 ? 4.0 : 1.9;
                long n = 256L << k;
                step[k] = end / (double)n;
                mean_distances(p == 0 ? "ball_f2" : "impacting_oscillator", impact_schemes[c], end, n,
                               p == 0 ? combined : oscillator, out);
                for (int i = 0; i < 3; i++) error[i][k] = out[i];
            }
            print_message("%s, %s: orders %.3f %.3f", p == 0 ? "combined" : "oscillator", impact_schemes[c],
                          rigid_slope(4, step, error[0]), rigid_slope(4, step, error[1]));
            if (p == 0) print_message(" %.3f", rigid_slope(4, step, error[2]));
            print_message(", errors %.2e %.2e\n", error[0][3], error[1][3]);
            CHECK_NEAR(rigid_slope(4, step, error[0]), 1.0, 0.2);
            CHECK_NEAR(rigid_slope(4, step, error[1]), 1.0, 0.2);
            if (p == 0) CHECK_NEAR(rigid_slope(4, step, error[2]), 1.0, 0.2);
        }
}

// Global order at t = 0.2 s of the oscillator: at least M + 1, one more for even M.
TEST(galerkin_orders)
{
    static const double order[] = { 2.0, 4.0, 4.0, 6.0 };
    (void)state;
    for (int is_plus = 0; is_plus < 2; is_plus++)
        for (int degree = 1; degree <= 4; degree++) {
            char scheme[64];
            double step[4], error[4];
            snprintf(scheme, sizeof scheme, "%s, degree: %d", is_plus ? "tdg_plus" : "tdg_minus", degree);
            for (int k = 0; k < 4; k++) {
                double q, v, impulse;
                long n = (degree == 4 ? 3L : 8L) << k;
                rigid_trace trace = run("impacting_oscillator", scheme, 0.2, n);
                step[k] = 0.2 / (double)n;
                oscillator(0.2, &q, &v, &impulse);
                error[k] = fabs(trace.q[n] - q) + fabs(trace.v[n] - v);
                rigid_free(&trace);
            }
            print_message("smooth, %s: order %.3f, error %.2e\n", scheme, rigid_slope(4, step, error), error[3]);
            CHECK_NEAR(rigid_slope(4, step, error), order[degree - 1], 0.15);
        }
}
