// One load step of a static analysis; private to this folder.

#ifndef PCS_SIM_STATICS_NEWTON_H
#define PCS_SIM_STATICS_NEWTON_H

#include "linsolve/bordered.h"
#include "sim/statics.h"
#include "sim/stiffness.h"
#include "system/rigid.h"

typedef enum pcs_statics_outcome {
    PCS_STATICS_DONE,
    PCS_STATICS_SLOW,     // too many iterations
    PCS_STATICS_SINGULAR, // the tangent, at `bad_equation`
    PCS_STATICS_LOOSE,    // and nothing stops the motion
    PCS_STATICS_WILD      // not finite or far away
} pcs_statics_outcome;

typedef struct pcs_equilibrium {
    pcs_sim *sim;
    pcs_system *system;
    double time;
    pcs_stiffness stiff; // K with what multipliers add
    pcs_matrix A;        // it, or it + mu M
    pcs_bordered *solver;
    bool is_factored;    // the values of a linear system, for the rows in `held`
    double *zero;        // [nv] velocity
    double *f, *idle;    // [nv] force, and force without loads
    double *dq;          // [nv]
    double *scale;       // [nv] 1 / sqrt(K_ii) of the reference state: forces become roots of energies
    double *lam, *dlam;  // [nrow]
    double *gap, *gap0;  // [nrow] at q, and at the start on joints
    double *target;      // [nrow] gap that a row shall have
    unsigned char *held; // [nrow] rows of the present active set
    unsigned char *kept; // [nrow] contacts that a free motion ran into: they hold until they have a force
    double residual;     // force that is left over, relative
    double correction;   // the last one, relative; infinite where there is nothing to compare it with
    int iterations, total;
    int bad_equation;
    pcs_rigid rigid; // motions that nothing but contacts resist
} pcs_equilibrium;

pcs_status pcs_equilibrium_create(pcs_sim *sim, double time, const double *q, pcs_equilibrium *out);

// Moves q and lam to the equilibrium at load factor s.
pcs_status pcs_equilibrium_find(pcs_equilibrium *e, double s, double *q, pcs_statics_outcome *outcome);

#endif
