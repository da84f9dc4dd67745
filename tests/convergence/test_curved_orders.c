// Orders of explicit schemes in lasting contact with a circle and a cylinder: a ball slides without friction on the
// outside or the inside, in the plane or along a cylinder whose axis is tilted. It is a pendulum of length r,
//
//   th'' = -(g/r) sin th  inside, th from the lowest point;   th'' = (g/r) sin th  outside, th from the highest
//
// Errors of the position, penetration and energy fall as h^2. An opening by the error of a step ends in a strike
// without restitution, so that no scheme is of a higher order here for sure.

#include "support/check.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>

static const double GRAVITY = 9.81, DRIFT = 0.4; // m/s^2, m/s along the axis

typedef struct slide {
    bool is_outside, is_in_space;
    double angle, speed, end; // at the start, rad, m/s; s
} slide;

static const slide slides[] = {
    { true, false, 0.1, 1.0, 0.32 },
    { true, true, 0.1, 1.0, 0.32 },
    { false, false, 1.0, 2.0, 1.6 },
    { false, true, 1.0, 2.0, 1.6 },
};

static const char *const schemes[] = {
    "half_explicit",
    "half_explicit_acceleration",
    "tdg_minus",
    "tdg_minus, degree: 2",
    "tdg_minus, degree: 3",
    "tdg_plus",
    "tdg_plus, degree: 2",
    "tdg_plus, degree: 3",
    "half_explicit_rk, method: hem3",
    "half_explicit_rk, method: hem4",
    "splitting, contact_forces: true",
};

// Axis of the circle or cylinder, the direction to the right and that upwards.
static void slide_basis(const slide *s, double basis[3][3])
{
    static const double plane[3][3] = { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } };
    static const double space[3][3] = { { 1, 2, 2 }, { 2, 1, -2 }, { 2, -2, 1 } };
    for (int i = 0; i < 9; i++) basis[i / 3][i % 3] = s->is_in_space ? space[i / 3][i % 3] / 3.0 : plane[i / 3][i % 3];
}

// Angle and rate at time t by the classical Runge-Kutta method.
static void slide_exact(const slide *s, double t, double y[2])
{
    enum { STEPS = 20000 };
    double sign = s->is_outside ? 1.0 : -1.0, h = t / STEPS;
    y[0] = s->angle;
    y[1] = s->speed;
    for (int n = 0; n < STEPS; n++) {
        double k[4][2], z[2] = { y[0], y[1] };
        for (int l = 0; l < 4; l++) {
            k[l][0] = z[1];
            k[l][1] = sign * GRAVITY * sin(z[0]);
            for (int i = 0; i < 2; i++) z[i] = y[i] + (l < 2 ? 0.5 : 1.0) * h * k[l][i];
        }
        for (int i = 0; i < 2; i++) y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    }
}

// Place x and velocity v of the ball at that angle and rate.
static void slide_place(const slide *s, double angle, double rate, double t, double x[3], double v[3])
{
    double basis[3][3], up = s->is_outside ? 1.0 : -1.0, along = s->is_in_space ? DRIFT : 0.0;
    slide_basis(s, basis);
    for (int i = 0; i < 3; i++) {
        x[i] = sin(angle) * basis[1][i] + up * cos(angle) * basis[2][i] + along * t * basis[0][i];
        v[i] = rate * (cos(angle) * basis[1][i] - up * sin(angle) * basis[2][i]) + along * basis[0][i];
    }
}

static text_case slide_open(const slide *s, const char *scheme, double h)
{
    double basis[3][3], x[3], v[3];
    char text[1024];
    slide_basis(s, basis);
    slide_place(s, s->angle, s->speed, 0.0, x, v);
    snprintf(text, sizeof text,
             "mesh: { b: { type: point, at: [%.17g, %.17g, %.17g] } }\n"
             "elements: { b: { type: point_mass, mesh: b, mass: 1, in: %s } }\n"
             "loads: { w: { type: gravity, g: [%.17g, %.17g, %.17g] } }\n"
             "initial: [ { set: b, velocity: [%.17g, %.17g, %.17g] } ]\n"
             "contacts: { wall: { type: node_circle, nodes: b, centre: [0, 0, 0], axis: [%.17g, %.17g, %.17g],\n"
             "  radius: %s, node_radius: 0.1, side: %s, restitution: 0 } }\n"
             "scheme: { type: %s }\ntime: { step: %.17g, end: %.17g }\n",
             x[0], x[1], x[2], s->is_in_space ? "space" : "plane", -GRAVITY * basis[2][0], -GRAVITY * basis[2][1],
             -GRAVITY * basis[2][2], v[0], v[1], v[2], basis[0][0], basis[0][1], basis[0][2],
             s->is_outside ? "0.9" : "1.1", s->is_outside ? "outside" : "inside", scheme, h, s->end);
    return text_case_open(text, NULL);
}

typedef struct slide_error {
    double place, depth, energy; // at the end, m; deepest, m; largest, J
} slide_error;

static slide_error slide_run(const slide *s, const char *scheme, double h)
{
    text_case c = slide_open(s, scheme, h);
    slide_error out = { 0 };
    double y[2], exact[3], speed[3], x[3], v[3], reference[3], start = NAN;
    long n = lround(s->end / h);
    for (long k = 0; k < n; k++) {
        text_case_step(&c);
        double energy = c.sim->report.measure.kinetic + c.sim->report.measure.potential;
        if (k == 0) start = energy;
        out.energy = fmax(out.energy, fabs(energy - start));
        out.depth = fmax(out.depth, -c.sim->report.rows[0].gap);
    }
    slide_exact(s, s->end, y);
    slide_place(s, y[0], y[1], s->end, exact, speed);
    text_case_node(&c, "b", x, v, reference);
    for (int i = 0; i < 3; i++) out.place = fmax(out.place, fabs(x[i] - exact[i]));
    text_case_close(&c);
    return out;
}

// Free fall of a step against the largest normal acceleration, v^2/r + g.
static double slide_fall(const slide *s, double h)
{
    double square = s->speed * s->speed + 2.0 * GRAVITY * (1.0 - cos(s->angle));
    return 0.5 * h * h * ((s->is_outside ? 0.0 : square) + GRAVITY);
}

TEST(schemes_keep_their_order_on_curved_obstacles)
{
    const double steps[] = { 4e-3, 1e-3 };
    for (size_t k = 0; k < sizeof slides / sizeof *slides; k++)
        for (size_t l = 0; l < sizeof schemes / sizeof *schemes; l++)
            for (int i = 0; i < 2; i++) {
                double h = steps[i];
                slide_error e = slide_run(&slides[k], schemes[l], h);
                print_message("%s, slide %d, h = %g: place %.2e, depth %.2e, energy %.2e\n", schemes[l], (int)k, h,
                              e.place, e.depth, e.energy);
                CHECK(e.place < 20.0 * h * h && e.energy < 400.0 * h * h && e.depth < 2.0 * slide_fall(&slides[k], h));
            }
}
