// Percuss for other programs: load a case, step it, read and drive what moves, destroy it.
//
//   percuss *p = NULL;
//   if (percuss_load("cases/bar_impact", &p) != 0) { puts(percuss_message(p)); percuss_destroy(&p); return 1; }
//   while (!percuss_is_done(p) && percuss_step(p) == 0) use(percuss_time(p), percuss_displacement(p));
//   percuss_destroy(&p);
//
// The library never prints, exits or aborts, and has no state but what a handle holds: handles may be used in several
// threads at once, one handle in one thread at a time. A callback may only read from the handle that calls it; other
// functions return 2.
//
// Answers: calls that may fail give 0, or 1 when the simulation cannot go on, or 2 for bad input; percuss_message says
// why. Readers cannot fail: a handle without what is asked for gives 0, NULL or a struct of zeros.
//
// Ownership: a handle owns all that its functions point to. Unless a function says otherwise an array stays where it is
// until percuss_destroy, its contents change with every step, and nobody writes to it. Texts are UTF-8.
//
// Units are those of the case; SI is named here. Equations are numbered from 0; positions and velocities are arrays
// over them. Rotations of bodies in space are three equations of a node: in the positions a rotation vector, in the
// velocities the angular velocity and in forces the moment, both in the axes of the body.

#ifndef PERCUSS_H
#define PERCUSS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

typedef struct percuss percuss;
struct percuss_system_definition; // percuss_system.h

// "0.1.0". Never NULL.
const char *percuss_version(void);

// ---- Loading ----

// Names the case to load. Unused members are 0. All pointers but `system` are borrowed for the call only.
typedef struct percuss_source {
    const char *path; // of a case file, or of a folder with case.yaml
    // The case itself; NULL: read from `path`. With both, messages name `path`, and the folder of `path` is searched
    // for files of the case; without a path it is the current folder.
    const char *text;
    int nset;
    const char *const *set; // [nset] "path.to.key=value", as --set of the program
    // A system of the caller's own, which the case names by `system: { type: NAME, .. }`; it must live as long as the
    // handle. Its functions are compared with one another, as those of a plug-in are.
    const struct percuss_system_definition *system;
} percuss_source;

// Reads a case without building anything: for percuss_run_once. *out as of percuss_open.
int percuss_read(const percuss_source *source, percuss **out);
// Builds a simulation and makes its start consistent. Returns 2 if the case is wrong, 1 if it cannot start. Fills *out
// in these cases too, so that the message can be read, except when out of memory.
int percuss_open(const percuss_source *source, percuss **out);
// The same from a file, with nset assignments.
int percuss_load(const char *path, percuss **out);
int percuss_load_with(const char *path, int nset, const char *const *set, percuss **out);
// Ends the handle and all that it owns; sets *p to NULL. NULL and pointers to NULL are fine. While a function of this
// handle is being called back nothing is done.
void percuss_destroy(percuss **p);

// Returns the last message, with all errors of a case, one per line; "" if nothing has failed, "out of memory" for
// NULL. Valid until the next call that may fail.
const char *percuss_message(const percuss *p);
typedef struct percuss_place {
    char file[512];     // "" if the message names no file
    int line, column;   // from 1
    const char *text;   // the message after file, line and column, up to the end of the line
    size_t text_length; // bytes
} percuss_place;
// Fills *out with line i of the message, from 0; returns 1, or 0 if there is no such line.
int percuss_message_at(const percuss *p, int i, percuss_place *out);
// Returns notes on what was changed or assumed in the case without an error, a line each; "" if there are none.
const char *percuss_notes(const percuss *p);

// ---- Steps and runs ----

// Makes one step, checked by the certificate. Returns 1 if it failed; the state is then the one before it, or that of
// the step whose certificate broke, and only percuss_restore goes on. Does nothing after the end.
int percuss_step(percuss *p);
// Steps until the time is t or the simulation is done. The step size stays: the last step may pass t.
int percuss_run_to(percuss *p, double t);
// Makes all remaining steps and writes results into `directory`, which is created if it does not exist.
int percuss_run(percuss *p, const char *directory);

// Called after a step; a nonzero result ends the run there.
typedef int percuss_watch(void *user, const percuss *p);
typedef struct percuss_run_options {
    const char *directory; // where results go; NULL: none are written
    double end;            // s, as for percuss_run_to; only without a directory, with one it is the end of the case
    percuss_watch *watch;  // may be NULL
    void *user;
    double interval; // s of wall time between two calls of `watch`; 0: it is called after every step
} percuss_run_options;
// Runs with a function that watches. Also returns 1 if that function ended the run; results are complete then.
int percuss_run_with(percuss *p, const percuss_run_options *options);
// Returns 1 if the run has reached its end or cannot continue, else 0.
int percuss_is_done(const percuss *p);

// One of many runs that share a folder, such as those of a study. Unused members are 0.
typedef struct percuss_once {
    const char *directory; // must exist; results go to the folder NAME in it
    const percuss *like;   // a handle of percuss_read whose case is copied, in place of that of the source; or NULL
    // Factor by which cells and time step are smaller than in the case; 0: no refinement. A mesh from a file and a step
    // that is not a number cannot be refined.
    double mesh_factor, step_factor;
    int keeps_output;     // writes frames, history and a final checkpoint as the case says; else only a summary
    int needs_history;    // writes history.csv in any case
    int beside;           // number of other runs at the same time, which share the processors
    percuss_watch *watch; // as of percuss_run_options
    void *user;
    double interval;
    // Filled by the call:
    char name[20];            // hash of the version, the resolved case and its files; "" if the case is wrong
    int was_there;            // a finished run of that name was found and left unchanged
    int has_cells, has_steps; // some cells can be refined; the step is a number that can be refined
} percuss_once;
// Builds a simulation and runs it into its own folder, which is locked meanwhile. An interrupted run continues from its
// checkpoint. Returns, and fills *out, like percuss_open and percuss_run_with.
int percuss_run_once(const percuss_source *source, percuss_once *once, percuss **out);

// Copies all that later steps depend on; NULL if out of memory. The caller frees the copy by percuss_forget, before or
// after the handle ends.
typedef struct percuss_state percuss_state;
percuss_state *percuss_keep(const percuss *p);
// Returns to a state kept of this handle: the steps that follow are the same to the last bit. Counts, times, friction
// and load factors are restored; applied forces are zero again. Returns 2 if the state belongs to another handle.
int percuss_restore(percuss *p, const percuss_state *state);
void percuss_forget(percuss_state **state);

// Writes the same to a file, under a temporary name that is then renamed. Returns 2 if it cannot be written.
int percuss_save(percuss *p, const char *path);
// Continues from a file of percuss_save, or from the checkpoint of a run (a file, or its folder), which has no factors
// of loads and friction: these stay. All keys of the case must be the same. Returns 2, with the state unchanged, if the
// file is damaged or belongs to another case or version; the message names the difference. If the newest checkpoint of
// a folder is damaged, the one before it is used, and the message says so.
int percuss_load_state(percuss *p, const char *path);

// ---- Size and state ----

double percuss_time(const percuss *p);                // s
double percuss_step_size(const percuss *p);           // s
double percuss_end_time(const percuss *p);            // s
long percuss_steps(const percuss *p);                 // number of accepted steps
double percuss_length(const percuss *p);              // m, size of the model
int percuss_dofs(const percuss *p);                   // equations
const double *percuss_displacement(const percuss *p); // [dofs] m or rad
const double *percuss_velocity(const percuss *p);     // [dofs] m/s or rad/s
// Vectors evaluated for the present state on request; NULL if out of memory or not defined for this model.
const double *percuss_acceleration(percuss *p);   // [dofs] M a = smooth + contact forces; NULL with scheme `wave`
const double *percuss_force(percuss *p);          // [dofs] N, all smooth forces: loads, gravity, internal and damping
const double *percuss_internal_force(percuss *p); // [dofs] N, internal and damping; NULL for systems in closed form
const double *percuss_contact_force(percuss *p);  // [dofs] N, of contacts and joints, mean over the last step

// ---- Nodes, sets, equations: none in a system in closed form ----

int percuss_nodes(const percuss *p);
const double *percuss_coordinates(const percuss *p); // [3 nodes] x, y, z of each in the reference state, m; constant
int percuss_cells(const percuss *p);
const int *percuss_cell_nodes(const percuss *p); // [2 cells] constant; a cell with one node has it twice

typedef struct percuss_set {
    const char *name;
    int is_cells; // items are cells, otherwise nodes
    int count;
    const int *items; // [count] constant
} percuss_set;
int percuss_sets(const percuss *p);
percuss_set percuss_set_at(const percuss *p, int i); // sets of nodes first; name NULL if there is no set i
// Returns the set of nodes, or of cells, of this name; its name is NULL if there is none.
percuss_set percuss_set_named(const percuss *p, const char *name, int is_cells);

typedef struct percuss_dof {
    int equation;        // -1: held by a support
    int is_rotation;     // rotation about the direction, not displacement along it
    double direction[3]; // unit vector
} percuss_dof;
// Returns the number of directions in which a node can move; up to 6 of them are written to `out`.
int percuss_node_dofs(const percuss *p, int node, percuss_dof out[6]);
// Returns the equation of a node along x, y, z (axis 0, 1, 2) or about them (3, 4, 5); -1 if held by a support, -2 if
// the node cannot move in exactly this direction.
int percuss_equation(const percuss *p, int node, int axis);
// Writes a name such as "node 17 at (1, 0, 0), direction [1, 0, 0]" into `text`.
void percuss_name_equation(const percuss *p, int equation, size_t size, char *text);
// Returns the name of a coordinate of a system in closed form; NULL if there is none.
const char *percuss_coordinate_name(const percuss *p, int i);

// The picture of the present state: points are the nodes, then copies of nodes at which members branch.
typedef struct percuss_picture {
    int npoint, ncell, nfield;
    const double *reference;        // [3 npoint] m
    const double *displacement;     // [3 npoint] m
    const double *velocity;         // [3 npoint] m/s
    const int *cells;               // [2 ncell]
    const char *const *field_names; // [nfield]
    const double *const *fields;    // [nfield][ncell]
} percuss_picture;
// Evaluated anew by every call.
percuss_picture percuss_draw(percuss *p);

// ---- Matrices ----

typedef enum percuss_matrix_kind {
    PERCUSS_MASS,      // M
    PERCUSS_STIFFNESS, // K: minus the derivative of the smooth forces with respect to positions
    PERCUSS_DAMPING,   // C: the same with respect to velocities
    PERCUSS_DIRECTIONS // G: a row per contact point without force law and per condition of a joint; gap rate = G v
} percuss_matrix_kind;
// Matrix by columns: column j has its entries in rows row[start[j]] to row[start[j + 1] - 1], ascending.
typedef struct percuss_matrix {
    int nrow, ncol, nnz;
    const int *start;    // [ncol + 1]
    const int *row;      // [nnz]
    const double *value; // [nnz]
} percuss_matrix;
// Evaluates a matrix at the present state; valid until the next step or the next call for the same matrix. Without
// damping C has no entries. Returns 1 if out of memory, 2 if there is no such matrix.
int percuss_matrix_of(percuss *p, percuss_matrix_kind kind, percuss_matrix *out);

// ---- Contacts and joints ----

typedef struct percuss_contact {
    const char *name;    // of the contact in the case
    double gap;          // m
    double gap_rate;     // m/s
    double force;        // N, smooth part, mean over the last step
    double impulse;      // N s, impact part of the last step
    double step_impulse; // N s, total of the last step
    double tangent[2];   // N s, friction of the last step
    double slip[2];      // m/s
    double friction;     // Coulomb's coefficient
    double restitution;  // Newton's coefficient of restitution
    int group;           // index of the contact or joint that the point belongs to
    int is_joint;        // bilateral: the gap is held at zero
    int is_closed;
    int is_impact; // closed in the last step
} percuss_contact;
// Points of contacts and conditions of joints: one for each row of G.
int percuss_contacts(const percuss *p);
percuss_contact percuss_contact_at(const percuss *p, int i); // name "" if there is no row i

typedef struct percuss_group {
    const char *name; // NULL if there is no such contact
    int first, count; // its rows
    int is_joint;
} percuss_group;
// Contacts and joints by name: the range of their rows.
int percuss_groups(const percuss *p);
percuss_group percuss_group_at(const percuss *p, int i);
percuss_group percuss_group_named(const percuss *p, const char *name);

typedef enum percuss_row_quantity {
    PERCUSS_GAP,
    PERCUSS_GAP_RATE,
    PERCUSS_FORCE,
    PERCUSS_IMPULSE,
    PERCUSS_STEP_IMPULSE,
    PERCUSS_TANGENT_1,
    PERCUSS_TANGENT_2,
    PERCUSS_SLIP_1,
    PERCUSS_SLIP_2
} percuss_row_quantity;
// The same numbers of all rows as an array with `stride` bytes from entry to entry.
const double *percuss_rows(const percuss *p, percuss_row_quantity quantity, size_t *stride);
// Evaluates the points at which rows act, m, and their unit normals, [3 contacts] each; either may be NULL. Returns 1
// if out of memory.
int percuss_contact_points(percuss *p, const double **position, const double **normal);

// Forces that joints, and supports with `reactions`, exert on the model, mean over the last step.
typedef struct percuss_reaction {
    const char *name; // NULL if there is no such reaction
    int is_support;
    double force[3], moment[3]; // N, N m, in the axes of space
    // Components of the tooth force, N, of a gear with a point of contact (has_teeth): tangential, along the motion of
    // the teeth, and separating, positive if it pushes the wheels apart; if negative, the other flank carries.
    int has_teeth;
    double tangential, separating;
} percuss_reaction;
int percuss_reactions(const percuss *p);
percuss_reaction percuss_reaction_at(const percuss *p, int i);

// ---- Probes, energies, certificate ----

int percuss_probes(const percuss *p);
const char *percuss_probe_name(const percuss *p, int i);     // "tip.x", as in history.csv; NULL if there is none
double percuss_probe_at(const percuss *p, int i);            // at the present state
int percuss_probe_named(const percuss *p, const char *name); // its index; -1 if there is none

// kinetic + strain + potential - initial = external_work - damping_loss - impact_loss - friction_loss + correction_work
// - numerical_loss - material_loss
typedef struct percuss_energy {
    double kinetic, strain, potential;                                                // J
    double external_work, damping_loss, impact_loss, correction_work, numerical_loss; // J since the start
    double friction_loss;                                                             // J since the start
    double initial;                                                                   // J at the start
    double material_loss; // J since the start, work of plastic strains and viscous losses inside cells
} percuss_energy;
percuss_energy percuss_energies(const percuss *p);

// A condition checked in every step; violated if worst_ratio > 1.
typedef struct percuss_check {
    const char *name; // "gap >= 0"; NULL if there is no such condition
    const char *unit; // of value and tolerance
    double worst_ratio, worst_value, tolerance, worst_time;
    int is_reported_only; // reported only, never a failure
} percuss_check;
int percuss_checks(const percuss *p);
percuss_check percuss_check_at(const percuss *p, int i);

typedef struct percuss_effort {
    long steps, iterations, factorizations, attempts, cut_steps, handovers;
    double setup, step, certify, output; // s of wall time
    size_t memory;                       // bytes allocated at set-up
} percuss_effort;
percuss_effort percuss_efforts(const percuss *p);

// ---- Driving ----

// [dofs] forces of the next step, constant over it, in addition to the loads of the case. The caller fills the array,
// each step sets it to zero again. Their work counts as external work. NULL if out of memory or not a simulation.
double *percuss_applied_force(percuss *p);
// Adds a force, in the axes of space, at a node for the next step. Returns 2 if there is no such node, or if it cannot
// move along the force or is held by a support.
int percuss_apply(percuss *p, int node, const double force[3]);
int percuss_loads(const percuss *p);
const char *percuss_load_name(const percuss *p, int i); // NULL if there is no such load
// Sets a factor of a load in addition to its amplitude; 1 at the start. Returns 2 if there is no such load or it is
// gravity, whose potential is part of the energy.
int percuss_set_load_factor(percuss *p, const char *name, double factor);
// Sets Coulomb's coefficient of a contact. Returns 2 if there is no such contact or it has no friction in the case.
int percuss_set_friction(percuss *p, const char *name, double friction);

// ---- Equilibrium and vibrations ----

typedef struct percuss_still_options {
    int steps;            // least number of load steps; 0: as in the case
    double time;          // s, time at which loads and driven joints are evaluated; 0: as in the case
    int count;            // number of modes; 0: 10
    int is_about_statics; // modes about the equilibrium under the loads, not about the reference state
    int is_whirl;         // solves the quadratic eigenvalue problem even if all matrices are symmetric
} percuss_still_options;
// Creates a handle in equilibrium under the loads: displacements, gaps, forces, probes and matrices are read as from a
// simulation, but it cannot be stepped. The case may lack scheme and time. Returns 1 if no equilibrium was reached, 2
// for bad input; fills *out as percuss_open does. options NULL: all members 0.
int percuss_statics(const percuss_source *source, const percuss_still_options *options, percuss **out);
// The same with the modes of small vibrations. Calls in several threads wait for one another.
int percuss_modes(const percuss_source *source, const percuss_still_options *options, percuss **out);
typedef struct percuss_mode {
    double frequency; // rad/s; for a mode that does not vibrate the rate of decay or growth, 1/s
    double damping;   // ratio; negative if a vibration grows
    double residual;
    const char *kind;      // "vibration", "rigid", ..; NULL if there is no such mode
    const char *name;      // rigid: where a mechanism moves; decay: "at R 1/s"; unstable: "flutter at R 1/s" or
                           // "divergence at R 1/s" of "unstable"; else ""
    const double *re, *im; // [dofs] shape; im is NULL of a real one
} percuss_mode;
int percuss_mode_count(const percuss *p);
percuss_mode percuss_mode_at(const percuss *p, int i);

// ---- What a case can be made of ----

typedef struct percuss_option {
    const char *section; // "scheme", "contacts", "system", ..; NULL for keys outside a section
    const char *part;    // "alpha_ggl", or the path of a map: "loads.NAME.amplitude"
    const char *summary; // of the part
    const char *key;     // NULL for the part itself
    const char *help;    // one line, with the unit
    const char *kind;    // "number", "whole number", "choice", ..
    const char *preset;  // default, as written in a case; NULL if none
    int is_required;
    double low, high; // range of numbers
    int low_is_open, high_is_open;
    const char *const *choices; // ends with NULL; NULL if no choices
} percuss_option;
// Calls `visit` for each part, then for each of its options; the texts of `option` are valid during the call only.
// Returns 1 if out of memory.
int percuss_list_options(void (*visit)(void *user, const percuss_option *option), void *user);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
