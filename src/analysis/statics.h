// Equilibrium under loads that rise from nothing:
//
//   f(t, q, 0; s) + G(q)^T lam = 0,   g_j = (1 - s) g_j0 on joints,   0 <= g _|_ lam >= 0 on contacts,   s from 0 to 1
//
// s scales gravity and applied loads alike, and closes what driven joints ask for at time t. Newton's method on each
// load step; contacts by the primal-dual active set within the same iteration. A load step that does not converge is
// halved, and grows again after steps that were easy. Friction acts against what has slid since the last load step
// (statics_friction.c); a path by arc length has s among its unknowns (statics_arc.c).

#ifndef PCS_ANALYSIS_STATICS_H
#define PCS_ANALYSIS_STATICS_H

#include "analysis/analysis.h"

enum { PCS_STATICS_MARKS = 16 };

// Points of a path that are told: the first ones, and their number.
typedef struct pcs_statics_marks {
    int count;
    double factor[PCS_STATICS_MARKS];
} pcs_statics_marks;

// Work of forces on the model along the path, by the trapezoidal rule: exact where forces are linear in displacements.
typedef struct pcs_statics_work {
    double loads, joints, friction; // J
    double materials;               // lost by them, J
} pcs_statics_work;

// Holds state, row forces, work and counters of a static analysis after a load step.
typedef struct pcs_statics {
    const double *q;   // [nq]
    double factor;     // s
    double time;       // s, at which loads and driven joints stand
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
    const double *gap, *force;   // [nrow] at q; force is lam
    const unsigned char *held;   // [nrow] joints and closed contacts
    const double *tangent;       // [ntangent] friction; NULL: none
    const double *slip;          // [ntangent] sliding in this load step, m
    const unsigned char *sticks; // [ntangent]
    pcs_statics_work work;
    bool is_arc;       // of a path by arc length:
    double arc, slope; // length so far, and ds/d(arc) there
    int determinant;   // sign of that of the tangent stiffness that joints and contacts leave; 0: not known
    pcs_statics_marks limits, branches; // where s is largest or smallest, and where other paths cross or touch
    const char *backend;
} pcs_statics;

// Called with s = 0 first, then after every load step.
typedef pcs_status pcs_statics_watch(void *user, const pcs_statics *now);

// Starts from q [nq] and leaves the last equilibrium there. PCS_BAD_INPUT when the model can move rigidly: the message
// names the motions; PCS_FAILED when a load factor could not be reached: it says which and why.
pcs_status pcs_statics_solve(const pcs_analysis *on, const pcs_statics_options *options, double *q,
                             pcs_statics_watch *watch, void *user, pcs_statics *out);

// True if the options ask for friction and the system has rows with friction.
bool pcs_statics_rubs(const pcs_system *system, const pcs_statics_options *options);

// Solves from the reference state and writes statics.csv, summary.txt, frames of the model and of the contacts.
pcs_status pcs_statics_run(const pcs_analysis *on, const pcs_statics_options *options, const char *directory,
                           pcs_statics *out);

#endif
