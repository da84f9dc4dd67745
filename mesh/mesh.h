// Nodes, cells and named sets of both; and the table of mesh sources.

#ifndef PCS_MESH_MESH_H
#define PCS_MESH_MESH_H

#include "core/context.h"
#include "core/option.h"

typedef struct pcs_set {
    const char *name;
    int count;
    const int *items; // [count] node or cell numbers
} pcs_set;

typedef struct pcs_mesh {
    int nnode, ncell, nnode_set, ncell_set;
    double (*x)[3];                                         // [nnode] reference position, m
    int (*cell)[2];                                         // [ncell] node numbers; both equal: a point
    pcs_set *node_set;                                      // [nnode_set]
    pcs_set *cell_set;                                      // [ncell_set]
    int node_room, cell_room, node_set_room, cell_set_room; // capacities while the mesh is built
    pcs_context *ctx;                                       // borrowed
} pcs_mesh;

pcs_status pcs_mesh_create(pcs_context *ctx, pcs_mesh **out);

// Append `count` nodes (cells) and give the number of the first; the caller fills them in.
pcs_status pcs_mesh_add_nodes(pcs_mesh *mesh, int count, int *first);
pcs_status pcs_mesh_add_cells(pcs_mesh *mesh, int count, int *first);

// Named sets of consecutive items first, first+1, ...; the name is copied.
pcs_status pcs_mesh_add_node_range(pcs_mesh *mesh, const char *name, int first, int count);
pcs_status pcs_mesh_add_cell_range(pcs_mesh *mesh, const char *name, int first, int count);

// Named sets of any items, in this order; the items are copied.
pcs_status pcs_mesh_add_node_list(pcs_mesh *mesh, const char *name, int count, const int *items);
pcs_status pcs_mesh_add_cell_list(pcs_mesh *mesh, const char *name, int count, const int *items);
// Nodes from *node on and the cells from each to the next, with the sets `name`, `name.start`, `name.rest` (all nodes
// but the first) and `name.end`; as many nodes as cells make a ring, else nnode is ncell + 1. The caller places them.
pcs_status pcs_mesh_add_chain(pcs_mesh *mesh, const char *name, int ncell, int nnode, int *node);

// NULL when there is no set of that name.
const pcs_set *pcs_mesh_node_set(const pcs_mesh *mesh, const char *name);
const pcs_set *pcs_mesh_cell_set(const pcs_mesh *mesh, const char *name);

// A way to make a part of the mesh, e.g. `line`.
typedef struct pcs_mesh_source_ops {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    // NULL when `params` are sound, else a sentence that says what is wrong; *option names the culprit.
    const char *(*check)(const void *params, const char **option);
    // Adds nodes, cells and the sets `name`, `name.*` to the mesh.
    pcs_status (*build)(const void *params, const char *name, pcs_mesh *mesh);
    bool has_zero_lengths; // its cells may have no length: what becomes of them their elements say
} pcs_mesh_source_ops;

extern const pcs_mesh_source_ops *const pcs_mesh_sources[]; // ends with NULL

#endif
