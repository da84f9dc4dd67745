#include "report/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 480, HEIGHT = 270, RIGHT = 14, TOP = 12, BOTTOM = 46, BUCKETS = 375, MOST_POINTS = 4 * BUCKETS };

#define LETTER 8.2 // width of a digit, px

// Values from low to high (their logarithms where is_log) are drawn from begin to end; ticks are whole multiples of
// step, written as value / 10^exponent.
typedef struct axis {
    double low, high, step;
    double begin, end; // px
    int exponent, decimals;
    bool is_log;
} axis;

typedef struct canvas {
    const pcs_page *page;
    const pcs_chart *chart;
    axis x, y;
} canvas;

static double axis_place(const axis *a, double value)
{
    double v = a->is_log ? log10(value) : value;
    return a->begin + (v - a->low) / (a->high - a->low) * (a->end - a->begin);
}

static void axis_widen(axis *a, double value)
{
    if (!isfinite(value)) return;
    if (value < a->low) a->low = value;
    if (value > a->high) a->high = value;
}

// Steps of 1, 2 or 5 times a power of ten, about five of them, and the power of ten that labels leave out.
static void axis_finish(axis *a, double padding)
{
    if (!(a->low <= a->high)) a->low = a->high = 0.0;
    double size = fmax(fabs(a->low), fabs(a->high)), range = a->high - a->low;
    // What differs by round-off only is drawn as a level line.
    if (range <= 1e-9 * size) range = size > 0.0 ? 0.2 * size : 2.0, a->low -= 0.5 * range, a->high += 0.5 * range;
    else a->low -= padding * range, a->high += padding * range;
    double rough = (a->high - a->low) / 5.0, power = pow(10.0, floor(log10(rough))), part = rough / power;
    a->step = 10.0 * power;
    if (part <= 5.0) a->step = 5.0 * power;
    if (part <= 2.0) a->step = 2.0 * power;
    int order = size > 0.0 ? (int)floor(log10(size)) : 0;
    a->exponent = order >= -2 && order <= 4 ? 0 : 3 * (int)floor(order / 3.0);
    int last = (int)floor(log10(a->step) + 1e-9) - a->exponent;
    a->decimals = last < 0 ? -last : 0;
    if (a->decimals > 12) a->decimals = 12;
}

static void axis_finish_log(axis *a)
{
    a->low = log10(a->low) - 0.05;
    a->high = log10(a->high) + 0.05;
    a->is_log = true;
}

static void canvas_scale(canvas *c)
{
    const pcs_chart *chart = c->chart;
    c->x = c->y = (axis){ .low = INFINITY, .high = -INFINITY };
    for (int s = 0; s < chart->nseries; s++) {
        const pcs_series *line = &chart->series[s];
        for (int i = 0; i < line->count; i++) {
            double bound = line->bound != NULL && isfinite(line->bound[i]) ? line->bound[i] : 0.0;
            axis_widen(&c->x, line->x[i]);
            if (!isfinite(line->x[i])) continue;
            axis_widen(&c->y, line->y[i] - bound);
            axis_widen(&c->y, line->y[i] + bound);
        }
    }
    if (chart->is_log) axis_finish_log(&c->x);
    else axis_finish(&c->x, chart->has_marks ? 0.05 : 0.0);
    axis_finish(&c->y, 0.05);
    if (chart->ncategory > 0) c->x.low = -0.5, c->x.high = chart->ncategory - 0.5;
    char low[PCS_HTML_NUMBER], high[PCS_HTML_NUMBER];
    double power = pow(10.0, c->y.exponent);
    size_t length = strlen(pcs_html_fixed(c->y.low / power, c->y.decimals, low));
    size_t other = strlen(pcs_html_fixed(c->y.high / power, c->y.decimals, high));
    c->x.begin = 30.0 + LETTER * (double)(other > length ? other : length);
    c->x.end = WIDTH - RIGHT;
    c->y.begin = HEIGHT - BOTTOM;
    c->y.end = TOP;
}

// "energy [10³ J]".
static void canvas_axis_name(const canvas *c, const char *name, const char *unit, int exponent)
{
    char power[PCS_HTML_NUMBER];
    pcs_page_text(c->page, name);
    if (unit[0] == '\0' && exponent == 0) return;
    pcs_page_print(c->page, "%s[%s%s", name[0] == '\0' ? "" : " ", exponent == 0 ? "" : pcs_html_power(exponent, power),
                   exponent != 0 && unit[0] != '\0' ? " " : "");
    pcs_page_text(c->page, unit);
    pcs_page_markup(c->page, "]");
}

static void canvas_line(const canvas *c, const char *class, const double from[2], const double to[2])
{
    char x0[PCS_HTML_NUMBER], y0[PCS_HTML_NUMBER], x1[PCS_HTML_NUMBER], y1[PCS_HTML_NUMBER];
    pcs_page_print(c->page, "<line class=\"%s\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>", class,
                   pcs_html_fixed(from[0], 1, x0), pcs_html_fixed(from[1], 1, y0), pcs_html_fixed(to[0], 1, x1),
                   pcs_html_fixed(to[1], 1, y1));
}

static void canvas_label(const canvas *c, double x, double y, const char *anchor, const char *text)
{
    char place[2][PCS_HTML_NUMBER];
    pcs_page_print(c->page, "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\">", pcs_html_fixed(x, 1, place[0]),
                   pcs_html_fixed(y, 1, place[1]), anchor);
    pcs_page_text(c->page, text);
    pcs_page_markup(c->page, "</text>");
}

static void canvas_tick_x(const canvas *c, double value, const char *text)
{
    double x = axis_place(&c->x, value);
    canvas_line(c, "grid", (double[]){ x, c->y.begin }, (double[]){ x, c->y.end });
    // A label at the right end would be cut off.
    double half = 0.5 * LETTER * (double)strlen(text), most = WIDTH - 2.0 - half;
    canvas_label(c, x < most ? x : most, c->y.begin + 16.0, "middle", text);
}

static void canvas_ticks(const canvas *c, const axis *a, bool is_x)
{
    char text[PCS_HTML_NUMBER];
    double power = pow(10.0, a->exponent), first = ceil(a->low / a->step - 1e-9);
    for (double k = first; k * a->step <= a->high + 1e-9 * a->step; k += 1.0) {
        double value = k * a->step;
        pcs_html_fixed(value / power, a->decimals, text);
        if (is_x) {
            canvas_tick_x(c, value, text);
            continue;
        }
        double y = axis_place(a, value);
        canvas_line(c, "grid", (double[]){ c->x.begin, y }, (double[]){ c->x.end, y });
        canvas_label(c, c->x.begin - 5.0, y + 4.5, "end", text);
    }
}

// 1, 2 and 5 times powers of ten, or powers of ten alone over many decades.
static void canvas_ticks_log(const canvas *c)
{
    static const double parts[] = { 1.0, 2.0, 5.0 };
    double range = c->x.high - c->x.low;
    int npart = range > 2.5 ? 1 : 3, stride = 1 + (int)(range / 8.0);
    for (int decade = (int)floor(c->x.low); decade <= c->x.high; decade += stride) {
        for (int k = 0; k < npart; k++) {
            char text[PCS_HTML_NUMBER];
            double value = parts[k] * pow(10.0, decade), place = log10(value);
            if (place >= c->x.low && place <= c->x.high) canvas_tick_x(c, value, pcs_html_number(value, 3, text));
        }
    }
}

// One category of how many has room for its label.
static int canvas_stride(const canvas *c)
{
    size_t longest = 1;
    for (int k = 0; k < c->chart->ncategory; k++) {
        size_t length = strlen(c->chart->categories[k]);
        if (length > longest) longest = length;
    }
    double each = (c->x.end - c->x.begin) / (c->chart->ncategory > 0 ? c->chart->ncategory : 1);
    return 1 + (int)(LETTER * (double)longest / each);
}

static void canvas_axes(const canvas *c)
{
    const pcs_chart *chart = c->chart;
    canvas_ticks(c, &c->y, false);
    if (chart->ncategory == 0 && !chart->is_log) canvas_ticks(c, &c->x, true);
    if (chart->is_log) canvas_ticks_log(c);
    int stride = canvas_stride(c);
    for (int k = 0; k < chart->ncategory; k += stride) canvas_tick_x(c, k, chart->categories[k]);
    canvas_line(c, "axis", (double[]){ c->x.begin, c->y.begin }, (double[]){ c->x.end, c->y.begin });
    canvas_line(c, "axis", (double[]){ c->x.begin, c->y.begin }, (double[]){ c->x.begin, c->y.end });
    pcs_page_print(c->page, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (int)(0.5 * (c->x.begin + c->x.end)),
                   HEIGHT - 8);
    canvas_axis_name(c, chart->x_name, chart->x_unit, c->x.exponent);
    pcs_page_print(c->page, "</text><text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">",
                   (int)(0.5 * (c->y.begin + c->y.end)));
    canvas_axis_name(c, chart->y_name, chart->y_unit, c->y.exponent);
    pcs_page_markup(c->page, "</text>\n");
}

static bool series_has(const pcs_series *line, int i)
{
    return isfinite(line->x[i]) && isfinite(line->y[i]);
}

static int series_count(const pcs_series *line)
{
    int count = 0;
    for (int i = 0; i < line->count; i++) count += series_has(line, i);
    return count;
}

// Draws on to point i; the line is broken where a point between has no number. Gives i.
static int canvas_draw_to(const canvas *c, const pcs_series *line, int previous, int i)
{
    char x[PCS_HTML_NUMBER], y[PCS_HTML_NUMBER];
    bool is_broken = previous < 0;
    for (int k = previous + 1; k < i && !is_broken; k++) is_broken = !series_has(line, k);
    pcs_page_print(c->page, "%c%s,%s", is_broken ? 'M' : 'L', pcs_html_fixed(axis_place(&c->x, line->x[i]), 2, x),
                   pcs_html_fixed(axis_place(&c->y, line->y[i]), 2, y));
    return i;
}

// Of points begin <= i < end the first, the lowest, the highest and the last, in their order.
static int canvas_draw_bucket(const canvas *c, const pcs_series *line, int previous, int begin, int end)
{
    int first = -1, last = -1, low = -1, high = -1;
    for (int i = begin; i < end; i++) {
        if (!series_has(line, i)) continue;
        if (first < 0) first = low = high = i;
        if (line->y[i] < line->y[low]) low = i;
        if (line->y[i] > line->y[high]) high = i;
        last = i;
    }
    if (first < 0) return previous;
    int order[4] = { first, low < high ? low : high, low < high ? high : low, last };
    for (int k = 0; k < 4; k++)
        if (k == 0 || order[k] > order[k - 1]) previous = canvas_draw_to(c, line, previous, order[k]);
    return previous;
}

static void canvas_draw_line(const canvas *c, int s)
{
    const pcs_series *line = &c->chart->series[s];
    int previous = -1, nbucket = line->count > MOST_POINTS ? BUCKETS : line->count;
    pcs_page_print(c->page, "<path class=\"y s%d\" d=\"", s % PCS_CHART_SERIES);
    for (int b = 0; b < nbucket; b++) {
        int begin = (int)((long long)line->count * b / nbucket),
            end = (int)((long long)line->count * (b + 1) / nbucket);
        previous = canvas_draw_bucket(c, line, previous, begin, end);
    }
    pcs_page_markup(c->page, "\"/>\n");
}

// A circle, a square, a diamond or a triangle, so that series differ without colours, too.
static void chart_mark(const pcs_page *page, int s, const char *x, const char *y)
{
    static const char *const shapes[] = { "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", "m-3.5,-3.5h7v7h-7z",
                                          "m0,-5l5,5l-5,5l-5,-5z", "m0,-5l5,8.5h-10z" };
    pcs_page_print(page, "<path class=\"mark m%d\" d=\"M%s,%s%s\"/>", s % PCS_CHART_SERIES, x, y, shapes[s % 4]);
}

static void canvas_draw_mark(const canvas *c, int s, int i)
{
    const pcs_series *line = &c->chart->series[s];
    char x[PCS_HTML_NUMBER], y[PCS_HTML_NUMBER], low[PCS_HTML_NUMBER], high[PCS_HTML_NUMBER];
    if (!series_has(line, i)) return;
    pcs_html_fixed(axis_place(&c->x, line->x[i]), 2, x);
    chart_mark(c->page, s, x, pcs_html_fixed(axis_place(&c->y, line->y[i]), 2, y));
    if (line->bound == NULL || !isfinite(line->bound[i])) return;
    pcs_html_fixed(axis_place(&c->y, line->y[i] - line->bound[i]), 2, low);
    pcs_html_fixed(axis_place(&c->y, line->y[i] + line->bound[i]), 2, high);
    pcs_page_print(c->page, "<path class=\"error s%d\" d=\"M%s,%sV%sm-4,0h8M%s,%sm-4,0h8\"/>", s % PCS_CHART_SERIES, x,
                   low, high, x, low);
}

// "wall: from 0 to 3, between -1 and 4 N".
static void canvas_describe(const canvas *c, const pcs_series *line)
{
    int first = -1, last = -1;
    double low = INFINITY, high = -INFINITY;
    char number[4][PCS_HTML_NUMBER];
    for (int i = 0; i < line->count; i++) {
        if (!series_has(line, i)) continue;
        if (first < 0) first = i;
        last = i;
        low = fmin(low, line->y[i]);
        high = fmax(high, line->y[i]);
    }
    if (first < 0) return;
    pcs_page_markup(c->page, " ");
    pcs_page_text(c->page, line->name);
    pcs_page_print(c->page, ": from %s to %s, between %s and %s ", pcs_html_number(line->y[first], 4, number[0]),
                   pcs_html_number(line->y[last], 4, number[1]), pcs_html_number(low, 4, number[2]),
                   pcs_html_number(high, 4, number[3]));
    pcs_page_text(c->page, c->chart->y_unit);
    pcs_page_markup(c->page, ".");
}

static void canvas_legend(const canvas *c)
{
    pcs_page_markup(c->page, "<ul class=\"legend\">");
    for (int s = 0; s < c->chart->nseries; s++) {
        if (series_count(&c->chart->series[s]) == 0) continue;
        pcs_page_markup(c->page, "<li><svg width=\"34\" height=\"12\" aria-hidden=\"true\">");
        if (c->chart->ncategory == 0)
            pcs_page_print(c->page, "<line class=\"y s%d\" x1=\"0\" y1=\"6\" x2=\"34\" y2=\"6\"/>",
                           s % PCS_CHART_SERIES);
        if (c->chart->has_marks) chart_mark(c->page, s, "17", "6");
        pcs_page_markup(c->page, "</svg>");
        pcs_page_text(c->page, c->chart->series[s].name);
        pcs_page_markup(c->page, "</li>");
    }
    pcs_page_markup(c->page, "</ul>\n");
}

void pcs_chart_lines(const pcs_page *page, const pcs_chart *chart)
{
    canvas c = { .page = page, .chart = chart };
    int npoint = 0;
    for (int s = 0; s < chart->nseries; s++) npoint += series_count(&chart->series[s]);
    if (npoint == 0) return;
    canvas_scale(&c);
    pcs_page_markup(page, "<figure>\n<figcaption>");
    pcs_page_text(page, chart->title);
    pcs_page_print(page, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", WIDTH, HEIGHT);
    pcs_page_text(page, chart->title);
    pcs_page_markup(page, "</title><desc>Over ");
    pcs_page_text(page, chart->x_name);
    pcs_page_markup(page, ".");
    for (int s = 0; s < chart->nseries; s++) canvas_describe(&c, &chart->series[s]);
    pcs_page_markup(page, "</desc>\n");
    canvas_axes(&c);
    for (int s = 0; s < chart->nseries; s++) {
        const pcs_series *line = &chart->series[s];
        if (series_count(line) == 0) continue;
        if (chart->ncategory == 0) canvas_draw_line(&c, s);
        bool has_room = line->count <= MOST_POINTS || chart->ncategory > 0;
        for (int i = 0; i < (chart->has_marks && has_room ? line->count : 0); i++) canvas_draw_mark(&c, s, i);
    }
    pcs_page_markup(page, "</svg>\n");
    if (chart->nseries > 1) canvas_legend(&c);
    pcs_page_markup(page, "</figure>\n");
}

void pcs_chart_bars(const pcs_page *page, const char *title, const char *unit, int count, const pcs_bar *bars)
{
    enum { ROW = 26, NAMES = 150, VALUES = 110 };
    char number[4][PCS_HTML_NUMBER];
    double low = 0.0, high = 0.0;
    for (int k = 0; k < count; k++) {
        low = fmin(low, bars[k].value);
        high = fmax(high, bars[k].value);
    }
    axis a = { .low = low, .high = high > low ? high : low + 1.0, .begin = NAMES, .end = WIDTH - VALUES };
    canvas c = { .page = page };
    pcs_page_print(
        page, "<figure>\n<figcaption>%s</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\"><title>%s</title><desc>",
        title, WIDTH, count * ROW + 4, title);
    for (int k = 0; k < count; k++)
        pcs_page_print(page, "%s: %s %s. ", bars[k].name, pcs_html_number(bars[k].value, 6, number[0]), unit);
    pcs_page_markup(page, "</desc>\n");
    double zero = axis_place(&a, 0.0);
    for (int k = 0; k < count; k++) {
        double place = axis_place(&a, bars[k].value), y = k * ROW + 4.0;
        pcs_page_print(page, "<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"18\"/>",
                       bars[k].value < 0.0 ? "m1" : "m0", pcs_html_fixed(fmin(place, zero), 2, number[0]),
                       pcs_html_fixed(y, 0, number[1]), pcs_html_fixed(fabs(place - zero), 2, number[2]));
        canvas_label(&c, NAMES - 8.0, y + 14.0, "end", bars[k].name);
        snprintf(number[0], sizeof number[0], "%s%s %s", bars[k].value > 0.0 ? "+" : "",
                 pcs_html_number(bars[k].value, 5, number[3]), unit);
        canvas_label(&c, WIDTH - 4.0, y + 14.0, "end", number[0]);
    }
    canvas_line(&c, "axis", (double[]){ zero, 0.0 }, (double[]){ zero, count * ROW + 4.0 });
    pcs_page_markup(page, "</svg>\n</figure>\n");
}
