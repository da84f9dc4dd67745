// The tree of a case: nodes, their paths, and the pool their pieces come from.

#include "case/tree.h"
#include "core/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { POOL_BYTES = 1 << 14, POOL_ALIGNMENT = 16 };

void *pcs_tree_take(pcs_case *c, size_t bytes)
{
    size_t rounded = (bytes + POOL_ALIGNMENT - 1) / POOL_ALIGNMENT * POOL_ALIGNMENT;
    if (rounded > POOL_BYTES / 4) {
        void *own = pcs_take(c->ctx, rounded, 1, "the case");
        if (own == NULL) c->is_out_of_memory = true;
        return own;
    }
    if (c->pool == NULL || (size_t)(c->pool_end - c->pool) < rounded) {
        char *block = pcs_take(c->ctx, POOL_BYTES, 1, "the case");
        if (block == NULL) {
            c->is_out_of_memory = true;
            return NULL;
        }
        c->pool = block;
        c->pool_end = block + POOL_BYTES;
    }
    void *piece = c->pool;
    c->pool += rounded;
    return piece;
}

char *pcs_tree_text(pcs_case *c, const char *text, size_t length)
{
    char *copy = pcs_tree_take(c, length + 1);
    return copy == NULL ? NULL : memcpy(copy, text, length); // the pool is zeroed: the copy ends with a zero
}

bool pcs_tree_reserve(pcs_case *c, void *array, int count, int *room, size_t size)
{
    void *old, *fresh;
    if (count < *room) return true;
    int larger = *room == 0 ? 4 : 2 * *room;
    c->is_out_of_memory = c->is_out_of_memory || *room > INT32_MAX / 2;
    fresh = c->is_out_of_memory ? NULL : pcs_tree_take(c, (size_t)larger * size);
    if (fresh == NULL) return false;
    memcpy(&old, array, sizeof old);
    if (*room > 0) memcpy(fresh, old, (size_t)*room * size);
    memcpy(array, &fresh, sizeof fresh);
    *room = larger;
    return true;
}

pcs_yaml *pcs_tree_node(pcs_case *c, pcs_yaml_kind kind, pcs_location location)
{
    pcs_yaml *node = pcs_tree_take(c, sizeof *node);
    if (node == NULL) return NULL;
    *node = (pcs_yaml){ .kind = kind, .location = location, .text = "" };
    return node;
}

bool pcs_tree_add_item(pcs_case *c, pcs_yaml *list, pcs_yaml *item)
{
    int room = list->room; // of both arrays
    if (!pcs_tree_reserve(c, &list->items, list->count, &room, sizeof *list->items)) return false;
    bool is_map = list->kind == PCS_YAML_MAP;
    if (is_map && !pcs_tree_reserve(c, &list->keys, list->count, &list->room, sizeof *list->keys)) return false;
    list->room = room;
    item->parent = list;
    item->index = list->count;
    list->items[list->count++] = item;
    return true;
}

bool pcs_tree_add_key(pcs_case *c, pcs_yaml *map, const pcs_key *key, pcs_yaml *value)
{
    if (!pcs_tree_add_item(c, map, value)) return false;
    map->keys[value->index] = *key;
    return true;
}

int pcs_tree_index(const pcs_yaml *map, const char *key)
{
    for (int i = 0; i < map->count; i++) {
        if (strcmp(map->keys[i].name, key) == 0) return i;
    }
    return -1;
}

void pcs_tree_remove_key(pcs_yaml *map, int i)
{
    for (map->count--; i < map->count; i++) {
        map->keys[i] = map->keys[i + 1];
        map->items[i] = map->items[i + 1];
        map->items[i]->index = i;
    }
}

pcs_yaml *pcs_tree_copy(pcs_case *c, const pcs_yaml *node, bool is_further)
{
    pcs_yaml *copy = pcs_tree_node(c, node->kind, node->location);
    if (copy == NULL) return NULL;
    copy->location.is_copy |= is_further;
    copy->text = node->text;
    copy->text_column = node->text_column;
    copy->is_quoted = node->is_quoted;
    for (int i = 0; i < node->count; i++) {
        pcs_yaml *item = pcs_tree_copy(c, node->items[i], is_further);
        if (item == NULL || !pcs_tree_add_item(c, copy, item)) return NULL;
        if (node->kind != PCS_YAML_MAP) continue;
        copy->keys[i] = node->keys[i];
        copy->keys[i].location.is_copy |= is_further;
    }
    return copy;
}

bool pcs_tree_overlay(pcs_case *c, pcs_yaml *base, const pcs_yaml *over)
{
    int old = pcs_tree_index(base, "type"), fresh = pcs_tree_index(over, "type");
    if (old >= 0 && fresh >= 0 && strcmp(base->items[old]->text, over->items[fresh]->text) != 0) base->count = 0;
    for (int i = 0; i < over->count; i++) {
        int k = pcs_tree_index(base, over->keys[i].name);
        pcs_yaml *item = over->items[i];
        if (k < 0) {
            if (!pcs_tree_add_key(c, base, &over->keys[i], item)) return false;
        } else if (base->items[k]->kind == PCS_YAML_MAP && item->kind == PCS_YAML_MAP) {
            if (!pcs_tree_overlay(c, base->items[k], item)) return false;
        } else {
            base->items[k] = item;
            base->keys[k] = over->keys[i];
            item->parent = base;
            item->index = k;
        }
    }
    return true;
}

const char *pcs_tree_path(const pcs_yaml *node, size_t size, char *buffer)
{
    buffer[0] = '\0';
    if (node == NULL || node->parent == NULL) return buffer;
    pcs_tree_path(node->parent, size, buffer);
    const char *point = buffer[0] == '\0' ? "" : ".";
    if (node->parent->kind == PCS_YAML_LIST) pcs_text_add(buffer, size, "[%d]", node->index);
    else pcs_text_add(buffer, size, "%s%s", point, node->parent->keys[node->index].name);
    return buffer;
}

const char *pcs_case_file(const pcs_case *c)
{
    return c->file;
}

const char *pcs_case_folder_of(pcs_case *c, const pcs_yaml *node)
{
    const char *file = c->files[node->location.file], *slash = strrchr(file, '/');
    if (slash == NULL) return ".";
    const char *folder = pcs_tree_text(c, file, slash == file ? 1 : (size_t)(slash - file));
    return folder == NULL ? "." : folder;
}

const char *pcs_case_name(const pcs_case *c)
{
    return c->name;
}

pcs_yaml *pcs_case_root(pcs_case *c)
{
    return c->root;
}

const pcs_yaml *pcs_yaml_at(const pcs_yaml *map, const char *place)
{
    while (map != NULL && *place != '\0') {
        size_t length = strcspn(place, ".");
        int i = 0, count = map->kind == PCS_YAML_MAP ? map->count : 0;
        while (i < count && (strlen(map->keys[i].name) != length || strncmp(map->keys[i].name, place, length) != 0))
            i++;
        map = i < count ? map->items[i] : NULL;
        place += length + (place[length] == '.');
    }
    return map != NULL && map->kind == PCS_YAML_SCALAR && strcmp(map->text, "null") == 0 ? NULL : map;
}

const char *pcs_yaml_string(const pcs_yaml *map, const char *place)
{
    const pcs_yaml *node = pcs_yaml_at(map, place);
    return node == NULL || node->kind != PCS_YAML_SCALAR ? "" : node->text;
}
