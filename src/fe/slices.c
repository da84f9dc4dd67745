// Forces and energies of long bars slice by slice (system/slices.h).
//
// Sums of a slice are over cells whose first equation lies inside of it, not at its ends; the cells of the two
// equations where slices meet are added afterwards.

#include "system/slices.h"
#include "fe/data.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PUSHES = 64 }; // every slice looks at all of them

static void slices_load(const pcs_system *self, double t, int low, int high, double *f)
{
    const fe_data *fe = self->data;
    size_t bytes = (size_t)(high - low) * sizeof *f;
    if (self->gravity != NULL) memcpy(f + low, self->gravity + low, bytes);
    else memset(f + low, 0, bytes);
    for (int l = 0; l < fe->model.nload; l++) {
        double factor = pcs_fe_load_size(self, l, t);
        for (int i = fe->first_push[l]; i < fe->first_push[l + 1]; i++) {
            int equation = fe->pushes[i].equation;
            if (equation >= low && equation < high) f[equation] += fe->pushes[i].value * factor;
        }
    }
}

static void slices_force(const pcs_system *self, double t, const pcs_ends *at, int low, int high, double *f)
{
    const fe_data *fe = self->data;
    slices_load(self, t, low, high, f);
    for (int b = 0; b < fe->nbatch; b++) {
        pcs_batch batch = pcs_fe_range_batch(fe, b, low, high);
        batch.ops->add_force(&batch, at->q, at->v, f);
    }
}

// Cells whose first equation lies within low <= e < high.
static void slices_add(const pcs_system *self, const pcs_ends *ends, int low, int high, pcs_energy *state,
                       pcs_energy *change)
{
    const fe_data *fe = self->data;
    const double *const q[2] = { ends->q0, ends->q }, *const v[2] = { ends->v0, ends->v };
    for (int g = 0; g < fe->model.ngroup; g++) {
        pcs_batch batch = pcs_fe_range_batch(fe, g, low, high);
        if (ends->q0 == NULL) batch.ops->add_energy(&batch, ends->q, ends->v, state);
        else batch.ops->add_both(&batch, q, v, state, change);
    }
}

static void slices_sum(const pcs_system *self, const pcs_ends *ends, int high, pcs_slice_sums *out)
{
    pcs_energy state = { 0 }, change = { 0 };
    int first = out->high > out->low ? out->high - 1 : out->low + 1, last = high < self->nv ? high - 1 : high;
    if (out->high == 0) first = 0;
    if (first < last) slices_add(self, ends, first, last, &state, &change);
    out->kinetic += state.kinetic;
    out->strain += state.strain;
    for (int k = 0; k < 3; k++) {
        out->momentum[k] += state.momentum[k];
        out->fixed_momentum[k] += state.fixed_momentum[k];
    }
    out->weight_work += pcs_fe_weight_work(self, out->high, high, ends->q);
    out->change_in_kinetic += change.kinetic;
    out->change_in_strain += change.strain;
    out->high = high;
}

// All that is within slices, and the cells where they meet.
static void slices_measure(const pcs_system *self, const pcs_ends *ends, int count, const pcs_slice_sums *sums,
                           pcs_measure *out, pcs_change *change)
{
    pcs_energy state = { 0 }, differences = { 0 };
    double weight_work = 0.0;
    for (int s = 1; s < count; s++) slices_add(self, ends, sums[s].low - 1, sums[s].low + 1, &state, &differences);
    for (int s = 0; s < count; s++) {
        state.kinetic += sums[s].kinetic;
        state.strain += sums[s].strain;
        differences.kinetic += sums[s].change_in_kinetic;
        differences.strain += sums[s].change_in_strain;
        weight_work += sums[s].weight_work;
        for (int k = 0; k < 3; k++) {
            state.momentum[k] += sums[s].momentum[k];
            state.fixed_momentum[k] += sums[s].fixed_momentum[k];
        }
    }
    pcs_fe_tell(self, &state, weight_work, out);
    *change = (pcs_change){ 2.0 * differences.strain, 2.0 * differences.kinetic };
}

static void slices_measure_whole(const pcs_system *self, const pcs_ends *ends, pcs_measure *out, pcs_change *change)
{
    const fe_data *fe = self->data;
    const double *const q[2] = { ends->q0, ends->q }, *const v[2] = { ends->v0, ends->v };
    pcs_energy state = { 0 }, differences = { 0 };
    for (int g = 0; g < fe->model.ngroup; g++)
        fe->batches[g].ops->add_both(&fe->batches[g], q, v, &state, &differences);
    pcs_fe_tell(self, &state, pcs_fe_weight_work(self, 0, self->nv, ends->q), out);
    *change = (pcs_change){ 2.0 * differences.strain, 2.0 * differences.kinetic };
}

// Do all cells couple equations that follow one another?
static bool slices_are_chained(const fe_data *fe)
{
    for (int b = 0; b < fe->nbatch; b++) {
        const int *equation = fe->batches[b].equation;
        for (size_t i = 0; i < (size_t)fe->batches[b].ncell; i++)
            if (equation[2 * i] >= 0 && equation[2 * i + 1] >= 0 && abs(equation[2 * i + 1] - equation[2 * i]) > 1)
                return false;
    }
    return true;
}

static const pcs_slice_ops slices_of_bars = {
    .force = slices_force, .sum = slices_sum, .measure = slices_measure, .measure_whole = slices_measure_whole
};

void pcs_fe_find_slices(pcs_system *self, const fe_data *fe)
{
    bool is_plain = self->is_linear && fe->laws == NULL && fe->nturning == 0 && fe->npush <= MOST_PUSHES;
    if (fe->takes_ranges && is_plain && slices_are_chained(fe)) self->slices = &slices_of_bars;
}
