// Builds a finite-element system: batches of cells, equations, matrices, contact rows, picture.

#include "system/fe.h"

#include "system/fe_data.h"

#include <math.h>

// Puts every cell of the group's set into its batch.
static pcs_status fe_make_batch(pcs_context *ctx, fe_data *fe, int group, const char **culprit)
{
    const pcs_fe_group *g = &fe->model.groups[group];
    const pcs_mesh *mesh = fe->model.mesh;
    fe->batches[group] = (pcs_batch){
        .name = g->name,
        .params = g->params,
        .damping_mass = g->damping_mass + fe->model.damping_mass,
        .damping_stiffness = g->damping_stiffness + fe->model.damping_stiffness,
        .ncell = g->cells->count,
        .cells = g->cells->items,
        .x = (const double(*)[3])mesh->x,
        .nodes = (const int(*)[2])mesh->cell,
    };
    for (int i = 0; i < g->cells->count; i++) {
        int cell = g->cells->items[i], other = fe->batch_of_cell[cell];
        if (other >= 0) {
            *culprit = pcs_fe_culprit(ctx, "elements", g->name);
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
    PCS_TAKE(ctx, fe->batches, fe->model.ngroup, "element groups");
    PCS_TAKE(ctx, fe->batch_of_cell, ncell, "element groups");
    PCS_TAKE(ctx, fe->place_of_cell, ncell, "element groups");
    for (int i = 0; i < ncell; i++) fe->batch_of_cell[i] = -1;
    for (int g = 0; g < fe->model.ngroup; g++) PCS_TRY(fe_make_batch(ctx, fe, g, culprit));
    return PCS_OK;
}

static pcs_status fe_make_pattern(pcs_system *self, pcs_pattern **pattern)
{
    const fe_data *fe = self->data;
    pcs_pattern_builder *builder;
    PCS_TRY(pcs_pattern_begin(self->ctx, self->nv, &builder));
    for (int g = 0; g < fe->model.ngroup; g++) {
        const pcs_batch *batch = &fe->batches[g];
        pcs_status status =
            pcs_pattern_add_cells(builder, batch->ncell, fe->model.groups[g].ops->ndof, batch->equation);
        if (status != PCS_OK) {
            pcs_pattern *unused; // finishing gives the builder's memory back
            (void)pcs_pattern_finish(builder, &unused);
            return status;
        }
    }
    return pcs_pattern_finish(builder, pattern);
}

static void fe_assemble_group(pcs_system *self, int group)
{
    const fe_data *fe = self->data;
    const pcs_element_ops *ops = fe->model.groups[group].ops;
    const pcs_batch *batch = &fe->batches[group];
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], K[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    for (int c = 0; c < batch->ncell; c++) {
        const int *equation = batch->equation + (size_t)c * (size_t)ops->ndof;
        ops->matrices(batch, c, M, K);
        pcs_matrix_add_cell(self->M, ops->ndof, equation, 1.0, M);
        pcs_matrix_add_cell(self->K, ops->ndof, equation, 1.0, K);
        if (self->C == NULL) continue;
        pcs_matrix_add_cell(self->C, ops->ndof, equation, batch->damping_mass, M);
        pcs_matrix_add_cell(self->C, ops->ndof, equation, batch->damping_stiffness, K);
    }
}

static pcs_status fe_assemble(pcs_system *self)
{
    fe_data *fe = self->data;
    pcs_pattern *pattern;
    PCS_TRY(fe_make_pattern(self, &pattern));
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->M));
    PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->K));
    for (int g = 0; g < fe->model.ngroup; g++)
        if (fe->batches[g].damping_mass != 0.0 || fe->batches[g].damping_stiffness != 0.0) self->has_damping = true;
    if (self->has_damping) PCS_TRY(pcs_matrix_create(self->ctx, pattern, &self->C));
    for (int g = 0; g < fe->model.ngroup; g++) fe_assemble_group(self, g);
    if (!pcs_matrix_is_finite(self->M) || !pcs_matrix_is_finite(self->K))
        return pcs_fail(self->ctx, PCS_BAD_INPUT, "a mass or stiffness of the model is too large to be represented");
    return PCS_OK;
}

// Diagonal of the box round the model.
static double fe_length(const pcs_mesh *mesh)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < mesh->nnode; i++) {
            low = fmin(low, mesh->x[i][k]);
            high = fmax(high, mesh->x[i][k]);
        }
        sum += (high - low) * (high - low);
    }
    return sqrt(sum);
}

// Kinetic energy of unit velocities along all translational dofs, shared among the directions of a node: the mass
// behind the moving equations.
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
    pcs_measure measure;
    self->ops->measure(self, one, one, &measure);
    self->mass = 2.0 * measure.kinetic / most;
    pcs_scratch_free(one);
    return PCS_OK;
}

pcs_status pcs_fe_create(pcs_context *ctx, const pcs_fe_definition *definition, pcs_system **out, const char **culprit)
{
    pcs_system *self;
    fe_data *fe;
    *culprit = NULL;
    PCS_TAKE(ctx, self, 1, "the system");
    PCS_TAKE(ctx, fe, 1, "the system");
    fe->model = *definition;
    *self = (pcs_system){ .ops = &pcs_system_fe, .ctx = ctx, .data = fe, .is_linear = true, .load_factor = 1.0 };
    PCS_TRY(fe_make_batches(ctx, fe, culprit));
    PCS_TRY(pcs_fe_number_dofs(ctx, fe, culprit));
    self->nq = self->nv = fe->map.nequation;
    for (int g = 0; g < definition->ngroup; g++) PCS_TRY(definition->groups[g].ops->setup(ctx, &fe->batches[g]));
    PCS_TRY(fe_assemble(self));
    PCS_TRY(pcs_fe_apply_loads(self, culprit));
    PCS_TRY(pcs_fe_make_contacts(self, culprit));
    PCS_TRY(pcs_fe_make_picture(self));
    self->length = fe_length(definition->mesh);
    self->stable_step = pcs_fe_stable_step(fe);
    PCS_TRY(fe_total_mass(self));
    *out = self;
    return PCS_OK;
}
