// Forces that a user of the system adds to its own, constant from one call of the scheme to the next: of a controller,
// of another model.
//
//   f := f + p,   work := work + p . (way from q0 to q1),   resultant := resultant + sum_i p_i d_i
//
// A system without such forces has no overhead: its operations are replaced when the forces are asked for.

#ifndef PCS_SYSTEM_PUSH_H
#define PCS_SYSTEM_PUSH_H

#include "system/system.h"

// Allocates forces p [nv], zeroed, and adds them to those of the system. Further calls return the same forces.
pcs_status pcs_push_create(pcs_system *self, double **out);

#endif
