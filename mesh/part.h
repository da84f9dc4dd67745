// The part of a mesh that a rank has: made by the sources themselves, or cut out of a whole mesh that another rank has,
// as a row of numbers that can be sent.

#ifndef PCS_MESH_PART_H
#define PCS_MESH_PART_H

#include "mesh/mesh.h"

// Puts the whole mesh into `mesh`, which takes what it wants; called several times.
typedef pcs_status pcs_mesh_put(void *maker, pcs_mesh *mesh);

// Holds the input for the part of a rank: the source of the whole mesh, the owners of nodes, and nodes to copy.
typedef struct pcs_part {
    pcs_mesh_put *put;
    void *maker;
    int (*owner)(const void *owners, int node); // Returns the rank of a node.
    const void *owners;
    int nown;
    const int *own; // [nown] node numbers, ascending
    int nspecial;
    const int *special; // [nspecial] nodes that all ranks copy
    bool has_copies;    // neighbours and special nodes are kept, too, with all their cells
} pcs_part;

// Fills an empty mesh with the part of this rank. All ranks must call it.
pcs_status pcs_mesh_make_part(pcs_mesh *mesh, const pcs_part *part);
// Finds how many items the sets from these on have over all ranks. All ranks must call it.
pcs_status pcs_mesh_count_sets(pcs_mesh *mesh, int first_node_set, int first_cell_set);

// Holds the whole mesh that parts are cut out of, the owners of its nodes, and workspace.
typedef struct pcs_cut {
    const pcs_mesh *whole;
    const int *owner; // [whole nnode] rank of each node
    int nspecial;
    const int *special;  // [nspecial] nodes that all ranks copy
    unsigned char *mark; // [whole nnode] workspace
    int *node, *cell;    // [whole nnode], [whole ncell] workspace
} pcs_cut;

// Packs the nodes of a rank, copies of their neighbours and of special nodes, all cells at these, and the sets; in
// scratch memory.
pcs_status pcs_mesh_pack(const pcs_cut *cut, int rank, int *count, int **out);
// Fills an empty mesh from packed data.
pcs_status pcs_mesh_unpack(pcs_mesh *mesh, const int *packed);

#endif
