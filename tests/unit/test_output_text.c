// Numbers, JSON strings and CSV fields as they stand in result files.

#include "support/check.h"

#include "core/text.h"
#include "output/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

// The C library's word: the shortest of 15, 16, 17 digits that reads back.
static void check_number(double x)
{
    char ours[PCS_NUMBER_ROOM], wanted[PCS_NUMBER_ROOM];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(wanted, sizeof wanted, "%.*g", precision, x);
        if (strtod(wanted, NULL) == x) break;
    }
    size_t length = pcs_number_text(x, ours);
    if (strcmp(ours, wanted) != 0 || length != strlen(wanted)) fail_msg("%a is %s, not %s", x, wanted, ours);
}

static double random_double(uint64_t *seed, int kind)
{
    uint64_t bits = next_random(seed);
    int wide = (int)(next_random(seed) % 600) - 300, small = (int)(next_random(seed) % 40) - 20;
    double x;
    switch (kind) {
    case 0: return (double)(bits >> 11) * 0x1p-53 * pow(10.0, small); // everyday sizes
    case 1: return (double)(bits % 2000000) * 1e-3;                   // times
    case 2: return ldexp(1.0, 3 * wide);                              // powers of two: uneven neighbours
    case 3: return (double)(bits % 100000) * pow(10.0, wide);         // few digits
    case 4: return (double)(bits >> next_random(seed) % 64);          // whole numbers
    case 5: return nextafter(pow(10.0, small), (bits & 1) != 0 ? 0.0 : INFINITY);
    default: memcpy(&x, &bits, sizeof x); return x; // anything at all
    }
}

TEST(numbers_are_those_of_the_c_library)
{
    uint64_t seed = 88172645463325252U;
    for (long i = 0; i < 70000; i++) check_number(random_double(&seed, (int)(i % 7)));
    const double edges[] = { 0.0,
                             -0.0,
                             1.0,
                             -1.0,
                             0.1,
                             1e15,
                             1e16,
                             1e17,
                             123456789012345680.0,
                             1e-4,
                             1e-5,
                             5e-324,
                             1e308,
                             INFINITY,
                             -INFINITY,
                             2.2250738585072014e-308,
                             0x1.fffffffffffffp1023,
                             0x1p-1022,
                             9007199254740993.0,
                             99999999999999995.0,
                             0.3 };
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) check_number(edges[i]);
}

TEST(whole_numbers_have_no_decoration)
{
    char text[PCS_NUMBER_ROOM];
    const long x[] = { 0, 7, 10, 999999999, 1000000000, -3, 123456789012 };
    const char *const wanted[] = { "0", "7", "10", "999999999", "1000000000", "-3", "123456789012" };
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
        CHECK(pcs_number_text((double)x[i], text) == strlen(wanted[i]));
        assert_string_equal(text, wanted[i]);
    }
}

// Puts the text into a file as a JSON string and compares.
static void check_json(pcs_context *ctx, const char *text, const char *wanted)
{
    pcs_file *f;
    CHECK_OK(ctx, pcs_file_create(ctx, "results", 8, 1 << 10, &f));
    pcs_file_json(f, text);
    CHECK(f->used == strlen(wanted));
    assert_memory_equal(f->buffer, wanted, f->used);
}

TEST_WITH_CONTEXT(json_strings_are_escaped_and_valid)
{
    check_json(*state, "a\"b\\c\n\t\x01\x7f", "\"a\\\"b\\\\c\\u000a\\u0009\\u0001\\u007f\"");
    check_json(*state, "Br\xc3\xbcls \xe2\x82\xac \xf0\x9f\x98\x80", "\"Br\xc3\xbcls \xe2\x82\xac \xf0\x9f\x98\x80\"");
    // A stray byte, a sequence cut short, an overlong one, a surrogate, beyond the last code point.
    check_json(*state, "\xff|\xc3|\xc0\x80|\xed\xa0\x80|\xf4\x90\x80\x80",
               "\"\\ufffd|\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd\\ufffd\"");
}
