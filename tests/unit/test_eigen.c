// Eigenvalues of sparse pencils that an iteration may miss, against closed forms: instabilities far below, copies, rows
// that leave no force or meet everything. Modes of models are in regression/test_modes.c.

#include "support/check.h"

#include "analysis/eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef struct pencil {
    pcs_context *ctx;
    int n;
    pcs_matrix *K, *M;
    pcs_rows *G;
    unsigned char holds[8];
} pencil;

// All pairs of neighbours up to `reach` away.
static pencil pencil_create(int n, int reach)
{
    pencil p = { .n = n };
    pcs_pattern_builder *builder;
    pcs_pattern *pattern;
    CHECK_OK(NULL, pcs_context_create(&p.ctx));
    CHECK_OK(p.ctx, pcs_pattern_begin(p.ctx, n, &builder));
    for (int i = 0; i < n; i++)
        for (int j = i; j <= i + reach && j < n; j++)
            CHECK_OK(p.ctx, pcs_pattern_add_cells(builder, 1, 2, (const int[2]){ i, j }));
    CHECK_OK(p.ctx, pcs_pattern_finish(builder, &pattern));
    CHECK_OK(p.ctx, pcs_matrix_create(p.ctx, pattern, &p.K));
    CHECK_OK(p.ctx, pcs_matrix_create(p.ctx, pattern, &p.M));
    return p;
}

static void pencil_add(pcs_matrix *A, int i, int j, double value)
{
    for (int k = A->pattern->start[j]; k < A->pattern->start[j + 1]; k++)
        if (A->pattern->row[k] == i) {
            A->value[k] += value;
            return;
        }
    bool is_in_the_pattern = false;
    CHECK(is_in_the_pattern);
}

static void pencil_row(pencil *p, int nrow, const int (*column)[2], const double (*value)[2])
{
    CHECK_OK(p->ctx, pcs_rows_create(p->ctx, nrow, p->n, 2 * nrow, &p->G));
    for (int j = 0; j <= nrow; j++) p->G->start[j] = 2 * j;
    for (int j = 0; j < nrow; j++)
        for (int k = 0; k < 2; k++) {
            p->G->column[2 * j + k] = column[j][k];
            p->G->value[2 * j + k] = value[j][k];
        }
}

// Masses 1 on springs 1, free at both ends: lambda_k = 4 sin^2(k pi / (2 n)).
static void pencil_chain(pencil *p)
{
    for (int i = 0; i < p->n; i++) {
        bool is_end = i == 0 || i == p->n - 1;
        pencil_add(p->K, i, i, is_end ? 1.0 : 2.0);
        pencil_add(p->M, i, i, 1.0);
        if (i == 0) continue;
        pencil_add(p->K, i, i - 1, -1.0);
        pencil_add(p->K, i - 1, i, -1.0);
    }
}

static pcs_eigen_result pencil_solve(pencil *p, pcs_eigen_method method, int count)
{
    pcs_eigen_result r;
    pcs_eigen_problem problem = { .K = p->K, .M = p->M, .linear = "auto", .method = method, .count = count };
    problem.G = p->G;
    problem.holds = p->G == NULL ? NULL : p->holds;
    CHECK_OK(p->ctx, pcs_eigen_symmetric(p->ctx, &problem, &r));
    return r;
}

static void check_orthonormal(const pencil *p, const pcs_eigen_result *r, double tolerance)
{
    double *image = malloc((size_t)p->n * sizeof *image);
    for (int a = 0; a < r->count; a++) {
        pcs_matrix_multiply(p->M, r->vector + a * p->n, image);
        for (int b = 0; b < r->count; b++) {
            double sum = 0.0;
            for (int i = 0; i < p->n; i++) sum += image[i] * r->vector[b * p->n + i];
            CHECK_NEAR(sum, a == b ? 1.0 : 0.0, tolerance);
        }
    }
    free(image);
}

// Two instabilities alike, as of a column that buckles in space, lie far below the vibrations that are wanted.
TEST(instabilities_below_are_found_where_rows_hold)
{
    for (int n = 60; n <= 240; n += 180) {
        pencil p = pencil_create(n, 1);
        pencil_chain(&p);
        pencil_row(&p, 1, (const int[][2]){ { 2, 3 } }, (const double[][2]){ { 1.0, -1.0 } });
        p.holds[0] = 1;
        for (int i = n - 2; i < n; i++) pencil_add(p.K, i, i, -5000.0);
        pcs_eigen_result r = pencil_solve(&p, PCS_EIGEN_AUTO, 4);
        CHECK(r.count == 4 && r.lambda[1] < -4990.0);
        pcs_context_destroy(&p.ctx);
    }
}

// Five equal chains side by side: every eigenvalue comes five times, and the iteration must find all copies.
TEST(copies_of_an_eigenvalue_are_not_missed)
{
    enum { COPIES = 5, LENGTH = 40, N = COPIES * LENGTH };
    pencil p = pencil_create(N, 1);
    for (int i = 0; i < N; i++) {
        pencil_add(p.K, i, i, 2.0);
        pencil_add(p.M, i, i, 1.0);
        if (i % LENGTH == 0) continue;
        pencil_add(p.K, i, i - 1, -1.0);
        pencil_add(p.K, i - 1, i, -1.0);
    }
    pcs_eigen_result r = pencil_solve(&p, PCS_EIGEN_ARPACK, 12);
    for (int k = 0; k < 12; k++) {
        double s = sin((k / COPIES + 1) * PI / (2.0 * (LENGTH + 1)));
        CHECK_RELATIVE(r.lambda[k], 4.0 * s * s, 1e-11);
    }
    check_orthonormal(&p, &r, 1e-10);
    pcs_context_destroy(&p.ctx);
}

// Equations that do not touch: an iteration from one vector sees every value once, but for round-off.
TEST(copies_without_coupling_are_not_missed)
{
    pencil p = pencil_create(256, 1);
    for (int i = 0; i < p.n; i++) {
        pencil_add(p.K, i, i, 1.0 + i / 8);
        pencil_add(p.M, i, i, 1.0);
    }
    pcs_eigen_result r = pencil_solve(&p, PCS_EIGEN_ARPACK, 20);
    for (int k = 0; k < 20; k++) CHECK_RELATIVE(r.lambda[k], 1.0 + k / 8, 1e-12);
    check_orthonormal(&p, &r, 1e-10);
    pcs_context_destroy(&p.ctx);

    // The first value twice and far from the others, which converge before its copy is seen.
    for (int count = 2; count <= 4; count++) {
        p = pencil_create(200, 1);
        for (int i = 0; i < p.n; i++) {
            pencil_add(p.K, i, i, i < 2 ? 1.0 : 100.0 * i * i);
            pencil_add(p.M, i, i, 1.0);
        }
        r = pencil_solve(&p, PCS_EIGEN_ARPACK, count);
        for (int k = 0; k < count; k++) CHECK_RELATIVE(r.lambda[k], k < 2 ? 1.0 : 100.0 * k * k, 1e-11);
        pcs_context_destroy(&p.ctx);
    }
}

// A spring between x0 = a x2 and x1 = b x2 that the rows let pass: what the terms of Z^T K Z leave is round-off.
TEST(what_rows_leave_without_force_is_zero)
{
    for (int i = 0; i < 20; i++) {
        pencil p = pencil_create(4, 2);
        double a = 1.0 / (3.0 + i), b = 0.7 / (1.0 + i * i), k = 2.1e11;
        pencil_add(p.K, 0, 0, k * b * b);
        pencil_add(p.K, 0, 1, -k * a * b);
        pencil_add(p.K, 1, 0, -k * a * b);
        pencil_add(p.K, 1, 1, k * a * a);
        pencil_add(p.K, 3, 3, 5.0);
        for (int m = 0; m < 4; m++) pencil_add(p.M, m, m, 1.0);
        pencil_row(&p, 2, (const int[2][2]){ { 0, 2 }, { 1, 2 } }, (const double[2][2]){ { 1, -a }, { 1, -b } });
        p.holds[0] = p.holds[1] = 1;
        pcs_eigen_result r = pencil_solve(&p, PCS_EIGEN_AUTO, 4);
        CHECK(r.count == 2);
        int free = fabs(r.lambda[0]) < fabs(r.lambda[1]) ? 0 : 1;
        CHECK(fabs(r.lambda[free]) <= r.zero[free]);
        CHECK_RELATIVE(r.lambda[1 - free], 5.0, 1e-9);
        pcs_context_destroy(&p.ctx);
    }
}

// Every unknown from FREE on follows from all of those before: eliminating them would leave nothing sparse.
TEST(rows_that_meet_everything_stay_a_border)
{
    enum { FREE = 200, N = 500 };
    pencil p = pencil_create(N, 1);
    for (int i = 0; i < FREE; i++) {
        pencil_add(p.K, i, i, 1.0 + 0.01 * i);
        pencil_add(p.M, i, i, 1.0);
    }
    CHECK_OK(p.ctx, pcs_rows_create(p.ctx, N - FREE, N, (N - FREE) * (FREE + 1), &p.G));
    unsigned char holds[N - FREE];
    for (int j = 0; j < N - FREE; j++) {
        int at = j * (FREE + 1);
        holds[j] = 1;
        p.G->start[j + 1] = at + FREE + 1;
        for (int i = 0; i <= FREE; i++) {
            p.G->column[at + i] = i < FREE ? i : FREE + j;
            p.G->value[at + i] = i < FREE ? 0.01 * cos(1.0 + i * j) : 1.0;
        }
    }
    pcs_eigen_result r;
    pcs_eigen_problem problem = { .K = p.K, .M = p.M, .G = p.G, .holds = holds, .linear = "auto", .count = 12 };
    CHECK_OK(p.ctx, pcs_eigen_symmetric(p.ctx, &problem, &r));
    CHECK(r.count == 12 && strcmp(r.eigen_name, "ARPACK") == 0);
    for (int k = 0; k < 12; k++) {
        CHECK_RELATIVE(r.lambda[k], 1.0 + 0.01 * k, 1e-10);
        for (int j = 0; j < N - FREE; j += 100) CHECK_NEAR(pcs_rows_dot(p.G, j, r.vector + k * N), 0.0, 1e-10);
    }
    // Where the others have mass a border is a stiff spring: it adds no eigenvalue.
    for (int i = FREE; i < N; i++) {
        pencil_add(p.K, i, i, 1.0);
        pencil_add(p.M, i, i, 1.0);
    }
    problem.count = FREE + 3;
    CHECK_OK(p.ctx, pcs_eigen_symmetric(p.ctx, &problem, &r));
    CHECK(r.count == FREE);
    pcs_context_destroy(&p.ctx);
}
