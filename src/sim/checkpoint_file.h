// The head of a checkpoint file; private to the files of checkpoints.

#ifndef PCS_SIM_CHECKPOINT_FILE_H
#define PCS_SIM_CHECKPOINT_FILE_H

#include "sim/checkpoint.h"

#include <stdint.h>

#define PCS_CHECKPOINT_MAGIC "PERCUSS\n"
#define PCS_CHECKPOINT_ORDER 0x0102030405060708ULL
#define PCS_CHECKPOINT_FORMAT 5ULL

// Members of fixed width without gaps.
typedef struct pcs_checkpoint_head {
    char magic[8];
    uint64_t order, format;
    uint64_t input;  // hash of the resolved case and the version
    uint64_t motion; // hash of the case without what the motion from a given state does not depend on, and the version
    uint64_t nrank;
    uint64_t text_size, piece_size; // bytes
    char version[56];
    uint64_t is_done; // 1: the run was at its end
} pcs_checkpoint_head;
_Static_assert(sizeof(pcs_checkpoint_head) == 128, "no gaps");

// A file that is being written beside its name, through a buffer, with the checksum of all bytes so far.
typedef struct pcs_checkpoint_stream {
    pcs_context *ctx;
    int descriptor;
    unsigned char *buffer; // [PCS_CHECKPOINT_BUFFER]
    size_t used;           // of the buffer
    uint64_t sum;
    int error;      // errno of the first write that failed, 0: none
    bool is_second; // there is one of this run already
} pcs_checkpoint_stream;

enum { PCS_CHECKPOINT_BUFFER = 1 << 18 };

// The folder, kept open, tells of everything on its file system that could not be written since; it is closed with the
// context. -1: nothing waits for the disk.
pcs_status pcs_checkpoint_open_folder(pcs_context *ctx, const char *directory, int *folder);
// Waits until all that this machine has written there is on the disk. -1: for nothing.
pcs_status pcs_checkpoint_sync(pcs_context *ctx, int folder);
// A checkpoint beside the one before it.
pcs_status pcs_checkpoint_begin(pcs_checkpoint_stream *s, const char *directory);
void pcs_checkpoint_put(void *stream, const void *bytes, size_t size);
// Completes it unless `status` is a fault, which is passed on. With a folder all that it counts is on the disk before
// it gets its name. The one before it is kept if it is of this run; those of another run are removed now.
pcs_status pcs_checkpoint_end(pcs_checkpoint_stream *s, const char *directory, int folder, pcs_status status);

#endif
