// Spring and damper along the line between two nodes, however far they move; no mass of its own.
//
//   N = stiffness (l - rest) + force + damper l'

#include "elements/axial.h"

#include <math.h>

typedef struct spring_params {
    double stiffness, damping, rest, force;
    int in;
} spring_params;

static const char *const spring_spaces[] = { "line", "plane", "space", NULL };

static const pcs_option spring_options[] = {
    PCS_REAL("stiffness", spring_params, stiffness, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE, "N/m"),
    PCS_REAL("damper", spring_params, damping, PCS_DEFAULT("0"), PCS_NOT_NEGATIVE, "N s/m"),
    PCS_REAL("rest", spring_params, rest, PCS_OPTIONAL, PCS_NOT_NEGATIVE,
             "length without spring force, m; the distance of the nodes in the mesh where it is not given"),
    PCS_REAL("force", spring_params, force, PCS_DEFAULT("0"), PCS_ANY_NUMBER,
             "constant force besides, N; positive pulls the nodes together"),
    PCS_CHOICE("in", spring_params, in, PCS_DEFAULT("space"), spring_spaces,
               "how its nodes move: along x, in x and y, or in x, y and z"),
    { 0 },
};

static const char *const spring_fields[] = { "axial_force", "elongation", "strain_energy", NULL };

static pcs_status spring_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                   pcs_node_dofs *out)
{
    (void)local_node;
    return pcs_axial_node_dofs(ctx, batch, cell, ((const spring_params *)batch->params)->in + 1, out);
}

static pcs_status spring_setup(pcs_context *ctx, pcs_batch *batch)
{
    const spring_params *p = batch->params;
    pcs_axial *axial;
    PCS_TRY(pcs_axial_create(ctx, batch, &axial));
    for (int c = 0; c < batch->ncell; c++) {
        pcs_axial_cell *cell = &axial->cell[c];
        cell->stiffness = p->stiffness;
        cell->damping = p->damping + batch->damping_stiffness * p->stiffness;
        cell->slack = isnan(p->rest) ? 0.0 : cell->length - p->rest;
        cell->preload = p->force;
    }
    return PCS_OK;
}

static void spring_read_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                               double field[PCS_MAX_CELL_FIELDS])
{
    const pcs_axial_cell *own = &((const pcs_axial *)batch->data)->cell[cell];
    double stretch, rate;
    pcs_axial_stretch(batch, cell, q, v, &stretch, &rate);
    field[0] = own->stiffness * stretch + own->preload + own->damping * rate;
    field[1] = stretch;
    field[2] = (0.5 * own->stiffness * stretch + own->preload) * stretch;
}

const pcs_element_ops pcs_element_spring_damper = {
    .name = "spring_damper",
    .summary = "spring and damper along the present line between two nodes; no mass",
    .options = spring_options,
    .params_size = sizeof(spring_params),
    .ndof = 6,
    .is_nonlinear = true,
    .sees_velocity = true,
    .fields = spring_fields,
    .node_dofs = spring_node_dofs,
    .setup = spring_setup,
    .read_fields = spring_read_fields,
    PCS_AXIAL_KERNELS,
};
