// Memory for OpenBLAS, which asks the system for its buffers again and again without end if there is none.

#ifndef PCS_CORE_BLAS_H
#define PCS_CORE_BLAS_H

#include "core/context.h"

// Bytes of address space for one buffer: 32 MB on 64-bit ARM, 128 MB on x86-64, with its surroundings.
#define PCS_BLAS_BUFFER ((size_t)160 << 20)

// Returns true if the address space has room for one buffer.
bool pcs_blas_has_room(void);
// Lets OpenBLAS allocate and keep the buffer of this thread. PCS_NO_MEMORY if there is no room. For other libraries:
// none.
pcs_status pcs_blas_reserve(pcs_context *ctx);

#endif
