// Evaluates a long system slice by slice, equations low <= i < high: forces and energies while these are in the cache.
//
// Equations couple to their neighbours only. So a force needs q and v within its slice and one entry beyond, and sums
// need them within the slice only; contributions across the ends of slices are added at the end, in the order of the
// slices: the bits do not depend on which thread computed which slice when.

#ifndef PCS_SYSTEM_SLICES_H
#define PCS_SYSTEM_SLICES_H

#include "system/system.h"

// Holds both ends of a step. q0 is NULL if no change is needed.
typedef struct pcs_ends {
    const double *q0, *v0, *q, *v;
} pcs_ends;

enum { PCS_SLICE_NUMBERS = 16 };

typedef struct pcs_slice_sums {
    int low, high;
    double weight_work;                // of q, J
    double numbers[PCS_SLICE_NUMBERS]; // sums over the cells, as their system knows them
} pcs_slice_sums;

// Limits the number of equations of a slice from below, except the last one.
enum { PCS_SHORTEST_SLICE = 4096 };

struct pcs_slice_ops {
    // Computes f(t, q, v) on low <= i < high.
    void (*force)(const pcs_system *self, double t, const pcs_ends *at, int low, int high, double *f);
    // Continues the sums over cells within a slice from its `high`, initially `low`, to the given one.
    void (*sum)(const pcs_system *self, const pcs_ends *ends, int high, pcs_slice_sums *out);
    // Fills the results of `measure` and `change` of the system from the sums of all slices, in order.
    void (*measure)(const pcs_system *self, const pcs_ends *ends, int count, const pcs_slice_sums *sums,
                    pcs_measure *out, pcs_change *change);
};

#endif
