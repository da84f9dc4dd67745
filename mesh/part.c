#include "mesh/part.h"

#include "core/comm.h"
#include "mesh/mesh.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static pcs_status part_out_of_memory(const pcs_mesh *mesh)
{
    return pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: the part of the mesh of a rank");
}

// Holds the arrays of a part while it is filled.
typedef struct part_share {
    pcs_mesh_share *share;
    int *node, *cell, *owner;
    unsigned char *is_kept;
} part_share;

// Allocates a part of so many nodes and cells, and sets its number of nodes.
static pcs_status part_take(pcs_mesh *mesh, int nnode, int ncell, part_share *out)
{
    PCS_TAKE(mesh->memory, out->share, 1, "the mesh");
    PCS_TAKE(mesh->memory, mesh->x, nnode, "the mesh");
    PCS_TAKE(mesh->memory, mesh->cell, ncell, "the mesh");
    PCS_TAKE(mesh->memory, out->node, nnode, "the mesh");
    PCS_TAKE(mesh->memory, out->cell, ncell, "the mesh");
    PCS_TAKE(mesh->memory, out->owner, nnode, "the mesh");
    PCS_TAKE(mesh->memory, out->is_kept, nnode, "the mesh");
    *out->share = (pcs_mesh_share){ .node = out->node, .cell = out->cell, .owner = out->owner };
    out->share->is_kept = out->is_kept;
    mesh->nnode = mesh->node_room = nnode;
    mesh->cell_room = ncell;
    mesh->share = out->share;
    return PCS_OK;
}

// Returns set i of those of nodes and then of cells.
static const pcs_set *part_set(const pcs_mesh *mesh, int i, bool *of_cells)
{
    *of_cells = i >= mesh->nnode_set;
    return *of_cells ? &mesh->cell_set[i - mesh->nnode_set] : &mesh->node_set[i];
}

// Flags why a node is in the part: owned by the rank, neighbour of such a node, needed on all ranks, end of a cell.
enum { PACK_OWN = 1, PACK_NEAR = 2, PACK_SPECIAL = 4, PACK_END = 8 };
enum { PACK_KEPT = PACK_OWN | PACK_NEAR | PACK_SPECIAL };

// Lists sizes in ints: counts and the box. Per node: number, rank, is_kept flag and position. Per cell: number and
// nodes. Per set: kind, size in the whole mesh and here, length of its name, the name, items and indices.
enum { DOUBLE = sizeof(double) / sizeof(int), COUNTS = 5, BOX = 6 * DOUBLE, HEAD = COUNTS + BOX };
enum { PLACE = 3 * DOUBLE, PER_NODE = 3 + PLACE, PER_CELL = 3, SET_HEAD = 4 };

static void pack_mark(const pcs_cut *cut, int rank)
{
    const pcs_mesh *whole = cut->whole;
    unsigned char *mark = cut->mark;
    for (int i = 0; i < whole->nnode; i++) mark[i] = cut->owner[i] == rank ? PACK_OWN : 0;
    for (int c = 0; c < whole->ncell; c++)
        for (int k = 0; k < 2; k++)
            if (mark[whole->cell[c][k]] & PACK_OWN) mark[whole->cell[c][1 - k]] |= PACK_NEAR;
    for (int i = 0; i < cut->nspecial; i++) mark[cut->special[i]] |= PACK_SPECIAL;
    for (int c = 0; c < whole->ncell; c++)
        for (int k = 0; k < 2; k++)
            if (mark[whole->cell[c][k]] & PACK_KEPT) mark[whole->cell[c][1 - k]] |= PACK_END;
}

// Assigns numbers to nodes and cells in the part, -1 if absent. Counts them.
static void pack_number(const pcs_cut *cut, int count[2])
{
    const pcs_mesh *whole = cut->whole;
    count[0] = count[1] = 0;
    for (int i = 0; i < whole->nnode; i++) cut->node[i] = cut->mark[i] != 0 ? count[0]++ : -1;
    for (int c = 0; c < whole->ncell; c++) {
        const int *node = whole->cell[c];
        bool is_here = ((cut->mark[node[0]] | cut->mark[node[1]]) & PACK_KEPT) != 0;
        cut->cell[c] = is_here ? count[1]++ : -1;
    }
}

// Returns the number, in the part, of item i of a set. -1 if the part's set lacks it.
static int pack_item(const pcs_cut *cut, const pcs_set *set, bool of_cells, int i)
{
    int item = set->items[i];
    if (of_cells) return cut->cell[item];
    return cut->mark[item] & PACK_KEPT ? cut->node[item] : -1;
}

static int pack_count_items(const pcs_cut *cut, const pcs_set *set, bool of_cells)
{
    int count = 0;
    for (int i = 0; i < set->count; i++) count += pack_item(cut, set, of_cells, i) >= 0;
    return count;
}

static int pack_name_size(const pcs_set *set)
{
    return (int)(strlen(set->name) / sizeof(int)) + 1;
}

static int *pack_put_set(const pcs_cut *cut, const pcs_set *set, bool of_cells, int *to)
{
    int size = pack_name_size(set), count = 0;
    int *items = to + SET_HEAD + size, *places = items + pack_count_items(cut, set, of_cells);
    memset(to + SET_HEAD, 0, (size_t)size * sizeof *to);
    memcpy(to + SET_HEAD, set->name, strlen(set->name));
    for (int i = 0; i < set->count; i++) {
        int item = pack_item(cut, set, of_cells, i);
        if (item < 0) continue;
        items[count] = item;
        places[count++] = i;
    }
    memcpy(to, (int[SET_HEAD]){ of_cells, set->count, count, size }, SET_HEAD * sizeof *to);
    return places + count;
}

static int *pack_put_items(const pcs_cut *cut, int *to)
{
    const pcs_mesh *whole = cut->whole;
    for (int i = 0; i < whole->nnode; i++) {
        if (cut->node[i] < 0) continue;
        memcpy(to, (int[3]){ i, cut->owner[i], (cut->mark[i] & PACK_KEPT) != 0 }, 3 * sizeof *to);
        memcpy(to + 3, whole->x[i], sizeof whole->x[i]);
        to += PER_NODE;
    }
    for (int c = 0; c < whole->ncell; c++) {
        const int *node = whole->cell[c];
        if (cut->cell[c] < 0) continue;
        memcpy(to, (int[PER_CELL]){ c, cut->node[node[0]], cut->node[node[1]] }, PER_CELL * sizeof *to);
        to += PER_CELL;
    }
    return to;
}

static pcs_status pack_all(const pcs_cut *cut, int rank, int *count, int **out)
{
    const pcs_mesh *whole = cut->whole;
    int here[2], nset = whole->nnode_set + whole->ncell_set;
    bool of_cells;
    double box[2][3];
    pack_mark(cut, rank);
    pack_number(cut, here);
    size_t size = HEAD + PER_NODE * (size_t)here[0] + PER_CELL * (size_t)here[1];
    for (int i = 0; i < nset; i++) {
        const pcs_set *set = part_set(whole, i, &of_cells);
        size += SET_HEAD + (size_t)pack_name_size(set) + 2 * (size_t)pack_count_items(cut, set, of_cells);
    }
    int *to = size > INT_MAX ? NULL : pcs_scratch(NULL, size, sizeof *to);
    *out = to;
    *count = (int)size;
    if (to == NULL) return part_out_of_memory(whole);
    pcs_mesh_box(whole, box[0], box[1]);
    memcpy(to, (int[COUNTS]){ here[0], here[1], whole->nnode, whole->ncell, nset }, COUNTS * sizeof *to);
    memcpy(to + COUNTS, box, sizeof box);
    to = pack_put_items(cut, to + HEAD);
    for (int i = 0; i < nset; i++) {
        const pcs_set *set = part_set(whole, i, &of_cells);
        to = pack_put_set(cut, set, of_cells, to);
    }
    return PCS_OK;
}

pcs_status pcs_mesh_pack(const pcs_cut *cut, int rank, int *count, int **out)
{
    size_t nnode = (size_t)cut->whole->nnode, ncell = (size_t)cut->whole->ncell;
    pcs_cut own = *cut;
    own.mark = pcs_scratch(NULL, nnode, sizeof *own.mark);
    own.node = pcs_scratch(NULL, nnode + ncell, sizeof *own.node);
    own.cell = own.node + nnode;
    bool is_taken = own.mark != NULL && own.node != NULL;
    pcs_status status = is_taken ? pack_all(&own, rank, count, out) : part_out_of_memory(cut->whole);
    pcs_scratch_free(own.mark);
    pcs_scratch_free(own.node);
    return status;
}

static pcs_status pack_take_set(pcs_mesh *mesh, const int **from)
{
    bool of_cells = (*from)[0] != 0;
    int all = (*from)[1], count = (*from)[2], *place;
    const char *name = (const char *)(*from + SET_HEAD);
    const int *items = *from + SET_HEAD + (*from)[3];
    PCS_TAKE(mesh->memory, place, count, "a set");
    if (count > 0) memcpy(place, items + count, (size_t)count * sizeof *place);
    PCS_TRY(pcs_mesh_add_list(mesh, of_cells, count, items, "%s", name));
    pcs_set *set = of_cells ? &mesh->cell_set[mesh->ncell_set - 1] : &mesh->node_set[mesh->nnode_set - 1];
    set->place = place;
    set->nmore = all - count;
    *from = items + 2 * (size_t)count;
    return PCS_OK;
}

pcs_status pcs_mesh_unpack(pcs_mesh *mesh, const int *packed)
{
    int nnode = packed[0], ncell = packed[1], nset = packed[4];
    const int *from = packed + HEAD;
    part_share p;
    PCS_TRY(part_take(mesh, nnode, ncell, &p));
    for (int i = 0; i < nnode; i++, from += PER_NODE) {
        p.node[i] = from[0];
        p.owner[i] = from[1];
        p.is_kept[i] = from[2] != 0;
        memcpy(mesh->x[i], from + 3, sizeof mesh->x[i]);
    }
    for (int c = 0; c < ncell; c++, from += PER_CELL) {
        p.cell[c] = from[0];
        memcpy(mesh->cell[c], from + 1, sizeof mesh->cell[c]);
    }
    p.share->nnode = packed[2];
    p.share->ncell = packed[3];
    memcpy(p.share->low, packed + COUNTS, sizeof p.share->low);
    memcpy(p.share->high, packed + COUNTS + 3 * DOUBLE, sizeof p.share->high);
    mesh->ncell = ncell;
    for (int i = 0; i < nset; i++) PCS_TRY(pack_take_set(mesh, &from));
    return PCS_OK;
}

pcs_status pcs_mesh_distribute_set(const pcs_mesh *mesh, const char *name, const char *by, int rank)
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

// Merges the lists of all ranks, in scratch memory: ascending, without duplicates. All ranks must call it.
static pcs_status drop_unite(pcs_context *ctx, int *count, int **list)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    pcs_numbers all = { 0 };
    int *counts = pcs_scratch(NULL, 2 * (size_t)comm->size, sizeof *counts), *start = counts + comm->size, total = 0;
    pcs_status status = counts == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %d ranks", comm->size) : PCS_OK;
    PCS_TRY(pcs_agree(ctx, status));
    for (int r = 0; r < comm->size; r++) {
        counts[r] = *count;
        start[r] = 0;
    }
    status = comm->exchange(comm, ctx, counts, start, *list, &all);
    if (status == PCS_OK)
        for (int r = 0; r < comm->size; r++) total += all.count[r];
    pcs_scratch_free(counts);
    pcs_scratch_free(*list);
    pcs_scratch_free(all.count);
    *list = all.value;
    *count = pcs_sort_unique(total, all.value);
    return status;
}

// Lists the dropped cells of all ranks by their numbers in the whole mesh, if ranks have parts; in scratch memory.
static pcs_status drop_list(pcs_mesh *mesh, const bool *is_dropped, int *count, int **list)
{
    const pcs_mesh_share *share = mesh->share;
    int rank = pcs_context_comm(mesh->ctx)->rank;
    pcs_status status = PCS_OK;
    *count = 0;
    *list = pcs_scratch(NULL, (size_t)mesh->ncell, sizeof **list);
    if (*list == NULL) status = pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: %d cells", mesh->ncell);
    PCS_TRY(pcs_agree(mesh->ctx, status));
    for (int c = 0; c < mesh->ncell; c++)
        if (is_dropped[c] && share->owner[mesh->cell[c][0]] == rank) (*list)[(*count)++] = share->cell[c];
    return drop_unite(mesh->ctx, count, list);
}

// Computes the numbers that the remaining cells have in the whole mesh without the dropped ones.
static pcs_status drop_share(pcs_mesh *mesh, const bool *is_dropped, int ngone, const int *gone)
{
    pcs_mesh_share *share;
    int *cell, count = 0;
    PCS_TAKE(mesh->memory, share, 1, "the mesh");
    PCS_TAKE(mesh->memory, cell, mesh->ncell, "the mesh");
    for (int c = 0; c < mesh->ncell; c++)
        if (!is_dropped[c]) cell[count++] = mesh->share->cell[c] - pcs_lower_bound(ngone, gone, mesh->share->cell[c]);
    *share = *mesh->share;
    share->cell = cell;
    share->ncell -= ngone;
    mesh->share = share;
    return PCS_OK;
}

pcs_status pcs_part_drop(pcs_mesh *mesh, const bool *is_dropped)
{
    int count = 0, *list = NULL;
    pcs_status status = drop_list(mesh, is_dropped, &count, &list);
    if (status == PCS_OK) status = drop_share(mesh, is_dropped, count, list);
    pcs_scratch_free(list);
    return status;
}

// A cell belongs to the rank of its first node.
pcs_status pcs_part_count_sets(pcs_mesh *mesh, const int *before)
{
    const pcs_comm *comm = pcs_context_comm(mesh->ctx);
    double *size = pcs_scratch(NULL, (size_t)mesh->ncell_set + 1, sizeof *size);
    PCS_TRY(pcs_agree(mesh->ctx, size == NULL ? part_out_of_memory(mesh) : PCS_OK));
    for (int i = 0; i < mesh->ncell_set; i++) {
        const pcs_set *set = &mesh->cell_set[i];
        size[i] = 0.0;
        for (int k = 0; k < set->count; k++) size[i] += mesh->share->owner[mesh->cell[set->items[k]][0]] == comm->rank;
    }
    comm->sum(comm, mesh->ncell_set, size);
    for (int i = 0; i < mesh->ncell_set; i++) {
        mesh->cell_set[i].nmore = (int)size[i] - mesh->cell_set[i].count;
        if ((int)size[i] != before[i]) mesh->cell_set[i].place = NULL;
    }
    pcs_scratch_free(size);
    return PCS_OK;
}
