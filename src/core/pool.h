// A few threads that share a loop over pieces of work.
//
// Who does a piece does not matter to the result, as long as pieces of one loop write to different places: the same
// bits come out with any number of threads. A pool of one thread is NULL, and costs nothing.

#ifndef PCS_CORE_POOL_H
#define PCS_CORE_POOL_H

#include "core/context.h"

typedef struct pcs_pool pcs_pool;
typedef void pcs_pool_work(void *data, int piece);

// `nthread` counts the caller; the threads end with the context. *out is NULL for one thread, and where none can be
// had.
pcs_status pcs_pool_create(pcs_context *ctx, int nthread, pcs_pool **out);
// Calls work(data, 0 .. npiece - 1), in any order, and returns when all is done. One loop at a time.
void pcs_pool_run(pcs_pool *pool, int npiece, pcs_pool_work *work, void *data);
// Processors of this machine that are there for us.
int pcs_pool_processors(void);

#endif
