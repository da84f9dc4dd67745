// Defines the handle of the public interface, struct percuss; private to this folder.

#ifndef PCS_API_HANDLE_H
#define PCS_API_HANDLE_H

#include "percuss.h"

#include "analysis/modes.h"
#include "build/build.h"
#include "fe/fe.h"
#include "sim/certify.h"
#include "sim/checkpoint.h"

// Positions and velocities where readers find them in every step; those of the run itself change places.
typedef struct api_mirror {
    double *q, *v; // [nq], [nv]
    bool is_read;  // someone has asked for them: they are kept up to date
} api_mirror;

struct percuss {
    pcs_context *ctx;           // owns everything, this handle too
    pcs_sim *sim;               // NULL: the case is wrong, or nothing moves
    pcs_system *system;         // NULL: the case is wrong
    const pcs_dofmap *map;      // NULL: a system in closed form
    pcs_instant still;          // where a model that does not move stands
    api_mirror *mirror;         // the state for readers
    const pcs_row_report *rows; // [nrow] what contacts do
    const pcs_probe *probes;    // [nprobe]
    int nprobe;
    bool is_stopped;                                         // the simulation cannot go on
    bool is_running;                                         // within a call that makes steps
    bool is_stepping;                                        // and within a step: the workspace of the system is in use
    double *applied;                                         // [nv] forces of the caller for the next step
    double *acting;                                          // [nv] those of the last step, which the state carries
    double *jump;                                            // [nv] work
    struct pcs_force_change *change;                         // takes jumps of forces into the state
    double *acceleration, *force, *internal, *contact_force; // [nv] evaluated when asked for
    double (*position)[3], (*normal)[3];                     // [nrow] likewise
    int *column_start, *row_of, room;                        // of G by columns: [nv + 1], [room]
    double *value_of;                                        // [room]
    int *no_start;                                           // [nv + 1] zeros, of a C that is zero
    pcs_modes modes;
    struct api_watcher *watcher; // of the run under way
    const pcs_case *read;        // of percuss_read, never touched; else NULL
};

// Fills what the handle shows of a simulation that was built.
pcs_status pcs_api_take_sim(percuss *p);

// Tells where the model stands.
static inline pcs_instant pcs_api_at(const percuss *p)
{
    return p->sim == NULL ? p->still : pcs_at(p->sim->state.t, p->sim->state.q, p->sim->state.v);
}

// The state has changed: readers are to see it.
void pcs_api_mirror(percuss *p);

// The answer of the interface to a status; api_run_answer is for steps: every fault but a wrong input stops the run.
int pcs_api_answer(pcs_status status);
int pcs_api_run_answer(percuss *p, pcs_status status);
// 2 with a message.
int pcs_api_refuse(percuss *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Is there a model whose workspace may be used now?
bool pcs_api_may_evaluate(const percuss *p);
// Takes the model of a simulation or an analysis as that of the handle.
void pcs_api_take_model(percuss *p, pcs_system *system, int nprobe, const pcs_probe *probes);
// An empty handle; NULL when there is no memory.
percuss *pcs_api_create(void);
pcs_source pcs_api_source(const percuss_source *source);
// Before a step: the state takes in what the caller applies. After it: nothing is applied any more.
void pcs_api_note_applied(percuss *p);
void pcs_api_clear_applied(percuss *p);
// Writes or reads what drives it: forces of the last step, factors of loads, friction. Read, nothing is applied.
void pcs_api_carry_drive(percuss *p, pcs_carrier *c);
// Directions of the rows at the present state.
void pcs_api_aim(percuss *p);

#endif
