// One-node cells, for masses, discs and rigid bodies: at nodes of their own, or at nodes of parts that stand above.
//
// Makes the set `name` of all of them, in the order they are given.

#include "mesh/mesh.h"

typedef struct point_params {
    pcs_list at;
    const char *nodes;
} point_params;

static const pcs_option point_options[] = {
    PCS_LIST("at", point_params, at, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "position [x, y, z], or a list of positions, of new nodes, m"),
    PCS_TEXT("nodes", point_params, nodes, PCS_OPTIONAL, "instead of 'at': node set of a part of the mesh above"),
    { 0 },
};

static const char *point_check(const void *params, const char **option)
{
    const point_params *p = params;
    *option = NULL;
    if (p->at.count == 0 && p->nodes == NULL) return "missing key 'at' or 'nodes'";
    *option = "nodes";
    if (p->at.count > 0 && p->nodes != NULL) return "'at' and 'nodes' are both given, only one is allowed";
    *option = "at";
    return p->at.count == 3 * p->at.nrow ? NULL : "a position must have 3 numbers [x, y, z]";
}

static pcs_status point_add_nodes(const pcs_list *at, const char *name, pcs_mesh *mesh)
{
    int node;
    PCS_TRY(pcs_mesh_add_nodes(mesh, at->nrow, &node));
    for (int i = 0; i < at->nrow; i++)
        for (int k = 0; k < 3; k++) mesh->x[node + i][k] = at->value[3 * i + k];
    return pcs_mesh_add_range(mesh, PCS_NODES, node, at->nrow, "%s", name);
}

static pcs_status point_take_nodes(const char *nodes, const char *name, pcs_mesh *mesh)
{
    const pcs_set *set = pcs_mesh_node_set(mesh, nodes);
    if (set == NULL)
        return pcs_fail(mesh->ctx, PCS_BAD_INPUT, "no part of the mesh above makes a set of nodes '%s'", nodes);
    const pcs_set copy = *set; // adding a set may move the others in memory
    return pcs_mesh_add_list(mesh, PCS_NODES, copy.count, copy.items, "%s", name);
}

static pcs_status point_build(const void *params, const char *name, pcs_mesh *mesh)
{
    const point_params *p = params;
    int cell;
    PCS_TRY(p->nodes == NULL ? point_add_nodes(&p->at, name, mesh) : point_take_nodes(p->nodes, name, mesh));
    const pcs_set *set = &mesh->node_set[mesh->nnode_set - 1];
    PCS_TRY(pcs_mesh_add_cells(mesh, set->count, &cell));
    for (int i = 0; i < set->count; i++) mesh->cell[cell + i][0] = mesh->cell[cell + i][1] = set->items[i];
    return pcs_mesh_add_range(mesh, PCS_CELLS, cell, set->count, "%s", name);
}

const pcs_mesh_source_ops pcs_mesh_point = {
    .name = "point",
    .summary = "one-node cells at new or given nodes, for masses, discs and rigid bodies; set NAME",
    .options = point_options,
    .params_size = sizeof(point_params),
    .check = point_check,
    .build = point_build,
};
