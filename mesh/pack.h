// The part of a rank, cut out of a whole mesh that another rank has, as a row of numbers that can be sent.

#ifndef PCS_MESH_PACK_H
#define PCS_MESH_PACK_H

#include "mesh/mesh.h"

// What parts are cut out of.
typedef struct pcs_cut {
    const pcs_mesh *whole;
    const int *owner; // [whole nnode] rank of each node
    int nspecial;
    const int *special;  // [nspecial] nodes that all ranks copy
    unsigned char *mark; // [whole nnode] for work
    int *node, *cell;    // [whole nnode], [whole ncell] likewise
} pcs_cut;

// The nodes of a rank, copies of their neighbours and of special nodes, all cells at these, and the sets; in scratch
// memory.
pcs_status pcs_mesh_pack(const pcs_cut *cut, int rank, int *count, int **out);
// Fills an empty mesh with it.
pcs_status pcs_mesh_unpack(pcs_mesh *mesh, const int *packed);

#endif
