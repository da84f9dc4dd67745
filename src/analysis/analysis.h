// What a static analysis or a search for modes works on: a system, where it starts, and what to tell of it.

#ifndef PCS_ANALYSIS_ANALYSIS_H
#define PCS_ANALYSIS_ANALYSIS_H

#include "case/case.h"
#include "output/observer.h"

typedef struct pcs_analysis {
    pcs_context *ctx; // owns all of it
    pcs_system *system;
    const double *start; // [nq] zero, or where a system in closed form starts from
    const char *linear;  // back end asked for, or "auto"
    // For the results
    pcs_case *input;
    const char *case_name, *title;
    int nprobe;
    const pcs_probe *probes; // [nprobe]
} pcs_analysis;

#endif
