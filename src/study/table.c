// Writers of the table.

#include "study/table.h"
#include "output/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BUFFER = 1 << 16, JSON_ROOM = 4096, SHOWN_POINTS = 100, CELL_ROOM = 64 };

const char *pcs_run_text(pcs_run_end end)
{
    static const char *const texts[] = { "not run", "not finished", "done", "done", "refused", "failed", "broke" };
    return texts[end];
}

const pcs_run *pcs_table_run(const pcs_table *t, int point)
{
    const pcs_run *runs = t->runs + point * t->plan->nlevel, *worst = &runs[t->plan->nlevel - 1];
    for (int k = 0; k < t->plan->nlevel; k++)
        if (runs[k].end != PCS_RUN_DONE && runs[k].end != PCS_RUN_KEPT) worst = &runs[k];
    return worst;
}

static const double *table_values(const pcs_table *t, int point)
{
    int finest = point * t->plan->nlevel + t->plan->nlevel - 1;
    return t->values + (size_t)finest * (size_t)t->plan->nmeasure;
}

static void table_csv_text(pcs_file *f, const char *text)
{
    bool needs_quotes = strpbrk(text, ",\"\n") != NULL;
    if (!needs_quotes) {
        pcs_file_text(f, text);
        return;
    }
    pcs_file_text(f, "\"");
    for (; *text != '\0'; text++) pcs_file_print(f, *text == '"' ? "\"\"" : "%c", *text);
    pcs_file_text(f, "\"");
}

static void table_csv_number(pcs_file *f, double x)
{
    pcs_file_text(f, ",");
    if (isfinite(x)) pcs_file_number(f, x);
}

static void table_csv_head(const pcs_table *t, pcs_file *f)
{
    const pcs_plan *plan = t->plan;
    for (int k = 0; k < plan->nkey; k++) {
        table_csv_text(f, plan->keys[k]);
        pcs_file_text(f, ",");
    }
    pcs_file_text(f, "run,status");
    for (int m = 0; m < plan->nmeasure; m++) {
        static const char *const more[] = { ".limit", ".bound", ".order", ".convergence" };
        pcs_file_text(f, ",");
        table_csv_text(f, plan->measures[m].name);
        for (int i = 0; i < (t->convergence == NULL ? 0 : 4); i++) {
            char name[JSON_ROOM];
            snprintf(name, sizeof name, "%s%s", plan->measures[m].name, more[i]);
            pcs_file_text(f, ",");
            table_csv_text(f, name);
        }
    }
    pcs_file_text(f, ",reason\n");
}

static void table_csv_row(const pcs_table *t, pcs_file *f, int point)
{
    const pcs_plan *plan = t->plan;
    const pcs_run *run = pcs_table_run(t, point);
    for (int k = 0; k < plan->nkey; k++) {
        const char *value = pcs_plan_value(plan, point, k);
        table_csv_text(f, value == NULL ? "" : value);
        pcs_file_text(f, ",");
    }
    pcs_file_print(f, "%s,%s", run->name, pcs_run_text(run->end));
    for (int m = 0; m < plan->nmeasure; m++) {
        table_csv_number(f, table_values(t, point)[m]);
        if (t->convergence == NULL) continue;
        const pcs_convergence *c = &t->convergence[point * plan->nmeasure + m];
        table_csv_number(f, c->limit);
        table_csv_number(f, c->bound);
        table_csv_number(f, c->order);
        pcs_file_print(f, ",%s", c->kind);
    }
    pcs_file_text(f, ",");
    table_csv_text(f, run->reason);
    pcs_file_text(f, "\n");
}

static void table_json_text(pcs_file *f, const char *text)
{
    char escaped[JSON_ROOM];
    pcs_json_text(text, sizeof escaped, escaped);
    pcs_file_print(f, "\"%s\"", escaped);
}

static void table_json_number(pcs_file *f, const char *name, double x, const char *after)
{
    table_json_text(f, name);
    pcs_file_text(f, ": ");
    if (isfinite(x)) pcs_file_number(f, x);
    else pcs_file_text(f, "null");
    pcs_file_text(f, after);
}

static void table_json_measure(const pcs_table *t, pcs_file *f, int point, int m)
{
    const pcs_plan *plan = t->plan;
    table_json_text(f, plan->measures[m].name);
    pcs_file_text(f, ": { ");
    table_json_number(f, "value", table_values(t, point)[m], "");
    if (t->convergence != NULL) {
        const pcs_convergence *c = &t->convergence[point * plan->nmeasure + m];
        pcs_file_text(f, ", ");
        table_json_number(f, "limit", c->limit, ", ");
        table_json_number(f, "bound", c->bound, ", ");
        table_json_number(f, "order", c->order, ", ");
        pcs_file_print(f, "\"convergence\": \"%s\", \"levels\": [", c->kind);
        for (int k = 0; k < plan->nlevel; k++) {
            double x = t->values[(size_t)(point * plan->nlevel + k) * (size_t)plan->nmeasure + (size_t)m];
            if (k > 0) pcs_file_text(f, ", ");
            if (isfinite(x)) pcs_file_number(f, x);
            else pcs_file_text(f, "null");
        }
        pcs_file_text(f, "]");
    }
    pcs_file_text(f, m + 1 < plan->nmeasure ? " },\n" : " }\n");
}

static void table_json_row(const pcs_table *t, pcs_file *f, int point)
{
    const pcs_plan *plan = t->plan;
    const pcs_run *run = pcs_table_run(t, point);
    pcs_file_text(f, "    {\n      \"parameters\": {");
    for (int k = 0; k < plan->nkey; k++) {
        const char *value = pcs_plan_value(plan, point, k);
        pcs_file_text(f, k == 0 ? " " : ", ");
        table_json_text(f, plan->keys[k]);
        pcs_file_text(f, ": ");
        if (value == NULL) pcs_file_text(f, "null");
        else table_json_text(f, value);
    }
    pcs_file_print(f, " },\n      \"run\": \"%s\",\n      \"status\": \"%s\",\n      \"reason\": ", run->name,
                   pcs_run_text(run->end));
    table_json_text(f, run->reason);
    pcs_file_text(f, ",\n      \"measures\": {\n");
    for (int m = 0; m < plan->nmeasure; m++) {
        pcs_file_text(f, "        ");
        table_json_measure(t, f, point, m);
    }
    pcs_file_text(f, point + 1 < plan->npoint ? "      }\n    },\n" : "      }\n    }\n");
}

pcs_status pcs_table_write(const pcs_table *t, const char *directory)
{
    const pcs_plan *plan = t->plan;
    pcs_file *f;
    PCS_TRY(pcs_file_create(plan->ctx, directory, sizeof "study.json", BUFFER, &f));
    PCS_TRY(pcs_file_open(f, "study.csv"));
    table_csv_head(t, f);
    for (int p = 0; p < plan->npoint; p++) table_csv_row(t, f, p);
    PCS_TRY(pcs_file_commit(f));
    PCS_TRY(pcs_file_open(f, "study.json"));
    pcs_file_text(f, "{\n  \"case\": ");
    table_json_text(f, plan->case_path);
    pcs_file_text(f, ",\n  \"points\": [\n");
    for (int p = 0; p < plan->npoint; p++) table_json_row(t, f, p);
    pcs_file_text(f, "  ]\n}\n");
    return pcs_file_commit(f);
}

// A cell of the screen: a value of a key, a measure with its error bar, or the reason why there is none.
static void table_cell(const pcs_table *t, int point, int column, char cell[CELL_ROOM])
{
    const pcs_plan *plan = t->plan;
    if (column < plan->nkey) {
        const char *value = pcs_plan_value(plan, point, column);
        snprintf(cell, CELL_ROOM, "%s", value == NULL ? "-" : value);
        return;
    }
    int m = column - plan->nkey;
    double x = table_values(t, point)[m];
    const pcs_convergence *c = t->convergence == NULL ? NULL : &t->convergence[point * plan->nmeasure + m];
    if (!isfinite(x)) snprintf(cell, CELL_ROOM, "-");
    else if (c == NULL) snprintf(cell, CELL_ROOM, "%.6g", x);
    else if (strcmp(c->kind, "converges") == 0)
        snprintf(cell, CELL_ROOM, "%.6g +- %.1g (order %.1f)", c->value, c->bound, c->order);
    else if (isfinite(c->bound)) snprintf(cell, CELL_ROOM, "%.6g +- %.1g (%s)", c->value, c->bound, c->kind);
    else snprintf(cell, CELL_ROOM, "%.6g (%s)", c->value, c->kind);
}

static void table_put(const pcs_study_options *options, const char *text, int width, bool is_last)
{
    char line[2 * JSON_ROOM];
    snprintf(line, sizeof line, "%-*s%s", is_last ? 0 : width + 2, text, is_last ? "\n" : "");
    options->show(options->show_user, line);
}

void pcs_table_show(const pcs_table *t, const pcs_study_options *options)
{
    const pcs_plan *plan = t->plan;
    int ncolumn = plan->nkey + plan->nmeasure, npoint = plan->npoint < SHOWN_POINTS ? plan->npoint : SHOWN_POINTS;
    int width[PCS_STUDY_KEYS + 256] = { 0 };
    char cell[CELL_ROOM];
    if (ncolumn > (int)(sizeof width / sizeof *width)) return;
    for (int c = 0; c < ncolumn; c++) {
        const char *name = c < plan->nkey ? plan->keys[c] : plan->measures[c - plan->nkey].name;
        width[c] = (int)strlen(name);
        for (int p = 0; p < npoint; p++) {
            table_cell(t, p, c, cell);
            if ((int)strlen(cell) > width[c]) width[c] = (int)strlen(cell);
        }
        table_put(options, name, width[c], c + 1 == ncolumn);
    }
    for (int p = 0; p < npoint; p++) {
        const pcs_run *run = pcs_table_run(t, p);
        bool is_done = run->end == PCS_RUN_DONE || run->end == PCS_RUN_KEPT;
        for (int c = 0; c < (is_done ? ncolumn : plan->nkey); c++) {
            table_cell(t, p, c, cell);
            table_put(options, cell, width[c], is_done && c + 1 == ncolumn);
        }
        if (is_done) continue;
        char text[JSON_ROOM];
        snprintf(text, sizeof text, "%s: %s", pcs_run_text(run->end), run->reason);
        table_put(options, text, 0, true);
    }
    if (npoint == plan->npoint) return;
    snprintf(cell, sizeof cell, "... and %d more in study.csv", plan->npoint - npoint);
    table_put(options, cell, 0, true);
}
