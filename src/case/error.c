// Collects the errors of a case and reports them all at once, in the order of the file.
// Offers the nearest name for a misspelt one.

#include "case/case.h"
#include "case/tree.h"
#include "core/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The nearest of some names to a misspelt one, by the optimal string alignment distance: insertions,
// deletions, substitutions and swaps of neighbours cost 1; upper and lower case are the same letter.

enum { LONGEST = 48 }; // of the names that are offered

static int spelling_distance(const char *a, int na, const char *b, int nb)
{
    int row[3][LONGEST + 1]; // row i, i-1 and i-2 of the table, i modulo 3
    for (int j = 0; j <= nb; j++) row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            bool is_swap =
                i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]);
            int ways[] = { last[j] + 1, now[j - 1] + 1, is_swap ? before[j - 2] + 1 : INT_MAX };
            now[j] = last[j - 1] + (x != y);
            for (int k = 0; k < 3; k++) now[j] = ways[k] < now[j] ? ways[k] : now[j];
        }
    }
    return row[na % 3][nb];
}

const char *pcs_join_names(const char *const *names, const char *separator, size_t size, char *buffer)
{
    buffer[0] = '\0';
    for (int i = 0; names[i] != NULL; i++) pcs_text_add(buffer, size, "%s%s", i == 0 ? "" : separator, names[i]);
    return buffer;
}

const char *pcs_spelling_hint(const char *name, const char *const *names, size_t size, char *buffer)
{
    size_t length = strlen(name);
    // Allows fewer changes to short names, which are close to everything.
    int best = length <= 3 ? 2 : 3;
    if (length <= 2) best = 1;
    const char *found = NULL;
    buffer[0] = '\0';
    if (length >= INT_MAX) return buffer;
    for (int i = 0; names[i] != NULL; i++) {
        size_t other = strlen(names[i]);
        if (other > LONGEST) continue;
        int distance = spelling_distance(name, (int)length, names[i], (int)other);
        if (distance < best) {
            best = distance;
            found = names[i];
        }
    }
    if (found != NULL) snprintf(buffer, size, ", did you mean '%s'?", found);
    return buffer;
}

enum { REPORT_BYTES = 15000, TAIL_BYTES = 64 };

// Returns true if a message about this value, or about another copy of its entry, exists already.
static bool error_is_reported(const pcs_case *c, pcs_location location)
{
    if (location.is_faulty || !location.is_copy) return location.is_faulty;
    for (int i = 0; i < c->nmessage; i++) {
        const pcs_location *other = &c->messages[i].location;
        bool is_here = other->file == location.file && other->line == location.line;
        if (is_here && other->column == location.column && other->origin == location.origin) return true;
    }
    return false;
}

static void error_record(pcs_case *c, pcs_location location, const char *head, const char *format, va_list arguments)
{
    if (error_is_reported(c, location)) return;
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    size_t nhead = strlen(head), nbody = length < 0 ? 0 : (size_t)length;
    char *text = pcs_tree_take(c, nhead + nbody + 1);
    if (text == NULL) return;
    memcpy(text, head, nhead);
    vsnprintf(text + nhead, nbody + 1, format, arguments);
    if (!pcs_tree_reserve(c, &c->messages, c->nmessage, &c->message_room, sizeof *c->messages)) return;
    c->messages[c->nmessage] = (pcs_case_message){ .location = location, .number = c->nmessage, .text = text };
    c->nmessage++;
}

void pcs_tree_error(pcs_case *c, pcs_location location, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_record(c, location, "", format, arguments);
    va_end(arguments);
}

static pcs_location error_location(const pcs_yaml *node)
{
    return node == NULL ? (pcs_location){ .line = 1, .column = 1 } : node->location;
}

void pcs_case_reject(pcs_case *c, const pcs_yaml *node, const char *format, ...)
{
    char head[PCS_PATH_BYTES + 1];
    pcs_tree_path(node, PCS_PATH_BYTES, head);
    strcat(head, head[0] == '\0' ? "" : " ");
    va_list arguments;
    va_start(arguments, format);
    error_record(c, error_location(node), head, format, arguments);
    va_end(arguments);
}

void pcs_case_error_at(pcs_case *c, const pcs_yaml *map, const char *key, const char *format, ...)
{
    char head[PCS_PATH_BYTES + 2];
    pcs_tree_path(map, PCS_PATH_BYTES, head);
    strcat(head, head[0] == '\0' ? "" : ": ");
    int i = key == NULL ? -1 : pcs_tree_index(map, key);
    va_list arguments;
    va_start(arguments, format);
    error_record(c, error_location(i < 0 ? map : map->items[i]), head, format, arguments);
    va_end(arguments);
}

// Quotes a value for a message, without control characters and shortened if it is long.
const char *pcs_tree_quote(const pcs_yaml *node, size_t size, char *buffer)
{
    if (node->kind != PCS_YAML_SCALAR) {
        const char *kind = node->kind == PCS_YAML_LIST ? "list" : "map";
        snprintf(buffer, size, "%s %s", node->count == 0 ? "an empty" : "a", kind);
        return buffer;
    }
    if (node->text[0] == '\0' && !node->is_quoted) {
        snprintf(buffer, size, "empty");
        return buffer;
    }
    size_t used = (size_t)snprintf(buffer, size, "%s", node->is_quoted ? "the text '" : "'");
    const char *p = node->text;
    for (; *p != '\0' && used < size - 8; p++) {
        buffer[used++] = (unsigned char)*p < 0x20 || *p == 0x7f ? ' ' : *p;
    }
    bool is_cut = *p != '\0';
    while (is_cut && used > 0 && ((unsigned char)*p & 0xc0) == 0x80) { // do not cut within a UTF-8 character
        used--;
        p--;
    }
    snprintf(buffer + used, size - used, "%s", is_cut ? "...'" : "'");
    return buffer;
}

bool pcs_case_want(pcs_case *c, const pcs_yaml *node, const char *wanted)
{
    char quote[PCS_QUOTE_BYTES];
    pcs_case_reject(c, node, "must be %s, is %s", wanted, pcs_tree_quote(node, sizeof quote, quote));
    return false;
}

// Writes a list of plain values as "[0, 0, 0]", any other node as pcs_tree_quote does.
static const char *error_show(const pcs_yaml *node, size_t size, char *buffer)
{
    bool is_plain = node->kind == PCS_YAML_LIST && node->count > 0;
    for (int i = 0; is_plain && i < node->count; i++) is_plain = node->items[i]->kind == PCS_YAML_SCALAR;
    if (!is_plain) return pcs_tree_quote(node, size, buffer);
    buffer[0] = '\0';
    for (int i = 0; i < node->count; i++) pcs_text_add(buffer, size, "%s%s", i == 0 ? "[" : ", ", node->items[i]->text);
    pcs_text_add(buffer, size, "]");
    return strlen(buffer) + 1 < size ? buffer : pcs_tree_quote(node, size, buffer);
}

void pcs_case_fault(pcs_case *c, const pcs_yaml *map, const char *key, const char *fault)
{
    char value[PCS_QUOTE_BYTES];
    int i = key == NULL ? -1 : pcs_tree_index(map, key);
    if (i < 0 || map->items[i]->kind == PCS_YAML_MAP) pcs_case_error_at(c, map, key, "%s", fault);
    else pcs_case_error_at(c, map, key, "%s; %s is %s", fault, key, error_show(map->items[i], sizeof value, value));
}

static int error_compare(const void *a, const void *b)
{
    const pcs_case_message *x = a, *y = b;
    bool x_is_set = x->location.origin != NULL, y_is_set = y->location.origin != NULL;
    if (x_is_set != y_is_set) return x_is_set ? 1 : -1;
    if (!x_is_set && x->location.file != y->location.file) return x->location.file < y->location.file ? -1 : 1;
    if (!x_is_set && x->location.line != y->location.line) return x->location.line < y->location.line ? -1 : 1;
    if (!x_is_set && x->location.column != y->location.column) return x->location.column < y->location.column ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static pcs_status error_join(pcs_case *c)
{
    char *report = pcs_scratch(NULL, REPORT_BYTES, 1);
    if (report == NULL) return pcs_fail(c->ctx, PCS_NO_MEMORY, "out of memory: messages about %s", c->file);
    qsort(c->messages, (size_t)c->nmessage, sizeof *c->messages, error_compare);
    report[0] = '\0';
    for (int i = 0; i < c->nmessage; i++) {
        const pcs_location *at = &c->messages[i].location;
        size_t before = strlen(report), room = REPORT_BYTES - TAIL_BYTES;
        if (i > 0) pcs_text_add(report, room, "\n");
        if (at->origin != NULL) pcs_text_add(report, room, "%s: ", at->origin);
        else pcs_text_add(report, room, "%s:%d:%d: ", c->files[at->file], at->line, at->column);
        pcs_text_add(report, room, "%s", c->messages[i].text);
        if (strlen(report) + 1 < room) continue;
        if (i > 0) report[before] = '\0'; // of one giant message the part that fits is kept
        int rest = c->nmessage - i - (i == 0);
        if (rest > 0) pcs_text_add(report, REPORT_BYTES, "\n... and %d more errors", rest);
        break;
    }
    pcs_status status = pcs_fail(c->ctx, PCS_BAD_INPUT, "%s", report);
    pcs_scratch_free(report);
    return status;
}

static void error_unknown_key(pcs_case *c, const pcs_yaml *map, pcs_key *key)
{
    char path[PCS_PATH_BYTES], hint[PCS_SPELLING_BYTES], allowed[1024];
    const char *const *names = map->nknown == 0 ? (const char *const[]){ NULL } : map->known;
    pcs_spelling_hint(key->name, names, sizeof hint, hint);
    static const char *const everywhere[] = { "repeat", "include", NULL }; // keys that no reader looks up
    if (hint[0] == '\0') pcs_spelling_hint(key->name, everywhere, sizeof hint, hint);
    pcs_yaml name = { .text = key->name, .is_quoted = false };
    char quoted[PCS_QUOTE_BYTES];
    pcs_tree_quote(&name, sizeof quoted, quoted);
    pcs_tree_path(map, sizeof path, path);
    pcs_tree_error(c, key->location, "%s%sunknown key %s%s allowed: %s", path, path[0] == '\0' ? "" : ": ", quoted,
                   hint[0] == '\0' ? "," : hint,
                   map->nknown == 0 ? "none" : pcs_join_names(names, ", ", sizeof allowed, allowed));
    key->is_reported = true;
}

// Returns true if an entry of a map came through an assignment.
static bool error_is_assigned(const pcs_yaml *map, int i)
{
    return map->keys[i].location.origin != NULL || map->items[i]->location.origin != NULL;
}

static void error_drop(pcs_case *c, pcs_yaml *map, int i)
{
    char path[PCS_PATH_BYTES];
    pcs_tree_path(map->items[i], sizeof path, path);
    pcs_case_note(c, "%s of the file is left out: the type is another one by an assignment", path);
    pcs_tree_remove_key(map, i);
}

void pcs_case_forgive(pcs_case *c, pcs_yaml *map)
{
    int type = pcs_tree_index(map, "type"), nassigned = 0;
    map->is_forgiven = type >= 0 && error_is_assigned(map, type);
    for (int i = 0; i < map->count; i++) nassigned += error_is_assigned(map, i);
    if (!map->is_forgiven || nassigned == 1) return;
    for (int i = map->count - 1; i >= 0; i--)
        if (!error_is_assigned(map, i)) error_drop(c, map, i);
}

void pcs_case_judge(pcs_case *c, pcs_yaml *node)
{
    if (node->is_unjudged) return;
    for (int i = node->count - 1; i >= 0; i--)
        if (node->is_forgiven && !node->keys[i].is_known && !error_is_assigned(node, i)) error_drop(c, node, i);
    for (int i = 0; i < node->count; i++) {
        if (node->kind == PCS_YAML_MAP && !node->keys[i].is_known) {
            if (!node->keys[i].is_reported) error_unknown_key(c, node, &node->keys[i]);
            continue;
        }
        pcs_case_judge(c, node->items[i]);
    }
}

void pcs_case_note(pcs_case *c, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t before = c->notes == NULL ? 0 : strlen(c->notes), length = strlen(line);
    char *notes = pcs_tree_take(c, before + length + 2);
    if (notes == NULL) return;
    if (before > 0) memcpy(notes, c->notes, before);
    memcpy(notes + before, line, length);
    memcpy(notes + before + length, "\n", 2);
    c->notes = notes;
}

const char *pcs_case_notes(const pcs_case *c)
{
    return c->notes == NULL ? "" : c->notes;
}

int pcs_case_error_count(const pcs_case *c)
{
    return c->nmessage;
}

pcs_status pcs_case_finish(pcs_case *c)
{
    if (c->root != NULL) pcs_case_judge(c, c->root);
    if (c->is_out_of_memory) return pcs_fail(c->ctx, PCS_NO_MEMORY, "out of memory: reading %s", c->file);
    return c->nmessage == 0 ? PCS_OK : error_join(c);
}
