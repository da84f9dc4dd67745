// Small dense systems, row-major, solved in place without allocating.

#ifndef PCS_CORE_DENSE_H
#define PCS_CORE_DENSE_H

#include <math.h>
#include <stdbool.h>

#define PCS_DENSE_SMALLEST 1e-13

// b = A^-1 b by elimination with row pivoting; A is overwritten. False when a pivot is below 1e-13 of its row.
bool pcs_dense_solve(int n, double *A, double *b);
// The same with another bound than 1e-13, for matrices whose entries are known less well.
bool pcs_dense_solve_to(int n, double *A, double *b, double smallest);
// Two equations likewise, operation by operation: contact problems of a bar, many times a run. A stays as it is.
static inline bool pcs_dense_solve_pair(const double A[4], double b[2], double smallest)
{
    int first = fabs(A[2]) > fabs(A[0]) ? 1 : 0;
    const double *p = A + 2 * first, *r = A + 2 * (1 - first);
    double size = fabs(p[0]), other = fabs(p[1]);
    if (!(size > smallest * (other > size ? other : size))) return false;
    double factor = r[0] / p[0], top = b[first], bottom = b[1 - first] - factor * b[first];
    double pivot = factor == 0.0 ? r[1] : r[1] - factor * p[1], left = fabs(r[0]);
    size = fabs(pivot);
    if (!(size > smallest * (left > size ? left : size))) return false;
    b[1] = bottom / pivot;
    b[0] = (top - p[1] * b[1]) / p[0];
    return true;
}

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

// Eigenvalues of a symmetric matrix by Jacobi's rotations, accurate also where they are tiny:
// A (n x n, destroyed) = V diag(w) V^T; w rises, and column k of V, V[i * n + k], belongs to w[k].
void pcs_jacobi(int n, double *A, double *w, double *V);

#endif
