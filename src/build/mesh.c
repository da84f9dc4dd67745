// Section `mesh`: the parts of the mesh, whole or over several ranks, then the sets and merges of its nodes and cells.
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

#include "core/comm.h"
#include "core/rotation.h"
#include "mesh/merge.h"
#include "mesh/mesh.h"
#include "mesh/part.h"
#include "step/projection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUP_SET = 256 }; // bytes of the name of a set that a group makes

typedef struct sets_params {
    pcs_names nodes, cells, within, without;
    pcs_selection selection;
} sets_params;

static const pcs_option set_options[] = {
    PCS_NAMES("nodes", sets_params, nodes, PCS_OPTIONAL,
              "set or sets of nodes to choose from; all of their nodes, each once"),
    PCS_NAMES("cells", sets_params, cells, PCS_OPTIONAL, "the same for cells, which makes a set of their nodes, too"),
    PCS_LIST("at", sets_params, selection.at, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "only nodes at this position [x, y, z], or at one of a list of positions, m"),
    PCS_LIST("box", sets_params, selection.box, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "only what lies in a box, by two opposite corners [[x, y, z], [x, y, z]], m"),
    PCS_LIST("plane", sets_params, selection.plane, PCS_OPTIONAL, PCS_ANY_NUMBER,
             "only what lies on a plane, by a point and its normal [[x, y, z], [nx, ny, nz]], m"),
    PCS_NAMES("within", sets_params, within, PCS_OPTIONAL, "only what belongs to one of these sets, too"),
    PCS_NAMES("without", sets_params, without, PCS_OPTIONAL, "only what belongs to none of these sets"),
    PCS_REAL("tolerance", sets_params, selection.tolerance, PCS_OPTIONAL, PCS_POSITIVE,
             "distance up to which positions are the same, m; by default 1e-6 of the size of the mesh"),
    { .name = NULL },
};

static const char *const set_one[] = { "nodes", "cells", NULL };
const pcs_map pcs_set_map = { .name = "set", .is_entry = true, .options = set_options };

typedef struct merge_params {
    pcs_names sets;
    double tolerance;
} merge_params;

static const pcs_option merge_options[] = {
    PCS_NAMES("sets", merge_params, sets, PCS_REQUIRED, "sets of nodes: those at the same position become one node"),
    PCS_REAL("tolerance", merge_params, tolerance, PCS_OPTIONAL, PCS_POSITIVE,
             "distance up to which positions are the same, m; by default 1e-6 of the size of the mesh"),
    { .name = NULL },
};

const pcs_map pcs_merge_map = { .name = "merged", .is_entry = true, .options = merge_options };

// Items gathered from named sets; scratch memory.
typedef struct sets_pool {
    pcs_build *b;
    pcs_yaml *map; // entry of the case
    bool of_cells;
    int room, count;
    int *items; // [number of nodes or cells]
    char *mark; // [the same] marks of the sets that each is in
} sets_pool;
enum { POOLED = 1, WITHIN = 2, WITHOUT = 4 };

static void sets_close(sets_pool *pool)
{
    pcs_scratch_free(pool->items);
    pcs_scratch_free(pool->mark);
}

static pcs_status sets_open(pcs_build *b, pcs_yaml *map, bool of_cells, sets_pool *pool)
{
    *pool = (sets_pool){ .b = b, .map = map, .of_cells = of_cells };
    pool->room = of_cells ? b->mesh->ncell : b->mesh->nnode;
    pool->items = pcs_scratch(NULL, (size_t)pool->room, sizeof *pool->items);
    pool->mark = pcs_scratch(NULL, (size_t)pool->room, 1);
    if (pool->items == NULL || pool->mark == NULL) {
        sets_close(pool);
        return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: a set of %d", pool->room);
    }
    memset(pool->mark, 0, (size_t)pool->room);
    return PCS_OK;
}

// Returns set i of the name or list of names under a key; NULL, with an error, if there is none.
static const pcs_set *sets_named(pcs_build *b, pcs_yaml *map, const char *key, bool of_cells, int i)
{
    pcs_yaml *node = pcs_case_get(b->c, map, key);
    if (node->kind == PCS_YAML_LIST) node = node->items[i];
    return pcs_build_set(b, node, of_cells, false);
}

// Marks the items of all sets named under a key; those that are marked POOLED come into the pool, each once. Returns
// false if a set is wrong.
static bool sets_mark(sets_pool *pool, const char *key, const pcs_names *names, int mark)
{
    bool is_fine = true;
    for (int i = 0; i < names->count; i++) {
        const pcs_set *set = sets_named(pool->b, pool->map, key, pool->of_cells, i);
        is_fine = is_fine && set != NULL;
        for (int k = 0; k < (set == NULL ? 0 : set->count); k++) {
            char *marks = &pool->mark[set->items[k]];
            if (mark == POOLED && (*marks & POOLED) == 0) pool->items[pool->count++] = set->items[k];
            *marks = (char)(*marks | mark);
        }
    }
    return is_fine;
}

// Gathers the items of the sets to choose from that are within one of some others, and in none of some.
static bool sets_choose(sets_pool *pool, const sets_params *p)
{
    bool is_fine =
        pool->of_cells ? sets_mark(pool, "cells", &p->cells, POOLED) : sets_mark(pool, "nodes", &p->nodes, POOLED);
    is_fine = sets_mark(pool, "within", &p->within, WITHIN) && is_fine;
    is_fine = sets_mark(pool, "without", &p->without, WITHOUT) && is_fine;
    int kept = 0, asked = p->within.count == 0 ? WITHOUT : WITHIN | WITHOUT, wanted = asked & WITHIN;
    for (int i = 0; i < pool->count; i++)
        if ((pool->mark[pool->items[i]] & asked) == wanted) pool->items[kept++] = pool->items[i];
    pool->count = kept;
    return is_fine;
}

// Adds the set of the cells and, under the same name, the set of their nodes.
static pcs_status sets_store_cells(pcs_build *b, const char *name, const sets_pool *cells)
{
    sets_pool nodes;
    PCS_TRY(sets_open(b, cells->map, false, &nodes));
    for (int i = 0; i < cells->count; i++) {
        for (int k = 0; k < 2; k++) {
            int node = b->mesh->cell[cells->items[i]][k];
            if (!nodes.mark[node]) nodes.items[nodes.count++] = node;
            nodes.mark[node] = 1;
        }
    }
    pcs_status status = pcs_mesh_add_list(b->mesh, PCS_NODES, nodes.count, nodes.items, "%s", name);
    if (status == PCS_OK) status = pcs_mesh_add_list(b->mesh, PCS_CELLS, cells->count, cells->items, "%s", name);
    sets_close(&nodes);
    return status;
}

// Adds the nodes that are selected by place, or the cells that lie there with all their nodes.
static pcs_status sets_make(pcs_build *b, pcs_yaml *node, const char *name, const sets_params *p, bool *is_made)
{
    sets_pool pool;
    const pcs_mesh *mesh = b->mesh;
    const pcs_selection *place = &p->selection;
    bool of_cells = p->cells.count > 0;
    PCS_TRY(sets_open(b, node, of_cells, &pool));
    *is_made = sets_choose(&pool, p);
    int kept = 0, ncell = of_cells ? pool.count : 0;
    for (int i = 0; i < ncell; i++) {
        const int *end = mesh->cell[pool.items[i]];
        if (pcs_selection_holds(place, mesh->x[end[0]]) && pcs_selection_holds(place, mesh->x[end[1]]))
            pool.items[kept++] = pool.items[i];
    }
    if (of_cells) pool.count = kept;
    pcs_status status = of_cells || !*is_made ? PCS_OK : pcs_mesh_select(b->mesh, place, &pool.count, pool.items);
    bool is_selected = *is_made && status == PCS_OK;
    if (status != PCS_OK) status = pcs_build_blame(b, node, status);
    else if (is_selected && of_cells) status = sets_store_cells(b, name, &pool);
    else if (is_selected) status = pcs_mesh_add_list(b->mesh, PCS_NODES, pool.count, pool.items, "%s", name);
    *is_made = is_selected && status == PCS_OK;
    sets_close(&pool);
    return status;
}

// Returns the error in the values, or NULL. *key names the wrong one.
static const char *sets_check(const sets_params *p, const char **key)
{
    *key = "cells";
    if (p->cells.count > 0 && p->selection.at.count > 0) return "'at' chooses nodes, not cells";
    for (const pcs_option *o = set_options; o->name != NULL; o++) {
        const pcs_names *names = (const void *)((const char *)p + o->offset);
        *key = o->name;
        if (o->kind == PCS_OPTION_NAMES && names->nrow > 1)
            return "must be a name or a list of names, without lists in it";
    }
    return pcs_selection_check(&p->selection, key);
}

static pcs_status sets_add(pcs_build *b, pcs_yaml *node, const char *name, bool *is_made)
{
    sets_params p = { 0 };
    const char *key = NULL;
    if (!pcs_case_read(b->c, node, set_options, &p)) return PCS_OK;
    if (pcs_case_one(b->c, node, set_one, true) < 0) return PCS_OK;
    const char *fault = sets_check(&p, &key);
    if (fault == NULL && (pcs_mesh_node_set(b->mesh, name) != NULL || pcs_mesh_cell_set(b->mesh, name) != NULL)) {
        key = NULL;
        fault = "there is a part of the mesh of this name";
    }
    if (fault != NULL) {
        pcs_case_fault(b->c, node, key, fault);
        return PCS_OK;
    }
    *is_made = b->only_reads;
    if (b->only_reads) return PCS_OK;
    if (isnan(p.selection.tolerance)) p.selection.tolerance = pcs_mesh_tolerance(b->mesh);
    int ncell_set = b->mesh->ncell_set;
    PCS_TRY(sets_make(b, node, name, &p, is_made));
    if (p.cells.count > 0 && *is_made && b->mesh->cell_set[ncell_set].count == 0) {
        *is_made = false;
        pcs_case_error_at(b->c, node, NULL, "no cell is chosen, with both of its nodes there");
    }
    if (!*is_made && b->nauto > 0)
        pcs_case_error_at(b->c, node, NULL,
                          "is chosen on a trial mesh first, with %d cells for 'elements: auto': let a line end at "
                          "the place, give the set a 'tolerance' of a cell, or 'elements' a number",
                          PCS_TRIAL_CELLS);
    return PCS_OK;
}

const pcs_set *pcs_build_group_set(const pcs_build *b, const char *group)
{
    char name[GROUP_SET];
    snprintf(name, sizeof name, "elements.%s", group);
    return pcs_mesh_cell_set(b->mesh, name);
}

// Adds the cells of a group that names several sets, `mesh: [a, b]`, as the set elements.GROUP.
static pcs_status sets_add_group(pcs_build *b, pcs_yaml *group, const char *key)
{
    pcs_yaml *mesh = group->kind == PCS_YAML_MAP ? pcs_case_get(b->c, group, "mesh") : NULL;
    if (b->only_reads || mesh == NULL || mesh->kind != PCS_YAML_LIST) return PCS_OK;
    pcs_names names = { .count = mesh->count };
    char name[GROUP_SET];
    sets_pool pool;
    pcs_status status = PCS_OK;
    snprintf(name, sizeof name, "elements.%s", key);
    if (names.count == 0) pcs_case_reject(b->c, mesh, "must name a set of cells, is an empty list");
    PCS_TRY(sets_open(b, group, true, &pool));
    if (sets_mark(&pool, "mesh", &names, POOLED) && names.count > 0) status = sets_store_cells(b, name, &pool);
    sets_close(&pool);
    return status;
}

static pcs_status sets_read(pcs_build *b)
{
    int count;
    pcs_yaml *section = pcs_build_section(b, pcs_case_root(b->c), "sets", NULL, &count);
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        const char *name = section->keys[i].name;
        bool is_made = false;
        if (node != NULL) PCS_TRY(sets_add(b, node, name, &is_made));
        if (!is_made) b->broken[b->nbroken++] = name;
    }
    pcs_yaml *groups = pcs_case_get(b->c, pcs_case_root(b->c), "elements");
    count = groups == NULL || groups->kind != PCS_YAML_MAP ? 0 : groups->count;
    for (int i = 0; i < count; i++) PCS_TRY(sets_add_group(b, groups->items[i], groups->keys[i].name));
    return PCS_OK;
}

// Returns the least distance, m, from a node of this set to one of the other sets, for the message.
static double merge_distance(pcs_build *b, pcs_yaml *map, const merge_params *p, int own)
{
    double least = INFINITY;
    long work = 0;
    const pcs_set *set = sets_named(b, map, "sets", false, own);
    for (int i = 0; i < p->sets.count; i++) {
        const pcs_set *other = sets_named(b, map, "sets", false, i);
        if (i == own) continue;
        for (int k = 0; k < set->count; k++) {
            const double *x = b->mesh->x[set->items[k]];
            for (int m = 0; m < other->count && work < 100000000; m++, work++) {
                const double *y = b->mesh->x[other->items[m]];
                least = fmin(least, pcs_distance3(x, y));
            }
        }
    }
    return least;
}

// Checks that after the merge every named set shares a node with another one. If not, naming it had no effect, which is
// an error.
static pcs_status merge_check(pcs_build *b, pcs_yaml *map, const merge_params *p, pcs_merge *merge)
{
    size_t nnode = (size_t)b->mesh->nnode, nset = (size_t)p->sets.count;
    int *first = pcs_scratch(NULL, nnode + nset, sizeof *first), *shares = first + nnode, bad = 0;
    if (first == NULL) return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: %zu nodes", nnode);
    memset(first, 0, (nnode + nset) * sizeof *first); // set + 1 that has a node first; sets that share one
    for (int i = 0; i < p->sets.count; i++) {
        const pcs_set *set = sets_named(b, map, "sets", false, i);
        for (int k = 0; k < set->count; k++) {
            int *by = &first[pcs_merge_find(merge, set->items[k])];
            if (*by == 0) *by = i + 1;
            if (*by != i + 1) shares[i] = shares[*by - 1] = 1;
        }
    }
    while (bad < p->sets.count && shares[bad]) bad++;
    pcs_scratch_free(first);
    if (bad < p->sets.count)
        pcs_case_error_at(b->c, map, "sets",
                          "no node of '%s' lies where another of these sets has one: the nearest is %g m away, the "
                          "tolerance is %g m",
                          sets_named(b, map, "sets", false, bad)->name, merge_distance(b, map, p, bad), p->tolerance);
    return PCS_OK;
}

static pcs_status merge_entry(pcs_build *b, pcs_yaml *node, pcs_merge *merge)
{
    merge_params p = { 0 };
    if (!pcs_case_read(b->c, node, merge_options, &p)) return PCS_OK;
    if (p.sets.count < 2 || p.sets.nrow > 1) {
        pcs_case_error_at(b->c, node, "sets", "must name two sets or more, in one list");
        return PCS_OK;
    }
    if (b->only_reads) return PCS_OK;
    if (isnan(p.tolerance)) p.tolerance = pcs_mesh_tolerance(b->mesh);
    sets_pool pool;
    pcs_status status = PCS_OK;
    PCS_TRY(sets_open(b, node, false, &pool));
    if (sets_mark(&pool, "sets", &p.sets, POOLED)) {
        status = pcs_merge_add(merge, pool.count, pool.items, p.tolerance);
        if (status == PCS_OK) status = merge_check(b, node, &p, merge);
    }
    sets_close(&pool);
    return status;
}

static pcs_status merge_read(pcs_build *b)
{
    int count;
    pcs_merge merge;
    pcs_yaml *section = pcs_build_section(b, pcs_case_root(b->c), "merge", NULL, &count);
    if (count == 0) return PCS_OK;
    pcs_status status = pcs_merge_begin(b->mesh, &merge);
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        if (status == PCS_OK && node != NULL) status = merge_entry(b, node, &merge);
    }
    if (status == PCS_OK) status = pcs_merge_apply(&merge, b->mesh);
    pcs_merge_end(&merge);
    return status == PCS_OK ? PCS_OK : pcs_build_blame(b, section, status);
}

// Node numbers, ascending, each once, in scratch memory.
typedef struct partition_list {
    int count, *node;
} partition_list;

// Distributes the nodes of a mesh over the ranks, and finds those that all ranks need.

static const double MOST_NODES = 1.25; // largest part of a rank, relative to an equal one

// Marks the nodes of all sets that this part of the case names.
static void partition_mark_names(const pcs_mesh *mesh, const pcs_yaml *node, bool *is_marked)
{
    if (node == NULL || is_marked == NULL) return;
    for (int i = 0; i < node->count; i++) partition_mark_names(mesh, node->items[i], is_marked);
    const char *name = node->text; // "" of a list or map
    const pcs_set *nodes = pcs_mesh_node_set(mesh, name), *cells = pcs_mesh_cell_set(mesh, name);
    int nnode = nodes == NULL ? 0 : nodes->count, ncell = cells == NULL ? 0 : cells->count;
    for (int i = 0; i < nnode; i++) is_marked[nodes->items[i]] = true;
    for (int i = 0; i < 2 * ncell; i++) is_marked[mesh->cell[cells->items[i / 2]][i % 2]] = true;
}

// Returns entry i of a section that has not been checked yet, NULL if there is none.
static const pcs_yaml *partition_entry(const pcs_yaml *section, int i)
{
    return section == NULL || i >= section->count ? NULL : section->items[i];
}

// Returns true for a support that fixes one or two rotations, which may become a joint, or that reports reactions.
static bool partition_is_joint(const pcs_yaml *support)
{
    const pcs_yaml *fix = pcs_yaml_at(support, "fix");
    int nturn = 0;
    for (int i = 0; partition_entry(fix, i) != NULL; i++) {
        const pcs_yaml *item = partition_entry(fix, i);
        nturn += item->kind == PCS_YAML_SCALAR && item->text[0] == 'r';
    }
    return nturn == 1 || nturn == 2 || pcs_yaml_at(support, "reactions") != NULL;
}

bool pcs_build_mark_nodes(const pcs_build *b, bool *is_marked)
{
    const pcs_yaml *root = pcs_case_root(b->c), *waves = pcs_yaml_at(root, "output.waves"), *entry;
    bool are_named = waves != NULL;
    partition_mark_names(b->mesh, pcs_yaml_at(root, "contacts"), is_marked);
    partition_mark_names(b->mesh, pcs_yaml_at(root, "joints"), is_marked);
    partition_mark_names(b->mesh, waves, is_marked);
    for (int i = 0; (entry = partition_entry(pcs_yaml_at(root, "supports"), i)) != NULL; i++) {
        if (!partition_is_joint(entry)) continue;
        are_named = true;
        partition_mark_names(b->mesh, pcs_yaml_at(entry, "set"), is_marked);
    }
    for (int i = 0; (entry = partition_entry(pcs_yaml_at(root, "output.probes"), i)) != NULL; i++) {
        if (pcs_yaml_at(entry, "item") == NULL) continue;
        are_named = true;
        partition_mark_names(b->mesh, entry, is_marked);
    }
    return are_named;
}

// Lists those nodes of the complete mesh.
static pcs_status partition_special(pcs_build *b, partition_list *out)
{
    size_t nnode = (size_t)b->mesh->nnode;
    bool *is_marked = pcs_scratch(NULL, nnode, sizeof *is_marked);
    *out = (partition_list){ .node = pcs_scratch(NULL, nnode, sizeof *out->node) };
    bool is_taken = is_marked != NULL && out->node != NULL;
    if (is_taken) {
        memset(is_marked, 0, nnode * sizeof *is_marked);
        (void)pcs_build_mark_nodes(b, is_marked);
        for (int i = 0; i < b->mesh->nnode; i++)
            if (is_marked[i]) out->node[out->count++] = i;
    }
    pcs_scratch_free(is_marked);
    return is_taken ? PCS_OK : pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: the shares of %zu nodes", nnode);
}

// Returns the type given in an entry of a section that nobody has read yet; NULL if it is unknown.
static const pcs_source_ops *join_type(const pcs_source_ops *const *types, const pcs_yaml *entry)
{
    while (*types != NULL && strcmp((*types)->name, pcs_yaml_string(entry, "type")) != 0) types++;
    return *types;
}

static const pcs_set *join_set(const pcs_mesh *mesh, const pcs_yaml *contact, const char *option)
{
    return pcs_mesh_node_set(mesh, pcs_yaml_string(contact, option));
}

// Returns the first of the nodes that are joined with a node.
static int join_find(int *root, int i)
{
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

static void join_nodes(int *root, int a, int b)
{
    int x = join_find(root, a), y = join_find(root, b);
    root[x > y ? x : y] = x > y ? y : x;
}

// Joins all nodes of each joint that can be distributed. Returns true if the case has joints.
static bool join_joints(const pcs_build *b, int *root)
{
    const pcs_yaml *joints = pcs_yaml_at(pcs_case_root(b->c), "joints"), *joint;
    for (int i = 0; (joint = partition_entry(joints, i)) != NULL; i++) {
        const pcs_source_ops *ops = join_type(pcs_joints, joint);
        int last = -1;
        if (ops == NULL || ops->drive != NULL) continue;
        for (int k = 0; ops->sets[k].option != NULL; k++) {
            const pcs_set *set = join_set(b->mesh, joint, ops->sets[k].option);
            for (int n = 0; n < (set == NULL ? 0 : set->count); last = set->items[n++])
                if (last >= 0) join_nodes(root, last, set->items[n]);
        }
    }
    return joints != NULL;
}

// Joins node i of one set of a contact with node i of each other one, where its rows act on nodes of several sets.
// Returns the number of pairs.
static int join_contacts(const pcs_build *b, int *root)
{
    const pcs_yaml *contacts = pcs_yaml_at(pcs_case_root(b->c), "contacts"), *contact;
    int npair = 0;
    for (int i = 0; (contact = partition_entry(contacts, i)) != NULL; i++) {
        const pcs_source_ops *ops = join_type(pcs_gap_types, contact);
        bool has_pairs = ops != NULL && ops->count != NULL && ops->sets[1].option != NULL && !ops->sets[1].is_common;
        if (!has_pairs) continue;
        for (int k = 1; ops->sets[k].option != NULL; k++) {
            const pcs_set *one = join_set(b->mesh, contact, ops->sets[0].option);
            const pcs_set *other = join_set(b->mesh, contact, ops->sets[k].option);
            if (one == NULL || other == NULL || one->count != other->count) continue; // an error that is reported later
            for (int n = 0; n < one->count; n++) join_nodes(root, one->items[n], other->items[n]);
            npair += one->count;
        }
    }
    return npair;
}

// Makes the ends of each cell neighbours: sorted for every vertex, without duplicates.
static void partition_link(const pcs_mesh *mesh, const int *vertex, pcs_graph *g)
{
    memset(g->start, 0, ((size_t)g->count + 2) * sizeof *g->start);
    for (int c = 0; c < mesh->ncell; c++) {
        const int end[2] = { vertex[mesh->cell[c][0]], vertex[mesh->cell[c][1]] };
        for (int k = 0; k < 2 && end[0] != end[1]; k++) g->start[end[k] + 2]++;
    }
    for (int i = 0; i <= g->count; i++) g->start[i + 1] += g->start[i];
    for (int c = 0; c < mesh->ncell; c++) {
        const int end[2] = { vertex[mesh->cell[c][0]], vertex[mesh->cell[c][1]] };
        for (int k = 0; k < 2 && end[0] != end[1]; k++) g->neighbour[g->start[end[k] + 1]++] = end[1 - k];
    }
    for (int i = 0, place = 0, first = 0, last; i < g->count; i++, first = last) {
        last = g->start[i + 1];
        int count = pcs_sort_unique(last - first, g->neighbour + first);
        memmove(g->neighbour + place, g->neighbour + first, (size_t)count * sizeof *g->neighbour);
        g->start[i + 1] = place += count;
    }
}

// Fills part[i], the rank of every node, along the cells, with nodes that are joined on one rank. *is_even is false if
// that cannot be done well: joined nodes would be most of what a rank has, or a rank has far more nodes than others.
static pcs_status partition_cut(const pcs_build *b, int *root, int *part, bool *is_even)
{
    const pcs_comm *comm = pcs_context_comm(b->ctx);
    const pcs_mesh *mesh = b->mesh;
    size_t nnode = (size_t)mesh->nnode, size = (size_t)comm->size;
    int *vertex = pcs_scratch(NULL, 3 * nnode + 2 + 2 * (size_t)mesh->ncell + size, sizeof *vertex);
    pcs_status status = PCS_OK;
    if (vertex == NULL) return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: the shares of %zu nodes", nnode);
    pcs_graph g = { .weight = vertex + nnode, .start = vertex + 2 * nnode, .neighbour = vertex + 3 * nnode + 2 };
    for (int i = 0; i < mesh->nnode; i++) { // a vertex has all nodes that are joined, and is numbered by the first
        int first = join_find(root, i);
        if (first == i) g.weight[g.count] = 0;
        vertex[i] = first == i ? g.count++ : vertex[first];
        g.weight[vertex[i]]++;
    }
    *is_even = true;
    for (int i = 0; i < g.count; i++) *is_even = *is_even && 2.0 * g.weight[i] * comm->size <= mesh->nnode;
    *is_even = *is_even || g.count == mesh->nnode;
    if (*is_even) {
        partition_link(mesh, vertex, &g);
        status = comm->partition(comm, b->ctx, &g, part);
        *is_even = status == PCS_OK;
        int expanded = *is_even ? mesh->nnode : 0, *has = g.neighbour + 2 * (size_t)mesh->ncell;
        memset(has, 0, size * sizeof *has);
        // A vertex has no larger number than its nodes, so that going backwards overwrites nothing unread.
        for (int i = expanded - 1; i >= 0; i--) has[part[i] = part[vertex[i]]]++;
        for (int r = 0; r < comm->size; r++) *is_even = *is_even && has[r] <= MOST_NODES * mesh->nnode / comm->size;
    }
    pcs_scratch_free(vertex);
    return status;
}

// Fills part[i]: lines are distributed in equal ranges of numbers, others along their cells. Nodes that are joined come
// to one rank, unless that leaves one rank with far more nodes than the others, or cuts along a chain of them through
// the whole model: then rows at the cuts act on nodes of two ranks. All ranks that have the mesh find the same. For
// too few rows joining does not pay off. Also lists the special nodes, those of contacts and joints, which all ranks
// have.
static pcs_status partition_nodes(pcs_build *b, partition_list *special, int *part)
{
    PCS_TRY(partition_special(b, special));
    const pcs_mesh *mesh = b->mesh;
    int size = pcs_context_comm(b->ctx)->size, *root = pcs_scratch(NULL, (size_t)mesh->nnode, sizeof *root);
    bool is_done = false, is_even, is_line = true;
    pcs_status status = PCS_OK;
    if (root == NULL) return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: the shares of %d nodes", mesh->nnode);
    for (int i = 0; i < mesh->nnode; i++) root[i] = i;
    bool are_many = join_contacts(b, root) >= PCS_MANY_ROWS, has_joints = join_joints(b, root);
    if (are_many || (has_joints && special->count >= PCS_MANY_ROWS)) status = partition_cut(b, root, part, &is_done);
    for (int i = 0; i < mesh->nnode; i++) root[i] = i;
    is_done = is_done || status != PCS_OK;
    for (int c = 0; c < mesh->ncell; c++) is_line = is_line && abs(mesh->cell[c][1] - mesh->cell[c][0]) <= 1;
    if (!is_done && !is_line) status = partition_cut(b, root, part, &is_even);
    else if (!is_done)
        for (int i = 0; i < mesh->nnode; i++) part[i] = (int)((long long)i * size / mesh->nnode);
    pcs_scratch_free(root);
    return status;
}

typedef struct travel_params {
    double travel_time;
    bool allow_mismatch;
} travel_params;

static const pcs_option cells_options[] = {
    PCS_REAL("travel_time", travel_params, travel_time, PCS_REQUIRED, PCS_POSITIVE,
             "of a wave through a cell, s; the number of cells is rounded"),
    PCS_FLAG("allow_mismatch", travel_params, allow_mismatch, PCS_DEFAULT("false"),
             "accept cells whose travel time differs by more than 1 % after rounding"),
    { .name = NULL },
};
static const pcs_map map_cells = { .name = "cells", .options = cells_options };

static const double MOST_MISMATCH = 0.01;
static const double MOST_CELLS = 1 << 28;

// Returns true if a group names this part as its mesh, alone or in a list.
static bool travel_names(const pcs_yaml *mesh, const char *part)
{
    bool is_named = strcmp(mesh->text, part) == 0;
    for (int i = 0; i < mesh->count; i++) is_named = is_named || travel_names(mesh->items[i], part);
    return is_named;
}

// Returns the wave speed, m/s, in the group of rods that names this part as its mesh; NAN, with an error, if none does.
static double travel_speed(pcs_build *b, const pcs_yaml *node, const char *part)
{
    const pcs_range positive = PCS_POSITIVE;
    pcs_yaml *section = pcs_case_get(b->c, pcs_case_root(b->c), "elements");
    int count = section == NULL || section->kind != PCS_YAML_MAP ? 0 : section->count;
    for (int i = 0; i < count; i++) {
        pcs_yaml *group = section->items[i];
        if (group->kind != PCS_YAML_MAP) continue;
        pcs_yaml *mesh = pcs_case_get(b->c, group, "mesh"), *type = pcs_case_get(b->c, group, "type");
        if (mesh == NULL || !travel_names(mesh, part)) continue;
        bool is_rod = type != NULL && type->kind == PCS_YAML_SCALAR;
        if (!is_rod || strncmp(type->text, "rod", 3) != 0 || strncmp(type->text, "rotor", 5) == 0) break;
        pcs_yaml *E = pcs_case_get(b->c, group, "E"), *rho = pcs_case_get(b->c, group, "rho");
        if (E == NULL || rho == NULL) return NAN; // reported where the group is read
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
    double from[3], to[3];
    pcs_yaml *first = pcs_case_get(b->c, node, "from"), *last = pcs_case_get(b->c, node, "to");
    if (first == NULL || last == NULL) return NAN; // reported where the part is read
    if (!pcs_case_vector(b->c, first, any, from) || !pcs_case_vector(b->c, last, any, to)) return NAN;
    return pcs_distance3(from, to);
}

// Rounds the number of cells and writes it to the case as `elements`; rejects another number that is given there.
static pcs_status travel_resolve(pcs_build *b, pcs_yaml *node, const char *part, const travel_params *p, double cells)
{
    char text[PCS_NUMBER_BYTES];
    double whole = fmax(1.0, round(cells)), mismatch = cells / whole - 1.0;
    const pcs_yaml *given = pcs_case_get(b->c, node, "elements");
    snprintf(text, sizeof text, "%.0f", whole);
    if (!(whole <= MOST_CELLS)) pcs_case_error_at(b->c, node, "cells", "%g cells are more than %g", whole, MOST_CELLS);
    else if (given != NULL && (given->kind != PCS_YAML_SCALAR || strcmp(given->text, text) != 0))
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
// The first rank builds the complete mesh, distributes its nodes (lines in equal pieces, all others along their cells)
// and sends the others their parts.

// Keeps all nodes and cells on every rank and marks those that it needs.
static pcs_status distribute_keep_all(pcs_build *b, int *part, const partition_list *special)
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

// Sends the part of one rank from the first rank, which cuts it out.
static pcs_status distribute_send(pcs_build *b, const pcs_cut *cut, int to, pcs_mesh *mesh)
{
    const pcs_comm *comm = pcs_context_comm(b->ctx);
    size_t size = (size_t)comm->size;
    int *packed = NULL, *counts = pcs_scratch(NULL, 2 * size, sizeof *counts), count = 0;
    pcs_numbers received = { 0 };
    pcs_status status = counts == NULL ? pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: %zu ranks", size) : PCS_OK;
    if (status == PCS_OK && comm->rank == 0) status = pcs_mesh_pack(cut, to, &count, &packed);
    status = pcs_agree(b->ctx, status);
    if (status == PCS_OK) {
        memset(counts, 0, 2 * size * sizeof *counts);
        counts[to] = count;
        status = comm->exchange(comm, b->ctx, counts, counts + size, packed, &received);
    }
    pcs_scratch_free(packed);
    pcs_scratch_free(counts);
    if (status == PCS_OK && to == comm->rank) status = pcs_mesh_unpack(mesh, received.value);
    pcs_scratch_free(received.count);
    pcs_scratch_free(received.value);
    return pcs_agree(b->ctx, status);
}

// Replaces the complete mesh, b->mesh on the first rank, by the part of each rank.
static pcs_status distribute_cut(pcs_build *b)
{
    partition_list special = { 0 };
    bool is_first = pcs_is_root(b->ctx);
    int *part = pcs_scratch(NULL, is_first ? (size_t)b->mesh->nnode : 0, sizeof *part);
    pcs_status status = part == NULL ? pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: the shares of ranks") : PCS_OK;
    if (status == PCS_OK && is_first) status = partition_nodes(b, &special, part);
    pcs_mesh *mesh = NULL;
    const pcs_cut cut = { .whole = b->mesh, .owner = part, .nspecial = special.count, .special = special.node };
    status = pcs_agree(b->ctx, status);
    if (status == PCS_OK) status = pcs_agree(b->ctx, pcs_mesh_create(b->ctx, &mesh));
    for (int to = 0; to < pcs_process_count(b->ctx) && status == PCS_OK; to++)
        status = distribute_send(b, &cut, to, mesh);
    if (status == PCS_OK) b->mesh = mesh;
    pcs_scratch_free(special.node);
    pcs_scratch_free(part);
    return status;
}

// Distributes b->mesh, which all ranks have and keep.
static pcs_status distribute_keep(pcs_build *b)
{
    partition_list special = { 0 };
    int *part;
    PCS_TAKE(b->ctx, part, b->mesh->nnode, "the shares of ranks");
    pcs_status status = partition_nodes(b, &special, part);
    if (status == PCS_OK) status = distribute_keep_all(b, part, &special);
    pcs_scratch_free(special.node);
    return status;
}

// Least memory of a model per cell, bytes, with one equation per node.
static const double BYTES_PER_CELL = 300.0;

static const pcs_option line_options[] = {
    PCS_KEY_MAP("cells", PCS_OPTIONAL, map_cells,
                "instead of `elements`: number of cells by the travel time of waves in its group of rods"),
    { .name = NULL },
};

PCS_PARTS(source_parts, pcs_mesh_sources, strcmp(pcs_mesh_sources[i]->name, "line") == 0 ? line_options : NULL)

const pcs_map pcs_mesh_map = { .name = "mesh part", .kind = PCS_MAP_TYPES, .is_entry = true, .parts = source_parts };

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

// Replaces `elements: auto` by a number with which the model can be built to find the right one.
static pcs_status mesh_read_auto(pcs_build *b, pcs_yaml *node, const char *name, const pcs_option *options)
{
    const pcs_comm *comm = pcs_context_comm(b->ctx);
    while (options->name != NULL && !options->may_be_auto) options++;
    if (options->name == NULL || strcmp(pcs_yaml_string(node, options->name), "auto") != 0) return PCS_OK;
    if (comm != NULL && comm->size > 1)
        pcs_case_reject(b->c, pcs_yaml_at(node, "elements"),
                        "'auto' is for one process: give the number that `percuss check` prints");
    b->automatic[b->nauto++] = name;
    return pcs_case_resolve(b->c, node, "elements", PCS_TRIAL_TEXT);
}

static pcs_status mesh_read_part(pcs_build *b, pcs_yaml *node, mesh_part *part)
{
    int type = pcs_build_type(b, node, source_parts);
    if (type < 0) return PCS_OK;
    const pcs_mesh_source_ops *source = pcs_mesh_sources[type];
    pcs_yaml *cells = strcmp(source->name, "line") == 0 ? pcs_case_get(b->c, node, "cells") : NULL;
    if (cells != NULL) PCS_TRY(travel_read(b, part->name, node, cells));
    PCS_TRY(mesh_read_auto(b, node, part->name, source->options));
    PCS_TRY(pcs_build_part(b, node, source_parts, type, &part->params));
    part->source = part->params == NULL ? NULL : source;
    return PCS_OK;
}

static pcs_status mesh_build_part(pcs_build *b, const mesh_part *part)
{
    int first = b->mesh->ncell;
    pcs_status status = part->source == NULL ? PCS_OK : part->source->build(part->params, part->name, b->mesh);
    bool is_built = part->source != NULL && status == PCS_OK;
    if (is_built && (part->source->has_zero_lengths || mesh_has_lengths(b, part->node, first))) return PCS_OK;
    b->broken[b->nbroken++] = part->name;
    return pcs_build_blame(b, part->node, status);
}

// Builds the parts, unless another process does, and reads the sections about all of them.
static pcs_status mesh_build_whole(pcs_build *b, const mesh_parts *parts)
{
    for (int i = 0; i < parts->count && !b->only_reads; i++) PCS_TRY(mesh_build_part(b, &parts->part[i]));
    PCS_TRY(sets_read(b));
    return merge_read(b);
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
    if (status == PCS_OK) status = mesh_build_whole(b, parts);
    if (status == PCS_OK && pcs_case_error_count(b->c) > 0)
        status = pcs_fail(b->ctx, PCS_BAD_INPUT, "the mesh is wrong");
    status = pcs_agree(b->ctx, status);
    if (status == PCS_OK) status = distribute_cut(b);
    pcs_context_destroy(&side);
    return status;
}

pcs_status pcs_build_mesh(pcs_build *b)
{
    mesh_parts parts = { 0 };
    pcs_yaml *section = pcs_build_section(b, pcs_case_root(b->c), "mesh", "parts of the mesh by name", &parts.count);
    PCS_TRY(pcs_mesh_create(b->ctx, &b->mesh));
    const pcs_yaml *sets = pcs_case_get(b->c, pcs_case_root(b->c), "sets");
    PCS_TAKE(b->ctx, b->broken, parts.count + (sets == NULL ? 0 : sets->count) + 1, "the mesh");
    PCS_TAKE(b->ctx, parts.part, parts.count, "the mesh");
    PCS_TAKE(b->ctx, b->automatic, parts.count, "the mesh");
    if (section == NULL) b->has_lost_cells = true;
    for (int i = 0; i < parts.count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        parts.part[i] = (mesh_part){ .name = section->keys[i].name, .node = node };
        if (node != NULL) PCS_TRY(mesh_read_part(b, node, &parts.part[i]));
    }
    PCS_TRY(b->distributes ? mesh_build_cut(b, &parts) : mesh_build_whole(b, &parts));
    // Every rank has the complete mesh: errors are reported, or the nodes are distributed.
    bool is_kept = !b->distributes && pcs_process_count(b->ctx) > 1 && pcs_case_error_count(b->c) == 0;
    if (is_kept) PCS_TRY(distribute_keep(b));
    // Rejects a mesh that needs more memory than the machine has: allocation may succeed and the process die later.
    double need = BYTES_PER_CELL * b->mesh->ncell;
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (section != NULL && have > 0.0 && need > have)
        pcs_case_reject(b->c, section, "has %d cells, which need at least %.3g GB; this machine has %.3g GB",
                        b->mesh->ncell, 1e-9 * need, 1e-9 * have);
    return PCS_OK;
}
