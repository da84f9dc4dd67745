// Computes how the forces of joints and contacts change as their rows rotate, -d(G^T lam + T^T lam_t)/dx, and the
// velocities of joints, H = d(G v)/dx.
//
// A light chain under a tension T with links of length l is held sideways by T / l, and an iteration that leaves this
// out diverges where h^2 T / l exceeds the mass of a link. The derivatives come from central differences of the rows;
// coordinates that have no row in common are moved at once, so that their number does not matter. Where positions do
// not add up they come from the slopes of joints (system/slopes.h), and contacts are left out.

#ifndef PCS_STEP_CURVATURE_H
#define PCS_STEP_CURVATURE_H

#include "step/step.h"

typedef struct pcs_curvature {
    pcs_system *system;
    int *column[2];      // columns of G and T, where they belong to the pattern
    int *last[2];        // [nrow], [ntangent] where the entries of a row end, those that fill it up left out
    double *ahead[2];    // values of G and T
    double largest;      // entry of G
    int ncolour;         // sets of coordinates that are moved at once
    int *colour;         // [nv] set of each coordinate; -1: no row knows it
    bool has_slopes;     // of joints, from the system; contacts are left out
    int *slope_place;    // where their entries stand in K
    bool has_rates;      // H is filled: not where joints repeat others, whose rows must stay so
    pcs_rows *H;         // [nrow x nv] d(G v)/dx of joints
    pcs_matrix *K;       // the derivative, over the pattern of the system and of the rows
    int *place;          // where the entries of the system's pattern stand in it; NULL: it is the same
    double *q;           // [nv] moved coordinates
    double *way;         // [nv] how far
    double *lam, *lam_t; // [nrow], [ntangent] multipliers, in units of f
} pcs_curvature;

// *out is NULL where there are no joints that turn, where ranks share the equations, where a chain would become a
// sparse matrix, or where joints in space repeat others.
pcs_status pcs_curvature_create(pcs_step_solver *solver, pcs_curvature **out);
// The derivatives at p->q, where the rows stand, for the multipliers z = (nu, La, Lt) of a step and p->lam, which acts
// as f does, and at p->v; x as in pcs_projection_move_along. With M U = G^T nu, M W = G^T La the first are
// c/(h kb) (nu + kw La) in units of f.
void pcs_curvature_fill(pcs_curvature *c, const pcs_step_form *form, const pcs_step_problem *p, const double *x,
                        const double *z);
// Are all derivatives of joints there?
static inline bool pcs_curvature_is_whole(const pcs_curvature *c)
{
    return c != NULL && c->has_rates;
}
// S = a M + b C + k (K + the derivative), over its pattern.
void pcs_curvature_combine(const pcs_curvature *c, double a, double b, double k, pcs_matrix *S);

#endif
