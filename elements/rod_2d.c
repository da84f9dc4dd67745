// Linear rod in the x-y plane: two nodes with 2 displacements, axial force only; small displacements.

#include "elements/truss.h"

enum { DIM = 2 };

static pcs_status rod_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    (void)local_node;
    PCS_TRY(pcs_truss_node_dofs(ctx, batch, cell, DIM, out));
    out->count = DIM;
    return PCS_OK;
}

static pcs_status rod_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_truss_setup(ctx, batch, DIM);
}

const pcs_element_ops pcs_element_rod_2d = {
    .name = "rod_2d",
    .summary = "linear rod in the x-y plane, for trusses; 2 displacements at each node, axial force only",
    .options = pcs_truss_options,
    .params_size = sizeof(pcs_truss_params),
    .has_area = true,
    .area_offset = offsetof(pcs_truss_params, area),
    .ndof = 2 * DIM,
    .fields = pcs_truss_fields,
    .node_dofs = rod_node_dofs,
    .setup = rod_setup,
    .matrices = pcs_modal_matrices,
    .add_force = pcs_modal_add_force,
    .add_energy = pcs_modal_add_energy,
    .add_change = pcs_modal_add_change,
    .add_resultant = pcs_modal_add_resultant,
    .read_fields = pcs_truss_read_fields,
};
