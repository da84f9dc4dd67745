// Equilibrium under loads that rise from zero:
//
//   f(t, q, 0; s) + G(q)^T lam = 0,   g_j = (1 - s) g_j0 on joints,   0 <= g _|_ lam >= 0 on contacts,   s from 0 to 1
//
// s scales gravity and applied loads alike, and closes what driven joints ask for at time t. Newton's method on each
// load step; contacts by the primal-dual active set within the same iteration. A load step that does not converge is
// halved, and grows again after steps that were easy. Friction acts against what has slid since the last load
// step; a path by arc length has s among its unknowns.

#ifndef PCS_ANALYSIS_STATICS_H
#define PCS_ANALYSIS_STATICS_H

#include "analysis/analysis.h"

enum { PCS_STATICS_MARKS = 16 };

// Points of a path that are reported: the first ones, and their number.
typedef struct pcs_statics_marks {
    int count;
    double factor[PCS_STATICS_MARKS];
} pcs_statics_marks;

// Work of forces on the model along the path, by the trapezoidal rule: exact where forces are linear in displacements.
typedef struct pcs_statics_work {
    double loads, joints, friction; // J
    double materials;               // dissipated by materials, J
} pcs_statics_work;

// Holds state, row forces, work and counters of a static analysis after a load step.
typedef struct pcs_statics {
    const double *q;             // [nq]
    double factor;               // load factor s
    double time;                 // s, time of the loads and driven joints
    int step;                    // number of load steps done
    int nhalved;                 // number of load steps that failed and were halved
    int nrelaxed;                // number of load steps solved by relaxation, as there was no path to follow
    int iterations;              // of this load step
    int total;                   // of all load steps, failed ones included
    int nfactor;                 // number of factorizations
    double residual;             // residual force, relative to the loads and internal forces
    double round_off;            // part of it that is round-off
    double correction;           // energy norm of the last correction, relative to all deformation; infinite if unknown
    const double *gap, *force;   // [nrow] at q; force is lam
    const unsigned char *held;   // [nrow] joints and closed contacts
    const double *tangent;       // [ntangent] friction forces, N, NULL if none
    const double *slip;          // [ntangent] sliding in this load step, m
    const unsigned char *sticks; // [ntangent]
    pcs_statics_work work;
    bool is_arc;                        // path by arc length:
    double arc, slope;                  // arc length so far, and ds/d(arc) there
    int determinant;                    // sign of det of the tangent stiffness reduced by held rows; 0 if unknown
    pcs_statics_marks limits, branches; // load factors of limit points, and of crossings with other paths
    const char *backend;
} pcs_statics;

// Called with s = 0 first, then after every load step.
typedef pcs_status pcs_statics_watch(void *user, const pcs_statics *now);

// Starts from q [nq] and leaves the last equilibrium there. PCS_BAD_INPUT when the model can move rigidly: the message
// names the motions; PCS_FAILED when a load factor could not be reached, or its equilibrium is not stable: it says why.
pcs_status pcs_statics_solve(const pcs_analysis *on, const pcs_statics_options *options, double *q,
                             pcs_statics_watch *watch, void *user, pcs_statics *out);

// Solves from the reference state and writes statics.csv, summary.txt, frames of the model and of the contacts.
pcs_status pcs_statics_run(const pcs_analysis *on, const pcs_statics_options *options, const char *directory,
                           pcs_statics *out);

#endif
