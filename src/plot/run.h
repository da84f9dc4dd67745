// Calls gnuplot.

#ifndef PCS_PLOT_RUN_H
#define PCS_PLOT_RUN_H

#include "core/context.h"

// Runs gnuplot on the script in the folder. PCS_FAILED: it is not installed, or it refused; the message has its words.
pcs_status pcs_gnuplot_run(pcs_context *ctx, const char *folder, const char *script);

#endif
