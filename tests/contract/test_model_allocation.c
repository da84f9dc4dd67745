// Models of all kinds take their memory at the start: no step allocates, whatever the scheme; and a set-up that runs
// out of memory says so and leaves nothing behind.

#include "support/alloc_fault.h"
#include "support/check.h"

#include "percuss.h"

#include <stdio.h>

typedef enum extent { NOT_AT_ALL, LOADING, FIRST_STEP } extent;

typedef struct trial {
    const char *path, *scheme;
    int nstep;
    extent fails;        // up to where each allocation fails once
    const char *more[2]; // further assignments
    bool may_ask;        // UMFPACK takes a matrix that changes in every step, and helps itself to memory
} trial;

#define GGL "scheme={type: alpha_ggl, rho_inf: 0.8}"
#define MOREAU "scheme={type: moreau_jean, theta: 0.5}"
#define HALF "scheme={type: half_explicit}"
#define EXACT_2D "tests/bench/exact_2d.yaml"
#define EXACT_3D "tests/bench/exact_3d.yaml"
#define SIX "mesh.beam.elements=6"
#define LONG "time.step=1e-3"
#define SHORT "time.step=1e-6"

static const trial trials[] = {
    // Rods, springs, bodies and shafts; the rotor meets its bearing after 900 steps.
    { "tests/contract/elements_large.yaml", GGL, 1000, LOADING, { NULL }, true },
    { "tests/contract/elements_large.yaml", HALF, 1000, NOT_AT_ALL, { NULL }, false },
    { "tests/contract/elements_linear.yaml", GGL, 1000, LOADING, { NULL }, false },
    { "tests/contract/elements_linear.yaml", MOREAU, 1000, NOT_AT_ALL, { NULL }, false },
    { "cases/rotor", HALF, 1000, LOADING, { NULL }, false },
    { "cases/rotor", "scheme={type: moreau_midpoint}", 1000, NOT_AT_ALL, { NULL }, false },
    { "cases/rotor", MOREAU, 1000, LOADING, { NULL }, false },
    // Joints and reactions.
    { "tests/contract/elements_joined.yaml", GGL, 100, LOADING, { NULL }, false },
    { "tests/contract/elements_joined.yaml",
      "scheme={type: moreau_jean, theta: 0.6}",
      100,
      NOT_AT_ALL,
      { NULL },
      false },
    { "tests/contract/elements_joined.yaml", "scheme={type: alpha_velocity}", 100, NOT_AT_ALL, { NULL }, false },
    // Varying tangents and finite rotations.
    { EXACT_2D, GGL, 200, FIRST_STEP, { SIX, LONG }, false },
    { EXACT_3D, GGL, 200, FIRST_STEP, { SIX, LONG }, false },
    { EXACT_2D, "scheme={type: moreau_jean, theta: 0.6}", 200, NOT_AT_ALL, { SIX, LONG }, false },
    { EXACT_3D, "scheme={type: moreau_jean, theta: 0.6}", 200, NOT_AT_ALL, { SIX, LONG }, false },
    { EXACT_2D, "scheme={type: newmark, gamma: 0.5, beta: 0.25}", 200, NOT_AT_ALL, { SIX, LONG }, false },
    { EXACT_3D, "scheme={type: newmark, gamma: 0.5, beta: 0.25}", 200, NOT_AT_ALL, { SIX, LONG }, false },
    { EXACT_2D, HALF, 200, NOT_AT_ALL, { SIX, SHORT }, false },
    { EXACT_3D, HALF, 200, NOT_AT_ALL, { SIX, SHORT }, false },
    // Closed forms: varying mass and friction, joints, redundant points, the circular cone, plain.
    { "cases/slider_crank", HALF, 300, FIRST_STEP, { NULL }, false },
    { "cases/slider_crank", MOREAU, 300, NOT_AT_ALL, { NULL }, false },
    { "cases/slider_crank", GGL, 300, FIRST_STEP, { NULL }, false },
    { "cases/slider_crank_bilateral", HALF, 300, NOT_AT_ALL, { NULL }, false },
    { "cases/slider_crank_bilateral", MOREAU, 300, FIRST_STEP, { NULL }, false },
    { "cases/pendulum", GGL, 300, NOT_AT_ALL, { NULL }, false },
    { "cases/puck", HALF, 300, FIRST_STEP, { NULL }, false },
    { "cases/puck", GGL, 300, NOT_AT_ALL, { NULL }, false },
    { "cases/ball", HALF, 300, FIRST_STEP, { NULL }, false },
    { "cases/ball", GGL, 300, NOT_AT_ALL, { NULL }, false },
};
enum { NTRIAL = sizeof trials / sizeof *trials };

static int trial_load(const trial *t, percuss **p)
{
    const char *const set[] = { t->scheme, t->more[0], t->more[1] };
    return percuss_load_with(t->path, t->more[0] == NULL ? 1 : 3, set, p);
}

TEST(steps_do_not_allocate)
{
    if (!alloc_fault_is_active()) skip();
    for (const trial *t = trials; t < trials + NTRIAL; t++) {
        percuss *p = NULL;
        if (trial_load(t, &p) != 0 || percuss_step(p) != 0) fail_msg("%s", percuss_message(p));
        alloc_fault_arm(0, false);
        long before = alloc_fault_live();
        for (int step = 0; step < t->nstep && !percuss_is_done(p); step++)
            if (percuss_step(p) != 0) fail_msg("%s", percuss_message(p));
        long requests = alloc_fault_requests(), growth = alloc_fault_live() - before;
        percuss_destroy(&p);
        if ((!t->may_ask && requests != 0) || growth != 0)
            fail_msg("%s, %s: %ld allocations, %ld kept", t->path, t->scheme, requests, growth);
        CHECK(p == NULL);
    }
}

TEST(failing_allocations_are_reported)
{
    if (!alloc_fault_is_active()) skip();
    for (const trial *t = trials; t < trials + NTRIAL; t++) {
        percuss *p = NULL;
        if (t->fails == NOT_AT_ALL) continue;
        CHECK(trial_load(t, &p) == 0); // warms up what libraries keep for ever
        percuss_destroy(&p);
        long before = alloc_fault_live();
        bool has_impact = true;
        for (long n = 1; has_impact || n <= 50; n++) {
            char message[256] = "";
            alloc_fault_arm(n, true);
            int status = trial_load(t, &p);
            if (status == 0 && t->fails == FIRST_STEP) status = percuss_step(p);
            if (status != 0) snprintf(message, sizeof message, "%s", percuss_message(p));
            percuss_destroy(&p);
            has_impact = alloc_fault_requests() >= n;
            alloc_fault_arm(0, false);
            if (alloc_fault_live() != before) fail_msg("%s: allocation %ld failing leaks (%s)", t->path, n, message);
            if (has_impact == (status == 0)) fail_msg("%s: allocation %ld fails unseen", t->path, n);
            if (has_impact) CHECK_TEXT(message, "memory");
        }
    }
}
