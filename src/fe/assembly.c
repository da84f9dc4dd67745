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

// Are the entries of a cell in the rows of a node next to one another in all columns?
static bool assembly_is_whole(const pcs_pattern *pattern, int n, int rows, const int *equation)
{
    for (int i = 0; i < n; i++)
        if (equation[i] < 0 || (i % rows > 0 && equation[i] != equation[i - 1] + 1)) return false;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i += rows) {
            int first = pcs_pattern_place(pattern, equation[i], equation[j]);
            int last = pcs_pattern_place(pattern, equation[i + rows - 1], equation[j]);
            if (last != first + rows - 1) return false;
        }
    return true;
}

// Place of every entry of a cell matrix among the values of the matrices, -1 where a dof is fixed.
static void assembly_fill_table(const pcs_pattern *pattern, int n, const int *equation, int *table)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            bool is_held = equation[i] < 0 || equation[j] < 0;
            *table++ = is_held ? -1 : pcs_pattern_place(pattern, equation[i], equation[j]);
        }
}

static pcs_status assembly_make_scatter(pcs_system *self, fe_data *fe, int b)
{
    const pcs_batch *batch = &fe->batches[b];
    const pcs_element_ops *ops = pcs_fe_ops(fe, b);
    const pcs_pattern *pattern = self->K->pattern;
    int n = ops->ndof, nnode = ops->is_one_node ? 1 : 2, rows = n / nnode, *first, ntable = 0;
    PCS_TAKE(self->ctx, first, (size_t)batch->ncell * (size_t)(n * nnode), "the assembly");
    fe->scatter[b] = (fe_scatter){ .nnode = nnode, .first = first };
    for (int c = 0; c < batch->ncell; c++, first += n * nnode) {
        const int *equation = batch->equation + (size_t)c * (size_t)n;
        if (!assembly_is_whole(pattern, n, rows, equation)) {
            first[0] = -1 - ntable++;
            continue;
        }
        for (int i = 0; i < n * nnode; i++)
            first[i] = pcs_pattern_place(pattern, equation[i % nnode * rows], equation[i / nnode]);
    }
    PCS_TAKE(self->ctx, fe->scatter[b].table, (size_t)ntable * (size_t)(n * n), "the assembly");
    for (int c = 0; c < batch->ncell; c++) {
        int place = fe->scatter[b].first[(size_t)c * (size_t)(n * nnode)];
        if (place < 0)
            assembly_fill_table(pattern, n, batch->equation + (size_t)c * (size_t)n,
                                fe->scatter[b].table + (size_t)(-1 - place) * (size_t)(n * n));
    }
    return PCS_OK;
}

// A copy of what linear groups gave to K or C, which stands for all times; none where that is nothing.
static pcs_status assembly_keep(pcs_system *self, const pcs_matrix *A, double **base)
{
    size_t nnz = (size_t)A->pattern->nnz, some = 0;
    while (some < nnz && A->value[some] == 0.0) some++;
    if (some == nnz) return PCS_OK;
    PCS_TAKE(self->ctx, *base, nnz, "the assembly");
    memcpy(*base, A->value, nnz * sizeof(double));
    return PCS_OK;
}

static pcs_status assembly_keep_base(pcs_system *self, fe_data *fe)
{
    PCS_TAKE(self->ctx, fe->scatter, fe->nbatch, "the assembly");
    PCS_TRY(assembly_keep(self, self->K, &fe->base_K));
    return self->C == NULL ? PCS_OK : assembly_keep(self, self->C, &fe->base_C);
}

// Entries of C that cells write to: those of the rotations of a node, or all of a cell.
static void assembly_mark_damping(const pcs_system *self, int b, unsigned char *mark)
{
    const fe_data *fe = self->data;
    const pcs_batch *batch = &fe->batches[b];
    const pcs_element_ops *ops = pcs_fe_ops(fe, b);
    int n = ops->ndof, rows = ops->is_one_node ? n : n / 2;
    bool is_gyroscopic = pcs_fe_is_gyroscopic(fe, b);
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = batch->equation + (size_t)c * (size_t)n;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if (equation[i] < 0 || equation[j] < 0) continue;
                bool are_spins = i / rows == j / rows && i % rows >= rows - 3 && j % rows >= rows - 3;
                if (is_gyroscopic && !are_spins) continue;
                mark[pcs_pattern_place(self->C->pattern, equation[i], equation[j])] = 1;
            }
    }
}

static void assembly_mark_values(const pcs_matrix *A, unsigned char *mark)
{
    for (int p = 0; p < A->pattern->nnz; p++) mark[p] = A->value[p] != 0.0;
}

// Which entries of M and C of a nonlinear model may differ from zero.
static pcs_status assembly_note_entries(pcs_system *self, const fe_data *fe)
{
    unsigned char *mark = pcs_scratch(NULL, (size_t)self->K->pattern->nnz, sizeof *mark);
    if (mark == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: %d equations", self->nv);
    assembly_mark_values(self->M, mark);
    pcs_status status = pcs_matrix_note_entries(self->ctx, self->M, mark);
    if (status == PCS_OK && self->C != NULL && fe->laws == NULL) {
        assembly_mark_values(self->C, mark);
        for (int b = 0; b < fe->nbatch; b++)
            if (pcs_fe_ops(fe, b)->is_nonlinear) assembly_mark_damping(self, b, mark);
        status = pcs_matrix_note_entries(self->ctx, self->C, mark);
    }
    pcs_scratch_free(mark);
    return status;
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
    self->C->is_skew = pcs_system_max(self, skew) > 1e-12 * pcs_system_max(self, size);
    if (!(pcs_system_max(self, size) > 0.0)) self->C = NULL;
}

// Groups whose tangents vary, and forces that turn with a node, which need not be one of those: bodies in the plane.
static void assembly_look_at_parts(fe_data *fe)
{
    for (int l = 0; l < fe->model.nload; l++) {
        const pcs_fe_load *load = &fe->model.loads[l];
        fe->is_nonlinear = fe->is_nonlinear || (load->kind == PCS_LOAD_FORCE && load->follows);
    }
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_element_ops *ops = fe->model.groups[g].ops;
        bool is_damped = fe->batches[g].damping_mass != 0.0 || fe->batches[g].damping_stiffness != 0.0;
        fe->is_damped = fe->is_damped || is_damped || ops->sees_velocity;
        fe->is_nonlinear = fe->is_nonlinear || ops->is_nonlinear;
    }
}

pcs_status pcs_fe_assemble(pcs_system *self, fe_data *fe, const char **culprit)
{
    pcs_pattern *pattern;
    assembly_look_at_parts(fe);
    PCS_TRY(assembly_pattern(self, &pattern, culprit));
    pattern->layout = self->layout;
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->M));
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->K));
    if (fe->is_damped) PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->C));
    for (int b = 0; b < fe->nbatch; b++)
        if (!pcs_fe_ops(fe, b)->is_nonlinear) assembly_add_batch(self, b);
    if (self->C != NULL && !fe->is_nonlinear) assembly_look_at_damping(self);
    if (fe->is_nonlinear) PCS_TRY(assembly_keep_base(self, fe));
    for (int b = 0; b < fe->nbatch; b++) {
        if (!pcs_fe_ops(fe, b)->is_nonlinear) continue;
        assembly_add_batch(self, b);
        PCS_TRY(assembly_make_scatter(self, fe, b));
    }
    if (fe->is_nonlinear) PCS_TRY(assembly_note_entries(self, fe));
    if (!pcs_matrix_is_finite(self->M) || !pcs_matrix_is_finite(self->K))
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "a mass or stiffness of the model is too large to be represented");
    return PCS_OK;
}

// Sets A to `base`, the sum of the linear groups; if that is NULL, zeroes A (only A->entries, where A lists them).
static void assembly_reset(pcs_matrix *A, const double *base)
{
    if (base != NULL) memcpy(A->value, base, (size_t)A->pattern->nnz * sizeof *base);
    else if (A->entries == NULL) pcs_matrix_zero(A);
    else
        for (int i = 0; i < A->entries->start[A->pattern->n]; i++) A->value[A->entries->place[i]] = 0.0;
}

void pcs_fe_update_tangents(pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    ((fe_work *)self->work)->elapsed = pcs_fe_elapsed(self, at.t);
    assembly_reset(self->K, fe->base_K);
    if (self->C != NULL) assembly_reset(self->C, fe->base_C);
    for (int b = 0; b < fe->nbatch; b++) {
        if (!pcs_fe_ops(fe, b)->is_nonlinear || pcs_fe_add_pieces(self, b, at.q, at.v)) continue;
        pcs_fe_add_tangents(self, b, 0, fe->batches[b].ncell, at.q, at.v);
    }
    if (fe->nturning > 0) pcs_fe_turning_tangent(self, at);
    if (fe->laws != NULL) pcs_fe_law_tangents(self, at.q, at.v);
}
