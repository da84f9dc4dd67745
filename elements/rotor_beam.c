// Shaft that spins about its axis at a given speed: the linear Timoshenko beam in space with gyroscopic moments.

#include "elements/beam_space.h"

static const pcs_option beam_options[] = {
    PCS_BEAM_SPACE_OPTIONS,
    PCS_REAL("speed", pcs_beam_space_params, speed, PCS_REQUIRED, PCS_ANY_NUMBER,
             "of spin about the axis from the first to the second node, constant, rad/s"),
    { .name = NULL },
};

static pcs_status beam_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_beam_space_setup(ctx, batch, PCS_SPIN_GIVEN);
}

const pcs_element_ops pcs_element_rotor_beam = {
    .name = "rotor_beam",
    .summary = "linear Timoshenko beam in space, spinning at a given speed, with gyroscopic moments; round sections",
    .options = beam_options,
    .params_size = sizeof(pcs_beam_space_params),
    .has_section = true,
    .section_offset = offsetof(pcs_beam_space_params, section),
    .has_orientation = true,
    .orientation_offset = offsetof(pcs_beam_space_params, orientation),
    .ndof = PCS_BEAM_SPACE_NDOF,
    .sees_velocity = true,
    .fields = pcs_beam_space_fields,
    .node_dofs = pcs_beam_space_round_dofs,
    .setup = beam_setup,
    .matrices = pcs_modal_matrices,
    .add_force = pcs_modal_add_force,
    .tangents = pcs_modal_tangents,
    .dissipation = pcs_modal_dissipation,
    .add_energy = pcs_modal_add_energy,
    .add_change = pcs_modal_add_change,
    .add_resultant = pcs_modal_add_resultant,
    .read_fields = pcs_beam_space_read_fields,
};
