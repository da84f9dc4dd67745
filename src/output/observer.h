// Observers read the run and write it: they see everything const and cannot disturb it.

#ifndef PCS_OUTPUT_OBSERVER_H
#define PCS_OUTPUT_OBSERVER_H

#include "core/carry.h"
#include "mesh/mesh.h"
#include "output/collect.h"
#include "schemes/scheme.h"

#include <stddef.h>

// Energy book-keeping since t = 0, J. E = kinetic + strain + potential obeys
//   E - initial = external_work - damping_loss - impact_loss - friction_loss + correction_work - numerical_loss
//               - material_loss, the work of plastic strains and viscous losses inside cells.
typedef struct pcs_ledger {
    pcs_measure now;
    double initial; // E at t = 0, before an impact at t = 0
    double external_work, damping_loss, impact_loss, friction_loss, correction_work, numerical_loss;
    double material_loss;
    double largest_rise;         // of E over one step beyond the external work
    bool numerical_is_remainder; // numerical_loss closes the sum; otherwise it is a formula; constant
} pcs_ledger;
// The numbers of a ledger are words that follow one another, for checkpoints.
enum { PCS_LEDGER_WORDS = offsetof(pcs_ledger, numerical_is_remainder) / 8 };

// One condition that is checked in every step. ratio = |defect| / tolerance.
typedef struct pcs_check {
    const char *name; // "gap >= 0"
    const char *unit; // of value and tolerance
    double worst_ratio;
    double worst_value, tolerance; // where the ratio was worst
    double worst_time;
    bool is_reported_only; // cannot fail
    double mark;           // ratio from which on the verdict names it even if it cannot fail, or holds; 0: it does not
} pcs_check;

typedef struct pcs_certificate {
    int ncheck;
    const pcs_check *checks; // [ncheck]
    const pcs_check *broken; // the first one that failed, or NULL
} pcs_certificate;

typedef struct pcs_timing {
    double setup, step, certify, output, checkpoint; // s of wall time, of all processes where a run was resumed
} pcs_timing;

typedef struct pcs_observer pcs_observer;

typedef enum pcs_ending { PCS_RUNNING, PCS_FINISHED, PCS_STOPPED } pcs_ending;

typedef struct pcs_view {
    const char *version;   // of the program
    const char *case_name; // stem of the written files
    const char *title;
    const char *directory; // where results go; exists
    const char *scheme_name, *solver_name, *mass_backend, *step_backend;
    pcs_system *system;   // observers use its workspace: what they draw and evaluate is made anew by the next step
    const pcs_mesh *mesh; // NULL: a system in closed form
    const pcs_state *state;
    const pcs_instant *still;      // of an analysis without motion: time and loads of the state; NULL: a run
    const pcs_step_report *report; // of the last step; at t = 0 of the start
    const pcs_ledger *ledger;
    const pcs_certificate *certificate;
    const pcs_timing *timing;
    const pcs_reaction *reactions; // [system->nreaction] of the last step; NULL: there are none
    const double *effective_mass;  // [system->nrow] kg, of the rows; NULL: not known
    const pcs_probe *probes;       // [nprobe]
    int nprobe;
    double step_size, start_time, end_time;
    long nstep;                      // planned number of steps
    long iterations, factorizations; // since the start
    long attempts, rejections;       // scheme steps tried, and steps undone by step control
    long cut_steps;                  // steps that were covered by smaller ones
    double first_cut, last_cut;      // s, where the first and the last of them begin
    int finest_cut;                  // most halvings, and where
    double finest_cut_time;          // s
    int turning_halvings;            // of every step from now on, for bodies that have turned fast
    int kept_halvings;               // that steps begin with where those before had to be cut
    int rough_steps, rough_wait;     // steps until one halving less is tried, and how many it was in the beginning
    long handovers;                  // steps that another solver than the one named has settled
    long inexact;                    // steps that step control took at its smallest size, above the tolerance
    bool is_controlled;              // step sizes vary: nstep is not a plan
    size_t memory;                   // bytes taken at set-up
    size_t memory_of_ranks[3];       // number of processes, 0: no MPI; the least and the most that they have taken
    long ncheckpoint;                // written so far
    bool is_resumed;                 // observers open with what a checkpoint holds: files stay as they are
    bool is_interrupted;             // observers close on request, with a checkpoint: what it names stays on the disk
    const char *question;            // about a value that is possible and unlikely; NULL: none
    pcs_ending ending;
    const char *reason;            // why the run stopped, when it did
    const char *kind;              // "statics" or "modes"; NULL: a run
    const pcs_observer *observers; // [nobserver] all of this run, so that one may follow another's options
    int nobserver;
    // The library never prints: the program says where the progress observer shows its text (NULL: nowhere).
    // A text is a whole line with its '\n', or on a terminal a line that starts with '\r' and is rewritten in place.
    void (*show)(void *user, const char *text);
    void *show_user;
    bool is_terminal; // `show` writes to a terminal: progress is a bar; otherwise one line every few seconds
} pcs_view;

// Tells where the state stands.
static inline pcs_instant pcs_view_at(const pcs_view *view)
{
    pcs_instant at = pcs_at(view->state->t, view->state->q, view->state->v);
    if (view->still == NULL) return at;
    at.t = view->still->t;
    at.load_factor = view->still->load_factor;
    at.is_equilibrium = view->still->is_equilibrium;
    return at;
}

// Points of contacts: rows, before those of joints, which have reactions, and points with force laws, behind them.
static inline int pcs_contact_rows(const pcs_system *system)
{
    int count = system->ncompliant;
    for (int c = 0; c < system->ncontact; c++)
        if (system->contacts[c].is_joint) return count + system->contacts[c].first_row;
    return count + system->nrow;
}

// Number of point i of these in a report.
static inline int pcs_contact_row(const pcs_system *system, int i)
{
    int before = pcs_contact_rows(system) - system->ncompliant;
    return i < before ? i : i - before + system->nrow;
}

// Is this contact a joint? Those of a system in closed form stand among its contacts and have no reactions.
static inline bool pcs_is_joint(const pcs_system *system, int contact)
{
    const pcs_contact_info *info = &system->contacts[contact];
    return info->is_joint || (info->nrow > 0 && system->rows[info->first_row].is_bilateral);
}

// Rows of contacts that are no joints.
static inline int pcs_count_points(const pcs_system *system)
{
    int count = 0;
    for (int c = 0; c < system->ncontact; c++) count += pcs_is_joint(system, c) ? 0 : pcs_contact_npoint(system, c);
    return count;
}

// And those of joints.
static inline int pcs_count_conditions(const pcs_system *system)
{
    return pcs_system_nrow(system) + pcs_system_ncompliant(system) - pcs_count_points(system);
}

// Directions of friction of every point of a contact.
static inline int pcs_contact_ntangent(const pcs_system *system, int contact)
{
    const pcs_contact_info *info = &system->contacts[contact];
    if (pcs_rows_are_spread(system)) return info->ntangent;
    return info->nrow > 0 ? system->rows[info->first_row].ntangent : 0;
}

enum { PCS_OBSERVER_PLACE = 64 }; // bytes of a place below the key of an observer

typedef struct pcs_observer_ops {
    const char *name; // also its key under `output`
    const char *summary;
    const pcs_option *options; // ends with a NULL name; NULL: none
    size_t params_size;
    size_t data_size;
    bool is_default;                 // runs also when the case does not name it
    const char *const *cell_options; // options that name sets of cells, ends with NULL; NULL: none
    // NULL when the parameters are sound, else what is wrong; *option names the culprit. NULL: they always are.
    const char *(*check_params)(const void *params, const char **option);
    // Checks the parameters against the model. Returns PCS_BAD_INPUT if they do not fit, with `place` the key and item
    // below the observer's own, as in `of.1`, or empty for all of it. NULL if there is nothing to check.
    pcs_status (*check)(const pcs_observer *self, char place[PCS_OBSERVER_PLACE]);
    // After the start, with the state and the report at t = 0, which is written here. Takes all memory; `view` stays
    // valid, its contents change from step to step. In a run that is resumed nothing is written or removed: `carry`
    // follows.
    pcs_status (*open)(pcs_observer *self);
    // After every accepted step.
    pcs_status (*step)(pcs_observer *self);
    // Once, also after a failure in mid-run or of its own `open`: completes and renames what was written. The state
    // is the last good one; the report may be that of a rejected step and is not read.
    pcs_status (*close)(pcs_observer *self);
    // Between two steps: writes or reads all that it carries on, and of a file the length that counts. What is in a
    // file beyond that is cut off when it is read, and the file goes on there. The same number of bytes whenever it is
    // called. NULL: nothing is carried.
    pcs_status (*carry)(pcs_observer *self, pcs_carrier *c);
} pcs_observer_ops;

struct pcs_observer {
    const pcs_observer_ops *ops;
    pcs_context *ctx;
    const pcs_view *view;
    const void *params;
    void *data;
    bool has_failed; // in some process
    bool is_idle;    // takes no part in this run
};

extern const pcs_observer_ops *const pcs_observers[]; // ends with NULL

// The one of this name, which there must be, with data of its own; it has to be opened.
pcs_status pcs_observer_create(pcs_context *ctx, const char *name, const pcs_view *view, const void *params,
                               pcs_observer *out);

// Components of a reaction: three of the force, then three of the moment.
enum { PCS_REACTION_COMPONENTS = 8 };
extern const char *const pcs_reaction_names[PCS_REACTION_COMPONENTS]; // fx, .., mz, of teeth
bool pcs_reaction_has(const pcs_reaction_info *info, int k);
double pcs_reaction_component(const pcs_reaction *reaction, int k);

#endif
