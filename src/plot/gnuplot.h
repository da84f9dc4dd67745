// A picture of curves in panels, as a script of gnuplot beside the file that it draws.
//
// The script reads the numbers from the results' own CSV files, by paths from its own folder, so that it can be edited
// and run again there, also after the folder was moved.

#ifndef PCS_PLOT_GNUPLOT_H
#define PCS_PLOT_GNUPLOT_H

#include "output/file.h"

typedef enum pcs_curve_style {
    PCS_CURVE_LINE,
    PCS_CURVE_IMPULSES, // a bar from zero for every row
    PCS_CURVE_POINTS,   // joined by a line, in the order of the horizontal axis
    PCS_CURVE_MARKS,    // points alone
} pcs_curve_style;

typedef struct pcs_curve {
    const char *file;  // CSV, as the caller sees it
    const char *x, *y; // columns or expressions as gnuplot's `using` takes them
    const char *bound; // half of the error bar, likewise; NULL: none
    const char *label; // NULL: not in the legend
    int colour;        // number in the list of colours, -1: black
    int dash;          // gnuplot's dash type, 1: a full line
    pcs_curve_style style;
} pcs_curve;

typedef struct pcs_panel {
    const char *xlabel, *ylabel;
    const char *before;  // commands before the plot, NULL: none
    const char *xformat; // of the numbers at the horizontal axis, NULL: %g
    bool is_log_x, is_log_y;
    int ncurve;
    pcs_curve *curves; // [ncurve]
} pcs_panel;

typedef struct pcs_chart {
    const char *name;   // of the file, without its ending
    const char *before; // commands before all panels, NULL: none
    double range[2];    // of the horizontal axis, both 0: as the curves are
    bool shares_x;      // panels have one horizontal axis, labelled once
    int npanel;
    pcs_panel *panels;             // [npanel] from above
    const struct pcs_waves *waves; // an x-t diagram in place of panels, NULL: none
} pcs_chart;

typedef struct pcs_canvas {
    const char *folder; // where script and picture go
    const char *format; // "svg", "png" or "pdf"
    double width;       // cm
} pcs_canvas;

// A column for `using`: its name in quotes, or its number (from 1) where gnuplot could not find the name.
const char *pcs_gnuplot_column(pcs_context *ctx, const char *name, int number);
// The same as a term of an expression.
const char *pcs_gnuplot_term(pcs_context *ctx, const char *name, int number);
// "text" formatted and living as long as the context; NULL without memory.
char *pcs_gnuplot_text(pcs_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Head of a script: terminal and output file, colours, data files. Height in cm.
void pcs_gnuplot_head(pcs_file *f, const pcs_canvas *canvas, const char *name, double height);
// A text in gnuplot's quotes.
void pcs_gnuplot_quote(pcs_file *f, const char *text);
// A path in quotes that gnuplot takes for nothing else: '<', '|', '-' and '+' would have a meaning at its start.
void pcs_gnuplot_path(pcs_file *f, const char *path);
// Points of a letter at this width.
double pcs_gnuplot_font(double width);

// Writes <folder>/<name>.gp.
pcs_status pcs_gnuplot_write(pcs_context *ctx, const pcs_canvas *canvas, const pcs_chart *picture);
// Runs gnuplot on the script in the folder. PCS_FAILED: it is not installed, or it refused; the message has its words.
pcs_status pcs_gnuplot_run(pcs_context *ctx, const char *folder, const char *script);

#endif
