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

static void sums_join(const pcs_comm *comm, int count, double *x)
{
    if (comm != NULL) comm->sum(comm, count, x);
}

double pcs_all_dot(const pcs_comm *comm, int n, const double *a, const double *b)
{
    return pcs_all_total(comm, pcs_sum_dot(n, a, b));
}

void pcs_all_dots(const pcs_comm *comm, int n, int count, double *const *basis, const double *x, double *dots)
{
    for (int k = 0; k < count; k++) dots[k] = pcs_sum_dot(n, basis[k], x);
    sums_join(comm, count, dots);
}

double pcs_all_largest(const pcs_comm *comm, int n, const double *x)
{
    return pcs_all_max(comm, pcs_sum_largest(n, x));
}

double pcs_all_max(const pcs_comm *comm, double here)
{
    if (comm != NULL) comm->max(comm, 1, &here);
    return here;
}

long pcs_all_count(const pcs_comm *comm, long here)
{
    return comm == NULL ? here : (long)pcs_all_total(comm, (double)here);
}

double pcs_all_total(const pcs_comm *comm, double here)
{
    sums_join(comm, 1, &here);
    return here;
}

// Sums four parts of 16 bits each, whose sums are exact as floating-point numbers.
unsigned long long pcs_all_marks(const pcs_comm *comm, unsigned long long here)
{
    double part[4];
    unsigned long long sum = 0;
    if (comm == NULL) return here;
    for (int k = 0; k < 4; k++) part[k] = (double)(here >> 16 * k & 0xffff);
    sums_join(comm, 4, part);
    for (int k = 0; k < 4; k++) sum += (unsigned long long)part[k] << 16 * k;
    return sum;
}
