// Mass, stiffness and damping of a finite-element model: linear groups once, nonlinear ones at every state asked for.

#include "fe/data.h"

#include <math.h>
#include <string.h>

static pcs_status assembly_pattern(pcs_system *self, pcs_pattern **pattern, const char **culprit)
{
    const fe_data *fe = self->data;
    pcs_pattern_builder *builder;
    PCS_TRY(pcs_pattern_begin(self->ctx, self->nv, &builder));
    pcs_status status = PCS_OK;
    for (int b = 0; b < fe->nbatch && status == PCS_OK; b++) {
        const pcs_batch *batch = &fe->batches[b];
        status = pcs_pattern_add_cells(builder, batch->ncell, pcs_fe_ops(fe, b)->ndof, batch->equation);
    }
    if (status == PCS_OK) status = pcs_fe_add_law_pattern(self, fe, builder, culprit);
    if (status == PCS_OK) return pcs_pattern_finish(builder, pattern);
    pcs_pattern *unused; // finishing gives the builder's memory back
    (void)pcs_pattern_finish(builder, &unused);
    return status;
}

// The damping of a cell: Rayleigh's, or what a linear element with dampers of its own says, which does not vary.
static void assembly_add_damping(pcs_system *self, int b, int cell, const double *M, const double *K)
{
    const pcs_element_ops *ops = pcs_fe_ops(self->data, b);
    const pcs_batch *batch = &((const fe_data *)self->data)->batches[b];
    const int *equation = batch->equation + (size_t)cell * (size_t)ops->ndof;
    double A[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], C[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    if (ops->sees_velocity && !ops->is_nonlinear) {
        ops->tangents(batch, cell, NULL, NULL, A, C);
        pcs_matrix_add_cell(self->C, ops->ndof, equation, 1.0, C);
        return;
    }
    pcs_matrix_add_cell(self->C, ops->ndof, equation, batch->damping_mass, M);
    pcs_matrix_add_cell(self->C, ops->ndof, equation, batch->damping_stiffness, K);
}

static void assembly_add_batch(pcs_system *self, int b)
{
    const fe_data *fe = self->data;
    const pcs_element_ops *ops = pcs_fe_ops(fe, b);
    const pcs_batch *batch = &fe->batches[b];
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], K[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = batch->equation + (size_t)c * (size_t)ops->ndof;
        ops->matrices(batch, c, M, K);
        pcs_matrix_add_cell(self->M, ops->ndof, equation, 1.0, M);
        pcs_matrix_add_cell(self->K, ops->ndof, equation, 1.0, K);
        if (self->C != NULL) assembly_add_damping(self, b, c, M, K);
    }
}

// Place of every entry of every cell matrix among the values of the matrices, -1 where a dof is fixed.
static pcs_status assembly_make_scatter(pcs_system *self, fe_data *fe, int b)
{
    const pcs_batch *batch = &fe->batches[b];
    int n = pcs_fe_ops(fe, b)->ndof, *scatter;
    PCS_TAKE(self->ctx, scatter, (size_t)batch->ncell * (size_t)(n * n), "the assembly");
    fe->scatter[b] = scatter;
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = batch->equation + (size_t)c * (size_t)n;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                bool is_held = equation[i] < 0 || equation[j] < 0;
                *scatter++ = is_held ? -1 : pcs_pattern_place(self->K->pattern, equation[i], equation[j]);
            }
    }
    return PCS_OK;
}

// Keeps what linear groups gave to K and C, which stands for all times.
static pcs_status assembly_keep_base(pcs_system *self, fe_data *fe)
{
    size_t nnz = (size_t)self->K->pattern->nnz;
    PCS_TAKE(self->ctx, fe->scatter, fe->nbatch, "the assembly");
    PCS_TAKE(self->ctx, fe->base_K, nnz, "the assembly");
    memcpy(fe->base_K, self->K->value, nnz * sizeof(double));
    if (self->C == NULL) return PCS_OK;
    PCS_TAKE(self->ctx, fe->base_C, nnz, "the assembly");
    memcpy(fe->base_C, self->C->value, nnz * sizeof(double));
    return PCS_OK;
}

// Constant damping may turn out to be none, and gyroscopic moments make it skew.
static void assembly_look_at_damping(pcs_system *self)
{
    const pcs_pattern *pattern = self->K->pattern;
    double size = 0.0, skew = 0.0;
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++) {
            double value = self->C->value[p], other = self->C->value[pcs_pattern_place(pattern, j, pattern->row[p])];
            size = fmax(size, fabs(value));
            skew = fmax(skew, fabs(value - other));
        }
    self->has_skew_damping = pcs_system_max(self, skew) > 1e-12 * pcs_system_max(self, size);
    self->has_damping = pcs_system_max(self, size) > 0.0;
    if (!self->has_damping) self->C = NULL;
}

static void assembly_look_at_groups(pcs_system *self, fe_data *fe)
{
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_element_ops *ops = fe->model.groups[g].ops;
        bool is_damped = fe->batches[g].damping_mass != 0.0 || fe->batches[g].damping_stiffness != 0.0;
        self->has_damping = self->has_damping || is_damped || ops->sees_velocity;
        fe->is_nonlinear = fe->is_nonlinear || ops->is_nonlinear;
    }
}

pcs_status pcs_fe_assemble(pcs_system *self, fe_data *fe, const char **culprit)
{
    pcs_pattern *pattern;
    assembly_look_at_groups(self, fe);
    PCS_TRY(assembly_pattern(self, &pattern, culprit));
    pattern->layout = self->layout;
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->M));
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->K));
    if (self->has_damping) PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->C));
    for (int b = 0; b < fe->nbatch; b++)
        if (!pcs_fe_ops(fe, b)->is_nonlinear) assembly_add_batch(self, b);
    if (self->C != NULL && !fe->is_nonlinear) assembly_look_at_damping(self);
    if (fe->is_nonlinear) PCS_TRY(assembly_keep_base(self, fe));
    for (int b = 0; b < fe->nbatch; b++) {
        if (!pcs_fe_ops(fe, b)->is_nonlinear) continue;
        assembly_add_batch(self, b);
        PCS_TRY(assembly_make_scatter(self, fe, b));
    }
    if (!pcs_matrix_is_finite(self->M) || !pcs_matrix_is_finite(self->K))
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "a mass or stiffness of the model is too large to be represented");
    return PCS_OK;
}

void pcs_fe_update_tangents(pcs_system *self, double t, const double *q, const double *v)
{
    const fe_data *fe = self->data;
    size_t bytes = (size_t)self->K->pattern->nnz * sizeof(double);
    ((fe_work *)self->work)->elapsed = pcs_fe_elapsed(self, t);
    memcpy(self->K->value, fe->base_K, bytes);
    if (self->C != NULL) memcpy(self->C->value, fe->base_C, bytes);
    for (int b = 0; b < fe->nbatch; b++) {
        if (!pcs_fe_ops(fe, b)->is_nonlinear || pcs_fe_add_pieces(self, b, q, v)) continue;
        pcs_fe_add_tangents(self, b, 0, fe->batches[b].ncell, q, v);
    }
    if (fe->nturning > 0) pcs_fe_turning_tangent(self, t, q);
    if (fe->laws != NULL) pcs_fe_law_tangents(self, q, v);
}
