// Known answers of the sparse matrices: patterns, chain detection, sums of matrices, entries that are listed.

#include "core/matrix.h"
#include "support/check.h"

#include <math.h>

static pcs_pattern *pattern_of(pcs_context *ctx, int n, int ncell, int ndof, const int *equation)
{
    pcs_pattern_builder *builder = NULL;
    pcs_pattern *pattern = NULL;
    CHECK_OK(ctx, pcs_pattern_begin(ctx, n, &builder));
    CHECK_OK(ctx, pcs_pattern_add_cells(builder, ncell, ndof, equation));
    CHECK_OK(ctx, pcs_pattern_finish(builder, &pattern));
    return pattern;
}

// Two-node cells in a row over equations first .. last.
static pcs_status add_bar(pcs_pattern_builder *builder, int first, int last)
{
    for (int e = first; e < last; e++) {
        pcs_status status = pcs_pattern_add_cells(builder, 1, 2, (int[]){ e, e + 1 });
        if (status != PCS_OK) return status;
    }
    return PCS_OK;
}

static void check_ints(int count, const int *actual, const int *expected)
{
    for (int k = 0; k < count; k++)
        if (actual[k] != expected[k]) fail_msg("entry %d is %d, not %d", k, actual[k], expected[k]);
}

TEST_WITH_CONTEXT(test_pattern_of_mixed_cells)
{
    // Equation 4 stands alone and keeps its diagonal; -1 is a fixed one; equation 0 twice in one cell.
    pcs_pattern_builder *builder = NULL;
    pcs_pattern *pattern = NULL;
    CHECK_OK(*state, pcs_pattern_begin(*state, 6, &builder));
    CHECK_OK(*state, pcs_pattern_add_cells(builder, 2, 2, (int[]){ 3, 0, -1, 2 }));
    CHECK_OK(*state, pcs_pattern_add_cells(builder, 1, 3, (int[]){ 5, 1, 3 }));
    CHECK_OK(*state, pcs_pattern_add_cells(builder, 1, 3, (int[]){ 0, 0, 3 }));
    CHECK_OK(*state, pcs_pattern_finish(builder, &pattern));
    CHECK(pattern->n == 6 && pattern->nnz == 14);
    check_ints(7, pattern->start, (int[]){ 0, 2, 5, 6, 10, 11, 14 });
    check_ints(14, pattern->row, (int[]){ 0, 3, 1, 3, 5, 2, 0, 1, 3, 5, 4, 1, 3, 5 });
}

TEST_WITH_CONTEXT(test_chain_block_is_the_smallest)
{
    const int line[] = { 0, 1, 1, 2, 2, 3 };
    CHECK(pattern_of(*state, 4, 3, 2, line)->chain_block == 1);
    // Distance 2 needs blocks of 2, from 0: (1, 3) lies in blocks 0 and 1, (1, 4) would not.
    CHECK(pattern_of(*state, 8, 1, 2, (int[]){ 1, 3 })->chain_block == 2);
    CHECK(pattern_of(*state, 8, 1, 2, (int[]){ 1, 4 })->chain_block == 3);
    CHECK(pattern_of(*state, 20, 1, 2, (int[]){ 0, 11 })->chain_block == 6);
    CHECK(pattern_of(*state, 20, 1, 2, (int[]){ 0, 12 })->chain_block == 0);
    // Two nodes of 3, and 7 equations, of which the last block has one.
    CHECK(pattern_of(*state, 6, 1, 6, (int[]){ 0, 1, 2, 3, 4, 5 })->chain_block == 3);
    CHECK(pattern_of(*state, 7, 1, 4, (int[]){ 3, 4, 5, 6 })->chain_block == 3);
    CHECK(pattern_of(*state, 5, 0, 2, NULL)->chain_block == 1);
    CHECK(pattern_of(*state, 0, 0, 2, NULL)->chain_block == 1);
}

TEST_WITH_CONTEXT(test_runs_of_several_bars)
{
    pcs_pattern_builder *builder = NULL;
    pcs_pattern *pattern = NULL;
    CHECK_OK(*state, pcs_pattern_begin(*state, 9, &builder));
    CHECK_OK(*state, add_bar(builder, 0, 3));
    CHECK_OK(*state, add_bar(builder, 5, 8));
    CHECK_OK(*state, pcs_pattern_finish(builder, &pattern));
    CHECK(pattern->chain_block == 1 && pattern->nrun == 3);
    check_ints(4, pattern->run, (int[]){ 0, 4, 5, 9 });
    CHECK(pattern_of(*state, 4, 1, 3, (int[]){ 0, 1, 2 })->nrun == 0);
}

// A long bar: the memory of pattern and matrix is what it must be, and the pattern is a chain.
TEST_WITH_CONTEXT(test_memory_of_a_long_bar)
{
    enum { N = 100001 };
    pcs_pattern_builder *builder = NULL;
    pcs_pattern *pattern = NULL;
    pcs_matrix *A = NULL;
    size_t before = pcs_bytes_taken(*state);
    CHECK_OK(*state, pcs_pattern_begin(*state, N, &builder));
    CHECK_OK(*state, add_bar(builder, 0, N - 1));
    CHECK_OK(*state, pcs_pattern_finish(builder, &pattern));
    CHECK_OK(*state, pcs_matrix_create(*state, pattern, &A));
    CHECK(pattern->nnz == 3 * N - 2 && pattern->chain_block == 1 && pattern->nrun == 1);
    double per_element = (double)(pcs_bytes_taken(*state) - before) / (N - 1);
    CHECK(per_element < 4 + 12 + 24 + 0.1);
}

// Few entries of M and C that differ from zero: the same sums to the last bit, over more than one group of columns.
TEST_WITH_CONTEXT(test_listed_entries)
{
    enum { N = 70 };
    int all[N];
    for (int i = 0; i < N; i++) all[i] = i;
    pcs_pattern *pattern = pattern_of(*state, N, 1, N, all);
    pcs_matrix *matrix[8];
    unsigned char mark[2][N * N] = { { 0 }, { 0 } };
    for (int i = 0; i < 8; i++) CHECK_OK(*state, pcs_matrix_create(*state, pattern, &matrix[i]));
    for (int p = 0; p < N * N; p++) {
        matrix[0]->value[p] = sin(1.0 + p);                        // K
        matrix[1]->value[p] = p % 5 == 0 ? cos(2.0 + p) : 0.0;     // M
        matrix[2]->value[p] = p % 5 == 2 ? cos(3.0 * p) / 3 : 0.0; // C
        matrix[3]->value[p] = matrix[1]->value[p];
        matrix[4]->value[p] = matrix[2]->value[p];
        mark[0][p] = p % 5 == 0;
        mark[1][p] = p % 5 == 2;
    }
    CHECK_OK(*state, pcs_matrix_note_entries(*state, matrix[3], true, mark[0]));
    CHECK_OK(*state, pcs_matrix_note_entries(*state, matrix[4], false, mark[1]));
    CHECK(matrix[3]->entries != NULL && matrix[4]->entries != NULL);
    const double weights[3] = { 0.3, 0.7, 1.1 };
    for (int with_C = 0; with_C < 2; with_C++) {
        pcs_matrix_combine(matrix[5], weights, matrix[1], with_C ? matrix[2] : NULL, matrix[0]);
        pcs_matrix_combine(matrix[6], weights, matrix[3], with_C ? matrix[4] : NULL, matrix[0]);
        for (int p = 0; p < N * N; p++) CHECK(matrix[5]->value[p] == matrix[6]->value[p]);
    }
    double x[N], y[N] = { 1 }, z[N] = { 1 };
    for (int i = 0; i < N; i++) x[i] = tan(i);
    pcs_matrix_add_multiply(matrix[1], 0.9, x, y);
    pcs_matrix_add_multiply(matrix[3], 0.9, x, z);
    for (int i = 0; i < N; i++) CHECK(y[i] == z[i]);
    for (int p = 0; p < N * N; p++) mark[0][p] = 1;
    CHECK_OK(*state, pcs_matrix_note_entries(*state, matrix[7], true, mark[0]));
    CHECK(matrix[7]->entries == NULL);
}
