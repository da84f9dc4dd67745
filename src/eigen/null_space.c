#include "eigen/null_space.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

// Largest entry left of an eliminated row (1 before) that counts as 0. Directions at an equilibrium err by about 1e-10.
static const double DEPENDENT = 1e-9;
static const double ROUND_OFF = 4.0 * DBL_EPSILON;
static const double PIVOT = 0.5; // least one, beside the largest entry: leaves room to choose a column few rows meet

enum { FILL = 20, LEAST_ROOM = 2000000 }; // entries of Z: times those of G, and in any case

// Rows x_pivot = -sum value x_column.
typedef struct solved_rows {
    size_t *start; // [rows + 1]
    int *pivot;    // [rows]
    int *column;
    double *value;
    size_t capacity;
    int count;
} solved_rows;

typedef struct elimination {
    pcs_context *ctx;
    const pcs_rows *G;
    const double *size;
    int n;
    size_t room;          // entries that rows may come to
    int *meets;           // [n] rows in a column
    int *solved;          // [n] row whose pivot this is, or -1
    double *w;            // [n] the row at hand
    int *touched;         // [n] its columns
    unsigned char *is_in; // [n] among them
    int ntouched;
    solved_rows forward; // free of the pivots of rows before, not of those after
    solved_rows final;   // free of all pivots, from the last row to the first
} elimination;

static pcs_status rows_take(pcs_context *ctx, int nrow, solved_rows *rows)
{
    PCS_TAKE(ctx, rows->start, (size_t)nrow + 1, "rows of joints");
    PCS_TAKE(ctx, rows->pivot, nrow, "rows of joints");
    return PCS_OK;
}

static void rows_release(solved_rows *rows)
{
    pcs_scratch_free(rows->column);
    pcs_scratch_free(rows->value);
}

static pcs_status rows_grow(pcs_context *ctx, solved_rows *rows, size_t needed)
{
    if (needed <= rows->capacity) return PCS_OK;
    size_t capacity = 2 * needed + 64;
    int *column = pcs_scratch(rows->column, capacity, sizeof *column);
    if (column != NULL) rows->column = column;
    double *value = pcs_scratch(rows->value, capacity, sizeof *value);
    if (value != NULL) rows->value = value;
    if (column == NULL || value == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: rows of joints");
    rows->capacity = capacity;
    return PCS_OK;
}

static void elimination_add(elimination *e, int column, double value)
{
    if (!e->is_in[column]) e->touched[e->ntouched++] = column;
    e->is_in[column] = 1;
    e->w[column] += value;
}

static void elimination_clear(elimination *e)
{
    for (int t = 0; t < e->ntouched; t++) {
        e->w[e->touched[t]] = 0.0;
        e->is_in[e->touched[t]] = 0;
    }
    e->ntouched = 0;
}

// Puts what row k says in place of its pivot.
static void elimination_replace(elimination *e, const solved_rows *rows, int k)
{
    double factor = e->w[rows->pivot[k]];
    e->w[rows->pivot[k]] = 0.0;
    for (size_t p = rows->start[k]; p < rows->start[k + 1]; p++)
        elimination_add(e, rows->column[p], -factor * rows->value[p]);
}

// Row j in natural sizes with a largest entry of 1; false where it has none.
static bool elimination_load(elimination *e, int j)
{
    double most = 0.0;
    for (int p = e->G->start[j]; p < e->G->start[j + 1]; p++) {
        int i = e->G->column[p];
        elimination_add(e, i, e->G->value[p] * (e->size == NULL ? 1.0 : e->size[i]));
    }
    for (int t = 0; t < e->ntouched; t++) most = fmax(most, fabs(e->w[e->touched[t]]));
    if (!(most > 0.0)) return false;
    for (int t = 0; t < e->ntouched; t++) e->w[e->touched[t]] /= most;
    return true;
}

// A row has no pivots of rows before it, but maybe of later ones: so the first is always replaced first.
static void elimination_reduce(elimination *e)
{
    for (;;) {
        int first = INT_MAX;
        for (int t = 0; t < e->ntouched; t++) {
            int k = e->solved[e->touched[t]];
            if (k >= 0 && k < first && e->w[e->touched[t]] != 0.0) first = k;
        }
        if (first == INT_MAX) return;
        elimination_replace(e, &e->forward, first);
    }
}

// The column that fewest rows meet, of those with a large entry; -1 where nothing but round-off is left.
static int elimination_pivot(const elimination *e)
{
    double most = 0.0;
    int best = -1;
    for (int t = 0; t < e->ntouched; t++) most = fmax(most, fabs(e->w[e->touched[t]]));
    if (!(most > DEPENDENT)) return -1;
    for (int t = 0; t < e->ntouched; t++) {
        int i = e->touched[t];
        if (fabs(e->w[i]) >= PIVOT * most && (best < 0 || e->meets[i] < e->meets[best])) best = i;
    }
    return best;
}

// The row at hand, divided by its entry at the pivot.
static pcs_status elimination_keep(elimination *e, solved_rows *rows, int pivot, double entry)
{
    size_t used = rows->start[rows->count];
    PCS_TRY(rows_grow(e->ctx, rows, used + (size_t)e->ntouched));
    for (int t = 0; t < e->ntouched; t++) {
        int i = e->touched[t];
        if (i == pivot || !(fabs(e->w[i]) > ROUND_OFF)) continue;
        rows->column[used] = i;
        rows->value[used++] = e->w[i] / entry;
    }
    rows->pivot[rows->count++] = pivot;
    rows->start[rows->count] = used;
    return PCS_OK;
}

// *nrest: rows that hold and were not looked at because there are too many entries.
static pcs_status elimination_forward(elimination *e, const unsigned char *holds, int *nrest)
{
    for (int j = 0; j < e->G->nrow; j++)
        for (int p = e->G->start[j]; p < e->G->start[j + 1]; p++) e->meets[e->G->column[p]] += holds[j] != 0;
    for (int j = 0; j < e->G->nrow; j++) {
        int pivot = -1;
        bool is_full = e->forward.start[e->forward.count] > e->room;
        if (holds[j] && is_full) ++*nrest;
        if (holds[j] && !is_full && elimination_load(e, j)) {
            elimination_reduce(e);
            pivot = elimination_pivot(e);
        }
        if (pivot >= 0) {
            e->solved[pivot] = e->forward.count;
            PCS_TRY(elimination_keep(e, &e->forward, pivot, e->w[pivot]));
        }
        elimination_clear(e);
    }
    return PCS_OK;
}

// From the last row to the first; *is_full where there would be too many entries.
static pcs_status elimination_back(elimination *e, bool *is_full)
{
    const solved_rows *from = &e->forward;
    solved_rows *to = &e->final;
    for (int k = from->count - 1; k >= 0; k--) {
        for (size_t p = from->start[k]; p < from->start[k + 1]; p++)
            elimination_add(e, from->column[p], from->value[p]);
        int nown = e->ntouched; // final rows bring no pivots
        for (int t = 0; t < nown; t++) {
            int later = e->solved[e->touched[t]];
            if (later >= 0) elimination_replace(e, to, from->count - 1 - later);
        }
        PCS_TRY(elimination_keep(e, to, from->pivot[k], 1.0));
        elimination_clear(e);
        *is_full = to->start[to->count] > e->room;
        if (*is_full) return PCS_OK;
    }
    return PCS_OK;
}

static pcs_status elimination_finish(const elimination *e, pcs_null_space *out)
{
    const solved_rows *rows = &e->final;
    int *number;
    size_t nentry = rows->start[rows->count] + (size_t)out->nfree;
    PCS_TAKE(e->ctx, number, e->n, "rows of joints");
    PCS_TAKE(e->ctx, out->start, (size_t)e->n + 1, "rows of joints");
    PCS_TAKE(e->ctx, out->kept, out->nfree, "rows of joints");
    PCS_TAKE(e->ctx, out->column, nentry, "rows of joints");
    PCS_TAKE(e->ctx, out->value, nentry, "rows of joints");
    for (int i = 0, count = 0; i < e->n; i++)
        if (e->solved[i] < 0) {
            out->kept[count] = i;
            number[i] = count++;
        }
    for (int i = 0, used = 0; i < e->n; i++) {
        int k = e->solved[i] < 0 ? -1 : rows->count - 1 - e->solved[i];
        if (k < 0) {
            out->column[used] = number[i];
            out->value[used++] = 1.0;
        } else {
            for (size_t p = rows->start[k]; p < rows->start[k + 1]; p++) {
                int c = rows->column[p];
                out->column[used] = number[c];
                out->value[used++] = -rows->value[p] * (e->size == NULL ? 1.0 : e->size[i] / e->size[c]);
            }
        }
        out->start[i + 1] = used;
    }
    return PCS_OK;
}

static pcs_status elimination_run(elimination *e, const unsigned char *holds, pcs_null_space *out)
{
    int nrest = 0;
    PCS_TRY(elimination_forward(e, holds, &nrest));
    out->nfree = e->n - e->forward.count - nrest;
    out->is_full = nrest > 0;
    if (!out->is_full) PCS_TRY(elimination_back(e, &out->is_full));
    return out->is_full ? PCS_OK : elimination_finish(e, out);
}

pcs_status pcs_null_space_create(pcs_context *ctx, int n, const pcs_rows *G, const unsigned char *holds,
                                 const double *size, pcs_null_space *out)
{
    elimination e = { .ctx = ctx, .G = G, .size = size, .n = n };
    *out = (pcs_null_space){ .n = n };
    e.room = LEAST_ROOM + FILL * (size_t)G->start[G->nrow];
    PCS_TAKE(ctx, e.meets, e.n, "rows of joints");
    PCS_TAKE(ctx, e.solved, e.n, "rows of joints");
    PCS_TAKE(ctx, e.w, e.n, "rows of joints");
    PCS_TAKE(ctx, e.touched, e.n, "rows of joints");
    PCS_TAKE(ctx, e.is_in, e.n, "rows of joints");
    PCS_TRY(rows_take(ctx, G->nrow, &e.forward));
    PCS_TRY(rows_take(ctx, G->nrow, &e.final));
    for (int i = 0; i < e.n; i++) e.solved[i] = -1;
    pcs_status status = elimination_run(&e, holds, out);
    rows_release(&e.forward);
    rows_release(&e.final);
    return status;
}

void pcs_null_space_expand(const pcs_null_space *self, const double *y, double *x)
{
    for (int i = 0; i < self->n; i++) {
        double sum = 0.0;
        for (int p = self->start[i]; p < self->start[i + 1]; p++) sum += self->value[p] * y[self->column[p]];
        x[i] = sum;
    }
}
