// Two nodes and an axial force along the line that joins them at present: rods and spring-dampers.
//
//   N = k (l - l0) + F0 + c l' (or by axial_law.h),   l = |d + u2 - u1|,   l' = n . (v2 - v1)
//
// Exact tangents: with P = I - n n^T and w = v2 - v1, the blocks of K are +-(n (k n + c P w / l)^T + (N / l) P) and
// those of C are +-c n n^T. The elongation comes from displacements, (l^2 - L^2)/(l + L), without cancellation.

#ifndef PCS_ELEMENTS_AXIAL_H
#define PCS_ELEMENTS_AXIAL_H

#include "elements/axial_law.h"
#include "elements/cell.h"
#include "elements/taper.h"

typedef struct pcs_axial_cell {
    double span[3], length;       // m, in the reference state
    double stiffness;             // k, N/m
    double damping;               // c, N s/m, with the part of Rayleigh
    double slack;                 // L - l0, m
    double preload;               // F0, N
    double self, self_end, other; // kg, M = [self other; other self_end] in every direction
} pcs_axial_cell;

typedef struct pcs_axial {
    pcs_cell_shape shape;
    pcs_axial_cell *cell;     // [ncell]
    const pcs_axial_law *law; // in place of k, and besides c; NULL: the cells are linear
} pcs_axial;

// A cell at present.
typedef struct pcs_axial_view {
    double stretch, rate;      // over l0, m, and m/s
    double tension;            // N, with the damper
    double stiffness, damping; // dN/dl and dN/dl'
    double energy, drag;       // J; part of the damper, N
} pcs_axial_view;

// Holds direction, relative velocity, length and force of a cell in the current state.
typedef struct pcs_axial_state {
    double n[3], w[3]; // along the line; difference of the velocities of its ends
    double length;
    pcs_axial_view at;
} pcs_axial_state;

typedef struct pcs_rod_params {
    double E, rho;
    pcs_profile area;
    double nu, polar; // of lateral inertia; 0: none
    int mass;
} pcs_rod_params;

enum { PCS_ROD_CONSISTENT, PCS_ROD_LUMPED, PCS_ROD_ONE_POINT, PCS_ROD_TUNED, PCS_ROD_AUTO }; // trusses: the first two

// Rows of an option table.
#define PCS_ROD_MATERIAL                                                                     \
    PCS_REAL("E", pcs_rod_params, E, PCS_REQUIRED, PCS_POSITIVE, "Young's modulus, N/m^2"),  \
        PCS_REAL("rho", pcs_rod_params, rho, PCS_REQUIRED, PCS_POSITIVE, "density, kg/m^3"), \
        PCS_PROFILE("area", pcs_rod_params, area, PCS_REQUIRED, PCS_POSITIVE, "cross section, m^2")

extern const pcs_section_type pcs_rod_area; // of parameters that are pcs_rod_params

// Area of a cell, in the mean where it varies, and shares of its mass: M = rho A L [self other; other self_end].
typedef struct pcs_rod_cell {
    double area;
    double self, self_end, other;
    bool is_uniform; // the area is one all along the cell
} pcs_rod_cell;

// With a consistent mass, or a lumped one.
pcs_rod_cell pcs_rod_find_cell(const pcs_batch *batch, int cell, bool is_lumped);

extern const pcs_option pcs_rod_options[];
extern const char *const pcs_rod_fields[];     // axial_force, stress, strain_energy
extern const char *const pcs_rod_end_fields[]; // axial_start and axial_end, and the stress likewise
// Those at the ends, of the tension in between and the batch's loads along the cell; `axis` has its direction along the
// dofs of a node.
void pcs_rod_read_ends(const pcs_batch *batch, int cell, double tension, const double *axis, double field[4]);

// Vector from the first node to the second, and its length.
double pcs_axial_span(const pcs_batch *batch, int cell, double span[3]);

// A cell of no length is a fault; and one whose ends lie off the line or plane in which they move.
pcs_status pcs_axial_check_ends(pcs_context *ctx, const pcs_batch *batch, int cell, int dim, const double span[3]);

// Unit axis, length and way of a mesh cell. The axis points towards its first non-zero coordinate, whichever way a cell
// runs, so that neighbours agree; `sign` tells the cell's own way.
double pcs_axial_axis(const pcs_batch *batch, int cell, double axis[3], double *sign);
// Its length and way alone.
double pcs_axial_way(const pcs_batch *batch, int cell, double *sign);
// Both nodes of a rod move along its axis.
pcs_status pcs_axial_line_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out);

// x, y and z of a node, the last ones absent where dim is less than 3. A cell of no length, or one that leaves the line
// or plane, is a fault.
pcs_status pcs_axial_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int dim, pcs_node_dofs *out);

// Takes the memory and fills in the geometry.
pcs_status pcs_axial_create(pcs_context *ctx, pcs_batch *batch, pcs_axial **out);

pcs_axial_view pcs_axial_look(const pcs_batch *batch, int cell, const double *q, const double *v);

// By x, how much the vector between the ends has changed, and its rate.
pcs_axial_state pcs_axial_find(const pcs_axial *axial, int cell, const double x[3], const double w[3]);

// The element's operations; batch->data is the pcs_axial.
void pcs_axial_matrices(const pcs_batch *batch, int cell, double *M, double *K);
void pcs_axial_stiffest(const pcs_batch *batch, int cell, double *K);
void pcs_axial_add_force(const pcs_batch *batch, const double *q, const double *v, double *f);
void pcs_axial_tangents(const pcs_batch *batch, int cell, const double *q, const double *v, double *K, double *C);
double pcs_axial_dissipation(const pcs_batch *batch, const double *q, const double *v, const double *u);
void pcs_axial_add_energy(const pcs_batch *batch, const double *q, const double *v, pcs_energy *sum);
void pcs_axial_add_resultant(const pcs_batch *batch, const double *q, const double *v, double sum[3]);

#define PCS_AXIAL_KERNELS                                                                             \
    .matrices = pcs_axial_matrices, .add_force = pcs_axial_add_force, .tangents = pcs_axial_tangents, \
    .dissipation = pcs_axial_dissipation, .add_energy = pcs_axial_add_energy, .add_resultant = pcs_axial_add_resultant

#endif
