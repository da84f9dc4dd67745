// Numbers that someone carries from step to step: plain bytes, without pointers and without padding, so that they can be
// copied, compared and written.

#ifndef PCS_CORE_MEMORY_H
#define PCS_CORE_MEMORY_H

#include <stddef.h>

typedef struct pcs_memory {
    void *bytes;
    size_t size;
} pcs_memory;

#endif
