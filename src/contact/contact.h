// Gap types: they turn a contact of the case into constraint rows, constant ones g = g0 + G u where the directions do
// not change, or rows evaluated anew at every position.

#ifndef PCS_CONTACT_CONTACT_H
#define PCS_CONTACT_CONTACT_H

#include "contact/row.h"
#include "core/option.h"
#include "mesh/dofmap.h"
#include "sparse/matrix.h"

enum { PCS_MAX_ROW_TERMS = 2 * PCS_MAX_NODE_DOFS };

// One contact point, linear in the nodal displacements.
typedef struct pcs_contact_point {
    double gap;       // at zero displacement, m
    double normal[3]; // unit vector
    int node;         // where the point is drawn and the force acts along +normal
    int other;        // the node that gets the opposite force, or -1
    int nterm;
    int equation[PCS_MAX_ROW_TERMS];
    double coefficient[PCS_MAX_ROW_TERMS];
    double resultant[3]; // momentum that a unit impulse gives to the moving equations
} pcs_contact_point;

typedef struct pcs_gap_ops {
    const char *name;
    const char *summary;
    const pcs_option *options;
    size_t params_size;
    const char *const *set_options; // options that name node sets, ends with NULL
    size_t restitution_offset;      // of the restitution (double) in the parameters
    // NULL when the parameters are sound, else what is wrong; *option names the culprit.
    const char *(*check)(const void *params, const char **option);
    // Constant rows; both NULL where directions vary.
    int (*count)(const void *params, const pcs_mesh *mesh); // contact points
    // Fills point i. A direction the node does not have, or a node that cannot move, is PCS_BAD_INPUT.
    pcs_status (*fill)(pcs_context *ctx, const void *params, const pcs_dofmap *map, int i, pcs_contact_point *point);
    // Varying rows: resolves nodes and geometry, says how many rows there are, and evaluates them all.
    pcs_status (*create)(pcs_context *ctx, const void *params, const pcs_dofmap *map, void **instance, int *nrow);
    pcs_row_evaluate *evaluate;
} pcs_gap_ops;

extern const pcs_gap_ops *const pcs_gap_types[]; // ends with NULL

#endif
