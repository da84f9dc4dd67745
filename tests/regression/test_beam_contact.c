// The cantilever that hits a stop: all step solvers find the same motion, nothing penetrates, in the plane and in
// space alike.

#include "build/build.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

static const char *const space_beam =
    "elements.beam={type: beam_timo_3d, mesh: beam, E: 2.1e+11, nu: 0.3, rho: 7800.0, orientation: [0, 1, 0], "
    "section: {type: rectangle, width: 0.01, height: 0.01, shear_factor: 0.8333333333333333}}";
static const char *const space_clamp = "supports.clamp={set: beam.start, fix: [x, y, z, rx, ry, rz]}";

typedef struct motion {
    double tip[500], smallest_gap, impulse;
} motion;

static void run(int nset, const char *const *set, motion *out)
{
    pcs_context *ctx = NULL;
    pcs_sim *sim = NULL;
    CHECK(pcs_context_create(&ctx) == PCS_OK);
    CHECK_OK(ctx, pcs_build_sim_from(ctx, "cases/cantilever_stop", nset, set, &sim));
    CHECK_OK(ctx, pcs_sim_start(sim));
    *out = (motion){ 0 };
    for (int i = 0; i < 300; i++) {
        CHECK_OK(ctx, pcs_sim_step(sim));
        out->tip[i] =
            sim->system->ops->probe(sim->system, &sim->probes[0], pcs_at(sim->state.t, sim->state.q, sim->state.v));
        out->smallest_gap = fmin(out->smallest_gap, sim->report.rows[0].gap);
        out->impulse += sim->report.rows[0].step_impulse;
    }
    pcs_context_destroy(&ctx);
}

TEST(every_solver_finds_the_same_motion)
{
    static const char *const solvers[] = { "solver.type=newton", "solver.type=schur", "solver.linear=cholmod" };
    motion wanted, found;
    run(0, NULL, &wanted);
    CHECK(wanted.smallest_gap > -1e-13);
    CHECK(wanted.impulse > 0.1);
    for (int i = 0; i < 3; i++) {
        run(1, &solvers[i], &found);
        CHECK_ALL_NEAR(500, found.tip, wanted.tip, 1e-12);
    }
}

// A square section, so both elements are the same beam.
TEST(plane_and_space_agree)
{
    const char *const set[] = { space_beam, space_clamp };
    motion plane, space;
    run(0, NULL, &plane);
    run(2, set, &space);
    CHECK_ALL_NEAR(500, space.tip, plane.tip, 1e-11);
    CHECK_RELATIVE(space.impulse, plane.impulse, 1e-9);
}

TEST(bad_beams_are_refused)
{
    static const struct {
        const char *set[2];
        int nset;
        const char *message;
    } cases[] = {
        { { "elements.beam.section.height=-1.0", NULL }, 1, "height must be > 0, is -1.0" },
        { { "elements.beam.nu=0.6", NULL }, 1, "nu must be" },
        { { "elements.beam.section.type=tube", NULL }, 1, "thickness" },
        { { "mesh.beam.to=[1, 0, 1]", NULL }, 1, "leaves the x-y plane" },
        { { "supports.clamp.fix=[x, z]", NULL }, 1, "cannot be fixed along z" },
        { { "supports.clamp.fix=[x, rx]", NULL }, 1, "turning about x" },
        { { "elements.beam={type: beam_timo_3d, mesh: beam, E: 1.0, nu: 0.3, rho: 1.0, orientation: [2, 0, 0], "
            "section: "
            "{type: circle, diameter: 1.0}}",
            "supports.clamp={set: beam.start, fix: [x, y, z, rx, ry, rz]}" },
          2,
          "is parallel to cell 0" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pcs_context *ctx = NULL;
        pcs_sim *sim = NULL;
        CHECK(pcs_context_create(&ctx) == PCS_OK);
        CHECK_STATUS(ctx, pcs_build_sim_from(ctx, "cases/cantilever_stop", cases[i].nset, cases[i].set, &sim),
                     PCS_BAD_INPUT);
        CHECK_TEXT(pcs_message(ctx), cases[i].message);
        pcs_context_destroy(&ctx);
    }
}
