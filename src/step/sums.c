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

void pcs_sum_dots(int n, int count, double *const *basis, const double *x, double *dots)
{
    for (int k = 0; k < count; k++) dots[k] = pcs_sum_dot(n, basis[k], x);
}

double pcs_sum_largest(int n, const double *x)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = pcs_larger(largest, fabs(x[i]));
    return largest;
}

double pcs_sum_max(double here)
{
    return here;
}

long pcs_sum_count(long here)
{
    return here;
}

double pcs_sum_total(double here)
{
    return here;
}

unsigned long long pcs_sum_marks(unsigned long long here)
{
    return here;
}

void pcs_rows_add_all(const pcs_rows *G, double scale, const double *z, double *y)
{
    for (int row = 0; row < G->nrow; row++)
        if (z[row] != 0.0) pcs_rows_add_transposed(G, row, scale * z[row], y);
}
