// Incomplete Cholesky factors by blocks, IC(0): entries of L outside the pattern of A are dropped.
//
//   L_ij = (A_ij - sum_k L_ik L_jk') L_jj^-T for j < i,   L_ii L_ii' = A_ii - sum_k L_ik L_ik'
//
// Solves use U_ij = L_ij L_jj^-1: x_i -= sum_j U_ij x_j downwards, x = L_jj^-T L_jj^-1 x, x_j -= U_ij' x_i upwards, so
// that only one block stands between an unknown and the next. Each sweep has U the way it reads it, rows or columns.
//
// Where a pivot fails, the factor is that of A + shift I, with as little as it takes (T. A. Manteuffel, An incomplete
// factorization technique for positive definite linear systems, Math. Comp. 34 (1980) 473-497). L is kept in single
// precision and used in double: what it preconditions is the same linear map every time.

#include "linsolve/incomplete.h"

#include <math.h>
#include <string.h>

enum { MOST = PCS_BLOCK_MOST };
static const double first_shift = 1e-3, most_shift = 1e4, least_pivot = 1e-7;

static bool blocks_are_alike(const pcs_pattern *a, int i, int j)
{
    int count = a->start[i + 1] - a->start[i];
    return count == a->start[j + 1] - a->start[j] &&
           memcmp(a->row + a->start[i], a->row + a->start[j], (size_t)count * sizeof *a->row) == 0;
}

// Fills `first`, and gives in `block` the block of each equation.
static int blocks_group(const pcs_pattern *pattern, int *first, int *block)
{
    int count = 0;
    for (int i = 0; i < pattern->n; i++) {
        bool goes_on = i > 0 && i - first[count - 1] < MOST && blocks_are_alike(pattern, i - 1, i);
        if (!goes_on) first[count++] = i;
        block[i] = count - 1;
    }
    first[count] = pattern->n;
    return count;
}

// Blocks of row i at or before the diagonal; where `column` is not NULL they are written there.
static int blocks_list(const pcs_blocks *b, const pcs_pattern *pattern, const int *block, int i, int *column)
{
    int count = 0, last = -1;
    for (int p = pattern->start[b->first[i]]; p < pattern->start[b->first[i] + 1]; p++) {
        int j = block[pattern->row[p]];
        if (j > i) break;
        if (j == last) continue;
        last = j;
        if (column != NULL) column[count] = j;
        count++;
    }
    return count;
}

static inline int blocks_size(const pcs_blocks *b, int i)
{
    return b->first[i + 1] - b->first[i];
}

// Rows of blocks: their columns, places and the longest of them.
static pcs_status blocks_lay_out(pcs_context *ctx, const pcs_pattern *pattern, const int *block, pcs_blocks *b)
{
    size_t longest = 0;
    PCS_TAKE(ctx, b->start, (size_t)b->nblock + 1, "a matrix by blocks");
    PCS_TAKE(ctx, b->place, (size_t)b->nblock + 1, "a matrix by blocks");
    for (int i = 0; i < b->nblock; i++) b->start[i + 1] = b->start[i] + blocks_list(b, pattern, block, i, NULL);
    PCS_TAKE(ctx, b->column, b->start[b->nblock], "a matrix by blocks");
    for (int i = 0; i < b->nblock; i++) {
        size_t wide = 0;
        blocks_list(b, pattern, block, i, b->column + b->start[i]);
        for (int e = b->start[i]; e < b->start[i + 1]; e++) wide += (size_t)blocks_size(b, b->column[e]);
        wide *= (size_t)blocks_size(b, i);
        b->place[i + 1] = b->place[i] + wide;
        if (wide > longest) longest = wide;
    }
    PCS_TAKE(ctx, b->row, longest, "a matrix by blocks");
    return PCS_OK;
}

pcs_status pcs_blocks_create(pcs_context *ctx, const pcs_pattern *pattern, pcs_blocks *b)
{
    b->n = pattern->n;
    int *block = pcs_scratch(NULL, (size_t)b->n, sizeof *block);
    int *first = pcs_scratch(NULL, (size_t)b->n + 1, sizeof *first);
    pcs_status status = PCS_NO_MEMORY;
    if (block != NULL && first != NULL) {
        b->nblock = blocks_group(pattern, first, block);
        b->first = pcs_take(ctx, (size_t)b->nblock + 1, sizeof *first, "a matrix by blocks");
        if (b->first != NULL) {
            memcpy(b->first, first, ((size_t)b->nblock + 1) * sizeof *first);
            status = blocks_lay_out(ctx, pattern, block, b);
        }
    } else {
        status = pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: a matrix of %d equations by blocks", b->n);
    }
    pcs_scratch_free(block);
    pcs_scratch_free(first);
    PCS_TRY(status);
    PCS_TAKE(ctx, b->scale, b->n, "a matrix by blocks");
    PCS_TAKE(ctx, b->value, b->place[b->nblock], "a matrix by blocks");
    PCS_TAKE(ctx, b->factor, b->place[b->nblock], "an incomplete factor");
    PCS_TAKE(ctx, b->across, b->place[b->nblock], "an incomplete factor");
    PCS_TAKE(ctx, b->mark, b->nblock, "an incomplete factor");
    return PCS_OK;
}

int pcs_blocks_read(pcs_blocks *b, const pcs_matrix *A)
{
    for (int i = 0; i < b->n; i++) {
        double diagonal = pcs_matrix_diagonal(A, i);
        int exponent = 0;
        if (!(diagonal > 0.0) || !isfinite(diagonal)) return i;
        frexp(diagonal, &exponent);
        b->scale[i] = ldexp(1.0, -(exponent / 2));
    }
    double *to = b->value;
    for (int i = 0; i < b->nblock; i++) {
        for (int e = b->start[i], done = 0; e < b->start[i + 1]; e++) {
            int j = b->column[e], wide = blocks_size(b, j);
            for (int k = b->first[i]; k < b->first[i + 1]; k++) {
                const double *from = A->value + A->pattern->start[k] + done;
                for (int l = 0; l < wide; l++) *to++ = b->scale[k] * from[l] * b->scale[b->first[j] + l];
            }
            done += wide;
        }
    }
    return -1;
}

// C -= A B', of m x k, n x k and m x n numbers.
static inline void block_subtract(int m, int n, int k, const double *A, const float *B, double *C)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int l = 0; l < k; l++) sum += A[i * k + l] * (double)B[j * k + l];
            C[i * n + j] -= sum;
        }
}

// C = C T' with T lower triangular, n x n.
static inline void block_times_transposed(int m, int n, const float *T, double *C)
{
    for (int i = 0; i < m; i++) {
        double *c = C + (size_t)i * (size_t)n;
        for (int j = n - 1; j >= 0; j--) {
            double sum = 0.0;
            for (int l = 0; l <= j; l++) sum += c[l] * (double)T[j * n + l];
            c[j] = sum;
        }
    }
}

// D = L L' in place, then T = L^-1, lower; false when a pivot is not safely positive.
static bool block_invert(int n, double *D, float *T)
{
    double inverse[MOST * MOST] = { 0 };
    for (int j = 0; j < n; j++) {
        double pivot = D[j * n + j];
        for (int l = 0; l < j; l++) pivot -= D[j * n + l] * D[j * n + l];
        if (!(pivot > least_pivot)) return false;
        D[j * n + j] = sqrt(pivot);
        for (int i = j + 1; i < n; i++) {
            double sum = D[i * n + j];
            for (int l = 0; l < j; l++) sum -= D[i * n + l] * D[j * n + l];
            D[i * n + j] = sum / D[j * n + j];
        }
    }
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = i == j ? 1.0 : 0.0;
            for (int l = j; l < i; l++) sum -= D[i * n + l] * inverse[l * n + j];
            inverse[i * n + j] = sum / D[i * n + i];
        }
    for (int k = 0; k < n * n; k++) T[k] = (float)inverse[k];
    return true;
}

// L_ij of one entry: what both rows have in common before j is taken off, then the diagonal block of j.
static void blocks_eliminate(const pcs_blocks *b, int i, int j, double *to)
{
    int m = blocks_size(b, i), n = blocks_size(b, j);
    const float *other = b->factor + b->place[j];
    for (int e = b->start[j]; e < b->start[j + 1]; e++) {
        int k = b->column[e], wide = blocks_size(b, k);
        if (k == j) block_times_transposed(m, n, other, to);
        else if (b->mark[k] >= 0) block_subtract(m, n, wide, b->row + b->mark[k], other, to);
        other += (size_t)n * (size_t)wide;
    }
}

static bool blocks_factor_row(pcs_blocks *b, int i)
{
    int m = blocks_size(b, i), at = 0;
    size_t length = b->place[i + 1] - b->place[i];
    float *out = b->factor + b->place[i];
    double *diagonal = b->row + length - (size_t)m * (size_t)m;
    memcpy(b->row, b->value + b->place[i], length * sizeof *b->row);
    for (int k = 0; k < m; k++) diagonal[k * m + k] += b->shift;
    for (int e = b->start[i]; b->column[e] < i; e++) {
        int j = b->column[e], n = blocks_size(b, j);
        blocks_eliminate(b, i, j, b->row + at);
        for (int k = 0; k < m * n; k++) {
            out[at + k] = (float)b->row[at + k];
            b->row[at + k] = (double)out[at + k];
        }
        block_subtract(m, m, n, b->row + at, out + at, diagonal);
        b->mark[j] = at;
        at += m * n;
    }
    for (int e = b->start[i]; b->column[e] < i; e++) b->mark[b->column[e]] = -1;
    return block_invert(m, diagonal, out + at);
}

// U = L T with T lower triangular, n x n, in place.
static void block_times(int m, int n, const float *T, float *L)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int l = j; l < n; l++) sum += (double)L[i * n + l] * (double)T[l * n + j];
            L[i * n + j] = (float)sum; // entries before j are not needed any more
        }
}

static void block_transpose(int m, int n, const float *from, float *to)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) to[j * m + i] = from[i * n + j];
}

// L becomes U, and both have their transposed blocks in `across`; diagonal blocks stay.
static void blocks_finish_row(pcs_blocks *b, int i)
{
    size_t at = b->place[i];
    int m = blocks_size(b, i);
    for (int e = b->start[i]; e < b->start[i + 1]; e++) {
        int j = b->column[e], n = blocks_size(b, j);
        const float *T = b->factor + b->place[j + 1] - (size_t)n * (size_t)n;
        if (j < i) block_times(m, n, T, b->factor + at);
        block_transpose(m, n, b->factor + at, b->across + at);
        at += (size_t)m * (size_t)n;
    }
}

bool pcs_blocks_factor(pcs_blocks *b)
{
    for (b->shift = 0.0; b->shift < most_shift; b->shift = b->shift == 0.0 ? first_shift : 4.0 * b->shift) {
        bool is_done = true;
        for (int i = 0; i < b->nblock; i++) b->mark[i] = -1;
        for (int i = 0; i < b->nblock && is_done; i++) is_done = blocks_factor_row(b, i);
        if (!is_done) continue;
        for (int i = 0; i < b->nblock; i++) blocks_finish_row(b, i);
        return true;
    }
    return false;
}

// y_i += B x_j and y_j += B' x_i for a block of m x n numbers. Even and odd terms are summed apart: two at a time.
static inline void block_multiply(int m, int n, const double *B, const double *x[2], double *y[2])
{
    double across[MOST] = { 0 };
    for (int k = 0; k < m; k++) {
        double even = 0.0, odd = 0.0, own = x[0][k];
        for (int l = 0; l + 1 < n; l += 2) {
            even += B[k * n + l] * x[1][l];
            odd += B[k * n + l + 1] * x[1][l + 1];
        }
        if (n % 2 == 1) even += B[k * n + n - 1] * x[1][n - 1];
        for (int l = 0; l < n; l++) across[l] += B[k * n + l] * own;
        y[0][k] += even + odd;
    }
    for (int l = 0; l < n; l++) y[1][l] += across[l];
}

// y += D x, D symmetric.
static inline void block_apply(int n, const double *D, const double *x, double *y)
{
    for (int l = 0; l < n; l++)
        for (int k = 0; k < n; k++) y[k] += D[l * n + k] * x[l];
}

void pcs_blocks_multiply(const pcs_blocks *b, const double *x, double *y)
{
    const double *value = b->value;
    memset(y, 0, (size_t)b->n * sizeof *y);
    for (int i = 0; i < b->nblock; i++) {
        int m = blocks_size(b, i), e = b->start[i];
        for (; b->column[e] < i; e++) {
            int at = b->first[b->column[e]], n = b->first[b->column[e] + 1] - at;
            const double *from[2] = { x + b->first[i], x + at };
            double *to[2] = { y + b->first[i], y + at };
            // Constant sizes let the compiler unroll: nodes in space and in the plane.
            if (m == 6 && n == 6) block_multiply(6, 6, value, from, to);
            else if (m == 3 && n == 3) block_multiply(3, 3, value, from, to);
            else block_multiply(m, n, value, from, to);
            value += m * n;
        }
        if (m == 6) block_apply(6, value, x + b->first[i], y + b->first[i]);
        else block_apply(m, value, x + b->first[i], y + b->first[i]);
        value += m * m;
    }
}

// to -= sum_k row k of B, of n numbers, times from_k.
static inline void block_take_off(int m, int n, const float *B, const double *from, double *to)
{
    double sum[MOST] = { 0 };
    for (int k = 0; k < m; k++)
        for (int l = 0; l < n; l++) sum[l] += (double)B[k * n + l] * from[k];
    for (int l = 0; l < n; l++) to[l] -= sum[l];
}

// x = T' T x; T and its transpose.
static inline void block_weigh(int n, const float *T, const float *transposed, double *x)
{
    double between[MOST] = { 0 }, sum[MOST] = { 0 };
    for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++) between[l] += (double)transposed[k * n + l] * x[k];
    for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++) sum[l] += (double)T[k * n + l] * between[k];
    for (int l = 0; l < n; l++) x[l] = sum[l];
}

static void blocks_sweep_down(const pcs_blocks *b, double *x)
{
    const float *value = b->across;
    for (int i = 0; i < b->nblock; i++) {
        int m = blocks_size(b, i), e = b->start[i];
        double *to = x + b->first[i];
        for (; b->column[e] < i; e++) {
            int at = b->first[b->column[e]], n = b->first[b->column[e] + 1] - at;
            if (m == 6 && n == 6) block_take_off(6, 6, value, x + at, to);
            else if (m == 3 && n == 3) block_take_off(3, 3, value, x + at, to);
            else block_take_off(n, m, value, x + at, to);
            value += m * n;
        }
        value += m * m;
    }
}

static void blocks_sweep_up(const pcs_blocks *b, double *x)
{
    const float *value = b->factor + b->place[b->nblock];
    for (int i = b->nblock - 1; i >= 0; i--) {
        int m = blocks_size(b, i);
        double *from = x + b->first[i];
        value -= m * m;
        for (int e = b->start[i + 1] - 2; e >= b->start[i]; e--) {
            int at = b->first[b->column[e]], n = b->first[b->column[e] + 1] - at;
            value -= m * n;
            if (m == 6 && n == 6) block_take_off(6, 6, value, from, x + at);
            else if (m == 3 && n == 3) block_take_off(3, 3, value, from, x + at);
            else block_take_off(m, n, value, from, x + at);
        }
    }
}

void pcs_blocks_precondition(const pcs_blocks *b, double *x)
{
    blocks_sweep_down(b, x);
    for (int i = 0; i < b->nblock; i++) {
        int n = blocks_size(b, i);
        size_t at = b->place[i + 1] - (size_t)n * (size_t)n;
        if (n == 6) block_weigh(6, b->factor + at, b->across + at, x + b->first[i]);
        else if (n == 3) block_weigh(3, b->factor + at, b->across + at, x + b->first[i]);
        else block_weigh(n, b->factor + at, b->across + at, x + b->first[i]);
    }
    blocks_sweep_up(b, x);
}
