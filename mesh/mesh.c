// Growing arrays of nodes, cells and sets; old blocks stay in the context until it is destroyed.

#include "mesh/mesh.h"

#include "mesh/sieve.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

pcs_status pcs_mesh_create(pcs_context *ctx, pcs_mesh **out)
{
    pcs_mesh *mesh;
    PCS_TAKE(ctx, mesh, 1, "a mesh");
    mesh->ctx = mesh->memory = ctx;
    *out = mesh;
    return PCS_OK;
}

static pcs_status mesh_check_count(pcs_mesh *mesh, long count)
{
    if (count <= INT_MAX / 2) return PCS_OK;
    return pcs_fail(mesh->ctx, PCS_BAD_INPUT, "mesh: %ld items are more than the program can number", count);
}

// Enlarges an array to hold `need` items. Copies the first `count`.
static pcs_status mesh_grow(pcs_mesh *mesh, void **array, int *room, int count, long need, size_t size)
{
    if (need <= *room) return PCS_OK;
    PCS_TRY(mesh_check_count(mesh, need));
    long wanted = need > 2L * *room ? need : 2L * *room;
    void *bigger = pcs_take(mesh->memory, (size_t)wanted, size, "the mesh");
    if (bigger == NULL) return PCS_NO_MEMORY;
    if (count > 0) memcpy(bigger, *array, (size_t)count * size);
    *array = bigger;
    *room = (int)wanted;
    return PCS_OK;
}

// Counts items of the whole mesh, which take no memory here.
static pcs_status mesh_count_on(pcs_mesh *mesh, int *total, int count, int *first)
{
    PCS_TRY(mesh_check_count(mesh, (long)*total + count));
    *first = *total;
    *total += count;
    return PCS_OK;
}

pcs_status pcs_mesh_add_nodes(pcs_mesh *mesh, int count, int *first)
{
    void *array = mesh->x;
    if (mesh->sieve != NULL) return mesh_count_on(mesh, &mesh->sieve->nnode, count, first);
    PCS_TRY(mesh_grow(mesh, &array, &mesh->node_room, mesh->nnode, (long)mesh->nnode + count, sizeof *mesh->x));
    mesh->x = array;
    *first = mesh->nnode;
    mesh->nnode += count;
    return PCS_OK;
}

pcs_status pcs_mesh_add_cells(pcs_mesh *mesh, int count, int *first)
{
    void *array = mesh->cell;
    if (mesh->sieve != NULL) return mesh_count_on(mesh, &mesh->sieve->ncell, count, first);
    PCS_TRY(mesh_grow(mesh, &array, &mesh->cell_room, mesh->ncell, (long)mesh->ncell + count, sizeof *mesh->cell));
    mesh->cell = array;
    *first = mesh->ncell;
    mesh->ncell += count;
    return PCS_OK;
}

int pcs_mesh_put_node(pcs_mesh *mesh, int node, const double x[3])
{
    int here = mesh->sieve == NULL ? node : pcs_sieve_node(mesh->sieve, node);
    if (here >= 0) memcpy(mesh->x[here], x, sizeof *mesh->x);
    return here;
}

int pcs_mesh_put_cell(pcs_mesh *mesh, int cell, int a, int b)
{
    const int node[2] = { a, b };
    if (mesh->sieve != NULL) return pcs_sieve_cell(mesh->sieve, mesh, cell, node);
    memcpy(mesh->cell[cell], node, sizeof *mesh->cell);
    return cell;
}

bool pcs_mesh_wants(const pcs_mesh *mesh, int first, int count)
{
    return mesh->sieve == NULL || pcs_sieve_wants(mesh->sieve, first, count);
}

bool pcs_mesh_only_searches(const pcs_mesh *mesh)
{
    return mesh->sieve != NULL && !mesh->sieve->fills;
}

int pcs_mesh_first_node(const pcs_mesh *mesh, int node)
{
    return pcs_mesh_is_whole(mesh) ? node : pcs_lower_bound(mesh->nnode, mesh->share->node, node);
}

int pcs_mesh_find_node(const pcs_mesh *mesh, int node)
{
    int here = pcs_mesh_first_node(mesh, node);
    return here < mesh->nnode && pcs_mesh_node_number(mesh, here) == node ? here : -1;
}

int pcs_mesh_first_cell(const pcs_mesh *mesh, int cell)
{
    return pcs_mesh_is_whole(mesh) ? cell : pcs_lower_bound(mesh->ncell, mesh->share->cell, cell);
}

// Appends a set of `count` items for the caller to fill in.
static pcs_status mesh_add_set(pcs_mesh *mesh, bool of_cells, const char *name, int count, int **items)
{
    pcs_set **sets = of_cells ? &mesh->cell_set : &mesh->node_set;
    int *nset = of_cells ? &mesh->ncell_set : &mesh->nnode_set;
    int *room = of_cells ? &mesh->cell_set_room : &mesh->node_set_room;
    void *array = *sets;
    PCS_TRY(mesh_grow(mesh, &array, room, *nset, *nset + 1L, sizeof **sets));
    *sets = array;
    PCS_TAKE(mesh->memory, *items, count, "a set");
    char *copy = pcs_take_text(mesh->memory, name);
    if (copy == NULL) return PCS_NO_MEMORY;
    (*sets)[(*nset)++] = (pcs_set){ .name = copy, .count = count, .items = *items };
    return PCS_OK;
}

static bool mesh_keeps(const pcs_mesh *mesh, bool of_cells, int item)
{
    return of_cells || mesh->share == NULL || mesh->share->is_kept[item];
}

// Adds the part of a range that is here as a set, with the indices of its items.
static pcs_status mesh_add_part_of_range(pcs_mesh *mesh, bool of_cells, const char *name, int first, int count)
{
    const int *number = of_cells ? mesh->share->cell : mesh->share->node;
    int n = of_cells ? mesh->ncell : mesh->nnode, *own, *place, kept = 0;
    int low = pcs_lower_bound(n, number, first), high = pcs_lower_bound(n, number, first + count);
    for (int i = low; i < high; i++) kept += mesh_keeps(mesh, of_cells, i);
    PCS_TRY(mesh_add_set(mesh, of_cells, name, kept, &own));
    PCS_TAKE(mesh->memory, place, kept, "a set");
    kept = 0;
    for (int i = low; i < high; i++) {
        if (!mesh_keeps(mesh, of_cells, i)) continue;
        own[kept] = i;
        place[kept++] = number[i] - first;
    }
    pcs_set *set = of_cells ? &mesh->cell_set[mesh->ncell_set - 1] : &mesh->node_set[mesh->nnode_set - 1];
    set->place = place;
    return PCS_OK;
}

static pcs_status mesh_add_range(pcs_mesh *mesh, bool of_cells, const char *name, int first, int count)
{
    int *own;
    if (pcs_mesh_only_searches(mesh) || mesh->lacks_sets) return PCS_OK;
    if (!pcs_mesh_is_whole(mesh)) return mesh_add_part_of_range(mesh, of_cells, name, first, count);
    PCS_TRY(mesh_add_set(mesh, of_cells, name, count, &own));
    for (int i = 0; i < count; i++) own[i] = first + i;
    return PCS_OK;
}

static pcs_status mesh_add_list(pcs_mesh *mesh, bool of_cells, const char *name, int count, const int *items)
{
    int *own, kept = 0;
    if (pcs_mesh_only_searches(mesh) || mesh->lacks_sets) return PCS_OK;
    for (int i = 0; i < count; i++) kept += mesh_keeps(mesh, of_cells, items[i]);
    PCS_TRY(mesh_add_set(mesh, of_cells, name, kept, &own));
    for (int i = 0; i < count; i++)
        if (mesh_keeps(mesh, of_cells, items[i])) *own++ = items[i];
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
    for (int done = 0; done < ncell; done += PCS_CHAIN_PIECE) {
        int end = ncell - done < PCS_CHAIN_PIECE ? ncell : done + PCS_CHAIN_PIECE;
        bool closes = end == nnode; // the last cell of a ring ends at the first node
        if (!pcs_mesh_wants(mesh, *node + done, end - done + 1) && !(closes && pcs_mesh_wants(mesh, *node, 1)))
            continue;
        for (int i = done; i < end; i++) pcs_mesh_put_cell(mesh, cell + i, *node + i, *node + (i + 1) % nnode);
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

const pcs_set *pcs_set_touching(const pcs_set *set, const char *by)
{
    for (const pcs_set *own = set->own; own != NULL; own = own->own)
        if (strcmp(own->by, by) == 0) return own;
    return set;
}

pcs_status pcs_mesh_deal_set(const pcs_mesh *mesh, const char *name, const char *by, int rank)
{
    const pcs_set *first = pcs_mesh_node_set(mesh, by);
    pcs_set *set = mesh->node_set, *own;
    int *items, *place, count = 0;
    while (strcmp(set->name, name) != 0) set++;
    if (pcs_set_touching(set, by) != set) return PCS_OK;
    for (int i = 0; i < set->count; i++) count += mesh->share->owner[first->items[i]] == rank;
    PCS_TAKE(mesh->memory, own, 1, "a set");
    PCS_TAKE(mesh->memory, items, count, "a set");
    PCS_TAKE(mesh->memory, place, count, "a set");
    *own = (pcs_set){ .name = set->name, .items = items, .place = place, .nmore = pcs_set_size(set) - count };
    own->by = first->name;
    own->own = set->own;
    for (int i = 0; i < set->count; i++) {
        if (mesh->share->owner[first->items[i]] != rank) continue;
        place[own->count] = pcs_set_place(set, i);
        items[own->count++] = set->items[i];
    }
    set->own = own;
    return PCS_OK;
}

const pcs_set *pcs_mesh_node_set(const pcs_mesh *mesh, const char *name)
{
    return mesh_find(mesh->node_set, mesh->nnode_set, name);
}

const pcs_set *pcs_mesh_cell_set(const pcs_mesh *mesh, const char *name)
{
    return mesh_find(mesh->cell_set, mesh->ncell_set, name);
}

#define PCS_MESH_SOURCE(name) extern const pcs_mesh_source_ops pcs_mesh_##name;
#include "mesh/mesh_source_list.def"
#undef PCS_MESH_SOURCE

const pcs_mesh_source_ops *const pcs_mesh_sources[] = {
#define PCS_MESH_SOURCE(name) &pcs_mesh_##name,
#include "mesh/mesh_source_list.def"
#undef PCS_MESH_SOURCE
    NULL,
};
