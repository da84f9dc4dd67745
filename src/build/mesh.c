// Mesh and element groups of a case, and the sets that other sections name.

#include "build/sets.h"
#include "elements/section.h"
#include "mesh/merge.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Bytes a model takes per cell at the least, with one equation per node.
static const double BYTES_PER_CELL = 300.0;

static pcs_status mesh_break(pcs_build *b, const char *name)
{
    b->broken[b->nbroken++] = name;
    return PCS_OK;
}

// Numbers so large that positions next to each other round to the same leave cells without length.
static bool mesh_has_lengths(pcs_build *b, const pcs_node *node, int first)
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

static pcs_status mesh_part(pcs_build *b, const char *name, pcs_node *node)
{
    const char *names[PCS_BUILD_NAMES];
    PCS_BUILD_NAMES_OF(pcs_mesh_sources, names);
    int type = pcs_case_type(b->c, node, names);
    if (type < 0) return mesh_break(b, name);
    const pcs_mesh_source_ops *source = pcs_mesh_sources[type];
    void *params = NULL;
    PCS_TRY(pcs_build_params(b, source->params_size, &params));
    if (!pcs_case_read(b->c, node, source->options, params)) return mesh_break(b, name);
    if (!pcs_build_check(b, node, source->check, params)) return mesh_break(b, name);
    int first = b->mesh->ncell;
    pcs_status status = source->build(params, name, b->mesh);
    if (status == PCS_OK && (source->has_zero_lengths || mesh_has_lengths(b, node, first))) return PCS_OK;
    PCS_TRY(mesh_break(b, name));
    return pcs_build_blame(b, node, status);
}

// Systems promise more memory than they have and end a program that believes them: better to say so first.
static void mesh_check_memory(pcs_build *b, const pcs_node *section)
{
    double need = BYTES_PER_CELL * b->mesh->ncell;
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (have > 0.0 && need > have) {
        pcs_case_reject(b->c, section, "has %d cells, which need at least %.3g GB; this machine has %.3g GB",
                        b->mesh->ncell, 1e-9 * need, 1e-9 * have);
    }
}

pcs_status pcs_build_mesh(pcs_build *b)
{
    int count;
    pcs_node *section = pcs_build_section(b, "mesh", true, "parts of the mesh by name", &count);
    PCS_TRY(pcs_mesh_create(b->ctx, &b->mesh));
    const pcs_node *sets = pcs_case_get(b->c, pcs_case_root(b->c), "sets");
    PCS_TAKE(b->ctx, b->broken, count + (sets == NULL ? 0 : pcs_node_count(sets)) + 1, "the mesh");
    if (section == NULL) b->has_lost_cells = true;
    for (int i = 0; i < count; i++) {
        pcs_node *node = pcs_case_entry(b->c, section, i, PCS_NODE_MAP);
        const char *name = pcs_node_key(section, i);
        PCS_TRY(node == NULL ? mesh_break(b, name) : mesh_part(b, name, node));
    }
    PCS_TRY(pcs_build_sets(b));
    PCS_TRY(pcs_build_merges(b));
    if (section != NULL) mesh_check_memory(b, section);
    return PCS_OK;
}

// Does the name belong to a part that could not be made?
static bool mesh_is_broken(const pcs_build *b, const char *name)
{
    size_t length = strcspn(name, ".");
    for (int i = 0; i < b->nbroken; i++) {
        if (strlen(b->broken[i]) == length && strncmp(b->broken[i], name, length) == 0) return true;
    }
    return pcs_case_error_count(b->c) > 0 && b->mesh->nnode_set == 0;
}

static void mesh_reject_set(pcs_build *b, const pcs_node *node, const pcs_set *sets, int nset, const char *kind)
{
    const char **names = pcs_scratch(NULL, (size_t)nset + 1, sizeof *names);
    char near[PCS_NEAR_MISS_BYTES] = "", list[512] = "none";
    size_t used = 0;
    int listed = 0;
    for (int i = 0; names != NULL && i < nset; i++) names[i] = sets[i].name;
    if (names != NULL) {
        names[nset] = NULL;
        pcs_near_miss(pcs_node_text(node), names, sizeof near, near);
        pcs_scratch_free(names);
    }
    for (; listed < nset; listed++) {
        int length = snprintf(list + used, sizeof list - used, "%s%s", listed == 0 ? "" : ", ", sets[listed].name);
        if (length < 0 || (size_t)length >= sizeof list - used) break;
        used += (size_t)length;
    }
    if (nset > 0) list[used] = '\0'; // no half a name
    pcs_case_reject(b->c, node, "must name a set of %s, is '%.80s'%s there are: %s%s", kind, pcs_node_text(node),
                    near[0] == '\0' ? "," : near, list, listed < nset ? ", ..." : "");
}

const pcs_set *pcs_build_set(pcs_build *b, pcs_node *node, bool of_cells, bool is_single)
{
    const char *name = pcs_case_text(b->c, node);
    if (name == NULL) return NULL;
    const char *kind = of_cells ? "elements" : "nodes";
    const pcs_set *set = of_cells ? pcs_mesh_cell_set(b->mesh, name) : pcs_mesh_node_set(b->mesh, name);
    if (set == NULL) {
        if (mesh_is_broken(b, name)) return NULL;
        mesh_reject_set(b, node, of_cells ? b->mesh->cell_set : b->mesh->node_set,
                        of_cells ? b->mesh->ncell_set : b->mesh->nnode_set, kind);
    } else if (set->count == 0) {
        pcs_case_reject(b->c, node, "must not be empty, the set '%s' has no %s", name, kind);
        set = NULL;
    } else if (is_single && set->count != 1) {
        pcs_case_reject(b->c, node, "must name a single node, the set '%s' has %d", name, set->count);
        set = NULL;
    }
    return set;
}

const pcs_set *pcs_build_set_of(pcs_build *b, pcs_node *map, const char *single, const char *many)
{
    pcs_node *one = pcs_case_get(b->c, map, single), *all = pcs_case_get(b->c, map, many);
    if (one != NULL && all != NULL) {
        pcs_case_error_at(b->c, map, many, "'%s' and '%s' are both given, only one is allowed", single, many);
    } else if (one == NULL && all == NULL) {
        pcs_case_error_at(b->c, map, NULL, "missing key '%s' or '%s'", single, many);
    } else {
        return pcs_build_set(b, one != NULL ? one : all, false, one != NULL);
    }
    return NULL;
}

// Of Rayleigh.
typedef struct damping_params {
    double mass, stiffness;
} damping_params;

const pcs_option pcs_damping_options[] = {
    PCS_REAL("mass", damping_params, mass, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE, "Rayleigh damping by mass, 1/s"),
    PCS_REAL("stiffness", damping_params, stiffness, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "Rayleigh damping by stiffness, s"),
    { .name = NULL },
};

static void mesh_read_damping(pcs_build *b, pcs_node *map, double *mass, double *stiffness)
{
    damping_params damping = { 0 };
    pcs_node *node = pcs_case_get_map(b->c, map, "damping");
    if (node != NULL) pcs_case_read(b->c, node, pcs_damping_options, &damping);
    *mass = damping.mass;
    *stiffness = damping.stiffness;
}

// The cross section of a beam, from its shape.
static pcs_status mesh_section(pcs_build *b, pcs_node *group, void *out)
{
    const char *names[PCS_BUILD_NAMES];
    pcs_node *node = pcs_case_need(b->c, group, "section", PCS_NODE_MAP, "the cross section: a type and its sizes");
    if (node == NULL) return PCS_OK;
    PCS_BUILD_NAMES_OF(pcs_section_types, names);
    int type = pcs_case_type(b->c, node, names);
    if (type < 0) return PCS_OK;
    const pcs_section_type *shape = pcs_section_types[type];
    void *params = NULL;
    PCS_TRY(pcs_build_params(b, shape->params_size, &params));
    if (!pcs_case_read(b->c, node, shape->options, params)) return PCS_OK;
    if (pcs_build_check(b, node, shape->check, params)) shape->constants(params, out);
    return PCS_OK;
}

// Some elements sit at a node, the others join two: the first cell of the other kind is an error.
static void mesh_check_cells(pcs_build *b, const pcs_node *node, const pcs_fe_group *group)
{
    for (int i = 0; group->cells != NULL && i < group->cells->count; i++) {
        int cell = group->cells->items[i];
        bool is_point = b->mesh->cell[cell][0] == b->mesh->cell[cell][1];
        if (is_point == group->ops->is_one_node) continue;
        pcs_case_error_at(b->c, node, "mesh", "'%s' takes %s, cell %d of the set '%s' %s", group->ops->name,
                          is_point ? "cells of two nodes" : "points (a part of type 'point', say)", cell,
                          group->cells->name, is_point ? "is a point" : "has two nodes");
        return;
    }
}

static pcs_status mesh_group(pcs_build *b, pcs_node *node, pcs_fe_group *group)
{
    const char *names[PCS_BUILD_NAMES];
    PCS_BUILD_NAMES_OF(pcs_elements, names);
    int type = pcs_case_type(b->c, node, names);
    pcs_node *mesh = pcs_case_need(b->c, node, "mesh", PCS_NODE_SCALAR, "the set of cells that gets these elements");
    group->cells = mesh == NULL ? NULL : pcs_build_set(b, mesh, true, false);
    if (group->cells == NULL) b->has_lost_cells = true;
    mesh_read_damping(b, node, &group->damping_mass, &group->damping_stiffness);
    if (type < 0) return PCS_OK;
    void *params = NULL;
    group->ops = pcs_elements[type];
    mesh_check_cells(b, node, group);
    PCS_TRY(pcs_build_params(b, group->ops->params_size, &params));
    group->params = params;
    pcs_case_read(b->c, node, group->ops->options, params);
    return group->ops->has_section ? mesh_section(b, node, (char *)params + group->ops->section_offset) : PCS_OK;
}

// Marks the cells of a group; the first one that has an owner already is an error.
static void mesh_claim_cells(pcs_build *b, const pcs_node *section, int group, int *owner)
{
    const pcs_set *cells = b->model.groups[group].cells;
    for (int i = 0; cells != NULL && i < cells->count; i++) {
        int *place = &owner[cells->items[i]];
        if (*place != 0) {
            pcs_case_error_at(b->c, pcs_node_item(section, group), "mesh",
                              "cells of '%s' have elements already, of group '%s'", cells->name,
                              pcs_node_key(section, *place - 1));
            return;
        }
        *place = group + 1;
    }
}

// What becomes of the cells: who owns them, and which of them go.
typedef struct mesh_cover {
    int *owner;       // [ncell] group + 1, 0: bare
    int *part;        // [ncell] part + 1 that has counted the cell
    bool *is_dropped; // [ncell]
    bool *is_held;    // [nnode] by a cell with elements
    bool drops_any;
} mesh_cover;

// A point that only marks a node of other cells goes unless it gets elements of its own; any other bare cell counts.
static bool mesh_is_bare(const pcs_build *b, mesh_cover *k, int cell, bool is_marker)
{
    const int *node = b->mesh->cell[cell];
    if (k->owner[cell] != 0) return false;
    if (!is_marker || node[0] != node[1] || !k->is_held[node[0]]) return true;
    k->is_dropped[cell] = k->drops_any = true;
    return false;
}

// Cells of the set `name` must have elements, those of sets `name.*` alone may be markers.
static void mesh_find_bare(pcs_build *b, mesh_cover *k, const pcs_node *mesh, int part)
{
    const char *name = pcs_node_key(mesh, part);
    size_t length = strlen(name);
    int nbare = 0, ncell = 0;
    for (int i = 0; i < b->mesh->ncell_set; i++) {
        const pcs_set *set = &b->mesh->cell_set[i];
        if (strncmp(set->name, name, length) != 0 || (set->name[length] != '.' && set->name[length] != '\0')) continue;
        for (int c = 0; c < set->count; c++) {
            if (k->part[set->items[c]] == part + 1) continue;
            k->part[set->items[c]] = part + 1;
            ncell++;
            nbare += mesh_is_bare(b, k, set->items[c], set->name[length] == '.');
        }
    }
    if (nbare == 0) return;
    pcs_case_reject(b->c, pcs_node_item(mesh, part),
                    "has %d of %d cells without elements: no group under 'elements' names them", nbare, ncell);
}

static pcs_status mesh_check_bare_parts(pcs_build *b, mesh_cover *k)
{
    const pcs_node *mesh = pcs_case_get(b->c, pcs_case_root(b->c), "mesh");
    for (int c = 0; c < b->mesh->ncell; c++)
        for (int i = 0; i < 2 && k->owner[c] != 0; i++) k->is_held[b->mesh->cell[c][i]] = true;
    for (int i = 0; i < pcs_node_count(mesh); i++) mesh_find_bare(b, k, mesh, i);
    return k->drops_any ? pcs_mesh_drop_cells(b->mesh, k->is_dropped) : PCS_OK;
}

// Every cell belongs to one group.
static pcs_status mesh_check_cover(pcs_build *b, const pcs_node *section)
{
    size_t ncell = (size_t)b->mesh->ncell, nnode = (size_t)b->mesh->nnode;
    int *memory = pcs_scratch(NULL, 2 * ncell + 1, sizeof *memory);
    bool *flags = pcs_scratch(NULL, ncell + nnode + 1, sizeof *flags);
    pcs_status status = PCS_OK;
    if (memory == NULL || flags == NULL) {
        status = pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: %d cells", b->mesh->ncell);
    } else {
        memset(memory, 0, (2 * ncell + 1) * sizeof *memory);
        memset(flags, 0, (ncell + nnode + 1) * sizeof *flags);
        mesh_cover k = { .owner = memory, .part = memory + ncell, .is_dropped = flags, .is_held = flags + ncell };
        for (int g = 0; g < b->model.ngroup; g++) mesh_claim_cells(b, section, g, k.owner);
        if (!b->has_lost_cells) status = mesh_check_bare_parts(b, &k);
    }
    pcs_scratch_free(memory);
    pcs_scratch_free(flags);
    return status;
}

pcs_status pcs_build_groups(pcs_build *b)
{
    int count;
    pcs_node *section = pcs_build_section(b, "elements", true, "element groups by name", &count);
    pcs_fe_group *groups = NULL;
    PCS_TAKE(b->ctx, groups, count, "element groups");
    for (int i = 0; i < count; i++) {
        pcs_node *node = pcs_case_entry(b->c, section, i, PCS_NODE_MAP);
        groups[i].name = pcs_node_key(section, i);
        if (node == NULL) {
            b->has_lost_cells = true;
        } else {
            PCS_TRY(mesh_group(b, node, &groups[i]));
        }
    }
    b->model.ngroup = count;
    b->model.groups = groups;
    mesh_read_damping(b, pcs_case_root(b->c), &b->model.damping_mass, &b->model.damping_stiffness);
    return section == NULL || count == 0 ? PCS_OK : mesh_check_cover(b, section);
}
