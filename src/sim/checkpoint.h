// Checkpoints: all that a run needs to go on, in one file that is written aside, synced and renamed; the one before it
// is kept.
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

extern const pcs_option pcs_checkpoint_options[];

// A checkpoint that was read, whole and sound.
typedef struct pcs_checkpoint_data {
    char path[4200];
    unsigned char *bytes; // scratch
    size_t size;
    unsigned long long input;  // hash of the case and the files it names
    unsigned long long motion; // hash of what the motion from its state depends on
    const char *version;       // of the program that has
    bool is_done;              // its run was at its end
    const char *text;          // [text_size] the resolved case
    size_t text_size;
    unsigned char *pieces; // [piece_size]
    size_t piece_size;
} pcs_checkpoint_data;

// For all of a simulation, without bytes yet.
pcs_carrier pcs_checkpoint_carrier(const pcs_sim *sim, pcs_carry_way way);
// For what a checkpoint holds.
pcs_status pcs_checkpoint_begin_reading(pcs_sim *sim, const pcs_checkpoint_data *data, pcs_carrier *c);
// Writes or reads all of a simulation that has started but its observers.
void pcs_checkpoint_carry(pcs_sim *sim, pcs_carrier *c);
// Makes a file of pieces that were written.
pcs_status pcs_checkpoint_save(pcs_sim *sim, const pcs_memory *pieces, const char *path);

// Computes the hash of the resolved case, the files that it names and the version of the program.
pcs_status pcs_checkpoint_hash(pcs_sim *sim, unsigned long long *hash);

// Takes the memory of checkpoints of this run; after the observers are open. Nothing where they are switched off.
pcs_status pcs_checkpoint_open(pcs_sim *sim);
// After an accepted step, at this time of the clock: writes one when it is due.
pcs_status pcs_checkpoint_step(pcs_sim *sim, double now);
// Writes one.
pcs_status pcs_checkpoint_write(pcs_sim *sim);

// Removes both of a folder, or only the newest.
void pcs_checkpoint_remove(const char *directory, bool only_newest);
// The newest whole checkpoint of a folder, or of this path where it is a file; the older one, with a note, when the
// newest is damaged, or when `is_older` asks for it. *is_there is false when there is none.
pcs_status pcs_checkpoint_find(pcs_context *ctx, const char *path, bool is_older, pcs_checkpoint_data *out,
                               bool *is_there, char note[512]);
void pcs_checkpoint_free(pcs_checkpoint_data *data);

// PCS_BAD_INPUT, with what differs, when it is not one of this very case and program.
pcs_status pcs_checkpoint_demand_same(pcs_sim *sim, const pcs_checkpoint_data *data);
// The simulation, which has started, goes to it; then its observers, which are open.
pcs_status pcs_checkpoint_restore(pcs_sim *sim, const pcs_checkpoint_data *data, pcs_carrier *c);
pcs_status pcs_checkpoint_restore_observers(pcs_sim *sim, pcs_carrier *c);

// Another run starts from it. The time where it stands:
pcs_status pcs_checkpoint_time(pcs_context *ctx, const pcs_checkpoint_data *data, double *t);
// Before the start: q, v and t of sim->from.
pcs_status pcs_checkpoint_start(pcs_sim *sim);
// Reads the velocity at the end of the step, which energy and momentum are computed from, into the history of the state
// and points *v to it, if the schemes of both runs have v in the middle of a step; else leaves *v.
pcs_status pcs_checkpoint_end_velocity(pcs_sim *sim, const double **v);
// After the scheme's start: all of its state, where both runs have the same model, scheme and step; then nothing
// happens at the start. Else that velocity, where there is one.
pcs_status pcs_checkpoint_start_state(pcs_sim *sim, const pcs_measure *before);

// Writes a complete checkpoint to this file (checkpoint_file.c).
pcs_status pcs_checkpoint_put_file(pcs_context *ctx, const char *path, const pcs_memory *all);

#endif
