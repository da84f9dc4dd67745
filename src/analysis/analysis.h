// Input of static and modal analyses: the system, its initial coordinates, options, and the case and its probes.

#ifndef PCS_ANALYSIS_ANALYSIS_H
#define PCS_ANALYSIS_ANALYSIS_H

#include "case/case.h"
#include "output/observer.h"

// Holds the options of the section `statics` of a case.
typedef struct pcs_statics_options {
    int steps;            // least number of load steps; 0 for one (linear system without friction) or ten (others)
    double time;          // s, time of the loads and driven joints
    bool has_friction;    // Coulomb friction is included
    int path;             // PCS_PATH_LOAD, PCS_PATH_ARC, PCS_PATH_HISTORY
    bool may_be_unstable; // an equilibrium that is not stable is no error: a run or modes go on from it
    // Options of PCS_PATH_ARC only
    double arc_length; // longest arc
    double end, least; // load factors at which the path ends; least = -end if NaN
    int arcs;          // most arcs
} pcs_statics_options;

enum { PCS_PATH_LOAD, PCS_PATH_ARC, PCS_PATH_HISTORY };

extern const pcs_option pcs_statics_keys[]; // of the section `statics` of a case

typedef struct pcs_analysis {
    pcs_context *ctx; // owner of all memory
    pcs_system *system;
    const double *start;         // [nq] zero, or the initial state of a closed-form system
    const char *linear;          // linear solver asked for, or "auto"
    pcs_statics_options statics; // options of the case
    // For the results:
    pcs_case *input;
    const char *case_name, *title;
    int nprobe;
    const pcs_probe *probes; // [nprobe]
} pcs_analysis;

#endif
