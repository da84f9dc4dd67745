#include "study/signal.h"
#include "case/case.h"
#include "core/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COLUMNS = 8, TEXT_ROOM = 512 };

// Times that were added up over many steps, relative to the whole span.
#define TIME_ROUND_OFF 1e-9

static const char *const variables[MOST_COLUMNS + 1] = { "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", NULL };

// A formula of columns of a table.
typedef struct columns {
    int count;
    const double *values[MOST_COLUMNS]; // [nrow] each
    pcs_expression formula;
} columns;

static pcs_status signal_no_column(pcs_context *ctx, const pcs_csv *csv, const char *name)
{
    char hint[PCS_SPELLING_BYTES];
    pcs_spelling_hint(name, pcs_csv_names(csv), sizeof hint, hint);
    return pcs_fail(ctx, PCS_BAD_INPUT, "%s has no column '%s'%s", csv->path, name, hint);
}

static bool signal_is_function(const char *name)
{
    const char *const *names = pcs_expression_names();
    int i = 0;
    while (names[i] != NULL && strcmp(names[i], name) != 0) i++;
    return names[i] != NULL;
}

// Puts variables in the place of columns.
static pcs_status signal_compile(pcs_context *ctx, const pcs_csv *csv, const char *text, columns *out)
{
    char plain[TEXT_ROOM] = "", word[TEXT_ROOM];
    pcs_expression_fault fault;
    size_t used = 0;
    for (const char *p = text; *p != '\0';) {
        size_t length = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.[]");
        bool is_name = length > 0 && (isalpha((unsigned char)*p) || *p == '_');
        if (length == 0) length = 1;
        snprintf(word, sizeof word, "%.*s", (int)length, p);
        int column = is_name ? pcs_csv_find(csv, word) : -1;
        if (is_name && column < 0 && !signal_is_function(word)) return signal_no_column(ctx, csv, word);
        if (column >= 0 && out->count == MOST_COLUMNS)
            return pcs_fail(ctx, PCS_BAD_INPUT, "'%s' has more than %d columns", text, MOST_COLUMNS);
        if (column >= 0) out->values[out->count] = pcs_csv_column(csv, column);
        int put = snprintf(plain + used, sizeof plain - used, "%s", column >= 0 ? variables[out->count++] : word);
        used += (size_t)put;
        if (used >= sizeof plain) return pcs_fail(ctx, PCS_BAD_INPUT, "'%.60s...' is too long", text);
        p += length;
    }
    if (pcs_expression_compile(plain, used, variables, &out->formula, &fault)) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "'%s': %s", text, fault.what);
}

static double signal_value(const columns *c, int row)
{
    double values[MOST_COLUMNS];
    for (int k = 0; k < c->count; k++) values[k] = c->values[k][row];
    return pcs_expression_value(&c->formula, values);
}

pcs_status pcs_signal_read(pcs_context *ctx, const pcs_csv *csv, const char *formula, double empty, pcs_signal *out)
{
    columns c = { 0 };
    int whole = pcs_csv_find(csv, formula), axis = pcs_csv_find(csv, "t");
    double *t, *x;
    const double *times = pcs_csv_column(csv, axis < 0 ? 0 : axis);
    if (whole < 0) PCS_TRY(signal_compile(ctx, csv, formula, &c));
    PCS_TAKE(ctx, t, csv->nrow + 1, "a quantity over time");
    PCS_TAKE(ctx, x, csv->nrow + 1, "a quantity over time");
    *out = (pcs_signal){ .t = t, .x = x };
    for (int i = 0; i < csv->nrow; i++) {
        double value = whole >= 0 ? pcs_csv_column(csv, whole)[i] : signal_value(&c, i);
        if (!isfinite(value)) value = empty;
        if (!isfinite(value)) continue;
        bool falls = out->count > 0 && times[i] < t[out->count - 1];
        if (!isfinite(times[i]) || falls)
            return pcs_fail(ctx, PCS_BAD_INPUT, "%s: column '%s' does not rise at row %d", csv->path,
                            csv->names[axis < 0 ? 0 : axis], i + 1);
        t[out->count] = times[i];
        x[out->count++] = value;
    }
    return PCS_OK;
}

// The last row not after t, from row k on.
static int signal_row(const pcs_signal *s, double t, int k)
{
    while (k + 1 < s->count && s->t[k + 1] <= t) k++;
    return k;
}

// The value at a time at or after that of row k, and before the next one; constant after the last.
static double signal_between(const pcs_signal *s, int k, double t)
{
    if (k + 1 >= s->count || t <= s->t[k]) return s->x[k];
    double weight = (t - s->t[k]) / (s->t[k + 1] - s->t[k]);
    return (1.0 - weight) * s->x[k] + weight * s->x[k + 1];
}

double pcs_signal_at(const pcs_signal *s, double t)
{
    if (s->count == 0) return NAN;
    double first = s->t[0], last = s->t[s->count - 1], slack = TIME_ROUND_OFF * (last - first);
    if (!(t >= first - slack && t <= last + slack)) return NAN;
    return signal_between(s, signal_row(s, t, 0), t);
}

double pcs_signal_rms(const pcs_signal *a, const pcs_signal *b)
{
    if (a->count == 0 || b->count == 0) return NAN;
    double begin = fmax(a->t[0], b->t[0]), end = fmin(a->t[a->count - 1], b->t[b->count - 1]), sum = 0.0;
    if (!(end > begin)) return NAN;
    int i = signal_row(a, begin, 0), j = signal_row(b, begin, 0);
    double t = begin, left = signal_between(a, i, t) - signal_between(b, j, t);
    while (t < end) { // from row to row of either
        double next = end;
        if (i + 1 < a->count) next = fmin(next, a->t[i + 1]);
        if (j + 1 < b->count) next = fmin(next, b->t[j + 1]);
        double right = signal_between(a, i, next) - signal_between(b, j, next);
        sum += (next - t) * (left * left + left * right + right * right) / 3.0;
        t = next;
        i = signal_row(a, t, i);
        j = signal_row(b, t, j);
        left = signal_between(a, i, t) - signal_between(b, j, t); // where a value jumps the other side of it
    }
    return sqrt(sum / (end - begin));
}

// From an impulse before each row to the sum of all since the first.
static pcs_signal signal_sum(pcs_context *ctx, const pcs_signal *impulses)
{
    pcs_signal sum = *impulses;
    double *x = pcs_take(ctx, (size_t)sum.count + 1, sizeof *x, "an impulse over time");
    for (int k = 0; x != NULL && k < sum.count; k++) x[k] = (k == 0 ? 0.0 : x[k - 1]) + impulses->x[k];
    sum.x = x;
    return sum;
}

// The mean force has its largest value where the window begins or ends at a row: it is a broken line in between.
pcs_status pcs_signal_filtered_peak(pcs_context *ctx, const pcs_signal *impulses, double window, double *out)
{
    pcs_signal sum = signal_sum(ctx, impulses);
    double largest = NAN;
    if (sum.x == NULL) return PCS_NO_MEMORY;
    for (int k = 0, row = 0; k < sum.count; k++) {
        double begin = sum.t[k] - window;
        bool is_inside = begin > sum.t[0];
        row = is_inside ? signal_row(&sum, begin, row) : 0;
        largest = fmax(largest, sum.x[k] - (is_inside ? signal_between(&sum, row, begin) : 0.0));
    }
    for (int k = 0, row = 0; k < sum.count && sum.t[k] + window <= sum.t[sum.count - 1]; k++) {
        row = signal_row(&sum, sum.t[k] + window, row);
        largest = fmax(largest, signal_between(&sum, row, sum.t[k] + window) - (k == 0 ? 0.0 : sum.x[k]));
    }
    *out = largest / window;
    return PCS_OK;
}
