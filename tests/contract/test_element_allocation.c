// Models of rods, springs, bodies and shafts take all their memory at the start: no step allocates, whatever the
// scheme; and a set-up that runs out of memory says so and leaves nothing behind.

#include "support/alloc_fault.h"
#include "support/check.h"

#include "percuss.h"

#include <stdio.h>

static const struct {
    const char *path, *scheme;
} trials[] = {
    { "tests/contract/elements_large.yaml", "scheme={type: alpha_ggl, rho_inf: 0.8}" },
    { "tests/contract/elements_large.yaml", "scheme={type: half_explicit}" },
    { "tests/contract/elements_linear.yaml", "scheme={type: alpha_ggl, rho_inf: 0.8}" },
    { "tests/contract/elements_linear.yaml", "scheme={type: moreau_jean, theta: 0.5}" },
    { "cases/rotor", "scheme={type: half_explicit}" },
    { "cases/rotor", "scheme={type: moreau_midpoint}" },
    { "cases/rotor", "scheme={type: moreau_jean, theta: 0.5}" },
};
enum { NTRIAL = sizeof trials / sizeof *trials };

// The rotor meets its bearing after 900 steps.
static void steps_do_not_allocate(void **state)
{
    (void)state;
    if (!alloc_fault_is_active()) skip();
    for (int i = 0; i < NTRIAL; i++) {
        percuss *p = NULL;
        // UMFPACK takes the matrix of the first, which changes in every step, and helps itself to memory.
        bool may_ask = i == 0;
        if (percuss_load_with(trials[i].path, 1, &trials[i].scheme, &p) != 0) fail_msg("%s", percuss_message(p));
        if (percuss_step(p) != 0) fail_msg("%s", percuss_message(p));
        alloc_fault_arm(0, false);
        long before = alloc_fault_live();
        for (int step = 0; step < 1000; step++)
            if (percuss_step(p) != 0) fail_msg("%s", percuss_message(p));
        long requests = alloc_fault_requests(), growth = alloc_fault_live() - before;
        percuss_destroy(&p);
        if ((!may_ask && requests != 0) || growth != 0)
            fail_msg("%s, %s: %ld allocations, %ld kept", trials[i].path, trials[i].scheme, requests, growth);
        CHECK(p == NULL);
    }
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    if (!alloc_fault_is_active()) skip();
    for (int i = 0; i < NTRIAL; i += 2) {
        percuss *p = NULL;
        CHECK(percuss_load_with(trials[i].path, 1, &trials[i].scheme, &p) ==
              0); // warms up what libraries keep for ever
        percuss_destroy(&p);
        long before = alloc_fault_live();
        for (long n = 1;; n++) {
            char message[256] = "";
            alloc_fault_arm(n, true);
            int status = percuss_load_with(trials[i].path, 1, &trials[i].scheme, &p);
            if (status != 0) snprintf(message, sizeof message, "%s", percuss_message(p));
            percuss_destroy(&p);
            bool has_struck = alloc_fault_requests() >= n;
            alloc_fault_arm(0, false);
            if (alloc_fault_live() != before) fail_msg("allocation %ld failing leaks (%s)", n, message);
            if (status != 0 && message[0] == '\0') fail_msg("allocation %ld fails without a message", n);
            CHECK(has_struck ? status != 0 : status == 0);
            if (!has_struck && n > 50) break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_do_not_allocate),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
