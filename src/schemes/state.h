// The state of a run: all that a step needs from the one before. Each part declares what it keeps, which is copied,
// hashed and written here along with the rest:
//
//   scheme       history vectors [nv] and [nrow], and a struct of numbers (pcs_scheme_ops)
//   step solver  the multipliers that it starts from (pcs_step_solver.memory)
//   system       what its rows are about, and what reactions are measured from (pcs_system.memory)
//
// A scheme writes to the state when it accepts a step, never before.

#ifndef PCS_SCHEMES_STATE_H
#define PCS_SCHEMES_STATE_H

#include "core/archive.h"
#include "system/system.h"

enum { PCS_MAX_HISTORY = 4, PCS_MAX_ROW_HISTORY = 2 };
// Steps after its last impulse for which a contact counts as lasting: with fewer the accelerations of a sudden release
// have not decayed (6.2 J out of 0.6 J with none), with 8 no energy is gained.
enum { PCS_RECENT = 8 };

typedef struct pcs_state {
    int nq, nv, nrow;
    double t;                                 // time, s
    long step;                                // number of accepted steps so far
    double next_h;                            // length of the next step tried by step control, s
    double largest_rate;                      // largest rate of all contact gaps in the accepted steps so far, m/s
    double *q;                                // [nq]
    double *v;                                // [nv]
    unsigned char *was_loaded;                // [nrow] the last accepted step transmitted an impulse
    double *recent;                           // [nrow] PCS_RECENT after such a step, then one less after each step
    double *impulse;                          // [nrow] impulse in the last accepted step, N s
    int nhistory, nrow_history;               // number of vectors that the scheme keeps from step to step
    bool v_is_of_middle;                      // v is of the middle of the last step, history[0] of its end
    double *history[PCS_MAX_HISTORY];         // [nv] each
    double *row_history[PCS_MAX_ROW_HISTORY]; // [nrow] each
    void *memory;                             // [memory_size] the scheme's own struct
    size_t memory_size;
    // Memory of other parts: of the step solver after the last accepted step, then of the system. In the state of a run
    // the latter is the memory of the system itself, not a copy.
    int nsolver_memory;
    pcs_memory *solver_memory; // [nsolver_memory]
} pcs_state;

struct pcs_scheme;

// Creates the state of a run with this scheme, all zeros; q and v are kept if they are not NULL.
pcs_status pcs_state_create(const struct pcs_scheme *scheme, pcs_state *x);
// Creates a copy of a state with memory of its own.
pcs_status pcs_state_clone(pcs_context *ctx, const pcs_state *x, pcs_state *out);

// Copies a state to another one of the same model and scheme; they may belong to two simulations.
void pcs_state_copy(const pcs_state *from, pcs_state *to);
unsigned long long pcs_state_hash(const pcs_state *x); // hash of all bits

// Returns a probe at this state. For a whole body the velocity is that of its momentum, at the end of the step.
double pcs_state_probe(const pcs_state *x, const pcs_system *system, const pcs_probe *probe);

// Writes or reads the complete state of a run.
void pcs_state_serialize(pcs_state *x, pcs_archive *c);

// Moves time, directions and mass of the system to the state.
void pcs_state_complete(const struct pcs_scheme *scheme, const pcs_state *x);
// Restores a kept state: copies it to x, and moves the system there.
void pcs_state_restore(const struct pcs_scheme *scheme, const pcs_state *kept, pcs_state *x);

#endif
