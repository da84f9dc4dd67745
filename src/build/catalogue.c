// What a case can be made of: the registries with their option tables, for `percuss list` and the documentation.

#include "build/build.h"
#include "build/sections.h"
#include "closed_form/closed_form.h"
#include "sim/control.h"

#include <string.h>

const pcs_case_section pcs_case_sections[] = {
    { "title", "a text for the summary", NULL },
    { "system", "instead of mesh and elements: `type` from the systems, or `plugin`, a shared object", NULL },
    { "mesh.NAME", "required: parts of the mesh, by `type` from the mesh sources; they make named sets", NULL },
    { "sets.NAME", "nodes or cells chosen from other sets; a set that is chosen may be named further down",
      pcs_set_options },
    { "merge.NAME", "parts of the mesh joined: nodes of these sets at the same place become one; all others stay apart",
      pcs_merge_options },
    { "elements.NAME", "required: `type` from the elements, `mesh`: the set of cells that gets them, `damping`", NULL },
    { "damping", "Rayleigh damping, for all elements or in one group; both add up", pcs_damping_options },
    { "supports.NAME", "`set` of nodes and `fix`: the directions held, some of [x, y, z, rx, ry, rz]",
      pcs_support_options },
    { "initial",
      "list of `set` with some of `displacement`, `velocity`, `rotation` (vector, rad), `spin` (rad/s): [x, y, z], or "
      "{ from, to } linear over the set; `about`: the spin is that of a rigid body about this point",
      NULL },
    { "start", "initial or statics [initial]: statics starts in equilibrium under the loads at t = 0, without friction",
      NULL },
    { "loads.NAME: gravity", "`type: gravity`", pcs_gravity_options },
    { "loads.NAME: force", "`type: force`, `node` or `set`, `amplitude: { table: [[time, factor], ...] }`",
      pcs_force_options },
    { "loads.NAME: moment", "`type: moment`, `node` or `set`, `amplitude` as of a force", pcs_moment_options },
    { "loads.NAME: torque", "`type: torque`, `node` or `set`, `amplitude` as of a force", pcs_torque_options },
    { "loads.NAME: line", "`type: line`, `cells`, `amplitude` as of a force", pcs_line_options },
    { "joints.NAME", "`type` from the joints; reactions are columns of the history", NULL },
    { "contacts.NAME", "`type` from the gap types; `points`: sum or all, history columns for every point", NULL },
    { "scheme", "required: `type` from the schemes, with its options", NULL },
    { "solver", "`type` from the step solvers, or auto [auto], `linear` from the linear solvers [auto]",
      pcs_solver_options },
    { "time", "required: `step`: step size, s, or auto (0.9 of the stable step of explicit schemes)",
      pcs_time_options },
    { "time.control", "step-size control by step doubling", pcs_control_options },
    { "certify", "strict or warn [strict]: does a violated certificate end the run", NULL },
    { "output.OBSERVER", "options of an observer, or false to switch it off", NULL },
    { "output.probes.NAME",
      "`node`, `set` or `element`, and `of`: [x, .., ux, .., vx, .., rx, .., wx, .., or a field of the element]",
      pcs_probe_options },
    { NULL, NULL, NULL },
};

typedef struct catalogue {
    FILE *out;
    const char *name; // NULL: all
    bool is_markdown;
    int count;
    const char *heading; // not written yet
} catalogue;

static void catalogue_kind(const pcs_option *o, size_t size, char *text)
{
    static const char *const kinds[] = {
        "number", "whole number", "true or false", "",        "[x, y, z]",
        "text",   "[numbers]",    "path",          "[names]", "{ NAME: [x, y, z], ... }"
    };
    char range[64];
    if (o->kind == PCS_OPTION_CHOICE) {
        size_t used = 0;
        text[0] = '\0';
        for (int i = 0; o->choices[i] != NULL && used < size; i++) {
            int length = snprintf(text + used, size - used, "%s%s", i == 0 ? "" : " or ", o->choices[i]);
            used += length < 0 ? 0 : (size_t)length;
        }
        return;
    }
    bool has_range = o->range.low != 0.0 || o->range.high != 0.0;
    if (has_range) pcs_range_text(o->range, sizeof range, range);
    bool is_shown = has_range && range[0] != '\0';
    snprintf(text, size, "%s%s%s", kinds[o->kind], is_shown ? " " : "", is_shown ? range : "");
}

static void catalogue_option(const catalogue *k, const pcs_option *o)
{
    char kind[160], preset[80];
    catalogue_kind(o, sizeof kind, kind);
    if (o->is_required) {
        snprintf(preset, sizeof preset, "required");
    } else if (k->is_markdown) {
        snprintf(preset, sizeof preset, "%s", o->preset == NULL ? "" : o->preset);
    } else {
        snprintf(preset, sizeof preset, "[%s]", o->preset == NULL ? "none" : o->preset);
    }
    if (k->is_markdown) {
        fprintf(k->out, "| `%s` | %s | %s | %s |\n", o->name, kind, preset, o->help);
    } else {
        fprintf(k->out, "      %-16s %-32s %-18s %s\n", o->name, kind, preset, o->help);
    }
}

static void catalogue_entry(catalogue *k, const char *name, const char *summary, const pcs_option *options)
{
    if (k->name != NULL && strcmp(k->name, name) != 0) return;
    if (k->heading != NULL) fprintf(k->out, k->is_markdown ? "\n## %s\n" : "\n%s\n", k->heading);
    k->heading = NULL;
    k->count++;
    bool has_options = options != NULL && options[0].name != NULL;
    if (k->is_markdown) {
        fprintf(k->out, "\n### `%s`\n\n%s\n", name, summary);
        if (has_options) fprintf(k->out, "\n| key | value | default | meaning |\n|---|---|---|---|\n");
    } else {
        fprintf(k->out, "  %-20s %s\n", name, summary);
    }
    for (; options != NULL && options->name != NULL; options++) catalogue_option(k, options);
}

// The parameters of a system become options in memory that is given back at once.
static void catalogue_systems(catalogue *k)
{
    pcs_context *ctx = NULL;
    if (pcs_context_create(&ctx) != PCS_OK) return;
    for (int i = 0; pcs_closed_forms[i] != NULL; i++) {
        pcs_option *options = NULL;
        if (pcs_closed_form_options(ctx, pcs_closed_forms[i], &options) != PCS_OK) break;
        catalogue_entry(k, pcs_closed_forms[i]->name, pcs_closed_forms[i]->summary, options);
    }
    pcs_context_destroy(&ctx);
}

int pcs_catalogue_write(FILE *out, const char *name, bool is_markdown)
{
    catalogue k = { .out = out, .name = name, .is_markdown = is_markdown };
    k.heading = "Keys of a case";
    for (const pcs_case_section *s = pcs_case_sections; s->key != NULL; s++)
        catalogue_entry(&k, s->key, s->summary, s->options);
    k.heading = "Systems (system.type)";
    catalogue_systems(&k);
    k.heading = "Mesh sources (mesh.NAME.type)";
    for (int i = 0; pcs_mesh_sources[i] != NULL; i++) {
        catalogue_entry(&k, pcs_mesh_sources[i]->name, pcs_mesh_sources[i]->summary, pcs_mesh_sources[i]->options);
    }
    k.heading = "Elements (elements.NAME.type)";
    for (int i = 0; pcs_elements[i] != NULL; i++) {
        catalogue_entry(&k, pcs_elements[i]->name, pcs_elements[i]->summary, pcs_elements[i]->options);
    }
    k.heading = "Joints (joints.NAME.type)";
    for (int i = 0; pcs_joints[i] != NULL; i++) {
        catalogue_entry(&k, pcs_joints[i]->name, pcs_joints[i]->summary, pcs_joints[i]->options);
    }
    k.heading = "Gap types (contacts.NAME.type)";
    for (int i = 0; pcs_gap_types[i] != NULL; i++) {
        catalogue_entry(&k, pcs_gap_types[i]->name, pcs_gap_types[i]->summary, pcs_gap_types[i]->options);
    }
    k.heading = "Schemes (scheme.type)";
    for (int i = 0; pcs_schemes[i] != NULL; i++) {
        catalogue_entry(&k, pcs_schemes[i]->name, pcs_schemes[i]->summary, pcs_schemes[i]->options);
    }
    k.heading = "Step solvers (solver.type)";
    for (int i = 0; pcs_step_solvers[i] != NULL; i++) {
        catalogue_entry(&k, pcs_step_solvers[i]->name, pcs_step_solvers[i]->summary, NULL);
    }
    k.heading = "Linear solvers (solver.linear)";
    for (int i = 0; pcs_linsolvers[i] != NULL; i++) {
        catalogue_entry(&k, pcs_linsolvers[i]->name, pcs_linsolvers[i]->summary, NULL);
    }
    k.heading = "Observers (output.NAME)";
    for (int i = 0; pcs_observers[i] != NULL; i++) {
        catalogue_entry(&k, pcs_observers[i]->name, pcs_observers[i]->summary, pcs_observers[i]->options);
    }
    pcs_catalogue_applies(out, name, is_markdown);
    return k.count;
}
