// Maps of a case by the option tables. Absent options get their default, which is written into the tree.

#include "case/tree.h"

#include <stdio.h>
#include <string.h>

static void read_absent(const pcs_option *option, void *member)
{
    switch (option->kind) {
    case PCS_OPTION_REAL: *(double *)member = NAN; break;
    case PCS_OPTION_COUNT: *(int *)member = -1; break;
    case PCS_OPTION_FLAG: *(bool *)member = false; break;
    case PCS_OPTION_CHOICE: *(int *)member = 0; break;
    case PCS_OPTION_VECTOR: ((double *)member)[0] = ((double *)member)[1] = ((double *)member)[2] = NAN; break;
    case PCS_OPTION_TEXT: *(const char **)member = NULL; break;
    case PCS_OPTION_LIST: *(pcs_list *)member = (pcs_list){ 0 }; break;
    case PCS_OPTION_FILE: *(const char **)member = NULL; break;
    case PCS_OPTION_NAMES: *(pcs_names *)member = (pcs_names){ 0 }; break;
    case PCS_OPTION_POINTS: *(pcs_points *)member = (pcs_points){ 0 }; break;
    case PCS_OPTION_FORMULA: *(const pcs_expression **)member = NULL; break;
    case PCS_OPTION_PROFILE: *(pcs_profile *)member = (pcs_profile){ .value = NAN }; break;
    case PCS_OPTION_NODE: *(pcs_yaml **)member = NULL; break;
    }
}

// The default of a table as a node of its own.
static pcs_yaml *read_preset(pcs_case *c, const pcs_yaml *map, const char *text)
{
    pcs_yaml *node = NULL;
    pcs_location location = map->location;
    if (pcs_tree_parse(c, "default", text, strlen(text), &node) != PCS_OK || node == NULL) return NULL;
    node->location = location;
    for (int i = 0; i < node->count; i++) node->items[i]->location = location;
    return node;
}

static bool read_value(pcs_case *c, pcs_yaml *node, const pcs_option *option, void *member)
{
    if (option->kind == PCS_OPTION_PROFILE) return pcs_read_profile(c, node, option->range, member);
    return pcs_read_value(c, node, option, member);
}

static bool read_option(pcs_case *c, pcs_yaml *map, const pcs_option *option, void *member)
{
    pcs_yaml *node = pcs_case_get(c, map, option->name);
    read_absent(option, member);
    if (option->preset != NULL) {
        pcs_yaml *preset = read_preset(c, map, option->preset);
        if (preset == NULL || !read_value(c, preset, option, member)) return false;
        pcs_key key = { .name = option->name, .location = map->location, .is_known = true };
        if (node == NULL) return pcs_tree_add_key(c, map, &key, preset);
    } else if (node == NULL && option->is_required) {
        pcs_case_error_at(c, map, NULL, "missing key '%s' (%s)", option->name, option->help);
        return false;
    }
    return node == NULL || read_value(c, node, option, member);
}

bool pcs_case_read(pcs_case *c, pcs_yaml *map, const pcs_option *table, void *params)
{
    bool is_fine = true;
    for (; table != NULL && table->name != NULL; table++) {
        if (!read_option(c, map, table, (char *)params + table->offset)) is_fine = false;
    }
    return is_fine && !c->is_out_of_memory;
}

int pcs_case_choice(pcs_case *c, pcs_yaml *map, const char *key, const char *const *names, const char *preset)
{
    char help[1024] = "one of ";
    bool is_missing = preset == NULL && pcs_tree_index(map, key) < 0;
    if (is_missing) pcs_join_names(names, ", ", sizeof help - strlen(help), help + strlen(help));
    pcs_option option = { .name = key, .kind = PCS_OPTION_CHOICE, .help = help, .preset = preset, .choices = names };
    option.is_required = preset == NULL;
    int value = 0;
    return read_option(c, map, &option, &value) ? value : -1;
}

int pcs_case_type(pcs_case *c, pcs_yaml *map, const char *const *names)
{
    int type = pcs_case_choice(c, map, "type", names, NULL);
    if (type < 0) map->is_unjudged = true;
    return type;
}
