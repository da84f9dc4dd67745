// Nodes, cells and named sets of both; and the table of mesh sources.

#ifndef PCS_MESH_MESH_H
#define PCS_MESH_MESH_H

#include "core/context.h"
#include "core/option.h"

typedef struct pcs_set {
    const char *name;
    int count;
    const int *items; // [count] node or cell numbers
    int nmore;        // number of items that only other ranks have
    const int *place; // [count] index of the items among those of all ranks; NULL if unknown, or if all are here
    // Nodes at which this rank has contacts, if these are distributed: the nodes with the same indices as its own nodes
    // in set `by`. own->own are those by another set. NULL if contacts are not distributed.
    const struct pcs_set *own;
    const char *by;
} pcs_set;

// The part of a mesh on a rank: own nodes, copies of others, and all cells at both. Nodes that are needed only as ends
// of such cells are in no set.
typedef struct pcs_mesh_share {
    int nnode, ncell;             // of the whole mesh
    const int *node, *cell;       // [mesh nnode], [mesh ncell] numbers in the whole mesh, ascending; NULL if whole
    const int *owner;             // [mesh nnode] rank of each node
    const unsigned char *is_kept; // [mesh nnode] owned by this rank, or copied
    double low[3], high[3];       // corners of the bounding box of the whole mesh, m
} pcs_mesh_share;

typedef struct pcs_mesh {
    int nnode, ncell, nnode_set, ncell_set;
    double (*x)[3];                                         // [nnode] reference position, m
    int (*cell)[2];                                         // [ncell] node numbers; both equal for a point
    pcs_set *node_set;                                      // [nnode_set]
    pcs_set *cell_set;                                      // [ncell_set]
    int node_room, cell_room, node_set_room, cell_set_room; // capacities while the mesh is built
    const pcs_mesh_share *share;                            // NULL if all belongs to this rank
    pcs_context *ctx;                                       // borrowed
    pcs_context *memory;                                    // owner of nodes, cells and sets; borrowed
} pcs_mesh;

// Computes the corners of the bounding box of all nodes, m; infinite if there are none.
void pcs_mesh_box(const pcs_mesh *mesh, double low[3], double high[3]);

pcs_status pcs_mesh_create(pcs_context *ctx, pcs_mesh **out);

// Appends `count` nodes (cells) and sets *first to the number of the first. The caller fills them in.
pcs_status pcs_mesh_add_nodes(pcs_mesh *mesh, int count, int *first);
pcs_status pcs_mesh_add_cells(pcs_mesh *mesh, int count, int *first);
// Returns the first cell on this rank whose number in the whole mesh is at least this.
int pcs_mesh_first_cell(const pcs_mesh *mesh, int cell);

// Adds a set of consecutive nodes, or cells, first, first+1, ... of the whole mesh; its name as by printf.
enum { PCS_NODES = false, PCS_CELLS = true };
__attribute__((format(printf, 5, 6))) pcs_status pcs_mesh_add_range(pcs_mesh *mesh, bool of_cells, int first, int count,
                                                                    const char *name, ...);

// Adds a set of any items of this rank, in this order. Copies the items.
__attribute__((format(printf, 5, 6))) pcs_status pcs_mesh_add_list(pcs_mesh *mesh, bool of_cells, int count,
                                                                   const int *items, const char *name, ...);
// Adds nodes from *node on and the cells between consecutive ones, with the sets `name`, `name.start`, `name.rest` (all
// nodes but the first) and `name.end`. A ring if nnode is ncell, else nnode is ncell + 1. The caller sets positions.
pcs_status pcs_mesh_add_chain(pcs_mesh *mesh, const char *name, int ncell, int nnode, int *node);

// Returns the number of an item in the whole mesh.
static inline int pcs_mesh_node_number(const pcs_mesh *mesh, int node)
{
    return mesh->share == NULL || mesh->share->node == NULL ? node : mesh->share->node[node];
}
static inline int pcs_mesh_cell_number(const pcs_mesh *mesh, int cell)
{
    return mesh->share == NULL || mesh->share->cell == NULL ? cell : mesh->share->cell[cell];
}
// Returns true if the whole mesh is on this rank, not distributed.
static inline bool pcs_mesh_is_whole(const pcs_mesh *mesh)
{
    return mesh->share == NULL || mesh->share->node == NULL;
}
// Returns the number of items of a set over all ranks.
static inline int pcs_set_size(const pcs_set *set)
{
    return set->count + set->nmore;
}
// Returns the index of item i among the items of all ranks, -1 if unknown.
static inline int pcs_set_place(const pcs_set *set, int i)
{
    if (set->place != NULL) return set->place[i];
    return set->nmore == 0 ? i : -1;
}

// Returns the nodes of a set at which this rank has contacts: those with the same indices as its own nodes in set `by`.
const pcs_set *pcs_set_touching(const pcs_set *set, const char *by);

// Returns the set, or NULL if there is none of that name.
const pcs_set *pcs_mesh_node_set(const pcs_mesh *mesh, const char *name);
const pcs_set *pcs_mesh_cell_set(const pcs_mesh *mesh, const char *name);

// Describes a type of mesh part, e.g. `line`.
typedef struct pcs_mesh_source_ops {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    // Returns NULL if `params` are valid, else the error; *option names the key.
    const char *(*check)(const void *params, const char **option);
    // Adds nodes, cells and the sets `name`, `name.*` to the mesh.
    pcs_status (*build)(const void *params, const char *name, pcs_mesh *mesh);
    bool has_zero_lengths; // cells may have zero length, which their elements accept or refuse
} pcs_mesh_source_ops;

extern const pcs_mesh_source_ops *const pcs_mesh_sources[]; // ends with NULL

// Returns the number of entries of an ascending list that are below `value`.
static inline int pcs_lower_bound(int count, const int *list, int value)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (list[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Sorts a list, ascending, and removes duplicates. Returns how many are left.
int pcs_sort_unique(int count, int *list);

// Which degrees of freedom a node has, along which directions, and their equation numbers.
//
// A node's position is X + sum_i u_i d_i over its translational dofs with unit directions d_i; the
// directions of one node are orthonormal. Fixed dofs have no equation.

typedef struct pcs_dof {
    double direction[3];
    int node;
    int equation; // -1 if fixed, -2 if on other ranks only
    bool is_rotation;
    bool is_finite; // finite rotation: an angle, or one of three components of a rotation vector
} pcs_dof;

typedef struct pcs_dofmap {
    const pcs_mesh *mesh;
    int ndof, nequation;
    const int *first; // [nnode + 1] the dofs of node i are first[i] .. first[i+1]-1
    pcs_dof *dof;     // [ndof]
} pcs_dofmap;

enum { PCS_MAX_NODE_DOFS = 6, PCS_EQUATION_ELSEWHERE = -2 };

// Returns the dof of `node` that moves along `direction`, or rotates about it; -1 if there is none.
int pcs_dofmap_find(const pcs_dofmap *map, bool of_rotations, int node, const double direction[3]);

// Computes sum_i x_i d_i over the translations of a node, or over its rotations.
void pcs_dofmap_vector(const pcs_dofmap *map, bool of_rotations, int node, const double *x, double out[3]);

// Resolves the displacement of `node` along `direction` as sum_i coefficient_i u_i over its translations, or its
// rotation about it over its rotations (fixed ones included). Returns the number of terms, or -1 if it cannot move so.
int pcs_dofmap_resolve(const pcs_dofmap *map, bool of_rotations, int node, const double direction[3],
                       int dof[PCS_MAX_NODE_DOFS], double coefficient[PCS_MAX_NODE_DOFS]);

// An order of nodes in which neighbours have close numbers.

// Computes the new number place[i] of node i, 0 .. nnode-1. A chain of cells is numbered from one end to the other,
// starting at the end with the lower number. Other parts are numbered by the distance from an end.
pcs_status pcs_mesh_order(pcs_context *ctx, int nnode, int ncell, const int (*cell)[2], int *place);

#endif
