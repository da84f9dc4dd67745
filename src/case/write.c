// A tree as strict YAML that loads again to the same values: block maps, lists in one line,
// numbers with the point and signed exponent that YAML 1.1 readers ask for, texts in quotes where needed.

#include "case/tree.h"
#include "core/archive.h"

#include <stdio.h>
#include <string.h>

enum { INDENT = 2, FIRST_ROOM = 1 << 14 };

// Text, as far as it fits; `used` counts the bytes of the complete text.
typedef struct output {
    char *text; // [room]
    size_t used, room;
    bool of_motion; // without keys that do not affect the motion
} output;

static void write_text(output *out, const char *text)
{
    size_t length = strlen(text), left = out->used < out->room ? out->room - out->used : 0;
    if (left > 0) memcpy(out->text + out->used, text, length < left ? length : left);
    out->used += length;
}

static bool write_is_letter(char x)
{
    return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || x == '_';
}

// Returns true if a text needs no quotes: letters, digits and - . /, a letter first, and no reserved word.
static bool write_is_plain(const char *text)
{
    static const char *const words[] = { "true", "false", "yes", "no", "on", "off", "y",    "n", "null",
                                         "True", "False", "Yes", "No", "On", "Off", "Y",    "N", "Null",
                                         "TRUE", "FALSE", "YES", "NO", "ON", "OFF", "NULL", NULL };
    for (int i = 0; words[i] != NULL; i++)
        if (words[i][0] == text[0] && strcmp(words[i], text) == 0) return false;
    if (!write_is_letter(text[0])) return false;
    while (write_is_letter(*text) || (*text >= '-' && *text <= '9')) text++;
    return *text == '\0';
}

static void write_quoted(output *out, const char *text)
{
    write_text(out, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char x = (unsigned char)*p;
        if (x == '"' || x == '\\') {
            write_text(out, "\\");
            write_text(out, (char[2]){ *p });
        } else if (x < 0x20 || x == 0x7f) {
            char code[8];
            snprintf(code, sizeof code, "\\x%02X", x);
            write_text(out, code);
        } else if (x == '$' && p[1] == '{') { // no formula
            write_text(out, "$$");
        } else {
            write_text(out, (char[2]){ *p });
        }
    }
    write_text(out, "\"");
}

static void write_scalar(output *out, const pcs_yaml *node)
{
    bool is_flag = !node->is_quoted && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0);
    double value;
    if (node->is_number && strlen(node->text) < 512) {
        char number[600];
        pcs_scalar_normalize(node->text, sizeof number, number);
        write_text(out, number);
    } else if (node->is_number || is_flag || (!node->is_quoted && write_is_plain(node->text))) {
        write_text(out, node->text);
    } else if (!node->is_quoted && pcs_scalar_number(node->text, &value) == PCS_NUMBER_FINE) {
        write_text(out, node->text);
    } else {
        write_quoted(out, node->text);
    }
}

static void write_key(output *out, const pcs_key *key)
{
    if (write_is_plain(key->name)) write_text(out, key->name);
    else write_quoted(out, key->name);
    write_text(out, ":");
}

// Writes a node in one line.
static void write_flat(output *out, const pcs_yaml *node)
{
    bool is_map = node->kind == PCS_YAML_MAP;
    if (node->kind == PCS_YAML_SCALAR) {
        write_scalar(out, node);
        return;
    }
    write_text(out, is_map ? "{" : "[");
    for (int i = 0; i < node->count; i++) {
        if (i > 0) write_text(out, ", ");
        if (is_map) write_key(out, &node->keys[i]);
        if (is_map) write_text(out, " ");
        write_flat(out, node->items[i]);
    }
    write_text(out, is_map ? "}" : "]");
}

// Returns true if the motion does not depend on an entry of the case.
static bool write_is_left_out(const pcs_yaml *item)
{
    static const char *const paths[] = { "title",   "output",     "initial",  "start", "statics",
                                         "certify", "resolution", "time.end", NULL };
    char path[PCS_PATH_BYTES];
    int k = 0;
    pcs_tree_path(item, sizeof path, path);
    while (paths[k] != NULL && strcmp(paths[k], path) != 0) k++;
    return paths[k] != NULL;
}

// Writes a line per entry of a map, or a block for a map in it.
static void write_block(output *out, const pcs_yaml *map, int indent)
{
    for (int i = 0; i < map->count; i++) {
        const pcs_yaml *item = map->items[i];
        bool is_block = item->kind == PCS_YAML_MAP && item->count > 0;
        if (out->of_motion && indent <= INDENT && write_is_left_out(item)) continue;
        for (int k = 0; k < indent; k++) write_text(out, " ");
        write_key(out, &map->keys[i]);
        write_text(out, is_block ? "\n" : " ");
        if (is_block) {
            write_block(out, item, indent + INDENT);
            continue;
        }
        write_flat(out, item);
        write_text(out, "\n");
    }
}

// Writes the tree into scratch memory, with a second pass if the first piece was too small; NULL if memory is out.
static char *write_all(const pcs_case *c, bool of_motion, size_t *size)
{
    output out = { .room = FIRST_ROOM, .of_motion = of_motion };
    for (int k = 0; k < 2; k++) {
        out.text = pcs_scratch(NULL, out.room, 1);
        out.used = 0;
        if (out.text == NULL) return NULL;
        write_text(&out, "# The case as it was run, all defaults written out.\n");
        write_block(&out, c->root, 0);
        if (out.used <= out.room) break;
        pcs_scratch_free(out.text);
        out.room = out.used;
    }
    *size = out.used;
    return out.text;
}

pcs_status pcs_case_hash(const pcs_case *c, unsigned long long *hash)
{
    size_t size = 0;
    char *all = write_all(c, false, &size);
    if (all == NULL) return pcs_fail(c->ctx, PCS_NO_MEMORY, "out of memory: the case as text");
    *hash = pcs_hash(PCS_HASH_START, all, size);
    pcs_scratch_free(all);
    return PCS_OK;
}

pcs_status pcs_case_dump(pcs_case *c, bool of_motion, char **text)
{
    size_t size = 0;
    char *all = c->dump[of_motion] == NULL ? write_all(c, of_motion, &size) : NULL;
    if (all != NULL) c->dump[of_motion] = pcs_take(c->ctx, size + 1, 1, "the case as text");
    if (all != NULL && c->dump[of_motion] != NULL) memcpy(c->dump[of_motion], all, size);
    pcs_scratch_free(all);
    *text = c->dump[of_motion];
    return *text == NULL ? pcs_fail(c->ctx, PCS_NO_MEMORY, "out of memory: the case as text") : PCS_OK;
}
