// Two results beside each other: planted differences are found, where and when they are; round-off is none.

#include "support/check.h"

#include "plot/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NSTEP = 100 };
#define FILE_A TESTS_OUTPUT_FOLDER "/compare_a.csv"
#define FILE_B TESTS_OUTPUT_FOLDER "/compare_b.csv"

typedef struct result {
    int nstep;
    double end, begin;
    double bump;         // is added to the force from t = 0.5 on
    double noise;        // momentum along y
    double misfit;       // gap of a joint
    int iterations;      // of every step
    const char *further; // name of one more column, NULL: none
} result;

static const result usual = { .nstep = NSTEP, .end = 1.0, .iterations = 1 };

// x = t, force = 100 t: linear, so that interpolation is exact.
static void write_result(const char *path, const result *r)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fprintf(file, "t,step,kinetic,momentum_x,momentum_y,iterations,tip.x,pin.gap,wall.force%s%s\n",
            r->further == NULL ? "" : ",", r->further == NULL ? "" : r->further);
    for (int i = 0; i <= r->nstep; i++) {
        double t = r->begin + (r->end - r->begin) * i / r->nstep, force = 100.0 * t + (t >= 0.5 - 1e-9 ? r->bump : 0.0);
        fprintf(file, "%.17g,%d,%.17g,-100,%.17g,%d,%.17g,%.17g,", t, i, 500.0 - t, r->noise * i, r->iterations,
                1.0 + t, r->misfit * (i % 3));
        if (i > 0) fprintf(file, "%.17g", force);
        fprintf(file, r->further == NULL ? "\n" : ",1\n");
    }
    CHECK(fclose(file) == 0);
}

static void add_text(void *user, const char *text)
{
    char *all = user;
    size_t used = strlen(all);
    snprintf(all + used, 8192 - used, "%s", text);
}

static pcs_comparison compare(pcs_context *ctx, const result *a, const result *b, double tolerance, char said[8192])
{
    pcs_comparison c;
    said[0] = '\0';
    pcs_compare_options options = {
        .path = { FILE_A, FILE_B }, .tolerance = tolerance, .show = add_text, .show_user = said
    };
    write_result(FILE_A, a);
    write_result(FILE_B, b);
    CHECK_OK(ctx, pcs_compare(ctx, &options, &c));
    return c;
}

static const pcs_difference *column(const pcs_comparison *c, const char *name)
{
    for (int i = 0; i < c->ncolumn; i++)
        if (strcmp(c->columns[i].column, name) == 0) return &c->columns[i];
    fail_msg("no column %s", name);
    return NULL;
}

TEST_WITH_CONTEXT(a_result_is_like_itself)
{
    pcs_context *ctx = *state;
    char said[8192];
    pcs_comparison c = compare(ctx, &usual, &usual, 0.0, said);
    CHECK(c.is_same_times && c.nbeyond == 0 && c.ncolumn == 8 && c.ntime == NSTEP + 1);
    for (int i = 0; i < c.ncolumn; i++) CHECK(c.columns[i].largest == 0.0 && !c.columns[i].is_beyond);
    CHECK_TEXT(said, "Alike");
}

TEST_WITH_CONTEXT(a_planted_difference_is_found)
{
    pcs_context *ctx = *state;
    char said[8192];
    result other = usual;
    other.bump = 0.25;
    pcs_comparison c = compare(ctx, &usual, &other, 1e-3, said);
    const pcs_difference *d = column(&c, "wall.force");
    CHECK(c.nbeyond == 1 && d->is_beyond);
    CHECK_NEAR(d->largest, 0.25, 1e-12);
    CHECK_NEAR(d->relative, 0.25 / 100.25, 1e-12);
    CHECK_NEAR(d->first, 0.5, 1e-12);
    CHECK_NEAR(d->value[0], 50.0, 1e-12);
    CHECK_NEAR(d->value[1], 50.25, 1e-12);
    CHECK_TEXT(said, "first at t = 0.5 in wall.force (A 50, B 50.25)");
    // The same within a tolerance above it.
    c = compare(ctx, &usual, &other, 3e-3, said);
    CHECK(c.nbeyond == 0 && !column(&c, "wall.force")->is_beyond);
    CHECK_NEAR(column(&c, "wall.force")->largest, 0.25, 1e-12);
}

// Linear in time: other steps and a shorter span make no difference, and a planted one is found all the same.
TEST_WITH_CONTEXT(other_times_are_interpolated)
{
    pcs_context *ctx = *state;
    char said[8192];
    result finer = usual;
    finer.nstep = 173;
    finer.end = 0.9;
    finer.begin = 0.05;
    pcs_comparison c = compare(ctx, &usual, &finer, 1e-13, said);
    CHECK(!c.is_same_times && c.nbeyond == 0);
    CHECK_NEAR(c.span[0], 0.05, 1e-15);
    CHECK_NEAR(c.span[1], 0.9, 1e-15);
    CHECK(c.ntime == 86); // times 0.05 .. 0.9 of the coarser one
    CHECK(column(&c, "step")->is_work && column(&c, "step")->is_beyond);
    finer.bump = -1.0;
    c = compare(ctx, &finer, &usual, 1e-3, said);
    CHECK(c.nbeyond == 1);
    CHECK_NEAR(column(&c, "wall.force")->first, 0.5, 0.011);
    CHECK_NEAR(column(&c, "wall.force")->largest, 1.0, 1e-9);
    CHECK_TEXT(said, "A is interpolated");
}

// A momentum that vanishes but for round-off, and the misfit of a joint, differ from nothing by nothing.
TEST_WITH_CONTEXT(round_off_is_no_difference)
{
    pcs_context *ctx = *state;
    char said[8192];
    result other = usual;
    other.noise = 1e-15;
    other.misfit = 1e-17;
    pcs_comparison c = compare(ctx, &usual, &other, 1e-9, said);
    CHECK(c.nbeyond == 0 && column(&c, "momentum_y")->largest > 0.0);
    other.noise = 1e-9;
    c = compare(ctx, &usual, &other, 1e-9, said);
    CHECK(c.nbeyond == 1 && column(&c, "momentum_y")->is_beyond);
}

TEST_WITH_CONTEXT(work_is_told_and_not_judged)
{
    pcs_context *ctx = *state;
    char said[8192];
    result other = usual;
    other.iterations = 4;
    other.further = "friction_loss";
    pcs_comparison c = compare(ctx, &usual, &other, 1e-9, said);
    CHECK(c.nbeyond == 0 && column(&c, "iterations")->is_beyond && column(&c, "iterations")->largest == 3.0);
    CHECK(c.nonly[0] == 0 && c.nonly[1] == 1 && strcmp(c.only[1][0], "friction_loss") == 0);
    CHECK_TEXT(said, "Only in B: friction_loss");
}

// Half the step has half the impulse in each: only rows of the same steps are held against each other.
TEST(impulses_belong_to_their_steps)
{
    static const char *const texts[][2] = {
        { "t,x,wall.impulse\n0,1,\n1,1,4\n2,1,4\n", "t,x,wall.impulse\n0,1,\n1,1,2\n2,1,2\n" },
        { "t,x,wall.impulse\n0,1,\n1,1,4\n2,1,4\n", "t,x,wall.impulse\n0,1,\n0.5,1,2\n1,1,2\n1.5,1,2\n2,1,2\n" },
    };
    for (int i = 0; i < 2; i++) {
        pcs_context *ctx;
        char said[8192] = "";
        pcs_comparison c;
        CHECK(pcs_context_create(&ctx) == PCS_OK);
        pcs_compare_options options = { .path = { FILE_A, FILE_B }, .show = add_text, .show_user = said };
        for (int k = 0; k < 2; k++) {
            FILE *file = fopen(options.path[k], "w");
            CHECK(file != NULL && fputs(texts[i][k], file) >= 0 && fclose(file) == 0);
        }
        CHECK_OK(ctx, pcs_compare(ctx, &options, &c));
        CHECK(column(&c, "wall.impulse")->largest == 2.0 && c.nbeyond == 1 - i);
        pcs_context_destroy(&ctx);
    }
}

TEST_WITH_CONTEXT(an_empty_field_differs_from_a_number)
{
    pcs_context *ctx = *state;
    char said[8192];
    pcs_compare_options options = { .path = { FILE_A, FILE_B }, .tolerance = 1.0, .show = add_text, .show_user = said };
    pcs_comparison c;
    const char *const texts[] = { "t,x\n0,1\n1,\n2,3\n", "t,x\n0,1\n1,2\n2,3\n" };
    for (int k = 0; k < 2; k++) {
        FILE *file = fopen(options.path[k], "w");
        CHECK(file != NULL && fputs(texts[k], file) >= 0 && fclose(file) == 0);
    }
    said[0] = '\0';
    CHECK_OK(ctx, pcs_compare(ctx, &options, &c));
    CHECK(c.nbeyond == 1 && isinf(c.columns[0].largest) && c.columns[0].first == 1.0);
}

TEST(what_cannot_be_compared_is_refused)
{
    static const char *const faults[][3] = {
        { "t,x\n0,1\n1,1\n", "t,x\n2,1\n3,1\n", "no common times" },
        { "t,x\n0,1\n1,1\n", "t,y\n0,1\n1,1\n", "no column in common" },
        { "t,x\n0,1\n1,1\n", "s,x\n0,1\n1,1\n", "no common axis" },
        { "t,x\n0,1\n1,1\n", "t,x\n1,1\n0,1\n", "does not rise" },
        { "t,x\n0,1\n1,1\n", "t,x\n", "no rows" },
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        pcs_context *ctx;
        pcs_comparison c;
        char said[8192] = "";
        CHECK(pcs_context_create(&ctx) == PCS_OK);
        pcs_compare_options options = { .path = { FILE_A, FILE_B }, .show = add_text, .show_user = said };
        for (int k = 0; k < 2; k++) {
            FILE *file = fopen(options.path[k], "w");
            CHECK(file != NULL && fputs(faults[i][k], file) >= 0 && fclose(file) == 0);
        }
        CHECK_STATUS(ctx, pcs_compare(ctx, &options, &c), PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(ctx), faults[i][2]);
        pcs_context_destroy(&ctx);
    }
}
