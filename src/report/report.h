// Reports: one page of HTML that holds all it shows, of a run or of a study.

#ifndef PCS_REPORT_REPORT_H
#define PCS_REPORT_REPORT_H

#include "core/context.h"

// `results` is the folder of a run or of a study. `output` is the page, or a folder for report.html; NULL: that of the
// results. *path is where it went, and lives as long as the context.
pcs_status pcs_report(pcs_context *ctx, const char *results, const char *output, const char **path);

#endif
