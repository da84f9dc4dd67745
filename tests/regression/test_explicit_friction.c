// Coulomb friction under the explicit and midpoint schemes against closed forms: where a block stops on an incline and
// that it stays there, the impulse of a spinning ball, and the circular cone in space.

#include "support/check.h"
#include "support/rigid.h"

#include <math.h>
#include <stdio.h>

// `lag`: by how much the block goes on, in units of v0 h; forward Euler moves with the old velocity. NAN: splitting,
// where the block slides freely for every step before the impulse brakes it, so that it creeps.
typedef struct friction_case {
    const char *scheme;
    double lag;
} friction_case;

static const friction_case friction_cases[] = {
    { "moreau_jean_explicit", 0.5 },
    { "moreau_midpoint", 0.0 },
    { "schatzman_paoli", 0.0 },
    { "half_explicit", 0.0 },
    { "half_explicit_rk, method: hem3", 0.0 },
    { "half_explicit_rk, method: hem4", 0.0 },
    { "half_explicit_rk, method: hem5", 0.0 },
    { "ggl_midpoint", 0.0 },
    { "ggl_midpoint, coupling: decoupled", 0.0 },
    { "splitting", NAN },
};

// Stops after 1.594928511 s and as many metres, since v0 = 2 m/s.
TEST(block_stops_and_stays)
{
    const double degree = 0.017453292519943295, pull = 9.81 * sin(20 * degree), rub = 0.5 * 9.81 * cos(20 * degree);
    const double exact = 2.0 / (rub - pull);
    CHECK_NEAR(exact, 1.594928511, 1e-9);
    for (size_t c = 0; c < sizeof friction_cases / sizeof *friction_cases; c++) {
        const friction_case *f = &friction_cases[c];
        double step[4], error[4];
        for (int k = 0; k < 4; k++) {
            char text[256];
            step[k] = 1.3e-2 / (1 << k);
            snprintf(text, sizeof text, "scheme={type: %s};time={step: %.17g, end: 2.0}", f->scheme, step[k]);
            rigid_trace trace = rigid_run_all("incline", text, 1);
            long last = trace.count - 1, before = last - (long)(0.3 / step[k]);
            bool creeps = isnan(f->lag);
            double lag = creeps ? 0.5 * step[k] * (rub * exact + pull * (2.0 - exact)) : f->lag * 2.0 * step[k];
            error[k] = trace.q[last * trace.n] - exact;
            CHECK_NEAR(error[k], lag, 0.5 * step[k] * step[k]);
            // It stands in the same place for the last 0.3 s.
            if (!creeps) CHECK_NEAR(trace.q[last * trace.n], trace.q[before * trace.n], 1e-12);
            rigid_free(&trace);
        }
        print_message("%s: %.2e %.2e %.2e %.2e\n", f->scheme, error[0], error[1], error[2], error[3]);
    }
}

// Normal impulse m (1 + e) |v_y| = 3.6 N s. Sticking: tangential speed 1 + 0.2 * 10 = 3 m/s over 1/m + R^2/J = 3.5 /kg
// needs 6/7 N s; the cone allows 0.3 * 3.6 = 1.08 N s. With friction 0.1 it slips: 0.36 N s.
TEST(spinning_ball_sticks_or_slips)
{
    static const char *const schemes[] = { "moreau_jean_explicit", "moreau_midpoint",
                                           "half_explicit",        "half_explicit_rk",
                                           "schatzman_paoli",      "splitting",
                                           "ggl_midpoint",         "ggl_midpoint, coupling: decoupled" };
    for (size_t c = 0; c < sizeof schemes / sizeof *schemes; c++)
        for (int slips = 0; slips < 2; slips++) {
            char text[256];
            snprintf(text, sizeof text, "scheme={type: %s};system.friction=%s", schemes[c], slips ? "0.1" : "0.3");
            rigid_run run = rigid_open("spinning_ball", text);
            double normal = 0.0, tangent = 0.0;
            while (run.sim->state.step < run.sim->nstep) {
                rigid_step(&run);
                normal += run.sim->report.rows[0].step_impulse;
                tangent += fabs(run.sim->report.rows[0].tangent[0]);
            }
            CHECK_NEAR(normal, 3.6, 1e-12);
            CHECK_NEAR(tangent, slips ? 0.36 : 6.0 / 7.0, 1e-12);
            CHECK_NEAR(run.sim->state.v[1], 1.6, 1e-12);
            rigid_close(&run);
        }
}

// In space slip has a direction of its own: against an independent integration of v' = g sin a - mu g cos a v/|v|.
TEST(puck_turns_downhill)
{
    const double degree = 0.017453292519943295, pull = 9.81 * sin(20 * degree), rub = 0.5 * 9.81 * cos(20 * degree);
    double x = 0.0, y = 0.0, vx = 0.0, vy = 2.0, dt = 1e-6;
    for (int i = 0; i < 300000; i++) { // midpoint rule up to 0.3 s
        double speed = sqrt(vx * vx + vy * vy);
        double mx = vx + 0.5 * dt * (pull - rub * vx / speed), my = vy - 0.5 * dt * rub * vy / speed;
        double middle = sqrt(mx * mx + my * my);
        x += dt * mx;
        y += dt * my;
        vx += dt * (pull - rub * mx / middle);
        vy -= dt * rub * my / middle;
    }
    static const char *const schemes[] = { "moreau_jean_explicit",           "moreau_midpoint", "half_explicit",
                                           "half_explicit_rk, method: hem3", "splitting",       "ggl_midpoint" };
    static const double order[] = { 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 };
    for (size_t c = 0; c < sizeof schemes / sizeof *schemes; c++) {
        double step[4], error[4];
        for (int k = 0; k < 4; k++) {
            char text[256];
            step[k] = 6e-3 / (1 << k);
            snprintf(text, sizeof text, "scheme={type: %s};time={step: %.17g, end: 0.3}", schemes[c], step[k]);
            rigid_trace trace = rigid_run_all("puck", text, 1);
            const double *q = trace.q + (trace.count - 1) * trace.n;
            error[k] = fabs(q[0] - x) + fabs(q[1] - y);
            rigid_free(&trace);
        }
        print_message("%s: %.2e %.2e, order %.2f\n", schemes[c], error[0], error[3], rigid_slope(4, step, error));
        CHECK(rigid_slope(4, step, error) > order[c] - 0.15);
    }
}
