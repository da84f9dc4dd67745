// Springs and dampers along the global axes, translational and torsional, between two nodes or to the ground.
//
//   force = k (u2 - u1) + c (u2 - u1)' axis by axis, moments alike with kr, cr; small rotations about y and z
//
// It gives its nodes the directions alone in which it has a stiffness or a damper, so that it fits bars, plane frames
// and space frames. Between two nodes it is meant for ends at one place, or apart along the one axis it works on:
// forces across a distance would turn the body.

#ifndef PCS_ELEMENTS_MOUNTING_H
#define PCS_ELEMENTS_MOUNTING_H

#include "elements/modal.h"

typedef struct pcs_mounting_params {
    double stiffness[3], damping[3], torsional_stiffness[3], torsional_damping[3];
    int angles;
} pcs_mounting_params;

extern const pcs_option pcs_mounting_options[];
extern const char *const pcs_mounting_fields[]; // force, moment, strain_energy

pcs_status pcs_mounting_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                  pcs_node_dofs *out);
// nnode 1: to the ground.
pcs_status pcs_mounting_setup(pcs_context *ctx, pcs_batch *batch, int nnode);
void pcs_mounting_read_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                              double field[PCS_MAX_CELL_FIELDS]);

#endif
