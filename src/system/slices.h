// A long system slice by slice: equations low <= i < high, whose forces and energies are had while they are in the
// cache.
//
// Equations couple to those next to them alone. So a force takes q and v within its slice and one entry beyond it, and
// sums take them within the slice alone; what lies across the ends of slices is added when all are done, in the order
// of the slices: the same bits whoever did which slice when.

#ifndef PCS_SYSTEM_SLICES_H
#define PCS_SYSTEM_SLICES_H

#include "system/system.h"

// Both ends of a step. q0 is NULL where no change is asked for.
typedef struct pcs_ends {
    const double *q0, *v0, *q, *v;
} pcs_ends;

typedef struct pcs_slice_sums {
    int low, high;
    double kinetic, strain, weight_work;        // J, of q and v
    double momentum[3], fixed_momentum[3];      // kg m/s
    double change_in_kinetic, change_in_strain; // J, T(v - v0) and V(q - q0)
} pcs_slice_sums;

// The fewest equations of a slice, the last one apart.
enum { PCS_SHORTEST_SLICE = 4096 };

struct pcs_slice_ops {
    // f(t, q, v) on low <= i < high
    void (*force)(const pcs_system *self, double t, const pcs_ends *at, int low, int high, double *f);
    // Goes on with the sums over cells within a slice from its `high`, which is `low` at first, to that given.
    void (*sum)(const pcs_system *self, const pcs_ends *ends, int high, pcs_slice_sums *out);
    // Fills the results of `measure` and `change` of the system from the sums of all slices, in order.
    void (*measure)(const pcs_system *self, const pcs_ends *ends, int count, const pcs_slice_sums *sums,
                    pcs_measure *out, pcs_change *change);
    // The same of a system that is one slice, from both ends of a step.
    void (*measure_whole)(const pcs_system *self, const pcs_ends *ends, pcs_measure *out, pcs_change *change);
};

#endif
