// An order of nodes in which neighbours have close numbers.

#ifndef PCS_MESH_ORDER_H
#define PCS_MESH_ORDER_H

#include "core/context.h"

// Computes the new number place[i] of node i, 0 .. nnode-1. A chain of cells is numbered from one end to the other,
// from the end that comes first; any other part by the distance from an end of it.
pcs_status pcs_mesh_order(pcs_context *ctx, int nnode, int ncell, const int (*cell)[2], int *place);

#endif
