// Charts of the columns of history.csv over time.

#include "plot/quantity.h"
#include "report/chart.h"
#include "report/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CONTACTS = 8, MOST_GROUPS = 24, NAME_ROOM = 512 };

static pcs_series history_series(const pcs_csv *h, int column, const char *name)
{
    return (pcs_series){
        .name = name, .count = h->nrow, .x = pcs_csv_column(h, pcs_csv_find(h, "t")), .y = pcs_csv_column(h, column)
    };
}

static void history_chart(const pcs_page *page, const char *title, const char *y_name, const char *y_unit, int nseries,
                          const pcs_series *series)
{
    pcs_chart chart = { .title = title,
                        .x_name = "time",
                        .x_unit = "s",
                        .y_name = y_name,
                        .y_unit = y_unit,
                        .nseries = nseries,
                        .series = series };
    pcs_chart_lines(page, &chart);
}

// The sum of the energies.
static pcs_status history_total(const pcs_csv *h, const double **out)
{
    static const char *const parts[] = { "kinetic", "strain", "potential" };
    double *total;
    PCS_TAKE(h->ctx, total, h->nrow, "energies");
    for (int k = 0; k < 3; k++) {
        int column = pcs_csv_find(h, parts[k]);
        if (column < 0) continue;
        for (int i = 0; i < h->nrow; i++) total[i] += pcs_csv_column(h, column)[i];
    }
    *out = total;
    return PCS_OK;
}

// A column that is 0 all the time tells nothing.
static bool history_is_zero(const pcs_csv *h, int column)
{
    const double *x = pcs_csv_column(h, column);
    int i = 0;
    while (i < h->nrow && !(fabs(x[i]) > 0.0)) i++;
    return i == h->nrow;
}

// Those of the names that are columns and not zero.
static int history_pick(const pcs_csv *h, const char *const (*names)[2], int count, pcs_series *series)
{
    int nseries = 0;
    for (int k = 0; k < count; k++) {
        int column = pcs_csv_find(h, names[k][0]);
        if (column >= 0 && !history_is_zero(h, column)) series[nseries++] = history_series(h, column, names[k][1]);
    }
    return nseries;
}

pcs_status pcs_report_energies(const pcs_page *page, const pcs_csv *h)
{
    static const char *const energies[][2] = { { "kinetic", "kinetic" },
                                               { "strain", "strain" },
                                               { "potential", "potential" } };
    static const char *const work[][2] = { { "external_work", "external work" } };
    static const char *const losses[][2] = {
        { "damping_loss", "damping loss" },     { "impact_loss", "impact loss" },
        { "friction_loss", "friction loss" },   { "correction_work", "correction work" },
        { "numerical_loss", "numerical loss" }, { "material_loss", "material loss" },
    };
    pcs_series series[PCS_CHART_SERIES];
    int count = history_pick(h, energies, 3, series);
    series[count] = history_series(h, pcs_csv_find(h, "t"), "total");
    PCS_TRY(history_total(h, &series[count].y));
    history_chart(page, "Energies over time", "energy", "J", count + 1, series);
    count = history_pick(h, losses, 6, series);
    history_chart(page, "Losses and corrections since the start", "energy", "J", count, series);
    count = history_pick(h, work, 1, series);
    history_chart(page, "Work of the loads since the start", "energy", "J", count, series);
    return PCS_OK;
}

// The column "prefix.quantity" beside "prefix.gap"; -1: none.
static int history_beside(const pcs_csv *h, int gap, const char *quantity)
{
    char name[NAME_ROOM];
    size_t length = strlen(h->names[gap]) - strlen("gap");
    int written = snprintf(name, sizeof name, "%.*s%s", (int)length, h->names[gap], quantity);
    return written < (int)sizeof name ? pcs_csv_find(h, name) : -1;
}

static bool history_ends(const char *name, const char *ending)
{
    size_t length = strlen(name), other = strlen(ending);
    return length > other && strcmp(name + length - other, ending) == 0;
}

// A contact has a gap and a force; a joint a gap and components of its reaction.
static bool history_is_contact(const pcs_csv *h, int column)
{
    return history_ends(h->names[column], ".gap") && history_beside(h, column, "force") >= 0;
}

static double history_largest(const pcs_csv *h, int column)
{
    double largest = 0.0;
    if (column < 0) return 0.0;
    for (int i = 0; i < h->nrow; i++) largest = fmax(largest, pcs_csv_column(h, column)[i]);
    return largest;
}

static void history_contact(const pcs_page *page, const pcs_csv *h, int gap)
{
    char name[NAME_ROOM], title[NAME_ROOM + 64];
    snprintf(name, sizeof name, "%.*s", (int)(strlen(h->names[gap]) - strlen(".gap")), h->names[gap]);
    pcs_series series = history_series(h, gap, "gap");
    snprintf(title, sizeof title, "Contact %s: gap", name);
    history_chart(page, title, "gap", "m", 1, &series);
    int force = history_beside(h, gap, "force"), impulse = history_beside(h, gap, "step_impulse");
    // Bodies that do not give way have impulses and no forces.
    bool is_impulsive = impulse >= 0 && history_is_zero(h, force) && !history_is_zero(h, impulse);
    pcs_series forces[2] = { history_series(h, is_impulsive ? impulse : force, is_impulsive ? "impulse" : "force") };
    int friction = history_beside(h, gap, "friction");
    bool rubs = !is_impulsive && friction >= 0 && !history_is_zero(h, friction);
    if (rubs) forces[1] = history_series(h, friction, "friction");
    snprintf(title, sizeof title, "Contact %s: %s", name, is_impulsive ? "impulse of each step" : "force");
    history_chart(page, title, forces[0].name, is_impulsive ? "N s" : "N", rubs ? 2 : 1, forces);
}

// The contact with the largest impulse of a step that is not drawn yet; -1: none.
static int history_next_contact(const pcs_csv *h, const bool *is_drawn)
{
    int best = -1;
    double largest = -1.0;
    for (int c = 0; c < h->ncolumn; c++) {
        if (is_drawn[c] || !history_is_contact(h, c)) continue;
        double impulse = history_largest(h, history_beside(h, c, "step_impulse"));
        if (impulse > largest) largest = impulse, best = c;
    }
    return best;
}

pcs_status pcs_report_contacts(const pcs_page *page, const pcs_csv *h)
{
    bool *is_drawn;
    int ncontact = 0;
    PCS_TAKE(page->ctx, is_drawn, h->ncolumn, "columns");
    for (int c = 0; c < h->ncolumn; c++) ncontact += history_is_contact(h, c);
    pcs_page_markup(page, "<div class=\"charts\">\n");
    for (int k = 0; k < ncontact && k < MOST_CONTACTS; k++) {
        int gap = history_next_contact(h, is_drawn);
        is_drawn[gap] = true;
        history_contact(page, h, gap);
    }
    pcs_page_markup(page, "</div>\n");
    if (ncontact > MOST_CONTACTS)
        pcs_page_print(page, "<p class=\"soft\">Drawn are the %d of %d with the largest impulses.</p>\n", MOST_CONTACTS,
                       ncontact);
    return PCS_OK;
}

static size_t history_prefix(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot == NULL ? 0 : (size_t)(dot - name);
}

// What has no known unit stands alone.
static bool history_is_alike(const char *a, const char *b)
{
    if (pcs_quantity_unit(a)[0] == '\0') return strcmp(a, b) == 0;
    size_t length = history_prefix(a);
    return history_prefix(b) == length && strncmp(a, b, length) == 0 &&
           strcmp(pcs_quantity_unit(a), pcs_quantity_unit(b)) == 0;
}

// Does a contact of that name stand before the last point of a column's name?
static bool history_is_of_contact(const pcs_csv *h, int column)
{
    char gap[NAME_ROOM];
    int length = (int)history_prefix(h->names[column]);
    int written = snprintf(gap, sizeof gap, "%.*s.gap", length, h->names[column]);
    int found = length > 0 && written < (int)sizeof gap ? pcs_csv_find(h, gap) : -1;
    return found >= 0 && history_is_contact(h, found);
}

// Columns of the run as a whole, of contacts, and misfits of joints are drawn elsewhere or not at all.
static void history_mark_others(const pcs_csv *h, bool *is_drawn)
{
    int last = pcs_csv_find(h, "iterations");
    for (int c = 0; c < h->ncolumn; c++)
        is_drawn[c] = c <= last || history_is_of_contact(h, c) || history_ends(h->names[c], ".gap");
}

// A column and those that go with it: of the same place and unit.
static void history_group(const pcs_page *page, const pcs_csv *h, int first, bool *is_drawn)
{
    pcs_series series[PCS_CHART_SERIES];
    int count = 0, prefix = (int)history_prefix(h->names[first]);
    for (int c = first; c < h->ncolumn && count < PCS_CHART_SERIES; c++) {
        if (is_drawn[c] || !history_is_alike(h->names[first], h->names[c])) continue;
        is_drawn[c] = true;
        series[count++] = history_series(h, c, h->names[c]);
    }
    const char *quantity = pcs_quantity_name(h->names[first]);
    char title[NAME_ROOM];
    if (count == 1 || quantity == NULL) snprintf(title, sizeof title, "%s", h->names[first]);
    else snprintf(title, sizeof title, "%.*s%s%s", prefix, h->names[first], prefix > 0 ? ": " : "", quantity);
    history_chart(page, title, quantity == NULL ? h->names[first] : quantity, pcs_quantity_unit(h->names[first]), count,
                  series);
}

pcs_status pcs_report_probes(const pcs_page *page, const pcs_csv *h)
{
    bool *is_drawn;
    int ngroup = 0, nleft = 0;
    PCS_TAKE(page->ctx, is_drawn, h->ncolumn, "columns");
    history_mark_others(h, is_drawn);
    for (int c = 0; c < h->ncolumn; c++) nleft += !is_drawn[c];
    if (nleft == 0) return PCS_OK;
    pcs_page_section(page, "probes", "Probes and reactions");
    pcs_page_markup(page, "<div class=\"charts\">\n");
    for (int c = 0; c < h->ncolumn && ngroup < MOST_GROUPS; c++) {
        if (is_drawn[c]) continue;
        history_group(page, h, c, is_drawn);
        ngroup++;
    }
    pcs_page_markup(page, "</div>\n");
    nleft = 0;
    for (int c = 0; c < h->ncolumn; c++) nleft += !is_drawn[c];
    if (nleft > 0) pcs_page_print(page, "<p class=\"soft\">%d further columns are in history.csv.</p>\n", nleft);
    pcs_page_section_end(page);
    return PCS_OK;
}
