// What the tests of the linear solvers share: making them, solving with them, and judging the result.

#ifndef TESTS_LINSOLVE_CHECKS_H
#define TESTS_LINSOLVE_CHECKS_H

#include "test_linsolve_matrices.h"

#include <math.h>
#include <string.h>

static inline pcs_linsolve *create(pcs_context *ctx, const char *name, const pcs_matrix *A, pcs_linsolve_kind kind)
{
    pcs_linsolve *solver = NULL;
    CHECK_OK(ctx, pcs_linsolve_create(ctx, name, A, kind, &solver));
    return solver;
}

static inline pcs_linsolve *factored(pcs_context *ctx, const char *name, const pcs_matrix *A, pcs_linsolve_kind kind)
{
    pcs_linsolve *solver = create(ctx, name, A, kind);
    bool is_singular = true;
    CHECK_OK(ctx, pcs_linsolve_factor(solver, &is_singular));
    CHECK(!is_singular);
    CHECK(solver->bad_equation == -1);
    return solver;
}

static inline double *vector(pcs_context *ctx, int n)
{
    return pcs_take(ctx, (size_t)n + 1, sizeof(double), "a vector");
}

static inline double size_of_row(const pcs_matrix *A, int i)
{
    for (int p = A->pattern->start[i]; p < A->pattern->start[i + 1]; p++)
        if (A->pattern->row[p] == i && A->value[p] > 0.0) return sqrt(A->value[p]);
    return 1.0;
}

// |b - A x|_i <= tolerance s_i max_j s_j |x_j| with s = sqrt of the diagonal: free of the scaling of the equations.
// Factors of chains without row exchanges are held to a few roundings.
static inline void check_residual(pcs_context *ctx, const pcs_linsolve *solver, const double *b, const double *x)
{
    const pcs_matrix *A = solver->A;
    int n = A->pattern->n;
    bool is_sharp = A->pattern->chain_block > 0 && strcmp(solver->ops->name, "umfpack") != 0;
    double *r = vector(ctx, n), scale = 0.0;
    memcpy(r, b, (size_t)n * sizeof *r);
    pcs_matrix_add_multiply(A, -1.0, x, r);
    for (int i = 0; i < n; i++) scale = fmax(scale, size_of_row(A, i) * fabs(x[i]));
    for (int i = 0; i < n; i++) {
        double allowed = (is_sharp ? 1e-14 : 1e-13) * size_of_row(A, i) * scale;
        if (!(fabs(r[i]) <= allowed))
            fail_msg("'%s': residual %.17g of equation %d, allowed %.17g", solver->ops->name, r[i], i, allowed);
    }
}

// Right-hand sides: a random one, and one impulse at an end, in the middle, near a quarter.
static inline void fill_rhs(int n, int which, double *b)
{
    unsigned seed = 77u;
    const int place[] = { -1, n - 1, n / 2, n / 4 + 1 };
    for (int i = 0; i < n; i++) b[i] = which == 0 ? random_number(&seed) : 0.0;
    if (which > 0) b[place[which] < n ? place[which] : 0] = 3.0;
}

static inline void check_solves(pcs_context *ctx, pcs_linsolve *solver, pcs_linsolve *reference, double agreement)
{
    int n = solver->A->pattern->n;
    double *b = vector(ctx, n), *x = vector(ctx, n), *y = vector(ctx, n);
    for (int which = 0; which < 4; which++) {
        fill_rhs(n, which, b);
        memcpy(x, b, (size_t)n * sizeof *x);
        memcpy(y, b, (size_t)n * sizeof *y);
        x[n] = 12345.0;
        pcs_linsolve_solve(solver, x);
        CHECK_NEAR(x[n], 12345.0, 0.0); // nothing behind the end is touched
        check_residual(ctx, solver, b, x);
        if (reference == NULL) continue;
        pcs_linsolve_solve(reference, y);
        CHECK_ALL_NEAR(n, x, y, agreement * check_largest(n, y));
    }
}

// Every solver that takes the matrix, against dense; at least `least` of them.
static inline void check_all(pcs_context *ctx, const pcs_matrix *A, pcs_linsolve_kind kind, double agreement, int least)
{
    pcs_linsolve *dense = factored(ctx, "dense", A, kind);
    int taken = 0;
    for (int k = 0; pcs_linsolvers[k] != NULL; k++) {
        if (pcs_linsolvers[k]->refuses(A->pattern, kind) != NULL) continue;
        taken++;
        check_solves(ctx, factored(ctx, pcs_linsolvers[k]->name, A, kind), dense, agreement);
    }
    CHECK(taken >= least);
}

// All solvers of this kind call A singular, at an equation in [low, high].
static inline void check_singular(pcs_context *ctx, const pcs_matrix *A, pcs_linsolve_kind kind, int low, int high)
{
    for (int k = 0; pcs_linsolvers[k] != NULL; k++) {
        if (pcs_linsolvers[k]->refuses(A->pattern, kind) != NULL) continue;
        pcs_linsolve *solver = create(ctx, pcs_linsolvers[k]->name, A, kind);
        bool is_singular = false;
        CHECK_OK(ctx, pcs_linsolve_factor(solver, &is_singular));
        if (!is_singular) fail_msg("'%s' takes a singular matrix", solver->ops->name);
        if (solver->bad_equation < low || solver->bad_equation > high)
            fail_msg("'%s' blames equation %d, not one of %d to %d", solver->ops->name, solver->bad_equation, low,
                     high);
    }
}

static inline void clear_equation(pcs_matrix *A, int e, double diagonal)
{
    for (int j = 0; j < A->pattern->n; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++)
            if (j == e || A->pattern->row[p] == e) A->value[p] = j == e && A->pattern->row[p] == e ? diagonal : 0.0;
}

#endif
