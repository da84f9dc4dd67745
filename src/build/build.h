// From a case to a simulation or to what an analysis needs.
//
// First every section is read and all errors are collected; only a case without errors is built.

#ifndef PCS_BUILD_BUILD_H
#define PCS_BUILD_BUILD_H

#include "analysis/analysis.h"
#include "sim/sim.h"

struct percuss_system_definition;

// Source of a case; all but `own` is borrowed for the call.
typedef struct pcs_source {
    const char *path;     // path of the file or folder; with `text`, its name in messages
    const char *text;     // content of the case; NULL to read the file
    pcs_case *loaded;     // the case itself, in place of all that says where it comes from, or NULL
    const pcs_case *like; // a loaded case to copy that has not been read since and outlives the copy, or NULL
    int nset;
    const char *const *set;                      // [nset] assignments to keys
    const struct percuss_system_definition *own; // a system that the case may name besides the registered ones, or NULL
    bool no_plugins;                             // refuses a case that names a plug-in before any of its code runs
} pcs_source;

// Loads or copies a case and makes the assignments of the source.
pcs_status pcs_build_load_case(pcs_context *ctx, const pcs_source *source, pcs_case **out);
// Builds the model for an analysis; scheme and clock are checked if the case has them, and not created.
pcs_status pcs_build_analysis_of(pcs_context *ctx, const pcs_source *source, pcs_analysis *out);
// Builds what `check` looks at: a simulation, or the model of a case without `scheme` and `time`, which makes no steps.
pcs_status pcs_build_to_check(pcs_context *ctx, const pcs_source *source, pcs_sim **out);
pcs_status pcs_build_sim_of(pcs_context *ctx, const pcs_source *source, pcs_sim **out);
// Loads and builds a file with assignments to its keys; all input errors are reported at once.
static inline pcs_status pcs_build_sim_from(pcs_context *ctx, const char *path, int nset, const char *const *set,
                                            pcs_sim **out)
{
    return pcs_build_sim_of(ctx, &(pcs_source){ .path = path, .nset = nset, .set = set }, out);
}
static inline pcs_status pcs_build_analysis_from(pcs_context *ctx, const char *path, int nset, const char *const *set,
                                                 pcs_analysis *out)
{
    return pcs_build_analysis_of(ctx, &(pcs_source){ .path = path, .nset = nset, .set = set }, out);
}

// Writes "15 dofs, 1 contact point, 1 joint of 2 conditions, alpha_ggl, 900 steps of 0.0005 s", or what a run needs.
void pcs_describe_sim(const pcs_sim *sim, size_t size, char *text);
// Gives wave speeds, impedances and travel times of the lines of bars and beams to `put`, a line of text each; nothing
// if the model has none.
typedef void pcs_describe_put(void *user, const char *line);
void pcs_describe_bars(const pcs_sim *sim, pcs_describe_put *put, void *user);

#endif
