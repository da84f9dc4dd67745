// Symmetric matrices by blocks, and incomplete Cholesky factors in their pattern; private to this folder.
//
// Equations in a row whose columns of the pattern are the same, as those of one node, make a block. The lower triangle
// is kept row of blocks by row of blocks, the diagonal block last, each block row by row. Equations are scaled by
// powers of two, s_i^2 A_ii in [1/4, 2): no bit of A changes, and the factor fits into single precision.

#ifndef PCS_LINSOLVE_INCOMPLETE_H
#define PCS_LINSOLVE_INCOMPLETE_H

#include "sparse/matrix.h"

enum { PCS_BLOCK_MOST = 6 };

typedef struct pcs_blocks {
    int n, nblock;
    int *first;    // [nblock + 1] equations
    int *start;    // [nblock + 1] entries of each row of blocks
    int *column;   // [start[nblock]] blocks up to the diagonal, ascending
    size_t *place; // [nblock + 1] of the first number of a row of blocks
    double *scale; // [n] powers of two
    double *value; // [place[nblock]] of scale A scale
    float *factor; // [place[nblock]] of L L' near that: L_ij L_jj^-1, on the diagonal L_ii^-1
    float *across; // [place[nblock]] the same, each block transposed
    int *mark;     // [nblock] workspace of the factorization
    double *row;   // [longest row of blocks] likewise
    double shift;  // what was added to the diagonal of the scaled matrix to make the factor
} pcs_blocks;

// Takes all memory for matrices of that pattern.
pcs_status pcs_blocks_create(pcs_context *ctx, const pcs_pattern *pattern, pcs_blocks *b);
// Reads the values; the first equation whose diagonal entry is not positive, or -1.
int pcs_blocks_read(pcs_blocks *b, const pcs_matrix *A);
// Makes the incomplete factor of these values; false where no shift of the diagonal leads to one.
bool pcs_blocks_factor(pcs_blocks *b);
// y = A x; x = (L L')^-1 x: both scaled.
void pcs_blocks_multiply(const pcs_blocks *b, const double *x, double *y);
void pcs_blocks_precondition(const pcs_blocks *b, double *x);

#endif
