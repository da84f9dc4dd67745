// Nanoseconds per equation of one solve with a kept factor, beside the yardsticks of the same process.
//
// The matrix is the mass of a bar (consistent, tridiagonal) and its block versions. The memory limit is one pass that
// reads the factor (two numbers per equation) and the right-hand side and writes the solution. Best of several rounds.
//
// The last table is for matrices that change in every iteration and are not symmetric: a factorization and a solve of
// the chain and of UMFPACK in turns. Its flop limit is the time of the multiply-adds of the block elimination at the
// rate that this process reaches with nothing else to do.

#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "core/double2.h"
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
    double serialize = x[0];
    for (int i = 1; i < b->n; i++) x[i] = serialize = x[i] - e[i - 1] * serialize;
    x[b->n - 1] = serialize = x[b->n - 1] * d[b->n - 1];
    for (int i = b->n - 2; i >= 0; i--) x[i] = serialize = x[i] * d[i] - e[i] * serialize;
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

// Nanoseconds per equation of the best round; a round treats about `equations` of them.
static double bench_time(bench *b, int equations, void (*run)(bench *b))
{
    int repeats = equations / b->n + 1;
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
    return bench_time(b, 500000, bench_solve);
}

// The chain solver of single equations made to sweep from both ends, whatever their number.
static double bench_sweeps(bench *b)
{
    bench_create(b, "chain");
    pcs_chain *c = b->solver->data;
    if (pcs_chain_pairs_factor(c, b->A) >= 0) exit(1);
    c->solve = pcs_chain_pairs_solve;
    return bench_time(b, 500000, bench_solve);
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
    double pttrs = bench_time(&b, 500000, bench_dpttrs);
    for (int i = 0; i < n; i++) b.d[i] = 1.0 / b.d[i];
    double one = bench_time(&b, 500000, bench_one_chain), stream = bench_time(&b, 500000, bench_stream);
    double product = bench_time(&b, 500000, bench_multiply);
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
    double sweeps = bench_named(&b, "chain"), cholmod = bench_named(&b, "cholmod"),
           product = bench_time(&b, 500000, bench_multiply);
    printf("%8d %6d %10.2f %10.2f %10.2f\n", b.n, block, sweeps, cholmod, product);
    pcs_context_destroy(&b.ctx);
}

static void bench_factor(bench *b)
{
    bool is_singular = false;
    bench_need(pcs_linsolve_factor(b->solver, &is_singular), b);
    if (is_singular) exit(1);
}

// Nanoseconds of one multiply-add when many of them do not wait for each other.
static double bench_multiply_add(void)
{
    enum { CHAINS = 16, REPEATS = 20000 };
    pcs_double2 sum[CHAINS];
    volatile double tiny = 1e-20;
    double best = 1e30, factor = tiny;
    for (int k = 0; k < CHAINS; k++) sum[k] = (pcs_double2){ 1.0, 1.0 };
    for (int round = 0; round < ROUNDS; round++) {
        double begin = bench_now();
        for (int r = 0; r < REPEATS; r++) {
            _Pragma("GCC unroll 16") for (int k = 0; k < CHAINS; k++) sum[k] += sum[k] * factor;
        }
        double each = (bench_now() - begin) / (2.0 * CHAINS * REPEATS) * 1e9;
        if (each < best) best = each;
    }
    for (int k = 0; k < CHAINS; k++) tiny = sum[k][0];
    return best;
}

// Not symmetric: the coupling to the next node differs from that back. Without weight on the diagonal rows are
// exchanged everywhere.
static void bench_disturb(const bench *b, bool has_diagonal)
{
    unsigned seed = 1u;
    for (int j = 0; j < b->n; j++)
        for (int p = b->A->pattern->start[j]; p < b->A->pattern->start[j + 1]; p++) {
            seed = seed * 1664525u + 1013904223u;
            double number = (double)(seed >> 8) / 8388608.0 - 1.0;
            b->A->value[p] = has_diagonal ? b->A->value[p] + 0.05 * number : number;
        }
}

// Multiply-adds of the elimination per equation: the panel of two blocks, then the columns of the next one.
static double bench_terms(int block)
{
    int sum = 0;
    for (int k = 0; k < block; k++) sum += (2 * block - 1 - k) * (2 * block - 1 - k);
    return (double)sum / block;
}

static void bench_general(int n, int block, double multiply_add)
{
    bench b = { 0 };
    bench_assemble(&b, n, block, 0.8);
    bench_disturb(&b, true);
    double time[2][2];
    const char *const name[] = { "chain", "umfpack" };
    for (int k = 0; k < 2; k++) {
        bench_need(pcs_linsolve_create(b.ctx, name[k], b.A, PCS_GENERAL, &b.solver), &b);
        time[k][0] = bench_time(&b, k == 0 ? 50000 : 3000, bench_factor);
        time[k][1] = bench_time(&b, 50000, bench_solve);
    }
    bench_disturb(&b, false);
    bench_need(pcs_linsolve_create(b.ctx, "chain", b.A, PCS_GENERAL, &b.solver), &b);
    double pivoted = bench_time(&b, 10000, bench_factor);
    printf("%8d %6d %8.2f %8.2f %10.2f %10.2f %12.1f %8.1f %8.1f\n", b.n, block, time[0][0],
           multiply_add * bench_terms(block), time[0][1], pivoted, time[1][0], time[1][1],
           (time[1][0] + time[1][1]) / (time[0][0] + time[0][1]));
    pcs_context_destroy(&b.ctx);
}

static void bench_generals(void)
{
    const int size[] = { 60, 3000, 6000, 60000 };
    double multiply_add = bench_multiply_add();
    printf("\ngeneral blocks, ns per equation\n%8s %6s %8s %8s %10s %10s %12s %8s %8s\n", "n", "block", "factor",
           "(limit)", "solve", "exchanges", "umf. factor", "solve", "ratio");
    for (int block = 1; block <= 6; block++)
        for (int k = 0; k < 4; k++) bench_general(size[k], block, multiply_add);
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
    bench_generals();
    return 0;
}
