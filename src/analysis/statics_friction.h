// Friction in a static analysis; private to this folder.

#ifndef PCS_ANALYSIS_STATICS_FRICTION_H
#define PCS_ANALYSIS_STATICS_FRICTION_H

#include "analysis/statics_newton.h"

// Rows R and H of the contacts with friction; without it R is G.
pcs_status pcs_friction_create(pcs_equilibrium *e);
// R and H for the directions as they stand, and sliding since `origin` among the gaps.
void pcs_friction_place(pcs_equilibrium *e, const double *q);
// Who sticks and who slides, from forces and sliding: whether that is other than before.
bool pcs_friction_choose(pcs_equilibrium *e, bool is_single);
// Contacts that slide in a plane push against where they go: whether a direction is other than before.
bool pcs_friction_turn(pcs_equilibrium *e);
// Classifies a correction: no contact slides in a plane, directions rotate, one has a drag, one reverses (not applied).
typedef enum pcs_friction_way {
    PCS_FRICTION_STRAIGHT,
    PCS_FRICTION_CURVED,
    PCS_FRICTION_DRAGS,
    PCS_FRICTION_BACK
} pcs_friction_way;
pcs_friction_way pcs_friction_judge(pcs_equilibrium *e);
// A contact that sticks and yet is moved, by a joint say, answers with any force, and what it does to the rest is worth
// nothing: it slides, and the load step begins again; whether there is one.
bool pcs_friction_yield(pcs_equilibrium *e);
// Forces of contacts that slide or are open follow from their normal ones.
void pcs_friction_settle(pcs_equilibrium *e);
// A contact closes, and sticks for a start, or opens.
void pcs_friction_flip(pcs_equilibrium *e, int row);
// Adds the stiffness from the rotation of sliding directions, or that of their drag, to A.
void pcs_friction_stiffen(pcs_equilibrium *e);

#endif
