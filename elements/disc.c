// A rigid part on a shaft, at one node: mass, inertia, and the gyroscopic moment at a given speed of spin.

#include "elements/gyro.h"

static const pcs_option disc_options[] = {
    PCS_GYRO_OPTIONS,
    PCS_REAL("speed", pcs_gyro_params, speed, PCS_DEFAULT("0"), PCS_ANY_NUMBER,
             "of spin about the axis, constant, rad/s"),
    { 0 },
};

static pcs_status disc_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    (void)local_node;
    return pcs_gyro_node_dofs(ctx, batch, cell, false, out);
}

static pcs_status disc_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_gyro_setup(ctx, batch, false);
}

const pcs_element_ops pcs_element_disc = {
    .name = "disc",
    .summary = "rigid part on a shaft of linear beams, at one node; small rotations, gyroscopic at a given speed",
    .options = disc_options,
    .params_size = sizeof(pcs_gyro_params),
    .ndof = 6,
    .is_one_node = true,
    .sees_velocity = true,
    .fields = pcs_modal_mass_fields,
    .node_dofs = disc_node_dofs,
    .setup = disc_setup,
    .matrices = pcs_modal_matrices,
    .add_force = pcs_modal_add_force,
    .tangents = pcs_modal_tangents,
    .dissipation = pcs_modal_dissipation,
    .add_energy = pcs_modal_add_energy,
    .add_change = pcs_modal_add_change,
    .add_resultant = pcs_modal_add_resultant,
    .read_fields = pcs_modal_read_mass_fields,
};
