#define _GNU_SOURCE // program_invocation_short_name

#include "support/check.h"

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

int check_run_group(const char *name, const struct CMUnitTest *tests, size_t count, CMFixtureFunction set_up,
                    CMFixtureFunction tear_down)
{
    struct CMUnitTest run[MOST_TESTS];
    assert_true(count <= MOST_TESTS);
    for (size_t i = 0; i < count; i++) {
        run[i] = tests[i];
        if (check_is_excused(tests[i].name))
            run[i] = (struct CMUnitTest){ .name = tests[i].name, .test_func = check_skip };
    }
    return _cmocka_run_group_tests(name, run, count, set_up, tear_down);
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
