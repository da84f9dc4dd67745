// From a case to a simulation: the parts of the builder, private to this folder.
//
// First every section is read and all errors are collected; only a case without errors is built.

#ifndef PCS_BUILD_BUILD_H
#define PCS_BUILD_BUILD_H

#include "analysis/analysis.h"
#include "fe/fe.h"
#include "percuss_system.h"
#include "sim/control.h"
#include "sim/sim.h"

enum { PCS_BUILD_NAMES = 64 };

// A probe as the case states it; its columns need the system.
typedef struct pcs_build_probe {
    const char *name;
    pcs_node *of;         // list of components
    const pcs_set *items; // NULL when the case is wrong
    bool is_cell;
} pcs_build_probe;

typedef struct pcs_build {
    pcs_context *ctx;
    pcs_case *c;
    pcs_sim *sim;
    pcs_mesh *mesh;
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
    bool is_model_only;                          // nothing will move: scheme and clock may be absent and are not made
    bool has_system;                             // a closed-form system instead of a mesh
    const percuss_system_definition *definition; // of it; NULL when the case is wrong
    const double *system_params;
    int nprobe;
    pcs_build_probe *probes; // [nprobe]
} pcs_build;

// Options of the fixed sections, each beside its reader.
extern const pcs_option pcs_damping_options[], pcs_solver_options[], pcs_gravity_options[], pcs_force_options[],
    pcs_moment_options[], pcs_torque_options[], pcs_line_options[], pcs_time_options[], pcs_probe_options[],
    pcs_support_options[];

// Reading. Faults other than bad input are returned; bad input is collected in the case.
pcs_status pcs_build_system(pcs_build *b); // makes the system at once when its section is right
pcs_status pcs_build_mesh(pcs_build *b);
pcs_status pcs_build_groups(pcs_build *b);
pcs_status pcs_build_supports(pcs_build *b);
pcs_status pcs_build_initials(pcs_build *b);
pcs_status pcs_build_loads(pcs_build *b);
pcs_status pcs_build_contacts(pcs_build *b);
pcs_status pcs_build_joints(pcs_build *b);
pcs_status pcs_build_scheme(pcs_build *b);
pcs_status pcs_build_time(pcs_build *b);
pcs_status pcs_build_output(pcs_build *b);
pcs_status pcs_build_start(pcs_build *b);

// Building, when all of that went well.
pcs_status pcs_build_clock(pcs_build *b);        // step size and number of steps, with the stable step
pcs_status pcs_build_state(pcs_build *b);        // initial values
pcs_status pcs_build_probes(pcs_build *b);       // columns
pcs_status pcs_build_check_joints(pcs_build *b); // against the initial state and one another
pcs_status pcs_build_solvers(pcs_build *b);
pcs_status pcs_build_equilibrium(pcs_build *b); // in place of the initial displacements, where the case asks for it

// Columns for all coordinates of a closed-form system and their velocities, appended to the probes.
pcs_status pcs_build_coordinate_probes(pcs_build *b, pcs_probe *probes, int *count);

// The set a scalar names; NULL and an error otherwise. `is_single`: it must hold one item.
const pcs_set *pcs_build_set(pcs_build *b, pcs_node *node, bool of_cells, bool is_single);
// The set under one of two keys, `single` (one item) or `many`; exactly one of them must be there.
const pcs_set *pcs_build_set_of(pcs_build *b, pcs_node *map, const char *single, const char *many);
// A bad input or unsupported combination becomes an error of the case at `node`; other faults are returned.
pcs_status pcs_build_blame(pcs_build *b, const pcs_node *node, pcs_status status);
// Lets a part check its parameters; a fault becomes an error of the case, and the answer is false. `check` may be NULL.
typedef const char *pcs_build_checker(const void *params, const char **option);
bool pcs_build_check(pcs_build *b, const pcs_node *node, pcs_build_checker *check, const void *params);
// Memory for the parameters of an implementation.
pcs_status pcs_build_params(pcs_build *b, size_t size, void **out);
// The section as a map, or NULL when it is absent or wrong; *count is 0 then.
pcs_node *pcs_build_section(pcs_build *b, const char *key, bool is_required, const char *help, int *count);

// What an analysis needs of what was built.
pcs_status pcs_build_still(pcs_build *b, pcs_analysis *out);

// Builds a loaded case.
pcs_status pcs_build_sim(pcs_context *ctx, pcs_case *c, pcs_sim **out);
// The same without what only motion needs: scheme and clock are checked where the case has them, and not made.
pcs_status pcs_build_analysis(pcs_context *ctx, pcs_case *c, pcs_analysis *out);
// Both from a file and assignments to its keys; every input error ends here, all of them at once.
pcs_status pcs_build_sim_from(pcs_context *ctx, const char *path, int nset, const char *const *set, pcs_sim **out);
pcs_status pcs_build_analysis_from(pcs_context *ctx, const char *path, int nset, const char *const *set,
                                   pcs_analysis *out);

// The names of a registry, for pcs_case_type.
#define PCS_BUILD_NAMES_OF(table, names)                                          \
    do {                                                                          \
        int pcs_i_ = 0;                                                           \
        for (; (table)[pcs_i_] != NULL && pcs_i_ < PCS_BUILD_NAMES - 1; pcs_i_++) \
            (names)[pcs_i_] = (table)[pcs_i_]->name;                              \
        (names)[pcs_i_] = NULL;                                                   \
    } while (0)

#endif
