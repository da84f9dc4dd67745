// A few threads that share a loop over pieces of work.
//
// Who does a piece does not matter to the result, as long as pieces of one loop write to different places: the same
// bits come out with any number of threads. A pool of one thread is NULL, and costs nothing.

#ifndef PCS_CORE_POOL_H
#define PCS_CORE_POOL_H

#include "core/context.h"

typedef struct pcs_pool pcs_pool;
typedef void pcs_pool_work(void *data, int piece);

// Creates a pool of `nthread` threads with the caller; they end with the context. *out is NULL for one thread, or if
// none can be created.
pcs_status pcs_pool_create(pcs_context *ctx, int nthread, pcs_pool **out);
// Calls work(data, 0 .. npiece - 1), in any order, and returns when all is done. One loop at a time.
void pcs_pool_run(pcs_pool *pool, int npiece, pcs_pool_work *work, void *data);

// Returns the pool of a context; NULL for one thread.
static inline pcs_pool *pcs_context_pool(const pcs_context *ctx)
{
    return pcs_around(ctx)->pool;
}

// Loops over n entries go by ranges that depend on n alone, so that sums over ranges, added up in order, are the same
// bits with any number of threads. A range of a few vectors stays in the second cache.
enum { PCS_POOL_RANGE = 16384, PCS_POOL_MOST_RANGES = 64 };
typedef void pcs_pool_range_work(void *data, int range, int low, int high);

int pcs_pool_ranges(int n);
// Calls work(data, range, low, high) for low <= i < high of every range.
void pcs_pool_cover(pcs_pool *pool, int n, pcs_pool_range_work *work, void *data);

// Returns the number of processors for the threads of a context: an equal share beside other simulations.
int pcs_pool_share(const pcs_context *ctx);

#endif
