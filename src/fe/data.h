// The inside of the finite-element system; private to this folder.

#ifndef PCS_FE_DATA_H
#define PCS_FE_DATA_H

#include "core/comm.h"
#include "core/pool.h"
#include "fe/fe.h"

// One entry of an applied load that is the same in all positions.
typedef struct fe_push {
    int equation;
    double value;        // N or N m at amplitude 1
    double direction[3]; // of the dof; zero for a rotation
} fe_push;

// A load on a node with finite rotations whose entries depend on them.
typedef struct fe_turning_load {
    int node;
    int load;        // index into the definition's loads
    double value[3]; // at amplitude 1
} fe_turning_load;

// Rows of one contact or joint.
typedef struct fe_row_source {
    int first_row, nrow; // here: a joint of another rank has none
    bool varies;         // its rows are evaluated at every position; those of a joint may keep their directions
    pcs_row_evaluate *evaluate;
    pcs_joint_shape joint;     // of a joint
    pcs_contact_shape contact; // of a contact
} fe_row_source;

// Holds the part that this rank has of a model distributed over several ranks.
typedef struct fe_share {
    pcs_layout layout;
    int *index_of_cell;   // [mesh ncell] in its group, of all ranks; -1: not known
    bool deals_rows;      // contacts are those at own nodes, and a piece of those that may be anywhere
    bool reaches;         // some of them, on some rank, act on nodes of others, too
    int *joint_rank;      // [njoint] who has the rows of each joint, where rows are dealt out
    int npoint, ncell;    // nodes and cells of this rank
    void *points, *cells; // plans to show them on rank 0
} fe_share;

typedef struct fe_reactions fe_reactions;
typedef struct fe_spread fe_spread;
typedef struct fe_laws fe_laws;
typedef struct fe_law_work fe_law_work;

enum { FE_ROW_TERMS = PCS_ROW_NODES * PCS_MAX_NODE_DOFS };

// Order in which the pieces of a batch are assembled by several threads.
typedef struct fe_plan {
    int ncolour; // 0: cell after cell
    int *piece;  // pieces of cells, colour by colour
    int *first;  // [ncolour + 1] the pieces of colour c are piece[first[c]] .. piece[first[c+1] - 1]
} fe_plan;

// Maps entries of cell matrices to positions among the values of K and C. Equations of a node are consecutive, so the
// entries of a column of the cell in the rows of one node are, too, unless supports fix some of them.
typedef struct fe_scatter {
    int nnode;  // of a cell
    int *first; // [ncell][ndof][nnode] places of the first rows of the nodes in a column; or -1 - i: i-th of `table`
    int *table; // [..][ndof * ndof] of other cells, -1: nowhere
} fe_scatter;

// A point of the picture that rides on its node.
typedef struct fe_rider {
    double arm[3];  // m, in the reference state
    bool is_finite; // it turns by finite angles
} fe_rider;

// All points of a picture of which this rank shows a part, in scratch.
typedef struct fe_points {
    int npoint;
    int (*cells)[2]; // [ncell] of the mesh; NULL: the points are the nodes
    int *node;       // [npoint] likewise
    fe_rider *arm;   // [npoint] NULL: all are at their nodes
} fe_points;

// The part of a picture that a rank shows, and what ranks tell one another for it (fe/picture_part.c).
typedef struct fe_part {
    const int *cell;     // [ncell + nasked] numbers in the mesh: shown, then of other ranks, for section forces
    int nasked, nbeyond; // the latter, and their points that are not shown
    int nshown;          // cells without those, of the latter, that are not in the mesh (-1)
    double *far_length;  // [ncell + nasked - nshown] m, of them
    int nall, first;     // cells that ranks ask for, and the first of this rank among them
    int ngiven;          // of these: cells that this rank shows
    int (*given)[2];     // [ngiven] number among all, and among the shown
    double *values;      // [nall][nfield]
    double (*x)[3];      // [npoint + nroom] places in the reference state
    double *radius;      // [npoint + nroom] of the bodies there
    int nroom;           // behind the points, for nodes that carry something: all on the first rank, else own ones
    int ncarrier;        // of them: known here
    int (*carrier)[2];   // [ncarrier] node, and place among the points
    void *carriers;      // plan to show them on rank 0
} fe_part;

// Discs and arms that cells have, in scratch (fe/picture_carried.c).
typedef struct fe_carried {
    int count;           // of all ranks
    int nown, (*own)[2]; // [nown] of cells of this rank: their nodes here, and numbers among all
    pcs_obstacle *list;  // [count] on the first rank, by numbers of nodes in the whole; else NULL
} fe_carried;

// Cells with sections in a row, for section forces at their nodes (fe/section_forces.c).
typedef struct fe_chains {
    const int (*cells)[2]; // [ncell] of the picture, and of a part those it asks for
    int *before, *after;   // [npoint] the cell that ends and the one that begins there, -1: none; likewise
    double *length;        // [ncell] m
    int nlinear, *field;   // forces known in the middle of cells, and their columns in the picture
    int *pair;             // [nlinear] columns of their values at the first nodes of cells, before those at the second
                           // ones; -1: as in the middle
    int start, end;        // columns of the moments at the ends, -1: none
    int moment[2];         // which of the linear ones are those about y and z, -1: none
} fe_chains;

// Holds the nodes of joints whose directions vary, coloured: nodes of one colour are moved at once (fe/slopes.c).
typedef struct fe_slopes {
    pcs_slopes by;      // workspace
    int nnode, *node;   // of joints whose directions vary
    int *place_of_node; // [mesh nnode] among these, or -1
    int ncolour;
    int *colour;   // [nnode]
    bool *is_used; // [ncontact * ncolour] the joint has nodes of this colour
} fe_slopes;

// Holds the model as built from the case; constant afterwards.
typedef struct fe_data {
    pcs_fe_definition model;
    pcs_dofmap map;
    fe_share *share;               // NULL: all is here
    int nheld;                     // supports that are joints, too: the last ones
    int nbatch;                    // ngroup, or twice as many
    pcs_batch *batches;            // [2 ngroup] own cells of each group, then cells that belong to other ranks
    int *batch_of_cell;            // [mesh ncell] group number, -1 for none
    int *place_of_cell;            // [mesh ncell] number within the batch; -1: belongs to another rank
    struct pcs_taper *tapers;      // [mesh ncell] of groups with sections that vary; NULL: none
    int *field_of;                 // [ngroup * PCS_MAX_CELL_FIELDS] column of the picture, -1: not drawn
    int *pair_of;                  // likewise, of fields of groups without those at ends: the first column of a pair
    int npair;                     // columns behind the fields of the picture, in pairs: values at the ends of cells
    fe_spread *spreads;            // [ngroup] loads along cells; NULL: none, or nobody will ask
    const int *group_shown;        // [cells of model.shown] group number, -1 for none
    const pcs_batch *drawn;        // [ngroup] the batches, with the sections of these cells
    fe_chains *chains;             // NULL: none
    fe_part *part;                 // of the picture; NULL: this rank shows all or nothing
    const int *node_of_point;      // [npoint] of the picture; NULL: the points are the nodes
    fe_rider *arm_of_point;        // [npoint] NULL: all are at their nodes
    bool has_members;              // section forces are drawn at points
    bool has_arms;                 // some cells end at arms from their nodes
    fe_row_source *sources;        // [ncontact] contacts, then joints
    pcs_contact_point *points;     // [nrow] constant rows
    fe_laws *laws;                 // contacts with force laws (fe/laws.h); NULL: none
    int *dof_of_equation;          // [nequation] when there are such rows
    bool has_evaluated_rows;       // some gaps are stated by instances
    bool has_varying_rows;         // and their directions change
    bool is_damped;                // forces depend on velocities
    bool has_tumbling;             // bodies turn by finite angles, in space or with springs at their points
    bool is_nonlinear;             // tangents vary, of groups, force laws or loads
    int ninternal;                 // internal variables of all cells
    int nspin;                     // nodes with a finite rotation in space
    int (*spins)[3];               // [nspin] their equations, consecutive; -1: held
    int *spin_of_node;             // [nnode] -1: none; NULL when there are none at all
    fe_scatter *scatter;           // [nbatch] of nonlinear groups: where cell entries go
    fe_slopes *slopes;             // of joints; NULL: none of them turns
    double *still_K;               // [nnz] K of a model without nonlinear groups, when joints add to it
    fe_plan *plans;                // [nbatch] of a nonlinear model, else NULL
    bool takes_ranges, has_ranges; // forces and energies can go by ranges of equations; they do
    const double *base;            // [nv] gravity or zero, beside which the only batch puts its forces; NULL: added
    double *base_K, *base_C;       // [nnz] what linear groups give to K and C; NULL: nothing
    const fe_reactions *reactions; // of supports; NULL when none are asked for
    int npush;
    fe_push *pushes; // [npush] on own equations, load by load
    int *first_push; // [nload + 1] the pushes of load i are first_push[i] .. first_push[i+1]-1
    int nturning;
    fe_turning_load *turning; // [nturning]
    bool has_pushes;          // some rank has
    double spring_rate2;      // 1/s^2, by how much springs without mass raise w^2 at most
    double spring_damping;    // 1/s, and their dampers 2 xi w
    double *own_mass;      // [nv] kg or kg m^2, that each of the cells without mass has to itself; NULL: not asked for
    bool is_balanced;      // nothing but gravity moves the model as a whole: no loads, laws or supports act on it
    double free_weight[3]; // N, gravity summed over the moving equations of this rank
    double rest_potential; // J, gravity of the undeformed cells of this rank against the datum
} fe_data;

// Holds the time- and state-dependent data, except the matrices and directions, which are in pcs_system.
typedef struct fe_work {
    void **instances;      // [ncontact] of contacts and joints, with what their search has found; NULL: constant rows
    pcs_row_state *states; // [nrow] varying rows at the position evaluated last
    pcs_pool *pool;        // of threads; NULL: one thread
    double *load_factors;  // [nload] 1, unless someone drives a load
    pcs_row_state *slope_states; // [most rows of a joint]
    pcs_place *slope_places;     // [slopes->nnode]
    fe_law_work *laws;           // points with force laws as they were evaluated last; NULL: none
    double *internal;            // [ninternal + 1] of all batches at the last commit, and the time of that; NULL: none
    double elapsed;              // s, from there to where tangents are asked for
    // Workspace of reactions:
    double *q, *v, *f;       // [nv + nfixed]
    double *p, *R;           // [nfixed]
    double *last_p, *last_f; // [nfixed] at the last call
} fe_work;

extern const pcs_system_ops pcs_system_fe;

// Ranks that have parts of the mesh may find different faults in it: the worst of all.
static inline pcs_status pcs_fe_agree(pcs_context *ctx, const fe_data *fe, pcs_status status)
{
    return pcs_mesh_is_whole(fe->model.mesh) ? status : pcs_comm_agree(ctx, status);
}
// Deals nodes, equations and cells out among the ranks; all equations have numbers, no batch knows them yet.
pcs_status pcs_fe_share(pcs_context *ctx, fe_data *fe);
static inline const pcs_element_ops *pcs_fe_ops(const fe_data *fe, int batch)
{
    return fe->model.groups[batch < fe->model.ngroup ? batch : batch - fe->model.ngroup].ops;
}
// Rank of a node of a model that is spread over several.
static inline int pcs_fe_owner(const fe_data *fe, int node)
{
    const pcs_mesh_share *share = fe->model.mesh->share;
    return share == NULL ? fe->share->layout.comm->rank : share->owner[node];
}
// Is this the rank that speaks for a node?
static inline bool pcs_fe_owns(const fe_data *fe, int node)
{
    return fe->model.mesh->share == NULL || pcs_fe_owner(fe, node) == fe->share->layout.comm->rank;
}
// Returns true if the node has finite (large) rotations.
static inline bool pcs_fe_turns_finitely(const fe_data *fe, int node)
{
    for (int i = fe->map.first[node]; i < fe->map.first[node + 1]; i++)
        if (fe->map.dof[i].is_finite) return true;
    return false;
}
// Numbers the dofs and equations from groups and supports.
pcs_status pcs_fe_number_dofs(pcs_context *ctx, fe_data *fe, const char **culprit);
// Sections of a group that vary along its cells, which must make a line then.
pcs_status pcs_fe_taper(pcs_context *ctx, fe_data *fe, int group, const char **culprit);
// The same of all cells on the rank that shows them. All ranks take part, here and in the next one.
pcs_status pcs_fe_show_tapers(pcs_system *self, fe_data *fe);
// Fills start and end of each cell, m along its line, and the length of the line, m, if ranks have parts of the mesh.
pcs_status pcs_fe_measure_line(pcs_context *ctx, const pcs_mesh *mesh, const pcs_set *cells, struct pcs_taper *tapers,
                               double *length);
// Finds x, m, the end of the mass of a cell (number within its batch) at its node `end` (0, 1) in the reference state.
void pcs_fe_mass_end(const pcs_batch *batch, int cell, int end, double x[3]);
// Gravity vector, its potential at rest, and the nodal forces.
pcs_status pcs_fe_apply_loads(pcs_system *self, fe_data *fe, const char **culprit);
// Loads along cells (fe/spread.c): are there such, on any rank; room for them; what one of them does at the nodes of a
// cell at amplitude 1; and what all of them do at present, in f, or NULL.
bool pcs_fe_has_spread(const fe_data *fe);
pcs_status pcs_fe_take_spread(pcs_system *self, fe_data *fe);
void pcs_fe_note_spread(fe_data *fe, int batch, int cell, const pcs_fe_load *load, const double *force);
const double *pcs_fe_spread_force(const pcs_system *self, pcs_instant at, int group, int cell,
                                  double f[PCS_MAX_CELL_DOFS]);
// Which cells of the mesh a line load is on, in scratch memory.
pcs_status pcs_fe_mark_loaded(const pcs_system *self, const pcs_fe_load *load, unsigned char **out);
// Bounds the squared frequency and the damping that cells without mass add, for the stable step.
pcs_status pcs_fe_find_springs(pcs_system *self, fe_data *fe);
bool pcs_fe_is_massless(int n, const double *M);
// Eigenvalues of A x = w B x, ascending, A symmetric and B positive definite; false when they cannot be found.
bool pcs_fe_cell_eigenvalues(int n, const double *A, const double *B, double w[PCS_MAX_CELL_DOFS]);
// Factor of load i at time t.
double pcs_fe_load_size(const pcs_system *self, int load, double t);
// Loads that turn with their nodes, or stand while their nodes turn: force, stiffness, resultant, work and power.
pcs_status pcs_fe_demand_finite_turns(const pcs_system *self, int node);
pcs_status pcs_fe_add_turning_load(pcs_system *self, fe_data *fe, int load, int node);
void pcs_fe_turning_force(const pcs_system *self, double t, const double *q, double *f);
void pcs_fe_turning_tangent(pcs_system *self, pcs_instant at);
void pcs_fe_turning_resultant(const pcs_system *self, double t, const double *q, double sum[3]);
double pcs_fe_turning_work(const pcs_system *self, double t, const double *q0, const double *q1);
double pcs_fe_turning_power(const pcs_system *self, double t, const double *q, const double *v);
// Largest stable step of an explicit scheme over all cells, s.
double pcs_fe_stable_step(const pcs_system *self);
// Returns the stable step, s, of one mode with frequency w and damping 2 xi w = alpha + beta w^2.
double pcs_fe_mode_step(double w2, double alpha, double beta, const pcs_step_limit *limit);
// Are there bodies that turn by finite angles?
void pcs_fe_find_tumbling(fe_data *fe);
double pcs_fe_present_step(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit);
// Travel times of waves through the cells.
void pcs_fe_find_travel(pcs_system *self);
// The same for a scheme with a limit of its own.
double pcs_fe_limited_step(const pcs_system *self, const pcs_step_limit *limit);
// Contacts and joints.
pcs_status pcs_fe_make_rows(pcs_system *self, fe_data *fe, const char **culprit);
// Places of the nodes at q, with velocities where v is not NULL; the view must outlast them.
typedef struct fe_view {
    const fe_data *fe;
    pcs_instant at;
} fe_view;
pcs_places pcs_fe_places(const pcs_system *self, const fe_view *view);
void pcs_fe_put_direction(const fe_data *fe, const pcs_row_direction *direction, const double *q, pcs_rows *rows,
                          int row);
// States of the rows at q, with their bias when v is not NULL.
void pcs_fe_look_at_rows(pcs_system *self, pcs_instant at);
void pcs_fe_evaluate_rows(pcs_system *self, pcs_instant at, const pcs_row_values *out);
// All rows of one contact that has an instance, into `states`.
void pcs_fe_evaluate_contact(const pcs_system *self, int contact, const double *q, pcs_row_state *states);
pcs_status pcs_fe_search(pcs_system *self, pcs_instant at, bool *has_changed);
void pcs_fe_passages(pcs_system *self, const double *q0, const double *q1, const pcs_passage_row *rows,
                     pcs_passage *worst);
static inline const pcs_contact_law *pcs_fe_contact_law(const pcs_fe_contact *c)
{
    return (const void *)((const char *)c->params + c->ops->law_offset);
}
// Contacts with force laws: which there are; the points of one; all of them, once the rows are counted.
pcs_status pcs_fe_find_laws(pcs_system *self, fe_data *fe);
pcs_status pcs_fe_count_law(pcs_system *self, fe_data *fe, int contact);
void pcs_fe_join_laws(fe_data *fe);
pcs_status pcs_fe_make_laws(pcs_system *self, fe_data *fe, pcs_contact_info *info, pcs_row *rows, const char **culprit);
// Their forces, resultant, energy and loss, tangents, reports, and what they may jump over: where there are such.
void pcs_fe_law_force(const pcs_system *self, const double *q, const double *v, double *f);
void pcs_fe_law_resultant(const pcs_system *self, const double *q, const double *v, double sum[3]);
double pcs_fe_law_energy(const pcs_system *self, const double *q, const double *v);
double pcs_fe_law_loss(const pcs_system *self, const double *q, const double *v, const double *u);
void pcs_fe_law_tangents(pcs_system *self, const double *q, const double *v);
void pcs_fe_press(pcs_system *self, pcs_instant at, pcs_row_report *rows);
void pcs_fe_law_points(const pcs_system *self, const double *q, double (*position)[3], double (*normal)[3]);
const pcs_row_state *pcs_fe_law_state(const pcs_system *self, int point);
// Friction goes on from here.
void pcs_fe_delay_dampers(pcs_system *self, pcs_instant at);
void pcs_fe_commit_laws(pcs_system *self, const double *q, const double *v);
const pcs_passage_row *pcs_fe_law_ends(const pcs_system *self, int contact, const double *q0, const double *q1,
                                       int *first);
// Pairs of equations that they couple; what they do to the stable step: `work` is [2 nv], zero before.
pcs_status pcs_fe_add_law_pattern(pcs_system *self, const fe_data *fe, pcs_pattern_builder *builder,
                                  const char **culprit);
void pcs_fe_share_laws(const pcs_system *self, const double *rest, int *share);
void pcs_fe_find_law_rates(pcs_system *self, fe_data *fe, const double *mass, const int *share, double *work);
// Before rows are evaluated; joints have no tangents.
void pcs_fe_clear_states(bool is_joint, int nrow, pcs_row_state *states);
// Finds dG/dx, the change of joint directions with displacement, and adds its product with the joint forces to K.
pcs_status pcs_fe_prepare_slopes(pcs_system *self, fe_data *fe);
void pcs_fe_update_slopes(pcs_system *self, pcs_instant at, const double *x);
void pcs_fe_add_joint_stiffness(pcs_system *self, pcs_instant at, const double *lam);
// Finds the forces and moments that joints and supports exert on the model.
pcs_status pcs_fe_make_reactions(pcs_system *self, fe_data *fe, const char **culprit);
void pcs_fe_reactions(pcs_system *self, pcs_instant at, double h, const double *acting, const pcs_row_report *rows,
                      pcs_reaction *out);
// Materials with internal variables.
pcs_status pcs_fe_make_internal(pcs_system *self, fe_data *fe);
double pcs_fe_internal_loss(const pcs_system *self, pcs_instant at);
void pcs_fe_commit(pcs_system *self, pcs_instant at);
// From the last commit to t, s.
static inline double pcs_fe_elapsed(const pcs_system *self, double t)
{
    const fe_work *work = self->work;
    if (work->internal == NULL) return 0.0;
    double elapsed = t - work->internal[((const fe_data *)self->data)->ninternal];
    return elapsed > 0.0 ? elapsed : 0.0;
}
// A batch as it is that time after the last commit; `room` may be used for it.
static inline const pcs_batch *pcs_fe_batch_at(const fe_data *fe, int b, double elapsed, pcs_batch *room)
{
    if (fe->batches[b].ops->ninternal == 0) return &fe->batches[b];
    *room = fe->batches[b];
    room->elapsed = elapsed;
    return room;
}
// Finite rotations in space.
pcs_status pcs_fe_find_rotations(pcs_system *self, fe_data *fe);
// After "; ", the cells that are bent too far, or an empty text.
void pcs_fe_name_bent(const pcs_system *self, const double *q, size_t size, char *text);
// After "; ", a load that is no number at some time from span[0] to span[1]; false: all are.
bool pcs_fe_name_load(const pcs_system *self, const double span[2], size_t size, char *text);
// M, K and C; and K and C of nonlinear models anew.
pcs_status pcs_fe_assemble(pcs_system *self, fe_data *fe, const char **culprit);
void pcs_fe_update_tangents(pcs_system *self, pcs_instant at);
// Are gyroscopic forces all that depends on velocities in a group?
bool pcs_fe_is_gyroscopic(const fe_data *fe, int b);
void pcs_fe_add_tangents(pcs_system *self, int b, int first, int count, const double *q, const double *v);
// The same by several threads where a batch is large; false when it is not.
pcs_status pcs_fe_plan_pieces(pcs_system *self, fe_data *fe);
bool pcs_fe_add_pieces(pcs_system *self, int b, const double *q, const double *v);
// Forces and energies of long bars by ranges of equations; f holds gravity and loads already where it is filled.
pcs_status pcs_fe_plan_ranges(pcs_system *self, fe_data *fe);
void pcs_fe_range_force(const pcs_system *self, const double *q, const double *v, bool is_filled, double *f);
void pcs_fe_range_energy(const pcs_system *self, const double *q, const double *v, pcs_energy *sum);
static inline pcs_batch pcs_fe_range_batch(const fe_data *fe, int b, int low, int high)
{
    pcs_batch batch = fe->batches[b];
    batch.low = low;
    batch.high = high;
    return batch;
}
// And slice by slice, where that can be.
void pcs_fe_find_slices(pcs_system *self, const fe_data *fe);
// Gravity times q over low <= i < high; the measure that follows from sums and from this over all.
double pcs_fe_weight_work(const pcs_system *self, int low, int high, const double *q);
void pcs_fe_tell(const pcs_system *self, const pcs_energy *sum, double weight_work, pcs_measure *out);
// Pictures and probes.
pcs_status pcs_fe_make_picture(pcs_system *self, fe_data *fe);
void pcs_fe_draw(pcs_system *self, pcs_instant at, pcs_picture *picture);
// Gives cells that meet at a branch, and those that end at arms from their nodes, points of their own; of a picture by
// parts in `all`, which is zero before.
pcs_status pcs_fe_split_points(pcs_system *self, fe_data *fe, pcs_picture *picture, fe_points *all);
// Returns true if a cell of the mesh has section forces.
bool pcs_fe_has_section(const fe_data *fe, int cell);
// Number in the mesh of a cell of the picture.
static inline int pcs_fe_shown_cell(const fe_data *fe, int cell)
{
    return fe->part == NULL ? cell : fe->part->cell[cell];
}
// Collects the discs and arms of cells on rank 0, which draws them. All ranks take part.
pcs_status pcs_fe_find_carried(pcs_system *self, const fe_data *fe, bool has_arms, fe_carried *out);
void pcs_fe_free_carried(fe_carried *carried);
// The part of the picture that this rank shows; `obstacles` are those of the picture, by nodes of the mesh, and last
// on the first rank those that cells carry.
pcs_status pcs_fe_take_part(pcs_system *self, fe_data *fe, pcs_picture *picture, pcs_obstacle *obstacles,
                            const fe_carried *carried);
// Cells that section forces need of other ranks, and the nodes that carry something, once cells and nodes are drawn.
void pcs_fe_share_picture(const pcs_system *self, pcs_picture *picture);
// Adds the radii of the sections to those of the points, zero before, and gives the largest.
double pcs_fe_find_radii(const fe_data *fe, const int (*cells)[2], double *radius);
// Fills height and width of every cell that is shown with a rectangular section, in its middle; others stay 0. False:
// there are none.
bool pcs_fe_find_rectangles(const fe_data *fe, double (*size)[2]);
pcs_status pcs_fe_take_section_forces(pcs_system *self, fe_data *fe, pcs_picture *picture);
// Returns the name of a field of the middle of cells at their first nodes, NULL if it is not known there.
const char *pcs_fe_pair_name(const char *field);
// Computes section forces at points from the fields of the cells, which must be drawn already.
void pcs_fe_draw_section_forces(const fe_data *fe, pcs_picture *picture);
// Arms from the nodes of a cell of the mesh that is shown to its ends; do they turn by finite angles?
bool pcs_fe_cell_arms(const fe_data *fe, int cell, double arm[2][3]);
// Are rods drawn from its nodes to its ends? Those of bars and beams are along all of them.
bool pcs_fe_draws_arms(const fe_data *fe, int cell);
double pcs_fe_probe(const pcs_system *self, const pcs_probe *probe, pcs_instant at);
// "uy" as a quantity of nodes and an axis; false: there is no such component.
bool pcs_fe_component(const char *component, int *quantity, int *axis);
// Nodal vector sum_i x_i d_i over the translations of a node.
void pcs_fe_node_vector(const fe_data *fe, int node, const double *x, double out[3]);
// The same over its rotations.
void pcs_fe_node_turn(const fe_data *fe, int node, const double *x, double out[3]);
// "<section>.<name>" kept by the context, for *culprit; NULL when memory is out.
const char *pcs_fe_culprit(pcs_context *ctx, const char *section, const char *name);

#endif
