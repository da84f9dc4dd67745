// The linear Timoshenko beam in space, for the elements made of it: stiffness, mass, offsets, gyroscopic moments.
//
// Local axes: x along the beam, y in the plane of x and `orientation`, z = x cross y. Rod for the axial force and
// for torsion, the plane beam of elements/timoshenko.h on (v, tz) and on (w, -ty).
// Deformations e = (u2 - u1, tx2 - tx1, tz1 - a, tz2 - a, -ty1 - b, -ty2 - b), a = (v2 - v1)/L, b = (w2 - w1)/L.
// Offsets o are rigid arms from the nodes to the ends of the axis: the end moves by u + t x o.
//
// Gyroscopic moments of a shaft that spins at a speed s, in axes that do not spin (theory as for rotary inertia, with
// the polar moment Iy + Iz):  C = s rho Ip (integral of Nty^T Ntz - Ntz^T Nty), skew.

#ifndef PCS_ELEMENTS_BEAM_SPACE_H
#define PCS_ELEMENTS_BEAM_SPACE_H

#include "elements/beam.h"
#include "elements/section.h"

typedef struct pcs_beam_space_params {
    double E, nu, rho;
    double orientation[3], offset[3], offset_end[3];
    double speed; // rad/s, of shafts
    int mass;
    pcs_section section;
} pcs_beam_space_params;

enum { PCS_BEAM_SPACE_NDOF = 12 };

#define PCS_BEAM_SPACE_OPTIONS                                                                                         \
    PCS_BEAM_OPTIONS(pcs_beam_space_params),                                                                           \
        PCS_VECTOR("orientation", pcs_beam_space_params, orientation, PCS_REQUIRED, PCS_ANY_NUMBER,                    \
                   "a vector that spans the local x-y plane with the beam: the way the height of the section points"), \
        PCS_VECTOR("offset", pcs_beam_space_params, offset, PCS_DEFAULT("[0, 0, 0]"), PCS_ANY_NUMBER,                  \
                   "from a node to the axis of the beam, m; a rigid arm"),                                             \
        PCS_VECTOR("offset_end", pcs_beam_space_params, offset_end, PCS_OPTIONAL, PCS_ANY_NUMBER,                      \
                   "offset at the second node of a cell where it differs from the first, m")

extern const char *const pcs_beam_space_fields[];

typedef enum pcs_beam_spin {
    PCS_SPIN_NONE,
    PCS_SPIN_GIVEN, // at params->speed
    PCS_SPIN_OWN    // as fast as the nodes turn about the axis
} pcs_beam_spin;

pcs_status pcs_beam_space_node_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                    pcs_node_dofs *out);
// The same where the section must be round.
pcs_status pcs_beam_space_round_dofs(pcs_context *ctx, const pcs_batch *batch, int cell, int local_node,
                                     pcs_node_dofs *out);
pcs_status pcs_beam_space_setup(pcs_context *ctx, pcs_batch *batch, pcs_beam_spin spin);
void pcs_beam_space_read_fields(const pcs_batch *batch, int cell, const double *q, const double *v,
                                double field[PCS_MAX_CELL_FIELDS]);

#endif
