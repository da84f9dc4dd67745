// Studies: a case over values of its keys, run side by side, with what each run gives in one table.
//
// A study is a list of points, each an assignment of texts to keys of the case. A run is a point at one level of
// refinement; it lives in DIR/runs/<hash>, named by the hash of its resolved case and of the version of the program. A
// finished run is not repeated, so that a study which was interrupted or extended goes on.

#ifndef PCS_STUDY_STUDY_H
#define PCS_STUDY_STUDY_H

#include "core/context.h"
#include "core/option.h"

enum { PCS_STUDY_JOBS = 4096 }; // at most

// Everything is borrowed and must live until the study is over.
typedef struct pcs_study_options {
    const char *path;           // of a case, or of a study file
    const char *directory;      // where results go
    int nset, nvary, nmeasure;  // all in addition to what a study file says
    const char *const *set;     // [nset] "key=value" for all runs
    const char *const *vary;    // [nvary] "key=1,2,3" or "key=0:1:0.1"
    const char *const *measure; // [nmeasure] "name=place in summary.json", or the place alone
    const char *refine;         // "mesh=2,3 step=2,3", NULL: none
    int jobs;                   // runs at a time; 0: as many as there are processors; -1: as the study file says
    bool keeps_output;          // histories and frames are written as the case says; else only summaries
    // A text for the screen, or a line of progress that begins with '\r'.
    void (*show)(void *user, const char *text);
    void *show_user;
    bool is_terminal;                 // progress is shown
    const volatile int *stop_request; // not 0: no further run is begun
} pcs_study_options;

typedef struct pcs_study_result {
    int nrun, ndone, nkept; // runs, those that have finished, and of these those that were there before
    int nsame;              // finished, too: the same case as another run, which was made now
    int nrefused, nfailed;  // cases that are not allowed, and runs that ended early
} pcs_study_result;

// A key of the study file, or a function of measures, as documentation.
typedef struct pcs_study_key {
    const char *name, *summary;
    const pcs_option *options; // NULL: none
} pcs_study_key;

extern const pcs_study_key pcs_study_keys[]; // ends with a NULL name
// Function i of measures; its name is NULL beyond the last.
pcs_study_key pcs_study_function(int i);

// Writes study.csv and study.json, and shows the table. PCS_BAD_INPUT: the study itself is wrong. Runs that are refused
// or fail are rows with the reason.
pcs_status pcs_study_run(pcs_context *ctx, const pcs_study_options *options, pcs_study_result *out);

#endif
