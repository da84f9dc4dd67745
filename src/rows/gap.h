// Shared by the gap types; private to this folder.

#ifndef PCS_ROWS_GAP_H
#define PCS_ROWS_GAP_H

#include "core/rotation.h"
#include "rows/source.h"

// Finds the unit vectors across `normal` along which the node can move: one in the plane, two in space. Returns their
// number, or -1 if there is none and thus no friction.
int pcs_gap_tangents(const pcs_dofmap *map, int node, const double normal[3], double tangent[2][3]);

// Fails unless the node has tangents, as many as the nodes before it.
pcs_status pcs_gap_demand_tangents(pcs_context *ctx, int node, int count, int wanted);

// Fails if supports fix all displacements of the node, so that its gap cannot change.
pcs_status pcs_gap_demand_free(pcs_context *ctx, const pcs_dofmap *map, int node);

// Finds the number of tangents of a node, 1 in the plane and 2 in space, and in the plane its unit normal. Fails if the
// node moves along one line only, or has another number than the nodes before it.
pcs_status pcs_gap_look_round(pcs_context *ctx, const pcs_dofmap *map, int node, bool is_first, int *ntangent,
                              double plane[3]);

// Adds a force at s (0 to 1 along a cell) and at an arm from its axis, split as (1 - s) : s between the cell's nodes.
void pcs_gap_push_cell(pcs_row_direction *out, const int node[2], double s, const double arm[3], const double force[3]);

// Finds the unit tangents across n: along the first of two directions minus its normal component, or along an axis if
// both are normal, and across that. With one tangent, that in the plane with the given unit normal.
static inline void pcs_gap_tangents_along(int ntangent, const double plane[3], const double *const direction[2],
                                          const double n[3], double tangent[2][3])
{
    static const double axes[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    const double *const directions[] = { direction[0], direction[1], axes[0], axes[1], axes[2] };
    if (ntangent == 1) {
        pcs_cross(plane, n, tangent[0]);
        return;
    }
    for (int i = 0; i < 5; i++) {
        double along = pcs_dot3(directions[i], n), rest[3];
        for (int k = 0; k < 3; k++) rest[k] = directions[i][k] - along * n[k];
        if (pcs_dot3(rest, rest) > 1e-8 * pcs_dot3(directions[i], directions[i]) && pcs_normalize3(rest, tangent[0]))
            break;
    }
    pcs_cross(n, tangent[0], tangent[1]);
}

// Points of a contact: nodes, or points fixed to nodes at offsets, which turn with them.
//
//   p = x + R r,  p' = v + w x R r,  and at constant v and w  p'' = w x (w x R r)
//
// Every node carries all offsets; points are counted node by node.

typedef struct pcs_points_of {
    const pcs_set *nodes;
    int count, noffset; // noffset is 1 if the nodes themselves are the points
    const double *offset;
    double reach;          // length of the longest offset, m
    bool rotates_finitely; // some offset has finite rotations
    int held;              // a node with offsets that supports fix completely, or -1
} pcs_points_of;

#define PCS_OFFSETS_HELP                                           \
    "[[x, y, z], ...]: rigid arms from each of the nodes, in the " \
    "reference state, m; their ends touch instead of the node"
#define PCS_OFFSETS_OPTION(type) PCS_LIST("offsets", type, offsets, PCS_OPTIONAL, PCS_ANY_NUMBER, PCS_OFFSETS_HELP)

// Returns NULL if the offsets are triples, else the fault.
const char *pcs_offsets_check(const pcs_list *offsets);
// Fills `*out` with the arm of point `part` to draw. Returns false if there is no such point.
bool pcs_offsets_show(const pcs_list *offsets, const pcs_set *nodes, int part, pcs_obstacle *out);
// Returns the number of points per node: its offsets, or 1 for the node itself.
static inline int pcs_offsets_per_node(const pcs_list *offsets)
{
    return offsets->count > 0 ? offsets->count / 3 : 1;
}
// Returns the length of the longest offset, m.
double pcs_offsets_reach(const pcs_list *offsets);
// Creates the points. Fails if a node with offsets has no rotations.
pcs_status pcs_points_create(pcs_context *ctx, const pcs_list *offsets, const pcs_set *nodes, const pcs_dofmap *map,
                             pcs_points_of *out);
// Fails if supports fix a node with offsets completely.
pcs_status pcs_points_demand_free(pcs_context *ctx, const pcs_points_of *points);
static inline int pcs_points_node(const pcs_points_of *points, int i)
{
    return points->nodes->items[i / points->noffset];
}

// Holds position and velocity of a point.
typedef struct pcs_point_now {
    int node;
    double x[3], arm[3];  // arm: from the node to the point
    double v[3], bend[3]; // velocity, and acceleration at constant v and w; zero unless nodes have velocities
} pcs_point_now;

void pcs_point_find(const pcs_points_of *points, int i, const pcs_places *places, pcs_point_now *out);
// Computes the same from the known position of its node.
void pcs_point_at(const pcs_points_of *points, int i, const pcs_place *place, pcs_point_now *out);
// Adds a force at the point, displaced by `beyond`, m.
void pcs_point_push(pcs_row_direction *row, const pcs_point_now *point, const double beyond[3], const double force[3]);

#endif
