// The maps of a case file with the keys that each may have: tables that the readers, `percuss list` and the JSON schema
// share; private to this folder. A map stands beside its reader.

#ifndef PCS_BUILD_MAPS_H
#define PCS_BUILD_MAPS_H

#include "case/case.h"

struct pcs_build;

// A part of a registry, chosen by `type: name`.
typedef struct pcs_map_part {
    const char *name, *summary;
    const pcs_option *options;                                     // NULL if none
    const pcs_option *more;                                        // further options, NULL if none
    size_t size;                                                   // bytes of the parameters that the options fill in
    const char *(*check)(const void *params, const char **option); // error in them, or NULL; NULL if always fine
} pcs_map_part;

// Gets part i of a registry. False if there is none. Tables that need memory are left out if ctx is NULL.
typedef bool pcs_parts(pcs_context *ctx, int i, pcs_map_part *out);

// Forms of a node that its owner reads: a JSON schema, the name of a part, or a map. If two are given, either one.
typedef struct pcs_form {
    const char *shown; // text in a list, "name of a set"; NULL for "map"
    const char *json;  // members of a schema, with ' in place of "
    pcs_parts *parts;  // registry: `auto` or the name of a part; with a map, a name stands for { type: name }
    const struct pcs_map *map;
    // Reads the value of a PCS_OPTION_FORM into its member. Wrong values are errors of the case.
    pcs_status (*read)(struct pcs_build *b, const struct pcs_form *self, pcs_yaml *node, void *member);
    bool of_cells, is_single; // of a set: it has cells, not nodes; it must have one item
} pcs_form;

typedef enum pcs_map_kind {
    PCS_MAP_KEYS,  // the options
    PCS_MAP_TYPES, // the options, and those of the part that `type` names
    PCS_MAP_PARTS, // the options, and a key for each part, with a map of its options or false
    PCS_MAP_NAMES, // names that the author chooses, with an entry each
    PCS_MAP_LIST   // no map but a list of entries
} pcs_map_kind;

typedef struct pcs_map {
    const char *name; // name within the schema
    pcs_map_kind kind;
    bool is_entry; // entry of a list or of names, may be repeated
    const pcs_option *options;
    pcs_parts *parts;
    const struct pcs_map *entry;
} pcs_map;

// Lines of a table, as those of core/option.h.
// clang-format off
#define PCS_FORM(key, type, member, need, of, text) \
    { .name = (key), .kind = PCS_OPTION_FORM, .help = text, .offset = offsetof(type, member), need, .form = &(of) }
// A key that its owner looks up: no member.
#define PCS_KEY(key, need, of, text) \
    { .name = (key), .kind = PCS_OPTION_FORM, .help = text, need, .form = &(of) }
#define PCS_KEY_MAP(key, need, of, text) PCS_KEY(key, need, ((const pcs_form){ .map = &(of) }), text)
// clang-format on

// Forms of values: a set of nodes, of one node, of cells (const pcs_set *); an amplitude (pcs_amplitude).
extern const pcs_form pcs_set_form, pcs_node_form, pcs_cells_form, pcs_amplitude_form,
    pcs_scheme_form; // a name or a map

extern const pcs_map pcs_linsolve_map, pcs_step_map, pcs_control_map, pcs_damping_map, pcs_law_map, pcs_section_map,
    pcs_group_map, pcs_contact_map, pcs_initial_map, pcs_joint_map, pcs_load_map, pcs_mesh_map, pcs_merge_map,
    pcs_output_map, pcs_perturbation_map, pcs_scheme_map, pcs_set_map, pcs_solver_map, pcs_start_map, pcs_support_map,
    pcs_system_map, pcs_time_map;

// Defines the function that gives the parts of a registry, a table of pointers that ends with NULL: those without
// options, and those with parameters and perhaps more options.
#define PCS_NAMED_PARTS(function, table, ...)                                        \
    static bool function(pcs_context *ctx, int i, pcs_map_part *out)                 \
    {                                                                                \
        if ((table)[i] == NULL) return false;                                        \
        *out = (pcs_map_part){ (table)[i]->name, (table)[i]->summary, __VA_ARGS__ }; \
        return true;                                                                 \
    }
#define PCS_PARTS(function, table, own_more) \
    PCS_NAMED_PARTS(function, table, (table)[i]->options, own_more, (table)[i]->params_size, (table)[i]->check)

// A registry under its heading in a list.
typedef struct pcs_registry {
    const char *title, *section; // "Elements (elements.NAME.type)", "elements"; a NULL title ends the table
    const pcs_map *map;          // map whose parts they are
} pcs_registry;

extern const pcs_registry pcs_registries[];
extern const pcs_map pcs_case_map; // the whole case

#endif
