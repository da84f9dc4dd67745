// The commands; each gives the exit status.

#ifndef PCS_CLI_COMMANDS_H
#define PCS_CLI_COMMANDS_H

#include "cli/arguments.h"

int pcs_cli_run(pcs_context *ctx, const pcs_arguments *a);
int pcs_cli_statics(pcs_context *ctx, const pcs_arguments *a);
int pcs_cli_modes(pcs_context *ctx, const pcs_arguments *a);
int pcs_cli_new(pcs_context *ctx, const pcs_arguments *a);
int pcs_cli_check(pcs_context *ctx, const pcs_arguments *a);
int pcs_cli_list(pcs_context *ctx, const pcs_arguments *a);
// Prints what the last word may become, for shells.
int pcs_cli_complete(int nword, char **words);
// Version, compiler, flags and libraries, to the screen.
void pcs_cli_version(void);
// The name of case i to start from; NULL: there is none.
const char *pcs_cli_template(int i);
// Tells the errors of a case that cannot be built.
int pcs_cli_reject(const pcs_context *ctx, pcs_status status);

#endif
