// The bars that every scheme is tried on, and the schemes with what they state of themselves: a new scheme gets its
// lines in the table of bars.c.

#ifndef TESTS_SUPPORT_BARS_H
#define TESTS_SUPPORT_BARS_H

#include "support/model.h"

enum { BAR_CELLS = 6, BAR_NODES = BAR_CELLS + 1 };

typedef struct bar_variant {
    const char *scheme, *values;
    double order;        // in smooth motion; INFINITY: as near to exact as can be asked
    bool is_exact_fall;  // keeps a parabola
    double damped_order; // in smooth motion with damping; 0: the same
    bool has_no_impact;  // the node that hits is not sent back within the step
    bool gains_energy;   // over impacts
    double drift;        // m/s, at most: a lasting contact slides into the wall; 0: it stays
    bool chatters;       // a contact at rest is off in every other step
} bar_variant;

extern const bar_variant bar_variants[];
extern const int bar_nvariant;

// 6 kg in 6 cells of 0.5 m, c = 10 m/s: a wave takes 0.029 s through a cell. The group is "bar"; not built yet.
model *bar_create(bool is_damped);
// Every node starts with this displacement and velocity.
void bar_throw(model *m, double displacement, double velocity);
// A bar under load against a wall, thrown from 5 cm; a second contact holds it back on the other side. Built.
model *bar_bouncing(bool is_damped);

extern const double bar_step; // s, which suits all of them

// What the contacts of a run have done so far.
typedef struct bar_history {
    int nimpact, nloaded;
    double impulse; // N s, of all contacts
} bar_history;

// A run of a bar that is built; false, with the bar destroyed, when the scheme does not take it.
bool bar_prepare(const bar_variant *variant, model **m, model_run *run);

void bar_watch(const model_run *run, bar_history *s);

#endif
