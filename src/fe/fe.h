// Finite-element system: mesh + element groups + supports + joints + loads + contacts.

#ifndef PCS_FE_FE_H
#define PCS_FE_FE_H

#include "core/amplitude.h"
#include "elements/element.h"
#include "mesh/mesh.h"
#include "rows/source.h"
#include "system/system.h"

typedef struct pcs_fe_group {
    const char *name;
    const pcs_element_ops *ops;
    void *params;
    const pcs_set *cells;
    double damping_mass, damping_stiffness; // Rayleigh damping of the group alone, 1/s and s
} pcs_fe_group;

typedef struct pcs_fe_support {
    const char *name;
    const pcs_set *nodes;
    bool fixes[6];      // along x, y, z and about x, y, z
    bool has_reactions; // reactions are reported
} pcs_fe_support;

// Holds a vector at every node of a set: linear from the first to the last node of the set, or by formulas.
typedef struct pcs_fe_profile {
    bool is_given;
    double ends[2][3];                // at the first and the last node
    const pcs_expression *formula[3]; // of x, y, z, the reference position of the node; NULL if absent
} pcs_fe_profile;

typedef struct pcs_fe_initial {
    const pcs_set *nodes;
    pcs_fe_profile displacement, velocity; // m, m/s
    pcs_fe_profile rotation;               // rotation vector, rad
    pcs_fe_profile spin;                   // angular velocity in space, rad/s
    bool has_about;
    double about[3]; // m, centre of a rigid-body spin, which also moves the nodes
} pcs_fe_initial;

typedef enum pcs_load_kind { PCS_LOAD_FORCE, PCS_LOAD_MOMENT, PCS_LOAD_LINE } pcs_load_kind;

typedef struct pcs_fe_load {
    const char *name;
    bool is_gravity;
    pcs_load_kind kind;      // not used for gravity
    bool follows;            // the force or moment rotates with its node
    const pcs_set *nodes;    // nodes of a force or moment: each gets `value`
    const pcs_set *cells;    // cells of a line load
    double value[3];         // N, N m, N/m of reference length, or m/s^2 for gravity
    double datum[3];         // point of zero potential of gravity, m
    pcs_amplitude amplitude; // for all but gravity
} pcs_fe_load;

// Holds everything that a model consists of; the arrays are borrowed and must live as long as the context.
typedef struct pcs_fe_definition {
    const pcs_mesh *mesh;
    int ngroup, nsupport, ninitial, nload, ncontact, njoint;
    const pcs_fe_group *groups;
    const pcs_fe_support *supports;
    const pcs_fe_initial *initials;
    const pcs_fe_load *loads;
    const pcs_row_source *contacts;
    const pcs_row_source *joints;
    double damping_mass, damping_stiffness; // Rayleigh damping of all groups, added to that of each group
    double step;                            // step of the run, s, for masses tuned to it; NAN or 0 if unknown
    int nthread;                            // for large models; 0 for the number of processors
    // Returns true if so many rows are distributed over the processes that own their equations; NULL for never.
    bool (*distributes_rows)(double nrow, double ndof);
    bool needs_copies; // nodes of contacts are needed on all processes, for output
    bool stays_still;  // the state is static: section forces are evaluated in equilibrium with loads along cells
} pcs_fe_definition;

// Creates the system of a model. Messages name the object and the value; the caller adds the position in the case file,
// by the name of the faulty part in *culprit ("contacts.wall"), or NULL.
pcs_status pcs_fe_create(pcs_context *ctx, const pcs_fe_definition *definition, pcs_system **out, const char **culprit);

// Returns the degrees of freedom with the mesh, the cells of a group on this process, and the definition.
const pcs_dofmap *pcs_fe_dofmap(const pcs_system *self);
const pcs_batch *pcs_fe_batch(const pcs_system *self, int group);
const pcs_fe_definition *pcs_fe_model(const pcs_system *self);

// Recomputes `scale` after `length` has changed.
pcs_status pcs_fe_find_sizes(pcs_system *self);
// Returns true if bodies have finite rotations, in space or with springs at offset points.
bool pcs_fe_tumbles(const pcs_system *self);
// Returns the factors on top of the amplitudes of the loads, [nload], initially 1.
double *pcs_fe_load_factors(pcs_system *self);

// Computes the initial q and v, [nq] and [nv], zeroed by the caller.
pcs_status pcs_fe_initial_state(const pcs_system *self, double *q, double *v, const char **culprit);

// Creates a probe of nodes ("x", "uy", "vz", "rx", "wy") or of cells (a field of their element: "stress"), the mean
// over the set. Fails with PCS_BAD_INPUT if there is no such component; the message lists them. `column` is not set.
pcs_status pcs_fe_node_probe(const pcs_system *self, const pcs_set *nodes, const char *component, pcs_probe *out);
pcs_status pcs_fe_cell_probe(const pcs_system *self, const pcs_set *cells, const char *field, pcs_probe *out);
// Creates a probe of the centre of mass of cells ("x", "uy", "vz").
pcs_status pcs_fe_body_probe(const pcs_system *self, const pcs_set *cells, const char *component, pcs_probe *out);

#endif
