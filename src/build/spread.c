// The mesh over several ranks: each has its own nodes, copies of their neighbours and of all nodes of contacts and
// joints, and the cells at these.
//
// Parts that can be made piece by piece are built by every rank for itself, twice: first the nodes of its own, to
// learn which of them all ranks need, then what it keeps. Nodes are distributed in the order of their numbers, in equal
// pieces: a line in pieces, a lattice in layers. Any other mesh is built whole by the first rank, distributed along its
// cells and sent to the others, part by part.

#include "build/deal.h"
#include "build/parts.h"
#include "mesh/pack.h"
#include "mesh/part.h"
#include "mesh/sieve.h"

#include <string.h>

bool pcs_spread_takes(pcs_build *b, const pcs_build_parts *parts)
{
    const pcs_yaml *merge = pcs_case_get(b->c, pcs_case_root(b->c), "merge");
    bool is_taken = b->spreads && merge == NULL && pcs_case_error_count(b->c) == 0;
    for (int i = 0; i < parts->count; i++)
        is_taken = is_taken && parts->part[i].source != NULL && parts->part[i].source->puts_parts;
    return is_taken;
}

static pcs_status spread_put(void *maker, pcs_mesh *mesh)
{
    const pcs_build_parts *parts = maker;
    for (int i = 0; i < parts->count; i++) {
        const pcs_build_part *part = &parts->part[i];
        PCS_TRY(part->source->build(part->params, part->name, mesh));
    }
    return PCS_OK;
}

// Nodes are cut into equal pieces, but for those of contacts whose rows join them.
typedef struct spread_pieces {
    pcs_build_parts *parts;
    int nnode, rank, size;
    pcs_deal_list joined;
    int *joined_rank; // [joined.count]
} spread_pieces;

static int spread_piece(const void *user, int node)
{
    const spread_pieces *p = user;
    int place = pcs_lower_bound(p->joined.count, p->joined.node, node);
    bool is_joined = place < p->joined.count && p->joined.node[place] == node;
    return is_joined ? p->joined_rank[place] : pcs_deal_piece(node, p->nnode, p->size);
}

static int spread_first(const spread_pieces *p, int rank)
{
    return (int)(((long long)rank * p->nnode + p->size - 1) / p->size);
}

// How many nodes there are, without making them.
static pcs_status spread_count(pcs_build *b, pcs_build_parts *parts, int *nnode)
{
    pcs_sieve nothing = { 0 };
    pcs_mesh mesh = { .ctx = b->ctx, .memory = b->ctx, .sieve = &nothing };
    pcs_status status = spread_put(parts, &mesh);
    *nnode = nothing.nnode;
    return status;
}

// Nodes of this rank, and `more`.
static pcs_status spread_list(pcs_build *b, const spread_pieces *p, const pcs_deal_list *more, pcs_deal_list *out)
{
    int first = spread_first(p, p->rank), end = spread_first(p, p->rank + 1);
    int room = end - first + p->joined.count + more->count;
    *out = (pcs_deal_list){ .node = pcs_scratch(NULL, (size_t)room, sizeof *out->node) };
    if (out->node == NULL) return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: %d nodes", room);
    for (int node = first; node < end; node++)
        if (spread_piece(p, node) == p->rank) out->node[out->count++] = node;
    for (int i = 0; i < p->joined.count; i++)
        if (p->joined_rank[i] == p->rank) out->node[out->count++] = p->joined.node[i];
    for (int i = 0; i < more->count; i++) out->node[out->count++] = more->node[i];
    out->count = pcs_sort_unique(out->count, out->node);
    return PCS_OK;
}

static pcs_part spread_part(const spread_pieces *p, const pcs_deal_list *own)
{
    return (pcs_part){
        .put = spread_put, .maker = p->parts, .owner = spread_piece, .owners = p, .nown = own->count, .own = own->node
    };
}

static pcs_status spread_make_sets(pcs_build *b)
{
    b->nbroken = 0;
    PCS_TRY(pcs_build_sets(b));
    // What is wrong with the case is told by those who know the whole mesh.
    return pcs_case_error_count(b->c) == 0 ? PCS_OK : pcs_fail(b->ctx, PCS_BAD_INPUT, "a set is wrong");
}

// A mesh of the nodes of this rank, and of more, for a look at its sets.
static pcs_status spread_open(pcs_build *b, const spread_pieces *p, const pcs_deal_list *more, pcs_context **side)
{
    pcs_deal_list nodes = { 0 };
    pcs_status status = spread_list(b, p, more, &nodes);
    if (status == PCS_OK) status = pcs_context_create(side);
    if (status == PCS_OK) status = pcs_mesh_create(*side, &b->mesh);
    if (status != PCS_OK) pcs_fail(b->ctx, status, "out of memory: the mesh");
    status = pcs_comm_agree(b->ctx, status);
    if (status == PCS_OK) {
        pcs_part part = spread_part(p, &nodes);
        b->mesh->ctx = b->ctx;
        status = pcs_mesh_make_part(b->mesh, &part);
    }
    if (status == PCS_OK) status = pcs_comm_agree(b->ctx, spread_make_sets(b));
    pcs_scratch_free(nodes.node);
    return status;
}

static void spread_close(pcs_build *b, pcs_context **side)
{
    b->mesh = NULL;
    pcs_context_destroy(side);
}

// Which nodes of this rank, and of the others, must all ranks have?
static pcs_status spread_find_special(pcs_build *b, const spread_pieces *p, pcs_deal_list *special)
{
    pcs_deal_list none = { 0 };
    pcs_context *side = NULL;
    pcs_status status = spread_open(b, p, &none, &side);
    if (status == PCS_OK) status = pcs_comm_agree(b->ctx, pcs_deal_special(b, p->rank, special));
    if (status == PCS_OK) status = pcs_sieve_unite(b->ctx, &special->count, &special->node);
    spread_close(b, &side);
    return status;
}

static pcs_status spread_find_ranks(pcs_build *b, const spread_pieces *p, const pcs_deal_list *special, int *rank)
{
    int *has = pcs_scratch(NULL, (size_t)p->size, sizeof *has);
    if (has == NULL) return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: %d ranks", p->size);
    for (int r = 0; r < p->size; r++) has[r] = spread_first(p, r + 1) - spread_first(p, r);
    for (int i = 0; i < special->count; i++) rank[i] = spread_piece(p, special->node[i]);
    pcs_status status = pcs_deal_join(b, special, has, rank);
    pcs_scratch_free(has);
    return status;
}

// Which of these come to other ranks, as rows join them?
static pcs_status spread_join(pcs_build *b, spread_pieces *p, const pcs_deal_list *special)
{
    pcs_context *side = NULL;
    if (!pcs_deal_joins(b)) return PCS_OK;
    p->joined_rank = pcs_scratch(NULL, (size_t)special->count, sizeof *p->joined_rank);
    pcs_status status = p->joined_rank == NULL ? PCS_NO_MEMORY : PCS_OK;
    if (status != PCS_OK) pcs_fail(b->ctx, status, "out of memory: the ranks of %d nodes", special->count);
    status = pcs_comm_agree(b->ctx, status);
    if (status == PCS_OK) status = spread_open(b, p, special, &side);
    if (status == PCS_OK) status = pcs_comm_agree(b->ctx, spread_find_ranks(b, p, special, p->joined_rank));
    spread_close(b, &side);
    if (status == PCS_OK) p->joined = *special;
    return status;
}

// Rank 0 shows the whole, which needs no sets, unless every rank shows its piece.
static pcs_status spread_make_shown(pcs_build *b, pcs_build_parts *parts)
{
    pcs_mesh *shown;
    if (!pcs_is_root(b->ctx) || b->model.shows_pieces) return PCS_OK;
    PCS_TRY(pcs_mesh_create(b->ctx, &shown));
    shown->lacks_sets = true;
    PCS_TRY(spread_put(parts, shown));
    b->model.shown = b->shown = shown;
    return PCS_OK;
}

static pcs_status spread_make(pcs_build *b, spread_pieces *p)
{
    pcs_deal_list special = { 0 }, none = { 0 }, own = { 0 };
    pcs_status status = spread_find_special(b, p, &special);
    if (status == PCS_OK) status = spread_join(b, p, &special);
    if (status == PCS_OK) status = pcs_comm_agree(b->ctx, spread_list(b, p, &none, &own));
    if (status == PCS_OK) status = pcs_mesh_create(b->ctx, &b->mesh);
    pcs_part part = spread_part(p, &own);
    part.has_copies = true;
    part.nspecial = special.count;
    part.special = special.node;
    if (status == PCS_OK) status = pcs_mesh_make_part(b->mesh, &part);
    pcs_scratch_free(own.node);
    pcs_scratch_free(special.node);
    pcs_scratch_free(p->joined_rank);
    return status == PCS_OK ? spread_make_sets(b) : status;
}

pcs_status pcs_spread_build(pcs_build *b, pcs_build_parts *parts)
{
    const pcs_comm *comm = pcs_context_comm(b->ctx);
    spread_pieces pieces = { .parts = parts, .rank = comm->rank, .size = comm->size };
    PCS_TRY(spread_count(b, parts, &pieces.nnode));
    b->model.shows_pieces = pcs_build_shows_pieces(b, pieces.nnode);
    PCS_TRY(spread_make(b, &pieces));
    return spread_make_shown(b, parts);
}

// All nodes and cells stay on every rank.
static pcs_status spread_keep_all(pcs_build *b, int *part, const pcs_deal_list *special)
{
    pcs_mesh *mesh = b->mesh;
    int rank = pcs_context_comm(b->ctx)->rank;
    pcs_mesh_share *share;
    unsigned char *is_kept;
    PCS_TAKE(b->ctx, share, 1, "the shares of ranks");
    PCS_TAKE(b->ctx, is_kept, mesh->nnode, "the shares of ranks");
    for (int i = 0; i < mesh->nnode; i++) is_kept[i] = part[i] == rank;
    for (int c = 0; c < mesh->ncell; c++) {
        const int *node = mesh->cell[c];
        if (part[node[0]] == rank || part[node[1]] == rank) is_kept[node[0]] = is_kept[node[1]] = 1;
    }
    for (int i = 0; i < special->count; i++) is_kept[special->node[i]] = 1;
    *share = (pcs_mesh_share){ .nnode = mesh->nnode, .ncell = mesh->ncell, .owner = part, .is_kept = is_kept };
    mesh->share = share;
    return PCS_OK;
}

// Room to cut parts out of a mesh, in scratch.
static pcs_status spread_open_cut(pcs_build *b, const int *part, const pcs_deal_list *special, pcs_cut *cut)
{
    size_t nnode = (size_t)b->mesh->nnode, ncell = (size_t)b->mesh->ncell;
    *cut = (pcs_cut){ .whole = b->mesh, .owner = part, .nspecial = special->count, .special = special->node };
    cut->mark = pcs_scratch(NULL, nnode, sizeof *cut->mark);
    cut->node = pcs_scratch(NULL, nnode, sizeof *cut->node);
    cut->cell = pcs_scratch(NULL, ncell, sizeof *cut->cell);
    if (cut->mark != NULL && cut->node != NULL && cut->cell != NULL) return PCS_OK;
    return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: the shares of %zu nodes", nnode);
}

static void spread_close_cut(pcs_cut *cut)
{
    pcs_scratch_free(cut->mark);
    pcs_scratch_free(cut->node);
    pcs_scratch_free(cut->cell);
}

// The part of one rank, from the first one.
static pcs_status spread_send(pcs_build *b, const pcs_cut *cut, int to, pcs_mesh *mesh)
{
    const pcs_comm *comm = pcs_context_comm(b->ctx);
    int *packed = NULL, count = 0;
    pcs_numbers received = { 0 };
    pcs_status status = comm->rank == 0 ? pcs_mesh_pack(cut, to, &count, &packed) : PCS_OK;
    status = pcs_comm_agree(b->ctx, status);
    if (status == PCS_OK) status = pcs_deal_send(b->ctx, to, count, packed, &received);
    pcs_scratch_free(packed);
    if (status == PCS_OK && to == comm->rank) status = pcs_mesh_unpack(mesh, received.value);
    pcs_scratch_free(received.count);
    pcs_scratch_free(received.value);
    return pcs_comm_agree(b->ctx, status);
}

// Parts of the whole, which goes unless the first rank shows it.
static pcs_status spread_cut(pcs_build *b, const int *part, const pcs_deal_list *special, pcs_context **side)
{
    const pcs_comm *comm = pcs_context_comm(b->ctx);
    bool is_first = comm->rank == 0;
    pcs_mesh *whole = b->mesh, *mesh = NULL;
    pcs_cut cut = { .whole = NULL };
    pcs_status status = pcs_mesh_create(b->ctx, &mesh);
    if (status == PCS_OK && is_first) status = spread_open_cut(b, part, special, &cut);
    status = pcs_comm_agree(b->ctx, status);
    for (int to = 0; to < comm->size && status == PCS_OK; to++) status = spread_send(b, &cut, to, mesh);
    spread_close_cut(&cut);
    PCS_TRY(status);
    b->mesh = mesh;
    b->model.shows_pieces = pcs_build_shows_pieces(b, mesh->share->nnode);
    if (!is_first || b->model.shows_pieces) return PCS_OK;
    b->model.shown = b->shown = whole;
    pcs_context_adopt(b->ctx, side);
    return PCS_OK;
}

// Nodes that all ranks have, and ranks of those that rows join, in a mesh that is here as a whole.
static pcs_status spread_find_whole(pcs_build *b, pcs_deal_list *special, int *part)
{
    int size = pcs_context_comm(b->ctx)->size;
    PCS_TRY(pcs_deal_special(b, -1, special));
    if (!pcs_deal_joins(b)) return PCS_OK;
    int *has = pcs_scratch(NULL, (size_t)size + (size_t)special->count, sizeof *has), *rank = has + size;
    if (has == NULL) return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: the ranks of nodes");
    memset(has, 0, (size_t)size * sizeof *has);
    for (int i = 0; i < b->mesh->nnode; i++) has[part[i]]++;
    for (int i = 0; i < special->count; i++) rank[i] = part[special->node[i]];
    pcs_status status = pcs_deal_join(b, special, has, rank);
    for (int i = 0; i < special->count; i++) part[special->node[i]] = rank[i];
    pcs_scratch_free(has);
    return status;
}

pcs_status pcs_spread_cut(pcs_build *b, pcs_context **side)
{
    pcs_deal_list special = { 0 };
    bool is_first = pcs_is_root(b->ctx);
    int *part = pcs_scratch(NULL, is_first ? (size_t)b->mesh->nnode : 0, sizeof *part);
    pcs_status status = part == NULL ? pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: the shares of ranks") : PCS_OK;
    status = pcs_comm_agree(b->ctx, status);
    if (status == PCS_OK) status = pcs_deal_nodes(b->ctx, is_first ? b->mesh : NULL, false, part);
    if (status == PCS_OK) status = pcs_comm_agree(b->ctx, is_first ? spread_find_whole(b, &special, part) : PCS_OK);
    if (status == PCS_OK) status = spread_cut(b, part, &special, side);
    pcs_scratch_free(special.node);
    pcs_scratch_free(part);
    return status;
}

pcs_status pcs_spread_keep(pcs_build *b)
{
    pcs_deal_list special = { 0 };
    int *part;
    b->model.shows_pieces = pcs_build_shows_pieces(b, b->mesh->nnode);
    PCS_TAKE(b->ctx, part, b->mesh->nnode, "the shares of ranks");
    pcs_status status = pcs_deal_nodes(b->ctx, b->mesh, true, part);
    if (status == PCS_OK) status = spread_find_whole(b, &special, part);
    if (status == PCS_OK) status = spread_keep_all(b, part, &special);
    pcs_scratch_free(special.node);
    return status;
}
