// Two nodes and an axial force along the line that joins them at present: large rods and spring-dampers.
//
//   N = k (l - l0) + F0 + c l',   l = |d + u2 - u1|,   l' = n . (v2 - v1)
//
// Exact tangents: with P = I - n n^T and w = v2 - v1, the blocks of K are +-(n (k n + c P w / l)^T + (N / l) P) and
// those of C are +-c n n^T. The elongation comes from displacements, (l^2 - L^2)/(l + L), without cancellation.

#ifndef PCS_ELEMENTS_AXIAL_H
#define PCS_ELEMENTS_AXIAL_H

#include "elements/element.h"

typedef struct pcs_axial_cell {
    double span[3], length; // m, in the reference state
    double stiffness;       // k, N/m
    double damping;         // c, N s/m, with the part of Rayleigh
    double slack;           // L - l0, m
    double preload;         // F0, N
    double self, other;     // kg, M = [self other; other self] in every direction
} pcs_axial_cell;

typedef struct pcs_axial {
    int dim; // displacements of a node
    pcs_axial_cell *cell;
} pcs_axial;

// For parameters of the type pcs_truss_params.
pcs_status pcs_axial_setup_rod(pcs_context *ctx, pcs_batch *batch, int dim);
// Takes the memory and fills in the geometry.
pcs_status pcs_axial_create(pcs_context *ctx, pcs_batch *batch, int dim, pcs_axial **out);

// The present elongation over l0 and its rate.
void pcs_axial_stretch(const pcs_batch *batch, int cell, const double *q, const double *v, double *stretch,
                       double *rate);

// The element's operations; batch->data is the pcs_axial.
void pcs_axial_matrices(const pcs_batch *batch, int cell, double *M, double *K);
void pcs_axial_add_force(const pcs_batch *batch, const double *q, const double *v, double *f);
void pcs_axial_tangents(const pcs_batch *batch, int first, int count, const double *q, const double *v, double *K,
                        double *C);
double pcs_axial_dissipation(const pcs_batch *batch, const double *q, const double *v);
void pcs_axial_add_energy(const pcs_batch *batch, const double *q, const double *v, pcs_energy *sum);
void pcs_axial_add_resultant(const pcs_batch *batch, const double *q, const double *v, double sum[3]);
void pcs_axial_read_rod_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                               double field[PCS_MAX_CELL_FIELDS]);

#endif
