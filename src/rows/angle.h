// The angle by which b has turned against a about an axis that a carries, and sums of rows; private to this folder.
//
//   rotations that add up   phi = n . (turn_b - turn_a), past any number of turns
//   rotations in space      phi = atan2(S, C),  S = u_2 . w, C = u_1 . w,  u_1, u_2 across the axis on a, w = u_1 on b
//                           phi' = (C S' - S C') / (C^2 + S^2), known up to whole turns
//
// As long as both ends keep the axis in common phi' is its angular velocity, and it is a true derivative off it, too.

#ifndef PCS_ROWS_ANGLE_H
#define PCS_ROWS_ANGLE_H

#include "rows/ends.h"

typedef struct pcs_joint_angle {
    bool adds_up; // true if phi is unlimited, false if it lies in (-pi, pi]
    double axis[3], first[3], second[3];
} pcs_joint_angle;

extern const double pcs_whole_turn; // 2 pi

void pcs_angle_create(const pcs_joint_end *a, const pcs_joint_end *b, const double axis[3], pcs_joint_angle *out);
// Evaluates the row g = phi, rad.
void pcs_row_turn(const pcs_end_now *a, const pcs_end_now *b, const pcs_joint_angle *angle, pcs_row_state *row);
// Adds `factor` times another row; point and normal remain those of `row`.
void pcs_row_add(pcs_row_state *row, double factor, const pcs_row_state *other);
// Returns true if the case states this axis; axes that are left out are NAN.
static inline bool pcs_axis_given(const double axis[3])
{
    return axis[0] == axis[0];
}

#endif
