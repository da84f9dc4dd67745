// The JSON schema (draft 7) of a case file, by which editors complete and check keys.
//
// Two trees stand side by side. `NAME` says which keys a map may have and what they may be; `NAME needs` says which it
// must have. Where a map includes a file, the second tree ends: what is missing may stand there.
//
// A number may be a formula ${...}, which is a text to JSON; the keyword `pattern` judges texts only, and `minimum`
// numbers only, so that both stand side by side.

#include "build/catalogue.h"
#include "build/maps.h"
#include "output/text.h"
#include "percuss.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 512, NAMES = 512 };

#define NAME_PATTERN "^(?!include$)([A-Za-z_][A-Za-z0-9_-]*|.*\\\\$\\\\{.*)$"

typedef struct schema {
    const pcs_catalogue *to;
    pcs_context *ctx; // holds the options of systems
    bool has_items;   // the list or map being written has an item already
} schema;

// Writes text of JSON with ' in place of ".
__attribute__((format(printf, 2, 3))) static void schema_put(const schema *s, const char *format, ...)
{
    char text[2 * TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *p = text; (p = strchr(p, '\'')) != NULL;) *p = '"';
    s->to->put(s->to->user, text);
}

static void schema_put_text(const schema *s, const char *text)
{
    char escaped[6 * TEXT_BYTES + 3] = "\"";
    pcs_json_text(text, sizeof escaped - 2, escaped + 1);
    strcat(escaped, "\"");
    s->to->put(s->to->user, escaped);
}

// Begins a list or map. Returns `has_items` of the one around it, which schema_close takes as `before`.
static bool schema_open(schema *s, const char *text)
{
    bool before = s->has_items;
    schema_put(s, "%s", text);
    s->has_items = false;
    return before;
}

static void schema_close(schema *s, const char *text, bool before)
{
    schema_put(s, "%s", text);
    s->has_items = before;
}

static void schema_next(schema *s)
{
    schema_put(s, s->has_items ? ",\n" : "\n");
    s->has_items = true;
}

// Begins the member `key`.
static void schema_member(schema *s, const char *key)
{
    schema_next(s);
    schema_put_text(s, key);
    schema_put(s, ":");
}

static void schema_put_names(schema *s, const char *const *names)
{
    for (int i = 0; names[i] != NULL; i++) {
        schema_next(s);
        schema_put_text(s, names[i]);
    }
}

static void schema_range(schema *s, pcs_range range)
{
    bool is_given = range.low != 0.0 || range.high != 0.0;
    if (!is_given) return;
    if (isfinite(range.low))
        schema_put(s, ",'%s':%.17g", range.low_is_open ? "exclusiveMinimum" : "minimum", range.low);
    if (isfinite(range.high))
        schema_put(s, ",'%s':%.17g", range.high_is_open ? "exclusiveMaximum" : "maximum", range.high);
}

// Writes the items of a list: numbers or copies of one; with `has_rows` also rows of them.
static void schema_items(schema *s, pcs_range range, bool has_rows)
{
    schema_put(s, "'items':{'type':['number','string','object'");
    schema_put(s, has_rows ? ",'array']" : "]");
    schema_put(s, ",'pattern':'\\\\$\\\\{','required':['repeat']");
    schema_range(s, range);
    if (has_rows) {
        schema_put(s, ",");
        schema_items(s, range, false);
    }
    schema_put(s, "}");
}

static void schema_vector(schema *s, pcs_range range)
{
    schema_put(s, "'type':'array',");
    schema_items(s, range, false);
    schema_put(s, ",'if':{'contains':{'type':'object'}},'else':{'minItems':3,'maxItems':3}");
}

// Writes the type of names: a name, a list of names, or a list of rows of names.
static void schema_put_name_list(schema *s)
{
    schema_put(s, "'type':['string','array'],'minLength':1,'minItems':1,'items':{'type':['string',"
                  "'array','object'],'minLength':1,'required':['repeat'],'items':{'type':'string'}}");
}

// Writes the type of a number that may vary along a line: from/to, table or steps.
static void schema_profile(schema *s, pcs_range range)
{
    const char *const rows = "'type':'array','minItems':2,'items':{'type':['array','object'],"
                             "'required':['repeat'],";
    schema_put(s, "'type':['number','string','object'],'pattern':'\\\\$\\\\{'");
    schema_range(s, range);
    schema_put(s, ",'additionalProperties':false,'properties':{"
                  "'include':{'$ref':'#/definitions/include'}");
    for (int i = 0; i < 2; i++) {
        schema_put(s, i == 0 ? ",'from':{" : ",'to':{");
        schema_put(s, "'type':['number','string'],'pattern':'\\\\$\\\\{'");
        schema_range(s, range);
        schema_put(s, "}");
    }
    for (int i = 0; i < 2; i++) {
        schema_put(s, i == 0 ? ",'table':{" : ",'steps':{");
        schema_put(s, "%s", rows);
        schema_put(s, "'minItems':2,'maxItems':2,");
        schema_items(s, (pcs_range)PCS_NOT_NEGATIVE, false);
        schema_put(s, "}}");
    }
    schema_put(s, "},'anyOf':[{'not':{'type':'object'}},{'required':['include']},{'oneOf':["
                  "{'required':['from','to']},{'required':['table']},{'required':['steps']}]}]");
}

static void schema_put_parts(schema *s, pcs_parts *parts)
{
    pcs_map_part part;
    for (int i = 0; parts(s->ctx, i, &part); i++) {
        schema_next(s);
        schema_put_text(s, part.name);
    }
}

static void schema_refer(schema *s, const char *name, const char *more)
{
    char path[TEXT_BYTES];
    snprintf(path, sizeof path, "#/definitions/%s%s", name, more);
    schema_put(s, "{'$ref':");
    schema_put_text(s, path);
    schema_put(s, "}");
}

// Writes the type of a node. References go into a list of their own, since JSON ignores other keywords beside them.
static void schema_form(schema *s, const pcs_form *form)
{
    if (form->map != NULL) {
        schema_put(s, "'anyOf':[");
        if (form->json != NULL) schema_put(s, "{%s},", form->json);
        schema_refer(s, form->map->name, "");
        schema_put(s, "]");
    } else if (form->parts != NULL) {
        bool before = schema_open(s, "'default':'auto','enum':['auto'");
        s->has_items = true;
        schema_put_parts(s, form->parts);
        schema_close(s, "]", before);
    } else {
        schema_put(s, "'allOf':[{%s}]", form->json);
    }
}

// Writes what the value of an option may be.
static void schema_kind(schema *s, const pcs_option *o)
{
    bool before = s->has_items;
    switch (o->kind) {
    case PCS_OPTION_REAL:
    case PCS_OPTION_COUNT:
        schema_put(s, o->kind == PCS_OPTION_REAL ? "'type':['number'" : "'type':['integer'");
        schema_put(s, ",'string'],'pattern':'\\\\$\\\\{'");
        schema_range(s, o->range);
        break;
    case PCS_OPTION_FLAG: schema_put(s, "'type':'boolean'"); break;
    case PCS_OPTION_CHOICE:
        before = schema_open(s, "'enum':[");
        schema_put_names(s, o->choices);
        schema_close(s, "]", before);
        break;
    case PCS_OPTION_VECTOR: schema_vector(s, o->range); break;
    case PCS_OPTION_LIST:
        schema_put(s, "'type':'array','minItems':1,");
        schema_items(s, o->range, true);
        break;
    case PCS_OPTION_TEXT:
    case PCS_OPTION_FILE: schema_put(s, "'type':'string','minLength':1"); break;
    case PCS_OPTION_FORMULA: schema_put(s, "'type':['number','string']"); break;
    case PCS_OPTION_NAMES: schema_put_name_list(s); break;
    case PCS_OPTION_PROFILE: schema_profile(s, o->range); break;
    case PCS_OPTION_NODE: schema_form(s, o->form); break;
    case PCS_OPTION_POINTS:
        schema_put(s, "'type':'object','minProperties':1,'additionalProperties':false,'properties':{"
                      "'include':{'$ref':'#/definitions/include'}},'patternProperties':{'" NAME_PATTERN
                      "':{'$ref':'#/definitions/vector'}}");
        break;
    }
}

static void schema_option(schema *s, const pcs_option *o)
{
    bool is_plain = o->kind == PCS_OPTION_REAL || o->kind == PCS_OPTION_COUNT || o->kind == PCS_OPTION_FLAG ||
                    o->kind == PCS_OPTION_VECTOR || o->kind == PCS_OPTION_LIST;
    schema_member(s, o->name);
    schema_put(s, "{'description':");
    schema_put_text(s, o->help);
    if (o->preset != NULL) {
        schema_put(s, ",'default':");
        if (is_plain) schema_put(s, "%s", o->preset);
        else schema_put_text(s, o->preset);
    }
    schema_put(s, ",");
    schema_kind(s, o);
    schema_put(s, "}");
}

static void schema_options(schema *s, const pcs_option *options)
{
    for (; options != NULL && options->name != NULL; options++) schema_option(s, options);
}

static void schema_map_keys(schema *s, const pcs_map *map)
{
    schema_next(s);
    schema_put(s, "'include':{'$ref':'#/definitions/include'}");
    if (map->is_entry) {
        schema_put(s, ",\n'repeat':{'$ref':'#/definitions/repeat'},\n'each':");
        schema_refer(s, map->name, "");
    }
    schema_options(s, map->options);
}

// Begins a rule for maps of the type that names the part.
static void schema_if_type(schema *s, const pcs_map_part *part)
{
    schema_next(s);
    schema_put(s, "{'if':{'required':['type'],'properties':{'type':{'const':");
    schema_put_text(s, part->name);
    schema_put(s, "}}},'then':{");
}

// Adds the keys of a table to the names, each once.
static void schema_note(const pcs_option *options, int *count, const char *names[NAMES + 1])
{
    for (; options != NULL && options->name != NULL && *count < NAMES; options++) {
        int i = 0;
        while (i < *count && strcmp(names[i], options->name) != 0) i++;
        names[i] = options->name;
        if (i == *count) ++*count;
    }
}

// Writes the rule for a map without `type`, which an included file may give: the keys of all types are allowed.
static void schema_untyped(schema *s, const pcs_map *map)
{
    const char *names[NAMES + 1] = { "include", "repeat", "each" };
    pcs_map_part part;
    int count = 3;
    schema_note(map->options, &count, names);
    for (int i = 0; map->parts(s->ctx, i, &part); i++) {
        schema_note(part.options, &count, names);
        schema_note(part.more, &count, names);
    }
    schema_next(s);
    schema_put(s, "{'if':{'not':{'anyOf':[{'required':['type']}");
    if (map->stands_for != NULL) schema_put(s, ",{'required':['%s']}", map->stands_for);
    bool before = schema_open(s, "]}},'then':{'propertyNames':{'enum':[");
    schema_put_names(s, names);
    schema_close(s, "]}}}", before);
}

static void schema_types(schema *s, const pcs_map *map)
{
    pcs_map_part part;
    bool before = schema_open(s, ",'properties':{'type':{'enum':[");
    schema_put_parts(s, map->parts);
    schema_close(s, "]}},'allOf':[", false);
    for (int i = 0; map->parts(s->ctx, i, &part); i++) {
        schema_if_type(s, &part);
        schema_put(s, "'description':");
        schema_put_text(s, part.summary);
        bool of_list = schema_open(s, ",'additionalProperties':false,'properties':{'type':{}");
        s->has_items = true;
        schema_map_keys(s, map);
        schema_options(s, part.options);
        schema_options(s, part.more);
        schema_close(s, "}}}", of_list);
    }
    schema_untyped(s, map);
    schema_close(s, "]", before);
}

static void schema_observers(schema *s, const pcs_map *map)
{
    pcs_map_part part;
    for (int i = 0; map->parts(s->ctx, i, &part); i++) {
        schema_member(s, part.name);
        schema_put(s, "{'description':");
        schema_put_text(s, part.summary);
        bool before = schema_open(s, ",'type':['object','boolean'],'not':{'const':true},"
                                     "'additionalProperties':false,'properties':{"
                                     "'include':{'$ref':'#/definitions/include'}");
        s->has_items = true;
        schema_options(s, part.options);
        schema_close(s, "}}", before);
    }
}

// Writes the definition of a map: its keys and the values that they may have.
static void schema_define(schema *s, const pcs_map *map)
{
    if (map->kind == PCS_MAP_LIST) {
        schema_put(s, "'type':'array','items':");
        schema_refer(s, map->entry->name, "");
        return;
    }
    schema_put(s, "'type':'object'");
    if (map->kind == PCS_MAP_TYPES) {
        schema_types(s, map);
    } else if (map->kind == PCS_MAP_NAMES) {
        schema_put(s, ",'properties':{'include':{'$ref':'#/definitions/include'}},'additionalProperties':false,"
                      "'patternProperties':{'" NAME_PATTERN "':");
        schema_refer(s, map->entry->name, "");
        schema_put(s, "}");
    } else {
        bool before = schema_open(s, ",'additionalProperties':false,'properties':{");
        schema_map_keys(s, map);
        if (map->kind == PCS_MAP_PARTS) schema_observers(s, map);
        schema_close(s, "}", before);
    }
}

// Returns true if an option of the table makes this one unnecessary.
static bool schema_is_given(const pcs_option *table, const char *option)
{
    for (; table != NULL && table->name != NULL; table++)
        if (table->form != NULL && table->form->gives != NULL && strcmp(table->form->gives, option) == 0) return true;
    return false;
}

// Writes the required options of both tables, after `first` if it is not NULL.
static void schema_need_names(schema *s, const char *first, const pcs_option *options, const pcs_option *more)
{
    const pcs_option *const tables[] = { options, more };
    bool before = schema_open(s, "'required':[");
    if (first != NULL) {
        schema_next(s);
        schema_put_text(s, first);
    }
    for (int i = 0; i < 2; i++)
        for (const pcs_option *o = tables[i]; o != NULL && o->name != NULL; o++) {
            if (!o->is_required || schema_is_given(more, o->name)) continue;
            schema_next(s);
            schema_put_text(s, o->name);
        }
    schema_close(s, "]", before);
}

// Writes the required options of every observer, for a map that includes no file.
static void schema_need_parts(schema *s, pcs_parts *parts)
{
    pcs_map_part part;
    for (int i = 0; parts(s->ctx, i, &part); i++) {
        schema_member(s, part.name);
        schema_put(s, "{'if':{'required':['include']},'else':{");
        schema_need_names(s, NULL, part.options, part.more);
        schema_put(s, "}}");
    }
}

static void schema_need_maps(schema *s, const pcs_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (options->form == NULL || options->form->map == NULL) continue;
        schema_member(s, options->name);
        schema_refer(s, options->form->map->name, " needs");
    }
}

// Writes references to the required keys of the maps below.
static void schema_need_below(schema *s, const pcs_option *options, const pcs_option *more, pcs_parts *observers)
{
    bool before = schema_open(s, ",'properties':{");
    schema_need_maps(s, options);
    schema_need_maps(s, more);
    if (observers != NULL) schema_need_parts(s, observers);
    schema_close(s, "}", before);
}

static void schema_need_one(schema *s, const char *rule, const char *const *keys)
{
    bool before = s->has_items;
    schema_put(s, "%s", rule);
    s->has_items = false;
    for (int i = 0; keys[i] != NULL; i++) {
        schema_next(s);
        schema_put(s, "{'required':[");
        schema_put_text(s, keys[i]);
        schema_put(s, "]}");
    }
    schema_close(s, "]", before);
}

// Requires one of both where an option follows from another.
static void schema_need_given(schema *s, const pcs_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (options->form == NULL || options->form->gives == NULL) continue;
        schema_need_one(s, ",'anyOf':[", (const char *const[]){ options->form->gives, options->name, NULL });
    }
}

static void schema_need_types(schema *s, const pcs_map *map)
{
    pcs_map_part part;
    bool before = schema_open(s, ",'allOf':[");
    for (int i = 0; map->parts(s->ctx, i, &part); i++) {
        schema_if_type(s, &part);
        schema_need_names(s, NULL, part.options, part.more);
        schema_need_below(s, part.options, part.more, NULL);
        schema_need_given(s, part.more);
        if (part.one != NULL) schema_need_one(s, ",'oneOf':[", part.one);
        schema_put(s, "}}");
    }
    schema_close(s, "]", before);
}

static void schema_define_needs(schema *s, const pcs_map *map)
{
    if (map->kind == PCS_MAP_LIST) {
        schema_put(s, "'items':");
        schema_refer(s, map->entry->name, " needs");
        return;
    }
    schema_put(s, "'if':{'anyOf':[{'required':['include']},{'required':['each']}");
    if (map->stands_for != NULL) schema_put(s, ",{'required':['%s']}", map->stands_for);
    schema_put(s, "]},'else':{");
    if (map->kind == PCS_MAP_NAMES) {
        schema_put(s, "'patternProperties':{'" NAME_PATTERN "':");
        schema_refer(s, map->entry->name, " needs");
        schema_put(s, "}");
    } else {
        schema_need_names(s, map->kind == PCS_MAP_TYPES ? "type" : NULL, map->options, NULL);
        schema_need_below(s, map->options, NULL, map->kind == PCS_MAP_PARTS ? map->parts : NULL);
        if (map->kind == PCS_MAP_TYPES) schema_need_types(s, map);
        if (map->one != NULL) schema_need_one(s, ",'oneOf':[", map->one);
        if (map->some != NULL) schema_need_one(s, ",'anyOf':[", map->some);
    }
    schema_put(s, "}");
}

// Defines what several maps use: include, repeat, vectors, profiles over a set.
static void schema_define_common(schema *s)
{
    const pcs_range any = PCS_ANY_NUMBER;
    schema_put(s, "'include':{'description':'a file, or a list of files, whose keys are merged into this map; keys "
                  "given here win','type':['string','array'],'items':{'type':'string'}},\n'repeat':{"
                  "'description':'the entry stands for numbered copies, of all of it or of `each`; ${i}: number',"
                  "'type':'object','required':['count'],'additionalProperties':false,'properties':{");
    bool before = schema_open(s, "");
    schema_options(s, pcs_repeat_options);
    schema_close(s, "}},\n'vector':{", before);
    schema_vector(s, any);
    schema_put(s, "},\n'profile':{'anyOf':[{'type':'array','minItems':3,'maxItems':3,'items':{'type':["
                  "'number','string']}},{'type':'object','properties':{"
                  "'from':{'$ref':'#/definitions/vector'},'to':{'$ref':'#/definitions/vector'}},"
                  "'required':['from','to'],'additionalProperties':false}]}");
}

static void schema_define_both(void *user, const char *path, const char *help, const pcs_map *map)
{
    schema *s = user;
    (void)path;
    (void)help;
    schema_put(s, ",\n\n'%s':{", map->name);
    schema_define(s, map);
    schema_put(s, "},\n'%s needs':{", map->name);
    schema_define_needs(s, map);
    schema_put(s, "}");
}

pcs_status pcs_catalogue_write_schema(pcs_context *ctx, const pcs_catalogue *self)
{
    schema s = { .to = self, .ctx = ctx };
    schema_put(&s, "{'$schema':'http://json-schema.org/draft-07/schema#',\n'title':");
    char title[TEXT_BYTES];
    snprintf(title, sizeof title, "Case file of Percuss %s", percuss_version());
    schema_put_text(&s, title);
    schema_put(&s, ",\n'allOf':[{'$ref':'#/definitions/case'},{'$ref':'#/definitions/case needs'}],\n"
                   "'definitions':{\n");
    schema_define_common(&s);
    pcs_maps_walk(ctx, schema_define_both, &s);
    schema_put(&s, "}}\n");
    return PCS_OK;
}
