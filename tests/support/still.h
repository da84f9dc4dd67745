// Models for analyses in which nothing moves, from case text in memory.

#ifndef TESTS_SUPPORT_STILL_H
#define TESTS_SUPPORT_STILL_H

#include "analysis/modes.h"
#include "analysis/statics.h"

typedef struct still {
    pcs_context *ctx;
    pcs_analysis on;
} still;

// The case from its text, with assignments separated by ';' (NULL: none); any failure fails the test with its message.
still still_open(const char *text, const char *assignments);
// The same with assignments that are printed; without a text they are the text.
still still_print(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void still_close(still *s);

// Modes about the reference state.
pcs_modes still_modes(still *s, int count, pcs_eigen_method method);
// Equilibrium with at least so many load steps (0: as usual); q is [nq], zero before.
pcs_statics still_statics(still *s, int steps, double *q);

// The value of a probe of the case at rest.
double still_probe(const still *s, const char *column, const double *q);

#endif
