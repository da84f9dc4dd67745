// Discs and other rigid parts on shafts whose deflections and tilts stay small.
//
//   gyroscopic moment -speed Jp (w x a),   a the axis of spin, Jp = a . J a, w the rate of the rotations
//
// in axes that do not spin. So that the angle of spin does not matter the part must be round: a is a principal axis,
// and all axes across it have the same inertia.

#ifndef PCS_ELEMENTS_GYRO_H
#define PCS_ELEMENTS_GYRO_H

#include "elements/inertia.h"
#include "elements/modal.h"

typedef struct pcs_gyro_params {
    double mass, inertia[3], products[3], axis[3];
    double speed; // rad/s, where it is given
} pcs_gyro_params;

#define PCS_GYRO_OPTIONS                  \
    PCS_INERTIA_OPTIONS(pcs_gyro_params), \
        PCS_VECTOR("axis", pcs_gyro_params, axis, PCS_DEFAULT("[1, 0, 0]"), PCS_ANY_NUMBER, "the axis of spin")

pcs_status pcs_gyro_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, bool is_driven, pcs_node_dofs *out);
// The speed is the given one, or that of the node when it is driven.
pcs_status pcs_gyro_setup(pcs_context *ctx, pcs_batch *batch, bool is_driven);

#endif
