// Shared by the gap types; private to this folder.

#ifndef PCS_ROWS_GAP_H
#define PCS_ROWS_GAP_H

#include "rows/source.h"

// Fails unless the elements of the node let it move along the unit vector n. Sets *is_free if supports do, too.
pcs_status pcs_gap_look_along(pcs_context *ctx, const pcs_dofmap *map, int node, const double n[3], bool *is_free);
// Fails with the message that a support fixes the node along the normal.
pcs_status pcs_gap_refuse_held(pcs_context *ctx, int node);

// Finds the unit vectors across `normal` along which the node can move: one in the plane, two in space. Returns their
// number, or -1 if there is none and thus no friction.
int pcs_gap_tangents(const pcs_dofmap *map, int node, const double normal[3], double tangent[2][3]);

// Fails unless the node has tangents, as many as the nodes before it.
pcs_status pcs_gap_demand_tangents(pcs_context *ctx, int node, int count, int wanted);

// Fails if supports fix all displacements of the node, so that its gap cannot change.
pcs_status pcs_gap_demand_free(pcs_context *ctx, const pcs_dofmap *map, int node);

// Finds the number of tangents of a node, 1 in the plane and 2 in space, and in the plane its unit normal. Fails if the
// node moves along one line only, or has another number than the nodes before it.
pcs_status pcs_gap_look_round(pcs_context *ctx, const pcs_dofmap *map, int node, bool is_first, int *ntangent,
                              double plane[3]);

// Adds a force at s (0 to 1 along a cell) and at an arm from its axis, split as (1 - s) : s between the cell's nodes.
void pcs_gap_push_cell(pcs_row_direction *out, const int node[2], double s, const double arm[3], const double force[3]);

#endif
