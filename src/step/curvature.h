// Computes how the forces of joints and contacts change as their rows rotate, -d(G^T lam + T^T lam_t)/dx, and the
// velocities of joints, H = d(G v)/dx.
//
// A light chain under a tension T with links of length l is held sideways by T / l, and an iteration that leaves this
// out diverges where h^2 T / l exceeds the mass of a link. The derivatives come from central differences of the rows;
// coordinates that have no row in common are moved at once, so that their number does not matter. Where positions do
// not add up they come from the slopes of joints (system/rotations.h), and contacts are left out.

#ifndef PCS_STEP_CURVATURE_H
#define PCS_STEP_CURVATURE_H

#include "step/step.h"

typedef struct pcs_curvature {
    pcs_system *system;
    int *column[2];      // columns of G and T, as they appear in the pattern
    int *last[2];        // [nrow], [ntangent] end of the entries of a row, without those that pad it
    double *ahead[2];    // values of G and T at the coordinates moved ahead
    double largest;      // largest entry of G by magnitude
    int ncolour;         // number of sets of coordinates that are moved at once
    int *colour;         // [nv] set of each coordinate; -1 if no row depends on it
    bool has_slopes;     // slopes of joints come from the system; contacts are left out
    int *slope_place;    // places of their entries in K
    bool has_rates;      // H is filled: not with redundant joints, whose rows must stay redundant
    pcs_rows *H;         // [nrow x nv] d(G v)/dx of joints
    pcs_matrix *K;       // the derivative, over the pattern of the system and of the rows
    int *place;          // places of the entries of the system's pattern in K; NULL if the patterns are equal
    double *q;           // [nv] moved coordinates
    double *increment;   // [nv] increments of the coordinates
    double *lam, *lam_t; // [nrow], [ntangent] multipliers, in units of f
} pcs_curvature;

// Creates the derivatives. *out is NULL if no joints rotate, if processes share the equations, if a chain would become
// a sparse matrix, or if joints in space are redundant.
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
// Adds h K a + h C b to y, with the curvature (NULL if left out) in K; b may be NULL, and a if K is not needed.
void pcs_step_add_tangent(const pcs_step_solver *solver, const pcs_curvature *curvature, double h, const double *a,
                          const double *b, double *y);

#endif
