// Which map of a case has which keys: the option tables and registries, and the keys that readers look up besides.
// tests/cli/test_schema.py compares all of it with what the reader itself allows.

#include "build/schema.h"

#include "build/sections.h"
#include "closed_form/closed_form.h"
#include "elements/section.h"
#include "sim/checkpoint.h"
#include "sim/control.h"

#include <string.h>

#define TEXT "\"type\":\"string\",\"minLength\":1"
#define TEXTS "\"type\":[\"string\",\"array\"],\"minLength\":1,\"minItems\":1,\"items\":{" TEXT "}"
#define NUMBER "{\"type\":[\"number\",\"string\",\"object\"],\"pattern\":\"\\\\$\\\\{\",\"required\":[\"repeat\"]}"
#define SCALAR "{\"type\":[\"number\",\"string\"],\"pattern\":\"\\\\$\\\\{\"}"
#define VECTOR "\"$ref\":\"#/definitions/vector\""

// The parts of registry `table`.
#define SCHEMA_REGISTRY(function, table, own_options, own_keys)                                         \
    static bool function(pcs_context *ctx, int i, pcs_schema_part *out)                                 \
    {                                                                                                   \
        (void)ctx;                                                                                      \
        if ((table)[i] == NULL) return false;                                                           \
        *out = (pcs_schema_part){ (table)[i]->name, (table)[i]->summary, own_options, own_keys, NULL }; \
        return true;                                                                                    \
    }

SCHEMA_REGISTRY(schema_force_laws, pcs_force_law_types, pcs_force_law_types[i]->options, NULL)
SCHEMA_REGISTRY(schema_schemes, pcs_schemes, pcs_schemes[i]->options, NULL)
SCHEMA_REGISTRY(schema_step_solvers, pcs_step_solvers, NULL, NULL)
SCHEMA_REGISTRY(schema_linsolvers, pcs_linsolvers, NULL, NULL)
SCHEMA_REGISTRY(schema_sections, pcs_section_types, pcs_section_types[i]->options, NULL)

static bool schema_systems(pcs_context *ctx, int i, pcs_schema_part *out)
{
    pcs_option *options = NULL;
    if (pcs_closed_forms[i] == NULL || pcs_closed_form_options(ctx, pcs_closed_forms[i], &options) != PCS_OK)
        return false;
    *out = (pcs_schema_part){ pcs_closed_forms[i]->name, pcs_closed_forms[i]->summary, options, NULL, NULL };
    return true;
}

static const pcs_schema_map map_damping = { .name = "damping", .options = pcs_damping_options };
static const pcs_schema_map map_section = { .name = "section", .form = PCS_SCHEMA_TYPES, .parts = schema_sections };

static const pcs_schema_key section_keys[] = {
    { .name = "section", .help = "the cross section: a type and its sizes", .is_required = true, .map = &map_section },
    { .name = NULL },
};

SCHEMA_REGISTRY(schema_elements, pcs_elements, pcs_elements[i]->options,
                pcs_elements[i]->has_section ? section_keys : NULL)

static const pcs_schema_key system_keys[] = {
    { .name = "plugin", .help = "a shared object with a system of your own, instead of `type`", .value = TEXT },
    { .name = NULL },
};
static const pcs_schema_map map_system = {
    .name = "system", .form = PCS_SCHEMA_TYPES, .keys = system_keys, .parts = schema_systems, .stands_for = "plugin"
};

#define SCHEMA_NAMED(map, title, of) \
    static const pcs_schema_map map = { .name = title, .form = PCS_SCHEMA_NAMES, .entry = &(of) }

static const pcs_schema_map map_cells = { .name = "cells", .options = pcs_cells_options };
static const pcs_schema_key line_mesh_keys[] = {
    { .name = "cells", .help = "cut by the travel time of waves", .map = &map_cells, .gives = "elements" },
    { .name = NULL },
};

SCHEMA_REGISTRY(schema_mesh_sources, pcs_mesh_sources, pcs_mesh_sources[i]->options,
                strcmp(pcs_mesh_sources[i]->name, "line") == 0 ? line_mesh_keys : NULL)

static const pcs_schema_map map_mesh_part = {
    .name = "mesh part", .form = PCS_SCHEMA_TYPES, .is_entry = true, .parts = schema_mesh_sources
};
SCHEMA_NAMED(map_mesh, "mesh", map_mesh_part);

static const char *const set_choice[] = { "nodes", "cells", NULL };
static const pcs_schema_map map_set = {
    .name = "set", .is_entry = true, .options = pcs_set_options, .one = set_choice
};
SCHEMA_NAMED(map_sets, "sets", map_set);
static const pcs_schema_map map_merge_entry = { .name = "merged", .is_entry = true, .options = pcs_merge_options };
SCHEMA_NAMED(map_merge, "merge", map_merge_entry);

static const pcs_schema_key group_keys[] = {
    { .name = "mesh", .help = "the set or sets of cells that get these elements", .is_required = true, .value = TEXTS },
    { .name = "damping", .help = "Rayleigh damping", .map = &map_damping },
    { .name = NULL },
};
static const pcs_schema_map map_group = {
    .name = "element group", .form = PCS_SCHEMA_TYPES, .is_entry = true, .keys = group_keys, .parts = schema_elements
};
SCHEMA_NAMED(map_elements, "elements", map_group);

static const pcs_schema_key support_keys[] = {
    { .name = "set", .help = "the set of nodes that is held", .is_required = true, .value = TEXT },
    { .name = "fix",
      .help = "the directions that are held",
      .is_required = true,
      .value = "\"type\":\"array\",\"minItems\":1,\"uniqueItems\":true,"
               "\"items\":{\"enum\":[\"x\",\"y\",\"z\",\"rx\",\"ry\",\"rz\"]}" },
    { .name = NULL },
};
static const pcs_schema_map map_support = {
    .name = "support", .is_entry = true, .keys = support_keys, .options = pcs_support_options
};
SCHEMA_NAMED(map_supports, "supports", map_support);

#define PROFILE "\"$ref\":\"#/definitions/profile\""
#define INITIAL_HELP "[x, y, z] of numbers or formulas of x, y, z, or { from, to } linear over the set"
static const pcs_schema_key initial_keys[] = {
    { .name = "set", .help = "the set of nodes that starts so", .is_required = true, .value = TEXT },
    { .name = "displacement", .help = INITIAL_HELP ", m", .value = PROFILE },
    { .name = "velocity", .help = INITIAL_HELP ", m/s", .value = PROFILE },
    { .name = "rotation", .help = INITIAL_HELP ", rad", .value = PROFILE },
    { .name = "spin", .help = INITIAL_HELP ", rad/s", .value = PROFILE },
    { .name = "about", .help = "the spin is that of a rigid body about this point, m", .value = VECTOR },
    { .name = NULL },
};
static const char *const initial_some[] = { "displacement", "velocity", "rotation", "spin", NULL };
static const pcs_schema_map map_initial_entry = {
    .name = "initial value", .is_entry = true, .keys = initial_keys, .some = initial_some
};
static const pcs_schema_map map_initial = { .name = "initial", .form = PCS_SCHEMA_LIST, .entry = &map_initial_entry };

static const pcs_schema_map map_sine = { .name = "sine", .options = pcs_sine_options };
static const pcs_schema_map map_ramp = { .name = "ramp", .options = pcs_ramp_options };
static const pcs_schema_map map_pulse = { .name = "pulse", .options = pcs_pulse_options };
static const pcs_schema_key amplitude_keys[] = {
    { .name = "table",
      .help = "rows [time, factor] with rising times; linear between, constant outside",
      .value = "\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":[\"array\",\"object\"],\"required\":[\"repeat\"],"
               "\"minItems\":2,\"maxItems\":2,\"items\":" NUMBER "}" },
    { .name = "sine", .help = "a harmonic", .map = &map_sine },
    { .name = "ramp", .help = "from one factor to another", .map = &map_ramp },
    { .name = "pulse", .help = "zero before and after", .map = &map_pulse },
    { .name = NULL },
};
static const char *const amplitude_one[] = { "table", "sine", "ramp", "pulse", "expression", "csv", NULL };
static const pcs_schema_map map_amplitude = {
    .name = "amplitude", .keys = amplitude_keys, .options = pcs_amplitude_options, .one = amplitude_one
};

#define AMPLITUDE                                                              \
    {                                                                          \
        .name = "amplitude", .help = "factor over time", .map = &map_amplitude \
    }
static const pcs_schema_key nodal_keys[] = {
    { .name = "node", .help = "a set of one node", .value = TEXT },
    { .name = "set", .help = "a set of nodes, instead of `node`", .value = TEXT },
    AMPLITUDE,
    { .name = NULL },
};
static const char *const nodal_one[] = { "node", "set", NULL };
static const pcs_schema_key line_keys[] = {
    { .name = "cells", .help = "the set of cells that is loaded", .is_required = true, .value = TEXT },
    AMPLITUDE,
    { .name = NULL },
};
static const pcs_schema_part load_parts[] = {
    { "gravity", "weight of all that has mass", pcs_gravity_options, NULL, NULL },
    { "force", "a force on nodes", pcs_force_options, nodal_keys, nodal_one },
    { "moment", "a moment on nodes", pcs_moment_options, nodal_keys, nodal_one },
    { "torque", "a torque about an axis on nodes", pcs_torque_options, nodal_keys, nodal_one },
    { "line", "a force along cells", pcs_line_options, line_keys, NULL },
};

static bool schema_loads(pcs_context *ctx, int i, pcs_schema_part *out)
{
    (void)ctx;
    if (i >= (int)(sizeof load_parts / sizeof *load_parts)) return false;
    *out = load_parts[i];
    return true;
}

static const pcs_schema_map map_load = {
    .name = "load", .form = PCS_SCHEMA_TYPES, .is_entry = true, .parts = schema_loads
};
SCHEMA_NAMED(map_loads, "loads", map_load);

static const pcs_schema_key motion_keys[] = {
    { .name = "displacement", .help = "over time, m or rad", .map = &map_amplitude },
    { .name = "velocity", .help = "over time, m/s or rad/s", .map = &map_amplitude },
    { .name = NULL },
};

SCHEMA_REGISTRY(schema_joints, pcs_joints, pcs_joints[i]->options, pcs_joints[i]->signals == NULL ? NULL : motion_keys)

static const pcs_schema_map map_joint = {
    .name = "joint", .form = PCS_SCHEMA_TYPES, .is_entry = true, .parts = schema_joints
};
SCHEMA_NAMED(map_joints, "joints", map_joint);

static const pcs_schema_map map_law = { .name = "force law", .form = PCS_SCHEMA_TYPES, .parts = schema_force_laws };
static const pcs_schema_key contact_keys[] = {
    { .name = "law", .help = "a force law, in place of the rigid one", .map = &map_law },
    { .name = "points", .help = "all: history columns for every point", .value = "\"enum\":[\"sum\",\"all\"]" },
    { .name = NULL },
};
static const char *const contact_one[] = { "restitution", "law", NULL };

static bool schema_gap_types(pcs_context *ctx, int i, pcs_schema_part *out)
{
    (void)ctx;
    if (pcs_gap_types[i] == NULL) return false;
    *out = (pcs_schema_part){ pcs_gap_types[i]->name, pcs_gap_types[i]->summary, pcs_gap_types[i]->options, NULL,
                              contact_one };
    return true;
}

static const pcs_schema_map map_contact = {
    .name = "contact", .form = PCS_SCHEMA_TYPES, .is_entry = true, .keys = contact_keys, .parts = schema_gap_types
};
SCHEMA_NAMED(map_contacts, "contacts", map_contact);

static const pcs_schema_map map_scheme = { .name = "scheme", .form = PCS_SCHEMA_TYPES, .parts = schema_schemes };

static const pcs_schema_key solver_keys[] = {
    { .name = "type", .help = "the step solver", .parts = schema_step_solvers },
    { .name = "linear", .help = "solver of the linear equations", .parts = schema_linsolvers },
    { .name = NULL },
};
static const pcs_schema_map map_solver = { .name = "solver", .keys = solver_keys, .options = pcs_solver_options };

static bool schema_controls(pcs_context *ctx, int i, pcs_schema_part *out)
{
    (void)ctx;
    *out = (pcs_schema_part){ "adaptive", "step doubling", pcs_control_options, NULL, NULL };
    return i == 0;
}

static const pcs_schema_map map_control = { .name = "control", .form = PCS_SCHEMA_TYPES, .parts = schema_controls };
static const pcs_schema_key time_keys[] = {
    { .name = "step",
      .help = "step size, s, or auto: 0.9 of the stable step of an explicit scheme",
      .is_required = true,
      .value = "\"type\":[\"number\",\"string\"],\"exclusiveMinimum\":0,\"pattern\":\"^auto$|\\\\$\\\\{\"" },
    { .name = "control", .help = "step-size control", .map = &map_control },
    { .name = NULL },
};
static const pcs_schema_map map_time = { .name = "time", .keys = time_keys, .options = pcs_time_options };

static const pcs_schema_key probe_keys[] = {
    { .name = "node", .help = "a set of one node", .value = TEXT },
    { .name = "set", .help = "a set of nodes", .value = TEXT },
    { .name = "element", .help = "a set of cells", .value = TEXT },
    { .name = "body", .help = "a set of cells, whose centre of mass it is", .value = TEXT },
    { .name = "of",
      .help = "x, .., ux, .., vx, .., rx, .., wx, .., a field of the element, or a coordinate of the system",
      .is_required = true,
      .value = "\"type\":\"array\",\"minItems\":1,\"uniqueItems\":true,\"items\":{\"type\":\"string\"}" },
    { .name = NULL },
};
static const pcs_schema_map map_probe = {
    .name = "probe", .is_entry = true, .keys = probe_keys, .options = pcs_probe_options
};
SCHEMA_NAMED(map_probes, "probes", map_probe);

// Checkpoints are a map of options or false, as observers are.
static bool schema_observers(pcs_context *ctx, int i, pcs_schema_part *out)
{
    int count = 0;
    (void)ctx;
    while (pcs_observers[count] != NULL) count++;
    if (i < count)
        *out = (pcs_schema_part){ pcs_observers[i]->name, pcs_observers[i]->summary, pcs_observers[i]->options, NULL,
                                  NULL };
    else *out = (pcs_schema_part){ "checkpoint", "what a run can be resumed from", pcs_checkpoint_options, NULL, NULL };
    return i <= count;
}

static const pcs_schema_key output_keys[] = {
    { .name = "probes", .help = "columns of the history, by name", .map = &map_probes },
    { .name = NULL },
};
static const pcs_schema_map map_output = {
    .name = "output", .form = PCS_SCHEMA_PARTS, .keys = output_keys, .parts = schema_observers
};

static const pcs_schema_map map_start = { .name = "start", .options = pcs_start_options };
static const pcs_schema_map map_statics = { .name = "statics", .options = pcs_statics_keys };
static const pcs_schema_key case_keys[] = {
    { .name = "title", .help = "a text for the summary", .value = "\"type\":[\"string\",\"number\"]" },
    { .name = "parameters",
      .help = "numbers by name; any value may be a formula of them: ${L/2}",
      .value = "\"type\":\"object\",\"additionalProperties\":" SCALAR },
    { .name = "system", .help = "a system in closed form or of your own", .map = &map_system },
    { .name = "mesh", .help = "parts of the mesh by name; they make named sets", .map = &map_mesh },
    { .name = "sets", .help = "nodes or cells chosen from other sets", .map = &map_sets },
    { .name = "merge", .help = "nodes of these sets at the same place become one", .map = &map_merge },
    { .name = "elements", .help = "element groups by name", .map = &map_elements },
    { .name = "damping", .help = "Rayleigh damping of all elements", .map = &map_damping },
    { .name = "supports", .help = "supports by name", .map = &map_supports },
    { .name = "initial", .help = "initial values", .map = &map_initial },
    { .name = "start",
      .help = "statics: from the equilibrium under the loads at t = 0; or from another run",
      .value = "\"enum\":[\"initial\",\"statics\"]",
      .map = &map_start },
    { .name = "statics", .help = "how a static analysis goes on", .map = &map_statics },
    { .name = "loads", .help = "loads by name", .map = &map_loads },
    { .name = "joints", .help = "joints by name; reactions are columns of the history", .map = &map_joints },
    { .name = "contacts", .help = "contacts by name", .map = &map_contacts },
    { .name = "scheme", .help = "the time integrator", .map = &map_scheme },
    { .name = "solver", .help = "what solves a step", .map = &map_solver },
    { .name = "time", .help = "the clock: step and end", .map = &map_time },
    { .name = "certify", .help = "does a violated certificate end the run", .value = "\"enum\":[\"strict\",\"warn\"]" },
    { .name = "output", .help = "what a run writes", .map = &map_output },
    { .name = NULL },
};
static const char *const case_one[] = { "system", "mesh", NULL };
static const pcs_schema_map map_case = { .name = "case", .keys = case_keys, .one = case_one };

const pcs_schema_map *const pcs_schema_maps[] = {
    &map_case,        &map_system,        &map_mesh,    &map_mesh_part, &map_sets,      &map_set,      &map_merge,
    &map_merge_entry, &map_elements,      &map_group,   &map_section,   &map_damping,   &map_supports, &map_support,
    &map_initial,     &map_initial_entry, &map_loads,   &map_load,      &map_amplitude, &map_sine,     &map_ramp,
    &map_pulse,       &map_joints,        &map_joint,   &map_contacts,  &map_contact,   &map_law,      &map_scheme,
    &map_solver,      &map_time,          &map_control, &map_output,    &map_probes,    &map_probe,    &map_cells,
    &map_start,       &map_statics,       NULL,
};
