// The solver of many contacts on systems that vary, rub and have joints: step by step what `newton` finds, forces of
// joints included.

#include "support/check.h"
#include "support/run_case.h"

#include <math.h>
#include <stdio.h>

typedef struct trial {
    const char *path, *scheme; // NULL: that of the case
    int steps;
} trial;

// Before the motion becomes so sensitive that round-off shows.
static const trial trials[] = {
    { "cases/pendulum", NULL, 300 },
    { "cases/pendulum", "scheme={type: moreau_jean, theta: 0.6}", 300 },
    { "cases/slider_crank_bilateral", "scheme={type: alpha_ggl, rho_inf: 0.8}", 200 },
    { "cases/slider_crank", NULL, 20 },
    { "cases/rocking_block", NULL, 100 },
    { "cases/puck", NULL, 100 },
    { "cases/impacting_oscillator", "scheme={type: alpha_velocity, rho_inf: 0.8}", 300 },
    { "cases/beam_pendulum", NULL, 100 },
    { "cases/double_pendulum_stop", NULL, 100 },
};

static void compare(const trial *t)
{
    const char *one[] = { "solver.type=newton", t->scheme, NULL }, *two[] = { "solver.type=schur", t->scheme, NULL };
    case_run a = case_open(t->path, one), b = case_open(t->path, two);
    const pcs_system *system = a.sim->system;
    int n = system->nv;
    double force = 0.0, speed = 0.0, increment = 0.0;
    for (int k = 0; k < t->steps; k++) {
        case_step(&a);
        case_step(&b);
        const pcs_state *x = &a.sim->state, *y = &b.sim->state;
        speed = fmax(speed, check_largest(n, x->v));
        increment = fmax(increment, check_largest(n, x->q));
        for (int i = 0; i < n; i++) {
            if (!(fabs(y->q[i] - x->q[i]) <= 1e-9 * increment && fabs(y->v[i] - x->v[i]) <= 1e-8 * speed))
                fail_msg("%s, step %d, coordinate %d: q %.17g and %.17g, v %.17g and %.17g", t->path, k, i, x->q[i],
                         y->q[i], x->v[i], y->v[i]);
        }
        for (int j = 0; j < system->nrow; j++) force = fmax(force, fabs(a.sim->report.rows[j].force));
        for (int j = 0; j < system->nrow; j++)
            CHECK_NEAR(b.sim->report.rows[j].force, a.sim->report.rows[j].force, 1e-6 * force);
    }
    case_close(&a);
    case_close(&b);
}

TEST(steps_agree)
{
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        compare(&trials[i]);
    }
}
