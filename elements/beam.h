// Declares what all beams share: options of the material, their axes, the dofs of their nodes, and the rotation from
// local to global axes; and the plane Timoshenko beam, exact for end loads.
//
// Dofs (w1, t1, w2, t2): deflections and section rotations; phi = 12 E I / (G A k L^2).
//   deformations  t1 - (w2 - w1)/L,  t2 - (w2 - w1)/L,    D = E I/((1 + phi) L) [4 + phi, 2 - phi; 2 - phi, 4 + phi]
// By one point, for scheme `wave`: w and t linear, strains and velocities those of the middle of the cell,
//   D = E I/L [1 -1; -1 1] + G A k L/4 [1 1; 1 1],   M = rho A L/4 [1 1; 1 1] for w, rho I L/4 [1 1; 1 1] for t
// Consistent mass with rotary inertia: the shape functions are those of the static solution (Przemieniecki).
//
// If the section varies, the flexibility is integrated, so that one cell stays exact for end loads:
//   D^-1 = L (integral of [(1-x)^2, -x (1-x); -x (1-x), x^2]/(E I) + [1 1; 1 1]/(G A k L^2) dx over 0 < x < 1)
// Its mass is the integral of rho A N^T N + rho I Nt^T Nt with the static solution N, Nt for that section: with S = D e
// and M(x) = -S1 (1-x) + S2 x, rotations are integrals of M/(E I), slopes those plus -(S1 + S2)/(L G A k).

#ifndef PCS_ELEMENTS_BEAM_H
#define PCS_ELEMENTS_BEAM_H

#include "elements/modal.h"
#include "elements/section.h"

// Holds the parameters of all beams. Each beam has options only for the members that it uses.
typedef struct pcs_beam_params {
    double E, nu, rho;
    double orientation[3];           // orientation of the section, in space
    double offset[3], offset_end[3]; // m, for linear beams in space
    double curvature[3];             // 1/m, for exact beams in space
    double speed;                    // rad/s, of shafts
    int mass;
    pcs_section section;
} pcs_beam_params;

// Lists the mass matrices; most beams have the first two.
enum { PCS_BEAM_CONSISTENT, PCS_BEAM_LUMPED, PCS_BEAM_ONE_POINT, PCS_BEAM_AUTO, PCS_BEAM_TRANSLATIONAL };

extern const char *const pcs_beam_masses[];      // names of the first two
extern const char *const pcs_beam_wave_masses[]; // names of all

// Lists rows of an option table.
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
               "a vector in the local x-y plane, not along the beam: direction of the height of the section")
#define PCS_BEAM_SPACE_OPTIONS PCS_BEAM_OPTIONS, PCS_BEAM_ORIENTATION

// Lists options and fields of the beams in the plane.
extern const pcs_option pcs_beam_plane_options[];
extern const char *const pcs_beam_plane_fields[];

// Sets the members of pcs_element_ops that all beams share.
#define PCS_BEAM_SECTION .params_size = sizeof(pcs_beam_params), .section_offset = offsetof(pcs_beam_params, section)
#define PCS_BEAM_SPACE_SECTION PCS_BEAM_SECTION, .orientation_offset = offsetof(pcs_beam_params, orientation)

// Locates the choice of the mass matrix for beams that scheme `wave` accepts.
#define PCS_BEAM_MASS_CHOICE                             \
    .mass = { .offset = offsetof(pcs_beam_params, mass), \
              .consistent = PCS_BEAM_CONSISTENT,         \
              .one_point = PCS_BEAM_ONE_POINT,           \
              .automatic = PCS_BEAM_AUTO }

typedef struct pcs_timoshenko {
    double EI, phi, length;
    double line_mass;    // rho A, kg/m
    double line_inertia; // rho I, kg m
    bool has_one_point;
    const pcs_taper *taper;       // NULL if the section is constant; otherwise the members above are means
    const pcs_section_line *line; // profiles of the section
    int plane;                    // 0 about z, 1 about y
} pcs_timoshenko;

// Declares x, y and the rotation about z. Fails if the cell has no length or leaves the plane.
pcs_status pcs_beam_plane_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node, pcs_node_dofs *out);

// Declares three displacements and three rotations. Fails if the cell has no length or lies along the orientation.
pcs_status pcs_beam_space_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, const double orientation[3],
                               pcs_node_dofs *out);

// Computes the nodes' coefficients of a cell's mass, or of its rotary inertia, over the mean times L; also for one
// point.
typedef enum pcs_beam_quantity { PCS_BEAM_AREA, PCS_BEAM_IY, PCS_BEAM_IZ, PCS_BEAM_POLAR } pcs_beam_quantity;
pcs_shares pcs_beam_find_shares(const pcs_batch *batch, int cell, pcs_beam_quantity of);

#endif
