// Two nodes and an axial force along the line that joins them at present: rods and spring-dampers.
//
//   N = k (l - l0) + F0 + c l' (or by a law),   l = |d + u2 - u1|,   l' = n . (v2 - v1)
//
// The elongation comes from displacements, (l^2 - L^2)/(l + L), without cancellation. Ends may be points at arms r from
// the nodes, which rotate with them: p = x + R r. With J = dp_2/dx - dp_1/dx, whose columns of material spins are
// +-R (e_j x r), w = J v, P = I - n n^T, and of each node D = R^T n, W the material angular velocity and B = D r^T -
// (r . D) I:
//
//   force = -N J^T n,   C = c J^T n n^T J
//   K = J^T (n (k n + c P w/l)^T + (N / l) P) J + sum over the nodes of +-(N B in their rotations + c J^T n (W^T B))
//
// Small rotations leave arms in their reference direction, and the sum vanishes. Without arms J = [-I, I].
//
// Laws of springs and dampers that are not linear: force N of the stretch s and its rate r.
//
//   spring   N = k e, a polynomial k1 e + k2 e^2 + .., or a table: linear between its rows, and on beyond them
//            e = s - c above the clearance c, s + c below -c, else 0
//   stop     + k_s (|s| - s_max) sign(s) beyond it
//   damper   + d r (r^2 + r0^2)^((p - 1)/2): d |r|^p sign(r) above a speed r0 that takes the kink out where p < 1

#ifndef PCS_ELEMENTS_ROD_H
#define PCS_ELEMENTS_ROD_H

#include "elements/cell.h"
#include "elements/section.h"

typedef struct pcs_axial_law {
    double stiffness;            // k, N/m, if there is neither polynomial nor table
    pcs_list polynomial;         // k1, k2, ..
    pcs_list table;              // rows [s, N]
    double clearance;            // c, m
    double stop, stop_stiffness; // s_max, m, INFINITY if absent; k_s, N/m
    double damper, exponent;     // d, p
    double speed;                // r0, m/s
    double *area;                // [rows] integral of the table from s = 0, J
    int rest;                    // segment of the table that contains s = 0
} pcs_axial_law;

typedef struct pcs_axial_response {
    double force, stiffness, energy; // N, dN/ds and the potential, J, zero at s = 0
    double drag, damping;            // force of the damper, N, and its derivative by r
} pcs_axial_response;

// Allocates and computes the integrals of the table.
pcs_status pcs_axial_law_prepare(pcs_context *ctx, pcs_axial_law *law);
pcs_axial_response pcs_axial_law_at(const pcs_axial_law *law, double stretch, double rate);

typedef struct pcs_axial_cell {
    double span[3], length;       // m, in the reference state
    double stiffness;             // k, N/m
    double damping;               // c, N s/m, including Rayleigh damping
    double slack;                 // L - l0, m
    double preload;               // F0, N
    double self, self_end, other; // kg, M = [self other; other self_end] in every direction
} pcs_axial_cell;

typedef struct pcs_axial {
    pcs_cell_shape shape;
    pcs_axial_cell *cell;     // [ncell]
    const pcs_axial_law *law; // in place of k and in addition to c; NULL if the cells are linear
    const double (*arm)[3];   // [2] m, in the reference state; NULL if the nodes are the ends
    bool has_small_angles;    // rotations of arms are small
} pcs_axial;

// Holds elongation and force of a cell in the current state.
typedef struct pcs_axial_view {
    double stretch, rate;      // elongation l - l0, m, and its rate, m/s
    double tension;            // N, including the damper
    double stiffness, damping; // dN/dl, N/m, and dN/dl', N s/m
    double energy, drag;       // J; force of the damper, N
} pcs_axial_view;

typedef struct pcs_rod_params {
    double E, rho;
    pcs_profile area;
    double nu, polar; // lateral inertia: Poisson's ratio, 0 if absent, and polar moment
    int mass;
} pcs_rod_params;

enum { PCS_ROD_CONSISTENT, PCS_ROD_LUMPED, PCS_ROD_ONE_POINT, PCS_ROD_TUNED, PCS_ROD_AUTO }; // trusses: two

// Lists rows of an option table.
#define PCS_ROD_MATERIAL                                                                     \
    PCS_REAL("E", pcs_rod_params, E, PCS_REQUIRED, PCS_POSITIVE, "Young's modulus, N/m^2"),  \
        PCS_REAL("rho", pcs_rod_params, rho, PCS_REQUIRED, PCS_POSITIVE, "density, kg/m^3"), \
        PCS_PROFILE("area", pcs_rod_params, area, PCS_REQUIRED, PCS_POSITIVE, "cross section, m^2")

extern const pcs_section_type pcs_rod_area; // section type for parameters of type pcs_rod_params

// Holds the (mean) area of a cell, m^2, and the coefficients of its mass: M = rho A L [self other; other self_end].
typedef struct pcs_rod_cell {
    double area;
    double self, self_end, other;
    bool is_uniform; // constant area along the cell
} pcs_rod_cell;

// Computes area and coefficients of a cell with a consistent or a lumped mass.
pcs_rod_cell pcs_rod_find_cell(const pcs_batch *batch, int cell, bool is_lumped);

extern const pcs_option pcs_rod_options[];
extern const char *const pcs_rod_fields[];     // axial_force, stress, strain_energy
extern const char *const pcs_rod_end_fields[]; // axial_start and axial_end, stress_start and stress_end
// Computes the fields at the ends from the mean tension, N, and the loads along the cell. `axis` is its direction in
// the dofs of a node.
void pcs_rod_read_ends(const pcs_batch *batch, int cell, const double *line_load, double tension, const double *axis,
                       double field[4]);

// Computes the unit axis of a mesh cell and returns its length, m. The axis points towards its first nonzero
// coordinate, so that neighbours agree. `sign` is -1 if the cell runs against it.
double pcs_axial_axis(const pcs_batch *batch, int cell, double axis[3], double *sign);
// Declares one dof, along the axis, for either node of a rod.
pcs_status pcs_axial_line_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out);

#endif
