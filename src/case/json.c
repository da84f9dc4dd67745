// Reads JSON: values are nodes of a tree as those of YAML are; null, numbers and flags keep their texts.

#include "case/json.h"
#include "case/tree.h"
#include "core/text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// Where the reader stands.
typedef struct reader {
    pcs_case *c;
    const char *begin, *at, *end;
    char *text;          // [size of the file + 8] a string without its escapes
    const char *skipped; // key of the root whose value is passed over; NULL: none
} reader;

static pcs_status json_fail(const reader *r, const char *what)
{
    int line = 1;
    for (const char *p = r->begin; p < r->at && p < r->end; p++) line += *p == '\n';
    return pcs_fail(r->c->ctx, PCS_BAD_INPUT, "%s:%d: %s", r->c->file, line, what);
}

// The next character that is no blank; 0 at the end.
static char json_next(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')) r->at++;
    return r->at < r->end ? *r->at : '\0';
}

// A code point as UTF-8; gives its length.
static size_t json_utf8(unsigned long code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t more = 1;
    if (code > 0x7FF) more = code > 0xFFFF ? 3 : 2;
    static const unsigned char heads[] = { 0, 0xC0, 0xE0, 0xF0 };
    for (size_t k = more; k > 0; k--, code >>= 6) out[k] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(heads[more] | code);
    return more + 1;
}

// Four hexadecimal digits; false: there are none.
static bool json_hex(const reader *r, const char *p, unsigned long *out)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    *out = 0;
    for (int k = 0; k < 4; k++) {
        const char *found = p + k < r->end && p[k] != '\0' ? strchr(digits, p[k]) : NULL;
        if (found == NULL) return false;
        *out = 16 * *out + (unsigned long)((found - digits) % 16);
    }
    return true;
}

// What follows a backslash; gives the length of what it stands for, 0: nothing.
static size_t json_escape(reader *r, char *out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    unsigned long code, low;
    char c = r->at + 1 < r->end ? r->at[1] : '\0';
    const char *simple = c == '\0' ? NULL : strchr(names, c);
    r->at += 2;
    if (simple != NULL) {
        *out = values[simple - names];
        return 1;
    }
    if (c != 'u' || !json_hex(r, r->at, &code)) return 0;
    r->at += 4;
    bool is_pair = code >= 0xD800 && code < 0xDC00 && r->at + 1 < r->end && r->at[0] == '\\' && r->at[1] == 'u' &&
                   json_hex(r, r->at + 2, &low) && low >= 0xDC00 && low < 0xE000;
    if (is_pair) code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    if (is_pair) r->at += 6;
    return json_utf8(code, out);
}

static pcs_status json_quoted(reader *r, const char **out)
{
    size_t used = 0;
    const char *begin = ++r->at;
    while (r->at < r->end && *r->at != '"' && *r->at != '\\') r->at++;
    if (r->at < r->end && *r->at == '"') { // nothing stands for something else
        *out = pcs_tree_text(r->c, begin, (size_t)(r->at++ - begin));
        return *out == NULL ? PCS_NO_MEMORY : PCS_OK;
    }
    for (r->at = begin; r->at < r->end && *r->at != '"';) {
        size_t length = 1;
        if (*r->at == '\\') length = json_escape(r, r->text + used);
        else r->text[used] = *r->at++;
        if (length == 0) return json_fail(r, "an escape that is none");
        used += length;
    }
    if (r->at >= r->end) return json_fail(r, "a text that does not end");
    r->at++;
    *out = pcs_tree_text(r->c, r->text, used);
    return *out == NULL ? PCS_NO_MEMORY : PCS_OK;
}

static bool json_ends_value(char x)
{
    return x == ',' || x == ']' || x == '}' || x == ' ' || x == '\n' || x == '\t' || x == '\r' || x == '\0';
}

static pcs_status json_scalar(reader *r, pcs_yaml *node)
{
    node->is_quoted = json_next(r) == '"';
    if (node->is_quoted) return json_quoted(r, &node->text);
    const char *begin = r->at;
    while (r->at < r->end && !json_ends_value(*r->at)) r->at++;
    if (r->at == begin) return json_fail(r, "a value is missing");
    node->text = pcs_tree_text(r->c, begin, (size_t)(r->at - begin));
    return node->text == NULL ? PCS_NO_MEMORY : PCS_OK;
}

// To the end of a value, as an empty text.
static pcs_status json_skip(reader *r, pcs_yaml **out)
{
    long depth = 0;
    bool is_quoted = false;
    for (; r->at < r->end; r->at++) {
        char c = *r->at;
        if (is_quoted && c == '\\') r->at++;
        else if (c == '"') is_quoted = !is_quoted;
        if (is_quoted) continue;
        if (depth == 0 && strchr(",}]", c) != NULL) break;
        depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    }
    if (r->at >= r->end) return json_fail(r, "it does not end");
    *out = pcs_tree_node(r->c, PCS_YAML_SCALAR, (pcs_location){ 0 });
    if (*out == NULL) return PCS_NO_MEMORY;
    (*out)->text = "";
    return PCS_OK;
}

static pcs_status json_value(reader *r, int depth, pcs_yaml **out);

// An entry of an object or list.
static pcs_status json_entry(reader *r, int depth, pcs_yaml *node)
{
    pcs_key key = { 0 };
    pcs_yaml *item = NULL;
    bool is_map = node->kind == PCS_YAML_MAP;
    if (is_map && json_next(r) != '"') return json_fail(r, "a key in quotes is wanted");
    if (is_map) PCS_TRY(json_quoted(r, &key.name));
    if (is_map && json_next(r) != ':') return json_fail(r, "a colon is wanted");
    if (is_map) r->at++;
    bool is_skipped = is_map && depth == 0 && r->skipped != NULL && strcmp(key.name, r->skipped) == 0;
    PCS_TRY(is_skipped ? json_skip(r, &item) : json_value(r, depth + 1, &item));
    bool is_kept = is_map ? pcs_tree_add_key(r->c, node, &key, item) : pcs_tree_add_item(r->c, node, item);
    return is_kept ? PCS_OK : PCS_NO_MEMORY;
}

static pcs_status json_value(reader *r, int depth, pcs_yaml **out)
{
    char first = json_next(r), last = first == '{' ? '}' : ']';
    pcs_yaml_kind kind = PCS_YAML_SCALAR;
    if (first == '{') kind = PCS_YAML_MAP;
    if (first == '[') kind = PCS_YAML_LIST;
    *out = pcs_tree_node(r->c, kind, (pcs_location){ 0 });
    if (*out == NULL) return PCS_NO_MEMORY;
    if (kind == PCS_YAML_SCALAR) return json_scalar(r, *out);
    if (depth == PCS_CASE_DEPTH) return json_fail(r, "nested too deeply");
    r->at++;
    for (bool goes_on = json_next(r) != last; goes_on;) {
        PCS_TRY(json_entry(r, depth, *out));
        goes_on = json_next(r) == ',';
        if (goes_on) r->at++;
        else if (json_next(r) != last) return json_fail(r, "a comma or the end of a list or object is wanted");
    }
    r->at++;
    return PCS_OK;
}

static pcs_status json_parse(reader *r)
{
    if (json_next(r) != '{') return json_fail(r, "this is no JSON object");
    PCS_TRY(json_value(r, 0, &r->c->root));
    return json_next(r) == '\0' ? PCS_OK : json_fail(r, "text behind the end");
}

pcs_status pcs_json_load(pcs_context *ctx, const char *path, const pcs_yaml **root)
{
    return pcs_json_load_but(ctx, path, NULL, root);
}

pcs_status pcs_json_load_but(pcs_context *ctx, const char *path, const char *key, const pcs_yaml **root)
{
    char *text = NULL;
    size_t size = 0;
    pcs_case *c = NULL;
    PCS_TRY(pcs_tree_create(ctx, path, &c));
    pcs_status opened = pcs_text_file(ctx, path, "the results", PCS_TEXT_MOST, &text, &size);
    if (opened != PCS_OK) return opened == PCS_IO_ERROR ? PCS_BAD_INPUT : opened;
    reader r = { .c = c, .begin = text, .at = text, .end = text + size, .skipped = key };
    r.text = pcs_scratch(NULL, size + 8, 1);
    pcs_status status = r.text == NULL ? PCS_NO_MEMORY : json_parse(&r);
    pcs_scratch_free(r.text);
    pcs_scratch_free(text);
    if (status == PCS_NO_MEMORY) pcs_fail(ctx, status, "out of memory: reading %s", path);
    if (status == PCS_OK) *root = c->root;
    return status;
}

static const pcs_yaml *json_child(const pcs_yaml *map, const char *key, size_t length)
{
    if (pcs_yaml_get_kind(map) != PCS_YAML_MAP) return NULL;
    for (int i = 0; i < pcs_yaml_count(map); i++) {
        const char *name = pcs_yaml_key(map, i);
        if (strlen(name) == length && strncmp(name, key, length) == 0) return pcs_yaml_item(map, i);
    }
    return NULL;
}

const pcs_yaml *pcs_json_at(const pcs_yaml *map, const char *place)
{
    while (map != NULL && *place != '\0') {
        size_t length = strcspn(place, ".");
        map = json_child(map, place, length);
        place += length + (place[length] == '.');
    }
    bool is_null = map != NULL && pcs_yaml_get_kind(map) == PCS_YAML_SCALAR && strcmp(pcs_yaml_text(map), "null") == 0;
    return is_null ? NULL : map;
}

const char *pcs_json_string(const pcs_yaml *map, const char *place)
{
    const pcs_yaml *node = pcs_json_at(map, place);
    return node == NULL || pcs_yaml_get_kind(node) != PCS_YAML_SCALAR ? "" : pcs_yaml_text(node);
}

double pcs_json_number(const pcs_yaml *map, const char *place)
{
    const char *end, *text = pcs_json_string(map, place);
    double value = pcs_text_number(text, &end);
    return end != text && *end == '\0' ? value : NAN;
}

int pcs_json_count(const pcs_yaml *map, const char *place)
{
    const pcs_yaml *node = pcs_json_at(map, place);
    return node == NULL || pcs_yaml_get_kind(node) != PCS_YAML_LIST ? 0 : pcs_yaml_count(node);
}
