// Sums impulses of contact rows since the last table row or frame that was written, and finds their contact status.
//
// Impulses are summed over the steps in between, so that nothing is lost when only every n-th step is written; gap,
// rate, force and state are those of the last step.
//
// A row is closed if it transmits more than the round-off of its impulse, or if its gap is not positive. With
// friction it sticks where the tangential impulse lies inside Coulomb's cone or the tangential velocity is one of
// round-off, and slides otherwise.

#ifndef PCS_OUTPUT_TALLY_H
#define PCS_OUTPUT_TALLY_H

#include "output/observer.h"

enum { PCS_ROW_OPEN, PCS_ROW_CLOSED, PCS_ROW_SLIDES }; // closed: it sticks, where there is friction

typedef struct pcs_tally_row {
    double gap, rate;             // m, m/s
    double force;                 // N
    double tangent[2];            // N, friction
    double friction;              // N, magnitude of `tangent`, signed if there is one direction
    double impulse, step_impulse; // N s, sums
    double friction_loss;         // J, since the start
    long state;                   // PCS_ROW_OPEN, ..
} pcs_tally_row;
_Static_assert(sizeof(pcs_tally_row) == 10 * 8, "words without gaps, for checkpoints");

typedef struct pcs_tally {
    int nrow;
    bool is_fresh; // the next step begins new sums
    double t;      // s, time of the last step
    double speed;  // m/s, largest speed of the model so far
    long step;
    pcs_tally_row *rows; // [nrow] rows of this process
    pcs_collector collector;
    pcs_tally_row *sums; // [ncontact] sums over the points of each contact
    double min_gap;      // m, NAN if there is no contact
    long nactive;        // number of points that are not open
} pcs_tally;

pcs_status pcs_tally_create(pcs_context *ctx, const pcs_view *view, pcs_tally *out);
// Adds the last step.
void pcs_tally_add(pcs_tally *tally, const pcs_view *view);
// Writes or reads all of it, within the part of an observer.
void pcs_tally_serialize(pcs_tally *tally, pcs_archive *c);
// Collects the rows of all processes and sums up every contact: the smallest gap with its rate, sums, closed or sliding
// if any point is. A joint has its error in place of the gap, with opposite sign. NULL on processes that do not write.
const pcs_tally_row *pcs_tally_join(pcs_tally *tally, const pcs_system *system);

// Returns the round-off of a row's impulse in the last step, N s: a smaller impulse counts as none.
double pcs_impulse_rounding(const pcs_view *view, int row);
// Returns the speed of the model, m/s, that has all its kinetic energy in one motion.
double pcs_model_speed(const pcs_view *view);
// Returns PCS_ROW_OPEN, _CLOSED or _SLIDES at the end of the last step; `speed`, m/s, is the model's largest so far.
int pcs_row_state(const pcs_view *view, int row, double speed);

#endif
