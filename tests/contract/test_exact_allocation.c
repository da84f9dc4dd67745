// Models with varying tangents and finite rotations take all their memory at the start: no step allocates, whatever the
// scheme; and a set-up that runs out of memory says so and leaves nothing behind.

#include "support/alloc_fault.h"
#include "support/check.h"

#include "percuss.h"

#include <stdio.h>
#include <string.h>

static const char *const paths[] = { "tests/bench/exact_2d.yaml", "tests/bench/exact_3d.yaml" };
static const char *const sets[][3] = {
    { "mesh.beam.elements=6", "time.step=1e-3", "scheme={type: alpha_ggl, rho_inf: 0.8}" },
    { "mesh.beam.elements=6", "time.step=1e-3", "scheme={type: moreau_jean, theta: 0.6}" },
    { "mesh.beam.elements=6", "time.step=1e-3", "scheme={type: newmark, gamma: 0.5, beta: 0.25}" },
    { "mesh.beam.elements=6", "time.step=1e-6", "scheme={type: half_explicit}" },
};
enum { NPATH = sizeof paths / sizeof *paths, NSET = sizeof sets / sizeof *sets };

static void steps_do_not_allocate(void **state)
{
    (void)state;
    if (!alloc_fault_is_active()) skip();
    for (int i = 0; i < NPATH * NSET; i++) {
        percuss *p = NULL;
        if (percuss_load_with(paths[i % NPATH], 3, sets[i / NPATH], &p) != 0) fail_msg("%s", percuss_message(p));
        if (percuss_step(p) != 0) fail_msg("%s", percuss_message(p));
        alloc_fault_arm(0, false);
        long before = alloc_fault_live();
        for (int step = 0; step < 200; step++)
            if (percuss_step(p) != 0) fail_msg("%s", percuss_message(p));
        long requests = alloc_fault_requests(), growth = alloc_fault_live() - before;
        percuss_destroy(&p);
        if (requests != 0 || growth != 0)
            fail_msg("%s, %s: %ld allocations", paths[i % NPATH], sets[i / NPATH][2], requests);
        CHECK(p == NULL);
    }
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    if (!alloc_fault_is_active()) skip();
    for (int i = 0; i < NPATH; i++) {
        percuss *p = NULL;
        CHECK(percuss_load_with(paths[i], 3, sets[0], &p) == 0); // warms up what libraries keep for ever
        percuss_destroy(&p);
        long before = alloc_fault_live();
        for (long n = 1;; n++) {
            char message[256] = "";
            alloc_fault_arm(n, true);
            int status = percuss_load_with(paths[i], 3, sets[0], &p);
            if (status == 0) status = percuss_step(p);
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
