// The factor of a load at some time: its amplitude, and what the user has set on top.

#include "fe/data.h"

#include <math.h>
#include <stdio.h>

enum { TIMES_OF_A_STEP = 64 };

double pcs_fe_load_size(const pcs_system *self, int load, double t)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    return work->load_factors[load] * pcs_amplitude_value(&fe->model.loads[load].amplitude, t);
}

bool pcs_fe_name_load(const pcs_system *self, const double span[2], size_t size, char *text)
{
    const fe_data *fe = self->data;
    for (int i = 0; i < fe->model.nload; i++) {
        const pcs_fe_load *load = &fe->model.loads[i];
        for (int k = 0; k <= TIMES_OF_A_STEP; k++) {
            double t = span[0] + k * (span[1] - span[0]) / TIMES_OF_A_STEP, factor = pcs_fe_load_size(self, i, t);
            if (load->is_gravity || isfinite(factor)) continue;
            snprintf(text, size, "; the load '%.80s' is no number: its factor '%.160s' is %g at t = %.9g s", load->name,
                     load->amplitude.formula == NULL ? "?" : load->amplitude.formula, factor, t);
            return true;
        }
    }
    return false;
}
