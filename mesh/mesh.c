// Growing arrays of nodes, cells and sets; old blocks stay in the context until it is destroyed.

#include "mesh/mesh.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

pcs_status pcs_mesh_create(pcs_context *ctx, pcs_mesh **out)
{
    pcs_mesh *mesh;
    PCS_TAKE(ctx, mesh, 1, "a mesh");
    mesh->ctx = ctx;
    *out = mesh;
    return PCS_OK;
}

// Gives an array with room for `need` items that starts with the `count` items of the old one.
static pcs_status mesh_grow(pcs_context *ctx, void **array, int *room, int count, long need, size_t size)
{
    if (need <= *room) return PCS_OK;
    if (need > INT_MAX / 2)
        return pcs_fail(ctx, PCS_BAD_INPUT, "mesh: %ld items are more than the program can number", need);
    long wanted = need > 2L * *room ? need : 2L * *room;
    void *bigger = pcs_take(ctx, (size_t)wanted, size, "the mesh");
    if (bigger == NULL) return PCS_NO_MEMORY;
    if (count > 0) memcpy(bigger, *array, (size_t)count * size);
    *array = bigger;
    *room = (int)wanted;
    return PCS_OK;
}

pcs_status pcs_mesh_add_nodes(pcs_mesh *mesh, int count, int *first)
{
    void *array = mesh->x;
    PCS_TRY(mesh_grow(mesh->ctx, &array, &mesh->node_room, mesh->nnode, (long)mesh->nnode + count, sizeof *mesh->x));
    mesh->x = array;
    *first = mesh->nnode;
    mesh->nnode += count;
    return PCS_OK;
}

pcs_status pcs_mesh_add_cells(pcs_mesh *mesh, int count, int *first)
{
    void *array = mesh->cell;
    PCS_TRY(mesh_grow(mesh->ctx, &array, &mesh->cell_room, mesh->ncell, (long)mesh->ncell + count, sizeof *mesh->cell));
    mesh->cell = array;
    *first = mesh->ncell;
    mesh->ncell += count;
    return PCS_OK;
}

// Appends a set of `count` items for the caller to fill in.
static pcs_status mesh_add_set(pcs_mesh *mesh, bool of_cells, const char *name, int count, int **items)
{
    pcs_set **sets = of_cells ? &mesh->cell_set : &mesh->node_set;
    int *nset = of_cells ? &mesh->ncell_set : &mesh->nnode_set;
    int *room = of_cells ? &mesh->cell_set_room : &mesh->node_set_room;
    void *array = *sets;
    PCS_TRY(mesh_grow(mesh->ctx, &array, room, *nset, *nset + 1L, sizeof **sets));
    *sets = array;
    PCS_TAKE(mesh->ctx, *items, count, "a set");
    char *copy = pcs_take_text(mesh->ctx, name);
    if (copy == NULL) return PCS_NO_MEMORY;
    (*sets)[(*nset)++] = (pcs_set){ .name = copy, .count = count, .items = *items };
    return PCS_OK;
}

static pcs_status mesh_add_range(pcs_mesh *mesh, bool of_cells, const char *name, int first, int count)
{
    int *own;
    PCS_TRY(mesh_add_set(mesh, of_cells, name, count, &own));
    for (int i = 0; i < count; i++) own[i] = first + i;
    return PCS_OK;
}

static pcs_status mesh_add_list(pcs_mesh *mesh, bool of_cells, const char *name, int count, const int *items)
{
    int *own;
    PCS_TRY(mesh_add_set(mesh, of_cells, name, count, &own));
    for (int i = 0; i < count; i++) own[i] = items[i];
    return PCS_OK;
}

pcs_status pcs_mesh_add_node_range(pcs_mesh *mesh, const char *name, int first, int count)
{
    return mesh_add_range(mesh, false, name, first, count);
}

pcs_status pcs_mesh_add_cell_range(pcs_mesh *mesh, const char *name, int first, int count)
{
    return mesh_add_range(mesh, true, name, first, count);
}

pcs_status pcs_mesh_add_node_list(pcs_mesh *mesh, const char *name, int count, const int *items)
{
    return mesh_add_list(mesh, false, name, count, items);
}

pcs_status pcs_mesh_add_cell_list(pcs_mesh *mesh, const char *name, int count, const int *items)
{
    return mesh_add_list(mesh, true, name, count, items);
}

pcs_status pcs_mesh_add_chain(pcs_mesh *mesh, const char *name, int ncell, int nnode, int *node)
{
    char text[256];
    int cell, last = ncell % nnode;
    PCS_TRY(pcs_mesh_add_nodes(mesh, nnode, node));
    PCS_TRY(pcs_mesh_add_cells(mesh, ncell, &cell));
    for (int i = 0; i < ncell; i++) {
        mesh->cell[cell + i][0] = *node + i;
        mesh->cell[cell + i][1] = *node + (i + 1) % nnode;
    }
    PCS_TRY(pcs_mesh_add_node_range(mesh, name, *node, nnode));
    PCS_TRY(pcs_mesh_add_cell_range(mesh, name, cell, ncell));
    snprintf(text, sizeof text, "%s.start", name);
    PCS_TRY(pcs_mesh_add_node_range(mesh, text, *node, 1));
    PCS_TRY(pcs_mesh_add_cell_range(mesh, text, cell, 1));
    snprintf(text, sizeof text, "%s.rest", name);
    PCS_TRY(pcs_mesh_add_node_range(mesh, text, *node + 1, nnode - 1));
    snprintf(text, sizeof text, "%s.end", name);
    PCS_TRY(pcs_mesh_add_node_range(mesh, text, *node + last, 1));
    return pcs_mesh_add_cell_range(mesh, text, cell + ncell - 1, 1);
}

static const pcs_set *mesh_find(const pcs_set *sets, int nset, const char *name)
{
    for (int i = 0; i < nset; i++)
        if (strcmp(sets[i].name, name) == 0) return &sets[i];
    return NULL;
}

const pcs_set *pcs_mesh_node_set(const pcs_mesh *mesh, const char *name)
{
    return mesh_find(mesh->node_set, mesh->nnode_set, name);
}

const pcs_set *pcs_mesh_cell_set(const pcs_mesh *mesh, const char *name)
{
    return mesh_find(mesh->cell_set, mesh->ncell_set, name);
}
