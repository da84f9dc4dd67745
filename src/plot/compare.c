#include "plot/compare.h"
#include "plot/compare_parts.h"
#include "plot/quantity.h"
#include "plot/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Round-off of a result after many steps, and of a time that was added up; both relative.
#define ROUND_OFF 1e-12
#define TIME_ROUND_OFF 1e-12

enum { LINE_ROOM = 1024, HEAD_ROOM = 1 << 16 };

// Both tables, the rows in which they are compared, and where these lie in either.
typedef struct pair {
    const pcs_compare_options *options;
    pcs_csv *csv[2];
    int axis[2];    // columns of time
    int lead;       // the table whose times are taken
    int begin, end; // its rows
    int *place;     // [end - begin] the other one's row at or before that time
    double *weight; // [end - begin] of the row after it
    double *size;   // [columns of the first table] largest values, 0 where only one has the column
} pair;

static const double *pair_times(const pair *p, int which)
{
    return pcs_csv_column(p->csv[which], p->axis[which]);
}

static pcs_status pair_find_axis(pair *p)
{
    pcs_context *ctx = p->csv[0]->ctx;
    for (int k = 0; k < 2; k++) {
        const pcs_csv *csv = p->csv[k];
        int found = pcs_csv_find(csv, "t");
        p->axis[k] = found < 0 ? 0 : found;
        if (csv->nrow == 0) return pcs_fail(ctx, PCS_BAD_INPUT, "%s: no rows", csv->path);
        const double *t = pair_times(p, k);
        for (int i = 0; i < csv->nrow; i++)
            if (isnan(t[i]) || (i > 0 && t[i] < t[i - 1]))
                return pcs_fail(ctx, PCS_BAD_INPUT, "%s: column '%s' does not rise at row %d", csv->path,
                                csv->names[p->axis[k]], i + 1);
    }
    if (strcmp(p->csv[0]->names[p->axis[0]], p->csv[1]->names[p->axis[1]]) == 0) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "no common axis: '%s' of %s and '%s' of %s", p->csv[0]->names[p->axis[0]],
                    p->csv[0]->path, p->csv[1]->names[p->axis[1]], p->csv[1]->path);
}

static bool pair_has_same_times(const pair *p)
{
    const double *a = pair_times(p, 0), *b = pair_times(p, 1);
    int n = p->csv[0]->nrow;
    if (n != p->csv[1]->nrow) return false;
    double size = fmax(fmax(fabs(a[0]), fabs(a[n - 1])), fmax(fabs(b[0]), fabs(b[n - 1])));
    for (int i = 0; i < n; i++)
        if (fabs(a[i] - b[i]) > TIME_ROUND_OFF * size) return false;
    return true;
}

// Rows of a table within the span, to round-off: times that were added up in other steps end alike.
static void pair_rows(const pair *p, int which, const double span[2], int *begin, int *end)
{
    const double *t = pair_times(p, which);
    int n = p->csv[which]->nrow;
    double slack = TIME_ROUND_OFF * fmax(fabs(span[0]), fabs(span[1]));
    *begin = 0;
    while (*begin < n && t[*begin] < span[0] - slack) ++*begin;
    *end = n;
    while (*end > *begin && t[*end - 1] > span[1] + slack) --*end;
}

static void pair_place(pair *p)
{
    const double *t = pair_times(p, p->lead), *s = pair_times(p, 1 - p->lead);
    int n = p->csv[1 - p->lead]->nrow, k = 0;
    for (int i = p->begin; i < p->end; i++) {
        while (k + 1 < n && s[k + 1] <= t[i]) k++;
        double width = k + 1 < n ? s[k + 1] - s[k] : 0.0;
        p->place[i - p->begin] = k;
        p->weight[i - p->begin] = width > 0.0 && t[i] > s[k] ? (t[i] - s[k]) / width : 0.0;
    }
}

static pcs_status pair_align(pair *p, pcs_comparison *out)
{
    pcs_context *ctx = p->csv[0]->ctx;
    const double *a = pair_times(p, 0), *b = pair_times(p, 1);
    int na = p->csv[0]->nrow, nb = p->csv[1]->nrow, begin[2], end[2];
    out->span[0] = fmax(a[0], b[0]);
    out->span[1] = fmin(a[na - 1], b[nb - 1]);
    out->is_same_times = pair_has_same_times(p);
    for (int k = 0; k < 2; k++) pair_rows(p, k, out->span, &begin[k], &end[k]);
    if (end[0] == begin[0] || end[1] == begin[1])
        return pcs_fail(ctx, PCS_BAD_INPUT, "no common times: %g .. %g and %g .. %g", a[0], a[na - 1], b[0], b[nb - 1]);
    p->lead = end[1] - begin[1] < end[0] - begin[0];
    p->begin = out->is_same_times ? 0 : begin[p->lead];
    p->end = out->is_same_times ? na : end[p->lead];
    out->ntime = p->end - p->begin;
    PCS_TAKE(ctx, p->place, out->ntime, "a comparison");
    PCS_TAKE(ctx, p->weight, out->ntime, "a comparison");
    if (!out->is_same_times) pair_place(p);
    for (int i = 0; i < (out->is_same_times ? na : 0); i++) p->place[i] = i;
    return PCS_OK;
}

// Both values of a column (one number in either table) in row i of the comparison.
static void pair_values(const pair *p, const int column[2], int i, double value[2])
{
    const double *lead = pcs_csv_column(p->csv[p->lead], column[p->lead]);
    const double *other = pcs_csv_column(p->csv[1 - p->lead], column[1 - p->lead]);
    int k = p->place[i];
    double w = p->weight[i];
    value[p->lead] = lead[p->begin + i];
    value[1 - p->lead] = w > 0.0 ? (1.0 - w) * other[k] + w * other[k + 1] : other[k];
}

static double pair_size(const pair *p, const int column[2], int ntime)
{
    double size = 0.0, value[2];
    for (int i = 0; i < ntime; i++) {
        pair_values(p, column, i, value);
        size = fmax(size, fmax(fabs(value[0]), fabs(value[1]))); // fmax leaves out what is no number
    }
    return size;
}

static pcs_status pair_take_sizes(pair *p, int ntime)
{
    PCS_TAKE(p->csv[0]->ctx, p->size, p->csv[0]->ncolumn, "a comparison");
    for (int c = 0; c < p->csv[0]->ncolumn; c++) {
        int column[2] = { c, pcs_csv_find(p->csv[1], p->csv[0]->names[c]) };
        if (column[1] >= 0 && c != p->axis[0]) p->size[c] = pair_size(p, column, ntime);
    }
    return PCS_OK;
}

// The largest value among all columns of that unit.
static double pair_unit_size(const pair *p, const char *unit)
{
    double size = 0.0;
    for (int c = 0; c < p->csv[0]->ncolumn; c++)
        if (strcmp(pcs_quantity_unit(p->csv[0]->names[c]), unit) == 0) size = fmax(size, p->size[c]);
    return size;
}

// |a - b|; infinite where only one is there. Next to an empty field there is nothing to interpolate.
static double compare_gap(const double value[2], bool is_same_times)
{
    if (isnan(value[0]) && isnan(value[1])) return 0.0;
    if (isnan(value[0]) || isnan(value[1])) return is_same_times ? INFINITY : 0.0;
    return value[0] == value[1] ? 0.0 : fabs(value[0] - value[1]);
}

// Counts of the computation; with other steps also what is summed over a step.
static bool compare_is_work(const char *column, bool is_same_times)
{
    if (strcmp(column, "step") == 0 || strcmp(column, "iterations") == 0) return true;
    const char *dot = strrchr(column, '.'), *part = dot == NULL ? column : dot + 1;
    return !is_same_times && (strcmp(part, "impulse") == 0 || strcmp(part, "step_impulse") == 0);
}

static void compare_column(const pair *p, const int column[2], const pcs_comparison *c, pcs_difference *d)
{
    const double *t = pair_times(p, p->lead) + p->begin;
    const char *unit = pcs_quantity_unit(d->column);
    double size = p->size[column[0]], value[2];
    double nothing = *unit == '\0' ? 0.0 : ROUND_OFF * pair_unit_size(p, unit);
    d->is_work = compare_is_work(d->column, c->is_same_times);
    d->first = d->when = NAN;
    for (int i = 0; i < c->ntime; i++) {
        pair_values(p, column, i, value);
        double gap = compare_gap(value, c->is_same_times);
        if (gap > d->largest) d->largest = gap, d->when = t[i];
        if (!(gap > nothing && gap > p->options->tolerance * size) || d->is_beyond) continue;
        d->is_beyond = true;
        d->first = t[i];
        memcpy(d->value, value, sizeof value);
    }
    if (d->largest > 0.0) d->relative = d->largest / size;
}

static pcs_status compare_columns(const pair *p, pcs_comparison *out)
{
    pcs_context *ctx = p->csv[0]->ctx;
    PCS_TRY(pcs_compare_find_only(p->csv, out));
    PCS_TAKE(ctx, out->columns, p->csv[0]->ncolumn, "a comparison");
    for (int c = 0; c < p->csv[0]->ncolumn; c++) {
        int column[2] = { c, pcs_csv_find(p->csv[1], p->csv[0]->names[c]) };
        if (column[1] < 0 || c == p->axis[0]) continue;
        pcs_difference *d = &out->columns[out->ncolumn++];
        d->column = p->csv[0]->names[c];
        compare_column(p, column, out, d);
        out->nbeyond += d->is_beyond && !d->is_work;
    }
    if (out->ncolumn > 0) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "%s and %s have no column in common", p->csv[0]->path, p->csv[1]->path);
}

static void compare_show_head(const pair *p, const pcs_comparison *c)
{
    char line[2 * LINE_ROOM];
    for (int k = 0; k < 2; k++) {
        const double *t = pair_times(p, k);
        snprintf(line, sizeof line, "%c: %s, %d rows, %s = %g .. %g\n", "AB"[k], p -> csv[k] -> path,
                 p -> csv[k] -> nrow, p -> csv[k] -> names[p->axis[k]], t[0], t[p->csv[k]->nrow - 1]);
        p->options->show(p->options->show_user, line);
    }
    if (c->is_same_times) snprintf(line, sizeof line, "Row by row, %d rows.\n\n", c->ntime);
    else
        snprintf(line, sizeof line, "At %d times of %c from %g to %g; %c is interpolated between its rows.\n\n",
                 c->ntime, "AB"[p->lead], c -> span[0], c -> span[1], "AB"[1 - p->lead]);
    p->options->show(p->options->show_user, line);
}

static void compare_show_row(const pair *p, const pcs_difference *d, int width)
{
    char line[2 * LINE_ROOM], rest[LINE_ROOM] = "";
    if (d->largest == 0.0) snprintf(line, sizeof line, "  %-*s %12s\n", width, d->column, "the same");
    else {
        if (d->is_beyond)
            snprintf(rest, sizeof rest, "%12.6g%s", d->first, d->is_work ? "  a matter of the steps: not judged" : "");
        snprintf(line, sizeof line, "  %-*s %12.4g %12.3g %12.6g %s\n", width, d->column, d->largest, d->relative,
                 d->when, rest);
    }
    p->options->show(p->options->show_user, line);
}

static void compare_show_verdict(const pair *p, const pcs_comparison *c)
{
    char line[2 * LINE_ROOM];
    const pcs_difference *first = NULL;
    for (int i = 0; i < c->ncolumn; i++) {
        const pcs_difference *d = &c->columns[i];
        if (d->is_beyond && !d->is_work && (first == NULL || d->first < first->first)) first = d;
    }
    if (first == NULL)
        snprintf(line, sizeof line, "\nAlike: no column differs by more than %g of its size.\n", p->options->tolerance);
    else
        snprintf(line, sizeof line,
                 "\nThey differ: %d of %d columns by more than %g of their size, first at %s = %.9g in %s "
                 "(A %.9g, B %.9g).\n",
                 c->nbeyond, c->ncolumn, p->options->tolerance, p->csv[0]->names[p->axis[0]], first->first,
                 first->column, first->value[0], first->value[1]);
    p->options->show(p->options->show_user, line);
}

static void compare_show(const pair *p, const pcs_comparison *c)
{
    char line[LINE_ROOM];
    int width = 6;
    for (int i = 0; i < c->ncolumn; i++)
        if ((int)strlen(c->columns[i].column) > width) width = (int)strlen(c->columns[i].column);
    if (width > 60) width = 60;
    compare_show_head(p, c);
    snprintf(line, sizeof line, "  %-*s %12s %12s %12s %12s\n", width, "column", "largest", "relative", "at",
             "first beyond");
    p->options->show(p->options->show_user, line);
    for (int i = 0; i < c->ncolumn; i++) compare_show_row(p, &c->columns[i], width);
    pcs_compare_show_only(p->options, c);
    compare_show_verdict(p, c);
}

typedef enum table_kind { OVER_TIME, OF_STUDY, OF_MODES } table_kind;

// By its first line, so that what is over time is read once. A file that cannot be read is over time.
static table_kind compare_kind(const char *path)
{
    char line[HEAD_ROOM] = ",";
    FILE *file = fopen(path, "r");
    bool has_line = file != NULL && fgets(line + 1, HEAD_ROOM - 1, file) != NULL;
    if (file != NULL) fclose(file);
    if (has_line && strstr(line, ",run,status,") != NULL) return OF_STUDY;
    return has_line && strncmp(line, ",mode,w,f,", 10) == 0 ? OF_MODES : OVER_TIME;
}

// Tables with texts go by their keys, each kind with its own.
static pcs_status compare_keyed(pcs_context *ctx, const pcs_compare_options *options, char *const paths[2],
                                const table_kind kind[2], pcs_comparison *out)
{
    static const char *const words[] = { "", "of a study", "of modes" };
    int k = kind[0] != OVER_TIME ? 0 : 1;
    if (kind[0] != kind[1])
        return pcs_fail(ctx, PCS_BAD_INPUT, "%s is %s and %s is not", paths[k], words[kind[k]], paths[1 - k]);
    return pcs_compare_studies(ctx, options, (const char *const *)paths, kind[0] == OF_MODES, out);
}

pcs_status pcs_compare(pcs_context *ctx, const pcs_compare_options *options, pcs_comparison *out)
{
    pair p = { .options = options };
    char *paths[2];
    *out = (pcs_comparison){ 0 };
    for (int k = 0; k < 2; k++) PCS_TRY(pcs_source_table(ctx, options->path[k], &paths[k]));
    table_kind kind[2] = { compare_kind(paths[0]), compare_kind(paths[1]) };
    if (kind[0] != OVER_TIME || kind[1] != OVER_TIME) return compare_keyed(ctx, options, paths, kind, out);
    for (int k = 0; k < 2; k++) PCS_TRY(pcs_csv_read(ctx, paths[k], false, &p.csv[k]));
    PCS_TRY(pair_find_axis(&p));
    PCS_TRY(pair_align(&p, out));
    PCS_TRY(pair_take_sizes(&p, out->ntime));
    PCS_TRY(compare_columns(&p, out));
    compare_show(&p, out);
    return PCS_OK;
}
