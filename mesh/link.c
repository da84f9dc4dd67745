// Cells between nodes of other parts: the i-th node of one set and the i-th of another, for springs.
//
// The sets come from parts of the mesh that stand before this one. A set of one node is joined to every node of the
// other. Makes the set `name` of these cells and of their nodes.

#include "mesh/mesh.h"

typedef struct link_params {
    const char *a, *b;
} link_params;

static const pcs_option link_options[] = {
    PCS_TEXT("a", link_params, a, PCS_REQUIRED, "node set of a part of the mesh above"),
    PCS_TEXT("b", link_params, b, PCS_REQUIRED,
             "node set that is joined to it, node by node; one node is joined to all"),
    { 0 },
};

static pcs_status link_find(pcs_mesh *mesh, const char *name, const pcs_set **out)
{
    *out = pcs_mesh_node_set(mesh, name);
    if (*out != NULL) return PCS_OK;
    return pcs_fail(mesh->ctx, PCS_BAD_INPUT, "no part of the mesh above makes a set of nodes '%s'", name);
}

// Adds a set of the nodes of both sets, each once.
static pcs_status link_add_nodes(pcs_mesh *mesh, const char *name, const pcs_set *a, const pcs_set *b)
{
    int *list = pcs_scratch(NULL, (size_t)mesh->nnode + (size_t)a->count + (size_t)b->count, sizeof *list), n = 0;
    if (list == NULL) return pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: %d nodes", mesh->nnode);
    int *is_listed = list + a->count + b->count;
    for (int i = 0; i < mesh->nnode; i++) is_listed[i] = 0;
    for (int i = 0; i < a->count + b->count; i++) {
        int node = i < a->count ? a->items[i] : b->items[i - a->count];
        if (is_listed[node]) continue;
        is_listed[node] = 1;
        list[n++] = node;
    }
    pcs_status status = pcs_mesh_add_list(mesh, PCS_NODES, n, list, "%s", name);
    pcs_scratch_free(list);
    return status;
}

static pcs_status link_build(const void *params, const char *name, pcs_mesh *mesh)
{
    const link_params *p = params;
    const pcs_set *found_a, *found_b;
    PCS_TRY(link_find(mesh, p->a, &found_a));
    PCS_TRY(link_find(mesh, p->b, &found_b));
    const pcs_set a = *found_a, b = *found_b; // adding a set may move the others in memory
    int count = a.count > b.count ? a.count : b.count, cell;
    if ((a.count != count && a.count != 1) || (b.count != count && b.count != 1))
        return pcs_fail(mesh->ctx, PCS_BAD_INPUT, "'%s' has %d nodes and '%s' has %d, must be as many or one", p->a,
                        a.count, p->b, b.count);
    PCS_TRY(pcs_mesh_add_cells(mesh, count, &cell));
    for (int i = 0; i < count; i++) {
        int *node = mesh->cell[cell + i];
        node[0] = a.items[a.count == 1 ? 0 : i];
        node[1] = b.items[b.count == 1 ? 0 : i];
        if (node[0] == node[1])
            return pcs_fail(mesh->ctx, PCS_BAD_INPUT,
                            "'%s' and '%s' have node %d in common, it cannot be joined to itself", p->a, p->b, node[0]);
    }
    PCS_TRY(pcs_mesh_add_range(mesh, PCS_CELLS, cell, count, "%s", name));
    return link_add_nodes(mesh, name, &a, &b);
}

const pcs_mesh_source_ops pcs_mesh_link = {
    .name = "link",
    .summary = "cells between nodes of other parts, for springs; set NAME",
    .options = link_options,
    .params_size = sizeof(link_params),
    .build = link_build,
    .has_zero_lengths = true,
};
