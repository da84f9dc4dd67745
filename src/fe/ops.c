// Implements the operations of a finite-element system that schemes and observers call.
//
//   f(t, q, v) = s (f_gravity + f_loads(t)) - K q - C v,   g(q) = g_0 + G q,   s the load factor

#include "core/loop.h"
#include "fe/data.h"
#include "system/slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Internal variables of materials: the state that a step leaves in the cells of groups that have some.
//
// They hold the values of the last commit and are part of the system's memory, so that states which are saved, restored
// and written contain them. Between two commits every kernel integrates from there to its state in one increment, so
// that a step may be tried, rejected and cut without a trace. Friction of contacts with force laws does the same
// (rows/forces.c). Each process has those of its own cells; in a checkpoint they are in the order of one process.

static int internal_count(const fe_data *fe, int b)
{
    return fe->batches[b].ncell * pcs_fe_ops(fe, b)->ninternal;
}

// Returns the index of a group's first variable among those of all processes; for ngroup, their total number.
static int internal_first(const fe_data *fe, int group)
{
    int first = 0;
    for (int g = 0; g < group; g++)
        first += pcs_set_size(fe->model.groups[g].cells) * fe->model.groups[g].ops->ninternal;
    return first;
}

// Assigns serial numbers, as in one process, to the variables: own cells first, then copies of others.
static pcs_status internal_number(pcs_system *self, const fe_data *fe, pcs_memory *piece)
{
    int *serial, next = 0;
    PCS_TAKE(self->ctx, serial, fe->ninternal, "internal variables");
    for (int b = 0; b < fe->nbatch; b++) {
        const pcs_batch *batch = &fe->batches[b];
        int n = pcs_fe_ops(fe, b)->ninternal, first = n > 0 ? internal_first(fe, b % fe->model.ngroup) : 0;
        for (int i = 0; i < batch->ncell; i++)
            for (int k = 0; k < n; k++) serial[next++] = first + fe->share->index_of_cell[batch->cells[i]] * n + k;
        if (b < fe->model.ngroup) piece->nown = next;
    }
    piece->serial = serial;
    piece->nall = internal_first(fe, fe->model.ngroup);
    return PCS_OK;
}

pcs_status pcs_fe_make_internal(pcs_system *self, fe_data *fe)
{
    fe_work *work = self->work;
    for (int b = 0; b < fe->nbatch; b++) {
        fe->ninternal += internal_count(fe, b);
        self->has_materials = self->has_materials || pcs_fe_ops(fe, b)->ninternal > 0;
        if (pcs_fe_ops(fe, b)->ages) self->ageing = pcs_culprit(self->ctx, "elements", fe->batches[b].name);
    }
    for (int g = 0; g < fe->model.ngroup && !pcs_mesh_is_whole(fe->model.mesh); g++)
        if (fe->model.groups[g].ops->ninternal > 0 && fe->model.groups[g].cells->place == NULL)
            return pcs_fail(self->ctx, PCS_UNSUPPORTED, "internal variables are written in the order of all cells");
    if (!self->has_materials) return PCS_OK;
    PCS_TAKE(self->ctx, work->internal, (size_t)fe->ninternal + 1, "internal variables");
    double *next = work->internal, *last = work->internal + fe->ninternal;
    for (int b = 0; b < fe->nbatch; b++) {
        fe->batches[b].internal = next;
        next += internal_count(fe, b);
    }
    pcs_memory variables = { .bytes = work->internal, .size = (size_t)fe->ninternal * sizeof *work->internal };
    if (self->layout != NULL) PCS_TRY(internal_number(self, fe, &variables));
    self->memory[self->nmemory++] = variables;
    self->memory[self->nmemory++] = (pcs_memory){ .bytes = last, .size = sizeof *last };
    return PCS_OK;
}

static double fe_internal_loss(const pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    const pcs_cell_state state = pcs_fe_state(self, at);
    pcs_cell_sums sum = { 0 };
    for (int b = 0; b < fe->model.ngroup; b++)
        if (pcs_fe_ops(fe, b)->ninternal > 0) pcs_fe_ops(fe, b)->measure(&fe->batches[b], &state, PCS_CELL_LOSS, &sum);
    pcs_system_sum(self, 1, &sum.loss);
    return sum.loss;
}

static void fe_commit(pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    fe_work *work = self->work;
    const pcs_cell_state state = pcs_fe_state(self, at);
    for (int b = 0; b < fe->nbatch; b++)
        if (pcs_fe_ops(fe, b)->ninternal > 0) pcs_fe_ops(fe, b)->commit(&fe->batches[b], &state);
    if (work->internal != NULL) work->internal[fe->ninternal] = at.t;
    pcs_forces_commit(self, at);
}

// Forces and energies of long bars by ranges of equations (core/pool.h), which threads share, and slice by slice
// (system/slices.h).
//
// A range is filled with gravity and loses its internal forces while it is in the cache. Energies are summed over each
// range and then over ranges in their order: the same bits with any number of threads.
//
// Sums of a slice are over cells whose first equation lies inside of it, not at its ends; the cells of the two
// equations where slices meet are added afterwards.

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

static void fe_range_force(const pcs_system *self, const pcs_cell_state *at, bool is_filled, double *f)
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
static double fe_weight_work(const pcs_system *self, int low, int high, const double *q)
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

// Sums energies, J, and momenta over all processes; each process has the potential at rest of its own cells only.
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

static void fe_tell(const pcs_system *self, const pcs_cell_sums *sum, double weight_work, pcs_measure *out)
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
    out->weight_work += fe_weight_work(self, out->high, high, ends->q);
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
    fe_tell(self, &sum, weight_work, out);
    *change = (pcs_change){ 2.0 * sum.change_in_strain, 2.0 * sum.change_in_kinetic };
}

static void slices_measure_whole(const pcs_system *self, const pcs_ends *ends, pcs_measure *out, pcs_change *change)
{
    pcs_cell_sums sum = { 0 };
    slices_add(self, ends, 0, 0, &sum);
    fe_tell(self, &sum, fe_weight_work(self, 0, self->nv, ends->q), out);
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

// Computes f = s (f_gravity + f_loads(t)).
static void fe_apply_loads(const pcs_system *self, pcs_instant at, double *f)
{
    const fe_data *fe = self->data;
    size_t bytes = (size_t)self->nv * sizeof *f;
    if (self->gravity != NULL) memcpy(f, self->gravity, bytes);
    else memset(f, 0, bytes);
    for (int l = 0; l < fe->model.nload; l++) {
        double factor = pcs_fe_load_size(self, l, at.t);
        for (int i = fe->first_push[l]; i < fe->first_push[l + 1]; i++)
            f[fe->pushes[i].equation] += fe->pushes[i].value * factor;
    }
    if (fe->nturning > 0) pcs_fe_turning_force(self, at.t, at.q, f);
    if (at.load_factor != 1.0)
        for (int i = 0; i < self->nv; i++) f[i] *= at.load_factor;
}

// Computes the sum of loads, element forces and forces of laws.
PCS_APART static void fe_add_forces(const pcs_system *self, pcs_instant at, double *f)
{
    const fe_data *fe = self->data;
    bool is_filled = !fe->has_ranges || fe->model.nload > 0 || at.load_factor != 1.0;
    if (is_filled) fe_apply_loads(self, at, f);
    const pcs_cell_state state = pcs_fe_state(self, at);
    if (fe->has_ranges) fe_range_force(self, &state, is_filled, f);
    for (int b = 0; b < fe->nbatch && !fe->has_ranges; b++) pcs_fe_ops(fe, b)->force(&fe->batches[b], &state, f);
    if (fe->has_laws) pcs_forces_add(self, at, f);
}

static void fe_force(const pcs_system *self, pcs_instant at, double *f)
{
    const fe_data *fe = self->data;
    if (fe->base == NULL || at.load_factor != 1.0) {
        fe_add_forces(self, at, f);
        return;
    }
    const pcs_cell_state state = { .q = at.q, .v = at.v, .from = fe->base };
    fe->batches[0].ops->force(&fe->batches[0], &state, f);
}

static void fe_energy(const pcs_system *self, pcs_instant at, pcs_measure *out)
{
    const fe_data *fe = self->data;
    pcs_cell_sums sum = { 0 };
    double loss;
    const pcs_cell_state state = pcs_fe_state(self, at);
    if (fe->has_ranges) pcs_fe_range_energy(self, &state, &sum);
    for (int g = 0; g < fe->model.ngroup && !fe->has_ranges; g++)
        fe->batches[g].ops->measure(&fe->batches[g], &state, PCS_CELL_ENERGY, &sum);
    if (fe->has_laws) sum.strain += pcs_forces_energy(self, at, &loss);
    fe_tell(self, &sum, fe_weight_work(self, 0, pcs_system_nown(self), at.q), out);
}

static void fe_resultant(const pcs_system *self, pcs_instant at, double sum[3])
{
    const fe_data *fe = self->data;
    memcpy(sum, fe->free_weight, 3 * sizeof *sum);
    if (fe->is_balanced) {
        pcs_system_sum(self, 3, sum);
        return;
    }
    for (int l = 0; l < fe->model.nload; l++) {
        double factor = pcs_fe_load_size(self, l, at.t);
        for (int i = fe->first_push[l]; i < fe->first_push[l + 1]; i++)
            for (int k = 0; k < 3; k++) sum[k] += fe->pushes[i].value * factor * fe->pushes[i].direction[k];
    }
    if (fe->nturning > 0) pcs_fe_turning_resultant(self, at.t, at.q, sum);
    const pcs_cell_state state = pcs_fe_state(self, at);
    pcs_cell_sums cells = { .resultant = { sum[0], sum[1], sum[2] } };
    for (int g = 0; g < fe->model.ngroup; g++)
        fe->batches[g].ops->measure(&fe->batches[g], &state, PCS_CELL_RESULTANT, &cells);
    memcpy(sum, cells.resultant, 3 * sizeof *sum);
    if (fe->has_laws) pcs_forces_add_resultant(self, at, sum);
    pcs_system_sum(self, 3, sum);
}

static double fe_damping_power(const pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    const double *u = at.along == NULL ? at.v : at.along;
    double power = 0.0;
    if (fe->has_laws) (void)pcs_forces_energy(self, at, &power);
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_batch *batch = &fe->batches[g];
        const pcs_element_ops *ops = batch->ops;
        pcs_cell_sums sum = { 0 };
        if (ops->is_nonlinear || ops->sees_velocity) {
            ops->measure(batch, &(pcs_cell_state){ .q = at.q, .v = at.v, .along = u }, PCS_CELL_POWER, &sum);
            power += sum.power;
            continue;
        }
        if (batch->damping_mass == 0.0 && batch->damping_stiffness == 0.0) continue;
        // u . A v = (u . A u + v . A v - (u - v) . A (u - v))/2
        ops->measure(batch, &(pcs_cell_state){ .q = at.v, .v = at.v }, PCS_CELL_ENERGY, &sum);
        ops->measure(batch, &(pcs_cell_state){ .q = u, .v = u, .q0 = at.v, .v0 = at.v },
                     PCS_CELL_ENERGY | PCS_CELL_CHANGE, &sum);
        power += batch->damping_mass * (sum.kinetic - sum.change_in_kinetic);
        power += batch->damping_stiffness * (sum.strain - sum.change_in_strain);
    }
    pcs_system_sum(self, 1, &power);
    return power;
}

static double fe_load_work(const pcs_system *self, double t, const double *q0, const double *q1)
{
    const fe_data *fe = self->data;
    double work = 0.0;
    for (int l = 0; l < fe->model.nload; l++) {
        double factor = pcs_fe_load_size(self, l, t);
        for (int i = fe->first_push[l]; i < fe->first_push[l + 1]; i++) {
            int equation = fe->pushes[i].equation;
            work += fe->pushes[i].value * factor * (q1[equation] - q0[equation]);
        }
    }
    if (fe->nturning > 0) work += pcs_fe_turning_work(self, t, q0, q1);
    if (fe->has_pushes) pcs_system_sum(self, 1, &work);
    return work;
}

static double fe_load_power(const pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    double power = 0.0;
    for (int l = 0; l < fe->model.nload; l++) {
        double factor = pcs_fe_load_size(self, l, at.t);
        for (int i = fe->first_push[l]; i < fe->first_push[l + 1]; i++)
            power += fe->pushes[i].value * factor * at.v[fe->pushes[i].equation];
    }
    if (fe->nturning > 0) power += pcs_fe_turning_power(self, at.t, at.q, at.v);
    if (fe->has_pushes) pcs_system_sum(self, 1, &power);
    return power;
}

static void fe_describe(const pcs_system *self, int equation, const double span[2], const double *q, size_t size,
                        char *text)
{
    const fe_data *fe = self->data;
    if (equation < 0) {
        if (!pcs_fe_name_load(self, span, size, text)) pcs_fe_name_bent(self, q, size, text);
        return;
    }
    snprintf(text, size, "equation %d", equation);
    for (int i = 0; i < fe->map.ndof; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->equation != equation) continue;
        const double *x = fe->model.mesh->x[d->node];
        int node = pcs_mesh_node_number(fe->model.mesh, d->node);
        snprintf(text, size, "node %d at (%g, %g, %g), %s [%g, %g, %g]", node, x[0], x[1], x[2],
                 d->is_rotation ? "rotation about" : "direction", d->direction[0], d->direction[1], d->direction[2]);
        return;
    }
}

static void fe_measure(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out)
{
    *out = (pcs_measure){ 0 };
    if (what & PCS_ENERGY) fe_energy(self, at, out);
    if (what & PCS_RESULTANT) fe_resultant(self, at, out->resultant);
    if (what & PCS_DAMPING_POWER) out->damping_power = fe_damping_power(self, at);
    if (what & PCS_LOAD_POWER) out->load_power = fe_load_power(self, at);
    if (what & PCS_MATERIAL_LOSS) out->material_loss = fe_internal_loss(self, at);
}

static void fe_update(pcs_system *self, pcs_instant at, pcs_update what, const double *x)
{
    if (what == PCS_TANGENTS) pcs_fe_update_tangents(self, at);
    if (what == PCS_JOINTS) pcs_derivative_add_stiffness(self, at, x);
    if (what == PCS_SLOPES) pcs_derivative_update(self, at, x);
    if (what == PCS_DAMPERS) pcs_forces_delay_dampers(self, at);
}

const pcs_system_ops pcs_system_fe = {
    .force = fe_force,
    .update = fe_update,
    .evaluate_rows = pcs_table_evaluate,
    .search = pcs_table_search,
    .passages = pcs_table_passages,
    .measure = fe_measure,
    .commit = fe_commit,
    .load_work = fe_load_work,
    .reactions = pcs_fe_reactions,
    .stable_step = pcs_fe_stable_step,
    .draw = pcs_fe_draw,
    .probe = pcs_fe_probe,
    .describe = fe_describe,
};
