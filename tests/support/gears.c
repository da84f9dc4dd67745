#include "support/gears.h"

#include <stdio.h>

const gear_pair gear_pairs[GEAR_PAIRS] = {
    [GEAR_SPUR] = { "rigid_body_2d", "0.3", "0.2", "", "", "", { 0.6, 0, 0 }, { 1, 0, 0 } },
    [GEAR_SPUR_IN_SPACE] = { "rigid_body_3d",
                             "[0.1, 0.2, 0.3]",
                             "[0.1, 0.1, 0.2]",
                             ", axis_a: [0, 0, 1]",
                             ", axis: [0, 0, 1]",
                             ", axis: [0, 0, 1]",
                             { 0.6, 0, 0.3 },
                             { 1, 0, 0 } },
    [GEAR_BEVEL] = { "rigid_body_3d",
                     "[0.1, 0.2, 0.3]",
                     "[0.2, 0.1, 0.3]",
                     ", axis_a: [0, 0, 1], axis_b: [-1, 0, 0], internal: true",
                     ", axis: [0, 0, 1]",
                     ", axis: [1, 0, 0]",
                     { 0.6, 0, 0.4 },
                     { 0.5547001962252291, 0, -0.8320502943378437 } },
};

enum { ROOM = 4096 };

text_case gear_pair_open(int pair, const char *more, double torque, const char *scheme, const char *time)
{
    const gear_pair *w = &gear_pairs[pair];
    char text[ROOM];
    snprintf(text, sizeof text,
             "mesh: { a: { type: point, at: [0, 0, 0] }, b: { type: point, at: [1, 0, 0] } }\n"
             "elements: { a: { type: %s, mesh: a, mass: 2, inertia: %s },\n"
             "            b: { type: %s, mesh: b, mass: 1, inertia: %s } }\n"
             "joints: { left: { type: hinge, node: a%s }, right: { type: hinge, node: b%s },\n"
             "          teeth: { type: gear, a: a, b: b, teeth_a: 30, teeth_b: 20%s%s } }\n"
             "loads: { drive: { type: torque, node: a, value: %.17g, axis: [0, 0, 1] } }\n"
             "scheme: { type: %s }\ntime: %s\n",
             w->kind, w->inertia_a, w->kind, w->inertia_b, w->hinge_a, w->hinge_b, w->axes, more, torque, scheme, time);
    return text_case_open(text, NULL);
}

void gear_pair_touch(int pair, const char *rest, int size, char *more)
{
    const double *at = gear_pairs[pair].at;
    snprintf(more, (size_t)size, ", at: [%.17g, %.17g, %.17g]%s", at[0], at[1], at[2], rest);
}

text_case gear_train_open(bool is_in_space, const char *inner, const char *outer, const char *scheme, const char *time)
{
    static const char *const inertias[][4] = {
        { "0.3", "0.8", "0.5", "0.1" }, { "[0.2, 0.2, 0.3]", "[0.5, 0.5, 0.8]", "[0.3, 0.4, 0.5]", "[0.1, 0.1, 0.1]" }
    };
    const char *const *J = inertias[is_in_space], *kind = is_in_space ? "rigid_body_3d" : "rigid_body_2d";
    const char *hinge = is_in_space ? ", axis: [0, 0, 1]" : "", *gear = is_in_space ? ", axis_a: [0, 0, 1]" : "";
    char text[ROOM];
    snprintf(text, sizeof text,
             "mesh: { sun: { type: point, at: [0, 0, 0] }, ring: { type: point, at: [0, 0, 0] },\n"
             "        arm: { type: point, at: [0, 0, 0] }, planet: { type: point, at: [0.3, 0, 0] } }\n"
             "elements: { sun: { type: %s, mesh: sun, mass: 2, inertia: %s },\n"
             "            ring: { type: %s, mesh: ring, mass: 2, inertia: %s },\n"
             "            arm: { type: %s, mesh: arm, mass: 2, inertia: %s },\n"
             "            planet: { type: %s, mesh: planet, mass: 0.7, inertia: %s } }\n"
             "joints: { s: { type: hinge, node: sun%s }, r: { type: hinge, node: ring%s },\n"
             "          c: { type: hinge, node: arm%s }, p: { type: hinge, a: arm, b: planet, at: [0.3, 0, 0]%s },\n"
             "          inner: { type: gear, a: sun, b: planet, carrier: arm, teeth_a: 20, teeth_b: 10%s%s },\n"
             "          outer: { type: gear, a: planet, b: ring, carrier: arm, teeth_a: 10, teeth_b: 40,\n"
             "                   internal: true%s%s } }\n"
             "loads: { drive: { type: torque, node: sun, value: 2.0, axis: [0, 0, 1] } }\n"
             "scheme: { type: %s }\ntime: %s\n",
             kind, J[0], kind, J[1], kind, J[2], kind, J[3], hinge, hinge, hinge, hinge, gear, inner, gear, outer,
             scheme, time);
    return text_case_open(text, NULL);
}
