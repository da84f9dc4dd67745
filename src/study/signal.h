// A quantity over time, from columns of a table, and what measures take of it; private to this folder.
//
// Between rows a quantity is linear. Of the rows those count in which it is a number.
//   rms difference of a and b over the times [t0, t1] that both have:
//     sqrt(1/(t1 - t0) int (a - b)^2 dt),   exact for the broken lines that they are
//   filtered peak of a force whose impulse since the first row is I(t):
//     max over t of (I(t) - I(t - window))/window,   I = 0 before the first row

#ifndef PCS_STUDY_SIGNAL_H
#define PCS_STUDY_SIGNAL_H

#include "plot/csv.h"

typedef struct pcs_signal {
    int count;
    const double *t, *x; // [count]; times never fall
} pcs_signal;

// A column, or a formula of columns, over the column `t` or, where there is none, over the first one. What is no
// column is PCS_BAD_INPUT. Empty fields count as `empty`; NAN: such rows are left out.
pcs_status pcs_signal_read(pcs_context *ctx, const pcs_csv *csv, const char *formula, double empty, pcs_signal *out);
// NAN outside of its times, but for round-off.
double pcs_signal_at(const pcs_signal *s, double t);
// NAN where there are no common times.
double pcs_signal_rms(const pcs_signal *a, const pcs_signal *b);
// `impulses` are those of the step before each row; NAN without any row.
pcs_status pcs_signal_filtered_peak(pcs_context *ctx, const pcs_signal *impulses, double window, double *out);

#endif
