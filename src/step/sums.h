// Sums over contact rows. Where rows are spread over the ranks of a communicator, their sums are joined here and
// nowhere else, with the same bits on every rank. Products with all rows at once belong to them.

#ifndef PCS_STEP_SUMS_H
#define PCS_STEP_SUMS_H

#include "core/matrix.h"

// Reduces over the entries on this rank: a . b, and the largest magnitude.
double pcs_sum_dot(int n, const double *a, const double *b);
double pcs_sum_largest(int n, const double *x); // largest magnitude; NAN if an entry is

// Reduces over all ranks; comm is NULL for a single process. A maximum is infinite if a rank has a NaN.
double pcs_all_largest(const pcs_comm *comm, int n, const double *x);
double pcs_all_max(const pcs_comm *comm, double here);

#endif
