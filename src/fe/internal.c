// Internal variables of materials: what a step leaves behind in the cells of groups that have some.
//
// They stand at the last commit and are memory of the system, so that states which are kept, restored and written hold
// them. Between two commits every kernel takes the way from there to the state asked for in one, so that a step may be
// tried, rejected and cut without a trace. Friction of contacts with force laws does the same (fe/laws.h).

#include "fe/laws.h"

static int internal_count(const fe_data *fe, int b)
{
    return fe->batches[b].ncell * pcs_fe_ops(fe, b)->ninternal;
}

pcs_status pcs_fe_make_internal(pcs_system *self, fe_data *fe, const char **culprit)
{
    fe_work *work = self->work;
    for (int b = 0; b < fe->nbatch; b++) {
        bool has_any = pcs_fe_ops(fe, b)->ninternal > 0;
        fe->ninternal += internal_count(fe, b);
        self->has_materials = self->has_materials || has_any;
        if (!has_any || self->layout == NULL) continue;
        *culprit = pcs_fe_culprit(self->ctx, "elements", fe->batches[b].name);
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "element '%s' has internal variables: it runs in one process only",
                        pcs_fe_ops(fe, b)->name);
    }
    if (fe->laws != NULL && fe->laws->ntangent > 0 && self->layout != NULL)
        return pcs_fail(self->ctx, PCS_BAD_INPUT,
                        "a contact with a force law and friction keeps its state: it runs in one process only");
    self->has_internal = self->has_internal || self->has_materials;
    if (!self->has_materials) return PCS_OK;
    PCS_TAKE(self->ctx, work->internal, (size_t)fe->ninternal + 1, "internal variables");
    double *next = work->internal;
    for (int b = 0; b < fe->nbatch; b++) {
        fe->batches[b].internal = next;
        next += internal_count(fe, b);
    }
    self->memory[self->nmemory++] =
        (pcs_memory){ .bytes = work->internal, .size = ((size_t)fe->ninternal + 1) * sizeof *work->internal };
    return PCS_OK;
}

double pcs_fe_internal_loss(const pcs_system *self, double t, const double *q)
{
    const fe_data *fe = self->data;
    double sum = 0.0, elapsed = pcs_fe_elapsed(self, t);
    pcs_batch room;
    for (int b = 0; b < fe->nbatch; b++)
        if (pcs_fe_ops(fe, b)->ninternal > 0)
            sum += pcs_fe_ops(fe, b)->internal_loss(pcs_fe_batch_at(fe, b, elapsed, &room), q);
    return sum;
}

void pcs_fe_commit(pcs_system *self, double t, const double *q, const double *v)
{
    const fe_data *fe = self->data;
    fe_work *work = self->work;
    double elapsed = pcs_fe_elapsed(self, t);
    pcs_batch room;
    for (int b = 0; b < fe->nbatch; b++)
        if (pcs_fe_ops(fe, b)->ninternal > 0) pcs_fe_ops(fe, b)->commit(pcs_fe_batch_at(fe, b, elapsed, &room), q);
    if (work->internal != NULL) work->internal[fe->ninternal] = t;
    pcs_fe_commit_laws(self, q, v);
    self->span = 0.0;
}
