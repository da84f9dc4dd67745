// Distributes the nodes of a mesh over the ranks, and says which of them all ranks need.

#include "build/deal.h"

#include "mesh/sieve.h"

#include <stdlib.h>
#include <string.h>

// Neighbours of every node through the cells.
typedef struct deal_graph {
    int *start, *neighbour; // [nnode + 1], [start[nnode]]
} deal_graph;

static bool deal_is_line(const pcs_mesh *mesh)
{
    for (int c = 0; c < mesh->ncell; c++)
        if (abs(mesh->cell[c][1] - mesh->cell[c][0]) > 1) return false;
    return true;
}

// Sorted, each neighbour once.
static void deal_tidy(int nnode, deal_graph *g)
{
    int place = 0, first = 0;
    for (int i = 0; i < nnode; i++) {
        int last = g->start[i + 1], count = pcs_sort_unique(last - first, g->neighbour + first);
        memmove(g->neighbour + place, g->neighbour + first, (size_t)count * sizeof *g->neighbour);
        first = last;
        place += count;
        g->start[i + 1] = place;
    }
}

static pcs_status deal_make_graph(const pcs_mesh *mesh, deal_graph *g)
{
    int nnode = mesh->nnode;
    g->start = pcs_scratch(NULL, (size_t)nnode + 2, sizeof *g->start);
    g->neighbour = pcs_scratch(NULL, 2 * (size_t)mesh->ncell, sizeof *g->neighbour);
    if (g->start == NULL || g->neighbour == NULL)
        return pcs_fail(mesh->ctx, PCS_NO_MEMORY, "out of memory: the shares of %d nodes", nnode);
    memset(g->start, 0, ((size_t)nnode + 2) * sizeof *g->start);
    for (int c = 0; c < mesh->ncell; c++)
        for (int k = 0; k < 2 && mesh->cell[c][0] != mesh->cell[c][1]; k++) g->start[mesh->cell[c][k] + 2]++;
    for (int i = 0; i <= nnode; i++) g->start[i + 1] += g->start[i];
    for (int c = 0; c < mesh->ncell; c++)
        for (int k = 0; k < 2 && mesh->cell[c][0] != mesh->cell[c][1]; k++)
            g->neighbour[g->start[mesh->cell[c][k] + 1]++] = mesh->cell[c][1 - k];
    deal_tidy(nnode, g);
    return PCS_OK;
}

pcs_status pcs_deal_send(pcs_context *ctx, int to, int count, const int *numbers, pcs_numbers *out)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    int *counts = pcs_scratch(NULL, 2 * (size_t)comm->size, sizeof *counts);
    pcs_status status = counts == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: %d ranks", comm->size) : PCS_OK;
    PCS_TRY(pcs_comm_agree(ctx, status));
    memset(counts, 0, 2 * (size_t)comm->size * sizeof *counts);
    if (comm->rank == 0) counts[to] = count;
    status = comm->exchange(comm, ctx, counts, counts + comm->size, numbers, out);
    pcs_scratch_free(counts);
    return status;
}

// The ranks of all nodes, which the first one finds by itself, where the graph is anyway.
static pcs_status deal_by_graph(pcs_context *ctx, int nnode, const deal_graph *g, bool tells_all, int *part)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    bool is_first = comm->rank == 0;
    pcs_status status = is_first ? comm->partition(comm, ctx, nnode, g->start, g->neighbour, part) : PCS_OK;
    status = pcs_comm_agree(ctx, status);
    int told = tells_all ? comm->size : 1;
    for (int to = 1; to < told && status == PCS_OK; to++) {
        pcs_numbers received = { 0 };
        status = pcs_deal_send(ctx, to, nnode, part, &received);
        if (status == PCS_OK && to == comm->rank) memcpy(part, received.value, (size_t)nnode * sizeof *part);
        pcs_scratch_free(received.count);
        pcs_scratch_free(received.value);
    }
    return status;
}

pcs_status pcs_deal_nodes(pcs_context *ctx, const pcs_mesh *mesh, bool tells_all, int *part)
{
    const pcs_comm *comm = pcs_context_comm(ctx);
    bool is_first = comm->rank == 0;
    double about[2] = { 0.0 }; // nodes, and whether they make no line
    if (is_first) about[0] = mesh->nnode;
    if (is_first) about[1] = !deal_is_line(mesh);
    comm->max(comm, 2, about);
    int nnode = (int)about[0], nknown = is_first || tells_all ? nnode : 0;
    if (about[1] == 0.0) {
        for (int i = 0; i < nknown; i++) part[i] = pcs_deal_piece(i, nnode, comm->size);
        return PCS_OK;
    }
    deal_graph graph = { 0 };
    pcs_status status = pcs_comm_agree(ctx, is_first ? deal_make_graph(mesh, &graph) : PCS_OK);
    if (status == PCS_OK) status = deal_by_graph(ctx, nnode, &graph, tells_all, part);
    pcs_scratch_free(graph.start);
    pcs_scratch_free(graph.neighbour);
    return status;
}

// Marks of the nodes of a mesh.
typedef struct deal_marks {
    const pcs_mesh *mesh;
    int rank;
    unsigned char *is_marked; // [nnode]
} deal_marks;

static void deal_mark_node(deal_marks *m, int node)
{
    const pcs_mesh_share *share = m->mesh->share;
    if (m->rank < 0 || share->owner[node] == m->rank) m->is_marked[node] = 1;
}

static void deal_mark_set(deal_marks *m, const char *name)
{
    const pcs_mesh *mesh = m->mesh;
    const pcs_set *nodes = pcs_mesh_node_set(mesh, name), *cells = pcs_mesh_cell_set(mesh, name);
    if (nodes != NULL)
        for (int i = 0; i < nodes->count; i++) deal_mark_node(m, nodes->items[i]);
    if (cells != NULL)
        for (int i = 0; i < 2 * cells->count; i++) deal_mark_node(m, mesh->cell[cells->items[i / 2]][i % 2]);
}

// Whatever names a set in this part of the case needs it.
static void deal_mark_names(deal_marks *m, const pcs_yaml *node)
{
    if (node == NULL) return;
    if (pcs_yaml_get_kind(node) == PCS_YAML_SCALAR) {
        deal_mark_set(m, pcs_yaml_text(node));
        return;
    }
    for (int i = 0; i < pcs_yaml_count(node); i++) deal_mark_names(m, pcs_yaml_item(node, i));
}

const pcs_yaml *pcs_deal_child(const pcs_yaml *map, const char *key)
{
    if (map == NULL || pcs_yaml_get_kind(map) != PCS_YAML_MAP) return NULL;
    for (int i = 0; i < pcs_yaml_count(map); i++)
        if (strcmp(pcs_yaml_key(map, i), key) == 0) return pcs_yaml_item(map, i);
    return NULL;
}

const pcs_yaml *pcs_deal_entry(const pcs_yaml *section, int i)
{
    return section == NULL || pcs_yaml_get_kind(section) == PCS_YAML_SCALAR || i >= pcs_yaml_count(section)
               ? NULL
               : pcs_yaml_item(section, i);
}

// Supports that hold some of three rotations may become joints; reactions have a middle.
static bool deal_is_joint(const pcs_yaml *support)
{
    const pcs_yaml *fix = pcs_deal_child(support, "fix");
    int nturn = 0;
    for (int i = 0; pcs_deal_entry(fix, i) != NULL; i++) {
        const pcs_yaml *item = pcs_deal_entry(fix, i);
        nturn += pcs_yaml_get_kind(item) == PCS_YAML_SCALAR && pcs_yaml_text(item)[0] == 'r';
    }
    return nturn == 1 || nturn == 2 || pcs_deal_child(support, "reactions") != NULL;
}

// Values from the first to the last node of a set need the places of its nodes.
static bool deal_needs_places(const pcs_mesh *mesh, const pcs_yaml *initial)
{
    static const char *const keys[] = { "displacement", "velocity", "rotation", "spin", NULL };
    const pcs_yaml *name = pcs_deal_child(initial, "set");
    if (name == NULL || pcs_yaml_get_kind(name) != PCS_YAML_SCALAR) return false;
    const pcs_set *set = pcs_mesh_node_set(mesh, pcs_yaml_text(name));
    if (set == NULL || set->place != NULL) return false;
    for (int k = 0; keys[k] != NULL; k++) {
        const pcs_yaml *value = pcs_deal_child(initial, keys[k]);
        if (value != NULL && pcs_yaml_get_kind(value) == PCS_YAML_MAP) return true;
    }
    return false;
}

static void deal_mark(pcs_build *b, deal_marks *m)
{
    const pcs_yaml *root = pcs_case_root(b->c), *supports = pcs_deal_child(root, "supports");
    const pcs_yaml *initial = pcs_deal_child(root, "initial"), *output = pcs_deal_child(root, "output");
    const pcs_yaml *probes = pcs_deal_child(output, "probes"), *entry;
    deal_mark_names(m, pcs_deal_child(root, "contacts"));
    deal_mark_names(m, pcs_deal_child(root, "joints"));
    deal_mark_names(m, pcs_deal_child(output, "waves"));
    for (int i = 0; (entry = pcs_deal_entry(supports, i)) != NULL; i++)
        if (deal_is_joint(entry)) deal_mark_names(m, pcs_deal_child(entry, "set"));
    for (int i = 0; (entry = pcs_deal_entry(initial, i)) != NULL; i++)
        if (deal_needs_places(m->mesh, entry)) deal_mark_names(m, pcs_deal_child(entry, "set"));
    for (int i = 0; (entry = pcs_deal_entry(probes, i)) != NULL; i++)
        if (pcs_deal_child(entry, "item") != NULL) deal_mark_names(m, entry);
}

bool pcs_deal_names_nodes(const pcs_build *b)
{
    const pcs_yaml *root = pcs_case_root(b->c), *output = pcs_deal_child(root, "output"), *entry;
    bool are_named = pcs_deal_child(output, "waves") != NULL;
    for (int i = 0; (entry = pcs_deal_entry(pcs_deal_child(root, "supports"), i)) != NULL; i++)
        are_named = are_named || deal_is_joint(entry);
    for (int i = 0; (entry = pcs_deal_entry(pcs_deal_child(output, "probes"), i)) != NULL; i++)
        are_named = are_named || pcs_deal_child(entry, "item") != NULL;
    return are_named;
}

pcs_status pcs_deal_special(pcs_build *b, int rank, pcs_deal_list *out)
{
    const pcs_mesh *mesh = b->mesh;
    deal_marks m = { .mesh = mesh, .rank = rank, .is_marked = pcs_scratch(NULL, (size_t)mesh->nnode, 1) };
    out->count = 0;
    out->node = pcs_scratch(NULL, (size_t)mesh->nnode, sizeof *out->node);
    if (m.is_marked == NULL || out->node == NULL) {
        pcs_scratch_free(m.is_marked);
        return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: the shares of %d nodes", mesh->nnode);
    }
    memset(m.is_marked, 0, (size_t)mesh->nnode);
    deal_mark(b, &m);
    for (int i = 0; i < mesh->nnode; i++)
        if (m.is_marked[i]) out->node[out->count++] = pcs_mesh_node_number(mesh, i);
    pcs_scratch_free(m.is_marked);
    return PCS_OK;
}
