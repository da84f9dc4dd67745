// Mass, stiffness and damping of a finite-element model: linear groups once, nonlinear ones at every state asked for.
//
// Tangents of many cells are added by several threads. Cells are grouped in pieces, and pieces that share an equation
// get different colours. Colours are processed in order, the pieces of one colour in parallel: no two of them add to
// the same entry, so the sums do not depend on the order, nor on the number of threads.

#include "fe/data.h"

#include <math.h>
#include <stdint.h>
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
    pcs_pattern *unused; // unused: finishing frees the builder's memory
    (void)pcs_pattern_finish(builder, &unused);
    return status;
}

static void assembly_add_batch(pcs_system *self, int b)
{
    const fe_data *fe = self->data;
    const pcs_element_ops *ops = pcs_fe_ops(fe, b);
    const pcs_batch *batch = &fe->batches[b];
    bool has_own_damping = self->C != NULL && ops->sees_velocity && !ops->is_nonlinear; // a constant one
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], K[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    double C[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = batch->equation + (size_t)c * (size_t)ops->ndof;
        ops->matrices(batch, c, NULL, M, K, has_own_damping ? C : NULL);
        pcs_matrix_add_cell(self->M, ops->ndof, equation, 1.0, M);
        pcs_matrix_add_cell(self->K, ops->ndof, equation, 1.0, K);
        if (has_own_damping) pcs_matrix_add_cell(self->C, ops->ndof, equation, 1.0, C);
        if (has_own_damping || self->C == NULL) continue;
        pcs_matrix_add_cell(self->C, ops->ndof, equation, batch->damping_mass, M);
        pcs_matrix_add_cell(self->C, ops->ndof, equation, batch->damping_stiffness, K);
    }
}

// Returns true if, in all columns, the entries of a cell in the rows of a node are consecutive.
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

// Fills `table` with the position of every entry of a cell matrix among the matrix values, -1 if a dof is fixed.
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
    int n = ops->ndof, nnode = ops->nnode, rows = n / nnode, *first, ntable = 0;
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

// Copies the constant contribution of linear groups to K or C. Leaves *base NULL if it is zero.
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

// Marks the entries of C that cells write to: those of the rotations of a node, or all of a cell.
static void assembly_mark_damping(const pcs_system *self, int b, unsigned char *mark)
{
    const fe_data *fe = self->data;
    const pcs_batch *batch = &fe->batches[b];
    const pcs_element_ops *ops = pcs_fe_ops(fe, b);
    int n = ops->ndof, rows = n / ops->nnode;
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = batch->equation + (size_t)c * (size_t)n;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if (equation[i] < 0 || equation[j] < 0) continue;
                bool are_spins = i / rows == j / rows && i % rows >= rows - 3 && j % rows >= rows - 3;
                if (batch->is_gyroscopic && !are_spins) continue;
                mark[pcs_pattern_place(self->C->pattern, equation[i], equation[j])] = 1;
            }
    }
}

static void assembly_mark_values(const pcs_matrix *A, unsigned char *mark)
{
    for (int p = 0; p < A->pattern->nnz; p++) mark[p] = A->value[p] != 0.0;
}

// Notes which entries of M and C of a nonlinear model may differ from zero.
static pcs_status assembly_note_entries(pcs_system *self, const fe_data *fe)
{
    unsigned char *mark = pcs_scratch(NULL, (size_t)self->K->pattern->nnz, sizeof *mark);
    if (mark == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: %d equations", self->nv);
    assembly_mark_values(self->M, mark);
    pcs_status status = pcs_matrix_note_entries(self->ctx, self->M, mark);
    if (status == PCS_OK && self->C != NULL && !fe->has_laws) {
        assembly_mark_values(self->C, mark);
        for (int b = 0; b < fe->nbatch; b++)
            if (pcs_fe_ops(fe, b)->is_nonlinear) assembly_mark_damping(self, b, mark);
        status = pcs_matrix_note_entries(self->ctx, self->C, mark);
    }
    pcs_scratch_free(mark);
    return status;
}

// Marks C as skew if gyroscopic moments make it unsymmetric. Drops it if constant damping turns out to be zero.
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

// Sets is_damped, and is_nonlinear for groups with variable tangents and for follower forces, also in the plane.
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

// Adds a cell matrix of n x n, `rows` to a node, column by column; with constant arguments the loops unroll.
static inline void assembly_add_cell(int n, int rows, const int *first, const double *restrict cell,
                                     double *restrict value)
{
    const int nnode = n / rows;
    for (int j = 0; j < n; j++)
        for (int node = 0; node < nnode; node++) {
            double *to = value + first[j * nnode + node];
            for (int i = 0; i < rows; i++) to[i] += cell[(node * rows + i) * n + j];
        }
}

// Adds only the blocks that couple the last three dofs of a node.
static inline void assembly_add_cell_spins(int n, int rows, const int *first, const double *restrict cell,
                                           double *restrict value)
{
    const int nnode = n / rows;
    for (int node = 0; node < nnode; node++)
        for (int j = (node + 1) * rows - 3; j < (node + 1) * rows; j++) {
            double *to = value + first[j * nnode + node];
            for (int i = rows - 3; i < rows; i++) to[i] += cell[(node * rows + i) * n + j];
        }
}

static void assembly_add_cell_sized(int n, int nnode, const int *first, const double *cell, double *value)
{
    if (n == 12 && nnode == 2) assembly_add_cell(12, 6, first, cell, value);
    else if (n == 6 && nnode == 2) assembly_add_cell(6, 3, first, cell, value);
    else assembly_add_cell(n, n / nnode, first, cell, value);
}

static void assembly_scatter(int count, const int *place, const double *cell, double *value)
{
    for (int i = 0; i < count; i++)
        if (place[i] >= 0) value[place[i]] += cell[i];
}

// Adds the tangents of `count` cells from `first` on to K and C.
static void assembly_add_tangents(pcs_system *self, int b, int first, int count, const double *q, const double *v)
{
    const fe_data *fe = self->data;
    const pcs_element_ops *ops = pcs_fe_ops(fe, b);
    const fe_scatter *scatter = &fe->scatter[b];
    const pcs_batch *batch = &fe->batches[b];
    const pcs_cell_state at = { .q = q, .v = v, .elapsed = ((const fe_work *)self->work)->elapsed };
    const int n = ops->ndof, nnode = scatter->nnode;
    double K[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], C[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    for (int c = first; c < first + count; c++) {
        const int *place = scatter->first + (size_t)c * (size_t)(n * nnode);
        ops->matrices(batch, c, &at, NULL, K, self->C == NULL ? NULL : C);
        if (place[0] < 0) {
            place = scatter->table + (size_t)(-1 - place[0]) * (size_t)(n * n);
            assembly_scatter(n * n, place, K, self->K->value);
            if (self->C != NULL) assembly_scatter(n * n, place, C, self->C->value);
            continue;
        }
        assembly_add_cell_sized(n, nnode, place, K, self->K->value);
        if (self->C == NULL) continue;
        if (batch->is_gyroscopic) assembly_add_cell_spins(n, n / nnode, place, C, self->C->value);
        else assembly_add_cell_sized(n, nnode, place, C, self->C->value);
    }
}

enum { PIECE = 512, FEWEST_CELLS = 4096, MOST_COLOURS = 64 };

// Returns the lowest colour that no equation of the piece has, and gives it to all of them; -1 if none is left.
static int pieces_colour(const pcs_batch *batch, int ndof, int piece, uint64_t *met)
{
    size_t first = (size_t)piece * PIECE * (size_t)ndof, end = (size_t)batch->ncell * (size_t)ndof;
    if (end > first + (size_t)PIECE * (size_t)ndof) end = first + (size_t)PIECE * (size_t)ndof;
    uint64_t taken = 0;
    int colour = 0;
    for (size_t i = first; i < end; i++)
        if (batch->equation[i] >= 0) taken |= met[batch->equation[i]];
    while (colour < MOST_COLOURS && (taken >> colour & 1) != 0) colour++;
    if (colour == MOST_COLOURS) return -1;
    for (size_t i = first; i < end; i++)
        if (batch->equation[i] >= 0) met[batch->equation[i]] |= (uint64_t)1 << colour;
    return colour;
}

static pcs_status pieces_sort(pcs_system *self, fe_data *fe, int b, int npiece, const int *colour, int ncolour)
{
    fe_plan *plan = &fe->plans[b];
    PCS_TAKE(self->ctx, plan->piece, npiece, "the assembly");
    PCS_TAKE(self->ctx, plan->first, (size_t)ncolour + 1, "the assembly");
    plan->ncolour = ncolour;
    int place = 0;
    for (int c = 0; c < ncolour; c++) {
        for (int p = 0; p < npiece; p++)
            if (colour[p] == c) plan->piece[place++] = p;
        plan->first[c + 1] = place;
    }
    return PCS_OK;
}

static pcs_status pieces_plan_batch(pcs_system *self, fe_data *fe, int b, uint64_t *met, int *colour)
{
    const pcs_batch *batch = &fe->batches[b];
    int npiece = (batch->ncell + PIECE - 1) / PIECE, ncolour = 0;
    for (int i = 0; i < self->nv; i++) met[i] = 0;
    for (int p = 0; p < npiece; p++) {
        colour[p] = pieces_colour(batch, pcs_fe_ops(fe, b)->ndof, p, met);
        if (colour[p] < 0) return PCS_OK; // too much of a tangle: one after the other
        if (colour[p] >= ncolour) ncolour = colour[p] + 1;
    }
    return pieces_sort(self, fe, b, npiece, colour, ncolour);
}

pcs_status pcs_fe_plan_pieces(pcs_system *self, fe_data *fe)
{
    bool is_large = false;
    PCS_TAKE(self->ctx, fe->plans, fe->nbatch, "the assembly");
    uint64_t *met = pcs_scratch(NULL, (size_t)self->nv, sizeof *met);
    int *colour = pcs_scratch(NULL, (size_t)fe->model.mesh->ncell / PIECE + 1, sizeof *colour);
    pcs_status status = met == NULL || colour == NULL
                            ? pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: %d equations", self->nv)
                            : PCS_OK;
    for (int b = 0; b < fe->nbatch && status == PCS_OK; b++) {
        if (!pcs_fe_ops(fe, b)->is_nonlinear || fe->batches[b].ncell < FEWEST_CELLS) continue;
        is_large = true;
        status = pieces_plan_batch(self, fe, b, met, colour);
    }
    pcs_scratch_free(met);
    pcs_scratch_free(colour);
    if (status != PCS_OK || !is_large || self->layout != NULL) return status; // processes have the processors
    int wanted = fe->model.nthread > 0 ? fe->model.nthread : pcs_pool_share(self->ctx);
    return pcs_pool_create(self->ctx, wanted, &((fe_work *)self->work)->pool);
}

typedef struct piece_job {
    pcs_system *self;
    int b;
    const int *pieces;
    const double *q, *v;
} piece_job;

static void pieces_do(void *data, int index)
{
    const piece_job *job = data;
    int first = job->pieces[index] * PIECE, ncell = ((const fe_data *)job->self->data)->batches[job->b].ncell;
    int count = ncell - first < PIECE ? ncell - first : PIECE;
    assembly_add_tangents(job->self, job->b, first, count, job->q, job->v);
}

// Adds tangents by several threads if the batch is large. Returns false if it is not.
static bool pieces_add(pcs_system *self, int b, const double *q, const double *v)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    const fe_plan *plan = fe->plans == NULL ? NULL : &fe->plans[b];
    if (plan == NULL || plan->ncolour == 0) return false;
    for (int c = 0; c < plan->ncolour; c++) {
        piece_job job = { self, b, plan->piece + plan->first[c], q, v };
        pcs_pool_run(work->pool, plan->first[c + 1] - plan->first[c], pieces_do, &job);
    }
    return true;
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
        if (!pcs_fe_ops(fe, b)->is_nonlinear || pieces_add(self, b, at.q, at.v)) continue;
        assembly_add_tangents(self, b, 0, fe->batches[b].ncell, at.q, at.v);
    }
    if (fe->nturning > 0) pcs_fe_turning_tangent(self, at);
    if (fe->has_laws) pcs_forces_add_tangents(self, at.q, at.v);
}
