// YAML text into a tree of nodes, through libyaml's events. Of YAML we take maps, lists and scalars: anchors,
// aliases, tags and several documents are errors, keys are unique and plain text.
//
// YAML ends a plain text within { } and [ ] at the signs , { } [ ] and everywhere at ": " and " #". So that
// [${L/2}, ${max(a, b)}] can be written without quotes, those signs are hidden within ${...}: sign x becomes the
// character U+E000 + x of the private area, and the texts that come out of the parser take it back. Counts of
// characters stay, and with them lines and columns.

#include "case/tree.h"
#include "core/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

// Numbers as text: the strict grammar of a case file, ranges, and writing that reads back to the same bits.
//
//   number  [+-] (digits [. digits*] | . digits) [(e|E) [+-] digits],  no leading zeros before a digit
//   count   [+-] digits

static bool scalar_is_number(const char *text)
{
    static const char digits[] = "0123456789";
    const char *p = text + (text[0] == '-' || text[0] == '+');
    size_t whole = strspn(p, digits), fraction = 0;
    if (whole > 1 && p[0] == '0') return false; // some readers take 010 for 8
    p += whole;
    if (*p == '.') fraction = strspn(++p, digits);
    p += fraction;
    if (whole + fraction == 0) return false;
    if (*p != 'e' && *p != 'E') return *p == '\0';
    p += p[1] == '-' || p[1] == '+' ? 2 : 1;
    size_t exponent = strspn(p, digits);
    return exponent > 0 && p[exponent] == '\0';
}

pcs_number_form pcs_scalar_number(const char *text, double *value)
{
    static const char *const special[] = { "nan", "inf", "infinity", ".nan", ".inf" };
    const char *size = text + (text[0] == '-' || text[0] == '+');
    *value = NAN;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcasecmp(size, special[i]) == 0) return PCS_NUMBER_NOT_FINITE;
    if (!scalar_is_number(text)) return PCS_NUMBER_IS_TEXT;
    double number = pcs_text_number(text, &(const char *){ NULL });
    if (!isfinite(number)) return PCS_NUMBER_NOT_FINITE;
    if (number == 0.0 && strcspn(text, "123456789") < strcspn(text, "eE")) return PCS_NUMBER_TOO_SMALL;
    *value = number;
    return PCS_NUMBER_FINE;
}

bool pcs_scalar_count(const char *text, long *value)
{
    if (!scalar_is_number(text) || strpbrk(text, ".eE") != NULL) return false;
    errno = 0;
    *value = strtol(text, NULL, 10);
    return errno == 0;
}

void pcs_scalar_normalize(const char *text, size_t size, char *buffer)
{
    size_t mantissa = strcspn(text, "eE"), sign = text[0] == '-' || text[0] == '+';
    const char *exponent = text + mantissa, *point = memchr(text, '.', mantissa);
    if (!scalar_is_number(text) || *exponent == '\0') {
        snprintf(buffer, size, "%s", text);
        return;
    }
    snprintf(buffer, size, "%s%s%.*s%s%se%s%s", text[0] == '-' ? "-" : "", text[sign] == '.' ? "0" : "",
             (int)(mantissa - sign), text + sign, point == NULL ? "." : "",
             point == NULL || point + 1 == exponent ? "0" : "", exponent[1] == '-' || exponent[1] == '+' ? "" : "+",
             exponent + 1);
}

const char *pcs_case_number_text(double value, char buffer[PCS_NUMBER_BYTES])
{
    char text[PCS_NUMBER_ROOM];
    pcs_number_text(value, text);
    pcs_scalar_normalize(text, PCS_NUMBER_BYTES, buffer);
    return buffer;
}

const char *pcs_range_text(pcs_range range, size_t size, char *buffer)
{
    bool has_low = isfinite(range.low), has_high = isfinite(range.high);
    buffer[0] = '\0';
    if (has_low && has_high) {
        snprintf(buffer, size, "in %c%.10g, %.10g%c", range.low_is_open ? '(' : '[', range.low, range.high,
                 range.high_is_open ? ')' : ']');
    } else if (has_low) {
        snprintf(buffer, size, "%s %.10g", range.low_is_open ? ">" : ">=", range.low);
    } else if (has_high) {
        snprintf(buffer, size, "%s %.10g", range.high_is_open ? "<" : "<=", range.high);
    }
    return buffer;
}

enum { LEAD = 0xEE, SECOND_LOW = 0x80, SECOND_HIGH = 0x81, MASKED_BYTES = 3 }; // U+E000 .. U+E07F in UTF-8

static bool mask_is_masked(const char *p, const char *end)
{
    const unsigned char *x = (const unsigned char *)p;
    return end - p >= MASKED_BYTES && x[0] == LEAD && (x[1] == SECOND_LOW || x[1] == SECOND_HIGH);
}

// Returns the length of the ${...} at p, 0 if there is none: it must end in its line and hold no quotes.
static size_t mask_formula(const char *p, const char *end)
{
    if (end - p < 2 || p[0] != '$' || p[1] != '{') return 0;
    for (const char *q = p + 2; q < end && strchr("\n\r\"'", *q) == NULL; q++)
        if (*q == '}') return (size_t)(q + 1 - p);
    return 0;
}

static size_t mask_put(char x, char *out)
{
    unsigned char code = (unsigned char)x;
    if (strchr("{}[],:#", x) == NULL || x == '\0') {
        *out = x;
        return 1;
    }
    out[0] = (char)LEAD;
    out[1] = (char)(0x80 | (code >> 6));
    out[2] = (char)(0x80 | (code & 0x3f));
    return MASKED_BYTES;
}

// Masks formulas in scratch memory; *masked is NULL if there is nothing to mask. Returns false if memory is out.
static bool mask_text(const char *text, size_t *size, char **masked)
{
    const char *end = text + *size;
    size_t hidden = 0, used = 0;
    *masked = NULL;
    for (const char *p = text; p < end; p++) {
        if (mask_is_masked(p, end)) return true; // the author uses these characters, which are kept
        hidden += mask_formula(p, end);
    }
    if (hidden == 0) return true;
    char *out = pcs_scratch(NULL, *size + MASKED_BYTES * hidden, 1);
    if (out == NULL) return false;
    for (const char *p = text; p < end;) {
        size_t length = mask_formula(p, end);
        if (length == 0) out[used++] = *p++;
        for (; length > 0; length--) used += mask_put(*p++, out + used);
    }
    *masked = out;
    *size = used;
    return true;
}

static void mask_remove(char *text)
{
    const char *p = text, *end = text + strlen(text);
    char *out = text;
    while (p < end) {
        if (!mask_is_masked(p, end)) {
            *out++ = *p++;
            continue;
        }
        *out++ = (char)((((unsigned char)p[1] & 0x01) << 6) | ((unsigned char)p[2] & 0x3f));
        p += MASKED_BYTES;
    }
    *out = '\0';
}

typedef struct reader {
    pcs_case *c;
    const char *origin;
    const char *text;
    size_t size;
    yaml_parser_t parser;
    pcs_yaml *root;
    pcs_yaml *open[PCS_CASE_DEPTH]; // maps and lists around the current event
    int depth;
    pcs_key key[PCS_CASE_DEPTH];     // current key of each open map; without a name if the next scalar is a key
    bool is_dropped[PCS_CASE_DEPTH]; // the value of that key is dropped (a duplicate)
    int ndocument;
    bool is_masked; // texts contain masked formulas
    bool is_done;
} reader;

static pcs_location reader_location(const reader *r, yaml_mark_t mark)
{
    int line = mark.line < INT32_MAX ? (int)mark.line + 1 : INT32_MAX;
    int column = mark.column < INT32_MAX ? (int)mark.column + 1 : INT32_MAX;
    return (pcs_location){ .line = line, .column = column, .origin = r->origin, .file = r->c->present_file };
}

// Returns line and column, in characters, of a byte.
static pcs_location reader_location_of_byte(const reader *r, size_t offset)
{
    pcs_location location = { .line = 1, .column = 1, .origin = r->origin, .file = r->c->present_file };
    for (size_t i = 0; i < offset && i < r->size; i++) {
        if (r->text[i] == '\n') {
            location.line++;
            location.column = 1;
        } else if (((unsigned char)r->text[i] & 0xc0) != 0x80) {
            location.column++;
        }
    }
    return location;
}

static pcs_status reader_syntax_error(reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem == NULL ? "cannot be read" : p->problem;
    switch (p->error) {
    case YAML_MEMORY_ERROR: r->c->is_out_of_memory = true; return PCS_NO_MEMORY;
    case YAML_READER_ERROR:
        pcs_tree_error(r->c, reader_location_of_byte(r, p->problem_offset), "not valid UTF-8 text: %s (value 0x%02X)",
                       problem, (unsigned)p->problem_value);
        return PCS_BAD_INPUT;
    default: break;
    }
    size_t at = p->problem_mark.index;
    bool is_tab = r->origin == NULL && at < r->size && r->text[at] == '\t';
    const char *hint = "";
    if (is_tab) hint = " (a tab: indent with spaces)";
    else if (strncmp(problem, "mapping values", 14) == 0) hint = " (put text with ': ' in quotes)";
    char context[128] = "";
    pcs_location begin = reader_location(r, p->context_mark);
    if (p->context != NULL) snprintf(context, sizeof context, " %s", p->context);
    if (p->context != NULL && p->context_mark.line != p->problem_mark.line)
        snprintf(context, sizeof context, " %s that begins at %d:%d", p->context, begin.line, begin.column);
    pcs_tree_error(r->c, reader_location(r, p->problem_mark), "not valid YAML: %s%s%s", problem, context, hint);
    return PCS_BAD_INPUT;
}

// Attaches a node to the innermost open list or map.
static bool reader_attach(reader *r, pcs_yaml *node)
{
    if (node == NULL) return false;
    if (r->depth == 0) {
        r->root = node;
        return true;
    }
    int top = r->depth - 1;
    if (r->open[top]->kind == PCS_YAML_LIST) return pcs_tree_add_item(r->c, r->open[top], node);
    pcs_key key = r->key[top];
    r->key[top].name = NULL;
    if (!r->is_dropped[top]) return pcs_tree_add_key(r->c, r->open[top], &key, node);
    return true; // the value of a duplicate key is dropped
}

static bool reader_wants_key(const reader *r)
{
    return r->depth > 0 && r->open[r->depth - 1]->kind == PCS_YAML_MAP && r->key[r->depth - 1].name == NULL;
}

static pcs_status reader_take_key(reader *r, const yaml_event_t *event, pcs_location location)
{
    int top = r->depth - 1;
    pcs_yaml *map = r->open[top];
    char *name = pcs_tree_text(r->c, (const char *)event->data.scalar.value, event->data.scalar.length);
    if (name == NULL) return PCS_NO_MEMORY;
    if (r->is_masked) mask_remove(name);
    if (map->count >= PCS_CASE_KEYS) {
        pcs_tree_error(r->c, location, "more than %d keys in one map", PCS_CASE_KEYS);
        return PCS_BAD_INPUT;
    }
    if (name[0] == '\0') pcs_tree_error(r->c, location, "empty key");
    r->key[top] = (pcs_key){ .name = name, .location = location };
    int first = pcs_tree_index(map, name);
    r->is_dropped[top] = first >= 0;
    if (first >= 0) {
        pcs_yaml quoted = { .text = name };
        char quote[PCS_QUOTE_BYTES];
        pcs_tree_error(r->c, location, "duplicate key %s, first given at %d:%d",
                       pcs_tree_quote(&quoted, sizeof quote, quote), map->keys[first].location.line,
                       map->keys[first].location.column);
    }
    return PCS_OK;
}

static void reader_refuse_decoration(reader *r, pcs_location location, const yaml_char_t *anchor,
                                     const yaml_char_t *tag)
{
    if (anchor != NULL) pcs_tree_error(r->c, location, "anchors are not allowed: '&%.60s'", (const char *)anchor);
    if (tag != NULL) pcs_tree_error(r->c, location, "tags are not allowed: '%.60s'", (const char *)tag);
}

// Returns the column where the text of a scalar begins, if the file has it unchanged in one line.
static int reader_text_column(const yaml_event_t *event, pcs_location location)
{
    size_t nchar = 0, quotes = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? 0 : 1;
    for (size_t i = 0; i < event->data.scalar.length; i++) nchar += (event->data.scalar.value[i] & 0xc0) != 0x80;
    bool is_as_written = event->start_mark.line == event->end_mark.line &&
                         event->end_mark.column - event->start_mark.column == nchar + 2 * quotes;
    return is_as_written ? location.column + (int)quotes : 0;
}

static pcs_status reader_scalar(reader *r, const yaml_event_t *event)
{
    pcs_location location = reader_location(r, event->start_mark);
    size_t length = event->data.scalar.length;
    const char *value = (const char *)event->data.scalar.value;
    reader_refuse_decoration(r, location, event->data.scalar.anchor, event->data.scalar.tag);
    if (memchr(value, '\0', length) != NULL) {
        pcs_tree_error(r->c, location, "a text with a zero character is not allowed");
        return PCS_BAD_INPUT;
    }
    if (reader_wants_key(r)) return reader_take_key(r, event, location);
    pcs_yaml *node = pcs_tree_node(r->c, PCS_YAML_SCALAR, location);
    char *copy = node == NULL ? NULL : pcs_tree_text(r->c, value, length);
    if (copy == NULL) return PCS_NO_MEMORY;
    node->is_quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text_column = reader_text_column(event, location);
    if (r->is_masked) mask_remove(copy);
    node->text = copy;
    return reader_attach(r, node) ? PCS_OK : PCS_NO_MEMORY;
}

// Rejects an alias and puts its text into the tree in place of a value.
static pcs_status reader_alias(reader *r, const yaml_event_t *event)
{
    pcs_location location = reader_location(r, event->start_mark);
    char text[64];
    snprintf(text, sizeof text, "*%.60s", (const char *)event->data.alias.anchor);
    pcs_tree_error(r->c, location, "aliases are not allowed: '%s'", text);
    if (reader_wants_key(r)) return PCS_BAD_INPUT;
    pcs_yaml *node = pcs_tree_node(r->c, PCS_YAML_SCALAR, location);
    if (node == NULL) return PCS_NO_MEMORY;
    node->text = pcs_tree_text(r->c, text, strlen(text));
    return node->text != NULL && reader_attach(r, node) ? PCS_OK : PCS_NO_MEMORY;
}

static pcs_status reader_open(reader *r, const yaml_event_t *event)
{
    bool is_map = event->type == YAML_MAPPING_START_EVENT;
    pcs_location location = reader_location(r, event->start_mark);
    reader_refuse_decoration(r, location, is_map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor,
                             is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag);
    if (reader_wants_key(r)) {
        pcs_tree_error(r->c, location, "a key must be a text, is a %s", is_map ? "map" : "list");
        return PCS_BAD_INPUT;
    }
    if (r->depth == PCS_CASE_DEPTH) {
        pcs_tree_error(r->c, location, "nested deeper than %d levels", PCS_CASE_DEPTH);
        return PCS_BAD_INPUT;
    }
    pcs_yaml *node = pcs_tree_node(r->c, is_map ? PCS_YAML_MAP : PCS_YAML_LIST, location);
    if (!reader_attach(r, node)) return PCS_NO_MEMORY;
    r->key[r->depth].name = NULL;
    r->open[r->depth++] = node;
    return PCS_OK;
}

static pcs_status reader_document(reader *r, const yaml_event_t *event)
{
    if (++r->ndocument > 1) {
        pcs_tree_error(r->c, reader_location(r, event->start_mark), "only one document is allowed");
        r->is_done = true;
    } else if (event->data.document_start.tag_directives.start != event->data.document_start.tag_directives.end) {
        pcs_tree_error(r->c, reader_location(r, event->start_mark), "tag directives are not allowed");
    }
    return PCS_OK;
}

static pcs_status reader_event(reader *r, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_STREAM_END_EVENT: r->is_done = true; return PCS_OK;
    case YAML_DOCUMENT_START_EVENT: return reader_document(r, event);
    case YAML_ALIAS_EVENT: return reader_alias(r, event);
    case YAML_SCALAR_EVENT: return reader_scalar(r, event);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT: return reader_open(r, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: r->depth--; return PCS_OK;
    default: return PCS_OK;
    }
}

static pcs_status reader_run(reader *r)
{
    if (!yaml_parser_initialize(&r->parser)) {
        r->c->is_out_of_memory = true;
        return PCS_NO_MEMORY;
    }
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text, r->size);
    pcs_status status = PCS_OK;
    while (status == PCS_OK && !r->is_done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event)) {
            status = reader_syntax_error(r);
            break;
        }
        status = reader_event(r, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&r->parser);
    return status;
}

pcs_status pcs_tree_parse(pcs_case *c, const char *origin, const char *text, size_t size, pcs_yaml **out)
{
    static const char mark[] = "\xef\xbb\xbf"; // some editors begin UTF-8 files with a byte order mark
    if (size >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
        text += sizeof mark - 1;
        size -= sizeof mark - 1;
    }
    char *masked = NULL;
    *out = NULL;
    if (!mask_text(text, &size, &masked)) {
        c->is_out_of_memory = true;
        return PCS_NO_MEMORY;
    }
    reader r = { .c = c, .origin = origin, .text = masked == NULL ? text : masked, .size = size };
    r.is_masked = masked != NULL;
    pcs_status status = reader_run(&r);
    pcs_scratch_free(masked);
    if (status == PCS_OK) *out = r.root;
    return status;
}

const char *pcs_yaml_version(void)
{
    return yaml_get_version_string();
}
