// Why there is no equilibrium, in words; private to this folder.

#ifndef PCS_ANALYSIS_STATICS_MESSAGE_H
#define PCS_ANALYSIS_STATICS_MESSAGE_H

#include "analysis/statics_newton.h"

typedef struct pcs_statics_trouble {
    pcs_statics_outcome outcome;
    double next, last;  // load factors: not reached, and reached
    bool is_loose;      // nothing but loads and contacts hold the model
    double softening;   // softest stiffness at the last equilibrium over that at the start; NaN: not known
    int softest;        // equation that moves most in that motion, or -1
    char residual[512]; // see pcs_statics_describe
} pcs_statics_trouble;

// Writes the residual of the state evaluated last over its forces, the worst equation and row, and their round-off.
void pcs_statics_describe(const pcs_equilibrium *e, size_t size, char *text);

const char *pcs_statics_reason(pcs_statics_outcome outcome);

// Sets the message and gives the status.
pcs_status pcs_statics_complain(const pcs_equilibrium *e, const pcs_statics_trouble *trouble);

// The model can move: the message names its motions, `ending` closes the sentence.
pcs_status pcs_statics_loose(const pcs_equilibrium *e, const char *ending);

#endif
