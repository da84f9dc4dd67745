// Shared by the gap types; private to this folder.

#ifndef PCS_CONTACT_GAP_H
#define PCS_CONTACT_GAP_H

#include "contact/contact.h"

// False when the vector has no direction.
bool pcs_gap_normalize(const double raw[3], double unit[3]);

// Adds sign * (displacement of `node` along the point's normal) to the row.
pcs_status pcs_gap_add_node(pcs_context *ctx, const pcs_dofmap *map, int node, double sign, pcs_contact_point *point);

// A point without a moving term is PCS_BAD_INPUT.
pcs_status pcs_gap_demand_motion(pcs_context *ctx, const pcs_contact_point *point);

#endif
