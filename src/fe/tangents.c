// Tangents of a run of cells, from their dense matrices to the places in K and C.

#include "fe/data.h"

static void tangents_scatter(size_t count, const int *place, const double *cell, double *value)
{
    for (size_t i = 0; i < count; i++)
        if (place[i] >= 0) value[place[i]] += cell[i];
}

// Only the blocks of the two nodes with themselves.
static void tangents_scatter_nodal(int n, const int *place, const double *cell, double *value)
{
    int half = n / 2;
    for (int i = 0; i < n; i++) {
        int first = i * n + (i < half ? 0 : half);
        tangents_scatter((size_t)half, place + first, cell + first, value);
    }
}

static bool tangents_is_nodal(const pcs_element_ops *ops, const pcs_batch *batch)
{
    return ops->is_nodal_in_velocity && batch->damping_mass == 0.0 && batch->damping_stiffness == 0.0;
}

void pcs_fe_add_tangents(pcs_system *self, int b, int first, int count, const double *q, const double *v)
{
    const fe_data *fe = self->data;
    const pcs_element_ops *ops = pcs_fe_ops(fe, b);
    pcs_batch room;
    const pcs_batch *batch = pcs_fe_batch_at(fe, b, ((const fe_work *)self->work)->elapsed, &room);
    size_t entries = (size_t)(ops->ndof * ops->ndof);
    double K[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], C[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    for (int c = first; c < first + count; c++) {
        const int *place = fe->scatter[b] + (size_t)c * entries;
        ops->tangents(batch, c, q, v, K, self->C == NULL ? NULL : C);
        tangents_scatter(entries, place, K, self->K->value);
        if (self->C == NULL) continue;
        if (tangents_is_nodal(ops, batch)) tangents_scatter_nodal(ops->ndof, place, C, self->C->value);
        else tangents_scatter(entries, place, C, self->C->value);
    }
}
