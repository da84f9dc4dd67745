// Pairs of equations, which are eliminated apart. What factors of small matrices promise is in contract/test_linsolve.

#include "check.h"
#include "core/dense.h"
#include "model.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LARGEST = 10 };

// A x = b to the error of an elimination with pivots.
static void check_pair(const double A[4], const double b[2], const double x[2])
{
    for (int i = 0; i < 2; i++) {
        const double *row = A + (size_t)i * 2;
        double size = fabs(row[0] * x[0]) + fabs(row[1] * x[1]) + fabs(b[i]);
        CHECK_NEAR(row[0] * x[0] + row[1] * x[1], b[i], 16.0 * DBL_EPSILON * size);
    }
}

// A pair of equations is eliminated apart: as in a larger system that does not touch it.
TEST(two_equations_go_as_many)
{
    unsigned long long seed = 7;
    int nsingular = 0;
    (void)state;
    for (int k = 0; k < 4000; k++) {
        double x[6], A[4], b[2], B[9] = { 0.0 }, c[3] = { 0.0 };
        model_randomize(&seed, 6, x);
        if (k % 5 == 1) x[2] = x[0] = 0.0;                                              // a column of zeros
        if (k % 5 == 2) x[2] = 2.0 * x[0], x[3] = 2.0 * x[1] * (1.0 + 4e-16 * (k % 3)); // the same equation twice
        if (k % 5 == 3) x[0] = 0.0;                                                     // rows change places
        if (k % 5 == 4) x[0] *= 1e-9, x[1] *= 1e-9, x[2] = 0.0;                         // nothing to eliminate
        for (int i = 0; i < 4; i++) A[i] = B[i / 2 * 3 + i % 2] = x[i];
        for (int i = 0; i < 2; i++) b[i] = c[i] = x[4 + i];
        B[8] = 1.0;
        bool is_regular = pcs_dense_solve(2, A, b);
        CHECK(is_regular == pcs_dense_solve(3, B, c));
        nsingular += !is_regular;
        if (!is_regular) continue;
        check_pair(x, x + 4, b);
        check_pair(x, x + 4, c);
    }
    CHECK(nsingular > 1200 && nsingular < 1700);
}
