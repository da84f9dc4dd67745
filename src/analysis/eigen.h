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

#ifndef PCS_ANALYSIS_EIGEN_H
#define PCS_ANALYSIS_EIGEN_H

#include "linsolve/linsolve.h"

typedef enum pcs_eigen_method { PCS_EIGEN_AUTO, PCS_EIGEN_DENSE, PCS_EIGEN_ARPACK } pcs_eigen_method;

typedef struct pcs_eigen_problem {
    const pcs_matrix *K, *M;
    const pcs_matrix *C;        // damping of the quadratic problem; NULL if none
    const pcs_rows *G;          // NULL if no rows
    const unsigned char *holds; // [rows of G] not 0: G_j phi = 0; NULL if none
    const double *size;         // [n] natural sizes of unknowns, to find independent rows; NULL if all 1
    const pcs_matrix *K_terms;  // sums of the magnitudes of the terms of the entries of K; NULL: |K|
    double blur;                // size that a zero eigenvalue may have because K is known by differences, rad^2/s^2
    int nknown;
    const double *known; // [nknown x n] vectors with K phi = 0 (rigid motions), M-orthonormal, not computed again
    const char *linear;  // back end, "auto" for the best
    pcs_eigen_method method;
    int count; // number of wanted eigenvalues, without the known ones
} pcs_eigen_problem;

// The vectors are M-orthonormal and ordered by lambda.
typedef struct pcs_eigen_result {
    int count;
    double *lambda;   // [count]
    double *vector;   // [count x n]
    double *residual; // [count] |K phi - lambda M phi| relative to |K| |phi|, worst entries of both, on what rows leave
    double *zero;     // [count] |lambda| up to this is indistinguishable from 0
    double shift;     // last shift
    const char *eigen_name; // "ARPACK" or "LAPACK"
    int nfactor;
} pcs_eigen_result;

// Computes the smallest eigenvalues; K and M symmetric, M positive semidefinite. PCS_FAILED if it does not converge.
pcs_status pcs_eigen_symmetric(pcs_context *ctx, const pcs_eigen_problem *problem, pcs_eigen_result *out);

// Eigenvalues s = -decay + i w with w >= 0, ordered by |s|, of equal ones the growing first;
// vectors are re + i im with a largest entry of 1.
typedef struct pcs_eigen_complex {
    int count;
    double *decay, *w; // [count] 1/s
    double *re, *im;   // [count x n]
    double *residual;  // [count] as above
    double *zero;      // [count] |s|^2 up to this is indistinguishable from 0
} pcs_eigen_complex;

// Computes eigenvalues of matrices that need not be symmetric. Known vectors are ignored: theirs are computed, too.
pcs_status pcs_eigen_quadratic(pcs_context *ctx, const pcs_eigen_problem *problem, pcs_eigen_complex *out);

#endif
