#define _GNU_SOURCE // RTLD_DEFAULT, MAP_ANONYMOUS

#include "core/blas.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

typedef void *blas_take(int procedure);
typedef void blas_give(void *buffer);

bool pcs_blas_has_room(void)
{
    void *room = mmap(NULL, PCS_BLAS_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, PCS_BLAS_BUFFER) == 0;
}

pcs_status pcs_blas_reserve(pcs_context *ctx)
{
    void *symbols[] = { dlsym(RTLD_DEFAULT, "blas_memory_alloc"), dlsym(RTLD_DEFAULT, "blas_memory_free") };
    blas_take *take;
    blas_give *give;
    memcpy(&take, &symbols[0], sizeof take);
    memcpy(&give, &symbols[1], sizeof give);
    if (take == NULL || give == NULL) return PCS_OK;
    if (!pcs_blas_has_room())
        return pcs_fail(ctx, PCS_NO_MEMORY, "out of memory: OpenBLAS needs %zu MB of address space (ulimit -v)",
                        PCS_BLAS_BUFFER >> 20);
    give(take(0));
    return PCS_OK;
}
