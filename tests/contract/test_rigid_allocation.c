// Closed-form systems and memory: a step allocates nothing, and whichever allocation of the set-up fails, there is a
// message and no leak.

#include "support/alloc_fault.h"
#include "support/check.h"

#include "build/build.h"
#include "core/context.h"

enum { NSTEP = 300 };

typedef struct trial {
    const char *path, *scheme;
} trial;

#define GGL "scheme={type: alpha_ggl, rho_inf: 0.8}"
#define MOREAU "scheme={type: moreau_jean, theta: 0.5}"
#define HALF "scheme={type: half_explicit}"

// Varying mass and friction, joints, redundant points, the circular cone, plain.
static const trial trials[] = {
    { "cases/slider_crank", HALF },
    { "cases/slider_crank", MOREAU },
    { "cases/slider_crank", GGL },
    { "cases/slider_crank_bilateral", HALF },
    { "cases/slider_crank_bilateral", MOREAU },
    { "cases/pendulum", GGL },
    { "cases/puck", HALF },
    { "cases/puck", GGL },
    { "cases/ball", HALF },
    { "cases/ball", GGL },
};
enum { NTRIAL = sizeof trials / sizeof *trials };

static pcs_status trial_open(const trial *t, pcs_context **ctx, pcs_sim **sim)
{
    *sim = NULL;
    pcs_status status = pcs_context_create(ctx);
    if (status == PCS_OK) status = pcs_build_sim_from(*ctx, t->path, 1, &t->scheme, sim);
    return status == PCS_OK ? pcs_sim_start(*sim) : status;
}

static void steps_allocate_nothing(void **state)
{
    (void)state;
    if (!alloc_fault_is_active()) skip();
    for (int i = 0; i < NTRIAL; i++) {
        pcs_context *ctx = NULL;
        pcs_sim *sim = NULL;
        CHECK_OK(ctx, trial_open(&trials[i], &ctx, &sim));
        CHECK_OK(ctx, pcs_sim_step(sim));
        alloc_fault_arm(0, false);
        for (int k = 0; k < NSTEP && sim->state.step < sim->nstep; k++) CHECK_OK(ctx, pcs_sim_step(sim));
        if (alloc_fault_requests() != 0)
            fail_msg("%s, %s: %ld allocations in %d steps", trials[i].path, trials[i].scheme, alloc_fault_requests(),
                     NSTEP);
        pcs_context_destroy(&ctx);
    }
}

static void every_failing_allocation_is_reported(void **state)
{
    (void)state;
    if (!alloc_fault_is_active()) skip();
    for (int i = 0; i < NTRIAL; i += 2) {
        pcs_context *ctx = NULL;
        pcs_sim *sim = NULL;
        CHECK_OK(ctx, trial_open(&trials[i], &ctx, &sim)); // warms up what libraries keep for ever
        pcs_context_destroy(&ctx);
        long before = alloc_fault_live();
        bool has_struck = true;
        for (long n = 1; has_struck; n++) {
            alloc_fault_arm(n, true);
            pcs_status status = trial_open(&trials[i], &ctx, &sim);
            has_struck = alloc_fault_requests() >= n;
            alloc_fault_arm(0, false);
            if (has_struck && status == PCS_OK) fail_msg("%s: allocation %ld fails unseen", trials[i].path, n);
            if (has_struck && ctx != NULL) CHECK_TEXT(pcs_message(ctx), "memory");
            pcs_context_destroy(&ctx);
            if (alloc_fault_live() != before)
                fail_msg("%s: allocation %ld failing leaks %ld blocks", trials[i].path, n, alloc_fault_live() - before);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_allocate_nothing),
        cmocka_unit_test(every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
