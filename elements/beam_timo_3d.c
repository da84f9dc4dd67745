// Linear Timoshenko beam in space: two nodes with x, y, z and three rotations; small displacements.

#include "elements/beam_space.h"

static const pcs_option beam_options[] = {
    PCS_BEAM_SPACE_OPTIONS,
    { .name = NULL },
};

static pcs_status beam_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_beam_space_setup(ctx, batch, PCS_SPIN_NONE);
}

const pcs_element_ops pcs_element_beam_timo_3d = {
    .name = "beam_timo_3d",
    .summary = "linear Timoshenko beam in space; three displacements and three rotations at each node",
    .options = beam_options,
    .params_size = sizeof(pcs_beam_space_params),
    .has_section = true,
    .section_offset = offsetof(pcs_beam_space_params, section),
    .has_orientation = true,
    .orientation_offset = offsetof(pcs_beam_space_params, orientation),
    .ndof = PCS_BEAM_SPACE_NDOF,
    .fields = pcs_beam_space_fields,
    .node_dofs = pcs_beam_space_node_dofs,
    .setup = beam_setup,
    .matrices = pcs_modal_matrices,
    .add_force = pcs_modal_add_force,
    .add_energy = pcs_modal_add_energy,
    .add_change = pcs_modal_add_change,
    .add_resultant = pcs_modal_add_resultant,
    .read_fields = pcs_beam_space_read_fields,
};
