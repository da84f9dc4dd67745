// The sections of a case and what they stand on; private to this folder.

#ifndef PCS_BUILD_BUILDER_H
#define PCS_BUILD_BUILDER_H

#include "analysis/analysis.h"
#include "build/maps.h"
#include "fe/fe.h"
#include "percuss_system.h"
#include "sim/sim.h"

// A probe as given in the case. Its columns need the system.
typedef struct pcs_build_probe {
    const char *name;
    pcs_yaml *of;          // list of components
    const pcs_set *items;  // NULL if the case is wrong
    bool is_cell, is_body; // set of cells: a field of them, or their centre of mass
} pcs_build_probe;

typedef struct pcs_build {
    pcs_context *ctx;
    pcs_case *c;
    pcs_sim *sim;
    pcs_mesh *mesh;
    bool distributes; // every process has only its part of the mesh, and errors are not reported
    bool only_reads;  // sets and merges are read but not made, as another process makes them
    int nauto;
    const char **automatic; // [nauto] mesh parts with `elements: auto`: this model is built only to find the numbers
    int nbroken;
    const char **broken; // [nbroken] mesh parts that could not be built; their sets are not checked
    bool has_lost_cells; // a group names no cell set, so that cells without elements cannot be found
    pcs_fe_definition model;
    const pcs_scheme_ops *scheme;
    void *scheme_params;
    const char *solver; // name of the step solver, or "auto"
    const char *linear;
    double step, end; // s, NAN if the case is wrong
    bool step_is_auto, allows_unstable, follows_rotation;
    int retry; // largest number of halvings of a step that fails
    bool has_control;
    pcs_control_params control;
    bool starts_in_equilibrium;
    pcs_statics_options statics;
    double start;                                // s, time of the initial state
    bool is_model_only;                          // no time stepping: scheme and time may be absent and are not created
    bool may_be_at_rest;                         // a case without scheme and time is read as a model only
    bool has_system;                             // a closed-form system instead of a mesh
    const percuss_system_definition *own;        // system that the caller adds to the registered ones, NULL if none
    bool no_plugins;                             // no plug-in may be loaded
    const percuss_system_definition *definition; // closed-form system, NULL if the case is wrong
    const double *system_params;
    int nprobe;
    pcs_build_probe *probes; // [nprobe]
} pcs_build;

// Returns the set that a scalar names; NULL, with an error, if there is none. `is_single`: it must hold one item.
const pcs_set *pcs_build_set(pcs_build *b, pcs_yaml *node, bool of_cells, bool is_single);
// Returns the set of the cells of an element group that names a list of sets, NULL if one of them is wrong.
const pcs_set *pcs_build_group_set(const pcs_build *b, const char *group);
// Turns PCS_BAD_INPUT and PCS_UNSUPPORTED into an error of the case at `node`; returns any other status.
pcs_status pcs_build_blame(pcs_build *b, const pcs_yaml *node, pcs_status status);
// Lets a part check its parameters. Returns false, with an error of the case, if they are wrong. `check` may be NULL.
typedef const char *pcs_build_checker(const void *params, const char **option);
bool pcs_build_check(pcs_build *b, const pcs_yaml *node, pcs_build_checker *check, const void *params);
// Allocates the parameters of an implementation, zeroed.
pcs_status pcs_build_params(pcs_build *b, size_t size, void **out);
// Returns the section of `map` and its number of entries; NULL and 0 if it is absent or no map. `help`: required
// content, NULL if it may be absent.
pcs_yaml *pcs_build_section(pcs_build *b, pcs_yaml *map, const char *key, const char *help, int *count);

// A section of entries by name: an array with an item for each, filled in by `read`, whose node is NULL if the entry is
// no map.
typedef pcs_status pcs_build_reader(pcs_build *b, const char *name, pcs_yaml *node, void *item);
typedef struct pcs_build_list {
    const char *key, *help;    // help: required content, NULL if the section may be absent
    size_t size, count, items; // bytes of an item; offsets in pcs_build of their number and of the array
    pcs_build_reader *read;
} pcs_build_list;
#define PCS_BUILD_LIST(key, help, type, count, items, read)                                   \
    {                                                                                         \
        key, help, sizeof(type), offsetof(pcs_build, count), offsetof(pcs_build, items), read \
    }
pcs_status pcs_build_entries(pcs_build *b, pcs_yaml *map, const pcs_build_list *list);
extern const pcs_build_list pcs_support_list, pcs_load_list, pcs_joint_list, pcs_contact_list;
// Reads the options of a table, including those with a form. *is_fine is true if all are valid; may be NULL.
pcs_status pcs_build_read(pcs_build *b, pcs_yaml *map, const pcs_option *options, void *params, bool *is_fine);

// Returns true if a table of options has this one.
bool pcs_build_has_option(const pcs_option *options, const char *name);
// Gets the number that an implementation has read under `name`. False if it has no such option, or no number there.
bool pcs_build_real(const pcs_option *options, const void *params, const char *name, double *out);

// Returns the index of the part that the required key `type` names; -1, with an error, if there is none.
int pcs_build_type(pcs_build *b, pcs_yaml *map, pcs_parts *parts);
// Reads the options of part i into parameters of its own. *params is NULL if i < 0 or one is wrong.
pcs_status pcs_build_part(pcs_build *b, pcs_yaml *map, pcs_parts *parts, int i, void **params);
// Returns the name of the part under `key`, by default "auto"; NULL, with an error, if there is no such part.
const char *pcs_build_name(pcs_build *b, pcs_yaml *map, const char *key, pcs_parts *parts);

// The sections of a case in reading order. The case collects bad input, other faults are returned.

pcs_status pcs_build_mesh(pcs_build *b);
// Marks the nodes that every process must have, unless is_marked is NULL: those of contacts and joints, and those
// written in the order of a set. Returns true if anything but contacts and joints names some.
bool pcs_build_mark_nodes(const pcs_build *b, bool *is_marked);
pcs_status pcs_build_groups(pcs_build *b);
// Checks that formulas of time are finite over the run. If not, that is an error of the case.
pcs_status pcs_build_sample_formulas(pcs_build *b);
pcs_status pcs_build_masses(pcs_build *b); // mass matrices that the scheme asks for
pcs_status pcs_build_output(pcs_build *b);

// Opens the definition of a shared object, which is closed with the context. PCS_BAD_INPUT if there is none.
struct percuss_system_definition;
pcs_status pcs_system_open(pcs_context *ctx, const char *path, const struct percuss_system_definition **out);

// Lines of cells that carry waves, and the step and number of cells that resolve a run (bars.c).

// Finds the slowest cells, for the verdict on resolution.
void pcs_build_find_cells(pcs_sim *sim);
// Fills sim->foreseen from the model and its state at the start. `is_explicit`: the scheme has a stable step of its
// own, below the travel time through a cell.
pcs_status pcs_foresee(pcs_sim *sim, bool is_explicit);
// Number of cells of a part with `elements: auto` until it is known.
enum { PCS_TRIAL_CELLS = 400 };
#define PCS_TRIAL_TEXT "400"
// Returns the number of cells that resolves a part of the mesh, or each of its members, which has `present` ones; 0 if
// nothing says so.
double pcs_foresee_cells(const pcs_sim *sim, const pcs_set *part, double present);

pcs_status pcs_build_questions(pcs_build *b);    // warns of values that are possible but unlikely
pcs_status pcs_build_probes(pcs_build *b);       // binds the columns of the probes
pcs_status pcs_build_check_joints(pcs_build *b); // checks them against the initial state and one another

#endif
