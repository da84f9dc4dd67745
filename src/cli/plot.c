// The commands compare and report.

#include "cli/commands.h"
#include "plot/compare.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>

#define USUAL_TOLERANCE 1e-9

int pcs_cli_compare(pcs_context *ctx, const pcs_arguments *a)
{
    pcs_comparison comparison;
    pcs_compare_options options = { .path = { a->subject, a->more.text[0] },
                                    .tolerance = isnan(a->tolerance) ? USUAL_TOLERANCE : a->tolerance,
                                    .show = a->is_quiet ? pcs_cli_be_quiet : pcs_cli_show,
                                    .show_user = stdout };
    pcs_status status = pcs_compare(ctx, &options, &comparison);
    if (status != PCS_OK) {
        pcs_cli_reject(ctx, status);
        return PCS_CLI_BAD_USAGE;
    }
    return comparison.nbeyond > 0 ? PCS_CLI_COULD_NOT_GO_ON : PCS_CLI_DONE;
}

int pcs_cli_report(pcs_context *ctx, const pcs_arguments *a)
{
    const char *path = NULL;
    pcs_status status = pcs_report(ctx, a->subject, a->directory, &path);
    if (status != PCS_OK) return pcs_cli_fail(ctx, status);
    if (!a->is_quiet) printf("Report in %s\n", path);
    return PCS_CLI_DONE;
}
