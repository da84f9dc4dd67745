// Results that are drawn together, and what tells one from another.

#ifndef PCS_PLOT_RUNS_H
#define PCS_PLOT_RUNS_H

#include "plot/csv.h"

typedef struct pcs_plot_run {
    const char *path;   // as the user named it
    const char *folder; // that holds the table
    pcs_csv *csv;       // history, or another table
    const char *label;  // in the legend
} pcs_plot_run;

// Labels by what differs between the cases (case.resolved.yaml beside the tables), three keys at most; by the names of
// the folders where that says nothing.
pcs_status pcs_runs_label(pcs_context *ctx, int nrun, pcs_plot_run *runs);

#endif
