// A matrix bordered by constraint rows that hold:
//
//   [ A    H_h^T ] [ x ]   [ r ]
//   [ G_h    0   ] [ y ] = [ s ]
//
// with H = G, or rows of their own over the pattern of G, as those of contacts that slide with friction.
// If no row holds, only A is factored, by the back end that suits it; otherwise the whole by a general one. Rows are
// scaled to the size of A, and a regularisation of 1e-12 of that size makes redundant rows share their multiplier.

#ifndef PCS_LINSOLVE_BORDERED_H
#define PCS_LINSOLVE_BORDERED_H

#include "linsolve/linsolve.h"

typedef struct pcs_bordered pcs_bordered;

// Creates the solver; A and G are borrowed: factor reads their values. The columns of G may change from one
// factorization to the next. `kind` is that of A, `linear` the back end for it, "auto" for the best.
pcs_status pcs_bordered_create(pcs_context *ctx, const char *linear, const pcs_matrix *A, pcs_linsolve_kind kind,
                               const pcs_rows *G, pcs_bordered **out);
// Sets H, which is borrowed and has the pattern of G.
void pcs_bordered_set_columns(pcs_bordered *self, const pcs_rows *H);
// Sets the scale of the diagonal of A [n], borrowed, for rows where the entries of A nearly vanish.
void pcs_bordered_set_sizes(pcs_bordered *self, const double *size);
// Factors the matrix with the rows for which holds[j] != 0 (none if NULL).
pcs_status pcs_bordered_factor(pcs_bordered *self, const unsigned char *holds, bool *is_singular);
// Solves in place: x [n] from r, y [rows of G] from s, 0 for rows that do not hold; y may be NULL: then s = 0.
void pcs_bordered_solve(pcs_bordered *self, double *x, double *y);

// Returns the sign of the determinant of A on all x that the rows allow, G_h x = 0, if H = G; 0 if not known.
int pcs_bordered_sign(const pcs_bordered *self);
// Returns the equation, or n + the row, at which a singular factorization broke down; -1 if not known.
int pcs_bordered_bad_equation(const pcs_bordered *self);
const char *pcs_bordered_backend(const pcs_bordered *self);
int pcs_bordered_factorizations(const pcs_bordered *self);

#endif
