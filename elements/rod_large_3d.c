// Rod in space for large displacements: two nodes with 3 displacements, axial force along the present axis.
//
// Engineering strain (l - L)/L: the law of the linear rod in a frame that turns with the axis. It stays stiff in
// compression, where the Green strain softens, and does not soften in tension, where the logarithmic one does.

#include "elements/axial.h"
#include "elements/truss.h"

enum { DIM = 3 };

static pcs_status rod_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    (void)local_node;
    PCS_TRY(pcs_truss_node_dofs(ctx, batch, cell, DIM, out));
    out->count = DIM;
    return PCS_OK;
}

static pcs_status rod_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_axial_setup_rod(ctx, batch, DIM);
}

const pcs_element_ops pcs_element_rod_large_3d = {
    .name = "rod_large_3d",
    .summary = "rod in space for large displacements; 3 displacements at each node, axial force only",
    .options = pcs_truss_options,
    .params_size = sizeof(pcs_truss_params),
    .has_area = true,
    .area_offset = offsetof(pcs_truss_params, area),
    .ndof = 2 * DIM,
    .is_nonlinear = true,
    .fields = pcs_truss_fields,
    .node_dofs = rod_node_dofs,
    .setup = rod_setup,
    .matrices = pcs_axial_matrices,
    .add_force = pcs_axial_add_force,
    .tangents = pcs_axial_tangents,
    .dissipation = pcs_axial_dissipation,
    .add_energy = pcs_axial_add_energy,
    .add_resultant = pcs_axial_add_resultant,
    .read_fields = pcs_axial_read_rod_fields,
};
