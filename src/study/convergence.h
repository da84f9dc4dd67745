// How a result converges over levels of refinement; private to this folder.
//
// With f_1, f_2, f_3 on the three finest levels and the factor r between them (Roache 1994):
//   order p = ln((f_2 - f_1)/(f_3 - f_2))/ln r,   limit = f_3 + (f_3 - f_2)/(r^p - 1),
//   bound = 1.25 |f_3 - f_2|/(r^p - 1)
// In the bound p is taken from 1/2 to 2: a higher order is not trusted on three levels. Values that oscillate get
// no limit, and three times the last change as a bound; those that do not converge get neither.
// A value that is a time comes in steps of time: its grain is part of the bound, and where it changes by no more there
// is no order and no limit to be seen.

#ifndef PCS_STUDY_CONVERGENCE_H
#define PCS_STUDY_CONVERGENCE_H

typedef struct pcs_convergence {
    double value; // on the finest level
    double order, limit, bound;
    const char *kind; // "converges", "exact", "steps", "oscillates", "diverges", "unknown"
} pcs_convergence;

// `grain`: of the value on the finest level; 0: it has none.
pcs_convergence pcs_converge(int count, const double *values, double factor, double grain);
// Of two refinements that end in the same value: both distances to the limit and both bounds add up; where one of them
// does not converge neither does the whole. There is no order.
pcs_convergence pcs_converge_both(const pcs_convergence *a, const pcs_convergence *b);

#endif
