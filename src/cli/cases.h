// Cases by their names: those in the folder `cases`, and those that were installed with the program.

#ifndef PCS_CLI_CASES_H
#define PCS_CLI_CASES_H

enum { PCS_CASE_PATH = 4096 };

typedef void pcs_case_taker(void *user, const char *name);

// The path of a case that was named, in `path` where it is another one than the name itself.
const char *pcs_cli_find_case(const char *subject, char path[PCS_CASE_PATH]);
// Gives every name to `take`; one may come twice.
void pcs_cli_each_case(pcs_case_taker *take, void *user);

#endif
