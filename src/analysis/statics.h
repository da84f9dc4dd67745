// Equilibrium under loads that rise from nothing:
//
//   f(t, q, 0; s) + G(q)^T lam = 0,   g_j = (1 - s) g_j0 on joints,   0 <= g _|_ lam >= 0 on contacts,   s from 0 to 1
//
// s scales gravity and applied loads alike, and closes what driven joints ask for at time t. Newton's method on each
// load step; contacts, without friction, by the primal-dual active set within the same iteration. A load step that does
// not converge is halved, and grows again after steps that were easy.

#ifndef PCS_ANALYSIS_STATICS_H
#define PCS_ANALYSIS_STATICS_H

#include "analysis/analysis.h"

typedef struct pcs_statics_options {
    int steps;   // load steps at least; 0: one for a linear system, ten for others
    double time; // s, at which loads and driven joints stand
} pcs_statics_options;

// Where a static analysis stands, after every load step.
typedef struct pcs_statics {
    const double *q;   // [nq]
    double factor;     // s
    int step;          // load steps done
    int nhalved;       // load steps that failed and were halved
    int nrelaxed;      // load steps on which the model was let down to its equilibrium, there being none to follow
    double jump;       // s from which the way of equilibria went on elsewhere; 0: it did not
    int iterations;    // of this load step
    int total;         // of all, failed ones included
    int nfactor;       // factorizations
    double residual;   // force left over, relative to the loads and internal forces
    double round_off;  // of that, what round-off explains
    double correction; // the last one, by its energy, relative to all deformation; infinite: not known
    const double *gap, *force; // [nrow] at q; force is lam
    const unsigned char *held; // [nrow] joints and closed contacts
    const char *backend;
} pcs_statics;

// Called with s = 0 first, then after every load step.
typedef pcs_status pcs_statics_watch(void *user, const pcs_statics *now);

// Starts from q [nq] and leaves the last equilibrium there. PCS_BAD_INPUT when the model can move rigidly: the message
// names the motions; PCS_FAILED when a load factor could not be reached: it says which and why.
pcs_status pcs_statics_solve(const pcs_analysis *on, const pcs_statics_options *options, double *q,
                             pcs_statics_watch *watch, void *user, pcs_statics *out);

// Solves from the reference state and writes statics.csv, summary.txt, frames of the model and of the contacts.
pcs_status pcs_statics_run(const pcs_analysis *on, const pcs_statics_options *options, const char *directory,
                           pcs_statics *out);

#endif
