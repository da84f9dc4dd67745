// Shared by the gap types; private to this folder.

#ifndef PCS_CONTACT_GAP_H
#define PCS_CONTACT_GAP_H

#include "contact/contact.h"

// Adds sign * (displacement of `node` along the point's normal) to the row.
pcs_status pcs_gap_add_node(pcs_context *ctx, const pcs_dofmap *map, int node, double sign, pcs_contact_point *point);

// Unit vectors across `normal` along which the node can move: the plane has one, space two. Gives their number, or -1
// when the node cannot move across the normal at all, which friction needs.
int pcs_gap_tangents(const pcs_dofmap *map, int node, const double normal[3], double tangent[2][3]);

// PCS_BAD_INPUT unless the node has tangents, as many as the nodes before it.
pcs_status pcs_gap_demand_tangents(pcs_context *ctx, int node, int count, int wanted);

// PCS_BAD_INPUT when supports hold all that the node could do, so that its gap cannot change.
pcs_status pcs_gap_demand_free(pcs_context *ctx, const pcs_dofmap *map, int node);

// Unit normal of the plane in which the node moves, or of none: gives its number of tangents, 1 in the plane, 2 in
// space. A node that moves along one line only is PCS_BAD_INPUT, and so is one that moves otherwise than those before
// it.
pcs_status pcs_gap_look_round(pcs_context *ctx, const pcs_dofmap *map, int node, bool is_first, int *ntangent,
                              double plane[3]);

// Shares a force at s (0 to 1 along a cell) between the nodes of the cell, at an arm from its axis.
void pcs_gap_push_cell(pcs_row_direction *out, const int node[2], double s, const double arm[3], const double force[3]);

// A point without a moving term is PCS_BAD_INPUT.
pcs_status pcs_gap_demand_motion(pcs_context *ctx, const pcs_contact_point *point);

#endif
