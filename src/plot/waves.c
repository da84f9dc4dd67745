// The file is a matrix: first line a comment, "# percuss waves: body bar, 200 places, fields stress vx"; then the
// number of columns and the places, for each field anew; then rows of a time and the values of all fields there.

#include "core/text.h"
#include "plot/album.h"
#include "plot/quantity.h"
#include "plot/source.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = 32, MOST_FORCES = 3, NAME_ROOM = 128, BUFFER = 1 << 14 };

#define MOST_BYTES ((size_t)1 << 34)
#define MOST_SHAPES 20000.0
#define UNEVEN 1e-3 // of the mean distance: a grid is drawn as an image

struct pcs_waves {
    const char *file, *body, *field;
    int index, nplace;  // of the field; of the places
    int nrow;           // times that are drawn
    bool is_even;       // places and times are at equal distances
    double size;        // largest absolute value
    double time[2];     // first and last
    const pcs_csv *csv; // history, for the forces
    int nforce;
    int forces[MOST_FORCES]; // [nforce] columns of csv
    double force_size;       // largest absolute value
};

// A file while it is read.
typedef struct matrix {
    char body[NAME_ROOM];
    int nplace, nfield, nrow;
    char fields[MOST_FIELDS][NAME_ROOM];
    double size[MOST_FIELDS], time[2];
    double spacing;                       // of the times, s
    bool has_even_places, has_even_times; // the last time may be off
    bool has_odd_end;                     // it is
} matrix;

static bool matrix_read_head(const char *line, matrix *m)
{
    int used = 0;
    if (sscanf(line, "# percuss waves: body %127[^,], %d places, fields%n", m->body, &m->nplace, &used) != 2)
        return false;
    if (used == 0 || m->nplace < 2) return false;
    for (const char *p = line + used; *p == ' ' && m->nfield < MOST_FIELDS; m->nfield++) {
        p++;
        size_t length = strcspn(p, " \r\n");
        if (length == 0 || length >= NAME_ROOM) return false;
        memcpy(m->fields[m->nfield], p, length);
        p += length;
    }
    return m->nfield > 0;
}

// The next number of a line; false where the line ends.
static bool matrix_number(const char **p, double *out)
{
    const char *end;
    if (**p == '\n' || **p == '\r' || **p == '\0') return false;
    *out = pcs_text_number(*p, &end);
    if (end == *p) *out = NAN;
    *p = end + strspn(end, " ");
    if (**p == ',') ++*p;
    return end != *p || **p == '\n' || **p == '\0' || **p == '\r';
}

static bool matrix_read_places(const char **p, matrix *m)
{
    double value, before = 0.0, first = 0.0;
    if (!matrix_number(p, &value)) return false;
    m->has_even_places = true;
    for (int i = 0; i < m->nplace * m->nfield; i++) {
        if (!matrix_number(p, &value)) return false;
        if (i == 1) first = value - before;
        if (i > 1 && i < m->nplace && fabs(value - before - first) > UNEVEN * fabs(first)) m->has_even_places = false;
        before = value;
    }
    return true;
}

static bool matrix_read_row(const char **p, matrix *m)
{
    double t, value;
    if (!matrix_number(p, &t)) return false;
    for (int i = 0; i < m->nplace * m->nfield; i++) {
        if (!matrix_number(p, &value)) return false;
        double *size = &m->size[i / m->nplace];
        *size = fmax(*size, fabs(value));
    }
    m->has_even_times = m->has_even_times && !m->has_odd_end;
    if (m->nrow == 0) m->time[0] = t;
    double mean = m->nrow > 1 ? (m->time[1] - m->time[0]) / (m->nrow - 1) : t - m->time[0];
    m->has_odd_end = fabs(t - m->time[1] - mean) > UNEVEN * mean && m->nrow > 1;
    m->time[1] = t;
    m->spacing = mean;
    m->nrow++;
    return true;
}

static bool matrix_read(const char *text, matrix *m)
{
    const char *p = text;
    *m = (matrix){ .has_even_times = true };
    if (!matrix_read_head(p, m)) return false;
    for (int line = 0;; line++) {
        p += strcspn(p, "\n");
        if (*p == '\n') p++;
        if (*p == '\0') return m->nrow > 1;
        if (!(line == 0 ? matrix_read_places(&p, m) : matrix_read_row(&p, m))) return false;
    }
}

static void waves_find_forces(const pcs_csv *csv, pcs_waves *w)
{
    w->csv = csv;
    if (pcs_csv_find(csv, "t") < 0) return;
    for (int c = 0; c < csv->ncolumn && w->nforce < MOST_FORCES; c++) {
        const char *dot = strrchr(csv->names[c], '.');
        bool is_force = dot != NULL && strcmp(dot, ".force") == 0 && strchr(csv->names[c], '[') == NULL;
        double size = 0.0;
        if (!is_force) continue;
        for (int i = 0; i < csv->nrow; i++) size = fmax(size, fabs(pcs_csv_column(csv, c)[i]));
        if (size > 0.0) w->forces[w->nforce++] = c;
        w->force_size = fmax(w->force_size, size);
    }
}

static pcs_status waves_add_field(pcs_album *album, int run, const char *path, const matrix *m, int field)
{
    pcs_waves *w;
    pcs_context *ctx = album->ctx;
    PCS_TAKE(ctx, w, 1, "an x-t diagram");
    *w = (pcs_waves){ .file = path, .index = field, .nplace = m->nplace, .nrow = m->nrow, .size = m->size[field] };
    w->body = pcs_take_text(ctx, m->body);
    w->field = pcs_take_text(ctx, m->fields[field]);
    w->is_even = m->has_even_places && m->has_even_times;
    w->time[0] = m->time[0];
    w->time[1] = m->time[1];
    // An image has no row out of step, and shows each half before and half after its time: SVG cuts nothing off.
    if (w->is_even && m->has_odd_end) w->nrow--;
    if (w->is_even) {
        w->time[0] = m->time[0] - 0.5 * m->spacing;
        w->time[1] = fmax(m->time[1], m->time[0] + (w->nrow - 0.5) * m->spacing);
    }
    waves_find_forces(album->runs[run].csv, w);
    const char *name = album->nrun == 1 ? pcs_gnuplot_text(ctx, "waves_%s", m->fields[field])
                                        : pcs_gnuplot_text(ctx, "waves_%s_%d", m->fields[field], run + 1);
    if (w->body == NULL || w->field == NULL || name == NULL) return PCS_NO_MEMORY;
    pcs_chart *chart = pcs_album_new(album, name);
    if (chart == NULL) return PCS_NO_MEMORY;
    chart->waves = w;
    return PCS_OK;
}

static pcs_status waves_add_file(pcs_album *album, int run, const char *path)
{
    char *text;
    size_t size;
    matrix *m;
    PCS_TAKE(album->ctx, m, 1, "an x-t diagram");
    PCS_TRY(pcs_text_file(album->ctx, path, "the waves", MOST_BYTES, &text, &size));
    bool is_read = matrix_read(text, m);
    pcs_scratch_free(text);
    if (!is_read) return pcs_fail(album->ctx, PCS_BAD_INPUT, "%s: not a whole file of the observer 'waves'", path);
    for (int k = 0; k < m->nfield; k++) PCS_TRY(waves_add_field(album, run, path, m, k));
    return PCS_OK;
}

// Names in a folder come in any order; files are few.
pcs_status pcs_waves_add(pcs_album *album)
{
    static const char ending[] = ".waves.csv";
    for (int r = 0; r < album->nrun; r++) {
        DIR *folder = opendir(album->runs[r].folder);
        pcs_status status = PCS_OK;
        if (folder == NULL) continue;
        for (const struct dirent *e; status == PCS_OK && (e = readdir(folder)) != NULL;) {
            size_t length = strlen(e->d_name);
            if (length < sizeof ending || strcmp(e->d_name + length - (sizeof ending - 1), ending) != 0) continue;
            char *path = pcs_source_join(album->ctx, album->runs[r].folder, e->d_name);
            status = path == NULL ? PCS_NO_MEMORY : waves_add_file(album, r, path);
        }
        closedir(folder);
        PCS_TRY(status);
    }
    return PCS_OK;
}

// Places on the page, as parts of its width and height.
typedef struct page {
    double left, right, force_left, force_right, bottom, top, bar_bottom, bar_height;
    double letter; // of the height
} page;

static page waves_page(const pcs_canvas *c, double height, bool has_force)
{
    double letter = pcs_gnuplot_font(c->width) / 72.0 * 2.54; // cm
    page p = { .left = 6.8 * letter / c->width, .bottom = 3.6 * letter / height, .letter = letter / height };
    p.right = has_force ? 0.72 : 1.0 - 2.0 * letter / c->width;
    p.force_left = p.right + 2.0 * letter / c->width;
    p.force_right = 1.0 - 2.0 * letter / c->width;
    p.top = 1.0 - 4.4 * letter / height;
    p.bar_bottom = p.top + 0.6 * p.letter;
    p.bar_height = 0.5 * p.letter;
    return p;
}

static void waves_put_label(pcs_file *f, const char *text, double x, double y, const char *how)
{
    pcs_file_text(f, "set label ");
    pcs_gnuplot_quote(f, text);
    pcs_file_print(f, " at screen %.4f, screen %.4f %s\n", x, y, how);
}

// An even grid is an image. Else every cell is a shape of its own, and those of an SVG file are kept few.
static void waves_put_plot(pcs_file *f, const pcs_waves *w, bool is_svg)
{
    int first = w->index * w->nplace, last = first + w->nplace - 1;
    double cells = (double)w->nplace * w->nrow;
    int stride = is_svg && !w->is_even ? (int)ceil(sqrt(cells / MOST_SHAPES)) : 1;
    pcs_file_print(f, "%s waves matrix nonuniform every %d:%d:%d:0:%d:%d using 1:2:3 with %s\n",
                   w->is_even ? "plot" : "set view map\nsplot", stride, stride, first, last, w->nrow - 1,
                   w->is_even ? "image" : "pm3d");
}

// 1, 2 or 5 times a power of ten, half of the value or more: a narrow axis has room for few numbers.
static double waves_step(double value)
{
    double power = pow(10.0, floor(log10(0.5 * value))), part = 0.5 * value / power;
    if (part <= 2.0) return part <= 1.0 ? power : 2.0 * power;
    return part <= 5.0 ? 5.0 * power : 10.0 * power;
}

static void waves_put_map(pcs_file *f, const pcs_waves *w, const page *p, bool is_svg)
{
    char text[2 * NAME_ROOM], unit[NAME_ROOM] = "";
    double size = w->size > 0.0 ? w->size : 1.0;
    if (*pcs_quantity_unit(w->field) != '\0') snprintf(unit, sizeof unit, " [%s]", pcs_quantity_unit(w->field));
    snprintf(text, sizeof text, "%.100s of %.100s%.40s", w->field, w->body, unit);
    pcs_file_print(f, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n", p->left, p->right);
    waves_put_label(f, text, 0.5 * (p->left + p->right), 1.0 - 0.8 * p->letter, "center");
    waves_put_label(f, "place along the body [m]", 0.5 * (p->left + p->right), 0.8 * p->letter, "center");
    waves_put_label(f, "t [s]", 0.12 * p->left, 0.5 * (p->bottom + p->top), "rotate center");
    pcs_file_text(f, "set palette defined (-1 '#2166ac', -0.5 '#92c5de', 0 '#f7f7f7', 0.5 '#f4a582', 1 '#b2182b')\n");
    pcs_file_print(f, "set cbrange [%.9g:%.9g]\nset colorbox horizontal user origin %.4f,%.4f size %.4f,%.4f\n", -size,
                   size, p->left, p->bar_bottom, p->right - p->left, p->bar_height);
    // Three or five numbers: of 0.8 times the size no step exceeds the size.
    pcs_file_print(f, "set cbtics %.9g out scale 0.3 offset 0,2.1\nset grid front\nunset key\n",
                   waves_step(0.8 * size));
    waves_put_plot(f, w, is_svg);
}

static void waves_put_forces(pcs_file *f, pcs_context *ctx, const pcs_waves *w, const page *p)
{
    char text[NAME_ROOM];
    double middle = 0.5 * (p->force_left + p->force_right);
    pcs_file_text(f, "unset label\nunset colorbox\nset format y ''\nset autoscale xfix\nset xrange [*<0:0<*]\n");
    pcs_file_print(f, "set xtics %.9g\n", waves_step(w->force_size));
    if (w->nforce > 1) pcs_file_text(f, "set key at graph 1, graph 0.98 right top samplen 1\n");
    pcs_file_print(f, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n", p->force_left, p->force_right);
    waves_put_label(f, w->nforce == 1 ? w->csv->names[w->forces[0]] : "contacts", middle, 1.0 - 0.8 * p->letter,
                    "center");
    waves_put_label(f, "force [N]", middle, 0.8 * p->letter, "center");
    for (int i = 0; i < w->nforce; i++) {
        const char *name = w->csv->names[w->forces[i]], *column = pcs_gnuplot_column(ctx, name, w->forces[i] + 1);
        pcs_file_text(f, i == 0 ? "plot " : ", \\\n     ");
        pcs_file_print(f, "history using %s:'t' with lines ls %d title ", column == NULL ? "1" : column, i + 2);
        snprintf(text, sizeof text, "%.*s", (int)(strrchr(name, '.') - name), name); // of the contact: room is short
        pcs_gnuplot_quote(f, text);
    }
    pcs_file_text(f, "\n");
}

static pcs_status waves_put_file(pcs_file *f, const char *name, const char *folder, const char *path)
{
    char *way;
    PCS_TRY(pcs_source_relative(f->ctx, folder, path, &way));
    pcs_file_print(f, "%s = ", name);
    pcs_gnuplot_path(f, way);
    pcs_file_text(f, "\n");
    return PCS_OK;
}

pcs_status pcs_waves_write(pcs_context *ctx, const pcs_canvas *canvas, const char *name, const pcs_waves *w)
{
    pcs_file *f;
    double height = 0.62 * canvas->width;
    char *script = pcs_gnuplot_text(ctx, "%s.gp", name);
    if (script == NULL) return PCS_NO_MEMORY;
    page p = waves_page(canvas, height, w->nforce > 0);
    PCS_TRY(pcs_file_create(ctx, canvas->folder, strlen(script) + 1, BUFFER, &f));
    PCS_TRY(pcs_file_open(f, script));
    pcs_gnuplot_head(f, canvas, name, height);
    PCS_TRY(waves_put_file(f, "waves", canvas->folder, w->file));
    if (w->nforce > 0) PCS_TRY(waves_put_file(f, "history", canvas->folder, w->csv->path));
    pcs_file_print(f, "set tmargin at screen %.4f\nset bmargin at screen %.4f\nset yrange [%.9g:%.9g]\nset multiplot\n",
                   p.top, p.bottom, w->time[0], w->time[1]);
    waves_put_map(f, w, &p, strcmp(canvas->format, "svg") == 0);
    if (w->nforce > 0) waves_put_forces(f, ctx, w, &p);
    pcs_file_text(f, "unset multiplot\n");
    return pcs_file_commit(f);
}
