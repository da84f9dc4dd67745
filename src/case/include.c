// `include: other.yaml` or a list of files, in any map: the contents of the files, each laid over those before, and
// the map itself laid over all. Paths are taken from the folder of the file that names them.

#define _XOPEN_SOURCE 700 // realpath

#include "case/tree.h"
#include "core/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NESTING = 16, MOST_FILES = 256 };

// The files that are being read, one including the next.
typedef struct include_chain {
    pcs_case *c;
    int depth;
    char *whole[NESTING + 1]; // [depth] absolute paths
    int file[NESTING + 1];    // [depth] their numbers
} include_chain;

static pcs_status include_walk(include_chain *chain, pcs_yaml *node);

// The names of the files from the first that is `whole` on, then that again.
static void include_circle(const include_chain *chain, const pcs_yaml *node, int first)
{
    const pcs_case *c = chain->c;
    char text[1024];
    size_t used = 0;
    for (int i = first; i <= chain->depth && used < sizeof text; i++) {
        const char *name = c->files[chain->file[i == chain->depth ? first : i]];
        int length = snprintf(text + used, sizeof text - used, "%s%s", i == first ? "" : " includes ", name);
        used += length < 0 ? 0 : (size_t)length;
    }
    pcs_case_error(chain->c, node, "a file that includes itself: %s", text);
}

// The path from the folder of the file that names it; false and an error when there is no such file, or it is in a
// circle.
static bool include_find(include_chain *chain, const pcs_yaml *node, char path[PATH_MAX], char whole[PATH_MAX])
{
    pcs_case *c = chain->c;
    const char *text = node->text, *folder = pcs_case_folder_of(c, node);
    struct stat info;
    bool is_plain = text[0] == '/' || strcmp(folder, ".") == 0;
    int length = snprintf(path, PATH_MAX, "%s%s%s", is_plain ? "" : folder, is_plain ? "" : "/", text);
    if (length < 0 || length >= PATH_MAX) {
        pcs_case_error(c, node, "cannot include '%.60s...': too long a path", text);
        return false;
    }
    if (stat(path, &info) != 0 || realpath(path, whole) == NULL) {
        pcs_case_error(c, node, "cannot include '%s': %s", path, strerror(errno));
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        pcs_case_error(c, node, "cannot include '%s': it is no file", path);
        return false;
    }
    for (int i = 0; i < chain->depth; i++) {
        if (strcmp(chain->whole[i], whole) != 0) continue;
        include_circle(chain, node, i);
        return false;
    }
    return true;
}

static pcs_status include_add_file(pcs_case *c, const char *path, int *number)
{
    if (c->nfile == c->file_room) {
        int room = c->file_room;
        const char **larger = pcs_tree_grow(c, c->files, c->nfile, &room, sizeof *larger);
        if (larger == NULL) return PCS_NO_MEMORY;
        c->files = larger;
        c->file_room = room;
    }
    *number = c->nfile;
    c->files[c->nfile] = pcs_tree_text(c, path, strlen(path));
    return c->files[c->nfile++] == NULL ? PCS_NO_MEMORY : PCS_OK;
}

// The tree of a file; NULL and an error when it is no map.
static pcs_status include_parse(pcs_case *c, const pcs_yaml *node, const char *path, int number, pcs_yaml **out)
{
    char *text = NULL;
    size_t size = 0;
    pcs_status status = pcs_text_file(c->ctx, path, "the file", PCS_CASE_BYTES, &text, &size);
    if (status == PCS_NO_MEMORY) return status;
    if (status != PCS_OK) {
        pcs_case_error(c, node, "cannot include: %s", pcs_message(c->ctx));
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

// Lays the contents of a file over `base`.
static pcs_status include_file(include_chain *chain, pcs_yaml *node, pcs_yaml *base)
{
    pcs_case *c = chain->c;
    char path[PATH_MAX], whole[PATH_MAX];
    pcs_yaml *tree = NULL;
    if (pcs_case_text(c, node) == NULL || !include_find(chain, node, path, whole)) return PCS_OK;
    if (chain->depth == NESTING || c->nfile == MOST_FILES) {
        pcs_case_error(c, node, "'%s' is one file too many: at most %d, one in another at most %d deep", path,
                       MOST_FILES, NESTING);
        return PCS_BAD_INPUT;
    }
    int number = 0;
    PCS_TRY(include_add_file(c, path, &number));
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
    if (node->kind == PCS_YAML_LIST) {
        for (int i = 0; i < node->count; i++) PCS_TRY(include_file(chain, node->items[i], base));
    } else {
        PCS_TRY(include_file(chain, node, base));
    }
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

pcs_status pcs_tree_include(pcs_case *c, pcs_yaml *root)
{
    char whole[PATH_MAX];
    include_chain chain = { .c = c };
    if (realpath(c->file, whole) != NULL) {
        chain.whole[0] = whole;
        chain.depth = 1;
    }
    pcs_status status = include_walk(&chain, root);
    if (status == PCS_NO_MEMORY) c->is_out_of_memory = true;
    return status;
}
