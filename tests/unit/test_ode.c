// Roots of functions that are staircases, as every function is in round-off: exactly 0 over an interval. Each is found
// once, in its own direction, where the interval begins, and the motion goes on behind it.

#include "schemes/ode.h"

#include "support/check.h"

#include <math.h>

enum { RISING, FALLING, RISING_TOO, WATCHED_FOR_RISING, NROOT };
static int direction[NROOT] = { 1, -1, 1, 1 };

typedef struct stairs {
    double place;  // where the functions vanish
    double width;  // of a stair
    double height; // of a stair
} stairs;

static bool stairs_slope(void *user, double t, const double *y, double *dy)
{
    (void)user;
    (void)t;
    (void)y;
    dy[0] = 1.0;
    return true;
}

static bool stairs_roots(void *user, double t, const double *y, double *root)
{
    const stairs *s = user;
    (void)t;
    double value = s->height * trunc((y[0] - s->place) / s->width);
    root[RISING] = value;
    root[FALLING] = -value;
    root[RISING_TOO] = 1e3 * value;
    root[WATCHED_FOR_RISING] = -value; // falls only
    return true;
}

// y = t from 0 to 1: how often each root was found, and where for the first time.
static void follow(stairs *s, double first_step, int count[NROOT], double at[NROOT])
{
    pcs_context *ctx = NULL;
    pcs_ode *ode = NULL;
    pcs_ode_problem problem = { s, 1, NROOT, stairs_slope, stairs_roots, direction };
    double y = 0.0, t = 0.0, atol = 1e-12;
    CHECK_OK(NULL, pcs_context_create(&ctx));
    CHECK_OK(ctx, pcs_ode_create(ctx, &problem, &ode));
    CHECK(pcs_ode_set_tolerances(ode, 1e-10, &atol) && pcs_ode_restart(ode, t, &y, first_step));
    for (int i = 0; i < NROOT; i++) count[i] = 0;
    for (int advances = 0; t < 1.0; advances++) {
        CHECK(advances < 1000);
        pcs_ode_end end = pcs_ode_advance(ode, 1.0, &t, &y);
        CHECK(end != PCS_ODE_FAILED);
        const int *found = pcs_ode_found(ode);
        for (int i = 0; end == PCS_ODE_ROOT && i < NROOT; i++)
            if (found[i] != 0 && count[i]++ == 0) at[i] = t;
    }
    CHECK_NEAR(y, 1.0, 1e-12);
    pcs_context_destroy(&ctx);
}

TEST(a_stair_of_zeros_is_one_root)
{
    static const double heights[] = { 1e-30, 1e-15, 1.0, 1e30 }, steps[] = { 1e-9, 1e-3, 0.37 };
    int count[NROOT];
    double at[NROOT];
    for (double width = 1e-3; width > 1e-15; width *= 0.1)
        for (int h = 0; h < 4; h++)
            for (int k = 0; k < 3; k++) {
                stairs s = { 0.4321, width, heights[h] };
                follow(&s, steps[k], count, at);
                CHECK(count[RISING] == 1 && count[FALLING] == 1 && count[RISING_TOO] == 1);
                CHECK(count[WATCHED_FOR_RISING] == 0);
                // trunc: the stair of zeros has the width of two.
                for (int i = RISING; i <= RISING_TOO; i++) CHECK_NEAR(at[i], s.place, 1.001 * width + 1e-13);
            }
}

// What vanishes at the start has its root behind it; what never leaves zero has none.
TEST(a_stair_at_the_start_is_none)
{
    static const stairs starts[] = { { 0.0, 1e-6, 1.0 }, { 0.0, 1e-15, 1.0 }, { 0.5, 1.0, 1.0 } };
    int count[NROOT];
    double at[NROOT];
    for (int i = 0; i < 3; i++) {
        stairs s = starts[i];
        follow(&s, 1e-3, count, at);
        for (int k = 0; k < NROOT; k++) CHECK(count[k] == 0);
    }
}
