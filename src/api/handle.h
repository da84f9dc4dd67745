// Defines the handle of the public interface, struct percuss; private to this folder.

#ifndef PCS_API_HANDLE_H
#define PCS_API_HANDLE_H

#include "percuss.h"

#include "analysis/modes.h"
#include "build/build.h"
#include "fe/fe.h"
#include "sim/certify.h"
#include "sim/checkpoint.h"

// Positions and velocities at fixed addresses for readers; those of the run itself change places.
typedef struct api_mirror {
    double *q, *v; // [nq], [nv]
    bool is_read;  // someone has asked for them, so that they are kept up to date
} api_mirror;

struct percuss {
    pcs_context *ctx;           // owner of everything, this handle too
    pcs_sim *sim;               // NULL if the case is wrong, or for an analysis
    pcs_system *system;         // NULL if the case is wrong
    const pcs_dofmap *map;      // NULL for a closed-form system
    pcs_instant still;          // state of a model at rest
    api_mirror *mirror;         // state for readers
    const pcs_row_report *rows; // [nrow] report of the contacts
    const pcs_probe *probes;    // [nprobe]
    int nprobe;
    bool is_stopped;                                         // the simulation cannot continue
    bool is_running;                                         // within a call that makes steps
    bool is_stepping;                                        // within a step: the workspace of the system is in use
    double *applied;                                         // [nv] forces of the caller for the next step
    double *acting;                                          // [nv] those of the last step, part of the state
    double *jump;                                            // [nv] work
    double *acceleration, *force, *internal, *contact_force; // [nv] evaluated on request
    double (*position)[3], (*normal)[3];                     // [nrow] evaluated on request
    int *column_start, *row_of, room;                        // G by columns: [nv + 1], [room]
    double *value_of;                                        // [room]
    int *no_start;                                           // [nv + 1] zeros, for a C that is zero
    pcs_modes modes;
    struct api_watcher *watcher; // watcher of the current run
    const pcs_case *read;        // case of percuss_read, never changed; else NULL
};

// Returns the instant at which the model is evaluated.
static inline pcs_instant pcs_api_at(const percuss *p)
{
    return p->sim == NULL ? p->still : pcs_at(p->sim->state.t, p->sim->state.q, p->sim->state.v);
}

// Copies the changed state to the mirror for readers.
void pcs_api_mirror(percuss *p);

// Returns the answer of the interface to a status; after api_run_answer every fault but a wrong input stops the run.
int pcs_api_answer(pcs_status status);
int pcs_api_run_answer(percuss *p, pcs_status status);
// Returns 2, with a message.
int pcs_api_refuse(percuss *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
