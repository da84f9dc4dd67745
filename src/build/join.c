// Ranks of nodes that contacts act on together.
//
// A row of a contact between two nodes, or of a joint, needs the values of both, and pushes both. Where there are many
// nodes of contacts, those that rows join, one by one or in columns, come to one rank, so that each row has all its
// equations there. Of all
// columns with nodes on the same ranks, each of these ranks gets an equal piece, in the order of their first nodes: so
// it has neighbours, and about as many nodes as before. What would leave one rank with far more nodes than the others,
// a chain through the whole model, stays where it is: rows at the cuts act on nodes of two ranks.

#include "build/deal.h"
#include "mesh/sieve.h"
#include "step/projection.h"

#include <stdlib.h>
#include <string.h>

static const double most_nodes = 1.25; // of an equal share of them

typedef struct join_node {
    int root, rank, place; // the first node of its column, its rank; and where it is in the list
} join_node;

// Nodes that belong together, some of the sorted ones.
typedef struct join_column {
    int low, high, nrank; // first, last and number of ranks that have some
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

// Of a section that nobody has read yet: the gap type of a contact whose rows act on nodes of several sets.
static const pcs_gap_ops *join_type(const pcs_yaml *contact)
{
    const pcs_yaml *type = pcs_deal_child(contact, "type");
    if (type == NULL || pcs_yaml_get_kind(type) != PCS_YAML_SCALAR) return NULL;
    for (int i = 0; pcs_gap_types[i] != NULL; i++) {
        const pcs_gap_ops *ops = pcs_gap_types[i];
        bool is_it = strcmp(ops->name, pcs_yaml_text(type)) == 0;
        bool has_pairs =
            ops->rows_per_node != NULL && ops->set_options[1] != NULL && !pcs_gap_is_common(ops, ops->set_options[1]);
        if (is_it) return has_pairs ? ops : NULL;
    }
    return NULL;
}

static const pcs_set *join_set(const pcs_mesh *mesh, const pcs_yaml *contact, const char *option)
{
    const pcs_yaml *name = pcs_deal_child(contact, option);
    bool is_named = name != NULL && pcs_yaml_get_kind(name) == PCS_YAML_SCALAR;
    return is_named ? pcs_mesh_node_set(mesh, pcs_yaml_text(name)) : NULL;
}

// The type of a joint, likewise.
static const pcs_joint_ops *join_joint(const pcs_yaml *joint)
{
    const pcs_yaml *type = pcs_deal_child(joint, "type");
    if (type == NULL || pcs_yaml_get_kind(type) != PCS_YAML_SCALAR) return NULL;
    for (int i = 0; pcs_joints[i] != NULL; i++)
        if (strcmp(pcs_joints[i]->name, pcs_yaml_text(type)) == 0) return pcs_joints[i];
    return NULL;
}

static int join_find(int *root, int i)
{
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

// Joins two nodes that are in the list.
static void join_nodes(const pcs_mesh *mesh, const pcs_deal_list *list, int a, int b, int *root)
{
    int x = join_find(root, pcs_lower_bound(list->count, list->node, pcs_mesh_node_number(mesh, a)));
    int y = join_find(root, pcs_lower_bound(list->count, list->node, pcs_mesh_node_number(mesh, b)));
    root[x > y ? x : y] = x > y ? y : x;
}

// Joins the nodes at the same places of two sets, all of which are in the list; gives how many there are.
static int join_sets(const pcs_mesh *mesh, const pcs_deal_list *list, const pcs_set *a, const pcs_set *b, int *root)
{
    if (a == NULL || b == NULL || a->count != b->count) return 0; // a fault, told later
    for (int i = 0; i < a->count; i++) join_nodes(mesh, list, a->items[i], b->items[i], root);
    return a->count;
}

// Joins the nodes of a set, and with the node `last`, unless that is -1; gives the last one.
static int join_set_nodes(const pcs_mesh *mesh, const pcs_deal_list *list, const pcs_set *set, int last, int *root)
{
    int count = set == NULL ? 0 : set->count;
    for (int n = 0; n < count; n++) {
        if (last >= 0) join_nodes(mesh, list, last, set->items[n], root);
        last = set->items[n];
    }
    return last;
}

// Joins all nodes of each joint that can be dealt out; are there joints?
static bool join_joints(const pcs_build *b, const pcs_deal_list *list, int *root)
{
    const pcs_yaml *joints = pcs_deal_child(pcs_case_root(b->c), "joints"), *joint;
    for (int i = 0; (joint = pcs_deal_entry(joints, i)) != NULL; i++) {
        const pcs_joint_ops *ops = join_joint(joint);
        int last = -1;
        if (ops == NULL || ops->drives != NULL) continue;
        for (int k = 0; ops->set_options[k] != NULL; k++)
            last = join_set_nodes(b->mesh, list, join_set(b->mesh, joint, ops->set_options[k]), last, root);
    }
    return joints != NULL;
}

static int join_contacts(const pcs_build *b, const pcs_deal_list *list, int *root)
{
    const pcs_yaml *contacts = pcs_deal_child(pcs_case_root(b->c), "contacts"), *contact;
    int npair = 0;
    for (int i = 0; i < list->count; i++) root[i] = i;
    for (int i = 0; (contact = pcs_deal_entry(contacts, i)) != NULL; i++) {
        const pcs_gap_ops *ops = join_type(contact);
        if (ops == NULL) continue;
        for (int k = 1; ops->set_options[k] != NULL; k++)
            npair += join_sets(b->mesh, list, join_set(b->mesh, contact, ops->set_options[0]),
                               join_set(b->mesh, contact, ops->set_options[k]), root);
    }
    return npair;
}

// Sorts the nodes into columns; gives how many these are.
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

// The rank number k of those that have nodes of a column.
static int join_pick(const join_node *nodes, const join_column *c, int k)
{
    int i = c->first;
    for (; k > 0; i++) k -= nodes[i + 1].rank != nodes[i].rank;
    return nodes[i].rank;
}

// How many nodes each rank has more, or less, in `gain`.
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
    const pcs_yaml *contacts = pcs_deal_child(pcs_case_root(b->c), "contacts"), *contact;
    for (int i = 0; (contact = pcs_deal_entry(contacts, i)) != NULL; i++)
        if (join_type(contact) != NULL) return true;
    return contacts != NULL && pcs_deal_child(pcs_case_root(b->c), "joints") != NULL;
}

// Joins what rows act on together; is it worth it?
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
