// The part of a mesh that a rank has, cut out of the whole mesh as a row of numbers that can be sent.

#ifndef PCS_MESH_PART_H
#define PCS_MESH_PART_H

#include "mesh/mesh.h"

// Creates `own` of a set of nodes by another set of equal size, or by itself, unless it has one.
pcs_status pcs_mesh_deal_set(const pcs_mesh *mesh, const char *name, const char *by, int rank);

// Gives the remaining cells of all ranks new numbers in the whole mesh. All ranks must call it.
pcs_status pcs_part_drop(pcs_mesh *mesh, const bool *is_dropped);
// Finds how many items the sets of cells have over all ranks; those that had another size before, [ncell_set], no
// longer know the places of their items. All ranks must call it.
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

// Packs the nodes of a rank, copies of their neighbours and of special nodes, all cells at these, and the sets; in
// scratch memory.
pcs_status pcs_mesh_pack(const pcs_cut *cut, int rank, int *count, int **out);
// Fills an empty mesh from packed data.
pcs_status pcs_mesh_unpack(pcs_mesh *mesh, const int *packed);

#endif
