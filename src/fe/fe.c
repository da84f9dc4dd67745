// Builds a finite-element system: batches of cells, equations, matrices, contact rows, picture.

#include "fe/fe.h"

#include "core/double2.h"
#include "core/loop.h"
#include "core/rotation.h"
#include "elements/section.h"
#include "fe/data.h"
#include "system/slices.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Mass, stiffness and damping of a finite-element model: linear groups once, nonlinear ones at every state asked for.
//
// Tangents of many cells are added by several threads, in pieces so large that only neighbours share equations: first
// the even pieces in parallel, then the odd ones. No two of them add to the same entry, so the sums do not depend on
// the number of threads.

// Finds the contacts with force laws.
static void fe_find_laws(fe_data *fe)
{
    for (int k = 0; k < fe->model.ncontact; k++) {
        const pcs_law *law = &fe->model.contacts[k].law;
        pcs_law_bound bound;
        if (!pcs_law_is_force(law)) continue;
        law->ops->bound(law->params, 1.0, 1.0, &bound);
        fe->is_damped = fe->is_damped || bound.by_rate > 0.0;
        fe->has_laws = fe->is_nonlinear = true;
    }
}

static pcs_status assembly_pattern(pcs_system *self, pcs_pattern **pattern, const char **culprit)
{
    const fe_data *fe = self->data;
    pcs_pattern_builder *builder;
    PCS_TRY(pcs_pattern_begin(self->ctx, self->nv, &builder));
    pcs_status status = PCS_OK;
    for (int b = 0; b < fe->nbatch && status == PCS_OK; b++) {
        const pcs_batch *batch = &fe->batches[b];
        status = pcs_pattern_add_cells(builder, batch->ncell, fe->batches[b].ops->ndof, batch->equation);
    }
    if (status == PCS_OK) status = pcs_fe_add_law_pattern(self, fe, builder, culprit);
    if (status == PCS_OK) return pcs_pattern_finish(builder, pattern);
    pcs_pattern *unused; // the pattern is not used: finishing frees the builder
    (void)pcs_pattern_finish(builder, &unused);
    return status;
}

static void assembly_add_batch(pcs_system *self, int b)
{
    const fe_data *fe = self->data;
    const pcs_element_ops *ops = fe->batches[b].ops;
    const pcs_batch *batch = &fe->batches[b];
    bool has_own_damping = self->C != NULL && ops->sees_velocity && !ops->is_nonlinear; // a constant damping matrix
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
    const pcs_element_ops *ops = fe->batches[b].ops;
    const pcs_pattern *pattern = self->K->pattern;
    int n = ops->ndof, nnode = ops->nnode, rows = n / nnode, *first, *end, ntable = 0, last = 0;
    PCS_TAKE(self->ctx, first, (size_t)batch->ncell * (size_t)(n * nnode), "the assembly");
    PCS_TAKE(self->ctx, end, batch->ncell, "the assembly");
    fe->scatter[b] = (fe_scatter){ .nnode = nnode, .first = first, .end = end };
    for (int c = 0; c < batch->ncell; c++, first += n * nnode) {
        const int *equation = batch->equation + (size_t)c * (size_t)n;
        for (int i = 0; i < n; i++) last = equation[i] >= last ? equation[i] + 1 : last;
        end[c] = pattern->start[last];
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

// Marks the entries of C that cells write to: those of the rotations of a node, or all of a cell.
static void assembly_mark_damping(const pcs_system *self, int b, unsigned char *mark)
{
    const fe_data *fe = self->data;
    const pcs_batch *batch = &fe->batches[b];
    const pcs_element_ops *ops = fe->batches[b].ops;
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
    pcs_status status = pcs_matrix_note_entries(self->ctx, self->M, true, mark);
    if (status == PCS_OK && self->C != NULL && !fe->has_laws) {
        assembly_mark_values(self->C, mark);
        for (int b = 0; b < fe->nbatch; b++)
            if (fe->batches[b].ops->is_nonlinear) assembly_mark_damping(self, b, mark);
        status = pcs_matrix_note_entries(self->ctx, self->C, false, mark);
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
        const pcs_element_ops *ops = fe->batches[g].ops;
        bool is_damped = fe->batches[g].damping_mass != 0.0 || fe->batches[g].damping_stiffness != 0.0;
        fe->is_damped = fe->is_damped || is_damped || ops->sees_velocity;
        fe->is_nonlinear = fe->is_nonlinear || ops->is_nonlinear;
    }
}

// Assembles M, K and C.
static pcs_status fe_assemble(pcs_system *self, fe_data *fe, const char **culprit)
{
    pcs_pattern *pattern;
    assembly_look_at_parts(fe);
    PCS_TRY(assembly_pattern(self, &pattern, culprit));
    pattern->layout = self->layout;
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->M));
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->K));
    if (fe->is_damped) PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->C));
    for (int b = 0; b < fe->nbatch; b++)
        if (!fe->batches[b].ops->is_nonlinear) assembly_add_batch(self, b);
    if (self->C != NULL && !fe->is_nonlinear) assembly_look_at_damping(self);
    if (fe->is_nonlinear) PCS_TAKE(self->ctx, fe->scatter, fe->nbatch, "the assembly");
    if (fe->is_nonlinear) PCS_TRY(assembly_keep(self, self->K, &fe->base_K));
    if (fe->is_nonlinear && self->C != NULL) PCS_TRY(assembly_keep(self, self->C, &fe->base_C));
    for (int b = 0; b < fe->nbatch; b++) {
        if (!fe->batches[b].ops->is_nonlinear) continue;
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

// Adds a cell matrix of an even n, two rows and columns at once.
static inline __attribute__((always_inline)) void assembly_add_pairs(int n, int rows, const int *first,
                                                                     const double *cell, double *value)
{
    for (int j = 0; j < n; j += 2, cell += 2)
        for (int at = 0; at < n; at += rows, first++) {
            double *left = value + first[0], *right = value + first[n / rows];
            for (int i = 0; i + 1 < rows; i += 2) {
                const double *from = cell + (at + i) * n;
                pcs_double2 above = pcs_double2_load(from), below = pcs_double2_load(from + n);
                pcs_double2_store(left + i, pcs_double2_load(left + i) + pcs_double2_firsts(above, below));
                pcs_double2_store(right + i, pcs_double2_load(right + i) + pcs_double2_seconds(above, below));
            }
            if (rows % 2 != 0) left[rows - 1] += cell[(at + rows - 1) * n];
            if (rows % 2 != 0) right[rows - 1] += cell[(at + rows - 1) * n + 1];
            if (at + rows == n) first += n / rows;
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

PCS_WIDE static void assembly_add_cell_sized(int n, int nnode, const int *first, const double *cell, double *value)
{
    if (n == 12 && nnode == 2) assembly_add_pairs(12, 6, first, cell, value);
    else if (n == 6 && nnode == 2) assembly_add_pairs(6, 3, first, cell, value);
    else if (n == 2 && nnode == 2) assembly_add_cell(2, 1, first, cell, value);
    else assembly_add_cell(n, n / nnode, first, cell, value);
}

static void assembly_scatter(int count, const int *place, const double *cell, double *value)
{
    for (int i = 0; i < count; i++)
        if (place[i] >= 0) value[place[i]] += cell[i];
}

// Sets the values of A from `from` to `to` to those of `base`, the sum of the linear groups; if that is NULL, to zero.
static void assembly_reset(pcs_matrix *A, const double *base, int from, int to)
{
    size_t bytes = (size_t)(to - from) * sizeof *base;
    if (base != NULL) memcpy(A->value + from, base + from, bytes);
    else memset(A->value + from, 0, bytes);
}

enum { STRETCH = 192 }; // values that stay in the cache until cells are added to them

// Resets the values of K before `to`, and a stretch beyond, to which no cell has added yet.
static inline void assembly_reset_to(pcs_system *self, int to)
{
    fe_work *work = self->work;
    int nnz = self->K->pattern->nnz;
    if (to <= work->nreset) return;
    to = to < nnz - STRETCH ? to + STRETCH : nnz;
    assembly_reset(self->K, ((const fe_data *)self->data)->base_K, work->nreset, to);
    work->nreset = to;
}

// Adds the tangents of `count` cells from `first` on to K and C.
static void assembly_add_tangents(pcs_system *self, int b, int first, int count, const pcs_cell_state *at)
{
    const fe_data *fe = self->data;
    const pcs_element_ops *ops = fe->batches[b].ops;
    const fe_scatter *scatter = &fe->scatter[b];
    const pcs_batch *batch = &fe->batches[b];
    const int n = ops->ndof, nnode = scatter->nnode;
    double K[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], C[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    for (int c = first; c < first + count; c++) {
        const int *place = scatter->first + (size_t)c * (size_t)(n * nnode);
        ops->matrices(batch, c, at, NULL, K, self->C == NULL ? NULL : C);
        assembly_reset_to(self, scatter->end[c]);
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

enum { PIECE = 512, FEWEST_PIECES = 8 };

// Returns the number of cells of a piece such that no equation belongs to more than two pieces in a row. `first`: [nv].
static int pieces_size(const pcs_batch *batch, int ndof, int nv, int *first)
{
    int size = PIECE;
    for (int i = 0; i < nv; i++) first[i] = batch->ncell;
    for (int c = 0; c < batch->ncell; c++)
        for (int k = 0; k < ndof; k++) {
            int equation = batch->equation[(size_t)c * (size_t)ndof + (size_t)k];
            if (equation < 0) continue;
            if (c < first[equation]) first[equation] = c;
            if (c - first[equation] > size) size = c - first[equation];
        }
    return size;
}

// Plans how several threads assemble large batches; processes have the processors to themselves.
static pcs_status fe_plan_pieces(pcs_system *self, fe_data *fe)
{
    bool is_large = false;
    PCS_TAKE(self->ctx, fe->piece, fe->nbatch, "the assembly");
    if (self->layout != NULL) return PCS_OK;
    int *first = pcs_scratch(NULL, (size_t)self->nv, sizeof *first);
    if (first == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: %d equations", self->nv);
    for (int b = 0; b < fe->nbatch; b++) {
        if (!fe->batches[b].ops->is_nonlinear || fe->batches[b].ncell < FEWEST_PIECES * PIECE) continue;
        int size = pieces_size(&fe->batches[b], fe->batches[b].ops->ndof, self->nv, first);
        if (fe->batches[b].ncell / FEWEST_PIECES >= size) fe->piece[b] = size;
        is_large = is_large || fe->piece[b] > 0;
    }
    pcs_scratch_free(first);
    if (!is_large) return PCS_OK;
    int wanted = fe->model.nthread > 0 ? fe->model.nthread : pcs_pool_share(self->ctx);
    return pcs_pool_create(self->ctx, wanted, &((fe_work *)self->work)->pool);
}

typedef struct piece_job {
    pcs_system *self;
    int b, first; // first: 0 for even pieces, 1 for odd ones
    const pcs_cell_state *at;
} piece_job;

static void pieces_do(void *data, int index)
{
    const piece_job *job = data;
    const fe_data *fe = job->self->data;
    int size = fe->piece[job->b], first = (job->first + 2 * index) * size, left = fe->batches[job->b].ncell - first;
    assembly_add_tangents(job->self, job->b, first, left < size ? left : size, job->at);
}

// Adds the tangents of a batch, by several threads if it is large.
static void pieces_add(pcs_system *self, int b, const pcs_cell_state *at)
{
    const fe_data *fe = self->data;
    int ncell = fe->batches[b].ncell, size = fe->piece[b];
    if (size == 0) {
        assembly_add_tangents(self, b, 0, ncell, at);
        return;
    }
    assembly_reset_to(self, self->K->pattern->nnz);
    for (int first = 0; first < 2; first++) {
        piece_job job = { self, b, first, at };
        pcs_pool_run(((const fe_work *)self->work)->pool, ((ncell + size - 1) / size + 1 - first) / 2, pieces_do, &job);
    }
}

// Reassembles K and C of nonlinear models.
static void fe_update_tangents(pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    fe_work *work = self->work;
    const pcs_cell_state state = pcs_fe_state(self, at);
    work->nreset = 0;
    if (self->C != NULL && fe->base_C == NULL) pcs_matrix_zero(self->C);
    else if (self->C != NULL) assembly_reset(self->C, fe->base_C, 0, self->C->pattern->nnz);
    for (int b = 0; b < fe->nbatch; b++)
        if (fe->batches[b].ops->is_nonlinear) pieces_add(self, b, &state);
    assembly_reset_to(self, self->K->pattern->nnz);
    if (fe->nfollower > 0) pcs_fe_follower_tangent(self, at);
    if (fe->has_laws) pcs_forces_add_tangents(self, at.q, at.v);
}

static void fe_name_bent(const pcs_system *self, const double *q, size_t size, char *text);

// Implements the operations of a finite-element system that schemes and observers call.
//
//   f(t, q, v) = s (f_gravity + f_loads(t)) - K q - C v,   g(q) = g_0 + G q,   s the load factor

// Internal variables of materials: the state that a step leaves in the cells of groups that have some.
//
// They hold the values of the last commit and are part of the system's memory, so that states which are saved, restored
// and written contain them. Between two commits every kernel integrates from there to its state in one increment, so
// that a step may be tried, rejected and cut without a trace. Friction of contacts with force laws does the same
// (rows/table.c). Each process has those of its own cells; in a checkpoint they are in the order of one process.

static int internal_count(const fe_data *fe, int b)
{
    return fe->batches[b].ncell * fe->batches[b].ops->ninternal;
}

// Returns the index of a group's first variable among those of all processes; for ngroup, their total number.
static int internal_first(const fe_data *fe, int group)
{
    int first = 0;
    for (int g = 0; g < group; g++) first += pcs_set_size(fe->model.groups[g].cells) * fe->batches[g].ops->ninternal;
    return first;
}

// Assigns serial numbers, as in one process, to the variables: own cells first, then copies of others.
static pcs_status internal_number(pcs_system *self, const fe_data *fe, pcs_memory *piece)
{
    int *serial, next = 0;
    PCS_TAKE(self->ctx, serial, fe->ninternal, "internal variables");
    for (int b = 0; b < fe->nbatch; b++) {
        const pcs_batch *batch = &fe->batches[b];
        int n = fe->batches[b].ops->ninternal, first = n > 0 ? internal_first(fe, b % fe->model.ngroup) : 0;
        for (int i = 0; i < batch->ncell; i++)
            for (int k = 0; k < n; k++) serial[next++] = first + fe->share->index_of_cell[batch->cells[i]] * n + k;
        if (b < fe->model.ngroup) piece->nown = next;
    }
    piece->serial = serial;
    piece->nall = internal_first(fe, fe->model.ngroup);
    return PCS_OK;
}

// Allocates the internal variables of materials.
static pcs_status fe_make_internal(pcs_system *self, fe_data *fe)
{
    fe_work *work = self->work;
    for (int b = 0; b < fe->nbatch; b++) {
        fe->ninternal += internal_count(fe, b);
        self->has_materials = self->has_materials || fe->batches[b].ops->ninternal > 0;
        if (fe->batches[b].ops->ages) self->ageing = pcs_culprit(self->ctx, "elements", fe->batches[b].name);
    }
    for (int g = 0; g < fe->model.ngroup && !pcs_mesh_is_whole(fe->model.mesh); g++)
        if (fe->batches[g].ops->ninternal > 0 && fe->model.groups[g].cells->place == NULL)
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

static void fe_commit(pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    fe_work *work = self->work;
    const pcs_cell_state state = pcs_fe_state(self, at);
    for (int b = 0; b < fe->nbatch; b++)
        if (fe->batches[b].ops->ninternal > 0) fe->batches[b].ops->commit(&fe->batches[b], &state);
    if (work->internal != NULL) work->internal[fe->ninternal] = at.t;
    pcs_forces_commit(self, at);
}

// Forces and energies of long bars slice by slice (system/slices.h).
//
// Sums of a slice are over cells whose first equation lies inside of it, not at its ends; the cells of the two
// equations where slices meet are added afterwards.

enum { FEWEST_EQUATIONS = 200000 }; // below this waking a thread costs more than it saves

// Starts the threads that share the slices of long bars.
static pcs_status fe_plan_threads(pcs_system *self, fe_data *fe)
{
    fe->takes_ranges = self->layout == NULL;
    for (int b = 0; b < fe->nbatch; b++) fe->takes_ranges = fe->takes_ranges && fe->batches[b].takes_ranges;
    if (!fe->takes_ranges || self->nv < FEWEST_EQUATIONS) return PCS_OK;
    int wanted = fe->model.nthread > 0 ? fe->model.nthread : pcs_pool_share(self->ctx);
    fe_work *work = self->work;
    if (work->pool == NULL) PCS_TRY(pcs_pool_create(self->ctx, wanted, &work->pool));
    pcs_around(self->ctx)->pool = work->pool;
    return PCS_OK;
}

// Returns gravity times q over low <= i < high, J, in eight independent partial sums, for speed.
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

// Computes energies and momenta from sums. Each process has the potential at rest of its own cells only.
static void fe_report(const pcs_system *self, const pcs_cell_sums *sum, double weight_work, pcs_measure *out)
{
    const fe_data *fe = self->data;
    double potential = fe->rest_potential - weight_work;
    *out = (pcs_measure){ .kinetic = sum->kinetic, .strain = sum->strain, .potential = potential };
    for (int k = 0; k < 3; k++) {
        out->momentum[k] = sum->momentum[k];
        out->free_momentum[k] = sum->momentum[k] - sum->fixed_momentum[k];
    }
    if (self->layout != NULL) pcs_system_sum(self, sizeof *out / sizeof(double), (double *)out);
}

enum { MOST_PUSHES = 64 }; // each slice visits all of them

// Computes f = f_gravity + f_loads(t) on low <= i < high, without loads that rotate.
static void fe_put_loads(const pcs_system *self, double t, int low, int high, double *f)
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
    fe_put_loads(self, t, low, high, f);
    const pcs_cell_state state = { .q = at->q, .v = at->v, .low = low, .high = high };
    for (int b = 0; b < fe->nbatch; b++) fe->batches[b].ops->force(&fe->batches[b], &state, f);
}

_Static_assert(sizeof(pcs_cell_sums) <= PCS_SLICE_NUMBERS * sizeof(double), "room for the sums of a slice");

// Adds the energies of cells whose first equation lies within low <= e < high.
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
    pcs_cell_add_sums((pcs_cell_sums *)out->numbers, &sum);
    out->weight_work += fe_weight_work(self, out->high, high, ends->q);
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
        pcs_cell_add_sums(&sum, (const pcs_cell_sums *)sums[s].numbers);
        weight_work += sums[s].weight_work;
    }
    fe_report(self, &sum, weight_work, out);
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

static const pcs_slice_ops slices_of_bars = { .force = slices_force, .sum = slices_sum, .measure = slices_measure };

// Computes f = s (f_gravity + f_loads(t)).
static void fe_apply_loads(const pcs_system *self, pcs_instant at, double *f)
{
    const fe_data *fe = self->data;
    fe_put_loads(self, at.t, 0, self->nv, f);
    if (fe->nfollower > 0) (void)pcs_fe_follower_add(self, at.t, at.q, NULL, f, NULL);
    if (at.load_factor != 1.0)
        for (int i = 0; i < self->nv; i++) f[i] *= at.load_factor;
}

// Computes the sum of loads, element forces and forces of laws.
static void fe_force(const pcs_system *self, pcs_instant at, double *f)
{
    const fe_data *fe = self->data;
    fe_apply_loads(self, at, f);
    const pcs_cell_state state = pcs_fe_state(self, at);
    for (int b = 0; b < fe->nbatch; b++) fe->batches[b].ops->force(&fe->batches[b], &state, f);
    if (fe->has_laws) pcs_forces_add(self, at, f);
}

// Returns the work of loads that do not rotate at time t over a change of x, J, or their power for velocities x, W; x0
// is where it starts, NULL for 0. Adds their resultant, N, to `sum` unless it is NULL.
static double fe_push_along(const pcs_system *self, double t, const double *x0, const double *x, double *sum)
{
    const fe_data *fe = self->data;
    double work = 0.0;
    for (int l = 0; l < fe->model.nload; l++) {
        double factor = pcs_fe_load_size(self, l, t);
        for (int i = fe->first_push[l]; i < fe->first_push[l + 1]; i++) {
            const fe_push *push = &fe->pushes[i];
            double force = push->value * factor, from = x0 == NULL ? 0.0 : x0[push->equation];
            work += force * (x[push->equation] - from);
            for (int k = 0; k < 3 && sum != NULL; k++) sum[k] += force * push->direction[k];
        }
    }
    return work;
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
    double work = fe_push_along(self, t, q0, q1, NULL) + pcs_fe_follower_work(self, t, q0, q1);
    if (fe->has_pushes) pcs_system_sum(self, 1, &work);
    return work;
}

static double fe_load_power(const pcs_system *self, pcs_instant at)
{
    const fe_data *fe = self->data;
    double power =
        fe_push_along(self, at.t, NULL, at.v, NULL) + pcs_fe_follower_add(self, at.t, at.q, at.v, NULL, NULL);
    if (fe->has_pushes) pcs_system_sum(self, 1, &power);
    return power;
}

static void fe_describe(const pcs_system *self, int equation, const double span[2], const double *q, size_t size,
                        char *text)
{
    const fe_data *fe = self->data;
    if (equation < 0) {
        if (!pcs_fe_name_load(self, span, size, text)) fe_name_bent(self, q, size, text);
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

// Measures what the sums over cells give, in one round. Losses alone are asked without velocities, which elements
// without internal variables would read.
static void fe_measure_cells(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out)
{
    const fe_data *fe = self->data;
    const pcs_cell_state state = pcs_fe_state(self, at);
    unsigned cells = (what & PCS_ENERGY ? PCS_CELL_ENERGY : 0U) | (what & PCS_RESULTANT ? PCS_CELL_RESULTANT : 0U) |
                     (what & PCS_MATERIAL_LOSS ? PCS_CELL_LOSS : 0U);
    pcs_cell_sums sum = { 0 };
    double loss;
    if (what & PCS_RESULTANT) {
        memcpy(sum.resultant, fe->free_weight, sizeof sum.resultant);
        (void)fe_push_along(self, at.t, NULL, at.q, sum.resultant);
        (void)pcs_fe_follower_add(self, at.t, at.q, NULL, NULL, sum.resultant);
    }
    for (int g = 0; g < fe->model.ngroup; g++)
        if (cells != PCS_CELL_LOSS || fe->batches[g].ops->ninternal > 0)
            fe->batches[g].ops->measure(&fe->batches[g], &state, cells, &sum);
    if ((what & PCS_ENERGY) && fe->has_laws) sum.strain += pcs_forces_energy(self, at, &loss);
    if (what & PCS_ENERGY) fe_report(self, &sum, fe_weight_work(self, 0, pcs_system_nown(self), at.q), out);
    if ((what & PCS_RESULTANT) && fe->has_laws) pcs_forces_add_resultant(self, at, sum.resultant);
    if (what & PCS_RESULTANT) pcs_system_sum(self, 3, sum.resultant);
    if (what & PCS_MATERIAL_LOSS) pcs_system_sum(self, 1, &sum.loss);
    memcpy(out->resultant, sum.resultant, sizeof out->resultant);
    out->material_loss = sum.loss;
}

static void fe_measure(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out)
{
    *out = (pcs_measure){ 0 };
    if (what & (PCS_ENERGY | PCS_RESULTANT | PCS_MATERIAL_LOSS)) fe_measure_cells(self, at, what, out);
    if (what & PCS_DAMPING_POWER) out->damping_power = fe_damping_power(self, at);
    if (what & PCS_LOAD_POWER) out->load_power = fe_load_power(self, at);
}

static void fe_update(pcs_system *self, pcs_instant at, pcs_update what, const double *x)
{
    if (what == PCS_TANGENTS) fe_update_tangents(self, at);
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

// Finds the nodes with finite rotations in space, and the relative rotation of the ends of cells.

// Returns the first of the equations of a finite rotation in space, -1 if the node has none or supports fix some: with
// two components fixed the third one is an angle, which adds up.
static int rotations_first(const fe_data *fe, int node)
{
    int count = 0, first = -1;
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (!d->is_rotation || !d->is_finite || d->equation < 0) continue;
        if (count++ == 0) first = d->equation;
    }
    return count == 3 ? first : -1;
}

// Lists the rotations in space.
static pcs_status fe_find_rotations(pcs_system *self, const fe_data *fe)
{
    int nnode = fe->model.mesh->nnode, count = 0, *equation;
    bool *begins;
    for (int node = 0; node < nnode; node++) count += rotations_first(fe, node) >= 0;
    if (count == 0) return PCS_OK;
    PCS_TAKE(self->ctx, equation, count, "rotations");
    PCS_TAKE(self->ctx, begins, self->nv, "rotations");
    for (int node = 0; node < nnode; node++)
        if (rotations_first(fe, node) >= 0) begins[rotations_first(fe, node)] = true;
    for (int i = 0; i < self->nv; i++)
        if (begins[i]) equation[self->rotations.count++] = i;
    self->rotations.equation = equation;
    self->rotations.begins = begins;
    return PCS_OK;
}

// Returns the angle, rad, between the nodes of a cell; 0 unless both have finite rotations in space or are fixed.
static double rotations_between(const fe_data *fe, const double *q, const int node[2])
{
    double p[2][3], rotation[3];
    for (int i = 0; i < 2; i++) {
        int count = 0;
        for (int d = fe->map.first[node[i]]; d < fe->map.first[node[i] + 1]; d++)
            count += fe->map.dof[d].is_rotation && fe->map.dof[d].is_finite;
        if (count < 3) return 0.0;
        pcs_dofmap_vector(&fe->map, true, node[i], q, p[i]);
    }
    for (int k = 0; k < 3; k++) p[0][k] = -p[0][k];
    pcs_rotation_compose(p[0], p[1], rotation);
    return pcs_norm3(rotation);
}

// Reports the cell with the largest relative rotation above 2.8 rad: at half a turn bending moments jump.
static void fe_name_bent(const pcs_system *self, const double *q, size_t size, char *text)
{
    static const double near_half = 2.8; // rad
    const fe_data *fe = self->data;
    double most = near_half;
    text[0] = '\0';
    if (self->rotations.count == 0) return;
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_batch *batch = &fe->batches[g];
        if (batch->ops->nnode == 1 || !batch->ops->is_nonlinear) continue;
        for (int c = 0; c < batch->ncell; c++) {
            const int *node = batch->nodes[batch->cells[c]];
            double rotation = rotations_between(fe, q, node);
            if (rotation <= most) continue;
            most = rotation;
            snprintf(text, size,
                     "; the ends of the cell from node %d to node %d of '%s' have rotated by %.3g rad against each "
                     "other, allowed is less than pi: use more cells",
                     pcs_mesh_node_number(fe->model.mesh, node[0]), pcs_mesh_node_number(fe->model.mesh, node[1]),
                     fe->model.groups[g].name, rotation);
        }
    }
}

// Finds the sizes of the coordinates of a mesh.

static double scale_distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

// Finds the longest cell at every node, m.
static void scale_find_cells(const pcs_mesh *mesh, double *longest)
{
    for (int i = 0; i < mesh->nnode; i++) longest[i] = 0.0;
    for (int c = 0; c < mesh->ncell; c++)
        for (int end = 0; end < 2; end++) {
            double *here = &longest[mesh->cell[c][end]];
            *here = fmax(*here, scale_distance(mesh->x[mesh->cell[c][0]], mesh->x[mesh->cell[c][1]]));
        }
}

// Returns the size of the model, m; for a single point its distance from the origin, as joints may fix it from there.
static double scale_model(const pcs_system *system, const pcs_mesh *mesh)
{
    const double origin[3] = { 0 };
    double size = system->length;
    if (!(system->length > 0.0))
        for (int i = 0; i < mesh->nnode; i++) size = fmax(size, scale_distance(mesh->x[i], origin));
    return size > 0.0 ? size : 1.0;
}

// Returns 0, 1, 2 for a displacement mostly along x, y, z; 3, 4, 5 for a rotation.
static int scale_axis(const pcs_dof *d)
{
    int along = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(d->direction[k]) > fabs(d->direction[along])) along = k;
    return d->is_rotation ? along + 3 : along;
}

pcs_status pcs_fe_find_sizes(pcs_system *system)
{
    pcs_scale *out = &system->scale;
    const fe_data *fe = system->data;
    const pcs_mesh *mesh = fe->model.mesh;
    const double origin[3] = { 0 };
    double *longest, size = scale_model(system, mesh);
    PCS_TRY(pcs_scale_create(system));
    PCS_TAKE(system->ctx, longest, mesh->nnode, "sizes of coordinates");
    out->holds[6] = false;
    scale_find_cells(mesh, longest);
    for (int i = 0; i < fe->map.ndof; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->equation == -1) out->holds[scale_axis(d)] = true;
        if (d->equation < 0) continue;
        out->axis[d->equation] = (unsigned char)scale_axis(d);
        out->is_angle[d->equation] = d->is_rotation;
        out->model[d->equation] = d->is_rotation ? 1.0 : size;
        out->cell[d->equation] = d->is_rotation ? 1.0 : longest[d->node];
        out->place[d->equation] = d->is_rotation ? 1.0 : fmax(scale_distance(mesh->x[d->node], origin), size);
    }
    return PCS_OK;
}

// Puts every cell of the group's set into its batch.
static pcs_status fe_make_batch(pcs_context *ctx, fe_data *fe, int group, const char **culprit)
{
    const pcs_fe_group *g = &fe->model.groups[group];
    const pcs_mesh *mesh = fe->model.mesh;
    const pcs_element_ops *variant = g->ops->variant == NULL ? NULL : g->ops->variant(g->params);
    fe->batches[group] = (pcs_batch){
        .ops = variant == NULL ? g->ops : variant, // other kernels for these parameters
        .name = g->name,
        .params = g->params,
        .damping_mass = g->damping_mass + fe->model.damping_mass,
        .damping_stiffness = g->damping_stiffness + fe->model.damping_stiffness,
        .step = fe->model.step,
        .ncell = g->cells->count,
        .cells = g->cells->items,
        .x = (const double(*)[3])mesh->x,
        .nodes = (const int(*)[2])mesh->cell,
    };
    for (int i = 0; i < g->cells->count; i++) {
        int cell = g->cells->items[i], other = fe->batch_of_cell[cell];
        if (other >= 0) {
            *culprit = pcs_culprit(ctx, "elements", g->name);
            return pcs_fail(ctx, PCS_BAD_INPUT, "cell %d of set '%s' belongs to element group '%s' already", cell,
                            g->cells->name, fe->model.groups[other].name);
        }
        fe->batch_of_cell[cell] = group;
        fe->place_of_cell[cell] = i;
    }
    return PCS_OK;
}

static pcs_status fe_make_batches(pcs_context *ctx, fe_data *fe, const char **culprit)
{
    int ncell = fe->model.mesh->ncell;
    PCS_TAKE(ctx, fe->batches, 2 * (size_t)fe->model.ngroup, "element groups");
    PCS_TAKE(ctx, fe->batch_of_cell, ncell, "element groups");
    PCS_TAKE(ctx, fe->place_of_cell, ncell, "element groups");
    for (int i = 0; i < ncell; i++) fe->batch_of_cell[i] = -1;
    for (int g = 0; g < fe->model.ngroup; g++) PCS_TRY(fe_make_batch(ctx, fe, g, culprit));
    return PCS_OK;
}

static pcs_status fe_set_batches_up(pcs_context *ctx, fe_data *fe, const char **culprit)
{
    for (int b = 0; b < fe->nbatch; b++) {
        pcs_status status = fe->batches[b].ops->setup(ctx, &fe->batches[b]);
        if (status == PCS_BAD_INPUT) *culprit = pcs_culprit(ctx, "elements", fe->batches[b].name);
        if (status != PCS_OK) return status;
    }
    return PCS_OK;
}

// Returns the radius of gyration, m, of a body that is a single point.
static double fe_gyration(const pcs_system *self)
{
    const fe_data *fe = self->data;
    double mass = 0.0, inertia = 0.0;
    for (int i = 0; i < fe->map.ndof; i++) {
        int equation = fe->map.dof[i].equation;
        if (equation < 0) continue;
        double entry = pcs_matrix_diagonal(self->M, equation);
        if (fe->map.dof[i].is_rotation) inertia = fmax(inertia, entry);
        else mass = fmax(mass, entry);
    }
    return mass > 0.0 ? sqrt(inertia / mass) : 0.0;
}

// Returns the largest gap of contacts, m, or, if all gaps are round-off of positions, the distance from the origin.
static double fe_distance_to_contacts(const pcs_system *self)
{
    const fe_data *fe = self->data;
    const pcs_row_state *states = self->row_set.table->states;
    double distance = 0.0;
    if (fe->model.ncontact == 0) return 0.0;
    for (int j = 0; j < pcs_system_npoint(self); j++) distance = fmax(distance, fabs(states[j].gap));
    distance = pcs_rows_max(self, distance);
    return distance > PCS_ROUND_LENGTH * self->place ? distance : self->place;
}

// Sets `length` to the diagonal of the box around nodes and joint points in the reference state, or to the size of
// contacts or the largest gap; and `place`, the distance of the box from the origin, m.
static void fe_find_length(pcs_system *self)
{
    const fe_data *fe = self->data;
    const pcs_row_state *states = self->row_set.table->states;
    double sum = 0.0, far = 0.0, low[3], high[3];
    pcs_mesh_box(fe->model.mesh, low, high);
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < self->nrow; j++) {
            if (!self->contacts[self->rows[j].contact].is_joint) continue;
            low[k] = fmin(low[k], states[j].point[k]);
            high[k] = fmax(high[k], states[j].point[k]);
        }
        double to = pcs_rows_max(self, high[k]), from = -pcs_rows_max(self, -low[k]);
        sum += (to - from) * (to - from);
        far += fmax(from * from, to * to);
    }
    double length = sum > 0.0 ? sqrt(sum) : fe_gyration(self);
    for (int k = 0; k < fe->model.ncontact; k++) length = fmax(length, self->row_set.table->sources[k].shape.size);
    self->place = sqrt(far);
    self->length = length > 0.0 ? length : fe_distance_to_contacts(self);
}

// Sets the lengths, m, by which changes of angles are scaled in nonlinear systems; linear ones compare no changes.
static pcs_status fe_find_arms(pcs_system *self)
{
    const pcs_dofmap *map = &((const fe_data *)self->data)->map;
    double *arms;
    if (self->is_linear || !(self->length > 0.0)) return PCS_OK;
    PCS_TAKE(self->ctx, arms, self->nv, "sizes of angles");
    for (int i = 0; i < self->nv; i++) arms[i] = 1.0;
    for (int i = 0; i < map->ndof; i++)
        if (map->dof[i].is_rotation && map->dof[i].equation >= 0) arms[map->dof[i].equation] = self->length;
    self->arms = arms;
    return PCS_OK;
}

// Computes the total mass, kg, from the kinetic energy of unit velocities along all free translational dofs, divided by
// the number of directions of a node.
static pcs_status fe_total_mass(pcs_system *self)
{
    const fe_data *fe = self->data;
    double *one = pcs_scratch(NULL, (size_t)self->nv, sizeof *one);
    if (one == NULL) return pcs_fail(self->ctx, PCS_NO_MEMORY, "out of memory: %d equations", self->nv);
    int most = 1;
    for (int i = 0, count = 0, node = -1; i < fe->map.ndof; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        count = d->node == node ? count + !d->is_rotation : !d->is_rotation;
        node = d->node;
        if (count > most) most = count;
        if (d->equation >= 0) one[d->equation] = d->is_rotation ? 0.0 : 1.0;
    }
    most = (int)pcs_system_max(self, most);
    pcs_measure measure;
    self->ops->measure(self, pcs_at(0.0, one, one), PCS_ENERGY, &measure);
    self->mass = 2.0 * measure.kinetic / most;
    pcs_scratch_free(one);
    return PCS_OK;
}

static pcs_status fe_find_directions(pcs_system *self, const pcs_dofmap *map)
{
    double(*direction)[3];
    PCS_TAKE(self->ctx, direction, self->nv, "directions of equations");
    for (int i = 0; i < map->ndof; i++) {
        const pcs_dof *d = &map->dof[i];
        if (d->equation >= 0 && !d->is_rotation) memcpy(direction[d->equation], d->direction, sizeof d->direction);
    }
    self->direction = (const double(*)[3])direction;
    return PCS_OK;
}

// Sets whether the system is linear and which parts vary; prepares slices and, if rows vary, slopes of joints.
static pcs_status fe_find_abilities(pcs_system *self, fe_data *fe)
{
    self->is_linear = !fe->is_nonlinear && !self->row_set.vary;
    self->tangents_vary = fe->is_nonlinear;
    bool is_lossless = !fe->has_laws;
    for (int b = 0; b < fe->nbatch; b++) is_lossless = is_lossless && fe->batches[b].is_gyroscopic;
    if (self->C != NULL) self->C->is_lossless = is_lossless;
    bool is_plain = self->is_linear && !fe->has_laws && fe->nfollower == 0 && fe->npush <= MOST_PUSHES;
    if (fe->takes_ranges && is_plain && slices_are_chained(fe)) self->slices = &slices_of_bars;
    return self->row_set.vary && fe->model.njoint > 0 ? pcs_derivative_create(self) : PCS_OK;
}

// Makes flags agree on all processes, as loads and rotations may be at nodes of others only.
static void fe_find_abilities_of_all(pcs_system *self, fe_data *fe)
{
    fe->has_pushes = pcs_system_max(self, fe->has_pushes) > 0.0;
    self->rotations.are_somewhere = pcs_system_max(self, self->rotations.count > 0) > 0.0;
}

static pcs_status fe_make_rows(pcs_system *self, const fe_data *fe, const char **culprit)
{
    PCS_TAKE(self->ctx, self->row_set.table, 1, "contacts");
    *self->row_set.table = (pcs_row_table){ .map = &fe->map,
                                            .ncontact = fe->model.ncontact,
                                            .njoint = fe->model.njoint,
                                            .nheld = fe->nheld,
                                            .contacts = fe->model.contacts,
                                            .joints = fe->model.joints,
                                            .joint_is_here = fe->share == NULL ? NULL : fe->share->joint_is_here };
    return pcs_table_create(self, culprit);
}

// Adds loads, rows, internal variables and reactions.
static pcs_status fe_add_rest(pcs_system *self, fe_data *fe, const char **culprit)
{
    if (fe->is_nonlinear) PCS_TRY(fe_plan_pieces(self, fe));
    PCS_TRY(fe_plan_threads(self, fe));
    PCS_TRY(pcs_fe_apply_loads(self, fe, culprit));
    PCS_TRY(fe_make_rows(self, fe, culprit));
    PCS_TRY(fe_make_internal(self, fe));
    PCS_TRY(pcs_fe_make_reactions(self, fe));
    return fe_find_abilities(self, fe);
}

// Evaluates sections that vary along the cells of a group. The cells must form a line, each beginning where the one
// before ends; positions along the line are sums of cell lengths.

enum { TAPER_NAME_BYTES = 160 };

static const double SAME_PLACE = 1e-9; // of the length of the line

// Returns "elements.bar.area" or "elements.bar.section.height" for *culprit.
static const char *taper_culprit(pcs_context *ctx, const pcs_fe_group *group, const char *option)
{
    char name[TAPER_NAME_BYTES];
    snprintf(name, sizeof name, "%.80s.%s%s", group->name, group->ops->section_offset != 0 ? "section." : "", option);
    return pcs_culprit(ctx, "elements", name);
}

// Fails unless a table ends at the end of the line, or the last step begins before it.
static pcs_status taper_check_profile(pcs_context *ctx, const pcs_option *option, const pcs_profile *p, double length)
{
    double last = p->count == 0 || p->is_relative ? length : p->place[p->count - 1];
    if (p->is_stepped && p->count > 0 && last >= length * (1.0 - SAME_PLACE))
        return pcs_fail(ctx, PCS_BAD_INPUT,
                        "the last step of '%s' at %g lies beyond the end of the line, which is %g long", option->name,
                        last, length);
    if (!p->is_stepped && fabs(last - length) > SAME_PLACE * length)
        return pcs_fail(ctx, PCS_BAD_INPUT, "the table of '%s' must go to the end of the line at %.9g, goes to %.9g",
                        option->name, length, last);
    return PCS_OK;
}

// Checks the sizes of the section at both ends of every piece; they are linear, so inequalities then hold in between.
static pcs_status taper_check_sizes(pcs_context *ctx, const pcs_section_line *line, double length, const char **option)
{
    _Alignas(max_align_t) char params[PCS_SECTION_BYTES];
    if (line->type->check == NULL) return PCS_OK;
    for (double a = 0.0, b; a < length; a = b) {
        b = fmin(length, pcs_section_next(line, length, a));
        for (int end = 0; end < 2; end++) {
            double s = end == 0 ? a : b;
            pcs_section_params_at(line, length, s, end == 1, params);
            const char *fault = line->type->check(params, option);
            if (fault != NULL) return pcs_fail(ctx, PCS_BAD_INPUT, "at %g along the line %s", s, fault);
        }
    }
    return PCS_OK;
}

static pcs_status taper_check(pcs_context *ctx, const pcs_fe_group *group, const pcs_section_line *line, double length,
                              const char **culprit)
{
    const char *option = "";
    pcs_status status = PCS_OK;
    for (const pcs_option *o = line->type->options; o->name != NULL && status == PCS_OK; o++) {
        if (o->kind != PCS_OPTION_PROFILE) continue;
        option = o->name;
        status = taper_check_profile(ctx, o, (const void *)((const char *)line->params + o->offset), length);
    }
    if (status == PCS_OK) status = taper_check_sizes(ctx, line, length, &option);
    if (status != PCS_OK) *culprit = taper_culprit(ctx, group, option);
    return status;
}

// Holds a line of cells while it is measured.
typedef struct taper_line {
    const pcs_mesh *mesh;
    const pcs_set *cells;
    pcs_taper *tapers;
    int ngiven, ntaken;
    double length, last; // m, so far, and the node where the line ends; -1 at first
    int broken;          // index of the first cell that does not begin where the one before ends, -1 if none
} taper_line;

// Sends length, m, and nodes of the cells of this process to all.
static void taper_give(void *owner, int low, int high, double *block)
{
    taper_line *line = owner;
    for (; line->ngiven < line->cells->count; line->ngiven++) {
        int place = pcs_set_place(line->cells, line->ngiven);
        const int *node = line->mesh->cell[line->cells->items[line->ngiven]];
        if (place >= high) return;
        double span[3], *record = block + 3 * (ptrdiff_t)(place - low);
        for (int k = 0; k < 3; k++) span[k] = line->mesh->x[node[1]][k] - line->mesh->x[node[0]][k];
        record[0] = pcs_norm3(span);
        for (int k = 0; k < 2; k++) record[1 + k] = pcs_mesh_node_number(line->mesh, node[k]);
    }
}

// Adds up the lengths of all cells in their order, which gives the sums of one process.
static void taper_take(void *owner, int low, int high, const double *block)
{
    taper_line *line = owner;
    for (int place = low; place < high; place++, block += 3) {
        if (line->broken < 0 && line->last >= 0.0 && block[1] != line->last) line->broken = place;
        double from = line->length;
        line->length += block[0];
        line->last = block[2];
        if (line->ntaken == line->cells->count || pcs_set_place(line->cells, line->ntaken) != place) continue;
        pcs_taper *taper = &line->tapers[line->cells->items[line->ntaken++]];
        taper->from = from;
        taper->to = line->length;
    }
}

// Measures where each cell begins and ends along its line, m, and the length of the line. Fails if the cells form none.
static pcs_status taper_measure(pcs_context *ctx, fe_data *fe, const pcs_fe_group *group, double *length)
{
    const pcs_set *cells = group->cells;
    bool is_whole = pcs_mesh_is_whole(fe->model.mesh);
    taper_line line = { .mesh = fe->model.mesh, .cells = cells, .tapers = fe->tapers, .last = -1.0, .broken = -1 };
    const pcs_records records = { taper_give, taper_take, &line };
    if (!is_whole && cells->place == NULL) return pcs_fail(ctx, PCS_UNSUPPORTED, "the order of the cells is not known");
    PCS_TRY(pcs_publish(ctx, !is_whole, pcs_set_size(cells), 3, &records));
    *length = line.length;
    if (line.broken < 0) return PCS_OK;
    if (!is_whole) return pcs_fail(ctx, PCS_UNSUPPORTED, "cells are not in a line");
    return pcs_fail(ctx, PCS_BAD_INPUT,
                    "element group '%s': a section that varies needs cells in a line, but cell %d of the set '%s' does "
                    "not begin where cell %d ends",
                    group->name, cells->items[line.broken], cells->name, cells->items[line.broken - 1]);
}

// Allocates the sections of all groups, once; they share the array, as a cell belongs to one group.
static pcs_status taper_allocate(pcs_context *ctx, fe_data *fe, int group)
{
    if (fe->tapers == NULL) PCS_TAKE(ctx, fe->tapers, fe->model.mesh->ncell, "sections that vary");
    fe->batches[group].tapers = fe->tapers;
    return PCS_OK;
}

static pcs_status taper_group(pcs_context *ctx, fe_data *fe, int group, const char **culprit)
{
    const pcs_fe_group *g = &fe->model.groups[group];
    pcs_section_line line;
    double length = 0.0;
    if (!pcs_taper_line(g->ops, g->params, &line) || line.params == NULL) return PCS_OK;
    PCS_TRY(pcs_fe_agree(ctx, fe, taper_allocate(ctx, fe, group)));
    pcs_status status = taper_measure(ctx, fe, g, &length);
    if (status != PCS_OK) {
        *culprit = pcs_culprit(ctx, "elements", g->name);
        return status;
    }
    PCS_TRY(taper_check(ctx, g, &line, length, culprit));
    for (int i = 0; i < g->cells->count; i++) {
        pcs_taper *taper = &fe->tapers[g->cells->items[i]];
        taper->length = length;
        pcs_taper_make(&line, taper);
    }
    return PCS_OK;
}

pcs_status pcs_fe_create(pcs_context *ctx, const pcs_fe_definition *definition, pcs_system **out, const char **culprit)
{
    pcs_system *self;
    fe_data *fe;
    fe_work *work;
    *culprit = NULL;
    PCS_TAKE(ctx, self, 1, "the system");
    PCS_TAKE(ctx, fe, 1, "the system");
    PCS_TAKE(ctx, work, 1, "the system");
    fe->model = *definition;
    *self =
        (pcs_system){ .ops = &pcs_system_fe, .name = "fe", .ctx = ctx, .data = fe, .work = work, .is_linear = true };
    PCS_TRY(pcs_fe_agree(ctx, fe, fe_make_batches(ctx, fe, culprit)));
    for (int g = 0; g < fe->model.ngroup; g++) PCS_TRY(taper_group(ctx, fe, g, culprit));
    PCS_TRY(pcs_fe_number_dofs(ctx, fe, culprit));
    self->nq = self->nv = self->rotations.nq = fe->map.nequation;
    pcs_fe_share_system(fe, self);
    PCS_TRY(fe_find_directions(self, &fe->map));
    PCS_TRY(pcs_fe_agree(ctx, fe, fe_set_batches_up(ctx, fe, culprit)));
    PCS_TRY(fe_find_rotations(self, fe));
    fe_find_laws(fe);
    PCS_TRY(fe_assemble(self, fe, culprit));
    PCS_TRY(pcs_fe_agree(ctx, fe, fe_add_rest(self, fe, culprit)));
    fe_find_abilities_of_all(self, fe);
    PCS_TRY(pcs_fe_make_picture(self, fe));
    fe_find_length(self);
    PCS_TRY(pcs_fe_find_sizes(self));
    PCS_TRY(fe_find_arms(self));
    PCS_TRY(fe_total_mass(self));
    PCS_TRY(pcs_fe_find_stable_step(self, fe));
    *out = self;
    return PCS_OK;
}

const pcs_dofmap *pcs_fe_dofmap(const pcs_system *self)
{
    const fe_data *fe = self->data;
    return &fe->map;
}

const pcs_batch *pcs_fe_batch(const pcs_system *self, int group)
{
    const fe_data *fe = self->data;
    return &fe->batches[group];
}

const pcs_fe_definition *pcs_fe_model(const pcs_system *self)
{
    return &((const fe_data *)self->data)->model;
}
