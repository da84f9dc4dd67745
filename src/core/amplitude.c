#include "core/amplitude.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

// The first entry that is not before t, found by halving.
static int amplitude_entry(const pcs_amplitude *a, double t)
{
    int low = 1, high = a->count - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (t <= a->time[middle]) high = middle;
        else low = middle + 1;
    }
    return low;
}

static double amplitude_table(const pcs_amplitude *a, double t)
{
    if (a->count == 0) return 1.0;
    if (t <= a->time[0]) return a->factor[0];
    if (!(t <= a->time[a->count - 1])) return a->factor[a->count - 1];
    int i = amplitude_entry(a, t);
    double s = (t - a->time[i - 1]) / (a->time[i] - a->time[i - 1]);
    return (1.0 - s) * a->factor[i - 1] + s * a->factor[i];
}

// Of a table between its first entry and t.
static double amplitude_area(const pcs_amplitude *a, double t)
{
    int n = a->count;
    if (n == 0) return t;
    if (t <= a->time[0]) return (t - a->time[0]) * a->factor[0];
    if (!(t <= a->time[n - 1])) return a->area[n - 1] + (t - a->time[n - 1]) * a->factor[n - 1];
    int i = amplitude_entry(a, t) - 1;
    return a->area[i] + 0.5 * (t - a->time[i]) * (a->factor[i] + amplitude_table(a, t));
}

// r, dr/dx, d2r/dx2 of a ramp, and the integral of r over x.
static void amplitude_rise(const pcs_amplitude *a, double t, double r[4])
{
    double x = (t - a->start) / a->duration, y = fmin(fmax(x, 0.0), 1.0), beyond = fmax(x - 1.0, 0.0);
    if (a->is_smooth) {
        r[0] = y * y * y * (10.0 + y * (6.0 * y - 15.0));
        r[1] = 30.0 * y * y * (1.0 - y) * (1.0 - y);
        r[2] = 60.0 * y * (1.0 - y) * (1.0 - 2.0 * y);
        r[3] = y * y * y * y * (2.5 + y * (y - 3.0)) + beyond;
    } else {
        r[0] = y;
        r[1] = x > 0.0 && x <= 1.0 ? 1.0 : 0.0;
        r[2] = 0.0;
        r[3] = 0.5 * y * y + beyond;
    }
}

static double amplitude_ramp(const pcs_amplitude *a, double t)
{
    double r[4];
    amplitude_rise(a, t, r);
    return (1.0 - r[0]) * a->from + r[0] * a->to;
}

static double amplitude_pulse(const pcs_amplitude *a, double t)
{
    double x = (t - a->start) / a->duration;
    if (!(x >= 0.0 && x < 1.0)) return 0.0;
    return a->is_smooth ? a->size * sin(pi * x) : a->size;
}

bool pcs_amplitude_is_given(const pcs_amplitude *a)
{
    return a->kind != PCS_AMPLITUDE_TABLE || a->count > 0;
}

double pcs_amplitude_value(const pcs_amplitude *a, double t)
{
    switch (a->kind) {
    case PCS_AMPLITUDE_TABLE: return amplitude_table(a, t);
    case PCS_AMPLITUDE_SINE: return a->mean + a->size * sin(2.0 * pi * a->frequency * t + a->phase);
    case PCS_AMPLITUDE_RAMP: return amplitude_ramp(a, t);
    case PCS_AMPLITUDE_PULSE: return amplitude_pulse(a, t);
    case PCS_AMPLITUDE_EXPRESSION: return pcs_expression_value(a->expression, &t);
    }
    return NAN;
}

void pcs_amplitude_sum(int count, const double *time, const double *factor, double *area)
{
    for (int i = 0; i < count; i++)
        area[i] = i == 0 ? 0.0 : area[i - 1] + 0.5 * (time[i] - time[i - 1]) * (factor[i] + factor[i - 1]);
}

const char *pcs_amplitude_refuses(const pcs_amplitude *a, bool is_velocity)
{
    if (is_velocity && a->kind == PCS_AMPLITUDE_EXPRESSION)
        return "a velocity is integrated in closed form, which a formula does not have: give its integral as the "
               "displacement, or its values as a table";
    if (!is_velocity && a->kind == PCS_AMPLITUDE_PULSE && !a->is_smooth)
        return "a displacement cannot jump: a rectangle is for the velocity";
    return NULL;
}

// a' and a'' just before t.
static void amplitude_rates(const pcs_amplitude *a, double t, double rate[2])
{
    double w = 2.0 * pi * a->frequency, x = (t - a->start) / a->duration, turn = pi / a->duration, r[4], all[3];
    rate[0] = rate[1] = 0.0;
    switch (a->kind) {
    case PCS_AMPLITUDE_TABLE:
        if (a->count < 2 || t <= a->time[0] || t > a->time[a->count - 1]) return;
        int i = amplitude_entry(a, t);
        rate[0] = (a->factor[i] - a->factor[i - 1]) / (a->time[i] - a->time[i - 1]);
        return;
    case PCS_AMPLITUDE_SINE:
        rate[0] = a->size * w * cos(w * t + a->phase);
        rate[1] = -a->size * w * w * sin(w * t + a->phase);
        return;
    case PCS_AMPLITUDE_RAMP:
        amplitude_rise(a, t, r);
        rate[0] = (a->to - a->from) * r[1] / a->duration;
        rate[1] = (a->to - a->from) * r[2] / (a->duration * a->duration);
        return;
    case PCS_AMPLITUDE_PULSE:
        if (!a->is_smooth || !(x > 0.0 && x <= 1.0)) return;
        rate[0] = a->size * turn * cos(pi * x);
        rate[1] = -a->size * turn * turn * sin(pi * x);
        return;
    case PCS_AMPLITUDE_EXPRESSION:
        pcs_expression_rates(a->expression, t, all);
        rate[0] = all[1];
        rate[1] = all[2];
        return;
    }
}

// An integral of a over time; where it begins does not matter.
static double amplitude_integral(const pcs_amplitude *a, double t)
{
    double w = pi * a->frequency, y = fmin(fmax((t - a->start) / a->duration, 0.0), 1.0), r[4];
    switch (a->kind) {
    case PCS_AMPLITUDE_TABLE: return amplitude_area(a, t);
    case PCS_AMPLITUDE_SINE:
        if (w == 0.0) return (a->mean + a->size * sin(a->phase)) * t;
        return a->mean * t + a->size * sin(w * t + a->phase) * sin(w * t) / w; // small times cancel nothing
    case PCS_AMPLITUDE_RAMP: amplitude_rise(a, t, r); return a->from * t + (a->to - a->from) * a->duration * r[3];
    case PCS_AMPLITUDE_PULSE:
        if (a->is_smooth) y = 2.0 / pi * sin(0.5 * pi * y) * sin(0.5 * pi * y);
        return a->size * a->duration * y;
    case PCS_AMPLITUDE_EXPRESSION: break;
    }
    return NAN;
}

// a just before t.
static double amplitude_before(const pcs_amplitude *a, double t)
{
    double x = (t - a->start) / a->duration;
    if (a->kind != PCS_AMPLITUDE_PULSE || a->is_smooth) return pcs_amplitude_value(a, t);
    return x > 0.0 && x <= 1.0 ? a->size : 0.0;
}

void pcs_amplitude_motion(const pcs_amplitude *a, bool is_velocity, double t, double s[3])
{
    double rate[2];
    amplitude_rates(a, t, rate);
    if (is_velocity) {
        s[0] = amplitude_integral(a, t) - amplitude_integral(a, 0.0);
        s[1] = amplitude_before(a, t);
        s[2] = rate[0];
    } else {
        s[0] = pcs_amplitude_value(a, t);
        s[1] = rate[0];
        s[2] = rate[1];
    }
}
