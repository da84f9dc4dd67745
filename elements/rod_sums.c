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

ROD_SUMS_INLINE rod_sums_four *rod_sums_load(const double *x, rod_sums_four *out)
{
    memcpy(out, x, sizeof *out);
    return out;
}

// Which of two states sums are taken of: of the last one, x[1], and of its difference from the one before, x[0].
enum { STATE, CHANGE };
typedef struct rod_sums_choice {
    bool has[2];
} rod_sums_choice;

// sum (x_k+1 - x_k)^2
ROD_SUMS_INLINE void rod_sums_stretch(int n, const double *const x[2], rod_sums_choice of, pcs_rod_sums out[2])
{
    const double *restrict x0 = x[0], *restrict x1 = x[1];
    rod_sums_lanes part[2] = { 0 };
    double sum[2] = { 0.0, 0.0 };
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES / 4; j++) {
            int k = i + 4 * j;
            rod_sums_four a, b;
            rod_sums_four stretch = *rod_sums_load(x1 + k + 1, &b) - *rod_sums_load(x1 + k, &a);
            if (of.has[STATE]) part[STATE].four[j] += stretch * stretch;
            if (!of.has[CHANGE]) continue;
            stretch -= *rod_sums_load(x0 + k + 1, &b) - *rod_sums_load(x0 + k, &a);
            part[CHANGE].four[j] += stretch * stretch;
        }
    for (; i < n; i++) {
        double stretch = x1[i + 1] - x1[i];
        sum[STATE] += stretch * stretch;
        if (!of.has[CHANGE]) continue;
        stretch -= x0[i + 1] - x0[i];
        sum[CHANGE] += stretch * stretch;
    }
    for (int k = 0; k < 2; k++) out[k].strain = rod_sums_add_lanes(sum[k], &part[k]);
}

typedef struct rod_sums_products_lanes {
    rod_sums_lanes square, cross;
} rod_sums_products_lanes;

ROD_SUMS_INLINE void rod_sums_add_products(rod_sums_products_lanes *p, int j, const rod_sums_four *a,
                                           const rod_sums_four *b)
{
    p->square.four[j] += *a * *a;
    p->cross.four[j] += *a * *b;
}

static inline void rod_sums_add_product(pcs_rod_sums *s, double a, double b)
{
    s->square += a * a;
    s->cross += a * b;
}

// Squares and products with the next one over both ends of all cells, and the plain sum of a state, from those over
// x_0 .. x_n-1.
ROD_SUMS_INLINE void rod_sums_products(int n, const double *const x[2], rod_sums_choice of, pcs_rod_sums out[2])
{
    const double *restrict x0 = x[0], *restrict x1 = x[1];
    rod_sums_products_lanes part[2] = { 0 };
    rod_sums_lanes plain = { 0 };
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES / 4; j++) {
            int k = i + 4 * j;
            rod_sums_four a, b, a0, b0;
            rod_sums_load(x1 + k, &a);
            rod_sums_load(x1 + k + 1, &b);
            if (of.has[STATE]) {
                rod_sums_add_products(&part[STATE], j, &a, &b);
                plain.four[j] += a;
            }
            if (!of.has[CHANGE]) continue;
            a -= *rod_sums_load(x0 + k, &a0);
            b -= *rod_sums_load(x0 + k + 1, &b0);
            rod_sums_add_products(&part[CHANGE], j, &a, &b);
        }
    for (; i < n; i++) {
        rod_sums_add_product(&out[STATE], x1[i], x1[i + 1]);
        out[STATE].plain += x1[i];
        if (of.has[CHANGE]) rod_sums_add_product(&out[CHANGE], x1[i] - x0[i], x1[i + 1] - x0[i + 1]);
    }
    for (int k = 0; k < 2; k++) {
        if (!of.has[k]) continue;
        double first = x1[0] - (k == CHANGE ? x0[0] : 0.0), last = x1[n] - (k == CHANGE ? x0[n] : 0.0);
        out[k].square = 2.0 * rod_sums_add_lanes(out[k].square, &part[k].square) + (last * last - first * first);
        out[k].cross = rod_sums_add_lanes(out[k].cross, &part[k].cross);
        if (k == STATE) out[k].plain = 2.0 * rod_sums_add_lanes(out[k].plain, &plain) + (last - first);
    }
}

PCS_WIDE pcs_rod_sums pcs_rod_run_sums(int n, const double *q, const double *v)
{
    pcs_rod_sums out[2] = { 0 };
    const rod_sums_choice state = { { true, false } };
    rod_sums_products(n, (const double *const[2]){ v, v }, state, out);
    rod_sums_stretch(n, (const double *const[2]){ q, q }, state, out);
    return out[STATE];
}

PCS_WIDE pcs_rod_sums pcs_rod_run_change(int n, const double *const q[2], const double *const v[2])
{
    pcs_rod_sums out[2] = { 0 };
    const rod_sums_choice change = { { false, true } };
    rod_sums_products(n, v, change, out);
    rod_sums_stretch(n, q, change, out);
    return out[CHANGE];
}

PCS_WIDE void pcs_rod_run_both(int n, const double *const q[2], const double *const v[2], pcs_rod_sums out[2])
{
    const rod_sums_choice both = { { true, true } };
    out[STATE] = out[CHANGE] = (pcs_rod_sums){ 0 };
    rod_sums_products(n, v, both, out);
    rod_sums_stretch(n, q, both, out);
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
