// Runs of a study, made by worker processes that take one after another; private to this folder.

#ifndef PCS_STUDY_WORK_H
#define PCS_STUDY_WORK_H

#include "study/plan.h"

typedef enum pcs_run_end {
    PCS_RUN_WAITS,   // nobody has made it yet
    PCS_RUN_GOES_ON, // a worker is at it
    PCS_RUN_DONE,
    PCS_RUN_KEPT,    // it was there
    PCS_RUN_REFUSED, // the case is not allowed
    PCS_RUN_FAILED,  // it ended early
    PCS_RUN_BROKE    // the process died
} pcs_run_end;

enum { PCS_RUN_REASON = 400, PCS_RUN_NAME = 20 };

// In memory that all processes share.
typedef struct pcs_run {
    pcs_run_end end;
    int process;
    char name[PCS_RUN_NAME]; // of its folder under runs; empty where there is none
    const char *reason;      // one after another in memory of their own, as most runs have none
} pcs_run;

// A number of a run. Times of contacts and extremes are times of steps.
typedef struct pcs_measured {
    double value;
    double grain; // by how much it changes with a step more or less in each of its times; 0: there are none
} pcs_measured;

// All runs of the plan, run r being level r % nlevel of point r / nlevel.
pcs_status pcs_study_work(const pcs_plan *plan, const pcs_study_options *options, pcs_run **out);
// [nrun * nmeasure] what the runs gave; NAN where a run is not done.
pcs_status pcs_study_measure(const pcs_plan *plan, const pcs_study_options *options, pcs_run *runs, pcs_measured **out);

// "mesh" or "step", where only the other is refined and this one has an error of its own; else NULL.
const char *pcs_run_not_refined(const pcs_plan *plan);

// One run, in this process, with so many others at work beside it; `reason` gets why it ended as it did, or notes about
// its case.
void pcs_run_make(const pcs_plan *plan, int beside, const char *directory, int index, pcs_run *run,
                  char reason[PCS_RUN_REASON]);

#endif
