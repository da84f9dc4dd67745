// A lattice in space against a tilted wall, by factors and by conjugate gradients: the same motion to the tolerance of
// the gradients, step by step, and the same contacts.

#include "build/build.h"
#include "support/check.h"

#include <stdio.h>

enum { STEPS = 12 };

static const char *const space_struts =
    "elements.struts={type: beam_timo_3d, mesh: net, E: 2.1e+11, nu: 0.3, rho: 7800.0, orientation: [0.36, 0.48, 0.8], "
    "section: {type: rectangle, width: 0.01, height: 0.01, shear_factor: 0.8333333333333333}}";

static pcs_sim *open_run(pcs_context **ctx, const char *linear, const char *scheme, double step)
{
    char solver[64], time[64];
    const char *const set[] = { "mesh.net.cells=[4, 5, 5]",
                                "contacts.wall.normal=[1, 0.004, 0]",
                                "contacts.wall.point=[0.0009, 0, 0]",
                                "output={frames: {every: 1000000}}",
                                space_struts,
                                scheme,
                                solver,
                                time };
    pcs_sim *sim = NULL;
    snprintf(solver, sizeof solver, "solver={type: schur, linear: %s}", linear);
    snprintf(time, sizeof time, "time={step: %g, end: %g}", step, STEPS * step);
    CHECK(pcs_context_create(ctx) == PCS_OK);
    CHECK_OK(*ctx, pcs_build_sim_from(*ctx, "cases/frame_lattice", 8, set, &sim));
    CHECK_OK(*ctx, pcs_sim_start(sim));
    return sim;
}

static void check_run(const char *scheme, double step, double tolerance)
{
    pcs_context *factors = NULL, *gradients = NULL;
    pcs_sim *a = open_run(&factors, "cholmod", scheme, step), *b = open_run(&gradients, "gradients", scheme, step);
    int closed = 0;
    for (int k = 0; k < STEPS; k++) {
        CHECK_OK(factors, pcs_sim_step(a));
        CHECK_OK(gradients, pcs_sim_step(b));
        double moved = 10.0 * step * (k + 1);
        for (int i = 0; i < a->system->nv; i++) {
            CHECK_NEAR(b->state.v[i], a->state.v[i], tolerance * 10.0 / 0.01); // turns of struts a hundredth as thick
            CHECK_NEAR(b->state.q[i], a->state.q[i], tolerance * moved / 0.01);
        }
        for (int j = 0; j < a->system->nrow; j++) {
            CHECK((a->report.rows[j].step_impulse > 0.0) == (b->report.rows[j].step_impulse > 0.0));
            closed += a->report.rows[j].step_impulse > 0.0;
        }
    }
    CHECK(closed > 36);
    CHECK_TEXT(b->view.step_backend, "gradients");
    CHECK_TEXT(b->view.mass_backend, "gradients");
    pcs_context_destroy(&factors);
    pcs_context_destroy(&gradients);
}

TEST(the_motion_is_that_of_factors)
{
    const char *const schemes[] = { "scheme={type: alpha_ggl, rho_inf: 0.8}",
                                    "scheme={type: moreau_jean, theta: 0.5}" };
    for (int s = 0; s < 2; s++) {
        check_run(schemes[s], 1.1e-5, 1e-13);
        check_run(schemes[s], 1.1e-4, 1e-12); // ten times as long as a wave takes through a strut
    }
}
