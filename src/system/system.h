// Declares the interface of a mechanical system to schemes and observers.
//
//   M(q) v' = f(t, q, v) + G(q)^T lambda,   g(q) >= 0,   q' = v (or through pcs_retract)
//
// f is external minus damping minus internal force. Rows are constraints: gap g_j, direction G_j. Finite rotations in
// space do not add up: their part of q is a rotation vector, that of v the material angular velocity, and a change x of
// q, material as well, acts through pcs_retract: R(q) = R(q0) exp(x).

#ifndef PCS_SYSTEM_SYSTEM_H
#define PCS_SYSTEM_SYSTEM_H

#include "core/comm.h"
#include "core/context.h"
#include "core/matrix.h"
#include "core/memory.h"
#include "core/obstacle.h"
#include "core/option.h"
#include "core/passage.h"
#include "core/rounding.h"
#include "system/law.h"
#include "system/rotations.h"

#include <stdbool.h>

// Says where and when a system is evaluated, and under which loads.

typedef struct pcs_instant {
    double t;            // s
    const double *q, *v; // positions and velocities, NULL if not needed
    const double *along; // velocities along which the power of damping is taken; NULL for v
    double load_factor;  // factor of gravity and applied loads; 1 except in a static analysis
    bool is_equilibrium; // distributed loads enter the section forces of elements
} pcs_instant;

static inline pcs_instant pcs_at(double t, const double *q, const double *v)
{
    return (pcs_instant){ .t = t, .q = q, .v = v, .load_factor = 1.0 };
}

// Returns an instant of equilibrium under loads times a factor, with v = 0.
static inline pcs_instant pcs_at_rest(double t, const double *q, const double *v, double load_factor)
{
    return (pcs_instant){ .t = t, .q = q, .v = v, .load_factor = load_factor, .is_equilibrium = true };
}

typedef struct pcs_system pcs_system;
typedef struct pcs_scale pcs_scale;
typedef struct pcs_push pcs_push;
typedef struct pcs_slice_ops pcs_slice_ops;
typedef struct pcs_row_table pcs_row_table;

// Returns the largest stable step, s, of a scheme with these parameters on q'' + (2 xi w + i spin) q' + w^2 q = 0, as a
// whirl in two planes is in complex numbers; 0 if there is none.
typedef double pcs_mode_limit(const void *params, double w, double xi, double spin);

// Holds the limits of a scheme on its step. Tumbling bodies rotate by at most `rotation`, rad; INFINITY if unlimited.
typedef struct pcs_step_limit {
    pcs_mode_limit *modes; // NULL for that of central differences
    const void *params;    // of the scheme
    double rotation;
    const double *a; // [nv] accelerations of the current state; NULL if unknown
} pcs_step_limit;

// Describes a contact and its points; every point is one row, or has a number from nrow on if a force law acts.
typedef struct pcs_contact_info {
    const char *name;
    int first_row, nrow;
    int first_all, nall, ntangent; // rows of all ranks, in the order of one; directions of friction of a point
    bool writes_points;            // history columns for every point, not only their sum
    bool is_joint;                 // rows are bilateral
} pcs_contact_info;

typedef struct pcs_row {
    int contact;                 // index into contacts
    pcs_law law;                 // of a contact
    bool is_bilateral;           // g = 0 always, without gate and sign
    bool is_driven;              // bilateral row of a prescribed motion
    bool is_angle;               // gap in rad, whatever the size of the model
    bool changes_sense;          // sign flips at half a turn of its node, on whose rotation alone it acts (rows/held.c)
    bool is_revolute_gap;        // angle modulo 2 pi: its gap is the one nearest to 0
    double friction;             // Coulomb's mu
    double tangent_restitution;  // coefficient of tangential restitution
    int first_tangent, ntangent; // its tangential directions are rows of T: 0, 1 (interval) or 2 (disc)
} pcs_row;

// Returns the coefficient e of an impact at this gap rate, m/s; 0 of joints and force laws.
static inline double pcs_restitution(const pcs_row *row, double rate)
{
    const pcs_law *law = &row->law;
    if (law->ops == NULL || law->ops->restitution == NULL) return 0.0;
    return law->ops->restitution(law->params, rate < 0.0 ? -rate : 0.0);
}

enum { PCS_ENERGY = 1, PCS_RESULTANT = 2, PCS_DAMPING_POWER = 4, PCS_LOAD_POWER = 8, PCS_MATERIAL_LOSS = 16 };

// Holds the requested results of `measure`; the rest is zero.
typedef struct pcs_measure {
    double kinetic, strain, potential; // J
    double momentum[3];                // kg m/s
    double free_momentum[3];           // part of it in the free equations: subject of the momentum balance
    double resultant[3];               // sum of f over the free equations, N
    double damping_power;              // power dissipated by damping forces, W: u^T C v
    double load_power;                 // power of applied loads, W: for loads that rotate not their work over a step
    double material_loss;              // since the last commit, J
} pcs_measure;

// Holds the squared difference of two states in the norms of K and M: |q1 - q0|^2_K and |v1 - v0|^2_M, J.
typedef struct pcs_change {
    double stiffness_norm2, mass_norm2;
} pcs_change;

static inline double pcs_measure_energy(const pcs_measure *m)
{
    return m->kinetic + m->strain + m->potential;
}

// Describes a joint or support whose force on the model is reported.
typedef struct pcs_reaction_info {
    const char *name;
    int contact;                      // index into contacts; -1 for a support
    bool has_force[3], has_moment[3]; // components that may be nonzero
    bool has_teeth;                   // a gear with a pitch point
} pcs_reaction_info;

typedef struct pcs_reaction {
    double force[3], moment[3]; // N and N m, in the axes of space
    double teeth[2];            // N, of a gear: along the pitch line, and across it, positive if separating
} pcs_reaction;

// Lists the kinds of waves through the cells. Beams have two kinds, rods the first in place of both.
enum { PCS_WAVE_AXIAL, PCS_WAVE_TRANSVERSE, PCS_WAVE_KINDS };

typedef struct pcs_travel {
    int count; // number of cells that carry waves
    double shortest, longest, mean;
} pcs_travel;

// Reports the step of a row: written by schemes, read by the certificate, reactions and observers.
typedef struct pcs_row_report {
    double gap, rate;           // at the end of the step, m and m/s
    double rate_before;         // gap rate without the impulse of the step, m/s
    double target;              // the law requires rate + target >= 0, m/s
    double nu;                  // multiplier of the position-level law: moves the position by M^-1 G^T nu, kg m
    double nu_t[2];             // the same for the tangents of a sticking contact, kg m
    double step_impulse;        // total over the step, N s
    double force;               // smooth part, N
    double lam;                 // force of a joint that acts in the smooth motion, at the end of the step, N
    double impulse;             // impact part, N s
    double multiplier;          // of the velocity-level law, N s
    double tangent[2];          // tangential impulses over the step, N s
    double last_tangent[2];     // tangential impulses that belong to `multiplier`, N s
    double normal_loss;         // part of impact_loss, J
    double friction_loss;       // part of friction_loss, J
    double drive_work;          // part of external_work, by the prescribed motion of the row, J
    double slip[2];             // tangential velocities T v at the end of the step, m/s
    bool is_gated;              // the velocity-level law was imposed
    bool gate_is_contradictory; // imposing the law opens the smooth gap, omitting it closes it: neither is consistent
    bool is_closed;             // the contact transmits an impulse or its gap is not positive
    bool is_impact;             // the contact closed in this step
} pcs_row_report;

// Describes the drawing for ParaView: points, cells of two nodes (or one, given twice) and scalars per cell. The counts
// and names never change. Each rank shows some cells and their points, and all ranks draw together.
typedef struct pcs_picture {
    int npoint, ncell, nfield;
    int nall_node, nall_cell;        // of the model, on all ranks
    bool is_piece;                   // of a model over several ranks, each of which writes what it shows
    const double (*reference)[3];    // [npoint] m
    const int (*cells)[2];           // [ncell]
    const int *cell_numbers;         // [ncell] in the mesh of this rank; NULL if all, in order
    double (*displacement)[3];       // [npoint] filled by `draw`
    double (*velocity)[3];           // [npoint] filled by `draw`
    double (*rotation)[3];           // [npoint] rotation vectors filled by `draw`; NULL without rotations
    const double *radius;            // [npoint] m, of a round section of equal area, 0 if unknown; NULL if all are
    double (*section_y)[3];          // [ncell] y axis of the section filled by `draw`; NULL without sections
    const double (*section_size)[2]; // [ncell] m, height along section_y and width of a rectangle; 0 for others; NULL
                                     // if there are none, or the picture is in pieces
    const char *const *field_names;  // [nfield]
    double *const *fields;           // [nfield][ncell] filled by `draw`
    int npoint_field;                // scalars per point; they may have the names of fields
    const char *const *point_names;  // [npoint_field]
    double *const *point_fields;     // [npoint_field][npoint] filled by `draw`
    int nobstacle, nstill;           // the first `nstill` are fixed
    // [nobstacle] the nodes of fixed ones are the points shown here that may touch them; those of others are carriers,
    // which the rank that writes knows after `draw`.
    const pcs_obstacle *obstacles;
    double (*host_reference)[3], *host_radius; // m
    const double *host_motion;                 // [][6] displacement and rotation, filled by `draw`
} pcs_picture;

enum {
    PCS_PROBE_POSITION,
    PCS_PROBE_DISPLACEMENT,
    PCS_PROBE_VELOCITY,
    PCS_PROBE_ROTATION, // angle, or rotation vector
    PCS_PROBE_SPIN,     // angular velocity in space
    PCS_PROBE_FIELD
};

// Describes a column of the history that the user asks for.
typedef struct pcs_probe {
    const char *column; // "tip.x"
    int quantity;       // PCS_PROBE_...
    int axis;           // 0, 1, 2, or the field
    int count;          // number of items over which the value is the mean
    const int *items;   // [count] nodes, cells or coordinates
    int nmore;          // number of further ones that only other ranks have
    // Holds a linear form of equations instead: offset + sum of weights times values. NULL for the mean.
    const double *weights; // [count]
    double offset;
} pcs_probe;

// Describes all rows together, on any rank.
typedef struct pcs_row_set {
    int ndriven;          // number of joints with prescribed motions
    bool vary;            // directions vary with q
    bool are_redundant;   // some rows of joints are redundant at the start
    bool may_pass;        // a contact may be passed through: a gap that is not negative at the end of a step does not
                          // exclude it
    bool may_change;      // rows may touch other bodies from step to step
    pcs_row_table *table; // of the sources of a mesh (rows/table.h); NULL without a mesh
} pcs_row_set;

// Lists the row values to evaluate at an instant; NULL for those not needed. The caller owns the arrays.
typedef struct pcs_row_values {
    double *gap;                      // [nrow] m or rad
    double *bias;                     // [nrow] (dG/dt) v: part of the gap acceleration besides G v'
    double *drive, *speed;            // [nrow] part of prescribed motions in the gap, and in its rate, at any q
    pcs_rows *G, *T;                  // directions
    double (*point)[3], (*normal)[3]; // [nrow + ncompliant] in space
    double (*across)[3];              // [ntangent + ncompliant_tangent] unit vectors along which friction acts
    // [nrow + ncompliant] points with force laws, from nrow on: gap, rate, forces (as impulses of a second), friction
    // loss since the last commit, and whether they are closed.
    pcs_row_report *pressed;
} pcs_row_values;

// Lists what `update` refreshes, and the vector that it needs, otherwise NULL.
typedef enum pcs_update {
    PCS_MASS,     // M: mass_varies
    PCS_TANGENTS, // K and C: tangents_vary
    PCS_INERTIA,  // K += d(M a)/dq for the current M; after PCS_TANGENTS
    PCS_JOINTS,   // K += -d(G^T lam)/dq of bilateral rows, within the pattern; after PCS_TANGENTS
    PCS_SLOPES,   // `slopes`, by increments from x on; x NULL: by positions, or rotations in body axes
    PCS_DAMPERS   // of force laws that jump at touch: inactive at points open at q until the next call; q NULL: none.
                  // Else a step at whose end bodies just touch has no solution: the force would part them again.
} pcs_update;

typedef struct pcs_system_ops {
    void (*force)(const pcs_system *self, pcs_instant at, double *f);
    void (*update)(pcs_system *self, pcs_instant at, pcs_update what, const double *x);
    void (*evaluate_rows)(pcs_system *self, pcs_instant at, const pcs_row_values *out);
    // Searches for pairs that may touch from q on, before a step; rows keep their bodies until the next call. Sets
    // *has_changed if a row has other bodies now. Fails with PCS_FAILED if bodies without a row overlap. Only if
    // row_set.may_change.
    pcs_status (*search)(pcs_system *self, pcs_instant at, bool *has_changed);
    // Records contacts that closed and opened again, or changed sides, on the straight path from q0 to q1, the last
    // step. [nrow] gaps and status of its rows. Only if row_set.may_pass.
    void (*passages)(pcs_system *self, const double *q0, const double *q1, const pcs_passage_row *rows,
                     pcs_passage *worst);
    void (*measure)(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out);
    // Stores the state of materials with internal variables, and of friction of force laws, as the start of the next
    // increment; forces, tangents and measures integrate from the last commit to their state in one increment. Only
    // if pcs_system_remembers.
    void (*commit)(pcs_system *self, pcs_instant at);
    // Returns the work, J, of applied loads at time t (without gravity) over q1 - q0.
    double (*load_work)(const pcs_system *self, double t, const double *q0, const double *q1);
    // Computes the forces of joints, and those of supports as the mean over the step of length h that led to (q, v)
    // since the last call; h = 0 at the start. Rows acted at positions `acting`. Only if nreaction > 0.
    void (*reactions)(pcs_system *self, pcs_instant at, double h, const double *acting, const pcs_row_report *rows,
                      pcs_reaction *out);
    // Returns the largest stable step under this limit, s: with finite rotations in the state (q, v), without them in
    // the whole run; INFINITY if unlimited.
    double (*stable_step)(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit);
    void (*draw)(pcs_system *self, pcs_instant at, pcs_picture *picture);
    double (*probe)(const pcs_system *self, const pcs_probe *probe, pcs_instant at);
    // Writes the name of an equation, "node 17 (bar), direction x"; or, for -1, "; " and the part of the state q, or of
    // the loads from time span[0] to span[1], that prevents any further step, if there is one.
    void (*describe)(const pcs_system *self, int equation, const double span[2], const double *q, size_t size,
                     char *text);
} pcs_system_ops;

// Holds the magnitudes with which changes or rounding errors of coordinates are compared, m, or 1 for an angle. A
// strain is a difference of displacements over the length of a cell: displacements below DBL_EPSILON `cell` are lost in
// it. A gap is a difference of positions: displacements below DBL_EPSILON `place` are lost in it.
struct pcs_scale {
    double *model;       // [nv] size of the model
    double *cell;        // [nv] longest cell at the node
    double *place;       // [nv] distance from the origin, or `model`
    unsigned char *axis; // [nv] displacement (0, 1, 2: mostly along x, y, z), rotation (3, 4, 5) or other (6)
    bool *is_angle;      // [nv] an angle, or a component of a rotation vector
    bool holds[7];       // a support fixes one of this axis; always true for others
};

// The model as built from the case, constant afterwards, then the workspace: data that vary with time and state.
// Functions with a `const pcs_system` only read the workspace.
struct pcs_system {
    const pcs_system_ops *ops;
    const pcs_slice_ops *slices; // system/slices.h; NULL if evaluated as a whole
    const char *name;            // "fe", or the name of a closed form, for messages
    pcs_context *ctx;
    const void *data; // private data of the system
    int nq, nv, nrow, ncontact, ntangent;
    int ncompliant;                   // points of contacts with force laws: forces in f, not rows of G
    int ncompliant_tangent;           // their directions of friction, not rows of T
    const pcs_row *rows;              // [nrow + ncompliant]
    const pcs_contact_info *contacts; // [ncontact]
    int nreaction;
    const pcs_reaction_info *reactions; // [nreaction] joints, then supports with reported reactions
    bool is_linear;                     // M, C, K, G constant and f = external(t) - C v - K q
    bool mass_varies, tangents_vary;    // with q, or with q and v
    bool has_materials;                 // with internal variables: their loss and `commit` matter
    const char *ageing;        // path in the case of the element group whose materials change with time alone; or NULL
    pcs_memory dampers;        // flags of inactive dampers of force laws that jump at touch; no bytes if absent. The
                               // state of a run has a copy of the last accepted step
    const char *soft_friction; // path in the case of a contact with a force law and friction; NULL if none
    pcs_row_set row_set;
    const double (*direction)[3]; // [nv] unit vector of an equation in space; zero for rotations. NULL without a mesh
    pcs_scale scale;
    double length;      // size of the model, m: the scale of positions
    double place;       // distance of the nodes from the origin, m: the scale of round-off in gaps
    const double *arms; // [nv] m, factors of changes of angles: `length`; 1 for others. NULL if all are 1
    double mass;        // mass on all free equations, kg: with an energy, it gives the scale of velocities
    double stable_step; // stable step of explicit schemes, s; INFINITY if unlimited
    pcs_travel travel[PCS_WAVE_KINDS];
    pcs_rotations rotations;  // nodes with finite rotations in space
    const pcs_layout *layout; // distribution of the equations over the ranks; NULL if all are here
    // Ranks over which rows are distributed: each row is on one rank and acts on its own equations and, with a halo, on
    // copies; points with force laws act on own equations only. NULL if all rows are here.
    const pcs_comm *row_comm;
    int nrow_all, ntangent_all;     // over these ranks
    int ncompliant_all;             // over these ranks
    const int *row_number;          // [nrow + ncompliant] numbers of the points in one process
    const int *tangent_number;      // [ntangent]
    const char *const *coordinates; // [nq] names of a closed-form system's coordinates; NULL for meshes
    const double *gravity;          // [nv] force of gravity, N; NULL if absent

    pcs_row *laws;         // [nrow + ncompliant] the rows, for callers that change friction between steps
    pcs_matrix *M, *C, *K; // one pattern; C is NULL without damping
    pcs_matrix *inertia;   // matrix of the scheme against which impulses of rows act; NULL if it is M
    pcs_rows *G;           // [nrow x nv]
    pcs_slopes *slopes;    // of rows of joints whose directions vary; NULL if unknown
    double *gap_here;      // [nrow] gaps at the last update of directions; NULL if unknown
    double time_here;      // time of that update, s
    pcs_rows *T;           // [ntangent x nv] tangential directions; NULL without friction
    int nmemory;
    pcs_memory *memory; // [nmemory] state of `search`, `reactions` and `commit`; part of the state of a run
    pcs_picture *picture;
    pcs_push *push; // forces added from outside (percuss.c); NULL if absent
    void *work;     // private: last evaluation of rows, results of searches, workspace
};

// Returns true for a mesh of nodes and elements in space: momentum, tangents of friction and load factors are defined,
// and contacts act on few of many equations.
static inline bool pcs_system_is_mesh(const pcs_system *self)
{
    return self->direction != NULL;
}

// Returns true if the system is damped and the damping power is known; nonlinear closed forms do not provide it.
static inline bool pcs_system_is_damped(const pcs_system *self)
{
    return self->C != NULL && (self->is_linear || self->direction != NULL);
}

// Returns true if a linear system has gyroscopic moments.
static inline bool pcs_system_is_gyroscopic(const pcs_system *self)
{
    return self->C != NULL && self->C->is_skew;
}

// Returns true if materials, or friction of force laws, depend on history.
static inline bool pcs_system_remembers(const pcs_system *self)
{
    return self->has_materials || self->soft_friction != NULL;
}

// Returns true if gaps accelerate at constant velocity, as directions vary or rows are driven.
static inline bool pcs_system_has_bias(const pcs_system *self)
{
    return self->row_set.vary || self->row_set.ndriven > 0;
}

// Evaluates one kind of row value, m or rad.
static inline void pcs_system_gaps(pcs_system *self, pcs_instant at, double *gap)
{
    self->ops->evaluate_rows(self, at, &(pcs_row_values){ .gap = gap });
}
// Updates the directions G and T of the system to those at an instant.
static inline void pcs_system_aim(pcs_system *self, pcs_instant at)
{
    self->ops->evaluate_rows(self, at, &(pcs_row_values){ .G = self->G, .T = self->T });
}
static inline void pcs_system_rate_bias(pcs_system *self, pcs_instant at, double *bias)
{
    self->ops->evaluate_rows(self, at, &(pcs_row_values){ .bias = bias });
}
static inline void pcs_system_drives(pcs_system *self, double t, double *drive, double *speed)
{
    self->ops->evaluate_rows(self, pcs_at(t, NULL, NULL), &(pcs_row_values){ .drive = drive, .speed = speed });
}
static inline void pcs_system_points(pcs_system *self, pcs_instant at, double (*point)[3], double (*normal)[3])
{
    self->ops->evaluate_rows(self, at, &(pcs_row_values){ .point = point, .normal = normal });
}
static inline void pcs_system_press(pcs_system *self, pcs_instant at, pcs_row_report *rows)
{
    self->ops->evaluate_rows(self, at, &(pcs_row_values){ .pressed = rows });
}
static inline void pcs_system_resultant(const pcs_system *self, pcs_instant at, double sum[3])
{
    pcs_measure m;
    self->ops->measure(self, at, PCS_RESULTANT, &m);
    for (int k = 0; k < 3; k++) sum[k] = m.resultant[k];
}
static inline double pcs_system_damping_power(const pcs_system *self, pcs_instant at, const double *u)
{
    pcs_measure m;
    if (!pcs_system_is_damped(self)) return 0.0;
    at.along = u;
    self->ops->measure(self, at, PCS_DAMPING_POWER, &m);
    return m.damping_power;
}
static inline double pcs_system_load_power(const pcs_system *self, pcs_instant at)
{
    pcs_measure m;
    self->ops->measure(self, at, PCS_LOAD_POWER, &m);
    return m.load_power;
}
static inline double pcs_system_material_loss(const pcs_system *self, pcs_instant at)
{
    pcs_measure m;
    self->ops->measure(self, at, PCS_MATERIAL_LOSS, &m);
    return m.material_loss;
}

// Sums the momentum that a unit impulse along a row of G or T gives to the moving equations.
static inline void pcs_row_resultant(const pcs_system *self, const pcs_rows *rows, int row, double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    if (self->direction == NULL) return;
    for (int i = rows->start[row]; i < rows->start[row + 1]; i++)
        for (int k = 0; k < 3; k++) out[k] += rows->value[i] * self->direction[rows->column[i]][k];
}

// Allocates `scale`, and fills in the values of coordinates that are neither displacements of a mesh nor angles.
pcs_status pcs_scale_create(pcs_system *self);

// Returns the matrix that impulses of rows act against: `inertia`, or M if that is NULL.
static inline const pcs_matrix *pcs_system_inertia(const pcs_system *self)
{
    return self->inertia == NULL ? self->M : self->inertia;
}

// Returns the number of points that are reported: rows, then points with force laws.
static inline int pcs_system_npoint(const pcs_system *self)
{
    return self->nrow + self->ncompliant;
}

// Returns the number of equations that this rank sums over: all but copies of other ranks' equations.
static inline int pcs_system_nown(const pcs_system *self)
{
    return self->layout == NULL ? self->nv : self->layout->nown;
}

// Returns the number of equations over all ranks.
static inline int pcs_system_ndof(const pcs_system *self)
{
    return self->layout == NULL ? self->nv : self->layout->nglobal;
}

// Sums over the ranks, in place.
static inline void pcs_system_sum(const pcs_system *self, int count, double *x)
{
    if (self->layout != NULL) self->layout->comm->sum(self->layout->comm, count, x);
}

// Returns the largest value over the ranks; infinite if one of them has a NaN.
static inline double pcs_system_max(const pcs_system *self, double x)
{
    if (self->layout != NULL) self->layout->comm->max(self->layout->comm, 1, &x);
    return x;
}

// Returns the magnitude of a change of coordinate i, m, or of its rate, m/s: whether an angle or a displacement is
// larger must not depend on the unit of length.
static inline double pcs_system_size(const pcs_system *self, int i, double x)
{
    return self->arms == NULL ? fabs(x) : self->arms[i] * fabs(x);
}

// Returns the largest magnitude over all equations, or a NaN, which the sum keeps. Every iteration asks several times.
static inline double pcs_system_largest(const pcs_system *self, const double *x)
{
    double largest = 0.0, sum = 0.0;
#pragma GCC unroll 4
    for (int i = 0; i < self->nv; i++) {
        double size = pcs_system_size(self, i, x[i]);
        largest = largest > size ? largest : size;
        sum += size;
    }
    return pcs_system_max(self, isnan(sum) ? sum : largest);
}

// Returns the number of rows, tangents, or points with force laws over all ranks.
static inline int pcs_system_nrow(const pcs_system *self)
{
    return self->row_comm == NULL ? self->nrow : self->nrow_all;
}
static inline int pcs_system_ntangent(const pcs_system *self)
{
    return self->row_comm == NULL ? self->ntangent : self->ntangent_all;
}
static inline int pcs_system_ncompliant(const pcs_system *self)
{
    return self->row_comm == NULL ? self->ncompliant : self->ncompliant_all;
}

// Returns true if there are joints on any rank.
static inline bool pcs_system_has_joints(const pcs_system *self)
{
    for (int j = 0; j < self->nrow; j++)
        if (self->rows[j].is_bilateral) return true;
    if (self->row_comm == NULL) return false;
    for (int c = 0; c < self->ncontact; c++)
        if (self->contacts[c].is_joint && self->contacts[c].nall > 0) return true;
    return false;
}

// Returns the number of a point in one process; -1 for -1.
static inline int pcs_row_number(const pcs_system *self, int row)
{
    return self->row_comm == NULL || row < 0 ? row : self->row_number[row];
}

// Returns true if rows are distributed: each process has only its own.
static inline bool pcs_rows_are_distributed(const pcs_system *self)
{
    return self->row_comm != NULL;
}

// Returns the worst status of the processes among which rows are distributed.
static inline pcs_status pcs_rows_agree(const pcs_system *self, pcs_status status)
{
    return self->row_comm == NULL ? status : pcs_agree(self->ctx, status);
}
// Replaces x[count], found from the rows of this process, by the largest values over all processes.
static inline void pcs_rows_max_each(const pcs_system *self, int count, double *x)
{
    if (self->row_comm != NULL) self->row_comm->max(self->row_comm, count, x);
}
// Reduces over the ranks among which rows are distributed: sum in place, maximum, logical or.
static inline void pcs_rows_sum(const pcs_system *self, int count, double *x)
{
    if (self->row_comm != NULL) self->row_comm->sum(self->row_comm, count, x);
}
static inline double pcs_rows_max(const pcs_system *self, double x)
{
    if (self->row_comm != NULL) self->row_comm->max(self->row_comm, 1, &x);
    return x;
}
static inline bool pcs_rows_any(const pcs_system *self, bool is_here)
{
    return self->row_comm == NULL ? is_here : pcs_rows_max(self, is_here) != 0.0;
}

// Returns the gap rate of a row, m/s or rad/s.
static inline double pcs_system_rate(const pcs_system *self, int row, const double *v)
{
    return pcs_rows_dot(self->G, row, v);
}

// Converts an impulse or force of a row from q0 to q1, less than a radian apart: a rotation vector, at most pi long,
// flips its sign at half a turn; short vectors may have opposite signs without that.
static inline double pcs_system_transport(const pcs_system *self, int row, const double *q0, const double *q1,
                                          double value)
{
    if (!self->rows[row].changes_sense) return value;
    int e = self->G->column[self->G->start[row]];
    return q0[e] * q1[e] + q0[e + 1] * q1[e + 1] + q0[e + 2] * q1[e + 2] < -1.0 ? -value : value;
}

// Computes the gaps at an instant at which the directions were last updated.
static inline void pcs_system_gaps_here(pcs_system *self, pcs_instant at, double *gap)
{
    bool are_known = self->gap_here != NULL && self->time_here == at.t;
    if (!are_known) pcs_system_gaps(self, at, gap);
    else
        for (int j = 0; j < self->nrow; j++) gap[j] = self->gap_here[j];
}

// Returns the round-off of a gap at q with the current directions, m or rad.
static inline double pcs_gap_rounding(const pcs_system *system, int row, const double *q)
{
    const pcs_rows *G = system->G;
    int first = G->start[row], count = G->start[row + 1] - first;
    double size = system->rows[row].is_angle ? 1.0 : pcs_max(system->length, system->place);
    return pcs_rounding_of_sum(count, G->value + first, G->column + first, q) + DBL_EPSILON * size;
}

// Returns the gap up to which a row counts as closed at q, m: round-off must neither open a contact nor decide a tie.
static inline double pcs_gap_tie(const pcs_system *system, int row, const double *q)
{
    return PCS_ROUND_LENGTH / DBL_EPSILON * pcs_gap_rounding(system, row, q);
}

// Returns the same for the gap after `time`, s, at velocity v: round-off moves a sliding point off its plane.
static inline double pcs_gap_tie_ahead(const pcs_system *system, int row, const double *q, const double *v, double time)
{
    const pcs_rows *G = system->G;
    int first = G->start[row], count = G->start[row + 1] - first;
    double drive = time * pcs_rounding_of_sum(count, G->value + first, G->column + first, v);
    return pcs_gap_tie(system, row, q) + PCS_ROUND_LENGTH / DBL_EPSILON * drive;
}

#endif
