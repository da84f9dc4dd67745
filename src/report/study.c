// The report of a study, from study.csv, study.json and the resolved cases of its runs.

#include "case/json.h"
#include "plot/quantity.h"
#include "report/chart.h"
#include "report/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1000, MOST_CHARTS = 24, NAME_ROOM = 512, MOST_CATEGORIES = 256 };

// Columns of one measure; -1: none.
typedef struct measure {
    int value, bound, order, kind;
    int mesh; // the first of those of the mesh; limit, bound, order and convergence, then the same of the step
} measure;

typedef struct point {
    double x, y, bound;
} point;

typedef struct study {
    const pcs_page *page;
    const pcs_csv *csv;
    int nkey;        // the first columns are the keys
    int run, status; // columns
    int reason;      // -1: none
    int nmeasure;
    measure *measures; // [nmeasure]
    int ngroup;
    int *groups;      // [nrow] series of a row; -1: of none
    const int *leads; // [ngroup] first row of each
    int ncategory;    // 0: values of the first key are numbers
    const char **categories;
    double *x;        // [nrow] number, or number of the category
    point *points;    // [nrow] of a series, while it is sorted
    double *drawn[3]; // [nrow] each: x, y and bound of the series of a chart, one after the other
} study;

static const char *study_text(const study *s, int row, int column)
{
    return column < 0 ? "" : pcs_csv_text(s->csv, column, row);
}

static bool study_is_done(const study *s, int row)
{
    return strcmp(study_text(s, row, s->status), "done") == 0;
}

// Is column c what belongs to the measure before it?
static int study_detail(const pcs_csv *csv, int c, int value, const char *detail)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof name, "%s.%s", csv->names[value], detail);
    return c < csv->ncolumn && strcmp(csv->names[c], name) == 0 ? c : -1;
}

static pcs_status study_columns(study *s)
{
    const pcs_csv *csv = s->csv;
    s->run = pcs_csv_find(csv, "run");
    s->status = s->run + 1;
    s->reason = csv->ncolumn - 1;
    if (s->run < 0 || s->status >= csv->ncolumn || strcmp(csv->names[s->status], "status") != 0)
        return pcs_fail(csv->ctx, PCS_BAD_INPUT, "%s is not the table of a study: no columns 'run,status'", csv->path);
    if (strcmp(csv->names[s->reason], "reason") != 0) s->reason = -1;
    s->nkey = s->run;
    PCS_TAKE(csv->ctx, s->measures, csv->ncolumn, "measures");
    int end = s->reason < 0 ? csv->ncolumn : s->reason;
    for (int c = s->status + 1; c < end;) {
        measure m = { .value = c, .bound = -1, .order = -1, .kind = -1, .mesh = -1 };
        if (study_detail(csv, c + 1, c, "limit") >= 0) {
            m.bound = study_detail(csv, c + 2, c, "bound");
            m.order = study_detail(csv, c + 3, c, "order");
            m.kind = study_detail(csv, c + 4, c, "convergence");
        }
        s->measures[s->nmeasure++] = m;
        c += m.kind >= 0 ? 5 : 1;
        // Mesh and step one by one: four columns each.
        if (m.kind >= 0 && study_detail(csv, c, m.value, "mesh.limit") >= 0) {
            s->measures[s->nmeasure - 1].mesh = c;
            c += 8;
        }
    }
    return PCS_OK;
}

static bool study_same_series(const study *s, int a, int b)
{
    for (int k = 1; k < s->nkey; k++)
        if (strcmp(study_text(s, a, k), study_text(s, b, k)) != 0) return false;
    return true;
}

// Rows that differ in the first key only are one series.
static pcs_status study_group(study *s)
{
    int *leads;
    PCS_TAKE(s->page->ctx, s->groups, s->csv->nrow, "series");
    PCS_TAKE(s->page->ctx, leads, PCS_CHART_SERIES, "series");
    for (int row = 0; row < s->csv->nrow; row++) {
        int g = 0;
        while (g < s->ngroup && !study_same_series(s, leads[g], row)) g++;
        if (g == s->ngroup && g < PCS_CHART_SERIES) leads[s->ngroup++] = row;
        s->groups[row] = g < s->ngroup ? g : -1;
    }
    s->leads = leads;
    return PCS_OK;
}

static int study_category(study *s, const char *text)
{
    int k = 0;
    while (k < s->ncategory && strcmp(s->categories[k], text) != 0) k++;
    if (k == MOST_CATEGORIES) return k;
    if (k == s->ncategory) s->categories[s->ncategory++] = text;
    return k;
}

// Is there a series and a place on the axis for it?
static bool study_is_drawn(const study *s, int row)
{
    return s->groups[row] >= 0 && (s->ncategory == 0 || s->x[row] < MOST_CATEGORIES);
}

// Places of the rows on the axis of the first key.
static pcs_status study_place(study *s)
{
    bool is_number = true;
    PCS_TAKE(s->page->ctx, s->x, s->csv->nrow, "places");
    PCS_TAKE(s->page->ctx, s->points, s->csv->nrow, "points of a chart");
    for (int k = 0; k < 3; k++) PCS_TAKE(s->page->ctx, s->drawn[k], s->csv->nrow, "points of a chart");
    PCS_TAKE(s->page->ctx, s->categories, s->csv->nrow, "values of a key");
    for (int row = 0; row < s->csv->nrow; row++) {
        s->x[row] = pcs_csv_column(s->csv, 0)[row];
        is_number = is_number && isfinite(s->x[row]);
    }
    if (is_number) return PCS_OK;
    for (int row = 0; row < s->csv->nrow; row++) s->x[row] = study_category(s, study_text(s, row, 0));
    return PCS_OK;
}

static void study_head(const study *s)
{
    int ndone = 0;
    for (int row = 0; row < s->csv->nrow; row++) ndone += study_is_done(s, row);
    bool is_whole = ndone == s->csv->nrow;
    pcs_page_print(s->page, "<p class=\"verdict%s\"><strong>%d of %d points are done.</strong> ",
                   is_whole ? "" : " broken", ndone, s->csv->nrow);
    pcs_page_markup(s->page, is_whole ? "" : "Why the others are not is in their rows. ");
    pcs_page_markup(s->page, "Varied: ");
    for (int k = 0; k < s->nkey; k++) {
        pcs_page_markup(s->page, k == 0 ? "<code>" : ", <code>");
        pcs_page_text(s->page, s->csv->names[k]);
        pcs_page_markup(s->page, "</code>");
    }
    pcs_page_markup(s->page, s->nkey == 0 ? "nothing.</p>\n" : ".</p>\n");
}

static void study_table_head(const study *s)
{
    pcs_page_markup(s->page, "<thead><tr>");
    for (int k = 0; k < s->nkey; k++) {
        pcs_page_markup(s->page, "<th>");
        pcs_page_name(s->page, s->csv->names[k]);
        pcs_page_markup(s->page, "</th>");
    }
    for (int m = 0; m < s->nmeasure; m++) {
        const char *name = s->csv->names[s->measures[m].value], *unit = pcs_quantity_unit(name);
        pcs_page_markup(s->page, "<th class=\"n\">");
        pcs_page_name(s->page, name);
        if (unit[0] != '\0') pcs_page_print(s->page, " [%s]", unit);
        pcs_page_markup(s->page, "</th>");
    }
    pcs_page_markup(s->page, "</tr></thead>\n<tbody>\n");
}

// "converges, order 2.3", or what it does else.
static void study_kind(const study *s, int row, int order, int kind)
{
    char number[PCS_HTML_NUMBER];
    const char *text = study_text(s, row, kind);
    pcs_page_text(s->page, text);
    if (strcmp(text, "converges") == 0)
        pcs_page_print(s->page, ", order %s", pcs_html_number(pcs_csv_column(s->csv, order)[row], 2, number));
}

// The part of the bound that is of mesh or step, whose columns begin there.
static void study_part(const study *s, int row, const char *name, int first)
{
    char number[PCS_HTML_NUMBER];
    double bound = pcs_csv_column(s->csv, first + 1)[row];
    pcs_page_print(s->page, "<br>%s: ", name);
    if (isfinite(bound)) pcs_page_print(s->page, "±\xC2\xA0%s, ", pcs_html_number(bound, 2, number));
    study_kind(s, row, first + 2, first + 3);
}

// "196.215 ± 0.001, order 2.3", or why there is no bound.
static void study_cell(const study *s, int row, const measure *m)
{
    char number[2][PCS_HTML_NUMBER];
    double value = pcs_csv_column(s->csv, m->value)[row];
    pcs_page_print(s->page, "<td class=\"n\">%s", pcs_html_number(value, 6, number[0]));
    if (m->kind >= 0 && isfinite(value)) {
        double bound = pcs_csv_column(s->csv, m->bound)[row];
        if (isfinite(bound)) pcs_page_print(s->page, "\xC2\xA0±\xC2\xA0%s", pcs_html_number(bound, 2, number[1]));
        pcs_page_markup(s->page, m->mesh < 0 ? "<br><span class=\"soft\">" : "<span class=\"soft\">");
        if (m->mesh < 0) study_kind(s, row, m->order, m->kind);
        else study_part(s, row, "mesh", m->mesh);
        if (m->mesh >= 0) study_part(s, row, "step", m->mesh + 4);
        pcs_page_markup(s->page, "</span>");
    }
    pcs_page_markup(s->page, "</td>");
}

static void study_row(const study *s, int row)
{
    pcs_page_markup(s->page, "<tr>");
    for (int k = 0; k < s->nkey; k++) {
        pcs_page_markup(s->page, "<td>");
        pcs_page_text(s->page, study_text(s, row, k));
        pcs_page_markup(s->page, "</td>");
    }
    if (study_is_done(s, row)) {
        for (int m = 0; m < s->nmeasure; m++) study_cell(s, row, &s->measures[m]);
    } else {
        pcs_page_print(s->page, "<td colspan=\"%d\">", s->nmeasure > 0 ? s->nmeasure : 1);
        pcs_page_text(s->page, study_text(s, row, s->status));
        pcs_page_markup(s->page, ": ");
        pcs_page_text(s->page, study_text(s, row, s->reason));
        pcs_page_markup(s->page, "</td>");
    }
    pcs_page_markup(s->page, "</tr>\n");
}

// Of which errors the bounds are.
static void study_say_bounds(const study *s, const pcs_yaml *about)
{
    const pcs_yaml *refine = about == NULL ? NULL : pcs_json_at(about, "refine");
    const char *missing = refine == NULL ? "" : pcs_json_string(refine, "not_refined");
    const char *found = strcmp(missing, "mesh") == 0 ? "step" : "mesh";
    pcs_page_markup(s->page, "<p>Values are those of the finest level. What follows ± is a bound of the error by ");
    pcs_page_text(s->page, missing[0] == '\0' ? "mesh and step" : found);
    pcs_page_markup(s->page, ", from runs on coarser levels (Roache’s grid convergence index); where "
                             "a measure oscillates or diverges it has a wide one or none.");
    if (missing[0] != '\0') pcs_page_print(s->page, " The error of the %s is not in it.", missing);
    pcs_page_markup(s->page, "</p>\n");
}

static void study_table(const study *s, const pcs_yaml *about)
{
    pcs_page_section(s->page, "table", "Results");
    bool has_bounds = s->nmeasure > 0 && s->measures[0].kind >= 0;
    if (has_bounds) study_say_bounds(s, about);
    pcs_page_markup(s->page, "<div class=\"scroll\" tabindex=\"0\"><table>\n");
    study_table_head(s);
    for (int row = 0; row < s->csv->nrow && row < MOST_ROWS; row++) study_row(s, row);
    pcs_page_markup(s->page, "</tbody></table></div>\n");
    if (s->csv->nrow > MOST_ROWS)
        pcs_page_print(s->page, "<p class=\"soft\">%d more rows are in study.csv.</p>\n", s->csv->nrow - MOST_ROWS);
    pcs_page_section_end(s->page);
}

static int study_compare(const void *a, const void *b)
{
    const point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

// The points of one series in the order of the axis, from place `first` of the arrays on.
static pcs_series study_series(const study *s, const measure *m, int group, int first)
{
    int count = 0;
    for (int row = 0; row < s->csv->nrow; row++) {
        if (s->groups[row] != group || !study_is_done(s, row) || !study_is_drawn(s, row)) continue;
        s->points[count++] = (point){ .x = s->x[row],
                                      .y = pcs_csv_column(s->csv, m->value)[row],
                                      .bound = m->bound < 0 ? NAN : pcs_csv_column(s->csv, m->bound)[row] };
    }
    qsort(s->points, (size_t)count, sizeof *s->points, study_compare);
    for (int i = 0; i < count; i++) {
        s->drawn[0][first + i] = s->points[i].x;
        s->drawn[1][first + i] = s->points[i].y;
        s->drawn[2][first + i] = s->points[i].bound;
    }
    return (
        pcs_series){ .count = count, .x = s->drawn[0] + first, .y = s->drawn[1] + first, .bound = s->drawn[2] + first };
}

// The values of the other keys.
static pcs_status study_series_name(const study *s, int group, const char **out)
{
    char name[NAME_ROOM] = "";
    size_t used = 0;
    for (int k = 1; k < s->nkey && used < sizeof name; k++) {
        const char *key = s->csv->names[k], *dot = strrchr(key, '.');
        used += (size_t)snprintf(name + used, sizeof name - used, "%s%s = %s", k == 1 ? "" : ", ",
                                 dot == NULL ? key : dot + 1, study_text(s, s->leads[group], k));
    }
    *out = pcs_take_text(s->page->ctx, name);
    return *out == NULL ? PCS_NO_MEMORY : PCS_OK;
}

// Values that are spread over nearly a decade or more.
static bool study_is_log(const study *s)
{
    double low = INFINITY, high = 0.0;
    for (int row = 0; row < s->csv->nrow; row++) {
        low = fmin(low, s->x[row]);
        high = fmax(high, s->x[row]);
    }
    return s->ncategory == 0 && low > 0.0 && high >= 8.0 * low;
}

static pcs_status study_chart(const study *s, const measure *m)
{
    pcs_series series[PCS_CHART_SERIES];
    char title[2 * NAME_ROOM];
    const char *name = s->csv->names[m->value], *quantity = pcs_quantity_name(name);
    int used = 0;
    for (int g = 0; g < s->ngroup; g++) {
        series[g] = study_series(s, m, g, used);
        used += series[g].count;
        PCS_TRY(study_series_name(s, g, &series[g].name));
    }
    snprintf(title, sizeof title, "%s over %s", name, s->csv->names[0]);
    pcs_chart chart = { .title = title,
                        .x_name = s->csv->names[0],
                        .x_unit = "",
                        .y_name = quantity == NULL ? name : quantity,
                        .y_unit = pcs_quantity_unit(name),
                        .nseries = s->ngroup,
                        .series = series,
                        .ncategory = s->ncategory,
                        .categories = s->categories,
                        .is_log = study_is_log(s),
                        .has_marks = true };
    pcs_chart_lines(s->page, &chart);
    return PCS_OK;
}

static pcs_status study_charts(const study *s)
{
    if (s->nkey == 0 || s->nmeasure == 0) return PCS_OK;
    pcs_page_section(s->page, "charts", "Measures over the first key");
    pcs_page_markup(s->page, "<div class=\"charts\">\n");
    for (int m = 0; m < s->nmeasure && m < MOST_CHARTS; m++) PCS_TRY(study_chart(s, &s->measures[m]));
    pcs_page_markup(s->page, "</div>\n");
    int nhidden = 0;
    for (int row = 0; row < s->csv->nrow; row++) nhidden += !study_is_drawn(s, row);
    if (nhidden > 0)
        pcs_page_print(s->page,
                       "<p class=\"soft\">%d rows beyond the first %d series and %d named values are not drawn.</p>\n",
                       nhidden, PCS_CHART_SERIES, MOST_CATEGORIES);
    pcs_page_section_end(s->page);
    return PCS_OK;
}

// The resolved case of the first run that is there.
static pcs_status study_case(const study *s)
{
    char name[NAME_ROOM];
    int row = 0;
    for (; row < s->csv->nrow; row++) {
        snprintf(name, sizeof name, "runs/%s/case.resolved.yaml", study_text(s, row, s->run));
        if (pcs_page_has(s->page, name)) break;
    }
    if (row == s->csv->nrow) return PCS_OK;
    pcs_page_section(s->page, "case", "What was run");
    pcs_page_markup(s->page, "<p>The case of the point ");
    for (int k = 0; k < s->nkey; k++) {
        pcs_page_markup(s->page, k == 0 ? "<code>" : ", <code>");
        pcs_page_text(s->page, s->csv->names[k]);
        pcs_page_markup(s->page, " = ");
        pcs_page_text(s->page, study_text(s, row, k));
        pcs_page_markup(s->page, "</code>");
    }
    pcs_page_markup(s->page, ", with all defaults:</p>\n");
    PCS_TRY(pcs_report_listing(s->page, name));
    pcs_page_section_end(s->page);
    return PCS_OK;
}

// The command as study.json has it.
static void study_again(const study *s, const pcs_yaml *about)
{
    const pcs_yaml *command = about == NULL ? NULL : pcs_json_at(about, "command");
    pcs_page_section(s->page, "again", "Make it again");
    pcs_page_markup(s->page, "<pre class=\"command\"><code>");
    if (command == NULL) pcs_page_markup(s->page, "percuss study CASE -o ");
    if (command == NULL) pcs_page_word(s->page, s->page->folder);
    for (int i = 0; command != NULL && i < pcs_yaml_count(command); i++) {
        pcs_page_markup(s->page, i == 0 ? "" : " ");
        pcs_page_word(s->page, pcs_yaml_text(pcs_yaml_item(command, i)));
    }
    pcs_page_markup(s->page, "\npercuss report ");
    pcs_page_word(s->page, s->page->folder);
    pcs_page_markup(s->page, "</code></pre>\n<p class=\"soft\">Each run by itself: <code>percuss run ");
    pcs_page_text(s->page, s->page->folder);
    pcs_page_markup(s->page, "/runs/NAME/case.resolved.yaml</code>, NAME from the column <code>run</code> of "
                             "study.csv.</p>\n");
    pcs_page_section_end(s->page);
}

// What study.json says of the study as a whole; NULL: there is none.
static pcs_status study_about(const pcs_page *page, const pcs_yaml **out)
{
    char path[PCS_PAGE_PATH];
    *out = NULL;
    if (!pcs_page_has(page, "study.json") || !pcs_page_path(page, "study.json", path)) return PCS_OK;
    return pcs_json_load_but(page->ctx, path, "points", out);
}

// Names the case by its folder, or by its file where that is not case.yaml.
static void study_title(const char *source, char title[NAME_ROOM])
{
    size_t end = strlen(source), begin;
    static const char usual[] = "/case.yaml";
    if (end > strlen(usual) && strcmp(source + end - strlen(usual), usual) == 0) end -= strlen(usual);
    while (end > 1 && source[end - 1] == '/') end--;
    for (begin = end; begin > 0 && source[begin - 1] != '/';) begin--;
    snprintf(title, NAME_ROOM, "Study of %.*s", (int)(end - begin), source + begin);
}

pcs_status pcs_report_study(const pcs_page *page)
{
    char path[PCS_PAGE_PATH], title[NAME_ROOM];
    const pcs_yaml *about;
    study s = { .page = page };
    pcs_csv *csv = NULL;
    pcs_page_path(page, "study.csv", path);
    PCS_TRY(pcs_csv_read(page->ctx, path, true, &csv));
    s.csv = csv;
    PCS_TRY(study_columns(&s));
    PCS_TRY(study_group(&s));
    PCS_TRY(study_place(&s));
    PCS_TRY(study_about(page, &about));
    const char *source = about == NULL ? "" : pcs_json_string(about, "case");
    study_title(source[0] == '\0' ? page->folder : source, title);
    pcs_page_begin(page, title);
    study_head(&s);
    study_table(&s, about);
    PCS_TRY(study_charts(&s));
    PCS_TRY(pcs_report_pictures(page));
    PCS_TRY(study_case(&s));
    study_again(&s, about);
    pcs_report_citation(page, title, about == NULL ? "" : pcs_json_string(about, "version"));
    pcs_page_end(page);
    return PCS_OK;
}
