// Sums over all contact rows, in one place: where rows are spread over processes, their sums are joined here and
// nowhere else. Products with all rows at once belong to them.

#ifndef PCS_STEP_SUMS_H
#define PCS_STEP_SUMS_H

#include "sparse/matrix.h"

double pcs_sum_dot(int n, const double *a, const double *b);
// dots[k] = basis[k] . x for `count` vectors: one exchange for all.
void pcs_sum_dots(int n, int count, double *const *basis, const double *x, double *dots);
double pcs_sum_largest(int n, const double *x); // by size; NAN when an entry is
double pcs_sum_max(double here);
long pcs_sum_count(long here);
double pcs_sum_total(double here);
unsigned long long pcs_sum_marks(unsigned long long here); // of sets: wraps round

// y += sum over rows of z[row] G_row^T
void pcs_rows_add_all(const pcs_rows *G, double scale, const double *z, double *y);

#endif
