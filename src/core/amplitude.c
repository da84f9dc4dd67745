#include "core/amplitude.h"

#include <float.h>
#include <math.h>

static const double pi = 3.14159265358979323846;

// Returns the first entry that is not before t, by bisection.
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

// Returns the integral of a table from its first entry to t, s, constant beyond its ends, or t if there is no table.
static double amplitude_area(const pcs_amplitude *a, double t)
{
    int n = a->count;
    if (n == 0) return t;
    if (t <= a->time[0]) return (t - a->time[0]) * a->factor[0];
    if (!(t <= a->time[n - 1])) return a->area[n - 1] + (t - a->time[n - 1]) * a->factor[n - 1];
    int i = amplitude_entry(a, t) - 1;
    return a->area[i] + 0.5 * (t - a->time[i]) * (a->factor[i] + amplitude_table(a, t));
}

// Evaluates r, dr/dx, d2r/dx2 of a ramp, and the integral of r over x.
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

// Moves t past a jump within round-off: the end of a step, n h, and the start of the next, (n - 1) h + h, must be on
// the same side.
static double amplitude_past_jump(double t)
{
    return t + 16.0 * DBL_EPSILON * fabs(t);
}

static double amplitude_pulse(const pcs_amplitude *a, double t)
{
    double x = ((a->is_smooth ? t : amplitude_past_jump(t)) - a->start) / a->duration;
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
    case PCS_AMPLITUDE_EXPRESSION: return pcs_expression_value(a->expression, &(double){ amplitude_past_jump(t) });
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
    if (!is_velocity && a->kind == PCS_AMPLITUDE_PULSE && !a->is_smooth)
        return "a displacement cannot jump: a rectangle is for the velocity";
    return NULL;
}

// Evaluates a' and a'' just before t.
static void amplitude_rates(const pcs_amplitude *a, double t, double rate[2])
{
    double w = 2.0 * pi * a->frequency, x = (t - a->start) / a->duration, quarter_rate = pi / a->duration, r[4], all[3];
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
        rate[0] = a->size * quarter_rate * cos(pi * x);
        rate[1] = -a->size * quarter_rate * quarter_rate * sin(pi * x);
        return;
    case PCS_AMPLITUDE_EXPRESSION:
        pcs_expression_rates(a->expression, t, all);
        rate[0] = all[1];
        rate[1] = all[2];
        return;
    }
}

// Integrates a formula over a panel by the rules of Clenshaw and Curtis (1960) with 17 and 9 points, and |a| with 17.
// Their points include both ends, so that no jump within the panel is missed.
static void amplitude_pair(const pcs_expression *e, double from, double to, double out[3])
{
    static const double x[9] = { 1.000000000000000000000, 0.980785280403230449126, 0.923879532511286756128,
                                 0.831469612302545237079, 0.707106781186547524401, 0.555570233019602224743,
                                 0.382683432365089771728, 0.195090322016128267848, 0.0 };
    static const double w[9] = { 0.003921568627450980392, 0.037368702837205610321, 0.075482331543151834413,
                                 0.108905552581890930444, 0.138956468368233074115, 0.163172664281703302562,
                                 0.181473784236493356996, 0.192513864612925646870, 0.196410125821890527773 };
    static const double coarse[5] = { 0.015873015873015873016, 0.146218649216018155012, 0.279365079365079365079,
                                      0.361717858720489781496, 0.393650793650793650794 };
    double middle = 0.5 * (from + to), half = 0.5 * (to - from);
    out[0] = out[1] = out[2] = 0.0;
    for (int i = 0; i < 9; i++) {
        double t[2] = { i == 0 ? from : middle - half * x[i], i == 0 ? to : middle + half * x[i] };
        double low = pcs_expression_value(e, &t[0]), high = i == 8 ? 0.0 : pcs_expression_value(e, &t[1]);
        out[0] += half * w[i] * (low + high);
        if (i % 2 == 0) out[1] += half * coarse[i / 2] * (low + high);
        out[2] += fabs(half) * w[i] * (fabs(low) + fabs(high));
    }
}

// Integrates a formula. Halves panels until both rules agree, up to a limit on their number unless there is none.
static double amplitude_quadrature(const pcs_expression *e, double from, double to)
{
    enum { DEPTH = 50, MOST = 500 };
    double end[DEPTH + 1], sum = 0.0, both[3];
    int waiting = 0;
    end[0] = to;
    for (int count = 1; from != to; count++) {
        double now = end[waiting], middle = 0.5 * (from + now);
        amplitude_pair(e, from, now, both);
        bool is_narrow = waiting == DEPTH || middle == from || middle == now || count > MOST;
        if (is_narrow || !(fabs(both[0] - both[1]) > 1e-12 * both[2])) {
            sum += both[0];
            from = now;
            if (waiting-- == 0) break;
        } else {
            end[++waiting] = middle;
        }
    }
    return sum;
}

void pcs_amplitude_integrate(pcs_amplitude *a, double panel, int count, double *area)
{
    for (int k = 0; k < count; k++)
        area[k] = k == 0 ? 0.0 : area[k - 1] + amplitude_quadrature(a->expression, (k - 1) * panel, k * panel);
    a->panel = panel;
    a->area = area;
    a->count = count;
}

static double amplitude_of_formula(const pcs_amplitude *a, double t)
{
    if (a->count == 0 || !(t > 0.0)) return amplitude_quadrature(a->expression, 0.0, t);
    int k = (int)fmin(t / a->panel, a->count - 1);
    return a->area[k] + amplitude_quadrature(a->expression, k * a->panel, t);
}

// Returns an integral of a over time; its constant is arbitrary.
static double amplitude_integral(const pcs_amplitude *a, double t)
{
    double w = pi * a->frequency, y = fmin(fmax((t - a->start) / a->duration, 0.0), 1.0), r[4];
    switch (a->kind) {
    case PCS_AMPLITUDE_TABLE: return amplitude_area(a, t);
    case PCS_AMPLITUDE_SINE:
        if (w == 0.0) return (a->mean + a->size * sin(a->phase)) * t;
        return a->mean * t + a->size * sin(w * t + a->phase) * sin(w * t) / w; // without cancellation
    case PCS_AMPLITUDE_RAMP: amplitude_rise(a, t, r); return a->from * t + (a->to - a->from) * a->duration * r[3];
    case PCS_AMPLITUDE_PULSE:
        if (a->is_smooth) y = 2.0 / pi * sin(0.5 * pi * y) * sin(0.5 * pi * y);
        return a->size * a->duration * y;
    case PCS_AMPLITUDE_EXPRESSION: return amplitude_of_formula(a, t);
    }
    return NAN;
}

// Returns a just before t.
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
