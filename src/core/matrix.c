// Patterns, sparse rows, and matrices over a fixed pattern: assembly, linear combinations, products.
//
// Values are stored column by column. In a stretch of a full tridiagonal pattern the entry (k, k + 1 - s) of its
// k-th row stands at place 3 k - 2 + 2 s, s = 0, 1, 2, so that a product needs no indices.

#include "core/matrix.h"

#include "core/double2.h"
#include "core/loop.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

// Pattern of a finite-element matrix from the equation numbers of its cells.
//
// Cells are kept as one array of words: ndof, then ndof equations. A counting sort gives the cells of each
// equation; the neighbours of equation j are the equations of its cells. Walking j upwards and entering j into the
// columns of its neighbours yields sorted columns, because the pattern is symmetric: no sorting, time linear in
// the sum of ndof^2 over the cells.

enum { BLOCK_MAX = 6 };

struct pcs_pattern_builder {
    pcs_context *ctx;
    int n;
    int *word; // [capacity] cells, each as its size and equations
    size_t nword, capacity;
    int *cell_start; // [n + 1] starts in cell_of; begins a buffer that holds the other three, too
    int *cell_of;    // positions in `word` of the cells of each equation
    int *mark;       // [n] last column that visited this equation
    int *next;       // [n] position of the next entry of a column
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

// Sorts the cells by equation (counting sort); a cell that names an equation twice is listed twice.
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

// Visits the equations that share a cell with j, including j, each once. Adds j to their columns unless `row` is NULL.
// Returns their number.
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

// Returns the smallest b with |i/b - j/b| <= 1 for all entries, 0 if none; the last row of each sorted column decides.
static int pattern_chain_block(const pcs_pattern *pattern)
{
    for (int b = 1; b <= BLOCK_MAX; b++) {
        int j = 0;
        while (j < pattern->n && pattern->row[pattern->start[j + 1] - 1] / b <= j / b + 1) j++;
        if (j == pattern->n) return b;
    }
    return 0;
}

// Finds the ranges of a tridiagonal pattern; a column whose last entry is its diagonal ends one.
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

// Sparse rows: products with the constraint directions G.
//
// Rows of a rank may touch equations of others, which it has copies of. A product G x reads these copies; what G^T z
// puts on them is sent to the owners.

pcs_status pcs_rows_create(pcs_context *ctx, int nrow, int ncol, int nnz, pcs_rows **out)
{
    *out = NULL;
    pcs_rows *G;
    PCS_TAKE(ctx, G, 1, "sparse rows");
    PCS_TAKE(ctx, G->start, nrow + 1, "the starts of sparse rows");
    PCS_TAKE(ctx, G->column, nnz, "the columns of sparse rows");
    PCS_TAKE(ctx, G->value, nnz, "the values of sparse rows");
    G->nrow = nrow;
    G->ncol = ncol;
    *out = G;
    return PCS_OK;
}

pcs_status pcs_rows_copy(pcs_context *ctx, const pcs_rows *rows, pcs_rows **out)
{
    if (rows == NULL) return PCS_OK;
    size_t count = (size_t)rows->start[rows->nrow];
    PCS_TRY(pcs_rows_create(ctx, rows->nrow, rows->ncol, (int)count, out));
    memcpy((*out)->start, rows->start, (size_t)(rows->nrow + 1) * sizeof *rows->start);
    memcpy((*out)->column, rows->column, count * sizeof *rows->column);
    memcpy((*out)->value, rows->value, count * sizeof *rows->value);
    (*out)->halo = rows->halo;
    return PCS_OK;
}

void pcs_rows_multiply(const pcs_rows *G, const double *x, double *y)
{
    for (int row = 0; row < G->nrow; row++) y[row] = pcs_rows_dot(G, row, x);
}

void pcs_rows_add_transposed(const pcs_rows *G, int row, double scale, double *y)
{
    for (int p = G->start[row]; p < G->start[row + 1]; p++) y[G->column[p]] += scale * G->value[p];
}

void pcs_rows_add_all(const pcs_rows *G, double scale, const double *z, double *y)
{
    pcs_halo_open(G->halo);
    for (int row = 0; row < G->nrow; row++) {
        if (z[row] == 0.0) continue;
        if (G->halo == NULL) pcs_rows_add_transposed(G, row, scale * z[row], y);
        else
            for (int p = G->start[row]; p < G->start[row + 1]; p++)
                *pcs_halo_at(G->halo, G->column[p], y) += scale * z[row] * G->value[p];
    }
    pcs_halo_close(G->halo, y);
}

pcs_status pcs_halo_create(pcs_context *ctx, const pcs_layout *layout, const pcs_halo **out)
{
    pcs_halo *halo;
    PCS_TAKE(ctx, halo, 1, "copies of contacts");
    *halo = (pcs_halo){ .comm = layout->comm, .nown = layout->nown, .ncopy = layout->n - layout->nown };
    PCS_TAKE(ctx, halo->own, halo->nown, "copies of contacts");
    PCS_TAKE(ctx, halo->copy, halo->ncopy, "copies of contacts");
    *out = halo;
    return halo->comm->plan_copies(halo->comm, ctx, halo->nown, halo->ncopy, layout->global + halo->nown, &halo->plan);
}

void pcs_halo_open(const pcs_halo *halo)
{
    if (halo != NULL) memset(halo->copy, 0, (size_t)halo->ncopy * sizeof *halo->copy);
}

void pcs_halo_close(const pcs_halo *halo, double *y)
{
    if (halo != NULL) halo->comm->return_copies(halo->comm, halo->plan, halo->copy, y);
}

void pcs_halo_diagonal(const pcs_halo *halo, const pcs_matrix *A, double *copy)
{
    for (int i = 0; i < halo->nown; i++) halo->own[i] = pcs_matrix_diagonal(A, i);
    halo->comm->take_copies(halo->comm, halo->plan, halo->own, copy);
}

enum { FEW = 2 }; // a list of entries pays if at most every other one is in it

pcs_status pcs_matrix_create(pcs_context *ctx, const pcs_pattern *pattern, pcs_matrix **out)
{
    *out = NULL;
    pcs_matrix *A;
    PCS_TAKE(ctx, A, 1, "a matrix");
    A->pattern = pattern;
    PCS_TAKE(ctx, A->value, pattern->nnz, "the values of a matrix");
    *out = A;
    return PCS_OK;
}

void pcs_matrix_zero(pcs_matrix *A)
{
    int count = A->entries == NULL ? 0 : A->entries->start[A->pattern->n];
    for (int i = 0; i < count; i++) A->value[A->entries->place[i]] = 0.0;
    if (A->entries == NULL) memset(A->value, 0, (size_t)A->pattern->nnz * sizeof *A->value);
}

pcs_status pcs_matrix_note_entries(pcs_context *ctx, pcs_matrix *A, bool is_constant, const unsigned char *may_differ)
{
    const pcs_pattern *pattern = A->pattern;
    int count = 0, *start, *place, *row;
    double *value;
    pcs_entries *entries;
    for (int p = 0; p < pattern->nnz; p++) count += may_differ[p] != 0;
    if (count > pattern->nnz / FEW) return PCS_OK;
    PCS_TAKE(ctx, entries, 1, "the entries of a matrix");
    PCS_TAKE(ctx, start, (size_t)pattern->n + 1, "the entries of a matrix");
    PCS_TAKE(ctx, place, count, "the entries of a matrix");
    PCS_TAKE(ctx, row, count, "the entries of a matrix");
    PCS_TAKE(ctx, value, is_constant ? count : 0, "the entries of a matrix");
    count = 0;
    for (int j = 0; j < pattern->n; j++) {
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            if (may_differ[p]) place[count++] = p;
        start[j + 1] = count;
    }
    for (int i = 0; i < count; i++) {
        row[i] = pattern->row[place[i]];
        if (is_constant) value[i] = A->value[place[i]];
    }
    *entries = (pcs_entries){ .start = start, .place = place, .row = row, .value = is_constant ? value : NULL };
    A->entries = entries;
    return PCS_OK;
}

int pcs_pattern_find(const pcs_pattern *pattern, int i, int j)
{
    int low = pattern->start[j], high = pattern->start[j + 1] - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (pattern->row[middle] < i) low = middle + 1;
        else high = middle;
    }
    return low <= high && pattern->row[low] == i ? low : -1;
}

int pcs_pattern_place(const pcs_pattern *pattern, int i, int j)
{
    int place = pcs_pattern_find(pattern, i, j);
    assert(place >= 0);
    return place;
}

void pcs_matrix_add_cell(pcs_matrix *A, int ndof, const int *equation, double scale, const double *dense)
{
    for (int c = 0; c < ndof; c++) {
        if (equation[c] < 0) continue;
        for (int r = 0; r < ndof; r++) {
            if (equation[r] < 0) continue;
            A->value[pcs_pattern_place(A->pattern, equation[r], equation[c])] += scale * dense[r * ndof + c];
        }
    }
}

// Adds a A to S in the columns from `first` to `last`.
static inline void matrix_add(pcs_matrix *S, double a, const pcs_matrix *A, int first, int last)
{
    const int *start = A->entries == NULL ? A->pattern->start : A->entries->start;
    const double *constant = A->entries == NULL ? A->value : A->entries->value;
    for (int i = start[first]; i < start[last]; i++) {
        int p = A->entries == NULL ? i : A->entries->place[i];
        S->value[p] += a * (constant == NULL ? A->value[p] : constant[i]);
    }
}

enum { COLUMNS = 64 }; // that stay in the cache while one matrix after the other is added

PCS_WIDE void pcs_matrix_combine(pcs_matrix *S, const double a[3], const pcs_matrix *M, const pcs_matrix *C,
                                 const pcs_matrix *K)
{
    const double m = a[0], c = a[1], k = a[2];
    assert(M->pattern == S->pattern && (C == NULL || C->pattern == S->pattern));
    assert(K == NULL || K->pattern == S->pattern);
    int nnz = S->pattern->nnz, n = S->pattern->n;
    if (K != NULL && M->entries != NULL && (C == NULL || C->entries != NULL)) {
        double *s = S->value; // also written by matrix_add
        const double *restrict stiffness = K->value;
        for (int first = 0, last; first < n; first = last) {
            last = first + COLUMNS < n ? first + COLUMNS : n;
            for (int p = S->pattern->start[first]; p < S->pattern->start[last]; p++) s[p] = k * stiffness[p];
            matrix_add(S, m, M, first, last);
            if (C != NULL) matrix_add(S, c, C, first, last);
        }
        return;
    }
    for (int p = 0; p < nnz; p++) {
        double sum = m * M->value[p];
        if (C != NULL) sum += c * C->value[p];
        if (K != NULL) sum += k * K->value[p];
        S->value[p] = sum;
    }
}

void pcs_matrix_add(pcs_matrix *S, double a, const pcs_matrix *A)
{
    assert(A->pattern == S->pattern);
    matrix_add(S, a, A, 0, A->pattern->n);
}

// Computes y = T x or y += scale T x for one range of m equations with the tridiagonal values v.
static inline void matrix_tridiagonal(int m, const double *restrict v, bool adds, double scale,
                                      const double *restrict x, double *restrict y)
{
    double first = v[0] * x[0] + (m > 1 ? v[2] * x[1] : 0.0);
    y[0] = adds ? y[0] + scale * first : first;
    int k = 1;
    for (; k + 2 < m; k += 2) {
        const double *w = v + 3 * (ptrdiff_t)k;
        pcs_double2 a = pcs_double2_load(w - 2), b = pcs_double2_load(w), c = pcs_double2_load(w + 2),
                    d = pcs_double2_load(w + 4);
        pcs_double2 sum = pcs_double2_outer(a, b) * pcs_double2_load(x + k - 1);
        sum += pcs_double2_outer(b, c) * pcs_double2_load(x + k);
        sum += pcs_double2_outer(c, d) * pcs_double2_load(x + k + 1);
        pcs_double2_store(y + k, adds ? pcs_double2_load(y + k) + scale * sum : sum);
    }
    for (; k < m; k++) {
        const double *w = v + 3 * (ptrdiff_t)k;
        double sum = w[-2] * x[k - 1] + w[0] * x[k] + (k + 1 < m ? w[2] * x[k + 1] : 0.0);
        y[k] = adds ? y[k] + scale * sum : sum;
    }
}

static inline void matrix_tridiagonals(const pcs_matrix *A, bool adds, double scale, const double *x, double *y)
{
    const pcs_pattern *pattern = A->pattern;
    for (int r = 0; r < pattern->nrun; r++) {
        int first = pattern->run[r];
        matrix_tridiagonal(pattern->run[r + 1] - first, A->value + pattern->start[first], adds, scale, x + first,
                           y + first);
    }
}

// Adds scale A x to y column by column, also correct for unsymmetric values.
static void matrix_add_columns(const pcs_matrix *A, double scale, const double *restrict x, double *restrict y)
{
    const int *restrict start = A->pattern->start, *restrict row = A->pattern->row;
    const double *restrict value = A->value;
    if (A->entries != NULL) {
        const int *restrict first = A->entries->start, *restrict place = A->entries->place;
        const double *restrict constant = A->entries->value;
        row = A->entries->row;
        for (int j = 0; j < A->pattern->n; j++) {
            double factor = scale * x[j];
            for (int i = first[j]; i < first[j + 1]; i++)
                y[row[i]] += (constant == NULL ? value[place[i]] : constant[i]) * factor;
        }
        return;
    }
    for (int j = 0; j < A->pattern->n; j++) {
        double factor = scale * x[j];
        for (int p = start[j]; p < start[j + 1]; p++) y[row[p]] += value[p] * factor;
    }
}

void pcs_matrix_multiply(const pcs_matrix *A, const double *x, double *y)
{
    if (A->pattern->nrun > 0) {
        matrix_tridiagonals(A, false, 1.0, x, y);
    } else {
        memset(y, 0, (size_t)A->pattern->n * sizeof *y);
        matrix_add_columns(A, 1.0, x, y);
    }
}

void pcs_matrix_add_multiply(const pcs_matrix *A, double scale, const double *x, double *y)
{
    if (A->pattern->nrun > 0) matrix_tridiagonals(A, true, scale, x, y);
    else matrix_add_columns(A, scale, x, y);
}

double pcs_matrix_abs_bound(const pcs_matrix *A, const double *x)
{
    // Row i has the columns that column i has rows, because the pattern is symmetric.
    const pcs_pattern *pattern = A->pattern;
    double bound = 0.0;
    for (int i = 0; i < pattern->n; i++) {
        double sum = 0.0;
        for (int p = pattern->start[i]; p < pattern->start[i + 1]; p++) {
            int j = pattern->row[p];
            sum += fabs(A->value[pcs_pattern_place(pattern, i, j)]) * fabs(x[j]);
        }
        if (sum > bound || isnan(sum)) bound = sum; // keeps a NaN
    }
    return bound;
}

double pcs_matrix_diagonal(const pcs_matrix *A, int i)
{
    int place = pcs_pattern_find(A->pattern, i, i);
    return place < 0 ? 0.0 : A->value[place];
}

bool pcs_matrix_is_finite(const pcs_matrix *A)
{
    for (int p = 0; p < A->pattern->nnz; p++)
        if (!isfinite(A->value[p])) return false;
    return true;
}
