// The paths of keys that an assignment may name.

#ifndef PCS_CASE_PATHS_H
#define PCS_CASE_PATHS_H

#include "case/case.h"

typedef void pcs_path_taker(void *user, const char *path);

// Gives every path to `take`: of the file as it is written before the case is read, of all that readers know after it.
void pcs_case_paths(pcs_case *c, pcs_path_taker *take, void *user);

#endif
