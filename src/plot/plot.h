// Pictures of results, drawn by gnuplot from scripts that stay beside them.

#ifndef PCS_PLOT_PLOT_H
#define PCS_PLOT_PLOT_H

#include "core/context.h"

typedef struct pcs_plot_options {
    int nword;
    const char *const *words; // [nword] folders and CSV files are results, anything else is a column
    const char *output;       // a picture *.svg, *.png or *.pdf, or a folder; NULL: in the folder of the first result
    const char *axis;         // column of the horizontal axis; NULL: t
    const char *exact;        // CSV file with a solution to draw beside; NULL: none
    double range[2];          // part of the horizontal axis, only with columns; both 0: all of it
    double width;             // cm; 0: the usual one
    // A text for the screen.
    void (*show)(void *user, const char *text);
    void *show_user;
} pcs_plot_options;

// PCS_BAD_INPUT: something named is not there. PCS_FAILED: gnuplot is missing or refused; scripts are written.
pcs_status pcs_plot(pcs_context *ctx, const pcs_plot_options *options);

#endif
