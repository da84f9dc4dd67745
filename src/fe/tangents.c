// Tangents of a run of cells, from their dense matrices to the places in K and C.

#include "fe/data.h"

// Adds a cell matrix of n x n, `rows` to a node, column by column; with constant arguments the loops unroll.
static inline void tangents_add(int n, int rows, const int *first, const double *restrict cell, double *restrict value)
{
    const int nnode = n / rows;
    for (int j = 0; j < n; j++)
        for (int node = 0; node < nnode; node++) {
            double *to = value + first[j * nnode + node];
            for (int i = 0; i < rows; i++) to[i] += cell[(node * rows + i) * n + j];
        }
}

// Only the blocks of the last three dofs of a node with themselves.
static inline void tangents_add_spins(int n, int rows, const int *first, const double *restrict cell,
                                      double *restrict value)
{
    const int nnode = n / rows;
    for (int node = 0; node < nnode; node++)
        for (int j = (node + 1) * rows - 3; j < (node + 1) * rows; j++) {
            double *to = value + first[j * nnode + node];
            for (int i = rows - 3; i < rows; i++) to[i] += cell[(node * rows + i) * n + j];
        }
}

static void tangents_add_sized(int n, int nnode, const int *first, const double *cell, double *value)
{
    if (n == 12 && nnode == 2) tangents_add(12, 6, first, cell, value);
    else if (n == 6 && nnode == 2) tangents_add(6, 3, first, cell, value);
    else tangents_add(n, n / nnode, first, cell, value);
}

static void tangents_scatter(int count, const int *place, const double *cell, double *value)
{
    for (int i = 0; i < count; i++)
        if (place[i] >= 0) value[place[i]] += cell[i];
}

bool pcs_fe_is_gyroscopic(const fe_data *fe, int b)
{
    const pcs_batch *batch = &fe->batches[b];
    return pcs_fe_ops(fe, b)->is_gyroscopic && batch->damping_mass == 0.0 && batch->damping_stiffness == 0.0;
}

void pcs_fe_add_tangents(pcs_system *self, int b, int first, int count, const double *q, const double *v)
{
    const fe_data *fe = self->data;
    const pcs_element_ops *ops = pcs_fe_ops(fe, b);
    const fe_scatter *scatter = &fe->scatter[b];
    pcs_batch room;
    const pcs_batch *batch = pcs_fe_batch_at(fe, b, ((const fe_work *)self->work)->elapsed, &room);
    const int n = ops->ndof, nnode = scatter->nnode;
    const bool is_gyroscopic = pcs_fe_is_gyroscopic(fe, b);
    double K[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], C[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    for (int c = first; c < first + count; c++) {
        const int *place = scatter->first + (size_t)c * (size_t)(n * nnode);
        ops->tangents(batch, c, q, v, K, self->C == NULL ? NULL : C);
        if (place[0] < 0) {
            place = scatter->table + (size_t)(-1 - place[0]) * (size_t)(n * n);
            tangents_scatter(n * n, place, K, self->K->value);
            if (self->C != NULL) tangents_scatter(n * n, place, C, self->C->value);
            continue;
        }
        tangents_add_sized(n, nnode, place, K, self->K->value);
        if (self->C == NULL) continue;
        if (is_gyroscopic) tangents_add_spins(n, n / nnode, place, C, self->C->value);
        else tangents_add_sized(n, nnode, place, C, self->C->value);
    }
}
