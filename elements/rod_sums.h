// Sums over the equations of a run of rods, x_0 .. x_n of its n cells, from which energies and momenta follow.

#ifndef PCS_ELEMENTS_ROD_SUMS_H
#define PCS_ELEMENTS_ROD_SUMS_H

typedef struct pcs_rod_sums {
    double strain; // sum (q_i+1 - q_i)^2
    double square; // sum v_i^2 + v_i+1^2
    double cross;  // sum v_i v_i+1
    double plain;  // sum v_i + v_i+1
} pcs_rod_sums;

// Computes all sums of one state.
void pcs_rod_run_sums(int n, const double *q, const double *v, pcs_rod_sums *out);
// Computes `square` from the squares of v_i + v_i+1, the only terms of M = (m/4) [1 1; 1 1], and no `cross`: a sawtooth
// in v, which may be large, cancels before it is rounded.
void pcs_rod_run_pairs(int n, const double *q, const double *v, pcs_rod_sums *out);
// Computes the sums of the difference of two states, q[1] - q[0] and v[1] - v[0], except `plain`.
void pcs_rod_run_change(int n, const double *const q[2], const double *const v[2], pcs_rod_sums *out);
// Computes the sums of the second state in out[0], and those of the difference in out[1].
void pcs_rod_run_both(int n, const double *const q[2], const double *const v[2], pcs_rod_sums out[2]);

#endif
