// Merges nodes and removes cells of a complete mesh.

#ifndef PCS_MESH_MERGE_H
#define PCS_MESH_MERGE_H

#include "mesh/mesh.h"

// Holds which nodes are merged: into[i] <= i is the node that i becomes, or a link towards it.
typedef struct pcs_merge {
    const pcs_mesh *mesh;
    int *into;     // [mesh nnode] scratch memory
    bool is_any;   // true once any nodes are merged
    long ncompare; // number of pairs of nodes compared
} pcs_merge;

pcs_status pcs_merge_begin(const pcs_mesh *mesh, pcs_merge *merge);
// Merges the nodes that lie within `tolerance`, m, of one another.
pcs_status pcs_merge_add(pcs_merge *merge, int count, const int *nodes, double tolerance);
// Returns the node that this one becomes.
int pcs_merge_find(pcs_merge *merge, int node);
// Applies the merge: the first of merged nodes stays, the others leave the mesh, cells and sets follow, and the nodes
// are renumbered along the cells. Fails if the two nodes of a cell would become one.
pcs_status pcs_merge_apply(pcs_merge *merge, pcs_mesh *mesh);
void pcs_merge_end(pcs_merge *merge);

// Removes the marked cells from the mesh and from all sets. The others keep their order. For parts of a mesh every
// process must call it, and mark its own cells.
pcs_status pcs_mesh_drop_cells(pcs_mesh *mesh, const bool *is_dropped);

// Choosing nodes by where they are.

typedef struct pcs_selection {
    pcs_list at;      // positions, rows of 3; empty if unrestricted
    pcs_list box;     // two opposite corners; empty if unrestricted
    pcs_list plane;   // a point and the normal; empty if unrestricted
    double tolerance; // distance up to which a node still counts, m
} pcs_selection;

// Returns 1e-6 of the box's diagonal, m.
double pcs_mesh_tolerance(const pcs_mesh *mesh);

// Returns NULL if the selection is valid, else the fault; *key names the key.
const char *pcs_selection_check(const pcs_selection *s, const char **key);

// Keeps those of the `*count` nodes that the selection takes, in their order. Fails if there are none, or none at one
// of the positions. The message gives the distance of the nearest one.
pcs_status pcs_mesh_select(const pcs_mesh *mesh, const pcs_selection *s, int *count, int *nodes);
// Returns true if the node is in the box and on the plane.
bool pcs_selection_holds(const pcs_selection *s, const double x[3]);

#endif
