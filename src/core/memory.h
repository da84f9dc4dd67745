// Numbers that last from step to step: plain bytes, without pointers and without padding, so that they can
// be copied, compared and written.

#ifndef PCS_CORE_MEMORY_H
#define PCS_CORE_MEMORY_H

#include <string.h>

typedef struct pcs_memory {
    void *bytes;
    size_t size; // 0: none
    // Doubles that are spread over the ranks, of which the first are those of this rank and the rest copies; NULL: the
    // same on all ranks.
    const int *serial; // their numbers in one process
    int nown, nall;    // of this rank, of all
} pcs_memory;

// Pieces of the same sizes; some may be in both lists.
static inline void pcs_memory_copy(int count, const pcs_memory *from, const pcs_memory *to)
{
    for (int i = 0; i < count; i++)
        if (from[i].size > 0 && from[i].bytes != to[i].bytes) memcpy(to[i].bytes, from[i].bytes, from[i].size);
}

#endif
