#include "core/pool.h"

#include <stdatomic.h>
#include <threads.h>
#include <unistd.h>

struct pcs_pool {
    int nworker; // threads besides the caller
    thrd_t *workers;
    mtx_t lock;
    cnd_t has_work, is_done;
    bool ends;
    long loop;     // number of the current loop
    int nbusy;     // number of workers still in it
    atomic_int at; // next piece of work
    int npiece;
    pcs_pool_work *work;
    void *data;
};

static void pool_take_pieces(pcs_pool *p)
{
    for (int piece = atomic_fetch_add(&p->at, 1); piece < p->npiece; piece = atomic_fetch_add(&p->at, 1))
        p->work(p->data, piece);
}

static int pool_serve(void *data)
{
    pcs_pool *p = data;
    long seen = 0;
    mtx_lock(&p->lock);
    while (true) {
        while (!p->ends && p->loop == seen) cnd_wait(&p->has_work, &p->lock);
        if (p->ends) break;
        seen = p->loop;
        mtx_unlock(&p->lock);
        pool_take_pieces(p);
        mtx_lock(&p->lock);
        if (--p->nbusy == 0) cnd_signal(&p->is_done);
    }
    mtx_unlock(&p->lock);
    return 0;
}

static void pool_end(void *object)
{
    pcs_pool *p = object;
    mtx_lock(&p->lock);
    p->ends = true;
    cnd_broadcast(&p->has_work);
    mtx_unlock(&p->lock);
    for (int i = 0; i < p->nworker; i++) thrd_join(p->workers[i], NULL);
    cnd_destroy(&p->is_done);
    cnd_destroy(&p->has_work);
    mtx_destroy(&p->lock);
}

pcs_status pcs_pool_create(pcs_context *ctx, int nthread, pcs_pool **out)
{
    pcs_pool *p;
    *out = NULL;
    if (nthread < 2) return PCS_OK;
    PCS_TAKE(ctx, p, 1, "threads");
    PCS_TAKE(ctx, p->workers, nthread - 1, "threads");
    if (mtx_init(&p->lock, mtx_plain) != thrd_success) return PCS_OK;
    if (cnd_init(&p->has_work) != thrd_success || cnd_init(&p->is_done) != thrd_success) return PCS_OK;
    // Fewer threads than requested only cost time.
    while (p->nworker < nthread - 1 && thrd_create(&p->workers[p->nworker], pool_serve, p) == thrd_success)
        p->nworker++;
    pcs_status status = pcs_defer(ctx, pool_end, p);
    if (status != PCS_OK) {
        pool_end(p);
        return status;
    }
    *out = p->nworker > 0 ? p : NULL;
    return PCS_OK;
}

void pcs_pool_run(pcs_pool *pool, int npiece, pcs_pool_work *work, void *data)
{
    if (pool == NULL || npiece < 2) {
        for (int i = 0; i < npiece; i++) work(data, i);
        return;
    }
    mtx_lock(&pool->lock);
    pool->work = work;
    pool->data = data;
    pool->npiece = npiece;
    atomic_store(&pool->at, 0);
    pool->nbusy = pool->nworker;
    pool->loop++;
    cnd_broadcast(&pool->has_work);
    mtx_unlock(&pool->lock);
    pool_take_pieces(pool);
    mtx_lock(&pool->lock);
    while (pool->nbusy > 0) cnd_wait(&pool->is_done, &pool->lock);
    mtx_unlock(&pool->lock);
}

// Returns the number of entries of a range, a multiple of eight.
static int pool_range(int n)
{
    int share = (n / PCS_POOL_MOST_RANGES + 8) / 8 * 8;
    return share > PCS_POOL_RANGE ? share : PCS_POOL_RANGE;
}

// Returns the number of ranges for n entries; a remainder shorter than a range is added to the last one.
int pcs_pool_ranges(int n)
{
    int count = n / pool_range(n);
    return count > 1 ? count : 1;
}

typedef struct pool_cover {
    int n, size, count;
    pcs_pool_range_work *work;
    void *data;
} pool_cover;

static void pool_do_range(void *data, int range)
{
    const pool_cover *c = data;
    c->work(c->data, range, range * c->size, range + 1 < c->count ? (range + 1) * c->size : c->n);
}

void pcs_pool_cover(pcs_pool *pool, int n, pcs_pool_range_work *work, void *data)
{
    if (n <= PCS_POOL_RANGE) {
        work(data, 0, 0, n);
        return;
    }
    pool_cover cover = { .n = n, .size = pool_range(n), .count = pcs_pool_ranges(n), .work = work, .data = data };
    pcs_pool_run(pool, cover.count, pool_do_range, &cover);
}

int pcs_pool_share(const pcs_context *ctx)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN),
         part = (processors > 64 ? 64 : processors) / (1 + pcs_around(ctx)->beside);
    return part < 1 ? 1 : (int)part;
}
