// The command report.

#include "cli/commands.h"
#include "report/report.h"

#include <stdio.h>

int pcs_cli_report(pcs_context *ctx, const pcs_arguments *a)
{
    const char *path = NULL;
    pcs_status status = pcs_report(ctx, a->subject, a->directory, &path);
    if (status != PCS_OK) return pcs_cli_fail(ctx, status);
    if (!a->is_quiet) printf("Report in %s\n", path);
    return PCS_CLI_DONE;
}
