// Sums over contact rows.

#ifndef PCS_STEP_SUMS_H
#define PCS_STEP_SUMS_H

double pcs_sum_dot(int n, const double *a, const double *b);
double pcs_sum_largest(int n, const double *x); // largest magnitude; NAN if an entry is

#endif
