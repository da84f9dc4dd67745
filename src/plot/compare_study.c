// Two studies beside each other, or two tables of modes: rows by the values of their keys, in whatever order they are;
// see compare.h. The key of a mode is its number.

#include "plot/compare.h"
#include "plot/compare_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_ROOM = 2048, KEY_ROOM = 256 };

// Both tables and which rows belong together.
typedef struct studies {
    const pcs_compare_options *options;
    bool is_modes;
    pcs_csv *csv[2];
    int nkey, *key[2]; // [nkey] columns of the keys in either table
    int nrow, *row[2]; // [nrow] the rows that both have, in the order of the first table
    int nonly[2];      // rows that only one has
} studies;

// A row of a table while rows are sorted.
typedef struct place {
    const studies *s;
    int table, row;
} place;

pcs_status pcs_compare_find_only(pcs_csv *const csv[2], pcs_comparison *out)
{
    for (int k = 0; k < 2; k++) {
        PCS_TAKE(csv[k]->ctx, out->only[k], csv[k]->ncolumn, "a comparison");
        for (int c = 0; c < csv[k]->ncolumn; c++)
            if (pcs_csv_find(csv[1 - k], csv[k]->names[c]) < 0) out->only[k][out->nonly[k]++] = csv[k]->names[c];
    }
    return PCS_OK;
}

void pcs_compare_show_only(const pcs_compare_options *options, const pcs_comparison *c)
{
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < c->nonly[k]; i++) {
            char line[LINE_ROOM], head[16];
            snprintf(head, sizeof head, "\nOnly in %c: ", "AB"[k]);
            snprintf(line, sizeof line, "%s%s%s", i == 0 ? head : ", ", c->only[k][i],
                     i + 1 == c->nonly[k] ? "\n" : "");
            options->show(options->show_user, line);
        }
    }
}

// Numbers by their value, before texts by their letters.
static int studies_order_key(const place *a, const place *b, int k)
{
    int column[2] = { a->s->key[a->table][k], b->s->key[b->table][k] };
    double x = pcs_csv_column(a->s->csv[a->table], column[0])[a->row];
    double y = pcs_csv_column(b->s->csv[b->table], column[1])[b->row];
    if (isnan(x) && isnan(y))
        return strcmp(pcs_csv_text(a->s->csv[a->table], column[0], a->row),
                      pcs_csv_text(b->s->csv[b->table], column[1], b->row));
    if (isnan(x) || isnan(y)) return isnan(x) ? 1 : -1;
    return (x > y) - (x < y);
}

static int studies_order(const place *a, const place *b)
{
    int order = 0;
    for (int k = 0; k < a->s->nkey && order == 0; k++) order = studies_order_key(a, b, k);
    return order;
}

static int studies_sort(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int order = studies_order(x, y);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

// Keys come first, in a study before the names of the runs.
static int studies_count_keys(const studies *s, int table)
{
    return s->is_modes ? 1 : pcs_csv_find(s->csv[table], "run");
}

// The keys of the first table are those of the second, in any order.
static pcs_status studies_find_keys(studies *s)
{
    pcs_context *ctx = s->csv[0]->ctx;
    s->nkey = studies_count_keys(s, 0);
    for (int t = 0; t < 2; t++) {
        const pcs_csv *own = s->csv[t], *other = s->csv[1 - t];
        int nown = studies_count_keys(s, t), nother = studies_count_keys(s, 1 - t);
        PCS_TAKE(ctx, s->key[t], nown + 1, "a comparison");
        for (int k = 0; k < nown; k++) {
            int found = pcs_csv_find(other, own->names[k]);
            if (found < 0 || found >= nother)
                return pcs_fail(ctx, PCS_BAD_INPUT, "%s varies '%s', %s does not", own->path, own->names[k],
                                other->path);
        }
    }
    for (int k = 0; k < s->nkey; k++) {
        s->key[0][k] = k;
        s->key[1][k] = pcs_csv_find(s->csv[1], s->csv[0]->names[k]);
    }
    return PCS_OK;
}

static pcs_status studies_sorted(const studies *s, int table, place **out)
{
    int n = s->csv[table]->nrow;
    PCS_TAKE(s->csv[0]->ctx, *out, (size_t)n + 1, "a comparison");
    for (int i = 0; i < n; i++) (*out)[i] = (place){ s, table, i };
    qsort(*out, (size_t)n, sizeof **out, studies_sort);
    return PCS_OK;
}

static const char *studies_noun(const studies *s)
{
    return s->is_modes ? "mode" : "point";
}

// Both in the order of their keys: equal ones belong together, the first to the first where a point is there twice.
static pcs_status studies_match(studies *s)
{
    place *a, *b;
    int na = s->csv[0]->nrow, nb = s->csv[1]->nrow, *partner;
    PCS_TRY(studies_sorted(s, 0, &a));
    PCS_TRY(studies_sorted(s, 1, &b));
    PCS_TAKE(s->csv[0]->ctx, partner, (size_t)na + 1, "a comparison");
    for (int t = 0; t < 2; t++) PCS_TAKE(s->csv[0]->ctx, s->row[t], (size_t)na + 1, "a comparison");
    for (int i = 0; i < na; i++) partner[i] = -1;
    for (int i = 0, j = 0; i < na && j < nb;) {
        int order = studies_order(&a[i], &b[j]);
        if (order == 0) partner[a[i].row] = b[j].row;
        i += order <= 0;
        j += order >= 0;
    }
    for (int i = 0; i < na; i++) {
        if (partner[i] < 0) continue;
        s->row[0][s->nrow] = i;
        s->row[1][s->nrow++] = partner[i];
    }
    s->nonly[0] = na - s->nrow;
    s->nonly[1] = nb - s->nrow;
    if (s->nrow > 0) return PCS_OK;
    return pcs_fail(s->csv[0]->ctx, PCS_BAD_INPUT, "%s and %s have no %s in common", s->csv[0]->path, s->csv[1]->path,
                    studies_noun(s));
}

// "mesh.bar.elements=10 scheme.type=newmark"
static void studies_name(const studies *s, int i, char out[KEY_ROOM])
{
    size_t used = 0;
    out[0] = '\0';
    for (int k = 0; k < s->nkey && used < KEY_ROOM; k++)
        used += (size_t)snprintf(out + used, KEY_ROOM - used, "%s%s=%s", k == 0 ? "" : " ", s->csv[0]->names[k],
                                 pcs_csv_text(s->csv[0], k, s->row[0][i]));
}

// What both have in pair i; a difference of texts is infinite.
static double studies_gap(const studies *s, const int column[2], int i, double value[2])
{
    const char *text[2];
    for (int t = 0; t < 2; t++) {
        value[t] = pcs_csv_column(s->csv[t], column[t])[s->row[t][i]];
        text[t] = pcs_csv_text(s->csv[t], column[t], s->row[t][i]);
    }
    if (isnan(value[0]) || isnan(value[1])) return strcmp(text[0], text[1]) == 0 ? 0.0 : INFINITY;
    return value[0] == value[1] ? 0.0 : fabs(value[0] - value[1]);
}

static void studies_compare_column(const studies *s, const int column[2], pcs_difference *d)
{
    double size = 0.0, value[2];
    for (int i = 0; i < s->nrow; i++) {
        (void)studies_gap(s, column, i, value);
        size = fmax(size, fmax(fabs(value[0]), fabs(value[1]))); // fmax leaves out what is no number
    }
    d->first = d->when = NAN;
    for (int i = 0; i < s->nrow; i++) {
        double gap = studies_gap(s, column, i, value);
        if (gap > d->largest) d->largest = gap, d->when = i;
        if (!(gap > s->options->tolerance * size) || d->is_beyond) continue;
        d->is_beyond = true;
        d->first = i;
        memcpy(d->value, value, sizeof value);
    }
    if (d->largest > 0.0) d->relative = d->largest / size;
}

// `run` is a name and `reason` a text for people: what happened is `status`.
static bool studies_is_compared(const studies *s, int column)
{
    const char *name = s->csv[0]->names[column];
    if (s->is_modes) return column >= s->nkey;
    return column > s->nkey && strcmp(name, "reason") != 0;
}

// Of modes: round-off, and what the kind and the numbers say in words.
static bool studies_is_only_told(const studies *s, const char *column)
{
    return s->is_modes && (strcmp(column, "residual") == 0 || strcmp(column, "name") == 0);
}

static pcs_status studies_compare(const studies *s, pcs_comparison *out)
{
    PCS_TAKE(s->csv[0]->ctx, out->columns, s->csv[0]->ncolumn, "a comparison");
    for (int c = 0; c < s->csv[0]->ncolumn; c++) {
        int column[2] = { c, pcs_csv_find(s->csv[1], s->csv[0]->names[c]) };
        if (column[1] < 0 || !studies_is_compared(s, c)) continue;
        pcs_difference *d = &out->columns[out->ncolumn++];
        d->column = s->csv[0]->names[c];
        studies_compare_column(s, column, d);
        d->is_work = studies_is_only_told(s, d->column);
        out->nbeyond += d->is_beyond && !d->is_work;
    }
    return PCS_OK;
}

static void studies_say(const studies *s, const char *line)
{
    s->options->show(s->options->show_user, line);
}

static void studies_show_row(const studies *s, const pcs_difference *d, int width)
{
    char line[LINE_ROOM], at[KEY_ROOM] = "", size[2][32] = { "another one", "" };
    if (d->largest > 0.0) studies_name(s, (int)(d->is_beyond ? d->first : d->when), at);
    if (!isinf(d->largest)) {
        snprintf(size[0], sizeof size[0], "%.4g", d->largest);
        snprintf(size[1], sizeof size[1], "%.3g", d->relative);
    }
    if (d->largest == 0.0) snprintf(line, sizeof line, "  %-*s %12s\n", width, d->column, "the same");
    else
        snprintf(line, sizeof line, "  %-*s %12s %12s  %s%s\n", width, d->column, size[0], size[1], at,
                 d->is_work ? ", not judged" : "");
    studies_say(s, line);
}

static void studies_show_verdict(const studies *s, const pcs_comparison *c)
{
    char line[LINE_ROOM], at[KEY_ROOM];
    const pcs_difference *first = NULL;
    for (int i = 0; i < c->ncolumn; i++) {
        const pcs_difference *d = &c->columns[i];
        if (d->is_beyond && !d->is_work && (first == NULL || d->first < first->first)) first = d;
    }
    if (first == NULL) {
        snprintf(line, sizeof line, "\nAlike: no column differs by more than %g of its size.\n", s->options->tolerance);
    } else {
        studies_name(s, (int)first->first, at);
        snprintf(line, sizeof line,
                 "\nThey differ: %d of %d columns by more than %g of their size, first at %s in %s.\n", c->nbeyond,
                 c->ncolumn, s->options->tolerance, at, first->column);
    }
    studies_say(s, line);
}

static void studies_show(const studies *s, const pcs_comparison *c)
{
    char line[LINE_ROOM];
    int width = 6;
    for (int i = 0; i < c->ncolumn; i++)
        if ((int)strlen(c->columns[i].column) > width) width = (int)strlen(c->columns[i].column);
    if (width > 60) width = 60;
    for (int t = 0; t < 2; t++) {
        snprintf(line, sizeof line, "%c: %s, %d %ss, %d of them not in %c\n", "AB"[t], s -> csv[t] -> path,
                 s -> csv[t] -> nrow, studies_noun(s), s -> nonly[t], "BA"[t]);
        studies_say(s, line);
    }
    snprintf(line, sizeof line, "%d %ss that both have.\n\n  %-*s %12s %12s  %s\n", s->nrow, studies_noun(s), width,
             "column", "largest", "relative", "where it first goes beyond, or is largest");
    studies_say(s, line);
    for (int i = 0; i < c->ncolumn; i++) studies_show_row(s, &c->columns[i], width);
    pcs_compare_show_only(s->options, c);
    studies_show_verdict(s, c);
}

pcs_status pcs_compare_studies(pcs_context *ctx, const pcs_compare_options *options, const char *const paths[2],
                               bool is_modes, pcs_comparison *out)
{
    studies s = { .options = options, .is_modes = is_modes };
    for (int t = 0; t < 2; t++) PCS_TRY(pcs_csv_read(ctx, paths[t], true, &s.csv[t]));
    PCS_TRY(studies_find_keys(&s));
    PCS_TRY(studies_match(&s));
    PCS_TRY(pcs_compare_find_only(s.csv, out));
    PCS_TRY(studies_compare(&s, out));
    out->ntime = s.nrow;
    studies_show(&s, out);
    return PCS_OK;
}
