// Simulations from cases that are texts in a test, with their certificates on.

#ifndef TESTS_SUPPORT_TEXT_CASE_H
#define TESTS_SUPPORT_TEXT_CASE_H

#include "sim/sim.h"

typedef struct text_case {
    pcs_context *ctx;
    pcs_sim *sim;
} text_case;

// Parts follow one another and form the text; the last is NULL. Not started yet.
text_case text_case_open(const char *part, ...);
// The same of a text that is printed.
text_case text_case_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
// PCS_OK, or what went wrong; the message is in ctx.
pcs_status text_case_try(const char *text, text_case *out);
// The same in a context that is there already.
pcs_status text_case_build(const char *text, text_case *c);
void text_case_close(text_case *c);
// One step, or all of them; starts when need be. Fails the test when the simulation cannot go on.
void text_case_step(text_case *c);
void text_case_run(text_case *c);

// Position, velocity and reference position of the only node of a set.
void text_case_node(const text_case *c, const char *set, double x[3], double v[3], double reference[3]);
// The vector that x, over the equations, is at a node.
void text_case_vector(const pcs_system *system, int node, const double *x, double out[3]);
// The probe of that column at the present state.
double text_case_probe(const text_case *c, const char *column);
// Number of the reaction of that name.
int text_case_reaction(const text_case *c, const char *name);
// Largest |gap| and |G v + speed| of the joints at the present state.
void text_case_gap_error(const text_case *c, double *gap, double *rate);

#endif
