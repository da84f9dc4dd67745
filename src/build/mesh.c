// Section `mesh`: the parts of the mesh, whole or over several ranks, then the sets and merges that stand on them.
//
// Cells of a line may be cut by the time that a wave takes through one:
//
//   mesh:     { bar: { type: line, from: ..., to: ..., cells: { travel_time: 1.0e-6 } } }
//   elements: { bar: { type: rod, mesh: bar, E: ..., rho: ... } }
//
// A line of length L gets n cells, the nearest integer to L/(c t) with c = sqrt(E/rho) of its group; what is left, L/(c
// t n) - 1, is reported. Parts of several materials, each a line, have cells of one travel time so: what scheme `wave`
// needs. The cross section does not matter.

#include "build/builder.h"
#include "build/deal.h"
#include "core/comm.h"
#include "mesh/part.h"
#include "mesh/sieve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct travel_params {
    double travel_time;
    bool allow_mismatch;
} travel_params;

static const pcs_option cells_options[] = {
    PCS_REAL("travel_time", travel_params, travel_time, PCS_REQUIRED, PCS_POSITIVE,
             "of a wave through a cell, s; the number of cells is the nearest integer"),
    PCS_FLAG("allow_mismatch", travel_params, allow_mismatch, PCS_DEFAULT("false"),
             "take cells whose travel time differs from this by more than 1 %"),
    { .name = NULL },
};
static const pcs_map map_cells = { .name = "cells", .options = cells_options };

static const double MOST_MISMATCH = 0.01;
static const double MOST_CELLS = 1 << 28;

// Returns true if a group names this part as its mesh, alone or in a list.
static bool travel_names(pcs_yaml *mesh, const char *part)
{
    if (mesh == NULL) return false;
    if (pcs_yaml_get_kind(mesh) == PCS_YAML_SCALAR) return strcmp(pcs_yaml_text(mesh), part) == 0;
    for (int i = 0; pcs_yaml_get_kind(mesh) == PCS_YAML_LIST && i < pcs_yaml_count(mesh); i++)
        if (travel_names(pcs_yaml_item(mesh, i), part)) return true;
    return false;
}

// Returns the wave speed, m/s, in the group of rods that names this part as its mesh; NAN, with an error, if none does.
static double travel_speed(pcs_build *b, const pcs_yaml *node, const char *part)
{
    const pcs_range positive = PCS_POSITIVE;
    pcs_yaml *section = pcs_case_get(b->c, pcs_case_root(b->c), "elements");
    int count = section == NULL || pcs_yaml_get_kind(section) != PCS_YAML_MAP ? 0 : pcs_yaml_count(section);
    for (int i = 0; i < count; i++) {
        pcs_yaml *group = pcs_yaml_item(section, i);
        if (pcs_yaml_get_kind(group) != PCS_YAML_MAP) continue;
        pcs_yaml *mesh = pcs_case_get(b->c, group, "mesh"), *type = pcs_case_get(b->c, group, "type");
        if (!travel_names(mesh, part)) continue;
        bool is_rod = type != NULL && pcs_yaml_get_kind(type) == PCS_YAML_SCALAR;
        if (!is_rod || strncmp(pcs_yaml_text(type), "rod", 3) != 0 || strncmp(pcs_yaml_text(type), "rotor", 5) == 0)
            break;
        pcs_yaml *E = pcs_case_get(b->c, group, "E"), *rho = pcs_case_get(b->c, group, "rho");
        if (E == NULL || rho == NULL) return NAN; // told where the group is read
        return sqrt(pcs_case_number(b->c, E, positive) / pcs_case_number(b->c, rho, positive));
    }
    pcs_case_error_at(b->c, node, "cells",
                      "no group of rods under 'elements' has 'mesh: %s', so that the speed of its waves is not known; "
                      "give 'elements', the number of cells",
                      part);
    return NAN;
}

static double travel_length(pcs_build *b, pcs_yaml *node)
{
    const pcs_range any = PCS_ANY_NUMBER;
    double from[3], to[3], length2 = 0.0;
    pcs_yaml *first = pcs_case_get(b->c, node, "from"), *last = pcs_case_get(b->c, node, "to");
    if (first == NULL || last == NULL) return NAN; // told where the part is read
    if (!pcs_case_vector(b->c, first, any, from) || !pcs_case_vector(b->c, last, any, to)) return NAN;
    for (int k = 0; k < 3; k++) length2 += (to[k] - from[k]) * (to[k] - from[k]);
    return sqrt(length2);
}

// Rounds the number of cells and writes it to the case as `elements`; rejects another number that is given there.
static pcs_status travel_resolve(pcs_build *b, pcs_yaml *node, const char *part, const travel_params *p, double cells)
{
    char text[PCS_NUMBER_BYTES];
    double whole = fmax(1.0, round(cells)), mismatch = cells / whole - 1.0;
    const pcs_yaml *given = pcs_case_get(b->c, node, "elements");
    snprintf(text, sizeof text, "%.0f", whole);
    if (!(whole <= MOST_CELLS)) pcs_case_error_at(b->c, node, "cells", "%g cells are more than %g", whole, MOST_CELLS);
    else if (given != NULL && (pcs_yaml_get_kind(given) != PCS_YAML_SCALAR || strcmp(pcs_yaml_text(given), text) != 0))
        pcs_case_error_at(b->c, node, "elements", "'cells' say %s: give one of them", text);
    if (!(fabs(mismatch) <= MOST_MISMATCH) && !p->allow_mismatch)
        pcs_case_error_at(
            b->c, node, "cells",
            "%s cells differ by %+.3g %% from a travel time of %g s, allowed is 1 %%: change the length or "
            "the time, or say 'allow_mismatch: true'",
            text, 100.0 * mismatch, p->travel_time);
    if (given != NULL || !(whole <= MOST_CELLS)) return PCS_OK;
    if (fabs(mismatch) > 1e-12)
        pcs_case_note(b->c, "mesh.%s: %s cells, whose travel time differs by %+.3g %% from %g s", part, text,
                      100.0 * mismatch, p->travel_time);
    return pcs_case_resolve(b->c, node, "elements", text);
}

// Turns `cells` of a line into its number of elements, such that a wave takes the given time through each.
static pcs_status travel_read(pcs_build *b, const char *part, pcs_yaml *node, pcs_yaml *cells)
{
    travel_params params = { .travel_time = NAN };
    if (!pcs_case_is(b->c, cells, PCS_YAML_MAP)) return PCS_OK;
    if (!pcs_case_read(b->c, cells, cells_options, &params)) return PCS_OK;
    double count = travel_length(b, node) / (travel_speed(b, node, part) * params.travel_time);
    return isnan(count) ? PCS_OK : travel_resolve(b, node, part, &params, count);
}

// A part of the mesh as the case states it.
typedef struct mesh_part {
    const char *name;
    const pcs_yaml *node;
    const pcs_mesh_source_ops *source; // NULL if the case is wrong
    void *params;
} mesh_part;

typedef struct mesh_parts {
    int count;
    mesh_part *part; // [count]
} mesh_parts;

// The mesh over several ranks: each has its own nodes, copies of their neighbours and of all nodes of contacts and
// joints, and the cells at these.
//
// Parts that can be made piece by piece are built by every rank for itself, twice: first the nodes of its own, to
// learn which of them all ranks need, then what it keeps. Nodes are distributed in the order of their numbers, in equal
// pieces: a line in pieces, a lattice in layers. Any other mesh is built whole by the first rank, distributed along its
// cells and sent to the others, part by part.

// Returns true if every rank can build its part of the mesh by itself.
static bool spread_takes(pcs_build *b, const mesh_parts *parts)
{
    const pcs_yaml *merge = pcs_case_get(b->c, pcs_case_root(b->c), "merge");
    bool is_taken = b->spreads && merge == NULL && pcs_case_error_count(b->c) == 0;
    for (int i = 0; i < parts->count; i++)
        is_taken = is_taken && parts->part[i].source != NULL && parts->part[i].source->puts_parts;
    return is_taken;
}

static pcs_status spread_put(void *maker, pcs_mesh *mesh)
{
    const mesh_parts *parts = maker;
    for (int i = 0; i < parts->count; i++) {
        const mesh_part *part = &parts->part[i];
        PCS_TRY(part->source->build(part->params, part->name, mesh));
    }
    return PCS_OK;
}

// Equal pieces of the nodes, except for those that rows of contacts join.
typedef struct spread_pieces {
    mesh_parts *parts;
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

// Counts the nodes without making them.
static pcs_status spread_count(pcs_build *b, mesh_parts *parts, int *nnode)
{
    pcs_sieve nothing = { 0 };
    pcs_mesh mesh = { .ctx = b->ctx, .memory = b->ctx, .sieve = &nothing };
    pcs_status status = spread_put(parts, &mesh);
    *nnode = nothing.nnode;
    return status;
}

// Lists the nodes that this rank owns, and `more`, in ascending order.
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
    // Ranks that know the whole mesh report what is wrong.
    return pcs_case_error_count(b->c) == 0 ? PCS_OK : pcs_fail(b->ctx, PCS_BAD_INPUT, "a set is wrong");
}

// Builds a temporary mesh of the nodes of this rank and of `more`, to look at its sets.
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

// Finds the nodes, of this and other ranks, that all ranks must have.
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

// Finds which of these nodes move to other ranks because rows of contacts join them.
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

// Builds the complete mesh, without sets, on rank 0 to write it, unless every rank writes its piece.
static pcs_status spread_make_shown(pcs_build *b, mesh_parts *parts)
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

// Makes b->mesh of this rank with all sets of the case.
static pcs_status spread_build(pcs_build *b, mesh_parts *parts)
{
    const pcs_comm *comm = pcs_context_comm(b->ctx);
    spread_pieces pieces = { .parts = parts, .rank = comm->rank, .size = comm->size };
    PCS_TRY(spread_count(b, parts, &pieces.nnode));
    b->model.shows_pieces = pcs_build_shows_pieces(b, pieces.nnode);
    PCS_TRY(spread_make(b, &pieces));
    return spread_make_shown(b, parts);
}

// Keeps all nodes and cells on every rank and marks those that it needs.
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

// Allocates scratch memory to cut parts out of a mesh.
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

// Sends the part of one rank from the first rank, which cuts it out.
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

// Distributes the parts of the complete mesh, which is freed unless the first rank writes it.
static pcs_status spread_cut_parts(pcs_build *b, const int *part, const pcs_deal_list *special, pcs_context **side)
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

// Finds the nodes that all ranks have in a complete mesh, and updates the ranks of those that rows join.
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

// Replaces the complete mesh, b->mesh on the first rank with memory in `side`, by the part of each rank.
static pcs_status spread_cut(pcs_build *b, pcs_context **side)
{
    pcs_deal_list special = { 0 };
    bool is_first = pcs_is_root(b->ctx);
    int *part = pcs_scratch(NULL, is_first ? (size_t)b->mesh->nnode : 0, sizeof *part);
    pcs_status status = part == NULL ? pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: the shares of ranks") : PCS_OK;
    status = pcs_comm_agree(b->ctx, status);
    if (status == PCS_OK) status = pcs_deal_nodes(b->ctx, is_first ? b->mesh : NULL, false, part);
    if (status == PCS_OK) status = pcs_comm_agree(b->ctx, is_first ? spread_find_whole(b, &special, part) : PCS_OK);
    if (status == PCS_OK) status = spread_cut_parts(b, part, &special, side);
    pcs_scratch_free(special.node);
    pcs_scratch_free(part);
    return status;
}

// Distributes b->mesh, which all ranks have and keep.
static pcs_status spread_keep(pcs_build *b)
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

// Bytes a model takes per cell at the least, with one equation per node.
static const double BYTES_PER_CELL = 300.0;

typedef struct line_keys {
    pcs_yaml *cells;
} line_keys;

static const pcs_form cells_form = { .map = &map_cells, .gives = "elements" };
static const pcs_option line_options[] = {
    PCS_NODE("cells", line_keys, cells, PCS_OPTIONAL, cells_form,
             "in place of `elements`: cells cut by the travel time of waves in its group of rods"),
    { .name = NULL },
};

PCS_PARTS(source_parts, pcs_mesh_sources, pcs_mesh_sources[i]->options,
          strcmp(pcs_mesh_sources[i]->name, "line") == 0 ? line_options : NULL, NULL)

const pcs_map pcs_mesh_map = { .name = "mesh part", .kind = PCS_MAP_TYPES, .is_entry = true, .parts = source_parts };

static pcs_status mesh_break(pcs_build *b, const char *name)
{
    b->broken[b->nbroken++] = name;
    return PCS_OK;
}

// Returns false, with an error, if a cell has zero length: large coordinates can round to the same position.
static bool mesh_has_lengths(pcs_build *b, const pcs_yaml *node, int first)
{
    const pcs_mesh *mesh = b->mesh;
    for (int c = first; c < mesh->ncell; c++) {
        const int *n = mesh->cell[c];
        const double *x = mesh->x[n[0]], *y = mesh->x[n[1]];
        if (n[0] == n[1] || x[0] != y[0] || x[1] != y[1] || x[2] != y[2]) continue;
        pcs_case_error_at(b->c, node, NULL,
                          "cell %d has no length: its nodes %d and %d are both at [%.17g, %.17g, %.17g]", c, n[0], n[1],
                          x[0], x[1], x[2]);
        return false;
    }
    return true;
}

static pcs_status mesh_read_part(pcs_build *b, pcs_yaml *node, mesh_part *part)
{
    int type = pcs_build_type(b, node, source_parts);
    if (type < 0) return PCS_OK;
    const pcs_mesh_source_ops *source = pcs_mesh_sources[type];
    line_keys keys = { 0 };
    if (strcmp(source->name, "line") == 0) (void)pcs_case_read(b->c, node, line_options, &keys);
    if (keys.cells != NULL) PCS_TRY(travel_read(b, part->name, node, keys.cells));
    PCS_TRY(pcs_build_params(b, source->params_size, &part->params));
    if (!pcs_case_read(b->c, node, source->options, part->params)) return PCS_OK;
    if (!pcs_build_check(b, node, source->check, part->params)) return PCS_OK;
    part->source = source;
    return PCS_OK;
}

static pcs_status mesh_build_part(pcs_build *b, const mesh_part *part)
{
    int first = b->mesh->ncell;
    if (part->source == NULL) return mesh_break(b, part->name);
    pcs_status status = part->source->build(part->params, part->name, b->mesh);
    if (status == PCS_OK && (part->source->has_zero_lengths || mesh_has_lengths(b, part->node, first))) return PCS_OK;
    PCS_TRY(mesh_break(b, part->name));
    return pcs_build_blame(b, part->node, status);
}

// Rejects a mesh that needs more memory than the machine has: allocation may succeed and the process be killed later.
static void mesh_check_memory(pcs_build *b, const pcs_yaml *section)
{
    double need = BYTES_PER_CELL * b->mesh->ncell;
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (have > 0.0 && need > have) {
        pcs_case_reject(b->c, section, "has %d cells, which need at least %.3g GB; this machine has %.3g GB",
                        b->mesh->ncell, 1e-9 * need, 1e-9 * have);
    }
}

static pcs_status mesh_read_whole(pcs_build *b)
{
    PCS_TRY(pcs_build_sets(b));
    return pcs_build_merges(b);
}

static pcs_status mesh_build_whole(pcs_build *b, const mesh_parts *parts)
{
    for (int i = 0; i < parts->count; i++) PCS_TRY(mesh_build_part(b, &parts->part[i]));
    return mesh_read_whole(b);
}

// Builds the complete mesh on the first rank, while others only read the sections, and distributes its parts. Memory
// that is no longer needed is freed with its context.
static pcs_status mesh_build_cut(pcs_build *b, const mesh_parts *parts)
{
    pcs_context *side = NULL;
    pcs_status status = pcs_context_create(&side);
    b->only_reads = !pcs_is_root(b->ctx);
    if (status != PCS_OK) pcs_fail(b->ctx, status, "out of memory: the mesh");
    else b->mesh->memory = side;
    if (status == PCS_OK) status = b->only_reads ? mesh_read_whole(b) : mesh_build_whole(b, parts);
    if (status == PCS_OK && pcs_case_error_count(b->c) > 0)
        status = pcs_fail(b->ctx, PCS_BAD_INPUT, "the mesh is wrong");
    status = pcs_comm_agree(b->ctx, status);
    if (status == PCS_OK) status = spread_cut(b, &side);
    pcs_context_destroy(&side);
    return status;
}

// Builds the complete mesh on every rank; errors are reported, or the nodes are distributed.
static pcs_status mesh_build_kept(pcs_build *b, const mesh_parts *parts)
{
    PCS_TRY(mesh_build_whole(b, parts));
    return pcs_case_error_count(b->c) == 0 ? spread_keep(b) : PCS_OK;
}

// Builds the part of every rank. Errors are not reported here, since cell numbers of the user need the complete mesh.
static pcs_status mesh_build_parts(pcs_build *b, mesh_parts *parts)
{
    bool has_zero_lengths = false;
    for (int i = 0; i < parts->count; i++)
        has_zero_lengths = has_zero_lengths || parts->part[i].source->has_zero_lengths;
    PCS_TRY(spread_build(b, parts));
    if (!has_zero_lengths) (void)mesh_has_lengths(b, parts->part[0].node, 0);
    return PCS_OK;
}

pcs_status pcs_build_mesh(pcs_build *b)
{
    const pcs_comm *comm = pcs_context_comm(b->ctx);
    mesh_parts parts = { 0 };
    pcs_yaml *section = pcs_build_section(b, "mesh", true, "parts of the mesh by name", &parts.count);
    PCS_TRY(pcs_mesh_create(b->ctx, &b->mesh));
    const pcs_yaml *sets = pcs_case_get(b->c, pcs_case_root(b->c), "sets");
    PCS_TAKE(b->ctx, b->broken, parts.count + (sets == NULL ? 0 : pcs_yaml_count(sets)) + 1, "the mesh");
    PCS_TAKE(b->ctx, parts.part, parts.count, "the mesh");
    if (section == NULL) b->has_lost_cells = true;
    for (int i = 0; i < parts.count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        parts.part[i] = (mesh_part){ .name = pcs_yaml_key(section, i), .node = node };
        if (node != NULL) PCS_TRY(mesh_read_part(b, node, &parts.part[i]));
    }
    if (comm == NULL || comm->size == 1) PCS_TRY(mesh_build_whole(b, &parts));
    else if (!b->spreads) PCS_TRY(mesh_build_kept(b, &parts));
    else PCS_TRY(spread_takes(b, &parts) ? mesh_build_parts(b, &parts) : mesh_build_cut(b, &parts));
    if (section != NULL) mesh_check_memory(b, section);
    return PCS_OK;
}
