// The reader of JSON: values and texts as they are written, what is wrong with the line, the rest of a large object.

#include "case/json.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char path[] = TESTS_OUTPUT_FOLDER "/test_json.json";

static pcs_status read_text(pcs_context *ctx, const char *text, const char *but, const pcs_yaml **root)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
    return pcs_json_load_but(ctx, path, but, root);
}

TEST_WITH_CONTEXT(values_are_found_by_their_place)
{
    pcs_context *ctx = *state;
    const pcs_yaml *root = NULL;
    CHECK_OK(ctx,
             read_text(ctx,
                       "\t{ \"a\": { \"b\": -1.5e-3, \"c\": [1, {\"d\":true}, [ ], { }] },\r\n"
                       "\"text\": \"x\\\"\\\\\\/\\n\\u00e4\\u20AC\\uD83D\\uDE00 }]\", \"none\" : null, \"\":\"e\" }\n",
                       NULL, &root));
    CHECK(pcs_json_number(root, "a.b") == -1.5e-3);
    CHECK(pcs_json_count(root, "a.c") == 4);
    CHECK(strcmp(pcs_json_string(pcs_yaml_item(pcs_json_at(root, "a.c"), 1), "d"), "true") == 0);
    CHECK(pcs_yaml_count(pcs_yaml_item(pcs_json_at(root, "a.c"), 2)) == 0);
    CHECK(strcmp(pcs_json_string(root, "text"), "x\"\\/\n\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80 }]") == 0);
    CHECK(pcs_json_at(root, "none") == NULL && isnan(pcs_json_number(root, "none")));
    CHECK(pcs_json_at(root, "a.x") == NULL && pcs_json_count(root, "a") == 0);
}

TEST_WITH_CONTEXT(a_large_part_is_passed_over)
{
    pcs_context *ctx = *state;
    const pcs_yaml *root = NULL;
    CHECK_OK(ctx, read_text(ctx, "{ \"a\": { \"points\": [7] }, \"points\": [{\"x\": \"]}\\\"\"}, [2]], \"b\": 3 }",
                            "points", &root));
    CHECK(pcs_json_count(root, "points") == 0 && pcs_json_count(root, "a.points") == 1);
    CHECK(pcs_json_number(root, "b") == 3.0);
    CHECK_STATUS(ctx, read_text(ctx, "{ \"points\": [[1, 2] ", "points", &root), PCS_BAD_INPUT);
}

TEST(what_is_wrong_is_told_with_its_line)
{
    static const char *const texts[][2] = {
        { "", ":1: this is no JSON object" },
        { "[1]", "this is no JSON object" },
        { "{\n\"a\" 1}", ":2: a colon is wanted" },
        { "{\n\n\"a\": }", ":3: a value is missing" },
        { "{a: 1}", "a key in quotes is wanted" },
        { "{\"a\": 1,}", "a key in quotes is wanted" },
        { "{\"a\": [1 2]}", "a comma or the end" },
        { "{\"a\": [1, 2}", "a comma or the end" },
        { "{\"a\": \"x", "a text that does not end" },
        { "{\"a\": \"\\x\"}", "an escape that is none" },
        { "{\"a\": \"\\u12g4\"}", "an escape that is none" },
        { "{\"a\": 1} 2", "text behind the end" },
        { "{\"a\": 1", "a comma or the end" },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pcs_context *ctx = NULL;
        const pcs_yaml *root = NULL;
        CHECK(pcs_context_create(&ctx) == PCS_OK);
        CHECK_STATUS(ctx, read_text(ctx, texts[i][0], NULL, &root), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(ctx), texts[i][1]);
        pcs_context_destroy(&ctx);
    }
    pcs_context *ctx = NULL;
    const pcs_yaml *root = NULL;
    char deep[4096] = "{\"a\": ";
    memset(deep + strlen(deep), '[', 4000);
    CHECK(pcs_context_create(&ctx) == PCS_OK);
    CHECK_STATUS(ctx, read_text(ctx, deep, NULL, &root), PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(ctx), "nested too deeply");
    CHECK_STATUS(ctx, pcs_json_load(ctx, TESTS_OUTPUT_FOLDER "/none.json", &root), PCS_BAD_INPUT);
    pcs_context_destroy(&ctx);
}
