// Two doubles at once, for the few loops that the compiler does not vectorize by itself.

#ifndef PCS_CORE_DOUBLE2_H
#define PCS_CORE_DOUBLE2_H

#include <string.h>

typedef double pcs_double2 __attribute__((vector_size(16)));

static inline pcs_double2 pcs_double2_load(const double *from)
{
    pcs_double2 p;
    memcpy(&p, from, sizeof p);
    return p;
}

static inline void pcs_double2_store(double *to, pcs_double2 p)
{
    memcpy(to, &p, sizeof p);
}

// Returns the first entries of a and b; the next two, the second entries, and the first of a with the second of b.
static inline pcs_double2 pcs_double2_firsts(pcs_double2 a, pcs_double2 b)
{
    return __builtin_shufflevector(a, b, 0, 2);
}

static inline pcs_double2 pcs_double2_seconds(pcs_double2 a, pcs_double2 b)
{
    return __builtin_shufflevector(a, b, 1, 3);
}

static inline pcs_double2 pcs_double2_outer(pcs_double2 a, pcs_double2 b)
{
    return __builtin_shufflevector(a, b, 0, 3);
}

#endif
