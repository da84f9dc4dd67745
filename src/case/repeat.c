// Entries that stand for several: { repeat: { count, shift }, ... } becomes `count` copies of the rest, or of `each`
// when the entry is no map. In a list they follow one another; in a map copy i of `name` is `name1`, `name2`, ...,
// unless the name has a formula. ${i} is the number of the copy. The copies of a part of the mesh get a set of its
// name.

#include "case/expand.h"

#include <stdio.h>
#include <string.h>

typedef struct repeat_params {
    int count;
    double shift[3];
} repeat_params;

const pcs_option pcs_repeat_options[] = {
    PCS_COUNT("count", repeat_params, count, PCS_REQUIRED, PCS_WITHIN(0, 1 << 20), "number of copies"),
    PCS_VECTOR("shift", repeat_params, shift, PCS_OPTIONAL, PCS_ANY_NUMBER,
               "every copy lies this much further than the one before, m: moves the positions that the entry states"),
    { .name = NULL },
};

static bool repeat_is_in(const pcs_yaml *node)
{
    return node->kind == PCS_YAML_MAP && pcs_tree_index(node, "repeat") >= 0;
}

// Reads `repeat` and takes it out of the entry; *what is what is copied. False and an error when it is wrong.
static bool repeat_read(pcs_expansion *x, pcs_yaml *entry, repeat_params *p, pcs_yaml **what)
{
    pcs_case *c = x->c;
    int at = pcs_tree_index(entry, "repeat");
    pcs_yaml *options = entry->items[at];
    if (!pcs_case_is(c, options, PCS_YAML_MAP) || !pcs_expand_node(x, options)) return false;
    bool is_fine = pcs_case_read(c, options, pcs_repeat_options, p);
    pcs_tree_find_unknown(c, options);
    pcs_tree_remove_key(entry, at);
    int each = pcs_tree_index(entry, "each");
    *what = each < 0 ? entry : entry->items[each];
    if (each >= 0 && entry->count > 1) {
        pcs_case_error_at(c, entry, "each", "'each' is all that is copied: it has no place beside other keys");
        return false;
    }
    if (!repeat_is_in(*what)) return is_fine;
    pcs_case_error_at(c, *what, "repeat",
                      "a repeated entry cannot be repeated itself: ${mod(i, n)} and "
                      "${floor(i/n)} number the rows of a table in one repetition");
    return false;
}

static long repeat_size(const pcs_yaml *node)
{
    long size = 1;
    for (int i = 0; i < node->count; i++) size += repeat_size(node->items[i]);
    return size;
}

// Copy number i, expanded and moved; NULL without memory.
static pcs_yaml *repeat_copy(pcs_expansion *x, const pcs_yaml *what, const repeat_params *p, int i)
{
    pcs_yaml *copy = pcs_tree_copy(x->c, what, i > 1);
    if (copy == NULL) return NULL;
    copy->parent = what->parent; // for the paths of messages
    copy->index = what->index;
    if (!pcs_expand_node(x, copy)) return NULL;
    if (isnan(p->shift[0]) || pcs_shift_entry(x->c, copy, i - 1, p->shift) || i > 1) return copy;
    pcs_case_error_at(x->c, copy, NULL, "'shift' finds no position to move; ${i} in a formula serves any other value");
    return copy;
}

// The name of a copy, or of an entry that is none (number 0).
static bool repeat_name(pcs_expansion *x, pcs_yaml *map, pcs_key *key, int number)
{
    if (pcs_expand_has_formula(key->name)) {
        pcs_yaml name = {
            .kind = PCS_YAML_SCALAR, .location = key->location, .parent = map->parent, .index = map->index
        };
        name.text = key->name;
        name.text_column = key->location.column;
        bool is_fine = pcs_expand_scalar(x, &name);
        key->name = name.text;
        return is_fine;
    }
    if (number == 0) return true;
    char text[PCS_PATH_BYTES];
    snprintf(text, sizeof text, "%.200s%d", key->name, number);
    key->name = pcs_tree_text(x->c, text, strlen(text));
    return key->name != NULL;
}

// Adds an entry under a name that must be free. What was assigned to a copy is laid over it.
static bool repeat_add(pcs_expansion *x, pcs_yaml *map, const pcs_key *key, pcs_yaml *entry)
{
    pcs_case *c = x->c;
    int there = pcs_tree_index(map, key->name);
    if (there < 0 && map->count < PCS_CASE_KEYS) return pcs_tree_add_key(c, map, key, entry);
    if (there < 0) {
        pcs_tree_error(c, key->location, "more than %d keys in one map", PCS_CASE_KEYS);
        return true;
    }
    pcs_yaml *old = map->items[there];
    if (key->location.origin != NULL && old->kind == PCS_YAML_MAP && entry->kind == PCS_YAML_MAP)
        return pcs_tree_overlay(c, old, entry);
    const pcs_location *first = &map->keys[there].location;
    pcs_tree_error(c, key->location, "duplicate key '%.80s', first given at %d:%d", key->name, first->line,
                   first->column);
    return true;
}

// All copies of an entry into `to`, a list or a map.
static bool repeat_entry(pcs_expansion *x, pcs_yaml *to, const pcs_key *key, pcs_yaml *entry, int *count)
{
    repeat_params p = { 0 };
    pcs_yaml *what = NULL;
    *count = 0;
    if (!repeat_read(x, entry, &p, &what)) return !x->c->is_out_of_memory;
    x->ncopied += p.count * repeat_size(what);
    if (x->ncopied > PCS_MOST_COPIED) {
        pcs_case_error_at(x->c, entry, NULL, "all repetitions together make more than %d values", PCS_MOST_COPIED);
        return true;
    }
    if (to->kind == PCS_YAML_MAP && p.count > PCS_CASE_KEYS - to->count) {
        pcs_tree_error(x->c, key->location, "more than %d keys in one map", PCS_CASE_KEYS);
        return true;
    }
    bool is_fine = true;
    int outer = pcs_parameters_copy(x, 0);
    for (int i = 1; i <= p.count && is_fine; i++) {
        pcs_parameters_copy(x, i);
        pcs_yaml *copy = repeat_copy(x, what, &p, i);
        if (copy == NULL) {
            is_fine = false;
        } else if (to->kind == PCS_YAML_LIST) {
            is_fine = pcs_tree_add_item(x->c, to, copy);
        } else {
            pcs_key named = *key;
            named.location.is_copy |= i > 1;
            if (repeat_name(x, to, &named, i)) is_fine = repeat_add(x, to, &named, copy);
        }
    }
    pcs_parameters_copy(x, outer);
    *count = p.count;
    return is_fine && !x->c->is_out_of_memory;
}

// The last entry of a map becomes the first: sets are made in their order.
static void repeat_put_first(pcs_yaml *map)
{
    pcs_key key = map->keys[map->count - 1];
    pcs_yaml *item = map->items[map->count - 1];
    for (int i = map->count - 1; i > 0; i--) {
        map->keys[i] = map->keys[i - 1];
        map->items[i] = map->items[i - 1];
        map->items[i]->index = i;
    }
    map->keys[0] = key;
    map->items[0] = item;
    item->index = 0;
}

// Entry `name` of the section `sets`: the cells of the copies of a part of the mesh.
static bool repeat_add_set(pcs_expansion *x, pcs_yaml *mesh, const pcs_key *key, int first)
{
    pcs_case *c = x->c;
    static const pcs_key sets_key = { .name = "sets" }, cells_key = { .name = "cells" };
    int at = pcs_tree_index(c->root, "sets");
    pcs_yaml *sets = at < 0 ? pcs_tree_node(c, PCS_YAML_MAP, mesh->location) : c->root->items[at];
    pcs_yaml *set = pcs_tree_node(c, PCS_YAML_MAP, key->location),
             *cells = pcs_tree_node(c, PCS_YAML_LIST, key->location);
    if (sets == NULL || set == NULL || cells == NULL) return false;
    if (at < 0 && !pcs_tree_add_key(c, c->root, &sets_key, sets)) return false;
    if (sets->kind != PCS_YAML_MAP || pcs_tree_index(sets, key->name) >= 0) return true; // the author has his own
    for (int i = first; i < mesh->count; i++) {
        pcs_yaml *name = pcs_tree_node(c, PCS_YAML_SCALAR, key->location);
        if (name == NULL || !pcs_tree_add_item(c, cells, name)) return false;
        name->text = mesh->keys[i].name;
    }
    if (!pcs_tree_add_key(c, set, &cells_key, cells) || !pcs_tree_add_key(c, sets, key, set)) return false;
    repeat_put_first(sets);
    return true;
}

static bool repeat_is_mesh(const pcs_case *c, const pcs_yaml *map)
{
    return map->parent == c->root && map->kind == PCS_YAML_MAP && strcmp(c->root->keys[map->index].name, "mesh") == 0;
}

// One entry of a list or map into `to`, or its copies.
static bool repeat_item(pcs_expansion *x, pcs_yaml *to, const pcs_key *from, pcs_yaml *item, bool is_mesh)
{
    pcs_key key = from == NULL ? (pcs_key){ 0 } : *from;
    int first = to->count, count;
    if (repeat_is_in(item)) {
        if (!repeat_entry(x, to, &key, item, &count)) return false;
        bool has_set = is_mesh && count > 0 && !pcs_expand_has_formula(key.name);
        return !has_set || repeat_add_set(x, to, &key, first);
    }
    if (!pcs_expand_node(x, item)) return false;
    if (from == NULL) return pcs_tree_add_item(x->c, to, item);
    return !repeat_name(x, to, &key, 0) || repeat_add(x, to, &key, item);
}

// A list or map again, with the copies of its entries. The old one stays as it is until the end, for messages.
static bool repeat_rebuild(pcs_expansion *x, pcs_yaml *node)
{
    pcs_yaml fresh = { .kind = node->kind, .parent = node->parent, .index = node->index, .location = node->location };
    bool is_mesh = repeat_is_mesh(x->c, node), is_map = node->kind == PCS_YAML_MAP, is_fine = true;
    for (int i = 0; i < node->count; i++)
        is_fine = is_fine && repeat_item(x, &fresh, is_map ? &node->keys[i] : NULL, node->items[i], is_mesh);
    node->count = fresh.count;
    node->room = fresh.room;
    node->items = fresh.items;
    node->keys = fresh.keys;
    for (int i = 0; i < node->count; i++) node->items[i]->parent = node;
    return is_fine && !x->c->is_out_of_memory;
}

bool pcs_expand_node(pcs_expansion *x, pcs_yaml *node)
{
    if (node->kind == PCS_YAML_SCALAR) {
        pcs_expand_scalar(x, node);
        return !x->c->is_out_of_memory;
    }
    bool is_plain = true;
    for (int i = 0; i < node->count; i++) {
        if (repeat_is_in(node->items[i])) is_plain = false;
        if (node->kind == PCS_YAML_MAP && pcs_expand_has_formula(node->keys[i].name)) is_plain = false;
    }
    if (!is_plain) return repeat_rebuild(x, node);
    for (int i = 0; i < node->count; i++)
        if (!pcs_expand_node(x, node->items[i])) return false;
    return true;
}
