// Parts of a mesh, made by the sources for one rank, against the same part cut out of the whole.

#include "core/comm.h"
#include "mesh/mesh.h"
#include "mesh/part.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A rank that is alone in the room: what it hears of the others is what it has said itself.
static void hear_itself(const pcs_comm *self, int count, double *x)
{
    (void)self, (void)count, (void)x;
}

static pcs_status agree_with_itself(const pcs_comm *self, pcs_context *ctx, pcs_status status, long long mark)
{
    (void)self, (void)ctx, (void)mark;
    return status;
}

enum { RANKS = 5, PARTS = 3 };

static pcs_comm lonely = { .size = RANKS, .sum = hear_itself, .max = hear_itself, .agree = agree_with_itself };

typedef struct source {
    const pcs_mesh_source_ops *ops;
    void *params;
    const char *name;
} source;

typedef struct sources {
    int count;
    source source[PARTS];
} sources;

static pcs_status put(void *user, pcs_mesh *mesh)
{
    const sources *all = user;
    for (int i = 0; i < all->count; i++)
        PCS_TRY(all->source[i].ops->build(all->source[i].params, all->source[i].name, mesh));
    return PCS_OK;
}

static int owner_of(const void *user, int node)
{
    return ((const int *)user)[node];
}

// Which nodes of the whole a rank keeps, told in the plainest way.
static void find_kept(const pcs_mesh *whole, const int *owner, const pcs_part *part, bool *is_kept)
{
    for (int i = 0; i < whole->nnode; i++) is_kept[i] = owner[i] == lonely.rank;
    for (int c = 0; part->has_copies && c < whole->ncell; c++) {
        const int *n = whole->cell[c];
        if (owner[n[0]] == lonely.rank || owner[n[1]] == lonely.rank) is_kept[n[0]] = is_kept[n[1]] = true;
    }
    for (int i = 0; part->has_copies && i < part->nspecial; i++) is_kept[part->special[i]] = true;
}

static void check_nodes_and_cells(const pcs_mesh *whole, const int *owner, const bool *is_kept, const pcs_mesh *mesh)
{
    int nkept = 0, ncell = 0;
    CHECK(mesh->share->nnode == whole->nnode && mesh->share->ncell == whole->ncell);
    for (int i = 0; i < mesh->nnode; i++) {
        int number = pcs_mesh_node_number(mesh, i);
        CHECK(i == 0 || number > pcs_mesh_node_number(mesh, i - 1));
        CHECK(memcmp(mesh->x[i], whole->x[number], sizeof *mesh->x) == 0);
        CHECK(mesh->share->owner[i] == owner[number]);
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

// The items of a set that are kept, in the order of the whole; places where they are told.
static void check_set(const pcs_mesh *mesh, const pcs_set *all, const pcs_set *set, const bool *is_kept)
{
    int count = 0;
    CHECK(set != NULL && strcmp(set->name, all->name) == 0);
    for (int i = 0; i < all->count; i++) {
        int item = all->items[i];
        if (is_kept != NULL && !is_kept[item]) continue;
        if (is_kept == NULL && pcs_lower_bound(mesh->ncell, mesh->share->cell, item) == mesh->ncell) continue;
        if (is_kept == NULL && mesh->share->cell[pcs_lower_bound(mesh->ncell, mesh->share->cell, item)] != item)
            continue;
        CHECK(count < set->count);
        int here = set->items[count];
        CHECK((is_kept != NULL ? pcs_mesh_node_number(mesh, here) : pcs_mesh_cell_number(mesh, here)) == item);
        CHECK(set->place == NULL || set->place[count] == i);
        count++;
    }
    CHECK(count == set->count);
}

static void check_part(const pcs_mesh *whole, const int *owner, const pcs_part *part, const pcs_mesh *mesh)
{
    bool *is_kept = calloc((size_t)whole->nnode, sizeof *is_kept);
    find_kept(whole, owner, part, is_kept);
    check_nodes_and_cells(whole, owner, is_kept, mesh);
    CHECK(mesh->nnode_set == whole->nnode_set && mesh->ncell_set == whole->ncell_set);
    for (int i = 0; i < whole->nnode_set; i++) check_set(mesh, &whole->node_set[i], &mesh->node_set[i], is_kept);
    for (int i = 0; i < whole->ncell_set; i++) check_set(mesh, &whole->cell_set[i], &mesh->cell_set[i], NULL);
    free(is_kept);
}

static unsigned draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// Nodes in pieces, as ranks deal them out, or at random, as a partition of a graph may.
static void deal(const pcs_mesh *whole, bool is_random, unsigned *seed, int *owner)
{
    for (int i = 0; i < whole->nnode; i++)
        owner[i] = is_random ? (int)(draw(seed) % RANKS) : (int)((long long)i * RANKS / whole->nnode);
}

// Packed by a rank that has the whole.
static void cut_out(pcs_context *ctx, const pcs_mesh *whole, const int *owner, const pcs_part *part, pcs_mesh *mesh)
{
    pcs_cut cut = { .whole = whole, .owner = owner, .nspecial = part->nspecial, .special = part->special };
    int *packed = NULL, count = 0;
    cut.mark = calloc((size_t)whole->nnode, 1);
    cut.node = calloc((size_t)whole->nnode, sizeof *cut.node);
    cut.cell = calloc((size_t)whole->ncell, sizeof *cut.cell);
    CHECK_OK(ctx, pcs_mesh_pack(&cut, lonely.rank, &count, &packed));
    CHECK_OK(ctx, pcs_mesh_unpack(mesh, packed));
    pcs_scratch_free(packed);
    free(cut.mark);
    free(cut.node);
    free(cut.cell);
}

static void compare(const sources *all, bool is_random, unsigned seed)
{
    pcs_context *ctx;
    pcs_mesh *whole, *mesh;
    sources copy = *all;
    CHECK(pcs_context_create(&ctx) == PCS_OK);
    pcs_context_set_comm(ctx, &lonely);
    CHECK_OK(ctx, pcs_mesh_create(ctx, &whole));
    CHECK_OK(ctx, put(&copy, whole));
    int *owner = calloc((size_t)whole->nnode, sizeof *owner), *own = calloc((size_t)whole->nnode, sizeof *own),
        special[4];
    deal(whole, is_random, &seed, owner);
    for (int i = 0; i < 4; i++) special[i] = (int)(draw(&seed) % (unsigned)whole->nnode);
    for (lonely.rank = 0; lonely.rank < RANKS; lonely.rank++)
        for (int way = 0; way < 3; way++) {
            pcs_part part = { .own = own, .special = special, .owner = owner_of, .owners = owner };
            part.put = put;
            part.maker = &copy;
            for (int i = 0; i < whole->nnode; i++)
                if (owner[i] == lonely.rank) own[part.nown++] = i;
            part.nspecial = pcs_sort_unique(4, special);
            part.has_copies = way > 0;
            CHECK_OK(ctx, pcs_mesh_create(ctx, &mesh));
            if (way < 2) CHECK_OK(ctx, pcs_mesh_make_part(mesh, &part));
            else cut_out(ctx, whole, owner, &part, mesh);
            check_part(whole, owner, &part, mesh);
        }
    lonely.rank = 0;
    free(owner);
    free(own);
    pcs_context_destroy(&ctx);
}

static const pcs_mesh_source_ops *find_source(const char *name)
{
    int i = 0;
    while (strcmp(pcs_mesh_sources[i]->name, name) != 0) i++;
    return pcs_mesh_sources[i];
}

// The parameters of a source, of which only `name` is given a value, stand where its options say.
static void set_option(const pcs_mesh_source_ops *ops, void *params, const char *name, const void *value, size_t size)
{
    const pcs_option *o = ops->options;
    while (strcmp(o->name, name) != 0) o++;
    memcpy((char *)params + o->offset, value, size);
}

static source make_line(const char *name, int elements)
{
    source s = { .ops = find_source("line"), .name = name };
    const double from[3] = { 0.1, 0.2, 0.3 }, to[3] = { 1.0, -2.0, 0.7 };
    s.params = calloc(1, s.ops->params_size);
    set_option(s.ops, s.params, "from", from, sizeof from);
    set_option(s.ops, s.params, "to", to, sizeof to);
    set_option(s.ops, s.params, "elements", &elements, sizeof elements);
    return s;
}

static source make_arc(const char *name, int elements, double angle)
{
    source s = { .ops = find_source("arc"), .name = name };
    const double start[3] = { 2.0, 0.0, 0.0 }, normal[3] = { 0.0, 0.0, 1.0 };
    s.params = calloc(1, s.ops->params_size);
    set_option(s.ops, s.params, "start", start, sizeof start);
    set_option(s.ops, s.params, "normal", normal, sizeof normal);
    set_option(s.ops, s.params, "angle", &angle, sizeof angle);
    set_option(s.ops, s.params, "elements", &elements, sizeof elements);
    return s;
}

static double boxes[PARTS][3], edges[3] = { 0.3, 0.7, 0.9 };

static source make_lattice(int which, const char *name, const int n[3], int elements, int diagonals)
{
    source s = { .ops = find_source("lattice"), .name = name };
    pcs_list cells = { .nrow = 1, .count = 3, .value = boxes[which] }, size = { .nrow = 1, .count = 3, .value = edges };
    for (int k = 0; k < 3; k++) boxes[which][k] = n[k];
    s.params = calloc(1, s.ops->params_size);
    set_option(s.ops, s.params, "cells", &cells, sizeof cells);
    set_option(s.ops, s.params, "size", &size, sizeof size);
    set_option(s.ops, s.params, "elements", &elements, sizeof elements);
    set_option(s.ops, s.params, "diagonals", &diagonals, sizeof diagonals);
    return s;
}

static void forget(sources *all)
{
    for (int i = 0; i < all->count; i++) free(all->source[i].params);
}

TEST(lines_of_all_lengths)
{
    const int lengths[] = { 1, 2, 3, 7, 100, 1023, 1024, 1025, 6000 };
    for (int i = 0; i < 9; i++)
        for (int is_random = 0; is_random < 2; is_random++) {
            sources all = { .count = 2, .source = { make_line("a", lengths[i]), make_line("b", lengths[8 - i]) } };
            compare(&all, is_random, (unsigned)i);
            forget(&all);
        }
}

TEST(arcs_open_and_closed)
{
    const int lengths[] = { 3, 4, 7, 100, 1023, 1024, 1025, 2048, 3000 };
    for (int i = 0; i < 9; i++)
        for (int is_random = 0; is_random < 2; is_random++) {
            sources all = { .count = 2,
                            .source = { make_arc("a", lengths[i], 360.0), make_arc("b", lengths[8 - i], -110.0) } };
            compare(&all, is_random, (unsigned)i);
            forget(&all);
        }
}

TEST(lattices_of_all_shapes)
{
    for (unsigned k = 1; k < 64; k++) {
        const int shape[4] = { 0, 1, 3, 6 }, n[3] = { shape[k % 4], shape[k / 4 % 4], shape[k / 16] };
        for (int is_random = 0; is_random < 2; is_random++) {
            sources all = { .count = 1, .source = { make_lattice(0, "net", n, 1 + (int)(k % 3), (int)(k / 3 % 3)) } };
            compare(&all, is_random, k);
            forget(&all);
        }
    }
}

TEST(several_parts)
{
    const int flat[3] = { 0, 4, 9 }, deep[3] = { 5, 2, 3 };
    for (unsigned seed = 0; seed < 6; seed++) {
        sources all = { .count = 3,
                        .source = { make_lattice(0, "flat", flat, 2, 1), make_line("bar", 37),
                                    make_lattice(1, "deep", deep, 1, 2) } };
        compare(&all, seed % 2 == 1, seed);
        forget(&all);
    }
}
