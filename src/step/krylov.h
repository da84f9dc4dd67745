// Krylov methods for A x = b, A known by products only, from x = 0. `treat` is a preconditioner, D ~ A^-1; where
// entries of b, A x and D b vanish those of x do, so a subset of equations needs no numbering of its own.
//
// Conjugate gradients for symmetric positive semidefinite A (consistent systems: the solution nearest to zero in the
// metric of D), GMRES with restarts, preconditioned from the right, for the others (Saad, Schultz 1986).

#ifndef PCS_STEP_KRYLOV_H
#define PCS_STEP_KRYLOV_H

#include "core/comm.h"

typedef struct pcs_krylov {
    int n, restart;
    const pcs_comm *comm; // ranks over which the vectors are distributed; NULL if they are not
    void (*product)(void *owner, const double *x, double *y); // y = A x
    void (*treat)(void *owner, const double *r, double *x);   // x = D r
    void *owner;
    int count; // number of products so far
    // Further results of a product, linear in x, and their sum for the solution, if has_side: found without a product.
    const double *side; // [nside]
    double *side_sum;   // [nside]
    bool has_side;
    // work
    int nside;
    double **basis;                             // [restart + 1][n]
    double **sides;                             // [at most restart][nside] of the first directions
    double *H, *cosine, *sine, *g, *dots;       // Hessenberg matrix by columns, rotations, right-hand side
    double *direction, *image, *rest, *treated; // [n]
} pcs_krylov;

// Creates the solver; `side`, filled by products, is borrowed.
pcs_status pcs_krylov_create(pcs_context *ctx, int n, int restart, int nside, const double *side, pcs_krylov **out);

// Solves A x = b and returns |b - A x|; both stop when it is below `tolerance`, after `limit` products, or at a stall.
double pcs_krylov_conjugate(pcs_krylov *k, const double *b, double *x, double tolerance, int limit);
double pcs_krylov_minimal(pcs_krylov *k, const double *b, double *x, double tolerance, int limit);

#endif
