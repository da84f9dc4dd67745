// Solution with the L U factors of a general chain: both sweeps to the middle, and back.
//
// The right-hand side is overwritten block by block. A step without row exchanges:
//
//   forward   L z = x_I,  x_J -= M z,  x_I = D^-1 z          backward   D^-1 U x_I = x_I - D^-1 V x_J
//
// with D the pivots. With row exchanges the 2 b entries of x_I and x_J are exchanged first, and the block K behind J
// enters the backward step, too.

#include "linsolve/chain_lu.h"

#include <string.h>

// Where one sweep stands: its step and the blocks of x.
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

// The same for one sweep alone.
static void lu_forward_alone(int b, const lu_side *p, double *x)
{
    for (int k = 0; k < b; k++)
        for (int i = k + 1; i < 2 * b; i++) {
            double *to = i < b ? x + i : x + p->next + i - b;
            *to -= p->step[lu_of_L(b, k) + (i < b ? i : lu_even(b) + i - b)] * x[k];
        }
    for (int i = 0; i < b; i++) x[i] *= p->inverse[i];
}

static void lu_backward_alone(int b, const lu_side *p, const double *fill, double *x)
{
    for (int k = b - 1; k >= 0; k--)
        for (int i = 0; i < b; i++) {
            x[i] -= p->step[lu_of_V(b, k) + i] * x[p->next + k];
            if (fill != NULL) x[i] -= fill[k * b + i] * x[2 * p->next + k];
        }
    for (int k = b - 1; k > 0; k--)
        for (int i = 0; i < k; i++) x[i] -= p->step[lu_of_U(b, k) + i] * x[k];
}

static void lu_exchange(int b, const int *order, int count, ptrdiff_t next, double *x)
{
    for (int k = 0; k < count; k++) {
        double *other = order[k] < b ? x + order[k] : x + next + order[k] - b, keep = *other;
        double *here = k < b ? x + k : x + next + k - b;
        *other = *here;
        *here = keep;
    }
}

// Steps of one sweep that the other does not accompany, those with row exchanges included.
static void lu_forward_rest(const pcs_chain *c, int side, int from, double *x)
{
    const pcs_chain_sweep sweep = lu_sweep(c, side);
    const int b = c->b;
    for (int k = from; k < sweep.count; k++) {
        const ptrdiff_t place = sweep.place + k, I = sweep.first + k * sweep.direction;
        const lu_side p = { .step = c->lower + place * lu_stride(b),
                            .inverse = c->inverse + I * b,
                            .next = sweep.direction * b };
        if (k >= c->lu.pivoted[side]) lu_exchange(b, c->lu.order + place * (2 * b), b, p.next, x + I * b);
        lu_forward_alone(b, &p, x + I * b);
    }
}

static void lu_backward_rest(const pcs_chain *c, int side, int from, double *x)
{
    const pcs_chain_sweep sweep = lu_sweep(c, side);
    const int b = c->b;
    for (int k = sweep.count - 1; k >= from; k--) {
        const ptrdiff_t place = sweep.place + k, I = sweep.first + k * sweep.direction;
        const lu_side p = { .step = c->lower + place * lu_stride(b), .next = sweep.direction * b };
        const double *fill = k >= c->lu.pivoted[side] ? c->lu.fill + place * (b * b) : NULL;
        lu_backward_alone(b, &p, fill, x + I * b);
    }
}

// The two blocks where the sweeps meet.
static void lu_meet(const pcs_chain *c, double *x)
{
    const int m = 2 * c->b;
    const double *factor = c->lu.meeting;
    lu_exchange(m, c->lu.meeting_order, m, 0, x);
    for (int i = 1; i < m; i++)
        for (int k = 0; k < i; k++) x[i] -= factor[i * m + k] * x[k];
    for (int i = 0; i < m; i++) x[i] *= factor[i * m + i];
    for (int i = m - 2; i >= 0; i--)
        for (int k = i + 1; k < m; k++) x[i] -= factor[i * m + k] * x[k];
}

static int lu_common(const pcs_chain *c)
{
    int common = lu_sweep(c, 0).count; // never more than the other
    for (int side = 0; side < 2; side++) common = c->lu.pivoted[side] < common ? c->lu.pivoted[side] : common;
    return common;
}

LU_INLINE void lu_solve(const pcs_chain *c, int b, double *x)
{
    const int common = lu_common(c);
    const ptrdiff_t end = (ptrdiff_t)(lu_blocks(c) - 1) * b;
    lu_side upper = { .step = c->lower, .inverse = c->inverse, .x = x, .next = b };
    lu_side lower = { .step = c->lower + (ptrdiff_t)lu_sweep(c, 1).place * lu_stride(b),
                      .inverse = c->inverse + end,
                      .x = x + end,
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
    for (int side = 0; side < 2; side++) lu_forward_rest(c, side, common, x);
    lu_meet(c, x + (ptrdiff_t)c->lu.middle * b);
    for (int side = 0; side < 2; side++) lu_backward_rest(c, side, common, x);
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
    if (c->n == lu_blocks(c) * c->b) {
        lu_solve_sized(c, x);
        return;
    }
    pcs_chain_spread(c, x, c->work);
    for (int i = c->nblock * c->b; i < lu_blocks(c) * c->b; i++) c->work[i] = 0.0;
    lu_solve_sized(c, c->work);
    pcs_chain_gather(c, c->work, x);
}
