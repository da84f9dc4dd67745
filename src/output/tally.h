// What the contacts did since the last row or frame that was written.
//
// Impulses are summed over the steps in between, so that nothing is lost when only every n-th step is written; gap,
// rate, force and state are those of the last step.

#ifndef PCS_OUTPUT_TALLY_H
#define PCS_OUTPUT_TALLY_H

#include "output/observer.h"

typedef struct pcs_tally_row {
    double gap, rate;             // m, m/s
    double force;                 // N
    double tangent[2];            // N, its friction
    double friction;              // N, the same with its sign where there is one direction, else its size
    double impulse, step_impulse; // N s, summed
    bool is_closed;
} pcs_tally_row;

typedef struct pcs_tally {
    int nrow;
    bool is_fresh; // the next step begins new sums
    double t;      // of the last step
    long step;
    pcs_tally_row *rows; // [nrow]
} pcs_tally;

pcs_status pcs_tally_create(pcs_context *ctx, const pcs_view *view, pcs_tally *out);
// Takes in the last step.
void pcs_tally_add(pcs_tally *tally, const pcs_view *view);
// Rows first .. first + count - 1 as one contact: the smallest gap with its rate, sums, closed if one is.
pcs_tally_row pcs_tally_sum(const pcs_tally *tally, int first, int count);

#endif
