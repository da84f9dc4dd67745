// Points of a contact: nodes, or points fixed to nodes at offsets, which turn with them; private to this folder.
//
//   p = x + R r,  p' = v + w x R r,  and at constant v and w  p'' = w x (w x R r)
//
// Every node carries all offsets; points are counted node by node.

#ifndef PCS_CONTACT_POINTS_H
#define PCS_CONTACT_POINTS_H

#include "contact/contact.h"

typedef struct pcs_points_of {
    const pcs_set *nodes;
    int count, noffset; // noffset is 1 where the nodes themselves are the points
    const double *offset;
    double reach;        // m, of the longest offset
    bool turns_finitely; // some offset turns by any angle
    int held;            // a node with offsets that supports hold in every way, or -1
} pcs_points_of;

#define PCS_OFFSETS_HELP                                          \
    "[[x, y, z], ...]: arms fixed to each of the nodes, from it " \
    "in the reference state, m; their ends touch in place of the node"
#define PCS_OFFSETS_OPTION(type) PCS_LIST("offsets", type, offsets, PCS_OPTIONAL, PCS_ANY_NUMBER, PCS_OFFSETS_HELP)

// NULL when they are triples, else what is wrong.
const char *pcs_offsets_check(const pcs_list *offsets);
// The arm of a point as pictures show it, point by point; false: there is no such point.
bool pcs_offsets_show(const pcs_list *offsets, const pcs_set *nodes, int part, pcs_obstacle *out);
// Points of a node: its offsets, or itself.
static inline int pcs_offsets_per_node(const pcs_list *offsets)
{
    return offsets->count > 0 ? offsets->count / 3 : 1;
}
// Length of the longest one, m.
double pcs_offsets_reach(const pcs_list *offsets);
// The nodes must turn.
pcs_status pcs_points_create(pcs_context *ctx, const pcs_list *offsets, const pcs_set *nodes, const pcs_dofmap *map,
                             pcs_points_of *out);
// PCS_BAD_INPUT when nothing of a node is free.
pcs_status pcs_points_demand_free(pcs_context *ctx, const pcs_points_of *points);
static inline int pcs_points_node(const pcs_points_of *points, int i)
{
    return points->nodes->items[i / points->noffset];
}

// A point at the present positions.
typedef struct pcs_point_now {
    int node;
    double x[3], arm[3];  // arm: from the node
    double v[3], bend[3]; // velocity, and acceleration at constant v and w; zero unless the places have velocities
} pcs_point_now;

void pcs_point_find(const pcs_points_of *points, int i, const pcs_places *places, pcs_point_now *out);
// The same where the place of its node is known.
void pcs_point_at(const pcs_points_of *points, int i, const pcs_place *place, pcs_point_now *out);
// Adds a force at the point, and `beyond` further.
void pcs_point_push(pcs_row_direction *row, const pcs_point_now *point, const double beyond[3], const double force[3]);

#endif
