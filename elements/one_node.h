// Declares what one-node elements share: the check of the node's position, mass and inertia tensor of a body.

#ifndef PCS_ELEMENTS_ONE_NODE_H
#define PCS_ELEMENTS_ONE_NODE_H

#include "elements/element.h"

// A node that is nowhere is a fault that names the cell. (Both nodes of a cell that has two.)
pcs_status pcs_one_node_check(pcs_context *ctx, const pcs_batch *batch, int cell);

// Rows of an option table for a parameter struct with the members mass, inertia[3] and products[3].
#define PCS_INERTIA_OPTIONS(type)                                                                  \
    PCS_REAL("mass", type, mass, PCS_REQUIRED, PCS_POSITIVE, "kg"),                                \
        PCS_VECTOR("inertia", type, inertia, PCS_REQUIRED, PCS_POSITIVE,                           \
                   "[Jx, Jy, Jz] about the axes through the node in the reference state, kg m^2"), \
        PCS_VECTOR("products", type, products, PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,           \
                   "[Jxy, Jyz, Jzx], the other entries of the tensor (Jxy = -integral x y dm), kg m^2")

// Row-major tensor.
void pcs_inertia_tensor(const double inertia[3], const double products[3], double J[9]);

// A tensor that is not positive definite is a fault that names the cell.
pcs_status pcs_inertia_check(pcs_context *ctx, const pcs_batch *batch, int cell, const double J[9]);

#endif
