// The sections of a case and the registries, with their option tables.

#include "build/catalogue.h"

#include "build/build.h"
#include "build/sections.h"
#include "closed_form/closed_form.h"
#include "elements/section.h"
#include "sim/checkpoint.h"
#include "sim/control.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct catalogue_section {
    const char *key; // "loads.NAME"
    const char *summary;
    const pcs_option *options; // ends with a NULL name; NULL: none
} catalogue_section;

static const catalogue_section catalogue_sections[] = {
    { "title", "a text for the summary", NULL },
    { "parameters", "numbers by name; any value may be a formula of them: ${L/2}", NULL },
    { "include", "a file, or a list of files, whose keys are merged into this map; keys given here win", NULL },
    { "repeat", "in an entry of a list or map: it stands for numbered copies, of all of it or of `each`; ${i}: number",
      pcs_repeat_options },
    { "system", "instead of mesh and elements: `type` from the systems, or `plugin`, a shared object", NULL },
    { "mesh.NAME", "required: parts of the mesh, by `type` from the mesh sources; they make named sets", NULL },
    { "sets.NAME", "nodes or cells chosen from other sets; a set may be used by sets further down", pcs_set_options },
    { "mesh.NAME.cells",
      "of a line, in place of `elements`: cells cut by the travel time of waves in its group of rods",
      pcs_cells_options },
    { "merge.NAME", "parts of the mesh joined: nodes of these sets at the same place become one; all others stay apart",
      pcs_merge_options },
    { "elements.NAME",
      "required: `type` from the elements, `mesh`: the set of cells that gets them, or a list of sets, `damping`; "
      "`section` of beams: "
      "`type` from the cross sections. A profile is a map in place of a number that varies along a line of cells: "
      "{ from, to }, { table: [[place, value], ...] } or { steps: [[place, value], ...] }",
      NULL },
    { "damping", "Rayleigh damping, for all elements or in one group; both add up", pcs_damping_options },
    { "supports.NAME", "`set` of nodes and `fix`: the directions held, some of [x, y, z, rx, ry, rz]",
      pcs_support_options },
    { "initial",
      "list of `set` with some of `displacement`, `velocity`, `rotation` (vector, rad), `spin` (rad/s): [x, y, z], or "
      "{ from, to } linear over the set; entries of [x, y, z] may be formulas of x, y, z, the place of the node; "
      "`about`: the spin is that of a rigid body about this point",
      NULL },
    { "start",
      "initial or statics [initial]: statics starts in equilibrium under the loads at t = 0, by load steps; or a "
      "map: "
      "from the state of another run of this model",
      pcs_start_options },
    { "statics", "how `percuss statics` and `start: statics` find an equilibrium", pcs_statics_keys },
    { "loads.NAME: gravity", "`type: gravity`", pcs_gravity_options },
    { "loads.NAME: force", "`type: force`, `node` or `set`, `amplitude`", pcs_force_options },
    { "loads.NAME: moment", "`type: moment`, `node` or `set`, `amplitude` as of a force", pcs_moment_options },
    { "loads.NAME: torque", "`type: torque`, `node` or `set`, `amplitude` as of a force", pcs_torque_options },
    { "loads.NAME: line", "`type: line`, `cells`, `amplitude` as of a force", pcs_line_options },
    { "loads.NAME.amplitude",
      "factor over time, one of: `table: [[time, factor], ...]` (linear between, constant outside), `csv`, `sine`, "
      "`ramp`, `pulse`, `expression`",
      pcs_amplitude_options },
    { "loads.NAME.amplitude.sine", "a harmonic", pcs_sine_options },
    { "loads.NAME.amplitude.ramp", "from one factor to another", pcs_ramp_options },
    { "loads.NAME.amplitude.pulse", "zero before and after", pcs_pulse_options },
    { "joints.NAME", "`type` from the joints; reactions are columns of the history", NULL },
    { "joints.NAME: prescribed",
      "besides its options: `displacement` or `velocity`, a map as the amplitude of a load, in m or m/s, rad or rad/s",
      NULL },
    { "contacts.NAME",
      "`type` from the gap types; `law`: a force law; `points`: sum or all, history columns for every point", NULL },
    { "scheme", "required: `type` from the schemes, with its options", NULL },
    { "solver", "`type` from the step solvers, or auto [auto], `linear` from the linear solvers [auto]",
      pcs_solver_options },
    { "time",
      "required: `step`: step size, s, or auto (0.9 of the stable step of explicit schemes; travel time of waves "
      "through a cell for wave)",
      pcs_time_options },
    { "time.control", "`type`: adaptive, step-size control by step doubling", pcs_control_options },
    { "certify", "strict or warn [strict]: does a violated certificate end the run", NULL },
    { "output.OBSERVER", "options of an observer, or false to switch it off", NULL },
    { "output.checkpoint", "what a run can be resumed from, or false for none", pcs_checkpoint_options },
    { "output.probes.NAME",
      "`node`, `set`, `element` or `body`, and `of`: [x, .., ux, .., vx, .., rx, .., wx, .., or a field of the "
      "element]; of a `body`, a set of cells, the centre of mass",
      pcs_probe_options },
    { NULL, NULL, NULL },
};

// One heading with its parts; it is written with the first that is wanted.
typedef struct chapter {
    const pcs_catalogue *catalogue;
    const char *heading;
    const char *section; // of the case: "contacts"; NULL: the name of an entry begins with its own
    int count;
} chapter;

// Headings as they come, and the parts of those that are through.
typedef struct catalogue_writer {
    chapter chapter;
    int count;
} catalogue_writer;

void pcs_catalogue_print(const pcs_catalogue *self, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    self->put(self->user, text);
}

bool pcs_catalogue_wants(const pcs_catalogue *self, const char *name)
{
    return self->name == NULL || strcmp(self->name, name) == 0;
}

// The text, broken at the width of the screen with `indent` blanks before every further line.
static void catalogue_put(const pcs_catalogue *self, int column, int indent, const char *text)
{
    int gap = 0; // blanks before the next word, none at the end of a line
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        bool is_full = self->width > 0 && column > indent && column + gap + length > self->width;
        if (is_full) pcs_catalogue_print(self, "\n%*s%.*s", indent, "", length, text);
        else pcs_catalogue_print(self, "%*s%.*s", gap, "", length, text);
        column = (is_full ? indent : column + gap) + length;
        text += length;
        gap = (int)strspn(text, " ");
        text += gap;
    }
    self->put(self->user, "\n");
}

// Is a part wanted, by its own name or by that of its section? `schemes` is as good as `scheme`.
static bool catalogue_wants(const chapter *c, const char *name)
{
    const char *wanted = c->catalogue->name, *section = c->section == NULL ? name : c->section;
    if (pcs_catalogue_wants(c->catalogue, name)) return true;
    size_t length = c->section == NULL ? strcspn(name, ".:") : strlen(section);
    if (strncmp(wanted, section, length) != 0) return false;
    return wanted[length] == '\0' || strcmp(wanted + length, "s") == 0;
}

static void catalogue_kind(const pcs_option *o, size_t size, char *text)
{
    static const char *const kinds[] = {
        "number",       "whole number",     "true or false", "",        "[x, y, z]",
        "text",         "[numbers]",        "path",          "[names]", "{ NAME: [x, y, z], ... }",
        "formula of t", "number or profile"
    };
    char range[64];
    if (o->kind == PCS_OPTION_CHOICE) {
        pcs_join_names(o->choices, " or ", size, text);
        return;
    }
    bool has_range = o->range.low != 0.0 || o->range.high != 0.0;
    if (has_range) pcs_range_text(o->range, sizeof range, range);
    bool is_shown = has_range && range[0] != '\0';
    snprintf(text, size, "%s%s%s", kinds[o->kind], is_shown ? " " : "", is_shown ? range : "");
}

// In columns, or on a narrow screen below one another.
static void catalogue_put_option(const pcs_catalogue *self, const pcs_option *o, const char *kind, const char *preset)
{
    char head[256];
    int column = snprintf(head, sizeof head, "      %-16s %-32s %-18s ", o->name, kind, preset);
    bool is_narrow = self->width > 0 && self->width < column + 24;
    if (!is_narrow) {
        self->put(self->user, head);
        catalogue_put(self, column, column, o->help);
        return;
    }
    column = snprintf(head, sizeof head, "      %-16s ", o->name);
    self->put(self->user, head);
    snprintf(head, sizeof head, "%s %s", kind, preset);
    catalogue_put(self, column, column, head);
    pcs_catalogue_print(self, "%*s", 12, "");
    catalogue_put(self, 12, 12, o->help);
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
        pcs_catalogue_print(self, "| `%s` | %s | %s | %s |\n", o->name, kind, preset, o->help);
        return;
    }
    catalogue_put_option(self, o, kind, preset);
}

static void catalogue_entry(chapter *c, const char *name, const char *summary, const pcs_option *options)
{
    const pcs_catalogue *self = c->catalogue;
    bool has_options = options != NULL && options[0].name != NULL;
    if (!catalogue_wants(c, name)) return;
    if (c->count++ == 0) pcs_catalogue_print(self, self->is_markdown ? "\n## %s\n" : "\n%s\n", c->heading);
    pcs_catalogue_print(self, self->is_markdown ? "\n### `%s`\n\n" : "  %-20s ", name);
    catalogue_put(self, self->is_markdown ? 0 : 23, self->is_markdown ? 0 : 23, summary);
    if (has_options && self->is_markdown)
        self->put(self->user, "\n| key | value | default | meaning |\n|---|---|---|---|\n");
    for (; options != NULL && options->name != NULL; options++) catalogue_option(self, options);
}

// Entries of one heading follow one another.
static void catalogue_write_entry(void *user, const pcs_catalogue_entry *entry)
{
    catalogue_writer *w = user;
    if (w->chapter.heading == NULL || strcmp(entry->heading, w->chapter.heading) != 0) {
        w->chapter.heading = entry->heading;
        w->chapter.section = entry->section;
        w->count += w->chapter.count;
        w->chapter.count = 0;
    }
    catalogue_entry(&w->chapter, entry->name, entry->summary, entry->options);
}

int pcs_catalogue_write(const pcs_catalogue *self)
{
    catalogue_writer w = { .chapter = { .catalogue = self } };
    (void)pcs_catalogue_walk(catalogue_write_entry, &w); // out of memory: what there was is shown
    return w.count + w.chapter.count;
}

static void catalogue_walk_sections(pcs_catalogue_visit *visit, void *user)
{
    for (const catalogue_section *s = catalogue_sections; s->key != NULL; s++)
        visit(user, &(pcs_catalogue_entry){ "Keys of a case", NULL, s->key, s->summary, s->options });
}

// The parameters of a system become options in memory that is given back at once.
static pcs_status catalogue_walk_systems(pcs_catalogue_visit *visit, void *user)
{
    pcs_context *ctx = NULL;
    PCS_TRY(pcs_context_create(&ctx));
    pcs_status status = PCS_OK;
    for (int i = 0; pcs_closed_forms[i] != NULL && status == PCS_OK; i++) {
        const percuss_system_definition *d = pcs_closed_forms[i];
        pcs_option *options = NULL;
        status = pcs_closed_form_options(ctx, d, &options);
        if (status == PCS_OK)
            visit(user, &(pcs_catalogue_entry){ "Systems (system.type)", "system", d->name, d->summary, options });
    }
    pcs_context_destroy(&ctx);
    return status;
}

// The parts of registry `table`; `options` are those of its part i.
#define CATALOGUE_REGISTRY(title, section, table, options)                                                     \
    do {                                                                                                       \
        for (int i = 0; table[i] != NULL; i++)                                                                 \
            visit(user, &(pcs_catalogue_entry){ title, section, table[i]->name, table[i]->summary, options }); \
    } while (0)

enum { CATALOGUE_OPTIONS = 24 }; // of an element at most

// Beams have the type of their cross section besides their own options.
static void catalogue_walk_elements(pcs_catalogue_visit *visit, void *user)
{
    const char *shapes[PCS_BUILD_NAMES];
    PCS_BUILD_NAMES_OF(pcs_section_types, shapes);
    const pcs_option section = { .name = "section.type",
                                 .kind = PCS_OPTION_CHOICE,
                                 .choices = shapes,
                                 .is_required = true,
                                 .help = "of the cross section; its sizes stand beside it: `percuss list rectangle`" };
    for (int i = 0; pcs_elements[i] != NULL; i++) {
        pcs_option options[CATALOGUE_OPTIONS + 2] = { 0 };
        int count = 0;
        for (const pcs_option *o = pcs_elements[i]->options; o->name != NULL && count < CATALOGUE_OPTIONS; o++)
            options[count++] = *o;
        if (pcs_elements[i]->has_section) options[count] = section;
        visit(user, &(pcs_catalogue_entry){ "Elements (elements.NAME.type)", "elements", pcs_elements[i]->name,
                                            pcs_elements[i]->summary, options });
    }
}

pcs_status pcs_catalogue_walk(pcs_catalogue_visit *visit, void *user)
{
    catalogue_walk_sections(visit, user);
    pcs_status status = catalogue_walk_systems(visit, user);
    CATALOGUE_REGISTRY("Mesh sources (mesh.NAME.type)", "mesh", pcs_mesh_sources, pcs_mesh_sources[i]->options);
    catalogue_walk_elements(visit, user);
    CATALOGUE_REGISTRY("Cross sections (elements.NAME.section.type)", "section", pcs_section_types,
                       pcs_section_types[i]->options);
    CATALOGUE_REGISTRY("Joints (joints.NAME.type)", "joints", pcs_joints, pcs_joints[i]->options);
    CATALOGUE_REGISTRY("Gap types (contacts.NAME.type)", "contacts", pcs_gap_types, pcs_gap_types[i]->options);
    CATALOGUE_REGISTRY("Force laws (contacts.NAME.law.type)", "contacts", pcs_force_law_types,
                       pcs_force_law_types[i]->options);
    CATALOGUE_REGISTRY("Schemes (scheme.type)", "scheme", pcs_schemes, pcs_schemes[i]->options);
    CATALOGUE_REGISTRY("Step solvers (solver.type)", "solver", pcs_step_solvers, NULL);
    CATALOGUE_REGISTRY("Linear solvers (solver.linear)", "solver", pcs_linsolvers, NULL);
    CATALOGUE_REGISTRY("Observers (output.NAME)", "output", pcs_observers, pcs_observers[i]->options);
    return status;
}

pcs_status pcs_catalogue_write_plugin(pcs_context *ctx, const pcs_catalogue *self, const char *path)
{
    chapter c = { self, "A system of your own (system.plugin)", "system", 0 };
    const percuss_system_definition *definition = NULL;
    pcs_option *options = NULL;
    PCS_TRY(pcs_system_open(ctx, path, &definition));
    PCS_TRY(pcs_closed_form_options(ctx, definition, &options));
    catalogue_entry(&c, definition->name, definition->summary, options);
    return PCS_OK;
}

void pcs_catalogue_names(void (*take)(void *user, const char *name, const char *summary), void *user)
{
    char last[32] = "";
    for (const catalogue_section *s = catalogue_sections; s->key != NULL; s++) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(s->key, ".:"), s->key);
        if (strcmp(name, last) != 0) take(user, name, "a section of the case");
        memcpy(last, name, sizeof last);
    }
    take(user, "section", "cross sections of beams");
#define CATALOGUE_NAMES(table) \
    for (int i = 0; table[i] != NULL; i++) take(user, table[i]->name, table[i]->summary)
    CATALOGUE_NAMES(pcs_closed_forms);
    CATALOGUE_NAMES(pcs_mesh_sources);
    CATALOGUE_NAMES(pcs_elements);
    CATALOGUE_NAMES(pcs_section_types);
    CATALOGUE_NAMES(pcs_joints);
    CATALOGUE_NAMES(pcs_gap_types);
    CATALOGUE_NAMES(pcs_force_law_types);
    CATALOGUE_NAMES(pcs_schemes);
    CATALOGUE_NAMES(pcs_step_solvers);
    CATALOGUE_NAMES(pcs_linsolvers);
    CATALOGUE_NAMES(pcs_observers);
#undef CATALOGUE_NAMES
}

enum { CATALOGUE_MOST = 256 };

typedef struct catalogue_list {
    int count;
    const char *names[CATALOGUE_MOST + 1];
    char sections[CATALOGUE_MOST][32];
} catalogue_list;

static void catalogue_collect(void *user, const char *name, const char *summary)
{
    catalogue_list *list = user;
    (void)summary;
    if (list->count == CATALOGUE_MOST) return;
    snprintf(list->sections[list->count], sizeof *list->sections, "%s", name);
    list->names[list->count] = list->sections[list->count];
    list->count++;
}

const char *pcs_catalogue_hint(const char *name, size_t size, char *buffer)
{
    catalogue_list list = { 0 };
    pcs_catalogue_names(catalogue_collect, &list);
    return pcs_spelling_hint(name, list.names, size, buffer);
}
