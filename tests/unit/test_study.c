// Convergence over levels: sequences whose order and limit are known.

#include "study/convergence.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

static void order_and_limit_of_a_power_are_found(void **state)
{
    (void)state;
    for (int p = 1; p <= 4; p++)
        for (int factor = 2; factor <= 3; factor++) {
            double f[4];
            for (int k = 0; k < 4; k++) f[k] = 3.0 - 2.0 * pow(factor, -p * k);
            pcs_convergence c = pcs_converge(4, f, factor);
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

static void what_does_not_converge_is_told(void **state)
{
    (void)state;
    CHECK(strcmp(pcs_converge(3, (const double[]){ 1.0, 2.0, 3.0 }, 2.0).kind, "diverges") == 0);
    CHECK(isnan(pcs_converge(3, (const double[]){ 1.0, 2.0, 4.0 }, 2.0).bound));
    CHECK(strcmp(pcs_converge(3, (const double[]){ 1.0, 1.0, 1.0 }, 2.0).kind, "exact") == 0);
    CHECK(strcmp(pcs_converge(3, (const double[]){ 1.0, NAN, 1.0 }, 2.0).kind, "unknown") == 0);
    CHECK(strcmp(pcs_converge(2, (const double[]){ 1.0, 1.0 }, 2.0).kind, "unknown") == 0);
    pcs_convergence c = pcs_converge(3, (const double[]){ 1.0, 2.0, 1.5 }, 2.0);
    CHECK(strcmp(c.kind, "oscillates") == 0 && isnan(c.limit));
    CHECK_NEAR(c.bound, 1.5, 1e-15);
    // Only the three finest levels count.
    CHECK(strcmp(pcs_converge(4, (const double[]){ 9.0, 2.0, 1.0, 0.5 }, 2.0).kind, "converges") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(order_and_limit_of_a_power_are_found),
                                        cmocka_unit_test(what_does_not_converge_is_told) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
