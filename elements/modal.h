// Linear cells through their deformations: e = B q, K = B^T D B, with the rigid motions in the null space of B.
//
// Working with e and not with K q keeps the strains of a body that has moved far. Cells of one shape share a kind.

#ifndef PCS_ELEMENTS_MODAL_H
#define PCS_ELEMENTS_MODAL_H

#include "elements/element.h"

enum { PCS_MAX_MODES = 6 };

typedef struct pcs_modal_kind {
    double B[PCS_MAX_MODES * PCS_MAX_CELL_DOFS];     // [nmode][ndof] in global axes
    double D[PCS_MAX_MODES * PCS_MAX_MODES];         // [nmode][nmode] symmetric
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS]; // [ndof][ndof] in global axes
} pcs_modal_kind;

typedef struct pcs_modal {
    int ndof, nmode, nkind;
    pcs_modal_kind *kinds;                  // [nkind]
    int *kind;                              // [ncell]
    double direction[PCS_MAX_CELL_DOFS][3]; // of the translational dofs, zero for rotations
} pcs_modal;

// Makes the kind of every cell through `make`, keeping one copy of equal neighbours.
pcs_status pcs_modal_create(pcs_context *ctx, pcs_batch *batch, int ndof, int nmode,
                            void (*make)(const pcs_batch *batch, int cell, pcs_modal_kind *kind), pcs_modal **out);

// Deformations of one cell for displacements q.
void pcs_modal_deform(const pcs_batch *batch, int cell, const double *q, double e[PCS_MAX_MODES]);

// The element's operations; batch->data is the pcs_modal.
void pcs_modal_matrices(const pcs_batch *batch, int cell, double *M, double *K);
void pcs_modal_add_force(const pcs_batch *batch, const double *q, const double *v, double *f);
void pcs_modal_add_energy(const pcs_batch *batch, const double *q, const double *v, pcs_energy *sum);
void pcs_modal_add_change(const pcs_batch *batch, const double *q0, const double *q1, const double *v0,
                          const double *v1, pcs_energy *sum);
void pcs_modal_add_resultant(const pcs_batch *batch, const double *q, const double *v, double sum[3]);

#endif
