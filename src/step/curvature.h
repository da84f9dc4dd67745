// How the forces of joints and contacts turn with their rows: -d(G^T lam + T^T lam_t)/dq.
//
// A light chain under a tension T with links of length l is held sideways by T / l, and an iteration that leaves this
// out diverges where h^2 T / l exceeds the mass of a link. The derivatives come from central differences of the rows;
// coordinates that have no row in common are moved at once, so that their number does not matter.

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
    pcs_matrix *K;       // the derivative, over the pattern of the system and of the rows
    int *place;          // where the entries of the system's pattern stand in it
    double *q;           // [nv] moved coordinates
    double *way;         // [nv] how far
    double *lam, *lam_t; // [nrow], [ntangent] multipliers, in units of f
} pcs_curvature;

// *out is NULL where there are no joints that turn, or where positions do not add up.
pcs_status pcs_curvature_create(pcs_step_solver *solver, pcs_curvature **out);
// The derivative at q, where the rows stand, for the multipliers z = (nu, La, Lt) of a step and lam, which acts as f
// does (NULL: none). With M U = G^T nu, M W = G^T La the others are c/(h kb) (nu + kw La) in units of f.
void pcs_curvature_fill(pcs_curvature *c, const pcs_step_form *form, const double *q, const double *z,
                        const double *lam);
// S = a M + b C + k (K + the derivative), over its pattern.
void pcs_curvature_combine(const pcs_curvature *c, double a, double b, double k, pcs_matrix *S);

#endif
