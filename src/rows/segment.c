// Closest points of two segments a(s) = x_a + s e_a, b(t) = x_b + t e_b, d = b(t) - a(s).
//
//   inside both      d . e_a = d . e_b = 0
//   beyond an end    s or t is 0 or 1, the other one follows from its own condition
//
// Motion at constant velocities, w = v_b(t) - v_a(s) at fixed s and t:
//   (w + t' e_b - s' e_a) . e_a + d . e_a' = 0   and the same with e_b, for those of s and t that slide
//   n' = (d' - n (n . d'))/|d|,   |d|'' = n' . w + n . (t' e_b' - s' e_a')

#include "rows/segment.h"

#include "core/rotation.h"

#include <math.h>

static const double PARALLEL = 1e-12; // sin^2 below which directions count as one
static const double FLAT = 1e-3;      // and up to which they nearly are
// Fraction of the shorter segment beside the other, below which the two touch at one point rather than along a line.
static const double LEAST_BESIDE = 1e-3;

void pcs_segment_between(const double from[3], const double to[3], pcs_segment *out)
{
    for (int k = 0; k < 3; k++) {
        out->x[k] = from[k];
        out->e[k] = to[k] - from[k];
    }
}

void pcs_segment_at(const pcs_segment *self, double s, double x[3])
{
    for (int k = 0; k < 3; k++) x[k] = self->x[k] + s * self->e[k];
}

static double segment_clamp(double s, bool *slides)
{
    *slides = s > 0.0 && s < 1.0;
    if (s < 0.0) return 0.0;
    return s > 1.0 ? 1.0 : s;
}

// Returns the coordinate, 0 to 1, of the point on a segment nearest to x; *slides is false if it is an end.
static double segment_foot(const pcs_segment *self, const double x[3], bool *slides)
{
    double offset[3], length2 = pcs_dot3(self->e, self->e);
    *slides = false;
    for (int k = 0; k < 3; k++) offset[k] = x[k] - self->x[k];
    return length2 > 0.0 ? segment_clamp(pcs_dot3(offset, self->e) / length2, slides) : 0.0;
}

// Finds the part of a beside which b lies, as coordinates on a; both are the same end of a if there is none.
static void segment_beside(const pcs_segment *a, const pcs_segment *b, double ends[2])
{
    double low = INFINITY, high = -INFINITY, length2 = pcs_dot3(a->e, a->e);
    for (int end = 0; end < 2; end++) {
        double x[3], offset[3];
        pcs_segment_at(b, end, x);
        for (int k = 0; k < 3; k++) offset[k] = x[k] - a->x[k];
        double s = pcs_dot3(offset, a->e) / length2;
        low = fmin(low, s);
        high = fmax(high, s);
    }
    ends[0] = fmin(fmax(low, 0.0), 1.0);
    ends[1] = fmin(fmax(high, 0.0), 1.0);
}

static void segment_find(const pcs_segment *a, const pcs_segment *b, pcs_closest *c)
{
    double x[3], offset[3];
    double A = pcs_dot3(a->e, a->e), B = pcs_dot3(a->e, b->e), C = pcs_dot3(b->e, b->e), det = A * C - B * B;
    c->s = 0.0;
    c->s_slides = false;
    if (A > 0.0 && det > PARALLEL * A * C) {
        for (int k = 0; k < 3; k++) offset[k] = b->x[k] - a->x[k];
        c->s = segment_clamp((C * pcs_dot3(offset, a->e) - B * pcs_dot3(offset, b->e)) / det, &c->s_slides);
    } else if (A > 0.0 && C > 0.0) {
        double ends[2];
        segment_beside(a, b, ends);
        c->s = 0.5 * (ends[0] + ends[1]);
    }
    pcs_segment_at(a, c->s, x);
    c->t = segment_foot(b, x, &c->t_slides);
    if (c->t_slides && C > 0.0) return;
    // The point on b is an end: the nearest point of a follows.
    pcs_segment_at(b, c->t, x);
    if (C == 0.0 || det > PARALLEL * A * C) c->s = segment_foot(a, x, &c->s_slides);
}

static void segment_finish(const pcs_segment *a, const pcs_segment *b, pcs_closest *out)
{
    double xa[3], xb[3];
    pcs_segment_at(a, out->s, xa);
    pcs_segment_at(b, out->t, xb);
    for (int k = 0; k < 3; k++) out->d[k] = xb[k] - xa[k];
    out->distance = pcs_norm3(out->d);
}

void pcs_segment_closest(const pcs_segment *a, const pcs_segment *b, pcs_closest *out)
{
    segment_find(a, b, out);
    segment_finish(a, b, out);
}

void pcs_segment_closest_from(const pcs_segment *a, double s, const pcs_segment *b, pcs_closest *out)
{
    double x[3];
    out->s = s;
    out->s_slides = false;
    pcs_segment_at(a, s, x);
    out->t = segment_foot(b, x, &out->t_slides);
    segment_finish(a, b, out);
}

bool pcs_segment_is_along(const pcs_segment *a, const pcs_segment *b)
{
    double A = pcs_dot3(a->e, a->e), B = pcs_dot3(a->e, b->e), C = pcs_dot3(b->e, b->e);
    return A > 0.0 && C > 0.0 && A * C - B * B < FLAT * A * C;
}

bool pcs_segment_is_flat(const pcs_segment *a, const pcs_segment *b, double ends[2])
{
    double A = pcs_dot3(a->e, a->e), C = pcs_dot3(b->e, b->e);
    if (!pcs_segment_is_along(a, b)) return false;
    segment_beside(a, b, ends);
    return (ends[1] - ends[0]) * sqrt(A) > LEAST_BESIDE * sqrt(fmin(A, C));
}

// Computes s' and t', 1/s, of closest points that slide; 0 for those at ends.
static void segment_rates(const pcs_segment *a, const pcs_segment *b, const pcs_closest *c, double on_a, double on_b,
                          double rate[2])
{
    double A = pcs_dot3(a->e, a->e), B = pcs_dot3(a->e, b->e), C = pcs_dot3(b->e, b->e), det = A * C - B * B;
    rate[0] = rate[1] = 0.0;
    if (c->s_slides && c->t_slides) {
        if (!(det > PARALLEL * A * C)) return;
        rate[0] = (C * on_a - B * on_b) / det;
        rate[1] = (B * on_a - A * on_b) / det;
    } else if (c->s_slides) {
        rate[0] = on_a / A;
    } else if (c->t_slides) {
        rate[1] = -on_b / C;
    }
}

double pcs_segment_bias(const pcs_segment *a, const pcs_segment *b, const pcs_closest *c, const double n[3],
                        const pcs_segment *va, const pcs_segment *vb)
{
    double w[3], wa[3], wb[3], rate[2], rotation[3], slide[3];
    if (!(c->distance > 0.0)) return 0.0;
    pcs_segment_at(va, c->s, wa);
    pcs_segment_at(vb, c->t, wb);
    for (int k = 0; k < 3; k++) w[k] = wb[k] - wa[k];
    segment_rates(a, b, c, pcs_dot3(w, a->e) + pcs_dot3(c->d, va->e), pcs_dot3(w, b->e) + pcs_dot3(c->d, vb->e), rate);
    for (int k = 0; k < 3; k++) {
        rotation[k] = w[k] + rate[1] * b->e[k] - rate[0] * a->e[k];
        slide[k] = rate[1] * vb->e[k] - rate[0] * va->e[k];
    }
    double along = pcs_dot3(n, rotation), signed_distance = pcs_dot3(n, c->d);
    for (int k = 0; k < 3; k++) rotation[k] = (rotation[k] - along * n[k]) / signed_distance;
    return pcs_dot3(rotation, w) + pcs_dot3(n, slide);
}

// Overlap of two segments during a step, by bisection of the step.
//
//   d(s)  distance of the axes at the part s of the step,  thickness D,  overlap D - d
//   |d(s) - d(s')| <= W |s - s'|,  W largest path of an end of one segment as seen from an end of the other
//
// On [s, s'] no overlap is left out where d(s) + d(s') - W (s' - s) >= 2 D; other parts are halved until W (s' - s)
// is a small share of D: between such places a graze is at most (W (s' - s))^2 / 8 D deep. A step along which two
// surfaces could stay close over very many such places is not followed to the end: it counts as a passage.
//
// A step that ends in an overlap is seen by the law of the next one, along the direction of d there. Where d has turned
// far since the surfaces met, the law would push the bodies past each other: that is a passage, too.

static const double SPACING = 0.04; // spacing of the places examined, in units of the thickness
static const double GRAZE = 1e-3;   // overlap that does not count, in units of the thickness
static const double TURN = 0.9;     // cosine of a large rotation
enum { DEEPEST = 16, MOST_PLACES = 4096, MEETING_ROUNDS = 20 };

double pcs_swept_allowed(double thickness)
{
    return GRAZE * thickness;
}

static void swept_at(const pcs_segment offset[2], double s, pcs_segment *out)
{
    for (int k = 0; k < 3; k++) {
        out->x[k] = offset[0].x[k] + s * (offset[1].x[k] - offset[0].x[k]);
        out->e[k] = offset[0].e[k] + s * (offset[1].e[k] - offset[0].e[k]);
    }
}

static void swept_closest(const pcs_swept *pair, double s, pcs_closest *out)
{
    pcs_segment a, b;
    swept_at(pair->a, s, &a);
    swept_at(pair->b, s, &b);
    pcs_segment_closest(&a, &b, out);
}

// Returns W, m. Relative displacements of points between the ends are no larger.
static double swept_path(const pcs_swept *pair)
{
    double offset = 0.0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double d[3];
            for (int k = 0; k < 3; k++) {
                double of_a = pair->a[1].x[k] - pair->a[0].x[k] + i * (pair->a[1].e[k] - pair->a[0].e[k]);
                double of_b = pair->b[1].x[k] - pair->b[0].x[k] + j * (pair->b[1].e[k] - pair->b[0].e[k]);
                d[k] = of_b - of_a;
            }
            offset = fmax(offset, pcs_norm3(d));
        }
    return offset;
}

typedef struct swept_search {
    const pcs_swept *pair;
    double offset, enough; // m; enough: stops the search if a smaller distance is found
    double least;
    int count;
} swept_search;

// Updates the smallest distance with those on [s, s + part], d0 and d1 the distances at its ends, m.
static void swept_bisect(swept_search *self, double s, double part, double d0, double d1)
{
    double offset = self->offset * part;
    if (self->least < self->enough || d0 + d1 - offset >= 2.0 * self->pair->thickness) return;
    if (offset <= SPACING * self->pair->thickness) return;
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
static bool swept_rotates(const pcs_swept *pair, const pcs_closest *end)
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
    double offset = swept_path(pair), D = pair->thickness, allowed = pcs_swept_allowed(D);
    for (int i = 0; i < 2; i++) pcs_segment_closest(&pair->a[i], &pair->b[i], &end[i]);
    if (end[0].distance + end[1].distance - offset >= 2.0 * D) return;
    if (seen == PCS_SWEPT_LOADED && pcs_dot3(end[0].d, end[1].d) >= 0.0) return;
    bool enters = seen != PCS_SWEPT_LOADED && end[0].distance >= D - allowed && end[1].distance < D - allowed;
    if (enters && swept_rotates(pair, &end[1])) pcs_passage_note(worst, D - end[1].distance, allowed, row);
    double known = fmin(D, end[0].distance);
    if (seen != PCS_SWEPT_UNWATCHED) known = fmin(known, end[1].distance);
    swept_search search = {
        .pair = pair, .offset = offset, .enough = 0.5 * (known - allowed), .least = end[1].distance
    };
    swept_bisect(&search, 0.0, 1.0, end[0].distance, end[1].distance);
    if (known - search.least > 0.0) pcs_passage_note(worst, known - search.least, allowed, row);
}
