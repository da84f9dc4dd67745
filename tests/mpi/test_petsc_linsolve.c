// The linear solver `petsc` in a process of its own: against `dense`, with default and chosen options, and what it says
// of matrices and options that are wrong.

#include "contract/test_linsolve_matrices.h"

#include <math.h>
#include <string.h>

static pcs_context *begin(int count, const char *const *options)
{
    pcs_context *ctx = NULL;
    CHECK(pcs_context_create(&ctx) == PCS_OK);
    pcs_around(ctx)->noption = count;
    pcs_around(ctx)->options = options;
    CHECK_OK(ctx, pcs_processes_start(ctx));
    CHECK(pcs_context_comm(ctx)->size == 1 && pcs_context_comm(ctx)->rank == 0);
    return ctx;
}

// The same matrix with a layout: all equations are of this rank, `shift` places on in the numbering of all.
static pcs_matrix *laid_out(pcs_context *ctx, const pcs_matrix *A)
{
    int n = A->pattern->n;
    int *global = pcs_take(ctx, (size_t)n, sizeof *global, "numbers");
    pcs_layout *layout = pcs_take(ctx, 1, sizeof *layout, "a layout");
    pcs_pattern *pattern = pcs_take(ctx, 1, sizeof *pattern, "a pattern");
    pcs_matrix *B = pcs_take(ctx, 1, sizeof *B, "a matrix");
    for (int i = 0; i < n; i++) global[i] = i;
    *layout = (pcs_layout){ .comm = pcs_context_comm(ctx), .n = n, .nown = n, .nglobal = n, .global = global };
    *pattern = *A->pattern;
    pattern->layout = layout;
    *B = (pcs_matrix){ .pattern = pattern, .value = A->value };
    return B;
}

static void check_against_dense(pcs_context *ctx, const pcs_matrix *A, const char *name, const char *label,
                                pcs_linsolve_kind kind, double tolerance)
{
    int n = A->pattern->n;
    unsigned seed = 5u;
    double *x = pcs_take(ctx, (size_t)n, sizeof *x, "x"), *y = pcs_take(ctx, (size_t)n, sizeof *y, "y"), size = 0.0;
    pcs_linsolve *petsc = NULL, *dense = NULL;
    bool is_singular = true;
    CHECK_OK(ctx, pcs_linsolve_create_labelled(ctx, name, label, laid_out(ctx, A), kind, &petsc));
    CHECK(strcmp(petsc->ops->name, strcmp(name, "auto") == 0 ? "substructures" : name) == 0);
    CHECK_OK(ctx, pcs_linsolve_create(ctx, "dense", A, kind, &dense));
    for (int round = 0; round < 2; round++) {
        for (int p = 0; p < A->pattern->nnz; p++) A->value[p] *= 1.0 + round;
        CHECK_OK(ctx, pcs_linsolve_factor(petsc, &is_singular));
        CHECK(!is_singular);
        CHECK_OK(ctx, pcs_linsolve_factor(dense, &is_singular));
        for (int i = 0; i < n; i++) x[i] = y[i] = random_number(&seed);
        pcs_linsolve_solve(petsc, x);
        pcs_linsolve_solve(dense, y);
        for (int i = 0; i < n; i++) size = fmax(size, fabs(y[i]));
        CHECK_ALL_NEAR(n, x, y, tolerance * size);
    }
}

static void stiff_rod(int rod, int n, double *mass, double *stiffness)
{
    (void)rod, (void)n;
    *mass = 1.0;
    *stiffness = 100.0;
}

TEST(test_defaults)
{
    pcs_context *ctx = begin(0, NULL);
    check_against_dense(ctx, random_chain(ctx, 150, 3, 1u), "petsc", "", PCS_SPD, 1e-11);
    check_against_dense(ctx, bar(ctx, 101, stiff_rod), "auto", "mass", PCS_SPD, 1e-11);
    check_against_dense(ctx, grid(ctx, 12, 0.1), "petsc", "iteration", PCS_SPD, 1e-11);
    check_against_dense(ctx, grid(ctx, 12, 0.1), "substructures", "", PCS_SPD, 1e-11);
    check_against_dense(ctx, grid(ctx, 12, 0.1), "petsc", "iteration", PCS_GENERAL, 1e-11);
    pcs_context_destroy(&ctx);
    static const char *const iterated[] = { "-pc_type", "ilu" };
    ctx = begin(2, iterated);
    check_against_dense(ctx, grid(ctx, 12, 0.1), "petsc", "iteration", PCS_GENERAL, 1e-10);
    pcs_context_destroy(&ctx);
}

// Prefixed options win over those for all matrices; all of them are asked for.
TEST(test_options)
{
    static const char *const options[] = { "-ksp_rtol",          "1e-14", "-pc_type",       "jacobi",
                                           "-iteration_pc_type", "icc",   "-ksp_norm_type", "natural",
                                           "-what_is_this",      "7" };
    char text[256];
    pcs_context *ctx = begin(10, options);
    const pcs_comm *comm = pcs_context_comm(ctx);
    check_against_dense(ctx, bar(ctx, 101, stiff_rod), "petsc", "mass", PCS_SPD, 1e-12);
    check_against_dense(ctx, grid(ctx, 12, 0.1), "petsc", "iteration", PCS_SPD, 1e-12);
    comm->unused_options(comm, sizeof text, text);
    CHECK(strcmp(text, "-what_is_this") == 0);
    pcs_context_destroy(&ctx);
}

TEST(test_singular)
{
    pcs_context *ctx = begin(0, NULL);
    pcs_matrix *A = grid(ctx, 5, 0.1);
    pcs_linsolve *solver = NULL;
    bool is_singular = false;
    for (int p = A->pattern->start[7]; p < A->pattern->start[8]; p++)
        if (A->pattern->row[p] == 7) A->value[p] = 0.0;
    CHECK_OK(ctx, pcs_linsolve_create(ctx, "petsc", laid_out(ctx, A), PCS_SPD, &solver));
    CHECK_OK(ctx, pcs_linsolve_factor(solver, &is_singular));
    CHECK(is_singular && solver->bad_equation == 7);
    pcs_context_destroy(&ctx);
}

// The unit matrix with two equal columns, or without: a matrix that is singular does not spoil the next one.
static void fill_unit(pcs_matrix *A, bool is_singular)
{
    const pcs_pattern *pattern = A->pattern;
    for (int j = 0; j < pattern->n; j++)
        for (int p = pattern->start[j]; p < pattern->start[j + 1]; p++)
            A->value[p] = pattern->row[p] == j || (is_singular && j < 2 && pattern->row[p] < 2) ? 1.0 : 0.0;
}

TEST(test_after_singular)
{
    static const char *const options[] = { "-pc_factor_mat_solver_type", "mumps" };
    pcs_context *ctx = begin(2, options);
    pcs_matrix *A = grid(ctx, 5, 0.1);
    pcs_linsolve *solver = NULL;
    bool is_singular = false;
    CHECK_OK(ctx, pcs_linsolve_create(ctx, "petsc", laid_out(ctx, A), PCS_GENERAL, &solver));
    for (int round = 0; round < 2; round++) {
        double x[75] = { 3.0, -2.0 };
        CHECK(A->pattern->n <= 75);
        fill_unit(A, true);
        CHECK_OK(ctx, pcs_linsolve_factor(solver, &is_singular));
        CHECK(is_singular);
        fill_unit(A, false);
        CHECK_OK(ctx, pcs_linsolve_factor(solver, &is_singular));
        CHECK(!is_singular);
        pcs_linsolve_solve(solver, x);
        CHECK_NEAR(x[0], 3.0, 1e-14);
        CHECK_NEAR(x[1], -2.0, 1e-14);
    }
    pcs_context_destroy(&ctx);
}

// What programs say of other wrong options, and of solves that fail, is in test_ranks.py.
TEST(test_bad_options)
{
    static const char *const half[] = { "-mass_ksp_type", "preonly", "-pc_type", "jacobi" };
    pcs_context *ctx = begin(4, half);
    pcs_linsolve *solver = NULL;
    CHECK_STATUS(ctx,
                 pcs_linsolve_create_labelled(ctx, "petsc", "mass", laid_out(ctx, grid(ctx, 4, 1.0)), PCS_SPD, &solver),
                 PCS_BAD_INPUT);
    CHECK_TEXT(pcs_message(ctx), "goes with -pc_type lu or cholesky, not with jacobi");
    pcs_context_destroy(&ctx);
}
