// Motions in common of equations that a body joins firmly, a second level for preconditioner.h. Where contacts slide,
// bodies move beside each other, and a stretch of a body moves as a whole at the price of its mass, while every single
// equation of it resists by its stiffness. With E, patches of such equations that move alike,
//
//   w + E (E^T T E)^-1 E^T   in place of   w,   so that   B' = B + V (E^T T E)^-1 V^T,   V = R E,
//
// and the preconditioner becomes B'^-1 (N' + X) B'^-1 with the same change in N. By the formula of Woodbury all of it
// comes from solves with B and with the smaller matrix  C = E^T T E + V^T B^-1 V  (two-level method of domain
// decomposition with rigid motions, Farhat, Chen, Mandel 1995):
//
//   a = C^-1 V^T B^-1 r,   x = B^-1 (r - V a),   f = T (w R^T x + E a),   y = R w f + X x
//   B^-1 (y + V b),   b = C^-1 (E^T f - V^T B^-1 y)
//
// Equations that no row holds, if they follow (coupling.h), respond to E a as they do to w R^T x.
//
// Patches are found along the strong entries of S* between equations that tangents touch. They are as long as a stretch
// has to be for its mass to resist as much as its stiffness does, and so feel their neighbours only: C joins patches
// that T or a chain of rows joins, and its factor L D L^T stays within that pattern.

#ifndef PCS_STEP_COARSE_H
#define PCS_STEP_COARSE_H

#include "step/coupling.h"

struct pcs_preconditioner;

typedef struct pcs_coarse {
    int room, count;      // allocated and present number of patches; 0 if there is no second level
    int most, terms;      // allocated size of `columns`, and of the entries of C below its diagonal
    int *patch;           // [equations of the coupling] patch of an equation, or -1
    double *share;        // [equations of the coupling] A_kk
    int *queue, *chain;   // [equations of the coupling] ordered by chains, [equations + 1] first of a chain
    int *size;            // [equations of the coupling] equations per patch of a chain, 0 if it has no patches
    int *from;            // [room + 1] first place of a patch in `queue`
    int *begin, nchain;   // [rows + 1] first row of each chain of rows, in the order of the factor
    int *group, *joined;  // [rows + 1], [entries of the rows] patches coupled by a chain of rows
    int *in, *of;         // [room + 2], [entries of the rows] chains of rows that contain a patch
    int *head, *next;     // [room + 1], [2 terms] neighbours of a patch
    int *order, *rank;    // [room] patch at a place of C, place of a patch
    int *below, *left;    // [room + 1], [terms] pattern of C below its diagonal: first entries of rows, columns
    double *A, *diagonal; // [terms], [room] E^T T E
    double *L, *D;        // C, then its factor
    double *a, *x;        // [room]
    int *local, *member;  // [room] local place of a patch in a chain of rows; patches of the chain
    int *begins;          // [room] first rows of the patches of a chain
    double *columns;      // [most] D^-1/2 L^-1 V of a chain
    bool is_ready;        // C is factored
} pcs_coarse;

// Allocates the second level for the rows of a preconditioner.
pcs_status pcs_coarse_create(pcs_context *ctx, const struct pcs_preconditioner *pre, pcs_coarse **out);
// Finds new patches, after the coupling and the rows have been filled.
void pcs_coarse_fill(pcs_coarse *self, const struct pcs_preconditioner *pre);
// Factors C for the present rows, once B is factored.
void pcs_coarse_factor(pcs_coarse *self, const struct pcs_preconditioner *pre);
// Solves a = C^-1 (a - V^T x).
void pcs_coarse_solve(const pcs_coarse *self, const struct pcs_preconditioner *pre, const double *x, double *a);
// Adds V a to x.
void pcs_coarse_add(const pcs_coarse *self, const struct pcs_preconditioner *pre, const double *a, double *x);

#endif
