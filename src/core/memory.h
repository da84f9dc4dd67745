// Numbers that last from step to step: plain bytes, without pointers and without padding, so that they can
// be copied, compared and written.

#ifndef PCS_CORE_MEMORY_H
#define PCS_CORE_MEMORY_H

#include <string.h>

typedef struct pcs_memory {
    void *bytes;
    size_t size; // bytes; 0 if none
    // Distributed doubles: those owned by this process, then ghosts. NULL if all processes have the same.
    const int *serial; // their indices in one process
    int nown, nall;    // number owned by this process, and of all processes
} pcs_memory;

// Copies memory of the same sizes; entries that both lists share are skipped.
static inline void pcs_memory_copy(int count, const pcs_memory *from, const pcs_memory *to)
{
    for (int i = 0; i < count; i++)
        if (from[i].size > 0 && from[i].bytes != to[i].bytes) memcpy(to[i].bytes, from[i].bytes, from[i].size);
}

#endif
