// Observers read the run and write it: they see everything const and cannot disturb it.

#ifndef PCS_OUTPUT_OBSERVER_H
#define PCS_OUTPUT_OBSERVER_H

#include "core/archive.h"
#include "core/comm.h"
#include "mesh/mesh.h"
#include "schemes/scheme.h"
#include "system/system.h"

#include <stddef.h>

typedef struct pcs_view pcs_view;

// Energy book-keeping since t = 0, J. E = kinetic + strain + potential obeys
//   E - initial = external_work - damping_loss - impact_loss - friction_loss + correction_work - numerical_loss
//               - material_loss, the work of plastic strains and viscous losses inside cells.
typedef struct pcs_ledger {
    pcs_measure now;
    double initial; // E at t = 0, before an impact at t = 0, J
    double external_work, damping_loss, impact_loss, friction_loss, correction_work, numerical_loss;
    double material_loss;
    double largest_rise;         // largest rise of E over one step beyond the external work, J
    bool numerical_is_remainder; // numerical_loss closes the balance; otherwise a formula gives it; constant
} pcs_ledger;
// The numbers of a ledger are contiguous, for checkpoints.
enum { PCS_LEDGER_WORDS = offsetof(pcs_ledger, numerical_is_remainder) / 8 };

// One condition, checked in every step. ratio = |defect| / tolerance.
typedef struct pcs_check {
    const char *name; // "gap >= 0"
    const char *unit; // unit of value and tolerance
    double worst_ratio;
    double worst_value, tolerance; // at the worst ratio
    double worst_time;
    bool is_reported_only; // reported but cannot fail
    double mark;           // ratio from which the verdict names the check even if it holds or cannot fail; 0: never
} pcs_check;

typedef struct pcs_certificate {
    int ncheck;
    const pcs_check *checks; // [ncheck]
    const pcs_check *broken; // first one that failed, NULL if none
} pcs_certificate;

typedef struct pcs_timing {
    double setup, step, certify, output, checkpoint; // s of wall time; for a resumed run the sum over all its processes
} pcs_timing;

// A number of a table, NAN if unknown.
typedef struct pcs_column {
    const char *name;
    double value;
} pcs_column;

typedef struct pcs_observer pcs_observer;

// Growth of a small perturbation of the start in a probe.
typedef struct pcs_horizon_probe {
    double low, high; // range over the run
    double largest;   // largest lasting difference to a neighbour, relative to that range
    double time;      // s, time at which a difference exceeds 1 % of the range; INFINITY if never, or not judged
    bool is_judged;   // the probe moves, by more than the perturbation itself
} pcs_horizon_probe;

typedef struct pcs_horizon {
    double size;               // velocities of the perturbation, relative to those of the motion
    double energy;             // J, kinetic energy of the perturbation
    double compared;           // s, time up to which neighbours were compared
    double time;               // s, earliest time over all probes
    char reason[256];          // why a neighbour stopped, or no probe is judged; "" otherwise
    pcs_horizon_probe *probes; // [nprobe]
} pcs_horizon;

typedef enum pcs_ending { PCS_RUNNING, PCS_FINISHED, PCS_STOPPED } pcs_ending;

struct pcs_view {
    const char *version;   // version of the program
    const char *case_name; // stem of the written files
    const char *title;
    const char *directory; // folder of the results; exists
    const char *scheme_name, *solver_name, *mass_backend, *step_backend;
    pcs_system *system;   // observers use its workspace; the next step evaluates it anew
    const pcs_mesh *mesh; // NULL for a closed-form system
    const pcs_state *state;
    const pcs_instant *still;  // time and loads of the state in a static analysis; NULL in a run
    const pcs_column *columns; // [ncolumn] first columns of the table of a static analysis; NULL in a run
    int ncolumn;
    bool is_smooth;                // contacts are without friction, whatever the model says
    const pcs_step_report *report; // report of the last step; at t = 0 of the start
    const pcs_ledger *ledger;
    const pcs_certificate *certificate;
    const pcs_timing *timing;
    const pcs_reaction *reactions; // [system->nreaction] of the last step, NULL if there are none
    const double *effective_mass;  // [system->nrow] effective masses of the rows, kg, NULL if unknown
    const pcs_probe *probes;       // [nprobe]
    int nprobe;
    const pcs_horizon *horizon;      // at the end of a run that asked for it, NULL otherwise
    double axial_cell, bending_cell; // s, longest l/c and l^2/sqrt(E I/(rho A)) of a cell; 0 without bars, beams
    bool refuses_unresolved;         // a run that is not resolved fails
    double step_size, start_time, end_time;
    long nstep; // planned number of steps
    // Contiguous numbers of eight bytes from here to memory_of_ranks, for checkpoints.
    long iterations, factorizations; // since the start
    long attempts, rejections;       // scheme steps tried, and steps undone by step control
    long cut_steps;                  // number of steps that were subdivided
    double first_cut, last_cut;      // s, start of the first and of the last of them
    double finest_cut_time;          // s, time of the step with the most halvings
    long handovers;                  // steps solved by another solver than the one named
    long inexact;                    // steps that step control accepted at its smallest size, above the tolerance
    size_t memory;                   // bytes allocated at set-up
    size_t memory_of_ranks[3];       // number of processes, 0 without MPI; least and most bytes that one has allocated
    long ncheckpoint;                // checkpoints written so far
    int finest_cut;                  // most halvings of a step
    int rotation_halvings;           // halvings of every step from now on, for bodies that rotate fast
    int kept_halvings;               // halvings that steps begin with after subdivided ones
    int rough_steps, rough_wait;     // countdown of steps until one halving less is tried, and its start
    bool is_controlled;              // step sizes vary: nstep is not a plan
    bool is_resumed;                 // observers open with the data of a checkpoint and keep their files
    const char *question;            // question about a value that is possible but unlikely, NULL if none
    pcs_ending ending;
    const char *reason;            // why the run stopped, if it did
    const char *kind;              // "statics" or "modes"; NULL for a run
    const pcs_observer *observers; // [nobserver] all of this run, so that one may use another's options
    int nobserver;
    // Output of the progress observer, since the library never prints; NULL if none. A text is a complete line with its
    // '\n', or on a terminal a line that starts with '\r' and is rewritten in place.
    void (*show)(void *user, const char *text);
    void *show_user;
    bool is_terminal; // `show` writes to a terminal: progress is a bar; otherwise one line every few seconds
};

// Returns the instant at which the state is evaluated.
static inline pcs_instant pcs_view_at(const pcs_view *view)
{
    pcs_instant at = pcs_at(view->state->t, view->state->q, view->state->v);
    if (view->still == NULL) return at;
    at.t = view->still->t;
    at.load_factor = view->still->load_factor;
    at.is_equilibrium = view->still->is_equilibrium;
    return at;
}

// Returns true if this contact is a joint; those of a closed-form system are among its contacts, without reactions.
static inline bool pcs_is_joint(const pcs_system *system, int contact)
{
    const pcs_contact_info *info = &system->contacts[contact];
    return info->is_joint || (info->nrow > 0 && system->rows[info->first_row].is_bilateral);
}

// Returns the number of points of contacts that are no joints.
static inline int pcs_count_points(const pcs_system *system)
{
    int count = 0;
    for (int c = 0; c < system->ncontact; c++) count += pcs_is_joint(system, c) ? 0 : system->contacts[c].nall;
    return count;
}

// Returns the number of rows of joints.
static inline int pcs_count_conditions(const pcs_system *system)
{
    return pcs_system_nrow(system) + pcs_system_ncompliant(system) - pcs_count_points(system);
}

enum { PCS_OBSERVER_PLACE = 64 }; // bytes of a place below the key of an observer

typedef struct pcs_observer_ops {
    const char *name; // also its key under `output`
    const char *summary;
    const pcs_option *options; // ends with a NULL name, NULL if none
    size_t params_size;
    size_t data_size;
    bool is_default;                 // runs also if the case does not name it
    const char *const *cell_options; // options that name sets of cells, ends with NULL; NULL if none
    // Returns NULL if the parameters are valid, else the error and its *option. NULL if they always are.
    const char *(*check_params)(const void *params, const char **option);
    // Checks the parameters against the model. Returns PCS_BAD_INPUT if they do not fit. `place` gets the key and item
    // below the observer's own, as in `of.1`, or "" for all of it. NULL if there is nothing to check.
    pcs_status (*check)(const pcs_observer *self, char place[PCS_OBSERVER_PLACE]);
    // Called after the start: writes state and report at t = 0. Allocates all memory. `view` stays valid and its
    // contents change from step to step. In a resumed run it writes and removes nothing, since `serialize` follows.
    pcs_status (*open)(pcs_observer *self);
    // Called after every accepted step.
    pcs_status (*step)(pcs_observer *self);
    // Called once, also after a failure in mid-run or of its own `open`: completes and renames its files. The state is
    // the last good one; the report may be that of a rejected step and is not read.
    pcs_status (*close)(pcs_observer *self);
    // Serializes, between two steps, its state and the valid length of its files, always with the same number of bytes.
    // When read, a file is cut off at that length and continued. NULL if there is no state.
    pcs_status (*serialize)(pcs_observer *self, pcs_archive *c);
} pcs_observer_ops;

struct pcs_observer {
    const pcs_observer_ops *ops;
    pcs_context *ctx;
    const pcs_view *view;
    const void *params;
    void *data;
    bool has_failed; // has failed in some process
    bool is_idle;    // takes no part in this run
};

extern const pcs_observer_ops *const pcs_observers[]; // ends with NULL

// Creates the observer of this name, which must exist, with data of its own; the caller opens it.
pcs_status pcs_observer_create(pcs_context *ctx, const char *name, const pcs_view *view, const void *params,
                               pcs_observer *out);

// Components of a reaction: three of the force, three of the moment, two of teeth.
enum { PCS_REACTION_COMPONENTS = 8 };
extern const char *const pcs_reaction_names[PCS_REACTION_COMPONENTS]; // fx, .., mz, of teeth
bool pcs_reaction_has(const pcs_reaction_info *info, int k);
double pcs_reaction_component(const pcs_reaction *reaction, int k);

#endif
