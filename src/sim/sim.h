// A simulation: everything built from a case, and the loop that drives it.

#ifndef PCS_SIM_SIM_H
#define PCS_SIM_SIM_H

#include "case/case.h"
#include "output/observer.h"

typedef struct pcs_checkpoint_params {
    int every;      // steps between checkpoints, -1 if not given
    double minutes; // minutes of wall time between them
} pcs_checkpoint_params;

// Step and mesh that resolve a run, as far as can be predicted (build/bars.h).
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

typedef struct pcs_sim {
    pcs_context *ctx; // owner: destroying it destroys the simulation
    pcs_case *input;
    pcs_system *system;
    bool has_own_system; // the case defines its own system, and with it the meaning of its keys
    pcs_step_solver *solver;
    pcs_scheme *scheme;
    pcs_state state;
    pcs_step_report report;
    pcs_ledger ledger;
    struct pcs_certifier *certifier;
    struct pcs_control *control; // step-size control; NULL for fixed steps
    struct pcs_retry *retry;     // retry of failed fixed steps, NULL if such a step ends the run
    bool follows_turning;        // a fixed step is cut if bodies rotate too fast for it
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

#endif
