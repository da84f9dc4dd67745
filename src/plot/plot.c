#include "plot/plot.h"
#include "case/case.h"
#include "plot/album.h"
#include "plot/source.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ITEMS = 64, LINE_ROOM = 8192 };

#define USUAL_WIDTH 16.0 // cm

// Names that were given, sorted into results and columns.
typedef struct request {
    pcs_context *ctx;
    const pcs_plot_options *options;
    int nrun, ncolumn;
    pcs_plot_run *runs;   // [nrun]
    const char **columns; // [ncolumn]
} request;

static pcs_status request_add_run(request *q, const char *path)
{
    pcs_plot_run *run = &q->runs[q->nrun++];
    char *table;
    run->path = path;
    PCS_TRY(pcs_source_table(q->ctx, path, &table));
    run->folder = pcs_source_folder(q->ctx, table);
    if (run->folder == NULL) return PCS_NO_MEMORY;
    return pcs_csv_read(q->ctx, table, true, &run->csv);
}

// Folders and CSV files; a file of another name may be called like a column.
static bool request_is_result(const request *q, const char *word)
{
    size_t length = strlen(word);
    bool is_table = q->nrun == 0 || (length > 4 && strcmp(word + length - 4, ".csv") == 0);
    return pcs_source_is_folder(word) || (is_table && pcs_source_is_file(word));
}

static pcs_status request_sort(request *q)
{
    PCS_TAKE(q->ctx, q->runs, q->options->nword, "results");
    PCS_TAKE(q->ctx, q->columns, q->options->nword, "columns");
    for (int i = 0; i < q->options->nword; i++) {
        const char *word = q->options->words[i];
        if (request_is_result(q, word)) PCS_TRY(request_add_run(q, word));
        else if (q->nrun == 0)
            return pcs_fail(q->ctx, PCS_BAD_INPUT, "'%s': no such folder of results, nor a CSV file", word);
        else q->columns[q->ncolumn++] = word;
    }
    return PCS_OK;
}

// A column that some run has; otherwise the nearest name is offered.
static pcs_status request_check_column(const request *q, const char *column)
{
    char hint[PCS_SPELLING_BYTES];
    for (int r = 0; r < q->nrun; r++)
        if (pcs_csv_find(q->runs[r].csv, column) >= 0) return PCS_OK;
    pcs_spelling_hint(column, pcs_csv_names(q->runs[0].csv), sizeof hint, hint);
    return pcs_fail(q->ctx, PCS_BAD_INPUT, "'%s' is neither a folder nor a column of %s%s", column,
                    q->runs[0].csv->path, hint);
}

static pcs_status request_axis(const request *q, pcs_album *album)
{
    const pcs_csv *csv = q->runs[0].csv;
    album->axis = q->options->axis;
    if (album->axis != NULL) return request_check_column(q, album->axis);
    album->axis = csv->names[0];
    if (pcs_csv_find(csv, "factor") >= 0) album->axis = "factor"; // of the loads, in statics
    if (pcs_csv_find(csv, "t") >= 0) album->axis = "t";
    return PCS_OK;
}

// The sum of all energies, where a history has no column of that name.
static bool request_is_energy(const request *q, const char *column)
{
    return strcmp(column, "energy") == 0 && pcs_csv_find(q->runs[0].csv, column) < 0 &&
           pcs_csv_find(q->runs[0].csv, "kinetic") >= 0;
}

// One picture of the columns that were named.
static pcs_status request_columns(const request *q, pcs_album *album, const char *name)
{
    pcs_item items[MOST_ITEMS];
    if (q->ncolumn > MOST_ITEMS) return pcs_fail(q->ctx, PCS_BAD_INPUT, "more than %d columns", MOST_ITEMS);
    for (int i = 0; i < q->ncolumn; i++) {
        items[i] = pcs_album_column(q->columns[i], i, items);
        if (request_is_energy(q, q->columns[i])) pcs_pictures_add_energies(&items[i]);
    }
    PCS_TRY(pcs_album_add(album, name, album->axis, q->ncolumn, items));
    const double *range = q->options->range;
    if (!(range[0] < range[1]) || album->npicture == 0) return PCS_OK;
    double *all = album->pictures[0].range; // of t alone, both 0 for other axes
    if (all[0] < all[1] && (range[0] > all[1] || range[1] < all[0]))
        return pcs_fail(q->ctx, PCS_BAD_INPUT, "--range must meet %s from %g to %g, is %g:%g", album->axis, all[0],
                        all[1], range[0], range[1]);
    memcpy(all, range, 2 * sizeof *range);
    return PCS_OK;
}

// Where pictures go and how they are called.
typedef struct place {
    pcs_canvas canvas;
    const char *stem; // of the one picture that was named, NULL: each has its own name
} place;

static const char *place_format(const char *output)
{
    static const char *const formats[] = { "svg", "png", "pdf" };
    const char *dot = output == NULL ? NULL : strrchr(output, '.');
    for (int i = 0; i < (dot == NULL ? 0 : 3); i++)
        if (strcmp(dot + 1, formats[i]) == 0) return formats[i];
    return NULL;
}

// Pictures of other programs, which no folder is meant to be called like.
static bool place_is_foreign(const char *output)
{
    static const char *const endings[] = { "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "eps", "ps", "webp", "tex" };
    const char *dot = strrchr(output, '.'), *ending = dot == NULL ? "" : dot + 1;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(ending, endings[i]) == 0) return true;
    return false;
}

static pcs_status request_place(const request *q, place *out)
{
    const char *output = q->options->output, *format = place_format(output);
    out->canvas = (pcs_canvas){ .folder = q->runs[0].folder,
                                .format = format == NULL ? "svg" : format,
                                .width = q->options->width > 0.0 ? q->options->width : USUAL_WIDTH };
    out->stem = NULL;
    if (output == NULL) return PCS_OK;
    if (place_is_foreign(output))
        return pcs_fail(q->ctx, PCS_BAD_INPUT, "pictures are .svg, .png or .pdf, not '%s'", output);
    out->canvas.folder = format == NULL ? output : pcs_source_folder(q->ctx, output);
    if (out->canvas.folder == NULL) return PCS_NO_MEMORY;
    if (format == NULL) return pcs_file_make_folder(q->ctx, output);
    const char *slash = strrchr(output, '/');
    char *stem = pcs_take_text(q->ctx, slash == NULL ? output : slash + 1);
    if (stem == NULL) return PCS_NO_MEMORY;
    *strrchr(stem, '.') = '\0';
    out->stem = stem;
    if (*stem == '\0') return pcs_fail(q->ctx, PCS_BAD_INPUT, "'%s' has no name before its ending", output);
    return pcs_file_make_folder(q->ctx, out->canvas.folder);
}

// Names of files: letters, digits and some signs.
static const char *request_file_name(const request *q, const char *name)
{
    char *safe = pcs_take_text(q->ctx, name);
    for (char *p = safe; p != NULL && *p != '\0'; p++)
        if (strchr("/\\ '\"`<>|&;$*?()[]{}", *p) != NULL) *p = '_';
    if (safe != NULL && strlen(safe) > 100) safe[100] = '\0';
    return safe;
}

static pcs_status request_draw(const request *q, const place *to, pcs_chart *picture, bool is_only)
{
    char line[LINE_ROOM];
    const char *name = picture->name;
    if (to->stem != NULL) name = is_only ? to->stem : pcs_gnuplot_text(q->ctx, "%s_%s", to->stem, name);
    if (name != to->stem && name != NULL) name = request_file_name(q, name);
    char *script = name == NULL ? NULL : pcs_gnuplot_text(q->ctx, "%s.gp", name);
    if (script == NULL) return PCS_NO_MEMORY;
    picture->name = name;
    if (picture->waves != NULL) PCS_TRY(pcs_waves_write(q->ctx, &to->canvas, name, picture->waves));
    else PCS_TRY(pcs_gnuplot_write(q->ctx, &to->canvas, picture));
    PCS_TRY(pcs_gnuplot_run(q->ctx, to->canvas.folder, script));
    snprintf(line, sizeof line, "%s/%s.%s\n", to->canvas.folder, name, to->canvas.format);
    q->options->show(q->options->show_user, line);
    return PCS_OK;
}

static pcs_status request_fill(const request *q, pcs_album *album)
{
    bool is_study = pcs_pictures_is_study(q->runs[0].csv);
    PCS_TRY(request_axis(q, album));
    if (q->options->range[0] < q->options->range[1] && (q->ncolumn == 0 || is_study))
        return pcs_fail(q->ctx, PCS_BAD_INPUT, "--range needs columns of a history, which are drawn in one picture");
    if (q->ncolumn == 0 && is_study) return pcs_pictures_of_study(album, NULL, 0, NULL);
    if (q->ncolumn == 0) {
        PCS_TRY(pcs_pictures_of_runs(album));
        return pcs_waves_add(album);
    }
    for (int i = 0; i < q->ncolumn; i++)
        if (!request_is_energy(q, q->columns[i])) PCS_TRY(request_check_column(q, q->columns[i]));
    const char *name = q->columns[0];
    for (int i = 1; i < q->ncolumn; i++) {
        name = pcs_gnuplot_text(q->ctx, "%s_%s", name, q->columns[i]);
        if (name == NULL) return PCS_NO_MEMORY;
    }
    return is_study ? pcs_pictures_of_study(album, name, q->ncolumn, q->columns) : request_columns(q, album, name);
}

// A solution that fits nothing is a mistake.
static pcs_status request_check_exact(const pcs_album *album)
{
    if (album->exact == NULL) return PCS_OK;
    for (int i = 0; i < album->npicture; i++) {
        const pcs_chart *chart = &album->pictures[i];
        for (int k = 0; k < chart->npanel; k++)
            for (int c = 0; c < chart->panels[k].ncurve; c++)
                if (strcmp(chart->panels[k].curves[c].file, album->exact->path) == 0) return PCS_OK;
    }
    return pcs_fail(album->ctx, PCS_BAD_INPUT, "%s: needs '%s' and a column that is drawn, by the same names",
                    album->exact->path, album->axis);
}

pcs_status pcs_plot(pcs_context *ctx, const pcs_plot_options *options)
{
    request q = { .ctx = ctx, .options = options };
    pcs_album album = { .ctx = ctx };
    pcs_csv *exact = NULL;
    place to;
    PCS_TRY(request_sort(&q));
    PCS_TRY(request_place(&q, &to));
    PCS_TRY(pcs_runs_label(ctx, q.nrun, q.runs));
    if (options->exact != NULL) PCS_TRY(pcs_csv_read(ctx, options->exact, false, &exact));
    album.exact = exact;
    album.nrun = q.nrun;
    album.runs = q.runs;
    PCS_TRY(request_fill(&q, &album));
    PCS_TRY(request_check_exact(&album));
    for (int i = 0; i < album.npicture; i++) PCS_TRY(request_draw(&q, &to, &album.pictures[i], album.npicture == 1));
    if (album.note[0] != '\0') options->show(options->show_user, album.note);
    if (album.npicture > 0) return PCS_OK;
    return pcs_fail(ctx, PCS_BAD_INPUT, "%s: nothing to draw", q.runs[0].csv->path);
}
