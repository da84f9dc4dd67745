// The part of a mesh that a rank has, made by the sources themselves.

#ifndef PCS_MESH_PART_H
#define PCS_MESH_PART_H

#include "mesh/mesh.h"

// Puts the whole into a mesh, which takes what it wants; it is called several times.
typedef pcs_status pcs_mesh_put(void *maker, pcs_mesh *mesh);

// What a rank starts from.
typedef struct pcs_part {
    pcs_mesh_put *put;
    void *maker;
    int (*owner)(const void *owners, int node); // rank of a node
    const void *owners;
    int nown;
    const int *own; // [nown] node numbers, ascending
    int nspecial;
    const int *special; // [nspecial] nodes that all ranks copy
    bool has_copies;    // neighbours and special nodes are kept, too, with all their cells
} pcs_part;

// Fills an empty mesh with the part of this rank. All ranks take part.
pcs_status pcs_mesh_make_part(pcs_mesh *mesh, const pcs_part *part);
// Finds how many items the sets from these on have on all ranks. All ranks take part.
pcs_status pcs_mesh_count_sets(pcs_mesh *mesh, int first_node_set, int first_cell_set);

#endif
