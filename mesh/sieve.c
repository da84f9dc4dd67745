#include "mesh/sieve.h"

#include "core/comm.h"

#include <stdlib.h>

static int sieve_compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int pcs_sort_unique(int count, int *list)
{
    int kept = 0;
    if (count > 0) qsort(list, (size_t)count, sizeof *list, sieve_compare);
    for (int i = 0; i < count; i++)
        if (kept == 0 || list[kept - 1] != list[i]) list[kept++] = list[i];
    return kept;
}

pcs_status pcs_sieve_unite(pcs_context *ctx, int *count, int **list)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    pcs_numbers all = { 0 };
    int *counts = pcs_scratch(NULL, 2 * (size_t)comm->size, sizeof *counts), *start = counts + comm->size, total = 0;
    pcs_status status = counts == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %d ranks", comm->size) : PCS_OK;
    PCS_TRY(pcs_comm_agree(ctx, status));
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

static int sieve_find(const pcs_sieve *self, int node)
{
    int i = pcs_lower_bound(self->nwanted, self->wanted, node);
    return i < self->nwanted && self->wanted[i] == node ? i : -1;
}

int pcs_sieve_node(const pcs_sieve *self, int node)
{
    return self->fills ? sieve_find(self, node) : -1;
}

bool pcs_sieve_wants(const pcs_sieve *self, int first, int count)
{
    int i = pcs_lower_bound(self->nwanted, self->wanted, first);
    return i < self->nwanted && self->wanted[i] < first + count;
}

static void sieve_append(pcs_sieve *self, int node)
{
    if (self->nfound == self->room) {
        int room = self->room < 1024 ? 1024 : 2 * self->room;
        int *bigger = pcs_scratch(self->found, (size_t)room, sizeof *bigger);
        self->is_out_of_memory = self->is_out_of_memory || bigger == NULL;
        if (bigger == NULL) return;
        self->found = bigger;
        self->room = room;
    }
    self->found[self->nfound++] = node;
}

int pcs_sieve_cell(pcs_sieve *self, pcs_mesh *mesh, int cell, const int node[2])
{
    int a = sieve_find(self, node[0]), b = sieve_find(self, node[1]);
    if (!self->fills) {
        if (a < 0 && b < 0) return -1;
        self->ntouching++;
        if (a < 0) sieve_append(self, node[0]);
        if (b < 0) sieve_append(self, node[1]);
        return -1;
    }
    if (a < 0 || b < 0 || !(self->is_kept[a] || self->is_kept[b])) return -1;
    mesh->cell[mesh->ncell][0] = a;
    mesh->cell[mesh->ncell][1] = b;
    self->cell[mesh->ncell] = cell;
    return mesh->ncell++;
}
