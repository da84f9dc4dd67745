// The only calls of the C library's allocator.

#ifndef PCS_CORE_ALLOC_H
#define PCS_CORE_ALLOC_H

#include <stddef.h>

void *pcs_alloc(size_t bytes);
void *pcs_realloc(void *old, size_t bytes);
void pcs_free(void *memory);

#endif
