// What every linear solver must do, for each one in the registry that takes the matrix: agree with `dense` and leave a
// small residual, tell a singular matrix from a fault, factor again, refuse with a reason, say where memory ends. That
// steps allocate nothing is in test_allocation.c.

#include "test_linsolve_checks.h"

#include "linsolve/chain.h"
#include "support/alloc_fault.h"

#include <float.h>

TEST_WITH_CONTEXT(test_random_chains)
{
    const int size[] = { 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 17, 18, 50, 51, 128, 150, 333, 1000 };
    for (int b = 1; b <= 6; b++)
        for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
            if (size[k] == 1000 && (b == 2 || b == 4 || b == 5)) continue;
            pcs_context *ctx = NULL;
            CHECK(pcs_context_create(&ctx) == PCS_OK);
            pcs_matrix *A = random_chain(ctx, size[k], b, (unsigned)(100 * b + size[k]));
            CHECK(A->pattern->chain_block <= b);
            CHECK(size[k] <= 3 * b || A->pattern->chain_block == b);
            check_all(ctx, A, PCS_SPD, 1e-12, 4);
            pcs_context_destroy(&ctx);
        }
    (void)state;
}

static void mass_rod(int rod, int n, double *mass, double *stiffness)
{
    (void)rod, (void)n;
    *mass = 1.0;
    *stiffness = 0.0;
}

static void step_rod(int rod, int n, double *mass, double *stiffness)
{
    (void)n;
    *mass = 1.0 + 0.3 * (rod % 3);
    *stiffness = 0.4;
}

static void stiff_rod(int rod, int n, double *mass, double *stiffness)
{
    (void)rod, (void)n;
    *mass = 1.0;
    *stiffness = 1.0e4;
}

// A stiff piece that lies over the cut in the middle, so that the influence does not decay within it.
static void inset_rod(int rod, int n, double *mass, double *stiffness)
{
    *mass = 1.0;
    *stiffness = abs(rod - n / 2) < 30 ? 1.0e8 : 0.3;
}

// The same on one side of that cut only, which lies at 496 of 1000.
static void before_rod(int rod, int n, double *mass, double *stiffness)
{
    (void)n;
    *mass = 1.0;
    *stiffness = rod >= 460 && rod < 495 ? 1.0e8 : 0.3;
}

static void behind_rod(int rod, int n, double *mass, double *stiffness)
{
    (void)n;
    *mass = 1.0;
    *stiffness = rod >= 496 && rod < 531 ? 1.0e8 : 0.3;
}

// Units and sections that change by ten orders along the bar.
static void graded_rod(int rod, int n, double *mass, double *stiffness)
{
    double factor = pow(10.0, 10.0 * sin(12.0 * rod / n));
    *mass = factor;
    *stiffness = 0.2 * factor;
}

static void jump_rod(int rod, int n, double *mass, double *stiffness)
{
    double factor = rod / (n / 7 + 1) % 2 == 0 ? 1.0 : 1.0e10;
    *mass = factor;
    *stiffness = 0.3 * factor;
}

// Which way the chain solver went.
static void check_path(pcs_linsolve *solver, void (*increment)(const pcs_chain *c, double *x))
{
    const pcs_chain *c = solver->data;
    CHECK(c->solve == increment);
}

TEST_WITH_CONTEXT(test_bars_take_the_fast_way)
{
    const struct {
        rod_values *values;
        int n;
        bool has_windows;
        double agreement;
    } bars[] = {
        { mass_rod, 100, false, 1e-12 },  { mass_rod, 287, false, 1e-12 },  { mass_rod, 288, true, 1e-12 },
        { mass_rod, 303, true, 1e-12 },   { mass_rod, 1000, true, 1e-12 },  { step_rod, 1001, true, 1e-12 },
        { step_rod, 2013, true, 1e-12 },  { stiff_rod, 1000, false, 1e-9 }, { inset_rod, 1000, true, 1e-6 },
        { before_rod, 1000, true, 1e-6 }, { behind_rod, 1000, true, 1e-6 }, { graded_rod, 1500, true, 1e-12 },
        { jump_rod, 1500, true, 1e-12 },
    };
    for (size_t k = 0; k < sizeof bars / sizeof *bars; k++) {
        pcs_matrix *A = bar(*state, bars[k].n, bars[k].values);
        pcs_linsolve *chain = factored(*state, "chain", A, PCS_SPD);
        check_path(chain, bars[k].has_windows ? pcs_chain_windows_solve : pcs_chain_lu_solve);
        check_all(*state, A, PCS_SPD, bars[k].agreement, 4);
    }
}

// A bar too stiff for windows, its equations scaled so that the plain factors seem to decay around every cut.
static void seemingly_decaying(pcs_matrix *A)
{
    double s[1000];
    for (int i = 0; i < 1000; i++) {
        int phase = (i + 40) % 124;
        s[i] = pow(10.0, -0.55 * (phase < 80 ? phase : 80.0 * (124 - phase) / 44.0));
    }
    for (int j = 0; j < 1000; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++)
            A->value[p] *= s[j] * s[A->pattern->row[p]];
}

TEST_WITH_CONTEXT(test_decay_is_free_of_scaling)
{
    pcs_matrix *A = bar(*state, 1000, stiff_rod);
    seemingly_decaying(A);
    pcs_linsolve *chain = factored(*state, "chain", A, PCS_SPD);
    check_path(chain, pcs_chain_lu_solve);
    check_solves(*state, chain, NULL, 0.0);
}

// Odd and even numbers of equations, light beside heavy and soft beside stiff.
TEST_WITH_CONTEXT(test_short_bars)
{
    rod_values *const values[] = { mass_rod, step_rod, stiff_rod, graded_rod, jump_rod };
    for (int n = 2; n < 48; n++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            pcs_matrix *A = bar(*state, n, values[v]);
            pcs_linsolve *chain = factored(*state, "chain", A, PCS_SPD);
            check_path(chain, pcs_chain_lu_solve);
            check_solves(*state, chain, factored(*state, "dense", A, PCS_SPD), values[v] == stiff_rod ? 1e-10 : 1e-13);
        }
}

// Many tiles, too large for dense: against L U factors, which leave nothing out.
TEST_WITH_CONTEXT(test_long_bars)
{
    const int size[] = { 15999, 16000, 16017, 40000, 100003 };
    rod_values *const values[] = { mass_rod, step_rod, inset_rod };
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            pcs_context *ctx = NULL;
            CHECK(pcs_context_create(&ctx) == PCS_OK);
            pcs_matrix *A = bar(ctx, size[k], values[v]);
            pcs_linsolve *chain = factored(ctx, "chain", A, PCS_SPD), *plain = factored(ctx, "chain", A, PCS_GENERAL);
            check_path(chain, pcs_chain_windows_solve);
            check_path(plain, pcs_chain_lu_solve);
            check_solves(ctx, chain, plain, values[v] == inset_rod ? 1e-6 : 1e-12);
            pcs_context_destroy(&ctx);
        }
    (void)state;
}

// A slow decay: the window grows, larger tiles are taken, and at last L U factors.
static void slow_rod(int rod, int n, double *mass, double *stiffness)
{
    (void)rod, (void)n;
    *mass = 1.0;
    *stiffness = 400.0;
}

TEST_WITH_CONTEXT(test_window_grows_with_stiffness)
{
    pcs_matrix *A = bar(*state, 60000, slow_rod);
    pcs_linsolve *chain = factored(*state, "chain", A, PCS_SPD);
    const pcs_chain *c = chain->data;
    check_path(chain, pcs_chain_windows_solve);
    CHECK(c->cut.window > 500 && c->cut.window < 1200 && c->cut.length >= 3 * c->cut.window);
    check_solves(*state, chain, factored(*state, "cholmod", A, PCS_SPD), 1e-9);
    check_path(factored(*state, "chain", bar(*state, 2000, slow_rod), PCS_SPD), pcs_chain_lu_solve);
}

TEST_WITH_CONTEXT(test_several_bodies)
{
    // Bars of different lengths in one numbering, and the coupling missing in the pattern.
    const int length[] = { 1, 40, 2, 300, 7, 3, 200, 1 };
    int equation[2 * 600], ncell = 0, first = 0;
    for (size_t k = 0; k < sizeof length / sizeof *length; first += length[k++])
        for (int i = 0; i + 1 < length[k]; i++, ncell++) {
            equation[2 * ncell] = first + i;
            equation[2 * ncell + 1] = first + i + 1;
        }
    pcs_matrix *A = matrix_of(*state, first, ncell, 2, equation);
    fill_random_cells(A, ncell, 2, equation, 0.5, 5u);
    for (int e = 0; e < first; e++) pcs_matrix_add_cell(A, 1, &e, 1.0, (double[]){ 0.1 });
    CHECK(A->pattern->chain_block == 1);
    check_all(*state, A, PCS_SPD, 1e-12, 4);
}

TEST_WITH_CONTEXT(test_lumped)
{
    pcs_matrix *A = bar(*state, 1000, mass_rod);
    for (int j = 0; j < 1000; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++)
            A->value[p] = A->pattern->row[p] == j ? 1.0 + 0.01 * j : 0.0;
    check_all(*state, A, PCS_SPD, 1e-14, 4);
    const pcs_chain *c = factored(*state, "chain", A, PCS_SPD)->data;
    CHECK(c->solve != pcs_chain_windows_solve && c->solve != pcs_chain_lu_solve);
}

TEST_WITH_CONTEXT(test_grids)
{
    check_all(*state, grid(*state, 7, 0.1), PCS_SPD, 1e-12, 3);
    check_all(*state, grid(*state, 30, 0.1), PCS_SPD, 1e-12, 3);
    check_all(*state, clique(*state, 300), PCS_SPD, 1e-12, 3); // dense enough for a supernodal factor
}

TEST_WITH_CONTEXT(test_saddles)
{
    const struct {
        int nbar, nrow;
    } size[] = { { 2, 1 }, { 50, 1 }, { 50, 7 }, { 400, 20 } };
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        pcs_matrix *A = saddle(*state, size[k].nbar, size[k].nrow, false);
        check_all(*state, A, PCS_GENERAL, 1e-12, 2);
    }
}

// New values on the old pattern, also after a singular matrix.
TEST_WITH_CONTEXT(test_factors_again)
{
    int ncell, *equation = line_cells(*state, 400, 1, &ncell);
    pcs_matrix *A = matrix_of(*state, 400, ncell, 2, equation);
    for (int k = 0; pcs_linsolvers[k] != NULL; k++) {
        if (pcs_linsolvers[k]->refuses(A->pattern, PCS_SPD) != NULL) continue;
        pcs_linsolve *solver = create(*state, pcs_linsolvers[k]->name, A, PCS_SPD);
        for (int round = 0; round < 4; round++) {
            bool is_singular = false, wanted = round == 1;
            fill_random_cells(A, ncell, 2, equation, round == 2 ? 30.0 : 1.0, (unsigned)round);
            if (wanted) pcs_matrix_zero(A);
            CHECK_OK(*state, pcs_linsolve_factor(solver, &is_singular));
            CHECK(is_singular == wanted);
            CHECK(solver->nfactor == round + 1);
            CHECK((solver->bad_equation >= 0) == wanted);
            if (!wanted) check_solves(*state, solver, factored(*state, "dense", A, PCS_SPD), 1e-12);
        }
    }
}

// A negative pivot, or one of round-off: LU factors do not mind, all others must.
static void check_indefinite(pcs_context *ctx, const pcs_matrix *A, int low, int high)
{
    const char *const name[] = { "dense", "chain", "cholmod" };
    for (int k = 0; k < 3; k++) {
        pcs_linsolve *solver = create(ctx, name[k], A, PCS_SPD);
        bool is_singular = false;
        CHECK_OK(ctx, pcs_linsolve_factor(solver, &is_singular));
        CHECK(is_singular && solver->bad_equation >= low && solver->bad_equation <= high);
    }
}

TEST_WITH_CONTEXT(test_empty_and_negative_equations)
{
    const int place[] = { 0, 17, 25, 49 };
    for (int b = 1; b <= 6; b++)
        for (int k = 0; k < 4; k++) {
            pcs_matrix *A = random_chain(*state, 50, b, 8u);
            clear_equation(A, place[k], 0.0);
            check_singular(*state, A, PCS_SPD, place[k], place[k]);
            check_singular(*state, A, PCS_GENERAL, place[k], place[k]);
            clear_equation(A, place[k], NAN);
            check_singular(*state, A, PCS_SPD, 0, 49);
            clear_equation(A, place[k], -1.0);
            check_indefinite(*state, A, place[k], place[k]);
        }
    pcs_matrix *A = grid(*state, 12, 0.1);
    clear_equation(A, 77, 0.0);
    check_singular(*state, A, PCS_SPD, 77, 77);
    check_singular(*state, A, PCS_GENERAL, 77, 77);
    A = clique(*state, 300);
    clear_equation(A, 123, 0.0);
    check_singular(*state, A, PCS_SPD, 123, 123);
    clear_equation(A, 123, NAN);
    check_singular(*state, A, PCS_SPD, 0, 299);
    A = bar(*state, 1000, mass_rod);
    clear_equation(A, 700, 0.0);
    check_singular(*state, A, PCS_SPD, 700, 700);
    A = bar(*state, 1000, mass_rod);
    pcs_matrix_add_cell(A, 1, (int[]){ 700 }, -1.0, (double[]){ 1.0 });
    check_indefinite(*state, A, 700, 701);
    for (int p = 0; p < A->pattern->nnz; p++) A->value[p] = 0.0;
    for (int e = 0; e < 1000; e++) pcs_matrix_add_cell(A, 1, &e, e == 345 ? 0.0 : 1.0, (double[]){ 1.0 });
    check_singular(*state, A, PCS_SPD, 345, 345);
}

// A free body has no static solution, exactly so in whole numbers; a last pivot of round-off counts as none.
TEST_WITH_CONTEXT(test_free_bodies)
{
    for (int n = 2; n <= 600; n = 3 * n + 1) {
        int ncell, *equation = line_cells(*state, n, 1, &ncell);
        pcs_matrix *A = matrix_of(*state, n + 3, ncell, 2, equation);
        for (int c = 0; c < ncell; c++) pcs_matrix_add_cell(A, 2, equation + 2 * c, 1.0, (double[]){ 1, -1, -1, 1 });
        for (int e = n; e < n + 3; e++) pcs_matrix_add_cell(A, 1, &e, 1.0, (double[]){ 2.0 });
        check_singular(*state, A, PCS_SPD, 0, n - 1);
    }
    pcs_matrix *A = matrix_of(*state, 2, 1, 2, (int[]){ 0, 1 });
    pcs_matrix_add_cell(A, 2, (int[]){ 0, 1 }, 1.0, (double[]){ 1, 1, 1, 1.0 + DBL_EPSILON });
    check_indefinite(*state, A, 0, 1);
}

TEST_WITH_CONTEXT(test_redundant_constraints)
{
    check_singular(*state, saddle(*state, 50, 4, true), PCS_GENERAL, 0, 53);
}

// A_ij = r_i c_j a_ij.
static pcs_matrix *scaled(pcs_context *ctx, int n, double (*entry)(int i, int j, int n), double row, double column)
{
    pcs_matrix *A = clique(ctx, n);
    for (int j = 0; j < n; j++)
        for (int p = A->pattern->start[j]; p < A->pattern->start[j + 1]; p++) {
            int i = A->pattern->row[p];
            A->value[p] = pow(row, i) * pow(column, j) * entry(i, j, n);
        }
    return A;
}

static double counted_entry(int i, int j, int n)
{
    return 0.1 * (i * n + j + 1); // rank 2
}

static double hilbert_entry(int i, int j, int n)
{
    (void)n;
    return 1.0 / (i + j + 1);
}

// Dense factors tell a pivot of round-off from a small one, whatever the units of equations and unknowns.
TEST_WITH_CONTEXT(test_rank_without_units)
{
    static const double units[] = { 1.0, 1e-3, 1e5 };
    for (int n = 3; n <= 20; n++)
        for (int k = 0; k < 9; k++) {
            bool is_singular = false;
            pcs_matrix *A = scaled(*state, n, counted_entry, units[k % 3], units[k / 3]);
            CHECK_OK(*state, pcs_linsolve_factor(create(*state, "dense", A, PCS_GENERAL), &is_singular));
            CHECK(is_singular);
            if (n > 9) continue; // the Hilbert matrix of 9 has a condition of 5e11
            A = scaled(*state, n, hilbert_entry, units[k % 3], units[k / 3]);
            CHECK_OK(*state, pcs_linsolve_factor(create(*state, "dense", A, PCS_GENERAL), &is_singular));
            CHECK(!is_singular);
        }
}

TEST_WITH_CONTEXT(test_automatic_choice)
{
    const pcs_matrix *chain = random_chain(*state, 40, 3, 1u), *plane = grid(*state, 8, 1.0);
    const pcs_matrix *empty = matrix_of(*state, 0, 0, 2, NULL);
    CHECK_TEXT(create(*state, "auto", chain, PCS_SPD)->ops->name, "chain");
    CHECK_TEXT(create(*state, "auto", chain, PCS_GENERAL)->ops->name, "chain");
    CHECK_TEXT(create(*state, "auto", clique(*state, 8), PCS_GENERAL)->ops->name, "dense");
    CHECK_TEXT(create(*state, "auto", clique(*state, 8), PCS_SPD)->ops->name, "chain");
    CHECK_TEXT(create(*state, "auto", clique(*state, 17), PCS_GENERAL)->ops->name, "umfpack");
    CHECK_TEXT(create(*state, "auto", plane, PCS_SPD)->ops->name, "cholmod");
    CHECK_TEXT(create(*state, "auto", plane, PCS_GENERAL)->ops->name, "umfpack");
    double x = 7.0;
    pcs_linsolve_solve(factored(*state, "auto", empty, PCS_SPD), &x);
    pcs_linsolve_solve(factored(*state, "auto", empty, PCS_GENERAL), &x);
    CHECK_NEAR(x, 7.0, 0.0);
}

static void check_refusal(pcs_context *ctx, const char *name, const pcs_matrix *A, pcs_linsolve_kind kind,
                          const char *part)
{
    pcs_linsolve *solver = (pcs_linsolve *)ctx;
    CHECK_STATUS(ctx, pcs_linsolve_create(ctx, name, A, kind, &solver), PCS_UNSUPPORTED);
    CHECK(solver == NULL);
    CHECK_TEXT(pcs_message(ctx), part);
    CHECK_TEXT(pcs_message(ctx), name);
}

TEST_WITH_CONTEXT(test_refusals)
{
    const pcs_matrix *plane = grid(*state, 8, 1.0), *large = bar(*state, 4001, mass_rod);
    check_refusal(*state, "chain", plane, PCS_SPD, "64 equations: it is not block tridiagonal");
    check_refusal(*state, "chain", plane, PCS_GENERAL, "64 equations: it is not block tridiagonal");
    check_refusal(*state, "cholmod", plane, PCS_GENERAL, "positive definite");
    check_refusal(*state, "dense", large, PCS_SPD, "at most 4000 equations");
    check_refusal(*state, "cholesky", plane, PCS_SPD, "known are auto, dense, chain, cholmod, umfpack");
}

static pcs_status create_and_factor(pcs_context *ctx, const char *name, const pcs_matrix *A, pcs_linsolve_kind kind)
{
    pcs_linsolve *solver = NULL;
    bool is_singular = false;
    PCS_TRY(pcs_linsolve_create(ctx, name, A, kind, &solver));
    PCS_TRY(pcs_linsolve_factor(solver, &is_singular));
    return pcs_linsolve_factor(solver, &is_singular);
}

// Every allocation fails once: a fault with a message, and nothing is left behind.
TEST_WITH_CONTEXT(test_out_of_memory)
{
    if (!alloc_fault_is_active()) skip();
    const pcs_matrix *matrix[] = { random_chain(*state, 60, 3, 3u), grid(*state, 12, 0.5),
                                   saddle(*state, 60, 3, false) };
    for (int m = 0; m < 3; m++)
        for (int k = 0; pcs_linsolvers[k] != NULL; k++) {
            pcs_linsolve_kind kind = m == 2 ? PCS_GENERAL : PCS_SPD;
            if (pcs_linsolvers[k]->refuses(matrix[m]->pattern, kind) != NULL) continue;
            CHECK_OK(*state, create_and_factor(*state, pcs_linsolvers[k]->name, matrix[m], kind)); // the BLAS warms up
            bool has_impact = true;
            for (long nth = 1; has_impact; nth++) {
                pcs_context *ctx = NULL;
                long live = alloc_fault_live();
                CHECK(pcs_context_create(&ctx) == PCS_OK);
                alloc_fault_arm(nth, true);
                pcs_status status = create_and_factor(ctx, pcs_linsolvers[k]->name, matrix[m], kind);
                has_impact = alloc_fault_requests() >= nth;
                alloc_fault_arm(0, false);
                // A library may do without what it did not get.
                if (status != PCS_OK) CHECK(has_impact && status == PCS_NO_MEMORY);
                if (status != PCS_OK) CHECK_TEXT(pcs_message(ctx), "out of memory");
                if (nth == 1) CHECK(status == PCS_NO_MEMORY);
                pcs_context_destroy(&ctx);
                CHECK(alloc_fault_live() == live);
            }
        }
}
