// A simulation: everything built from a case, and the loop that drives it.

#ifndef PCS_SIM_SIM_H
#define PCS_SIM_SIM_H

#include "case/case.h"
#include "output/observer.h"

typedef struct pcs_sim {
    pcs_context *ctx; // owned: destroying it destroys the simulation
    pcs_case *input;
    pcs_system *system;
    pcs_step_solver *solver;
    pcs_scheme *scheme;
    pcs_state state;
    pcs_step_report report;
    pcs_ledger ledger;
    struct pcs_certifier *certifier;
    struct pcs_control *control; // of the step size; NULL: steps are fixed
    struct pcs_retry *retry;     // of fixed steps that fail; NULL: such a step ends the run
    double step_size, end_time;
    long number;             // of the step under way, from 1
    long nstep;              // planned; with step control a bound that is never reached
    bool certify_warns;      // a broken certificate does not end the run
    pcs_reaction *reactions; // [system->nreaction] of the last step; NULL: there are none
    int nprobe;
    pcs_probe *probes;
    int nobserver;
    pcs_observer *observers; // [nobserver]
    pcs_view view;
    pcs_timing timing;
    double certify_begin; // s, clock at the last certificate
    bool has_started;
    const volatile int *stop_request; // not 0: pcs_sim_run ends after the present step; may be NULL
    bool has_case_file;               // case.resolved.yaml lies in the directory already, which is locked
} pcs_sim;

// Initial accelerations, an impact at t = 0, the first certificate.
pcs_status pcs_sim_start(pcs_sim *sim);
// One certified step. PCS_FAILED when the simulation cannot go on; the state is then the last good one.
pcs_status pcs_sim_step(pcs_sim *sim);

bool pcs_sim_is_done(const pcs_sim *sim);

// Opens the observers, runs to the end, closes them; `directory` is made if need be. With `show_progress`
// the progress observer runs, too.
pcs_status pcs_sim_run(pcs_sim *sim, const char *directory, bool show_progress);

#endif
