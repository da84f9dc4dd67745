// Tangents of systems against differences of their forces.

#ifndef TESTS_SUPPORT_SLOPES_H
#define TESTS_SUPPORT_SLOPES_H

#include "system/system.h"

// K and C, made anew at this instant, are -df/dq and -df/dv by differences of fourth order with this step, up to a part
// of their largest entries and the round-off of the differences.
void slopes_check(pcs_system *system, pcs_instant at, double step, double part);

#endif
