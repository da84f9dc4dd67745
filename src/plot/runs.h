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

// The last part of one of the paths, or all of it where another one ends alike.
const char *pcs_runs_short_key(const char *const *paths, int npath, int which);
// Adds "key = value" to a label in a buffer of `room` bytes; of a type the value alone.
void pcs_runs_add_value(const char *key, const char *text, size_t room, char *label);

#endif
