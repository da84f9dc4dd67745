#include "elements/timoshenko.h"

// From the flexibility; `scale` is that of D for the means.
static void timoshenko_tapered_stiffness(const pcs_timoshenko *beam, double D[4])
{
    const pcs_section *mean = &beam->taper->mean;
    const double *bend = beam->taper->bend[beam->plane];
    double I = beam->plane == 0 ? mean->Iz : mean->Iy;
    double carrying = mean->area * (beam->plane == 0 ? mean->ky : mean->kz);
    double shear = beam->phi / 12.0 * carrying * beam->taper->shear[beam->plane];
    double first = I * bend[0] + shear, cross = shear - I * bend[1], last = I * bend[2] + shear;
    double scale = beam->EI / (beam->length * (first * last - cross * cross));
    D[0] = scale * last;
    D[1] = D[2] = -scale * cross;
    D[3] = scale * first;
}

void pcs_timoshenko_stiffness(const pcs_timoshenko *beam, double D[4])
{
    if (beam->has_one_point) {
        double bending = beam->EI / beam->length, shear = 3.0 * bending / beam->phi;
        D[0] = D[3] = shear + bending;
        D[1] = D[2] = shear - bending;
        return;
    }
    if (beam->taper != NULL) {
        timoshenko_tapered_stiffness(beam, D);
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

// Integrals along a cell, piece after piece.
typedef struct timoshenko_sum {
    const pcs_timoshenko *beam;
    double D[4];
    double turn[2], deflection[2]; // where the piece begins, for unit deformations; against the chord
    double *M;
} timoshenko_sum;

enum { POINTS = PCS_TAPER_POINTS };

// Rotation and deflection against the chord at the points of a piece, for the deformation e_c = 1.
static void timoshenko_run(timoshenko_sum *sum, const pcs_taper_piece *piece, int c, double turn[POINTS],
                           double deflection[POINTS])
{
    const pcs_timoshenko *beam = sum->beam;
    const pcs_section *mean = &beam->taper->mean;
    bool is_about_z = beam->plane == 0;
    double I = is_about_z ? mean->Iz : mean->Iy, carrying = mean->area * (is_about_z ? mean->ky : mean->kz);
    double L = beam->length, bending = L * I / beam->EI, shear = L * beam->phi / (12.0 * beam->EI) * carrying;
    double bend[POINTS], slope[POINTS], S1 = sum->D[c], S2 = sum->D[2 + c];
    for (int i = 0; i < POINTS; i++) {
        const pcs_section *s = &piece->section[i];
        bend[i] = bending * (S2 * piece->xi[i] - S1 * (1.0 - piece->xi[i])) / (is_about_z ? s->Iz : s->Iy);
    }
    double turned = pcs_taper_run(piece, bend, turn);
    for (int i = 0; i < POINTS; i++) {
        const pcs_section *s = &piece->section[i];
        turn[i] += sum->turn[c];
        slope[i] = L * (turn[i] - shear * (S1 + S2) / (s->area * (is_about_z ? s->ky : s->kz)));
    }
    double deflected = pcs_taper_run(piece, slope, deflection);
    for (int i = 0; i < POINTS; i++) deflection[i] += sum->deflection[c];
    sum->turn[c] += turned;
    sum->deflection[c] += deflected;
}

static void timoshenko_add_piece(void *user, const pcs_taper_piece *piece)
{
    timoshenko_sum *sum = user;
    const pcs_timoshenko *beam = sum->beam;
    const pcs_section *mean = &beam->taper->mean;
    double L = beam->length, turn[2][POINTS], deflection[2][POINTS];
    // Deformations of unit (w1, t1, w2, t2).
    const double B[2][4] = { { 1.0 / L, 1.0, -1.0 / L, 0.0 }, { 1.0 / L, 0.0, -1.0 / L, 1.0 } };
    for (int c = 0; c < 2; c++) timoshenko_run(sum, piece, c, turn[c], deflection[c]);
    for (int k = 0; k < POINTS; k++) {
        const pcs_section *s = &piece->section[k];
        double N[4] = { 1.0 - piece->xi[k], 0.0, piece->xi[k], 0.0 }, Nt[4] = { -1.0 / L, 0.0, 1.0 / L, 0.0 };
        double mass = piece->weight[k] * L * beam->line_mass * s->area / mean->area;
        double share = beam->plane == 0 ? s->Iz / mean->Iz : s->Iy / mean->Iy;
        double inertia = piece->weight[k] * L * beam->line_inertia * share;
        for (int j = 0; j < 8; j++) {
            N[j % 4] += deflection[j / 4][k] * B[j / 4][j % 4];
            Nt[j % 4] += turn[j / 4][k] * B[j / 4][j % 4];
        }
        for (int j = 0; j < 16; j++) sum->M[j] += mass * N[j / 4] * N[j % 4] + inertia * Nt[j / 4] * Nt[j % 4];
    }
}

static void timoshenko_tapered_mass(const pcs_timoshenko *beam, double M[16])
{
    timoshenko_sum sum = { .beam = beam, .turn = { 1.0, 0.0 }, .M = M };
    timoshenko_tapered_stiffness(beam, sum.D);
    for (int i = 0; i < 16; i++) M[i] = 0.0;
    pcs_taper_walk(beam->line, beam->taper, timoshenko_add_piece, &sum);
}

void pcs_timoshenko_mass(const pcs_timoshenko *beam, double M[16])
{
    if (beam->has_one_point) {
        timoshenko_one_point(beam, M);
        return;
    }
    if (beam->taper != NULL) {
        timoshenko_tapered_mass(beam, M);
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
