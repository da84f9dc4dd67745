// Tools that the sections of a case share: errors at a node of the case, memory for parameters, sets by name.

#include "build/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

pcs_status pcs_build_blame(pcs_build *b, const pcs_yaml *node, pcs_status status)
{
    if (status != PCS_BAD_INPUT && status != PCS_UNSUPPORTED) return status;
    pcs_case_error_at(b->c, node, NULL, "%s", pcs_message(b->ctx));
    return PCS_OK;
}

bool pcs_build_check(pcs_build *b, const pcs_yaml *node, pcs_build_checker *check, const void *params)
{
    const char *option = NULL, *fault = check == NULL ? NULL : check(params, &option);
    if (fault != NULL) pcs_case_fault(b->c, node, option, fault);
    return fault == NULL;
}

pcs_status pcs_build_params(pcs_build *b, size_t size, void **out)
{
    *out = pcs_take(b->ctx, size == 0 ? 1 : size, 1, "parameters");
    return *out == NULL ? PCS_NO_MEMORY : PCS_OK;
}

pcs_yaml *pcs_build_section(pcs_build *b, pcs_yaml *map, const char *key, const char *help, int *count)
{
    pcs_yaml *section = pcs_case_get(b->c, map, key);
    if (help != NULL) section = pcs_case_need(b->c, map, key, PCS_YAML_MAP, help);
    else if (section != NULL && !pcs_case_is(b->c, section, PCS_YAML_MAP)) section = NULL;
    *count = section == NULL ? 0 : section->count;
    if (help != NULL && section != NULL && *count == 0) pcs_case_reject(b->c, section, "is empty, needs %s", help);
    return section;
}

pcs_status pcs_build_entries(pcs_build *b, pcs_yaml *map, const pcs_build_list *list)
{
    int *count = (int *)(void *)((char *)b + list->count);
    pcs_yaml *section = pcs_build_section(b, map, list->key, list->help, count);
    char *items = pcs_take(b->ctx, (size_t)*count, list->size, "a section of the case");
    if (items == NULL) return PCS_NO_MEMORY;
    memcpy((char *)b + list->items, &items, sizeof items);
    for (int i = 0; i < *count; i++, items += list->size) {
        pcs_yaml *node = pcs_case_entry(b->c, section, i, PCS_YAML_MAP);
        PCS_TRY(list->read(b, section->keys[i].name, node, items));
    }
    return PCS_OK;
}

pcs_status pcs_build_read(pcs_build *b, pcs_yaml *map, const pcs_option *options, void *params, bool *is_fine)
{
    int nerror = pcs_case_error_count(b->c);
    bool is_read = pcs_case_read(b->c, map, options, params);
    for (const pcs_option *o = options; o != NULL && o->name != NULL; o++) {
        pcs_yaml *node = o->kind == PCS_OPTION_FORM ? pcs_case_get(b->c, map, o->name) : NULL;
        if (node != NULL && o->form->read != NULL) PCS_TRY(o->form->read(b, o->form, node, (char *)params + o->offset));
    }
    if (is_fine != NULL) *is_fine = is_read && pcs_case_error_count(b->c) == nerror;
    return PCS_OK;
}

// Returns true if the name belongs to a mesh part that could not be built.
static bool builder_is_broken(const pcs_build *b, const char *name)
{
    size_t length = strcspn(name, ".");
    for (int i = 0; i < b->nbroken; i++) {
        if (strlen(b->broken[i]) == length && strncmp(b->broken[i], name, length) == 0) return true;
    }
    return pcs_case_error_count(b->c) > 0 && b->mesh->nnode_set == 0;
}

static void builder_reject_set(pcs_build *b, const pcs_yaml *node, const pcs_set *sets, int nset, const char *kind)
{
    enum { LISTED = 400 }; // bytes
    const char **names = pcs_scratch(NULL, (size_t)nset + 1, sizeof *names);
    char hint[PCS_SPELLING_BYTES] = "", list[512] = "none";
    int listed = 0;
    if (names == NULL) {
        pcs_case_reject(b->c, node, "must name a set of %s, is '%.80s'", kind, node->text);
        return;
    }
    for (int i = 0; i < nset; i++) names[i] = sets[i].name;
    names[nset] = NULL;
    pcs_spelling_hint(node->text, names, sizeof hint, hint);
    for (size_t size = 0; listed < nset && size < LISTED; listed++) size += strlen(names[listed]) + 2;
    names[listed] = NULL;
    if (nset > 0) pcs_join_names(names, ", ", sizeof list, list);
    pcs_scratch_free(names);
    pcs_case_reject(b->c, node, "must name a set of %s, is '%.80s'%s there are: %s%s", kind, node->text,
                    hint[0] == '\0' ? "," : hint, list, listed < nset ? ", ..." : "");
}

const pcs_set *pcs_build_set(pcs_build *b, pcs_yaml *node, bool of_cells, bool is_single)
{
    const char *name = pcs_case_text(b->c, node);
    if (name == NULL) return NULL;
    const char *kind = of_cells ? "cells" : "nodes";
    const pcs_set *set = of_cells ? pcs_mesh_cell_set(b->mesh, name) : pcs_mesh_node_set(b->mesh, name);
    if (set == NULL) {
        if (builder_is_broken(b, name)) return NULL;
        builder_reject_set(b, node, of_cells ? b->mesh->cell_set : b->mesh->node_set,
                           of_cells ? b->mesh->ncell_set : b->mesh->nnode_set, kind);
    } else if (pcs_set_size(set) == 0) {
        pcs_case_reject(b->c, node, "must not be empty, the set '%s' has no %s", name, kind);
        set = NULL;
    } else if (is_single && pcs_set_size(set) != 1) {
        pcs_case_reject(b->c, node, "must name a single node, the set '%s' has %d", name, pcs_set_size(set));
        set = NULL;
    }
    return set;
}

static pcs_status builder_read_set(pcs_build *b, const pcs_form *self, pcs_yaml *node, void *member)
{
    *(const pcs_set **)member = pcs_build_set(b, node, self->of_cells, self->is_single);
    return PCS_OK;
}

// clang-format off
#define SET_FORM(cells, single) \
    { "name of a set", "'type':'string','minLength':1", NULL, NULL, builder_read_set, cells, single }
// clang-format on
const pcs_form pcs_set_form = SET_FORM(false, false), pcs_node_form = SET_FORM(false, true),
               pcs_cells_form = SET_FORM(true, false);

enum { MOST_PARTS = 64 };

// Fills `names` with the names of the parts of a registry, ended by NULL; `room` is its size.
static void builder_names(pcs_parts *parts, int room, const char **names)
{
    pcs_map_part part;
    int count = 0;
    for (; count < room - 1 && parts(NULL, count, &part); count++) names[count] = part.name;
    names[count] = NULL;
}

int pcs_build_type(pcs_build *b, pcs_yaml *map, pcs_parts *parts)
{
    const char *names[MOST_PARTS];
    builder_names(parts, MOST_PARTS, names);
    return pcs_case_type(b->c, map, names);
}

pcs_status pcs_build_part(pcs_build *b, pcs_yaml *map, pcs_parts *parts, int i, void **params)
{
    pcs_map_part part;
    bool is_fine;
    *params = NULL;
    if (i < 0 || !parts(b->ctx, i, &part)) return PCS_OK;
    PCS_TRY(pcs_build_params(b, part.size, params));
    PCS_TRY(pcs_build_read(b, map, part.options, *params, &is_fine));
    if (!is_fine || !pcs_build_check(b, map, part.check, *params)) *params = NULL;
    return PCS_OK;
}

const char *pcs_build_name(pcs_build *b, pcs_yaml *map, const char *key, pcs_parts *parts)
{
    const char *names[MOST_PARTS + 1] = { "auto" };
    builder_names(parts, MOST_PARTS, names + 1);
    int i = pcs_case_choice(b->c, map, key, names, "auto");
    return i < 0 ? NULL : names[i];
}

static const pcs_option *builder_find(const pcs_option *options, const char *name)
{
    if (options == NULL) return NULL;
    for (const pcs_option *o = options; o->name != NULL; o++)
        if (strcmp(o->name, name) == 0) return o;
    return NULL;
}

bool pcs_build_has_option(const pcs_option *options, const char *name)
{
    return builder_find(options, name) != NULL;
}

bool pcs_build_real(const pcs_option *options, const void *params, const char *name, double *out)
{
    const pcs_option *option = builder_find(options, name);
    if (option == NULL || option->kind != PCS_OPTION_REAL) return false;
    double x;
    memcpy(&x, (const char *)params + option->offset, sizeof x);
    if (isfinite(x)) *out = x;
    return isfinite(x);
}
