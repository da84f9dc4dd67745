// Forces and energies of long bars by ranges of equations (core/pool.h), which threads share.
//
// A range is filled with gravity and loses its internal forces while it is in the cache. Energies are summed over each
// range and then over ranges in their order: the same bits with any number of threads.

#include "fe/data.h"

#include <string.h>

enum { FEWEST_EQUATIONS = 200000 }; // below this waking a thread costs more than it saves

pcs_status pcs_fe_plan_ranges(pcs_system *self, fe_data *fe)
{
    fe->takes_ranges = self->layout == NULL;
    for (int b = 0; b < fe->nbatch && fe->takes_ranges; b++) {
        const pcs_element_ops *ops = pcs_fe_ops(fe, b);
        fe->takes_ranges = ops->takes_ranges != NULL && ops->takes_ranges(&fe->batches[b]);
    }
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
    const double *q, *v;
    double *f;
    bool is_filled;                       // f is gravity and loads already
    pcs_energy sum[PCS_POOL_MOST_RANGES]; // of each range
} range_job;

static void ranges_force(void *data, int range, int low, int high)
{
    const range_job *job = data;
    const fe_data *fe = job->self->data;
    size_t bytes = (size_t)(high - low) * sizeof *job->f;
    (void)range;
    if (!job->is_filled && job->self->gravity != NULL) memcpy(job->f + low, job->self->gravity + low, bytes);
    else if (!job->is_filled) memset(job->f + low, 0, bytes);
    for (int b = 0; b < fe->nbatch; b++) {
        pcs_batch batch = pcs_fe_range_batch(fe, b, low, high);
        batch.ops->add_force(&batch, job->q, job->v, job->f);
    }
}

void pcs_fe_range_force(const pcs_system *self, const double *q, const double *v, bool is_filled, double *f)
{
    range_job job = { .self = self, .q = q, .v = v, .f = f, .is_filled = is_filled };
    pcs_pool_cover(pcs_context_pool(self->ctx), self->nv, ranges_force, &job);
}

static void ranges_energy(void *data, int range, int low, int high)
{
    range_job *job = data;
    const fe_data *fe = job->self->data;
    for (int g = 0; g < fe->model.ngroup; g++) {
        pcs_batch batch = pcs_fe_range_batch(fe, g, low, high);
        batch.ops->add_energy(&batch, job->q, job->v, &job->sum[range]);
    }
}

static void ranges_sum(const pcs_system *self, range_job *job, pcs_energy *sum)
{
    int count = pcs_pool_ranges(self->nv);
    pcs_pool_cover(pcs_context_pool(self->ctx), self->nv, ranges_energy, job);
    for (int r = 0; r < count; r++) {
        sum->kinetic += job->sum[r].kinetic;
        sum->strain += job->sum[r].strain;
        for (int k = 0; k < 3; k++) {
            sum->momentum[k] += job->sum[r].momentum[k];
            sum->fixed_momentum[k] += job->sum[r].fixed_momentum[k];
        }
    }
}

void pcs_fe_range_energy(const pcs_system *self, const double *q, const double *v, pcs_energy *sum)
{
    range_job job = { .self = self, .q = q, .v = v };
    ranges_sum(self, &job, sum);
}
