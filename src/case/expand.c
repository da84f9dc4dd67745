// The tree as it was written becomes plain YAML: parameters, formulas in texts, repeated entries.
//
// Formulas ${...} in texts, and the parameters that they use, in any order. A text that is one formula becomes a
// number, with the shortest digits that read back to the same bits; within a longer text the digits take the place of
// the formula. $${ stands for ${ itself.

#include "case/tree.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PARAMETER_NESTING = 32, // longest chain of parameters that depend on one another
    MOST_COPIED = 1 << 22,  // most nodes of all copies
};

typedef enum parameter_state {
    PARAMETER_UNSEEN,
    PARAMETER_OPEN, // is being evaluated
    PARAMETER_KNOWN,
    PARAMETER_WRONG
} parameter_state;

typedef struct expansion {
    pcs_case *c;
    int nparameter;
    const char **names;      // [nparameter + 2] names of parameters, then "i" within a repeated entry; ends with NULL
    pcs_yaml **nodes;        // [nparameter]
    double *values;          // [nparameter + 1]
    parameter_state *states; // [nparameter]
    bool *is_used;           // [nparameter]
    int nopen, open[PARAMETER_NESTING]; // parameters being evaluated, each for the one before
    long ncopied;
} expansion;

// Replaces all ${...} of a scalar by their values. False, with an error, if one is wrong.
static bool expand_scalar(expansion *x, pcs_yaml *node);
// Expands a node and everything below. False if memory is out.
static bool expand_node(expansion *x, pcs_yaml *node);

enum { TEXT_BYTES = 4096 };

// The text that is being written.
typedef struct expand_text {
    size_t used;
    char bytes[TEXT_BYTES];
} expand_text;

static const char copy_name[] = "i";

static bool expand_has_formula(const char *text)
{
    return strstr(text, "${") != NULL;
}

static bool expand_put(expand_text *out, const char *bytes, size_t length)
{
    if (length >= sizeof out->bytes - out->used) return false;
    memcpy(out->bytes + out->used, bytes, length);
    out->used += length;
    out->bytes[out->used] = '\0';
    return true;
}

static int parameters_copy(expansion *x, int number)
{
    int before = x->names[x->nparameter] == NULL ? 0 : (int)x->values[x->nparameter];
    x->names[x->nparameter] = number == 0 ? NULL : copy_name;
    x->values[x->nparameter] = number;
    return before;
}

static void parameters_circle(expansion *x, int k)
{
    const char *names[PARAMETER_NESTING + 2];
    char text[512];
    int first = 0, count = 0;
    while (x->open[first] != k) first++;
    for (int i = first; i < x->nopen; i++) names[count++] = x->names[x->open[i]];
    names[count++] = x->names[k];
    names[count] = NULL;
    pcs_case_error(x->c, x->nodes[k], "parameters.%s depends on itself: %s", x->names[k],
                   pcs_join_names(names, " -> ", sizeof text, text));
}

static bool parameters_evaluate(expansion *x, int k)
{
    pcs_yaml *node = x->nodes[k];
    int copy = parameters_copy(x, 0);
    bool is_fine = node->kind == PCS_YAML_SCALAR && expand_scalar(x, node);
    parameters_copy(x, copy);
    if (node->kind == PCS_YAML_SCALAR && !is_fine) return false;
    bool is_number = is_fine && !node->is_quoted && pcs_scalar_number(node->text, &x->values[k]) == PCS_NUMBER_FINE;
    if (is_number) return true;
    char quote[PCS_QUOTE_BYTES];
    pcs_case_error(x->c, node, "parameters.%s must be a number or a formula ${...}, is %s", x->names[k],
                   pcs_tree_quote(node, sizeof quote, quote));
    return false;
}

static bool parameters_need(expansion *x, const pcs_yaml *user, int k)
{
    if (k == x->nparameter) return true; // `i`, the number of the copy
    x->is_used[k] = true;
    if (x->states[k] == PARAMETER_OPEN) {
        parameters_circle(x, k);
        return false;
    }
    if (x->states[k] != PARAMETER_UNSEEN) return x->states[k] == PARAMETER_KNOWN;
    if (x->nopen == PARAMETER_NESTING) {
        pcs_case_error(x->c, user, "parameters depend on one another more than %d deep", PARAMETER_NESTING);
        return false;
    }
    x->open[x->nopen++] = k;
    x->states[k] = PARAMETER_OPEN;
    bool is_fine = parameters_evaluate(x, k);
    x->states[k] = is_fine ? PARAMETER_KNOWN : PARAMETER_WRONG;
    x->nopen--;
    return is_fine;
}

// Evaluates the formula in bytes [from, from + length) of the text. False, with an error, if it is wrong.
static bool expand_evaluate(expansion *x, pcs_yaml *node, size_t from, size_t length, double *value)
{
    pcs_expression e;
    if (!pcs_formula_compile(x->c, node, from, length, x->names, &e)) return false;
    bool is_known = true;
    for (int i = 0; i < e.count; i++)
        if (e.ops[i].code == PCS_OP_VARIABLE) is_known = parameters_need(x, node, e.ops[i].variable) && is_known;
    if (!is_known) return false; // the error has been reported
    *value = pcs_expression_value(&e, x->values);
    if (isfinite(*value)) return true;
    char path[PCS_PATH_BYTES];
    pcs_tree_error(x->c, pcs_formula_location(node, from), "%s: '%.*s' must be a finite number, is %g",
                   pcs_tree_path(node, sizeof path, path), length < 80 ? (int)length : 80, node->text + from, *value);
    return false;
}

static bool expand_is_formula_of_time(const pcs_yaml *node)
{
    const pcs_yaml *map = node->parent;
    if (map == NULL || map->kind != PCS_YAML_MAP || node->index >= map->count) return false;
    return strcmp(map->keys[node->index].name, "expression") == 0;
}

// Appends the value of the ${...} at *p to the text and moves *p behind it. False, with an error, if it is wrong.
static bool expand_formula(expansion *x, pcs_yaml *node, const char **p, expand_text *out)
{
    const char *start = *p + 2, *end = strchr(start, '}');
    double value;
    char number[PCS_NUMBER_BYTES], path[PCS_PATH_BYTES];
    if (end == NULL) {
        pcs_tree_error(x->c, pcs_formula_location(node, (size_t)(*p - node->text)),
                       "%s: no '}' closes '${'; a text with these signs is written $${",
                       pcs_tree_path(node, sizeof path, path));
        return false;
    }
    if (!expand_evaluate(x, node, (size_t)(start - node->text), (size_t)(end - start), &value)) return false;
    pcs_scalar_text(value, number);
    *p = end + 1;
    bool needs_brackets = value < 0.0 && expand_is_formula_of_time(node); // -1^2 is not (-1)^2
    if (needs_brackets && !expand_put(out, "(", 1)) return false;
    if (!expand_put(out, number, strlen(number))) return false;
    return !needs_brackets || expand_put(out, ")", 1);
}

static bool expand_text_of(expansion *x, pcs_yaml *node, expand_text *out)
{
    const char *p = node->text;
    while (*p != '\0') {
        bool is_fine = true;
        if (strncmp(p, "$${", 3) == 0) {
            is_fine = expand_put(out, "${", 2);
            p += 3;
        } else if (strncmp(p, "${", 2) == 0) {
            int before = x->c->nmessage;
            is_fine = expand_formula(x, node, &p, out);
            if (!is_fine && (x->c->nmessage > before || out->used + PCS_NUMBER_BYTES < TEXT_BYTES)) return false;
        } else {
            is_fine = expand_put(out, p++, 1);
        }
        if (is_fine) continue;
        pcs_case_reject(x->c, node, "is longer than %d characters with its formulas", TEXT_BYTES);
        return false;
    }
    return true;
}

static bool expand_scalar(expansion *x, pcs_yaml *node)
{
    if (!expand_has_formula(node->text)) return true;
    expand_text out = { 0 };
    if (node->location.is_faulty || !expand_text_of(x, node, &out)) {
        node->location.is_faulty = true;
        return false;
    }
    const char *end = strchr(node->text, '}');
    bool is_number = strncmp(node->text, "${", 2) == 0 && end != NULL && end[1] == '\0';
    node->text = pcs_tree_text(x->c, out.bytes, out.used);
    node->text_column = 0;
    if (is_number) node->is_quoted = false;
    if (node->text != NULL) return true;
    node->text = "";
    return false;
}

// The section `parameters`: numbers by name, which may be formulas of one another in any order.

static bool parameters_is_name(const char *text)
{
    if (!isalpha((unsigned char)text[0]) && text[0] != '_') return false;
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && *text != '_') return false;
    return true;
}

static bool parameters_is_taken(const char *name)
{
    const char *const *others = pcs_expression_names();
    for (int i = 0; others[i] != NULL; i++)
        if (strcmp(others[i], name) == 0) return true;
    return strcmp(name, copy_name) == 0;
}

static void parameters_check_name(pcs_case *c, const pcs_key *key)
{
    pcs_yaml name = { .text = key->name };
    char quote[PCS_QUOTE_BYTES];
    pcs_tree_quote(&name, sizeof quote, quote);
    if (!parameters_is_name(key->name)) {
        pcs_tree_error(c, key->location,
                       "the name of a parameter must start with a letter and have letters, digits and '_' only, is %s",
                       quote);
    } else if (parameters_is_taken(key->name)) {
        pcs_tree_error(c, key->location, "%s is a reserved name in formulas; choose another one", quote);
    }
}

static bool parameters_open(expansion *x, pcs_yaml *root)
{
    pcs_case *c = x->c;
    int at = pcs_tree_index(root, "parameters");
    pcs_yaml *map = at < 0 ? NULL : root->items[at];
    if (map != NULL && !pcs_case_is(c, map, PCS_YAML_MAP)) map = NULL;
    if (at >= 0) {
        pcs_yaml *apart = pcs_tree_node(c, PCS_YAML_MAP, root->location); // keeps the paths of messages
        if (apart == NULL || !pcs_tree_add_key(c, apart, &root->keys[at], root->items[at])) return false;
        pcs_tree_remove_key(root, at);
    }
    x->nparameter = map == NULL ? 0 : map->count;
    size_t room = (size_t)x->nparameter + 2;
    x->names = pcs_tree_take(c, room * sizeof *x->names);
    x->nodes = pcs_tree_take(c, room * sizeof(pcs_yaml *));
    x->values = pcs_tree_take(c, room * sizeof *x->values);
    x->states = pcs_tree_take(c, room * sizeof *x->states);
    x->is_used = pcs_tree_take(c, room * sizeof *x->is_used);
    if (c->is_out_of_memory) return false;
    for (int k = 0; k < x->nparameter; k++) {
        x->names[k] = map->keys[k].name;
        x->nodes[k] = map->items[k];
        parameters_check_name(c, &map->keys[k]);
    }
    return true;
}

static void parameters_close(expansion *x)
{
    char hint[PCS_SPELLING_BYTES];
    for (int k = 0; k < x->nparameter; k++) {
        bool is_used = x->is_used[k];
        parameters_need(x, x->nodes[k], k);
        if (is_used || x->nodes[k]->location.origin == NULL) continue;
        // Rejects a wrong name on the command line, which would otherwise be ignored.
        const char *name = x->names[k];
        x->names[k] = ""; // not offered for itself
        pcs_spelling_hint(name, x->names, sizeof hint, hint);
        x->names[k] = name;
        pcs_case_error(x->c, x->nodes[k], "no formula uses the parameter '%.60s'%s", name, hint);
    }
}

// Positions of an entry of a case: those that `repeat: { shift }` moves. Directions, offsets and lengths stay.

static const char *const shift_keys[] = { "from",   "to",   "at",   "start", "centre", "origin", "points", "point",
                                          "anchor", "at_a", "at_b", "about", "box",    "plane",  NULL };

static bool shift_is_position(const pcs_yaml *node)
{
    double value;
    if (node->kind != PCS_YAML_LIST || node->count != 3) return false;
    for (int k = 0; k < 3; k++) {
        const pcs_yaml *item = node->items[k];
        bool is_plain = item->kind == PCS_YAML_SCALAR && !item->is_quoted;
        if (!is_plain || pcs_scalar_number(item->text, &value) != PCS_NUMBER_FINE) return false;
    }
    return true;
}

// Adds times * shift to a position with one rounding, so that the digits are those of the sum.
static bool shift_position(pcs_case *c, pcs_yaml *node, int times, const double shift[3])
{
    for (int k = 0; k < 3; k++) {
        double value;
        char text[PCS_NUMBER_BYTES];
        pcs_scalar_number(node->items[k]->text, &value);
        if (times == 0 || shift[k] == 0.0) continue;
        pcs_scalar_text(fma(times, shift[k], value), text);
        const char *copy = pcs_tree_text(c, text, strlen(text));
        if (copy != NULL) node->items[k]->text = copy;
    }
    return true;
}

// Shifts a position, or positions in a list or by name; of a plane only its point. Returns false if there is none.
static bool shift_value(pcs_case *c, pcs_yaml *node, int times, const double shift[3], bool is_plane)
{
    if (shift_is_position(node)) return shift_position(c, node, times, shift);
    if (node->kind == PCS_YAML_SCALAR || node->count == 0) return false;
    int count = is_plane ? 1 : node->count;
    bool is_moved = true;
    for (int i = 0; i < count; i++)
        is_moved = shift_is_position(node->items[i]) && shift_position(c, node->items[i], times, shift) && is_moved;
    return is_moved;
}

static bool shift_entry(pcs_case *c, pcs_yaml *entry, int times, const double shift[3])
{
    if (entry->kind == PCS_YAML_LIST) return shift_value(c, entry, times, shift, false);
    bool is_moved = false;
    for (int k = 0; shift_keys[k] != NULL; k++) {
        int i = entry->kind == PCS_YAML_MAP ? pcs_tree_index(entry, shift_keys[k]) : -1;
        if (i >= 0 && shift_value(c, entry->items[i], times, shift, strcmp(shift_keys[k], "plane") == 0))
            is_moved = true;
    }
    return is_moved;
}

// Entries that stand for several: { repeat: { count, shift }, ... } becomes `count` copies of the rest, or of `each`
// if the entry is not a map. In a list they follow one another; in a map copy i of `name` is `name1`, `name2`, ...,
// unless the name has a formula. ${i} is the number of the copy. The copies of a part of the mesh get a set of its
// name.

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

// Reads `repeat` and removes it from the entry. *what is the copied part. Returns false, with an error, if it is wrong.
static bool repeat_read(expansion *x, pcs_yaml *entry, repeat_params *p, pcs_yaml **what)
{
    pcs_case *c = x->c;
    int at = pcs_tree_index(entry, "repeat");
    pcs_yaml *options = entry->items[at];
    if (!pcs_case_is(c, options, PCS_YAML_MAP) || !expand_node(x, options)) return false;
    bool is_fine = pcs_case_read(c, options, pcs_repeat_options, p);
    pcs_case_judge(c, options);
    pcs_tree_remove_key(entry, at);
    int each = pcs_tree_index(entry, "each");
    *what = each < 0 ? entry : entry->items[each];
    if (each >= 0 && entry->count > 1) {
        pcs_case_error_at(c, entry, "each", "'each' holds all that is copied: move the other keys into it");
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

// Makes copy i of an entry, expanded and shifted; NULL if memory is out.
static pcs_yaml *repeat_copy(expansion *x, const pcs_yaml *what, const repeat_params *p, int i)
{
    pcs_yaml *copy = pcs_tree_copy(x->c, what, i > 1);
    if (copy == NULL) return NULL;
    copy->parent = what->parent; // for the paths of messages
    copy->index = what->index;
    if (!expand_node(x, copy)) return NULL;
    if (isnan(p->shift[0]) || shift_entry(x->c, copy, i - 1, p->shift) || i > 1) return copy;
    pcs_case_error_at(x->c, copy, NULL, "'shift' finds no position to move; for other values use ${i} in a formula");
    return copy;
}

// Makes the name of a copy, or expands that of an entry that is not repeated (number 0).
static bool repeat_name(expansion *x, pcs_yaml *map, pcs_key *key, int number)
{
    if (expand_has_formula(key->name)) {
        pcs_yaml name = {
            .kind = PCS_YAML_SCALAR, .location = key->location, .parent = map->parent, .index = map->index
        };
        name.text = key->name;
        name.text_column = key->location.column;
        bool is_fine = expand_scalar(x, &name);
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
static bool repeat_add(expansion *x, pcs_yaml *map, const pcs_key *key, pcs_yaml *entry)
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

// Adds all copies of an entry to `to`, a list or a map, and counts them. False if memory is out.
static bool repeat_entry(expansion *x, pcs_yaml *to, const pcs_key *key, pcs_yaml *entry, int *count)
{
    repeat_params p = { 0 };
    pcs_yaml *what = NULL;
    *count = 0;
    if (!repeat_read(x, entry, &p, &what)) return !x->c->is_out_of_memory;
    x->ncopied += p.count * repeat_size(what);
    if (x->ncopied > MOST_COPIED) {
        pcs_case_error_at(x->c, entry, NULL, "all repetitions together make more than %d values", MOST_COPIED);
        return true;
    }
    if (to->kind == PCS_YAML_MAP && p.count > PCS_CASE_KEYS - to->count) {
        pcs_tree_error(x->c, key->location, "more than %d keys in one map", PCS_CASE_KEYS);
        return true;
    }
    bool is_fine = true;
    int outer = parameters_copy(x, 0);
    for (int i = 1; i <= p.count && is_fine; i++) {
        parameters_copy(x, i);
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
    parameters_copy(x, outer);
    *count = p.count;
    return is_fine && !x->c->is_out_of_memory;
}

// Moves the last entry of a map to the front, since sets are made in their order.
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

// Adds the entry `name` to the section `sets`: the cells of all copies of a part of the mesh.
static bool repeat_add_set(expansion *x, pcs_yaml *mesh, const pcs_key *key, int first)
{
    pcs_case *c = x->c;
    static const pcs_key sets_key = { .name = "sets" }, cells_key = { .name = "cells" };
    int at = pcs_tree_index(c->root, "sets");
    pcs_yaml *sets = at < 0 ? pcs_tree_node(c, PCS_YAML_MAP, mesh->location) : c->root->items[at];
    pcs_yaml *set = pcs_tree_node(c, PCS_YAML_MAP, key->location),
             *cells = pcs_tree_node(c, PCS_YAML_LIST, key->location);
    if (sets == NULL || set == NULL || cells == NULL) return false;
    if (at < 0 && !pcs_tree_add_key(c, c->root, &sets_key, sets)) return false;
    if (sets->kind != PCS_YAML_MAP || pcs_tree_index(sets, key->name) >= 0) return true; // given by the author
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

// Adds one entry of a list or map, or its copies, to `to`. False if memory is out.
static bool repeat_item(expansion *x, pcs_yaml *to, const pcs_key *from, pcs_yaml *item, bool is_mesh)
{
    pcs_key key = from == NULL ? (pcs_key){ 0 } : *from;
    int first = to->count, count;
    if (repeat_is_in(item)) {
        if (!repeat_entry(x, to, &key, item, &count)) return false;
        bool has_set = is_mesh && count > 0 && !expand_has_formula(key.name);
        return !has_set || repeat_add_set(x, to, &key, first);
    }
    if (!expand_node(x, item)) return false;
    if (from == NULL) return pcs_tree_add_item(x->c, to, item);
    return !repeat_name(x, to, &key, 0) || repeat_add(x, to, &key, item);
}

// Rebuilds a list or map with the copies of its entries. The old one stays unchanged until the end, for messages.
static bool repeat_rebuild(expansion *x, pcs_yaml *node)
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

static bool expand_node(expansion *x, pcs_yaml *node)
{
    if (node->kind == PCS_YAML_SCALAR) {
        expand_scalar(x, node);
        return !x->c->is_out_of_memory;
    }
    bool is_plain = true;
    for (int i = 0; i < node->count; i++) {
        if (repeat_is_in(node->items[i])) is_plain = false;
        if (node->kind == PCS_YAML_MAP && expand_has_formula(node->keys[i].name)) is_plain = false;
    }
    if (!is_plain) return repeat_rebuild(x, node);
    for (int i = 0; i < node->count; i++)
        if (!expand_node(x, node->items[i])) return false;
    return true;
}

// The tree as it was written becomes plain YAML.

pcs_status pcs_case_expand(pcs_case *c)
{
    expansion x = { .c = c };
    if (c->is_expanded) return PCS_OK;
    c->is_expanded = true;
    pcs_case_get(c, c->root, "parameters");
    const pcs_yaml *include = pcs_case_get(c, c->root, "include"); // only assigned ones are left
    if (include != NULL) pcs_case_error(c, include, "'include' works in files, not in an assignment");
    if (parameters_open(&x, c->root)) {
        expand_node(&x, c->root);
        parameters_close(&x);
    }
    return c->is_out_of_memory ? pcs_fail(c->ctx, PCS_NO_MEMORY, "out of memory: reading %s", c->file) : PCS_OK;
}
