// What the elements of one node share.

#ifndef PCS_ELEMENTS_ONE_NODE_H
#define PCS_ELEMENTS_ONE_NODE_H

#include "elements/element.h"

// A node that is nowhere is a fault that names the cell. (Both nodes of a cell that has two.)
pcs_status pcs_one_node_check(pcs_context *ctx, const pcs_batch *batch, int cell);

// Three displacements and three rotations along the global axes.
void pcs_one_node_space(pcs_node_dofs *out);

#endif
