// Finite-element system: mesh + element groups + supports + joints + loads + contacts.

#ifndef PCS_FE_FE_H
#define PCS_FE_FE_H

#include "contact/contact.h"
#include "contact/force_law.h"
#include "core/amplitude.h"
#include "elements/element.h"
#include "joint/joint.h"
#include "mesh/mesh.h"
#include "system/system.h"

typedef struct pcs_fe_group {
    const char *name;
    const pcs_element_ops *ops;
    void *params;
    const pcs_set *cells;
    double damping_mass, damping_stiffness; // Rayleigh, 1/s and s, of the group alone
} pcs_fe_group;

typedef struct pcs_fe_support {
    const char *name;
    const pcs_set *nodes;
    bool fixes[6];      // x, y, z and the rotations about them
    bool has_reactions; // they are told
} pcs_fe_support;

// A vector at every node of a set: linear from its first to its last node in the order of the set, or by formulas.
typedef struct pcs_fe_profile {
    bool is_given;
    double ends[2][3];                // at the first and the last node
    const pcs_expression *formula[3]; // of x, y, z, the place of the node at rest; NULL: the entry has none
} pcs_fe_profile;

typedef struct pcs_fe_initial {
    const pcs_set *nodes;
    pcs_fe_profile displacement, velocity; // m, m/s
    pcs_fe_profile rotation;               // rotation vector, rad
    pcs_fe_profile spin;                   // angular velocity in space, rad/s
    bool has_about;
    double about[3]; // m, the spin is that of a rigid body about this point: it moves the nodes, too
} pcs_fe_initial;

typedef enum pcs_load_kind { PCS_LOAD_FORCE, PCS_LOAD_MOMENT, PCS_LOAD_LINE } pcs_load_kind;

typedef struct pcs_fe_load {
    const char *name;
    bool is_gravity;
    pcs_load_kind kind;      // when it is not gravity
    bool follows;            // a force or moment turns with its node
    const pcs_set *nodes;    // of a force or moment: every node of the set gets `value`
    const pcs_set *cells;    // of a line load
    double value[3];         // N, N m, N/m of reference length, or m/s^2 of gravity
    double datum[3];         // of gravity: point of zero potential, m
    pcs_amplitude amplitude; // of all but gravity
} pcs_fe_load;

typedef struct pcs_fe_contact {
    const char *name;
    const pcs_gap_ops *ops;
    const void *params;
    const pcs_force_law *law; // NULL: it does not give way
    bool writes_points;
} pcs_fe_contact;

typedef struct pcs_fe_joint {
    const char *name;
    const pcs_joint_ops *ops;
    const void *params;
} pcs_fe_joint;

// Everything a model is made of; the arrays are borrowed and must live as long as the context.
typedef struct pcs_fe_definition {
    const pcs_mesh *mesh;
    const pcs_mesh *shown; // the whole where it is shown and `mesh` is a part; NULL: elsewhere, or `mesh` is whole
    int ngroup, nsupport, ninitial, nload, ncontact, njoint;
    const pcs_fe_group *groups;
    const pcs_fe_support *supports;
    const pcs_fe_initial *initials;
    const pcs_fe_load *loads;
    const pcs_fe_contact *contacts;
    const pcs_fe_joint *joints;
    double damping_mass, damping_stiffness; // Rayleigh, for all groups, added to the groups' own
    double step;                            // s, of the run, for masses tuned to it; NAN or 0: not known
    int nthread;                            // for large models; 0: as many as there are processors
    // Are so many rows dealt out among the ranks, each to the one that has its equations? NULL: never.
    bool (*deals_rows)(double nrow, double ndof);
    bool needs_copies; // of nodes of contacts, on all ranks: what is written looks at them
    bool shows_pieces; // every one of several ranks shows its part of the picture
    bool stays_still;  // nothing will move: section forces are asked for in equilibrium with loads along cells
} pcs_fe_definition;

enum {
    PCS_PROBE_POSITION,
    PCS_PROBE_DISPLACEMENT,
    PCS_PROBE_VELOCITY,
    PCS_PROBE_ROTATION, // angle, or rotation vector
    PCS_PROBE_SPIN,     // angular velocity in space
    PCS_PROBE_FIELD
};

// Faults name the object and the value; the position in the case file is added by the caller, who finds
// in *culprit the name of the part at fault ("contacts.wall"), or NULL.
pcs_status pcs_fe_create(pcs_context *ctx, const pcs_fe_definition *definition, pcs_system **out, const char **culprit);

// For those who look at a model: its degrees of freedom, with its mesh, and the cells of a group on this rank.
const pcs_dofmap *pcs_fe_dofmap(const pcs_system *self);
const pcs_batch *pcs_fe_batch(const pcs_system *self, int group);
const pcs_fe_definition *pcs_fe_model(const pcs_system *self);

// Finds `scale` again where `length` has changed.
pcs_status pcs_fe_find_sizes(pcs_system *self);
// Do bodies turn by finite angles, in space or with springs at their points?
bool pcs_fe_tumbles(const pcs_system *self);
// Its loads, and factors on top of their amplitudes, [nload], which are 1 at first.
int pcs_fe_loads(const pcs_system *self, const pcs_fe_load **out);
double *pcs_fe_load_factors(pcs_system *self);

// Initial q and v, [nq] and [nv], zeroed by the caller.
pcs_status pcs_fe_initial_state(const pcs_system *self, double *q, double *v, const char **culprit);

// A probe of nodes ("x", "uy", "vz", "rx", "wy") or of cells (a field of their element: "stress"), the mean over the
// set. PCS_BAD_INPUT when there is no such component; the message says which there are. `column` is not set.
pcs_status pcs_fe_node_probe(const pcs_system *self, const pcs_set *nodes, const char *component, pcs_probe *out);
pcs_status pcs_fe_cell_probe(const pcs_system *self, const pcs_set *cells, const char *field, pcs_probe *out);
// The same of the centre of mass of cells ("x", "uy", "vz").
pcs_status pcs_fe_body_probe(const pcs_system *self, const pcs_set *cells, const char *component, pcs_probe *out);

#endif
