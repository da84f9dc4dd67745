// Springs and dampers along the global axes between one node and the ground; no mass.

#include "elements/mounting.h"

static pcs_status mount_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_mounting_setup(ctx, batch, 1);
}

const pcs_element_ops pcs_element_mount = {
    .name = "mount",
    .summary = "springs and dampers along the global axes between a node and the ground; no mass",
    .options = pcs_mounting_options,
    .params_size = sizeof(pcs_mounting_params),
    .ndof = 6,
    .is_one_node = true,
    .sees_velocity = true,
    .fields = pcs_mounting_fields,
    .node_dofs = pcs_mounting_node_dofs,
    .setup = mount_setup,
    .matrices = pcs_modal_matrices,
    .add_force = pcs_modal_add_force,
    .tangents = pcs_modal_tangents,
    .dissipation = pcs_modal_dissipation,
    .add_energy = pcs_modal_add_energy,
    .add_change = pcs_modal_add_change,
    .add_resultant = pcs_modal_add_resultant,
    .read_fields = pcs_mounting_read_fields,
};
