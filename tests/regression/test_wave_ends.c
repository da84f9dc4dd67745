// Scheme `wave` with what sits at the ends of bars and between them: springs, dashpots, joints, damping, friction,
// several contacts at once; each against a closed form.

#include "support/check.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 4096 };

// A bar of Z = 30 N s/m, c = 30 m/s, 10 m long, flies at v0 onto a spring: its end has moved by
// v0 Z/k (1 - exp(-k t/Z)) until the wave is back.
static double spring_error(int cells)
{
    char text[TEXT];
    const double k = 600.0, Z = 30.0, v0 = 10.0;
    double off = 0.0;
    snprintf(text, sizeof text,
             "mesh: { bar: { type: line, from: [0, 0, 0], to: [10, 0, 0], elements: %d }, end: { type: point, nodes: "
             "bar.start } }\n"
             "elements: { bar: { type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0 }, end: { type: mount, mesh: end, "
             "stiffness: [600, 0, 0] } }\n"
             "initial: [ { set: bar, velocity: [-10, 0, 0] } ]\n"
             "scheme: { type: wave }\n"
             "time: { step: auto, end: 0.66 }\n",
             cells);
    text_case run = text_case_open(text, NULL);
    while (!pcs_sim_is_done(run.sim)) {
        double x[3], v[3], reference[3];
        text_case_step(&run);
        text_case_node(&run, "bar.start", x, v, reference);
        double exact = -v0 * Z / k * (1.0 - exp(-k * run.sim->state.t / Z));
        off = fmax(off, fabs(x[0] - reference[0] - exact) / (v0 * Z / k));
    }
    text_case_close(&run);
    return off;
}

TEST(springs_at_ends_are_of_second_order)
{
    double error[3];
    for (int k = 0; k < 3; k++) error[k] = spring_error(100 << k);
    print_message("spring: %.2e %.2e %.2e\n", error[0], error[1], error[2]);
    for (int k = 0; k < 2; k++) CHECK_NEAR(log2(error[k] / error[k + 1]), 2.0, 0.05);
    CHECK(error[2] < 2e-4);
}

// I0(x) exp(-x)
static double bessel(double x)
{
    double term = 1.0, sum = 1.0;
    for (int k = 1; k < 60; k++) sum += term *= 0.25 * x * x / (k * k);
    return sum * exp(-x);
}

// A bar with drag alpha hits a wall: Z v0 exp(-alpha t/2) I0(alpha t/2) until the wave is back (telegraph equation).
static double drag_error(int cells, double alpha)
{
    char text[TEXT];
    const double Z = 30.0, v0 = 10.0;
    double off = 0.0;
    snprintf(
        text, sizeof text,
        "mesh: { bar: { type: line, from: [0, 0, 0], to: [10, 0, 0], elements: %d } }\n"
        "elements: { bar: { type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0, damping: { mass: %g } } }\n"
        "initial: [ { set: bar, velocity: [-10, 0, 0] } ]\n"
        "contacts: { wall: { type: node_plane, nodes: bar.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: "
        "0.0 } }\n"
        "scheme: { type: wave }\n"
        "time: { step: auto, end: 0.66 }\n",
        cells, alpha);
    text_case run = text_case_open(text, NULL);
    while (!pcs_sim_is_done(run.sim)) {
        text_case_step(&run);
        double middle = run.sim->state.t - 0.5 * run.sim->step_size;
        off = fmax(off, fabs(run.sim->report.rows[0].force - Z * v0 * bessel(0.5 * alpha * middle)) / (Z * v0));
    }
    CHECK(run.sim->ledger.damping_loss > 1.0);
    text_case_close(&run);
    return off;
}

TEST(drag_follows_the_telegraph_equation)
{
    double error[3];
    for (int k = 0; k < 3; k++) error[k] = drag_error(100 << k, 3.0);
    print_message("drag: %.2e %.2e %.2e\n", error[0], error[1], error[2]);
    for (int k = 0; k < 2; k++) CHECK(log2(error[k] / error[k + 1]) > 0.95);
    CHECK(error[2] < 2e-3);
}

// A dashpot of the impedance of the bar swallows waves: the loaded end moves at P/Z for ever.
TEST(matched_dashpots_swallow_waves)
{
    text_case run = text_case_open(
        "mesh: { bar: { type: line, from: [0, 0, 0], to: [10, 0, 0], elements: 50 }, end: { type: point, nodes: "
        "bar.end "
        "} }\n"
        "elements: { bar: { type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0 }, end: { type: mount, mesh: end, "
        "damper: [30, 0, 0] } }\n"
        "loads: { push: { type: force, node: bar.start, value: [60, 0, 0] } }\n"
        "scheme: { type: wave }\n"
        "time: { step: auto, end: 4.0 }\n",
        NULL);
    double off = 0.0;
    while (!pcs_sim_is_done(run.sim)) {
        double x[3], v[3], reference[3];
        text_case_step(&run);
        text_case_node(&run, "bar.start", x, v, reference);
        off = fmax(off, fabs(x[0] - reference[0] - 2.0 * run.sim->state.t));
    }
    print_message("matched dashpot: off by %.1e m\n", off);
    CHECK(off < 1e-11);
    text_case_close(&run);
}

// Two halves joined by a bilateral row are the bar of Doyen, Ern and Piperno: force 300 + 300 (t - 1) N from 1 to
// 5/3 s, gap 5 m again after a period.
TEST(joints_pass_waves_on)
{
    text_case run = text_case_open(
        "mesh:\n"
        "  low: { type: line, from: [0, 5, 0], to: [0, 10, 0], elements: 50 }\n"
        "  high: { type: line, from: [0, 10, 0], to: [0, 15, 0], elements: 50 }\n"
        "elements: { low: { type: rod, mesh: low, E: 900.0, rho: 1.0, area: 1.0 }, high: { type: rod, mesh: high, E: "
        "900.0, rho: 1.0, area: 1.0 } }\n"
        "loads: { weight: { type: gravity, g: [0, -10.0, 0] } }\n"
        "joints: { glue: { type: ball, a: low.end, b: high.start } }\n"
        "contacts: { floor: { type: node_plane, nodes: low.start, point: [0, 0, 0], normal: [0, 1, 0], restitution: "
        "0.0 "
        "} }\n"
        "scheme: { type: wave }\n"
        "time: { step: auto, end: 5.333333333333333 }\n",
        NULL);
    double off = 0.0, h = run.sim->step_size;
    int floor_row = -1;
    for (int j = 0; j < run.sim->system->nrow; j++)
        if (!run.sim->system->rows[j].is_bilateral) floor_row = j;
    CHECK(floor_row >= 0);
    while (!pcs_sim_is_done(run.sim)) {
        text_case_step(&run);
        double t = run.sim->state.t - 0.5 * h, s = fmin(t, 16.0 / 3.0 - t);
        double exact = s > 1.0 && s < 5.0 / 3.0 ? 300.0 + 300.0 * (s - 1.0) : 0.0;
        off = fmax(off, fabs(run.sim->report.rows[floor_row].force - exact));
    }
    double gap, rate;
    text_case_gap_error(&run, &gap, &rate);
    print_message("joined halves: force off by %.1e N, joint by %.1e m\n", off, gap);
    CHECK(off < 1e-9 && gap < 1e-12);
    CHECK_NEAR(run.sim->report.rows[floor_row].gap, 5.0, 1e-10);
    text_case_close(&run);
}

// Five bars in a row, the first at v0: the pulse runs through, the last flies off with v0 and the others rest.
TEST(a_row_of_bars_hands_the_pulse_on)
{
    char text[TEXT] = "mesh:\n", line[512];
    enum { BARS = 5, CELLS = 20 };
    size_t used = strlen(text);
    for (int i = 0; i < BARS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  b%d: { type: line, from: [%d, 0, 0], to: [%d, 0, 0], elements: %d }\n", i, i, i + 1,
                                 CELLS);
    used += (size_t)snprintf(text + used, sizeof text - used, "elements:\n");
    for (int i = 0; i < BARS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  b%d: { type: rod, mesh: b%d, E: 200.0, rho: 2.0, area: 0.5 }\n", i, i);
    used += (size_t)snprintf(text + used, sizeof text - used, "contacts:\n");
    for (int i = 0; i + 1 < BARS; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "  c%d: { type: node_node, a: b%d.end, b: b%d.start, normal: [1, 0, 0], restitution: 0.0 "
                             "}\n",
                             i, i, i + 1);
    snprintf(line, sizeof line,
             "initial: [ { set: b0, velocity: [4, 0, 0] } ]\nscheme: { type: wave }\ntime: { step: auto, end: 1.5 }\n");
    text_case run = text_case_open(text, line, NULL);
    text_case_run(&run);
    int n = run.sim->system->nv;
    CHECK(n == BARS * (CELLS + 1));
    for (int i = 0; i < n; i++) CHECK_NEAR(run.sim->state.v[i], i < n - CELLS - 1 ? 0.0 : 4.0, 1e-11);
    CHECK(run.sim->ledger.now.strain < 1e-20);
    text_case_close(&run);
}
