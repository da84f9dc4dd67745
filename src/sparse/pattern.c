// Pattern of a finite-element matrix from the equation numbers of its cells.
//
// Cells are kept as one array of words: ndof, then ndof equations. A counting sort gives the cells of each
// equation; the neighbours of equation j are the equations of its cells. Walking j upwards and entering j into the
// columns of its neighbours yields sorted columns, because the pattern is symmetric: no sorting, time linear in
// the sum of ndof^2 over the cells.

#include "sparse/matrix.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK_MAX = 6 };

struct pcs_pattern_builder {
    pcs_context *ctx;
    int n;
    int *word; // [capacity] the cells
    size_t nword, capacity;
    int *cell_start; // [n + 1] of cell_of; begins a buffer that holds the other three, too
    int *cell_of;    // places in `word` of the cells of each equation
    int *mark;       // [n] last column that met this equation
    int *next;       // [n] where the next entry of a column goes
};

static void pattern_release(void *object)
{
    pcs_pattern_builder *b = object;
    pcs_scratch_free(b->word);
    pcs_scratch_free(b->cell_start);
    b->word = b->cell_start = NULL;
}

pcs_status pcs_pattern_begin(pcs_context *ctx, int n, pcs_pattern_builder **out)
{
    assert(n >= 0);
    *out = NULL;
    pcs_pattern_builder *b;
    PCS_TAKE(ctx, b, 1, "a pattern builder");
    b->ctx = ctx;
    b->n = n;
    PCS_TRY(pcs_defer(ctx, pattern_release, b));
    *out = b;
    return PCS_OK;
}

static pcs_status pattern_out_of_memory(pcs_pattern_builder *b)
{
    return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: the matrix pattern of %d equations", b->n);
}

pcs_status pcs_pattern_add_cells(pcs_pattern_builder *b, int ncell, int ndof, const int *equation)
{
    assert(ncell >= 0 && ndof >= 0);
    size_t needed = b->nword + (size_t)ncell * ((size_t)ndof + 1);
    if (needed > INT_MAX)
        return pcs_fail(b->ctx, PCS_UNSUPPORTED,
                        "the model is too large: its cells have %zu words, at most %d are supported", needed, INT_MAX);
    if (needed > b->capacity) {
        size_t capacity = needed > 2 * b->capacity ? needed : 2 * b->capacity;
        int *word = pcs_scratch(b->word, capacity, sizeof *word);
        if (word == NULL) return pattern_out_of_memory(b);
        b->word = word;
        b->capacity = capacity;
    }
    int *to = b->word + b->nword;
    for (int c = 0; c < ncell; c++, to += ndof + 1, equation += ndof) {
        to[0] = ndof;
        memcpy(to + 1, equation, (size_t)ndof * sizeof *to);
    }
    b->nword = needed;
    return PCS_OK;
}

pcs_status pcs_pattern_add_pattern(pcs_pattern_builder *b, const pcs_pattern *other)
{
    for (int j = 0; j < other->n; j++)
        for (int p = other->start[j]; p < other->start[j + 1]; p++)
            if (other->row[p] < j) PCS_TRY(pcs_pattern_add_cells(b, 1, 2, (const int[2]){ other->row[p], j }));
    return PCS_OK;
}

// Counting sort of the cells by equation; a cell that names an equation twice is listed twice.
static pcs_status pattern_sort_cells(pcs_pattern_builder *b)
{
    size_t n = (size_t)b->n;
    int *start = b->cell_start = pcs_scratch(NULL, 3 * n + 1 + b->nword, sizeof *start);
    if (start == NULL) return pattern_out_of_memory(b);
    b->mark = start + n + 1;
    b->next = b->mark + n;
    b->cell_of = b->next + n;
    memset(start, 0, (n + 1) * sizeof *start);
    for (size_t w = 0; w < b->nword; w += (size_t)b->word[w] + 1)
        for (int k = 1; k <= b->word[w]; k++) {
            int e = b->word[w + (size_t)k];
            assert(e >= -1 && e < b->n);
            if (e >= 0) start[e + 1]++;
        }
    for (size_t e = 0; e < n; e++) {
        start[e + 1] += start[e];
        b->next[e] = start[e];
    }
    for (size_t w = 0; w < b->nword; w += (size_t)b->word[w] + 1)
        for (int k = 1; k <= b->word[w]; k++) {
            int e = b->word[w + (size_t)k];
            if (e >= 0) b->cell_of[b->next[e]++] = (int)w;
        }
    return PCS_OK;
}

// The equations that share a cell with j, j included, each once: enters j into their columns when `row` is given,
// else only counts them.
static int pattern_visit(pcs_pattern_builder *b, int j, int *row)
{
    int count = 1;
    b->mark[j] = j;
    if (row != NULL) row[b->next[j]++] = j;
    for (int c = b->cell_start[j]; c < b->cell_start[j + 1]; c++) {
        const int *cell = b->word + b->cell_of[c];
        for (int k = 1; k <= cell[0]; k++) {
            int i = cell[k];
            if (i < 0 || b->mark[i] == j) continue;
            b->mark[i] = j;
            count++;
            if (row != NULL) row[b->next[i]++] = j;
        }
    }
    return count;
}

static pcs_status pattern_fill(pcs_pattern_builder *b, pcs_pattern *pattern)
{
    int *start, *row;
    PCS_TAKE(b->ctx, start, b->n + 1, "the columns of a matrix");
    size_t nnz = 0;
    for (int j = 0; j < b->n; j++) b->mark[j] = -1;
    for (int j = 0; j < b->n; j++) {
        start[j] = (int)nnz;
        nnz += (size_t)pattern_visit(b, j, NULL);
        if (nnz > INT_MAX)
            return pcs_fail(b->ctx, PCS_UNSUPPORTED, "the matrix of %d equations has more than %d entries", b->n,
                            INT_MAX);
    }
    start[b->n] = (int)nnz;

    PCS_TAKE(b->ctx, row, nnz, "the rows of a matrix");
    for (int j = 0; j < b->n; j++) {
        b->mark[j] = -1;
        b->next[j] = start[j];
    }
    for (int j = 0; j < b->n; j++) pattern_visit(b, j, row);

    pattern->n = b->n;
    pattern->nnz = (int)nnz;
    pattern->start = start;
    pattern->row = row;
    return PCS_OK;
}

// Smallest b with |i/b - j/b| <= 1 for all entries; the columns are sorted, so their last row decides.
static int pattern_chain_block(const pcs_pattern *pattern)
{
    for (int b = 1; b <= BLOCK_MAX; b++) {
        int j = 0;
        while (j < pattern->n && pattern->row[pattern->start[j + 1] - 1] / b <= j / b + 1) j++;
        if (j == pattern->n) return b;
    }
    return 0;
}

// A column whose last entry is its diagonal ends a stretch of a tridiagonal pattern.
static pcs_status pattern_find_runs(pcs_context *ctx, pcs_pattern *pattern)
{
    if (pattern->chain_block != 1 || pattern->n == 0) return PCS_OK;
    for (int j = 0; j < pattern->n; j++) pattern->nrun += pattern->row[pattern->start[j + 1] - 1] == j;
    int *run;
    PCS_TAKE(ctx, run, pattern->nrun + 1, "the stretches of a matrix");
    int k = 0;
    for (int j = 0; j < pattern->n; j++)
        if (pattern->row[pattern->start[j + 1] - 1] == j) run[++k] = j + 1;
    pattern->run = run;
    return PCS_OK;
}

static pcs_status pattern_build(pcs_pattern_builder *b, pcs_pattern *pattern)
{
    PCS_TRY(pattern_sort_cells(b));
    PCS_TRY(pattern_fill(b, pattern));
    pattern->chain_block = pattern_chain_block(pattern);
    return pattern_find_runs(b->ctx, pattern);
}

pcs_status pcs_pattern_finish(pcs_pattern_builder *b, pcs_pattern **out)
{
    *out = NULL;
    pcs_pattern *pattern = pcs_take(b->ctx, 1, sizeof *pattern, "a matrix pattern");
    pcs_status status = pattern == NULL ? PCS_NO_MEMORY : pattern_build(b, pattern);
    pattern_release(b);
    if (status == PCS_OK) *out = pattern;
    return status;
}
