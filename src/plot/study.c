// Pictures of a study: measures over the first key that varies, one line for each combination of the others.
//
// An axis is logarithmic where its values are positive and span a factor of 8 or more. Where both are, the slope of
// log y over log x by least squares stands in the legend: the order of a refinement.

#include "plot/album.h"
#include "plot/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_KEYS = 64, LABEL_ROOM = 512, MOST_TICS = 8, MOST_COMBINATIONS = 32, MOST_NAMES = 256 };

#define LOG_SPAN 8.0

// The table by its columns: keys, run, status, measures with what belongs to them, reason.
typedef struct study {
    pcs_album *album;
    const pcs_csv *csv;
    int nkey, ncombination;
    int axis;          // the key of the horizontal axis
    bool is_numeric;   // its values are numbers
    int *combination;  // [nrow] of the values of the other keys
    int *first_row;    // [ncombination]
    const char *names; // commands for named values, NULL where they are numbers
    const char *x;     // expression of the horizontal axis
} study;

bool pcs_pictures_is_study(const pcs_csv *csv)
{
    int run = pcs_csv_find(csv, "run");
    return run >= 0 && run + 1 < csv->ncolumn && strcmp(csv->names[run + 1], "status") == 0;
}

static bool study_rows_agree(const study *s, int a, int b)
{
    for (int k = 0; k < s->nkey; k++)
        if (k != s->axis && strcmp(pcs_csv_text(s->csv, k, a), pcs_csv_text(s->csv, k, b)) != 0) return false;
    return true;
}

static pcs_status study_combine(study *s)
{
    PCS_TAKE(s->album->ctx, s->combination, s->csv->nrow, "a study");
    PCS_TAKE(s->album->ctx, s->first_row, s->csv->nrow, "a study");
    int nleft = 0;
    for (int r = 0; r < s->csv->nrow; r++) {
        int k = 0;
        while (k < s->ncombination && !study_rows_agree(s, s->first_row[k], r)) k++;
        if (k == MOST_COMBINATIONS) nleft++;
        else if (k == s->ncombination) s->first_row[s->ncombination++] = r;
        s->combination[r] = k;
    }
    if (nleft > 0)
        pcs_album_tell(s->album, "Drawn are the first %d combinations of the other keys; %d rows are left out\n",
                       MOST_COMBINATIONS, nleft);
    return PCS_OK;
}

static bool study_varies(const pcs_csv *csv, int column)
{
    for (int r = 1; r < csv->nrow; r++)
        if (strcmp(pcs_csv_text(csv, column, r), pcs_csv_text(csv, column, 0)) != 0) return true;
    return false;
}

// Named values stand at 0, 1, 2, ... in the order in which they come.
static pcs_status study_name_values(study *s)
{
    pcs_context *ctx = s->album->ctx;
    const char *expression = "NaN", *tics = "set xtics (";
    const char *column = pcs_gnuplot_column(ctx, s->csv->names[s->axis], s->axis + 1);
    int count = 0;
    for (int r = 0; r < s->csv->nrow; r++) {
        const char *text = pcs_csv_text(s->csv, s->axis, r);
        int before = 0;
        while (before < r && strcmp(pcs_csv_text(s->csv, s->axis, before), text) != 0) before++;
        if (before < r) continue;
        if (count == MOST_NAMES)
            return pcs_fail(ctx, PCS_BAD_INPUT, "%s: more than %d named values of %s", s->csv->path, MOST_NAMES,
                            s->csv->names[s->axis]);
        if (strchr(text, '\'') != NULL) return pcs_fail(ctx, PCS_BAD_INPUT, "%s: a quote in %s", s->csv->path, text);
        expression = pcs_gnuplot_text(ctx, "strcol(%s) eq '%s' ? %d : (%s)", column, text, count, expression);
        tics = pcs_gnuplot_text(ctx, "%s%s'%.30s' %d", tics, count == 0 ? "" : ", ", *text == '\0' ? "-" : text, count);
        if (expression == NULL || tics == NULL) return PCS_NO_MEMORY;
        count++;
    }
    s->x = pcs_gnuplot_text(ctx, "(%s)", expression);
    s->names = pcs_gnuplot_text(ctx, "%s)\nset xrange [-0.5:%d.5]\n", tics, count - 1);
    return s->x == NULL || s->names == NULL ? PCS_NO_MEMORY : PCS_OK;
}

static pcs_status study_read(study *s)
{
    const pcs_csv *csv = s->csv;
    s->nkey = pcs_csv_find(csv, "run");
    if (s->nkey == 0)
        return pcs_fail(csv->ctx, PCS_BAD_INPUT, "%s: no key varies; levels of refinement are in the table alone",
                        csv->path);
    if (s->nkey > MOST_KEYS) return pcs_fail(csv->ctx, PCS_BAD_INPUT, "%s: too many keys", csv->path);
    while (s->axis + 1 < s->nkey && !study_varies(csv, s->axis)) s->axis++;
    if (!study_varies(csv, s->axis)) s->axis = 0;
    s->is_numeric = true;
    for (int r = 0; r < csv->nrow; r++) s->is_numeric = s->is_numeric && !isnan(pcs_csv_column(csv, s->axis)[r]);
    PCS_TRY(study_combine(s));
    if (!s->is_numeric) return study_name_values(s);
    s->x = pcs_gnuplot_column(csv->ctx, csv->names[s->axis], s->axis + 1);
    return s->x == NULL ? PCS_NO_MEMORY : PCS_OK;
}

// Are values that belong to a measure positive, and do they span so much?
static bool study_spans(const study *s, int column, int measure)
{
    double least = INFINITY, most = 0.0;
    for (int r = 0; r < s->csv->nrow; r++) {
        double value = pcs_csv_column(s->csv, column)[r];
        if (isnan(pcs_csv_column(s->csv, measure)[r])) continue;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    return least > 0.0 && most >= LOG_SPAN * least;
}

// NAN: fewer than three points.
static double study_slope(const study *s, int measure, int combination)
{
    const double *x = pcs_csv_column(s->csv, s->axis), *y = pcs_csv_column(s->csv, measure);
    double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int r = 0; r < s->csv->nrow; r++) {
        if (s->combination[r] != combination || isnan(y[r])) continue;
        double u = log(x[r]), v = log(y[r]);
        n += 1.0;
        sx += u;
        sy += v;
        sxx += u * u;
        sxy += u * v;
    }
    double spread = n * sxx - sx * sx;
    return n >= 3.0 && spread > 0.0 ? (n * sxy - sx * sy) / spread : NAN;
}

static void study_label(const study *s, int combination, double slope, char label[LABEL_ROOM])
{
    const char *keys[MOST_KEYS];
    int nkey = 0;
    label[0] = '\0';
    for (int k = 0; k < s->nkey; k++)
        if (k != s->axis && study_varies(s->csv, k)) keys[nkey++] = s->csv->names[k];
    for (int i = 0; i < nkey; i++) {
        const char *text = pcs_csv_text(s->csv, pcs_csv_find(s->csv, keys[i]), s->first_row[combination]);
        pcs_runs_add_value(pcs_runs_short_key(keys, nkey, i), *text == '\0' ? "-" : text, LABEL_ROOM, label);
    }
    size_t used = strlen(label);
    if (!isnan(slope)) snprintf(label + used, LABEL_ROOM - used, "%sslope %.2f", used == 0 ? "" : ", ", slope);
}

// A column in the rows of one combination only.
static const char *study_expression(const study *s, int column, int combination)
{
    pcs_context *ctx = s->album->ctx;
    const char *term = pcs_gnuplot_term(ctx, s->csv->names[column], column + 1), *test = "";
    for (int k = 0; k < s->nkey; k++) {
        const char *text = pcs_csv_text(s->csv, k, s->first_row[combination]);
        if (k == s->axis || !study_varies(s->csv, k) || strchr(text, '\'') != NULL) continue;
        const char *key = pcs_gnuplot_column(ctx, s->csv->names[k], k + 1);
        if (key == NULL || test == NULL) return NULL;
        test = pcs_gnuplot_text(ctx, "%s%sstrcol(%s) eq '%s'", test, *test == '\0' ? "" : " && ", key, text);
    }
    if (term == NULL || test == NULL) return NULL;
    return *test == '\0' ? pcs_gnuplot_text(ctx, "(%s)", term) : pcs_gnuplot_text(ctx, "(%s ? %s : NaN)", test, term);
}

static pcs_status study_curve(const study *s, int measure, int combination, pcs_panel *panel)
{
    pcs_context *ctx = s->album->ctx;
    char label[LABEL_ROOM];
    bool has_slope = panel->is_log_x && panel->is_log_y;
    study_label(s, combination, has_slope ? study_slope(s, measure, combination) : NAN, label);
    pcs_curve *curve = &panel->curves[panel->ncurve++];
    *curve = (pcs_curve){ .file = s->csv->path, .x = s->x, .colour = combination, .dash = 1 };
    curve->style = s->is_numeric ? PCS_CURVE_POINTS : PCS_CURVE_MARKS;
    curve->y = study_expression(s, measure, combination);
    if (label[0] != '\0') curve->label = pcs_take_text(ctx, label);
    const char *bound = pcs_gnuplot_text(ctx, "%s.bound", s->csv->names[measure]);
    if (curve->y == NULL || bound == NULL) return PCS_NO_MEMORY;
    int column = pcs_csv_find(s->csv, bound);
    if (column < 0) return PCS_OK;
    curve->bound = study_expression(s, column, combination);
    return curve->bound == NULL ? PCS_NO_MEMORY : PCS_OK;
}

// The horizontal axis ends beyond the outer points. A logarithmic one has its marks at the values, if these are few.
static const char *study_axis(const study *s, bool is_log)
{
    pcs_context *ctx = s->album->ctx;
    const double *x = pcs_csv_column(s->csv, s->axis);
    double least = INFINITY, most = -INFINITY;
    const char *tics = "set xtics (";
    int count = 0;
    for (int r = 0; r < s->csv->nrow; r++) {
        int before = count > MOST_TICS ? r : 0; // more of them are not marked
        least = fmin(least, x[r]);
        most = fmax(most, x[r]);
        while (before < r && x[before] != x[r]) before++;
        if (before < r || count > MOST_TICS) continue;
        if (++count <= MOST_TICS) tics = pcs_gnuplot_text(ctx, "%s%s%.9g", tics, count == 1 ? "" : ", ", x[r]);
        if (tics == NULL) return NULL;
    }
    if (!(least < most)) return "";
    double pad = is_log ? pow(most / least, 0.04) : 0.04 * (most - least);
    double begin = is_log ? least / pad : least - pad, end = is_log ? most * pad : most + pad;
    bool has_tics = is_log && count <= MOST_TICS;
    return pcs_gnuplot_text(ctx, "%s%sset xrange [%.9g:%.9g]\n", has_tics ? tics : "", has_tics ? ")\n" : "", begin,
                            end);
}

static pcs_status study_panel(const study *s, int measure, pcs_panel *panel)
{
    pcs_context *ctx = s->album->ctx;
    const char *name = s->csv->names[measure], *key = s->csv->names[s->axis];
    *panel = (pcs_panel){ .before = s->names };
    panel->is_log_x = s->is_numeric && study_spans(s, s->axis, measure);
    panel->is_log_y = study_spans(s, measure, measure);
    if (s->is_numeric) panel->before = study_axis(s, panel->is_log_x);
    const double *x = pcs_csv_column(s->csv, s->axis);
    for (int r = 0; r < s->csv->nrow; r++)
        if (x[r] != floor(x[r])) panel->xformat = "%.3g";
    panel->xlabel = pcs_album_label(ctx, key, strcmp(key, "time.step") == 0 ? "s" : "");
    panel->ylabel = pcs_album_label(ctx, name, pcs_quantity_unit(name));
    PCS_TAKE(ctx, panel->curves, s->ncombination, "curves");
    for (int k = 0; k < s->ncombination; k++) PCS_TRY(study_curve(s, measure, k, panel));
    return panel->xlabel == NULL || panel->ylabel == NULL ? PCS_NO_MEMORY : PCS_OK;
}

// Does the column hold a measure, and not what belongs to one?
static bool study_is_measure(const study *s, int column)
{
    static const char *const parts[] = { ".limit", ".bound", ".order", ".convergence" };
    const char *name = s->csv->names[column], *dot = strrchr(name, '.');
    if (strcmp(name, "reason") == 0) return false;
    for (size_t i = 0; i < (dot == NULL ? 0 : sizeof parts / sizeof *parts); i++)
        if (strcmp(dot, parts[i]) == 0) return false;
    for (int r = 0; r < s->csv->nrow; r++)
        if (!isnan(pcs_csv_column(s->csv, column)[r])) return true;
    return false;
}

static pcs_status study_add(study *s, const char *name, int nmeasure, const int *measures)
{
    pcs_chart *picture = name == NULL ? NULL : pcs_album_new(s->album, name);
    if (picture == NULL) return PCS_NO_MEMORY;
    picture->npanel = nmeasure;
    PCS_TAKE(s->album->ctx, picture->panels, nmeasure, "panels");
    for (int i = 0; i < nmeasure; i++) PCS_TRY(study_panel(s, measures[i], &picture->panels[i]));
    // A legend above all panels is enough, unless slopes are in it.
    for (int i = 1; i < nmeasure; i++) {
        pcs_panel *panel = &picture->panels[i];
        bool has_slope = panel->is_log_x && panel->is_log_y;
        for (int k = 0; k < panel->ncurve; k++)
            if (!has_slope) panel->curves[k].label = NULL;
    }
    return PCS_OK;
}

pcs_status pcs_pictures_of_study(pcs_album *album, const char *name, int nmeasure, const char *const *measures)
{
    study s = { .album = album, .csv = album->runs[0].csv };
    int *columns;
    if (album->nrun > 1) return pcs_fail(album->ctx, PCS_BAD_INPUT, "a study is drawn alone, not with other results");
    PCS_TRY(study_read(&s));
    PCS_TAKE(album->ctx, columns, nmeasure + 1, "columns");
    for (int i = 0; i < nmeasure; i++) columns[i] = pcs_csv_find(s.csv, measures[i]);
    if (nmeasure > 0) return study_add(&s, name, nmeasure, columns);
    for (int c = s.nkey + 2; c < s.csv->ncolumn; c++)
        if (study_is_measure(&s, c))
            PCS_TRY(study_add(&s, pcs_gnuplot_text(album->ctx, "study_%s", s.csv->names[c]), 1, &c));
    return PCS_OK;
}
