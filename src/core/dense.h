// Small dense systems, row-major, solved in place without allocating.

#ifndef PCS_CORE_DENSE_H
#define PCS_CORE_DENSE_H

#include <math.h>
#include <stdbool.h>

// Solves b = A^-1 b by elimination with row pivoting; A is overwritten. False if a pivot is below 1e-13 of its row.
bool pcs_dense_solve(int n, double *A, double *b);
// Solves it with another bound than 1e-13, for matrices with less accurate entries.
bool pcs_dense_solve_to(int n, double *A, double *b, double smallest);

// Factors A = L U with row pivoting, in place; `pivot` holds n numbers. False if a pivot is below 1e-13 of its row.
bool pcs_dense_factor(int n, double *A, int *pivot);
// Solves X = U^-1 X for all columns at once; rows of X have length `width`.
void pcs_dense_back(int n, const double *U, int width, double *X);

// Inverts A in place; `work` holds n * n numbers. False if A is singular.
bool pcs_dense_invert(int n, double *A, double *work);

// Returns a . b, summed from the front.
static inline double pcs_dense_dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// Computes the eigenvalues of a symmetric matrix by Jacobi's rotations, accurate also if they are tiny:
// A (n x n, destroyed) = V diag(w) V^T; w rises, and column k of V, V[i * n + k], belongs to w[k].
void pcs_jacobi(int n, double *A, double *w, double *V);

#endif
