// A simulation: everything built from a case, and the loop that drives it.

#ifndef PCS_SIM_SIM_H
#define PCS_SIM_SIM_H

#include "case/case.h"
#include "output/observer.h"

#include <stdint.h>

typedef struct pcs_checkpoint_params {
    int every;      // steps between checkpoints, -1 if not given
    double minutes; // minutes of wall time between them
} pcs_checkpoint_params;

// Step and mesh that resolve a run, as far as can be predicted (build/bars.c).
typedef struct pcs_foresight {
    double step;      // s; INFINITY if unknown
    char reason[160]; // empty without a step
    double travel;    // s, of a wave through a cell of rods; INFINITY if unknown
    double press;     // s, shortest contact of bars with a force law; INFINITY if none
} pcs_foresight;

// Random velocities that are added to those of the start.
typedef struct pcs_perturbation {
    double energy; // J, kinetic; 0 for none
    int seed;
} pcs_perturbation;

enum { PCS_ORDER_0, PCS_ORDER_1, PCS_ORDER_2, PCS_ORDER_VARIABLE };

typedef struct pcs_control_params {
    double steps;             // in the time T; 0 for step doubling
    double tolerance;         // error of positions per step, in units of the system's size
    int order;                // order of the estimate
    double penetration;       // most penetration added by a step, in units of the system's size; `tolerance` if NAN
    double smallest, largest; // step, s; if NAN 1e-7 (or 1e-3 of the tolerance) and a tenth of the run
    double stable;            // s, limit of an explicit scheme; INFINITY if none. Not an option
} pcs_control_params;

typedef struct pcs_sim {
    pcs_context *ctx; // owner: destroying it destroys the simulation
    pcs_case *input;
    pcs_system *system;
    bool has_own_system; // the case defines its own system, and with it the meaning of its keys
    pcs_step_solver *solver;
    pcs_scheme *scheme;
    pcs_state state;
    pcs_state before; // start of the last step, where it may be undone or the certificate needs it
    pcs_step_report report;
    pcs_ledger ledger;
    struct pcs_certifier *certifier;
    struct pcs_control *control; // step-size control; NULL for fixed steps
    struct pcs_retry *retry;     // fixed steps, and how those that fail are cut; NULL with step-size control
    bool follows_rotation;       // a fixed step is cut if bodies rotate too fast for it
    bool follows_contacts;       // step control takes smaller steps while contacts with force laws are closed
    double step_size, start_time, end_time;
    pcs_foresight foreseen;        // no reason if not computed
    long number;                   // number of the current step, from 1
    long nstep;                    // planned number; with step control a bound that is never reached
    bool certify_warns;            // a broken certificate does not end the run
    pcs_reaction *reactions;       // [system->nreaction] of the last step, NULL if there are none
    double *middle;                // [nq] middle of a step, if rows act there; NULL if at its end
    pcs_perturbation perturbation; // at the start
    // Comparison with neighbours (horizon.h), after every step and at the end. NULL if none was requested.
    struct pcs_horizon_run *horizon;
    void (*keep_sample)(struct pcs_sim *sim), (*find_horizon)(struct pcs_sim *sim);
    int nprobe;
    pcs_probe *probes;
    int nobserver;
    pcs_observer *observers; // [nobserver]
    pcs_view view;
    pcs_timing timing;
    double certify_begin; // s, clock at the last certificate that was timed
    bool is_timed;        // the current step is timed
    int sample;           // one of this many steps is timed
    bool has_started;
    bool has_checkpoints; // checkpoints are written, with the options below
    pcs_checkpoint_params checkpoints;
    bool is_stopped;                   // requested: stops after a complete step
    struct pcs_checkpoint *checkpoint; // NULL if none are written
    bool resumes;                      // pcs_sim_run continues from the checkpoint in its directory, if there is one
    bool overwrites;                   // pcs_sim_run may overwrite a directory with an interrupted run
    const struct pcs_checkpoint_data *from; // state from which this run starts, NULL if none
    const volatile int *stop_request;       // nonzero if pcs_sim_run shall end after the current step; may be NULL
    bool ends_for_good;                     // the run will not be resumed: no checkpoint at its end
    bool has_files;                         // the run has opened files of its own in the directory
    bool has_case_file;                     // case.resolved.yaml is in the directory already, which is locked
} pcs_sim;

extern const pcs_option pcs_control_options[], pcs_control_contact_options[];

pcs_status pcs_control_create(pcs_sim *sim, const pcs_control_params *params, struct pcs_control **out);
// Creates fixed steps. A step that fails is cut by up to so many halvings, unless the scheme needs equal steps.
pcs_status pcs_retry_create(pcs_sim *sim, int depth, struct pcs_retry **out);

// Computes initial accelerations, an impact at t = 0 and the first certificate.
pcs_status pcs_sim_start(pcs_sim *sim);
// Makes one certified step. Fails with PCS_FAILED if the run cannot continue, with the last good state.
pcs_status pcs_sim_step(pcs_sim *sim);

static inline bool pcs_sim_is_done(const pcs_sim *sim)
{
    return sim->control != NULL ? sim->state.t >= sim->end_time : sim->state.step >= sim->nstep;
}

// Opens the observers, runs to the end, closes them. Creates `directory` if necessary. With `show_progress` the
// progress observer runs, too.
pcs_status pcs_sim_run(pcs_sim *sim, const char *directory, bool show_progress);

// Checkpoints: all that a run needs to continue, in one file written under another name, synced and renamed; the
// one before it is kept.
//
//   head         magic, format, byte order, hashes, sizes, version of the program
//   case         the resolved case as text, so that a refusal can name what differs
//   pieces       name, size, bytes (core/archive.h): state, ledger, certificate, counts, then every observer
//   checksum     of all before it
//
// A run that is resumed ends as one that was never interrupted, to the last bit.

// The head of a checkpoint file; private to sim.c and tests.

#define PCS_CHECKPOINT_MAGIC "PERCUSS\n"
#define PCS_CHECKPOINT_ORDER 0x0102030405060708ULL
#define PCS_CHECKPOINT_FORMAT 12ULL

// Members have fixed width, without gaps.
typedef struct pcs_checkpoint_head {
    char magic[8];
    uint64_t order, format;
    uint64_t input;  // hash of the resolved case and the version
    uint64_t motion; // hash of the version and of the case without keys that do not affect the motion
    uint64_t nrank;
    uint64_t text_size, piece_size; // bytes
    char version[56];
    uint64_t is_done; // 1 if the run was at its end
} pcs_checkpoint_head;
_Static_assert(sizeof(pcs_checkpoint_head) == 128, "no gaps");

// The resolved case, without keys that do not affect the motion if `motion` is asked for, and its hash with the version
// of the program and the files that it names.
typedef struct pcs_checkpoint_case {
    const char *text; // [size]
    size_t size;
    unsigned long long hash;
} pcs_checkpoint_case;

extern const pcs_option pcs_checkpoint_options[];

// A checkpoint that was read, complete and undamaged.
typedef struct pcs_checkpoint_data {
    char path[4200];
    unsigned char *bytes; // scratch
    size_t size;
    const pcs_checkpoint_head *head;
    const char *text;      // the resolved case
    unsigned char *pieces; // [piece_size]
    size_t piece_size;
} pcs_checkpoint_data;

// Creates an archive for a complete simulation, without bytes yet.
pcs_archive pcs_checkpoint_archive(const pcs_sim *sim, pcs_archive_mode mode);
// Creates an archive that reads a checkpoint.
pcs_archive pcs_checkpoint_reader(const pcs_sim *sim, const pcs_checkpoint_data *data);
// Serializes a simulation that has started, without its observers.
void pcs_checkpoint_serialize(pcs_sim *sim, pcs_archive *c);
// Writes a file from an archive in memory.
pcs_status pcs_checkpoint_save(pcs_sim *sim, const pcs_memory *pieces, const char *path);

// Finds the newest complete checkpoint of a folder, or the file of this path. Takes the older one, with a note, if the
// newest is damaged or `is_older` asks for it. *is_there is false if there is none.
pcs_status pcs_checkpoint_find(pcs_context *ctx, const char *path, bool is_older, pcs_checkpoint_data *out,
                               bool *is_there, char note[512]);
void pcs_checkpoint_free(pcs_checkpoint_data *data);

// Fails with PCS_BAD_INPUT, naming the difference, unless the checkpoint is of the same case and program.
pcs_status pcs_checkpoint_demand_same(pcs_sim *sim, const pcs_checkpoint_data *data);
// Restores a simulation that has started from a checkpoint. The next function restores its open observers.
pcs_status pcs_checkpoint_restore(pcs_sim *sim, const pcs_checkpoint_data *data, pcs_archive *c);

// Gets the time, s, of a checkpoint from which another run starts.
pcs_status pcs_checkpoint_time(pcs_context *ctx, const pcs_checkpoint_data *data, double *t);
// Sets q, v and t from sim->from, before the start.
pcs_status pcs_checkpoint_start(pcs_sim *sim);

#endif
