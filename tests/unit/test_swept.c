// Overlap of bodies on the way of a step, beside the exact closest approach of points on straight lines.

#include "rows/segment.h"

#include "support/check.h"

#include <math.h>
#include <string.h>

static unsigned long long seed = 12345;

static double swept_random(double low, double high)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

static pcs_segment swept_point(double x, double y)
{
    return (pcs_segment){ .x = { x, y, 0.0 } };
}

// A point past a circle of radius 1 at the origin, times `unit`.
static pcs_passage swept_past_circle(const double from[2], const double to[2], double unit, pcs_swept_seen seen)
{
    pcs_swept pair = { .thickness = unit };
    pcs_passage worst = { 0 };
    pair.b[0] = swept_point(unit * from[0], unit * from[1]);
    pair.b[1] = swept_point(unit * to[0], unit * to[1]);
    pcs_swept_look(&pair, seen, 3, &worst);
    return worst;
}

static double swept_exact_least(const double p[2], const double q[2])
{
    double w[2] = { q[0] - p[0], q[1] - p[1] }, s = -(p[0] * w[0] + p[1] * w[1]) / (w[0] * w[0] + w[1] * w[1]);
    s = fmin(fmax(s, 0.0), 1.0);
    return hypot(p[0] + s * w[0], p[1] + s * w[1]);
}

// Of points that start and end outside every passage deeper than a graze is found, and nothing else.
TEST(swept_finds_what_is_jumped_over)
{
    int found = 0;
    for (int i = 0; i < 20000; i++) {
        double r0 = exp(swept_random(0.0, 4.0)), r1 = exp(swept_random(0.0, 4.0)),
               unit = exp(swept_random(-20.0, 20.0));
        double a0 = swept_random(0.0, 6.3), a1 = swept_random(0.0, 6.3);
        double p[2] = { r0 * cos(a0), r0 * sin(a0) }, q[2] = { r1 * cos(a1), r1 * sin(a1) };
        double depth = 1.0 - swept_exact_least(p, q);
        pcs_passage worst = swept_past_circle(p, q, unit, PCS_SWEPT_OPEN);
        bool is_passage = worst.depth > worst.allowed;
        found += is_passage;
        if (depth > 2e-3) assert_true(is_passage);
        if (depth < 0.5e-3) assert_false(is_passage);
        if (is_passage) assert_int_equal(worst.row, 3);
    }
    assert_true(found > 1000);
}

// What an impulse kept apart may have met on the way, but it may not be on the other side.
TEST(swept_trusts_impulses_on_one_side)
{
    const double p[2] = { -1.01, 0.0 }, beside[2] = { -0.6, -1.0 }, through[2] = { 1.01, 0.0 };
    pcs_passage worst = swept_past_circle(p, beside, 1.0, PCS_SWEPT_LOADED);
    assert_true(worst.depth <= worst.allowed);
    worst = swept_past_circle(p, through, 1.0, PCS_SWEPT_LOADED);
    assert_true(worst.depth > worst.allowed);
}

// An overlap at the end is seen by the law of the next step, unless that would push the wrong way.
TEST(swept_demands_the_side_of_entry)
{
    const double p[2] = { -3.0, 0.3 }, near[2] = { -0.8, 0.3 }, beyond[2] = { -0.05, 0.3 };
    pcs_passage worst = swept_past_circle(p, near, 1.0, PCS_SWEPT_OPEN);
    assert_true(worst.depth <= worst.allowed);
    worst = swept_past_circle(p, beyond, 1.0, PCS_SWEPT_OPEN);
    assert_true(worst.depth > worst.allowed);
    // Nothing sees the overlap of a pair without a row.
    worst = swept_past_circle(p, near, 1.0, PCS_SWEPT_UNWATCHED);
    assert_true(worst.depth > worst.allowed);
}

// Crossed segments, one of which turns while it falls through the other.
TEST(swept_follows_segments_that_turn)
{
    for (int i = 0; i < 2000; i++) {
        double rotation = swept_random(-1.0, 1.0), tilt = swept_random(0.5, 2.5), fall = exp(swept_random(-1.0, 3.0));
        pcs_swept pair = { .thickness = 0.02 };
        const double left[3] = { -0.5, 0.0, 0.0 }, right[3] = { 0.5, 0.0, 0.0 };
        for (int k = 0; k < 2; k++) {
            double angle = tilt + k * rotation * 0.3, z = k == 0 ? 0.5 * fall : -0.5 * fall;
            const double a[3] = { -0.4 * cos(angle), -0.4 * sin(angle), z },
                         b[3] = { 0.4 * cos(angle), 0.4 * sin(angle), z };
            pcs_segment_between(left, right, &pair.a[k]);
            pcs_segment_between(a, b, &pair.b[k]);
        }
        pcs_passage worst = { 0 };
        pcs_swept_look(&pair, PCS_SWEPT_OPEN, 0, &worst);
        assert_true(worst.depth > 0.4 * pair.thickness);
    }
}
