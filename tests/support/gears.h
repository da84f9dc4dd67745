// Gears that several tests turn: two wheels, and a sun, planet, ring and carrier.

#ifndef TESTS_SUPPORT_GEARS_H
#define TESTS_SUPPORT_GEARS_H

#include "support/text_case.h"

// Wheels of 30 and 20 teeth at [0, 0, 0] and [1, 0, 0]: inertias 0.3 and 0.2 kg m^2 about the axes that they turn by.
typedef struct gear_pair {
    const char *kind, *inertia_a, *inertia_b, *axes, *hinge_a, *hinge_b;
    double at[3], across[3]; // where the pitch circles touch; n, into b
} gear_pair;

enum { GEAR_SPUR, GEAR_SPUR_IN_SPACE, GEAR_BEVEL, GEAR_PAIRS };
extern const gear_pair gear_pairs[GEAR_PAIRS];

// The pair driven by a torque on a, its hinges `left` and `right` and its `teeth`, for which `more` says more (", at:
// ..."); scheme as after `type: `, time after `time: `.
text_case gear_pair_open(int pair, const char *more, double torque, const char *scheme, const char *time);
// Where the pitch circles touch, as `more` takes it, and what stands behind it.
void gear_pair_touch(int pair, const char *rest, int size, char *more);

// Hinges `s`, `r`, `c` and `p` of `sun`, `ring`, `arm` and `planet`, and gears `inner` and `outer` of 20, 10 and 40
// teeth, driven by 2 N m on the sun. `inner` and `outer` say more of the gears; the pitch circles touch at 0.2 m and
// 0.4 m, the planet is at 0.3 m.
text_case gear_train_open(bool is_in_space, const char *inner, const char *outer, const char *scheme, const char *time);

#endif
