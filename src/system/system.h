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
#include "core/instant.h"
#include "core/memory.h"
#include "core/obstacle.h"
#include "core/option.h"
#include "core/passage.h"
#include "core/rounding.h"
#include "sparse/matrix.h"
#include "system/rotations.h"

typedef struct pcs_system pcs_system;
typedef struct pcs_scale pcs_scale;
typedef struct pcs_push pcs_push;
typedef struct pcs_slice_ops pcs_slice_ops;

// Largest stable step of a scheme with these parameters on q'' + 2 xi w q' + w^2 q = 0, s.
typedef double pcs_mode_limit(const void *params, double w, double xi);

// Holds the limits of a scheme on its step. Tumbling bodies rotate by at most `turn`, rad; INFINITY if unlimited.
typedef struct pcs_step_limit {
    pcs_mode_limit *modes; // NULL: that of central differences
    const void *params;    // of the scheme
    double turn;
    const double *a; // [nv] accelerations of the present state; NULL: not known
} pcs_step_limit;

// A named contact and its points; every point is one row, or has a number from nrow on where a force law acts.
typedef struct pcs_contact_info {
    const char *name;
    int first_row, nrow;
    int first_all, nall, ntangent; // of all ranks, where rows are dealt out; ntangent of every point
    bool writes_points;            // history columns for every point, not only their sum
    bool is_joint;                 // its rows are bilateral
} pcs_contact_info;

typedef struct pcs_row {
    int contact; // index into contacts
    double restitution;
    bool is_bilateral;           // g = 0 always, no gate, no sign
    bool is_driven;              // and moves by itself: a prescribed motion
    bool is_angle;               // its gap is in rad, whatever the size of the model
    bool changes_sense;          // at half a turn of its node, whose rotation is all that it acts on (joint/held.c)
    bool is_turn;                // an angle known up to whole turns: its gap is the one nearest to 0
    double friction;             // Coulomb's mu
    double tangent_restitution;  // of the tangential velocity
    int first_tangent, ntangent; // its tangential directions are rows of T: 0, 1 (interval) or 2 (disc)
} pcs_row;

enum { PCS_ENERGY = 1, PCS_RESULTANT = 2, PCS_DAMPING_POWER = 4, PCS_LOAD_POWER = 8, PCS_MATERIAL_LOSS = 16 };

// Holds what `measure` was asked for; the rest is zero.
typedef struct pcs_measure {
    double kinetic, strain, potential; // J
    double momentum[3];                // kg m/s
    double free_momentum[3];           // its part in the equations that move: what the momentum balance is about
    double resultant[3];               // N, sum of f over the moving equations
    double damping_power;              // W, that damping forces take: u^T C v
    double load_power;                 // W, of applied loads: that of loads that rotate is not their work over a step
    double material_loss;              // J, since the last commit
} pcs_measure;

// Holds the squared difference of two states in the norms of K and M: |q1 - q0|^2_K and |v1 - v0|^2_M, J.
typedef struct pcs_change {
    double stiffness_norm2, mass_norm2;
} pcs_change;

static inline double pcs_measure_energy(const pcs_measure *m)
{
    return m->kinetic + m->strain + m->potential;
}

// A joint or support whose force on the model is told.
typedef struct pcs_reaction_info {
    const char *name;
    int contact;                      // index into contacts; -1: a support
    bool has_force[3], has_moment[3]; // components that there can be
    bool has_teeth;                   // a gear with a point where its teeth touch
} pcs_reaction_info;

typedef struct pcs_reaction {
    double force[3], moment[3]; // N and N m, in the axes of space
    double teeth[2];            // N, of a gear: along the way of the teeth, and across it, positive: apart
} pcs_reaction;

// Times that waves take through the cells of a mesh, s. Beams have two kinds of waves, rods the first in place of both.
enum { PCS_WAVE_AXIAL, PCS_WAVE_TRANSVERSE, PCS_WAVE_KINDS };

typedef struct pcs_travel {
    int count; // cells that carry waves
    double shortest, longest, mean;
} pcs_travel;

// Reports the step of a row: written by schemes, read by the certificate, reactions and observers.
typedef struct pcs_row_report {
    double gap, rate;           // at the end of the step, m and m/s
    double rate_before;         // of the velocity without the impulse of the step, m/s
    double target;              // the law asks rate + target >= 0, m/s
    double nu;                  // multiplier of the law of the gap: moves the position by M^-1 G^T nu, kg m
    double nu_t[2];             // likewise of the tangents of a contact that is held, kg m
    double shift;               // moves it likewise, without a law of its own, kg m
    double step_impulse;        // total over the step, N s
    double force;               // smooth part, N
    double lam;                 // of a joint that acts in the smooth motion: its force there at the end, N
    double impulse;             // impact part, N s
    double multiplier;          // of the velocity-level law, N s
    double tangent[2];          // tangential impulses over the step, N s
    double last_tangent[2];     // those that came with `multiplier`, N s
    double tangent_shift[2];    // move the position along the tangents, as `shift` does along the normal, kg m
    double normal_loss;         // its part of impact_loss, J
    double friction_loss;       // its part of friction_loss, J
    double drive_work;          // its part of external_work: of what moves the row, J
    double slip[2];             // tangential velocities T v at the end of the step, m/s
    bool is_gated;              // the velocity-level law was imposed
    bool gate_is_contradictory; // imposing it opens the smooth gap and leaving it out closes it: either is a choice
    bool is_closed;             // the contact transmits an impulse or its gap is not positive
    bool is_impact;             // the contact closed in this step
    bool slides;                // at its end, where the scheme knows it other than by impulses
} pcs_row_report;

// Describes the drawing for ParaView: points, cells of two nodes (or one, given twice) and scalars per cell. The counts
// and names never change.
typedef struct pcs_picture {
    int npoint, ncell, nfield;
    int nsplit;                      // of the points: the last ones repeat others, where members branch, or ride on
                                     // them, where a cell ends at an arm from its node
    int nall_node, nall_cell;        // of the model, whoever shows them
    bool is_elsewhere;               // on another rank: `draw` gives it what this one has, and shows nothing here
    bool is_piece;                   // every rank shows some cells and their points; `draw` needs all ranks
    const double (*reference)[3];    // [npoint]
    const int (*cells)[2];           // [ncell]
    const int *cell_numbers;         // [ncell] in the mesh; NULL: all, in order
    double (*displacement)[3];       // [npoint] filled by `draw`
    double (*velocity)[3];           // [npoint] filled by `draw`
    double (*rotation)[3];           // [npoint] rotation vectors filled by `draw`; NULL: nothing turns
    double (*spin)[3];               // [npoint] angular velocities as they stand in v, for points that ride; NULL: none
    const double *radius;            // [npoint] m, of a round section of the same area, 0: unknown; NULL: none known
    double (*section_y)[3];          // [ncell] y axis of the section filled by `draw`; NULL: no sections
    const double (*section_size)[2]; // [ncell] m, height along section_y and width of a rectangle, 0: it is none; NULL:
                                     // there are none, or the picture is in pieces
    const char *const *field_names;  // [nfield]
    double *const *fields;           // [nfield][ncell] filled by `draw`
    int npoint_field;                // scalars per point; their names may be those of fields
    const char *const *point_names;  // [npoint_field]
    double *const *point_fields;     // [npoint_field][npoint] filled by `draw`
    int nobstacle, nstill;           // the first `nstill` stand still
    // [nobstacle] their nodes are points of the picture. Of a piece, those that stand still have the points shown here,
    // and what carries the others is known to the first rank alone, behind the points; other ranks need not have them.
    const pcs_obstacle *obstacles;
} pcs_picture;

// A column of the history asked for by the user.
typedef struct pcs_probe {
    const char *column; // "tip.x"
    int quantity;       // the system's own code
    int axis;           // 0, 1, 2, or the field
    int count;          // the value is the mean over
    const int *items;   // [count] nodes, cells or coordinates
    int nmore;          // and over as many that only other ranks have
    // Or of equations: offset + sum of weights times their values. NULL: the mean.
    const double *weights; // [count]
    double offset;
} pcs_probe;

// Tells what holds of all rows together, on whatever rank they are.
typedef struct pcs_row_set {
    int ndriven;        // joints with prescribed motions
    bool vary;          // directions turn with q
    bool are_redundant; // some rows of joints repeat others at the start
    bool may_pass;      // a contact may be jumped over: that its gap is not negative at the end of a step does not say
                        // that all is well
    bool may_change;    // rows may be about other bodies from step to step
} pcs_row_set;

// Names what rows are asked for at an instant: NULL is not asked for. Whoever asks owns the values.
typedef struct pcs_row_values {
    double *gap;                      // [nrow] m or rad
    double *bias;                     // [nrow] (dG/dt) v: the part of the gap acceleration that is not G v'
    double *way, *speed;              // [nrow] prescribed motions: their part of the gap, and of its rate, at any q
    pcs_rows *G, *T;                  // directions
    double (*point)[3], (*normal)[3]; // [nrow + ncompliant] in space
    double (*across)[3];              // [ntangent + ncompliant_tangent] unit vectors along which friction pushes
    // [nrow + ncompliant] points with force laws, from nrow on: gap, rate, forces (as impulses of a second), loss of
    // friction since the last commit, and whether they are closed.
    pcs_row_report *pressed;
} pcs_row_values;

// Names what `update` refreshes, and the vector that it takes there, which is NULL else.
typedef enum pcs_update {
    PCS_MASS,     // M: mass_varies
    PCS_TANGENTS, // K and C: tangents_vary
    PCS_INERTIA,  // K += d(M a)/dq for the M that stands; after PCS_TANGENTS
    PCS_JOINTS,   // K += -d(G^T lam)/dq of bilateral rows, as far as it has entries; after PCS_TANGENTS
    PCS_SLOPES,   // `slopes`, by increments from x on; x NULL: by positions, or rotations in the axes of bodies
    PCS_DAMPERS   // of force laws that jump at touch: those of points open at q wait until the next call; q NULL: none.
                  // A step at whose end bodies just touch has no answer else, as the force would part them again.
} pcs_update;

typedef struct pcs_system_ops {
    void (*force)(const pcs_system *self, pcs_instant at, double *f);
    void (*update)(pcs_system *self, pcs_instant at, pcs_update what, const double *x);
    void (*evaluate_rows)(pcs_system *self, pcs_instant at, const pcs_row_values *out);
    // Looks for what may touch from q on, before a step; until the next call every row is about the same bodies. Says
    // whether some row is about others now. Bodies that overlap unwatched are PCS_FAILED.
    pcs_status (*search)(pcs_system *self, pcs_instant at, bool *has_changed);
    // Notes what contacts closed and opened again, or changed sides, on the straight way from q0 to q1, the last step;
    // [nrow] what its rows know of it: row_set.may_pass.
    void (*passages)(pcs_system *self, const double *q0, const double *q1, const pcs_passage_row *rows,
                     pcs_passage *worst);
    void (*measure)(const pcs_system *self, pcs_instant at, unsigned what, pcs_measure *out);
    // Materials with internal variables, and friction of points with force laws: forces, tangents and measures take the
    // way from the last commit to the state asked for in one. This state becomes where the next way begins.
    void (*commit)(pcs_system *self, pcs_instant at);
    // Applied loads at time t (gravity left out) times q1 - q0, J.
    double (*load_work)(const pcs_system *self, double t, const double *q0, const double *q1);
    // Forces of joints, and of supports in the mean over the step of length h that has led to (q, v) since the last
    // call; h = 0 at the start. Rows acted at positions `acting`.
    void (*reactions)(pcs_system *self, pcs_instant at, double h, const double *acting, const pcs_row_report *rows,
                      pcs_reaction *out);
    // Largest stable step under this limit, s: where bodies turn by finite angles in the state (q, v), or without one
    // in the whole run; INFINITY when nothing limits it.
    double (*stable_step)(const pcs_system *self, const double *q, const double *v, const pcs_step_limit *limit);
    void (*draw)(pcs_system *self, pcs_instant at, pcs_picture *picture);
    double (*probe)(const pcs_system *self, const pcs_probe *probe, pcs_instant at);
    // Writes the name of an equation, "node 17 (bar), direction x"; or, with -1, after "; ", what of the state q, or of
    // what acts from time span[0] to span[1], no step can go on from, if anything.
    void (*describe)(const pcs_system *self, int equation, const double span[2], const double *q, size_t size,
                     char *text);
} pcs_system_ops;

// Natural sizes of coordinates: what a change or a rounding error of one is compared with, m, or 1 of an angle. A
// strain is a difference of displacements over the length of a cell: displacements below DBL_EPSILON `cell` are lost in
// it. A gap is a difference of places: displacements below DBL_EPSILON `place` are lost in that.
struct pcs_scale {
    double *model;       // [nv] size of the model
    double *cell;        // [nv] longest cell at the node
    double *place;       // [nv] distance from the origin, or `model`
    unsigned char *axis; // [nv] displacement (0, 1, 2: mostly along x, y, z), turn (3, 4, 5) or other (6)
    bool *is_angle;      // [nv] it is an angle, or a component of a rotation vector
    bool holds[7];       // a support holds one of this axis; of others always
};

// The first part is built from the case and constant afterwards. The second is the workspace: what varies with time and
// state, and rooms for it. Who has a `const pcs_system` reads the workspace as it stands, and changes nothing of it.
struct pcs_system {
    const pcs_system_ops *ops;
    const pcs_slice_ops *slices; // system/slices.h; NULL: it goes as a whole
    const char *name;            // "fe", or that of a closed form, for messages
    pcs_context *ctx;
    const void *data; // the system's own
    int nq, nv, nrow, ncontact, ntangent;
    int ncompliant;                   // points of contacts with force laws: forces of f, no rows of G
    int ncompliant_tangent;           // their directions of friction, no rows of T
    const pcs_row *rows;              // [nrow + ncompliant]
    const pcs_contact_info *contacts; // [ncontact]
    int nreaction;
    const pcs_reaction_info *reactions; // [nreaction] joints, then supports that were asked for it
    bool is_linear;                     // M, C, K, G constant and f = external(t) - C v - K q
    bool mass_varies, tangents_vary;    // with q, or with q and v
    bool has_materials;                 // with internal variables: what they lose, and `commit`, matter
    const char *ageing; // the group of elements, as a path in the case, whose materials change with time alone; or NULL
    pcs_memory dampers; // of force laws that jump at touch, which of them wait; without bytes: there are none. The
                        // state of a run has a copy of the last accepted step
    const char *soft_friction; // a contact, as a path in the case, with a force law and friction; or NULL
    pcs_row_set row_set;
    const double (*direction)[3]; // [nv] in space, of an equation; zero of rotations. NULL: no mesh, no momentum
    pcs_scale scale;
    double length;      // m, size of the model: the scale of positions
    double place;       // m, how far from the origin nodes are: gaps are differences of places
    const double *arms; // [nv] m, what changes of angles are multiplied by: `length`; 1 of others. NULL: all are 1
    double mass;        // kg, of all that moves: with an energy, the scale of velocities
    double stable_step; // s, of explicit schemes; INFINITY when nothing limits it
    pcs_travel travel[PCS_WAVE_KINDS];
    pcs_rotations rotations;  // nodes whose positions do not add up
    const pcs_layout *layout; // of the equations over the ranks; NULL: all of them are here
    // Over whose ranks rows are dealt out: no other rank has those here, which act on own equations and, where they
    // have a halo, on copies; and points with force laws, which act on own equations. NULL: all of them are here.
    const pcs_comm *row_comm;
    int nrow_all, ntangent_all;     // of these ranks together
    int ncompliant_all;             // likewise
    const int *row_number;          // [nrow + ncompliant] numbers of the points in one process
    const int *tangent_number;      // [ntangent]
    const char *const *coordinates; // [nq] names of a closed-form system's coordinates; NULL for meshes
    const double *gravity;          // [nv] force of gravity, N; NULL when there is none

    pcs_row *laws;         // [nrow + ncompliant] the rows, for a user who changes friction between steps
    pcs_matrix *M, *C, *K; // one pattern; C is NULL without damping
    pcs_matrix *inertia;   // what impulses of rows act against where it is not M: a matrix of the scheme; else NULL
    pcs_rows *G;           // [nrow x nv]
    pcs_slopes *slopes;    // of rows of joints that turn; NULL: not known
    double *gap_here;      // [nrow] gaps where and when directions were updated last; NULL: they are to be asked for
    double time_here;      // s
    pcs_rows *T;           // [ntangent x nv] tangential directions; NULL without friction
    int nmemory;
    pcs_memory *memory; // [nmemory] what `search`, `reactions` and `commit` carry on; part of the state of a run
    pcs_picture *picture;
    pcs_push *push; // forces that are added from outside (system/push.h); NULL: none
    void *work;     // the system's own: rows as they were evaluated last, what a search has found, scratch
};

// Is it a mesh of nodes and elements in space? Momentum, tangents of friction and load factors have a meaning then, and
// contacts touch few of many equations.
static inline bool pcs_system_is_mesh(const pcs_system *self)
{
    return self->direction != NULL;
}

// Is it damped, and the power of damping known? Closed forms that are nonlinear do not tell it.
static inline bool pcs_system_is_damped(const pcs_system *self)
{
    return self->C != NULL && (self->is_linear || self->direction != NULL);
}

// Has a linear system gyroscopic moments?
static inline bool pcs_system_is_gyroscopic(const pcs_system *self)
{
    return self->C != NULL && self->C->is_skew;
}

// Do materials, or friction of force laws, remember what they went through?
static inline bool pcs_system_remembers(const pcs_system *self)
{
    return self->has_materials || self->soft_friction != NULL;
}

// Do gaps accelerate by themselves, as directions turn or rows are driven?
static inline bool pcs_system_has_bias(const pcs_system *self)
{
    return self->row_set.vary || self->row_set.ndriven > 0;
}

// Ask for one kind of value.
static inline void pcs_system_gaps(pcs_system *self, pcs_instant at, double *gap)
{
    self->ops->evaluate_rows(self, at, &(pcs_row_values){ .gap = gap });
}
// Makes the directions of the system those at an instant.
static inline void pcs_system_aim(pcs_system *self, pcs_instant at)
{
    self->ops->evaluate_rows(self, at, &(pcs_row_values){ .G = self->G, .T = self->T });
}
static inline void pcs_system_rate_bias(pcs_system *self, pcs_instant at, double *bias)
{
    self->ops->evaluate_rows(self, at, &(pcs_row_values){ .bias = bias });
}
static inline void pcs_system_drives(pcs_system *self, double t, double *way, double *speed)
{
    self->ops->evaluate_rows(self, pcs_at(t, NULL, NULL), &(pcs_row_values){ .way = way, .speed = speed });
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

// Takes memory for `scale`, and fills in what holds of coordinates that are no displacements of a mesh and no angles.
pcs_status pcs_scale_create(pcs_system *self);

// Returns the matrix that impulses of rows act against: `inertia`, or M if that is NULL.
static inline const pcs_matrix *pcs_system_inertia(const pcs_system *self)
{
    return self->inertia == NULL ? self->M : self->inertia;
}

// Points that reports tell of: rows, then points with force laws.
static inline int pcs_system_npoint(const pcs_system *self)
{
    return self->nrow + self->ncompliant;
}

// Equations that this process sums over: all but copies of other ranks'.
static inline int pcs_system_nown(const pcs_system *self)
{
    return self->layout == NULL ? self->nv : self->layout->nown;
}

// Equations of all ranks together.
static inline int pcs_system_ndof(const pcs_system *self)
{
    return self->layout == NULL ? self->nv : self->layout->nglobal;
}

// Sums over the ranks, in place.
static inline void pcs_system_sum(const pcs_system *self, int count, double *x)
{
    if (self->layout != NULL) self->layout->comm->sum(self->layout->comm, count, x);
}

// Largest over the ranks; infinite when one of them has a NaN.
static inline double pcs_system_max(const pcs_system *self, double x)
{
    if (self->layout != NULL) self->layout->comm->max(self->layout->comm, 1, &x);
    return x;
}

// Size of a change of coordinate i, or of its rate, in m or m/s: the unit of length must not decide whether an angle or
// a displacement is the larger one.
static inline double pcs_system_size(const pcs_system *self, int i, double x)
{
    return self->arms == NULL ? fabs(x) : self->arms[i] * fabs(x);
}

// The largest of them over all equations.
static inline double pcs_system_largest(const pcs_system *self, const double *x)
{
    double largest = 0.0;
    for (int i = 0; i < self->nv; i++) largest = pcs_larger(largest, pcs_system_size(self, i, x[i]));
    return pcs_system_max(self, largest);
}

// Rows, tangents and points with force laws of all ranks together.
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
static inline int pcs_contact_npoint(const pcs_system *self, int contact)
{
    return self->row_comm == NULL ? self->contacts[contact].nrow : self->contacts[contact].nall;
}

// Are there joints, on whatever rank?
static inline bool pcs_system_has_joints(const pcs_system *self)
{
    for (int j = 0; j < self->nrow; j++)
        if (self->rows[j].is_bilateral) return true;
    if (self->row_comm == NULL) return false;
    for (int c = 0; c < self->ncontact; c++)
        if (self->contacts[c].is_joint && self->contacts[c].nall > 0) return true;
    return false;
}

// Number of a point in one process; -1 stays.
static inline int pcs_row_number(const pcs_system *self, int row)
{
    return self->row_comm == NULL || row < 0 ? row : self->row_number[row];
}

// Reduce over the ranks among which rows are distributed: sum in place, maximum, logical or.
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

// Velocity of row j.
static inline double pcs_system_rate(const pcs_system *self, int row, const double *v)
{
    return pcs_rows_dot(self->G, row, v);
}

// An impulse or a force of row j at q0, as it is at q1, less than a radian apart: a rotation vector, at most pi long,
// goes over to the other end at half a turn, and short ones may point apart, too.
static inline double pcs_system_carry(const pcs_system *self, int row, const double *q0, const double *q1, double value)
{
    if (!self->rows[row].changes_sense) return value;
    int e = self->G->column[self->G->start[row]];
    return q0[e] * q1[e] + q0[e + 1] * q1[e + 1] + q0[e + 2] * q1[e + 2] < -1.0 ? -value : value;
}

// Gaps at an instant where the directions were updated last.
static inline void pcs_system_gaps_here(pcs_system *self, pcs_instant at, double *gap)
{
    bool are_known = self->gap_here != NULL && self->time_here == at.t;
    if (!are_known) pcs_system_gaps(self, at, gap);
    else
        for (int j = 0; j < self->nrow; j++) gap[j] = self->gap_here[j];
}

// Returns the round-off of a gap at q with the present directions, m or rad.
static inline double pcs_gap_rounding(const pcs_system *system, int row, const double *q)
{
    const pcs_rows *G = system->G;
    int first = G->start[row], count = G->start[row + 1] - first;
    double size = system->rows[row].is_angle ? 1.0 : pcs_max(system->length, system->place);
    return pcs_rounding_of_sum(count, G->value + first, G->column + first, q) + DBL_EPSILON * size;
}

// A gap up to this counts as closed at q, m: round-off must neither open a contact at rest nor decide a tie.
static inline double pcs_gap_tie(const pcs_system *system, int row, const double *q)
{
    return PCS_ROUND_LENGTH / DBL_EPSILON * pcs_gap_rounding(system, row, q);
}

// Likewise of the gap that v makes of it in a time: a point that slides along a plane leaves it by round-off.
static inline double pcs_gap_tie_ahead(const pcs_system *system, int row, const double *q, const double *v, double time)
{
    const pcs_rows *G = system->G;
    int first = G->start[row], count = G->start[row + 1] - first;
    double way = time * pcs_rounding_of_sum(count, G->value + first, G->column + first, v);
    return pcs_gap_tie(system, row, q) + PCS_ROUND_LENGTH / DBL_EPSILON * way;
}

#endif
