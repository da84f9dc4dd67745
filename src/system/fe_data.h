// The inside of the finite-element system; private to this folder.

#ifndef PCS_SYSTEM_FE_DATA_H
#define PCS_SYSTEM_FE_DATA_H

#include "system/fe.h"

// One entry of an applied nodal force.
typedef struct fe_push {
    int equation;
    int load;            // index into the definition's loads
    double value;        // N at amplitude 1
    double direction[3]; // of the dof
} fe_push;

typedef struct fe_data {
    pcs_fe_definition model;
    pcs_dofmap map;
    pcs_batch *batches;        // [ngroup]
    int *batch_of_cell;        // [mesh ncell] group number, -1 for none
    int *place_of_cell;        // [mesh ncell] number within the batch
    int *field_of;             // [ngroup * PCS_MAX_CELL_FIELDS] column of the picture
    pcs_contact_point *points; // [nrow]
    int npush;
    fe_push *pushes;       // [npush]
    double free_weight[3]; // N, gravity summed over the moving equations
    double rest_potential; // J, gravity of the undeformed model against the datum
} fe_data;

extern const pcs_system_ops pcs_system_fe;

// Numbers the dofs and equations from groups and supports.
pcs_status pcs_fe_number_dofs(pcs_context *ctx, fe_data *fe, const char **culprit);
// Gravity vector, its potential at rest, and the nodal forces.
pcs_status pcs_fe_apply_loads(pcs_system *self, const char **culprit);
// Largest stable step of an explicit scheme over all cells, s.
double pcs_fe_stable_step(const fe_data *fe);
// The same for a scheme with a limit of its own.
double pcs_fe_limited_step(const pcs_system *self, pcs_mode_limit *limit, const void *params);
// Contact rows and their directions.
pcs_status pcs_fe_make_contacts(pcs_system *self, const char **culprit);
void pcs_fe_gaps(const pcs_system *self, const double *q, double *gap);
void pcs_fe_contact_points(const pcs_system *self, const double *q, double (*position)[3], double (*normal)[3]);
void pcs_fe_row_resultant(const pcs_system *self, int row, double out[3]);
// Pictures and probes.
pcs_status pcs_fe_make_picture(pcs_system *self);
void pcs_fe_draw(const pcs_system *self, const double *q, const double *v, pcs_picture *picture);
double pcs_fe_probe(const pcs_system *self, const pcs_probe *probe, const double *q, const double *v);
// Nodal vector sum_i x_i d_i over the translations of a node.
void pcs_fe_node_vector(const fe_data *fe, int node, const double *x, double out[3]);
// "<section>.<name>" kept by the context, for *culprit; NULL when memory is out.
const char *pcs_fe_culprit(pcs_context *ctx, const char *section, const char *name);

#endif
