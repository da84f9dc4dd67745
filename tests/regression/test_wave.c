// Scheme `wave` against exact solutions: Doyen's bouncing bar over ten periods, drop heights off the grid of steps
// (marched exactly), colliding bars, a clamped bar under a step load.

#include "support/check.h"
#include "support/run_case.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 4096, MOST_PIECES = 4000 };

// --- A bar of length L dropped from a height, by characteristics -----------------------------------------------------
//
//   u(y, t) = h0 - g t^2/2 + F(t - y) + F(t - tau + y),   y = x/c,  tau = 2 L/c
//   open: F'(t) = F'(t - tau);   closed: F'(t) = g t - F'(t - tau), until 2 F'(t - tau) > g t
//
// F' is piecewise linear, so that every event is a root of a linear or quadratic equation.
typedef struct drop {
    double g, tau, height, impedance; // rho A c
    int count;
    double start[MOST_PIECES + 1], value[MOST_PIECES], slope[MOST_PIECES], sum[MOST_PIECES]; // F' and F at the start
} drop;

static int drop_piece(const drop *d, double t)
{
    int low = 0, high = d->count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (d->start[middle] <= t) low = middle;
        else high = middle - 1;
    }
    return low;
}

static double drop_sum(const drop *d, double t)
{
    int k = drop_piece(d, t);
    double s = t - d->start[k];
    return t < 0.0 ? 0.0 : d->sum[k] + d->value[k] * s + 0.5 * d->slope[k] * s * s;
}

static double drop_gap(const drop *d, double t)
{
    return d->height - 0.5 * d->g * t * t + drop_sum(d, t) + drop_sum(d, t - d->tau);
}

// Of the contact force since t = 0, N s.
static double drop_impulse(const drop *d, double t)
{
    return d->impedance * (drop_sum(d, t) - drop_sum(d, t - d->tau));
}

// The first root in (0, s] of a + b x + c x^2 that goes from positive to negative; s when there is none.
static double drop_root(double a, double b, double c, double s)
{
    double D = b * b - 4.0 * a * c;
    if (c == 0.0) return b < 0.0 && -a / b <= s ? -a / b : s;
    if (D < 0.0) return s;
    double x = -2.0 * a / (b - sqrt(D)); // the falling one
    return x > 0.0 && x <= s ? x : s;
}

// Adds the piece of F' that begins at t, up to the end of the piece a travel time before or to the next event.
static void drop_march(drop *d, double t, double end, bool *is_closed, double *next)
{
    double old = 0.0, slope = 0.0, until = d->tau;
    if (t >= d->tau) {
        int k = drop_piece(d, t - d->tau + 1e-13 * t);
        slope = d->slope[k];
        old = d->value[k] + slope * (t - d->tau - d->start[k]);
        until = (k + 1 < d->count ? d->start[k + 1] : end) + d->tau;
    }
    double span = fmin(until, end) - t, stop;
    int n = d->count;
    CHECK(n < MOST_PIECES);
    d->start[n] = t;
    d->sum[n] = n == 0 ? 0.0 : drop_sum(d, t);
    d->value[n] = *is_closed ? d->g * t - old : old;
    d->slope[n] = *is_closed ? d->g - slope : slope;
    d->count++;
    if (*is_closed) { // opens where g t - 2 F'(t - tau) falls through zero
        double excess = d->g * t - 2.0 * old, rate = d->g - 2.0 * slope;
        stop = excess < -1e-9 * d->g * t ? 0.0 : drop_root(fmax(excess, 0.0), rate, 0.0, span);
    } else {
        double old_sum = t < d->tau ? 0.0 : drop_sum(d, t - d->tau);
        double gap = d->height - 0.5 * d->g * t * t + d->sum[n] + old_sum;
        double rate = 2.0 * old - d->g * t;
        stop = gap < 1e-9 * d->height && rate < 0.0 ? 0.0 : drop_root(fmax(gap, 0.0), rate, slope - 0.5 * d->g, span);
    }
    if (stop < span) *is_closed = !*is_closed;
    if (stop <= 0.0) d->count--; // an event at once: no piece
    *next = t + stop;
}

static void drop_solve(drop *d, double end)
{
    bool is_closed = false;
    for (double t = 0.0, next; t < end; t = next) drop_march(d, t, end, &is_closed, &next);
}

static drop *doyen_drop(double height, double end)
{
    static drop d;
    d = (drop){ .g = 10.0, .tau = 2.0 / 3.0, .height = height, .impedance = 30.0 };
    drop_solve(&d, end);
    return &d;
}

// --- Doyen's bar -----------------------------------------------------------------------------------------------------

static const double period = 16.0 / 3.0;

typedef struct bounce {
    double force;    // relative L1 error of the force, against the exact means over steps
    double peak;     // N
    double energy;   // largest change, of 500 J
    double gap;      // after the last step, of the height
    double smallest; // gap, m
} bounce;

static bounce bounce_measure(const drop *d, int elements, int periods, const char *rounding)
{
    char mesh[160], scheme[64], end[64];
    bounce b = { 0 };
    double off = 0.0, size = 0.0;
    snprintf(mesh, sizeof mesh, "mesh.bar={type: line, from: [0, %.17g, 0], to: [0, %.17g, 0], elements: %d}",
             d->height, d->height + 10.0, elements);
    snprintf(scheme, sizeof scheme, "scheme={type: wave, rounding: %s}", rounding);
    snprintf(end, sizeof end, "time.end=%.17g", periods * period);
    case_run run = case_run_all("cases/bar_wave", (const char *const[]){ mesh, scheme, end, NULL });
    for (long i = 1; i < run.count; i++) {
        const case_record *r = &run.records[i];
        double exact = drop_impulse(d, r->t) - drop_impulse(d, run.records[i - 1].t);
        off += fabs(r->step_impulse - exact);
        size += fabs(exact);
        b.peak = fmax(b.peak, r->force);
        b.energy = fmax(b.energy, fabs(r->energy - run.records[0].energy) / 500.0);
    }
    b.force = off / size;
    b.gap = case_last(&run)->gap / d->height;
    b.smallest = case_smallest_gap(&run);
    case_close(&run);
    return b;
}

// The marched solution of the height whose motion is known in closed form.
TEST(marching_meets_the_closed_form)
{
    const drop *d = doyen_drop(5.0, 10.0 * period);
    for (int i = 0; i <= 5000; i++) {
        double t = 10.0 * period * i / 5000.0, r = fmod(t, period), s = fmin(r, period - r), a = s - 5.0 / 3.0;
        double z = fmod(a, 2.0 / 3.0), gap = 5.0 - 5.0 * s * s;
        if (s >= 1.0) gap = 0.0;
        if (a >= 0.0) gap = 10.0 * a - 5.0 * a * a + 10.0 * z * z - 20.0 / 3.0 * z;
        CHECK_NEAR(drop_gap(d, t), gap, 1e-9);
    }
    CHECK_NEAR(drop_impulse(d, 10.0 * period), 16000.0 / 3.0, 1e-8);
}

TEST(doyens_bar_keeps_its_orbit)
{
    const drop *d = doyen_drop(5.0, 10.0 * period);
    for (int n = 50; n <= 400; n *= 2) {
        // What meets at the very end of a step is a tie to `rounding: before`, which round-off must not decide.
        bounce b = bounce_measure(d, n, 10, "before");
        CHECK(b.force < 1e-10 && b.energy < 1e-9 && fabs(b.gap - 1.0) < 1e-9 && b.smallest > -1e-9);
        b = bounce_measure(d, n, 10, "nearest");
        print_message("%d cells: force %.2e, peak %.4f N, energy %.2e, gap ratio - 1 %.2e\n", n, b.force, b.peak,
                      b.energy, b.gap - 1.0);
        CHECK(b.force < 1e-10 && b.energy < 1e-9 && fabs(b.gap - 1.0) < 1e-9);
        CHECK_NEAR(b.peak, 500.0 - 50.0 / n, 1e-6); // exact mean of the last step of a contact
    }
}

// `rounding: before` never penetrates, wherever an impact falls.
TEST(rounding_before_never_penetrates)
{
    for (int k = 0; k < 9; k++) {
        double height = 5.0 + 0.0137 * k;
        const drop *d = doyen_drop(height, 2.0 * period);
        bounce before = bounce_measure(d, 100, 2, "before"), nearest = bounce_measure(d, 100, 2, "nearest");
        print_message("h0 = %g: smallest gap %.2e m (nearest: %.2e m), force %.4f (%.4f)\n", height, before.smallest,
                      nearest.smallest, before.force, nearest.force);
        CHECK(before.smallest > -1e-11 && before.energy < 1e-9);
        CHECK(before.force < 0.06 && nearest.force < 0.03);
        if (k == 0) CHECK(before.force < 1e-10);
    }
}

// Impacts rounded to steps: first order in the step, and no energy is lost or gained.
TEST(drops_off_the_grid_converge)
{
    const struct {
        double height;
        int elements, periods;
        double force, gap; // at most, and the largest distance of gaps
    } known[] = { { 5.0123, 400, 1, 0.0034, 0.002 },
                  { 5.0123, 400, 10, 0.0038, 0.002 },
                  { 5.0123, 100, 1, 0.0075, 0.01 },
                  { 5.0123, 100, 10, 0.0112, 0.03 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const drop *d = doyen_drop(known[i].height, known[i].periods * period);
        bounce b = bounce_measure(d, known[i].elements, known[i].periods, "nearest");
        double gap = drop_gap(d, known[i].periods * period) / known[i].height;
        print_message("h0 = %g, %d cells, %d periods: force %.4f, gap %.4f, exact %.4f, energy %.1e\n", known[i].height,
                      known[i].elements, known[i].periods, b.force, b.gap, gap, b.energy);
        CHECK(b.force < known[i].force && b.energy < 1e-9);
        CHECK_NEAR(b.gap, gap, known[i].gap);
    }
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
    const drop *d = doyen_drop(5.0, 5.33);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double error[2], peak[2];
        for (int k = 0; k < 2; k++) {
            const char *const set[] = { known[i].scheme,
                                        k == 0 ? "elements.bar.mass=consistent" : "elements.bar.mass=tuned",
                                        "mesh.bar.elements=400", "time={step: 7.916666666666667e-4, end: 5.33}", NULL };
            case_run run = case_run_all("cases/bar_bouncing", set);
            double off = 0.0, size = 0.0;
            peak[k] = 0.0;
            for (long n = 1; n < run.count; n++) {
                double h = run.records[n].t - run.records[n - 1].t;
                double exact = drop_impulse(d, run.records[n].t) - drop_impulse(d, run.records[n - 1].t);
                off += fabs(run.records[n].step_impulse - exact);
                size += exact;
                peak[k] = fmax(peak[k], run.records[n].step_impulse / h);
            }
            error[k] = off / size;
            case_close(&run);
        }
        print_message("%s: force %.4f, tuned %.4f; peak %.1f, tuned %.1f N\n", known[i].scheme, error[0], error[1],
                      peak[0], peak[1]);
        CHECK(error[0] > known[i].plain && error[1] < known[i].tuned && peak[1] < peak[0] - 20.0);
    }
}

// --- Several bars ----------------------------------------------------------------------------------------------------

// Two bars along x that touch at t = 0, the left one at v0. c = 10 m/s in both, cells of 0.1 m; impedances by the area.
static text_case collision_open(double left, double left_area, double right, double v0, double end)
{
    char text[TEXT];
    snprintf(
        text, sizeof text,
        "mesh:\n"
        "  left: { type: line, from: [%.17g, 0, 0], to: [0, 0, 0], elements: %.0f }\n"
        "  right: { type: line, from: [0, 0, 0], to: [%.17g, 0, 0], elements: %.0f }\n"
        "elements:\n"
        "  left: { type: rod, mesh: left, E: 200.0, rho: 2.0, area: %.17g }\n"
        "  right: { type: rod, mesh: right, E: 200.0, rho: 2.0, area: 0.5 }\n"
        "initial: [ { set: left, velocity: [%.17g, 0, 0] } ]\n"
        "contacts: { hit: { type: node_node, a: left.end, b: right.start, normal: [1, 0, 0], restitution: 0.0 } }\n"
        "scheme: { type: wave }\n"
        "time: { step: auto, end: %.17g }\n",
        -left, 10.0 * left, right, 10.0 * right, left_area, v0, end);
    return text_case_open(text, NULL);
}

// Force v0 Z1 Z2/(Z1 + Z2) times r^k, r = (Z1 - Z2)/(Z1 + Z2), in the k-th travel through the left bar and back, until
// the right bar answers; where Z1 <= Z2 only once.
TEST(colliding_bars_follow_the_textbook)
{
    const struct {
        double left, left_area, right;
    } pairs[] = { { 3.0, 0.5, 3.0 },  { 3.0, 0.5, 8.0 },  { 2.0, 1.5, 12.0 }, { 2.0, 4.0, 20.0 },
                  { 3.0, 0.2, 10.0 }, { 1.0, 0.9, 20.0 }, { 0.1, 0.5, 5.0 } };
    const double v0 = 3.0, c = 10.0, h = 0.01;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double Z1 = 20.0 * pairs[i].left_area, Z2 = 10.0, r = (Z1 - Z2) / (Z1 + Z2), off = 0.0;
        double trip = 2.0 * pairs[i].left / c, end = fmin(2.0 * pairs[i].right / c, 12.0 * trip);
        double first = v0 * Z1 * Z2 / (Z1 + Z2);
        text_case run = collision_open(pairs[i].left, pairs[i].left_area, pairs[i].right, v0, end);
        CHECK_RELATIVE(run.sim->step_size, h, 1e-12);
        for (long step = 0; !pcs_sim_is_done(run.sim); step++) {
            int k = (int)floor(((double)step + 0.5) * h / trip);
            double exact = k == 0 || r > 1e-12 ? first * pow(r, k) : 0.0;
            text_case_step(&run);
            off = fmax(off, fabs(run.sim->report.rows[0].force - exact));
        }
        print_message("Z %g and %g, %g m and %g m: force off by %.1e of %g N\n", Z1, Z2, pairs[i].left, pairs[i].right,
                      off, first);
        CHECK(off < 1e-11 * first);
        text_case_close(&run);
    }
}

// --- A clamped bar ---------------------------------------------------------------------------------------------------

// End displacement: a triangle wave of period 4 L/c and height 2 P L/(E A); force at the clamp 0 and 2 P in turn.
TEST(step_load_makes_a_triangle)
{
    const double P = 7.0, L = 2.0, EA = 100.0, c = 10.0, quarter = L / c;
    text_case run = text_case_open("mesh: { bar: { type: line, from: [0, 0, 0], to: [2, 0, 0], elements: 37 } }\n"
                                   "elements: { bar: { type: rod, mesh: bar, E: 200.0, rho: 2.0, area: 0.5 } }\n"
                                   "supports: { clamp: { set: bar.start, fix: [x], reactions: true } }\n"
                                   "loads: { pull: { type: force, node: bar.end, value: [7.0, 0, 0] } }\n"
                                   "scheme: { type: wave }\n"
                                   "time: { step: auto, end: 16.0 }\n",
                                   NULL);
    double off = 0.0, worst = 0.0, h = run.sim->step_size;
    int n = run.sim->system->nv, clamp = -1;
    while (!pcs_sim_is_done(run.sim)) {
        text_case_step(&run);
        if (clamp < 0) clamp = text_case_reaction(&run, "clamp");
        double t = run.sim->state.t, s = fmod(t, 4.0 * quarter), u = run.sim->state.q[n - 1];
        off = fmax(off, fabs(u - P * c / EA * fmin(s, 4.0 * quarter - s)));
        double middle = fmod(t - 0.5 * h, 4.0 * quarter);
        double exact = middle > quarter && middle < 3.0 * quarter ? -2.0 * P : 0.0;
        worst = fmax(worst, fabs(run.sim->reactions[clamp].force[0] - exact));
    }
    print_message("step load: end off by %.1e m, reaction by %.1e N\n", off, worst);
    CHECK(off < 1e-11 && worst < 1e-9);
    text_case_close(&run);
}
