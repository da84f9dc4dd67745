// Observers take all memory when they open: nothing afterwards, and a clean answer when there is none.

#include "test_output_fake.h"

// This program counts its own allocations.
#include "support/alloc_fault.c"

// The parameters of an observer with a row or frame for every step, as the case reader would leave them.
static const void *params_of(const pcs_observer_ops *ops)
{
    static union {
        double align;
        char bytes[256];
    } room;
    static const char *const fields[] = { "stress" }, *const bodies[] = { "chain" };
    const pcs_names names[] = { { .nrow = 1, .count = 1, .text = fields }, { .nrow = 1, .count = 1, .text = bodies } };
    const int each = 1;
    const double none = NAN;
    const bool is_on = true;
    CHECK(ops->params_size <= sizeof room);
    for (const pcs_option *o = ops->options; o != NULL && o->name != NULL; o++) {
        char *to = room.bytes + o->offset;
        if (o->kind == PCS_OPTION_COUNT) memcpy(to, &each, sizeof each);
        else if (o->kind == PCS_OPTION_REAL) memcpy(to, &none, sizeof none);
        else if (o->kind == PCS_OPTION_FLAG) memcpy(to, &is_on, sizeof is_on);
        else if (o->kind == PCS_OPTION_NAMES) memcpy(to, &names[strcmp(o->name, "body") == 0], sizeof *names);
        else if (o->kind == PCS_OPTION_LIST) memset(to, 0, sizeof(pcs_list));
        else if (o->kind == PCS_OPTION_CHOICE) memset(to, 0, sizeof(int));
        else fail_msg("%s.%s is of a kind that this test does not fill", ops->name, o->name);
    }
    return &room;
}

TEST(nothing_is_allocated_after_open)
{
    if (!alloc_fault_is_active()) skip();
    for (const pcs_observer_ops *const *ops = pcs_observers; *ops != NULL; ops++) {
        fake_run r;
        fake_create(&r, "allocation", *ops, params_of(*ops));
        fake_open(&r);
        alloc_fault_arm(0, false);
        for (long step = 1; step <= 300; step++) {
            fake_move(&r, step);
            CHECK((*ops)->step(&r.observer) == PCS_OK);
        }
        CHECK((*ops)->close(&r.observer) == PCS_OK);
        long count = alloc_fault_requests();
        if (count != 0) fail_msg("%s allocates %ld times after open", (*ops)->name, count);
        pcs_context_destroy(&r.ctx);
    }
}

// The n-th allocation fails, for every n: open says so, step and close stay calm.
TEST(running_out_of_memory_is_a_clean_fault)
{
    if (!alloc_fault_is_active()) skip();
    for (const pcs_observer_ops *const *ops = pcs_observers; *ops != NULL; ops++) {
        long before = alloc_fault_live();
        for (long nth = 1; nth < 100; nth++) {
            fake_run r;
            fake_create(&r, "allocation", *ops, params_of(*ops));
            char *hog = pcs_take(r.ctx, 1 << 20, 1, "all that is left"); // so that the next one must ask again
            CHECK(hog != NULL);
            alloc_fault_arm(nth, true);
            pcs_status status = (*ops)->open(&r.observer);
            bool has_failed = alloc_fault_requests() >= nth;
            alloc_fault_arm(0, false);
            CHECK_STATUS(r.ctx, status, has_failed ? PCS_NO_MEMORY : PCS_OK);
            if (has_failed) CHECK_TEXT(pcs_message(r.ctx), "out of memory");
            fake_move(&r, 1);
            if (!has_failed) CHECK_OK(r.ctx, (*ops)->step(&r.observer));
            CHECK_OK(r.ctx, (*ops)->close(&r.observer));
            pcs_context_destroy(&r.ctx);
            if (!has_failed) break;
        }
        CHECK(alloc_fault_live() == before);
    }
}
