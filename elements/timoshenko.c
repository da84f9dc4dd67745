#include "elements/timoshenko.h"

void pcs_timoshenko_stiffness(const pcs_timoshenko *beam, double D[4])
{
    if (beam->has_one_point) {
        double bending = beam->EI / beam->length, shear = 3.0 * bending / beam->phi;
        D[0] = D[3] = shear + bending;
        D[1] = D[2] = shear - bending;
        return;
    }
    double scale = beam->EI / ((1.0 + beam->phi) * beam->length);
    D[0] = D[3] = scale * (4.0 + beam->phi);
    D[1] = D[2] = scale * (2.0 - beam->phi);
}

// The pattern both parts of the mass share: [a b c d; b e -d f; c -d a -b; d f -b e].
static void timoshenko_add(double scale, const double part[6], double M[16])
{
    double a = part[0], b = part[1], c = part[2], d = part[3], e = part[4], f = part[5];
    const double entries[16] = { a, b, c, d, b, e, -d, f, c, -d, a, -b, d, f, -b, e };
    for (int i = 0; i < 16; i++) M[i] += scale * entries[i];
}

static void timoshenko_one_point(const pcs_timoshenko *beam, double M[16])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double line = i % 2 == 0 ? beam->line_mass : beam->line_inertia;
            M[4 * i + j] = i % 2 == j % 2 ? 0.25 * line * beam->length : 0.0;
        }
}

void pcs_timoshenko_mass(const pcs_timoshenko *beam, double M[16])
{
    if (beam->has_one_point) {
        timoshenko_one_point(beam, M);
        return;
    }
    double p = beam->phi, p2 = p * p, L = beam->length, L2 = L * L, shear = (1.0 + p) * (1.0 + p);
    const double translation[6] = {
        13.0 / 35.0 + 7.0 * p / 10.0 + p2 / 3.0,    (11.0 / 210.0 + 11.0 * p / 120.0 + p2 / 24.0) * L,
        9.0 / 70.0 + 3.0 * p / 10.0 + p2 / 6.0,     -(13.0 / 420.0 + 3.0 * p / 40.0 + p2 / 24.0) * L,
        (1.0 / 105.0 + p / 60.0 + p2 / 120.0) * L2, -(1.0 / 140.0 + p / 60.0 + p2 / 120.0) * L2
    };
    const double rotation[6] = { 6.0 / 5.0,
                                 (1.0 / 10.0 - p / 2.0) * L,
                                 -6.0 / 5.0,
                                 (1.0 / 10.0 - p / 2.0) * L,
                                 (2.0 / 15.0 + p / 6.0 + p2 / 3.0) * L2,
                                 (-1.0 / 30.0 - p / 6.0 + p2 / 6.0) * L2 };
    for (int i = 0; i < 16; i++) M[i] = 0.0;
    timoshenko_add(beam->line_mass * L / shear, translation, M);
    timoshenko_add(beam->line_inertia / (L * shear), rotation, M);
}
