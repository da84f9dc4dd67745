// Rods with lateral inertia against the closed forms of Love:
//
//   w(k) = c k/sqrt(1 + b k^2),   b = nu^2 J/A
//
// A uniform mesh of length h with consistent mass has, by its matrices,
//   w^2 = (4 c^2/h^2) s/(1 - (2/3) s + 4 (b/h^2) s),   s = sin^2(k h/2)

#include "support/check.h"
#include "support/still.h"

#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846;

static double love(double c, double b, double k)
{
    return c * k / sqrt(1.0 + b * k * k);
}

// Mode n of a free rod of length 1 with E = 4, rho = 1, A = 0.2, nu = 0.3: k = n pi.
static double mode(int n, int cells, const char *more)
{
    char text[512];
    snprintf(text, sizeof text,
             "mesh: { bar: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: %d } }\n"
             "elements: { bar: { type: rod_love, mesh: bar, E: 4.0, rho: 1.0, area: 0.2, nu: 0.3%s } }\n"
             "supports: { hold: { set: bar.start, fix: [x] } }\n",
             cells, more);
    still s = still_open(text, NULL);
    pcs_modes modes = still_modes(&s, n, PCS_EIGEN_DENSE);
    double w = modes.modes[n - 1].w;
    still_close(&s);
    return w;
}

TEST(modes_follow_the_dispersion_curve)
{
    const double round = 0.09 * 0.2 / (2.0 * pi), square = 0.09 * 0.4 / 0.2;
    const struct {
        const char *more;
        double b, slack; // of the mesh that is finest
    } table[] = { { "", round, 1e-3 },
                  { ", polar_moment: 0.4", square, 1e-3 },
                  { ", mass: lumped", round, 1e-3 },
                  { ", polar_moment: 1.0e-12", 0.0, 1e-3 } };
    for (int i = 0; i < 4; i++)
        for (int n = 1; n <= 3; n++) {
            double k = (n - 0.5) * pi, exact = love(2.0, table[i].b, k), error[3];
            for (int j = 0; j < 3; j++) error[j] = mode(n, 20 << j, table[i].more) / exact - 1.0;
            CHECK(fabs(error[2]) < table[i].slack);
            CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.1);
            CHECK_NEAR(log2(error[1] / error[2]), 2.0, 0.03);
        }
    // and the matrices themselves, to round-off
    double h = 1.0 / 20.0, s = pow(sin(0.5 * 2.5 * pi * h), 2.0);
    double w = sqrt(4.0 * 4.0 / (h * h) * s / (1.0 - 2.0 / 3.0 * s + 4.0 * round / (h * h) * s));
    CHECK_RELATIVE(mode(3, 20, ""), w, 1e-11);
}

enum { CELLS = 400, WAVES = 81 };
