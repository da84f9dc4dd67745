// Constraint rows whose directions vary, as contacts and joints state them: in nodes, forces and moments.
//
//   g' = sum_i force_i . v_i + moment_i . w_i,   v_i, w_i velocity and angular velocity of node i in space
//
// force_i and moment_i are also what a unit multiplier does to node i. Which equations a node has is the system's
// business.

#ifndef PCS_ROWS_ROW_H
#define PCS_ROWS_ROW_H

#include "core/rotation.h"
#include "mesh/mesh.h"

#include <stdbool.h>

enum { PCS_ROW_NODES = 4 };

// Holds position, rotation from the reference state, and velocities of a node.
typedef struct pcs_place {
    double x[3];
    double R[9];       // rotation matrix from the reference state; I + turn^ for small rotations
    double turn[3];    // rotation in q, rad: an angle is unlimited, a rotation vector is not
    bool is_small;     // true for small rotations: arms keep their reference direction
    double v[3], w[3]; // velocity, m/s, and angular velocity, rad/s, in space; zero unless `has_velocities`
} pcs_place;

typedef struct pcs_places pcs_places;
struct pcs_places {
    const pcs_mesh *mesh;
    double t;            // s
    bool has_velocities; // true if the bias of the rows and the rates of joints are needed
    const void *owner;
    void (*find)(const pcs_places *self, int node, pcs_place *out);
};

typedef struct pcs_row_term {
    int node;
    double force[3], moment[3];
} pcs_row_term;

// Holds the rates of force and moment of a term.
typedef struct pcs_row_rate {
    double force[3], moment[3];
} pcs_row_rate;

typedef struct pcs_row_direction {
    int nterm;
    pcs_row_term term[PCS_ROW_NODES];
} pcs_row_direction;

typedef struct pcs_row_state {
    double gap;       // m, or rad
    double bias;      // second time derivative of g at constant v and w; needs velocities
    double point[3];  // point of application, for pictures, m
    double normal[3]; // unit vector along which the multiplier pushes the body
    double couple[3]; // moment of a unit multiplier of a joint on the body, about the joint's point
    pcs_row_direction direction;
    pcs_row_rate rate[PCS_ROW_NODES]; // rates of the terms at fixed time, of joints; needs velocities
    pcs_row_direction tangent[2];     // directions of friction; no twist about the normal as the point moves, except
                                      // with the axis of a cell (node_segment, beam_beam)
    double across[2][3];              // unit vectors along which friction pushes the body
} pcs_row_state;

// Computes position, m, and arm of a material point at `offset` from the node in the reference state.
static inline void pcs_place_point(const pcs_place *place, const double offset[3], double point[3], double arm[3])
{
    double turned[3];
    pcs_rotation_apply(place->R, offset, turned);
    for (int k = 0; k < 3; k++) {
        point[k] = place->x[k] + turned[k];
        arm[k] = place->is_small ? offset[k] : turned[k];
    }
}

// Adds a term: a force at an arm from the node.
static inline void pcs_row_push(pcs_row_direction *d, int node, const double arm[3], const double force[3])
{
    pcs_row_term *term = &d->term[d->nterm++];
    term->node = node;
    for (int k = 0; k < 3; k++) term->force[k] = force[k];
    pcs_cross(arm, force, term->moment);
}

#endif
