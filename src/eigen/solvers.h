// The eigen-solvers behind the interface; private to this folder.

#ifndef PCS_EIGEN_SOLVERS_H
#define PCS_EIGEN_SOLVERS_H

#include "eigen/eigen.h"
#include "eigen/null_space.h"

// A problem with rows that hold, as one without rows in fewer unknowns.
typedef struct pcs_reduced {
    pcs_eigen_problem problem; // the one to be solved
    int nfree;                 // unknowns that the rows leave: there are no more eigenvalues
    bool is_less;              // it has no rows; else it is the given one, for lack of rows or of sparsity
    pcs_null_space Z;
} pcs_reduced;

pcs_status pcs_eigen_reduce(pcs_context *ctx, const pcs_eigen_problem *full, pcs_reduced *out);
// Vectors of the given problem in place of those of the one that was solved.
pcs_status pcs_eigen_expand(pcs_context *ctx, const pcs_reduced *reduced, int count, double **vector);

// The largest K_ii / M_ii: an estimate of the largest eigenvalue.
double pcs_eigen_top(const pcs_eigen_problem *p);

// Zeroes the entries of r that belong to rows of G that hold: there their multipliers act, which are not known.
void pcs_eigen_clear_held(const pcs_eigen_problem *p, double *r);

// An operator on vectors of n entries.
typedef struct pcs_operator {
    int n;
    void *user;
    void (*apply)(void *user, const double *x, double *y); // y = (K - z M)^-1 x, or the whole inverted operator
    void (*mass)(void *user, const double *x, double *y);  // y = M x; NULL for plain problems
} pcs_operator;

// The `count` largest eigenvalues theta of apply(M .), in falling order, with M-orthonormal vectors [count x n]; gives
// in *count how many there are. ARPACK takes count < n.
pcs_status pcs_arpack_symmetric(pcs_context *ctx, const pcs_operator *op, int *count, double *theta, double *vector);
pcs_status pcs_lapack_symmetric(pcs_context *ctx, const pcs_operator *op, int *count, double *theta, double *vector);

// The `count` eigenvalues of `apply` that are largest in size, pairs together (then one more may come), as re + i im;
// a pair stands as two columns: real part, then imaginary part of the vector of the eigenvalue with im > 0. The arrays
// have room for count + 1. ARPACK takes count < n - 1.
pcs_status pcs_arpack_general(pcs_context *ctx, const pcs_operator *op, int *count, double *re, double *im,
                              double *vector);
pcs_status pcs_lapack_general(pcs_context *ctx, const pcs_operator *op, int *count, double *re, double *im,
                              double *vector);

#endif
