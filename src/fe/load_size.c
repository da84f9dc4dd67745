// The factor of a load at some time: its amplitude, and what the user has set on top.

#include "fe/data.h"

double pcs_fe_load_size(const pcs_system *self, int load, double t)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    return work->load_factors[load] * pcs_amplitude_value(&fe->model.loads[load].amplitude, t);
}
