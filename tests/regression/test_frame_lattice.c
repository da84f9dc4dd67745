// A lattice of beams thrown at a wall: one row of struts is a bar, a guided ladder is a row that carries masses, and
// the whole lattice bounces like the bar with the stiffness of its rows and the mass of all struts.

#include "build/build.h"
#include "elements/modal.h"
#include "fe/fe.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 400 };

// What a run leaves behind; momentum in kg m/s, impulse in N s, times in s.
typedef struct bounce {
    int n, nrow;
    double mass;        // kg
    double first, last; // contact: first and last step with an impulse
    double impulse, momentum[2][3];
    double smallest_gap;
    double lopsided; // N s, largest difference of impulses of rows that mirror each other
    double end[STEPS], rate[STEPS];
    int count;
    char solver[32];
} bounce;

static const char *const row = "mesh.net.cells=[40]";
static const char *const rods = "elements.struts={type: rod, mesh: net, E: 2.1e+11, rho: 7800.0, area: 1.0e-4}";
// Half a rung of 0.1 m at each joint.
static const char *const masses = "elements.rungs={type: point_mass, mesh: rungs, mass: 0.039}";
static const char *const guide = "supports.guide={set: net, fix: [y, rz]}";

static void note_step(pcs_sim *sim, bounce *b)
{
    const pcs_system *system = sim->system;
    double sum = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        sum += sim->report.rows[j].step_impulse;
        b->smallest_gap = fmin(b->smallest_gap, sim->report.rows[j].gap);
        double other = sim->report.rows[system->nrow - 1 - j].step_impulse;
        b->lopsided = fmax(b->lopsided, fabs(sim->report.rows[j].step_impulse - other));
    }
    if (sum > 0.0 && b->first == 0.0) b->first = sim->state.t;
    if (sum > 0.0) b->last = sim->state.t;
    b->impulse += sum;
    if (b->count == STEPS) return;
    b->end[b->count] = sim->report.rows[0].gap;
    b->rate[b->count++] = sim->report.rows[0].rate;
}

// Every step is certified; a broken certificate fails the test.
static void fly_case(const char *path, int nset, const char *const *set, bounce *b)
{
    pcs_context *ctx = NULL;
    pcs_sim *sim = NULL;
    pcs_measure measure;
    *b = (bounce){ .smallest_gap = INFINITY };
    CHECK(pcs_context_create(&ctx) == PCS_OK);
    CHECK_OK(ctx, pcs_build_sim_from(ctx, path, nset, set, &sim));
    CHECK_OK(ctx, pcs_sim_start(sim));
    sim->system->ops->measure(sim->system, pcs_at(sim->state.t, sim->state.q, sim->state.v), PCS_ENERGY, &measure);
    memcpy(b->momentum[0], measure.momentum, sizeof measure.momentum);
    while (!pcs_sim_is_done(sim)) {
        CHECK_OK(ctx, pcs_sim_step(sim));
        note_step(sim, b);
    }
    sim->system->ops->measure(sim->system, pcs_at(sim->state.t, sim->state.q, sim->state.v), PCS_ENERGY, &measure);
    memcpy(b->momentum[1], measure.momentum, sizeof measure.momentum);
    b->mass = -b->momentum[0][0] / 10.0;
    b->n = sim->system->nv;
    b->nrow = sim->system->nrow;
    snprintf(b->solver, sizeof b->solver, "%s", sim->solver->ops->name);
    pcs_context_destroy(&ctx);
}

static void fly(int nset, const char *const *set, bounce *b)
{
    fly_case("cases/frame_lattice", nset, set, b);
}

static double wave_speed(void)
{
    return sqrt(2.1e11 / 7800.0);
}

TEST(one_row_is_a_bar)
{
    const char *const set[] = { row, rods };
    static bounce beams, bar;
    fly(1, set, &beams);
    fly(2, set, &bar);
    CHECK(beams.n == 3 * 41 && bar.n == 41);
    CHECK(beams.count == bar.count);
    CHECK_ALL_NEAR(bar.count, beams.end, bar.end, 1e-13);
    CHECK_ALL_NEAR(bar.count, beams.rate, bar.rate, 1e-9);
    CHECK_RELATIVE(beams.mass, 4.0 * 7800.0 * 1e-4, 1e-12);
    CHECK_RELATIVE(beams.last - beams.first, 2.0 * 4.0 / wave_speed(), 0.02);
    CHECK_RELATIVE(beams.impulse, 2.0 * 10.0 * beams.mass, 0.01);
}

// Rungs that do not turn move with their ends; both rows are alike, so each carries half of every rung.
TEST(a_guided_ladder_is_a_row_with_masses)
{
    const char *const ladder[] = { "mesh.net.cells=[40, 1]", guide };
    const char *const loaded[] = { row, guide, "mesh.rungs={type: point, nodes: net.joints}", masses };
    static bounce wide, narrow;
    fly(2, ladder, &wide);
    fly(4, loaded, &narrow);
    CHECK(wide.nrow == 2 && narrow.nrow == 1);
    CHECK_RELATIVE(wide.mass, 2.0 * narrow.mass, 1e-12);
    CHECK(wide.count == narrow.count);
    CHECK_ALL_NEAR(wide.count, wide.end, narrow.end, 1e-13);
    CHECK_ALL_NEAR(wide.count, wide.rate, narrow.rate, 1e-9);
    CHECK_RELATIVE(wide.impulse, 2.0 * narrow.impulse, 1e-9);
    CHECK_RELATIVE(wide.last - wide.first, 2.0 * 4.0 / (wave_speed() / sqrt(1.5)), 0.02);
}

static void check_bounce(const bounce *b, double rows, double length)
{
    double c = sqrt(rows * 2.1e11 * 1e-4 * length / b->mass), momentum = 10.0 * b->mass;
    CHECK(b->smallest_gap > -1e-13);
    CHECK_NEAR(b->momentum[1][0], b->momentum[0][0] + b->impulse, 1e-11 * momentum);
    CHECK_NEAR(b->momentum[1][1], 0.0, 1e-11 * momentum);
    CHECK_RELATIVE(b->last - b->first, 2.0 * length / c, 0.03);
    CHECK(b->impulse > 1.95 * momentum && b->impulse < 2.0 * momentum);
    CHECK(b->lopsided < 1e-9 * momentum);
}

TEST(the_lattice_bounces_like_its_bar)
{
    static bounce b, fine;
    const char *const set[] = { "mesh.net.cells=[28, 40]", "time.step=5.5e-6" };
    fly(1, set, &b);
    CHECK(b.n == 29 * 41 * 3 && b.nrow == 41);
    CHECK(strcmp(b.solver, "condensed") == 0);
    check_bounce(&b, 41.0, 2.8);
    fly(2, set, &fine);
    check_bounce(&fine, 41.0, 2.8);
    CHECK_RELATIVE(fine.impulse, b.impulse, 0.01);
    CHECK_RELATIVE(fine.last, b.last, 0.01);
}

TEST(the_condensed_solver_agrees)
{
    const char *set[] = { "mesh.net.cells=[10, 40]", "time.end=8.8e-4", "solver.type=condensed" };
    static bounce many, few;
    fly(3, set, &few);
    set[2] = "solver.type=schur";
    fly(3, set, &many);
    CHECK(strcmp(few.solver, "condensed") == 0 && strcmp(many.solver, "schur") == 0);
    CHECK_ALL_NEAR(few.count, many.end, few.end, 1e-13);
    CHECK_ALL_NEAR(few.count, many.rate, few.rate, 1e-8);
    CHECK_RELATIVE(many.impulse, few.impulse, 1e-11);
}

// A flat lattice in space moves as the plane one; so does a deep one, layer by layer, as long as its edges are far.
// Large enough for nested dissection and supernodal factors.
TEST(plane_and_space_agree)
{
    const char *const flat[] = { "mesh.net.cells=[10, 40, 0]", "time.end=6.05e-4" };
    const char *const plane[] = { "mesh.net.cells=[10, 40]", "time.end=6.05e-4" };
    const char *const deep[] = { "mesh.net.cells=[11, 11, 11]", "time.end=1.32e-4" };
    static bounce a, b;
    fly(2, plane, &a);
    fly_case("cases/frame_lattice/spatial.yaml", 2, flat, &b);
    CHECK(b.n == 2 * a.n && b.nrow == a.nrow);
    CHECK_ALL_NEAR(a.count, b.end, a.end, 1e-13);
    CHECK_ALL_NEAR(a.count, b.rate, a.rate, 1e-8);
    CHECK_RELATIVE(b.impulse, a.impulse, 1e-10);
    fly_case("cases/frame_lattice/spatial.yaml", 2, deep, &b);
    CHECK(b.n == 12 * 12 * 12 * 6 && b.nrow == 144);
    CHECK(b.smallest_gap > -1e-13);
    CHECK(b.impulse > 0.0);
    CHECK_NEAR(b.momentum[1][0], b.momentum[0][0] + b.impulse, 1e-11 * 10.0 * b.mass);
}

static double stable_step(const char *net)
{
    pcs_context *ctx = NULL;
    pcs_sim *sim = NULL;
    CHECK(pcs_context_create(&ctx) == PCS_OK);
    CHECK_OK(ctx, pcs_build_sim_from(ctx, "cases/frame_lattice", 1, &net, &sim));
    double step = sim->system->stable_step;
    pcs_context_destroy(&ctx);
    return step;
}

// The fastest kind of strut decides, wherever it comes.
TEST(the_shortest_strut_limits_the_step)
{
    double both = stable_step("mesh.net={type: lattice, cells: [12, 7], size: [0.1, 0.05], origin: [0.001, 0, 0]}");
    double longer = stable_step("mesh.net={type: lattice, cells: [12], size: [0.1], origin: [0.001, 0, 0]}");
    double shorter = stable_step("mesh.net={type: lattice, cells: [12], size: [0.05], origin: [0.001, 0, 0]}");
    CHECK(shorter < 0.99 * longer);
    CHECK_RELATIVE(both, shorter, 1e-10);
}

// A lattice has as many kinds of struts as directions, whatever its size: memory and eigenproblems are theirs.
TEST(kinds_of_struts_do_not_grow)
{
    static const struct {
        const char *path, *cells;
        int nkind;
    } cases[] = { { "cases/frame_lattice", "mesh.net.cells=[33, 37]", 2 },
                  { "cases/frame_lattice/spatial.yaml", "mesh.net.cells=[7, 5, 6]", 3 },
                  { "cases/frame_lattice",
                    "mesh.net={type: lattice, cells: [9, 8], size: [0.1], origin: [0.001, 0, 0], "
                    "elements: 3, diagonals: cross}",
                    4 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pcs_context *ctx = NULL;
        pcs_sim *sim = NULL;
        CHECK(pcs_context_create(&ctx) == PCS_OK);
        CHECK_OK(ctx, pcs_build_sim_from(ctx, cases[i].path, 1, &cases[i].cells, &sim));
        const pcs_batch *batch = pcs_fe_batch(sim->system, 0);
        const pcs_modal *modal = batch->data;
        CHECK(modal->nkind == cases[i].nkind);
        CHECK(batch->ncell > 100);
        pcs_context_destroy(&ctx);
    }
}
