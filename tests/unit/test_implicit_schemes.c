// Implicit schemes that treat impacts apart: what an impact changes and what it leaves alone; forces between the ends.

#include "support/bars.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

enum { N = BAR_NODES };

static void times(const double *A, const double *x, double *y)
{
    for (int i = 0; i < N; i++) {
        y[i] = 0.0;
        for (int j = 0; j < N; j++) y[i] += A[i * N + j] * x[j];
    }
}

static void mix(double a, const double *x, double b, const double *y, double *out)
{
    for (int i = 0; i < N; i++) out[i] = a * x[i] + b * y[i];
}

// The bar that presses with one end against a wall hits a stop with the other: positions are those of the motion
// without the stop, the jump is that of the impact law alone, and the force of the first contact lasts.
TEST(impact_is_apart)
{
    const char *const schemes[][2] = { { "jump_newmark", "gamma=0.5" }, { "jump_newmark", "rho_inf=0.7" } };
    for (int k = 0; k < 2; k++) {
        model *pair[2];
        model_run run[2];
        for (int stop = 0; stop < 2; stop++) {
            model *m = pair[stop] = bar_create(true);
            pcs_fe_initial *start = model_initial(m, "bar");
            start->velocity.is_given = true;
            start->velocity.ends[1][0] = 2.0; // at the far end; the near end rests
            model_gravity(m, -40, 0, 0);
            model_contact(m, "wall", "node_plane", "nodes=bar.start point=0,0,0 normal=1,0,0 restitution=0.5");
            if (stop)
                model_contact(m, "stop", "node_plane", "nodes=bar.end point=3.02,0,0 normal=-1,0,0 restitution=0.5");
            model_build(m);
            run[stop] = model_prepare(m, schemes[k][0], schemes[k][1], NULL, NULL);
            model_start(&run[stop]);
        }
        const pcs_row_report *rows = run[1].report.rows;
        for (int step = 0; step < 20 && !rows[1].is_impact; step++)
            for (int stop = 0; stop < 2; stop++) model_step(&run[stop], 0.004);
        CHECK(rows[1].is_impact && !rows[0].is_impact);
        for (int i = 0; i < N; i++) CHECK_NEAR(run[0].x.q[i], run[1].x.q[i], 1e-14);
        CHECK_NEAR(rows[1].rate_before, -run[0].x.v[N - 1], 1e-14);
        CHECK(rows[1].rate_before < -0.5);
        CHECK_NEAR(rows[1].rate, -0.5 * rows[1].rate_before, 1e-13);
        CHECK(rows[0].force > 5.0 && fabs(rows[0].force - run[0].report.rows[0].force) < 1e-12);
        CHECK(rows[0].rate >= -1e-13);
        CHECK_NEAR(rows[0].step_impulse, 0.004 * rows[0].force + rows[0].impulse, 1e-14);
        CHECK(rows[1].force == 0.0 && rows[1].step_impulse == rows[1].impulse);
        double jump[N], image[N], M[N * N];
        model_dense(pair[1]->system->M, N, M);
        mix(1.0, run[1].x.v, -1.0, run[0].x.v, jump);
        times(M, jump, image);
        for (int i = 0; i < N; i++)
            CHECK_NEAR(image[i], i == 0 ? rows[0].impulse : i == N - 1 ? -rows[1].impulse : 0.0, 1e-13);
        // The next step starts from forces that have seen the new velocity.
        double f[N], *a = run[1].x.history[1];
        pair[1]->system->ops->force(pair[1]->system, pcs_at(run[1].x.t, run[1].x.q, run[1].x.v), f);
        times(M, a, image);
        CHECK_ALL_NEAR(N, image, f, 1e-10);
        for (int stop = 0; stop < 2; stop++) model_destroy(&pair[stop]);
    }
}

// A node that is closed and approaching at t = 0 has its impact there, and no force of size m v / h follows.
TEST(impact_at_the_start)
{
    const char *const schemes[][2] = { { "jump_newmark", "gamma=0.5" }, { "jump_newmark", "rho_inf=0.8" } };
    for (int k = 0; k < 2; k++) {
        model *m = bar_create(false);
        bar_throw(m, 0.0, 2.0);
        model_contact(m, "wall", "node_plane", "nodes=bar.end point=3,0,0 normal=-1,0,0 restitution=0.25");
        model_build(m);
        model_run run = model_prepare(m, schemes[k][0], schemes[k][1], NULL, NULL);
        model_start(&run);
        double mass = run.solver->effective_mass[0];
        CHECK(run.report.rows[0].is_impact);
        CHECK_NEAR(run.report.rows[0].impulse, mass * 2.0 * 1.25, 1e-13);
        CHECK_NEAR(run.report.impact_loss, 0.5 * mass * 4.0 * (1.0 - 0.0625), 1e-13);
        CHECK_NEAR(run.report.rows[0].rate, 0.5, 1e-13);
        model_step(&run, 1e-5);
        CHECK(run.report.rows[0].step_impulse == 0.0 && run.report.rows[0].gap > 0.0);
        model_destroy(&m);
    }
}
