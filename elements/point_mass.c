// A mass at one node, which moves along x, in the plane or in space.

#include "elements/modal.h"
#include "elements/one_node.h"

typedef struct point_params {
    double mass;
    int in;
} point_params;

enum { NDOF = 3 };

static const char *const point_spaces[] = { "line", "plane", "space", NULL };

static const pcs_option point_options[] = {
    PCS_REAL("mass", point_params, mass, PCS_REQUIRED, PCS_POSITIVE, "kg"),
    PCS_CHOICE("in", point_params, in, PCS_DEFAULT("space"), point_spaces,
               "how its node moves: along x, in x and y, or in x, y and z"),
    { 0 },
};

static pcs_status point_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    (void)local_node;
    *out = (pcs_node_dofs){ .count = NDOF };
    for (int k = 0; k <= ((const point_params *)batch->params)->in; k++) out->direction[k][k] = 1.0;
    return pcs_one_node_check(ctx, batch, cell);
}

static void point_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    (void)cell;
    for (int k = 0; k < NDOF; k++) kind->M[k * NDOF + k] = ((const point_params *)batch->params)->mass;
}

static pcs_status point_setup(pcs_context *ctx, pcs_batch *batch)
{
    pcs_modal *modal;
    PCS_TRY(pcs_modal_create(ctx, batch, NDOF, 0, point_make, &modal));
    for (int k = 0; k < NDOF; k++) modal->direction[k][k] = 1.0;
    batch->data = modal;
    return PCS_OK;
}

const pcs_element_ops pcs_element_point_mass = {
    .name = "point_mass",
    .summary = "a mass at one node",
    .options = point_options,
    .params_size = sizeof(point_params),
    .ndof = NDOF,
    .is_one_node = true,
    .fields = pcs_modal_mass_fields,
    .node_dofs = point_node_dofs,
    .setup = point_setup,
    .matrices = pcs_modal_matrices,
    .add_force = pcs_modal_add_force,
    .add_energy = pcs_modal_add_energy,
    .add_change = pcs_modal_add_change,
    .add_resultant = pcs_modal_add_resultant,
    .read_fields = pcs_modal_read_mass_fields,
};
