// Two ends of a joint, the points and directions that are fixed to them, and the rows between them; private to this
// folder.
//
// An end is a node with an arm to the point of the joint, or the ground. With R the rotation of the node:
//   p = x + R r,  p' = v + w x R r,  and at constant v and w  p'' = w x (w x R r)
// Small rotations keep arms in their reference direction: everything is linear then.

#ifndef PCS_ROWS_ENDS_H
#define PCS_ROWS_ENDS_H

#include "rows/source.h"

// Classifies the rotations of a node: none, small, one angle, or a rotation vector in space.
typedef enum pcs_rotates {
    PCS_ROTATES_NOT,
    PCS_ROTATES_LITTLE,
    PCS_ROTATES_IN_PLANE,
    PCS_ROTATES_FINITELY
} pcs_rotates;

typedef struct pcs_joint_end {
    int node;      // -1 for the ground
    double arm[3]; // from the node to the point in the reference state, m; the point itself for the ground
    pcs_rotates rotates;
} pcs_joint_end;

typedef struct pcs_joint_ends {
    pcs_joint_end a, b; // b is never the ground
    int ntranslation, nrotation;
    double translation[3][3], rotation[3][3]; // unit vectors along and about which both ends can move
} pcs_joint_ends;

// The options by which joints with two ends name them.
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

extern const pcs_source_set pcs_ends_sets[]; // sets named by these options

// Checks that either `node` or `a` and `b` are given. Returns NULL or the fault, and sets *option to its key.
const char *pcs_ends_check(const pcs_ends_params *params, const char **option);
// Resolves the ends from two node numbers; a is -1 for the ground.
pcs_status pcs_ends_resolve(pcs_context *ctx, const pcs_dofmap *map, int a, int b, const double at[3],
                            pcs_joint_ends *out);
// Finds the only node of a set. Fails if the set has none or several.
pcs_status pcs_ends_single(pcs_context *ctx, const pcs_dofmap *map, const char *set, int *node);
pcs_status pcs_end_resolve(pcs_context *ctx, const pcs_dofmap *map, int node, const double at[3], pcs_joint_end *out);
pcs_rotates pcs_node_rotates(const pcs_dofmap *map, int node);

// Finds two unit vectors that form a right-handed frame with the unit vector `axis`: first x second = axis.
void pcs_joint_frame(const double axis[3], double first[3], double second[3]);
// Marks the components of a force along (or moment about) the unit vector d.
void pcs_joint_mark(const double d[3], bool has[3]);
// Returns true if the point moves linearly with q, so that the row p_b - p_a keeps its direction.
bool pcs_end_is_straight(const pcs_joint_end *end);

// Holds position and velocity of an end.
typedef struct pcs_end_now {
    int node;
    pcs_place place;
    bool has_velocities;
    double point[3], arm[3];
    double velocity[3], swing[3], bend[3]; // velocities of the point and of the arm; acceleration at constant v and w
} pcs_end_now;

void pcs_end_find(const pcs_joint_end *end, const pcs_places *places, pcs_end_now *now);

// A current unit vector, fixed in space or rotating with an end.
typedef struct pcs_rider {
    double now[3], lever[3];
    double rate[3], swing[3], bend[3]; // w x lever; rate of the lever; acceleration at constant w
} pcs_rider;

pcs_rider pcs_rider_fixed(const double direction[3]);
pcs_rider pcs_rider_on(const pcs_end_now *end, const double reference[3]);

// Evaluates the row g = d . (p_b - p_a), m, where d is fixed or rotates with a.
void pcs_row_translation(const pcs_end_now *a, const pcs_end_now *b, const pcs_rider *d, pcs_row_state *row);
// Evaluates the row g = n . (rotation_b - rotation_a), rad, for rotations that add up.
void pcs_row_angle(const pcs_end_now *a, const pcs_end_now *b, const double n[3], pcs_row_state *row);
// Evaluates the row g = u . w, where u rotates with a and w with b.
void pcs_row_cross(const pcs_end_now *a, const pcs_end_now *b, const pcs_rider *u, const pcs_rider *w,
                   pcs_row_state *row);

// Fills `*out` with a symbol at the point of an end, along `axis` (NULL if it has none).
void pcs_end_show(const pcs_joint_end *end, pcs_obstacle_kind kind, const double *axis, pcs_obstacle *out);
// Fills `*out` with a rod from a, which may be the ground, to b.
void pcs_ends_show_rod(const pcs_joint_end *a, const pcs_joint_end *b, pcs_obstacle *out);

// The angle by which b has turned against a about an axis that a carries, and sums of rows.
//
//   rotations that add up   phi = n . (rotation_b - rotation_a), past any number of turns
//   rotations in space      phi = atan2(S, C),  S = u_2 . w, C = u_1 . w,  u_1, u_2 across the axis on a, w = u_1 on b
//                           phi' = (C S' - S C') / (C^2 + S^2), known up to whole turns
//
// As long as both ends keep the axis in common phi' is its angular velocity, and it is a true derivative off it, too.

typedef struct pcs_joint_angle {
    bool adds_up; // true if phi is unlimited, false if it lies in (-pi, pi]
    double axis[3], first[3], second[3];
} pcs_joint_angle;

extern const double pcs_whole_turn; // 2 pi

void pcs_angle_create(const pcs_joint_end *a, const pcs_joint_end *b, const double axis[3], pcs_joint_angle *out);
// Evaluates the row g = phi, rad.
void pcs_row_rotation(const pcs_end_now *a, const pcs_end_now *b, const pcs_joint_angle *angle, pcs_row_state *row);
// Adds `factor` times another row; point and normal remain those of `row`.
void pcs_row_add(pcs_row_state *row, double factor, const pcs_row_state *other);
// Returns true if the case gives this axis. Axes that are not given are NAN.
static inline bool pcs_axis_given(const double axis[3])
{
    return axis[0] == axis[0];
}

#endif
