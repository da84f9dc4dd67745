// Deals the nodes of a mesh out among the ranks, and says which of them all ranks need.

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

pcs_status pcs_deal_nodes(const pcs_mesh *mesh, const pcs_comm *comm, int *part)
{
    if (deal_is_line(mesh)) {
        for (int i = 0; i < mesh->nnode; i++) part[i] = pcs_deal_piece(i, mesh->nnode, comm->size);
        return PCS_OK;
    }
    deal_graph graph = { 0 };
    pcs_status status = pcs_comm_agree(mesh->ctx, deal_make_graph(mesh, &graph));
    if (status == PCS_OK) status = comm->partition(comm, mesh->ctx, mesh->nnode, graph.start, graph.neighbour, part);
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

// Sections are looked at before they are read: nothing is taken for known here, and nothing is judged.
static const pcs_yaml *deal_child(const pcs_yaml *map, const char *key)
{
    if (map == NULL || pcs_yaml_get_kind(map) != PCS_YAML_MAP) return NULL;
    for (int i = 0; i < pcs_yaml_count(map); i++)
        if (strcmp(pcs_yaml_key(map, i), key) == 0) return pcs_yaml_item(map, i);
    return NULL;
}

static const pcs_yaml *deal_entry(const pcs_yaml *section, int i)
{
    return section == NULL || pcs_yaml_get_kind(section) == PCS_YAML_SCALAR || i >= pcs_yaml_count(section)
               ? NULL
               : pcs_yaml_item(section, i);
}

// Supports that hold some of three rotations may become joints; reactions have a middle.
static bool deal_is_joint(const pcs_yaml *support)
{
    const pcs_yaml *fix = deal_child(support, "fix");
    int nturn = 0;
    for (int i = 0; deal_entry(fix, i) != NULL; i++) {
        const pcs_yaml *item = deal_entry(fix, i);
        nturn += pcs_yaml_get_kind(item) == PCS_YAML_SCALAR && pcs_yaml_text(item)[0] == 'r';
    }
    return nturn == 1 || nturn == 2 || deal_child(support, "reactions") != NULL;
}

// Values from the first to the last node of a set need the places of its nodes.
static bool deal_needs_places(const pcs_mesh *mesh, const pcs_yaml *initial)
{
    static const char *const keys[] = { "displacement", "velocity", "rotation", "spin", NULL };
    const pcs_yaml *name = deal_child(initial, "set");
    if (name == NULL || pcs_yaml_get_kind(name) != PCS_YAML_SCALAR) return false;
    const pcs_set *set = pcs_mesh_node_set(mesh, pcs_yaml_text(name));
    if (set == NULL || set->place != NULL) return false;
    for (int k = 0; keys[k] != NULL; k++) {
        const pcs_yaml *value = deal_child(initial, keys[k]);
        if (value != NULL && pcs_yaml_get_kind(value) == PCS_YAML_MAP) return true;
    }
    return false;
}

static void deal_mark(pcs_build *b, deal_marks *m)
{
    const pcs_yaml *root = pcs_case_root(b->c), *supports = deal_child(root, "supports");
    const pcs_yaml *initial = deal_child(root, "initial"), *output = deal_child(root, "output");
    const pcs_yaml *probes = deal_child(output, "probes"), *entry;
    deal_mark_names(m, deal_child(root, "contacts"));
    deal_mark_names(m, deal_child(root, "joints"));
    deal_mark_names(m, deal_child(output, "waves"));
    for (int i = 0; (entry = deal_entry(supports, i)) != NULL; i++)
        if (deal_is_joint(entry)) deal_mark_names(m, deal_child(entry, "set"));
    for (int i = 0; (entry = deal_entry(initial, i)) != NULL; i++)
        if (deal_needs_places(m->mesh, entry)) deal_mark_names(m, deal_child(entry, "set"));
    for (int i = 0; (entry = deal_entry(probes, i)) != NULL; i++)
        if (deal_child(entry, "item") != NULL) deal_mark_names(m, entry);
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
