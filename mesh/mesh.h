// Nodes, cells and named sets of both; and the table of mesh sources.

#ifndef PCS_MESH_MESH_H
#define PCS_MESH_MESH_H

#include "core/context.h"
#include "core/option.h"

typedef struct pcs_set {
    const char *name;
    int count;
    const int *items; // [count] node or cell numbers
    int nmore;        // items that only other ranks have
    const int *place; // [count] of the items among those of all ranks; NULL: not known, or all are here
    // Nodes at which this rank has contacts, if these are distributed: the nodes at the places of its own nodes in the
    // set `by`; own->own are those by another set. NULL if contacts are not distributed.
    const struct pcs_set *own;
    const char *by;
} pcs_set;

// Holds the part of a mesh that a rank has: own nodes, copies of others, and all cells at both. Nodes that are there
// only as far ends of such cells are in no set.
typedef struct pcs_mesh_share {
    int nnode, ncell;             // of the whole
    const int *node, *cell;       // [mesh nnode], [mesh ncell] numbers in the whole, ascending; NULL: it is all here
    const int *owner;             // [mesh nnode] rank of each node
    const unsigned char *is_kept; // [mesh nnode] of this rank, or copied
    double low[3], high[3];       // corners of the box round the whole
} pcs_mesh_share;

typedef struct pcs_mesh {
    int nnode, ncell, nnode_set, ncell_set;
    double (*x)[3];                                         // [nnode] reference position, m
    int (*cell)[2];                                         // [ncell] node numbers; both equal: a point
    pcs_set *node_set;                                      // [nnode_set]
    pcs_set *cell_set;                                      // [ncell_set]
    int node_room, cell_room, node_set_room, cell_set_room; // capacities while the mesh is built
    bool lacks_sets;                                        // none are made
    const pcs_mesh_share *share;                            // NULL: all is of this rank
    struct pcs_sieve *sieve;                                // while a part is built (mesh/sieve.h); NULL: it takes all
    pcs_context *ctx;                                       // borrowed
    pcs_context *memory;                                    // of nodes, cells and sets; borrowed
} pcs_mesh;

pcs_status pcs_mesh_create(pcs_context *ctx, pcs_mesh **out);

// Append `count` nodes (cells) and give the number of the first; the caller fills them in.
pcs_status pcs_mesh_add_nodes(pcs_mesh *mesh, int count, int *first);
pcs_status pcs_mesh_add_cells(pcs_mesh *mesh, int count, int *first);
// Fill one in. All numbers are those of the whole; where a sieve holds it back that is -1, else its number here.
int pcs_mesh_put_node(pcs_mesh *mesh, int node, const double x[3]);
int pcs_mesh_put_cell(pcs_mesh *mesh, int cell, int a, int b);
// May the mesh take one of `count` nodes, or a cell at them? Sources pass over what it does not want.
bool pcs_mesh_wants(const pcs_mesh *mesh, int first, int count);
// The number here of a node of the whole, -1: it is not; of the first node, or cell, that is not before one of the
// whole; and is all this only to find neighbours, so that neither nodes nor sets are needed?
int pcs_mesh_find_node(const pcs_mesh *mesh, int node);
int pcs_mesh_first_node(const pcs_mesh *mesh, int node);
int pcs_mesh_first_cell(const pcs_mesh *mesh, int cell);
bool pcs_mesh_only_searches(const pcs_mesh *mesh);

// Named sets of consecutive items first, first+1, ... of the whole; the name is copied.
pcs_status pcs_mesh_add_node_range(pcs_mesh *mesh, const char *name, int first, int count);
pcs_status pcs_mesh_add_cell_range(pcs_mesh *mesh, const char *name, int first, int count);

// Named sets of any items here, in this order; the items are copied.
pcs_status pcs_mesh_add_node_list(pcs_mesh *mesh, const char *name, int count, const int *items);
pcs_status pcs_mesh_add_cell_list(pcs_mesh *mesh, const char *name, int count, const int *items);
enum { PCS_CHAIN_PIECE = 1024 }; // cells of a chain that are wanted or passed over together
// Nodes from *node on and the cells from each to the next, with the sets `name`, `name.start`, `name.rest` (all nodes
// but the first) and `name.end`; as many nodes as cells make a ring, else nnode is ncell + 1. The caller places them.
pcs_status pcs_mesh_add_chain(pcs_mesh *mesh, const char *name, int ncell, int nnode, int *node);

// Number of an item in the whole.
static inline int pcs_mesh_node_number(const pcs_mesh *mesh, int node)
{
    return mesh->share == NULL || mesh->share->node == NULL ? node : mesh->share->node[node];
}
static inline int pcs_mesh_cell_number(const pcs_mesh *mesh, int cell)
{
    return mesh->share == NULL || mesh->share->cell == NULL ? cell : mesh->share->cell[cell];
}
// Is it here, rather than on this rank and others?
static inline bool pcs_mesh_is_whole(const pcs_mesh *mesh)
{
    return mesh->share == NULL || mesh->share->node == NULL;
}
// Items of a set on all ranks.
static inline int pcs_set_size(const pcs_set *set)
{
    return set->count + set->nmore;
}
// Returns the place of item i among the items of all ranks, -1 if it is not known.
static inline int pcs_set_place(const pcs_set *set, int i)
{
    if (set->place != NULL) return set->place[i];
    return set->nmore == 0 ? i : -1;
}

// Makes `own` of a set of nodes by another one of as many nodes, or by itself, unless it has one.
pcs_status pcs_mesh_deal_set(const pcs_mesh *mesh, const char *name, const char *by, int rank);
// Nodes of a set at which this rank has contacts that belong to the nodes at the same places of the set `by`.
const pcs_set *pcs_set_touching(const pcs_set *set, const char *by);

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
    bool puts_parts;       // `build` fills nodes and cells in by put_node and put_cell, so that a rank may make its own
} pcs_mesh_source_ops;

extern const pcs_mesh_source_ops *const pcs_mesh_sources[]; // ends with NULL

#endif
