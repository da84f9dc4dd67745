// Forces and energies of long bars by ranges of equations (core/pool.h), which threads share, and slice by slice
// (system/slices.h).
//
// A range is filled with gravity and loses its internal forces while it is in the cache. Energies are summed over each
// range and then over ranges in their order: the same bits with any number of threads.
//
// Sums of a slice are over cells whose first equation lies inside of it, not at its ends; the cells of the two
// equations where slices meet are added afterwards.

#include "system/slices.h"
#include "fe/data.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_EQUATIONS = 200000 }; // below this waking a thread costs more than it saves

pcs_status pcs_fe_plan_ranges(pcs_system *self, fe_data *fe)
{
    fe->takes_ranges = self->layout == NULL;
    for (int b = 0; b < fe->nbatch; b++) fe->takes_ranges = fe->takes_ranges && fe->batches[b].takes_ranges;
    fe->has_ranges = fe->takes_ranges && pcs_pool_ranges(self->nv) > 1;
    if (!fe->has_ranges || self->nv < FEWEST_EQUATIONS) return PCS_OK;
    int wanted = fe->model.nthread > 0 ? fe->model.nthread : pcs_pool_share(self->ctx);
    fe_work *work = self->work;
    if (work->pool == NULL) PCS_TRY(pcs_pool_create(self->ctx, wanted, &work->pool));
    pcs_context_set_pool(self->ctx, work->pool);
    return PCS_OK;
}

typedef struct range_job {
    const pcs_system *self;
    const pcs_cell_state *at;
    double *f;
    bool is_filled;                          // f already holds gravity and loads
    pcs_cell_sums sum[PCS_POOL_MOST_RANGES]; // of each range
} range_job;

static pcs_cell_state ranges_state(const range_job *job, int low, int high)
{
    pcs_cell_state at = *job->at;
    at.low = low;
    at.high = high;
    return at;
}

static void ranges_force(void *data, int range, int low, int high)
{
    const range_job *job = data;
    const fe_data *fe = job->self->data;
    const pcs_cell_state at = ranges_state(job, low, high);
    size_t bytes = (size_t)(high - low) * sizeof *job->f;
    (void)range;
    if (!job->is_filled && job->self->gravity != NULL) memcpy(job->f + low, job->self->gravity + low, bytes);
    else if (!job->is_filled) memset(job->f + low, 0, bytes);
    for (int b = 0; b < fe->nbatch; b++) fe->batches[b].ops->force(&fe->batches[b], &at, job->f);
}

void pcs_fe_range_force(const pcs_system *self, const pcs_cell_state *at, bool is_filled, double *f)
{
    range_job job = { .self = self, .at = at, .f = f, .is_filled = is_filled };
    pcs_pool_cover(pcs_context_pool(self->ctx), self->nv, ranges_force, &job);
}

static void ranges_energy(void *data, int range, int low, int high)
{
    range_job *job = data;
    const fe_data *fe = job->self->data;
    const pcs_cell_state at = ranges_state(job, low, high);
    for (int g = 0; g < fe->model.ngroup; g++)
        fe->batches[g].ops->measure(&fe->batches[g], &at, PCS_CELL_ENERGY, &job->sum[range]);
}

void pcs_fe_range_energy(const pcs_system *self, const pcs_cell_state *at, pcs_cell_sums *sum)
{
    range_job job = { .self = self, .at = at };
    int count = pcs_pool_ranges(self->nv);
    pcs_pool_cover(pcs_context_pool(self->ctx), self->nv, ranges_energy, &job);
    for (int r = 0; r < count; r++) {
        sum->kinetic += job.sum[r].kinetic;
        sum->strain += job.sum[r].strain;
        for (int k = 0; k < 3; k++) {
            sum->momentum[k] += job.sum[r].momentum[k];
            sum->fixed_momentum[k] += job.sum[r].fixed_momentum[k];
        }
    }
}

// Sums in eight independent partial sums, for speed.
double pcs_fe_weight_work(const pcs_system *self, int low, int high, const double *q)
{
    enum { LANES = 8 };
    double part[LANES] = { 0 }, sum = 0.0;
    const double *g = self->gravity;
    int i = low;
    if (g == NULL) return 0.0;
    for (; i + LANES <= high; i += LANES)
        for (int j = 0; j < LANES; j++) part[j] += g[i + j] * q[i + j];
    for (; i < high; i++) sum += g[i] * q[i];
    for (int j = 0; j < LANES; j++) sum += part[j];
    return sum;
}

// Sums energies, J, and momenta over all ranks; each rank has the potential at rest of its own cells only.
static void slices_sum_measure(const pcs_system *self, pcs_measure *m)
{
    double sum[9] = { m->kinetic, m->strain, m->potential };
    memcpy(sum + 3, m->momentum, sizeof m->momentum);
    memcpy(sum + 6, m->free_momentum, sizeof m->free_momentum);
    pcs_system_sum(self, 9, sum);
    *m = (pcs_measure){ .kinetic = sum[0], .strain = sum[1], .potential = sum[2] };
    memcpy(m->momentum, sum + 3, sizeof m->momentum);
    memcpy(m->free_momentum, sum + 6, sizeof m->free_momentum);
}

void pcs_fe_tell(const pcs_system *self, const pcs_cell_sums *sum, double weight_work, pcs_measure *out)
{
    const fe_data *fe = self->data;
    out->kinetic = sum->kinetic;
    out->strain = sum->strain;
    out->potential = fe->rest_potential - weight_work;
    for (int k = 0; k < 3; k++) {
        out->momentum[k] = sum->momentum[k];
        out->free_momentum[k] = sum->momentum[k] - sum->fixed_momentum[k];
    }
    if (self->layout != NULL) slices_sum_measure(self, out);
}

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
    const pcs_cell_state state = { .q = at->q, .v = at->v, .low = low, .high = high };
    for (int b = 0; b < fe->nbatch; b++) fe->batches[b].ops->force(&fe->batches[b], &state, f);
}

// Adds the energies of cells whose first equation lies within low <= e < high; high is 0 for all.
static void slices_add(const pcs_system *self, const pcs_ends *ends, int low, int high, pcs_cell_sums *sum)
{
    const fe_data *fe = self->data;
    const pcs_cell_state at = { .q0 = ends->q0, .q = ends->q, .v0 = ends->v0, .v = ends->v, .low = low, .high = high };
    unsigned what = ends->q0 == NULL ? PCS_CELL_ENERGY : PCS_CELL_ENERGY | PCS_CELL_CHANGE;
    for (int g = 0; g < fe->model.ngroup; g++) fe->batches[g].ops->measure(&fe->batches[g], &at, what, sum);
}

static void slices_sum(const pcs_system *self, const pcs_ends *ends, int high, pcs_slice_sums *out)
{
    pcs_cell_sums sum = { 0 };
    int first = out->high > out->low ? out->high - 1 : out->low + 1, last = high < self->nv ? high - 1 : high;
    if (out->high == 0) first = 0;
    if (first < last) slices_add(self, ends, first, last, &sum);
    out->kinetic += sum.kinetic;
    out->strain += sum.strain;
    for (int k = 0; k < 3; k++) {
        out->momentum[k] += sum.momentum[k];
        out->fixed_momentum[k] += sum.fixed_momentum[k];
    }
    out->weight_work += pcs_fe_weight_work(self, out->high, high, ends->q);
    out->change_in_kinetic += sum.change_in_kinetic;
    out->change_in_strain += sum.change_in_strain;
    out->high = high;
}

// Sums the energies of slices and of the cells between them.
static void slices_measure(const pcs_system *self, const pcs_ends *ends, int count, const pcs_slice_sums *sums,
                           pcs_measure *out, pcs_change *change)
{
    pcs_cell_sums sum = { 0 };
    double weight_work = 0.0;
    for (int s = 1; s < count; s++) slices_add(self, ends, sums[s].low - 1, sums[s].low + 1, &sum);
    for (int s = 0; s < count; s++) {
        sum.kinetic += sums[s].kinetic;
        sum.strain += sums[s].strain;
        sum.change_in_kinetic += sums[s].change_in_kinetic;
        sum.change_in_strain += sums[s].change_in_strain;
        weight_work += sums[s].weight_work;
        for (int k = 0; k < 3; k++) {
            sum.momentum[k] += sums[s].momentum[k];
            sum.fixed_momentum[k] += sums[s].fixed_momentum[k];
        }
    }
    pcs_fe_tell(self, &sum, weight_work, out);
    *change = (pcs_change){ 2.0 * sum.change_in_strain, 2.0 * sum.change_in_kinetic };
}

static void slices_measure_whole(const pcs_system *self, const pcs_ends *ends, pcs_measure *out, pcs_change *change)
{
    pcs_cell_sums sum = { 0 };
    slices_add(self, ends, 0, 0, &sum);
    pcs_fe_tell(self, &sum, pcs_fe_weight_work(self, 0, self->nv, ends->q), out);
    *change = (pcs_change){ 2.0 * sum.change_in_strain, 2.0 * sum.change_in_kinetic };
}

// Returns true if all cells couple consecutive equations.
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
    bool is_plain = self->is_linear && !fe->has_laws && fe->nturning == 0 && fe->npush <= MOST_PUSHES;
    if (fe->takes_ranges && is_plain && slices_are_chained(fe)) self->slices = &slices_of_bars;
}
