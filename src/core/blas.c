#define _GNU_SOURCE // MAP_ANONYMOUS

#include "core/blas.h"

#include <sys/mman.h>

// OpenBLAS has these functions, other libraries lack them.
extern void *blas_memory_alloc(int procedure) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

bool pcs_blas_has_room(void)
{
    void *room = mmap(NULL, PCS_BLAS_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, PCS_BLAS_BUFFER) == 0;
}

pcs_status pcs_blas_reserve(pcs_context *ctx)
{
    if (blas_memory_alloc == NULL || blas_memory_free == NULL) return PCS_OK;
    if (!pcs_blas_has_room())
        return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: OpenBLAS needs %zu MB of address space (ulimit -v)",
                        PCS_BLAS_BUFFER >> 20);
    blas_memory_free(blas_memory_alloc(0));
    return PCS_OK;
}
