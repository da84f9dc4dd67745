// What the files of the general chain share.
//
// A step of a sweep keeps 3 b x b numbers: by columns of 2 b the panel of its block and of the next one (U above the
// diagonal, L below), then by columns of b the U of the next block's columns. U is divided by its pivots.

#ifndef PCS_LINSOLVE_CHAIN_LU_H
#define PCS_LINSOLVE_CHAIN_LU_H

#include "linsolve/chain.h"

#define LU_INLINE static inline __attribute__((always_inline))
#define LU_UNROLL _Pragma("GCC unroll 12")

// One sweep: `count` steps from block `first` on.
typedef struct pcs_chain_sweep {
    int first, direction, count;
    int place; // of its first step among all
} pcs_chain_sweep;

LU_INLINE int lu_stride(int b)
{
    return 3 * b * b;
}

// Blocks, two at least.
static inline int lu_blocks(const pcs_chain *c)
{
    return c->nblock > 2 ? c->nblock : 2;
}

static inline pcs_chain_sweep lu_sweep(const pcs_chain *c, int side)
{
    const int middle = c->lu.middle, nblock = lu_blocks(c);
    if (side == 0) return (pcs_chain_sweep){ .first = 0, .direction = 1, .count = middle, .place = 0 };
    return (pcs_chain_sweep){ .first = nblock - 1, .direction = -1, .count = nblock - 2 - middle, .place = middle };
}

// Rows that a sweep hands on: those not yet used, with what they have in the columns of the next two blocks.
typedef struct pcs_chain_front {
    double top[2][PCS_CHAIN_MAX * PCS_CHAIN_MAX]; // by columns
    double weight[PCS_CHAIN_MAX];                 // of the rows
} pcs_chain_front;

// Sizes of the rows of blocks `low` - 1 to `high` + 1 and of the columns of blocks `low` to `high`.
void pcs_chain_lu_measure(pcs_chain *c, const pcs_matrix *A, int low, int high);

// Rows as they stand in A, with their weights: where row exchanges begin.
void pcs_chain_lu_weigh(const pcs_chain *c, int I, double *weight);

// Eliminates block I of a sweep with row exchanges among its rows and those of the next block. Answers the equation
// without a pivot, or -1.
int pcs_chain_lu_careful(pcs_chain *c, const pcs_matrix *A, int I, int direction, int place, pcs_chain_front *front);

// Factors what is left of the two blocks where the sweeps meet.
int pcs_chain_lu_meet(pcs_chain *c, const pcs_chain_front *upper, const pcs_chain_front *lower);

#endif
