// Chains with any values: against `dense` and by their backward error, with and without row exchanges, with blocks of
// different sizes; singular ones are told, and values may change.

#include "test_linsolve_checks.h"

#include "linsolve/chain.h"

// Values of a chain: random in (-1, 1), on the diagonal with an addition that keeps the sign of the random number.
static pcs_matrix *general_chain(pcs_context *ctx, int n, int b, double diagonal, unsigned seed)
{
    int ncell;
    const int *equation = line_cells(ctx, n, b, &ncell);
    pcs_matrix *A = matrix_of(ctx, n, ncell, 2 * b, equation);
    for (int j = 0; j < n; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++) {
            double number = random_number(&seed);
            A->value[p] = A->pattern->row[p] == j ? number + copysign(diagonal, number) : number;
        }
    return A;
}

static double *place(const pcs_matrix *A, int i, int j)
{
    for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++)
        if (A->pattern->row[p] == i) return &A->value[p];
    return NULL;
}

static void make_symmetric(pcs_matrix *A)
{
    for (int j = 0; j < A->pattern->n; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++)
            if (A->pattern->row[p] < j) A->value[p] = *place(A, j, A->pattern->row[p]);
}

static const pcs_chain *chain_of(const pcs_linsolve *solver)
{
    CHECK_TEXT(solver->ops->name, "chain");
    return solver->data;
}

// Were rows exchanged?
static bool is_exchanged(const pcs_linsolve *solver)
{
    return chain_of(solver)->solve == pcs_chain_banded_solve;
}

// max_i |b - A x|_i / (sum_j |A_ij| / s_j  max_k |s_k x_k|), in more digits than the solver has: free of the scaling of
// the rows, and with s (NULL: ones) of that of the columns.
static double backward_error(pcs_context *ctx, const pcs_matrix *A, const double *s, const double *b, const double *x)
{
    int n = A->pattern->n;
    long double *r = pcs_take(ctx, (size_t)n, sizeof *r, "a residual"), size = 0.0L;
    long double *sum = pcs_take(ctx, (size_t)n, sizeof *sum, "sums");
    for (int i = 0; i < n; i++) r[i] = b[i];
    for (int j = 0; j < n; j++) {
        long double scale = s == NULL ? 1.0 : s[j];
        size = fmaxl(size, fabsl(scale * x[j]));
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++) {
            r[A->pattern->row[p]] -= (long double)A->value[p] * x[j];
            sum[A->pattern->row[p]] += fabs(A->value[p]) / scale;
        }
    }
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        double error = (double)(fabsl(r[i]) / (sum[i] * size));
        if (!(error <= worst)) worst = error; // a NaN stays
    }
    return worst;
}

// Solves for a random and for an impulsive right-hand side; the backward error must not exceed `allowed`, and the
// distance from dense not `agreement` (0: not compared).
static pcs_linsolve *check_scaled(pcs_context *ctx, const pcs_matrix *A, const double *s, pcs_linsolve_kind kind,
                                  double allowed, double agreement)
{
    int n = A->pattern->n;
    pcs_linsolve *chain = factored(ctx, "chain", A, kind);
    pcs_linsolve *dense = agreement > 0.0 ? factored(ctx, "dense", A, kind) : NULL;
    double *b = vector(ctx, n), *x = vector(ctx, n), *y = vector(ctx, n);
    for (int which = 0; which < 4; which++) {
        fill_rhs(n, which, b);
        memcpy(x, b, (size_t)n * sizeof *x);
        memcpy(y, b, (size_t)n * sizeof *y);
        x[n] = 12345.0;
        pcs_linsolve_solve(chain, x);
        CHECK_NEAR(x[n], 12345.0, 0.0); // nothing behind the end is touched
        CHECK_NEAR(backward_error(ctx, A, s, b, x), 0.0, allowed);
        if (dense == NULL) continue;
        pcs_linsolve_solve(dense, y);
        CHECK_ALL_NEAR(n, x, y, agreement * check_largest(n, y));
    }
    return chain;
}

static pcs_linsolve *check_chain(pcs_context *ctx, const pcs_matrix *A, pcs_linsolve_kind kind, double allowed,
                                 double agreement)
{
    return check_scaled(ctx, A, NULL, kind, allowed, agreement);
}

static const int sizes[] = { 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 17, 18, 19, 24, 25, 50, 51, 128, 150, 333, 600 };
enum { NSIZE = sizeof sizes / sizeof *sizes };

// Dominated by the diagonal, of either sign: no row is exchanged.
TEST_WITH_CONTEXT(test_dominated_by_the_diagonal)
{
    for (int b = 1; b <= 6; b++)
        for (int k = 0; k < NSIZE; k++) {
            pcs_context *ctx = NULL;
            CHECK(pcs_context_create(&ctx) == PCS_OK);
            pcs_matrix *A = general_chain(ctx, sizes[k], b, 2.0 * b, (unsigned)(100 * b + sizes[k]));
            CHECK(!is_exchanged(check_chain(ctx, A, PCS_GENERAL, 1e-15, 1e-12)));
            make_symmetric(A);
            CHECK(!is_exchanged(check_chain(ctx, A, PCS_GENERAL, 1e-15, 1e-12)));
            pcs_context_destroy(&ctx);
        }
}

// Nothing on the diagonal stands out: rows must be exchanged, also with the next block.
TEST_WITH_CONTEXT(test_random_values)
{
    int count = 0;
    for (int b = 1; b <= 6; b++)
        for (int k = 0; k < NSIZE; k++)
            for (unsigned seed = 1; seed <= 5; seed++) {
                pcs_context *ctx = NULL;
                CHECK(pcs_context_create(&ctx) == PCS_OK);
                pcs_matrix *A = general_chain(ctx, sizes[k], b, 0.0, 1000u * seed + (unsigned)(100 * b + sizes[k]));
                count += is_exchanged(check_chain(ctx, A, PCS_GENERAL, 1e-13, 1e-7));
                make_symmetric(A);
                count += is_exchanged(check_chain(ctx, A, PCS_GENERAL, 1e-13, 1e-7));
                pcs_context_destroy(&ctx);
            }
    CHECK(count > 1000);
}

// Diagonal blocks of nothing: each block finds its pivots in the next one. Of an odd number the matrix is singular.
TEST_WITH_CONTEXT(test_pivots_in_the_next_block)
{
    for (int b = 1; b <= 6; b++)
        for (int nblock = 2; nblock <= 31; nblock++) {
            pcs_matrix *A = general_chain(*state, nblock * b, b, 0.0, (unsigned)nblock);
            for (int j = 0; j < nblock * b; j++)
                for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++) {
                    int i = A->pattern->row[p];
                    A->value[p] = i / b == j / b ? 0.0 : i % b == j % b ? 2.0 : 0.1 * A->value[p];
                }
            if (nblock % 2 == 0) check_chain(*state, A, PCS_GENERAL, 1e-14, 1e-10);
            else check_singular(*state, A, PCS_GENERAL, 0, nblock * b - 1);
        }
}

// Multipliers that make the pivots grow.
TEST_WITH_CONTEXT(test_growth)
{
    for (int b = 1; b <= 6; b++) {
        int n = 200 * b;
        pcs_matrix *A = general_chain(*state, n, b, 0.0, 5u);
        for (int j = 0; j < n; j++)
            for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++) {
                int i = A->pattern->row[p];
                A->value[p] *= 0.01;
                if (i == j) A->value[p] = 1.0;
                if (abs(i - j) == b) A->value[p] = i > j ? 3.5 : 3.6;
            }
        CHECK(is_exchanged(check_chain(*state, A, PCS_GENERAL, 1e-14, 1e-11)));
    }
}

// Units: rows and columns scaled by powers of ten that change from equation to equation and along the chain.
TEST_WITH_CONTEXT(test_bad_scaling)
{
    for (int b = 1; b <= 6; b++)
        for (int is_dominated = 0; is_dominated < 2; is_dominated++) {
            int n = 50 * b;
            pcs_matrix *A = general_chain(*state, n, b, is_dominated ? 2.0 * b : 0.0, 23u);
            double scale[300];
            unsigned seed = 3u;
            for (int i = 0; i < n; i++) scale[i] = pow(10.0, 5.0 * random_number(&seed) + 8.0 * sin(0.05 * i));
            for (int j = 0; j < n; j++)
                for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++)
                    A->value[p] *= scale[j] * scale[A->pattern->row[p]];
            pcs_linsolve *chain = check_scaled(*state, A, scale, PCS_GENERAL, 1e-13, 0.0);
            CHECK(is_exchanged(chain) == !is_dominated);
            for (int j = 0; j < n; j++)
                for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++)
                    A->value[p] *= pow(10.0, 6.0 * sin(1.7 * A->pattern->row[p]));
            check_scaled(*state, A, scale, PCS_GENERAL, 1e-13, 0.0);
        }
}

// A free bar with hardly any mass: as close to singular as digits allow is solved, what is closer is told.
TEST_WITH_CONTEXT(test_nearly_singular)
{
    for (int n = 5; n <= 60; n++)
        for (int small = 4; small <= 12; small += 2) {
            int ncell, *equation = line_cells(*state, n, 1, &ncell);
            pcs_matrix *A = matrix_of(*state, n, ncell, 2, equation);
            double mass = pow(10.0, -small);
            for (int c = 0; c < ncell; c++) {
                const double rod[] = { 1 + mass, -1, -1, 1 + mass };
                pcs_matrix_add_cell(A, 2, equation + 2 * c, 1.0, rod);
            }
            pcs_linsolve *chain = check_chain(*state, A, PCS_GENERAL, 1e-14, 0.0);
            double *x = vector(*state, n), mean = 0.0;
            x[n / 3] = 1.0;
            pcs_linsolve_solve(chain, x);
            for (int i = 0; i < n; i++) mean += mass * (i == 0 || i == n - 1 ? 1.0 : 2.0) * x[i];
            CHECK_NEAR(mean, 1.0, 1e-14 * n * n / mass); // balance of the forces
            for (int c = 0; c < ncell; c++)
                pcs_matrix_add_cell(A, 2, equation + 2 * c, -mass, (double[]){ 1, 0, 0, 1 });
        }
}

// Two equal rows, a column of nothing, a row of nothing, a free beam: an equation nearby is blamed.
TEST_WITH_CONTEXT(test_singular)
{
    for (int b = 1; b <= 6; b++)
        for (int at = 0; at < 12 * b; at++) {
            pcs_matrix *A = general_chain(*state, 12 * b, b, at % 2 == 0 ? 2.0 * b : 0.0, (unsigned)at);
            for (int p = A->pattern->start[at]; p < A->pattern->start[at + 1]; p++) A->value[p] = 0.0;
            check_singular(*state, A, PCS_GENERAL, at, at);
            A = general_chain(*state, 12 * b, b, at % 2 == 0 ? 2.0 * b : 0.0, (unsigned)at);
            for (int j = 0; j < 12 * b; j++)
                if (place(A, at, j) != NULL) *place(A, at, j) = 0.0;
            check_singular(*state, A, PCS_GENERAL, 0, 12 * b - 1);
        }
}

// A block that couples to nothing, with two rows that differ by round-off only.
TEST_WITH_CONTEXT(test_dependent_rows_alone)
{
    for (int b = 2; b <= 6; b++)
        for (int I = 0; I < 12; I++) {
            pcs_matrix *A = general_chain(*state, 12 * b, b, 2.0 * b, 6u);
            int one = I * b, two = I * b + b - 1;
            for (int e = one; e <= two; e++) clear_equation(A, e, 1.0);
            *place(A, one, one) = 0.1;
            *place(A, one, two) = *place(A, two, one) = 0.3;
            *place(A, two, two) = 0.9;
            pcs_linsolve *chain = create(*state, "chain", A, PCS_GENERAL);
            bool is_singular = false;
            CHECK_OK(*state, pcs_linsolve_factor(chain, &is_singular));
            CHECK(is_singular && (chain->bad_equation == one || chain->bad_equation == two));
        }
}

// Large entries above (below) the diagonal and small ones opposite to them, within a few blocks or between them: the
// sizes of the rows alone, or those of the columns alone, show nothing.
static void one_sided(pcs_context *ctx, int b, bool is_above, bool is_within)
{
    int n = 40 * b;
    pcs_matrix *A = general_chain(ctx, n, b, 2.0 * b, 41u);
    for (int j = 0; j < n; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++) {
            int i = A->pattern->row[p], place_of = (i / b + j / b) / 2;
            if (i == j || (i / b == j / b) != is_within || place_of % 13 != 5) continue;
            A->value[p] *= (i < j) == is_above ? 1.0e7 : 1.0e-7;
        }
    CHECK(is_exchanged(check_chain(ctx, A, PCS_GENERAL, 1e-15, 0.0)));
}

// The same in a block that couples to nothing, so that no other block shows it.
static void one_sided_alone(pcs_context *ctx, int b)
{
    pcs_matrix *A = general_chain(ctx, 12 * b, b, 2.0 * b, 41u);
    for (int e = 3 * b; e < 4 * b; e++) clear_equation(A, e, 1.0);
    *place(A, 3 * b, 4 * b - 1) = 1.0e7;
    *place(A, 4 * b - 1, 3 * b) = 1.0e-3;
    CHECK(is_exchanged(check_chain(ctx, A, PCS_GENERAL, 1e-15, 1e-12)));
}

TEST_WITH_CONTEXT(test_one_sided)
{
    for (int b = 1; b <= 6; b++)
        for (int is_above = 0; is_above < 2; is_above++) {
            one_sided(*state, b, is_above, false);
            if (b > 1) one_sided(*state, b, is_above, true);
        }
    for (int b = 2; b <= 6; b++) one_sided_alone(*state, b);
}

// Sums beyond the largest number: factors with row exchanges are those of a scaled matrix.
TEST_WITH_CONTEXT(test_overflow)
{
    pcs_matrix *A = matrix_of(*state, 2, 1, 2, (int[]){ 0, 1 });
    pcs_matrix_add_cell(A, 2, (int[]){ 0, 1 }, 1.5e308, (double[]){ 1, 1, -1, 1 });
    pcs_linsolve *chain = factored(*state, "chain", A, PCS_GENERAL);
    double x[] = { 1.5e308 * 0.75, 1.5e308 * 0.25 };
    pcs_linsolve_solve(chain, x);
    CHECK(is_exchanged(chain));
    CHECK_ALL_NEAR(2, x, ((double[]){ 0.25, 0.5 }), 1e-15);
}

TEST_WITH_CONTEXT(test_not_a_number)
{
    const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int b = 1; b <= 6; b++)
        for (int k = 0; k < 3; k++)
            for (int p = 0; p < 3; p++) {
                pcs_matrix *A = general_chain(*state, 8 * b, b, p % 2 == 0 ? 2.0 * b : 0.0, 3u);
                A->value[p * A->pattern->nnz / 3] = bad[k];
                pcs_linsolve *chain = create(*state, "chain", A, PCS_GENERAL);
                bool is_singular = false;
                CHECK_OK(*state, pcs_linsolve_factor(chain, &is_singular));
                CHECK(is_singular);
            }
}

// Freedoms per node of beams with supports; -1 begins another body.
static const int shapes[][12] = {
    { 3, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 3 },     { 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2 },
    { 6, 6, 6, 2, 6, 6, 6, 6, 1, 6, 6, 6 },     { 5, 6, 6, 6, 6, -1, 3, 6, 6, 6, 6, 6 },
    { 1, -1, 2, -1, 1, -1, 3, 3, 3, 3, 3, 1 },  { 4, 4, 4, 4, 1, 4, 4, 4, 4, 4, 4, 4 },
    { 6, 6, 6, 6, 6, -1, 1, -1, 1, -1, 1, -1 }, { 2, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 },
};

static pcs_matrix *shaped(pcs_context *ctx, const int *shape, bool is_sparse, unsigned seed)
{
    int equation[12 * 12], ncell = 0, n = 0;
    for (int k = 0; k < 12; k++) {
        int count = shape[k] < 0 ? 0 : shape[k], next = k < 11 && shape[k] > 0 && shape[k + 1] > 0 ? shape[k + 1] : 0;
        for (int i = 0; i < 12; i++) equation[ncell * 12 + i] = i < count + next ? n + i : -1;
        // Without a coupling of the first freedoms of a node to the others.
        if (is_sparse && count > 2) equation[ncell * 12 + 1] = -1;
        ncell += k < 11;
        n += count;
    }
    pcs_matrix *A = matrix_of(ctx, n, ncell, 12, equation);
    fill_random_cells(A, ncell, 12, equation, 0.5, seed);
    for (int e = 0; e < n; e++) pcs_matrix_add_cell(A, 1, &e, 1.0, (double[]){ 0.5 });
    return A;
}

TEST_WITH_CONTEXT(test_blocks_of_different_sizes)
{
    const int block[] = { 6, 3, 6, 6, 3, 4, 6, 5 }, nblock[] = { 12, 12, 12, 11, 8, 12, 6, 12 };
    for (int s = 0; s < 8; s++)
        for (int is_sparse = 0; is_sparse < 2; is_sparse++) {
            pcs_matrix *A = shaped(*state, shapes[s], is_sparse, (unsigned)s);
            const pcs_chain *c = chain_of(factored(*state, "auto", A, PCS_SPD));
            CHECK(c->b <= block[s] && (is_sparse || (c->b == block[s] && c->nblock == nblock[s])));
            check_all(*state, A, PCS_SPD, 1e-12, 4);
            unsigned seed = 9u;
            for (int p = 0; p < A->pattern->nnz; p++) A->value[p] += 0.3 * random_number(&seed);
            check_chain(*state, A, PCS_GENERAL, 1e-13, 1e-11);
            for (int p = 0; p < A->pattern->nnz; p++) A->value[p] = random_number(&seed);
            check_chain(*state, A, PCS_GENERAL, 1e-12, 1e-8);
            int last = A->pattern->n - 1;
            clear_equation(A, last, 0.0);
            check_singular(*state, A, PCS_GENERAL, last, last);
            A = shaped(*state, shapes[s], is_sparse, (unsigned)s);
            clear_equation(A, last, 0.0);
            check_singular(*state, A, PCS_SPD, last, last);
        }
    int ncell, *equation = line_cells(*state, 70, 7, &ncell);
    pcs_matrix *A = matrix_of(*state, 70, ncell, 14, equation);
    CHECK_TEXT(create(*state, "auto", A, PCS_GENERAL)->ops->name, "umfpack");
}

// Values that need row exchanges, values that do not, and singular ones in turns: as if factored for the first time.
TEST_WITH_CONTEXT(test_values_change)
{
    for (int b = 1; b <= 6; b++) {
        int n = 30 * b - b / 2;
        pcs_matrix *A = general_chain(*state, n, b, 2.0 * b, 0u);
        pcs_linsolve *solver = create(*state, "chain", A, PCS_GENERAL);
        for (unsigned round = 1; round < 12; round++) {
            bool is_singular = false, wanted = round % 4 == 3;
            const pcs_matrix *other = general_chain(*state, n, b, round % 2 == 0 ? 2.0 * b : 0.0, round);
            memcpy(A->value, other->value, (size_t)A->pattern->nnz * sizeof *A->value);
            if (wanted) clear_equation(A, n / 3, 0.0);
            CHECK_OK(*state, pcs_linsolve_factor(solver, &is_singular));
            CHECK(is_singular == wanted && solver->bad_equation == (wanted ? n / 3 : -1));
            if (wanted) continue;
            double *x = vector(*state, n), *y = vector(*state, n);
            fill_rhs(n, 0, x);
            fill_rhs(n, 0, y);
            pcs_linsolve_solve(solver, x);
            pcs_linsolve_solve(factored(*state, "chain", A, PCS_GENERAL), y);
            CHECK_ALL_NEAR(n, x, y, 0.0);
        }
    }
}
