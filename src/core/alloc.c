#include "core/alloc.h"

#include <stdlib.h>

void *pcs_alloc(size_t bytes)
{
    return malloc(bytes);
}

void *pcs_realloc(void *old, size_t bytes)
{
    return realloc(old, bytes);
}

void pcs_free(void *memory)
{
    free(memory);
}
