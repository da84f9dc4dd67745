// The parts of the chain solver.

#ifndef PCS_LINSOLVE_CHAIN_H
#define PCS_LINSOLVE_CHAIN_H

#include "linsolve/linsolve.h"

enum { PCS_CHAIN_MAX = 6 }; // equations of a block

typedef struct pcs_chain pcs_chain;

// Holds the partition of a chain with windows into tiles and segments, see chain_windows.c.
typedef struct pcs_chain_cut {
    int ntile;  // tiles of eight segments
    int length; // equations of a segment, even
    int nlong;  // the first tiles have segments longer by 2
    int window; // equations after which what lies behind has no influence, even
} pcs_chain_cut;

// Factors with row exchanges, see chain_banded.c.
typedef struct pcs_chain_banded {
    int width;             // entries of a row on each side of the diagonal, at most
    double *factor;        // [n][3 width + 1]
    int *pivot;            // [2 n] row exchanges, and a workspace
    double *work;          // [3 n]
    double *weight, *size; // [n] of rows and of columns
} pcs_chain_banded;

struct pcs_chain {
    int n, b;
    int nblock;          // of at most b equations, short ones filled up
    const int *first;    // [nblock + 1] first equations of the blocks, then n
    const bool *is_full; // [nblock] of b equations, whose columns have all rows that they may have
    bool is_positive;    // the matrix is positive definite
    void (*solve)(const pcs_chain *c, double *x); // x = A^-1 x
    double *lower;                                // off-diagonal part of the factor
    double *inverse;                              // reciprocal pivots
    double *work;                                 // of the windows; else the filled up right-hand side
    double *edges;                                // [2 tiles] what tiles take over from their neighbours
    bool *is_uniform;                             // [tiles] all rows of the factor are the same
    bool *is_solved;                              // [tiles] of the solve under way
    pcs_pool *pool;                               // of threads that share tiles; NULL: one thread
    pcs_chain_cut cut;
    pcs_chain_banded banded;
};

// Size of the largest block of the best partition into blocks that couple to their neighbours only; 0 when there is
// none with blocks of at most PCS_CHAIN_MAX. `first` ([n + 1], may be NULL) gets the first equations, then n; *nblock
// their number.
int pcs_chain_partition(const pcs_pattern *pattern, int *first, int *nblock);

// A block of A by columns, `stride` apart.
typedef struct pcs_chain_block {
    const double *at;
    int stride;
} pcs_chain_block;

// Block (I, J) of A: in place where the pattern allows, else copied to `copy` [b x b]. Short blocks and those outside
// of the matrix are filled up with zeros, and with ones on the diagonal.
pcs_chain_block pcs_chain_get(const pcs_chain *c, const pcs_matrix *A, int I, int J, double *copy);

// The same in place, when the columns of J are full and I has b equations.
static inline pcs_chain_block pcs_chain_get_full(const pcs_chain *c, const pcs_matrix *A, int I, int J)
{
    const int top = c->first[J > 0 ? J - 1 : 0], bottom = c->first[J + 2 < c->nblock ? J + 2 : c->nblock];
    return (pcs_chain_block){ A->value + A->pattern->start[c->first[J]] + (c->first[I] - top), bottom - top };
}

// Right-hand side with short blocks filled up, and back.
void pcs_chain_spread(const pcs_chain *c, const double *x, double *spread);
void pcs_chain_gather(const pcs_chain *c, const double *spread, double *x);

// Doubles that each way needs.
size_t pcs_chain_bar_lower(int n); // of windows and pairs
size_t pcs_chain_windows_work(int n);
int pcs_chain_windows_tiles(int n); // at most
size_t pcs_chain_lu_lower(const pcs_chain *c);

// L D L' from both ends to the middle, for b = 1. Answers the equation with a pivot that is not positive, or -1.
int pcs_chain_pairs_factor(pcs_chain *c, const pcs_matrix *A);
void pcs_chain_pairs_solve(const pcs_chain *c, double *x);

// Eight interleaved sweeps, for b = 1. *fits says whether the influence decays fast enough; otherwise nothing is
// factored.
int pcs_chain_windows_factor(pcs_chain *c, const pcs_matrix *A, bool *fits);
void pcs_chain_windows_solve(const pcs_chain *c, double *x);
// The same slice by slice, tiles being the slices.
void pcs_chain_windows_begin(const pcs_chain *c, const pcs_slice_solve *job, int count, const int *wanted);
void pcs_chain_windows_end(const pcs_chain *c, const pcs_slice_solve *job);

// L U from both ends to the middle. Answers the equation where that breaks down, or -1: of a positive definite matrix
// one without a positive pivot, of another one near which rows should be exchanged.
int pcs_chain_lu_factor(pcs_chain *c, const pcs_matrix *A);
void pcs_chain_lu_solve(const pcs_chain *c, double *x);

// The same with row exchanges, for any values.
pcs_status pcs_chain_banded_analyze(pcs_context *ctx, pcs_chain *c);
int pcs_chain_banded_factor(pcs_chain *c, const pcs_matrix *A);
void pcs_chain_banded_solve(const pcs_chain *c, double *x);

#endif
