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
static const double FLAT = 1e-3;      // and nearly as one
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
    double way[3], length2 = pcs_dot3(self->e, self->e);
    *slides = false;
    for (int k = 0; k < 3; k++) way[k] = x[k] - self->x[k];
    return length2 > 0.0 ? segment_clamp(pcs_dot3(way, self->e) / length2, slides) : 0.0;
}

// Finds the part of a beside which b lies, as coordinates on a; both are the same end of a if there is none.
static void segment_beside(const pcs_segment *a, const pcs_segment *b, double ends[2])
{
    double low = INFINITY, high = -INFINITY, length2 = pcs_dot3(a->e, a->e);
    for (int end = 0; end < 2; end++) {
        double x[3], way[3];
        pcs_segment_at(b, end, x);
        for (int k = 0; k < 3; k++) way[k] = x[k] - a->x[k];
        double s = pcs_dot3(way, a->e) / length2;
        low = fmin(low, s);
        high = fmax(high, s);
    }
    ends[0] = fmin(fmax(low, 0.0), 1.0);
    ends[1] = fmin(fmax(high, 0.0), 1.0);
}

static double segment_middle(const pcs_segment *a, const pcs_segment *b)
{
    double ends[2];
    segment_beside(a, b, ends);
    return 0.5 * (ends[0] + ends[1]);
}

static void segment_find(const pcs_segment *a, const pcs_segment *b, pcs_closest *c)
{
    double x[3], way[3];
    double A = pcs_dot3(a->e, a->e), B = pcs_dot3(a->e, b->e), C = pcs_dot3(b->e, b->e), det = A * C - B * B;
    c->s = 0.0;
    c->s_slides = false;
    if (A > 0.0 && det > PARALLEL * A * C) {
        for (int k = 0; k < 3; k++) way[k] = b->x[k] - a->x[k];
        c->s = segment_clamp((C * pcs_dot3(way, a->e) - B * pcs_dot3(way, b->e)) / det, &c->s_slides);
    } else if (A > 0.0 && C > 0.0) {
        c->s = segment_middle(a, b);
    }
    pcs_segment_at(a, c->s, x);
    c->t = segment_foot(b, x, &c->t_slides);
    if (c->t_slides && C > 0.0) return;
    // The other one is at an end, or a point: the foot of that on a.
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
    double w[3], wa[3], wb[3], rate[2], turn[3], slide[3];
    if (!(c->distance > 0.0)) return 0.0;
    pcs_segment_at(va, c->s, wa);
    pcs_segment_at(vb, c->t, wb);
    for (int k = 0; k < 3; k++) w[k] = wb[k] - wa[k];
    segment_rates(a, b, c, pcs_dot3(w, a->e) + pcs_dot3(c->d, va->e), pcs_dot3(w, b->e) + pcs_dot3(c->d, vb->e), rate);
    for (int k = 0; k < 3; k++) {
        turn[k] = w[k] + rate[1] * b->e[k] - rate[0] * a->e[k];
        slide[k] = rate[1] * vb->e[k] - rate[0] * va->e[k];
    }
    double along = pcs_dot3(n, turn), signed_distance = pcs_dot3(n, c->d);
    for (int k = 0; k < 3; k++) turn[k] = (turn[k] - along * n[k]) / signed_distance;
    return pcs_dot3(turn, w) + pcs_dot3(n, slide);
}
