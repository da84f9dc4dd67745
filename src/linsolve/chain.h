// The parts of the chain solver: one structure, three ways to solve.

#ifndef PCS_LINSOLVE_CHAIN_H
#define PCS_LINSOLVE_CHAIN_H

#include "sparse/matrix.h"

typedef struct pcs_chain pcs_chain;

// What a chain with windows is cut into, see chain_windows.c.
typedef struct pcs_chain_cut {
    int ntile;  // tiles of eight segments
    int length; // equations of a segment, even
    int nlong;  // the first tiles have segments longer by 2
    int window; // equations after which what lies behind has no influence, even
} pcs_chain_cut;

struct pcs_chain {
    int n, b;
    int nblock;                                   // of b equations, the last one filled up
    void (*solve)(const pcs_chain *c, double *x); // x = A^-1 x
    double *lower;                                // off-diagonal part of the factor
    double *inverse;                              // reciprocal pivots
    double *work;                                 // of the windows
    pcs_chain_cut cut;
};

// Doubles that each way needs.
size_t pcs_chain_sweeps_lower(const pcs_chain *c);
size_t pcs_chain_windows_lower(int n);
size_t pcs_chain_windows_work(int n);

// L D L' from both ends to the middle, for every b. Answers the equation with a pivot that is not positive, or -1.
int pcs_chain_sweeps_factor(pcs_chain *c, const pcs_matrix *A);
void pcs_chain_sweeps_solve(const pcs_chain *c, double *x);

// Eight interleaved sweeps, for b = 1. *fits says whether the influence decays fast enough; otherwise nothing is
// factored.
int pcs_chain_windows_factor(pcs_chain *c, const pcs_matrix *A, bool *fits);
void pcs_chain_windows_solve(const pcs_chain *c, double *x);

#endif
