#define _GNU_SOURCE // program_invocation_short_name

#include "support/check.h"

#include "core/context.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TESTS = 256 };

static void check_skip(void **state)
{
    (void)state;
    skip();
}

// PERCUSS_EXCUSED lists tests as " program:test ", set by tests/variants/run.sh.
static bool check_is_excused(const char *test)
{
    const char *excused = getenv("PERCUSS_EXCUSED");
    char entry[256];
    snprintf(entry, sizeof entry, " %s:%s ", program_invocation_short_name, test);
    return excused != NULL && strstr(excused, entry) != NULL;
}

static struct CMUnitTest check_tests[MOST_TESTS];
static size_t check_count;

void check_add_test(struct CMUnitTest test)
{
    if (check_count == MOST_TESTS) abort();
    if (check_is_excused(test.name)) test = (struct CMUnitTest){ .name = test.name, .test_func = check_skip };
    check_tests[check_count++] = test;
}

int check_run_tests(void)
{
    if (check_count == 0) return 1;
    return _cmocka_run_group_tests(program_invocation_short_name, check_tests, check_count, NULL, NULL);
}

int check_open_context(void **state)
{
    return pcs_context_create((pcs_context **)state) != PCS_OK;
}

int check_close_context(void **state)
{
    pcs_context_destroy((pcs_context **)state);
    return *state != NULL;
}

static void check_fail(const char *file, int line)
{
    _fail(file, line);
}

void check_true(bool holds, const char *condition, const char *file, int line)
{
    if (holds) return;
    print_error("does not hold: %s\n", condition);
    check_fail(file, line);
}

// Written so that a NaN anywhere counts as a failure.
void check_near(double actual, double expected, double tolerance, const char *name, const char *file, int line)
{
    double difference = fabs(actual - expected);
    if (difference <= tolerance) return;
    print_error("%s = %.17g, expected %.17g: differs by %.3g, allowed %.3g\n", name, actual, expected, difference,
                tolerance);
    check_fail(file, line);
}

void check_relative(double actual, double expected, double tolerance, const char *name, const char *file, int line)
{
    double difference = fabs(actual - expected);
    if (difference <= tolerance * fabs(expected)) return;
    print_error("%s = %.17g, expected %.17g: differs by %.3g of it, allowed %.3g\n", name, actual, expected,
                difference / fabs(expected), tolerance);
    check_fail(file, line);
}

void check_all_near(size_t count, const double *actual, const double *expected, double tolerance, const char *name,
                    const char *file, int line)
{
    for (size_t i = 0; i < count; i++) {
        double difference = fabs(actual[i] - expected[i]);
        if (difference <= tolerance) continue;
        print_error("%s[%zu] = %.17g, expected %.17g: differs by %.3g, allowed %.3g\n", name, i, actual[i], expected[i],
                    difference, tolerance);
        check_fail(file, line);
    }
}

void check_status(const pcs_context *ctx, pcs_status actual, pcs_status wanted, const char *call, const char *file,
                  int line)
{
    if (actual == wanted) return;
    print_error("%s answers %d, expected %d\n", call, (int)actual, (int)wanted);
    if (ctx != NULL && pcs_message(ctx)[0] != '\0') print_error("message: %s\n", pcs_message(ctx));
    check_fail(file, line);
}

void check_text(const char *text, const char *part, const char *file, int line)
{
    if (text != NULL && strstr(text, part) != NULL) return;
    print_error("no '%s' in '%s'\n", part, text == NULL ? "(null)" : text);
    check_fail(file, line);
}

double check_largest(int n, const double *x)
{
    double size = 0.0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
    return size;
}
