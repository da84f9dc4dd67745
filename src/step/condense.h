// Condensation of a linear step onto its contact rows, over kept factorizations.
//
//   S* = c M + h C + h kb K,   X = M^-1 G^T,   YK = S*^-1 h K X,   YW = S*^-1 (h C + h kw K) X
//   d = y0 - YK nu - YW La,   y0 = S*^-1 h f(qt0, vt0),   U = X nu,   W = X La
//
// Derivation: theory of the nonsmooth generalized-alpha scheme of Bruls, Acary and Cardona (2014), eq. 44,
// with U and W eliminated first. One solve per step, whatever the active set does.

#ifndef PCS_STEP_CONDENSE_H
#define PCS_STEP_CONDENSE_H

#include "step/columns.h"
#include "step/frictionless.h"

// What a contact adds to the motion on low <= i < high: a multiple of a column Y through d, and multiples of a column X
// in q and v alone.
typedef struct pcs_condense_part {
    int low, high;
    const double *Y, *X;  // [n]; Y is NULL where only X acts
    double smooth, moved; // of Y, in d and v, and in q
    double shift, jump;   // of X, in q and in v
} pcs_condense_part;

typedef struct pcs_condense {
    pcs_matrix *S;
    pcs_linsolve *iteration;    // of S
    bool has_slices;            // that solves slice by slice
    pcs_columns *YK, *YW;       // [nrow]
    bool has_YK, has_YW;        // not zero
    pcs_condense_part *parts;   // [3 nrow] of each row with YK, with YW and with X alone
    pcs_condense_part **acting; // [2 nrow] those that act in the step
    int nacting;
    pcs_frictionless *contacts;
} pcs_condense;

pcs_status pcs_condense_setup(pcs_step_solver *self, pcs_condense *c);
pcs_status pcs_condense_prepare(pcs_step_solver *self, pcs_condense *c, pcs_outcome *outcome);
void pcs_condense_solve(pcs_step_solver *self, pcs_condense *c, pcs_step_problem *p, pcs_step_result *result);

#endif
