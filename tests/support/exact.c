// Exact bar impact by d'Alembert's solution.
//
//   u(s, t) = F(t - s/c) + H(t + s/c) - g t^2 / 2,   c^2 = E / rho,   s = distance from the contact end
//
//   t = 0        F(-s/c) + H(s/c) = u0(s),  F'(-s/c) + H'(s/c) = v0
//   s = L        free: F'(t - L/c) = H'(t + L/c);  clamped: F(t - L/c) + H(t + L/c) = g t^2 / 2
//   s = 0        open: F'(t) = H'(t);  closed: F(t) + H(t) = g t^2 / 2 - gap
//
// Each condition gives the wave that leaves an end from the one that arrives there, so F and H follow backwards in time
// to the initial values. F - H is constant while the contact is open: those constants are kept in `offset`.

#include "exact.h"

#include <math.h>

static double exact_outgoing(const exact_bar *bar, double tau, bool is_rate);

// H or H' at tau = t + s/c: what comes back from the far end.
static double exact_incoming(const exact_bar *bar, double tau, bool is_rate)
{
    double transit = bar->length / bar->speed;
    double initial_rate = 0.5 * (bar->velocity - bar->speed * bar->slope);
    if (tau <= transit) return is_rate ? initial_rate : 0.5 * bar->slope * bar->length + tau * initial_rate;
    double reflected = exact_outgoing(bar, tau - 2.0 * transit, is_rate);
    if (bar->is_clamped) {
        double t = tau - transit;
        return (is_rate ? bar->gravity * t : 0.5 * bar->gravity * t * t) - reflected;
    }
    if (is_rate) return reflected;
    return reflected + exact_incoming(bar, transit, false) - exact_outgoing(bar, -transit, false);
}

// The contact interval that tau lies in, or -1 - (number of intervals that ended before it).
static int exact_interval(const exact_bar *bar, double tau)
{
    int ended = 0;
    for (int i = 0; i < bar->ncontact; i++) {
        if (tau >= bar->begin[i] && tau <= bar->end[i]) return i;
        if (tau > bar->end[i]) ended++;
    }
    return -1 - ended;
}

// F or F' at tau = t - s/c: what leaves the contact end.
static double exact_outgoing(const exact_bar *bar, double tau, bool is_rate)
{
    if (tau <= 0.0) {
        double initial_rate = 0.5 * (bar->velocity + bar->speed * bar->slope);
        return is_rate ? initial_rate : 0.5 * bar->slope * bar->length + tau * initial_rate;
    }
    double arriving = exact_incoming(bar, tau, is_rate);
    int interval = exact_interval(bar, tau);
    if (interval < 0) return is_rate ? arriving : arriving + bar->offset[-1 - interval];
    return (is_rate ? bar->gravity * tau : 0.5 * bar->gravity * tau * tau - bar->gap) - arriving;
}

// Fills in what follows from the data: wave speed and the constants of the open intervals, in the order of time.
static exact_bar exact_prepare(exact_bar bar)
{
    bar.speed = sqrt(bar.modulus / bar.density);
    bar.offset[0] = exact_outgoing(&bar, 0.0, false) - exact_incoming(&bar, 0.0, false);
    for (int i = 0; i < bar.ncontact; i++) {
        double end = bar.end[i];
        bar.offset[i + 1] = 0.5 * bar.gravity * end * end - bar.gap - 2.0 * exact_incoming(&bar, end, false);
    }
    return bar;
}

// A free bar thrown at a wall: contact from gap / speed for one return of the wave.
static exact_bar exact_thrown(exact_bar bar)
{
    bar.period = INFINITY;
    bar.ncontact = 1;
    bar.begin[0] = bar.gap / -bar.velocity;
    bar.end[0] = bar.begin[0] + 2.0 * bar.length / sqrt(bar.modulus / bar.density);
    return exact_prepare(bar);
}

exact_bar exact_bar_bouncing(void)
{
    return exact_prepare((exact_bar){ .length = 10.0,
                                      .area = 1.0,
                                      .modulus = 900.0,
                                      .density = 1.0,
                                      .gravity = 10.0,
                                      .gap = 5.0,
                                      .period = 16.0 / 3.0,
                                      .ncontact = 2,
                                      .begin = { 1.0, 11.0 / 3.0 },
                                      .end = { 5.0 / 3.0, 13.0 / 3.0 } });
}

exact_bar exact_bar_clamped(void)
{
    return exact_prepare((exact_bar){ .length = 1.0,
                                      .area = 1.0,
                                      .modulus = 1.0,
                                      .density = 1.0,
                                      .slope = 0.5,
                                      .is_clamped = true,
                                      .period = 3.0,
                                      .ncontact = 1,
                                      .begin = { 1.0 },
                                      .end = { 2.0 } });
}

exact_bar exact_bars_two(void)
{
    return exact_thrown((exact_bar){ .length = 10.0, .area = 1.0, .modulus = 1.0, .density = 1.0, .velocity = -0.1 });
}

exact_bar exact_bar_fast(void)
{
    return exact_thrown((exact_bar){
        .length = 0.2, .area = 4e-4, .modulus = 2e11, .density = 8000.0, .gap = 2e-3, .velocity = -100.0 });
}

// The time within the first period.
static double exact_phase(const exact_bar *bar, double t)
{
    return isfinite(bar->period) ? t - floor(t / bar->period) * bar->period : t;
}

double exact_displacement(const exact_bar *bar, double s, double t)
{
    double phase = exact_phase(bar, t), delay = s / bar->speed;
    return exact_outgoing(bar, phase - delay, false) + exact_incoming(bar, phase + delay, false) -
           0.5 * bar->gravity * phase * phase;
}

double exact_velocity(const exact_bar *bar, double s, double t)
{
    double phase = exact_phase(bar, t), delay = s / bar->speed;
    return exact_outgoing(bar, phase - delay, true) + exact_incoming(bar, phase + delay, true) - bar->gravity * phase;
}

double exact_force(const exact_bar *bar, double t)
{
    double phase = exact_phase(bar, t);
    if (exact_interval(bar, phase) < 0) return 0.0;
    double difference = exact_incoming(bar, phase, true) - exact_outgoing(bar, phase, true);
    return -bar->area * bar->modulus / bar->speed * difference;
}
