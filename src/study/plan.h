// The points of a study: the product of axes, each of which gives values to one key or to several at once; private to
// this folder.

#ifndef PCS_STUDY_PLAN_H
#define PCS_STUDY_PLAN_H

#include "case/case.h"
#include "study/study.h"

enum { PCS_STUDY_KEYS = 64, PCS_STUDY_AXES = 32, PCS_STUDY_POINTS = 1000000 /* and runs */, PCS_STUDY_LEVELS = 16 };

typedef struct pcs_axis {
    int first_key, nkey;       // among the keys of the plan
    int count;                 // places
    const char *const *values; // [count * nkey] YAML texts; NULL: the case's own
} pcs_axis;

// How runs are refined: power k divides by factor^k.
typedef struct pcs_refinement {
    int factor, levels; // 0 levels: not refined
} pcs_refinement;

typedef struct pcs_measure_request {
    const char *name, *place; // of its column, and where it stands in summary.json, or a formula
} pcs_measure_request;

typedef struct pcs_plan {
    pcs_context *ctx;
    const char *case_path;
    const pcs_case *loaded; // from there, once for all runs; NULL: it cannot be read, as each of them will tell
    int nset;
    const char **set; // [nset] of all runs
    int nkey;
    const char *keys[PCS_STUDY_KEYS];
    int naxis;
    pcs_axis axes[PCS_STUDY_AXES];
    int npoint, nlevel; // runs are points times levels
    pcs_refinement mesh, step;
    bool is_separate; // mesh and step are refined one by one, each with the other on its finest level
    int nmeasure;
    pcs_measure_request *measures; // [nmeasure]; none: those that every run has
    bool needs_history;            // of some measure
    int jobs;
    bool keeps_output;
    const volatile int *stop_request; // of the options
} pcs_plan;

// From the options and, where the path is that of one, a study file.
pcs_status pcs_plan_make(pcs_context *ctx, const pcs_study_options *options, pcs_plan *out);
// "key=1,2,3" or "key=0:1:0.1" as a further axis.
pcs_status pcs_plan_vary(pcs_plan *plan, const char *text);
// "0.5:1:0.1" as numbers from the first up to the second, else the values between commas outside brackets.
pcs_status pcs_plan_values(pcs_context *ctx, const char *key, const char *text, int *count, const char ***out);
pcs_status pcs_plan_add_axis(pcs_plan *plan, int nkey, const char *const *keys, int count, const char *const *values);
pcs_status pcs_plan_refine(pcs_plan *plan, const char *what, int factor, int levels);
// Counts the levels when all has been said about them.
pcs_status pcs_plan_settle(pcs_plan *plan);
// The power of the factor that divides mesh size or step on a level. Together: the level itself. One by one: first the
// levels of the step but its finest, then those of the mesh; the last is the finest of both.
int pcs_plan_power(const pcs_plan *plan, bool of_mesh, int level);
// The levels over which one of the two is refined, coarse to fine; gives their number.
int pcs_plan_sequence(const pcs_plan *plan, bool of_mesh, int levels[PCS_STUDY_LEVELS]);
// `place` is a place or formula; tables in it stand from `folder` on, NULL: from the present one.
pcs_status pcs_plan_measure(pcs_plan *plan, const char *name, const char *place, const char *folder);
// "key=value"; NULL without memory.
const char *pcs_plan_assignment(pcs_context *ctx, const char *key, const char *value);
// Value of a key at a point, or NULL.
const char *pcs_plan_value(const pcs_plan *plan, int point, int key);

// Reads a study file into the plan; *is_study: it has the key `case`, and is one.
pcs_status pcs_study_read(pcs_plan *plan, const char *path, bool *is_study);

#endif
