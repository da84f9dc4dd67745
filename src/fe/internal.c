// Internal variables of materials: the state that a step leaves in the cells of groups that have some.
//
// They hold the values of the last commit and are part of the system's memory, so that states which are saved, restored
// and written contain them. Between two commits every kernel integrates from there to its state in one increment, so
// that a step may be tried, rejected and cut without a trace. Friction of contacts with force laws does the same
// (rows/forces.c). Each rank has those of its own cells; in a checkpoint they are in the order of one process.

#include "fe/data.h"

static int internal_count(const fe_data *fe, int b)
{
    return fe->batches[b].ncell * pcs_fe_ops(fe, b)->ninternal;
}

// Returns the index of a group's first variable among those of all ranks; for ngroup, their total number.
static int internal_first(const fe_data *fe, int group)
{
    int first = 0;
    for (int g = 0; g < group; g++)
        first += pcs_set_size(fe->model.groups[g].cells) * fe->model.groups[g].ops->ninternal;
    return first;
}

// Assigns serial numbers, as in one process, to the variables: own cells first, then copies of cells of other ranks.
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

double pcs_fe_internal_loss(const pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    const pcs_cell_state state = pcs_fe_state(self, at);
    pcs_cell_sums sum = { 0 };
    for (int b = 0; b < fe->model.ngroup; b++)
        if (pcs_fe_ops(fe, b)->ninternal > 0) pcs_fe_ops(fe, b)->measure(&fe->batches[b], &state, PCS_CELL_LOSS, &sum);
    pcs_system_sum(self, 1, &sum.loss);
    return sum.loss;
}

void pcs_fe_commit(pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    fe_work *work = self->work;
    const pcs_cell_state state = pcs_fe_state(self, at);
    for (int b = 0; b < fe->nbatch; b++)
        if (pcs_fe_ops(fe, b)->ninternal > 0) pcs_fe_ops(fe, b)->commit(&fe->batches[b], &state);
    if (work->internal != NULL) work->internal[fe->ninternal] = at.t;
    pcs_forces_commit(self, at);
}
