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
    bool varies;          // rows add to K
    int ntangent;         // multipliers along T that follow those of the rows
    pcs_matrix K, M, C;   // values of C are NULL where the system has none
    int *place;           // [nnz of the system's pattern] in the new one
    int *column;          // [nv] equations that rows with a force depend on
    double *q, *step, *g; // [nv] a state beside, a step to it, a column of K_g
} pcs_stiffness;

// For the rows as they stand now. Takes memory from the system's context.
pcs_status pcs_stiffness_create(pcs_system *system, bool has_friction, pcs_stiffness *out);

// K with the multipliers lam [nrow, and ntangent with friction] (NULL: none) at q; the system's own tangents and
// directions must be those at q, and
// the directions are so again afterwards.
void pcs_stiffness_update_K(pcs_stiffness *self, pcs_instant at, const double *lam);
// M and C as the system has them now.
void pcs_stiffness_update_M(pcs_stiffness *self);

#endif
