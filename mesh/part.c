#include "mesh/part.h"

#include "core/comm.h"
#include "mesh/mesh.h"

#include <limits.h>
#include <math.h>
#include <string.h>

// Holds a list of nodes in scratch memory.
typedef struct part_list {
    int count, *node;
} part_list;

static pcs_status part_out_of_memory(const pcs_mesh *mesh)
{
    return pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: the part of the mesh of a rank");
}

// Adds `more` to a list.
static pcs_status part_join(pcs_mesh *mesh, part_list *list, int count, const int *more)
{
    int *bigger = pcs_scratch(list->node, (size_t)list->count + (size_t)count, sizeof *bigger);
    if (bigger == NULL) return part_out_of_memory(mesh);
    if (count > 0) memcpy(bigger + list->count, more, (size_t)count * sizeof *bigger);
    list->node = bigger;
    list->count = pcs_sort_unique(list->count + count, bigger);
    return PCS_OK;
}

// Adds the other ends of all cells at the nodes of `at` to `to`. Counts these cells.
static pcs_status part_search(pcs_mesh *mesh, const pcs_part *part, const part_list *at, part_list *to, int *ncell)
{
    pcs_sieve sieve = { .nwanted = at->count, .wanted = at->node };
    mesh->sieve = &sieve;
    pcs_status status = part->put(part->maker, mesh);
    if (status == PCS_OK && sieve.is_out_of_memory) status = part_out_of_memory(mesh);
    if (status == PCS_OK) status = part_join(mesh, to, sieve.nfound, sieve.found);
    *ncell = sieve.ntouching;
    pcs_scratch_free(sieve.found);
    mesh->sieve = NULL;
    return status;
}

// Computes the bounding box of all nodes of all ranks, m.
static void part_measure(const pcs_mesh *mesh, const pcs_comm *comm, pcs_mesh_share *share)
{
    double ends[6];
    for (int k = 0; k < 3; k++) {
        ends[k] = ends[3 + k] = -INFINITY;
        for (int i = 0; i < mesh->nnode; i++) {
            ends[k] = fmax(ends[k], -mesh->x[i][k]);
            ends[3 + k] = fmax(ends[3 + k], mesh->x[i][k]);
        }
    }
    comm->max(comm, 6, ends);
    for (int k = 0; k < 3; k++) {
        share->low[k] = -ends[k];
        share->high[k] = ends[3 + k];
    }
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

// Allocates the part and fills it in: all nodes of `all`, and the `ncell` cells at those of `kept`.
static pcs_status part_fill(pcs_mesh *mesh, const pcs_part *part, const part_list *kept, const part_list *all,
                            int ncell)
{
    part_share p;
    PCS_TRY(part_take(mesh, all->count, ncell, &p));
    for (int i = 0, k = 0; i < all->count; i++) {
        p.node[i] = all->node[i];
        p.owner[i] = part->owner(part->owners, p.node[i]);
        p.is_kept[i] = k < kept->count && kept->node[k] == p.node[i];
        k += p.is_kept[i];
    }
    pcs_sieve sieve = { .fills = true, .nwanted = all->count, .wanted = p.node, .is_kept = p.is_kept, .cell = p.cell };
    mesh->sieve = &sieve;
    pcs_status status = part->put(part->maker, mesh);
    mesh->sieve = NULL;
    p.share->nnode = sieve.nnode;
    p.share->ncell = sieve.ncell;
    return status;
}

static pcs_status part_make(pcs_mesh *mesh, const pcs_part *part, part_list *kept, part_list *all)
{
    int ncell = 0;
    PCS_TRY(part_join(mesh, kept, part->nown, part->own));
    if (part->has_copies) {
        PCS_TRY(part_search(mesh, part, kept, all, &ncell));
        PCS_TRY(part_join(mesh, kept, all->count, all->node));
        PCS_TRY(part_join(mesh, kept, part->nspecial, part->special));
        all->count = 0;
    }
    PCS_TRY(part_search(mesh, part, kept, all, &ncell));
    PCS_TRY(part_join(mesh, all, kept->count, kept->node));
    return part_fill(mesh, part, kept, all, ncell);
}

pcs_status pcs_mesh_make_part(pcs_mesh *mesh, const pcs_part *part)
{
    const pcs_comm *comm = pcs_context_comm(mesh->ctx);
    part_list kept = { 0 }, all = { 0 };
    pcs_status status = part_make(mesh, part, &kept, &all);
    pcs_scratch_free(kept.node);
    pcs_scratch_free(all.node);
    PCS_TRY(pcs_agree(mesh->ctx, status));
    pcs_mesh_share *share;
    PCS_TAKE(mesh->memory, share, 1, "the mesh");
    *share = *mesh->share;
    part_measure(mesh, comm, share);
    mesh->share = share;
    return pcs_mesh_count_sets(mesh, 0, 0);
}

// Returns the number of items of a set that this rank owns; a cell belongs to the rank of its first node.
static int part_count_own(const pcs_mesh *mesh, int rank, const pcs_set *set, bool of_cells)
{
    int count = 0;
    for (int i = 0; i < set->count; i++) {
        int node = of_cells ? mesh->cell[set->items[i]][0] : set->items[i];
        count += mesh->share->owner[node] == rank;
    }
    return count;
}

// Returns set i of those from the first ones on, of nodes and then of cells.
static pcs_set *part_set(const pcs_mesh *mesh, int first_node_set, int first_cell_set, int i, bool *of_cells)
{
    int nnode_set = mesh->nnode_set - first_node_set;
    *of_cells = i >= nnode_set;
    return *of_cells ? &mesh->cell_set[first_cell_set + i - nnode_set] : &mesh->node_set[first_node_set + i];
}

pcs_status pcs_mesh_count_sets(pcs_mesh *mesh, int first_node_set, int first_cell_set)
{
    const pcs_comm *comm = pcs_context_comm(mesh->ctx);
    int count = mesh->nnode_set - first_node_set + mesh->ncell_set - first_cell_set;
    bool of_cells;
    double *size = pcs_scratch(NULL, (size_t)count, sizeof *size);
    PCS_TRY(pcs_agree(mesh->ctx, size == NULL ? part_out_of_memory(mesh) : PCS_OK));
    for (int i = 0; i < count; i++) {
        const pcs_set *set = part_set(mesh, first_node_set, first_cell_set, i, &of_cells);
        size[i] = part_count_own(mesh, comm->rank, set, of_cells);
    }
    comm->sum(comm, count, size);
    for (int i = 0; i < count; i++) {
        pcs_set *set = part_set(mesh, first_node_set, first_cell_set, i, &of_cells);
        set->nmore = (int)size[i] - set->count;
    }
    pcs_scratch_free(size);
    return PCS_OK;
}

// Flags why a node is in the part: the rank owns it, or a neighbour; all ranks have it; it ends a cell of these.
enum { PACK_OWN = 1, PACK_NEAR = 2, PACK_SPECIAL = 4, PACK_END = 8 };
enum { PACK_KEPT = PACK_OWN | PACK_NEAR | PACK_SPECIAL };

// Lists sizes in ints: counts and the box; per node its number, rank, is_kept flag and position; per cell its number
// and nodes; per set its kind, its size in the whole and here, the length of its name, then that, items and indices.
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

// Returns the number in the part of item i of a set; -1 if the part's set lacks it.
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

pcs_status pcs_mesh_pack(const pcs_cut *cut, int rank, int *count, int **out)
{
    const pcs_mesh *whole = cut->whole;
    int here[2], nset = whole->nnode_set + whole->ncell_set;
    bool of_cells;
    double box[2][3];
    pack_mark(cut, rank);
    pack_number(cut, here);
    size_t size = HEAD + PER_NODE * (size_t)here[0] + PER_CELL * (size_t)here[1];
    for (int i = 0; i < nset; i++) {
        const pcs_set *set = part_set(whole, 0, 0, i, &of_cells);
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
        const pcs_set *set = part_set(whole, 0, 0, i, &of_cells);
        to = pack_put_set(cut, set, of_cells, to);
    }
    return PCS_OK;
}

static pcs_status pack_take_set(pcs_mesh *mesh, const int **from)
{
    bool of_cells = (*from)[0] != 0;
    int all = (*from)[1], count = (*from)[2], *place;
    const char *name = (const char *)(*from + SET_HEAD);
    const int *items = *from + SET_HEAD + (*from)[3];
    PCS_TAKE(mesh->memory, place, count, "a set");
    if (count > 0) memcpy(place, items + count, (size_t)count * sizeof *place);
    if (of_cells) PCS_TRY(pcs_mesh_add_cell_list(mesh, name, count, items));
    else PCS_TRY(pcs_mesh_add_node_list(mesh, name, count, items));
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
