// Work beside the caller: it is done once and in order, its status is told once, and it is done before the end.

#include "core/aside.h"

#include "support/check.h"

#include <threads.h>
#include <time.h>

typedef struct task {
    int number, *order, *count;
    pcs_status status;
    long pause; // ns
} task;

static pcs_status carry_out(void *object)
{
    task *t = object;
    thrd_sleep(&(struct timespec){ .tv_nsec = t->pause }, NULL);
    t->order[(*t->count)++] = t->number;
    return t->status;
}

TEST(work_is_done_once_and_in_order)
{
    enum { TASKS = 200 };
    pcs_context *ctx = NULL;
    pcs_aside *aside = NULL;
    int order[TASKS], count = 0;
    task t = { .order = order, .count = &count };
    assert_int_equal(pcs_context_create(&ctx), PCS_OK);
    CHECK_OK(ctx, pcs_aside_create(ctx, &aside));
    CHECK(aside != NULL);
    CHECK(pcs_aside_wait(aside) == PCS_OK);
    for (int i = 0; i < TASKS; i++) {
        t.number = i;
        t.pause = i % 3 == 0 ? 100000 : 0;
        pcs_aside_start(aside, carry_out, &t);
        CHECK(pcs_aside_wait(aside) == PCS_OK);
        CHECK(count == i + 1);
        CHECK(order[i] == i);
    }
    pcs_context_destroy(&ctx);
}

TEST(a_failure_is_told_once)
{
    pcs_context *ctx = NULL;
    pcs_aside *aside = NULL;
    int order[2], count = 0;
    task t = { .order = order, .count = &count, .status = PCS_IO_ERROR };
    assert_int_equal(pcs_context_create(&ctx), PCS_OK);
    CHECK_OK(ctx, pcs_aside_create(ctx, &aside));
    CHECK(!pcs_aside_has_failed(aside));
    pcs_aside_start(aside, carry_out, &t);
    while (!pcs_aside_has_failed(aside)) thrd_yield();
    CHECK(pcs_aside_wait(aside) == PCS_IO_ERROR);
    CHECK(!pcs_aside_has_failed(aside));
    CHECK(pcs_aside_wait(aside) == PCS_OK);
    CHECK(pcs_aside_wait(NULL) == PCS_OK);
    CHECK(!pcs_aside_has_failed(NULL));
    pcs_context_destroy(&ctx);
}

TEST(the_end_waits_for_it)
{
    pcs_context *ctx = NULL;
    pcs_aside *aside = NULL;
    int order[1], count = 0;
    task t = { .order = order, .count = &count, .pause = 20000000 };
    assert_int_equal(pcs_context_create(&ctx), PCS_OK);
    CHECK_OK(ctx, pcs_aside_create(ctx, &aside));
    pcs_aside_start(aside, carry_out, &t);
    pcs_context_destroy(&ctx);
    CHECK(count == 1);
}
