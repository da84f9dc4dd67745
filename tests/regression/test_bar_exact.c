// The exact solutions that the bar cases are measured against, checked on their own: wave equation across
// characteristic parallelograms (which holds over fronts too), end and contact conditions, derivatives,
// initial values, balance of momentum and energy, and the figures published for them.

#include "support/check.h"
#include "support/exact.h"

#include <math.h>

enum { PROBLEMS = 6, POINTS = 400 };

static exact_bar exact_problem(int i)
{
    switch (i) {
    case 0: return exact_bar_impact();
    case 1: return exact_bar_steel();
    case 2: return exact_bar_bouncing();
    case 3: return exact_bar_clamped();
    case 4: return exact_bars_two();
    default: return exact_bar_fast();
    }
}

// A repeatable number in (0, 1).
static double exact_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return ((double)(*seed >> 8) + 0.5) / 16777216.0;
}

// A time within what the case runs: two periods, or half again the time of release.
static double exact_span(const exact_bar *bar)
{
    return isfinite(bar->period) ? 2.0 * bar->period : 1.5 * bar->end[0];
}

static double exact_size(const exact_bar *bar)
{
    return bar->gap + bar->slope * bar->length - bar->velocity * exact_span(bar) +
           bar->gravity * exact_span(bar) * exact_span(bar);
}

TEST(exact_obeys_the_wave_equation)
{
    for (int i = 0; i < PROBLEMS; i++) {
        exact_bar bar = exact_problem(i);
        unsigned seed = 7u;
        for (int k = 0; k < POINTS; k++) {
            double s = bar.length * exact_random(&seed);
            double d = fmin(s, bar.length - s) / bar.speed * exact_random(&seed);
            double t = d + exact_span(&bar) * exact_random(&seed);
            double late = exact_displacement(&bar, s, t + d) + exact_displacement(&bar, s, t - d);
            double wide =
                exact_displacement(&bar, s + bar.speed * d, t) + exact_displacement(&bar, s - bar.speed * d, t);
            CHECK_NEAR(late - wide, -bar.gravity * d * d, 1e-12 * exact_size(&bar));
        }
    }
}

TEST(exact_obeys_the_far_end)
{
    for (int i = 0; i < PROBLEMS; i++) {
        exact_bar bar = exact_problem(i);
        unsigned seed = 11u;
        for (int k = 0; k < POINTS; k++) {
            double t = exact_span(&bar) * exact_random(&seed);
            if (bar.is_clamped) CHECK_NEAR(exact_displacement(&bar, bar.length, t), 0.0, 1e-13 * bar.length);
            // A front may pass the end at this very moment, hence just inside it.
            else CHECK_NEAR(exact_stress(&bar, bar.length * (1.0 - 1e-12), t), 0.0, 1e-8 * bar.modulus);
        }
    }
}

TEST(exact_obeys_the_contact_law)
{
    for (int i = 0; i < PROBLEMS; i++) {
        exact_bar bar = exact_problem(i);
        unsigned seed = 13u;
        for (int k = 0; k < POINTS; k++) {
            double t = exact_span(&bar) * exact_random(&seed), gap = exact_gap(&bar, t);
            double force = -bar.area * exact_stress(&bar, 0.0, t);
            if (exact_is_closed(&bar, t)) {
                CHECK_NEAR(gap, 0.0, 1e-13 * exact_size(&bar));
                CHECK(force > 0.0);
                CHECK_NEAR(exact_velocity(&bar, 0.0, t), 0.0, 1e-12 * bar.speed);
            } else {
                CHECK(gap > -1e-13 * exact_size(&bar));
                CHECK_NEAR(force, 0.0, 1e-12 * bar.modulus * bar.area);
            }
            CHECK_NEAR(exact_force(&bar, t), force, 1e-12 * bar.modulus * bar.area);
        }
    }
}

// Velocity and stress are the derivatives of the displacement wherever no front lies in the stencil.
TEST(exact_rates_are_derivatives)
{
    int smooth = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        exact_bar bar = exact_problem(i);
        unsigned seed = 17u;
        for (int k = 0; k < POINTS; k++) {
            double d = 1e-4 * bar.length / bar.speed, s = bar.length * (0.01 + 0.98 * exact_random(&seed));
            double t = d + exact_span(&bar) * exact_random(&seed), ds = bar.speed * d;
            double v = exact_velocity(&bar, s, t), stress = exact_stress(&bar, s, t);
            double before = exact_velocity(&bar, s, t - d), after = exact_velocity(&bar, s, t + d);
            if (fabs(after - 2.0 * v + before) > 1e-9 * bar.speed) continue;
            smooth++;
            double rate = (exact_displacement(&bar, s, t + d) - exact_displacement(&bar, s, t - d)) / (2.0 * d);
            double strain = (exact_displacement(&bar, s + ds, t) - exact_displacement(&bar, s - ds, t)) / (2.0 * ds);
            CHECK_NEAR(rate, v, 1e-8 * exact_size(&bar) / (bar.length / bar.speed));
            CHECK_NEAR(bar.modulus * strain, stress, 1e-8 * bar.modulus * exact_size(&bar) / bar.length);
        }
    }
    CHECK(smooth > PROBLEMS * POINTS * 9 / 10);
}

TEST(exact_starts_as_told)
{
    for (int i = 0; i < PROBLEMS; i++) {
        exact_bar bar = exact_problem(i);
        double end = isfinite(bar.period) ? bar.period * (1.0 - 1e-15) : 0.0;
        for (int k = 1; k < 10; k++) {
            double s = bar.length * 0.1 * k, u0 = bar.slope * (bar.length - s);
            CHECK_NEAR(exact_displacement(&bar, s, 0.0), u0, 1e-14 * exact_size(&bar));
            CHECK_NEAR(exact_velocity(&bar, s, 0.0), bar.velocity, 1e-14 * bar.speed);
            CHECK_NEAR(exact_displacement(&bar, s, end), u0, 1e-12 * exact_size(&bar));
            CHECK_NEAR(exact_velocity(&bar, s, end), bar.velocity, 1e-12 * bar.speed);
        }
    }
}

// Momentum changes by the contact impulse, the weight and the clamp; energy does not change.
TEST(exact_keeps_momentum_and_energy)
{
    enum { CELLS = 20000 };
    for (int i = 0; i < PROBLEMS; i++) {
        exact_bar bar = exact_problem(i);
        double mass = bar.density * bar.area * bar.length, energy = exact_energy(&bar, 0.0, CELLS);
        double scale =
            0.5 * mass *
            (bar.velocity * bar.velocity + bar.speed * bar.speed * bar.slope * bar.slope + bar.gravity * bar.gravity);
        for (int k = 1; k <= 24; k++) {
            double t = exact_span(&bar) * (k + 0.3) / 25.0, momentum = 0.0;
            for (int m = 0; m < 2000; m++)
                momentum += mass / 2000.0 * exact_velocity(&bar, bar.length * (m + 0.5) / 2000.0, t);
            double expected = mass * bar.velocity + exact_impulse(&bar, t) - mass * bar.gravity * t;
            if (!bar.is_clamped) CHECK_NEAR(momentum, expected, 2e-3 * sqrt(2.0 * mass * scale));
            CHECK_NEAR(exact_energy(&bar, t, CELLS), energy, 2e-4 * scale);
        }
    }
}

TEST(exact_gives_the_published_figures)
{
    exact_bar bar = exact_bar_impact();
    CHECK_NEAR(bar.end[0] - bar.begin[0], 2.0 / 3.0, 1e-15);
    CHECK_NEAR(exact_force(&bar, 0.8), 300.0, 1e-10);
    CHECK_NEAR(exact_velocity(&bar, 5.0, 1.4), 10.0, 1e-12);
    bar = exact_bar_steel();
    CHECK_RELATIVE(bar.end[0] - bar.begin[0], 3.8545e-4, 2e-5);
    CHECK_RELATIVE(exact_force(&bar, 1e-4), 1271.472, 1e-6);
    bar = exact_bar_bouncing();
    CHECK_NEAR(exact_force(&bar, 1.0 + 1e-9), 300.0, 1e-6);
    CHECK_NEAR(exact_force(&bar, 5.0 / 3.0 - 1e-9), 500.0, 1e-6);
    CHECK_NEAR(exact_force(&bar, 11.0 / 3.0 + 1e-9), 500.0, 1e-6);
    CHECK_NEAR(exact_force(&bar, 13.0 / 3.0 - 1e-9), 300.0, 1e-6);
    CHECK_NEAR(exact_velocity(&bar, 0.0, 11.0 / 3.0 - 1e-9), -10.0 / 3.0, 1e-6);
    bar = exact_bar_clamped();
    CHECK_NEAR(exact_stress(&bar, 0.0, 1.4), -0.5, 1e-14);
    CHECK_NEAR(exact_energy(&bar, 1.25, 1000), 0.125, 1e-12);
    bar = exact_bars_two();
    CHECK_NEAR(exact_stress(&bar, 0.0, 19.9), -0.1, 1e-14);
    CHECK_NEAR(exact_velocity(&bar, 3.0, 20.1), 0.1, 1e-14);
    CHECK_NEAR(2.0 * exact_energy(&bar, 3.0, 1000), 0.1, 1e-12);
    bar = exact_bar_fast();
    CHECK_NEAR(bar.begin[0], 2e-5, 1e-18);
    CHECK_NEAR(bar.end[0] - bar.begin[0], 8e-5, 1e-17);
    CHECK_NEAR(exact_force(&bar, 6e-5), 1.6e6, 1e-5);
}
