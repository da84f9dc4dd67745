// A tree as strict YAML that loads again to the same values: block maps, lists of single values in one line,
// numbers with the point and signed exponent that YAML 1.1 readers ask for, texts in quotes where needed.

#define _POSIX_C_SOURCE 200809L // fmemopen

#include "case/tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 2, FIRST_ROOM = 1 << 16, MOST_ROOM = 1 << 28 };

static bool write_is_reserved(const char *text)
{
    static const char *const words[] = { "true", "false", "yes", "no", "on", "off", "y",    "n", "null",
                                         "True", "False", "Yes", "No", "On", "Off", "Y",    "N", "Null",
                                         "TRUE", "FALSE", "YES", "NO", "ON", "OFF", "NULL", NULL };
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) return true;
    }
    return false;
}

// Letters, digits and a few signs never need quotes when a letter comes first.
static bool write_is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.-/";
    if (text[0] == '\0' || strchr(letters, text[0]) == NULL) return false;
    return strspn(text, others) == strlen(text) && !write_is_reserved(text);
}

static void write_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char x = (unsigned char)*p;
        if (x == '"' || x == '\\') {
            fprintf(file, "\\%c", x);
        } else if (x < 0x20 || x == 0x7f) {
            fprintf(file, "\\x%02X", x);
        } else if (x == '$' && p[1] == '{') { // no formula
            fputs("$$", file);
        } else {
            fputc(x, file);
        }
    }
    fputc('"', file);
}

static void write_scalar(FILE *file, const pcs_yaml *node)
{
    bool is_flag = !node->is_quoted && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0);
    double value;
    if (node->is_number && strlen(node->text) < 512) {
        char number[600];
        pcs_scalar_normalize(node->text, sizeof number, number);
        fputs(number, file);
    } else if (node->is_number || is_flag || (!node->is_quoted && write_is_plain(node->text))) {
        fputs(node->text, file);
    } else if (!node->is_quoted && pcs_scalar_number(node->text, &value) == PCS_NUMBER_FINE) {
        fputs(node->text, file);
    } else {
        write_quoted(file, node->text);
    }
}

static void write_key(FILE *file, const char *key)
{
    if (write_is_plain(key)) {
        fputs(key, file);
    } else {
        write_quoted(file, key);
    }
}

// Fits a list into one line?
static bool write_is_flat(const pcs_yaml *list)
{
    for (int i = 0; i < list->count; i++) {
        const pcs_yaml *item = list->items[i];
        if (item->kind == PCS_YAML_MAP || (item->kind == PCS_YAML_LIST && !write_is_flat(item))) return false;
    }
    return true;
}

static void write_flat(FILE *file, const pcs_yaml *list)
{
    fputc('[', file);
    for (int i = 0; i < list->count; i++) {
        if (i > 0) fputs(", ", file);
        if (list->items[i]->kind == PCS_YAML_LIST) {
            write_flat(file, list->items[i]);
        } else {
            write_scalar(file, list->items[i]);
        }
    }
    fputc(']', file);
}

static void write_block(FILE *file, const pcs_yaml *node, int indent, bool is_begun);

// What follows `key:` or `-`, up to the end of the line or block.
static void write_value(FILE *file, const pcs_yaml *node, int indent)
{
    if (node->kind == PCS_YAML_SCALAR) {
        fputc(' ', file);
        write_scalar(file, node);
        fputc('\n', file);
    } else if (node->count == 0) {
        fputs(node->kind == PCS_YAML_MAP ? " {}\n" : " []\n", file);
    } else if (node->kind == PCS_YAML_LIST && write_is_flat(node)) {
        fputc(' ', file);
        write_flat(file, node);
        fputc('\n', file);
    } else if (node->kind == PCS_YAML_MAP && node->parent->kind == PCS_YAML_LIST) {
        fputc(' ', file);
        write_block(file, node, indent + INDENT, true);
    } else {
        fputc('\n', file);
        write_block(file, node, indent + INDENT, false);
    }
}

static void write_entry(FILE *file, const pcs_yaml *node, int i, int indent)
{
    if (node->kind == PCS_YAML_MAP) {
        write_key(file, node->keys[i].name);
        fputc(':', file);
    } else {
        fputc('-', file);
    }
    write_value(file, node->items[i], indent);
}

// One line or block per entry; `is_begun`: the first line is indented already, by the dash of a list.
static void write_block(FILE *file, const pcs_yaml *node, int indent, bool is_begun)
{
    for (int i = 0; i < node->count; i++) {
        for (int k = 0; k < indent && (i > 0 || !is_begun); k++) fputc(' ', file);
        write_entry(file, node, i, indent);
    }
}

// All keys of a map but these.
static void write_others(FILE *file, const pcs_yaml *map, const char *const *left_out)
{
    for (int i = 0; i < map->count; i++) {
        bool is_written = true;
        for (int k = 0; left_out[k] != NULL; k++)
            is_written = is_written && strcmp(map->keys[i].name, left_out[k]) != 0;
        if (is_written) write_entry(file, map, i, 0);
    }
}

static void write_motion(FILE *file, const pcs_yaml *root)
{
    static const char *const whole[] = { "title", "output", "initial", "start", "statics", "certify", "time", NULL };
    static const char *const of_time[] = { "end", NULL };
    write_others(file, root, whole);
    for (int i = 0; i < root->count; i++)
        if (strcmp(root->keys[i].name, "time") == 0 && root->items[i]->kind == PCS_YAML_MAP)
            write_others(file, root->items[i], of_time);
}

// Fills the buffer of a stream and closes it; false when that is too small.
static bool write_into(pcs_case *c, bool of_motion, FILE *file, size_t room, size_t *size)
{
    if (of_motion) write_motion(file, c->root);
    else write_block(file, c->root, 0, false);
    bool is_bad = fflush(file) != 0 || ferror(file) != 0;
    long used = ftell(file);
    *size = used < 0 ? 0 : (size_t)used;
    return fclose(file) == 0 && !is_bad && used >= 0 && *size < room;
}

pcs_status pcs_case_dump(pcs_case *c, bool of_motion, char **text, size_t *size)
{
    bool is_out = false;
    *text = c->dump[of_motion];
    *size = c->dump_size[of_motion];
    for (size_t room = FIRST_ROOM; room <= MOST_ROOM && *text == NULL && !is_out; room *= 4) {
        char *buffer = pcs_scratch(NULL, room, 1);
        FILE *file = buffer == NULL ? NULL : fmemopen(buffer, room, "w");
        bool is_whole = file != NULL && write_into(c, of_motion, file, room, size);
        if (is_whole) *text = pcs_take(c->ctx, *size + 1, 1, "the case as text");
        if (*text != NULL) memcpy(*text, buffer, *size);
        is_out = file == NULL || (is_whole && *text == NULL);
        pcs_scratch_free(buffer);
    }
    c->dump[of_motion] = *text;
    c->dump_size[of_motion] = *size;
    return *text == NULL ? pcs_fail(c->ctx, PCS_NO_MEMORY, "out of memory: the case as text") : PCS_OK;
}

pcs_status pcs_case_write(pcs_case *c, const char *path)
{
    char aside[4096];
    int length = snprintf(aside, sizeof aside, "%s.part", path);
    if (length < 0 || (size_t)length >= sizeof aside) {
        return pcs_fail(c->ctx, PCS_IO_ERROR, "the path '%.60s...' is too long", path);
    }
    FILE *file = fopen(aside, "w");
    if (file == NULL) return pcs_fail(c->ctx, PCS_IO_ERROR, "cannot write '%s': %s", aside, strerror(errno));
    fputs(PCS_CASE_HEAD, file);
    write_block(file, c->root, 0, false);
    bool is_bad = ferror(file) != 0;
    if (fclose(file) != 0) is_bad = true;
    if (!is_bad && rename(aside, path) != 0) is_bad = true;
    if (!is_bad) return PCS_OK;
    int reason = errno;
    remove(aside);
    return pcs_fail(c->ctx, PCS_IO_ERROR, "cannot write '%s': %s", path, strerror(reason));
}
