// A map with one option of every kind, for the tests of the case reader; each test gets a fresh context.

#ifndef TESTS_UNIT_CASE_SAMPLE_H
#define TESTS_UNIT_CASE_SAMPLE_H

#include "case/case.h"
#include "check.h"

#include <stdio.h>
#include <string.h>

enum { LUMPED = 1 };

static const char *const masses[] = { "consistent", "lumped", NULL };

typedef struct sample {
    double E, factor;
    int n, mass;
    bool is_on;
    double v[3];
    const char *name;
} sample;

static const pcs_option sample_options[] = {
    PCS_REAL("E", sample, E, PCS_REQUIRED, PCS_POSITIVE, "modulus"),
    PCS_REAL("factor", sample, factor, PCS_DEFAULT("0.1"), PCS_ANY_NUMBER, "f"),
    PCS_COUNT("n", sample, n, PCS_DEFAULT("7"), PCS_WITHIN(1, 1000), "n"),
    PCS_CHOICE("mass", sample, mass, PCS_DEFAULT("consistent"), masses, "m"),
    PCS_FLAG("is_on", sample, is_on, PCS_DEFAULT("true"), "o"),
    PCS_VECTOR("v", sample, v, PCS_DEFAULT("[1.0, 2.0, 3e1]"), PCS_ANY_NUMBER, "v"),
    PCS_TEXT("name", sample, name, PCS_OPTIONAL, "t"),
    { .name = NULL },
};

static pcs_context *context_of_test;

static inline int set_up(void **state)
{
    (void)state;
    return pcs_context_create(&context_of_test) != PCS_OK;
}

static inline int tear_down(void **state)
{
    (void)state;
    pcs_context_destroy(&context_of_test);
    return 0;
}

static inline pcs_case *parse(const char *text)
{
    pcs_case *c = NULL;
    CHECK_OK(context_of_test, pcs_case_parse(context_of_test, "f", text, strlen(text), &c));
    return c;
}

// Reads a map of samples from the root, then finishes.
static inline pcs_status read_root(pcs_case *c, sample *out)
{
    pcs_case_read(c, pcs_case_root(c), sample_options, out);
    return pcs_case_finish(c);
}

static inline void check_same_text(const char *actual, const char *expected)
{
    if (strcmp(actual, expected) != 0) print_message("is:     %s\nwanted: %s\n", actual, expected);
    CHECK(strcmp(actual, expected) == 0);
}

// A test with a context of its own.
#define TEST_OF_CASE(name) TEST_WITHIN(name, set_up, tear_down)

#endif
