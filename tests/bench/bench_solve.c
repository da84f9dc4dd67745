// Nanoseconds per equation of one solve with a kept factor, beside the yardsticks of the same process.
//
// The matrix is the mass of a bar (consistent, tridiagonal) and its block versions. The memory limit is one pass that
// reads the factor (two numbers per equation) and the right-hand side and writes the solution. Best of several rounds.

#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "linsolve/chain.h"
#include "linsolve/linsolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void dpttrf_(const int *n, double *d, double *e, int *info);
void dpttrs_(const int *n, const int *nrhs, const double *d, const double *e, double *b, const int *ldb, int *info);

enum { ROUNDS = 60 };

typedef struct bench {
    int n;
    pcs_context *ctx;
    pcs_matrix *A;
    pcs_linsolve *solver;
    double *x, *y, *d, *e;
} bench;

static void bench_need(pcs_status status, const bench *b)
{
    if (status == PCS_OK) return;
    fprintf(stderr, "bench_solve: %s\n", pcs_message(b->ctx));
    exit(1);
}

static double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Nodes of `block` equations in a row; neighbours couple with weights that keep the matrix dominated by its diagonal.
static void bench_assemble(bench *b, int n, int block, double coupling)
{
    int nnode = n / block, ndof = 2 * block;
    b->n = nnode * block;
    bench_need(pcs_context_create(&b->ctx), b);
    int *equation = malloc((size_t)nnode * (size_t)ndof * sizeof *equation);
    double dense[12 * 12];
    if (equation == NULL) exit(1);
    for (int c = 0; c + 1 < nnode; c++)
        for (int k = 0; k < ndof; k++) equation[c * ndof + k] = c * block + k;
    for (int i = 0; i < ndof; i++)
        for (int j = 0; j < ndof; j++)
            dense[i * ndof + j] = i == j ? 2.0 : coupling / (block * (1.0 + 0.1 * abs(i - j)));
    pcs_pattern_builder *builder = NULL;
    pcs_pattern *pattern = NULL;
    bench_need(pcs_pattern_begin(b->ctx, b->n, &builder), b);
    bench_need(pcs_pattern_add_cells(builder, nnode - 1, ndof, equation), b);
    bench_need(pcs_pattern_finish(builder, &pattern), b);
    bench_need(pcs_matrix_create(b->ctx, pattern, &b->A), b);
    for (int c = 0; c + 1 < nnode; c++) pcs_matrix_add_cell(b->A, ndof, equation + c * ndof, 1.0 / 6.0, dense);
    free(equation);

    double **vector[] = { &b->x, &b->y, &b->d, &b->e };
    for (int k = 0; k < 4; k++) *vector[k] = pcs_take(b->ctx, (size_t)b->n, sizeof(double), "a vector");
    if (b->e == NULL) exit(1);
}

static void bench_create(bench *b, const char *name)
{
    bool is_singular = false;
    bench_need(pcs_linsolve_create(b->ctx, name, b->A, PCS_SPD, &b->solver), b);
    bench_need(pcs_linsolve_factor(b->solver, &is_singular), b);
    if (is_singular) exit(1);
}

static void bench_solve(bench *b)
{
    pcs_linsolve_solve(b->solver, b->x);
}

static void bench_dpttrs(bench *b)
{
    int one = 1, info = 0;
    dpttrs_(&b->n, &one, b->d, b->e, b->x, &b->n, &info);
}

static void bench_one_chain(bench *b)
{
    double *restrict x = b->x;
    const double *restrict d = b->d, *restrict e = b->e;
    double carry = x[0];
    for (int i = 1; i < b->n; i++) x[i] = carry = x[i] - e[i - 1] * carry;
    x[b->n - 1] = carry = x[b->n - 1] * d[b->n - 1];
    for (int i = b->n - 2; i >= 0; i--) x[i] = carry = x[i] * d[i] - e[i] * carry;
}

static void bench_stream(bench *b)
{
    double *restrict x = b->x;
    const double *restrict d = b->d, *restrict e = b->e;
    for (int i = 0; i < b->n; i++) x[i] = x[i] * d[i] + e[i];
}

static void bench_multiply(bench *b)
{
    pcs_matrix_multiply(b->A, b->x, b->y);
}

static double bench_time(bench *b, void (*run)(bench *b))
{
    int repeats = (int)(5e5 / b->n) + 1;
    double best = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < b->n; i++) b->x[i] = 1.0 + 0.001 * (i % 17);
        double begin = bench_now();
        for (int r = 0; r < repeats; r++) run(b);
        double each = (bench_now() - begin) / repeats / b->n * 1e9;
        if (each < best) best = each;
    }
    return best;
}

static double bench_named(bench *b, const char *name)
{
    bench_create(b, name);
    return bench_time(b, bench_solve);
}

// The chain solver made to sweep from both ends.
static double bench_sweeps(bench *b)
{
    bench_create(b, "chain");
    pcs_chain *c = b->solver->data;
    if (pcs_chain_sweeps_factor(c, b->A) >= 0) exit(1);
    c->solve = pcs_chain_sweeps_solve;
    return bench_time(b, bench_solve);
}

static void bench_bar(int n)
{
    bench b = { 0 };
    bench_assemble(&b, n, 1, 1.0);
    for (int i = 0; i < n; i++) {
        b.d[i] = i == 0 || i == n - 1 ? 2.0 / 6.0 : 4.0 / 6.0;
        b.e[i] = 1.0 / 6.0;
    }
    int info = 0;
    dpttrf_(&b.n, b.d, b.e, &info);
    double pttrs = bench_time(&b, bench_dpttrs);
    for (int i = 0; i < n; i++) b.d[i] = 1.0 / b.d[i];
    double one = bench_time(&b, bench_one_chain), stream = bench_time(&b, bench_stream);
    double product = bench_time(&b, bench_multiply);
    double sweeps = bench_sweeps(&b), chain = bench_named(&b, "chain");
    const pcs_chain *c = b.solver->data;
    bool has_windows = c->solve == pcs_chain_windows_solve;
    double cholmod = bench_named(&b, "cholmod");
    printf("%8d %10.2f %10.2f %10.2f %6s(%3d) %8.2f %10.2f %10.2f %10.2f\n", n, one, sweeps, chain,
           has_windows ? "" : "sweeps", has_windows ? c->cut.window : 0, pttrs, cholmod, product, stream);
    pcs_context_destroy(&b.ctx);
}

static void bench_beam(int n, int block)
{
    bench b = { 0 };
    bench_assemble(&b, n, block, 0.8);
    double sweeps = bench_sweeps(&b), cholmod = bench_named(&b, "cholmod"), product = bench_time(&b, bench_multiply);
    printf("%8d %6d %10.2f %10.2f %10.2f\n", b.n, block, sweeps, cholmod, product);
    pcs_context_destroy(&b.ctx);
}

int main(void)
{
    const int size[] = { 50, 200, 1000, 100000, 1000000 };
    printf("tridiagonal, ns per equation and solve\n%8s %10s %10s %10s %11s %8s %10s %10s %10s\n", "n", "one chain",
           "two sweeps", "chain", "(window)", "dpttrs", "cholmod", "product", "memory");
    for (int k = 0; k < 5; k++) bench_bar(size[k]);
    printf("\nblocks, ns per equation and solve\n%8s %6s %10s %10s %10s\n", "n", "block", "two sweeps", "cholmod",
           "product");
    for (int block = 2; block <= 6; block++)
        for (int k = 0; k < 5; k++)
            if (k != 1) bench_beam(size[k], block);
    return 0;
}
