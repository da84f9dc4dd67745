// Linear rods that carry axial force only, with displacements along the global axes.
//
//   e = n . (u2 - u1),   N = (E A / L) e,   M = m/6 [2 1; 1 2] or m/2 [1 0; 0 1] in every direction,   m = rho A L

#include "elements/truss.h"

#include "core/rotation.h"

#include <math.h>

static const char *const truss_masses[] = { "consistent", "lumped", NULL };

const pcs_option pcs_truss_options[] = {
    PCS_REAL("E", pcs_truss_params, E, PCS_REQUIRED, PCS_POSITIVE, "Young's modulus, N/m^2"),
    PCS_REAL("rho", pcs_truss_params, rho, PCS_REQUIRED, PCS_POSITIVE, "density, kg/m^3"),
    PCS_REAL("area", pcs_truss_params, area, PCS_REQUIRED, PCS_POSITIVE, "cross section, m^2"),
    PCS_CHOICE("mass", pcs_truss_params, mass, PCS_DEFAULT("consistent"), truss_masses, "mass matrix"),
    { 0 },
};

const char *const pcs_truss_fields[] = { "axial_force", "stress", "strain_energy", NULL };

double pcs_truss_span(const pcs_batch *batch, int cell, double span[3])
{
    const int *node = batch->nodes[batch->cells[cell]];
    for (int k = 0; k < 3; k++) span[k] = batch->x[node[1]][k] - batch->x[node[0]][k];
    return sqrt(pcs_dot3(span, span));
}

pcs_status pcs_truss_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int dim, pcs_node_dofs *out)
{
    double span[3], length = pcs_truss_span(batch, cell, span);
    *out = (pcs_node_dofs){ .count = 3 };
    for (int k = 0; k < dim; k++) out->direction[k][k] = 1.0;
    if (!(length > 0.0) || !isfinite(length))
        return pcs_fail(ctx, PCS_BAD_INPUT, "element group '%s': cell %d has length %g, must be > 0", batch->name,
                        batch->cells[cell], length);
    for (int k = dim; k < 3; k++)
        if (fabs(span[k]) > 1e-9 * length)
            return pcs_fail(ctx, PCS_BAD_INPUT,
                            "element group '%s': cell %d leaves the %s: its ends differ by %g in %c", batch->name,
                            batch->cells[cell], dim == 1 ? "line along x" : "x-y plane", span[k], "xyz"[k]);
    return PCS_OK;
}

static void truss_make(const pcs_batch *batch, int cell, int dim, pcs_modal_kind *kind)
{
    const pcs_truss_params *p = batch->params;
    double span[3], length = pcs_truss_span(batch, cell, span), m = p->rho * p->area * length;
    double self = p->mass == PCS_TRUSS_LUMPED ? m / 2.0 : m / 3.0;
    double other = p->mass == PCS_TRUSS_LUMPED ? 0.0 : m / 6.0;
    int n = 2 * dim;
    kind->D[0] = p->E * p->area / length;
    for (int k = 0; k < dim; k++) {
        kind->B[k] = -span[k] / length;
        kind->B[dim + k] = span[k] / length;
        kind->M[k * n + k] = kind->M[(dim + k) * n + dim + k] = self;
        kind->M[k * n + dim + k] = kind->M[(dim + k) * n + k] = other;
    }
}

static void truss_make_2d(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    truss_make(batch, cell, 2, kind);
}

static void truss_make_3d(const pcs_batch *batch, int cell, pcs_modal_kind *kind)
{
    truss_make(batch, cell, 3, kind);
}

pcs_status pcs_truss_setup(pcs_context *ctx, pcs_batch *batch, int dim)
{
    pcs_modal *modal;
    PCS_TRY(pcs_modal_create(ctx, batch, 2 * dim, 1, dim == 2 ? truss_make_2d : truss_make_3d, &modal));
    for (int i = 0; i < 2 * dim; i++) modal->direction[i][i % dim] = 1.0;
    batch->data = modal;
    return PCS_OK;
}

void pcs_truss_read_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                           double field[PCS_MAX_CELL_FIELDS])
{
    (void)v; // the damping force is not part of the elastic stress
    const pcs_modal *modal = batch->data;
    double e[PCS_MAX_MODES], stiffness = modal->kinds[modal->kind[cell]].D[0];
    pcs_modal_deform(batch, cell, q, e);
    field[0] = stiffness * e[0];
    field[1] = field[0] / ((const pcs_truss_params *)batch->params)->area;
    field[2] = 0.5 * stiffness * e[0] * e[0];
}
