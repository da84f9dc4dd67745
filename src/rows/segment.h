// Closest points of two straight segments, which may be points, and what they do when the segments move.

#ifndef PCS_ROWS_SEGMENT_H
#define PCS_ROWS_SEGMENT_H

#include "core/passage.h"

#include <stdbool.h>

typedef struct pcs_segment {
    double x[3], e[3]; // its start, and the vector to its end, m
} pcs_segment;

typedef struct pcs_closest {
    double s, t;             // coordinates on a and on b, 0 at the start and 1 at the end
    bool s_slides, t_slides; // true if not at an end: it moves along its segment when the segments move
    double d[3];             // from a to b, m
    double distance;
} pcs_closest;

void pcs_segment_between(const double from[3], const double to[3], pcs_segment *out);
void pcs_segment_at(const pcs_segment *self, double s, double x[3]);

// Finds the closest points; for parallel segments the middle of the part where they lie beside each other.
void pcs_segment_closest(const pcs_segment *a, const pcs_segment *b, pcs_closest *out);

// Finds the point on b closest to the point of a at the given s.
void pcs_segment_closest_from(const pcs_segment *a, double s, const pcs_segment *b, pcs_closest *out);

// Returns true if the segments are parallel up to 1.8 degrees.
bool pcs_segment_is_along(const pcs_segment *a, const pcs_segment *b);

// Returns true if the segments lie beside each other and are nearly parallel: they touch along a line, on which closest
// points jump from end to end. `ends`: coordinates on a of the line's ends, each across from an end of a or b.
bool pcs_segment_is_flat(const pcs_segment *a, const pcs_segment *b, double ends[2]);

// Returns the second derivative of the distance along n, m/s^2, at constant velocities; va and vb hold the velocity of
// the start of each segment, and the velocity of its end relative to its start.
double pcs_segment_bias(const pcs_segment *a, const pcs_segment *b, const pcs_closest *c, const double n[3],
                        const pcs_segment *va, const pcs_segment *vb);

// Computes how deep two segments, which may be points, overlap on their straight paths during a step.

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

// Records the passage of a pair, if there is one, for a row.
void pcs_swept_look(const pcs_swept *pair, pcs_swept_seen seen, int row, pcs_passage *worst);

// Returns the overlap, m, up to which a graze of bodies of this thickness does not count as a passage.
double pcs_swept_allowed(double thickness);

#endif
