// A case from a file, a folder or memory, and the assignments of the command line.

#define _XOPEN_SOURCE 700 // realpath

#include "case/tree.h"
#include "core/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

pcs_status pcs_tree_create(pcs_context *ctx, const char *file, pcs_case **out)
{
    pcs_case *c = NULL;
    PCS_TAKE(ctx, c, 1, "the case");
    *c = (pcs_case){ .ctx = ctx, .file = pcs_take_text(ctx, file), .folder = ".", .name = "case" };
    if (c->file == NULL) return PCS_NO_MEMORY;
    c->files = pcs_tree_grow(c, NULL, 0, &c->file_room, sizeof *c->files);
    if (c->files == NULL) return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the case");
    c->files[c->nfile++] = c->file;
    *out = c;
    return PCS_OK;
}

static pcs_status load_tree(pcs_case *c, const char *text, size_t size)
{
    pcs_yaml *root = NULL;
    pcs_status status = pcs_tree_parse(c, NULL, text, size, &root);
    if (status == PCS_OK && root == NULL) {
        pcs_case_error(c, NULL, "the file is empty");
        status = PCS_BAD_INPUT;
    } else if (status == PCS_OK && root->kind != PCS_YAML_MAP) {
        char quote[PCS_QUOTE_BYTES];
        pcs_case_error(c, root, "a case must be a map of keys, is %s", pcs_tree_quote(root, sizeof quote, quote));
        status = PCS_BAD_INPUT;
    }
    if (status == PCS_OK) status = pcs_tree_include(c, root);
    if (status != PCS_OK) return pcs_case_finish(c);
    c->root = root;
    return PCS_OK;
}

// The last component of a path, without `cut` bytes at its end.
static const char *load_stem(pcs_case *c, const char *path, size_t cut)
{
    const char *slash = strrchr(path, '/');
    const char *stem = slash == NULL ? path : slash + 1;
    size_t length = strlen(stem);
    return pcs_tree_text(c, stem, length - (cut < length ? cut : 0));
}

// .../bar/case.yaml and .../bar/case.resolved.yaml are the case `bar`; any other file gives its own name.
static pcs_status load_name(pcs_case *c)
{
    const char *slash = strrchr(c->file, '/');
    const char *base = slash == NULL ? c->file : slash + 1;
    c->folder = ".";
    if (slash != NULL) c->folder = pcs_tree_text(c, c->file, slash == c->file ? 1 : (size_t)(slash - c->file));
    if (c->folder == NULL) return PCS_NO_MEMORY;
    const char *dot = strrchr(base, '.');
    c->name = load_stem(c, c->file, dot == NULL || dot == base ? 0 : strlen(dot));
    if (strcmp(base, "case.yaml") == 0 || strcmp(base, "case.resolved.yaml") == 0) {
        char full[PATH_MAX];
        if (realpath(c->folder, full) != NULL && full[1] != '\0') c->name = load_stem(c, full, 0);
    }
    return c->name == NULL ? PCS_NO_MEMORY : PCS_OK;
}

pcs_status pcs_case_parse(pcs_context *ctx, const char *name, const char *text, size_t size, pcs_case **out)
{
    *out = NULL;
    pcs_case *c = NULL;
    PCS_TRY(pcs_tree_create(ctx, name, &c));
    PCS_TRY(load_name(c));
    PCS_TRY(load_tree(c, text, size));
    *out = c;
    return PCS_OK;
}

// A folder stands for the case.yaml in it.
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
    char file[4096];
    PCS_TRY(load_find_file(ctx, path, sizeof file, file));
    pcs_case *c = NULL;
    PCS_TRY(pcs_tree_create(ctx, file, &c));
    PCS_TRY(load_name(c));
    char *text = NULL;
    size_t size = 0;
    PCS_TRY(pcs_text_file(ctx, file, "the case", PCS_CASE_BYTES, &text, &size));
    pcs_status status = load_tree(c, text, size);
    pcs_scratch_free(text);
    if (status == PCS_OK) *out = c;
    return status;
}

pcs_status pcs_case_copy(pcs_context *ctx, const pcs_case *from, pcs_case **out)
{
    pcs_case *c = NULL;
    PCS_TAKE(ctx, c, 1, "the case");
    *c = (pcs_case){ .ctx = ctx, .file = from->file, .folder = from->folder, .name = from->name };
    c->nfile = c->file_room = from->nfile; // full: a further one takes a list of its own
    c->files = from->files;
    PCS_TAKE(ctx, c->messages, from->nmessage, "the case");
    if (from->nmessage > 0) memcpy(c->messages, from->messages, (size_t)from->nmessage * sizeof *c->messages);
    c->nmessage = c->message_room = from->nmessage;
    c->root = pcs_tree_copy(c, from->root, false);
    *out = c;
    return c->root == NULL ? pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: the case") : PCS_OK;
}
