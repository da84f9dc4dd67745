// Tangents of systems against differences of their forces, rows against those of their gaps.

#ifndef TESTS_SUPPORT_SLOPES_H
#define TESTS_SUPPORT_SLOPES_H

#include "system/system.h"

// K and C, made anew at this instant, are -df/dq and -df/dv by differences of fourth order with this step, up to a part
// of their largest entries and the round-off of the differences.
void slopes_check(pcs_system *system, pcs_instant at, double step, double part);

// Rates and biases of all rows at this instant are the first two derivatives of their gaps along a motion that goes on
// at at.v, by differences of fourth order; a bias may be off by this part of 1 and of itself.
void slopes_check_gaps(pcs_system *system, pcs_instant at, double step, double allowed, double part);

#endif
