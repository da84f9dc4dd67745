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

// Damping besides Rayleigh's: dampers and gyroscopic moments.
typedef struct pcs_modal_own {
    double C[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS]; // [ndof][ndof] in global axes
    double spin[PCS_MAX_CELL_DOFS];                  // [ndof] speed = spin . v of a driven cell
    // [ndof][ndof] of a driven cell: M without the spin, which Rayleigh's damping by mass leaves alone
    double drag[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS];
} pcs_modal_own;

typedef struct pcs_modal_kind {
    double B[PCS_MAX_MODES * PCS_MAX_CELL_DOFS];     // [nmode][ndof] in global axes
    double D[PCS_MAX_MODES * PCS_MAX_MODES];         // [nmode][nmode] symmetric
    double M[PCS_MAX_CELL_DOFS * PCS_MAX_CELL_DOFS]; // [ndof][ndof] in global axes
    pcs_modal_own *own;                              // NULL where there is none
} pcs_modal_kind;

typedef struct pcs_modal {
    pcs_cell_shape shape;
    int nmode, nkind;
    pcs_modal_kind *kinds; // [nkind]
    int *kind;             // [ncell]
    bool is_driven;        // its C is per unit of the cell's own speed: forces speed C v, nonlinear
} pcs_modal;

// Fills the kind of a cell, which it finds zeroed; kind->own is there in elements that see velocities.
typedef void pcs_modal_make(const pcs_batch *batch, int cell, pcs_modal_kind *kind);

// Makes the kind of every cell, keeping one copy of equal cells near one another; batch->data is the pcs_modal then.
// The first `translations` dofs of each node are displacements. An element that sees velocities has damping of its own,
// and one that is nonlinear besides is driven.
pcs_status pcs_modal_setup(pcs_context *ctx, pcs_batch *batch, int nmode, int translations, pcs_modal_make *make);

// Deformations of one cell for displacements q.
void pcs_modal_deform(const pcs_batch *batch, int cell, const double *q, double e[PCS_MAX_MODES]);

// The element's operations.
void pcs_modal_matrices(const pcs_batch *batch, int cell, double *M, double *K);
void pcs_modal_add_force(const pcs_batch *batch, const double *q, const double *v, double *f);
void pcs_modal_tangents(const pcs_batch *batch, int cell, const double *q, const double *v, double *K, double *C);
double pcs_modal_dissipation(const pcs_batch *batch, const double *q, const double *v, const double *u);
void pcs_modal_add_energy(const pcs_batch *batch, const double *q, const double *v, pcs_energy *sum);
void pcs_modal_add_change(const pcs_batch *batch, const double *q0, const double *q1, const double *v0,
                          const double *v1, pcs_energy *sum);
void pcs_modal_add_resultant(const pcs_batch *batch, const double *q, const double *v, double sum[3]);

#define PCS_MODAL_KERNELS                                                                                         \
    .matrices = pcs_modal_matrices, .add_force = pcs_modal_add_force, .tangents = pcs_modal_tangents,             \
    .dissipation = pcs_modal_dissipation, .add_energy = pcs_modal_add_energy, .add_change = pcs_modal_add_change, \
    .add_resultant = pcs_modal_add_resultant

// The field `kinetic_energy` of cells that are masses.
extern const char *const pcs_modal_mass_fields[];
void pcs_modal_read_mass_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                                double field[PCS_MAX_CELL_FIELDS]);

#endif
