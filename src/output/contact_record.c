// Intervals of contact, and the moving mean of their force.

#include "output/contact_record.h"

#include <math.h>
#include <string.h>

enum { WINDOW_PARTS = 32 }; // points at least this part of the window apart, every other one
static const double SAME_PEAK = 1e-9;

// Drops what lies before the window, and the last point where it is too near to the one before.
static void window_put(pcs_window *w, double length, double t, double impulse)
{
    int first = 0;
    while (first + 1 < w->count && w->t[first + 1] <= t - length) first++;
    w->count -= first;
    memmove(w->t, w->t + first, (size_t)w->count * sizeof *w->t);
    memmove(w->impulse, w->impulse + first, (size_t)w->count * sizeof *w->impulse);
    if (w->count >= 2 && t - w->t[w->count - 2] < length / WINDOW_PARTS) w->count--;
    w->t[w->count] = t;
    w->impulse[w->count++] = impulse;
}

// The impulse at a time between the first two points.
static double window_begin(const pcs_window *w, double t)
{
    if (w->count < 2) return w->impulse[0];
    double share = (t - w->t[0]) / (w->t[1] - w->t[0]);
    return w->impulse[0] + fmin(fmax(share, 0.0), 1.0) * (w->impulse[1] - w->impulse[0]);
}

// A largest value, and the time at which it is first reached: on a plateau round-off would choose any of its times.
static void record_largest(double x, double t, double *largest, double *then, double *time)
{
    bool is_first = !(*largest > -INFINITY);
    if (is_first || x > *largest) *largest = x;
    if (!is_first && !(x - SAME_PEAK * fabs(x) > *then)) return;
    *then = x;
    *time = t;
}

static void record_begin_interval(pcs_contact_record *c, const pcs_contact_step *now)
{
    c->last = (pcs_interval){ .first_step = now->step,
                              .start = now->start,
                              .end = now->start,
                              .peak_force = -INFINITY,
                              .smooth_peak = NAN,
                              .smooth_time = NAN };
    c->window.count = 0;
    window_put(&c->window, c->window_time, now->start, 0.0);
    c->ninterval++;
}

static void record_filter(pcs_contact_record *c, const pcs_contact_step *now)
{
    pcs_interval *i = &c->last;
    double length = c->window_time;
    bool was_open = now->start > i->end;
    if (was_open) window_put(&c->window, length, now->start, i->impulse - now->step_impulse);
    window_put(&c->window, length, now->t, i->impulse);
    // An interval that lasts a whole number of steps may be a bit short of it by rounding.
    if (!(length > 0.0) || now->t - i->start < length - 1e-6 * now->h) return;
    double mean = (i->impulse - window_begin(&c->window, now->t - length)) / length;
    record_largest(mean, now->t, &i->smooth_peak, &i->smooth_then, &i->smooth_time);
}

// Totals of intervals with a force: the first time that there is one, all of the interval counts.
static void record_add_force(pcs_contact_record *c, const pcs_interval *before)
{
    const pcs_interval *i = &c->last;
    bool had_force = pcs_interval_has_force(before);
    c->pressed_time += i->end - (had_force ? before->end : i->start);
    c->smooth_impulse += i->smooth_impulse - (had_force ? before->smooth_impulse : 0.0);
    record_largest(i->peak_force, i->peak_time, &c->peak_force, &c->peak_then, &c->peak_time);
    record_largest(i->smooth_peak, i->smooth_time, &c->smooth_peak, &c->smooth_then, &c->smooth_time);
}

static void record_touch(pcs_contact_record *c, const pcs_contact_step *now)
{
    bool goes_on = c->ninterval > 0 && now->start - c->last.end <= c->open_time + 1e-6 * now->h;
    if (!goes_on) record_begin_interval(c, now);
    pcs_interval *i = &c->last, before = *i;
    i->last_step = now->step;
    i->smooth_impulse += now->force * now->h;
    i->impulse += now->step_impulse;
    i->pressed += now->pressed;
    i->nimpact += now->nimpact;
    record_largest(now->force, now->t, &i->peak_force, &i->peak_then, &i->peak_time);
    record_filter(c, now);
    c->touching_time += now->t - i->end;
    i->end = now->t;
    if (pcs_interval_has_force(i)) record_add_force(c, &before);
    if (c->ninterval <= PCS_KEPT_INTERVALS) c->kept[c->ninterval - 1] = *i;
}

void pcs_contact_record_add(pcs_contact_record *c, const pcs_contact_step *now)
{
    if (now->gap < c->min_gap) {
        c->min_gap = now->gap;
        c->min_gap_time = now->t;
    }
    c->nimpact += now->nimpact;
    c->impulse += now->step_impulse;
    c->is_touching = now->touches;
    if (now->touches) record_touch(c, now);
}

double pcs_interval_mean(const pcs_interval *i)
{
    double duration = i->end - i->start;
    return pcs_interval_has_force(i) && duration > 0.0 ? i->smooth_impulse / duration : NAN;
}

double pcs_contact_mean(const pcs_contact_record *c)
{
    return c->pressed_time > 0.0 ? c->smooth_impulse / c->pressed_time : NAN;
}

void pcs_contact_record_carry(pcs_contact_record *c, pcs_carrier *carrier)
{
    const size_t constant = offsetof(pcs_contact_record, ninterval);
    pcs_carry_words(carrier, c->name, &c->ninterval, (sizeof *c - constant) / 8);
    if (pcs_carry_reads(carrier) && (c->ninterval < 0 || c->window.count < 0 || c->window.count >= PCS_WINDOW_POINTS))
        pcs_carry_refuse(carrier, c->name, "has impossible numbers");
}
