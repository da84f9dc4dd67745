#include "elements/rod_sums.h"

#include "core/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { LANES = 8, PAIR = LANES / 2 };

// Sums over a state, or over its difference from a state before it. Eight partial sums each: independent chains of
// additions, and less round-off than one. Positions and velocities one after the other: the partial sums of both would
// not fit into registers.
typedef double rod_sums_four __attribute__((vector_size(4 * sizeof(double)))); // two, or one, registers
typedef struct rod_sums_lanes {
    rod_sums_four half[2];
} rod_sums_lanes;

#define ROD_SUMS_INLINE static inline __attribute__((always_inline))

ROD_SUMS_INLINE double rod_sums_add_lanes(double sum, const rod_sums_lanes *lanes)
{
    for (int j = 0; j < LANES; j++) sum += lanes->half[j / PAIR][j % PAIR];
    return sum;
}

// *out = entries i to i + 3 of x
ROD_SUMS_INLINE void rod_sums_load(const double *x, int i, rod_sums_four *out)
{
    memcpy(out, x + i, sizeof *out);
}

// The same of x - x0, where there is a state before.
ROD_SUMS_INLINE void rod_sums_load_change(bool has_before, const double *x0, const double *x, int i, rod_sums_four *out)
{
    rod_sums_four before;
    rod_sums_load(x, i, out);
    if (!has_before) return;
    rod_sums_load(x0, i, &before);
    *out -= before;
}

// x_k+1 - x_k of four cells
ROD_SUMS_INLINE void rod_sums_load_stretch(const double *x, int k, rod_sums_four *out)
{
    rod_sums_four here;
    rod_sums_load(x, k, &here);
    rod_sums_load(x, k + 1, out);
    *out -= here;
}

// sum (x_k+1 - x_k)^2
ROD_SUMS_INLINE double rod_sums_stretch(int n, bool has_before, const double *restrict x0, const double *restrict x)
{
    rod_sums_lanes part = { 0 };
    double sum = 0.0;
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < 2; j++) {
            rod_sums_four stretch, before;
            rod_sums_load_stretch(x, i + PAIR * j, &stretch);
            if (has_before) {
                rod_sums_load_stretch(x0, i + PAIR * j, &before);
                stretch -= before;
            }
            part.half[j] += stretch * stretch;
        }
    for (; i < n; i++) {
        double stretch = x[i + 1] - x[i];
        if (has_before) stretch -= x0[i + 1] - x0[i];
        sum += stretch * stretch;
    }
    return rod_sums_add_lanes(sum, &part);
}

// Squares, products with the next one and plain sum, over x_0 .. x_n-1.
ROD_SUMS_INLINE pcs_rod_sums rod_sums_products(int n, bool has_before, const double *restrict x0,
                                               const double *restrict x)
{
    rod_sums_lanes square = { 0 }, cross = { 0 }, plain = { 0 };
    pcs_rod_sums s = { 0 };
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < 2; j++) {
            rod_sums_four a, b;
            rod_sums_load_change(has_before, x0, x, i + PAIR * j, &a);
            rod_sums_load_change(has_before, x0, x, i + PAIR * j + 1, &b);
            square.half[j] += a * a;
            cross.half[j] += a * b;
            plain.half[j] += a;
        }
    for (; i < n; i++) {
        double a = x[i], b = x[i + 1];
        if (has_before) a -= x0[i], b -= x0[i + 1];
        s.square += a * a;
        s.cross += a * b;
        s.plain += a;
    }
    s.square = rod_sums_add_lanes(s.square, &square);
    s.cross = rod_sums_add_lanes(s.cross, &cross);
    s.plain = rod_sums_add_lanes(s.plain, &plain);
    return s;
}

// Both ends of all cells, where v_0 .. v_n-1 were taken.
ROD_SUMS_INLINE void rod_sums_close(pcs_rod_sums *s, double first, double last)
{
    s->square = 2.0 * s->square + (last * last - first * first);
    s->plain = 2.0 * s->plain + (last - first);
}

PCS_WIDE pcs_rod_sums pcs_rod_run_sums(int n, const double *q, const double *v)
{
    pcs_rod_sums s = rod_sums_products(n, false, NULL, v);
    s.strain = rod_sums_stretch(n, false, NULL, q);
    rod_sums_close(&s, v[0], v[n]);
    return s;
}

PCS_WIDE pcs_rod_sums pcs_rod_run_pairs(int n, const double *restrict q, const double *restrict v)
{
    double strain[LANES] = { 0 }, square[LANES] = { 0 }, plain[LANES] = { 0 };
    int whole = n / LANES * LANES;
    pcs_rod_sums s = { 0 };
    for (int i = 0; i < whole; i += LANES)
        for (int j = 0; j < LANES; j++) {
            double stretch = q[i + j + 1] - q[i + j], pair = v[i + j + 1] + v[i + j];
            strain[j] += stretch * stretch;
            square[j] += pair * pair;
            plain[j] += pair;
        }
    for (int k = whole; k < n; k++) {
        double stretch = q[k + 1] - q[k], pair = v[k + 1] + v[k];
        s.strain += stretch * stretch;
        s.square += pair * pair;
        s.plain += pair;
    }
    for (int j = 0; j < LANES; j++) {
        s.strain += strain[j];
        s.square += square[j];
        s.plain += plain[j];
    }
    return s;
}

PCS_WIDE pcs_rod_sums pcs_rod_run_change(int n, const double *q0, const double *q1, const double *v0, const double *v1)
{
    pcs_rod_sums s = rod_sums_products(n, true, v0, v1);
    s.strain = rod_sums_stretch(n, true, q0, q1);
    rod_sums_close(&s, v1[0] - v0[0], v1[n] - v0[n]);
    s.plain = 0.0;
    return s;
}
