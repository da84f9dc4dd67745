// Gap types: they turn a contact of the case into constraint rows, constant ones g = g0 + G u where the directions do
// not change, or rows evaluated anew at every position.

#ifndef PCS_CONTACT_CONTACT_H
#define PCS_CONTACT_CONTACT_H

#include "contact/row.h"
#include "core/memory.h"
#include "core/obstacle.h"
#include "core/option.h"
#include "core/passage.h"
#include "mesh/dofmap.h"
#include "sparse/matrix.h"

enum { PCS_MAX_ROW_TERMS = 2 * PCS_MAX_NODE_DOFS };

// One contact point, linear in the nodal displacements.
typedef struct pcs_contact_point {
    double gap;       // at zero displacement, m
    double normal[3]; // unit vector
    int node;         // where the point is drawn and the force acts along +normal
    int other;        // the node that gets the opposite force, or -1
    double arm[3];    // from there to where it is drawn
    int nterm;
    int equation[PCS_MAX_ROW_TERMS];
    double coefficient[PCS_MAX_ROW_TERMS];
} pcs_contact_point;

// Holds the coefficients of impact and friction of a contact; the first member of every gap type's law.
typedef struct pcs_contact_law {
    double restitution;         // Newton's e; NAN: a force law acts
    double friction;            // Coulomb's mu
    double tangent_restitution; // of the tangential velocity
} pcs_contact_law;

// Rows of an option table for a parameter struct with the member `law`.
#define PCS_CONTACT_LAW_OPTIONS(type)                                                                               \
    PCS_REAL("restitution", type, law.restitution, PCS_OPTIONAL, PCS_ZERO_TO_ONE,                                   \
             "Newton's coefficient e of the rigid law; it, or `law`, is required"),                                 \
        PCS_REAL("friction", type, law.friction, PCS_DEFAULT("0.0"), PCS_NOT_NEGATIVE, "Coulomb's coefficient mu"), \
        PCS_REAL("tangent_restitution", type, law.tangent_restitution, PCS_DEFAULT("0.0"), PCS_ZERO_TO_ONE,         \
                 "restitution of the tangential velocity")

// Describes the rows of a contact, once its nodes are known.
typedef struct pcs_contact_shape {
    int nrow;
    int ntangent;      // of every row; 0 without friction
    bool is_constant;  // its directions never change and its gaps are linear in q
    pcs_memory memory; // what `search` carries from step to step
    double size;       // m, of what its gaps are differences of: positions round off like it; 0: the mesh says it all
    double reach;      // m, longest arm at which its normals push on nodes
} pcs_contact_shape;

typedef struct pcs_gap_ops {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    const char *const *set_options;  // options that name sets, ends with NULL
    const char *const *cell_options; // those of them that name sets of cells; NULL: none
    // Those of them that, as cells do, have nodes which any row may act on; NULL: none.
    const char *const *common_options;
    size_t law_offset; // of the pcs_contact_law in the parameters
    // NULL when the parameters are sound, else what is wrong; *option names the culprit.
    const char *(*check)(const void *params, const char **option);
    // Constant rows without friction, the fastest; both may be NULL.
    int (*count)(const void *params, const pcs_mesh *mesh); // contact points; -1: with these parameters they vary
    // Fills point i. A direction the node does not have, or a node that cannot move, is PCS_BAD_INPUT.
    pcs_status (*fill)(pcs_context *ctx, const void *params, const pcs_dofmap *map, int i, pcs_contact_point *point);
    // All others: resolves nodes and geometry, and evaluates all rows, with their tangents when there is friction.
    pcs_status (*create)(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance,
                         pcs_contact_shape *shape);
    pcs_row_evaluate *evaluate;
    // Returns the number of rows per node if rows act on a node of one set, or on the nodes at the same place of all
    // node sets in `set_options`, and never on others but those of cells and `common_options`. Rows follow
    // pcs_set_touching by the first of these sets, node by node, so that each rank may have the rows of its own nodes.
    // NULL if rows act on other nodes.
    int (*rows_per_node)(const void *params);
    // Returns the number of rows if `search` assigns them to what it finds among sets of cells, which all options name:
    // each rank of the map's `row_comm` creates and evaluates an equal piece, in order (pcs_comm_first), and all ranks
    // do the same search. NULL if rows belong to nodes.
    int (*places)(const void *params, const pcs_mesh *mesh);
    // Looks for what may touch from here on, between two steps; rows are about the same until the next call. Says
    // whether some row is about something else now. What overlaps without having had a row is PCS_FAILED. NULL where
    // rows never change.
    pcs_status (*search)(pcs_context *ctx, void *instance, const pcs_places *places, bool *has_changed);
    // Looks at the straight ways of the nodes between the ends of a step, where no law is evaluated: notes what closed
    // and opened again there, or has changed sides. Rows, of `worst` as well, count from the first of the contact. NULL
    // where a body that has gone through has a negative gap, as with a plane.
    void (*passage)(void *instance, const pcs_places *from, const pcs_places *to, const pcs_passage_row *rows,
                    pcs_passage *worst);
    // Fills `*out` (zeroed by the caller) with the obstacle to draw. NULL if there is none.
    void (*show)(const void *params, const pcs_dofmap *map, pcs_obstacle *out);
    // Fills `*out` likewise with part 0, 1, ... that nodes carry; returns false if there is no such part. May be NULL.
    bool (*show_carried)(const void *params, const pcs_dofmap *map, int part, pcs_obstacle *out);
} pcs_gap_ops;

extern const pcs_gap_ops *const pcs_gap_types[]; // ends with NULL

// The set that the i-th of `set_options` names; NULL: there are no more.
const char *pcs_gap_set_name(const pcs_gap_ops *ops, const void *params, int i);
// Is it one of cells? May any row act on its nodes?
bool pcs_gap_has_cells(const pcs_gap_ops *ops, const char *option);
bool pcs_gap_is_common(const pcs_gap_ops *ops, const char *option);
// Rows, on all ranks together, of a contact that has `rows_per_node` or `places`.
int pcs_gap_rows(const pcs_gap_ops *ops, const void *params, const pcs_mesh *mesh);

#endif
