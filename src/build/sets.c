// The sections `sets` (nodes or cells chosen from other sets) and `merge` (nodes that parts of the mesh share).

#include "build/builder.h"

#include "core/rotation.h"
#include "mesh/merge.h"
#include "mesh/part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
const pcs_map pcs_set_map = { .name = "set", .is_entry = true, .options = set_options, .one = set_one };

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
    char *mark; // [the same] 1 if in the pool, 2 if in a set that was asked for
} sets_pool;

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

// Returns set i of those that a key names, as a name or a list of names; NULL, with an error, if there is none.
static const pcs_set *sets_named(pcs_build *b, pcs_yaml *map, const char *key, bool of_cells, int i)
{
    pcs_yaml *node = pcs_case_get(b->c, map, key);
    if (pcs_yaml_get_kind(node) == PCS_YAML_LIST) node = pcs_yaml_item(node, i);
    return pcs_build_set(b, node, of_cells, false);
}

// Puts the items of all sets that a key names into the pool, each once; false when a set is wrong.
static bool sets_gather(sets_pool *pool, const char *key, const pcs_names *names)
{
    bool is_fine = true;
    for (int i = 0; i < names->count; i++) {
        const pcs_set *set = sets_named(pool->b, pool->map, key, pool->of_cells, i);
        if (set == NULL) {
            is_fine = false;
            continue;
        }
        for (int k = 0; k < set->count; k++) {
            if (pool->mark[set->items[k]]) continue;
            pool->mark[set->items[k]] = 1;
            pool->items[pool->count++] = set->items[k];
        }
    }
    return is_fine;
}

// Keeps the items that are in the sets that a key names, or, if not `is_wanted`, those that are not.
static bool sets_sieve(sets_pool *pool, const char *key, const pcs_names *names, bool is_wanted)
{
    bool is_fine = true;
    if (names->count == 0) return true;
    for (int i = 0; i < names->count; i++) {
        const pcs_set *set = sets_named(pool->b, pool->map, key, pool->of_cells, i);
        if (set == NULL) {
            is_fine = false;
            continue;
        }
        for (int k = 0; k < set->count; k++) pool->mark[set->items[k]] |= 2;
    }
    int kept = 0;
    for (int i = 0; i < pool->count; i++) {
        bool is_in = (pool->mark[pool->items[i]] & 2) != 0;
        if (is_in == is_wanted) pool->items[kept++] = pool->items[i];
    }
    pool->count = kept;
    return is_fine;
}

static bool sets_choose(sets_pool *pool, const sets_params *p)
{
    bool is_fine = pool->of_cells ? sets_gather(pool, "cells", &p->cells) : sets_gather(pool, "nodes", &p->nodes);
    is_fine = sets_sieve(pool, "within", &p->within, true) && is_fine;
    // Marks of `within` must not count as marks of `without`.
    for (int i = 0; i < pool->room; i++) pool->mark[i] &= 1;
    return sets_sieve(pool, "without", &p->without, false) && is_fine;
}

// Keeps the cells that lie in the box and on the plane with all their nodes.
static void sets_place_cells(const pcs_mesh *mesh, const pcs_selection *s, sets_pool *pool)
{
    int kept = 0;
    for (int i = 0; i < pool->count; i++) {
        const int *node = mesh->cell[pool->items[i]];
        if (pcs_selection_holds(s, mesh->x[node[0]]) && pcs_selection_holds(s, mesh->x[node[1]]))
            pool->items[kept++] = pool->items[i];
    }
    pool->count = kept;
}

static pcs_status sets_add_nodes(pcs_build *b, pcs_yaml *node, const char *name, const sets_params *p, bool *is_made)
{
    sets_pool pool;
    pcs_status status = PCS_OK;
    PCS_TRY(sets_open(b, node, false, &pool));
    if (sets_choose(&pool, p)) {
        status = pcs_mesh_select(b->mesh, &p->selection, &pool.count, pool.items);
        *is_made = status == PCS_OK;
        if (status == PCS_OK) status = pcs_mesh_add_node_list(b->mesh, name, pool.count, pool.items);
        else status = pcs_build_blame(b, node, status);
    }
    sets_close(&pool);
    return status;
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
    pcs_status status = pcs_mesh_add_node_list(b->mesh, name, nodes.count, nodes.items);
    if (status == PCS_OK) status = pcs_mesh_add_cell_list(b->mesh, name, cells->count, cells->items);
    sets_close(&nodes);
    return status;
}

static pcs_status sets_add_cells(pcs_build *b, pcs_yaml *node, const char *name, const sets_params *p, bool *is_made)
{
    sets_pool pool;
    pcs_status status = PCS_OK;
    PCS_TRY(sets_open(b, node, true, &pool));
    if (sets_choose(&pool, p)) {
        sets_place_cells(b->mesh, &p->selection, &pool);
        status = sets_store_cells(b, name, &pool);
        *is_made = status == PCS_OK;
    }
    sets_close(&pool);
    return status;
}

// Returns what is wrong with the values, or NULL; *key names the culprit.
static const char *sets_check(const sets_params *p, const char **key)
{
    *key = "cells";
    if (p->cells.count > 0 && p->selection.at.count > 0) return "'at' chooses nodes, not cells";
    const struct {
        const char *key;
        const pcs_names *names;
    } lists[] = {
        { "nodes", &p->nodes }, { "cells", &p->cells }, { "within", &p->within }, { "without", &p->without }
    };
    for (int i = 0; i < 4; i++) {
        *key = lists[i].key;
        if (lists[i].names->nrow > 1) return "must be a name or a list of names, without lists in it";
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
    if (p.cells.count > 0) PCS_TRY(sets_add_cells(b, node, name, &p, is_made));
    else PCS_TRY(sets_add_nodes(b, node, name, &p, is_made));
    if (p.cells.count == 0 || !*is_made) return PCS_OK;
    *is_made = b->mesh->cell_set[ncell_set].count > 0;
    if (!*is_made) pcs_case_error_at(b->c, node, NULL, "no cell is chosen, with both of its nodes there");
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
    pcs_yaml *mesh = pcs_yaml_get_kind(group) == PCS_YAML_MAP ? pcs_case_get(b->c, group, "mesh") : NULL;
    if (b->only_reads || mesh == NULL || pcs_yaml_get_kind(mesh) != PCS_YAML_LIST) return PCS_OK;
    pcs_names names = { .count = pcs_yaml_count(mesh) };
    char name[GROUP_SET];
    sets_pool pool;
    pcs_status status = PCS_OK;
    snprintf(name, sizeof name, "elements.%s", key);
    if (names.count == 0) pcs_case_reject(b->c, mesh, "must name a set of cells, is an empty list");
    PCS_TRY(sets_open(b, group, true, &pool));
    if (sets_gather(&pool, "mesh", &names) && names.count > 0) status = sets_store_cells(b, name, &pool);
    sets_close(&pool);
    return status;
}

pcs_status pcs_build_sets(pcs_build *b)
{
    int count;
    pcs_yaml *section = pcs_build_section(b, "sets", NULL, &count);
    for (int i = 0; i < count; i++) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        const char *name = pcs_yaml_key(section, i);
        bool is_made = false;
        if (node != NULL) PCS_TRY(sets_add(b, node, name, &is_made));
        if (!is_made) b->broken[b->nbroken++] = name;
    }
    pcs_yaml *groups = pcs_case_get(b->c, pcs_case_root(b->c), "elements");
    count = groups == NULL || pcs_yaml_get_kind(groups) != PCS_YAML_MAP ? 0 : pcs_yaml_count(groups);
    for (int i = 0; i < count; i++) PCS_TRY(sets_add_group(b, pcs_yaml_item(groups, i), pcs_yaml_key(groups, i)));
    return PCS_OK;
}

// Returns true if a set shares a node with the others after the merge; if not, it was named in vain.
static bool merge_takes_part(pcs_merge *merge, const pcs_set *set, const int *shares)
{
    for (int k = 0; k < set->count; k++)
        if (shares[pcs_merge_find(merge, set->items[k])] > 1) return true;
    return false;
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

// Counts how many of the named sets share each of the merged nodes; every set must share one.
static pcs_status merge_check(pcs_build *b, pcs_yaml *map, const merge_params *p, pcs_merge *merge)
{
    size_t n = (size_t)b->mesh->nnode;
    int *shares = pcs_scratch(NULL, 2 * n, sizeof *shares), *last = shares + n;
    if (shares == NULL) return pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: %d nodes", b->mesh->nnode);
    for (size_t i = 0; i < n; i++) shares[i] = last[i] = 0;
    for (int i = 0; i < p->sets.count; i++) {
        const pcs_set *set = sets_named(b, map, "sets", false, i);
        for (int k = 0; k < set->count; k++) {
            int node = pcs_merge_find(merge, set->items[k]);
            if (last[node] != i + 1) shares[node]++;
            last[node] = i + 1;
        }
    }
    for (int i = 0; i < p->sets.count; i++) {
        const pcs_set *set = sets_named(b, map, "sets", false, i);
        if (merge_takes_part(merge, set, shares)) continue;
        pcs_case_error_at(b->c, map, "sets",
                          "no node of '%s' lies where another of these sets has one: the nearest is %g m away, the "
                          "tolerance is %g m",
                          set->name, merge_distance(b, map, p, i), p->tolerance);
        break;
    }
    pcs_scratch_free(shares);
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
    if (sets_gather(&pool, "sets", &p.sets)) {
        status = pcs_merge_add(merge, pool.count, pool.items, p.tolerance);
        if (status == PCS_OK) status = merge_check(b, node, &p, merge);
    }
    sets_close(&pool);
    return status;
}

pcs_status pcs_build_merges(pcs_build *b)
{
    int count;
    pcs_merge merge;
    pcs_yaml *section = pcs_build_section(b, "merge", NULL, &count);
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
