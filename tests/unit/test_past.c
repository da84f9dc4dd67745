// What is expected of the next step from those before it: exact for polynomials up to the second order, and the last
// acceleration where the motion alternates, the step has another length, or nothing is known.

#include "step/past.h"
#include "support/check.h"

#include <math.h>

enum { N = 2, PAUSE = 16 };

typedef struct history {
    pcs_context *ctx;
    pcs_past *past;
    double a[N], force; // of the last step
} history;

static history history_open(pcs_system *system)
{
    history y = { 0 };
    static pcs_step_solver solver;
    CHECK_OK(NULL, pcs_context_create(&y.ctx));
    *system = (pcs_system){ .nv = N };
    solver = (pcs_step_solver){ .ctx = y.ctx, .system = system };
    CHECK_OK(y.ctx, pcs_past_create(&solver, 1, 2, &y.past));
    return y;
}

// The next step, of length h and with this acceleration; gives what was expected of it less that.
static double history_go_on(history *y, const pcs_system *system, double h, double next)
{
    double d[N], force, a[N] = { next, -2.0 * next };
    pcs_past_guess(y->past, h, 0.5, y->a, d);
    pcs_past_guess_forces(y->past, h, &y->force, &force);
    double off = 2.0 * d[0] - a[0];
    CHECK_NEAR(2.0 * d[1] - a[1], -2.0 * off, 1e-12);
    CHECK_NEAR(force - 3.0 * next, 3.0 * off, 1e-12);
    pcs_past_learn(y->past, system, h, y->a, a, 1.0);
    force = 3.0 * next;
    pcs_past_learn_forces(y->past, &y->force, &force);
    for (int i = 0; i < N; i++) y->a[i] = a[i];
    y->force = force;
    return off;
}

static double cubic(int n)
{
    return 1.0 + 0.5 * n - 0.25 * n * n + 0.125 * n * n * n;
}

// Two differences give a parabola, and a cubic up to its third difference, 0.75.
TEST(polynomials_are_expected)
{
    pcs_system system;
    history y = history_open(&system);
    for (int n = 0; n < 12; n++) {
        double off = history_go_on(&y, &system, 0.1, 0.5 * n * n);
        if (n > 4) CHECK_NEAR(off, 0.0, 1e-12);
    }
    pcs_past_forget(y.past);
    for (int n = 0; n < 12; n++) {
        double off = history_go_on(&y, &system, 0.1, cubic(n));
        if (n > 5) CHECK_NEAR(off, -0.75, 1e-12);
    }
    pcs_context_destroy(&y.ctx);
}

// A step of another length is expected to go on as the last one did, and what follows from steps of its length alone.
TEST(another_step_begins_anew)
{
    pcs_system system;
    history y = history_open(&system);
    for (int n = 0; n < 8; n++) (void)history_go_on(&y, &system, 0.1, cubic(n));
    CHECK_NEAR(history_go_on(&y, &system, 0.2, cubic(8)), cubic(7) - cubic(8), 1e-12);
    CHECK(y.past->head.count == 1.0);
    CHECK_NEAR(history_go_on(&y, &system, 0.2, cubic(9)), cubic(8) - cubic(9), 1e-12);
    pcs_context_destroy(&y.ctx);
}

// Signs that alternate make every difference larger than the one before: none is used, nor looked at for a while.
TEST(alternating_motion_is_left_alone)
{
    pcs_system system;
    history y = history_open(&system);
    for (int n = 0; n < 4; n++)
        CHECK_NEAR(fabs(history_go_on(&y, &system, 0.1, n % 2 ? 1.0 : -1.0)), n > 0 ? 2.0 : 1.0, 1e-12);
    CHECK(y.past->head.count == -PAUSE);
    for (int n = 0; n < PAUSE; n++) CHECK(history_go_on(&y, &system, 0.1, (double)n) != 0.0);
    CHECK(y.past->head.count == 0.0);
    pcs_context_destroy(&y.ctx);
}
