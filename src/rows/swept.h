// Computes how deep two segments, which may be points, overlap on their straight paths during a step.

#ifndef PCS_ROWS_SWEPT_H
#define PCS_ROWS_SWEPT_H

#include "core/passage.h"
#include "rows/segment.h"

// Classifies a pair in the step: without a row, with a row but no impulse, or with an impulse.
typedef enum pcs_swept_seen {
    PCS_SWEPT_UNWATCHED, // no row: it may not overlap at the end of the step either
    PCS_SWEPT_OPEN,      // a row without an impulse
    PCS_SWEPT_LOADED     // an impulse kept it apart: only a change of sides is a passage
} pcs_swept_seen;

// Holds both bodies at the start and at the end of the step; their points move on straight lines between.
typedef struct pcs_swept {
    pcs_segment a[2], b[2];
    double thickness; // sum of radii, m: distance of the axes below which the surfaces overlap
} pcs_swept;

// Notes the passage of a pair, if there is one, for a row.
void pcs_swept_look(const pcs_swept *pair, pcs_swept_seen seen, int row, pcs_passage *worst);

// Returns the overlap, m, up to which a graze of bodies of this thickness does not count as a passage.
double pcs_swept_allowed(double thickness);

#endif
