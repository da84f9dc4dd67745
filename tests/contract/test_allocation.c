// Running out of memory is a fault like any other: whichever allocation fails, the caller gets a status and a message
// and nothing leaks. And models of all kinds take their memory at the start: no step allocates, whatever the scheme.
//
// Some libraries help themselves: the C library reads a file without a buffer, UMFPACK tries again with less memory.
// Then the result must be the same, bit for bit.

#include "core/archive.h"
#include "support/alloc_fault.h"
#include "support/check.h"

#include "percuss.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SET = 3, FIRST = 5 };

// Up to where each allocation fails in turn.
typedef enum extent { NEVER, LOADING, STEPPING, RUNNING } extent;

typedef struct trial {
    const char *path;
    extent fails;
    int nstep; // in which nothing is allocated
    const char *set[MAX_SET];
    bool touches; // in these steps, the first contact
    bool may_ask; // UMFPACK takes a matrix that changes in every step, and helps itself to memory
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

static int trial_load(const trial *t, percuss **p)
{
    int nset = 0;
    while (nset < MAX_SET && t->set[nset] != NULL) nset++;
    return percuss_load_with(t->path, nset, t->set, p);
}

static ending trial_run(const trial *t)
{
    ending end = { 0 };
    percuss *p = NULL;
    end.status = trial_load(t, &p);
    if (end.status == 0 && t->fails == RUNNING) end.status = percuss_run(p, TESTS_OUTPUT_FOLDER "/allocation");
    for (int i = 0; i < FIRST && end.status == 0 && t->fails == STEPPING; i++) end.status = percuss_step(p);
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
        if (end.status != 0 && strstr(end.message, "memory") == NULL) fail_msg("allocation %ld: '%s'", n, end.message);
        if (!has_impact) {
            if (n < 50) fail_msg("only %ld allocations: the trial does not try much", n - 1);
            assert_int_equal(end.status, 0);
            return;
        }
    }
}

// Six cells that reach the wall in the second step, so that the trials go over an impact.
#define CLOSE "mesh.bar={type: line, from: [0.03, 0, 0], to: [10.03, 0, 0], elements: 6}"
#define GGL "scheme={type: alpha_ggl, rho_inf: 0.8}"
#define MOREAU "scheme={type: moreau_jean, theta: 0.5}"
#define DAMPED "scheme={type: moreau_jean, theta: 0.6}"
#define NEWMARK "scheme={type: newmark, gamma: 0.5, beta: 0.25}"
#define HALF "scheme={type: half_explicit}"
#define LARGE "tests/contract/elements_large.yaml"
#define LINEAR "tests/contract/elements_linear.yaml"
#define JOINED "tests/contract/elements_joined.yaml"
#define EXACT_2D "tests/bench/exact_2d.yaml"
#define EXACT_3D "tests/bench/exact_3d.yaml"
#define SIX "mesh.beam.elements=6"
#define LONG "time.step=1e-3"
#define SHORT "time.step=1e-6"

static const trial trials[] = {
    // Over an impact: active sets change, contacts close and open; every solver. What linear solvers do where memory
    // fails is in test_linsolve.c.
    { "cases/bar_impact", STEPPING, 1000, { CLOSE }, true, false },
    { "cases/bar_impact", NEVER, 1000, { CLOSE, "solver={linear: cholmod}" }, true, false },
    { "cases/bar_impact", NEVER, 1000, { CLOSE, "solver={linear: dense}" }, true, false },
    { "cases/bar_impact", NEVER, 1000, { CLOSE, "solver={linear: umfpack}" }, true, false },
    { "cases/bar_impact", STEPPING, 1000, { CLOSE, "solver={type: schur}" }, true, false },
    { "cases/bars_two", STEPPING, 1000, { "solver={type: schur, linear: cholmod}" }, true, false },
    { "cases/bar_impact", STEPPING, 1000, { CLOSE, MOREAU }, true, false },
    { "cases/bar_impact", STEPPING, 1000, { CLOSE, HALF }, true, false },
    { "cases/bars_two", STEPPING, 1000, { NULL }, true, false },
    { "cases/ball", STEPPING, 1000, { "system.height=0.201", "scheme={type: mannshardt}" }, true, false },
    // With output; parameters, formulas and repeated entries, which are worked out in the memory of the case.
    { "cases/bar_impact", RUNNING, 0, { CLOSE, "time.end=0.02" }, false, false },
    { "cases/bar_impact", RUNNING, 0, { CLOSE, "time.end=0.02", "output.frames.format=vtu" }, false, false },
    { "cases/rotor", STEPPING, 0, { "parameters.points=30", "output={}" }, false, false },
    // Rods, springs, bodies and shafts; the rotor meets its bearing after 900 steps.
    { LARGE, LOADING, 1000, { GGL }, false, true },
    { LARGE, NEVER, 1000, { HALF }, false, false },
    { LINEAR, LOADING, 1000, { GGL }, false, false },
    { LINEAR, NEVER, 1000, { MOREAU }, false, false },
    { "cases/rotor", LOADING, 1000, { HALF }, false, false },
    { "cases/rotor", NEVER, 1000, { "scheme={type: moreau_midpoint}" }, false, false },
    { "cases/rotor", LOADING, 1000, { MOREAU }, false, false },
    // Meshes of every type, joined and chosen.
    { "tests/contract/meshes.yaml", LOADING, 0, { NULL }, false, false },
    // Joints and reactions.
    { JOINED, LOADING, 100, { GGL }, false, false },
    { JOINED, NEVER, 100, { DAMPED }, false, false },
    { JOINED, NEVER, 100, { "scheme={type: alpha_velocity}" }, false, false },
    // Varying tangents and finite rotations.
    { EXACT_2D, LOADING, 200, { GGL, SIX, LONG }, false, false },
    { EXACT_3D, STEPPING, 200, { GGL, SIX, LONG }, false, false },
    { EXACT_2D, NEVER, 200, { DAMPED, SIX, LONG }, false, false },
    { EXACT_3D, NEVER, 200, { DAMPED, SIX, LONG }, false, false },
    { EXACT_2D, NEVER, 200, { NEWMARK, SIX, LONG }, false, false },
    { EXACT_3D, NEVER, 200, { NEWMARK, SIX, LONG }, false, false },
    { EXACT_2D, NEVER, 200, { HALF, SIX, SHORT }, false, false },
    { EXACT_3D, NEVER, 200, { HALF, SIX, SHORT }, false, false },
    // Closed forms: varying mass and friction, joints, redundant points, the circular cone, plain.
    { "cases/slider_crank", STEPPING, 300, { HALF }, false, false },
    { "cases/slider_crank", NEVER, 300, { MOREAU }, false, false },
    { "cases/slider_crank", LOADING, 300, { GGL }, false, false },
    { "cases/slider_crank_bilateral", NEVER, 300, { HALF }, false, false },
    { "cases/slider_crank_bilateral", LOADING, 300, { MOREAU }, false, false },
    { "cases/pendulum", NEVER, 300, { GGL }, false, false },
    { "cases/puck", LOADING, 300, { HALF }, false, false },
    { "cases/puck", NEVER, 300, { GGL }, false, false },
    { "cases/ball", STEPPING, 300, { HALF }, false, false },
    { "cases/ball", NEVER, 300, { GGL }, false, false },
};
enum { NTRIAL = sizeof trials / sizeof *trials };

TEST(every_failing_allocation_is_reported)
{
    if (!alloc_fault_is_active()) skip();
    for (const trial *t = trials; t < trials + NTRIAL; t++) {
        if (t->fails == NEVER) continue;
        print_message("%s %s\n", t->path, t->set[0] == NULL ? "" : t->set[0]);
        if (t->fails != LOADING) fail_each_allocation(t, false);
        fail_each_allocation(t, true);
    }
}

TEST(steps_do_not_allocate)
{
    if (!alloc_fault_is_active()) skip();
    for (const trial *t = trials; t < trials + NTRIAL; t++) {
        percuss *p = NULL;
        if (trial_load(t, &p) != 0 || percuss_step(p) != 0) fail_msg("%s", percuss_message(p));
        bool has_touched = false;
        alloc_fault_arm(0, false);
        long before = alloc_fault_live();
        int nstep = 1;
        for (; nstep < t->nstep && !percuss_is_done(p) && percuss_step(p) == 0; nstep++)
            has_touched = has_touched || percuss_contact_at(p, 0).is_closed;
        long requests = alloc_fault_requests(), growth = alloc_fault_live() - before;
        if (percuss_message(p)[0] != '\0') fail_msg("%s", percuss_message(p));
        percuss_destroy(&p);
        if ((requests != 0 && !t->may_ask) || growth != 0)
            fail_msg("%s %s: %ld allocations, %ld kept", t->path, t->set[0], requests, growth);
        CHECK(has_touched || !t->touches);
        CHECK(nstep > 50 || t->nstep == 0);
    }
}

// Observers take all memory when they open: twice as many steps, rows and frames ask for no more.
TEST(output_does_not_allocate)
{
    if (!alloc_fault_is_active()) skip();
    long requests[3];
    for (int k = 0; k < 3; k++) { // the first one warms up
        const char *const set[] = {
            CLOSE, k < 2 ? "time.end=0.02" : "time.end=0.04",
            "output={frames: {every: 1}, contact_frames: {every: 1}, waves: {body: bar, of: [stress, vx]}, "
            "checkpoint: {every: 1000}, summary: {filter: 0.1}}"
        };
        percuss *p = NULL;
        CHECK(percuss_load_with("cases/bar_impact", 3, set, &p) == 0);
        alloc_fault_arm(0, false);
        CHECK(percuss_run(p, TESTS_OUTPUT_FOLDER "/allocation") == 0);
        requests[k] = alloc_fault_requests();
        percuss_destroy(&p);
    }
    assert_int_equal(requests[2], requests[1]);
}
