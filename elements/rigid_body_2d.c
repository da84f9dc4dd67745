// Rigid body in the x-y plane: its node is the centre of mass, with x, y and an angle about z of any size.
//
//   M = diag(m, m, J): angles add up, so that the body is linear however far it turns

#include "elements/modal.h"
#include "elements/one_node.h"

typedef struct body_params {
    double mass, inertia;
} body_params;

enum { NDOF = 3 };

static const pcs_option body_options[] = {
    PCS_REAL("mass", body_params, mass, PCS_REQUIRED, PCS_POSITIVE, "kg"),
    PCS_REAL("inertia", body_params, inertia, PCS_REQUIRED, PCS_POSITIVE,
             "moment of inertia about z at the centre of mass, kg m^2"),
    { 0 },
};

static pcs_status body_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out)
{
    (void)local_node;
    *out = (pcs_node_dofs){ .count = NDOF, .is_rotation = { false, false, true }, .is_finite = true };
    for (int k = 0; k < NDOF; k++) out->direction[k][k] = 1.0;
    return pcs_one_node_check(ctx, batch, cell);
}

static void body_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    (void)cell;
    const body_params *p = batch->params;
    for (int k = 0; k < NDOF; k++) kind->M[k * NDOF + k] = k < 2 ? p->mass : p->inertia;
}

static pcs_status body_setup(pcs_context *ctx, pcs_batch *batch)
{
    pcs_modal *modal;
    PCS_TRY(pcs_modal_create(ctx, batch, NDOF, 0, body_make, &modal));
    for (int k = 0; k < 2; k++) modal->direction[k][k] = 1.0;
    batch->data = modal;
    return PCS_OK;
}

const pcs_element_ops pcs_element_rigid_body_2d = {
    .name = "rigid_body_2d",
    .summary = "rigid body in the x-y plane at one node, its centre of mass; turns by any angle",
    .options = body_options,
    .params_size = sizeof(body_params),
    .ndof = NDOF,
    .is_one_node = true,
    .fields = pcs_modal_mass_fields,
    .node_dofs = body_node_dofs,
    .setup = body_setup,
    .matrices = pcs_modal_matrices,
    .add_force = pcs_modal_add_force,
    .add_energy = pcs_modal_add_energy,
    .add_change = pcs_modal_add_change,
    .add_resultant = pcs_modal_add_resultant,
    .read_fields = pcs_modal_read_mass_fields,
};
