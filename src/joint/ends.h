// Two ends of a joint, the points and directions that are fixed to them, and the rows between them; private to this
// folder.
//
// An end is a node with an arm to the point of the joint, or the ground. With R the rotation of the node:
//   p = x + R r,  p' = v + w x R r,  and at constant v and w  p'' = w x (w x R r)
// Small rotations keep arms in their reference direction: everything is linear then.

#ifndef PCS_JOINT_ENDS_H
#define PCS_JOINT_ENDS_H

#include "joint/joint.h"

// Classifies the rotations of a node: none, small, one angle, or a rotation vector in space.
typedef enum pcs_turning { PCS_TURNS_NOT, PCS_TURNS_LITTLE, PCS_TURNS_FLAT, PCS_TURNS_FREE } pcs_turning;

typedef struct pcs_joint_end {
    int node;      // -1: the ground
    double arm[3]; // from the node to the point in the reference state; of the ground: the point
    pcs_turning turning;
} pcs_joint_end;

typedef struct pcs_joint_ends {
    pcs_joint_end a, b; // b is never the ground
    int ntranslation, nrotation;
    double translation[3][3], rotation[3][3]; // unit vectors along and about which the ends can move
} pcs_joint_ends;

// The options by which all joints of two ends name them.
typedef struct pcs_ends_params {
    const char *node, *a, *b;
    double at[3];
} pcs_ends_params;

#define PCS_ENDS_OPTIONS(type)                                                                        \
    PCS_TEXT("node", type, ends.node, PCS_OPTIONAL, "node that is joined to the ground; or a and b"), \
        PCS_TEXT("a", type, ends.a, PCS_OPTIONAL, "first of two nodes that are joined"),              \
        PCS_TEXT("b", type, ends.b, PCS_OPTIONAL, "second node; reactions are those on it"),          \
        PCS_VECTOR("at", type, ends.at, PCS_OPTIONAL, PCS_ANY_NUMBER,                                 \
                   "point of the joint in the reference state, m; by default node, or b")

extern const char *const pcs_ends_sets[]; // set_options of such joints

// The two nodes of a joint whose points coincide must stand at one place of the reference state, unless `at` says where
// rigid arms meet.
pcs_status pcs_ends_meet(pcs_context *ctx, const pcs_ends_params *params, const pcs_dofmap *map);
// Node alone, or a and b.
const char *pcs_ends_check(const pcs_ends_params *params, const char **option);
// Resolves the ends and along and about which directions they move; both ends must agree.
pcs_status pcs_ends_create(pcs_context *ctx, const pcs_ends_params *params, const pcs_dofmap *map, pcs_joint_ends *out);
// The same for two node numbers; a may be -1.
pcs_status pcs_ends_resolve(pcs_context *ctx, const pcs_dofmap *map, int a, int b, const double at[3],
                            pcs_joint_ends *out);
// Both ends move along and turn about all three directions; else tells which node does not.
pcs_status pcs_ends_demand_space(pcs_context *ctx, const pcs_joint_ends *ends);
// The only node of a set.
pcs_status pcs_ends_single(pcs_context *ctx, const pcs_dofmap *map, const char *set, int *node);
pcs_status pcs_end_resolve(pcs_context *ctx, const pcs_dofmap *map, int node, const double at[3], pcs_joint_end *out);
pcs_turning pcs_node_turning(const pcs_dofmap *map, int node);

// Two unit vectors that make a right-handed frame with the unit vector `axis`: first x second = axis.
void pcs_joint_frame(const double axis[3], double first[3], double second[3]);
// The joint carries forces along the translations.
void pcs_ends_shape(const pcs_joint_ends *ends, pcs_joint_shape *shape);
// Notes that a joint carries something along (about) the unit vector d.
void pcs_joint_mark(const double d[3], bool has[3]);
// The direction of the row p_b - p_a never changes.
bool pcs_end_is_straight(const pcs_joint_end *end);

// An end at the present positions.
typedef struct pcs_end_now {
    int node;
    pcs_place place;
    bool has_velocities;
    double point[3], arm[3];
    double velocity[3], swing[3], bend[3]; // of the point, of the arm; acceleration at constant v and w
} pcs_end_now;

void pcs_end_find(const pcs_joint_end *end, const pcs_places *places, pcs_end_now *now);

// A direction at the present positions: fixed in space, or riding on an end.
typedef struct pcs_rider {
    double now[3], lever[3];
    double rate[3], swing[3], bend[3]; // w x lever; of the lever; acceleration at constant w
} pcs_rider;

pcs_rider pcs_rider_fixed(const double direction[3]);
pcs_rider pcs_rider_on(const pcs_end_now *end, const double reference[3]);

// g = d . (p_b - p_a), d fixed or riding on a.
void pcs_row_translation(const pcs_end_now *a, const pcs_end_now *b, const pcs_rider *d, pcs_row_state *row);
// g = n . (turn_b - turn_a), for rotations that add up.
void pcs_row_angle(const pcs_end_now *a, const pcs_end_now *b, const double n[3], pcs_row_state *row);
// g = u . w, u riding on a and w on b.
void pcs_row_cross(const pcs_end_now *a, const pcs_end_now *b, const pcs_rider *u, const pcs_rider *w,
                   pcs_row_state *row);

// Keeps the axis of b square to `across`, which rides on a: about the third direction they do not turn.
void pcs_row_square(const pcs_end_now *a, const pcs_end_now *b, const double across[3], const double axis[3],
                    bool adds_up, pcs_row_state *row);

// A mark of this kind at the point of an end that is a node, along `axis` where it has one (NULL).
void pcs_end_show(const pcs_joint_end *end, pcs_obstacle_kind kind, const double *axis, pcs_obstacle *out);
// The arms from nodes to the point of the joint, those that there are, part by part from 0 on; false: no such part.
bool pcs_ends_show_arms(const pcs_joint_end *a, const pcs_joint_end *b, int part, pcs_obstacle *out);
// A rod from one end, which may be the ground, to the other.
void pcs_ends_show_rod(const pcs_joint_end *a, const pcs_joint_end *b, pcs_obstacle *out);

// Rows between the ends, whose number is given: those that keep the points together along all translations, those that
// keep the ends from turning against each other about all rotations, and both, as if the ends were one rigid body.
int pcs_ends_join(const pcs_joint_ends *ends, const pcs_end_now *a, const pcs_end_now *b, pcs_row_state *rows);
int pcs_ends_lock(const pcs_joint_ends *ends, const pcs_end_now *a, const pcs_end_now *b, pcs_row_state *rows);
int pcs_ends_hold(const pcs_joint_ends *ends, const pcs_end_now *a, const pcs_end_now *b, pcs_row_state *rows);
// Adds the rows of the last to a shape that may have others.
void pcs_ends_hold_shape(const pcs_joint_ends *ends, pcs_joint_shape *shape);

#endif
