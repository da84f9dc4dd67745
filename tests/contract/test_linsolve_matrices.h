// Matrices on which the linear solvers are compared.

#ifndef TESTS_LINSOLVE_MATRICES_H
#define TESTS_LINSOLVE_MATRICES_H

#include "linsolve/linsolve.h"
#include "support/check.h"

#include <stdlib.h>

// Reproducible numbers in (-1, 1).
static inline double random_number(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static inline pcs_matrix *matrix_of(pcs_context *ctx, int n, int ncell, int ndof, const int *equation)
{
    pcs_pattern_builder *builder = NULL;
    pcs_pattern *pattern = NULL;
    pcs_matrix *A = NULL;
    CHECK_OK(ctx, pcs_pattern_begin(ctx, n, &builder));
    CHECK_OK(ctx, pcs_pattern_add_cells(builder, ncell, ndof, equation));
    CHECK_OK(ctx, pcs_pattern_finish(builder, &pattern));
    CHECK_OK(ctx, pcs_matrix_create(ctx, pattern, &A));
    return A;
}

// Equations of nodes of b equations in a row; those from n on do not exist.
static inline int *line_cells(pcs_context *ctx, int n, int b, int *ncell)
{
    int nnode = (n + b - 1) / b;
    *ncell = nnode > 1 ? nnode - 1 : 1;
    int *equation = pcs_take(ctx, (size_t)(*ncell * 2 * b), sizeof *equation, "cells");
    for (int c = 0; c < *ncell; c++)
        for (int k = 0; k < 2 * b; k++) equation[c * 2 * b + k] = c * b + k < n ? c * b + k : -1;
    return equation;
}

// Random positive definite cells R R' + shift, R with entries in (-1, 1).
static inline void fill_random_cells(pcs_matrix *A, int ncell, int ndof, const int *equation, double shift,
                                     unsigned seed)
{
    double R[12][12], dense[12 * 12];
    pcs_matrix_zero(A);
    for (int c = 0; c < ncell; c++) {
        for (int i = 0; i < ndof; i++)
            for (int j = 0; j < ndof; j++) R[i][j] = random_number(&seed);
        for (int i = 0; i < ndof; i++)
            for (int j = 0; j < ndof; j++) {
                double sum = i == j ? shift : 0.0;
                for (int k = 0; k < ndof; k++) sum += R[i][k] * R[j][k];
                dense[i * ndof + j] = sum;
            }
        pcs_matrix_add_cell(A, ndof, equation + c * ndof, 1.0, dense);
    }
}

static inline pcs_matrix *random_chain(pcs_context *ctx, int n, int b, unsigned seed)
{
    int ncell;
    int *equation = line_cells(ctx, n, b, &ncell);
    pcs_matrix *A = matrix_of(ctx, n, ncell, 2 * b, equation);
    fill_random_cells(A, ncell, 2 * b, equation, 1.0, seed);
    return A;
}

// A bar of n - 1 rods: mass m and stiffness k of each rod, which may differ from rod to rod.
typedef void rod_values(int rod, int n, double *mass, double *stiffness);

static inline pcs_matrix *bar(pcs_context *ctx, int n, rod_values *values)
{
    int ncell;
    int *equation = line_cells(ctx, n, 1, &ncell);
    pcs_matrix *A = matrix_of(ctx, n, ncell, 2, equation);
    for (int c = 0; c < ncell; c++) {
        double m = 1.0, k = 0.0;
        values(c, n, &m, &k);
        const double dense[] = { m / 3 + k, m / 6 - k, m / 6 - k, m / 3 + k };
        pcs_matrix_add_cell(A, 2, equation + 2 * c, 1.0, dense);
    }
    return A;
}

// Five-point Laplacian plus mass on a grid.
static inline pcs_matrix *grid(pcs_context *ctx, int side, double mass)
{
    int ncell = 2 * side * (side - 1), c = 0;
    int *equation = pcs_take(ctx, (size_t)(2 * ncell), sizeof *equation, "cells");
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            int here = i * side + j;
            if (j + 1 < side) equation[2 * c] = here, equation[2 * c++ + 1] = here + 1;
            if (i + 1 < side) equation[2 * c] = here, equation[2 * c++ + 1] = here + side;
        }
    pcs_matrix *A = matrix_of(ctx, side * side, ncell, 2, equation);
    for (c = 0; c < ncell; c++) pcs_matrix_add_cell(A, 2, equation + 2 * c, 1.0, (double[]){ 1, -1, -1, 1 });
    for (int e = 0; e < side * side; e++) pcs_matrix_add_cell(A, 1, &e, 1.0, &mass);
    return A;
}

// Every equation coupled to every other.
static inline pcs_matrix *clique(pcs_context *ctx, int n)
{
    int *equation = pcs_take(ctx, (size_t)n, sizeof *equation, "a cell");
    double *dense = pcs_take(ctx, (size_t)(n * n), sizeof *dense, "a cell");
    for (int i = 0; i < n; i++) {
        equation[i] = i;
        for (int j = 0; j < n; j++) dense[i * n + j] = 1.0 / (1.0 + abs(i - j)) + (i == j ? 2.0 : 0.0);
    }
    pcs_matrix *A = matrix_of(ctx, n, 1, n, equation);
    pcs_matrix_add_cell(A, n, equation, 1.0, dense);
    return A;
}

// [M G'; G 0]: a bar of nbar equations, and constraints on `nrow` of its nodes with unit direction; with
// `is_redundant` the last constraint repeats the one before.
static inline pcs_matrix *saddle(pcs_context *ctx, int nbar, int nrow, bool is_redundant)
{
    int ncell = nbar - 1 + nrow;
    int *equation = pcs_take(ctx, (size_t)(2 * ncell), sizeof *equation, "cells");
    for (int c = 0; c < nbar - 1; c++) equation[2 * c] = c, equation[2 * c + 1] = c + 1;
    for (int r = 0; r < nrow; r++) {
        int at = is_redundant && r == nrow - 1 ? r - 1 : r;
        int *cell = equation + 2 * (nbar - 1 + r);
        cell[0] = at * (nbar / nrow);
        cell[1] = nbar + r;
    }
    pcs_matrix *A = matrix_of(ctx, nbar + nrow, ncell, 2, equation);
    for (int c = 0; c < ncell; c++) {
        const double rod[] = { 2, 1, 1, 2 }, direction[] = { 0, 1, 1, 0 };
        pcs_matrix_add_cell(A, 2, equation + 2 * c, 1.0, c < nbar - 1 ? rod : direction);
    }
    return A;
}

#endif
