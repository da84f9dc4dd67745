// Shaft that spins as fast as its nodes turn about its axis: run up and slowed down by torques.
//
// The rotation about the axis is a degree of freedom of any size; tilts and deflections stay small. The speed of a cell
// is the mean of its nodes, and its gyroscopic moments take no power at any speed. Rayleigh's damping by mass does not
// brake the spin. Left out is what is of second order: the rate of the speed times the tilts.

#include "elements/beam_space.h"

static const pcs_option beam_options[] = {
    PCS_BEAM_SPACE_OPTIONS,
    { .name = NULL },
};

static pcs_status beam_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_beam_space_setup(ctx, batch, PCS_SPIN_OWN);
}

const pcs_element_ops pcs_element_rotor_beam_driven = {
    .name = "rotor_beam_driven",
    .summary = "linear Timoshenko beam in space that spins as its nodes do, with gyroscopic moments; round sections",
    .options = beam_options,
    .params_size = sizeof(pcs_beam_space_params),
    .has_section = true,
    .section_offset = offsetof(pcs_beam_space_params, section),
    .has_orientation = true,
    .orientation_offset = offsetof(pcs_beam_space_params, orientation),
    .ndof = PCS_BEAM_SPACE_NDOF,
    .is_nonlinear = true,
    .sees_velocity = true,
    .fields = pcs_beam_space_fields,
    .node_dofs = pcs_beam_space_round_dofs,
    .setup = beam_setup,
    .matrices = pcs_modal_matrices,
    .add_force = pcs_modal_add_force,
    .tangents = pcs_modal_tangents,
    .dissipation = pcs_modal_dissipation,
    .add_energy = pcs_modal_add_energy,
    .add_resultant = pcs_modal_add_resultant,
    .read_fields = pcs_beam_space_read_fields,
};
