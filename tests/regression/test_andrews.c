// cases/andrews against the reference solution of the test set for IVP solvers, and the stable step of its spring.

#include "build/build.h"
#include "support/check.h"
#include "support/text_case.h"

#include <math.h>

enum { NBODY = 7 };

static text_case open_andrews(int count, const char *const *set)
{
    text_case c = { 0 };
    assert_int_equal(pcs_context_create(&c.ctx), PCS_OK);
    pcs_status status = pcs_build_sim_from(c.ctx, "cases/andrews", count, set, &c.sim);
    if (status != PCS_OK) fail_msg("%s", pcs_message(c.ctx));
    return c;
}

// Largest distance of beta, theta, gamma, phi, delta, Omega, epsilon from the reference at 0.03 s, rad.
static double andrews_error(const char *scheme, const char *step)
{
    static const double beta = -0.0617138900142764496, gamma = 0.455279819163070380, phi = 0.222668390165885885;
    static const double delta = 0.487364979543842550, epsilon = 1.23054744454982119;
    static const double reference[NBODY] = { 15.81077119629904,   -15.75637105984298, 0.04082224013073101,
                                             -0.5347301163226948, 0.5244099658805304, 0.5347301163226948,
                                             1.048080741042263 };
    const char *const set[] = { scheme, step };
    text_case c = open_andrews(2, set);
    text_case_run(&c);
    double turn[NBODY], error = 0.0;
    for (int i = 0; i < NBODY; i++) turn[i] = c.sim->state.q[3 * i + 2]; // x, y and the angle of each
    // Angles against one another; the initial Omega is -phi, the initial theta 0.
    const double angle[NBODY] = { beta + turn[0],  turn[1] - turn[0],       gamma + turn[2],  phi + turn[3] - turn[4],
                                  delta + turn[4], turn[5] - turn[6] - phi, epsilon + turn[6] };
    for (int i = 0; i < NBODY; i++) error = fmax(error, fabs(angle[i] - reference[i]));
    text_case_close(&c);
    return error;
}

TEST(angles_are_those_of_the_reference)
{
    const char *const schemes[] = { "scheme={type: alpha_ggl, rho_inf: 0.9}", "scheme={type: half_explicit}" };
    for (int s = 0; s < 2; s++) {
        double coarse = andrews_error(schemes[s], "time.step=4.0e-5"),
               fine = andrews_error(schemes[s], "time.step=2.0e-5");
        CHECK(fine < 4e-4);
        CHECK_NEAR(log2(coarse / fine), 2.0, 0.1);
    }
    CHECK(andrews_error("scheme={type: event_driven}", "time.step=1.0e-4") < 5e-9);
}

// w^2 of the spring alone: k (1/m + a^2/J) of the third body where the line lies across its arm a.
TEST(spring_sets_the_stable_step)
{
    text_case c = open_andrews(0, NULL);
    double x = 0.018 - 0.01874, y = 0.02 - 0.01043, arm2 = x * x + y * y;
    double across = sqrt(1.0 / (4530.0 * (1.0 / 0.02373 + arm2 / 5.255e-6)));
    CHECK_NEAR(c.sim->system->stable_step, 2.0 * across, 1e-6 * across);
    text_case_close(&c);
}
