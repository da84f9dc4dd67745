// L U factors of a block tridiagonal matrix from both ends to the middle, and solutions with them.
//
// A sweep eliminates block after block. With S for what is left of its diagonal block, C for the block of A below it,
// B for the one beside it and D for the next diagonal block,
//
//   S = L U,   M = C U^-1,   V = L^-1 B,   S_next = D - M V.
//
// The sweeps meet at one block, which both reduce. Rows are not exchanged. With pivots p_k and the diagonal s of A,
//
//   sum_k l_ik^2 |p_k| / s_i     for the rows of L and M,     sum_k u_kj^2 / |p_k| / s_j     for the columns of U and V
//
// bound the terms that are subtracted from A_ij, and so what is lost to rounding, in units of sqrt(s_i s_j). For a
// positive definite matrix none exceeds 1, as a sum of squares is what is taken from its diagonal; the iteration
// matrices of beams are close to that. Where their sum over a block gets large, the factorization ends, and the matrix
// is one for factors with row exchanges (chain_banded.c).
//
// The right-hand side is overwritten block by block, with P for the pivots:
//
//   forward   L z = x_I,  x_J -= M z,  x_I = P^-1 z          backward   P^-1 U x_I = x_I - P^-1 V x_J
//
// The processor works on both sweeps at once, as they do not depend on each other. A step keeps, in the order in which
// they are read, the columns of L with those of M below them, and the columns of U and those of V; U and V divided by
// their pivots. The rows of a block are kept in pairs, an odd last one with a zero. The diagonal belongs to U in odd
// columns, else to L, and is zero; its reciprocals are kept in `inverse`.

#include "core/double2.h"
#include "linsolve/chain.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Under the instruments of the fuzzers a compiler would take hours for what is inlined and unrolled.
#ifdef PERCUSS_FUZZ
#define LU_INLINE static inline
#define LU_UNROLL
#else
#define LU_INLINE static inline __attribute__((always_inline))
#define LU_UNROLL _Pragma("GCC unroll 12")
#endif

enum { LU_ROWS = PCS_CHAIN_MAX, LU_BLOCK = PCS_CHAIN_MAX * PCS_CHAIN_MAX };

LU_INLINE int lu_even(int b)
{
    return b + b % 2;
}

// Returns the offset that row 0 of column k of L would have in a step; M has the rows from lu_even(b) on.
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

// Largest sum of the bounds of a block, per equation; 4 at most for a positive definite matrix.
static const double lu_limit = 16.0;

typedef struct lu_input {
    pcs_chain_block below, next, beside; // C, D, B
} lu_input;

// Holds the Schur complement S of a block, by columns of whole pairs, and the reciprocal diagonal of A there.
typedef struct lu_rest {
    double S[PCS_CHAIN_MAX * LU_ROWS];
    double weight[LU_ROWS];
} lu_rest;

size_t pcs_chain_lu_lower(const pcs_chain *c)
{
    return (size_t)c->nblock * (size_t)lu_stride(c->b);
}

static int lu_middle(const pcs_chain *c)
{
    return (c->nblock - 1) / 2;
}

// Returns the address of the factors of block I; those of each sweep are stored in its order.
LU_INLINE double *lu_step_of(const pcs_chain *c, int b, int I)
{
    const int middle = lu_middle(c), place = I > middle ? c->nblock + middle - I : I;
    return c->lower + (ptrdiff_t)place * lu_stride(b);
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

// Holds the bounds on the growth of entries in a step, and its smallest pivot.
typedef struct lu_bounds {
    pcs_double2 rows[LU_ROWS]; // sums for the rows of L and M, to be weighted
    pcs_double2 columns;       // of the columns of U and V together
    double least;              // smallest pivot in units of the diagonal
} lu_bounds;

// Holds the factors that a step computes, and their bounds.
typedef struct lu_factors {
    double L[PCS_CHAIN_MAX * 2 * LU_ROWS]; // L and M by columns
    double inverse[LU_ROWS];               // of the pivots
    double *step;                          // where the factors are kept
    bool is_positive;                      // pivots must be
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
    bounds->least = fmin(bounds->least, (to->is_positive ? pivot : fabs(pivot)) * weight);
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

// Eliminates block I; false if a pivot is missing or rows should be exchanged.
LU_INLINE bool lu_eliminate(pcs_chain *c, int b, const lu_input *in, const lu_rest *rest, lu_rest *next, int I)
{
    const int h = lu_even(b) / 2;
    double *inverse = c->inverse + (size_t)I * (size_t)b;
    lu_factors f;
    f.step = lu_step_of(c, b, I);
    f.is_positive = c->is_positive;
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

// Holds the state of a sweep. One goes from block 0 down to the middle, the other from the last block up to it, which
// has as many steps, or one more.
typedef struct lu_sweep {
    int block, direction;
    lu_rest rest[2]; // of blocks with even and with odd numbers: the present one and the next
} lu_sweep;

// Adds `sign` times diagonal block I of A to what is left of it.
static void lu_add(const pcs_chain *c, const pcs_matrix *A, int I, double sign, lu_rest *rest)
{
    double copy[LU_BLOCK];
    pcs_chain_block D = pcs_chain_get(c, A, I, I, copy);
    lu_weigh(c->b, D, rest->weight);
    for (int j = 0; j < c->b; j++)
        for (int i = 0; i < c->b; i++) rest->S[j * lu_even(c->b) + i] += sign * D.at[j * D.stride + i];
}

// The blocks of A that enter a step from block I to block J.
LU_INLINE lu_input lu_find(const pcs_chain *c, const pcs_matrix *A, int I, int J, double (*copy)[LU_BLOCK])
{
    if (J < c->nblock && c->is_full[I] && c->is_full[J])
        return (lu_input){ .below = pcs_chain_get_full(c, A, J, I),
                           .next = pcs_chain_get_full(c, A, J, J),
                           .beside = pcs_chain_get_full(c, A, I, J) };
    return (lu_input){ .below = pcs_chain_get(c, A, J, I, copy[0]),
                       .next = pcs_chain_get(c, A, J, J, copy[1]),
                       .beside = pcs_chain_get(c, A, I, J, copy[2]) };
}

// Eliminates the block where the sweep stands and goes on to the next one; the middle leads to none.
LU_INLINE bool lu_step(pcs_chain *c, const pcs_matrix *A, int b, lu_sweep *sweep)
{
    double copy[3][LU_BLOCK];
    const int I = sweep->block, J = I == lu_middle(c) ? c->nblock : I + sweep->direction;
    const lu_input in = lu_find(c, A, I, J, copy);
    const bool is_good = lu_eliminate(c, b, &in, &sweep->rest[I % 2], &sweep->rest[(I + 1) % 2], I);
    if (is_good) sweep->block += sweep->direction;
    return is_good;
}

// Both sweeps to the middle; answers the one that cannot go on, or NULL.
LU_INLINE const lu_sweep *lu_run(pcs_chain *c, const pcs_matrix *A, int b, lu_sweep *sweep)
{
    const int middle = lu_middle(c);
    while (sweep[1].block > middle) {
        if (sweep[0].block < middle && !lu_step(c, A, b, &sweep[0])) return &sweep[0];
        if (!lu_step(c, A, b, &sweep[1])) return &sweep[1];
    }
    lu_rest *left = &sweep[0].rest[middle % 2], *right = &sweep[1].rest[middle % 2];
    for (int k = 0; k < b * lu_even(b); k++) left->S[k] += right->S[k];
    lu_add(c, A, middle, -1.0, left);
    return lu_step(c, A, b, &sweep[0]) ? NULL : &sweep[0];
}

static const lu_sweep *lu_run_sized(pcs_chain *c, const pcs_matrix *A, lu_sweep *sweep)
{
    switch (c->b) { // constant block sizes unroll the loops over a block
    case 1: return lu_run(c, A, 1, sweep);
    case 2: return lu_run(c, A, 2, sweep);
    case 3: return lu_run(c, A, 3, sweep);
    case 4: return lu_run(c, A, 4, sweep);
    case 5: return lu_run(c, A, 5, sweep);
    default: return lu_run(c, A, 6, sweep);
    }
}

// Equation of the first pivot of a block that is no more than round-off, or not positive; if all are good, of the next
// block that has no diagonal entry, or the first one of the block.
static int lu_find_bad(const pcs_chain *c, const lu_sweep *sweep)
{
    const int I = sweep->block;
    for (int i = 0; i < c->first[I + 1] - c->first[I]; i++)
        if (!(sweep->rest[I % 2].weight[i] / c->inverse[I * c->b + i] > 2.0 * DBL_EPSILON)) return c->first[I] + i;
    for (int i = 0, J = I + sweep->direction; i < c->b; i++)
        if (!(sweep->rest[J % 2].weight[i] <= DBL_MAX)) return c->first[J] + i;
    return c->first[I];
}

int pcs_chain_lu_factor(pcs_chain *c, const pcs_matrix *A)
{
    if (c->n == 0) return -1;
    lu_sweep sweep[2] = { { .block = 0, .direction = 1 }, { .block = c->nblock - 1, .direction = -1 } };
    for (int side = 0; side < 2; side++) lu_add(c, A, sweep[side].block, 1.0, &sweep[side].rest[sweep[side].block % 2]);
    const lu_sweep *bad = lu_run_sized(c, A, sweep);
    return bad == NULL ? -1 : lu_find_bad(c, bad);
}

// Holds the state of one sweep of a solve: its step and the blocks of x.
typedef struct lu_side {
    const double *step, *inverse;
    double *x;
    ptrdiff_t next; // from a block of x to the next one
    pcs_double2 y[LU_ROWS / 2];
} lu_side;

LU_INLINE void lu_move(int b, int steps, lu_side *side)
{
    side->step += (ptrdiff_t)steps * lu_stride(b);
    side->inverse += steps * side->next;
    side->x += steps * side->next;
}

LU_INLINE void lu_store(int b, const pcs_double2 *from, double *to)
{
    LU_UNROLL
    for (int i = 0; i < b / 2; i++) pcs_double2_store(to + 2 * i, from[i]);
    if (b % 2 != 0) to[b - 1] = from[b / 2][0];
}

// to -= column factor, in the pairs from `begin` to `end`.
LU_INLINE void lu_subtract(int begin, int end, const double *column, double factor, pcs_double2 *to)
{
    LU_UNROLL
    for (int i = begin; i < end; i++) to[i] -= pcs_double2_load(column + 2 * i) * factor;
}

// A step of each forward sweep: y holds the block, reduced by those before. The statements alternate between the
// sweeps, because the processor looks only a few hundred operations ahead.
LU_INLINE void lu_forward(int b, lu_side *p, lu_side *q)
{
    const int even = lu_even(b), h = even / 2;
    pcs_double2 y[LU_ROWS / 2], v[LU_ROWS / 2], d[LU_ROWS / 2], e[LU_ROWS / 2];
    lu_load(b, p->x + p->next, y);
    lu_load(b, q->x + q->next, v);
    LU_UNROLL
    for (int k = 0; k < b; k++) {
        const double *f = p->step + lu_of_L(b, k), *g = q->step + lu_of_L(b, k);
        const double factor = p->y[k / 2][k % 2], other = q->y[k / 2][k % 2];
        lu_subtract((k + 1) / 2, h, f, factor, p->y);
        lu_subtract((k + 1) / 2, h, g, other, q->y);
        lu_subtract(0, h, f + even, factor, y);
        lu_subtract(0, h, g + even, other, v);
    }
    lu_load(b, p->inverse, d);
    lu_load(b, q->inverse, e);
    LU_UNROLL
    for (int i = 0; i < h; i++) d[i] *= p->y[i], e[i] *= q->y[i], p->y[i] = y[i], q->y[i] = v[i];
    lu_store(b, d, p->x);
    lu_store(b, e, q->x);
}

// A step of each backward sweep: y holds the block before. Last columns first: they were known first.
LU_INLINE void lu_backward(int b, lu_side *p, lu_side *q)
{
    const int h = lu_even(b) / 2;
    pcs_double2 y[LU_ROWS / 2], v[LU_ROWS / 2];
    lu_load(b, p->x, y);
    lu_load(b, q->x, v);
    LU_UNROLL
    for (int k = b - 1; k >= 0; k--) {
        lu_subtract(0, h, p->step + lu_of_V(b, k), p->y[k / 2][k % 2], y);
        lu_subtract(0, h, q->step + lu_of_V(b, k), q->y[k / 2][k % 2], v);
    }
    LU_UNROLL
    for (int k = b - 1; k > 0; k--) {
        const double factor = y[k / 2][k % 2], other = v[k / 2][k % 2];
        lu_subtract(0, (k + 1) / 2, p->step + lu_of_U(b, k), factor, y);
        lu_subtract(0, (k + 1) / 2, q->step + lu_of_U(b, k), other, v);
    }
    LU_UNROLL
    for (int i = 0; i < h; i++) p->y[i] = y[i], q->y[i] = v[i];
    lu_store(b, y, p->x);
    lu_store(b, v, q->x);
}

// The same for block I alone, of rows that couple to the block at I + next; 0: to none.
LU_INLINE void lu_forward_alone(const pcs_chain *c, int b, int I, int next, double *x)
{
    const double *step = lu_step_of(c, b, I), *inverse = c->inverse + (ptrdiff_t)I * b;
    double *own = x + (ptrdiff_t)I * b, *other = own + (ptrdiff_t)next * b;
    for (int k = 0; k < b; k++) {
        const double *L = step + lu_of_L(b, k), *M = L + lu_even(b);
        for (int i = k + 1; i < b; i++) own[i] -= L[i] * own[k];
        if (next == 0) continue;
        for (int i = 0; i < b; i++) other[i] -= M[i] * own[k];
    }
    for (int i = 0; i < b; i++) own[i] *= inverse[i];
}

LU_INLINE void lu_backward_alone(const pcs_chain *c, int b, int I, int next, double *x)
{
    const double *step = lu_step_of(c, b, I);
    double *own = x + (ptrdiff_t)I * b, *other = own + (ptrdiff_t)next * b;
    for (int k = b - 1; k >= 0; k--) {
        if (next == 0) break;
        for (int i = 0; i < b; i++) own[i] -= step[lu_of_V(b, k) + i] * other[k];
    }
    for (int k = b - 1; k > 0; k--)
        for (int i = 0; i < k; i++) own[i] -= step[lu_of_U(b, k) + i] * own[k];
}

// Both sweeps side by side up to the last block of the lower one before the middle; what is left, block by block.
LU_INLINE void lu_solve(const pcs_chain *c, int b, double *x)
{
    const int middle = lu_middle(c), last = c->nblock - 1, common = last > middle ? last - middle - 1 : 0;
    lu_side upper = { .step = c->lower, .inverse = c->inverse, .x = x, .next = b };
    lu_side lower = { .step = lu_step_of(c, b, last),
                      .inverse = c->inverse + (ptrdiff_t)last * b,
                      .x = x + (ptrdiff_t)last * b,
                      .next = -b };
    lu_load(b, upper.x, upper.y);
    lu_load(b, lower.x, lower.y);
    for (int k = 0; k < common; k++) {
        lu_forward(b, &upper, &lower);
        lu_move(b, 1, &upper);
        lu_move(b, 1, &lower);
    }
    lu_store(b, upper.y, upper.x);
    lu_store(b, lower.y, lower.x);
    for (int I = common; I < middle; I++) lu_forward_alone(c, b, I, 1, x);
    for (int I = last - common; I > middle; I--) lu_forward_alone(c, b, I, -1, x);
    lu_forward_alone(c, b, middle, 0, x);
    lu_backward_alone(c, b, middle, 0, x);
    for (int I = middle + 1; I <= last - common; I++) lu_backward_alone(c, b, I, -1, x);
    for (int I = middle - 1; I >= common; I--) lu_backward_alone(c, b, I, 1, x);
    lu_load(b, upper.x, upper.y);
    lu_load(b, lower.x, lower.y);
    for (int k = 0; k < common; k++) {
        lu_move(b, -1, &upper);
        lu_move(b, -1, &lower);
        lu_backward(b, &upper, &lower);
    }
}

static void lu_solve_sized(const pcs_chain *c, double *x)
{
    switch (c->b) { // constant block sizes unroll the loops over a block
    case 1: lu_solve(c, 1, x); break;
    case 2: lu_solve(c, 2, x); break;
    case 3: lu_solve(c, 3, x); break;
    case 4: lu_solve(c, 4, x); break;
    case 5: lu_solve(c, 5, x); break;
    default: lu_solve(c, 6, x); break;
    }
}

void pcs_chain_lu_solve(const pcs_chain *c, double *x)
{
    if (c->n == 0) return;
    if (c->n == c->nblock * c->b) {
        lu_solve_sized(c, x);
        return;
    }
    pcs_chain_spread(c, x, c->work);
    lu_solve_sized(c, c->work);
    pcs_chain_gather(c, c->work, x);
}
