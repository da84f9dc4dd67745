// The sections of a case and what they stand on; private to this folder.

#ifndef PCS_BUILD_BUILDER_H
#define PCS_BUILD_BUILDER_H

#include "analysis/analysis.h"
#include "build/maps.h"
#include "fe/fe.h"
#include "percuss_system.h"
#include "sim/control.h"

// A probe as the case states it; its columns need the system.
typedef struct pcs_build_probe {
    const char *name;
    pcs_yaml *of;          // list of components
    const pcs_set *items;  // NULL when the case is wrong
    bool is_cell, is_body; // of cells: their field, or the centre of their mass
} pcs_build_probe;

typedef struct pcs_build {
    pcs_context *ctx;
    pcs_case *c;
    pcs_sim *sim;
    pcs_mesh *mesh;
    pcs_mesh *shown; // the whole where this rank shows it and `mesh` is a part, NULL: not so
    bool spreads;    // over several ranks a rank has its part of the mesh only; whatever goes wrong then is not told
    bool only_reads; // sets and merges: another rank makes them
    int nbroken;
    const char **broken; // [nbroken] mesh parts that could not be made: their sets are not judged
    bool has_lost_cells; // a group names no cell set: which cells lack elements cannot be judged
    pcs_fe_definition model;
    const pcs_scheme_ops *scheme;
    void *scheme_params;
    const char *solver; // name of the step solver, or "auto"
    const char *linear;
    double step, end; // NAN when the case is wrong
    bool step_is_auto, allows_unstable;
    int retry; // halvings of a step that fails
    bool has_control;
    pcs_control_params control;
    bool starts_in_equilibrium;
    pcs_statics_options statics;
    double start;                                // s, the time of the state that a run starts from
    bool is_model_only;                          // nothing will move: scheme and clock may be absent and are not made
    bool may_stand_still;                        // a case without scheme and time is one of a model only
    bool has_system;                             // a closed-form system instead of a mesh
    const percuss_system_definition *own;        // one that the caller adds to the registered ones; NULL: none
    bool no_plugins;                             // none may be loaded
    const percuss_system_definition *definition; // of it; NULL when the case is wrong
    const double *system_params;
    int nprobe;
    pcs_build_probe *probes; // [nprobe]
} pcs_build;

// The set a scalar names; NULL and an error otherwise. `is_single`: it must hold one item.
const pcs_set *pcs_build_set(pcs_build *b, pcs_yaml *node, bool of_cells, bool is_single);
// The cells of a group of elements that names a list of sets; NULL when one of them is wrong.
const pcs_set *pcs_build_group_set(const pcs_build *b, const char *group);
// A bad input or unsupported combination becomes an error of the case at `node`; other faults are returned.
pcs_status pcs_build_blame(pcs_build *b, const pcs_yaml *node, pcs_status status);
// Lets a part check its parameters; a fault becomes an error of the case, and the answer is false. `check` may be NULL.
typedef const char *pcs_build_checker(const void *params, const char **option);
bool pcs_build_check(pcs_build *b, const pcs_yaml *node, pcs_build_checker *check, const void *params);
// Memory for the parameters of an implementation.
pcs_status pcs_build_params(pcs_build *b, size_t size, void **out);
// The section as a map, or NULL when it is absent or wrong; *count is 0 then.
pcs_yaml *pcs_build_section(pcs_build *b, const char *key, bool is_required, const char *help, int *count);

// Has a table of options this one?
bool pcs_build_has_option(const pcs_option *options, const char *name);
// The number that an implementation has read under `name`; false when it has no such option, or no number there.
bool pcs_build_real(const pcs_option *options, const void *params, const char *name, double *out);

// The part of a registry that the required `type` of a map names; -1 and an error otherwise.
int pcs_build_type(pcs_build *b, pcs_yaml *map, pcs_parts *parts);
// The name of a part under `key`, or "auto", the default; NULL and an error when there is no such part.
const char *pcs_build_name(pcs_build *b, pcs_yaml *map, const char *key, pcs_parts *parts);

// The sections of a case, a file each, in the order in which they are read.

// Reading. Faults other than bad input are returned; bad input is collected in the case.
pcs_status pcs_build_system(pcs_build *b); // makes the system at once when its section is right
pcs_status pcs_build_mesh(pcs_build *b);
// `sets` are added to the mesh; room for broken ones must be in b->broken. `merge` makes one of nodes at the same
// place.
pcs_status pcs_build_sets(pcs_build *b);
pcs_status pcs_build_merges(pcs_build *b);
pcs_status pcs_build_groups(pcs_build *b);
pcs_status pcs_build_supports(pcs_build *b);
pcs_status pcs_build_initials(pcs_build *b);
pcs_status pcs_build_loads(pcs_build *b);
// Under `key` of a load or a joint; it may be absent.
pcs_status pcs_build_amplitude(pcs_build *b, pcs_yaml *owner, const char *key, pcs_amplitude *out);
// Finite over the time of the run? An error of the case otherwise.
pcs_status pcs_build_sample_formulas(pcs_build *b);
pcs_status pcs_build_contacts(pcs_build *b);
pcs_status pcs_build_joints(pcs_build *b);
pcs_status pcs_build_scheme(pcs_build *b);
pcs_status pcs_build_masses(pcs_build *b); // mass matrices that the scheme asks for
pcs_status pcs_build_time(pcs_build *b);
pcs_status pcs_build_output(pcs_build *b);
// Will every rank show its piece of a mesh of so many nodes? Asked before observers are read, for then no rank makes
// the whole mesh.
bool pcs_build_shows_pieces(pcs_build *b, int nnode);
pcs_status pcs_build_start(pcs_build *b);
pcs_status pcs_build_statics(pcs_build *b);

// The definition that a shared object holds; it is closed with the context. PCS_BAD_INPUT: there is none.
struct percuss_system_definition;
pcs_status pcs_system_open(pcs_context *ctx, const char *path, const struct percuss_system_definition **out);

// Building, when all of that went well.
pcs_status pcs_build_clock(pcs_build *b);           // step size and number of steps, with the stable step
pcs_status pcs_build_state(pcs_build *b);           // initial values
pcs_status pcs_build_check_gaps(pcs_build *b);      // of the initial state
pcs_status pcs_build_questions(pcs_build *b);       // values that are possible and unlikely
pcs_status pcs_build_probes(pcs_build *b);          // columns
pcs_status pcs_build_check_observers(pcs_build *b); // against the model
pcs_status pcs_build_check_joints(pcs_build *b);    // against the initial state and one another
pcs_status pcs_build_solvers(pcs_build *b);
pcs_status pcs_build_equilibrium(pcs_build *b); // in place of the initial displacements, where the case asks for it

// Fills in what an analysis needs.
pcs_status pcs_build_still(pcs_build *b, pcs_analysis *out);

#endif
