// A node that rides rigidly on another, or on the ground: what `fixed` and `rigid_link` are made of; private to this
// folder.

#ifndef PCS_JOINT_WELD_H
#define PCS_JOINT_WELD_H

#include "joint/pair.h"

// The directions of the rows never change.
bool pcs_weld_is_constant(const pcs_joint_pair *pair);
int pcs_weld_rows(const pcs_joint_pair *pair);
void pcs_weld_shape(const pcs_joint_pair *pair, pcs_joint_shape *shape);
// Evaluates the rows; gives their number.
int pcs_weld_evaluate(const pcs_joint_pair *pair, const pcs_end_now *a, const pcs_end_now *b, pcs_row_state *rows);

#endif
