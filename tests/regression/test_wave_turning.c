// Sections of a beam that turn all alike while its nodes stay where they are: shear alone drives them back,
//
//   rho I r'' = -k G A r,   w = sqrt(k G A/(rho I))
//
// in the plane and about both axes in space. Scheme `wave` is the midpoint rule, whose solution from r = 0, r' = 1 is
// r_n = sin(n p)/w with tan(p/2) = w h/2: rotary inertia and shear stiffness of one-point cells, to round-off.

#include "support/check.h"
#include "support/text_case.h"

#include <math.h>
#include <stdio.h>

enum { TEXT = 2048, STEPS = 40, CELLS = 8 };

static void check_rotation(const char *element, const char *orientation, const char *fix, const char *spin, double I)
{
    char text[TEXT];
    const double width = 0.03, height = 0.05, E = 2e11, nu = 0.25, rho = 8000.0, k = 5.0 / 6.0;
    double G = 0.5 * E / (1.0 + nu), A = width * height, w = sqrt(k * G * A / (rho * I));
    double h = 1.0 / CELLS / sqrt(k * G / rho), phase = 2.0 * atan(0.5 * w * h);
    snprintf(text, sizeof text,
             "mesh: { beam: { type: line, from: [0, 0, 0], to: [1, 0, 0], elements: %d } }\n"
             "elements: { beam: { type: %s, mesh: beam, E: %g, nu: %g, rho: %g, %ssection: { type: given, area: %.17g, "
             "Iy: %.17g, Iz: %.17g, torsion: 1.0e-6, ky: %.17g, kz: %.17g } } }\n"
             "supports: { hold: { set: beam, fix: [%s] } }\n"
             "initial: [ { set: beam, spin: [%s] } ]\n"
             "scheme: { type: wave }\ntime: { step: auto, end: %.17g }\n",
             CELLS, element, E, nu, rho, orientation, A, height * height * height * width / 12.0,
             width * width * width * height / 12.0, k, k, fix, spin, STEPS * h);
    text_case run = text_case_open(text, NULL);
    for (int n = 1; n <= STEPS; n++) {
        text_case_step(&run);
        for (int i = 0; i <= CELLS; i++) CHECK_NEAR(run.sim->state.q[i] * w, sin(n * phase), 1e-11);
    }
    text_case_close(&run);
}

TEST(sections_turn_back_by_shear)
{
    double tall = 0.05 * 0.05 * 0.05 * 0.03 / 12.0, wide = 0.03 * 0.03 * 0.03 * 0.05 / 12.0;
    check_rotation("beam_timo_2d", "", "x, y", "0, 0, 1", wide);
    check_rotation("beam_timo_3d", "orientation: [0, 1, 0], ", "x, y, z, rx, ry", "0, 0, 1", wide);
    check_rotation("beam_timo_3d", "orientation: [0, 1, 0], ", "x, y, z, rx, rz", "0, 1, 0", tall);
}
