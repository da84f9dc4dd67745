// Yardsticks of one time step that know nothing of the engine.
//
//   memory   the vectors a fused step must read and write at least, streamed without any recurrence
//   chain    one solve with two chains (elimination from both ends) per solve, and two passes over the state
//
// The matrix is scaled to row sums of 1, so that solving again and again stays in range.

#ifndef TESTS_BENCH_YARDSTICKS_H
#define TESTS_BENCH_YARDSTICKS_H

#include "bench_bar.h"

enum { BENCH_MAX_STATE = 4 }; // q, v and the two accelerations of generalized-alpha

typedef struct bench_yard {
    int scheme, n, nstate, nsolve; // vectors of the state, solves per step
    double *state[BENCH_MAX_STATE];
    double *x;               // [n] right-hand side and solution
    double *twist, *inverse; // [n] twisted LDL^T: multipliers, reciprocal pivots
    int middle;              // where the two chains meet
} bench_yard;

// Elimination from both ends towards the middle.
static inline void yard_factor_twisted(bench_yard *y, const bench_tri *A)
{
    int n = y->n, m = y->middle = n / 2;
    double *l = y->twist, *r = y->inverse;
    r[0] = 1.0 / A->diagonal[0];
    for (int i = 0; i + 1 < m; ++i) {
        l[i] = A->off[i] * r[i];
        r[i + 1] = 1.0 / (A->diagonal[i + 1] - l[i] * A->off[i]);
    }
    r[n - 1] = 1.0 / A->diagonal[n - 1];
    for (int i = n - 1; i > m + 1; --i) {
        l[i] = A->off[i - 1] * r[i];
        r[i - 1] = 1.0 / (A->diagonal[i - 1] - l[i] * A->off[i - 1]);
    }
    l[m - 1] = A->off[m - 1] * r[m - 1];
    l[m + 1] = A->off[m] * r[m + 1];
    r[m] = 1.0 / (A->diagonal[m] - l[m - 1] * A->off[m - 1] - l[m + 1] * A->off[m]);
}

// Two independent recurrences per sweep: each hides the latency of the other.
static inline void yard_solve_twisted(const bench_yard *y)
{
    int n = y->n, m = y->middle, pairs = n - 1 - m; // m = pairs or pairs + 1
    const double *restrict l = y->twist, *restrict r = y->inverse;
    double *restrict x = y->x;
    double up = x[0], down = x[n - 1];
    for (int i = 1, j = n - 2; i < pairs; ++i, --j) {
        x[i] = up = x[i] - l[i - 1] * up;
        x[j] = down = x[j] - l[j + 1] * down;
    }
    for (int i = pairs; i < m; ++i) x[i] -= l[i - 1] * x[i - 1];
    x[m] = up = down = (x[m] - l[m - 1] * x[m - 1] - l[m + 1] * x[m + 1]) * r[m];
    for (int i = m - 1, j = m + 1; j < n; --i, ++j) {
        x[i] = up = x[i] * r[i] - l[i] * up;
        x[j] = down = x[j] * r[j] - l[j] * down;
    }
    for (int i = m - pairs - 1; i >= 0; --i) x[i] = x[i] * r[i] - l[i] * x[i + 1];
}

// A fresh right-hand side.
static inline void bench_yard_reset(void *self)
{
    bench_yard *y = self;
    for (int i = 0; i < y->n; ++i) y->x[i] = 1.0 + i % 5;
}

static inline bench_yard bench_yard_create(const bench_form *f, int n)
{
    bench_yard y = { .scheme = f->scheme, .n = n };
    y.nstate = f->scheme == BENCH_GGL ? 4 : 2;
    y.nsolve = f->scheme == BENCH_HALF_EXPLICIT ? 2 : 1;
    for (int k = 0; k < y.nstate; ++k) {
        y.state[k] = bench_vector(n);
        for (int i = 0; i < n; ++i) y.state[k][i] = k + 1e-3 * (i % 7);
    }
    y.x = bench_vector(n);
    y.twist = bench_vector(n);
    y.inverse = bench_vector(n);
    bench_tri A = bench_tri_of(f, n);
    double scale = A.diagonal[n / 2] + A.off[n / 2] + A.off[n / 2 - 1];
    for (int i = 0; i < n; ++i) {
        A.diagonal[i] /= scale;
        A.off[i] /= scale;
    }
    yard_factor_twisted(&y, &A);
    bench_tri_free(&A);
    return y;
}

static inline void bench_yard_destroy(bench_yard *y)
{
    for (int k = 0; k < y->nstate; ++k) free(y->state[k]);
    free(y->x);
    free(y->twist);
    free(y->inverse);
}

// The streams below are what the machine can do, whatever the flags of the build: vectorised by the compiler.
#if defined(__GNUC__) && !defined(__clang__)
#define BENCH_STREAM static __attribute__((noinline, optimize("O3")))
#else
#define BENCH_STREAM static
#endif

// Forward half of a fused step: 1, 2 or 4 vectors of the state and the multipliers in, the half-solved vector out.
BENCH_STREAM void yard_in_1(int n, const double *restrict q, const double *restrict l, double *restrict x)
{
    for (int i = 0; i < n; ++i) x[i] = q[i] - l[i];
}

BENCH_STREAM void yard_in_2(int n, const double *restrict q, const double *restrict v, const double *restrict l,
                            double *restrict x)
{
    for (int i = 0; i < n; ++i) x[i] = q[i] + v[i] - l[i];
}

BENCH_STREAM void yard_in_4(int n, const double *const state[], const double *restrict l, double *restrict x)
{
    const double *restrict q = state[0], *restrict v = state[1], *restrict a = state[2], *restrict d = state[3];
    for (int i = 0; i < n; ++i) x[i] = (q[i] + v[i]) + (a[i] + d[i]) - l[i];
}

// Backward half: the half-solved vector, multipliers and pivots in, vectors of the state in and out.
BENCH_STREAM void yard_out_1(int n, const double *restrict x, const double *restrict l, const double *restrict r,
                             double *restrict v)
{
    for (int i = 0; i < n; ++i) v[i] += 1e-9 * (x[i] * r[i] - l[i]);
}

BENCH_STREAM void yard_out_2(int n, const double *restrict x, const double *restrict l, const double *restrict r,
                             double *const state[])
{
    double *restrict q = state[0], *restrict v = state[1];
    for (int i = 0; i < n; ++i) {
        double s = x[i] * r[i] - l[i];
        q[i] += 1e-9 * s;
        v[i] -= 1e-9 * s;
    }
}

BENCH_STREAM void yard_out_4(int n, const double *restrict x, const double *restrict l, const double *restrict r,
                             double *const state[])
{
    double *restrict q = state[0], *restrict v = state[1], *restrict a = state[2], *restrict d = state[3];
    for (int i = 0; i < n; ++i) {
        double s = x[i] * r[i] - l[i];
        q[i] += 1e-9 * s;
        v[i] -= 1e-9 * s;
        a[i] += 1e-8 * s;
        d[i] -= 1e-8 * s;
    }
}

// A pass over the state: every vector in and out, the solution in.
BENCH_STREAM void yard_pass_2(int n, const double *restrict x, double *const state[])
{
    double *restrict q = state[0], *restrict v = state[1];
    for (int i = 0; i < n; ++i) {
        q[i] += 1e-9 * x[i];
        v[i] -= 1e-9 * x[i];
    }
}

BENCH_STREAM void yard_pass_4(int n, const double *restrict x, double *const state[])
{
    double *restrict q = state[0], *restrict v = state[1], *restrict a = state[2], *restrict d = state[3];
    for (int i = 0; i < n; ++i) {
        q[i] += 1e-9 * x[i];
        v[i] -= 1e-9 * x[i];
        a[i] += 1e-8 * x[i];
        d[i] -= 1e-8 * x[i];
    }
}

static inline void bench_yard_memory(void *self, int steps)
{
    const bench_yard *y = self;
    int n = y->n;
    for (int k = 0; k < steps; ++k) {
        switch (y->scheme) {
        case BENCH_GGL:
            yard_in_4(n, (const double *const *)y->state, y->twist, y->x);
            yard_out_4(n, y->x, y->twist, y->inverse, y->state);
            break;
        case BENCH_MOREAU:
            yard_in_2(n, y->state[0], y->state[1], y->twist, y->x);
            yard_out_2(n, y->x, y->twist, y->inverse, y->state);
            break;
        default: // both solves start from positions, the second one changes the velocity only
            yard_in_1(n, y->state[0], y->twist, y->x);
            yard_out_2(n, y->x, y->twist, y->inverse, y->state);
            yard_in_1(n, y->state[0], y->twist, y->x);
            yard_out_1(n, y->x, y->twist, y->inverse, y->state[1]);
            break;
        }
    }
}

static inline void yard_pass(const bench_yard *y)
{
    if (y->nstate == 2) yard_pass_2(y->n, y->x, y->state);
    else yard_pass_4(y->n, y->x, y->state);
}

static inline void bench_yard_chain(void *self, int steps)
{
    const bench_yard *y = self;
    for (int k = 0; k < steps; ++k) {
        yard_pass(y);
        for (int s = 0; s < y->nsolve; ++s) yard_solve_twisted(y);
        yard_pass(y);
    }
}

#endif
