// Numbers, JSON strings and CSV fields as they stand in result files.

#include "support/check.h"

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
static void check_number(pcs_digits *digits, double x)
{
    char ours[PCS_NUMBER_ROOM], wanted[PCS_NUMBER_ROOM];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(wanted, sizeof wanted, "%.*g", precision, x);
        if (strtod(wanted, NULL) == x) break;
    }
    size_t length = pcs_number_text(digits, x, ours);
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

TEST_WITH_CONTEXT(numbers_are_those_of_the_c_library)
{
    pcs_context *ctx = *state;
    pcs_digits *digits;
    CHECK_OK(ctx, pcs_digits_create(ctx, &digits));
    uint64_t seed = 88172645463325252U;
    for (long i = 0; i < 70000; i++) {
        double x = random_double(&seed, (int)(i % 7));
        check_number(digits, x);
        if (i % 50 == 0) check_number(NULL, x);
    }
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
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) check_number(digits, edges[i]);
}

TEST(whole_numbers_have_no_decoration)
{
    char text[PCS_NUMBER_ROOM];
    const long x[] = { 0, 7, 10, 999999999, 1000000000, -3, 123456789012 };
    const char *const wanted[] = { "0", "7", "10", "999999999", "1000000000", "-3", "123456789012" };
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
        CHECK(pcs_number_text(NULL, (double)x[i], text) == strlen(wanted[i]));
        assert_string_equal(text, wanted[i]);
    }
}

TEST(json_strings_are_escaped_and_valid)
{
    char out[128];
    pcs_json_text("a\"b\\c\n\t\x01\x7f", sizeof out, out);
    assert_string_equal(out, "a\\\"b\\\\c\\u000a\\u0009\\u0001\\u007f");
    pcs_json_text("Br\xc3\xbcls \xe2\x82\xac \xf0\x9f\x98\x80", sizeof out, out);
    assert_string_equal(out, "Br\xc3\xbcls \xe2\x82\xac \xf0\x9f\x98\x80");
    // A stray byte, a sequence cut short, an overlong one, a surrogate, beyond the last code point.
    pcs_json_text("\xff|\xc3|\xc0\x80|\xed\xa0\x80|\xf4\x90\x80\x80", sizeof out, out);
    assert_string_equal(out, "\\ufffd|\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd\\ufffd");
    CHECK(pcs_json_text("abc\"def", 5, out) == 3); // the escaped quote does not fit and is not cut
    assert_string_equal(out, "abc");
}

TEST(array_names_are_safe)
{
    char out[16];
    pcs_safe_name("axial force%(N)", sizeof out, out);
    assert_string_equal(out, "axial_force__N_");
    CHECK(pcs_safe_name("a_name_that_is_too_long", sizeof out, out) == 15);
    assert_string_equal(out, "a_name_that_is_");
}
