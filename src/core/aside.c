#include "core/aside.h"

#include <threads.h>

struct pcs_aside {
    thrd_t thread;
    mtx_t lock;
    cnd_t has_changed;
    bool ends, is_busy;
    pcs_aside_work *work;
    void *data;
    pcs_status status; // of the last work, until a caller has waited for it
};

static int aside_serve(void *object)
{
    pcs_aside *a = object;
    mtx_lock(&a->lock);
    while (!a->ends) {
        if (!a->is_busy) {
            cnd_wait(&a->has_changed, &a->lock);
            continue;
        }
        mtx_unlock(&a->lock);
        pcs_status status = a->work(a->data);
        mtx_lock(&a->lock);
        a->status = status;
        a->is_busy = false;
        cnd_broadcast(&a->has_changed);
    }
    mtx_unlock(&a->lock);
    return 0;
}

static void aside_end(void *object)
{
    pcs_aside *a = object;
    mtx_lock(&a->lock);
    while (a->is_busy) cnd_wait(&a->has_changed, &a->lock);
    a->ends = true;
    cnd_broadcast(&a->has_changed);
    mtx_unlock(&a->lock);
    thrd_join(a->thread, NULL);
    cnd_destroy(&a->has_changed);
    mtx_destroy(&a->lock);
}

pcs_status pcs_aside_create(pcs_context *ctx, pcs_aside **out)
{
    pcs_aside *a;
    *out = NULL;
    PCS_TAKE(ctx, a, 1, "a thread");
    if (mtx_init(&a->lock, mtx_plain) != thrd_success) return PCS_OK;
    bool is_there = cnd_init(&a->has_changed) == thrd_success;
    if (is_there) is_there = thrd_create(&a->thread, aside_serve, a) == thrd_success;
    if (!is_there) return PCS_OK;
    PCS_TRY(pcs_defer(ctx, aside_end, a)); // which ends it at once on failure
    *out = a;
    return PCS_OK;
}

void pcs_aside_start(pcs_aside *aside, pcs_aside_work *work, void *data)
{
    mtx_lock(&aside->lock);
    aside->work = work;
    aside->data = data;
    aside->is_busy = true;
    cnd_broadcast(&aside->has_changed);
    mtx_unlock(&aside->lock);
}

pcs_status pcs_aside_wait(pcs_aside *aside)
{
    if (aside == NULL) return PCS_OK;
    mtx_lock(&aside->lock);
    while (aside->is_busy) cnd_wait(&aside->has_changed, &aside->lock);
    pcs_status status = aside->status;
    aside->status = PCS_OK;
    mtx_unlock(&aside->lock);
    return status;
}

bool pcs_aside_has_failed(pcs_aside *aside)
{
    if (aside == NULL) return false;
    mtx_lock(&aside->lock);
    bool has_failed = !aside->is_busy && aside->status != PCS_OK;
    mtx_unlock(&aside->lock);
    return has_failed;
}
