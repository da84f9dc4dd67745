#include "elements/rod_sums.h"

#include "core/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { LANES = 8 };

// Sums over a state, or over its difference from a state before it. Eight partial sums each: independent chains of
// additions, and less round-off than one. Positions and velocities one after the other: the partial sums of both would
// not fit into registers.
typedef double rod_sums_four __attribute__((vector_size(4 * sizeof(double))));
typedef struct rod_sums_lanes {
    rod_sums_four four[LANES / 4];
} rod_sums_lanes;

static inline double rod_sums_add_lanes(double sum, const rod_sums_lanes *lanes)
{
    for (int j = 0; j < LANES; j++) sum += lanes->four[j / 4][j % 4];
    return sum;
}

#define ROD_SUMS_INLINE static inline __attribute__((always_inline))

// Four entries of x, or of x - x0.
ROD_SUMS_INLINE void rod_sums_load(bool has_before, const double *x0, const double *x, rod_sums_four *out)
{
    rod_sums_four before;
    memcpy(out, x, sizeof *out);
    if (!has_before) return;
    memcpy(&before, x0, sizeof before);
    *out -= before;
}

// sum (x_k+1 - x_k)^2
ROD_SUMS_INLINE double rod_sums_stretch(int n, bool has_before, const double *restrict x0, const double *restrict x)
{
    rod_sums_lanes part = { 0 };
    double sum = 0.0;
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES / 4; j++) {
            rod_sums_four stretch, before;
            rod_sums_load(true, x + i + 4 * j, x + i + 4 * j + 1, &stretch);
            if (has_before) {
                rod_sums_load(true, x0 + i + 4 * j, x0 + i + 4 * j + 1, &before);
                stretch -= before;
            }
            part.four[j] += stretch * stretch;
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
        for (int j = 0; j < LANES / 4; j++) {
            rod_sums_four a, b;
            rod_sums_load(has_before, x0 + i + 4 * j, x + i + 4 * j, &a);
            rod_sums_load(has_before, x0 + i + 4 * j + 1, x + i + 4 * j + 1, &b);
            square.four[j] += a * a;
            cross.four[j] += a * b;
            plain.four[j] += a;
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
static void rod_sums_close(pcs_rod_sums *s, double first, double last)
{
    s->square = 2.0 * s->square + (last * last - first * first);
    s->plain = 2.0 * s->plain + (last - first);
}

PCS_WIDE pcs_rod_sums pcs_rod_run_sums(int n, const double *q, const double *v)
{
    pcs_rod_sums s = rod_sums_products(n, false, v, v);
    s.strain = rod_sums_stretch(n, false, q, q);
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
