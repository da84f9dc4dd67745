// Closest points of two straight segments, which may be points, and what they do when the segments move.

#ifndef PCS_CONTACT_SEGMENT_H
#define PCS_CONTACT_SEGMENT_H

#include <stdbool.h>

typedef struct pcs_segment {
    double x[3], e[3]; // its start, and the way to its end
} pcs_segment;

typedef struct pcs_closest {
    double s, t;             // on a and on b, 0 at the start and 1 at the end
    bool s_slides, t_slides; // not held at an end: moves along its segment when the segments move
    double d[3];             // from a to b
    double distance;
} pcs_closest;

void pcs_segment_between(const double from[3], const double to[3], pcs_segment *out);
void pcs_segment_at(const pcs_segment *self, double s, double x[3]);

// Parallel segments touch all along; then it is the middle of where they lie side by side.
void pcs_segment_closest(const pcs_segment *a, const pcs_segment *b, pcs_closest *out);

// The same from a given place on a.
void pcs_segment_closest_from(const pcs_segment *a, double s, const pcs_segment *b, pcs_closest *out);

// True for segments that are parallel or nearly so, up to 1.8 degrees.
bool pcs_segment_is_along(const pcs_segment *a, const pcs_segment *b);

// True for segments that lie beside each other, parallel or nearly so: they touch along a line, and closest points rush
// from end to end of it. ends: where it begins and ends on a, at an end of a or across from one of b.
bool pcs_segment_is_flat(const pcs_segment *a, const pcs_segment *b, double ends[2]);

// Second derivative of the distance along n when the segments move at constant velocities: va and vb are those of
// their starts, and how much faster their ends are.
double pcs_segment_bias(const pcs_segment *a, const pcs_segment *b, const pcs_closest *c, const double n[3],
                        const pcs_segment *va, const pcs_segment *vb);

#endif
