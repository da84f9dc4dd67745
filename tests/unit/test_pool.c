// Threads: every piece is done once, whoever does it; tangents of large models are the same bits with any number.

#include "build/build.h"
#include "core/pool.h"
#include "fe/data.h"

#include "support/check.h"
#include "support/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 1000 };

static void count_piece(void *data, int piece)
{
    ((int *)data)[piece]++;
}

TEST(every_piece_is_done_once)
{
    for (int nthread = 1; nthread <= 5; nthread++) {
        pcs_context *ctx = NULL;
        pcs_pool *pool = NULL;
        int done[PIECES] = { 0 };
        assert_int_equal(pcs_context_create(&ctx), PCS_OK);
        CHECK_OK(ctx, pcs_pool_create(ctx, nthread, &pool));
        CHECK((pool == NULL) == (nthread == 1));
        for (int loop = 0; loop < 200; loop++) pcs_pool_run(pool, 5 * loop, count_piece, done);
        // Piece i takes part in the loops that have more than i pieces.
        for (int i = 0; i < PIECES; i++) CHECK(done[i] == 199 - i / 5);
        pcs_context_destroy(&ctx);
    }
}

static pcs_system *open_model(pcs_context **ctx, const char *mesh, int nthread)
{
    pcs_analysis analysis;
    char threads[64];
    snprintf(threads, sizeof threads, "solver.threads=%d", nthread);
    const char *const set[] = { mesh, threads, "supports={}", "elements.beam.orientation=[0.1, 0.2, 1.0]" };
    assert_int_equal(pcs_context_create(ctx), PCS_OK);
    CHECK_OK(*ctx, pcs_build_analysis_from(*ctx, "tests/bench/exact_3d.yaml", 4, set, &analysis));
    return analysis.system;
}

// K and C at a random state, copied; the caller frees them.
static double *tangents_of(const char *mesh, int nthread, bool by_pieces, size_t *count)
{
    pcs_context *ctx;
    pcs_system *system = open_model(&ctx, mesh, nthread);
    const fe_data *fe = system->data;
    const fe_work *work = system->work;
    unsigned long long seed = 5;
    size_t nnz = (size_t)system->K->pattern->nnz;
    double *q = calloc((size_t)system->nv, sizeof *q), *v = calloc((size_t)system->nv, sizeof *v);
    double *out = calloc(2 * nnz, sizeof *out);
    assert_true(q != NULL && v != NULL && out != NULL && system->C != NULL);
    CHECK(fe->piece[0] > 0 && (work->pool != NULL) == (nthread > 1));
    model_randomize(&seed, system->nv, q);
    model_randomize(&seed, system->nv, v);
    for (int i = 0; i < system->nv; i++) q[i] *= 1e-4; // neighbours stay near one another
    if (!by_pieces) fe->piece[0] = 0;
    system->ops->update(system, pcs_at(0.0, q, v), PCS_TANGENTS, NULL);
    memcpy(out, system->K->value, nnz * sizeof *out);
    memcpy(out + nnz, system->C->value, nnz * sizeof *out);
    *count = 2 * nnz;
    free(q);
    free(v);
    pcs_context_destroy(&ctx);
    return out;
}

static void check_mesh(const char *mesh)
{
    size_t count, other;
    double *plain = tangents_of(mesh, 1, false, &count), *one = tangents_of(mesh, 1, true, &other), largest = 0.0;
    CHECK(count == other);
    for (size_t i = 0; i < count; i++)
        if (plain[i] > largest) largest = plain[i];
    for (size_t i = 0; i < count; i++) CHECK_NEAR(one[i], plain[i], 1e-14 * largest);
    for (int nthread = 2; nthread <= 4; nthread++) {
        double *many = tangents_of(mesh, nthread, true, &other);
        CHECK(count == other && memcmp(many, one, count * sizeof *one) == 0);
        free(many);
    }
    free(plain);
    free(one);
}

TEST(tangents_are_the_same_bits_with_any_threads)
{
    check_mesh("mesh={beam: {type: line, from: [0, 0, 0], to: [1, 0, 0], elements: 5000}}");
    check_mesh("mesh={beam: {type: lattice, cells: [30, 30], size: [0.1], elements: 3}}");
}

TEST_WITH_CONTEXT(simulations_share_the_processors)
{
    pcs_context *ctx = *state;
    int all = pcs_pool_share(ctx);
    for (int beside = 0; beside <= 2 * all; beside++) {
        pcs_around(ctx)->beside = beside;
        CHECK(pcs_pool_share(ctx) == (beside < all ? all / (1 + beside) : 1));
    }
}
