// Eigenvalues of small symmetric matrices by Jacobi's rotations: slow and accurate, also for tiny eigenvalues.

#ifndef PCS_CORE_JACOBI_H
#define PCS_CORE_JACOBI_H

// A (n x n, destroyed) = V diag(w) V^T; w rises, and column k of V, V[i * n + k], belongs to w[k].
void pcs_jacobi(int n, double *A, double *w, double *V);

#endif
