#include "plot/gnuplot.h"
#include "plot/source.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BUFFER = 1 << 14, NCOLOUR = 7, MOST_FILES = 256 };

// Okabe and Ito's colours, told apart by all eyes, without the yellow that white paper swallows.
static const char *const colours[NCOLOUR] = { "#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                              "#E69F00", "#56B4E9", "#7F4F24" };

char *pcs_gnuplot_text(pcs_context *ctx, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = length < 0 ? NULL : pcs_take(ctx, (size_t)length + 1, 1, "a text");
    if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

// gnuplot splits the head at every comma and knows no other quotes.
static bool gnuplot_finds(const char *name)
{
    return *name != '\0' && strpbrk(name, ",\"'\\`\n") == NULL && *name != ' ' && name[strlen(name) - 1] != ' ';
}

const char *pcs_gnuplot_column(pcs_context *ctx, const char *name, int number)
{
    return gnuplot_finds(name) ? pcs_gnuplot_text(ctx, "'%s'", name) : pcs_gnuplot_text(ctx, "%d", number);
}

const char *pcs_gnuplot_term(pcs_context *ctx, const char *name, int number)
{
    return gnuplot_finds(name) ? pcs_gnuplot_text(ctx, "column('%s')", name)
                               : pcs_gnuplot_text(ctx, "column(%d)", number);
}

void pcs_gnuplot_quote(pcs_file *f, const char *text)
{
    pcs_file_text(f, "'");
    for (; *text != '\0'; text++) pcs_file_print(f, *text == '\'' ? "''" : "%c", *text);
    pcs_file_text(f, "'");
}

void pcs_gnuplot_path(pcs_file *f, const char *path)
{
    bool is_plain = isalnum((unsigned char)*path) || *path == '.' || *path == '/' || *path == '_';
    pcs_file_text(f, is_plain ? "" : "'./'.");
    pcs_gnuplot_quote(f, path);
}

double pcs_gnuplot_font(double width)
{
    return width < 12.0 ? 8.0 : 10.0;
}

// SVG counts in pixels of 1/96 inch, PNG is drawn at 300 dots per inch, PDF knows centimetres.
static void gnuplot_terminal(pcs_file *f, const pcs_canvas *c, double height)
{
    double font = pcs_gnuplot_font(c->width), svg = 96.0 / 2.54, png = 300.0 / 2.54;
    if (strcmp(c->format, "png") == 0)
        pcs_file_print(
            f, "set terminal pngcairo noenhanced size %.0f,%.0f font 'Helvetica,%g' fontscale %.4g linewidth %.4g",
            c->width * png, height * png, font, 300.0 / 96.0, 300.0 / 96.0);
    else if (strcmp(c->format, "pdf") == 0)
        pcs_file_print(
            f, "set terminal pdfcairo noenhanced size %.4gcm,%.4gcm font 'Helvetica,%g' fontscale 0.75 linewidth 2",
            c->width, height, font);
    else
        pcs_file_print(f, "set terminal svg noenhanced standalone size %.0f,%.0f font 'Helvetica,%.4g' linewidth 1",
                       c->width * svg, height * svg, font * 96.0 / 72.0);
    pcs_file_print(f, " background '#ffffff'\n");
}

void pcs_gnuplot_head(pcs_file *f, const pcs_canvas *canvas, const char *name, double height)
{
    pcs_file_print(f, "# Edit it, and run it again in its folder: gnuplot %s.gp\n", name);
    gnuplot_terminal(f, canvas, height);
    pcs_file_text(f, "set output ");
    char output[1024];
    snprintf(output, sizeof output, "%s.%s", name, canvas->format);
    pcs_gnuplot_path(f, output);
    pcs_file_text(f, "\nset encoding utf8\nset datafile separator ','\nset datafile missing NaN\n");
    pcs_file_text(f, "set border 3 lw 0.75\nset tics nomirror out scale 0.6\nset grid lw 0.5 lt 1 lc rgb '#dddddd'\n");
    // SVG spaces lines more widely than the others.
    if (strcmp(canvas->format, "svg") == 0) pcs_file_text(f, "set key spacing 0.8\nset xtics offset 0,0.4\n");
    pcs_file_text(f, "set autoscale xfix\nset style line 1 lw 1.5 pt 7 ps 0.5 lc rgb '#000000'\n");
    for (int i = 0; i < NCOLOUR; i++)
        pcs_file_print(f, "set style line %d lw 1.5 pt 7 ps 0.5 lc rgb '%s'\n", i + 2, colours[i]);
}

// A script as it is written, and the data files that its curves are from: data1, data2, ...
typedef struct script {
    pcs_file *f;
    const pcs_canvas *canvas;
    const pcs_chart *picture;
    int nfile;
    const char *files[MOST_FILES]; // [nfile]
} script;

static int script_find_file(const script *s, const char *file)
{
    int i = 0;
    while (i < s->nfile && strcmp(s->files[i], file) != 0) i++;
    return i;
}

// Data files by a name each, so that they are changed in one place.
static pcs_status script_name_file(script *s, const char *file)
{
    char *path;
    if (script_find_file(s, file) < s->nfile) return PCS_OK;
    if (s->nfile == MOST_FILES)
        return pcs_fail(s->f->ctx, PCS_BAD_INPUT, "more than %d files in one picture", MOST_FILES);
    s->files[s->nfile++] = file;
    PCS_TRY(pcs_source_relative(s->f->ctx, s->canvas->folder, file, &path));
    pcs_file_print(s->f, "data%d = ", s->nfile);
    pcs_gnuplot_path(s->f, path);
    pcs_file_text(s->f, "\n");
    return PCS_OK;
}

static pcs_status script_name_files(script *s)
{
    for (int k = 0; k < s->picture->npanel; k++)
        for (int i = 0; i < s->picture->panels[k].ncurve; i++)
            PCS_TRY(script_name_file(s, s->picture->panels[k].curves[i].file));
    return PCS_OK;
}

// Where panels and legends are, in cm.
typedef struct layout {
    bool is_beside; // legends are right of the panels, else above
    double left, right, bottom, top, line, gap, panel;
    double height;
} layout;

static int layout_labels(const pcs_panel *panel, size_t *longest)
{
    int count = 0;
    for (int i = 0; i < panel->ncurve; i++) {
        if (panel->curves[i].label == NULL) continue;
        count++;
        if (strlen(panel->curves[i].label) > *longest) *longest = strlen(panel->curves[i].label);
    }
    return count;
}

// A letter is about half as wide as it is high.
static layout layout_find(const pcs_canvas *canvas, const pcs_chart *p)
{
    double letter = pcs_gnuplot_font(canvas->width) / 72.0 * 2.54;
    layout l = {
        .left = 7.4 * letter, .right = 2.0 * letter, .bottom = 3.6 * letter, .top = letter, .line = 1.35 * letter
    };
    size_t longest = 0, tallest = 0; // of the legends and of the texts along the axes
    int nlabel = 0, most = 0;
    for (int k = 0; k < p->npanel; k++) {
        int count = layout_labels(&p->panels[k], &longest);
        nlabel += count;
        if (count > most) most = count;
        if (strlen(p->panels[k].ylabel) > tallest) tallest = strlen(p->panels[k].ylabel);
    }
    double legend = (0.54 * (double)longest + 4.8) * letter;
    l.is_beside = canvas->width >= 12.0 && legend < 0.4 * canvas->width;
    if (l.is_beside && nlabel > 0) l.right = legend;
    l.gap = p->shares_x ? 1.1 * letter : l.bottom + letter;
    l.panel = p->npanel == 1 ? 0.42 * canvas->width : fmax(0.26 * canvas->width, 11.0 * letter);
    l.panel = fmax(l.panel, 0.58 * (double)tallest * letter - l.gap);
    if (l.is_beside && l.panel < most * l.line) l.panel = most * l.line;
    l.height = l.top + l.bottom + p->npanel * l.panel + (p->npanel - 1) * l.gap;
    if (!l.is_beside) l.height += nlabel * l.line;
    return l;
}

static void script_curve(const script *s, const pcs_curve *c)
{
    static const char *const styles[] = { "with lines", "with impulses", "smooth unique with linespoints",
                                          "with points" };
    int file = script_find_file(s, c->file) + 1, colour = c->colour < 0 ? 1 : c->colour % NCOLOUR + 2;
    pcs_file_print(s->f, "data%d using ", file);
    pcs_file_text(s->f, c->x);
    pcs_file_text(s->f, ":");
    pcs_file_text(s->f, c->y);
    // Colours come again with another dash.
    pcs_file_print(s->f, " %s ls %d dt %d ", styles[c->style], colour,
                   c->colour < NCOLOUR ? c->dash : c->dash + c->colour / NCOLOUR);
    pcs_file_text(s->f, c->label == NULL ? "notitle" : "title ");
    if (c->label != NULL) pcs_gnuplot_quote(s->f, c->label);
    if (c->bound == NULL) return;
    pcs_file_print(s->f, ", \\\n     data%d using ", file);
    const char *const parts[] = { c->x, ":", c->y, ":", c->bound };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) pcs_file_text(s->f, parts[i]);
    pcs_file_print(s->f, " with yerrorbars ls %d notitle", colour);
}

// Texts of the axes at fixed places, whatever the width of the numbers; each terminal would put its own elsewhere.
static void script_labels(const script *s, const layout *l, const pcs_panel *panel, bool is_labelled)
{
    pcs_file *f = s->f;
    pcs_file_text(f, "unset label\nset label ");
    pcs_gnuplot_quote(f, panel->ylabel);
    pcs_file_print(f, " at screen %.4f, graph 0.5 rotate center\n", 0.1 * l->left / s->canvas->width);
    if (!is_labelled) return;
    pcs_file_text(f, "set label ");
    pcs_gnuplot_quote(f, panel->xlabel);
    pcs_file_print(f, " at graph 0.5, graph %.4f center\n", -0.78 * l->bottom / l->panel);
}

static void script_panel(const script *s, const layout *l, const pcs_panel *panel, bool is_labelled)
{
    pcs_file *f = s->f;
    pcs_file_print(f, "%sset logscale x\n%sset logscale y\n", panel->is_log_x ? "" : "un", panel->is_log_y ? "" : "un");
    const char *format = panel->xformat == NULL ? "%g" : panel->xformat;
    pcs_file_print(f, "set format x '%s'\nset format y '%%g'\n", is_labelled ? format : "");
    script_labels(s, l, panel, is_labelled);
    if (panel->before != NULL) pcs_file_text(f, panel->before);
    for (int i = 0; i < panel->ncurve; i++) {
        pcs_file_text(f, i == 0 ? "plot " : ", \\\n     ");
        script_curve(s, &panel->curves[i]);
    }
    pcs_file_text(f, "\n");
}

// Power of ten of a positive number; round-off does not decide that of 0.001.
static double script_power(double x)
{
    return floor(log10(x) + 1e-9);
}

// How many letters the longest of the numbers at an axis has, a blank with it: fixed from 1e-4 on, else with exponent.
static int script_letters(double largest, double step)
{
    int high = (int)script_power(largest), low = (int)script_power(step);
    if (high >= -4) return (high > 0 ? high + 1 : 1) + (low < 0 ? 1 - low : 0) + 1;
    return (high > low ? 6 + high - low : 5) + 1;
}

// The first step of 1, 2 or 5 times a power of ten whose numbers find room side by side.
static double script_step(const double range[2], double room)
{
    static const double factors[] = { 1.0, 2.0, 5.0, 10.0, 20.0, 50.0 };
    enum { NFACTOR = sizeof factors / sizeof *factors };
    double span = range[1] - range[0], power = pow(10.0, script_power(0.1 * span));
    double largest = fmax(fabs(range[0]), fabs(range[1]));
    int k = 0;
    while (k + 1 < NFACTOR && 2.0 * factors[k + 1] * power <= (1.0 + 1e-9) * span &&
           script_letters(largest, factors[k] * power) * span > room * factors[k] * power)
        k++;
    return factors[k] * power;
}

// Numbers below a hundredth are long, and so are those of a small part of an axis: few of them find room below a panel.
static void script_range(const script *s, const layout *l)
{
    const double *range = s->picture->range, span = range[1] - range[0];
    if (!(range[0] < range[1])) return;
    pcs_file_text(s->f, "set xrange [");
    pcs_file_number(s->f, range[0]);
    pcs_file_text(s->f, ":");
    pcs_file_number(s->f, range[1]);
    pcs_file_text(s->f, "]\n");
    if ((range[1] >= 1e-2 && span > 0.2 * range[1]) || span < 1e-300) return;
    double digit = 0.64 * pcs_gnuplot_font(s->canvas->width) / 72.0 * 2.54; // cm, of a wide font
    pcs_file_print(s->f, "set xtics %.3g\n", script_step(range, (s->canvas->width - l->left - l->right) / digit));
}

static void script_panels(const script *s, const layout *l)
{
    pcs_file *f = s->f;
    const pcs_chart *p = s->picture;
    double top = l->height - l->top; // cm from below
    pcs_file_print(f, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n", l->left / s->canvas->width,
                   1.0 - l->right / s->canvas->width);
    if (l->is_beside) pcs_file_text(f, "set key at graph 1.02, graph 1 left top Left reverse samplen 1.5\n");
    else pcs_file_text(f, "set key at graph 0, graph 1.02 left bottom Left reverse samplen 1.5\n");
    script_range(s, l);
    pcs_file_text(f, "set multiplot\n");
    for (int k = 0; k < p->npanel; k++) {
        size_t longest = 0;
        if (!l->is_beside) top -= layout_labels(&p->panels[k], &longest) * l->line;
        pcs_file_print(f, "\nset tmargin at screen %.4f\nset bmargin at screen %.4f\n", top / l->height,
                       (top - l->panel) / l->height);
        script_panel(s, l, &p->panels[k], !p->shares_x || k + 1 == p->npanel);
        top -= l->panel + l->gap;
    }
    pcs_file_text(f, "unset multiplot\n");
}

pcs_status pcs_gnuplot_write(pcs_context *ctx, const pcs_canvas *canvas, const pcs_chart *picture)
{
    script s = { .canvas = canvas, .picture = picture };
    char *name = pcs_gnuplot_text(ctx, "%s.gp", picture->name);
    if (name == NULL) return PCS_NO_MEMORY;
    layout l = layout_find(canvas, picture);
    PCS_TRY(pcs_file_create(ctx, canvas->folder, strlen(name) + 1, BUFFER, &s.f));
    PCS_TRY(pcs_file_open(s.f, name));
    pcs_gnuplot_head(s.f, canvas, picture->name, l.height);
    PCS_TRY(script_name_files(&s));
    if (picture->before != NULL) pcs_file_text(s.f, picture->before);
    script_panels(&s, &l);
    return pcs_file_commit(s.f);
}
