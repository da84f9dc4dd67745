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
    { .name = "E",
      .kind = PCS_OPTION_REAL,
      .help = "modulus",
      .offset = offsetof(sample, E),
      .is_required = true,
      .range = PCS_POSITIVE },
    { .name = "factor",
      .kind = PCS_OPTION_REAL,
      .help = "f",
      .offset = offsetof(sample, factor),
      .preset = "0.1",
      .range = PCS_ANY_NUMBER },
    { .name = "n",
      .kind = PCS_OPTION_COUNT,
      .help = "n",
      .offset = offsetof(sample, n),
      .preset = "7",
      .range = { 1, 1000, false, false } },
    { .name = "mass",
      .kind = PCS_OPTION_CHOICE,
      .help = "m",
      .offset = offsetof(sample, mass),
      .preset = "consistent",
      .choices = masses },
    { .name = "is_on", .kind = PCS_OPTION_FLAG, .help = "o", .offset = offsetof(sample, is_on), .preset = "true" },
    { .name = "v",
      .kind = PCS_OPTION_VECTOR,
      .help = "v",
      .offset = offsetof(sample, v),
      .preset = "[1.0, 2.0, 3e1]",
      .range = PCS_ANY_NUMBER },
    { .name = "name", .kind = PCS_OPTION_TEXT, .help = "t", .offset = offsetof(sample, name) },
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
