// Rods that carry axial force only, with displacements along the global axes, in the x-y plane and in space.
//
//   linear:  N = (E A / L) e,   e = n . (u2 - u1)
//   large:   N = (E A / L) (l - L) along the present axis, see elements/axial.h
//   M = m/6 [2 1; 1 2] or m/2 [1 0; 0 1] in every direction,   m = rho A L
// If the area varies, A is its mean over the cell and M the integral of rho A N^T N, lumped by the sums of its rows.
//
// The strain of large rods is the engineering one, (l - L)/L: the law of the linear rod in a frame that turns with the
// axis. It stays stiff in compression, where the Green strain softens, and does not soften in tension, where the
// logarithmic one does.

#include "elements/axial.h"
#include "elements/modal.h"

static pcs_status truss_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out)
{
    int dim = batch->ops->ndof / 2;
    PCS_TRY(pcs_axial_node_dofs(ctx, batch, cell, dim, out));
    out->count = dim;
    return PCS_OK;
}

static pcs_rod_cell truss_cell(const pcs_batch *batch, int cell)
{
    return pcs_rod_find_cell(batch, cell, ((const pcs_rod_params *)batch->params)->mass == PCS_ROD_LUMPED);
}

static void truss_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    const pcs_rod_params *p = batch->params;
    double span[3], length = pcs_axial_span(batch, cell, span);
    int n = batch->ops->ndof, dim = n / 2;
    pcs_rod_cell rod = truss_cell(batch, cell);
    double m = p->rho * rod.area * length;
    kind->D[0] = p->E * rod.area / length;
    for (int k = 0; k < dim; k++) {
        kind->B[k] = -span[k] / length;
        kind->B[dim + k] = span[k] / length;
        kind->M[k * n + k] = m * rod.self;
        kind->M[(dim + k) * n + dim + k] = m * rod.self_end;
        kind->M[k * n + dim + k] = kind->M[(dim + k) * n + k] = m * rod.other;
    }
}

static pcs_status truss_setup(pcs_context *ctx, pcs_batch *batch)
{
    return pcs_modal_setup(ctx, batch, 1, batch->ops->ndof / 2, truss_make);
}

static pcs_status truss_setup_large(pcs_context *ctx, pcs_batch *batch)
{
    const pcs_rod_params *p = batch->params;
    pcs_axial *axial;
    PCS_TRY(pcs_axial_create(ctx, batch, NULL, &axial));
    for (int c = 0; c < batch->ncell; c++) {
        pcs_axial_cell *cell = &axial->cell[c];
        pcs_rod_cell rod = truss_cell(batch, c);
        double m = p->rho * rod.area * cell->length;
        cell->stiffness = p->E * rod.area / cell->length;
        cell->damping = batch->damping_stiffness * cell->stiffness;
        cell->self = m * rod.self;
        cell->self_end = m * rod.self_end;
        cell->other = m * rod.other;
    }
    return PCS_OK;
}

static void truss_fill_fields(const pcs_batch *batch, int cell, double stiffness, double stretch, double *field)
{
    field[0] = stiffness * stretch; // the damping force is not part of the elastic stress
    field[1] = field[0] / truss_cell(batch, cell).area;
    field[2] = 0.5 * field[0] * stretch;
}

static void truss_read_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                              double field[PCS_MAX_CELL_FIELDS])
{
    const pcs_modal *modal = batch->data;
    double e[PCS_MAX_MODES];
    pcs_modal_deform(batch, cell, at->q, e);
    truss_fill_fields(batch, cell, modal->kinds[modal->kind[cell]].D[0], e[0], field);
    double axis[3], length = pcs_axial_span(batch, cell, axis);
    for (int k = 0; k < 3; k++) axis[k] /= length;
    pcs_rod_read_ends(batch, cell, at->line_load, field[0], axis, field + 3);
}

static void truss_read_large_fields(const pcs_batch *batch, int cell, const pcs_cell_state *at,
                                    double field[PCS_MAX_CELL_FIELDS])
{
    pcs_axial_view axial = pcs_axial_look(batch, cell, at);
    truss_fill_fields(batch, cell, axial.stiffness, axial.stretch, field);
}

#define TRUSS_COMMON                                                                                      \
    .options = pcs_rod_options, .params_size = sizeof(pcs_rod_params), .area = &pcs_rod_area, .nnode = 2, \
    .fields = pcs_rod_fields, .node_dofs = truss_node_dofs
#define TRUSS_LINEAR                                                                                        \
    TRUSS_COMMON, .end_fields = pcs_rod_end_fields, .setup = truss_setup, .read_fields = truss_read_fields, \
                  PCS_MODAL_KERNELS
#define TRUSS_LARGE                                                                                         \
    TRUSS_COMMON, .is_nonlinear = true, .setup = truss_setup_large, .read_fields = truss_read_large_fields, \
                  PCS_AXIAL_KERNELS

const pcs_element_ops pcs_element_rod_2d = {
    .name = "rod_2d",
    .summary = "linear rod in the x-y plane, for trusses; 2 displacements at each node, axial force only",
    .ndof = 4,
    TRUSS_LINEAR,
};

const pcs_element_ops pcs_element_rod_3d = {
    .name = "rod_3d",
    .summary = "linear rod in space, for trusses; 3 displacements at each node, axial force only",
    .ndof = 6,
    TRUSS_LINEAR,
};

const pcs_element_ops pcs_element_rod_large_2d = {
    .name = "rod_large_2d",
    .summary = "rod in the x-y plane for large displacements; 2 displacements at each node, axial force only",
    .ndof = 4,
    TRUSS_LARGE,
};

const pcs_element_ops pcs_element_rod_large_3d = {
    .name = "rod_large_3d",
    .summary = "rod in space for large displacements; 3 displacements at each node, axial force only",
    .ndof = 6,
    TRUSS_LARGE,
};
