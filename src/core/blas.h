// Room for OpenBLAS, which asks the system for its buffers again and again, for ever, where there is none.

#ifndef PCS_CORE_BLAS_H
#define PCS_CORE_BLAS_H

#include "core/context.h"

// Bytes of address space for one buffer: 32 MB on 64-bit ARM, 128 MB on x86-64, and what surrounds it.
#define PCS_BLAS_BUFFER ((size_t)160 << 20)

// Returns true if the address space has space for one buffer.
bool pcs_blas_has_room(void);
// Lets OpenBLAS allocate the buffer of this thread, which it keeps; PCS_NO_MEMORY if there is no space for it. Other
// libraries need none.
pcs_status pcs_blas_reserve(pcs_context *ctx);

#endif
