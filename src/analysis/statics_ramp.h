// A path of equilibria under way; private to this folder.

#ifndef PCS_ANALYSIS_STATICS_RAMP_H
#define PCS_ANALYSIS_STATICS_RAMP_H

#include "analysis/statics_newton.h"

enum { PCS_FORCE_LOADS, PCS_FORCE_FRICTION, PCS_FORCE_KINDS };

typedef struct pcs_ramp {
    pcs_equilibrium e;
    pcs_statics *out;
    const pcs_statics_options *options;
    pcs_statics_watch *watch; // NULL: none
    void *user;
    double *q, *safe;               // [nq] now, and at the last equilibrium
    double *lam, *gap;              // [nall], [nrow] at `safe`
    double *drive, *drive_now;      // [nrow] part of the gap by the motion of driven joints, at `safe` and at q
    double *force[PCS_FORCE_KINDS]; // [nv] on the model at `safe`
    double *now[PCS_FORCE_KINDS];   // [nv] likewise at q
    unsigned char *held;            // [nall]
    double *along;                  // [ntangent] directions of friction at `safe`
    bool is_loose;    // nothing but loads and contacts hold the model: there is no way of equilibria to follow
    double stiffness; // softest, at the start; NaN: not known
    double rate;      // of the way over the load factor, in the last load step
} pcs_ramp;

// q becomes an equilibrium of the path: its work is added up, and it is told.
pcs_status pcs_ramp_accept(pcs_ramp *r, double load);
// Takes memory, and begins at q without loads.
pcs_status pcs_ramp_begin(pcs_ramp *r);
// q is the last equilibrium.
void pcs_ramp_keep(pcs_ramp *r);
// Back to the last one.
void pcs_ramp_undo(pcs_ramp *r);
// The way from the last equilibrium to q [nv].
void pcs_ramp_way(const pcs_ramp *r, double *way);

// By arc length from the start, which is an equilibrium without loads.
pcs_status pcs_ramp_follow(pcs_ramp *r);

#endif
