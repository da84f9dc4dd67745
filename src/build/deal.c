// Distributes the nodes of a mesh over the ranks, and says which of them all ranks need.

#include "build/deal.h"
#include "mesh/sieve.h"
#include "step/projection.h"

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

// Sorts the neighbours of every node and removes duplicates.
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

// Partitions the nodes on the first rank, which has the graph, and with `tells_all` sends the ranks to all others.
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

// Marks the nodes of all sets that this part of the case names.
static void deal_mark_names(deal_marks *m, const pcs_yaml *node)
{
    if (node == NULL) return;
    if (pcs_yaml_get_kind(node) == PCS_YAML_SCALAR) {
        deal_mark_set(m, pcs_yaml_text(node));
        return;
    }
    for (int i = 0; i < pcs_yaml_count(node); i++) deal_mark_names(m, pcs_yaml_item(node, i));
}

// Returns entry i of a section that has not been checked yet, NULL if there is none.
static const pcs_yaml *deal_entry(const pcs_yaml *section, int i)
{
    return section == NULL || pcs_yaml_get_kind(section) == PCS_YAML_SCALAR || i >= pcs_yaml_count(section)
               ? NULL
               : pcs_yaml_item(section, i);
}

// Returns true for a support that fixes one or two rotations, which may become a joint, or that reports reactions.
static bool deal_is_joint(const pcs_yaml *support)
{
    const pcs_yaml *fix = pcs_yaml_at(support, "fix");
    int nturn = 0;
    for (int i = 0; deal_entry(fix, i) != NULL; i++) {
        const pcs_yaml *item = deal_entry(fix, i);
        nturn += pcs_yaml_get_kind(item) == PCS_YAML_SCALAR && pcs_yaml_text(item)[0] == 'r';
    }
    return nturn == 1 || nturn == 2 || pcs_yaml_at(support, "reactions") != NULL;
}

// Returns true if values vary from the first to the last node of a set that does not store the order of its nodes.
static bool deal_needs_places(const pcs_mesh *mesh, const pcs_yaml *initial)
{
    static const char *const keys[] = { "displacement", "velocity", "rotation", "spin", NULL };
    const pcs_set *set = pcs_mesh_node_set(mesh, pcs_yaml_string(initial, "set"));
    if (set == NULL || set->place != NULL) return false;
    for (int k = 0; keys[k] != NULL; k++) {
        const pcs_yaml *value = pcs_yaml_at(initial, keys[k]);
        if (value != NULL && pcs_yaml_get_kind(value) == PCS_YAML_MAP) return true;
    }
    return false;
}

static void deal_mark(pcs_build *b, deal_marks *m)
{
    const pcs_yaml *root = pcs_case_root(b->c), *supports = pcs_yaml_at(root, "supports");
    const pcs_yaml *initial = pcs_yaml_at(root, "initial"), *probes = pcs_yaml_at(root, "output.probes"), *entry;
    deal_mark_names(m, pcs_yaml_at(root, "contacts"));
    deal_mark_names(m, pcs_yaml_at(root, "joints"));
    deal_mark_names(m, pcs_yaml_at(root, "output.waves"));
    for (int i = 0; (entry = deal_entry(supports, i)) != NULL; i++)
        if (deal_is_joint(entry)) deal_mark_names(m, pcs_yaml_at(entry, "set"));
    for (int i = 0; (entry = deal_entry(initial, i)) != NULL; i++)
        if (deal_needs_places(m->mesh, entry)) deal_mark_names(m, pcs_yaml_at(entry, "set"));
    for (int i = 0; (entry = deal_entry(probes, i)) != NULL; i++)
        if (pcs_yaml_at(entry, "item") != NULL) deal_mark_names(m, entry);
}

bool pcs_deal_names_nodes(const pcs_build *b)
{
    const pcs_yaml *root = pcs_case_root(b->c), *entry;
    bool are_named = pcs_yaml_at(root, "output.waves") != NULL;
    for (int i = 0; (entry = deal_entry(pcs_yaml_at(root, "supports"), i)) != NULL; i++)
        are_named = are_named || deal_is_joint(entry);
    for (int i = 0; (entry = deal_entry(pcs_yaml_at(root, "output.probes"), i)) != NULL; i++)
        are_named = are_named || pcs_yaml_at(entry, "item") != NULL;
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

// Ranks of nodes that contacts act on together.
//
// A row of a contact between two nodes, or of a joint, needs the values of both, and pushes both. Where there are many
// nodes of contacts, those that rows join, one by one or in columns, come to one rank, so that each row has all its
// equations there. Of all
// columns with nodes on the same ranks, each of these ranks gets an equal piece, in the order of their first nodes: so
// it has neighbours, and about as many nodes as before. What would leave one rank with far more nodes than the others,
// a chain through the whole model, stays where it is: rows at the cuts act on nodes of two ranks.

static const double most_nodes = 1.25; // of an equal share of them

typedef struct join_node {
    int root, rank, place; // first node of its column, its rank, and its index in the list
} join_node;

// Nodes that rows join, a range of the sorted ones.
typedef struct join_column {
    int low, high, nrank; // first, last and number of ranks that have nodes of it
    int first, count;
} join_column;

static int join_compare_nodes(const void *a, const void *b)
{
    const join_node *x = a, *y = b;
    if (x->root != y->root) return x->root < y->root ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int join_compare_columns(const void *a, const void *b)
{
    const join_column *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    if (x->nrank != y->nrank) return x->nrank < y->nrank ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

// Returns the gap type of a contact, in a section that nobody has read yet, if its rows act on nodes of several sets.
static const pcs_source_ops *join_type(const pcs_yaml *contact)
{
    for (int i = 0; pcs_gap_types[i] != NULL; i++) {
        const pcs_source_ops *ops = pcs_gap_types[i];
        bool is_it = strcmp(ops->name, pcs_yaml_string(contact, "type")) == 0;
        bool has_pairs = ops->count != NULL && ops->sets[1].option != NULL && !ops->sets[1].is_common;
        if (is_it) return has_pairs ? ops : NULL;
    }
    return NULL;
}

static const pcs_set *join_set(const pcs_mesh *mesh, const pcs_yaml *contact, const char *option)
{
    return pcs_mesh_node_set(mesh, pcs_yaml_string(contact, option));
}

// Returns the type of a joint, NULL if it is unknown.
static const pcs_source_ops *join_joint(const pcs_yaml *joint)
{
    for (int i = 0; pcs_joints[i] != NULL; i++)
        if (strcmp(pcs_joints[i]->name, pcs_yaml_string(joint, "type")) == 0) return pcs_joints[i];
    return NULL;
}

static int join_find(int *root, int i)
{
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

// Puts two nodes of the list into the same column (union-find).
static void join_nodes(const pcs_mesh *mesh, const pcs_deal_list *list, int a, int b, int *root)
{
    int x = join_find(root, pcs_lower_bound(list->count, list->node, pcs_mesh_node_number(mesh, a)));
    int y = join_find(root, pcs_lower_bound(list->count, list->node, pcs_mesh_node_number(mesh, b)));
    root[x > y ? x : y] = x > y ? y : x;
}

// Joins node i of one set with node i of the other; all are in the list. Returns the number of pairs.
static int join_sets(const pcs_mesh *mesh, const pcs_deal_list *list, const pcs_set *a, const pcs_set *b, int *root)
{
    if (a == NULL || b == NULL || a->count != b->count) return 0; // a fault, told later
    for (int i = 0; i < a->count; i++) join_nodes(mesh, list, a->items[i], b->items[i], root);
    return a->count;
}

// Joins the nodes of a set with one another and with the node `last`, unless that is -1. Returns the last node.
static int join_set_nodes(const pcs_mesh *mesh, const pcs_deal_list *list, const pcs_set *set, int last, int *root)
{
    int count = set == NULL ? 0 : set->count;
    for (int n = 0; n < count; n++) {
        if (last >= 0) join_nodes(mesh, list, last, set->items[n], root);
        last = set->items[n];
    }
    return last;
}

// Joins all nodes of each joint that can be distributed. Returns true if the case has joints.
static bool join_joints(const pcs_build *b, const pcs_deal_list *list, int *root)
{
    const pcs_yaml *joints = pcs_yaml_at(pcs_case_root(b->c), "joints"), *joint;
    for (int i = 0; (joint = deal_entry(joints, i)) != NULL; i++) {
        const pcs_source_ops *ops = join_joint(joint);
        int last = -1;
        if (ops == NULL || ops->drive != NULL) continue;
        for (int k = 0; ops->sets[k].option != NULL; k++)
            last = join_set_nodes(b->mesh, list, join_set(b->mesh, joint, ops->sets[k].option), last, root);
    }
    return joints != NULL;
}

static int join_contacts(const pcs_build *b, const pcs_deal_list *list, int *root)
{
    const pcs_yaml *contacts = pcs_yaml_at(pcs_case_root(b->c), "contacts"), *contact;
    int npair = 0;
    for (int i = 0; i < list->count; i++) root[i] = i;
    for (int i = 0; (contact = deal_entry(contacts, i)) != NULL; i++) {
        const pcs_source_ops *ops = join_type(contact);
        if (ops == NULL) continue;
        for (int k = 1; ops->sets[k].option != NULL; k++)
            npair += join_sets(b->mesh, list, join_set(b->mesh, contact, ops->sets[0].option),
                               join_set(b->mesh, contact, ops->sets[k].option), root);
    }
    return npair;
}

// Sorts the nodes into columns of joined ones. Returns the number of columns.
static int join_columns(const pcs_deal_list *list, int *root, const int *rank, join_node *nodes, join_column *columns)
{
    int count = 0;
    for (int i = 0; i < list->count; i++) nodes[i] = (join_node){ join_find(root, i), rank[i], i };
    qsort(nodes, (size_t)list->count, sizeof *nodes, join_compare_nodes);
    for (int i = 0; i < list->count; i++) {
        bool is_new = i == 0 || nodes[i].root != nodes[i - 1].root;
        if (is_new) columns[count++] = (join_column){ .low = nodes[i].rank, .first = i };
        join_column *c = &columns[count - 1];
        c->nrank += is_new || nodes[i].rank != c->high;
        c->high = nodes[i].rank;
        c->count++;
    }
    qsort(columns, (size_t)count, sizeof *columns, join_compare_columns);
    return count;
}

// Returns the k-th of the ranks that have nodes of a column.
static int join_pick(const join_node *nodes, const join_column *c, int k)
{
    int i = c->first;
    for (; k > 0; i++) k -= nodes[i + 1].rank != nodes[i].rank;
    return nodes[i].rank;
}

// Assigns a rank to each column; gain[r] is the change of the number of nodes of rank r.
static void join_deal(int count, const join_column *columns, const join_node *nodes, int *to, int *gain)
{
    for (int first = 0, next; first < count; first = next) {
        const join_column *c = &columns[first];
        for (next = first; next < count && columns[next].nrank == c->nrank; next++)
            if (columns[next].low != c->low || columns[next].high != c->high) break;
        for (int i = first; i < next; i++) {
            int rank = join_pick(nodes, &columns[i], (int)((long long)(i - first) * c->nrank / (next - first)));
            for (int k = columns[i].first; k < columns[i].first + columns[i].count; k++) {
                gain[nodes[k].rank]--;
                gain[rank]++;
                to[nodes[k].place] = rank;
            }
        }
    }
}

bool pcs_deal_joins(const pcs_build *b)
{
    const pcs_yaml *contacts = pcs_yaml_at(pcs_case_root(b->c), "contacts"), *contact;
    for (int i = 0; (contact = deal_entry(contacts, i)) != NULL; i++)
        if (join_type(contact) != NULL) return true;
    return contacts != NULL && pcs_yaml_at(pcs_case_root(b->c), "joints") != NULL;
}

// Joins the nodes on which the same row acts. Returns true if there are enough rows for this to pay off.
static bool join_all(const pcs_build *b, const pcs_deal_list *list, int *root)
{
    bool are_many = join_contacts(b, list, root) >= PCS_MANY_ROWS;
    bool has_joints = join_joints(b, list, root);
    return are_many || (has_joints && list->count >= PCS_MANY_ROWS);
}

pcs_status pcs_deal_join(const pcs_build *b, const pcs_deal_list *list, const int *has, int *rank)
{
    int size = pcs_context_comm(b->ctx)->size, n = list->count;
    double all = 0.0;
    join_node *nodes = pcs_scratch(NULL, (size_t)n, sizeof *nodes);
    join_column *columns = pcs_scratch(NULL, (size_t)n, sizeof *columns);
    int *root = pcs_scratch(NULL, 2 * (size_t)n + (size_t)size, sizeof *root), *to = root + n, *gain = to + n;
    bool is_taken = nodes != NULL && columns != NULL && root != NULL, is_even = true;
    if (is_taken && join_all(b, list, root)) {
        memset(gain, 0, (size_t)size * sizeof *gain);
        join_deal(join_columns(list, root, rank, nodes, columns), columns, nodes, to, gain);
        for (int r = 0; r < size; r++) all += has[r];
        for (int r = 0; r < size; r++) is_even = is_even && has[r] + gain[r] <= most_nodes * all / size;
        if (is_even) memcpy(rank, to, (size_t)n * sizeof *rank);
    }
    pcs_scratch_free(nodes);
    pcs_scratch_free(columns);
    pcs_scratch_free(root);
    return is_taken ? PCS_OK : pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: the ranks of %d nodes", n);
}
