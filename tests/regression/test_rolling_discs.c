// Thin discs that roll on their edge: steady precession, Euler's disc among it.
//
//   tilt al against the floor, precession W about the vertical, spin nu about its axis, A, C across and along:
//   W^2 A sin al cos al - (C + M a^2) nu W sin al = a M g cos al;   the centre goes round a circle of radius a nu / W.
//   Euler's disc has nu = 0: W^2 = 4 g/(a sin al) where A = M a^2/4
//
// Off the steady motion, with p = W sin al:
//   (A + M a^2) al'' = A p^2 cot al - (C + M a^2) nu p - M g a cos al
//   A p' = (C nu - A p cot al) al',   (C + M a^2) nu' = M a^2 p al'
// from which follows how fast a disc wobbles about it.

#include "support/check.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double gravity = 9.81;

typedef struct coin {
    double tilt, radius, mass, precession, spin, circle;
} coin;

static coin coin_steady(double tilt, double radius, double mass, double factor)
{
    coin c = { .tilt = tilt, .radius = radius, .mass = mass };
    double s = sin(tilt), A = 0.25 * mass * radius * radius, rolling = 6.0 * A; // C + M a^2
    c.precession = factor * sqrt(radius * mass * gravity / (A * s));
    c.spin = (c.precession * c.precession * A * s - radius * mass * gravity) * cos(tilt) / (rolling * c.precession * s);
    c.circle = radius * c.spin / c.precession;
    return c;
}

static text_case open_coin(const coin *c, const char *scheme, double step, double end)
{
    double J = 0.25 * c->mass * c->radius * c->radius;
    text_case run = text_case_print(
        "mesh: { coin: { type: point, at: [0, 0, %.17g] } }\n"
        "elements: { coin: { type: rigid_body_3d, mesh: coin, mass: %.17g, inertia: [%.17g, %.17g, %.17g] } }\n"
        "loads: { weight: { type: gravity, g: [0, 0, -9.81] } }\n"
        "initial: [ { set: coin, rotation: [%.17g, 0, 0] } ]\n"
        "contacts: { floor: { type: disc_plane, nodes: coin, axis: [0, 0, 1], radius: %.17g, point: [0, 0, 0],\n"
        "                     normal: [0, 0, 1], restitution: 0.0, friction: 50.0 } }\n"
        "scheme: { type: %s }\ntime: { step: %.17g, end: %.17g }\n",
        c->radius * sin(c->tilt), c->mass, J, J, 2.0 * J, c->tilt, c->radius, scheme, step, end);
    double *v = run.sim->state.v;
    v[0] = -c->radius * c->spin;
    v[4] = c->precession * sin(c->tilt);
    v[5] = c->spin;
    return run;
}

// Distance of the centre from where the steady motion has it.
static double coin_error(const coin *c, const char *scheme, double step, double end)
{
    text_case run = open_coin(c, scheme, step, end);
    double x[3], v[3], reference[3], rotation = c->precession * end;
    text_case_run(&run);
    text_case_node(&run, "coin", x, v, reference);
    double error = fabs(x[0] + c->circle * sin(rotation)) + fabs(x[1] + c->circle - c->circle * cos(rotation));
    CHECK(run.sim->report.rows[0].is_closed);
    error += fabs(x[2] - c->radius * sin(c->tilt));
    text_case_close(&run);
    return error;
}

// Explicit steps are of order 2, friction in implicit ones is of order 1.
TEST(discs_roll_steadily)
{
    static const struct {
        const char *scheme;
        int steps;
        double order, error; // error: radii
    } runs[] = { { "alpha_ggl, rho_inf: 0.9", 250, 1.0, 5e-3 },
                 { "moreau_jean, theta: 0.5", 250, 1.0, 5e-3 },
                 { "half_explicit", 250, 2.0, 5e-6 } };
    const double tilts[] = { 0.3, 0.8, 1.2 }, factors[] = { 1.0, 1.3, 0.8 }, sizes[] = { 1.0, 0.02 };
    for (int i = 0; i < 3 * 3 * 2; i++)
        for (int s = i / 3 % 3; s < 3; s += 2) {
            coin c = coin_steady(tilts[i % 3], sizes[i / 9], 2.0, factors[i / 3 % 3]);
            double end = 0.5 * 6.283185307179586 / c.precession;
            double coarse = coin_error(&c, runs[s].scheme, end / runs[s].steps, end) / c.radius;
            double fine = coin_error(&c, runs[s].scheme, 0.5 * end / runs[s].steps, end) / c.radius;
            if (fine > runs[s].error || fabs(log2(coarse / fine) - runs[s].order) > 0.03)
                fail_msg("%s, tilt %g, factor %g, radius %g: off by %g and %g radii", runs[s].scheme, c.tilt,
                         factors[i / 3 % 3], c.radius, coarse, fine);
        }
}

// Angular frequency of a small wobble about the steady motion.
static double wobble_rate(const coin *c)
{
    double A = 0.25 * c->mass * c->radius * c->radius, C = 2.0 * A, roll = 4.0 * A; // roll: M a^2
    double s = sin(c->tilt), cot = cos(c->tilt) / s, p = c->precession * s, nu = c->spin;
    double by_tilt = -A * p * p / (s * s) + c->mass * gravity * c->radius * s;
    double by_p = 2.0 * A * p * cot - (C + roll) * nu, by_nu = -(C + roll) * p;
    double change = by_tilt + by_p * (C / A * nu - p * cot) + by_nu * roll / (C + roll) * p;
    return sqrt(-change / (A + roll));
}

// Time of the last of `count` passages of the height upwards through that of the steady motion, and the largest change
// of the energy over it.
static double wobble_time(const coin *c, int count, double step, double *energy)
{
    double kick = 1e-3 * c->precession, level = c->radius * sin(c->tilt), before = level, time = 0.0;
    text_case run = open_coin(c, "half_explicit", step, 1e3 * step * count);
    double *v = run.sim->state.v, first = 0.0;
    v[1] -= c->radius * kick * sin(c->tilt);
    v[2] += c->radius * kick * cos(c->tilt);
    v[3] += kick;
    *energy = 0.0;
    for (int n = 0; n < count;) {
        double x[3], w[3], reference[3];
        text_case_step(&run);
        text_case_node(&run, "coin", x, w, reference);
        const pcs_measure *now = &run.sim->ledger.now;
        double sum = now->kinetic + now->potential;
        if (first == 0.0) first = sum;
        *energy = fmax(*energy, fabs(sum - first) / now->kinetic);
        bool passes = before < level && x[2] >= level;
        n += passes;
        if (passes) time = run.sim->state.t - step * (x[2] - level) / (x[2] - before);
        before = x[2];
    }
    text_case_close(&run);
    return time;
}

TEST(discs_wobble_about_it)
{
    const double tilts[] = { 0.3, 0.8, 1.2 }, factors[] = { 1.0, 1.3, 0.9 };
    for (int i = 0; i < 9; i++) {
        coin c = coin_steady(tilts[i % 3], i % 2 == 0 ? 1.0 : 0.02, 2.0, factors[i / 3]);
        double period = 6.283185307179586 / wobble_rate(&c), energy, time = wobble_time(&c, 3, period / 800.0, &energy);
        if (fabs(time / (3.0 * period) - 1.0) > 5e-5 || energy > 1e-5)
            fail_msg("tilt %g, factor %g: period %.9g, expected %.9g; energy changes by %g", c.tilt, factors[i / 3],
                     time / 3.0, period, energy);
    }
}

// A thick disc stands on both edges.
TEST(thick_discs_stand)
{
    text_case c =
        text_case_open("mesh: { drum: { type: point, at: [0, 0, 0.5] } }\n"
                       "elements: { drum: { type: rigid_body_3d, mesh: drum, mass: 2, inertia: [0.3, 0.3, 0.2] } }\n"
                       "loads: { weight: { type: gravity, g: [0, 0, -10] } }\n"
                       "contacts: { floor: { type: disc_plane, nodes: drum, axis: [1, 0, 0], radius: 0.5, width: 0.2,\n"
                       "                     point: [0, 0, 0], normal: [0, 0, 1], restitution: 0.0 } }\n"
                       "scheme: { type: alpha_ggl, rho_inf: 0.8 }\ntime: { step: 1.0e-2, end: 0.2 }\n",
                       NULL);
    double x[3], v[3], reference[3];
    CHECK(c.sim->system->nrow == 8); // four of each edge, the lowest first
    text_case_run(&c);
    text_case_node(&c, "drum", x, v, reference);
    CHECK_NEAR(x[2], 0.5, 1e-14);
    for (int j = 0; j < 8; j++) CHECK_NEAR(c.sim->report.rows[j].force, j % 4 == 0 ? 10.0 : 0.0, 1e-9);
    text_case_close(&c);
}

// A coin that is thrown, in steps far too long for its last turns.
static text_case throw_coin(const char *scheme, double step, double width, double e, double mu)
{
    return text_case_print(
        "mesh: { coin: { type: point, at: [0, 0, 0.06] } }\n"
        "elements: { coin: { type: rigid_body_3d, mesh: coin, mass: 0.2, inertia: [1.25e-4, 1.25e-4, 2.5e-4] } }\n"
        "loads: { weight: { type: gravity, g: [0, 0, -9.81] } }\n"
        "initial: [ { set: coin, rotation: [0.9, 0.1, 0], velocity: [-0.5, 0.2, 0], spin: [1, 8, 5] } ]\n"
        "contacts: { floor: { type: disc_plane, nodes: coin, axis: [0, 0, 1], radius: 0.05, width: %g,\n"
        "            point: [0, 0, 0], normal: [0, 0, 1], restitution: %g, friction: %g } }\n"
        "scheme: { type: %s }\ntime: { step: %g, end: 2.5 }\n",
        width, e, mu, scheme, step);
}

// It comes to lie flat on the floor and rests; without friction it goes on sliding and spinning.
TEST(coins_come_to_lie_flat)
{
    static const char *const schemes[] = { "alpha_ggl", "newmark, gamma: 0.6", "moreau_jean, theta: 0.5",
                                           "moreau_jean, theta: 1.0" };
    const double steps[] = { 5e-3, 1e-2 }, widths[] = { 0.0, 0.004 }, friction[] = { 0.0, 0.5 };
    for (int i = 0; i < 48; i++) { // with restitution only those without friction
        if ((i + i / 4 + i / 8 + i / 16) % 2 != 0) continue;
        double step = steps[i / 4 % 2], width = widths[i / 8 % 2], mu = friction[i / 16 % 2], e = 0.5 * (i / 32);
        double x[3], v[3], reference[3];
        text_case c = throw_coin(schemes[i % 4], step, width, e, mu);
        text_case_run(&c);
        text_case_node(&c, "coin", x, v, reference);
        double sunk = i % 4 == 0 ? 0.0 : 0.5 * step;    // m, at velocity level by the fall of a step
        double still = e > 0.0 ? gravity * step : 1e-9; // m/s, as a rebound hops
        const double *w = &c.sim->state.v[3];
        bool is_flat = fabs(x[2] - 0.5 * width + 0.5 * sunk) <= 0.5 * sunk + (e > 0.0 ? still * step : 1e-14);
        bool rests = fabs(v[2]) < still;
        int nclosed = 0;
        for (int j = 0; j < c.sim->system->nrow; j++) {
            if (c.sim->report.rows[j].gap > 1e-14) continue;
            nclosed++;
            rests = rests && fabs(c.sim->report.rows[j].rate) < still;
        }
        // One may be above what has sunk in.
        if (e == 0.0) rests = rests && nclosed >= (i % 4 == 0 ? 4 : 3);
        if (mu > 0.0) rests = rests && fabs(v[0]) + fabs(v[1]) + 0.05 * (fabs(w[0]) + fabs(w[1]) + fabs(w[2])) < still;
        if (!is_flat || !rests)
            fail_msg("%s, step %g, width %g, friction %g, restitution %g: at %g m, v %g %g %g, w %g %g %g",
                     schemes[i % 4], step, width, mu, e, x[2], v[0], v[1], v[2], w[0], w[1], w[2]);
        text_case_close(&c);
    }
}
