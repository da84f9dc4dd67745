// Orders of the implicit schemes on cases/impacting_oscillator, whose motion is known in closed form: 2 before the
// first impact, 1 through impacts (mean error over 8 neighbouring step counts, none of them in step with the impacts).

#include "support/check.h"
#include "support/run_case.h"

#include <math.h>
#include <stdio.h>

enum { LEVELS = 5, NEIGHBOURS = 8, COARSEST = 203 };

// q'' = -(2 pi)^2 q from q = 1 at rest, stop at q = 0 with e = 1/2: impacts at 1/4, 3/4, ... s.
static double exact_position(double t)
{
    const double w = 2.0 * acos(-1.0);
    if (t <= 0.25) return cos(w * t);
    int impact = (int)floor((t - 0.25) / 0.5);
    return pow(0.5, impact + 1) * sin(w * (t - 0.25 - 0.5 * impact));
}

// Mean distance from the exact position over all steps.
static double orders_error(const char *scheme, double end, int nstep)
{
    char time[96];
    const char *set[] = { scheme, time, NULL };
    snprintf(time, sizeof time, "time={step: %.17g, end: %.17g}", end / nstep, end);
    case_run run = case_open("cases/impacting_oscillator", set);
    double sum = 0.0;
    for (int i = 0; i < nstep; i++) {
        case_step(&run);
        sum += fabs(run.sim->state.q[0] - exact_position(run.sim->state.t));
    }
    case_close(&run);
    return sum / nstep;
}

// Least-squares slope of log error over log step.
static double orders_slope(const char *scheme, double end, int neighbours)
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int level = 0; level < LEVELS; level++) {
        double error = 0.0, x = (double)level, y;
        for (int k = 0; k < neighbours; k++) error += orders_error(scheme, end, (COARSEST << level) + 7 * k);
        y = log2(error / neighbours);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return -(LEVELS * sxy - sx * sy) / (LEVELS * sxx - sx * sx);
}

static const char *const SECOND[] = {
    "scheme={type: newmark, gamma: 0.5}",
    "scheme={type: hht, alpha: 0.1}",
    "scheme={type: alpha_velocity, rho_inf: 0.8}",
    "scheme={type: alpha_ggl, rho_inf: 0.8}",
    "scheme={type: alpha_index3, rho_inf: 0.8}",
    "scheme={type: jump_newmark, gamma: 0.5}",
    "scheme={type: jump_newmark, rho_inf: 0.8}",
    "scheme={type: moreau_jean, theta: 0.5}",
    "scheme={type: alpha_ggl, variant: modified_lcp}",
};
static const char *const FIRST[] = { "scheme={type: newmark, gamma: 0.8}", "scheme={type: moreau_jean, theta: 1.0}",
                                     "scheme={type: moreau_jean, theta: 0.75, positions: midpoint}" };

TEST(smooth_orders)
{
    for (size_t i = 0; i < sizeof SECOND / sizeof *SECOND; i++) {
        double order = orders_slope(SECOND[i], 0.2, 1);
        print_message("%s: %.3f\n", SECOND[i], order);
        CHECK_NEAR(order, 2.0, 0.02);
    }
    for (size_t i = 0; i < sizeof FIRST / sizeof *FIRST; i++) CHECK_NEAR(orders_slope(FIRST[i], 0.2, 1), 1.0, 0.02);
}

TEST(orders_through_impacts)
{
    for (size_t i = 0; i < sizeof SECOND / sizeof *SECOND; i++) {
        if (i == 4 || i == 9) continue; // smooth index 3 and the modified law are not made for impacts
        double order = orders_slope(SECOND[i], 1.9, NEIGHBOURS);
        print_message("%s: %.3f\n", SECOND[i], order);
        CHECK_NEAR(order, 1.0, 0.2);
    }
    // Without an impact law nothing converges.
    CHECK(orders_error(SECOND[4], 1.9, 3207) > 0.1);
}
