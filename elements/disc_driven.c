// A rigid part on a shaft, at one node, that spins as fast as its node turns about the axis.
//
// The rotation about the axis is a degree of freedom of any size; tilts and deflections stay small. The moment
// -speed Jp (w x a), speed = w . a, takes no power. Rayleigh's damping by mass does not brake
// the spin. Left out is what is of second order: speed' times the tilt.

#include "elements/gyro.h"

static const pcs_option disc_options[] = {
    PCS_GYRO_OPTIONS,
    { 0 },
};

static pcs_status disc_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    (void)local_node;
    return pcs_gyro_node_dofs(ctx, batch, cell, true, out);
}

static pcs_status disc_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_gyro_setup(ctx, batch, true);
}

const pcs_element_ops pcs_element_disc_driven = {
    .name = "disc_driven",
    .summary = "rigid part on a shaft of linear beams, at one node; small tilts, gyroscopic at its own speed of spin",
    .options = disc_options,
    .params_size = sizeof(pcs_gyro_params),
    .ndof = 6,
    .is_one_node = true,
    .is_nonlinear = true,
    .sees_velocity = true,
    .fields = pcs_modal_mass_fields,
    .node_dofs = disc_node_dofs,
    .setup = disc_setup,
    .matrices = pcs_modal_matrices,
    .add_force = pcs_modal_add_force,
    .tangents = pcs_modal_tangents,
    .dissipation = pcs_modal_dissipation,
    .add_energy = pcs_modal_add_energy,
    .add_resultant = pcs_modal_add_resultant,
    .read_fields = pcs_modal_read_mass_fields,
};
