// Brasey, Hairer: Half-explicit Runge-Kutta methods for differential-algebraic systems of index 2, SIAM J. Numer. Anal.
// 30 (1993), gives HEM3 and HEM4. The method of order 5 for mechanical systems (Brasey, Computing 48, 1992) has 8
// stages, as HEM5 here, whose coefficients are a solution of the order conditions of its own
// (tests/unit/test_order_conditions.py states them) with b_1 = b_2 = 0, and sum_j a_ij c_j = c_i^2/2 and a_i1/a_i2 the
// same from the third stage on. Of several hundred solutions it has the smallest inverse of a, which carries contact
// forces, among those with a positive subdiagonal and 0 <= c <= 1.

#include "schemes/tableau.h"

#include "core/loop.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#define W 2.4494897427831780982 // sqrt 6

const pcs_tableau pcs_tableau_hem3 = {
    .s = 3,
    .a = { [1] = { 1.0 / 3.0 }, [2] = { -1.0, 2.0 } },
    .b = { 0.0, 0.75, 0.25 },
    .c = { 0.0, 1.0 / 3.0, 1.0 },
};

const pcs_tableau pcs_tableau_hem4 = {
    .s = 5,
    .a = { [1] = { 0.3 },
           [2] = { (1.0 + W) / 30.0, (11.0 - 4.0 * W) / 30.0 },
           [3] = { (-79.0 - 31.0 * W) / 150.0, (-1.0 - 4.0 * W) / 30.0, (24.0 + 11.0 * W) / 25.0 },
           [4] = { (14.0 + 5.0 * W) / 6.0, (-8.0 + 7.0 * W) / 6.0, (-9.0 - 7.0 * W) / 4.0, (9.0 - W) / 4.0 } },
    .b = { 0.0, 0.0, (16.0 - W) / 36.0, (16.0 + W) / 36.0, 1.0 / 9.0 },
    .c = { 0.0, 0.3, (4.0 - W) / 10.0, (4.0 + W) / 10.0, 1.0 },
};

const pcs_tableau pcs_tableau_hem5 = {
    .s = 8,
    .a = { [1] = { 0.09987080261418204033 },
           [2] = { 0.00386755383638013413, 0.19192856245054944862 },
           [3] = { -0.0058927179105487224, -0.29242795972462817477, 0.80515722415923467002 },
           [4] = { 0.00690504589338709364, 0.34266505084067399862, -0.2183722042717280209, 0.7024767175526230425 },
           [5] = { 0.00022130807551052761, 0.01098248210313264958, 0.22917711804819670247, -0.29572736889878145853,
                   0.12779705989784865456 },
           [6] = { -0.00142977799634565074, -0.07095317791845245057, -0.09315597436568798971, 0.53425335310196864626,
                   -0.01577628241990801169, 0.36659062171820284978 },
           [7] = { 0.00430031107389172784, 0.21340427500660460764, -0.10131617498311222738, -0.24101445254150272244,
                   0.03246588283513848678, 0.29706958147235094038, 0.79509057713662918714 } },
    .b = { 0.0, 0.0, 0.23200868337801844633, 0.25792854563883268562, 0.08353844020010567616, 0.11647816306073910491,
           0.2291962981499715281, 0.08084986957233255888 },
    .c = { 0.0, 0.09987080261418204033, 0.19579611628692958274, 0.50683654652405777286, 0.83367461001495611389,
           0.07245059922590707569, 0.71952876211977739331, 1.0 },
};

const pcs_tableau pcs_tableau_herk2 = { .s = 2, .a = { [1] = { 1.0 } }, .b = { 0.5, 0.5 }, .c = { 0.0, 1.0 } };

const pcs_tableau pcs_tableau_trapezoidal = { .s = 2,
                                              .a = { [1] = { 1.0 } },
                                              .b = { 0.5, 0.5 },
                                              .c = { 0.0, 1.0 },
                                              .has_places = true,
                                              .p = { [1] = { 0.5, 0.5 } } };

const pcs_tableau pcs_tableau_kutta3 = {
    .s = 3,
    .a = { [1] = { 0.5 }, [2] = { -1.0, 2.0 } },
    .b = { 1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0 },
    .c = { 0.0, 0.5, 1.0 },
};

const pcs_tableau pcs_tableau_rk4 = {
    .s = 4,
    .a = { [1] = { 0.5 }, [2] = { 0.0, 0.5 }, [3] = { 0.0, 0.0, 1.0 } },
    .b = { 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0 },
    .c = { 0.0, 0.5, 0.5, 1.0 },
};

const pcs_tableau pcs_tableau_fehlberg5 = {
    .s = 6,
    .a = { [1] = { 0.25 },
           [2] = { 3.0 / 32.0, 9.0 / 32.0 },
           [3] = { 1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0 },
           [4] = { 439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0 },
           [5] = { -8.0 / 27.0, 2.0, -3544.0 / 2565.0, 1859.0 / 4104.0, -11.0 / 40.0 } },
    .b = { 16.0 / 135.0, 0.0, 6656.0 / 12825.0, 28561.0 / 56430.0, -9.0 / 50.0, 2.0 / 55.0 },
    .c = { 0.0, 0.25, 0.375, 12.0 / 13.0, 1.0, 0.5 },
};

const pcs_tableau pcs_tableau_dopri5 = {
    .s = 6,
    .a = { [1] = { 0.2 },
           [2] = { 3.0 / 40.0, 9.0 / 40.0 },
           [3] = { 44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0 },
           [4] = { 19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0 },
           [5] = { 9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0 } },
    .b = { 35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0 },
    .c = { 0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0 },
};

// Allows vibrations to grow by a factor e in 10^6 radians: methods whose growth vanishes with a power of the step can
// then take small steps, forward Euler cannot.
static const double weak = 1e-6;
static const double sample = 0.05, farthest = 40.0, nothing = 1e-3;

// Makes a step y of the free motion q'' + 2 d q' + q = 0, x = (q, q'), by an iteration of the stages, which ends after
// s rounds where they are explicit. Returns false if it does not converge.
static bool tableau_step(const pcs_tableau *t, double y, double complex d, double complex x[2])
{
    const double(*p)[PCS_MAX_STAGES] = t->has_places ? t->p : t->a;
    double complex v[PCS_MAX_STAGES], a[PCS_MAX_STAGES], q0 = x[0], v0 = x[1];
    double change = 1.0;
    for (int k = 0; k < t->s; k++) a[k] = -q0 - 2.0 * d * v0;
    for (int round = 0; change > 1e-14; round++) {
        if (round == 200) return false;
        change = 0.0;
        for (int l = 0; l < t->s; l++) {
            v[l] = v0;
            for (int k = 0; k < t->s; k++) v[l] += y * t->a[l][k] * a[k];
        }
        for (int l = 0; l < t->s; l++) {
            double complex q = q0, last = a[l];
            for (int k = 0; k < t->s; k++) q += y * p[l][k] * v[k];
            a[l] = -q - 2.0 * d * v[l];
            change = fmax(change, cabs(a[l] - last) / fmax(1.0, cabs(a[l])));
        }
    }
    for (int k = 0; k < t->s; k++) {
        x[0] += y * t->b[k] * v[k];
        x[1] += y * t->b[k] * a[k];
    }
    return true;
}

// Returns the spectral radius of a step; INFINITY if it fails.
static double tableau_growth(const pcs_tableau *t, double y, double complex d)
{
    double complex a[2] = { 1.0, 0.0 }, b[2] = { 0.0, 1.0 };
    if (!tableau_step(t, y, d, a) || !tableau_step(t, y, d, b)) return INFINITY;
    double complex half = 0.5 * (a[0] + b[1]), root = csqrt(half * half - (a[0] * b[1] - a[1] * b[0]));
    return fmax(cabs(half + root), cabs(half - root));
}

double pcs_tableau_stable_step(const pcs_tableau *t, double w, double xi, double spin)
{
    // Uses the faster eigenvalue as the unit where the motion creeps or spins.
    double complex d = xi + 0.5 * I * (spin > 0.0 ? spin / w : 0.0);
    double rate = spin > 0.0 ? 2.0 * cabs(d) + 1.0 : fmax(1.0, xi + sqrt(fmax(xi * xi - 1.0, 0.0))), unit = 1.0 / rate;
    double share = weak * (1.0 + 2.0 * cimag(d)), low = 0.0, high = sample * unit;
    while (high < farthest * unit && tableau_growth(t, high, d) <= 1.0 + share * high) {
        low = high;
        high += sample * unit;
    }
    for (int i = 0; i < 40; i++) {
        double middle = 0.5 * (low + high);
        if (tableau_growth(t, middle, d) <= 1.0 + share * middle) low = middle;
        else high = middle;
    }
    return low < nothing * unit ? 0.0 : low / w;
}

double pcs_stable_trapezoidal(const void *params, double w, double xi, double spin)
{
    (void)params;
    if (spin > 0.0) return pcs_tableau_stable_step(&pcs_tableau_trapezoidal, w, xi, spin);
    return 2.0 / w / (sqrt(1.0 + xi * xi) + xi); // that of central differences, without cancellation
}

// A whirl of the rate W grows by h |spin| W^2/(2 sqrt(spin^2 + 4 w^2)) a second at any step.
double pcs_stable_lagging(const void *params, double w, double xi, double spin)
{
    return spin > 0.0 ? 0.0 : pcs_stable_trapezoidal(params, w, xi, spin);
}

PCS_WIDE void pcs_stages_add(pcs_stages s, double h, const double *x, double *y)
{
    memset(y, 0, (size_t)s.n * sizeof *y);
    for (int j = 0; j < s.count; j++) {
        double w = s.weight[j];
        const double *k = s.k[j];
        if (w == 0.0) continue;
        PCS_INDEPENDENT
        for (int i = 0; i < s.n; i++) y[i] += w * k[i];
    }
    PCS_INDEPENDENT
    for (int i = 0; i < s.n; i++) y[i] = x[i] + h * y[i];
}
