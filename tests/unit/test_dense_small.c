// Factors of small matrices, which the dense back end makes without LAPACK: sizes below, at and above its limit against
// a product, matrices that need row exchanges, and those that cannot be factored; and pairs of equations.

#include "check.h"
#include "core/dense.h"
#include "linsolve/linsolve.h"
#include "model.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { LARGEST = 10 };

typedef struct full {
    pcs_context *ctx;
    pcs_pattern pattern;
    int start[LARGEST + 1], row[LARGEST * LARGEST];
    double value[LARGEST * LARGEST]; // column by column
    pcs_matrix A;
    pcs_linsolve *solver;
} full;

static void full_open(full *f, int n, const double *value, pcs_linsolve_kind kind, const char *backend)
{
    for (int j = 0; j <= n; j++) f->start[j] = j * n;
    for (int k = 0; k < n * n; k++) f->row[k] = k % n;
    memcpy(f->value, value, (size_t)(n * n) * sizeof *value);
    f->pattern = (pcs_pattern){ .n = n, .nnz = n * n, .start = f->start, .row = f->row };
    f->A = (pcs_matrix){ .pattern = &f->pattern, .value = f->value };
    CHECK_OK(NULL, pcs_context_create(&f->ctx));
    CHECK_OK(f->ctx, pcs_linsolve_create(f->ctx, backend, &f->A, kind, &f->solver));
}

static void random_matrix(unsigned long long *seed, int n, pcs_linsolve_kind kind, double *A)
{
    double B[LARGEST * LARGEST];
    model_randomize(seed, n * n, B);
    if (kind != PCS_SPD) {
        memcpy(A, B, sizeof B);
        for (int i = 0; i < n && n > 1; i++) A[i * n + i] = 0.0; // no pivot on the diagonal
        return;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i * n + j] = i == j ? 0.1 : 0.0;
            for (int k = 0; k < n; k++) A[i * n + j] += B[i * n + k] * B[j * n + k];
        }
}

TEST(solutions_fit)
{
    unsigned long long seed = 5;
    static const pcs_linsolve_kind kinds[] = { PCS_SPD, PCS_GENERAL, PCS_GENERAL };
    for (int kind = 0; kind < 3; kind++)
        for (int n = 1; n <= LARGEST; n++)
            for (int trial = 0; trial < 20; trial++) {
                full f;
                double A[LARGEST * LARGEST], exact[LARGEST], x[LARGEST] = { 0 };
                bool is_singular = true;
                random_matrix(&seed, n, kinds[kind], A);
                for (int i = 0; i < n && kind == 2; i++) // symmetric, but indefinite
                    for (int j = 0; j < i; j++) A[i * n + j] = A[j * n + i];
                model_randomize(&seed, n, exact);
                for (int j = 0; j < n; j++)
                    for (int i = 0; i < n; i++) x[i] += A[j * n + i] * exact[j];
                full_open(&f, n, A, kinds[kind], "auto");
                CHECK(strcmp(f.solver->ops->name, "dense") == 0);
                CHECK_OK(f.ctx, pcs_linsolve_factor(f.solver, &is_singular));
                CHECK(!is_singular);
                pcs_linsolve_solve(f.solver, x);
                double growth = 1.0;
                for (int i = 0; i < n; i++) growth = fmax(growth, fabs(x[i]));
                CHECK_ALL_NEAR(n, x, exact, 1e-11 * growth * (kind == 0 ? 1.0 : 100.0));
                pcs_context_destroy(&f.ctx);
            }
}

TEST(singular_matrices_are_told_with_their_equation)
{
    const double semi[] = { 1, 1, 0, 1, 1, 0, 0, 0, 1 }, negative[] = { 1, 0, 0, 0, 1, 0, 0, 0, -1 },
                 rank[] = { 1, 2, 4, 2, 4, 8, 1, 0, 1 };
    bool is_singular = false;
    full f;
    full_open(&f, 3, semi, PCS_SPD, "dense");
    CHECK_OK(f.ctx, pcs_linsolve_factor(f.solver, &is_singular));
    CHECK(is_singular && f.solver->bad_equation == 1);
    pcs_context_destroy(&f.ctx);
    full_open(&f, 3, negative, PCS_SPD, "dense");
    CHECK_OK(f.ctx, pcs_linsolve_factor(f.solver, &is_singular));
    CHECK(is_singular && f.solver->bad_equation == 2);
    pcs_context_destroy(&f.ctx);
    full_open(&f, 3, rank, PCS_GENERAL, "dense");
    CHECK_OK(f.ctx, pcs_linsolve_factor(f.solver, &is_singular));
    CHECK(is_singular && f.solver->bad_equation == 1);
    pcs_context_destroy(&f.ctx);
}

// A x = b to the error of an elimination with pivots.
static void check_pair(const double A[4], const double b[2], const double x[2])
{
    for (int i = 0; i < 2; i++) {
        const double *row = A + (size_t)i * 2;
        double size = fabs(row[0] * x[0]) + fabs(row[1] * x[1]) + fabs(b[i]);
        CHECK_NEAR(row[0] * x[0] + row[1] * x[1], b[i], 16.0 * DBL_EPSILON * size);
    }
}

// A pair of equations is eliminated apart: as in a larger system that does not touch it.
TEST(two_equations_go_as_many)
{
    unsigned long long seed = 7;
    int nsingular = 0;
    (void)state;
    for (int k = 0; k < 4000; k++) {
        double x[6], A[4], b[2], B[9] = { 0.0 }, c[3] = { 0.0 };
        model_randomize(&seed, 6, x);
        if (k % 5 == 1) x[2] = x[0] = 0.0;                                              // a column of zeros
        if (k % 5 == 2) x[2] = 2.0 * x[0], x[3] = 2.0 * x[1] * (1.0 + 4e-16 * (k % 3)); // the same equation twice
        if (k % 5 == 3) x[0] = 0.0;                                                     // rows change places
        if (k % 5 == 4) x[0] *= 1e-9, x[1] *= 1e-9, x[2] = 0.0;                         // nothing to eliminate
        for (int i = 0; i < 4; i++) A[i] = B[i / 2 * 3 + i % 2] = x[i];
        for (int i = 0; i < 2; i++) b[i] = c[i] = x[4 + i];
        B[8] = 1.0;
        bool is_regular = pcs_dense_solve(2, A, b);
        CHECK(is_regular == pcs_dense_solve(3, B, c));
        nsingular += !is_regular;
        if (!is_regular) continue;
        check_pair(x, x + 4, b);
        check_pair(x, x + 4, c);
    }
    CHECK(nsingular > 1200 && nsingular < 1700);
}
