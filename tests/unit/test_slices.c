// Steps of long bars slice by slice: those of passes over whole vectors to round-off, as compilers may contract sums of
// products in one and not in the other; solves whose right-hand sides come slice by slice are solutions, each equation
// is filled once and each slice taken once.

#include "build/build.h"
#include "linsolve/chain.h"
#include "system/slices.h"

#include "support/check.h"
#include "support/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 5, NVARIANT = 6 };
static const char *const file = "tests/unit/slices_bars.yaml";

static pcs_sim *open_bars(pcs_context **ctx, int nset, const char *const *set, bool has_slices)
{
    pcs_sim *sim;
    assert_int_equal(pcs_context_create(ctx), PCS_OK);
    CHECK_OK(*ctx, pcs_build_sim_from(*ctx, file, nset, set, &sim));
    CHECK(sim->system->slices != NULL);
    if (!has_slices) sim->system->slices = NULL;
    CHECK_OK(*ctx, pcs_sim_start(sim));
    return sim;
}

static void near_report(const pcs_step_report *a, const pcs_step_report *b, double mass)
{
    double energy = b->measure.kinetic + b->measure.strain + fabs(b->measure.potential);
    double momentum = sqrt(2.0 * b->measure.kinetic * mass);
    CHECK_NEAR(a->measure.kinetic, b->measure.kinetic, 1e-13 * b->measure.kinetic);
    CHECK_NEAR(a->measure.strain, b->measure.strain, 1e-13 * b->measure.strain);
    CHECK_NEAR(a->measure.potential, b->measure.potential, 1e-13 * fabs(b->measure.potential));
    CHECK_NEAR(a->numerical_loss, b->numerical_loss, 1e-13 * fabs(b->numerical_loss));
    CHECK_NEAR(a->damping_loss, b->damping_loss, 1e-13 * energy);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(a->measure.momentum[k], b->measure.momentum[k], 1e-13 * momentum);
        CHECK_NEAR(a->measure.free_momentum[k], b->measure.free_momentum[k], 1e-13 * momentum);
    }
}

static void near_vector(const double *a, const double *b, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(b[i]));
    for (int i = 0; i < n; i++) CHECK_NEAR(a[i], b[i], 1e-14 * largest);
}

static void near_state(const pcs_state *a, const pcs_state *b)
{
    near_vector(a->q, b->q, b->nq);
    near_vector(a->v, b->v, b->nv);
    for (int k = 0; k < b->nhistory; k++) near_vector(a->history[k], b->history[k], b->nv);
}

static void compare_steps(int nset, const char *const *set)
{
    pcs_context *ctx[2];
    pcs_sim *sim[2];
    int closed = 0;
    for (int k = 0; k < 2; k++) sim[k] = open_bars(&ctx[k], nset, set, k == 0);
    for (int step = 0; step < STEPS; step++) {
        for (int k = 0; k < 2; k++) CHECK_OK(ctx[k], pcs_sim_step(sim[k]));
        near_state(&sim[0]->state, &sim[1]->state);
        near_report(&sim[0]->report, &sim[1]->report, sim[0]->system->mass);
        for (int j = 0; j < sim[0]->system->nrow; j++) closed += sim[0]->report.rows[j].is_closed;
    }
    CHECK(closed > 1);
    for (int k = 0; k < 2; k++) pcs_context_destroy(&ctx[k]);
}

TEST(slices_are_the_steps_of_whole_vectors)
{
    static const char *const variants[NVARIANT] = {
        "loads={}",
        "loads={weight: {type: gravity, g: [-9.81e6, 0, 0]}}",
        "loads={push: {type: force, node: thick.end, value: [-5.0e4, 0, 0]}}",
        "elements.thick.damping={mass: 3.0e4, stiffness: 1.0e-10}",
        "elements.thick={type: rod, mesh: thick, E: 2.0e+11, rho: 7800.0, area: 1.0e-4}",
        "contacts.right={type: node_plane, nodes: thick.start, point: [1, 0, 0], normal: [1, 0, 0], restitution: 0}",
    };
    static const char *const held[] = {
        "supports={held: {set: thick.end, fix: [x]}}",
        "contacts={left: {type: node_plane, nodes: thin.start, point: [0, 0, 0], normal: [1, 0, 0], restitution: 0.5}}"
    };
    static const char *const schemes[] = { "scheme={type: alpha_ggl, rho_inf: 0.8}",
                                           "scheme={type: moreau_jean, rho_inf: 0.8}",
                                           "scheme={type: moreau_jean, theta: 0.5}",
                                           "scheme={type: moreau_jean, theta: 0.7, positions: midpoint}",
                                           "scheme={type: newmark}",
                                           "scheme={type: half_explicit}" };
    (void)state;
    for (size_t v = 0; v < NVARIANT; v++) // every third pair
        for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++)
            if ((v + k) % 3 == 0) compare_steps(2, (const char *const[]){ variants[v], schemes[k] });
    compare_steps(2, (const char *const[]){ "scheme={type: half_explicit, impulsive_step: 5.0e-10}", "loads={}" });
    compare_steps(2, (const char *const[]){ "scheme={type: half_explicit}", "elements.thin.mass=lumped" });
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++)
        compare_steps(3, (const char *const[]){ held[0], held[1], schemes[k] });
}

typedef struct solve_watch {
    int n, next;
    const double *b;
    double *x;
    int *filled, *taken;
} solve_watch;

static void watch_fill(void *data, int slice, int low, int high)
{
    solve_watch *w = data;
    (void)slice;
    for (int i = low; i < high; i++) {
        w->filled[i]++;
        w->x[i] = w->b[i];
    }
}

static void watch_take(void *data, int slice, int low, int high)
{
    solve_watch *w = data;
    CHECK(slice == w->next && (slice == 0 || high == w->n || high - low >= PCS_SHORTEST_SLICE));
    w->next++;
    for (int i = low; i < high; i++) w->taken[i]++;
}

static void check_solve(pcs_linsolve *solver, int n, const double *b, const double *x)
{
    int wanted[] = { 0, n / 2, n - 1 };
    solve_watch w = { .n = n, .b = b, .x = calloc((size_t)n, sizeof *w.x) };
    w.filled = calloc((size_t)n, sizeof *w.filled);
    w.taken = calloc((size_t)n, sizeof *w.taken);
    assert_true(w.x != NULL && w.filled != NULL && w.taken != NULL);
    pcs_slice_solve job = { .x = w.x, .fill = watch_fill, .take = watch_take, .data = &w };
    solver->ops->begin(solver, &job, 3, wanted);
    for (int k = 0; k < 3; k++) CHECK(w.x[wanted[k]] == x[wanted[k]]);
    CHECK(w.next == 0);
    solver->ops->end(solver, &job);
    CHECK(memcmp(w.x, x, (size_t)n * sizeof *x) == 0);
    for (int i = 0; i < n; i++) CHECK(w.filled[i] == 1 && w.taken[i] == 1);
    free(w.x);
    free(w.filled);
    free(w.taken);
}

// Of the mass of one bar, in the midst of which the factor is the same everywhere, and of two.
TEST(solves_by_slices_are_solves)
{
    static const char *const areas[] = { "elements.thick.area=1.0e-4", "elements.thick.area=3.0e-4" };
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *set[] = { areas[k], "mesh.thick.elements=30000" };
        pcs_context *ctx;
        pcs_sim *sim = open_bars(&ctx, 2, set, true);
        pcs_linsolve *mass = sim->scheme->solver->mass;
        const pcs_chain *chain = mass->data;
        int n = sim->system->nv, nuniform = 0;
        double *b = calloc(3 * (size_t)n, sizeof *b), *x = b + n, *r = x + n, largest = 0.0;
        unsigned long long seed = 5;
        assert_true(b != NULL);
        model_randomize(&seed, n, b);
        memcpy(x, b, (size_t)n * sizeof *x);
        CHECK(pcs_linsolve_has_slices(mass));
        for (int tile = 0; tile < chain->cut.ntile; tile++) nuniform += chain->is_uniform[tile];
        CHECK(chain->cut.ntile > 3 && nuniform > 0 && nuniform < chain->cut.ntile);
        pcs_linsolve_solve(mass, x);
        pcs_matrix_multiply(sim->system->M, x, r);
        for (int i = 0; i < n; i++) largest = fmax(largest, fabs(r[i] - b[i]));
        CHECK(largest <= 2e-14);
        check_solve(mass, n, b, x);
        free(b);
        pcs_context_destroy(&ctx);
    }
}
