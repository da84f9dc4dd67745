// Maxima over the entries of all ranks: what this rank has is joined with what the others have.

#include "step/sums.h"

#include "support/check.h"

// Another rank that has this much of everything.
static double elsewhere;

static void join_max(const pcs_comm *self, int count, double *x)
{
    (void)self;
    for (int i = 0; i < count; i++)
        if (elsewhere > x[i]) x[i] = elsewhere;
}

TEST(ranks_are_joined)
{
    const pcs_comm comm = { .size = 2, .max = join_max };
    const double a[] = { 1.0, -3.0, 2.0 };
    (void)state;
    for (int k = 0; k < 2; k++) {
        elsewhere = k == 0 ? 0.5 : 7.0;
        CHECK_NEAR(pcs_all_largest(&comm, 3, a), k == 0 ? 3.0 : 7.0, 0.0);
        CHECK_NEAR(pcs_all_largest(&comm, 0, NULL), elsewhere, 0.0);
        CHECK_NEAR(pcs_all_largest(NULL, 3, a), 3.0, 0.0);
        CHECK_NEAR(pcs_all_max(&comm, 1.0), k == 0 ? 1.0 : 7.0, 0.0);
    }
}
