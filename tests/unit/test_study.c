// Convergence over levels: sequences whose order and limit are known. Signals: integrals in closed form.

#include "core/context.h"
#include "study/convergence.h"
#include "study/signal.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

TEST(order_and_limit_of_a_power_are_found)
{
    for (int p = 1; p <= 4; p++)
        for (int factor = 2; factor <= 3; factor++) {
            double f[4];
            for (int k = 0; k < 4; k++) f[k] = 3.0 - 2.0 * pow(factor, -p * k);
            pcs_convergence c = pcs_converge(4, f, factor, 0.0);
            CHECK(strcmp(c.kind, "converges") == 0);
            CHECK_NEAR(c.order, p, 1e-9);
            CHECK_NEAR(c.limit, 3.0, 1e-10);
            CHECK_NEAR(c.value, f[3], 0.0);
            // The bound holds the limit: a quarter more than the error up to order 2, more above.
            double error = 3.0 - f[3];
            if (p <= 2) CHECK_NEAR(c.bound, 1.25 * error, 1e-10);
            CHECK(c.bound >= 1.25 * error * (1.0 - 1e-9));
        }
}

TEST(what_does_not_converge_is_told)
{
    CHECK(strcmp(pcs_converge(3, (const double[]){ 1.0, 2.0, 3.0 }, 2.0, 0.0).kind, "diverges") == 0);
    CHECK(isnan(pcs_converge(3, (const double[]){ 1.0, 2.0, 4.0 }, 2.0, 0.0).bound));
    CHECK(strcmp(pcs_converge(3, (const double[]){ 1.0, 1.0, 1.0 }, 2.0, 0.0).kind, "exact") == 0);
    CHECK(strcmp(pcs_converge(3, (const double[]){ 1.0, NAN, 1.0 }, 2.0, 0.0).kind, "unknown") == 0);
    CHECK(strcmp(pcs_converge(2, (const double[]){ 1.0, 1.0 }, 2.0, 0.0).kind, "unknown") == 0);
    pcs_convergence c = pcs_converge(3, (const double[]){ 1.0, 2.0, 1.5 }, 2.0, 0.0);
    CHECK(strcmp(c.kind, "oscillates") == 0 && isnan(c.limit));
    CHECK_NEAR(c.bound, 1.5, 1e-15);
    // Only the three finest levels count.
    CHECK(strcmp(pcs_converge(4, (const double[]){ 9.0, 2.0, 1.0, 0.5 }, 2.0, 0.0).kind, "converges") == 0);
}

TEST(times_of_steps_are_known_to_a_step)
{
    pcs_convergence c = pcs_converge(3, (const double[]){ 1.0, 1.0, 1.0 }, 2.0, 0.1);
    CHECK(strcmp(c.kind, "steps") == 0 && isnan(c.order) && isnan(c.limit));
    CHECK_NEAR(c.bound, 0.1, 1e-15);
    CHECK_NEAR(pcs_converge(3, (const double[]){ 1.0, 1.3, 1.4 }, 2.0, 0.1).bound, 0.2, 1e-9);
    c = pcs_converge(3, (const double[]){ 1.0, 2.0, 2.5 }, 2.0, 0.1);
    CHECK(strcmp(c.kind, "converges") == 0);
    CHECK_NEAR(c.bound, 1.25 * 0.5 + 0.1, 1e-12);
    CHECK_NEAR(pcs_converge(3, (const double[]){ 1.0, 2.0, 1.5 }, 2.0, 0.1).bound, 1.5 + 0.1, 1e-12);
    pcs_convergence exact = pcs_converge(3, (const double[]){ 1.0, 1.0, 1.0 }, 2.0, 0.0);
    c = pcs_converge(3, (const double[]){ 1.0, 1.0, 1.0 }, 2.0, 0.1);
    CHECK(strcmp(pcs_converge_both(&c, &exact).kind, "steps") == 0);
}

TEST(refinements_one_by_one_add_up)
{
    double mesh[3], step[3];
    for (int k = 0; k < 3; k++) mesh[k] = 7.0 + 0.3 * (pow(3.0, -k) - pow(3.0, -2));
    for (int k = 0; k < 3; k++) step[k] = 7.0 - 0.2 * (pow(2.0, -2 * k) - pow(2.0, -4));
    pcs_convergence a = pcs_converge(3, mesh, 3.0, 0.0), b = pcs_converge(3, step, 2.0, 0.0),
                    c = pcs_converge_both(&a, &b);
    CHECK(strcmp(c.kind, "converges") == 0 && isnan(c.order));
    CHECK_NEAR(c.limit, 7.0 - 0.3 / 9.0 + 0.2 / 16.0, 1e-12);
    CHECK_NEAR(c.bound, 1.25 * (0.3 / 9.0 + 0.2 / 16.0), 1e-12);
    pcs_convergence bad = pcs_converge(3, (const double[]){ 1.0, 2.0, 7.0 }, 2.0, 0.0),
                    both = pcs_converge_both(&a, &bad);
    CHECK(strcmp(both.kind, "diverges") == 0 && isnan(both.limit) && isnan(both.bound));
}

TEST(values_between_rows_are_linear)
{
    const double t[] = { 0.0, 1.0, 1.0, 3.0 }, x[] = { 0.0, 2.0, 6.0, 2.0 }; // it jumps at 1
    pcs_signal s = { .count = 4, .t = t, .x = x };
    CHECK_NEAR(pcs_signal_at(&s, 0.25), 0.5, 1e-15);
    CHECK_NEAR(pcs_signal_at(&s, 1.0), 6.0, 0.0);
    CHECK_NEAR(pcs_signal_at(&s, 2.0), 4.0, 1e-15);
    CHECK_NEAR(pcs_signal_at(&s, 3.0 + 1e-12), 2.0, 0.0); // a sum of many steps
    CHECK(isnan(pcs_signal_at(&s, 3.1)) && isnan(pcs_signal_at(&s, -0.1)) && isnan(pcs_signal_at(&s, NAN)));
    CHECK(isnan(pcs_signal_at(&(pcs_signal){ .count = 0 }, 0.0)));
}

TEST(rms_is_that_of_broken_lines)
{
    // a = t on [0, 4] and b = 0 on [1, 3] in any rows: mean square (27 - 1)/3/2.
    const double t[] = { 0.0, 0.7, 4.0 }, u[] = { 1.0, 1.3, 2.9, 3.0 }, zero[4] = { 0 };
    pcs_signal a = { 3, t, t }, b = { 4, u, zero }, short_one = { 2, u, zero };
    CHECK_NEAR(pcs_signal_rms(&a, &b), sqrt(26.0 / 6.0), 1e-14);
    CHECK_NEAR(pcs_signal_rms(&b, &a), sqrt(26.0 / 6.0), 1e-14);
    CHECK_NEAR(pcs_signal_rms(&a, &a), 0.0, 0.0);
    CHECK_NEAR(pcs_signal_rms(&a, &short_one), sqrt((1.3 * 1.3 * 1.3 - 1.0) / 0.9), 1e-14);
    const double late[] = { 5.0, 6.0 };
    CHECK(isnan(pcs_signal_rms(&a, &(pcs_signal){ 2, late, zero })));
}

// The impulse of a force F before each row; windows that lie between rows.
TEST_WITH_CONTEXT(filtered_peak_is_the_largest_mean)
{
    pcs_context *ctx = *state;
    // A force of 3 from 1 to 2 and of 5 from 2 to 2.5 s, nothing else; rows every 0.25 s, the last at 4 s.
    double t[17], x[17], peak;
    for (int k = 0; k < 17; k++) {
        t[k] = 0.25 * k;
        double force = t[k] > 1.0 && t[k] <= 2.0 ? 3.0 : 0.0;
        x[k] = 0.25 * (t[k] > 2.0 && t[k] <= 2.5 ? 5.0 : force);
    }
    pcs_signal s = { 17, t, x };
    const double windows[] = { 0.1, 0.5, 0.8, 1.0, 3.0, 100.0 };
    const double means[] = { 5.0, 5.0, (2.5 + 0.9) / 0.8, 4.0, 5.5 / 3.0, 5.5 / 100.0 };
    for (int i = 0; i < 6; i++) {
        CHECK(pcs_signal_filtered_peak(ctx, &s, windows[i], &peak) == PCS_OK);
        CHECK_NEAR(peak, means[i], 1e-12);
    }
    // An impact at the start stands in the first row.
    CHECK(pcs_signal_filtered_peak(ctx, &(pcs_signal){ 2, t, (const double[]){ 2.0, 0.0 } }, 0.125, &peak) == PCS_OK);
    CHECK_NEAR(peak, 16.0, 1e-12);
}
