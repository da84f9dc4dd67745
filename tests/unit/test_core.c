// Context, arena, deferred actions and messages.

#include "support/alloc_fault.h"
#include "support/check.h"

#include "core/context.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static void check_zeroed(const void *memory, size_t bytes)
{
    const unsigned char *byte = memory;
    for (size_t i = 0; i < bytes; i++)
        if (byte[i] != 0) fail_msg("byte %zu of %zu is %d", i, bytes, byte[i]);
}

TEST(destroy_accepts_nothing)
{
    pcs_context *ctx = NULL;
    pcs_context_destroy(&ctx);
    pcs_context_destroy(NULL);
    CHECK(ctx == NULL);
    CHECK_TEXT(pcs_message(NULL), "out of memory");
}

// Sizes around the alignment, a quarter chunk and a whole chunk, each filled to show an overlap later.
TEST_WITH_CONTEXT(memory_is_aligned_zeroed_and_apart)
{
    static const size_t sizes[] = { 1, 63, 64, 65, 1000, 16383, 16384, 16385, 65535, 65536, 65537, 1000000, 3 };
    enum { NSIZE = sizeof sizes / sizeof *sizes, ROUNDS = 20 };
    unsigned char *blocks[ROUNDS * NSIZE];
    size_t total = 0;
    for (size_t i = 0; i < ROUNDS * NSIZE; i++) {
        size_t bytes = sizes[i % NSIZE], whole = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        blocks[i] = pcs_take(*state, bytes, 1, "a block");
        assert_non_null(blocks[i]);
        CHECK((uintptr_t)blocks[i] % ALIGNMENT == 0);
        check_zeroed(blocks[i], whole); // its own up to there
        memset(blocks[i], (int)(i % 251) + 1, whole);
        total += bytes;
    }
    CHECK(pcs_bytes_taken(*state) == total);
    for (size_t i = 0; i < ROUNDS * NSIZE; i++)
        for (size_t k = 0; k < (sizes[i % NSIZE] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; k++)
            if (blocks[i][k] != i % 251 + 1) fail_msg("block %zu was written over at byte %zu", i, k);
}

// Small blocks up to the last byte of several chunks: one block too many would write over the heap's own words.
TEST_WITH_CONTEXT(chunks_are_filled_to_their_end)
{
    for (int i = 0; i < 5000; i++) {
        void *block = pcs_take(*state, ALIGNMENT, 1, "a block");
        assert_non_null(block);
        memset(block, 0xff, ALIGNMENT);
        void *behind = malloc(40);
        CHECK(behind != NULL);
        free(behind);
    }
    CHECK(pcs_bytes_taken(*state) == 5000 * ALIGNMENT);
}

TEST_WITH_CONTEXT(impossible_sizes_are_refused)
{
    CHECK(pcs_take(*state, SIZE_MAX, 1, "the moon") == NULL);
    CHECK_TEXT(pcs_message(*state), "out of memory");
    CHECK_TEXT(pcs_message(*state), "the moon");
    // Products that wrap around to a small number.
    CHECK(pcs_take(*state, SIZE_MAX / 8 + 2, 8, "the sun") == NULL);
    CHECK_TEXT(pcs_message(*state), "the sun");
    CHECK(pcs_take(*state, SIZE_MAX / 2, 2, "a star") == NULL);
    CHECK(pcs_scratch(NULL, SIZE_MAX / 8 + 2, 8) == NULL);
    CHECK(pcs_bytes_taken(*state) == 0);
    CHECK(pcs_take(*state, 1, 8, "a little") != NULL);
}

typedef struct closing {
    char *log;
    char letter;
} closing;

static void append_letter(void *object)
{
    closing *c = object;
    size_t n = strlen(c->log);
    c->log[n] = c->letter;
    c->log[n + 1] = '\0';
}

// Objects in the arena must still be readable when their own actions close them.
TEST(deferred_actions_run_newest_first_and_before_memory_goes)
{
    char log[8] = "";
    pcs_context *ctx = NULL;
    CHECK_OK(NULL, pcs_context_create(&ctx));
    for (char letter = 'a'; letter <= 'c'; letter++) {
        closing *inside = pcs_take(ctx, 1, sizeof *inside, "a closing");
        *inside = (closing){ log, letter };
        CHECK_OK(ctx, pcs_defer(ctx, append_letter, inside));
    }
    assert_string_equal(log, "");
    pcs_context_destroy(&ctx);
    assert_string_equal(log, "cba");
}

TEST_WITH_CONTEXT(a_message_is_wrapped_from_outside)
{
    pcs_fail(*state, PCS_FAILED, "singular");
    CHECK(pcs_wrap(*state, PCS_FAILED, "pivot %d", 7) == PCS_FAILED);
    CHECK(pcs_wrap(*state, PCS_IO_ERROR, "factor") == PCS_IO_ERROR);
    assert_string_equal(pcs_message(*state), "factor: pivot 7: singular");
}

// Neither a long message nor a long or repeated wrap may run over the buffer; the outermost words stay.
TEST_WITH_CONTEXT(long_messages_are_cut)
{
    static char text[40000];
    memset(text, 'x', sizeof text - 1);
    pcs_fail(*state, PCS_FAILED, "begin %s", text);
    size_t full = strlen(pcs_message(*state));
    CHECK(full > 1000 && full < sizeof text);
    CHECK(strncmp(pcs_message(*state), "begin xxx", 9) == 0);

    pcs_wrap(*state, PCS_FAILED, "outer");
    CHECK(strlen(pcs_message(*state)) == full);
    CHECK(strncmp(pcs_message(*state), "outer: begin xxx", 16) == 0);

    pcs_wrap(*state, PCS_FAILED, "longest %s", text);
    CHECK(strlen(pcs_message(*state)) == full);
    CHECK(strncmp(pcs_message(*state), "longest xxx", 11) == 0);
    CHECK_TEXT(pcs_message(*state), "x: outer: begin");
    for (int i = 0; i < 1000; i++) pcs_wrap(*state, PCS_FAILED, "layer %d %s", i, text);
    CHECK(strlen(pcs_message(*state)) == full);
    CHECK(strncmp(pcs_message(*state), "layer 999 ", 10) == 0);
}

static int actions_run;

static void count_action(void *object)
{
    (void)object;
    actions_run++;
}

TEST(running_out_of_memory_is_a_fault_with_a_name)
{
    if (!alloc_fault_is_active()) skip();
    long before = alloc_fault_live();
    pcs_context *ctx = NULL;
    alloc_fault_arm(1, false);
    CHECK_STATUS(NULL, pcs_context_create(&ctx), PCS_NO_MEMORY);
    CHECK(ctx == NULL);

    CHECK_OK(NULL, pcs_context_create(&ctx));
    alloc_fault_arm(1, true);
    CHECK(pcs_take(ctx, 100, 8, "the velocities") == NULL);
    CHECK(pcs_take_text(ctx, "word") == NULL);
    CHECK(pcs_scratch(NULL, 10, 8) == NULL);
    CHECK_TEXT(pcs_message(ctx), "out of memory");

    // An action that cannot be kept is done at once, or its object would leak.
    actions_run = 0;
    CHECK_STATUS(ctx, pcs_defer(ctx, count_action, NULL), PCS_NO_MEMORY);
    CHECK(actions_run == 1);

    alloc_fault_arm(0, false);
    pcs_take(ctx, 100, 8, "the velocities");
    pcs_take(ctx, 1 << 20, 8, "the positions");
    pcs_context_destroy(&ctx);
    CHECK(actions_run == 1);
    CHECK(alloc_fault_live() == before);
}
