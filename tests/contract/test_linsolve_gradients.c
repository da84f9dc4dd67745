// Conjugate gradients: against factors on lattices of blocks of every size, whatever the units; matrices without an
// incomplete factor; ends without an answer; and when they are chosen by themselves.

#include "test_linsolve_checks.h"

#include "linsolve/incomplete.h"

// Struts between the joints of a grid of side^3, each joint with b equations; some joints lack their first ones.
static pcs_matrix *lattice(pcs_context *ctx, int side, int b, bool has_holes, double shift)
{
    int njoint = side * side * side, step[] = { 1, side, side * side }, ncell = 0;
    int *cells = pcs_take(ctx, (size_t)(3 * njoint * 2 * b), sizeof *cells, "cells");
    int *number = pcs_take(ctx, (size_t)(njoint * b), sizeof *number, "cells"), n = 0;
    for (int k = 0; k < njoint * b; k++) number[k] = has_holes && k / b % 7 == 3 && k % b < b / 2 ? -1 : n++;
    for (int joint = 0; joint < njoint; joint++)
        for (int axis = 0; axis < 3; axis++) {
            if (joint / step[axis] % side == side - 1) continue;
            for (int k = 0; k < b; k++) {
                cells[ncell * 2 * b + k] = number[joint * b + k];
                cells[ncell * 2 * b + b + k] = number[(joint + step[axis]) * b + k];
            }
            ncell++;
        }
    pcs_matrix *A = matrix_of(ctx, n, ncell, 2 * b, cells);
    fill_random_cells(A, ncell, 2 * b, cells, shift, 7u);
    return A;
}

TEST_WITH_CONTEXT(test_lattices)
{
    for (int b = 1; b <= 6; b++)
        for (int has_holes = 0; has_holes < 2; has_holes++) {
            pcs_matrix *A = lattice(*state, 4, b, has_holes, 1.0);
            check_solves(*state, factored(*state, "gradients", A, PCS_SPD), factored(*state, "dense", A, PCS_SPD),
                         1e-11);
        }
}

static void scale(pcs_matrix *A, double (*unit)(int i))
{
    for (int j = 0; j < A->pattern->n; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++)
            A->value[p] = unit(j) * unit(A->pattern->row[p]) * A->value[p];
}

static double tiny(int i)
{
    return i % 2 == 0 ? 1e-75 : 3e-75;
}

static double huge(int i)
{
    return i % 2 == 0 ? 1e70 : 7e69;
}

static double mixed(int i)
{
    return pow(10.0, i % 13 - 6.0);
}

// Forces far beyond single precision, and equations of many units side by side.
TEST_WITH_CONTEXT(test_units)
{
    double (*const units[])(int) = { tiny, huge, mixed };
    for (int k = 0; k < 3; k++) {
        pcs_matrix *A = lattice(*state, 4, 3, true, 1.0);
        scale(A, units[k]);
        check_solves(*state, factored(*state, "gradients", A, PCS_SPD), NULL, 0.0);
    }
    pcs_matrix *A = lattice(*state, 4, 3, true, 1.0);
    pcs_linsolve *solver = factored(*state, "gradients", A, PCS_SPD);
    int n = A->pattern->n;
    double *x = vector(*state, n), *y = vector(*state, n);
    fill_rhs(n, 0, x);
    for (int i = 0; i < n; i++) y[i] = ldexp(x[i], -900);
    pcs_linsolve_solve(solver, x);
    pcs_linsolve_solve(solver, y);
    for (int i = 0; i < n; i++) CHECK_NEAR(ldexp(y[i], 900), x[i], 0.0);
    memset(x, 0, (size_t)n * sizeof *x);
    pcs_linsolve_solve(solver, x);
    for (int i = 0; i < n; i++) CHECK_NEAR(x[i], 0.0, 0.0);
}

// Rings of four in Kershaw's matrix, whose incomplete factor has a negative pivot, and loose ties between the rings.
static pcs_matrix *rings(pcs_context *ctx, int nring, int b)
{
    static const double tie[] = { 0.01, -0.01, -0.01, 0.01 };
    int ncell = 6 * nring;
    int *pair = pcs_take(ctx, (size_t)(2 * ncell), sizeof *pair, "cells");
    int *equation = pcs_take(ctx, (size_t)(2 * ncell * b), sizeof *equation, "cells");
    for (int r = 0, c = 0; r < nring; r++) {
        for (int k = 0; k < 4; k++, c++) pair[2 * c] = 4 * r + k, pair[2 * c + 1] = 4 * r + (k + 1) % 4;
        for (int k = 0; k < 2; k++, c++) pair[2 * c] = 4 * r, pair[2 * c + 1] = 4 * ((r + 1 + 16 * k) % nring) + 2;
    }
    for (int c = 0; c < 2 * ncell; c++)
        for (int k = 0; k < b; k++) equation[c * b + k] = pair[c] * b + k;
    pcs_matrix *A = matrix_of(ctx, 4 * nring * b, ncell, 2 * b, equation);
    for (int c = 0; c < ncell; c++) {
        double side = c % 6 == 3 ? 2.0 : -2.0;
        const double ring[] = { 1.5, side, side, 1.5 };
        for (int k = 0; k < b; k++)
            pcs_matrix_add_cell(A, 2, (int[]){ pair[2 * c] * b + k, pair[2 * c + 1] * b + k }, 1.0,
                                c % 6 < 4 ? ring : tie);
    }
    return A;
}

// D. S. Kershaw, The incomplete Cholesky-conjugate gradient method, J. Comput. Phys. 26 (1978) 43-65.
TEST_WITH_CONTEXT(test_shifted_factors)
{
    for (int b = 1; b <= 3; b++) {
        pcs_matrix *A = rings(*state, 50, b);
        pcs_linsolve *solver = factored(*state, "gradients", A, PCS_SPD);
        CHECK(((const pcs_blocks *)solver->data)->shift > 0.0);
        check_solves(*state, solver, factored(*state, "cholmod", A, PCS_SPD), 1e-11);
    }
}

static void check_gives_up(pcs_context *ctx, pcs_linsolve *solver, double *x)
{
    pcs_linsolve_solve(solver, x);
    for (int i = 0; i < solver->A->pattern->n; i++) CHECK(isnan(x[i]));
    CHECK_TEXT(pcs_noted(ctx), "conjugate gradients for the iteration matrix gave up");
}

// An indefinite matrix and a right-hand side that is no number end in no number, and say so.
TEST_WITH_CONTEXT(test_gives_up)
{
    pcs_matrix *A = grid(*state, 12, 0.1);
    for (int p = 0; p < A->pattern->nnz; p++)
        if (A->value[p] < 0.0) A->value[p] *= 3.0;
    pcs_linsolve *solver = NULL;
    bool is_singular = true;
    double *x = vector(*state, 144);
    CHECK_OK(*state, pcs_linsolve_create_labelled(*state, "gradients", "iteration", A, PCS_SPD, &solver));
    CHECK_OK(*state, pcs_linsolve_factor(solver, &is_singular));
    CHECK(!is_singular);
    fill_rhs(144, 0, x);
    check_gives_up(*state, solver, x);
    A = grid(*state, 12, 0.1);
    CHECK_OK(*state, pcs_linsolve_create_labelled(*state, "gradients", "iteration", A, PCS_SPD, &solver));
    CHECK_OK(*state, pcs_linsolve_factor(solver, &is_singular));
    fill_rhs(144, 0, x);
    x[77] = NAN;
    check_gives_up(*state, solver, x);
}

TEST_WITH_CONTEXT(test_refusals)
{
    pcs_linsolve *solver = NULL;
    const pcs_matrix *plane = grid(*state, 8, 1.0), *chain = random_chain(*state, 40, 3, 1u);
    CHECK_STATUS(*state, pcs_linsolve_create(*state, "gradients", plane, PCS_GENERAL, &solver), PCS_UNSUPPORTED);
    CHECK_TEXT(pcs_message(*state), "positive definite");
    CHECK_STATUS(*state, pcs_linsolve_create(*state, "gradients", chain, PCS_SPD, &solver), PCS_UNSUPPORTED);
    CHECK_TEXT(pcs_message(*state), "chain");
}

// Random pairs of n equations: nothing separates them, and their factor fills.
static pcs_matrix *tangle(pcs_context *ctx, int n)
{
    int *equation = pcs_take(ctx, (size_t)(4 * n), sizeof *equation, "cells");
    unsigned seed = 5u;
    for (int c = 0; c < 2 * n; c++) {
        equation[2 * c] = c / 2;
        equation[2 * c + 1] = (int)(0.5 * (random_number(&seed) + 1.0) * n);
    }
    pcs_matrix *A = matrix_of(ctx, n, 2 * n, 2, equation);
    for (int c = 0; c < 2 * n; c++) pcs_matrix_add_cell(A, 2, equation + 2 * c, 1.0, (double[]){ 1, -1, -1, 1 });
    for (int e = 0; e < n; e++) pcs_matrix_add_cell(A, 1, &e, 1.0, (double[]){ 5.0 });
    return A;
}

// Only what a step solves, and only where its factor fills, goes to iterations by itself.
TEST_WITH_CONTEXT(test_automatic_choice)
{
    pcs_linsolve *solver = NULL;
    const pcs_matrix *small = tangle(*state, 2000), *large = tangle(*state, 60000);
    CHECK_OK(*state, pcs_linsolve_create_labelled(*state, "auto", "iteration", small, PCS_SPD, &solver));
    CHECK_TEXT(solver->ops->name, "cholmod");
    CHECK_OK(*state, pcs_linsolve_create_labelled(*state, "auto", "iteration", large, PCS_SPD, &solver));
    CHECK_TEXT(solver->ops->name, "gradients");
    CHECK_TEXT(solver->title, "gradients to 1e-14");
    bool is_singular = true;
    CHECK_OK(*state, pcs_linsolve_factor(solver, &is_singular));
    CHECK(!is_singular);
    check_solves(*state, solver, NULL, 0.0);
    CHECK_OK(*state, pcs_linsolve_create(*state, "auto", large, PCS_SPD, &solver));
    CHECK_TEXT(solver->ops->name, "cholmod");
}
