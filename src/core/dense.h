// Small dense systems, row-major, solved in place without allocating.

#ifndef PCS_CORE_DENSE_H
#define PCS_CORE_DENSE_H

#include <stdbool.h>

// b = A^-1 b by elimination with row pivoting; A is overwritten. False when a pivot is below 1e-13 of its row.
bool pcs_dense_solve(int n, double *A, double *b);
// The same with another bound than 1e-13, for matrices whose entries are known less well.
bool pcs_dense_solve_to(int n, double *A, double *b, double smallest);

// A = L U with row pivoting, in place; `pivot` holds n numbers. False when a pivot is below 1e-13 of its row.
bool pcs_dense_factor(int n, double *A, int *pivot);

// A = A^-1 by Gauss-Jordan with row pivoting; `work` holds n * n numbers. False when singular.
bool pcs_dense_invert(int n, double *A, double *work);

// a . b, summed from the front.
static inline double pcs_dense_dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

#endif
