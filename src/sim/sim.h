// A simulation: everything built from a case, and the loop that drives it.

#ifndef PCS_SIM_SIM_H
#define PCS_SIM_SIM_H

#include "case/case.h"
#include "output/observer.h"

typedef struct pcs_checkpoint_params {
    int every;      // steps; -1: not said
    double minutes; // of wall time
} pcs_checkpoint_params;

typedef struct pcs_sim {
    pcs_context *ctx; // owned: destroying it destroys the simulation
    pcs_case *input;
    pcs_system *system;
    bool has_own_system; // whose definition came with the case: what its keys mean is its own
    pcs_step_solver *solver;
    pcs_scheme *scheme;
    pcs_state state;
    pcs_step_report report;
    pcs_ledger ledger;
    struct pcs_certifier *certifier;
    struct pcs_control *control; // of the step size; NULL: steps are fixed
    struct pcs_retry *retry;     // of fixed steps that fail; NULL: such a step ends the run
    bool follows_turning;        // a fixed step is cut where bodies turn too fast for it
    double step_size, start_time, end_time;
    long number;             // of the step under way, from 1
    long nstep;              // planned; with step control a bound that is never reached
    bool certify_warns;      // a broken certificate does not end the run
    pcs_reaction *reactions; // [system->nreaction] of the last step; NULL: there are none
    double *middle;          // [nq] of a step, where rows act in the mean; NULL: at its end
    int nprobe;
    pcs_probe *probes;
    int nobserver;
    pcs_observer *observers; // [nobserver]
    pcs_view view;
    pcs_timing timing;
    double certify_begin; // s, clock at the last certificate that was timed
    bool is_timed;        // the step under way is
    int sample;           // one of so many steps is timed; 0: all
    bool has_started;
    bool has_checkpoints; // there are some, of these
    pcs_checkpoint_params checkpoints;
    bool is_stopped;                   // on request, after a step that is whole
    struct pcs_checkpoint *checkpoint; // NULL: none are written
    bool resumes;                      // pcs_sim_run goes on from the checkpoint in its directory, where there is one
    bool overwrites;                   // and it takes a directory with an interrupted run
    const struct pcs_checkpoint_data *from; // whose state this run starts from; NULL: none
    const volatile int *stop_request;       // not 0: pcs_sim_run ends after the present step; may be NULL
    bool ends_for_good;                     // nobody goes on from its end: no checkpoint there
    bool has_files;                         // the run got as far as files of its own in the directory
    bool has_case_file;                     // case.resolved.yaml lies in the directory already, which is locked
} pcs_sim;

// Initial accelerations, an impact at t = 0, the first certificate.
pcs_status pcs_sim_start(pcs_sim *sim);
// One certified step. PCS_FAILED when the simulation cannot go on; the state is then the last good one.
pcs_status pcs_sim_step(pcs_sim *sim);

static inline bool pcs_sim_is_done(const pcs_sim *sim)
{
    return sim->control != NULL ? sim->state.t >= sim->end_time : sim->state.step >= sim->nstep;
}

// Opens the observers, runs to the end, closes them; `directory` is made if need be. With `show_progress`
// the progress observer runs, too.
pcs_status pcs_sim_run(pcs_sim *sim, const char *directory, bool show_progress);

#endif
