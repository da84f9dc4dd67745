// The integral over time of a velocity that is a formula.

#include "support/check.h"

#include "core/amplitude.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// int sin(t) t^2 = 2 t sin t - (t^2 - 2) cos t - 2, over many periods and backwards, from places on the way and from 0;
// a jump between places, and a pulse that is narrow for the run.
TEST(formulas_are_integrated_to_round_off)
{
    pcs_expression_fault fault;
    pcs_expression formula[3];
    const char *const variables[] = { "t", NULL };
    const char *const text[] = { "sin(t)*t^2", "3*step(t - 10.0123)", "exp(-((t - 7.3)/1e-3)^2)" };
    for (int i = 0; i < 3; i++) CHECK(pcs_expression_compile(text[i], strlen(text[i]), variables, &formula[i], &fault));
    for (int has_places = 0; has_places < 2; has_places++) {
        static double area[3][4097];
        pcs_amplitude a[3];
        for (int i = 0; i < 3; i++) {
            a[i] = (pcs_amplitude){ .kind = PCS_AMPLITUDE_EXPRESSION, .expression = &formula[i] };
            if (has_places) pcs_amplitude_integrate(&a[i], 40.0 / 4096, 4097, area[i]);
        }
        for (double t = -5.0; t < 60.0; t += 0.37) {
            double s[3], exact = 2.0 * t * sin(t) - (t * t - 2.0) * cos(t) - 2.0;
            pcs_amplitude_motion(&a[0], true, t, s);
            CHECK_NEAR(s[0], exact, 1e-12 * (1.0 + fabs(t * t)));
            pcs_amplitude_motion(&a[1], true, t, s);
            CHECK_NEAR(s[0], 3.0 * fmax(t - 10.0123, 0.0), 1e-12);
            pcs_amplitude_motion(&a[2], true, t, s);
            if (has_places) CHECK_NEAR(s[0], t > 7.3 ? 1e-3 * sqrt(pi) : 0.0, 1e-14);
        }
    }
}
