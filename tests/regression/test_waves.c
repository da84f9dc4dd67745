// Scheme `wave` against exact solutions: impulses of contacts step by step, springs, dashpots, supports and joints at
// ends, sections that vary, beams in the plane and in space.

#include "support/check.h"
#include "support/run_case.h"
#include "support/text_case.h"

#include <math.h>
#include <string.h>

enum { MOST = 8000 };

// What a contact has given since t = 0, N s; p: numbers of the case.
typedef double impulse_of(double t, const double *p);

typedef struct match {
    double off;      // of the impulses of all steps, L1, of their sum
    double energy;   // largest change, of the energy at the start
    double smallest; // gap, m
    double peak;     // force, N
    double gap;      // at the end, m
} match;

// Runs to the end and closes. The contact is the first row that is no joint.
static match compare(text_case run, impulse_of *exact, const double *p)
{
    const pcs_sim *sim = run.sim;
    match m = { .smallest = INFINITY };
    double size = 0.0;
    int row = 0;
    while (sim->system->rows[row].is_bilateral) row++;
    CHECK_OK(run.ctx, pcs_sim_start(run.sim));
    double energy = pcs_measure_energy(&sim->ledger.now);
    while (!pcs_sim_is_done(sim)) {
        double before = sim->state.t;
        text_case_step(&run);
        const pcs_row_report *r = &sim->report.rows[row];
        double wanted = exact(sim->state.t, p) - exact(before, p);
        m.off += fabs(r->step_impulse - wanted);
        size += fabs(wanted);
        m.energy = fmax(m.energy, fabs(pcs_measure_energy(&sim->ledger.now) / energy - 1.0));
        m.smallest = fmin(m.smallest, r->gap);
        m.peak = fmax(m.peak, r->force);
        m.gap = r->gap;
    }
    m.off /= size;
    text_case_close(&run);
    return m;
}

#define WALL(node, normal)                                                                                             \
    "contacts: { wall: { type: node_plane, nodes: " node ", point: [0, 0, 0], normal: [" normal "], restitution: 0.0 " \
    "} }\n"
#define WAVE "scheme: { type: wave }\ntime: { step: auto, end: %.17g }\n"

// --- Doyen's bar: c = 30 m/s, Z = 30 N s/m, released above the floor under 10 m/s2 ----------------------------------

static const double period = 16.0 / 3.0;

// From the impact at t1 = sqrt(2 h/g) on the force is Z g t for two travel times; from 5 m the bar comes back after
// every 16/3 s in mirror image.
static double one_bounce(double t, double height)
{
    double start = sqrt(0.2 * height), x = fmin(fmax(t, start), start + 2.0 / 3.0);
    return 150.0 * (x * x - start * start);
}

static double bounces(double t, const double *p)
{
    double n = floor(t / period), s = t - n * period, whole = one_bounce(period, *p);
    return (2.0 * n + 1.0) * whole + one_bounce(s, *p) - one_bounce(period - s, *p);
}

static match drop(double height, int cells, const char *rounding, double end)
{
    return compare(
        text_case_print(
            "mesh: { bar: { type: line, from: [0, %.17g, 0], to: [0, %.17g, 0], elements: %d } }\n"
            "elements: { bar: { type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0 } }\n"
            "loads: { weight: { type: gravity, g: [0, -10.0, 0] } }\n" WALL(
                "bar.start", "0, 1, 0") "scheme: { type: wave, rounding: %s }\ntime: { step: auto, end: %.17g }\n",
            height, height + 10.0, cells, rounding, end),
        bounces, &height);
}

// What meets at the very end of a step is a tie to `rounding: before`, which round-off must not decide.
TEST(doyens_bar_keeps_its_orbit)
{
    for (int k = 0; k < 4; k++) {
        int cells = k < 2 ? 50 : 200;
        match m = drop(5.0, cells, k % 2 == 0 ? "nearest" : "before", 10.0 * period);
        CHECK(m.off < 1e-10 && m.energy < 1e-9 && m.smallest > -1e-9);
        CHECK_NEAR(m.gap, 5.0, 5e-9);
        CHECK_NEAR(m.peak, 500.0 - 50.0 / cells, 1e-6); // exact mean of the last step of a contact
    }
}

// Impacts rounded to steps: first order in the step, no energy is lost or gained, and `before` never penetrates.
TEST(drops_off_the_grid_are_rounded)
{
    for (int k = 1; k < 9; k += 2) {
        double height = 5.0 + 0.0137 * k;
        match before = drop(height, 100, "before", 2.5), nearest = drop(height, 100, "nearest", 2.5);
        match fine = drop(height, 400, "nearest", 2.5);
        CHECK(before.smallest > -1e-11 && fmax(before.energy, nearest.energy) < 1e-9);
        CHECK(before.off < 0.01 && nearest.off < 0.006 && fine.off < 0.006 / 4.0);
    }
}

// Two halves joined by a bilateral row are the same bar.
TEST(joints_pass_waves_on)
{
    const double height = 5.0;
    match m = compare(text_case_print("mesh:\n  low: { type: line, from: [0, 5, 0], to: [0, 10, 0], elements: 50 }\n"
                                      "  high: { type: line, from: [0, 10, 0], to: [0, 15, 0], elements: 50 }\n"
                                      "elements: { low: { type: rod, mesh: low, E: 900.0, rho: 1.0, area: 1.0 },\n"
                                      "            high: { type: rod, mesh: high, E: 900.0, rho: 1.0, area: 1.0 } }\n"
                                      "loads: { weight: { type: gravity, g: [0, -10.0, 0] } }\n"
                                      "joints: { glue: { type: ball, a: low.end, b: high.start } }\n" WALL(
                                          "low.start", "0, 1, 0") WAVE,
                                      period),
                      bounces, &height);
    CHECK(m.off < 1e-11);
    CHECK_NEAR(m.gap, 5.0, 1e-10);
}

// Masses tuned to the step take most of the ringing out of other schemes.
TEST(tuned_masses_calm_the_force)
{
    const struct {
        const char *scheme;
        double plain, tuned; // force, L1, at least and at most
    } known[] = { { "scheme={type: alpha_ggl, rho_inf: 0.8}", 0.015, 0.0045 },
                  { "scheme={type: moreau_jean, theta: 0.5}", 0.021, 0.0066 },
                  { "scheme={type: newmark, gamma: 0.5}", 0.021, 0.0066 } };
    const double height = 5.0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        match m[2];
        for (int k = 0; k < 2; k++) {
            const char *const set[] = { known[i].scheme,
                                        k == 0 ? "elements.bar.mass=consistent" : "elements.bar.mass=tuned",
                                        "mesh.bar.elements=400", "time={step: 7.916666666666667e-4, end: 5.33}", NULL };
            case_run run = case_open("cases/bar_bouncing", set);
            m[k] = compare((text_case){ run.ctx, run.sim }, bounces, &height);
        }
        CHECK(m[0].off > known[i].plain && m[1].off < known[i].tuned && m[1].peak < m[0].peak - 20.0);
    }
}

// --- Collisions ------------------------------------------------------------------------------------------------------

// Force v0 Z1 Z2/(Z1 + Z2) times r^k, r = (Z1 - Z2)/(Z1 + Z2), in the k-th travel through the left bar and back, until
// the right bar answers; where Z1 <= Z2 only once. p: force, trip, r.
static double collision(double t, const double *p)
{
    double sum = 0.0, force = p[0];
    for (int k = 0; k * p[1] < t && force > 1e-12 * p[0]; k++, force *= p[2]) sum += force * fmin(t - k * p[1], p[1]);
    return sum;
}

// Two bars along x that touch at t = 0, the left one at 3 m/s. c = 10 m/s in both, Z2 = 10 N s/m.
TEST(colliding_bars_follow_the_textbook)
{
    const struct {
        double left, left_area, right;
    } pairs[] = { { 3.0, 0.5, 8.0 },  { 2.0, 1.5, 12.0 }, { 2.0, 4.0, 20.0 },
                  { 3.0, 0.2, 10.0 }, { 1.0, 0.9, 20.0 }, { 0.1, 0.5, 5.0 } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double L = pairs[i].left, Z1 = 20.0 * pairs[i].left_area, trip = 0.2 * L;
        const double p[3] = { 30.0 * Z1 / (Z1 + 10.0), trip, (Z1 - 10.0) / (Z1 + 10.0) };
        match m = compare(
            text_case_print("mesh:\n  left: { type: line, from: [%.17g, 0, 0], to: [0, 0, 0], elements: %.0f }\n"
                            "  right: { type: line, from: [0, 0, 0], to: [%.17g, 0, 0], elements: %.0f }\n"
                            "elements:\n  left: { type: rod, mesh: left, E: 200.0, rho: 2.0, area: %.17g }\n"
                            "  right: { type: rod, mesh: right, E: 200.0, rho: 2.0, area: 0.5 }\n"
                            "initial: [ { set: left, velocity: [3, 0, 0] } ]\n"
                            "contacts: { hit: { type: node_node, a: left.end, b: right.start, normal: [1, 0, 0],\n"
                            "                   restitution: 0.0 } }\n" WAVE,
                            -L, 10.0 * L, pairs[i].right, 10.0 * pairs[i].right, pairs[i].left_area,
                            fmin(0.2 * pairs[i].right, 12.0 * trip)),
            collision, p);
        CHECK(m.off < 1e-11 && m.energy < 1e-11);
    }
}

// Saint-Venant's mass m at 1 m/s on a clamped bar, L = c = Z = 1: v = exp(-t/m) until the wave is back at 2, then
// exp(-s/m) (exp(-2/m) - 2 s/m), s = t - 2, as long as the force is positive, which is v + 2 exp(-s/m).
static double saint_venant(double t, const double *p)
{
    double m = *p, end = m * (1.0 + 0.5 * exp(-2.0 / m)), s = fmin(t - 2.0, end);
    return m * (1.0 - (t < 2.0 ? exp(-t / m) : exp(-s / m) * (exp(-2.0 / m) - 2.0 * s / m)));
}

// Second order, as the force is none where the contact ends. Timoshenko and Goodier tell 3.068 for m = 1.
TEST(saint_venants_mass_on_a_rod)
{
    const double masses[] = { 0.5, 1.0, 1.5 };
    for (int i = 0; i < 3 * 2; i++) {
        double m = masses[i / 2], end = 2.0 + m * (1.0 + 0.5 * exp(-2.0 / m));
        int cells = i % 2 == 0 ? 50 : 400;
        match got = compare(
            text_case_print("mesh:\n  bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: %d }\n"
                            "  ball: { type: point, at: [0, 0, 0] }\n"
                            "elements:\n  bar: { type: rod, mesh: bar, E: 1.0, rho: 1.0, area: 1.0 }\n"
                            "  ball: { type: point_mass, mesh: ball, mass: %.17g }\n"
                            "supports: { clamp: { set: bar.end, fix: [x] }, guide: { set: ball, fix: [y, z] } }\n"
                            "initial: [ { set: ball, velocity: [1, 0, 0] } ]\n"
                            "contacts: { hit: { type: node_node, a: ball, b: bar.start, normal: [1, 0, 0],\n"
                            "                   restitution: 0.0 } }\n" WAVE,
                            cells, m, end + 0.1),
            saint_venant, &m);
        CHECK(got.off < 1.0 / (cells * cells) && got.gap > 0.0);
    }
}

// A mass of 2 kg in front of a light bar meets a wall: its own impact keeps the restitution of the case.
TEST(masses_rebound_by_their_restitution)
{
    for (int k = 0; k <= 2; k++) {
        double e = 0.5 * k;
        text_case run = text_case_print(
            "mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 100 },\n"
            "        ball: { type: point, at: [0, 0, 0] } }\n"
            "merge: { tip: { sets: [bar.start, ball] } }\n"
            "elements: { bar: { type: rod, mesh: bar, E: 1.0e-3, rho: 1.0e-3, area: 1.0 },\n"
            "            ball: { type: point_mass, mesh: ball, mass: 2.0 } }\n"
            "supports: { guide: { set: ball, fix: [y, z] } }\ninitial: [ { set: bar, velocity: [-3, 0, 0] } ]\n"
            "contacts: { wall: { type: node_plane, nodes: bar.start, point: [-0.3, 0, 0], normal: [1, 0, 0],\n"
            "                    restitution: %g } }\n" WAVE,
            e, 0.14);
        text_case_run(&run);
        CHECK_NEAR(run.sim->state.v[run.sim->system->G->column[0]] / 3.0, e, 2e-3); // the light bar pushes a little
        CHECK_NEAR(run.sim->ledger.impact_loss, (1.0 - e * e) * 9.0, 1e-2);
        text_case_close(&run);
    }
}

// A restitution at the bare end of a bar cannot act, and is not ignored.
TEST(bare_ends_refuse_restitution)
{
    text_case run;
    pcs_status status = text_case_try("mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 10 } }\n"
                                      "elements: { bar: { type: rod, mesh: bar, E: 1.0, rho: 1.0, area: 1.0 } }\n"
                                      "contacts: { wall: { type: node_plane, nodes: bar.start, point: [-1, 0, 0], "
                                      "normal: [1, 0, 0], restitution: 0.5 } }\n"
                                      "scheme: { type: wave }\ntime: { step: auto, end: 1.0 }\n",
                                      &run);
    CHECK_STATUS(run.ctx, status, PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(run.ctx), "contact 'wall' has a restitution of 0.5");
    text_case_close(&run);
}

// Three bars in a row, the first at 4 m/s: the pulse runs through, the last flies off and the others rest.
TEST(a_row_of_bars_hands_the_pulse_on)
{
    text_case run = text_case_print(
        "mesh:\n  a: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 20 }\n"
        "  b: { type: line, from: [1, 0, 0], to: [2, 0, 0], elements: 20 }\n"
        "  c: { type: line, from: [2, 0, 0], to: [3, 0, 0], elements: 20 }\n"
        "elements:\n  a: { type: rod, mesh: a, E: 200.0, rho: 2.0, area: 0.5 }\n"
        "  b: { type: rod, mesh: b, E: 200.0, rho: 2.0, area: 0.5 }\n"
        "  c: { type: rod, mesh: c, E: 200.0, rho: 2.0, area: 0.5 }\n"
        "initial: [ { set: a, velocity: [4, 0, 0] } ]\n"
        "contacts:\n  ab: { type: node_node, a: a.end, b: b.start, normal: [1, 0, 0], restitution: 0.0 }\n"
        "  bc: { type: node_node, a: b.end, b: c.start, normal: [1, 0, 0], restitution: 0.0 }\n" WAVE,
        0.6);
    text_case_run(&run);
    for (int i = 0; i < 63; i++) CHECK_NEAR(run.sim->state.v[i], i < 42 ? 0.0 : 4.0, 1e-11);
    CHECK(run.sim->ledger.now.strain < 1e-20);
    text_case_close(&run);
}

// --- Ends: c = 30 m/s, Z = 30 N s/m, 10 m long ----------------------------------------------------------------------

#define BAR                                                                         \
    "mesh: { bar: { type: line, from: [0, 0, 0], to: [10, 0, 0], elements: %d },\n" \
    "        end: { type: point, nodes: %s } }\n"                                   \
    "elements: { bar: { type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0 },\n"   \
    "            end: { type: mount, mesh: end, %s: [%g, 0, 0] } }\n"

// Of the start of the bar in every step from exact(t), of its largest.
static double end_error(text_case run, double (*exact)(double t))
{
    double off = 0.0, size = 0.0;
    while (!pcs_sim_is_done(run.sim)) {
        double x[3], v[3], reference[3];
        text_case_step(&run);
        text_case_node(&run, "bar.start", x, v, reference);
        off = fmax(off, fabs(x[0] - reference[0] - exact(run.sim->state.t)));
        size = fmax(size, fabs(exact(run.sim->state.t)));
    }
    text_case_close(&run);
    return off / size;
}

static double sprung(double t)
{
    return -0.5 * (1.0 - exp(-20.0 * t));
}

// It flies at 10 m/s onto a spring, 600 N/m: until the wave is back its end has moved by v0 Z/k (1 - exp(-k t/Z)).
TEST(springs_at_ends_are_of_second_order)
{
    double error[2];
    for (int k = 0; k < 2; k++)
        error[k] = end_error(text_case_print(BAR "initial: [ { set: bar, velocity: [-10, 0, 0] } ]\n" WAVE, 200 << k,
                                             "bar.start", "stiffness", 600.0, 0.66),
                             sprung);
    CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.05);
    CHECK(error[1] < 2e-4);
}

static double swallowed(double t)
{
    return 2.0 * t;
}

// A dashpot of the impedance of the bar swallows waves: the end loaded by 60 N moves at P/Z for ever.
TEST(matched_dashpots_swallow_waves)
{
    text_case run = text_case_print(BAR "loads: { push: { type: force, node: bar.start, value: [60, 0, 0] } }\n" WAVE,
                                    50, "bar.end", "damper", 30.0, 4.0);
    CHECK(end_error(run, swallowed) < 1e-12);
}

// I0(x) and I1(x) times exp(-x).
static double bessel(int order, double x)
{
    double term = order == 0 ? 1.0 : 0.5 * x, sum = term;
    for (int k = 1; k < 60; k++) sum += term *= 0.25 * x * x / (k * (k + order));
    return sum * exp(-x);
}

// Force Z v0 exp(-x) I0(x), x = alpha t/2, of the telegraph equation until the wave is back.
static double dragged(double t, const double *alpha)
{
    double x = 0.5 * *alpha * t;
    return 300.0 * t * (bessel(0, x) + bessel(1, x));
}

TEST(drag_follows_the_telegraph_equation)
{
    const double alpha = 3.0;
    double error[2];
    for (int k = 0; k < 2; k++)
        error[k] = compare(text_case_print(
                               "mesh: { bar: { type: line, from: [0, 0, 0], to: [10, 0, 0], elements: %d } }\n"
                               "elements: { bar: { type: rod, mesh: bar, E: 900.0, rho: 1.0, area: 1.0,\n"
                               "                   damping: { mass: 3.0 } } }\n"
                               "initial: [ { set: bar, velocity: [-10, 0, 0] } ]\n" WALL("bar.start", "1, 0, 0") WAVE,
                               200 << k, 0.66),
                           dragged, &alpha)
                       .off;
    CHECK(log2(error[0] / error[1]) > 1.9 && error[1] < 1e-6);
}

// A step load P on a clamped bar: its end moves in a triangle of period 4 L/c and height 2 P L/(E A), the clamp carries
// 0 and 2 P in turn.
TEST(step_load_makes_a_triangle)
{
    const double P = 7.0, quarter = 0.2;
    text_case run = text_case_print("mesh: { bar: { type: line, from: [0, 0, 0], to: [2, 0, 0], elements: 37 } }\n"
                                    "elements: { bar: { type: rod, mesh: bar, E: 200.0, rho: 2.0, area: 0.5 } }\n"
                                    "supports: { clamp: { set: bar.start, fix: [x], reactions: true } }\n"
                                    "loads: { pull: { type: force, node: bar.end, value: [7.0, 0, 0] } }\n" WAVE,
                                    16.0);
    double h = run.sim->step_size;
    while (!pcs_sim_is_done(run.sim)) {
        text_case_step(&run);
        double s = fmod(run.sim->state.t, 0.8), middle = fmod(run.sim->state.t - 0.5 * h, 0.8);
        CHECK_NEAR(run.sim->state.q[run.sim->system->nv - 1], 0.1 * P * fmin(s, 0.8 - s), 1e-11);
        CHECK_NEAR(run.sim->reactions[0].force[0], middle > quarter && middle < 3.0 * quarter ? -2.0 * P : 0.0, 1e-9);
    }
    text_case_close(&run);
}

// --- Sections that vary ----------------------------------------------------------------------------------------------

// Impulses of the steps and their number; the energy stays.
static int impulses(text_case run, double *impulse)
{
    CHECK_OK(run.ctx, pcs_sim_start(run.sim));
    double energy = pcs_measure_energy(&run.sim->ledger.now);
    int count = 0;
    for (; !pcs_sim_is_done(run.sim); count++) {
        CHECK(count < MOST);
        text_case_step(&run);
        impulse[count] = run.sim->report.rows[0].step_impulse;
    }
    CHECK_RELATIVE(pcs_measure_energy(&run.sim->ledger.now), energy, 1e-11);
    text_case_close(&run);
    return count;
}

// A bar of length 10, c = 30, hits a wall at 10 m/s.
static int tapered(const char *area, int cells, double *impulse)
{
    return impulses(text_case_print("mesh: { a: { type: line, from: [0, 0, 0], to: [10, 0, 0], elements: %d } }\n"
                                    "elements: { a: { type: rod, mesh: a, E: 900.0, rho: 1.0, area: %s } }\n"
                                    "initial: [ { set: a, velocity: [-10, 0, 0] } ]\n" WALL("a.start", "1, 0, 0") WAVE,
                                    cells, area, 2.0),
                    impulse);
}

// Sums over `pair` steps of a coarser mesh against those of a finer one, with `share` times as many, relative L1.
static double distance(int count, const double *coarse, int share, const double *fine, int pair)
{
    double off = 0.0, size = 0.0;
    for (int i = 0; i + pair <= count; i += pair) {
        double sum = 0.0, own = 0.0;
        for (int j = 0; j < share * pair; j++) sum += fine[i * share + j];
        for (int j = 0; j < pair; j++) own += coarse[i + j];
        off += fabs(own - sum);
        size += fabs(sum);
    }
    return off / size;
}

// A step between cells is exact at any number of them, and the same as two parts that share a node.
TEST(steps_of_area_are_exact)
{
    static double coarse[MOST], fine[MOST], parts[MOST];
    int count = tapered("{ steps: [[0, 1.0], [4, 2.5]] }", 50, coarse);
    CHECK(tapered("{ steps: [[0, 1.0], [4, 2.5]] }", 400, fine) == 8 * count);
    CHECK(distance(count, coarse, 8, fine, 1) < 1e-12);
    int again = impulses(
        text_case_print("mesh:\n  a: { type: line, from: [0, 0, 0], to: [4, 0, 0], elements: 20 }\n"
                        "  b: { type: line, from: [4, 0, 0], to: [10, 0, 0], elements: 30 }\n"
                        "merge: { ab: { sets: [a.end, b.start] } }\n"
                        "elements:\n  a: { type: rod, mesh: a, E: 900.0, rho: 1.0, area: 1.0 }\n"
                        "  b: { type: rod, mesh: b, E: 900.0, rho: 1.0, area: 2.5 }\n"
                        "initial: [ { set: a, velocity: [-10, 0, 0] }, { set: b.rest, velocity: [-10, 0, 0] } ]\n" WALL(
                            "a.start", "1, 0, 0") WAVE,
                        2.0),
        parts);
    CHECK(again == count && distance(count, coarse, 1, parts, 1) < 1e-12);
    // The first wave finds Z = 30, the one behind it (Z2 - Z1)/(Z2 + Z1) of its own.
    double h = 10.0 / 50.0 / 30.0;
    CHECK_RELATIVE(coarse[2] / h, 300.0, 1e-12);
    CHECK_RELATIVE(coarse[45] / h, 300.0 * (1.0 + 2.0 * 1.5 / 3.5), 1e-12);
}

// A taper is a staircase of impedances, whose waves come back every second step: forces over two steps are of second
// order.
TEST(tapers_are_of_second_order)
{
    static double finest[MOST], coarse[MOST];
    double error[2];
    tapered("{ from: 1.0, to: 3.0 }", 1280, finest);
    for (int k = 0; k < 2; k++) {
        int count = tapered("{ from: 1.0, to: 3.0 }", 40 << 2 * k, coarse);
        error[k] = distance(count - 1, coarse, 32 >> 2 * k, finest, 2);
    }
    CHECK(error[1] < 2e-5 && 0.5 * log2(error[0] / error[1]) > 1.8);
}

// --- Beams -----------------------------------------------------------------------------------------------------------

// The end of a beam meets a stop at 10 m/s, across or along; c_s = 16.984 m/s, rho A = 1 where the height is 3^0.5 m.
static int beam(const char *element, const char *height, int cells, const char *normal, const char *velocity,
                const char *waves, double *impulse)
{
    return impulses(
        text_case_print("mesh: { beam: { type: line, from: [0, 0, 0], to: [10, 0, 0], elements: %d } }\n"
                        "elements: { beam: { type: %s, mesh: beam, E: 900.0, nu: 0.3, rho: 1.0,\n"
                        "  section: { type: rectangle, width: 0.5773502691896258, height: %s } } }\n"
                        "contacts: { stop: { type: node_plane, nodes: beam.start, restitution: 0.0, point: [0, 0, 0],\n"
                        "                    normal: %s } }\ninitial: [ { set: beam, velocity: %s } ]\n"
                        "scheme: { type: wave%s }\ntime: { end: 0.8, step: auto }\n",
                        cells, element, height, normal, velocity, waves),
        impulse);
}

// The first force is rho A c_s v0 and the largest; the rest converges.
TEST(fronts_of_beams_are_clean)
{
    static const char height[] = "1.7320508075688772", across[] = "[0, 1, 0]", down[] = "[0, -10, 0]";
    static double fine[MOST], coarse[MOST];
    const double front = sqrt(900.0 * 5.0 / 6.0 / 2.6) * 10.0, h = 10.0 / 200 / (0.1 * front);
    double error[2];
    beam("beam_timo_2d", height, 800, across, down, "", fine);
    for (int k = 0; k < 2; k++) {
        int n = beam("beam_timo_2d", height, 100 << k, across, down, "", coarse);
        error[k] = distance(n - 1, coarse, 8 >> k, fine, 1);
        for (int i = 1; i < n; i++) CHECK(coarse[i] <= coarse[0]);
    }
    CHECK_NEAR(coarse[0] / h, front, 0.15);
    CHECK(error[1] < 0.012 && log2(error[0] / error[1]) > 1.5);
}

// A beam in space does what the plane one does, in either plane and however it lies.
TEST(beams_in_space_carry_the_same_waves)
{
    static const char height[] = "{ from: 1.7320508075688772, to: 1.2 }";
    static const struct {
        const char *element, *normal, *velocity, *waves;
    } all[] = { { "beam_timo_2d", "[0, 1, 0]", "[0, -10, 0]", "" },
                { "beam_timo_3d, orientation: [0, 1, 0]", "[0, 1, 0]", "[0, -10, 0]", "" },
                { "beam_timo_3d, orientation: [0, 0, 1]", "[0, 0, 1]", "[0, 0, -10]", "" },
                { "beam_timo_3d, orientation: [0, -4, 3]", "[0, -0.8, 0.6]", "[0, 8, -6]", "" },
                { "beam_timo_2d", "[1, 0, 0]", "[-10, 0, 0]", ", waves: axial" },
                { "beam_timo_3d, orientation: [0, 1, 0]", "[1, 0, 0]", "[-10, 0, 0]", ", waves: axial" } };
    static double plane[MOST], space[MOST];
    int count = 0;
    for (int i = 0; i < 6; i++) {
        bool is_plane = i % 4 == 0;
        int n =
            beam(all[i].element, height, 60, all[i].normal, all[i].velocity, all[i].waves, is_plane ? plane : space);
        if (is_plane) count = n;
        else CHECK(n == count && distance(n, space, 1, plane, 1) < 1e-11);
    }
}

// Sections of a beam that turn all alike while its nodes stay where they are: shear alone drives them back,
// rho I r'' = -k G A r, w = sqrt(k G A/(rho I)). The midpoint rule gives r_n = sin(n p)/w with tan(p/2) = w h/2 from
// r = 0, r' = 1: rotary inertia and shear stiffness of one-point cells, to round-off.
TEST(sections_turn_back_by_shear)
{
    static const struct {
        const char *element, *fix, *spin;
        double about;
    } all[] = { { "beam_timo_2d", "x, y", "0, 0, 1", 0.03 },
                { "beam_timo_3d, orientation: [0, 1, 0]", "x, y, z, rx, ry", "0, 0, 1", 0.03 },
                { "beam_timo_3d, orientation: [0, 1, 0]", "x, y, z, rx, rz", "0, 1, 0", 0.05 } };
    for (int i = 0; i < 3; i++) {
        double A = 0.03 * 0.05, I = A * all[i].about * all[i].about / 12.0, kG = 5.0 / 6.0 * 8e10, rho = 8000.0;
        double w = sqrt(kG * A / (rho * I)), h = 0.125 / sqrt(kG / rho), phase = 2.0 * atan(0.5 * w * h);
        text_case run = text_case_print(
            "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 8 } }\n"
            "elements: { beam: { type: %s, mesh: beam, E: 2.0e+11, nu: 0.25, rho: 8000, section: { type: given,\n"
            "  area: 1.5e-3, Iy: 3.125e-7, Iz: 1.125e-7, torsion: 1.0e-6, ky: %.17g, kz: %.17g } } }\n"
            "supports: { hold: { set: beam, fix: [%s] } }\ninitial: [ { set: beam, spin: [%s] } ]\n" WAVE,
            all[i].element, 5.0 / 6.0, 5.0 / 6.0, all[i].fix, all[i].spin, 40.0 * h);
        for (int n = 1; n <= 40; n++) {
            text_case_step(&run);
            for (int k = 0; k <= 8; k++) CHECK_NEAR(run.sim->state.q[k] * w, sin(n * phase), 1e-11);
        }
        text_case_close(&run);
    }
}
