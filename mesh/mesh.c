// Growing arrays of nodes, cells and sets; old blocks stay in the context until it is destroyed.

#include "mesh/mesh.h"

#include "core/rotation.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int mesh_compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int pcs_sort_unique(int count, int *list)
{
    int kept = 0;
    if (count > 0) qsort(list, (size_t)count, sizeof *list, mesh_compare);
    for (int i = 0; i < count; i++)
        if (kept == 0 || list[kept - 1] != list[i]) list[kept++] = list[i];
    return kept;
}

pcs_status pcs_mesh_create(pcs_context *ctx, pcs_mesh **out)
{
    pcs_mesh *mesh;
    PCS_TAKE(ctx, mesh, 1, "a mesh");
    mesh->ctx = mesh->memory = ctx;
    *out = mesh;
    return PCS_OK;
}

// Enlarges an array to hold `need` items. Copies the first `count`.
static pcs_status mesh_grow(pcs_mesh *mesh, void **array, int *room, int count, long need, size_t size)
{
    if (need <= *room) return PCS_OK;
    if (need > INT_MAX / 2)
        return pcs_fail(mesh->ctx, PCS_BAD_INPUT, "mesh: %ld items are more than the program can number", need);
    long wanted = need > 2L * *room ? need : 2L * *room;
    void *bigger = pcs_take(mesh->memory, (size_t)wanted, size, "the mesh");
    if (bigger == NULL) return PCS_NO_MEMORY;
    if (count > 0) memcpy(bigger, *array, (size_t)count * size);
    *array = bigger;
    *room = (int)wanted;
    return PCS_OK;
}

pcs_status pcs_mesh_add_nodes(pcs_mesh *mesh, int count, int *first)
{
    void *array = mesh->x;
    PCS_TRY(mesh_grow(mesh, &array, &mesh->node_room, mesh->nnode, (long)mesh->nnode + count, sizeof *mesh->x));
    mesh->x = array;
    *first = mesh->nnode;
    mesh->nnode += count;
    return PCS_OK;
}

pcs_status pcs_mesh_add_cells(pcs_mesh *mesh, int count, int *first)
{
    void *array = mesh->cell;
    PCS_TRY(mesh_grow(mesh, &array, &mesh->cell_room, mesh->ncell, (long)mesh->ncell + count, sizeof *mesh->cell));
    mesh->cell = array;
    *first = mesh->ncell;
    mesh->ncell += count;
    return PCS_OK;
}

int pcs_mesh_first_cell(const pcs_mesh *mesh, int cell)
{
    return pcs_mesh_is_whole(mesh) ? cell : pcs_lower_bound(mesh->ncell, mesh->share->cell, cell);
}

// Appends a set of `count` items for the caller to fill in.
__attribute__((format(printf, 5, 0))) static pcs_status mesh_add_set(pcs_mesh *mesh, bool of_cells, int count,
                                                                     int **items, const char *format, va_list arguments)
{
    pcs_set **sets = of_cells ? &mesh->cell_set : &mesh->node_set;
    int *nset = of_cells ? &mesh->ncell_set : &mesh->nnode_set;
    int *room = of_cells ? &mesh->cell_set_room : &mesh->node_set_room;
    void *array = *sets;
    char name[512];
    PCS_TRY(mesh_grow(mesh, &array, room, *nset, *nset + 1L, sizeof **sets));
    *sets = array;
    PCS_TAKE(mesh->memory, *items, count, "a set");
    if (vsnprintf(name, sizeof name, format, arguments) >= (int)sizeof name)
        return pcs_fail(mesh->memory, PCS_BAD_INPUT, "the name of the set '%.60s...' is too long", name);
    char *copy = pcs_take_text(mesh->memory, name);
    if (copy == NULL) return PCS_NO_MEMORY;
    (*sets)[(*nset)++] = (pcs_set){ .name = copy, .count = count, .items = *items };
    return PCS_OK;
}

pcs_status pcs_mesh_add_range(pcs_mesh *mesh, bool of_cells, int first, int count, const char *name, ...)
{
    int *own;
    va_list arguments;
    va_start(arguments, name);
    pcs_status status = mesh_add_set(mesh, of_cells, count, &own, name, arguments);
    va_end(arguments);
    if (status != PCS_OK) return status;
    for (int i = 0; i < count; i++) own[i] = first + i;
    return PCS_OK;
}

pcs_status pcs_mesh_add_list(pcs_mesh *mesh, bool of_cells, int count, const int *items, const char *name, ...)
{
    const unsigned char *is_kept = of_cells || mesh->share == NULL ? NULL : mesh->share->is_kept;
    int *own, kept = 0;
    va_list arguments;
    for (int i = 0; i < count; i++) kept += is_kept == NULL || is_kept[items[i]];
    va_start(arguments, name);
    pcs_status status = mesh_add_set(mesh, of_cells, kept, &own, name, arguments);
    va_end(arguments);
    if (status != PCS_OK) return status;
    for (int i = 0; i < count; i++)
        if (is_kept == NULL || is_kept[items[i]]) *own++ = items[i];
    return PCS_OK;
}

pcs_status pcs_mesh_add_chain(pcs_mesh *mesh, const char *name, int ncell, int nnode, int *node)
{
    int cell, last = ncell % nnode;
    PCS_TRY(pcs_mesh_add_nodes(mesh, nnode, node));
    PCS_TRY(pcs_mesh_add_cells(mesh, ncell, &cell));
    for (int i = 0; i < ncell; i++) {
        mesh->cell[cell + i][0] = *node + i;
        mesh->cell[cell + i][1] = *node + (i + 1) % nnode;
    }
    PCS_TRY(pcs_mesh_add_range(mesh, PCS_NODES, *node, nnode, "%s", name));
    PCS_TRY(pcs_mesh_add_range(mesh, PCS_CELLS, cell, ncell, "%s", name));
    PCS_TRY(pcs_mesh_add_range(mesh, PCS_NODES, *node, 1, "%s.start", name));
    PCS_TRY(pcs_mesh_add_range(mesh, PCS_CELLS, cell, 1, "%s.start", name));
    PCS_TRY(pcs_mesh_add_range(mesh, PCS_NODES, *node + 1, nnode - 1, "%s.rest", name));
    PCS_TRY(pcs_mesh_add_range(mesh, PCS_NODES, *node + last, 1, "%s.end", name));
    return pcs_mesh_add_range(mesh, PCS_CELLS, cell + ncell - 1, 1, "%s.end", name);
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

int pcs_dofmap_resolve(const pcs_dofmap *map, bool of_rotations, int node, const double direction[3],
                       int dof[PCS_MAX_NODE_DOFS], double coefficient[PCS_MAX_NODE_DOFS])
{
    // Compares with unit vectors, so that a force of 1e-200 N or 1e200 N also has a direction.
    double unit[3], seen2 = 0.0;
    int count = 0;
    if (!pcs_normalize3(direction, unit))
        return direction[0] == 0.0 && direction[1] == 0.0 && direction[2] == 0.0 ? 0 : -1;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        if (map->dof[i].is_rotation != of_rotations) continue;
        const double *d = map->dof[i].direction;
        double part = pcs_dot3(unit, d);
        // Ignores a component of the size of round-off.
        if (part * part <= 1e-24) continue;
        dof[count] = i;
        coefficient[count++] = pcs_dot3(direction, d);
        seen2 += part * part;
    }
    return fabs(seen2 - 1.0) <= 1e-9 ? count : -1;
}

int pcs_dofmap_find(const pcs_dofmap *map, bool of_rotations, int node, const double direction[3])
{
    for (int i = map->first[node]; i < map->first[node + 1]; i++)
        if (map->dof[i].is_rotation == of_rotations && pcs_dot3(direction, map->dof[i].direction) > 1.0 - 1e-9)
            return i;
    return -1;
}

void pcs_dofmap_vector(const pcs_dofmap *map, bool of_rotations, int node, const double *x, double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        const pcs_dof *d = &map->dof[i];
        if (d->is_rotation != of_rotations || d->equation < 0) continue;
        for (int k = 0; k < 3; k++) out[k] += x[d->equation] * d->direction[k];
    }
}

// Numbering by Cuthill and McKee: breadth first from an end, neighbours with few neighbours first.
//
// The matrix of a chain becomes tridiagonal (in blocks), that of a frame gets a band as wide as the front of the
// search. Ends are nodes with one neighbour; a part without any starts at the node a first search reaches last.

typedef struct order_graph {
    int nnode;
    int *start;     // [nnode + 1]
    int *neighbour; // [start[nnode]]
    int *queue;     // [nnode] nodes in their new order
    int *is_done;   // [nnode]
} order_graph;

static int order_degree(const order_graph *g, int node)
{
    return g->start[node + 1] - g->start[node];
}

static void order_fill(order_graph *g, int ncell, const int (*cell)[2])
{
    for (int i = 0; i <= g->nnode; i++) g->start[i] = 0;
    for (int i = 0; i < ncell; i++) {
        if (cell[i][0] == cell[i][1]) continue;
        g->start[cell[i][0]]++;
        g->start[cell[i][1]]++;
    }
    for (int i = 0; i < g->nnode; i++) g->start[i + 1] += g->start[i];
    for (int i = ncell - 1; i >= 0; i--) { // backwards, so that neighbours are in the order of the cells
        if (cell[i][0] == cell[i][1]) continue;
        g->neighbour[--g->start[cell[i][0]]] = cell[i][1];
        g->neighbour[--g->start[cell[i][1]]] = cell[i][0];
    }
}

// Appends the part that contains `root` to the queue, which has `count` nodes already. Returns the new count.
static int order_search(const order_graph *g, int root, int count)
{
    int head = count;
    g->queue[count++] = root;
    g->is_done[root] = 1;
    for (; head < count; head++) {
        int node = g->queue[head], first = count;
        for (int k = g->start[node]; k < g->start[node + 1]; k++) {
            int next = g->neighbour[k], place = count;
            if (g->is_done[next]) continue;
            g->is_done[next] = 1;
            for (; place > first && order_degree(g, g->queue[place - 1]) > order_degree(g, next); place--)
                g->queue[place] = g->queue[place - 1];
            g->queue[place] = next;
            count++;
        }
    }
    return count;
}

static void order_all(const order_graph *g, int *place)
{
    int count = 0;
    for (int i = 0; i < g->nnode; i++) g->is_done[i] = 0;
    for (int i = 0; i < g->nnode; i++)
        if (!g->is_done[i] && order_degree(g, i) == 1) count = order_search(g, i, count);
    for (int i = 0; i < g->nnode; i++) {
        if (g->is_done[i]) continue;
        int end = order_search(g, i, count), last = g->queue[end - 1];
        for (int k = count; k < end; k++) g->is_done[g->queue[k]] = 0;
        count = order_search(g, last, count);
    }
    for (int i = 0; i < g->nnode; i++) place[g->queue[i]] = i;
}

pcs_status pcs_mesh_order(pcs_context *ctx, int nnode, int ncell, const int (*cell)[2], int *place)
{
    size_t n = (size_t)nnode;
    int *memory = pcs_scratch(NULL, 3 * n + 1 + 2 * (size_t)ncell, sizeof *memory);
    if (memory == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: numbering %d nodes", nnode);
    order_graph g = { .nnode = nnode, .start = memory };
    g.queue = g.start + n + 1;
    g.is_done = g.queue + n;
    g.neighbour = g.is_done + n;
    order_fill(&g, ncell, cell);
    order_all(&g, place);
    pcs_scratch_free(memory);
    return PCS_OK;
}

void pcs_mesh_box(const pcs_mesh *mesh, double low[3], double high[3])
{
    if (!pcs_mesh_is_whole(mesh)) {
        memcpy(low, mesh->share->low, 3 * sizeof *low);
        memcpy(high, mesh->share->high, 3 * sizeof *high);
        return;
    }
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
        for (int i = 0; i < mesh->nnode; i++) {
            low[k] = fmin(low[k], mesh->x[i][k]);
            high[k] = fmax(high[k], mesh->x[i][k]);
        }
    }
}
