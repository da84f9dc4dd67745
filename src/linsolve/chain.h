// The data of the chain solver, and the solves that tests and benchmarks compare.

#ifndef PCS_LINSOLVE_CHAIN_H
#define PCS_LINSOLVE_CHAIN_H

#include "linsolve/linsolve.h"

enum { PCS_CHAIN_MAX = 6 }; // largest number of equations of a block

typedef struct pcs_chain pcs_chain;

// Holds the partition of a chain with windows into tiles and segments.
typedef struct pcs_chain_cut {
    int ntile;  // number of tiles of eight segments
    int length; // number of equations of a segment, even
    int nlong;  // number of first tiles with segments longer by 2
    int window; // even number of equations over which the influence of earlier ones decays below round-off
} pcs_chain_cut;

// Factors with row exchanges.
typedef struct pcs_chain_banded {
    int width;             // largest number of entries of a row on each side of the diagonal
    double *factor;        // [n][3 width + 1]
    int *pivot;            // [2 n] row exchanges, and a workspace
    double *work;          // [3 n]
    double *weight, *size; // [n] scales of rows and of columns
} pcs_chain_banded;

struct pcs_chain {
    int n, b;
    int nblock;                                   // number of blocks of at most b equations, short ones padded
    int *first;                                   // [nblock + 1] first equations of the blocks, then n
    int *place;                                   // [n] of each equation among the padded blocks
    bool is_positive;                             // the matrix is positive definite
    void (*solve)(const pcs_chain *c, double *x); // x = A^-1 x
    double *lower;                                // off-diagonal part of the factor
    double *inverse;                              // reciprocal pivots
    double *work;                                 // work of the windows, else the padded right-hand side
    double *edges;                                // [2 tiles] values that tiles receive from their neighbours
    bool *is_uniform;                             // [tiles] all rows of the factor are the same
    bool *is_solved;                              // [tiles] true once solved in the present solve
    pcs_pool *pool;                               // threads that share tiles; NULL if one thread
    pcs_chain_cut cut;
    pcs_chain_banded banded;
};

void pcs_chain_windows_solve(const pcs_chain *c, double *x);
void pcs_chain_lu_solve(const pcs_chain *c, double *x);
void pcs_chain_banded_solve(const pcs_chain *c, double *x);

#endif
