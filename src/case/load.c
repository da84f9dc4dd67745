// A case from a file, a folder or memory, with the files that it includes and what is assigned to its keys; and the
// contents of the files that it names.
//
// `include: other.yaml` or a list of files, in any map: the contents of the files, each laid over those before, and
// the map itself laid over all. Paths are taken from the folder of the file that names them.

#define _XOPEN_SOURCE 700 // realpath

#include "case/tree.h"
#include "core/archive.h"
#include "core/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Assignments "path.to.key=value" on a loaded tree. What they add is checked like the rest of the case; its
// errors name the assignment in place of a line and column.

typedef struct assignment {
    pcs_case *c;
    pcs_location location; // location of everything that it adds
    const char *path;      // key path, up to the '='
    pcs_yaml *value;
} assignment;

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

// Returns the address of the value of a key, which is added with an empty map if absent; NULL if memory is out.
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
            pcs_tree_error(a->c, a->location, "%s, expected path.to.key=value",
                           length == 0 ? "an empty key" : "a key is too long");
            return;
        }
        memcpy(step, p, length);
        step[length] = '\0';
        bool is_last = p[length] == '=';
        if (at->kind == PCS_YAML_SCALAR) {
            char path[PCS_PATH_BYTES];
            pcs_tree_error(a->c, a->location, "%s is a single value, it has no keys",
                           pcs_tree_path(at, sizeof path, path));
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
        pcs_tree_error(c, a.location, "no '=', expected path.to.key=value");
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

void pcs_case_spell_out(pcs_case *c, const char *key)
{
    int i = c->root == NULL ? -1 : pcs_tree_index(c->root, key);
    if (i < 0 || c->root->items[i]->kind != PCS_YAML_SCALAR || pcs_yaml_string(c->root, key)[0] == '\0') return;
    pcs_yaml *word = c->root->items[i], *map = pcs_tree_node(c, PCS_YAML_MAP, word->location);
    if (map == NULL || !pcs_tree_add_key(c, map, &(pcs_key){ .name = "type", .location = word->location }, word))
        return;
    map->parent = c->root;
    map->index = i;
    c->root->items[i] = map;
}

enum { NESTING = 16, MOST_FILES = 256 };

// Files being read, each included by the one before.
typedef struct include_chain {
    pcs_case *c;
    int depth;
    char *whole[NESTING + 1]; // [depth] absolute paths
    int file[NESTING + 1];    // [depth] their file numbers
} include_chain;

static pcs_status include_walk(include_chain *chain, pcs_yaml *node);

// Reports a circle of includes: the names of the files from `first` on, then `first` again.
static void include_circle(const include_chain *chain, const pcs_yaml *node, int first)
{
    const pcs_case *c = chain->c;
    const char *names[NESTING + 3];
    char text[1024];
    int count = 0;
    for (int i = first; i < chain->depth; i++) names[count++] = c->files[chain->file[i]];
    names[count++] = c->files[chain->file[first]];
    names[count] = NULL;
    pcs_tree_error(chain->c, node->location, "a file that includes itself: %s",
                   pcs_join_names(names, " includes ", sizeof text, text));
}

// Finds an included file, relative to the folder of the file that names it. False, with an error, if there is none or
// it is in a circle.
static bool include_find(include_chain *chain, const pcs_yaml *node, char path[PATH_MAX], char whole[PATH_MAX])
{
    pcs_case *c = chain->c;
    const char *text = node->text, *folder = pcs_case_folder_of(c, node);
    bool is_plain = text[0] == '/' || strcmp(folder, ".") == 0;
    int length = snprintf(path, PATH_MAX, "%s%s%s", is_plain ? "" : folder, is_plain ? "" : "/", text);
    if (length < 0 || length >= PATH_MAX) {
        pcs_tree_error(c, node->location, "cannot include '%.60s...': too long a path", text);
        return false;
    }
    if (realpath(path, whole) == NULL) {
        pcs_tree_error(c, node->location, "cannot include '%s': %s", path, strerror(errno));
        return false;
    }
    for (int i = 0; i < chain->depth; i++) {
        if (strcmp(chain->whole[i], whole) != 0) continue;
        include_circle(chain, node, i);
        return false;
    }
    return true;
}

// Parses an included file; *out is NULL, with an error, if it is not a map.
static pcs_status include_parse(pcs_case *c, const pcs_yaml *node, const char *path, int number, pcs_yaml **out)
{
    char *text = NULL;
    size_t size = 0;
    pcs_status status = pcs_text_file(c->ctx, path, "the file", PCS_CASE_BYTES, &text, &size);
    if (status == PCS_NO_MEMORY) return status;
    if (status != PCS_OK) {
        pcs_tree_error(c, node->location, "cannot include: %s", pcs_message(c->ctx));
        return PCS_OK;
    }
    int outer = c->present_file;
    c->present_file = number;
    status = pcs_tree_parse(c, NULL, text, size, out);
    c->present_file = outer;
    pcs_scratch_free(text);
    if (status != PCS_OK) return status;
    if (*out != NULL && (*out)->kind == PCS_YAML_MAP) return PCS_OK;
    pcs_location start = { .line = 1, .column = 1, .file = number };
    char quote[PCS_QUOTE_BYTES];
    pcs_tree_error(c, start, "a file that is included (at %s:%d:%d) must be a map of keys, is %s",
                   c->files[node->location.file], node->location.line, node->location.column,
                   *out == NULL ? "empty" : pcs_tree_quote(*out, sizeof quote, quote));
    *out = NULL;
    return PCS_OK;
}

// Merges the contents of a file into `base`, which they replace key by key.
static pcs_status include_file(include_chain *chain, pcs_yaml *node, pcs_yaml *base)
{
    pcs_case *c = chain->c;
    char path[PATH_MAX], whole[PATH_MAX];
    pcs_yaml *tree = NULL;
    if (pcs_case_text(c, node) == NULL || !include_find(chain, node, path, whole)) return PCS_OK;
    if (chain->depth == NESTING || c->nfile == MOST_FILES) {
        pcs_tree_error(c, node->location,
                       "'%s' cannot be included: at most %d files are allowed, nested at most %d deep", path,
                       MOST_FILES, NESTING);
        return PCS_BAD_INPUT;
    }
    int number = c->nfile;
    if (!pcs_tree_reserve(c, &c->files, number, &c->file_room, sizeof *c->files)) return PCS_NO_MEMORY;
    c->files[number] = pcs_tree_text(c, path, strlen(path));
    if (c->files[c->nfile++] == NULL) return PCS_NO_MEMORY;
    PCS_TRY(include_parse(c, node, path, number, &tree));
    if (tree == NULL) return PCS_OK;
    chain->whole[chain->depth] = whole;
    chain->file[chain->depth++] = number;
    pcs_status status = include_walk(chain, tree);
    chain->depth--;
    if (status != PCS_OK) return status;
    return pcs_tree_overlay(c, base, tree) ? PCS_OK : PCS_NO_MEMORY;
}

static pcs_status include_into(include_chain *chain, pcs_yaml *map, int key)
{
    pcs_case *c = chain->c;
    pcs_yaml *node = map->items[key], own = *map;
    pcs_yaml *base = pcs_tree_node(c, PCS_YAML_MAP, map->location);
    if (base == NULL) return PCS_NO_MEMORY;
    pcs_tree_remove_key(&own, key);
    bool is_list = node->kind == PCS_YAML_LIST;
    for (int i = 0; i < (is_list ? node->count : 1); i++)
        PCS_TRY(include_file(chain, is_list ? node->items[i] : node, base));
    if (!pcs_tree_overlay(c, base, &own)) return PCS_NO_MEMORY;
    map->count = base->count;
    map->room = base->room;
    map->items = base->items;
    map->keys = base->keys;
    for (int i = 0; i < map->count; i++) map->items[i]->parent = map;
    return PCS_OK;
}

static pcs_status include_walk(include_chain *chain, pcs_yaml *node)
{
    for (int i = 0; i < node->count; i++) PCS_TRY(include_walk(chain, node->items[i]));
    int key = node->kind == PCS_YAML_MAP ? pcs_tree_index(node, "include") : -1;
    return key < 0 ? PCS_OK : include_into(chain, node, key);
}

static pcs_status load_create(pcs_context *ctx, const char *file, pcs_case **out)
{
    pcs_case *c = NULL;
    PCS_TAKE(ctx, c, 1, "the case");
    *c = (pcs_case){ .ctx = ctx, .file = pcs_take_text(ctx, file), .name = "case" };
    if (c->file == NULL) return PCS_NO_MEMORY;
    if (!pcs_tree_reserve(c, &c->files, 0, &c->file_room, sizeof *c->files))
        return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the case");
    c->files[c->nfile++] = c->file;
    *out = c;
    return PCS_OK;
}

static pcs_status load_tree(pcs_case *c, const char *text, size_t size)
{
    pcs_yaml *root = NULL;
    pcs_status status = pcs_tree_parse(c, NULL, text, size, &root);
    if (status == PCS_OK && root == NULL) {
        pcs_tree_error(c, (pcs_location){ .line = 1, .column = 1 }, "the file is empty");
        status = PCS_BAD_INPUT;
    } else if (status == PCS_OK && root->kind != PCS_YAML_MAP) {
        char quote[PCS_QUOTE_BYTES];
        pcs_tree_error(c, root->location, "a case must be a map of keys, is %s",
                       pcs_tree_quote(root, sizeof quote, quote));
        status = PCS_BAD_INPUT;
    }
    char whole[PATH_MAX];
    include_chain chain = { .c = c, .whole = { whole } };
    chain.depth = realpath(c->file, whole) != NULL;
    if (status == PCS_OK) status = include_walk(&chain, root);
    if (status == PCS_NO_MEMORY) c->is_out_of_memory = true;
    if (status != PCS_OK) return pcs_case_finish(c);
    c->root = root;
    return PCS_OK;
}

// Returns the last component of a path, without `cut` bytes at its end.
static const char *load_stem(pcs_case *c, const char *path, size_t cut)
{
    const char *slash = strrchr(path, '/');
    const char *stem = slash == NULL ? path : slash + 1;
    size_t length = strlen(stem);
    return pcs_tree_text(c, stem, length - (cut < length ? cut : 0));
}

// Sets the name of the case: `bar` for .../bar/case.yaml and .../bar/case.resolved.yaml, else the file's stem.
static pcs_status load_name(pcs_case *c)
{
    const char *slash = strrchr(c->file, '/');
    const char *base = slash == NULL ? c->file : slash + 1;
    const char *dot = strrchr(base, '.');
    c->name = load_stem(c, c->file, dot == NULL || dot == base ? 0 : strlen(dot));
    if (strcmp(base, "case.yaml") == 0 || strcmp(base, "case.resolved.yaml") == 0) {
        char full[PATH_MAX];
        const char *folder = pcs_case_folder_of(c, &(pcs_yaml){ .location.file = 0 });
        if (realpath(folder, full) != NULL && full[1] != '\0') c->name = load_stem(c, full, 0);
    }
    return c->name == NULL ? PCS_NO_MEMORY : PCS_OK;
}

pcs_status pcs_case_parse(pcs_context *ctx, const char *name, const char *text, size_t size, pcs_case **out)
{
    *out = NULL;
    pcs_case *c = NULL;
    PCS_TRY(load_create(ctx, name, &c));
    PCS_TRY(load_name(c));
    PCS_TRY(load_tree(c, text, size));
    *out = c;
    return PCS_OK;
}

// Finds the file of a case; for a folder, the case.yaml in it.
static pcs_status load_find_file(pcs_context *ctx, const char *path, size_t size, char *file)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return pcs_fail(ctx, PCS_IO_ERROR, "cannot open the case '%s': %s", path, strerror(errno));
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    int used = S_ISDIR(info.st_mode) ? snprintf(file, size, "%.*s/case.yaml", (int)length, path)
                                     : snprintf(file, size, "%s", path);
    if (used < 0 || (size_t)used >= size) return pcs_fail(ctx, PCS_IO_ERROR, "the path '%.60s...' is too long", path);
    if (S_ISDIR(info.st_mode) && stat(file, &info) != 0) {
        return pcs_fail(ctx, PCS_IO_ERROR, "the folder '%s' holds no case.yaml", path);
    }
    return PCS_OK;
}

pcs_status pcs_case_load(pcs_context *ctx, const char *path, pcs_case **out)
{
    *out = NULL;
    char file[4096], *text = NULL;
    size_t size = 0;
    PCS_TRY(load_find_file(ctx, path, sizeof file, file));
    PCS_TRY(pcs_text_file(ctx, file, "the case", PCS_CASE_BYTES, &text, &size));
    pcs_status status = pcs_case_parse(ctx, file, text, size, out);
    pcs_scratch_free(text);
    return status;
}

pcs_status pcs_case_copy(pcs_context *ctx, const pcs_case *from, pcs_case **out)
{
    pcs_case *c = NULL;
    PCS_TAKE(ctx, c, 1, "the case");
    *c = (pcs_case){ .ctx = ctx, .file = from->file, .name = from->name };
    c->nfile = c->file_room = from->nfile; // full: a further one takes a list of its own
    c->files = from->files;
    PCS_TAKE(ctx, c->messages, from->nmessage, "the case");
    if (from->nmessage > 0) memcpy(c->messages, from->messages, (size_t)from->nmessage * sizeof *c->messages);
    c->nmessage = c->message_room = from->nmessage;
    c->root = pcs_tree_copy(c, from->root, false);
    *out = c;
    return c->root == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the case") : PCS_OK;
}

// Adds the contents of the files that a node names: paths of meshes, tables and plug-ins are absolute once a case is
// resolved.
static pcs_status files_hash(pcs_context *ctx, const pcs_yaml *node, unsigned long long *hash)
{
    struct stat s;
    char *bytes = NULL;
    size_t size = 0;
    for (int i = 0; i < node->count; i++) PCS_TRY(files_hash(ctx, node->items[i], hash));
    if (node->text[0] != '/' || stat(node->text, &s) != 0 || !S_ISREG(s.st_mode)) return PCS_OK;
    PCS_TRY(pcs_text_file(ctx, node->text, "a file of the case", PCS_TEXT_MOST, &bytes, &size));
    *hash = pcs_hash(*hash, bytes, size);
    pcs_scratch_free(bytes);
    return PCS_OK;
}

pcs_status pcs_case_hash_files(pcs_case *c, unsigned long long *hash)
{
    return files_hash(c->ctx, c->root, hash);
}
