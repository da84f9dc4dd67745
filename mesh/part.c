#include "mesh/part.h"

#include "core/comm.h"
#include "mesh/sieve.h"

#include <math.h>
#include <string.h>

// A list of nodes in scratch memory.
typedef struct part_list {
    int count, *node;
} part_list;

static pcs_status part_out_of_memory(pcs_mesh *mesh)
{
    return pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: the part of the mesh of a rank");
}

// Joins `more` to a list.
static pcs_status part_join(pcs_mesh *mesh, part_list *list, int count, const int *more)
{
    int *bigger = pcs_scratch(list->node, (size_t)list->count + (size_t)count, sizeof *bigger);
    if (bigger == NULL) return part_out_of_memory(mesh);
    if (count > 0) memcpy(bigger + list->count, more, (size_t)count * sizeof *bigger);
    list->node = bigger;
    list->count = pcs_sort_unique(list->count + count, bigger);
    return PCS_OK;
}

// The other ends of all cells at the nodes of `at`, into `to`; gives how many such cells there are.
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

// The box round all nodes of all ranks.
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

// Takes the memory of the part and fills it in: all nodes of `all`, and the `ncell` cells at those of `kept`.
static pcs_status part_fill(pcs_mesh *mesh, const pcs_part *part, const part_list *kept, const part_list *all,
                            int ncell)
{
    pcs_mesh_share *share;
    int *node, *cell, *owner;
    unsigned char *is_kept;
    PCS_TAKE(mesh->memory, share, 1, "the mesh");
    PCS_TAKE(mesh->memory, mesh->x, all->count, "the mesh");
    PCS_TAKE(mesh->memory, mesh->cell, ncell, "the mesh");
    PCS_TAKE(mesh->memory, node, all->count, "the mesh");
    PCS_TAKE(mesh->memory, cell, ncell, "the mesh");
    PCS_TAKE(mesh->memory, owner, all->count, "the mesh");
    PCS_TAKE(mesh->memory, is_kept, all->count, "the mesh");
    for (int i = 0, k = 0; i < all->count; i++) {
        node[i] = all->node[i];
        owner[i] = part->owner(part->owners, node[i]);
        is_kept[i] = k < kept->count && kept->node[k] == node[i];
        k += is_kept[i];
    }
    pcs_sieve sieve = { .fills = true, .nwanted = all->count, .wanted = node, .is_kept = is_kept, .cell = cell };
    *share = (pcs_mesh_share){ .node = node, .cell = cell, .owner = owner, .is_kept = is_kept };
    mesh->nnode = mesh->node_room = all->count;
    mesh->cell_room = ncell;
    mesh->share = share;
    mesh->sieve = &sieve;
    pcs_status status = part->put(part->maker, mesh);
    mesh->sieve = NULL;
    share->nnode = sieve.nnode;
    share->ncell = sieve.ncell;
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
    PCS_TRY(pcs_comm_agree(mesh->ctx, status));
    pcs_mesh_share *share;
    PCS_TAKE(mesh->memory, share, 1, "the mesh");
    *share = *mesh->share;
    part_measure(mesh, comm, share);
    mesh->share = share;
    return pcs_mesh_count_sets(mesh, 0, 0);
}

// Items of a set that this rank speaks for; a cell belongs to the rank of its first node.
static int part_count_own(const pcs_mesh *mesh, int rank, const pcs_set *set, bool of_cells)
{
    int count = 0;
    for (int i = 0; i < set->count; i++) {
        int node = of_cells ? mesh->cell[set->items[i]][0] : set->items[i];
        count += mesh->share->owner[node] == rank;
    }
    return count;
}

// Set i of those from the first ones on, of nodes and then of cells.
static pcs_set *part_set(pcs_mesh *mesh, int first_node_set, int first_cell_set, int i, bool *of_cells)
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
    PCS_TRY(pcs_comm_agree(mesh->ctx, size == NULL ? part_out_of_memory(mesh) : PCS_OK));
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
