// L U factors of a block tridiagonal matrix with any values, from both ends to the middle.
//
// A sweep eliminates block after block. With S for what is left of its diagonal block, C for the block of A below it,
// B for the one beside it and D for the next diagonal block,
//
//   S = L U,   M = C U^-1,   V = L^-1 B,   S_next = D - M V.
//
// This is done without row exchanges where that is as good: scaled with the roots of the diagonal of A, the
// multipliers in L and M must stay moderate and the pivots must not have grown. For a positive definite matrix the
// squares of the scaled multipliers of a row, weighted with the pivots, have a sum below 1, so that it always passes;
// so do the iteration matrices of beams. Otherwise the sweep goes on with row exchanges over its block and the next one
// (chain_lu_careful.c), which is elimination with partial pivoting of a banded matrix. When pivots have grown, it
// starts from the beginning with row exchanges. Where the two sweeps meet, two blocks are left, and are factored like a
// dense matrix.
//
// The processor works on both sweeps at once, as they do not depend on each other.

#include "linsolve/chain_lu.h"

#include "linsolve/pivot.h"

#include <math.h>
#include <string.h>

static const double lu_multipliers = 100.0; // largest sum of squares of the scaled multipliers of a block
static const double lu_growth = 10.0;       // largest pivot in units of the diagonal entry of A

typedef enum lu_outcome { LU_GOOD, LU_EXCHANGES, LU_GROWN } lu_outcome;

typedef struct lu_input {
    pcs_chain_block below, next, beside; // C, D, B
} lu_input;

size_t pcs_chain_lu_lower(const pcs_chain *c)
{
    return (size_t)lu_blocks(c) * (size_t)lu_stride(c->b);
}

// The first b columns: L and M, U. `size` is the diagonal of A of both blocks.
LU_INLINE lu_outcome lu_panel(int b, const double *S, pcs_chain_block C, const double *size, double *L, double *inverse,
                              double *restrict panel)
{
    double squares[2 * PCS_CHAIN_MAX] = { 0 }, sum = 0.0;
    bool is_large = true, is_moderate = true;
    LU_UNROLL
    for (int j = 0; j < b; j++) {
        double column[2 * PCS_CHAIN_MAX];
        LU_UNROLL
        for (int i = 0; i < b; i++) column[i] = S[j * b + i], column[b + i] = C.at[j * C.stride + i];
        LU_UNROLL
        for (int k = 0; k < j; k++) {
            LU_UNROLL
            for (int i = k + 1; i < 2 * b; i++) column[i] -= L[k * 2 * b + i] * column[k];
            panel[j * 2 * b + k] = column[k] * inverse[k];
        }
        double pivot = fabs(column[j]);
        is_large = is_large && pivot > 2.0 * DBL_EPSILON * size[j];
        is_moderate = is_moderate && pivot <= lu_growth * size[j];
        inverse[j] = 1.0 / column[j];
        LU_UNROLL
        for (int i = j + 1; i < 2 * b; i++) {
            double multiplier = column[i] * inverse[j];
            panel[j * 2 * b + i] = L[j * 2 * b + i] = multiplier;
            squares[i] += multiplier * multiplier * size[j];
        }
    }
    LU_UNROLL
    for (int i = 1; i < 2 * b; i++) sum += squares[i] / size[i];
    if (!is_moderate) return LU_GROWN;
    return is_large && sum <= lu_multipliers ? LU_GOOD : LU_EXCHANGES; // a sum that is not a number is not good
}

// The columns of the next block: V, and what is left of D.
LU_INLINE void lu_update(int b, pcs_chain_block B, pcs_chain_block D, const double *L, const double *inverse,
                         double *restrict V, double *restrict S)
{
    LU_UNROLL
    for (int j = 0; j < b; j++) {
        double column[2 * PCS_CHAIN_MAX];
        LU_UNROLL
        for (int i = 0; i < b; i++) column[i] = B.at[j * B.stride + i], column[b + i] = D.at[j * D.stride + i];
        LU_UNROLL
        for (int k = 0; k < b; k++) {
            LU_UNROLL
            for (int i = k + 1; i < 2 * b; i++) column[i] -= L[k * 2 * b + i] * column[k];
        }
        LU_UNROLL
        for (int i = 0; i < b; i++) V[j * b + i] = column[i] * inverse[i], S[j * b + i] = column[b + i];
    }
}

LU_INLINE lu_outcome lu_eliminate(int b, const lu_input *in, double *size, const double *S, double *step,
                                  double *inverse, double *next)
{
    double L[2 * PCS_CHAIN_MAX * PCS_CHAIN_MAX], reciprocal[PCS_CHAIN_MAX];
    LU_UNROLL
    for (int i = 0; i < b; i++) size[b + i] = fabs(in->next.at[i * (in->next.stride + 1)]);
    lu_outcome outcome = lu_panel(b, S, in->below, size, L, reciprocal, step);
    lu_update(b, in->beside, in->next, L, reciprocal, step + 2 * b * b, next);
    LU_UNROLL
    for (int i = 0; i < b; i++) inverse[i] = reciprocal[i], size[i] = size[b + i];
    return outcome;
}

// Where a sweep stands.
typedef struct lu_state {
    pcs_chain_sweep sweep;
    int k;                                      // steps done
    double S[2][PCS_CHAIN_MAX * PCS_CHAIN_MAX]; // what is left of the block of step k: S[k % 2]
    double size[2 * PCS_CHAIN_MAX];             // diagonal of A of that block
} lu_state;

static void lu_begin(const pcs_chain *c, const pcs_matrix *A, int side, lu_state *state)
{
    double copy[PCS_CHAIN_MAX * PCS_CHAIN_MAX];
    state->sweep = lu_sweep(c, side);
    state->k = 0;
    pcs_chain_block D = pcs_chain_get(c, A, state->sweep.first, state->sweep.first, copy);
    for (int j = 0; j < c->b; j++) {
        for (int i = 0; i < c->b; i++) state->S[0][j * c->b + i] = D.at[j * D.stride + i];
        state->size[j] = fabs(D.at[j * (D.stride + 1)]);
    }
}

// One step without row exchanges.
LU_INLINE lu_outcome lu_step(pcs_chain *c, const pcs_matrix *A, int b, lu_state *state)
{
    double copy[3][PCS_CHAIN_MAX * PCS_CHAIN_MAX];
    const int I = state->sweep.first + state->k * state->sweep.direction, J = I + state->sweep.direction;
    const lu_input in = { .below = pcs_chain_get(c, A, J, I, copy[0]),
                          .next = pcs_chain_get(c, A, J, J, copy[1]),
                          .beside = pcs_chain_get(c, A, I, J, copy[2]) };
    double *step = c->lower + (size_t)(state->sweep.place + state->k) * (size_t)lu_stride(b);
    lu_outcome outcome = lu_eliminate(b, &in, state->size, state->S[state->k % 2], step,
                                      c->inverse + (size_t)I * (size_t)b, state->S[(state->k + 1) % 2]);
    if (outcome == LU_GOOD) state->k++;
    return outcome;
}

// Both sweeps without row exchanges as far as they go; the one that must not go on stays where it is.
LU_INLINE void lu_run(pcs_chain *c, const pcs_matrix *A, int b, lu_state *upper, lu_state *lower, lu_outcome *outcome)
{
    bool goes_on = true;
    while (goes_on) {
        goes_on = false;
        if (outcome[0] == LU_GOOD && upper->k < upper->sweep.count) {
            outcome[0] = lu_step(c, A, b, upper);
            goes_on = true;
        }
        if (outcome[1] == LU_GOOD && lower->k < lower->sweep.count) {
            outcome[1] = lu_step(c, A, b, lower);
            goes_on = true;
        }
    }
}

static void lu_run_sized(pcs_chain *c, const pcs_matrix *A, lu_state *upper, lu_state *lower, lu_outcome *outcome)
{
    switch (c->b) { // constant block sizes unroll the loops over a block
    case 1: lu_run(c, A, 1, upper, lower, outcome); break;
    case 2: lu_run(c, A, 2, upper, lower, outcome); break;
    case 3: lu_run(c, A, 3, upper, lower, outcome); break;
    case 4: lu_run(c, A, 4, upper, lower, outcome); break;
    case 5: lu_run(c, A, 5, upper, lower, outcome); break;
    default: lu_run(c, A, 6, upper, lower, outcome); break;
    }
}

// The rows that a sweep without row exchanges hands on.
static void lu_hand_on(const pcs_chain *c, const pcs_matrix *A, const lu_state *state, pcs_chain_front *front)
{
    const int I = state->sweep.first + state->k * state->sweep.direction, size = c->b * c->b;
    double copy[PCS_CHAIN_MAX * PCS_CHAIN_MAX];
    pcs_chain_block B = pcs_chain_get(c, A, I, I + state->sweep.direction, copy);
    memcpy(front->top[0], state->S[state->k % 2], (size_t)size * sizeof(double));
    for (int j = 0; j < c->b; j++)
        for (int i = 0; i < c->b; i++) front->top[1][j * c->b + i] = B.at[j * B.stride + i];
    pcs_chain_lu_weigh(c, I, front->weight);
}

// The rest of a sweep with row exchanges.
static int lu_finish(pcs_chain *c, const pcs_matrix *A, int side, lu_state *state, pcs_chain_front *front)
{
    const pcs_chain_sweep *sweep = &state->sweep;
    c->lu.careful[side] = state->k;
    lu_hand_on(c, A, state, front);
    for (int k = state->k; k < sweep->count; k++) {
        int bad =
            pcs_chain_lu_careful(c, A, sweep->first + k * sweep->direction, sweep->direction, sweep->place + k, front);
        if (bad >= 0) return bad;
    }
    return -1;
}

int pcs_chain_lu_factor(pcs_chain *c, const pcs_matrix *A)
{
    if (c->n == 0) return -1;
    lu_state state[2];
    pcs_chain_front front[2];
    lu_outcome outcome[2] = { LU_GOOD, LU_GOOD };
    for (int side = 0; side < 2; side++) lu_begin(c, A, side, &state[side]);
    lu_run_sized(c, A, &state[0], &state[1], outcome);
    for (int side = 0; side < 2; side++)
        if (outcome[side] == LU_GROWN) lu_begin(c, A, side, &state[side]);

    bool is_careful = outcome[0] != LU_GOOD || outcome[1] != LU_GOOD;
    int middle = c->lu.middle, last = lu_blocks(c) - 1;
    pcs_chain_lu_measure(c, A, is_careful ? 0 : middle, is_careful ? last : middle + 1);
    for (int side = 0; side < 2; side++) {
        int bad = lu_finish(c, A, side, &state[side], &front[side]);
        if (bad >= 0) return bad;
    }
    return pcs_chain_lu_meet(c, &front[0], &front[1]);
}
