// The part of a mesh that a rank has, cut out of the whole mesh as a row of numbers that can be sent.

#ifndef PCS_MESH_PART_H
#define PCS_MESH_PART_H

#include "mesh/mesh.h"

// Fills `own`, the nodes at which this rank has contacts, from another set of equal size or itself, if empty.
pcs_status pcs_mesh_distribute_set(const pcs_mesh *mesh, const char *name, const char *by, int rank);

// Gives the remaining cells of all ranks new numbers in the whole mesh. All ranks must call it.
pcs_status pcs_part_drop(pcs_mesh *mesh, const bool *is_dropped);
// Counts the items of the sets of cells over all ranks. Where the count differs from the old one, [ncell_set], indices
// of items are discarded. All ranks must call it.
pcs_status pcs_part_count_sets(pcs_mesh *mesh, const int *before);

// Holds the whole mesh that parts are cut out of, the owners of its nodes, and workspace of `pack`.
typedef struct pcs_cut {
    const pcs_mesh *whole;
    const int *owner; // [whole nnode] rank of each node
    int nspecial;
    const int *special;  // [nspecial] nodes that all ranks copy
    unsigned char *mark; // [whole nnode]
    int *node, *cell;    // [whole nnode], [whole ncell]
} pcs_cut;

// Packs the nodes of a rank, copies of their neighbours and of special nodes, all cells at these, and the sets, in
// scratch memory.
pcs_status pcs_mesh_pack(const pcs_cut *cut, int rank, int *count, int **out);
// Fills an empty mesh from packed data.
pcs_status pcs_mesh_unpack(pcs_mesh *mesh, const int *packed);

#endif
