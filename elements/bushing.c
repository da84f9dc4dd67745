// Springs and dampers along the global axes between two nodes, translational and torsional; no mass.

#include "elements/mounting.h"

static pcs_status bushing_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_mounting_setup(ctx, batch, 2);
}

const pcs_element_ops pcs_element_bushing = {
    .name = "bushing",
    .summary = "springs and dampers along the global axes between two nodes; no mass",
    .options = pcs_mounting_options,
    .params_size = sizeof(pcs_mounting_params),
    .ndof = 12,
    .sees_velocity = true,
    .fields = pcs_mounting_fields,
    .node_dofs = pcs_mounting_node_dofs,
    .setup = bushing_setup,
    .matrices = pcs_modal_matrices,
    .add_force = pcs_modal_add_force,
    .tangents = pcs_modal_tangents,
    .dissipation = pcs_modal_dissipation,
    .add_energy = pcs_modal_add_energy,
    .add_change = pcs_modal_add_change,
    .add_resultant = pcs_modal_add_resultant,
    .read_fields = pcs_mounting_read_fields,
};
