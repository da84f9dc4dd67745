// The pictures of runs where no column is named: energies, momentum, contacts, probes, phases, steps.

#include "plot/album.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PICTURES = 8, MOST_ITEMS = 64, NAME_ROOM = 256 };

// Below this part of the largest energy a line of the ledger is round-off, and a step size the same as the one before.
#define ROUND_OFF 1e-9

static const char *const energies[] = { "kinetic", "strain", "potential" };

void pcs_pictures_add_energies(pcs_item *item)
{
    item->nterm = sizeof energies / sizeof *energies;
    for (int i = 0; i < item->nterm; i++) item->terms[i] = energies[i];
}

static double pictures_energy_size(const pcs_album *album)
{
    double largest = 0.0, size;
    for (size_t i = 0; i < sizeof energies / sizeof *energies; i++) {
        pcs_album_holders(album, energies[i], &size);
        largest = fmax(largest, size);
    }
    return largest;
}

// Energies above, what changed them below; the sum of the changes is the change of the total.
static pcs_status pictures_energies(pcs_album *album)
{
    static const struct {
        const char *column, *label;
        bool is_negative;
    } ledger[] = {
        { "external_work", "external work", false },  { "damping_loss", "damping", true },
        { "material_loss", "materials", true },       { "impact_loss", "impacts", true },
        { "friction_loss", "friction", true },        { "correction_work", "position correction", false },
        { "numerical_loss", "numerical loss", true },
    };
    pcs_item items[16], total = { .label = "total", .quantity = "energy", .unit = "J", .is_black = true };
    double size, least = ROUND_OFF * pictures_energy_size(album);
    int n = 0;
    for (size_t i = 0; i < sizeof energies / sizeof *energies; i++) {
        if (pcs_album_holders(album, energies[i], &size) == album->nrun) total.terms[total.nterm++] = energies[i];
        if (size > least) items[n++] = pcs_album_column(energies[i], 0, NULL);
    }
    if (total.nterm == 0) return PCS_OK;
    for (int i = 0; i < n; i++) items[i].group = 0;
    if (n != 1) items[n++] = total;
    int nenergy = n;
    for (size_t i = 0; i < sizeof ledger / sizeof *ledger; i++) {
        if (pcs_album_holders(album, ledger[i].column, &size) == 0 || !(size > least)) continue;
        items[n++] = (pcs_item){ .label = ledger[i].label,
                                 .quantity = "change of energy",
                                 .unit = "J",
                                 .nterm = 1,
                                 .terms = { ledger[i].column },
                                 .is_negative = ledger[i].is_negative,
                                 .group = 1 };
    }
    if (n > nenergy && album->nrun == 1) {
        total.is_change = total.is_dashed = true;
        total.group = 1;
        total.quantity = "change of energy";
        items[n++] = total;
    }
    return pcs_album_add(album, "energies", album->axis, n, items);
}

// What the impulses of loads, supports and contacts have made of the momentum at the start.
static pcs_status pictures_momentum(pcs_album *album)
{
    static const char *const components[] = { "momentum_x", "momentum_y", "momentum_z" };
    pcs_item items[3];
    double size[3], largest = 0.0;
    int n = 0;
    for (int k = 0; k < 3; k++) {
        pcs_album_holders(album, components[k], &size[k]);
        largest = fmax(largest, size[k]);
    }
    for (int k = 0; k < 3; k++)
        if (size[k] > ROUND_OFF * largest) {
            items[n] = pcs_album_column(components[k], n, items);
            n++;
        }
    return pcs_album_add(album, "momentum", album->axis, n, items);
}

// The column `part` of something: floor.gap -> floor.force; false: no run has it.
static bool pictures_sibling(const pcs_album *album, const char *column, const char *part, char name[NAME_ROOM])
{
    const char *dot = strrchr(column, '.');
    double size;
    snprintf(name, NAME_ROOM, "%.*s%s%s", dot == NULL ? 0 : (int)(dot - column), column, dot == NULL ? "" : ".", part);
    return pcs_album_holders(album, name, &size) > 0;
}

// A contact has a gap and a force, a joint a gap and components of its force. Single points of a contact, wall[3].gap,
// are left out.
static bool pictures_is_contact(const pcs_album *album, const char *column)
{
    char force[NAME_ROOM];
    const char *dot = strrchr(column, '.');
    if (dot == NULL || strcmp(dot, ".gap") != 0 || strchr(column, '[') != NULL) return false;
    return pictures_sibling(album, column, "force", force);
}

static pcs_status pictures_contact(pcs_album *album, const char *gap)
{
    static const char *const parts[] = { "force", "friction", "impulse" };
    pcs_item items[4] = { pcs_album_column(gap, 0, NULL) };
    int n = 1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char name[NAME_ROOM];
        double size = 0.0;
        if (!pictures_sibling(album, gap, parts[i], name)) continue;
        pcs_album_holders(album, name, &size);
        if (size == 0.0) continue;
        const char *column = pcs_take_text(album->ctx, name);
        if (column == NULL) return PCS_NO_MEMORY;
        items[n] = pcs_album_column(column, 0, NULL);
        items[n].group = n;
        n++;
    }
    const char *name = pcs_gnuplot_text(album->ctx, "contact_%.*s", (int)(strrchr(gap, '.') - gap), gap);
    return name == NULL ? PCS_NO_MEMORY : pcs_album_add(album, name, album->axis, n, items);
}

static pcs_status pictures_contacts(pcs_album *album)
{
    const pcs_csv *csv = album->runs[0].csv;
    int count = 0;
    for (int c = 0; c < csv->ncolumn; c++) {
        if (!pictures_is_contact(album, csv->names[c])) continue;
        if (++count <= MOST_PICTURES) PCS_TRY(pictures_contact(album, csv->names[c]));
    }
    if (count > MOST_PICTURES)
        pcs_album_tell(album, "Drawn are the first %d of %d contacts; others by name: NAME.gap NAME.force\n",
                       MOST_PICTURES, count);
    return PCS_OK;
}

// Columns that every history has, and those of contacts, joints and supports; the others are probes.
static bool pictures_is_probe(const pcs_album *album, const char *column)
{
    static const char *const fixed[] = { "t",           "step",          "kinetic",         "strain",
                                         "potential",   "external_work", "damping_loss",    "material_loss",
                                         "impact_loss", "friction_loss", "correction_work", "numerical_loss",
                                         "momentum_x",  "momentum_y",    "momentum_z",      "min_gap",
                                         "factor",      "residual",      "correction",      "active",
                                         "iterations" };
    static const char *const parts[] = { "fx", "fy", "fz", "mx", "my", "mz", "tangential", "separating", "gap" };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(column, fixed[i]) == 0) return false;
    const char *dot = strrchr(column, '.');
    if (dot == NULL) return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(dot + 1, parts[i]) == 0) return false;
    char gap[NAME_ROOM];
    return !pictures_sibling(album, column, "gap", gap);
}

static size_t pictures_owner_length(const char *column)
{
    const char *dot = strrchr(column, '.');
    return dot == NULL ? 0 : (size_t)(dot - column);
}

static bool pictures_has_owner(const char *column, const char *owner, size_t length)
{
    return pictures_owner_length(column) == length && strncmp(column, owner, length) == 0;
}

// The rate of a coordinate: tip.x -> tip.vx, tip.rz -> tip.wz, theta -> v_theta.
static bool pictures_rate_of(const pcs_album *album, const char *column, char name[NAME_ROOM])
{
    static const char *const pairs[][2] = { { "x", "vx" },  { "y", "vy" },  { "z", "vz" },
                                            { "ux", "vx" }, { "uy", "vy" }, { "uz", "vz" },
                                            { "rx", "wx" }, { "ry", "wy" }, { "rz", "wz" } };
    const char *dot = strrchr(column, '.'), *part = dot == NULL ? column : dot + 1;
    double size;
    if (dot == NULL) {
        snprintf(name, NAME_ROOM, "v_%s", column);
        if (pcs_album_holders(album, name, &size) > 0) return size > 0.0;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(part, pairs[i][0]) == 0 && pictures_sibling(album, column, pairs[i][1], name))
            return pcs_album_holders(album, name, &size) > 0 && size > 0.0;
    return false;
}

static pcs_status pictures_phase(pcs_album *album, const char *column)
{
    char rate[NAME_ROOM];
    if (!pictures_rate_of(album, column, rate)) return PCS_OK;
    const char *y = pcs_take_text(album->ctx, rate), *name = pcs_gnuplot_text(album->ctx, "phase_%s", column);
    if (y == NULL || name == NULL) return PCS_NO_MEMORY;
    pcs_item item = pcs_album_column(y, 0, NULL);
    return pcs_album_add(album, name, column, 1, &item);
}

// One picture of what a probe recorded, or of the coordinates of a system, and phase plots.
static pcs_status pictures_probe(pcs_album *album, const char *first)
{
    const pcs_csv *csv = album->runs[0].csv;
    pcs_item items[MOST_ITEMS] = { 0 };
    int n = 0;
    size_t length = pictures_owner_length(first);
    for (int c = 0; c < csv->ncolumn && n < MOST_ITEMS; c++) {
        const char *column = csv->names[c];
        if (!pictures_is_probe(album, column) || !pictures_has_owner(column, first, length)) continue;
        items[n] = pcs_album_column(column, n, items);
        n++;
    }
    if (n == MOST_ITEMS)
        pcs_album_tell(album, "Drawn are the first %d columns of '%.*s'\n", MOST_ITEMS, (int)length, first);
    const char *name = length == 0 ? "coordinates" : pcs_gnuplot_text(album->ctx, "probe_%.*s", (int)length, first);
    if (name == NULL) return PCS_NO_MEMORY;
    PCS_TRY(pcs_album_add(album, name, album->axis, n, items));
    for (int i = 0; i < n; i++) PCS_TRY(pictures_phase(album, items[i].label));
    return PCS_OK;
}

static pcs_status pictures_probes(pcs_album *album)
{
    const pcs_csv *csv = album->runs[0].csv;
    int count = 0;
    for (int c = 0; c < csv->ncolumn; c++) {
        const char *column = csv->names[c];
        if (!pictures_is_probe(album, column)) continue;
        bool is_new = true;
        for (int k = 0; k < c && is_new; k++)
            is_new = !pictures_is_probe(album, csv->names[k]) ||
                     !pictures_has_owner(csv->names[k], column, pictures_owner_length(column));
        if (!is_new) continue;
        if (++count <= MOST_PICTURES) PCS_TRY(pictures_probe(album, column));
    }
    if (count > MOST_PICTURES)
        pcs_album_tell(album, "Drawn are the first %d of %d probes; others by name: NAME.x NAME.vx\n", MOST_PICTURES,
                       count);
    return PCS_OK;
}

// Does the column have more than one value? The first row stands before the first step.
static bool pictures_varies(const pcs_csv *csv, int column)
{
    const double *x = pcs_csv_column(csv, column);
    for (int i = 2; i < csv->nrow; i++)
        if (x[i] != x[1]) return true;
    return false;
}

static bool pictures_steps_vary(const pcs_csv *csv, int t)
{
    const double *x = pcs_csv_column(csv, t);
    for (int i = 2; i + 1 < csv->nrow; i++) // the last step may be cut
        if (fabs((x[i] - x[i - 1]) - (x[1] - x[0])) > ROUND_OFF * (x[csv->nrow - 1] - x[0])) return true;
    return false;
}

// The time from row to row, below the iterations; each run has its own time before.
static pcs_status pictures_step_size(pcs_album *album, pcs_chart *picture)
{
    pcs_panel *panels;
    PCS_TAKE(album->ctx, panels, picture->npanel + 1, "panels");
    if (picture->npanel > 0) memcpy(panels, picture->panels, (size_t)picture->npanel * sizeof *panels);
    pcs_panel *panel = &panels[picture->npanel];
    *panel = (pcs_panel){ .xlabel = "t [s]", .ylabel = "step size [s]", .is_log_y = true, .ncurve = album->nrun };
    PCS_TAKE(album->ctx, panel->curves, album->nrun, "curves");
    for (int r = 0; r < album->nrun; r++) {
        const pcs_csv *csv = album->runs[r].csv;
        const char *t = pcs_gnuplot_term(album->ctx, "t", pcs_csv_find(csv, "t") + 1);
        pcs_curve *c = &panel->curves[r];
        *c = (pcs_curve){ .file = csv->path, .x = "'t'", .colour = r, .dash = 1 };
        bool is_labelled = album->nrun > 1 && picture->npanel == 0;
        if (is_labelled) c->label = album->runs[r].label;
        c->y = t == NULL ? NULL : pcs_gnuplot_text(album->ctx, "(h = %s - past, past = %s, h > 0 ? h : NaN)", t, t);
        if (c->y == NULL) return PCS_NO_MEMORY;
    }
    picture->before = "past = NaN\n";
    picture->panels = panels;
    picture->npanel++;
    return PCS_OK;
}

static pcs_status pictures_steps(pcs_album *album)
{
    bool has_iterations = false, has_sizes = false, has_times = true;
    for (int r = 0; r < album->nrun; r++) {
        const pcs_csv *csv = album->runs[r].csv;
        int iterations = pcs_csv_find(csv, "iterations"), t = pcs_csv_find(csv, "t");
        has_iterations = has_iterations || (iterations >= 0 && pictures_varies(csv, iterations));
        has_sizes = has_sizes || (t >= 0 && pictures_steps_vary(csv, t));
        has_times = has_times && t >= 0;
    }
    if (!has_times || strcmp(album->axis, "t") != 0) has_sizes = false;
    if (!has_iterations && !has_sizes) return PCS_OK;
    int before = album->npicture;
    pcs_item item = pcs_album_column("iterations", 0, NULL);
    if (has_iterations) PCS_TRY(pcs_album_add(album, "steps", album->axis, 1, &item));
    if (!has_sizes) return PCS_OK;
    pcs_chart *picture = album->npicture > before ? &album->pictures[before] : pcs_album_new(album, "steps");
    return picture == NULL ? PCS_NO_MEMORY : pictures_step_size(album, picture);
}

pcs_status pcs_pictures_of_runs(pcs_album *album)
{
    PCS_TRY(pictures_energies(album));
    PCS_TRY(pictures_momentum(album));
    PCS_TRY(pictures_contacts(album));
    PCS_TRY(pictures_probes(album));
    return pictures_steps(album);
}
