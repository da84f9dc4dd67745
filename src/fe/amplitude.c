// The factor of a load over time.

#include "fe/data.h"

double pcs_fe_amplitude(const pcs_fe_load *load, double t)
{
    const pcs_amplitude *a = &load->amplitude;
    if (a->count == 0) return 1.0;
    if (t <= a->time[0]) return a->factor[0];
    for (int i = 1; i < a->count; i++)
        if (t <= a->time[i]) {
            double s = (t - a->time[i - 1]) / (a->time[i] - a->time[i - 1]);
            return (1.0 - s) * a->factor[i - 1] + s * a->factor[i];
        }
    return a->factor[a->count - 1];
}
