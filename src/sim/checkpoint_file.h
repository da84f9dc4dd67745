// The head of a checkpoint file; private to the files of checkpoints.

#ifndef PCS_SIM_CHECKPOINT_FILE_H
#define PCS_SIM_CHECKPOINT_FILE_H

#include "sim/checkpoint.h"

#include <stdint.h>

#define PCS_CHECKPOINT_MAGIC "PERCUSS\n"
#define PCS_CHECKPOINT_ORDER 0x0102030405060708ULL
#define PCS_CHECKPOINT_FORMAT 2ULL

// Members of fixed width without gaps.
typedef struct pcs_checkpoint_head {
    char magic[8];
    uint64_t order, format;
    uint64_t input;  // hash of the resolved case and the version
    uint64_t motion; // hash of the case without what the motion from a given state does not depend on, and the version
    uint64_t nrank;
    uint64_t text_size, piece_size; // bytes
    char version[64];
} pcs_checkpoint_head;
_Static_assert(sizeof(pcs_checkpoint_head) == 128, "no gaps");

#endif
