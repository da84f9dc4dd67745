// The stiffness of a loaded state: K of the system, and what multipliers add where the directions of rows vary,
//
//   K_g = -d(G(q)^T lam)/dq,
//
// by central differences over the few coordinates that those rows depend on. M and C come along over the same pattern,
// which is that of K with the equations of every varying row joined.

#ifndef PCS_ANALYSIS_STIFFNESS_H
#define PCS_ANALYSIS_STIFFNESS_H

#include "system/system.h"

typedef struct pcs_stiffness {
    pcs_system *system;
    bool varies;          // row directions vary, so that multipliers add to K
    int ntangent;         // number of multipliers along T, which follow those of the rows
    pcs_matrix K, M, C;   // values of C are NULL if the system has none
    int *place;           // [nnz of the system's pattern] index in the new pattern
    int *column;          // [nv] equations that rows with a force depend on
    double *q, *step, *g; // [nv] perturbed state, its perturbation, a column of K_g
} pcs_stiffness;

// Creates the pattern for the current rows, in memory of the system's context.
pcs_status pcs_stiffness_create(pcs_system *system, bool has_friction, pcs_stiffness *out);

// Evaluates K at q with the multipliers lam [nrow, and ntangent with friction] (NULL if none). The system's tangents
// and directions must be those at q, and the directions are so again on return.
void pcs_stiffness_update_K(pcs_stiffness *self, pcs_instant at, const double *lam);
// Returns the error, 1/s^2, of a stiffness over M due to the differences, e.g. of a pendulum; lam as above.
double pcs_stiffness_blur(const pcs_stiffness *self, const pcs_matrix *M, const double *lam);
// Returns true if the largest |A_ij - A_ji| is round-off beside the largest entry; also if A is NULL.
bool pcs_stiffness_is_symmetric(const pcs_matrix *A);
// Copies the current M and C of the system.
void pcs_stiffness_update_M(pcs_stiffness *self);

#define PCS_NO_RATE 1e-7 // velocity of a row, relative to that of the model, that counts as zero

// Returns the largest entry of a change of coordinates, in units of their sizes.
double pcs_stride(const pcs_system *system, const double *x);
// Returns the velocity of row j in the motion x over the sum of its terms if all were as fast as `fastest`, x's stride.
double pcs_row_rate(const pcs_system *system, const pcs_rows *G, int j, const double *x, double fastest);

#endif
