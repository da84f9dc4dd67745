// Small dense systems, row-major, solved in place without allocating.

#ifndef PCS_CORE_DENSE_H
#define PCS_CORE_DENSE_H

#include <stdbool.h>

// b = A^-1 b by elimination with row pivoting; A is overwritten. False when a pivot is below 1e-13 of its row.
bool pcs_dense_solve(int n, double *A, double *b);

// A = A^-1 by Gauss-Jordan with row pivoting; `work` holds n * n numbers. False when singular.
bool pcs_dense_invert(int n, double *A, double *work);

#endif
