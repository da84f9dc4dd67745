// The report of a run, from summary.json, history.csv and case.resolved.yaml.

#include "case/json.h"
#include "report/chart.h"
#include "report/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_CONTACTS = 100, SHOWN_REACTIONS = 100 };

static void run_head(const pcs_page *page, const pcs_yaml *summary)
{
    const char *ending = pcs_json_string(summary, "ending"), *reason = pcs_json_string(summary, "reason");
    pcs_page_markup(page, "<p class=\"soft\">");
    pcs_page_text(page, pcs_json_string(summary, "case"));
    pcs_page_markup(page, ": ");
    pcs_page_text(page, ending);
    pcs_page_markup(page, " at t = ");
    pcs_page_quantity(page, pcs_json_number(summary, "time.reached"), "s");
    pcs_page_print(page, " after %.0f steps", pcs_json_number(summary, "steps.done"));
    const char *version = pcs_json_string(summary, "version");
    pcs_page_markup(page, version[0] == '\0' ? "" : ", by Percuss ");
    pcs_page_text(page, version);
    pcs_page_markup(page, ".</p>\n");
    const char *question = pcs_json_string(summary, "question");
    if (question[0] != '\0') {
        pcs_page_markup(page, "<p class=\"verdict broken\">A question: ");
        pcs_page_text(page, question);
        pcs_page_markup(page, "</p>\n");
    }
    if (reason[0] == '\0') return;
    pcs_page_markup(page, "<p class=\"verdict broken\">The run ended early: ");
    pcs_page_text(page, reason);
    pcs_page_markup(page, "</p>\n");
}

static bool run_is(const pcs_yaml *map, const char *place, const char *text)
{
    return strcmp(pcs_json_string(map, place), text) == 0;
}

// The check that came nearest to its tolerance, of those that count.
static const pcs_yaml *run_closest(const pcs_yaml *checks, int *count)
{
    const pcs_yaml *closest = NULL;
    *count = 0;
    for (int i = 0; i < pcs_yaml_count(checks); i++) {
        const pcs_yaml *check = pcs_yaml_item(checks, i);
        if (run_is(check, "verdict", "reported")) continue;
        ++*count;
        double ratio = pcs_json_number(check, "worst_ratio");
        if (closest == NULL || ratio > pcs_json_number(closest, "worst_ratio")) closest = check;
    }
    return closest;
}

// "'gap >= 0', came to 0.04 % of its tolerance, at t = 0.5 s".
static void run_check_words(const pcs_page *page, const pcs_yaml *check)
{
    char number[PCS_HTML_NUMBER];
    pcs_page_markup(page, "‘");
    pcs_page_text(page, pcs_json_string(check, "name"));
    pcs_page_print(page, "’, came to %s %% of its tolerance",
                   pcs_html_number(100.0 * pcs_json_number(check, "worst_ratio"), 2, number));
    if (!(pcs_json_number(check, "worst_ratio") > 0.0)) return;
    pcs_page_markup(page, ", at t = ");
    pcs_page_quantity(page, pcs_json_number(check, "worst_time"), "s");
}

static void run_certificate_words(const pcs_page *page, const pcs_yaml *summary, const pcs_yaml *checks)
{
    int count = 0;
    const pcs_yaml *closest = run_closest(checks, &count);
    bool is_held = !run_is(summary, "certificate.verdict", "broken");
    const char *words = is_held ? "Every check held." : "The certificate is broken.";
    if (run_is(summary, "certificate.verdict", "marked")) words = "Every check held, but some are marked.";
    pcs_page_print(page, "<p class=\"verdict%s\"><strong>%s</strong> ", is_held ? "" : " broken", words);
    pcs_page_print(page,
                   "After each of the %.0f steps Percuss held %d conditions against the state that it had accepted, "
                   "with formulas of their own: contact laws, equations of motion, momentum and energy. ",
                   pcs_json_number(summary, "steps.done"), count);
    if (!is_held) {
        pcs_page_markup(page, "The first that did not hold is ‘");
        pcs_page_text(page, pcs_json_string(summary, "certificate.broken"));
        pcs_page_markup(page, "’. ");
    }
    if (closest != NULL) {
        pcs_page_markup(page, is_held ? "The closest call, " : "The worst, ");
        run_check_words(page, closest);
        pcs_page_markup(page, ".");
    }
    pcs_page_markup(page, "</p>\n");
}

static void run_check(const pcs_page *page, const pcs_yaml *check)
{
    static const char *const columns[] = { "worst_value", "tolerance", "worst_ratio", "worst_time" };
    pcs_page_markup(page, "<tr><td>");
    pcs_page_text(page, pcs_json_string(check, "name"));
    pcs_page_markup(page, "</td><td>");
    pcs_page_text(page, pcs_json_string(check, "unit"));
    pcs_page_markup(page, "</td>");
    for (int k = 0; k < 4; k++) {
        char number[PCS_HTML_NUMBER];
        pcs_page_print(page, "<td class=\"n\">%s</td>",
                       pcs_html_number(pcs_json_number(check, columns[k]), k < 3 ? 3 : 6, number));
    }
    pcs_page_markup(page, "<td>");
    pcs_page_text(page, pcs_json_string(check, "verdict"));
    pcs_page_markup(page, "</td></tr>\n");
}

static void run_certificate(const pcs_page *page, const pcs_yaml *summary)
{
    const pcs_yaml *checks = pcs_json_at(summary, "certificate.checks");
    if (checks == NULL || pcs_json_count(summary, "certificate.checks") == 0) return;
    pcs_page_section(page, "certificate", "Certificate");
    run_certificate_words(page, summary, checks);
    pcs_page_markup(page, "<div class=\"scroll checks\" tabindex=\"0\"><table>\n<thead><tr><th>check</th><th>unit</th>"
                          "<th class=\"n\">worst</th><th class=\"n\">allowed</th><th class=\"n\">ratio</th>"
                          "<th class=\"n\">at t [s]</th><th>verdict</th></tr></thead>\n<tbody>\n");
    for (int i = 0; i < pcs_yaml_count(checks); i++) run_check(page, pcs_yaml_item(checks, i));
    pcs_page_markup(page, "</tbody></table></div>\n");
    pcs_page_section_end(page);
}

static void run_fact(const pcs_page *page, const char *name, double value, const char *unit)
{
    if (!isfinite(value)) return;
    pcs_page_print(page, "<tr><th scope=\"row\">%s</th><td class=\"n\">", name);
    pcs_page_quantity(page, value, unit);
    pcs_page_markup(page, "</td></tr>\n");
}

static void run_word(const pcs_page *page, const char *name, const char *text)
{
    if (text[0] == '\0') return;
    pcs_page_print(page, "<tr><th scope=\"row\">%s</th><td class=\"n\">", name);
    pcs_page_text(page, text);
    pcs_page_markup(page, "</td></tr>\n");
}

static void run_model(const pcs_page *page, const pcs_yaml *summary)
{
    pcs_page_section(page, "model", "Model and method");
    pcs_page_markup(page, "<div class=\"charts\">\n<table>\n<caption class=\"soft\">Model</caption>\n");
    run_fact(page, "points", pcs_json_number(summary, "model.points"), "");
    run_fact(page, "cells", pcs_json_number(summary, "model.cells"), "");
    run_fact(page, "degrees of freedom", pcs_json_number(summary, "model.dofs"), "");
    run_fact(page, "contact points", pcs_json_number(summary, "model.contact_points"), "");
    run_fact(page, "conditions of joints", pcs_json_number(summary, "model.joint_rows"), "");
    pcs_page_markup(page, "</table>\n<table>\n<caption class=\"soft\">Method</caption>\n");
    run_word(page, "scheme", pcs_json_string(summary, "scheme"));
    run_word(page, "step solver", pcs_json_string(summary, "solver"));
    run_word(page, "linear algebra, mass", pcs_json_string(summary, "mass_backend"));
    run_word(page, "linear algebra, step", pcs_json_string(summary, "step_backend"));
    run_fact(page, "step size", pcs_json_number(summary, "time.step"), "s");
    run_fact(page, "end of the run", pcs_json_number(summary, "time.end"), "s");
    run_fact(page, "iterations a step, mean", pcs_json_number(summary, "steps.iterations_mean"), "");
    run_fact(page, "iterations a step, most", pcs_json_number(summary, "steps.iterations_max"), "");
    run_fact(page, "steps covered by smaller ones", pcs_json_number(summary, "steps.cut"), "");
    run_fact(page, "wall time", pcs_json_number(summary, "wall_time.total"), "s");
    pcs_page_markup(page, "</table>\n</div>\n");
    pcs_page_section_end(page);
}

typedef struct contact_column {
    const char *key, *title;
    bool is_needed; // also where it is 0 for all contacts
} contact_column;

static const contact_column contact_columns[] = {
    { "interval_count", "closed, times", true },     { "impacts", "impacts", true },
    { "time_in_contact", "in contact [s]", true },   { "mean_force", "mean force [N]", true },
    { "peak_force", "peak force [N]", true },        { "filtered_peak_force", "peak force, filtered [N]", false },
    { "total_impulse", "impulse [N s]", true },      { "impact_loss", "impact loss [J]", false },
    { "friction_loss", "friction loss [J]", false }, { "sliding_distance", "sliding distance [m]", false },
    { "min_gap", "smallest gap [m]", true },
};
enum { CONTACT_COLUMNS = sizeof contact_columns / sizeof *contact_columns };

// Has a contact anything to say in this column?
static bool run_has_column(const pcs_yaml *contacts, const contact_column *column)
{
    bool is_shown = column->is_needed;
    for (int i = 0; i < pcs_yaml_count(contacts) && !is_shown; i++)
        is_shown = fabs(pcs_json_number(pcs_yaml_item(contacts, i), column->key)) > 0.0;
    return is_shown;
}

static void run_contact(const pcs_page *page, const pcs_yaml *contact, const bool is_shown[CONTACT_COLUMNS])
{
    pcs_page_markup(page, "<tr><th scope=\"row\">");
    pcs_page_text(page, pcs_json_string(contact, "name"));
    pcs_page_markup(page, "</th>");
    for (int k = 0; k < CONTACT_COLUMNS; k++)
        if (is_shown[k]) pcs_page_cell(page, pcs_json_number(contact, contact_columns[k].key));
    pcs_page_markup(page, "</tr>\n");
}

static void run_contact_table(const pcs_page *page, const pcs_yaml *summary)
{
    const pcs_yaml *contacts = pcs_json_at(summary, "contacts");
    int count = pcs_yaml_count(contacts);
    bool is_shown[CONTACT_COLUMNS];
    pcs_page_markup(page, "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th>contact</th>");
    for (int k = 0; k < CONTACT_COLUMNS; k++) {
        is_shown[k] = run_has_column(contacts, &contact_columns[k]);
        if (is_shown[k]) pcs_page_print(page, "<th class=\"n\">%s</th>", contact_columns[k].title);
    }
    pcs_page_markup(page, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < count && i < SHOWN_CONTACTS; i++) run_contact(page, pcs_yaml_item(contacts, i), is_shown);
    pcs_page_markup(page, "</tbody></table></div>\n");
    double window = pcs_json_number(summary, "filter_window");
    if (window > 0.0) {
        pcs_page_markup(page, "<p class=\"soft\">The filtered peak is that of the mean over ");
        pcs_page_quantity(page, window, "s");
        pcs_page_markup(page, ".</p>\n");
    }
    if (count > SHOWN_CONTACTS)
        pcs_page_print(page, "<p class=\"soft\">%d more are in summary.json.</p>\n", count - SHOWN_CONTACTS);
}

static void run_reactions(const pcs_page *page, const pcs_yaml *summary, const char *list)
{
    int count = pcs_json_count(summary, list);
    if (count == 0) return;
    pcs_page_print(page,
                   "<h3>Reactions of %s</h3>\n<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th>name"
                   "</th><th class=\"n\">peak force [N]</th><th class=\"n\">at t [s]</th>"
                   "<th class=\"n\">peak moment [N m]</th><th class=\"n\">at t [s]</th></tr></thead>\n<tbody>\n",
                   list);
    for (int i = 0; i < count && i < SHOWN_REACTIONS; i++) {
        const pcs_yaml *item = pcs_yaml_item(pcs_json_at(summary, list), i);
        pcs_page_markup(page, "<tr><th scope=\"row\">");
        pcs_page_text(page, pcs_json_string(item, "name"));
        pcs_page_markup(page, "</th>");
        pcs_page_cell(page, pcs_json_number(item, "peak_force"));
        pcs_page_cell(page, pcs_json_number(item, "peak_force_time"));
        pcs_page_cell(page, pcs_json_number(item, "peak_moment"));
        pcs_page_cell(page, pcs_json_number(item, "peak_moment_time"));
        pcs_page_markup(page, "</tr>\n");
    }
    pcs_page_markup(page, "</tbody></table></div>\n");
}

// Peaks of the table may lie between the points of a curve.
static void run_note_gaps(const pcs_page *page, const pcs_yaml *summary, const pcs_csv *history)
{
    double done = pcs_json_number(summary, "steps.done");
    if (!(history->nrow - 1 < done)) return;
    pcs_page_print(page,
                   "<p class=\"soft\">The table knows all %.0f steps, the curves the %d of history.csv: a peak may lie "
                   "between their points.</p>\n",
                   done, history->nrow - 1);
}

static pcs_status run_contacts(const pcs_page *page, const pcs_yaml *summary, const pcs_csv *history)
{
    int nreaction = pcs_json_count(summary, "joints") + pcs_json_count(summary, "supports");
    int ncontact = pcs_json_count(summary, "contacts");
    if (ncontact + nreaction == 0) return PCS_OK;
    pcs_page_section(page, "contacts", nreaction > 0 ? "Contacts, joints and supports" : "Contacts");
    if (ncontact > 0) run_contact_table(page, summary);
    if (ncontact > 0 && history != NULL) run_note_gaps(page, summary, history);
    if (ncontact > 0 && history != NULL) PCS_TRY(pcs_report_contacts(page, history));
    run_reactions(page, summary, "joints");
    run_reactions(page, summary, "supports");
    pcs_page_section_end(page);
    return PCS_OK;
}

static void run_ledger(const pcs_page *page, const pcs_yaml *energy)
{
    static const struct {
        const char *key, *name;
        double sign;
    } lines[] = { { "external_work", "external work", 1.0 }, { "damping_loss", "damping", -1.0 },
                  { "material_loss", "materials", -1.0 },    { "impact_loss", "impacts", -1.0 },
                  { "friction_loss", "friction", -1.0 },     { "numerical_loss", "numerical loss", -1.0 } };
    enum { NLINE = sizeof lines / sizeof *lines };
    pcs_bar bars[NLINE];
    int count = 0;
    for (int k = 0; k < NLINE; k++) {
        double value = lines[k].sign * pcs_json_number(energy, lines[k].key) + 0.0;
        if (k + 1 == NLINE) value += pcs_json_number(energy, "correction_work"); // they cancel for the most part
        if (isfinite(value)) bars[count++] = (pcs_bar){ .name = lines[k].name, .value = value };
    }
    pcs_chart_bars(page, "Ledger: what changed the energy", "J", count, bars);
}

static pcs_status run_energy(const pcs_page *page, const pcs_yaml *summary, const pcs_csv *history)
{
    const pcs_yaml *energy = pcs_json_at(summary, "energy");
    if (energy == NULL) return PCS_OK;
    pcs_page_section(page, "energy", "Energy");
    pcs_page_markup(page, "<p>The energy was ");
    pcs_page_quantity(page, pcs_json_number(energy, "initial"), "J");
    pcs_page_markup(page, " at the start and ");
    pcs_page_quantity(page, pcs_json_number(energy, "final"), "J");
    pcs_page_markup(page, " at the end (kinetic ");
    pcs_page_quantity(page, pcs_json_number(energy, "kinetic"), "J");
    pcs_page_markup(page, ", strain ");
    pcs_page_quantity(page, pcs_json_number(energy, "strain"), "J");
    pcs_page_markup(page, ", potential ");
    pcs_page_quantity(page, pcs_json_number(energy, "potential"), "J");
    bool is_formula = run_is(energy, "numerical_loss_is", "formula");
    pcs_page_markup(page, is_formula ? "). The numerical loss follows from the scheme’s formula; "
                                     : "). The numerical loss is the remainder of the balance.");
    if (is_formula) {
        pcs_page_quantity(page, pcs_json_number(energy, "imbalance"), "J");
        pcs_page_markup(page, " are not accounted for.");
    }
    pcs_page_markup(page, "</p>\n<div class=\"charts\">\n");
    run_ledger(page, energy);
    if (history != NULL) PCS_TRY(pcs_report_energies(page, history));
    pcs_page_markup(page, "</div>\n");
    pcs_page_section_end(page);
    return PCS_OK;
}

static void run_again(const pcs_page *page)
{
    pcs_page_section(page, "again", "Make it again");
    pcs_page_markup(page, "<pre class=\"command\"><code>percuss run ");
    char path[PCS_PAGE_PATH];
    pcs_page_path(page, "case.resolved.yaml", path);
    pcs_page_word(page, path);
    pcs_page_markup(page, " -o ");
    pcs_page_word(page, page->folder);
    pcs_page_markup(page, "\npercuss report ");
    pcs_page_word(page, page->folder);
    pcs_page_markup(page, "</code></pre>\n");
    pcs_page_section_end(page);
}

static pcs_status run_history(const pcs_page *page, const pcs_csv **out)
{
    char path[PCS_PAGE_PATH];
    pcs_csv *csv = NULL;
    *out = NULL;
    if (!pcs_page_has(page, "history.csv") || !pcs_page_path(page, "history.csv", path)) return PCS_OK;
    PCS_TRY(pcs_csv_read(page->ctx, path, false, &csv));
    if (pcs_csv_find(csv, "t") < 0) return pcs_fail(page->ctx, PCS_BAD_INPUT, "%s has no column 't'", path);
    *out = csv;
    return PCS_OK;
}

pcs_status pcs_report_run(const pcs_page *page)
{
    char path[PCS_PAGE_PATH];
    const pcs_yaml *summary = NULL;
    const pcs_csv *history;
    pcs_page_path(page, "summary.json", path);
    PCS_TRY(pcs_json_load(page->ctx, path, &summary));
    PCS_TRY(run_history(page, &history));
    const char *title = pcs_json_string(summary, "title");
    if (title[0] == '\0') title = pcs_json_string(summary, "case");
    pcs_page_begin(page, title);
    run_head(page, summary);
    run_certificate(page, summary);
    run_model(page, summary);
    PCS_TRY(run_contacts(page, summary, history));
    PCS_TRY(run_energy(page, summary, history));
    if (history != NULL) PCS_TRY(pcs_report_probes(page, history));
    else pcs_page_markup(page, "<p class=\"soft\">Without history.csv there are no curves over time.</p>\n");
    PCS_TRY(pcs_report_pictures(page));
    pcs_page_section(page, "case", "What was run");
    PCS_TRY(pcs_report_listing(page, "case.resolved.yaml"));
    pcs_page_section_end(page);
    run_again(page);
    pcs_report_citation(page, title, pcs_json_string(summary, "version"));
    pcs_page_end(page);
    return PCS_OK;
}
