#include "plot/album.h"
#include "plot/quantity.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ROUND_OFF 1e-12

int pcs_album_holders(const pcs_album *album, const char *column, double *size)
{
    int count = 0;
    *size = 0.0;
    for (int r = 0; r < album->nrun; r++) {
        const pcs_csv *csv = album->runs[r].csv;
        int c = pcs_csv_find(csv, column);
        if (c < 0) continue;
        count++;
        for (int i = 0; i < csv->nrow; i++) *size = fmax(*size, fabs(pcs_csv_column(csv, c)[i]));
    }
    return count;
}

pcs_item pcs_album_column(const char *column, int nitem, const pcs_item *items)
{
    const char *quantity = pcs_quantity_name(column), *unit = pcs_quantity_unit(column);
    pcs_item item = { .label = column, .quantity = quantity, .unit = unit, .nterm = 1, .terms = { column } };
    item.group = nitem;
    for (int i = 0; i < nitem; i++) {
        if (quantity == NULL || items[i].quantity == NULL || strcmp(items[i].quantity, quantity) != 0) continue;
        if (strcmp(items[i].unit, unit) != 0) continue;
        item.group = items[i].group;
        break;
    }
    bool is_impulse = quantity != NULL && strcmp(quantity, "impulse") == 0;
    if (is_impulse) item.style = PCS_CURVE_IMPULSES;
    return item;
}

const char *pcs_album_label(pcs_context *ctx, const char *name, const char *unit)
{
    return *unit == '\0' ? name : pcs_gnuplot_text(ctx, "%s [%s]", name, unit);
}

pcs_chart *pcs_album_new(pcs_album *album, const char *name)
{
    if (album->npicture == album->room) {
        int room = album->room == 0 ? 16 : 2 * album->room;
        pcs_chart *larger = pcs_take(album->ctx, (size_t)room, sizeof *larger, "pictures");
        if (larger == NULL) return NULL;
        if (album->npicture > 0) memcpy(larger, album->pictures, (size_t)album->npicture * sizeof *larger);
        album->pictures = larger;
        album->room = room;
    }
    pcs_chart *picture = &album->pictures[album->npicture++];
    *picture = (pcs_chart){ .name = name, .shares_x = true };
    return picture;
}

// Has the table all columns of the item, with numbers in them? gnuplot refuses to draw nothing.
static bool item_is_in(const pcs_item *item, const pcs_csv *csv)
{
    for (int k = 0; k < item->nterm; k++) {
        int c = pcs_csv_find(csv, item->terms[k]), i = 0;
        while (c >= 0 && i < csv->nrow && isnan(pcs_csv_column(csv, c)[i])) i++;
        if (c < 0 || i == csv->nrow) return false;
    }
    return true;
}

static double item_first_value(const pcs_item *item, const pcs_csv *csv)
{
    double sum = 0.0;
    if (csv->nrow == 0) return 0.0;
    for (int k = 0; k < item->nterm; k++) sum += pcs_csv_column(csv, pcs_csv_find(csv, item->terms[k]))[0];
    return sum;
}

// What gnuplot draws: 'column', or a sum.
static const char *item_expression(pcs_context *ctx, const pcs_item *item, const pcs_csv *csv)
{
    int first = pcs_csv_find(csv, item->terms[0]);
    if (item->nterm == 1 && !item->is_negative && !item->is_change)
        return pcs_gnuplot_column(ctx, item->terms[0], first + 1);
    const char *sum = item->is_negative ? "-(" : "(";
    for (int k = 0; k < item->nterm; k++) {
        const char *term = pcs_gnuplot_term(ctx, item->terms[k], pcs_csv_find(csv, item->terms[k]) + 1);
        if (term != NULL && sum != NULL) sum = pcs_gnuplot_text(ctx, "%s%s%s", sum, k == 0 ? "" : " + ", term);
    }
    if (sum == NULL) return NULL;
    char number[PCS_NUMBER_ROOM];
    pcs_number_text(NULL, item_first_value(item, csv), number);
    return item->is_change ? pcs_gnuplot_text(ctx, "(%s) - (%s))", sum, number) : pcs_gnuplot_text(ctx, "(%s))", sum);
}

typedef struct sheet {
    pcs_album *album;
    const char *axis;
    int nitem;
    const pcs_item *items;
} sheet;

static pcs_status sheet_curve(const sheet *s, const pcs_csv *csv, const pcs_item *item, pcs_panel *panel)
{
    pcs_context *ctx = s->album->ctx;
    int x = pcs_csv_find(csv, s->axis);
    if (x < 0 || !item_is_in(item, csv)) return PCS_OK;
    pcs_curve *curve = &panel->curves[panel->ncurve];
    *curve =
        (pcs_curve){ .file = csv->path, .label = item->label, .dash = item->is_dashed ? 2 : 1, .style = item->style };
    curve->x = pcs_gnuplot_column(ctx, s->axis, x + 1);
    curve->y = item_expression(ctx, item, csv);
    if (curve->x == NULL || curve->y == NULL) return PCS_NO_MEMORY;
    panel->ncurve++;
    return PCS_OK;
}

// The exact solution of an item, where there is one, in black.
static pcs_status sheet_exact(const sheet *s, const pcs_item *item, bool is_labelled, pcs_panel *panel)
{
    int before = panel->ncurve;
    if (s->album->exact == NULL) return PCS_OK;
    PCS_TRY(sheet_curve(s, s->album->exact, item, panel));
    if (panel->ncurve == before) return PCS_OK;
    pcs_curve *curve = &panel->curves[before];
    curve->colour = -1;
    curve->dash = 2;
    curve->label = is_labelled ? "exact" : NULL;
    return PCS_OK;
}

// One run: all items of a group.
static pcs_status sheet_group(const sheet *s, int group, pcs_panel *panel)
{
    const pcs_item *last = NULL;
    int colour = 0, count = 0;
    for (int i = 0; i < s->nitem; i++) {
        int before = panel->ncurve;
        if (s->items[i].group != group) continue;
        PCS_TRY(sheet_curve(s, s->album->runs[0].csv, &s->items[i], panel));
        if (panel->ncurve == before) continue;
        panel->curves[before].colour = s->items[i].is_black ? -1 : colour++;
        last = &s->items[i];
        count++;
    }
    if (last == NULL) return PCS_OK;
    bool is_alone = count == 1 && s->album->exact == NULL, has_exact = false;
    for (int i = 0; i < s->nitem; i++) {
        int before = panel->ncurve;
        if (s->items[i].group == group) PCS_TRY(sheet_exact(s, &s->items[i], !has_exact, panel));
        has_exact = has_exact || panel->ncurve > before;
    }
    if (is_alone) panel->curves[0].label = NULL;
    bool is_one = count == 1 || last->quantity == NULL;
    panel->ylabel = pcs_album_label(s->album->ctx, is_one ? last->label : last->quantity, last->unit);
    return panel->ylabel == NULL ? PCS_NO_MEMORY : PCS_OK;
}

// Several runs: one item.
static pcs_status sheet_runs(const sheet *s, const pcs_item *item, bool is_first, pcs_panel *panel)
{
    for (int r = 0; r < s->album->nrun; r++) {
        int before = panel->ncurve;
        PCS_TRY(sheet_curve(s, s->album->runs[r].csv, item, panel));
        if (panel->ncurve == before) continue;
        panel->curves[before].colour = r;
        panel->curves[before].dash = 1;
        panel->curves[before].label = is_first ? s->album->runs[r].label : NULL;
    }
    bool is_shown = false; // in a panel above
    for (const pcs_item *above = s->items; above < item; above++)
        is_shown = is_shown || (s->album->exact != NULL && item_is_in(above, s->album->exact));
    if (panel->ncurve > 0) PCS_TRY(sheet_exact(s, item, !is_shown, panel));
    panel->ylabel = pcs_album_label(s->album->ctx, item->label, item->unit);
    return panel->ylabel == NULL ? PCS_NO_MEMORY : PCS_OK;
}

// Largest value of all columns of a unit.
static double sheet_unit_size(const sheet *s, const char *unit)
{
    double largest = 0.0;
    for (int r = 0; r < s->album->nrun; r++) {
        const pcs_csv *csv = s->album->runs[r].csv;
        for (int c = 0; c < csv->ncolumn; c++) {
            if (strcmp(pcs_quantity_unit(csv->names[c]), unit) != 0) continue;
            for (int i = 0; i < csv->nrow; i++) largest = fmax(largest, fabs(pcs_csv_column(csv, c)[i]));
        }
    }
    return largest;
}

// Smallest and largest number of a column in any run, also where others are empty. (With fmin and fmax gcc 12 for
// aarch64 does not get through the loop.)
static void sheet_extremes(const sheet *s, const char *column, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int r = 0; r < s->album->nrun; r++) {
        const pcs_csv *csv = s->album->runs[r].csv;
        int c = pcs_csv_find(csv, column), nrow = c < 0 ? 0 : csv->nrow;
        for (int i = 0; i < nrow; i++) {
            double x = pcs_csv_column(csv, c)[i];
            if (x < range[0]) range[0] = x;
            if (x > range[1]) range[1] = x;
        }
    }
}

// A column that is constant but for round-off, or nothing beside the others of its unit, is drawn as a flat line and
// not as the noise that it would be on an axis of its own. Where only round-off lies beyond zero the axis ends there: a
// gap of -1e-16 m is no penetration to be shown.
static pcs_status sheet_flatten(const sheet *s, const pcs_item *item, pcs_panel *panel)
{
    double range[2];
    sheet_extremes(s, item->terms[0], range);
    double least = range[0], most = range[1];
    double size = fmax(fabs(least), fabs(most)), unit = *item->unit == '\0' ? size : sheet_unit_size(s, item->unit);
    bool is_nothing = size <= ROUND_OFF * unit, is_constant = most - least <= ROUND_OFF * size;
    if (!(size > 0.0) || !isfinite(size)) return PCS_OK;
    if (!is_nothing && !is_constant) {
        const char *format = NULL;
        if (least < 0.0 && -least <= ROUND_OFF * most) format = "set yrange [%.17g:*]\n";
        if (most > 0.0 && most <= -ROUND_OFF * least) format = "set yrange [*:%.17g]\n";
        if (format != NULL) panel->before = pcs_gnuplot_text(s->album->ctx, format, least < -most ? most : least);
        return panel->before == NULL ? PCS_NO_MEMORY : PCS_OK;
    }
    double middle = is_nothing ? 0.0 : 0.5 * (least + most), half = is_nothing ? 0.01 * unit : 0.1 * size;
    panel->before = pcs_gnuplot_text(s->album->ctx, "set yrange [%.6g:%.6g]\n", middle - half, middle + half);
    return panel->before == NULL ? PCS_NO_MEMORY : PCS_OK;
}

static pcs_status sheet_panel(const sheet *s, int which, bool is_first, pcs_panel *panel)
{
    pcs_album *album = s->album;
    *panel = (pcs_panel){ .xlabel = pcs_album_label(album->ctx, s->axis, pcs_quantity_unit(s->axis)) };
    PCS_TAKE(album->ctx, panel->curves, 2 * s->nitem + album->nrun + 1, "curves");
    if (panel->xlabel == NULL) return PCS_NO_MEMORY;
    int ncompanion = 0;
    for (int i = 0; i < s->nitem; i++) {
        bool is_companion = album->nrun == 1 && i != which && s->items[i].group == s->items[which].group;
        if (is_companion && i < which) return PCS_OK; // drawn already
        ncompanion += is_companion;
    }
    panel->before = "set autoscale y\n";
    bool is_alone = ncompanion == 0 && s->items[which].nterm == 1 && album->exact == NULL;
    if (is_alone && !s->items[which].is_negative) PCS_TRY(sheet_flatten(s, &s->items[which], panel));
    if (album->nrun > 1) return sheet_runs(s, &s->items[which], is_first, panel);
    return sheet_group(s, s->items[which].group, panel);
}

// From the first to the last value of the axis.
static void sheet_range(const sheet *s, double range[2])
{
    sheet_extremes(s, s->axis, range);
    if (!(range[0] < range[1])) range[0] = range[1] = 0.0;
}

pcs_status pcs_album_add(pcs_album *album, const char *name, const char *axis, int nitem, const pcs_item *items)
{
    sheet s = { .album = album, .axis = axis, .nitem = nitem, .items = items };
    pcs_panel *panels;
    int npanel = 0;
    PCS_TAKE(album->ctx, panels, nitem + 1, "panels");
    for (int i = 0; i < nitem; i++) {
        PCS_TRY(sheet_panel(&s, i, npanel == 0, &panels[npanel]));
        npanel += panels[npanel].ncurve > 0;
    }
    if (npanel == 0) return PCS_OK;
    pcs_chart *picture = pcs_album_new(album, name);
    if (picture == NULL) return PCS_NO_MEMORY;
    if (strcmp(axis, "t") == 0) sheet_range(&s, picture->range);
    picture->npanel = npanel;
    picture->panels = panels;
    return PCS_OK;
}

void pcs_album_tell(pcs_album *album, const char *format, ...)
{
    size_t used = strlen(album->note), room = sizeof album->note - used;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(album->note + used, room, format, arguments);
    va_end(arguments);
}
