// The paths of keys that an assignment may name: those that are there, and those that a reader has looked for.

#include "case/paths.h"
#include "case/tree.h"

#include <stdio.h>

static void paths_walk(const pcs_yaml *node, const char *path, pcs_path_taker *take, void *user);

static void paths_child(const pcs_yaml *child, const char *path, const char *key, pcs_path_taker *take, void *user)
{
    char longer[2 * PCS_PATH_BYTES];
    int length = snprintf(longer, sizeof longer, "%s%s%s", path, path[0] == '\0' ? "" : ".", key);
    if (length < 0 || (size_t)length >= sizeof longer) return;
    if (child == NULL) take(user, longer);
    else paths_walk(child, longer, take, user);
}

// A list of single values is one value; a list of maps has numbers for keys.
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
