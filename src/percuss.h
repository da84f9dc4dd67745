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
    // The case itself; NULL: it is read from `path`. With both, `path` is the file that it would stand in: messages
    // name it, and files of the case are looked for in its folder. Without a path that is the current one.
    const char *text;
    int nset;
    const char *const *set; // [nset] "path.to.key=value", as --set of the program
    // A system of the caller's own, which the case names by `system: { type: NAME, .. }`; it must live as long as the
    // handle. Its functions are compared with one another, as those of a plug-in are.
    const struct percuss_system_definition *system;
} percuss_source;

// Reads a case without building anything: for percuss_run_once. *out as of percuss_open.
int percuss_read(const percuss_source *source, percuss **out);
// Builds a simulation and makes its start consistent. 2: the case is wrong, 1: it cannot start. Fills *out also then,
// for the message, except when there is no memory at all.
int percuss_open(const percuss_source *source, percuss **out);
// The same of a file, and with nset assignments.
int percuss_load(const char *path, percuss **out);
int percuss_load_with(const char *path, int nset, const char *const *set, percuss **out);
// Ends the handle and all that it owns; sets *p to NULL. NULL and pointers to NULL are fine. While a function of this
// handle is being called back nothing is done.
void percuss_destroy(percuss **p);

// The last message, all errors of a case at once, a line each; "" when nothing has failed, "out of memory" for NULL.
// Good until the next call that may fail.
const char *percuss_message(const percuss *p);
typedef struct percuss_place {
    char file[512];     // "" where the message has no place
    int line, column;   // from 1
    const char *text;   // the message after its place, up to the end of the line
    size_t text_length; // bytes
} percuss_place;
// Line i of the message, from 0, with its place; 0 when there is no such line, else 1.
int percuss_message_at(const percuss *p, int i, percuss_place *out);
// Returns notes on what was changed or assumed in the case without an error, a line each; "" if there are none.
const char *percuss_notes(const percuss *p);

// ---- Going on ----

// Makes one step, checked by the certificate. 1: it failed, and the state is that before it, or that of the step whose
// certificate broke; go on by percuss_restore only. Does nothing after the end.
int percuss_step(percuss *p);
// Steps until the time is t or the simulation is done; steps are not cut to meet t.
int percuss_run_to(percuss *p, double t);
// Makes all steps that are left and writes results into `directory`, which is created if it does not exist.
int percuss_run(percuss *p, const char *directory);

// Called after a step; not 0 ends the run there.
typedef int percuss_watch(void *user, const percuss *p);
typedef struct percuss_run_options {
    const char *directory; // where results go; NULL: none are written
    double end;            // s, as for percuss_run_to; only without a directory, with one it is the end of the case
    percuss_watch *watch;  // may be NULL
    void *user;
    double interval; // s of wall time between two calls of `watch`; 0: it is called after every step
} percuss_run_options;
// Runs with a function that watches. 1 also when it ended the run; results are complete then.
int percuss_run_with(percuss *p, const percuss_run_options *options);
// Is nothing left to do, or nothing possible?
int percuss_is_done(const percuss *p);

// One run among many that share a folder, as those of a study do. All that is not used is 0.
typedef struct percuss_once {
    const char *directory; // must exist; results go to the folder NAME in it
    const percuss *like;   // of percuss_read: its case is copied, and path and text of the source are not read; or NULL
    // Cells of the mesh and the time step are that many times smaller than the case says; 0: nothing is refined. A mesh
    // from a file and a step that is no number cannot be.
    double mesh_factor, step_factor;
    int keeps_output;     // frames, history and a checkpoint at the end, as the case says; else only a summary
    int needs_history;    // history.csv also without that, and also of a case that switches it off
    int beside;           // other runs at the same time, which share the processors
    percuss_watch *watch; // as of percuss_run_options
    void *user;
    double interval;
    // Filled by the call:
    char name[20];            // hash of the version, the resolved case and its files; "" if the case is wrong
    int was_there;            // a finished run of that name was found, and left as it is
    int has_cells, has_steps; // cells that could be smaller; a step that does not follow their size
} percuss_once;
// Builds a simulation and runs it into its folder, which is locked meanwhile. A run that was cut there goes on from its
// checkpoint. Answers and *out as of percuss_open and percuss_run_with.
int percuss_run_once(const percuss_source *source, percuss_once *once, percuss **out);

// A copy of all that later steps depend on, in memory of its own; NULL when there is none left. Belongs to the caller,
// who gives it to percuss_forget before or after the handle ends.
typedef struct percuss_state percuss_state;
percuss_state *percuss_keep(const percuss *p);
// Goes back, or forward, to a state kept of this handle: the next steps are the same to the last bit. All that is read
// is as it was, with counts, times of work, friction and factors of loads; applied forces are zero again. 2: it is the
// state of another handle.
int percuss_restore(percuss *p, const percuss_state *state);
void percuss_forget(percuss_state **state);

// The same in a file, which is written under another name and renamed. 2: it cannot be written.
int percuss_save(percuss *p, const char *path);
// Goes on from a file of percuss_save, or from the checkpoint of a run in a file or folder (of which factors of loads
// and friction are not known: they stay, and nothing was applied). The case must be the same in all its keys. 2, and
// the state is as before: it is damaged, or of another case or version; the message says what differs. When a folder
// has a damaged checkpoint and a whole older one, that is taken, and the message says so.
int percuss_load_state(percuss *p, const char *path);

// ---- Size and state ----

double percuss_time(const percuss *p);                // s
double percuss_step_size(const percuss *p);           // s
double percuss_end_time(const percuss *p);            // s
long percuss_steps(const percuss *p);                 // accepted so far
double percuss_length(const percuss *p);              // m, size of the model
int percuss_dofs(const percuss *p);                   // equations
const double *percuss_displacement(const percuss *p); // [dofs] m or rad
const double *percuss_velocity(const percuss *p);     // [dofs] m/s or rad/s
// Vectors that are evaluated for the present state when they are asked for; NULL: there is no memory, or no such thing.
const double *percuss_acceleration(percuss *p);   // [dofs] M a = smooth + contact forces; none with scheme `wave`
const double *percuss_force(percuss *p);          // [dofs] N, all smooth forces: loads, gravity, internal and damping
const double *percuss_internal_force(percuss *p); // [dofs] N, internal and damping; NULL for systems in closed form
const double *percuss_contact_force(percuss *p);  // [dofs] N, of contacts and joints, in the mean over the last step

// ---- Nodes, sets, equations: none in a system in closed form ----

int percuss_nodes(const percuss *p);
const double *percuss_coordinates(const percuss *p); // [3 nodes] x, y, z of each in the reference state, m; constant
int percuss_cells(const percuss *p);
const int *percuss_cell_nodes(const percuss *p); // [2 cells] constant; a cell of one node names it twice

typedef struct percuss_set {
    const char *name;
    int is_cells; // items are cells, otherwise nodes
    int count;
    const int *items; // [count] constant
} percuss_set;
int percuss_sets(const percuss *p);
percuss_set percuss_set_at(const percuss *p, int i); // nodes first; without a name when there is no such set
// The set of nodes, or cells, of this name; without a name when there is none.
percuss_set percuss_set_named(const percuss *p, const char *name, int is_cells);

typedef struct percuss_dof {
    int equation;        // -1: held by a support
    int is_rotation;     // about the direction
    double direction[3]; // unit vector
} percuss_dof;
// Number of ways a node can move, up to 6 of them into `out`.
int percuss_node_dofs(const percuss *p, int node, percuss_dof out[6]);
// The equation of a node along x, y or z (axis 0, 1, 2) or about them (3, 4, 5); -1: held by a support, -2: the node
// has no motion along just this axis.
int percuss_equation(const percuss *p, int node, int axis);
// "node 17 at (1, 0, 0), direction [1, 0, 0]" into `text`.
void percuss_name_equation(const percuss *p, int equation, size_t size, char *text);
// Name of a coordinate of a system in closed form; NULL when there is none.
const char *percuss_coordinate_name(const percuss *p, int i);

// Holds the picture of the present state: points are the nodes, then copies of nodes at which members branch.
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
    PERCUSS_STIFFNESS, // K: minus the derivative of the smooth forces by positions
    PERCUSS_DAMPING,   // C: the same by velocities
    PERCUSS_DIRECTIONS // G: a row for every contact point without force law and joint condition, gap velocity = G v
} percuss_matrix_kind;
// Columns one after another: column j has the rows row[start[j]] .. row[start[j + 1] - 1], which rise.
typedef struct percuss_matrix {
    int nrow, ncol, nnz;
    const int *start;    // [ncol + 1]
    const int *row;      // [nnz]
    const double *value; // [nnz]
} percuss_matrix;
// At the present state. Good until the next step or the next call for the same matrix; without damping C is zero and
// has no entries. 1: out of memory, 2: there is no such matrix.
int percuss_matrix_of(percuss *p, percuss_matrix_kind kind, percuss_matrix *out);

// ---- Contacts and joints ----

typedef struct percuss_contact {
    const char *name;    // of the contact in the case
    double gap;          // m
    double gap_rate;     // m/s
    double force;        // N, smooth part over the last step
    double impulse;      // N s, impact part of the last step
    double step_impulse; // N s, all of the last step
    double tangent[2];   // N s, friction of the last step
    double slip[2];      // m/s
    double friction;     // Coulomb's coefficient
    double restitution;  // Newton's
    int group;           // number of the contact, or joint, that the point belongs to
    int is_joint;        // the gap is held at zero in both directions
    int is_closed;
    int is_impact; // it closed in the last step
} percuss_contact;
// Points of contacts and conditions of joints: the rows of G.
int percuss_contacts(const percuss *p);
percuss_contact percuss_contact_at(const percuss *p, int i); // name "" when there is no such row

typedef struct percuss_group {
    const char *name; // NULL: there is no such contact
    int first, count; // its rows
    int is_joint;
} percuss_group;
// Contacts and joints by name.
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
// The same numbers of all rows as an array whose entries lie `stride` bytes apart.
const double *percuss_rows(const percuss *p, percuss_row_quantity quantity, size_t *stride);
// Evaluates the points at which rows act, m, and their unit normals at the present state, [3 contacts] each; either may
// be NULL. Returns 1 if out of memory.
int percuss_contact_points(percuss *p, const double **position, const double **normal);

// Forces of joints, and of supports that were asked for them, on the model, in the mean over the last step.
typedef struct percuss_reaction {
    const char *name; // NULL: there is no such reaction
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
const char *percuss_probe_name(const percuss *p, int i);     // "tip.x", as in history.csv; NULL: there is no such probe
double percuss_probe_at(const percuss *p, int i);            // at the present state
int percuss_probe_named(const percuss *p, const char *name); // its number, -1: there is none

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

// A condition that every step is held against; broken where worst_ratio > 1.
typedef struct percuss_check {
    const char *name; // "gap >= 0"; NULL: there is no such condition
    const char *unit; // of value and tolerance
    double worst_ratio, worst_value, tolerance, worst_time;
    int is_reported_only; // cannot fail
} percuss_check;
int percuss_checks(const percuss *p);
percuss_check percuss_check_at(const percuss *p, int i);

typedef struct percuss_effort {
    long steps, iterations, factorizations, attempts, cut_steps;
    double setup, step, certify, output; // s of wall time
    size_t memory;                       // bytes taken at set-up
} percuss_effort;
percuss_effort percuss_efforts(const percuss *p);

// ---- Driving ----

// [dofs] forces that act in the next step, constant over it, on top of the loads of the case. The caller writes to it;
// every step that is made sets it to zero again. Their work is external work. NULL: no memory, or no simulation.
double *percuss_applied_force(percuss *p);
// Adds a force in the axes of space at a node for the next step. 2: there is no such node, or it cannot move along the
// force, or is held by a support.
int percuss_apply(percuss *p, int node, const double force[3]);
int percuss_loads(const percuss *p);
const char *percuss_load_name(const percuss *p, int i); // NULL: there is no such load
// The load acts with this factor on top of its amplitude from now on; 1 at the start. 2: there is no such load, or it
// is gravity, whose potential is part of the energy.
int percuss_set_load_factor(percuss *p, const char *name, double factor);
// Coulomb's coefficient of a contact from now on. 2: there is no such contact, or it has no friction in the case.
int percuss_set_friction(percuss *p, const char *name, double friction);

// ---- Equilibrium and vibrations ----

typedef struct percuss_still_options {
    int steps;            // load steps at least; 0: as the case says
    double time;          // s, at which loads and driven joints stand; 0: as the case says
    int count;            // of modes; 0: 10
    int is_about_statics; // modes about the equilibrium under the loads, not about the reference state
    int is_whirl;         // modes of the quadratic problem also where all is symmetric
} percuss_still_options;
// A handle that stands in equilibrium under the loads: displacements, gaps, forces, probes and matrices are read as of
// a simulation; it cannot be stepped. Scheme and times may be missing in the case. 1: no equilibrium was reached, 2:
// bad input. *out as of percuss_open. Without options (NULL) all of them are 0.
int percuss_statics(const percuss_source *source, const percuss_still_options *options, percuss **out);
// The same with the modes of small vibrations. Modes in several threads wait for one another.
int percuss_modes(const percuss_source *source, const percuss_still_options *options, percuss **out);
typedef struct percuss_mode {
    double frequency; // rad/s; of a mode that does not vibrate (decay, divergence) the rate of decay or growth, 1/s
    double damping;   // ratio; negative if a vibration grows
    double residual;
    const char *kind;      // "vibration", "rigid", ..; NULL: there is no such mode
    const char *name;      // of a rigid mode, where a mechanism moves, "at R 1/s" of "decay", "flutter at R 1/s" or
                           // "divergence at R 1/s" of "unstable"; else ""
    const double *re, *im; // [dofs] shape; im is NULL of a real one
} percuss_mode;
int percuss_mode_count(const percuss *p);
percuss_mode percuss_mode_at(const percuss *p, int i);

// ---- What a case can be made of ----

typedef struct percuss_option {
    const char *section; // "scheme", "contacts", "system", ..; NULL for keys that stand by themselves
    const char *part;    // "alpha_ggl", or the path of a map: "loads.NAME.amplitude"
    const char *summary; // of the part
    const char *key;     // NULL: the part itself
    const char *help;    // one line, with the unit
    const char *kind;    // "number", "whole number", "choice", ..
    const char *preset;  // as it would stand in a case; NULL: none
    int is_required;
    double low, high; // range of numbers
    int low_is_open, high_is_open;
    const char *const *choices; // ends with NULL; NULL: none
} percuss_option;
// Calls `visit` for every part and then for each of its options; the texts of `option` are good during the call. 1: out
// of memory.
int percuss_list_options(void (*visit)(void *user, const percuss_option *option), void *user);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
