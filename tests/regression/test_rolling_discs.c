// Thin discs that roll on their edge: steady precession, Euler's disc among it.
//
//   tilt al against the floor, precession W about the vertical, spin nu about its axis, A, C across and along:
//   W^2 A sin al cos al - (C + M a^2) nu W sin al = a M g cos al;   the centre goes round a circle of radius a nu / W.
//   Euler's disc has nu = 0: W^2 = 4 g/(a sin al) where A = M a^2/4

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
    char text[2048];
    double J = 0.25 * c->mass * c->radius * c->radius;
    snprintf(text, sizeof text,
             "mesh: { coin: { type: point, at: [0, 0, %.17g] } }\n"
             "elements: { coin: { type: rigid_body_3d, mesh: coin, mass: %.17g, inertia: [%.17g, %.17g, %.17g] } }\n"
             "loads: { weight: { type: gravity, g: [0, 0, -9.81] } }\n"
             "initial: [ { set: coin, rotation: [%.17g, 0, 0] } ]\n"
             "contacts: { floor: { type: disc_plane, nodes: coin, axis: [0, 0, 1], radius: %.17g, point: [0, 0, 0],\n"
             "                     normal: [0, 0, 1], restitution: 0.0, friction: 50.0 } }\n"
             "scheme: { type: %s }\ntime: { step: %.17g, end: %.17g }\n",
             c->radius * sin(c->tilt), c->mass, J, J, 2.0 * J, c->tilt, c->radius, scheme, step, end);
    text_case run = text_case_open(text, NULL);
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
    double x[3], v[3], reference[3], turn = c->precession * end;
    text_case_run(&run);
    text_case_node(&run, "coin", x, v, reference);
    double error = fabs(x[0] + c->circle * sin(turn)) + fabs(x[1] + c->circle - c->circle * cos(turn));
    CHECK(run.sim->report.rows[0].is_closed);
    error += fabs(x[2] - c->radius * sin(c->tilt));
    text_case_close(&run);
    return error;
}

static void discs_roll_steadily(void **state)
{
    (void)state;
    const double tilts[] = { 0.3, 0.8, 1.2 }, factors[] = { 1.0, 1.3, 0.8 }, sizes[] = { 1.0, 0.02 };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 2; k++) {
                coin c = coin_steady(tilts[i], sizes[k], 2.0, factors[j]);
                double period = 6.283185307179586 / c.precession, end = 0.5 * period;
                double coarse = coin_error(&c, "alpha_ggl, rho_inf: 0.9", end / 250.0, end) / c.radius;
                double fine = coin_error(&c, "alpha_ggl, rho_inf: 0.9", end / 500.0, end) / c.radius;
                if (coarse > 0.02 || (fine > 0.6 * coarse && coarse > 1e-9))
                    fail_msg("tilt %g, factor %g, radius %g: off by %g and %g radii", c.tilt, factors[j], c.radius,
                             coarse, fine);
            }
}

// A thick disc stands on both edges.
static void thick_discs_stand(void **state)
{
    (void)state;
    text_case c =
        text_case_open("mesh: { drum: { type: point, at: [0, 0, 0.5] } }\n"
                       "elements: { drum: { type: rigid_body_3d, mesh: drum, mass: 2, inertia: [0.3, 0.3, 0.2] } }\n"
                       "loads: { weight: { type: gravity, g: [0, 0, -10] } }\n"
                       "contacts: { floor: { type: disc_plane, nodes: drum, axis: [1, 0, 0], radius: 0.5, width: 0.2,\n"
                       "                     point: [0, 0, 0], normal: [0, 0, 1], restitution: 0.0 } }\n"
                       "scheme: { type: alpha_ggl, rho_inf: 0.8 }\ntime: { step: 1.0e-2, end: 0.2 }\n",
                       NULL);
    double x[3], v[3], reference[3];
    CHECK(c.sim->system->nrow == 2);
    text_case_run(&c);
    text_case_node(&c, "drum", x, v, reference);
    CHECK_NEAR(x[2], 0.5, 1e-14);
    for (int j = 0; j < 2; j++) CHECK_NEAR(c.sim->report.rows[j].force, 10.0, 1e-9);
    text_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discs_roll_steadily),
        cmocka_unit_test(thick_discs_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
