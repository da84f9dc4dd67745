// L U factors of a block tridiagonal matrix with any values, from both ends to the middle.
//
// A sweep eliminates block after block. With S for what is left of its diagonal block, C for the block of A below it,
// B for the one beside it and D for the next diagonal block,
//
//   S = L U,   M = C U^-1,   V = L^-1 B,   S_next = D - M V.
//
// This is done without row exchanges where that is as good. With pivots p_k and the diagonal s of A,
//
//   sum_k l_ik^2 |p_k| / s_i     for the rows of L and M,     sum_k u_kj^2 / |p_k| / s_j     for the columns of U and V
//
// bound the terms that are subtracted from A_ij, and so what is lost to rounding, in units of sqrt(s_i s_j). For a
// positive definite matrix none exceeds 1, as a sum of squares is what is taken from its diagonal; the iteration
// matrices of beams are close to that. Where their sum over a block gets large, the sweep goes on with row exchanges
// over its block and the next one (chain_lu_pivoted.c), which is elimination with partial pivoting of a banded matrix.
// Where the two sweeps meet, two blocks are left, and are factored like a dense matrix.
//
// The processor works on both sweeps at once, as they do not depend on each other.

#include "linsolve/chain_lu.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Largest sum of the bounds of a block, per equation; 4 at most for a positive definite matrix.
static const double lu_limit = 16.0;

typedef struct lu_input {
    pcs_chain_block below, next, beside; // C, D, B
} lu_input;

// What is left of a block, by columns of whole pairs, and the reciprocal diagonal of A there.
typedef struct lu_rest {
    double S[PCS_CHAIN_MAX * LU_ROWS];
    double weight[LU_ROWS];
} lu_rest;

size_t pcs_chain_lu_lower(const pcs_chain *c)
{
    return (size_t)lu_blocks(c) * (size_t)lu_stride(c->b);
}

LU_INLINE pcs_double2 lu_absolute(pcs_double2 p)
{
    return (pcs_double2){ fabs(p[0]), fabs(p[1]) };
}

// Reciprocals of the diagonal of D; what fills up has 1.
LU_INLINE void lu_weigh(int b, pcs_chain_block D, double *weight)
{
    LU_UNROLL
    for (int i = 0; i < lu_even(b); i += 2) {
        const double second = i + 1 < b ? D.at[(i + 1) * (D.stride + 1)] : 1.0;
        pcs_double2_store(weight + i, 1.0 / lu_absolute((pcs_double2){ D.at[i * (D.stride + 1)], second }));
    }
}

// What is known about the sizes of a step.
typedef struct lu_bounds {
    pcs_double2 rows[LU_ROWS]; // sums for the rows of L and M, to be weighted
    pcs_double2 columns;       // of the columns of U and V together
    double least;              // smallest pivot in units of the diagonal
} lu_bounds;

// What a step computes.
typedef struct lu_factors {
    double L[PCS_CHAIN_MAX * 2 * LU_ROWS]; // L and M by columns
    double inverse[LU_ROWS];               // of the pivots
    double *step;                          // where the factors are kept
    lu_bounds bounds;
} lu_factors;

// Column j of the first b: its entries of U go to the step and those of L to L and the step, with a zero between.
LU_INLINE void lu_column(int b, int j, pcs_double2 *column, double weight, lu_factors *to)
{
    double *L = to->L, *inverse = to->inverse, *step = to->step;
    lu_bounds *bounds = &to->bounds;
    const int nrow = 2 * lu_even(b);
    LU_UNROLL
    for (int k = 0; k < j; k++) {
        const double factor = column[k / 2][k % 2];
        LU_UNROLL
        for (int i = (k + 1) / 2; i < nrow / 2; i++) column[i] -= pcs_double2_load(L + k * nrow + 2 * i) * factor;
    }
    const pcs_double2 own = column[j / 2];
    const double pivot = own[j % 2], reciprocal = 1.0 / pivot;
    inverse[j] = reciprocal;
    bounds->least = fmin(bounds->least, fabs(pivot) * weight);
    column[j / 2] = j % 2 == 0 ? (pcs_double2){ 0.0, own[1] } : (pcs_double2){ own[0], 0.0 };
    LU_UNROLL
    for (int i = 0; i < (j + 1) / 2; i++) {
        const pcs_double2 scaled = column[i] * (pcs_double2){ inverse[2 * i], inverse[2 * i + 1] };
        pcs_double2_store(step + lu_of_U(b, j) + 2 * i, scaled);
        bounds->columns += lu_absolute(scaled * column[i]) * weight;
    }
    LU_UNROLL
    for (int i = (j + 1) / 2; i < nrow / 2; i++) {
        const pcs_double2 multiplier = column[i] * reciprocal;
        pcs_double2_store(L + j * nrow + 2 * i, multiplier);
        pcs_double2_store(step + lu_of_L(b, j) + 2 * i, multiplier);
        bounds->rows[i] += multiplier * multiplier * fabs(pivot);
    }
}

// The first b columns: L and M, U.
LU_INLINE void lu_panel(int b, const lu_rest *rest, pcs_chain_block C, lu_factors *to)
{
    const int h = lu_even(b) / 2;
    double weight[LU_ROWS]; // a copy that nothing else writes to
    LU_UNROLL
    for (int i = 0; i < b; i++) weight[i] = rest->weight[i];
    LU_UNROLL
    for (int j = 0; j < b; j++) {
        pcs_double2 column[LU_ROWS];
        LU_UNROLL
        for (int i = 0; i < h; i++) column[i] = pcs_double2_load(rest->S + (j * h + i) * 2);
        lu_load(b, C.at + j * C.stride, column + h);
        lu_column(b, j, column, weight[j], to);
    }
}

// `count` columns of the next block from j on: V, and what is left of D. Two columns at once share what is read of L.
LU_INLINE pcs_double2 lu_update(int b, int count, int j, const lu_input *in, const lu_factors *f, lu_rest *next)
{
    const double *L = f->L, *inverse = f->inverse;
    double *step = f->step;
    const int even = lu_even(b), h = even / 2;
    pcs_double2 column[2][LU_ROWS], bound = { 0 };
    LU_UNROLL
    for (int m = 0; m < count; m++) {
        lu_load(b, in->beside.at + (j + m) * in->beside.stride, column[m]);
        lu_load(b, in->next.at + (j + m) * in->next.stride, column[m] + h);
    }
    LU_UNROLL
    for (int k = 0; k < b; k++) {
        const double factor[] = { column[0][k / 2][k % 2], count > 1 ? column[1][k / 2][k % 2] : 0.0 };
        LU_UNROLL
        for (int i = (k + 1) / 2; i < even; i++) {
            const pcs_double2 multiplier = pcs_double2_load(L + k * 2 * even + 2 * i);
            LU_UNROLL
            for (int m = 0; m < count; m++) column[m][i] -= multiplier * factor[m];
        }
    }
    LU_UNROLL
    for (int i = 0; i < h; i++) {
        LU_UNROLL
        for (int m = 0; m < count; m++) {
            const pcs_double2 scaled = column[m][i] * (pcs_double2){ inverse[2 * i], inverse[2 * i + 1] };
            pcs_double2_store(step + lu_of_V(b, j + m) + 2 * i, scaled);
            pcs_double2_store(next->S + (j + m) * even + 2 * i, column[m][h + i]);
            bound += lu_absolute(scaled * column[m][i]) * next->weight[j + m];
        }
    }
    return bound;
}

// A step without row exchanges; false when it needs some.
LU_INLINE bool lu_eliminate(int b, const lu_input *in, const lu_rest *rest, lu_rest *next, double *step,
                            double *inverse)
{
    const int h = lu_even(b) / 2;
    lu_factors f;
    f.step = step;
    f.bounds = (lu_bounds){ .least = 1.0 };
    memset(f.inverse, 0, sizeof f.inverse);
    lu_weigh(b, in->next, next->weight);
    lu_panel(b, rest, in->below, &f);
    pcs_double2 sum = f.bounds.columns;
    LU_UNROLL
    for (int i = 0; i < h; i++) {
        sum += f.bounds.rows[i] * pcs_double2_load(rest->weight + 2 * i);
        sum += f.bounds.rows[h + i] * pcs_double2_load(next->weight + 2 * i);
    }
    for (int j = 0; j + 1 < b; j += 2) sum += lu_update(b, 2, j, in, &f, next);
    if (b % 2 != 0) sum += lu_update(b, 1, b - 1, in, &f, next);
    LU_UNROLL
    for (int i = 0; i < b; i++) inverse[i] = f.inverse[i];
    return f.bounds.least > 2.0 * DBL_EPSILON && sum[0] + sum[1] <= lu_limit * b; // false for what is not a number
}

// Where a sweep stands.
typedef struct lu_state {
    pcs_chain_sweep sweep;
    int k;           // steps done
    lu_rest rest[2]; // of the block of step k: rest[k % 2]
} lu_state;

static void lu_begin(const pcs_chain *c, const pcs_matrix *A, int side, lu_state *state)
{
    double copy[LU_BLOCK];
    state->sweep = lu_sweep(c, side);
    state->k = 0;
    pcs_chain_block D = pcs_chain_get(c, A, state->sweep.first, state->sweep.first, copy);
    lu_weigh(c->b, D, state->rest[0].weight);
    for (int j = 0; j < c->b; j++)
        for (int i = 0; i < lu_even(c->b); i++)
            state->rest[0].S[j * lu_even(c->b) + i] = i < c->b ? D.at[j * D.stride + i] : 0.0;
}

// The blocks of A that enter a step from block I to block J.
LU_INLINE lu_input lu_find(const pcs_chain *c, const pcs_matrix *A, int I, int J, double (*copy)[LU_BLOCK])
{
    if (c->is_full[I] && c->is_full[J])
        return (lu_input){ .below = pcs_chain_get_full(c, A, J, I),
                           .next = pcs_chain_get_full(c, A, J, J),
                           .beside = pcs_chain_get_full(c, A, I, J) };
    return (lu_input){ .below = pcs_chain_get(c, A, J, I, copy[0]),
                       .next = pcs_chain_get(c, A, J, J, copy[1]),
                       .beside = pcs_chain_get(c, A, I, J, copy[2]) };
}

// The next step without row exchanges, if that will do; answers whether it was done.
LU_INLINE bool lu_step(pcs_chain *c, const pcs_matrix *A, int b, lu_state *state)
{
    double copy[3][LU_BLOCK];
    if (state->k == state->sweep.count) return false;
    const int I = state->sweep.first + state->k * state->sweep.direction;
    const lu_input in = lu_find(c, A, I, I + state->sweep.direction, copy);
    double *step = c->lower + (size_t)(state->sweep.place + state->k) * (size_t)lu_stride(b);
    bool is_good = lu_eliminate(b, &in, &state->rest[state->k % 2], &state->rest[(state->k + 1) % 2], step,
                                c->inverse + (size_t)I * (size_t)b);
    if (is_good) state->k++;
    return is_good;
}

// Both sweeps without row exchanges as far as they go; the one that must not go on stays where it is.
LU_INLINE void lu_run(pcs_chain *c, const pcs_matrix *A, int b, lu_state *state)
{
    bool goes_on[] = { true, true };
    while (goes_on[0] || goes_on[1]) {
        goes_on[0] = goes_on[0] && lu_step(c, A, b, &state[0]);
        goes_on[1] = goes_on[1] && lu_step(c, A, b, &state[1]);
    }
}

static void lu_run_sized(pcs_chain *c, const pcs_matrix *A, lu_state *state)
{
    switch (c->b) { // constant block sizes unroll the loops over a block
    case 1: lu_run(c, A, 1, state); break;
    case 2: lu_run(c, A, 2, state); break;
    case 3: lu_run(c, A, 3, state); break;
    case 4: lu_run(c, A, 4, state); break;
    case 5: lu_run(c, A, 5, state); break;
    default: lu_run(c, A, 6, state); break;
    }
}

// The rows that a sweep without row exchanges hands on.
static void lu_hand_on(const pcs_chain *c, const pcs_matrix *A, const lu_state *state, pcs_chain_front *front)
{
    const int I = state->sweep.first + state->k * state->sweep.direction;
    double copy[LU_BLOCK];
    pcs_chain_block B = pcs_chain_get(c, A, I, I + state->sweep.direction, copy);
    for (int j = 0; j < c->b; j++)
        for (int i = 0; i < c->b; i++) {
            front->top[0][j * c->b + i] = state->rest[state->k % 2].S[j * lu_even(c->b) + i];
            front->top[1][j * c->b + i] = B.at[j * B.stride + i];
        }
    pcs_chain_lu_weigh(c, I, front->weight);
}

// The rest of a sweep with row exchanges.
static int lu_finish(pcs_chain *c, const pcs_matrix *A, int side, lu_state *state, pcs_chain_front *front)
{
    const pcs_chain_sweep *sweep = &state->sweep;
    c->lu.pivoted[side] = state->k;
    lu_hand_on(c, A, state, front);
    for (int k = state->k; k < sweep->count; k++) {
        int bad =
            pcs_chain_lu_pivoted(c, A, sweep->first + k * sweep->direction, sweep->direction, sweep->place + k, front);
        if (bad >= 0) return bad;
    }
    return -1;
}

int pcs_chain_lu_factor(pcs_chain *c, const pcs_matrix *A)
{
    if (c->n == 0) return -1;
    lu_state state[2];
    pcs_chain_front front[2];
    for (int side = 0; side < 2; side++) lu_begin(c, A, side, &state[side]);
    lu_run_sized(c, A, state);

    bool is_pivoted = state[0].k < state[0].sweep.count || state[1].k < state[1].sweep.count;
    int middle = c->lu.middle, last = lu_blocks(c) - 1;
    pcs_chain_lu_measure(c, A, is_pivoted ? 0 : middle, is_pivoted ? last : middle + 1);
    for (int side = 0; side < 2; side++) {
        int bad = lu_finish(c, A, side, &state[side], &front[side]);
        if (bad >= 0) return bad;
    }
    return pcs_chain_lu_meet(c, &front[0], &front[1]);
}
