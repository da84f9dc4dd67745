// Charts as SVG within the page: lines over a common axis, and bars of a balance; private to this folder.

#ifndef PCS_REPORT_CHART_H
#define PCS_REPORT_CHART_H

#include "report/html.h"

enum { PCS_CHART_SERIES = 8 }; // that can be told apart

typedef struct pcs_series {
    const char *name;
    int count;
    const double *x, *y; // [count] NAN: a gap in the line
    const double *bound; // [count] half of an error bar, NAN: none; NULL: none at all
} pcs_series;

typedef struct pcs_chart {
    const char *title, *x_name, *x_unit, *y_name, *y_unit; // names and units may be ""
    int nseries;
    const pcs_series *series;      // [nseries]
    int ncategory;                 // 0: the horizontal axis has numbers
    const char *const *categories; // [ncategory] texts at 0, 1, ...
    bool is_log;                   // horizontal axis, all positive
    bool has_marks;                // at every point
} pcs_chart;

// A figure with legend, title and a description for those who do not see it. Of long series at most 1500 points are
// drawn, the extremes of every stretch among them. Series without any number are left out.
void pcs_chart_lines(const pcs_page *page, const pcs_chart *chart);

typedef struct pcs_bar {
    const char *name;
    double value;
} pcs_bar;

// What was added and taken away, to one scale.
void pcs_chart_bars(const pcs_page *page, const char *title, const char *unit, int count, const pcs_bar *bars);

#endif
