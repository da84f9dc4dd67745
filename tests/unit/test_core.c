// Context, arena, deferred actions and messages.

#include "support/check.h"

#include "core/context.h"

static void context_starts_without_a_message(void **unused)
{
    (void)unused;
    pcs_context *ctx = NULL;
    CHECK_OK(NULL, pcs_context_create(&ctx));
    CHECK_TEXT(pcs_message(ctx), "");
    CHECK(pcs_message(ctx)[0] == '\0');
    pcs_context_destroy(&ctx);
    CHECK(ctx == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(context_starts_without_a_message) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
