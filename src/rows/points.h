// Points of a contact: nodes, or points fixed to nodes at offsets, which turn with them; private to this folder.
//
//   p = x + R r,  p' = v + w x R r,  and at constant v and w  p'' = w x (w x R r)
//
// Every node carries all offsets; points are counted node by node.

#ifndef PCS_ROWS_POINTS_H
#define PCS_ROWS_POINTS_H

#include "rows/source.h"

typedef struct pcs_points_of {
    const pcs_set *nodes;
    int count, noffset; // noffset is 1 if the nodes themselves are the points
    const double *offset;
    double reach;        // length of the longest offset, m
    bool turns_finitely; // some offset has finite rotations
    int held;            // a node with offsets that supports fix completely, or -1
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
