// Assignments "path.to.key=value" on a loaded tree. What they add is checked like the rest of the case; its
// errors name the assignment in place of a line and column.

#include "case/tree.h"

#include <stdio.h>
#include <string.h>

typedef struct assignment {
    pcs_case *c;
    pcs_location location; // of everything it adds
    const char *path;      // up to the '='
    pcs_yaml *value;
} assignment;

static void assign_error(assignment *a, const char *format, const char *text)
{
    char message[256];
    snprintf(message, sizeof message, format, text);
    pcs_tree_error(a->c, a->location, "%s", message);
}

static pcs_yaml **assign_in_list(assignment *a, pcs_yaml *list, const char *step)
{
    long i = -1;
    if (!pcs_scalar_count(step, &i) || i < 0 || i >= list->count) {
        char path[PCS_PATH_BYTES];
        pcs_tree_error(a->c, a->location, "%s has no item '%s', it has %d, numbered from 0",
                       pcs_tree_path(list, sizeof path, path), step, list->count);
        return NULL;
    }
    return &list->items[i];
}

// The slot of a key, added with an empty map when absent.
static pcs_yaml **assign_in_map(assignment *a, pcs_yaml *map, const char *step)
{
    int i = pcs_tree_index(map, step);
    if (i >= 0) return &map->items[i];
    pcs_yaml *fresh = pcs_tree_node(a->c, PCS_YAML_MAP, a->location);
    const char *name = pcs_tree_text(a->c, step, strlen(step));
    if (fresh == NULL || name == NULL) return NULL;
    if (!pcs_tree_add_key(a->c, map, &(pcs_key){ .name = name, .location = a->location }, fresh)) return NULL;
    return &map->items[map->count - 1];
}

// Walks down the path and puts the value at its end.
static void assign_value(assignment *a)
{
    pcs_yaml *at = a->c->root;
    const char *p = a->path;
    while (true) {
        size_t length = strcspn(p, ".=");
        char step[PCS_PATH_BYTES];
        if (length == 0 || length >= sizeof step) {
            assign_error(a, "%s, wanted is path.to.key=value", length == 0 ? "an empty key" : "a key is too long");
            return;
        }
        memcpy(step, p, length);
        step[length] = '\0';
        bool is_last = p[length] == '=';
        if (at->kind == PCS_YAML_SCALAR) {
            char path[PCS_PATH_BYTES];
            assign_error(a, "%s is a single value, it has no keys", pcs_tree_path(at, sizeof path, path));
            return;
        }
        pcs_yaml **slot = at->kind == PCS_YAML_LIST ? assign_in_list(a, at, step) : assign_in_map(a, at, step);
        if (slot == NULL) return;
        if (is_last) {
            a->value->parent = at;
            a->value->index = (*slot)->index;
            *slot = a->value;
            return;
        }
        at = *slot;
        p += length + 1;
    }
}

pcs_status pcs_case_set(pcs_case *c, const char *text)
{
    size_t length = strlen(text);
    static const char option[] = "--set ";
    char *origin = pcs_tree_take(c, sizeof option + length);
    if (origin == NULL) return PCS_NO_MEMORY;
    memcpy(origin, option, sizeof option);
    memcpy(origin + sizeof option - 1, text, length + 1);
    assignment a = { .c = c, .location = { .origin = origin }, .path = text };
    const char *sign = strchr(text, '=');
    if (sign == NULL) {
        assign_error(&a, "%s, wanted is path.to.key=value", "no '='");
        return PCS_OK;
    }
    pcs_status status = pcs_tree_parse(c, origin, sign + 1, length - (size_t)(sign + 1 - text), &a.value);
    if (status == PCS_OK && a.value == NULL) {
        pcs_tree_error(c, a.location, "no value after '='");
    } else if (status == PCS_OK) {
        assign_value(&a);
    }
    return c->is_out_of_memory ? pcs_fail(c->ctx, PCS_NO_MEMORY, "out of memory: %s", origin) : PCS_OK;
}
