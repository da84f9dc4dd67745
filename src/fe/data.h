// The inside of the finite-element system; private to this folder.

#ifndef PCS_FE_DATA_H
#define PCS_FE_DATA_H

#include "core/comm.h"
#include "core/pool.h"
#include "fe/fe.h"
#include "rows/table.h"

// An entry of an applied load that does not depend on positions.
typedef struct fe_push {
    int equation;
    double value;        // N or N m at amplitude 1
    double direction[3]; // unit vector of the dof; zero for a rotation
} fe_push;

// A load on a node with finite rotations, on which its entries depend.
typedef struct fe_follower {
    int node;
    int load; // index into the definition's loads
} fe_follower;

// The part of a distributed model on this rank.
typedef struct fe_share {
    pcs_layout layout;
    int *index_of_cell;    // [mesh ncell] index in the group over all ranks; -1 if unknown
    bool distributes_rows; // contact rows are distributed: those at own nodes, and an equal part of the others
    bool reaches;          // some of these rows, on some rank, act on nodes of other ranks, too
    bool *joint_is_here;   // [njoint] this rank has the rows of the joint, if rows are distributed
} fe_share;

// The dofs of a cell in the order of its element.
typedef struct fe_cell {
    int dof[PCS_MAX_CELL_DOFS];      // in the map; -1 if the cell leaves it out
    double d[PCS_MAX_CELL_DOFS][3];  // unit vectors of displacements; zero for rotations
    double along[PCS_MAX_CELL_DOFS]; // d . x, m, x the end of the cell's mass at the node in the reference state
    double x[2][3];                  // m, these ends
} fe_cell;

typedef struct fe_reactions fe_reactions;
// Maps entries of cell matrices to positions among the values of K and C. Equations of a node are consecutive, so the
// entries of a column of the cell in the rows of one node are, too, unless supports fix some of them.
typedef struct fe_scatter {
    int nnode;  // nodes of a cell
    int *first; // [ncell][ndof][nnode] position of the node's first row in a column; or -1 - i for the i-th of `table`
    int *table; // [..][ndof * ndof] positions for other cells, -1 if a dof is fixed
    int *end;   // [ncell] end of the columns of a cell and of all before it
} fe_scatter;

// Holds the model as built from the case; constant afterwards.
typedef struct fe_data {
    pcs_fe_definition model;
    pcs_dofmap map;
    fe_share *share;            // NULL if this rank has the whole model
    int nheld;                  // number of supports that are joints, which come last
    int nbatch;                 // ngroup, or 2 ngroup if distributed
    pcs_batch *batches;         // [2 ngroup] own cells of each group, then cells that belong to other ranks
    int *batch_of_cell;         // [mesh ncell] group number, -1 for none
    int *place_of_cell;         // [mesh ncell] index within the batch; -1 if it belongs to another rank
    struct pcs_taper *tapers;   // [mesh ncell] for groups with variable sections; NULL if absent
    bool **is_loaded;           // [nload][mesh ncell] a line load acts on the cell; NULL for other loads
    struct fe_drawing *drawing; // data of the picture
    bool has_laws;              // some contacts have force laws
    bool is_damped;             // forces depend on velocities
    bool has_tumbling;          // bodies have finite rotations, in space or with springs at offset points
    bool is_nonlinear;          // tangents of groups, force laws or loads vary
    int ninternal;              // number of internal variables of all cells
    fe_scatter *scatter;        // [nbatch] positions of cell entries, of nonlinear groups
    int *piece;                 // [nbatch] cells that a thread assembles at once; 0 for all; NULL if no tangents vary
    bool takes_ranges;          // forces and energies can be computed by ranges of equations
    double *base_K, *base_C;    // [nnz] contributions of linear groups to K and C; NULL if zero
    const fe_reactions *reactions; // reactions of supports; NULL if not requested
    int npush;
    fe_push *pushes; // [npush] on own equations, load by load
    int *first_push; // [nload + 1] the pushes of load i are first_push[i] .. first_push[i+1]-1
    int nfollower;
    fe_follower *followers; // [nfollower]
    bool has_pushes;        // true if some rank has pushes or rotating loads
    double spring_rate2;    // largest increase of w^2 by massless springs, 1/s^2
    double spring_damping;  // largest increase of 2 xi w by their dampers, 1/s
    double spin;            // largest rate of gyroscopic moments of cells at given speeds, 1/s
    double *own_mass;       // [nv] kg or kg m^2, share of the mass for each massless cell; NULL if not needed
    double free_weight[3];  // gravity summed over the free equations of this rank, N
    double rest_potential;  // gravity potential of the undeformed cells of this rank above the datum, J
} fe_data;

// Data that depend on time and state, except the matrices and directions, which are in pcs_system.
typedef struct fe_work {
    pcs_pool *pool;       // NULL for one thread
    double *load_factors; // [nload] 1 unless a caller changes them
    double *internal;     // [ninternal + 1] of all batches at the last commit, and its time, s; NULL if absent
    int nreset;           // number of first values of K that are those of linear groups while cells are added
    // Workspace of reactions:
    double *q, *v, *f;       // [nv + nfixed]
    double *p, *R;           // [nfixed]
    double *last_p, *last_f; // [nfixed] values at the last call
} fe_work;

extern const pcs_system_ops pcs_system_fe;

// Returns the worst status of all ranks, which may find different errors if each has a part of the mesh.
static inline pcs_status pcs_fe_agree(pcs_context *ctx, const fe_data *fe, pcs_status status)
{
    return pcs_mesh_is_whole(fe->model.mesh) ? status : pcs_agree(ctx, status);
}
// Returns the rank that owns a node of a distributed model.
static inline int pcs_fe_owner(const fe_data *fe, int node)
{
    const pcs_mesh_share *share = fe->model.mesh->share;
    return share == NULL ? fe->share->layout.comm->rank : share->owner[node];
}
// Returns true if this rank owns the node.
static inline bool pcs_fe_owns(const fe_data *fe, int node)
{
    return fe->model.mesh->share == NULL || pcs_fe_owner(fe, node) == fe->share->layout.comm->rank;
}
// Returns true if the node has finite (large) rotations.
static inline bool pcs_fe_rotates_finitely(const fe_data *fe, int node)
{
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++)
        if (fe->map.dof[i].is_finite) return true;
    return false;
}
// Sets in the system how its equations and rows are distributed.
static inline void pcs_fe_share_system(const fe_data *fe, pcs_system *self)
{
    if (fe->share == NULL) return;
    self->layout = &fe->share->layout;
    if (fe->share->distributes_rows) self->row_comm = self->layout->comm;
}
// Finds the dofs from groups and supports, and numbers the equations.
pcs_status pcs_fe_number_dofs(pcs_context *ctx, fe_data *fe, const char **culprit);
// Finds the dofs of a cell, given by its number within the batch.
pcs_status pcs_fe_find_cell(pcs_context *ctx, const fe_data *fe, const pcs_batch *batch, int cell, fe_cell *out);
// Computes the gravity vector, its potential at rest, and the nodal forces.
pcs_status pcs_fe_apply_loads(pcs_system *self, fe_data *fe, const char **culprit);
// Returns true if some rank has loads along cells. The next function computes the sum of present ones on a cell that is
// in equilibrium; NULL if there are none.
bool pcs_fe_has_cell_loads(const fe_data *fe);
const double *pcs_fe_cell_load_force(const pcs_system *self, pcs_instant at, int group, int cell,
                                     double f[PCS_MAX_CELL_DOFS]);
// Returns the factor of load i at time t, s: its amplitude times its load factor.
static inline double pcs_fe_load_size(const pcs_system *self, int load, double t)
{
    const fe_data *fe = self->data;
    const fe_work *work = self->work;
    return work->load_factors[load] * pcs_amplitude_value(&fe->model.loads[load].amplitude, t);
}
// Adds loads that rotate with their nodes, or that keep their direction while nodes with finite rotations rotate, to f,
// and the resultant of own nodes, N, to `sum`. Returns their power, W. Each of v, f and sum may be NULL.
double pcs_fe_follower_add(const pcs_system *self, double t, const double *q, const double *v, double *f, double *sum);
void pcs_fe_follower_tangent(pcs_system *self, pcs_instant at);
double pcs_fe_follower_work(const pcs_system *self, double t, const double *q0, const double *q1);
// Finds travel times of waves and the stable step, including cells without mass and bodies that rotate.
pcs_status pcs_fe_find_stable_step(pcs_system *self, fe_data *fe);
// Returns the largest stable step, s, of a scheme: for the whole run, or in the present state unless q is NULL.
double pcs_fe_stable_step(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit);
// Adds the equations that force laws couple to the pattern. The next function bounds their rates, `work` is [2 nv],
// zeroed.
pcs_status pcs_fe_add_law_pattern(pcs_system *self, const fe_data *fe, pcs_pattern_builder *builder,
                                  const char **culprit);
// Finds the forces and moments that joints and supports exert on the model.
pcs_status pcs_fe_make_reactions(pcs_system *self, fe_data *fe);
void pcs_fe_reactions(pcs_system *self, pcs_instant at, double h, const double *acting, const pcs_row_report *rows,
                      pcs_reaction *out);
// Returns the state in which kernels of elements are evaluated.
static inline pcs_cell_state pcs_fe_state(const pcs_system *self, pcs_instant at)
{
    const fe_work *work = self->work;
    int time = ((const fe_data *)self->data)->ninternal; // of the last commit
    double elapsed = work->internal == NULL ? 0.0 : at.t - work->internal[time];
    return (pcs_cell_state){ .q = at.q, .v = at.v, .elapsed = elapsed > 0.0 ? elapsed : 0.0 };
}
// Writes "; " and the load that is not finite at some time from span[0] to span[1]. Returns false if all are finite.
bool pcs_fe_name_load(const pcs_system *self, const double span[2], size_t size, char *text);
// Creates and draws the picture.
pcs_status pcs_fe_make_picture(pcs_system *self, fe_data *fe);
void pcs_fe_draw(pcs_system *self, pcs_instant at, pcs_picture *picture);
double pcs_fe_probe(const pcs_system *self, const pcs_probe *probe, pcs_instant at);

#endif
