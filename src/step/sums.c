#include "step/sums.h"

#include "core/loop.h"
#include "core/rounding.h"

#include <math.h>

PCS_WIDE double pcs_sum_dot(int n, const double *a, const double *b)
{
    double sum[4] = { 0.0 };
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double pcs_sum_largest(int n, const double *x)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = pcs_larger(largest, fabs(x[i]));
    return largest;
}
