#include "elements/rod_sums.h"

#include "core/loop.h"

#include <stddef.h>
#include <string.h>

// Vectors of four doubles are those of AVX; elsewhere gcc would take them apart by way of memory.
#if defined(__x86_64__)
enum { LANES = 8, WIDTH = 4, PARTS = LANES / WIDTH };
#else
enum { LANES = 8, WIDTH = 2, PARTS = LANES / WIDTH };
#endif

// Sums over a state, or over its difference from a state before it. Eight partial sums each: independent chains of
// additions, and less round-off than one. Positions and velocities one after the other: the partial sums of both would
// not fit into registers. No arrays, and results go where they are wanted: what is written one by one and read in pairs
// waits.
typedef double rod_sums_vector __attribute__((vector_size(WIDTH * sizeof(double))));
typedef struct rod_sums_lanes {
    rod_sums_vector part[PARTS];
} rod_sums_lanes;

#define ROD_SUMS_INLINE static inline __attribute__((always_inline))

// The same order whatever the width: (0 + 4) + (1 + 5), (2 + 6) + (3 + 7).
ROD_SUMS_INLINE double rod_sums_add_lanes(double sum, const rod_sums_lanes *lanes)
{
    const rod_sums_vector *part = lanes->part;
    if (WIDTH == 4) {
        rod_sums_vector s = part[0] + part[1];
        return sum + ((s[0] + s[1]) + (s[2 % WIDTH] + s[3 % WIDTH]));
    }
    rod_sums_vector s = part[0] + part[2 % PARTS], t = part[1] + part[3 % PARTS];
    return sum + ((s[0] + s[1]) + (t[0] + t[1]));
}

ROD_SUMS_INLINE void rod_sums_load(const double *x, rod_sums_lanes *out)
{
    for (int k = 0; k < PARTS; k++) memcpy(&out->part[k], x + WIDTH * k, sizeof out->part[k]);
}

// sum += a b
ROD_SUMS_INLINE void rod_sums_multiply(rod_sums_lanes *sum, const rod_sums_lanes *a, const rod_sums_lanes *b)
{
    for (int k = 0; k < PARTS; k++) sum->part[k] += a->part[k] * b->part[k];
}

ROD_SUMS_INLINE void rod_sums_add(rod_sums_lanes *sum, const rod_sums_lanes *a)
{
    for (int k = 0; k < PARTS; k++) sum->part[k] += a->part[k];
}

// a - b into a
ROD_SUMS_INLINE void rod_sums_subtract(rod_sums_lanes *a, const rod_sums_lanes *b)
{
    for (int k = 0; k < PARTS; k++) a->part[k] -= b->part[k];
}

// x_k+1 - x_k
ROD_SUMS_INLINE void rod_sums_stretch_of(const double *x, rod_sums_lanes *out)
{
    rod_sums_lanes before;
    rod_sums_load(x + 1, out);
    rod_sums_load(x, &before);
    rod_sums_subtract(out, &before);
}

// sum (x_k+1 - x_k)^2 of a state, and of its difference from x0; NULL: not asked for.
ROD_SUMS_INLINE void rod_sums_stretch(int n, const double *x0, const double *x, pcs_rod_sums *state,
                                      pcs_rod_sums *change)
{
    rod_sums_lanes part = { 0 }, part_of_change = { 0 }, stretch, stretch0;
    double sum = 0.0, sum_of_change = 0.0;
    int i = 0;
    for (; i + LANES <= n; i += LANES) {
        rod_sums_stretch_of(x + i, &stretch);
        if (state != NULL) rod_sums_multiply(&part, &stretch, &stretch);
        if (change == NULL) continue;
        rod_sums_stretch_of(x0 + i, &stretch0);
        rod_sums_subtract(&stretch, &stretch0);
        rod_sums_multiply(&part_of_change, &stretch, &stretch);
    }
    for (; i < n; i++) {
        double single = x[i + 1] - x[i];
        sum += single * single;
        if (change == NULL) continue;
        single -= x0[i + 1] - x0[i];
        sum_of_change += single * single;
    }
    if (state != NULL) state->strain = rod_sums_add_lanes(sum, &part);
    if (change != NULL) change->strain = rod_sums_add_lanes(sum_of_change, &part_of_change);
}

// Squares and products with the next one in the making.
typedef struct rod_sums_products {
    rod_sums_lanes square, cross;
    double square_of_rest, cross_of_rest; // of entries that fill no lanes
} rod_sums_products;

ROD_SUMS_INLINE void rod_sums_add_lanes_of(rod_sums_products *p, const rod_sums_lanes *a, const rod_sums_lanes *b)
{
    rod_sums_multiply(&p->square, a, a);
    rod_sums_multiply(&p->cross, a, b);
}

ROD_SUMS_INLINE void rod_sums_add_one_of(rod_sums_products *p, double a, double b)
{
    p->square_of_rest += a * a;
    p->cross_of_rest += a * b;
}

// Over both ends of all cells, from sums over x_0 .. x_n-1.
ROD_SUMS_INLINE void rod_sums_close(const rod_sums_products *p, double first, double last, pcs_rod_sums *out)
{
    out->square = 2.0 * rod_sums_add_lanes(p->square_of_rest, &p->square) + (last * last - first * first);
    out->cross = rod_sums_add_lanes(p->cross_of_rest, &p->cross);
}

// Computes the sums of x in `state`, and those of x - x0 in `change`; either may be NULL.
ROD_SUMS_INLINE void rod_sums_product(int n, const double *x0, const double *x, pcs_rod_sums *state,
                                      pcs_rod_sums *change)
{
    rod_sums_products of_state = { 0 }, of_change = { 0 };
    rod_sums_lanes plain = { 0 }, a, b, before;
    double plain_of_rest = 0.0;
    int i = 0;
    for (; i + LANES <= n; i += LANES) {
        rod_sums_load(x + i, &a);
        rod_sums_load(x + i + 1, &b);
        if (state != NULL) {
            rod_sums_add_lanes_of(&of_state, &a, &b);
            rod_sums_add(&plain, &a);
        }
        if (change == NULL) continue;
        rod_sums_load(x0 + i, &before);
        rod_sums_subtract(&a, &before);
        rod_sums_load(x0 + i + 1, &before);
        rod_sums_subtract(&b, &before);
        rod_sums_add_lanes_of(&of_change, &a, &b);
    }
    for (; i < n; i++) {
        if (state != NULL) rod_sums_add_one_of(&of_state, x[i], x[i + 1]);
        plain_of_rest += x[i];
        if (change != NULL) rod_sums_add_one_of(&of_change, x[i] - x0[i], x[i + 1] - x0[i + 1]);
    }
    if (state != NULL) {
        rod_sums_close(&of_state, x[0], x[n], state);
        state->plain = 2.0 * rod_sums_add_lanes(plain_of_rest, &plain) + (x[n] - x[0]);
    }
    if (change != NULL) rod_sums_close(&of_change, x[0] - x0[0], x[n] - x0[n], change);
}

PCS_WIDE void pcs_rod_run_sums(int n, const double *q, const double *v, pcs_rod_sums *out)
{
    rod_sums_product(n, NULL, v, out, NULL);
    rod_sums_stretch(n, NULL, q, out, NULL);
}

PCS_WIDE void pcs_rod_run_change(int n, const double *const q[2], const double *const v[2], pcs_rod_sums *out)
{
    rod_sums_product(n, v[0], v[1], NULL, out);
    rod_sums_stretch(n, q[0], q[1], NULL, out);
}

PCS_WIDE void pcs_rod_run_both(int n, const double *const q[2], const double *const v[2], pcs_rod_sums out[2])
{
    rod_sums_product(n, v[0], v[1], &out[0], &out[1]);
    rod_sums_stretch(n, q[0], q[1], &out[0], &out[1]);
}

PCS_WIDE void pcs_rod_run_pairs(int n, const double *restrict q, const double *restrict v, pcs_rod_sums *out)
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
    *out = s;
}
