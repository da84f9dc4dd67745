// The sections of a case and the registries, with their option tables.

#include "build/catalogue.h"

#include "analysis/analysis.h"
#include "build/build.h"
#include "build/builder.h"
#include "build/maps.h"
#include "closed_form/closed_form.h"
#include "core/text.h"
#include "percuss.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Lists the maps of a case and the registries of its parts, and walks over them. tests/cli/test_schema.py compares all
// of it with what the readers allow.

enum { MOST_MAPS = 64 };

const pcs_registry pcs_registries[] = {
    { "Systems (system.type)", "system", &pcs_system_map },
    { "Mesh sources (mesh.NAME.type)", "mesh", &pcs_mesh_map },
    { "Elements (elements.NAME.type)", "elements", &pcs_group_map },
    { "Cross sections (elements.NAME.section.type)", "section", &pcs_section_map },
    { "Loads (loads.NAME.type)", "loads", &pcs_load_map },
    { "Joints (joints.NAME.type)", "joints", &pcs_joint_map },
    { "Gap types (contacts.NAME.type)", "contacts", &pcs_contact_map },
    { "Laws (contacts.NAME.law.type)", "contacts", &pcs_law_map },
    { "Schemes (scheme.type)", "scheme", &pcs_scheme_map },
    { "Step control (time.control.type)", "time", &pcs_control_map },
    { "Step solvers (solver.type)", "solver", &pcs_step_map },
    { "Linear solvers (solver.linear)", "solver", &pcs_linsolve_map },
    { "Observers (output.NAME)", "output", &pcs_output_map },
    { NULL, NULL, NULL },
};

#define NAMED(map, title, of) static const pcs_map map = { .name = title, .kind = PCS_MAP_NAMES, .entry = &(of) }

NAMED(map_mesh, "mesh", pcs_mesh_map);
NAMED(map_sets, "sets", pcs_set_map);
NAMED(map_merge, "merge", pcs_merge_map);
NAMED(map_elements, "elements", pcs_group_map);
NAMED(map_supports, "supports", pcs_support_map);
NAMED(map_loads, "loads", pcs_load_map);
NAMED(map_joints, "joints", pcs_joint_map);
NAMED(map_contacts, "contacts", pcs_contact_map);
static const pcs_map map_initial = { .name = "initial", .kind = PCS_MAP_LIST, .entry = &pcs_initial_map };
static const pcs_map map_statics = { .name = "statics", .options = pcs_statics_keys };

static const pcs_form title_form = { .shown = "text", .json = "'type':['string','number']" };
static const pcs_form parameters_form = {
    .shown = "{ NAME: number, ... }",
    .json = "'type':'object','additionalProperties':{'type':['number','string'],'pattern':'\\\\$\\\\{'}"
};
static const pcs_form start_form = { .shown = "initial or statics, or a map",
                                     .json = "'enum':['initial','statics']",
                                     .map = &pcs_start_map };
static const pcs_form resolution_form = { .shown = "report or refuse", .json = "'enum':['report','refuse']" };
static const pcs_form certify_form = { .shown = "strict or warn", .json = "'enum':['strict','warn']" };

static const pcs_option case_options[] = {
    PCS_KEY("title", PCS_OPTIONAL, title_form, "for the summary"),
    PCS_KEY("parameters", PCS_OPTIONAL, parameters_form, "numbers by name; any value may be a formula of them: ${L/2}"),
    PCS_KEY_MAP("system", PCS_OPTIONAL, pcs_system_map,
                "instead of mesh and elements: `type` from the systems, or `plugin`"),
    PCS_KEY_MAP("mesh", PCS_OPTIONAL, map_mesh,
                "required: parts of the mesh, by `type` from the mesh sources; they make named sets"),
    PCS_KEY_MAP("sets", PCS_OPTIONAL, map_sets,
                "nodes or cells chosen from other sets, also from those above in this map"),
    PCS_KEY_MAP("merge", PCS_OPTIONAL, map_merge,
                "joins parts of the mesh: nodes of these sets at the same position become one"),
    PCS_KEY_MAP("damping", PCS_OPTIONAL, pcs_damping_map,
                "Rayleigh damping of all elements; that of a group adds to it"),
    PCS_KEY_MAP("elements", PCS_OPTIONAL, map_elements,
                "required: groups of cells with `type` from the elements. Profile of a number that varies along a line "
                "of cells: { from, to }, { table: [[position, value], ...] } or { steps: [[position, value], ...] }"),
    PCS_KEY_MAP("supports", PCS_OPTIONAL, map_supports, "nodes that are held"),
    PCS_KEY_MAP("initial", PCS_OPTIONAL, map_initial, "list of initial values"),
    PCS_KEY("start", PCS_OPTIONAL, start_form,
            "initial: from `initial`; statics: from equilibrium under the loads at t = 0; a map: from another run of "
            "this model [initial]"),
    PCS_KEY_MAP("perturbation", PCS_OPTIONAL, pcs_perturbation_map,
                "random velocities added at the start, as far as joints and closed contacts allow; "
                "`study --perturb` sets it"),
    PCS_KEY_MAP("statics", PCS_OPTIONAL, map_statics, "how `percuss statics` and `start: statics` find an equilibrium"),
    PCS_KEY_MAP("loads", PCS_OPTIONAL, map_loads, "`type` from the loads"),
    PCS_KEY_MAP("joints", PCS_OPTIONAL, map_joints, "`type` from the joints; reactions are columns of the history"),
    PCS_KEY_MAP("contacts", PCS_OPTIONAL, map_contacts, "`type` from the gap types"),
    PCS_KEY("scheme", PCS_OPTIONAL, pcs_scheme_form,
            "required: the time integrator, `type` from the schemes, with its options"),
    PCS_KEY_MAP("solver", PCS_OPTIONAL, pcs_solver_map, "solvers of a step"),
    PCS_KEY_MAP("time", PCS_OPTIONAL, pcs_time_map, "required: step size and end of the run"),
    PCS_KEY("certify", PCS_OPTIONAL, certify_form, "a violated check ends the run, or is only reported [strict]"),
    PCS_KEY("resolution", PCS_OPTIONAL, resolution_form,
            "an unresolved run is reported, or ends with exit status 1 [report]"),
    PCS_KEY_MAP("output", PCS_OPTIONAL, pcs_output_map,
                "what a run writes: options of observers, or false to switch one off"),
    { .name = NULL },
};
const pcs_map pcs_case_map = { .name = "case", .options = case_options };

// Maps below the case, each once, with their paths, "loads.NAME.amplitude", and the help of their keys.
typedef struct maps_list {
    pcs_context *ctx;
    int count;
    struct {
        const pcs_map *map;
        const char *help;
        char path[PCS_PATH_BYTES];
    } found[MOST_MAPS];
} maps_list;

static void maps_add(maps_list *list, const char *path, const char *help, const pcs_map *map);

static void maps_add_options(maps_list *list, const char *path, const pcs_option *options)
{
    char longer[PCS_PATH_BYTES];
    for (; options != NULL && options->name != NULL; options++) {
        if (options->form == NULL || options->form->map == NULL) continue;
        snprintf(longer, sizeof longer, "%s%s%s", path, path[0] == '\0' ? "" : ".", options->name);
        maps_add(list, longer, options->help, options->form->map);
    }
}

static void maps_add(maps_list *list, const char *path, const char *help, const pcs_map *map)
{
    char longer[PCS_PATH_BYTES];
    pcs_map_part part;
    for (int i = 0; i < list->count; i++)
        if (list->found[i].map == map) return;
    if (list->count == MOST_MAPS) return;
    list->found[list->count].map = map;
    list->found[list->count].help = help;
    snprintf(list->found[list->count++].path, PCS_PATH_BYTES, "%s", path);
    snprintf(longer, sizeof longer, "%s%s", path, map->kind == PCS_MAP_NAMES ? ".NAME" : "");
    if (map->entry != NULL) maps_add(list, longer, help, map->entry);
    maps_add_options(list, path, map->options);
    if (map->parts == NULL) return;
    for (int i = 0; map->parts(list->ctx, i, &part); i++) {
        maps_add_options(list, path, part.options);
        maps_add_options(list, path, part.more);
    }
}

__attribute__((format(printf, 2, 3))) static void catalogue_print(const pcs_catalogue *self, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    self->put(self->user, text);
}

// Writes the text, with lines broken at the width of the screen; further ones begin at the same column.
static void catalogue_put(const pcs_catalogue *self, int column, const char *text)
{
    pcs_text_fill(self->put, self->user, self->width, column, column, text);
}

// Returns true if a part is wanted, by its own name or by that of its section, in singular or plural.
static bool catalogue_wants(const pcs_catalogue *self, const pcs_catalogue_entry *entry)
{
    const char *section = entry->section == NULL ? entry->name : entry->section;
    if (self->name == NULL || strcmp(self->name, entry->name) == 0) return true;
    size_t length = strcspn(section, "."), given = strlen(self->name);
    length -= length > 0 && section[length - 1] == 's';
    given -= given > 0 && self->name[given - 1] == 's';
    return given == length && strncmp(self->name, section, length) == 0;
}

static void catalogue_kind(const pcs_option *o, size_t size, char *text)
{
    char range[64] = "";
    if (o->kind == PCS_OPTION_CHOICE) {
        pcs_join_names(o->choices, " or ", size, text);
        return;
    }
    if (o->form != NULL) {
        snprintf(text, size, "%s", o->form->shown == NULL ? "map" : o->form->shown);
        return;
    }
    if (o->range.low != 0.0 || o->range.high != 0.0) pcs_range_text(o->range, sizeof range, range);
    snprintf(text, size, "%s%s%s%s", pcs_option_kinds[o->kind].shown, range[0] == '\0' ? "" : " ", range,
             o->may_be_auto ? " or auto" : "");
}

// Writes an option in columns, or on a narrow screen below one another.
static void catalogue_put_option(const pcs_catalogue *self, const pcs_option *o, const char *kind, const char *preset)
{
    char head[256];
    int column = snprintf(head, sizeof head, "      %-16s %-32s %-18s ", o->name, kind, preset);
    bool is_narrow = self->width > 0 && self->width < column + 24;
    if (!is_narrow) {
        self->put(self->user, head);
        catalogue_put(self, column, o->help);
        return;
    }
    column = snprintf(head, sizeof head, "      %-16s ", o->name);
    self->put(self->user, head);
    snprintf(head, sizeof head, "%s %s", kind, preset);
    catalogue_put(self, column, head);
    catalogue_print(self, "%*s", 12, "");
    catalogue_put(self, 12, o->help);
}

static void catalogue_option(const pcs_catalogue *self, const pcs_option *o)
{
    char kind[160], preset[80];
    const char *value = o->preset == NULL ? "none" : o->preset;
    catalogue_kind(o, sizeof kind, kind);
    if (o->is_required) {
        snprintf(preset, sizeof preset, "required");
    } else if (self->is_markdown) {
        snprintf(preset, sizeof preset, "%s", o->preset == NULL ? "" : value);
    } else {
        snprintf(preset, sizeof preset, "[%s]", value);
    }
    if (self->is_markdown) {
        catalogue_print(self, "| `%s` | %s | %s | %s |\n", o->name, kind, preset, o->help);
        return;
    }
    catalogue_put_option(self, o, kind, preset);
}

// Writes an entry that is wanted, after its heading if this has not been written yet.
static void catalogue_write_entry(void *user, const pcs_catalogue_entry *entry)
{
    pcs_catalogue *self = user;
    bool has_options = entry->options != NULL && entry->options->name != NULL;
    if (!catalogue_wants(self, entry)) return;
    if (self->heading == NULL || strcmp(self->heading, entry->heading) != 0)
        catalogue_print(self, self->is_markdown ? "\n## %s\n" : "\n%s\n", entry->heading);
    self->heading = entry->heading;
    self->count++;
    catalogue_print(self, self->is_markdown ? "\n### `%s`\n\n" : "  %-20s ", entry->name);
    catalogue_put(self, self->is_markdown ? 0 : 23, entry->summary);
    if (has_options && self->is_markdown)
        self->put(self->user, "\n| key | value | default | meaning |\n|---|---|---|---|\n");
    for (const pcs_option *o = entry->options; o != NULL && o->name != NULL; o++) catalogue_option(self, o);
    for (const pcs_option *o = entry->more; o != NULL && o->name != NULL; o++) catalogue_option(self, o);
}

static const char *const key_heading = "Keys of a case";

static void catalogue_walk_keys(pcs_context *ctx, pcs_catalogue_visit *visit, void *user)
{
    maps_list maps = { .ctx = ctx };
    const pcs_catalogue_entry common[] = {
        { key_heading, NULL, "include",
          "a file, or a list of files, whose keys are merged into this map; keys given here win", NULL, NULL },
        { key_heading, NULL, "repeat",
          "in an entry of a list or map: makes numbered copies of the entry or of `each`; ${i}: the number",
          pcs_repeat_options, NULL },
    };
    for (const pcs_option *o = pcs_case_map.options; o->name != NULL; o++) {
        char text[512];
        snprintf(text, sizeof text, "%s: %s", o->form->shown, o->help);
        if (o->form->map == NULL) visit(user, &(pcs_catalogue_entry){ key_heading, NULL, o->name, text, NULL, NULL });
    }
    for (int i = 0; i < 2; i++) visit(user, &common[i]);
    maps_add(&maps, "", "", &pcs_case_map);
    for (int i = 1; i < maps.count; i++) { // maps of names and lists have no keys of their own
        const pcs_map *map = maps.found[i].map;
        const pcs_catalogue_entry entry = { key_heading,        NULL,         maps.found[i].path,
                                            maps.found[i].help, map->options, NULL };
        if (map->entry == NULL) visit(user, &entry);
    }
}

pcs_status pcs_catalogue_walk(pcs_catalogue_visit *visit, void *user)
{
    pcs_context *ctx = NULL;
    PCS_TRY(pcs_context_create(&ctx)); // options of systems need memory, which is freed at once
    catalogue_walk_keys(ctx, visit, user);
    for (const pcs_registry *r = pcs_registries; r->title != NULL; r++) {
        pcs_map_part p;
        for (int i = 0; r->map->parts(ctx, i, &p); i++)
            visit(user, &(pcs_catalogue_entry){ r->title, r->section, p.name, p.summary, p.options, p.more });
    }
    pcs_status status = pcs_message(ctx)[0] == '\0' ? PCS_OK : PCS_NO_MEMORY;
    pcs_context_destroy(&ctx);
    return status;
}

pcs_status pcs_catalogue_write_plugin(pcs_context *ctx, pcs_catalogue *self, const char *path)
{
    const percuss_system_definition *definition = NULL;
    pcs_option *options = NULL;
    PCS_TRY(pcs_system_open(ctx, path, &definition));
    PCS_TRY(pcs_closed_form_options(ctx, definition, &options));
    catalogue_write_entry(self, &(pcs_catalogue_entry){ "A system of your own (system.plugin)", "system",
                                                        definition->name, definition->summary, options, NULL });
    return PCS_OK;
}

static void catalogue_collect(pcs_catalogue_names *list, const char *name, const char *summary)
{
    if (list->count == PCS_CATALOGUE_MOST) return;
    list->name[list->count] = name;
    list->summary[list->count++] = summary;
}

void pcs_catalogue_list(pcs_catalogue_names *out)
{
    static const char *const others[] = { "include", "repeat", "section" };
    *out = (pcs_catalogue_names){ 0 };
    for (const pcs_option *o = pcs_case_map.options; o->name != NULL; o++)
        catalogue_collect(out, o->name, "a section of the case");
    for (int i = 0; i < 3; i++) catalogue_collect(out, others[i], i < 2 ? "of any map" : "cross sections of beams");
    for (const pcs_registry *r = pcs_registries; r->title != NULL; r++) {
        pcs_map_part part;
        for (int i = 0; r->map->parts(NULL, i, &part); i++) catalogue_collect(out, part.name, part.summary);
    }
}

int pcs_catalogue_write(pcs_catalogue *self)
{
    (void)pcs_catalogue_walk(catalogue_write_entry, self); // if memory runs out, the part so far is shown
    return self->count;
}

// The JSON schema (draft 7) of a case file, by which editors complete and check keys.
//
// It says which keys a map may have and what they may be, not which it must have: an included file may have them.
//
// A number may be a formula ${...}, which is a text in JSON, the keyword `pattern` judges texts only, and `minimum`
// numbers only, so that both are given.

enum { TEXT_BYTES = 512 };

#define NAME_PATTERN "^(?!include$)([A-Za-z_][A-Za-z0-9_-]*|.*\\\\$\\\\{.*)$"
#define FORMULA "'pattern':'\\\\$\\\\{'"
#define AUTO_OR_FORMULA "'pattern':'^auto$|\\\\$\\\\{'"
#define INCLUDE "'include':{'$ref':'#/definitions/include'}"

const pcs_kind_texts pcs_option_kinds[] = {
    [PCS_OPTION_REAL] = { "number", "number", "'type':['number','string']," },
    [PCS_OPTION_COUNT] = { "whole number", "whole number", "'type':['integer','string']," },
    [PCS_OPTION_FLAG] = { "flag", "true or false", "'type':'boolean'" },
    [PCS_OPTION_CHOICE] = { "choice", "", "'enum':[" },
    [PCS_OPTION_VECTOR] = { "vector", "[x, y, z]", NULL },
    [PCS_OPTION_TEXT] = { "text", "text", "'type':'string','minLength':1" },
    [PCS_OPTION_LIST] = { "numbers", "[numbers]", "'type':'array','minItems':1," },
    [PCS_OPTION_FILE] = { "path", "path", "'type':'string','minLength':1" },
    [PCS_OPTION_NAMES] = { "names", "[names]",
                           "'type':['string','array'],'minLength':1,'minItems':1,'items':{'type':['string','array',"
                           "'object'],'minLength':1,'required':['repeat'],'items':{'type':'string'}}" },
    [PCS_OPTION_POINTS] = { "points", "{ NAME: [x, y, z], ... }",
                            "'type':'object','minProperties':1,'additionalProperties':false,'properties':{" INCLUDE
                            "},'patternProperties':{'" NAME_PATTERN "':{'$ref':'#/definitions/vector'}}" },
    [PCS_OPTION_FORMULA] = { "formula", "formula of t", "'type':['number','string']" },
    [PCS_OPTION_PROFILE] = { "profile", "number or profile", NULL },
    [PCS_OPTION_FORM] = { "other", "", NULL },
};

typedef struct schema {
    const pcs_catalogue *to;
    pcs_context *ctx; // holds the options of systems
    char last;        // last character written
} schema;

// Writes text of JSON with ' in place of ".
__attribute__((format(printf, 2, 3))) static void schema_put(schema *s, const char *format, ...)
{
    char text[2 * TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *p = text; (p = strchr(p, '\'')) != NULL;) *p = '"';
    s->to->put(s->to->user, text);
    if (text[0] != '\0') s->last = text[strlen(text) - 1];
}

static void schema_put_text(schema *s, const char *text)
{
    char escaped[2 * TEXT_BYTES] = "\"";
    for (char *to = escaped + 1; *text != '\0' && to < escaped + sizeof escaped - 3; *to++ = *text++)
        if (*text == '"' || *text == '\\') *to++ = '\\';
    strcat(escaped, "\"");
    s->to->put(s->to->user, escaped);
    s->last = '"';
}

// Begins the next item of a list, or the member `key` of a map.
static void schema_next(schema *s, const char *key)
{
    schema_put(s, s->last == '[' || s->last == '{' ? "\n" : ",\n");
    if (key == NULL) return;
    schema_put_text(s, key);
    schema_put(s, ":");
}

static void schema_range(schema *s, pcs_range range)
{
    bool is_given = range.low != 0.0 || range.high != 0.0;
    if (is_given && isfinite(range.low))
        schema_put(s, ",'%s':%.17g", range.low_is_open ? "exclusiveMinimum" : "minimum", range.low);
    if (is_given && isfinite(range.high))
        schema_put(s, ",'%s':%.17g", range.high_is_open ? "exclusiveMaximum" : "maximum", range.high);
}

// Writes the items of a list: numbers or copies of one; with `has_rows` also rows of them.
static void schema_items(schema *s, pcs_range range, bool has_rows)
{
    schema_put(s, "'items':{'type':['number','string','object'%s]," FORMULA ",'required':['repeat']",
               has_rows ? ",'array'" : "");
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

// Writes the type of a number that may vary along a line: from/to, table or steps.
static void schema_profile(schema *s, pcs_range range)
{
    static const char *const keys[] = { "from", "to", "table", "steps" };
    schema_put(s, "'type':['number','string','object']," FORMULA);
    schema_range(s, range);
    schema_put(s, ",'additionalProperties':false,'properties':{" INCLUDE);
    for (int i = 0; i < 4; i++) {
        schema_next(s, keys[i]);
        if (i < 2) {
            schema_put(s, "{'type':['number','string']," FORMULA);
            schema_range(s, range);
        } else {
            schema_put(s, "{'type':'array','minItems':2,'items':{'type':['array','object'],'required':['repeat'],"
                          "'minItems':2,'maxItems':2,");
            schema_items(s, (pcs_range)PCS_NOT_NEGATIVE, false);
            schema_put(s, "}");
        }
        schema_put(s, "}");
    }
    schema_put(s, "},'anyOf':[{'not':{'type':'object'}},{'required':['include']},{'oneOf':["
                  "{'required':['from','to']},{'required':['table']},{'required':['steps']}]}]");
}

static void schema_put_parts(schema *s, pcs_parts *parts)
{
    pcs_map_part part;
    for (int i = 0; parts(s->ctx, i, &part); i++) {
        schema_next(s, NULL);
        schema_put_text(s, part.name);
    }
}

static void schema_refer(schema *s, const char *name)
{
    schema_put(s, "{'$ref':'#/definitions/%s'}", name);
}

// Writes the type of a node. References go into a list of their own, since JSON ignores other keywords beside them.
static void schema_form(schema *s, const pcs_form *form)
{
    schema_put(s, "'anyOf':[");
    if (form->json != NULL) schema_put(s, "{%s}", form->json);
    if (form->parts != NULL) {
        schema_put(s,
                   form->map == NULL ? "{'default':'auto','enum':['auto'" : "{'type':'string'," FORMULA "},{'enum':[");
        schema_put_parts(s, form->parts);
        schema_put(s, "]}");
    }
    if (form->map != NULL) {
        schema_put(s, s->last == '[' ? "" : ",");
        schema_refer(s, form->map->name);
    }
    schema_put(s, "]");
}

// Writes what the value of an option may be.
static void schema_kind(schema *s, const pcs_option *o)
{
    if (o->form != NULL) {
        schema_form(s, o->form);
        return;
    }
    if (pcs_option_kinds[o->kind].json != NULL) schema_put(s, "%s", pcs_option_kinds[o->kind].json);
    switch (o->kind) {
    case PCS_OPTION_REAL:
    case PCS_OPTION_COUNT:
        schema_put(s, o->may_be_auto ? AUTO_OR_FORMULA : FORMULA);
        schema_range(s, o->range);
        break;
    case PCS_OPTION_CHOICE:
        for (const char *const *name = o->choices; *name != NULL; name++) {
            schema_next(s, NULL);
            schema_put_text(s, *name);
        }
        schema_put(s, "]");
        break;
    case PCS_OPTION_VECTOR: schema_vector(s, o->range); break;
    case PCS_OPTION_LIST: schema_items(s, o->range, true); break;
    case PCS_OPTION_PROFILE: schema_profile(s, o->range); break;
    default: break;
    }
}

static void schema_options(schema *s, const pcs_option *o)
{
    for (; o != NULL && o->name != NULL; o++) {
        bool is_plain = o->kind == PCS_OPTION_REAL || o->kind == PCS_OPTION_COUNT || o->kind == PCS_OPTION_FLAG ||
                        o->kind == PCS_OPTION_VECTOR || o->kind == PCS_OPTION_LIST;
        schema_next(s, o->name);
        schema_put(s, "{'description':");
        schema_put_text(s, o->help);
        if (o->preset != NULL) schema_put(s, ",'default':");
        if (o->preset != NULL && is_plain) schema_put(s, "%s", o->preset);
        if (o->preset != NULL && !is_plain) schema_put_text(s, o->preset);
        schema_put(s, ",");
        schema_kind(s, o);
        schema_put(s, "}");
    }
}

static void schema_map_keys(schema *s, const pcs_map *map)
{
    schema_next(s, NULL);
    schema_put(s, INCLUDE);
    if (map->is_entry) {
        schema_put(s, ",\n'repeat':{'$ref':'#/definitions/repeat'},\n'each':");
        schema_refer(s, map->name);
    }
    schema_options(s, map->options);
}

static void schema_types(schema *s, const pcs_map *map)
{
    pcs_map_part part;
    schema_put(s, ",'properties':{'type':{'enum':[");
    schema_put_parts(s, map->parts);
    schema_put(s, "]}},'allOf':[");
    for (int i = 0; map->parts(s->ctx, i, &part); i++) {
        schema_next(s, NULL);
        schema_put(
            s, "{'if':{'required':['type'],'properties':{'type':{'const':'%s'}}},'then':{'description':", part.name);
        schema_put_text(s, part.summary);
        schema_put(s, ",'additionalProperties':false,'properties':{'type':{}");
        schema_map_keys(s, map);
        schema_options(s, part.options);
        schema_options(s, part.more);
        schema_put(s, "}}}");
    }
    schema_put(s, "]");
}

static void schema_observers(schema *s, const pcs_map *map)
{
    pcs_map_part part;
    for (int i = 0; map->parts(s->ctx, i, &part); i++) {
        schema_next(s, part.name);
        schema_put(s, "{'description':");
        schema_put_text(s, part.summary);
        schema_put(
            s, ",'type':['object','boolean'],'not':{'const':true},'additionalProperties':false,'properties':{" INCLUDE);
        schema_options(s, part.options);
        schema_put(s, "}}");
    }
}

// Writes the definition of a map: its keys and the values that they may have.
static void schema_define(schema *s, const pcs_map *map)
{
    if (map->kind == PCS_MAP_LIST) {
        schema_put(s, "'type':'array','items':");
        schema_refer(s, map->entry->name);
        return;
    }
    schema_put(s, "'type':'object'");
    if (map->kind == PCS_MAP_TYPES) {
        schema_types(s, map);
    } else if (map->kind == PCS_MAP_NAMES) {
        schema_put(s,
                   ",'properties':{" INCLUDE "},'additionalProperties':false,'patternProperties':{'" NAME_PATTERN "':");
        schema_refer(s, map->entry->name);
        schema_put(s, "}");
    } else {
        schema_put(s, ",'additionalProperties':false,'properties':{");
        schema_map_keys(s, map);
        if (map->kind == PCS_MAP_PARTS) schema_observers(s, map);
        schema_put(s, "}");
    }
}

pcs_status pcs_catalogue_write_schema(pcs_context *ctx, const pcs_catalogue *self)
{
    schema s = { .to = self, .ctx = ctx };
    maps_list maps = { .ctx = ctx };
    maps_add(&maps, "", "", &pcs_case_map);
    schema_put(&s,
               "{'$schema':'http://json-schema.org/draft-07/schema#',\n'title':'Case file of Percuss %s',\n"
               "'allOf':[{'$ref':'#/definitions/case'}],\n'definitions':{\n",
               percuss_version());
    schema_put(&s, "'include':{'description':'a file, or a list of files, whose keys are merged into this map; keys "
                   "given here win','type':['string','array'],'items':{'type':'string'}},\n'repeat':{"
                   "'description':'the entry stands for numbered copies, of all of it or of `each`; ${i}: number',"
                   "'type':'object','required':['count'],'additionalProperties':false,'properties':{");
    schema_options(&s, pcs_repeat_options);
    schema_put(&s, "}},\n'vector':{");
    schema_vector(&s, (pcs_range)PCS_ANY_NUMBER);
    schema_put(&s, "},\n'profile':{'anyOf':[{'type':'array','minItems':3,'maxItems':3,'items':{'type':["
                   "'number','string']}},{'type':'object','properties':{"
                   "'from':{'$ref':'#/definitions/vector'},'to':{'$ref':'#/definitions/vector'}},"
                   "'required':['from','to'],'additionalProperties':false}]}");
    for (int i = 0; i < maps.count; i++) {
        schema_put(&s, ",\n\n'%s':{", maps.found[i].map->name);
        schema_define(&s, maps.found[i].map);
        schema_put(&s, "}");
    }
    schema_put(&s, "}}\n");
    return PCS_OK;
}
