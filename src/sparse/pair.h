// Two doubles at once, for the few loops where the compiler does not see that it may.

#ifndef PCS_SPARSE_PAIR_H
#define PCS_SPARSE_PAIR_H

#include <string.h>

typedef double pcs_pair __attribute__((vector_size(16)));

static inline pcs_pair pcs_pair_load(const double *from)
{
    pcs_pair p;
    memcpy(&p, from, sizeof p);
    return p;
}

static inline void pcs_pair_store(double *to, pcs_pair p)
{
    memcpy(to, &p, sizeof p);
}

// First entries of a and b, second entries of a and b, first of a with second of b.
static inline pcs_pair pcs_pair_firsts(pcs_pair a, pcs_pair b)
{
    return __builtin_shufflevector(a, b, 0, 2);
}

static inline pcs_pair pcs_pair_seconds(pcs_pair a, pcs_pair b)
{
    return __builtin_shufflevector(a, b, 1, 3);
}

static inline pcs_pair pcs_pair_outer(pcs_pair a, pcs_pair b)
{
    return __builtin_shufflevector(a, b, 0, 3);
}

#endif
