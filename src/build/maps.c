// Lists the maps of a case and the registries of its parts, and walks over them. tests/cli/test_schema.py compares all
// of it with what the readers allow.

#include "build/maps.h"

#include "analysis/analysis.h"

#include <stdio.h>
#include <string.h>

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
static const pcs_form certify_form = { .shown = "strict or warn", .json = "'enum':['strict','warn']" };

#define SECTION(key, of, text)                                              \
    {                                                                       \
        .name = (key), .kind = PCS_OPTION_NODE, .help = text, .form = &(of) \
    }
#define SECTION_MAP(key, of, text) SECTION(key, ((const pcs_form){ .map = &(of) }), text)

static const pcs_option case_options[] = {
    SECTION("title", title_form, "for the summary"),
    SECTION("parameters", parameters_form, "numbers by name; any value may be a formula of them: ${L/2}"),
    SECTION_MAP("system", pcs_system_map, "instead of mesh and elements: `type` from the systems, or `plugin`"),
    SECTION_MAP("mesh", map_mesh, "required: parts of the mesh, by `type` from the mesh sources; they make named sets"),
    SECTION_MAP("sets", map_sets, "nodes or cells chosen from other sets; a set may be used by sets further down"),
    SECTION_MAP("merge", map_merge,
                "parts of the mesh joined: nodes of these sets at the same place become one; all others stay apart"),
    SECTION_MAP("damping", pcs_damping_map, "Rayleigh damping, for all elements or in one group; both add up"),
    SECTION_MAP("elements", map_elements,
                "required: groups of cells with `type` from the elements. A profile is a map in place of a number that "
                "varies along "
                "a line of cells: { from, to }, { table: [[place, value], ...] } or { steps: [[place, value], ...] }"),
    SECTION_MAP("supports", map_supports, "nodes that are held"),
    SECTION_MAP("initial", map_initial, "list of initial values"),
    SECTION(
        "start", start_form,
        "[initial]; statics starts in equilibrium under the loads at t = 0, by load steps; a map: from the state of "
        "another run of this model"),
    SECTION_MAP("statics", map_statics, "how `percuss statics` and `start: statics` find an equilibrium"),
    SECTION_MAP("loads", map_loads, "`type` from the loads"),
    SECTION_MAP("joints", map_joints, "`type` from the joints; reactions are columns of the history"),
    SECTION_MAP("contacts", map_contacts, "`type` from the gap types"),
    SECTION_MAP("scheme", pcs_scheme_map, "required: the time integrator, `type` from the schemes, with its options"),
    SECTION_MAP("solver", pcs_solver_map, "what solves a step"),
    SECTION_MAP("time", pcs_time_map, "required: the clock, step and end"),
    SECTION("certify", certify_form, "does a violated certificate end the run [strict]"),
    SECTION_MAP("output", pcs_output_map, "what a run writes: options of observers, or false to switch one off"),
    { .name = NULL },
};
static const char *const case_one[] = { "system", "mesh", NULL };
const pcs_map pcs_case_map = { .name = "case", .options = case_options, .one = case_one };

typedef struct maps_walker {
    pcs_context *ctx;
    pcs_map_visit *visit;
    void *user;
    int count;
    const pcs_map *seen[MOST_MAPS];
} maps_walker;

static void maps_walk_map(maps_walker *w, const char *path, const char *help, const pcs_map *map);

static void maps_walk_options(maps_walker *w, const char *path, const pcs_option *options)
{
    char longer[PCS_PATH_BYTES];
    for (; options != NULL && options->name != NULL; options++) {
        if (options->form == NULL || options->form->map == NULL) continue;
        snprintf(longer, sizeof longer, "%s%s%s", path, path[0] == '\0' ? "" : ".", options->name);
        maps_walk_map(w, longer, options->help, options->form->map);
    }
}

static void maps_walk_map(maps_walker *w, const char *path, const char *help, const pcs_map *map)
{
    char longer[PCS_PATH_BYTES];
    pcs_map_part part;
    for (int i = 0; i < w->count; i++)
        if (w->seen[i] == map) return;
    if (w->count == MOST_MAPS) return;
    w->seen[w->count++] = map;
    w->visit(w->user, path, help, map);
    snprintf(longer, sizeof longer, "%s%s", path, map->kind == PCS_MAP_NAMES ? ".NAME" : "");
    if (map->entry != NULL) maps_walk_map(w, longer, help, map->entry);
    maps_walk_options(w, path, map->options);
    if (map->parts == NULL) return;
    for (int i = 0; map->parts(w->ctx, i, &part); i++) {
        maps_walk_options(w, path, part.options);
        maps_walk_options(w, path, part.more);
    }
}

void pcs_maps_walk(pcs_context *ctx, pcs_map_visit *visit, void *user)
{
    maps_walker w = { .ctx = ctx, .visit = visit, .user = user };
    maps_walk_map(&w, "", "", &pcs_case_map);
}
