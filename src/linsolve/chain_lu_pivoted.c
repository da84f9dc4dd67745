// Elimination with row exchanges: a block of a sweep, and the two blocks where the sweeps meet.
//
// The rows of a block I that are left and those of the next block J have entries in the columns of I, J and the block
// K behind it. b of these 2 b rows become pivots of the columns of I; the others are handed on with the columns of J
// and K. No other row has an entry in the columns of I, so that this is partial pivoting over the whole column.
//
// Rows are compared with weights that do not depend on the units of rows and columns: with them, and with the columns
// divided by their sizes, the largest entries of all rows and columns of A are close to 1. A pivot that is no more than
// round-off of the size of its column, with the same weights, is none.

#include "linsolve/chain_lu.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double pivoted_round_off = 10.0 * DBL_EPSILON;

enum { ROWS = 2 * PCS_CHAIN_MAX, COLUMNS = 3 * PCS_CHAIN_MAX };

// 2 b rows with the columns of three blocks.
typedef struct pivoted_rows {
    double entry[ROWS][COLUMNS];
    double weight[ROWS];
} pivoted_rows;

// Divides the rows and columns from `begin` to `end` by the roots of their largest entries, weights and sizes applied.
static void pivoted_balance(pcs_chain *c, const pcs_matrix *A, int begin, int end)
{
    const int *start = A->pattern->start, *row = A->pattern->row;
    double *weight = c->lu.weight, *size = c->lu.size, *largest = c->work;
    for (int i = begin; i < end; i++) largest[i] = 0.0;
    for (int j = begin; j < end; j++) {
        double most = 0.0, scale = 1.0 / size[j];
        for (int p = start[j]; p < start[j + 1]; p++) {
            if (row[p] < begin || row[p] >= end) continue;
            double entry = weight[row[p]] * fabs(A->value[p]) * scale;
            most = fmax(most, entry);
            largest[row[p]] = fmax(largest[row[p]], entry);
        }
        if (most > 0.0) size[j] *= sqrt(most);
    }
    for (int i = begin; i < end; i++)
        if (largest[i] > 0.0) weight[i] /= sqrt(largest[i]);
}

// After a few passes all largest entries are close to 1, and of all such scalings it is one in the middle, not one that
// favours rows or columns.
void pcs_chain_lu_measure(pcs_chain *c, const pcs_matrix *A, int low, int high)
{
    const int begin = c->first[low > 1 ? low - 1 : 0], end = c->first[high + 2 < c->nblock ? high + 2 : c->nblock];
    for (int i = begin; i < end; i++) c->lu.weight[i] = c->lu.size[i] = 1.0;
    for (int pass = 0; pass < 4; pass++) pivoted_balance(c, A, begin, end);
}

void pcs_chain_lu_weigh(const pcs_chain *c, int I, double *weight)
{
    int count = I < c->nblock ? c->first[I + 1] - c->first[I] : 0;
    for (int i = 0; i < c->b; i++) weight[i] = i < count ? c->lu.weight[c->first[I] + i] : 1.0;
}

// Equation number and size of column k of block I; a column that fills up has none.
static int pivoted_column(const pcs_chain *c, int I, int k, double *size)
{
    bool exists = I < c->nblock && k < c->first[I + 1] - c->first[I];
    *size = exists ? c->lu.size[c->first[I] + k] : 0.0;
    return exists ? c->first[I] + k : -1;
}

static void pivoted_put(int b, pivoted_rows *m, int row, int column, pcs_chain_block block)
{
    for (int j = 0; j < b; j++)
        for (int i = 0; i < b; i++) m->entry[row + i][column + j] = block.at[j * block.stride + i];
}

static int pivoted_best(const pivoted_rows *m, int nrow, int k)
{
    int best = k;
    double largest = 0.0;
    for (int i = k; i < nrow; i++) {
        double size = fabs(m->entry[i][k]) * m->weight[i];
        if (size > largest) best = i, largest = size;
    }
    return best;
}

static void pivoted_exchange(pivoted_rows *m, int k, int best)
{
    double row[COLUMNS], weight = m->weight[k];
    memcpy(row, m->entry[k], sizeof row);
    memcpy(m->entry[k], m->entry[best], sizeof row);
    memcpy(m->entry[best], row, sizeof row);
    m->weight[k] = m->weight[best];
    m->weight[best] = weight;
}

// Eliminates column k of 2 b rows; U becomes divided by its pivot. False when there is no pivot.
static bool pivoted_eliminate(pivoted_rows *m, int nrow, int ncolumn, int k, double size, int *order)
{
    int best = pivoted_best(m, nrow, k);
    double pivot = m->entry[best][k];
    if (!(fabs(pivot) * m->weight[best] > pivoted_round_off * size) || !(fabs(pivot) <= DBL_MAX)) return false;
    order[k] = best;
    if (best != k) pivoted_exchange(m, k, best);
    double inverse = 1.0 / pivot;
    for (int i = k + 1; i < nrow; i++) {
        double multiplier = m->entry[i][k] /= pivot; // equal rows cancel to the last digit
        if (multiplier == 0.0) continue;
        for (int j = k + 1; j < ncolumn; j++) m->entry[i][j] -= multiplier * m->entry[k][j];
    }
    for (int j = k + 1; j < ncolumn; j++) m->entry[k][j] *= inverse;
    m->entry[k][k] = inverse;
    return true;
}

static void pivoted_store(pcs_chain *c, const pivoted_rows *m, int place, double *inverse)
{
    const int b = c->b;
    double *step = c->lower + (size_t)place * (size_t)lu_stride(b),
           *fill = c->lu.fill + (size_t)place * (size_t)(b * b);
    for (int j = 0; j < b; j++) {
        double *L = step + lu_of_L(b, j), *U = step + lu_of_U(b, j), *V = step + lu_of_V(b, j);
        for (int i = 0; i < j; i++) U[i] = m->entry[i][j];
        for (int i = j + 1; i < b; i++) L[i] = m->entry[i][j];
        for (int i = 0; i < b; i++) {
            L[lu_even(b) + i] = m->entry[b + i][j];
            V[i] = m->entry[i][b + j];
            fill[j * b + i] = m->entry[i][2 * b + j];
        }
        inverse[j] = m->entry[j][j];
    }
}

int pcs_chain_lu_pivoted(pcs_chain *c, const pcs_matrix *A, int I, int direction, int place, pcs_chain_front *front)
{
    const int b = c->b, J = I + direction, K = J + direction;
    double copy[PCS_CHAIN_MAX * PCS_CHAIN_MAX];
    pivoted_rows m = { 0 };
    pivoted_put(b, &m, 0, 0, (pcs_chain_block){ front->top[0], b });
    pivoted_put(b, &m, 0, b, (pcs_chain_block){ front->top[1], b });
    pivoted_put(b, &m, b, 0, pcs_chain_get(c, A, J, I, copy));
    pivoted_put(b, &m, b, b, pcs_chain_get(c, A, J, J, copy));
    pivoted_put(b, &m, b, 2 * b, pcs_chain_get(c, A, J, K, copy));
    memcpy(m.weight, front->weight, (size_t)b * sizeof(double));
    pcs_chain_lu_weigh(c, J, m.weight + b);
    for (int k = 0; k < b; k++) {
        double size;
        int equation = pivoted_column(c, I, k, &size);
        if (!pivoted_eliminate(&m, 2 * b, 3 * b, k, size, c->lu.order + (size_t)place * (size_t)(2 * b)))
            return equation;
    }
    pivoted_store(c, &m, place, c->inverse + (size_t)I * (size_t)b);
    for (int j = 0; j < b; j++)
        for (int i = 0; i < b; i++) {
            front->top[0][j * b + i] = m.entry[b + i][b + j];
            front->top[1][j * b + i] = m.entry[b + i][2 * b + j];
        }
    memcpy(front->weight, m.weight + b, (size_t)b * sizeof(double));
    return -1;
}

int pcs_chain_lu_meet(pcs_chain *c, const pcs_chain_front *upper, const pcs_chain_front *lower)
{
    const int b = c->b;
    pivoted_rows m = { 0 };
    for (int side = 0; side < 2; side++) {
        pivoted_put(b, &m, 0, side * b, (pcs_chain_block){ upper->top[side], b });
        pivoted_put(b, &m, b, (1 - side) * b, (pcs_chain_block){ lower->top[side], b });
    }
    memcpy(m.weight, upper->weight, (size_t)b * sizeof(double));
    memcpy(m.weight + b, lower->weight, (size_t)b * sizeof(double));
    for (int k = 0; k < 2 * b; k++) {
        double size;
        int equation = pivoted_column(c, c->lu.middle + k / b, k % b, &size);
        if (!pivoted_eliminate(&m, 2 * b, 2 * b, k, size, c->lu.meeting_order)) return equation;
    }
    for (int i = 0; i < 2 * b; i++) memcpy(c->lu.meeting + i * 2 * b, m.entry[i], (size_t)(2 * b) * sizeof(double));
    return -1;
}
