// Long bars by ranges of equations: every entry is in one range, forces and energies are those of the whole, solves in
// groups of tiles are solutions, and steps are the same bits with any number of threads.

#include "build/build.h"
#include "core/pool.h"
#include "fe/data.h"
#include "linsolve/chain.h"
#include "linsolve/linsolve.h"

#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cover {
    int n, next, count;
} cover;

static void meet_range(void *data, int range, int low, int high)
{
    cover *c = data;
    CHECK(range == c->count && low == c->next && low <= high && high <= c->n);
    c->next = high;
    c->count++;
}

TEST(ranges_cover_all_entries_once)
{
    static const int sizes[] = { 0, 1, 7, 16384, 16385, 32767, 32768, 50001, 1000001, 99999999, 2000000000 };
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        cover c = { .n = sizes[k] };
        pcs_pool_cover(NULL, sizes[k], meet_range, &c);
        CHECK(c.next == c.n && c.count == pcs_pool_ranges(c.n) && c.count >= 1 && c.count <= PCS_POOL_MOST_RANGES);
        CHECK(c.n < 2 * PCS_POOL_RANGE ? c.count == 1 : c.count > 1);
    }
}

static pcs_system *open_bars(pcs_context **ctx, const char *set)
{
    pcs_analysis analysis;
    assert_int_equal(pcs_context_create(ctx), PCS_OK);
    CHECK_OK(*ctx, pcs_build_analysis_from(*ctx, "tests/unit/ranges_bars.yaml", 1, &set, &analysis));
    return analysis.system;
}

static double *vector(int n)
{
    double *x = calloc((size_t)n, sizeof *x);
    assert_true(x != NULL);
    return x;
}

typedef struct by_hand {
    const fe_data *fe;
    const double *q, *v;
    double *f;
    pcs_cell_sums sum;
} by_hand;

static void add_range(void *data, int range, int low, int high)
{
    by_hand *h = data;
    (void)range;
    const pcs_cell_state at = { .q = h->q, .v = h->v, .low = low, .high = high };
    for (int g = 0; g < h->fe->model.ngroup; g++) {
        const pcs_batch *batch = &h->fe->batches[g];
        batch->ops->measure(batch, &at, PCS_CELL_ENERGY, &h->sum);
        batch->ops->force(batch, &at, h->f);
    }
}

// Forces to the last bit, sums to round-off.
TEST(ranges_make_the_whole)
{
    pcs_context *ctx;
    pcs_system *system = open_bars(&ctx, "loads={}");
    int n = system->nv;
    double *q = vector(n), *v = vector(n), *parts = vector(n), *whole = vector(n);
    unsigned long long seed = 5;
    pcs_measure sum;
    (void)state;
    model_randomize(&seed, n, q);
    model_randomize(&seed, n, v);
    by_hand h = { .fe = system->data, .q = q, .v = v, .f = parts };
    pcs_pool_cover(NULL, n, add_range, &h);
    system->ops->force(system, pcs_at(0.0, q, v), whole);
    system->ops->measure(system, pcs_at(0.0, q, v), PCS_ENERGY, &sum);
    CHECK(memcmp(parts, whole, (size_t)n * sizeof(double)) == 0);
    CHECK_RELATIVE(h.sum.kinetic, sum.kinetic, 1e-13);
    CHECK_RELATIVE(h.sum.strain, sum.strain, 1e-13);
    double momentum = sqrt(2.0 * sum.kinetic * system->mass); // random velocities cancel in the sum
    CHECK_NEAR(h.sum.momentum[0], sum.momentum[0], 1e-13 * momentum);
    free(q);
    free(v);
    free(parts);
    free(whole);
    pcs_context_destroy(&ctx);
}

// Where the edges of groups are found from windows, the equations hold as well as elsewhere.
TEST(solves_in_groups_are_solutions)
{
    for (int nthread = 1; nthread <= 3; nthread += 2) {
        pcs_context *ctx;
        char threads[64];
        snprintf(threads, sizeof threads, "solver={threads: %d}", nthread);
        pcs_system *system = open_bars(&ctx, threads);
        int n = system->nv;
        double *b = vector(n), *x = vector(n), *r = vector(n), largest = 0.0;
        unsigned long long seed = 3;
        bool is_singular;
        pcs_pool *pool = NULL;
        pcs_linsolve *mass;
        model_randomize(&seed, n, b);
        CHECK_OK(ctx, pcs_pool_create(ctx, nthread, &pool));
        pcs_around(ctx)->pool = pool;
        CHECK_OK(ctx, pcs_linsolve_create(ctx, "chain", system->M, PCS_SPD, &mass));
        CHECK_OK(ctx, pcs_linsolve_factor(mass, &is_singular));
        CHECK(((const pcs_chain *)mass->data)->cut.ntile > 6);
        memcpy(x, b, (size_t)n * sizeof *x);
        pcs_linsolve_solve(mass, x);
        pcs_matrix_multiply(system->M, x, r);
        for (int i = 0; i < n; i++) largest = fmax(largest, fabs(r[i] - b[i]));
        CHECK(!is_singular && largest <= 2e-14);
        for (int again = 0; again < 3; again++) {
            memcpy(r, b, (size_t)n * sizeof *r);
            pcs_linsolve_solve(mass, r);
            CHECK(memcmp(r, x, (size_t)n * sizeof *r) == 0);
        }
        free(b);
        free(x);
        free(r);
        pcs_context_destroy(&ctx);
    }
}

static unsigned long long hash_after_steps(const char *scheme, int elements, int nthread)
{
    pcs_context *ctx;
    pcs_sim *sim;
    char text[3][96];
    snprintf(text[0], sizeof text[0], "mesh.bar.elements=%d", elements);
    snprintf(text[1], sizeof text[1], "solver={threads: %d}", nthread);
    snprintf(text[2], sizeof text[2], "scheme={type: %s}", scheme);
    const char *const set[] = { text[0],
                                text[1],
                                text[2],
                                "mesh.bar.from=[1.0e-5, 0, 0]",
                                "mesh.bar.to=[10.00001, 0, 0]",
                                "time={step: 8.0e-7, end: 1.0}" };
    assert_int_equal(pcs_context_create(&ctx), PCS_OK);
    CHECK_OK(ctx, pcs_build_sim_from(ctx, "cases/bar_impact", 6, set, &sim));
    CHECK_OK(ctx, pcs_sim_start(sim));
    CHECK((pcs_context_pool(ctx) != NULL) == (nthread > 1 && elements >= 200000));
    for (int k = 0; k < 4; k++) CHECK_OK(ctx, pcs_sim_step(sim));
    CHECK(sim->report.rows[0].is_closed);
    unsigned long long hash = pcs_state_hash(&sim->state);
    hash = pcs_hash(hash, &sim->report.measure, sizeof sim->report.measure);
    pcs_context_destroy(&ctx);
    return hash;
}

TEST(steps_are_the_same_bits_with_any_threads)
{
    static const char *const schemes[] = { "alpha_ggl, rho_inf: 0.8", "half_explicit" };
    (void)state;
    for (int k = 0; k < 2; k++)
        CHECK(hash_after_steps(schemes[k], 210000, 2 + k % 2) == hash_after_steps(schemes[k], 210000, 1));
    (void)hash_after_steps(schemes[0], 1000, 4);
}
