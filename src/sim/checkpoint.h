// Checkpoints: all that a run needs to continue, in one file written under another name, synced and renamed; the
// one before it is kept.
//
//   head         magic, format, byte order, hashes, sizes, version of the program
//   case         the resolved case as text, so that a refusal can tell what differs
//   pieces       name, size, bytes (core/carry.h): state, ledger, certificate, counts, then every observer
//   checksum     of all before it
//
// A run that is resumed ends as one that was never interrupted, to the last bit.

#ifndef PCS_SIM_CHECKPOINT_H
#define PCS_SIM_CHECKPOINT_H

#include "sim/sim.h"

#include <stdint.h>

// The head of a checkpoint file; private to checkpoint.c and tests.

#define PCS_CHECKPOINT_MAGIC "PERCUSS\n"
#define PCS_CHECKPOINT_ORDER 0x0102030405060708ULL
#define PCS_CHECKPOINT_FORMAT 8ULL

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
pcs_carrier pcs_checkpoint_carrier(const pcs_sim *sim, pcs_carry_way way);
// Creates an archive that reads a checkpoint.
pcs_carrier pcs_checkpoint_reader(const pcs_sim *sim, const pcs_checkpoint_data *data);
// Serializes a simulation that has started, without its observers.
void pcs_checkpoint_carry(pcs_sim *sim, pcs_carrier *c);
// Writes a file from an archive in memory.
pcs_status pcs_checkpoint_save(pcs_sim *sim, const pcs_memory *pieces, const char *path);

pcs_status pcs_checkpoint_hash(pcs_sim *sim, bool of_motion, pcs_checkpoint_case *out);

// Allocates the memory for checkpoints of this run, after the observers are open; nothing if they are switched off.
pcs_status pcs_checkpoint_open(pcs_sim *sim);
// Writes a checkpoint if one is due after an accepted step, at this time of the clock, s.
pcs_status pcs_checkpoint_step(pcs_sim *sim, double now);
// Writes a checkpoint.
pcs_status pcs_checkpoint_write(pcs_sim *sim);

// Removes both checkpoints of a folder, or only the newest.
void pcs_checkpoint_remove(const char *directory, bool only_newest);
// Finds the newest complete checkpoint of a folder, or the file of this path. Takes the older one, with a note, if the
// newest is damaged or `is_older` asks for it. *is_there is false if there is none.
pcs_status pcs_checkpoint_find(pcs_context *ctx, const char *path, bool is_older, pcs_checkpoint_data *out,
                               bool *is_there, char note[512]);
void pcs_checkpoint_free(pcs_checkpoint_data *data);

// Fails with PCS_BAD_INPUT, naming the difference, unless the checkpoint is of the same case and program.
pcs_status pcs_checkpoint_demand_same(pcs_sim *sim, const pcs_checkpoint_data *data);
// Restores a simulation that has started from a checkpoint. The next function restores its open observers.
pcs_status pcs_checkpoint_restore(pcs_sim *sim, const pcs_checkpoint_data *data, pcs_carrier *c);
pcs_status pcs_checkpoint_restore_observers(pcs_sim *sim, pcs_carrier *c);

// Gets the time, s, of a checkpoint from which another run starts.
pcs_status pcs_checkpoint_time(pcs_context *ctx, const pcs_checkpoint_data *data, double *t);
// Sets q, v and t from sim->from, before the start.
pcs_status pcs_checkpoint_start(pcs_sim *sim);
// Reads the velocity at the end of the step, from which energy and momentum are computed, into the history of the state
// and points *v to it, if the schemes of both runs have v at the middle of a step. Else leaves *v.
pcs_status pcs_checkpoint_end_velocity(pcs_sim *sim, const double **v);
// Reads the state after the scheme's start. If both runs have the same model, scheme and step, all of it, with an empty
// report of the start. Else the velocity above, if there is one.
pcs_status pcs_checkpoint_start_state(pcs_sim *sim, const pcs_measure *before);

#endif
