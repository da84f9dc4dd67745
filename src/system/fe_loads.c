// Gravity as a consistent load vector, and nodal forces.
//
//   f_g = M (g . d),   V(u) = -f_g . u - sum_cells g . M (X - datum)

#include "system/fe_data.h"

// g and height above the datum along each local dof of a cell.
static pcs_status loads_pull(pcs_system *self, const pcs_fe_load *load, int group, int cell,
                             double pull[PCS_MAX_CELL_DOFS], double height[PCS_MAX_CELL_DOFS])
{
    const fe_data *fe = self->data;
    const pcs_batch *batch = &fe->batches[group];
    const double *g = load->value;
    int place = 0;
    for (int i = 0; i < (pcs_fe_ops(fe, group)->is_one_node ? 1 : 2); i++) {
        int node = batch->nodes[batch->cells[cell]][i], dof[PCS_MAX_NODE_DOFS];
        double coefficient[PCS_MAX_NODE_DOFS];
        if (pcs_dofmap_resolve(&fe->map, node, g, dof, coefficient) < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "node %d of '%s' cannot move along g = [%g, %g, %g]", node,
                            batch->name, g[0], g[1], g[2]);
        pcs_node_dofs given;
        PCS_TRY(pcs_fe_ops(fe, group)->node_dofs(self->ctx, batch, cell, i, &given));
        for (int j = 0; j < given.count; j++, place++) {
            pull[place] = height[place] = 0.0;
            for (int k = 0; k < 3 && !given.is_rotation[j]; k++) {
                pull[place] += g[k] * given.direction[j][k];
                height[place] += (batch->x[node][k] - load->datum[k]) * given.direction[j][k];
            }
        }
    }
    return PCS_OK;
}

static pcs_status loads_add_weight(pcs_system *self, const pcs_fe_load *load, int group, double *gravity)
{
    fe_data *fe = self->data;
    const pcs_element_ops *ops = pcs_fe_ops(fe, group);
    const pcs_batch *batch = &fe->batches[group];
    int n = ops->ndof;
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS], K[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
    double pull[PCS_MAX_CELL_DOFS] = { 0 }, height[PCS_MAX_CELL_DOFS] = { 0 };
    for (int c = 0; c < batch->ncell; c++) {
        PCS_TRY(loads_pull(self, load, group, c, pull, height));
        ops->matrices(batch, c, M, K);
        for (int i = 0; i < n; i++) {
            double force = 0.0;
            for (int j = 0; j < n; j++) force += M[i * n + j] * pull[j];
            int equation = batch->equation[(size_t)c * (size_t)n + (size_t)i];
            if (equation >= 0) gravity[equation] += force;
            if (group < fe->model.ngroup) fe->rest_potential -= force * height[i];
        }
    }
    return PCS_OK;
}

static pcs_status loads_add_gravity(pcs_system *self, const pcs_fe_load *load, double **gravity)
{
    if (*gravity == NULL) PCS_TAKE(self->ctx, *gravity, self->nv, "gravity");
    const fe_data *fe = self->data;
    for (int b = 0; b < fe->nbatch; b++) PCS_TRY(loads_add_weight(self, load, b, *gravity));
    return PCS_OK;
}

static pcs_status loads_add_force(pcs_system *self, int index)
{
    fe_data *fe = self->data;
    const pcs_fe_load *load = &fe->model.loads[index];
    for (int i = 0; i < load->nodes->count; i++) {
        int node = load->nodes->items[i], dof[PCS_MAX_NODE_DOFS];
        double coefficient[PCS_MAX_NODE_DOFS];
        int count = pcs_dofmap_resolve(&fe->map, node, load->value, dof, coefficient);
        if (count < 0)
            return pcs_fail(self->ctx, PCS_BAD_INPUT, "node %d cannot move along the force [%g, %g, %g]", node,
                            load->value[0], load->value[1], load->value[2]);
        for (int j = 0; j < count; j++) {
            int equation = fe->map.dof[dof[j]].equation;
            fe->has_pushes = true;
            if (equation >= pcs_system_nown(self) || equation == PCS_EQUATION_ELSEWHERE) continue;
            if (equation < 0)
                return pcs_fail(self->ctx, PCS_BAD_INPUT, "node %d is held by a support along the force [%g, %g, %g]",
                                node, load->value[0], load->value[1], load->value[2]);
            fe_push *push = &fe->pushes[fe->npush++];
            *push = (fe_push){ .equation = equation, .load = index, .value = coefficient[j] };
            for (int k = 0; k < 3; k++) push->direction[k] = fe->map.dof[dof[j]].direction[k];
        }
    }
    return PCS_OK;
}

pcs_status pcs_fe_apply_loads(pcs_system *self, const char **culprit)
{
    fe_data *fe = self->data;
    size_t room = 0;
    for (int i = 0; i < fe->model.nload; i++)
        if (!fe->model.loads[i].is_gravity) room += 3 * (size_t)fe->model.loads[i].nodes->count;
    PCS_TAKE(self->ctx, fe->pushes, room, "nodal forces");

    double *gravity = NULL;
    for (int i = 0; i < fe->model.nload; i++) {
        const pcs_fe_load *load = &fe->model.loads[i];
        pcs_status status = load->is_gravity ? loads_add_gravity(self, load, &gravity) : loads_add_force(self, i);
        if (status == PCS_OK) continue;
        *culprit = pcs_fe_culprit(self->ctx, "loads", load->name);
        return status;
    }
    self->gravity = gravity;
    for (int i = 0; i < fe->map.ndof && gravity != NULL; i++) {
        const pcs_dof *d = &fe->map.dof[i];
        if (d->equation >= pcs_system_nown(self)) continue;
        if (d->equation < 0 || d->is_rotation) continue;
        for (int k = 0; k < 3; k++) fe->free_weight[k] += gravity[d->equation] * d->direction[k];
    }
    return PCS_OK;
}
