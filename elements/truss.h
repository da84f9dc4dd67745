// What the rods in the plane and in space share: options, and the axis of a cell.

#ifndef PCS_ELEMENTS_TRUSS_H
#define PCS_ELEMENTS_TRUSS_H

#include "elements/modal.h"

typedef struct pcs_truss_params {
    double E, rho, area;
    int mass;
} pcs_truss_params;

enum { PCS_TRUSS_CONSISTENT, PCS_TRUSS_LUMPED };

extern const pcs_option pcs_truss_options[];
extern const char *const pcs_truss_fields[]; // axial_force, stress, strain_energy

// Vector from the first node to the second, and its length.
double pcs_truss_span(const pcs_batch *batch, int cell, double span[3]);

// x, y and z of a node, the last ones absent where dim is less than 3. A cell of no length, or one that leaves the line
// or plane, is a fault.
pcs_status pcs_truss_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int dim, pcs_node_dofs *out);

// The linear rod with `dim` displacements at each node; batch->data is a pcs_modal.
pcs_status pcs_truss_setup(pcs_context *ctx, pcs_batch *batch, int dim);
void pcs_truss_read_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                           double field[PCS_MAX_CELL_FIELDS]);

#endif
