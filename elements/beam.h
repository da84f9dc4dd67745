// What the beams share: options of the material, their axes, the dofs of their nodes, and the turn from local to
// global axes.

#ifndef PCS_ELEMENTS_BEAM_H
#define PCS_ELEMENTS_BEAM_H

#include "elements/modal.h"

enum { PCS_BEAM_CONSISTENT, PCS_BEAM_LUMPED };

extern const char *const pcs_beam_masses[]; // names of the two

// Rows of an option table for a parameter struct with the members E, nu, rho and mass.
#define PCS_BEAM_OPTIONS(type)                                                                            \
    { .name = "E",                                                                                        \
      .kind = PCS_OPTION_REAL,                                                                            \
      .help = "Young's modulus, N/m^2",                                                                   \
      .offset = offsetof(type, E),                                                                        \
      .is_required = true,                                                                                \
      .range = PCS_POSITIVE },                                                                            \
        { .name = "nu",                                                                                   \
          .kind = PCS_OPTION_REAL,                                                                        \
          .help = "Poisson's ratio; G = E/(2 (1 + nu))",                                                  \
          .offset = offsetof(type, nu),                                                                   \
          .is_required = true,                                                                            \
          .range = { -1.0, 0.5, true, false } },                                                          \
        { .name = "rho",                                                                                  \
          .kind = PCS_OPTION_REAL,                                                                        \
          .help = "density, kg/m^3",                                                                      \
          .offset = offsetof(type, rho),                                                                  \
          .is_required = true,                                                                            \
          .range = PCS_POSITIVE },                                                                        \
    {                                                                                                     \
        .name = "mass", .kind = PCS_OPTION_CHOICE, .help = "mass matrix", .offset = offsetof(type, mass), \
        .preset = "consistent", .choices = pcs_beam_masses                                                \
    }

// Length of a cell and its direction in the x-y plane.
double pcs_beam_plane_axis(const pcs_batch *batch, int cell, double axis[2]);

// x, y and the rotation about z. A cell of no length or one that leaves the plane is a fault.
pcs_status pcs_beam_plane_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, pcs_node_dofs *out);

// Length of a span and its local axes, the rows of R: x along the span, y in the plane of x and `orientation`,
// z = x cross y. *sine is that of the angle between span and orientation. And the same from node to node of a cell.
double pcs_beam_frame(const double span[3], const double orientation[3], double R[3][3], double *sine);
double pcs_beam_space_frame(const pcs_batch *batch, int cell, const double orientation[3], double R[3][3],
                            double *sine);

// Three displacements and three rotations. A cell of no length or along the orientation is a fault.
pcs_status pcs_beam_space_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, const double orientation[3],
                               pcs_node_dofs *out);

// A += the matrix of local dofs in global axes.
void pcs_beam_turn_matrix(int ndof, const double R[3][3], const double *local, double *A);
// B and M of the kind from their local forms; every three dofs turn with R, whose rows are the local axes.
void pcs_beam_turn(int ndof, int nmode, const double R[3][3], const double *local_B, const double *local_M,
                   pcs_modal_kind *kind);

#endif
