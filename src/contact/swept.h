// Two segments, which may be points, on their way from one end of a step to the other: how deep they overlap.

#ifndef PCS_CONTACT_SWEPT_H
#define PCS_CONTACT_SWEPT_H

#include "contact/segment.h"
#include "core/passage.h"

// Classifies a pair in the step: without a row, with a row but no impulse, or with an impulse.
typedef enum pcs_swept_seen {
    PCS_SWEPT_UNWATCHED, // no row was about it: it may not overlap at the end either
    PCS_SWEPT_OPEN,      // a row, without an impulse
    PCS_SWEPT_LOADED     // an impulse kept it apart: only that it has changed sides would be a passage
} pcs_swept_seen;

// Both bodies at the start of the step and at its end, their points moving on straight lines between.
typedef struct pcs_swept {
    pcs_segment a[2], b[2];
    double thickness; // m, nearer than this their surfaces overlap
} pcs_swept;

// Notes the passage of a pair, if there is one, for a row.
void pcs_swept_look(const pcs_swept *pair, pcs_swept_seen seen, int row, pcs_passage *worst);

// A graze of a body so thick that is not a passage, m.
double pcs_swept_allowed(double thickness);

#endif
