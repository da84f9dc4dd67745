// Smallest eigenvalues of K phi = lambda M phi and of (s^2 M + s C + K) phi = 0, both with G phi = 0 for rows that
// hold.
//
// Rows that hold are eliminated: phi = Z y with G Z = 0, and the problem is solved for y. So there are as many
// eigenvalues as unknowns less independent rows. Only where Z is anything but sparse (long chains of bodies) the rows
// stay as a border of K.
//
// Shift and invert: with a shift z below the spectrum, (K - z M)^-1 M has the eigenvalues 1/(lambda - z), the largest
// of which belong to the smallest lambda; K - z M is factored once by the project's own back ends. Lanczos and Arnoldi
// iterations come from ARPACK, small problems go to LAPACK.

#ifndef PCS_EIGEN_EIGEN_H
#define PCS_EIGEN_EIGEN_H

#include "linsolve/linsolve.h"

typedef enum pcs_eigen_method { PCS_EIGEN_AUTO, PCS_EIGEN_DENSE, PCS_EIGEN_ARPACK } pcs_eigen_method;

typedef struct pcs_eigen_problem {
    const pcs_matrix *K, *M;
    const pcs_matrix *C;        // of the quadratic problem; NULL is none
    const pcs_rows *G;          // NULL: no rows
    const unsigned char *holds; // [rows of G] not 0: G_j phi = 0; NULL: none
    const double *size;         // [n] natural sizes of unknowns, by which rows are found independent; NULL: all 1
    const pcs_matrix *K_terms;  // sums of the sizes of terms that the entries of K are sums of; NULL: |K|
    double blur;                // what errors of K other than round-off make of an eigenvalue 0
    int nknown;
    const double *known; // [nknown x n] vectors with K phi = 0 (rigid motions), M-orthonormal, not computed again
    const char *linear;  // back end, "auto" for the best
    pcs_eigen_method method;
    int count; // eigenvalues wanted, the known ones not counted
} pcs_eigen_problem;

// The vectors are M-orthonormal and ordered by lambda.
typedef struct pcs_eigen_result {
    int count;
    double *lambda;      // [count]
    double *vector;      // [count x n]
    double *residual;    // [count] |K phi - lambda M phi| beside |K| |phi|, worst entries of both, on what rows leave
    double *zero;        // [count] |lambda| up to this cannot be told from 0
    double shift;        // the last one
    const char *backend; // of the linear solver
    const char *eigen_name; // "ARPACK" or "LAPACK"
    int nfactor, nsolve;
} pcs_eigen_result;

// K and M symmetric, M positive semidefinite. PCS_FAILED when the iteration does not converge.
pcs_status pcs_eigen_symmetric(pcs_context *ctx, const pcs_eigen_problem *problem, pcs_eigen_result *out);

// Eigenvalues s = -decay + i w with w >= 0, ordered by |s|, of equal ones the growing first;
// vectors are re + i im with a largest entry of 1.
typedef struct pcs_eigen_complex {
    int count;
    double *decay, *w; // [count] 1/s
    double *re, *im;   // [count x n]
    double *residual;  // [count] as above
    double *zero;      // [count] |s|^2 up to this cannot be told from 0
    double shift;
    const char *backend, *eigen_name;
    int nfactor, nsolve;
} pcs_eigen_complex;

// Nothing need be symmetric. Known vectors are ignored: what they belong to is computed like the rest.
pcs_status pcs_eigen_quadratic(pcs_context *ctx, const pcs_eigen_problem *problem, pcs_eigen_complex *out);

#endif
