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

static void near_measure(const pcs_measure *a, const pcs_measure *b, double mass)
{
    double momentum = sqrt(2.0 * b->kinetic * mass); // random velocities cancel in the sum
    CHECK_NEAR(a->kinetic, b->kinetic, 1e-13 * b->kinetic);
    CHECK_NEAR(a->strain, b->strain, 1e-13 * b->strain);
    CHECK_NEAR(a->potential, b->potential, 1e-13 * fabs(b->potential));
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(a->momentum[k], b->momentum[k], 1e-13 * momentum);
        CHECK_NEAR(a->free_momentum[k], b->free_momentum[k], 1e-13 * momentum);
    }
}

typedef struct by_hand {
    const fe_data *fe;
    const double *q, *v;
    pcs_cell_sums sum;
} by_hand;

static void add_range(void *data, int range, int low, int high)
{
    by_hand *h = data;
    pcs_cell_sums own = { 0 };
    (void)range;
    const pcs_cell_state at = { .q = h->q, .v = h->v, .low = low, .high = high };
    for (int g = 0; g < h->fe->model.ngroup; g++)
        h->fe->batches[g].ops->measure(&h->fe->batches[g], &at, PCS_CELL_ENERGY, &own);
    h->sum.kinetic += own.kinetic;
    h->sum.strain += own.strain;
}

// Every range has a sum of its own, and these are added in their order: threads change no bit.
TEST(sums_are_those_of_ranges)
{
    pcs_context *ctx;
    pcs_system *system = open_bars(&ctx, "loads={}");
    double *q = vector(system->nv), *v = vector(system->nv);
    unsigned long long seed = 5;
    (void)state;
    for (int draw = 0; draw < 5; draw++) {
        pcs_measure sum;
        model_randomize(&seed, system->nv, q);
        model_randomize(&seed, system->nv, v);
        by_hand h = { .fe = system->data, .q = q, .v = v };
        pcs_pool_cover(NULL, system->nv, add_range, &h);
        system->ops->measure(system, pcs_at(0.0, q, v), PCS_ENERGY, &sum);
        CHECK(memcmp(&sum.kinetic, &h.sum.kinetic, sizeof sum.kinetic) == 0);
        CHECK(memcmp(&sum.strain, &h.sum.strain, sizeof sum.strain) == 0);
    }
    free(q);
    free(v);
    pcs_context_destroy(&ctx);
}

// Forces to the last bit, sums to round-off.
TEST(ranges_make_the_whole)
{
    static const char *const loads[] = { "loads={weight: {type: gravity, g: [9.81, 0, 0]}}",
                                         "loads={push: {type: force, node: thin.start, value: [5.0, 0, 0]}}",
                                         "loads={}" };
    (void)state;
    for (int k = 0; k < 3; k++) {
        pcs_context *ctx;
        pcs_system *system = open_bars(&ctx, loads[k]);
        fe_data *fe = (fe_data *)(uintptr_t)system->data;
        int n = system->nv;
        double *x[6];
        unsigned long long seed = 11;
        pcs_measure whole, parts;
        for (int i = 0; i < 6; i++) x[i] = vector(n);
        for (int i = 0; i < 4; i++) model_randomize(&seed, n, x[i]);
        CHECK(fe->has_ranges);
        system->ops->force(system, pcs_at(0.0, x[0], x[1]), x[4]);
        system->ops->measure(system, pcs_at(0.0, x[0], x[1]), PCS_ENERGY, &parts);
        fe->has_ranges = false;
        system->ops->force(system, pcs_at(0.0, x[0], x[1]), x[5]);
        system->ops->measure(system, pcs_at(0.0, x[0], x[1]), PCS_ENERGY, &whole);
        CHECK(memcmp(x[4], x[5], (size_t)n * sizeof(double)) == 0);
        near_measure(&parts, &whole, system->mass);
        for (int i = 0; i < 6; i++) free(x[i]);
        pcs_context_destroy(&ctx);
    }
}

// Where the edges of groups are found from windows, the equations hold as well as elsewhere.
TEST(solves_in_groups_are_solutions)
{
    for (int nthread = 1; nthread <= 3; nthread++) {
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
    static const char *const schemes[] = { "alpha_ggl, rho_inf: 0.8", "moreau_jean, rho_inf: 0.8", "half_explicit" };
    (void)state;
    for (int k = 0; k < 3; k++)
        CHECK(hash_after_steps(schemes[k], 210000, 2 + k % 2) == hash_after_steps(schemes[k], 210000, 1));
    (void)hash_after_steps(schemes[0], 1000, 4);
}
