// Linear cells through their deformations: e = B q, K = B^T D B, with the rigid motions in the null space of B.
//
// Working with e and not with K q keeps the strains of a body that has moved far. Cells of one shape share a kind.
// A cell of one node and no modes is a mass. Damping force (alpha M + beta K + C) v, or (alpha M + beta K + s C) v with
// the speed s = spin . v of a driven cell; C is then skew, so that it takes no power at any speed, and damping by mass
// is about deflections: it does not brake the spin.

#ifndef PCS_ELEMENTS_MODAL_H
#define PCS_ELEMENTS_MODAL_H

#include "elements/cell.h"

enum { PCS_MAX_MODES = 6 };

// Holds damping besides Rayleigh's: dampers and gyroscopic moments.
typedef struct pcs_modal_own {
    double C[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS]; // [ndof][ndof] in global axes
    double spin[PCS_MAX_CELL_DOFS];                  // [ndof] speed = spin . v of a driven cell
    // [ndof][ndof] of a driven cell: M without the spin, for Rayleigh damping by mass
    double drag[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
} pcs_modal_own;

typedef struct pcs_modal_kind {
    double B[PCS_MAX_MODES * PCS_MAX_CELL_DOFS];     // [nmode][ndof] in global axes
    double D[PCS_MAX_MODES * PCS_MAX_MODES];         // [nmode][nmode] symmetric
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS]; // [ndof][ndof] in global axes
    pcs_modal_own *own;                              // NULL if absent
} pcs_modal_kind;

typedef struct pcs_modal {
    pcs_cell_shape shape;
    int nmode, nkind;
    pcs_modal_kind *kinds; // [nkind]
    int *kind;             // [ncell] index of the kind
    bool is_driven;        // C is per unit of the cell's own speed: forces speed C v, nonlinear
} pcs_modal;

// Fills the kind of a cell, zeroed before; kind->own is not NULL in elements that see velocities.
typedef void pcs_modal_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind);

typedef struct pcs_modal_form {
    int nmode, translations; // translations: the first dofs of each node are displacements; 0 if all are
    pcs_modal_make *make;
} pcs_modal_form;

// Makes the kind of every cell, with one copy of equal cells near one another. batch->data becomes the pcs_modal. An
// element whose forces depend on velocities has its own damping. If it is nonlinear as well, it is driven.
pcs_status pcs_modal_setup(pcs_context *ctx, pcs_batch *batch);

// Computes the deformations of one cell for displacements q.
void pcs_modal_deform(const pcs_batch *batch, int cell, const double *q, double e[PCS_MAX_MODES]);

// Implements the element's operations.
void pcs_modal_matrices(const pcs_batch *batch, int cell, const pcs_cell_state *at, double *M, double *K, double *C);
void pcs_modal_force(const pcs_batch *batch, const pcs_cell_state *at, double *f);
void pcs_modal_measure(const pcs_batch *batch, const pcs_cell_state *at, unsigned what, pcs_cell_sums *sum);

#define PCS_MODAL_KERNELS(...)                                                                                 \
    .modal = &(const pcs_modal_form){ __VA_ARGS__ }, .setup = pcs_modal_setup, .matrices = pcs_modal_matrices, \
    .force = pcs_modal_force, .measure = pcs_modal_measure

// Fails if a node of the cell (one or two) has no finite position; the message names the cell.
pcs_status pcs_one_node_check(pcs_context *ctx, const pcs_batch *batch, int cell);

#endif
