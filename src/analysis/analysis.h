// Input of static and modal analyses: the system, its initial coordinates, options, and the case and its probes.

#ifndef PCS_ANALYSIS_ANALYSIS_H
#define PCS_ANALYSIS_ANALYSIS_H

#include "case/case.h"
#include "output/observer.h"

// Holds the options of the section `statics` of a case.
typedef struct pcs_statics_options {
    int steps;         // load steps at least; 0: one for a linear system without friction, ten for others
    double time;       // s, at which loads and driven joints stand
    bool has_friction; // Coulomb's law counts
    int path;          // PCS_PATH_LOAD, PCS_PATH_ARC, PCS_PATH_HISTORY
    // Options of PCS_PATH_ARC only (statics_arc.c)
    double arc_length; // longest arc
    double end, least; // load factors at which the path ends; NaN: least is -end
    int arcs;          // at most
} pcs_statics_options;

enum { PCS_PATH_LOAD, PCS_PATH_ARC, PCS_PATH_HISTORY };

extern const pcs_option pcs_statics_keys[]; // of the section `statics` of a case

typedef struct pcs_analysis {
    pcs_context *ctx; // owns all of it
    pcs_system *system;
    const double *start;         // [nq] zero, or where a system in closed form starts from
    const char *linear;          // back end asked for, or "auto"
    pcs_statics_options statics; // as the case asks for
    // For the results
    pcs_case *input;
    const char *case_name, *title;
    int nprobe;
    const pcs_probe *probes; // [nprobe]
} pcs_analysis;

#endif
