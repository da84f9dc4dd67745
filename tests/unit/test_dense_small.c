// Small dense systems are solved and inverted to rounding, and singular ones are told.

#include "check.h"
#include "core/dense.h"
#include "model.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LARGEST = 6 };

// Fills A. Two of four are singular, by a column of zeros or an equation that is there twice; one has to exchange rows.
static bool fill(int n, int k, unsigned long long *seed, double *A)
{
    model_randomize(seed, n * n, A);
    if (k % 4 == 1) A[0] = 0.0;
    for (int i = 0; k % 4 == 2 && i < n; i++) A[i * n + n / 2] = 0.0;
    for (int i = 0; k % 4 == 3 && i < n; i++) A[i] = 3.0 * A[n + i];
    return k % 4 < 2;
}

TEST(small_systems)
{
    unsigned long long seed = 7;
    (void)state;
    for (int k = 0; k < 4000; k++) {
        double A[LARGEST * LARGEST], B[LARGEST * LARGEST], C[LARGEST * LARGEST], work[LARGEST * LARGEST];
        double b[LARGEST], x[LARGEST];
        int n = 2 + k % (LARGEST - 1);
        bool is_regular = fill(n, k, &seed, A);
        model_randomize(&seed, n, b);
        memcpy(B, A, sizeof A);
        memcpy(C, A, sizeof A);
        memcpy(x, b, sizeof b);
        CHECK(pcs_dense_solve(n, B, x) == is_regular);
        if (!is_regular) continue;
        CHECK(pcs_dense_invert(n, C, work));
        for (int i = 0; i < n; i++) {
            double size = fabs(b[i]), other = fabs(x[i]);
            for (int j = 0; j < n; j++) size += fabs(A[i * n + j] * x[j]);
            for (int j = 0; j < n; j++) other += fabs(C[i * n + j] * b[j]);
            CHECK_NEAR(pcs_dense_dot(n, A + i * n, x), b[i], 1e3 * DBL_EPSILON * size);
            CHECK_NEAR(pcs_dense_dot(n, C + i * n, b), x[i], 1e-9 * other);
        }
    }
}
