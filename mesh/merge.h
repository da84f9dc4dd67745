// Nodes that become one, cells that go: changes of a mesh that is there.

#ifndef PCS_MESH_MERGE_H
#define PCS_MESH_MERGE_H

#include "mesh/mesh.h"

// Which nodes become one: into[i] <= i is the node that i becomes, or a step on the way to it.
typedef struct pcs_merge {
    const pcs_mesh *mesh;
    int *into;     // [mesh nnode] scratch memory
    bool is_any;   // has anything been joined?
    long ncompare; // pairs of nodes that were compared
} pcs_merge;

pcs_status pcs_merge_begin(const pcs_mesh *mesh, pcs_merge *merge);
// Joins those of the nodes that lie within `tolerance` of one another.
pcs_status pcs_merge_add(pcs_merge *merge, int count, const int *nodes, double tolerance);
// The node that this one becomes.
int pcs_merge_find(pcs_merge *merge, int node);
// Carries it out: the first of joined nodes stays, the others leave the mesh, cells and sets follow, and the nodes are
// numbered anew along the cells. A cell whose two nodes would become one is a fault.
pcs_status pcs_merge_apply(pcs_merge *merge, pcs_mesh *mesh);
void pcs_merge_end(pcs_merge *merge);

// Takes the marked cells out of the mesh and of all sets; the others keep their order. Of parts of a mesh all ranks take
// part, and mark what they have; one that shows the whole (not NULL) loses the same cells there.
pcs_status pcs_mesh_drop_cells(pcs_mesh *mesh, const bool *is_dropped, pcs_mesh *shown);

#endif
