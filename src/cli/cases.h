// Cases by their names: those in the folder `cases`, and those that came with the program.

#ifndef PCS_CLI_CASES_H
#define PCS_CLI_CASES_H

#include "core/context.h"

enum { PCS_CASE_PATH = 4096 };

typedef void pcs_case_taker(void *user, const char *name);

// Sets `subject` to `path` if it is the name of a case and not a path; fails if it is neither.
pcs_status pcs_cli_find_case(pcs_context *ctx, const char **subject, char path[PCS_CASE_PATH]);
// Gives every name to `take`; one may come twice.
void pcs_cli_each_case(pcs_case_taker *take, void *user);

#endif
