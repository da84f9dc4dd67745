// From a case to a simulation or to what an analysis needs; and the catalogue of all there is to choose from.
//
// First every section is read and all errors are collected; only a case without errors is built.

#ifndef PCS_BUILD_BUILD_H
#define PCS_BUILD_BUILD_H

#include "analysis/analysis.h"
#include "sim/sim.h"

#include <stdio.h>

// Builds a loaded case.
pcs_status pcs_build_sim(pcs_context *ctx, pcs_case *c, pcs_sim **out);
// The same without what only motion needs: scheme and clock are checked where the case has them, and not made.
pcs_status pcs_build_analysis(pcs_context *ctx, pcs_case *c, pcs_analysis *out);
// Both from a file and assignments to its keys; every input error ends here, all of them at once.
pcs_status pcs_build_sim_from(pcs_context *ctx, const char *path, int nset, const char *const *set, pcs_sim **out);
pcs_status pcs_build_analysis_from(pcs_context *ctx, const char *path, int nset, const char *const *set,
                                   pcs_analysis *out);

// Every registered part with its options, ranges and defaults, as text or as Markdown; with `name` only the parts
// of that name. Gives the number of parts.
int pcs_catalogue_write(FILE *out, const char *name, bool is_markdown);
// Which schemes take which systems, and why not; with the name of a scheme that one alone, with another name nothing.
void pcs_catalogue_applies(FILE *out, const char *name, bool is_markdown);

#endif
