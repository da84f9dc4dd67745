// What arithmetic resolves: the figures are upper bounds of what is lost, and no larger than a few times that.

#include "support/check.h"

#include "core/rounding.h"

// An angle that is moved on by h v and taken back again: what is left of v.
static double lost_velocity(double q, double v, double h)
{
    volatile double moved = q + h * v;
    return fabs((moved - q) / h - v);
}

TEST(velocities_lose_what_positions_round)
{
    static const double rotates[] = { 0.0, 1.0, 45.0, 1e3, 1e5 };
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 4; k++) {
            double q[50], v[50], h = 0.01 * pow(0.1, k), worst = 0.0, largest = 0.0;
            for (int j = 0; j < 50; j++) {
                q[j] = 6.283185307179586 * rotates[i] + 0.01 * j;
                v[j] = 150.0 + 0.37 * j;
                double bound = pcs_rounding_of_velocity(q[j], v[j], h);
                CHECK(lost_velocity(q[j], v[j], h) <= 2.0 * bound);
                worst = fmax(worst, lost_velocity(q[j], v[j], h));
                largest = fmax(largest, bound);
            }
            CHECK(worst <= 2.0 * largest && worst >= 0.05 * largest);
        }
}

// Terms that cancel leave their rounding.
TEST(sums_lose_what_their_terms_round)
{
    const double factor[] = { 0.5, -0.25, 3.0 }, x[] = { 7.0, 4e5, 0.0, 8e5 };
    const int index[] = { 1, 3, 0 };
    CHECK_RELATIVE(pcs_rounding_of_sum(3, factor, index, x), DBL_EPSILON * (2e5 + 2e5 + 21.0), 1e-15);
    CHECK(pcs_rounding_of_sum(0, factor, index, x) == 0.0);
}
