// Assertions of the tests: each fails through cmocka, with the place and all 17 digits of a number.
//
// cmocka's own assert_float_equal compares in single precision; use CHECK_NEAR instead.

#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

// cmocka.h wants these four before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/context.h"

#include <stdbool.h>

// The condition holds.
#define CHECK(condition) check_true((condition), #condition, __FILE__, __LINE__)

// |actual - expected| <= absolute_tolerance; a NaN on either side fails.
#define CHECK_NEAR(actual, expected, absolute_tolerance) \
    check_near((actual), (expected), (absolute_tolerance), #actual, __FILE__, __LINE__)

// |actual - expected| <= relative_tolerance |expected|.
#define CHECK_RELATIVE(actual, expected, relative_tolerance) \
    check_relative((actual), (expected), (relative_tolerance), #actual, __FILE__, __LINE__)

// Every entry of two arrays: |actual[i] - expected[i]| <= absolute_tolerance.
#define CHECK_ALL_NEAR(count, actual, expected, absolute_tolerance) \
    check_all_near((size_t)(count), (actual), (expected), (absolute_tolerance), #actual, __FILE__, __LINE__)

// The call answers `wanted`; otherwise the message of the context (NULL: none) is shown.
#define CHECK_STATUS(ctx, call, wanted) check_status((ctx), (call), (wanted), #call, __FILE__, __LINE__)
#define CHECK_OK(ctx, call) CHECK_STATUS(ctx, call, PCS_OK)

// The text holds `part`.
#define CHECK_TEXT(text, part) check_text((text), (part), __FILE__, __LINE__)

// A test, run by the main function of this library unless the program has its own; in the order of definition.
#define TEST(name) TEST_WITHIN(name, NULL, NULL)
// A test between two functions that may fill *state and clean up.
#define TEST_WITHIN(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                  \
    __attribute__((constructor)) static void name##_is_a_test(void)                                  \
    {                                                                                                \
        check_add_test((struct CMUnitTest)cmocka_unit_test_setup_teardown(name, set_up, tear_down)); \
    }                                                                                                \
    static void name(__attribute__((unused)) void **state)

// A test whose *state is a new context.
#define TEST_WITH_CONTEXT(name) TEST_WITHIN(name, check_open_context, check_close_context)
int check_open_context(void **state);
int check_close_context(void **state);

// Adds to the tests of this program. Those that this variant of the build is excused from (tests/variants/excused.txt)
// are skipped.
void check_add_test(struct CMUnitTest test);
int check_run_tests(void);

void check_true(bool holds, const char *condition, const char *file, int line);
void check_near(double actual, double expected, double tolerance, const char *name, const char *file, int line);
void check_relative(double actual, double expected, double tolerance, const char *name, const char *file, int line);
void check_all_near(size_t count, const double *actual, const double *expected, double tolerance, const char *name,
                    const char *file, int line);
void check_status(const pcs_context *ctx, pcs_status actual, pcs_status wanted, const char *call, const char *file,
                  int line);
void check_text(const char *text, const char *part, const char *file, int line);

// The largest |x[i]|, for tolerances.
double check_largest(int n, const double *x);

#endif
