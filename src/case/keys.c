// Reading keys of the tree: the keys that a reader knows are recorded, all others will be reported.

#include "case/tree.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

pcs_yaml *pcs_case_get(pcs_case *c, pcs_yaml *map, const char *key)
{
    int k = 0, i = pcs_tree_index(map, key);
    while (k < map->nknown && strcmp(map->known[k], key) != 0) k++;
    // The list of known keys ends with a NULL.
    if (k == map->nknown && pcs_tree_reserve(c, &map->known, k + 1, &map->known_room, sizeof *map->known))
        map->known[map->nknown++] = key;
    if (i < 0) return NULL;
    map->keys[i].is_known = true;
    return map->items[i];
}

bool pcs_case_is(pcs_case *c, pcs_yaml *node, pcs_yaml_kind kind)
{
    static const char *const names[] = { "a single value", "a list [...]", "a map { key: value }" };
    if (node->kind == kind) return true;
    node->is_unjudged = true; // the meaning of its keys is unknown here
    return pcs_case_want(c, node, names[kind]);
}

pcs_yaml *pcs_case_need(pcs_case *c, pcs_yaml *map, const char *key, pcs_yaml_kind kind, const char *help)
{
    pcs_yaml *node = pcs_case_get(c, map, key);
    if (node == NULL) {
        pcs_case_error_at(c, map, NULL, "missing key '%s' (%s)", key, help);
        return NULL;
    }
    return pcs_case_is(c, node, kind) ? node : NULL;
}

int pcs_case_one(pcs_case *c, pcs_yaml *map, const char *const *names, bool are_exclusive)
{
    int found = -1;
    char list[PCS_PATH_BYTES] = "";
    bool is_fine = true;
    for (int i = 0; names[i] != NULL; i++) {
        pcs_yaml *node = pcs_case_get(c, map, names[i]);
        const char *separator = names[i + 1] == NULL ? " or " : ", ";
        pcs_text_add(list, sizeof list, "%s'%s'", i == 0 ? "" : separator, names[i]);
        if (node == NULL) continue;
        if (found >= 0 && are_exclusive) {
            node->is_unjudged = map->items[pcs_tree_index(map, names[found])]->is_unjudged = true;
            if (is_fine)
                pcs_case_error_at(c, map, names[i], "'%s' and '%s' are both given, only one is allowed", names[found],
                                  names[i]);
            is_fine = false;
        }
        found = i;
    }
    if (!is_fine) return -1;
    if (found < 0) pcs_case_error_at(c, map, NULL, "missing key %s", list);
    return found;
}

static pcs_yaml *keys_add(pcs_case *c, pcs_yaml *map, const char *key, pcs_yaml_kind kind)
{
    pcs_yaml *node = pcs_tree_node(c, kind, map->location);
    if (node == NULL) return NULL;
    pcs_key entry = { .name = key, .location = map->location, .is_known = true };
    return pcs_tree_add_key(c, map, &entry, node) ? node : NULL;
}

pcs_yaml *pcs_case_get_map(pcs_case *c, pcs_yaml *map, const char *key)
{
    pcs_yaml *node = pcs_case_get(c, map, key);
    if (node == NULL) return keys_add(c, map, key, PCS_YAML_MAP);
    return pcs_case_is(c, node, PCS_YAML_MAP) ? node : NULL;
}

pcs_yaml *pcs_case_entry(pcs_case *c, pcs_yaml *map, int i, pcs_yaml_kind kind)
{
    static const char letters[] = "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    pcs_key *key = &map->keys[i];
    pcs_yaml *entry = map->items[i];
    key->is_known = true;
    bool has_start = key->name[0] != '\0' && strchr(letters + sizeof "0123456789", key->name[0]) != NULL;
    if (!has_start || key->name[strspn(key->name, letters)] != '\0') {
        char quote[PCS_QUOTE_BYTES];
        pcs_yaml name = { .text = key->name };
        pcs_tree_error(c, key->location,
                       "a name must start with a letter and have letters, digits, '_' and '-' only, is %s",
                       pcs_tree_quote(&name, sizeof quote, quote));
        entry->is_unjudged = true;
        return NULL;
    }
    return pcs_case_is(c, entry, kind) ? entry : NULL;
}

// Returns the index of a list item, by its number or by its set (the last one with that set); -1 if there is none.
static int keys_list_index(const pcs_yaml *list, const char *step, const char *rest)
{
    long number = -1;
    if (pcs_scalar_count(step, &number) && number >= 0 && number < list->count) return (int)number;
    for (int i = list->count - 1; i >= 0; i--) {
        const pcs_yaml *item = list->items[i];
        int set = item->kind == PCS_YAML_MAP ? pcs_tree_index(item, "set") : -1;
        if (set >= 0 && strcmp(item->items[set]->text, rest) == 0) return i;
    }
    return -1;
}

const pcs_yaml *pcs_case_find(pcs_case *c, const char *path)
{
    const pcs_yaml *at = c->root;
    while (path != NULL && *path != '\0' && at->kind != PCS_YAML_SCALAR) {
        size_t length = strcspn(path, ".");
        char step[PCS_PATH_BYTES];
        if (length >= sizeof step) break;
        memcpy(step, path, length);
        step[length] = '\0';
        int i = at->kind == PCS_YAML_MAP ? pcs_tree_index(at, step) : keys_list_index(at, step, path);
        if (i < 0) break;
        at = at->items[i];
        path += length + (path[length] == '.');
    }
    return at;
}

pcs_status pcs_case_resolve(pcs_case *c, pcs_yaml *map, const char *key, const char *text)
{
    const char *copy = pcs_tree_text(c, text, strlen(text));
    if (copy == NULL) return pcs_fail(c->ctx, PCS_NO_MEMORY, "out of memory: reading %s", c->file);
    int i = pcs_tree_index(map, key);
    pcs_yaml *node = i >= 0 ? map->items[i] : keys_add(c, map, pcs_tree_text(c, key, strlen(key)), PCS_YAML_SCALAR);
    if (node == NULL || c->is_out_of_memory)
        return pcs_fail(c->ctx, PCS_NO_MEMORY, "out of memory: reading %s", c->file);
    node->kind = PCS_YAML_SCALAR;
    node->text = copy;
    node->is_quoted = false;
    return PCS_OK;
}

// The paths of keys that an assignment may name: those that are there, and those that a reader has looked for.

static void paths_walk(const pcs_yaml *node, const char *path, pcs_path_taker *take, void *user);

static void paths_child(const pcs_yaml *child, const char *path, const char *key, pcs_path_taker *take, void *user)
{
    char longer[2 * PCS_PATH_BYTES];
    int length = snprintf(longer, sizeof longer, "%s%s%s", path, path[0] == '\0' ? "" : ".", key);
    if (length < 0 || (size_t)length >= sizeof longer) return;
    if (child == NULL) take(user, longer);
    else paths_walk(child, longer, take, user);
}

// Gives the paths of all values below a node to `take`. A list of plain values is one value; maps in it have numbers.
static void paths_walk(const pcs_yaml *node, const char *path, pcs_path_taker *take, void *user)
{
    bool has_maps = node->kind == PCS_YAML_LIST && node->count > 0 && node->items[0]->kind == PCS_YAML_MAP;
    if (node->kind != PCS_YAML_MAP && !has_maps) {
        take(user, path);
        return;
    }
    for (int i = 0; i < node->count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        paths_child(node->items[i], path, has_maps ? number : node->keys[i].name, take, user);
    }
    for (int i = 0; i < node->nknown; i++)
        if (pcs_tree_index(node, node->known[i]) < 0) paths_child(NULL, path, node->known[i], take, user);
}

void pcs_case_paths(pcs_case *c, pcs_path_taker *take, void *user)
{
    paths_walk(c->root, "", take, user);
}
