// The factor of a load over time.
//
//   table       linear between the entries, constant outside
//   sine        mean + size sin(2 pi f t + phase)
//   ramp        from + (to - from) r((t - start) / duration),  r(x) = x or 10 x^3 - 15 x^4 + 6 x^5, constant outside
//   pulse       size for start <= t < start + duration, or size sin(pi (t - start) / duration) there, 0 outside
//   expression  any formula of t

#include "fe/data.h"

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

static double amplitude_ramp(const pcs_amplitude *a, double t)
{
    double x = fmin(fmax((t - a->start) / a->duration, 0.0), 1.0);
    double r = a->is_smooth ? x * x * x * (10.0 + x * (6.0 * x - 15.0)) : x;
    return (1.0 - r) * a->from + r * a->to;
}

static double amplitude_pulse(const pcs_amplitude *a, double t)
{
    double x = (t - a->start) / a->duration;
    if (!(x >= 0.0 && x < 1.0)) return 0.0;
    return a->is_smooth ? a->size * sin(pi * x) : a->size;
}

double pcs_fe_amplitude(const pcs_fe_load *load, double t)
{
    const pcs_amplitude *a = &load->amplitude;
    switch (a->kind) {
    case PCS_AMPLITUDE_TABLE: return amplitude_table(a, t);
    case PCS_AMPLITUDE_SINE: return a->mean + a->size * sin(2.0 * pi * a->frequency * t + a->phase);
    case PCS_AMPLITUDE_RAMP: return amplitude_ramp(a, t);
    case PCS_AMPLITUDE_PULSE: return amplitude_pulse(a, t);
    case PCS_AMPLITUDE_EXPRESSION: return pcs_expression_value(a->expression, &t);
    }
    return NAN;
}

double pcs_fe_load_size(const pcs_system *self, int load, double t)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    return work->load_factors[load] * pcs_fe_amplitude(&fe->model.loads[load], t);
}
