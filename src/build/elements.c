// Section `elements`: groups of cells with their element, cross section and damping; every cell has one.

#include "build/builder.h"
#include "core/comm.h"
#include "elements/section.h"
#include "mesh/merge.h"

#include <stdio.h>
#include <string.h>

// Rayleigh damping.
typedef struct damping_params {
    double mass, stiffness;
} damping_params;

static const pcs_option damping_options[] = {
    PCS_REAL("mass", damping_params, mass, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE, "Rayleigh damping by mass, 1/s"),
    PCS_REAL("stiffness", damping_params, stiffness, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE,
             "Rayleigh damping by stiffness, s"),
    { .name = NULL },
};
const pcs_map pcs_damping_map = { .name = "damping", .options = damping_options };

static const pcs_form sets_form = { .shown = "[names of sets]",
                                    .json = "'type':['string','array'],'minLength':1,'minItems':1,"
                                            "'items':{'type':'string','minLength':1}" };
static const pcs_option group_options[] = {
    PCS_KEY("mesh", PCS_REQUIRED, sets_form, "the set of cells that gets these elements, or a list"),
    PCS_KEY_MAP("damping", PCS_OPTIONAL, pcs_damping_map, "Rayleigh damping"),
    { .name = NULL },
};
PCS_PARTS(section_parts, pcs_section_types, NULL)

const pcs_map pcs_section_map = { .name = "section", .kind = PCS_MAP_TYPES, .parts = section_parts };
static const pcs_option section_options[] = {
    PCS_KEY_MAP("section", PCS_REQUIRED, pcs_section_map,
                "the cross section: a type and its sizes, as `percuss list section` shows"),
    { .name = NULL },
};

PCS_PARTS(element_parts, pcs_elements, pcs_elements[i]->section_offset != 0 ? section_options : NULL)

const pcs_map pcs_group_map = {
    .name = "element group", .kind = PCS_MAP_TYPES, .is_entry = true, .options = group_options, .parts = element_parts
};

static void elements_read_damping(pcs_build *b, pcs_yaml *map, double *mass, double *stiffness)
{
    damping_params damping = { 0 };
    pcs_yaml *node = pcs_case_get_map(b->c, map, "damping");
    if (node != NULL) pcs_case_read(b->c, node, damping_options, &damping);
    *mass = damping.mass;
    *stiffness = damping.stiffness;
}

// Reads the shape of a beam's cross section and evaluates its constants.
static pcs_status elements_section(pcs_build *b, pcs_yaml *group, void *out)
{
    pcs_yaml *node = pcs_case_need(b->c, group, "section", PCS_YAML_MAP, section_options[0].help);
    if (node == NULL) return PCS_OK;
    int type = pcs_build_type(b, node, section_parts);
    void *params;
    PCS_TRY(pcs_build_part(b, node, section_parts, type, &params));
    if (params == NULL) return PCS_OK;
    const pcs_section_type *shape = pcs_section_types[type];
    shape->constants(params, out);
    if (!pcs_section_varies(shape, params)) return PCS_OK;
    pcs_section_line *line = NULL;
    PCS_TAKE(b->ctx, line, 1, "a section");
    *line = (pcs_section_line){ .type = shape, .params = params };
    ((pcs_section *)out)->line = line;
    return PCS_OK;
}

// Rejects the first cell whose number of nodes, one or two, is not that of the element.
static void elements_check_cells(pcs_build *b, const pcs_yaml *node, const pcs_fe_group *group)
{
    if (group->cells == NULL) return;
    for (int i = 0; i < group->cells->count; i++) {
        int cell = group->cells->items[i];
        bool is_point = b->mesh->cell[cell][0] == b->mesh->cell[cell][1];
        if (is_point == (group->ops->nnode == 1)) continue;
        pcs_case_error_at(b->c, node, "mesh", "'%s' takes %s, cell %d of the set '%s' %s", group->ops->name,
                          is_point ? "cells of two nodes" : "points (a part of type 'point', say)", cell,
                          group->cells->name, is_point ? "is a point" : "has two nodes");
        return;
    }
}

static pcs_status elements_read(pcs_build *b, const char *name, pcs_yaml *node, void *item)
{
    pcs_fe_group *group = item;
    group->name = name;
    if (node == NULL) b->has_lost_cells = true;
    if (node == NULL) return PCS_OK;
    int type = pcs_build_type(b, node, element_parts);
    (void)pcs_case_read(b->c, node, group_options, group); // these options have no members
    pcs_yaml *mesh = pcs_case_get(b->c, node, "mesh");
    if (mesh != NULL && mesh->kind == PCS_YAML_LIST) group->cells = pcs_build_group_set(b, group->name);
    else if (mesh != NULL) group->cells = pcs_build_set(b, mesh, true, false);
    if (group->cells == NULL) b->has_lost_cells = true;
    elements_read_damping(b, node, &group->damping_mass, &group->damping_stiffness);
    if (type < 0) return PCS_OK;
    void *params;
    group->ops = pcs_elements[type];
    elements_check_cells(b, node, group);
    PCS_TRY(pcs_build_part(b, node, element_parts, type, &params));
    group->params = params;
    if (group->ops->section_offset == 0) return PCS_OK;
    pcs_section unused;
    return elements_section(b, node, params == NULL ? (void *)&unused : (char *)params + group->ops->section_offset);
}

// Marks the cells of a group. The first one that has an owner already is an error.
static void elements_claim_cells(pcs_build *b, const pcs_yaml *section, int group, int *owner)
{
    const pcs_set *cells = b->model.groups[group].cells;
    if (cells == NULL) return;
    for (int i = 0; i < cells->count; i++) {
        int *place = &owner[cells->items[i]];
        if (*place != 0) {
            const int *node = b->mesh->cell[cells->items[i]];
            char hint[256] = "";
            if (node[0] == node[1])
                snprintf(hint, sizeof hint,
                         "; more elements at its node take a part of their own, { type: point, nodes: %s }",
                         cells->name);
            pcs_case_error_at(b->c, section->items[group], "mesh",
                              "cells of '%s' have elements already, of group '%s'%s", cells->name,
                              section->keys[*place - 1].name, hint);
            return;
        }
        *place = group + 1;
    }
}

// Owners of the cells, and the cells that are dropped.
typedef struct elements_cover {
    int *owner;       // [ncell] group + 1, 0 if no group has it
    int *part;        // [ncell] part + 1 that has counted the cell
    bool *is_dropped; // [ncell]
    bool *is_held;    // [nnode] node of a cell with elements
    bool *is_heavy;   // [nnode] node of elements with mass
    bool drops_any;
} elements_cover;

// Rejects a mesh part with cells that lack elements. Drops a point without elements that only marks a node of other
// cells (in sets `name.*`), or one on springs alone, as their anchor: if its mass was forgotten, the mass matrix is
// singular there.
static void elements_find_bare(pcs_build *b, elements_cover *k, const pcs_yaml *mesh, int part)
{
    const char *name = mesh->keys[part].name;
    size_t length = strlen(name);
    int nbare = 0, ncell = 0;
    for (int i = 0; i < b->mesh->ncell_set; i++) {
        const pcs_set *set = &b->mesh->cell_set[i];
        if (strncmp(set->name, name, length) != 0 || (set->name[length] != '.' && set->name[length] != '\0')) continue;
        for (int c = 0; c < set->count; c++) {
            int cell = set->items[c];
            const int *node = b->mesh->cell[cell];
            if (k->part[cell] == part + 1) continue;
            k->part[cell] = part + 1;
            ncell++;
            if (k->owner[cell] != 0) continue;
            bool is_anchor = !k->is_heavy[node[0]] || set->name[length] == '.';
            if (node[0] != node[1] || !k->is_held[node[0]] || !is_anchor) nbare++;
            else k->is_dropped[cell] = k->drops_any = true;
        }
    }
    if (nbare == 0) return;
    pcs_case_reject(b->c, mesh->items[part],
                    "has %d of %d cells without elements: no group under 'elements' names them", nbare, ncell);
}

static pcs_status elements_check_bare_parts(pcs_build *b, elements_cover *k)
{
    const pcs_yaml *mesh = pcs_case_get(b->c, pcs_case_root(b->c), "mesh");
    for (int c = 0; c < b->mesh->ncell; c++) {
        const int *node = b->mesh->cell[c];
        if (k->owner[c] == 0) continue;
        const pcs_element_ops *ops = b->model.groups[k->owner[c] - 1].ops;
        k->is_held[node[0]] = k->is_held[node[1]] = true;
        if (ops == NULL || pcs_build_has_option(ops->options, "rho") || pcs_build_has_option(ops->options, "mass"))
            k->is_heavy[node[0]] = k->is_heavy[node[1]] = true;
    }
    for (int i = 0; i < mesh->count; i++) elements_find_bare(b, k, mesh, i);
    double drops_any = k->drops_any;
    if (!pcs_mesh_is_whole(b->mesh)) pcs_process_max(b->ctx, 1, &drops_any);
    return drops_any > 0.0 ? pcs_mesh_drop_cells(b->mesh, k->is_dropped) : PCS_OK;
}

// Checks that every cell belongs to exactly one group.
static pcs_status elements_check_cover(pcs_build *b, const pcs_yaml *section)
{
    size_t ncell = (size_t)b->mesh->ncell, nnode = (size_t)b->mesh->nnode;
    int *memory = pcs_scratch(NULL, 2 * ncell + 1, sizeof *memory);
    bool *flags = pcs_scratch(NULL, ncell + 2 * nnode + 1, sizeof *flags);
    pcs_status status = PCS_OK;
    if (memory == NULL || flags == NULL) {
        status = pcs_fail(b->ctx, PCS_NO_MEMORY, "out of memory: %d cells", b->mesh->ncell);
    } else {
        memset(memory, 0, (2 * ncell + 1) * sizeof *memory);
        memset(flags, 0, (ncell + 2 * nnode + 1) * sizeof *flags);
        elements_cover k = { .owner = memory, .part = memory + ncell, .is_dropped = flags, .is_held = flags + ncell };
        k.is_heavy = k.is_held + nnode;
        for (int g = 0; g < b->model.ngroup; g++) elements_claim_cells(b, section, g, k.owner);
        if (!b->has_lost_cells) status = elements_check_bare_parts(b, &k);
    }
    pcs_scratch_free(memory);
    pcs_scratch_free(flags);
    return status;
}

pcs_status pcs_build_groups(pcs_build *b)
{
    static const pcs_build_list list =
        PCS_BUILD_LIST("elements", "element groups by name", pcs_fe_group, model.ngroup, model.groups, elements_read);
    pcs_yaml *root = pcs_case_root(b->c);
    PCS_TRY(pcs_build_entries(b, root, &list));
    elements_read_damping(b, root, &b->model.damping_mass, &b->model.damping_stiffness);
    return b->model.ngroup == 0 ? PCS_OK : elements_check_cover(b, pcs_yaml_at(root, list.key));
}

// Sets an automatic mass to the one that the scheme needs, and rejects a given one that the scheme cannot take.
static pcs_status elements_choose_mass(pcs_build *b, pcs_yaml *node, const pcs_fe_group *group)
{
    const pcs_mass_choice *choice = &group->ops->mass;
    int *mass = (int *)((char *)group->params + choice->offset);
    const char *scheme = b->scheme == NULL || b->is_model_only ? NULL : b->scheme->name;
    bool has_waves = scheme != NULL && b->scheme->ask_waves != NULL;
    if (*mass == choice->automatic) {
        *mass = has_waves ? choice->one_point : choice->consistent;
        return pcs_case_resolve(b->c, node, "mass", has_waves ? "one_point" : "consistent");
    }
    if (choice->tuned != 0 && *mass == choice->tuned && !(b->step > 0.0))
        pcs_case_error_at(b->c, node, "mass", "a tuned mass needs a time step in numbers");
    bool is_one_point = *mass == choice->one_point;
    if (has_waves && !is_one_point)
        pcs_case_error_at(b->c, node, "mass",
                          "scheme '%s' needs a mass of one-point quadrature: say 'one_point', or leave it out", scheme);
    if (scheme != NULL && !has_waves && is_one_point)
        pcs_case_error_at(b->c, node, "mass",
                          "a mass of one-point quadrature is singular: scheme 'wave' takes it, '%s' does not", scheme);
    return PCS_OK;
}

pcs_status pcs_build_masses(pcs_build *b)
{
    pcs_yaml *section = b->model.ngroup == 0 ? NULL : pcs_case_get(b->c, pcs_case_root(b->c), "elements");
    for (int i = 0; i < b->model.ngroup; i++) {
        const pcs_fe_group *group = &b->model.groups[i];
        if (group->ops == NULL || group->params == NULL || group->ops->mass.automatic == 0) continue;
        PCS_TRY(elements_choose_mass(b, section->items[i], group));
    }
    return PCS_OK;
}
