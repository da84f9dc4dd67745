// Declares what all beams share: options of the material, their axes, the dofs of their nodes, and the rotation from
// local to global axes.

#ifndef PCS_ELEMENTS_BEAM_H
#define PCS_ELEMENTS_BEAM_H

#include "elements/modal.h"
#include "elements/section.h"
#include "elements/taper.h"
#include "elements/timoshenko.h"

// Holds the parameters of all beams; each beam has options for those members only that it uses.
typedef struct pcs_beam_params {
    double E, nu, rho;
    double orientation[3];           // in space
    double offset[3], offset_end[3]; // m, linear in space
    double curvature[3];             // 1/m, exact in space
    double speed;                    // rad/s, of shafts
    int mass;
    pcs_section section;
} pcs_beam_params;

// Most have the first two.
enum { PCS_BEAM_CONSISTENT, PCS_BEAM_LUMPED, PCS_BEAM_ONE_POINT, PCS_BEAM_AUTO, PCS_BEAM_TRANSLATIONAL };

extern const char *const pcs_beam_masses[];      // names of the two
extern const char *const pcs_beam_wave_masses[]; // of all

// Rows of an option table.
#define PCS_BEAM_OPTIONS \
    PCS_BEAM_MATERIAL,   \
        PCS_CHOICE("mass", pcs_beam_params, mass, PCS_DEFAULT("consistent"), pcs_beam_masses, "mass matrix")
#define PCS_BEAM_MATERIAL                                                                    \
    PCS_REAL("E", pcs_beam_params, E, PCS_REQUIRED, PCS_POSITIVE, "Young's modulus, N/m^2"), \
        PCS_REAL("nu", pcs_beam_params, nu, PCS_REQUIRED, PCS_ABOVE(-1.0, 0.5),              \
                 "Poisson's ratio; G = E/(2 (1 + nu))"),                                     \
        PCS_REAL("rho", pcs_beam_params, rho, PCS_REQUIRED, PCS_POSITIVE, "density, kg/m^3")
#define PCS_BEAM_WAVE_MASS                                                                                           \
    PCS_CHOICE(                                                                                                      \
        "mass", pcs_beam_params, mass, PCS_DEFAULT("auto"), pcs_beam_wave_masses,                                    \
        "mass matrix; one_point: stiffness, too; auto: consistent, and one_point with scheme wave, which needs it; " \
        "translational: consistent without rotary inertia, as of Euler and Bernoulli")
#define PCS_BEAM_ORIENTATION                                                              \
    PCS_VECTOR("orientation", pcs_beam_params, orientation, PCS_REQUIRED, PCS_ANY_NUMBER, \
               "a vector that spans the local x-y plane with the beam: the way the height of the section points")
#define PCS_BEAM_SPACE_OPTIONS PCS_BEAM_OPTIONS, PCS_BEAM_ORIENTATION

// Options and fields of the beams in the plane.
extern const pcs_option pcs_beam_plane_options[];
extern const char *const pcs_beam_plane_fields[];

// Sets the members of pcs_element_ops that all beams share.
#define PCS_BEAM_SECTION \
    .params_size = sizeof(pcs_beam_params), .has_section = true, .section_offset = offsetof(pcs_beam_params, section)
#define PCS_BEAM_SPACE_SECTION \
    PCS_BEAM_SECTION, .has_orientation = true, .orientation_offset = offsetof(pcs_beam_params, orientation)

// Choice of the mass of those that scheme `wave` takes.
#define PCS_BEAM_MASS_CHOICE                             \
    .mass = { .offset = offsetof(pcs_beam_params, mass), \
              .consistent = PCS_BEAM_CONSISTENT,         \
              .one_point = PCS_BEAM_ONE_POINT,           \
              .automatic = PCS_BEAM_AUTO }

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

// Bending of a cell in its local x-y plane (plane 0, about z) or in x-z (1, about y).
pcs_timoshenko pcs_beam_bending(const pcs_batch *batch, int cell, double length, int plane);
// Time that an axial wave takes through a cell of a length, or a transverse one that moves along its local y axis, s.
double pcs_beam_travel_time(const pcs_batch *batch, int cell, double length, bool is_transverse);
// Shares of the nodes in the mass of a cell, or in what its section gives to rotary inertia, over the mean times L:
// [first cross; cross last] with linear velocities; lumped by the sums of the rows, or by one point.
typedef enum pcs_beam_quantity { PCS_BEAM_AREA, PCS_BEAM_IY, PCS_BEAM_IZ, PCS_BEAM_POLAR } pcs_beam_quantity;
typedef struct pcs_beam_shares {
    double first, cross, last;
} pcs_beam_shares;
pcs_beam_shares pcs_beam_find_shares(const pcs_batch *batch, int cell, pcs_beam_quantity of);

// A += the matrix of local dofs in global axes.
void pcs_beam_turn_matrix(int ndof, const double R[3][3], const double *local, double *A);
// B and M of the kind from their local forms; every three dofs turn with R, whose rows are the local axes.
void pcs_beam_turn(int ndof, int nmode, const double R[3][3], const double *local_B, const double *local_M,
                   pcs_modal_kind *kind);

#endif
