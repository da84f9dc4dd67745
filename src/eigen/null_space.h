// All x with G_h x = 0 as x = Z y: elimination of one unknown of x per row that holds and is independent of the rows
// before it. What is left of x is y, so that Z is as sparse as the rows are local.

#ifndef PCS_EIGEN_NULL_SPACE_H
#define PCS_EIGEN_NULL_SPACE_H

#include "sparse/matrix.h"

typedef struct pcs_null_space {
    int n, nfree;  // of x, of y; n - nfree is the rank of G_h
    int *start;    // [n + 1] of the rows of Z
    int *column;   // entries of Z
    double *value; // likewise
    int *kept;     // [nfree] where y stands in x
    bool is_full;  // Z has too many entries to be of use: it is not there, and y may have more unknowns than nfree
} pcs_null_space;

// holds[j] != 0: row j counts. size [n] (NULL: all 1) are natural sizes of x: beside them rows are found independent.
pcs_status pcs_null_space_create(pcs_context *ctx, int n, const pcs_rows *G, const unsigned char *holds,
                                 const double *size, pcs_null_space *out);

// x = Z y.
void pcs_null_space_expand(const pcs_null_space *self, const double *y, double *x);

#endif
