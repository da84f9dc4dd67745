// Matrices over a fixed pattern: assembly, linear combinations, products.
//
// Values are stored column by column. In a stretch of a full tridiagonal pattern the entry (k, k + 1 - s) of its
// k-th row stands at place 3 k - 2 + 2 s, s = 0, 1, 2, so that a product needs no indices.

#include "sparse/matrix.h"

#include "core/double2.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { FEW = 2 }; // a list of entries pays where they are at most every other one

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

pcs_status pcs_matrix_note_entries(pcs_context *ctx, pcs_matrix *A, const unsigned char *may_differ)
{
    const pcs_pattern *pattern = A->pattern;
    int count = 0, *start, *place;
    pcs_entries *entries;
    for (int p = 0; p < pattern->nnz; p++) count += may_differ[p] != 0;
    if (count > pattern->nnz / FEW) return PCS_OK;
    PCS_TAKE(ctx, entries, 1, "the entries of a matrix");
    PCS_TAKE(ctx, start, (size_t)pattern->n + 1, "the entries of a matrix");
    PCS_TAKE(ctx, place, count, "the entries of a matrix");
    count = 0;
    for (int j = 0; j < pattern->n; j++) {
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            if (may_differ[p]) place[count++] = p;
        start[j + 1] = count;
    }
    *entries = (pcs_entries){ .start = start, .place = place };
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

// The same with M, and C if there is one, of few entries.
static void matrix_combine_few(pcs_matrix *S, const double a[3], const pcs_matrix *M, const pcs_matrix *C,
                               const pcs_matrix *K)
{
    const int n = S->pattern->n, nnz = S->pattern->nnz;
    const double m = a[0], c = a[1], k = a[2];
    double *restrict s = S->value;
    const double *restrict stiffness = K->value;
    for (int p = 0; p < nnz; p++) s[p] = k * stiffness[p];
    for (int i = 0; i < M->entries->start[n]; i++) {
        const int p = M->entries->place[i];
        double sum = m * M->value[p];
        if (C != NULL) sum += c * C->value[p];
        s[p] = sum + k * stiffness[p];
    }
    if (C == NULL) return;
    for (int i = 0; i < C->entries->start[n]; i++) {
        const int p = C->entries->place[i];
        double sum = m * M->value[p];
        sum += c * C->value[p];
        s[p] = sum + k * stiffness[p];
    }
}

void pcs_matrix_combine(pcs_matrix *S, const double a[3], const pcs_matrix *M, const pcs_matrix *C, const pcs_matrix *K)
{
    const double m = a[0], c = a[1], k = a[2];
    assert(M->pattern == S->pattern && (C == NULL || C->pattern == S->pattern));
    assert(K == NULL || K->pattern == S->pattern);
    int nnz = S->pattern->nnz;
    if (K != NULL && M->entries != NULL && (C == NULL || C->entries != NULL)) {
        matrix_combine_few(S, a, M, C, K);
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
    int count = A->entries == NULL ? A->pattern->nnz : A->entries->start[A->pattern->n];
    assert(A->pattern == S->pattern);
    for (int i = 0; i < count; i++) {
        int p = A->entries == NULL ? i : A->entries->place[i];
        S->value[p] += a * A->value[p];
    }
}

// y = T x or y += scale T x for one stretch of m equations with the tridiagonal values v.
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

// y += scale A x column by column: right for values that are not symmetric, too.
static void matrix_add_columns(const pcs_matrix *A, double scale, const double *restrict x, double *restrict y)
{
    const int *restrict start = A->pattern->start, *restrict row = A->pattern->row;
    const double *restrict value = A->value;
    if (A->entries != NULL) {
        const int *restrict first = A->entries->start, *restrict place = A->entries->place;
        for (int j = 0; j < A->pattern->n; j++) {
            double factor = scale * x[j];
            for (int i = first[j]; i < first[j + 1]; i++) y[row[place[i]]] += value[place[i]] * factor;
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
        if (sum > bound || isnan(sum)) bound = sum; // a NaN stays
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
