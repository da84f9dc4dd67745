// A lattice of beams thrown at a wall, in space as in the plane. What it does there is in the README of its case.

#include "build/build.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

enum { STEPS = 400 };

// What a run leaves behind; momentum in kg m/s, impulse in N s.
typedef struct bounce {
    int n, nrow;
    double mass; // kg
    double impulse, momentum[2][3];
    double smallest_gap;
    double end[STEPS], rate[STEPS];
    int count;
} bounce;

static void note_step(pcs_sim *sim, bounce *b)
{
    const pcs_system *system = sim->system;
    double sum = 0.0;
    for (int j = 0; j < system->nrow; j++) {
        sum += sim->report.rows[j].step_impulse;
        b->smallest_gap = fmin(b->smallest_gap, sim->report.rows[j].gap);
    }
    b->impulse += sum;
    if (b->count == STEPS) return;
    b->end[b->count] = sim->report.rows[0].gap;
    b->rate[b->count++] = sim->report.rows[0].rate;
}

// Every step is certified; a broken certificate fails the test.
static void fly(const char *path, int nset, const char *const *set, bounce *b)
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
    pcs_context_destroy(&ctx);
}

// A flat lattice in space moves as the plane one; so does a deep one, layer by layer, as long as its edges are far.
// Large enough for nested dissection and supernodal factors.
TEST(plane_and_space_agree)
{
    const char *const flat[] = { "mesh.net.cells=[10, 40, 0]", "time.end=6.05e-4" };
    const char *const plane[] = { "mesh.net.cells=[10, 40]", "time.end=6.05e-4" };
    const char *const deep[] = { "mesh.net.cells=[8, 8, 8]", "time.end=1.32e-4" };
    static bounce a, b;
    fly("cases/frame_lattice", 2, plane, &a);
    fly("cases/frame_lattice/spatial.yaml", 2, flat, &b);
    CHECK(b.n == 2 * a.n && b.nrow == a.nrow);
    CHECK_ALL_NEAR(a.count, b.end, a.end, 1e-13);
    CHECK_ALL_NEAR(a.count, b.rate, a.rate, 1e-8);
    CHECK_RELATIVE(b.impulse, a.impulse, 1e-10);
    fly("cases/frame_lattice/spatial.yaml", 2, deep, &b);
    CHECK(b.n == 9 * 9 * 9 * 6 && b.nrow == 81);
    CHECK(b.smallest_gap > -1e-13);
    CHECK(b.impulse > 0.0);
    CHECK_NEAR(b.momentum[1][0], b.momentum[0][0] + b.impulse, 1e-11 * 10.0 * b.mass);
}
