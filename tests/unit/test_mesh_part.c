// Parts of a mesh that are packed for a rank, against what the whole mesh says.

#include "core/comm.h"
#include "mesh/mesh.h"
#include "mesh/part.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 5 };

// Finds which nodes of the whole a rank keeps, in the plainest way.
static void find_kept(const pcs_cut *cut, int rank, bool *is_kept)
{
    const pcs_mesh *whole = cut->whole;
    for (int i = 0; i < whole->nnode; i++) is_kept[i] = cut->owner[i] == rank;
    for (int c = 0; c < whole->ncell; c++) {
        const int *n = whole->cell[c];
        if (cut->owner[n[0]] == rank || cut->owner[n[1]] == rank) is_kept[n[0]] = is_kept[n[1]] = true;
    }
    for (int i = 0; i < cut->nspecial; i++) is_kept[cut->special[i]] = true;
}

static void check_nodes_and_cells(const pcs_cut *cut, const bool *is_kept, const pcs_mesh *mesh)
{
    const pcs_mesh *whole = cut->whole;
    int nkept = 0, ncell = 0;
    CHECK(mesh->share->nnode == whole->nnode && mesh->share->ncell == whole->ncell);
    for (int i = 0; i < mesh->nnode; i++) {
        int number = pcs_mesh_node_number(mesh, i);
        CHECK(i == 0 || number > pcs_mesh_node_number(mesh, i - 1));
        CHECK(memcmp(mesh->x[i], whole->x[number], sizeof *mesh->x) == 0);
        CHECK(mesh->share->owner[i] == cut->owner[number]);
        CHECK((mesh->share->is_kept[i] != 0) == is_kept[number]);
        nkept += is_kept[number];
    }
    for (int i = 0; i < whole->nnode; i++) nkept -= is_kept[i];
    CHECK(nkept == 0);
    for (int c = 0; c < whole->ncell; c++) {
        const int *n = whole->cell[c];
        if (!is_kept[n[0]] && !is_kept[n[1]]) continue;
        CHECK(ncell < mesh->ncell && pcs_mesh_cell_number(mesh, ncell) == c);
        for (int k = 0; k < 2; k++) CHECK(pcs_mesh_node_number(mesh, mesh->cell[ncell][k]) == n[k]);
        ncell++;
    }
    CHECK(ncell == mesh->ncell);
}

// Expects the items of a set that are kept, in the order of the whole, with their places there.
static void check_set(const pcs_mesh *mesh, const pcs_set *all, const pcs_set *set, bool of_cells, const bool *is_kept)
{
    int count = 0;
    CHECK(strcmp(set->name, all->name) == 0 && pcs_set_size(set) == all->count);
    for (int i = 0; i < all->count; i++) {
        int item = all->items[i], cell = pcs_lower_bound(mesh->ncell, mesh->share->cell, item);
        if (of_cells ? cell == mesh->ncell || mesh->share->cell[cell] != item : !is_kept[item]) continue;
        CHECK(count < set->count && pcs_set_place(set, count) == i);
        int here = set->items[count++];
        CHECK((of_cells ? pcs_mesh_cell_number(mesh, here) : pcs_mesh_node_number(mesh, here)) == item);
    }
    CHECK(count == set->count);
}

static void check_part(pcs_context *ctx, const pcs_cut *cut, int rank)
{
    const pcs_mesh *whole = cut->whole;
    int *packed = NULL, count = 0;
    pcs_mesh *mesh;
    bool *is_kept = calloc((size_t)whole->nnode, sizeof *is_kept);
    double low[2][3], high[2][3];
    CHECK_OK(ctx, pcs_mesh_create(ctx, &mesh));
    CHECK_OK(ctx, pcs_mesh_pack(cut, rank, &count, &packed));
    CHECK_OK(ctx, pcs_mesh_unpack(mesh, packed));
    pcs_scratch_free(packed);
    find_kept(cut, rank, is_kept);
    check_nodes_and_cells(cut, is_kept, mesh);
    CHECK(mesh->nnode_set == whole->nnode_set && mesh->ncell_set == whole->ncell_set);
    for (int i = 0; i < whole->nnode_set; i++) check_set(mesh, &whole->node_set[i], &mesh->node_set[i], false, is_kept);
    for (int i = 0; i < whole->ncell_set; i++) check_set(mesh, &whole->cell_set[i], &mesh->cell_set[i], true, is_kept);
    pcs_mesh_box(whole, low[0], high[0]);
    pcs_mesh_box(mesh, low[1], high[1]);
    CHECK(memcmp(low[0], low[1], sizeof low[0]) == 0 && memcmp(high[0], high[1], sizeof high[0]) == 0);
    free(is_kept);
}

static unsigned draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// Puts a source with these parameters into a mesh; options that are not given are zero.
static void put(pcs_mesh *mesh, const char *type, const char *name, int elements, const pcs_list *cells)
{
    static double edges[3] = { 0.3, 0.7, 0.9 };
    const pcs_list size = { .nrow = 1, .count = 3, .value = edges };
    const double to[3] = { 1.0, -2.0, 0.7 };
    int i = 0;
    while (strcmp(pcs_mesh_sources[i]->name, type) != 0) i++;
    const pcs_mesh_source_ops *ops = pcs_mesh_sources[i];
    char *params = calloc(1, ops->params_size);
    for (const pcs_option *o = ops->options; o->name != NULL; o++) {
        if (strcmp(o->name, "elements") == 0) memcpy(params + o->offset, &elements, sizeof elements);
        if (strcmp(o->name, "to") == 0) memcpy(params + o->offset, to, sizeof to);
        if (strcmp(o->name, "cells") == 0) memcpy(params + o->offset, cells, sizeof *cells);
        if (strcmp(o->name, "size") == 0) memcpy(params + o->offset, &size, sizeof size);
    }
    CHECK_OK(mesh->ctx, ops->build(params, name, mesh));
    free(params);
}

// Nodes in equal pieces, or at random, as a partition of a graph may distribute them.
TEST(parts_hold_what_the_ranks_need)
{
    for (unsigned k = 1; k < 64; k++) {
        const double shape[4] = { 0, 1, 3, 6 };
        double boxes[3] = { shape[k % 4], shape[k / 4 % 4], shape[k / 16] };
        const pcs_list cells = { .nrow = 1, .count = 3, .value = boxes };
        unsigned seed = k;
        pcs_context *ctx;
        pcs_mesh *whole;
        CHECK(pcs_context_create(&ctx) == PCS_OK);
        CHECK_OK(ctx, pcs_mesh_create(ctx, &whole));
        put(whole, "lattice", "net", 1 + (int)(k % 3), &cells);
        put(whole, "line", "bar", (int)k, NULL);
        int *owner = calloc((size_t)whole->nnode, sizeof *owner), special[4];
        for (int i = 0; i < whole->nnode; i++)
            owner[i] = k % 2 == 1 ? (int)(draw(&seed) % RANKS) : (int)((long long)i * RANKS / whole->nnode);
        for (int i = 0; i < 4; i++) special[i] = (int)(draw(&seed) % (unsigned)whole->nnode);
        pcs_cut cut = { .whole = whole, .owner = owner, .nspecial = pcs_sort_unique(4, special), .special = special };
        for (int rank = 0; rank < RANKS; rank++) check_part(ctx, &cut, rank);
        free(owner);
        pcs_context_destroy(&ctx);
    }
}
