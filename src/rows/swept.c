// Overlap of two segments on the way of a step, by bisection of the step.
//
//   d(s)  distance of the axes at the part s of the step,  thickness D,  overlap D - d
//   |d(s) - d(s')| <= W |s - s'|,  W largest way of an end of one segment as seen from an end of the other
//
// On [s, s'] no overlap is left out where d(s) + d(s') - W (s' - s) >= 2 D; other parts are halved until W (s' - s)
// is a small share of D: between such places a graze is at most (W (s' - s))^2 / 8 D deep. A step along which two
// surfaces could stay close over very many such places is not followed to the end: it counts as a passage.
//
// A step that ends in an overlap is seen by the law of the next one, along the direction of d there. Where d has turned
// far since the surfaces met, the law would push the bodies past each other: that is a passage, too.

#include "rows/swept.h"

#include "core/rotation.h"

#include <math.h>

static const double SPACING = 0.04; // of places that are looked at, in units of the thickness
static const double GRAZE = 1e-3;   // overlap that does not count, in units of the thickness
static const double TURN = 0.9;     // cosine of an angle that is far
enum { DEEPEST = 16, MOST_PLACES = 4096, MEETING_ROUNDS = 20 };

double pcs_swept_allowed(double thickness)
{
    return GRAZE * thickness;
}

static void swept_at(const pcs_segment way[2], double s, pcs_segment *out)
{
    for (int k = 0; k < 3; k++) {
        out->x[k] = way[0].x[k] + s * (way[1].x[k] - way[0].x[k]);
        out->e[k] = way[0].e[k] + s * (way[1].e[k] - way[0].e[k]);
    }
}

static void swept_closest(const pcs_swept *pair, double s, pcs_closest *out)
{
    pcs_segment a, b;
    swept_at(pair->a, s, &a);
    swept_at(pair->b, s, &b);
    pcs_segment_closest(&a, &b, out);
}

// Returns W, m; relative displacements of points between the ends are no larger.
static double swept_way(const pcs_swept *pair)
{
    double way = 0.0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double d[3];
            for (int k = 0; k < 3; k++) {
                double of_a = pair->a[1].x[k] - pair->a[0].x[k] + i * (pair->a[1].e[k] - pair->a[0].e[k]);
                double of_b = pair->b[1].x[k] - pair->b[0].x[k] + j * (pair->b[1].e[k] - pair->b[0].e[k]);
                d[k] = of_b - of_a;
            }
            way = fmax(way, pcs_norm3(d));
        }
    return way;
}

typedef struct swept_search {
    const pcs_swept *pair;
    double way, enough; // m; enough: stops the search once a smaller distance is found
    double least;
    int count;
} swept_search;

// Updates the smallest distance with those on [s, s + part], d0 and d1 the distances at its ends, m.
static void swept_bisect(swept_search *self, double s, double part, double d0, double d1)
{
    double way = self->way * part;
    if (self->least < self->enough || d0 + d1 - way >= 2.0 * self->pair->thickness) return;
    if (way <= SPACING * self->pair->thickness) return;
    if (self->count++ >= MOST_PLACES || part < ldexp(1.0, -DEEPEST)) {
        self->least = 0.0;
        return;
    }
    pcs_closest middle;
    swept_closest(self->pair, s + 0.5 * part, &middle);
    self->least = fmin(self->least, middle.distance);
    swept_bisect(self, s, 0.5 * part, d0, middle.distance);
    swept_bisect(self, s + 0.5 * part, 0.5 * part, middle.distance, d1);
}

// Returns true if d has rotated by more than acos(TURN) since the surfaces met.
static bool swept_turns(const pcs_swept *pair, const pcs_closest *end)
{
    double low = 0.0, high = 1.0;
    pcs_closest meeting;
    for (int i = 0; i < MEETING_ROUNDS; i++) {
        double middle = 0.5 * (low + high);
        swept_closest(pair, middle, &meeting);
        if (meeting.distance < pair->thickness) high = middle;
        else low = middle;
    }
    return pcs_dot3(meeting.d, end->d) <= TURN * meeting.distance * end->distance;
}

void pcs_swept_look(const pcs_swept *pair, pcs_swept_seen seen, int row, pcs_passage *worst)
{
    pcs_closest end[2];
    double way = swept_way(pair), D = pair->thickness, allowed = pcs_swept_allowed(D);
    for (int i = 0; i < 2; i++) pcs_segment_closest(&pair->a[i], &pair->b[i], &end[i]);
    if (end[0].distance + end[1].distance - way >= 2.0 * D) return;
    if (seen == PCS_SWEPT_LOADED && pcs_dot3(end[0].d, end[1].d) >= 0.0) return;
    bool enters = seen != PCS_SWEPT_LOADED && end[0].distance >= D - allowed && end[1].distance < D - allowed;
    if (enters && swept_turns(pair, &end[1])) pcs_passage_note(worst, D - end[1].distance, allowed, row);
    double known = fmin(D, end[0].distance);
    if (seen != PCS_SWEPT_UNWATCHED) known = fmin(known, end[1].distance);
    swept_search search = { .pair = pair, .way = way, .enough = 0.5 * (known - allowed), .least = end[1].distance };
    swept_bisect(&search, 0.0, 1.0, end[0].distance, end[1].distance);
    if (known - search.least > 0.0) pcs_passage_note(worst, known - search.least, allowed, row);
}
