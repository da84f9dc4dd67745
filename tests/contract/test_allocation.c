// Running out of memory is a fault like any other: whichever allocation fails, the caller gets a status and a message
// and nothing leaks. And after the start there is nothing left to fail: stepping does not allocate.
//
// Some libraries help themselves: the C library reads a file without a buffer, UMFPACK tries again with less memory.
// Then the result must be the same, bit for bit.

#include "core/archive.h"
#include "support/alloc_fault.h"
#include "support/check.h"

#include "percuss.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SET = 4, NSTEP = 1000 };

// What is tried, and where the results go (NULL: a few steps without output).
typedef struct trial {
    const char *path;
    int nset;
    const char *set[MAX_SET];
    const char *directory;
} trial;

typedef struct ending {
    int status;
    char message[512]; // when the status is not 0
    uint64_t hash;     // of the last state, when it is
} ending;

static uint64_t hash_state(const percuss *p)
{
    double time = percuss_time(p);
    size_t bytes = (size_t)percuss_dofs(p) * sizeof(double);
    unsigned long long hash = pcs_hash(PCS_HASH_START, &time, sizeof time);
    hash = pcs_hash(hash, percuss_displacement(p), bytes);
    return pcs_hash(hash, percuss_velocity(p), bytes);
}

static ending trial_run(const trial *t)
{
    ending end = { 0 };
    percuss *p = NULL;
    end.status = percuss_load_with(t->path, t->nset, t->set, &p);
    if (end.status == 0 && t->directory != NULL) end.status = percuss_run(p, t->directory);
    if (end.status == 0 && t->directory == NULL)
        for (int i = 0; i < 5 && end.status == 0; i++) end.status = percuss_step(p);
    if (end.status == 0) end.hash = hash_state(p);
    else snprintf(end.message, sizeof end.message, "%s", percuss_message(p));
    percuss_destroy(&p);
    if (p != NULL) fail_msg("percuss_destroy leaves a pointer behind");
    return end;
}

// Fails the 1st, 2nd, 3rd, ... allocation until one trial gets through without having met its failure.
static void fail_each_allocation(const trial *t, bool lasting)
{
    ending good = trial_run(t); // warms up what libraries keep for ever
    if (good.status != 0) fail_msg("%s", good.message);
    long before = alloc_fault_live();
    for (long n = 1;; n++) {
        alloc_fault_arm(n, lasting);
        ending end = trial_run(t);
        bool has_impact = alloc_fault_requests() >= n;
        alloc_fault_arm(0, false);
        if (alloc_fault_live() != before)
            fail_msg("allocation %ld failing leaks %ld blocks (%s)", n, alloc_fault_live() - before, end.message);
        if (end.status == 0 && end.hash != good.hash) fail_msg("allocation %ld fails and changes the result", n);
        if (end.status == 0 && has_impact) print_message("allocation %ld: done without it\n", n);
        if (end.status != 0 && end.message[0] == '\0') fail_msg("allocation %ld fails without a message", n);
        if (!has_impact) {
            if (n < 50) fail_msg("only %ld allocations: the trial does not try much", n - 1);
            assert_int_equal(end.status, 0);
            return;
        }
    }
}

// Six cells that reach the wall in the second step, so that the trials go over an impact.
#define CLOSE "mesh.bar={type: line, from: [0.03, 0, 0], to: [10.03, 0, 0], elements: 6}"

static const trial step_trials[] = {
    { "cases/bar_impact", 1, { CLOSE }, NULL },
    { "cases/bar_impact", 2, { CLOSE, "solver={linear: cholmod}" }, NULL },
    { "cases/bar_impact", 2, { CLOSE, "solver={linear: dense}" }, NULL },
    { "cases/bar_impact", 2, { CLOSE, "solver={linear: umfpack}" }, NULL },
    { "cases/bar_impact", 2, { CLOSE, "solver={type: schur}" }, NULL },
    { "cases/bars_two", 1, { "solver={type: schur, linear: cholmod}" }, NULL },
    { "cases/bar_impact", 2, { CLOSE, "scheme={type: moreau_jean, theta: 0.5}" }, NULL },
    { "cases/bar_impact", 2, { CLOSE, "scheme={type: half_explicit}" }, NULL },
    { "cases/bars_two", 0, { NULL }, NULL },
    { "cases/ball", 2, { "system.height=0.201", "scheme={type: mannshardt}" }, NULL },
};
enum { NTRIAL = sizeof step_trials / sizeof *step_trials };

TEST(every_failing_allocation_is_reported)
{
    if (!alloc_fault_is_active()) skip();
    for (int i = 0; i < NTRIAL; i++) {
        print_message("%s %s\n", step_trials[i].path, step_trials[i].nset < 2 ? "" : step_trials[i].set[1]);
        fail_each_allocation(&step_trials[i], false);
        fail_each_allocation(&step_trials[i], true);
    }
}

TEST(every_failing_allocation_of_the_output_is_reported)
{
    if (!alloc_fault_is_active()) skip();
    const trial with_output = { "cases/bar_impact", 2, { CLOSE, "time.end=0.02" }, TESTS_OUTPUT_FOLDER "/allocation" };
    fail_each_allocation(&with_output, false);
    fail_each_allocation(&with_output, true);
    const trial compressed = {
        "cases/bar_impact", 3, { CLOSE, "time.end=0.02", "output.frames.format=vtu" }, TESTS_OUTPUT_FOLDER "/allocation"
    };
    fail_each_allocation(&compressed, false);
}

// Parameters, formulas and repeated entries are worked out in the memory of the case.
TEST(every_failing_allocation_of_the_language_is_reported)
{
    if (!alloc_fault_is_active()) skip();
    const trial with_formulas = { "cases/rotor", 2, { "parameters.points=30", "output={}" }, NULL };
    fail_each_allocation(&with_formulas, false);
    fail_each_allocation(&with_formulas, true);
}

// Goes over the impact: active sets change, contacts close and open.
TEST(steps_do_not_allocate)
{
    if (!alloc_fault_is_active()) skip();
    for (int i = 0; i < NTRIAL; i++) {
        const trial *t = &step_trials[i];
        percuss *p = NULL;
        if (percuss_load_with(t->path, t->nset, t->set, &p) != 0) fail_msg("%s", percuss_message(p));
        if (percuss_step(p) != 0) fail_msg("%s", percuss_message(p));
        bool has_touched = false;
        int nstep = 1;
        alloc_fault_arm(0, false);
        long before = alloc_fault_live();
        for (; nstep < NSTEP && !percuss_is_done(p) && percuss_step(p) == 0; nstep++)
            has_touched = has_touched || percuss_contact_at(p, 0).is_closed;
        long requests = alloc_fault_requests(), growth = alloc_fault_live() - before;
        if (percuss_message(p)[0] != '\0') fail_msg("%s", percuss_message(p));
        percuss_destroy(&p);
        CHECK(growth == 0);
        if (requests > 0)
            fail_msg("%s %s: %ld allocations in %d steps", t->path, t->nset < 2 ? "" : t->set[1], requests, nstep);
        CHECK(nstep > 100);
        CHECK(has_touched);
    }
}
