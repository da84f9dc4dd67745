// Writers of the table.

#include "study/table.h"
#include "output/file.h"
#include "percuss.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BUFFER = 1 << 16, TEXT_ROOM = 4096, SHOWN_POINTS = 100, CELL_ROOM = 128 };

static const char *table_text(pcs_run_end end)
{
    static const char *const texts[] = { "not run", "not finished", "done", "done", "refused", "failed", "broke" };
    return texts[end];
}

// The worst run of a point.
static const pcs_run *table_run(const pcs_table *t, int point)
{
    const pcs_run *runs = t->runs + point * t->plan->nlevel, *worst = &runs[t->plan->nlevel - 1];
    for (int k = 0; k < t->plan->nlevel; k++)
        if (runs[k].end != PCS_RUN_DONE && runs[k].end != PCS_RUN_KEPT) worst = &runs[k];
    return worst;
}

static const pcs_measured *table_values(const pcs_table *t, int point)
{
    int finest = point * t->plan->nlevel + t->plan->nlevel - 1;
    return t->values + (size_t)finest * (size_t)t->plan->nmeasure;
}

static void table_number(const pcs_table *t, pcs_file *f, double x)
{
    char text[PCS_NUMBER_ROOM];
    pcs_number_text(t->digits, x, text);
    pcs_file_text(f, text);
}

static void table_csv_number(const pcs_table *t, pcs_file *f, double x)
{
    pcs_file_text(f, ",");
    if (isfinite(x)) table_number(t, f, x);
}

// Figures of a measure at a point.
static const pcs_convergence *table_convergence(const pcs_table *t, int point, int m)
{
    if (t->convergence == NULL) return NULL;
    size_t place = (size_t)point * (size_t)t->plan->nmeasure + (size_t)m;
    return t->convergence + place * (size_t)pcs_table_nrefined(t->plan);
}

static void table_csv_names(pcs_file *f, const char *measure, const char *refined)
{
    static const char *const more[] = { "limit", "bound", "order", "convergence" };
    for (int i = 0; i < 4; i++) {
        char name[TEXT_ROOM];
        snprintf(name, sizeof name, "%s.%s%s", measure, refined, more[i]);
        pcs_file_text(f, ",");
        pcs_file_field(f, name);
    }
}

static void table_csv_head(const pcs_table *t, pcs_file *f)
{
    const pcs_plan *plan = t->plan;
    for (int k = 0; k < plan->nkey; k++) {
        pcs_file_field(f, plan->keys[k]);
        pcs_file_text(f, ",");
    }
    pcs_file_text(f, "run,status");
    for (int m = 0; m < plan->nmeasure; m++) {
        static const char *const refined[] = { "", "mesh.", "step." };
        pcs_file_text(f, ",");
        pcs_file_field(f, plan->measures[m].name);
        for (int k = 0; k < (t->convergence == NULL ? 0 : pcs_table_nrefined(plan)); k++)
            table_csv_names(f, plan->measures[m].name, refined[k]);
    }
    pcs_file_text(f, ",reason\n");
}

static void table_csv_row(const pcs_table *t, pcs_file *f, int point)
{
    const pcs_plan *plan = t->plan;
    const pcs_run *run = table_run(t, point);
    for (int k = 0; k < plan->nkey; k++) {
        const char *value = pcs_plan_value(plan, point, k);
        pcs_file_field(f, value == NULL ? "" : value);
        pcs_file_text(f, ",");
    }
    pcs_file_print(f, "%s,%s", run->name, table_text(run->end));
    for (int m = 0; m < plan->nmeasure; m++) {
        table_csv_number(t, f, table_values(t, point)[m].value);
        const pcs_convergence *c = table_convergence(t, point, m);
        for (int k = 0; k < (c == NULL ? 0 : pcs_table_nrefined(plan)); k++) {
            table_csv_number(t, f, c[k].limit);
            table_csv_number(t, f, c[k].bound);
            table_csv_number(t, f, c[k].order);
            pcs_file_print(f, ",%s", c[k].kind);
        }
    }
    pcs_file_text(f, ",");
    pcs_file_field(f, run->reason);
    pcs_file_text(f, "\n");
}

static void table_json_number(const pcs_table *t, pcs_file *f, const char *name, double x, const char *after)
{
    pcs_file_json(f, name);
    pcs_file_text(f, ": ");
    if (isfinite(x)) table_number(t, f, x);
    else pcs_file_text(f, "null");
    pcs_file_text(f, after);
}

// Order, limit and bound, with the values on the levels that gave them.
static void table_json_convergence(const pcs_table *t, pcs_file *f, const pcs_convergence *c,
                                   const pcs_measured *values, bool of_mesh)
{
    int levels[PCS_STUDY_LEVELS], count = pcs_plan_sequence(t->plan, of_mesh, levels);
    table_json_number(t, f, "limit", c->limit, ", ");
    table_json_number(t, f, "bound", c->bound, ", ");
    table_json_number(t, f, "order", c->order, ", ");
    pcs_file_print(f, "\"convergence\": \"%s\"", c->kind);
    for (int k = 0; k < count; k++) {
        double x = values[(size_t)levels[k] * (size_t)t->plan->nmeasure].value;
        pcs_file_text(f, k == 0 ? ", \"levels\": [" : ", ");
        if (isfinite(x)) table_number(t, f, x);
        else pcs_file_text(f, "null");
    }
    pcs_file_text(f, "]");
}

static void table_json_measure(const pcs_table *t, pcs_file *f, int point, int m)
{
    const pcs_plan *plan = t->plan;
    const pcs_convergence *c = table_convergence(t, point, m);
    const pcs_measured *values = t->values + (size_t)point * (size_t)plan->nlevel * (size_t)plan->nmeasure + (size_t)m;
    pcs_file_json(f, plan->measures[m].name);
    pcs_file_text(f, ": { ");
    table_json_number(t, f, "value", table_values(t, point)[m].value, "");
    if (c != NULL && !plan->is_separate) {
        pcs_file_text(f, ", ");
        table_json_convergence(t, f, c, values, true);
    } else if (c != NULL) {
        pcs_file_text(f, ", ");
        table_json_number(t, f, "limit", c->limit, ", ");
        table_json_number(t, f, "bound", c->bound, ", ");
        pcs_file_print(f, "\"convergence\": \"%s\"", c->kind);
        for (int k = 0; k < 2; k++) {
            pcs_file_text(f, k == 0 ? ", \"mesh\": { " : ", \"step\": { ");
            table_json_convergence(t, f, &c[1 + k], values, k == 0);
            pcs_file_text(f, " }");
        }
    }
    pcs_file_text(f, m + 1 < plan->nmeasure ? " },\n" : " }\n");
}

static void table_json_row(const pcs_table *t, pcs_file *f, int point)
{
    const pcs_plan *plan = t->plan;
    const pcs_run *run = table_run(t, point);
    pcs_file_text(f, "    {\n      \"parameters\": {");
    for (int k = 0; k < plan->nkey; k++) {
        const char *value = pcs_plan_value(plan, point, k);
        pcs_file_text(f, k == 0 ? " " : ", ");
        pcs_file_json(f, plan->keys[k]);
        pcs_file_text(f, ": ");
        if (value == NULL) pcs_file_text(f, "null");
        else pcs_file_json(f, value);
    }
    pcs_file_print(f, " },\n      \"run\": \"%s\",\n      \"status\": \"%s\",\n      \"reason\": ", run->name,
                   table_text(run->end));
    pcs_file_json(f, run->reason);
    pcs_file_text(f, ",\n      \"measures\": {\n");
    for (int m = 0; m < plan->nmeasure; m++) {
        pcs_file_text(f, "        ");
        table_json_measure(t, f, point, m);
    }
    pcs_file_text(f, point + 1 < plan->npoint ? "      }\n    },\n" : "      }\n    }\n");
}

static void table_json_word(pcs_file *f, const char *option, const char *text)
{
    if (option != NULL) pcs_file_print(f, ", \"%s\"", option);
    pcs_file_text(f, ", ");
    pcs_file_json(f, text);
}

// The command that makes the study again, word by word.
static void table_json_command(pcs_file *f, const pcs_study_options *o)
{
    pcs_file_text(f, ",\n  \"command\": [\"percuss\", \"study\"");
    table_json_word(f, NULL, o->path);
    for (int i = 0; i < o->nset; i++) table_json_word(f, "--set", o->set[i]);
    for (int i = 0; i < o->nvary; i++) table_json_word(f, "--vary", o->vary[i]);
    for (int i = 0; i < o->nmeasure; i++) table_json_word(f, "--measure", o->measure[i]);
    if (o->refine != NULL) table_json_word(f, "--refine", o->refine);
    if (o->jobs >= 0) pcs_file_print(f, ", \"--jobs\", \"%d\"", o->jobs);
    if (o->keeps_output) pcs_file_text(f, ", \"--keep\"");
    table_json_word(f, "-o", o->directory);
    pcs_file_text(f, "]");
}

static void table_json_refine(const pcs_table *t, pcs_file *f)
{
    const pcs_refinement *of[] = { &t->plan->mesh, &t->plan->step };
    if (t->plan->nlevel == 1) return;
    pcs_file_text(f, ",\n  \"refine\": { ");
    for (int k = 0; k < 2; k++)
        if (of[k]->levels > 0)
            pcs_file_print(f, "\"%s\": [%d, %d], ", k == 0 ? "mesh" : "step", of[k]->factor, of[k]->levels);
    if (t->not_refined != NULL) pcs_file_print(f, "\"not_refined\": \"%s\", ", t->not_refined);
    pcs_file_print(f, "\"separately\": %s }", t->plan->is_separate ? "true" : "false");
}

// What was asked for, whether in a study file or on the command line.
static void table_json_head(const pcs_table *t, const pcs_study_options *options, pcs_file *f)
{
    const pcs_plan *plan = t->plan;
    pcs_file_text(f, "{\n  \"version\": ");
    pcs_file_json(f, percuss_version());
    pcs_file_text(f, ",\n  \"case\": ");
    pcs_file_json(f, plan->case_path);
    table_json_command(f, options);
    for (int i = 0; i < plan->nset; i++) {
        pcs_file_text(f, i == 0 ? ",\n  \"set\": [" : ", ");
        pcs_file_json(f, plan->set[i]);
    }
    pcs_file_text(f, plan->nset > 0 ? "]" : "");
    for (int m = 0; m < plan->nmeasure; m++) {
        pcs_file_text(f, m == 0 ? ",\n  \"measure\": { " : ", ");
        pcs_file_json(f, plan->measures[m].name);
        pcs_file_text(f, ": ");
        pcs_file_json(f, plan->measures[m].place);
    }
    pcs_file_text(f, plan->nmeasure > 0 ? " }" : "");
    table_json_refine(t, f);
    pcs_file_print(f, ",\n  \"jobs\": %d,\n  \"keep\": %s,\n  \"points\": [\n", plan->jobs,
                   plan->keeps_output ? "true" : "false");
}

pcs_status pcs_table_write(const pcs_table *t, const pcs_study_options *options)
{
    const pcs_plan *plan = t->plan;
    const char *directory = options->directory;
    pcs_file *f;
    PCS_TRY(pcs_file_create(plan->ctx, directory, sizeof "study.json", BUFFER, &f));
    PCS_TRY(pcs_file_open(f, "study.csv"));
    table_csv_head(t, f);
    for (int p = 0; p < plan->npoint; p++) table_csv_row(t, f, p);
    PCS_TRY(pcs_file_commit(f));
    PCS_TRY(pcs_file_open(f, "study.json"));
    table_json_head(t, options, f);
    for (int p = 0; p < plan->npoint; p++) table_json_row(t, f, p);
    pcs_file_text(f, "  ]\n}\n");
    return pcs_file_commit(f);
}

// "order 2.0", or what it does else.
static const char *table_kind(const pcs_convergence *c, char buffer[24])
{
    if (strcmp(c->kind, "converges") == 0) snprintf(buffer, 24, "order %.1f", c->order);
    else snprintf(buffer, 24, "%s", c->kind);
    return buffer;
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
    double x = table_values(t, point)[m].value;
    const pcs_convergence *c = table_convergence(t, point, m);
    char bound[32] = "";
    if (c != NULL && isfinite(c->bound)) snprintf(bound, sizeof bound, " +- %.1g", c->bound);
    if (!isfinite(x)) snprintf(cell, CELL_ROOM, "-");
    else if (c == NULL) snprintf(cell, CELL_ROOM, "%.6g", x);
    else if (plan->is_separate) {
        char mesh[24], step[24];
        snprintf(cell, CELL_ROOM, "%.6g%s (mesh: %s, step: %s)", x, bound, table_kind(&c[1], mesh),
                 table_kind(&c[2], step));
    } else {
        char kind[24];
        snprintf(cell, CELL_ROOM, "%.6g%s (%s)", x, bound, table_kind(c, kind));
    }
}

static void table_put(const pcs_study_options *options, const char *text, int width, bool is_last)
{
    char line[2 * TEXT_ROOM];
    snprintf(line, sizeof line, "%-*s%s", is_last ? 0 : width + 2, text, is_last ? "\n" : "");
    options->show(options->show_user, line);
}

// An error bar of the mesh is none of the result.
static void table_show_not_refined(const pcs_table *t, const pcs_study_options *options)
{
    char text[TEXT_ROOM];
    const pcs_refinement *of = t->plan->mesh.levels > 0 ? &t->plan->mesh : &t->plan->step;
    if (t->not_refined == NULL) return;
    snprintf(text, sizeof text,
             "Limits, bounds and orders are those of the %s alone: the error of the %s is not in them; "
             "--refine \"mesh=%d,%d step=%d,%d\" has both.",
             t->plan->mesh.levels > 0 ? "mesh" : "step", t->not_refined, of->factor, of->levels, of->factor,
             of->levels);
    table_put(options, text, 0, true);
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
        const pcs_run *run = table_run(t, p);
        bool is_done = run->end == PCS_RUN_DONE || run->end == PCS_RUN_KEPT;
        for (int c = 0; c < (is_done ? ncolumn : plan->nkey); c++) {
            table_cell(t, p, c, cell);
            table_put(options, cell, width[c], is_done && c + 1 == ncolumn);
        }
        if (is_done) continue;
        char text[TEXT_ROOM];
        snprintf(text, sizeof text, "%s: %s", table_text(run->end), run->reason);
        table_put(options, text, 0, true);
    }
    if (npoint < plan->npoint) {
        snprintf(cell, sizeof cell, "... and %d more in study.csv", plan->npoint - npoint);
        table_put(options, cell, 0, true);
    }
    table_show_not_refined(t, options);
}
