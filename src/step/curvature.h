// Computes how the forces of joints change as their rows rotate, -d(G^T lam)/dx, and their velocities, H = d(G v)/dx.
//
// A light chain under a tension T with links of length l is held sideways by T / l, and an iteration that leaves this
// out diverges where h^2 T / l exceeds the mass of a link. The slopes of joints come from the system
// (system/rotations.h); contacts are left out.

#ifndef PCS_STEP_CURVATURE_H
#define PCS_STEP_CURVATURE_H

#include "step/step.h"

typedef struct pcs_curvature {
    pcs_system *system;
    int *slope_place; // places of the entries of the slopes in K
    bool has_rates;   // H is filled: not with redundant joints, whose rows must stay redundant
    pcs_rows *H;      // [nrow x nv] d(G v)/dx of joints
    pcs_matrix *K;    // the derivative, over the pattern of the system and of the slopes
    int *place;       // places of the entries of the system's pattern in K; NULL if the patterns are equal
    double *lam;      // [nrow] multipliers, in units of f
} pcs_curvature;

// Creates the derivatives. *out is NULL without joints or slopes, if processes share the equations, if a chain in space
// would become a sparse matrix, or if joints in space are redundant.
pcs_status pcs_curvature_create(pcs_step_solver *solver, pcs_curvature **out);
// Returns true if all derivatives of joints are present.
static inline bool pcs_curvature_is_whole(const pcs_curvature *c)
{
    return c != NULL && c->has_rates;
}
// Fills the derivatives of rows at p, whose increment is x, under the multipliers z = (nu, La, Lt).
void pcs_curvature_fill(pcs_curvature *c, const pcs_step_form *form, const pcs_step_problem *p, const double *x,
                        const double *z);
// Assembles S* = c M + h C + h kb K at p, whose increment is x (as in pcs_projection_move_along, NULL if positions add
// up), with derivatives of M, of joints under p->lam, and of rows under the multipliers z = (nu, La, Lt): fills the
// derivatives of rows unless c is NULL.
void pcs_step_assemble(pcs_step_solver *solver, pcs_curvature *c, const pcs_step_problem *p, const double *x,
                       const double *z, pcs_matrix *S);

#endif
