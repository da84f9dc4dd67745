// What comparisons of histories and of studies share; private to this folder.

#ifndef PCS_PLOT_COMPARE_PARTS_H
#define PCS_PLOT_COMPARE_PARTS_H

#include "plot/compare.h"
#include "plot/csv.h"

// Both are tables of studies, or with is_modes both of modes.
pcs_status pcs_compare_studies(pcs_context *ctx, const pcs_compare_options *options, const char *const paths[2],
                               bool is_modes, pcs_comparison *out);

// Names of columns that only one has.
pcs_status pcs_compare_find_only(pcs_csv *const csv[2], pcs_comparison *out);
void pcs_compare_show_only(const pcs_compare_options *options, const pcs_comparison *c);

#endif
