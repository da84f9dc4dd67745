// What the files of the general chain share.
//
// A step of a sweep keeps, in the order in which they are read, the columns of L with those of M below them, which the
// forward sweep wants, and the columns of U and those of V, which the backward sweep wants; U and V divided by their
// pivots. The rows of a block are kept in pairs, an odd last one with a zero. The diagonal belongs to U in odd columns,
// else to L, and is zero; its reciprocals stand elsewhere.

#ifndef PCS_LINSOLVE_CHAIN_LU_H
#define PCS_LINSOLVE_CHAIN_LU_H

#include "core/double2.h"
#include "linsolve/chain.h"

// Under the instruments of the fuzzers a compiler would take hours for what is inlined and unrolled.
#ifdef PERCUSS_FUZZ
#define LU_INLINE static inline
#define LU_UNROLL
#else
#define LU_INLINE static inline __attribute__((always_inline))
#define LU_UNROLL _Pragma("GCC unroll 12")
#endif

enum { LU_ROWS = PCS_CHAIN_MAX, LU_BLOCK = PCS_CHAIN_MAX * PCS_CHAIN_MAX };

// One sweep: `count` steps from block `first` on.
typedef struct pcs_chain_sweep {
    int first, direction, count;
    int place; // of its first step among all
} pcs_chain_sweep;

LU_INLINE int lu_even(int b)
{
    return b + b % 2;
}

// Where row 0 of column k of L would stand; M has the rows from lu_even(b) on.
LU_INLINE int lu_of_L(int b, int k)
{
    return 2 * (lu_even(b) * k - k * k / 4 - (k + 1) / 2);
}

LU_INLINE int lu_of_U(int b, int k)
{
    return 2 * (lu_even(b) * b - b * b / 4 + k * k / 4);
}

LU_INLINE int lu_of_V(int b, int k)
{
    return lu_even(b) * (2 * b + k);
}

LU_INLINE int lu_stride(int b)
{
    return 3 * b * lu_even(b);
}

// b numbers as pairs, an odd last one with a zero.
LU_INLINE void lu_load(int b, const double *from, pcs_double2 *to)
{
    LU_UNROLL
    for (int i = 0; i < b / 2; i++) to[i] = pcs_double2_load(from + 2 * i);
    if (b % 2 != 0) to[b / 2] = (pcs_double2){ from[b - 1], 0.0 };
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

// Weights of the rows and sizes of the columns of blocks `low` to `high`, from these blocks and their neighbours.
void pcs_chain_lu_measure(pcs_chain *c, const pcs_matrix *A, int low, int high);

// Rows as they stand in A, with their weights: where row exchanges begin.
void pcs_chain_lu_weigh(const pcs_chain *c, int I, double *weight);

// Eliminates block I of a sweep with row exchanges among its rows and those of the next block. Answers the equation
// without a pivot, or -1.
int pcs_chain_lu_pivoted(pcs_chain *c, const pcs_matrix *A, int I, int direction, int place, pcs_chain_front *front);

// Factors what is left of the two blocks where the sweeps meet.
int pcs_chain_lu_meet(pcs_chain *c, const pcs_chain_front *upper, const pcs_chain_front *lower);

#endif
