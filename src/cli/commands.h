// The commands; each gives the exit status.

#ifndef PCS_CLI_COMMANDS_H
#define PCS_CLI_COMMANDS_H

#include "cli/arguments.h"

enum { PCS_CASE_PATH = 4096 };

// Sets `subject` to `path` if it is the name of a case and not a path; fails if it is neither.
pcs_status pcs_cli_find_case(pcs_context *ctx, const char **subject, char path[PCS_CASE_PATH]);

int pcs_cli_run(pcs_context *ctx, const pcs_arguments *a);
int pcs_cli_statics(pcs_context *ctx, const pcs_arguments *a);
int pcs_cli_modes(pcs_context *ctx, const pcs_arguments *a);
int pcs_cli_new(pcs_context *ctx, const pcs_arguments *a);
int pcs_cli_check(pcs_context *ctx, const pcs_arguments *a);
int pcs_cli_list(pcs_context *ctx, const pcs_arguments *a);
// Prints the possible completions of the last word, for shells.
int pcs_cli_complete(int nword, char **words);
// Prints version, compiler, flags and libraries.
void pcs_cli_version(void);
// Prints the errors of a case that cannot be built. Returns the exit status.
int pcs_cli_reject(const pcs_context *ctx, pcs_status status);

#endif
