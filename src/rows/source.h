// Sources of rows: contacts and joints. Each type is one file and one line of gap_list.def or joint_list.def; it states
// its rows in nodes, forces and moments, and the model turns them into equations.

#ifndef PCS_ROWS_SOURCE_H
#define PCS_ROWS_SOURCE_H

#include "core/amplitude.h"
#include "core/memory.h"
#include "core/obstacle.h"
#include "core/option.h"
#include "core/passage.h"
#include "core/rotation.h"
#include "mesh/mesh.h"
#include "system/law.h"

#include <stdbool.h>

// Constraint rows whose directions vary, as contacts and joints state them: in nodes, forces and moments.
//
//   g' = sum_i force_i . v_i + moment_i . w_i,   v_i, w_i velocity and angular velocity of node i in space
//
// force_i and moment_i are also what a unit multiplier does to node i. Which equations a node has is the system's
// business.

enum { PCS_ROW_NODES = 4 };

// Holds position, rotation from the reference state, and velocities of a node.
typedef struct pcs_place {
    double x[3];
    double R[9];        // rotation matrix from the reference state; I + turn^ for small rotations
    double rotation[3]; // rotation in q, rad: an angle is unlimited, a rotation vector is not
    bool is_small;      // true for small rotations: arms keep their reference direction
    double v[3], w[3];  // velocity, m/s, and angular velocity, rad/s, in space; zero unless `has_velocities`
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

// The rates of force and moment of a term.
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
    double rotated[3];
    pcs_rotation_apply(place->R, offset, rotated);
    for (int k = 0; k < 3; k++) {
        point[k] = place->x[k] + rotated[k];
        arm[k] = place->is_small ? offset[k] : rotated[k];
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

// Describes an option that names a set.
typedef struct pcs_source_set {
    const char *option;
    bool is_cells;  // true for cells, false for nodes
    bool is_single; // true if the set must have one node
    bool is_common; // any row may act on all of its nodes; else a row at node i of the first set acts on node i here
} pcs_source_set;

// Describes a table of the case like the amplitude of a load, kept as pcs_amplitude in the parameters.
typedef struct pcs_source_signal {
    const char *name, *help;
    size_t offset;
    bool is_rate; // true if it is integrated over time
} pcs_source_signal;

// Describes the rows of a source, once its nodes are known.
typedef struct pcs_source_shape {
    bool has_friction; // input of `create`: directions of friction are needed
    int nrow;
    int ntangent;      // directions of friction per row; 0 without friction
    bool is_constant;  // directions never change, and gaps, unless they are driven, are linear in q
    double size;       // m, magnitude of the terms of its gaps, for their round-off; 0 if not larger than the mesh
    double reach;      // longest arm at which its normals act on nodes, m
    pcs_memory memory; // state that `search` keeps from step to step
    // Joints only:
    bool has_lines;                   // directions change with positions of points, not only with rotations of nodes
    bool is_revolute_gap;             // gaps are angles modulo 2 pi, reduced to (-pi, pi]
    bool has_force[3], has_moment[3]; // components of force and moment that it may transmit, along and about x, y, z
    bool has_teeth;                   // true for a gear whose `teeth` is set
    double teeth[2];                  // components of a unit multiplier along and across the pitch line
} pcs_source_shape;

// Functions that may be NULL: check, count, drive, search, passage, show.
typedef struct pcs_source_ops {
    const char *name, *summary;
    const pcs_option *options;
    size_t params_size;
    const pcs_source_set *sets;       // ends with an option of NULL
    const pcs_source_signal *signals; // ends with a name of NULL; NULL if absent
    // Returns NULL if the parameters are valid, else the fault; *option names the key.
    const char *(*check)(const void *params, const char **option);
    // Counts the rows per node of the first set of a contact that can be distributed: they act on that node, on the
    // nodes at the same index of the other sets, and on common ones, and follow pcs_set_touching by the first set, so
    // that each process may have the rows of its own nodes. NULL if all processes have all rows.
    int (*count)(const void *params, const pcs_mesh *mesh);
    // Resolves nodes and reference geometry. Fails with PCS_BAD_INPUT if a node lacks a direction that a row needs.
    pcs_status (*create)(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                         pcs_source_shape *shape);
    // Evaluates all rows, which the caller has zeroed.
    void (*evaluate)(void *instance, const pcs_places *places, pcs_row_state *rows);
    // Finds g up to a constant, and dg/dt at fixed q, of every row of a prescribed motion; NULL if absent.
    void (*drive)(const void *instance, double t, double *gap, double *rate);
    // Searches for pairs that may touch, between two steps. Rows keep their pairs until the next call. Sets
    // *has_changed if a row has another pair now. Fails with PCS_FAILED if a pair overlaps that had no row. NULL if
    // rows always keep their pairs.
    pcs_status (*search)(pcs_context *ctx, void *instance, const pcs_places *places, bool *has_changed);
    // Checks the straight paths of the nodes in a step, between whose ends no law is evaluated, and records gaps that
    // closed and opened again, or changed sides. Row numbers, in `worst` too, count from the contact's first. NULL if a
    // body that has passed through has a negative gap, as with a plane.
    void (*passage)(void *instance, const pcs_places *from, const pcs_places *to, const pcs_passage_row *rows,
                    pcs_passage *worst);
    // Fills `*out` (zeroed but for `contact`, and `is_hosted` of a joint) with part 0, 1, ... to draw. False if no such
    // part.
    bool (*show)(const void *params, const void *instance, const pcs_dofmap *map, int part, pcs_obstacle *out);
} pcs_source_ops;

// Describes a contact or a joint.
typedef struct pcs_row_source {
    const char *name;
    const pcs_source_ops *ops;
    const void *params;
    // Contacts only:
    pcs_law law;
    double friction;            // Coulomb's mu
    double tangent_restitution; // coefficient of tangential restitution
    bool writes_points;
} pcs_row_source;

extern const pcs_source_ops *const pcs_gap_types[]; // types of contacts; ends with NULL
extern const pcs_source_ops *const pcs_joints[];    // ends with NULL

// Returns the set that the i-th of `sets` names; NULL after the last.
const char *pcs_source_set_name(const pcs_source_ops *ops, const void *params, int i);
// Returns the number of rows, on all processes together, of a contact that has `count`.
int pcs_source_rows(const pcs_source_ops *ops, const void *params, const pcs_mesh *mesh);

// Holds the parameters of supports that fix one of the three rotations in space; not available in cases.
typedef struct pcs_held_params {
    const char *nodes; // name of a set
    int axis;          // 0, 1, 2
} pcs_held_params;

const pcs_source_ops *pcs_held_joint(void);

#endif
